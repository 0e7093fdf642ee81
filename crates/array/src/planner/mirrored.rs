//! RAID-1 and RAID-10: a write goes to every copy, a read to the copy whose member has least to do.
//!
//! Copies need no lock: all operations of a request are handed to the members at one moment, and a member keeps the order
//! of operations on one page, so all copies take concurrent writes in the same order. Partial pages go to the members as
//! they are, as they would from Linux md.
//!
//! Source: Linux md, drivers/md/raid1.c (`read_balance`) and raid10.c. Leaves out: distance between reads, write-mostly
//! members, and the write-intent bitmap.

use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, SimTime};

use super::{Plan, PlannedOperation, Planner, Transaction, View, flush};
use crate::layout::{Layout, Mirrored};

/// Plans RAID-1 and RAID-10.
#[derive(Debug, Clone)]
pub struct MirroredPlanner {
    whole: Layout,
    layout: Mirrored,
    /// By member: bytes of the plan being made.
    planned: Vec<Bytes>,
}

impl MirroredPlanner {
    /// For the copies of `layout`, which is `whole`.
    pub fn new(whole: &Layout, layout: Mirrored) -> Self {
        MirroredPlanner { whole: whole.clone(), layout, planned: vec![0; usize::from(whole.members())] }
    }

    /// Plans a logical range.
    fn range(
        layout: &Mirrored,
        planned: &mut [Bytes],
        operation: Operation,
        (offset, length): (Bytes, Bytes),
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        layout.split(offset, length, |places, length| {
            let mut push = |&(device, offset): &(DeviceId, Bytes)| {
                plan.push(PlannedOperation::data(device, operation, offset, length));
            };
            match operation {
                Operation::Read => {
                    let to_do = |member: usize| view.outstanding[member] + planned[member];
                    if let Some(place) = places.iter().min_by_key(|(device, _)| to_do(device.index())) {
                        planned[place.0.index()] += length;
                        push(place);
                    }
                }
                _ => places.iter().for_each(&mut push),
            }
        });
    }
}

impl Planner for MirroredPlanner {
    fn split(&mut self, request: &HostRequest, into: &mut Vec<Transaction>) {
        let whole = Transaction::unlocked(request.operation, request.offset, request.length);
        into.push(Transaction { member: request.member, ..whole });
    }

    fn plan(&mut self, _: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let Transaction { operation, offset, length, member, .. } = *transaction;
        match member {
            _ if operation == Operation::Flush => flush(self.whole.members(), plan),
            None => Self::range(&self.layout, &mut self.planned, operation, (offset, length), view, plan),
            Some(member) => self.whole.pinned(member, offset, length, |offset, length| {
                Self::range(&self.layout, &mut self.planned, operation, (offset, length), view, plan);
            }),
        }
        plan.operations().iter().for_each(|operation| self.planned[operation.device.index()] = 0);
    }

    fn is_flat(&self) -> bool {
        true
    }
}
