//! When do dies collect, which ones, until when, and what does the device tell of it? Literal devices, literal nanoseconds.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_flash::Copyback;
use harmonia_ssd::interface::{Directive, Notice};
use harmonia_ssd::probe::{Probe, any, probe_as};
use harmonia_ssd::{AllocationUnit, Amount, Device, Domain, SubRefusal, SubRequest, Trigger};
use harmonia_types::{Blame, Operation, PlaneWork, SimDuration, SimTime};

/// Victims of a unit of `TWO_FREE` until all of the reserve is free: one page to move, one, then two.
const COMPACTION: [u64; 3] = [26_000, 52_000, 84_000];

#[test]
fn an_idle_force_collects_until_all_of_the_reserve_is_free() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.force_idle(0);
    for (end, before, after) in [(COMPACTION[0], 1, 2), (COMPACTION[1], 2, 3), (COMPACTION[2], 3, 4)] {
        assert_eq!(bench.advance(end - 1).device.status(SimTime(end - 1)).free_min, before);
        assert_eq!(bench.advance(end).device.status(SimTime(end)).free_min, after, "after the erase");
    }
    assert_eq!(bench.collected(), [(0, COMPACTION[2])], "one event");
    let told = [(0, Notice::GcStarted), (COMPACTION[2], Notice::GcEnded { registered: false })];
    assert_eq!(bench.notices(), told);
    assert_eq!(bench.device.counters().gc_busy, SimDuration(COMPACTION[2]));

    assert_eq!(bench.force_idle(90_000).collected(), [], "there is nothing left to do");
    assert_eq!(bench.notices(), []);
}

#[test]
fn an_idle_force_yields_at_the_victim_boundary_after_an_operation_entered_the_device() {
    for (arrival, boundary) in
        [(1, COMPACTION[0]), (COMPACTION[0] - 1, COMPACTION[0]), (30_000, COMPACTION[1])]
    {
        let mut bench = Bench::aged(&one_die(), &[]);
        bench.force_idle(0).read(arrival, 1, 0, 1);
        let blame = Blame { queue_gc: boundary - arrival, ..read_blame() };
        let done = bench.known_at(boundary + 1_300, 1, boundary + 1_370, blame);
        assert!(done.met_gc);
        assert_eq!(bench.collected(), [(0, boundary)]);
    }
    // Page by page over a shared bus: 600 more for every move.
    let mut config = one_die();
    config.timing.copyback = Copyback::None;
    config.geometry.own_pins = false;
    assert_eq!(Bench::aged(&config, &[]).force_idle(0).collected(), [(0, COMPACTION[2] + 4 * 600)]);
    let mut bench = Bench::aged(&config, &[]);
    bench.force_idle(0).read(30_000, 1, 0, 1);
    bench.known_at(54_500, 1, 54_570, Blame { queue_gc: 23_200, ..read_blame() });
    assert_eq!(bench.collected(), [(0, 53_200)]);
}

#[test]
fn an_operation_at_any_die_makes_every_die_yield() {
    let mut bench = Bench::aged(&two_dies(), &[]);
    // Page 1 is die 1's.
    bench.force_idle(0).read(30_000, 1, 1, 1);
    assert_eq!(bench.collected(), [(0, COMPACTION[1])]);
    assert_eq!(bench.device.counters().gc_busy, SimDuration(2 * COMPACTION[1]));
}

#[test]
fn the_unit_with_the_fewest_free_blocks_goes_first_in_idle_time() {
    let mut config = one_die();
    config.geometry.planes_per_die = 2;
    config.ftl.allocation_unit = AllocationUnit::Plane;
    let mut bench = Bench::aged(&config, &[1]);
    bench.force_idle(0).read(10, 1, 0, 1);
    assert_eq!(bench.collected(), [(0, 26_000)]);
    let erased = |plane: usize| bench.device.ftl().erase_counts()[8 * plane..][..8].iter().sum::<u32>();
    assert_eq!([erased(0), erased(1)], [0, 1]);
}

