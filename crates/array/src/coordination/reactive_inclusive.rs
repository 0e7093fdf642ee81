//! When any member triggers, the array orders all members that speak the protocol to collect, whatever their state.
//!
//! The order is a message, FORCE_GC. Load that is skewed makes this expensive: members that have nothing to collect erase
//! blocks too.
//!
//! The keys `fire_at` and `delay` are those of [trigger.rs](../crates/array/src/coordination/trigger.rs). The array fires when
//! a member reaches its hard threshold, or its soft one as MSST 2011 describes it. It fires at once or after a delay. The
//! member's estimate of the writes it can still take bounds the delay. A delay wins no participants here, because all members
//! collect anyway; it only makes them collect later. A die at its hard threshold collects by itself before it next serves. The
//! order of its member adds the other dies.
//!
//! A member that failed is not ordered, and its replacement is like any other member. If a member that began a
//! delay fails, the delay goes on to its end.
//!
//! Source: IEEE TC 2012 (section 4.3.1) and MSST 2011 (section IV-C), "reactive-inclusive".
//!
//! Leaves out: any check whether the other members need to collect.

use harmonia_ssd::interface::Stop;
use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};

use super::trigger::{self, Trigger};
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::Interface;

#[derive(Clone)]
struct ReactiveInclusive {
    trigger: Trigger,
}

impl Coordinator for ReactiveInclusive {
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
        if self.trigger.fires(now, event, view, actions) {
            actions.extend(view.capable().map(|member| Action::Force(member, Stop::Internal)));
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.trigger.counters()
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "reactive-inclusive",
    summary: "the first member at its threshold makes all members collect",
    source: "IEEE TC 2012, 4.3.1; MSST 2011, IV-C",
    keys: &own_keys::<trigger::Config>,
    build: &|parameters| Ok(Box::new(ReactiveInclusive { trigger: Trigger::new(parameters.config()?)? })),
};

#[cfg(test)]
mod tests {
    use super::super::tests::{decisions, failed, forced, hard, members, replaced, soft};
    use super::*;
    use harmonia_types::DeviceId;

    #[test]
    fn a_hard_threshold_forces_every_capable_member() {
        let mut policy = ReactiveInclusive { trigger: trigger::tests::at_hard() };
        let view = members(&[true, true, false, true]);
        assert_eq!(forced(&mut policy, Event::HardThreshold(DeviceId(1)), &view), [0, 1, 3]);
        assert!(forced(&mut policy, Event::SoftThreshold(DeviceId(1)), &view).is_empty());
    }

    #[test]
    fn fires_at_soft_when_asked_to() {
        let mut policy = ReactiveInclusive { trigger: trigger::tests::at_soft(0) };
        assert_eq!(forced(&mut policy, Event::SoftThreshold(DeviceId(0)), &members(&[true; 2])), [0, 1]);
    }

    #[test]
    fn a_member_that_failed_is_left_out_until_it_is_replaced() {
        let mut policy = ReactiveInclusive { trigger: trigger::tests::at_hard() };
        let force = |member| Action::Force(DeviceId(member), Stop::Internal);
        decisions(
            &mut policy,
            &[
                (1, failed(1), &[]),
                (2, hard(0), &[force(0), force(2), force(3)]),
                (3, replaced(1), &[]),
                (4, hard(0), &[force(0), force(1), force(2), force(3)]),
            ],
        );
    }

    #[test]
    fn a_delay_goes_on_without_the_member_that_began_it() {
        let mut policy = ReactiveInclusive { trigger: trigger::tests::at_soft(400) };
        let force = |member| Action::Force(DeviceId(member), Stop::Internal);
        let look = |at| [Action::Query(DeviceId(0)), Action::Timer(SimTime(at), 1)];
        decisions(
            &mut policy,
            &[
                (0, soft(0), &look(100)),
                (50, failed(0), &[]),
                (100, Event::Timer(1), &look(200)),
                (400, Event::Timer(1), &[force(1), force(2), force(3)]),
            ],
        );
        assert_eq!(policy.counters(), [("delays", 1), ("delays_cut_short", 0)]);
    }
}
