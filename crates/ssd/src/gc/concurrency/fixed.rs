//! At most `channels` channels collect at once. From utilisation `start` on, dies collect without being asked.
//!
//! ```text
//! channels ┤          ┌──────────    may start on their own
//!        0 ┤──────────┘
//!          0        start      1     utilisation
//! ```
//!
//! Utilisation is the share of blocks that are not erased. Below `start` the device collects only what thresholds and the
//! array ask for, with the same limit on channels. With `start = 1` dies never start on their own, and the policy is a plain
//! limit.
//!
//! With `release` dies that have begun to start on their own go on until utilisation is below `start - release`. So they
//! collect in bursts instead of one victim after each block that is written.
//!
//! Source: the conventional schemes of Electronics 2025 (4.3), without their figures. `release` and `min_invalid` are our
//! reading. The paper says of the schemes that start at 0.7 that empty blocks drop steeply and then surge, and is silent on
//! both.
//!
//! Leaves out: any response to utilisation other than `start` and `release`.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Concurrency, Limit, Load, Parameters, least_invalid, utilisation};

/// Keys of `[ssd.gc.concurrency]` with `policy = "fixed"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation from which dies start on their own.
    #[schemars(range(min = 0, max = 1))]
    start: f64,
    /// How far below `start` utilisation falls before they stop.
    #[schemars(range(min = 0, max = 1))]
    release: f64,
    /// Channels that collect at once; all of them by default.
    channels: Option<u32>,
    /// Invalid pages that a victim needs for a turn that dies start on their own.
    #[schemars(range(min = 1))]
    min_invalid: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { start: 0.7, release: 0.0, channels: None, min_invalid: 1 }
    }
}

/// The policy.
#[derive(Clone)]
pub(super) struct Fixed {
    start: f64,
    release: f64,
    channels: u32,
    min_invalid: u32,
    /// Dies start on their own since utilisation came to `start`, and it has not been below `start - release` since.
    begins: bool,
}

impl Fixed {
    /// # Errors
    /// Says which of the keys is out of range.
    pub fn new(start: f64, release: f64, channels: u32, min_invalid: u32) -> Result<Self, String> {
        let start = utilisation("start", start)?;
        if !(0.0..=start).contains(&release) {
            return Err(format!(
                "release is out of range, expected 0 to {start}, where dies start on their own"
            ));
        }
        let min_invalid = least_invalid(min_invalid)?;
        Ok(Fixed { start, release, channels, min_invalid, begins: false })
    }

    fn begins_at(&self, utilisation: f64) -> bool {
        utilisation >= self.start || (self.begins && utilisation >= self.start - self.release)
    }
}

impl Concurrency for Fixed {
    fn min_invalid(&self) -> u32 {
        self.min_invalid
    }

    fn see(&mut self, utilisation: f64) {
        self.begins = self.begins_at(utilisation);
    }

    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        Limit { channels: self.channels, begins: self.begins_at(load.utilisation) }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "fixed",
    summary: "a fixed limit on the channels that collect at once; from a given utilisation on dies start on their own",
    source: "Electronics 2025, 4.3, its conventional schemes",
    keys: &own_keys::<Config>,
    build: &|parameters: &Parameters<'_>| {
        let config: Config = parameters.config()?;
        let channels = parameters.channels("channels", config.channels, parameters.channels)?;
        Ok(Box::new(Fixed::new(config.start, config.release, channels, config.min_invalid)?))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{build, limit_at};
    use super::*;
    use serde_json::json;

    #[test]
    fn dies_start_of_themselves_from_the_utilisation_on() {
        for (utilisation, begins) in [(0.0, false), (0.6999, false), (0.7, true), (1.0, true)] {
            let limit = limit_at("fixed", json!({}), utilisation);
            assert_eq!(limit, Limit { channels: 8, begins }, "{utilisation}");
        }
        let limit = limit_at("fixed", json!({ "start": 0.2, "channels": 3 }), 0.2);
        assert_eq!(limit, Limit { channels: 3, begins: true });
    }

    /// What a policy answers to these utilisations, one after the other.
    fn in_turn(name: &str, own: serde_json::Value, utilisations: &[f64]) -> Vec<bool> {
        let mut policy = build(name, &own).expect("good keys");
        let mut ask = |utilisation: f64| {
            policy.see(utilisation);
            let load = Load { utilisation, active: 0, depth: &[0; 8], idle_since: &[SimTime::ZERO; 8] };
            policy.limit(SimTime::ZERO, &load).begins
        };
        utilisations.iter().map(|&utilisation| ask(utilisation)).collect()
    }

    #[test]
    fn with_a_release_they_go_on_below_the_start() {
        let utilisations = [0.69, 0.7, 0.69, 0.5, 0.4999, 0.5, 0.6999, 0.7, 0.6];
        let held = [false, true, true, true, false, false, false, true, true];
        let plain = utilisations.map(|utilisation| utilisation >= 0.7);
        for name in ["fixed", "conv-0.7-allch", "conv-0.7-halfch"] {
            // In binary 0.7 - 0.2 is a little less than a half.
            assert_eq!(in_turn(name, json!({ "release": 0.2 }), &utilisations), held, "{name}");
            assert_eq!(in_turn(name, json!({}), &utilisations), plain, "{name}");
        }
    }
}
