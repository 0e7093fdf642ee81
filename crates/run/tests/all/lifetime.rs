//! How many years: does the closed form say when a simulated drive comes to its end?
//!
//! Whole lives of small drives under uniform writes, until a unit has lost what it may lose.

use harmonia_metrics::{DeviceReport, LifetimeReport, Limit, RateOf, Report};
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

/// One die of 256 blocks of 16 pages, 48 blocks spare, and uniform writes of a page. Blocks with the fewest erases are opened
/// first, so that wear is as even as can be.
const DRIVE: &str = r#"
workload = { requests = 20000, warmup = 0, read_fraction = 0.0, arrival = { process = "poisson", rate = 400 }, size = { distribution = "fixed", mean = "4KiB" } }
array = { devices = 1, coordination.policy = "local" }
ssd.preset = "tiny-test"
ssd.geometry = { channels = 1, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 1, blocks_per_plane = 256, pages_per_block = 16, summary_pages = 0, page_size = "4KiB" }
ssd.ftl = { reserved_blocks = 48, free_list = "least-worn" }
ssd.gc = { hard_threshold = 3, victim = "greedy" }
"#;

fn report(sets: &[&str]) -> Report {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse(DRIVE, "drive", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn lifetime(report: &Report) -> LifetimeReport {
    report.devices[0].lifetime.expect("it has one")
}

const YEAR_S: f64 = 365.0 * 86_400.0;

/// Years until the drive was read-only in a simulation of its whole life.
fn simulated(sets: &[&str]) -> f64 {
    let report = report(&[sets, &["workload.requests=2000000"]].concat());
    let ended = report.devices[0].life.and_then(|life| life.read_only_s);
    ended.expect("it comes to its end") / YEAR_S
}

/// Without a spread all blocks end together: cycles x flash / (rate x write amplification).
#[test]
fn the_closed_form_is_the_end_of_a_drive_without_spread() {
    let wear = ["ssd.wear.endurance=500", "ssd.wear.spread=0%", "ssd.wear.drive_spread=0%"];
    let life = lifetime(&report(&wear));
    let simulated = simulated(&wear);
    let cycles = life.years.cycles.expect("cycles");
    assert!((cycles / simulated - 1.0).abs() < 0.01, "closed form {cycles}, simulated {simulated}");
    let read_only = life.years.read_only.expect("spare");
    assert!((read_only / simulated - 1.0).abs() < 0.01, "closed form {read_only}, simulated {simulated}");
    assert_eq!(life.limit, Some(Limit::ReadOnly));
}

/// With a spread the sample that was drawn says when the first block retires and when the spare is gone.
#[test]
fn the_endurance_that_was_drawn_says_when_a_drive_with_spread_ends() {
    for seed in ["seed=1", "seed=2"] {
        let wear = [seed, "ssd.wear.endurance=500", "ssd.wear.spread=10%"];
        let life = lifetime(&report(&wear));
        let whole = report(&[&wear[..], &["workload.requests=2000000"]].concat());
        let ended = whole.devices[0].life.expect("a life");
        let near = |closed: Option<f64>, simulated: Option<f64>| {
            let (closed, simulated) = (closed.expect("known"), simulated.expect("it happens") / YEAR_S);
            assert!(
                (closed / simulated - 1.0).abs() < 0.02,
                "{seed}: closed form {closed}, simulated {simulated}"
            );
        };
        near(life.years.first_block, ended.first_retired_s);
        near(life.years.read_only, ended.read_only_s);
        assert!(life.years.read_only < life.years.cycles && life.years.first_block < life.years.read_only);
    }
}

#[test]
fn twice_the_rate_is_half_the_years_and_twice_the_cycles_are_twice() {
    let years = |sets: &[&str]| lifetime(&report(sets)).years;
    let base = years(&["ssd.rating.cycles=3000"]);
    let ratio = |one: Option<f64>, other: Option<f64>| one.expect("years") / other.expect("years");
    let fast = years(&["ssd.rating.cycles=3000", "workload.arrival.rate=800"]);
    assert!((ratio(base.cycles, fast.cycles) - 2.0).abs() < 0.02);
    // Only what ageing has erased is missing.
    let twice = ratio(years(&["ssd.rating.cycles=6000"]).cycles, base.cycles);
    assert!((2.0..2.02).contains(&twice), "{twice}");
    let rated = |sets: &[&str]| years(sets).rated_bytes;
    let one = rated(&["ssd.rating={ dwpd = 1, years = 5 }"]);
    assert!((ratio(rated(&["ssd.rating={ dwpd = 3, years = 5 }"]), one) - 3.0).abs() < 1e-9);
    assert!((ratio(one, rated(&["ssd.rating={ dwpd = 1, years = 2.5 }"])) - 2.0).abs() < 1e-9);
}

/// A drive that is written as much as its rating says lasts as long as the rating says.
#[test]
fn a_drive_that_is_written_at_its_rating_lasts_as_long() {
    let life = lifetime(&report(&["ssd.rating={ dwpd = 1, years = 5 }"]));
    let years = life.years.rated_bytes.expect("a rating of bytes");
    assert!((years * life.drive_writes_per_day - 5.0).abs() < 1e-9, "{life:?}");
    assert_eq!((life.years.cycles, life.years.read_only, life.limit), (None, None, Some(Limit::RatedBytes)));
    // 400 pages a second on 208 blocks of 16 pages.
    let expected = 400.0 * 86_400.0 / (208.0 * 16.0);
    assert!((life.drive_writes_per_day / expected - 1.0).abs() < 0.03, "{life:?}");
}

/// Where nothing says what a drive endures, nothing is said, and a rating changes nothing else.
#[test]
fn a_rating_changes_nothing_else() {
    let plain = report(&[]);
    assert!(plain.array.lifetime.is_none() && plain.devices[0].lifetime.is_none());
    let rated = report(&["ssd.rating.cycles=3000"]);
    let mut without = rated.without_engine();
    without.array.lifetime = None;
    without.devices = vec![DeviceReport { lifetime: None, ..without.devices[0].clone() }];
    without.scenario = plain.scenario.clone();
    assert_eq!(without, plain.without_engine());
}

/// An array ends with its first drive, and says where its rate comes from.
#[test]
fn the_first_drive_and_the_rate_are_said() {
    let sets = ["array.devices=3", "array.member=[{ index = 1, ssd = { rating = { cycles = 1000 } } }]"];
    let report = |more: &str| report(&[&sets[..], &[more]].concat());
    let open = report("seed=1").array.lifetime.expect("it has one");
    assert_eq!(open.first.map(|first| (first.device, first.limit)), Some((1, Limit::Cycles)));
    assert_eq!(open.rate, RateOf::Arrivals);
    let closed = report("workload.arrival={ process = \"closed\", queue_depth = 4 }");
    assert_eq!(closed.array.lifetime.map(|life| life.rate), Some(RateOf::ClosedLoop));
    // 400 pages a second.
    let expected = 400.0 * 4_096.0 * 86_400.0;
    assert!((open.host_bytes_per_day / expected - 1.0).abs() < 0.03, "{open:?}");
}
