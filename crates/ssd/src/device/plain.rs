//! The shorter way of what most requests are: a host read or write that is alone on its die.
//!
//! ```text
//! submit ─► queue of the die ─► data is there: page in, program ─► done
//!               │            └► read, page out ─► link ─► done
//!               `─ anything else: `dispatch`, `run`, `account`
//! ```
//!
//! How such an operation is submitted is in `submit`, how it begins is here, and how it ends in `wake`.
//!
//! Where dies have pins of their own and a die that has nothing to collect serves the head of its queue, it meets few of the
//! questions that a device has to answer in general. Here they are asked once, when the device is made
//! ([`Device::is_plain`]), and the others one by one. What is not plain goes the general way. Both ways lead to the same
//! state of the device after each event, so a die may change between them at any time. In a checked run, or where somebody
//! follows single pages, all go the general way; what planes do and how the device stands is told on both.

use harmonia_types::{SimDuration, SimTime};

use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure};
use crate::die::collection::Collection;
use crate::die::command::{Activity, NO_OP};
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Whether nothing of the device stands in the way of an operation that is alone on its die.
    pub(super) fn is_plain(&self) -> bool {
        let rules = &self.rules;
        let is_followed = self.probe.audits() || self.probe.followed().is_some();
        let has_queues =
            self.lanes.is_some() || self.placement.is_some() || self.superblocks.is_some() || self.pumps;
        let packs = rules.shape.packing.packs();
        let has_rules = packs || rules.by_page || rules.reads_first || rules.multi_plane || rules.suspends;
        let by_head = rules.geometry.own_pins && self.schedule_needs.serves_head;
        let is_free = rules.controller.command_overhead == SimDuration::ZERO;
        by_head
            && is_free
            && !(is_followed || has_queues || has_rules || rules.global || self.governor.is_some())
    }

    /// An idle die begins what is at the head of its queue, if that is a whole page and nothing is to be collected.
    #[inline]
    pub(super) fn begin_plain(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let slot = &self.dies[die as usize];
        let rests = matches!(slot.collection, Collection::Rest) && slot.held_since == SimTime::NEVER;
        let head = slot.head;
        if !rests || self.background.is_some() || (head == NO_OP && self.looks_when_idle()) {
            return self.begin_next(die, now);
        }
        if head == NO_OP {
            self.wakes.clear(die as usize);
            self.changes_only_queue();
            return Ok(());
        }
        let op = &self.ops[head];
        if op.ready > now {
            self.wakes.set(die as usize, op.ready);
            self.changes_only_queue();
            return Ok(());
        }
        let is_read = op.kind == OpKind::Read;
        let is_whole = is_read || op.kind == OpKind::Write;
        if !is_whole || self.index.is_some() || op.fast_fail || self.may_be_low(die) {
            return self.begin_next(die, now);
        }
        let (next, unit, lpn, cause, origin) = (op.next, op.unit, op.lpn, op.cause, Some(self.origin(op)));
        let slot = &mut self.dies[die as usize];
        slot.waiting -= 1;
        slot.head = next;
        match next {
            NO_OP => slot.tail = NO_OP,
            next => self.ops[next].previous = NO_OP,
        }
        self.last_activity = now;
        if is_read {
            return self.begin_plain_read(die, head, now);
        }
        let is_within = self.ftl.program_within(unit, lpn, cause, origin, &mut self.probe);
        // Where a block is opened or closed, somebody may have to hear of it.
        let summaries = if is_within {
            self.changes_only_queue();
            0
        } else {
            let op = self.ops[head];
            self.write_page(die, &op, self.to(&op), now)?
        };
        self.dies[die as usize].exhausted = false;
        let (page_in, program) = (self.rules.page_in, self.rules.only_program_time());
        let command = self.dies[die as usize].begin(Activity::Host(head), now);
        // With pins of its own, nothing comes between its steps: they are over as soon as it has begun.
        (command.transfer, command.array, command.summaries) = (page_in, program, summaries);
        self.watch_begin(die, now);
        self.wakes.set(die as usize, now + page_in + program);
        Ok(())
    }

    /// A die begins a read that has left its queue.
    #[inline]
    fn begin_plain_read(&mut self, die: u32, handle: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let op = self.ops[handle];
        if !self.read_page(&op) {
            self.finish_untouched(die, handle, now);
            return self.begin_next(die, now);
        }
        self.changes_only_queue();
        let (array, transfer) = (self.rules.only_read_time(), self.rules.page_out());
        let command = self.dies[die as usize].begin(Activity::Host(handle), now);
        (command.transfer, command.array) = (transfer, array);
        self.watch_begin(die, now);
        self.wakes.set(die as usize, now + array + transfer);
        Ok(())
    }

    /// Puts an operation at the end of its die's queue; `false` if it belongs elsewhere, or somebody has to hear of it.
    #[inline]
    pub(super) fn enqueue_plain(
        &mut self,
        die: u32,
        op: &PageOp,
        now: SimTime,
    ) -> Result<bool, DeviceFailure> {
        let slot = &self.dies[die as usize];
        let tail = slot.tail;
        let is_last = tail == NO_OP || self.ops[tail].ready <= op.ready;
        if !is_last || op.fast_fail || self.index.is_some() || self.background.is_some() {
            return Ok(false);
        }
        self.interrupted = true;
        let (ready, is_idle) = (op.ready, slot.is_idle());
        let handle = self.ops.insert(PageOp { previous: tail, ..*op });
        let slot = &mut self.dies[die as usize];
        slot.waiting += 1;
        slot.tail = handle;
        if tail == NO_OP {
            slot.head = handle;
        } else {
            self.ops[tail].next = handle;
        }
        self.watch_queue(die, now);
        if tail != NO_OP || !is_idle {
            return Ok(true);
        }
        if ready <= now {
            self.begin_plain(die, now)?;
            self.answer_waiting(die, now);
            self.look_at(die, now);
        } else if ready < self.wakes.time_of(die as usize) {
            self.wakes.set(die as usize, ready);
        }
        Ok(true)
    }
}
