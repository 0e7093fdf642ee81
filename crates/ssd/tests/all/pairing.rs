//! What does a collection take along on the device, when, and what does it cost (paper C, HPDC 2018, 4.1 and 4.2)?
//! Not ready at t - 1, ready at t.
//!
//! Plane 0 of `LOW` collects from 0 on, begun by a read of plane 0 that waits for its end. Alone it goes
//!
//! ```text
//! 0 read  1,300 program  6,600 read  7,900 program  13,200 erase      block 0: pages 2, 3 to offsets 0, 1 of a new block
//! 33,200  34,500         39,800      41,100         46,400   66,400   block 1: the same, to offsets 2, 3
//! ```
//!
//! Every event takes two victims. Pages 2, 3 and 6, 7 of every plane's pool
//! lie at the offsets 2, 3.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_ssd::{Amount, DeviceCounters, Pairing, PolicyConfig, Priority, SsdConfig, Trigger};
use harmonia_types::{Blame, SimDuration, SimTime};

fn paired(planes: u32) -> SsdConfig {
    let mut config = crate::bench::planes(planes);
    config.gc.schedule = "io-parallel".into();
    config.gc.min_victims = 2;
    config
}

/// Two planes; plane 0 collects from 0 on.
fn collecting() -> Bench {
    collecting_with("unmatched", "stay")
}

/// The same, with a key of the schedule.
fn collecting_with(key: &str, value: &str) -> Bench {
    let mut config = paired(2);
    config.gc.schedule = config.gc.schedule.with(key, value);
    let mut bench = Bench::with(&config, &[LOW, CALM]);
    bench.read(0, 1, 24, 1);
    bench
}

fn met(queue_gc: u64, blame: Blame) -> Blame {
    Blame { queue_gc, ..blame }
}

/// Offered, matched, none waiting, other offset, not ready.
fn pairing([offered, matched, none_waiting, other_offset, not_ready]: [u64; 5]) -> Pairing {
    Pairing { offered, matched, none_waiting, other_offset, not_ready, ..Pairing::default() }
}

fn counters(bench: &mut Bench) -> DeviceCounters {
    bench.collected();
    bench.device.counters()
}

#[test]
fn a_device_says_whether_it_pairs() {
    let pairs = |config: &SsdConfig| Bench::empty(config).device.pairs();
    assert_eq!((pairs(&paired(2)), pairs(&planes(2))), (true, false));
}

#[test]
fn a_collection_alone_takes_its_moves_and_erases() {
    let mut bench = collecting();
    assert!(bench.known_at(67_700, 1, 67_770, met(66_400, read_blame())).met_gc);
    assert_eq!(bench.collected(), [(0, 66_400)]);
    let counters = counters(&mut bench);
    assert_eq!((counters.gc_busy, counters.gc_plane_busy), (SimDuration(66_400), SimDuration(66_400)));
    assert_eq!(counters.paired_reads, pairing([4, 0, 4, 0, 0]));
    assert_eq!(counters.paired_writes, pairing([4, 0, 4, 0, 0]));
    let depth = counters.depth_at_gc;
    assert_eq!((depth.events, depth.waiting, depth.most), (1, 1, 1), "the read that began it");
}

#[test]
fn the_first_queued_read_of_a_sibling_with_the_same_offset_joins_behind_the_collection() {
    let mut bench = collecting();
    // Offset 3: two of plane 1, one of plane 0.
    bench.read(100, 2, 7, 1).read(100, 3, 15, 1).read(100, 4, 14, 1);
    // Array from 6,600 to 7,600, collection's page until 7,900, and then its own.
    assert!(bench.known_at(8_200, 2, 8_270, met(6_500 + 300, read_blame())).met_gc);
    // With the second victim's page at offset 3, after 300 more.
    bench.known_at(41_700, 3, 41_770, met(40_300, read_blame()));
    // Two transfers longer than alone.
    bench.known_at(68_300, 1, 68_370, met(67_000, read_blame()));
    let own_plane = Blame { queue_host: 1_300, ..met(66_900, read_blame()) };
    bench.known_at(69_600, 4, 69_670, own_plane);
    let counters = counters(&mut bench);
    assert_eq!(counters.paired_reads, pairing([4, 2, 1, 1, 0]));
    assert_eq!((counters.inside.preemptions, counters.host_pages_read), (0, 4));
    // Plane 0 is idle while plane 1's page goes over the bus; plane 1 works from array read to its own transfer.
    let busy = (67_000 - 2 * 300) + 2 * 1_600;
    assert_eq!((counters.gc_busy, counters.gc_plane_busy), (SimDuration(67_000), SimDuration(busy)));
}

