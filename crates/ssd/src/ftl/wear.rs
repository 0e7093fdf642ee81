//! Blocks of a unit that wear out.
//!
//! Every block has an endurance of its own, a number of erases. A block that has reached its endurance when it is erased retires:
//! it is not used any more, and the unit has one spare block less. So garbage collection has less room, and write amplification
//! rises as a drive grows old. When a unit has lost so many blocks that the drive counts as worn out, no further block of the unit
//! retires, because collection needs what is left.
//!
//! A drive may begin a run used: then all of its blocks have the same number of erases behind them, a share of the mean endurance.
//! Ageing erases on top of that. A block whose endurance is behind it already retires at its next erase.
//!
//! The endurance of a block is drawn when the block has been erased as often as the weakest block might endure. Most runs end long
//! before that, and an array has half a million blocks. Where blocks differ much (a spread above 11%), and on drives that are used
//! already, it is the first erase.
//!
//! Not modelled: blocks that are bad from the beginning, blocks that fail before their endurance, and errors of reads that become
//! more frequent with wear.

use std::ops::Range;

use crate::block::{BlockId, BlockState, BlockTable, state_of};
use crate::endurance::DriveEndurance;

/// When the blocks of a unit retire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lives {
    pub endurance: DriveEndurance,
    /// The blocks of the flash that make one of the unit.
    pub of_flash: Range<u32>,
    /// Erases that all blocks have behind them, and the table does not count.
    pub used: u32,
}

impl Lives {
    /// Erases at which a block retires, as the table counts them; at least one.
    fn limit(&self, block: u32) -> u32 {
        let endures =
            self.of_flash.clone().map(|of_flash| self.endurance.endurance_of(of_flash, block)).min();
        self.counted(endures.unwrap_or_default())
    }

    /// No block retires with fewer erases.
    fn least(&self) -> u32 {
        self.counted(self.endurance.least())
    }

    fn counted(&self, erases: u32) -> u32 {
        erases.saturating_sub(self.used).max(1)
    }
}

/// What a unit knows of the lives of its blocks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnitWear {
    lives: Lives,
    least: u32,
    /// By block: erases, as the table counts them, at which it retires; 0 where that is not drawn yet.
    limits: Vec<u32>,
    pub retired: u32,
    /// With so many retired blocks the drive takes no more writes, and no further block retires.
    ends_at: u32,
}

impl UnitWear {
    /// So many blocks with these lives, of which some may retire.
    pub fn new(lives: Lives, blocks: u32, ends_at: u32) -> UnitWear {
        UnitWear { least: lives.least(), lives, limits: vec![0; blocks as usize], retired: 0, ends_at }
    }

    /// What is left of the blocks that may retire, 0 to 1.
    pub fn left(&self) -> f64 {
        1.0 - f64::from(self.retired) / f64::from(self.ends_at)
    }

    /// Whether a block that was erased so often may have reached its endurance.
    #[inline]
    pub fn may_be_due(&self, erases: u32) -> bool {
        erases >= self.least
    }

    /// Whether a block that was erased for the last time, so often, retires; counts it if so.
    pub fn retires(&mut self, block: BlockId, erases: u32, has_room: bool) -> bool {
        let limit = &mut self.limits[block.index()];
        if *limit == 0 {
            *limit = self.lives.limit(block.0);
        }
        let retires = erases >= *limit && self.retired < self.ends_at && has_room;
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
            if state_of(table.entries[block]) == BlockState::Retired {
                let is_due = table.erases[block] >= self.lives.limit(block as u32);
                assert!(is_due, "unit {unit} block {block}: retired before its time");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;

    use super::*;
    use crate::endurance::WearConfig;

    /// Random erases of random units, beside a rule that has drawn the endurance of every block before the first of them.
    #[test]
    fn blocks_retire_as_if_all_had_been_drawn_at_first() {
        let mut rng = Rng::stream(11, "units");
        let (mut retired, mut spared) = (0, 0);
        for round in 0..300 {
            let mut pick = |values: &[f64]| values[rng.below(values.len() as u64) as usize];
            let config = WearConfig {
                spread: pick(&[0.0, 0.01, 0.05, 0.1, 0.5]),
                drive_spread: pick(&[0.0, 0.03, 0.5]),
                used: pick(&[0.0, 0.3, 0.9, 1.0]),
                ..WearConfig::of(pick(&[1.0, 5.0, 40.0]) as u32)
            };
            let (joined, unit, drive) = (1 + rng.below(4) as u32, rng.below(9) as u32, rng.below(99) as u16);
            let of_flash = unit * joined..(unit + 1) * joined;
            let (endurance, used) = (config.drawn(round, drive), config.used_erases());
            let lives = Lives { endurance, of_flash: of_flash.clone(), used };
            let (blocks, ends_at) = (16, 1 + rng.below(12) as u32);
            let mut wear = UnitWear::new(lives, blocks, ends_at);
            let endures = |block| {
                let of_flash = of_flash.clone();
                of_flash.map(|unit| config.endurance_of(round, drive, unit, block)).min().expect("some")
            };
            let limits: Vec<u32> =
                (0..blocks).map(|block| endures(block).saturating_sub(config.used_erases())).collect();
            let (mut erases, mut is_retired) = (vec![0; blocks as usize], vec![false; blocks as usize]);
            for _ in 0..blocks * 50 {
                let block = rng.below(blocks.into()) as usize;
                if is_retired[block] {
                    continue;
                }
                let has_room = rng.chance(0.9);
                erases[block] += 1;
                let lost = is_retired.iter().filter(|&&is_retired| is_retired).count();
                is_retired[block] = erases[block] >= limits[block] && lost < ends_at as usize && has_room;
                let may_be_due = wear.may_be_due(erases[block]);
                let retires = may_be_due && wear.retires(BlockId(block as u32), erases[block], has_room);
                assert_eq!(retires, is_retired[block], "round {round}: {config:?}, block {block}");
                (retired, spared) = (retired + u32::from(retires), spared + u32::from(!may_be_due));
            }
        }
        assert!(retired > 1_000 && spared > 10_000, "{retired} blocks retired, {spared} erases drew nothing");
    }
}
