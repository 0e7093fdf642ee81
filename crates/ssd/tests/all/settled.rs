//! Does a device that is told at once what arrives, and settles writes when they do, stand where one stands that takes them
//! event by event? Random loads on small devices, cut at random times: both are compared at every cut.
//!
//! Not verified: whole runs. `ways` of the scenario's `swarm` does that.

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Device, Domain, Ftl, Priority, SsdConfig, SubCompletion, SubRequest, Trigger};
use harmonia_types::{IoCause, Operation, SimDuration, SimTime};

const SEEDS: u64 = 1_000;

/// A few dies, all full; most of them have pins of their own and nothing else.
fn config(rng: &mut Rng) -> SsdConfig {
    let mut config = one_die();
    config.geometry.channels = 1 + rng.below(3) as u32;
    config.geometry.chips_per_channel = 1 + rng.below(2) as u32;
    config.geometry.pages_per_block = 4 << rng.below(3);
    config.gc.domain = if rng.chance(0.5) { Domain::Die } else { Domain::Device };
    // A write may end as the data of a later one arrives, or all data is there at once.
    match rng.below(20) {
        0 => config.link.bandwidth = 1 << 60,
        page @ 1..4 => config.link.bandwidth = PAGE * 1_000_000_000 / [530, 1_060, 2_650][page as usize - 1],
        _ => {}
    }
    // What has no short way.
    match rng.below(20) {
        0 => config.controller.command_overhead = SimDuration(40),
        1 => config.geometry.own_pins = false,
        2 => config.ftl.priority = Priority::ReadsFirst,
        3 => config.write_cache.size = Some((1 + rng.below(4)) * PAGE),
        4 => config.gc.trigger = Trigger::Background,
        _ => {}
    }
    config
}

fn device(config: &SsdConfig) -> Device {
    let mut ftl = Ftl::new(config, 1, "device").unwrap();
    for unit in 0..ftl.shape().units() {
        for lpn in 0..ftl.shape().unit_pages {
            ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).unwrap();
        }
    }
    Device::new(config, ftl, NoProbe).unwrap()
}

/// Arrivals up to a cut, and the cut.
fn window(rng: &mut Rng, from: SimTime, token: u32, pages: u64) -> (Vec<(SimTime, SubRequest)>, SimTime) {
    let (gap, others) = ([200, 2_000, 20_000][rng.below(3) as usize], rng.below(3) as f64 * 0.1);
    let mut at = from;
    let arriving: Vec<_> = (0..1 + rng.below(30) as u32)
        .map(|index| {
            // Some arrive at the same moment.
            at.0 += rng.below(gap) * u64::from(!rng.chance(0.2));
            let (operation, length) = match () {
                () if !rng.chance(others) => (Operation::Write, 1),
                () if rng.chance(0.6) => (Operation::Read, 1),
                () if rng.chance(0.5) => (Operation::Trim, 1),
                () => (Operation::Write, 2),
            };
            (at, sub(token + index, operation, rng.below(pages - 1), length))
        })
        .collect();
    let until = if rng.chance(0.5) { at } else { SimTime(at.0 + rng.below(gap)) };
    (arriving, until)
}

/// Hands over what arrives, one by one.
fn step_by_step(device: &mut Device, arriving: &[(SimTime, SubRequest)], until: SimTime) {
    for &(at, sub) in arriving {
        device.advance_until(at, false).unwrap();
        device.submit(at, sub).unwrap();
    }
    if arriving.last().is_none_or(|last| last.0 < until) {
        device.advance_until(until, false).unwrap();
    }
}

fn drained(device: &mut Device, into: &mut Vec<SubCompletion>) {
    into.append(device.completions());
}

fn by_token(mut done: Vec<SubCompletion>) -> Vec<SubCompletion> {
    done.sort_by_key(|done| done.token);
    done
}

#[test]
fn a_device_stands_where_one_stands_that_goes_event_by_event() {
    let mut fewer = 0;
    for seed in 0..SEEDS {
        let mut rng = Rng::stream(seed, "settled");
        let config = config(&mut rng);
        let (mut plain, mut general) = (device(&config), device(&config));
        let pages = u64::from(plain.ftl().shape().logical_pages);
        let (mut settled, mut told) = (Vec::new(), Vec::new());
        let (mut now, mut token) = (SimTime::ZERO, 0);
        for cut in 0..30 {
            let (arriving, until) = window(&mut rng, now, token, pages);
            plain.run_through(&arriving, until).unwrap();
            step_by_step(&mut general, &arriving, until);
            drained(&mut plain, &mut settled);
            drained(&mut general, &mut told);
            fewer += usize::from(settled.len() > told.len());
            let about = format!("seed {seed}, cut {cut} at {until}");
            let tells = |device: &mut Device| {
                let intervals = std::mem::take(device.gc_intervals());
                let notices = std::mem::take(device.notices());
                let (status, counters) = (device.status(until), device.counters());
                (device.next_wakeup(), device.is_quiet(), counters, intervals, notices, status)
            };
            assert_eq!(tells(&mut plain), tells(&mut general), "{about}");
            if rng.chance(0.1) {
                let force = [Stop::Internal, Stop::AllReserve].map(Directive::Force);
                let orders = [force[0], force[1], Directive::Hold, Directive::Open, Directive::Release];
                let order = orders[rng.below(5) as usize];
                plain.direct(until, order);
                general.direct(until, order);
            }
            (now, token) = (until, token + arriving.len() as u32);
        }
        for device in [&mut plain, &mut general] {
            device.advance_until(SimTime(u64::MAX / 2), false).unwrap();
        }
        drained(&mut plain, &mut settled);
        drained(&mut general, &mut told);
        assert_eq!(by_token(settled), by_token(told), "seed {seed}");
        assert_eq!(plain.events(), general.events(), "seed {seed}");
    }
    assert!(fewer > 500, "writes were settled before {fewer} cuts only");
}

/// The first write is done at 5,370. A second one whose data is there right then, or a nanosecond before or after.
#[test]
fn a_write_whose_data_comes_as_its_die_is_free_begins_then() {
    for arrival in 5_299..5_302 {
        let arriving = [0, arrival].map(|at| (SimTime(at), sub(at as u32, Operation::Write, at, 1)));
        let arriving = arriving.map(|(at, request)| (at, SubRequest { offset: 0, ..request }));
        let (mut plain, mut general) = (device(&one_die()), device(&one_die()));
        plain.run_through(&arriving, SimTime(20_000)).unwrap();
        step_by_step(&mut general, &arriving, SimTime(20_000));
        let finish: Vec<u64> = plain.completions().iter().map(|done| done.finish.0).collect();
        assert_eq!(finish, [5_370, 5_300 + (arrival + LINK).max(5_370)], "data there at {}", arrival + LINK);
        assert_eq!(plain.completions(), general.completions());
        assert_eq!(plain.events(), general.events());
    }
}

/// A device that fails while its die works on a settled write has nothing left to do.
#[test]
fn a_device_that_fails_forgets_what_was_settled() {
    let mut device = device(&one_die());
    device.run_through(&[(SimTime(0), sub(1, Operation::Write, 0, 1))], SimTime(1_000)).unwrap();
    assert!(!device.is_quiet());
    device.fail(SimTime(1_000));
    assert!(device.is_quiet());
    assert_eq!((device.next_wakeup(), device.status(SimTime(1_000)).queue_depth), (SimTime::NEVER, 1));
}
