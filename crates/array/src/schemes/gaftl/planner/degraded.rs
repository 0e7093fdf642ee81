//! Rows that lie away from home while a member is missing, or a page cannot be read.
//!
//! ```text
//! member      0      1      2      3      4        4 is missing; unit 1 is displaced, and parity goes on without it
//! row r    │  0   │ (1)  │  2   │  3   │ [P] │
//! slot     │      │  1   │      │      │ [1] │    both are rebuilt in the step that goes through row r
//! ```
//!
//! While a member is missing or rebuilt, nothing is displaced and no parity moves. The coordinator reserves nobody then, so that
//! nothing has to give way, and a slot that is written would have to be rebuilt in its turn. Rows that lie as the layout has them are
//! planned by `parity`. Of the others each row is planned by itself, from where the store and the stripe map say that it lies:
//!
//! | what | reads | writes |
//! |---|---|---|
//! | a displaced unit is read | the one of its two members that is left | - |
//! | a unit at home is read whose member is missing | the other units that parity has, and parity | - |
//! | units are written | for a read-modify-write or a reconstruct-write, whichever is possible and reads less | the units at home, parity |
//! | parity on the missing member is rebuilt | the units that it has, at home | parity |
//! | a unit is rebuilt that parity has | the other units that parity has, and parity | the unit |
//! | a unit is rebuilt that parity does not have | - | - |
//! | the copy in a slot is rebuilt | the other one | the copy |
//!
//! Units that are written go home, whether or not that is missing: parity makes up for it. A row that is rebuilt is complete with
//! its slots when its step ends, so that the slots need no step of their own. They count as missing until all is rebuilt.
//!
//! A plan says at once where units will lie. If something turns out to be missing while it reads, nothing of it is written so far. What
//! it changed in the store and the map is taken back, and it is planned anew. Counters go on counting what was planned.

use harmonia_types::{Counters, DeviceId, Operation, Phase};

use super::displaced::Copy;
use super::row::{Needs, Row, Way};
use super::{Busy, GaftlPlanner};
use crate::health::Condition;
use crate::planner::{
    Answer, Kind, LossCounters, Plan, PlannedOperation, Refusal, Restores, Rows, Transaction, View,
};

/// What lay where before a transaction was planned.
#[derive(Debug, Clone)]
pub(super) struct Before {
    rows: Rows,
    copies: Vec<((u64, u16), Copy)>,
    places: Vec<u64>,
}

impl GaftlPlanner {
    /// Whether something that rows consist of may be missing.
    #[inline]
    pub(super) fn is_hurt(&self, transaction: &Transaction, view: &View<'_>) -> bool {
        !self.inner.missing(transaction, view, None).is_none()
    }

    /// Whether something of some rows lies otherwise than the layout has it.
    pub(super) fn is_away(&self, rows: Rows) -> bool {
        self.displaced.has(rows) || self.is_moved(rows)
    }

    /// Takes note of where a transaction finds its rows. If it is planned anew, they are put there again first.
    #[cold]
    pub(super) fn remember(&mut self, rows: Rows) {
        self.take_back(rows);
        let copies = self.displaced.copies_within(rows);
        let map = self.migrating.as_deref().map(|migrating| &migrating.map);
        let places = map.map_or_else(Vec::new, |map| map.places(rows).to_vec());
        self.before.push(Before { rows, copies, places });
    }

    fn take_back(&mut self, rows: Rows) {
        let Some(place) = self.before.iter().position(|before| before.rows == rows) else { return };
        let Before { copies, places, .. } = self.before.swap_remove(place);
        self.displaced.put_back(rows, &copies);
        if let Some(migrating) = &mut self.migrating {
            migrating.map.put_back(rows, &places);
        }
    }

    /// A transaction is done: what it has changed stays.
    #[inline]
    pub(super) fn forget_before(&mut self, rows: Rows) {
        if !self.before.is_empty() {
            self.before.retain(|before| before.rows != rows);
        }
    }

