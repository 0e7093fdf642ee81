//! The O-RAID controller: carries out plans on the members and delivers messages between them and the coordinator.
//!
//! Like its devices it is sans-IO. Order at one moment: messages, then devices (lowest member first, each in its own
//! order), then whatever the caller submits. Where the coordinator wants no device events and plans have no
//! dependencies, members cannot influence one another, and each runs as far as the caller allows on its own.
//!
//! * `requests`: plans under way, chains of blame;
//! * `messages`: notices, directives, queries, timers.

mod messages;
mod requests;

use harmonia_engine::EventQueue;
use harmonia_ssd::probe::{NoProbe, Probe};
use harmonia_ssd::{Device, DeviceFailure, Ftl, SubCompletion};
use harmonia_types::registry::find;
use harmonia_types::{Completion, Deadlines, DeviceId, SimTime};

use crate::config::ArrayConfig;
use crate::coordination::{self, Action, Coordinator, Delivered, Interests, Parameters};
use crate::layout::Layout;
use crate::planner::{Plan, Planner, Raid0Planner};
use messages::Message;
pub use messages::MessageCounters;
use requests::{NodeState, RequestState};

/// A whole array of simulated SSDs.
pub struct Array<P: Probe = NoProbe> {
    devices: Vec<Device<P>>,
    layout: Layout,
    planner: Box<dyn Planner>,
    coordinator: Box<dyn Coordinator>,
    interests: Interests,
    /// Somebody wants to know who collects.
    listens: bool,
    /// Plans never have dependencies.
    is_flat: bool,
    message_latency: harmonia_types::SimDuration,
    /// Messages on their way, timers, and operations whose dependencies end in the future.
    agenda: EventQueue<Message>,
    delivered: Vec<Delivered>,
    requests: harmonia_ssd::Slab<RequestState>,
    nodes: harmonia_ssd::Slab<NodeState>,
    /// What members are told about how much time there is.
    deadlines: Deadlines,
    completions: Vec<Completion>,
    /// Collecting intervals by member, as (member, start, end).
    intervals: Vec<(DeviceId, SimTime, SimTime)>,
    counters: MessageCounters,
    plan: Plan,
    actions: Vec<Action>,
    finished: Vec<SubCompletion>,
    started: bool,
}

/// A member that cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayFailure {
    /// The member.
    pub device: DeviceId,
    /// What happened to it.
    pub failure: DeviceFailure,
}

impl std::fmt::Display for ArrayFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "device {} {}", self.device.0, self.failure)
    }
}

impl std::error::Error for ArrayFailure {}

impl<P: Probe> Array<P> {
    /// An array whose members start in the given states. `excluded` is left out of the stripe (skewed loads reach it
    /// by pinned requests only).
    ///
    /// # Errors
    /// If a policy is unknown or refuses its keys, or the number of states is not that of the members.
    pub fn new(
        config: &ArrayConfig,
        states: Vec<Ftl>,
        excluded: Option<DeviceId>,
        probe: impl FnMut(DeviceId) -> P,
    ) -> Result<Self, String> {
        let policy = &config.coordination.policy;
        let entry = find(coordination::REGISTRY, policy)
            .ok_or_else(|| format!("unknown coordination policy `{policy}`"))?;
        let coordinator = (entry.build)(&Parameters {
            devices: config.devices,
            message_latency: config.coordination.message_latency,
            own: &config.coordination.own,
        })?;
        Self::with_policies(config, states, excluded, coordinator, Box::new(Raid0Planner), probe)
    }

    /// As [`Array::new`], with a coordinator and planner that need not be registered.
    ///
    /// # Errors
    /// If the members cannot be built.
    pub fn with_policies(
        config: &ArrayConfig,
        states: Vec<Ftl>,
        excluded: Option<DeviceId>,
        coordinator: Box<dyn Coordinator>,
        planner: Box<dyn Planner>,
        mut probe: impl FnMut(DeviceId) -> P,
    ) -> Result<Self, String> {
        if states.len() != config.members.len() || states.is_empty() {
            return Err(format!("{} states for {} members", states.len(), config.members.len()));
        }
        let bytes = |ftl: &Ftl| u64::from(ftl.shape().logical_pages) * u64::from(ftl.shape().page_size);
        let member_bytes = states.iter().map(bytes).min().unwrap_or(0);
        let mut layout = Layout::raid0(config.devices, config.stripe_unit, member_bytes);
        if let Some(excluded) = excluded {
            layout = layout.all_but(excluded);
        }
        let mut devices = Vec::with_capacity(states.len());
        for (index, (member, state)) in config.members.iter().zip(states).enumerate() {
            let mut device = Device::new(&member.ssd, state, probe(DeviceId(index as u16)))?;
            if coordinator.interests().completions {
                // What the coordinator makes of one may concern this device the moment after.
                device.stop_at_completions();
            }
            devices.push(device);
        }
        let unknown = |member: &crate::MemberConfig| Delivered {
            status: None,
            as_of: SimTime::ZERO,
            capable: member.capable,
            collecting: false,
        };
        Ok(Array {
            devices,
            layout,
            listens: coordinator.interests().devices || planner.watches_devices(),
            is_flat: planner.is_flat(),
            planner,
            interests: coordinator.interests(),
            coordinator,
            message_latency: config.coordination.message_latency,
            agenda: EventQueue::default(),
            delivered: config.members.iter().map(unknown).collect(),
            requests: harmonia_ssd::Slab::default(),
            nodes: harmonia_ssd::Slab::default(),
            deadlines: Deadlines::default(),
            completions: Vec::new(),
            intervals: Vec::new(),
            counters: MessageCounters::default(),
            plan: Plan::default(),
            actions: Vec::new(),
            finished: Vec::new(),
            started: false,
        })
    }

