//! When exactly is it done? Literal devices, literal nanoseconds: not ready at t - 1, ready at t.

use crate::bench::*;
use harmonia_flash::{Copyback, PageTimes};
use harmonia_ssd::{Amount, SubRequest};
use harmonia_types::{Blame, IoCause, Operation, ParityPages, SimDuration, SimTime};

#[test]
fn a_read_is_array_then_transfer_then_link() {
    let mut bench = Bench::with(&one_die(), &[&[0]]);
    let done = bench.read(100, 1, 0, 1).known_at(1_400, 1, 1_470, read_blame());
    assert!(!done.met_gc);
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
    assert_eq!(bench.device.events(), 3, "it arrives, and each die is done");
}

/// The page that is done last stands for a sub-request, and of pages that are done at once the first one, whichever die began earlier. Pages
/// 0 and 1 are read in 1,300, pages 2 and 3 in 2,600.
#[test]
fn of_pages_that_are_done_at_once_the_first_one_stands_for_all() {
    let mut config = two_dies();
    config.link.bandwidth = 1 << 60;
    config.timing.read = PageTimes::by_type(&[1_000, 2_300].map(SimDuration)).expect("two times");
    let first_stands = |is_behind: bool, page: u64| {
        let mut bench = Bench::with(&config, &[&[0, 1], &[0, 1]]);
        let parity = ParityPages { phase: 0, period: 2, run: 1, cause: IoCause::Parity };
        if is_behind {
            bench.read(0, 9, 1, 1);
        }
        bench.submit(0, SubRequest { parity, ..sub(1, Operation::Read, page, 2) }).advance(10_000);
        bench.find(1).map(|done| (done.finish.0, done.is_parity))
    };
    assert_eq!(first_stands(false, 0), Some((1_300, true)));
    assert_eq!(first_stands(false, 1), Some((2_600, false)));
    // Page 1 is behind another read of it, so page 2 has begun before.
    assert_eq!(first_stands(true, 1), Some((2_600, true)));
}

/// Of four pages the first and the last are parity. The last one was never written, and is not read.
#[test]
fn pages_that_are_read_count_for_the_host_or_as_parity() {
    let parity = ParityPages { phase: 0, period: 3, run: 1, cause: IoCause::Parity };
    let mut bench = Bench::with(&two_dies(), &[&[0, 1], &[0]]);
    bench.submit(0, SubRequest { parity, ..sub(1, Operation::Read, 0, 4) }).advance(10_000);
    let counters = bench.device.counters();
    assert_eq!((counters.host_pages_read, counters.parity_pages_read), (2, 1));
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

/// Four pages but for 512 bytes of the first and 3,072 of the last.
#[test]
fn what_a_write_leaves_out_at_its_edges_is_padding() {
    let mut bench = Bench::empty(&one_die());
    let edges = SubRequest { offset: 512, length: 3 * PAGE + 512, ..sub(1, Operation::Write, 0, 1) };
    bench.submit(0, edges).advance(50_000);
    let counters = bench.device.counters();
    assert_eq!(
        (counters.programs[IoCause::Host as usize], counters.padding[IoCause::Host as usize]),
        (4, 3_584)
    );
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
    assert!(!done.met_gc && bench.collected().is_empty());
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
    assert!(done.met_gc);
    // Ready at 170; the event takes until 26,000 and the read until 27,300.
    let blame = Blame { queue_gc: 25_830, queue_host: 1_300, ..write_blame() };
    assert!(bench.known_at(32_600, 2, 32_600, blame).met_gc);
}

#[test]
fn an_operation_is_affected_if_it_arrives_before_the_event_ends() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    // Its data comes over the link while the event ends: it met the event, yet did not wait for it.
    bench.read(0, 1, 0, 1).advance(1);
    bench.write(25_990, 2, 1, 1).read(26_001, 3, 0, 1);
    bench.advance(40_000);
    assert!(bench.find(2).unwrap().met_gc);
    assert_eq!(bench.find(2).unwrap().blame.queue_gc, 0);
    assert!(!bench.find(3).unwrap().met_gc);
}

#[test]
fn an_event_starts_after_the_running_operation_and_ahead_of_the_queue() {
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.read(0, 1, 0, 1).read(400, 2, 1, 1).force(500).read(600, 3, 2, 1);
    assert!(!bench.known_at(1_300, 1, 1_370, read_blame()).met_gc);
    let blame = Blame { queue_host: 900, queue_gc: 26_000, ..read_blame() };
    assert!(bench.known_at(28_600, 2, 28_670, blame).met_gc);
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

/// A request for no bytes needs nothing of the device, whatever it is.
#[test]
fn what_has_no_length_is_done_at_once() {
    let mut bench = Bench::with(&one_die(), &[&[0]]);
    for (token, operation) in (1..).zip([Operation::Read, Operation::Write, Operation::Trim]) {
        bench.submit(7, SubRequest { length: 0, ..sub(token, operation, 0, 1) });
        bench.known_by(7, token, 7, Blame::default());
    }
    assert!(bench.device.is_quiet());
}
