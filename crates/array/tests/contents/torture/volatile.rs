//! Histories of stripes whose drives have write caches without stored power: they lose what they hold with power, but for what a flush or FUA
//! has made durable. In a third of them some drives keep it.

use harmonia_array::{ArrayConfig, Befalls, Faults, Level};
use harmonia_engine::Rng;
use harmonia_ssd::WriteCacheConfig;

use super::content::Content;
use super::history::{Counts, Failure, Locks, Options, config_of, run_on};

/// Whether a loss of power takes what a cache holds.
pub fn forgets(cache: &WriteCacheConfig) -> bool {
    !cache.is_none() && !cache.power_protected
}

/// Runs such a history; `None` where nothing is cached, or where an array needs more than [`losses`](super::scenario::losses_of_power) of it
/// are modelled for: redundancy, or NVRAM.
pub fn run_volatile<C: Content>(seed: u64, requests: u64) -> Option<Result<Counts, Failure>> {
    let options = Options { seed, requests, locks: Locks::Always, faults: false, power: true };
    let config = config_of(options);
    let is_cached = config.members.iter().any(|member| !member.ssd.write_cache.is_none());
    let is_known = config.level == Level::Raid0 && config.knowledge.nvram == 0;
    (is_cached && is_known).then(|| run_on::<C>(without_stored_power(config, seed), options, |_| {}))
}

/// Members whose caches forget; power is lost and they may be slow, and nothing else happens.
fn without_stored_power(mut config: ArrayConfig, seed: u64) -> ArrayConfig {
    let mut rng = Rng::stream(seed, "contents/volatile");
    let faults = std::mem::take(&mut config.faults);
    let events = faults.events.into_iter().filter(|event| matches!(event.what, Befalls::Slow(_)));
    config.faults =
        Faults { events: events.collect(), power_losses: faults.power_losses, ..Faults::default() };
    let keeps = rng.chance(1.0 / 3.0);
    for (index, member) in config.members.iter_mut().enumerate() {
        member.ssd.write_cache.power_protected = keeps && index > 0 && rng.chance(0.5);
    }
    config
}
