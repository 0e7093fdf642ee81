//! GAFTL's placement as its paper has it: a stripe leaves one member free, and what is in the way goes there. On RAID-5 and RAID-6.
//!
//! ```text
//! member      0      1      2      3      4        unit 1 is written while its member collects:
//!          ┌──────┬──────┬──────┬──────┬──────┐
//! before   │  0   │ (1)  │  2   │  P   │      │
//! after    │  0   │      │  2   │  P'  │  1'  │    read 0 and 2; the copy on member 1 counts no more
//!          └──────┴──────┴──────┴──────┴──────┘
//! ```
//!
//! A stripe of `n` members has `n - 2` units and a parity, so that one member is free of it. On RAID-6, which the paper does not
//! have, it has `n - 3` units, P and Q. Which units are in a stripe never changes. Which member holds each of them does, row by row
//! (`stripe_map`): a write of a unit whose member collects goes to the free member, and so does parity. What moved stays where it
//! went: nothing comes home, and no stripes are kept free. `row` says what is read and what moves.
//!
//! * The rows of a stripe unit move one by one, each page with its row. All units of a row that one request writes share one write of
//!   parity.
//! * A read of a unit whose member collects is made of the other units of its row and their parity. Reads hold their rows, as
//!   writes do, so that nothing moves away under them.
//! * What has never been written is zeros: it is read without an operation, and no parity has it. The first write of a row writes
//!   parity, too.
//! * A discard makes parity without the units it covers whole. A row without units has no parity.
//! * A copy that is left behind is trimmed as soon as its member may be used again (`left`). That takes no time of flash, and a
//!   collection before that would move the copy. While a member has failed and no spare takes its place, copies are trimmed in idle time.
//! * A row lies at one place of all members, and each has something in `n - 1` of `n` rows. Unless members are thinly provisioned, an array
//!   holds `n - 2` members' worth of data (`n - 3` on RAID-6), and each member is `1 / n` empty, which is spare space to it.
//! * Operations go where they belong and wait (`waits_several`) if more slots of a row are in the way than it has parities. So do writes
//!   if two slots that are to be written are in the way, or if one is and the free member collects or has failed. RAID-6 goes around two
//!   members otherwise.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), section III: stripes whose members are chosen as they are written, Algorithms 1 to
//! 3, and "there will always be at least one array element that will not be involved".
//!
//! Rows of which something is missing, because a member failed or is rebuilt or cannot read a page, are in `degraded` and `hurt`; what a
//! loss of power leaves is in `power`.
//!
//! Members may have shares of parity of their own (`shares`).
//!
//! Members are thinly provisioned (`room`), so that rows of which each member has `n - 1` of `n` fill them.
//!
//! Leaves out: NVRAM for data, and a stripe cache.

mod degraded;
mod hurt;
mod left;
mod power;
mod room;
mod row;
mod shares;
mod steps;
mod stripe_map;
#[cfg(test)]
mod tests;

use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{
    BoundCounters, Bytes, Counters as _, DeviceId, HostRequest, Operation, Phase, ReadCounters,
    RedundancyCounters, SimTime,
};

use super::bounds::{self, Bounds, InTheWay};
use crate::config::{MemberConfig, SmallWrite};
use crate::layout::{Layout, Parity};
use crate::planner::missing::{Counted, Unreadable};
use crate::planner::parity::ParityPlanner;
use crate::planner::resync::Unsynced;
use crate::planner::{
    Answer, Build, Dodge, Kind, LossCounters, Parameters, Plan, PlannedOperation, Planner, Refusal, Restores,
    Resyncs, Stripes, Tag, Tidies, Transaction, View, waits_or_parks,
};
use degraded::Before;
use left::Left;
use room::Room;
use row::{Decision, Row, Way};
use shares::{RETURN, Shares};
use stripe_map::{StripeMap, each, without_first};

pub(super) use stripe_map::MOST_MEMBERS;

/// The tag of a discard that trims what has been left behind.
const SWEEP: Tag = Tag::of(1);

