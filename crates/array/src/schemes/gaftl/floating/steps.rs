//! What plans of floating stripes are made of: a row as its members are now, operations on its slots, and slots that move.

use harmonia_types::{Bytes, DeviceId, Operation, ParityPages, Phase};

use super::FloatingPlanner;
use super::row::Row;
use super::stripe_map::{Slots, each};
use crate::planner::{Plan, PlannedOperation, Transaction, View, join};

impl FloatingPlanner {
    /// Whether operations on a row of a member would wait for collection, as far as can be seen.
    pub(super) fn is_busy(&self, member: DeviceId, row: u64, view: &View<'_>) -> bool {
        let unseen = || !view.look.sees(member) && view.members[member.index()].collecting;
        view.left(member, row * self.row, self.row).is_some() || unseen()
    }

    /// Whether operations on a member would wait, wherever they go.
    pub(super) fn is_collecting(&self, member: DeviceId, view: &View<'_>) -> bool {
        view.members[member.index()].collecting || view.left(member, 0, self.map.rows() * self.row).is_some()
    }

    /// Whether all of every row can be read and relied on.
    pub(super) fn is_sound(&self, view: &View<'_>) -> bool {
        view.health.is_whole() && self.unreadable.is_empty() && self.unsynced.is_none()
    }

    /// A row of which these units change.
    pub(super) fn row(&self, row: u64, changed: Slots, of: &Transaction, view: &View<'_>) -> Row {
        let is_busy = |slot: &u16| self.is_busy(self.map.member(row, *slot), row, view);
        let busy = (0..self.members).filter(is_busy).fold(0, |busy, slot| busy | 1 << slot);
        // Who has no room takes as little as who collects.
        let busy = busy | u64::from(self.is_full(row)) << self.map.free();
        let cut =
            each(changed).filter(|&unit| self.is_cut(row, unit, of)).fold(0, |cut, unit| cut | 1 << unit);
        Row { held: self.map.held(row), parities: self.map.parities(), changed, cut, busy }
    }

    /// Whether the member that is free of a row has no room.
    #[inline]
    pub(super) fn is_full(&self, row: u64) -> bool {
        let free = || self.map.member(row, self.map.free());
        self.map.room().is_some_and(|room| room.is_full(free(), row, &self.left))
    }

    /// The first logical byte of a row of a unit.
    pub(super) fn logical(&self, row: u64, unit: u16) -> Bytes {
        let stripe = row * self.row / self.unit;
        stripe * self.layout.stripe_bytes() + u64::from(unit) * self.unit + row * self.row % self.unit
    }

    /// Whether only a part of a row of a unit is meant.
    pub(super) fn is_cut(&self, row: u64, unit: u16, of: &Transaction) -> bool {
        let logical = self.logical(row, unit);
        of.offset > logical || of.offset + of.length < logical + self.row
    }

    /// The units that a transaction is about, in each of its rows.
    pub(super) fn units_of(of: &Transaction) -> Slots {
        let (first, last) = of.units;
        (1 << (last + 1)) - (1 << first)
    }

    pub(super) fn begin_step(&mut self) {
        self.last.clear();
        self.last.resize(usize::from(self.members), u32::MAX);
    }

    pub(super) fn push(&mut self, operation: PlannedOperation, plan: &mut Plan) {
        let mut last = std::mem::take(&mut self.last);
        join(&mut last, operation, plan);
        self.last = last;
    }

    pub(super) fn on_slot(
        &self,
        row: u64,
        slot: u16,
        operation: Operation,
        phase: Phase,
    ) -> PlannedOperation {
        let parity = if phase == Phase::Parity { ParityPages::ALL } else { ParityPages::NONE };
        let member = self.map.member(row, slot);
        let data = PlannedOperation::data(member, operation, row * self.row, self.row);
        PlannedOperation { phase, parity, ..data }
    }

    /// A slot moves to the free member. What it held is left behind.
    pub(super) fn free_up(&mut self, row: u64, slot: u16) {
        if self.map.held(row) >> slot & 1 == 1 {
            self.left.leaves(self.map.member(row, slot), row);
        }
        self.exchange(row, slot);
    }

    /// A slot and the free member change places.
    pub(super) fn exchange(&mut self, row: u64, slot: u16) {
        self.map.free_up(row, slot);
        let is_parity = slot >= self.map.units();
        self.own.parity_moved += u64::from(is_parity);
        self.own.units_moved += u64::from(!is_parity);
    }

    /// Takes note of a slot that is written when all that is read has been.
    pub(super) fn write_slot(&mut self, row: u64, slot: u16, phase: Phase) {
        let write = self.on_slot(row, slot, Operation::Write, phase);
        self.left.is_written(write.device, row);
        self.writes.push(write);
    }

    /// What has been noted down is written in a step of its own, and discarded in another one.
    pub(super) fn write_noted(&mut self, plan: &mut Plan) {
        for noted in [&mut self.writes, &mut self.discards] {
            plan.barrier();
            self.last.fill(u32::MAX);
            noted.drain(..).for_each(|operation| join(&mut self.last, operation, plan));
        }
    }

    /// What a transaction wants of a row of a unit.
    pub(super) fn clipped(
        &self,
        whole: PlannedOperation,
        row: u64,
        unit: u16,
        of: &Transaction,
    ) -> PlannedOperation {
        let logical = self.logical(row, unit);
        let from = of.offset.max(logical) - logical;
        let to = (of.offset + of.length).min(logical + self.row) - logical;
        PlannedOperation { offset: whole.offset + from, length: to - from, ..whole }
    }
}
