//! What a loss of power leaves of rows that were being changed, and how their parity comes to agree again.
//!
//! ```text
//! member      0      1      2      3      4        power is lost while 1' and P' are written:
//!          ┌──────┬──────┬──────┬──────┬──────┐
//! flash    │  0   │  1   │  2   │ P/P' │ 1'/- │    the map goes back to 1, which is whole; what lies on member 4 is trimmed
//!          └──────┴──────┴──────┴──────┴──────┘    resync makes P of 0, 1 and 2; then the host writes 1 again
//! ```
//!
//! * Where slots lie is in NVRAM. It is changed for good when a transaction is done. So a write that is cut short leaves its row as the
//!   map had it: what moved still lies where it was, because copies are trimmed only afterwards.
//! * A discard that is cut short is not taken back: some of its units may be trimmed. They count as discarded.
//! * The parity of both need not agree. Until resync has gone through a row, its parity is missing to writes and reads, as in
//!   `degraded`. If something else of the row is missing, too, parity is relied on all the same: that is the write hole.
//! * A write all of whose operations have been answered is done, even if it holds its rows until the last answer has arrived: its
//!   request may have been answered.
//! * What was being trimmed after it had been left behind is trimmed again.
//! * What a journal has is done: rows lie where the write put them, and are written again. What it does not have has not been begun.
//! * With a partial parity log the rows of a write lie where they lay before, and parity is made there. What has moved away from a failed
//!   member stays in its new place, and parity is made to match whatever that page holds, because the write was not acknowledged. Of a
//!   page that was being written in part the rest may be lost, too. A discard is repeated.
//!
//! Source: resync is that of `crate::planner::resync`. The paper keeps its map in NVRAM, and does not say what a loss of power leaves.
//!
//! Leaves out: members that forget what they cache, which could lose a unit whose older copy has been trimmed.

use std::collections::BTreeSet;

use harmonia_types::{Bytes, DeviceId, Operation, ParityPages, Phase};

use super::degraded::Before;
use super::stripe_map::each;
use super::{FloatingPlanner, SWEEP};
use crate::planner::{Kind, Logged, Plan, PlannedOperation, Resyncs, Rows, Torn, Transaction, View};

impl FloatingPlanner {
    /// The members that hold something of a row, as bits.
    fn holders(&self, row: u64) -> u64 {
        each(self.map.held(row)).fold(0, |holders, slot| holders | 1 << self.map.member(row, slot).0)
    }

    /// The rows of a transaction that changed them are as they were.
    fn roll_back(&mut self, Before { of, places }: &Before) {
        let rows = of.rows;
        let planned: Vec<u64> = (rows.first..rows.end()).map(|row| self.holders(row)).collect();
        self.takes_back_return(of, places);
        self.map.put_back(rows, places);
        self.left.take_back(rows);
        for (row, planned) in (rows.first..rows.end()).zip(planned) {
            self.count_no_more(row, planned & !self.holders(row));
        }
    }

    /// The rows of a write are as they were, but for what has moved away from a failed member: nothing lies there.
    fn roll_back_what_is_left(&mut self, Before { of, places }: &Before) {
        let rows = of.rows;
        let mut places = places.clone();
        for (row, place) in (rows.first..rows.end()).zip(&mut places) {
            let this = Rows { first: row, count: 1 };
            let now_free = self.map.member(row, self.map.free());
            let has_left = self.left.is_leaving(now_free, row);
            if self.map.held_in(*place, now_free) && !has_left {
                *place = self.map.places(this)[0];
                self.left.settle(this);
            }
        }
        self.roll_back(&Before { of: *of, places });
    }

    /// The rows of a discard are as it was to leave them.
    fn roll_forward(&mut self, Before { of, places }: &Before) {
        let rows = of.rows;
        let planned = self.map.places(rows).to_vec();
        self.map.put_back(rows, places);
        let found: Vec<u64> = (rows.first..rows.end()).map(|row| self.holders(row)).collect();
        self.map.put_back(rows, &planned);
        self.left.settle(rows);
        for (row, found) in (rows.first..rows.end()).zip(found) {
            self.count_no_more(row, found & !self.holders(row));
        }
    }

