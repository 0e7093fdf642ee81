//! How many channels of a device may collect at once: one file per policy.
//!
//! A policy that limits is asked at every change of utilisation (a host write opens a block) and whenever a victim is
//! done. It answers how many channels may collect now, and the device does the rest, the same for all of them:
//!
//! ```text
//! turn     one start is one victim; whatever remains of an event waits for the next turn
//! channel  never more than one turn at a time
//! order    of the channels that could start, the one whose greedy victim has most invalid pages
//! last     a die with a unit down to its last free block collects whatever the policy says
//! ```
//!
//! Nothing under way is aborted. To add a policy, copy the shortest file here and add its line to [`REGISTRY`].

mod adaptive;
mod conventional;
mod fixed;
mod idle_time;
mod queue_depth;
mod rotation;
mod unlimited;

use dyn_clone::DynClone;
use harmonia_types::SimTime;
use harmonia_types::registry::{self, Entry, OwnKeys, PolicyConfig, Registry};

/// Says how many channels may collect, and which of them goes first.
pub trait Concurrency: Send + DynClone {
    /// Whether every wanted event may start at once, whole; the device then asks nothing else.
    fn admits_all(&self) -> bool {
        false
    }

    /// Invalid pages that the greedy victim of a die must have for a turn that no threshold and no directive asks for.
    fn min_invalid(&self) -> u32 {
        1
    }

    /// The device is this full. Told before every question for the limit.
    fn see(&mut self, utilisation: f64) {
        let _ = utilisation;
    }

    /// How many channels may collect at `now`.
    fn limit(&self, now: SimTime, load: &Load<'_>) -> Limit;

    /// The die of highest rank starts first (ties: lowest channel, then lowest die); `None`: not now.
    fn rank(&self, now: SimTime, candidate: &Candidate, load: &Load<'_>) -> Option<u64> {
        let _ = (now, load);
        Some(u64::from(candidate.invalid))
    }

    /// A die has got its turn.
    fn started(&mut self, candidate: &Candidate) {
        let _ = candidate;
    }

    /// When it wants to be asked again even if nothing happens until then.
    fn next_look(&self, now: SimTime, load: &Load<'_>) -> SimTime {
        let _ = (now, load);
        SimTime::NEVER
    }

    /// Whether it is to be asked when a host operation is done, too.
    fn follows_host(&self) -> bool {
        false
    }
}

dyn_clone::clone_trait_object!(Concurrency);

/// What a policy allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Channels that may collect at once.
    pub channels: u32,
    /// Dies may start though no threshold and no directive asks for it, if a block has enough invalid pages
    /// ([`Concurrency::min_invalid`]).
    pub begins: bool,
}

impl Limit {
    /// Nobody may start.
    pub const NONE: Limit = Limit { channels: 0, begins: false };

    /// So many channels may start of themselves; none if it is 0.
    pub fn begin(channels: u32) -> Limit {
        Limit { channels, begins: channels > 0 }
    }
}

/// A device as a concurrency policy sees it; slices are indexed by channel.
#[derive(Debug, Clone, Copy)]
pub struct Load<'a> {
    /// 1 - erased blocks / all blocks; a victim counts as occupied until its erase ends.
    pub utilisation: f64,
    /// Channels that collect, or are about to.
    pub active: u32,
    /// Host page operations that have arrived at the dies of a channel and are not done.
    pub depth: &'a [u32],
    /// Since when a channel has had none; [`SimTime::NEVER`] while it has.
    pub idle_since: &'a [SimTime],
}

/// A die that could start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Its channel.
    pub channel: u32,
    /// The die.
    pub die: u32,
    /// Invalid pages of its greedy victim.
    pub invalid: u32,
}

/// What a policy is built from.
pub struct Parameters<'a> {
    /// Channels of the device.
    pub channels: u32,
    /// The policy's own keys as written in `[ssd.gc.concurrency]`.
    pub own: &'a OwnKeys,
}

impl Parameters<'_> {
    /// Reads the policy's `Config`; missing keys take its defaults.
    ///
    /// # Errors
    /// The first key whose value the `Config` does not accept, and what it does accept.
    pub fn config<C: serde::de::DeserializeOwned>(&self) -> Result<C, String> {
        registry::config(self.own)
    }

    /// A number of channels written as `name`, or `default`.
    fn channels(&self, name: &str, written: Option<u32>, default: u32) -> Result<u32, String> {
        match written {
            Some(channels) if !(1..=self.channels).contains(&channels) => {
                let most = self.channels;
                Err(format!("{name} is out of range, expected 1 to {most}, the channels of the device"))
            }
            written => Ok(written.unwrap_or(default)),
        }
    }

    /// Half of the channels: what the paper leaves to the host at least.
    fn half(&self) -> u32 {
        (self.channels / 2).max(1)
    }
}

/// Two utilisations between which a policy turns from nothing to all it may do.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Band {
    low: f64,
    high: f64,
}

impl Band {
    fn new(low: f64, high: f64) -> Result<Band, String> {
        for (name, value) in [("low", low), ("high", high)] {
            utilisation(name, value)?;
        }
        if low >= high {
            return Err(format!("low ({low}) must be less than high ({high}), expected low < high"));
        }
        Ok(Band { low, high })
    }

