//! A map that lies on flash: who waits for which of its pages, what leaves the cache, and what is written? Literal nanoseconds, closed
//! forms, and a drive that holds the whole map.
//!
//! ```text
//! array read 1,000   page out 300   page in 300   program 5,000   link 70      an entry takes 1,024 bytes: 4 in a page of the map
//!
//! two dies: page p at die p mod 2; page m of the map has the entries of pages 4 m to 4 m + 3, and lies at die m mod 2
//! ```

use crate::bench::*;
use crate::random::pick;
use crate::units::four;
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, NoProbe, any};
use harmonia_ssd::{
    Allocation, Amount, Device, Drain, Ftl, Scale, SsdConfig, SubCompletion, SubRequest, Superblock,
    WriteCacheConfig,
};
use harmonia_types::{Blame, DeviceCounters, IoCause, MappingCacheCounters, Operation, SimDuration, SimTime};

const READ: u64 = 1_300;
const PROGRAM: u64 = 5_300;
const ACK: u64 = 10;

/// Memory holds so many pages of the map.
pub(crate) fn mapped(mut config: SsdConfig, pages: u64) -> SsdConfig {
    config.ftl.mapping_entry = 1_024;
    config.ftl.mapping_cache = Some(pages * PAGE);
    config
}

pub(crate) fn cached(config: SsdConfig, pages: u64) -> SsdConfig {
    let write_cache =
        WriteCacheConfig { size: Some(pages * PAGE), ack: SimDuration(ACK), ..WriteCacheConfig::default() };
    SsdConfig { write_cache, ..config }
}

/// Every page was written, and the map after that.
pub(crate) fn full(config: &SsdConfig) -> Bench {
    let shape = config.resolve().expect("feasible");
    let all: Vec<u32> = (0..shape.map_pages().end).collect();
    let units = vec![&*all; shape.units() as usize];
    Bench::with(config, &units)
}

fn counted(bench: &Bench) -> MappingCacheCounters {
    bench.device.counters().mapping_cache
}

fn asked(bench: &Bench) -> (u64, u64) {
    let MappingCacheCounters { hits, misses, .. } = counted(bench);
    (hits, misses)
}

/// Programs of the map since the bench was made: what it wrote before counts as the host's.
fn map_programs(bench: &Bench) -> u64 {
    bench.device.counters().programmed(IoCause::Map)
}

fn waited(map_wait: u64, blame: Blame) -> Blame {
    Blame { map_wait, ..blame }
}

#[test]
fn a_read_whose_map_page_is_absent_waits_for_it() {
    let mut bench = full(&mapped(one_die(), 2));
    bench.read(0, 1, 0, 1).known_at(2 * READ, 1, 2 * READ + LINK, waited(READ, read_blame()));
    assert_eq!((asked(&bench), counted(&bench).read_pages), ((0, 1), 1));
    assert_eq!(bench.device.counters().host_pages_read, 1, "a read of the map is none of the host's");
    // It is there now, for all pages of which it has entries.
    bench.read(10_000, 2, 3, 1).known_at(10_000 + READ, 2, 10_000 + READ + LINK, read_blame());
    assert_eq!((asked(&bench), counted(&bench).read_pages), ((1, 1), 1));
}

#[test]
fn all_that_need_a_map_page_wait_for_one_read_of_it() {
    let mut bench = full(&mapped(one_die(), 2));
    bench.read(0, 1, 0, 1).read(500, 2, 1, 1);
    bench.known_at(2 * READ, 1, 2 * READ + LINK, waited(READ, read_blame()));
    let second = Blame { queue_host: READ, ..read_blame() };
    bench.known_at(3 * READ, 2, 3 * READ + LINK, waited(READ - 500, second));
    assert_eq!((asked(&bench), counted(&bench).read_pages), ((0, 2), 1));
}

/// Pages 1 and 9 lie at die 1, and their pages of the map at die 0, which reads one after the other.
#[test]
fn a_map_page_is_read_at_its_own_die() {
    let mut bench = full(&mapped(two_dies(), 4));
    bench.read(0, 1, 9, 1).read(0, 2, 1, 1);
    bench.known_at(2 * READ, 1, 2 * READ + LINK, waited(READ, read_blame()));
    let second = 3 * READ;
    bench.known_at(second, 2, second + LINK, waited(2 * READ, read_blame()));
}

