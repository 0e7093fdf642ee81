//! A drive scaled down: fewer blocks, everything else as it is.
//!
//! ```text
//!   full:     4 dies x 1,024 blocks x 256 pages        a unit holds data in T - b + c blocks
//!   1/16:     4 dies x    65 blocks x 256 pages        b: blocks free when collection begins; c < 1, the same in both
//! ```
//!
//! A mapping cache keeps its share of the map. Dies, channels, buses, write cache and times stay, so an operation takes as long as on the full drive. Collection costs as much per
//! byte if the data of a unit has the same share of the blocks that can hold it. So the number of blocks is chosen near the
//! wanted one, where whole blocks of spare meet that share best. Thresholds in blocks stay, and with them the length of a
//! collection. Thresholds in percent stay percentages.
//!
//! Where one program joins blocks of several planes, and where dies share their blocks, a unit has few blocks. At least 256 of them
//! stay, and the rest of the divisor shortens blocks, down to eight programs. The erase of a shorter block takes a shorter time. If the last program of a
//! victim is padded, that costs a shorter block a larger share; how much depends on how many live units victims happen to have.
//!
//! The write amplification of a small pool of N blocks differs from that of a large one. Under skew it differs by about 0.35/N.
//! Where host and collection have frontiers apart the difference is larger.
//!
//! Leaves out: a write cache that shrinks with the drive, and wear, which is that of the small drive while it is simulated.

use harmonia_types::Bytes;

use crate::config::{Amount, Blocks, Infeasible, SsdConfig};
use crate::shape::Shape;

/// A unit whose blocks are joined keeps so many.
const JOINED_BLOCKS: u32 = 256;
/// A block that is shortened keeps so many programs.
const PROGRAMS: u32 = 8;
/// A pool keeps so many closed blocks, and so many for each that an event frees.
const POOL: u32 = 32;
/// How far the number of blocks may be from the wanted one, as a share, so that whole blocks of spare fit.
const NEAR: f64 = 0.05;
const KEY: &str = "ssd.scale";

/// How a scaled drive differs from the full one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaling {
    /// Blocks of an allocation unit, and of the full drive's.
    pub blocks: (u32, u32),
    /// Programs of a block, and of one of the full drive.
    pub programs: (u32, u32),
    /// Blocks of a unit that are full of data while it is in use.
    pub pool: u32,
    /// Expected error of the write amplification under skewed writes. Unit: fraction.
    pub error: f64,
    /// The same under uniform writes, where frontiers are shared. Unit: fraction.
    pub uniform: f64,
    /// Host and collection write to frontiers of their own.
    pub apart: bool,
}

impl SsdConfig {
    /// The drive as it was described: this one, unless it is scaled down.
    pub fn full(&self) -> &SsdConfig {
        self.scale.full.as_deref().unwrap_or(self)
    }

    /// The part of this drive that `ssd.scale` asks for.
    ///
    /// # Errors
    /// If the full drive cannot work, or no such part of it can; the text says the largest divisor that works.
    pub fn scaled(self) -> Result<SsdConfig, Infeasible> {
        if self.scale.is_whole() || self.scale.full.is_some() {
            return Ok(self);
        }
        let full = self.resolve()?;
        let divisor = self.scale.divisor();
        self.part(&full, divisor).map_err(|why| {
            let works = (2..divisor).rev().find(|&less| self.part(&full, less).is_ok());
            let help = works.map_or_else(
                || "the drive is too small to be scaled down".to_owned(),
                |less| format!("1/{less} works"),
            );
            Infeasible { key: KEY, why: format!("{why}; {help}") }
        })
    }

    /// Frontiers of an allocation unit.
    fn frontiers(&self) -> u32 {
        self.placement().map_or(1, |policy| policy.frontiers().all.into())
    }

