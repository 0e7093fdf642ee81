//! Do dies that share their blocks work at once, and is a superblock one block to all that chooses, counts and wears?
//!
//! A superblock is the block of one die that is longer by the number of its dies and planes. So the mapping state is held against
//! that of such a die, and against the closed form of it. `content` has random devices, whose flash refuses a page that is programmed
//! twice or out of order.

use harmonia_engine::Rng;
use harmonia_flash::{Copyback, PageTimes};
use harmonia_ssd::gc::schedule;
use harmonia_ssd::gc::victim::{self, NoReads};
use harmonia_ssd::probe::{AuditProbe, NoProbe, Probe, any, probe_as};
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, Destination, Device, Domain, FreeList, Frontiers, Ftl, Goal,
    PolicyConfig, Priority, SsdConfig, SubRequest, Superblock, WearConfig, WriteCacheConfig,
};
use harmonia_types::{Blame, IoCause, Operation, PlaneWork, SimDuration, SimTime};

use crate::bench::{Bench, LINK, PAGE, one_die, read_blame, sub, write_blame};
use crate::units::{exponential, four};
use crate::write_cache::programs::{Saturated, saturate};

const DATA: u32 = 50;
const BLOCKS: u32 = 64;

/// So many dies of two planes that share their blocks, with so many pages in a superblock.
pub fn drive(dies: u32, pages: u32) -> SsdConfig {
    let mut config = one_die();
    let geometry = &mut config.geometry;
    (geometry.channels, geometry.planes_per_die) = (dies, 2);
    geometry.blocks_per_plane = BLOCKS;
    geometry.pages_per_block = pages / dies / 2;
    config.ftl.reserved_blocks = Amount::Blocks(BLOCKS - DATA);
    config.ftl.superblock = Superblock::Drive;
    config
}

/// One die whose blocks are as long.
fn as_long(pages: u32) -> SsdConfig {
    let mut config = drive(1, pages);
    (config.geometry.planes_per_die, config.geometry.pages_per_block) = (1, pages);
    config.ftl.superblock = Superblock::Off;
    config
}

/// Overwrites the first unit at random, so many times its pages; pages programmed in all for each of the second half of them.
fn overwritten(config: &SsdConfig, times: u32) -> (f64, Ftl) {
    let mut ftl = Ftl::new(config, 1, "device").expect("it works");
    let (shape, victim) = (ftl.shape().clone(), victim::build(&config.gc.victim).expect("a policy"));
    let mut rng = Rng::stream(7, "superblocks");
    let goal = Goal { stop: shape.stop, min_victims: 1 };
    let mut write = |lpn: u32| {
        let mut unit = ftl.unit(0);
        if unit.free() <= shape.hard {
            unit.collect(goal, &*victim, &NoReads, SimTime::ZERO, &mut NoProbe).expect("room");
        }
        unit.program(lpn, IoCause::Host, None, &mut NoProbe).expect("room");
        ftl.tally().data_programs()
    };
    (0..shape.unit_pages).for_each(|lpn| _ = write(lpn));
    let half = times * shape.unit_pages / 2;
    let mut overwrite = || (0..half).map(|_| write(rng.below(shape.unit_pages.into()) as u32)).last();
    let before = overwrite().unwrap_or_default();
    let after = overwrite().unwrap_or_default();
    ftl.audit();
    ((after - before) as f64 / f64::from(half), ftl)
}

/// Under every victim policy, and whatever the frontiers, dies that share their blocks are one die with longer blocks.
#[test]
fn to_the_mapping_state_a_superblock_is_a_longer_block() {
    for entry in victim::REGISTRY.iter().filter(|entry| entry.name != "read-match") {
        for frontiers in [Frontiers::Shared, Frontiers::Separate] {
            let of = |mut config: SsdConfig| {
                config.gc.victim = entry.name.into();
                config.ftl.frontiers = frontiers;
                let (amplification, ftl) = overwritten(&config, 4);
                (amplification, ftl.tally(), ftl.erase_counts().to_vec())
            };
            let (shared, alone) = (of(drive(4, 64)), of(as_long(64)));
            assert_eq!(shared, alone, "{} {frontiers:?}", entry.name);
        }
    }
}

