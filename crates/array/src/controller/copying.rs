//! A spare takes the place of a member that still works.
//!
//! ```text
//! begins ─► step by step: member read, spare written ─► all is copied: the spare is the member, the old one retires
//!                 │ the member fails
//!                 └─► the spare is the member, built as far as it was copied; the rest is rebuilt from the others
//!
//! reads ───────────────────────────► member
//! writes, discards and flushes ─┬──► member
//!                               └──► spare: the *twin*, for which the host waits as well
//! ```
//!
//! A step of the copy holds its rows, as a step of a rebuild does, and copies with them what of these rows the member holds
//! elsewhere (in stripes kept free, under `gaftl`). Pages of the member that cannot be read are rebuilt from the
//! others. What planners see is the member: an operation names the member, and its *slot* says which device has it. Slots behind
//! the members are spares that are being written, and members that have retired and still answer what they were given.
//!
//! The coordinator hears nothing of the copy. When the spare takes the place it hears of a failure, a replacement and its
//! being rebuilt, as every policy forgets then what it knew of the old device. What the old device had sent is lost.
//!
//! Where writes are parked in NVRAM, a member that fails while it is copied is rebuilt from its first byte: the spare does not
//! have what is parked.
//!
//! Source: Linux md, Documentation/admin-guide/md (`replacement`) and `drivers/md/raid5.c` (`R5_NeedReplace`): writes go to both, and what is read
//! for the copy is read from the member. Leaves out: reads from the spare where it is complete, as md does them; a spare that
//! fails while it is written. A spare whose blocks wear out meanwhile becomes read-only when it has taken the place.

use harmonia_ssd::AtEnd;
use harmonia_ssd::interface::Notice;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, DeviceId, Operation, Phase, SimTime};

use super::faults::{Mishap, MishapKind};
use super::messages::Message;
use super::payload::Payload;
use super::states::Purpose;
use super::{Access, Array};
use crate::coordination::{Delivered, Event};
use crate::health::Condition;
use crate::member::Member;
use crate::planner::{Plan, PlannedOperation, Transaction};

/// Which devices are given an operation on a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The member's own.
    Own,
    /// The spare in this slot.
    Spare(usize),
    /// Both.
    Both(usize),
}

