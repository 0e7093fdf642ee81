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
use harmonia_types::{
    Blame, Bytes, DeviceId, Operation, ParityPages, Phase, RequestBlame, SimDuration, SimTime,
};

use super::messages::Message;
use super::payload::Payload;
use super::states::{Progress, Purpose};
use super::tokens::{NONE, Node};
use super::trails::What;
use super::transactions::{Chain, Running};
use super::{Access, Array, ArrayFailure};
use crate::health::Condition;
use crate::member::Member;
use crate::planner::{PlannedOperation, Refusal, Transaction};

impl<P: Probe, C: Payload> Array<P, C> {
    /// A member refuses pages of an operation.
    pub(super) fn pages_refused(&mut self, refusal: &SubRefusal) -> Result<(), ArrayFailure> {
        let Some(place) = self.nodes.place(refusal.token) else { return Ok(()) };
        self.latest = self.latest.max(refusal.at);
        let node = self.nodes.get_mut(place);
        let is_read_only = self.members.devices[usize::from(node.slot)].read_only_since().is_some();
        if is_read_only && node.operation.operation != Operation::Read {
            // What becomes of it is said when its member has failed: then it is refused as all that the member has.
            self.agenda.push(refusal.at, Message::WriteFailed(refusal.token));
            return Ok(());
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
            return Ok(());
        }
        let mut blame = refusal.blame;
        blame.link += self.layers.spent(usize::from(piece.slot), place).0;
        self.refuse(piece, refusal.token, Refusal::Busy(refusal.left), refusal.at, &blame)
    }

    /// A member has nothing more to do with an operation.
    pub(super) fn is_done_with(&mut self, device: usize, length: Bytes, couples: bool, at: SimTime) {
        self.members.outstanding[device] -= length;
        self.coupled[device] -= u32::from(couples);
        if device >= self.members.fixed {
            if self.members.outstanding[device] == 0 {
                self.agenda.push(at.max(self.latest), Message::Left(device as u16));
            }
        } else if self.is_drained(device) {
            self.agenda.push(at.max(self.latest), Message::Drained(DeviceId(device as u16)));
        }
    }

    /// A part of an operation becomes one more operation of its step.
    pub(super) fn add_to_step(&mut self, piece: &mut Node) {
        if piece.before != NONE {
            let before = self.nodes.take_before(piece.before);
            // Both have the same behind them.
            let (one, other) = (self.nodes.keep_before(before), self.nodes.keep_before(before));
            debug_assert_eq!(one, piece.before, "the place is used again");
            piece.before = other;
        }
        let running = &mut self.transactions[piece.transaction()];
        piece.index = running.operations;
        running.operations += 1;
        running.pending += 1;
        running.awaited += u32::from(!piece.operation.behind);
        (piece.couples, piece.refused) = (false, 0);
    }

    /// Cuts an operation after so many bytes; returns the rest.
    pub(super) fn cut(&mut self, node: u32, bytes: Bytes) -> u32 {
        let whole = self.nodes.get_mut(node);
        let mut rest = *whole;
        rest.operation = cut(&mut whole.operation, bytes, self.page_size);
        self.add_to_step(&mut rest);
        self.nodes.insert(rest)
    }

    /// Another transaction of the request does what an operation was for.
    pub(super) fn instead(
        &mut self,
        node: &Node,
        transaction: Transaction,
        at: SimTime,
        blame: &Blame,
    ) -> Result<(), ArrayFailure> {
        let before = self.chain_with(node, at, node.operation.phase, blame);
        let running = &mut self.transactions[node.transaction()];
        let is_last = running.pending == 1 && running.later == NONE;
        let purpose = running.purpose.hand_on(is_last);
        if let Some(request) = purpose.request() {
            self.requests[request].remaining += 1;
        }
        self.operation_is_done(node, false, at, blame)?;
        self.begin_after(Running::new(purpose, transaction, before), at)
    }

