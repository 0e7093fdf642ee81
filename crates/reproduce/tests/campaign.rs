//! Does a campaign go from an experiment to a verdict, and does it go on where it was stopped? Do simulated members that wear out
//! age as they must?
//!
//! A shrunken experiment: four tiny devices, a few thousand requests. Its claim is one that holds there; the same claim
//! the wrong way round must not. Members wear out in the experiment on ages under GAFTL, with fewer requests.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use harmonia_reproduce::Results;
use harmonia_reproduce::assessment::assess;
use harmonia_reproduce::campaign::{self, Watch};
use harmonia_reproduce::claims::{Claim, Test, Unit};
use harmonia_reproduce::experiment::{Experiment, Job, experiments};
use harmonia_reproduce::measure::{Quantity, lowered};
use harmonia_reproduce::summary::Replaced;
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

/// Members that are replaced so often: the experiment on ages, without drift of parity to wait for.
fn replacing(replacements: usize, further: &[&str]) -> Job {
    let experiments = experiments().expect("valid experiments");
    let ages = experiments.iter().find(|experiment| experiment.id == "gaftl-ages").expect("it is there");
    let short = ["workload.requests=60000", "workload.warmup=20000"];
    let sets: Vec<String> = short.iter().chain(further).map(|&set| set.to_owned()).collect();
    let scenario = ages.scenario("none", 1, &sets).expect("a scenario");
    Job { experiment: ages.id.clone(), variant: "none".into(), seed: 1, scenario, replacements }
}

fn replaced(results: &Results) -> Vec<Replaced> {
    let runs = results.runs("gaftl-ages", "none");
    runs.values().next().map(|run| run.replaced.clone()).unwrap_or_default()
}

/// Nothing moves parity here, so that a member writes what its share says: `3 p + 1` pages with the share `p`. Victims are nearly
/// empty, because a fifth of the space is in use. As full as in the experiment, a member with 60% of the parity has a third more
/// write amplification than one with 10%, which the closed form does not know. Ages may be off by 5 points.
#[test]
fn simulated_members_age_by_their_shares() {
    let within = |found: f64, expected: f64| (found - expected).abs() < 0.05;
    let ages = |replacements, further: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let (cancel, watch) = (AtomicBool::new(false), Batches::default());
        let jobs = [replacing(replacements, further)];
        replaced(&campaign::run(&jobs, folder.path(), &options(&cancel), &watch).expect("they run"))
    };
    let local = [
        "array.coordination={ policy = \"local\" }",
        "precondition.fill=0.2",
        "workload.stream.random.address.footprint=0.2",
        "workload.stream.sequential.address.footprint=0.2",
    ];
    let all = ages(7, &local);
    // At first 1.3 of 2.8, and in the end the ages that repeat.
    assert!(all[0].ages[1..].iter().all(|&age| within(age, 1.3 / 2.8)), "{:?}", all[0]);
    let targets = [1.0, 0.65, 0.4875, 0.325, 0.1625];
    assert!(all[6].ages.iter().zip(targets).all(|(&age, target)| within(age, target)), "{:?}", all[6]);
    // With even shares all are worn out at once.
    let even = ages(1, &["array.parity_shares=[1, 1, 1, 1, 1]"]);
    assert!(even[0].ages.iter().all(|&age| within(age, 1.0)), "{even:?}");
}

/// Each run is kept by itself, and is not run again if one more replacement is asked for: marks in the files tell.
#[test]
fn replacements_go_on_where_they_were_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cancel, watch) = (AtomicBool::new(false), Batches::default());
    let run = |jobs: &[Job]| campaign::run(jobs, folder.path(), &options(&cancel), &watch).expect("they run");
    let files = || std::fs::read_dir(folder.path()).expect("a folder").count();
    let (two, three) = ([replacing(2, &[])], [replacing(3, &[])]);
    let first = run(&two);
    assert_eq!((files(), replaced(&first).len()), (2, 2));
    for file in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let (before, after) = text.split_once("\"simulated_ns\":").expect("a run");
        let (_, after) = after.split_once(',').expect("a number");
        std::fs::write(&path, format!("{before}\"simulated_ns\":7,{after}")).expect("written");
    }
    assert!(campaign::kept(&three, folder.path()).expect("a folder").is_empty(), "the third run is missing");
    let all = run(&three);
    assert_eq!((files(), &replaced(&all)[..2]), (3, &replaced(&first)[..]));
    assert_eq!(all.runs("gaftl-ages", "none")[&1].simulated_ns, 7, "the first run is the one that was kept");
    assert_eq!(campaign::kept(&three, folder.path()).expect("a folder"), all);
}
