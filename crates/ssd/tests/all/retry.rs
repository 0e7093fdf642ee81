//! How often are pages read again, and what does that cost? Literal nanoseconds, and the closed forms of a geometric law.
//!
//! ```text
//! array read 1,000   page out 300   program 5,000   erase 20,000      k more reads of a page have the probability p^k (1 - p)
//! ```

use crate::bench::*;
use crate::units::four;
use harmonia_flash::{Copyback, ReadRetry};
use harmonia_ssd::probe::{AnyProbe, NoProbe, any};
use harmonia_ssd::{Device, Ftl, SsdConfig, SubCompletion};
use harmonia_types::{IoCause, Operation, SimDuration, SimTime};

fn retrying(mut config: SsdConfig, probability: f64, step: Option<u64>) -> SsdConfig {
    config.timing.read_retry = ReadRetry { probability, step: step.map(SimDuration) };
    config
}

fn again(device: &Device<AnyProbe>) -> u64 {
    device.counters().inside.read_retries
}

/// A device whose pages were written in order, which reads so many times so many of them. One read runs and one waits, so that its pages
/// may share a command.
fn reads(config: &SsdConfig, drive: u16, count: u64, length: u64) -> (Vec<SubCompletion>, u64) {
    let mut ftl = Ftl::new(config, 1, "device").expect("feasible");
    let (units, pages) = (u64::from(ftl.shape().units()), u64::from(ftl.shape().logical_pages));
    for page in 0..pages {
        let (_, unit, lpn) = ftl.shape().locate(page as u32);
        ftl.program(unit, lpn, IoCause::Host, None, &mut NoProbe).expect("room");
    }
    assert!(units >= length, "a read of one page of each unit at most");
    let mut device = Device::new(config, ftl, any(NoProbe)).expect("feasible");
    device.retry_reads(7, drive);
    let (mut done, mut now) = (Vec::new(), SimTime::ZERO);
    for read in 0..count {
        let page = read * length % pages;
        device.submit(now, sub(read as u32, Operation::Read, page, length)).expect("room");
        while read + 1 - (done.len() as u64) > 1 {
            now = device.next_wakeup();
            device.advance_until(now, false).expect("room");
            done.append(device.completions());
        }
    }
    device.advance_until(SimTime(u64::MAX / 2), false).expect("room");
    done.append(device.completions());
    assert_eq!(done.len() as u64, count);
    let again = again(&device);
    (done, again)
}

fn mean_added(done: &[SubCompletion]) -> f64 {
    done.iter().map(|done| (done.blame.service - 1_000) as f64).sum::<f64>() / done.len() as f64
}

fn is_within_1_percent(measured: f64, expected: f64) {
    eprintln!("{measured:.3} measured, {expected:.3} expected");
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured:.3} and not {expected:.3}");
}

#[test]
fn a_page_that_is_read_again_takes_the_array_longer_and_nothing_else() {
    for (step, config) in
        [(1_000, retrying(one_die(), 0.4, None)), (250, retrying(one_die(), 0.4, Some(250)))]
    {
        let (done, again) = reads(&config, 0, 300, 1);
        let added: Vec<u64> = done.iter().map(|done| done.blame.service - 1_000).collect();
        assert!(added.iter().all(|added| added % step == 0), "{added:?}");
        assert_eq!(added.iter().sum::<u64>(), again * step);
        assert!(added.contains(&0) && added.contains(&(3 * step)), "{added:?}");
        let rest = |done: &SubCompletion| (done.blame.transfer, done.blame.link >= LINK, done.blame.queue_gc);
        assert!(done.iter().all(|done| rest(done) == (300, true, 0)), "{done:?}");
    }
}

#[test]
fn the_mean_is_that_of_a_geometric_law() {
    let count = 400_000;
    for (p, step) in [(0.1, Some(3_000)), (0.2, None), (0.5, None)] {
        let (done, _) = reads(&retrying(one_die(), p, step), 0, count, 1);
        is_within_1_percent(mean_added(&done), step.unwrap_or(1_000) as f64 * p / (1.0 - p));
        let beyond =
            done.iter().filter(|done| done.blame.service >= 1_000 + 2 * step.unwrap_or(1_000)).count();
        let (share, expected) = (beyond as f64 / count as f64, p * p);
        assert!((share / expected - 1.0).abs() < 0.05, "{share} of the pages twice, and not {expected}");
    }
}

