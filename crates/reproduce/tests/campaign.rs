//! Does a campaign go from an experiment to a verdict, and does it go on where it was stopped?
//!
//! A shrunken experiment: four tiny devices, a few thousand requests. Its claim is one that holds there; the same claim
//! the wrong way round must not.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use harmonia_reproduce::assessment::assess;
use harmonia_reproduce::campaign::{self, Watch};
use harmonia_reproduce::claims::{Claim, Test, Unit};
use harmonia_reproduce::experiment::{Experiment, Job};
use harmonia_reproduce::measure::{Quantity, lowered};
use harmonia_reproduce::verdict::{Expected, Verdict};
use harmonia_run::{RunError, RunOptions};

const BASE: &str = r#"
    name = "shrunken"
    workload = { requests = 3000, arrival = { rate = 2000 }, size = { mean = "16KiB" }, read_fraction = 0.3 }
    array.devices = 4
    ssd.preset = "tiny-test"
"#;
const EXPERIMENT: &str = r#"
    question = "Does collection that takes no time help?"
    base = "base.toml"
    [[axis]]
    name = "policy"
    [[axis.point]]
    name = "local"
    [[axis.point]]
    name = "ideal"
    sets = ["ssd.gc.schedule=ideal"]
"#;

fn jobs(sets: &str) -> Vec<Job> {
    let text = EXPERIMENT.replace("base = \"base.toml\"", &format!("base = \"base.toml\"\n{sets}"));
    let experiment = Experiment::parse("shrunken", &text, |_| Some(BASE.to_owned())).expect("an experiment");
    experiment.jobs(2, |_| true).expect("scenarios")
}

/// Notes what was run.
#[derive(Default)]
struct Batches(RefCell<Vec<usize>>);

impl Watch for Batches {
    fn batch(&self, done: usize, _: usize, _: &Job) {
        self.0.borrow_mut().push(done);
    }
}

fn options(cancel: &AtomicBool) -> RunOptions<'_> {
    RunOptions { threads: 2, cancel, ..RunOptions::default() }
}

#[test]
fn from_an_experiment_to_a_verdict_and_nothing_is_run_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let cancel = AtomicBool::new(false);
    let jobs = jobs("");
    let watch = Batches::default();
    let results = campaign::run(&jobs, folder.path(), &options(&cancel), &watch).expect("they run");
    assert_eq!((results.len(), watch.0.take()), (4, vec![0]));

    let claim = |expected| Claim {
        id: "x",
        source: "",
        words: "",
        claimed: "",
        unit: Unit::Percent,
        test: Test::Measured(lowered(Quantity::Mean, "shrunken", "local", "ideal"), expected),
    };
    let claims = [Expected::Above(0.0), Expected::Below(0.0)].map(claim);
    let verdicts: Vec<Verdict> = assess(&claims, &results).iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Within, Verdict::NotReproduced]);

    let again = campaign::run(&jobs, folder.path(), &options(&cancel), &watch).expect("they are there");
    assert_eq!((again, watch.0.take()), (results, vec![]));
}

#[test]
fn what_was_stopped_leaves_nothing_half_done_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let cancel = AtomicBool::new(true);
    let watch = Batches::default();
    let jobs = jobs("");
    let stopped = campaign::run(&jobs, folder.path(), &options(&cancel), &watch);
    assert!(matches!(stopped, Err(RunError::Cancelled)));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    cancel.store(false, Ordering::Relaxed);
    assert_eq!(campaign::run(&jobs, folder.path(), &options(&cancel), &watch).expect("they run").len(), 4);
}

/// What cannot be run is a result of its own, and does not take the others of its batch along.
#[test]
fn a_run_that_is_refused_is_a_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let cancel = AtomicBool::new(false);
    let mut jobs = jobs("");
    let missing = self::jobs("sets = ['workload={ kind = \"trace\", path = \"nowhere.csv\" }']");
    jobs.extend(missing.into_iter().take(1).map(|job| Job { variant: "missing".into(), ..job }));
    let results =
        campaign::run(&jobs, folder.path(), &options(&cancel), &Batches::default()).expect("the others run");
    assert_eq!((results.len(), results.runs("shrunken", "local").len()), (5, 2));
    assert!(
        results.refusal("shrunken", "missing").is_some() && results.refusal("shrunken", "local").is_none()
    );
}
