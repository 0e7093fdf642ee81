//! Do placement policies keep apart what they say they keep apart, and is that worth what theory says?
//!
//! Write amplification is measured on the bare mapping state, without time. Greedy takes the block with the fewest valid pages, whichever
//! frontier wrote it. So blocks of all streams are collected at the same number of valid pages. Under uniform writes this number follows
//! from blocks per logical page, one to one. So the share of the spare that a stream gets is that of its logical pages, however
//! often it is written, and each stream has the write amplification of a drive of its own with that share. A stream that is never written
//! is never collected, and takes no spare at all.

use std::collections::BTreeMap;

use harmonia_engine::Rng;
use harmonia_ssd::gc::victim::{self, NoReads};
use harmonia_ssd::probe::{FlashPage, NoProbe, Origin, Probe, any, probe_as};
use harmonia_ssd::{
    Amount, Device, Frontiers, Ftl, Goal, LastProgram, PolicyConfig, SsdConfig, SubRequest, WriteCacheConfig,
};
use harmonia_types::{IoCause, Lpn, Operation, SimTime};

use crate::bench::{Bench, PAGE, one_die, sub};

const PAGES: u32 = 32;

/// One unit of so many blocks with so many logical ones.
fn unit(blocks: u32, logical: u32, hard: u32, placement: PolicyConfig) -> SsdConfig {
    let mut config = one_die();
    config.geometry.blocks_per_plane = blocks;
    config.geometry.pages_per_block = PAGES;
    config.ftl.reserved_blocks = Amount::Blocks(blocks - logical);
    config.ftl.frontiers = Frontiers::Separate;
    config.ftl.placement = placement;
    config.gc.hard_threshold = Amount::Blocks(hard);
    config
}

fn streams(handles: u32, isolation: &str) -> PolicyConfig {
    PolicyConfig::named("streams").with("handles", handles).with("isolation", isolation)
}

/// Write amplification by handle, and of all, of the second half of so many writes.
fn amplification(
    config: &SsdConfig,
    handle_of: impl Fn(u32) -> u16,
    writes: u32,
    mut draw: impl FnMut() -> u32,
) -> (Vec<f64>, f64) {
    let mut ftl = Ftl::new(config, 1, "device").expect("it works");
    let victim = victim::build(&config.gc.victim).expect("a policy");
    let goal = Goal { stop: ftl.shape().stop, min_victims: 1 };
    let (hard, pages) = (ftl.shape().hard, ftl.shape().logical_pages);
    let write = |ftl: &mut Ftl, lpn: u32| {
        if ftl.free_blocks(0) <= hard {
            ftl.unit(0).collect(goal, &*victim, &NoReads, SimTime::ZERO, &mut NoProbe).expect("room");
        }
        ftl.program_with((0, lpn), handle_of(lpn), IoCause::Host, &mut NoProbe).expect("room");
    };
    (0..pages).for_each(|lpn| write(&mut ftl, lpn));
    (0..writes / 2).for_each(|_| write(&mut ftl, draw()));
    let (then, programs) = (ftl.streams(), ftl.tally().data_programs());
    (0..writes / 2).for_each(|_| write(&mut ftl, draw()));
    ftl.audit();
    let by_handle = ftl.streams().into_iter().zip(then).map(|(now, then)| {
        let (written, moved) = (now.written_pages - then.written_pages, now.moved_pages - then.moved_pages);
        (written + moved) as f64 / written as f64
    });
    let all = (ftl.tally().data_programs() - programs) as f64 / f64::from(writes / 2);
    (by_handle.collect(), all)
}

/// A drive that is written uniformly, with so many pages in a block.
fn uniform(blocks: u32, logical: u32, hard: u32, pages: u32) -> f64 {
    let mut config = unit(blocks, logical, hard, "frontiers".into());
    config.geometry.pages_per_block = pages;
    let (mut rng, pages) = (Rng::stream(3, "uniform"), logical * pages);
    amplification(&config, |_| 0, 20 * pages, || rng.below(pages.into()) as u32).1
}

