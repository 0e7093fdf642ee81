//! Failures of members: they fail, are replaced by spares, become slow, and cannot read pages.
//!
//! ```text
//! fails ─► what it was given is refused ─► GcEnded if it collected, Failure ─► a spare takes its place ─► Replacement
//!                                                                               rebuilt step by step ─► Rebuilt
//! ```
//!
//! A failed member answers nothing any more, and messages to it and from it are lost. Completions that were known before stand.
//! What is parked for it is given up, as the rows say it too. A spare takes its place after two message latencies, so that
//! nothing of the old member is on its way any more but the ends of windows that it was given in advance. On a layout with
//! distributed spares other members stand in for it after the same time (`stand_ins`), and no device comes. Devices keep the numbers they were made with, spares behind the members.
//!
//! A member that has become read-only, because its blocks are worn out, fails with the first write that it refuses. Until then it
//! serves reads. An array without redundancy keeps such a member: its reads are still answered.
//!
//! An unreadable page is found when it is read. It is read in another way, as if the member were missing, and written anew
//! behind the request's back, from the others.
//!
//! Source: Linux md, `drivers/md/md.c` (spares, `md_error`) and raid5.c (`raid5_end_read_request`: a page that cannot be read is
//! rebuilt and rewritten; `raid5_end_write_request`: a write that fails fails the member). Leaves out: md's limit of read errors
//! after which a member is failed, bad-block lists, and that RAID-1 keeps its last member whatever happens.

use harmonia_engine::Rng;
use harmonia_ssd::probe::Probe;
use harmonia_ssd::{AtEnd, Device, SubCompletion};
use harmonia_types::{Blame, Bytes, Counters, DeviceId, Operation, SimTime};
use serde::Serialize;

use super::clean::Clean;
use super::layers::Terms;
use super::messages::Message;
use super::payload::Payload;
use super::power::Power;
use super::states::{Progress, Purpose};
use super::tokens::Node;
use super::{Access, Array, ArrayFailure};
use crate::config::{Befalls, Faults, When};
use crate::coordination::{Delivered, Event};
use crate::layout::Layout;
use crate::member::Member;
use crate::planner::{LossCounters, Refusal};

/// A failure of a member or of the array, or what the array has done about one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mishap {
    /// When.
    pub at: SimTime,
    /// The member; none if it concerns the whole array.
    pub device: Option<DeviceId>,
    /// What.
    pub what: MishapKind,
}

/// What it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MishapKind {
    /// It failed.
    Failed,
    /// It refused a write, because its blocks are worn out. It fails at the same moment.
    ReadOnly,
    /// It takes so many times as long.
    Slow(f64),
    /// A spare took its place: the number it was made with.
    Replaced(u16),
    /// Distributed spare space of this number takes its place.
    StoodIn(u16),
    /// A spare begins to take its place while it works: the number that was made with.
    Copying(u16),
    /// The replacement holds everything.
    Rebuilt,
    /// Power was lost, and so many requests had to be submitted again.
    PowerLost(u64),
    /// All that was being written when power was lost agrees again.
    Resynced,
    /// Power was lost while it was written and a member was missing: it does not start any more.
    Refused,
}

/// Faults that are configured, what stands by for them, and what they have led to.
#[derive(Clone)]
pub(super) struct Failures<P: Probe> {
    pub config: Faults,
    /// Requests that have arrived.
    requests: u64,
    /// Spares that are left, the next one last, with the numbers they were made with.
    pub spares: Vec<(u16, Device<P>)>,
    /// Members that failed and were replaced.
    pub retired: Vec<(u16, Device<P>)>,
    rng: Rng,
    /// Pages until the next one that cannot be read.
    readable: u64,
    pub log: Vec<Mishap>,
    pub unreadable_pages: u64,
    pub power: Power,
    /// When something was last written.
    pub last_write: Option<SimTime>,
    /// Only where members keep data for one another and forget what they cache: whether they have flushed it.
    pub clean: Option<Clean>,
    /// Rows that were being written when power was lost are yet to be seen to.
    pub is_dirty: bool,
    /// What was lost because the array did not start any more, or with a member that nobody expected to fail.
    pub refused: LossCounters,
}

impl<P: Probe> Failures<P> {
    pub fn new(config: &Faults, members: usize, spares: Vec<Device<P>>) -> Self {
        let first = members as u16;
        let mut spares: Vec<_> = (first..).zip(spares).collect();
        spares.reverse();
        let mut rng = Rng::stream(config.seed, "array/page-errors");
        let readable = until_error(&mut rng, config.page_errors);
        Failures {
            config: config.clone(),
            requests: 0,
            spares,
            retired: Vec::new(),
            rng,
            readable,
            log: Vec::new(),
            unreadable_pages: 0,
            power: Power::default(),
            last_write: None,
            clean: None,
            is_dirty: false,
            refused: LossCounters::default(),
        }
    }

    /// Spares that are left, and members that were replaced.
    pub fn not_members(&mut self) -> impl Iterator<Item = &mut Device<P>> {
        self.spares.iter_mut().chain(&mut self.retired).map(|(_, device)| device)
    }

