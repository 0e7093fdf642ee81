//! RAID-1 and RAID-10: a write goes to every copy, a read to the copy whose member has least to do.
//!
//! Copies need no lock: all operations of a request are handed to the members at one moment, and a member keeps the order
//! of operations on one page, so all copies take concurrent writes in the same order. Partial pages go to the members as
//! they are, as they would from Linux md.
//!
//! Where reads avoid members, a copy on a member that collects is read only if no other copy can be had sooner. A read that
//! is refused later goes to another copy. Where writes may be parked, so is the copy on a member that collects. A parked copy
//! and one on a member are changed at different times, so writes and discards then hold their pages.
//!
//! Where members may fail, copies that are missing are left out: those on failed members, and on replacements above what is built.
//! Writes go to replacements all the same. A read that a failed member had, or a page that a member cannot read, is read from another
//! copy, and never again from that one. Where no copy is left, nothing is read and the pages are counted. A hedge against the only
//! copy that is left reads that copy again.
//!
//! Rebuilding reads one other copy of what a member holds, from one member as long as that has it, and writes it. It holds all
//! logical pages from the lowest to the highest of the range, so copies that lie scattered keep more waiting than they need. A
//! page without another copy is not written; one that turns out to have none while the step reads is written as zeros. Scrubbing
//! reads all copies of the pages whose first copy lies in its range.
//!
//! After a loss of power: `resync`. If a member has then lost writes that it had answered, copies differ of what nobody writes again.
//! Until they are gone through all reads go by the first copy that is held, which is the one that resync goes by.
//!
//! Source: Linux md, drivers/md/raid1.c (`read_balance`, `raid1_should_read_first`) and raid10.c. Leaves out: distance between reads,
//! write-mostly members, and that md reads the first copy of what is not resynced yet whether or not members have lost anything.

mod resync;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, Phase, ReadCounters, SimDuration, SimTime};

use super::missing::{Missing, Unreadable};
use super::resync::Unsynced;
use super::{
    Answer, Build, Dodge, Kind, LossCounters, Plan, PlannedOperation, Planner, Refusal, Restores, Resyncs,
    Rows, Tag, Transaction, View, flush, join, waits_or_parks,
};
use crate::layout::{Layout, Mirrored};
use crate::member::Access;

/// Plans RAID-1 and RAID-10.
#[derive(Debug, Clone)]
pub struct MirroredPlanner {
    whole: Layout,
    layout: Mirrored,
    page: Bytes,
    dodge: Dodge,
    counters: ReadCounters,
    /// By member: bytes of the plan being made.
    planned: Vec<Bytes>,
    losses: LossCounters,
    unreadable: Unreadable,
    unsynced: Unsynced,
    /// By member: its last operation in the step.
    last: Vec<u32>,
}

/// Who is called with pieces: `visit(logical offset, places of the copies, length)`.
type Pieces<'a> = dyn FnMut(Bytes, &[(DeviceId, Bytes)], Bytes) + 'a;

/// The bit of a copy that cannot be read. The tag of a read has one for each.
const fn gone(copy: usize) -> u64 {
    1 << copy
}

impl MirroredPlanner {
    /// For the copies of `layout`, which is `whole`.
    pub fn new(whole: &Layout, layout: Mirrored) -> Self {
        let planned = vec![0; usize::from(whole.members())];
        let (dodge, counters) = (Dodge::default(), ReadCounters::default());
        MirroredPlanner {
            whole: whole.clone(),
            page: whole.page_size(),
            layout,
            dodge,
            counters,
            planned,
            losses: LossCounters::default(),
            unreadable: Unreadable::default(),
            unsynced: Unsynced::default(),
            last: Vec::new(),
        }
    }

    /// With a rule for members that collect.
    #[must_use]
    pub fn dodging(self, dodge: Dodge) -> Self {
        MirroredPlanner { dodge, ..self }
    }

    /// Plans a logical range of a transaction; `except` is a member whose copies are not read.
    fn range(
        &mut self,
        transaction: &Transaction,
        (offset, length): (Bytes, Bytes),
        except: Option<DeviceId>,
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        if view.health.is_whole() && transaction.tag == Tag::default() {
            self.range_of::<true>(transaction, (offset, length), except, view, plan);
        } else {
            self.range_of::<false>(transaction, (offset, length), except, view, plan);
        }
    }

