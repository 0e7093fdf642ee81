//! The event of a die is due: what it ran goes on or ends, and the die begins what comes next.
//!
//! ```text
//! wake      [ command ends ] ─► what leaves the cache for the die ─► dispatch
//! alone     [ half or whole page move ends ] ─► the next one, if nobody has to be asked; else dispatch
//! plain     [ host operation ends ] ─► the next one, if it is as plain; else dispatch
//! ```

use harmonia_types::{Blame, SimTime};

use super::account::Share;
use super::dispatch::Asked;
use super::queue::OpKind;
use super::steps::Due;
use super::{Device, DeviceFailure};
use crate::die::command::Activity;
use crate::gc::schedule::Class;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// The event of a die is due whose command is not [alone](Self::run_alone): goes on with its command, finishes it, or looks
    /// for something to do.
    pub(super) fn wake(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let activity = self.dies[die as usize].activity;
        if activity == Activity::Joint(Class::Read) {
            self.finish_read_parts(die, now);
        }
        if activity != Activity::Idle && self.run_steps(die, now) {
            return Ok(());
        }
        self.watch_end(die, now);
        self.note_rest(die, now);
        match activity {
            Activity::Idle | Activity::Suspending => {}
            Activity::Settled => self.settling.has_ended(),
            Activity::Host(op) => {
                let share = Share::alone(&self.dies[die as usize].command);
                self.finish_op(die, op, share, now);
                if self.begin_summaries(die, now) {
                    return Ok(());
                }
            }
            Activity::Joint(class) => {
                self.end_joint(die, class, now);
                if self.begin_summaries(die, now) {
                    return Ok(());
                }
            }
            Activity::Summary => {}
            Activity::Event => {
                if self.go_on_with_event(die, now)? {
                    return Ok(());
                }
                self.end_event(die, now);
            }
            Activity::Move => self.end_move(die, now),
            Activity::Erase => self.end_erase(die, now),
        }
        self.dies[die as usize].rest();
        if self.pumps {
            // The die goes on with what waits in the cache, or for a page of the map, if that is next.
            self.pump(now)?;
            if !self.dies[die as usize].is_idle() {
                return Ok(());
            }
        }
        if self.dispatch(die, now)? && self.rules.drains_in_part {
            // It may have just ended a collection, after what the cache was asked for.
            self.pump(now)?;
        }
        Ok(())
    }

    /// A host operation that was alone on its die is done.
    #[inline]
    pub(super) fn end_plain(&mut self, die: u32, handle: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let slot = &mut self.dies[die as usize];
        let op = &self.ops[handle];
        let is_read = op.kind == OpKind::Read;
        let is_whole = is_read || op.kind == OpKind::Write;
        if !is_whole || slot.command.summaries > 0 || self.background.is_some() {
            return self.wake(die, now);
        }
        let (sub, page, ready) = (op.owner.sub(), op.page, op.ready);
        let issued = self.subs[sub].issued;
        if self.rules.tells_planes && slot.has_collected_since(issued) {
            return self.wake(die, now);
        }
        self.watch_end(die, now);
        let slot = &mut self.dies[die as usize];
        let (start, array, transfer) = (slot.command.start, slot.command.array, slot.command.transfer);
        let met_gc = slot.has_collected_since(issued);
        let queue_gc = slot.collected_between(ready, start);
        slot.rest();
        let finish = if is_read { self.link.take(now, self.rules.link_page) } else { now };
        let blame = Blame {
            service: array.0,
            transfer: transfer.0,
            queue_host: ((start - ready) - queue_gc).0,
            queue_gc: queue_gc.0,
            link: ((ready - issued) + (finish - now)).0,
            ..Blame::NONE
        };
        self.ops.release(handle);
        self.finish_plain_page(sub, page, finish, blame, met_gc);
        self.last_activity = now;
        self.host_went_first(now);
        self.begin_plain(die, now)
    }

    /// A host write that was settled before is done.
    #[inline]
    pub(super) fn end_settled(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        self.dies[die as usize].rest();
        self.settling.has_ended();
        self.last_activity = now;
        self.begin_plain(die, now)
    }

    /// Lets commands that are alone go on up to `limit`, the first of them at once, while nothing else comes before them. Returns
    /// the die of the last event, and its time: how the device stands after the events before has been told.
    pub(super) fn run_alone(&mut self, limit: SimTime) -> Result<(u32, SimTime), DeviceFailure> {
        loop {
            let (now, die) = (self.wakes.next_time(), self.wakes.first() as u32);
            self.count_event(now);
            let command = &self.dies[die as usize].command;
            match command.next < command.len {
                true if self.rules.moves_directly => self.transfer_alone(die, now),
                true => _ = self.run_steps(die, now),
                false => {
                    self.end_move(die, now);
                    self.dies[die as usize].rest();
                    if !self.follow_up(die, now)? {
                        self.begin_next(die, now)?;
                        return Ok((die, now));
                    }
                }
            }
            // Whatever else is due, and whoever waits for an answer, is the general loop's.
            let next = self.wakes.next_time();
            let is_next = next <= limit && next <= self.bus_wakes.next_time() && next != SimTime::NEVER;
            if !(is_next && self.rules.moves_directly)
                || self.fast_waiting > 0
                || !self.dies[self.wakes.first()].command.is_alone
            {
                return Ok((die, now));
            }
            self.look_at(die, now);
        }
    }

    /// A half or a move that went the short way has ended: starts what comes next, if that is of the same kind and nobody has to
    /// be asked.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    fn follow_up(&mut self, die: u32, now: SimTime) -> Result<bool, DeviceFailure> {
        let slot = &self.dies[die as usize];
        debug_assert!(slot.held_since == SimTime::NEVER, "what works is not held back");
        let asked = self.asked(slot);
        if asked == Asked::Always {
            return Ok(false);
        }
        let Some((unit, &victim)) = slot.collection.victim() else { return Ok(false) };
        let unit = self.rules.shape.unit(die, unit);
        // Blocks that an event opens at its start can bring a unit to its hard threshold before anything is programmed.
        if self.schedule_needs.fresh_blocks && self.is_to_report_hard(die) {
            return Ok(false);
        }
        if let Some(held) = victim.held {
            let goes_on = self.ftl.lpn_at(unit, victim.block.0, held.page).is_some()
                && (asked == Asked::Never || !self.may_match(die, unit, Due::Program(held)));
            if goes_on {
                self.program_alone(die, unit, (victim.block, held), now)?;
            }
            return Ok(goes_on);
        }
        // Only what was programmed can have taken a free block.
        if self.is_to_report_hard(die) {
            return Ok(false);
        }
        let Some(page) = self.ftl.next_live(unit, victim.block.0, victim.cursor) else { return Ok(false) };
        let goes_on = asked == Asked::Never || !self.may_match(die, unit, Due::Read(page));
        if goes_on && self.schedule_needs.moves_unasked {
            self.start_move(die, page, now)?;
        } else if goes_on {
            self.read_alone(die, unit, &victim, page, now);
        }
        Ok(goes_on)
    }

    /// The event of a die is due.
    #[inline]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "for a check of unoptimised builds"))]
    pub(super) fn count_event(&mut self, now: SimTime) {
        self.events += 1;
        #[cfg(debug_assertions)]
        {
            self.ran_to = now;
        }
    }
}
