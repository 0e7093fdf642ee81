//! How do blocks wear out, and what is a drive then?
//!
//! Small bare mapping states, written page by page, held against closed forms and against the endurance that was drawn; and
//! devices that become read-only.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_ssd::block::{BlockState, state_of};
use harmonia_ssd::gc::victim;
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{
    Amount, AtEnd, FreeList, Frontiers, Ftl, Goal, LevelingConfig, SsdConfig, SubRequest, WearConfig,
    WriteCacheConfig,
};
use harmonia_types::{Blame, IoCause, Operation, ParityPages, SimDuration, SimTime};

const SEED: u64 = 7;

/// One unit of so many blocks of 16 pages, of which so many are spare.
fn unit(blocks: u32, spare: u32) -> SsdConfig {
    let mut config = one_die();
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (blocks, 16);
    config.ftl.reserved_blocks = Amount::Blocks(spare);
    config.gc.hard_threshold = Amount::Blocks(3);
    config
}

/// A bare mapping state that is written as a host would.
struct Written {
    ftl: Ftl,
    rng: Rng,
    /// Pages written, and the first of them that are ever written again.
    pages: u32,
    hot: std::ops::Range<u32>,
    /// Share of writes that go to the first tenth of these.
    skew: f64,
}

impl Written {
    /// Full, each page written once, in order.
    fn full(config: &SsdConfig) -> Written {
        let mut ftl = Ftl::new(config, 1, "device").unwrap();
        if let Some(wear) = &config.wear {
            ftl.wear_out(wear, SEED, 0);
        }
        let pages = ftl.shape().unit_pages;
        let mut written = Written { ftl, rng: Rng::stream(1, "load"), pages, hot: 0..pages, skew: 0.0 };
        (0..pages).for_each(|lpn| written.write(lpn));
        written
    }