#[test]
fn the_least_recently_used_map_page_leaves() {
    let mut bench = full(&mapped(one_die(), 2));
    // Map pages 0, 1, 0 again, 2 instead of 1, 0 is still there, 1 is not.
    let expected = [(0, 0, 1), (4, 0, 2), (1, 1, 2), (8, 1, 3), (2, 2, 3), (5, 2, 4), (9, 2, 5), (6, 3, 5)];
    for (turn, (page, hits, misses)) in (0..).zip(expected) {
        bench.read(turn * 10_000, turn as u32, page, 1).advance(turn * 10_000 + 9_999);
        assert_eq!(asked(&bench), (hits, misses), "read of page {page}");
    }
    assert_eq!((counted(&bench).read_pages, counted(&bench).written_pages), (5, 0), "nothing has changed");
}

/// Memory holds one page of the map. A write changes it, so it is written before the next one is read.
#[test]
fn a_changed_map_page_is_written_before_its_place_is_given_away() {
    let mut bench = full(&mapped(one_die(), 1));
    let blame = waited(READ - LINK, write_blame());
    bench.write(0, 1, 0, 1).known_at(READ + PROGRAM, 1, READ + PROGRAM, blame);
    assert_eq!((counted(&bench).written_pages, map_programs(&bench)), (0, 0));
    let there = 10_000 + PROGRAM + READ;
    bench.read(10_000, 2, 4, 1);
    bench.known_at(there + READ, 2, there + READ + LINK, waited(PROGRAM + READ, read_blame()));
    assert_eq!((counted(&bench).written_pages, map_programs(&bench)), (1, 1));
    // That one was only read.
    bench.read(30_000, 3, 8, 1).known_at(
        30_000 + 2 * READ,
        3,
        30_000 + 2 * READ + LINK,
        waited(READ, read_blame()),
    );
    assert_eq!(map_programs(&bench), 1);
}

/// What is asked for while it is written stays, and another page leaves instead.
#[test]
fn a_map_page_that_is_used_while_it_is_written_stays() {
    let mut bench = full(&mapped(two_dies(), 2));
    // Map pages 0, at die 0, and 1, at die 1; 0 is changed, and used least recently.
    bench.write(0, 1, 0, 1).read(10_000, 2, 4, 1).read(20_000, 3, 8, 1);
    bench.read(21_000, 4, 1, 1).advance(21_000 + READ);
    assert_eq!(bench.find(4).expect("it was there").blame, read_blame());
    // Page 1 of the map leaves at once when page 0 has been written.
    let there = 20_000 + PROGRAM + READ;
    bench.known_at(there + READ, 3, there + READ + LINK, waited(PROGRAM + READ, read_blame()));
    assert_eq!(asked(&bench), (1, 3));
    bench.read(40_000, 5, 2, 1).advance(50_000);
    assert_eq!(asked(&bench), (2, 3), "page 0 of the map has stayed");
    bench.read(50_000, 6, 4, 1).advance(60_000);
    assert_eq!(asked(&bench), (2, 4), "and page 1 has left");
}

#[test]
fn a_trim_changes_an_entry_and_a_page_that_was_never_written_costs_the_map_and_the_link() {
    let mut bench = full(&mapped(one_die(), 1));
    bench.submit(0, sub(1, Operation::Trim, 0, 1)).known_at(READ, 1, READ, waited(READ, Blame::default()));
    bench.read(10_000, 2, 0, 1);
    bench.known_by(10_000, 2, 10_000 + LINK, Blame { link: LINK, ..Blame::default() });
    bench.read(20_000, 3, 4, 1).advance(30_000);
    assert_eq!(map_programs(&bench), 1, "the trim had changed it");
    let nothing = Blame { link: LINK, ..Blame::default() };
    bench.read(30_000, 4, 0, 1);
    bench.known_at(30_000 + READ, 4, 30_000 + READ + LINK, waited(READ, nothing));
}

/// A drive on which nothing is has no map to read.
#[test]
fn map_pages_that_were_never_written_need_no_read() {
    let mut bench = Bench::empty(&mapped(one_die(), 2));
    bench.write(0, 1, 0, 1).known_at(LINK + PROGRAM, 1, LINK + PROGRAM, write_blame());
    bench.read(10_000, 2, 4, 1).known_by(10_000, 2, 10_000 + LINK, Blame { link: LINK, ..Blame::default() });
    assert_eq!((asked(&bench), counted(&bench).read_pages), ((0, 2), 0));
    // The first one leaves, and the others are read from then on.
    bench.read(20_000, 3, 8, 1).advance(30_000);
    assert_eq!((counted(&bench).written_pages, counted(&bench).read_pages), (1, 0));
    bench.read(30_000, 4, 0, 1).advance(40_000);
    assert_eq!(counted(&bench).read_pages, 1);
}

