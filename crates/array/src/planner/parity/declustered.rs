//! Stripes that do not take all members: where their rows lie, and plans of several stripes.
//!
//! ```text
//! rows of transactions      stripe 0 | stripe 1 | stripe 2 | stripe 3 | ..      counted stripe after stripe
//! rows of members           ├─ row 0 ─────────┤ ├─ row 1 ─────────┤             two groups a row
//! ```
//!
//! Rows are locked and cut in the order of stripes, operations and health go by places on members. A [`Walk`] goes through
//! either and visits every stripe with its place. Where every stripe takes all members both are the same.
//!
//! Several whole stripes are planned one after the other. What follows on a member within the step becomes one
//! operation, if both are data or both are parity.
//!
//! A range of a member that is longer than a unit holds the rows of all stripes it could belong to, those of other groups
//! included.

use harmonia_types::{Bytes, DeviceId, Operation};

use super::{ParityPlanner, Piece, Rows};
use crate::layout::{Parity, Unit};
use crate::planner::{Plan, PlannedOperation, View, join};

/// Rows yet to be visited, stripe by stripe.
#[derive(Debug, Clone, Copy)]
pub(super) enum Walk {
    /// Bytes of units, counted stripe after stripe.
    Rows(Bytes, Bytes),
    /// Bytes of a member. Spare space is passed over.
    Member(DeviceId, Bytes, Bytes),
}

impl Walk {
    /// The next stripe, or part of one.
    pub fn next(&mut self, layout: &Parity, unit: Bytes) -> Option<Piece> {
        loop {
            let (stripe, begin, end, first) = match self {
                Walk::Rows(from, end) => {
                    let stripe = *from / unit;
                    // From places among units to places on members.
                    let moved = (stripe - layout.row_of(stripe)) * unit;
                    (Some(stripe), from, *end, moved)
                }
                Walk::Member(member, from, end) => (layout.stripe_on(*member, *from / unit), from, *end, 0),
            };
            let from = *begin;
            if from >= end {
                return None;
            }
            let to = ((from / unit + 1) * unit).min(end);
            *begin = to;
            if let Some(stripe) = stripe {
                return Some(Piece { stripe, from: from - first, to: to - first });
            }
        }
    }
}

impl ParityPlanner {
    /// A part of a stripe, to be walked through as its transaction was planned.
    pub(super) fn walk_of(&self, transaction: &super::Transaction, piece: Piece) -> Walk {
        let Piece { stripe, from, to } = piece;
        let moved = (stripe - self.layout.row_of(stripe)) * self.unit;
        match transaction.member {
            Some(member) => Walk::Member(member, from, to),
            None => Walk::Rows(from + moved, to + moved),
        }
    }

    /// The rows of a range of a member.
    pub(super) fn rows_on(&self, member: DeviceId, offset: Bytes, length: Bytes) -> Rows {
        let (row, last) = (offset / self.unit, (offset + length - 1) / self.unit);
        let stripe = if self.layout.declustered().is_none() { Some(row) } else { None };
        let stripe = stripe.or_else(|| self.layout.stripe_on(member, row).filter(|_| row == last));
        let Some(stripe) = stripe else { return self.rows_across(offset, length) };
        let end = offset + length;
        let (first, end) = (offset / self.row, end.div_ceil(self.row));
        Rows { first: first + (stripe - row) * (self.unit / self.row), count: end - first }
    }

    /// The rows of a range of all members.
    pub(super) fn rows_across(&self, offset: Bytes, length: Bytes) -> Rows {
        let stripes = self.layout.stripes_of_row();
        if stripes == 1 {
            let first = offset / self.row;
            return Rows { first, count: (offset + length).div_ceil(self.row) - first };
        }
        let (first, end) = (offset / self.unit, (offset + length).div_ceil(self.unit));
        self.rows_of(first * stripes, end * stripes)
    }

    /// Plans a read of a logical range, unit by unit.
    pub(super) fn read_declustered(&mut self, offset: Bytes, length: Bytes, plan: &mut Plan) {
        let fast_fail = self.dodge.avoid().is_some();
        let (mut from, end) = (offset, offset + length);
        self.begin_step();
        let mut last = std::mem::take(&mut self.last);
        while from < end {
            let (index, within) = (from / self.unit, from % self.unit);
            let bytes = (self.unit - within).min(end - from);
            let (stripe, unit) = (index / u64::from(self.data_units), index % u64::from(self.data_units));
            let member = self.layout.data_member(stripe, unit as u16);
            let place = self.layout.row_of(stripe) * self.unit + within;
            let data = PlannedOperation::data(member, Operation::Read, place, bytes);
            join(&mut last, PlannedOperation { fast_fail, ..data }, plan);
            from += bytes;
        }
        self.last = last;
    }

    /// Plans whole stripes, one after the other.
    pub(super) fn stripes_declustered(&mut self, operation: Operation, rows: Rows, plan: &mut Plan) {
        let is_write = operation == Operation::Write;
        let mut walk = Walk::Rows(rows.first * self.row, rows.end() * self.row);
        self.begin_step();
        let mut last = std::mem::take(&mut self.last);
        while let Some(piece) = walk.next(&self.layout, self.unit) {
            let data = (0..self.data_units)
                .map(|unit| (self.layout.data_member(piece.stripe, unit), Unit::Data(unit)));
            // Only a write tells parity from data.
            let parity = if is_write { Unit::P } else { Unit::Data(0) };
            let parities = self.parity_members(piece.stripe).map(|member| (member, parity));
            for (member, unit) in data.chain(parities) {
                join(&mut last, self.of_piece(piece, member, operation, unit), plan);
            }
        }
        self.last = last;
    }

    /// Plans to read all that members hold of a range.
    pub(super) fn read_all_declustered(
        &mut self,
        (offset, length): (Bytes, Bytes),
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        self.begin_step();
        let mut last = std::mem::take(&mut self.last);
        for member in (0..self.whole.members()).map(DeviceId) {
            let mut walk = Walk::Member(member, offset, offset + length);
            while let Some(Piece { from, to, .. }) = walk.next(&self.layout, self.unit) {
                if view.health.has(member, from, to) {
                    let read = PlannedOperation::data(member, Operation::Read, from, to - from);
                    let phase = harmonia_types::Phase::Reconstruct;
                    join(&mut last, PlannedOperation { phase, ..read }, plan);
                }
            }
        }
        self.last = last;
    }
}
