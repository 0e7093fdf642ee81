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
//! collects already, or will when it next serves, and the grant keeps operations from it. A member that is still at soft after its
//! collection queues again. While a member is reserved, reads are answered without it and writes are parked or wait. Reads that wait
//! in the queue of a member when it begins to collect are answered without it, too. If two members of a row collect, a read does without the one with the longer time left
//! and waits for the other.
//!
//! Without redundancy reserving would only add waiting, so there members are forced as soon as they are granted. The same holds while
//! failures leave no redundancy, until a replacement is rebuilt. The grant of a member that fails goes to the next one.
//!
//! A grant ends after `patience` at the latest. Otherwise a member that never drains, or that its own concurrency policy keeps
//! from collecting, would stay reserved for ever.
//!
//! The scheme has a limit: collection must take less than one n-th of the time of each of n members. Beyond that the array
//! enters N again and again; `entered_n` counts how often.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), "serialised GC". Its Algorithm 6 compares with the signs of the pools
//! inverted, changes between N and P for ever, and says nothing about a first member that is at hard. The states above are
//! what its text describes.
//!
//! Leaves out: the random choice among members at soft, and GAFTL's placement and migration of parity. The policy `gaftl` has
//! all three.

use std::collections::VecDeque;

use harmonia_engine::Rng;
use harmonia_ssd::interface::Stop;
use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pools::{Rule, State};
use super::redundancy::Redundancy;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests, Parameters};
use crate::config::{Avoid, Interface, Reads};

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grant {
    Nobody,
    /// Reserved, and serves what it was given before.
    Draining(DeviceId),
    /// Forced.
    Collecting(DeviceId),
}

/// Keys of `[array.coordination]` with `policy = "serial"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// How long a grant lasts at most.
    patience: SimDuration,
}

impl Default for Config {
    fn default() -> Self {
        Config { patience: SimDuration::from_ms(1_000) }
    }
}

#[derive(Clone)]
pub(crate) struct Serial {
    has_redundancy: bool,
    redundancy: Redundancy,
    patience: SimDuration,
    /// Until an order is carried out and its result is known.
    round_trip: SimDuration,
    /// By member: when it was last forced.
    forced_at: Vec<Option<SimTime>>,
    /// Registered members, the first to be granted first.
    soft: VecDeque<DeviceId>,
    /// Members at hard, the first to have got there first.
    hard: Vec<DeviceId>,
    state: State,
    rule: Rule,
    /// Draws the next one in S; otherwise that is the first.
    draw: Option<Rng>,
    /// Whether it waits a moment for the rest of a collection of which the first die was done at once.
    waits_for_rest: bool,
    /// Nothing has been heard since then.
    is_silent: bool,
    grant: Grant,
    /// The member whose turn it is takes no new operations.
    is_reserved: bool,
    grants: u64,
    entered_p: u64,
    entered_n: u64,
    given_up: u64,
}

impl Serial {
    fn new(config: Config, devices: u16, redundancy: u16, message_latency: SimDuration) -> Self {
        Serial {
            has_redundancy: redundancy > 0,
            redundancy: Redundancy::new(devices, redundancy),
            patience: config.patience,
            round_trip: message_latency * 2,
            forced_at: vec![None; usize::from(devices)],
            soft: VecDeque::new(),
            hard: Vec::new(),
            state: State::default(),
            rule: Rule::default(),
            draw: None,
            waits_for_rest: false,
            is_silent: false,
            grant: Grant::Nobody,
            is_reserved: false,
            grants: 0,
            entered_p: 0,
            entered_n: 0,
            given_up: 0,
        }
    }

    /// In S the next member is drawn.
    pub(crate) fn drawing(self, draw: Rng) -> Self {
        Serial { draw: Some(draw), ..self }
    }

    /// A member of which one die has nothing to collect stays reserved while the others do.
    pub(crate) fn waiting_for_rest(self) -> Self {
        Serial { waits_for_rest: true, ..self }
    }

    /// States change by this rule.
    pub(crate) fn by(self, rule: Rule) -> Self {
        Serial { rule, ..self }
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

    /// Whether the member whose turn it is may still collect, although its collection was said to be over.
    fn may_still_collect(&self, member: DeviceId, now: SimTime) -> bool {
        let took_time = self.forced_at[member.index()].is_some_and(|at| now > at + self.round_trip);
        self.waits_for_rest && self.grant == Grant::Collecting(member) && !took_time
    }

    fn withdraw(&mut self, actions: &mut Vec<Action>) {
        self.give_back(actions);
        self.grant = Grant::Nobody;
    }

    /// The member whose turn it is takes operations again.
    fn give_back(&mut self, actions: &mut Vec<Action>) {
        if let Grant::Draining(member) | Grant::Collecting(member) = self.grant
            && std::mem::replace(&mut self.is_reserved, false)
        {
            actions.push(Action::Return(member));
        }
    }

    /// Reads need the member whose turn it is: it is not kept from them, and does not drain.
    fn stop_reserving(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        self.give_back(actions);
        if let Grant::Draining(member) = self.grant {
            self.force(member, now, actions);
        }
    }

    /// Decides anew which state the array is in.
    fn judge(&mut self) {
        let state = self.rule.next(self.state, self.soft.len(), &self.hard);
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
            State::Soft if self.grant == Grant::Nobody => self.next_at_soft(),
            State::Soft => None,
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
            actions.push(Action::Timer(now + self.patience, self.grants));
            if self.redundancy.left() > 0 {
                self.grant = Grant::Draining(member);
                self.is_reserved = true;
                actions.push(Action::Reserve(member));
            } else {
                self.force(member, now, actions);
            }
        }
    }

