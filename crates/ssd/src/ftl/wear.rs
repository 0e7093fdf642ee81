//! How often blocks can be erased, and what is left of them.
//!
//! Every block has an endurance of its own, a number of erases. A block that has reached its endurance when it is erased retires:
//! it is not used any more, and the unit has one spare block less. So garbage collection has less room, and write amplification
//! rises as a drive grows old. When a unit has lost so many blocks that the drive counts as worn out, no further block of the unit
//! retires, because collection needs what is left.
//!
//! ```text
//! endurance of a block = mean x (1 + drive_spread x D) x (1 + spread x B)        D, B: normal, from a hash
//! D from (seed, drive)        B from (seed, drive, unit, block)
//! ```
//!
//! Endurance comes from a hash of the block's place and not from a stream of random numbers. So it depends neither on the order of
//! events nor on what else a scenario draws, and a test can compute the endurance of any block.
//!
//! A drive may begin a run used: then all of its blocks have the same number of erases behind them, a share of the mean endurance.
//! Ageing erases on top of that. A block whose endurance is behind it already retires at its next erase.
//!
//! Not modelled: blocks that are bad from the beginning, blocks that fail before their endurance, and errors of reads that become
//! more frequent with wear. Both spreads are assumptions: no published measurement of either was found.

use harmonia_engine::Rng;
use serde::Serialize;

use super::Ftl;
use crate::block::{BlockId, BlockState, BlockTable, state_of};

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

    /// How often a block can be erased, those erases included that it has behind it. At least once.
    pub fn endurance_of(&self, seed: u64, drive: u16, unit: u32, block: u32) -> u32 {
        let of_block = [drive.into(), unit.into(), block.into()];
        let of_drive = Rng::at(seed, "endurance/drive", &of_block[..1]).normal(1.0, self.drive_spread);
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

/// What a unit knows of the lives of its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnitWear {
    /// By block: erases, as the table counts them, at which it retires.
    limits: Vec<u32>,
    pub retired: u32,
    /// With so many retired blocks the drive takes no more writes, and no further block retires.
    ends_at: u32,
}

impl UnitWear {
    /// Whether a block that was erased for the last time, so often, retires; counts it if so.
    pub fn retires(&mut self, block: BlockId, erases: u32, has_room: bool) -> bool {
        let retires = erases >= self.limits[block.index()] && self.retired < self.ends_at && has_room;
        self.retired += u32::from(retires);
        retires
    }

    /// Whether the unit has lost as many blocks as it can.
    pub fn is_worn_out(&self) -> bool {
        self.retired >= self.ends_at
    }

    /// # Panics
    /// If a block has retired before its time.
    pub fn audit(&self, unit: u32, table: &BlockTable<'_>) {
        assert!(self.retired <= self.ends_at, "unit {unit}: more blocks retired than it could lose");
        for block in table.ids().map(BlockId::index) {
            let is_due = table.erases[block] >= self.limits[block];
            let is_retired = state_of(table.entries[block]) == BlockState::Retired;
            assert!(is_due || !is_retired, "unit {unit} block {block}: retired before its time");
        }
    }
}

/// How worn a drive is: counts since it was new.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Worn {
    /// Erases of a block that is still used: the fewest.
    pub erases_min: u32,
    /// The mean of all blocks, retired ones included.
    pub erases_mean: f64,
    /// The most of any block.
    pub erases_max: u32,
    /// Blocks that have retired.
    pub retired_blocks: u64,
    /// What is left of the spare blocks of the unit that has lost most of them, 0 to 1: 0 when the drive takes no more writes.
    pub available_spare: f64,
    /// Mean erases as a share of the mean endurance; may exceed 1.
    pub used: f64,
}

impl Ftl {
    /// Blocks wear out from now on. Nothing happens if they do already.
    pub fn wear_out(&mut self, config: &WearConfig, seed: u64, drive: u16) {
        let (blocks, used) = (self.shape.blocks_per_unit, config.used_erases());
        let ends_at = config.ends_at(self.shape.reserved_blocks, self.shape.may_retire);
        for (unit, state) in (0..).zip(&mut self.units).filter(|(_, state)| state.wear.is_none()) {
            let limit = |block| config.endurance_of(seed, drive, unit, block).saturating_sub(used);
            let limits = (0..blocks).map(limit).collect();
            state.wear = Some(Box::new(UnitWear { limits, retired: 0, ends_at }));
        }
    }

    /// Whether a unit has lost as many blocks as it can.
    pub fn is_worn_out(&self, unit: u32) -> bool {
        self.units[unit as usize].wear.as_ref().is_some_and(|wear| wear.is_worn_out())
    }

    /// How worn the drive is.
    pub fn worn(&self, config: &WearConfig) -> Worn {
        let used = config.used_erases();
        let states = self.entries.iter().map(|&entry| state_of(entry));
        let in_use = self.erases.iter().zip(states).filter(|(_, state)| *state != BlockState::Retired);
        let all: u64 = self.erases.iter().map(|&erases| u64::from(erases)).sum();
        let erases_mean = f64::from(used) + all as f64 / self.erases.len() as f64;
        let left = |state: &super::UnitState| {
            let wear = state.wear.as_ref();
            wear.map_or(1.0, |wear| 1.0 - f64::from(wear.retired) / f64::from(wear.ends_at))
        };
        Worn {
            erases_min: used + in_use.map(|(&erases, _)| erases).min().unwrap_or_default(),
            erases_mean,
            erases_max: used + self.erases.iter().copied().max().unwrap_or_default(),
            retired_blocks: self.units.iter().map(|state| u64::from(state.retired())).sum(),
            available_spare: self.units.iter().map(left).fold(1.0, f64::min),
            used: erases_mean / f64::from(config.endurance),
        }
    }
}
