//! When a die should collect: thresholds, and the domain of an event.
//!
//! ```text
//! a write opens a block ─► free blocks fall ─► tell_thresholds: notices
//! a die serves, or is idle ─────────────────► check: may an event begin?  what has not been told yet
//! ```
//!
//! A block that collection opens gives no notice: its event frees blocks again, and the notice of its end says how the device
//! stands. Two things are left for `check` to tell: a device may be at a threshold from the start, and the event of one die may
//! take blocks from another.

use harmonia_types::SimTime;

use super::Device;
use crate::config::Domain;
use crate::die::collection::Collection;
use crate::die::event::{Event, UnitSet};
use crate::follow::Why;
use crate::interface::Notice;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// A write has opened a block on a die: tells of the thresholds that it brings a unit to.
    #[inline]
    pub(super) fn tell_thresholds(&mut self, die: u32, now: SimTime) {
        let free = self.least_free(die);
        if free > self.rules.shape.soft {
            return;
        }
        self.tell_soft(now);
        if free > self.rules.shape.hard {
            return;
        }
        let slot = &mut self.dies[die as usize];
        if slot.collection.event().is_some() {
            return self.report_hard(die, now);
        }
        if !std::mem::replace(&mut slot.has_told_hard, true) {
            self.notices.push((now, Notice::HardThreshold));
        }
    }

    /// Registers, once.
    #[inline]
    fn tell_soft(&mut self, now: SimTime) {
        if !std::mem::replace(&mut self.registered, true) {
            self.notices.push((now, Notice::SoftThreshold));
        }
    }

    /// Looks at the thresholds of a die's units; starts an event in the whole domain if one is low. Returns whether
    /// this die now has garbage collection to do.
    #[inline]
    pub(super) fn check(&mut self, die: u32, now: SimTime) -> bool {
        let free = self.least_free(die);
        if free > self.rules.shape.soft {
            return false;
        }
        self.tell_soft(now);
        let starts_at = self.starts_at();
        let slot = &self.dies[die as usize];
        if free > starts_at.max(self.rules.last_block) || slot.exhausted {
            return false;
        }
        if self.rules.by_parts && self.is_divided(die) && !self.has_part(die) {
            // It has done its part of the victim under way.
            return slot.collection.is_admitted();
        }
        if self.lets_host_first(free) {
            return false;
        }
        let has_part = self.has_part(die);
        let collection = &mut self.dies[die as usize].collection;
        if self.interrupted && collection.wanted().is_some_and(Event::yields) && !has_part {
            // An idle-time event that has yet to start is off; the device's own takes its place.
            collection.call_off();
        }
        let is_hard = free <= self.rules.shape.hard;
        if collection.event().is_some() {
            return collection.is_admitted();
        }
        if is_hard && !std::mem::replace(&mut self.dies[die as usize].has_told_hard, true) {
            self.notices.push((now, Notice::HardThreshold));
        }
        let (dies, channels) = (self.rules.shape.dies, self.rules.geometry.channels);
        let event = |units| self.own_event(units).asked_at_soft(!is_hard);
        let all = event(UnitSet::ALL);
        let why = Why::Threshold { die, free, is_hard };
        match self.rules.domain {
            // The last block of a die is no affair of others.
            _ if free > starts_at => self.demand(die..die + 1, all, why, now),
            Domain::Die => self.demand(die..die + 1, all, why, now),
            Domain::Device => self.demand(0..dies, all, why, now),
            Domain::Channel => {
                let channel = self.rules.geometry.channel_of(die);
                let on_it = (0..dies).skip(channel as usize).step_by(channels as usize);
                self.demand(on_it, all, why, now);
            }
            Domain::Plane => self.demand(die..die + 1, event(self.low_units(die)), why, now),
        }
        let collection = &mut self.dies[die as usize].collection;
        if let Some(event) = collection.event_mut() {
            // Only the die whose threshold it was reports that it has come down further.
            event.reports_hard = !is_hard;
        }
        collection.is_admitted()
    }

    /// Tells, once in an event that the device began by itself above the hard threshold, that a unit has come down to that.
    #[inline]
    pub(super) fn report_hard(&mut self, die: u32, now: SimTime) {
        if self.is_to_report_hard(die) {
            self.tell_hard(die, now);
        }
    }

    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn is_to_report_hard(&self, die: u32) -> bool {
        self.dies[die as usize].collection.reports_hard() && self.least_free(die) <= self.rules.shape.hard
    }

    #[cold]
    fn tell_hard(&mut self, die: u32, now: SimTime) {
        if let Some(event) = self.dies[die as usize].collection.event_mut() {
            event.reports_hard = false;
        }
        self.notices.push((now, Notice::HardThreshold));
    }

    /// The units of a die at or below the level where events begin.
    fn low_units(&self, die: u32) -> UnitSet {
        let shape = &self.rules.shape;
        let low = shape.units_of(die).filter(|&unit| self.ftl.free_blocks(unit) <= self.starts_at());
        UnitSet::of(low.map(|unit| shape.unit_in_die(unit)))
    }

    /// Makes dies collect; those that do, or are about to, absorb the demand.
    pub(super) fn demand(&mut self, dies: impl Iterator<Item = u32>, event: Event, why: Why, now: SimTime) {
        if self.governor.is_some() {
            return self.demand_turns(dies, event, why, now);
        }
        self.told_to_collect = true;
        self.await_all_settled(now);
        for die in dies {
            let slot = &mut self.dies[die as usize];
            match &mut slot.collection {
                Collection::Waiting(waiting) | Collection::Admitted(waiting) => waiting.absorb(&event),
                Collection::Atomic(_) | Collection::Stepwise(_) => {}
                rest @ Collection::Rest => {
                    rest.want(event);
                    rest.admit();
                    if slot.is_idle() {
                        self.wakes.set(die as usize, now);
                    }
                    self.follow_demand(die, why, now);
                }
            }
        }
    }
}
