//! Turns: one victim of a die, and what remains of an event between them.
//!
//! ```text
//! event of five victims   [ turn ]      [ turn ][ turn ]   [ turn ]     [ turn ]
//! the host                        ▬ ▬ ▬                  ▬          ▬ ▬
//! ```
//!
//! An event that thresholds or a directive ask for keeps its goal and goes on turn by turn; a turn that the concurrency
//! policy began of itself ends with its victim. A die that waits for its turn serves the host, but no write that could take
//! the room which the live pages of its next victim need.
//!
//! Source: Electronics 2025, 4 (one block at a time); that events are cut into turns, and that writes wait rather than
//! let a device run out of blocks, is ours.

use harmonia_types::SimTime;

use super::Device;
use super::concurrency::LAST_BLOCK;
use super::victims::DieUnits;
use crate::die::event::{Event, UnitSet};
use crate::follow::Why;
use crate::gc::victim::NoReads;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Events wanted of dies whose turns the policy decides on. One that has its turn, or waits, absorbs the demand.
    pub(super) fn demand_turns(
        &mut self,
        dies: impl Iterator<Item = u32>,
        event: Event,
        why: Why,
        now: SimTime,
    ) {
        for die in dies {
            let slot = &mut self.dies[die as usize];
            match slot.collection.event_mut() {
                Some(waiting) if !waiting.is_turn() => waiting.absorb(&event),
                // The turn that the policy began goes on as the first turn of the event, but does not count towards its goal.
                Some(turn) => turn.become_event(&event),
                None => {
                    slot.collection.want(event);
                    self.follow_demand(die, why, now);
                }
            }
        }
        self.govern(now);
    }

    /// The turn of a die is over: what remains of its event waits for the next one.
    pub(super) fn settle(&mut self, die: u32, mut event: Event, victims: u32, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        slot.rest();
        // An idle-time event may end though there is more to win.
        slot.exhausted &= !event.yields();
        let is_off = victims == 0 || self.is_off(die, &event);
        let (ftl, victim) = (&mut self.ftl, &*self.victim);
        let units = DieUnits { ftl, victim, reads: &NoReads, die, now };
        if !is_off && !event.is_over(&units, self.interrupted) {
            self.dies[die as usize].collection.want(event);
            if let Some(follower) = self.probe.follower() {
                follower.goes_on_later(die, now);
            }
        }
    }

    /// A die is about to program a host page: whether that has to wait for its turn, because it might take the room
    /// that the live pages of its next victim need. Only where turns are limited.
    #[inline]
    pub(super) fn must_wait(&mut self, die: u32, handle: u32, now: SimTime) -> bool {
        self.has_no_room(die, handle) && {
            if self.dies[die as usize].collection.event().is_none() {
                let why = Why::Threshold { die, free: self.least_free(die), is_hard: true };
                self.demand_turns(die..die + 1, self.own_event(UnitSet::ALL), why, now);
            } else {
                self.govern(now);
            }
            true
        }
    }

    /// A die serves no host write until its turn.
    pub(super) fn stall(&mut self, die: u32, now: SimTime) {
        self.dies[die as usize].stalled = true;
        self.wakes.clear(die as usize);
        self.hold(die, now);
    }

    /// A die counts as exhausted, too, where what is left of its event has nothing to collect: planes that the event has left
    /// may have.
    fn has_no_room(&self, die: u32, handle: u32) -> bool {
        let (op, slot) = (&self.ops[handle], &self.dies[die as usize]);
        op.kind.writes()
            && !self.has_turn(die)
            && (!slot.exhausted || self.most_invalid(die).0 > 0)
            && self.ftl.free_blocks(op.unit) <= LAST_BLOCK
            && !self.ftl.has_room_to_collect(op.unit)
    }
}
