//! A winner tree over a fixed set of slots, each with at most one pending event.
//!
//! A die or channel has one next event at any time, so a heap's insertions and removals become updates in place:
//! log4(slots) branch-free minima of four keys that share a cache line.
//!
//! ```text
//!                      first
//!                        |
//!          [ min    min    min    min ]         group 0
//!            /       |      |       \
//!   [ s0 s1 s2 s3 ] [ s4 .. s7 ]  ...           groups 1 to 4; leaves: (time, insertion, slot) packed in 128 bits
//! ```

use harmonia_types::SimTime;

const SLOT_BITS: u32 = 16;
const TIME_SHIFT: u32 = 64;
const EMPTY: u128 = u128::MAX;
/// Keys of a group.
const WIDTH: usize = 4;

/// Four keys in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Group([u128; WIDTH]);

/// At most one event per slot, popped by time and, at equal times, in order of insertion.
#[derive(Debug, Clone)]
pub struct SlotQueue {
    /// The tree, level by level: the keys of group `g + 1` stand below key `g`.
    groups: Box<[Group]>,
    first: u128,
    /// Key of slot 0, counted through the groups.
    leaves: usize,
    inserted: u64,
}

impl SlotQueue {
    /// A queue for slots `0..slots`, all without an event.
    ///
    /// # Panics
    /// If there are more than 65,536 slots.
    pub fn new(slots: usize) -> Self {
        assert!(slots <= 1 << SLOT_BITS, "a slot queue holds at most 65536 slots, not {slots}");
        let (mut leaves, mut width) = (0, WIDTH);
        while width < slots {
            leaves += width;
            width *= WIDTH;
        }
        let groups = vec![Group([EMPTY; WIDTH]); (leaves + width) / WIDTH].into_boxed_slice();
        SlotQueue { groups, first: EMPTY, leaves, inserted: 0 }
    }

    /// Sets the event of `slot` to `time`, replacing the one it had; it comes behind others at the same time.
    #[inline]
    pub fn set(&mut self, slot: usize, time: SimTime) {
        let place = self.reserve();
        self.set_reserved(slot, time, place);
    }

    /// A place among events of the same time, behind all that were set before.
    #[inline]
    pub fn reserve(&mut self) -> u64 {
        self.inserted += 1;
        self.inserted
    }

    /// As [`set`](Self::set), in a place that was [reserved](Self::reserve) for this event.
    #[inline]
    pub fn set_reserved(&mut self, slot: usize, time: SimTime, place: u64) {
        self.replace(
            slot,
            (u128::from(time.0) << TIME_SHIFT) | u128::from(place << SLOT_BITS) | slot as u128,
        );
    }

    /// As [`set`](Self::set), but at equal times the lowest slot comes first, whenever it was set. A queue is used with one
    /// of the two only.
    #[inline]
    pub fn set_ranked(&mut self, slot: usize, time: SimTime) {
        self.replace(slot, (u128::from(time.0) << TIME_SHIFT) | slot as u128);
    }

    /// Time and slot of the event that comes after the next one.
    #[inline]
    pub fn peek_second(&self) -> Option<(SimTime, usize)> {
        let (_, slot) = self.peek()?;
        let (mut node, mut second) = (self.leaves + slot, EMPTY);
        loop {
            let group = &self.groups[node / WIDTH].0;
            let others = (0..WIDTH).filter(|&key| key != node % WIDTH).map(|key| group[key]);
            second = others.fold(second, u128::min);
            match (node / WIDTH).checked_sub(1) {
                Some(above) => node = above,
                None => break,
            }
        }
        (second != EMPTY).then_some((SimTime((second >> TIME_SHIFT) as u64), (second & 0xFFFF) as usize))
    }

