//! Who collects when across the members of an array: one file per policy.
//!
//! A [`Coordinator`] is the control half of the O-RAID controller. It is sans-IO: it never owns a clock, sees only
//! what messages have delivered, and answers with actions; the same file drives a simulated array or a live device.
//! Events, views and actions are plain data with a text form, so that a policy may live in another language.
//! To add one, copy the shortest file here, add its line to [`REGISTRY`], and see CONTRIBUTING.md. A scheme that decides where
//! data goes as well has a folder in `schemes`, with its coordinator and its planner.

mod gclock;
mod gcsync;
mod hedge;
mod ioda;
mod local;
mod participants;
mod plm;
pub(crate) mod pools;
mod proactive_idle;
mod proactive_soft_limit;
mod rates;
mod reactive_inclusive;
mod reactive_selective;
mod redundancy;
pub(crate) mod serial;
mod sit_out;
mod spare_the_rebuild;
mod trigger;
mod ttflash;

use dyn_clone::DynClone;
use harmonia_ssd::interface::Stop;
use harmonia_types::registry::{self, Entry, OwnKeys, Registry};
use harmonia_types::{Completion, DeviceId, HostRequest, Operation, SimDuration, SimTime, WallClock};
use serde::{Deserialize, Serialize};

use crate::config::{Interface, MemberConfig, Reads};
pub use crate::delivered::Delivered;
pub use crate::placing::{Migration, Placing, Stripes};
use crate::schemes::gaftl;

/// Decides which members collect, and when.
pub trait Coordinator: Send + DynClone {
    /// Which kinds of events it wants; others are never delivered to it. Asked once, when the array is built.
    fn interests(&self) -> Interests;

    /// What it needs members to reveal and accept.
    fn interface(&self) -> Interface;

    /// Reacts to one event by appending actions, carried out in order.
    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>);

    /// Whether it keeps members from collecting at the same time. A request that needs several of them then waits for one
    /// after the other, unless the planner can do without the one that collects.
    fn keeps_apart(&self) -> bool {
        false
    }

    /// Whether all that it does is to direct members, to ask them and to set timers: it never reserves or avoids one. Then
    /// the members of a stripe may run ahead of one another.
    fn only_directs(&self) -> bool {
        false
    }

    /// Whether it does what `local` does as long as no member fails.
    fn waits_for_failures(&self) -> bool {
        false
    }

    /// Whether writes to members that collect go to other members, and members that are reserved finish what was planned before.
    fn displaces(&self) -> bool {
        false
    }

    /// How whoever displaces places whole stripes and parity.
    fn placing(&self) -> Placing {
        Placing::default()
    }

    /// How many members may collect at the same time under a policy that keeps the others from it.
    fn at_once(&self) -> u16 {
        1
    }

    /// What reads do about members that collect, if the policy has a rule of its own; otherwise `array.reads` says.
    fn reads(&self) -> Option<Reads> {
        None
    }

    /// After how long it does the same again, message for message, as long as nothing but its own timers reaches it: it then
    /// stands as now, but for all times that are later. Directives of such a round are those of windows ([`Action::Window`],
    /// [`Action::Hold`], [`Action::Release`]). `None` if that is not so, or not yet. Whoever drives it may leave rounds out in
    /// which nothing happens. Asked when the array is built, too: who answers `None` there is not asked again.
    fn round(&self) -> Option<SimDuration> {
        None
    }

    /// Rounds have gone by in which nothing but its timers reached it: so much time. What it knows of times, or numbers by
    /// time, moves on by as much.
    fn pass_rounds(&mut self, _: SimDuration) {}

    /// What about its keys cannot work on these members, for the warnings of the run: a window that is too short, say.
    fn cautions(&self) -> Vec<String> {
        Vec::new()
    }

    /// What it has counted since the run began, for the report; the names are always the same and never those of
    /// [`crate::MessageCounters`].
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

dyn_clone::clone_trait_object!(Coordinator);

/// Kinds of events a coordinator wants to see. The fewer, the further the simulator may look ahead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interests {
    /// Threshold notices and the start and end of collecting.
    pub devices: bool,
    /// Every host request's arrival.
    pub arrivals: bool,
    /// Every host request's completion.
    pub completions: bool,
    /// How long a member took for each of its operations.
    pub answers: bool,
}