fn within(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found}, expected {expected}");
}

#[test]
fn streams_that_stay_apart_are_drives_with_their_share_of_the_spare() {
    // 3,200 logical blocks of 4,000: streams have 800, 800 and 1,600 of them and are written in the ratio 1 : 4 : 2. Blocks are long
    // and many, because of blocks with as many valid pages the least worn goes first: those of a stream that is written often lose up to
    // a page more.
    let pages = 128;
    let mut config = unit(4_000, 3_200, 5, streams(3, "persistent"));
    config.geometry.pages_per_block = pages;
    let starts = [0, 800 * pages, 1_600 * pages, 3_200 * pages];
    let handle_of = |lpn: u32| starts.iter().filter(|&&start| start <= lpn).count() as u16;
    let mut rng = Rng::stream(1, "streams");
    let draw = || {
        let stream = [0, 1, 1, 1, 1, 2, 2][rng.below(7) as usize];
        starts[stream] + rng.below(u64::from(starts[stream + 1] - starts[stream])) as u32
    };
    let (by_handle, _) = amplification(&config, handle_of, 20 * 3_200 * pages, draw);
    let (quarter, half) = (uniform(1_000, 800, 1, pages), uniform(2_000, 1_600, 2, pages));
    for (handle, alone) in [(1, quarter), (2, quarter), (3, half)] {
        within(by_handle[handle], alone, 0.01, &format!("handle {handle}"));
    }
}

/// 1,600 logical blocks of 2,000. One half of the data is hot and gets three quarters of the writes; the other half is rewritten, too. Both are
/// collected at the same number of valid pages, so hot data gets half of the spare, and all that is written is
///
/// ```text
/// 3/4 x (a drive of 800 logical blocks of 1,000) + 1/4 x (the same)
/// ```
#[test]
fn hot_and_cold_data_that_are_apart_are_two_drives_with_their_shares_of_the_spare() {
    let pages = 128;
    let mut config = unit(2_000, 1_600, 3, streams(2, "persistent"));
    config.geometry.pages_per_block = pages;
    let half = 800 * pages;
    let mut rng = Rng::stream(1, "hot and cold");
    let draw = || rng.below(u64::from(half)) as u32 + if rng.chance(0.75) { 0 } else { half };
    let handle_of = |lpn: u32| if lpn < half { 1 } else { 2 };
    let (by_handle, found) = amplification(&config, handle_of, 20 * 2 * half, draw);
    let alone = uniform(1_000, 800, 1, pages);
    within(found, alone, 0.01, "both");
    within(by_handle[1], alone, 0.01, "hot");
    within(by_handle[2], alone, 0.01, "cold");
}

#[test]
fn cold_data_that_is_apart_leaves_all_spare_to_the_hot() {
    // 400 blocks of cold data that is never written again, 400 of hot, 100 spare.
    let config = unit(900, 800, 2, streams(2, "persistent"));
    let cold = 400 * PAGES;
    let mut rng = Rng::stream(1, "hot");
    let handle_of = |lpn| if lpn < cold { 1 } else { 2 };
    let draw = || cold + rng.below(u64::from(cold)) as u32;
    let (by_handle, all) = amplification(&config, handle_of, 20 * cold, draw);
    within(all, uniform(500, 400, 2, PAGES), 0.01, "hot");
    within(by_handle[2], all, 0.001, "all that is written");
}

