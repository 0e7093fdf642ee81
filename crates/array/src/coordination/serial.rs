//! One member collects at a time. It is kept free of new operations, drained, and only then collects.
//!
//! ```text
//! registered   reserved        drained, forced               collection ends, returned
//!     |  waits    |  old operations  |        collects              |
//! ```
//!
//! Members register at their soft threshold. The array is in one of four states:
//!
//! - *None*: no member is registered.
//! - *S* (soft): some members are at soft and none is at hard. One after the other is granted, first come first served.
//! - *P* (prioritised): one member is at hard. It goes first; a member that has been granted and still drains is returned.
//! - *N* (not serialised): two or more members are at hard. Nobody is granted, and each of them collects by itself.
//!
//! The protocol is advisory: a member at its hard threshold collects without being asked. So in P the member that goes first
//! collects already, and the grant keeps operations from it. A member that is still at soft after its collection queues
//! again. A member that has not begun to collect when word of it would have come is returned, because a concurrency policy
//! of its own may keep it from that. It is served again at its next threshold.
//!
//! While a member is reserved, reads are answered without it and writes are parked or wait. Without redundancy that would
//! only add waiting, so there members are forced as soon as they are granted.
//!
//! The scheme has a limit: collection must take less than one n-th of the time of each of n members. Beyond, N is entered
//! again and again; `entered_n` counts that.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), "serialised GC". Its Algorithm 6 compares with the signs of the pools
//! inverted, changes between N and P for ever, and says nothing about a first member that is at hard. The states above are
//! what its text describes.
//!
//! Leaves out: the random choice among members at soft, and the rest of GAFTL (placement and migration of parity).

use std::collections::VecDeque;

use harmonia_ssd::interface::Stop;
use harmonia_types::registry::Entry;
use harmonia_types::{DeviceId, SimDuration, SimTime};

use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::{Avoid, Interface, Reads};

/// What the pools of members at soft and at hard make of the array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    None,
    Soft,
    Prioritised(DeviceId),
    NotSerialised,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grant {
    Nobody,
    /// Reserved, and serves what it was given before.
    Draining(DeviceId),
    /// Forced.
    Collecting(DeviceId),
}

struct Serial {
    has_redundancy: bool,
    /// Until an order is carried out and its result is known.
    round_trip: SimDuration,
    /// By member: when it was last forced.
    forced_at: Vec<Option<SimTime>>,
    /// Registered members, the first to be granted first.
    soft: VecDeque<DeviceId>,
    /// Members at hard, the first to have got there first.
    hard: Vec<DeviceId>,
    state: State,
    grant: Grant,
    grants: u64,
    entered_p: u64,
    entered_n: u64,
}

impl Serial {
    fn new(devices: u16, redundancy: u16, message_latency: SimDuration) -> Self {
        Serial {
            has_redundancy: redundancy > 0,
            round_trip: message_latency * 2,
            forced_at: vec![None; usize::from(devices)],
            soft: VecDeque::new(),
            hard: Vec::new(),
            state: State::default(),
            grant: Grant::Nobody,
            grants: 0,
            entered_p: 0,
            entered_n: 0,
        }
    }

    fn forget(&mut self, member: DeviceId) {
        self.soft.retain(|&other| other != member);
        self.hard.retain(|&other| other != member);
    }

    /// A collection has ended; the member's reservation ends with it.
    fn ended(&mut self, member: DeviceId, registered: bool, now: SimTime, actions: &mut Vec<Action>) {
        self.forget(member);
        // What took no time has won nothing, and would not if it were done again at this moment. Where no time passes every
        // die's event is the last one under way, so a force may end several times.
        let took_time = self.forced_at[member.index()].is_none_or(|at| now > at + self.round_trip);
        if matches!(self.grant, Grant::Draining(granted) | Grant::Collecting(granted) if granted == member) {
            self.withdraw(actions);
        }
        if registered && took_time {
            self.soft.push_back(member);
        }
    }

    fn withdraw(&mut self, actions: &mut Vec<Action>) {
        if let Grant::Draining(member) | Grant::Collecting(member) = self.grant
            && self.has_redundancy
        {
            actions.push(Action::Return(member));
        }
        self.grant = Grant::Nobody;
    }

