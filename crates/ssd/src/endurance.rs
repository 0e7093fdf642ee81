//! How often blocks can be erased.
//!
//! ```text
//! endurance of a block = mean x (1 + drive_spread x D) x (1 + spread x B)        D, B: normal, from a hash
//! D from (seed, drive)        B from (seed, drive, unit, block)
//! ```
//!
//! Endurance comes from a hash of the block's place and not from a stream of random numbers. So it depends neither on the order of
//! events nor on what else a scenario draws, and a test can compute the endurance of any block. Units are counted as if there were no
//! superblocks. A superblock endures what the weakest of its blocks does.
//!
//! Not modelled: blocks of several planes that one program writes (`ssd.geometry.program_planes`) have one endurance together, unless they are
//! in a superblock.
//!
//! Both spreads are assumptions: no published measurement of either was found.

use harmonia_engine::{Places, Rng};
use serde::Serialize;

/// The `[ssd.wear]` table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WearConfig {
    /// Erases that a block endures, the mean.
    pub endurance: u32,
    /// Standard deviation of the endurance between blocks, as a share of the mean.
    pub spread: f64,
    /// The same between drives.
    pub drive_spread: f64,
    /// A drive takes no more writes when a unit has lost this share of its spare blocks.
    pub end_at_spare: f64,
    /// Share of the mean endurance that all blocks have behind them when the run begins.
    pub used: f64,
}

impl WearConfig {
    /// Blocks with this endurance, new, with the usual spreads.
    pub fn of(endurance: u32) -> WearConfig {
        WearConfig { endurance, spread: 0.10, drive_spread: 0.03, end_at_spare: 0.50, used: 0.0 }
    }

    /// Erases that all blocks have behind them when the run begins, those of ageing not counted.
    pub fn used_erases(&self) -> u32 {
        (f64::from(self.endurance) * self.used).round() as u32
    }

    /// How much longer than the mean the blocks of a drive last. Unit: ratio.
    pub fn of_drive(&self, seed: u64, drive: u16) -> f64 {
        Rng::at(seed, "endurance/drive", &[drive.into()]).normal(1.0, self.drive_spread)
    }

    /// How often a block can be erased, those erases included that it has behind it. At least once.
    pub fn endurance_of(&self, seed: u64, drive: u16, unit: u32, block: u32) -> u32 {
        self.drawn(seed, drive).endurance_of(unit, block)
    }

    /// What blocks of this drive endure.
    pub fn drawn(&self, seed: u64, drive: u16) -> DriveEndurance {
        let mean = f64::from(self.endurance) * self.of_drive(seed, drive);
        DriveEndurance { mean, spread: self.spread, seed, drive }
    }

    /// Blocks that a unit may lose before its drive takes no more writes: of so many spare blocks, and no more than it
    /// `may_retire`.
    pub fn ends_at(&self, reserved_blocks: u32, may_retire: u32) -> u32 {
        let share = (f64::from(reserved_blocks) * self.end_at_spare - 1e-9).ceil() as u32;
        share.clamp(1, may_retire)
    }
}

/// The endurance of the blocks of one drive: of each it is drawn when it is asked for, and the same every time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveEndurance {
    /// Of the blocks of this drive. Unit: erases.
    mean: f64,
    /// As a share of the mean.
    spread: f64,
    seed: u64,
    drive: u16,
}

impl DriveEndurance {
    /// How often a block can be erased, those erases included that it has behind it. At least once.
    pub fn endurance_of(&self, unit: u32, block: u32) -> u32 {
        self.erases(self.of_block(self.places(unit), block))
    }

    /// How much longer than the mean of their drive the first so many blocks of a unit last. Unit: ratio.
    pub fn of_blocks(&self, unit: u32, blocks: u32) -> impl Iterator<Item = f64> + use<'_> {
        let places = self.places(unit);
        (0..blocks).map(move |block| self.of_block(places, block))
    }

    /// How often a block can be erased that lasts so much longer than the mean of the drive.
    pub fn erases(&self, of_block: f64) -> u32 {
        (self.mean * of_block).round().max(1.0) as u32
    }

    /// No block of the drive endures less than this; known without drawing any.
    pub fn least(&self) -> u32 {
        // The mean of a drive may be below 0 where drives differ much: then a block may endure anything.
        if self.mean > 0.0 { self.erases(1.0 - self.spread * Rng::FARTHEST) } else { 1 }
    }

    fn places(&self, unit: u32) -> Places {
        Places::of(self.seed, "endurance/block", &[self.drive.into(), unit.into()])
    }

    #[inline]
    fn of_block(&self, places: Places, block: u32) -> f64 {
        places.at(block.into()).normal(1.0, self.spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most draws are far above the bound, and it is near the mean where blocks hardly differ.
    #[test]
    fn no_block_endures_less_than_the_least() {
        let mut above = 0;
        for drive in 0..200 {
            for spread in [0.0, 0.01, 0.1, 0.5] {
                for drive_spread in [0.0, 0.03, 0.5] {
                    let wear = WearConfig { spread, drive_spread, ..WearConfig::of(3_000) };
                    let drawn = wear.drawn(9, drive);
                    let least = drawn.least();
                    let blocks: Vec<u32> =
                        (0..50).map(|block| drawn.endurance_of(drive.into(), block)).collect();
                    let weakest = *blocks.iter().min().expect("there are blocks");
                    assert!(least >= 1 && weakest >= least, "{wear:?}, drive {drive}: {weakest} < {least}");
                    above += u32::from(least > 1);
                    let of_blocks = drawn.of_blocks(drive.into(), 50).map(|ratio| drawn.erases(ratio));
                    assert!(of_blocks.eq(blocks), "one after the other as one by one");
                }
            }
        }
        assert!(above > 1_500, "{above} of 2,400 drives");
        let alike = WearConfig { spread: 0.0, drive_spread: 0.0, ..WearConfig::of(3_000) };
        assert_eq!(alike.drawn(1, 0).least(), 3_000);
    }

    /// As the module says it, with a stream for each draw.
    #[test]
    fn endurance_is_drawn_as_it_is_defined() {
        let wear = WearConfig::of(100_000);
        for (seed, drive, unit, block) in [(0, 0, 0, 0), (1, 2, 3, 4), (u64::MAX, 300, 70_000, 65_536)] {
            let of_drive = Rng::at(seed, "endurance/drive", &[drive.into()]).normal(1.0, 0.03);
            let place = [u64::from(drive), u64::from(unit), u64::from(block)];
            let of_block = Rng::at(seed, "endurance/block", &place).normal(1.0, 0.10);
            let erases = (100_000.0 * of_drive * of_block).round() as u32;
            assert_eq!(wear.endurance_of(seed, drive, unit, block), erases, "{place:?}");
        }
    }
}
