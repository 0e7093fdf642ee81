//! Operations waiting at the dies: one list per die in order of readiness, intrusive in a slab.

use harmonia_types::{Operation, SimTime};

use super::die::{Die, NO_OP};
use super::{Device, DeviceFailure, SubRequest};
use crate::ftl::Ftl;
use crate::gc::schedule::{Class, DieQueues, HostToken, Queued};
use crate::gc::victim::QueuedReads;
use crate::probe::Probe;
use crate::slab::Slab;

/// One page of a sub-request, waiting at or running on a die.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageOp {
    pub next: u32,
    pub previous: u32,
    pub sub: u32,
    /// LPN inside the unit; the device's where the allocation is dynamic.
    pub lpn: u32,
    pub unit: u32,
    /// Page of the sub-request, counted from 0.
    pub page: u32,
    pub kind: OpKind,
    /// When it can start: for a write, when its data is over the link.
    pub ready: SimTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpKind {
    Read,
    Write,
    /// A write of part of a page: the rest is read first.
    PartialWrite,
    Trim,
}

impl PageOp {
    pub fn new(sub: u32, lpn: u32, unit: u32, page: u32, kind: OpKind, ready: SimTime) -> Self {
        PageOp { next: NO_OP, previous: NO_OP, sub, lpn, unit, page, kind, ready }
    }
}

impl OpKind {
    /// Whether it programs a page.
    pub fn writes(self) -> bool {
        matches!(self, OpKind::Write | OpKind::PartialWrite)
    }

    fn class(self) -> Class {
        if self == OpKind::Read { Class::Read } else { Class::Write }
    }
}

impl<P: Probe> Device<P> {
    /// A sub-request has reached the device: splits it into pages and queues them at their dies.
    pub(super) fn accept(
        &mut self,
        now: SimTime,
        sub: SubRequest,
        issued: SimTime,
    ) -> Result<(), DeviceFailure> {
        let page_size = u64::from(self.rules.shape.page_size);
        let first = sub.offset / page_size;
        let end = sub.offset + sub.length;
        let pages = if sub.length == 0 { 0 } else { end.div_ceil(page_size) - first };
        assert!(
            first + pages <= u64::from(self.rules.shape.logical_pages),
            "bytes {}+{} lie beyond the device",
            sub.offset,
            sub.length
        );
        if sub.operation == Operation::Flush || pages == 0 {
            // Every write is durable when it completes, so there is nothing to flush.
            self.finish_at_once(sub.token, issued, now, None);
            return Ok(());
        }
        let (first, pages) = (first as u32, pages as u32);
        if sub.fast_fail
            && let Some(remaining) = self.longest_collection(first, pages, now)
        {
            self.finish_at_once(sub.token, issued, now, Some(remaining));
            return Ok(());
        }
        let handle = self.open_sub(&sub, issued, pages);
        self.last_activity = now;
        let partial_head = !sub.offset.is_multiple_of(page_size);
        let partial_tail = !end.is_multiple_of(page_size);
        if self.rules.shape.is_dynamic() {
            let is_partial = |page| (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            return self.accept_anywhere(&sub, handle, (first, pages), is_partial, now);
        }
        // Ask for all map entries at once, so that their cache misses overlap.
        for (_, unit, lpn) in self.rules.shape.walk(first, pages) {
            self.ftl.prefetch(unit, lpn);
        }
        for (page, (die, unit, lpn)) in (0..).zip(self.rules.shape.walk(first, pages)) {
            let edge = (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            let (kind, ready) = match sub.operation {
                Operation::Write => {
                    let kind = if edge { OpKind::PartialWrite } else { OpKind::Write };
                    (kind, self.link.take(now, self.rules.link_page))
                }
                Operation::Trim if edge => {
                    // A device may ignore the parts of pages at the edges of a trimmed range.
                    self.finish_page_at(handle, page, now);
                    continue;
                }
                Operation::Trim => (OpKind::Trim, now),
                Operation::Read | Operation::Flush => {
                    if !self.ftl.fully_mapped(unit)
                        && self.ftl.lookup(unit, lpn).is_none()
                        && !self.waits_at(die, unit, lpn)
                    {
                        self.finish_unmapped_read(handle, page, unit, lpn, now);
                        continue;
                    }
                    (OpKind::Read, now)
                }
            };
            self.enqueue(die, PageOp::new(handle, lpn, unit, page, kind, ready), now)?;
        }
        Ok(())
    }

    /// Puts an operation behind everything ready no later, and behind earlier operations on the same LPN.
    pub(super) fn enqueue(&mut self, die: u32, mut op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        self.interrupted = true;
        let slot = &mut self.dies[die as usize];
        let mut after = slot.tail;
        while after != NO_OP {
            let other = &self.ops[after];
            if other.unit == op.unit && other.lpn == op.lpn {
                op.ready = op.ready.max(other.ready);
                break;
            }
            if other.ready <= op.ready {
                break;
            }
            after = other.previous;
        }
        op.previous = after;
        op.next = if after == NO_OP { slot.head } else { self.ops[after].next };
        let (next, ready) = (op.next, op.ready);
        let handle = self.ops.insert(op);
        match after {
            NO_OP => slot.head = handle,
            _ => self.ops[after].next = handle,
        }
        match next {
            NO_OP => slot.tail = handle,
            _ => self.ops[next].previous = handle,
        }
        if after == NO_OP && slot.is_idle() {
            // Whatever the die was waiting for, this comes first.
            if ready <= now {
                return self.dispatch(die, now);
            }
            // Unless it is about to collect: that comes at once, not when this operation is ready.
            if ready < self.wakes.time_of(die as usize) {
                self.wakes.set(die as usize, ready);
            }
        }
        Ok(())
    }

    /// Takes an operation out of its die's list; it stays in the slab while it runs.
    pub(super) fn unlink(&mut self, die: u32, handle: u32) {
        let op = self.ops[handle];
        if let Some(placement) = &mut self.placement {
            placement.begin(&op);
        }
        let slot = &mut self.dies[die as usize];
        match op.previous {
            NO_OP => slot.head = op.next,
            previous => self.ops[previous].next = op.next,
        }
        match op.next {
            NO_OP => slot.tail = op.previous,
            next => self.ops[next].previous = op.previous,
        }
    }

    /// Whether an operation on this LPN waits at, or runs on, its die.
    fn waits_at(&self, die: u32, unit: u32, lpn: u32) -> bool {
        let slot = &self.dies[die as usize];
        let same = |op: &PageOp| op.unit == unit && op.lpn == lpn;
        let mut handle = slot.head;
        while handle != NO_OP {
            if same(&self.ops[handle]) {
                return true;
            }
            handle = self.ops[handle].next;
        }
        slot.running_op().is_some_and(|handle| same(&self.ops[handle]))
    }
}

/// A die's queue and frontiers as schedules and victims see them.
pub(super) struct QueueView<'a> {
    pub die: &'a Die,
    pub index: u32,
    pub ops: &'a Slab<PageOp>,
    pub ftl: &'a Ftl,
}

impl QueueView<'_> {
    pub fn queued(&self, handle: u32) -> Queued {
        let op = &self.ops[handle];
        Queued { token: HostToken(handle), class: op.kind.class(), ready: op.ready, deadline: None }
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &PageOp)> {
        let start = (self.die.head != NO_OP).then_some(self.die.head);
        let following = |&handle: &u32| Some(self.ops[handle].next).filter(|&next| next != NO_OP);
        std::iter::successors(start, following).map(|handle| (handle, &self.ops[handle]))
    }