    /// The same; `IS_WHOLE` says that all copies can be read, so that nothing has to be asked.
    #[inline]
    fn range_of<const IS_WHOLE: bool>(
        &mut self,
        transaction: &Transaction,
        (offset, length): (Bytes, Bytes),
        except: Option<DeviceId>,
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        let unreadable = transaction.tag.read(self);
        let MirroredPlanner { layout, planned, dodge, counters, page, losses, unsynced, .. } = self;
        let operation = transaction.operation;
        let avoids = dodge.avoid().is_some();
        let phase = if except.is_some() { Phase::Reconstruct } else { Phase::Data };
        let fast_fail = match operation {
            Operation::Read => avoids && except.is_none(),
            Operation::Write => dodge.parks,
            Operation::Trim | Operation::Flush => false,
        };
        layout.split(offset, length, |places, length| {
            // Copies that may differ: all reads go by one.
            let is_doubted = unsynced.has_lost && unsynced.has(places[0].1, places[0].1 + length);
            let fast_fail = fast_fail && !(is_doubted && operation == Operation::Read);
            let mut push = |&(device, offset): &(DeviceId, Bytes), length| {
                let data = PlannedOperation::data(device, operation, offset, length);
                plan.push(PlannedOperation { fast_fail, phase, ..data });
            };
            match operation {
                Operation::Read => {
                    let left = |&(device, offset): &(DeviceId, Bytes), length| {
                        if avoids { view.left(device, offset, length) } else { None }
                    };
                    let is_held = |copy: usize, &(device, offset): &(DeviceId, Bytes), length| {
                        let is_readable = || unreadable & gone(copy) == 0;
                        IS_WHOLE || (is_readable() && view.health.holds(device, offset + length))
                    };
                    let mut copies = places.iter().enumerate();
                    let has_copy = IS_WHOLE || copies.any(|(copy, place)| is_held(copy, place, length));
                    parts(has_copy, places[0].1, length, *page, |at, length| {
                        let to_do = |member: usize| view.outstanding[member] + planned[member];
                        let places = places.iter().map(|&(device, offset)| (device, offset + at)).enumerate();
                        let places = places.filter(|(copy, place)| is_held(*copy, place, length));
                        let mut held = places.map(|(_, place)| place);
                        let places = held.clone().filter(|place| Some(place.0) != except);
                        // Or a read that two reserved members have refused would go from one to the other for ever, though a third is open.
                        let refuses =
                            |member| except.is_some() && view.health.access(member) == Access::Reserved;
                        let key = |place: &(DeviceId, Bytes)| {
                            (refuses(place.0), left(place, length), to_do(place.0.index()))
                        };
                        let best = places.clone().min_by_key(key);
                        let best = if is_doubted { held.clone().next() } else { best };
                        // A race against the only copy that is left is no race.
                        let best = best.or_else(|| held.find(|place| Some(place.0) == except));
                        let Some(place) = best else {
                            losses.unread_pages += length.div_ceil(*page);
                            return;
                        };
                        // Pages that a second copy cannot bring either have been counted.
                        if !IS_WHOLE && unreadable.count_ones() == 1 {
                            losses.rebuilt_pages += length.div_ceil(*page);
                        }
                        if avoids {
                            let pages = length.div_ceil(*page);
                            let collecting = places.filter(|place| left(place, length).is_some()).count();
                            counters.rows_by_busy_members[collecting.min(3)] += pages;
                            counters.waited_pages += if left(&place, length).is_some() { pages } else { 0 };
                        }
                        planned[place.0.index()] += length;
                        push(&place, length);
                    });
                }
                _ => {
                    let takes_writes =
                        |place: &&(DeviceId, Bytes)| IS_WHOLE || view.health.takes_writes(place.0);
                    let taken = places.iter().filter(takes_writes);
                    if operation == Operation::Write && taken.clone().next().is_none() {
                        losses.unwritten_pages += length.div_ceil(*page);
                    }
                    taken.for_each(|place| push(place, length));
                }
            }
        });
    }

