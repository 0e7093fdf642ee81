//! Does it fit? A simulation that does not is refused with the number that would, instead of dying half-way.

use harmonia_array::layout::Layout;
use harmonia_ssd::{Allocation, Ftl, Scale, Shape, SsdConfig};
use harmonia_types::units::format_bytes;

use crate::{RunError, bad_input};
use harmonia_scenario::Scenario;

/// Refuses a group of runs that would not fit into the memory this system has left, where it says.
pub(crate) fn check(scenario: &Scenario, copies: usize) -> Result<(), RunError> {
    let Some(Available { memory, addresses }) = available() else { return Ok(()) };
    fits(scenario, copies, state_bytes(scenario, Ftl::memory_bytes), memory)?;
    fits(scenario, copies, state_bytes(scenario, Ftl::address_bytes), addresses)
}

/// Refuses them if so many bytes of state do not fit into what is available.
fn fits(scenario: &Scenario, copies: usize, state: u64, available: u64) -> Result<(), RunError> {
    // The aged state, and a copy for every run that goes on at the same time but the last.
    let needed = state * copies.max(1) as u64;
    if needed <= available {
        return Ok(());
    }
    let device = state / u64::from(scenario.array.devices).max(1);
    let most = available / device.max(1) / copies.max(1) as u64;
    let part = smaller(scenario, needed.div_ceil(available.max(1)));
    let part = part
        .map_or(String::new(), |divisor| format!(", such as a part of each (ssd.scale = \"1/{divisor}\")"));
    Err(bad_input(
        format!(
            "{} devices need {} of memory ({copies} at once), and {} are free",
            scenario.array.devices,
            rounded(needed),
            rounded(available)
        ),
        &format!("array.devices of at most {most}, --threads 1, or smaller devices{part}"),
    ))
}

/// The part of each device that takes so many times less memory, where they can be simulated in part and have one scale.
fn smaller(scenario: &Scenario, times: u64) -> Option<u32> {
    let members = &scenario.array.members;
    let scale = &members.first()?.ssd.scale;
    let divisor = u32::try_from(u64::from(scale.divisor()) * times).ok()?;
    let works = |member: &harmonia_array::MemberConfig| {
        member.ssd.scale == *scale
            && SsdConfig { scale: Scale::one_in(divisor), ..member.ssd.full().clone() }.scaled().is_ok()
    };
    members.iter().all(works).then_some(divisor)
}

/// Mapping tables and block tables of all members and spares, and of the journal, and the map of floating stripes. `tables` is what those of a device take.
fn state_bytes(scenario: &Scenario, tables: fn(&Shape) -> u64) -> u64 {
    let of = |member: &harmonia_array::MemberConfig| {
        let Ok(shape) = member.ssd.resolve() else { return 0 };
        let blocks = u64::from(shape.units()) * u64::from(shape.blocks_per_unit);
        // Which die of a superblock has each of its programs.
        let programs = u64::from(shape.data_pages / shape.packing.slots_per_program());
        let chooses = shape.dies_per_unit > 1 && member.ssd.ftl.allocation == Allocation::Dynamic;
        let of_dies = if chooses { blocks * (2 * programs + 4 * u64::from(shape.dies_per_unit)) } else { 0 };
        tables(&shape) + of_dies
    };
    let faults = &scenario.array.faults;
    let devices: u64 =
        scenario.array.members.iter().chain(&faults.spares).chain(&faults.journal).map(of).sum();
    // Eight bytes say where a row of floating stripes lies.
    let of_rows = match scenario.array.layout() {
        Layout::Parity(parity) if parity.is_floating() => {
            8 * (scenario.array.member_bytes() / parity.row_bytes())
        }
        _ => 0,
    };
    devices + of_rows
}

fn rounded(bytes: u64) -> String {
    format_bytes((bytes >> 20).max(1) << 20)
}

/// Bytes that a process can have.
struct Available {
    /// What the system could give.
    memory: u64,
    /// The limit set on this process.
    addresses: u64,
}

/// `None` where it is not known.
fn available() -> Option<Available> {
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let memory = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    let limit = limit.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Some(Available { memory, addresses: limit.unwrap_or(u64::MAX) })
}