#[test]
fn a_device_that_has_operations_ignores_an_idle_force() {
    let mut bench = Bench::aged(&two_dies(), &[]);
    bench.read(0, 1, 0, 1).force_idle(1_299);
    assert_eq!(bench.collected(), []);
    assert_eq!(bench.force_idle(1_400).collected(), [(1_400, 1_400 + COMPACTION[2])]);
}

#[test]
fn an_idle_force_whose_event_has_yet_to_start_is_off_when_an_operation_enters() {
    for own_pins in [true, false] {
        let mut config = one_die();
        config.geometry.pages_per_block = 5;
        config.geometry.summary_pages = 1;
        config.geometry.own_pins = own_pins;
        config.timing.copyback = Copyback::None;
        // The write fills the open block: its summary is programmed from 5,370 to 10,370.
        let mut bench = Bench::with(&config, &[&TWO_FREE[..23]]);
        bench.write(0, 1, 9, 1).force_idle(6_000).read(7_000, 2, 0, 1);
        bench.known_at(11_670, 2, 11_740, Blame { queue_host: 3_370, ..read_blame() });
        assert_eq!((bench.collected(), bench.notices()), (vec![], vec![(70, Notice::SoftThreshold)]));
    }
}

#[test]
fn a_unit_that_is_low_when_its_idle_event_yields_collects_on_its_own() {
    for (own_pins, victim) in [(true, 26_000), (false, 26_600)] {
        let mut config = one_die();
        config.gc.hard_threshold = Amount::Blocks(2);
        if !own_pins {
            config.geometry.own_pins = false;
            config.timing.copyback = Copyback::None;
        }
        let mut bench = Bench::aged(&config, &[]);
        // 2 free blocks before and after the victim: one is opened to move into.
        bench.force_idle(0).read(10, 1, 0, 1);
        bench.known_at(
            2 * victim + 1_300,
            1,
            2 * victim + 1_370,
            Blame { queue_gc: 2 * victim - 10, ..read_blame() },
        );
        assert_eq!(bench.collected(), [(0, victim), (victim, 2 * victim)]);
        assert!(bench.notices().contains(&(victim, Notice::HardThreshold)));
    }
}

#[test]
fn a_low_unit_makes_every_die_of_its_domain_collect() {
    let mut config = two_dies();
    config.gc.domain = Domain::Device;
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 0, 1).read(10, 2, 1, 1);
    // Die 1 is not low, yet it collects one victim from 0 on.
    let blame = Blame { queue_gc: 25_990, ..read_blame() };
    bench.advance(30_000);
    assert_eq!(bench.find(2).unwrap().blame.queue_gc, blame.queue_gc);
    assert_eq!(bench.device.counters().gc_busy, SimDuration(52_000));

    config.gc.domain = Domain::Die;
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 0, 1).read(10, 2, 1, 1);
    bench.known_at(1_310, 2, 1_380, read_blame());
    bench.advance(30_000);
    assert_eq!(bench.device.counters().gc_busy, SimDuration(26_000));
}

/// Dies 0 and 2 on channel 0, dies 1 and 3 on channel 1.
#[test]
fn in_the_domain_of_a_channel_its_dies_collect_together_and_the_others_do_not() {
    let mut config = two_dies();
    config.geometry.chips_per_channel = 2;
    config.gc.domain = Domain::Channel;
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 0, 1).read(10, 2, 2, 1).read(20, 3, 1, 1).read(30, 4, 3, 1);
    bench.known_at(1_320, 3, 1_390, read_blame());
    bench.known_at(1_330, 4, 1_460, Blame { link: 130, ..read_blame() });
    bench.known_at(27_300, 1, 27_370, Blame { queue_gc: 26_000, ..read_blame() });
    // Die 2 began at 0 although it is not low; both finish at once, and the link takes one after the other.
    let blame = Blame { queue_gc: 25_990, link: 2 * LINK, ..read_blame() };
    bench.known_by(27_300, 2, 27_440, blame);
    assert_eq!(bench.device.counters().gc_busy, SimDuration(52_000));
}

