//! How many channels of a device may collect at once: one file per policy.

mod unlimited;

use harmonia_types::SimTime;
use harmonia_types::registry::Entry;

/// Chooses which channels start a garbage-collection event. Asked when an event is wanted, at each completion of one,
/// and, while any is wanted, whenever a host write opens a block: utilisation has changed.
pub trait Concurrency: Send {
    /// Whether every wanted event may start at once; the device then does not ask.
    fn admits_all(&self) -> bool {
        false
    }

    /// Whether events are wanted from the soft threshold on, not only from hard: the policy then decides when.
    fn begins_at_soft(&self) -> bool {
        false
    }

    /// Appends the channels on which one more event starts now. Each must have `wanting > 0`. A die with a unit down to
    /// its last free block collects regardless of the answer.
    fn choose(&mut self, now: SimTime, view: &ConcurrencyView<'_>, starts: &mut Vec<u32>);
}

/// A device's channels as a concurrency policy sees them; slices are indexed by channel.
pub struct ConcurrencyView<'a> {
    /// 1 - erased blocks / all blocks; a victim counts as occupied until its erase ends.
    pub utilisation: f64,
    /// Dies collecting.
    pub active: &'a [u16],
    /// Dies that want to collect and may not yet.
    pub wanting: &'a [u16],
    /// Invalid pages of the best victim any wanting die has; 0 if none wants.
    pub best_victim_invalid: &'a [u32],
    /// Whether a wanting die is at its hard threshold.
    pub hard: &'a [bool],
}

/// Builds a concurrency policy.
pub type Build = fn() -> Box<dyn Concurrency>;

/// All concurrency policies.
pub const REGISTRY: &[Entry<Build>] = &[unlimited::ENTRY];