    /// Plans the data that lies on a range of a member.
    fn pinned(&mut self, transaction: &Transaction, member: DeviceId, view: &View<'_>, plan: &mut Plan) {
        let Transaction { offset, length, kind, .. } = *transaction;
        let except = (kind == Kind::Around).then_some(member);
        let whole = self.whole.clone();
        whole.pinned(member, offset, length, |offset, length| {
            self.range(transaction, (offset, length), except, view, plan);
        });
    }

    /// Whether any copy of what a read wants can be had sooner than after `left`; bits say which cannot be read.
    fn is_elsewhere(
        &self,
        unreadable: u64,
        operation: &PlannedOperation,
        left: SimDuration,
        view: &View<'_>,
    ) -> bool {
        let mut is_sooner = true;
        self.pieces(operation.device, operation.offset, operation.length, &mut |_, places, length| {
            let others = places.iter().enumerate().filter(|&(copy, place)| {
                place.0 != operation.device
                    && unreadable & gone(copy) == 0
                    && view.health.holds(place.0, place.1 + length)
            });
            let waits = others.map(|(_, place)| view.left(place.0, place.1, length).unwrap_or_default());
            is_sooner &= waits.min().is_some_and(|wait| wait < left);
        });
        is_sooner
    }

    /// Whether an operation reads what other copies may have differently, since members have lost writes.
    fn is_doubted(&self, operation: &PlannedOperation) -> bool {
        let PlannedOperation { device, offset, length, .. } = *operation;
        let mut is_doubted = false;
        if self.unsynced.has_lost {
            self.pieces(device, offset, length, &mut |_, places, length| {
                is_doubted |= self.unsynced.has(places[0].1, places[0].1 + length);
            });
        }
        is_doubted
    }

    /// The same read from other copies; bits say which cannot be read.
    fn other_copies(unreadable: u64, operation: &PlannedOperation) -> Transaction {
        let whole = Transaction::unlocked(Operation::Read, operation.offset, operation.length);
        let (kind, tag) = (Kind::Around, Tag::of(unreadable));
        Transaction { member: Some(operation.device), kind, tag, ..whole }
    }

    /// Which copy of its page a member holds at an offset.
    fn copy_at(&self, member: DeviceId, offset: Bytes) -> usize {
        let mut found = 0;
        self.pieces(member, offset, 1, &mut |_, places, _| {
            found = places.iter().position(|&place| place == (member, offset)).unwrap_or(0);
        });
        found
    }

    /// The logical pages that lie between the first and the last of some pieces.
    fn rows_around(&self, pieces: impl FnOnce(&mut dyn FnMut(Bytes, Bytes))) -> Option<Rows> {
        let mut span: Option<(Bytes, Bytes)> = None;
        pieces(&mut |offset, length| {
            let (first, end) = span.unwrap_or((offset, offset + length));
            span = Some((first.min(offset), end.max(offset + length)));
        });
        let (first, end) = (span?.0 / self.page, span?.1.div_ceil(self.page));
        Some(Rows { first, count: end - first })
    }

    /// Calls `visit(logical offset, places, length)` for every piece of a range of the data that lies on a member.
    fn pieces(&self, member: DeviceId, offset: Bytes, length: Bytes, visit: &mut Pieces<'_>) {
        self.whole.pinned(member, offset, length, |logical, length| {
            self.layout.split(logical, length, |places, length| visit(logical, places, length));
        });
    }

    /// The same for every piece whose first copy lies in a range of the members, one member after the other.
    fn first_copies(&self, offset: Bytes, length: Bytes, visit: &mut Pieces<'_>) {
        for member in (0..self.whole.members()).map(DeviceId) {
            let length = length.min(self.held(member).saturating_sub(offset));
            self.pieces(member, offset, length, &mut |logical, places, length| {
                if places[0].0 == member {
                    visit(logical, places, length);
                }
            });
        }
    }

    /// Bytes of data on a member; the last copies of an array may leave a bit of some free.
    fn held(&self, member: DeviceId) -> Bytes {
        self.whole.pinned_bytes(member)
    }

