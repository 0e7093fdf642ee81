//! Losses of power, and how the array starts again.
//!
//! ```text
//! power lost ─► operations, transactions and rows are forgotten ─► recover ─► resubmit: what was not acknowledged
//!               members finish the page operations that have begun         (requests that arrive meanwhile wait)
//! ```
//!
//! The controller forgets what is not in NVRAM. Members have stored power for the reads and programs that have begun; what they
//! had queued or on the link is forgotten. So a row that was being written may hold any mix of old and new pages. What was
//! acknowledged before stands, and so does a completion that was known and lies ahead, but for what was not flushed of a
//! write cache [without stored power](harmonia_ssd::Device::lose_power). Parked pages stay parked, and are written back again. Jobs go on where their first step under way began.
//!
//! Power is back at once: a loss takes no simulated time but what recovery takes. The host then submits again what was not
//! acknowledged, in order of arrival, flushes too. The time until then is the request's `restart`.
//!
//! An array with redundancy is dirty if writes were under way, or had been until 200 ms before: md marks an array clean after so
//! long without writes (`safe_mode_delay`). Where members forget what they cache it is dirty until they have flushed after that
//! (`clean`), and the rows of what they have lost need not agree, like those that were being written. What needs members to have flushed
//! otherwise says so itself: `bitmap`, `log`. A dirty array is gone through behind requests (`background`), from the beginning,
//! or where its bitmap says (`marking`). A dirty array with parity of which a member is missing does not start, as in md: what
//! parity says of the rest may be wrong. From then on requests are answered at once, and their pages counted as unread or unwritten. Where there is parity, resync waits for
//! a member that fails to be rebuilt, and begins again.
//!
//! Operations that members have begun are answered by nobody: their tokens are of an older generation.
//!
//! Source: the kernel's Documentation/admin-guide/md.rst and md(4) on unclean shutdown; drives of data centres keep power for
//! what they have begun. Not modelled: members whose caches forget with
//! spares, of which a part that is built may be lost: that is refused. Nor the time of the outage; members and coordinator that start
//! again, too: coordinators are not told, and messages between controller and members arrive; requests that the host would not submit
//! again.

use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, SimTime, sort_by_numbers};

use super::clean::CLEAN_AFTER;
use super::faults::{Mishap, MishapKind};
use super::locks::RowLocks;
use super::messages::Message;
use super::payload::Payload;
use super::requests::RequestState;
use super::states::{Purpose, State};
use super::tidying::Tidying;
use super::tokens::NONE;
use super::transactions::{Chain, Running};
use super::{Access, Array, ArrayFailure};
use crate::layout::Layout;
use crate::planner::{LossCounters, Transaction};

/// Whether the array takes requests, or recovers.
#[derive(Debug, Clone, Default)]
pub(super) enum Power {
    /// It takes them.
    #[default]
    On,
    /// It recovers. These requests will be submitted when it is done: what was not acknowledged, and what has arrived since.
    Recovers(Vec<HostRequest>),
    /// It was dirty and degraded, and does not start any more.
    Refused,
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Power is lost and back at once.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    ///
    /// # Panics
    /// If the array was built without faults, or without losses of power where members forget what they cache.
    pub fn lose_power(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        self.latest = self.latest.max(now);
        let requests = self.unacknowledged();
        let (again, is_dirty) = (requests.len() as u64, self.is_dirty(&requests, now));
        let marks = self.bitmap.as_deref().map(|bitmap| bitmap.flying.clone()).unwrap_or_default();
        let failures = self.failures.as_deref_mut().expect("an array that was built with faults");
        if matches!(failures.power, Power::Refused) {
            return Ok(());
        }
        let is_prepared = !failures.forgets || !failures.config.power_losses.is_empty();
        assert!(is_prepared, "an array of members that forget knows of its losses of power beforehand");
        failures.log.push(Mishap { at: now, device: None, what: MishapKind::PowerLost(again) });
        failures.power = Power::Recovers(requests);
        failures.is_dirty |= is_dirty;
        self.forget_everything(now);
        for device in 0..self.members.devices.len() {
            self.members.devices[device].lose_power(now);
            self.take_over_from(device)?;
            self.has_lost(device, &marks);
        }
        self.restart(now)
    }

    /// A device has lost what its cache held: rows in which others may have kept their parts. Blocks of the bitmap that were not being
    /// written were with FUA.
    fn has_lost(&mut self, device: usize, marks: &[u64]) {
        let (lost, page) = (self.members.devices[device].take_lost(), self.page_size);
        if self.layout.level().redundancy(self.layout.members()) == 0
            || device >= self.members.delivered.len()
        {
            return;
        }
        for offset in lost.into_iter().map(|lpn| u64::from(lpn.0) * page) {
            if offset + page <= self.layout.member_bytes() {
                if let Some(planner) = self.planner.resyncs() {
                    planner.is_lost(DeviceId(device as u16), offset, page);
                }
            } else if let Some(block) = self.bitmap.as_deref().and_then(|bitmap| bitmap.block_at(offset)) {
                assert!(marks.contains(&block), "block {block} of the bitmap is on member {device} for good");
            }
        }
    }

