//! Members take turns by the clock. Each may collect in its own time slot.
//!
//! ```text
//! member 0   [window]buffer                           [window]buffer
//! member 1                 [window]buffer                           [window]..
//! ```
//!
//! Member `i` of `n` may start to collect if `floor(t / (window + buffer)) mod n = i` and the time within the slot is at most
//! `window`. The array orders a member that has registered at its soft threshold to collect at the start of its window. It
//! repeats the order inside the window until the member ends above soft. The protocol is advisory: a member at its hard
//! threshold collects at any time.
//!
//! The policy is made for redundant arrays, which can read around the one member that collects. RAID-0 has to wait for that
//! member. There the policy only shows the cost of collecting at different times.
//!
//! Slots go by the clock: those of a member that failed pass unused until a replacement takes its place and registers.
//!
//! Source: GCSync, the fixed rotating slots of the IODA artifact (SOSP 2021).
//!
//! Leaves out: holding background collection outside the window, fast failure of requests, and reconstruction.

use harmonia_ssd::interface::Stop;
use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::participants::Participants;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::Interface;

/// Keys of `[array.coordination]` with `policy = "gcsync"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Time within a slot in which the member may start to collect.
    window: SimDuration,
    /// Time after the window in which no member may start, so that collections under way can end.
    buffer: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config { window: SimDuration::from_us(100_000), buffer: SimDuration::from_us(50_000) }
    }
}

#[derive(Clone)]
struct GcSync {
    config: Config,
    message_latency: SimDuration,
    devices: u64,
    participants: Participants,
    /// By member: when it was last forced, whether that is still to end, and whether the timer of its next slot is on
    /// its way.
    forced_at: Vec<Option<SimTime>>,
    is_forced: Vec<bool>,
    is_armed: Vec<bool>,
}

impl GcSync {
    fn new(config: Config, devices: u16, message_latency: SimDuration) -> Self {
        GcSync {
            config,
            message_latency,
            devices: u64::from(devices),
            participants: Participants::new(devices),
            forced_at: vec![None; usize::from(devices)],
            is_forced: vec![false; usize::from(devices)],
            is_armed: vec![false; usize::from(devices)],
        }
    }

    /// Whether a member may begin to collect.
    fn is_open(&self, member: DeviceId, now: SimTime) -> bool {
        let slot = (self.config.window + self.config.buffer).0;
        now.0 / slot % self.devices == u64::from(member.0) && now.0 % slot <= self.config.window.0
    }

    /// When a member's next slot begins.
    fn next_slot(&self, member: DeviceId, now: SimTime) -> SimTime {
        let slot = (self.config.window + self.config.buffer).0;
        let mut next = now.0 / slot + 1;
        next += (u64::from(member.0) + self.devices - next % self.devices) % self.devices;
        SimTime(next * slot)
    }

    /// Forces a registered member if its window is open, or else sets a timer for it.
    fn consider(
        &mut self,
        member: DeviceId,
        now: SimTime,
        view: &DeliveredView<'_>,
        actions: &mut Vec<Action>,
    ) {
        let is_forced = self.is_forced[member.index()];
        if is_forced || !self.participants.includes(member) || !view.members[member.index()].capable {
            return;
        }
        // What took no time has won nothing, and would not if it were done again at this moment.
        let heard = self.forced_at[member.index()].map(|at| at + self.message_latency * 2);
        if self.is_open(member, now) && heard.is_none_or(|heard| heard < now) {
            self.forced_at[member.index()] = Some(now);
            self.is_forced[member.index()] = true;
            actions.push(Action::Force(member, Stop::Internal));
        } else if !std::mem::replace(&mut self.is_armed[member.index()], true) {
            let from = heard.map_or(now, |heard| heard.max(now));
            actions.push(Action::Timer(self.next_slot(member, from), u64::from(member.0)));
        }
    }
}