    /// What these members hold of a row is trimmed when they may be used.
    fn count_no_more(&mut self, row: u64, members: u64) {
        each(members).for_each(|member| self.left.lies(DeviceId(member), row));
    }

    /// Plans to go through rows: all is read, and parity is written of those that were cut short.
    #[cold]
    pub(super) fn resync_rows(&mut self, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        if !view.health.is_complete() {
            return self.unsynced.skip(of.rows);
        }
        self.read_held(of.rows, view, plan);
        let rows: Vec<u64> = self.unsynced.rows_in(of.rows).collect();
        for row in rows {
            for slot in each(self.map.held(row) & self.map.parities()) {
                let write = self.on_slot(row, slot, Operation::Write, Phase::Reconstruct);
                self.writes.push(PlannedOperation { parity: ParityPages::ALL, ..write });
            }
        }
    }
}

impl Resyncs for FloatingPlanner {
    fn resync(&self, offset: Bytes, length: Bytes) -> Option<Transaction> {
        let rows = self.rows_across(offset, length);
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        (rows.count > 0).then_some(Transaction { rows, kind: Kind::Resync, ..whole })
    }

    fn is_cut_short(&mut self, transaction: &Transaction, writes: bool) {
        let Transaction { rows, kind, tag, operation, .. } = *transaction;
        self.unreadable.forget(rows);
        self.counted.forget(rows);
        match kind {
            Kind::Tidy if tag == SWEEP => self.left.lose_power(),
            Kind::Resync => _ = self.unsynced.forget_skip(rows),
            _ => {}
        }
        let before = self.take_before_of(transaction);
        let is_discard = operation == Operation::Trim;
        // A discard may have written parity while it still has something to trim.
        if rows.count > 0
            && (writes || is_discard && before.is_some())
            && !matches!(kind, Kind::Restore | Kind::Resync)
        {
            self.unsynced.cut_short(rows);
        }
        match before {
            Some(before) if is_discard => self.roll_forward(&before),
            Some(before) => self.roll_back(&before),
            None => {}
        }
    }

    fn is_over(&mut self, transaction: &Transaction, _: bool) {
        match transaction.tag {
            SWEEP if transaction.kind == Kind::Tidy => self.left.lose_power(),
            _ => self.is_done(transaction),
        }
    }

    fn is_logged(&mut self, transaction: &Transaction, log: Logged) {
        self.unreadable.forget(transaction.rows);
        self.counted.forget(transaction.rows);
        match self.take_before_of(transaction) {
            Some(before) if log == Logged::Nothing => self.roll_back(&before),
            Some(before) if log == Logged::Parity && transaction.operation == Operation::Write => {
                self.roll_back_what_is_left(&before);
            }
            Some(before) if log == Logged::Parity => self.roll_forward(&before),
            _ => self.is_done(transaction),
        }
    }

    fn torn(&self, transaction: &Transaction, row: u64, is_gone: bool) -> Option<Torn> {
        let (held, written) = (self.map.held(row), self.map.written(row));
        let parity = (held != 0).then(|| self.map.member(row, self.map.units()))?;
        let units = if is_gone { written } else { written & Self::units_of(transaction) };
        let units = each(units).map(|unit| self.map.member(row, unit)).collect();
        Some(Torn { units, parity })
    }

    fn is_lost(&mut self, _: DeviceId, offset: Bytes, length: Bytes) {
        self.unsynced.cut_short(self.rows_across(offset, length));
    }

    fn is_synced_to(&mut self, from: Option<Bytes>) {
        self.unsynced.is_synced_to(from);
    }

    fn is_unsynced_in(&mut self, chunks: (Bytes, BTreeSet<u64>)) {
        self.unsynced.is_only_in(chunks);
    }
}