#[test]
fn a_read_joins_if_it_is_there_when_the_page_is_read() {
    let mut bench = collecting();
    bench.read(6_599, 2, 7, 1).known_at(8_200, 2, 8_270, met(1 + 300, read_blame()));
    let mut bench = collecting();
    // Too late by nothing: the next page at this offset is the second victim's.
    bench.read(6_600, 2, 7, 1).known_at(41_400, 2, 41_470, met(33_500, read_blame()));
}

#[test]
fn the_first_write_of_a_sibling_joins_where_its_new_block_has_the_same_offset() {
    let mut bench = collecting();
    bench.write(100, 2, 1, 1).write(100, 3, 3, 1);
    // Bus until 1,600 for the collection and 1,900 for the host, then the array for both.
    assert!(bench.known_at(6_900, 2, 6_900, met(1_130 + 300, write_blame())).met_gc);
    // The next page goes to offset 1, and so does the next write.
    let second = Blame { link: 140, ..met(7_960 + 300, write_blame()) };
    bench.known_at(13_800, 3, 13_800, second);
    assert_eq!(bench.collected(), [(0, 67_000)]);
    let counters = counters(&mut bench);
    assert_eq!(counters.paired_writes, pairing([4, 2, 2, 0, 0]));
    // Plane 1 works from its own transfer to the end of the program.
    assert_eq!(counters.gc_plane_busy, SimDuration(67_000 + 2 * 5_300));
}

#[test]
fn a_write_joins_if_its_data_is_over_the_link_when_the_program_starts() {
    let mut bench = collecting();
    bench.write(1_230, 2, 1, 1).known_at(6_900, 2, 6_900, met(300, write_blame()));
    let mut bench = collecting();
    // Later offsets do not match: it goes after the read that waited longer.
    bench.write(1_231, 2, 1, 1);
    let late = Blame { queue_host: 1_300, ..met(65_099, write_blame()) };
    bench.known_at(73_000, 2, 73_000, late);
    assert_eq!(counters(&mut bench).paired_writes, pairing([4, 0, 0, 3, 1]));
}

#[test]
fn what_matches_nothing_waits_for_the_end_and_nothing_joins_an_erase() {
    let mut bench = collecting();
    // Both come during the first erase: at offset 0, and at offset 2.
    bench.read(20_000, 2, 17, 1).read(20_000, 3, 5, 1);
    bench.known_at(34_800, 3, 34_870, met(13_200 + 300, read_blame()));
    let unmatched = Blame { queue_host: 1_300, ..met(46_700, read_blame()) };
    bench.known_at(69_300, 2, 69_370, unmatched);
    // One that comes during the last erase finds none left.
    let mut bench = collecting();
    bench.read(50_000, 2, 5, 1).known_at(
        69_000,
        2,
        69_070,
        Blame { queue_host: 1_300, ..met(16_400, read_blame()) },
    );
}

#[test]
fn partial_writes_do_not_join() {
    let mut bench = collecting();
    bench.submit(100, partial(2, 1)).write(100, 3, 3, 1);
    // The whole write behind it does.
    bench.known_at(6_900, 3, 6_900, Blame { link: 140, ..met(1_060 + 300, write_blame()) });
    let both = Blame { service: 6_000, transfer: 600, queue_host: 1_300, ..met(66_530, write_blame()) };
    bench.known_at(74_600, 2, 74_600, both);
}

