//! A device that becomes slow, and one that stops: literal nanoseconds, then random devices at random moments.

use crate::bench::*;
use crate::random::pick;
use crate::superblocks::{drive, six_are_full};
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Notice, Stop};
use harmonia_ssd::probe::{AuditProbe, any};
use harmonia_ssd::{Device, DeviceCounters, Ftl, SsdConfig, SubRequest};
use harmonia_types::{Blame, Operation, SimDuration, SimTime};

impl Bench {
    fn slow(&mut self, at: u64, factor: f64) -> &mut Self {
        self.advance(at).device.slow_down(SimTime(at), factor);
        self
    }
}

fn service(array: u64, blame: Blame) -> Blame {
    Blame { service: array, ..blame }
}

#[test]
fn a_slow_device_takes_three_times_as_long_to_read_and_to_program() {
    let mut bench = Bench::with(&one_die(), &[&[0, 1]]);
    bench.slow(0, 3.0).read(0, 1, 0, 1).known_at(3_300, 1, 3_370, service(3_000, read_blame()));
    bench.write(10_000, 2, 1, 1).known_at(25_370, 2, 25_370, service(15_000, write_blame()));
    bench.slow(30_000, 1.0).read(30_000, 3, 0, 1).known_at(31_300, 3, 31_370, read_blame());
}

#[test]
fn what_runs_goes_on_and_what_begins_is_slow() {
    let mut bench = Bench::with(&one_die(), &[&[0, 1]]);
    bench.read(0, 1, 0, 1).read(0, 2, 1, 1).slow(999, 3.0);
    bench.known_at(1_300, 1, 1_370, read_blame());
    bench.known_at(4_600, 2, 4_670, Blame { queue_host: 1_300, ..service(3_000, read_blame()) });
    // A slow command that runs when the slowness ends stays slow, and two factors do not multiply.
    bench.slow(10_000, 2.0).read(10_000, 3, 0, 1).slow(10_001, 1.0);
    bench.known_at(12_300, 3, 12_370, service(2_000, read_blame()));
}

#[test]
fn a_factor_below_one_or_not_a_number_is_one() {
    for factor in [0.5, 0.0, -3.0, f64::NAN, f64::NEG_INFINITY] {
        let mut bench = Bench::with(&one_die(), &[&[0]]);
        bench.slow(0, factor).read(0, 1, 0, 1).known_at(1_300, 1, 1_370, read_blame());
    }
    let mut bench = Bench::with(&one_die(), &[&[0]]);
    bench.slow(0, f64::INFINITY).read(0, 1, 0, 1).collected();
    assert_eq!(bench.find(1).unwrap().blame.service, 1_000 * 1_000_000);
}

/// An event takes two victims of a page each: 6,000 for a move and 20,000 for an erase, twice.
fn two_victims(schedule: &str) -> SsdConfig {
    let mut config = one_die();
    (config.gc.schedule, config.gc.min_victims) = (schedule.into(), 2);
    config
}

/// The event of a unit with 1 free block, begun at 0 by a read: it begins, goes slow at `at`, and ends then.
fn event(config: &SsdConfig, slow_at: Option<u64>) -> u64 {
    let mut bench = Bench::aged(config, &[0]);
    if slow_at == Some(0) {
        bench.slow(0, 3.0);
    }
    bench.read(0, 1, 0, 1);
    if let Some(at) = slow_at.filter(|&at| at > 0) {
        bench.slow(at, 3.0);
    }
    let left = bench.device.status(SimTime(slow_at.unwrap_or(0))).gc_remaining.0;
    let ends = bench.collected()[0].1;
    assert_eq!(left, ends - slow_at.unwrap_or(0), "the estimate follows");
    ends
}

#[test]
fn a_collection_that_is_one_command_goes_on_and_one_of_steps_is_slow_from_the_next() {
    let config = two_victims("blocking");
    assert_eq!(event(&config, None), 52_000);
    assert_eq!(event(&config, Some(0)), 3 * 52_000);
    assert_eq!(event(&config, Some(7_000)), 52_000);

    let config = two_victims("preemptive");
    // During the first read, the first program, and the first erase.
    for (at, ends) in [(500, 1_000 + 3 * 51_000), (5_500, 6_000 + 3 * 46_000), (6_500, 26_000 + 3 * 26_000)] {
        // Above the hard threshold, so that it goes step by step.
        let mut bench = Bench::aged(&config, &[]);
        bench.force(0).slow(at, 3.0);
        let left = bench.device.status(SimTime(at)).gc_remaining;
        assert_eq!(bench.collected(), [(0, ends)]);
        assert_eq!(left.0, ends - at, "the estimate knows what runs and what will be slow");
    }
}

