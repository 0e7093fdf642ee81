//! What befalls members, and what the array does about it: `failure`, `page_errors`, `spares`, `rebuild`, `scrub`. Losses of
//! power are read in `power`.
//!
//! Times and counts of requests begin with the run, its warm-up included. Members may fail on any level: what is lost then
//! stands in the report. Spares, rebuilding and scrubbing need a level that keeps data more than once.

use harmonia_array::{Befalls, Fault, Faults, Level, MemberConfig, Rebuild, Scrub, When};
use harmonia_types::{Bytes, DeviceId, SimTime, units};
use serde::Serialize;

use crate::error::Parsed;
use crate::knowledge::REDUNDANT;
use crate::power;
use crate::read::{Field, Section};
use crate::tree::Value;

/// Most entries of `[[array.failure]]`.
const MOST_FAILURES: usize = 64;
/// Most spares: as many as the largest array of one chassis has slots.
const MOST_SPARES: u32 = 64;
/// A device slower than by this is a dead one.
const MOST_FACTOR: f64 = 1000.0;
/// Most steps under way at a time.
const MOST_DEPTH: u32 = 256;
/// Most bytes of a member under one lock.
const MOST_STEP: Bytes = 64 << 20;

/// In what state spares stand by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpareState {
    /// They were never written.
    #[default]
    New,
    /// They are as the members of the array were after ageing.
    Aged,
}

/// Reads the keys of `[array]` that say what befalls it, but for the seed of page errors, which is the run's.
pub(crate) fn read(array: &Section<'_>, level: Level, members: &[MemberConfig]) -> Parsed<Faults> {
    let is_redundant = level.redundancy(members.len() as u16) > 0;
    let page = members.first().map_or(1, |member| u64::from(member.ssd.geometry.page_size));
    let needs_redundancy = |field: Field<'_>, what: &str| {
        let problem = format!("{level} keeps data once, so {what}");
        Err(field.fault_allowing(problem, format!("no `{}`, or {REDUNDANT}", name(&field))))
    };
    for (key, what) in [
        ("rebuild", "nothing can be rebuilt"),
        ("scrub", "there is nothing to compare"),
        ("spares", "there is nothing to rebuild a spare from"),
        ("spare_state", "there is nothing to rebuild a spare from"),
        ("write_hole", "nothing has to agree after a loss of power"),
    ] {
        if let Some(field) = array.field(key).filter(|_| !is_redundant) {
            return needs_redundancy(field, what);
        }
    }
    let page_errors = match array.field("page_errors") {
        Some(field) => share(&field)?,
        None => 0.0,
    };
    if let Some(field) = array.field("spares").filter(|_| level.distributed_spares() > 0)
        && field.count(0, MOST_SPARES)? > 0
    {
        let problem =
            format!("{level} has distributed spares, and copying them back to a new device is not modelled");
        return Err(field.fault_allowing(problem, "spares = 0, or a level without distributed spares"));
    }
    let spares = array.field("spares").map(|field| field.count(0, MOST_SPARES)).transpose()?.unwrap_or(0);
    let events = failures(array, members.len() as u16)?;
    no_more_than_spares(array, &events, (is_redundant, spares))?;
    let power_losses = power::losses(array, level)?;
    Ok(Faults {
        events,
        page_errors,
        spares: vec![usual(members).clone(); spares as usize],
        rebuild: rebuild(array, page)?,
        scrub: scrub(array)?,
        power_losses,
        write_hole: power::write_hole(array)?,
        journal: None,
        seed: 0,
    })
}

