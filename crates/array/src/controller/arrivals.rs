//! How requests begin: they are cut into transactions, or handed to their members as they are. How they end is in `requests`.

use harmonia_ssd::probe::Probe;
use harmonia_types::{HostRequest, Operation, SimTime};

use super::payload::Payload;
use super::requests::{RequestState, whole};
use super::tokens::Parent;
use super::transactions::in_step;
use super::{Array, ArrayFailure};
use crate::planner::Transaction;

/// A flush that waits for what went on behind requests acknowledged before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingFlush {
    /// Everything acknowledged up to this number must be done.
    up_to: u64,
    request: u32,
    transaction: Transaction,
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Begins to work on a request that has arrived, now or before power was lost.
    pub(super) fn take_up(&mut self, request: HostRequest, now: SimTime) -> Result<(), ArrayFailure> {
        if self.is_flat {
            return self.submit_flat(request, now);
        }
        let mut split = std::mem::take(&mut self.split);
        split.clear();
        let look = self.members.look(self.nvram.as_deref(), now);
        let view = self.members.view(&look);
        self.planner.split(&request, &view, &mut split);
        if let Some(log) = &self.log {
            log.cut(&mut split);
        }
        let handle = self.requests.insert(RequestState::new(request, split.len(), now));
        if split.is_empty() {
            self.complete(handle);
        }
        let mut result = Ok(());
        for (position, &transaction) in split.iter().enumerate() {
            if request.operation == Operation::Flush && !self.unsettled.is_empty() {
                self.flushes.push(WaitingFlush { up_to: self.acknowledged, request: handle, transaction });
                continue;
            }
            self.begin(transaction, handle, position as u32, now);
            result = self.carry_out(now);
            if result.is_err() {
                break;
            }
        }
        self.split = split;
        result
    }

    /// A request that is one transaction of one step, which no member refuses, needs no transaction.
    fn submit_flat(&mut self, request: HostRequest, now: SimTime) -> Result<(), ArrayFailure> {
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        let look = self.members.look(self.nvram.as_deref(), now);
        let view = self.members.view(&look);
        self.planner.plan(now, &whole(&request), &view, &mut plan);
        let request = self.requests.insert(RequestState::new(request, plan.operations().len(), now));
        if plan.operations().is_empty() {
            self.complete(request);
        }
        let mut result = Ok(());
        for (index, &operation) in (0..).zip(plan.operations()) {
            let node = self.nodes.insert(in_step(Parent::Request(request), index, operation));
            result = self.hand_in(node, now);
            if result.is_err() {
                break;
            }
        }
        self.plan = plan;
        result
    }

    /// Lets flushes go for which everything is done now.
    #[cold]
    pub(super) fn let_flushes_go(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let least = self.unsettled.first().copied().unwrap_or(u64::MAX);
        let due: Vec<WaitingFlush> = self.flushes.extract_if(.., |flush| flush.up_to < least).collect();
        for flush in due {
            self.begin(flush.transaction, flush.request, 0, now);
            self.carry_out(now)?;
        }
        Ok(())
    }
}
