//! When exactly does the host get its turn within a collection, and what merges with it (ISPASS 2011; HPDC 2018, 4.4)?
//! Not ready at t - 1, ready at t.
//!
//! A forced collection of `SPREAD` begins at 0. Alone it goes
//!
//! ```text
//! far   0 read  1,300 program  6,600 read  7,900 program  13,200 erase  33,200      page 2, page 3 of the host
//! near  0 read  1,000 program  6,000 read  7,000 program  12,000 erase  32,000      copyback
//! ```
//!
//! Page 12 has nothing to do with it.

use crate::bench::*;
use harmonia_flash::Copyback;
use harmonia_ssd::{Allocation, Amount, BeginsAt, Destination, DeviceCounters, SsdConfig};
use harmonia_types::{Blame, IoCause, SimDuration};

fn preemptive(copyback: Copyback) -> SsdConfig {
    let mut config = one_die();
    config.gc.schedule = "preemptive".into();
    config.timing.copyback = copyback;
    config
}

fn collecting(config: &SsdConfig) -> Bench {
    let mut bench = Bench::with(config, &[SPREAD]);
    bench.force(0);
    bench
}

fn far() -> Bench {
    collecting(&preemptive(Copyback::None))
}

/// A part that suspends within 400 (erase) or 200 (program) and goes on after 50 more.
fn suspending() -> SsdConfig {
    let mut config = preemptive(Copyback::None);
    config.timing.suspend_erase = Some(SimDuration(400));
    config.timing.suspend_program = Some(SimDuration(200));
    config.timing.resume = SimDuration(50);
    config
}

fn met(queue_gc: u64, blame: Blame) -> Blame {
    Blame { queue_gc, ..blame }
}

fn counters(bench: &mut Bench) -> DeviceCounters {
    bench.collected();
    bench.device.counters()
}

/// Pages moved since the device was made.
fn moves(bench: &mut Bench) -> u64 {
    counters(bench).programs[IoCause::Gc as usize]
}

#[test]
fn a_collection_alone_is_as_long_as_without_preemption() {
    assert_eq!(far().collected(), [(0, 33_200)]);
    assert_eq!(collecting(&preemptive(Copyback::Die)).collected(), [(0, 32_000)]);
    assert_eq!(collecting(&suspending()).collected(), [(0, 33_200)]);
}

#[test]
fn the_host_goes_between_the_read_and_the_program_of_a_page_in_the_controller() {
    let mut bench = far();
    assert!(bench.read(1_299, 1, 12, 1).known_at(2_600, 1, 2_670, met(1, read_blame())).met_gc);
    assert_eq!(bench.collected(), [(0, 34_500)], "the rest comes 1,300 later");
    let counters = counters(&mut bench);
    assert_eq!((counters.inside.preemptions, counters.gc_busy), (1, SimDuration(33_200)));
    // At 1,300 the program has begun, and is not interrupted.
    let mut bench = far();
    bench.read(1_300, 1, 12, 1).known_at(7_900, 1, 7_970, met(5_300, read_blame()));
}

#[test]
fn nothing_goes_between_the_read_and_the_program_of_a_page_in_the_register() {
    for copyback in [Copyback::Die, Copyback::Plane] {
        let mut bench = collecting(&preemptive(copyback));
        bench.read(100, 1, 12, 1).known_at(7_300, 1, 7_370, met(5_900, read_blame()));
        let mut bench = collecting(&preemptive(copyback));
        // Between the moves.
        bench.read(5_999, 1, 12, 1).known_at(7_300, 1, 7_370, met(1, read_blame()));
        let mut bench = collecting(&preemptive(copyback));
        bench.read(6_000, 1, 12, 1).known_at(13_300, 1, 13_370, met(6_000, read_blame()));
    }
}

