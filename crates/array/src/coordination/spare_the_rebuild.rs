//! While a member is missing, the array asks all members not to collect. Otherwise every member collects on its own.
//!
//! 1. From a member's failure on, all members are held: they collect at their hard threshold only.
//! 2. When its replacement is rebuilt and no other member is missing, the members are released. Without a spare they stay held.
//! 3. A replacement is held from the moment it takes its place.
//!
//! `while` says when members are held. Under `"degraded"`, the default, that is from the failure on. Under `"rebuild"` it is
//! from the replacement on, and ends if the replacement fails in its turn.
//!
//! A hold defers collection, it does not save any. Members come out of it closer to their hard threshold, and may collect there
//! while the host waits. The policy changes nothing for members that collect at their hard threshold anyway, as they do under
//! `ssd.gc.trigger = "foreground"` with `begins_at = "schedule"` and a schedule that begins at hard. The run then warns.
//!
//! Source: ours. It is the question that operators put: should collection wait for the rebuild?
//!
//! Leaves out: how far the rebuild has come, and how much room each member has left until then.

use harmonia_ssd::Trigger;
use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{DeviceId, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, Build, Coordinator, DeliveredView, Event, Interests};
use crate::config::{Interface, MemberConfig};

/// Keys of `[array.coordination]` with `policy = "spare-the-rebuild"`.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// When members are held: from a failure on, or from a replacement on.
    r#while: While,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum While {
    #[default]
    Degraded,
    Rebuild,
}

#[derive(Clone)]
struct SpareTheRebuild {
    holds: While,
    /// By member: whether it is a reason to hold all.
    is_spared: Vec<bool>,
    cautions: Vec<String>,
    holds_begun: u64,
}

impl SpareTheRebuild {
    fn new(holds: While, devices: u16) -> Self {
        let is_spared = vec![false; usize::from(devices)];
        SpareTheRebuild { holds, is_spared, cautions: Vec::new(), holds_begun: 0 }
    }
}

/// Whether a member never collects above its hard threshold, so that a hold changes nothing.
fn waits_for_hard(member: &MemberConfig) -> bool {
    member.ssd.gc.trigger == Trigger::Foreground && !member.begins_at_soft()
}

impl Coordinator for SpareTheRebuild {
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn waits_for_failures(&self) -> bool {
        true
    }

    fn interface(&self) -> Interface {
        Interface::Window
    }

    fn cautions(&self) -> Vec<String> {
        self.cautions.clone()
    }

    fn on(&mut self, _: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        let (DeviceId(member), is_spared) = match *event {
            Event::Failure(member) => (member, self.holds == While::Degraded),
            Event::Replacement(member) => (member, true),
            Event::Rebuilt(member) => (member, false),
            _ => return,
        };
        let held = self.is_spared.contains(&true);
        self.is_spared[usize::from(member)] = is_spared;
        match (held, self.is_spared.contains(&true)) {
            (false, true) => {
                self.holds_begun += 1;
                actions.extend(view.capable().map(Action::Hold));
            }
            (true, false) => actions.extend(view.capable().map(Action::Release)),
            (true, true) if matches!(event, Event::Replacement(_)) => {
                actions.push(Action::Hold(DeviceId(member)));
            }
            _ => {}
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("holds_begun", self.holds_begun)]
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "spare-the-rebuild",
    summary: "while a member is missing or rebuilt, members collect at their hard threshold only",
    source: "ours",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        let mut policy = SpareTheRebuild::new(config.r#while, parameters.devices);
        if !parameters.members.is_empty() && parameters.members.iter().all(waits_for_hard) {
            policy.cautions.push(
                "members collect at their hard threshold only, so holding them changes nothing; \
                 ssd.gc.begins_at = \"soft\" or ssd.gc.trigger = \"background\" lets them collect sooner"
                    .into(),
            );
        }
        Ok(Box::new(policy))
    },
};

#[cfg(test)]
mod tests {
    use super::super::Parameters;
    use super::super::rates;
    use super::super::tests::{built, decisions, failed, hard, rebuilt, replaced};
    use super::*;
    use harmonia_ssd::BeginsAt;
    use harmonia_types::SimDuration;

    const fn hold(member: u16) -> Action {
        Action::Hold(DeviceId(member))
    }

    const fn release(member: u16) -> Action {
        Action::Release(DeviceId(member))
    }

    const RELEASE_ALL: [Action; 4] = [release(0), release(1), release(2), release(3)];

    #[test]
    fn members_are_held_from_a_failure_until_all_are_rebuilt() {
        let mut policy = built(&ENTRY, 4, 2, "{}").expect("the default");
        decisions(
            &mut *policy,
            &[
                (0, Event::Start, &[]),
                (1, hard(2), &[]),
                (10, failed(1), &[hold(0), hold(2), hold(3)]),
                (20, failed(3), &[]),
                (30, replaced(1), &[hold(1)]),
                (40, rebuilt(1), &[]),
                (50, replaced(3), &[hold(3)]),
                (60, failed(3), &[]),
                (70, replaced(3), &[hold(3)]),
                (80, rebuilt(3), &RELEASE_ALL),
            ],
        );
        assert_eq!(policy.counters(), [("holds_begun", 1)]);
    }

    #[test]
    fn or_from_a_replacement_until_it_is_rebuilt_or_fails() {
        let mut policy = built(&ENTRY, 4, 1, r#"{"while": "rebuild"}"#).expect("the other one");
        let all = [hold(0), hold(1), hold(2), hold(3)];
        decisions(
            &mut *policy,
            &[
                (10, failed(1), &[]),
                (20, replaced(1), &all),
                (30, failed(1), &[release(0), release(2), release(3)]),
                (40, replaced(1), &all),
                (50, rebuilt(1), &RELEASE_ALL),
            ],
        );
        assert!(built(&ENTRY, 4, 1, r#"{"while": "healthy"}"#).is_err());
    }

    #[test]
    fn it_warns_where_holding_changes_nothing() {
        for (trigger, begins_at, schedule, warns) in [
            (Trigger::Foreground, BeginsAt::Schedule, "blocking", true),
            (Trigger::Background, BeginsAt::Schedule, "blocking", false),
            (Trigger::Foreground, BeginsAt::Soft, "blocking", false),
            (Trigger::Foreground, BeginsAt::Schedule, "io-parallel", true),
            (Trigger::Foreground, BeginsAt::Schedule, "preemptive", false),
            (Trigger::Foreground, BeginsAt::Schedule, "slack", false),
        ] {
            let mut members = rates::tests::members(4, 112);
            members.iter_mut().for_each(|member| {
                (member.ssd.gc.trigger, member.ssd.gc.begins_at) = (trigger, begins_at);
                member.ssd.gc.schedule = schedule.into();
            });
            let (own, message_latency) = (serde_json::Map::new(), SimDuration::ZERO);
            let parameters =
                Parameters { devices: 4, redundancy: 1, members: &members, message_latency, own: &own };
            let policy = (ENTRY.build)(&parameters).expect("the default");
            assert_eq!(policy.cautions().len(), usize::from(warns), "{trigger:?} {begins_at:?} {schedule}");
        }
    }
}
