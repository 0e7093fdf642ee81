//! Is a request GC-affected if and only if it waited for garbage collection, wherever that was, and is whoever it waited for
//! named?

use std::sync::atomic::AtomicBool;

use harmonia_metrics::Report;
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

use crate::swarm::waits::{Seen, Waits};

/// The report of the toy scenario with these keys, and what its completions say.
fn seen(sets: &[&str]) -> (Report, Seen) {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = Scenario::load("tiny", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    let (waits, cancel) = (Waits::default(), AtomicBool::new(false));
    let options = RunOptions { checked: true, cancel: &cancel, observe: &waits, ..RunOptions::default() };
    let report = run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"));
    waits.agree_with(&report);
    (report, waits.seen())
}

/// Dies share a bus here and collect by channel. A request waits on the bus for another die's collection without meeting one
/// of its own die; and it meets one that ends before its data is there, or whose time is hidden behind the link, without
/// waiting.
#[test]
fn on_a_shared_bus_waiting_for_collection_and_meeting_one_are_different_requests() {
    let (report, seen) = seen(&["ssd.gc.concurrency.policy=adaptive", "array.coordination.policy=local"]);
    assert!(seen.only_affected > 0, "some wait for other dies: {seen:?}");
    assert!(seen.only_met > 0, "some meet a collection that does not hold them up: {seen:?}");
    assert!(report.host.response_ns.gc_affected_read.count != report.host.response_ns.met_gc_read.count);
}

/// It starts full, so that it collects as well. A spare stands between members and journal.
#[test]
fn a_journal_that_is_waited_for_is_named() {
    for spares in [0, 1] {
        let spares_key = format!("array.spares={spares}");
        let (report, seen) = seen(&[
            "array.level=raid5",
            "array.write_hole=journal",
            "array.journal.state=aged",
            "array.coordination.policy=local",
            "workload.arrival.rate=400",
            &spares_key,
        ]);
        let journal = report.devices.iter().position(|device| device.journal).expect("there is one");
        assert_eq!(journal, report.members() + spares);
        assert!(seen.longest[journal].0 > 0, "it is waited for longest: {seen:?}");
        assert!(seen.longest[..report.members()].iter().all(|(requests, _)| *requests > 0), "{seen:?}");
        if spares > 0 {
            assert_eq!(seen.longest[report.members()], (0, 0), "nobody waits for a spare that stands by");
        }
    }
}

#[test]
fn under_ideal_no_request_is_affected() {
    for sets in [&["ssd.gc.concurrency.policy=adaptive"][..], &["array.level=raid5"], &[]] {
        let ideal = ["ssd.gc.schedule=ideal", "array.coordination.policy=local", "workload.arrival.rate=400"];
        let (report, seen) = seen(&[&ideal, sets].concat());
        assert!(report.array.erases > 0, "it collects");
        assert_eq!((seen.affected, seen.longest), ([0, 0], vec![]), "{sets:?}");
    }
}
