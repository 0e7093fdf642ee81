//! Parity that moves: away from a member that collects, and back in idle time.
//!
//! ```text
//!              member 0   1      2      3      4
//! before          0       1      2      3      P     4 collects, unit 1 is written, parity goes to 0
//! written         P'      1'                         and unit 0 with a parity of its own to a slot on two other members
//! later           P'      1'     2      3      0     unit 0 comes home, which is now member 4
//! ```
//!
//! Every member holds one unit of a row, so that parity can only take the place of a unit. That unit cannot go to the member that
//! collects. So it is displaced, as one whose member collects, and its home is from now on where parity was. The paper has four modes:
//!
//! | mode | while | parity of a row that is written |
//! |---|---|---|
//! | 1 | nobody collects, or somebody who has no parity of the row | stays |
//! | 2 | the oldest member collects, and has it | goes to the second oldest |
//! | 3 | another member collects, and has it | goes to the oldest |
//! | 4 | the array is idle, and more than `imbalance` of all rows lie off their shares | rows return as the layout has them |
//!
//! The oldest member is the one with the largest share of parity, of several the first, or simply the first (`oldest_first`). Modes 2 and 3 last until that member has
//! collected: the paper's transitions leave them at once. A row with parity in the way takes the following, where `w` of its
//! `n - 1` units are written and nothing is displaced:
//!
//! | unit that gives way | reads | writes |
//! |---|---|---|
//! | written | `n - 1 - w` | `w + 2` |
//! | not written | `n - 1 - w` | `w + 3` |
//! | any, as the row returns | 2 | 2 |
//!
//! Parity is made of the units that are not written, all of which can be read. The unit that gives way is left out of it. To return,
//! parity and the unit are read and change places in one transaction that holds the row. A row whose parity has moved more than
//! once reads and writes as many units as lie elsewhere.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), section V and Algorithm 7. The paper puts parity beside a unit of its stripe or on
//! a member without one. Neither is there where stripes take all members, and a member with two units of a stripe must not fail.

use harmonia_types::{Bytes, DeviceId, Operation, Phase};

use super::row::Row;
use super::stripe_map::StripeMap;
use super::{Busy, GaftlPlanner, RETURN};
use crate::layout::Parity;
use crate::planner::{Kind, Migration, Placing, Plan, Rows, Transaction, View};

/// Where parity has gone, and where it goes.
#[derive(Clone)]
pub(super) struct Migrating {
    pub map: StripeMap,
    placing: Placing,
    /// Members by age, the oldest first.
    by_age: Vec<DeviceId>,
    /// Rows are on their way back, until all shares are as the layout has them.
    is_returning: bool,
}

impl Migrating {
    /// For so many rows that lie as the layout has them.
    pub fn new(layout: &Parity, members: u16, rows: u64, placing: Placing) -> Self {
        let share = |member: &DeviceId| {
            let pattern = layout.parity_pattern(*member);
            (pattern.run << 32) / pattern.period
        };
        let mut by_age: Vec<DeviceId> = (0..members).map(DeviceId).collect();
        if !placing.oldest_first {
            by_age.sort_unstable_by_key(|member| (std::cmp::Reverse(share(member)), *member));
        }
        Migrating { map: StripeMap::new(layout, members, rows), placing, by_age, is_returning: false }
    }

    /// Where parity goes while its member collects: modes 2 and 3.
    fn destination(&self, collects: DeviceId) -> DeviceId {
        if collects == self.by_age[0] { self.by_age[1] } else { self.by_age[0] }
    }

    /// Whether rows are to return: mode 4.
    fn returns(&mut self) -> bool {
        let imbalance = self.map.imbalance();
        let most = self.placing.imbalance * self.map.rows() as f64;
        self.is_returning = imbalance > 0 && (self.is_returning || imbalance as f64 > most);
        self.is_returning && self.placing.migration == Migration::Back
    }

    #[cfg(test)]
    pub fn ages(&self) -> Vec<u16> {
        self.by_age.iter().map(|member| member.0).collect()
    }

    pub fn counters(&self) -> [(&'static str, u64); 4] {
        let counters = &self.map.counters;
        [
            ("migrated_away", counters.away),
            ("migrated_back", counters.back),
            ("migration_reads", counters.reads),
            ("migration_writes", counters.writes),
        ]
    }
}

impl GaftlPlanner {
    /// The unit of a row that gives its place to parity; `None` where that stays.
    pub(super) fn redirect(&self, row: u64, parity: DeviceId, busy: Busy) -> Option<u16> {
        let migrating = self.migrating.as_deref().filter(|_| busy.is(parity))?;
        migrating.map.unit_on(row, migrating.destination(parity))
    }

    /// Parity and the unit that gives way to it change places. What is not written anew of that unit goes to a slot.
    pub(super) fn hand_over(&mut self, row: &mut Row<'_>) {
        let (Some(unit), Some(migrating)) = (row.moves, &mut self.migrating) else { return };
        let is_copied = !row.is_written(unit) && self.displaced.of(row.row, unit).is_none();
        let map = &mut migrating.map;
        map.swap(row.row, unit);
        row.parities = [Some(map.member(row.row, map.parity())), None];
        map.counters.away += 1;
        map.counters.reads += u64::from(is_copied);
        map.counters.writes += 1 + 2 * u64::from(is_copied);
        if is_copied {
            self.write_away(row, unit);
        }
    }

    /// A transaction that puts a row back, if that is due.
    pub(super) fn next_return(&mut self, view: &View<'_>) -> Option<Transaction> {
        let (migrating, displaced) = (self.migrating.as_deref_mut()?, &self.displaced);
        let returns = migrating.returns();
        let map = returns.then_some(&mut migrating.map)?;
        let row = map.next(|row| !displaced.has(Rows { first: row, count: 1 }))?;
        if self.busy(row, view) != Busy::Nobody {
            return None;
        }
        let (offset, length): (Bytes, Bytes) = (self.logical(row, 0), self.row);
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        Some(Transaction { rows: Rows { first: row, count: 1 }, kind: Kind::Tidy, tag: RETURN, ..whole })
    }

    /// Plans to put a row back as the layout has it. Nothing if it is, or somebody collects.
    pub(super) fn put_back(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let row = transaction.rows.first;
        let is_calm = self.busy(row, view) == Busy::Nobody
            && !self.is_hurt(transaction, view)
            && !self.displaced.has(transaction.rows);
        let Some(migrating) = self.migrating.as_deref_mut().filter(|of| is_calm && of.map.is_moved(row))
        else {
            return;
        };
        let map = &mut migrating.map;
        let places = (0..=map.parity()).map(|unit| (map.member(row, unit), map.preset(row, unit)));
        let moves: Vec<(DeviceId, DeviceId)> = places.filter(|(from, to)| from != to).collect();
        map.restore(row);
        map.counters.back += 1;
        map.counters.reads += moves.len() as u64;
        map.counters.writes += moves.len() as u64;
        self.begin_step();
        for &(from, to) in &moves {
            self.push(self.read_row(from, row, Phase::Parity), plan);
            self.write_row(to, row, Phase::Parity);
        }
        self.write_noted(plan);
    }
}