    /// Reads another copy of a range of the member that a transaction restores, as far as there are any, and calls `visit` with
    /// every part of it: whether there is another copy.
    fn read_copies(
        &mut self,
        transaction: &Transaction,
        (offset, length): (Bytes, Bytes),
        view: &View<'_>,
        plan: &mut Plan,
        visit: &mut dyn FnMut(Bytes, Bytes, bool),
    ) {
        let MirroredPlanner { whole, layout, planned, last, unreadable, unsynced, page, .. } = self;
        let Some(target) = transaction.member else { return };
        let missing = Missing::of(transaction, view, unreadable, transaction.member);
        last.clear();
        last.resize(planned.len(), u32::MAX);
        let (mut before, mut from) = (None, offset);
        whole.pinned(target, offset, length, |logical, length| {
            layout.split(logical, length, |places, length| {
                let is_there = |&(member, offset): &(DeviceId, Bytes), length| {
                    !missing.has(member, offset, offset + length)
                };
                let has_copy = places.iter().any(|place| is_there(place, length));
                let first = places[0].1;
                parts(has_copy, first, length, *page, |at, length| {
                    let to_do = |member: usize| view.outstanding[member] + planned[member];
                    let places = places.iter().map(|&(member, offset)| (member, offset + at));
                    let mut places = places.filter(|place| is_there(place, length));
                    // As long as copies need not agree, reads go by the first, and so does what is restored.
                    let best = if unsynced.has_lost && unsynced.has(first + at, first + at + length) {
                        places.next()
                    } else {
                        places.min_by_key(|place| (Some(place.0) != before, to_do(place.0.index())))
                    };
                    visit(from, length, best.is_some());
                    from += length;
                    let Some((member, offset)) = best else { return };
                    before = Some(member);
                    planned[member.index()] += length;
                    let data = PlannedOperation::data(member, Operation::Read, offset, length);
                    join(last, PlannedOperation { phase: Phase::Reconstruct, ..data }, plan);
                });
            });
        });
    }

    /// Plans to write what a member is to hold, from other copies.
    fn restore_range(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { offset, length, member: Some(target), .. } = *transaction else { return };
        if !view.health.takes_writes(target) {
            return;
        }
        let (mut lost, mut built) = (0, Vec::<(Bytes, Bytes)>::new());
        let page = self.page;
        self.read_copies(transaction, (offset, length), view, plan, &mut |at, length, is_there| match built
            .last_mut()
            .filter(|last| is_there && last.0 + last.1 == at)
        {
            Some(last) => last.1 += length,
            None if is_there => built.push((at, length)),
            None => lost += length.div_ceil(page),
        });
        self.losses.lost_pages += lost;
        plan.barrier();
        for (offset, length) in built {
            let data = PlannedOperation::data(target, Operation::Write, offset, length);
            plan.push(PlannedOperation { phase: Phase::Reconstruct, ..data });
        }
    }

    /// Plans to read all copies.
    fn read_all(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let mut last = std::mem::take(&mut self.last);
        last.clear();
        last.resize(self.planned.len(), u32::MAX);
        self.first_copies(transaction.offset, transaction.length, &mut |_, places, length| {
            for &(member, offset) in places {
                if view.health.holds(member, offset + length) {
                    let data = PlannedOperation::data(member, Operation::Read, offset, length);
                    join(&mut last, PlannedOperation { phase: Phase::Reconstruct, ..data }, plan);
                }
            }
        });
        self.last = last;
    }

    /// A member has failed, or cannot read a page: another copy is read.
    fn on_missing(
        &mut self,
        transaction: &Transaction,
        operation: &PlannedOperation,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        let PlannedOperation { device, offset, length, .. } = *operation;
        match (operation.operation, transaction.kind) {
            (Operation::Read, Kind::Check) => {}
            (Operation::Read, Kind::Resync) => {
                self.unreadable.note(transaction.rows, operation);
                return Answer::Replan(transaction.rows);
            }
            (Operation::Read, Kind::Restore) => {
                self.unreadable.note(transaction.rows, operation);
                return self.read_another_copy(transaction, operation, view, patch);
            }
            (Operation::Read, _) => {
                let unreadable = transaction.tag.read(self) | gone(self.copy_at(device, offset));
                return Answer::Instead(Self::other_copies(unreadable, operation));
            }
            (Operation::Write, kind) if !matches!(kind, Kind::Restore | Kind::Resync) => {
                let mut lost = 0;
                self.pieces(device, offset, length, &mut |_, places, length| {
                    let is_taken = places.iter().any(|place| view.health.takes_writes(place.0));
                    lost += if is_taken { 0 } else { length.div_ceil(self.page) };
                });
                self.losses.unwritten_pages += lost;
            }
            _ => {}
        }
        Answer::Patch
    }