    fn write(&mut self, lpn: u32) {
        let (hard, stop) = (self.ftl.shape().hard, self.ftl.shape().stop);
        let mut unit = self.ftl.unit(0);
        if unit.free() <= hard {
            let policy = victim::build(&"greedy".into()).unwrap();
            let goal = Goal { stop, min_victims: 1 };
            unit.collect(goal, &*policy, &NoReads, SimTime::ZERO, &mut NoProbe).unwrap();
        }
        self.ftl.program(0, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
    }

    /// Writes, uniform unless there is a skew; returns the write amplification meanwhile.
    fn overwrite(&mut self, writes: u32) -> f64 {
        let before = self.ftl.tally().data_programs();
        for _ in 0..writes {
            let pages = u64::from(self.hot.end - self.hot.start);
            let pages = if self.skew > 0.0 && self.rng.chance(self.skew) { pages / 10 } else { pages };
            let lpn = self.hot.start + self.rng.below(pages) as u32;
            self.write(lpn);
        }
        (self.ftl.tally().data_programs() - before) as f64 / f64::from(writes)
    }

    /// So many times all of its pages.
    fn overwrite_all(&mut self, times: u32) -> f64 {
        self.overwrite(times * self.pages)
    }

    fn retired(&self) -> Vec<u32> {
        let entries = self.ftl.blocks(0).entries.iter();
        let states = (0..).zip(entries.map(|&entry| state_of(entry)));
        states.filter(|(_, state)| *state == BlockState::Retired).map(|(block, _)| block).collect()
    }

    /// The most erases of a block, less the fewest, and their mean.
    fn gap(&self) -> (u32, f64) {
        let erases = self.ftl.erase_counts();
        let (least, most) = (erases.iter().min().unwrap(), erases.iter().max().unwrap());
        (most - least, erases.iter().map(|&n| f64::from(n)).sum::<f64>() / erases.len() as f64)
    }
}

struct NoReads;

impl victim::QueuedReads for NoReads {
    fn for_each(&self, _: &mut dyn FnMut(u32, u32)) {}
}

/// Drives of random endurance, age and spread: whatever bound spares the draws of blocks that are far from their end, the blocks that
/// retire are those that have had the erases which [`WearConfig`] draws for them.
#[test]
fn blocks_that_are_drawn_late_retire_as_if_all_were_drawn_at_first() {
    let (mut rng, mut retired) = (Rng::stream(3, "drives"), 0);
    for round in 0..40 {
        let mut pick = |values: &[f64]| values[rng.below(values.len() as u64) as usize];
        let wear = WearConfig {
            spread: pick(&[0.03, 0.1, 0.4]),
            drive_spread: pick(&[0.0, 0.03, 0.5]),
            used: pick(&[0.0, 0.3, 0.9]),
            ..WearConfig::of(pick(&[8.0, 20.0, 60.0]) as u32)
        };
        let drive = rng.below(1_000) as u16;
        // So many blocks are free that a block which is due need not be kept for want of room.
        let mut config = unit(128, 48);
        config.gc.hard_threshold = Amount::Blocks(12);
        let mut written = Written::full(&config);
        written.ftl.wear_out(&wear, SEED, drive);
        while !written.ftl.is_worn_out(0) && written.gap().1 < 70.0 {
            written.overwrite(100);
            let is_due = |block: u32| {
                let erases = written.ftl.erase_counts()[block as usize];
                erases > 0 && wear.used_erases() + erases >= wear.endurance_of(SEED, drive, 0, block)
            };
            if !written.ftl.is_worn_out(0) {
                let due: Vec<u32> = (0..128).filter(|&block| is_due(block)).collect();
                assert_eq!(written.retired(), due, "round {round}: {wear:?} drive {drive}");
            }
            written.ftl.audit();
        }
        retired += written.retired().len();
    }
    assert!(retired > 500, "{retired} blocks retired");
}

/// Blocks retire when they have had the erases that were drawn for them, neither one sooner nor later, whatever the order in which
/// they are used.
#[test]
fn the_blocks_that_retire_are_those_whose_endurance_is_over() {
    for free_list in [FreeList::Fifo, FreeList::LeastWorn] {
        let mut config = unit(256, 64);
        config.ftl.free_list = free_list;
        let wear = WearConfig::of(12);
        config.wear = Some(wear.clone());
        let mut written = Written::full(&config);
        let mut counts = Vec::new();
        while !written.ftl.is_worn_out(0) {
            written.overwrite(100);
            let due = |block: u32| {
                written.ftl.erase_counts()[block as usize] >= wear.endurance_of(SEED, 0, 0, block)
            };
            let due: Vec<u32> = (0..256).filter(|&block| due(block)).collect();
            // The unit keeps what it has when it is worn out: the last of those that are due may be one that stays.
            if !written.ftl.is_worn_out(0) {
                assert_eq!(written.retired(), due, "{free_list:?}");
            }
            counts.push(due.len());
            written.ftl.audit();
        }
        assert_eq!(written.retired().len(), 32, "half of 64 spare blocks");
        assert!(counts.iter().any(|&count| (5..25).contains(&count)), "blocks retire one after the other");
        // No further block retires, and the unit still takes writes.
        written.overwrite_all(3);
        assert_eq!(written.retired().len(), 32);
        written.ftl.audit();
    }
}

/// The least of 1,000 endurances lies 3.241 standard deviations below the mean, with a standard deviation of 0.351 (order
/// statistics of the normal distribution).
#[test]
fn endurance_has_its_spread_between_blocks_and_between_drives() {
    let wear = WearConfig { drive_spread: 0.0, ..WearConfig::of(1_000_000) };
    let seeds = 400;
    let least = |seed: u64| (0..1_000).map(|block| wear.endurance_of(seed, 3, 1, block)).min().unwrap();
    let mean = (0..seeds).map(|seed| f64::from(least(seed))).sum::<f64>() / seeds as f64;
    let expected = 1e6 - 3.241 * 1e5;
    let error = 0.351 * 1e5 / (seeds as f64).sqrt();
    assert!((mean - expected).abs() < 5.0 * error, "{mean} against {expected} +- {error}");
    // Between drives, with no spread between blocks.
    let wear = WearConfig { spread: 0.0, drive_spread: 0.03, ..wear };
    let drives: Vec<f64> = (0..10_000).map(|drive| f64::from(wear.endurance_of(1, drive, 0, 0))).collect();
    let mean = drives.iter().sum::<f64>() / 1e4;
    let deviation = (drives.iter().map(|drive| (drive - mean).powi(2)).sum::<f64>() / 1e4).sqrt();
    assert!((mean - 1e6).abs() < 5.0 * 300.0, "{mean}");
    assert!((deviation - 3e4).abs() < 5.0 * 3e4 / 2e4_f64.sqrt(), "{deviation}");
    assert_eq!(wear.endurance_of(1, 5, 0, 0), wear.endurance_of(1, 5, 9, 77), "blocks of a drive are alike");
}

/// A drive that has lost a tenth of its spare to wear amplifies writes as one that was built without that tenth.
#[test]
fn a_drive_that_has_lost_spare_is_like_one_built_with_less() {
    let mut worn = unit(1024, 160);
    // The first tenth wears out early, and then no other block does.
    worn.wear = Some(WearConfig { end_at_spare: 0.1, ..WearConfig::of(6) });
    let mut worn = Written::full(&worn);
    while !worn.ftl.is_worn_out(0) {
        worn.overwrite_all(1);
    }
    assert_eq!(worn.retired().len(), 16);
    let mut built = Written::full(&unit(1008, 144));
    let mut new = Written::full(&unit(1024, 160));
    let settled = |written: &mut Written| {
        written.overwrite_all(4);
        written.overwrite_all(12)
    };
    let (worn, built, new) = (settled(&mut worn), settled(&mut built), settled(&mut new));
    assert!((worn / built - 1.0).abs() < 0.01, "worn {worn}, built so {built}");
    assert!(worn / new > 1.04, "worn {worn}, new {new}");
}

/// Half of the data is never rewritten: its blocks are never erased, and all erases go to the others. So the gap grows by
/// 1 / (1 - share of blocks with frozen data) whenever the mean grows by one.
#[test]
fn frozen_data_drives_blocks_apart() {
    let mut config = unit(600, 100);
    config.ftl.free_list = FreeList::LeastWorn;
    let mut written = Written::full(&config);
    written.hot = written.pages / 2..written.pages;
    let frozen = f64::from(written.pages / 2) / 16.0 / 600.0;
    written.overwrite_all(3);
    let (gap, mean) = written.gap();
    written.overwrite_all(40);
    let (later_gap, later_mean) = written.gap();
    let slope = f64::from(later_gap - gap) / (later_mean - mean);
    let expected = 1.0 / (1.0 - frozen);
    assert!((slope / expected - 1.0).abs() < 0.02, "{slope} against {expected}");
}

/// Dynamic levelling.
#[test]
fn the_least_worn_free_block_first_narrows_the_gap() {
    let gap = |free_list| {
        let mut config = unit(256, 50);
        config.ftl.free_list = free_list;
        let mut written = Written::full(&config);
        written.skew = 0.8;
        written.overwrite_all(60);
        written.gap().0
    };
    let (fifo, least_worn) = (gap(FreeList::Fifo), gap(FreeList::LeastWorn));
    assert!(5 * least_worn < 4 * fifo, "fifo {fifo}, least-worn {least_worn}");
}

/// A drive may be used when the run begins: its blocks retire that much sooner, and its figures count what was before.
#[test]
fn a_used_drive_goes_on_where_it_was() {
    let mut config = unit(256, 64);
    let mut erases = |used| {
        let wear = WearConfig { used, ..WearConfig::of(40) };
        config.wear = Some(wear.clone());
        let mut written = Written::full(&config);
        while !written.ftl.is_worn_out(0) {
            written.overwrite(100);
        }
        (written.ftl.tally().erases, written.ftl.worn(&wear))
    };
    let ((new, worn_new), (used, worn_used)) = (erases(0.0), erases(0.75));
    // What is left of a quarter of the endurance is eroded by the spread of all of it.
    assert!(used * 5 < new, "{used} of {new} erases");
    for worn in [worn_new, worn_used] {
        assert_eq!((worn.retired_blocks, worn.available_spare), (32, 0.0));
        assert!((0.7..1.0).contains(&worn.used), "{worn:?}");
        assert!(
            f64::from(worn.erases_min) < worn.erases_mean && worn.erases_mean < f64::from(worn.erases_max)
        );
    }
    assert!(worn_used.erases_min >= 30);
}

/// The weakest blocks retire when others have had few erases, too. Then the least worn block is one that is still erased.
#[test]
fn the_least_worn_block_is_none_that_has_retired() {
    let mut config = unit(256, 64);
    let wear = WearConfig { used: 0.5, ..WearConfig::of(40) };
    config.wear = Some(wear.clone());
    let mut written = Written::full(&config);
    while !written.ftl.is_worn_out(0) {
        written.overwrite(100);
    }
    written.overwrite_all(20);
    let (retired, erases) = (written.retired(), written.ftl.erase_counts());
    let of = |is_retired: bool| -> Vec<u32> {
        let blocks = (0..256).filter(|block| retired.contains(block) == is_retired);
        blocks.map(|block| erases[block as usize]).collect()
    };
    let (gone, used) = (of(true), of(false));
    let (least, most) = (used.iter().min().unwrap(), used.iter().max().unwrap());
    assert!(gone.iter().max().unwrap() < least, "those that have retired were erased less");
    let worn = written.ftl.worn(&wear);
    assert_eq!((worn.erases_min, worn.erases_max), (20 + least, 20 + most));
    let mean = 20.0 + erases.iter().map(|&n| f64::from(n)).sum::<f64>() / 256.0;
    assert!((worn.erases_mean - mean).abs() < 1e-9 && (worn.used - mean / 40.0).abs() < 1e-9, "{worn:?}");
}

/// A device that is worn out answers reads as before, lets every later write fail at once, and finishes what it had.
#[test]
fn a_device_that_is_worn_out_only_serves_reads() {
    for schedule in ["blocking", "stepwise", "preemptive"] {
        let mut config = unit(40, 14);
        config.gc.schedule = schedule.into();
        let mut bench = Bench::empty(&config);
        bench.device.wear_out(&WearConfig::of(6), SEED, 0);
        let (mut rng, mut token, mut at) = (Rng::stream(1, "load"), 0, 0);
        while bench.device.read_only_since().is_none() {
            bench.write(at, token, rng.below(26 * 16), 1);
            (token, at) = (token + 1, at + 9_000);
            assert!(token < 100_000, "{schedule}: it wears out");
        }
        bench.collected();
        assert_eq!(bench.known.len() as u32, token, "{schedule}: what it had is done");
        let life = bench.device.life().unwrap();
        // It may have come to that just before the last write.
        let failed = life.failed_pages;
        assert!(failed < 2, "{schedule}");
        assert_eq!((life.worn.retired_blocks, life.worn.available_spare), (7, 0.0));
        assert!(life.first_retired < life.read_only);
        let erases = bench.device.counters().erases;
        at += 100_000_000;
        let programs = bench.device.counters().programs;
        bench.write(at, token, 5, 3).submit(at, sub(token + 1, Operation::Trim, 9, 1));
        assert_eq!(bench.find(token).unwrap().finish, SimTime(at), "{schedule}: it fails at once");
        assert!(bench.find(token + 1).is_some());
        assert_eq!(bench.device.life().unwrap().failed_pages, failed + 4);
        bench.read(at, token + 2, 9, 1);
        bench.known_at(at + 1_300, token + 2, at + 1_300 + LINK, read_blame());
        assert_eq!((bench.device.counters().programs, bench.device.counters().erases), (programs, erases));
        // An array has it tell of the failure.
        bench.device.set_at_end(AtEnd::Refuses);
        bench.write(at + 100_000, token + 3, 5, 3);
        let refused: Vec<_> =
            bench.device.refusals().drain(..).map(|refusal| (refusal.first, refusal.pages)).collect();
        assert_eq!(refused, [(0, 3)], "{schedule}");
        assert!(bench.find(token + 3).is_none());
    }
}

/// Where nobody has the data elsewhere, a write completes at once, and counts as parity if its last page is that. A drive that nobody
/// can do without takes it.
#[test]
fn a_write_to_a_device_that_is_worn_out_completes_at_once_or_is_taken() {
    let mut bench = Bench::empty(&one_die());
    bench.device.wear_out(&WearConfig::of(6), SEED, 0);
    bench.device.end_life(SimTime::ZERO);
    // Every other page is parity, from the first one on.
    let parity = ParityPages { phase: 0, period: 2, run: 1, cause: IoCause::Parity };
    for (token, pages, is_parity) in [(1, 2, false), (2, 3, true)] {
        bench.submit(100, SubRequest { parity, ..sub(token, Operation::Write, 0, pages) });
        assert_eq!(bench.known_by(100, token, 100, Blame::default()).is_parity, is_parity);
    }
    assert_eq!(bench.device.life().unwrap().failed_pages, 5);
    // Nothing is written, so nothing fails.
    bench.submit(100, SubRequest { length: 0, ..sub(3, Operation::Write, 0, 1) }).collected();
    bench.device.set_at_end(AtEnd::Takes);
    bench.write(1_000, 4, 0, 1).known_at(1_000 + LINK + 5_300, 4, 6_370, write_blame());
    assert_eq!(bench.device.life().unwrap().failed_pages, 5);
}

/// A unit that has nothing to spare cannot wear out: such a device is refused, with the number that works.
#[test]
fn a_drive_without_spare_to_lose_is_refused() {
    let mut config = unit(256, 5);
    config.resolve().unwrap();
    config.wear = Some(WearConfig::of(3_000));
    let why = config.resolve().unwrap_err().to_string();
    assert!(why.contains("at least 6 spare blocks"), "{why}");
    config.ftl.reserved_blocks = Amount::Blocks(6);
    config.resolve().unwrap();
}

/// The gap of erases stays within the threshold and one more, half of the data never rewritten, and what levelling counts is what it
/// has moved.
#[test]
fn static_levelling_keeps_the_gap_within_the_threshold() {
    for frontiers in [Frontiers::Shared, Frontiers::Separate] {
        let mut config = unit(300, 50);
        (config.ftl.free_list, config.ftl.frontiers) = (FreeList::LeastWorn, frontiers);
        let leveling = LevelingConfig { threshold: 10, budget: 1.0 };
        config.leveling = Some(leveling.clone());
        let mut written = Written::full(&config);
        written.ftl.level_wear(&leveling);
        written.hot = written.pages / 2..written.pages;
        let mut most = 0;
        for _ in 0..400 {
            written.overwrite(500);
            most = most.max(written.gap().0);
            written.ftl.audit();
        }
        let (blocks, pages) = written.ftl.leveled().unwrap();
        assert!(most == 11 || most == 10, "{frontiers:?}: a gap of {most}");
        assert!(written.gap().1 > 30.0, "blocks have been erased often");
        let tally = written.ftl.tally();
        let [collected, leveled] =
            [IoCause::Gc, IoCause::Leveling].map(|cause| tally.programs[cause as usize]);
        assert!(blocks > 100 && pages > 8 * blocks && pages <= 16 * blocks, "{blocks} blocks, {pages} pages");
        // Each has a cause of its own: a block that is collected for its invalid pages gives fewer than all of them.
        assert_eq!(pages, leveled);
        assert!(0 < collected && collected < 16 * (tally.victims - blocks), "{collected} pages collected");
    }
}

/// Levelling under every schedule, and beside wear: the device's own checks hold after every event.
#[test]
fn a_device_levels_under_every_schedule() {
    for entry in harmonia_ssd::gc::schedule::REGISTRY {
        let mut config = unit(40, 14);
        config.gc.schedule = entry.name.into();
        let leveling = LevelingConfig { threshold: 3, budget: 0.5 };
        config.leveling = Some(leveling);
        let mut bench = Bench::empty(&config);
        let (mut rng, mut at) = (Rng::stream(1, "load"), 0);
        for token in 0..4_000 {
            // Most of the data stays as it was.
            let page = if token < 26 * 16 { token.into() } else { rng.below(4 * 16) };
            bench.write(at, token, page, 1);
            at += 9_000;
        }
        bench.collected();
        assert_eq!(bench.known.len(), 4_000, "{}", entry.name);
        let (blocks, pages) = bench.device.ftl().leveled().unwrap();
        assert!(blocks > 10 && pages > 100, "{}: {blocks} blocks and {pages} pages", entry.name);
        // Blocks that are left behind are nearly full of live pages, and all of these move under one cause.
        assert!(
            pages > 8 * blocks && pages <= 16 * (blocks + 1),
            "{}: {pages} pages of {blocks}",
            entry.name
        );
        let counters = bench.device.counters();
        assert_eq!(counters.victim_pages_moved, pages + counters.gc_pages_moved(), "{}", entry.name);
        let erases = bench.device.ftl().erase_counts();
        let gap = erases.iter().max().unwrap() - erases.iter().min().unwrap();
        assert!(gap <= 8, "{}: a gap of {gap}", entry.name);
    }
}

/// What the cache of a drive has said to hold, or has in line, is programmed although the drive becomes read-only meanwhile.
#[test]
fn what_a_cache_has_taken_is_programmed_after_the_end() {
    for power_protected in [true, false] {
        let mut config = unit(40, 14);
        let (size, ack) = (Some(64 * PAGE), SimDuration(10));
        config.write_cache = WriteCacheConfig { size, ack, power_protected, ..WriteCacheConfig::default() };
        let mut bench = Bench::empty(&config);
        bench.device.wear_out(&WearConfig::of(6), SEED, 0);
        let (mut rng, mut token, mut at) = (Rng::stream(1, "load"), 0, 0);
        while bench.device.read_only_since().is_none() {
            bench.write(at, token, rng.below(26 * 16), 1);
            (token, at) = (token + 1, at + 6_000);
            assert!(token < 100_000, "it wears out");
        }
        let counted = |bench: &Bench| {
            let counters = bench.device.counters();
            let cache = counters.write_cache;
            (cache.admitted_pages, cache.absorbed_pages, counters.programmed(IoCause::Host))
        };
        let (admitted, _, programmed) = counted(&bench);
        assert!(admitted > programmed + 10, "{} pages are in the cache", admitted - programmed);
        bench.collected();
        let (admitted, absorbed, programmed) = counted(&bench);
        assert_eq!(programmed, admitted, "no page that was acknowledged is lost");
        let failed = bench.device.life().unwrap().failed_pages;
        assert!(failed < 2 && admitted + absorbed + failed == u64::from(token), "{failed} failed");
        bench.write(at + 100_000_000, token, 5, 1);
        assert_eq!(bench.device.life().unwrap().failed_pages, failed + 1, "later ones fail");
    }
}
