//! GAFTL's placement on RAID-4, RAID-5 and RAID-6: writes and reads go around the one member that collects.
//!
//! ```text
//! member      0      1      2      3          unit 1 is written while its member collects:
//!          ┌──────┬──────┬──────┬──────┐
//! row r    │  0   │ (1)  │  2   │  P'  │      read 0 and 2, write P' = 0 + 2: the old copy counts no more
//!          ├──────┼──────┼──────┼──────┤
//! slot     │  1   │      │  1   │      │      a row of the reserve: unit 1 and its parity, which equals it
//!          └──────┴──────┴──────┴──────┘
//! ```
//!
//! The array keeps some stripes free at the end of its members (`array.free_stripes`). A row of a unit that cannot be written
//! at home is *displaced*: two members that do not collect hold it in a slot, which is a row of that reserve. Its stripe's
//! parity goes on without it (the unit is *dropped*), or still has the old copy. In what follows `n` members collect one at a
//! time, a row has `n - 1` units, and `w` of them are written whole and lie at home. Every row is planned by itself.
//!
//! | written | member that collects holds | reads | writes |
//! |---|---|---|---|
//! | `w` units | nothing of the row | as `parity` has it | `w + 1` |
//! | `w` units | one of them | `n - 1 - w` | `w + 2` |
//! | one unit, dropped before | its home | 0 | 2 |
//! | `w` units | a unit that is not written | `w + 1` | `w + 1` |
//! | `w` units | the parity | 0 | `2 w`, or as `migration` has it |
//! | all `n - 1` units, forced | nothing: nobody collects | 0 | `n + 1` |
//!
//! The second row is Algorithm 3: parity is made from the units that are not written (its step 1 and figures 6 and 7), the other
//! `w - 1` units and parity are written as usual, and the one in the way goes as a random write to another stripe, which costs two.
//! For one unit of five members that is 3 reads and 3 writes. The last row leaves the stripe as it is: the algorithm supposes
//! that parity's member does not collect, and says that this is easily added. The old copies then stay in their parity.
//!
//! The third is Algorithm 2 on a unit that no stripe counts on. The fourth is not in the paper, whose updates always read the
//! units that are not written: read-modify-write does not need them.
//!
//! * A displaced unit that is written goes home, unless its member or its parity's collects. Old data is read for a
//!   read-modify-write only where parity has it. A reconstruct-write drops displaced units that it does not write.
//! * A row written in part is written whole. The rest of it is read where it is: at home, in a slot, or rebuilt from the others.
//! * A displaced row is read from the one of its members that has least to do and does not collect (Algorithm 5 otherwise: the
//!   others and parity). Reads of displaced rows hold their rows, so that their slots are not given to others meanwhile.
//! * Where several members collect, or no slot is free, operations go home and wait for members, or to NVRAM if there is any.
//! * While no request is under way and nobody collects, displaced rows are brought home one at a time: read from the slot, the old
//!   parity and the old copy if parity has it, write both.
//! * A discard of whole stripes waits for members that collect, and forgets what was displaced in them.
//!
//! * Whole stripes may be *forced* into two random writes (Algorithm 4): half of the units and their parity, then the other half and
//!   the parity of all. That is one write more, in two steps under one lock. Where a member is in the way, the second row of the table
//!   has as many writes (`n - 1 + 2`), and the stripe is not forced. The algorithm would put a unit beside another one
//!   of its stripe and keep both partial parities. Here the displaced unit and its parity are one pair of a unit and a partial
//!   parity, and the units at home and theirs the other.
//!
//! RAID-6 has a table of its own (`dual`): three members hold a slot, and what is said of parity here goes for P and Q.
//!
//! Parity may move on RAID-4 and RAID-5 (`migration`); `stripe_map` says where units lie then.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), section III, Algorithms 2 to 5. Leaves out: the choice of members for new data by
//! age. A slot that is free again is not discarded, so its pages count as written until they are written anew. Members may fail and
//! be rebuilt or copied to spares (`degraded`).