    /// Decides anew which state the array is in.
    fn judge(&mut self) {
        let state = match self.hard[..] {
            [] if self.soft.is_empty() => State::None,
            [] => State::Soft,
            [first] => State::Prioritised(first),
            _ => State::NotSerialised,
        };
        if state != self.state {
            self.entered_p += u64::from(matches!(state, State::Prioritised(_)));
            self.entered_n += u64::from(state == State::NotSerialised);
            self.state = state;
        }
    }

    /// Gives the turn to whom the state gives it.
    fn serve(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        let next = match self.state {
            State::None | State::NotSerialised => None,
            State::Soft => self.soft.front().copied(),
            State::Prioritised(member) => Some(member),
        };
        if let Grant::Draining(member) = self.grant
            && self.state != State::Soft
            && next != Some(member)
        {
            self.withdraw(actions);
        }
        if let (Grant::Nobody, Some(member)) = (self.grant, next) {
            self.grants += 1;
            if self.has_redundancy {
                self.grant = Grant::Draining(member);
                actions.push(Action::Reserve(member));
            } else {
                self.force(member, now, actions);
            }
        }
    }

    fn force(&mut self, member: DeviceId, now: SimTime, actions: &mut Vec<Action>) {
        self.grant = Grant::Collecting(member);
        self.forced_at[member.index()] = Some(now);
        actions.push(Action::Force(member, Stop::Internal));
        // Word that it has begun arrives at the round trip's last moment, behind a timer of that moment.
        actions.push(Action::Timer(now + self.round_trip + SimDuration(1), u64::from(member.0)));
    }

    /// Whether a member was forced and should have told by now that it collects.
    fn is_overdue(&self, member: DeviceId, now: SimTime) -> bool {
        let forced_at = self.forced_at[member.index()];
        self.grant == Grant::Collecting(member) && forced_at.is_some_and(|at| now > at + self.round_trip)
    }
}

impl Coordinator for Serial {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn keeps_apart(&self) -> bool {
        true
    }

    fn reads(&self) -> Option<Reads> {
        self.has_redundancy.then_some(Reads::Avoid(Avoid::Longest))
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        match *event {
            Event::SoftThreshold(member) if !self.soft.contains(&member) => self.soft.push_back(member),
            Event::HardThreshold(member) if !self.hard.contains(&member) => self.hard.push(member),
            Event::GcEnded { device, registered } => self.ended(device, registered, now, actions),
            Event::Drained(member) if self.grant == Grant::Draining(member) => {
                self.force(member, now, actions)
            }
            Event::Failure(member) => self.ended(member, false, now, actions),
            Event::Timer(member) => {
                let member = DeviceId(member as u16);
                if self.is_overdue(member, now) && !view.members[member.index()].collecting {
                    self.ended(member, false, now, actions);
                }
            }
            _ => {}
        }
        self.judge();
        self.serve(now, actions);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("grants", self.grants), ("entered_p", self.entered_p), ("entered_n", self.entered_n)]
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "serial",
    summary: "one member at a time is kept free of new operations, drained, and collects",
    source: "serialised GC, IEEE Access 2019",
    keys: &[],
    build: |parameters| {
        parameters.config::<Config>()?;
        Ok(Box::new(Serial::new(parameters.devices, parameters.redundancy, parameters.message_latency)))
    },
};

/// No keys of its own.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}

#[cfg(test)]
mod tests {
    use super::super::tests::{decisions, ended, hard, soft, started};
    use super::*;

    fn policy() -> Serial {
        Serial::new(4, 1, SimDuration::ZERO)
    }

    const fn reserve(member: u16) -> Action {
        Action::Reserve(DeviceId(member))
    }

    const fn give_back(member: u16) -> Action {
        Action::Return(DeviceId(member))
    }

    const fn force(member: u16) -> Action {
        Action::Force(DeviceId(member), Stop::Internal)
    }

    const fn timer(at: u64, member: u64) -> Action {
        Action::Timer(SimTime(at), member)
    }

    fn drained(member: u16) -> Event {
        Event::Drained(DeviceId(member))
    }

