//! Does a write with FUA wait for the programs of all that makes it durable, and for nothing else? Literal times.
//!
//! Members of one die behind caches without stored power, which answer at once, left-symmetric RAID-5, one page a stripe unit:
//!
//! ```text
//! stripe   member 0   member 1   member 2   member 3   member 4      a read: 25 us and 20 us of transfer
//! 0        page 0     page 1     page 2     page 3     P             a program: 20 us of transfer and 200 us
//! 1        page 5     page 6     page 7     P          page 4
//! ```
//!
//! Not verified: contents after a loss of power (`contents` does).

use crate::common::{PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::{Array, ArrayConfig, Level, StripeCacheConfig};
use harmonia_ssd::WriteCacheConfig;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{HostRequest, Operation, SimDuration, SimTime};

/// An array of members whose caches forget, or do not.
fn cached(of: Level, members: u16, power_protected: bool) -> ArrayConfig {
    let mut ssd = one_die(24, 16, 6);
    ssd.write_cache = WriteCacheConfig {
        size: Some(8 * PAGE),
        ack: SimDuration::ZERO,
        power_protected,
        ..WriteCacheConfig::default()
    };
    level(of, &ssd, members, PAGE)
}

/// A write of pages of the array at a time in microseconds.
fn write(id: u64, at: u64, first: u64, count: u64) -> HostRequest {
    request(id, us(at), Operation::Write, first * PAGE, count * PAGE)
}

fn through(id: u64, at: u64, first: u64, count: u64) -> HostRequest {
    HostRequest { fua: true, ..write(id, at, first, count) }
}

/// When requests finish, by id. `ahead`: members run ahead of one another.
fn finishes(config: &ArrayConfig, requests: &[HostRequest], ahead: bool) -> Vec<SimTime> {
    let mut array = Array::new(config, all_filled(config, 1), None, |_| NoProbe).unwrap();
    let mut done = Vec::new();
    if ahead {
        array.run_ahead().expect("a stripe");
        requests.iter().for_each(|request| array.submit_ahead(request));
        array.catch_up(us(10_000), 1, |completion| done.push(*completion)).unwrap();
    }
    for &request in requests.iter().filter(|_| !ahead) {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
        array.audit();
    }
    done.append(&mut drain(&mut array));
    done.sort_unstable_by_key(|done| done.id);
    for done in &done {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    done.iter().map(|done| done.finish).collect()
}

#[test]
fn all_copies_and_all_units_are_programmed() {
    for (of, members) in [(Level::Raid0, 4), (Level::Raid1, 2)] {
        let requests = [write(0, 0, 0, 2), through(1, 1_000, 2, 2)];
        for ahead in [false, true].into_iter().filter(|ahead| !ahead || of == Level::Raid0) {
            assert_eq!(finishes(&cached(of, members, true), &requests, ahead), [us(0), us(1_000)], "{of}");
            // A copy of each of the two pages, one after the other.
            let programs = if of == Level::Raid0 { 220 } else { 440 };
            let end = us(1_000 + programs);
            assert_eq!(finishes(&cached(of, members, false), &requests, ahead), [us(0), end], "{of}");
        }
    }
}

/// Member 4 programs page 4 from 45 to 265 us, and then the parity of stripe 0.
#[test]
fn parity_is_programmed_too() {
    let config = cached(Level::Raid5(Default::default()), 5, false);
    let plain = [write(0, 0, 4, 1), write(1, 50, 0, 4)];
    assert_eq!(finishes(&config, &plain, false), [us(45), us(50)]);
    assert_eq!(finishes(&config, &[plain[0], through(1, 50, 0, 4)], false), [us(45), us(265 + 220)]);
}

/// The first write holds the row until 45 us; the others are one from then on. Member 4 has parity to program until 265 us.
#[test]
fn a_write_with_fua_that_joins_another_has_all_of_it_programmed() {
    let stripe_cache = StripeCacheConfig { entries: 16, delays: true };
    let config = ArrayConfig { stripe_cache, ..cached(Level::Raid5(Default::default()), 5, false) };
    let all = |last| [write(0, 0, 3, 1), write(1, 10, 0, 1), last];
    assert_eq!(finishes(&config, &all(write(2, 20, 1, 1)), false), [us(45), us(90), us(90)]);
    assert_eq!(finishes(&config, &all(through(2, 20, 1, 1)), false), [us(45), us(485), us(485)]);
}