#[test]
fn streams_that_collection_mixes_lie_between() {
    let cold = 400 * PAGES;
    let handle_of = |lpn| if lpn < cold { 1 } else { 2 };
    let of = |placement: PolicyConfig| {
        let mut rng = Rng::stream(1, "mixed");
        // One write of ten is for the cold half.
        let draw = || rng.below(u64::from(cold)) as u32 + if rng.chance(0.1) { 0 } else { cold };
        amplification(&unit(900, 800, 2, placement), handle_of, 30 * cold, draw).1
    };
    let mut shared = unit(900, 800, 2, "frontiers".into());
    shared.ftl.frontiers = Frontiers::Shared;
    let mut rng = Rng::stream(1, "mixed");
    let draw = || rng.below(u64::from(cold)) as u32 + if rng.chance(0.1) { 0 } else { cold };
    let shared = amplification(&shared, |_| 0, 30 * cold, draw).1;
    let (initial, persistent) = (of(streams(2, "initial")), of(streams(2, "persistent")));
    assert!(initial < shared && persistent < shared, "{initial}, {persistent}, mixed {shared}");
}

/// Under a Zipf load each policy writes less than one frontier does; three seeds.
#[test]
fn separation_lowers_write_amplification_under_zipf() {
    let logical = 400;
    let pages = logical * PAGES;
    for seed in 1..=3 {
        let of = |config: &SsdConfig| {
            let mut rng = Rng::stream(seed, "zipf");
            let sums: Vec<f64> = (1..=pages)
                .scan(0.0, |sum, rank| {
                    *sum += 1.0 / f64::from(rank);
                    Some(*sum)
                })
                .collect();
            let last = sums.last().copied().unwrap_or_default();
            // Neighbours in popularity are no neighbours in space.
            let draw = || {
                let drawn = rng.unit() * last;
                let rank = sums.partition_point(|&sum| sum < drawn) as u64;
                (rank * 7_919 % u64::from(pages)) as u32
            };
            amplification(config, |_| 0, 20 * pages, draw).1
        };
        let mut shared = unit(500, logical, 4, "frontiers".into());
        shared.ftl.frontiers = Frontiers::Shared;
        let shared = of(&shared);
        for name in ["frontiers", "sepbit", "dac", "mida"] {
            let found = of(&unit(500, logical, 4, name.into()));
            assert!(found < shared, "seed {seed}: {name} {found}, shared {shared}");
        }
    }
}

/// Which handle wrote what every page of flash holds: no block ever has pages of two.
#[derive(Debug, Default)]
struct Apart {
    page_bits: u32,
    /// Handle by token, and of the last write of each logical page.
    written: BTreeMap<u64, u16>,
    handle_of: BTreeMap<Lpn, u16>,
    blocks: BTreeMap<(u32, u32), u16>,
    moved: u64,
}

impl Apart {
    fn lies(&mut self, page: FlashPage, handle: u16) {
        let block = (page.unit, page.ppn.0 >> self.page_bits);
        let of_block = *self.blocks.entry(block).or_insert(handle);
        assert_eq!(of_block, handle, "two handles share {block:?}");
    }
}

impl Probe for Apart {
    fn audits(&self) -> bool {
        true
    }

    fn program(&mut self, to: FlashPage, lpn: Lpn, _: IoCause, origin: Option<Origin>) {
        let token = origin.map_or(0, |origin| origin.token);
        let handle = (token % 5) as u16;
        let handle = if handle > 3 { 0 } else { handle };
        self.handle_of.insert(lpn, handle);
        self.written.insert(token, handle);
        self.lies(to, handle);
    }

    fn copy(&mut self, _: FlashPage, to: FlashPage, lpn: Lpn) {
        self.moved += 1;
        self.lies(to, self.handle_of[&lpn]);
    }

    fn erase(&mut self, unit: u32, block: u32) {
        self.blocks.remove(&(unit, block));
    }
}

/// A device of two dies in which handles stay apart, with a write cache and programs of several units or without.
fn device(cache: bool, packs: Option<LastProgram>, schedule: &str) -> SsdConfig {
    let mut config = unit(40, 20, 3, streams(3, "persistent"));
    config.geometry.channels = 2;
    config.geometry.pages_per_block = 8;
    config.gc.schedule = schedule.into();
    if let Some(last) = packs {
        config.gc.last_program = last;
        config.geometry.page_size = 4 * PAGE as u32;
        config.ftl.mapping_unit = Some(PAGE as u32);
        config.timing.copyback = harmonia_flash::Copyback::None;
    }
    if cache {
        let size = Some(64 * PAGE);
        config.write_cache = WriteCacheConfig { size, ..WriteCacheConfig::default() };
    }
    config
}

