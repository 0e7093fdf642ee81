//! What is promised for rows of all members, told before they are planned.

use harmonia_types::{DeviceId, Operation};

use super::{Busy, GaftlPlanner, InTheWay, bounds};
use crate::planner::{Transaction, View};

impl GaftlPlanner {
    /// Takes note of what is promised for a transaction.
    pub(super) fn promise(&mut self, of: &Transaction, view: &View<'_>) {
        if !self.bounds.is_asked() {
            return;
        }
        let Transaction { rows, units: (first, last), .. } = *of;
        if !view.health.is_whole() || self.is_hurt(of, view) {
            return self.bounds.gives_up();
        }
        if rows.count == 0 {
            let alone = bounds::Row { wanted: 1, others: 0, in_the_way: InTheWay::Nothing };
            return self.bounds.reads(alone, of.length / self.row);
        }
        let wanted = u64::from(last - first) + 1;
        let others = u64::from(self.layout.data_units()) - wanted;
        let usual = bounds::Row { wanted, others, in_the_way: InTheWay::Nothing };
        let (offset, length) = (rows.first * self.row, rows.count * self.row);
        let collects = |member: DeviceId| {
            view.members[member.index()].collecting || view.left(member, offset, length).is_some()
        };
        if !(0..self.members).map(DeviceId).any(collects) {
            return self.promise_rows(of, usual, rows.count);
        }
        for row in rows.first..rows.end() {
            let in_the_way = match self.busy(row, view) {
                Busy::Nobody => InTheWay::Nothing,
                Busy::One(member) => self.in_the_way(row, member, of),
                Busy::Several => return self.bounds.gives_up(),
            };
            self.promise_rows(of, bounds::Row { in_the_way, ..usual }, 1);
        }
    }

    fn promise_rows(&mut self, of: &Transaction, row: bounds::Row, count: u64) {
        match of.operation {
            Operation::Read => self.bounds.reads(row, count),
            _ => self.bounds.writes(row, count),
        }
    }

    /// What a member holds of a row that is read or written. What is displaced lies elsewhere, unless it is written.
    fn in_the_way(&self, row: u64, member: DeviceId, of: &Transaction) -> InTheWay {
        let writes = of.operation == Operation::Write;
        let Some(unit) = (0..self.layout.data_units()).find(|&unit| self.data_member(row, unit) == member)
        else {
            return if writes { InTheWay::Wanted } else { InTheWay::Nothing };
        };
        let is_wanted = (of.units.0..=of.units.1).contains(&unit);
        let is_home = self.displaced.of(row, unit).is_none();
        match (is_wanted, is_home) {
            (true, _) if writes => InTheWay::Wanted,
            (true, true) => InTheWay::Wanted,
            (false, true) => InTheWay::Other,
            (_, false) => InTheWay::Nothing,
        }
    }
}
