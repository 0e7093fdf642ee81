//! Is a comparison over several seeds the same as comparisons of one seed each, put together?

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use harmonia_metrics::{Comparison, Method, Observer, Report};
use harmonia_run::{
    MOST_SEEDS, Observe, Progress, RunError, RunId, RunOptions, Stage, compare, compare_seeds,
};
use harmonia_scenario::{Scenario, Variant};
use harmonia_types::{Completion, DeviceId, SimTime};

fn variants(seed: u64) -> Vec<Variant> {
    let variant = |label: &str, sets: &[&str]| {
        let mut all = vec!["workload.requests=1200".to_owned(), "precondition.overwrite=1.5".to_owned()];
        all.extend(sets.iter().map(|set| (*set).to_owned()));
        let mut scenario = Scenario::load("tiny", &all, None).unwrap_or_else(|error| panic!("{error}"));
        scenario.seed = seed;
        Variant { label: label.into(), scenario }
    };
    vec![
        variant("local", &["array.coordination.policy=local"]),
        variant("three", &["array.devices=3"]),
        variant("ideal", &["array.coordination.policy=local", "ssd.gc.schedule=ideal"]),
    ]
}

fn options(threads: usize) -> RunOptions<'static> {
    RunOptions { threads, ..RunOptions::default() }
}

fn over(seed: u64, seeds: u64, threads: usize) -> Comparison {
    compare_seeds(&variants(seed), seeds, &options(threads)).unwrap_or_else(|error| panic!("{error}"))
}

fn bytes(report: &Report) -> String {
    serde_json::to_string(&report.without_engine()).expect("a report is JSON")
}

/// How many arrays were aged.
#[derive(Default)]
struct Ageings(Mutex<u32>);

impl Progress for Ageings {
    fn begin(&self, _: usize, _: &str, stage: Stage, _: u64) {
        *self.0.lock().unwrap() += u32::from(stage == Stage::Precondition);
    }
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self, _: usize) {}
}

#[test]
fn seeds_share_an_aged_array_where_ageing_has_a_seed_of_its_own() {
    let of = |seed: u64, keys: &[&str]| {
        let sets: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        let mut scenario = Scenario::load("tiny", &sets, None).unwrap_or_else(|error| panic!("{error}"));
        scenario.seed = seed;
        Variant { label: "tiny".into(), scenario }
    };
    let short = ["workload.requests=500", "precondition.overwrite=1.5"];
    let kept = [short[0], short[1], "precondition.seed=5"];
    let run = |variant: Variant, seeds| {
        let ageings = Ageings::default();
        let options = RunOptions { progress: &ageings, ..options(1) };
        let runs = compare_seeds(&[variant], seeds, &options).unwrap_or_else(|error| panic!("{error}")).runs;
        let aged = *ageings.0.lock().unwrap();
        // A seed of ageing is a caution, which the others do not have.
        let cautions = Vec::new();
        let measured = |report: Report| {
            bytes(&Report { scenario: serde_json::Value::Null, warnings: cautions.clone(), ..report })
        };
        (aged, runs.into_iter().map(measured).collect::<Vec<_>>())
    };
    assert_eq!(run(of(5, &short), 3).0, 3);
    let (aged, runs) = run(of(5, &kept), 3);
    assert_eq!(aged, 1, "all begin with one array");
    assert!(runs[0] != runs[1], "their loads differ");
    assert_eq!(runs[0], run(of(5, &short), 1).1[0], "that of its own seed");
    assert_eq!(run(of(6, &kept), 1).1[0], runs[1], "alone it is the run it is together");
    let mistake = Scenario::load("tiny", &["precondition.sed=5".into()], None).expect_err("misspelt");
    assert!(mistake.problem().contains("did you mean `seed`?"), "{mistake}");
    let mistake = Scenario::load("tiny", &["precondition.seed=-1".into()], None).expect_err("below 0");
    assert!(mistake.to_string().contains("allowed: a whole number, 0 to 2^64 - 1"), "{mistake}");
}

#[test]
fn every_seed_is_the_run_it_would_be_alone_in_the_order_asked_for() {
    let together = over(5, 3, 2);
    let labels: Vec<_> = together.runs.iter().map(|run| (run.label.as_str(), run.seed)).collect();
    let asked =
        ["local", "three", "ideal"].into_iter().flat_map(|label| (5..8).map(move |seed| (label, seed)));
    assert_eq!(labels, asked.collect::<Vec<_>>(), "variant by variant, then by seed");
    for seed in 5..8 {
        let alone = compare(&variants(seed), &options(1)).unwrap_or_else(|error| panic!("{error}"));
        for (variant, alone) in together.variants().zip(&alone.runs) {
            assert_eq!(bytes(&variant[seed as usize - 5]), bytes(alone), "{} seed {seed}", alone.label);
        }
    }
}

