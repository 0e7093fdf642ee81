//! RAID-0: each member gets the one contiguous range that the stripe maps to it; all start at once.

use harmonia_types::{HostRequest, Operation, SimTime};

use super::{Plan, PlannedOperation, Planner, Transaction, View, flush};
use crate::layout::Striped;

/// Plans RAID-0.
#[derive(Debug, Clone)]
pub struct StripedPlanner {
    layout: Striped,
}

impl StripedPlanner {
    /// For a stripe that may leave out a member.
    pub fn new(layout: Striped) -> Self {
        StripedPlanner { layout }
    }
}

impl Planner for StripedPlanner {
    #[inline]
    fn split(&mut self, request: &HostRequest, into: &mut Vec<Transaction>) {
        let whole = Transaction::unlocked(request.operation, request.offset, request.length);
        into.push(Transaction { member: request.member, ..whole });
    }

    #[inline]
    fn plan(&mut self, _: SimTime, transaction: &Transaction, _: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, offset, length, member, .. } = *transaction;
        match member {
            Some(device) => plan.push(PlannedOperation::data(device, operation, offset, length)),
            None if operation == Operation::Flush => flush(self.layout.members(), plan),
            None => self.layout.split(offset, length, |device, offset, length| {
                plan.push(PlannedOperation::data(device, operation, offset, length));
            }),
        }
    }

    fn is_flat(&self) -> bool {
        true
    }
}
