//! How often blocks can be erased.
//!
//! ```text
//! endurance of a block = mean x (1 + drive_spread x D) x (1 + spread x B)        D, B: normal, from a hash
//! D from (seed, drive)        B from (seed, drive, unit, block)
//! ```
//!
//! Endurance comes from a hash of the block's place and not from a stream of random numbers. So it depends neither on the order of
//! events nor on what else a scenario draws, and a test can compute the endurance of any block.
//!
//! Both spreads are assumptions: no published measurement of either was found.

use harmonia_engine::Rng;
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
        let of_block = [drive.into(), unit.into(), block.into()];
        let of_drive = self.of_drive(seed, drive);
        let of_block = Rng::at(seed, "endurance/block", &of_block).normal(1.0, self.spread);
        (f64::from(self.endurance) * of_drive * of_block).round().max(1.0) as u32
    }

    /// Blocks that a unit may lose before its drive takes no more writes: of so many spare blocks, and no more than it
    /// `may_retire`.
    pub fn ends_at(&self, reserved_blocks: u32, may_retire: u32) -> u32 {
        let share = (f64::from(reserved_blocks) * self.end_at_spare - 1e-9).ceil() as u32;
        share.clamp(1, may_retire)
    }
}