    fn next_at_soft(&mut self) -> Option<DeviceId> {
        let waiting = self.soft.len() as u64;
        let place = self.draw.as_mut().filter(|_| waiting > 0).map_or(0, |draw| draw.below(waiting));
        self.soft.get(place as usize).copied()
    }

    fn force(&mut self, member: DeviceId, now: SimTime, actions: &mut Vec<Action>) {
        self.grant = Grant::Collecting(member);
        self.forced_at[member.index()] = Some(now);
        actions.push(Action::Force(member, Stop::Internal));
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

    fn on(&mut self, now: SimTime, event: &Event, _: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.redundancy.note(event);
        match *event {
            Event::SoftThreshold(member) if !self.soft.contains(&member) => self.soft.push_back(member),
            Event::HardThreshold(member) if !self.hard.contains(&member) => self.hard.push(member),
            Event::GcEnded { device, registered: true } if self.may_still_collect(device, now) => {
                self.is_silent = true;
                actions.push(Action::Timer(now + SimDuration(1), u64::MAX - self.grants));
            }
            Event::GcStarted(_) => self.is_silent = false,
            Event::GcEnded { device, registered } => self.ended(device, registered, now, actions),
            Event::Drained(member) if self.grant == Grant::Draining(member) => {
                self.force(member, now, actions)
            }
            Event::Timer(grant) if grant == self.grants => {
                if let Grant::Draining(member) | Grant::Collecting(member) = self.grant {
                    self.given_up += 1;
                    self.ended(member, false, now, actions);
                }
            }
            Event::Timer(grant) if grant == u64::MAX - self.grants && self.is_silent => {
                if let Grant::Collecting(member) = self.grant {
                    self.ended(member, false, now, actions);
                }
            }
            Event::Failure(member) => {
                self.ended(member, false, now, actions);
                if self.redundancy.left() == 0 {
                    self.stop_reserving(now, actions);
                }
            }
            _ => {}
        }
        self.judge();
        self.serve(now, actions);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("grants", self.grants),
            ("entered_p", self.entered_p),
            ("entered_n", self.entered_n),
            ("given_up", self.given_up),
        ]
    }
}

pub(crate) const ENTRY: Entry<Build> = Entry {
    name: "serial",
    summary: "one member at a time is kept free of new operations, drained, and collects",
    source: "serialised GC, IEEE Access 2019",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { patience } = parameters.config()?;
        Ok(Box::new(with_patience(parameters, patience)?))
    },
};

