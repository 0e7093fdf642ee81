//! `make bench`: what Harmonia's speed is, as ratios to a bare FTL ([`floor`]) measured in the same run.
//!
//! Machines are noisy, so every case is timed between two runs of the floor and divided by their mean; the median of
//! several such ratios is printed with its extremes. Nothing is asserted on wall time. With `write` the tables go to
//! docs/performance.md.
//!
//! ```text
//! cargo run --release -p harmonia-bench              all cases, 8 x 32 GiB
//! cargo run --release -p harmonia-bench -- write FILE   the same, and the tables go to a page
//! cargo run --release -p harmonia-bench -- quick     one device, for a first look
//! cargo run --release -p harmonia-bench -- profile   only the measured window of HPC(W), for a profiler
//! cargo run --release -p harmonia-bench -- profile-reads   only reads
//! cargo run --release -p harmonia-bench -- profile-small one|eight 300000   only requests of one page
//! cargo run --release -p harmonia-bench -- profile-ageing  only the ageing of a TLC drive of 1 TB
//! cargo run --release -p harmonia-bench -- profile-cached ageing|writes   only a drive behind a write cache
//! cargo run --release -p harmonia-bench -- ageing    only ageing
//! cargo run --release -p harmonia-bench -- cached    only a drive behind a write cache
//! cargo run --release -p harmonia-bench -- small     only requests of one page
//! cargo run --release -p harmonia-bench -- die       only dies that collect step by step
//! cargo run --release -p harmonia-bench -- threads   only what a second thread gains
//! cargo run --release -p harmonia-bench -- traces    only reading traces
//! cargo run --release -p harmonia-bench -- redundancy only arrays with parity, and many members
//! cargo run --release -p harmonia-bench -- sweep     only a sweep of small points
//! ```
#![expect(clippy::print_stdout, reason = "prints a table")]
#![expect(clippy::disallowed_types, reason = "measures wall time")]

mod cached;
mod floor;
mod jobs;
mod redundancy;
mod small;
mod sweep;
mod table;
mod threads;
mod traces;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use harmonia_array::{AgedState, AgeingPlan, COUNTED_FROM, age};
use harmonia_metrics::Report;
use harmonia_run::{RunOptions, compare, run_aged};
use harmonia_scenario::{Scenario, Variant};
use table::{Floors, Tables};