/// A die of two planes that own their blocks; only plane 0 is low.
#[test]
fn in_the_domain_of_a_plane_only_the_low_plane_is_collected_while_its_die_is_busy() {
    for (domain, event) in [(Domain::Plane, 26_000), (Domain::Die, 52_000)] {
        let mut config = one_die();
        config.geometry.planes_per_die = 2;
        config.ftl.allocation_unit = AllocationUnit::Plane;
        config.gc.domain = domain;
        let mut bench = Bench::aged(&config, &[0]);
        // Page 1 lies in plane 1, whose die does nothing else meanwhile.
        let blame = Blame { queue_gc: event, ..read_blame() };
        bench.read(0, 1, 1, 1).known_at(event + 1_300, 1, event + 1_370, blame);
        let erases = bench.device.ftl().erase_counts();
        assert_eq!(erases[..8].iter().sum::<u32>(), 1);
        assert_eq!(erases[8..].iter().sum::<u32>(), u32::from(domain == Domain::Die));
    }
}

/// Step by step as well: on a shared bus every move is an event of its own.
#[test]
fn a_forced_event_collects_every_plane_whatever_the_domain() {
    for own_pins in [true, false] {
        let mut config = one_die();
        config.geometry.planes_per_die = 2;
        config.geometry.own_pins = own_pins;
        config.timing.copyback = Copyback::Plane;
        config.ftl.allocation_unit = AllocationUnit::Plane;
        config.gc.domain = Domain::Plane;
        let mut bench = Bench::aged(&config, &[0]);
        assert_eq!(bench.read(0, 1, 0, 1).collected(), [(0, 26_000)], "the low plane");
        let mut bench = Bench::aged(&config, &[]);
        assert_eq!(bench.force(0).collected(), [(0, 52_000)], "both planes");
    }
}

/// Hears in which planes events work.
#[derive(Default)]
struct Events(Vec<Option<u32>>);

impl Probe for Events {
    fn watches_planes(&self) -> bool {
        true
    }

    fn works(&mut self, _: SimTime, _: u32, plane: Option<u32>, work: PlaneWork) {
        if work == PlaneWork::GcEvent {
            self.0.push(plane);
        }
    }
}

#[test]
fn an_event_works_in_planes_that_give_victims_alone() {
    let config = planes(2);
    for (written, plane) in [([LOW, CALM], 0), ([CALM, LOW], 1)] {
        let ftl = Bench::with(&config, &written).device.ftl().clone();
        let mut device = Device::new(&config, ftl, any(Events::default())).unwrap();
        device.submit(SimTime::ZERO, sub(1, Operation::Read, 24 + u64::from(plane), 1)).unwrap();
        device.advance_until(SimTime(1_000_000), false).unwrap();
        let events: &Events = probe_as(device.probe());
        assert_eq!(events.0, [Some(plane)]);
    }
}

#[test]
fn the_domain_of_a_plane_is_refused_where_planes_share_their_blocks() {
    let mut config = one_die();
    config.geometry.planes_per_die = 2;
    config.gc.domain = Domain::Plane;
    let why = config.resolve().unwrap_err();
    assert_eq!(why.key, "ssd.gc.domain");
    assert!(why.why.contains("ssd.ftl.allocation_unit"), "{why}");
    config.geometry.planes_per_die = 1;
    assert!(config.resolve().is_ok(), "a die of one plane is that plane");
}

