//! How long do writes wait before a cache that takes them at the rate at which collection wins pages?

use crate::bench::*;
use crate::sharing::{age, modern, saturated};
use harmonia_engine::Rng;
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Device, Ftl, Pacing, SsdConfig, Trigger};
use harmonia_types::{Operation, SimTime};

fn paced(pacer: Pacing) -> SsdConfig {
    let mut config = modern(20.0, Trigger::Proportional);
    config.write_cache.pacer = pacer;
    config
}

/// Median and p99 of the responses of random writes of one unit that arrive at random, so many a second; of the second half of them.
/// Unit: ns.
fn responses(config: &SsdConfig, rate: f64) -> (u64, u64) {
    const WRITES: u32 = 200_000;
    let mut ftl = Ftl::new(config, 1, "device").expect("feasible");
    let mut rng = Rng::stream(1, "pacing");
    age(config, &mut ftl, &mut rng);
    let pages = u64::from(ftl.shape().logical_pages);
    let mut device = Device::new(config, ftl, NoProbe).expect("feasible");
    let (mut arrivals, mut now) = (Vec::new(), 0.0);
    let mut responses = Vec::new();
    for token in 0..WRITES {
        now += rng.exponential(1e9 / rate);
        let at = SimTime(now as u64);
        arrivals.push(at);
        device.advance_until(at, false).expect("room");
        device.submit(at, sub(token, Operation::Write, rng.below(pages), 1)).expect("room");
        for done in device.completions().drain(..) {
            let number = done.token as usize;
            if number >= WRITES as usize / 2 {
                responses.push((done.finish - arrivals[number]).0);
            }
        }
        device.notices().clear();
        device.gc_intervals().clear();
    }
    responses.sort_unstable();
    (responses[responses.len() / 2], responses[responses.len() * 99 / 100])
}

/// Without a pacer nothing waits below saturation. With one, p99 grows towards it, and the median hardly; and the rate at saturation stays.
#[test]
#[ignore = "long: make simulations"]
fn waits_grow_towards_saturation() {
    let rate = |pacer| {
        let counted = saturated(&paced(pacer), 300_000);
        counted.host as f64 * 1e9 / counted.at as f64
    };
    let (free, kept) = (rate(Pacing::Off), rate(Pacing::Collection));
    eprintln!("saturated: {free:.0} writes/s, paced {kept:.0}");
    assert!((0.96..1.01).contains(&(kept / free)), "{kept:.0} instead of {free:.0} writes/s");
    let period = 1e9 / free;
    let mut before = 0.0;
    for (share, least, most) in [(0.5, 0.0, 3.0), (0.78, 2.0, 12.0), (0.91, 8.0, 40.0)] {
        let [off, on] = [Pacing::Off, Pacing::Collection].map(|pacer| responses(&paced(pacer), share * free));
        eprintln!("{share} of saturation: p50 and p99 {off:?} ns, paced {on:?} ns; {period:.0} ns a write");
        let [median, tail] = [on.0 - off.0, on.1 - off.1].map(|more| more as f64 / period);
        assert!(median < 5.0, "the median grows by {median:.1} writes");
        assert!((least..=most).contains(&tail) && tail >= before, "p99 grows by {tail:.1} writes");
        before = tail;
    }
}
