//! Does an array of 1,024 members work, and does a request there cost what it costs on a few?
//!
//! Work is counted, not timed: what members process and the pages they read and program. Not verified: the time that a
//! planner or the controller itself takes.

use crate::common::{PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::{Array, Level};
use harmonia_ssd::Device;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{HostRequest, IoCause, Operation, SimTime};

const WIDE: u16 = 1_024;

fn array(raid: Level, members: u16) -> Array {
    let config = level(raid, &one_die(8, 4, 4), members, PAGE);
    Array::new(&config, all_filled(&config, 1), None, |_| NoProbe).unwrap()
}

fn redundant() -> [Level; 4] {
    [
        Level::Raid10(Default::default()),
        Level::Raid4,
        Level::Raid5(Default::default()),
        Level::Raid6(Default::default()),
    ]
}

/// Moments at which members had something to do, and pages they read and programmed.
fn work(array: &Array) -> [u64; 4] {
    let sum = |count: &dyn Fn(&Device) -> u64| array.devices().iter().map(count).sum();
    [
        sum(&|device| device.events()),
        sum(&|device| device.counters().host_pages_read),
        sum(&|device| device.counters().parity_pages_read),
        sum(&|device| device.counters().programs[IoCause::Parity as usize]),
    ]
}

/// All at once, or one after the other.
fn cost(array: &mut Array, requests: impl Iterator<Item = HostRequest>) -> [u64; 4] {
    let before = work(array);
    let mut submitted = 0;
    for request in requests {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
        submitted += 1;
    }
    assert_eq!(drain(array).len(), submitted);
    let after = work(array);
    std::array::from_fn(|kind| after[kind] - before[kind])
}

#[test]
fn an_idle_array_of_a_thousand_members_writes_and_reads() {
    for raid in redundant() {
        let mut array = array(raid, WIDE);
        let stripe = array.layout().logical_bytes() / 16;
        let requests = [
            (Operation::Write, 5 * PAGE, PAGE),
            (Operation::Read, 3 * PAGE + 7, 2 * PAGE),
            (Operation::Write, stripe, 3 * stripe),
            (Operation::Read, 0, 16 * stripe),
            (Operation::Trim, 2 * stripe, 4 * stripe),
            (Operation::Flush, 0, 0),
        ];
        for (id, (operation, offset, length)) in (0..).zip(requests) {
            let now = SimTime(id * 1_000_000_000);
            array.advance_until(now).unwrap();
            array.submit(request(id, now, operation, offset, length)).unwrap();
            let done = drain(&mut array).remove(0);
            let expected = match (operation, raid.parities()) {
                (Operation::Write, 0) if length == PAGE => 220_000,
                (Operation::Write, _) if length == PAGE => 265_000,
                (Operation::Write, _) => 3 * 220_000,
                // All 16 pages of a member; of copies, those of one member of a pair.
                (Operation::Read, _) if length > 2 * PAGE => 16 * 45_000,
                (Operation::Read, _) => 45_000,
                (Operation::Trim | Operation::Flush, _) => 0,
            };
            assert_eq!(done.response().0, expected, "{raid}: request {id}");
        }
    }
}

/// As many small writes as members, all at once or one by one: each costs what it costs on eight members.
#[test]
fn a_small_write_costs_the_same_on_any_number_of_members() {
    for raid in redundant() {
        for apart in [0, 1_000] {
            let per_request = |members: u16| {
                let mut array = array(raid, members);
                let pages = array.layout().logical_bytes() / PAGE;
                let stripe = pages / 16;
                let count = 8;
                // One a stripe, so that none waits for rows.
                let writes = (0..count).map(|id| {
                    request(id, us(id * apart), Operation::Write, (id * stripe + id % 3) * PAGE, PAGE)
                });
                let cost = cost(&mut array, writes);
                assert_eq!(array.counters().redundancy.stripe_waits, 0);
                cost
            };
            let (few, many) = (per_request(8), per_request(WIDE));
            // On hot members of a small array a die goes on with the next operation without a moment in between.
            assert_eq!(few[1..], many[1..], "{raid}: pages");
            assert!(many[0] <= 8 * 7, "{raid}: {many:?}, at most six operations and a turn each");
        }
    }
}

/// As many writes as members, all of one stripe and so one behind the other, or of one row of pairs: work grows with
/// the number of writes, not with its square.
#[test]
fn twice_the_members_and_writes_are_twice_the_work() {
    for raid in redundant() {
        let of = |members: u16| {
            let mut array = array(raid, members);
            let unit = |id: u64| id % u64::from(members - raid.parities()) * PAGE;
            let writes =
                (0..u64::from(members)).map(|id| request(id, us(id), Operation::Write, unit(id), PAGE));
            cost(&mut array, writes)
        };
        let (half, whole) = (of(WIDE / 2), of(WIDE));
        for kind in 0..4 {
            let (half, whole) = (half[kind], whole[kind]);
            assert!(whole <= 2 * half + 16, "{raid}: {half} and {whole} of kind {kind}");
        }
    }
}
