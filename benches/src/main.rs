//! `make bench`: what Harmonia's speed is, as ratios to a bare FTL ([`floor`]) measured in the same run.
//!
//! Machines are noisy, so every case is timed between two runs of the floor and divided by their mean; the median of
//! several such ratios is printed with its extremes. Nothing is asserted on wall time.
//!
//! ```text
//! cargo run --release -p harmonia-bench              all cases, 8 x 32 GiB
//! cargo run --release -p harmonia-bench -- quick     one device, for a first look
//! cargo run --release -p harmonia-bench -- profile   only the measured window of HPC(W), for a profiler
//! cargo run --release -p harmonia-bench -- profile-reads   only reads
//! cargo run --release -p harmonia-bench -- profile-small one|eight 300000   only requests of one page
//! cargo run --release -p harmonia-bench -- profile-ageing  only the ageing of a TLC drive of 1 TB
//! cargo run --release -p harmonia-bench -- ageing    only ageing
//! cargo run --release -p harmonia-bench -- small     only requests of one page
//! cargo run --release -p harmonia-bench -- die       only dies that collect step by step
//! cargo run --release -p harmonia-bench -- threads   only what a second thread gains
//! cargo run --release -p harmonia-bench -- traces    only reading traces
//! cargo run --release -p harmonia-bench -- redundancy only arrays with parity, and many members
//! cargo run --release -p harmonia-bench -- sweep     only a sweep of small points
//! ```
#![expect(clippy::print_stdout, reason = "prints a table")]
#![expect(clippy::disallowed_types, reason = "measures wall time")]

mod floor;
mod redundancy;
mod small;
mod sweep;
mod threads;
mod traces;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use floor::{Floor, Table};
use harmonia_array::{AgedState, AgeingPlan, age};
use harmonia_metrics::Report;
use harmonia_run::{RunOptions, Silent, Unobserved, compare, run_aged};
use harmonia_scenario::{Scenario, Variant};
use harmonia_ssd::HugeTable;

/// Overwrites of one timing of the floor: about 0.3 s.
const FLOOR_STEP: u64 = 700_000;
const REPEATS: usize = 5;

