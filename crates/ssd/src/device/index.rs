//! Waiting operations found by their page and by when they can start, in a time that does not grow with the queue.
//!
//! ```text
//! bucket 0   w7 ─► r3           newest first; what waits for one page stands in one bucket
//! bucket 1   -                  as many buckets as operations, or more
//! bucket 2   w9
//! ```
//!
//! A short queue is walked, which costs less than keeping this. It is kept from the moment a queue was too long for
//! that ([`LONGEST_WALK`]), so that a load the device cannot keep up with is not simulated in quadratic time; and from
//! the beginning where there are lanes. Nothing but speed depends on it: it answers what a walk would find.

use harmonia_types::SimTime;

use super::Device;
use super::queue::PageOp;
use crate::die::command::NO_OP;
use crate::probe::Probe;
use crate::slab::Slab;

/// So many operations are walked before an index is worth its keep.
pub(super) const LONGEST_WALK: u32 = 64;

const FEWEST_BUCKETS: usize = 4096;

/// All operations that wait at the dies.
#[derive(Debug, Clone)]
pub(super) struct Index {
    /// The newest operation of each bucket, by a hash of its page. Their number is a power of two.
    newest: Vec<u32>,
    held: usize,
    /// By die: behind which operation of its list the last one was put that overtook others.
    near: Vec<u32>,
}

impl Index {
    pub fn new(dies: usize) -> Self {
        Index { newest: vec![NO_OP; FEWEST_BUCKETS], held: 0, near: vec![NO_OP; dies] }
    }

    /// Multiplied by the golden ratio, so that neither sequential nor strided pages meet in a bucket.
    fn bucket_of(&self, unit: u32, lpn: u32) -> usize {
        let page = u64::from(unit) << 32 | u64::from(lpn);
        let hash = page.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> (64 - self.newest.len().trailing_zeros())) as usize
    }

    /// The operations of a page's bucket, newest first.
    fn bucket<'a>(&self, unit: u32, lpn: u32, ops: &'a Slab<PageOp>) -> impl Iterator<Item = u32> + use<'a> {
        let some = |handle: u32| (handle != NO_OP).then_some(handle);
        let newest = self.newest[self.bucket_of(unit, lpn)];
        std::iter::successors(some(newest), move |&handle| some(ops[handle].bucket_older))
    }

    /// The last of the operations that wait for a page: nothing else of the page stands behind it in any list.
    #[inline]
    pub fn last_on(&self, unit: u32, lpn: u32, ops: &Slab<PageOp>) -> Option<u32> {
        self.bucket(unit, lpn, ops).find(|&handle| ops[handle].is_on(unit, lpn))
    }

    /// The last operation in the list of a die that can start by `ready`.
    pub fn last_ready_by(&mut self, ready: SimTime, die: u32, head: u32, ops: &Slab<PageOp>) -> u32 {
        let near = &mut self.near[die as usize];
        *near = last_ready_by(ready, *near, head, ops, |op| (op.previous, op.next));
        *near
    }

    /// An operation has entered the list of its die.
    #[inline]
    pub fn insert(&mut self, handle: u32, ops: &mut Slab<PageOp>) {
        if self.held == self.newest.len() {
            self.grow(ops);
        }
        self.held += 1;
        self.put(handle, ops);
    }

    fn put(&mut self, handle: u32, ops: &mut Slab<PageOp>) {
        let bucket = self.bucket_of(ops[handle].unit, ops[handle].lpn);
        let older = std::mem::replace(&mut self.newest[bucket], handle);
        (ops[handle].bucket_older, ops[handle].bucket_newer) = (older, NO_OP);
        if older != NO_OP {
            ops[older].bucket_newer = handle;
        }
    }

    /// An operation leaves the list of its die.
    #[inline]
    pub fn remove(&mut self, handle: u32, die: u32, ops: &mut Slab<PageOp>) {
        let PageOp { unit, lpn, previous, bucket_older, bucket_newer, .. } = ops[handle];
        match bucket_newer {
            NO_OP => {
                let bucket = self.bucket_of(unit, lpn);
                self.newest[bucket] = bucket_older;
            }
            newer => ops[newer].bucket_older = bucket_older,
        }
        if bucket_older != NO_OP {
            ops[bucket_older].bucket_newer = bucket_newer;
        }
        let near = &mut self.near[die as usize];
        if *near == handle {
            *near = previous;
        }
        self.held -= 1;
    }

    /// Four times as many buckets; what waits for one page keeps its order.
    fn grow(&mut self, ops: &mut Slab<PageOp>) {
        let larger = vec![NO_OP; self.newest.len() * 4];
        for newest in std::mem::replace(&mut self.newest, larger) {
            let mut handle = newest;
            while handle != NO_OP && ops[handle].bucket_older != NO_OP {
                handle = ops[handle].bucket_older;
            }
            while handle != NO_OP {
                let newer = ops[handle].bucket_newer;
                self.put(handle, ops);
                handle = newer;
            }
        }
    }
}

