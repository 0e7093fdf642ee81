//! Host requests: completed when the last of their transactions is acknowledged. How they begin is in `arrivals`.

use harmonia_ssd::SubCompletion;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, Completion, GcWait, HostRequest, Operation, Phase, RequestBlame, SimTime};

use super::Array;
use super::messages::Message;
use super::payload::Payload;
use super::tokens::{NONE, Node};
use super::trails::NO_TRAIL;
use super::transactions::Chain;
use crate::layout::Layout;
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
        if self.tidying.is_some() {
            self.may_tidy(finish);
        }
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

    /// An operation that belongs to its request directly is lost with its member, in an array that was built without faults. Of a
    /// write to a mirror other copies are left; a read that is under way is not tried again.
    #[cold]
    pub(super) fn loses_direct(&mut self, request: u32, node: &Node, at: SimTime, blame: &Blame) {
        let Node { operation, .. } = *node;
        let is_copy = operation.operation != Operation::Read && !matches!(self.layout, Layout::Striped(_));
        if let Some(failures) = self.failures.as_deref_mut().filter(|_| !is_copy) {
            let range = (operation.offset, operation.length);
            failures.refused.count_pages(operation.operation, range, self.page_size);
        }
        let (token, blame) = (0, *blame);
        self.direct_is_done(
            request,
            node,
            &SubCompletion { token, finish: at, blame, met_gc: false, is_parity: false },
        );
    }
}
