//! A drive as people own: behind a write cache, of mapping units smaller than a flash page, each of which may lie on any die.
//!
//! The floor has the same geometry as the drive: as many blocks of as many units, and as much spare. It has one open block instead
//! of two on each die, and knows nothing of programs of several units or of time.

use harmonia_array::AgedState;
use harmonia_scenario::Scenario;

use crate::sweep::processor_seconds;
use crate::table::{Aim, Floors, REPEATS, Tables};
use crate::{aged, ageing, load, measure};

/// Blocks of a drive, units of a block, and the share of blocks that are spare.
const GEOMETRY: (u32, u32, f64) = (16 * 512, 4 * 72 * 4, 0.22);

/// Writes that are not measured.
const WARMUP: u64 = 100_000;

/// A part of `modern-tlc-1t`, 9.4 million units, under random writes of a unit each, none of which waits for a place in the cache. With
/// this spare it programs about three units for each of them.
fn drive() -> Scenario {
    let sets = [
        "workload.requests=1000000".to_owned(),
        format!("workload.warmup={WARMUP}"),
        "workload.arrival={process='poisson', rate=60000}".to_owned(),
        "workload.read_fraction=0.0".to_owned(),
        "ssd.geometry.pages_per_block=72".to_owned(),
        "ssd.ftl.reserved_blocks=22%".to_owned(),
        "ssd.timing.erase=500us".to_owned(),
    ];
    load("write-cache", &sets)
}

/// Ratios to the floor, and the processor time of a write.
pub fn bench(tables: &mut Tables) {
    let (blocks, units, spare) = GEOMETRY;
    let mut floors = Floors::of(blocks, units, spare);
    let drive = drive();
    tables.section("a unit programmed behind a write cache");
    let aim = Some(Aim::AtMost(2.0));
    tables.row(&mut floors, "ageing one drive of small units from empty", aim, |_| ageing(&drive));
    let state = aged(&drive, 1);
    tables.row(&mut floors, "4 KiB random writes", None, |_| Run::of(&drive, &state).per_unit());
    let runs: Vec<Run> = (0..REPEATS).map(|_| Run::of(&drive, &state)).collect();
    tables.section("processor time of a write behind a write cache, us");
    let times = runs.iter().map(|run| run.per_write() / 1e3).collect();
    let programmed = Some((runs[0].units / runs[0].writes, "units programmed"));
    tables.figures("4 KiB random writes", Some(Aim::AtMost(1.5)), times, programmed);
}

/// Only one of both, for a profiler: `ageing`, or else writes.
pub fn profile(what: Option<&str>) {
    let drive = drive();
    if what == Some("ageing") {
        return println!("{:.1} ns per programmed unit", ageing(&drive));
    }
    let run = Run::of(&drive, &aged(&drive, 1));
    let amplification = run.units / run.writes;
    println!("{:.0} ns per write, of {amplification:.2} programmed units", run.per_write());
}

/// A run, the warm-up left out.
struct Run {
    wall_ns: f64,
    processor_ns: f64,
    writes: f64,
    /// Programmed for the host, for collection, and without data.
    units: f64,
}

impl Run {
    fn of(drive: &Scenario, state: &AgedState) -> Run {
        let state = state.clone();
        let before = processor_seconds();
        let report = measure(drive, state);
        let seconds = processor_seconds() - before;
        let writes = report.host.requests as f64;
        let measured = writes / (writes + WARMUP as f64);
        Run {
            wall_ns: report.engine.wall_ns as f64 * measured,
            processor_ns: seconds * measured * 1e9,
            writes,
            units: report.array.flash_pages_programmed as f64,
        }
    }

    /// Processor time of a write.
    fn per_write(&self) -> f64 {
        self.processor_ns / self.writes
    }

    /// Wall time of a programmed unit, as the floor's.
    fn per_unit(&self) -> f64 {
        self.wall_ns / self.units
    }
}