mod degraded;
mod displaced;
mod dual;
mod migration;
mod promised;
mod row;
mod stripe_map;
#[cfg(test)]
pub(super) mod tests;

use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{
    BoundCounters, Bytes, Counters, DeviceId, HostRequest, Operation, ParityPages, Phase, ReadCounters,
    RedundancyCounters, SimTime,
};

use super::bounds::{self, Bounds, InTheWay};
use crate::config::SmallWrite;
use crate::layout::{Layout, Parity};
use crate::planner::missing::Counted;
use crate::planner::parity::ParityPlanner;
use crate::planner::{
    Answer, Build, Kind, LossCounters, Migration, Parameters, Placing, Plan, PlannedOperation, Planner,
    Refusal, Restores, Rows, Tag, Tidies, Transaction, View, join,
};
use degraded::Before;
use displaced::{Copy, Displaced};
use dual::{Holders, Parities};
use migration::Migrating;
pub(super) use stripe_map::MOST_MEMBERS;

/// The tag of a write that brings a unit home.
const HOMECOMING: Tag = Tag::of(1);
/// The tag of a write that puts a row back as the layout has it.
const RETURN: Tag = Tag::of(2);

/// Plans RAID-4, RAID-5 and RAID-6 with rows of units that may lie away from home.
#[derive(Clone)]
pub(super) struct GaftlPlanner {
    inner: ParityPlanner,
    layout: Parity,
    members: u16,
    unit: Bytes,
    row: Bytes,
    /// Rows before the reserve.
    rows: u64,
    small_write: SmallWrite,
    parks: bool,
    /// Members may fail, or pages may be unreadable.
    may_fail: bool,
    displaced: Displaced,
    /// Where parity lies that has moved, if it may.
    migrating: Option<Box<Migrating>>,
    /// Whole stripes are written as two random writes.
    forces: bool,
    counters: RedundancyCounters,
    reads: ReadCounters,
    bounds: Bounds,
    /// Whose turn it is to be chosen among members with as little to do.
    turn: u16,
    /// By member: bytes that the plan being made gives it in slots.
    load: Vec<u64>,
    /// By member: its last operation in the step.
    last: Vec<u32>,
    /// What the plan being made writes, and what it writes when that is done.
    writes: [Vec<PlannedOperation>; 2],
    scratch: Vec<DeviceId>,
    /// Where transactions under way have found their rows, if members may fail.
    before: Vec<Before>,
    losses: LossCounters,
    counted: Counted,
}

/// Members whose operations on a row would wait for collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Busy {
    Nobody,
    One(DeviceId),
    Several,
}

impl Busy {
    fn is(self, member: DeviceId) -> bool {
        self == Busy::One(member)
    }
}

impl GaftlPlanner {
    /// Around the planner of `layout`, which is `whole`, with so many stripes behind what that uses.
    pub fn new(
        inner: ParityPlanner,
        (whole, layout): (&Layout, Parity),
        small_write: SmallWrite,
        free_stripes: u64,
    ) -> Self {
        let (row, members) = (layout.row_bytes(), whole.members());
        let count = free_stripes * (whole.stripe_unit() / row);
        let reserve = Rows { first: whole.member_bytes() / row, count };
        let parities = layout.parities().into();
        let stripes = bounds::Stripes { parities, extra: parities, forces: false };
        GaftlPlanner {
            inner,
            layout,
            members,
            unit: whole.stripe_unit(),
            row,
            rows: reserve.first,
            small_write,
            parks: false,
            may_fail: false,
            displaced: Displaced::new(reserve),
            migrating: None,
            forces: false,
            counters: RedundancyCounters::default(),
            reads: ReadCounters::default(),
            bounds: Bounds::new(stripes, row, small_write),
            turn: 0,
            load: vec![0; usize::from(members)],
            last: Vec::new(),
            writes: Default::default(),
            scratch: Vec::new(),
            before: Vec::new(),
            losses: LossCounters::default(),
            counted: Counted::default(),
        }
    }

