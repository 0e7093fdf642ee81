//! Does a device collect in the windows it was given, and only there?

use crate::bench::*;
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Notice, Window};
use harmonia_ssd::{Amount, BeginsAt, Domain, Ftl, PolicyConfig, SsdConfig};
use harmonia_types::{Operation, SimDuration, SimTime};

fn direct(bench: &mut Bench, at: u64, directive: Directive) {
    bench.advance(at).device.direct(SimTime(at), directive);
    bench.device.audit();
}

/// One die whose events start at 2 free blocks.
fn begins_at_soft(schedule: &str) -> SsdConfig {
    let mut config = one_die();
    config.gc.begins_at = BeginsAt::Soft;
    config.gc.schedule = schedule.into();
    config
}

#[test]
fn in_a_deterministic_window_events_start_at_hard_only_and_say_so() {
    for schedule in ["blocking", "preemptive", "after-reads", "slack", "io-parallel"] {
        let mut bench = Bench::aged(&begins_at_soft(schedule), &[]);
        direct(&mut bench, 0, Directive::Hold);
        // Two free blocks: soft.
        bench.read(0, 1, 0, 1).advance(5_000);
        assert_eq!(bench.device.counters().erases, 0, "{schedule}");
        // The write opens a block, which leaves one free; the operation after it has to wait.
        bench.write(5_000, 2, 12, 1).read(20_000, 3, 0, 1).advance(20_000);
        let hard = (5_070, Notice::HardThreshold);
        assert!(bench.notices().contains(&hard), "{schedule}");
        assert_eq!(bench.collected().first().map(|event| event.0), Some(20_000), "{schedule}");

        let mut bench = Bench::aged(&begins_at_soft(schedule), &[]);
        bench.read(0, 1, 0, 1).collected();
        assert!(bench.device.counters().erases > 0, "{schedule}: without a window it starts at soft");
    }
}

#[test]
fn a_deterministic_window_lets_an_event_end_and_calls_off_what_has_not_begun() {
    let mut config = two_dies();
    config.gc.begins_at = BeginsAt::Soft;
    config.gc.domain = Domain::Device;
    // Both dies collect a victim, and die 0, which then still has two free blocks, another one.
    for (hold, expected) in [(false, 78_000), (true, 26_000)] {
        let mut bench = Bench::aged(&config, &[]);
        // Die 1 serves a read when die 0 finds itself at soft and makes all dies of the device collect.
        direct(&mut bench, 0, Directive::Hold);
        bench.read(0, 1, 1, 1);
        direct(&mut bench, 0, Directive::Release);
        bench.read(0, 2, 0, 1);
        assert_eq!(bench.device.collecting_dies().collect::<Vec<_>>(), [0]);
        if hold {
            direct(&mut bench, 1_000, Directive::Hold);
        }
        bench.collected();
        assert_eq!(bench.device.counters().gc_busy, SimDuration(expected), "hold {hold}");
    }
    // A forced event is not called off.
    let mut bench = Bench::aged(&config, &[]);
    direct(&mut bench, 0, Directive::Hold);
    bench.read(0, 1, 1, 1).force(500);
    direct(&mut bench, 1_000, Directive::Hold);
    bench.collected();
    assert_eq!(bench.device.counters().gc_busy, SimDuration(52_000));
}

/// Victims of `TWO_FREE`, each an event: 26,000 with one page, and again; then 3 blocks are free.
#[test]
fn in_a_window_to_collect_in_events_follow_one_another_until_all_is_above_soft() {
    let mut bench = Bench::aged(&one_die(), &[]);
    direct(&mut bench, 100, Directive::Open);
    assert_eq!(bench.device.status(SimTime(100)).window, Window::NonDeterministic);
    assert_eq!(bench.collected(), [(100, 26_100), (26_100, 52_100)]);
    assert_eq!(bench.device.status(SimTime(52_100)).free_min, 3);

    for directive in [Directive::Hold, Directive::Release] {
        let mut bench = Bench::aged(&one_die(), &[]);
        direct(&mut bench, 0, Directive::Open);
        direct(&mut bench, 10_000, directive);
        assert_eq!(bench.collected(), [(0, 26_000)], "{directive:?}: what runs ends, nothing more starts");
    }
    // An idle die looks when an operation is done, too.
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.read(0, 1, 0, 1);
    direct(&mut bench, 500, Directive::Open);
    assert_eq!(bench.collected(), [(1_300, 27_300), (27_300, 53_300)]);
}

