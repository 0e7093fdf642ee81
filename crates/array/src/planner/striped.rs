//! RAID-0: each member gets the one contiguous range that the stripe maps to it; all start at once.

use harmonia_types::{HostRequest, Operation, SimTime};

use super::{
    Answer, Dodge, Plan, PlannedOperation, Planner, Refusal, Transaction, View, flush, waits_or_parks,
};
use crate::layout::Striped;

/// Plans RAID-0.
#[derive(Debug, Clone)]
pub struct StripedPlanner {
    layout: Striped,
    dodge: Dodge,
}

impl StripedPlanner {
    /// For a stripe that may leave out a member.
    pub fn new(layout: Striped) -> Self {
        StripedPlanner { layout, dodge: Dodge::default() }
    }

    /// With writes that may be parked; there is nothing that reads could do.
    #[must_use]
    pub fn dodging(self, dodge: Dodge) -> Self {
        StripedPlanner { dodge, ..self }
    }
}

impl Planner for StripedPlanner {
    #[inline]
    fn split(&mut self, request: &HostRequest, _: &View<'_>, into: &mut Vec<Transaction>) {
        let whole = Transaction::unlocked(request.operation, request.offset, request.length);
        into.push(Transaction { member: request.member, ..whole });
    }

    #[inline]
    fn plan(&mut self, _: SimTime, transaction: &Transaction, _: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, offset, length, member, .. } = *transaction;
        let fast_fail = self.dodge.parks && operation == Operation::Write;
        let mut push = |device, offset, length| {
            let data = PlannedOperation::data(device, operation, offset, length);
            plan.push(PlannedOperation { fast_fail, ..data });
        };
        match member {
            Some(device) => push(device, offset, length),
            None if operation == Operation::Flush => flush(self.layout.members(), plan),
            None => self.layout.split(offset, length, push),
        }
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
        waits_or_parks(&self.dodge, operation, refusal, patch)
    }

    fn is_flat(&self) -> bool {
        !self.dodge.parks
    }
}
