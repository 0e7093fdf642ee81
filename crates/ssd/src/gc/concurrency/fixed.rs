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
//! Source: the conventional schemes of Electronics 2025 (4.3), without their figures.
//!
//! Leaves out: any response to utilisation other than `start`.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Concurrency, Limit, Load, Parameters, utilisation};

/// Keys of `[ssd.gc.concurrency]` with `policy = "fixed"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation from which dies start on their own.
    #[schemars(range(min = 0, max = 1))]
    start: f64,
    /// Channels that collect at once; all of them by default.
    channels: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Config { start: 0.7, channels: None }
    }
}

/// The policy.
#[derive(Clone)]
pub(super) struct Fixed {
    pub start: f64,
    pub channels: u32,
}

impl Concurrency for Fixed {
    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        Limit { channels: self.channels, begins: load.utilisation >= self.start }
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
        Ok(Box::new(Fixed { start: utilisation("start", config.start)?, channels }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::limit_at;
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
}