#[test]
fn threads_show_in_no_byte() {
    let text = |threads| {
        let Comparison { runs, intervals, .. } = over(1, 4, threads);
        (runs.iter().map(bytes).collect::<Vec<_>>(), serde_json::to_string(&intervals).expect("JSON"))
    };
    let first = text(1);
    for threads in [2, 3, 16] {
        assert_eq!(first, text(threads), "{threads} threads");
    }
}

#[test]
fn intervals_are_over_seeds_and_in_pairs() {
    let Comparison { runs, intervals, .. } = over(1, 3, 2);
    assert_eq!((intervals.method, intervals.baseline.as_str()), (Method::Replications, "local"));
    let means =
        |from: usize| runs[from..from + 3].iter().map(|run| run.host.response_ns.all.mean.expect("requests"));
    let average = means(0).sum::<f64>() / 3.0;
    let local = intervals.variants[0].metrics.mean.expect("requests");
    assert!((local.mean - average).abs() < 1e-6 && local.samples == 3, "{local:?}");
    let versus =
        intervals.variants[2].versus_baseline.as_ref().and_then(|versus| versus.mean).expect("requests");
    assert!(versus.paired && versus.significant.is_some());
    let largest = means(6).zip(means(0)).map(|(ideal, local)| ideal - local).fold(f64::MIN, f64::max);
    assert!(largest < 0.0, "ideal is faster with every seed");
    assert!(intervals.variants[0].metrics.erases.expect("counted").half_width.is_some());
}

#[test]
fn what_cannot_be_counted_is_refused_with_the_reason() {
    let refused = |seed: u64, seeds: u64| match compare_seeds(&variants(seed), seeds, &options(1)) {
        Err(RunError::BadInput(error)) => error.to_string(),
        other => panic!("{seeds} seeds from {seed}: {other:?}"),
    };
    assert!(refused(1, 0).contains("0 seeds"), "{}", refused(1, 0));
    let many = refused(1, 1_000_000_000);
    assert!(many.contains("1000000000 seeds") && many.contains("square root"), "{many}");
    assert!(refused(1, MOST_SEEDS + 1).contains("1 to 1000"));
    let overflow = refused(u64::MAX - 1, 3);
    assert!(overflow.contains("`seed` = 18446744073709551614") && overflow.contains("at most"), "{overflow}");
    assert_eq!(over(u64::MAX - 1, 2, 1).runs[1].seed, u64::MAX, "the last seed there is");
}

/// Notes who was asked for, and what was said to be going on.
#[derive(Default)]
struct Notes {
    observers: Mutex<Vec<RunId>>,
    names: Mutex<BTreeSet<(usize, String)>>,
}

struct Blind;

impl Observer for Blind {
    fn begin(&mut self, _: SimTime, _: usize) {}
    fn completion(&mut self, _: &Completion) {}
    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
    fn end(&mut self, _: SimTime) {}
}

impl Observe for Notes {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        self.observers.lock().expect("not poisoned").push(run);
        Some(Box::new(Blind))
    }
}

impl Progress for Notes {
    fn begin(&self, run: usize, label: &str, stage: Stage, _: u64) {
        if stage == Stage::Simulate {
            self.names.lock().expect("not poisoned").insert((run, label.to_owned()));
        }
    }
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self, _: usize) {}
}

#[test]
fn observers_and_progress_go_by_the_position_among_all_runs() {
    let notes = Notes::default();
    let options = RunOptions { progress: &notes, observe: &notes, ..options(2) };
    compare_seeds(&variants(7), 2, &options).unwrap_or_else(|error| panic!("{error}"));
    let mut asked = notes.observers.into_inner().expect("not poisoned");
    asked.sort_unstable();
    let ids = (0..3).flat_map(|variant| (0..2).map(move |seed| RunId { variant, seed }));
    assert_eq!(asked, ids.collect::<Vec<_>>(), "each once");
    let names: Vec<(usize, String)> = notes.names.into_inner().expect("not poisoned").into_iter().collect();
    let name = |run: usize, name: &str| (run, name.to_owned());
    assert_eq!(names[..3], [name(0, "local seed 7"), name(1, "local seed 8"), name(2, "three seed 7")]);
}

#[test]
fn a_cancelled_comparison_ends_as_cancelled() {
    let cancel = AtomicBool::new(true);
    let options = RunOptions { cancel: &cancel, ..options(2) };
    assert!(matches!(compare_seeds(&variants(1), 4, &options), Err(RunError::Cancelled)));
}
