//! Writes of rows of which the stripe cache keeps something.
//!
//! ```text
//! unit      0      1      2      P          0 is written; 0 and P are kept from the write before
//!        ┌──────┬──────┬──────┬──────┐
//!        │ kept │      │      │ kept │      read-modify-write reads nothing, reconstruct-write two units
//!        └──────┴──────┴──────┴──────┘
//! ```
//!
//! The rule is the same as without a cache, and what is kept costs nothing: whichever way reads fewer units, a tie goes to
//! reconstruct-write. It is asked of every run of rows of which the same is kept. Where reads avoid members that collect, the way
//! that waits least goes first, and kept units wait for nobody.
//!
//! Two writes become one transaction if they have the same rows and what they write of them lies side by side. Writes that overlap
//! do not, as in md: the later one waits.
//!
//! A member that refuses a pre-read of several rows at a time is waited for, since their parity need not be made in one way.
//!
//! Source: Linux md, drivers/md/raid5.c (`handle_stripe_dirtying`, `stripe_bio_overlaps`). Leaves out: writes of one row that do
//! not lie side by side, which md would merge as well.

use harmonia_types::{Bytes, Operation, ParityPages, Phase, SimDuration};

use super::{Method, ParityPlanner, Piece, Way};
use crate::config::SmallWrite;
use crate::layout::Unit;
use crate::planner::{Kind, Plan, PlannedOperation, Transaction, View, join};
use crate::stripe_cache::StripeCache;

impl ParityPlanner {
    /// Whether a write that holds its rows has to read anything first.
    pub(super) fn needs_pre_reads(
        &mut self,
        transaction: &Transaction,
        view: &View<'_>,
        cache: &StripeCache,
    ) -> bool {
        let ways = self.cached_ways(transaction, view, cache);
        let needs = |&(piece, way): &(Piece, Way)| {
            let row = piece.from / self.row;
            self.reads_of(transaction, (piece, way), view).any(|member| !cache.holds(row, member))
        };
        let has = ways.iter().any(needs);
        self.ways = ways;
        has
    }

    /// Plans a write of rows that are whole; `kept` are the reads that the cache answers.
    pub(super) fn write_cached(
        &mut self,
        transaction: &Transaction,
        view: &View<'_>,
        cache: &StripeCache,
        plan: &mut Plan,
        kept: &mut Vec<PlannedOperation>,
    ) {
        // From now on the rows of a transaction need not all be read in one way.
        self.mixes_methods = true;
        let ways = self.cached_ways(transaction, view, cache);
        let fast_fail = self.dodge.avoid().is_some();
        let mut last = std::mem::take(&mut self.last);
        last.clear();
        last.resize(usize::from(self.whole.members()), u32::MAX);
        let mut read_bytes = 0;
        for &(piece, way) in &ways {
            let (row, length) = (piece.from / self.row, piece.to - piece.from);
            for member in self.reads_of(transaction, (piece, way), view) {
                let read = PlannedOperation::data(member, Operation::Read, piece.from, length);
                let (phase, parity) = (Phase::Parity, ParityPages::ALL);
                let read = PlannedOperation { phase, parity, fast_fail, ..read };
                if cache.holds(row, member) {
                    kept.push(read);
                } else {
                    read_bytes += length;
                    join(&mut last, read, plan);
                }
            }
        }
        self.last = last;
        self.counters.pre_read_bytes += read_bytes;
        for (piece, way) in &ways {
            let rows = (piece.to - piece.from) / self.row;
            match way {
                Way::Usual(Method::Full) => self.counters.rows_full += rows,
                Way::Usual(Method::ReadModifyWrite) => self.counters.rows_read_modify_write += rows,
                _ => self.counters.rows_reconstruct_write += rows,
            }
        }
        self.ways = ways;
        plan.barrier();
        self.write_rows(transaction, plan);
    }

    /// Plans what a write writes: data and parity of all its rows.
    fn write_rows(&mut self, transaction: &Transaction, plan: &mut Plan) {
        let Transaction { rows, units: (first, last), .. } = *transaction;
        if rows.count > self.unit / self.row {
            return self.whole_stripes(Operation::Write, rows, plan);
        }
        let stripe = self.stripe_of(transaction);
        let piece = Piece { stripe, from: rows.first * self.row, to: rows.end() * self.row };
        for unit in first..=last {
            let member = self.layout.data_member(stripe, unit);
            plan.push(self.of_piece(piece, member, Operation::Write, Unit::Data(unit)));
        }
        for member in self.parity_members(stripe) {
            plan.push(self.of_piece(piece, member, Operation::Write, Unit::P));
        }
    }