#[test]
fn the_host_goes_before_the_erase_but_not_into_it() {
    let mut bench = far();
    bench.read(13_199, 1, 12, 1).known_at(14_500, 1, 14_570, met(1, read_blame()));
    assert_eq!(bench.collected(), [(0, 34_500)]);
    let mut bench = far();
    bench.read(13_200, 1, 12, 1).known_at(34_500, 1, 34_570, met(20_000, read_blame()));
    assert_eq!(bench.collected(), [(0, 33_200)]);
    // A write whose data lands in time goes as well.
    let mut bench = far();
    bench.write(13_130, 1, 12, 1).known_at(18_500, 1, 18_500, write_blame());
    let mut bench = far();
    bench.write(13_131, 1, 12, 1).known_at(38_500, 1, 38_500, met(19_999, write_blame()));
}

#[test]
fn collecting_begins_at_soft_behind_what_is_ready() {
    let mut bench = Bench::with(&preemptive(Copyback::None), &[SPREAD]);
    assert!(!bench.read(0, 1, 12, 1).known_at(1_300, 1, 1_370, read_blame()).met_gc);
    assert_eq!(bench.collected(), [(1_300, 34_500)]);
    let mut blocking = preemptive(Copyback::None);
    blocking.gc.schedule = "blocking".into();
    assert_eq!(Bench::with(&blocking, &[SPREAD]).read(0, 1, 12, 1).collected(), []);
    // Unless the device begins at soft under any schedule: two moves and an erase at once.
    blocking.gc.begins_at = BeginsAt::Soft;
    assert_eq!(Bench::with(&blocking, &[SPREAD]).read(0, 1, 12, 1).collected(), [(0, 33_200)]);
}

/// No block of `TWO_FREE` is open: the first program opens one, and 1 free block is hard.
#[test]
fn from_hard_on_nothing_goes_between() {
    let mut bench = Bench::with(&preemptive(Copyback::None), &[TWO_FREE]);
    // Between read and program it is soft still; the erase follows the program at once.
    bench.force(0).read(100, 1, 12, 1);
    bench.known_at(2_600, 1, 2_670, met(1_200, read_blame()));
    bench.read(3_000, 2, 12, 1);
    bench.known_at(29_200, 2, 29_270, met(24_900, read_blame()));
    assert_eq!(bench.device.counters().inside.preemptions, 1);
    assert_eq!(bench.collected()[0], (0, 27_900), "and at 29,200, soft again, the next begins");
}

#[test]
fn an_erase_is_suspended_for_a_read() {
    for (arrival, remaining) in [(13_200, 20_000), (14_000, 19_200), (33_199, 1)] {
        let mut bench = collecting(&suspending());
        let done = bench.read(arrival, 1, 12, 1).known_at(
            arrival + 400 + 1_300,
            1,
            arrival + 400 + 1_300 + LINK,
            met(400, read_blame()),
        );
        assert!(done.met_gc);
        assert_eq!(bench.collected(), [(0, arrival + 1_700 + remaining + 50)]);
        let counters = counters(&mut bench);
        assert_eq!((counters.inside.suspends, counters.inside.preemptions), (1, 1));
        assert_eq!(counters.gc_busy, SimDuration(33_200 + 400 + 50), "both costs are collection's");
        assert_eq!(counters.gc_plane_busy, counters.gc_busy);
    }
    let mut bench = collecting(&suspending());
    assert!(!bench.read(33_200, 1, 12, 1).known_at(34_500, 1, 34_570, read_blame()).met_gc);
    assert_eq!(counters(&mut bench).inside.suspends, 0);
}

#[test]
fn nothing_is_suspended_for_a_write_or_where_the_part_cannot() {
    let mut bench = collecting(&suspending());
    bench.write(14_000, 1, 12, 1).known_at(38_500, 1, 38_500, met(19_130, write_blame()));
    let mut no_erase = suspending();
    no_erase.timing.suspend_erase = None;
    let mut bench = collecting(&no_erase);
    bench.read(14_000, 1, 12, 1).known_at(34_500, 1, 34_570, met(19_200, read_blame()));
    let mut no_program = suspending();
    no_program.timing.suspend_program = None;
    let mut bench = collecting(&no_program);
    bench.read(2_000, 1, 12, 1).known_at(7_900, 1, 7_970, met(4_600, read_blame()));
    assert_eq!(counters(&mut bench).inside.suspends, 0);
}