/// The last operation that can start by `ready` in a list in order of readiness, or [`NO_OP`]. It is looked for from
/// `near` on, which is the last one found: what overtakes others can start at once, and time does not go back, so every
/// operation is passed once. `links` are the previous and the next one.
pub(super) fn last_ready_by(
    ready: SimTime,
    near: u32,
    head: u32,
    ops: &Slab<PageOp>,
    links: impl Fn(&PageOp) -> (u32, u32),
) -> u32 {
    let mut last = near;
    while last != NO_OP && ops[last].ready > ready {
        last = links(&ops[last]).0;
    }
    loop {
        let next = if last == NO_OP { head } else { links(&ops[last]).1 };
        if next == NO_OP || ops[next].ready > ready {
            return last;
        }
        last = next;
    }
}

impl<P: Probe> Device<P> {
    /// Begins to keep an index of what waits.
    pub(super) fn index_queues(&mut self) {
        let mut index = Box::new(Index::new(self.dies.len()));
        for die in &self.dies {
            let mut handle = die.head;
            while handle != NO_OP {
                index.insert(handle, &mut self.ops);
                handle = self.ops[handle].next;
            }
        }
        self.index = Some(index);
    }

    /// Checks that the index knows what waits at the dies and, now and then, the last operation on each page.
    pub(super) fn audit_index(&self) {
        let Some(index) = &self.index else { return };
        let waiting: u32 = self.dies.iter().map(|die| die.waiting).sum();
        assert_eq!(index.held, waiting as usize, "the index holds what waits");
        if !self.walks_at_least_every(16, waiting) {
            return;
        }
        for die in &self.dies {
            let mut last = std::collections::BTreeMap::new();
            let mut handle = die.head;
            while handle != NO_OP {
                let op = &self.ops[handle];
                last.insert((op.unit, op.lpn), handle);
                handle = op.next;
            }
            for ((unit, lpn), handle) in last {
                assert_eq!(index.last_on(unit, lpn, &self.ops), Some(handle), "last on page {lpn} of {unit}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::owner::OwnerId;
    use crate::device::queue::OpKind;

    fn write(unit: u32, lpn: u32) -> PageOp {
        let as_written = (OpKind::Write, harmonia_types::IoCause::Host);
        PageOp::new(OwnerId::host(0), lpn, unit, 0, as_written, SimTime::ZERO)
    }

    /// An index of one operation on each of these pages, and the slab they stand in.
    fn of(pages: impl Iterator<Item = (u32, u32)>) -> (Index, Slab<PageOp>) {
        let (mut index, mut ops) = (Index::new(1), Slab::default());
        for (unit, lpn) in pages {
            let handle = ops.insert(write(unit, lpn));
            index.insert(handle, &mut ops);
        }
        (index, ops)
    }

    /// However much waits, next to nothing is looked at to find a page: in sequence, in strides, in many units.
    #[test]
    fn a_page_is_found_in_a_few_steps_whatever_waits() {
        let patterns: [fn(u32) -> (u32, u32); 4] =
            [|i| (0, i), |i| (3, i * 4096), |i| (i % 64, i / 64 * 512), |i| (i, 7)];
        for (number, page) in patterns.into_iter().enumerate() {
            let count = 200_000;
            let (index, ops) = of((0..count).map(page));
            let steps: usize = (0..count)
                .map(|i| {
                    let (unit, lpn) = page(i);
                    1 + index.bucket(unit, lpn, &ops).position(|handle| handle == i).expect("it is held")
                })
                .sum();
            assert!(steps < 3 * count as usize, "pattern {number}: {steps} steps for {count} pages");
        }
    }

    #[test]
    fn the_last_on_a_page_is_found_however_many_buckets_there_are() {
        let (mut index, mut ops) = of((0..3).map(|_| (1, 5)));
        assert_eq!(index.last_on(1, 5, &ops), Some(2));
        for lpn in 0..2 * FEWEST_BUCKETS as u32 {
            let handle = ops.insert(write(0, lpn));
            index.insert(handle, &mut ops);
        }
        assert_eq!(index.newest.len(), 4 * FEWEST_BUCKETS, "it has grown");
        assert_eq!(index.last_on(1, 5, &ops), Some(2));
        for (leaves, left) in [(0, Some(2)), (1, Some(2)), (2, None)] {
            index.remove(leaves, 0, &mut ops);
            assert_eq!(index.last_on(1, 5, &ops), left);
        }
        assert_eq!(index.last_on(5, 1, &ops), None);
    }

    /// Operations ready at 10, 20, 20 and 30, in a list.
    #[test]
    fn the_last_that_can_start_is_found_from_wherever_the_search_begins() {
        let mut ops = Slab::default();
        for (place, ready) in (0..).zip([10, 20, 20, 30]) {
            let mut op = write(0, place);
            (op.ready, op.previous) = (SimTime(ready), place.checked_sub(1).unwrap_or(NO_OP));
            op.next = if place == 3 { NO_OP } else { place + 1 };
            ops.insert(op);
        }
        for (ready, last) in [(9, NO_OP), (10, 0), (19, 0), (20, 2), (29, 2), (30, 3), (99, 3)] {
            for near in [NO_OP, 0, 1, 2, 3] {
                let found = last_ready_by(SimTime(ready), near, 0, &ops, |op| (op.previous, op.next));
                assert_eq!(found, last, "ready by {ready}, from {near} on");
            }
        }
    }
}
