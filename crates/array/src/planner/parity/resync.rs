//! Going through rows after a loss of power: everything is read, and parity is written for rows that were cut short.
//!
//! A page that cannot be read is read again; md would rebuild it from parity that may not agree. What is
//! missing cannot be compared: once it is rebuilt, all is gone through again. (md goes on in a RAID-6 that has lost one.)

use harmonia_types::{Bytes, Operation, ParityPages, Phase};

use super::ParityPlanner;
use crate::planner::{Kind, Plan, PlannedOperation, Transaction, View, join};

impl ParityPlanner {
    /// A transaction that goes through a range of the members.
    pub(super) fn resync_range(&self, offset: Bytes, length: Bytes) -> Transaction {
        let whole = Transaction::unlocked(Operation::Write, offset, length);
        Transaction { rows: self.rows_across(offset, length), kind: Kind::Resync, ..whole }
    }

    /// Plans it.
    #[cold]
    pub(super) fn resync(&mut self, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        if !view.health.is_whole() {
            return self.unsynced.skip(transaction.rows);
        }
        self.read_all(transaction, view, plan);
        plan.barrier();
        let mut last = vec![u32::MAX; usize::from(self.whole.members())];
        for row in self.unsynced.rows_in(transaction.rows) {
            self.parity_of_row(row).for_each(|write| join(&mut last, write, plan));
        }
    }

    /// The rows of a transaction of a resync were gone through.
    pub(super) fn is_resynced(&mut self, transaction: &Transaction) {
        if transaction.operation == Operation::Write {
            self.unsynced.are_written(transaction.rows);
        }
    }

    /// Writes of the parity of a row.
    fn parity_of_row(&self, row: u64) -> impl Iterator<Item = PlannedOperation> + use<> {
        let (offset, length) = (row * self.row, self.row);
        let stripe = offset / self.unit;
        let members = [Some(self.layout.p_member(stripe)), self.layout.q_member(stripe)];
        members.into_iter().flatten().map(move |member| PlannedOperation {
            phase: Phase::Reconstruct,
            parity: ParityPages::ALL,
            ..PlannedOperation::data(member, Operation::Write, offset, length)
        })
    }
}