/// Hysteresis: events begin at hard, and end above stop.
#[test]
fn a_higher_stop_makes_longer_events_and_fewer_of_them() {
    let (mut lengths, mut counts) = (Vec::new(), Vec::new());
    for above in 0..3 {
        let mut config = one_die();
        config.geometry.blocks_per_plane = 16;
        config.ftl.reserved_blocks = Amount::Blocks(8);
        config.gc.stop_threshold = Amount::AboveHard(above);
        // 8 data blocks and 7 more written over: 1 free. Every block but the last has one valid page or more.
        let pages: Vec<u32> = (0..32).chain((0..28).map(|page| page * 5 % 32)).collect();
        let mut bench = Bench::with(&config, &[&pages]);
        let mut rng = Rng::stream(3, "hysteresis");
        for write in 0..400 {
            bench.write(write * 400_000, write as u32, rng.below(32), 1);
        }
        let events = bench.collected();
        assert!(bench.device.ftl().free_blocks(0) >= 1);
        lengths.push(events.iter().map(|(from, to)| to - from).sum::<u64>() / events.len() as u64);
        counts.push(events.len());
    }
    assert!(lengths.is_sorted() && lengths[0] < lengths[2], "{lengths:?}");
    assert!(counts.is_sorted_by(|a, b| a > b), "{counts:?}");
}

/// What a forced device collects at least; more of it is collected too early, so erases grow as well.
#[test]
fn more_victims_an_event_make_longer_events_and_more_erases() {
    let (mut lengths, mut erases) = (Vec::new(), Vec::new());
    for min_victims in [1, 2, 4] {
        let mut config = one_die();
        config.gc.min_victims = min_victims;
        let mut bench = Bench::aged(&config, &[]);
        let mut rng = Rng::stream(3, "victims");
        for write in 0..200 {
            bench.write(write * 400_000, write as u32, rng.below(16), 1);
            if write % 8 == 0 {
                bench.force(write * 400_000 + 200_000);
            }
        }
        let events = bench.collected();
        lengths.push(events.iter().map(|(from, to)| to - from).sum::<u64>() / events.len() as u64);
        erases.push(bench.device.counters().erases);
    }
    assert!(lengths.is_sorted_by(|a, b| a < b), "{lengths:?}");
    assert!(erases.is_sorted_by(|a, b| a < b), "{erases:?}");
}

/// Soft is where a device registers, stop where an event ends; they are independent of one another.
#[test]
fn soft_may_lie_below_stop_above_it_or_with_it() {
    // (soft, stop) above hard; victims until free > stop; whether it is still registered then.
    for (soft, stop, victims, registered) in
        [(1, 0, 1, true), (1, 1, 2, false), (2, 1, 2, true), (1, 2, 3, false)]
    {
        let mut config = one_die();
        config.geometry.blocks_per_plane = 9;
        config.ftl.reserved_blocks = Amount::Blocks(5);
        config.gc.soft_threshold = Amount::AboveHard(soft);
        config.gc.stop_threshold = Amount::AboveHard(stop);
        let lower = [TWO_FREE, &[12, 13, 14, 15, 0]].concat();
        let mut bench = Bench::with(&config, &[&lower]);
        bench.read(0, 1, 0, 1).advance(200_000);
        assert_eq!(bench.device.counters().gc_victims, victims, "soft +{soft}, stop +{stop}");
        let ended = Notice::GcEnded { registered };
        assert_eq!(bench.notices().last().map(|notice| notice.1), Some(ended), "soft +{soft}, stop +{stop}");
    }
}

#[test]
fn in_the_background_a_die_collects_when_it_goes_idle() {
    for (trigger, expected) in [(Trigger::Foreground, vec![]), (Trigger::Background, vec![(5_370, 31_370)])] {
        let mut config = one_die();
        config.gc.trigger = trigger;
        let mut bench = Bench::aged(&config, &[]);
        // The write opens the block that makes the unit low.
        assert_eq!(bench.write(0, 1, 12, 1).collected(), expected);
    }
}

#[test]
fn a_held_device_collects_when_it_must_but_not_in_the_background() {
    let mut config = one_die();
    config.gc.trigger = Trigger::Background;
    let mut bench = Bench::aged(&config, &[]);
    bench.device.direct(SimTime::ZERO, Directive::Hold);
    assert_eq!(bench.write(0, 1, 12, 1).collected(), []);
    assert_eq!(bench.read(6_000, 2, 0, 1).collected(), [(6_000, 32_000)]);
}

