//! The members, and what the controller knows of them.
//!
//! ```text
//! slot     0   1   2   3  │  4 ...          devices: the members, then what takes their places or has left them (`copying`)
//! member   0   1   2   3  │                 what messages have told, and its state (`crate::member`)
//! ```
//!
//! A planner and the coordinator see members by this part alone, so that either can be asked while the rest of the controller
//! changes.

use harmonia_ssd::Device;
use harmonia_ssd::probe::Probe;
use harmonia_types::{DeviceId, HostRequest, SimTime, sort_by_numbers};

use super::Array;
use super::jobs::Background;
use super::looking::{Looking, Sight};
use super::nvram::Nvram;
use super::payload::Payload;
use crate::coordination::Delivered;
use crate::health::Health;
use crate::member::Member;
use crate::planner::View;

/// Devices by slot, and the rest by member where nothing else is said.
#[derive(Clone)]
pub(super) struct Members<P: Probe> {
    /// The members, then whatever takes their places or has left them.
    pub devices: Vec<Device<P>>,
    /// By slot: the number that the device there was made with.
    pub numbers: Vec<u16>,
    /// What messages have told.
    pub delivered: Vec<Delivered>,
    /// In which states members are.
    pub health: Health,
    /// Slots that the array began with: its members and a journal. Those behind them come with copies.
    pub fixed: usize,
    /// The coordinator wants reads to do without it.
    pub avoided: Vec<bool>,
    /// By slot: bytes handed to the device and not served yet.
    pub outstanding: Vec<u64>,
    /// How much is seen of members without asking.
    pub sight: Sight,
}

/// Members whose states no cache near the processor holds together. Tests have few.
const MANY: usize = if cfg!(debug_assertions) { 2 } else { 64 };

impl<P: Probe> Members<P> {
    /// Whether they are so many that the caches are better asked for one before its turn.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.devices.len() >= MANY
    }

    /// The number that the device in a slot was made with.
    #[inline]
    pub fn number_of(&self, slot: usize) -> DeviceId {
        DeviceId(self.numbers[slot])
    }

    /// What can be seen of them at this moment; NVRAM has some of their pages.
    #[inline]
    pub fn look<'a>(&'a self, nvram: Option<&'a Nvram>, now: SimTime) -> Looking<'a, P> {
        Looking { members: self, nvram, now }
    }

    /// What planners see of them.
    #[inline]
    pub fn view<'a>(&'a self, look: &'a Looking<'a, P>) -> View<'a> {
        View { members: &self.delivered, health: &self.health, outstanding: &self.outstanding, look }
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// Whether anybody hears of members: who collects, and when.
    pub fn is_heard(&self) -> bool {
        self.listens
    }

    /// A request comes next, and time is about to pass up to its arrival: the caches are asked for what a small one will concern.
    /// That is the map entry of the first page on each member, or where members are many, these members. Where members run ahead,
    /// they ask when they come to the request. Changes nothing.
    #[inline]
    pub fn prefetch_for(&self, request: &HostRequest) {
        let HostRequest { offset, length, member, .. } = *request;
        let is_small = (1..=self.layout.stripe_unit()).contains(&length);
        if !is_small || member.is_some() || self.ahead.is_some() {
            return;
        }
        let are_many = self.members.are_many();
        self.layout.written(offset, length, |member, offset, _| {
            let device = &self.members.devices[member.index()];
            if are_many { device.prefetch() } else { device.prefetch_entry(offset) }
        });
    }

    /// All devices by the numbers they were made with: the members at the beginning, then the spares, then the journal.
    pub fn every_device(&self) -> Vec<&Device<P>> {
        let Some(failures) = self.failures.as_deref() else { return self.members.devices.iter().collect() };
        let slots = self.members.numbers.iter().copied().zip(&self.members.devices);
        let others =
            failures.spares.iter().chain(&failures.retired).map(|(number, device)| (*number, device));
        let mut all: Vec<(u16, &Device<P>)> = slots.chain(others).collect();
        sort_by_numbers(&mut all, |(number, _)| (u64::from(*number), 0));
        all.into_iter().map(|(_, device)| device).collect()
    }

    /// Whether all of the array is yet to be gone through.
    pub(super) fn is_resyncing(&self) -> bool {
        self.background.as_deref().is_some_and(Background::is_resyncing)
    }

    /// A member comes into a state in which it holds more or less than before.
    pub(super) fn holds_now(&mut self, device: DeviceId, transition: impl FnOnce(&mut Member)) {
        self.members.health.change(device, transition);
        if self.payload.is_active() {
            self.payload.holds(device, self.members.health.of(device));
        }
    }
}