/// What has moved so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    /// Rows of units that were written on the free member.
    units_moved: u64,
    /// Rows of parity that were.
    parity_moved: u64,
    /// Copies that were trimmed after what they were of had moved.
    trimmed: u64,
    /// Rows whose read, write or discard found more members collecting than it can go around.
    waits_several: u64,
    /// Rows that were written while the member that is free of them had no room.
    finds_no_room: u64,
}

/// Plans RAID-5 and RAID-6 whose stripes leave one member free each.
#[derive(Clone)]
struct FloatingPlanner {
    /// Cuts requests, and plans what is the same.
    inner: ParityPlanner,
    layout: Parity,
    members: u16,
    unit: Bytes,
    row: Bytes,
    page: Bytes,
    small_write: SmallWrite,
    map: StripeMap,
    /// What members are to have of the parity, where that differs.
    shares: Option<Shares>,
    left: Left,
    counters: RedundancyCounters,
    reads: ReadCounters,
    own: Counters,
    bounds: Bounds,
    losses: LossCounters,
    counted: Counted,
    unreadable: Unreadable,
    /// Rows whose parity need not agree since power was lost.
    unsynced: Unsynced,
    /// Whether anything may go wrong: then it is noted where transactions under way found their rows.
    may_fail: bool,
    before: Vec<Before>,
    /// By member: its last operation in the step.
    last: Vec<u32>,
    /// What the plan being made writes, and what it discards when that is done.
    writes: Vec<PlannedOperation>,
    discards: Vec<PlannedOperation>,
}

impl FloatingPlanner {
    /// For the stripes of `layout`, which is `whole`; `inner` cuts requests.
    fn new(
        inner: ParityPlanner,
        (whole, layout): (&Layout, Parity),
        small_write: SmallWrite,
        page: Bytes,
    ) -> Self {
        let (row, members) = (layout.row_bytes(), whole.members());
        let parities = layout.parities().into();
        let stripes = bounds::Stripes { parities, extra: 0, forces: false };
        let mut map = StripeMap::new(&layout, members, whole.member_bytes() / row);
        let shares = Shares::of(&layout, members);
        shares.iter().for_each(|shares| shares.lay_out(&mut map));
        FloatingPlanner {
            inner,
            members,
            unit: whole.stripe_unit(),
            row,
            page,
            small_write,
            map,
            shares,
            layout,
            left: Left::default(),
            counters: RedundancyCounters::default(),
            reads: ReadCounters::default(),
            own: Counters::default(),
            bounds: Bounds::new(stripes, row, small_write),
            losses: LossCounters::default(),
            counted: Counted::default(),
            unreadable: Unreadable::default(),
            unsynced: Unsynced::default(),
            may_fail: false,
            before: Vec::new(),
            last: Vec::new(),
            writes: Vec::new(),
            discards: Vec::new(),
        }
    }

    /// On members that may hold less than they have page numbers.
    fn on(mut self, members: &[MemberConfig], area: Bytes) -> Self {
        self.map.counts_room(Room::of(members, self.row, area));
        self
    }

    /// With members that may fail, pages that cannot be read, or losses of power.
    fn failing(self, may_fail: bool) -> Self {
        FloatingPlanner { may_fail, ..self }
    }

    /// Plans what is read for parity.
    fn pre_read(&mut self, row: u64, decision: &Decision, plan: &mut Plan) {
        for slot in each(decision.reads) {
            self.push(self.on_slot(row, slot, Operation::Read, Phase::Parity), plan);
        }
        self.own.waits_several += u64::from(decision.waits);
        self.counters.pre_read_bytes += u64::from(decision.reads.count_ones()) * self.row;
    }

