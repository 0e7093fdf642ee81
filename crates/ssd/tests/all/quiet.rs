//! Until when is a device known to report nothing, and does it report nothing until then?
//!
//! ```text
//! 4 of 8 blocks are full: four writes fill the fifth, and the write after them opens the block that leaves 2, the soft threshold
//! ```

use crate::bench::*;
use crate::random::{config as random, pick};
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Allocation, Device, Domain, Ftl, Room, SsdConfig, SubRequest};
use harmonia_types::{IoCause, Operation, SimDuration, SimTime};

const FULL: &[u32] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Writes of a page each that arrive at these times, one page after the other.
fn writes(times: &[u64]) -> Vec<(SimTime, SubRequest)> {
    let write = |(token, &at): (u32, &u64)| {
        (SimTime(at), sub(token + 100, Operation::Write, u64::from(token) * 2 % 16, 1))
    };
    (0..).zip(times).map(write).collect()
}

fn quiet(bench: &Bench, times: &[u64]) -> u64 {
    bench.device.quiet_until(&writes(times), &mut Room::default()).0
}

const NEVER: u64 = SimTime::NEVER.0;

#[test]
fn a_unit_is_quiet_until_the_write_arrives_that_makes_it_low() {
    let bench = Bench::with(&one_die(), &[FULL]);
    assert_eq!(quiet(&bench, &[]), NEVER);
    assert_eq!(quiet(&bench, &[100_000, 200_000, 300_000, 400_000]), NEVER);
    assert_eq!(quiet(&bench, &[100_000, 200_000, 300_000, 400_000, 500_000]), 500_000);
    // If they come at once, four programs are before it.
    assert_eq!(quiet(&bench, &[0, 1, 2, 3, 4]), 4 * 5_000);
    // What is no write takes no room.
    let mut mixed = writes(&[100_000, 200_000, 300_000, 400_000, 500_000]);
    mixed[2].1.operation = Operation::Read;
    assert_eq!(bench.device.quiet_until(&mixed, &mut Room::default()), SimTime::NEVER);
    // Each page of a write counts, and the unit in which it lies.
    let long = [(SimTime(100_000), sub(1, Operation::Write, 0, 5))];
    assert_eq!(bench.device.quiet_until(&long, &mut Room::default()).0, 100_000);
    let two = Bench::with(&two_dies(), &[FULL, FULL]);
    let of_two = |pages| {
        let long = [(SimTime(100_000), sub(1, Operation::Write, 0, pages))];
        two.device.quiet_until(&long, &mut Room::default()).0
    };
    assert_eq!([of_two(8), of_two(9)], [NEVER, 100_000]);
}

/// The notice comes with the fifth program: behind four others, or when the data of its page is there.
#[test]
fn the_notice_comes_no_earlier_than_that() {
    for (times, at) in [([0, 1, 2, 3, 4], 70 + 4 * 5_300), ([0, 0, 0, 0, 100_000], 100_070)] {
        let mut bench = Bench::with(&one_die(), &[FULL]);
        let bound = quiet(&bench, &times);
        writes(&times).into_iter().for_each(|(at, sub)| _ = bench.submit(at.0, sub));
        bench.advance(1_000_000);
        assert_eq!(bench.notices().first().map(|notice| notice.0), Some(at));
        assert!(bound <= at && bound > at - 1_600, "{bound}");
    }
}

/// Writes that wait at the die take their part of the room.
#[test]
fn what_waits_at_the_die_counts() {
    let mut bench = Bench::with(&one_die(), &[FULL]);
    // One runs until 5,370, and two wait behind it.
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1).advance(300);
    assert_eq!(quiet(&bench, &[]), NEVER);
    assert_eq!(quiet(&bench, &[100_000]), NEVER);
    assert_eq!(quiet(&bench, &[100_000, 200_000]), 200_000);
    assert_eq!(quiet(&bench, &[300, 300]), 5_370 + 3 * 5_000);
    // The last of four opens the block, and three programs come between it and the one that runs.
    bench.write(310, 4, 3, 1).write(310, 5, 4, 1).advance(600);
    assert_eq!(quiet(&bench, &[]), 5_370 + 3 * 5_000);
}

/// Of a unit at its soft threshold the next program may tell so: when data is there that is on its way, or before, if what arrives
/// meanwhile is ready first.
#[test]
fn a_low_unit_is_quiet_until_its_die_may_begin_something() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.write(0, 1, 0, 1).advance(10);
    assert_eq!(quiet(&bench, &[]), 70);
    let read = |at| [(SimTime(at), sub(9, Operation::Read, 1, 1))];
    assert_eq!(bench.device.quiet_until(&read(20), &mut Room::default()).0, 20);
    assert_eq!(bench.device.quiet_until(&read(80), &mut Room::default()).0, 70);
}

/// A die that collects in one command reports its end, and begins nothing before.
#[test]
fn an_event_is_quiet_until_its_end() {
    let mut bench = Bench::aged(&two_dies(), &[0]);
    bench.read(0, 1, 0, 1).advance(10);
    bench.notices();
    assert_eq!(bench.device.gc_intervals().len(), 0, "it goes on");
    assert_eq!(quiet(&bench, &[]), 26_000);
    assert_eq!(quiet(&bench, &[500]), 26_000, "nothing of this die begins before");
    // A write that opens a block of the other die makes that one low.
    let other = [(SimTime(500), sub(100, Operation::Write, 1, 1))];
    assert_eq!(bench.device.quiet_until(&other, &mut Room::default()).0, 500);
}

