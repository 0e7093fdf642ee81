//! What redundancy makes of writes: counters of an array whose level has parity or copies.
//!
//! The array crate counts, over the measured window. A row is the same 4 KiB of every member (one page where pages are
//! larger), the piece in which parity is made.
//!
//! Not measured: parity pages written, which [`ArrayReport`](crate::ArrayReport) takes from the members' programs.

use serde::{Deserialize, Serialize};

/// The report's `array.redundancy`, absent where the level has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedundancyReport {
    /// Writes and discards that waited because another one held one of their rows. Unit: count.
    pub stripe_waits: u64,
    /// Rows whose new parity was made from the old data and the old parity. Unit: rows.
    pub rows_read_modify_write: u64,
    /// Rows whose new parity was made from the units that were not written, read for it. Unit: rows.
    pub rows_reconstruct_write: u64,
    /// Rows written as a whole, whose parity needs no reads. Unit: rows.
    pub rows_full: u64,
    /// Length of what was read so that parity could be made. Unit: bytes.
    pub pre_read_bytes: u64,
    /// Pages programmed for further copies of what the host wrote. Unit: pages.
    pub copy_pages_written: u64,
    /// Length of the parts of discards that covered a stripe in part and were ignored. Unit: bytes.
    pub trims_ignored_bytes: u64,
}

/// The report's `array.stripe_cache`; absent without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StripeCacheReport {
    /// Entries, each a row of all members. Unit: rows.
    pub entries: u64,
    /// Most entries in use at a time since the run began. Unit: rows.
    pub high_water: u64,
    /// Units of rows that writes did not have to read first. Unit: rows of a member.
    pub hits: u64,
    /// Writes that became part of another one. Unit: count.
    pub merged: u64,
    /// Rows that became full stripes by that. Unit: rows.
    pub rows_filled: u64,
    /// Writes that were put off because others read first. Unit: count.
    pub delays: u64,
    /// Writes that waited because all entries were in use. Unit: count.
    pub entry_waits: u64,
}
