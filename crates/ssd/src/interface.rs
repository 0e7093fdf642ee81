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
    /// Page writes the device can surely take before a unit reaches its hard threshold, beside those that its write cache holds.
    pub writes_until_hard: u64,
    /// Invalid pages among written ones, 0..=1: what collecting could win.
    pub fragmentation: f64,
    /// Correctable errors per page read; `None` because bit errors are not modelled yet.
    pub correctable_error_rate: Option<f64>,
    /// Page operations waiting or running.
    pub queue_depth: u32,
    /// When the device last started or finished a host operation; background work of the array is none.
    pub last_activity: SimTime,
    /// Mean erases per block.
    pub wear_mean: f64,
    /// Which window the device is in.
    #[serde(default)]
    pub window: Window,
    /// Page writes the device can take before collection is forced, if they spread evenly over its allocation units:
    /// what the unit with the least room can take, times the units, less what its write cache holds. In a deterministic window this is
    /// what is left of it.
    #[serde(default)]
    pub window_writes: u64,
}

/// When a device may begin to collect: the windows of NVMe's predictable latency mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// As it is configured to.
    #[default]
    None,
    /// Only at its hard threshold, and not in the background.
    Deterministic,
    /// From its soft threshold on, in the background too.
    NonDeterministic,
}

/// What an O-SSD can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directive {
    /// FORCE_GC: each die without an event gets one for all its units, low or not. An event that has not begun, or
    /// goes on turn by turn, becomes one for all units. Any other goes on as it is.
    Force(Stop),
    /// A deterministic window begins: no event of the device's own starts above the hard threshold until another window, or
    /// none, is asked for. One that runs goes on to its end; one that has yet to start is off. At the hard threshold the
    /// device collects all the same, and says so. A forced event starts in any window.
    Hold,
    /// No window any more: the device collects as it is configured to.
    Release,
    /// A window to collect in begins (NVMe: non-deterministic window): events start from the soft threshold on while no host
    /// operation waits, in the background too, until another window, or none, is asked for. Each is one as the device's own thresholds have it, and
    /// another follows until every unit is above soft or no block would free a page. Where a policy limits how many
    /// channels collect, they wait for their turns.
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
    /// A write has opened a block that brings a unit to its soft threshold or below; sent once until registration is cleared.
    /// A device that is there already tells so when it next looks at its thresholds.
    SoftThreshold,
    /// A unit of a die is at its hard threshold or below. The device then collects by itself, ordered or not. Each die tells once,
    /// until its own event ends or all dies have stopped collecting. A die that has an event tells nothing, with one exception:
    /// an event that the device itself began above the hard threshold, because of this die, tells once if a unit comes down to it.
    HardThreshold,
    /// In a deterministic window the device can take few more writes before it must collect: an eighth of what it could when
    /// the window began. It looks when a write takes a new block, and so warns up to a block early; where little more than
    /// a block is left already, when the window begins. Once a window.
    WindowWarning,
    /// The first die began to collect.
    GcStarted,
    /// The last die stopped collecting. `registered` says whether the device still counts as a participant: an event
    /// that ends above the soft threshold in every unit clears the registration.
    GcEnded {
        /// Some unit is still at its soft threshold or below.
        registered: bool,
    },
}
