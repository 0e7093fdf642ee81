//! Does a drive that begins to collect at soft start a run where it has worked all its life?

use std::sync::atomic::{AtomicBool, AtomicU64};

use harmonia_array::{AgeingPlan, COUNTED_FROM, age};
use harmonia_metrics::Report;
use harmonia_run::{RunOptions, aged_arrays, run};
use harmonia_scenario::{Scenario, Variant};

/// One TLC drive of four dies with small blocks, so that every plane collects often; a load it keeps up with.
const SMALL: &str = "
    array = { devices = 1, stripe_unit = \"16KiB\" }
    workload = { requests = 10000, warmup = 0, size.mean = \"16KiB\", arrival.rate = 700 }
    ssd.preset = \"tlc-nvme-1t\"
    ssd.geometry = { channels = 2, chips_per_channel = 2, blocks_per_plane = 256, pages_per_block = 64 }
";

fn scenario(keys: &str) -> Scenario {
    let text = format!("{SMALL}\n{keys}");
    Scenario::parse(&text, "test", &[], None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(keys: &str) -> Report {
    let options = RunOptions { threads: 2, ..RunOptions::default() };
    run(&scenario(keys), &options).unwrap_or_else(|error| panic!("{error}"))
}

/// Free blocks of every plane after ageing.
fn free_blocks(keys: &str) -> Vec<u32> {
    let scenario = scenario(keys);
    let plan = AgeingPlan {
        fill: 1.0,
        overwrite: 3.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed: 1,
        threads: 1,
        cancel: &AtomicBool::new(false),
        pages_done: &AtomicU64::new(0),
    };
    let aged = age(&scenario.array, &plan).unwrap();
    let ftl = &aged.devices[0];
    (0..8).map(|unit| ftl.free_blocks(unit)).collect()
}

/// 256 blocks: hard is 1, soft 6. Where nothing collects an aged plane has one more than it collects at, or, if its open
/// block has just been taken, as many.
#[test]
fn ageing_leaves_planes_where_the_run_begins_to_collect() {
    assert!(free_blocks("").iter().all(|free| (6..=7).contains(free)), "{:?}", free_blocks(""));
    let at_hard = free_blocks("ssd.gc.begins_at = \"schedule\"");
    assert!(at_hard.iter().all(|free| (1..=2).contains(free)), "{at_hard:?}");
}

/// Greedy by the closed form of the array's `closed_forms` tests, with blocks of 64 pages and rho = 224 / (256 - 7.1): seven
/// blocks stand free, and a collection leaves the last seventh of the open one to the host. The window begins with the
/// first request; a run that won or lost free blocks at first would be off.
#[test]
fn write_amplification_is_that_of_the_closed_form_from_the_first_request_on() {
    for schedule in ["preemptive", "blocking", "ideal"] {
        let report = report(&format!("ssd.gc.schedule = \"{schedule}\""));
        let amplification = report.array.write_amplification.unwrap();
        let aged = report.precondition.write_amplification_windows[1].expect("it was overwritten");
        assert!((amplification / aged - 1.0).abs() < 0.02, "{schedule}: {amplification} behind {aged}");
        assert!((amplification / CLOSED_FORM - 1.0).abs() < 0.03, "{schedule}: {amplification}");
    }
    // What begins at soft behind ageing at hard builds up five blocks a plane first.
    let cliff = report("ssd.gc.begins_at = \"schedule\"").array.write_amplification.unwrap();
    assert!(cliff > 1.1 * CLOSED_FORM, "{cliff}");
}

const CLOSED_FORM: f64 = 4.82;

/// Runs that differ in their schedule start from the same aged array; another threshold needs another one.
#[test]
fn schedules_share_the_aged_array_and_thresholds_do_not() {
    let arrays = |keys: &[&str]| {
        let variant = |keys: &&str| Variant { label: (*keys).into(), scenario: scenario(keys) };
        aged_arrays(&keys.iter().map(variant).collect::<Vec<_>>())
    };
    assert_eq!(arrays(&["", "ssd.gc.schedule = \"blocking\"", "ssd.gc.schedule = \"ideal\""]), 1);
    assert_eq!(arrays(&["", "ssd.gc.soft_threshold = \"hard+4\"", "ssd.gc.begins_at = \"schedule\""]), 3);
    let at_hard = |soft: &str| format!("ssd.gc.begins_at = \"schedule\"\nssd.gc.soft_threshold = \"{soft}\"");
    assert_eq!(arrays(&[&at_hard("hard+1"), &at_hard("hard+2")]), 1);
}

/// The devices of papers say nothing of it, so that their reports and cached states are those of before.
#[test]
fn the_devices_of_papers_begin_where_their_schedule_says() {
    for preset in ["msr-slc-32g", "micron-mlc-1t", "micron-mlc-1t-4p", "mt29f-8ch", "tiny-test"] {
        let text = format!(
            "workload = {{ preset = \"hpc-w\", size.mean = \"16KiB\" }}\nssd.preset = \"{preset}\"\narray.stripe_unit = \"16KiB\""
        );
        let scenario = Scenario::parse(&text, "test", &[], None).unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.to_toml().contains("begins_at"), "{preset}");
    }
    assert!(scenario("").to_toml().contains("begins_at = \"soft\""));
}