/// Of 64 superblocks 50 have data and one is free. Pages are moved to the front of a superblock, and those of the host follow. So a
/// page waits until as many others are written as 62 superblocks have, or half a superblock less, and is live if none of them
/// went over it: `v = exp(-(1 - v) T / U)`, with the spare that is left beside the open superblock and the free one.
#[test]
fn write_amplification_is_that_of_the_spare_without_open_and_free_superblocks() {
    let mut live = 0.5_f64;
    for _ in 0..500 {
        let after = |blocks: f64| exponential(-(1.0 - live) * blocks / f64::from(DATA));
        live = live * after(62.0) + (1.0 - live) * after(61.5);
    }
    let expected = 1.0 / (1.0 - live);
    for (dies, pages) in [(2, 4_096), (4, 4_096), (8, 16_384)] {
        let mut config = drive(dies, pages);
        config.gc.victim = "fifo".into();
        let (found, _) = overwritten(&config, 6);
        assert!((found / expected - 1.0).abs() < 0.01, "{dies} dies: {found}, closed form {expected}");
    }
}

/// Reclaim units: each stream has superblocks of its own, and the write amplification of a drive with its share of the spare.
#[test]
fn streams_have_superblocks_of_their_own() {
    let pages = 128;
    let write = |data: u32, spare: u32, placement: PolicyConfig, hard| {
        let mut config = drive(4, pages);
        config.geometry.blocks_per_plane = data + spare;
        config.ftl.reserved_blocks = Amount::Blocks(spare);
        config.gc.hard_threshold = Amount::Blocks(hard);
        config.ftl.frontiers = Frontiers::Separate;
        config.ftl.placement = placement;
        let mut ftl = Ftl::new(&config, 1, "device").expect("it works");
        let victim = victim::build(&"greedy".into()).expect("a policy");
        let goal = Goal { stop: hard, min_victims: 1 };
        let all = ftl.shape().unit_pages;
        let mut rng = Rng::stream(3, "streams");
        let put = |ftl: &mut Ftl, lpn: u32| {
            if ftl.free_blocks(0) <= hard {
                ftl.unit(0).collect(goal, &*victim, &NoReads, SimTime::ZERO, &mut NoProbe).expect("room");
            }
            let handle = 1 + u16::from(lpn >= all / 2);
            ftl.program_with((0, lpn), handle, IoCause::Host, &mut NoProbe).expect("room");
        };
        (0..all).for_each(|lpn| put(&mut ftl, lpn));
        // Where there are two streams, the second one is written three times as often.
        let mut draw = || {
            let half = rng.below(u64::from(all / 2)) as u32;
            if rng.chance(0.75) { all / 2 + half } else { half }
        };
        (0..8 * all).for_each(|_| put(&mut ftl, draw()));
        let (then, before) = (ftl.streams(), ftl.tally().data_programs());
        (0..8 * all).for_each(|_| put(&mut ftl, draw()));
        let of = |handle: usize| {
            let (now, then) = (ftl.streams()[handle], then[handle]);
            let written = (now.written_pages - then.written_pages) as f64;
            1.0 + (now.moved_pages - then.moved_pages) as f64 / written
        };
        ftl.audit();
        let sum = (ftl.tally().data_programs() - before) as f64 / f64::from(8 * all);
        ([of(1), of(2)], sum)
    };
    let streams = PolicyConfig::named("streams").with("handles", 2).with("isolation", "persistent");
    let (by_handle, _) = write(1_600, 400, streams, 4);
    // Alone it is written as one stream, with half of the blocks and of the free ones.
    let mut alone = drive(4, pages);
    alone.geometry.blocks_per_plane = 1_000;
    alone.ftl.reserved_blocks = Amount::Blocks(200);
    alone.ftl.frontiers = Frontiers::Separate;
    alone.gc.hard_threshold = Amount::Blocks(2);
    let (alone, _) = overwritten(&alone, 16);
    for (handle, found) in (1..).zip(by_handle) {
        assert!((found / alone - 1.0).abs() < 0.01, "handle {handle}: {found}, alone {alone}");
    }
}

