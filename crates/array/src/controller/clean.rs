//! Whether an array whose members forget what they cache is clean: what was written has been flushed.
//!
//! ```text
//!            a write               200 ms after the last one        they are done
//!   Clean ───────────► Written ─────────────────────────────► Flushes ────────────► Clean
//!                         ▲  ▲          a write                 │
//!                         │  └──────────────────────────────────┤
//!                         └──────────── power is lost ──────────┘
//! ```
//!
//! A member without stored power for its cache loses writes that it has answered. It may lose one of a row of which another member
//! keeps its part, so a row need not agree long after it was written. Only a flush of all members ends that. As in md, an array has
//! its members flush when nothing was written for `safe_mode_delay`, and is clean when all have. A loss of power in any other state
//! finds it dirty. An array that is gone through stays dirty until it is flushed after that, because what was written for it is in
//! caches, too.
//!
//! Source: Linux md, drivers/md/md.c (`md_safemode_timeout`, `set_in_sync`; `md_super_write` writes the superblock that says so with
//! `REQ_PREFLUSH | REQ_FUA`, so each member flushes before it).
//!
//! Not modelled: the superblock itself, which would be one more page on each member, here and before the first write to a clean
//! array; flushes of arrays that never lose power, whose members have nothing to lose.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Operation, SimDuration, SimTime};

use super::Array;
use super::messages::Message;
use super::payload::Payload;
use super::states::Purpose;

/// So long after the last write an array counts as clean, or has its members flush for that: md's `safe_mode_delay`.
pub(super) const CLEAN_AFTER: SimDuration = SimDuration::from_us(200_000);

/// How far an array is with that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Nothing was written since members have flushed.
    #[default]
    Clean,
    Written,
    /// Members flush, and nothing was written since that began.
    Flushes,
}

/// What an array knows whose members forget.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clean {
    state: State,
    /// It will be looked at.
    is_due: bool,
}

impl Clean {
    pub fn is_clean(&self) -> bool {
        self.state == State::Clean
    }

    /// Something is written. Whether it has to be arranged that somebody looks whether that is over.
    pub fn is_written(&mut self) -> bool {
        self.state = State::Written;
        !std::mem::replace(&mut self.is_due, true)
    }

    /// Somebody looks, and members begin to flush if it `may_flush`. Whether they do.
    fn begins(&mut self, may_flush: bool) -> bool {
        self.is_due = false;
        let begins = may_flush && self.state == State::Written;
        if begins {
            self.state = State::Flushes;
        }
        begins
    }

    /// All members have flushed.
    fn ends(&mut self) {
        if self.state == State::Flushes {
            self.state = State::Clean;
        }
    }

    /// Power is lost: a flush under way is forgotten.
    pub fn lose_power(&mut self) {
        if self.state == State::Flushes {
            self.state = State::Written;
        }
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    fn clean(&mut self) -> Option<&mut Clean> {
        self.failures.as_deref_mut()?.clean.as_mut()
    }

    /// Something is written.
    pub(super) fn is_written(&mut self, now: SimTime) {
        if self.clean().is_some_and(Clean::is_written) {
            self.agenda.push(now + CLEAN_AFTER, Message::Clean);
        }
    }

    /// The array writes to its members behind requests. What they forget of that makes it dirty as well.
    pub(super) fn writes_itself(&mut self, now: SimTime) {
        if let Some(failures) = self.failures.as_deref_mut().filter(|failures| failures.clean.is_some()) {
            failures.last_write = failures.last_write.max(Some(now));
            self.is_written(now);
        }
    }

    /// Somebody looks whether members may flush, so that the array is clean: they are about to. `never`: the array is gone through, whose
    /// end arranges another look, or does not start any more.
    #[must_use = "they have to be told"]
    pub(super) fn may_be_clean(&mut self, never: bool, now: SimTime) -> bool {
        let last = self.failures.as_deref().and_then(|failures| failures.last_write);
        let over = last.map_or(now, |last| last + CLEAN_AFTER);
        let writes = |operation: Operation| matches!(operation, Operation::Write | Operation::Trim);
        let is_busy = self.requests.iter().any(|request| writes(request.request.operation))
            || self.transactions.iter().any(|running| {
                // A flush that is under way says nothing of what was written since it began, and its end is that of one flush.
                writes(running.spec.operation) || running.purpose == Purpose::Clean
            });
        let is_over = over <= now;
        let Some(clean) = self.clean() else { return false };
        let begins = clean.begins(is_over && !is_busy && !never);
        // Who looks finds something written. So where members do not begin to flush, it was too early.
        if !begins && !never {
            clean.is_due = true;
            self.agenda.push(if is_over { now + CLEAN_AFTER } else { over }, Message::Clean);
        }
        begins
    }

    /// All members have flushed.
    pub(super) fn are_flushed(&mut self) {
        if let Some(clean) = self.clean() {
            clean.ends();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_clean_once_members_have_flushed_all_that_was_written() {
        let mut clean = Clean::default();
        assert!(clean.is_clean() && !clean.begins(true), "there is nothing to flush");
        assert_eq!([clean.is_written(), clean.is_written()], [true, false], "one look is arranged");
        assert!(!clean.begins(false) && !clean.is_clean());
        assert!(clean.is_written() && clean.begins(true) && !clean.is_clean(), "they are about to");
        clean.ends();
        assert!(clean.is_clean());
    }

    #[test]
    fn what_is_written_while_members_flush_or_lose_power_is_not_flushed() {
        let disturbs: [fn(&mut Clean); 2] = [|clean| _ = clean.is_written(), Clean::lose_power];
        for disturb in disturbs {
            let mut clean = Clean::default();
            clean.is_written();
            assert!(clean.begins(true));
            disturb(&mut clean);
            clean.ends();
            assert!(!clean.is_clean() && clean.begins(true));
        }
    }
}
