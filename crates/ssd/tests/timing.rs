//! When exactly is it done? Literal devices, literal nanoseconds: not ready at t - 1, ready at t.

mod bench;

use bench::*;
use harmonia_engine::Rng;
use harmonia_flash::Copyback;
use harmonia_ssd::interface::{Directive, Notice};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, Domain, SsdConfig, SubCompletion, SubRefusal, SubRequest, Trigger,
};
use harmonia_types::{Blame, IoCause, Operation, SimDuration, SimTime};

#[test]
fn a_read_is_array_then_transfer_then_link() {
    let mut bench = Bench::with(&one_die(), &[&[0]]);
    let done = bench.read(100, 1, 0, 1).known_at(1_400, 1, 1_470, read_blame());
    assert!(!done.gc_affected);
    assert_eq!(bench.device.counters().host_pages_read, 1);
}

#[test]
fn a_write_is_link_then_transfer_then_program() {
    let mut bench = Bench::empty(&one_die());
    bench.write(100, 1, 0, 1).known_at(5_470, 1, 5_470, write_blame());
}

#[test]
fn the_second_write_to_a_die_waits_for_the_first() {
    let mut bench = Bench::empty(&one_die());
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1);
    bench.known_at(5_370, 1, 5_370, write_blame());
    // Its data is there at 140; the die is free at 5,370.
    let blame = Blame { link: 140, queue_host: 5_230, ..write_blame() };
    bench.known_at(10_670, 2, 10_670, blame);
}

#[test]
fn a_read_overtakes_a_write_whose_data_is_on_the_link_but_not_of_the_same_page() {
    let mut bench = Bench::with(&one_die(), &[&[0, 1]]);
    bench.write(0, 1, 0, 1).read(10, 2, 1, 1);
    bench.known_at(1_310, 2, 1_380, read_blame());
    // Ready at 70; the die is free at 1,310.
    bench.known_at(6_610, 1, 6_610, Blame { queue_host: 1_240, ..write_blame() });

    let mut bench = Bench::with(&one_die(), &[&[0, 1]]);
    bench.write(0, 1, 0, 1).read(10, 2, 0, 1);
    bench.known_at(5_370, 1, 5_370, write_blame());
    // Until 70 it waits for the link, then for the die.
    bench.known_at(6_670, 2, 6_740, Blame { queue_host: 5_300, link: 60 + LINK, ..read_blame() });
}

#[test]
fn the_link_carries_one_page_at_a_time_in_either_direction_first_come_first_served() {
    // The read's data is ready at 1,300, ten after two pages to the other die took the link.
    let mut bench = Bench::with(&two_dies(), &[&[0], &[]]);
    bench.read(0, 1, 0, 1).write(1_290, 2, 1, 1).write(1_290, 3, 3, 1);
    bench.known_at(1_300, 1, 1_500, Blame { link: 200, ..read_blame() });
    bench.known_at(6_660, 2, 6_660, write_blame());

    // And the other way round: the write's data waits until the read's is through at 1,370.
    let mut bench = Bench::with(&two_dies(), &[&[0], &[]]);
    bench.read(0, 1, 0, 1).write(1_310, 2, 1, 1);
    bench.known_at(6_740, 2, 6_740, Blame { link: 130, ..write_blame() });
}

#[test]
fn link_latency_is_paid_once_a_sub_request() {
    let mut config = two_dies();
    config.link.latency = SimDuration(500);
    let mut bench = Bench::with(&config, &[&[0], &[0]]);
    // Two pages side by side: 500, then 1,300 on both dies, then one after the other over the link.
    bench.read(0, 1, 0, 2).known_at(1_800, 1, 1_940, Blame { link: 640, ..read_blame() });
}

#[test]
fn a_read_of_an_unmapped_page_costs_the_link_only() {
    let mut bench = Bench::with(&one_die(), &[&[0]]);
    bench.read(0, 1, 0, 1).read(10, 2, 5, 1);
    // The die is busy, and it does not matter.
    bench.known_by(10, 2, 80, Blame { link: LINK, ..Blame::default() });
    bench.known_at(1_300, 1, 1_370, read_blame());
    assert_eq!(bench.device.counters().host_pages_read, 1);
}

