//! An operation enters the queue of its die, and begins at once if the die has nothing else to do.

use harmonia_types::SimTime;

use super::queue::PageOp;
use super::{Device, DeviceFailure};
use crate::die::command::NO_OP;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Puts an operation behind everything ready no later, and behind earlier operations on the same LPN.
    #[inline]
    pub(super) fn enqueue(&mut self, die: u32, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        if self.is_plain && self.enqueue_plain(die, &op, now)? {
            return Ok(());
        }
        self.enqueue_among(die, op, now)
    }

    fn enqueue_among(&mut self, die: u32, mut op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        if !self.is_background(op.owner) {
            self.interrupted = true;
            self.note_arrival(die);
        }
        let (after, last) = self.place_in_queue(die, &op);
        if after != NO_OP {
            op.ready = op.ready.max(self.ops[after].ready);
        }
        let slot = &mut self.dies[die as usize];
        slot.waiting += 1;
        if op.fast_fail {
            slot.fast_waiting += 1;
            self.fast_waiting += 1;
        }
        op.previous = after;
        op.next = if after == NO_OP { slot.head } else { self.ops[after].next };
        let (next, ready) = (op.next, op.ready);
        let handle = self.ops.insert(op);
        if let Some(mapping) = &mut self.mapping {
            mapping.enters(handle);
        }
        match after {
            NO_OP => slot.head = handle,
            _ => self.ops[after].next = handle,
        }
        match next {
            NO_OP => slot.tail = handle,
            _ => self.ops[next].previous = handle,
        }
        if let Some(index) = &mut self.index {
            index.insert(handle, &mut self.ops);
        }
        if let Some(lanes) = &mut self.lanes {
            lanes.insert(handle, last, &mut self.ops);
        }
        self.watch_queue(die, now);
        if self.rules.suspends && !self.dies[die as usize].is_idle() {
            self.consider_suspending(die, now);
            return Ok(());
        }
        let slot = &mut self.dies[die as usize];
        if after == NO_OP && slot.is_idle() {
            // Whatever the die was waiting for, this comes first.
            if ready <= now && self.rules.shape.packing.packs() {
                // What comes at the same moment goes along.
                self.wakes.set(die as usize, now);
                return Ok(());
            }
            if ready <= now {
                self.begin_next(die, now)?;
                self.answer_waiting(die, now);
                self.look_at(die, now);
                return Ok(());
            }
            // Unless it is about to collect: that comes at once, not when this operation is ready.
            if ready < self.wakes.time_of(die as usize) {
                self.wakes.set(die as usize, ready);
            }
        }
        Ok(())
    }
}
