//! A winner tree over a fixed set of slots, each with at most one pending event.
//!
//! A die or channel has one next event at any time, so a heap's insertions and removals become updates in place:
//! log8(slots) branch-free minima of eight keys that share a cache line.
//!
//! ```text
//!                          first
//!                            |
//!          [ min    min    min    ...   min ]      group 0
//!            /       |      |            |
//!   [ s0 s1 ... s7 ] [ s8 .. s15 ]  ...            groups 1 to 8
//! ```
//!
//! A key is short, and the order of keys is that of (time, insertion, slot) all the same:
//!
//! ```text
//!   | time since `base`  | number, 20 bits | slot |      64 bits in all
//! ```
//!
//! Both are counted from some moment on, which moves when either would not fit: after a million insertions, or minutes. All
//! keys are made anew then. An event too far ahead even so has the latest time there is; if nothing else is pending, the first of
//! those is looked for.

use harmonia_types::SimTime;

use crate::prefetch;

const EMPTY: u64 = u64::MAX;
/// Keys of a group.
const WIDTH: usize = 8;
const NUMBER_BITS: u32 = 20;
/// A place that is no insertion: at equal times the slot alone decides.
const RANKED: u64 = 0;

/// Eight keys in one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Group([u64; WIDTH]);

impl Group {
    #[inline]
    fn min(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
    }
}

/// At most one event per slot, popped by time and, at equal times, in order of insertion.
#[derive(Debug, Clone)]
pub struct SlotQueue {
    /// The tree, level by level: the keys of group `g + 1` stand below key `g`.
    groups: Box<[Group]>,
    first: u64,
    /// Time of the first event.
    next: SimTime,
    /// Key of slot 0, counted through the groups.
    leaves: usize,
    /// Bits of a key that are the slot.
    slot_bits: u32,
    /// The latest time that a key can have: that of all events no earlier. A slot without an event has it, too.
    far: u64,
    /// What the times of keys are counted from.
    base: u64,
    /// The place whose number is as many as there are slots: smaller ones are of insertions from before that.
    since: u64,
    inserted: u64,
    /// Time and place of the event of each slot; [`SimTime::NEVER`] if it has none.
    events: Box<[(SimTime, u64)]>,
    /// The slots with an event, sorted, while keys are made anew.
    order: Vec<u32>,
}

impl SlotQueue {
    /// A queue for slots `0..slots`, all without an event.
    ///
    /// # Panics
    /// If there are more than 65,536 slots.
    pub fn new(slots: usize) -> Self {
        assert!(slots <= 1 << 16, "a slot queue holds at most 65536 slots, not {slots}");
        let (mut leaves, mut width) = (0, WIDTH);
        while width < slots {
            leaves += width;
            width *= WIDTH;
        }
        let groups = vec![Group([EMPTY; WIDTH]); (leaves + width) / WIDTH].into_boxed_slice();
        let events = vec![(SimTime::NEVER, RANKED); slots].into_boxed_slice();
        let slot_bits = usize::BITS - slots.saturating_sub(1).leading_zeros();
        SlotQueue {
            groups,
            first: EMPTY,
            next: SimTime::NEVER,
            leaves,
            slot_bits,
            far: EMPTY >> (slot_bits + NUMBER_BITS),
            base: 0,
            since: 1,
            inserted: 0,
            events,
            order: Vec::with_capacity(slots),
        }
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
        self.events[slot] = (time, place);
        let (ahead, number) = (time.0.wrapping_sub(self.base), place.wrapping_sub(self.since));
        let slots = self.events.len() as u64;
        if ahead < self.far && number < (1 << NUMBER_BITS) - 1 - slots {
            self.replace(slot, self.key(ahead, number + slots, slot));
        } else {
            self.set_outside(slot);
        }
    }

    /// As [`set`](Self::set), but at equal times the lowest slot comes first, whenever it was set. A queue is used with one
    /// of the two only.
    #[inline]
    pub fn set_ranked(&mut self, slot: usize, time: SimTime) {
        self.events[slot] = (time, RANKED);
        let ahead = time.0.wrapping_sub(self.base);
        let key = match time {
            _ if ahead < self.far => self.key(ahead, RANKED, slot),
            SimTime::NEVER => EMPTY,
            _ => return self.set_outside(slot),
        };
        self.replace(slot, key);
    }

