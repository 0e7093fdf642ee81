//! How well does a device foresee how long it will collect?
//!
//! Literal devices, of which every figure can be reckoned by hand, and random loads on small ones, with the error asserted.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_flash::Copyback;
use harmonia_ssd::{Amount, Estimates, SsdConfig};
use harmonia_types::{Operation, SimDuration, SimTime};

fn left(bench: &mut Bench, at: u64) -> u64 {
    bench.advance(at).device.status(SimTime(at)).gc_remaining.0
}

/// One victim with page 3, page by page over an idle bus: read 1,000, transfers 300 each, program 5,000, erase 20,000.
fn stepwise(schedule: &str) -> SsdConfig {
    let mut config = one_die();
    config.geometry.own_pins = false;
    config.timing.copyback = Copyback::None;
    config.gc.schedule = schedule.into();
    config
}

#[test]
fn an_event_that_goes_step_by_step_is_known_to_its_end() {
    for schedule in ["blocking", "preemptive", "io-parallel", "slack"] {
        let mut bench = Bench::aged(&stepwise(schedule), &[0]);
        bench.read(0, 1, 0, 1);
        for at in [0, 1, 999, 1_000, 1_299, 1_300, 1_600, 3_000, 6_599, 6_600, 20_000, 26_599] {
            assert_eq!(left(&mut bench, at), 26_600 - at, "{schedule}, at {at}");
        }
        assert_eq!(
            bench.advance(26_600).device.gc_intervals()[0],
            (SimTime(0), SimTime(26_600)),
            "{schedule}"
        );
    }
}

#[test]
fn an_event_of_several_victims_is_estimated_by_the_best_there_is() {
    let mut config = stepwise("blocking");
    config.gc.stop_threshold = Amount::AboveHard(1);
    let mut bench = Bench::aged(&config, &[0]);
    // Two victims with one page each: 26,600 twice.
    bench.read(0, 1, 0, 1);
    assert_eq!(left(&mut bench, 0), 53_200);
    assert_eq!(left(&mut bench, 26_599), 26_601);
    assert_eq!(left(&mut bench, 26_601), 26_599);
    assert_eq!(bench.advance(60_000).device.gc_intervals()[0].1, SimTime(53_200));

    // In idle time a third follows, with two pages, and the estimate cannot know that of the first.
    let mut bench = Bench::aged(&config, &[]);
    bench.force_idle(0);
    assert_eq!(left(&mut bench, 0), 3 * 26_600);
    assert_eq!(left(&mut bench, 60_000), 26_600 + 33_200 + 26_600 - 60_000);
    assert_eq!(bench.collected(), [(0, 26_600 * 2 + 33_200)]);
    let exact = Estimates {
        events: 1,
        estimated: SimDuration(79_800),
        actual: SimDuration(86_400),
        error: SimDuration(6_600),
    };
    assert_eq!(bench.device.counters().estimated, exact);
}

#[test]
fn an_idle_event_that_must_give_way_ends_with_its_victim() {
    for (config, victim) in [(one_die(), 26_000), (stepwise("blocking"), 26_600)] {
        let mut bench = Bench::aged(&config, &[]);
        bench.force_idle(0);
        assert!(left(&mut bench, 10_000) > victim);
        bench.read(10_000, 1, 0, 1);
        assert_eq!(left(&mut bench, 10_000), victim - 10_000);
    }
}

/// So many dies on one bus over which every move goes; each unit has 16 blocks of 8 pages, half of them spare.
fn small(dies: u32, schedule: &str) -> SsdConfig {
    let mut config = stepwise(schedule);
    config.geometry.chips_per_channel = dies;
    config.geometry.blocks_per_plane = 16;
    config.geometry.pages_per_block = 8;
    config.gc.soft_threshold = Amount::AboveHard(2);
    config
}

/// 2,000 reads and writes of one or two pages: what was foreseen of some 400 events.
fn observe(config: &SsdConfig, seed: u64) -> Estimates {
    let mut bench = Bench::aged(config, &[]);
    let mut rng = Rng::stream(seed, "estimates");
    let pages = u64::from(bench.device.ftl().shape().logical_pages);
    let mut now = 0;
    for token in 0..2_000 {
        now += rng.below(4) * rng.below(30_000) / u64::from(config.geometry.chips_per_channel);
        let operation = if rng.chance(0.5) { Operation::Read } else { Operation::Write };
        bench.submit(now, sub(token, operation, rng.below(pages - 1), 1 + rng.below(2)));
    }
    bench.collected();
    bench.device.counters().estimated
}

/// Error / time in events, as measured, and rounded up a little. With a wait of one transfer of every other die on the bus
/// added to each transfer, four blocking dies are off by 15%.
#[test]
fn the_error_stays_within_what_was_measured() {
    let several = |config: SsdConfig| {
        let mut config = config;
        config.gc.stop_threshold = Amount::AboveHard(1);
        config
    };
    let mut own_pins = small(1, "io-parallel");
    own_pins.geometry.own_pins = true;
    for (what, config, tolerance) in [
        ("one victim, step by step", own_pins, 0.0),
        ("one die on a bus", small(1, "blocking"), 0.0),
        ("two dies on a bus", small(2, "blocking"), 0.004),
        ("four dies on a bus", small(4, "blocking"), 0.008),
        ("reads before the next victim", small(4, "after-reads"), 0.07),
        ("host operations between the steps of two dies", small(2, "preemptive"), 0.11),
        ("host operations between the steps of four dies", small(4, "preemptive"), 0.15),
        // Later victims are fuller than the best one was.
        ("several victims", several(small(1, "blocking")), 0.25),
    ] {
        for seed in 0..5 {
            let Estimates { events, estimated, actual, error } = observe(&config, seed);
            assert!(events > 100, "{what}, seed {seed}: {events} events");
            let bias = estimated.0.abs_diff(actual.0);
            assert!(bias <= error.0, "{what}, seed {seed}");
            let error = error.0 as f64 / actual.0 as f64;
            assert!(error <= tolerance, "{what}, seed {seed}: off by {error:.4}");
        }
    }
}
