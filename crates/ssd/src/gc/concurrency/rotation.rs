//! One die collects at a time, in turn.
//!
//! ```text
//! die 0   [ victim ]                                  [ victim ]
//! die 1              [ victim ]
//! die 2                         (nothing invalid)
//! die 3                         [ victim ]
//! ```
//!
//! With `group = "device"` this is one die of the device. With `"channel"` it is one die of every channel, each channel on its
//! own. A die that has nothing to collect is skipped. A collection that has started is not stopped. From utilisation `start`
//! on, dies take their turns without being asked.
//!
//! Source: the rotating garbage collection of TTFLASH (Yan et al., FAST 2017, 3.3). It allows one plane of a parity group to
//! collect at a time, so that the others can rebuild what that plane holds.
//!
//! Leaves out: parity, and with it the rebuilding. The paper's planes are dies here.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Candidate, Concurrency, Limit, Load, Parameters, least_invalid, utilisation};

/// Keys of `[ssd.gc.concurrency]` with `policy = "rotation"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation from which dies start on their own.
    #[schemars(range(min = 0, max = 1))]
    start: f64,
    /// Whether one die of the device, or one die of every channel, collects at a time.
    group: Group,
    /// Invalid pages that a victim needs for a turn that dies start on their own.
    #[schemars(range(min = 1))]
    min_invalid: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { start: 0.7, group: Group::Device, min_invalid: 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Group {
    Device,
    Channel,
}

#[derive(Clone)]
struct Rotation {
    start: f64,
    group: Group,
    min_invalid: u32,
    /// The die after the one that started last, by group.
    next: Vec<u32>,
}

impl Rotation {
    fn group_of(&self, candidate: &Candidate) -> usize {
        match self.group {
            Group::Device => 0,
            Group::Channel => candidate.channel as usize,
        }
    }
}

impl Concurrency for Rotation {
    fn min_invalid(&self) -> u32 {
        self.min_invalid
    }

    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        Limit { channels: self.next.len() as u32, begins: load.utilisation >= self.start }
    }

    fn rank(&self, _: SimTime, candidate: &Candidate, _: &Load<'_>) -> Option<u64> {
        // Counted from the next one on, around the end.
        let ahead = candidate.die.wrapping_sub(self.next[self.group_of(candidate)]);
        Some(u64::from(u32::MAX - ahead))
    }

    fn started(&mut self, candidate: &Candidate) {
        let group = self.group_of(candidate);
        self.next[group] = candidate.die + 1;
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "rotation",
    summary: "one die of the device, or of each channel, collects at a time, in turn",
    source: "TTFLASH (FAST 2017), rotating garbage collection, without parity",
    keys: &own_keys::<Config>,
    build: &|parameters: &Parameters<'_>| {
        let config: Config = parameters.config()?;
        let groups = if config.group == Group::Device { 1 } else { parameters.channels };
        let start = utilisation("start", config.start)?;
        let min_invalid = least_invalid(config.min_invalid)?;
        Ok(Box::new(Rotation { start, group: config.group, min_invalid, next: vec![0; groups as usize] }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{build, limit_at};
    use super::*;
    use serde_json::json;

    const LOAD: Load<'static> = Load { utilisation: 0.9, active: 0, depth: &[], idle_since: &[] };

    /// Who starts when these dies, on two channels, could.
    fn turn(policy: &mut dyn Concurrency, dies: &[u32]) -> u32 {
        let candidate = |&die: &u32| Candidate { channel: die % 2, die, invalid: 9 - die };
        let rank = |candidate: &Candidate| policy.rank(SimTime::ZERO, candidate, &LOAD);
        let first = dies.iter().map(candidate).max_by_key(rank).expect("somebody");
        policy.started(&first);
        first.die
    }

    #[test]
    fn dies_take_turns_and_who_has_nothing_is_passed_over() {
        let mut policy = build("rotation", &json!({})).expect("good keys");
        let order = [&[0, 1, 2, 3][..], &[0, 2, 3], &[0, 1, 2, 3], &[0, 1, 3], &[1, 3]];
        assert_eq!(order.map(|dies| turn(&mut *policy, dies)), [0, 2, 3, 0, 1]);
    }

    #[test]
    fn channels_take_turns_for_themselves() {
        let mut policy = build("rotation", &json!({ "group": "channel" })).expect("good keys");
        assert_eq!(turn(&mut *policy, &[0, 2]), 0);
        assert_eq!(turn(&mut *policy, &[1, 3]), 1, "the other channel begins with its first");
        assert_eq!(turn(&mut *policy, &[0, 2]), 2);
    }

    #[test]
    fn one_at_a_time_in_each_group() {
        assert_eq!(limit_at("rotation", json!({}), 0.7), Limit { channels: 1, begins: true });
        assert_eq!(limit_at("rotation", json!({}), 0.6999), Limit { channels: 1, begins: false });
        let by_channel = json!({ "group": "channel" });
        assert_eq!(limit_at("rotation", by_channel, 0.7), Limit { channels: 8, begins: true });
    }
}