    /// An operation waits until its member may be used again.
    pub(super) fn hold_back(&mut self, node: &Node, at: SimTime, blame: &Blame) {
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

    /// Keeps new operations from a member.
    pub(super) fn reserve(&mut self, device: DeviceId, now: SimTime) {
        if self.members.health.access(device) == Access::Open {
            self.members.health.change(device, Member::reserve);
            self.access_has_changed(device);
            if self.is_drained(device.index()) {
                self.agenda.push(now, Message::Drained(device));
            }
        }
    }

    /// A reserved member may be used again, from now on.
    pub(super) fn open(&mut self, device: DeviceId, now: SimTime) {
        if self.members.health.access(device) == Access::Reserved {
            self.members.health.change(device, Member::open);
            self.access_has_changed(device);
            self.agenda.push(now, Message::Open(device));
        }
    }

    /// What waited for a member goes to it, and what is parked goes back.
    pub(super) fn readmit(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        for (node, since) in self.reserved.let_go(device) {
            let Node { before, operation, index, .. } = *self.nodes.get(node);
            let mut chain = self.nodes.take_before(before);
            chain.trails_off(&mut self.trails, now, What::Reserved(operation.device, operation.phase));
            // The member was kept free so that it could collect.
            let waited = Blame { queue_gc: (now - since).0, ..Blame::default() };
            let chain = chain.and(index, now, operation.device, operation.phase, &waited);
            self.nodes.get_mut(node).before = self.nodes.keep_before(chain);
            if self.is_lost_to_spare(&operation) {
                self.agenda.push(now, Message::Refused(self.nodes.token(node), Refusal::Failed));
            } else {
                self.submit_node(node, now)?;
            }
        }
        self.destage(device, now)
    }

    /// Whether a spare has taken the member's place meanwhile and does not hold what is read. Writes it takes.
    fn is_lost_to_spare(&self, operation: &PlannedOperation) -> bool {
        let end = operation.offset + operation.length;
        operation.operation == Operation::Read
            && matches!(self.health().of(operation.device), Condition::Partial(built) if built < end)
    }

    /// A read should have been answered by now: if it is not, another transaction begins to find out the same.
    #[cold]
    pub(super) fn hedge(&mut self, token: u64, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(node) = self.nodes.place(token).map(|place| *self.nodes.get(place)) else { return Ok(()) };
        if node.before != NONE && !self.only_waited(&node) {
            // It has been refused or held back before, and goes on in its own way.
            return Ok(());
        }
        let spec = self.transactions[node.transaction()].spec;
        let Some(transaction) = self.planner.hedge(&spec, &node.planned()) else { return Ok(()) };
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
        self.begin_after(Running::new(Purpose::Race { read: token }, transaction, before), now)
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
    pub(super) fn race_is_over(&mut self, token: u64, chain: Chain) -> Result<(), ArrayFailure> {
        let Some(place) = self.nodes.place(token) else { return Ok(()) };
        let node = self.nodes.get_mut(place);
        if !node.progress.outrun() {
            return Ok(());
        }
        let node = *node;
        if let Some(hedges) = self.layers.hedges.as_deref_mut() {
            hedges.won += 1;
        }
        self.settle(&node, &chain.at(node.index))
    }

    /// Tells the coordinator how long a member took, if it wants to know.
    pub(super) fn tell_answer(
        &mut self,
        device: DeviceId,
        operation: Operation,
        finish: SimTime,
        blame: &Blame,
    ) {
        if self.interests.answers && device.index() < self.members.delivered.len() {
            let latency = SimDuration(blame.total());
            self.agenda.push(finish.max(self.latest), Message::Answered(device, operation, latency));
        }
    }
}

/// An operation ends after so many bytes; returns the rest of it.
fn cut(whole: &mut PlannedOperation, bytes: Bytes, page_size: Bytes) -> PlannedOperation {
    let mut rest = *whole;
    (whole.length, rest.length) = (bytes, whole.length - bytes);
    rest.offset += bytes;
    let pages = rest.offset / page_size - whole.offset / page_size;
    rest.parity = shifted(rest.parity, pages as u32);
    rest
}

/// The pattern as it looks from a later page on.
fn shifted(parity: ParityPages, pages: u32) -> ParityPages {
    let phase = (u64::from(parity.phase) + u64::from(pages)) % u64::from(parity.period);
    ParityPages { phase: phase as u32, ..parity }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Bytes = 4096;

    /// From the middle of page 4 on, every third page is parity: pages 6 and 9.
    #[test]
    fn what_is_cut_off_has_its_own_part_of_the_pattern() {
        let parity = ParityPages { phase: 1, period: 3, run: 1, ..ParityPages::ALL };
        let data = PlannedOperation::data(DeviceId(2), Operation::Write, 4 * PAGE + 512, 6 * PAGE);
        for (end, is_parity) in
            [(4 * PAGE + 1024, false), (5 * PAGE, false), (6 * PAGE, true), (7 * PAGE, false)]
        {
            let mut whole = PlannedOperation { parity, ..data };
            let rest = cut(&mut whole, end - data.offset, PAGE);
            assert_eq!((whole.offset, whole.offset + whole.length), (data.offset, end));
            assert_eq!((rest.offset, rest.offset + rest.length), (end, data.offset + data.length));
            assert_eq!((whole.parity, rest.parity.is_parity(0)), (parity, is_parity), "from {end} on");
        }
    }
}