    /// Whether writes to members that collect go to NVRAM.
    #[must_use]
    pub fn parking(self, parks: bool) -> Self {
        GaftlPlanner { parks, ..self }
    }

    /// Whether members may fail, or pages be unreadable.
    #[must_use]
    pub fn failing(self, may_fail: bool) -> Self {
        GaftlPlanner { may_fail, ..self }
    }

    /// How whole stripes and parity are placed.
    #[must_use]
    pub fn placing(self, placing: Placing) -> Self {
        let migrating = (placing.migration != Migration::None)
            .then(|| Box::new(Migrating::new(&self.layout, self.members, self.rows, placing)));
        let bounds = self.bounds.clone().forcing(placing.forces);
        GaftlPlanner { migrating, forces: placing.forces, bounds, ..self }
    }

    /// The member that holds a unit of a row.
    fn data_member(&self, row: u64, unit: u16) -> DeviceId {
        match &self.migrating {
            Some(migrating) => migrating.map.member(row, unit),
            None => self.layout.data_member(self.stripe(row), unit),
        }
    }

    /// The member that holds the (first) parity of a row.
    fn p_member(&self, row: u64) -> DeviceId {
        match &self.migrating {
            Some(migrating) => migrating.map.member(row, migrating.map.parity()),
            None => self.layout.p_member(self.stripe(row)),
        }
    }

    /// Whether some rows lie otherwise than the layout has them.
    fn is_moved(&self, rows: Rows) -> bool {
        self.migrating.as_ref().is_some_and(|migrating| migrating.map.has(rows))
    }

    /// Whether operations on a row of a member would wait for collection, as far as can be seen.
    fn is_busy(&self, member: DeviceId, row: u64, view: &View<'_>) -> bool {
        let unseen = || !view.look.sees(member) && view.members[member.index()].collecting;
        view.left(member, row * self.row, self.row).is_some() || unseen()
    }

    fn busy(&self, row: u64, view: &View<'_>) -> Busy {
        let mut busy = (0..self.members).map(DeviceId).filter(|&member| self.is_busy(member, row, view));
        match (busy.next(), busy.next()) {
            (None, _) => Busy::Nobody,
            (Some(member), None) => Busy::One(member),
            (Some(_), Some(_)) => Busy::Several,
        }
    }

    fn stripe(&self, row: u64) -> u64 {
        row * self.row / self.unit
    }

    /// The first logical byte of a row of a unit.
    fn logical(&self, row: u64, unit: u16) -> Bytes {
        let stripe = self.stripe(row);
        stripe * self.layout.stripe_bytes() + u64::from(unit) * self.unit + row * self.row % self.unit
    }

    /// Whether everything lies where the layout has it.
    fn is_in_place(&self) -> bool {
        self.displaced.is_empty() && self.migrating.as_ref().is_none_or(|migrating| migrating.map.is_empty())
    }

    /// Whether something of a logical range lies away from home.
    fn touches(&self, offset: Bytes, length: Bytes) -> bool {
        if self.is_in_place() {
            return false;
        }
        let (stripe, rows, end) = (self.layout.stripe_bytes(), self.unit / self.row, offset + length);
        let (first, last) = (offset / stripe, end.div_ceil(stripe));
        let stripes = Rows { first: first * rows, count: (last - first) * rows };
        self.is_moved(stripes)
            || self.displaced.within(stripes).any(|(row, unit)| {
                let start = self.logical(row, unit);
                start < end && offset < start + self.row
            })
    }

    /// Cuts a read as a write of the same range would be, so that it holds its rows.
    fn split_displaced(&mut self, request: &HostRequest, view: &View<'_>, into: &mut Vec<Transaction>) {
        let before = into.len();
        self.inner.split(&HostRequest { operation: Operation::Write, ..*request }, view, into);
        into[before..].iter_mut().for_each(Transaction::read_around);
    }

