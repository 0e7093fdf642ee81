//! What was done to a trace: the report's `trace` section.
//!
//! Nothing is dropped, mended or moved in silence: whatever the simulated requests differ in from the rows of the files
//! is counted here with its reason.

use serde::{Deserialize, Serialize};

/// The trace that was replayed, warm-up included, and what was done to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceReport {
    /// Its files, as they were named or found.
    pub files: Vec<String>,
    /// Format it was read as.
    pub format: String,
    /// Why `format = "auto"` decided on that format; null where it was named.
    pub format_reason: Option<String>,
    /// Records replayed. Unit: count.
    pub rows: u64,
    /// XXH3 of time, operation, offset, length and volume of every record replayed, before `time_scale`, `volumes`,
    /// `remap` and `align`; 32 hexadecimal digits. The same for the same records in another format.
    pub hash: String,
    /// Rows that were passed over.
    pub skipped: Vec<Noted>,
    /// Rows that were mended.
    pub repaired: Vec<Noted>,
    /// Malformed rows that were tolerated. Unit: count.
    pub bad: u64,
    /// The first of them, with file and place.
    pub bad_examples: Vec<String>,
    /// Requests that `remap` gave another address. Unit: count.
    pub moved: u64,
    /// Requests that `remap` cut short at the array's end. Unit: count.
    pub cut: u64,
    /// Requests that `align` widened to whole pages. Unit: count.
    pub widened: u64,
}

/// A reason and how often it applied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Why.
    pub reason: String,
    /// How often. Unit: count.
    pub rows: u64,
}

impl TraceReport {
    /// Whether every row became a request as it stands.
    pub fn is_untouched(&self) -> bool {
        let TraceReport { skipped, repaired, bad, moved, cut, widened, .. } = self;
        skipped.is_empty() && repaired.is_empty() && [bad, moved, cut, widened] == [&0; 4]
    }
}
