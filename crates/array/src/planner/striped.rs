//! RAID-0: each member gets the one contiguous range that the stripe maps to it; all start at once.
//!
//! Where writes may be parked or members fail, writes and discards hold their pages, so that NVRAM and member are changed in
//! one order.
//!
//! What a failed member held is lost, and a replacement holds what has been written since: pages that cannot be read or written are
//! counted, and the request completes.
//!
//! Source: Linux md, drivers/md/raid0.c.

use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, SimTime};

use super::{
    Answer, Build, Dodge, LossCounters, Plan, PlannedOperation, Planner, Refusal, Rows, Transaction, View,
    waits_or_parks,
};
use crate::layout::{Layout, Striped};

/// Plans RAID-0.
#[derive(Debug, Clone)]
pub struct StripedPlanner {
    layout: Striped,
    page: Bytes,
    dodge: Dodge,
    losses: LossCounters,
}

impl StripedPlanner {
    /// For a stripe that may leave out a member.
    pub fn new(layout: Striped) -> Self {
        StripedPlanner { page: 1, layout, dodge: Dodge::default(), losses: LossCounters::default() }
    }

    /// With writes that may be parked, on members with pages of `page` bytes; there is nothing that reads could do.
    #[must_use]
    pub fn dodging(self, page: Bytes, dodge: Dodge) -> Self {
        StripedPlanner { page, dodge, ..self }
    }

    /// Counts what a member could not read or take.
    fn lose(&mut self, operation: &PlannedOperation) {
        let PlannedOperation { offset, length, .. } = *operation;
        let pages = (offset + length).div_ceil(self.page) - offset / self.page;
        match operation.operation {
            Operation::Read => self.losses.unread_pages += pages,
            Operation::Write => self.losses.unwritten_pages += pages,
            Operation::Trim | Operation::Flush => {}
        }
    }
}

/// Calls `give(member, offset on it, length)` for each operation that a request becomes.
#[inline]
pub(crate) fn deal(
    stripe: &Striped,
    operation: Operation,
    (offset, length): (Bytes, Bytes),
    member: Option<DeviceId>,
    mut give: impl FnMut(DeviceId, Bytes, Bytes),
) {
    match member {
        Some(device) => give(device, offset, length),
        None if operation == Operation::Flush => {
            (0..stripe.members()).for_each(|device| give(DeviceId(device), 0, 0));
        }
        None => stripe.split(offset, length, give),
    }
}

impl Planner for StripedPlanner {
    #[inline]
    fn split(&mut self, request: &HostRequest, _: &View<'_>, into: &mut Vec<Transaction>) {
        let HostRequest { operation, offset, length, member, .. } = *request;
        let whole = Transaction { member, ..Transaction::unlocked(operation, offset, length) };
        if !(self.dodge.parks || self.dodge.may_fail)
            || !matches!(operation, Operation::Write | Operation::Trim)
        {
            return into.push(whole);
        }
        let page = self.page;
        let mut piece = |device: DeviceId, offset: Bytes, length: Bytes| {
            // Each page lies in one place, so that place is its row.
            let first = offset / page;
            let rows = Rows {
                first: u64::from(device.0) << 40 | first,
                count: (offset + length).div_ceil(page) - first,
            };
            into.push(Transaction { rows, offset, length, member: Some(device), ..whole });
        };
        match member {
            Some(device) => piece(device, offset, length),
            None => self.layout.split(offset, length, piece),
        }
    }

    #[inline]
    fn plan(&mut self, _: SimTime, transaction: &Transaction, _: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, offset, length, member, .. } = *transaction;
        let fast_fail = self.dodge.parks && operation == Operation::Write;
        deal(&self.layout, operation, (offset, length), member, |device, offset, length| {
            let data = PlannedOperation::data(device, operation, offset, length);
            plan.push(PlannedOperation { fast_fail, ..data });
        });
    }

    fn on_refused(
        &mut self,
        _: SimTime,
        _: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        _: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        if matches!(refusal, Refusal::Failed | Refusal::Unreadable) {
            self.lose(operation);
        }
        waits_or_parks(&self.dodge, operation, refusal, patch)
    }

    fn loss_counters(&self) -> LossCounters {
        self.losses
    }

    fn is_flat(&self) -> bool {
        !(self.dodge.parks || self.dodge.may_fail)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "striped",
    summary: "each member gets the one contiguous range that the stripe maps to it",
    source: "Linux md, raid0.c",
    keys: &no_keys,
    build: &|parameters| {
        let Layout::Striped(layout) = parameters.layout else { return None };
        Some(Box::new(StripedPlanner::new(layout.clone()).dodging(parameters.page, parameters.dodge)))
    },
};
