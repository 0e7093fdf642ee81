//! A device that loses power: what has begun finishes in silence, what waits is forgotten, and work goes on afterwards.

use std::collections::BTreeMap;

use crate::bench::*;
use crate::random::pick;
use crate::superblocks::drive;
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Device, Ftl, SsdConfig, SubRequest, WriteCacheConfig};
use harmonia_types::{Blame, Lpn, Operation, SimDuration, SimTime};

/// One write runs, one waits: the first is stored, the second is not, and neither is answered.
#[test]
fn what_runs_is_stored_and_what_waits_is_not() {
    let mut bench = Bench::with(&one_die(), &[]);
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).advance(1_000);
    bench.device.lose_power(SimTime(1_000));
    bench.device.audit();
    bench.advance(1_000_000);
    assert!(bench.known.is_empty(), "{:?}", bench.known);
    let holds = |lpn| bench.device.ftl().lookup(0, lpn).is_some();
    assert!(holds(0) && !holds(1));
    assert_eq!(bench.device.counters().programs[0], 1);
}

/// Where dies share their blocks, a write waits for its data without a die; then it is forgotten.
#[test]
fn what_is_on_the_way_to_dies_that_share_their_blocks_is_not_stored() {
    for (at, stored) in [(LINK - 1, false), (LINK, true)] {
        let mut bench = Bench::empty(&drive(2, 16));
        bench.write(0, 1, 7, 1).advance(at);
        bench.device.lose_power(SimTime(at));
        bench.device.audit();
        bench.advance(1_000_000);
        assert!(bench.known.is_empty() && bench.device.is_quiet());
        assert_eq!(bench.device.ftl().lookup(0, 7).is_some(), stored, "at {at}");
    }
}

/// A read of the page does not wait for data that power has taken on the link, where it would have been at 70.
#[test]
fn nobody_waits_for_data_that_is_no_more_on_the_way_to_dies_that_share_their_blocks() {
    let mut bench = Bench::with(&drive(2, 16), &[&[0]]);
    bench.write(0, 1, 0, 1).advance(10).device.lose_power(SimTime(10));
    bench.read(10, 2, 0, 1).known_at(1_310, 2, 1_380, read_blame());
}

/// One die behind a cache of so many pages, with stored power or without. The program of a page takes 5,300 from the moment at which it is
/// handed over.
fn cached(pages: u64, power_protected: bool) -> SsdConfig {
    let size = Some(pages * PAGE);
    let write_cache = WriteCacheConfig { size, power_protected, ..WriteCacheConfig::default() };
    SsdConfig { write_cache, ..one_die() }
}

/// Which of the first three pages flash has, and how many the cache has lost, once power is lost at `at` and all is over.
fn left_on_flash(mut bench: Bench, at: u64) -> ([bool; 3], u64) {
    bench.advance(at);
    bench.device.lose_power(SimTime(at));
    bench.device.audit();
    bench.collected();
    assert!(bench.device.is_quiet());
    bench.device.ftl().audit();
    let holds = [0, 1, 2].map(|lpn| bench.device.ftl().lookup(0, lpn).is_some());
    (holds, bench.device.counters().write_cache.lost_pages)
}

/// Page 0 is programmed from 70 to 5,370, and page 1 after it; page 2 finds no slot until 5,370, and its program would begin at 10,670.
#[test]
fn a_cache_without_stored_power_loses_what_no_program_has_taken() {
    let left = |power_protected, at| {
        let mut bench = Bench::empty(&cached(2, power_protected));
        bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1);
        left_on_flash(bench, at)
    };
    assert_eq!(left(false, 69), ([false; 3], 0), "all is on the link");
    assert_eq!(left(false, 70), ([true, false, false], 0), "page 1 is on the link yet, page 2 behind it");
    assert_eq!(left(false, 5_369), ([true, false, false], 1));
    assert_eq!(left(false, 5_370), ([true, true, false], 1), "its turn has come, and page 2 has a slot");
    assert_eq!(left(false, 10_669), ([true, true, false], 1));
    assert_eq!(left(false, 10_670), ([true; 3], 0));
    assert_eq!(left(true, 5_369), ([true, true, false], 0), "what has no slot is lost with any cache");
    assert_eq!(left(true, 5_370), ([true; 3], 0));
}

