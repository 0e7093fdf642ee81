//! Does a device that nobody checks do what one does that is checked, and so goes the general way everywhere? And does it tell how it
//! stands at the same moments?
//!
//! Random loads on random devices, compared at every operation. Not verified: writes that are settled when they arrive (`settled`),
//! and whole runs, which `ways` of the scenario's `swarm` compares.

use crate::bench::sub;
use crate::random::{additions, config, pick, superblocks, timing};
use harmonia_engine::Rng;
use harmonia_flash::Copyback;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AnyProbe, NoProbe, Probe, any, probe_as};
use harmonia_ssd::{Allocation, Destination, Device, Ftl, Priority, SsdConfig, SubRequest};
use harmonia_types::{Levels, Operation, SimDuration, SimTime};

/// Hears how its device stands: at each time the last that it is told.
#[derive(Debug, Default)]
struct Heard {
    checks: bool,
    levels: Vec<(SimTime, Levels)>,
}

impl Probe for Heard {
    fn audits(&self) -> bool {
        self.checks
    }

    fn watches_levels(&self) -> bool {
        true
    }

    fn levels(&mut self, at: SimTime, levels: &Levels) {
        match self.levels.last_mut() {
            Some(last) if last.0 == at => last.1 = *levels,
            last => {
                assert!(last.is_none_or(|last| last.0 < at), "time never falls");
                self.levels.push((at, *levels));
            }
        }
    }
}

impl Heard {
    /// When it changed.
    fn changes(&self) -> Vec<(SimTime, Levels)> {
        let mut changes = self.levels.clone();
        changes.dedup_by_key(|change| change.1);
        changes
    }
}

/// A random device, of those that go a shorter way somewhere more than there are among all.
fn drawn(seed: u64) -> SsdConfig {
    let mut rng = Rng::stream(seed, "watched/config");
    let plain = config(&mut rng);
    let mut config = additions(&mut rng, plain);
    match rng.below(5) {
        // Dies with pins of their own that serve the head of their queue.
        0 | 1 => {
            if rng.chance(0.3) {
                timing(&mut config, &mut rng);
            }
            (config.geometry.own_pins, config.ftl.multi_plane) = (true, false);
            config.ftl.priority = Priority::Fifo;
            config.gc.schedule = "blocking".into();
            config.link.latency = SimDuration::ZERO;
        }
        // Page moves over a shared bus.
        2 | 3 => {
            (config.geometry.own_pins, config.timing.copyback) = (false, Copyback::None);
            config.gc.destination = Destination::Unit;
            config.gc.schedule =
                pick(&mut rng, &["stepwise", "io-parallel", "preemptive", "blocking"]).into();
        }
        _ => timing(&mut config, &mut rng),
    }
    if rng.chance(0.1) {
        superblocks(&mut config, &mut rng);
    } else if rng.chance(0.1) && matches!(config.ftl.allocation, Allocation::Static(_)) {
        config.write_cache.size = Some(512 * (1 + rng.below(8)));
    }
    config
}

fn device<P: Probe>(config: &SsdConfig, seed: u64, probe: P) -> Option<Device<P>> {
    let ftl = Ftl::new(config, seed, "device").ok()?;
    Device::new(config, ftl, probe).ok()
}

/// All that is told of a device since it was asked last.
fn told<P: Probe>(device: &mut Device<P>, now: SimTime) -> String {
    let mut done: Vec<_> = device.completions().drain(..).collect();
    done.sort_by_key(|done| done.token);
    let refused: Vec<_> = device.refusals().drain(..).collect();
    let notices: Vec<_> = device.notices().drain(..).collect();
    let collected: Vec<_> = device.gc_intervals().drain(..).collect();
    let (next, counters) = (device.next_wakeup(), device.counters());
    format!(
        "{done:?}\n{refused:?}\n{notices:?}\n{collected:?}\n{next}\n{counters:?}\n{:?}",
        device.status(now)
    )
}

fn drive<P: Probe>(device: &mut Device<P>, at: SimTime, step: Result<Directive, SubRequest>) -> String {
    device.advance_until(at, false).expect("room");
    match step {
        Ok(directive) => device.direct(at, directive),
        Err(sub) => device.submit(at, sub).expect("room"),
    }
    told(device, at)
}

#[test]
#[ignore = "long: make simulations"]
fn a_device_that_is_not_checked_does_the_same() {
    let (mut devices, mut victims) = (0, 0);
    for seed in 0..600 {
        let config = drawn(seed);
        let heard = |checks| Heard { checks, levels: Vec::new() };
        let (Some(mut fast), Some(mut watched), Some(mut checked)) = (
            device(&config, seed, NoProbe),
            device(&config, seed, any(heard(false))),
            device(&config, seed, any(heard(true))),
        ) else {
            continue;
        };
        devices += 1;
        let pages = u64::from(fast.ftl().shape().logical_pages);
        let (size, mut rng) = (u64::from(fast.ftl().shape().page_size), Rng::stream(seed, "watched"));
        let (mut now, gap) = (SimTime::ZERO, pick(&mut rng, &[20, 200, 2_000]));
        for token in 0..250u32 {
            now += SimDuration(rng.below(gap) * u64::from(rng.chance(0.8)));
            let kinds =
                [Operation::Write, Operation::Write, Operation::Write, Operation::Read, Operation::Trim];
            let of = if rng.chance(0.8) { 4 } else { 5 };
            let operation = kinds[rng.below(of) as usize];
            let length = size * (1 + rng.below(3).min(pages - 1));
            let offset = size * rng.below(pages - length / size + 1);
            let is_partial = rng.chance(0.05) && operation == Operation::Write && size > 1;
            let length = if is_partial { length - 1 } else { length };
            let (fast_fail, background) = (rng.chance(0.05), rng.chance(0.05));
            let request = SubRequest { offset, length, fast_fail, background, ..sub(token, operation, 0, 0) };
            let step = match rng.below(100) {
                0 => Ok(Directive::Force(Stop::Internal)),
                1 => Ok(Directive::Force(Stop::AllReserve)),
                _ => Err(request),
            };
            let (one, other) = (drive(&mut fast, now, step), drive(&mut checked, now, step));
            assert_eq!(drive(&mut watched, now, step), other, "seed {seed}, step {token} at {now}");
            assert!(one == other, "seed {seed}, step {token} at {now}:\n{one}\n{other}\n{config:#?}");
        }
        while fast.next_wakeup() != SimTime::NEVER {
            let next = fast.next_wakeup();
            fast.advance_until(next, false).expect("room");
            watched.advance_until(next, false).expect("room");
            checked.advance_until(next, false).expect("room");
            let (one, other) = (told(&mut fast, next), told(&mut checked, next));
            assert!(one == other, "seed {seed}, at {next}:\n{one}\n{other}\n{config:#?}");
        }
        let changes = |device: &Device<AnyProbe>| probe_as::<Heard>(device.probe()).changes();
        assert_eq!(changes(&watched), changes(&checked), "seed {seed}: {config:#?}");
        victims += fast.counters().gc_victims;
    }
    assert!(devices > 500 && victims > 20_000, "{devices} devices, {victims} victims");
}
