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
//! Not modelled: blocks that are bad from the beginning, blocks that fail before their endurance, and errors of reads that become
//! more frequent with wear.

use crate::block::{BlockId, BlockState, BlockTable, state_of};

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
    /// Blocks with these limits, of which so many may retire.
    pub fn new(limits: Vec<u32>, ends_at: u32) -> UnitWear {
        UnitWear { limits, retired: 0, ends_at }
    }

    /// What is left of the blocks that may retire, 0 to 1.
    pub fn left(&self) -> f64 {
        1.0 - f64::from(self.retired) / f64::from(self.ends_at)
    }

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
