//! RAID-4, RAID-5, RAID-6 and declustered parity: read-modify-write, reconstruct-write, full stripes.
//!
//! ```text
//! unit          0      1      2      P           a write of unit 1, last rows, and unit 2, first rows:
//!          rows . ┌────────────┬────────┐
//!               . │      .   2 │    P   │  transaction 1: unit 2 alone
//!               . │      .     │        │  untouched
//!               . │   1  .     │    P   │  transaction 2: unit 1 alone
//!                 └────────────┴────────┘
//! ```
//!
//! Parity works in rows: 4 KiB, or one page where pages are larger. The rows of a stripe in which the same units are
//! written are one transaction. It makes its parity in one of three ways:
//!
//! * *read-modify-write*: read the old data of the units written, and old parity; then write both;
//! * *reconstruct-write*: read the units that are not written, and those written in part; then write;
//! * *full*: all units are written whole, nothing is read.
//!
//! The rule is md's: whichever reads fewer units, a tie goes to reconstruct-write. Whole stripes behind one another are one
//! transaction of one operation a member, in which data and parity alternate. A row written in part is read by the array
//! and written whole, so members never see partial pages. Writes wait for their rows from arrival on, and hold them until the last
//! program ends. Reads hold none, as md's aligned reads bypass its stripe cache: a read that overlaps a write under way returns
//! the old data or the new. A discard covers whole stripes with their parity; its partial head and tail are ignored and counted.
//!
//! Where reads avoid members that collect, a read that finds one is planned around it (`around`), under the lock of its rows, and a
//! write makes its parity in the way that waits least. What is refused later is found out in the other way, too. Where writes
//! are parked, a write that a member refuses goes to NVRAM.
//!
//! Rows are counted stripe after stripe, whatever members a stripe lies on. Where all members are in every stripe, that is where
//! they lie on the members, too; other stripes are placed, walked through and planned in `declustered`.
//!
//! Reads and writes of rows of which something is missing, rebuilding and scrubbing: `degraded`. Writes of rows of which the stripe
//! cache keeps something: `cached`. After a loss of power: `resync`.
//!
//! Source: Linux md, drivers/md/raid5.c (`handle_stripe_dirtying`, `make_discard_request`). Leaves out: the time to
//! compute parity. What is logged before a write is the controller's business (`log`).

mod cached;
mod declustered;
mod degraded;
mod resync;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{
    Bytes, Counters, DeviceId, Divisor, HostRequest, Operation, ParityPages, Phase, ReadCounters,
    RedundancyCounters, SimDuration, SimTime,
};

use super::around::{Around, Members, Piece, Rule, Wanted};
use super::missing::{Counted, Missing, Unreadable};
use super::resync::{Blind, Unsynced};
use super::{
    Answer, Build, Dodge, Kind, LossCounters, Parameters, Plan, PlannedOperation, Planner, Refusal, Restores,
    Resyncs, Rows, Tag, Transaction, UsesCache, View, flush, waits_or_parks,
};
use crate::config::{Avoid, Reads, SmallWrite};
use crate::layout::{Layout, Parity, Unit};
use crate::stripe_cache::StripeCache;
use declustered::Walk;
use degraded::Way;

/// Plans RAID-4, 5 and 6, and declustered parity.
#[derive(Debug, Clone)]
pub struct ParityPlanner {
    whole: Layout,
    layout: Parity,
    small_write: SmallWrite,
    unit: Bytes,
    unit_by: Divisor,
    row: Bytes,
    row_by: Divisor,
    page: Bytes,
    data_units: u16,
    parities: u16,
    counters: RedundancyCounters,
    dodge: Dodge,
    /// Where reads avoid members, or are hedged, or members may fail.
    around: Option<Box<Around>>,
    scratch: Plan,
    losses: LossCounters,
    counted: Counted,
    unreadable: Unreadable,
    unsynced: Unsynced,
    /// Rows of the write being planned, and how their parity is made.
    ways: Vec<(Piece, Way)>,
    cuts: Vec<Bytes>,
    /// By member: its last operation in the step.
    last: Vec<u32>,
    /// The stripe cache has been asked: from then on the rows of one write may make their parity by different methods.
    mixes_methods: bool,
}

/// How the parity of a transaction's rows is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Full,
    ReadModifyWrite,
    Reconstruct,
}

/// The tag of a write in part that makes parity by read-modify-write; all others reconstruct.
const MODIFY: Tag = Tag::of(1);
/// The tag of a read around the one member that it names, in any case; others may read a member that collects after all.
const WITHOUT: Tag = Tag::of(1);