    fn begin_step(&mut self) {
        self.last.clear();
        self.last.resize(usize::from(self.members), u32::MAX);
    }

    fn push(&mut self, operation: PlannedOperation, plan: &mut Plan) {
        let mut last = std::mem::take(&mut self.last);
        join(&mut last, operation, plan);
        self.last = last;
    }

    fn read_row(&self, member: DeviceId, row: u64, phase: Phase) -> PlannedOperation {
        let parity = if phase == Phase::Parity { ParityPages::ALL } else { ParityPages::NONE };
        let data = PlannedOperation::data(member, Operation::Read, row * self.row, self.row);
        PlannedOperation { phase, parity, ..data }
    }

    /// Takes note of a row that is written when all that is read has been.
    fn write_row(&mut self, member: DeviceId, row: u64, phase: Phase) {
        let read = self.read_row(member, row, phase);
        self.writes[0].push(PlannedOperation { operation: Operation::Write, fast_fail: self.parks, ..read });
    }

    fn write_parities(&mut self, parities: Parities, row: u64) {
        parities.into_iter().flatten().for_each(|parity| self.write_row(parity, row, Phase::Parity));
    }

    /// What has been noted down is written in a step of its own.
    fn write_noted(&mut self, plan: &mut Plan) {
        let mut writes = std::mem::take(&mut self.writes);
        for step in &mut writes {
            plan.barrier();
            self.begin_step();
            step.drain(..).for_each(|write| self.push(write, plan));
        }
        self.writes = writes;
    }

    /// The one of its members that a displaced row is read from.
    fn holder(&self, copy: &Copy, view: &View<'_>) -> DeviceId {
        let load =
            |&member: &DeviceId| (self.is_busy(member, copy.slot, view), view.outstanding[member.index()]);
        copy.on.iter().copied().min_by_key(load).unwrap_or(copy.on[0])
    }

    /// Plans a read of rows of which something lies away from home.
    fn read(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { rows, units: (first, last), member, .. } = *transaction;
        self.begin_step();
        for row in rows.first..rows.end() {
            let busy = match member {
                Some(member) => Busy::One(member),
                None => self.busy(row, view),
            };
            self.reads.waited_pages += u64::from(busy == Busy::Several && !self.is_dual());
            for unit in 0..self.layout.data_units() {
                // A read of a member was planned for where the layout has it.
                let home = self.layout.data_member(self.stripe(row), unit);
                if member.map_or((first..=last).contains(&unit), |member| member == home) {
                    self.read_unit((row, unit), busy, transaction, view, plan);
                }
            }
        }
    }

    fn read_unit(
        &mut self,
        (row, unit): (u64, u16),
        busy: Busy,
        of: &Transaction,
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        let home = self.data_member(row, unit);
        if let Some(&copy) = self.displaced.of(row, unit) {
            return self.read_copy(&copy, of, view, plan);
        }
        if !self.is_left(of, view, home, row) {
            return self.read_hurt(row, of, view, plan);
        }
        // While something is missing the others may not be enough.
        let busy = if self.is_hurt(of, view) { Busy::Nobody } else { busy };
        // P and Q make up for two members.
        let is_two = busy == Busy::Several && self.is_dual() && self.is_busy(home, row, view);
        if !busy.is(home) && !is_two {
            return self.push(self.read_row(home, row, Phase::Data), plan);
        }
        let mut others = std::mem::take(&mut self.scratch);
        others.clear();
        let is_out = |member| busy.is(member) || (is_two && self.is_busy(member, row, view));
        if self.known(row, is_out, &mut others) {
            self.reads.rebuilt_pages += 1;
            self.reads.extra_pages += others.len() as u64;
            for &member in &others {
                self.push(self.read_row(member, row, Phase::Reconstruct), plan);
            }
        } else {
            self.reads.waited_pages += 1;
            self.push(self.read_row(home, row, Phase::Data), plan);
        }
        self.scratch = others;
    }

