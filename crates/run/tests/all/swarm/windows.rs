//! Does a run in which rounds of windows or questions go by at once end like the one that simulates all of them?
//!
//! The scenarios of the swarm with a policy that has windows, or an array that asks its members from time to time, and requests that
//! come many rounds apart: with caches, limits, faults, scrubs, messages that take time, and replays that wait. A run that is checked
//! simulates every round.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use harmonia_engine::Rng;
use harmonia_run::{RunError, RunOptions, run};
use harmonia_scenario::Scenario;

use super::forks::{told, written_seed};
use super::{Draw, faults, setting};

/// `make swarm` and `make nightly` run more.
const SCENARIOS: u64 = 100;

/// The scenario of a seed with windows; `None` where reads can do without nobody.
fn drawn(seed: u64, folder: &Path) -> Option<Scenario> {
    let mut d = Draw(Rng::stream(seed, "swarm/windows"));
    let failing = faults::failing(seed).filter(|_| d.0.chance(0.5));
    let toml = failing.map_or_else(|| written_seed(seed, folder), |(toml, _)| toml);
    let is_kept =
        |line: &&str| !["warmup_policy", "poll = ", "reads = "].iter().any(|key| line.starts_with(key));
    let toml: String = toml.split_inclusive('\n').filter(is_kept).collect();
    let array = Scenario::parse(&toml, "swarm.toml", &[], None).ok()?.array;
    let redundancy = u64::from(array.level.redundancy(array.devices));
    if redundancy == 0 {
        return None;
    }
    // From a few to a hundred windows between two requests.
    let gap = [300, 5_000, 100_000][d.range(0, 2) as usize];
    let window = (gap / d.range(2, 100)).max(20);
    let latency = [0, 0, d.range(1, window), d.range(1, 9 * window)][d.range(0, 3) as usize];
    let policy = match d.range(0, 3) {
        0 => {
            let (buffer, mode) = (d.range(0, window - 1), d.pick(&["all", "all", "windows"]));
            format!("policy='ioda', window='{window}us', buffer='{buffer}us', mode='{mode}'")
        }
        1 => format!("policy='plm', non_deterministic='{window}us', members={}", d.range(1, redundancy)),
        2 => "policy='local'".to_owned(),
        _ => {
            let pause = d.range(1, 20 * window);
            format!("policy='plm', non_deterministic='{window}us', deterministic='{pause}us'")
        }
    };
    let (requests, rate) = (d.range(20, 60), 1e6 / gap as f64);
    let synthetic = [
        "workload.warmup=5".to_owned(),
        format!("workload.requests={requests}"),
        format!("workload.arrival={{process='poisson', rate={rate}}}"),
    ];
    let replayed = [format!("workload.time_scale={}", d.pick(&["3", "30"]))];
    let mut array = vec![format!("array.coordination={{{policy}, message_latency='{latency}us'}}")];
    if policy.contains("local") {
        array.extend(["array.interface=log", "array.reads=avoid"].map(str::to_owned));
        array.push(format!("array.poll={window}us"));
    } else {
        array.push("array.interface=command".to_owned());
    }
    let sets = |load: &[String]| [&array[..], load].concat();
    let parse = |load: &[String]| Scenario::parse(&toml, "swarm.toml", &sets(load), None).ok();
    parse(&synthetic).or_else(|| parse(&replayed))
}

/// Its report, if it has one, and how many events were simulated.
fn outcome(seed: u64, scenario: &Scenario, checked: bool) -> (String, u64) {
    let cancel = AtomicBool::new(false);
    match run(scenario, &RunOptions { checked, cancel: &cancel, ..RunOptions::default() }) {
        Ok(report) => (told(&report), report.engine.events),
        Err(RunError::BadInput(error)) => (error.to_string(), 0),
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

#[test]
#[ignore = "long: make simulations"]
fn rounds_that_go_by_at_once_change_no_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, seeds) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM", SCENARIOS));
    let (mut runs, mut shorter) = (0, 0);
    for seed in first..first + seeds {
        let Some(scenario) = drawn(seed, folder.path()) else { continue };
        let (every, of_every) = outcome(seed, &scenario, true);
        let (fewer, of_fewer) = outcome(seed, &scenario, false);
        assert!(every == fewer, "seed {seed}:\n{every}\n{fewer}");
        runs += 1;
        shorter += u64::from(of_fewer < of_every);
        assert!(of_fewer <= of_every, "seed {seed}: more events than windows");
    }
    assert!(
        3 * runs > seeds && 3 * shorter > runs,
        "windows went by in {shorter} of {runs} runs of {seeds} seeds"
    );
}
