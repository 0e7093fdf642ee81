//! Does a run that is cloned in its middle go on as if nothing had happened, and does its clone?

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use harmonia_engine::Rng;
use harmonia_metrics::Report;
use harmonia_run::{RunError, RunOptions, run, run_forked};
use harmonia_scenario::Scenario;

use super::{Draw, Generated, faults, generate, own_keys, setting};

/// A report as far as it tells of what was simulated.
pub fn told(report: &Report) -> String {
    serde_json::to_string(&report.without_engine()).expect("a report is JSON")
}

/// The text of the scenario of a seed; what it replays is written to a folder.
pub fn written_seed(seed: u64, folder: &Path) -> String {
    let Generated { mut toml, trace } = generate(seed);
    if let Some(rows) = trace {
        let path = folder.join(format!("{seed}.csv"));
        std::fs::write(&path, rows).expect("the trace can be written");
        toml.push_str(&format!("path = {:?}\n", path.display().to_string()));
    }
    toml
}

/// The scenario of a seed, with keys of its policies.
pub fn parsed_seed(seed: u64, folder: &Path) -> Scenario {
    let toml = written_seed(seed, folder);
    let plain = Scenario::parse(&toml, "swarm.toml", &[], None).unwrap_or_else(|error| panic!("{error}"));
    own_keys::drawn(seed, &toml, plain)
}

/// Cuts the run of a scenario at a request drawn from its seed; whether that was possible.
fn check(seed: u64, scenario: &Scenario) -> bool {
    let options = RunOptions { checked: true, ..RunOptions::default() };
    let whole = match run(scenario, &options) {
        Ok(report) => report,
        // Found by the tests beside this one.
        Err(RunError::BadInput(_)) => return false,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let at = Draw(Rng::stream(seed, "swarm/forks")).range(0, 300);
    let forked =
        run_forked(scenario, at, &options).unwrap_or_else(|error| panic!("seed {seed}, at {at}: {error}"));
    for (name, report) in ["first", "second"].iter().zip(&forked) {
        let (whole, part) = (told(&whole), told(report));
        assert!(
            whole == part,
            "seed {seed}: cut at request {at}, the {name} went another way\n{whole}\n{part}"
        );
    }
    true
}

#[test]
fn a_run_and_its_clone_go_on_like_the_run_that_was_not_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let (next, cut) = (AtomicU64::new(0), AtomicU64::new(0));
    let seeds = setting("HARMONIA_SWARM", 50);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return;
            }
            let failing = faults::failing(seed).map(|(_, failing)| failing);
            let scenarios = [Some(parsed_seed(seed, folder.path())), failing];
            for scenario in scenarios.into_iter().flatten() {
                cut.fetch_add(u64::from(check(seed, &scenario)), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let cut = cut.into_inner();
    assert!(cut > seeds, "only {cut} runs of {seeds} seeds were cut");
}
