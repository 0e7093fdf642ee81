//! Members are reserved and opened, and what they have been given is done: who is told.

use harmonia_ssd::Device;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Blame, Bytes, DeviceId, Operation, SimDuration, SimTime};

use super::messages::Message;
use super::payload::Payload;
use super::{Access, Array};
use crate::member::Member;

impl<P: Probe, C: Payload> Array<P, C> {
    /// A member takes operations from now on, or does not.
    pub(super) fn access_has_changed(&mut self, device: DeviceId) {
        assert!(self.ahead.is_none(), "a member that runs ahead refuses nothing");
        let access = self.members.health.access(device);
        if access != Access::Reserved && self.reserved.is_awaited(device) {
            self.agenda.push(self.latest, Message::Open(device));
        }
        // From now on operations may be refused.
        self.is_flat = false;
        self.is_bare = self.has_no_options();
        self.members.devices.iter_mut().for_each(Device::stop_at_completions);
    }

    /// Whether a reserved member has nothing left to do.
    pub(super) fn is_drained(&self, device: usize) -> bool {
        self.members.health.access(DeviceId(device as u16)) == Access::Reserved
            && self.members.outstanding[device] == 0
            && !self.tidying.as_deref().is_some_and(|tidying| tidying.has_promised(device))
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
