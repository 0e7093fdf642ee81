//! The O-SSD interface: what a device tells a coordinator and what it can be asked to do.
//!
//! Source: papers A (section 4) and B (section III). The protocol is advisory: a device at its hard threshold
//! collects with or without an answer.

use harmonia_types::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// What an O-SSD tells of itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Fewest free blocks of any allocation unit; blocks being erased do not count.
    pub free_min: u32,
    /// Free blocks of the whole device.
    pub free_total: u64,
    /// Some unit is at or below its soft threshold.
    pub below_soft: bool,
    /// Some unit is at or below its hard threshold.
    pub below_hard: bool,
    /// Some die collects.
    pub gc_active: bool,
    /// Estimated time until the last die that collects is done, if nothing else starts and no host operation comes between.
    /// An event that runs as one command is known exactly. Otherwise it is the command that runs, the live pages left of
    /// the victim, its erase, and as many victims like the best there is now as the event still needs.
    pub gc_remaining: SimDuration,
    /// Page writes the device can surely take before a unit reaches its hard threshold.
    pub writes_until_hard: u64,
    /// Invalid pages among written ones, 0..=1: what collecting could win.
    pub fragmentation: f64,
    /// Correctable errors per page read; `None` because bit errors are not modelled yet.
    pub correctable_error_rate: Option<f64>,
    /// Page operations waiting or running.
    pub queue_depth: u32,
    /// When the device last started or finished a host operation.
    pub last_activity: SimTime,
    /// Mean erases per block.
    pub wear_mean: f64,
}

/// What an O-SSD can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directive {
    /// FORCE_GC: every unit starts an event, low or not, unless its die collects already.
    Force(Stop),
    /// A deterministic window begins: no event starts above the hard threshold until another window, or none, is asked
    /// for. At the hard threshold the device collects all the same, and says so.
    Hold,
    /// No window any more: the device collects as it is configured to.
    Release,
    /// A window to collect in begins (NVMe: non-deterministic window): events start from the soft threshold on, in the
    /// background too, until another window, or none, is asked for.
    Open,
}

/// When a forced event ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// At the device's own stop threshold, after at least `min_victims`.
    Internal,
    /// For idle time: when free blocks are all of the reserve or no block would free a page, and at the next victim
    /// boundary once an operation has entered a queue of the device. A device that has operations does nothing.
    AllReserve,
}

/// What a device reports by itself. Times are those of the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// A check found a unit at or below its soft threshold; sent once until registration is cleared.
    SoftThreshold,
    /// A check found a unit at or below its hard threshold, and the device began to collect on its own.
    HardThreshold,
    /// In a deterministic window the device can take few more writes before it must collect; once a window.
    WindowWarning,
    /// The first die began to collect.
    GcStarted,
    /// The last die stopped collecting. `registered` says whether the device still counts as a participant: an event
    /// that ends above the soft threshold in every unit clears the registration.
    GcEnded {
        /// Still below soft.
        registered: bool,
    },
}