/// Rows of one stripe in which the same units are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    rows: Rows,
    units: (u16, u16),
    method: Method,
    /// Units written in part.
    partial: u16,
}

impl ParityPlanner {
    /// For the stripes of `layout`, which is `whole`, on members with pages of `page` bytes.
    pub fn new(whole: &Layout, layout: Parity, small_write: SmallWrite, page: Bytes) -> Self {
        ParityPlanner {
            small_write,
            unit: whole.stripe_unit(),
            unit_by: Divisor::new(whole.stripe_unit()),
            row: layout.row_bytes(),
            row_by: Divisor::new(layout.row_bytes()),
            page,
            data_units: layout.data_units(),
            parities: layout.parities(),
            whole: whole.clone(),
            layout,
            counters: RedundancyCounters::default(),
            dodge: Dodge::default(),
            around: None,
            scratch: Plan::default(),
            losses: LossCounters::default(),
            counted: Counted::default(),
            unreadable: Unreadable::default(),
            unsynced: Unsynced::default(),
            ways: Vec::new(),
            cuts: Vec::new(),
            last: Vec::new(),
            mixes_methods: false,
        }
    }

    /// The planner of such an array.
    pub(crate) fn of(parameters: &Parameters<'_>) -> Option<Self> {
        let Layout::Parity(layout) = parameters.layout else { return None };
        let Parameters { layout: whole, small_write, page, dodge, .. } = *parameters;
        Some(ParityPlanner::new(whole, layout.clone(), small_write, page).dodging(dodge))
    }

    /// With a rule for members that collect or may fail.
    #[must_use]
    pub fn dodging(self, dodge: Dodge) -> Self {
        let goes_around = dodge.reads != Reads::Wait || dodge.may_fail;
        let planner = ParityPlanner { dodge, ..self };
        let around = goes_around.then(|| planner.new_around());
        ParityPlanner { around, ..planner }
    }

    /// What plans reads around members.
    fn new_around(&self) -> Box<Around> {
        Box::new(Around::new(Rule {
            avoid: match self.dodge.reads {
                Reads::Wait => None,
                Reads::Avoid(avoid) => Some(avoid),
                Reads::Hedge(_) => Some(Avoid::default()),
            },
            races: matches!(self.dodge.reads, Reads::Hedge(_)),
            most: usize::from(self.parities),
            page: self.page,
            row: self.row,
            page_read: self.dodge.page_read,
        }))
    }