#[test]
fn a_place_that_only_a_partial_write_could_take_needs_a_read_first() {
    let mut bench = collecting();
    bench.submit(100, partial(2, 1));
    // The first program has the offset of plane 1. The others do not.
    let expected = Pairing { needs_read: 1, ..pairing([4, 0, 0, 3, 0]) };
    assert_eq!(counters(&mut bench).paired_writes, expected);
    // With a whole write behind it that comes too late, that is the reason.
    let mut bench = collecting();
    bench.submit(100, partial(2, 1)).write(1_231, 3, 3, 1);
    assert_eq!(counters(&mut bench).paired_writes, pairing([4, 0, 0, 3, 1]));
}

/// Plane 1's page 7 lies at offset 3, which the collection reads from 6,900 on. Until then a whole write goes along.
#[test]
fn a_partial_write_whose_page_is_read_along_joins_like_a_whole_one() {
    let mut bench = collecting_with("partial_writes", "along");
    bench.submit(100, partial(2, 7)).write(100, 3, 3, 1).advance(6_899);
    assert_eq!(bench.device.counters().read_modify_write_reads, 0);
    bench.advance(6_900);
    assert_eq!(bench.device.counters().read_modify_write_reads, 1);
    // Its old page follows the collection's over the bus until 8,500, and its new one until 9,100.
    assert!(bench.known_at(14_100, 2, 14_100, met(8_330 + 300, write_blame())).met_gc);
    assert_eq!(bench.collected(), [(0, 66_400 + 3 * 300)]);
    let counters = counters(&mut bench);
    assert_eq!(counters.paired_reads, pairing([4, 1, 3, 0, 0]));
    assert_eq!(counters.paired_writes, pairing([4, 2, 2, 0, 0]));
    assert_eq!((counters.read_modify_write_reads, counters.host_pages_read), (1, 1));
}

#[test]
fn a_partial_write_is_read_along_if_its_data_is_over_the_link_then() {
    // Too late for the first victim it is read with the second, when no program has the offset of plane 1 any more. Then it
    // goes behind the read that waited longer, without a read of its own.
    for (arrival, done) in [(6_830, 14_100), (6_831, 73_600)] {
        let mut bench = collecting_with("partial_writes", "along");
        bench.write(100, 3, 3, 1).submit(arrival, partial(2, 7)).collected();
        assert_eq!(bench.find(2).expect("done").finish.0, done, "{arrival}");
    }
}

/// The write is a nanosecond late for the first program, as above. Plane 1 leaves offset 0 unwritten.
#[test]
fn a_sibling_that_skips_keeps_the_offset_and_loses_a_page() {
    let mut bench = collecting_with("unmatched", "skip");
    bench.write(1_231, 2, 1, 1).known_at(13_500, 2, 13_500, met(6_599 + 300, write_blame()));
    let expected = Pairing { skipped: 3, ..pairing([4, 1, 2, 0, 1]) };
    assert_eq!(counters(&mut bench).paired_writes, expected);
    // The block that plane 1 opened is full, with one page that lives.
    let ftl = bench.device.ftl();
    ftl.audit();
    let best = ftl.blocks(1).fewest_valid().map(|(_, valid)| valid);
    assert_eq!((ftl.free_blocks(1), ftl.next_host_page(1).map(|next| next.1), best), (3, Some(0), Some(1)));
    assert_eq!(ftl.unit_states().len(), 2);
}

/// Lets so much happen at most; whether the device came to rest.
fn comes_to_rest(bench: &mut Bench, wakeups: u32) -> bool {
    let comes = |_| {
        let next = bench.device.next_wakeup();
        bench.advance(next.0.min(u64::MAX - 1));
        next == SimTime::NEVER
    };
    (0..wakeups).any(comes)
}

