//! What users wait for: whole jobs, each in a process of its own for its time and its memory.

use std::time::Instant;

use harmonia_scenario::Scenario;

use crate::table::Tables;
use crate::{aged, failed, in_a_process, load, measure_on};

/// A job: its name on the command line, what it is, and how it is done.
type Job = (&'static str, &'static str, fn());

const JOBS: [Job; 5] = [
    ("age-eight", "age eight `tlc-nvme-1t` (537 million pages of 16 KiB), two threads", || {
        let sets = ["array.devices=8", "ssd.preset=tlc-nvme-1t"].map(str::to_owned);
        drop(aged(&load("nvme-mixed", &sets), 2));
    }),
    ("hpc-w-1", "run HPC(W) under `local` on 8 x 32 GiB, ageing included, one thread", || run(1, &hpc_w())),
    ("hpc-w-2", "run the same on two threads", || run(2, &hpc_w())),
    (
        "small-writes",
        "run ten million 4 KiB writes on RAID-0 of 8 x 4 GiB, ageing included, one thread",
        || {
            run(1, &crate::small::writes(8, 2, 1024, 10_000_000));
        },
    ),
    (
        "steps",
        "run a million requests under `io-parallel`, one drive of 1 TB, ageing included, one thread",
        || {
            run(1, &crate::drive_of_steps("io-parallel", 1024));
        },
    ),
];

fn hpc_w() -> Scenario {
    load("hpc-w", &["array.coordination.policy=local".to_owned()])
}

fn run(threads: usize, scenario: &Scenario) {
    drop(measure_on(threads, scenario, aged(scenario, threads)));
}

/// Each job once.
pub fn bench(tables: &mut Tables) {
    println!();
    for (name, what, _) in JOBS {
        let clock = Instant::now();
        let peak = in_a_process(&["peak", name]).unwrap_or_else(|| failed(what));
        tables.note(format!("To {what}: {:.1} s, {:.0} MB.", clock.elapsed().as_secs_f64(), peak / 1e6));
    }
}

/// Does a job and prints the peak memory of this process, in bytes.
pub fn print_peak(name: &str) {
    if let Some((.., job)) = JOBS.iter().find(|job| job.0 == name) {
        job();
        println!("{}", harmonia_run::peak_rss_bytes());
    }
}