/// The program does not wait for the map page, which the same die reads after it. The slot is kept until then, and the next write waits.
#[test]
fn a_slot_of_the_write_cache_is_kept_until_its_entry_is_changed() {
    let mut bench = full(&cached(mapped(one_die(), 1), 1));
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1);
    bench.known_by(LINK, 1, LINK + ACK, Blame { service: ACK, link: LINK, ..Blame::default() });
    let (programmed, free) = (LINK + PROGRAM, LINK + PROGRAM + READ);
    let blame = Blame {
        service: ACK,
        link: 2 * LINK,
        cache_wait: programmed - 2 * LINK,
        map_wait: READ,
        ..Blame::default()
    };
    bench.known_at(free, 2, free + ACK, blame);
    assert_eq!(asked(&bench), (1, 1), "the second page has its entry in the same page of the map");
}

/// A trim waits for the map no more than a program does, so that no later write of its page overtakes it.
#[test]
fn a_trim_behind_a_write_cache_stands_before_later_writes_of_its_page() {
    let mut bench = full(&cached(mapped(one_die(), 1), 2));
    bench.submit(0, sub(1, Operation::Trim, 0, 1)).write(10, 2, 0, 1).advance(50_000);
    let before = bench.device.counters().host_pages_read;
    bench.read(60_000, 3, 0, 1).advance(100_000);
    assert_eq!(bench.device.counters().host_pages_read, before + 1, "what was written last is there");
}

/// Two dies: the map page is read beside the program, and costs nobody anything.
#[test]
fn the_map_is_read_beside_a_program_from_the_write_cache() {
    let mut bench = full(&cached(mapped(two_dies(), 1), 1));
    bench.write(0, 1, 1, 1).write(0, 2, 3, 1);
    let free = LINK + PROGRAM;
    let cache_wait = free - 2 * LINK;
    let blame = Blame { service: ACK, link: 2 * LINK, cache_wait, ..Blame::default() };
    bench.known_at(free, 2, free + ACK, blame);
}

/// Four units in a program: other changed pages of the map go along with the one that leaves, and the rest is padding.
#[test]
fn one_program_carries_the_changed_map_pages_of_a_unit() {
    let mut config = mapped(four(), 3);
    config.ftl.reserved_blocks = Amount::Blocks(8);
    config.geometry.blocks_per_plane = 14;
    let mut bench = full(&config);
    for (turn, page) in [0, 4, 8].into_iter().enumerate() {
        bench.write(turn as u64 * 20_000, turn as u32, page, 1);
    }
    bench.advance(60_000);
    assert_eq!(map_programs(&bench), 0);
    bench.read(60_000, 9, 12, 1).advance(80_000);
    // Page 0 of the map leaves, pages 1 and 2 are written with it.
    assert_eq!((counted(&bench).written_pages, map_programs(&bench)), (3, 4));
    assert_eq!(bench.device.counters().padding[IoCause::Map as usize], PAGE);
    bench.read(80_000, 10, 4, 1).advance(90_000);
    assert_eq!(asked(&bench), (1, 4), "they have stayed");
    bench.read(90_000, 11, 0, 1).read(100_000, 12, 16, 1).advance(120_000);
    assert_eq!(map_programs(&bench), 4, "and are as on flash");
}

/// What is live in a victim has entries in absent pages of the map: they are read, and written when they leave.
#[test]
fn collection_changes_the_map() {
    let mut bench = full(&mapped(one_die(), 1));
    let before = bench.device.counters();
    for (turn, page) in (0..12).map(|turn| turn * 5 % 16).enumerate() {
        bench.write(turn as u64 * 200_000, turn as u32, page, 1);
    }
    bench.advance(10_000_000);
    let counters = bench.device.counters();
    let moved = counters.programmed(IoCause::Gc) - before.programmed(IoCause::Gc);
    let counted = counted(&bench);
    assert!(moved > 0 && counted.pages_for_gc > 0, "{moved} pages moved, {counted:?}");
    assert!(counted.pages_for_gc <= moved, "each once, however many entries of it change: {counted:?}");
    assert_eq!(map_programs(&bench), counted.written_pages);
    assert!(bench.device.is_quiet());
}