    /// Cuts a logical range that is read into transactions: one that locks nothing, or, if a member that it needs collects or is
    /// missing, as those of a write.
    fn split_read(&mut self, offset: Bytes, length: Bytes, view: &View<'_>, into: &mut Vec<Transaction>) {
        let plain = Transaction::unlocked(Operation::Read, offset, length);
        let (avoids, is_whole) = (self.dodge.avoid().is_some(), view.health.is_whole());
        if !avoids && is_whole {
            return into.push(plain);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        self.read(offset, length, &mut scratch);
        let is_missing =
            |read: &PlannedOperation| !view.health.has(read.device, read.offset, read.offset + read.length);
        let is_unsynced = |read: &PlannedOperation| self.unsynced.has(read.offset, read.offset + read.length);
        let trusts_parity = !scratch.operations().iter().any(is_unsynced);
        let waits = |read: &PlannedOperation| {
            (!is_whole && is_missing(read))
                || (avoids && trusts_parity && view.left(read.device, read.offset, read.length).is_some())
        };
        if scratch.operations().iter().any(waits) {
            let before = into.len();
            self.write(offset, length, into);
            into[before..].iter_mut().for_each(Transaction::read_around);
        } else {
            if let Some(around) = self.around.as_mut().filter(|_| avoids) {
                around.counters.rows_by_busy_members[0] += length.div_ceil(self.row);
            }
            into.push(plain);
        }
        self.scratch = scratch;
    }

    /// Plans rows that are read around members that collect or are missing.
    fn read_around(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { rows, offset, length, member, tag, .. } = *transaction;
        let grain = match tag {
            // Pages may be smaller than rows.
            WITHOUT => self.page,
            _ => self.row,
        };
        let walk = match member {
            Some(member) => {
                Walk::Member(member, offset / grain * grain, (offset + length).div_ceil(grain) * grain)
            }
            None => Walk::Rows(rows.first * self.row, rows.end() * self.row),
        };
        self.read_range_around(transaction, walk, view, plan);
    }

    /// Plans a part of the rows that a transaction reads around members.
    fn read_range_around(
        &mut self,
        transaction: &Transaction,
        mut walk: Walk,
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        let Transaction { units: (first, last), member, tag, .. } = *transaction;
        if self.around.is_none() {
            // A member has failed, which nobody expected of this array.
            self.around = Some(self.new_around());
        }
        let Some(around) = &mut self.around else { unreachable!("made just now") };
        let wanted = match member {
            Some(member) => Wanted::Member(member),
            None => Wanted::Units(first, last),
        };
        let without = member.filter(|_| tag == WITHOUT);
        let missing = Missing::of(transaction, view, &self.unreadable, without);
        let members = Members { layout: &self.layout, view, missing };
        around.begin(self.whole.members());
        while let Some(piece) = walk.next(&self.layout, self.unit) {
            around.stripe(&members, piece, wanted, plan);
        }
        self.losses.add(&std::mem::take(&mut around.losses));
    }

    /// What a transaction that holds its rows cannot read, and nothing of the member `without`.
    #[inline]
    pub(crate) fn missing<'a>(
        &'a self,
        transaction: &Transaction,
        view: &View<'a>,
        without: Option<DeviceId>,
    ) -> Missing<'a> {
        Missing::of(transaction, view, &self.unreadable, without)
    }

    /// A transaction has found pages that it does not read again.
    pub(crate) fn note_unreadable(&mut self, transaction: &Transaction, operation: &PlannedOperation) {
        self.unreadable.note(transaction.rows, operation);
    }

    pub(crate) fn page(&self) -> Bytes {
        self.page
    }

    /// Plans rows of which something may be missing, and counts what is lost.
    fn counting(&mut self, transaction: &Transaction, plan: impl FnOnce(&mut Self)) {
        let before = self.losses;
        plan(self);
        self.counted.count(transaction, true, before, &mut self.losses);
    }

    /// What a member holds of a range, from the other members.
    fn without(&self, read: &PlannedOperation) -> Transaction {
        let whole = Transaction::unlocked(Operation::Read, read.offset, read.length);
        let rows = self.rows_on(read.device, read.offset, read.length);
        Transaction { rows, member: Some(read.device), kind: Kind::Around, ..whole }
    }

    /// The way to make parity that waits least for members that collect; a tie goes to the usual one.
    fn calmest(&self, transaction: &Transaction, usual: Method, view: &View<'_>) -> Method {
        let Transaction { rows, .. } = *transaction;
        let Piece { from: offset, to, .. } = self.piece_of(rows);
        let length = to - offset;
        let wait = |method: Method| {
            let members = self.pre_read(transaction, method);
            members.filter_map(|member| view.left(member, offset, length)).max().unwrap_or_default()
        };
        let other = usual.other();
        if usual == Method::Full || wait(other) >= wait(usual) { usual } else { other }
    }

    /// The members whose rows a write reads first.
    fn pre_read(&self, transaction: &Transaction, method: Method) -> impl Iterator<Item = DeviceId> {
        let Transaction { rows, units: (first, last), .. } = *transaction;
        let (stripe, _) = self.unit_by.divide(rows.first * self.row);
        // An array may have a thousand members: units that no rule reads are not looked at.
        let looked_at = match method {
            Method::Full => 0..0,
            Method::ReadModifyWrite => first..last + 1,
            Method::Reconstruct => 0..self.data_units,
        };
        let is_read = move |unit: u16| {
            let is_written = (first..=last).contains(&unit);
            method == Method::ReadModifyWrite || !is_written || self.is_partial(transaction, unit)
        };
        let data = looked_at.filter(move |&unit| is_read(unit));
        let parities = [Some(self.layout.p_member(stripe)), self.layout.q_member(stripe)];
        let parities = parities.into_iter().flatten().filter(move |_| method == Method::ReadModifyWrite);
        data.map(move |unit| self.layout.data_member(stripe, unit)).chain(parities)
    }

    /// A member refuses to be read for a write: reads the rows in question as the other way to make parity needs them, unless
    /// that waits as long.
    fn pre_read_otherwise(
        &self,
        transaction: &Transaction,
        refused: &PlannedOperation,
        left: SimDuration,
        view: &View<'_>,
        patch: &mut Plan,
    ) {
        let insist = PlannedOperation { fast_fail: false, ..*refused };
        // A member that only one of the ways reads tells which one was taken.
        let of = |method| self.pre_read(transaction, method).collect::<Vec<DeviceId>>();
        let ways = (of(Method::ReadModifyWrite), of(Method::Reconstruct));
        let (have, need) = if ways.0.contains(&refused.device) { ways } else { (ways.1, ways.0) };
        let more = need.iter().filter(|member| !have.contains(member));
        let wait = |member: &DeviceId| view.left(*member, refused.offset, refused.length);
        let is_sooner = more.clone().filter_map(wait).all(|wait| wait < left);
        if need.contains(&refused.device) || !is_sooner {
            return patch.push(insist);
        }
        more.for_each(|&device| patch.push(PlannedOperation { device, ..insist }));
    }

    /// How a write makes parity in rows of which it writes so many units, `partial` of them in part: in the way that reads fewest
    /// units, unless the array is told one way for all.
    fn method(&self, written: u16, partial: u16) -> Method {
        if written == self.data_units && partial == 0 {
            return Method::Full;
        }
        let modify = written + self.parities;
        let reconstruct = self.data_units - written + partial;
        match self.small_write {
            SmallWrite::ReadModifyWrite => Method::ReadModifyWrite,
            SmallWrite::Fewest if modify < reconstruct => Method::ReadModifyWrite,
            SmallWrite::Reconstruct | SmallWrite::Fewest => Method::Reconstruct,
        }
    }

    /// Cuts a logical range that is written into transactions.
    #[inline]
    fn write(&self, offset: Bytes, length: Bytes, into: &mut Vec<Transaction>) {
        let (units, within) = self.unit_by.divide(offset);
        let ((row, head), (last, tail)) =
            (self.row_by.divide(within), self.row_by.divide(within + length - 1));
        if row == last && self.data_units > 1 {
            let (stripe, unit) = (units / u64::from(self.data_units), units % u64::from(self.data_units));
            let is_partial = head != 0 || tail != self.row - 1;
            let write = Transaction {
                rows: Rows { first: stripe * self.unit_by.by() / self.row + row, count: 1 },
                units: (unit as u16, unit as u16),
                ..Transaction::unlocked(Operation::Write, offset, length)
            };
            return into.push(self.method(1, u16::from(is_partial)).of(write));
        }
        self.write_segments(offset, length, into);
    }

    /// The same where it need not lie in one row of one unit.
    fn write_segments(&self, offset: Bytes, length: Bytes, into: &mut Vec<Transaction>) {
        let (stripe, end) = (self.layout.stripe_bytes(), offset + length);
        let (first, last) = (offset / stripe, (end - 1) / stripe);
        let (full, full_end) = (offset.div_ceil(stripe), end / stripe);
        let base = Transaction::unlocked(Operation::Write, offset, length);
        let partial = |number: u64, into: &mut Vec<Transaction>| {
            let start = number * stripe;
            self.segments(offset.max(start) - start, end.min(start + stripe) - start, |segment| {
                let first = number * (self.unit / self.row) + segment.rows.first;
                let rows = Rows { first, ..segment.rows };
                into.push(segment.method.of(Transaction { rows, units: segment.units, ..base }));
            });
        };
        if full >= full_end {
            (first..=last).for_each(|number| partial(number, into));
            return;
        }
        if first < full {
            partial(first, into);
        }
        into.push(Transaction {
            rows: self.rows_of(full, full_end),
            units: (0, self.data_units - 1),
            ..base
        });
        if last >= full_end {
            partial(last, into);
        }
    }

    fn rows_of(&self, first_stripe: u64, end_stripe: u64) -> Rows {
        let rows = self.unit / self.row;
        Rows { first: first_stripe * rows, count: (end_stripe - first_stripe) * rows }
    }

    /// Cuts bytes `from..to` of a stripe's data into segments, lowest rows first.
    fn segments(&self, from: Bytes, to: Bytes, mut visit: impl FnMut(Segment)) {
        let (a, b) = ((from / self.unit) as u16, ((to - 1) / self.unit) as u16);
        let (x, y) = (from % self.unit, (to - 1) % self.unit + 1);
        let (start, stop) = (x / self.row, (y - 1) / self.row);
        let (cut_head, cut_tail) = (!x.is_multiple_of(self.row), !y.is_multiple_of(self.row));
        let mut cuts = [0, start, start + 1, stop, stop + 1, self.unit / self.row];
        cuts.sort_unstable();
        let mut open: Option<Segment> = None;
        for pair in cuts.windows(2) {
            let (row, next) = (pair[0], pair[1]);
            if row == next {
                continue;
            }
            let first = if row >= start { a } else { a + 1 };
            let last = if row <= stop { Some(b) } else { b.checked_sub(1) };
            let Some(last) = last.filter(|&last| first <= last) else { continue };
            let head = cut_head && row == start && first == a;
            let tail = cut_tail && row == stop && last == b;
            let both = head && tail && a == b;
            let partial = u16::from(head) + u16::from(tail) - u16::from(both);
            let method = self.method(last - first + 1, partial);
            let segment = Segment {
                rows: Rows { first: row, count: next - row },
                units: (first, last),
                method,
                partial,
            };
            open = match open {
                Some(before) if before.joins(&segment) => {
                    let rows = Rows { count: before.rows.count + segment.rows.count, ..before.rows };
                    Some(Segment { rows, ..before })
                }
                before => {
                    before.into_iter().for_each(&mut visit);
                    Some(segment)
                }
            };
        }
        open.into_iter().for_each(visit);
    }

    /// Plans a read of a logical range: data units only, each run of them on a member one operation.
    fn read(&mut self, offset: Bytes, length: Bytes, plan: &mut Plan) {
        if self.layout.declustered().is_some() {
            return self.read_declustered(offset, length, plan);
        }
        let fast_fail = self.dodge.avoid().is_some();
        let (unit, units, end) = (self.unit, u64::from(self.data_units), offset + length);
        let (first, last) = (offset / unit, (end - 1) / unit);
        let (stripe, a, x) = (first / units, (first % units) as u16, offset % unit);
        let mut push = |device, offset, length| {
            let data = PlannedOperation::data(device, Operation::Read, offset, length);
            plan.push(PlannedOperation { fast_fail, ..data });
        };
        if first == last {
            return push(self.layout.data_member(stripe, a), stripe * unit + x, length);
        }
        let (last_stripe, b, y) = (last / units, (last % units) as u16, (end - 1) % unit + 1);
        let mut visit = |member| {
            let from = match self.layout.unit_on(stripe, member) {
                Unit::Data(held) if held == a => stripe * unit + x,
                Unit::Data(held) if held > a => stripe * unit,
                _ => (stripe + 1) * unit,
            };
            let to = match self.layout.unit_on(last_stripe, member) {
                Unit::Data(held) if held == b => last_stripe * unit + y,
                Unit::Data(held) if held < b => (last_stripe + 1) * unit,
                _ => last_stripe * unit,
            };
            self.data_runs(member, from, to, |offset, length| push(member, offset, length));
        };
        if last - first < units {
            // At most two stripes: no need to look at members that hold none of these units.
            for index in first..=last {
                let member = self.layout.data_member(index / units, (index % units) as u16);
                let held = self.layout.unit_on(stripe, member);
                let is_visited = index / units > stripe && matches!(held, Unit::Data(held) if held >= a);
                if !is_visited {
                    visit(member);
                }
            }
        } else {
            let (members, lead) = (self.whole.members(), self.layout.data_member(stripe, a).0);
            (lead..members).chain(0..lead).map(DeviceId).for_each(visit);
        }
    }

    /// Calls `visit(offset, length)` for every run of data in a range of a member.
    fn data_runs(&self, member: DeviceId, from: Bytes, to: Bytes, mut visit: impl FnMut(Bytes, Bytes)) {
        let pattern = self.layout.parity_pattern(member);
        let (mut at, mut stripe) = (from, from / self.unit);
        let mut position = (stripe + pattern.phase) % pattern.period;
        while at < to && pattern.run < pattern.period {
            let is_parity = position < pattern.run;
            let stripes = if is_parity { pattern.run - position } else { pattern.period - position };
            let stop = ((stripe + stripes) * self.unit).min(to);
            if !is_parity {
                visit(at, stop - at);
            }
            (at, stripe) = (stop, stripe + stripes);
            position = (position + stripes) % pattern.period;
        }
    }

    /// Plans whole stripes: one range a member, in which data and parity alternate.
    fn whole_stripes(&mut self, operation: Operation, rows: Rows, plan: &mut Plan) {
        if self.layout.declustered().is_some() {
            return self.stripes_declustered(operation, rows, plan);
        }
        let (offset, length) = (rows.first * self.row, rows.count * self.row);
        let (first, pages) = (offset / self.unit, self.unit / self.page);
        for member in (0..self.whole.members()).map(DeviceId) {
            let pattern = self.layout.parity_pattern(member);
            let (phase, period) = ((first + pattern.phase) % pattern.period * pages, pattern.period * pages);
            let parity = if pattern.run == 0 || operation != Operation::Write {
                ParityPages::NONE
            } else if pattern.run == pattern.period {
                ParityPages::ALL
            } else {
                // The pattern is shorter than the two whole stripes and more that are written here, page by page.
                let fits = "a write has fewer than 2^32 pages";
                ParityPages {
                    phase: u32::try_from(phase).expect(fits),
                    period: u32::try_from(period).expect(fits),
                    run: (pattern.run * pages) as u32,
                    ..ParityPages::ALL
                }
            };
            let phase = if parity == ParityPages::ALL { Phase::Parity } else { Phase::Data };
            plan.push(PlannedOperation {
                fast_fail: self.dodge.parks && operation == Operation::Write,
                parity,
                phase,
                ..PlannedOperation::data(member, operation, offset, length)
            });
        }
    }

    /// Plans the rows of one stripe in which the same units are written.
    fn rows_of_one_stripe(&mut self, transaction: &Transaction, method: Method, plan: &mut Plan) {
        let Transaction { rows, units: (first, last), .. } = *transaction;
        let Piece { stripe, from: offset, to } = self.piece_of(rows);
        let length = to - offset;
        let (avoids, parks) = (self.dodge.avoid().is_some(), self.dodge.parks);
        // What is read first is for parity, old data too, and charged to it.
        let range = |device, operation, for_parity: bool| {
            let (phase, parity) =
                if for_parity { (Phase::Parity, ParityPages::ALL) } else { (Phase::Data, ParityPages::NONE) };
            let fast_fail = if operation == Operation::Read { avoids } else { parks };
            let data = PlannedOperation::data(device, operation, offset, length);
            PlannedOperation { phase, parity, fast_fail, ..data }
        };
        let data = |unit| self.layout.data_member(stripe, unit);
        let parities =
            || [Some(self.layout.p_member(stripe)), self.layout.q_member(stripe)].into_iter().flatten();
        let before = plan.operations().len();
        self.pre_read(transaction, method).for_each(|member| plan.push(range(member, Operation::Read, true)));
        let reads = (plan.operations().len() - before) as u64;
        plan.barrier();
        (first..=last).for_each(|unit| plan.push(range(data(unit), Operation::Write, false)));
        parities().for_each(|member| plan.push(range(member, Operation::Write, true)));
        self.counters.pre_read_bytes += reads * length;
    }

    /// Whether a unit is written in part in the rows of a transaction.
    fn is_partial(&self, transaction: &Transaction, unit: u16) -> bool {
        self.is_partial_in(transaction, self.piece_of(transaction.rows), unit)
    }

    /// Whether a unit is written in part in a range of a stripe's rows.
    fn is_partial_in(&self, transaction: &Transaction, Piece { stripe, from, to }: Piece, unit: u16) -> bool {
        let start = stripe * self.layout.stripe_bytes() + u64::from(unit) * self.unit + from % self.unit;
        transaction.offset > start || transaction.offset + transaction.length < start + (to - from)
    }

    /// Where rows of one stripe lie on its members.
    fn piece_of(&self, rows: Rows) -> Piece {
        let (from, length) = (rows.first * self.row, rows.count * self.row);
        let (stripe, _) = self.unit_by.divide(from);
        let from = from - (stripe - self.layout.row_of(stripe)) * self.unit;
        Piece { stripe, from, to: from + length }
    }

    /// Whether rows of a transaction are not known to agree.
    #[inline]
    fn is_unsynced(&self, rows: Rows) -> bool {
        self.unsynced.has(rows.first * self.row, rows.end() * self.row)
    }
}

