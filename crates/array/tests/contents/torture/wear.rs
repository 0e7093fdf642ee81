//! Histories in which members wear out and become read-only, each at a random moment, and nothing else makes them fail. Half of
//! them level wear as well.

use harmonia_array::{ArrayConfig, Befalls};
use harmonia_engine::Rng;
use harmonia_ssd::{Amount, LevelingConfig, SsdConfig, WearConfig};

use super::content::Content;
use super::history::{Counts, Failure, Locks, Options, config_of, run_on};
use super::scenario::{draw, pick};

/// Runs such a history; `None` where data is kept once, because then a write that fails is lost and no member fails.
pub fn run_worn<C: Content>(seed: u64, requests: u64) -> Option<Result<Counts, Failure>> {
    let options = Options { seed, requests, locks: Locks::Always, faults: true, power: false };
    let config = config_of(options);
    let keeps_more = config.level.redundancy(config.devices) > 0;
    keeps_more.then(|| run_on::<C>(worn(config, options.seed), options, |_| {}))
}

/// Members and spares whose blocks last for a few erases.
fn worn(mut config: ArrayConfig, seed: u64) -> ArrayConfig {
    let mut rng = Rng::stream(seed, "contents/wear");
    config.faults.events.retain(|event| event.what != Befalls::Failure);
    config.faults.seed = seed;
    let wear = WearConfig {
        spread: pick(&mut rng, &[0.0, 0.1, 0.3]),
        drive_spread: pick(&mut rng, &[0.0, 0.03, 0.3]),
        end_at_spare: pick(&mut rng, &[0.0, 0.5, 1.0]),
        used: pick(&mut rng, &[0.0, 0.0, 0.5]),
        ..WearConfig::of(pick(&mut rng, &[1, 2, 2, 4, 8]))
    };
    // So many blocks of a unit can retire.
    let more = draw(&mut rng, 1, 3) as u32;
    // Collection needs a block to do without one that wears out.
    let has_none = config.members[0].ssd.gc.hard_threshold == Amount::Blocks(0);
    let more = more + u32::from(has_none);
    let mut levels = Rng::stream(seed, "contents/leveling");
    let threshold = draw(&mut levels, 1, 3) as u32;
    let leveling = levels.chance(0.5).then_some(LevelingConfig { threshold, budget: 1.0 });
    let wears = |ssd: &mut SsdConfig| {
        ssd.wear = Some(wear.clone());
        ssd.geometry.blocks_per_plane += more;
        if let Amount::Blocks(reserved) = &mut ssd.ftl.reserved_blocks {
            *reserved += more;
        }
        let gc = &mut ssd.gc;
        for threshold in [&mut gc.hard_threshold, &mut gc.soft_threshold, &mut gc.stop_threshold] {
            if let Amount::Blocks(blocks) = threshold {
                *blocks += u32::from(has_none);
            }
        }
        // Not every drive can level.
        ssd.leveling = leveling.clone();
        if ssd.resolve().is_err() {
            ssd.leveling = None;
        }
    };
    config.members.iter_mut().for_each(|member| wears(&mut member.ssd));
    let spared = rng.chance(0.5);
    for spare in &mut config.faults.spares {
        wears(&mut spare.ssd);
        if spared {
            spare.ssd.wear = None;
        }
    }
    config
}