/// Reads `spare_state`.
pub(crate) fn spare_state(array: &Section<'_>) -> Parsed<SpareState> {
    let names = [("new", SpareState::New), ("aged", SpareState::Aged)];
    Ok(array.field("spare_state").map(|field| field.choice(&names)).transpose()?.unwrap_or_default())
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

fn name<'a>(field: &'a Field<'_>) -> &'a str {
    field.path.rsplit('.').next().unwrap_or_default()
}

/// A share from 0 to below 1.
fn share(field: &Field<'_>) -> Parsed<f64> {
    let share = field.number(0.0, true, 1.0)?;
    if share < 1.0 { Ok(share) } else { Err(field.fault("leaves no page that can be read")) }
}

fn failures(array: &Section<'_>, devices: u16) -> Parsed<Vec<Fault>> {
    let Some(field) = array.field("failure") else { return Ok(Vec::new()) };
    let Value::List(list) = &field.node.value else {
        return Err(field.fault(format!("must be an array of tables, not {}", field.node.kind())));
    };
    if list.len() > MOST_FAILURES {
        return Err(field.fault(format!("has {} entries, expected at most {MOST_FAILURES}", list.len())));
    }
    let mut faults: Vec<Fault> = Vec::with_capacity(list.len());
    for (position, node) in list.iter().enumerate() {
        let section = Section::of(node, format!("array.failure[{position}]"), "array.failure", &[])?;
        let fault = failure(&section, devices)?;
        let is_again = |what: Befalls| {
            let is_same = |known: &Fault| known.what == what && known.device == fault.device;
            fault.what == what && faults.iter().any(is_same)
        };
        if is_again(Befalls::Failure) {
            let field = section.require("device", "")?;
            return Err(field.fault_allowing("fails twice", "one failure of each device"));
        }
        if is_again(Befalls::Replacement) {
            let field = section.require("device", "")?;
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
    let (Some(field), Some(place)) = (array.field("failure"), events.iter().position(replaces)) else {
        return Ok(());
    };
    let Value::List(list) = &field.node.value else { return Ok(()) };
    let section = Section::of(&list[place], format!("array.failure[{place}]"), "array.failure", &[])?;
    let kind = section.require("kind", "")?;
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
    let field = section.require("device", "it says which member this befalls")?;
    let device = field.count(0, u32::from(u16::MAX))? as u16;
    if device >= devices {
        let problem = format!("there are only {devices} devices");
        return Err(field.fault_allowing(problem, format!("0 to {}", devices - 1)));
    }
    let slow = Befalls::Slow(1.0);
    let names = [("failure", Befalls::Failure), ("slow", slow), ("replace", Befalls::Replacement)];
    let kind = section.field("kind").map(|field| field.choice(&names)).transpose()?;
    let kind = kind.unwrap_or(Befalls::Failure);
    let what = match (kind, section.field("factor")) {
        (Befalls::Slow(_), Some(field)) => Befalls::Slow(field.number(1.0, true, MOST_FACTOR)?),
        (Befalls::Slow(_), None) => {
            return Err(section
                .require("factor", "it says how slow the member becomes")
                .err()
                .expect("missing"));
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
    match (section.field("at"), section.field("request")) {
        (Some(field), None) => moment(&field).map(When::Time),
        (None, Some(field)) => field.integer(1, 1_000_000_000_000).map(When::Request),
        (Some(_), Some(field)) => {
            Err(field.fault_allowing("is given beside `at`", "either `at` or `request`: both say when"))
        }
        (None, None) => {
            let why = "it says when, counted from the run's start; `request` does so in requests";
            Err(section.require("at", why).err().expect("it is missing"))
        }
    }
}

/// A time since the run's start.
fn moment(field: &Field<'_>) -> Parsed<SimTime> {
    field.long_duration(false).map(|since| SimTime::ZERO + since)
}

fn rebuild(array: &Section<'_>, page: Bytes) -> Parsed<Rebuild> {
    let section = array.child("rebuild", "array.rebuild")?;
    let usual = Rebuild::default();
    let max_rate =
        section.field("max_rate").map(|field| field.bandwidth()).transpose()?.unwrap_or(usual.max_rate);
    let min_rate = match section.field("min_rate") {
        Some(field) => {
            let rate = field.bandwidth()?;
            if rate > max_rate {
                let problem = format!("is above max_rate, {}", shown_rate(max_rate));
                return Err(field.fault_allowing(problem, "a rate of at most array.rebuild.max_rate"));
            }
            rate
        }
        None => usual.min_rate.min(max_rate),
    };
    let depth = section.field("depth").map(|field| field.count(1, MOST_DEPTH)).transpose()?;
    let delay = section.field("delay").map(|field| field.long_duration(false)).transpose()?;
    Ok(Rebuild {
        min_rate,
        max_rate,
        depth: depth.unwrap_or(usual.depth),
        step: step(&section, page)?,
        delay: delay.unwrap_or(usual.delay),
    })
}

fn step(section: &Section<'_>, page: Bytes) -> Parsed<Bytes> {
    // Pages need not be powers of two.
    let Some(field) = section.field("step") else {
        return Ok((Rebuild::default().step / page * page).max(page));
    };
    let step = field.bytes(1)?;
    if !step.is_multiple_of(page) {
        return Err(field.fault(format!("is not a multiple of the page size, {}", units::format_bytes(page))));
    }
    if step > MOST_STEP { Err(field.fault("is out of range")) } else { Ok(step) }
}

fn scrub(array: &Section<'_>) -> Parsed<Option<Scrub>> {
    if array.field("scrub").is_none() {
        return Ok(None);
    }
    let section = array.child("scrub", "array.scrub")?;
    let at = moment(&section.require("at", "it says when scrubbing begins, counted from the run's start")?)?;
    let names = [("check", false), ("repair", true)];
    let repairs = section.field("mode").map(|field| field.choice(&names)).transpose()?.unwrap_or(false);
    Ok(Some(Scrub { at, repairs }))
}

/// A rate as it is written.
pub(crate) fn shown_rate(bytes_a_second: Bytes) -> String {
    format!("{}/s", units::format_bytes(bytes_a_second))
}
