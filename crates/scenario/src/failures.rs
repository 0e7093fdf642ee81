//! What befalls members, and what the array does about it: `failure`, `spares`, `rebuild`, `scrub`. Losses of
//! power are read in `power`.
//!
//! Times and counts of requests begin with the run, its warm-up included. Members may fail on any level: what is lost then
//! stands in the report. Spares, rebuilding and scrubbing need a level that keeps data more than once.

use harmonia_array::{ArrayConfig, Befalls, Fault, MemberConfig, Rebuild, Scrub, When, WriteHole};
use harmonia_types::{Bytes, DeviceId, SimTime, units};

use crate::error::Parsed;
use crate::knowledge::REDUNDANT;
use crate::power;
use crate::read::Section;
use crate::schema::array as keys;

/// Most entries of `[[array.failure]]`.
const MOST_FAILURES: usize = 64;

/// In what state spares stand by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SpareState {
    /// They were never written.
    #[default]
    New,
    /// They are as the members of the array were after ageing.
    Aged,
}

/// Refuses keys, and tables whatever is in them, that mean nothing where data is kept once.
pub(crate) fn belong(array: &Section<'_>, config: &ArrayConfig) -> Parsed<()> {
    let ArrayConfig { level, devices, .. } = *config;
    if level.redundancy(devices) > 0 {
        return Ok(());
    }
    for (key, what) in [
        ("rebuild", "nothing can be rebuilt"),
        ("scrub", "there is nothing to compare"),
        ("spares", "there is nothing to rebuild a spare from"),
        ("spare_state", "there is nothing to rebuild a spare from"),
        ("write_hole", "nothing has to agree after a loss of power"),
    ] {
        if let Some(field) = array.named(key) {
            let problem = format!("{level} keeps data once, so {what}");
            return Err(field.fault_allowing(problem, format!("no `{}`, or {REDUNDANT}", field.name())));
        }
    }
    Ok(())
}

/// Reads the keys of `[array]` that say what befalls it, but for the seed of page errors, which is the run's.
pub(crate) fn read(array: &Section<'_>, config: &mut ArrayConfig) -> Parsed<()> {
    let ArrayConfig { level, ref members, ref mut faults, .. } = *config;
    let is_redundant = level.redundancy(members.len() as u16) > 0;
    let page = members.first().map_or(1, |member| u64::from(member.ssd.mapping_unit()));
    let spares = array.get_or(&keys::SPARES, 0)?;
    if let Some(field) = array.field(&keys::SPARES).filter(|_| level.distributed_spares() > 0 && spares > 0) {
        let problem =
            format!("{level} has distributed spares, and copying them back to a new device is not modelled");
        return Err(field.fault_allowing(problem, "spares = 0, or a level without distributed spares"));
    }
    let events = failures(array, members.len() as u16)?;
    no_more_than_spares(array, &events, (is_redundant, spares))?;
    faults.power_losses = power::losses(array, level, members, spares)?;
    faults.events = events;
    faults.spares = vec![usual(members).clone(); spares as usize];
    faults.scrub = scrub(array)?;
    // How large a log is, and what a bit stands for, follows.
    faults.write_hole = array.get_or(&keys::WRITE_HOLE, WriteHole::Resync)?;
    rebuild(array, page, &mut faults.rebuild)
}

/// The member that most are like, the first of these: spares are like it, too.
pub(crate) fn usual(members: &[MemberConfig]) -> &MemberConfig {
    let mut kinds: Vec<(&MemberConfig, usize)> = Vec::new();
    for member in members {
        match kinds.iter_mut().find(|(kind, _)| kind.ssd == member.ssd) {
            Some((_, count)) => *count += 1,
            None => kinds.push((member, 1)),
        }
    }
    // The first of the commonest.
    kinds.iter().rev().max_by_key(|(_, count)| *count).expect("an array has members").0
}

fn failures(array: &Section<'_>, devices: u16) -> Parsed<Vec<Fault>> {
    let mut faults: Vec<Fault> = Vec::new();
    for section in array.tables(&keys::FAILURE, MOST_FAILURES, &[])? {
        let fault = failure(&section, devices)?;
        let is_again = |what: Befalls| {
            let is_same = |known: &Fault| known.what == what && known.device == fault.device;
            fault.what == what && faults.iter().any(is_same)
        };
        if is_again(Befalls::Failure) {
            let field = section.require(&keys::FAILURE_DEVICE, "")?;
            return Err(field.fault_allowing("fails twice", "one failure of each device"));
        }
        if is_again(Befalls::Replacement) {
            let field = section.require(&keys::FAILURE_DEVICE, "")?;
            return Err(field.fault_allowing("is replaced twice", "one replacement of each device"));
        }
        faults.push(fault);
    }
    Ok(faults)
}