    /// Of so many pages that were read, the next one after the first `from` that could not be.
    fn unreadable(&mut self, from: u64, pages: u64) -> Option<u64> {
        let left = pages - from;
        if self.readable >= left {
            self.readable -= left;
            return None;
        }
        let page = from + self.readable;
        self.readable = until_error(&mut self.rng, self.config.page_errors);
        self.unreadable_pages += 1;
        Some(page)
    }
}

/// Pages that are read until one cannot be: geometrically distributed.
fn until_error(rng: &mut Rng, share: f64) -> u64 {
    if share <= 0.0 {
        return u64::MAX;
    }
    if share >= 1.0 {
        return 0;
    }
    libm::floor(rng.exponential(1.0) / -libm::log1p(-share)) as u64
}

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
                    self.collect_from(device)?;
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
        let failures = self
            .failures
            .get_or_insert_with(|| Box::new(Failures::new(&Faults::default(), members, Vec::new())));
        let index = device.index();
        if self.members.health.access(device) == Access::Failed {
            return Ok(());
        }
        failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::Failed });
        // Where nobody expected a failure, nothing was made to rebuild with.
        let stands_by =
            !failures.spares.is_empty() || self.members.health.stand_ins().is_some_and(|all| all.left() > 0);
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
        self.collect_from(index)?;
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
            return self.node_done(&done);
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

    /// An operation that belongs to its request directly is lost with its member, in an array that was built without faults. Of a
    /// write to a mirror other copies are left; a read that is under way is not tried again.
    #[cold]
    pub(super) fn loses_direct(&mut self, request: u32, node: &Node, at: SimTime, blame: &Blame) {
        let Node { operation, .. } = *node;
        let is_copy = operation.operation != Operation::Read && !matches!(self.layout, Layout::Striped(_));
        if let Some(failures) = self.failures.as_deref_mut().filter(|_| !is_copy) {
            let range = (operation.offset, operation.length);
            failures.refused.count_pages(operation.operation, range, self.page_size);
        }
        let (token, blame) = (0, *blame);
        self.direct_is_done(
            request,
            node,
            &SubCompletion { token, finish: at, blame, met_gc: false, is_parity: false },
        );
    }

    /// The coordinator hears that a device is gone.
    #[cold]
    pub(super) fn tell_of_failure(&mut self, device: DeviceId, now: SimTime) {
        self.members.avoided[device.index()] = false;
        let known = &mut self.members.delivered[device.index()];
        known.capable = false;
        if std::mem::replace(&mut known.collecting, false) && self.interests.devices {
            self.consult(now, &Event::GcEnded { device, registered: false });
        }
        self.consult(now, &Event::Failure(device));
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
        let Some((number, spare)) = failures.spares.pop() else { return Ok(()) };
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
        self.collect_from(index)?;
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

    /// A member comes into a state in which it holds more or less than before.
    pub(super) fn holds_now(&mut self, device: DeviceId, transition: impl FnOnce(&mut Member)) {
        self.members.health.change(device, transition);
        if self.payload.is_active() {
            self.payload.holds(device, self.members.health.of(device));
        }
    }

    /// A replacement is complete.
    pub(super) fn is_rebuilt(&mut self, device: DeviceId, now: SimTime) {
        self.holds_now(device, Member::complete);
        self.arrange_pass(now);
        if let Some(failures) = self.failures.as_deref_mut() {
            failures.log.push(Mishap { at: now, device: Some(device), what: MishapKind::Rebuilt });
        }
        self.consult(now, &Event::Rebuilt(device));
        self.may_tidy(now);
    }

    /// Whether pages may turn out to be unreadable.
    #[inline]
    pub(super) fn reads_may_fail(&self) -> bool {
        self.failures.as_deref().is_some_and(|failures| failures.config.page_errors > 0.0)
    }

    /// Pages of a read that turn out to be unreadable become operations of their own, which the member refuses when the rest
    /// of the read is done.
    #[cold]
    pub(super) fn find_unreadable(&mut self, node: &Node, done: &SubCompletion) {
        let Some(failures) =
            self.failures.as_deref_mut().filter(|failures| failures.config.page_errors > 0.0)
        else {
            return;
        };
        if node.operation.operation != Operation::Read || node.is_direct() || node.refused > 0 {
            return;
        }
        if self.transactions[node.transaction()].purpose == Purpose::Replay {
            return;
        }
        let size = self.page_size;
        let (start, end) = (node.operation.offset, node.operation.offset + node.operation.length);
        let pages = end.div_ceil(size) - start / size;
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(page) = failures.unreadable(from, pages) {
            found.push(page);
            from = page + 1;
        }
        for page in found {
            let offset: Bytes = ((start / size + page) * size).max(start);
            let length = ((start / size + page + 1) * size).min(end) - offset;
            let chain = self.chain_with(node, done.finish, node.operation.phase, &done.blame);
            let mut piece = Node { before: super::tokens::NONE, ..*node };
            (piece.operation.offset, piece.operation.length) = (offset, length);
            if self.payload.is_active() {
                self.tell_payload(node.parent, |payload, owner| {
                    payload.finds_unreadable(owner, &piece.planned(), done.token);
                });
            }
            self.add_to_step(&mut piece);
            piece.before = self.nodes.keep_before(chain);
            piece.progress = Progress::Begun;
            let place = self.nodes.insert(piece);
            let token = self.nodes.token(place);
            self.agenda.push(done.finish.max(self.latest), Message::Refused(token, Refusal::Unreadable));
        }
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
}
