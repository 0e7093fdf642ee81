//! What happens to operations that a member does not take, or not in time.
//!
//! ```text
//! refused ─► planner ─┬─► patch: other operations in this step
//!                     ├─► instead: another transaction of the same request
//!                     ├─► park: NVRAM, see `parking`
//!                     └─► wait: until the member may be used again
//! late    ─► hedge: another transaction races it
//! ```
//!
//! A member refuses page by page: what it refuses of an operation becomes an operation of its own. In a race the first answer
//! wins; an answer on its way over the link counts as there. What has lost runs on at its member, and nobody waits for it.
//!
//! A reserved member is given nothing new. When what it was given before is done, the coordinator is told.

use harmonia_ssd::SubRefusal;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, Bytes, DeviceId, Operation, Phase, RequestBlame, SimDuration, SimTime};

use super::Array;
use super::messages::Message;
use super::payload::Payload;
use super::pieces::shifted;
use super::planning::Ready;
use super::states::{Progress, Purpose};
use super::tokens::{NONE, Node, Parent};
use super::trails::NO_TRAIL;
use super::transactions::{Chain, Running};
use crate::planner::{Answer, PlannedOperation, Refusal, Transaction};

impl<P: Probe, C: Payload> Array<P, C> {
    /// A member refuses pages of an operation.
    pub(super) fn pages_refused(&mut self, refusal: &SubRefusal) {
        let Some(place) = self.nodes.place(refusal.token) else { return };
        self.latest = self.latest.max(refusal.at);
        let node = self.nodes.get_mut(place);
        let is_read_only = self.members.devices[usize::from(node.slot)].read_only_since().is_some();
        if is_read_only && node.operation.operation != Operation::Read {
            // What becomes of it is said when its member has failed: then it is refused as all that the member has.
            self.agenda.push(refusal.at, Message::WriteFailed(refusal.token));
            return;
        }
        let (first, size) = (node.operation.offset / self.page_size, self.page_size);
        let (start, end) = (node.operation.offset, node.operation.offset + node.operation.length);
        let pages = end.div_ceil(size) - first;
        let from = ((first + u64::from(refusal.first)) * size).max(start);
        let to = ((first + u64::from(refusal.first + refusal.pages)) * size).min(end);
        node.refused += refusal.pages;
        let is_whole = u64::from(node.refused) == pages;
        let mut piece = *node;
        let parity = shifted(piece.operation.parity, refusal.first);
        (piece.operation.offset, piece.operation.length, piece.operation.parity) = (from, to - from, parity);
        if is_whole {
            // Nothing of it is left: this piece takes its place.
            let (device, length) = (usize::from(node.slot), end - start);
            let couples = node.couples;
            self.nodes.release(place);
            self.is_done_with(device, length, couples, refusal.at);
            if self.layers.depth.is_some() {
                self.makes_room(&piece, refusal.at);
            }
        } else if !piece.is_outrun() {
            self.add_to_step(&mut piece);
        }
        self.write_is_refused(&piece, refusal.token);
        if is_whole && let Some(nvram) = &mut self.nvram {
            nvram.forget(refusal.token);
        }
        if piece.is_outrun() {
            return;
        }
        let mut blame = refusal.blame;
        blame.link += self.layers.spent(usize::from(piece.slot), place).0;
        self.refuse(piece, refusal.token, Refusal::Busy(refusal.left), refusal.at, &blame);
    }

    /// Another transaction of the request does what an operation was for.
    fn instead(&mut self, node: &Node, transaction: Transaction, at: SimTime, blame: &Blame) {
        let before = self.chain_with(node, at, node.operation.phase, blame);
        let running = &mut self.transactions[node.transaction()];
        let is_last = running.pending == 1 && running.later == NONE;
        let purpose = running.purpose.hand_on(is_last);
        if let Some(request) = purpose.request() {
            self.requests[request].remaining += 1;
        }
        self.operation_is_done(node, false, at, blame);
        self.begin_and_take_rows(Running::new(purpose, transaction, before), at);
    }

    /// An operation waits until its member may be used again.
    fn hold_back(&mut self, node: &Node, at: SimTime, blame: &Blame) {
        let chain = self.chain_with(node, at, node.operation.phase, blame);
        if node.before != NONE {
            self.nodes.take_before(node.before);
        }
        let before = self.nodes.keep_before(chain);
        let progress = Progress::Begun;
        let held = self.nodes.insert(Node { before, progress, couples: false, refused: 0, ..*node });
        self.reserved.hold(node.operation.device, held, at);
        if let Some(request) = self.request_of(node.parent) {
            self.requests[request].met_gc = true;
        }
    }

    /// A read should have been answered by now: if it is not, another transaction begins to find out the same.
    #[cold]
    pub(super) fn hedge(&mut self, token: u64, now: SimTime) {
        let Some(node) = self.nodes.place(token).map(|place| *self.nodes.get(place)) else { return };
        if node.before != NONE && !self.only_waited(&node) {
            // It has been refused or held back before, and goes on in its own way.
            return;
        }
        let spec = self.transactions[node.transaction()].spec;
        let Some(transaction) = self.planner.hedge(&spec, &node.planned()) else { return };
        let operation = &node.operation;
        let device = &self.members.devices[operation.device.index()];
        let waited = (now - self.begun(&node)).0;
        let collects = device.collection_left_in(operation.offset, operation.length, now).is_some();
        let blame = match collects {
            true => Blame { queue_gc: waited, ..Blame::default() },
            false => Blame { queue_host: waited, ..Blame::default() },
        };
        let mut before = self.chain_with(&node, now, Phase::Data, &blame);
        if self.trails.is_some() {
            before.trail = self.trail_of_late(&node, collects, now);
        }
        if let Some(hedges) = self.layers.hedges.as_deref_mut() {
            hedges.begun += 1;
        }
        if collects && let Some(request) = self.request_of(node.parent) {
            self.requests[request].met_gc = true;
        }
        self.begin_and_take_rows(Running::new(Purpose::Race { read: token }, transaction, before), now);
    }

