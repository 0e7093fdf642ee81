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
//! Here u is the utilisation: the share of blocks that are not erased. Below `low` nothing is collected, not even at a
//! threshold or by order of the array. The exception is a die down to its last free block.
//!
//! `ramp` says how the steps are rounded: `floor`, `ceil` or `scaled`. `scaled` uses all channels for the slope and stops at
//! `max_channels`: min(max_channels, floor(channels (u - low) / (high - low))). `ties` says which channel goes first if the
//! victims of several have equally many invalid pages: the `lowest`, or the next in `turn` after the one that started last.
//! Nearly all victims are equal where files are deleted whole.
//!
//! Source: Electronics 2025, 4.1, with low 0.5, high 0.85 and at most half of eight channels. Only its section 4 was at hand.
//! It says neither how steps are rounded, nor how ties are broken, nor how few invalid pages are worth a victim. So these three
//! keys are our reading.
//!
//! Leaves out: how urgent a single channel is, and the host's activity.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Band, Build, Candidate, Concurrency, Limit, Load, Parameters, least_invalid, whole};

/// Keys of `[ssd.gc.concurrency]` with `policy = "adaptive"`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Utilisation below which nothing is collected.
    #[schemars(range(min = 0, max = 1))]
    low: f64,
    /// Utilisation from which `max_channels` collect.
    #[schemars(range(min = 0, max = 1))]
    high: f64,
    /// Channels that collect at once, at most; half of the channels by default.
    max_channels: Option<u32>,
    /// How the steps of the ramp are rounded.
    ramp: Ramp,
    /// Which channel goes first if victims are equal.
    ties: Ties,
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
            ramp: Ramp::Floor,
            ties: Ties::Lowest,
            min_invalid: 1,
        }
    }
}

/// How the share of the ramp becomes a number of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Ramp {
    Floor,
    Ceil,
    Scaled,
}

/// Who starts of channels with equal victims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Ties {
    Lowest,
    Turn,
}

#[derive(Clone)]
struct Adaptive {
    band: Band,
    channels: u32,
    most: u32,
    ramp: Ramp,
    ties: Ties,
    min_invalid: u32,
    /// The channel after the one that started last.
    next: u32,
}

impl Concurrency for Adaptive {
    fn min_invalid(&self) -> u32 {
        self.min_invalid
    }

    fn limit(&self, _: SimTime, load: &Load<'_>) -> Limit {
        let share = self.band.share(load.utilisation);
        Limit::begin(match self.ramp {
            Ramp::Floor => whole(self.most, share),
            // As much below a whole number as `whole` goes above one.
            Ramp::Ceil => (f64::from(self.most) * share - 1e-9).ceil() as u32,
            Ramp::Scaled => whole(self.channels, share).min(self.most),
        })
    }

    fn rank(&self, _: SimTime, candidate: &Candidate, _: &Load<'_>) -> Option<u64> {
        let invalid = u64::from(candidate.invalid);
        Some(match self.ties {
            Ties::Lowest => invalid,
            Ties::Turn => {
                let behind = (candidate.channel + self.channels - self.next) % self.channels;
                invalid * u64::from(self.channels) + u64::from(self.channels - 1 - behind)
            }
        })
    }

    fn started(&mut self, candidate: &Candidate) {
        self.next = (candidate.channel + 1) % self.channels;
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "adaptive",
    summary: "the fuller the device, the more channels collect at once, up to a half",
    source: "Electronics 2025, 4.1",
    keys: &own_keys::<Config>,
    build: &|parameters: &Parameters<'_>| {
        let config: Config = parameters.config()?;
        Ok(Box::new(Adaptive {
            band: Band::new(config.low, config.high)?,
            channels: parameters.channels,
            most: parameters.channels("max_channels", config.max_channels, parameters.half())?,
            ramp: config.ramp,
            ties: config.ties,
            min_invalid: least_invalid(config.min_invalid)?,
            next: 0,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::tests::{build, limit_at};
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

    #[test]
    fn equal_victims_are_taken_in_turn_if_asked() {
        let starts = |own| {
            let mut policy = build("adaptive", &own).expect("good keys");
            let load = Load { utilisation: 0.7, active: 0, depth: &[0; 8], idle_since: &[SimTime::ZERO; 8] };
            let mut start = |invalid: [u32; 8]| {
                let candidates = (0..8).map(|channel| Candidate {
                    channel,
                    die: channel,
                    invalid: invalid[channel as usize],
                });
                let rank = |one: &Candidate| policy.rank(SimTime::ZERO, one, &load);
                // The first of the highest, as the device has it.
                let first = candidates.rev().max_by_key(rank).expect("eight");
                policy.started(&first);
                first.channel
            };
            [start([64; 8]), start([64; 8]), start([64, 64, 64, 64, 64, 64, 64, 65]), start([64; 8])]
        };
        assert_eq!(starts(json!({})), [0, 0, 7, 0]);
        assert_eq!(starts(json!({ "ties": "turn" })), [0, 1, 7, 0]);
    }
}