    /// Requests submitted from now on should be done within these times of their arrival; members are told.
    pub fn set_deadlines(&mut self, deadlines: Deadlines) {
        self.deadlines = deadlines;
    }

    /// The next moment at which something happens by itself; [`SimTime::NEVER`] if nothing will.
    pub fn next_wakeup(&self) -> SimTime {
        let devices = self.devices.iter().map(Device::next_wakeup).min().unwrap_or(SimTime::NEVER);
        devices.min(self.agenda.next_time())
    }

    /// Lets time pass up to and including `until`.
    ///
    /// # Errors
    /// If a member runs out of free blocks; the array must not be used again.
    pub fn advance_until(&mut self, until: SimTime) -> Result<(), ArrayFailure> {
        self.start();
        let independent = !self.listens && !self.interests.completions && self.is_flat;
        loop {
            let message = self.agenda.next_time();
            let devices = || self.devices.iter().map(Device::next_wakeup).min().unwrap_or(SimTime::NEVER);
            if message <= until && message != SimTime::NEVER && message <= devices() {
                self.deliver(message)?;
                continue;
            }
            let bound = until.min(SimTime(message.0.saturating_sub(1)));
            if independent {
                let mut moved = false;
                for device in 0..self.devices.len() {
                    if self.devices[device].next_wakeup() <= bound {
                        self.advance_device(device, bound, false)?;
                        moved = true;
                    }
                }
                if !moved && self.agenda.next_time() > until {
                    return Ok(());
                }
                if !moved && message == SimTime::NEVER {
                    return Ok(());
                }
                continue;
            }
            let Some((device, limit)) = self.earliest_device(bound) else {
                if self.agenda.next_time() > until || self.agenda.is_empty() {
                    return Ok(());
                }
                continue;
            };
            // What a completion releases may concern any member at that very moment: none may be ahead of it.
            let limit = if self.is_flat { limit } else { self.devices[device].next_wakeup() };
            self.advance_device(device, limit, true)?;
        }
    }

    /// The device with the earliest event at or before `bound` (ties: the lowest), and how far it may run before
    /// another device has one.
    #[inline]
    fn earliest_device(&self, bound: SimTime) -> Option<(usize, SimTime)> {
        let (mut device, mut time, mut limit) = (usize::MAX, SimTime::NEVER, SimTime::NEVER);
        for (index, candidate) in self.devices.iter().enumerate() {
            let wakeup = candidate.next_wakeup();
            if wakeup < time {
                // The one displaced has a lower index, so it goes first at an equal time.
                limit = SimTime(time.0.saturating_sub(1));
                (device, time) = (index, wakeup);
            } else {
                limit = limit.min(wakeup);
            }
        }
        (time <= bound && time != SimTime::NEVER).then_some((device, limit.min(bound)))
    }

    fn advance_device(&mut self, device: usize, until: SimTime, stop: bool) -> Result<(), ArrayFailure> {
        let result = self.devices[device].advance_until(until, stop);
        result.map_err(|failure| ArrayFailure { device: DeviceId(device as u16), failure })?;
        self.collect_from(device)
    }

    /// Takes over what a device has to say.
    fn collect_from(&mut self, device: usize) -> Result<(), ArrayFailure> {
        let id = DeviceId(device as u16);
        let intervals = self.devices[device].gc_intervals();
        if !intervals.is_empty() {
            self.intervals.extend(intervals.drain(..).map(|(start, end)| (id, start, end)));
        }
        if !self.devices[device].notices().is_empty() {
            self.forward_notices(device);
        }
        if !self.devices[device].completions().is_empty() {
            let mut finished = std::mem::take(&mut self.finished);
            std::mem::swap(&mut finished, self.devices[device].completions());
            for done in &finished {
                self.node_done(done)?;
            }
            finished.clear();
            self.finished = finished;
        }
        Ok(())
    }

    /// Requests that completed, in the order they became known (a `finish` may lie ahead); the caller empties it.
    pub fn completions(&mut self) -> &mut Vec<Completion> {
        &mut self.completions
    }

    /// Intervals in which members collected, in order of time for each member; the caller empties it.
    pub fn gc_intervals(&mut self) -> &mut Vec<(DeviceId, SimTime, SimTime)> {
        &mut self.intervals
    }

    /// The members.
    pub fn devices(&self) -> &[Device<P>] {
        &self.devices
    }

    /// The measured window begins: members count their maxima anew, and their probes are told.
    pub fn begin_window(&mut self, from: SimTime) {
        self.devices.iter_mut().for_each(|device| device.begin_window(from));
    }

    /// How the array's bytes lie on its members.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Messages between controller and members so far.
    pub fn message_counters(&self) -> &MessageCounters {
        &self.counters
    }

    /// What the coordination policy has counted so far; see [`Coordinator::counters`].
    pub fn policy_counters(&self) -> Vec<(&'static str, u64)> {
        self.coordinator.counters()
    }
}