#[test]
fn freed_blocks_appear_when_their_erase_ends() {
    for copyback in [Copyback::Die, Copyback::None] {
        let mut config = one_die();
        config.geometry.own_pins = false;
        config.timing.copyback = copyback;
        let end = event(&config);
        let mut bench = Bench::aged(&config, &[0]);
        bench.read(0, 1, 0, 1).advance(end - 1);
        let before = bench.device.status(SimTime(end - 1));
        assert_eq!((before.free_min, before.free_total, before.below_hard), (1, 1, true));
        assert!(before.gc_active);
        let after = bench.advance(end).device.status(SimTime(end));
        assert_eq!((after.free_min, after.below_hard, after.below_soft), (2, false, true));
        assert!(!after.gc_active);
    }
}

#[test]
fn status_says_how_long_an_event_will_take() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    bench.read(0, 1, 0, 1);
    assert_eq!(bench.device.status(SimTime(1_000)).gc_remaining, SimDuration(25_000));
}

/// Of 25 pages that were written, nine were written again. Collection moves the one live page of a block of four.
#[test]
fn status_says_what_collection_could_win_and_what_wears() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    let before = bench.device.status(SimTime::ZERO);
    assert_eq!((before.fragmentation, before.wear_mean), (9.0 / 25.0, 0.0));
    bench.read(0, 1, 0, 1).read(1_000, 2, 1, 2);
    let during = bench.device.status(SimTime(1_000));
    assert_eq!((during.queue_depth, during.gc_active), (3, true));
    let after = bench.advance(60_000).device.status(SimTime(60_000));
    assert_eq!((after.fragmentation, after.wear_mean), (6.0 / 22.0, 1.0 / 8.0));
    assert_eq!((after.queue_depth, after.gc_active), (0, false));
    let nothing = Bench::empty(&one_die()).device.status(SimTime::ZERO);
    assert_eq!((nothing.fragmentation, nothing.free_total, nothing.window_writes), (0.0, 8, 24));
}

#[test]
fn status_counts_the_writes_that_keep_a_unit_above_hard() {
    // Two free blocks, none open: the next page opens one, and 1 free block is low.
    assert_eq!(Bench::aged(&one_die(), &[]).device.status(SimTime::ZERO).writes_until_hard, 0);
    // Already low.
    assert_eq!(Bench::aged(&one_die(), &[0]).device.status(SimTime::ZERO).writes_until_hard, 0);
    // Three free blocks, two pages left in the open one: these two and a block's four.
    let bench = Bench::with(&one_die(), &[&TWO_FREE[..18]]);
    assert_eq!(bench.device.ftl().free_blocks(0), 3);
    assert_eq!(bench.device.status(SimTime::ZERO).writes_until_hard, 6);
}

#[test]
fn soft_is_told_before_hard_and_once_until_an_event_ends_above_soft() {
    // It ends at 2 free blocks, which is soft: still registered.
    let mut bench = Bench::aged(&one_die(), &[0]);
    bench.read(0, 1, 0, 1).advance(30_000);
    let expected = [
        (0, Notice::SoftThreshold),
        (0, Notice::HardThreshold),
        (0, Notice::GcStarted),
        (26_000, Notice::GcEnded { registered: true }),
    ];
    assert_eq!(bench.notices(), expected);
    bench.read(30_000, 2, 0, 1).advance(40_000);
    assert_eq!(bench.notices(), [], "registered already");

    // It ends at 3: the registration is over, and begins anew at the next check at or below soft.
    let mut config = one_die();
    config.gc.stop_threshold = Amount::AboveHard(1);
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 0, 1).advance(60_000);
    assert_eq!(bench.notices().last(), Some(&(52_000, Notice::GcEnded { registered: false })));
    // One page of room is left in the open block; the write after it opens the next when its program begins.
    bench.write(60_000, 2, 13, 1).write(70_000, 3, 14, 1).advance(70_069);
    assert_eq!(bench.notices(), []);
    assert_eq!(bench.advance(70_070).notices(), [(70_070, Notice::SoftThreshold)]);
    bench.read(80_000, 4, 0, 1);
    assert_eq!(bench.notices(), [], "told already");
}