/// Both dies collect when the read comes. Its page of the map waits for that at die 1, and it goes on after that.
#[test]
fn collection_at_the_die_of_the_map_page_is_waiting_for_collection() {
    let config = mapped(two_dies(), 1);
    let all: Vec<u32> = (0..20).chain([0, 1, 4, 5]).collect();
    let mut bench = Bench::with(&config, &[&all, &all]);
    bench.force(0).read(1, 1, 4, 1);
    let end = bench.collected().last().expect("it collects").1;
    let blame = Blame { queue_gc: end - 1, ..waited(READ, read_blame()) };
    let done = bench.known_by(end + 2 * READ, 1, end + 2 * READ + LINK, blame);
    assert!(done.met_gc);
    // One that comes while the page of the map is read has met no collection.
    let mut bench = Bench::with(&config, &[&all, &all]);
    bench.force(0).read(1, 1, 4, 1).read(end + 100, 2, 6, 1).collected();
    let done = bench.find(2).expect("it is answered");
    assert_eq!((done.blame.queue_gc, done.blame.map_wait, done.met_gc), (0, READ - 100, false));
}

/// The die collects; the program of page 4, which is alone there, is over before. Its slot is kept until the page of the map has been
/// read at the other die, which collects as well, so the next write waits for collection.
#[test]
fn a_slot_that_is_kept_while_the_die_of_the_map_page_collects_waits_for_collection() {
    let config = cached(mapped(two_dies(), 1), 1);
    let all: Vec<u32> = (0..20).chain([0, 1, 4, 5]).collect();
    let first: Vec<u32> = (0..20).collect();
    let mut bench = Bench::with(&config, &[&first, &all]);
    // Die 0 has nothing to collect. Page 4 lies there, and its page of the map at die 1.
    bench.force(0).write(1, 1, 4, 1).write(2, 2, 6, 1);
    let end = bench.collected().last().expect("die 1 collects").1;
    let programmed = 1 + LINK + PROGRAM;
    assert!(programmed < end, "{end}");
    let blame = Blame {
        service: ACK,
        link: 2 * LINK - 1,
        cache_wait: programmed - (1 + 2 * LINK),
        queue_gc: end - programmed,
        map_wait: READ,
        ..Blame::default()
    };
    let done = bench.known_by(end + READ + PROGRAM, 2, end + READ + ACK, blame);
    assert!(done.met_gc);
}

/// Nothing that waits for the map is answered after a loss of power, and the map is read anew.
#[test]
fn a_loss_of_power_takes_what_waits_for_the_map_and_the_cache() {
    let mut bench = full(&mapped(one_die(), 2));
    bench.read(0, 1, 0, 1).read(100, 2, 4, 1).advance(500);
    bench.device.lose_power(SimTime(500));
    bench.advance(50_000);
    assert_eq!((bench.find(1), bench.find(2)), (None, None));
    assert!(bench.device.is_quiet());
    bench.read(50_000, 3, 0, 1);
    bench.known_at(50_000 + 2 * READ, 3, 50_000 + 2 * READ + LINK, waited(READ, read_blame()));
    // A slot whose program has ended is free.
    let mut bench = full(&cached(mapped(one_die(), 1), 1));
    bench.write(0, 1, 0, 1).advance(LINK + PROGRAM + 10);
    bench.device.lose_power(SimTime(LINK + PROGRAM + 10));
    bench.advance(20_000);
    assert!(bench.device.is_quiet());
    bench.write(20_000, 2, 1, 1).known_by(20_000 + LINK, 2, 20_000 + LINK + ACK, {
        Blame { service: ACK, link: LINK, ..Blame::default() }
    });
}

#[test]
fn a_read_that_fails_fast_is_refused_for_its_own_die_and_not_for_the_map() {
    let fast = |token, page| SubRequest { fast_fail: true, ..sub(token, Operation::Read, page, 1) };
    // Die 1 collects; page 0 lies at die 0, and its page of the map, too.
    let config = mapped(two_dies(), 1);
    let all: Vec<u32> = (0..20).collect();
    let mut bench = Bench::with(&config, &[&all, &all]);
    bench.submit(0, fast(1, 0)).known_at(2 * READ, 1, 2 * READ + LINK, waited(READ, read_blame()));
    // Page 4 lies at die 0, its page of the map at die 1. That collects when the map is asked for: the read waits.
    for page in 0..40 {
        bench.write(10_000 + page * 40_000, 100 + page as u32, (page * 2 + 1) % 32, 1);
    }
    let now = 10_000 + 41 * 40_000;
    bench.advance(now);
    assert!(bench.device.refusals().is_empty());
    bench.force(now);
    if bench.device.collecting_dies().any(|die| die == 1) {
        bench.submit(now, fast(2, 4)).advance(now + 200_000);
        assert!(bench.device.refusals().is_empty(), "its own die does not collect");
        assert!(bench.find(2).is_some());
    }
}

