//! Whose an operation is: its transaction and its request, and what it has behind it.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, Phase, SimTime};

use super::Array;
use super::payload::{Owner, Payload};
use super::requests::whole;
use super::states::Purpose;
use super::tokens::{NONE, Node, Parent};
use super::trails::NO_TRAIL;
use super::transactions::Chain;

impl<P: Probe, C: Payload> Array<P, C> {
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

    /// What its transaction has behind it, and an operation that ended.
    #[inline]
    pub(super) fn chain_with(&mut self, node: &Node, finish: SimTime, phase: Phase, blame: &Blame) -> Chain {
        let trail =
            if self.trails.is_some() { self.trail_with(node, finish, phase, blame) } else { NO_TRAIL };
        let taken = (node.before != NONE).then(|| self.nodes.before(node.before));
        let before = taken.unwrap_or(&self.transactions[node.transaction()].before);
        Chain { trail, ..before.and(node.index, finish, node.operation.device, phase, blame) }
    }
}