    /// Asks the caches for the place of a slot, whose event is about to be set.
    #[inline]
    pub fn prefetch(&self, slot: usize) {
        prefetch(&self.events, slot);
        prefetch(&self.groups, (self.leaves + slot) / WIDTH);
    }

    /// Time and slot of the event that comes after the next one.
    #[inline]
    pub fn peek_second(&self) -> Option<(SimTime, usize)> {
        let (_, slot) = self.peek()?;
        let (mut node, mut second) = (self.leaves + slot, EMPTY);
        loop {
            let mut others = self.groups[node / WIDTH];
            others.0[node % WIDTH] = EMPTY;
            second = second.min(others.min());
            match (node / WIDTH).checked_sub(1) {
                Some(above) => node = above,
                None => break,
            }
        }
        if self.is_far(second) {
            return self.earliest(Some(slot));
        }
        (second != EMPTY).then(|| (self.events[self.slot_of(second)].0, self.slot_of(second)))
    }

    /// Removes the event of `slot`, if any.
    #[inline]
    pub fn clear(&mut self, slot: usize) {
        self.events[slot].0 = SimTime::NEVER;
        self.replace(slot, EMPTY);
    }

    /// Time of the next event; [`SimTime::NEVER`] if there is none.
    #[inline]
    pub fn next_time(&self) -> SimTime {
        if self.is_one_group() { self.peek_group().map_or(SimTime::NEVER, |next| next.0) } else { self.next }
    }

    /// The slot of the next event; without a meaning if there is none.
    #[inline]
    pub fn first(&self) -> usize {
        if self.is_one_group() {
            self.peek_group().map_or(0, |next| next.1)
        } else {
            self.slot_of(self.first)
        }
    }

    /// The next event's time and slot. The event stays until its slot is set or cleared.
    #[inline]
    pub fn peek(&self) -> Option<(SimTime, usize)> {
        if self.is_one_group() {
            return self.peek_group();
        }
        (self.first != EMPTY).then(|| (self.next, self.slot_of(self.first)))
    }

    /// So few slots that their first event is looked for when somebody asks, not whenever one is set.
    #[inline]
    fn is_one_group(&self) -> bool {
        self.leaves == 0
    }

    /// The next event of the only group.
    #[inline]
    fn peek_group(&self) -> Option<(SimTime, usize)> {
        let key = self.groups[0].min();
        let ahead = key >> (self.slot_bits + NUMBER_BITS);
        if ahead == self.far {
            return if key == EMPTY { None } else { self.earliest(None) };
        }
        Some((SimTime(self.base.wrapping_add(ahead)), self.slot_of(key)))
    }

    /// Time of the event of `slot`; [`SimTime::NEVER`] if it has none.
    #[inline]
    pub fn time_of(&self, slot: usize) -> SimTime {
        self.events[slot].0
    }

    #[inline]
    fn replace(&mut self, slot: usize, mut key: u64) {
        if self.is_one_group() {
            self.groups[0].0[slot] = key;
            return;
        }
        let mut node = self.leaves + slot;
        loop {
            let group = &mut self.groups[node / WIDTH];
            group.0[node % WIDTH] = key;
            key = group.min();
            let Some(above) = (node / WIDTH).checked_sub(1) else { break };
            node = above;
        }
        self.first = key;
        let ahead = key >> (self.slot_bits + NUMBER_BITS);
        self.next = SimTime(self.base.wrapping_add(ahead));
        if ahead == self.far {
            match key {
                EMPTY => self.next = SimTime::NEVER,
                _ => self.find_first(),
            }
        }
    }

    #[inline]
    fn key(&self, ahead: u64, number: u64, slot: usize) -> u64 {
        (ahead << NUMBER_BITS | number) << self.slot_bits | slot as u64
    }

    #[inline]
    fn slot_of(&self, key: u64) -> usize {
        (key & ((1 << self.slot_bits) - 1)) as usize
    }

    #[inline]
    fn is_far(&self, key: u64) -> bool {
        key != EMPTY && key >> (self.slot_bits + NUMBER_BITS) == self.far
    }

    /// The first event, if all that are pending are far ahead.
    #[cold]
    fn find_first(&mut self) {
        if let Some((time, slot)) = self.earliest(None) {
            (self.first, self.next) = (self.key(self.far, RANKED, slot), time);
        }
    }

    /// The first event but for one slot's, looked for one by one.
    fn earliest(&self, except: Option<usize>) -> Option<(SimTime, usize)> {
        let others = (0..self.events.len()).filter(|&slot| Some(slot) != except);
        let first = others.min_by_key(|&slot| self.events[slot])?;
        let (time, _) = self.events[first];
        (time != SimTime::NEVER).then_some((time, first))
    }

