//! How a row is written: which units go to slots, and how parity is made without the member that collects.

use harmonia_types::{DeviceId, Phase};

use super::{Busy, Copy, GaftlPlanner, Holders, Parities};
use crate::config::SmallWrite;
use crate::planner::{Plan, Transaction, View};

/// A row that is written.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub row: u64,
    /// The members of those parities that are made anew.
    pub parities: Parities,
    /// The unit that gives its place to parity and goes to a slot.
    pub moves: Option<u16>,
    /// First and last unit that are written.
    pub units: (u16, u16),
    pub busy: Busy,
    /// Something of it may be missing.
    pub is_hurt: bool,
    pub of: &'a Transaction,
    pub view: &'a View<'a>,
}

/// What is read for a row: at home, and copies in slots.
#[derive(Debug, Default)]
pub(super) struct Needs {
    pub home: Vec<DeviceId>,
    pub slots: Vec<Copy>,
}

impl Needs {
    fn home(&mut self, member: DeviceId) {
        if !self.home.contains(&member) {
            self.home.push(member);
        }
    }

    pub fn len(&self) -> usize {
        self.home.len() + self.slots.len()
    }
}

/// How parity is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing that parity has changes, or parity's member collects.
    LeftAlone,
    Modify,
    Reconstruct,
}

impl Row<'_> {
    pub(super) fn is_written(&self, unit: u16) -> bool {
        (self.units.0..=self.units.1).contains(&unit)
    }

    /// Whether a member of its parity collects.
    fn lacks_parity(&self) -> bool {
        self.parities.into_iter().flatten().any(|parity| self.busy.is(parity))
    }
}

impl GaftlPlanner {
    /// Whether a write of some rows is any different from what the planner of parity would do.
    pub(super) fn concerns(&self, transaction: &Transaction, view: &View<'_>) -> bool {
        let Transaction { rows, units, .. } = *transaction;
        if self.is_hurt(transaction, view) {
            return self.is_away(rows);
        }
        if self.is_moved(rows) || (self.forces && units == (0, self.layout.data_units() - 1)) {
            return true;
        }
        let (offset, length) = (rows.first * self.row, rows.count * self.row);
        let collects = |member: DeviceId| {
            view.members[member.index()].collecting || view.left(member, offset, length).is_some()
        };
        self.displaced.has(rows) || (0..self.members).map(DeviceId).any(collects)
    }

    /// Plans a write row by row.
    pub(super) fn write(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { rows, units, .. } = *transaction;
        self.begin_step();
        self.load.fill(0);
        let is_hurt = self.is_hurt(transaction, view);
        for row in rows.first..rows.end() {
            let (busy, parities) = (self.busy(row, view), self.parities(row));
            let moves = self.redirect(row, self.p_member(row), busy);
            self.row(Row { row, parities, moves, units, busy, is_hurt, of: transaction, view }, plan);
        }
        self.turn = (self.turn + 1) % self.members;
        self.write_noted(plan);
    }

    fn row(&mut self, mut row: Row<'_>, plan: &mut Plan) {
        if row.is_hurt {
            return self.row_hurt(row, plan);
        }
        if row.busy == Busy::Several {
            self.displaced.counters.waits_several += 1;
            row.busy = Busy::Nobody;
        }
        if !self.has_room(&row) {
            self.displaced.counters.waits_full += 1;
            self.bounds.gives_up();
            (row.busy, row.moves) = (Busy::Nobody, None);
        }
        let (way, needs) = self.way(&row);
        let read = needs.len() as u64 * self.row;
        for &member in &needs.home {
            self.push(self.read_row(member, row.row, Phase::Parity), plan);
        }
        for copy in &needs.slots {
            self.push(self.read_row(self.holder(copy, row.view), copy.slot, Phase::Parity), plan);
        }
        self.count(way, read);
        self.hand_over(&mut row);
        let first_half = self.first_half(&row, way, &needs);
        self.write_units(&row, way);
        if way == Way::Reconstruct {
            // Parity is made of what lies at home.
            let others = (0..self.layout.data_units()).filter(|&unit| !row.is_written(unit));
            others.for_each(|unit| self.displaced.drop_from_parity(row.row, unit));
        }
        if let Some(begin) = first_half {
            self.force(&row, begin);
        } else if way != Way::LeftAlone {
            self.write_parities(row.parities, row.row);
        }
    }