/// A drive of so many pages of the map, in whose frames so many are.
fn large(frames: u64) -> SsdConfig {
    let mut config = mapped(two_dies(), frames);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (64, 64);
    config.ftl.reserved_blocks = Amount::Blocks(16);
    config.ftl.mapping_entry = 512;
    config
}

/// Reads of single pages, one after the other.
fn read_one_by_one(bench: &mut Bench, pages: impl Iterator<Item = u64>) {
    for (token, page) in (0..).zip(pages) {
        let now = bench.device.last_activity().0;
        bench.read(now, token, page, 1);
        while bench.device.next_wakeup() != SimTime::NEVER {
            bench.advance(bench.device.next_wakeup().0);
        }
        bench.known.clear();
    }
}

/// The device without the checks, which look at every page of the map after every event.
fn fast(config: &SsdConfig) -> Bench {
    let mut bench = full(config);
    bench.device = Device::new(config, bench.device.ftl().clone(), any(NoProbe)).expect("feasible");
    bench
}

#[test]
#[ignore = "long: make simulations"]
fn uniform_reads_find_the_share_of_the_map_that_memory_holds() {
    for frames in [48_u64, 192, 576] {
        let config = large(frames);
        let pages = u64::from(config.resolve().expect("feasible").logical_pages);
        let (map, reads) = (pages / 8, 150_000);
        let mut bench = fast(&config);
        let mut rng = Rng::stream(frames, "uniform");
        // Once over all, so that the cache is full.
        read_one_by_one(&mut bench, 0..pages);
        let before = asked(&bench);
        read_one_by_one(&mut bench, (0..reads).map(|_| rng.below(pages)));
        let (hits, misses) = asked(&bench);
        let ratio = (hits - before.0) as f64 / (hits + misses - before.0 - before.1) as f64;
        let expected = frames as f64 / map as f64;
        eprintln!("{frames} of {map} pages of the map: {ratio:.4} hits, {expected:.4} expected");
        assert!((ratio - expected).abs() < 0.01 * expected.max(0.2), "{ratio} and not {expected}");
    }
}

#[test]
fn sequential_reads_miss_once_a_map_page() {
    let config = large(2);
    let pages = u64::from(config.resolve().expect("feasible").logical_pages);
    let mut bench = fast(&config);
    read_one_by_one(&mut bench, 0..pages);
    assert_eq!(asked(&bench), (pages - pages / 8, pages / 8));
    assert_eq!(counted(&bench).read_pages, pages / 8);
}

/// What a device answers to random requests, and what it has counted but for its mapping cache.
fn run(config: &SsdConfig, seed: u64) -> (Vec<SubCompletion>, DeviceCounters) {
    let mut rng = Rng::stream(seed, "mapping/load");
    let mut ftl = Ftl::new(config, 1, "device").expect("feasible");
    let shape = ftl.shape().clone();
    for (unit, lpn) in (0..shape.units()).flat_map(|unit| (0..shape.unit_pages).map(move |lpn| (unit, lpn))) {
        ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
    }
    let mut device: Device<AnyProbe> = Device::new(config, ftl, any(AuditProbe)).expect("feasible");
    let (mut now, mut done) = (SimTime::ZERO, Vec::new());
    // All of the map comes into memory, as far as it has room.
    for page in (0..u64::from(shape.logical_pages)).step_by(4) {
        device.submit(now, sub(1_000 + page as u32, Operation::Read, page, 1)).expect("room");
    }
    for token in 0..600 {
        now += SimDuration(rng.below(4_000));
        device.advance_until(now, false).expect("room");
        if rng.chance(0.02) {
            device.direct(now, Directive::Force(Stop::Internal));
        }
        let operation = pick(
            &mut rng,
            &[Operation::Read, Operation::Write, Operation::Write, Operation::Trim, Operation::Flush],
        );
        let page = rng.below(u64::from(shape.logical_pages) - 2);
        let fast_fail = operation == Operation::Read && rng.chance(0.5);
        device
            .submit(now, SubRequest { fast_fail, ..sub(token, operation, page, 1 + rng.below(3)) })
            .expect("room");
    }
    device.advance_until(SimTime(u64::MAX / 2), false).expect("room");
    done.append(device.completions());
    let counters = DeviceCounters { mapping_cache: MappingCacheCounters::default(), ..device.counters() };
    (done, counters)
}