    /// What a read for rebuilding was to bring is read from other copies.
    fn read_another_copy(
        &mut self,
        transaction: &Transaction,
        operation: &PlannedOperation,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        // Where on the member that is built lies what was to be read?
        let Some(target) = transaction.member else { return Answer::Patch };
        let mut ranges = Vec::new();
        self.pieces(operation.device, operation.offset, operation.length, &mut |_, places, length| {
            let place = places.iter().find(|place| place.0 == target);
            ranges.extend(place.map(|place| (place.1, length)));
        });
        let (mut lost, page) = (0, self.page);
        for range in ranges {
            self.read_copies(transaction, range, view, patch, &mut |_, length, is_there| {
                lost += if is_there { 0 } else { length.div_ceil(page) };
            });
        }
        self.losses.lost_pages += lost;
        patch.operations().iter().for_each(|operation| self.planned[operation.device.index()] = 0);
        Answer::Patch
    }
}

/// Calls `visit(places of the copies, length)` for each piece of what a request wants.
#[inline]
pub(crate) fn deal(
    whole: &Layout,
    layout: &Mirrored,
    (offset, length): (Bytes, Bytes),
    member: Option<DeviceId>,
    mut visit: impl FnMut(&[(DeviceId, Bytes)], Bytes),
) {
    match member {
        Some(member) => {
            whole.pinned(member, offset, length, |offset, length| layout.split(offset, length, &mut visit));
        }
        None => layout.split(offset, length, visit),
    }
}

/// Calls `visit(bytes before it, length)` for a piece as a whole, or page by page if no member has all of it.
#[inline]
fn parts(is_whole: bool, offset: Bytes, length: Bytes, page: Bytes, mut visit: impl FnMut(Bytes, Bytes)) {
    if is_whole {
        return visit(0, length);
    }
    let mut at = 0;
    while at < length {
        let part = (page - (offset + at) % page).min(length - at);
        visit(at, part);
        at += part;
    }
}

impl Planner for MirroredPlanner {
    fn split(&mut self, request: &HostRequest, _: &View<'_>, into: &mut Vec<Transaction>) {
        let HostRequest { operation, offset, length, member, .. } = *request;
        let whole = Transaction { member, ..Transaction::unlocked(operation, offset, length) };
        if !(self.dodge.parks || self.dodge.may_fail)
            || !matches!(operation, Operation::Write | Operation::Trim)
        {
            return into.push(whole);
        }
        let page = self.page;
        let mut piece = |offset: Bytes, length: Bytes| {
            let first = offset / page;
            let rows = Rows { first, count: (offset + length).div_ceil(page) - first };
            into.push(Transaction { rows, offset, length, member: None, ..whole });
        };
        match member {
            Some(member) => self.whole.pinned(member, offset, length, piece),
            None => piece(offset, length),
        }
    }

