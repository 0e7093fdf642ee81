//! Does it fit? A simulation that does not is refused with the number that would, instead of dying half-way.

use crate::Scenario;
use harmonia_types::units::format_bytes;

use super::{RunError, bad_input};

/// Refuses a group of runs that would not fit into the memory this system has left, where it says.
pub(super) fn check(scenario: &Scenario, copies: usize) -> Result<(), RunError> {
    let Some(available) = available_bytes() else { return Ok(()) };
    let state = state_bytes(scenario);
    // The aged state, and a copy for every run that goes on at the same time but the last.
    let needed = state * copies.max(1) as u64;
    if needed <= available {
        return Ok(());
    }
    let device = state / u64::from(scenario.array.devices).max(1);
    let fits = available / device.max(1) / copies.max(1) as u64;
    Err(bad_input(
        format!(
            "{} devices need {} of memory ({copies} at once), and {} are free",
            scenario.array.devices,
            rounded(needed),
            rounded(available)
        ),
        &format!("array.devices of at most {fits}, --threads 1, or smaller devices"),
    ))
}

/// Mapping tables and block tables of all members and spares, and of the journal.
fn state_bytes(scenario: &Scenario) -> u64 {
    let of = |member: &harmonia_array::MemberConfig| {
        let Ok(shape) = member.ssd.resolve() else { return 0 };
        let blocks = u64::from(shape.units()) * u64::from(shape.blocks_per_unit);
        (blocks << shape.page_bits) * 4 + u64::from(shape.logical_pages) * 4 + blocks * 16
    };
    let faults = &scenario.array.faults;
    scenario.array.members.iter().chain(&faults.spares).chain(&faults.journal).map(of).sum()
}

fn rounded(bytes: u64) -> String {
    format_bytes((bytes >> 20).max(1) << 20)
}

/// What the system could give, and the limit set on this process; `None` where neither is known.
fn available_bytes() -> Option<u64> {
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let free = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    let limit = limit.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Some(limit.map_or(free, |limit| limit.min(free)))
}
