//! The more host operations are at the device, the fewer channels collect. A device that fills up collects anyway.
//!
//! ```text
//! utilisation    below low   none
//!                between     ceil(max_channels (1 - queue depth / depth)), none from `depth` on
//!                from high   max_channels
//! ```
//!
//! The queue depth counts host page operations at the device, waiting or in service. Utilisation is the share of blocks that
//! are not erased.
//!
//! Source: ours. It is the ramp of `adaptive` with another control signal between the same two utilisations, to see which
//! signal is worth more.
//!
//! Leaves out: on which channels the operations are.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Band, Build, Concurrency, Limit, Load, Parameters, least_invalid};

/// Keys of `[ssd.gc.concurrency]` with `policy = "queue-depth"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation below which nothing is collected.
    #[schemars(range(min = 0, max = 1))]
    low: f64,
    /// Utilisation from which the queue does not matter.
    #[schemars(range(min = 0, max = 1))]
    high: f64,
    /// Channels that collect at once, at most; half of the channels by default.
    max_channels: Option<u32>,
    /// With this many host page operations at the device no channel collects.
    depth: u32,
    /// Invalid pages that a victim needs for a turn that dies start on their own.
    #[schemars(range(min = 1))]
    min_invalid: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { low: 0.5, high: 0.85, max_channels: None, depth: 32, min_invalid: 1 }
    }
}

#[derive(Clone)]
struct QueueDepth {
    band: Band,
    most: u32,
    depth: u32,
    min_invalid: u32,
}

impl Concurrency for QueueDepth {
    fn min_invalid(&self) -> u32 {
        self.min_invalid
    }

    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        let depth = load.depth.iter().sum::<u32>().min(self.depth);
        let spared = u64::from(self.most) * u64::from(self.depth - depth);
        Limit::begin(match load.utilisation {
            u if u >= self.band.high => self.most,
            u if u < self.band.low => 0,
            _ => spared.div_ceil(u64::from(self.depth)) as u32,
        })
    }

    fn follows_host(&self) -> bool {
        true
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "queue-depth",
    summary: "the more host operations are at the device, the fewer channels collect, until it fills up",
    source: "ours, against the utilisation of Electronics 2025, 4.1",
    keys: &own_keys::<Config>,
    build: &|parameters: &Parameters<'_>| {
        let config: Config = parameters.config()?;
        if config.depth == 0 {
            return Err("depth is out of range, expected a whole number, 1 or more".into());
        }
        Ok(Box::new(QueueDepth {
            band: Band::new(config.low, config.high)?,
            most: parameters.channels("max_channels", config.max_channels, parameters.half())?,
            depth: config.depth,
            min_invalid: least_invalid(config.min_invalid)?,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::build;
    use super::*;
    use serde_json::json;

    #[test]
    fn waiting_host_operations_keep_channels_from_collecting() {
        let policy = build("queue-depth", &json!({ "depth": 8 })).expect("good keys");
        let limit = |utilisation, waiting: u32| {
            let depth = [waiting, 0, 0, 0, 0, 0, 0, 0];
            let load = Load { utilisation, active: 0, depth: &depth, idle_since: &[SimTime::NEVER; 8] };
            policy.limit(SimTime::ZERO, &load).channels
        };
        assert_eq!([0, 1, 2, 3, 4, 6, 7, 8, 9].map(|n| limit(0.7, n)), [4, 4, 3, 3, 2, 1, 1, 0, 0]);
        assert_eq!((limit(0.4999, 0), limit(0.5, 0)), (0, 4), "not below low");
        assert_eq!((limit(0.8499, 100), limit(0.85, 100)), (0, 4), "from high on regardless");
    }
}
