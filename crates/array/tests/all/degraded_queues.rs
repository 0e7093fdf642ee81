//! Are reads of a degraded array the queues that theory says they are, tail included? Poisson reads of one page, so that every
//! member is a queue with deterministic service, M/D/1:
//!
//! ```text
//! mean response  D + rho D / (2 (1 - rho))                                         Pollaczek and Khinchine
//! P(wait <= t)   (1 - rho) sum over k from 0 to t / D of (-x)^k e^x / k!,  x = lambda (t - k D)        Erlang
//! ```
//!
//! * A mirror with one member gone is one queue with all reads.
//! * A RAID-5 of three members, reads of what the gone one held: a fork-join of two. Both queues have the same arrivals and the
//!   same service time, so they are always equally long, and the read takes as long as one of them does: M/D/1 again, and
//!   exactly. The formula for the fork-join of two queues with exponential service, (12 - rho) / 8 of the response of M/M/1 (Flatto
//!   and Hahn; Nelson and Tantawi), is about service times that differ from read to read. Flash has none that do.
//! * The same array, reads of all: healthy, each member has a third of them. With one gone, each of the others has two thirds.
//!
//! How far the seed may be off is estimated from the run: the standard error over batches. It must be less than half of the
//! tolerance of 1%, for mean and p99.
//!
//! Not verified here: reads of the gone member beside reads of the others, a maximum of two queues that depend on one another.

use crate::common::{PAGE, level, one_die, request};
use harmonia_array::layout::Rotation;
use harmonia_array::{Array, Befalls, Fault, Faults, Level, When};
use harmonia_engine::Rng;
use harmonia_ssd::Ftl;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{DeviceId, IoCause, Operation, SimTime};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
/// A page of one die: 25 us of flash and 20 us of bus.
const SERVICE: f64 = 45_000.0;
const BATCHES: usize = 20;
const TOLERANCE: f64 = 0.01;

/// An array of which a member fails before the first request, for good; or none does.
fn array(of: Level, members: u16, gone: Option<DeviceId>) -> Array {
    let ssd = one_die(200, 16, 20);
    let mut config = level(of, &ssd, members, PAGE);
    let failure = |device| Fault { device, at: When::Time(SimTime(1)), what: Befalls::Failure };
    config.faults = Faults { events: gone.map(failure).into_iter().collect(), ..Faults::default() };
    let state = |index: u16| {
        let mut ftl = Ftl::new(&ssd, 1, &format!("device/{index}")).expect("a shape that works");
        for page in 0..ftl.shape().unit_pages {
            ftl.unit(0).program(page, IoCause::Host, None, &mut NoProbe).expect("spare suffices");
        }
        ftl
    };
    Array::new(&config, (0..members).map(state).collect(), None, |_| NoProbe).expect("it works")
}

/// Responses to so many Poisson reads in nanoseconds, of those that are `counted`, in order of their ends.
fn responses(
    array: &mut Array,
    between: f64,
    reads: u64,
    offset: impl Fn(&mut Rng) -> u64,
    counted: impl Fn(u64) -> bool,
) -> Vec<u64> {
    let (mut arrivals, mut pages) = (Rng::stream(5, "arrivals"), Rng::stream(5, "pages"));
    let (mut time, mut found) = (1e6, Vec::new());
    for id in 0..reads {
        time += arrivals.exponential(between);
        let now = SimTime(time as u64);
        array.advance_until(now).expect("spare suffices");
        array.submit(request(id, now, Operation::Read, offset(&mut pages), PAGE)).expect("room");
        let done = array.completions().drain(..).filter(|done| counted(done.offset));
        found.extend(done.map(|done| done.response().0));
    }
    found
}

fn mean(sample: &[u64]) -> f64 {
    sample.iter().sum::<u64>() as f64 / sample.len() as f64
}

fn p99(sample: &[u64]) -> f64 {
    let mut sorted = sample.to_vec();
    let place = sorted.len() * 99 / 100;
    *sorted.select_nth_unstable(place).1 as f64
}

fn m_d_1_mean(rho: f64) -> f64 {
    SERVICE + rho * SERVICE / (2.0 * (1.0 - rho))
}

/// The share of requests that wait no longer than so many service times.
fn waits_at_most(rho: f64, services: f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..=services as u32 {
        let x = rho * (services - f64::from(k));
        let power: f64 = (1..=k).map(|factor| -x / f64::from(factor)).product();
        sum += power * libm::exp(x);
    }
    (1.0 - rho) * sum
}

fn m_d_1_p99(rho: f64) -> f64 {
    let (mut low, mut high) = (0.0, 30.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if waits_at_most(rho, middle) < 0.99 { low = middle } else { high = middle }
    }
    SERVICE * (1.0 + low)
}

