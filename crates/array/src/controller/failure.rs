//! Failures of members: they fail, are replaced by spares, and become slow. Pages that cannot be read are in `faults`.
//!
//! ```text
//! fails ─► what it was given is refused ─► GcEnded if it collected, Failure ─► a spare takes its place ─► Replacement
//!                                                                               rebuilt step by step ─► Rebuilt
//! ```
//!
//! A failed member answers nothing any more, and messages to it and from it are lost. Completions that were known before stand.
//! What is parked for it is given up, as the rows say it too. A spare takes its place after two message latencies, so that
//! nothing of the old member is on its way any more but the ends of windows that it was given in advance. On a layout with
//! distributed spares other members stand in for it after the same time (`stand_ins`), and no device comes. Where stripes leave members
//! free and no spare is left, what the member held is rebuilt on those after the same time (`background`); no spare comes later.
//! Devices keep the numbers they were made with, spares behind the members.
//!
//! A member that has become read-only, because its blocks are worn out, fails with the first write that it refuses. Until then it
//! serves reads. An array without redundancy keeps such a member: its reads are still answered.
//!
//! Source: Linux md, `drivers/md/md.c` (spares, `md_error`) and raid5.c (`raid5_end_read_request`: a page that cannot be read is
//! rebuilt and rewritten; `raid5_end_write_request`: a write that fails fails the member). Leaves out: md's limit of read errors
//! after which a member is failed, bad-block lists, and that RAID-1 keeps its last member whatever happens.

use harmonia_ssd::probe::Probe;
use harmonia_ssd::{AtEnd, SubCompletion};
use harmonia_types::{Blame, Counters, DeviceId, SimTime};

use super::faults::{Failures, Mishap, MishapKind};
use super::layers::Terms;
use super::messages::Message;
use super::payload::Payload;
use super::{Access, Array, ArrayFailure};
use crate::config::{Befalls, Faults, When};
use crate::coordination::{Delivered, Event};
use crate::health::Condition;
use crate::layout::Layout;
use crate::member::Member;
use crate::planner::{LossCounters, Refusal};

impl<P: Probe, C: Payload> Array<P, C> {
    /// Puts what happens at times on the agenda.
    pub(super) fn arrange_faults(&mut self) {
        let Some(failures) = self.failures.as_deref() else { return };
        for (index, event) in (0..).zip(&failures.config.events) {
            if let When::Time(at) = event.at {
                self.agenda.push(at, Message::Fault(index));
            }
        }
        for loss in &failures.config.power_losses {
            if let When::Time(at) = *loss {
                self.agenda.push(at, Message::PowerLoss);
            }
        }
        if let Some(scrub) = failures.config.scrub {
            self.agenda.push(scrub.at, Message::Scrub);
        }
    }

    /// A request is about to be taken: what was to happen at so many does.
    #[cold]
    pub(super) fn count_request(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(failures) = self.failures.as_deref_mut() else { return Ok(()) };
        failures.requests += 1;
        let count = failures.requests;
        for index in 0..failures.config.events.len() {
            let due = self
                .failures
                .as_deref()
                .is_some_and(|failures| failures.config.events[index].at == When::Request(count));
            if due {
                self.inject_fault(index as u32, now)?;
            }
        }
        let Some(failures) = self.failures.as_deref() else { return Ok(()) };
        if failures.config.power_losses.contains(&When::Request(count)) {
            return self.lose_power(now);
        }
        Ok(())
    }

    /// One of the configured faults happens.
    #[cold]
    pub(super) fn inject_fault(&mut self, index: u32, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(failures) = self.failures.as_deref_mut() else { return Ok(()) };
        let fault = failures.config.events[index as usize];
        match fault.what {
            Befalls::Failure => self.fail(fault.device, now),
            Befalls::Replacement => self.begin_copy(fault.device, now),
            Befalls::Slow(factor) => {
                let device = fault.device.index();
                if self.members.health.access(fault.device) != Access::Failed {
                    failures.log.push(Mishap {
                        at: now,
                        device: Some(fault.device),
                        what: MishapKind::Slow(factor),
                    });
                    self.members.devices[device].slow_down(now, factor);
                    self.take_over_from(device)?;
                }
                Ok(())
            }
        }
    }