    /// Whether a row of a member cannot be read.
    fn lacks(&self, of: &Transaction, view: &View<'_>, member: DeviceId, row: u64) -> bool {
        self.inner.missing(of, view, None).has(member, row * self.row, (row + 1) * self.row)
    }

    /// Whether the home of something of a row that is written cannot be read.
    #[inline]
    pub(super) fn is_gone(&self, row: &Row<'_>, member: DeviceId) -> bool {
        row.is_hurt && self.lacks(row.of, row.view, member, row.row)
    }

    /// The member that a displaced row is read from; `None` if none of those that hold it can be.
    pub(super) fn holder_left(&self, copy: &Copy, of: &Transaction, view: &View<'_>) -> Option<DeviceId> {
        let load =
            |&member: &DeviceId| (self.is_busy(member, copy.slot, view), view.outstanding[member.index()]);
        copy.on.iter().copied().filter(|&member| !self.lacks(of, view, member, copy.slot)).min_by_key(load)
    }

    fn pages_of_row(&self) -> u64 {
        self.row.div_ceil(self.inner.page())
    }

    /// Plans what may count losses; a new plan counts only what it loses besides.
    pub(super) fn counting(&mut self, transaction: &Transaction, plan: impl FnOnce(&mut Self)) {
        let before = self.losses;
        plan(self);
        self.counted.count(transaction, true, before, &mut self.losses);
    }

    /// Reads a unit that is not displaced and cannot be read at home.
    pub(super) fn read_hurt(&mut self, row: u64, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let mut others = std::mem::take(&mut self.scratch);
        others.clear();
        let is_known = self.known(row, |member| self.lacks(of, view, member, row), &mut others);
        let pages = self.pages_of_row();
        if !is_known {
            self.losses.unread_pages += pages;
        } else {
            let extra_pages = others.len() as u64 * pages;
            self.losses.add(&LossCounters { rebuilt_pages: pages, extra_pages, ..LossCounters::default() });
            for &member in &others {
                self.push(self.read_row(member, row, Phase::Reconstruct), plan);
            }
        }
        self.scratch = others;
    }

    /// A unit that is read from one of the members that hold it, unless all are missing.
    pub(super) fn read_copy(&mut self, copy: &Copy, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        match self.holder_left(copy, of, view) {
            Some(holder) => self.push(self.read_row(holder, copy.slot, Phase::Data), plan),
            None => self.losses.unread_pages += self.pages_of_row(),
        }
    }

    /// Whether a home of a row can be read.
    pub(super) fn is_left(&self, of: &Transaction, view: &View<'_>, member: DeviceId, row: u64) -> bool {
        !self.lacks(of, view, member, row)
    }

    /// Plans a row that is written of which something is missing.
    pub(super) fn row_hurt(&mut self, mut row: Row<'_>, plan: &mut Plan) {
        (row.busy, row.moves) = (Busy::Nobody, None);
        let view = row.view;
        let takes = |member: DeviceId| view.health.takes_writes(member);
        row.parities = row.parities.map(|parity| parity.filter(|&parity| takes(parity)));
        let (units, pages) = (row.units.0..=row.units.1, self.pages_of_row());
        let Some((way, needs)) = self.way_hurt(&row) else {
            self.losses.unwritten_pages += units.count() as u64 * pages;
            return;
        };
        for &member in &needs.home {
            self.push(self.read_row(member, row.row, Phase::Parity), plan);
        }
        for copy in &needs.slots {
            if let Some(holder) = self.holder_left(copy, row.of, view) {
                self.push(self.read_row(holder, copy.slot, Phase::Parity), plan);
            }
        }
        self.count(way, needs.len() as u64 * self.row);
        for unit in units {
            let home = self.data_member(row.row, unit);
            if takes(home) {
                self.write_row(home, row.row, Phase::Data);
            } else if way == Way::LeftAlone {
                self.losses.unwritten_pages += pages;
                continue;
            }
            if self.displaced.of(row.row, unit).is_some() {
                self.displaced.leave(row.row, unit);
                self.displaced.counters.home_by_write += 1;
            }
        }
        if way == Way::Reconstruct {
            let others = (0..self.layout.data_units()).filter(|&unit| !row.is_written(unit));
            others.for_each(|unit| self.displaced.drop_from_parity(row.row, unit));
        }
        if way != Way::LeftAlone {
            self.write_parities(row.parities, row.row);
        }
    }