/// Something that happened, as delivered to the controller.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::large_enum_variant, reason = "an event is lent to whoever listens, and kept nowhere")]
pub enum Event {
    /// The run begins; a moment to set timers.
    Start,
    /// A member reached its soft threshold (PARTICIPATE_GGC).
    SoftThreshold(DeviceId),
    /// A member reached its hard threshold. It collects, or will when its trigger says so.
    HardThreshold(DeviceId),
    /// A member began to collect.
    GcStarted(DeviceId),
    /// A member stopped collecting; `registered` says whether it is still at its soft threshold or below.
    GcEnded {
        /// The member.
        device: DeviceId,
        /// Some unit is still at its soft threshold or below.
        registered: bool,
    },
    /// A member in a deterministic window can take few more writes before it must collect.
    WindowWarning(DeviceId),
    /// A reserved member has no operation left.
    Drained(DeviceId),
    /// A member has answered an operation.
    Answered {
        /// The member.
        device: DeviceId,
        /// What it was.
        operation: Operation,
        /// From its submission to its answer.
        latency: SimDuration,
    },
    /// The answer to a query; the status is in the view.
    Status(DeviceId),
    /// A host request arrived.
    Arrival(HostRequest),
    /// A host request completed.
    Completion(Completion),
    /// A timer set earlier rang.
    Timer(u64),
    /// A member failed.
    Failure(DeviceId),
    /// A failed member was replaced; what it held is being rebuilt.
    Replacement(DeviceId),
    /// A replacement holds all that the member before it held.
    Rebuilt(DeviceId),
}

/// What a coordinator can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// FORCE_GC to one member.
    Force(DeviceId, Stop),
    /// Ask a member not to collect in the background.
    Hold(DeviceId),
    /// End a hold.
    Release(DeviceId),
    /// Ask a member for its status; the answer costs two messages.
    Query(DeviceId),
    /// Deliver [`Event::Timer`] with this number at that time.
    Timer(SimTime, u64),
    /// Keep new operations from a member: reads are answered without it, writes are parked or wait. Once it has no
    /// operation left, [`Event::Drained`] says so.
    Reserve(DeviceId),
    /// End a reservation.
    Return(DeviceId),
    /// Reads that can do without this member shall.
    Avoid(DeviceId),
    /// End that.
    Use(DeviceId),
    /// Give a member a window to collect in: it holds outside `[from, until)`.
    Window {
        /// The member.
        device: DeviceId,
        /// First moment.
        from: SimTime,
        /// First moment after.
        until: SimTime,
    },
}

/// What has been delivered to the controller so far.
pub struct DeliveredView<'a> {
    /// By member.
    pub members: &'a [Delivered],
    /// Which moment of UTC a simulated time stands for, so that a policy can collect at night. `None` where the load has no
    /// clock times: it is synthetic, or a trace that does not tell when it was recorded, or one replayed in a closed loop.
    pub clock: Option<WallClock>,
}

impl<'a> DeliveredView<'a> {
    /// A view of these members under a load that has no clock times.
    pub fn of(members: &'a [Delivered]) -> Self {
        DeliveredView { members, clock: None }
    }
}

impl DeliveredView<'_> {
    /// The members that speak the protocol and have not failed.
    pub fn capable(&self) -> impl Iterator<Item = DeviceId> + '_ {
        let ids = (0..self.members.len() as u16).map(DeviceId);
        ids.filter(|id| self.members[id.index()].capable)
    }
}

/// What a coordinator is built from.
pub struct Parameters<'a> {
    /// Number of members.
    pub devices: u16,
    /// Members that reads can do without at once.
    pub redundancy: u16,
    /// The members.
    pub members: &'a [MemberConfig],
    /// One-way message latency.
    pub message_latency: SimDuration,
    /// The policy's own keys as written in `[array.coordination]`.
    pub own: &'a OwnKeys,
}

impl Parameters<'_> {
    /// Reads the policy's `Config`; missing keys take its defaults.
    ///
    /// # Errors
    /// The first key whose value the `Config` does not accept, and what it does accept.
    pub fn config<C: serde::de::DeserializeOwned>(&self) -> Result<C, String> {
        registry::config(self.own)
    }
}