/// The flush is answered when the programs of pages 0 and 1 have ended. Page 2 comes behind it, and is lost.
#[test]
fn what_a_flush_has_answered_for_is_there_and_nothing_else_need_be() {
    let flush = SubRequest { length: 0, ..sub(3, Operation::Flush, 0, 1) };
    let mut bench = Bench::empty(&cached(4, false));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).submit(200, flush).write(300, 4, 2, 1).advance(10_669);
    assert!(bench.find(3).is_none());
    let blame = Blame { cache_wait: 10_670 - 200, ..Blame::default() };
    bench.known_at(10_670, 3, 10_670, blame);
    assert_eq!(left_on_flash(bench, 10_670), ([true; 3], 0), "the program of page 2 has begun");
    // Behind a page that is programmed meanwhile, what came after the flush is lost.
    let mut bench = Bench::empty(&cached(4, false));
    bench.write(0, 1, 0, 1).submit(200, flush).write(300, 2, 1, 1).write(300, 4, 2, 1).advance(5_370);
    assert!(bench.find(3).is_some());
    assert_eq!(left_on_flash(bench, 5_370), ([true, true, false], 1));
    // With stored power there is nothing to wait for.
    let mut bench = Bench::empty(&cached(4, true));
    bench.write(0, 1, 0, 1).submit(200, flush).known_by(200, 3, 200, Blame::default());
}

/// Page 0 is programmed with FUA from 70 to 5,370, then page 1. What was answered is there; nobody hears of a program that power cut short.
#[test]
fn what_was_written_with_fua_and_answered_is_there() {
    let through = |token, page| SubRequest { fua: true, ..sub(token, Operation::Write, page, 1) };
    for (at, answered, there, lost) in [
        (5_369, [false, false], [true, false, false], 1),
        (5_370, [true, false], [true, true, false], 0),
        (10_670, [true, true], [true, true, false], 0),
    ] {
        let mut bench = Bench::empty(&cached(4, false));
        bench.submit(0, through(1, 0)).submit(0, through(2, 1)).advance(at);
        bench.device.lose_power(SimTime(at));
        bench.device.audit();
        bench.collected();
        assert!(bench.device.is_quiet());
        assert_eq!([1, 2].map(|token| bench.find(token).is_some()), answered, "at {at}");
        let holds = [0, 1, 2].map(|lpn| bench.device.ftl().lookup(0, lpn).is_some());
        assert_eq!((holds, bench.device.counters().write_cache.lost_pages), (there, lost), "at {at}");
        // A slot that was awaited is like any other.
        bench.submit(20_000, through(3, 2)).known_at(25_370, 3, 25_370, write_blame());
    }
}

/// Flash has page 0. A later version of it, or the news that it is not used any more, waits behind the program of page 1 when power is lost.
#[test]
fn a_page_that_is_lost_is_what_it_was_before_and_so_is_one_that_was_trimmed() {
    for trims in [false, true] {
        let mut bench = Bench::with(&cached(4, false), &[&[0]]);
        let before = bench.device.ftl().lookup(0, 0);
        bench.write(0, 1, 1, 1).write(0, 2, 0, 1);
        if trims {
            bench.submit(1_000, sub(3, Operation::Trim, 0, 1));
            assert!(bench.find(3).is_some(), "it was answered at once");
        }
        assert_eq!(left_on_flash(bench, 5_369).0, [true, true, false], "trims: {trims}");
        let mut bench = Bench::with(&cached(4, false), &[&[0]]);
        bench.write(0, 1, 1, 1).write(0, 2, 0, 1).advance(1_000);
        if trims {
            bench.submit(1_000, sub(3, Operation::Trim, 0, 1));
        }
        bench.advance(5_369);
        bench.device.lose_power(SimTime(5_369));
        assert_eq!(bench.device.ftl().lookup(0, 0), before);
        // Of either the device says that it is lost, once.
        assert_eq!([bench.device.take_lost(), bench.device.take_lost()], [vec![Lpn(0)], vec![]]);
    }
}