/// Two planes side by side: the longer of two. Its mean is twice that of one less that of the shorter, which goes on with p^2.
#[test]
fn a_command_of_two_planes_takes_as_long_as_the_page_that_needs_most() {
    let mut config = planes(2);
    config.ftl.multi_plane = true;
    let (p, commands) = (0.5, 100_000);
    let (done, again) = reads(&retrying(config, p, None), 0, commands, 2);
    let of = |p: f64| p / (1.0 - p);
    is_within_1_percent(mean_added(&done), 1_000.0 * (2.0 * of(p) - of(p * p)));
    is_within_1_percent(again as f64, 2.0 * commands as f64 * of(p));
}

#[test]
fn probability_zero_is_as_if_nothing_were_said() {
    let (plain, with_step) = (one_die(), retrying(one_die(), 0.0, Some(9_000)));
    assert_eq!(reads(&plain, 0, 500, 1), reads(&with_step, 0, 500, 1));
    let event_of = |config: &SsdConfig| event(config);
    assert_eq!(event_of(&plain), event_of(&with_step));
}

/// Members draw for themselves, and a drive draws the same every time.
#[test]
fn drives_differ_and_a_drive_is_the_same_every_time() {
    let config = retrying(one_die(), 0.3, None);
    assert_eq!(reads(&config, 3, 200, 1), reads(&config, 3, 200, 1));
    assert_ne!(reads(&config, 3, 200, 1), reads(&config, 4, 200, 1));
}

/// What one die reads changes nothing of what another one reads.
#[test]
fn dies_draw_for_themselves() {
    let config = retrying(two_dies(), 0.4, None);
    let mut last = None;
    for others in [0, 5] {
        let mut bench = Bench::with(&config, &[&[0, 1, 2], &[0, 1, 2]]);
        for read in 0..others {
            bench.read(u64::from(read) * 100_000, 100 + read, 1, 1);
        }
        (0..50).for_each(|read| _ = bench.read(1_000_000 + u64::from(read) * 100_000, read, 0, 1));
        bench.advance(10_000_000);
        let times: Vec<u64> =
            (0..50).map(|read| bench.find(read).expect("it is done").blame.service).collect();
        assert!(times.iter().any(|&time| time > 1_000));
        assert_eq!(*last.get_or_insert(times.clone()), times);
    }
}

/// The event takes longer by what was read again, and by nothing else.
#[test]
fn reads_of_collection_are_no_different() {
    for (schedule, copyback) in [
        ("blocking", Copyback::Die),
        ("blocking", Copyback::None),
        ("preemptive", Copyback::None),
        ("stepwise", Copyback::None),
    ] {
        let mut config = one_die();
        (config.gc.schedule, config.timing.copyback) = (schedule.into(), copyback);
        let length = |config: &SsdConfig, seed| {
            let mut bench = Bench::aged(config, &[0]);
            bench.device.retry_reads(seed, 0);
            let intervals = bench.force(0).collected();
            (intervals.iter().map(|(from, to)| to - from).sum::<u64>(), again(&bench.device))
        };
        let (plain, none) = length(&config, 0);
        let config = retrying(config, 0.5, None);
        let with: Vec<_> = (0..20).map(|seed| length(&config, seed)).collect();
        assert_eq!(none, 0);
        assert!(
            with.iter().all(|(took, again)| *took == plain + 1_000 * again),
            "{schedule}: {plain}, {with:?}"
        );
        assert!(with.iter().any(|(_, again)| *again > 1), "{schedule}: {with:?}");
    }
}

/// A flash page of a victim that holds several units is read, and read again, once for all of them.
#[test]
fn a_page_of_several_units_is_read_again_as_one() {
    let mut config = four();
    config.gc.schedule = "stepwise".into();
    let length = |config: &SsdConfig| {
        let written: Vec<u32> = (0..48).chain((0..48).step_by(3)).collect();
        let mut bench = Bench::with(config, &[&written]);
        let intervals = bench.force(0).collected();
        (intervals.iter().map(|(from, to)| to - from).sum::<u64>(), again(&bench.device))
    };
    let (plain, _) = length(&config);
    let (took, again) = length(&retrying(config, 0.5, Some(700)));
    assert!(again > 0 && took == plain + 700 * again, "{took} with {again} reads more, {plain} without");
}
