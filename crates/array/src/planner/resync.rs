//! Rows whose parity or copies need not agree, since power was lost while they were written.
//!
//! ```text
//! members   |  gone through  |  not known to agree            |
//!                            from          x      x  rows cut short: the only ones that may not agree
//! ```
//!
//! Whether parity agrees with data shows in contents, and there are none here. So the rows that were being written are kept: they
//! are the only ones that may not agree, with those of which a member has lost what it cached. Everything that is not gone through is read, and parity or copies are written for these
//! rows alone. Without redundancy they mean nothing.
//!
//! Where a write-intent bitmap says which chunks were being written, all others agree.
//!
//! Until a row is gone through its parity is not used: a write reads the units that it does not write, as in md
//! (`handle_stripe_dirtying`), and nothing is read around a member that collects. A member that fails all the same takes with it
//! what parity says wrongly: that is the write hole. Rows are gone through again once it is rebuilt.
//!
//! Source: Linux md, drivers/md/raid5.c (`handle_stripe_dirtying`, `handle_parity_checks5`).

use std::collections::BTreeSet;

use harmonia_types::{Bytes, DeviceId, SimDuration};

use super::{Look, Rows};

/// Sees nobody collect: for rows of which parity is not to be relied on.
#[derive(Clone)]
pub(super) struct Blind;

impl Look for Blind {
    fn busy(&self, _: DeviceId, _: Bytes, _: Bytes, _: &mut dyn FnMut(Bytes, Bytes, SimDuration)) {}

    fn sees(&self, _: DeviceId) -> bool {
        true
    }
}

/// What may not agree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unsynced {
    /// First byte of the members that was not gone through; none if everything agrees.
    from: Option<Bytes>,
    /// Bytes of a chunk, and the only chunks that may not agree, where a bitmap says so.
    chunks: Option<(Bytes, BTreeSet<u64>)>,
    cut_short: BTreeSet<u64>,
    /// A member has lost what it had answered: copies differ of what nobody writes again.
    pub has_lost: bool,
    /// First rows of transactions under way that leave theirs as they are.
    skipped: Vec<u64>,
    written: u64,
}

impl Unsynced {
    /// A transaction that writes these rows was cut short.
    pub fn cut_short(&mut self, rows: Rows) {
        self.cut_short.extend(rows.first..rows.end());
    }

    /// From now on what lies below is known to agree, or everything.
    pub fn is_synced_to(&mut self, from: Option<Bytes>) {
        self.from = from;
        if from.is_none() {
            self.cut_short.clear();
            (self.chunks, self.has_lost) = (None, false);
        }
    }

    /// Only these chunks of so many bytes are not known to agree.
    pub fn is_only_in(&mut self, chunks: (Bytes, BTreeSet<u64>)) {
        self.chunks = Some(chunks);
    }

    /// Whether everything is known to agree.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.from.is_none()
    }

    /// Whether a range of the members is not known to agree.
    #[inline]
    pub fn has(&self, start: Bytes, end: Bytes) -> bool {
        self.from.is_some_and(|from| end > from && self.is_in_chunks(start.max(from), end))
    }

    fn is_in_chunks(&self, start: Bytes, end: Bytes) -> bool {
        let Some((size, chunks)) = &self.chunks else { return true };
        start < end && chunks.range(start / size..=(end - 1) / size).next().is_some()
    }

    /// Rows among these that were cut short, lowest first.
    pub fn rows_in(&self, rows: Rows) -> impl Iterator<Item = u64> + '_ {
        self.cut_short.range(rows.first..rows.end()).copied()
    }

    /// A transaction leaves its rows as they are.
    pub fn skip(&mut self, rows: Rows) {
        self.skipped.push(rows.first);
    }

    /// A transaction is over: rows that were cut short were written anew, unless it has left them as they are.
    #[cold]
    pub fn are_written(&mut self, rows: Rows) {
        if self.forget_skip(rows) {
            return;
        }
        let done: Vec<u64> = self.rows_in(rows).collect();
        self.written += done.len() as u64;
        done.iter().for_each(|row| _ = self.cut_short.remove(row));
    }

    /// A transaction is over; whether it has left its rows as they are.
    pub fn forget_skip(&mut self, rows: Rows) -> bool {
        let before = self.skipped.len();
        self.skipped.retain(|&first| first != rows.first);
        self.skipped.len() < before
    }

    /// Rows written anew so far.
    pub fn written(&self) -> u64 {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_cut_short_are_written_once() {
        let rows = |first, count| Rows { first, count };
        let mut unsynced = Unsynced::default();
        assert!(!unsynced.has(0, u64::MAX));
        unsynced.cut_short(rows(3, 2));
        unsynced.cut_short(rows(4, 3));
        unsynced.is_synced_to(Some(8192));
        assert!(unsynced.has(0, 8193) && !unsynced.has(0, 8192));
        assert_eq!(unsynced.rows_in(rows(4, 10)).collect::<Vec<_>>(), [4, 5, 6]);
        unsynced.are_written(rows(0, 5));
        assert_eq!((unsynced.written(), unsynced.rows_in(rows(0, 99)).count()), (2, 2));
        unsynced.is_only_in((4096, BTreeSet::from([1, 3])));
        assert!(unsynced.has(12_288, 12_289) && !unsynced.has(0, 12_288), "the second chunk is gone through");
        assert!(unsynced.has(0, 20_480) && !unsynced.has(16_384, 20_480));
        unsynced.is_synced_to(None);
        assert_eq!((unsynced.has(0, u64::MAX), unsynced.rows_in(rows(0, 99)).count()), (false, 0));
    }
}
