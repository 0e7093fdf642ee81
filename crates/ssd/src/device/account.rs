//! Blame: where the time of a page operation went, and when its die collected or was held back meanwhile.
//!
//! Waiting for the host is what no other cause explains; [`waiting`](super::waiting) checks that the host explains it.

use harmonia_types::{Blame, SimDuration, SimTime};

use super::Device;
use super::cache::ProgramEnded;
use super::owner::Owner;
use super::queue::OpKind;
use super::waiting::Doing;
use crate::die::command::{Command, NO_OP};
use crate::probe::Probe;

/// What a host operation has of the command it was part of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// Transfers of its own.
    pub transfer: SimDuration,
    /// Garbage collection's transfers it waited for inside the command.
    pub gc_ahead: SimDuration,
    /// The command is one of garbage collection.
    pub with_gc: bool,
}

impl Share {
    /// All of it.
    #[inline]
    pub fn alone(command: &Command) -> Self {
        Share { transfer: command.transfer, gc_ahead: SimDuration::ZERO, with_gc: false }
    }
}

impl<P: Probe> Device<P> {
    /// The die is done with a host operation at `now`: sends a read's data over the link and accounts for all time.
    #[inline]
    pub(super) fn finish_op(&mut self, die: u32, handle: u32, share: Share, now: SimTime) {
        let op = self.ops[handle];
        self.ops.release(handle);
        if let Some(placement) = &mut self.placement {
            placement.finish(die);
        }
        let is_background = self.is_background(op.owner);
        let owner = op.owner.get();
        let issued = match owner {
            Owner::Host(sub) => self.subs[sub].issued,
            Owner::Cache(_) | Owner::Map(_) => op.ready,
        };
        let slot = &self.dies[die as usize];
        let command = &slot.command;
        let (start, array) = (command.start, command.array);
        let met_gc = slot.has_collected_since(issued) || share.with_gc;
        let queue_gc = command.bus_wait_gc + share.gc_ahead + slot.collected_between(op.ready, start);
        // A suspended command waits between its start and its end, too; one of the background is not suspended.
        let until = if command.background { start } else { now };
        let queue_rebuild = self.background_between(die, op.ready, until);
        if self.probe.audits() {
            let before = self.background_between(die, op.ready, start);
            self.audit_waiting(
                die,
                (op.ready, start),
                (queue_gc - command.bus_wait_gc - share.gc_ahead, before),
            );
            self.audit_command(die, now);
        }
        let is_for_host = op.kind == OpKind::Read && !op.owner.is_map();
        let finish = if is_for_host { self.link.take(now, self.rules.link_page) } else { now };
        let mut blame = Blame {
            service: array.0,
            transfer: share.transfer.0,
            queue_host: ((now - op.ready) - array - share.transfer - queue_gc - queue_rebuild).0,
            queue_gc: queue_gc.0,
            queue_rebuild: queue_rebuild.0,
            link: ((op.ready - issued) + (finish - now)).0,
            ..Blame::NONE
        };
        let met_for_map = self.account_for_map(handle, &mut blame);
        if self.probe.follower().is_some() {
            self.follow_op(die, &op, &share, &blame, now);
        }
        match owner {
            Owner::Host(sub) => {
                if met_gc && self.rules.tells_planes {
                    self.note_met(die, sub, op.unit, share.with_gc);
                }
                self.finish_page(sub, op.page, finish, blame, met_gc | met_for_map);
            }
            Owner::Cache(slot) => {
                let program = ProgramEnded { die, ready: op.ready, blame, share, met_gc };
                self.is_on_flash(slot, &program, now);
            }
            Owner::Map(frame) => {
                let slot = &self.dies[die as usize];
                let inside = slot.command.bus_wait_gc + share.gc_ahead;
                if let Some(mapping) = &mut self.mapping {
                    mapping.has_ended((frame, &op), slot.collected_since(op.ready), (start, inside), now);
                }
            }
        }
        if !is_background {
            self.last_activity = now;
            self.note_done(die, now);
        }
        self.host_went_first(now);
    }

    /// A page of a unit met collection of its die: that of its own plane? `with_gc`: its command is one of garbage collection.
    #[cold]
    fn note_met(&mut self, die: u32, handle: u32, unit: u32, with_gc: bool) {
        let is_of_victim = || {
            let victim = self.dies[die as usize].collection.victim();
            victim.is_some_and(|(of_die, _)| self.rules.shape.unit(die, of_die) == unit)
        };
        let has_collected = self.collected_until[unit as usize] > self.subs[handle].issued;
        let is_own = has_collected || (with_gc && is_of_victim());
        self.subs[handle].met_own_plane |= is_own;
    }

    /// A die rests from now on although operations wait: collection, of this die or of another, holds them back.
    pub(super) fn hold(&mut self, die: u32, now: SimTime) {
        self.dies[die as usize].held_since = now;
        self.note_doing(die, Doing::Collection, now);
    }

    /// A die that rested although operations waited is asked again: they waited for collection.
    #[cold]
    pub(super) fn end_hold(&mut self, die: u32, now: SimTime) {
        let since = std::mem::replace(&mut self.dies[die as usize].held_since, SimTime::NEVER);
        self.log_collecting(die, since, now);
        self.note_rest(die, now);
    }

    /// Remembers that a die collected, for the blame of what waited. A job the host interrupts is logged step by step.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn log_collecting(&mut self, die: u32, from: SimTime, until: SimTime) {
        let slot = &mut self.dies[die as usize];
        if until == from {
            return;
        }
        // Most of a job's commands follow one another at once.
        if slot.gc_last.1 == from {
            slot.gc_last.1 = until;
        } else {
            self.log_anew(die, from, until);
        }
    }

    /// The same of what is not the rest of what was logged last.
    fn log_anew(&mut self, die: u32, from: SimTime, until: SimTime) {
        let slot = &mut self.dies[die as usize];
        let last = std::mem::replace(&mut slot.gc_last, (from, until));
        // What is in line for the cache waits for dies, and so does what is answered when it is on flash.
        let line = self.cache.as_ref().map_or(SimTime::NEVER, |cache| cache.is_waited_for_since(until));
        if line == SimTime::NEVER && slot.waiting == 0 && slot.parts.len() < 2 && slot.paused.is_none() {
            // Nothing of the host's is there to have met it, except what arrives while a suspended command ends.
            slot.gc_log.clear();
            return;
        }
        // Keep only what an operation that still waits, in the queue or in a suspended command, may have met.
        let first = if slot.head == NO_OP { SimTime::NEVER } else { self.ops[slot.head].ready };
        let runs_host = slot.parts.len() > 1 || slot.paused.is_some() || !slot.runs_collection();
        let oldest = if runs_host {
            let ready = slot.running_ops().map(|op| self.ops[op].ready);
            ready.min().map_or(first, |running| running.min(first))
        } else {
            first
        };
        let oldest = oldest.min(line);
        let oldest = if oldest == SimTime::NEVER { until } else { oldest };
        if last.1 <= oldest {
            slot.gc_log.clear();
            return;
        }
        slot.gc_log.forget(oldest);
        slot.gc_log.push(last.0, last.1);
    }

    /// A command of garbage collection ends, or is suspended, at `until`.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn end_gc_command(&mut self, die: u32, until: SimTime) {
        let slot = &mut self.dies[die as usize];
        let began = slot.command_began;
        slot.job_busy += until - began;
        if let Some((unit, _)) = slot.collection.victim() {
            self.collected_until[self.rules.shape.unit(die, unit) as usize] = until;
        }
        self.has_collected_for(die, until - began);
        self.log_collecting(die, began, until);
    }
}
