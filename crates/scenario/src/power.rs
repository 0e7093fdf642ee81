//! Losses of power, and what the array does about rows that were being written: `power_loss`, `write_hole`.
//!
//! Power may be lost on any level. Only a level that keeps data more than once has something that must agree afterwards. Write caches
//! without stored power are refused where there are spares. A spare counts as built up to where it has answered, which is more than such
//! an answer says.

use harmonia_array::{Level, MemberConfig, When};

use crate::error::Parsed;
use crate::failures::when;
use crate::read::Section;
use crate::schema::array::POWER_LOSS;

/// Most entries of `[[array.power_loss]]`.
const MOST_LOSSES: usize = 16;

/// Reads `[[array.power_loss]]`.
pub(crate) fn losses(
    array: &Section<'_>,
    level: Level,
    members: &[MemberConfig],
    spares: u32,
) -> Parsed<Vec<When>> {
    if let Some(field) = array.field(&POWER_LOSS).filter(|_| matches!(level, Level::Draid(_))) {
        let problem = "is not modelled for declustered parity";
        return Err(field.fault_allowing(problem, "no `power_loss`, or array.level = \"raid5\" or \"raid6\""));
    }
    let loses = |member: &MemberConfig| {
        let cache = &member.ssd.write_cache;
        cache.size.is_some() && !cache.power_protected
    };
    let volatile = array.field(&POWER_LOSS).filter(|_| members.iter().any(loses));
    if let Some(field) = volatile.filter(|_| spares > 0) {
        let problem = "is not modelled for drives whose write cache loses what it holds, with spares: one that is built may \
                       lose what counts as built";
        let allowed = "no `power_loss`, ssd.write_cache.power_protected = true, or array.spares = 0";
        return Err(field.fault_allowing(problem, allowed));
    }
    array.tables(&POWER_LOSS, MOST_LOSSES, &[])?.iter().map(when).collect()
}