/// Half a victim's pages live, so that its sibling would lose as many as it wins, and both would collect for ever.
#[test]
fn planes_that_collect_eagerly_and_skip_come_to_rest() {
    let mut config = paired(2);
    config.gc.schedule = config.gc.schedule.with("unmatched", "skip");
    config.gc.concurrency = PolicyConfig::named("conv-0-allch");
    config.gc.trigger = Trigger::Background;
    (config.gc.min_victims, config.geometry.pages_per_block) = (1, 2);
    (config.gc.hard_threshold, config.ftl.open_blocks) = (Amount::Blocks(1), 4);
    let mut bench = Bench::with(&config, &[&[0, 1, 2, 3, 4, 5, 0], &[0, 1, 2, 3, 4, 5, 0]]);
    bench.write(0, 1, 4, 2).write(0, 2, 8, 2);
    assert!(comes_to_rest(&mut bench, 2_000));
    let skipped = counters(&mut bench).paired_writes.skipped;
    assert!(skipped > 0, "{:?} {:?}", bench.device.counters(), bench.known);
}

/// Nine tenths of a full device live: what its victims win is a few pages of 32.
#[test]
fn a_quarter_of_what_full_victims_win_is_there_to_be_written() {
    let mut config = paired(2);
    config.gc.schedule = config.gc.schedule.with("unmatched", "skip");
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (40, 32);
    config.ftl.reserved_blocks = Amount::Blocks(7);
    config.ftl.open_blocks = 8;
    config.gc.min_victims = 1;
    let pages = 33 * 32;
    let once: Vec<u32> = (0..pages).collect();
    let mut bench = Bench::with(&config, &[&once, &once]);
    let mut rng = Rng::stream(1, "writes");
    for write in 0..1_000 {
        let at = u64::from(write) * 100_000_000;
        bench.write(at, write, rng.below(u64::from(2 * pages)), 1);
        assert!(comes_to_rest(&mut bench, 2_000), "seed 1, write {write}: {:?}", counters(&mut bench));
    }
    let counters = counters(&mut bench);
    let skipped = counters.paired_writes.skipped;
    let won = counters.victim_pages - counters.victim_pages_moved;
    assert_eq!(bench.known.len(), 1_000);
    assert!(skipped > won / 4 && skipped <= 2 * 4 * 32 + won * 3 / 4, "{skipped} skipped of {won}");
}

#[test]
fn a_read_behind_a_write_of_its_page_does_not_join_before_it() {
    let mut bench = collecting();
    // Plane 1's page 3 lies at offset 3; when the write is done it lies at offset 0 of the new block.
    bench.write(1_300, 2, 7, 1).read(1_400, 3, 7, 1);
    bench.known_at(73_000, 2, 73_000, Blame { queue_host: 1_300, ..met(65_030, write_blame()) });
    bench.known_at(74_300, 3, 74_370, Blame { queue_host: 6_600, ..met(65_000, read_blame()) });
    // A place for a read comes up three times while the read stands behind the write.
    assert_eq!(counters(&mut bench).paired_reads, pairing([4, 0, 1, 3, 0]));
}

/// Two dies share a bus that grants by urgency; die 0 collects as above.
#[test]
fn on_a_shared_bus_each_page_of_a_pair_asks_by_itself() {
    let mut config = paired(2);
    config.geometry.own_pins = false;
    config.geometry.chips_per_channel = 2;
    config.ftl.priority = Priority::ReadsFirst;
    let mut bench = Bench::with(&config, &[LOW, CALM, CALM, CALM]);
    // Page 14 is page 3 of die 0's plane 1, page 1 is die 1's.
    bench.read(0, 1, 48, 1).read(100, 2, 14, 1).read(6_650, 3, 1, 1);
    // Collection's page goes from 7,600 to 7,900. Die 1's is there at 7,650, before the host's of the pair asks.
    bench.known_at(8_200, 3, 8_270, met(250, read_blame()));
    let second = Blame { queue_host: 300, ..met(6_500 + 300, read_blame()) };
    bench.known_at(8_500, 2, 8_570, second);
}