    fn write_row(&mut self, row: u64, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let mut case = self.row(row, Self::units_of(of), of, view);
        let is_sound = self.is_sound(view);
        if !is_sound && let Some(hurt) = self.hurt(row, &mut case, of, view) {
            return self.write_hurt(row, &hurt, plan);
        }
        if case.held == 0 && is_sound && self.create(row, case.busy) {
            case = self.row(row, Self::units_of(of), of, view);
        }
        let decision = case.written(self.small_write);
        self.own.finds_no_room += u64::from(decision.waits && self.is_full(row));
        self.promise(&case, decision.waits);
        self.pre_read(row, &decision, plan);
        let kind = match decision.way {
            Way::Modify => &mut self.counters.rows_read_modify_write,
            Way::Reconstruct if decision.reads == 0 => &mut self.counters.rows_full,
            Way::Reconstruct => &mut self.counters.rows_reconstruct_write,
        };
        *kind += 1;
        decision.moves.into_iter().for_each(|slot| self.free_up(row, slot));
        each(case.changed).for_each(|unit| self.write_slot(row, unit, Phase::Data));
        each(case.parities).for_each(|parity| self.write_slot(row, parity, Phase::Parity));
        self.map.write(row, self.map.written(row) | case.changed);
    }

    /// Takes note of what is promised for a row that is written.
    fn promise(&mut self, case: &Row, waits: bool) {
        if waits || without_first(case.blocked()) != 0 {
            return self.bounds.gives_up();
        }
        let in_the_way = if case.busy & (case.changed | case.parities) != 0 {
            InTheWay::Wanted
        } else if case.busy & case.held != 0 {
            InTheWay::Other
        } else {
            InTheWay::Nothing
        };
        let others = case.held & !case.changed & !case.parities;
        let (wanted, others) = (case.changed.count_ones().into(), others.count_ones().into());
        self.bounds.writes(bounds::Row { wanted, others, in_the_way }, 1);
    }

    /// The same for a row that is read.
    fn promise_read(&mut self, case: &Row, waits: bool) {
        let units = case.held & !case.parities;
        let wanted = case.changed & units;
        let is_around = wanted & case.busy != 0;
        if waits || (is_around && without_first(case.held & case.busy) != 0) {
            return self.bounds.gives_up();
        }
        let in_the_way = if is_around { InTheWay::Wanted } else { InTheWay::Nothing };
        let (wanted, others) = (wanted.count_ones().into(), (units & !wanted).count_ones().into());
        self.bounds.reads(bounds::Row { wanted, others, in_the_way }, 1);
    }

    fn discard_row(&mut self, row: u64, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let case = self.row(row, self.map.written(row) & Self::units_of(of), of, view);
        let gone = case.changed & !case.cut;
        if gone == 0 {
            return;
        }
        let mut case = Row { changed: gone, cut: 0, ..case };
        let stay = self.map.written(row) & !gone;
        let hurt = if self.is_sound(view) { None } else { self.hurt(row, &mut case, of, view) };
        if let Some(hurt) = hurt.filter(|_| stay != 0) {
            if !self.discard_hurt(row, &hurt, plan) {
                return;
            }
        } else if stay != 0 {
            let decision = case.discarded(self.small_write);
            self.pre_read(row, &decision, plan);
            decision.moves.into_iter().for_each(|slot| self.free_up(row, slot));
            each(case.parities).for_each(|parity| self.write_slot(row, parity, Phase::Parity));
        }
        let refuses = hurt.map_or(0, |hurt| hurt.refuses);
        for slot in each(case.held & !refuses & (gone | if stay == 0 { case.parities } else { 0 })) {
            if case.busy >> slot & 1 == 1 {
                self.left.leaves(self.map.member(row, slot), row);
            } else {
                self.discards.push(self.on_slot(row, slot, Operation::Trim, Phase::Data));
            }
        }
        self.map.write(row, stay);
    }

    /// Plans what a request wants, row by row.
    fn plan_rows(&mut self, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        for row in of.rows.first..of.rows.end() {
            match of.operation {
                Operation::Read => self.read_row(row, of, view, plan),
                Operation::Write => self.write_row(row, of, view, plan),
                Operation::Trim => self.discard_row(row, of, view, plan),
                Operation::Flush => {}
            }
        }
    }