    #[test]
    fn in_s_members_are_drained_and_collect_one_after_the_other() {
        let mut policy = policy();
        decisions(
            &mut policy,
            &[
                (0, soft(2), &[reserve(2)]),
                (1, soft(0), &[]),
                (5, drained(2), &[force(2), timer(6, 2)]),
                (6, soft(2), &[]),
                (9, ended(2, true), &[give_back(2), reserve(0)]),
                (10, drained(2), &[]),
                (11, drained(0), &[force(0), timer(12, 0)]),
                (15, ended(0, false), &[give_back(0), reserve(2)]),
                (16, drained(2), &[force(2), timer(17, 2)]),
                (20, ended(2, false), &[give_back(2)]),
            ],
        );
        assert_eq!(policy.counters(), [("grants", 3), ("entered_p", 0), ("entered_n", 0)]);
    }

    #[test]
    fn in_p_the_member_at_hard_goes_first() {
        let mut policy = policy();
        decisions(
            &mut policy,
            &[
                (0, soft(1), &[reserve(1)]),
                (1, soft(3), &[]),
                // A drain is given up, and goes on afterwards; a collection would not be.
                (2, hard(3), &[give_back(1), reserve(3)]),
                (3, hard(3), &[]),
                (9, ended(3, false), &[give_back(3), reserve(1)]),
                (10, drained(1), &[force(1), timer(11, 1)]),
                (11, hard(2), &[]),
                (14, ended(1, false), &[give_back(1), reserve(2)]),
                (15, drained(2), &[force(2), timer(16, 2)]),
                (19, ended(2, false), &[give_back(2)]),
            ],
        );
        assert_eq!(policy.counters(), [("grants", 4), ("entered_p", 2), ("entered_n", 0)]);
    }

    #[test]
    fn in_n_nobody_is_granted_until_one_at_most_is_at_hard() {
        let mut policy = policy();
        decisions(
            &mut policy,
            &[
                (0, soft(0), &[reserve(0)]),
                (1, hard(1), &[give_back(0), reserve(1)]),
                (2, hard(2), &[give_back(1)]),
                (3, soft(3), &[]),
                (4, drained(1), &[]),
                (8, ended(1, true), &[reserve(2)]),
                (9, ended(2, false), &[give_back(2), reserve(0)]),
                (10, drained(0), &[force(0), timer(11, 0)]),
                (14, ended(0, false), &[give_back(0), reserve(3)]),
            ],
        );
        assert_eq!(policy.counters(), [("grants", 5), ("entered_p", 2), ("entered_n", 1)]);
    }

    #[test]
    fn a_collection_that_took_no_time_is_not_repeated_at_its_moment() {
        decisions(
            &mut policy(),
            &[
                (0, soft(0), &[reserve(0)]),
                (0, drained(0), &[force(0), timer(1, 0)]),
                (0, ended(0, true), &[give_back(0)]),
                (0, ended(0, true), &[]),
                (7, hard(0), &[reserve(0)]),
            ],
        );
    }

    /// A concurrency policy of its own may keep it from that for as long as nothing more is written to it.
    #[test]
    fn a_member_that_does_not_begin_to_collect_is_returned() {
        decisions(
            &mut Serial::new(4, 1, SimDuration(10)),
            &[
                (0, soft(2), &[reserve(2)]),
                (1, soft(0), &[]),
                (5, drained(2), &[force(2), timer(26, 2)]),
                (26, Event::Timer(2), &[give_back(2), reserve(0)]),
                (30, drained(0), &[force(0), timer(51, 0)]),
                (50, started(0), &[]),
                (51, Event::Timer(0), &[]),
                (90, ended(0, false), &[give_back(0)]),
            ],
        );
    }

    #[test]
    fn a_member_that_ends_before_it_is_drained_is_returned() {
        decisions(&mut policy(), &[(0, soft(0), &[reserve(0)]), (5, ended(0, false), &[give_back(0)])]);
    }

    #[test]
    fn without_redundancy_nobody_is_reserved() {
        let mut policy = Serial::new(4, 0, SimDuration::ZERO);
        assert_eq!(policy.reads(), None);
        decisions(
            &mut policy,
            &[
                (0, soft(1), &[force(1), timer(1, 1)]),
                (1, soft(0), &[]),
                (2, hard(0), &[]),
                (5, ended(1, false), &[force(0), timer(6, 0)]),
                (9, ended(0, false), &[]),
            ],
        );
    }
}