    /// One part in `divisor` of this drive.
    fn part(&self, full: &Shape, divisor: u32) -> Result<SsdConfig, String> {
        let programs = programs(self);
        let wanted = f64::from(full.blocks_per_unit) / f64::from(divisor);
        let is_joined = self.geometry.program_planes > 1 || !self.ftl.superblock.is_off();
        let shorter = if is_joined { (f64::from(JOINED_BLOCKS) / wanted).max(1.0) } else { 1.0 };
        let kept = (f64::from(programs) / shorter).floor() as u32;
        if kept < PROGRAMS.min(programs) {
            return Err(format!(
                "leaves blocks of {kept} programs: a unit of joined blocks keeps {JOINED_BLOCKS} of them, and each at least {PROGRAMS} \
                 programs"
            ));
        }
        let mut part = self.clone();
        part.scale.full = Some(Box::new(self.clone()));
        part.geometry.pages_per_block = kept * self.geometry.program_pages + self.geometry.summary_pages;
        let share = f64::from(kept) / f64::from(programs);
        part.timing.erase.0 = ((self.timing.erase.0 as f64 * share).round() as u64).max(1);
        let wanted = wanted * f64::from(programs) / f64::from(kept);
        let least = if is_joined { JOINED_BLOCKS.min(full.blocks_per_unit) } else { 1 };
        let bytes = full.block_bytes * u64::from(kept) / u64::from(programs);
        let (blocks, reserved) = self
            .spared(full, (wanted, bytes), least)
            .ok_or_else(|| format!("leaves {wanted:.1} blocks a unit"))?;
        part.geometry.blocks_per_plane = blocks / full.planes_per_unit;
        part.ftl.reserved_blocks = Amount::Blocks(reserved);
        let of = Blocks { count: blocks, bytes };
        part.gc.hard_threshold = self.hard(full, of);
        part.ftl.mapping_cache = self.cached_share(full, (blocks - reserved, bytes));
        // What is said of the pool is said before what follows from it.
        let (begins, frees) = self.begins(full, of);
        let pool = self.pool(blocks, begins);
        if pool < POOL * frees {
            return Err(format!(
                "leaves {pool} closed blocks in an allocation unit, and collections that free {frees} block(s) each need at least \
                 {}",
                POOL * frees
            ));
        }
        part.resolve().map_err(|why| why.why)?;
        Ok(part)
    }

    /// What the memory of a drive holds of its map that has so many blocks of data: the same share of it, in whole pages of the map. What
    /// holds the whole map holds it.
    fn cached_share(&self, full: &Shape, (blocks, bytes): (u32, Bytes)) -> Option<Bytes> {
        let (size, page) = (self.ftl.mapping_cache?, u64::from(full.page_size));
        if full.map_pages().is_empty() {
            return Some(size);
        }
        let of = |bytes: u128| self.map_pages((bytes / u128::from(page)) as u64);
        let whole = of(u128::from(full.logical_pages) * u128::from(page));
        let part = of(u128::from(blocks) * u128::from(bytes));
        let pages = (u128::from(size / page) * u128::from(part)).div_ceil(u128::from(whole)) as u64;
        // Less than the map, as on the full drive.
        Some(pages.min(part - 1).max(1) * page)
    }

    /// The hard threshold with so many blocks. A share that comes to none is one block if the full drive has any.
    fn hard(&self, full: &Shape, of: Blocks) -> Amount {
        let hard = self.gc.hard_threshold;
        if hard.blocks(of, 0) == 0 && full.hard > 0 { Amount::Blocks(1) } else { hard }
    }

    /// How many of so many blocks are free when a collection begins, and how many it frees.
    fn begins(&self, full: &Shape, of: Blocks) -> (u32, u32) {
        let hard = self.hard(full, of).blocks(of, 0);
        let soft = self.gc.soft_threshold.blocks(of, hard);
        let begins = if full.ages_at == full.hard { hard } else { soft };
        (begins, (self.gc.stop_threshold.blocks(of, hard) + 1).saturating_sub(begins).max(1))
    }

    /// Blocks of a unit near the wanted number, and how many of them are spare, so that data has the same share of the blocks that can
    /// hold it. `bytes`: data that one block of every unit holds.
    fn spared(&self, full: &Shape, (wanted, bytes): (f64, Bytes), least: u32) -> Option<(u32, u32)> {
        let density = density(full);
        let planes = full.planes_per_unit;
        let near = (wanted * NEAR).max(f64::from(4 * planes));
        let lowest = ((wanted - near).floor() as u32).max(least).max(1);
        let highest = ((wanted + near).ceil() as u32).max(lowest);
        let candidates = (lowest..=highest).filter(|blocks| blocks.is_multiple_of(planes));
        let miss = |blocks: u32| {
            let ideal = density * {
                let (begins, frees) = self.begins(full, Blocks { count: blocks, bytes });
                room(blocks, begins, frees)
            };
            let whole = ideal.round();
            ((whole - ideal).abs(), whole as u32)
        };
        let best = candidates.min_by(|&one, &other| {
            let far = |blocks: u32| (f64::from(blocks) - wanted).abs();
            let by_miss = (miss(one).0 * 50.0).round().total_cmp(&(miss(other).0 * 50.0).round());
            by_miss.then(far(one).total_cmp(&far(other)))
        })?;
        let data = miss(best).1;
        (data > 0 && data < best).then(|| (best, best - data))
    }

