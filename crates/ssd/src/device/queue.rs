//! Operations waiting at the dies: one list per die in order of readiness, intrusive in a slab.
//!
//! Where host operations do not simply go in that order, [`Lanes`] stand beside it; where a list is too long to be
//! walked, an [`Index`] does.

use harmonia_types::{IoCause, Operation, SimTime};

use super::Device;
use super::index::LONGEST_WALK;
use super::owner::OwnerId;
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
    /// When a read or a trim that arrives at `now` is at its die: at once, or behind the data of earlier writes.
    #[inline]
    pub(super) fn reaches_die(&self, now: SimTime) -> SimTime {
        if self.rules.link_in_order { now.max(self.link.received()) } else { now }
    }

    /// Which operation of its die's list a new one goes behind; and the last on its LPN, where there is an index.
    #[inline]
    pub(super) fn place_in_queue(&mut self, die: u32, op: &PageOp) -> (u32, Option<u32>) {
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