    /// Where the writes of a row begin that is written whole, if it is to be two random writes.
    fn first_half(&self, row: &Row<'_>, way: Way, needs: &Needs) -> Option<usize> {
        let is_whole = row.units == (0, self.layout.data_units() - 1) && needs.len() == 0;
        let is_usual = way == Way::Reconstruct && row.busy == Busy::Nobody;
        (self.forces && is_whole && is_usual).then_some(self.writes[0].len())
    }

    /// The units noted down from `begin` on become two random writes: the second half of them waits for the first, which has a
    /// parity of its own.
    fn force(&mut self, row: &Row<'_>, begin: usize) {
        let [now, later] = &mut self.writes;
        let half = begin + (now.len() - begin).div_ceil(2);
        later.extend(now.drain(half..));
        let data = self.writes[0].len();
        self.write_parities(row.parities, row.row);
        let [now, later] = &mut self.writes;
        later.extend_from_slice(&now[data..]);
        self.displaced.counters.forced += 1;
    }

    pub(super) fn count(&mut self, way: Way, read: u64) {
        self.counters.pre_read_bytes += read;
        match way {
            Way::LeftAlone => {}
            Way::Modify => self.counters.rows_read_modify_write += 1,
            Way::Reconstruct if read == 0 => self.counters.rows_full += 1,
            Way::Reconstruct => self.counters.rows_reconstruct_write += 1,
        }
    }

    /// Whether a unit that is written goes to a slot.
    fn goes_away(&self, row: &Row<'_>, unit: u16) -> bool {
        match row.moves {
            Some(moves) => unit == moves,
            None => row.lacks_parity() || row.busy.is(self.data_member(row.row, unit)),
        }
    }

    /// The copy of a unit that can be written where it is.
    fn in_place(&self, row: &Row<'_>, unit: u16) -> Option<&Copy> {
        let is_free = |copy: &&Copy| copy.on.iter().all(|&on| !self.is_busy(on, copy.slot, row.view));
        self.displaced.of(row.row, unit).filter(is_free)
    }

    /// Whether there is a slot for every unit that needs one.
    fn has_room(&self, row: &Row<'_>) -> bool {
        let needs_slot = |unit: &u16| self.goes_away(row, *unit) && self.in_place(row, *unit).is_none();
        let stays = |unit: &u16| !row.is_written(*unit) && self.displaced.of(row.row, *unit).is_none();
        let moves = u64::from(row.moves.is_some_and(|unit| stays(&unit)));
        let needed = moves + (row.units.0..=row.units.1).filter(needs_slot).count() as u64;
        needed <= self.displaced.room()
    }

    /// The members that take the next slot, one more than there are parities: those that do not collect and have least to do, the others in turn.
    fn holders(&self, slot: u64, view: &View<'_>) -> Holders {
        let load = |member: DeviceId| {
            let turn = (member.0 + self.members - self.turn) % self.members;
            let bytes = view.outstanding[member.index()] + self.load[member.index()];
            (self.is_busy(member, slot, view), bytes, turn)
        };
        let mut holders = Holders::none();
        for _ in 0..=self.layout.parities() {
            let members = (0..self.members).map(DeviceId).filter(|member| !holders.contains(member));
            holders.add(members.min_by_key(|&member| load(member)).expect("an array has one more member"));
        }
        holders
    }

    /// Whether parity has what lies at the home of a unit.
    pub(super) fn is_in_parity(&self, row: u64, unit: u16) -> bool {
        self.displaced.of(row, unit).is_none_or(|copy| copy.in_parity)
    }

    /// How the parity of a row is made, and what is read for it.
    fn way(&self, row: &Row<'_>) -> (Way, Needs) {
        if row.moves.is_some() {
            return (Way::Reconstruct, self.reconstruct(row));
        }
        let units = || row.units.0..=row.units.1;
        let is_dropped = |unit: u16| self.goes_away(row, unit) && !self.is_in_parity(row.row, unit);
        if row.lacks_parity() || units().all(is_dropped) {
            let mut rest = Needs::default();
            units().for_each(|unit| self.need_rest(row, unit, &mut rest));
            return (Way::LeftAlone, rest);
        }
        let must_drop = units().any(|unit| self.goes_away(row, unit) && self.is_in_parity(row.row, unit));
        let (modify, reconstruct) = (self.modify(row), self.reconstruct(row));
        let will_do = |needs: &Needs| !needs.home.iter().any(|&member| row.busy.is(member));
        let prefers_modify = match self.small_write {
            SmallWrite::Fewest => modify.len() < reconstruct.len(),
            SmallWrite::ReadModifyWrite => reconstruct.len() > 0,
            SmallWrite::Reconstruct => false,
        };
        if !must_drop && will_do(&modify) && (prefers_modify || !will_do(&reconstruct)) {
            (Way::Modify, modify)
        } else {
            (Way::Reconstruct, reconstruct)
        }
    }

