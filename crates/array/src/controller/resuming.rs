//! What has waited goes on: operations that waited for a member or for a place, and what is parked.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, DeviceId, Operation, SimTime};

use super::depth::Depth;
use super::layers::{CommandLayers, Waiting};
use super::messages::Message;
use super::nvram::Nvram;
use super::payload::Payload;
use super::states::Progress;
use super::tokens::{Node, Parent};
use super::trails::What;
use super::transactions::in_step;
use super::{Access, Array, ArrayFailure};
use crate::health::Condition;
use crate::planner::{PlannedOperation, Refusal, Transaction};

impl<P: Probe, C: Payload> Array<P, C> {
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
                self.hand_in(node, now)?;
            }
        }
        self.destage(device, now)
    }

    /// Whether a spare has taken the member's place meanwhile and does not hold what is read. Writes it takes.
    fn is_lost_to_spare(&self, operation: &PlannedOperation) -> bool {
        let end = operation.offset + operation.length;
        operation.operation == Operation::Read
            && matches!(self.members.health.of(operation.device), Condition::Partial(built) if built < end)
    }

    /// Writes back what is parked for a member, as much as may be under way at once.
    pub(super) fn destage(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        let is_open = self.members.health.access(device) == Access::Open;
        let size = self.page_size;
        let Some(nvram) = self.nvram.as_deref_mut() else { return Ok(()) };
        if nvram.due(device).is_some_and(|due| due <= now) {
            *nvram.due(device) = None;
        }
        // A member that refuses what goes back has named a time to wait for.
        let next_back =
            |nvram: &mut Box<Nvram>| if nvram.due(device).is_some() { None } else { nvram.next_back(device) };
        while is_open && let Some((first, count)) = self.nvram.as_mut().and_then(next_back) {
            let (offset, length) = (first * size, count * size);
            let spec = Transaction::unlocked(Operation::Write, offset, length);
            let parity = self.layout.parity_pages(device, offset, length);
            let write = PlannedOperation::data(device, Operation::Write, offset, length);
            let write = PlannedOperation { fast_fail: true, parity, ..write };
            let handle = self.begin_destage(Transaction { member: Some(device), ..spec }, now);
            let node = self.nodes.insert(in_step(Parent::Transaction(handle), 0, write));
            self.hand_in(node, now)?;
        }
        Ok(())
    }

    /// Operations have left their devices: others take their places.
    #[cold]
    pub(super) fn fill_room(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        if let Some(depth) = self.layers.depth.as_deref_mut() {
            depth.make_room(now);
        }
        while let Some((slot, waiting)) = self.layers.depth.as_deref_mut().and_then(Depth::next) {
            self.has_waited(&waiting, now);
            self.give(CommandLayers::DEPTH + 1, slot, waiting.sub, now)?;
            self.deal()?;
        }
        Ok(())
    }

    /// A command or an answer that a layer held until now goes on.
    #[cold]
    pub(super) fn passes_on(&mut self, waiting: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let waiting = self.layers.take(waiting);
        let token = match waiting {
            Waiting::Command(_, sub) => sub.token,
            Waiting::Answer(_, done) => done.token,
        };
        // Its member may have failed meanwhile, and so may one whose place another device has taken since it was given.
        let node = self.nodes.place(token).map(|place| self.nodes.get(place));
        let Some(node) = node.filter(|node| node.progress != Progress::Begun) else { return Ok(()) };
        match waiting {
            Waiting::Command(from, sub) => {
                self.give(from, usize::from(node.slot), sub, now)?;
                self.deal()
            }
            Waiting::Answer(under, done) => {
                self.rises(under, done, Some(now));
                Ok(())
            }
        }
    }
}