/// Turns for the members of an array.
pub(crate) fn with_patience(parameters: &Parameters<'_>, patience: SimDuration) -> Result<Serial, String> {
    if patience < SimDuration::from_ms(1) {
        return Err("patience is too short, expected a time such as \"1s\", at least 1ms".into());
    }
    let Parameters { devices, redundancy, message_latency, .. } = *parameters;
    Ok(Serial::new(Config { patience }, devices, redundancy, message_latency))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ended, failed, hard, members, rebuilt, replaced, soft, started};
    use super::*;

    const PATIENCE: SimDuration = SimDuration(1_000);

    /// What the policy answers to each event at its time. That every grant sets its timer is checked here, and left out.
    fn decisions(policy: &mut Serial, table: &[(u64, Event, &[Action])]) {
        let members = members(&[true; 4]);
        for &(at, event, expected) in table {
            let (mut actions, before) = (Vec::new(), policy.grants);
            policy.on(SimTime(at), &event, &DeliveredView::of(&members), &mut actions);
            let timer = Action::Timer(SimTime(at) + PATIENCE, policy.grants);
            assert_eq!(actions.contains(&timer), policy.grants > before, "at {at}");
            actions.retain(|action| *action != timer);
            assert_eq!(actions, expected, "at {at}: {event:?}");
        }
    }

    fn policy() -> Serial {
        Serial::new(Config { patience: PATIENCE }, 4, 1, SimDuration::ZERO)
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
                (5, drained(2), &[force(2)]),
                (6, soft(2), &[]),
                (9, ended(2, true), &[give_back(2), reserve(0)]),
                (10, drained(2), &[]),
                (11, drained(0), &[force(0)]),
                (15, ended(0, false), &[give_back(0), reserve(2)]),
                (16, drained(2), &[force(2)]),
                (20, ended(2, false), &[give_back(2)]),
            ],
        );
        let expected = [("grants", 3), ("entered_p", 0), ("entered_n", 0), ("given_up", 0)];
        assert_eq!(policy.counters(), expected);
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
                (10, drained(1), &[force(1)]),
                (11, hard(2), &[]),
                (14, ended(1, false), &[give_back(1), reserve(2)]),
                (15, drained(2), &[force(2)]),
                (19, ended(2, false), &[give_back(2)]),
            ],
        );
        let expected = [("grants", 4), ("entered_p", 2), ("entered_n", 0), ("given_up", 0)];
        assert_eq!(policy.counters(), expected);
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
                (10, drained(0), &[force(0)]),
                (14, ended(0, false), &[give_back(0), reserve(3)]),
            ],
        );
        let expected = [("grants", 5), ("entered_p", 2), ("entered_n", 1), ("given_up", 0)];
        assert_eq!(policy.counters(), expected);
    }

    #[test]
    fn a_collection_that_took_no_time_is_not_repeated_at_its_moment() {
        decisions(
            &mut policy(),
            &[
                (0, soft(0), &[reserve(0)]),
                (0, drained(0), &[force(0)]),
                (0, ended(0, true), &[give_back(0)]),
                (0, ended(0, true), &[]),
                (7, hard(0), &[reserve(0)]),
            ],
        );
    }

    #[test]
    fn a_member_that_ends_before_it_is_drained_is_returned() {
        decisions(&mut policy(), &[(0, soft(0), &[reserve(0)]), (5, ended(0, false), &[give_back(0)])]);
    }

    /// Whether it drains or collects: after its time it is returned, and the next one is granted.
    #[test]
    fn a_grant_ends_in_the_end() {
        let mut policy = policy();
        decisions(
            &mut policy,
            &[
                (0, soft(0), &[reserve(0)]),
                (1, soft(1), &[]),
                (1_000, Event::Timer(1), &[give_back(0), reserve(1)]),
                (1_001, Event::Timer(1), &[]),
                (1_500, drained(1), &[force(1)]),
                (2_000, Event::Timer(2), &[give_back(1)]),
                (2_001, ended(1, true), &[reserve(1)]),
            ],
        );
        assert_eq!(policy.given_up, 2);
    }

    #[test]
    fn without_redundancy_nobody_is_reserved() {
        let mut policy = Serial::new(Config { patience: PATIENCE }, 4, 0, SimDuration::ZERO);
        assert_eq!(policy.reads(), None);
        decisions(
            &mut policy,
            &[
                (0, soft(1), &[force(1)]),
                (1, soft(0), &[]),
                (2, hard(0), &[]),
                (5, ended(1, false), &[force(0)]),
                (9, ended(0, false), &[]),
            ],
        );
    }

    /// The first of its dies had nothing to collect. If another one begins at that moment the turn goes on; otherwise it is over.
    #[test]
    fn a_turn_waits_a_moment_for_the_rest_of_a_member() {
        let waits = [Action::Timer(SimTime(6), u64::MAX - 1)];
        let begin: [(u64, Event, &[Action]); 3] =
            [(0, soft(0), &[reserve(0)]), (5, drained(0), &[force(0)]), (5, ended(0, true), &waits)];
        let silence = Event::Timer(u64::MAX - 1);
        let mut two = policy().waiting_for_rest();
        decisions(&mut two, &begin);
        decisions(
            &mut two,
            &[(5, started(0), &[]), (6, silence, &[]), (9, ended(0, false), &[give_back(0)])],
        );
        let mut one = policy().waiting_for_rest();
        decisions(&mut one, &begin);
        decisions(&mut one, &[(6, silence, &[give_back(0)])]);
    }

    /// Of two redundant members one is left: all goes on.
    #[test]
    fn the_turn_of_a_member_that_fails_goes_to_the_next() {
        let mut policy = Serial::new(Config { patience: PATIENCE }, 4, 2, SimDuration::ZERO);
        decisions(
            &mut policy,
            &[
                (0, soft(0), &[reserve(0)]),
                (1, soft(1), &[]),
                (2, soft(2), &[]),
                (5, failed(0), &[give_back(0), reserve(1)]),
                (6, drained(1), &[force(1)]),
                (7, replaced(0), &[]),
                (8, soft(0), &[]),
                (9, ended(1, false), &[give_back(1), reserve(2)]),
                (10, drained(2), &[force(2)]),
                (11, ended(2, false), &[give_back(2), reserve(0)]),
            ],
        );
    }

    /// Who drains is forced, who collects goes on, and both take operations again.
    #[test]
    fn with_no_redundancy_left_nobody_is_reserved_until_the_replacement_is_rebuilt() {
        for is_drained in [false, true] {
            let mut policy = policy();
            decisions(&mut policy, &[(0, soft(0), &[reserve(0)]), (1, soft(1), &[])]);
            if is_drained {
                decisions(&mut policy, &[(2, drained(0), &[force(0)]), (5, failed(3), &[give_back(0)])]);
            } else {
                decisions(&mut policy, &[(5, failed(3), &[give_back(0), force(0)])]);
            }
            decisions(
                &mut policy,
                &[
                    (7, replaced(3), &[]),
                    (9, ended(0, false), &[force(1)]),
                    (12, rebuilt(3), &[]),
                    (15, ended(1, false), &[]),
                    (16, soft(3), &[reserve(3)]),
                ],
            );
        }
    }
}
