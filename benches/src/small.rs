//! Requests of one page: the shortest way through the simulator, on one device and on eight.
//!
//! Each is held against a floor of the same flash: as many blocks, pages and spare as the device or the array has.

use std::time::Instant;

use harmonia_scenario::Scenario;

use crate::table::{Aim, Floors, Tables};
use crate::{aged, load, measure, per_program};

/// Members, and chips on each of their eight channels; 16 GiB and 8 x 4 GiB.
const ARRAYS: [(&str, u32, u32); 2] = [("one SSD of 16 GiB", 1, 8), ("RAID-0 of 8 x 4 GiB", 8, 2)];

/// Blocks of a die.
const BLOCKS: u32 = 1024;

/// 4 KiB random writes under blocking collection.
pub fn writes(members: u32, chips: u32, blocks: u32, requests: u64) -> Scenario {
    let sets = [
        format!("array.devices={members}"),
        format!("workload.requests={requests}"),
        "workload.warmup=1000".to_owned(),
        format!("workload.arrival={{process='poisson', rate={}}}", 2500 * members * chips),
        "workload.size={distribution='fixed', mean='4KiB'}".to_owned(),
        "workload.read_fraction=0.0".to_owned(),
        "ssd.geometry.channels=8".to_owned(),
        format!("ssd.geometry.chips_per_channel={chips}"),
        "ssd.geometry.dies_per_chip=1".to_owned(),
        "ssd.geometry.planes_per_die=1".to_owned(),
        format!("ssd.geometry.blocks_per_plane={blocks}"),
        "ssd.geometry.pages_per_block=64".to_owned(),
    ];
    load("hpc-w", &sets)
}

/// Ratios to the floors.
pub fn bench(tables: &mut Tables) {
    tables.section("a page program of 4 KiB random writes");
    for (name, members, chips) in ARRAYS {
        let mut floors = Floors::new(members * chips * 8 * BLOCKS);
        let scenario = writes(members, chips, BLOCKS, 1_000_000);
        let state = aged(&scenario, 2);
        tables.row(&mut floors, name, Some(Aim::AtMost(2.0)), |_| {
            per_program(&measure(&scenario, state.clone()))
        });
    }
}

/// Only the run, for a profiler: `one` or `eight`, requests, and blocks of a die if they should be fewer.
pub fn profile(mut arguments: impl Iterator<Item = String>) {
    let (_, members, chips) = ARRAYS[usize::from(arguments.next().as_deref() == Some("eight"))];
    let mut number = |usual| arguments.next().and_then(|number| number.parse().ok()).unwrap_or(usual);
    let (requests, blocks) = (number(300_000), number(u64::from(BLOCKS)) as u32);
    let scenario = writes(members, chips, blocks, requests);
    let state = aged(&scenario, 2);
    let clock = Instant::now();
    let report = measure(&scenario, state);
    let ns = clock.elapsed().as_nanos() as f64 / requests as f64;
    println!("{ns:.0} ns per request, {:.1} per page program", per_program(&report));
}