    /// Closed blocks of a unit of so many, of which so many are free when collection begins.
    fn pool(&self, blocks: u32, free: u32) -> u32 {
        let frontiers = self.frontiers();
        blocks.saturating_sub(free + frontiers)
    }

    /// How this drive differs from the full one; `None` if it is that.
    pub fn scaling(&self) -> Option<Scaling> {
        let described = self.scale.full.as_deref()?;
        let (shape, full) = (self.resolve().ok()?, described.resolve().ok()?);
        let pool = self.pool(shape.blocks_per_unit, shape.ages_at);
        let apart = self.frontiers() > 1;
        // Of N blocks: 13.6% at 64, 3.8% at 256 and 1% at 900 with greedy and frontiers apart; 1% at 256 with other victims.
        let of_one = match apart {
            true if self.gc.victim.policy == "greedy" => 9.0,
            true => 2.6,
            false => 0.35,
        };
        let rest = self.padding(&shape) - described.padding(&full);
        let rounding = rest.max(0.0) + (density(&shape) / density(&full) - 1.0).abs() * 0.9 / spare(&full);
        Some(Scaling {
            blocks: (shape.blocks_per_unit, full.blocks_per_unit),
            programs: (programs(self), programs(described)),
            pool,
            error: of_one / f64::from(pool.max(1)) + rounding,
            uniform: 0.003 + rounding,
            apart,
        })
    }
}

impl SsdConfig {
    /// What padding the last program of a victim costs, as a share of write amplification: half a program on average, of a block whose
    /// victims have about twice as much room as blocks have on average. Unit: fraction.
    fn padding(&self, shape: &Shape) -> f64 {
        let pads = shape.packing.packs() && !shape.fills;
        let programs = shape.data_pages / shape.packing.slots_per_program();
        if pads { 0.25 / f64::from(programs) / (1.0 - density(shape)) } else { 0.0 }
    }
}

/// Programs that fill a block.
fn programs(config: &SsdConfig) -> u32 {
    config.geometry.data_pages_per_block() / config.geometry.program_pages
}

/// The share of the blocks that can hold data which data fills.
fn density(shape: &Shape) -> f64 {
    let frees = (shape.stop + 1).saturating_sub(shape.ages_at).max(1);
    f64::from(shape.blocks_per_unit - shape.reserved_blocks)
        / room(shape.blocks_per_unit, shape.ages_at, frees)
}

/// Spare blocks as a share of those that data fills.
fn spare(shape: &Shape) -> f64 {
    f64::from(shape.reserved_blocks) / f64::from(shape.blocks_per_unit - shape.reserved_blocks)
}

