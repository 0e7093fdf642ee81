//! Members register at their soft threshold. The first member at its hard threshold makes the registered ones collect.
//!
//! A registration ends when the member stops collecting above its soft threshold.
//!
//! The keys `fire_at` and `delay` are those of [trigger.rs](../crates/array/src/coordination/trigger.rs). `fire_at = "soft"`
//! is the reactive soft-limit scheme that both papers describe. It makes sense only with a `delay`. Without one, the first
//! member to register would find nobody else on the list and collect alone. With one, it waits for others to register, but
//! not beyond the moment at which it expects to reach hard.
//!
//! A member that fails leaves the list, and its replacement registers for itself. A delay that it began goes on to its end.
//!
//! Source: IEEE TC 2012 (section 4.3.1), "reactive-selective", with the messages PARTICIPATE_GGC and FORCE_GC.
//!
//! Leaves out: members that have not registered. They never join, however soon they will need to collect.

use harmonia_ssd::interface::Stop;
use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};

use super::participants::Participants;
use super::trigger::{self, Trigger};
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::Interface;

#[derive(Clone)]
struct ReactiveSelective {
    trigger: Trigger,
    participants: Participants,
}

impl Coordinator for ReactiveSelective {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn only_directs(&self) -> bool {
        true
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.participants.note(event);
        if self.trigger.fires(now, event, view, actions) {
            let registered = view.capable().filter(|&member| self.participants.includes(member));
            actions.extend(registered.map(|member| Action::Force(member, Stop::Internal)));
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.trigger.counters()
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "reactive-selective",
    summary: "the first member whose free blocks fall to the hard threshold makes all at the soft threshold collect",
    source: "IEEE TC 2012, 4.3.1",
    keys: &own_keys::<trigger::Config>,
    build: &|parameters| {
        let trigger = Trigger::new(parameters.config()?)?;
        Ok(Box::new(ReactiveSelective { trigger, participants: Participants::new(parameters.devices) }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{decisions, failed, forced, hard, members, replaced, soft};
    use super::*;
    use harmonia_types::DeviceId;

    #[test]
    fn only_the_registered_are_forced_until_they_end_above_soft() {
        let mut policy =
            ReactiveSelective { trigger: trigger::tests::at_hard(), participants: Participants::new(4) };
        let view = members(&[true, true, false, true]);
        for member in [0, 2, 3] {
            assert!(forced(&mut policy, Event::SoftThreshold(DeviceId(member)), &view).is_empty());
        }
        assert_eq!(forced(&mut policy, Event::HardThreshold(DeviceId(3)), &view), [0, 3]);
        forced(&mut policy, Event::GcEnded { device: DeviceId(0), registered: false }, &view);
        forced(&mut policy, Event::GcEnded { device: DeviceId(3), registered: true }, &view);
        assert_eq!(forced(&mut policy, Event::HardThreshold(DeviceId(3)), &view), [3]);
    }

    #[test]
    fn a_delay_after_soft_lets_others_register() {
        let mut policy =
            ReactiveSelective { trigger: trigger::tests::at_soft(400), participants: Participants::new(3) };
        let view = members(&[true; 3]);
        for member in [2, 0] {
            assert!(forced(&mut policy, Event::SoftThreshold(DeviceId(member)), &view).is_empty());
        }
        let mut actions = Vec::new();
        policy.on(SimTime(400), &Event::Timer(1), &DeliveredView::of(&view), &mut actions);
        assert_eq!(actions, [0, 2].map(|member| Action::Force(DeviceId(member), Stop::Internal)));
        assert_eq!(policy.counters(), [("delays", 1), ("delays_cut_short", 0)]);
    }

    #[test]
    fn who_fails_leaves_the_list_and_its_replacement_registers_anew() {
        let mut policy =
            ReactiveSelective { trigger: trigger::tests::at_hard(), participants: Participants::new(4) };
        let force = |member| Action::Force(DeviceId(member), Stop::Internal);
        decisions(
            &mut policy,
            &[
                (0, soft(1), &[]),
                (1, soft(2), &[]),
                (2, failed(1), &[]),
                (3, hard(0), &[force(2)]),
                (4, replaced(1), &[]),
                (5, hard(0), &[force(2)]),
                (6, soft(1), &[]),
                (7, hard(0), &[force(1), force(2)]),
            ],
        );
    }
}