    /// Removes the event of `slot`, if any.
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.replace(slot, EMPTY);
    }

    /// Time of the next event; [`SimTime::NEVER`] if there is none.
    #[inline]
    pub fn next_time(&self) -> SimTime {
        SimTime((self.first >> TIME_SHIFT) as u64)
    }

    /// The slot of the next event; without a meaning if there is none.
    #[inline]
    pub fn first(&self) -> usize {
        (self.first & 0xFFFF) as usize
    }

    /// The next event's time and slot. The event stays until its slot is set or cleared.
    #[inline]
    pub fn peek(&self) -> Option<(SimTime, usize)> {
        let key = self.first;
        (key != EMPTY).then_some((SimTime((key >> TIME_SHIFT) as u64), (key & 0xFFFF) as usize))
    }

    /// Time of the event of `slot`; [`SimTime::NEVER`] if it has none.
    #[inline]
    pub fn time_of(&self, slot: usize) -> SimTime {
        let node = self.leaves + slot;
        SimTime((self.groups[node / WIDTH].0[node % WIDTH] >> TIME_SHIFT) as u64)
    }

    #[inline]
    fn replace(&mut self, slot: usize, key: u128) {
        let mut node = self.leaves + slot;
        let mut key = key;
        loop {
            let (group, at) = (&mut self.groups[node / WIDTH].0, node % WIDTH);
            // The others do not depend on the key, so that they are on their way at all levels at once.
            let others = group[at ^ 1].min(group[at ^ 2].min(group[at ^ 3]));
            group[at] = key;
            key = key.min(others);
            let Some(above) = (node / WIDTH).checked_sub(1) else {
                self.first = key;
                return;
            };
            node = above;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventQueue, Rng};

    /// The heap is the oracle: the same (time, insertion) order for 20,000 random set, clear and pop steps.
    #[test]
    fn pops_in_the_order_of_the_heap() {
        let mut rng = Rng::stream(1, "slot queue test");
        for slots in [1usize, 2, 3, 4, 5, 64, 65, 130] {
            let mut tree = SlotQueue::new(slots);
            let mut oracle: Vec<(SimTime, u64, usize)> = Vec::new();
            let mut inserted = 0;
            for _ in 0..20_000 {
                let slot = rng.below(slots as u64) as usize;
                match rng.below(4) {
                    0 | 1 => {
                        let time = SimTime(rng.below(50));
                        inserted += 1;
                        oracle.retain(|entry| entry.2 != slot);
                        oracle.push((time, inserted, slot));
                        tree.set(slot, time);
                    }
                    2 => {
                        oracle.retain(|entry| entry.2 != slot);
                        tree.clear(slot);
                    }
                    _ => {
                        let expected = oracle.iter().min().copied();
                        assert_eq!(tree.peek(), expected.map(|(time, _, slot)| (time, slot)));
                        if let Some((_, _, slot)) = expected {
                            oracle.retain(|entry| entry.2 != slot);
                            tree.clear(slot);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn agrees_with_the_event_queue_on_ties() {
        let mut tree = SlotQueue::new(8);
        let mut heap = EventQueue::default();
        for slot in [5, 1, 7, 0, 3] {
            tree.set(slot, SimTime(9));
            heap.push(SimTime(9), slot);
        }
        while let Some((time, slot)) = heap.pop_due(SimTime(9)) {
            assert_eq!(tree.peek(), Some((time, slot)));
            tree.clear(slot);
        }
        assert_eq!(tree.next_time(), SimTime::NEVER);
    }

    #[test]
    fn a_reserved_place_is_before_what_was_set_later() {
        let (mut tree, time) = (SlotQueue::new(3), SimTime(9));
        tree.set(2, time);
        let place = tree.reserve();
        tree.set(0, time);
        tree.set_reserved(1, time, place);
        for slot in [2, 1, 0] {
            assert_eq!(tree.peek(), Some((time, slot)));
            tree.clear(slot);
        }
    }

    /// A sorted list is the oracle: by time, then by slot; the second is the one behind the first.
    #[test]
    fn ranked_events_pop_by_slot_and_the_second_is_known() {
        for slots in [1usize, 2, 5, 17, 100] {
            let (mut queue, mut times) = (SlotQueue::new(slots), vec![None; slots]);
            let mut rng = Rng::stream(slots as u64, "ranked");
            for _ in 0..2000 {
                let slot = rng.below(slots as u64) as usize;
                if rng.chance(0.3) {
                    queue.clear(slot);
                    times[slot] = None;
                } else {
                    let time = SimTime(rng.below(20));
                    queue.set_ranked(slot, time);
                    times[slot] = Some(time);
                }
                let mut sorted: Vec<_> =
                    (0..slots).filter_map(|slot| times[slot].map(|time| (time, slot))).collect();
                sorted.sort_unstable();
                assert_eq!(
                    (queue.peek(), queue.peek_second()),
                    (sorted.first().copied(), sorted.get(1).copied())
                );
            }
        }
    }
}