fn main() {
    // Whoever reads the table may have seen enough (`| head`): then a bench ends, and has nobody to tell.
    // SAFETY: no other thread runs yet, and nothing depends on how this signal is handled.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let argument = std::env::args().nth(1).unwrap_or_default();
    match argument.as_str() {
        "memory" => return print_peak_memory(),
        "traces" => return traces::bench(),
        "sweep" => return sweep::bench(),
        "small" => return small::bench(),
        "threads" => return threads::bench(8),
        "profile-small" => return small::profile(std::env::args().skip(2)),
        "read-trace" => {
            return traces::print_peak_memory(std::env::args_os().nth(2).unwrap_or_default().into());
        }
        _ => {}
    }
    let devices = if argument == "quick" { 1 } else { 8 };
    let hpc = |sets: &[&str]| {
        let mut all = vec![format!("array.devices={devices}")];
        all.extend(sets.iter().map(|set| (*set).to_owned()));
        load("hpc-w", &all)
    };
    // A single device gets an eighth of the array's load.
    let rate = format!("workload.arrival={{process='poisson', rate={}}}", 476.5 * f64::from(devices) / 8.0);
    let requests = ["workload.requests=12000", "workload.warmup=1000", rate.as_str()];
    let local = hpc(&requests);
    if argument == "profile-reads" {
        let reads = hpc(&[requests[0], requests[1], requests[2], "workload.read_fraction=1.0"]);
        let aged = aged(&hpc(&["precondition.overwrite=0"]), 2);
        for _ in 0..3 {
            println!("{:.1} ns per read", per_read(&measure(&reads, aged.clone())));
        }
        return;
    }
    if argument == "profile-ageing" {
        let drive = one_terabyte();
        println!("{:.1} ns per program", ageing(&drive));
        return;
    }
    if argument == "profile" {
        let aged = aged(&local, 2);
        for _ in 0..3 {
            println!("{:.1} ns per program", per_program(&measure(&local, aged.clone())));
        }
        return;
    }
    let mut floor: Floor = Floor::new(131_072, 64, 0.15, 1);
    // Greedy cleaning is steady after a few overwrites of the whole device.
    floor.overwrite(20_000_000);
    let (floor_ns, _) = timed(&mut floor);
    println!(
        "floor: {floor_ns:.1} ns per page program (8 Mi pages of 4 KiB, 15% spare, greedy, one thread)\n"
    );
    println!("{:<58}{:>9}{:>9}{:>9}   {:>9}", "case", "median", "least", "most", "ns");
    if argument == "die" {
        return inside_the_die(&mut floor);
    }
    if argument == "redundancy" {
        return redundancy::bench(&mut floor);
    }
    let huge = std::cell::RefCell::new(Floor::<HugeTable>::new(131_072, 64, 0.15, 1));
    huge.borrow_mut().overwrite(20_000_000);
    row(&mut floor, "the floor itself with its maps on huge pages", |_| timed(&mut huge.borrow_mut()).0);
    drop(huge);

    let one = load("hpc-w", &["array.devices=1".into()]);
    row(&mut floor, "ageing one device from empty, per page program", |_| ageing(&one));
    let drive = one_terabyte();
    row(&mut floor, "ageing one TLC drive of 1 TB from empty, per page program", |_| ageing(&drive));
    if argument == "ageing" {
        return;
    }
    let state = aged(&local, 2);
    for (name, sets) in [
        ("HPC(W) local, device domain, per page program", &["array.coordination.policy=local"][..]),
        ("HPC(W) local, die domain, per page program", &["ssd.gc.domain=die"]),
        ("HPC(W) reactive-inclusive, per page program", &["array.coordination.policy=reactive-inclusive"]),
        ("HPC(W) ideal, per page program", &["ssd.gc.schedule=ideal"]),
    ] {
        let sets: Vec<&str> = requests.iter().chain(sets).copied().collect();
        let scenario = hpc(&sets);
        row(&mut floor, name, |_| per_program(&measure(&scenario, state.clone())));
    }
    let reads = hpc(&[requests[0], requests[1], requests[2], "workload.read_fraction=1.0"]);
    row(&mut floor, "read-only HPC load, per page read", |_| per_read(&measure(&reads, state.clone())));
    drop(state);
    small::bench();
    inside_the_die(&mut floor);
    redundancy::bench(&mut floor);
    drop(floor);
    threads::bench(devices);
    memory(devices);
    traces::bench();
    sweep::bench();
}

/// A drive whose dies collect step by step on shared buses, under a write-heavy load of one-page requests: with as many
/// pages as the floor has, and with 1 TB.
fn inside_the_die(floor: &mut Floor) {
    for (size, blocks) in [("8 Mi pages", 128), ("1 TB", 1024)] {
        let drive = |schedule: &str| {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiments/configuration-c.toml");
            let sets = [
                // Long enough for the run, not the setting up of 64 dies, to be what is timed.
                "workload.requests=1000000".to_owned(),
                "workload.warmup=20000".to_owned(),
                "workload.arrival={process='poisson', rate=1500}".to_owned(),
                format!("ssd.geometry.blocks_per_plane={blocks}"),
                format!("ssd.gc.schedule={schedule}"),
            ];
            load(path, &sets)
        };
        let state = aged(&drive("blocking"), 2);
        for schedule in ["blocking", "preemptive", "io-parallel", "preemptive-io-parallel"] {
            let (scenario, name) = (drive(schedule), format!("{size}, {schedule}, per page operation"));
            row(floor, &name, |_| per_operation(&measure(&scenario, state.clone()), 20_000));
        }
    }
}

/// One TLC drive of 1 TB.
fn one_terabyte() -> Scenario {
    let geometry = ["ssd.geometry.channels=8", "ssd.geometry.chips_per_channel=4", "array.devices=1"];
    load("nvme-mixed", &geometry.map(str::to_owned))
}

fn load(name: &str, sets: &[String]) -> Scenario {
    match Scenario::load(name, sets, None) {
        Ok(scenario) => scenario,
        Err(error) => {
            println!("{error}");
            std::process::exit(2);
        }
    }
}

/// Nanoseconds per program of one step of the floor, and the step's programs.
fn timed<T: Table>(floor: &mut Floor<T>) -> (f64, u64) {
    let (before, clock) = (floor.programs, Instant::now());
    floor.overwrite(FLOOR_STEP);
    let programs = floor.programs - before;
    (clock.elapsed().as_nanos() as f64 / programs as f64, programs)
}