/// Blocks that can hold data, of so many of which `free` are free when a collection begins that frees `frees`: all others but, on
/// average, the part of the open block that is not filled and half of what is freed. Measured on pools of 60 to 500 blocks: 1.15
/// where an event frees one.
fn room(blocks: u32, free: u32, frees: u32) -> f64 {
    f64::from(blocks) - f64::from(free) - 1.15 - f64::from(frees - 1) / 2.0
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;

    use super::*;
    use crate::config::{LastProgram, Scale, Superblock};
    use crate::placement::Frontiers;

    fn drive(blocks: u32) -> SsdConfig {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        config.geometry.blocks_per_plane = blocks;
        config
    }

    fn part(config: &SsdConfig, divisor: u32) -> Result<(SsdConfig, Shape), String> {
        let part = SsdConfig { scale: Scale::one_in(divisor), ..config.clone() }.scaled();
        part.map_err(|why| why.to_string()).map(|part| {
            let shape = part.resolve().expect("a part that works");
            (part, shape)
        })
    }

    /// Dies, channels, times and pages of a block stay; data has the same share of what can hold it.
    #[test]
    fn a_part_loses_blocks_and_nothing_else() {
        let full = drive(512);
        let shape = full.resolve().unwrap();
        for divisor in [2, 4, 8, 16] {
            let (part, small) = part(&full, divisor).unwrap();
            let mut same = full.clone();
            same.geometry.blocks_per_plane = part.geometry.blocks_per_plane;
            assert_eq!((&part.geometry, &part.timing), (&same.geometry, &full.timing));
            assert_eq!(part.full(), &SsdConfig { scale: Scale::one_in(divisor), ..full.clone() });
            let wanted = f64::from(shape.blocks_per_unit) / f64::from(divisor);
            assert!((f64::from(small.blocks_per_unit) / wanted - 1.0).abs() <= 0.13, "{small:?}");
            let blocks = (density(&small) / density(&shape) - 1.0) * f64::from(small.blocks_per_unit);
            assert!(blocks.abs() < 0.1, "1/{divisor}: {blocks} blocks too many");
        }
    }

    #[test]
    fn the_whole_drive_stays_as_it_is() {
        let full = drive(512);
        assert_eq!(part(&full, 1).unwrap().0, full);
        assert_eq!((full.full(), full.scaling()), (&full, None));
        assert_eq!([1, 16].map(|divisor| Scale::one_in(divisor).to_string()), ["1", "1/16"]);
    }

    #[test]
    fn a_pool_that_is_too_small_is_told_the_largest_divisor_that_works() {
        let full = drive(512);
        let why = part(&full, 100).unwrap_err();
        let works: u32 =
            why.split("; 1/").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
        assert!(part(&full, works).is_ok() && part(&full, works + 1).is_err(), "{why}");
        assert!(why.contains("closed blocks"), "{why}");
        let pool = part(&full, works).unwrap().0.scaling().unwrap().pool;
        assert!((POOL..POOL + 8).contains(&pool), "{pool}");
    }

    /// A collection that frees four blocks needs four times the pool.
    #[test]
    fn long_collections_need_larger_pools() {
        let mut full = drive(2048);
        full.gc.stop_threshold = Amount::AboveHard(3);
        let works = |full: &SsdConfig| (2..200).rev().find(|&divisor| part(full, divisor).is_ok()).unwrap();
        let (long, short) = (works(&full), works(&drive(2048)));
        assert!((3..=5).contains(&(short / long)), "{short} and {long}");
        let pool = part(&full, long).unwrap().0.scaling().unwrap().pool;
        assert!(pool >= 4 * POOL, "{pool}");
    }

    /// A part has as many bytes free as the drive, in fewer and shorter blocks.
    #[test]
    fn thresholds_in_bytes_stay_where_they_are() {
        let mut full = SsdConfig::of(presets::find("modern-tlc-1t").expect("a preset"));
        full.ftl.mapping_unit = Some(4096);
        full.gc.hard_threshold = Amount::Bytes(1 << 30);
        full.gc.stop_threshold = Amount::BytesAboveHard(1_300_000_000);
        let free = |shape: &Shape, blocks: u32| u64::from(blocks) * shape.block_bytes;
        // A block of each of 16 dies: 288 pages of four planes, 288 MiB in all.
        let whole = full.resolve().unwrap();
        assert_eq!((whole.block_bytes, whole.hard, whole.stop), (288 << 20, 4, 4 + 5));
        let (_, small) = part(&full, 16).unwrap();
        assert!(small.block_bytes < whole.block_bytes, "{small:?}");
        assert_eq!(free(&small, small.hard), (1_u64 << 30).next_multiple_of(small.block_bytes));
        let above = free(&small, small.stop - small.hard);
        assert_eq!(above, 1_300_000_000_u64.next_multiple_of(small.block_bytes));
        let blocks = (density(&small) / density(&whole) - 1.0) * f64::from(small.blocks_per_unit);
        assert!(blocks.abs() < 0.1, "{blocks} blocks too many");
    }

    /// Of 100 blocks four are free when collection begins, and half of what it frees beyond the first one is free on average.
    #[test]
    fn what_is_free_and_half_of_what_is_freed_holds_no_data() {
        let holds = [1, 2, 3, 4].map(|frees| room(100, 4, frees));
        for (found, expected) in holds.into_iter().zip([94.85, 94.35, 93.85, 93.35]) {
            assert!((found - expected).abs() < 1e-9, "{holds:?}");
        }
    }

    #[test]
    fn spare_is_a_share_of_what_data_fills() {
        let shape = Shape { blocks_per_unit: 112, reserved_blocks: 12, ..drive(512).resolve().unwrap() };
        assert_eq!(spare(&shape), 0.12);
    }

    /// Blocks of several planes become fewer down to 256, and then shorter down to eight programs.
    #[test]
    fn joined_blocks_become_shorter() {
        let mut full = SsdConfig::of(presets::find("modern-tlc-1t").expect("a preset"));
        full.ftl.mapping_unit = Some(4096);
        let of = |divisor| part(&full, divisor).map(|(part, _)| (part.clone(), part.scaling().unwrap()));
        let (half, how) = of(2).unwrap();
        assert_eq!((how.programs, half.timing.erase), ((96, 96), full.timing.erase));
        assert!((1700..1950).contains(&how.blocks.0), "{how:?}");
        let (part, how) = of(100).unwrap();
        assert!((256..=270).contains(&how.blocks.0) && how.programs.1 == 96, "{how:?}");
        let shorter = f64::from(how.programs.0) / 96.0;
        assert!((0.12..0.16).contains(&shorter), "{how:?}");
        assert!((part.timing.erase.0 as f64 / full.timing.erase.0 as f64 / shorter - 1.0).abs() < 0.01);
        let why = of(1000).unwrap_err();
        assert!(why.contains("programs") && why.contains("; 1/1"), "{why}");
    }

    /// Half a program of 13 is padding, where 14% of a block is spare, and victims have twice that.
    #[test]
    fn padding_costs_shorter_blocks_more() {
        let mut full = SsdConfig::of(presets::find("modern-tlc-1t").expect("a preset"));
        full.ftl.mapping_unit = Some(4096);
        let [padded, filled] = [LastProgram::Padded, LastProgram::Filled].map(|last| {
            full.gc.last_program = last;
            part(&full, 100).unwrap().0.scaling().unwrap()
        });
        let spare = 1.0 - density(&full.resolve().unwrap());
        let expected = 0.25 / spare * (1.0 / f64::from(padded.programs.0) - 1.0 / 96.0);
        let costs = padded.uniform - filled.uniform;
        assert!((costs / expected - 1.0).abs() < 0.05 && costs > 0.03, "{costs}, and {expected} is expected");
    }

    /// So do superblocks, of which a unit has as few.
    #[test]
    fn superblocks_become_shorter() {
        let mut full = drive(1024);
        full.geometry.pages_per_block = 64 + full.geometry.summary_pages;
        full.geometry.summary_pages = 0;
        full.ftl.superblock = Superblock::Drive;
        let shape = full.resolve().unwrap();
        let (part, small) = part(&full, 8).unwrap();
        let how = part.scaling().unwrap();
        assert!((256..=270).contains(&how.blocks.0) && how.programs.0 < how.programs.1, "{how:?}");
        assert_eq!(small.dies_per_unit, shape.dies_per_unit);
        let why = super::tests::part(&full, 1000).unwrap_err();
        assert!(why.contains("joined blocks keeps 256") && why.contains("; 1/"), "{why}");
    }

    #[test]
    fn frontiers_apart_cost_more() {
        let mut full = drive(512);
        let shared = part(&full, 4).unwrap().0.scaling().unwrap();
        full.ftl.frontiers = Frontiers::Separate;
        let apart = part(&full, 4).unwrap().0.scaling().unwrap();
        assert!(apart.error > 5.0 * shared.error && apart.apart && !shared.apart);
        let rounding = shared.uniform - 0.003;
        assert!(((shared.error - rounding) * f64::from(shared.pool) - 0.35).abs() < 1e-9);
    }

    /// Parts of two drives as they came to be: blocks of a unit, spare ones, pages of a block, blocks that hold data, and the error in
    /// parts of 10,000.
    #[test]
    fn parts_of_known_drives_stay_as_they_are() {
        let mut modern = SsdConfig::of(presets::find("modern-tlc-1t").expect("a preset"));
        modern.ftl.mapping_unit = Some(4096);
        let mut separate = drive(2048);
        separate.ftl.frontiers = Frontiers::Separate;
        let mut percent = drive(2048);
        percent.gc.hard_threshold = Amount::Percent(1.0);
        let found: Vec<_> = [
            (&drive(512), 2),
            (&drive(512), 8),
            (&separate, 16),
            (&percent, 30),
            (&modern, 2),
            (&modern, 100),
        ]
        .into_iter()
        .map(|(full, divisor)| {
            let (part, shape) = part(full, divisor).expect("it works");
            let how = part.scaling().expect("it is scaled");
            let error = (how.error * 10_000.0).round() as u32;
            (shape.blocks_per_unit, shape.reserved_blocks, part.geometry.pages_per_block, how.pool, error)
        })
        .collect();
        let expected = [
            (516, 77, 16, 490, 9),
            (122, 19, 16, 115, 64),
            (260, 40, 16, 245, 371),
            (136, 21, 16, 134, 53),
            (1805, 271, 288, 1714, 2),
            (270, 41, 39, 256, 1598),
        ];
        assert_eq!(found, expected);
    }
}
