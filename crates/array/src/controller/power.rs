//! Losses of power, and how the array starts again.
//!
//! ```text
//! power lost ─► operations, transactions and rows are forgotten ─► recover ─► resubmit: what was not acknowledged
//!               members finish the page operations that have begun         (requests that arrive meanwhile wait)
//! ```
//!
//! The controller forgets what is not in NVRAM. Members have stored power for the reads and programs that have begun, as
//! drives with power-loss protection do; what they had queued or on the link is forgotten. So a row that was being written
//! may hold any mix of old and new pages. What was acknowledged before stands, and so does a completion that was known and
//! lies ahead. Parked pages stay parked, and are written back again. Jobs go on where their first step under way began.
//!
//! Power is back at once: a loss takes no simulated time but what recovery takes. The host then submits again what was not
//! acknowledged, in order of arrival, flushes too. The time until then is the request's `restart`.
//!
//! Operations that members have begun are answered by nobody: their tokens are of an older generation.
//!
//! Source: the kernel's Documentation/admin-guide/md.rst and md(4) on unclean shutdown; drives of data centres keep power for
//! what they have begun. Not modelled: the time of the outage; members and coordinator that start again, too: coordinators are
//! not told, and messages between controller and members arrive; requests that the host would not submit again.

use harmonia_ssd::probe::Probe;
use harmonia_types::{DeviceId, HostRequest, SimTime};

use super::failure::{Mishap, MishapKind};
use super::locks::RowLocks;
use super::messages::Message;
use super::payload::Payload;
use super::{Access, Array, ArrayFailure};

/// Whether the array takes requests, or recovers.
#[derive(Debug, Default)]
pub(super) enum Power {
    /// It takes them.
    #[default]
    On,
    /// It recovers. These requests will be submitted when it is done: what was not acknowledged, and what has arrived since.
    Recovers(Vec<HostRequest>),
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Power is lost and back at once.
    ///
    /// # Errors
    /// If a member runs out of free blocks.
    ///
    /// # Panics
    /// If the array was built without faults.
    pub fn lose_power(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        self.latest = self.latest.max(now);
        let requests = self.unacknowledged();
        let again = requests.len() as u64;
        let fate = self.fate.as_deref_mut().expect("an array that was built with faults");
        fate.log.push(Mishap { at: now, device: None, what: MishapKind::PowerLost(again) });
        fate.power = Power::Recovers(requests);
        self.forget_everything(now);
        for device in 0..self.devices.len() {
            self.devices[device].lose_power(now);
            self.collect_from(device)?;
        }
        self.restart(now)
    }

    /// The array starts again: rows that were being written are recovered, then requests are taken up.
    fn restart(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        // What the log says goes before everything else.
        if self.replay(now)? { Ok(()) } else { self.go_on(now) }
    }

    /// No row is torn any more, or what recovers them runs beside the requests.
    pub(super) fn go_on(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        self.recover(now)?;
        self.resubmit(now)
    }

    /// Sees to rows that were being written when power was lost, and to the array's own work.
    fn recover(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        for device in (0..self.delivered.len() as u16).map(DeviceId) {
            self.arrange_destage(device, now);
        }
        self.work_on(now)
    }

    /// The host submits again what was not acknowledged, and what has arrived since power was lost.
    fn resubmit(&mut self, now: SimTime) -> Result<(), ArrayFailure> {
        let Some(fate) = self.fate.as_deref_mut() else { return Ok(()) };
        let Power::Recovers(requests) = std::mem::take(&mut fate.power) else { return Ok(()) };
        requests.into_iter().try_for_each(|request| self.take_up(request, now))
    }

    /// Keeps a request until the array takes requests again, if it does not.
    pub(super) fn holds_until_restart(&mut self, request: &HostRequest) -> bool {
        match self.fate.as_deref_mut().map(|fate| &mut fate.power) {
            Some(Power::Recovers(requests)) => {
                requests.push(*request);
                true
            }
            _ => false,
        }
    }

    /// Requests that were not acknowledged, in order of arrival.
    fn unacknowledged(&mut self) -> Vec<HostRequest> {
        let mut requests: Vec<HostRequest> = self.requests.iter().map(|state| state.request).collect();
        if let Some(Power::Recovers(held)) = self.fate.as_deref_mut().map(|fate| &mut fate.power) {
            requests.append(held);
        }
        requests.sort_by_key(|request| (request.arrival, request.id));
        requests
    }

    /// What is not in NVRAM is forgotten.
    fn forget_everything(&mut self, now: SimTime) {
        for running in self.transactions.iter().filter(|running| !running.is_destage) {
            self.planner.done(now, &running.spec);
        }
        if C::ACTIVE {
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
        self.held_back.iter_mut().for_each(Vec::clear);
        for slot in 0..self.devices.len() {
            self.coupled[slot] = 0;
            let had_any = std::mem::take(&mut self.outstanding[slot]) > 0;
            match self.access.get(slot) {
                Some(Access::Reserved) if had_any => {
                    self.agenda.push(now, Message::Drained(DeviceId(slot as u16)));
                }
                None => self.agenda.push(now, Message::Left(slot as u16)),
                Some(_) => {}
            }
        }
        self.forget_all_rows();
        if let Some(cache) = self.cache.as_deref_mut() {
            cache.lose_power();
        }
        if let Some(nvram) = self.nvram.as_deref_mut() {
            nvram.forget_writes();
        }
        if let Some(background) = self.background.as_deref_mut() {
            background.forget_steps();
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
    )
}
