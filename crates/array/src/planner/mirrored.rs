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
}

impl MirroredPlanner {
    /// For the copies of `layout`, which is `whole`.
    pub fn new(whole: &Layout, layout: Mirrored) -> Self {
        MirroredPlanner { whole: whole.clone(), layout }
    }

    /// Plans a logical range.
    fn range(
        &self,
        operation: Operation,
        (offset, length): (Bytes, Bytes),
        view: &View<'_>,
        plan: &mut Plan,
    ) {
        self.layout.split(offset, length, |places, length| {
            let mut push = |&(device, offset): &(DeviceId, Bytes)| {
                plan.push(PlannedOperation::data(device, operation, offset, length));
            };
            match operation {
                Operation::Read => {
                    let idlest = places.iter().min_by_key(|(device, _)| view.outstanding[device.index()]);
                    idlest.into_iter().for_each(push);
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
            None => self.range(operation, (offset, length), view, plan),
            Some(member) => self.whole.pinned(member, offset, length, |offset, length| {
                self.range(operation, (offset, length), view, plan);
            }),
        }
    }

    fn is_flat(&self) -> bool {
        true
    }
}
