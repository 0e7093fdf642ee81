//! A queue of any number of events, popped by time and, at equal times, in order of insertion.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use harmonia_types::{SimDuration, SimTime, sort_by_numbers};

/// Events ordered by (time, insertion). For resources with one pending event each, [`crate::SlotQueue`] is faster.
#[derive(Debug, Clone)]
pub struct EventQueue<T> {
    heap: BinaryHeap<Entry<T>>,
    inserted: u64,
}

#[derive(Debug, Clone)]
struct Entry<T> {
    time: SimTime,
    sequence: u64,
    event: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<T> Eq for Entry<T> {}
impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Entry<T> {
    /// Reversed, because the standard heap pops its greatest element.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { heap: BinaryHeap::new(), inserted: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Adds `event` at `time`, behind everything already waiting for that time.
    pub fn push(&mut self, time: SimTime, event: T) {
        self.heap.push(Entry { time, sequence: self.inserted, event });
        self.inserted += 1;
    }

    /// Time of the next event; [`SimTime::NEVER`] if there is none.
    pub fn next_time(&self) -> SimTime {
        self.heap.peek().map_or(SimTime::NEVER, |entry| entry.time)
    }

    /// Removes the next event if it is due at or before `now`.
    pub fn pop_due(&mut self, now: SimTime) -> Option<(SimTime, T)> {
        if self.next_time() > now {
            return None;
        }
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }

    /// Forgets the events that are not to be kept; the others stay in their order.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&T) -> bool) {
        self.heap.retain(|entry| is_kept(&entry.event));
    }

    /// The events that wait, in order.
    pub fn in_order(&self) -> impl Iterator<Item = (SimTime, &T)> {
        let mut all: Vec<&Entry<T>> = self.heap.iter().collect();
        sort_by_numbers(&mut all, |entry| (entry.time.0, entry.sequence));
        all.into_iter().map(|entry| (entry.time, &entry.event))
    }

    /// Some events come later by a time, behind all others of their new times. They stay in order among themselves.
    pub fn postpone(&mut self, by: SimDuration, mut is_postponed: impl FnMut(&T) -> bool) {
        let (mut later, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.heap).into_iter().partition(|entry| is_postponed(&entry.event));
        self.heap = kept.into();
        sort_by_numbers(&mut later, |entry| (entry.time.0, entry.sequence));
        later.into_iter().for_each(|entry| self.push(entry.time + by, entry.event));
    }

    /// Number of events waiting.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_are_first_in_first_out_and_nothing_is_early() {
        let mut queue = EventQueue::default();
        for (time, name) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b')] {
            queue.push(SimTime(time), name);
        }
        assert_eq!(queue.pop_due(SimTime(2)), None);
        let order: String = std::iter::from_fn(|| queue.pop_due(SimTime(5))).map(|(_, name)| name).collect();
        assert_eq!(order, "abcd");
    }

    #[test]
    fn postponed_events_keep_their_order_and_come_behind_the_others() {
        let mut queue = EventQueue::default();
        for (time, name) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b'), (13, 'X'), (15, 'Y')] {
            queue.push(SimTime(time), name);
        }
        queue.postpone(SimDuration(10), char::is_ascii_lowercase);
        let waiting: String = queue.in_order().map(|(_, name)| name).collect();
        assert_eq!(waiting, "XabYcd");
        let all = std::iter::from_fn(|| queue.pop_due(SimTime(15)));
        let all: Vec<_> = all.map(|(time, name)| (time.0, name)).collect();
        assert_eq!(all, [(13, 'X'), (13, 'a'), (13, 'b'), (15, 'Y'), (15, 'c'), (15, 'd')]);
    }
}
