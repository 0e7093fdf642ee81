//! A device that loses power: what has begun finishes in silence, what waits is forgotten, and work goes on afterwards.

use std::collections::BTreeMap;

use crate::bench::*;
use crate::random::pick;
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Device, Ftl, SubRequest};
use harmonia_types::{Operation, ParityPages, SimDuration, SimTime};

/// One write runs, one waits: the first is stored, the second is not, and neither is answered.
#[test]
fn what_runs_is_stored_and_what_waits_is_not() {
    let mut bench = Bench::with(&one_die(), &[]);
    bench.write(0, 1, 0, 1).write(0, 2, 1, 1).advance(1_000);
    bench.device.lose_power(SimTime(1_000));
    bench.device.audit();
    bench.advance(1_000_000);
    assert!(bench.known.is_empty(), "{:?}", bench.known);
    let holds = |lpn| bench.device.ftl().lookup(0, lpn).is_some();
    assert!(holds(0) && !holds(1));
    assert_eq!(bench.device.counters().programs[0], 1);
}

/// Random devices under every policy that lose power at random moments, with every audit on: what was submitted since is
/// answered once, what was not before is not answered at all.
#[test]
fn whenever_a_random_device_loses_power_what_is_submitted_afterwards_is_answered_once() {
    let mut forgotten = 0;
    for seed in 0..300 {
        let mut rng = Rng::stream(seed, "power");
        let mut config = crate::random::config(&mut rng);
        crate::random::timing(&mut config, &mut Rng::stream(seed, "power/timing"));
        crate::random::front(&mut config, &mut Rng::stream(seed, "power/front"));
        config.gc.concurrency = crate::random::concurrency(&mut rng);
        // Old seeds differ in nothing else.
        let size = Rng::stream(seed, "power/write cache").below(12);
        config.write_cache.size = Some(size * 512).filter(|&size| size > 0 && seed % 2 == 1);
        if seed >= 200 {
            // A cache that gathers programs of several units.
            config.write_cache.size = None;
            let mut packing = Rng::stream(seed, "power/packing");
            crate::random::pack(&mut config, &mut packing);
            let program = u64::from(config.resolve().unwrap().packing.slots_per_program());
            config.write_cache.size = Some((program + packing.below(3 * program)) * 512);
        }
        let ftl = Ftl::new(&config, seed, "device").unwrap();
        let (pages, size) = (u64::from(ftl.shape().logical_pages), u64::from(config.mapping_unit()));
        let mut device = Device::new(&config, ftl, any(AuditProbe)).unwrap();
        let (mut now, mut open) = (SimTime::ZERO, BTreeMap::new());
        let answered = |device: &mut Device<AnyProbe>, open: &mut BTreeMap<u64, SimTime>| {
            for done in device.completions().drain(..) {
                let issued = open.remove(&done.token).expect("answered once, and not forgotten");
                assert_eq!(done.blame.total(), (done.finish - issued).0, "seed {seed}: {done:?}");
            }
        };
        for token in 0..300 {
            now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
            device.advance_until(now, false).unwrap();
            answered(&mut device, &mut open);
            if rng.chance(0.03) {
                device.lose_power(now);
                device.audit();
                forgotten += open.len();
                open.clear();
            }
            if rng.chance(0.05) {
                let force = [Stop::Internal, Stop::AllReserve].map(Directive::Force);
                device
                    .direct(now, pick(&mut rng, &[force[0], force[1], Directive::Open, Directive::Release]));
            }
            let operations = [Operation::Read, Operation::Write, Operation::Write, Operation::Trim];
            let length = 1 + rng.below(pages.min(3));
            let request = SubRequest {
                token,
                operation: pick(&mut rng, &operations),
                offset: rng.below(pages - length + 1) * size,
                length: length * size,
                fast_fail: false,
                deadline: None,
                parity: ParityPages::NONE,
                background: rng.chance(0.3),
                handle: 0,
            };
            open.insert(token, now);
            device.submit(now, request).unwrap();
            device.audit();
            answered(&mut device, &mut open);
        }
        let mut steps = 0;
        while !open.is_empty() {
            steps += 1;
            let next = device.next_wakeup();
            assert!(next != SimTime::NEVER && steps < 100_000, "seed {seed}: {open:?} are never answered");
            device.advance_until(next, false).unwrap();
            answered(&mut device, &mut open);
        }
        device.ftl().audit();
    }
    assert!(forgotten > 2_000, "{forgotten} operations were forgotten");
}
