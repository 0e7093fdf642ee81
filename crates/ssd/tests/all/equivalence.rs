//! Which schedules must be the same where what tells them apart is missing?
//!
//! Random loads on literal devices; compared are every completion's time and blame, and the times of collection.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_flash::Copyback;
use harmonia_ssd::{Priority, SsdConfig, SubCompletion};
use harmonia_types::Operation;

/// Everything that can be told from outside.
type Observed = (Vec<SubCompletion>, Vec<(u64, u64)>);

/// 300 reads and writes of one or two pages, now and then together.
fn observe(config: &SsdConfig, seed: u64) -> Observed {
    let mut bench = Bench::aged(config, &[]);
    let mut rng = Rng::stream(seed, "equivalence");
    let pages = u64::from(bench.device.ftl().shape().logical_pages);
    let mut now = 0;
    for token in 0..300 {
        now += rng.below(4) * rng.below(9_000);
        let operation = if rng.chance(0.5) { Operation::Read } else { Operation::Write };
        bench.submit(now, sub(token, operation, rng.below(pages - 1), 1 + rng.below(2)));
    }
    let collected = bench.collected();
    assert_eq!(bench.known.len(), 300);
    let collects: u64 = collected.iter().map(|(from, to)| to - from).sum();
    assert!(collects > 500_000, "collects for {collects} ns: {collected:?}");
    (bench.known, collected)
}

/// Two dies that share a bus over which every move goes.
fn over_the_bus() -> SsdConfig {
    let mut config = shared_bus();
    config.timing.copyback = Copyback::None;
    config
}

fn with(config: &SsdConfig, schedule: &str) -> SsdConfig {
    let mut config = config.clone();
    config.gc.schedule = schedule.into();
    config
}

fn slack(config: &SsdConfig, slack: &str) -> SsdConfig {
    let mut config = with(config, "slack");
    config.gc.schedule = config.gc.schedule.with("slack", slack);
    config
}

/// Fails with the first difference, not with all there is.
fn same(left: &Observed, right: &Observed, case: &str) {
    let differs = left.0.iter().zip(&right.0).find(|(left, right)| left != right);
    assert_eq!(differs, None, "{case}");
    assert!(left == right, "{case}: collected at other times");
}

#[test]
fn with_one_plane_a_die_io_parallel_is_blocking_step_by_step() {
    for priority in [Priority::Fifo, Priority::ReadsFirst] {
        let mut config = over_the_bus();
        config.ftl.priority = priority;
        for seed in 0..20 {
            let blocking = observe(&with(&config, "blocking"), seed);
            let case = format!("{priority:?}, seed {seed}");
            same(&observe(&with(&config, "io-parallel"), seed), &blocking, &case);
            let preemptive = observe(&with(&config, "preemptive"), seed);
            same(&observe(&with(&config, "preemptive-io-parallel"), seed), &preemptive, &case);
        }
    }
}

#[test]
fn with_one_plane_a_die_joining_in_multi_plane_commands_changes_nothing() {
    for schedule in ["blocking", "preemptive"] {
        for own_pins in [true, false] {
            let mut config = with(&over_the_bus(), schedule);
            config.geometry.own_pins = own_pins;
            for seed in 0..10 {
                let alone = observe(&config, seed);
                config.ftl.multi_plane = true;
                same(&observe(&config, seed), &alone, &format!("{schedule}, seed {seed}"));
                config.ftl.multi_plane = false;
            }
        }
    }
}

/// The event takes one victim, which moves page 3; nobody asks for that.
#[test]
fn begun_at_hard_a_preemptive_event_is_a_blocking_one() {
    for (own_pins, copyback) in
        [(true, Copyback::Die), (true, Copyback::None), (false, Copyback::Plane), (false, Copyback::None)]
    {
        let event = |schedule: &str| {
            let mut config = with(&one_die(), schedule);
            (config.geometry.own_pins, config.timing.copyback) = (own_pins, copyback);
            // Soft as at hard + 1: collecting ends there, and a preemptive device would go on at once.
            let mut bench = Bench::aged(&config, &[0]);
            bench.read(0, 1, 0, 1).write(500, 2, 1, 1).read(3_000, 3, 5, 1).read(20_000, 4, 6, 1);
            bench.advance(26_600);
            let collected = bench.device.gc_intervals().first().copied();
            bench.advance(60_000);
            (bench.find(1), collected)
        };
        assert_eq!(event("preemptive"), event("blocking"), "own pins {own_pins}, {copyback:?}");
    }
}

#[test]
fn with_nobody_waiting_moves_by_halves_take_as_long_as_whole_ones() {
    for own_pins in [true, false] {
        for copyback in [Copyback::Die, Copyback::Plane, Copyback::None] {
            for state in [TWO_FREE, SPREAD] {
                let event = |schedule: &str| {
                    let mut config = with(&one_die(), schedule);
                    (config.geometry.own_pins, config.timing.copyback) = (own_pins, copyback);
                    Bench::with(&config, &[state]).force(0).collected()
                };
                let blocking = event("blocking");
                for schedule in ["io-parallel", "preemptive", "preemptive-io-parallel", "slack"] {
                    assert_eq!(event(schedule), blocking, "{schedule}, own pins {own_pins}, {copyback:?}");
                }
            }
        }
    }
}

#[test]
fn without_any_slack_the_slack_schedule_is_preemptive() {
    for suspend in [None, Some(harmonia_types::SimDuration(400))] {
        for own_pins in [true, false] {
            let mut config = over_the_bus();
            config.geometry.own_pins = own_pins;
            (config.timing.suspend_program, config.timing.suspend_erase) = (suspend, suspend);
            for seed in 0..10 {
                let case = format!("own pins {own_pins}, suspend {suspend:?}, seed {seed}");
                let preemptive = observe(&with(&config, "preemptive"), seed);
                same(&observe(&slack(&config, "0ns"), seed), &preemptive, &case);
            }
        }
    }
}

#[test]
fn with_slack_without_end_nobody_goes_between_the_steps() {
    let config = slack(&over_the_bus(), "1h");
    let mut bench = Bench::aged(&config, &[]);
    bench.force(0).read(10, 1, 1, 1).read(500, 2, 2, 1).write(3_000, 3, 5, 1).collected();
    assert_eq!(bench.known.len(), 3);
    assert_eq!(bench.device.counters().inside.preemptions, 0);
}