/// Pages that are written one after the other go to one die after the other, each of which programs alone.
#[test]
fn a_frontier_goes_from_die_to_die() {
    let mut bench = Bench::empty(&drive(2, 16));
    bench.write(0, 1, 7, 1).write(0, 2, 3, 1).write(0, 3, 5, 1);
    let program = LINK + 300 + 5_000;
    bench.known_at(program, 1, program, write_blame());
    bench.known_at(program + LINK, 2, program + LINK, Blame { link: 2 * LINK, ..write_blame() });
    // The third one waits for the die of the first.
    let waits = Blame { link: 3 * LINK, queue_host: program - 3 * LINK, ..write_blame() };
    bench.known_at(2 * program - LINK, 3, 2 * program - LINK, waits);
    // A read goes to the die in which its page lies, a second one to the other die at the same time.
    let now = 4 * program;
    bench.read(now, 4, 7, 1).read(now, 5, 3, 1);
    bench.known_by(now + 1_300, 4, now + 1_300 + LINK, read_blame());
    bench.known_by(now + 1_300, 5, now + 1_300 + 2 * LINK, Blame { link: 2 * LINK, ..read_blame() });
}

/// A read of what was never written needs no die, and that of a page on its way follows it. A trim leaves pages that it covers in part.
#[test]
fn what_lies_nowhere_needs_no_die_and_parts_of_pages_are_not_trimmed() {
    let mut bench = Bench::empty(&drive(2, 16));
    bench.write(0, 1, 0, 1).read(0, 2, 5, 1).read(10, 3, 0, 1);
    bench.known_by(10, 2, 2 * LINK, Blame { link: 2 * LINK, ..Blame::default() });
    bench.known_at(6_670, 3, 6_740, Blame { link: 60 + LINK, queue_host: 5_300, ..read_blame() });
    let is_there = |bench: &Bench| bench.device.ftl().lookup(0, 0).is_some();
    let edges = SubRequest { offset: 512, ..sub(4, Operation::Trim, 0, 1) };
    bench.submit(7_000, edges).known_by(7_000, 4, 7_000, Blame::default());
    assert!(is_there(&bench));
    bench.submit(8_000, sub(5, Operation::Trim, 0, 1)).advance(8_000);
    assert!(!is_there(&bench));
}