    /// How the parity of such a row is made; `None` if too much is missing.
    fn way_hurt(&self, row: &Row<'_>) -> Option<(Way, Needs)> {
        let will_do = |(_, needs): &(Way, Needs)| {
            needs.home.iter().all(|&member| !self.is_gone(row, member))
                && needs.slots.iter().all(|copy| self.holder_left(copy, row.of, row.view).is_some())
        };
        if row.parities == [None; 2] {
            let mut rest = Needs::default();
            (row.units.0..=row.units.1).for_each(|unit| self.need_rest(row, unit, &mut rest));
            return Some((Way::LeftAlone, rest)).filter(will_do);
        }
        let ways = [(Way::Reconstruct, self.reconstruct(row)), (Way::Modify, self.modify(row))];
        ways.into_iter().filter(will_do).min_by_key(|(_, needs)| needs.len())
    }

    /// Whether what a member is to hold is planned here: `parity` knows rows as the layout has them.
    pub(super) fn restores(&self, transaction: &Transaction) -> bool {
        transaction.offset >= self.rows * self.row || self.is_away(transaction.rows)
    }

    /// A transaction that writes a displaced row anew on one of the members that hold it.
    pub(super) fn restore_slot(&self, whole: Transaction, member: DeviceId) -> Option<Transaction> {
        let row = self.displaced.owner(whole.offset / self.row, member)?;
        Some(Transaction { rows: Rows { first: row, count: 1 }, member: Some(member), ..whole })
    }

    /// Plans to write what a member is to hold of some rows, at home and in slots.
    #[cold]
    pub(super) fn restore_rows(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { rows, offset, member: Some(member), .. } = *transaction else { return };
        if !view.health.takes_writes(member) {
            return;
        }
        let is_slot = offset >= self.rows * self.row;
        self.begin_step();
        for row in rows.first..rows.end() {
            if !is_slot {
                self.restore_home(row, member, transaction, view, plan);
            }
            if is_slot || view.health.of(member) != Condition::Whole {
                self.restore_copies(row, member, transaction, view, plan);
            }
        }
        self.write_noted(plan);
    }

    fn restore_home(
        &mut self,
        row: u64,
        member: DeviceId,
        of: &Transaction,
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        if self.read_others(row, member, of, view, plan) {
            self.write_restored(member, row);
        }
    }

    /// Reads what the row of a member is rebuilt from. Not if nothing needs it, nor if too much is missing, which is counted.
    fn read_others(
        &mut self,
        row: u64,
        member: DeviceId,
        of: &Transaction,
        view: &View<'_>,
        plan: &mut Plan,
    ) -> bool {
        let unit = (0..self.layout.data_units()).find(|&unit| self.data_member(row, unit) == member);
        if unit.is_some_and(|unit| !self.is_in_parity(row, unit)) {
            return false;
        }
        let mut others = std::mem::take(&mut self.scratch);
        others.clear();
        let is_out = |other| other == member || self.lacks(of, view, other, row);
        let is_known = self.known(row, is_out, &mut others);
        if is_known {
            for &other in &others {
                self.push(self.read_row(other, row, Phase::Reconstruct), plan);
            }
        } else {
            self.losses.lost_pages += self.pages_of_row();
        }
        self.scratch = others;
        is_known
    }