#[test]
fn nothing_is_foreseen_beyond_the_next_event_where_something_else_may_report() {
    type Change = fn(&mut SsdConfig);
    let cases: &[(&str, Change)] = &[
        ("link", |c| c.link.latency = SimDuration(7)),
        ("controller", |c| c.controller.command_overhead = SimDuration(7)),
        ("cache", |c| c.write_cache.size = Some(4 * PAGE)),
        ("idle time", |c| c.gc.trigger = harmonia_ssd::Trigger::Background),
        ("steps", |c| c.gc.schedule = "stepwise".into()),
        ("limits", |c| c.gc.concurrency = harmonia_ssd::PolicyConfig::named("fixed")),
        ("dynamic", |c| c.ftl.allocation = Allocation::Dynamic),
    ];
    for (name, change) in cases {
        let mut config = two_dies();
        change(&mut config);
        let bench = Bench::with(&config, &[FULL, FULL]);
        assert_eq!(quiet(&bench, &[100, 200]), 100, "{name}");
    }
    let mut shared = two_dies();
    shared.ftl.superblock = harmonia_ssd::Superblock::Drive;
    assert_eq!(quiet(&Bench::with(&shared, &[FULL]), &[100, 200]), 100, "superblocks");
    let window = |directive| {
        let mut bench = Bench::with(&two_dies(), &[FULL, FULL]);
        bench.device.direct(SimTime(0), directive);
        quiet(&bench, &[100, 200])
    };
    assert_eq!(window(Directive::Hold), 100);
    let mut bench = Bench::with(&two_dies(), &[FULL, FULL]);
    bench.submit(0, SubRequest { background: true, ..sub(1, Operation::Write, 0, 1) }).advance(50_000);
    assert_eq!(quiet(&bench, &[60_000, 70_000]), 60_000, "background work");
}

/// About to collect are dies that are told to and have not begun.
#[test]
fn bytes_to_collect_are_a_block_of_each_die_that_is_about_to() {
    let mut bench = Bench::aged(&two_dies(), &[]);
    bench.write(0, 1, 0, 1).advance(100);
    assert_eq!(bench.device.bytes_to_collect(), 0);
    // Die 0 works until 5,370, and die 1 begins at once.
    bench.force(200);
    assert_eq!(bench.device.bytes_to_collect(), 8 * PAGE);
    bench.advance(200);
    assert_eq!(bench.device.bytes_to_collect(), 4 * PAGE);
}

/// Random devices under random loads and orders: no notice comes before the bound, and bounds are not always the next event.
#[test]
fn no_notice_comes_before_the_bound() {
    let (mut beyond, mut noticed, mut exact) = (0, 0, 0);
    for seed in 0..400 {
        let mut rng = Rng::stream(seed, "quiet");
        let config = match rng.chance(0.3) {
            true => random(&mut rng),
            false => {
                let mut config = two_dies();
                config.geometry.own_pins = rng.chance(0.7);
                config.geometry.pages_per_block = 4 << rng.below(3);
                config.gc.domain = pick(&mut rng, &[Domain::Die, Domain::Device]);
                config.gc.min_victims = 1 + rng.below(2) as u32;
                config
            }
        };
        let mut ftl = Ftl::new(&config, seed, "device").expect("feasible");
        for (unit, lpn) in (0..ftl.shape().units()).flat_map(|unit| (0..8).map(move |lpn| (unit, lpn))) {
            if !ftl.shape().is_dynamic() && lpn < ftl.shape().unit_pages {
                ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
            }
        }
        let Ok(mut device) = Device::new(&config, ftl, NoProbe) else { continue };
        let shape = device.ftl().shape().clone();
        let (pages, size) = (u64::from(shape.logical_pages), u64::from(shape.page_size));
        let (mut now, mut token, mut room) = (SimTime::ZERO, 0, Room::default());
        let gap = pick(&mut rng, &[100, 1_000, 10_000]);
        for _ in 0..40 {
            let mut at = now;
            let arriving: Vec<_> = (0..rng.below(12))
                .map(|_| {
                    at += SimDuration(rng.below(gap) * rng.below(2));
                    token += 1;
                    let operation = if rng.chance(0.8) { Operation::Write } else { Operation::Read };
                    let (page, length) = (rng.below(pages), rng.below(2) * size / 2 + size / 2);
                    (at, SubRequest { offset: page * size, length, ..sub(token, operation, 0, 1) })
                })
                .collect();
            let bound = device.quiet_until(&arriving, &mut room);
            let first = arriving.first().map_or(SimTime::NEVER, |first| first.0);
            beyond += u32::from(bound > device.next_wakeup().min(first));
            for &(at, sub) in &arriving {
                device.advance_until(at, false).expect("room");
                device.submit(at, sub).expect("room");
            }
            now = at + SimDuration(rng.below(gap));
            device.advance_until(now, false).expect("room");
            if let Some(&(first, notice)) = device.notices().first() {
                noticed += 1;
                exact += u32::from(first == bound);
                assert!(first >= bound, "seed {seed}: {notice:?} at {first}, before {bound}\n{config:#?}");
            }
            device.notices().clear();
            device.completions().clear();
            if rng.chance(0.1) {
                device.direct(now, Directive::Force(pick(&mut rng, &[Stop::Internal, Stop::AllReserve])));
                device.notices().clear();
            }
        }
    }
    eprintln!("{beyond} bounds beyond the next event, {noticed} notices, {exact} at their bound");
    assert!(beyond > 2_000 && noticed > 2_000 && exact > 50, "{beyond} {noticed} {exact}");
}