/// Mean and p99 are those of M/D/1, and the sample is large enough to say so.
fn assert_m_d_1(what: &str, sample: &[u64], rho: f64) {
    let expected = [m_d_1_mean(rho), m_d_1_p99(rho)];
    for ((name, of), expected) in
        [("mean", mean as fn(&[u64]) -> f64), ("p99", p99)].into_iter().zip(expected)
    {
        let measured = of(sample);
        let batches: Vec<f64> = sample.chunks_exact(sample.len() / BATCHES).map(of).collect();
        let middle = batches.iter().sum::<f64>() / batches.len() as f64;
        let spread: f64 = batches.iter().map(|batch| (batch - middle).powi(2)).sum();
        let error = (spread / (batches.len() * (batches.len() - 1)) as f64).sqrt() / expected;
        let off = measured / expected - 1.0;
        eprintln!(
            "{what} at {rho}, {name}: {measured:.0} ns, {expected:.0}: {:+.3}%, standard error {:.3}%",
            100.0 * off,
            100.0 * error
        );
        assert!(error < TOLERANCE / 2.0, "{what}: too few reads for {name}, standard error {error}");
        assert!(off.abs() < TOLERANCE, "{what}: {name} {measured} is not {expected}");
    }
}

/// Up to two service times it can be written down: at rho = 0.5 it is 0.5, 0.5 e^0.5 and 0.5 (e - 0.5 e^0.5).
#[test]
fn the_distribution_is_erlangs() {
    assert_eq!(waits_at_most(0.5, 0.0), 0.5);
    assert!((waits_at_most(0.5, 1.0) - 0.5 * libm::exp(0.5)).abs() < 1e-12);
    let two = 0.5 * (libm::exp(1.0) - 0.5 * libm::exp(0.5));
    assert!((waits_at_most(0.5, 2.0) - two).abs() < 1e-12);
    // The mean of the distribution is that of Pollaczek and Khinchine.
    let step = 1e-3;
    let wait: f64 =
        (0..30_000).map(|at| (1.0 - waits_at_most(0.6, (f64::from(at) + 0.5) * step)) * step).sum();
    assert!((SERVICE * (1.0 + wait) / m_d_1_mean(0.6) - 1.0).abs() < 1e-3);
}

#[test]
#[ignore = "long: make simulations"]
fn reads_of_a_mirror_with_one_member_gone() {
    for (rho, reads) in [(0.3, 300_000), (0.5, 900_000)] {
        let mut array = array(Level::Raid1, 2, Some(DeviceId(0)));
        let pages = array.layout().logical_bytes() / PAGE;
        let sample = responses(&mut array, SERVICE / rho, reads, |rng| rng.below(pages) * PAGE, |_| true);
        assert_m_d_1("mirror, degraded", &sample, rho);
    }
}

/// What the member held is as fast as before, and costs two members a read each instead of one.
#[test]
#[ignore = "long: make simulations"]
fn reads_of_what_a_member_held_that_is_gone() {
    let (rho, reads, held) = (0.5, 900_000, DeviceId(0));
    for gone in [None, Some(held)] {
        let mut array = array(RAID5, 3, gone);
        let (pages, layout) = (array.layout().pinned_bytes(held) / PAGE, array.layout().clone());
        let read = |rng: &mut Rng| {
            let mut place = 0;
            layout.pinned(held, rng.below(pages) * PAGE, PAGE, |offset, _| place = offset);
            place
        };
        let sample = responses(&mut array, SERVICE / rho, reads, read, |_| true);
        let what = if gone.is_some() { "fork-join" } else { "one member, healthy" };
        assert_m_d_1(what, &sample, rho);
        let rebuilt = array.counters().losses.rebuilt_pages;
        assert_eq!(rebuilt, if gone.is_some() { reads } else { 0 });
    }
}

/// The load of those that are left doubles when one is gone.
#[test]
#[ignore = "long: make simulations"]
fn reads_of_members_that_are_left() {
    let gone = DeviceId(0);
    let healthy = 0.25;
    for (is_gone, rho) in [(false, healthy), (true, 2.0 * healthy)] {
        let mut array = array(RAID5, 3, is_gone.then_some(gone));
        let pages = array.layout().logical_bytes() / PAGE;
        let mut is_left = vec![true; pages as usize];
        let held = array.layout().pinned_bytes(gone);
        array.layout().pinned(gone, 0, held, |offset, length| {
            let first = (offset / PAGE) as usize;
            is_left[first..first + (length / PAGE) as usize].fill(false);
        });
        let reads = if is_gone { 1_400_000 } else { 450_000 };
        let read = |rng: &mut Rng| rng.below(pages) * PAGE;
        let between = SERVICE / healthy / 3.0;
        let sample = responses(&mut array, between, reads, read, |offset| is_left[(offset / PAGE) as usize]);
        assert_m_d_1(if is_gone { "left, degraded" } else { "all, healthy" }, &sample, rho);
    }
}