impl Segment {
    /// Whether the rows below it can be part of the same transaction.
    fn joins(&self, next: &Segment) -> bool {
        let alike = self.method == Method::ReadModifyWrite || (self.partial == 0 && next.partial == 0);
        self.rows.end() == next.rows.first && self.units == next.units && self.method == next.method && alike
    }
}

impl Method {
    /// The other way to make the parity of rows that are not written whole.
    fn other(self) -> Method {
        match self {
            Method::Full => Method::Full,
            Method::ReadModifyWrite => Method::Reconstruct,
            Method::Reconstruct => Method::ReadModifyWrite,
        }
    }

    /// The write, to make its parity so: its kind and tag say it from here on, and [`Method::in_use`] reads it there.
    fn of(self, write: Transaction) -> Transaction {
        let (kind, tag) = match self {
            Method::Full => (Kind::Plain, Tag::default()),
            Method::ReadModifyWrite => (Kind::Partial, MODIFY),
            Method::Reconstruct => (Kind::Partial, Tag::default()),
        };
        Transaction { kind, tag, ..write }
    }

    /// How a write is to make its parity, as [`Method::of`] has noted when the request was split or writes were joined.
    fn in_use(write: &Transaction) -> Method {
        match (write.kind, write.tag) {
            (Kind::Plain, _) => Method::Full,
            (Kind::Partial, MODIFY) => Method::ReadModifyWrite,
            _ => Method::Reconstruct,
        }
    }
}

