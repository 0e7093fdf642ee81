//! What an array does to keep requests from members that collect: reads answered without them, writes kept in NVRAM.
//!
//! The array crate counts, over the measured window. The load that this puts on other members is in the blame of the
//! requests that caused it, and in the members' own page reads.

use serde::{Deserialize, Serialize};

/// The report's `array.reconstruct`; absent where reads wait for members that collect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReconstructReport {
    /// Pages read from another copy, or rebuilt from the other members. Unit: pages.
    pub rebuilt_pages: u64,
    /// Pages read from other members for that. Unit: pages.
    pub extra_pages: u64,
    /// Rows read by how many of their members collected: none, one, two, three or more. Unit: rows.
    pub rows_by_busy_members: [u64; 4],
    /// Reads sent a second way because the first took too long. Unit: count.
    pub hedges: u64,
    /// Those of them that were answered first. Unit: count.
    pub hedges_won: u64,
    /// Pages that waited for a member that collected although their read was to avoid it. Unit: pages.
    pub waited_pages: u64,
}

/// The report's `array.nvram`; absent without any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NvramReport {
    /// What it holds. Unit: bytes.
    pub size_bytes: u64,
    /// Pages parked in it. Unit: pages.
    pub parked_pages: u64,
    /// The most it ever held at once, the warm-up included. Unit: bytes.
    pub high_water_bytes: u64,
    /// Writes that waited because it was full. Unit: count.
    pub full_waits: u64,
    /// Pages written to their member later. Unit: pages.
    pub destaged_pages: u64,
    /// Pages dropped because the host wrote them again while they were parked. Unit: pages.
    pub superseded_pages: u64,
}