    /// Plans to bring a unit home. Nothing if it is there, or somebody collects.
    fn bring_home(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let (row, unit) = (transaction.rows.first, transaction.units.0);
        let Some(&copy) = self.displaced.of(row, unit).filter(|copy| !copy.leaves) else { return };
        if self.is_hurt(transaction, view) || self.busy(row, view) != Busy::Nobody {
            return;
        }
        let holder = self.holder(&copy, view);
        let (home, parities) = (self.data_member(row, unit), self.parities(row));
        self.begin_step();
        self.push(self.read_row(holder, copy.slot, Phase::Data), plan);
        if copy.in_parity {
            self.push(self.read_row(home, row, Phase::Parity), plan);
        }
        for parity in parities.into_iter().flatten() {
            self.push(self.read_row(parity, row, Phase::Parity), plan);
        }
        self.write_row(home, row, Phase::Data);
        self.write_parities(parities, row);
        self.write_noted(plan);
        self.displaced.leave(row, unit);
        self.displaced.counters.home_in_idle += 1;
    }

    /// What is discarded is not displaced any more.
    fn forget(&mut self, rows: Rows) {
        let gone: Vec<(u64, u16)> = self.displaced.within(rows).collect();
        gone.into_iter().for_each(|(row, unit)| self.displaced.leave(row, unit));
    }
}

impl Planner for GaftlPlanner {
    fn split(&mut self, request: &HostRequest, view: &View<'_>, into: &mut Vec<Transaction>) {
        let HostRequest { operation, offset, length, member, .. } = *request;
        let is_displaced = || match member {
            None => self.touches(offset, length),
            Some(_) => !self.is_in_place(),
        };
        if operation == Operation::Read && length > 0 && is_displaced() {
            self.split_displaced(request, view, into);
        } else {
            self.inner.split(request, view, into);
        }
    }