    /// The array starts again: rows that were being written are recovered, then requests are taken up.
    fn restart(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        // What the log says goes before everything else.
        let replays = self.replays(now);
        for &(number, spec) in &replays {
            let spec = Transaction { operation: Operation::Write, ..spec };
            let mut replay = Running::new(Purpose::Replay, spec, Chain::from(now));
            replay.log = number;
            self.begin_and_take_rows(replay, now);
            self.carry_out(now)?;
        }
        if replays.is_empty() { self.take_up_again(now) } else { Ok(()) }
    }

    /// No row is torn any more, or what recovers them runs beside the requests.
    #[cold]
    pub(super) fn take_up_again(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        if self.log.is_some() {
            self.agrees_to(None);
        }
        self.recover(now)?;
        self.resubmit(now)
    }

    /// Whether rows may have been written when power was lost, and something of them must agree.
    fn is_dirty(&self, requests: &[HostRequest], now: SimTime) -> bool {
        let writes = |request: &HostRequest| matches!(request.operation, Operation::Write | Operation::Trim);
        let failures = self.failures.as_deref();
        let last = failures.and_then(|failures| failures.last_write);
        let is_recent = match failures.and_then(|failures| failures.clean) {
            Some(clean) => !clean.is_clean(),
            None => last.is_some_and(|last| now.saturating_since(last) <= CLEAN_AFTER),
        };
        let is_redundant = self.layout.level().redundancy(self.layout.members()) > 0;
        // A log says what was being written.
        self.log.is_none() && is_redundant && (is_recent || requests.iter().any(writes))
    }

    /// Sees to rows that were being written when power was lost, and to the array's own work.
    fn recover(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let is_dirty =
            self.failures.as_deref_mut().is_some_and(|failures| std::mem::take(&mut failures.is_dirty));
        if is_dirty && matches!(self.layout, Layout::Parity(_)) && !self.members.health.is_complete() {
            return self.refuse_to_start(now);
        }
        self.read_bitmap(is_dirty, now);
        if is_dirty {
            self.begin_resync(now);
        } else if !self.is_resyncing() {
            // What a member has lost was on the others alike, or is written again by the host.
            self.agrees_to(None);
        }
        for device in (0..self.members.delivered.len() as u16).map(DeviceId) {
            self.arrange_destage(device, now);
        }
        self.work_on(now)
    }

    /// The array is dirty and degraded: it does not start any more.
    fn refuse_to_start(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(failures) = self.failures.as_deref_mut() else { return Ok(()) };
        failures.log.push(Mishap { at: now, device: None, what: MishapKind::Refused });
        let Power::Recovers(requests) = &mut failures.power else { return Ok(()) };
        let requests = std::mem::take(requests);
        failures.power = Power::Refused;
        if let Some(background) = self.background.as_deref_mut() {
            background.give_up_all(now);
        }
        if self.payload.is_active() {
            self.payload.refuses();
        }
        requests.iter().for_each(|request| _ = self.holds_until_restart(request, now));
        Ok(())
    }

    /// Whether the array does not start any more.
    pub(super) fn is_refused(&self) -> bool {
        self.failures.as_deref().is_some_and(|failures| matches!(failures.power, Power::Refused))
    }

    /// The host submits again what was not acknowledged, and what has arrived since power was lost.
    fn resubmit(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(failures) = self.failures.as_deref_mut() else { return Ok(()) };
        let Power::Recovers(requests) = &mut failures.power else { return Ok(()) };
        let requests = std::mem::take(requests);
        failures.power = Power::On;
        requests.into_iter().try_for_each(|request| self.take_up(request, now))?;
        self.may_tidy(now);
        Ok(())
    }

    /// Keeps a request until the array takes requests again, if it does not; one that never will answers it without its data.
    #[cold]
    pub(super) fn holds_until_restart(&mut self, request: &HostRequest, now: SimTime) -> bool {
        let Some(failures) = self.failures.as_deref_mut() else { return false };
        if matches!(request.operation, Operation::Write | Operation::Trim) {
            failures.last_write = Some(now);
            self.is_written(now);
        }
        let Some(failures) = self.failures.as_deref_mut() else { return false };
        match &mut failures.power {
            Power::On => return false,
            Power::Recovers(requests) => requests.push(*request),
            Power::Refused => {
                failures.refused.count(request, self.page_size);
                let handle = self.requests.insert(RequestState::new(*request, 0, now));
                self.complete(handle);
            }
        }
        true
    }

    /// Requests that were not acknowledged, in order of arrival.
    fn unacknowledged(&mut self) -> Vec<HostRequest> {
        let mut requests: Vec<HostRequest> = self.requests.iter().map(|state| state.request).collect();
        if let Some(Power::Recovers(held)) = self.failures.as_deref_mut().map(|failures| &mut failures.power)
        {
            requests.append(held);
        }
        sort_by_numbers(&mut requests, |request| (request.arrival.0, request.id));
        requests
    }

