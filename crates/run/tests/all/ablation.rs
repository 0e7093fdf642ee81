//! What is each part of a drive with a write cache for? Each is taken away, and the figures that get worse are those that it is there for.
//!
//! `cargo test --locked -p harmonia-run --test all -- --ignored --nocapture what_each_part_of_a_drive_is_for` prints a table. Figures of
//! docs/write-cache.md come from it.

use harmonia_metrics::Report;
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

/// A part of the drive, blocks of a twelfth of the pages, and reads and writes in streams of their own.
const DRIVE: &str = r#"
    name = "ablation"
    seed = 1
    [workload]
    requests = 600000
    warmup = 100000
    [workload.stream.reads]
    arrival = { process = "poisson", rate = 30000 }
    size = { distribution = "fixed", mean = "4KiB" }
    read_fraction = 1
    address = { pattern = "uniform", footprint = 0.5 }
    [workload.stream.writes]
    arrival = { process = "poisson", rate = 45000 }
    size = { distribution = "fixed", mean = "4KiB" }
    read_fraction = 0
    address = { pattern = "uniform", footprint = 0.5 }
    [precondition]
    fill = 1.0
    overwrite = 2.0
    [array]
    devices = 1
    level = "raid0"
    stripe_unit = "64KiB"
    [ssd]
    preset = "modern-tlc-1t"
    geometry = { blocks_per_plane = 512, pages_per_block = 24 }
    timing.erase = "167us"
"#;

const FAST: &str = "workload.stream.writes.arrival.rate=50000";

/// Figures of one run. Unit: ns.
struct Figures {
    read_p50: u64,
    read_p99: u64,
    write_p99: u64,
}

fn figures(name: &str, sets: &[&str]) -> Figures {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse(DRIVE, "ablation", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    let report: Report = run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let response = &report.host.response_ns;
    let known = |value: Option<u64>| value.expect("there are enough requests");
    let figures = Figures {
        read_p50: known(response.read.p50),
        read_p99: known(response.read.p99),
        write_p99: known(response.write.p99),
    };
    let us = |ns: u64| ns as f64 / 1e3;
    let Figures { read_p50, read_p99, write_p99 } = &figures;
    eprintln!("{name:40} {:12.1} {:12.1} {:12.1}", us(*read_p50), us(*read_p99), us(*write_p99));
    figures
}

#[test]
#[ignore = "long: make simulations"]
fn what_each_part_of_a_drive_is_for() {
    eprintln!("{:40} {:>12} {:>12} {:>12}", "us", "read p50", "read p99", "write p99");
    let whole = figures("45,000 writes/s", &[]);
    let suspends = ["suspend_program", "suspend_erase", "suspend_host_program"];
    let none: Vec<String> = suspends.iter().map(|key| format!("ssd.timing.{key}=none")).collect();
    let without = figures("  without suspending", &none.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(without.read_p50 > 2 * whole.read_p50, "the median of reads doubles");
    assert!(without.read_p99 > 4 * whole.read_p99, "reads wait for whole programs");
    let without = figures("  without the minimum run", &["ssd.timing.minimum_run=0us"]);
    assert!(2 * without.read_p99 < whole.read_p99, "the tail is what programs run before they give way");
    let fast = figures("50,000 writes/s", &[FAST]);
    let small = figures("  with a cache of 200 units", &[FAST, "ssd.write_cache.size=800KiB"]);
    assert!(small.write_p99 > 100 * fast.write_p99, "bursts of writes find no room");
    let calm = ["workload.stream.writes.arrival.rate=30000", "workload.stream.reads.arrival.rate=5000"];
    let whole = figures("30,000 writes/s and 5,000 reads/s", &calm);
    let parts = figures(
        "  with programs of part of the planes",
        &[&calm[..], &["ssd.write_cache.drain=partial"]].concat(),
    );
    assert!(5 * parts.read_p50 > 7 * whole.read_p50, "half of the reads meet a program");
    let saturated = ["workload.stream.writes.arrival.rate=80000", "workload.stream.reads.arrival.rate=10000"];
    let full = figures("80,000 writes/s and 10,000 reads/s", &saturated);
    let beside = figures(
        "  with collection beside the host",
        &[&saturated[..], &["ssd.gc.trigger=proportional"]].concat(),
    );
    assert!(
        20 * beside.read_p50 < full.read_p50,
        "reads wait for steps of collection, not for blocks that it wins"
    );
    assert!(20 * beside.read_p99 < full.read_p99, "nor does one in a hundred");
    let without =
        figures("  without a window", &[&saturated[..], &["ssd.controller.command_window=none"]].concat());
    assert!(without.read_p50 < full.read_p50, "reads wait behind a backlog of writes");
    let without = figures(
        "  first come, first served",
        &[&saturated[..], &["ssd.controller.arbitration=fifo"]].concat(),
    );
    assert!(without.read_p50 > 10 * full.read_p50, "reads have no turn of their own");
}
