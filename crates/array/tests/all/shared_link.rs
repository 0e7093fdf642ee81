//! Does data cross the link that members share exactly as long as it must, and does nothing else change?
//!
//! Members' own links take no time here unless a test says so, so that all `link` in the blame is the shared one.

use crate::common::*;
use harmonia_array::{Array, ArrayConfig, Befalls, Fault, Level, When};
use harmonia_engine::Rng;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{Completion, DeviceId, HostRequest, Operation, SimTime};

/// Bytes a second with which a page is on the link for so many microseconds.
const fn us_a_page(us: u64) -> Option<u64> {
    Some(PAGE * 1_000_000 / us)
}

fn shared(level_: Level, members: u16, bandwidth: Option<u64>) -> ArrayConfig {
    ArrayConfig { link_bandwidth: bandwidth, ..level(level_, &one_die(16, 8, 5), members, PAGE) }
}

#[test]
fn one_operation_takes_its_bytes_divided_by_the_bandwidth_longer() {
    for operation in [Operation::Read, Operation::Write] {
        for pages in [1, 2, 5] {
            let one = [request(0, us(7), operation, 0, pages * PAGE)];
            let without = serve(&shared(Level::Raid0, 1, None), &one)[0];
            let with = serve(&shared(Level::Raid0, 1, us_a_page(10)), &one)[0];
            assert_eq!(with.finish.0, without.finish.0 + pages * 10_000, "{operation:?}, {pages} pages");
            assert_eq!(with.blame.data.link, pages * 10_000);
            assert_eq!(with.blame.total(), with.response().as_ns());
        }
    }
    for operation in [Operation::Trim, Operation::Flush] {
        let one = [request(0, us(7), operation, 0, PAGE)];
        let of = |bandwidth| serve(&shared(Level::Raid0, 1, bandwidth), &one);
        assert_eq!(of(us_a_page(10)), of(None), "{operation:?} carries no data");
    }
}

#[test]
fn members_that_read_at_once_are_served_one_after_the_other() {
    let done = serve(&shared(Level::Raid0, 4, us_a_page(10)), &at_once(Operation::Read, 4));
    for (place, done) in (1..).zip(&done) {
        assert_eq!(done.finish, us(7 + 25 + 20 + 10 * place), "member {place}");
        assert_eq!(done.blame.data.link, 10_000 * place);
    }
}

#[test]
fn members_that_are_written_at_once_begin_one_after_the_other() {
    let done = serve(&shared(Level::Raid0, 4, us_a_page(10)), &at_once(Operation::Write, 4));
    for (place, done) in (1..).zip(&done) {
        assert_eq!(done.finish, us(7 + 10 * place + 20 + 200), "member {place}");
        assert_eq!(done.blame.data.link, 10_000 * place);
    }
}

#[test]
fn a_read_waits_for_a_write_that_came_first_and_goes_at_the_nanosecond() {
    // The read's data comes to the link 45 us after it, the write at `write`.
    let finish_of_read = |write: u64| {
        let mut requests = [
            request(0, us(7), Operation::Read, 0, PAGE),
            request(1, SimTime(write), Operation::Write, PAGE, PAGE),
        ];
        requests.sort_by_key(|request| request.arrival);
        serve(&shared(Level::Raid0, 2, us_a_page(10)), &requests)[0].finish
    };
    let ready = us(7 + 25 + 20);
    assert_eq!(finish_of_read(ready.0 - 10_000), us(62), "the link is free just in time");
    assert_eq!(finish_of_read(ready.0 - 9_999), SimTime(us(62).0 + 1));
    assert_eq!(finish_of_read(ready.0 - 1), SimTime(us(72).0 - 1));
    assert_eq!(finish_of_read(ready.0 + 1), us(62), "the read was first");
}

#[test]
fn both_links_take_their_time_one_after_the_other() {
    let mut config = shared(Level::Raid0, 1, us_a_page(10));
    config.members[0].ssd.link.bandwidth = PAGE * 1_000_000 / 30;
    let done = serve(&config, &[request(0, us(7), Operation::Read, 0, PAGE)])[0];
    assert_eq!(done.finish, us(7 + 25 + 20 + 30 + 10));
    assert_eq!(done.blame.data.link, 40_000);
    let done = serve(&config, &[request(0, us(7), Operation::Write, 0, PAGE)])[0];
    assert_eq!(done.finish, us(7 + 10 + 30 + 20 + 200));
    assert_eq!(done.blame.data.link, 40_000);
}