/// A read that comes during the first event waits for that one alone: it is served in 1,300 before the next begins.
#[test]
fn in_a_window_to_collect_in_the_host_waits_for_one_event_and_not_for_the_next() {
    let mut bench = Bench::aged(&one_die(), &[]);
    direct(&mut bench, 100, Directive::Open);
    bench.read(1_000, 1, 0, 1);
    assert_eq!(bench.collected(), [(100, 26_100), (27_400, 53_400)]);
}

#[test]
fn a_window_to_collect_in_with_nothing_to_free_is_quiet() {
    let mut config = one_die();
    config.gc.soft_threshold = Amount::AboveHard(3);
    let full: Vec<u32> = (0..16).collect();
    for schedule in ["blocking", "preemptive", "ideal"] {
        config.gc.schedule = schedule.into();
        let mut bench = Bench::with(&config, &[&full]);
        direct(&mut bench, 0, Directive::Open);
        assert!(bench.collected().is_empty(), "{schedule}: four free blocks are soft, but all is valid");
        assert_eq!(bench.device.counters().erases, 0);
        // One page of room is not worth a block; yet it is what there is.
        bench.write(10, 1, 0, 1).collected();
        assert!(bench.device.counters().erases > 0, "{schedule}: now there is");
    }
}

/// 20 of 24 blocks free and none open: 18 blocks of 4 pages until the write that leaves one free.
#[test]
fn a_deterministic_window_warns_once_when_an_eighth_of_its_writes_is_left() {
    let mut config = one_die();
    config.geometry.blocks_per_plane = 24;
    config.ftl.reserved_blocks = Amount::Blocks(20);
    let full: Vec<u32> = (0..16).collect();
    let mut bench = Bench::with(&config, &[&full]);
    let write = |bench: &mut Bench, count: u64| {
        bench.write(count * 10_000, count as u32, count % 16, 1).advance(count * 10_000 + 9_000);
    };
    direct(&mut bench, 0, Directive::Hold);
    assert_eq!(bench.device.status(SimTime::ZERO).window_writes, 72);
    // It looks at each new block, 4 writes apart: 15 left, then 11. An eighth is 9.
    (1..=60).for_each(|count| write(&mut bench, count));
    assert_eq!((bench.notices(), bench.device.status(SimTime(609_000)).window_writes), (vec![], 12));
    write(&mut bench, 61);
    assert_eq!(bench.notices(), [(610_070, Notice::WindowWarning)]);
    (62..=72).for_each(|count| write(&mut bench, count));
    let hard =
        |notice: &(u64, Notice)| notice.1 == Notice::WindowWarning || notice.1 == Notice::HardThreshold;
    assert!(!bench.notices().iter().any(hard), "one warning, and the window is not over yet");
    write(&mut bench, 73);
    assert_eq!(bench.device.status(SimTime(739_000)).window_writes, 0);
    assert_eq!(bench.notices(), [(730_070, Notice::HardThreshold)]);
    write(&mut bench, 74);
    assert_eq!(bench.notices().first(), Some(&(740_070, Notice::GcStarted)));

    // A window that begins with little more than a block warns at once, and each window warns.
    let mut bench = Bench::aged(&one_die(), &[]);
    for at in [0, 5] {
        direct(&mut bench, at, Directive::Hold);
        assert_eq!(bench.notices(), [(at, Notice::WindowWarning)]);
    }
    direct(&mut bench, 10, Directive::Release);
    assert!(bench.notices().is_empty());
}

