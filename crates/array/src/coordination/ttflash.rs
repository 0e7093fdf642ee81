//! Members take turns to collect, and a member that collects is read around where that is quicker.
//!
//! 1. A member registers at its soft threshold. It may start to collect if no other member collects.
//! 2. The registered members take turns in the order of their numbers.
//! 3. A member that collects is never stopped. Nothing is kept from it before, so operations that it was given then wait.
//! 4. A read to it becomes a read of the rest of its row if that takes less time than the collection still does. So does a read
//!    that waits in its queue when the collection begins. If two members of a row collect, the read does
//!    without the one with the longer time left and waits for the other.
//! 5. A member at its hard threshold collects at any time.
//!
//! How a read goes around members is planned in `planner::around`, for every policy whose reads avoid members.
//!
//! The members of an array stand for the chips of one device in the paper. Unlike `serial`, nothing is drained before a
//! collection starts. Without redundancy, or after failures that leave none, reads wait and only the turns are left. The turn
//! of a member that fails goes to the next one at once.
//!
//! Source: TTFLASH (Yan et al., *Tiny-Tail Flash*, FAST 2017), "rotating GC" and "GC-tolerant read", and its artifact.
//!
//! Leaves out: what members of an array do not have. In the paper parity lies inside the device, and the planes of a group of
//! chips take turns. A chip copies pages inside its planes while its channel serves others; `ssd.timing.copyback` says what a
//! member does. The artifact also lets a chip above hard wait while its channel is in use.

use harmonia_ssd::interface::Stop;
use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};

use super::participants::Participants;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::{Avoid, Interface, Reads};

#[derive(Clone)]
struct TtFlash {
    reads: Option<Reads>,
    /// Until an order is carried out and its result is known.
    round_trip: SimDuration,
    participants: Participants,
    /// Who was ordered to collect and has not ended.
    ordered: Option<DeviceId>,
    /// Whose turn came last.
    last: Option<DeviceId>,
    /// When a turn was given that may have taken no time.
    given: Option<SimTime>,
}

impl TtFlash {
    fn new(devices: u16, redundancy: u16, message_latency: SimDuration) -> Self {
        TtFlash {
            reads: (redundancy > 0).then_some(Reads::Avoid(Avoid::Cheaper)),
            round_trip: message_latency * 2,
            participants: Participants::new(devices),
            ordered: None,
            last: None,
            given: None,
        }
    }

    /// Gives the turn to the next registered member, if nobody collects.
    fn rotate(&mut self, now: SimTime, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        if self.ordered.is_some() || view.members.iter().any(|member| member.collecting) {
            return;
        }
        // What took no time has won nothing, and would not if it were done again at this moment.
        if self.given.is_some_and(|at| now <= at + self.round_trip) {
            return;
        }
        let after = self.last.map_or(0, |DeviceId(last)| last + 1);
        let is_next = |&member: &DeviceId| self.participants.includes(member);
        let from_start = || view.capable().filter(is_next);
        let next = from_start().find(|member| member.0 >= after).or_else(|| from_start().next());
        if let Some(member) = next {
            self.ordered = Some(member);
            self.last = Some(member);
            self.given = Some(now);
            actions.push(Action::Force(member, Stop::Internal));
        }
    }
}

impl Coordinator for TtFlash {
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

    fn reads(&self) -> Option<Reads> {
        self.reads
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.participants.note(event);
        if let Event::GcEnded { device, .. } | Event::Failure(device) = *event
            && self.ordered == Some(device)
        {
            self.ordered = None;
            if matches!(event, Event::Failure(_)) {
                self.given = None;
            }
        }
        self.rotate(now, view, actions);
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "ttflash",
    summary: "members at their soft threshold collect in turn; reads go around the one that collects if that is quicker",
    source: "TTFLASH, FAST 2017 (from chips to SSDs)",
    keys: &no_keys,
    build: &|parameters| {
        parameters.config::<Config>()?;
        let &super::Parameters { devices, redundancy, message_latency, .. } = parameters;
        Ok(Box::new(TtFlash::new(devices, redundancy, message_latency)))
    },
};

/// No keys of its own.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}

#[cfg(test)]
mod tests {
    use super::super::tests::{built, decisions, ended, failed, hard, replaced, soft, started};
    use super::*;

    fn policy() -> TtFlash {
        TtFlash::new(4, 1, SimDuration::ZERO)
    }

    const FORCE: [[Action; 1]; 4] = [force(0), force(1), force(2), force(3)];

    const fn force(member: u16) -> [Action; 1] {
        [Action::Force(DeviceId(member), Stop::Internal)]
    }

    #[test]
    fn turns_go_round_and_nobody_starts_beside_another() {
        decisions(
            &mut policy(),
            &[
                (10, soft(2), &FORCE[2]),
                (10, started(2), &[]),
                (11, soft(1), &[]),
                (12, soft(3), &[]),
                (30, ended(2, true), &FORCE[3]),
                (30, started(3), &[]),
                (50, ended(3, false), &FORCE[1]),
                (50, started(1), &[]),
                (70, ended(1, false), &FORCE[2]),
                (70, started(2), &[]),
                (90, ended(2, false), &[]),
                (99, soft(0), &FORCE[0]),
            ],
        );
    }

    #[test]
    fn one_that_collects_by_itself_is_waited_for_and_not_stopped() {
        decisions(
            &mut policy(),
            &[
                (10, hard(3), &[]),
                (10, started(3), &[]),
                (11, soft(0), &[]),
                (40, ended(3, true), &FORCE[0]),
                (40, started(0), &[]),
                (45, hard(3), &[]),
                (45, started(3), &[]),
                (60, ended(0, false), &[]),
                (70, ended(3, false), &[]),
            ],
        );
    }

    #[test]
    fn a_collection_that_took_no_time_is_not_repeated_at_its_moment() {
        let mut policy = TtFlash::new(4, 1, SimDuration(5));
        decisions(
            &mut policy,
            &[(10, soft(1), &FORCE[1]), (20, ended(1, true), &[]), (21, soft(2), &FORCE[2])],
        );
    }

    #[test]
    fn reads_go_around_where_that_is_cheaper() {
        for (redundancy, reads) in [(0, None), (1, Some(Reads::Avoid(Avoid::Cheaper)))] {
            let policy = built(&ENTRY, 4, redundancy, "{}").expect("no keys are needed");
            assert_eq!((policy.reads(), policy.keeps_apart()), (reads, true));
        }
    }

    /// Before it is known to collect, within the round trip of its order, or after.
    #[test]
    fn the_turn_of_a_member_that_fails_goes_to_the_next_at_once() {
        for has_started in [false, true] {
            let mut policy = TtFlash::new(4, 1, SimDuration(5));
            decisions(&mut policy, &[(10, soft(1), &FORCE[1]), (11, soft(3), &[])]);
            if has_started {
                decisions(&mut policy, &[(15, started(1), &[]), (30, ended(1, false), &FORCE[3])]);
            } else {
                decisions(&mut policy, &[(12, failed(1), &FORCE[3])]);
            }
        }
        let mut policy = TtFlash::new(4, 1, SimDuration(5));
        decisions(
            &mut policy,
            &[
                (10, soft(1), &FORCE[1]),
                (11, soft(3), &[]),
                (12, soft(0), &[]),
                (15, failed(0), &[]),
                (16, replaced(0), &[]),
                (40, ended(1, false), &FORCE[3]),
                // Its replacement has not registered.
                (60, ended(3, false), &[]),
                (70, soft(0), &FORCE[0]),
            ],
        );
    }
}
