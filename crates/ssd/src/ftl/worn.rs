//! How worn a drive is.

use super::mapping::Ftl;
use super::state::UnitState;
use super::wear::{Lives, UnitWear};
use crate::block::{BlockState, state_of};
use crate::endurance::WearConfig;

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
        let (shape, used) = (&self.shape, config.used_erases());
        let ends_at = config.ends_at(shape.reserved_blocks, shape.may_retire);
        let endurance = config.drawn(seed, drive);
        for (unit, state) in (0..).zip(&mut self.units).filter(|(_, state)| state.wear.is_none()) {
            let lives = Lives { endurance, of_flash: shape.of_flash(unit), used };
            state.wear = Some(Box::new(UnitWear::new(lives, shape.blocks_per_unit, ends_at)));
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
        let left = |state: &UnitState| state.wear.as_ref().map_or(1.0, |wear| wear.left());
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