    /// How far `utilisation` is into the band: 0 at and below `low`, 1 from `high` on.
    fn share(self, utilisation: f64) -> f64 {
        if utilisation >= self.high {
            return 1.0;
        }
        ((utilisation - self.low) / (self.high - self.low)).max(0.0)
    }
}

/// A threshold of utilisation.
fn utilisation(name: &str, value: f64) -> Result<f64, String> {
    if (0.0..=1.0).contains(&value) {
        return Ok(value);
    }
    Err(format!("{name} is out of range, expected a utilisation, 0 to 1"))
}

/// The least number of invalid pages of a victim, written as `min_invalid`.
fn least_invalid(pages: u32) -> Result<u32, String> {
    if pages > 0 {
        return Ok(pages);
    }
    Err("min_invalid is out of range, expected a whole number, 1 or more".into())
}

/// The product, rounded down; the nudge keeps a third of 3 at 1.
fn whole(channels: u32, share: f64) -> u32 {
    (f64::from(channels) * share + 1e-9).floor() as u32
}

/// Builds a concurrency policy, or says which of its keys is wrong.
pub type Build = &'static (dyn Fn(&Parameters<'_>) -> Result<Box<dyn Concurrency>, String> + Send + Sync);

/// All concurrency policies.
pub const REGISTRY: &[Entry<Build>] = &[
    unlimited::ENTRY,
    fixed::ENTRY,
    conventional::FROM_THE_START,
    conventional::ALL_CHANNELS,
    conventional::HALF_THE_CHANNELS,
    adaptive::ENTRY,
    queue_depth::ENTRY,
    idle_time::ENTRY,
    rotation::ENTRY,
];

/// Those, and what a program has added.
pub static POLICIES: Registry<Build> = Registry::new("concurrency policy", REGISTRY);

/// Builds the policy of a device with so many channels.
///
/// # Errors
/// If there is no such policy, or it refuses one of its keys.
pub fn build(config: &PolicyConfig, channels: u32) -> Result<Box<dyn Concurrency>, String> {
    let entry = POLICIES.chosen(&config.policy, &config.own)?;
    (entry.build)(&Parameters { channels, own: &config.own })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A policy of an eight-channel device with these keys.
    pub(super) fn build(name: &str, own: &Value) -> Result<Box<dyn Concurrency>, String> {
        let own = own.as_object().expect("a table").clone();
        super::build(&PolicyConfig { policy: name.into(), own }, 8)
    }

    /// Its answer where nothing but utilisation counts.
    pub(super) fn limit_at(name: &str, own: Value, utilisation: f64) -> Limit {
        let load = Load { utilisation, active: 0, depth: &[0; 8], idle_since: &[SimTime::ZERO; 8] };
        build(name, &own).expect("good keys").limit(SimTime::ZERO, &load)
    }

    #[test]
    fn a_key_of_another_policy_is_refused_and_the_message_says_which_there_are() {
        let refused = build("fixed", &json!({ "ramp": "ceil" })).err().expect("refused");
        assert_eq!(refused, "fixed has no key `ramp`, expected start, release, channels, min_invalid");
        let refused = build("conv-0-allch", &json!({ "release": 0.1 })).err().expect("refused");
        assert_eq!(refused, "conv-0-allch has no key `release`, expected min_invalid");
        assert!(build("adaptiv", &json!({})).err().is_some_and(|why| why.contains("conv-0.7-halfch")));
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for (name, own, why) in [
            ("fixed", json!({ "channels": 0 }), "1 to 8"),
            ("fixed", json!({ "channels": 9 }), "1 to 8"),
            ("fixed", json!({ "start": 1.5 }), "0 to 1"),
            ("fixed", json!({ "start": "half" }), "f64"),
            ("fixed", json!({ "start": 0.5, "release": 0.6 }), "release is out of range, expected 0 to 0.5"),
            ("conv-0.7-halfch", json!({ "release": -0.1 }), "expected 0 to 0.7"),
            ("rotation", json!({ "min_invalid": 0 }), "1 or more"),
            ("adaptive", json!({ "low": 0.9 }), "low < high"),
            ("adaptive", json!({ "high": -0.1 }), "0 to 1"),
            ("adaptive", json!({ "ramp": "steep" }), "`floor`"),
            ("adaptive", json!({ "max_channels": 9 }), "1 to 8"),
            ("queue-depth", json!({ "depth": 0 }), "1 or more"),
            ("idle-time", json!({ "idle": "0us" }), "above 0"),
            ("idle-time", json!({ "scope": "die" }), "`channel`"),
            ("rotation", json!({ "group": "die" }), "`channel`"),
        ] {
            let refused = build(name, &own).err().unwrap_or_else(|| panic!("{name} takes {own}"));
            assert!(refused.contains(why), "{name} {own}: {refused}");
        }
    }

    #[test]
    fn every_policy_has_defaults() {
        for entry in REGISTRY {
            for channels in [1, 2, 3, 8] {
                let config = PolicyConfig::named(entry.name);
                assert!(super::build(&config, channels).is_ok(), "{} with {channels}", entry.name);
            }
        }
    }
}