    /// A slot has been given an event that does not fit a key as they are.
    #[cold]
    fn set_outside(&mut self, slot: usize) {
        let (time, _) = self.events[slot];
        if time == SimTime::NEVER {
            return self.replace(slot, EMPTY);
        }
        let first = self.earliest(None).map_or(time, |(first, _)| first);
        if time.0 - first.0 >= self.far {
            return self.replace(slot, self.key(self.far, RANKED, slot));
        }
        self.renew(first);
    }

    /// Makes all keys anew: times count from `base`.
    fn renew(&mut self, base: SimTime) {
        (self.base, self.since) = (base.0, self.inserted + 1);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(
            (0..self.events.len() as u32).filter(|&slot| self.events[slot as usize].0 != SimTime::NEVER),
        );
        order.sort_unstable_by_key(|&slot| (self.events[slot as usize], slot));
        for (number, &slot) in (0..).zip(&order) {
            let (time, place) = self.events[slot as usize];
            let number = if place == RANKED { RANKED } else { number };
            let node = self.leaves + slot as usize;
            let key = self.key((time.0 - base.0).min(self.far), number, slot as usize);
            self.groups[node / WIDTH].0[node % WIDTH] = key;
        }
        self.order = order;
        for below in (1..self.groups.len()).rev() {
            self.groups[(below - 1) / WIDTH].0[(below - 1) % WIDTH] = self.groups[below].min();
        }
        (self.first, self.next) = (self.groups[0].min(), base);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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

    /// A sorted set is the oracle, over times from the next nanosecond to a century ahead, with places that are kept for long:
    /// keys are made anew again and again.
    #[test]
    fn keeps_the_order_whatever_the_distances() {
        for (seed, slots) in [1usize, 2, 8, 9, 64, 300, 5000].into_iter().enumerate() {
            let mut rng = Rng::stream(seed as u64, "slot queue distances");
            let (mut queue, mut events) = (SlotQueue::new(slots), vec![None; slots]);
            let mut oracle: BTreeSet<(SimTime, u64, usize)> = BTreeSet::new();
            let (mut now, mut kept, mut renewed) = (0u64, Vec::new(), 0);
            for step in 0..30_000 {
                let slot = rng.below(slots as u64) as usize;
                let distance = 1 << rng.below(if step % 64 == 0 { 62 } else { 42 });
                let time = SimTime(now + rng.below(distance));
                let (base, mut place) = (queue.base, None);
                match rng.below(8) {
                    0..4 => {
                        queue.set(slot, time);
                        place = Some(queue.inserted);
                    }
                    4 => {
                        kept.push(queue.reserve());
                        continue;
                    }
                    5 if !kept.is_empty() => {
                        place = Some(kept.swap_remove(rng.below(kept.len() as u64) as usize));
                        queue.set_reserved(slot, time, place.unwrap_or_default());
                    }
                    6 => queue.clear(slot),
                    _ => {
                        let Some((time, slot)) = queue.peek() else { continue };
                        now = now.max(time.0).min(1 << 60);
                        queue.clear(slot);
                        oracle.pop_first();
                        events[slot] = None;
                    }
                }
                if place.is_some() || queue.time_of(slot) == SimTime::NEVER {
                    let event = place.map(|place| (time, place, slot));
                    if let Some(old) = std::mem::replace(&mut events[slot], event) {
                        oracle.remove(&old);
                    }
                    oracle.extend(event);
                }
                if rng.below(500) == 0 {
                    // As if a million insertions had passed.
                    queue.inserted += 1 << NUMBER_BITS;
                }
                renewed += u64::from(queue.base != base);
                let first = oracle.first().map(|&(time, _, slot)| (time, slot));
                assert_eq!(queue.peek(), first, "step {step} of seed {seed}");
                assert_eq!(queue.next_time(), first.map_or(SimTime::NEVER, |first| first.0));
            }
            assert!(renewed > 10, "{slots} slots: keys were made anew {renewed} times");
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
                    if rng.chance(0.5) {
                        queue.clear(slot);
                    } else {
                        queue.set_ranked(slot, SimTime::NEVER);
                    }
                    times[slot] = None;
                } else {
                    let time = SimTime(rng.below(20) << if rng.chance(0.1) { 40 } else { 0 });
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
