//! Shares of parity that members keep although parity moves, on RAID-5.
//!
//! ```text
//! share 60%, 10%, 10%, 10%, 10%      member   0    1    2    3    4
//! 0 collected, P went from 0 to 3   row       _    0    1    P    2        0 has too few rows of parity, 3 too many
//! in idle time                                P'   0    1    _    2        parity goes to the free member: 1 read, 1 write
//! ```
//!
//! * An array begins with the parity of each row on that of its members which is furthest below its share.
//! * A row without data has no parity. When it is first written, parity goes to the member furthest below its share, the free one
//!   included, without another operation.
//! * Parity goes to the free member when its own member collects, as everything does. So shares drift. With `migration = "back"` rows
//!   return in idle time, once the share `imbalance` of them has its parity on members that have too much: those whose free member has
//!   too little. What moved away from a member while it collected has left that member free, so that is the way back.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), section V: shares by age, on-line migration of parity in idle time. The paper prints no
//! rule for rows that are created.
//!
//! Leaves out: `migration = "away"`, because parity always goes to the free member here.

use harmonia_types::{DeviceId, Operation, Phase};

use super::FloatingPlanner;
use super::stripe_map::StripeMap;
use crate::layout::Parity;
use crate::planner::{Kind, Migration, Placing, Plan, Rows, Tag, Transaction, View};

/// The tag of a transaction that brings the parity of a row back.
pub(super) const RETURN: Tag = Tag::of(2);
/// So many rows are looked at for one that returns.
const LOOKS: u64 = 4096;

/// What members are to have of the parity.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    /// By member, in stripes of a period.
    runs: Vec<u64>,
    period: u64,
    imbalance: f64,
    returns: bool,
    /// Rows are on their way back, until no member has too little.
    is_returning: bool,
    /// Where the next row that returns is looked for, and how many rows have been looked at since the last that did.
    next: u64,
    looked: u64,
    /// What had moved when no row was found that could return: none is looked for until more has.
    barren: Option<u64>,
    /// Rows whose parity has come back.
    pub returned: u64,
}

impl Shares {
    /// `None` where all members have the same.
    pub fn of(layout: &Parity, members: u16) -> Option<Shares> {
        let shares: Option<Vec<(u64, u64)>> = (0..members).map(|at| layout.share(DeviceId(at))).collect();
        let shares = shares?;
        let period = shares.first()?.1;
        Some(Shares::new(shares.into_iter().map(|(run, _)| run).collect(), period))
    }

    fn new(runs: Vec<u64>, period: u64) -> Shares {
        Shares {
            runs,
            period,
            imbalance: 0.0,
            returns: false,
            is_returning: false,
            next: 0,
            looked: 0,
            barren: None,
            returned: 0,
        }
    }

    /// How many rows of parity a member has too few of, rounded down; negative if it has too many.
    fn lacks(&self, map: &StripeMap, member: DeviceId) -> i64 {
        let wanted = self.runs[member.index()] * map.rows() / self.period;
        wanted as i64 - map.parity_rows(member) as i64
    }

    /// The slot of a row, of those that may have it, whose member is furthest below its share.
    fn neediest(&self, map: &StripeMap, row: u64, may: impl Fn(u16) -> bool) -> Option<u16> {
        let parity = map.units();
        // Where several need it alike it stays.
        let rank = |slot: &u16| (self.lacks(map, map.member(row, *slot)), *slot == parity);
        (0..=map.free()).filter(|slot| may(*slot)).max_by_key(rank)
    }

    /// Rows of parity on members that have too much.
    fn astray(&self, map: &StripeMap) -> u64 {
        let members = (0..self.runs.len() as u16).map(DeviceId);
        members.map(|member| self.lacks(map, member).min(0).unsigned_abs()).sum()
    }

    /// Puts the parity of all rows of a new array where shares want it; nothing has been written.
    pub fn lay_out(&self, map: &mut StripeMap) {
        let mut laid = vec![0; self.runs.len()];
        for row in 0..map.rows() {
            // Of the members that the layout has a unit or parity on: their places are filled when the array is aged.
            let (parity, free) = (map.units(), map.free());
            let wanted = |slot: &u16| {
                let member = map.member(row, *slot).index();
                let due = self.runs[member] * (row + 1);
                (due as i64 - (laid[member] * self.period) as i64, std::cmp::Reverse(*slot))
            };
            let slot = (0..free).max_by_key(wanted).unwrap_or(parity);
            laid[map.member(row, slot).index()] += 1;
            map.swap(row, parity, slot);
        }
    }
}