/// As above, but the trim is with FUA. Until it is answered, when the program of page 1 ends at 5,370, the old data may come back; from then on
/// it may not.
#[test]
fn what_a_trim_with_fua_has_answered_for_does_not_come_back() {
    let through = SubRequest { fua: true, ..sub(3, Operation::Trim, 0, 1) };
    for (at, answered, there) in [(5_369, false, true), (5_370, true, false)] {
        let mut bench = Bench::with(&cached(4, false), &[&[0]]);
        bench.write(0, 1, 1, 1).write(0, 2, 0, 1).submit(1_000, through).advance(at);
        bench.device.lose_power(SimTime(at));
        bench.device.audit();
        bench.collected();
        assert!(bench.device.is_quiet());
        assert_eq!(bench.find(3).is_some(), answered, "at {at}");
        assert_eq!(bench.device.ftl().lookup(0, 0).is_some(), there, "at {at}");
        // Nobody waits for the slot any more.
        bench.write(20_000, 4, 2, 1).collected();
        assert!(bench.find(4).is_some());
    }
}

/// Random devices under every policy that lose power at random moments, with every audit on: what was submitted since is
/// answered once, what was not before is not answered at all.
#[test]
fn whenever_a_random_device_loses_power_what_is_submitted_afterwards_is_answered_once() {
    let mut forgotten = 0;
    for seed in 0..300 {
        let mut rng = Rng::stream(seed, "power");
        let mut config = crate::random::config(&mut rng);
        crate::random::timing(&mut config, &mut Rng::stream(seed, "power/timing"));
        crate::random::front(&mut config, &mut Rng::stream(seed, "power/front"));
        config.gc.concurrency = crate::random::concurrency(&mut rng);
        // Old seeds differ in nothing else.
        let size = Rng::stream(seed, "power/write cache").below(12);
        config.write_cache.size = Some(size * 512).filter(|&size| size > 0 && seed % 2 == 1);
        if seed >= 200 {
            // A cache that gathers programs of several units.
            config.write_cache.size = None;
            let mut packing = Rng::stream(seed, "power/packing");
            crate::random::pack(&mut config, &mut packing);
            let program = u64::from(config.resolve().unwrap().packing.slots_per_program());
            config.write_cache.size = Some((program + packing.below(3 * program)) * 512);
        }
        config.write_cache.power_protected = Rng::stream(seed, "power/stored").chance(0.5);
        let ftl = Ftl::new(&config, seed, "device").unwrap();
        let (pages, size) = (u64::from(ftl.shape().logical_pages), u64::from(config.mapping_unit()));
        let mut device = Device::new(&config, ftl, any(AuditProbe)).unwrap();
        let (mut now, mut open) = (SimTime::ZERO, BTreeMap::new());
        let mut draws = Rng::stream(seed, "power/fua");
        let answered = |device: &mut Device<AnyProbe>, open: &mut BTreeMap<u64, SimTime>| {
            for done in device.completions().drain(..) {
                let issued = open.remove(&done.token).expect("answered once, and not forgotten");
                assert_eq!(done.blame.total(), (done.finish - issued).0, "seed {seed}: {done:?}");
            }
        };
        for token in 0..300 {
            now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
            device.advance_until(now, false).unwrap();
            answered(&mut device, &mut open);
            if rng.chance(0.03) {
                device.lose_power(now);
                device.audit();
                forgotten += open.len();
                open.clear();
            }
            if rng.chance(0.05) {
                let force = [Stop::Internal, Stop::AllReserve].map(Directive::Force);
                device
                    .direct(now, pick(&mut rng, &[force[0], force[1], Directive::Open, Directive::Release]));
            }
            let operations = [Operation::Read, Operation::Write, Operation::Write, Operation::Trim];
            let length = 1 + rng.below(pages.min(3));
            let (operation, page) = (pick(&mut rng, &operations), rng.below(pages - length + 1));
            let plain = SubRequest::new(token, operation, page * size, length * size);
            let fua = draws.chance(0.2);
            let request = SubRequest { background: rng.chance(0.3), fua, ..plain };
            open.insert(token, now);
            device.submit(now, request).unwrap();
            device.audit();
            answered(&mut device, &mut open);
        }
        let mut steps = 0;
        while !open.is_empty() {
            steps += 1;
            let next = device.next_wakeup();
            assert!(next != SimTime::NEVER && steps < 100_000, "seed {seed}: {open:?} are never answered");
            device.advance_until(next, false).unwrap();
            answered(&mut device, &mut open);
        }
        device.ftl().audit();
    }
    assert!(forgotten > 2_000, "{forgotten} operations were forgotten");
}