#[test]
fn a_partial_write_reads_the_page_before_it_programs_it() {
    let mut bench = Bench::with(&one_die(), &[&[0]]);
    let partial = SubRequest { offset: 512, length: 1_024, ..sub(1, Operation::Write, 0, 1) };
    let blame = Blame { service: 6_000, transfer: 600, link: LINK, ..Blame::default() };
    bench.submit(0, partial).known_at(6_670, 1, 6_670, blame);
    assert_eq!(bench.device.counters().read_modify_write_reads, 1);

    // Nothing to read where nothing was written.
    let partial = SubRequest { offset: PAGE + 512, token: 2, ..partial };
    bench.submit(10_000, partial).known_at(15_370, 2, 15_370, write_blame());
    assert_eq!(bench.device.counters().read_modify_write_reads, 1);
}

#[test]
fn a_trim_waits_its_turn_and_takes_no_time() {
    let mut bench = Bench::with(&one_die(), &[&[0, 1]]);
    bench.read(0, 1, 1, 1).submit(10, sub(2, Operation::Trim, 0, 1)).read(20, 3, 0, 1);
    bench.known_at(1_300, 2, 1_300, Blame { queue_host: 1_290, ..Blame::default() });
    // The read behind it finds nothing: the link only, after the first read's data.
    bench.known_by(1_300, 3, 1_440, Blame { queue_host: 1_280, link: 140, ..Blame::default() });
}

#[test]
fn a_summary_delays_the_next_operation_but_not_the_one_that_filled_the_block() {
    let mut config = one_die();
    config.geometry.pages_per_block = 5;
    config.geometry.summary_pages = 1;
    let mut bench = Bench::with(&config, &[&[0, 1, 2]]);
    bench.write(0, 1, 3, 1).read(100, 2, 0, 1);
    bench.known_at(5_370, 1, 5_370, write_blame());
    let blame = Blame { queue_host: 5_270 + 5_000, ..read_blame() };
    bench.known_at(11_670, 2, 11_740, blame);
    assert_eq!(bench.device.counters().programs[IoCause::Metadata as usize], 1);
}

/// The event of a unit with 1 free block under `config`, begun at 0 by a read: its length.
fn event(config: &SsdConfig) -> u64 {
    let mut bench = Bench::aged(config, &[0]);
    let intervals = bench.read(0, 1, 0, 1).collected();
    assert_eq!((intervals.len(), intervals[0].0), (1, 0), "one event, at once");
    intervals[0].1
}

#[test]
fn an_event_is_the_sum_of_its_moves_and_erases() {
    let (one_move, erase, transfers) = (6_000, 20_000, 600);
    assert_eq!(event(&one_die()), one_move + erase);

    let mut two_victims = one_die();
    two_victims.gc.min_victims = 2;
    assert_eq!(event(&two_victims), 2 * (one_move + erase));

    let mut higher_stop = one_die();
    higher_stop.gc.stop_threshold = Amount::AboveHard(1);
    assert_eq!(event(&higher_stop), 2 * (one_move + erase), "until free > 2: two victims");

    let mut no_copyback = one_die();
    no_copyback.timing.copyback = Copyback::None;
    assert_eq!(event(&no_copyback), one_move + transfers + erase);
    no_copyback.geometry.own_pins = false;
    assert_eq!(event(&no_copyback), one_move + transfers + erase, "page by page over an idle bus: the same");

    let mut inside_plane = one_die();
    inside_plane.timing.copyback = Copyback::Plane;
    assert_eq!(event(&inside_plane), one_move + erase);
    // The same eight blocks as two planes: block 0 moves to block 6, which is in the other one.
    inside_plane.geometry.planes_per_die = 2;
    inside_plane.geometry.blocks_per_plane = 4;
    assert_eq!(event(&inside_plane), one_move + transfers + erase);
    inside_plane.timing.copyback = Copyback::Die;
    assert_eq!(event(&inside_plane), one_move + erase);

    let mut ideal = one_die();
    ideal.gc.schedule = "ideal".into();
    let mut bench = Bench::aged(&ideal, &[0]);
    let done = bench.read(0, 1, 0, 1).known_at(1_300, 1, 1_370, read_blame());
    assert!(!done.gc_affected && bench.collected().is_empty());
    assert_eq!(bench.device.counters().erases, 1);
}

