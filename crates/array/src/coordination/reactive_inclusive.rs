//! When any member triggers, FORCE_GC goes to all of them, whatever their state.
//!
//! Source: paper A (IEEE TC 2012, section 4.2) and paper B (MSST 2011, section III), "reactive-inclusive". `fire_at`
//! chooses the trigger: paper B also describes firing at the soft threshold. The member that triggered is collecting
//! already; its directive is absorbed by the dies that do. Leaves out: any look at whether the others need it, which
//! is what it pays for with extra erases when load is skewed.

use harmonia_ssd::interface::Stop;
use harmonia_types::SimTime;
use harmonia_types::registry::Entry;
use serde::Deserialize;

use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};

/// Keys of `[array.coordination]` with `policy = "reactive-inclusive"`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Which threshold fires.
    fire_at: FireAt,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FireAt {
    Soft,
    #[default]
    Hard,
}

struct ReactiveInclusive {
    fire_at: FireAt,
}

impl Coordinator for ReactiveInclusive {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn on(&mut self, _: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        let fires = match event {
            Event::HardThreshold(_) => true,
            Event::SoftThreshold(_) => self.fire_at == FireAt::Soft,
            _ => false,
        };
        if fires {
            actions.extend(view.capable().map(|member| Action::Force(member, Stop::Internal)));
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "reactive-inclusive",
    summary: "the first member at its threshold makes all members collect",
    source: "IEEE TC 2012, 4.2; MSST 2011, III",
    keys: &["fire_at"],
    build: |parameters| {
        let config: Config = parameters.config()?;
        Ok(Box::new(ReactiveInclusive { fire_at: config.fire_at }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{forced, members};
    use super::*;
    use harmonia_types::DeviceId;

    #[test]
    fn a_hard_threshold_forces_every_capable_member() {
        let mut policy = ReactiveInclusive { fire_at: FireAt::Hard };
        let view = members(&[true, true, false, true]);
        assert_eq!(forced(&mut policy, Event::HardThreshold(DeviceId(1)), &view), [0, 1, 3]);
        assert!(forced(&mut policy, Event::SoftThreshold(DeviceId(1)), &view).is_empty());
    }

    #[test]
    fn fires_at_soft_when_asked_to() {
        let mut policy = ReactiveInclusive { fire_at: FireAt::Soft };
        assert_eq!(forced(&mut policy, Event::SoftThreshold(DeviceId(0)), &members(&[true; 2])), [0, 1]);
    }
}
