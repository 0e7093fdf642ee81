//! How complete each of the events of a request is that blkparse and blktrace record, and which of them is read.
//!
//! A whole recording has every byte asked for in each of Q, D and C, and in I where a scheduler takes part. The number of requests need not agree: the kernel
//! merges neighbours between Q and D. So an event is complete where its bytes are, or, in a recording that moves no
//! bytes, its requests. A recording may hold one event in full and scraps of another, as filters of blktrace leave them.
//!
//! Leaves out: devices on top of one another (md, dm), which queue each request once a level; `only` picks one.

use harmonia_types::{Bytes, sort_by_numbers};
use serde::Serialize;

use crate::Action;

/// In this order the events are preferred where they are about as complete: D is the load the device saw, Q the
/// application's view before requests are merged.
pub(crate) const PREFERENCE: [Action; 4] =
    [Action::Issued, Action::Queued, Action::Inserted, Action::Completed];

/// An event with so large a share of the most complete one is about as complete.
const NEARLY: f64 = 0.9;

/// The requests of one event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EventCount {
    /// How many.
    pub requests: u64,
    /// What they ask for.
    pub bytes: Bytes,
}

/// The requests of each event that can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EventCounts {
    /// Event Q.
    pub queued: EventCount,
    /// Event I.
    pub inserted: EventCount,
    /// Event D.
    pub issued: EventCount,
    /// Event C.
    pub completed: EventCount,
}

/// Which event was read, and what could have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EventsRead {
    /// The one that was read.
    pub read: Action,
    /// Whether it was asked for; otherwise it was chosen for its completeness.
    pub asked: bool,
    /// Of the part of the files that was read.
    #[serde(flatten)]
    pub counts: EventCounts,
}

impl EventCounts {
    /// Adds those of another reading.
    pub(crate) fn absorb(&mut self, other: &EventCounts) {
        let EventCounts { queued, inserted, issued, completed } = other;
        for (sum, more) in [
            (&mut self.queued, queued),
            (&mut self.inserted, inserted),
            (&mut self.issued, issued),
            (&mut self.completed, completed),
        ] {
            sum.requests += more.requests;
            sum.bytes += more.bytes;
        }
    }

    /// The requests of an event.
    pub fn of(&self, action: Action) -> EventCount {
        match action {
            Action::Queued => self.queued,
            Action::Inserted => self.inserted,
            Action::Issued => self.issued,
            Action::Completed => self.completed,
        }
    }

    /// Whether nothing was counted.
    pub(crate) fn is_none(&self) -> bool {
        *self == EventCounts::default()
    }

    /// Counts a request.
    #[inline]
    pub(crate) fn add(&mut self, action: Action, bytes: Bytes) {
        let count = match action {
            Action::Queued => &mut self.queued,
            Action::Inserted => &mut self.inserted,
            Action::Issued => &mut self.issued,
            Action::Completed => &mut self.completed,
        };
        count.requests += 1;
        // Discards of whole disks may be many.
        count.bytes = count.bytes.saturating_add(bytes);
    }

    /// How much of the most complete event an event has, 0 to 1; 1 where there is none.
    pub fn completeness(&self, action: Action) -> f64 {
        let most = self.weight(self.most());
        if most == 0 { 1.0 } else { self.weight(action) as f64 / most as f64 }
    }

    /// The most complete event; of equals the first by preference.
    pub fn most(&self) -> Action {
        let more = |most: Action, action: Action| {
            if self.weight(action) > self.weight(most) { action } else { most }
        };
        PREFERENCE.into_iter().reduce(more).unwrap_or(PREFERENCE[0])
    }

    /// The events that have a request, the most complete first, and of equals the first by preference.
    pub fn by_completeness(&self) -> Vec<Action> {
        let mut events: Vec<Action> =
            PREFERENCE.into_iter().filter(|&action| self.of(action).requests > 0).collect();
        sort_by_numbers(&mut events, |&action| (!self.weight(action), 0));
        events
    }

    /// Bytes, or requests where none of the events has bytes.
    fn weight(&self, action: Action) -> u64 {
        let count = self.of(action);
        if self.moves_bytes() { count.bytes } else { count.requests }
    }

    fn moves_bytes(&self) -> bool {
        PREFERENCE.iter().any(|&action| self.of(action).bytes > 0)
    }

    /// Whether an event has about all that any has.
    pub fn is_complete(&self, action: Action) -> bool {
        self.completeness(action) >= NEARLY
    }

    /// The event to read where nobody chose.
    pub(crate) fn choice(&self) -> Action {
        PREFERENCE.into_iter().find(|&action| self.is_complete(action)).unwrap_or(PREFERENCE[0])
    }
}

impl EventsRead {
    /// What is wrong with the choice, in words; nothing where the event is about as complete as any.
    pub(crate) fn warning(&self) -> Option<String> {
        let EventsRead { read, counts, .. } = self;
        if counts.is_complete(*read) {
            return None;
        }
        let (share, most) = (100.0 * counts.completeness(*read), counts.most());
        let what = if counts.moves_bytes() { "bytes" } else { "requests" };
        let has = |action: Action| format!("event {} has {}", action.name(), counts.of(action).requests);
        Some(format!(
            "only {share:.1}% of the {what} are read: {} requests, {}: read that with --action {} (workload.action)",
            has(*read),
            has(most),
            most.letter()
        ))
    }
}

impl Action {
    /// Letter and word.
    pub fn name(self) -> &'static str {
        match self {
            Action::Queued => "Q (queued)",
            Action::Inserted => "I (inserted)",
            Action::Issued => "D (issued)",
            Action::Completed => "C (completed)",
        }
    }

    /// The letter that blkparse prints.
    pub fn letter(self) -> char {
        match self {
            Action::Queued => 'Q',
            Action::Inserted => 'I',
            Action::Issued => 'D',
            Action::Completed => 'C',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(queued: (u64, u64), issued: (u64, u64), completed: (u64, u64)) -> EventCounts {
        let count = |(requests, bytes)| EventCount { requests, bytes };
        EventCounts {
            queued: count(queued),
            issued: count(issued),
            completed: count(completed),
            ..EventCounts::default()
        }
    }

    #[test]
    fn the_most_complete_event_is_read() {
        let none = (0, 0);
        // Fifteen thousand requests were queued, of a hundred and seventy the recording has the rest of their life.
        assert_eq!(counts((15_524, 63_586_304), (170, 696_320), none).choice(), Action::Queued);
        // Ninety-one requests became one on their way: D has all that Q has.
        assert_eq!(counts((15_470, 63_365_120), (170, 63_365_120), none).choice(), Action::Issued);
        assert_eq!(counts((10, 1000), (10, 900), (10, 1000)).choice(), Action::Issued, "90% is enough");
        assert_eq!(counts((10, 1000), (10, 899), (10, 1000)).choice(), Action::Queued, "and less is not");
        assert_eq!(counts((1, 10), (1, 10), (10, 1000)).choice(), Action::Completed);
        assert_eq!(counts((9, 0), (2, 0), (9, 0)).choice(), Action::Queued, "flushes alone: by number");
        assert_eq!(EventCounts::default().choice(), Action::Issued);
    }

    #[test]
    fn completeness_is_a_share_of_the_most() {
        let counts = counts((4, 4000), (1, 1000), (0, 0));
        assert_eq!(
            [Action::Queued, Action::Issued, Action::Completed].map(|a| counts.completeness(a)),
            [1.0, 0.25, 0.0]
        );
        assert!(!counts.is_complete(Action::Issued) && counts.is_complete(Action::Queued));
    }
}