impl Planner for ParityPlanner {
    fn split(&mut self, request: &HostRequest, view: &View<'_>, into: &mut Vec<Transaction>) {
        let HostRequest { operation, offset, length, member, .. } = *request;
        if operation == Operation::Flush || length == 0 {
            into.push(Transaction::unlocked(operation, offset, length));
            return;
        }
        let mut ignored = 0;
        let mut piece = |offset: Bytes, length: Bytes| match operation {
            Operation::Write => self.write(offset, length, into),
            Operation::Trim => {
                let stripe = self.layout.stripe_bytes();
                let (first, end) = (offset.div_ceil(stripe), (offset + length) / stripe);
                let whole = end.saturating_sub(first);
                ignored += length - whole * stripe;
                let rows = self.rows_of(first, first + whole);
                into.push(Transaction { rows, ..Transaction::unlocked(operation, offset, length) });
            }
            _ => into.push(Transaction::unlocked(operation, offset, length)),
        };
        match member {
            None if operation == Operation::Read => self.split_read(offset, length, view, into),
            None => piece(offset, length),
            Some(member) if operation == Operation::Read && !view.health.is_whole() => {
                let whole = self.whole.clone();
                whole.pinned(member, offset, length, |offset, length| {
                    self.split_read(offset, length, view, into);
                });
            }
            Some(member) => self.whole.pinned(member, offset, length, piece),
        }
        self.counters.trims_ignored_bytes += ignored;
    }

