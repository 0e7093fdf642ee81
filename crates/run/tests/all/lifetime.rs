//! How many years: does the closed form say when a simulated drive comes to its end?
//!
//! Whole lives of small drives under uniform, skewed and recorded writes, until a unit has lost what it may lose.

use std::fmt::Write as _;

use harmonia_engine::Rng;
use harmonia_metrics::{DeviceReport, LifetimeReport, Limit, RateOf, Replacements, Report};
use harmonia_run::{RunOptions, run};
use harmonia_scenario::{Scenario, TraceFile};

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
    report_of(sets, None)
}

fn report_of(sets: &[&str], trace: Option<&TraceFile>) -> Report {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let scenario = Scenario::parse(DRIVE, "drive", &sets, trace).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn lifetime(report: &Report) -> LifetimeReport {
    lifetime_of(report, 0)
}

fn lifetime_of(report: &Report, device: usize) -> LifetimeReport {
    report.devices[device].lifetime.expect("it has one")
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

/// Writes of a page at the rate of the drive's load. Later pages are written less often, and some of the last never.
fn trace(folder: &tempfile::TempDir) -> TraceFile {
    let mut rng = Rng::stream(1, "trace");
    let mut rows = String::new();
    for row in 0..20_000_u64 {
        let page = rng.below(3_328).min(rng.below(3_328));
        writeln!(rows, "{},h,0,Write,{},4096,100", row * 25_000, page * 4_096).unwrap();
    }
    let path = folder.path().join("drive.csv");
    std::fs::write(&path, rows).unwrap();
    TraceFile { paths: vec![path], format: Some("msr".to_owned()), ..TraceFile::default() }
}

/// Skewed, frozen and recorded loads, without static levelling and with it at two thresholds: the closed form is the end of the drive,
/// or the run says that it cannot be.
#[test]
#[ignore = "long: make simulations"]
fn the_closed_form_is_the_end_or_the_run_says_that_it_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    let trace = trace(&folder);
    let hotspot = |space, traffic| {
        format!("workload.address={{ pattern = \"hotspot\", hot_space = {space}, hot_traffic = {traffic} }}")
    };
    let loads = [
        ("uniform", String::from("seed=1"), 0.02),
        ("90/10", hotspot(0.1, 0.9), 0.02),
        ("zipf", String::from("workload.address={ pattern = \"zipf\", theta = 1.0 }"), 0.02),
        ("99/1", hotspot(0.01, 0.99), 0.05),
        ("half frozen", String::from("workload.address.footprint=0.5"), 0.05),
        ("trace", String::from("workload.repeat=1000"), 0.02),
    ];
    let leveled = |threshold| {
        format!("ssd.leveling={{ policy = \"least-worn\", threshold = {threshold}, budget = \"100%\" }}")
    };
    let mut uneven = Vec::new();
    for (load, keys, within) in &loads {
        for leveling in [String::from("ssd.leveling.policy=none"), leveled(10), leveled(50)] {
            let sets = [
                keys,
                &leveling,
                "ssd.wear={ endurance = 500, spread = \"10%\" }",
                "precondition.overwrite_space=load",
            ];
            let of = |requests| {
                report_of(&[&sets[..], &[requests]].concat(), (*load == "trace").then_some(&trace))
            };
            let (short, whole) = (of("workload.requests=250000"), of("workload.requests=2500000"));
            let closed = lifetime(&short).years.read_only.expect("spare");
            let ended = whole.devices[0].life.and_then(|life| life.read_only_s).expect("it ends") / YEAR_S;
            let evenness = short.array.lifetime.expect("it has one").evenness;
            if evenness.is_even() == Some(true) {
                let error = closed / ended - 1.0;
                assert!(error.abs() < *within, "{load}, {leveling}: closed form {closed}, simulated {ended}");
            } else {
                assert!(closed > ended, "{load}, {leveling}: {evenness:?}");
                uneven.push((*load, leveling.contains("none"), evenness.is_even()));
            }
        }
    }
    assert_eq!(uneven, ["99/1", "half frozen", "trace"].map(|load| (load, true, Some(false))));
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

/// Five such drives in RAID-5, whose blocks and drives all last alike.
const FIVE: [&str; 5] = [
    "array={ devices = 5, level = \"raid5\", stripe_unit = \"4KiB\", coordination.policy = \"local\" }",
    "ssd.wear.endurance=500",
    "ssd.wear.spread=0%",
    "ssd.wear.drive_spread=0%",
    "workload.arrival.rate=2000",
];

fn of_five(more: &[&str]) -> Report {
    report(&[&FIVE[..], more].concat())
}

fn replacements(report: &Report) -> Replacements<f64> {
    report.array.replacements.clone().expect("members wear out")
}

#[test]
fn members_that_wear_alike_are_replaced_together() {
    let report = of_five(&["workload.requests=60000"]);
    let all = replacements(&report);
    assert_eq!(all.years.len(), 5);
    assert!(all.years[4] < 1.03 * all.years[0], "{all:?}");
    // The last of five that end together has new ones beside it.
    assert!((all.next_oldest - 0.8).abs() < 0.02 && all.unused < 1e-6, "{all:?}");
    // Without a rebuild nothing is known of what it risks.
    assert!(all.risk.is_none());
}

/// The first member is replaced when the first drive is read-only, whatever was drawn and whatever it has behind it.
#[test]
fn the_first_replacement_is_the_end_of_the_first_drive() {
    for seed in ["seed=1", "seed=2"] {
        let report = of_five(&[seed, "ssd.wear.spread=10%", "ssd.wear.drive_spread=5%", "ssd.wear.used=40%"]);
        let first = report.array.lifetime.and_then(|life| life.first).expect("it ends");
        let all = replacements(&report);
        assert_eq!(first.limit, Limit::ReadOnly);
        assert!((all.years[0] / first.years - 1.0).abs() < 1e-6, "{seed}: {all:?} {first:?}");
    }
}

/// Of single pages a member with the share p of the parity of five is written p + (1 - p) / 4. What that wears is measured: pages of
/// parity are written more often than others, so that a member with many of them collects cheaper.
#[test]
fn members_with_more_parity_are_replaced_sooner() {
    let shares = "array.parity_shares=[60, 10, 10, 10, 10]";
    let report = of_five(&[shares, "workload.requests=100000"]);
    let written = |member: usize| report.devices[member].host_bytes_written as f64;
    let others = |of: &dyn Fn(usize) -> f64| (1..5).map(of).sum::<f64>() / 4.0;
    let ratio = written(0) / others(&written);
    assert!((ratio / (2.8 / 1.3) - 1.0).abs() < 0.03, "{ratio}");
    let years = |member: usize| lifetime_of(&report, member).new_drive.expect("it wears out");
    let worn = others(&years) / years(0);
    assert!(1.3 < worn && worn < ratio, "{worn}");
    // Each place has its own pace; ageing has taken a few erases of all.
    let fixed = replacements(&report);
    let paces = fixed.years[4] / fixed.years[0];
    assert!((paces / worn - 1.0).abs() < 0.05, "{paces}, wear {worn}");
    let changing = |how: &str| replacements(&of_five(&[shares, "workload.requests=100000", how]));
    let by_age = changing("array.lifetime.shares=by-age");
    let steered = changing("array.lifetime.shares=target-ages");
    // The first ends as before; then another one has most parity, and ends sooner than it did.
    assert!((by_age.years[0] / fixed.years[0] - 1.0).abs() < 1e-9 && by_age.years[1] < fixed.years[1]);
    assert!(steered.next_oldest < by_age.next_oldest, "steered {steered:?}, by age {by_age:?}");
}

/// A run that rebuilds says how long that takes: a whole member at its rate.
#[test]
fn a_rebuild_of_the_run_says_how_long_one_takes() {
    let report = of_five(&["array.failure=[{ device = 0, at = \"1s\" }]", "array.spares=1"]);
    let rate =
        report.array.failures.as_ref().and_then(|failures| failures.rebuild?.work.rate).expect("it rebuilds");
    let risk = replacements(&report).risk.expect("it is known");
    let member = 208.0 * 16.0 * 4_096.0;
    assert!((risk.rebuild_hours * 3_600.0 * rate / member - 1.0).abs() < 1e-9, "{risk:?}");
    // Four others at a rate, and losses of all parts.
    let by_failure = 4.0 * 0.0044 * risk.rebuild_hours / 8_760.0;
    assert!((risk.second_by_failure / by_failure - 1.0).abs() < 1e-6, "{risk:?}");
    let losses =
        risk.losses_by_wear + risk.losses_by_failure + risk.losses_by_unreadable + risk.losses_by_both;
    // 1 - exp(-x) lies between these.
    assert!(risk.loss <= losses.min(1.0) && risk.loss >= losses - losses * losses / 2.0, "{risk:?}");
    assert!(risk.loss > 0.0, "{risk:?}");
}

/// What a member wrote before it failed says nothing of the rate of its place, and the years stay known.
#[test]
fn a_member_that_fails_takes_the_rate_of_the_others() {
    let whole = replacements(&of_five(&["workload.requests=60000"]));
    // At the beginning of the window of 30 s, and before it.
    for at in ["workload.warmup=0", "workload.warmup=10000"] {
        let failure = "array.failure=[{ device = 0, at = \"1s\" }]";
        let failed = replacements(&of_five(&["workload.requests=60000", at, failure, "array.spares=1"]));
        let ratio = failed.years[4] / whole.years[4];
        assert!((0.7..1.3).contains(&ratio), "{at}: {:?}, whole {:?}", failed.years, whole.years);
    }
}

/// A stripe of draid1:4d reads four units for one that is lost, however many members there are.
#[test]
fn a_declustered_rebuild_reads_units_of_its_stripe() {
    let unreadable = |level: &str| {
        let level = format!("array.level={level}");
        let failing = "array.failure=[{ device = 0, at = \"1s\" }]";
        let rare = "array.lifetime.unreadable=1e-12";
        let mut sets = vec!["array.devices=11", level.as_str(), failing, rare];
        if !level.contains("draid") {
            sets.push("array.spares=1");
        }
        replacements(&of_five(&sets)).risk.expect("it is known").unreadable
    };
    // Members of 208 blocks of 16 pages.
    let bits = 208.0 * 16.0 * 4_096.0 * 8.0;
    let near = |found: f64, reads: f64| (found / (reads * bits * 1e-12) - 1.0).abs() < 1e-3;
    let (all, four) = (unreadable("raid5"), unreadable("draid1:4d:1s"));
    assert!(near(all, 10.0) && near(four, 4.0), "{all} {four}");
}

/// RAID-0 has nothing to rebuild from, and the rules of replacement change nothing of a simulation.
#[test]
fn rules_of_replacement_change_nothing_else() {
    let without = |report: &Report| {
        let mut without = report.without_engine();
        without.array.replacements = None;
        without.scenario = serde_json::Value::Null;
        without
    };
    let [plain, ruled] =
        [&["seed=1"][..], &["array.lifetime={ replace = \"age\", failure_rate = \"2%\" }"]].map(of_five);
    assert_eq!(without(&plain), without(&ruled));
    assert!(replacements(&plain).years[0] > replacements(&ruled).years[0]);
    assert!(report(&["ssd.wear.endurance=500", "array.devices=2"]).array.replacements.is_none());
}
