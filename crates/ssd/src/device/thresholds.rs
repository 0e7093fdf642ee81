//! Free blocks of units and dies, and at how many of them a device collects.
//!
//! What follows when a die comes down to a threshold, `trigger` says.

use super::Device;
use super::windows::State;
use crate::die::event::{Event, UnitSet};
use crate::ftl::Goal;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The device's numbers of the units of a die.
    #[inline]
    pub(super) fn units_of(&self, die: u32) -> std::ops::Range<u32> {
        self.rules.shape.units_of(die)
    }

    /// The fewest free blocks of any unit of a die.
    #[expect(clippy::inline_always, reason = "asked for every page that is written")]
    #[inline(always)]
    pub(super) fn least_free(&self, die: u32) -> u32 {
        let free = self.ftl.least_free(self.units_of(die));
        // A block that dies are still erasing helps nobody yet.
        if self.rules.by_parts { free.saturating_sub(self.being_erased(die)) } else { free }
    }

    /// Free blocks of a unit that status may speak of: those an unfinished event has erased come later.
    pub(super) fn visible_free(&self, unit: u32) -> u32 {
        self.ftl.units[unit as usize].visible_free()
    }

    /// Free blocks at or below which an event starts.
    #[inline]
    pub(super) fn starts_at(&self) -> u32 {
        match self.window {
            State::None => self.rules.start,
            State::Deterministic { .. } => self.rules.shape.hard,
            State::NonDeterministic => self.rules.shape.soft,
        }
    }

    /// Whether a look at a die's thresholds may change anything.
    #[inline]
    pub(super) fn may_be_low(&self, die: u32) -> bool {
        let free = self.least_free(die);
        free <= self.starts_at() || (free <= self.rules.shape.soft && !self.registered)
    }

    /// An event as the device's own thresholds have it.
    pub(super) fn own_event(&self, units: UnitSet) -> Event {
        let goal = Goal { stop: self.rules.shape.stop, min_victims: self.rules.min_victims };
        Event::whole(goal, units)
    }
}
