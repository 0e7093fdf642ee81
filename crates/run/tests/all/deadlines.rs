//! Do deadlines reach the devices, and does the report count what misses them?

use harmonia_metrics::{DeadlineReport, Report};
use harmonia_run::{RunOptions, preflight, run};
use harmonia_scenario::Scenario;
use harmonia_types::{Deadlines, SimDuration};

const BASE: &str = r#"
    [workload]
    requests = 3000
    warmup = 500
    arrival.rate = 400
    size.mean = "4KiB"
    read_fraction = 0.5
    [array]
    devices = 2
    [ssd]
    preset = "tiny-test"
    gc.soft_threshold = "hard+2"
    gc.schedule = "slack"
"#;

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(BASE, "test.toml", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(sets: &[&str]) -> Report {
    let options = RunOptions { checked: true, ..RunOptions::default() };
    run(&scenario(sets), &options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn one_time_for_all_or_reads_and_writes_apart() {
    let ms = |ms: u64| Some(SimDuration::from_us(ms * 1000));
    assert_eq!(scenario(&[]).deadlines, Deadlines::default());
    let all = scenario(&["workload.deadline=5ms"]);
    assert_eq!(all.deadlines, Deadlines { read: ms(5), write: ms(5) });
    let apart = scenario(&["workload.deadline.read=2ms", "workload.deadline.write=10ms"]);
    assert_eq!(apart.deadlines, Deadlines { read: ms(2), write: ms(10) });
    let reads = scenario(&["workload.deadline={ read = \"2ms\" }"]);
    assert_eq!(reads.deadlines, Deadlines { read: ms(2), write: None });
    for written in [all, apart, reads, scenario(&[])] {
        let again = Scenario::parse(&written.to_toml(), "again.toml", &[], None).expect("can be read again");
        assert_eq!(again, written);
    }
}

#[test]
fn what_misses_its_deadline_is_counted_and_nothing_is_said_without_one() {
    assert_eq!(report(&[]).host.deadlines, None);
    let never = report(&["workload.deadline=1ns"]);
    assert_eq!(never.host.deadlines, Some(DeadlineReport { missed: 2500, met: 0 }));
    let always = report(&["workload.deadline=1h"]);
    assert_eq!(always.host.deadlines, Some(DeadlineReport { missed: 0, met: 2500 }));
    let reads = report(&["workload.deadline={ read = \"1h\" }"]);
    assert_eq!(reads.host.deadlines, Some(DeadlineReport { missed: 0, met: reads.host.read_requests }));
}

/// With the slowest request's own time nothing is missed, with a nanosecond less something is. Blocking knows no
/// deadlines, so that they change nothing.
#[test]
fn as_long_as_the_deadline_is_in_time() {
    let blocking = |deadline: u64| {
        let deadline = format!("workload.deadline={deadline}ns");
        report(&["ssd.gc.schedule=blocking", &deadline])
    };
    let slowest = blocking(1).host.response_ns.all.max.expect("requests");
    assert_eq!(blocking(slowest).host.deadlines.map(|kept| kept.missed), Some(0));
    assert!(blocking(slowest - 1).host.deadlines.is_some_and(|kept| kept.missed > 0));
}

#[test]
fn devices_are_told() {
    let let_in = |sets: &[&str]| report(sets).array.inside.counts.preemptions;
    let hurried = let_in(&["workload.deadline=100us", "ssd.gc.slack=1h"]);
    assert!(hurried > 50, "{hurried}: every deadline is too short, and goes before the device's own slack");
    // A write on the very page that is being moved goes first under any deadline: it makes the move needless.
    assert!(let_in(&["workload.deadline=1h", "ssd.gc.slack=0us"]) < 5);
    assert!(let_in(&["ssd.gc.slack=1h"]) < 5, "without a deadline the device's own slack holds");
    assert_eq!(let_in(&["ssd.gc.slack=0us"]), let_in(&["ssd.gc.schedule=preemptive"]));
}

#[test]
fn a_trace_that_ends_in_its_warm_up_is_refused_before_it_runs() {
    let folder = std::env::temp_dir().join(format!("harmonia-deadlines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("three.csv");
    let rows = "128166372003061629,a,0,Write,0,512,0\n128166372003061630,a,0,Write,0,512,0\n\
                128166372003061631,a,0,Read,0,512,0\n";
    std::fs::write(&path, rows).expect("a trace");
    let check = |warmup: &str| {
        let text = format!(
            "[workload]\nkind = \"trace\"\nformat = \"msr\"\npath = {:?}\nwarmup = {warmup}\n[ssd]\npreset = \"tiny-test\"",
            path.display().to_string()
        );
        preflight(&Scenario::parse(&text, "trace.toml", &[], None).expect("can be read"))
    };
    assert!(check("2").is_ok());
    let refused = check("3").expect_err("nothing is left to measure").to_string();
    assert!(refused.contains("ended after 3 requests, before the warm-up did"), "{refused}");
    assert!(check("\"200ns\"").is_ok());
    assert!(check("\"201ns\"").is_err());
    std::fs::remove_dir_all(&folder).expect("removed");
}
