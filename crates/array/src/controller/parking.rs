//! Writes that go to NVRAM instead of a member that collects, and back when it is free: the table is in `nvram`.
//!
//! A parked write is done for the host at once. What is parked goes back as soon as the member would take it: it is tried when its
//! collection is said to end, when the time is over that it named, and when a reservation ends.

use harmonia_ssd::probe::Probe;
use harmonia_types::{DeviceId, Operation, SimDuration, SimTime};

use super::Array;
use super::messages::Message;
use super::nvram::{Nvram, Run};
use super::payload::Payload;
use super::tokens::{Node, Parent};
use crate::planner::{PlannedOperation, Refusal};

/// A member that still collects is not tried again sooner than this.
const PAUSE: SimDuration = SimDuration::from_us(50);

impl<P: Probe, C: Payload> Array<P, C> {
    /// NVRAM has all of a read, or takes a part of a page that it has.
    pub(super) fn answer_from_nvram(&mut self, node: u32, now: SimTime) {
        let (token, Node { operation, parent, .. }) = (self.nodes.token(node), *self.nodes.get(node));
        if self.payload.is_active() {
            let planned = self.nodes.get(node).planned();
            self.tell_payload(parent, |payload, owner| payload.submits(owner, &planned, token));
        }
        if operation.operation == Operation::Write {
            let is_parked = self.park_pages(parent, &operation, token);
            debug_assert!(is_parked, "there is room for what is parked");
        } else {
            if self.payload.is_active() {
                self.payload.finds_parked(&operation, token);
            }
            if let Some(nvram) = self.nvram.as_deref_mut() {
                nvram.answers(operation.offset, operation.length);
            }
        }
        self.agenda.push(now, Message::Served(token));
    }

    /// Parks what a write carries, if there is room.
    fn park_pages(&mut self, parent: Parent, operation: &PlannedOperation, token: u64) -> bool {
        let PlannedOperation { device, offset, length, .. } = *operation;
        let Some(nvram) = self.nvram.as_deref_mut() else { return false };
        let is_parked = nvram.park(device, offset, length);
        if self.payload.is_active() && is_parked {
            self.tell_payload(parent, |payload, owner| payload.parks(owner, operation, token));
        }
        is_parked
    }

    /// A member did not take a write: it goes to NVRAM. `false` if that is full.
    pub(super) fn park(&mut self, node: &Node, token: u64, refusal: Refusal, at: SimTime) -> bool {
        let is_parked = self.park_pages(node.parent, &node.operation, token);
        if is_parked {
            self.destage_is_refused(node, refusal, at);
        }
        is_parked
    }

    /// A write or discard goes to a member: it will replace what is parked. Returns whether anything is.
    pub(super) fn write_begins(&mut self, node: u32) -> bool {
        let operation = self.nodes.get(node).operation;
        let Some((nvram, run)) = self.replaced_by(&operation) else { return false };
        let replaces = nvram.write_begins(operation.device, run);
        let clock = nvram.clock();
        self.nodes.get_mut(node).change = clock;
        replaces
    }

    /// The member did not take it, or this part of it.
    pub(super) fn write_is_refused(&mut self, part: &Node, token: u64) {
        let (is_destage, operation) = (self.is_destage(part), part.operation);
        let Some((nvram, run)) = self.replaced_by(&operation) else { return };
        nvram.write_is_refused(operation.device, run, part.change, token);
        if is_destage {
            nvram.is_back(operation.device, run.1);
        }
    }

    /// The member has what it did not refuse of it.
    pub(super) fn write_ends(&mut self, node: &Node, token: u64, finish: SimTime) {
        let Some((_, run)) = self.replaced_by(&node.operation) else { return };
        let (is_destage, device) = (self.is_destage(node), node.operation.device);
        let Array { nvram: Some(nvram), payload, .. } = self else { return };
        let taken = nvram.write_ends(device, run, node.change, token, is_destage, |page| {
            if payload.is_active() {
                payload.unparks(device, page);
            }
        });
        if is_destage {
            nvram.is_back(device, taken);
            self.agenda.push(finish, Message::Destage(device));
        }
    }

    /// Nothing goes back to a member that failed.
    pub(super) fn give_up_parked(&mut self, device: DeviceId) {
        let Array { nvram: Some(nvram), payload, .. } = self else { return };
        nvram.give_up(device, |page| {
            if payload.is_active() {
                payload.unparks(device, page);
            }
        });
    }

    /// The parked pages of a member that an operation replaces.
    fn replaced_by(&mut self, operation: &PlannedOperation) -> Option<(&mut Nvram, Run)> {
        let nvram = self.nvram.as_deref_mut()?;
        let PlannedOperation { offset, length, .. } = *operation;
        let run = match operation.operation {
            Operation::Write => nvram.run(offset, length),
            // Parts of pages at the edges of a discard stay.
            Operation::Trim => nvram.whole(offset, length),
            Operation::Read | Operation::Flush => return None,
        };
        Some((nvram, run))
    }

    /// What is parked for a member is tried at that time, or sooner if that is arranged already.
    pub(super) fn arrange_destage(&mut self, device: DeviceId, at: SimTime) {
        let Some(nvram) = self.nvram.as_deref_mut().filter(|nvram| nvram.holds(device)) else { return };
        let due = nvram.due(device);
        if due.is_none_or(|due| at < due) {
            *due = Some(at);
            self.agenda.push(at, Message::Destage(device));
        }
    }

    /// A member still collects: what is parked for it stays until the time that it names.
    pub(super) fn destage_is_refused(&mut self, node: &Node, refusal: Refusal, at: SimTime) {
        if let Refusal::Busy(left) = refusal {
            self.arrange_destage(node.operation.device, at + left.max(PAUSE));
        }
    }
}