/// Two free blocks, none open, and two is soft: the write opens one of them, and one is hard.
#[test]
fn a_write_that_opens_a_block_tells_of_its_threshold_and_the_trigger_says_when_to_collect() {
    for (trigger, collects) in [(Trigger::Foreground, 40_000), (Trigger::Background, 5_370)] {
        for own_pins in [true, false] {
            let mut config = one_die();
            (config.gc.trigger, config.geometry.own_pins) = (trigger, own_pins);
            let mut bench = Bench::aged(&config, &[]);
            bench.write(0, 1, 12, 1).advance(69);
            assert_eq!(bench.notices(), []);
            let (soft, hard) = ((70, Notice::SoftThreshold), (70, Notice::HardThreshold));
            assert_eq!(bench.advance(70).notices(), [soft, hard], "{trigger:?}");
            assert_eq!(bench.advance(collects - 1).notices(), [], "{trigger:?}");
            bench.read(40_000, 2, 0, 1).advance(40_000);
            let began = (collects, Notice::GcStarted);
            assert_eq!(bench.notices().first(), Some(&began), "{trigger:?}: hard is not told twice");
        }
    }
}

/// A forced event ends at two free blocks or at one: told again only if a write has opened a block since.
#[test]
fn hard_is_told_anew_when_the_event_for_it_is_over() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.write(0, 1, 12, 1).force(10_000).advance(60_000);
    assert_eq!(bench.notices().iter().filter(|(_, notice)| *notice == Notice::HardThreshold).count(), 1);
    let free = bench.device.status(SimTime(60_000)).free_min;
    assert_eq!(free, 2, "above hard");
    // What is left of the open block, and one page more.
    let mut writes = 0;
    while bench.device.status(SimTime::ZERO).free_min > 1 {
        writes += 1;
        let at = 60_000 + writes * 10_000;
        bench.write(at, 1 + writes as u32, writes, 1).advance(at + 70);
    }
    let opened = 60_000 + writes * 10_000 + 70;
    assert_eq!(bench.notices(), [(opened, Notice::HardThreshold)]);
}

/// A write brings die 0 to hard while die 1 collects. When that is over the device is at rest, and who heard so forgets.
#[test]
fn hard_is_told_anew_where_another_die_ended_its_event_in_between() {
    let mut bench = Bench::aged(&two_dies(), &[1]);
    // Pages 1 and 24 are those of dies 1 and 0.
    bench.read(0, 1, 1, 1).write(100, 2, 24, 1).advance(29_999);
    let hard = |at| (at, Notice::HardThreshold);
    let ended = (26_000, Notice::GcEnded { registered: true });
    let told = bench.notices();
    assert_eq!(told[1..], [hard(0), (0, Notice::GcStarted), hard(170), ended]);
    bench.read(30_000, 3, 0, 1);
    assert_eq!(bench.notices(), [hard(30_000), (30_000, Notice::GcStarted)]);
}

#[test]
fn a_fast_failing_operation_is_answered_at_once_while_its_die_collects() {
    let mut bench = Bench::aged(&two_dies(), &[0]);
    bench.read(0, 1, 0, 1);
    let fast = |token, page| SubRequest { fast_fail: true, ..sub(token, Operation::Read, page, 1) };
    bench.submit(1_000, fast(2, 0)).submit(1_000, fast(3, 1));
    let refusal = SubRefusal {
        token: 2,
        first: 0,
        pages: 1,
        at: SimTime(1_000),
        left: SimDuration(25_000),
        blame: Blame::default(),
    };
    assert_eq!(*bench.device.refusals(), [refusal]);
    // The other die does not collect.
    bench.known_at(2_300, 3, 2_370, read_blame());
    bench.advance(30_000);
    assert!(bench.device.completions().iter().all(|done| done.token != 2), "nothing of it was done");
    assert_eq!(bench.device.counters().host_pages_read, 2, "the refused one did nothing");
}