    fn plan(&mut self, _: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, offset, length, member, kind, .. } = *transaction;
        match member {
            _ if operation == Operation::Flush => flush(self.whole.members(), plan),
            _ if kind == Kind::Restore => self.restore_range(transaction, view, plan),
            None if kind == Kind::Resync => self.resync(transaction, view, plan),
            None if kind == Kind::Check => self.read_all(transaction, view, plan),
            None => self.range(transaction, (offset, length), None, view, plan),
            Some(member) => self.pinned(transaction, member, view, plan),
        }
        plan.operations().iter().for_each(|operation| self.planned[operation.device.index()] = 0);
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
        let unreadable = transaction.tag.read(self);
        let left = match refusal {
            Refusal::Busy(left) => left.max(SimDuration(1)),
            Refusal::Reserved => SimDuration(u64::MAX),
            Refusal::Failed | Refusal::Unreadable => {
                return self.on_missing(transaction, operation, view, patch);
            }
        };
        if matches!(transaction.kind, Kind::Restore | Kind::Check | Kind::Resync) {
            return Answer::Wait;
        }
        if operation.operation == Operation::Read
            && !self.is_doubted(operation)
            && self.is_elsewhere(unreadable, operation, left, view)
        {
            self.counters.rebuilt_pages += operation.length.div_ceil(self.page);
            return Answer::Instead(Self::other_copies(unreadable, operation));
        }
        if operation.operation == Operation::Read {
            self.counters.waited_pages += operation.length.div_ceil(self.page);
        }
        waits_or_parks(&self.dodge, operation, refusal, patch)
    }

    fn hedge(&mut self, _: &Transaction, operation: &PlannedOperation) -> Option<Transaction> {
        let may_race = operation.phase == Phase::Data && !self.is_doubted(operation);
        may_race.then(|| Self::other_copies(0, operation))
    }

    fn done(&mut self, _: SimTime, transaction: &Transaction) {
        self.is_resynced(transaction);
        self.unreadable.forget(transaction.rows);
    }

    fn restores(&self) -> Option<&dyn Restores> {
        Some(self)
    }

    fn resyncs(&mut self) -> Option<&mut dyn Resyncs> {
        Some(self)
    }

    fn resynced_rows(&self) -> u64 {
        self.unsynced.written()
    }

    fn loss_counters(&self) -> LossCounters {
        self.losses
    }

    fn read_counters(&self) -> ReadCounters {
        self.counters
    }

    fn is_flat(&self) -> bool {
        self.dodge.is_idle()
    }
}

impl Restores for MirroredPlanner {
    fn restore(&self, member: DeviceId, offset: Bytes, length: Bytes) -> Option<Transaction> {
        let length = length.min(self.held(member).saturating_sub(offset));
        let rows = self.rows_around(|visit| self.whole.pinned(member, offset, length, visit))?;
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        Some(Transaction { rows, member: Some(member), kind: Kind::Restore, ..whole })
    }

    fn check(&self, offset: Bytes, length: Bytes, _: bool) -> Option<Transaction> {
        // Nothing is ever found wrong, since every write of a page is under its lock, so that there is nothing to repair.
        let rows = self.rows_around(|visit| {
            self.first_copies(offset, length, &mut |logical, _, length| visit(logical, length));
        })?;
        let whole = Transaction::unlocked(Operation::Read, offset, length);
        Some(Transaction { rows, kind: Kind::Check, ..whole })
    }
}

impl Resyncs for MirroredPlanner {
    fn resync(&self, offset: Bytes, length: Bytes) -> Option<Transaction> {
        self.resync_range(offset, length)
    }

    fn is_cut_short(&mut self, transaction: &Transaction, writes: bool) {
        if writes && !matches!(transaction.kind, Kind::Restore | Kind::Resync) {
            self.unsynced.cut_short(transaction.rows);
        }
        self.unreadable.forget(transaction.rows);
    }

    fn is_lost(&mut self, member: DeviceId, offset: Bytes, length: Bytes) {
        let MirroredPlanner { whole, unsynced, page, .. } = self;
        let length = length.min(whole.pinned_bytes(member).saturating_sub(offset));
        unsynced.has_lost = true;
        whole.pinned(member, offset, length, |logical, length| {
            let first = logical / *page;
            unsynced.cut_short(Rows { first, count: (logical + length).div_ceil(*page) - first });
        });
    }

    fn is_synced_to(&mut self, from: Option<Bytes>) {
        self.unsynced.is_synced_to(from);
    }

    fn is_unsynced_in(&mut self, chunks: (Bytes, BTreeSet<u64>)) {
        self.unsynced.is_only_in(chunks);
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "mirrored",
    summary: "a write goes to every copy, a read to the copy whose member has least to do",
    source: "Linux md, raid1.c and raid10.c",
    keys: &no_keys,
    build: &|parameters| {
        let Layout::Mirrored(mirrored) = parameters.layout else { return None };
        let planner = MirroredPlanner::new(parameters.layout, mirrored.clone());
        Some(Box::new(planner.dodging(parameters.dodge)))
    },
};