#[test]
fn ideal_collection_stays_free() {
    let mut config = one_die();
    config.gc.schedule = "ideal".into();
    let mut bench = Bench::aged(&config, &[0]);
    bench.slow(0, 3.0).read(0, 1, 0, 1).known_at(3_300, 1, 3_370, service(3_000, read_blame()));
    assert_eq!(bench.device.counters().gc_victims, 1);
    assert_eq!(bench.collected(), []);
}

/// Nothing comes out of a device that has failed, whatever it is asked.
fn is_silent(bench: &mut Bench, at: u64) {
    let status = bench.device.status(SimTime(at));
    let counters = bench.device.counters();
    for page in 0..8 {
        let fast_fail = page % 2 == 0;
        let write = SubRequest { fast_fail, ..sub(100, Operation::Write, page, 1) };
        bench.submit(at, write).submit(at, SubRequest { operation: Operation::Read, ..write });
    }
    let force = [Stop::Internal, Stop::AllReserve].map(Directive::Force);
    for directive in [force[0], force[1], Directive::Hold, Directive::Open, Directive::Release] {
        bench.device.direct(SimTime(at), directive);
    }
    bench.device.slow_down(SimTime(at), 2.0);
    assert_eq!(bench.device.next_wakeup(), SimTime::NEVER);
    bench.advance(at + 10_000_000);
    bench.device.audit();
    let device = &mut bench.device;
    assert!(device.completions().is_empty() && device.refusals().is_empty() && device.notices().is_empty());
    assert!(device.gc_intervals().is_empty() && device.collecting_since().is_none());
    assert_eq!(
        (device.collecting_dies().count(), device.collection_left_in(0, PAGE, SimTime(at))),
        (0, None)
    );
    assert_eq!((device.status(SimTime(at + 1)), device.counters()), (status, counters));
    device.fail(SimTime(at + 10_000_000));
    assert_eq!(device.status(SimTime(at + 1)), status, "it fails once");
}

/// Fails at `at` with what `busy` has given it to do; counters as they were.
fn fails(
    config: &SsdConfig,
    low: &[u32],
    at: u64,
    busy: impl Fn(&mut Bench),
) -> (Bench, DeviceCounters, usize) {
    let mut bench = Bench::aged(config, low);
    busy(&mut bench);
    bench.advance(at);
    let (before, known) = (bench.device.counters(), bench.known.len());
    bench.device.fail(SimTime(at));
    bench.device.audit();
    assert_eq!(bench.device.counters(), before, "what was counted stays");
    (bench, before, known)
}

#[test]
fn a_device_that_fails_in_a_read_or_a_program_answers_nothing_that_waits_or_runs() {
    let mut config = two_dies();
    for latency in [0, 500] {
        config.link.latency = SimDuration(latency);
        for at in [10, 800, 1_310, 5_000] {
            let (mut bench, _, known) = fails(&config, &[0], at, |bench| {
                bench.write(0, 1, 1, 1).read(0, 2, 3, 1).write(5, 3, 5, 2).read(9, 4, 1, 3);
            });
            assert!(known < 4);
            assert_eq!(bench.device.gc_intervals().drain(..).count(), usize::from(at > latency));
            is_silent(&mut bench, at);
            assert_eq!(bench.known.len(), known, "nothing comes out afterwards");
        }
    }
}

/// What it collected before a moment is not told any more, and of a collection under way only the rest.
#[test]
fn collecting_before_a_moment_can_be_forgotten() {
    let mut bench = Bench::aged(&two_victims("blocking"), &[0]);
    bench.force(0).advance(100).device.gc_intervals().push((SimTime(0), SimTime(50)));
    bench.device.forget_collecting_before(SimTime(100));
    let told = bench.collected();
    assert_eq!((told.len(), told[0].0), (1, 100));
}

#[test]
fn a_collection_that_had_begun_ends_with_its_device() {
    for schedule in ["blocking", "preemptive", "io-parallel"] {
        let config = two_victims(schedule);
        // Where there are steps: in a move, in an erase, and twice in what follows.
        for at in [100, 6_100, 27_000, 50_000] {
            let (mut bench, ..) = fails(&config, &[], at, |bench| {
                bench.force(0).read(50, 1, 0, 1).write(60, 2, 1, 1);
            });
            let intervals: Vec<_> = bench.device.gc_intervals().drain(..).collect();
            assert_eq!(intervals, [(SimTime(0), SimTime(at))], "{schedule}");
            assert!(bench.notices().is_empty(), "what was not heard is lost");
            is_silent(&mut bench, at);
        }
        // One that had ended stays as it was.
        let mut bench = Bench::aged(&config, &[0]);
        let ended = bench.force(0).collected();
        bench.device.gc_intervals().push((SimTime(ended[0].0), SimTime(ended[0].1)));
        bench.device.fail(SimTime(900_000));
        assert_eq!(bench.device.gc_intervals().len(), 1);
    }
}