fn row(floor: &mut Floor, name: &str, case: impl Fn(usize) -> f64) {
    let mut ratios = Vec::new();
    let mut times = Vec::new();
    for repeat in 0..REPEATS {
        let before = timed(floor).0;
        let time = case(repeat);
        let after = timed(floor).0;
        ratios.push(2.0 * time / (before + after));
        times.push(time);
    }
    ratios.sort_by(f64::total_cmp);
    times.sort_by(f64::total_cmp);
    let (median, time) = (ratios[REPEATS / 2], times[REPEATS / 2]);
    println!("{name:<58}{median:>9.2}{:>9.2}{:>9.2}   {time:>9.1}", ratios[0], ratios[REPEATS - 1]);
}

fn aged(scenario: &Scenario, threads: usize) -> AgedState {
    let (cancel, pages_done) = (AtomicBool::new(false), AtomicU64::new(0));
    let plan = AgeingPlan {
        fill: scenario.precondition.fill,
        overwrite: scenario.precondition.overwrite,
        within: None,
        seed: scenario.seed,
        threads,
        cancel: &cancel,
        pages_done: &pages_done,
    };
    age(&scenario.array, &plan).unwrap_or_else(|error| {
        println!("{error:?}");
        std::process::exit(1)
    })
}

/// Nanoseconds per page program of ageing from empty on one thread.
fn ageing(scenario: &Scenario) -> f64 {
    let clock = Instant::now();
    let aged = aged(scenario, 1);
    let programs: u64 = aged.devices.iter().map(|ftl| ftl.tally().data_programs()).sum();
    clock.elapsed().as_nanos() as f64 / programs as f64
}

fn options(threads: usize, cancel: &AtomicBool) -> RunOptions<'_> {
    RunOptions { threads, checked: false, cancel, progress: &Silent, observe: &Unobserved, cache: None }
}

fn measure(scenario: &Scenario, aged: AgedState) -> Report {
    measure_on(1, scenario, aged)
}

fn measure_on(threads: usize, scenario: &Scenario, aged: AgedState) -> Report {
    let cancel = AtomicBool::new(false);
    run_aged(scenario, aged, &options(threads, &cancel)).unwrap_or_else(|error| {
        println!("{error}");
        std::process::exit(1)
    })
}

/// Wall time of the whole run (building the array and its load included) per flash data page programmed.
fn per_program(report: &Report) -> f64 {
    // The warm-up is simulated too: scale the window's programs up to the whole run.
    let whole = report.host.requests as f64 / (report.host.requests + 1000) as f64;
    report.engine.wall_ns as f64 * whole / report.array.flash_pages_programmed as f64
}

/// Wall time of the whole run per page read, programmed or erased block.
fn per_operation(report: &Report, warmup: u64) -> f64 {
    let whole = report.host.requests as f64 / (report.host.requests + warmup) as f64;
    report.engine.wall_ns as f64 * whole / report.engine.page_operations as f64
}

/// Wall time of the whole run per page read, of a load that only reads.
fn per_read(report: &Report) -> f64 {
    let whole = report.host.requests as f64 / (report.host.requests + 1000) as f64;
    report.engine.wall_ns as f64 * whole / report.engine.page_operations as f64
}

/// Peak memory of `run`, in a process of its own.
fn memory(devices: u32) {
    let Ok(program) = std::env::current_exe() else { return };
    let Ok(output) = std::process::Command::new(program).arg("memory").output() else { return };
    let peak: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(f64::NAN);
    let pages =
        load("hpc-w", &[]).array.members.iter().map(|m| m.ssd.geometry.raw_pages()).sum::<u64>() as f64;
    let allowed = 9.0 * pages + 150e6;
    println!(
        "\nmemory of `run` on 8 x 32 GiB: {:.0} MB, {:.2} bytes per flash page; allowed {:.0} MB ({:.2} of it)",
        peak / 1e6,
        peak / pages,
        allowed / 1e6,
        peak / allowed
    );
    let _ = devices;
}

fn print_peak_memory() {
    let scenario = load("hpc-w", &["workload.requests=5000".into(), "workload.warmup=100".into()]);
    let cancel = AtomicBool::new(false);
    let variant = Variant { label: String::new(), scenario };
    match compare(&[variant], &options(2, &cancel)) {
        Ok(comparison) => println!("{}", comparison.runs[0].engine.peak_rss_bytes),
        Err(error) => println!("{error}"),
    }
}