#[test]
fn an_event_programs_the_summary_of_a_block_it_fills() {
    let mut config = one_die();
    config.geometry.pages_per_block = 5;
    config.geometry.summary_pages = 1;
    // Page 13 and 14 follow 12 into the open block: one page of room, taken by the one page that moves.
    let lower = [TWO_FREE, &[12, 13, 14]].concat();
    let mut bench = Bench::with(&config, &[&lower]);
    assert_eq!(bench.read(0, 1, 0, 1).collected(), [(0, 1_000 + 5_000 + 5_000 + 20_000)]);
}

#[test]
fn the_operation_that_finds_its_unit_low_waits_for_the_event() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    bench.read(0, 1, 0, 1).write(100, 2, 1, 1);
    let done = bench.known_at(27_300, 1, 27_370, Blame { queue_gc: 26_000, ..read_blame() });
    assert!(done.gc_affected);
    // Ready at 170; the event takes until 26,000 and the read until 27,300.
    let blame = Blame { queue_gc: 25_830, queue_host: 1_300, ..write_blame() };
    assert!(bench.known_at(32_600, 2, 32_600, blame).gc_affected);
}

#[test]
fn an_operation_is_affected_if_it_arrives_before_the_event_ends() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    // Its data comes over the link while the event ends: it met the event, yet did not wait for it.
    bench.read(0, 1, 0, 1).advance(1);
    bench.write(25_990, 2, 1, 1).read(26_001, 3, 0, 1);
    bench.advance(40_000);
    assert!(bench.find(2).unwrap().gc_affected);
    assert_eq!(bench.find(2).unwrap().blame.queue_gc, 0);
    assert!(!bench.find(3).unwrap().gc_affected);
}

#[test]
fn an_event_starts_after_the_running_operation_and_ahead_of_the_queue() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.read(0, 1, 0, 1).read(400, 2, 1, 1).force(500).read(600, 3, 2, 1);
    assert!(!bench.known_at(1_300, 1, 1_370, read_blame()).gc_affected);
    let blame = Blame { queue_host: 900, queue_gc: 26_000, ..read_blame() };
    assert!(bench.known_at(28_600, 2, 28_670, blame).gc_affected);
    assert_eq!(bench.collected(), [(1_300, 27_300)]);
}

#[test]
fn a_directive_to_a_die_that_collects_is_absorbed() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.force(0).force(0).force(10).force(25_999);
    assert_eq!(bench.collected(), [(0, 26_000)]);
    bench.force(26_000);
    assert_eq!(bench.collected(), [(26_000, 52_000)], "and after it another event begins at once");
}

#[test]
fn a_directive_makes_an_idle_die_collect_at_once_whatever_arrives_at_that_moment() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.force(50);
    // The data of this write is there at 120; the event does not wait for it.
    bench.device.submit(SimTime(50), sub(1, Operation::Write, 0, 1)).unwrap();
    assert_eq!(bench.collected(), [(50, 26_050)]);
}

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
        assert!(done.gc_affected);
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

/// The write at 0 takes the last block but one. It is over at 5,370.
#[test]
fn a_die_that_a_page_is_on_the_link_to_is_not_idle() {
    let begins = |second: Option<u64>| {
        let mut config = one_die();
        config.gc.trigger = Trigger::Background;
        let mut bench = Bench::aged(&config, &[]);
        bench.write(0, 1, 0, 1);
        if let Some(at) = second {
            bench.write(at, 2, 1, 1);
        }
        bench.advance(60_000);
        bench.device.gc_intervals().first().map(|&(from, _)| from.as_ns())
    };
    assert_eq!(begins(None), Some(5_370));
    // It comes to the die at 5,410, which looks at its thresholds before it serves it.
    assert_eq!(begins(Some(5_340)), Some(5_410));
}