/// Where dies share their blocks, a write on the link is at no die yet, and each die has its part of a victim.
#[test]
fn superblocks_that_fail_forget_what_is_on_the_link_and_the_parts_of_their_victims() {
    let mut bench = Bench::empty(&drive(2, 16));
    bench.write(0, 1, 7, 1).read(0, 2, 7, 1).advance(LINK - 1);
    bench.device.fail(SimTime(LINK - 1));
    bench.device.audit();
    is_silent(&mut bench, LINK - 1);
    assert!(bench.known.is_empty() && bench.device.is_quiet());
    for schedule in ["blocking", "preemptive"] {
        // Die 1 is done with its part at 32,200, and die 0 at 34,200.
        for at in [100, 33_000] {
            let mut bench = six_are_full(schedule);
            bench.force(0).write(0, 1, 7, 1).advance(at);
            bench.device.gc_intervals().clear();
            bench.device.fail(SimTime(at));
            bench.device.audit();
            assert_eq!(bench.device.gc_intervals().drain(..).count(), 1, "{schedule}");
            is_silent(&mut bench, at);
        }
    }
}

#[test]
fn notices_before_the_failure_can_be_heard_and_the_last_status_is_that_of_the_failure() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    bench.force(0).advance(7_000);
    assert!(bench.notices().contains(&(0, Notice::GcStarted)));
    let status = bench.device.status(SimTime(7_000));
    assert!(status.gc_active && status.gc_remaining > SimDuration::ZERO);
    bench.device.fail(SimTime(7_000));
    assert_eq!(bench.device.status(SimTime(50_000)), status);
}

/// Random devices under every policy, slowed down and stopped at random moments, with every audit on.
#[test]
fn whenever_a_random_device_slows_down_or_fails_the_parts_sum_and_nothing_comes_out_afterwards() {
    let mut cut_short = 0;
    for seed in 0..300 {
        let mut rng = Rng::stream(seed, "faults");
        let mut config = crate::random::config(&mut rng);
        crate::random::timing(&mut config, &mut Rng::stream(seed, "faults/timing"));
        crate::random::front(&mut config, &mut Rng::stream(seed, "faults/front"));
        config.gc.concurrency = crate::random::concurrency(&mut rng);
        let ftl = Ftl::new(&config, seed, "device").unwrap();
        let (pages, size) = (u64::from(ftl.shape().logical_pages), u64::from(config.geometry.page_size));
        let mut device = Device::new(&config, ftl, any(AuditProbe)).unwrap();
        let (mut now, mut issued, mut open) = (SimTime::ZERO, Vec::new(), 0);
        let fails_at = rng.below(400);
        for token in 0..fails_at {
            now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
            device.advance_until(now, false).unwrap();
            if rng.chance(0.05) {
                device.slow_down(now, pick(&mut rng, &[1.0, 1.5, 3.0, 20.0]));
            }
            if rng.chance(0.05) {
                let force = [Stop::Internal, Stop::AllReserve].map(Directive::Force);
                device
                    .direct(now, pick(&mut rng, &[force[0], force[1], Directive::Open, Directive::Release]));
            }
            let operations = [Operation::Read, Operation::Write, Operation::Write, Operation::Trim];
            let (operation, page) = (pick(&mut rng, &operations), rng.below(pages));
            let plain = SubRequest::new(token, operation, page * size, size);
            let request = SubRequest { background: rng.chance(0.3), ..plain };
            issued.push(now);
            open += 1;
            device.submit(now, request).unwrap();
            device.audit();
            for done in device.completions().drain(..) {
                open -= 1;
                let response = (done.finish - issued[done.token as usize]).0;
                assert_eq!(done.blame.total(), response, "seed {seed}: {done:?}");
            }
        }
        let (before, intervals) = (device.counters(), device.gc_intervals().len());
        let collects = device.collecting_since().is_some_and(|since| since < now);
        device.fail(now);
        cut_short += open;
        device.audit();
        assert_eq!(device.gc_intervals().len(), intervals + usize::from(collects), "seed {seed}");
        assert!(device.gc_intervals().is_sorted() && device.counters() == before, "seed {seed}");
        assert_eq!(device.next_wakeup(), SimTime::NEVER, "seed {seed}");
        device.submit(now, sub(0, Operation::Write, 0, 0)).unwrap();
        device.direct(now, Directive::Force(Stop::Internal));
        device.advance_until(now + SimDuration(1_000_000), false).unwrap();
        assert!(device.completions().is_empty() && device.notices().is_empty(), "seed {seed}");
    }
    assert!(cut_short > 300, "{cut_short} operations are never answered");
}
