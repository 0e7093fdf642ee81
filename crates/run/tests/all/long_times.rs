//! What if everything takes an hour, the longest that may be written? Figures stay right as long as there is simulated
//! time, and where it runs out the run is refused.

use harmonia_metrics::Report;
use harmonia_run::{RunError, RunOptions, run};
use harmonia_scenario::Scenario;

/// One die that takes an hour for everything.
const BASE: &str = r#"
    [workload]
    requests = 1000
    warmup = 0
    arrival = { process = "closed", queue_depth = 1 }
    size.mean = "4KiB"
    read_fraction = 0
    [array]
    devices = 1
    [ssd]
    preset = "tiny-test"
    timing = { read = "1h", program = "1h", erase = "1h", transfer = "1h" }
    geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1 }
"#;

const HOUR_NS: f64 = 3.6e12;

fn outcome(sets: &[&str]) -> Result<Report, RunError> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = Scenario::parse(BASE, "test.toml", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions::default();
    run(&scenario, &options)
}

fn report(sets: &[&str]) -> Report {
    outcome(sets).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(sets: &[&str]) -> String {
    match outcome(sets) {
        Err(RunError::BadInput(bad)) => bad.to_string(),
        other => panic!("{:?}", other.map(|report| report.simulated_ns)),
    }
}

/// Without collection 2^63 ns are enough for 1,281,024 writes of two hours.
#[test]
fn a_run_ends_where_simulated_time_does() {
    let ideal = "ssd.gc.schedule=ideal";
    let said = refusal(&[ideal, "workload.requests=2000000"]);
    for part in ["passes 2^63 ns", "ssd.timing.read = 3600s", "workload.requests"] {
        assert!(said.contains(part), "{part:?} in {said}");
    }
    let mean = report(&[ideal, "workload.requests=500000"]).host.response_ns.all.mean.expect("requests");
    assert!((mean / (2.0 * HOUR_NS) - 1.0).abs() < 0.01, "{mean}");
}

/// A read of a page that was never written is known to be done when it has arrived: no clock has to get there.
#[test]
fn a_completion_that_is_known_too_early_counts_too() {
    let link = ["ssd.link.bandwidth=1KB/s", "ssd.link.latency=1h", "workload.read_fraction=1"];
    let empty = ["precondition.fill=0", "precondition.overwrite=0", "workload.requests=3000000"];
    let said = refusal(&[link, empty].concat());
    assert!(said.contains("passes 2^63 ns"), "{said}");
}

/// Collection works in one plane of sixteen at a time, for more than 2^60 ns: more than 2^64 ns of planes.
#[test]
fn plane_utilisation_is_right_beyond_64_bits_of_plane_time() {
    let report = report(&["ssd.geometry.planes_per_die=16", "workload.requests=60000"]);
    let device = &report.devices[0];
    assert!(device.gc_busy_ns > 1 << 60, "{} ns of collection", device.gc_busy_ns);
    let utilisation = (device.plane_utilisation_in_gc, report.array.plane_utilisation_in_gc);
    assert_eq!(utilisation, (Some(0.0625), Some(0.0625)));
}

/// Responses grow by two hours from one request to the next, as they all arrive at once; their squares sum to 10^40.
#[test]
fn a_deviation_of_very_long_responses_is_right() {
    let sets = [
        "workload.requests=100000",
        "ssd.gc.schedule=ideal",
        "workload.arrival={ process = \"fixed\", rate = 1e9 }",
    ];
    let response = report(&sets).host.response_ns.all;
    let spacing = 2.0 * HOUR_NS;
    let (mean, stddev) = (response.mean.expect("requests"), response.stddev.expect("requests"));
    assert!((mean / (spacing * 50_000.0) - 1.0).abs() < 0.01, "{mean}");
    assert!((stddev / (spacing * 100_000.0 / 12f64.sqrt()) - 1.0).abs() < 0.01, "{stddev}");
}
