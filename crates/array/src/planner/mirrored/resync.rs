//! Going through copies after a loss of power.
//!
//! As md does it: RAID-1 reads one copy of everything and writes the others. RAID-10 reads all copies and writes those that
//! differ, which can only be those of pages that were being written. The first copy that a member holds is the one to go by. A
//! copy that cannot be read is written like one that differs.
//!
//! Source: Linux md, drivers/md/raid1.c (`raid1_sync_request`) and raid10.c (`raid10_sync_request`, `sync_request_write`).

use harmonia_types::{Bytes, DeviceId, Operation, Phase};

use super::MirroredPlanner;
use crate::layout::Level;
use crate::planner::missing::Missing;
use crate::planner::{Kind, Plan, PlannedOperation, Rows, Transaction, View, join};

impl MirroredPlanner {
    /// A transaction that goes through the pages whose first copies lie in a range of the members.
    pub(super) fn resync_range(&self, offset: Bytes, length: Bytes) -> Option<Transaction> {
        let rows = self.rows_around(|visit| {
            self.first_copies(offset, length, &mut |logical, _, length| visit(logical, length));
        })?;
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        Some(Transaction { rows, kind: Kind::Resync, ..whole })
    }

    /// Plans it.
    pub(super) fn resync(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        let compares = self.whole.level() != Level::Raid1;
        let missing = Missing::of(transaction, view, &self.unreadable, None);
        let new = || vec![u32::MAX; self.planned.len()];
        let of = |operation, &(member, offset): &(DeviceId, Bytes), length| PlannedOperation {
            phase: Phase::Reconstruct,
            ..PlannedOperation::data(member, operation, offset, length)
        };
        let (mut last, mut writes) = (new(), Vec::new());
        self.first_copies(transaction.offset, transaction.length, &mut |logical, places, length| {
            let is_there = |place: &&(DeviceId, Bytes)| !missing.has(place.0, place.1, place.1 + length);
            let Some(first) = places.iter().find(is_there) else { return };
            let others = places.iter().filter(|&place| place != first);
            let others = others.filter(|place| view.health.takes_writes(place.0));
            join(&mut last, of(Operation::Read, first, length), plan);
            if !compares {
                return writes.extend(others.map(|place| of(Operation::Write, place, length)));
            }
            for place in others {
                if is_there(&place) {
                    join(&mut last, of(Operation::Read, place, length), plan);
                }
                let differs = |at: &Bytes| self.is_in_doubt(logical + at) || !is_there(&place);
                let pages = (0..length).step_by(self.page as usize).filter(differs);
                writes
                    .extend(pages.map(|at| {
                        of(Operation::Write, &(place.0, place.1 + at), self.page.min(length - at))
                    }));
            }
        });
        plan.barrier();
        let mut last = new();
        writes.into_iter().for_each(|write| join(&mut last, write, plan));
    }

    /// The pages of a transaction were gone through.
    pub(super) fn is_resynced(&mut self, transaction: &Transaction) {
        if transaction.kind == Kind::Resync {
            let mut pages = Vec::new();
            self.first_copies(transaction.offset, transaction.length, &mut |logical, _, length| {
                let first = logical / self.page;
                pages.push(Rows { first, count: (logical + length).div_ceil(self.page) - first });
            });
            pages.into_iter().for_each(|rows| self.unsynced.are_written(rows));
        }
    }

    /// Whether the copies of the page at a logical byte need not agree.
    fn is_in_doubt(&self, logical: Bytes) -> bool {
        self.unsynced.rows_in(Rows { first: logical / self.page, count: 1 }).next().is_some()
    }
}