#[test]
fn a_program_is_suspended_once_its_array_works() {
    let mut bench = collecting(&suspending());
    bench.read(1_600, 1, 12, 1).known_at(3_100, 1, 3_170, met(200, read_blame()));
    assert_eq!(bench.collected(), [(0, 33_200 + 200 + 1_300 + 50)]);
    let counters = counters(&mut bench);
    assert_eq!((counters.inside.suspends, counters.gc_busy), (1, SimDuration(33_450)));
    // Its page is still on its way in: it is suspended as soon as its array works.
    let mut bench = collecting(&suspending());
    bench.read(1_599, 1, 12, 1).known_at(3_100, 1, 3_170, met(201, read_blame()));
}

#[test]
fn programs_and_erases_of_collection_run_for_the_least_time_before_they_are_suspended() {
    let mut config = suspending();
    config.timing.minimum_run = SimDuration(1_000);
    // The array programs from 1,600 on, and erases from 13,200 on.
    for (arrival, suspended) in [(1_400, 2_600), (2_599, 2_600), (2_600, 2_600), (2_601, 2_601)] {
        let mut bench = collecting(&config);
        let done = suspended + 200 + 1_300;
        let blame = met(suspended + 200 - arrival, read_blame());
        bench.read(arrival, 1, 12, 1).known_at(done, 1, done + LINK, blame);
    }
    for (arrival, suspended) in [(13_200, 14_200), (14_199, 14_200), (14_200, 14_200), (14_201, 14_201)] {
        let mut bench = collecting(&config);
        let done = suspended + 400 + 1_300;
        let blame = met(suspended + 400 - arrival, read_blame());
        bench.read(arrival, 1, 12, 1).known_at(done, 1, done + LINK, blame);
        assert_eq!(counters(&mut bench).inside.suspends, 1);
    }
}

#[test]
fn reads_that_come_while_it_is_suspended_go_before_it_is_resumed_and_then_it_is_suspended_again() {
    let mut bench = collecting(&suspending());
    bench.read(1_600, 1, 12, 1).read(2_000, 2, 13, 1);
    bench.known_at(3_100, 1, 3_170, met(200, read_blame()));
    bench.known_at(4_400, 2, 4_470, Blame { queue_host: 1_100, ..read_blame() });
    // Resumed at 4,400 with 5,050 to go; 600 later 4,450 are left.
    bench.read(5_000, 3, 14, 1).known_at(6_500, 3, 6_570, met(200, read_blame()));
    assert_eq!(bench.collected(), [(0, 6_500 + 4_450 + 50 + 26_600)]);
    assert_eq!(counters(&mut bench).inside.suspends, 2);
}

#[test]
fn operations_on_the_page_of_a_suspended_program_wait_for_it_in_their_order() {
    let mut bench = collecting(&suspending());
    bench.read(1_600, 1, 12, 1).read(1_700, 2, 2, 1);
    bench.known_at(3_100, 1, 3_170, met(200, read_blame()));
    // Resumed at 3,100, done at 8,150; 100 of the suspending and this are collection's.
    let behind = Blame { queue_host: 1_300, ..met(100 + 5_050, read_blame()) };
    bench.known_at(9_450, 2, 9_520, behind);

    let mut bench = collecting(&suspending());
    bench.read(1_600, 1, 12, 1).write(1_700, 2, 2, 1).read(1_800, 3, 2, 1);
    bench.known_at(13_450, 2, 13_450, Blame { queue_host: 1_300, ..met(30 + 5_050, write_blame()) });
    bench.known_at(14_750, 3, 14_820, Blame { queue_host: 1_300 + 5_300, ..met(5_050, read_blame()) });
    assert_eq!(moves(&mut bench), 2, "it was moved before it was overwritten");
}