    /// What a read-modify-write reads: what parity has of the units that go home, and parity.
    pub(super) fn modify(&self, row: &Row<'_>) -> Needs {
        let mut needs = Needs::default();
        for unit in row.units.0..=row.units.1 {
            if !self.goes_away(row, unit) && self.is_in_parity(row.row, unit) {
                needs.home(self.data_member(row.row, unit));
            }
            self.need_rest(row, unit, &mut needs);
        }
        row.parities.into_iter().flatten().for_each(|parity| needs.home(parity));
        needs
    }

    /// What a reconstruct-write reads: the units at home that are not written.
    pub(super) fn reconstruct(&self, row: &Row<'_>) -> Needs {
        let mut needs = Needs::default();
        for unit in 0..self.layout.data_units() {
            if row.is_written(unit) {
                self.need_rest(row, unit, &mut needs);
            } else if self.displaced.of(row.row, unit).is_none() {
                let home = self.data_member(row.row, unit);
                if self.is_gone(row, home) {
                    self.need_others(row, home, &mut needs);
                } else {
                    // Even if it collects: `way` looks for that.
                    needs.home(home);
                }
            }
        }
        needs
    }

    /// Where a unit is read that is not displaced: at home, or from what makes up for it.
    fn need_home(&self, row: &Row<'_>, unit: u16, needs: &mut Needs) {
        let home = self.data_member(row.row, unit);
        if row.busy.is(home) || self.is_gone(row, home) {
            self.need_others(row, home, needs);
        } else {
            needs.home(home);
        }
    }

    /// All that a unit is rebuilt from; its home, which cannot be read, if that is not enough.
    fn need_others(&self, row: &Row<'_>, home: DeviceId, needs: &mut Needs) {
        let mut others = Vec::new();
        let is_out = |member| row.busy.is(member) || self.is_gone(row, member);
        if !self.known(row.row, is_out, &mut others) {
            others.push(home);
        }
        others.into_iter().for_each(|member| needs.home(member));
    }

    /// Where the rest of a unit is read that is written in part.
    pub(super) fn need_rest(&self, row: &Row<'_>, unit: u16, needs: &mut Needs) {
        if !self.is_cut(row, unit) {
            return;
        }
        match self.displaced.of(row.row, unit) {
            Some(&copy) => needs.slots.push(copy),
            None => self.need_home(row, unit, needs),
        }
    }

    /// Whether a unit is written in part.
    fn is_cut(&self, row: &Row<'_>, unit: u16) -> bool {
        let (start, end) = (row.of.offset, row.of.offset + row.of.length);
        let logical = self.logical(row.row, unit);
        start > logical || end < logical + self.row
    }

    fn write_units(&mut self, row: &Row<'_>, way: Way) {
        for unit in row.units.0..=row.units.1 {
            if self.goes_away(row, unit) {
                self.write_away(row, unit);
                if way == Way::Reconstruct {
                    self.displaced.drop_from_parity(row.row, unit);
                }
                continue;
            }
            self.write_row(self.data_member(row.row, unit), row.row, Phase::Data);
            if self.displaced.of(row.row, unit).is_some() {
                self.displaced.leave(row.row, unit);
                self.displaced.counters.home_by_write += 1;
            }
        }
    }

    pub(super) fn write_away(&mut self, row: &Row<'_>, unit: u16) {
        if self.in_place(row, unit).is_none() {
            let slot = self.displaced.next_slot();
            let on = self.holders(slot, row.view);
            self.displaced.take(row.row, unit, on);
        }
        let Some(&Copy { slot, on, .. }) = self.displaced.of(row.row, unit) else { return };
        self.displaced.counters.displaced += 1;
        let mut phase = Phase::Data;
        for &member in on.iter() {
            self.load[member.index()] += self.row;
            self.write_row(member, slot, std::mem::replace(&mut phase, Phase::Parity));
        }
    }
}
