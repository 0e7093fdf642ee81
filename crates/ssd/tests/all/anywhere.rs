//! Pages that may lie anywhere, and operations that wait for one another because they are on one page.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_ssd::{Allocation, Amount, Domain, SsdConfig, SubCompletion, SubRequest, Trigger};
use harmonia_types::{Blame, Operation, SimTime};

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

/// A read of what was never written needs no die, and that of a page on its way follows it. A trim leaves pages that it covers in part.
#[test]
fn what_lies_nowhere_needs_no_die_and_parts_of_pages_are_not_trimmed() {
    let mut bench = Bench::empty(&anywhere());
    bench.write(0, 1, 0, 1).read(0, 2, 5, 1).read(10, 3, 0, 1);
    bench.known_by(10, 2, 140, Blame { link: 140, ..Blame::default() });
    bench.known_at(6_670, 3, 6_740, Blame { link: 60 + LINK, queue_host: 5_300, ..read_blame() });
    let is_there = |bench: &Bench| bench.device.ftl().home(0).is_some();
    let edges = SubRequest { offset: 512, ..sub(4, Operation::Trim, 0, 1) };
    bench.submit(7_000, edges).known_by(7_000, 4, 7_000, Blame::default());
    assert!(is_there(&bench));
    bench.submit(8_000, sub(5, Operation::Trim, 0, 1)).advance(8_000);
    assert!(!is_there(&bench));
}

/// Its data is over the link at 26,020. The first victim is moved by 26,000.
#[test]
fn a_write_on_the_link_ends_collection_in_idle_time() {
    let mut alone = Bench::aged(&anywhere(), &[]);
    assert!(alone.force_idle(0).collected()[0].1 > 26_000);
    let mut bench = Bench::aged(&anywhere(), &[]);
    assert_eq!(bench.force_idle(0).write(25_950, 1, 0, 1).collected(), [(0, 26_000)]);
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