    fn read_row(&mut self, row: u64, of: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let mut case = self.row(row, Self::units_of(of), of, view);
        if !self.is_sound(view)
            && let Some(hurt) = self.hurt(row, &mut case, of, view)
        {
            return self.read_hurt(row, &hurt, of, plan);
        }
        let (slots, rebuilt) = case.read();
        let waits = slots & case.busy != 0;
        self.promise_read(&case, waits);
        self.own.waits_several += u64::from(waits);
        self.reads.waited_pages += u64::from(waits);
        self.reads.rebuilt_pages += u64::from(rebuilt.count_ones());
        for slot in each(slots) {
            let is_wanted = case.changed >> slot & 1 == 1;
            self.reads.extra_pages += u64::from(!is_wanted);
            let phase = if rebuilt != 0 { Phase::Reconstruct } else { Phase::Data };
            let whole = self.on_slot(row, slot, Operation::Read, phase);
            let read = if rebuilt != 0 { whole } else { self.clipped(whole, row, slot, of) };
            self.push(read, plan);
        }
    }

    /// Trims what has been left behind on members that may be used.
    fn trim_left(&mut self, view: &View<'_>, plan: &mut Plan) {
        let mut left = std::mem::take(&mut self.left);
        for (member, row) in left.take(|member| !self.is_collecting(member, view)) {
            if !view.health.takes_writes(member) {
                continue;
            }
            let trim = PlannedOperation::data(member, Operation::Trim, row * self.row, self.row);
            self.push(trim, plan);
            self.own.trimmed += 1;
        }
        self.left = left;
    }

    /// The discard of what has been left behind, if anything can be discarded now.
    fn sweeping(&self, view: &View<'_>) -> Option<Transaction> {
        let is_due = self.left.has(|member| !self.is_collecting(member, view));
        let sweep = Transaction::unlocked(Operation::Trim, 0, 0);
        is_due.then_some(Transaction { kind: Kind::Tidy, tag: SWEEP, ..sweep })
    }

    /// The rows of units that a discard covers whole: where they begin and how long they are.
    fn covered(&self, offset: Bytes, length: Bytes) -> (Bytes, Bytes) {
        let from = offset.next_multiple_of(self.row);
        (from, ((offset + length) / self.row * self.row).saturating_sub(from))
    }
}

impl Planner for FloatingPlanner {
    fn split(&mut self, request: &HostRequest, view: &View<'_>, into: &mut Vec<Transaction>) {
        let HostRequest { operation, offset, length, member, .. } = *request;
        let (offset, length) = match (operation, member) {
            (Operation::Trim, None) => {
                let covered = self.covered(offset, length);
                self.counters.trims_ignored_bytes += length - covered.1;
                covered
            }
            _ => (offset, length),
        };
        if operation == Operation::Flush || length == 0 {
            into.push(Transaction::unlocked(operation, offset, length));
            return;
        }
        // All are cut as a write is, and hold their rows.
        self.inner.split(
            &HostRequest { operation: Operation::Write, offset, length, ..*request },
            view,
            into,
        );
        match operation {
            Operation::Read => into.iter_mut().for_each(Transaction::read_around),
            Operation::Trim => into.iter_mut().for_each(|trim| {
                (trim.operation, trim.kind, trim.tag) = (Operation::Trim, Kind::Plain, Tag::default());
            }),
            Operation::Write | Operation::Flush => {}
        }
    }