    fn plan(&mut self, now: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, rows, kind, tag, .. } = *transaction;
        if self.may_fail && operation == Operation::Write && rows.count > 0 {
            self.remember(rows);
        }
        self.bounds.begin(transaction);
        self.promise(transaction, view);
        match operation {
            Operation::Write if kind == Kind::Tidy && tag == HOMECOMING => {
                self.bring_home(transaction, view, plan);
            }
            Operation::Write if kind == Kind::Tidy => self.put_back(transaction, view, plan),
            Operation::Write if kind == Kind::Restore => {
                if self.restores(transaction) {
                    self.counting(transaction, |planner| planner.restore_rows(transaction, view, plan));
                } else {
                    self.inner.plan(now, transaction, view, plan);
                }
            }
            Operation::Write if rows.count > 0 && self.concerns(transaction, view) => {
                self.counting(transaction, |planner| planner.write(transaction, view, plan));
            }
            Operation::Read if kind != Kind::Check && self.is_away(rows) => {
                self.counting(transaction, |planner| planner.read(transaction, view, plan));
            }
            Operation::Trim if self.displaced.has(rows) => {
                self.forget(rows);
                self.inner.plan(now, transaction, view, plan);
            }
            _ => self.inner.plan(now, transaction, view, plan),
        }
        self.bounds.judge(transaction, plan);
    }

    fn on_refused(
        &mut self,
        now: SimTime,
        transaction: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        if GaftlPlanner::copies(transaction, operation, refusal) {
            self.counting(transaction, |planner| planner.copy_around(transaction, operation, view, patch));
            return Answer::Patch;
        }
        let is_missing = matches!(refusal, Refusal::Failed | Refusal::Unreadable);
        if is_missing && self.is_planned_here(transaction, operation) {
            return self.plan_without(transaction, operation, refusal);
        }
        if is_missing && operation.offset >= self.rows * self.row {
            // Others hold the slot, too.
            return Answer::Patch;
        }
        self.inner.on_refused(now, transaction, operation, refusal, view, patch)
    }

    fn done(&mut self, now: SimTime, transaction: &Transaction) {
        self.displaced.settle(transaction.rows);
        if let Some(migrating) = &mut self.migrating {
            migrating.map.settle(transaction.rows);
        }
        self.forget_before(transaction.rows);
        self.counted.forget(transaction.rows);
        self.inner.done(now, transaction);
    }

    fn hedge(&mut self, transaction: &Transaction, operation: &PlannedOperation) -> Option<Transaction> {
        self.inner.hedge(transaction, operation)
    }

    fn loss_counters(&self) -> LossCounters {
        let mut losses = self.inner.loss_counters();
        losses.add(&self.losses);
        losses
    }

    fn counters(&self) -> RedundancyCounters {
        let mut counters = self.inner.counters();
        counters.add(&self.counters);
        counters
    }

    fn read_counters(&self) -> ReadCounters {
        let mut counters = self.inner.read_counters();
        counters.add(&self.reads);
        counters
    }

    fn bound_counters(&self) -> BoundCounters {
        self.bounds.counters()
    }

    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        let counters = &self.displaced.counters;
        let mut own = vec![
            ("displaced", counters.displaced),
            ("home_by_write", counters.home_by_write),
            ("home_in_idle", counters.home_in_idle),
            ("waits_full", counters.waits_full),
            ("waits_several", counters.waits_several),
        ];
        if self.forces {
            own.push(("forced_stripes", counters.forced));
        }
        if let Some(migrating) = &self.migrating {
            own.extend(migrating.counters());
        }
        own
    }

    fn watches_devices(&self) -> bool {
        true
    }

    fn restores(&self) -> Option<&dyn Restores> {
        Some(self)
    }

    fn tidies(&mut self) -> Option<&mut dyn Tidies> {
        Some(self)
    }
}

impl Restores for GaftlPlanner {
    fn restore(&self, member: DeviceId, offset: Bytes, length: Bytes) -> Option<Transaction> {
        self.restoring(member, offset, length)
    }

    fn elsewhere(&self, member: DeviceId, rows: Rows) -> Vec<(Bytes, Bytes)> {
        self.slots_of(member, rows)
    }

    fn check(&self, offset: Bytes, length: Bytes, repairs: bool) -> Option<Transaction> {
        self.inner.check(offset, length, repairs)
    }
}

impl Tidies for GaftlPlanner {
    fn tidy(&mut self, view: &View<'_>) -> Option<Transaction> {
        if !view.health.is_whole() {
            return None;
        }
        let Some((row, unit)) = self.displaced.first() else { return self.next_return(view) };
        if self.busy(row, view) != Busy::Nobody {
            return None;
        }
        let whole = Transaction::unlocked(Operation::Write, self.logical(row, unit), self.row);
        let rows = Rows { first: row, count: 1 };
        Some(Transaction { rows, units: (unit, unit), kind: Kind::Tidy, tag: HOMECOMING, ..whole })
    }
}

/// Where stripes are kept free and the coordination policy displaces.
pub(crate) const ENTRY: Entry<Build> = Entry {
    name: "gaftl",
    summary: "what belongs to the member that collects is written to stripes kept free on the others",
    source: "GAFTL, IEEE Access 2019",
    keys: &no_keys,
    build: &|parameters| {
        let Parameters { layout, small_write, dodge, .. } = *parameters;
        let Layout::Parity(parity) = layout else { return None };
        let plain = ParityPlanner::of(parameters).filter(|_| dodge.free_stripes > 0)?;
        let planner = GaftlPlanner::new(plain, (layout, parity.clone()), small_write, dodge.free_stripes);
        Some(Box::new(planner.parking(dodge.parks).failing(dodge.may_fail).placing(dodge.placing)))
    },
};