    fn plan(&mut self, _: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, rows, offset, length, kind, .. } = *transaction;
        let view = &View { look: if self.is_unsynced(rows) { &Blind } else { view.look }, ..*view };
        match operation {
            Operation::Flush => flush(self.whole.members(), plan),
            Operation::Read if kind == Kind::Around => {
                self.counting(transaction, |planner| planner.read_around(transaction, view, plan));
            }
            Operation::Read if kind == Kind::Check => self.read_all(transaction, view, plan),
            Operation::Read if length > 0 => self.read(offset, length, plan),
            Operation::Trim if rows.count > 0 => self.whole_stripes(operation, rows, plan),
            Operation::Write if kind == Kind::Restore => {
                self.counting(transaction, |planner| planner.restore_range(transaction, view, plan));
            }
            Operation::Write if kind == Kind::Resync => self.resync(transaction, view, plan),
            Operation::Write if length > 0 => {
                let mut method = Method::in_use(transaction);
                let missing = Missing::of(transaction, view, &self.unreadable, None);
                if !missing.is_none() && method != Method::Full {
                    return self.counting(transaction, |planner| {
                        planner.write_degraded(transaction, view, plan);
                    });
                }
                if self.dodge.avoid().is_some() {
                    method = self.calmest(transaction, method, view);
                }
                if method == Method::ReadModifyWrite && self.is_unsynced(rows) {
                    method = Method::Reconstruct;
                }
                match method {
                    Method::Full => self.counters.rows_full += rows.count,
                    Method::ReadModifyWrite => self.counters.rows_read_modify_write += rows.count,
                    Method::Reconstruct => self.counters.rows_reconstruct_write += rows.count,
                }
                if method == Method::Full && rows.count > self.unit / self.row {
                    self.whole_stripes(operation, rows, plan);
                } else {
                    self.rows_of_one_stripe(transaction, method, plan);
                }
            }
            _ => {}
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
        let left = match refusal {
            Refusal::Busy(left) => left.max(SimDuration(1)),
            Refusal::Reserved => SimDuration(u64::MAX),
            Refusal::Failed | Refusal::Unreadable => {
                return self.on_missing(transaction, operation, refusal, view, patch);
            }
        };
        let is_plain = transaction.kind == Kind::Plain;
        let is_own = matches!(transaction.kind, Kind::Restore | Kind::Resync);
        match (operation.operation, transaction.operation) {
            _ if is_own && refusal == Refusal::Reserved => Answer::Wait,
            // Parity is not to be relied on.
            (Operation::Read, _)
                if self.unsynced.has(operation.offset, operation.offset + operation.length) =>
            {
                waits_or_parks(&self.dodge, operation, refusal, patch)
            }
            (Operation::Read, Operation::Read) if is_plain && self.dodge.reads != Reads::Wait => {
                Answer::Instead(self.without(operation))
            }
            (Operation::Read, Operation::Write)
                if operation.fast_fail
                    && view.health.is_whole()
                    && !(self.mixes_methods && transaction.rows.count > 1) =>
            {
                self.pre_read_otherwise(transaction, operation, left, view, patch);
                Answer::Patch
            }
            _ => waits_or_parks(&self.dodge, operation, refusal, patch),
        }
    }