    fn restore_copies(
        &mut self,
        row: u64,
        member: DeviceId,
        of: &Transaction,
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        for (_, copy) in self.displaced.copies_within(Rows { first: row, count: 1 }) {
            if copy.on.contains(&member) && self.read_other_copy(&copy, member, of, view, plan) {
                self.write_restored(member, copy.slot);
            }
        }
    }

    /// Reads a displaced row from another of the members that hold it. Not if all of them are missing, which is counted.
    fn read_other_copy(
        &mut self,
        copy: &Copy,
        member: DeviceId,
        of: &Transaction,
        view: &View<'_>,
        plan: &mut Plan,
    ) -> bool {
        let is_left = |other: &DeviceId| *other != member && !self.lacks(of, view, *other, copy.slot);
        let Some(other) = copy.on.iter().copied().find(is_left) else {
            self.losses.lost_pages += self.pages_of_row();
            return false;
        };
        self.push(self.read_row(other, copy.slot, Phase::Reconstruct), plan);
        true
    }

    /// What is restored is not parked: a step of a rebuild is not done before its member has it.
    fn write_restored(&mut self, member: DeviceId, row: u64) {
        let read = self.read_row(member, row, Phase::Reconstruct);
        self.writes[0].push(PlannedOperation { operation: Operation::Write, ..read });
    }

    /// A member has failed, or cannot read a page, and a transaction has met that. What it has read is worth nothing now.
    #[cold]
    pub(super) fn plan_without(
        &mut self,
        transaction: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
    ) -> Answer {
        if refusal == Refusal::Unreadable {
            self.inner.note_unreadable(transaction, operation);
        }
        Answer::Replan(transaction.rows)
    }

    /// Whether such a read is answered here; see [`GaftlPlanner::plan_without`].
    pub(super) fn is_planned_here(&self, transaction: &Transaction, operation: &PlannedOperation) -> bool {
        let is_known = match transaction.operation {
            Operation::Write if transaction.kind == Kind::Restore => self.restores(transaction),
            Operation::Write => true,
            Operation::Read => transaction.kind != Kind::Check && self.is_away(transaction.rows),
            _ => false,
        };
        operation.operation == Operation::Read && is_known
    }

    /// Whether a step of a copy has found pages of its member that it cannot read: a rebuild reads other members only.
    pub(super) fn copies(transaction: &Transaction, operation: &PlannedOperation, refusal: Refusal) -> bool {
        refusal == Refusal::Unreadable
            && operation.operation == Operation::Read
            && transaction.kind == Kind::Restore
            && transaction.member == Some(operation.device)
    }

    /// Reads instead what the pages of a member can be rebuilt from that a copy has found unreadable.
    #[cold]
    pub(super) fn copy_around(
        &mut self,
        of: &Transaction,
        operation: &PlannedOperation,
        view: &View<'_>,
        patch: &mut Plan,
    ) {
        let PlannedOperation { device: member, offset, length, .. } = *operation;
        self.inner.note_unreadable(of, operation);
        self.begin_step();
        let (first, end) = (offset / self.row, (offset + length).div_ceil(self.row));
        for row in first..end {
            if row < self.rows {
                self.read_others(row, member, of, view, patch);
            } else if let Some(copy) = self.displaced.copy_in(row, of.rows) {
                self.read_other_copy(&copy, member, of, view, patch);
            }
        }
    }

    /// The ranges of a member's slots that hold something of some rows.
    pub(super) fn slots_of(&self, member: DeviceId, rows: Rows) -> Vec<(u64, u64)> {
        let copies = self.displaced.copies_within(rows).into_iter();
        let there = copies.filter(|(_, copy)| copy.on.contains(&member));
        there.map(|(_, copy)| (copy.slot * self.row, self.row)).collect()
    }

    /// As `inner` has it, or of a slot.
    pub(super) fn restoring(&self, member: DeviceId, offset: u64, length: u64) -> Option<Transaction> {
        if offset < self.rows * self.row {
            return self.inner.restore(member, offset, length);
        }
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        self.restore_slot(Transaction { kind: Kind::Restore, ..whole }, member)
    }
}