    /// Whether an operation has nothing behind it but what its step has, and a wait for its place.
    fn only_waited(&self, node: &Node) -> bool {
        let (before, step) = (self.nodes.before(node.before), &self.transactions[node.transaction()].before);
        let of_queues = |blame: &RequestBlame| blame.depth_wait + blame.window_wait;
        let waited = of_queues(&before.blame).saturating_sub(of_queues(&step.blame));
        before.finish == step.finish + SimDuration(waited)
    }

    /// A transaction has found out what a read was to bring. If that has not been answered, it is now.
    #[cold]
    pub(super) fn race_is_over(&mut self, token: u64, chain: Chain) {
        let Some(place) = self.nodes.place(token) else { return };
        let node = self.nodes.get_mut(place);
        if !node.progress.outrun() {
            return;
        }
        let node = *node;
        if let Some(hedges) = self.layers.hedges.as_deref_mut() {
            hedges.won += 1;
        }
        self.settle(&node, &chain.at(node.index));
    }

    /// A member did not take an operation at `at`: asks the planner what to do instead, and does it.
    pub(super) fn refuse(&mut self, node: Node, token: u64, refusal: Refusal, at: SimTime, blame: &Blame) {
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
            Parent::Request(request) => return self.loses_direct(request, &node, at, blame),
        };
        let purpose = self.transactions[handle].purpose;
        if self.is_log(&node.operation) || purpose.is_bookkeeping() || self.is_flush_of_entry(&node) {
            match refusal {
                Refusal::Reserved => self.hold_back(&node, at, blame),
                // A failed member has nothing that depends on it.
                _ => self.operation_is_done(&node, false, at, blame),
            }
            return;
        }
        if purpose == Purpose::Destage {
            self.destage_is_refused(&node, refusal, at);
            return self.operation_is_done(&node, false, at, blame);
        }
        if self.cache.is_some() {
            self.forget_refused(&node, refusal);
        }
        let mut patch = std::mem::take(&mut self.patch);
        patch.clear();
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
        self.patch = patch;
        match answer {
            Answer::Instead(transaction) => self.instead(&node, transaction, at, blame),
            Answer::Park if self.park(&node, token, refusal, at) => {
                self.operation_is_done(&node, false, at, blame);
            }
            Answer::Park if refusal != Refusal::Reserved => self.insist(&node, at, blame),
            Answer::Park | Answer::Wait => self.hold_back(&node, at, blame),
            _ if self.patch.operations().is_empty() => self.operation_is_done(&node, false, at, blame),
            _ => self.install_patch(&node, at, blame),
        }
        if refusal == Refusal::Unreadable && !is_restored {
            let PlannedOperation { device, offset, length, .. } = planned;
            self.ready.push(Ready::Rewrite { device, offset, length });
        }
    }

    /// A refused operation is tried again, and waits this time.
    fn insist(&mut self, node: &Node, at: SimTime, blame: &Blame) {
        self.patch.clear();
        self.patch.push(PlannedOperation { fast_fail: false, ..node.planned() });
        self.install_patch(node, at, blame);
    }

    /// The operations of a patch take the place of a refused one in its step.
    fn install_patch(&mut self, node: &Node, at: SimTime, blame: &Blame) {
        debug_assert_eq!(self.patch.steps().count(), 1, "a patch is one step");
        let phase = node.operation.phase;
        let trail = if self.trails.is_some() { self.trail_with(node, at, phase, blame) } else { NO_TRAIL };
        let taken = (node.before != NONE).then(|| self.nodes.take_before(node.before));
        let handle = node.transaction();
        let running = &mut self.transactions[handle];
        let before = taken.unwrap_or(running.before);
        let refused = before.and(node.index, at, node.operation.device, phase, blame);
        let refused = Chain { trail, ..refused };
        let operations = self.patch.operations();
        let awaited = operations.iter().filter(|operation| !operation.behind).count() as u32;
        let counts = (operations.len() as u32, awaited);
        let index = self.transactions[handle].is_patched(counts, !node.operation.behind);
        if awaited == 0 && !node.operation.behind {
            self.host_is_refused(handle, refused);
        }
        let before = self.nodes.keep_before(refused);
        self.ready.push(Ready::Patch { parent: node.parent, index, before });
    }

    /// A page that could not be read is written anew.
    #[cold]
    pub(super) fn rewrite(&mut self, device: DeviceId, offset: Bytes, length: Bytes, now: SimTime) {
        let (first, end) = (offset / self.page_size, (offset + length).div_ceil(self.page_size));
        let (offset, length) = (first * self.page_size, (end - first) * self.page_size);
        let Some(transaction) = self.restoring(device, offset, length) else { return };
        if let Some(background) = self.background.as_deref_mut() {
            background.rewrites(end - first);
        }
        self.begin_own(Purpose::Rewrite, transaction, now);
    }
}
