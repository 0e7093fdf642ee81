//! How far the life of a drive has come, where its blocks wear out: the figures of a SMART log, at the end of a run.
//!
//! Counts go on from when the drive was new: what the scenario says that it had behind it, ageing, warm-up and the measured window.
//! Only bytes do not know of what was before ageing.
//!
//! Not reported: blocks that were bad from the beginning, errors of reads.

use serde::{Deserialize, Serialize};

/// Keys of `life`, in every entry of the report's `devices`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LifeReport {
    /// Erases of a block since the drive was new, the fewest of the blocks that are still used. Unit: count.
    pub erases_min: u64,
    /// Their mean over all blocks, retired ones included. Unit: count.
    pub erases_mean: f64,
    /// The most of any block. Unit: count.
    pub erases_max: u64,
    /// Blocks that have reached their endurance and are not used any more. Unit: count.
    pub retired_blocks: u64,
    /// What is left of the spare blocks that may wear out, in the allocation unit that has lost most; 0 where the drive is
    /// read-only. As a share, from 0 to 1. Unit: ratio.
    pub available_spare: f64,
    /// Mean erases as a share of the mean endurance; above 1 beyond it. Unit: ratio.
    pub used: f64,
    /// Written to the drive by the array, in whole pages, ageing included. Unit: bytes.
    pub host_bytes: u64,
    /// Programmed into its flash, summary pages left out, ageing included. Unit: bytes.
    pub media_bytes: u64,
    /// When the first block retired in this run; null if none has. Unit: s.
    pub first_retired_s: Option<f64>,
    /// Since when the drive has been read-only; null if it still takes writes. Unit: s.
    pub read_only_s: Option<f64>,
    /// Pages of writes and discards that have failed since. Unit: pages.
    pub failed_pages: u64,
}

/// Keys of `leveling`, in every entry of the report's `devices`: over the whole run, the warm-up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LevelingReport {
    /// Blocks collected to level wear. They count as victims, too. Unit: count.
    pub blocks: u64,
    /// Pages moved out of them. They do not count as moved by garbage collection. Unit: pages.
    pub pages: u64,
}
