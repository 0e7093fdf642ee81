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
//! Source: Linux md, drivers/md/raid1.c (`read_balance`) and raid10.c. Leaves out: distance between reads, write-mostly
//! members, and the write-intent bitmap.

use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, Phase, SimDuration, SimTime};

use super::{
    Answer, Dodge, Plan, PlannedOperation, Planner, ReadCounters, Refusal, Rows, Transaction, View, flush,
    waits_or_parks,
};
use crate::layout::{Layout, Mirrored};

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
}

/// The tag of a read of what a member holds from its other copies.
const OTHER_COPY: u64 = 1;

impl MirroredPlanner {
    /// For the copies of `layout`, which is `whole`.
    pub fn new(whole: &Layout, layout: Mirrored) -> Self {
        let planned = vec![0; usize::from(whole.members())];
        let (dodge, counters) = (Dodge::default(), ReadCounters::default());
        MirroredPlanner { whole: whole.clone(), page: whole.page_size(), layout, dodge, counters, planned }
    }

    /// With a rule for members that collect.
    #[must_use]
    pub fn dodging(self, dodge: Dodge) -> Self {
        MirroredPlanner { dodge, ..self }
    }

    /// Plans a logical range; `except` is a member whose copies are not read.
    fn range(
        &mut self,
        operation: Operation,
        (offset, length): (Bytes, Bytes),
        except: Option<DeviceId>,
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        let MirroredPlanner { layout, planned, dodge, counters, page, .. } = self;
        let avoids = dodge.avoid().is_some();
        let phase = if except.is_some() { Phase::Reconstruct } else { Phase::Data };
        let fast_fail = match operation {
            Operation::Read => avoids && except.is_none(),
            Operation::Write => dodge.parks,
            Operation::Trim | Operation::Flush => false,
        };
        layout.split(offset, length, |places, length| {
            let mut push = |&(device, offset): &(DeviceId, Bytes)| {
                let data = PlannedOperation::data(device, operation, offset, length);
                plan.push(PlannedOperation { fast_fail, phase, ..data });
            };
            match operation {
                Operation::Read => {
                    let to_do = |member: usize| view.outstanding[member] + planned[member];
                    let left = |&(device, offset): &(DeviceId, Bytes)| {
                        if avoids { view.left(device, offset, length) } else { None }
                    };
                    let places = places.iter().filter(|place| Some(place.0) != except);
                    let best = places.clone().min_by_key(|place| (left(place), to_do(place.0.index())));
                    if let Some(place) = best {
                        planned[place.0.index()] += length;
                        if avoids {
                            let pages = length.div_ceil(*page);
                            let collecting = places.filter(|place| left(place).is_some()).count();
                            counters.rows_busy[collecting.min(3)] += pages;
                            counters.waited_pages += if left(place).is_some() { pages } else { 0 };
                        }
                        push(place);
                    }
                }
                _ => places.iter().for_each(&mut push),
            }
        });
    }

    /// Plans the data that lies on a range of a member.
    fn pinned(&mut self, transaction: &Transaction, member: DeviceId, view: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, offset, length, tag, .. } = *transaction;
        let except = (tag == OTHER_COPY).then_some(member);
        let whole = self.whole.clone();
        whole.pinned(member, offset, length, |offset, length| {
            self.range(operation, (offset, length), except, view, plan);
        });
    }

    /// Whether any copy of what a read wants can be had sooner than after `left`.
    fn is_elsewhere(&self, operation: &PlannedOperation, left: SimDuration, view: &View<'_>) -> bool {
        let mut is_sooner = true;
        self.whole.pinned(operation.device, operation.offset, operation.length, |offset, length| {
            self.layout.split(offset, length, |places, length| {
                let others = places.iter().filter(|place| place.0 != operation.device);
                let waits = others.map(|place| view.left(place.0, place.1, length).unwrap_or_default());
                is_sooner &= waits.min().is_some_and(|wait| wait < left);
            });
        });
        is_sooner
    }

    /// The same read from other copies.
    fn other_copies(operation: &PlannedOperation) -> Transaction {
        let whole = Transaction::unlocked(Operation::Read, operation.offset, operation.length);
        Transaction { member: Some(operation.device), tag: OTHER_COPY, ..whole }
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
        let Transaction { operation, offset, length, member, .. } = *transaction;
        match member {
            _ if operation == Operation::Flush => flush(self.whole.members(), plan),
            None => self.range(operation, (offset, length), None, view, plan),
            Some(member) => self.pinned(transaction, member, view, plan),
        }
        plan.operations().iter().for_each(|operation| self.planned[operation.device.index()] = 0);
    }

    fn on_refused(
        &mut self,
        _: SimTime,
        _: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        let left = match refusal {
            Refusal::Busy(left) => left.max(SimDuration(1)),
            Refusal::Reserved => SimDuration(u64::MAX),
            Refusal::Failed | Refusal::Unreadable => return Answer::Patch,
        };
        if operation.operation == Operation::Read && self.is_elsewhere(operation, left, view) {
            self.counters.rebuilt_pages += operation.length.div_ceil(self.page);
            return Answer::Instead(Self::other_copies(operation));
        }
        if operation.operation == Operation::Read {
            self.counters.waited_pages += operation.length.div_ceil(self.page);
        }
        waits_or_parks(&self.dodge, operation, refusal, patch)
    }

    fn hedge(&mut self, _: &Transaction, operation: &PlannedOperation) -> Option<Transaction> {
        (operation.phase == Phase::Data).then(|| Self::other_copies(operation))
    }

    fn read_counters(&self) -> ReadCounters {
        self.counters
    }

    fn is_flat(&self) -> bool {
        self.dodge.is_idle()
    }
}