    fn plan(&mut self, now: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, rows, kind, tag, .. } = *transaction;
        self.begin_step();
        self.bounds.begin(transaction);
        let is_sound = self.is_sound(view);
        if !is_sound {
            self.bounds.gives_up();
        }
        if self.may_fail && operation != Operation::Read && rows.count > 0 {
            self.remember(transaction);
        }
        match operation {
            Operation::Trim if kind == Kind::Tidy && tag == SWEEP => return self.trim_left(view, plan),
            Operation::Write if kind == Kind::Tidy && tag == RETURN => {
                return self.bring_back(transaction, view, plan);
            }
            Operation::Flush => return self.inner.plan(now, transaction, view, plan),
            Operation::Write if kind == Kind::Restore => {
                self.counting(transaction, |planner| planner.restore_rows(transaction, view, plan));
            }
            Operation::Write if kind == Kind::Resync => self.resync_rows(transaction, view, plan),
            Operation::Read if kind == Kind::Check => return self.read_held(transaction.rows, view, plan),
            _ if is_sound => self.plan_rows(transaction, view, plan),
            _ => self.counting(transaction, |planner| planner.plan_rows(transaction, view, plan)),
        }
        self.write_noted(plan);
        self.bounds.judge(transaction, plan);
    }

    fn begins_with(&mut self, holds: &dyn Fn(DeviceId, Bytes) -> bool) {
        let pages = (self.row / self.page).max(1);
        for row in 0..self.map.rows() {
            let is_held = |unit: &u16| {
                let member = self.map.member(row, *unit);
                (0..pages).any(|page| holds(member, row * self.row + page * self.page))
            };
            let written = (0..self.map.units()).filter(is_held).fold(0, |written, unit| written | 1 << unit);
            self.map.write(row, written);
        }
    }

    fn on_refused(
        &mut self,
        _: SimTime,
        transaction: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        match refusal {
            Refusal::Failed => self.met_a_failure(transaction, operation, view),
            Refusal::Unreadable => self.met_unreadable(transaction, operation, patch),
            _ => waits_or_parks(&Dodge::default(), operation, refusal, patch),
        }
    }

    fn resynced_rows(&self) -> u64 {
        self.unsynced.written()
    }

    fn done(&mut self, _: SimTime, transaction: &Transaction) {
        self.is_done(transaction);
    }

    fn loss_counters(&self) -> LossCounters {
        self.losses
    }

    fn restores(&self) -> Option<&dyn Restores> {
        Some(self)
    }

    fn resyncs(&mut self) -> Option<&mut dyn Resyncs> {
        Some(self)
    }

    fn counters(&self) -> RedundancyCounters {
        let mut counters = self.inner.counters();
        counters.add(&self.counters);
        counters
    }

    fn read_counters(&self) -> ReadCounters {
        self.reads
    }

    fn bound_counters(&self) -> BoundCounters {
        self.bounds.counters()
    }

    fn own_counters(&self) -> Vec<(&'static str, u64)> {
        let Counters { units_moved, parity_moved, trimmed, waits_several, finds_no_room } = self.own;
        let mut own = vec![
            ("units_moved", units_moved),
            ("parity_moved", parity_moved),
            ("trimmed", trimmed),
            ("waits_several", waits_several),
        ];
        own.extend(self.map.room().map(|_| ("finds_no_room", finds_no_room)));
        own.extend(self.shares.as_ref().map(|shares| ("migrated_back", shares.returned)));
        own
    }

    fn watches_devices(&self) -> bool {
        true
    }

    fn tidies(&mut self) -> Option<&mut dyn Tidies> {
        Some(self)
    }
}

impl Tidies for FloatingPlanner {
    fn tidy(&mut self, view: &View<'_>) -> Option<Transaction> {
        self.sweeping(view).or_else(|| self.next_return(view))
    }

    fn sweep(&mut self, view: &View<'_>) -> Option<Transaction> {
        self.sweeping(view)
    }
}

/// Where the coordination policy has stripes that leave a member free.
pub(crate) const ENTRY: Entry<Build> = Entry {
    name: "gaftl-floating",
    summary: "stripes leave one member free, and what belongs to the member that collects is written there",
    source: "GAFTL, IEEE Access 2019",
    keys: &no_keys,
    build: &|parameters| {
        let Parameters { layout, small_write, page, dodge, members, area, .. } = *parameters;
        let Layout::Parity(parity) = layout else { return None };
        let floats = dodge.placing.stripes == Stripes::Floating && parity.is_floating();
        let plain = ParityPlanner::of(parameters).filter(|_| floats)?;
        let planner = FloatingPlanner::new(plain, (layout, parity.clone()), small_write, page);
        let planner = planner.on(members, area);
        Some(Box::new(planner.failing(dodge.may_fail).returning(dodge.placing)))
    },
};
