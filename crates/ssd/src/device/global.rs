//! Global garbage collection: a collected page goes to the unit of the device with the most free blocks.
//!
//! ```text
//! source die       [read][bus]   waits    [read][bus] ...   [erase]
//! destination die              [bus][program]
//! ```
//!
//! The page is programmed by the die it goes to, as a step of that die's garbage collection: ahead of its host work, or
//! as its schedule has it. The source reads its next page when that is done. With equal numbers of free blocks a page
//! stays in its unit, or else its die.
//!
//! Only where any unit may hold any page. A page that host operations wait for stays in its unit, so that they find it
//! and keep their order; so does one for which the destination has lost its room meanwhile.
//!
//! Source: HPDC 2018, 2.2.1 and 4.4 (what global garbage collection is); the choice of the destination is ours. Not
//! modelled: reading ahead at the source; under the ideal schedule pages stay in their units.

use std::cmp::Reverse;

use harmonia_types::SimTime;

use super::Device;
use crate::die::Guest;
use crate::die::collection::Place;
use crate::gc::schedule::{Class, GcJob, GcPhase};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Half of a page move has ended: a page that was read may go to another unit; one that was programmed for another
    /// die lets that go on.
    pub(super) fn end_of_half(&mut self, die: u32, class: Class, now: SimTime) {
        match class {
            Class::Read => self.hand_over(die, now),
            Class::Write => {
                let slot = &mut self.dies[die as usize];
                if slot.collection.job().is_none() {
                    slot.gc_busy += std::mem::take(&mut slot.job_busy);
                    slot.gc_plane_busy += std::mem::take(&mut slot.job_plane_busy);
                }
                if let Some(guest) = slot.hosting.take() {
                    if let Some(victim) = self.dies[guest.die as usize].collection.victim_mut() {
                        victim.held = None;
                    }
                    self.take_back(guest.die, now);
                }
            }
        }
    }

    /// Sends the page that a die has read to where it should go, if that is another unit.
    fn hand_over(&mut self, die: u32, now: SimTime) {
        let Some((unit, &victim)) = self.dies[die as usize].collection.victim() else { return };
        let Some(held) = victim.held else { return };
        let unit = self.rules.shape.unit(die, unit);
        let Some(lpn) = self.ftl.lpn_at(unit, victim.block.0, held.page) else { return };
        let to = self.destination(unit);
        if to == unit || self.is_waited_for(lpn) {
            return;
        }
        self.set_place(die, Place::Away);
        let host = self.rules.shape.die_of(to);
        self.dies[host as usize].guests.push_back(Guest { die, from: (unit, victim.block, held.page), to });
        if host != die && self.dies[host as usize].is_idle() {
            self.wakes.set(host as usize, now);
        }
    }

    /// The unit a page of `unit` goes to.
    fn destination(&self, unit: u32) -> u32 {
        let shape = &self.rules.shape;
        let most = shape.most_live.unwrap_or(0);
        let takes =
            |to: &u32| *to == unit || (self.ftl.live_pages(*to) < most && self.ftl.has_room_to_collect(*to));
        let near = |to: u32| (to == unit, shape.die_of(to) == shape.die_of(unit));
        let rank = |to: &u32| (self.ftl.free_blocks(*to), near(*to), Reverse(*to));
        (0..shape.units()).filter(takes).max_by_key(rank).unwrap_or(unit)
    }

    /// Pages that cannot be programmed here any more go back to where they were read.
    pub(super) fn send_back_guests(&mut self, die: u32, now: SimTime) {
        while let Some(&Guest { die: source, from: (unit, victim, page), to }) =
            self.dies[die as usize].guests.front()
        {
            let lpn = self.ftl.lpn_at(unit, victim.0, page);
            if lpn.is_some_and(|lpn| !self.is_waited_for(lpn)) && self.ftl.has_room_to_collect(to) {
                return;
            }
            self.dies[die as usize].guests.pop_front();
            self.take_back(source, now);
        }
    }

    /// A die's page is programmed, or comes back to be programmed in its own unit.
    fn take_back(&mut self, die: u32, now: SimTime) {
        self.set_place(die, Place::Controller);
        if self.dies[die as usize].is_idle() {
            self.wakes.set(die as usize, now);
        }
    }

    /// The page that a die holds, if it does, is there from now on.
    fn set_place(&mut self, die: u32, place: Place) {
        let victim = self.dies[die as usize].collection.victim_mut();
        if let Some(held) = victim.and_then(|victim| victim.held.as_mut()) {
            held.place = place;
        }
    }

    /// A page that waits to be programmed, as schedules see it; `free`: the fewest free blocks of this die's units.
    pub(super) fn guest_view(&self, guest: &Guest, free: u32) -> GcJob {
        let (unit, victim, cursor) = guest.from;
        let (block, page) = self.ftl.next_gc_page(guest.to).unwrap_or((0, 0));
        let least = self.least_free(guest.die);
        GcJob {
            unit,
            victim: victim.0,
            cursor,
            phase: GcPhase::Program,
            source_plane: self.ftl.plane_of(unit, victim.0),
            destination: (self.ftl.plane_of(guest.to, block), page),
            hard: self.keeps_out(Class::Read)
                && (free <= self.rules.shape.hard || self.is_pressing(guest.die, least)),
            pinned: false,
        }
    }
}
