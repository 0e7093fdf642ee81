//! What the report says of the log of an array.

use harmonia_types::LogCounters;
use serde::{Deserialize, Serialize};

/// The report's `array.write_hole`; absent unless a log is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WriteHoleReport {
    /// `journal` or `ppl`.
    pub kind: String,
    /// What it has cost, each a key beside `kind`.
    #[serde(flatten)]
    pub counters: LogCounters,
}