    fn resynced_rows(&self) -> u64 {
        self.unsynced.written()
    }

    fn done(&mut self, _: SimTime, transaction: &Transaction) {
        if transaction.kind == Kind::Resync {
            self.is_resynced(transaction);
        }
        self.unreadable.forget(transaction.rows);
        self.counted.forget(transaction.rows);
    }

    fn loss_counters(&self) -> LossCounters {
        self.losses
    }

    fn hedge(&mut self, transaction: &Transaction, operation: &PlannedOperation) -> Option<Transaction> {
        let is_host_read = transaction.operation == Operation::Read && transaction.kind == Kind::Plain;
        let is_unsynced = self.unsynced.has(operation.offset, operation.offset + operation.length);
        (is_host_read && !is_unsynced).then(|| self.without(operation))
    }

    fn counters(&self) -> RedundancyCounters {
        self.counters
    }

    fn read_counters(&self) -> ReadCounters {
        self.around.as_ref().map_or_else(ReadCounters::default, |around| around.counters)
    }

    fn restores(&self) -> Option<&dyn Restores> {
        Some(self)
    }

    fn resyncs(&mut self) -> Option<&mut dyn Resyncs> {
        Some(self)
    }

    fn uses_cache(&mut self) -> Option<&mut dyn UsesCache> {
        Some(self)
    }
}