    /// The rows of a write in runs of which the same is kept and the same units are written in part, and how each makes its
    /// parity.
    fn cached_ways(
        &mut self,
        transaction: &Transaction,
        view: &View<'_>,
        cache: &StripeCache,
    ) -> Vec<(Piece, Way)> {
        let mut ways = std::mem::take(&mut self.ways);
        ways.clear();
        self.cut(transaction, view, |planner, Piece { stripe, mut from, to }| {
            while from < to {
                let first = from / planner.row;
                let alike = (first + 1..to / planner.row).take_while(|&row| cache.is_alike(first, row));
                let end = (first + 1 + alike.count() as u64) * planner.row;
                let piece = Piece { stripe, from, to: end };
                let method = planner.cached_method(transaction, piece, view, cache);
                ways.push((piece, Way::Usual(method)));
                from = end;
            }
        });
        ways
    }

    fn cached_method(
        &self,
        transaction: &Transaction,
        piece: Piece,
        view: &View<'_>,
        cache: &StripeCache,
    ) -> Method {
        if Method::in_use(transaction) == Method::Full {
            return Method::Full;
        }
        let (row, length) = (piece.from / self.row, piece.to - piece.from);
        let reads = |method| {
            let all = self.reads_of(transaction, (piece, Way::Usual(method)), view);
            all.filter(|&member| !cache.holds(row, member))
        };
        let count = |method| reads(method).count();
        let usual = match self.small_write {
            SmallWrite::ReadModifyWrite => Method::ReadModifyWrite,
            SmallWrite::Fewest if count(Method::ReadModifyWrite) < count(Method::Reconstruct) => {
                Method::ReadModifyWrite
            }
            SmallWrite::Reconstruct | SmallWrite::Fewest => Method::Reconstruct,
        };
        if self.dodge.avoid().is_none() {
            return usual;
        }
        let wait = |method: Method| {
            let waits = reads(method).filter_map(|member| view.left(member, piece.from, length));
            waits.max().unwrap_or(SimDuration::ZERO)
        };
        if wait(usual.other()) >= wait(usual) { usual } else { usual.other() }
    }

    /// Two writes as one, if they have the same rows and lie side by side there. The second one came later.
    pub(super) fn join_writes(&self, first: &Transaction, second: &Transaction) -> Option<Transaction> {
        let is_write = |write: &Transaction| {
            write.operation == Operation::Write && matches!(write.kind, Kind::Plain | Kind::Partial)
        };
        let is_one_stripe = first.rows.end() * self.row <= (self.stripe_of(first) + 1) * self.unit;
        if first.rows != second.rows || !is_one_stripe || !is_write(first) || !is_write(second) {
            return None;
        }
        let (one, other) = (self.span(first)?, self.span(second)?);
        if one.1 != other.0 && other.1 != one.0 {
            return None;
        }
        Some(self.spanning(first, (one.0.min(other.0), one.1.max(other.1))))
    }

    fn stripe_of(&self, write: &Transaction) -> u64 {
        write.rows.first * self.row / self.unit
    }

    /// The logical offset of the first row of a transaction in a unit.
    fn row_start(&self, write: &Transaction, unit: u16) -> Bytes {
        let within = write.rows.first * self.row % self.unit;
        self.stripe_of(write) * self.layout.stripe_bytes() + u64::from(unit) * self.unit + within
    }

    /// What a write covers of its rows, as if their units lay one behind the other. Several rows must be covered whole.
    fn span(&self, write: &Transaction) -> Option<(Bytes, Bytes)> {
        let (first, last) = write.units;
        let length = write.rows.count * self.row;
        let start = write.offset.saturating_sub(self.row_start(write, first));
        let stop = (write.offset + write.length - self.row_start(write, last)).min(length);
        let is_whole = start == 0 && stop == length;
        let span = (u64::from(first) * length + start, u64::from(last) * length + stop);
        (is_whole || write.rows.count == 1).then_some(span)
    }

    /// A write like another that covers so much of its rows.
    fn spanning(&self, write: &Transaction, (start, stop): (Bytes, Bytes)) -> Transaction {
        let length = write.rows.count * self.row;
        let units = ((start / length) as u16, ((stop - 1) / length) as u16);
        let offset = self.row_start(write, units.0) + start % length;
        let end = self.row_start(write, units.1) + (stop - 1) % length + 1;
        let joined = Transaction { units, offset, length: end - offset, ..*write };
        let partial = (units.0..=units.1).filter(|&unit| self.is_partial(&joined, unit)).count() as u16;
        self.method(units.1 - units.0 + 1, partial).of(joined)
    }
}
