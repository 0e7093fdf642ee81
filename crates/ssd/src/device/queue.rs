//! Operations waiting at the dies: one list per die in order of readiness, intrusive in a slab.
//!
//! Where host operations do not simply go in that order, [`Lanes`] stand beside it; where a list is too long to be
//! walked, an [`Index`] does.

use harmonia_types::{IoCause, Operation, SimTime};

use super::account::Edges;
use super::index::LONGEST_WALK;
use super::owner::OwnerId;
use super::{Device, DeviceFailure, SubRequest};
use crate::die::Die;
use crate::die::command::NO_OP;
use crate::gc::schedule::Class;
use crate::probe::Probe;

/// One page of a sub-request, or one that the drive writes for itself, waiting at or running on a die.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageOp {
    pub next: u32,
    pub previous: u32,
    pub owner: OwnerId,
    /// LPN inside the unit; the device's where the allocation is dynamic.
    pub lpn: u32,
    pub unit: u32,
    /// Page of the sub-request, counted from 0; 0 of what the drive does for itself.
    pub page: u32,
    pub kind: OpKind,
    /// What it is for: the host's data, or the array's parity.
    pub cause: IoCause,
    /// When it can start: for a write, when its data is over the link.
    pub ready: SimTime,
    /// Place in its lane.
    pub lane_next: u32,
    pub lane_previous: u32,
    /// The one that came before it to its bucket, and the one after.
    pub bucket_older: u32,
    pub bucket_newer: u32,
    /// The next operation on the same LPN.
    pub follower: u32,
    /// An earlier operation on its LPN waits.
    pub follows: bool,
    /// It is refused rather than kept waiting for collection.
    pub fast_fail: bool,
    /// Order of arrival.
    pub order: u64,
}

