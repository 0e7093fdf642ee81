//! Transactions under way, and the chain of blame through them.
//!
//! Which states a transaction passes through, and whose work it can be, is in `states`; how it begins and goes from step to step in
//! `planning`; what is done about refusals in `refusals`.
//!
//! A step ends with the operation that finishes last (ties: the lowest); its chain is what the next step has behind it.
//! An operation is *behind* a request if the host does not wait for it ([`PlannedOperation::behind`]). The request is acknowledged
//! when all others are done; the rows stay held until those behind it are done, too.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, DeviceId, GcWait, Phase, PlacementHandle, RequestBlame, SimTime};

use super::Array;
use super::log::UNLOGGED;
use super::messages::Message;
use super::payload::{Owner, Payload};
use super::states::{Progress, Purpose, State};
use super::tokens::{NONE, Node, Parent};
use super::trails::NO_TRAIL;
use crate::planner::{PlannedOperation, Rows, Transaction};

/// The operations up to one that finished, and where their time went.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chain {
    pub finish: SimTime,
    pub index: u32,
    /// Its steps, where the request is followed.
    pub trail: u32,
    pub blame: RequestBlame,
    pub gc_wait: Option<GcWait>,
}

/// A transaction that has begun.
#[derive(Debug, Clone)]
pub(super) struct Running {
    /// Whose work it is. A request that is complete may be forgotten: it is named here only as long as it waits.
    pub purpose: Purpose,
    pub state: State,
    pub spec: Transaction,
    /// On its rows; `NONE` if it holds none.
    pub ticket: u32,
    /// Operations of the current step that are not done.
    pub pending: u32,
    /// Operations of all steps that the host waits for and that are not done.
    pub awaited: u32,
    /// First operation of the steps that have not begun.
    pub later: u32,
    pub operations: u32,
    /// Members may refuse some of its operations.
    pub may_be_refused: bool,
    /// Its number among those acknowledged with operations under way; 0 if it is not one of them.
    pub unsettled: u64,
    /// It will be planned anew when its operations under way are done, holding these rows if it holds none.
    pub replan: Option<Rows>,
    /// Its entry in the log.
    pub log: u64,
    /// The write-intent bitmap counts it among those who write.
    pub is_marked: bool,
    /// Up to the beginning of the current step.
    pub before: Chain,
    /// Up to the operation of the current step that finished last so far.
    pub end: Chain,
    /// The same, of the operations that the host waits for. `None` as long as it waits for all of them.
    pub front: Option<Box<Chain>>,
}

impl Running {
    pub fn new(purpose: Purpose, spec: Transaction, before: Chain) -> Self {
        Running {
            purpose,
            state: State::Admitted,
            spec,
            ticket: NONE,
            pending: 0,
            awaited: 0,
            later: NONE,
            operations: 0,
            may_be_refused: false,
            unsettled: 0,
            replan: None,
            log: UNLOGGED,
            is_marked: false,
            before,
            end: Chain { index: u32::MAX, ..before },
            front: None,
        }
    }

    /// Up to the operation that the host waits for and that finished last so far.
    #[inline]
    pub fn host_chain(&self) -> &Chain {
        self.front.as_deref().unwrap_or(&self.end)
    }

    /// So many operations, and of these so many that the host waits for, take the place of one; it did wait for that one if
    /// `was_awaited`. The index of the first of them.
    pub fn is_patched(&mut self, (count, awaited): (u32, u32), was_awaited: bool) -> u32 {
        let first = self.operations;
        self.pending = self.pending + count - 1;
        self.awaited = self.awaited + awaited - u32::from(was_awaited);
        self.operations += count;
        if awaited < count {
            // So far the host waited for everything.
            self.front.get_or_insert_with(|| Box::new(self.end));
        }
        first
    }

    /// Whether something follows when its operations under way are done, but for giving back its rows.
    #[inline]
    pub fn has_sequel(&self) -> bool {
        self.later != NONE || self.may_be_refused
    }
}

