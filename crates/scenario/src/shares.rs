//! Shares of parity: members that hold more or less of it than others.

use harmonia_array::layout::{MOST_SHARES, Rotation, period_of_shares};
use harmonia_array::years::Shares;
use harmonia_array::{ArrayConfig, Level, MemberConfig};

use crate::error::Parsed;
use crate::read::Section;
use crate::schema::array::PARITY_SHARES;

/// Refuses that shares change over the years where all have the same, or where a share wears members differently.
pub(crate) fn may_move(array: &Section<'_>, config: &ArrayConfig) -> Parsed<()> {
    let endures = |member: &MemberConfig| {
        let ssd = &member.ssd;
        (ssd.wear.clone(), ssd.rating, ssd.geometry.clone())
    };
    let are_alike = config.members.windows(2).all(|pair| endures(&pair[0]) == endures(&pair[1]));
    let is_even = config.parity_shares.is_empty();
    if config.lifetime.shares == Shares::Fixed || (!is_even && are_alike) {
        return Ok(());
    }
    let lifetime = array.child("array.lifetime")?;
    let Some(field) = lifetime.named("shares") else { return Ok(()) };
    if !is_even {
        let problem = "members differ in what they endure, so a share of parity does not wear them alike";
        return Err(field.fault_allowing(
            problem,
            "\"fixed\", or members with one ssd.wear, ssd.rating and ssd.geometry",
        ));
    }
    let problem = "all members have the same share of parity, so there is nothing to give to the oldest";
    Err(field
        .fault_allowing(problem, "\"fixed\", or array.parity_shares such as [60, 10, 10, 10, 10] (raid5)"))
}

/// Reads `parity_shares` of an array of so many members with so many stripes; empty where it is not written.
pub(crate) fn read(array: &Section<'_>, level: Level, devices: u16, stripes: u64) -> Parsed<Vec<u16>> {
    let Some(field) = array.field(&PARITY_SHARES) else { return Ok(Vec::new()) };
    let without = "no `parity_shares`, or array.level = \"raid5\"";
    match level {
        Level::Raid5(Rotation::ParityFirst | Rotation::ParityLast) => {
            let problem = format!("{level} has all parity on one member");
            return Err(field.fault_allowing(problem, "no `parity_shares`, or another array.layout"));
        }
        Level::Raid5(_) => {}
        _ if level.parities() == 0 => {
            return Err(field.fault_allowing(format!("{level} has no parity"), without));
        }
        _ => {
            return Err(field.fault_allowing(format!("parity of {level} lies where the level says"), without));
        }
    }
    let shares = PARITY_SHARES.read(&field)?;
    if shares.len() != usize::from(devices) {
        let problem = format!("has {} shares, and there are {devices} members", shares.len());
        return Err(field.fault_allowing(problem, "a share for each member"));
    }
    if shares.iter().filter(|&&share| share > 0).count() < 2 {
        let allowed = "shares above 0 for two members or more; array.level = \"raid4\" has all parity on one";
        return Err(field.fault_allowing("leaves parity to one member or none", allowed));
    }
    let (period, most) = (period_of_shares(&shares), MOST_SHARES.min(stripes));
    if period > most {
        let problem = format!("repeats after {period} stripes, and there are {stripes}");
        let allowed = format!("shares that sum to at most {most} when divided by what divides all of them");
        return Err(field.fault_allowing(problem, allowed));
    }
    Ok(shares)
}
