//! Channels collect when the host has left them alone for a time. A device that fills up collects anyway.
//!
//! ```text
//! host       ▬▬▬ ▬                         ▬▬▬
//!                |<-- idle -->|             |
//! channel                      [ victim ][ victim ]     the one under way is finished
//! ```
//!
//! With `scope = "device"` the whole device must have been idle; with `"channel"` each channel on its own. Below utilisation
//! `low` nothing is collected. From `high` on, idleness does not matter. At most `max_channels` collect at once.
//!
//! Source: ours. It is the ramp of `adaptive` with another control signal between the same two utilisations. Many flash
//! translation layers collect in the idle time of a single channel.
//!
//! Leaves out: any prediction of how long the host stays away.

use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Band, Build, Candidate, Concurrency, Limit, Load, Parameters, least_invalid};

/// Keys of `[ssd.gc.concurrency]` with `policy = "idle-time"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation below which nothing is collected.
    #[schemars(range(min = 0, max = 1))]
    low: f64,
    /// Utilisation from which idleness does not matter.
    #[schemars(range(min = 0, max = 1))]
    high: f64,
    /// Channels that collect at once, at most; half of the channels by default.
    max_channels: Option<u32>,
    /// How long the host must have been away.
    idle: SimDuration,
    /// What must have been idle: the whole device, or the channel itself.
    scope: Scope,
    /// Invalid pages that a victim needs for a turn that dies start on their own.
    #[schemars(range(min = 1))]
    min_invalid: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            low: 0.5,
            high: 0.85,
            max_channels: None,
            idle: SimDuration::from_us(1_000),
            scope: Scope::Device,
            min_invalid: 1,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Scope {
    Device,
    Channel,
}

/// What is busy is looked at again no sooner than after this, however short `idle` is: about what an operation takes.
const LEAST_LOOK: SimDuration = SimDuration::from_us(10);

#[derive(Clone)]
struct IdleTime {
    band: Band,
    most: u32,
    idle: SimDuration,
    scope: Scope,
    min_invalid: u32,
}

impl IdleTime {
    /// When something idle since `since` will have been so for long enough.
    fn ripe(&self, now: SimTime, since: SimTime) -> SimTime {
        if since == SimTime::NEVER { now + self.idle.max(LEAST_LOOK) } else { since + self.idle }
    }

    /// Since when a channel has been idle as the scope has it.
    fn since(&self, channel: u32, load: &Load<'_>) -> SimTime {
        match self.scope {
            Scope::Channel => load.idle_since[channel as usize],
            Scope::Device => load.idle_since.iter().copied().max().unwrap_or(SimTime::NEVER),
        }
    }
}

impl Concurrency for IdleTime {
    fn min_invalid(&self) -> u32 {
        self.min_invalid
    }

    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        Limit::begin(if load.utilisation < self.band.low { 0 } else { self.most })
    }

    fn rank(&self, now: SimTime, candidate: &Candidate, load: &Load<'_>) -> Option<u64> {
        let full = load.utilisation >= self.band.high;
        let ripe = full || self.ripe(now, self.since(candidate.channel, load)) <= now;
        ripe.then_some(u64::from(candidate.invalid))
    }

    fn next_look(&self, now: SimTime, load: &Load<'_>) -> SimTime {
        if load.utilisation < self.band.low || load.utilisation >= self.band.high {
            return SimTime::NEVER;
        }
        // What is busy now is looked at again when it could be ripe at the earliest.
        let looks =
            (0..load.idle_since.len() as u32).map(|channel| self.ripe(now, self.since(channel, load)));
        looks.filter(|&look| look > now).min().unwrap_or(SimTime::NEVER)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "idle-time",
    summary: "channels collect when the host has left them alone for a time, until the device fills up",
    source: "ours, against the utilisation of Electronics 2025, 4.1",
    keys: &own_keys::<Config>,
    build: &|parameters: &Parameters<'_>| {
        let config: Config = parameters.config()?;
        if config.idle == SimDuration::ZERO || config.idle > SimDuration(3_600_000_000_000) {
            return Err("idle must be above 0 and at most 1h, expected a time such as \"1ms\"".into());
        }
        Ok(Box::new(IdleTime {
            band: Band::new(config.low, config.high)?,
            most: parameters.channels("max_channels", config.max_channels, parameters.half())?,
            idle: config.idle,
            scope: config.scope,
            min_invalid: least_invalid(config.min_invalid)?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::build;
    use super::*;
    use serde_json::json;

    const NEVER: SimTime = SimTime::NEVER;

    /// Whether the first of two channels may start, and when to look again; idle since 100 and `other`.
    fn at(now: u64, scope: &str, utilisation: f64, other: SimTime) -> (bool, SimTime) {
        let policy = build("idle-time", &json!({ "idle": "50ns", "scope": scope })).expect("good keys");
        let idle_since = [SimTime(100), other];
        let load = Load { utilisation, active: 0, depth: &[0, 0], idle_since: &idle_since };
        let candidate = Candidate { channel: 0, die: 0, invalid: 7 };
        let starts = policy.limit(SimTime(now), &load).begins;
        let starts = starts && policy.rank(SimTime(now), &candidate, &load) == Some(7);
        (starts, policy.next_look(SimTime(now), &load))
    }

    #[test]
    fn a_channel_starts_when_it_has_been_idle_for_the_time_and_not_before() {
        assert_eq!(at(149, "channel", 0.7, SimTime(90)), (false, SimTime(150)));
        assert_eq!(at(150, "channel", 0.7, SimTime(90)), (true, NEVER));
        assert_eq!(at(150, "channel", 0.7, NEVER), (true, SimTime(10_150)), "the other one is busy");
    }

    #[test]
    fn a_device_is_idle_when_its_last_channel_is() {
        assert_eq!(at(150, "device", 0.7, SimTime(120)), (false, SimTime(170)));
        assert_eq!(at(170, "device", 0.7, SimTime(120)), (true, NEVER));
        assert_eq!(at(170, "device", 0.7, NEVER), (false, SimTime(10_170)));
    }

    #[test]
    fn utilisation_bounds_it_on_both_sides() {
        assert_eq!(at(1000, "device", 0.4999, SimTime(0)), (false, NEVER), "too empty");
        assert_eq!(at(1000, "device", 0.85, NEVER), (true, NEVER), "too full to wait");
    }
}