/// Two dies that take what comes: pages 0, 2, 4 would all lie on die 0.
fn anywhere() -> SsdConfig {
    let mut config = two_dies();
    config.ftl.allocation = Allocation::Dynamic;
    config
}

#[test]
fn writes_that_may_go_anywhere_go_round_and_then_to_the_shortest_queue() {
    let mut bench = Bench::empty(&anywhere());
    bench.write(0, 1, 0, 1).write(0, 2, 2, 1).write(0, 3, 4, 1);
    bench.known_at(5_370, 1, 5_370, write_blame());
    // On die 1, as soon as it is over the link.
    bench.known_at(5_440, 2, 5_440, Blame { link: 140, ..write_blame() });
    // Behind the first.
    bench.known_at(10_670, 3, 10_670, Blame { link: 210, queue_host: 5_160, ..write_blame() });
    // The read of page 0 keeps die 0, the turn is die 1's; then the turn is die 0's.
    bench.read(20_000, 4, 0, 1).write(20_000, 5, 6, 1).write(20_000, 6, 8, 1);
    bench.advance(40_000);
    let queued = |token| bench.find(token).unwrap().blame.queue_host;
    // Both queues hold one when the second page lands at 20,140; die 0's read is over at 21,300.
    assert_eq!((queued(5), queued(6)), (0, 1_160));
}

/// Two dies of 84 blocks, half of them to spare, take 200 writes and collect at this many free blocks.
fn under_ideal(free: u32) -> (Vec<SubCompletion>, u64) {
    let mut config = anywhere();
    config.geometry.blocks_per_plane = 84;
    config.ftl.reserved_blocks = Amount::Blocks(42);
    config.gc.schedule = "ideal".into();
    config.gc.domain = Domain::Device;
    config.gc.hard_threshold = Amount::Blocks(free);
    let order: Vec<u32> = (0..42 * 4).collect();
    let mut bench = Bench::with(&config, &[&order, &order]);
    let mut rng = Rng::stream(7, "ideal");
    let mut now = 0;
    for token in 0..200 {
        now += rng.below(6_000);
        bench.write(now, token, rng.below(300), 1);
    }
    bench.advance(now + 1_000_000);
    (bench.known, bench.device.counters().gc_victims)
}

/// Before, writes went to the other die, though nobody waits for a collection that takes no time: with a longer queue
/// there they took longer than without any collection.
#[test]
fn collection_that_takes_no_time_is_not_avoided() {
    let (collecting, victims) = under_ideal(38);
    let (plain, none) = under_ideal(1);
    assert!(victims > 20 && none == 0, "{victims} victims, and {none}");
    let differs = collecting.iter().zip(&plain).find(|(left, right)| left != right);
    assert_eq!(differs, None);
}

#[test]
fn a_write_that_may_go_anywhere_avoids_a_die_that_collects_and_reads_follow_it() {
    let lower = [TWO_FREE, &[12]].concat();
    let mut bench = Bench::with(&anywhere(), &[&lower, &TWO_FREE[..18]]);
    // Die 0 collects from 0 to 26,000; page 2 lies there. Die 1 has three free blocks and room in an open one, but the
    // longer queue: a read that runs and one that waits.
    bench.read(0, 1, 0, 1).read(50, 2, 1, 1).read(50, 3, 3, 1).write(100, 4, 2, 1);
    bench.known_at(7_950, 4, 7_950, Blame { queue_host: 2_480, ..write_blame() });
    bench.read(9_000, 5, 2, 1).known_at(10_300, 5, 10_370, read_blame());
    // What it left behind on die 0 is invalid there, and die 1 holds one more.
    assert_eq!((bench.device.ftl().live_pages(0), bench.device.ftl().live_pages(1)), (15, 17));
    let blame = Blame { queue_gc: 15_000, queue_host: 1_300, ..read_blame() };
    bench.read(11_000, 6, 4, 1).known_at(28_600, 6, 28_670, blame);
}

