//! When any member triggers, FORCE_GC goes to all of them, whatever their state.
//!
//! Source: paper A (IEEE TC 2012, section 4.3.1) and paper B (MSST 2011, section IV-C), "reactive-inclusive". Its keys,
//! `fire_at` and `delay`, are those of [trigger.rs](../crates/array/src/coordination/trigger.rs): fire at hard, or at
//! soft as paper B describes it, at once or after a delay that the member's estimate of writes left bounds. All collect
//! anyway, so a delay wins no participants here; it only collects later. The member that triggered at hard is
//! collecting already; its directive is absorbed by the dies that do. Leaves out: any look at whether the others need
//! it, which is what it pays for with extra erases when load is skewed.

use harmonia_ssd::interface::Stop;
use harmonia_types::SimTime;
use harmonia_types::registry::Entry;

use super::trigger::{self, Trigger};
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};

struct ReactiveInclusive {
    trigger: Trigger,
}

impl Coordinator for ReactiveInclusive {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
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
    keys: trigger::KEYS,
    build: |parameters| Ok(Box::new(ReactiveInclusive { trigger: Trigger::new(parameters.config()?)? })),
};

#[cfg(test)]
mod tests {
    use super::super::tests::{forced, members};
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
}