#[test]
fn a_cache_as_large_as_the_map_is_none() {
    let mut spared = two_dies();
    spared.geometry.blocks_per_plane = 10;
    spared.ftl.reserved_blocks = Amount::Blocks(6);
    let drives = [spared.clone(), cached(spared.clone(), 6)];
    for (seed, config) in (0..).zip(drives.iter().cycle().take(12)) {
        let map = config.resolve().expect("feasible").logical_pages / 4;
        let whole = run(&mapped(config.clone(), map.into()), seed);
        assert_eq!(run(config, seed), whole, "seed {seed}");
        assert!(run(&mapped(config.clone(), 1), seed) != whole, "seed {seed}: a small cache costs something");
    }
}

#[test]
fn what_does_not_go_together_is_refused_with_both_keys() {
    let refused = |change: &dyn Fn(&mut SsdConfig)| {
        let mut config = mapped(two_dies(), 2);
        change(&mut config);
        config.resolve().expect_err("it does not go together").to_string()
    };
    for (change, says) in [
        (&|config: &mut SsdConfig| config.ftl.mapping_cache = Some(PAGE - 1) as _, "4096B works"),
        (&|config: &mut SsdConfig| config.ftl.allocation = Allocation::Dynamic, "ssd.ftl.allocation"),
        (&|config: &mut SsdConfig| config.ftl.superblock = Superblock::Drive, "ssd.ftl.superblock"),
    ] as [(&dyn Fn(&mut SsdConfig), &str); 3]
    {
        let why = refused(change);
        assert!(why.starts_with("ssd.ftl.mapping_cache: ") && why.contains(says), "{why}");
    }
    let why = refused(&|config| config.ftl.mapping_entry = PAGE as u32 + 1);
    assert!(why.starts_with("ssd.ftl.mapping_entry: ") && why.contains("1 to 4096 bytes"), "{why}");
    let mut config = mapped(four(), 2);
    (config.geometry.planes_per_die, config.geometry.program_planes) = (2, 2);
    config.write_cache =
        WriteCacheConfig { drain: Drain::Partial, size: Some(64 * PAGE), ..Default::default() };
    config.ftl.reserved_blocks = Amount::Blocks(6);
    let why = config.resolve().expect_err("it drains in part").to_string();
    assert!(why.contains("ssd.write_cache.drain"), "{why}");
    // Pages of the map take spare: a block of it.
    let mut config = mapped(one_die(), 1);
    config.ftl.reserved_blocks = Amount::Blocks(3);
    let why = config.resolve().expect_err("too little spare").to_string();
    assert!(why.contains("ssd.ftl.mapping_cache") && why.contains("at least 5 spare blocks"), "{why}");
}

/// A part of a drive holds the same share of its map.
#[test]
fn a_scaled_drive_keeps_the_share_of_its_map() {
    let mut config = large(768 / 4);
    config.geometry.blocks_per_plane = 1_024;
    config.ftl.reserved_blocks = Amount::Blocks(256);
    let full = config.resolve().expect("feasible");
    let of = |shape: &harmonia_ssd::Shape, config: &SsdConfig| {
        config.ftl.mapping_cache.expect("a size") as f64 / PAGE as f64 / f64::from(shape.logical_pages / 8)
    };
    let part = SsdConfig { scale: Scale::one_in(8), ..config.clone() }.scaled().expect("it is large enough");
    let shape = part.resolve().expect("feasible");
    assert!((of(&shape, &part) / of(&full, &config) - 1.0).abs() < 0.05, "{:?}", part.ftl.mapping_cache);
    assert!(!shape.map_pages().is_empty());
    // What holds all of it goes on to do so.
    config.ftl.mapping_cache = Some(u64::from(full.logical_pages) / 8 * PAGE);
    let part = SsdConfig { scale: Scale::one_in(8), ..config.clone() }.scaled().expect("it is large enough");
    assert!(part.resolve().expect("feasible").map_pages().is_empty());
}
