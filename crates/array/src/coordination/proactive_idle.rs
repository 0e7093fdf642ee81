//! As reactive-selective. In idle time the registered members also collect, until the host is back.
//!
//! ```text
//! requests  ▬▬▬▬ ▬▬▬                                ▬▬▬▬
//!                   |<-- idle_threshold -->|         |
//! registered                               FORCE_GC [victim][victim]   each stops at a victim boundary
//! ```
//!
//! The array is idle while no request is outstanding. Garbage collection does not count as activity. After
//! `idle_threshold` of idleness the array orders all registered members to collect (FORCE_GC). Each collects until all of its
//! reserve is free or a request arrives.
//!
//! With `detect = "poll"` the array looks at every multiple of `poll`. With `detect = "event"` the last completion sets
//! a timer, and an arrival cancels it. The array does not look when it can learn nothing: while requests are
//! outstanding, and after it has ordered a collection in this idle period. So a silent array has no timers. Members
//! register only when they serve the host. Nobody can join later in an idle period, so one order for each period is
//! enough.
//!
//! A member that fails leaves the list of the registered. The array's own work, such as a rebuild, is no activity.
//!
//! Source: IEEE TC 2012 (section 4.3.2), "Proactive-idle". The paper extends reactive-selective: "the O-RAID checks the
//! status periodically" and acts if it finds an idle time "longer than a pre-defined threshold". Idle is "no SSD in the
//! array that is servicing requests or has pending requests". The paper gives neither period nor threshold, so both are keys.
//!
//! Leaves out: any prediction of how long idleness will last. (The paper's reference for one cannot be identified.)

use harmonia_ssd::interface::Stop;
use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::participants::Participants;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::Interface;

/// Keys of `[array.coordination]` with `policy = "proactive-idle"`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// How idleness is detected.
    detect: Detect,
    /// Time between two looks (`detect = "poll"`).
    poll: SimDuration,
    /// How long no request must have been outstanding before the array is idle.
    idle_threshold: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            detect: Detect::Poll,
            poll: SimDuration::from_us(1_000),
            idle_threshold: SimDuration::from_us(10_000),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Detect {
    #[default]
    Poll,
    Event,
}

#[derive(Clone)]
struct ProactiveIdle {
    config: Config,
    participants: Participants,
    /// Host requests that have arrived and not completed.
    outstanding: u64,
    /// Since when there has been none.
    idle_since: Option<SimTime>,
    /// A timer is on its way; there is never a second one.
    armed: bool,
    idle_periods: u64,
    forced_at_hard: u64,
    forced_in_idle: u64,
}

impl ProactiveIdle {
    fn new(config: Config, devices: u16) -> Self {
        ProactiveIdle {
            config,
            participants: Participants::new(devices),
            outstanding: 0,
            idle_since: None,
            armed: false,
            idle_periods: 0,
            forced_at_hard: 0,
            forced_in_idle: 0,
        }
    }

    /// When idleness since `since` is found, if it lasts.
    fn due(&self, since: SimTime) -> SimTime {
        let due = since + self.config.idle_threshold;
        match self.config.detect {
            Detect::Event => due,
            Detect::Poll => SimTime(due.0.div_ceil(self.config.poll.0) * self.config.poll.0),
        }
    }

    fn arm(&mut self, at: SimTime, actions: &mut Vec<Action>) {
        if !self.armed {
            self.armed = true;
            actions.push(Action::Timer(at, 0));
        }
    }

    /// Orders the registered members to collect; returns how many.
    fn force(&self, stop: Stop, view: &DeliveredView<'_>, actions: &mut Vec<Action>) -> u64 {
        let before = actions.len();
        let registered = view.capable().filter(|&member| self.participants.includes(member));
        actions.extend(registered.map(|member| Action::Force(member, stop)));
        (actions.len() - before) as u64
    }
}

impl Coordinator for ProactiveIdle {
    fn interests(&self) -> Interests {
        Interests { devices: true, arrivals: true, completions: true, answers: false }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        match *event {
            Event::Arrival(_) => {
                self.outstanding += 1;
                self.idle_since = None;
            }
            Event::Completion(_) => {
                self.outstanding -= 1;
                if self.outstanding == 0 {
                    self.idle_since = Some(now);
                    self.arm(self.due(now), actions);
                }
            }
            Event::Timer(_) => {
                self.armed = false;
                let Some(since) = self.idle_since else { return };
                let due = self.due(since);
                if now < due {
                    // The idleness it was set for was over before.
                    self.arm(due, actions);
                } else {
                    self.idle_periods += 1;
                    self.forced_in_idle += self.force(Stop::AllReserve, view, actions);
                }
            }
            Event::HardThreshold(_) => self.forced_at_hard += self.force(Stop::Internal, view, actions),
            _ => self.participants.note(event),
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("idle_periods", self.idle_periods),
            ("forced_in_idle", self.forced_in_idle),
            ("forced_at_hard", self.forced_at_hard),
        ]
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "proactive-idle",
    summary: "the first member whose free blocks fall to the hard threshold makes all at the soft threshold collect; these also collect in idle time",
    source: "IEEE TC 2012, 4.3.2; MSST 2011, IV-C",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        if config.poll == SimDuration::ZERO {
            return Err("poll must be above 0, expected a time such as \"1ms\"".into());
        }
        Ok(Box::new(ProactiveIdle::new(config, parameters.devices)))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, completion, forced, members};
    use super::*;
    use harmonia_types::DeviceId;

