//! Does anything break when everything varies at once? Random small scenarios, each from a printed seed.
//!
//! A seed makes a whole scenario: geometry, allocation and its unit, priority, suspending, thresholds, spare, victim,
//! schedule, trigger, domain, level and layout, what members reveal, coordination, load, ageing, members. It runs with every invariant checked after every
//! event, and its report must add up. `HARMONIA_SWARM=100000` runs so many; `HARMONIA_SWARM_FIRST=4711` begins at that
//! seed.
//!
//! `faults` draws failures into the same scenarios, `own_keys` those keys of policies that nothing here knows, and `declared` any
//! keys by their declarations.
//! `explained` accounts for every nanosecond of their requests. `forks` cuts runs in two, `floating` gives them stripes that leave a member free, and
//! `windows` policies with windows and long gaps between requests.
//!
//! `drawn` makes the scenarios, and `sums` has what every report must say of itself.
//!
//! Not verified here: data content and exact times (the device's own tests do), trims of a trace (no format has them yet).

mod declared;
mod drawn;
mod explained;
mod faults;
mod floating;
mod forks;
mod own_keys;
mod sums;
pub mod waits;
mod ways;
mod windows;

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harmonia_run::{RunError, RunOptions, run};
use harmonia_scenario::Scenario;

use drawn::{AGED_BY_LOAD, Draw, Generated, generate};
use sums::{adds_up, for_the_host, is_of_map, ordered};

/// `make swarm` and `make nightly` run more.
const SCENARIOS: u64 = 400;

enum Ending {
    /// It ran; whether anything was collected.
    Report(bool),
    /// The text of a refusal that says the device ran out of blocks.
    OutOfBlocks(String),
}

/// Runs the scenario of a seed and checks its report.
fn check(seed: u64, generated: &Generated, folder: &std::path::Path) -> Ending {
    let file = generated.trace.as_ref().map(|rows| {
        let path = folder.join(format!("{seed}.csv"));
        std::fs::write(&path, rows).expect("the trace can be written");
        path
    });
    let mut toml = generated.toml.clone();
    if let Some(path) = &file {
        // The load's table is the last of a scenario with a trace.
        writeln!(toml, "path = {:?}", path.display().to_string()).expect("text grows");
    }
    let plain = Scenario::parse(&toml, "swarm.toml", &[], None).unwrap_or_else(|error| panic!("{error}"));
    let scenario = own_keys::drawn(seed, &toml, plain);
    let waits = waits::Waits::default();
    let options = RunOptions { checked: true, observe: &waits, ..RunOptions::default() };
    let result = run(&scenario, &options);
    if let Some(path) = file {
        std::fs::remove_file(path).expect("the trace can be removed");
    }
    match result {
        Ok(report) => {
            adds_up(&scenario, generated, &report);
            waits.agree_with(&report);
            Ending::Report(report.array.erases > 0)
        }
        Err(RunError::BadInput(error)) => {
            let text = error.to_string();
            assert!(text.contains("ran out of free blocks") && text.contains("device "), "refused: {text}");
            Ending::OutOfBlocks(text)
        }
        Err(error) => panic!("{error}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "a campaign's length is the caller's, not a scenario's")]
fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a whole number"))
}

#[test]
fn every_random_scenario_ends_and_adds_up() {
    let (first, count) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM", SCENARIOS));
    let next = AtomicU64::new(first);
    let (collected, mapped) = (AtomicU64::new(0), AtomicU64::new(0));
    let failed = AtomicBool::new(false);
    let refused = Mutex::new(Vec::new());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let worker = || {
        while !failed.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + count {
                break;
            }
            let generated = generate(seed);
            let attempt = std::panic::AssertUnwindSafe(|| check(seed, &generated, folder.path()));
            match std::panic::catch_unwind(attempt) {
                Ok(Ending::Report(collects)) => {
                    collected.fetch_add(collects.into(), Ordering::Relaxed);
                    let is_mapped = generated.toml.contains("\nmapping_cache = ");
                    mapped.fetch_add(is_mapped.into(), Ordering::Relaxed);
                }
                Ok(Ending::OutOfBlocks(text)) => {
                    refused.lock().expect("no panic holds it").push((seed, text))
                }
                Err(panic) => {
                    failed.store(true, Ordering::Relaxed);
                    eprintln!("seed {seed} fails:\n{}", generated.toml);
                    eprintln!("{}", generated.trace.as_deref().unwrap_or_default());
                    std::panic::resume_unwind(panic);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..std::thread::available_parallelism().map_or(1, usize::from).min(8) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut refused = refused.into_inner().expect("no panic holds it");
    refused.sort();
    let (collected, mapped) = (collected.into_inner(), mapped.into_inner());
    eprintln!(
        "{count} scenarios from seed {first}: {collected} collected garbage, {mapped} had a mapping cache, {} ran out of blocks",
        refused.len()
    );
    for (seed, text) in &refused {
        eprintln!("seed {seed}: {text}");
    }
    assert!(collected >= count / 2, "only {collected} of {count} scenarios collect garbage");
    assert!(mapped >= count / 20, "only {mapped} of {count} scenarios have a mapping cache");
    // Spare suffices in every one of them.
    assert!(refused.is_empty(), "feasible scenarios ran out of blocks");
}

/// Found beside the swarm: it aged the array first and refused then.
#[test]
fn skew_without_another_member_is_refused_before_anything_runs() {
    let toml = "[workload]\narrival = { rate = 1 }\nsize = { mean = \"4KiB\" }\naddress = { skew = 0.5 }\n\
                [array]\ndevices = 1\n";
    let error = Scenario::parse(toml, "skew.toml", &[], None).expect_err("one member cannot be skewed");
    assert_eq!(error.key(), Some("workload.address.skew"), "{error}");
    assert!(error.problem().contains("at least 2 devices"), "{error}");
}
