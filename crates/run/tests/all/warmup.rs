//! Runs that warm up under `local`, once for all: what do they share, and what does sharing change?

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use harmonia_metrics::Report;
use harmonia_run::{Progress, RunError, RunOptions, Stage, compare, run};
use harmonia_scenario::{Scenario, Variant};

/// Counts warm-ups.
#[derive(Default)]
struct Warmups(AtomicUsize);

impl Progress for Warmups {
    fn begin(&self, _: usize, label: &str, stage: Stage, _: u64) {
        let is_one = stage == Stage::Simulate && label == "warming up";
        self.0.fetch_add(usize::from(is_one), Ordering::Relaxed);
    }
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self, _: usize) {}
}

fn options(threads: usize, progress: &Warmups) -> RunOptions<'_> {
    static CANCEL: AtomicBool = AtomicBool::new(false);
    RunOptions { threads, checked: true, cancel: &CANCEL, progress, ..RunOptions::default() }
}

/// `tiny`, warmed up under `local`, with these changes.
fn scenario(sets: &[&str]) -> Scenario {
    let common = ["precondition.warmup_policy=local", "workload.requests=1500", "workload.warmup=500"];
    let sets: Vec<String> = common.iter().chain(sets).map(|&set| set.to_owned()).collect();
    Scenario::load("tiny", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn alone(scenario: &Scenario) -> Report {
    run(scenario, &options(1, &Warmups::default())).unwrap_or_else(|error| panic!("{error}"))
}

fn told(report: &Report) -> String {
    let report = Report { label: String::new(), ..report.without_engine() };
    serde_json::to_string(&report).expect("a report is JSON")
}

/// What the host saw, without what the array is made of.
fn seen(report: &Report) -> String {
    serde_json::to_string(&report.host).expect("a report is JSON")
}

const POLICIES: [&str; 4] = ["local", "reactive-selective", "proactive-idle", "gclock"];

#[test]
fn those_that_differ_in_coordination_warm_up_once_and_each_as_if_it_were_alone() {
    let loads: [&[&str]; 3] = [
        &[],
        &["workload.arrival={process=\"closed\", queue_depth=16}"],
        &["workload.arrival={process=\"poisson\", rate=6000}", "array.level=raid5"],
    ];
    for load in loads {
        let of_policy = |policy: &&str| {
            let named = format!("array.coordination.policy={policy}");
            let sets: Vec<&str> = load.iter().copied().chain([named.as_str()]).collect();
            Variant { label: (*policy).to_owned(), scenario: scenario(&sets) }
        };
        let variants: Vec<Variant> = POLICIES.iter().map(of_policy).collect();
        for threads in [1, 2] {
            let warmups = Warmups::default();
            let together =
                compare(&variants, &options(threads, &warmups)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(warmups.0.load(Ordering::Relaxed), 1, "{load:?}");
            for (variant, report) in variants.iter().zip(&together.runs) {
                let (alone, together) = (told(&alone(&variant.scenario)), told(report));
                assert!(alone == together, "{load:?}: {}", variant.label);
            }
        }
    }
}

#[test]
fn those_whose_ssds_differ_warm_up_by_themselves() {
    let of_schedule = |schedule: &&str| {
        let named = format!("ssd.gc.schedule={schedule}");
        Variant { label: (*schedule).to_owned(), scenario: scenario(&[&named]) }
    };
    let variants: Vec<Variant> = ["blocking", "preemptive"].iter().map(of_schedule).collect();
    let warmups = Warmups::default();
    compare(&variants, &options(2, &warmups)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(warmups.0.load(Ordering::Relaxed), 2);
}

/// Members that rest between requests anyway are at rest behind the warm-up: nothing can differ under `local`.
#[test]
fn where_members_rest_anyway_the_host_sees_what_it_sees_without() {
    let apart = "workload.arrival={process=\"poisson\", rate=20}";
    let empty = ["precondition.fill=0", "precondition.overwrite=0", "array.coordination.policy=local"];
    let loads: [&[&str]; 3] = [
        &[apart],
        &[apart, "workload.warmup=20s"],
        &["workload.arrival={process=\"closed\", queue_depth=1}"],
    ];
    for load in loads {
        let sets: Vec<&str> = load.iter().copied().chain(empty).collect();
        let with = scenario(&sets);
        let mut without = with.clone();
        without.precondition.warmup_policy = harmonia_scenario::WarmupPolicy::Own;
        let (with, without) = (alone(&with), alone(&without));
        assert!(with.host.requests >= 900, "{load:?}: {}", with.host.requests);
        assert_eq!(seen(&with), seen(&without), "{load:?}");
    }
}

/// A closed loop has as many requests under way behind the warm-up as before: what the warm-up left open counts on.
#[test]
fn a_closed_loop_goes_on_with_its_depth() {
    for depth in [2, 16] {
        let process = format!("workload.arrival={{process=\"closed\", queue_depth={depth}}}");
        let report = alone(&scenario(&[&process, "array.coordination.policy=local"]));
        assert_eq!(report.host.requests, 1000);
        // Little's law: requests under way are arrivals a second times their mean response.
        let under_way = report.host.response_ns.all.mean.unwrap_or(0.0) * report.host.requests as f64
            / report.simulated_ns as f64;
        let off = under_way / f64::from(depth) - 1.0;
        assert!(off.abs() < 0.03, "depth {depth}: {under_way:.2} under way");
    }
}

#[test]
fn a_load_that_ends_before_its_warm_up_is_refused() {
    let scenario = scenario(&["workload.warmup=1h"]);
    let warmups = Warmups::default();
    match run(&scenario, &options(1, &warmups)) {
        Err(RunError::BadInput(why)) => assert!(why.to_string().contains("before the warm-up did"), "{why}"),
        other => panic!("{:?}", other.map(|report| report.host.requests)),
    }
}

/// What an overloaded array serves is no matter of where the window begins: it first serves what the warm-up left.
#[test]
fn an_overloaded_array_serves_as_much_with_any_warmup() {
    let served = |warmup: u64| {
        let sets = [
            "workload.requests=6000".to_owned(),
            format!("workload.warmup={warmup}"),
            "workload.arrival={process=\"poisson\", rate=20000}".to_owned(),
        ];
        let report = alone(&Scenario::load("tiny", &sets, None).expect("a scenario"));
        assert!(report.host.warmup_requests <= warmup, "{warmup}");
        (report.served_requests().expect("a window"), report.host.warmup_requests)
    };
    let (of_all, none) = served(0);
    assert_eq!(none, 0);
    for warmup in [2_000, 4_000] {
        let (rate, left) = served(warmup);
        assert!(
            (rate / of_all - 1.0).abs() < 0.1,
            "{rate} a second behind a warm-up of {warmup}, {of_all} of all"
        );
        assert!(left > warmup / 2, "{left} of {warmup} were left");
    }
    // Members that come to rest before the window have nothing left to do.
    let rested = alone(&scenario(&["workload.arrival={process=\"poisson\", rate=20000}"]));
    assert_eq!((rested.host.warmup_requests, rested.host.warmup_bytes), (0, 0));
}