#[test]
fn a_write_follows_an_operation_that_waits_for_its_page() {
    let mut bench = Bench::aged(&anywhere(), &[0]);
    // The read waits on die 0 for the event; the write must not overtake it, though die 1 is idle.
    bench.read(0, 1, 0, 1).write(100, 2, 0, 1);
    bench.known_at(27_300, 1, 27_370, Blame { queue_gc: 26_000, ..read_blame() });
    assert!(bench.advance(32_600).find(2).is_some_and(|done| done.finish == SimTime(32_600)));
}

/// More operations than a 16-bit number counts wait for one page, and the read behind them does not go first.
#[test]
fn reads_that_go_first_wait_for_any_number_of_writes_of_their_page() {
    let mut config = one_die();
    config.ftl.priority = harmonia_ssd::Priority::ReadsFirst;
    let mut bench = Bench::empty(&config);
    const WRITES: u32 = 65_536;
    for token in 0..WRITES {
        bench.device.submit(SimTime::ZERO, sub(token, Operation::Write, 0, 1)).unwrap();
    }
    bench.device.submit(SimTime::ZERO, sub(WRITES, Operation::Read, 0, 1)).unwrap();
    assert!(bench.advance(6_000).find(0).is_some() && bench.find(WRITES).is_none(), "it follows them all");
}

/// A unit may hold 20 pages. Overwrites that wait add none, however many they are.
#[test]
fn waiting_overwrites_take_no_room_from_pages_of_other_units() {
    let mut bench = Bench::empty(&anywhere());
    // Pages 0 and 2 lie on die 0, page 1 on die 1.
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).write(0, 3, 2, 1).advance(50_000);
    for again in 0..22 {
        bench.write(50_000, 10 + again, 1, 1);
    }
    for again in 0..25 {
        bench.write(50_000, 40 + again, 0, 1);
    }
    // The queue of die 1 is shorter.
    bench.write(50_000, 4, 2, 1).advance(1_000_000);
    assert_eq!((bench.device.ftl().live_pages(0), bench.device.ftl().live_pages(1)), (1, 2));
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
fn dies_on_one_bus_take_turns_and_are_held_while_they_wait() {
    let mut bench = Bench::with(&shared_bus(), &[&[0, 1], &[0, 1]]);
    // Pages 0 and 2 on die 0, 1 and 3 on die 1.
    bench.read(0, 1, 0, 1).read(0, 2, 1, 1).read(0, 3, 3, 1);
    bench.known_at(1_300, 1, 1_370, read_blame());
    bench.known_at(1_600, 2, 1_670, Blame { queue_host: 300, ..read_blame() });
    // Die 1 was held until 1,600 although its array was done at 1,000.
    bench.known_at(2_900, 3, 2_970, Blame { queue_host: 1_600, ..read_blame() });
}

#[test]
fn moves_on_a_shared_bus_take_their_turns_page_by_page() {
    let mut config = shared_bus();
    config.timing.copyback = Copyback::None;
    let mut bench = Bench::aged(&config, &[0]);
    // Die 0 moves a page: array until 1,000, bus until 1,300, then asks again for the way back.
    bench.read(0, 1, 0, 1).read(100, 2, 1, 1);
    // Die 1's data is ready at 1,100, waits for the move's first turn and goes before its second.
    bench.known_at(1_600, 2, 1_670, Blame { queue_gc: 200, ..read_blame() });
    // 1,900 for the second turn, then program and erase.
    assert_eq!(bench.collected(), [(0, 26_900)]);
    let counters = bench.device.counters();
    assert_eq!(counters.gc_busy, SimDuration(26_900));
    assert_eq!(
        counters.gc_plane_busy,
        SimDuration(26_900),
        "waiting for the bus included: the plane is held"
    );
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
    // One page of room is left in the open block; the write after it opens the next, and a read finds 2 free.
    bench.write(60_000, 2, 13, 1).write(70_000, 3, 14, 1).advance(80_000);
    assert_eq!(bench.notices(), []);
    bench.read(80_000, 4, 0, 1);
    assert_eq!(bench.notices(), [(80_000, Notice::SoftThreshold)]);
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