/// The device has as many units as it likes: writes that spread evenly are limited by the fullest.
#[test]
fn the_writes_of_a_window_count_every_unit_as_the_fullest() {
    let bench = Bench::with(&two_dies(), &[&TWO_FREE[..18], &[0, 1]]);
    let status = bench.device.status(SimTime::ZERO);
    assert_eq!((status.writes_until_hard, status.window_writes), (6, 12));
    assert_eq!(status.window, Window::None);
}

/// Random devices under random windows; every event of the device is looked at by itself.
fn check(seed: u64) -> [u64; 2] {
    let mut rng = Rng::stream(seed, "windows");
    let mut config = crate::random::config(&mut rng);
    crate::random::timing(&mut config, &mut Rng::stream(seed, "windows/timing"));
    // An event of another die is a reason to collect; so would be the turns of a policy that limits channels.
    config.gc.domain = if config.ftl.allocation_unit == harmonia_ssd::AllocationUnit::Plane {
        Domain::Plane
    } else {
        Domain::Die
    };
    config.gc.concurrency = PolicyConfig::named("unlimited");
    config.gc.begins_at = crate::random::pick(&mut rng, &[BeginsAt::Schedule, BeginsAt::Soft]);
    if config.resolve().is_err() {
        // Events that begin at soft may need more spare.
        config.gc.begins_at = BeginsAt::Schedule;
    }
    let ftl = Ftl::new(&config, seed, "device").unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    let shape = ftl.shape().clone();
    let mut device =
        harmonia_ssd::Device::new(&config, ftl, harmonia_ssd::probe::any(harmonia_ssd::probe::AuditProbe))
            .unwrap();
    let (mut now, mut began, mut ended_low) = (SimTime::ZERO, 0, 0);
    let (mut window, pages) = (Window::None, u64::from(shape.logical_pages));
    let of_die = shape.units_per_die;
    let units = |die: u32| die * of_die..(die + 1) * of_die;
    for token in 0..600 {
        let until = now + SimDuration(crate::random::pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
        while device.next_wakeup() <= until {
            let free: Vec<u32> = (0..shape.units()).map(|unit| device.ftl().free_blocks(unit)).collect();
            let before: Vec<u32> = device.collecting_dies().collect();
            let wakeup = device.next_wakeup();
            device.advance_until(wakeup, true).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            let is_new = |die: &u32| !before.contains(die);
            for die in device.collecting_dies().filter(is_new).filter(|_| window == Window::Deterministic) {
                began += 1;
                let is_hard = units(die).any(|unit| free[unit as usize] <= shape.hard);
                assert!(is_hard, "seed {seed}: die {die} began above hard at {wakeup}\n{config:#?}");
            }
            device.notices().clear();
            device.completions().clear();
        }
        now = until;
        if rng.chance(0.03) {
            let directives = [
                (Directive::Hold, Window::Deterministic),
                (Directive::Open, Window::NonDeterministic),
                (Directive::Release, Window::None),
            ];
            let (directive, next) = crate::random::pick(&mut rng, &directives);
            device.direct(now, directive);
            window = next;
            device.audit();
        }
        let operation = if rng.chance(0.7) { Operation::Write } else { Operation::Read };
        let mut request = sub(token, operation, 0, 1);
        (request.offset, request.length) = (rng.below(pages) * 512, 512);
        device.submit(now, request).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    device.direct(now, Directive::Open);
    while device.next_wakeup() != SimTime::NEVER {
        device.advance_until(device.next_wakeup(), false).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    for unit in 0..shape.units() {
        let table = device.ftl().blocks(unit);
        let frees = table.fewest_valid().is_some_and(|(_, valid)| valid < table.data_pages);
        let free = device.ftl().free_blocks(unit);
        assert!(free > shape.soft || !frees, "seed {seed}: unit {unit} ends with {free} free\n{config:#?}");
        ended_low += u64::from(free <= shape.soft);
    }
    [began, ended_low]
}

#[test]
fn random_devices_keep_to_their_windows() {
    let sum = (0..400).map(check).reduce(|a, b| [a[0] + b[0], a[1] + b[1]]).expect("seeds");
    assert!(
        sum[0] > 500 && sum[1] > 10,
        "events in deterministic windows, units with nothing to free: {sum:?}"
    );
}