impl Chain {
    /// Nothing, up to this moment.
    pub fn from(now: SimTime) -> Chain {
        Chain { finish: now, ..Chain::default() }
    }

    /// This chain and one more operation.
    #[inline]
    pub fn and(&self, index: u32, finish: SimTime, device: DeviceId, phase: Phase, blame: &Blame) -> Chain {
        let mut chain = *self;
        chain.add(index, finish, device, phase, blame);
        chain
    }

    #[inline]
    fn add(&mut self, index: u32, finish: SimTime, device: DeviceId, phase: Phase, blame: &Blame) {
        (self.index, self.finish) = (index, finish);
        self.blame.charge(phase, blame);
        if blame.queue_gc > self.gc_wait.map_or(0, |wait| wait.ns) {
            self.gc_wait = Some(GcWait { member: device, ns: blame.queue_gc });
        }
    }

    /// Of its own wait for garbage collection and this one the longer is told; of equal ones its own.
    pub fn tells_longer(&mut self, wait: Option<GcWait>) {
        if wait.map(|wait| wait.ns) > self.gc_wait.map(|wait| wait.ns) {
            self.gc_wait = wait;
        }
    }

    /// This chain as that of operation `index`.
    pub fn at(self, index: u32) -> Chain {
        Chain { index, ..self }
    }

    /// Whether it ends after `other`; at equal times the lower operation counts as the later one.
    fn is_after(&self, other: &Chain) -> bool {
        self.finish > other.finish || (self.finish == other.finish && self.index < other.index)
    }
}

/// An operation in the first step of a plan.
pub(super) fn in_step(parent: Parent, index: u32, operation: PlannedOperation) -> Node {
    let (next, before) = (NONE, NONE);
    Node {
        parent,
        progress: Progress::Begun,
        index,
        operation,
        role: operation.device,
        slot: operation.device.0,
        is_twin: false,
        next,
        begins_step: false,
        is_promised: false,
        couples: false,
        refused: 0,
        change: 0,
        before,
    }
}

