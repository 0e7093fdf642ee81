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
use super::die::{Die, NO_OP};
use super::queue::PageOp;
use crate::gc::schedule::Class;
use crate::probe::Probe;
use crate::slab::Slab;

/// The waiting reads and the waiting writes (trims among them) of every allocation unit, in order of readiness.
#[derive(Debug)]
pub(super) struct Lanes {
    /// First and last, by unit and class.
    ends: Vec<[(u32, u32); 2]>,
    /// The newest operation of each bucket, by a hash of its LPN: the last one on an LPN is looked for there, so that a
    /// long queue is not walked for every arrival.
    newest: Box<[u32; BUCKETS]>,
    arrivals: u64,
}

const BUCKETS: usize = 4096;

fn bucket_of(unit: u32, lpn: u32) -> usize {
    (lpn.wrapping_add(unit.wrapping_mul(0x9E37)) as usize) % BUCKETS
}

impl Lanes {
    pub fn new(units: usize) -> Self {
        Lanes { ends: vec![[(NO_OP, NO_OP); 2]; units], newest: Box::new([NO_OP; BUCKETS]), arrivals: 0 }
    }

    /// Whether an operation on an LPN may be waiting; `false` is sure.
    pub fn may_hold(&self, unit: u32, lpn: u32) -> bool {
        self.newest[bucket_of(unit, lpn)] != NO_OP
    }

    /// An operation has entered its die's list.
    pub fn insert(&mut self, handle: u32, ops: &mut Slab<PageOp>) {
        let PageOp { unit, ready, kind, .. } = ops[handle];
        self.arrivals += 1;
        ops[handle].order = self.arrivals;
        self.follow(handle, ops);
        let (head, tail) = &mut self.ends[unit as usize][kind.class() as usize];
        let mut after = *tail;
        while after != NO_OP && ops[after].ready > ready {
            after = ops[after].lane_previous;
        }
        let next = if after == NO_OP { *head } else { ops[after].lane_next };
        (ops[handle].lane_previous, ops[handle].lane_next) = (after, next);
        match after {
            NO_OP => *head = handle,
            _ => ops[after].lane_next = handle,
        }
        match next {
            NO_OP => *tail = handle,
            _ => ops[next].lane_previous = handle,
        }
    }

    /// Puts an operation into its bucket, and behind the last one on its LPN, if there is one.
    fn follow(&mut self, handle: u32, ops: &mut Slab<PageOp>) {
        let PageOp { unit, lpn, .. } = ops[handle];
        let older = std::mem::replace(&mut self.newest[bucket_of(unit, lpn)], handle);
        if older == NO_OP {
            return;
        }
        ops[handle].bucket_older = older;
        ops[older].bucket_newer = handle;
        let mut last = older;
        while last != NO_OP && !ops[last].is_on(unit, lpn) {
            last = ops[last].bucket_older;
        }
        if last != NO_OP {
            ops[last].follower = handle;
            ops[handle].follows = true;
        }
    }

    fn leave_bucket(&mut self, handle: u32, ops: &mut Slab<PageOp>) {
        let PageOp { unit, lpn, bucket_older, bucket_newer, .. } = ops[handle];
        match bucket_newer {
            NO_OP => self.newest[bucket_of(unit, lpn)] = bucket_older,
            newer => ops[newer].bucket_older = bucket_older,
        }
        if bucket_older != NO_OP {
            ops[bucket_older].bucket_newer = bucket_newer;
        }
    }

    /// An operation leaves its die's list.
    pub fn remove(&mut self, handle: u32, ops: &mut Slab<PageOp>) {
        let PageOp { unit, kind, lane_next, lane_previous, follower, .. } = ops[handle];
        self.leave_bucket(handle, ops);
        if follower != NO_OP {
            ops[follower].follows = false;
        }
        let (head, tail) = &mut self.ends[unit as usize][kind.class() as usize];
        match lane_previous {
            NO_OP => *head = lane_next,
            previous => ops[previous].lane_next = lane_next,
        }
        match lane_next {
            NO_OP => *tail = lane_previous,
            next => ops[next].lane_previous = lane_previous,
        }
    }

    /// The one of a unit and class that can start last.
    pub fn last(&self, unit: u32, class: Class) -> Option<u32> {
        let (_, tail) = self.ends[unit as usize][class as usize];
        (tail != NO_OP).then_some(tail)
    }

    /// The waiting operations of a unit and class.
    pub fn iter<'a>(
        &self,
        unit: u32,
        class: Class,
        ops: &'a Slab<PageOp>,
    ) -> impl Iterator<Item = (u32, &'a PageOp)> + use<'a> {
        let (head, _) = self.ends[unit as usize][class as usize];
        let some = |handle: u32| (handle != NO_OP).then_some(handle);
        std::iter::successors(some(head), move |&handle| some(ops[handle].lane_next))
            .map(|handle| (handle, &ops[handle]))
    }
}

impl<P: Probe> Device<P> {
    /// Checks that lanes hold what the die's list holds, in its order.
    pub(super) fn audit_lanes(&self, index: u32, die: &Die) {
        let Some(lanes) = &self.lanes else { return };
        let start = (die.head != NO_OP).then_some(die.head);
        let following = |&handle: &u32| Some(self.ops[handle].next).filter(|&next| next != NO_OP);
        let listed = std::iter::successors(start, following).count();
        let mut waiting = 0;
        let units = self.rules.shape.units_per_die;
        for unit in index * units..(index + 1) * units {
            for class in [Class::Read, Class::Write] {
                let ready: Vec<_> = lanes.iter(unit, class, &self.ops).map(|(_, op)| op.ready).collect();
                assert!(ready.is_sorted(), "the lanes of unit {unit} are in order of readiness");
                waiting += ready.len();
            }
        }
        assert_eq!(listed, die.waiting as usize, "die {index}: operations waiting");
        assert_eq!(waiting, listed, "die {index}: lanes hold what the list holds");
    }
}
