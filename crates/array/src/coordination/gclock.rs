//! One member collects at a time: the one that holds the token.
//!
//! The array has one token. Members queue for it, first come first served, when they register at their soft threshold. The
//! holder is ordered to collect. It releases the token when its collection has ended and a grace period has passed. The
//! protocol is advisory: a member at its hard threshold collects without the token.
//!
//! As with gcsync, this pays where redundancy lets the array read around the holder. RAID-0 has to wait for every holder in
//! turn.
//!
//! A holder that fails gives up the token at once, and a member that fails leaves the queue.
//!
//! Source: GCLock, one of the schemes that the IODA artifact (SOSP 2021) compares with.
//!
//! Leaves out: how urgently the members in the queue need to collect.

use std::collections::VecDeque;

use harmonia_ssd::interface::Stop;
use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::Interface;

/// Keys of `[array.coordination]` with `policy = "gclock"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// How long the token stays unused after its holder's collection has ended.
    grace: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config { grace: SimDuration::from_us(1_000) }
    }
}

/// Where the token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Free,
    /// With a member that was forced.
    Held(DeviceId),
    /// Nowhere until the timer rings.
    Resting,
}

#[derive(Clone)]
struct GcLock {
    grace: SimDuration,
    token: Token,
    /// Registered members that wait for it, the first to be served first.
    queue: VecDeque<DeviceId>,
}

impl GcLock {
    /// Gives the token to the first in the queue, if it is free.
    fn grant(&mut self, actions: &mut Vec<Action>) {
        if self.token == Token::Free
            && let Some(member) = self.queue.pop_front()
        {
            self.token = Token::Held(member);
            actions.push(Action::Force(member, Stop::Internal));
        }
    }

    fn enqueue(&mut self, member: DeviceId, view: &DeliveredView<'_>) {
        if view.members[member.index()].capable && !self.queue.contains(&member) {
            self.queue.push_back(member);
        }
    }
}

impl Coordinator for GcLock {
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
        match *event {
            Event::SoftThreshold(member) => self.enqueue(member, view),
            Event::GcEnded { device, registered } => {
                if self.token == Token::Held(device) {
                    self.token = Token::Resting;
                    actions.push(Action::Timer(now + self.grace, 0));
                }
                if registered {
                    self.enqueue(device, view);
                } else {
                    self.queue.retain(|&member| member != device);
                }
            }
            Event::Failure(member) => {
                self.queue.retain(|&other| other != member);
                if self.token == Token::Held(member) {
                    self.token = Token::Free;
                }
            }
            Event::Timer(_) => self.token = Token::Free,
            _ => {}
        }
        self.grant(actions);
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "gclock",
    summary: "members at their soft threshold collect one at a time, whichever holds the token",
    source: "GCLock; rule from the IODA artifact, SOSP 2021",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { grace } = parameters.config()?;
        if grace < SimDuration::from_us(1) {
            return Err("grace is too short, expected a time such as \"1ms\", at least 1us".into());
        }
        Ok(Box::new(GcLock { grace, token: Token::Free, queue: VecDeque::new() }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::members;
    use super::*;

    fn on(policy: &mut GcLock, now: u64, event: Event) -> Vec<Action> {
        let (members, mut actions) = (members(&[true, true, true, false]), Vec::new());
        policy.on(SimTime(now), &event, &DeliveredView::of(&members), &mut actions);
        actions
    }

    fn policy() -> GcLock {
        GcLock { grace: SimDuration(10), token: Token::Free, queue: VecDeque::new() }
    }

    fn soft(member: u16) -> Event {
        Event::SoftThreshold(DeviceId(member))
    }

    fn ended(member: u16, registered: bool) -> Event {
        Event::GcEnded { device: DeviceId(member), registered }
    }

    fn force(member: u16) -> [Action; 1] {
        [Action::Force(DeviceId(member), Stop::Internal)]
    }

    #[test]
    fn the_token_goes_round_in_order_and_rests_after_every_collection() {
        let mut policy = policy();
        assert_eq!(on(&mut policy, 0, soft(2)), force(2));
        for member in [0, 1, 3] {
            assert_eq!(on(&mut policy, 1, soft(member)), []);
        }
        assert_eq!(on(&mut policy, 50, ended(2, true)), [Action::Timer(SimTime(60), 0)], "and queues again");
        assert_eq!(on(&mut policy, 60, Event::Timer(0)), force(0));
        assert_eq!(on(&mut policy, 90, ended(0, false)), [Action::Timer(SimTime(100), 0)]);
        assert_eq!(on(&mut policy, 100, Event::Timer(0)), force(1));
        on(&mut policy, 130, ended(1, false));
        assert_eq!(on(&mut policy, 140, Event::Timer(0)), force(2));
        on(&mut policy, 150, ended(2, false));
        assert_eq!(on(&mut policy, 160, Event::Timer(0)), [], "nobody is left, the incapable one included");
    }

    #[test]
    fn who_collected_on_its_own_leaves_the_queue() {
        let mut policy = policy();
        on(&mut policy, 0, soft(0));
        on(&mut policy, 0, soft(1));
        on(&mut policy, 0, soft(2));
        assert_eq!(on(&mut policy, 10, ended(1, false)), [], "it did not have the token");
        on(&mut policy, 20, ended(0, false));
        assert_eq!(on(&mut policy, 30, Event::Timer(0)), force(2));
    }

    #[test]
    fn the_token_of_a_member_that_fails_goes_to_the_next_one() {
        let mut policy = policy();
        for (now, member, expected) in [(0, 0, &force(0)[..]), (1, 1, &[]), (2, 2, &[])] {
            assert_eq!(on(&mut policy, now, soft(member)), expected);
        }
        assert_eq!(on(&mut policy, 5, Event::Failure(DeviceId(1))), [], "it waited for the token");
        assert_eq!(on(&mut policy, 6, Event::Failure(DeviceId(0))), force(2), "it held the token");
        assert_eq!(on(&mut policy, 7, Event::Replacement(DeviceId(0))), []);
        assert_eq!(on(&mut policy, 8, soft(0)), [], "its replacement waits like any other");
        on(&mut policy, 9, ended(2, false));
        assert_eq!(on(&mut policy, 20, Event::Timer(0)), force(0));
    }

    #[test]
    fn a_token_that_rests_already_goes_on_resting() {
        let mut policy = policy();
        on(&mut policy, 0, soft(0));
        on(&mut policy, 1, soft(1));
        // So the array has it when a member that collects fails.
        assert_eq!(on(&mut policy, 5, ended(0, false)), [Action::Timer(SimTime(15), 0)]);
        assert_eq!(on(&mut policy, 5, Event::Failure(DeviceId(0))), []);
        assert_eq!(on(&mut policy, 15, Event::Timer(0)), force(1));
    }
}