#[test]
fn a_read_of_the_page_that_is_moved_next_is_answered_by_collections_own_read() {
    let mut bench = far();
    let done = bench.read(6_599, 1, 3, 1).known_at(7_900, 1, 7_970, met(1, read_blame()));
    assert!(done.met_gc);
    assert_eq!(bench.collected(), [(0, 33_200)], "nobody waited");
    let merged = counters(&mut bench);
    assert_eq!((merged.inside.merged_reads, merged.host_pages_read, merged.inside.preemptions), (1, 1, 0));
    assert_eq!(merged.gc_plane_busy, SimDuration(33_200), "one plane reads it once");
    // A page in the plane's register goes over the bus for the host alone.
    let mut bench = collecting(&preemptive(Copyback::Die));
    bench.read(5_999, 1, 3, 1).known_at(7_300, 1, 7_370, met(1, read_blame()));
    assert_eq!((bench.collected(), counters(&mut bench).inside.merged_reads), (vec![(0, 32_300)], 1));
    // Once the read has begun, it is a read of its own, before the program.
    let mut bench = far();
    bench.read(6_600, 1, 3, 1).known_at(9_200, 1, 9_270, met(1_300, read_blame()));
    assert_eq!((counters(&mut bench).inside.merged_reads, counters(&mut bench).inside.preemptions), (0, 1));
}

#[test]
fn a_write_of_the_page_makes_its_move_needless() {
    // Before it is read: only page 2 is moved.
    let mut bench = far();
    bench.write(6_530, 1, 3, 1).known_at(11_900, 1, 11_900, write_blame());
    assert_eq!(bench.collected(), [(0, 31_900)]);
    assert_eq!((moves(&mut bench), counters(&mut bench).inside.superseded_moves), (1, 0));
    // Between its read and its program: the read was for nothing.
    for arrival in [6_531, 7_830] {
        let mut bench = far();
        let blame = met(7_830 - arrival, write_blame());
        bench.write(arrival, 1, 3, 1).known_at(13_200, 1, 13_200, blame);
        assert_eq!(bench.collected(), [(0, 33_200)]);
        assert_eq!((moves(&mut bench), counters(&mut bench).inside.superseded_moves), (1, 1));
    }
    // Later, or while the page lies in the register: it is moved first.
    let mut bench = far();
    bench.write(7_831, 1, 3, 1).known_at(18_500, 1, 18_500, met(5_299, write_blame()));
    assert_eq!((moves(&mut bench), counters(&mut bench).inside.superseded_moves), (2, 0));
    let mut bench = collecting(&preemptive(Copyback::Die));
    bench.write(6_500, 1, 3, 1).known_at(17_300, 1, 17_300, met(5_430, write_blame()));
    assert_eq!((moves(&mut bench), counters(&mut bench).inside.superseded_moves), (2, 0));
}

#[test]
fn a_read_and_a_write_of_the_page_both_merge_in_their_order() {
    let mut bench = far();
    bench.read(2_000, 1, 3, 1).write(2_100, 2, 3, 1);
    bench.known_at(7_900, 1, 7_970, met(4_600, read_blame()));
    bench.known_at(13_200, 2, 13_200, met(4_430 + 1_300, write_blame()));
    assert_eq!(
        (counters(&mut bench).inside.merged_reads, counters(&mut bench).inside.superseded_moves),
        (1, 1)
    );

    let mut bench = far();
    bench.write(2_000, 1, 3, 1).read(2_100, 2, 3, 1);
    bench.known_at(11_900, 1, 11_900, met(4_530, write_blame()));
    bench.known_at(13_200, 2, 13_270, Blame { queue_host: 5_300, ..met(4_500, read_blame()) });
    assert_eq!((counters(&mut bench).inside.merged_reads, moves(&mut bench)), (0, 1));
}

/// Step by step from hard on: a shared bus, 1 free block. The victim holds page 3 alone.
#[test]
fn at_hard_reads_merge_and_writes_wait() {
    let mut config = preemptive(Copyback::None);
    config.geometry.own_pins = false;
    let mut bench = Bench::aged(&config, &[0]);
    bench.read(0, 1, 3, 1).known_at(1_300, 1, 1_370, read_blame());
    assert_eq!((bench.collected(), counters(&mut bench).inside.merged_reads), (vec![(0, 26_600)], 1));
    let mut bench = Bench::aged(&config, &[0]);
    bench.write(0, 1, 3, 1).known_at(31_970, 1, 31_970, met(26_600, write_blame()));
    assert_eq!(bench.collected()[0], (70, 26_670));
}