impl Coordinator for GcSync {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn only_directs(&self) -> bool {
        true
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn keeps_apart(&self) -> bool {
        true
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.participants.note(event);
        match *event {
            Event::SoftThreshold(member) => self.consider(member, now, view, actions),
            Event::GcEnded { device, .. } => {
                self.is_forced[device.index()] = false;
                self.consider(device, now, view, actions);
            }
            Event::Failure(device) => {
                // What it was ordered never ends, and is no business of its replacement.
                self.is_forced[device.index()] = false;
                self.forced_at[device.index()] = None;
            }
            Event::Timer(number) => {
                self.is_armed[number as usize] = false;
                self.consider(DeviceId(number as u16), now, view, actions);
            }
            _ => {}
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "gcsync",
    summary: "members at their soft threshold collect one at a time, each in its own time slot",
    source: "GCSync; rule from the IODA artifact, SOSP 2021",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        if config.window < SimDuration::from_us(10) {
            return Err("window is too short, expected a time such as \"100ms\", at least 10us".into());
        }
        Ok(Box::new(GcSync::new(config, parameters.devices, parameters.message_latency)))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::members;
    use super::*;

    /// Slots of 100 + 50, three members of which the last is incapable.
    fn on(policy: &mut GcSync, now: u64, event: Event) -> Vec<Action> {
        let (members, mut actions) = (members(&[true, true, false]), Vec::new());
        policy.on(SimTime(now), &event, &DeliveredView::of(&members), &mut actions);
        actions
    }

    fn policy() -> GcSync {
        let config = Config { window: SimDuration(100), buffer: SimDuration(50) };
        GcSync::new(config, 3, SimDuration::ZERO)
    }

    fn soft(member: u16) -> Event {
        Event::SoftThreshold(DeviceId(member))
    }

    const FORCE_1: [Action; 1] = [Action::Force(DeviceId(1), Stop::Internal)];

    #[test]
    fn a_member_collects_in_its_own_window_alone() {
        // Member 1's slots begin at 150 and 600; the window is open up to and with its last moment.
        for (now, next) in [(0, 150), (149, 150), (251, 600), (299, 600), (300, 600)] {
            assert_eq!(on(&mut policy(), now, soft(1)), [Action::Timer(SimTime(next), 1)], "at {now}");
        }
        for now in [150, 250, 600] {
            assert_eq!(on(&mut policy(), now, soft(1)), FORCE_1, "at {now}");
        }
        assert_eq!(on(&mut policy(), 300, soft(2)), [], "an incapable member is left alone");
    }

    #[test]
    fn it_is_forced_again_until_it_ends_above_soft() {
        let mut policy = policy();
        let ended = |registered| Event::GcEnded { device: DeviceId(1), registered };
        on(&mut policy, 0, soft(1));
        assert_eq!(on(&mut policy, 150, Event::Timer(1)), FORCE_1);
        assert_eq!(on(&mut policy, 160, soft(1)), [], "it collects");
        assert_eq!(on(&mut policy, 190, ended(true)), FORCE_1);
        assert_eq!(on(&mut policy, 230, ended(false)), []);
        assert_eq!(on(&mut policy, 240, soft(1)), FORCE_1);
        assert_eq!(on(&mut policy, 260, ended(true)), [Action::Timer(SimTime(600), 1)], "the window is over");
        assert_eq!(on(&mut policy, 270, ended(true)), [], "one timer");
    }

    #[test]
    fn an_event_that_took_no_time_is_not_repeated_at_its_moment() {
        let mut policy = policy();
        assert_eq!(on(&mut policy, 150, soft(1)), FORCE_1);
        let ended = Event::GcEnded { device: DeviceId(1), registered: true };
        assert_eq!(on(&mut policy, 150, ended), [Action::Timer(SimTime(600), 1)]);
        // Where no time passes every die's event is the last one under way, so a force may end several times.
        assert_eq!(on(&mut policy, 150, ended), []);
    }

    #[test]
    fn a_member_that_fails_is_forced_no_more_and_its_replacement_is() {
        let mut policy = policy();
        assert_eq!(on(&mut policy, 150, soft(1)), FORCE_1);
        assert_eq!(on(&mut policy, 155, Event::Failure(DeviceId(1))), [], "before it began");
        assert_eq!(on(&mut policy, 160, soft(0)), [Action::Timer(SimTime(450), 0)], "slots go by the clock");
        assert_eq!(on(&mut policy, 170, Event::Replacement(DeviceId(1))), [], "nothing is to be collected");
        assert_eq!(on(&mut policy, 180, soft(1)), FORCE_1);
    }

    #[test]
    fn the_timer_of_a_member_that_failed_does_nothing() {
        let mut policy = policy();
        assert_eq!(on(&mut policy, 0, soft(1)), [Action::Timer(SimTime(150), 1)]);
        on(&mut policy, 10, Event::Failure(DeviceId(1)));
        on(&mut policy, 20, Event::Replacement(DeviceId(1)));
        assert_eq!(on(&mut policy, 150, Event::Timer(1)), []);
        assert_eq!(on(&mut policy, 160, soft(1)), FORCE_1);
    }
}
