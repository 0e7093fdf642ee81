//! Members register at their soft threshold; the first at its hard threshold makes the registered ones collect.
//!
//! Source: paper A (IEEE TC 2012, section 4.2) and paper B (MSST 2011, section III), "reactive-selective", with
//! PARTICIPATE_GGC and FORCE_GC. A registration ends when the member's event ends above its soft threshold; the
//! participant list is kept here, from delivered messages alone. Leaves out: the optional delay before FORCE_GC.

use harmonia_ssd::interface::Stop;
use harmonia_types::SimTime;
use harmonia_types::registry::Entry;
use serde::Deserialize;

use super::participants::Participants;
use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};

/// No keys of its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {}

struct ReactiveSelective {
    participants: Participants,
}

impl Coordinator for ReactiveSelective {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn on(&mut self, _: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.participants.note(event);
        if let Event::HardThreshold(_) = event {
            let registered = view.capable().filter(|&member| self.participants.includes(member));
            actions.extend(registered.map(|member| Action::Force(member, Stop::Internal)));
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "reactive-selective",
    summary: "the first member at its hard threshold makes those at their soft threshold collect",
    source: "IEEE TC 2012, 4.2; MSST 2011, III",
    keys: &[],
    build: |parameters| {
        parameters.config::<Config>()?;
        Ok(Box::new(ReactiveSelective { participants: Participants::new(parameters.devices) }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{forced, members};
    use super::*;
    use harmonia_types::DeviceId;

    #[test]
    fn only_the_registered_are_forced_until_they_end_above_soft() {
        let mut policy = ReactiveSelective { participants: Participants::new(4) };
        let view = members(&[true, true, false, true]);
        for member in [0, 2, 3] {
            assert!(forced(&mut policy, Event::SoftThreshold(DeviceId(member)), &view).is_empty());
        }
        assert_eq!(forced(&mut policy, Event::HardThreshold(DeviceId(3)), &view), [0, 3]);
        forced(&mut policy, Event::GcEnded { device: DeviceId(0), registered: false }, &view);
        forced(&mut policy, Event::GcEnded { device: DeviceId(3), registered: true }, &view);
        assert_eq!(forced(&mut policy, Event::HardThreshold(DeviceId(3)), &view), [3]);
    }
}