/// Every event of a die looks at one or two of them: each fits a cache line.
const _: () = assert!(size_of::<PageOp>() <= 64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpKind {
    Read,
    Write,
    /// A write of part of a page: the rest is read first.
    PartialWrite,
    Trim,
}

impl PageOp {
    pub fn new(
        owner: OwnerId,
        lpn: u32,
        unit: u32,
        page: u32,
        (kind, cause): (OpKind, IoCause),
        ready: SimTime,
    ) -> Self {
        PageOp {
            next: NO_OP,
            previous: NO_OP,
            owner,
            lpn,
            unit,
            page,
            kind,
            cause,
            ready,
            lane_next: NO_OP,
            lane_previous: NO_OP,
            bucket_older: NO_OP,
            bucket_newer: NO_OP,
            follower: NO_OP,
            follows: false,
            fast_fail: false,
            order: 0,
        }
    }

    pub fn is_on(&self, unit: u32, lpn: u32) -> bool {
        self.unit == unit && self.lpn == lpn
    }
}

/// The class that the pages of an operation wait in.
pub(super) fn class_of(operation: Operation) -> Class {
    if operation == Operation::Read { Class::Read } else { Class::Write }
}

impl OpKind {
    /// Whether it programs a page.
    pub fn writes(self) -> bool {
        matches!(self, OpKind::Write | OpKind::PartialWrite)
    }

    pub fn class(self) -> Class {
        if self == OpKind::Read { Class::Read } else { Class::Write }
    }
}

impl<P: Probe> Device<P> {
    /// The first of the sub-requests on their way reaches the device.
    pub(super) fn take_ingress(&mut self) -> Result<(), DeviceFailure> {
        if let Some((time, sub, issued)) = self.ingress.pop_front() {
            self.events += 1;
            self.accept(time, sub, issued)?;
            self.answer_everywhere(time);
            self.tell_queue(time);
        }
        Ok(())
    }

    /// A sub-request has reached the device: splits it into pages and queues them at their dies.
    pub(super) fn accept(
        &mut self,
        now: SimTime,
        sub: SubRequest,
        issued: SimTime,
    ) -> Result<(), DeviceFailure> {
        let page_size = self.rules.page_size;
        let (first, head) = page_size.divide(sub.offset);
        let (last, tail) = page_size.divide(sub.offset + sub.length);
        let (partial_head, partial_tail) = (head != 0, tail != 0);
        let end = last + u64::from(partial_tail);
        let pages = if sub.length == 0 { 0 } else { end - first };
        assert!(
            first + pages <= u64::from(self.rules.shape.logical_pages),
            "bytes {}+{} lie beyond the device",
            sub.offset,
            sub.length
        );
        if sub.operation == Operation::Flush || pages == 0 {
            if sub.operation == Operation::Flush && self.flush_waits(&sub, issued, now) {
                // What rests in the cache goes now.
                return if self.rules.shape.packing.packs() { self.pump(now) } else { Ok(()) };
            }
            // Every write is durable when it completes, so there is nothing to flush.
            self.finish_at_once(sub.token, issued, now);
            return Ok(());
        }
        let (first, pages) = (first as u32, pages as u32);
        let handle = self.open_sub(&sub, issued, pages);
        if !self.rules.enters_at_once {
            self.subs[handle].in_controller = self.in_controller(issued, now);
        }
        if (partial_head || partial_tail) && sub.operation == Operation::Write {
            let after = if partial_tail { page_size.by() - tail } else { 0 };
            self.subs[handle].edges = match pages {
                1 => Edges { last: 0, left_out: [(head + after) as u32, 0] },
                _ => Edges { last: pages - 1, left_out: [head as u32, after as u32] },
            };
        }
        if !sub.background {
            self.last_activity = now;
        }
        if self.cache.is_some() {
            return self.accept_before_cache(&sub, handle, now);
        }
        if self.rules.shape.is_dynamic() {
            let is_partial = |page| (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            return self.accept_anywhere(&sub, handle, (first, pages), is_partial, now);
        }
        if self.superblocks.is_some() {
            let is_partial = |page| (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            return self.accept_by_map(&sub, handle, (first, pages), is_partial, now);
        }
        if pages == 1 {
            let place = self.rules.shape.locate(first);
            // The page is looked up when its die is ready for it; until then the entry is on its way to the cache.
            self.ftl.prefetch(place.1, place.2);
            return self.accept_page(&sub, (handle, 0), place, partial_head || partial_tail, now);
        }
        // Ask for all map entries at once, so that their cache misses overlap.
        for (_, unit, lpn) in self.rules.shape.walk(first, pages) {
            self.ftl.prefetch(unit, lpn);
        }
        for (page, place) in (0..).zip(self.rules.shape.walk(first, pages)) {
            let edge = (page == 0 && partial_head) || (page == pages - 1 && partial_tail);
            self.accept_page(&sub, (handle, page), place, edge, now)?;
        }
        Ok(())
    }

    /// One page of a sub-request, which lies at this die, unit and LPN of the unit. `edge`: only a part of it is meant.
    #[inline]
    fn accept_page(
        &mut self,
        sub: &SubRequest,
        (handle, page): (u32, u32),
        (die, unit, lpn): (u32, u32, u32),
        edge: bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let left = if sub.fast_fail { self.kept_waiting(die, class_of(sub.operation), now) } else { None };
        let (kind, ready) = match sub.operation {
            Operation::Write => {
                let kind = if edge { OpKind::PartialWrite } else { OpKind::Write };
                // What is refused does not go over the link.
                (kind, if left.is_some() { now } else { self.link.receive(now, self.rules.link_page) })
            }
            Operation::Trim if edge => {
                // A device may ignore the parts of pages at the edges of a trimmed range.
                self.finish_page_at(handle, page, now);
                return Ok(());
            }
            Operation::Trim => (OpKind::Trim, self.reaches_die(now)),
            Operation::Read | Operation::Flush => {
                if !self.ftl.fully_mapped(unit)
                    && self.ftl.lookup(unit, lpn).is_none()
                    && !self.waits_at(die, unit, lpn)
                {
                    self.finish_unmapped_read(handle, page, unit, lpn, now);
                    return Ok(());
                }
                (OpKind::Read, self.reaches_die(now))
            }
        };
        if let Some(left) = left {
            self.refuse_arriving(handle, page, left, now);
            return Ok(());
        }
        let owner = OwnerId::host(handle);
        let op = PageOp::new(owner, lpn, unit, page, (kind, sub.parity.cause_of(page)), ready);
        self.enqueue(die, PageOp { fast_fail: sub.fast_fail, ..op }, now)
    }

    /// When a read or a trim that arrives at `now` is at its die: at once, or behind the data of earlier writes.
    #[inline]
    pub(super) fn reaches_die(&self, now: SimTime) -> SimTime {
        if self.rules.link_in_order { now.max(self.link.received()) } else { now }
    }

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

    /// Which operation of its die's list a new one goes behind; and the last on its LPN, where there is an index.
    #[inline]
    fn place_in_queue(&mut self, die: u32, op: &PageOp) -> (u32, Option<u32>) {
        if self.index.is_none() {
            if let Some(after) = self.walk_back(die, op) {
                return (after, None);
            }
            self.index_queues();
        }
        let Some(index) = &mut self.index else { unreachable!("kept from now on") };
        let slot = &self.dies[die as usize];
        let last = index.last_on(op.unit, op.lpn, &self.ops);
        // A list is in order of readiness, so an operation on the LPN stands behind all that are ready by then exactly
        // if it is ready later itself.
        let after = match last {
            Some(last) if self.ops[last].ready > op.ready => last,
            _ if slot.tail == NO_OP || self.ops[slot.tail].ready <= op.ready => slot.tail,
            _ => index.last_ready_by(op.ready, die, slot.head, &self.ops),
        };
        (after, last)
    }

    /// Looks for that place from the end of the list. `None` if it is far: reads and trims overtake every write whose
    /// data is not over the link, and with a load that is too much for the link those are ever more.
    #[inline]
    fn walk_back(&self, die: u32, op: &PageOp) -> Option<u32> {
        let mut after = self.dies[die as usize].tail;
        for _ in 0..LONGEST_WALK {
            if after == NO_OP {
                return Some(NO_OP);
            }
            let other = &self.ops[after];
            if other.ready <= op.ready || other.is_on(op.unit, op.lpn) {
                return Some(after);
            }
            after = other.previous;
        }
        None
    }

    /// An operation leaves its die's list to run; it stays in the slab meanwhile.
    pub(super) fn unlink(&mut self, die: u32, handle: u32) {
        if let Some(placement) = &mut self.placement {
            placement.begin(&self.ops[handle]);
        }
        self.take_out(die, handle);
    }

    /// Takes an operation out of its die's list, to run or to be refused.
    pub(super) fn take_out(&mut self, die: u32, handle: u32) {
        let op = self.ops[handle];
        let slot = &mut self.dies[die as usize];
        slot.waiting -= 1;
        if op.fast_fail {
            slot.fast_waiting -= 1;
            self.fast_waiting -= 1;
        }
        match op.previous {
            NO_OP => slot.head = op.next,
            previous => self.ops[previous].next = op.next,
        }
        match op.next {
            NO_OP => slot.tail = op.previous,
            next => self.ops[next].previous = op.previous,
        }
        if let Some(index) = &mut self.index {
            index.remove(handle, die, &mut self.ops);
        }
        if let Some(lanes) = &mut self.lanes {
            lanes.remove(handle, &mut self.ops);
        }
    }

    /// Whether an operation on this LPN waits at, or runs on, its die.
    pub(super) fn waits_at(&mut self, die: u32, unit: u32, lpn: u32) -> bool {
        if self.index.is_none() && self.dies[die as usize].waiting > LONGEST_WALK {
            self.index_queues();
        }
        let slot = &self.dies[die as usize];
        let waits = match &self.index {
            Some(index) => index.last_on(unit, lpn, &self.ops).is_some(),
            None => self.waiting_at(slot).any(|op| op.is_on(unit, lpn)),
        };
        waits || slot.running_ops().any(|handle| self.ops[handle].is_on(unit, lpn))
    }

    /// The operations that wait at a die, in order of readiness.
    fn waiting_at(&self, die: &Die) -> impl Iterator<Item = &PageOp> {
        self.waiting_from(die.head)
    }

    /// The same from one of them on.
    pub(super) fn waiting_from(&self, first: u32) -> impl Iterator<Item = &PageOp> {
        let some = |handle: u32| (handle != NO_OP).then(|| &self.ops[handle]);
        std::iter::successors(some(first), move |op| some(op.next))
    }
}