fn main() {
    // Whoever reads the table may have seen enough (`| head`): then a bench ends, and has nobody to tell.
    // SAFETY: no other thread runs yet, and nothing depends on how this signal is handled.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let argument = std::env::args().nth(1).unwrap_or_default();
    match argument.as_str() {
        "memory" => return print_peak_memory(),
        "peak" => return jobs::print_peak(std::env::args().nth(2).unwrap_or_default().as_str()),
        "profile-cached" => return cached::profile(std::env::args().nth(2).as_deref()),
        "profile-small" => return small::profile(std::env::args().skip(2)),
        "read-trace" => {
            return traces::print_peak_memory(std::env::args_os().nth(2).unwrap_or_default().into());
        }
        _ => {}
    }
    let page = (argument == "write").then(|| {
        let page = std::env::args_os().nth(2).map(std::path::PathBuf::from);
        let page = page.unwrap_or_else(|| failed("write tables: name a page"));
        table::check(&page).unwrap_or_else(|error| failed(&format!("use {}: {error}", page.display())));
        page
    });
    floor::check();
    let mut tables = Tables::default();
    match argument.as_str() {
        "jobs" => return jobs::bench(&mut tables),
        "traces" => return traces::bench(&mut tables),
        "sweep" => return sweep::bench(&mut tables),
        "small" => return small::bench(&mut tables),
        "cached" => return cached::bench(&mut tables),
        "threads" => return threads::bench(&mut tables, 8),
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
    let mut floors = Floors::new(131_072);
    let cost = floors.timed();
    tables.note(format!("Measured on {}.", machine()));
    tables.note(format!(
        "A page program costs the prefetching floor {:.0} ns and the plain one {:.0} ns (8 Mi pages of 4 KiB, 15% spare, greedy, \
         one thread).",
        cost.prefetching, cost.plain
    ));
    if argument == "die" {
        return inside_the_die(&mut tables, &mut floors);
    }
    if argument == "redundancy" {
        return redundancy::bench(&mut tables, &mut floors);
    }
    tables.section("a page program");
    let one = load("hpc-w", &["array.devices=1".into()]);
    tables.row(&mut floors, "ageing one SSD from empty", None, |_| ageing(&one));
    let drive = one_terabyte();
    tables.row(&mut floors, "ageing one TLC drive of 1 TB from empty", None, |_| ageing(&drive));
    if argument == "ageing" {
        return;
    }
    let state = aged(&local, 2);
    for (name, sets) in [
        ("HPC(W) `local`, device domain", &["array.coordination.policy=local"][..]),
        ("HPC(W) `local`, die domain", &["ssd.gc.domain=die"]),
        ("HPC(W) `reactive-inclusive`", &["array.coordination.policy=reactive-inclusive"]),
        ("HPC(W) `ideal`", &["ssd.gc.schedule=ideal"]),
    ] {
        let sets: Vec<&str> = requests.iter().chain(sets).copied().collect();
        let scenario = hpc(&sets);
        tables.row(&mut floors, name, None, |_| per_program(&measure(&scenario, state.clone())));
    }
    let reads = hpc(&[requests[0], requests[1], requests[2], "workload.read_fraction=1.0"]);
    tables.row(&mut floors, "HPC, reads only, a page read", None, |_| {
        per_read(&measure(&reads, state.clone()))
    });
    drop(state);
    small::bench(&mut tables);
    cached::bench(&mut tables);
    inside_the_die(&mut tables, &mut floors);
    redundancy::bench(&mut tables, &mut floors);
    drop(floors);
    threads::bench(&mut tables, devices);
    memory(&mut tables);
    traces::bench(&mut tables);
    sweep::bench(&mut tables);
    if argument != "quick" {
        jobs::bench(&mut tables);
    }
    if let Some(page) = page {
        tables.write(&page).unwrap_or_else(|error| failed(&format!("write {}: {error}", page.display())));
    }
}

/// Ends a bench that could not measure everything: its tables would be wrong.
fn failed(what: &str) -> ! {
    println!("bench: cannot {what}");
    std::process::exit(1)
}

/// A drive whose dies collect step by step on shared buses, under a write-heavy load of one-page requests: with as many
/// pages as the floor has, and with 1 TB.
fn inside_the_die(tables: &mut Tables, floors: &mut Floors) {
    tables.section("a page operation of dies that collect by steps");
    for (size, blocks) in [("8 Mi pages", 128), ("1 TB", 1024)] {
        let drive = |schedule: &str| drive_of_steps(schedule, blocks);
        let state = aged(&drive("blocking"), 2);
        for schedule in ["blocking", "preemptive", "io-parallel", "preemptive-io-parallel"] {
            let (scenario, name) = (drive(schedule), format!("{size}, `{schedule}`"));
            tables.row(floors, &name, None, |_| per_operation(&measure(&scenario, state.clone()), 20_000));
        }
    }
}

/// A drive with so many blocks a plane under a million requests of one page.
fn drive_of_steps(schedule: &str, blocks: u32) -> Scenario {
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

fn aged(scenario: &Scenario, threads: usize) -> AgedState {
    let (cancel, pages_done) = (AtomicBool::new(false), AtomicU64::new(0));
    let plan = AgeingPlan {
        fill: scenario.precondition.fill,
        overwrite: scenario.precondition.overwrite,
        within: None,
        counted_from: COUNTED_FROM,
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
    RunOptions { threads, cancel, ..RunOptions::default() }
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
fn memory(tables: &mut Tables) {
    let peak = in_a_process(&["memory"]).unwrap_or_else(|| failed("measure memory"));
    let pages =
        load("hpc-w", &[]).array.members.iter().map(|m| m.ssd.geometry.raw_pages()).sum::<u64>() as f64;
    let allowed = 9.0 * pages + 150e6;
    tables.note(format!(
        "`run` on 8 x 32 GiB takes {:.0} MB, which is {:.2} bytes a flash page and {:.2} of what we allow it.",
        peak / 1e6,
        peak / pages,
        peak / allowed
    ));
}

/// What the processor calls itself, and how many of it there are.
fn machine() -> String {
    let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = described.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{processors} processors of the kind \"{}\"", model.map_or("unknown", |(_, name)| name.trim()))
}

/// The number that this program prints with these arguments.
fn in_a_process(arguments: &[&str]) -> Option<f64> {
    let output = std::process::Command::new(std::env::current_exe().ok()?).args(arguments).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
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
