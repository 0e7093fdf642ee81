//! The fuller the device, the more channels collect.
//!
//! ```text
//! G(u)
//! max_channels ┤               ┌───────
//!              ┤           ┌───┘           floor(max_channels (u - low) / (high - low))
//!              ┤       ┌───┘
//!            0 ┤───────┘
//!              0    low       high     1
//! ```
//!
//! Nothing is collected below `low`, not even for a threshold or a directive, but by a die down to its last free block.
//!
//! Source: Electronics 2025, 4.1: low 0.5, high 0.85, at most half of eight channels. Only its section 4 was at hand; how
//! the steps of the ramp are rounded is our reading, hence `ramp`: `floor`, `ceil`, or `scaled`, which takes all
//! channels for the slope and cuts at `max_channels`: min(max_channels, floor(channels (u - low) / (high - low))).
//! Leaves out: how urgent a single channel is; what the host does.

use harmonia_types::SimTime;
use harmonia_types::registry::Entry;
use serde::Deserialize;

use super::{Band, Build, Concurrency, Limit, Load, Parameters, whole};

/// Keys of `[ssd.gc.concurrency]` with `policy = "adaptive"`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation below which nothing is collected.
    low: f64,
    /// Utilisation from which `max_channels` collect.
    high: f64,
    /// Half of the channels by default.
    max_channels: Option<u32>,
    /// How the steps of the ramp are rounded.
    ramp: Ramp,
}

impl Default for Config {
    fn default() -> Self {
        Config { low: 0.5, high: 0.85, max_channels: None, ramp: Ramp::Floor }
    }
}

/// How the share of the ramp becomes a number of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ramp {
    Floor,
    Ceil,
    Scaled,
}

struct Adaptive {
    band: Band,
    channels: u32,
    most: u32,
    ramp: Ramp,
}

impl Concurrency for Adaptive {
    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        let share = self.band.share(load.utilisation);
        Limit::begin(match self.ramp {
            Ramp::Floor => whole(self.most, share),
            // As much below a whole number as `whole` goes above one.
            Ramp::Ceil => (f64::from(self.most) * share - 1e-9).ceil() as u32,
            Ramp::Scaled => whole(self.channels, share).min(self.most),
        })
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "adaptive",
    summary: "the fuller the device, the more channels collect at once, up to a half",
    source: "Electronics 2025, 4.1",
    keys: &["low", "high", "max_channels", "ramp"],
    build: |parameters: &Parameters<'_>| {
        let config: Config = parameters.config()?;
        Ok(Box::new(Adaptive {
            band: Band::new(config.low, config.high)?,
            channels: parameters.channels,
            most: parameters.channels("max_channels", config.max_channels, parameters.half())?,
            ramp: config.ramp,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::limit_at;
    use super::*;
    use serde_json::json;

    #[test]
    fn channels_step_up_with_utilisation() {
        // A quarter of the band is 0.0875.
        for (utilisation, floor, ceil, scaled) in [
            (0.0, 0, 0, 0),
            (0.5, 0, 0, 0),
            (0.501, 0, 1, 0),
            (0.55, 0, 1, 1),
            (0.5874, 0, 1, 1),
            (0.5875, 1, 1, 2),
            (0.5876, 1, 2, 2),
            (0.675, 2, 2, 4),
            (0.84, 3, 4, 4),
            (0.8499, 3, 4, 4),
            (0.85, 4, 4, 4),
            (1.0, 4, 4, 4),
        ] {
            for (ramp, expected) in [("floor", floor), ("ceil", ceil), ("scaled", scaled)] {
                let limit = limit_at("adaptive", json!({ "ramp": ramp }), utilisation);
                assert_eq!(limit, Limit::begin(expected), "{ramp} at {utilisation}");
            }
        }
    }

    #[test]
    fn the_figures_can_be_changed() {
        let own = json!({ "low": 0.2, "high": 0.6, "max_channels": 8 });
        assert_eq!(limit_at("adaptive", own.clone(), 0.4), Limit::begin(4));
        assert_eq!(limit_at("adaptive", own, 0.6), Limit::begin(8));
    }
}
