//! What the report says of the log or the write-intent bitmap of an array.

use serde::{Deserialize, Serialize};

/// The report's `array.write_hole`; absent unless a log is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WriteHoleReport {
    /// `journal` or `ppl`.
    pub kind: String,
    /// Parts of writes that were logged, each in rows of which the same units are written. Unit: count.
    pub log_writes: u64,
    /// Pages written to the log, headers included. Unit: pages.
    pub log_pages: u64,
    /// Times that one of them waited because the log was full. Unit: count.
    pub full_waits: u64,
    /// Rows that were made right again after losses of power. Unit: count.
    pub replayed_rows: u64,
    /// Pages written to members for that. Unit: pages.
    pub replayed_pages: u64,
    /// Time from losses of power until that was done; requests wait meanwhile. Unit: ns.
    pub replay_ns: u64,
}

/// The report's `array.bitmap`; absent unless a write-intent bitmap is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BitmapReport {
    /// What a bit stands for. Unit: bytes of a member.
    pub chunk_bytes: u64,
    /// Times that blocks were written, each to all members. Unit: count.
    pub writes: u64,
    /// Pages written to members for that. Unit: pages.
    pub pages: u64,
    /// Parts of writes that waited until a bit was set. Unit: count.
    pub waits: u64,
    /// Bits that were cleared on the members. Unit: count.
    pub cleared: u64,
    /// Chunks that had to be gone through after losses of power. Unit: count.
    pub dirty_chunks: u64,
}