/// Two planes of which plane 0 collects from 1,300 on, behind a read of plane 0 that began it: soft, with room to hard.
fn composed(suspends: bool) -> Bench {
    let mut config = planes(2);
    config.gc.schedule = "preemptive-io-parallel".into();
    config.gc.hard_threshold = Amount::Blocks(1);
    config.gc.soft_threshold = Amount::Blocks(4);
    if suspends {
        config.timing.suspend_program = Some(SimDuration(200));
        config.timing.resume = SimDuration(50);
    }
    let mut bench = Bench::with(&config, &[&LOW[..24], &LOW[..16]]);
    bench.read(0, 1, 24, 1);
    bench
}

/// Read until 2,600, program until 7,900, then the read of offset 3.
#[test]
fn composed_with_io_parallel_what_matches_joins_and_what_does_not_goes_between() {
    let mut bench = composed(false);
    // Page 3 of plane 1 lies at offset 3, page 0 at offset 0.
    bench.read(3_000, 2, 1, 1).read(3_000, 3, 7, 1);
    // Together with collection's, and only then the other, although it came first.
    bench.known_at(9_500, 3, 9_570, met(4_900 + 300, read_blame()));
    bench.known_at(10_800, 2, 10_870, met(6_500, read_blame()));
    let mut bench = composed(false);
    bench.read(3_000, 2, 1, 1).known_at(9_200, 2, 9_270, met(4_900, read_blame()));
    assert_eq!(counters(&mut bench).inside.preemptions, 1);
    // A write that matches goes with the program.
    let mut bench = composed(false);
    bench.write(1_400, 2, 1, 1).known_at(8_200, 2, 8_200, met(1_130 + 300, write_blame()));
    assert_eq!(counters(&mut bench).inside.preemptions, 0);
}

#[test]
fn a_host_write_in_a_suspended_program_is_done_when_that_is() {
    let mut bench = composed(true);
    // Bus until 3,200, array until 8,200; suspended at 4,000 with 4,200 to go.
    bench.write(1_400, 2, 1, 1).read(4_000, 3, 25, 1);
    bench.known_at(5_500, 3, 5_570, met(200, read_blame()));
    // It waits for the read: that, the suspending and the resuming are the host's.
    let blame = Blame { queue_host: 200 + 1_300 + 50, ..met(1_430, write_blame()) };
    bench.known_at(9_750, 2, 9_750, blame);
    let suspended = counters(&mut bench);
    assert_eq!((suspended.inside.suspends, suspended.paired_writes.matched), (1, 1));

    // A read of the page it writes waits for it.
    let mut bench = composed(true);
    bench.write(1_400, 2, 1, 1).read(4_000, 3, 25, 1).read(4_100, 4, 1, 1);
    bench.known_at(5_500, 3, 5_570, met(200, read_blame()));
    bench.known_at(9_750, 2, 9_750, blame);
    let done = bench.advance(20_000).find(4).expect("done");
    assert!(done.finish.0 >= 9_750 + 1_300 + LINK);
}

/// Die 0 is at hard and its pages go to die 1, which has free blocks and never runs out of reads.
#[test]
fn a_page_from_a_die_at_hard_is_not_suspended_where_it_goes() {
    let mut config = SsdConfig { geometry: two_dies().geometry, ..suspending() };
    config.ftl.allocation = Allocation::Dynamic;
    config.gc.destination = Destination::Device;
    let lower = [TWO_FREE, &[12]].concat();
    let mut bench = Bench::with(&config, &[&lower, &TWO_FREE[..18]]);
    bench.read(0, 1, 0, 1);
    // Each takes 1,300.
    for again in 0..100 {
        bench.read(2_000 + again * 1_000, 10 + again as u32, 1, 1);
    }
    assert!(bench.find(1).is_some(), "the collection of die 0 ends, and its read is served");
    let counters = bench.device.counters();
    assert_eq!((counters.gc_victims, counters.inside.suspends), (1, 0));
}