impl FloatingPlanner {
    /// Has rows return that parity has left, if the policy says so.
    pub(super) fn returning(mut self, placing: Placing) -> Self {
        if placing.migration == Migration::Back {
            let members = self.members;
            let alike = || Shares::new(vec![1; members.into()], members.into());
            let shares = self.shares.get_or_insert_with(alike);
            (shares.returns, shares.imbalance) = (true, placing.imbalance);
        }
        self
    }

    /// Where the parity of a row goes that has no data yet, among members that do not collect. Whether that is another place.
    pub(super) fn create(&mut self, row: u64, busy: u64) -> bool {
        let Some(shares) = &self.shares else { return false };
        let parity = self.map.units();
        let slot = shares.neediest(&self.map, row, |slot| busy >> slot & 1 == 0);
        let Some(slot) = slot.filter(|slot| *slot != parity) else { return false };
        self.map.swap(row, parity, slot);
        true
    }

    /// A transaction that brings the parity of a row back, if that is due.
    pub(super) fn next_return(&mut self, view: &View<'_>) -> Option<Transaction> {
        if !self.is_sound(view) {
            return None;
        }
        let (map, shares) = (&self.map, self.shares.as_mut().filter(|shares| shares.returns)?);
        let astray = shares.astray(map) as f64;
        let lack = |member: DeviceId, of: &Shares| of.lacks(map, member) > 0;
        let is_due = astray > shares.imbalance * map.rows() as f64;
        shares.is_returning =
            (shares.is_returning || is_due) && (0..self.members).any(|member| lack(DeviceId(member), shares));
        let moved = self.own.parity_moved + self.own.units_moved;
        if !shares.is_returning || shares.barren == Some(moved) {
            return None;
        }
        let first = shares.next;
        let mut rows = (first..first + LOOKS.min(map.rows())).map(|row| row % map.rows());
        let found = rows.find(|&row| {
            let (on, free) = (map.member(row, map.units()), map.member(row, map.free()));
            shares.lacks(map, on) < 0 && shares.lacks(map, free) > 0
        });
        shares.next = found.map_or(first + LOOKS, |row| row + 1) % map.rows();
        shares.looked = if found.is_some() { 0 } else { shares.looked + LOOKS };
        shares.barren = (shares.looked >= map.rows()).then_some(moved);
        if shares.barren.is_some() {
            shares.looked = 0;
        }
        let row = found?;
        let ends = [map.units(), map.free()].map(|slot| map.member(row, slot));
        if ends.into_iter().any(|member| self.is_collecting(member, view)) {
            return None;
        }
        let whole = Transaction::unlocked(Operation::Write, self.logical(row, 0), self.row);
        Some(Transaction { rows: Rows { first: row, count: 1 }, kind: Kind::Tidy, tag: RETURN, ..whole })
    }

    /// A transaction is planned anew or cut short: if it has brought parity back, it has not.
    pub(super) fn takes_back_return(&mut self, of: &Transaction, places: &[u64]) {
        let is_return = of.kind == Kind::Tidy && of.tag == RETURN && self.map.places(of.rows) != places;
        if let Some(shares) = self.shares.as_mut().filter(|_| is_return) {
            shares.returned -= 1;
        }
    }

    /// Plans to bring the parity of a row to the free member. Nothing if that member needs it no more, or somebody collects.
    pub(super) fn bring_back(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let (row, parity) = (transaction.rows.first, self.map.units());
        let ends = [parity, self.map.free()].map(|slot| self.map.member(row, slot));
        let is_wanted = self.shares.as_ref().is_some_and(|shares| {
            let [on, free] = ends.map(|member| shares.lacks(&self.map, member));
            on < 0 && free > 0
        });
        let is_calm = self.is_sound(view)
            && !self.is_full(row)
            && !ends.into_iter().any(|member| self.is_busy(member, row, view));
        if !is_wanted || !is_calm {
            return;
        }
        if self.map.held(row) == 0 {
            self.map.free_up(row, parity);
        } else {
            self.push(self.on_slot(row, parity, Operation::Read, Phase::Parity), plan);
            self.left.leaves(ends[0], row);
            self.map.free_up(row, parity);
            self.write_slot(row, parity, Phase::Parity);
        }
        self.shares.as_mut().into_iter().for_each(|shares| shares.returned += 1);
        self.write_noted(plan);
    }
}