/// Builds a coordinator, or says which of its keys is wrong.
pub type Build = &'static (dyn Fn(&Parameters<'_>) -> Result<Box<dyn Coordinator>, String> + Send + Sync);

/// All coordination policies. (`ideal` in a comparison is `local` with the ideal schedule.)
pub const REGISTRY: &[Entry<Build>] = &[
    local::ENTRY,
    reactive_inclusive::ENTRY,
    reactive_selective::ENTRY,
    proactive_idle::ENTRY,
    proactive_soft_limit::ENTRY,
    gcsync::ENTRY,
    gclock::ENTRY,
    serial::ENTRY,
    ttflash::ENTRY,
    ioda::ENTRY,
    plm::ENTRY,
    sit_out::ENTRY,
    hedge::ENTRY,
    spare_the_rebuild::ENTRY,
    gaftl::COORDINATOR,
];

/// Those, and what a program has added.
pub static POLICIES: Registry<Build> = Registry::new("coordination policy", REGISTRY);

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use harmonia_engine::EventQueue;
    use harmonia_types::{Operation, RequestBlame};

    /// Some request's arrival.
    pub(crate) fn arrival() -> Event {
        Event::Arrival(HostRequest::new(0, SimTime::ZERO, Operation::Write, 0, 4096))
    }

    /// Its completion.
    pub(crate) fn completion() -> Event {
        Event::Completion(Completion {
            id: 0,
            operation: Operation::Write,
            offset: 0,
            length: 4096,
            arrival: SimTime::ZERO,
            finish: SimTime::ZERO,
            blame: RequestBlame::default(),
            met_gc: false,
            gc_wait: None,
        })
    }

    pub(crate) fn members(capable: &[bool]) -> Vec<Delivered> {
        let member = |&capable| Delivered { status: None, as_of: SimTime::ZERO, capable, collecting: false };
        capable.iter().map(member).collect()
    }

    pub(crate) fn soft(member: u16) -> Event {
        Event::SoftThreshold(DeviceId(member))
    }

    pub(crate) fn hard(member: u16) -> Event {
        Event::HardThreshold(DeviceId(member))
    }

    pub(crate) fn started(member: u16) -> Event {
        Event::GcStarted(DeviceId(member))
    }

    pub(crate) fn ended(member: u16, registered: bool) -> Event {
        Event::GcEnded { device: DeviceId(member), registered }
    }

    pub(crate) fn failed(member: u16) -> Event {
        Event::Failure(DeviceId(member))
    }

    pub(crate) fn replaced(member: u16) -> Event {
        Event::Replacement(DeviceId(member))
    }

    pub(crate) fn rebuilt(member: u16) -> Event {
        Event::Rebuilt(DeviceId(member))
    }

    /// A policy with these keys, as JSON, in an array of which nothing else is known.
    pub(crate) fn built(
        entry: &Entry<Build>,
        devices: u16,
        redundancy: u16,
        keys: &str,
    ) -> Result<Box<dyn Coordinator>, String> {
        let own = serde_json::from_str(keys).expect("a test writes JSON");
        let message_latency = SimDuration::ZERO;
        (entry.build)(&Parameters { devices, redundancy, members: &[], message_latency, own: &own })
    }

    /// Compares what a policy decides about four members, event by event, with what it should.
    #[track_caller]
    pub(crate) fn decisions(policy: &mut dyn Coordinator, expected: &[(u64, Event, &[Action])]) {
        let mut members = members(&[true; 4]);
        for (row, &(now, event, expected)) in expected.iter().enumerate() {
            match event {
                Event::GcStarted(device) => members[device.index()].collecting = true,
                Event::GcEnded { device, .. } => members[device.index()].collecting = false,
                Event::Failure(device) => members[device.index()].capable = false,
                Event::Replacement(device) => members[device.index()].capable = true,
                _ => {}
            }
            let mut actions = Vec::new();
            policy.on(SimTime(now), &event, &DeliveredView::of(&members), &mut actions);
            assert_eq!(actions, expected, "row {row}, at {now}: {event:?}");
        }
    }

    /// Members, arrivals, completions, answers. Of what a policy does not hear members can run ahead.
    #[test]
    fn policies_hear_what_they_act_on_and_nothing_else() {
        let members = rates::tests::members(8, 103);
        let (own, message_latency) = (serde_json::Map::new(), SimDuration::ZERO);
        let parameters =
            Parameters { devices: 8, redundancy: 1, members: &members, message_latency, own: &own };
        let mut heard = std::collections::BTreeMap::<[bool; 4], Vec<&str>>::new();
        for entry in REGISTRY {
            let policy = (entry.build)(&parameters).expect("its defaults will do");
            let Interests { devices, arrivals, completions, answers } = policy.interests();
            heard.entry([devices, arrivals, completions, answers]).or_default().push(entry.name);
        }
        let of_members = [
            "reactive-inclusive",
            "reactive-selective",
            "gcsync",
            "gclock",
            "serial",
            "ttflash",
            "plm",
            "gaftl",
        ];
        let expected = [
            ([false; 4], vec!["local", "ioda", "hedge", "spare-the-rebuild"]),
            ([false, false, false, true], vec!["sit-out"]),
            ([true, false, false, false], of_members.to_vec()),
            ([true, true, true, false], vec!["proactive-idle", "proactive-soft-limit"]),
        ];
        assert_eq!(heard, expected.into());
    }

    /// The members a policy forces in answer to one event.
    pub(crate) fn forced(policy: &mut dyn Coordinator, event: Event, members: &[Delivered]) -> Vec<u16> {
        let mut actions = Vec::new();
        policy.on(SimTime::ZERO, &event, &DeliveredView::of(members), &mut actions);
        let force = |action: &Action| match action {
            Action::Force(member, _) => Some(member.0),
            _ => None,
        };
        actions.iter().filter_map(force).collect()
    }

    /// The next timer of a policy rings; when, which, and what the policy does.
    fn ring(
        policy: &mut dyn Coordinator,
        members: &[Delivered],
        timers: &mut EventQueue<u64>,
    ) -> (SimTime, u64, Vec<Action>) {
        let (now, number) = timers.pop_due(SimTime::NEVER).expect("the next timer");
        (now, number, act(policy, members, timers, now, Event::Timer(number)))
    }

    fn act(
        policy: &mut dyn Coordinator,
        members: &[Delivered],
        timers: &mut EventQueue<u64>,
        now: SimTime,
        event: Event,
    ) -> Vec<Action> {
        let mut actions = Vec::new();
        policy.on(now, &event, &DeliveredView::of(members), &mut actions);
        for action in &actions {
            if let Action::Timer(at, number) = *action {
                timers.push(at, number);
            }
        }
        actions
    }

    /// Compares a policy that goes through rounds, timer by timer, with a copy that passes them: both must do the same from then on. The
    /// events come when the run has begun.
    #[track_caller]
    pub(crate) fn follow_rounds(
        policy: &mut dyn Coordinator,
        devices: u16,
        events: impl Iterator<Item = Event>,
    ) {
        const ROUNDS: u64 = 7;
        let members = members(&vec![true; usize::from(devices)]);
        let (mut timers, mut compared) = (EventQueue::default(), 0);
        act(policy, &members, &mut timers, SimTime::ZERO, Event::Start);
        for event in events {
            act(policy, &members, &mut timers, SimTime(1), event);
        }
        for _ in 0..40 {
            let (now, ..) = ring(policy, &members, &mut timers);
            let Some(round) = policy.round().filter(|_| compared < 10 && timers.next_time() > now) else {
                continue;
            };
            let time = round * ROUNDS;
            let (mut all, mut all_timers) = (dyn_clone::clone_box(policy), timers.clone());
            while all_timers.next_time() <= now + time {
                ring(&mut *all, &members, &mut all_timers);
            }
            let (mut fewer, mut fewer_timers) = (dyn_clone::clone_box(policy), timers.clone());
            fewer.pass_rounds(time);
            fewer_timers.postpone(time, |_| true);
            for _ in 0..30 {
                let next = ring(&mut *all, &members, &mut all_timers);
                assert_eq!(ring(&mut *fewer, &members, &mut fewer_timers), next, "from {now} on");
            }
            compared += 1;
        }
        assert!(compared > 0, "there was no round");
    }
}
