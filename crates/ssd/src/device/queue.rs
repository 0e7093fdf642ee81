//! Operations waiting at the dies: one list per die in order of readiness, intrusive in a slab.
//!
//! Where host operations do not simply go in that order, [`Lanes`] stand beside it; where a list is too long to be
//! walked, an [`Index`] does.

use harmonia_types::{IoCause, Operation, SimTime};

use super::account::SubState;
use super::index::{Index, LONGEST_WALK};
use super::lanes::Lanes;
use super::{Device, DeviceFailure, Rules, SubRequest};
use crate::die::Die;
use crate::die::command::{NO_OP, Paused};
use crate::ftl::Ftl;
use crate::gc::schedule::{Class, DieQueues, GcJob, HostToken, Queued, Work};
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
        sub: u32,
        lpn: u32,
        unit: u32,
        page: u32,
        (kind, cause): (OpKind, IoCause),
        ready: SimTime,
    ) -> Self {
        PageOp {
            next: NO_OP,
            previous: NO_OP,
            sub,
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
            self.finish_at_once(sub.token, issued, now);
            return Ok(());
        }
        let (first, pages) = (first as u32, pages as u32);
        let handle = self.open_sub(&sub, issued, pages);
        if !sub.background {
            self.last_activity = now;
        }
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
            let left =
                if sub.fast_fail { self.kept_waiting(die, class_of(sub.operation), now) } else { None };
            let (kind, ready) = match sub.operation {
                Operation::Write => {
                    let kind = if edge { OpKind::PartialWrite } else { OpKind::Write };
                    // What is refused does not go over the link.
                    (kind, if left.is_some() { now } else { self.link.take(now, self.rules.link_page) })
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
            if let Some(left) = left {
                self.refuse_arriving(handle, page, left, now);
                continue;
            }
            let op = PageOp::new(handle, lpn, unit, page, (kind, sub.parity.cause_of(page)), ready);
            self.enqueue(die, PageOp { fast_fail: sub.fast_fail, ..op }, now)?;
        }
        Ok(())
    }

    /// Puts an operation behind everything ready no later, and behind earlier operations on the same LPN.
    pub(super) fn enqueue(&mut self, die: u32, mut op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        if !self.is_background(op.sub) {
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
            return self.consider_suspending(die, now);
        }
        let slot = &mut self.dies[die as usize];
        if after == NO_OP && slot.is_idle() {
            // Whatever the die was waiting for, this comes first.
            if ready <= now {
                self.dispatch(die, now)?;
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
    fn waits_at(&mut self, die: u32, unit: u32, lpn: u32) -> bool {
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

/// A die's queue and frontiers as schedules and victims see them.
pub(super) struct QueueView<'a> {
    pub die: &'a Die,
    pub index: u32,
    pub ops: &'a Slab<PageOp>,
    pub subs: &'a Slab<SubState>,
    pub rules: &'a Rules,
    pub lanes: Option<&'a Lanes>,
    pub indexed: Option<&'a Index>,
    pub ftl: &'a Ftl,
}

impl QueueView<'_> {
    #[inline]
    pub fn queued(&self, handle: u32) -> Queued {
        let op = &self.ops[handle];
        let deadline = self.rules.deadlines.then(|| self.subs[op.sub].deadline);
        Queued { token: HostToken(handle), class: op.kind.class(), ready: op.ready, deadline }
    }

    /// What the host gets served next: the head of the queue; where reads go first, the first of those that could start.
    #[inline]
    pub fn head(&self, now: SimTime, reads_first: bool) -> Option<Queued> {
        if self.die.head == NO_OP {
            return None;
        }
        let first = if reads_first { self.first_in(Class::Read, |op| op.ready <= now) } else { None };
        first.or_else(|| (self.die.head != NO_OP).then(|| self.queued(self.die.head)))
    }

    pub fn units(&self) -> std::ops::Range<u32> {
        self.ftl.shape().units_of(self.index)
    }

    /// The first operation of a class that is wanted and could go next.
    fn first_in(&self, class: Class, wanted: impl Fn(&PageOp) -> bool) -> Option<Queued> {
        let first = |unit| self.first_of(unit, class, &wanted);
        let found = self
            .units()
            .filter_map(first)
            .min_by_key(|&handle| (self.ops[handle].ready, self.ops[handle].order));
        found.map(|handle| self.queued(handle))
    }

    /// The first operation of a unit and class that is wanted and could go next: no earlier one on its LPN waits, nor
    /// is one suspended.
    fn first_of(&self, unit: u32, class: Class, wanted: impl Fn(&PageOp) -> bool) -> Option<u32> {
        let could = |op: &PageOp| !op.follows && !self.is_held_up(op);
        let mut lane = self.lane(unit, class);
        lane.find(|(_, op)| could(op) && wanted(op)).map(|(handle, _)| handle)
    }

    pub fn lane(&self, unit: u32, class: Class) -> impl Iterator<Item = (u32, &PageOp)> {
        self.lanes.into_iter().flat_map(move |lanes| lanes.iter(unit, class, self.ops))
    }

    /// Whether any operation of a class waits for a plane.
    pub fn waits_for(&self, plane: u32, class: Class) -> bool {
        let unit = self.unit_of_plane(plane);
        let one_unit = self.ftl.shape().units_per_die == 1;
        self.lane(unit, class).any(|(_, op)| match class {
            Class::Read if one_unit => self.place(op).is_some_and(|place| place.0 == plane),
            _ => true,
        })
    }

    /// Whether all reads that wait for a plane could start.
    pub fn all_ready(&self, plane: u32, now: SimTime) -> bool {
        let unit = self.unit_of_plane(plane);
        let last = self.lanes.and_then(|lanes| lanes.last(unit, Class::Read));
        last.is_none_or(|last| self.ops[last].ready <= now)
    }

    /// Whether an operation waits for a suspended program of its page.
    fn is_held_up(&self, op: &PageOp) -> bool {
        let programs = |paused: &Paused| {
            let mut hosts = paused.parts.iter().filter(|part| part.op != NO_OP);
            paused.moves == Some((op.unit, op.lpn))
                || hosts.any(|part| self.ops[part.op].is_on(op.unit, op.lpn))
        };
        self.die.paused.as_deref().is_some_and(programs)
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
        self.units().map(|unit| self.lane(unit, class).count()).sum()
    }

    fn first(&self, class: Class) -> Option<Queued> {
        self.first_in(class, |_| true)
    }

    fn find_read(&self, plane: u32, page: u32) -> Option<Queued> {
        let unit = self.unit_of_plane(plane);
        self.first_of(unit, Class::Read, |op| self.place(op) == Some((plane, page)))
            .map(|handle| self.queued(handle))
    }

    fn first_write(&self, plane: u32) -> Option<Queued> {
        let unit = self.unit_of_plane(plane);
        self.first_of(unit, Class::Write, |op| op.kind == OpKind::Write).map(|handle| self.queued(handle))
    }

    fn can_write_at(&self, plane: u32, page: u32) -> bool {
        let unit = self.unit_of_plane(plane);
        // Nobody looks at the unit's thresholds before a write that goes along, so it leaves room to collect a block.
        if !self.ftl.has_room_to_collect(unit) {
            return false;
        }
        self.ftl.host_page_at(unit, page).is_some_and(|block| self.ftl.plane_of(unit, block) == plane)
    }

    fn place_of(&self, token: HostToken) -> Option<(u32, u32)> {
        let op = &self.ops[token.0];
        match op.kind {
            OpKind::Read => self.place(op),
            OpKind::Write => {
                let (block, page) = self.ftl.next_host_page(op.unit)?;
                Some((self.ftl.plane_of(op.unit, block), page))
            }
            OpKind::PartialWrite | OpKind::Trim => None,
        }
    }

    fn on_moving_page(&self, job: &GcJob) -> Option<Queued> {
        if self.die.waiting == 0 || !self.units().contains(&job.unit) {
            return None;
        }
        let lpn = self.ftl.lpn_at(job.unit, job.victim, job.cursor)?;
        self.indexed.and_then(|indexed| indexed.last_on(job.unit, lpn, self.ops))?;
        let same = |op: &PageOp| op.is_on(job.unit, lpn) && matches!(op.kind, OpKind::Read | OpKind::Write);
        let first = |class| self.first_of(job.unit, class, same);
        first(Class::Read).or_else(|| first(Class::Write)).map(|handle| self.queued(handle))
    }

    fn each_waiting(&self, visit: &mut dyn FnMut(Queued, Work) -> bool) {
        self.visit_waiting(visit);
    }

    fn step(&self, job: Option<&GcJob>) -> Work {
        self.rules.step(job)
    }
}

impl QueuedReads for QueueView<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(u32, u32)) {
        for (_, op) in self.units().flat_map(|unit| self.lane(unit, Class::Read)) {
            if let Some((plane, page)) = self.place(op) {
                visit(plane, page);
            }
        }
    }
}
