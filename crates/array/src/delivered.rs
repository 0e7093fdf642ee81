//! What messages of members have told the controller: coordinators and planners both go by it.

use harmonia_ssd::interface::Status;
use harmonia_types::SimTime;
use serde::{Deserialize, Serialize};

/// What the controller knows of one member.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Delivered {
    /// The last status received; `None` before the first.
    pub status: Option<Status>,
    /// When that status was true.
    pub as_of: SimTime,
    /// Whether the member speaks the O-SSD protocol: it gives notices, and takes directives and queries. Not if it has failed, until
    /// a replacement is there.
    pub capable: bool,
    /// Whether the last delivered word is that it collects.
    pub collecting: bool,
}