    /// The first operation that is wanted and has no earlier one on its LPN.
    fn find(&self, mut wanted: impl FnMut(&PageOp) -> bool) -> Option<Queued> {
        let first_on_lpn = |handle: u32, op: &PageOp| {
            let mut earlier = self.iter().take_while(|&(other, _)| other != handle);
            !earlier.any(|(_, other)| other.unit == op.unit && other.lpn == op.lpn)
        };
        let found = self.iter().find(|&(handle, op)| wanted(op) && first_on_lpn(handle, op));
        found.map(|(handle, _)| self.queued(handle))
    }

    /// Plane and page offset of the data a read asks for.
    fn place(&self, op: &PageOp) -> Option<(u32, u32)> {
        let (block, page) = self.ftl.lookup(op.unit, op.lpn)?;
        Some((self.ftl.plane_of(op.unit, block), page))
    }

    fn unit_of_plane(&self, plane: u32) -> u32 {
        let units = self.ftl.shape().units_per_die;
        self.index * units + if units == 1 { 0 } else { plane }
    }
}

impl DieQueues for QueueView<'_> {
    fn len(&self, class: Class) -> usize {
        self.iter().filter(|(_, op)| op.kind.class() == class).count()
    }

    fn first(&self, class: Class) -> Option<Queued> {
        self.find(|op| op.kind.class() == class)
    }

    fn find_read(&self, plane: u32, page: u32) -> Option<Queued> {
        self.find(|op| op.kind == OpKind::Read && self.place(op) == Some((plane, page)))
    }

    fn first_write(&self, plane: u32) -> Option<Queued> {
        let unit = self.unit_of_plane(plane);
        self.frontier_offset(plane)?;
        self.find(|op| op.kind == OpKind::Write && op.unit == unit)
    }

    fn frontier_offset(&self, plane: u32) -> Option<u32> {
        let unit = self.unit_of_plane(plane);
        self.ftl
            .next_host_page(unit)
            .filter(|&(block, _)| self.ftl.plane_of(unit, block) == plane)
            .map(|(_, page)| page)
    }
}

impl QueuedReads for QueueView<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(u32, u32)) {
        for (_, op) in self.iter().filter(|(_, op)| op.kind == OpKind::Read) {
            if let Some((plane, page)) = self.place(op) {
                visit(plane, page);
            }
        }
    }
}
