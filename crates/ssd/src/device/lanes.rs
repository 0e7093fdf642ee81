//! Waiting operations by allocation unit and class, beside the list of their die.
//!
//! ```text
//! die      head ─► w1 ─► r1 ─► w2 ─► r2        in order of readiness
//! unit 0   reads  r1      writes  w1 ─► w2      the same order
//! unit 1   reads  r2      writes  -
//! ```
//!
//! Kept only where somebody looks for more than the head of the queue: reads that go first, commands of several planes,
//! schedules and victims that ask what waits. Every operation then also knows whether an earlier one on its LPN waits.

use super::Device;
use super::index::last_ready_by;
use super::queue::PageOp;
use crate::die::Die;
use crate::die::command::NO_OP;
use crate::gc::schedule::Class;
use crate::probe::Probe;
use crate::slab::Slab;

/// The waiting reads and the waiting writes (trims among them) of every allocation unit, in order of readiness.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    /// By unit and class.
    lanes: Vec<[Lane; 2]>,
    arrivals: u64,
}

#[derive(Debug, Clone, Copy)]
struct Lane {
    head: u32,
    tail: u32,
    /// Behind which operation the last one was put that overtook others.
    near: u32,
}

impl Lanes {
    pub fn new(units: usize) -> Self {
        let empty = Lane { head: NO_OP, tail: NO_OP, near: NO_OP };
        Lanes { lanes: vec![[empty; 2]; units], arrivals: 0 }
    }

    /// An operation has entered its die's list; `last` is the one before it on its LPN, if one waits.
    pub fn insert(&mut self, handle: u32, last: Option<u32>, ops: &mut Slab<PageOp>) {
        let PageOp { unit, ready, kind, .. } = ops[handle];
        self.arrivals += 1;
        ops[handle].order = self.arrivals;
        if let Some(last) = last {
            ops[last].follower = handle;
            ops[handle].follows = true;
        }
        let lane = &mut self.lanes[unit as usize][kind.class() as usize];
        let mut after = lane.tail;
        if after != NO_OP && ops[after].ready > ready {
            after = last_ready_by(ready, lane.near, lane.head, ops, |op| (op.lane_previous, op.lane_next));
            lane.near = after;
        }
        let next = if after == NO_OP { lane.head } else { ops[after].lane_next };
        (ops[handle].lane_previous, ops[handle].lane_next) = (after, next);
        match after {
            NO_OP => lane.head = handle,
            _ => ops[after].lane_next = handle,
        }
        match next {
            NO_OP => lane.tail = handle,
            _ => ops[next].lane_previous = handle,
        }
    }

    /// An operation leaves its die's list.
    pub fn remove(&mut self, handle: u32, ops: &mut Slab<PageOp>) {
        let PageOp { unit, kind, lane_next, lane_previous, follower, follows, .. } = ops[handle];
        if follows {
            // It leaves before its turn: it is refused.
            let leader = one_before(handle, ops);
            ops[leader].follower = follower;
        } else if follower != NO_OP {
            ops[follower].follows = false;
        }
        let lane = &mut self.lanes[unit as usize][kind.class() as usize];
        if lane.near == handle {
            lane.near = lane_previous;
        }
        match lane_previous {
            NO_OP => lane.head = lane_next,
            previous => ops[previous].lane_next = lane_next,
        }
        match lane_next {
            NO_OP => lane.tail = lane_previous,
            next => ops[next].lane_previous = lane_previous,
        }
    }

    /// The one of a unit and class that can start last.
    pub fn last(&self, unit: u32, class: Class) -> Option<u32> {
        let tail = self.lanes[unit as usize][class as usize].tail;
        (tail != NO_OP).then_some(tail)
    }

    /// The first that waits of a unit and class; [`NO_OP`] if none does.
    #[inline]
    pub fn head(&self, unit: u32, class: Class) -> u32 {
        self.lanes[unit as usize][class as usize].head
    }

    /// The waiting operations of a unit and class.
    pub fn iter<'a>(
        &self,
        unit: u32,
        class: Class,
        ops: &'a Slab<PageOp>,
    ) -> impl Iterator<Item = (u32, &'a PageOp)> + use<'a> {
        from(self.head(unit, class), ops)
    }
}

/// An operation and those behind it in its lane.
#[inline]
pub(super) fn from(head: u32, ops: &Slab<PageOp>) -> impl Iterator<Item = (u32, &PageOp)> {
    let some = |handle: u32| (handle != NO_OP).then(|| (handle, &ops[handle]));
    std::iter::successors(some(head), move |(_, op)| some(op.lane_next))
}

/// The operation before one on its LPN, which waits. Where there are lanes there is an index, and its buckets have what came
/// before.
fn one_before(handle: u32, ops: &Slab<PageOp>) -> u32 {
    let PageOp { unit, lpn, .. } = ops[handle];
    let mut older = ops[handle].bucket_older;
    while !ops[older].is_on(unit, lpn) {
        older = ops[older].bucket_older;
    }
    older
}

impl<P: Probe> Device<P> {
    /// Whether a check that walks queues in which so many operations wait does so after this event: of short ones it does after
    /// every event, of long ones up to every sixty-fourth. So what checks cost does not grow with the queues of an overload.
    pub(super) fn walks(&self, waiting: u32) -> bool {
        self.walks_at_least_every(1, waiting)
    }

    /// [`Device::walks`] for what is checked after so many events at most in short queues, too.
    pub(super) fn walks_at_least_every(&self, events: u64, waiting: u32) -> bool {
        self.events.is_multiple_of(u64::from(waiting / 4).clamp(events, 64))
    }

    /// Checks that lanes hold what the die's list holds, in its order.
    pub(super) fn audit_lanes(&self, index: u32, die: &Die) {
        let Some(lanes) = &self.lanes else { return };
        if !self.walks(die.waiting) {
            return;
        }
        let start = (die.head != NO_OP).then_some(die.head);
        let following = |&handle: &u32| Some(self.ops[handle].next).filter(|&next| next != NO_OP);
        let listed = std::iter::successors(start, following).count();
        let mut waiting = 0;
        for unit in self.queues(index).units() {
            for class in [Class::Read, Class::Write] {
                let count = |_: &(u32, &PageOp)| waiting += 1;
                let is_sorted =
                    lanes.iter(unit, class, &self.ops).inspect(count).is_sorted_by_key(|(_, op)| op.ready);
                assert!(is_sorted, "the lanes of unit {unit} are in order of readiness");
            }
        }
        assert_eq!(listed, die.waiting as usize, "die {index}: operations waiting");
        assert_eq!(waiting, listed, "die {index}: lanes hold what the list holds");
    }
}