#[test]
fn throughput_saturates_at_the_bandwidth() {
    // Eight members read a page in 45 us at best, which the link takes 20 us for.
    let config = shared(Level::Raid0, 8, us_a_page(20));
    let done = serve(&config, &at_once(Operation::Read, 400));
    let last = done.iter().map(|done| done.finish).max().unwrap();
    assert_eq!(last, us(7 + 25 + 20 + 400 * 20), "the link is never idle once it has begun");
}

/// Requests at random, more than the members keep up with for some time.
fn random(rng: &mut Rng, pages: u64, count: u64) -> Vec<HostRequest> {
    let mut now = SimTime(0);
    let each = |id| {
        now = SimTime(now.0 + rng.below(80_000));
        let operation = match rng.below(20) {
            0 => Operation::Trim,
            1 => Operation::Flush,
            2..12 => Operation::Read,
            _ => Operation::Write,
        };
        let length = 1 + rng.below(3);
        request(id, now, operation, rng.below(pages - length) * PAGE, length * PAGE)
    };
    (0..count).map(each).collect()
}

const LEVELS: [(Level, u16); 3] = [(Level::Raid0, 3), (Level::Raid1, 2), (Level::Raid4, 4)];

#[test]
fn a_link_that_takes_no_time_changes_nothing() {
    for (level, members) in LEVELS {
        for seed in 0..10 {
            let requests = random(&mut Rng::stream(seed, "no-time"), 80, 400);
            let free = serve(&shared(level, members, None), &requests);
            assert_eq!(
                serve(&shared(level, members, Some(u64::MAX)), &requests),
                free,
                "{level:?}, seed {seed}"
            );
        }
    }
}

#[test]
fn the_parts_of_blame_are_the_response_with_limits_of_operations_too() {
    for (level, members) in LEVELS {
        for seed in 0..10 {
            let mut rng = Rng::stream(seed, "blame");
            let mut config = shared(level, members, us_a_page(1 + rng.below(60)));
            config.queue_depth = rng.chance(0.5).then(|| 1 + rng.below(6) as u32);
            let done = serve(&config, &random(&mut rng, 80, 300));
            let is_explained = |done: &Completion| done.blame.total() == done.response().as_ns();
            assert!(done.iter().all(is_explained), "{level:?}, seed {seed}");
        }
    }
}

#[test]
fn parity_crosses_as_data_does() {
    // A small write of RAID-4 with three members: pre-reads, then data and parity, one after the other on the link.
    let one = [request(0, us(7), Operation::Write, 0, PAGE)];
    let without = serve(&shared(Level::Raid4, 3, None), &one)[0];
    let with = serve(&shared(Level::Raid4, 3, us_a_page(10)), &one)[0];
    let reads = (without.finish.0 - us(7).0 - 220_000) / 45_000;
    assert_eq!(reads, 1, "its reads go at once");
    let added = with.finish.0 - without.finish.0;
    assert!(added == 30_000 || added == 40_000, "one or two reads, then two writes: {added}");
}

#[test]
fn a_read_that_has_come_to_the_link_is_answered() {
    // Both members are read at once. Both reads come to the link at 52 us; one crosses until 62 us, then the other one.
    let finishes = |device, at| {
        let mut config = shared(Level::Raid1, 2, us_a_page(10));
        config.faults.events =
            vec![Fault { device: DeviceId(device), at: When::Time(at), what: Befalls::Failure }];
        let done = serve(&config, &at_once(Operation::Read, 2));
        assert!(done.iter().all(|done| done.blame.total() == done.response().as_ns()));
        let mut finishes: Vec<_> = done.iter().map(|done| done.finish).collect();
        finishes.sort_unstable();
        finishes
    };
    for device in [0, 1] {
        assert_eq!(finishes(device, us(53)), [us(62), us(72)]);
        // Before that it is read again from the other member, whose die is busy until 52 us.
        assert_eq!(finishes(device, us(51)), [us(62), us(52 + 25 + 20 + 10)]);
    }
}

#[test]
fn a_trim_does_not_overtake_a_write() {
    let requests =
        [request(0, us(7), Operation::Write, 0, PAGE), request(1, us(8), Operation::Trim, 0, PAGE)];
    let config = shared(Level::Raid0, 1, us_a_page(10));
    let mut array = Array::new(&config, all_filled(&config, 1), None, |_| NoProbe).unwrap();
    for request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
    }
    let trim = drain(&mut array).into_iter().find(|done| done.id == 1).unwrap();
    assert!(trim.finish >= us(17), "{trim:?}");
    let lpn = 0;
    assert!(array.devices()[0].ftl().home(lpn).is_none(), "what the write brought is trimmed");
}
