//! Declustered levels as a user writes them: are they read, written back, aged, and is a failure told as it was?

use std::sync::atomic::AtomicBool;

use harmonia_array::Level;
use harmonia_array::layout::Groups;
use harmonia_metrics::{Happening, Report};
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

static NEVER: AtomicBool = AtomicBool::new(false);

/// 2 s of load, of which the first tenth warms up.
const TINY: &str = "name = \"t\"\nssd.preset = \"tiny-test\"\narray = { devices = 7, level = \"draid1:2d:1s\" }\n\
    workload = { size.mean = \"4KiB\", arrival.rate = 2000, requests = 4000, warmup = 400, read_fraction = 0.5 }";

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(TINY, "test", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(sets: &[&str]) -> Report {
    let options = RunOptions { checked: true, ..RunOptions::default() };
    run(&scenario(sets), &options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn levels_are_read_as_openzfs_writes_them() {
    for (text, devices, parities, data, spares) in [
        ("draid", 9, 1, 8, 0),
        ("draid1:4d:1s", 11, 1, 4, 1),
        ("draid2:4d:14c:2s", 14, 2, 4, 2),
        ("draid2:1s:4d", 13, 2, 4, 1),
        ("draid1:1s", 6, 1, 4, 1),
        ("draid2", 255, 2, 8, 0),
    ] {
        if text == "draid2" {
            // 255 members are no groups of ten.
            let sets = ["array.level=\"draid2\"".to_owned(), "array.devices=255".to_owned()];
            assert!(Scenario::parse(TINY, "test", &sets, None).is_err());
            continue;
        }
        let read = scenario(&[&format!("array.level=\"{text}\""), &format!("array.devices={devices}")]);
        assert_eq!(read.array.level, Level::Draid(Groups { parities, data, spares }), "{text}");
        let again =
            Scenario::parse(&read.to_toml(), "resolved", &[], None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.array, read.array);
        assert!(read.to_toml().contains(&format!("level = \"draid{parities}:{data}d:{spares}s\"")));
    }
}

#[test]
fn a_member_fails_and_others_stand_in_for_it() {
    let fails = "array.failure=[{ device = 1, at = \"0.5s\" }]";
    let report = report(&[fails, "array.rebuild.min_rate=40MB/s", "array.coordination.message_latency=50ms"]);
    let failures = report.array.failures.as_ref().expect("something befalls a member");
    let events: Vec<(f64, u16, Happening)> = failures
        .events
        .iter()
        .map(|event| (event.at_s, event.device.unwrap_or(u16::MAX), event.what))
        .collect();
    assert_eq!(events[..2], [(0.5, 1, Happening::Failed), (0.6, 1, Happening::StoodIn { spare: 0 })]);
    assert!(events.len() == 3 && events[2].2 == Happening::Rebuilt, "{events:?}");
    assert_eq!(failures.rebuild.expect("there was one").share, 1.0);
    assert!(failures.rebuilt_pages > 0 && failures.lost.pages() == 0);
    assert_eq!((report.devices.len(), report.members()), (7, 7), "no device comes");
    assert!(report.warnings.iter().all(|warning| !warning.code.contains("rebuild")), "{:?}", report.warnings);
}

/// Spare space stays empty while members are aged: a member's live pages are its units.
#[test]
fn ageing_leaves_spare_space_empty() {
    use harmonia_array::{AgeingPlan, COUNTED_FROM, age};
    let config = scenario(&["array.stripe_unit=\"16KiB\""]).array;
    let pages_done = std::sync::atomic::AtomicU64::new(0);
    let plan = AgeingPlan {
        fill: 1.0,
        overwrite: 1.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed: 1,
        threads: 1,
        cancel: &NEVER,
        pages_done: &pages_done,
    };
    let aged = age(&config, &plan).expect("it can be aged");
    let rows = config.layout().member_bytes() / config.stripe_unit;
    for ftl in &aged.devices {
        ftl.audit();
        let live: u64 = (0..ftl.shape().units()).map(|unit| u64::from(ftl.live_pages(unit))).sum();
        let units = live * config.page_size() / config.stripe_unit;
        // Each member is the spare in one row of seven.
        assert!(units.abs_diff(rows * 6 / 7) <= 1, "{units} units of {rows} rows");
    }
}