/// The number by which a device knows the placement handle of a request: what its trace says, else that of its stream or volume. 0 is that
/// of the array's own work.
#[inline]
pub(super) fn known_as(handle: Option<PlacementHandle>, volume: u16) -> u16 {
    handle.map_or(volume.saturating_add(1), PlacementHandle::of_drive)
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Transactions under way, waiting ones included.
    pub fn transactions_under_way(&self) -> usize {
        self.transactions.live()
    }

    /// Whether a transaction holds or waits for a row.
    pub fn is_row_busy(&self, row: u64) -> bool {
        self.locks.is_busy(row)
    }

    /// Lets every transaction go at once, whatever rows others hold: contents are then wrong, which is what tests want
    /// to see.
    pub fn without_row_locks(&mut self) {
        self.locks_rows = false;
    }

    /// Begins to write back what is parked: one operation, yet to be submitted, that may be refused.
    pub(super) fn begin_destage(&mut self, spec: Transaction, now: SimTime) -> u32 {
        let handle = self.transactions.insert(Running {
            may_be_refused: true,
            pending: 1,
            awaited: 1,
            operations: 1,
            ..Running::new(Purpose::Destage, spec, Chain::from(now))
        });
        self.transactions[handle].state.begin_step();
        handle
    }

    /// Takes note of an operation that needs nothing more.
    pub(super) fn operation_is_done(&mut self, node: &Node, is_parity: bool, finish: SimTime, blame: &Blame) {
        let operation = &node.operation;
        let phase = if is_parity && operation.phase == Phase::Data { Phase::Parity } else { operation.phase };
        let trail =
            if self.trails.is_some() { self.trail_with(node, finish, phase, blame) } else { NO_TRAIL };
        let Running { before, end, front, .. } = &mut self.transactions[node.transaction()];
        let before = if node.before == NONE { &*before } else { self.nodes.before(node.before) };
        // A chain is long: it is written where it is kept, and only if it is later than what is there.
        let follow = |chain: &mut Chain| {
            if finish > chain.finish || (finish == chain.finish && node.index < chain.index) {
                *chain = *before;
                chain.add(node.index, finish, operation.device, phase, blame);
                chain.trail = trail;
            }
        };
        front.as_deref_mut().filter(|_| !operation.behind).into_iter().for_each(follow);
        follow(end);
        if node.before != NONE {
            self.nodes.take_before(node.before);
        }
        self.count_down(node);
    }

    /// An operation needs nothing more; `chain` leads up to its end.
    pub(super) fn settle(&mut self, node: &Node, chain: &Chain) {
        let running = &mut self.transactions[node.transaction()];
        let front = running.front.as_deref_mut();
        if let Some(front) = front.filter(|front| !node.operation.behind && chain.is_after(front)) {
            *front = *chain;
        }
        if chain.is_after(&running.end) {
            running.end = *chain;
        }
        self.count_down(node);
    }

    /// One operation less is to be waited for.
    #[inline]
    fn count_down(&mut self, node: &Node) {
        let handle = node.transaction();
        let running = &mut self.transactions[handle];
        running.pending -= 1;
        let is_last = running.pending == 0;
        if !node.operation.behind {
            running.awaited -= 1;
            if running.awaited == 0 && running.replan.is_none() {
                self.host_is_served(handle);
            }
        }
        if is_last {
            self.step_is_done(handle);
        }
    }

    /// The host does not wait for anything that takes the place of an operation, but it did wait for the refusal.
    pub(super) fn host_is_refused(&mut self, handle: u32, refused: Chain) {
        let running = &mut self.transactions[handle];
        if let Some(front) = running.front.as_deref_mut().filter(|front| refused.is_after(front)) {
            *front = refused;
        }
        if running.awaited == 0 && running.replan.is_none() {
            self.host_is_served(handle);
        }
    }

    /// All that the host waits for is done.
    pub(super) fn host_is_served(&mut self, handle: u32) {
        let running = &mut self.transactions[handle];
        let purpose = running.purpose;
        running.purpose = purpose.answered();
        let (request, position) = match purpose {
            Purpose::Request { request, position } => (request, position),
            Purpose::Race { read } => {
                let chain = *running.host_chain();
                let won = Message::Won(read, self.chains.insert(chain));
                return self.agenda.push(chain.finish.max(self.latest), won);
            }
            _ => return,
        };
        let is_over = running.pending == 0 && running.later == NONE;
        if !is_over {
            self.acknowledged += 1;
            running.unsettled = self.acknowledged;
            self.unsettled.insert(self.acknowledged);
        }
        if self.cache.is_some() && self.acknowledge_merged(handle) {
            return;
        }
        let running = &self.transactions[handle];
        if self.requests[request].is_acknowledged(position, running.host_chain()) {
            self.complete(request);
        }
    }

    /// The current step is done: the next one begins when its last operation finishes.
    pub(super) fn step_is_done(&mut self, handle: u32) {
        let running = &mut self.transactions[handle];
        let at = running.end.finish;
        if running.later != NONE || running.replan.is_some() {
            running.state.end_step();
            self.agenda.push(at, Message::NextStep(handle));
            return;
        }
        running.state.finish();
        if running.ticket != NONE || running.unsettled != 0 || running.purpose.is_own() {
            self.agenda.push(at, Message::End(handle));
        } else {
            // It holds nothing that anybody could wait for.
            self.forget(handle, at);
        }
    }

    /// A transaction is done.
    pub(super) fn forget(&mut self, handle: u32, now: SimTime) {
        let running = &self.transactions[handle];
        running.state.end();
        if running.purpose != Purpose::Destage && !running.purpose.is_bookkeeping() {
            self.planner.done(now, &running.spec);
        }
        if self.payload.is_active() {
            // Its request may be complete and forgotten by now.
            self.payload.ends(Owner { handle, transaction: &running.spec, request: None });
        }
        let (log, spec, is_marked) = (running.log, running.spec, running.is_marked);
        self.transactions.release(handle);
        if is_marked {
            self.has_written(&spec, now);
        }
        if log != UNLOGGED {
            self.give_back_log(log, now);
        }
    }
}
