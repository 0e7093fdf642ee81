//! Transactions under way: locked, planned, step by step, answered when refused, and the chain of blame through them.
//!
//! ```text
//! begin ─► rows free? ─► plan ─► step ─► barrier ─► step ─► ... ─► end: rows go to whoever waits
//!             │ no: waits          │ refused: patch in this step, or a new plan
//! ```
//!
//! Which states that passes through, and whose work it can be, is in `states`.
//!
//! A step ends with the operation that finishes last (ties: the lowest); its chain is what the next step has behind it.
//! The host's request is acknowledged when all operations but those behind its back are done; the rows stay held until
//! those are done too.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, DeviceId, GcWait, Operation, Phase, RequestBlame, SimTime};

use super::gate::Gate;
use super::log::UNLOGGED;
use super::messages::Message;
use super::payload::{Owner, Payload};
use super::requests::whole;
use super::states::{Progress, Purpose, State};
use super::tokens::{NONE, Node, Parent};
use super::trails::NO_TRAIL;
use super::{Array, ArrayFailure};
use crate::planner::{Answer, Plan, PlannedOperation, Refusal, Rows, Transaction};

/// The operations up to one that finished, and where their time went.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Chain {
    pub finish: SimTime,
    index: u32,
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
    may_be_refused: bool,
    /// Its number among those acknowledged with operations under way; 0 if it is not one of them.
    unsettled: u64,
    /// It will be planned anew when its operations under way are done, holding these rows if it holds none.
    replan: Option<Rows>,
    /// Its entry in the log.
    pub log: u64,
    /// The write-intent bitmap counts it among those who write.
    pub is_marked: bool,
    /// Up to the beginning of the current step.
    pub before: Chain,
    /// Up to the operation of the current step that finished last so far.
    pub end: Chain,
    /// The same for operations the host waits for, where they are not all; only then is there something behind its back.
    front: Option<Box<Chain>>,
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

