//! Host requests: cut into transactions, completed when the last of them is acknowledged.

use harmonia_ssd::SubCompletion;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Completion, GcWait, HostRequest, Operation, Phase, RequestBlame, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::tokens::{NONE, Node, Parent};
use super::trails::NO_TRAIL;
use super::transactions::{Chain, in_step};
use super::{Array, ArrayFailure};
use crate::coordination::Event;
use crate::planner::Transaction;

/// A host request some of whose transactions are not acknowledged.
#[derive(Debug, Clone)]
pub(super) struct RequestState {
    pub request: HostRequest,
    /// Transactions that are not acknowledged; of a flat plan, operations that are not done.
    pub remaining: u32,
    finish: SimTime,
    /// Which of them finished last so far; ties go to the lowest.
    last: u32,
    blame: RequestBlame,
    gc_wait: Option<GcWait>,
    /// Of that one, where the request is followed.
    trail: u32,
    pub met_gc: bool,
    /// From its arrival until it was submitted for the last time, in nanoseconds.
    pub restart: u64,
}

/// A flush that waits for what went on behind requests acknowledged before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingFlush {
    /// Everything acknowledged up to this number must be done.
    up_to: u64,
    request: u32,
    transaction: Transaction,
}

impl RequestState {
    pub(super) fn new(request: HostRequest, parts: usize, now: SimTime) -> Self {
        let restart = (now - request.arrival).0;
        RequestState {
            request,
            remaining: parts as u32,
            finish: now,
            last: u32::MAX,
            blame: RequestBlame { restart, ..RequestBlame::default() },
            gc_wait: None,
            trail: NO_TRAIL,
            met_gc: false,
            restart,
        }
    }

    /// A transaction of it is as far as the request waits for it. Whether that was the last one.
    #[inline]
    pub(super) fn is_acknowledged(&mut self, position: u32, chain: &Chain) -> bool {
        if chain.finish > self.finish || (chain.finish == self.finish && position < self.last) {
            self.finish = chain.finish;
            self.last = position;
            self.blame = chain.blame;
            self.gc_wait = chain.gc_wait;
            self.trail = chain.trail;
        }
        self.remaining -= 1;
        self.remaining == 0
    }
}

/// A request as one transaction that holds no rows.
#[inline]
pub(super) fn whole(request: &HostRequest) -> Transaction {
    let whole = Transaction::unlocked(request.operation, request.offset, request.length);
    Transaction { member: request.member, ..whole }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Hands a host request to the array at its arrival. Everything due at or before that must have been advanced.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    pub fn submit(&mut self, request: HostRequest) -> Result<(), ArrayFailure> {
        debug_assert!(self.ahead.is_none(), "members run ahead: requests come by `submit_ahead`");
        self.start();
        let now = request.arrival;
        self.latest = self.latest.max(now);
        if let Some(trails) = &mut self.trails {
            trails.arrives(request.id);
        }
        if self.failures.is_some() {
            self.count_request(now)?;
        }
        if self.interests.arrivals {
            self.consult(now, &Event::Arrival(request));
        }
        if self.payload.is_active() {
            self.payload.arrives(&request);
        }
        if self.failures.is_some() && self.holds_until_restart(&request, now) {
            return Ok(());
        }
        self.take_up(request, now)
    }

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
            result = self.begin(transaction, handle, position as u32, now);
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
            result = self.submit_node(node, now);
            if result.is_err() {
                break;
            }
        }
        self.plan = plan;
        result
    }

    /// A member is done with an operation that belongs to its request directly.
    #[inline]
    pub(super) fn direct_is_done(&mut self, request: u32, node: &Node, done: &SubCompletion) {
        let trail = match self.trails.is_some() {
            true => self.trail_with(node, done.finish, Phase::Data, &done.blame),
            false => NO_TRAIL,
        };
        let (depth_wait, window_wait) = match node.before {
            NONE => (0, 0),
            before => {
                let RequestBlame { depth_wait, window_wait, .. } = self.nodes.take_before(before).blame;
                (depth_wait, window_wait)
            }
        };
        let state = &mut self.requests[request];
        state.met_gc |= done.met_gc;
        if done.finish > state.finish || (done.finish == state.finish && node.index < state.last) {
            state.finish = done.finish;
            state.last = node.index;
            state.blame.data = done.blame;
            (state.blame.depth_wait, state.blame.window_wait) = (depth_wait, window_wait);
            state.trail = trail;
            let (member, ns) = (node.operation.device, done.blame.queue_gc);
            state.gc_wait = (ns > 0).then_some(GcWait { member, ns });
        }
        state.remaining -= 1;
        if state.remaining == 0 {
            self.complete(request);
        }
    }

    /// Lets flushes go for which everything is done now.
    #[cold]
    pub(super) fn let_flushes_go(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let least = self.unsettled.first().copied().unwrap_or(u64::MAX);
        let due: Vec<WaitingFlush> = self.flushes.extract_if(.., |flush| flush.up_to < least).collect();
        for flush in due {
            self.begin(flush.transaction, flush.request, 0, now)?;
        }
        Ok(())
    }

    /// A wait for a member goes by that member, and one for the journal by its number among all devices: spares come first.
    #[inline]
    fn with_name(&self, wait: GcWait) -> GcWait {
        let slot = wait.member.index();
        if slot < self.members.delivered.len() {
            wait
        } else {
            GcWait { member: self.members.number_of(slot), ..wait }
        }
    }

    pub(super) fn complete(&mut self, handle: u32) {
        let state = &self.requests[handle];
        let HostRequest { id, operation, offset, length, arrival, .. } = state.request;
        let finish = state.finish;
        debug_assert_eq!(state.blame.total(), (finish - arrival).0, "blame sums to latency");
        self.completions.push(Completion {
            id,
            operation,
            offset,
            length,
            arrival,
            finish,
            blame: state.blame,
            met_gc: state.met_gc,
            gc_wait: state.gc_wait.map(|wait| self.with_name(wait)),
        });
        let trail = state.trail;
        self.requests.release(handle);
        if self.trails.is_some()
            && let Some(&completion) = self.completions.last()
        {
            self.trail_ends(&completion, trail);
        }
        if let Some(failures) = self.failures.as_deref_mut()
            && matches!(operation, Operation::Write | Operation::Trim)
        {
            failures.last_write = failures.last_write.max(Some(finish));
        }
        if self.background.is_some() && self.requests.live() == 0 {
            // The array's own work may go faster now.
            self.agenda.push(finish, Message::Background);
        }
        self.may_tidy(finish);
        if (self.payload.is_active() || self.interests.completions)
            && let Some(&completion) = self.completions.last()
        {
            if self.payload.is_active() {
                self.payload.completes(&completion);
            }
            if self.interests.completions {
                let told = self.told.insert(completion);
                self.agenda.push(finish, Message::Completed(told));
            }
        }
    }
}