/// A member that works is replaced by a spare or not at all. Failures may take the spares before; the report says so.
fn no_more_than_spares(
    array: &Section<'_>,
    events: &[Fault],
    (is_redundant, spares): (bool, u32),
) -> Parsed<()> {
    let replaces = |event: &Fault| event.what == Befalls::Replacement;
    let wanted = events.iter().filter(|event| replaces(event)).count();
    let Some(place) = events.iter().position(replaces) else { return Ok(()) };
    let kind = array.tables(&keys::FAILURE, MOST_FAILURES, &[])?[place].require(&keys::FAILURE_KIND, "")?;
    if !is_redundant {
        let problem = "needs a level that has spares";
        return Err(kind.fault_allowing(problem, format!("\"failure\" or \"slow\", or {REDUNDANT}")));
    }
    if wanted <= spares as usize {
        return Ok(());
    }
    let problem = match spares {
        0 => "needs a spare, and there is none".to_owned(),
        1 => format!("is asked for {wanted} times, and there is only 1 spare"),
        _ => format!("is asked for {wanted} times, and there are only {spares} spares"),
    };
    Err(kind.fault_allowing(problem, format!("array.spares of at least {wanted}")))
}

fn failure(section: &Section<'_>, devices: u16) -> Parsed<Fault> {
    let field = section.require(&keys::FAILURE_DEVICE, "it says which member this befalls")?;
    let device = keys::FAILURE_DEVICE.read(&field)?;
    if device >= devices {
        let problem = format!("there are only {devices} devices");
        return Err(field.fault_allowing(problem, format!("0 to {}", devices - 1)));
    }
    let kind = section.get_or(&keys::FAILURE_KIND, Befalls::Failure)?;
    let what = match (kind, section.field(&keys::FAILURE_FACTOR)) {
        (Befalls::Slow(_), _) => {
            Befalls::Slow(section.must(&keys::FAILURE_FACTOR, "it says how slow the member becomes")?)
        }
        (_, None) => kind,
        (_, Some(field)) => {
            let problem = match kind {
                Befalls::Replacement => "a member that is replaced works as fast as before",
                _ => "a member that fails does nothing more, at no speed",
            };
            return Err(field.fault_allowing(problem, "no `factor`, or kind = \"slow\""));
        }
    };
    Ok(Fault { device: DeviceId(device), at: when(section)?, what })
}

/// Reads `at` or `request`, of which one is written.
pub(crate) fn when(section: &Section<'_>) -> Parsed<When> {
    // Losses of power have the same two keys.
    let (at, request) = (&keys::FAILURE_AT, &keys::FAILURE_REQUEST);
    match (section.field(at), section.field(request)) {
        (None, Some(field)) => request.read(&field).map(When::Request),
        (Some(_), Some(field)) => {
            Err(field.fault_allowing("is given beside `at`", "either `at` or `request`: both say when"))
        }
        (_, None) => {
            let why = "it says when, counted from the run's start; `request` does so in requests";
            section.must(at, why).map(|since| When::Time(SimTime::ZERO + since))
        }
    }
}

/// What is usual of rebuilding follows from the page size and the highest rate.
fn rebuild(array: &Section<'_>, page: Bytes, rebuild: &mut Rebuild) -> Parsed<()> {
    let section = array.child("array.rebuild")?;
    match section.named("min_rate") {
        None => rebuild.min_rate = rebuild.min_rate.min(rebuild.max_rate),
        Some(field) if rebuild.min_rate > rebuild.max_rate => {
            let problem = format!("is above max_rate, {}", shown_rate(rebuild.max_rate));
            return Err(field.fault_allowing(problem, "a rate of at most array.rebuild.max_rate"));
        }
        Some(_) => {}
    }
    if section.named("step").is_none() {
        // Pages need not be powers of two.
        rebuild.step = (rebuild.step / page * page).max(page);
    }
    Ok(())
}

fn scrub(array: &Section<'_>) -> Parsed<Option<Scrub>> {
    if array.field(&keys::SCRUB).is_none() {
        return Ok(None);
    }
    let section = array.child("array.scrub")?;
    let since =
        section.must(&keys::SCRUB_AT, "it says when scrubbing begins, counted from the run's start")?;
    Ok(Some(Scrub { at: SimTime::ZERO + since, repairs: section.get_or(&keys::SCRUB_MODE, false)? }))
}

/// A rate as it is written.
pub(crate) fn shown_rate(bytes_a_second: Bytes) -> String {
    format!("{}/s", units::format_bytes(bytes_a_second))
}