/// The handle that a stream or volume has at a device.
#[inline]
pub(super) fn handle(volume: u16) -> u16 {
    volume.saturating_add(1)
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Begins work that belongs to no request.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    pub fn submit_background(&mut self, now: SimTime, transaction: Transaction) -> Result<(), ArrayFailure> {
        self.start();
        self.begin_own(Purpose::Unawaited, transaction, now)
    }

    /// Begins work that no request waits for.
    pub(super) fn begin_own(
        &mut self,
        purpose: Purpose,
        spec: Transaction,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        self.begin_after(Running::new(purpose, spec, Chain::from(now)), now)
    }

    /// Begins to write blocks of the bitmap.
    pub(super) fn write_marks(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        self.begin_own(Purpose::Marks, Transaction::unlocked(Operation::Write, 0, 0), now)
    }

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

    /// Begins a transaction of a request: planned at once if it holds no rows or gets them, otherwise when it gets them.
    pub(super) fn begin(
        &mut self,
        spec: Transaction,
        request: u32,
        position: u32,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        let mut before = Chain::from(now);
        let state = &self.requests[request];
        before.blame.restart = state.restart;
        // A flush that had to wait did so for writes of other requests.
        before.blame.data.queue_host = (now - state.request.arrival).0 - state.restart;
        if self.trails.is_some() {
            before.trail = self.trail_to(request, now);
        }
        self.begin_after(Running::new(Purpose::Request { request, position }, spec, before), now)
    }

    /// Begins a transaction.
    pub(super) fn begin_after(&mut self, running: Running, now: SimTime) -> Result<(), ArrayFailure> {
        let rows = running.spec.rows;
        let request = running.purpose.request();
        let handle = self.transactions.insert(running);
        if let Some(trails) = &mut self.trails {
            trails.begins(handle, request.map(|request| self.requests[request].request.id));
        }
        if self.take_rows(handle, rows) {
            return self.admit(handle, now);
        }
        if self.cache.is_some() { self.wait_in_line(handle, now) } else { Ok(()) }
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

    /// Takes rows for a transaction that has none. `false` if it has to wait for them.
    fn take_rows(&mut self, handle: u32, rows: Rows) -> bool {
        if rows.count == 0 || !self.locks_rows {
            return true;
        }
        let (ticket, gate) = self.locks.take(rows, handle);
        let is_held = gate == Gate::Goes;
        let running = &mut self.transactions[handle];
        running.ticket = ticket;
        if !is_held {
            running.state.line_up();
        }
        self.row_waits += u64::from(!is_held);
        self.waiting += u32::from(!is_held);
        is_held
    }

    /// Plans a transaction that holds its rows and begins its first step.
    pub(super) fn plan(&mut self, handle: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        let running = &self.transactions[handle];
        let (spec, mut index) = (running.spec, running.operations);
        if running.purpose.is_own() || self.cache.is_some() {
            self.plan_own_or_cached(handle, now, &mut plan);
        } else {
            let look = self.members.look(self.nvram.as_deref(), now);
            let view = self.members.view(&look);
            self.planner.plan(now, &spec, &view, &mut plan);
        }
        let is_logged_first = self.log.is_some() && self.log_first(handle, &mut plan);
        let mut steps = plan.steps();
        let first = if is_logged_first { &[][..] } else { steps.next().unwrap_or_default() };
        let first_index = index;
        index += first.len() as u32;
        let mut last = NONE;
        for step in steps {
            for (place, &operation) in step.iter().enumerate() {
                let (begins_step, is_promised) = (place == 0, self.promise(operation.device));
                let first = in_step(Parent::Transaction(handle), index, operation);
                let later = Node { begins_step, is_promised, progress: Progress::Planned, ..first };
                let node = self.nodes.insert(later);
                match std::mem::replace(&mut last, node) {
                    NONE => self.transactions[handle].later = node,
                    before => self.nodes.get_mut(before).next = node,
                }
                index += 1;
            }
        }
        let behind = plan.operations().iter().filter(|operation| operation.behind).count();
        let may_be_refused = self.members.health.refuses()
            || plan.operations().iter().any(|operation| self.reserved.may_refuse(operation));
        let running = &mut self.transactions[handle];
        running.operations = index;
        running.pending = first.len() as u32;
        running.awaited = (plan.operations().len() - behind) as u32;
        running.may_be_refused = may_be_refused;
        running.end = Chain { index: u32::MAX, ..running.before };
        let has_behind = behind > 0 || running.front.is_some();
        running.front = has_behind.then(|| Box::new(running.end));
        let result = if is_logged_first {
            self.next_step(handle, now)
        } else if first.is_empty() {
            self.host_is_served(handle);
            self.step_is_done(handle)
        } else {
            running.state.begin_step();
            if running.awaited == 0 {
                self.host_is_served(handle);
            }
            self.submit_all(handle, first, first_index, now)
        };
        self.plan = plan;
        result
    }

    /// Plans the array's own work, or a transaction that the stripe cache may know something of.
    #[cold]
    fn plan_own_or_cached(&mut self, handle: u32, now: SimTime, plan: &mut Plan) {
        let Running { spec, purpose, .. } = self.transactions[handle];
        if purpose.is_own() && !purpose.is_bookkeeping() && spec.operation == Operation::Write {
            self.writes_itself(now);
        }
        let is_sound = self.cache.is_some() && self.is_sound();
        let look = self.members.look(self.nvram.as_deref(), now);
        let view = self.members.view(&look);
        if purpose == Purpose::Replay {
            self.plan_replay(handle, plan);
        } else if purpose == Purpose::Marks {
            self.plan_marks(plan);
        } else if self.is_copy(handle) {
            self.plan_copy(&spec, plan);
        } else if let Some(cache) =
            self.cache.as_deref_mut().filter(|cache| is_sound && cache.answers(handle, &spec))
            && let Some(planner) = self.planner.uses_cache()
        {
            planner.plan_cached(now, &spec, &view, &cache.table, plan, &mut cache.kept);
        } else {
            self.planner.plan(now, &spec, &view, plan);
        }
        if self.cache.is_some() {
            self.note_plan(handle, plan);
        }
    }

    fn submit_all(
        &mut self,
        handle: u32,
        operations: &[PlannedOperation],
        first_index: u32,
        now: SimTime,
    ) -> Result<(), ArrayFailure> {
        if self.members.are_many() {
            for operation in operations {
                self.members.devices[operation.device.index()].prefetch_for(operation.offset);
            }
        }
        for (index, &operation) in (first_index..).zip(operations) {
            let node = self.nodes.insert(in_step(Parent::Transaction(handle), index, operation));
            self.submit_node(node, now)?;
        }
        Ok(())
    }

    /// Lets the payload hear of an operation of a transaction, or of a request whose plan is flat.
    pub(super) fn tell_payload(&mut self, parent: Parent, tell: impl FnOnce(&mut C, Owner<'_>)) {
        match parent {
            Parent::Request(handle) => {
                let request = &self.requests[handle].request;
                tell(
                    &mut self.payload,
                    Owner { handle, transaction: &whole(request), request: Some(request) },
                );
            }
            Parent::Transaction(handle) => {
                let running = &self.transactions[handle];
                let request = match running.purpose {
                    // What races a read is for the read's request.
                    Purpose::Race { read } => {
                        let raced = self.nodes.place(read).map(|place| self.nodes.get(place));
                        raced.filter(|node| !node.is_outrun()).and_then(|node| self.request_of(node.parent))
                    }
                    purpose => purpose.request(),
                };
                let request = request.map(|request| &self.requests[request].request);
                tell(&mut self.payload, Owner { handle, transaction: &running.spec, request });
            }
        }
    }

    /// The request that waits for an operation.
    #[inline]
    pub(super) fn request_of(&self, parent: Parent) -> Option<u32> {
        match parent {
            Parent::Request(request) => Some(request),
            Parent::Transaction(handle) => self.transactions[handle].purpose.request(),
        }
    }

    /// Whether an operation writes back what is parked.
    #[inline]
    pub(super) fn is_destage(&self, node: &Node) -> bool {
        match node.parent {
            Parent::Request(_) => false,
            Parent::Transaction(handle) => self.transactions[handle].purpose == Purpose::Destage,
        }
    }

    /// Takes note of an operation that needs nothing more.
    pub(super) fn operation_is_done(
        &mut self,
        node: &Node,
        is_parity: bool,
        finish: SimTime,
        blame: &Blame,
    ) -> Result<(), ArrayFailure> {
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
        self.count_down(node)
    }

    /// What its transaction has behind it, and an operation that ended.
    #[inline]
    pub(super) fn chain_with(&mut self, node: &Node, finish: SimTime, phase: Phase, blame: &Blame) -> Chain {
        let trail =
            if self.trails.is_some() { self.trail_with(node, finish, phase, blame) } else { NO_TRAIL };
        let taken = (node.before != NONE).then(|| self.nodes.before(node.before));
        let before = taken.unwrap_or(&self.transactions[node.transaction()].before);
        Chain { trail, ..before.and(node.index, finish, node.operation.device, phase, blame) }
    }

    /// When an operation was first handed to its member.
    pub(super) fn begun(&self, node: &Node) -> SimTime {
        let is_later = node.before != NONE;
        if is_later {
            self.nodes.before(node.before).finish
        } else {
            match node.parent {
                Parent::Transaction(handle) => self.transactions[handle].before.finish,
                Parent::Request(request) => self.requests[request].request.arrival,
            }
        }
    }

    /// An operation needs nothing more; `chain` leads up to its end.
    pub(super) fn settle(&mut self, node: &Node, chain: &Chain) -> Result<(), ArrayFailure> {
        let running = &mut self.transactions[node.transaction()];
        let front = running.front.as_deref_mut();
        if let Some(front) = front.filter(|front| !node.operation.behind && chain.is_after(front)) {
            *front = *chain;
        }
        if chain.is_after(&running.end) {
            running.end = *chain;
        }
        self.count_down(node)
    }

    /// One operation less is to be waited for.
    #[inline]
    fn count_down(&mut self, node: &Node) -> Result<(), ArrayFailure> {
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
        if is_last { self.step_is_done(handle) } else { Ok(()) }
    }

    /// A member did not take an operation at `at`: asks the planner what to do instead, and does it.
    pub(super) fn refuse(
        &mut self,
        node: Node,
        token: u64,
        refusal: Refusal,
        at: SimTime,
        blame: &Blame,
    ) -> Result<(), ArrayFailure> {
        let mut patch = std::mem::take(&mut self.patch);
        patch.clear();
        if let Some(trails) = &mut self.trails {
            trails.answered = Some((token, true));
        }
        if self.payload.is_active() {
            self.tell_payload(node.parent, |payload, owner| {
                payload.refused(owner, &node.planned(), token);
            });
        }
        let handle = match node.parent {
            Parent::Transaction(handle) => handle,
            Parent::Request(request) => {
                self.patch = patch;
                self.loses_direct(request, &node, at, blame);
                return Ok(());
            }
        };
        let purpose = self.transactions[handle].purpose;
        if self.is_log(&node.operation) || purpose.is_bookkeeping() || self.is_flush_of_entry(&node) {
            self.patch = patch;
            if refusal == Refusal::Reserved {
                self.hold_back(&node, at, blame);
                return Ok(());
            }
            // A failed member has nothing that depends on it.
            return self.operation_is_done(&node, false, at, blame);
        }
        if purpose == Purpose::Destage {
            self.patch = patch;
            return self.destage_is_refused(&node, refusal, at, blame);
        }
        if self.cache.is_some() {
            self.forget_refused(&node, refusal);
        }
        let look = self.members.look(self.nvram.as_deref(), at);
        let view = self.members.view(&look);
        let running = &self.transactions[handle];
        let planned = node.planned();
        let answer = self.planner.on_refused(at, &running.spec, &planned, refusal, &view, &mut patch);
        let is_restored = purpose.is_own() && running.spec.operation == Operation::Write;
        if let Answer::Replan(rows) = answer {
            let replan = &mut self.transactions[handle].replan;
            // Several operations may be refused in one step: rows that one of the answers asks for stay asked for.
            *replan = replan.filter(|asked| asked.count > 0).or(Some(rows));
            patch.clear();
        }
        let result = match answer {
            Answer::Instead(transaction) => self.instead(&node, transaction, at, blame),
            Answer::Park => self.park(&node, token, refusal, at, blame),
            Answer::Wait => {
                self.hold_back(&node, at, blame);
                Ok(())
            }
            _ if patch.operations().is_empty() => self.operation_is_done(&node, false, at, blame),
            _ => self.install_patch(&node, &patch, at, blame),
        };
        self.patch = patch;
        result?;
        if refusal == Refusal::Unreadable && !is_restored {
            let PlannedOperation { device, offset, length, .. } = planned;
            return self.rewrite(device, offset, length, at);
        }
        Ok(())
    }

    /// A refused operation is tried again, and waits this time.
    pub(super) fn insist(&mut self, node: &Node, at: SimTime, blame: &Blame) -> Result<(), ArrayFailure> {
        let mut patch = std::mem::take(&mut self.patch);
        patch.clear();
        patch.push(PlannedOperation { fast_fail: false, ..node.planned() });
        let result = self.install_patch(node, &patch, at, blame);
        self.patch = patch;
        result
    }

    /// The operations of a patch take the place of a refused one in its step.
    fn install_patch(
        &mut self,
        node: &Node,
        patch: &Plan,
        at: SimTime,
        blame: &Blame,
    ) -> Result<(), ArrayFailure> {
        debug_assert_eq!(patch.steps().count(), 1, "a patch is one step");
        let phase = node.operation.phase;
        let trail = if self.trails.is_some() { self.trail_with(node, at, phase, blame) } else { NO_TRAIL };
        let taken = (node.before != NONE).then(|| self.nodes.take_before(node.before));
        let handle = node.transaction();
        let running = &mut self.transactions[handle];
        let before = taken.unwrap_or(running.before);
        let refused = before.and(node.index, at, node.operation.device, phase, blame);
        let refused = Chain { trail, ..refused };
        let count = patch.operations().len() as u32;
        let awaited = patch.operations().iter().filter(|operation| !operation.behind).count() as u32;
        let first = running.operations;
        running.pending = running.pending + count - 1;
        running.awaited = running.awaited + awaited - u32::from(!node.operation.behind);
        running.operations += count;
        if awaited < count {
            // So far the host waited for everything.
            running.front.get_or_insert_with(|| Box::new(running.end));
        }
        if awaited == 0 && !node.operation.behind {
            self.host_is_refused(handle, refused);
        }
        for (index, &operation) in (first..).zip(patch.operations()) {
            let before = self.nodes.keep_before(refused);
            let patched = self.nodes.insert(Node { before, ..in_step(node.parent, index, operation) });
            self.submit_node(patched, at)?;
        }
        Ok(())
    }

    /// The host does not wait for anything that takes the place of an operation, but it did wait for the refusal.
    fn host_is_refused(&mut self, handle: u32, refused: Chain) {
        let running = &mut self.transactions[handle];
        if let Some(front) = running.front.as_deref_mut().filter(|front| refused.is_after(front)) {
            *front = refused;
        }
        if running.awaited == 0 && running.replan.is_none() {
            self.host_is_served(handle);
        }
    }

    /// All that the host waits for is done.
    fn host_is_served(&mut self, handle: u32) {
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
    fn step_is_done(&mut self, handle: u32) -> Result<(), ArrayFailure> {
        let running = &mut self.transactions[handle];
        let at = running.end.finish;
        if running.later != NONE || running.replan.is_some() {
            running.state.end_step();
            self.agenda.push(at, Message::NextStep(handle));
            return Ok(());
        }
        running.state.finish();
        if running.ticket != NONE || running.unsettled != 0 || running.purpose.is_own() {
            self.agenda.push(at, Message::End(handle));
        } else {
            // It holds nothing that anybody could wait for.
            self.forget(handle, at);
        }
        Ok(())
    }

    /// Begins the next step of a transaction, or plans it anew.
    pub(super) fn next_step(&mut self, handle: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let running = &mut self.transactions[handle];
        running.before = running.end;
        if let Some(rows) = running.replan.take() {
            return self.plan_anew(handle, rows, now);
        }
        if self.log.is_some() && !self.may_begin_step(handle) {
            return Ok(());
        }
        let running = &mut self.transactions[handle];
        running.end.index = u32::MAX;
        let (first, mut node) = (running.later, running.later);
        let mut count = 0;
        // All of the step are counted before the first is handed over: it may be done at once.
        while node != NONE && (count == 0 || !self.nodes.get(node).begins_step) {
            count += 1;
            node = self.nodes.get(node).next;
        }
        let running = &mut self.transactions[handle];
        running.state.begin_step();
        (running.later, running.pending) = (node, count);
        // Members may have been reserved or have failed since it was planned.
        running.may_be_refused |= self.members.health.refuses();
        let mut node = first;
        for _ in 0..count {
            let begun = self.nodes.get_mut(node);
            begun.progress.begin();
            let Node { next, operation, is_promised, .. } = *begun;
            self.keep_promise(operation.device, is_promised);
            self.submit_node(node, now)?;
            if is_promised && self.is_drained(operation.device.index()) {
                self.agenda.push(now, Message::Drained(operation.device));
            }
            node = next;
        }
        if self.cache.is_some() { self.pre_reads_are_done(handle, now) } else { Ok(()) }
    }

    /// What was planned and has not begun is dropped; the transaction is planned again, holding `rows` if it holds none.
    #[cold]
    fn plan_anew(&mut self, handle: u32, rows: Rows, now: SimTime) -> Result<(), ArrayFailure> {
        let running = &mut self.transactions[handle];
        running.spec.attempt += 1;
        running.state.plan_anew();
        let mut node = std::mem::replace(&mut running.later, NONE);
        let needs_rows = running.ticket == NONE && rows.count > 0;
        while node != NONE {
            let Node { next, operation, is_promised, .. } = *self.nodes.get(node);
            self.keep_promise(operation.device, is_promised);
            self.nodes.release(node);
            node = next;
        }
        if needs_rows {
            self.transactions[handle].spec.rows = rows;
            if !self.take_rows(handle, rows) {
                return Ok(());
            }
        }
        self.plan(handle, now)
    }

    /// A transaction is over: its rows go to whoever waits for them.
    pub(super) fn end(&mut self, handle: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let Running { ticket, unsettled, purpose, spec, .. } = self.transactions[handle];
        if purpose == Purpose::Marks {
            let chain = self.transactions[handle].end;
            self.forget(handle, now);
            for waiter in self.marks_are_set(&chain, now) {
                self.admit(waiter, now)?;
            }
            self.arrange_pass(now);
            return Ok(());
        }
        self.forget(handle, now);
        if self.cache.is_some() {
            self.leave_cache(handle, spec.rows, now)?;
        }
        if ticket != NONE {
            let mut granted = std::mem::take(&mut self.granted);
            self.locks.release(ticket, &mut granted);
            self.waiting -= granted.len() as u32;
            for &waiter in &granted {
                if self.transactions[waiter].state == State::Merged {
                    // What it was to write has been written.
                    self.end(waiter, now)?;
                    continue;
                }
                let running = &mut self.transactions[waiter];
                running.state.grant();
                let before = &mut running.before;
                before.waited_for_rows(&mut self.trails, (handle, purpose), now);
                self.admit(waiter, now)?;
            }
            granted.clear();
            self.granted = granted;
        }
        if unsettled != 0 {
            self.unsettled.remove(&unsettled);
            if !self.flushes.is_empty() {
                self.let_flushes_go(now)?;
            }
        }
        match purpose {
            Purpose::Replay => {
                if self.replay_is_over(&spec, now) {
                    self.take_up_again(now)?;
                }
                self.work_on(now)
            }
            Purpose::Job { step } => self.step_is_over(step, now),
            Purpose::Rewrite => self.work_on(now),
            Purpose::Tidying => {
                self.is_tidied(now);
                Ok(())
            }
            Purpose::Request { .. }
            | Purpose::Race { .. }
            | Purpose::Unawaited
            | Purpose::Destage
            | Purpose::Marks => Ok(()),
            Purpose::Clean => {
                self.are_flushed();
                Ok(())
            }
        }
    }

    /// A transaction is done.
    fn forget(&mut self, handle: u32, now: SimTime) {
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