/// Two dies with eight superblocks of 16 pages, six of which are full. Superblock 0 keeps the pages at offsets 0, 1, 2 and 4: three of die
/// 0 and one of die 1.
pub fn six_are_full(schedule: &str) -> Bench {
    let mut config = drive(2, 16);
    config.geometry.blocks_per_plane = 8;
    config.ftl.reserved_blocks = Amount::Blocks(4);
    config.gc.schedule = schedule.into();
    let mut ftl = Ftl::new(&config, 1, "device").unwrap();
    let rest = (0..16).filter(|lpn| ![0, 1, 2, 4].contains(lpn));
    for lpn in (0..64).chain(rest).chain(16..24).chain(32..38).chain(48..54) {
        ftl.program(0, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
    }
    assert_eq!(ftl.free_blocks(0), 2);
    let mut bench = Bench::with(&config, &[]);
    bench.device = Device::new(&config, ftl, any(AuditProbe)).unwrap();
    bench
}

/// Die 1 is done with the first victim at 32,200, and die 0 at 34,200. The data of the write is over the link at 32,250.
#[test]
fn a_write_on_the_link_ends_collection_in_idle_time() {
    assert!(six_are_full("blocking").force_idle(0).collected()[0].1 > 34_200);
    let mut bench = six_are_full("blocking");
    assert_eq!(bench.force_idle(0).write(32_180, 1, 0, 1).collected(), [(0, 34_200)]);
}

/// How long each of two dies will work on its part is foreseen when the die begins. Before the victim is divided that is a mean of dies.
#[test]
fn how_long_parts_take_is_foreseen() {
    for (schedule, most) in [("blocking", 0.0), ("preemptive", 0.05), ("stepwise", 0.05)] {
        let mut bench = six_are_full(schedule);
        assert_eq!(bench.force(0).collected().len(), 1);
        let foreseen = bench.device.counters().estimated;
        assert_eq!((foreseen.events, foreseen.actual), (2, SimDuration(66_400)), "{schedule}");
        assert!(foreseen.error.0 as f64 <= most * foreseen.actual.0 as f64, "{schedule}: {foreseen:?}");
    }
}

/// A collection of a superblock is one of all its dies, and each die has the work of its own pages.
#[test]
fn all_dies_of_a_superblock_collect_at_once() {
    let mut bench = six_are_full("blocking");
    // The page after this one opens the superblock that makes the unit low; the next one makes it collect.
    bench.write(0, 1, 0, 1).advance(LINK + 100);
    // A read would wait for the die of its page: page 42 lies in die 0, page 43 in die 1.
    let left = [42, 43].map(|page| bench.device.collection_left_in(page * PAGE, PAGE, SimTime(LINK + 100)));
    assert_eq!(left, [27_500, 32_100].map(|left| Some(SimDuration(left))));
    let now = 100_000;
    bench.write(now, 2, 40, 1);
    let intervals = bench.collected();
    assert_eq!(intervals.len(), 1, "{intervals:?}");
    let counters = bench.device.counters();
    assert_eq!((counters.gc_victims, counters.erases), (1, 1), "a superblock counts as one block");
    let moved = counters.programs[IoCause::Gc as usize];
    assert_eq!(moved, 3, "page 0 was written anew before");
    // Two pages of die 0 and one of die 1 are read; they go to dies 1, 0 and 1. A page crosses the bus twice, for the die that
    // programs it.
    let [read, program, transfer, erase] = [1_000, 5_000, 600, 20_000];
    let parts = [2 * read + program + transfer + erase, read + 2 * (program + transfer) + erase];
    let longest = *parts.iter().max().unwrap();
    assert_eq!(intervals[0].1 - intervals[0].0, longest);
    assert_eq!(counters.gc_busy, SimDuration(parts.iter().sum()));
}

/// The same step by step: reads and programs take turns, and each page crosses the bus when it is read and when it is programmed.
#[test]
fn dies_of_a_superblock_collect_step_by_step() {
    let mut bench = six_are_full("preemptive");
    // This write opens a superblock, which makes the unit low: its die does its part of the collection first.
    bench.write(0, 1, 0, 1);
    let intervals = bench.collected();
    let counters = bench.device.counters();
    assert_eq!((counters.gc_victims, counters.programs[IoCause::Gc as usize]), (1, 3));
    // Two pages of die 0 and one of die 1 are read; they go to dies 1, 0 and 1.
    let [read, program, erase] = [1_300, 5_300, 20_000];
    let parts = [2 * read + program + erase, read + 2 * program + erase];
    assert_eq!(counters.gc_busy, SimDuration(parts.iter().sum()));
    assert_eq!(intervals, [(LINK, LINK + parts[1])]);
    // Then die 0 serves the host, while the other one is still at work.
    assert_eq!(bench.find(1).map(|done| done.finish), Some(SimTime(LINK + parts[0] + program)));
}

/// Two dies that share their blocks, behind a cache that gathers programs of four units.
pub fn behind_a_cache(allocation: Allocation) -> SsdConfig {
    let mut config = four();
    config.geometry.channels = 2;
    config.ftl.superblock = Superblock::Drive;
    config.ftl.allocation = allocation;
    config.write_cache =
        WriteCacheConfig { size: Some(16 * PAGE), ack: SimDuration(10), ..WriteCacheConfig::default() };
    config
}

/// A die that reads gets no program if the other one is idle, and where programs go in turn it does. Each unit is read where its
/// program went.
#[test]
fn a_program_goes_to_the_die_of_the_superblock_that_is_idle() {
    for (allocation, ends, apart) in
        [(Allocation::Dynamic, 6_010 + 5_300, true), (Allocation::CWDP, 7_075 + 5_300, false)]
    {
        let mut bench = Bench::empty(&behind_a_cache(allocation));
        bench.write(0, 0, 0, 4).write(0, 1, 4, 4);
        bench.advance(1);
        assert_eq!(bench.device.next_wakeup(), SimTime(5_300), "both dies take four units at once");
        // Both are done; die 0 reads, and has the next turn.
        bench.read(6_000, 2, 0, 1).write(6_010, 3, 8, 4).advance(10_000);
        assert_eq!(bench.device.next_wakeup(), SimTime(ends), "{allocation:?}");
        bench.read(20_000, 4, 0, 1).read(20_000, 5, 8, 1).advance(30_000);
        let read = |token| bench.find(token).map(|done| done.finish.0);
        let second = if apart { 21_075 } else { 22_150 };
        assert_eq!((read(4), read(5)), (Some(21_075), Some(second)), "{allocation:?}");
        let counters = bench.device.counters();
        assert_eq!(counters.programs[IoCause::Host as usize], 12);
        assert_eq!(counters.padding[IoCause::Host as usize], 0);
    }
}

/// Two units that a flush waits for are programmed with two of padding, and the next program is one of four on the other die.
#[test]
fn what_a_program_of_a_superblock_lacks_is_padding() {
    let mut config = behind_a_cache(Allocation::Dynamic);
    config.write_cache.power_protected = false;
    let mut bench = Bench::empty(&config);
    bench.write(0, 0, 0, 2).submit(10, SubRequest { length: 0, ..sub(1, Operation::Flush, 0, 1) });
    bench.write(20, 2, 4, 4).advance(20_000);
    let counters = bench.device.counters();
    let (programs, padding) =
        (counters.programs[IoCause::Host as usize], counters.padding[IoCause::Host as usize]);
    assert_eq!((programs, padding), (8, 2 * PAGE));
    assert_eq!(bench.find(1).map(|done| done.finish), Some(SimTime(10 + 5_150)));
}

/// Behind a cache that is full all the time a drive of four dies has the write amplification of its superblocks, and its dies do nothing
/// but program. Collection step by step begins a superblock earlier.
#[test]
fn behind_a_cache_write_amplification_and_rate_are_those_of_the_superblocks() {
    let form = |free: f64| {
        let mut live = 0.5_f64;
        for _ in 0..500 {
            let after = |blocks: f64| exponential(-(1.0 - live) * blocks / f64::from(DATA));
            live = live * after(63.0 - free) + (1.0 - live) * after(62.5 - free);
        }
        1.0 / (1.0 - live)
    };
    for (allocation, schedule, free) in [
        (Allocation::CWDP, "blocking", 1.0..1.0),
        (Allocation::Dynamic, "blocking", 1.0..1.0),
        (Allocation::Dynamic, "preemptive", 1.0..2.0),
    ] {
        let mut config = behind_a_cache(allocation);
        let geometry = &mut config.geometry;
        (geometry.channels, geometry.blocks_per_plane, geometry.pages_per_block) = (4, BLOCKS, 64);
        config.write_cache.size = Some(128 * PAGE);
        let timing = &mut config.timing;
        (timing.read, timing.erase, timing.transfer) =
            (SimDuration(1).into(), SimDuration(1), SimDuration(4));
        config.ftl.reserved_blocks = Amount::Blocks(BLOCKS - DATA);
        (config.gc.victim, config.gc.schedule) = ("fifo".into(), schedule.into());
        let Saturated { lasted, host, all, .. } = saturate(&config);
        let amplification = all as f64 / host as f64;
        let rate = all as f64 / lasted as f64 / (4.0 * 4.0 / 5_004.0);
        let expected = form(free.start)..form(free.end);
        let case = format!("{allocation:?} {schedule}: {amplification} of {expected:?}, {rate} of the rate");
        eprintln!("{case}");
        assert!((expected.start * 0.99..expected.end * 1.01).contains(&amplification), "{case}");
        assert!(rate > 0.95 && rate < 1.001, "{case}");
    }
}

/// A superblock is used no more when the first of its blocks has worn out.
#[test]
fn a_superblock_wears_out_with_its_weakest_block() {
    let mut config = drive(4, 64);
    config.geometry.blocks_per_plane = 256;
    config.ftl.reserved_blocks = Amount::Blocks(64);
    config.gc.hard_threshold = Amount::Blocks(3);
    let wear = WearConfig::of(12);
    config.wear = Some(wear.clone());
    let mut ftl = Ftl::new(&config, 1, "device").unwrap();
    ftl.wear_out(&wear, 3, 0);
    let (shape, victim) = (ftl.shape().clone(), victim::build(&"greedy".into()).unwrap());
    let goal = Goal { stop: shape.stop, min_victims: 1 };
    let mut rng = Rng::stream(1, "wear");
    let weakest = |block| (0..8).map(|of_flash| wear.endurance_of(3, 0, of_flash, block)).min().unwrap();
    let mut retired = 0;
    while !ftl.is_worn_out(0) {
        for _ in 0..100 {
            if ftl.free_blocks(0) <= shape.hard {
                ftl.unit(0).collect(goal, &*victim, &NoReads, SimTime::ZERO, &mut NoProbe).unwrap();
            }
            let lpn = rng.below(shape.unit_pages.into()) as u32;
            ftl.program(0, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
        }
        let due = (0..256).filter(|&block| ftl.erase_counts()[block as usize] >= weakest(block)).count();
        retired = ftl.worn(&wear).retired_blocks;
        assert!(ftl.is_worn_out(0) || retired == due as u64, "{retired} retired, {due} due");
        ftl.audit();
    }
    assert_eq!(retired, 32, "half of the spare");
}

/// What dies do for garbage collection.
#[derive(Default)]
struct Steps {
    of_steps: u32,
    /// Dies that read or program pages of victims, in order.
    moved: Vec<u32>,
    erased: u32,
}

impl Probe for Steps {
    fn watches_planes(&self) -> bool {
        true
    }

    fn works(&mut self, _: SimTime, die: u32, _: Option<u32>, work: PlaneWork) {
        self.moved.extend((work == PlaneWork::GcMove).then_some(die));
        let is_step =
            matches!(work, PlaneWork::GcRead | PlaneWork::GcProgram | PlaneWork::GcMove | PlaneWork::Erase);
        self.of_steps += u32::from(is_step);
    }

    fn erase(&mut self, _: u32, _: u32) {
        self.erased += 1;
    }
}

/// A schedule says that it collects in one command exactly if it does where moves take no turns on a bus. Superblocks are collected as
/// it says, and those that join operations of the host with collection are refused.
#[test]
fn superblocks_are_collected_in_one_command_or_step_by_step_as_the_schedule_says() {
    for entry in schedule::REGISTRY {
        let one_command = schedule::build(&entry.name.into()).unwrap().needs().one_command;
        let mut shared = drive(2, 16);
        (shared.geometry.blocks_per_plane, shared.ftl.reserved_blocks) = (8, Amount::Blocks(4));
        for mut config in [one_die(), shared] {
            config.gc.schedule = entry.name.into();
            if entry.name.ends_with("io-parallel") && !config.ftl.superblock.is_off() {
                assert!(config.resolve().unwrap_err().to_string().contains("I/O-parallel"), "{}", entry.name);
                continue;
            }
            let ftl = Ftl::new(&config, 1, "device").unwrap();
            let pages = u64::from(ftl.shape().logical_pages);
            let mut device = Device::new(&config, ftl, any(Steps::default())).unwrap();
            let mut rng = Rng::stream(1, "steps");
            for token in 0..400 {
                let now = SimTime(u64::from(token) * 100_000);
                device.advance_until(now, false).unwrap();
                device.submit(now, sub(token, Operation::Write, rng.below(pages), 1)).unwrap();
            }
            device.advance_until(SimTime(1_000_000_000), false).unwrap();
            let steps: &Steps = probe_as(device.probe());
            assert!(steps.erased > 10, "{}", entry.name);
            assert_eq!(one_command, steps.of_steps == 0, "{}: {} steps", entry.name, steps.of_steps);
        }
    }
}

/// While die 0 reads, die 1 gets two programs in a row. The only live one of them is read there, though in turn it would lie on die 0.
#[test]
fn a_victim_is_read_where_its_programs_went() {
    for (allocation, die) in [(Allocation::Dynamic, 1), (Allocation::CWDP, 0)] {
        let mut config = behind_a_cache(allocation);
        config.geometry.pages_per_block = 2;
        (config.gc.victim, config.gc.schedule) = ("fifo".into(), "preemptive".into());
        let ftl = Ftl::new(&config, 0, "device").unwrap();
        let mut device = Device::new(&config, ftl, any(Steps::default())).unwrap();
        let mut submit = |at: u64, operation: Operation, unit: u64, units: u64| {
            device.advance_until(SimTime(at), false).unwrap();
            device.submit(SimTime(at), sub(at as u32, operation, unit, units)).unwrap();
            device.counters().gc_victims
        };
        submit(0, Operation::Write, 0, 4);
        (0..12).for_each(|read| _ = submit(10_000 + read, Operation::Read, 0, 1));
        (1..4).for_each(|program| _ = submit(10_020 + program, Operation::Write, 4 * program, 4));
        // Two superblocks are filled, and then all of the first one but its third program is overwritten.
        let others = || (16..48).step_by(4);
        let writes = others().chain([0, 4, 12]).chain(others()).chain(others());
        for (place, unit) in (0..).zip(writes) {
            if submit(100_000 + 100_000 * place, Operation::Write, unit, 4) > 0 {
                break;
            }
        }
        device.advance_until(SimTime(10_000_000), false).unwrap();
        let steps: &Steps = probe_as(device.probe());
        assert_eq!(steps.moved.first(), Some(&die), "{allocation:?}: {:?}", steps.moved);
    }
}

type Change<'a> = &'a dyn Fn(&mut SsdConfig);

#[test]
fn what_does_not_go_with_superblocks_is_refused_with_what_works() {
    let many = drive(6, 96);
    many.resolve().expect("it works");
    let cases: &[(&str, Change<'_>)] = &[
        ("4 does not divide the 6 dies of a drive; 1, 2, 3, 6 work", &|c| {
            c.ftl.superblock = Superblock::Dies(4)
        }),
        ("does not divide", &|c| c.ftl.superblock = Superblock::Dies(0)),
        (
            "12582720 pages in a superblock of 96 dies; at most 8388607 are supported, so at most 64 dies work",
            &|c| {
                (c.geometry.channels, c.geometry.pages_per_block) = (96, 65_535);
            },
        ),
        ("a write cache, which gathers", &|c| {
            (c.ftl.mapping_unit, c.timing.copyback) = (Some(512), Copyback::None);
        }),
        ("ssd.ftl.allocation_unit = \"die\"", &|c| c.ftl.allocation_unit = AllocationUnit::Plane),
        ("ssd.gc.destination = \"unit\"", &|c| {
            (c.ftl.allocation, c.gc.destination) = (Allocation::Dynamic, Destination::Device);
        }),
        ("ssd.ftl.multi_plane = false", &|c| c.ftl.multi_plane = true),
        ("ssd.geometry.summary_pages = 0", &|c| c.geometry.summary_pages = 1),
        ("one time for all pages", &|c| {
            let times = [SimDuration(50), SimDuration(70)];
            c.timing.read = PageTimes::by_type(&times).expect("two times");
        }),
        ("ssd.ftl.free_list = \"fifo\"", &|c| {
            (c.gc.schedule, c.ftl.free_list) = ("preemptive".into(), FreeList::LeastWorn);
        }),
        ("all but \"read-match\"", &|c| c.gc.victim = "read-match".into()),
        ("ssd.gc.domain = \"die\"", &|c| c.gc.domain = Domain::Channel),
        ("ssd.gc.concurrency.policy = \"unlimited\"", &|c| c.gc.concurrency = PolicyConfig::named("fixed")),
    ];
    for (words, change) in cases {
        let mut config = many.clone();
        change(&mut config);
        let why = config.resolve().expect_err(words).to_string();
        assert!(why.starts_with("ssd.ftl.superblock: ") && why.contains(words), "{words}: {why}");
    }
    // What goes along.
    for change in [
        (&|c: &mut SsdConfig| c.ftl.superblock = Superblock::Dies(3)) as Change<'_>,
        &|c| c.ftl.priority = Priority::ReadsFirst,
        &|c| c.gc.domain = Domain::Device,
        &|c| c.gc.schedule = "ideal".into(),
        &|c| c.gc.schedule = "preemptive".into(),
        &|c| c.ftl.allocation = Allocation::Dynamic,
        &|c| c.write_cache = WriteCacheConfig { size: Some(1 << 20), ..WriteCacheConfig::default() },
    ] {
        let mut config = many.clone();
        change(&mut config);
        config.resolve().expect("it works");
    }
}
