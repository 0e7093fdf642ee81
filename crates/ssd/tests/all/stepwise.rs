//! What does collection cost the host that goes step by step, ahead of the host (`stepwise`)?
//!
//! A worked example to the nanosecond, and that without multi-plane commands the host is served exactly when `blocking`
//! serves it.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_ssd::probe::{AuditProbe, any};
use harmonia_ssd::{Allocation, Destination, Device, Ftl, SsdConfig, SubRequest};
use harmonia_types::{Blame, Operation, SimDuration, SimTime};

/// Plane 0 is low and its open block is at offset 1; so is that of plane 1, which has room. One bus for both.
fn example(schedule: &str) -> Bench {
    let mut config = planes(2);
    config.geometry.own_pins = false;
    config.ftl.multi_plane = true;
    config.gc.schedule = schedule.into();
    Bench::with(&config, &[LOW, SPREAD])
}

/// Page `lpn` of plane 1.
fn in_plane_1(lpn: u64) -> u64 {
    2 * lpn + 1
}

/// ```text
/// die   [ read 2 ][bus][bus][bus][program][ read 3 ][bus][bus][bus][program][ erase ][read 0][read 2']
/// plane 1                  write 12'        read 3'
///       0       1000 1300      1900   6900      7900  8200 8500     13800   33800
/// ```
#[test]
fn the_host_goes_along_in_the_steps_or_waits_for_the_last_one() {
    let mut bench = example("stepwise");
    bench.read(0, 1, 0, 1).write(0, 2, in_plane_1(12), 1).read(100, 3, in_plane_1(3), 1);
    // The write has the offset of the collection's first program, and follows its data over the bus.
    let blame = Blame { queue_gc: 1_230 + 300, ..write_blame() };
    bench.read(5_000, 4, in_plane_1(2), 1).known_at(6_900, 2, 6_900, blame);
    // The read has the offset of its second read. Another one came too late for the first.
    bench.write(8_431, 5, in_plane_1(8), 1);
    let blame = Blame { queue_gc: 6_800 + 300, link: 1 + LINK, ..read_blame() };
    bench.known_at(8_500, 3, 8_571, blame);
    // A write that is ready at 8,501 misses the second program by a nanosecond. Nothing goes along in the erase.
    bench.known_at(35_100, 1, 35_170, Blame { queue_gc: 33_800, ..read_blame() });
    let blame = Blame { queue_gc: 28_800, queue_host: 1_300, ..read_blame() };
    bench.known_at(36_400, 4, 36_470, blame);
    let blame = Blame { queue_gc: 33_800 - 8_501, queue_host: 2_600, ..write_blame() };
    bench.known_at(41_700, 5, 41_700, blame);
    assert_eq!(bench.collected(), [(0, 33_800)]);
}

#[test]
fn a_write_that_is_ready_when_the_step_starts_goes_along_and_not_a_nanosecond_later() {
    // The step starts at 8,500. Later, the other write is served behind the read that has waited longest.
    for (arrival, done) in [(8_430, 14_100), (8_431, 40_400)] {
        let mut bench = example("stepwise");
        bench.read(0, 1, 0, 1).write(0, 2, in_plane_1(12), 1).read(100, 3, in_plane_1(3), 1);
        bench.write(arrival, 5, in_plane_1(8), 1).advance(100_000);
        assert_eq!(bench.find(5).expect("done").finish.0, done, "{arrival}");
    }
}

#[test]
fn blocking_takes_nothing_along_and_preemptive_lets_the_host_go_between_the_steps() {
    let mut bench = example("blocking");
    bench.read(0, 1, 0, 1).write(0, 2, in_plane_1(12), 1).read(100, 3, in_plane_1(3), 1);
    bench.known_at(34_500, 1, 34_570, Blame { queue_gc: 33_200, ..read_blame() });
    let blame = Blame { queue_gc: 33_130, queue_host: 1_300, ..write_blame() };
    bench.known_at(39_800, 2, 39_800, blame);

    // Above the hard threshold a read goes before the first program, or waits for the erase.
    let first_read = |schedule: &str| {
        let mut config = planes(1);
        config.gc.schedule = schedule.into();
        let mut bench = Bench::with(&config, &[CALM]);
        bench.force(0).read(10, 1, 15, 1).advance(1_000_000);
        bench.find(1).expect("done").blame.queue_gc
    };
    assert_eq!([first_read("preemptive"), first_read("stepwise")], [1_290, 2 * 6_600 + 20_000 - 10]);
}

/// A random device on which nothing can go along; `None` where an event cut into steps chooses other victims.
fn device_for(seed: u64, schedule: &str) -> Option<SsdConfig> {
    let mut config = crate::random::config(&mut Rng::stream(seed, "stepwise/config"));
    let is_dynamic = config.ftl.allocation == Allocation::Dynamic;
    let looks_at_queue = config.gc.victim.policy == "read-match";
    config.ftl.multi_plane = false;
    config.gc.destination = Destination::Unit;
    config.gc.schedule = schedule.into();
    // Dies that end at one moment do not meet on the link.
    config.link.bandwidth = u64::MAX;
    (!is_dynamic && !looks_at_queue).then_some(config)
}

/// When everything was done that a random device was asked for, and how often it erased.
fn served(seed: u64, config: &SsdConfig) -> (Vec<(u64, u64, Blame)>, u64) {
    let ftl = Ftl::new(config, seed, "device").expect("feasible");
    let pages = u64::from(ftl.shape().logical_pages);
    let size = u64::from(config.geometry.page_size);
    let mut device = Device::new(config, ftl, any(AuditProbe)).expect("able");
    let (mut rng, mut now) = (Rng::stream(seed, "stepwise"), SimTime::ZERO);
    for token in 0..300u64 {
        now += SimDuration(rng.below(400));
        device.advance_until(now, false).expect("room");
        let operation =
            [Operation::Write, Operation::Write, Operation::Read, Operation::Trim][rng.below(4) as usize];
        let length = (1 + rng.below(3.min(pages))) * size;
        let offset = rng.below(pages * size - length + 1);
        let plain = sub(0, operation, 0, 0);
        device.submit(now, SubRequest { token, offset, length, ..plain }).expect("room");
    }
    while device.next_wakeup() != SimTime::NEVER {
        device.advance_until(device.next_wakeup(), false).expect("room");
    }
    let mut done: Vec<_> =
        device.completions().iter().map(|done| (done.token, done.finish.0, done.blame)).collect();
    done.sort_by_key(|done| done.0);
    (done, device.counters().erases)
}

#[test]
fn where_nothing_goes_along_the_host_is_served_when_blocking_serves_it() {
    let mut erases = 0;
    for seed in 0..300 {
        let Some(blocking) = device_for(seed, "blocking") else { continue };
        let stepwise = device_for(seed, "stepwise").expect("the same");
        let (expected, found) = (served(seed, &blocking), served(seed, &stepwise));
        let differ = expected.0.iter().zip(&found.0).find(|(one, other)| one != other);
        assert_eq!(differ, None, "seed {seed}\n{stepwise:#?}");
        assert_eq!(expected.1, found.1, "seed {seed}: erases\n{stepwise:#?}");
        erases += found.1;
    }
    assert!(erases > 1_000, "{erases} erases");
}