#[test]
fn with_four_planes_one_operation_of_every_sibling_joins() {
    let mut bench = Bench::with(&paired(4), &[LOW, CALM, CALM, CALM]);
    // Pages 13, 14, 15 are page 3 of the planes 1, 2, 3; page 31 is another of plane 3 at that offset.
    bench.read(0, 1, 48, 1).read(100, 2, 15, 1).read(100, 3, 13, 1).read(100, 4, 14, 1).read(100, 5, 31, 1);
    for (token, others) in [(3, 0), (4, 300), (2, 600)] {
        let over = 8_200 + others;
        let blame = Blame { queue_host: others, ..met(6_800, read_blame()) };
        bench.known_at(over, token, over + LINK, blame);
    }
    // Three transfers later than alone, behind the collection's.
    bench.known_at(42_300, 5, 42_370, met(40_900, read_blame()));
    let counters = counters(&mut bench);
    assert_eq!(counters.paired_reads, pairing([12, 4, 7, 1, 0]));
    assert_eq!(counters.paired_writes, pairing([12, 0, 12, 0, 0]));

    let mut bench = Bench::with(&paired(4), &[LOW, CALM, CALM, CALM]);
    bench.read(0, 1, 48, 1).write(100, 2, 3, 1).write(100, 3, 1, 1).write(100, 4, 2, 1).write(100, 5, 5, 1);
    // Bus until 2,500, then all four planes until 7,500.
    bench.advance(7_499);
    assert!((2..=5).all(|token| bench.find(token).is_none()));
    bench.advance(7_500);
    assert!((2..=4).all(|token| bench.find(token).is_some_and(|done| done.finish.0 == 7_500)));
    assert_eq!(bench.find(5), None, "the second of plane 1 goes with the second page");
}

#[test]
fn every_plane_opens_a_block_when_an_event_begins_and_uses_the_older_one_up_afterwards() {
    let older = [&CALM[..16], &[8]].concat();
    let mut bench = Bench::with(&paired(2), &[LOW, &older]);
    let next = |bench: &Bench| {
        let ftl = bench.device.ftl();
        (ftl.next_gc_page(0), ftl.next_host_page(1), [ftl.free_blocks(0), ftl.free_blocks(1)])
    };
    assert_eq!(next(&bench), (Some((6, 1)), Some((4, 1)), [2, 4]));
    bench.read(0, 1, 24, 1);
    assert_eq!(next(&bench), (Some((7, 0)), Some((5, 0)), [2, 4]), "from offset 0 on in both");
    bench.advance(66_399);
    assert_eq!(next(&bench).1, Some((5, 0)));
    bench.advance(66_400);
    assert_eq!(next(&bench), (Some((6, 1)), Some((4, 1)), [3, 4]), "the older ones, and 7 is full");

    // Four writes to plane 0 open its next block: it is low again, and the read behind them begins an event.
    for write in 0..4 {
        bench.write(100_000 + 10_000 * write, 2 + write as u32, 20 + 2 * write, 1);
    }
    bench.read(140_000, 9, 24, 1);
    assert_eq!(bench.device.ftl().free_blocks(0), 2, "opens another, the older one counts as free");
    assert_eq!(bench.device.ftl().free_blocks(1), 4, "has two open ones already");
    assert_eq!(bench.device.ftl().next_host_page(1), Some((5, 0)), "of which the emptier goes on");
}

/// Another die keeps the bus they share busy all the time.
#[test]
fn a_collection_alone_uses_one_plane_of_its_die_exactly() {
    for planes in [2, 4] {
        let mut config = crate::bench::planes(planes);
        config.geometry.own_pins = false;
        config.geometry.chips_per_channel = 2;
        let mut written = vec![CALM; 2 * planes as usize];
        written[0] = LOW;
        let mut bench = Bench::with(&config, &written);
        // Even pages are die 0's.
        bench.read(0, 0, 24 * u64::from(planes), 1);
        for read in 1..200 {
            bench.read(u64::from(read) * 150, read, 1 + 2 * u64::from(read % 16), 1);
        }
        let events = bench.collected();
        assert_eq!(events.len(), 1);
        let (counters, busy) = (bench.device.counters(), events[0].1 - events[0].0);
        assert!(busy > 33_200, "moves waited for the bus");
        assert_eq!((counters.gc_busy, counters.gc_plane_busy), (SimDuration(busy), SimDuration(busy)));
    }
}
