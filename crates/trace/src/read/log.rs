//! What was not read as it stands: passed over, mended, or tolerated.

use std::borrow::Cow;

pub use harmonia_types::Noted;
use serde::Serialize;

use super::super::events::EventCounts;
use super::TraceError;

/// Malformed rows that are kept word for word.
const EXAMPLES: usize = 5;

/// Counts of what a reader did to a trace beside reading it, with reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReadLog {
    /// Lines or records passed over by the format's rules: not requests, or not the event asked for.
    pub skipped: Vec<Noted>,
    /// Of these, requests that the trace does not tell enough of: the load is smaller without them.
    pub lost: u64,
    /// Requests that were mended: put into time order, spread over a second.
    pub repaired: Vec<Noted>,
    /// Malformed rows that were tolerated.
    pub bad: u64,
    /// The first of them, with file and place.
    pub bad_examples: Vec<String>,
    /// The requests of each event, where a format records several events of a request.
    #[serde(skip_serializing_if = "EventCounts::is_none")]
    pub events: EventCounts,
}

impl ReadLog {
    /// Counts a row that was passed over.
    #[inline]
    pub(crate) fn skip(&mut self, reason: &'static str) {
        note(&mut self.skipped, reason, 1);
    }

    /// Counts a request that was passed over because the trace does not tell enough of it.
    #[inline]
    pub(crate) fn lose(&mut self, reason: &'static str) {
        self.lost += 1;
        self.skip(reason);
    }

    /// Counts a row that was mended.
    #[inline]
    pub(crate) fn repair(&mut self, reason: &'static str) {
        note(&mut self.repaired, reason, 1);
    }

    /// Adds what was done to the rows of another reading.
    pub fn absorb(&mut self, other: &ReadLog) {
        other.skipped.iter().for_each(|noted| add(&mut self.skipped, noted));
        other.repaired.iter().for_each(|noted| add(&mut self.repaired, noted));
        self.bad += other.bad;
        self.lost += other.lost;
        self.events.absorb(&other.events);
        let room = EXAMPLES.saturating_sub(self.bad_examples.len());
        let unknown = other.bad_examples.iter().filter(|example| !self.bad_examples.contains(example));
        let unknown: Vec<String> = unknown.take(room).cloned().collect();
        self.bad_examples.extend(unknown);
    }

    #[cold]
    pub(super) fn tolerate(&mut self, error: &TraceError) {
        self.bad += 1;
        if self.bad_examples.len() < EXAMPLES {
            self.bad_examples.push(error.to_string());
        }
    }
}

/// Counts `rows` for `reason`.
#[inline]
pub(crate) fn note(list: &mut Vec<Noted>, reason: &'static str, rows: u64) {
    match list.iter_mut().find(|noted| noted.reason == reason) {
        Some(noted) => noted.rows += rows,
        None => list.push(Noted { reason: Cow::Borrowed(reason), rows }),
    }
}

/// Counts what was counted elsewhere.
fn add(list: &mut Vec<Noted>, other: &Noted) {
    match list.iter_mut().find(|noted| noted.reason == other.reason) {
        Some(noted) => noted.rows += other.rows,
        None => list.push(other.clone()),
    }
}
