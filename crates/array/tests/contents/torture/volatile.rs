//! Histories of arrays whose drives have write caches without stored power: they lose what they hold with power, but for what a flush or FUA
//! has made durable. In a third of them some drives keep it.
//!
//! A drive with a cache refuses no write, so the array parks writes for it only while it is reserved. Where NVRAM is to be of use, a member
//! at random is reserved, and returned, most of the time. Discards that waited for such a member replace what NVRAM holds when it is returned.

use std::sync::Once;

use harmonia_array::coordination::{
    Action, Coordinator, DeliveredView, Event, Interests, POLICIES, Parameters,
};
use harmonia_array::{ArrayConfig, Befalls, CoordinationConfig, Faults, Interface};
use harmonia_engine::Rng;
use harmonia_ssd::WriteCacheConfig;
use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{DeviceId, SimDuration, SimTime};

use super::content::Content;
use super::history::{Counts, Failure, Locks, Options, config_of, run_on};
use super::log::{keep, lose_power, mark};
use super::scenario::pick;

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

/// Runs such a history; `None` where nothing is cached, or where the array cannot keep that. Spares are taken away.
pub fn run_volatile<C: Content>(seed: u64, requests: u64, hole: Hole) -> Option<Result<Counts, Failure>> {
    // Beside a log members fail in every other history, when power is lost or a request later.
    let faults = hole == Hole::Log && seed.is_multiple_of(2);
    let options = Options { seed, requests, locks: Locks::Always, faults, power: !faults };
    let config = config_of(options);
    let is_cached = config.members.iter().any(|member| !member.ssd.write_cache.is_none());
    if !is_cached {
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

/// Runs a history with NVRAM whose members are reserved at random, and forget what they cache; `None` where nothing is cached.
pub fn run_parked<C: Content>(seed: u64, requests: u64) -> Option<Result<Counts, Failure>> {
    static ADDED: Once = Once::new();
    ADDED.call_once(|| POLICIES.add(RESERVES).expect("nobody else has this name"));
    let options = Options { seed, requests, locks: Locks::Always, faults: false, power: true };
    let mut config = config_of(options);
    if config.members.iter().all(|member| member.ssd.write_cache.is_none()) {
        return None;
    }
    let mut rng = Rng::stream(seed, "contents/parked");
    config.knowledge.nvram = config.page_size() * pick(&mut rng, &[3, 20, 500]);
    config.coordination = CoordinationConfig::of(RESERVES.name, SimDuration::ZERO);
    Some(run_on::<C>(without_stored_power(config, seed), options, |_| {}))
}

const RESERVES: Entry<harmonia_array::coordination::Build> = Entry {
    name: "reserves-at-random",
    summary: "reserves and returns members at random",
    source: "none",
    keys: &no_keys,
    build: &|parameters: &Parameters<'_>| {
        let rng = Rng::stream(parameters.devices.into(), "contents/reserves");
        Ok(Box::new(Reserves { rng, members: parameters.devices.into(), reserved: None, left: 2_000 }))
    },
};

/// Reserves one member after the other, and returns it. Where several copies were reserved, reads would go from one to the next.
#[derive(Clone)]
struct Reserves {
    rng: Rng,
    members: u64,
    reserved: Option<DeviceId>,
    left: u32,
}

impl Coordinator for Reserves {
    fn interests(&self) -> Interests {
        Interests { devices: true, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, _: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        match *event {
            Event::Start => {}
            Event::Timer(_) => match self.reserved.take() {
                Some(device) => actions.push(Action::Return(device)),
                None if self.left == 0 => return,
                None => {
                    let device = DeviceId(self.rng.below(self.members) as u16);
                    (self.reserved, self.left) = (Some(device), self.left - 1);
                    actions.push(Action::Reserve(device));
                }
            },
            _ => return,
        }
        let most = if self.reserved.is_some() { pick(&mut self.rng, &[100, 300, 3_000]) } else { 200 };
        actions.push(Action::Timer(now + SimDuration::from_us(1 + self.rng.below(most)), 0));
    }
}