    const MS: u64 = 1_000_000;

    fn policy(detect: Detect) -> ProactiveIdle {
        ProactiveIdle::new(Config { detect, ..Config::default() }, 3)
    }

    /// What it does about `event` at `now`, with member 2 incapable.
    fn on(policy: &mut ProactiveIdle, now: u64, event: Event) -> Vec<Action> {
        let (members, mut actions) = (members(&[true, true, false]), Vec::new());
        policy.on(SimTime(now), &event, &DeliveredView::of(&members), &mut actions);
        actions
    }

    #[test]
    fn the_registered_collect_once_nothing_was_outstanding_for_the_threshold() {
        // Silent since 3.2 ms: a timer finds it at 13.2 ms, a poll at the next whole millisecond.
        for (detect, due) in [(Detect::Event, 13_200_000), (Detect::Poll, 14 * MS)] {
            let mut policy = policy(detect);
            on(&mut policy, 0, Event::SoftThreshold(DeviceId(1)));
            assert_eq!(on(&mut policy, MS, arrival()), []);
            assert_eq!(on(&mut policy, 2 * MS, arrival()), []);
            assert_eq!(on(&mut policy, 3 * MS, completion()), [], "one is still out");
            assert_eq!(on(&mut policy, 3_200_000, completion()), [Action::Timer(SimTime(due), 0)]);
            let force = Action::Force(DeviceId(1), Stop::AllReserve);
            assert_eq!(on(&mut policy, due, Event::Timer(0)), [force], "the registered, with no timer after");
            assert_eq!(policy.counters()[0], ("idle_periods", 1));
        }
    }

    #[test]
    fn an_arrival_ends_idleness_and_one_timer_serves_all_of_it() {
        let mut policy = policy(Detect::Event);
        on(&mut policy, 0, Event::SoftThreshold(DeviceId(0)));
        on(&mut policy, 0, arrival());
        assert_eq!(on(&mut policy, MS, completion()), [Action::Timer(SimTime(11 * MS), 0)]);
        on(&mut policy, 2 * MS, arrival());
        assert_eq!(on(&mut policy, 4 * MS, completion()), [], "the first timer is still on its way");
        assert_eq!(on(&mut policy, 11 * MS, Event::Timer(0)), [Action::Timer(SimTime(14 * MS), 0)]);
        on(&mut policy, 14 * MS - 1, arrival());
        assert_eq!(on(&mut policy, 14 * MS, Event::Timer(0)), [], "not idle, and no timer until it is");
        assert_eq!(on(&mut policy, 15 * MS, completion()), [Action::Timer(SimTime(25 * MS), 0)]);
    }

    #[test]
    fn at_a_hard_threshold_it_is_reactive_selective() {
        let mut policy = policy(Detect::Poll);
        let view = members(&[true, true, false]);
        for member in [0, 2] {
            assert!(forced(&mut policy, Event::SoftThreshold(DeviceId(member)), &view).is_empty());
        }
        assert_eq!(forced(&mut policy, Event::HardThreshold(DeviceId(1)), &view), [0]);
        forced(&mut policy, Event::GcEnded { device: DeviceId(0), registered: false }, &view);
        assert!(forced(&mut policy, Event::HardThreshold(DeviceId(1)), &view).is_empty());
    }

    #[test]
    fn only_its_own_orders_are_counted() {
        let mut policy = policy(Detect::Event);
        on(&mut policy, 0, Event::SoftThreshold(DeviceId(0)));
        on(&mut policy, 0, Event::SoftThreshold(DeviceId(1)));
        let (members, mut actions) = (members(&[true, true, false]), vec![Action::Query(DeviceId(2)); 3]);
        let view = DeliveredView::of(&members);
        policy.on(SimTime(MS), &Event::HardThreshold(DeviceId(1)), &view, &mut actions);
        policy.idle_since = Some(SimTime(MS));
        policy.on(SimTime(11 * MS), &Event::Timer(0), &view, &mut actions);
        assert_eq!(actions.len(), 3 + 2 + 2);
        let counters = [("idle_periods", 1), ("forced_in_idle", 2), ("forced_at_hard", 2)];
        assert_eq!(policy.counters(), counters);
    }

    #[test]
    fn in_idle_time_a_replacement_collects_only_once_it_has_registered() {
        let mut policy = policy(Detect::Event);
        on(&mut policy, 0, Event::SoftThreshold(DeviceId(0)));
        on(&mut policy, 0, Event::SoftThreshold(DeviceId(1)));
        on(&mut policy, 1, Event::Failure(DeviceId(1)));
        on(&mut policy, 2, Event::Replacement(DeviceId(1)));
        on(&mut policy, MS, arrival());
        on(&mut policy, 2 * MS, completion());
        let force = |member| Action::Force(DeviceId(member), Stop::AllReserve);
        assert_eq!(on(&mut policy, 12 * MS, Event::Timer(0)), [force(0)]);
        on(&mut policy, 13 * MS, Event::SoftThreshold(DeviceId(1)));
        on(&mut policy, 13 * MS, arrival());
        on(&mut policy, 14 * MS, completion());
        assert_eq!(on(&mut policy, 24 * MS, Event::Timer(0)), [force(0), force(1)]);
    }
}