#[test]
fn two_handles_never_share_a_block() {
    let cases =
        [(false, None), (true, None), (true, Some(LastProgram::Padded)), (true, Some(LastProgram::Filled))];
    for (cache, packs) in cases {
        for schedule in ["blocking", "preemptive", "stepwise"] {
            let config = device(cache, packs, schedule);
            let what = format!("cache {cache}, packs {packs:?}, {schedule}");
            let ftl = Ftl::new(&config, 1, "device").unwrap_or_else(|why| panic!("{what}: {why}"));
            let apart = Apart { page_bits: ftl.shape().page_bits, ..Apart::default() };
            let pages = u64::from(ftl.shape().logical_pages);
            let mut device = Device::new(&config, ftl, any(apart)).unwrap();
            let mut rng = Rng::stream(7, "apart");
            let mut now = SimTime::ZERO;
            for token in 0..12 * pages {
                now = SimTime(now.0 + rng.exponential(20_000.0) as u64);
                device.advance_until(now, false).unwrap();
                let operation = match rng.below(20) {
                    0 => Operation::Trim,
                    1 => Operation::Read,
                    _ => Operation::Write,
                };
                // Absorbed writes keep the handle of what they go over, so each page has one handle for ever there.
                let page = rng.below(pages);
                let token = if cache { token * 5 + page % 5 } else { token };
                let request = SubRequest { token, handle: (token % 5) as u16, ..sub(0, operation, page, 1) };
                device.submit(now, request).unwrap();
                device.completions().clear();
            }
            while device.next_wakeup() != SimTime::NEVER {
                device.advance_until(device.next_wakeup(), false).unwrap();
            }
            let counters = device.counters();
            let written: u64 = counters.streams.iter().map(|stream| stream.written_pages).sum();
            assert_eq!(written, counters.programmed(IoCause::Host) - counters.padding[0] / PAGE, "{what}");
            assert!(counters.unknown_handle_pages > 0, "{what}: handle 4 is none");
            let moved: u64 = counters.streams.iter().map(|stream| stream.moved_pages).sum();
            let apart = probe_as::<Apart>(device.probe());
            assert!(moved == apart.moved && moved > 0, "{what}: {moved} of {}", apart.moved);
        }
    }
}

/// Of 16 blocks two have 40 pages of the default handle, and 13 more may be opened until one is free. Two handles open one each at once,
/// the default one after 24 pages, and each further block takes 32.
#[test]
fn handles_that_have_no_block_bring_the_hard_threshold_nearer() {
    let pages: Vec<u32> = (0..40).collect();
    let bench = Bench::with(&unit(16, 8, 1, streams(2, "initial")), &[&pages]);
    assert_eq!(bench.device.status(SimTime::ZERO).writes_until_hard, 24 + 10 * 32);
}

/// Tables take as many bytes as is said before, whatever is noted of pages and blocks: 16 for each of 24 blocks and 4 for each of 256
/// pages, one more for a block with a frontier and for a page with a handle, and 4 more for the age of each where ages are looked at.
#[test]
fn tables_are_as_long_as_is_said() {
    for (name, bytes) in [("frontiers", 1_408), ("streams", 1_688), ("sepbit", 2_552), ("dac", 1_432)] {
        let ftl = Ftl::new(&unit(24, 8, 3, PolicyConfig::named(name)), 1, "device").unwrap();
        let mut tables = Vec::new();
        ftl.write_tables(&mut tables).unwrap();
        assert_eq!((tables.len() as u64, Ftl::table_bytes(ftl.shape())), (bytes, bytes), "{name}");
    }
}