    /// What is not in NVRAM is forgotten.
    fn forget_everything(&mut self, now: SimTime) {
        if let Some(planner) = self.planner.resyncs() {
            let own = |running: &&Running| running.purpose != Purpose::Destage;
            let is_over = |running: &&Running| running.state == State::Ending;
            for running in self.transactions.iter().filter(own).filter(is_over) {
                planner.is_over(&running.spec, running.may_have_written());
            }
            let logged = |running: &Running| {
                let log = self.log.as_deref().filter(|_| running.purpose != Purpose::Replay)?;
                log.has_of(running.log)
            };
            // First what the log has: an equal transaction may wait for the same rows, and must not take their old places.
            let rest = || self.transactions.iter().filter(own).filter(|running| !is_over(running));
            for (running, logged) in rest().filter_map(|running| Some((running, logged(running)?))) {
                planner.is_logged(&running.spec, logged);
            }
            for running in rest().filter(|&running| logged(running).is_none()) {
                planner.is_cut_short(&running.spec, running.may_have_written());
            }
        }
        if self.payload.is_active() {
            self.payload.loses_power();
        }
        self.transactions.release_all();
        self.requests.release_all();
        self.nodes.forget_all();
        self.locks = RowLocks::default();
        self.waiting = 0;
        self.unsettled.clear();
        self.flushes.clear();
        self.agenda.retain(|message| !is_of_an_operation(message));
        self.reserved.lose_power();
        self.layers.lose_power();
        #[cfg(test)]
        self.bucket.iter_mut().for_each(|bucket| bucket.lose_power());
        let tidying = self.tidying.as_deref_mut().map(Tidying::lose_power);
        for slot in 0..self.members.devices.len() {
            self.coupled[slot] = 0;
            let was_promised = tidying.as_ref().is_some_and(|lost| lost.has_promised(slot));
            let had_any = std::mem::take(&mut self.members.outstanding[slot]) > 0 || was_promised;
            let device = DeviceId(slot as u16);
            if slot >= self.members.fixed {
                self.agenda.push(now, Message::Left(slot as u16));
            } else if had_any && self.members.health.access(device) == Access::Reserved {
                self.agenda.push(now, Message::Drained(device));
            }
        }
        self.forget_all_rows();
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.lose_power();
        }
        if let Some(nvram) = self.nvram.as_deref_mut() {
            nvram.forget_writes();
        }
        if let Some(bitmap) = self.bitmap.as_deref_mut() {
            bitmap.lose_power();
        }
        if let Some(background) = self.background.as_deref_mut() {
            background.forget_steps();
        }
        if let Some(clean) = self.failures.as_deref_mut().and_then(|failures| failures.clean.as_mut()) {
            clean.lose_power();
        }
    }
}

impl Running {
    /// Whether writes of it may have begun: those of its last step, or of one that was planned anew.
    fn may_have_written(&self) -> bool {
        let writes = matches!(self.spec.operation, Operation::Write | Operation::Trim);
        writes && self.operations > 0 && (self.later == NONE || self.spec.attempt > 0)
    }
}

impl LossCounters {
    /// Counts the pages of a request that an array does not answer with data.
    fn count(&mut self, request: &HostRequest, page: Bytes) {
        self.count_pages(request.operation, (request.offset, request.length), page);
    }

    /// The same of a part of one: first byte and length.
    pub(super) fn count_pages(
        &mut self,
        operation: Operation,
        (offset, length): (Bytes, Bytes),
        page: Bytes,
    ) {
        let pages = (offset + length).div_ceil(page) - offset / page;
        match operation {
            Operation::Read => self.unread_pages += pages,
            Operation::Write | Operation::Trim => self.unwritten_pages += pages,
            Operation::Flush => {}
        }
    }
}

/// Whether a message is about an operation or transaction under way.
fn is_of_an_operation(message: &Message) -> bool {
    matches!(
        message,
        Message::NextStep(_)
            | Message::End(_)
            | Message::Refused(..)
            | Message::Served(_)
            | Message::Hedge(_)
            | Message::Mark
            | Message::Passes(_)
    )
}

#[cfg(test)]
mod tests {
    use harmonia_types::SimTime;

    use super::*;

    #[test]
    fn pages_of_requests_without_data_are_counted_whole() {
        let mut counters = LossCounters::default();
        let request =
            |operation, offset, length| HostRequest::new(0, SimTime::ZERO, operation, offset, length);
        for (operation, offset, length) in [
            (Operation::Read, 4095, 2),
            (Operation::Read, 8192, 4096),
            (Operation::Write, 0, 4097),
            (Operation::Trim, 0, 1),
        ] {
            counters.count(&request(operation, offset, length), 4096);
        }
        assert_eq!((counters.unread_pages, counters.unwritten_pages), (3, 3));
    }
}
