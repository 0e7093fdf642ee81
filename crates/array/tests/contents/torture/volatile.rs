//! Histories of arrays whose drives have write caches without stored power: they lose what they hold with power, but for what a flush or FUA
//! has made durable. In a third of them some drives keep it.

use harmonia_array::{ArrayConfig, Befalls, Faults};
use harmonia_engine::Rng;
use harmonia_ssd::WriteCacheConfig;

use super::content::Content;
use super::history::{Counts, Failure, Locks, Options, config_of, run_on};
use super::log::{keep, lose_power, mark};

/// Whether a loss of power takes what a cache holds.
pub fn forgets(cache: &WriteCacheConfig) -> bool {
    !cache.is_none() && !cache.power_protected
}

/// What such an array keeps against rows that do not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hole {
    /// Nothing: all is gone through.
    Resync,
    Bitmap,
    /// A journal, or a partial parity log.
    Log,
}

/// Runs such a history; `None` where nothing is cached, where the array cannot keep that, or where it needs more than
/// [`losses`](super::scenario::losses_of_power) of it are modelled for: NVRAM. Spares are taken away.
pub fn run_volatile<C: Content>(seed: u64, requests: u64, hole: Hole) -> Option<Result<Counts, Failure>> {
    // Beside a log members fail in every other history, when power is lost or a request later.
    let faults = hole == Hole::Log && seed.is_multiple_of(2);
    let options = Options { seed, requests, locks: Locks::Always, faults, power: !faults };
    let config = config_of(options);
    let is_cached = config.members.iter().any(|member| !member.ssd.write_cache.is_none());
    if !is_cached || config.knowledge.nvram > 0 {
        return None;
    }
    let mut config = without_stored_power(config, seed);
    let keeps = match hole {
        Hole::Resync => true,
        Hole::Bitmap => mark(seed, &mut config),
        Hole::Log => keep(seed, &mut config),
    };
    if faults {
        lose_power(seed, requests, &mut config);
    }
    keeps.then(|| run_on::<C>(config, options, |_| {}))
}

/// Members whose caches forget; power is lost, they may be slow or fail, and nothing else happens.
fn without_stored_power(mut config: ArrayConfig, seed: u64) -> ArrayConfig {
    let mut rng = Rng::stream(seed, "contents/volatile");
    let faults = std::mem::take(&mut config.faults);
    let events = faults.events.into_iter().filter(|event| event.what != Befalls::Replacement);
    config.faults = Faults {
        events: events.collect(),
        power_losses: faults.power_losses,
        rebuild: faults.rebuild,
        ..Faults::default()
    };
    let keeps = rng.chance(1.0 / 3.0);
    for (index, member) in config.members.iter_mut().enumerate() {
        member.ssd.write_cache.power_protected = keeps && index > 0 && rng.chance(0.5);
    }
    config
}
