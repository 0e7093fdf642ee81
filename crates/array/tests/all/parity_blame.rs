//! Through parity, whose time is whose? Small writes and full stripes of RAID-5 with literal times.
//!
//! Three members, one page a stripe unit, left-symmetric:
//!
//! ```text
//! stripe   member 0   member 1   member 2        a read: 25 us and 20 us of transfer
//! 0        page 0     page 1     P               a write: 20 us of transfer and 200 us
//! 1        page 3     P          page 2          collecting a block without valid pages: 1.5 ms
//! 2        P          page 4     page 5
//! ```

use crate::common::{Forces, PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::layout::Layout;
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::parity::ParityPlanner;
use harmonia_array::{Array, ArrayConfig, Level, Parts, SmallWrite};
use harmonia_ssd::SsdConfig;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{Blame, Completion, DeviceId, GcWait, HostRequest, Operation, RequestBlame, SimTime};

const READS: Blame = Blame { service: 25_000, transfer: 20_000, ..Blame::NONE };
const WRITES: Blame = Blame { service: 200_000, transfer: 20_000, ..Blame::NONE };

/// RAID-5 whose members begin to collect at given times, for 1.5 ms. Their pages have been written twice.
fn raid5(ssd: &SsdConfig, members: u16, small_write: SmallWrite, forces: &[(SimTime, u16)]) -> Array {
    written(2, ssd, members, small_write, forces)
}

fn written(
    times: u32,
    ssd: &SsdConfig,
    members: u16,
    small_write: SmallWrite,
    forces: &[(SimTime, u16)],
) -> Array {
    let level = level(Level::Raid5(Default::default()), ssd, members, PAGE);
    let config = ArrayConfig { small_write, ..level };
    let whole = config.layout();
    let Layout::Parity(layout) = whole.clone() else { unreachable!("RAID-5 has parity") };
    let parts = Parts {
        coordinator: Box::new(Forces(forces.to_vec())),
        planner: Box::new(ParityPlanner::new(&whole, layout, small_write, PAGE)),
        payload: NoPayload,
    };
    Array::with_parts(&config, all_filled(&config, times), parts, |_| NoProbe).unwrap()
}

fn small() -> SsdConfig {
    one_die(16, 4, 12)
}

/// A request for pages of the array.
fn pages(id: u64, arrival: SimTime, operation: Operation, first: u64, count: u64) -> HostRequest {
    request(id, arrival, operation, first * PAGE, count * PAGE)
}

/// Submits requests in order of arrival; their completions by id.
fn run(array: &mut Array, requests: &[HostRequest]) -> Vec<Completion> {
    for &request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
    }
    let mut completions = drain(array);
    completions.sort_unstable_by_key(|done| done.id);
    for done in &completions {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    completions
}

#[test]
fn a_small_write_on_an_idle_array_is_a_read_and_a_write() {
    for members in [3, 4, 5, 9] {
        let write = |k| pages(0, us(5), Operation::Write, 0, k);
        let units = u64::from(members) - 1;
        for (small_write, k) in
            (1..units).flat_map(|k| [(SmallWrite::ReadModifyWrite, k), (SmallWrite::Reconstruct, k)])
        {
            let mut array = raid5(&small(), members, small_write, &[]);
            let done = run(&mut array, &[write(k)])[0];
            assert_eq!(done.finish, us(5 + 45 + 220), "{members} members, {k} units, {small_write:?}");
            let blame = RequestBlame { data: WRITES, parity: READS, ..RequestBlame::default() };
            assert_eq!(done.blame, blame, "{members} members, {k} units, {small_write:?}");
        }
        let mut array = raid5(&small(), members, SmallWrite::Fewest, &[]);
        let done = run(&mut array, &[write(units)])[0];
        let blame = RequestBlame { data: WRITES, ..RequestBlame::default() };
        assert_eq!((done.finish, done.blame), (us(5 + 220), blame), "{members} members, full stripe");
    }
}

/// 300 MB/s: 13,653 ns a page, to read and to write.
#[test]
fn the_link_is_crossed_twice() {
    let mut ssd = small();
    ssd.link.bandwidth = 300_000_000;
    let mut array = raid5(&ssd, 5, SmallWrite::ReadModifyWrite, &[]);
    let done = run(&mut array, &[pages(0, us(0), Operation::Write, 2, 1)])[0];
    assert_eq!(done.finish, SimTime(45_000 + 13_653 + 13_653 + 220_000));
    assert_eq!((done.blame.parity.link, done.blame.data.link), (13_653, 13_653));
}

/// Member 2 holds the old parity of stripe 0, and collects from 0 to 1.5 ms.
#[test]
fn a_pre_read_that_waits_for_collection_is_collections() {
    let mut array = raid5(&small(), 3, SmallWrite::ReadModifyWrite, &[(us(0), 2)]);
    let done = run(&mut array, &[pages(0, us(100), Operation::Write, 0, 1)])[0];
    assert_eq!(done.finish, us(1_500 + 45 + 220));
    let parity = Blame { queue_gc: 1_400_000, ..READS };
    assert_eq!(done.blame, RequestBlame { data: WRITES, parity, ..RequestBlame::default() });
    assert_eq!(done.gc_wait, Some(GcWait { member: DeviceId(2), ns: 1_400_000 }));
    assert_eq!(done.blame.queue_gc(), 1_400_000);
    assert!(done.met_gc);
}

/// The longest wait of the chain is named, not the last.
#[test]
fn the_member_that_was_waited_for_longest_is_named() {
    let forces = [(us(0), 2), (us(1_000), 0)];
    let mut array = raid5(&small(), 3, SmallWrite::ReadModifyWrite, &forces);
    let done = run(&mut array, &[pages(0, us(100), Operation::Write, 1, 1)])[0];
    // Unit 1 lies on member 1, so member 0 is not met at all.
    assert_eq!((done.finish, done.gc_wait.map(|wait| wait.member)), (us(1_765), Some(DeviceId(2))));
    let forces = [(us(0), 2), (us(1_540), 0)];
    let mut array = raid5(&small(), 3, SmallWrite::ReadModifyWrite, &forces);
    let done = run(&mut array, &[pages(0, us(1_400), Operation::Write, 0, 1)])[0];
    // Old parity waits 100 us; the write of data then meets a collection that began 5 us before.
    assert_eq!(done.finish, us(3_040 + 220));
    assert_eq!((done.blame.parity.queue_gc, done.blame.data.queue_gc), (100_000, 1_495_000));
    assert_eq!(done.gc_wait, Some(GcWait { member: DeviceId(0), ns: 1_495_000 }));
    // The other way round: member 0 collects from the end of its own read, and has 100 us left for the write.
    let forces = [(us(0), 2), (us(140), 0)];
    let mut array = raid5(&small(), 3, SmallWrite::ReadModifyWrite, &forces);
    let done = run(&mut array, &[pages(0, us(100), Operation::Write, 0, 1)])[0];
    assert_eq!((done.blame.parity.queue_gc, done.blame.data.queue_gc), (1_400_000, 100_000));
    assert_eq!(done.gc_wait, Some(GcWait { member: DeviceId(2), ns: 1_400_000 }));
}

/// The row is held from arrival to the last program: the second write waits for the first one's wait, too.
#[test]
fn a_write_of_the_same_row_waits_for_the_stripe() {
    let mut array = raid5(&small(), 3, SmallWrite::ReadModifyWrite, &[(us(0), 2)]);
    let writes = [
        pages(0, us(100), Operation::Write, 0, 1),
        pages(1, us(200), Operation::Write, 1, 1),
        pages(2, us(200), Operation::Write, 3, 1),
    ];
    let done = run(&mut array, &writes);
    assert_eq!(done[0].finish, us(1_765));
    let blame =
        RequestBlame { data: WRITES, parity: READS, stripe_wait: 1_565_000, ..RequestBlame::default() };
    assert_eq!((done[1].finish, done[1].blame), (us(1_765 + 265), blame));
    assert_eq!(done[1].gc_wait, None, "it waited for the stripe, not for a collection itself");
    assert_eq!(done[2].finish, us(465), "another row, and no member that collects");
    assert_eq!(array.counters().redundancy.stripe_waits, 1);
}

#[test]
fn a_full_stripe_that_ends_with_parity_is_charged_to_parity() {
    let mut array = raid5(&small(), 3, SmallWrite::Fewest, &[]);
    // Page 5 lies on member 2, which holds the parity of stripe 0.
    let requests = [pages(0, us(0), Operation::Read, 5, 1), pages(1, us(0), Operation::Write, 0, 2)];
    let done = run(&mut array, &requests)[1];
    let parity = Blame { queue_host: 45_000, ..WRITES };
    assert_eq!(done.blame, RequestBlame { parity, ..RequestBlame::default() });
}

/// Two stripes are one range of two pages a member: on member 1 data and then parity, on member 2 parity and then data.
#[test]
fn of_several_stripes_the_last_page_decides() {
    for (busy, is_parity) in [(4, true), (5, false)] {
        let mut array = raid5(&small(), 3, SmallWrite::Fewest, &[]);
        let requests = [pages(0, us(0), Operation::Read, busy, 1), pages(1, us(0), Operation::Write, 0, 4)];
        let done = run(&mut array, &requests)[1];
        assert_eq!(done.finish, us(45 + 440));
        let last = Blame { queue_host: 265_000, ..WRITES };
        let charged = if is_parity { done.blame.parity } else { done.blame.data };
        assert_eq!((charged, done.blame.total()), (last, 485_000), "behind a read of page {busy}");
    }
}

/// A read does not know of parity, and of rows neither.
#[test]
fn a_read_waits_for_no_stripe() {
    let mut array = raid5(&small(), 3, SmallWrite::ReadModifyWrite, &[]);
    let requests = [pages(0, us(0), Operation::Write, 0, 1), pages(1, us(50), Operation::Read, 1, 1)];
    let done = run(&mut array, &requests);
    let blame = RequestBlame { data: READS, ..RequestBlame::default() };
    assert_eq!((done[1].finish, done[1].blame), (us(95), blame));
}

/// A discard of a whole stripe reaches all its pages; one of less reaches none, and is done at once.
#[test]
fn a_discard_takes_the_rows_it_covers() {
    let mut array = raid5(&small(), 3, SmallWrite::ReadModifyWrite, &[]);
    let requests = [
        pages(0, us(0), Operation::Write, 0, 1),
        pages(1, us(10), Operation::Trim, 1, 1),
        pages(2, us(20), Operation::Trim, 1, 4),
        pages(3, us(30), Operation::Trim, 0, 2),
    ];
    let done = run(&mut array, &requests);
    // The second covers stripe 1, and is in a member's queue behind the write's first read.
    assert_eq!((done[1].finish, done[2].finish), (us(10), us(45)));
    assert_eq!((done[3].finish, done[3].blame.stripe_wait), (us(265), 235_000));
    assert_eq!(array.counters().redundancy.trims_ignored_bytes, 3 * PAGE);
    for (member, left) in array.devices().iter().zip([14, 14, 14]) {
        assert_eq!(member.ftl().live_pages(0), left, "two of sixteen stripes are gone");
    }
}

/// A read of tens of thousands of pieces, each a run of data between two parities.
#[test]
fn a_read_of_more_pieces_than_a_16_bit_number_counts_is_one_request() {
    const STRIPES: u64 = 70_000;
    let mut array = written(1, &one_die(1_200, 64, 100), 3, SmallWrite::Fewest, &[]);
    let done = run(&mut array, &[pages(0, us(0), Operation::Read, 0, 2 * STRIPES)]);
    let pages_read = array.devices().iter().map(|device| device.counters().host_pages_read);
    assert_eq!(pages_read.sum::<u64>(), 2 * STRIPES, "data only");
    // Every member holds data of two in three stripes; member 1 the first of both that are left over.
    let pages = STRIPES / 3 * 2 + 1;
    assert_eq!(done[0].finish, us(45 * pages));
    assert_eq!(done[0].blame.data.queue_host, 45_000 * (pages - 1));
}