impl Route {
    /// Of an operation on a member whose spare is in this slot. `copies` says that it is a step of a copy, `is_direct` that it has
    /// no step to which the same operation on the spare could belong.
    #[inline]
    pub fn of(spare: Option<usize>, operation: Operation, copies: bool, is_direct: bool) -> Route {
        match spare {
            None => Route::Own,
            Some(spare) if copies && operation == Operation::Write => Route::Spare(spare),
            Some(_) if is_direct || operation == Operation::Read => Route::Own,
            Some(spare) => Route::Both(spare),
        }
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// The slot of the spare that a member is copied to.
    #[inline]
    pub(super) fn spare_of(&self, member: DeviceId) -> Option<usize> {
        self.members.health.spare_of(member)
    }

    /// Whether a spare is taking a member's place while it works.
    pub fn is_copied(&self, member: DeviceId) -> bool {
        self.spare_of(member).is_some()
    }

    /// Whether a transaction is a step of a copy that is under way.
    pub(super) fn is_copy(&self, transaction: u32) -> bool {
        let running = &self.transactions[transaction];
        matches!(running.purpose, Purpose::Job { .. })
            && running.spec.operation == Operation::Write
            && running.spec.member.is_some_and(|member| self.spare_of(member).is_some())
    }

    /// A step of a copy: the member is read, then the spare written.
    #[cold]
    pub(super) fn plan_copy(&self, spec: &Transaction, plan: &mut Plan) {
        let Transaction { offset, length, rows, member: Some(member), .. } = *spec else { return };
        let elsewhere = self.planner.restores().map(|planner| planner.elsewhere(member, rows));
        let ranges: Vec<(Bytes, Bytes)> =
            std::iter::once((offset, length)).chain(elsewhere.into_iter().flatten()).collect();
        for operation in [Operation::Read, Operation::Write] {
            plan.barrier();
            for &(offset, length) in &ranges {
                let parity = self.layout.parity_pages(member, offset, length);
                let data = PlannedOperation::data(member, operation, offset, length);
                plan.push(PlannedOperation { phase: Phase::Reconstruct, parity, ..data });
            }
        }
    }

    /// Whether a spare that has everything must wait: what goes back from NVRAM is not parked any more once the member has it, so
    /// that the spare must have it before it is read.
    pub(super) fn lacks_parked(&self, device: DeviceId) -> bool {
        let Some(slot) = self.spare_of(device).filter(|_| self.nvram.is_some()) else { return false };
        let goes_back = |&node: &u32| self.is_destage(self.nodes.get(node));
        self.nodes.under_way_at(slot).iter().any(goes_back)
    }

    /// All of a member is copied: the spare takes its place, and it retires.
    pub(super) fn copy_is_done(&mut self, device: DeviceId, now: SimTime) {
        let Some(slot) = self.exchange(device, now) else { return };
        if self.payload.is_active() {
            self.payload.retires(device);
        }
        let was_reserved = self.members.health.access(device) == Access::Reserved;
        self.members.health.change(device, Member::take_over);
        if was_reserved {
            self.access_has_changed(device);
        }
        self.agenda.push(now, Message::Left(slot as u16));
        self.announce_later(device, now);
    }

    /// The spare that a member is copied to and the member's device change places; the old device's slot.
    pub(super) fn exchange(&mut self, device: DeviceId, now: SimTime) -> Option<usize> {
        let (index, slot) = (device.index(), self.spare_of(device)?);
        let failures = self.failures.as_deref_mut()?;
        if let Some(since) = self.members.devices[index].collecting_since().filter(|&since| since < now) {
            self.intervals.push((device, since, now));
        }
        self.members.devices[slot].forget_collecting_before(now);
        self.members.numbers.swap(index, slot);
        failures.log.push(Mishap {
            at: now,
            device: Some(device),
            what: MishapKind::Replaced(self.members.numbers[index]),
        });
        self.members.devices.swap(index, slot);
        self.members.devices[index].set_at_end(AtEnd::Refuses);
        self.members.outstanding.swap(index, slot);
        self.coupled.swap(index, slot);
        self.nodes.exchange(index, slot);
        self.layers.exchange(index, slot);
        for place in [index, slot] {
            self.wakes.set_ranked(place, self.members.devices[place].next_wakeup());
            self.set_coupled_wake(place);
        }
        Some(slot)
    }

    /// The coordinator is told that the old device is gone, and of the new one when nothing is on its way any more.
    pub(super) fn announce_later(&mut self, device: DeviceId, now: SimTime) {
        self.tell_of_failure(device, now);
        self.agenda.push(now + self.message_latency * 2, Message::Arrived(device));
    }

    /// The coordinator hears of a device that has taken a member's place.
    pub(super) fn announce(&mut self, device: DeviceId, now: SimTime) {
        let index = device.index();
        let Some(failures) = self.failures.as_deref() else { return };
        if self.members.health.access(device) == Access::Failed {
            return;
        }
        let spare = usize::from(self.members.numbers[index]) - self.members.delivered.len();
        let capable = failures.config.spares.get(spare).is_some_and(|spare| spare.capable);
        self.members.delivered[index] = Delivered { status: None, as_of: now, capable, collecting: false };
        self.consult(now, &Event::Replacement(device));
        if self.members.health.of(device) == Condition::Whole {
            self.consult(now, &Event::Rebuilt(device));
        }
        // Nobody hears it of a device that is not capable.
        if self.listens && self.members.devices[index].status(now).gc_active {
            self.agenda.push(now, Message::Notice(device, Notice::GcStarted));
        }
    }

    /// How far a member is copied.
    pub(super) fn copied(&self, device: DeviceId) -> Option<Bytes> {
        self.background.as_deref()?.copied(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spare_is_given_what_is_written_and_alone_what_is_copied() {
        use Operation::{Flush, Read, Trim, Write};
        for operation in [Read, Write, Trim, Flush] {
            assert_eq!(Route::of(None, operation, false, false), Route::Own);
            assert_eq!(Route::of(Some(7), operation, false, true), Route::Own, "it has no step");
            let (both, copied) = match operation {
                Read => (Route::Own, Route::Own),
                Write => (Route::Both(7), Route::Spare(7)),
                Trim | Flush => (Route::Both(7), Route::Both(7)),
            };
            assert_eq!(Route::of(Some(7), operation, false, false), both, "{operation:?}");
            assert_eq!(Route::of(Some(7), operation, true, false), copied, "{operation:?} of a copy");
        }
    }
}