    /// A member fails: it answers nothing any more. Nothing happens if it has failed before.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    #[cold]
    pub fn fail(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        let members = self.members.delivered.len();
        self.is_bare = false;
        let distributes = self.distributes(device);
        let failures = self
            .failures
            .get_or_insert_with(|| Box::new(Failures::new(&Faults::default(), members, Vec::new())));
        let index = device.index();
        if self.members.health.access(device) == Access::Failed {
            return Ok(());
        }
        failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::Failed });
        // Where nobody expected a failure, nothing was made to rebuild with.
        let stands_by = !failures.spares.is_empty()
            || self.members.health.stand_ins().is_some_and(|all| all.left() > 0)
            || distributes;
        let has_spare = stands_by && self.background.is_some();
        let delay = failures.config.rebuild.delay;
        self.latest = self.latest.max(now);
        if self.spare_of(device).is_some() {
            return self.fail_over(device, now);
        }
        self.holds_now(device, Member::fail);
        self.forget_all_rows();
        self.members.devices[index].fail(now);
        self.access_has_changed(device);
        self.give_up_jobs_of(device, now);
        self.give_up_parked(device);
        if matches!(self.layout, Layout::Parity(_)) && self.is_resyncing() {
            self.begin_resync(now);
        }
        self.take_over_from(index)?;
        self.refuse_all_of(device, now)?;
        self.tell_of_failure(device, now);
        if has_spare {
            self.agenda.push(now + self.message_latency * 2 + delay, Message::Replace(device));
        }
        Ok(())
    }

    /// The member that has refused a write, because it is read-only, fails. Its place may have been taken at the same moment.
    #[cold]
    pub(super) fn write_failed(&mut self, token: u64, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(node) = self.nodes.place(token).map(|place| *self.nodes.get(place)) else { return Ok(()) };
        let slot = usize::from(node.slot);
        if slot >= self.members.delivered.len() {
            // Its device has retired: its successor has been given the same, and nobody waits for this one.
            let at = now.max(self.latest);
            let done =
                SubCompletion { token, finish: at, blame: Blame::default(), met_gc: false, is_parity: false };
            self.node_done::<false>(&done);
            return Ok(());
        }
        let device = DeviceId(slot as u16);
        let has_failed = self.members.health.access(device) == Access::Failed;
        if has_failed || self.members.devices[slot].read_only_since().is_none() {
            return Ok(());
        }
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::ReadOnly });
        }
        self.fail(device, now)
    }

    /// What a member was given and has not answered comes back.
    pub(super) fn refuse_all_of(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        let index = device.index();
        for place in self.nodes.under_way_at(index) {
            let token = self.nodes.token(place);
            let node = self.nodes.get_mut(place);
            let (length, couples) = (node.operation.length, std::mem::take(&mut node.couples));
            if node.is_outrun() {
                self.nodes.release(place);
            } else {
                node.progress.come_back();
                self.agenda.push(now, Message::Refused(token, Refusal::Failed));
            }
            self.is_done_with(index, length, couples, now);
            if let Some(nvram) = &mut self.nvram {
                nvram.forget(token);
            }
        }
        if self.layers.depth.is_some() {
            self.is_emptied(index, now);
        }
        self.coupled_wakes.set_ranked(index, SimTime::NEVER);
        Ok(())
    }

    /// A spare takes the place of a failed member, and begins to be built.
    #[cold]
    pub(super) fn replace(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        let index = device.index();
        let Some(failures) = self.failures.as_deref_mut() else { return Ok(()) };
        if self.members.health.access(device) != Access::Failed {
            return Ok(());
        }
        if let Some(spare) = self.members.health.take_stand_ins(device) {
            return self.stand_in(device, spare, now);
        }
        let Some((number, mut spare)) = failures.spares.pop() else {
            return if self.is_refused() { Ok(()) } else { self.begin_to_distribute(device, now) };
        };
        spare.takes_part(now);
        self.layers.replace(index, Terms::of(&spare));
        let old = std::mem::replace(&mut self.members.devices[index], spare);
        failures.retired.push((std::mem::replace(&mut self.members.numbers[index], number), old));
        failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::Replaced(number) });
        let capable = failures.config.spares.get(usize::from(number) - self.members.delivered.len());
        let capable = capable.is_some_and(|spare| spare.capable);
        self.members.delivered[index] = Delivered { status: None, as_of: now, capable, collecting: false };
        self.holds_now(device, Member::replace);
        self.access_has_changed(device);
        self.members.devices[index].stop_at_completions();
        self.members.devices[index].set_at_end(AtEnd::Refuses);
        self.take_over_from(index)?;
        self.consult(now, &Event::Replacement(device));
        self.begin_rebuild(device, now)
    }

    /// Other members stand in for a failed one, and begin to be given what it held. There is no device to talk to in its place,
    /// so to the coordinator it is a replacement that understands nothing.
    fn stand_in(&mut self, device: DeviceId, spare: u16, now: SimTime) -> Result<(), ArrayFailure> {
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::StoodIn(spare) });
        }
        self.holds_now(device, Member::stand_in);
        self.consult(now, &Event::Replacement(device));
        self.begin_rebuild(device, now)
    }

    /// Failures so far, and what the array has done about them.
    pub fn mishaps(&self) -> &[Mishap] {
        self.failures.as_deref().map_or(&[], |failures| &failures.log)
    }

    /// What failures have cost so far, and that the array did not start any more.
    pub(super) fn losses(&self) -> LossCounters {
        let mut losses = self.planner.loss_counters();
        self.failures.as_deref().iter().for_each(|failures| losses.add(&failures.refused));
        losses
    }

    /// Pages that members could not read so far.
    pub fn unreadable_pages(&self) -> u64 {
        self.failures.as_deref().map_or(0, |failures| failures.unreadable_pages)
    }

    /// The next spare begins to take the place of a member that works. Nothing happens if there is none, or the member is not
    /// whole, or its place is being taken.
    pub(super) fn begin_copy(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        let can_be_copied = self.restoring(device, 0, self.page_size).is_some();
        if self.members.health.of(device) != Condition::Whole
            || self.spare_of(device).is_some()
            || !can_be_copied
        {
            return Ok(());
        }
        let slot = self.members.devices.len();
        let Some(failures) = self.failures.as_deref_mut() else { return Ok(()) };
        let Some((number, mut spare)) = failures.spares.pop() else { return Ok(()) };
        self.members.numbers.push(number);
        self.members.health.change(device, |member| member.begin_copy(slot as u16));
        failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::Copying(number) });
        spare.stop_at_completions();
        spare.takes_part(now);
        self.members.devices.push(spare);
        self.members.outstanding.push(0);
        self.coupled.push(0);
        self.layers.add_slot(Terms::of(&self.members.devices[slot]));
        if self.payload.is_active() {
            self.payload.is_copied(device);
        }
        self.take_over_from(slot)?;
        self.begin_job_of_copy(device, now)
    }

    /// A member fails while it is copied: the spare takes its place as it is.
    #[cold]
    pub(super) fn fail_over(&mut self, device: DeviceId, now: SimTime) -> Result<(), ArrayFailure> {
        let index = device.index();
        let built = self.copied(device).filter(|_| self.nvram.is_none());
        self.members.devices[index].fail(now);
        self.give_up_parked(device);
        self.take_over_from(index)?;
        if self.payload.is_active() {
            self.payload.fails_over(device);
        }
        self.refuse_all_of(device, now)?;
        self.exchange(device, now);
        self.holds_now(device, |member| member.fail_over(built.unwrap_or(0)));
        self.access_has_changed(device);
        // What is about to be held back goes on as well.
        self.agenda.push(now, Message::Open(device));
        self.announce_later(device, now);
        self.rebuild_the_rest(device, built.is_some(), now)
    }

    /// A device that has retired may have answered everything: it is taken away.
    pub(super) fn has_left(&mut self, slot: usize, now: SimTime) -> Result<(), ArrayFailure> {
        // Flushes have no bytes that would be outstanding.
        if self.members.health.is_spare(slot) || !self.nodes.under_way_at(slot).is_empty() {
            return Ok(());
        }
        self.members.devices[slot].fail(now);
        self.take_over_from(slot)
    }
}