impl Restores for ParityPlanner {
    fn restore(&self, member: DeviceId, offset: Bytes, length: Bytes) -> Option<Transaction> {
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        let rows = self.rows_on(member, offset, length);
        Some(Transaction { rows, member: Some(member), kind: Kind::Restore, ..whole })
    }

    fn check(&self, offset: Bytes, length: Bytes, _: bool) -> Option<Transaction> {
        // Nothing is ever found wrong, since every write of a row is under its lock, so that there is nothing to repair.
        let whole = Transaction::unlocked(Operation::Read, offset, length);
        Some(Transaction { rows: self.rows_across(offset, length), kind: Kind::Check, ..whole })
    }
}

impl Resyncs for ParityPlanner {
    fn resync(&self, offset: Bytes, length: Bytes) -> Option<Transaction> {
        Some(self.resync_range(offset, length))
    }

    fn is_cut_short(&mut self, transaction: &Transaction, writes: bool) {
        // What was being restored is restored again; resync leaves what it has not written among the rows.
        if writes && !matches!(transaction.kind, Kind::Restore | Kind::Resync) {
            self.unsynced.cut_short(transaction.rows);
        }
        if transaction.kind == Kind::Resync {
            self.unsynced.forget_skip(transaction.rows);
        }
        self.unreadable.forget(transaction.rows);
        self.counted.forget(transaction.rows);
    }

    fn is_lost(&mut self, member: DeviceId, offset: Bytes, length: Bytes) {
        let rows = self.rows_on(member, offset, length);
        self.unsynced.cut_short(rows);
    }

    fn is_synced_to(&mut self, from: Option<Bytes>) {
        self.unsynced.is_synced_to(from);
    }

    fn is_unsynced_in(&mut self, chunks: (Bytes, BTreeSet<u64>)) {
        self.unsynced.is_only_in(chunks);
    }
}

impl UsesCache for ParityPlanner {
    fn plan_cached(
        &mut self,
        now: SimTime,
        transaction: &Transaction,
        view: &View<'_>,
        cache: &StripeCache,
        plan: &mut Plan,
        kept: &mut Vec<PlannedOperation>,
    ) {
        if Missing::of(transaction, view, &self.unreadable, None).is_none() {
            self.write_cached(transaction, view, cache, plan, kept);
        } else {
            self.plan(now, transaction, view, plan);
        }
    }

    fn has_pre_reads(&mut self, transaction: &Transaction, view: &View<'_>, cache: &StripeCache) -> bool {
        self.needs_pre_reads(transaction, view, cache)
    }

    fn join(&self, first: &Transaction, second: &Transaction) -> Option<Transaction> {
        self.join_writes(first, second)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "parity",
    summary: "a small write makes its parity in the way that reads least, a whole stripe reads nothing",
    source: "Linux md, raid5.c",
    keys: &no_keys,
    build: &|parameters| Some(Box::new(ParityPlanner::of(parameters)?)),
};
