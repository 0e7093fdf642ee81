//! Declustered parity: does it cost what RAID-5 and RAID-6 of a group cost, and is it rebuilt as fast as its closed form says?
//!
//! Members have one die and links that take no time, so a page read takes 45 us of its member and a page written 220 us. With
//! n members, groups of d + p units, and s spares, member f holds B pages of units. To rebuild one page costs d reads and one
//! write, and the survivors share both evenly. With enough steps under way all survivors are busy all the time:
//!
//! ```text
//! time = B (d read + write) / (n - 1)          B = rows (n - s) / n
//! ```
//!
//! With one step of one page at a time a page takes one read and one write, whatever n is. RAID-5 with a spare device writes all
//! its pages to that one: time = rows x write. Not verified here: contents, which the torture tests do.

use crate::common::{PAGE, drain, level, one_die, request};
use harmonia_array::layout::{Groups, Layout, Rotation};
use harmonia_array::{
    AgeingPlan, Array, ArrayConfig, Befalls, COUNTED_FROM, Condition, Fault, Faults, Level, MemberConfig,
    MishapKind, Rebuild, SmallWrite, When, age,
};
use harmonia_engine::Rng;
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Ftl, SsdConfig};
use harmonia_types::{DeviceId, IoCause, Operation, SimDuration, SimTime};
use std::sync::atomic::{AtomicBool, AtomicU64};

const READ_US: f64 = 45.0;
const WRITE_US: f64 = 220.0;
const SECOND: u64 = 1_000_000_000;

fn draid(parities: u16, data: u16, spares: u16) -> Level {
    Level::Draid(Groups { parities, data, spares })
}

/// Room for what a rebuild writes, besides what is there.
fn device() -> SsdConfig {
    one_die(220, 16, 8)
}

fn failure(device: u16, at: u64) -> Fault {
    Fault { device: DeviceId(device), at: When::Time(SimTime(at)), what: Befalls::Failure }
}

fn at_full_speed(depth: u32) -> Rebuild {
    Rebuild { min_rate: u64::MAX, max_rate: u64::MAX, depth, step: PAGE, ..Rebuild::default() }
}

fn config(of: Level, members: u16, faults: Faults) -> ArrayConfig {
    ArrayConfig { faults, ..level(of, &device(), members, PAGE) }
}

/// Every page of the layout written once, spare space empty.
fn build(config: &ArrayConfig) -> Array {
    let (cancel, pages_done) = (AtomicBool::new(false), AtomicU64::new(0));
    let plan = AgeingPlan {
        fill: 1.0,
        overwrite: 0.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed: 1,
        threads: 1,
        cancel: &cancel,
        pages_done: &pages_done,
    };
    let spare = |member: &MemberConfig| Ftl::new(&member.ssd, 1, "spare").expect("a shape that works");
    let mut states = age(config, &plan).expect("it can be aged").devices;
    states.extend(config.faults.spares.iter().map(spare));
    Array::new(config, states, None, |_| NoProbe).expect("a configuration that works")
}

// -------------------------------------------------------------------------------------------------- what requests cost

/// Pages read and programmed so far: data, for parity's sake; data, parity.
fn counted(array: &Array) -> [u64; 4] {
    array.devices().iter().fold([0; 4], |sum, device| {
        let counters = device.counters();
        let programs = |cause: IoCause| counters.programs[cause as usize];
        let own = [
            counters.host_pages_read,
            counters.parity_pages_read,
            programs(IoCause::Host),
            programs(IoCause::Parity),
        ];
        std::array::from_fn(|kind| sum[kind] + own[kind])
    })
}

fn cost(array: &mut Array, id: u64, (operation, offset, length): (Operation, u64, u64)) -> [u64; 4] {
    let before = counted(array);
    let now = SimTime(id * 1_000 * SECOND);
    array.advance_until(now).expect("room");
    array.submit(request(id, now, operation, offset, length)).expect("room");
    assert_eq!(drain(array).len(), 1);
    let after = counted(array);
    std::array::from_fn(|kind| after[kind] - before[kind])
}

/// The formulas, as they stand in text books, for k whole units of a group; and any other request costs what it costs on
/// RAID-5 or RAID-6 of as many members as a group has units.
#[test]
fn requests_cost_what_they_cost_on_a_group_alone() {
    for (parities, data, spares, members) in [(1, 4, 1, 11), (1, 2, 0, 6), (2, 4, 2, 14), (2, 3, 1, 6)] {
        for small_write in [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct] {
            let alone = if parities == 1 {
                Level::Raid5(Rotation::default())
            } else {
                Level::Raid6(Rotation::default())
            };
            let of = |of, members| ArrayConfig {
                small_write,
                ..level(of, &one_die(30, 16, 6), members, 2 * PAGE)
            };
            let mut spread = build(&of(draid(parities, data, spares), members));
            let mut group = build(&of(alone, parities + data));
            let (unit, stripe) = (2 * PAGE, 2 * PAGE * u64::from(data));
            for k in 1..=u64::from(data) {
                let write = (Operation::Write, 3 * stripe, k * unit);
                let (modify, reconstruct) = (k + u64::from(parities), u64::from(data) - k);
                let reads = match small_write {
                    _ if reconstruct == 0 => 0,
                    SmallWrite::ReadModifyWrite => modify,
                    SmallWrite::Reconstruct => reconstruct,
                    SmallWrite::Fewest => modify.min(reconstruct),
                };
                let expected = [0, reads, k, u64::from(parities)].map(|units| units * 2);
                assert_eq!(cost(&mut spread, k, write), expected, "{parities} {k} {small_write:?}");
            }
            let mut rng = Rng::stream(7, "requests");
            for id in 100..200 {
                let operation = [Operation::Read, Operation::Write][rng.below(2) as usize];
                let offset = rng.below(40 * stripe / 512) * 512;
                let asked = (operation, offset, (1 + rng.below(3 * stripe / 512)) * 512);
                let (spread, group) = (cost(&mut spread, id, asked), cost(&mut group, id, asked));
                assert_eq!(spread, group, "{asked:?} {small_write:?}");
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- rebuilds

fn at(array: &Array, what: MishapKind) -> Vec<(u16, u64)> {
    let found = array.mishaps().iter().filter(|mishap| mishap.what == what);
    found.map(|mishap| (mishap.device.unwrap().0, mishap.at.0)).collect()
}

/// Microseconds from the failure to the end of the rebuild, and the rows of a member.
fn rebuild(of: Level, members: u16, depth: u32) -> (f64, f64) {
    let spare = MemberConfig { capable: true, ssd: device() };
    let spares = if of.distributed_spares() > 0 { Vec::new() } else { vec![spare] };
    let events = vec![failure(1, 1_000_000)];
    let faults = Faults { events, spares, rebuild: at_full_speed(depth), ..Faults::default() };
    let mut array = build(&config(of, members, faults));
    array.advance_until(SimTime(60 * SECOND)).expect("room");
    let ends = at(&array, MishapKind::Rebuilt);
    assert_eq!(ends.len(), 1, "{of} of {members}");
    assert!(array.health().is_whole());
    ((ends[0].1 - 1_000_000) as f64 / 1e3, (array.layout().member_bytes() / PAGE) as f64)
}

#[track_caller]
fn assert_within(what: &str, measured: f64, expected: f64) {
    let error = measured / expected - 1.0;
    eprintln!("{what}: {measured:.5e}, closed form {expected:.5e}: {:+.2}%", 100.0 * error);
    assert!(error.abs() <= 0.05, "{what}: {measured} is {:+.2}% off {expected}", 100.0 * error);
}

#[test]
fn a_rebuild_is_as_fast_as_the_survivors_together() {
    for members in [6, 11, 16, 21] {
        let (took, rows) = rebuild(draid(1, 4, 1), members, 256);
        let (n, d) = (f64::from(members), 4.0);
        let pages = rows * (n - 1.0) / n;
        assert_within(&format!("n = {n}"), took, pages * (d * READ_US + WRITE_US) / (n - 1.0));
        let (took, rows) = rebuild(Level::Raid5(Rotation::default()), members, 256);
        assert_within(&format!("RAID-5, n = {n}"), took, rows * WRITE_US);
    }
    let (took, rows) = rebuild(draid(2, 4, 2), 14, 256);
    assert_within("two parities, two spares", took, rows * 12.0 / 14.0 * (4.0 * READ_US + WRITE_US) / 13.0);
}

#[test]
fn with_one_step_at_a_time_the_number_of_members_does_not_matter() {
    for members in [6, 21] {
        let (took, rows) = rebuild(draid(1, 4, 1), members, 1);
        let pages = rows * (f64::from(members) - 1.0) / f64::from(members);
        assert_within(&format!("n = {members}"), took, pages * (READ_US + WRITE_US));
    }
}

// ------------------------------------------------------------------------------------------------ failure by failure

fn story(array: &Array) -> Vec<(u16, MishapKind)> {
    array.mishaps().iter().map(|mishap| (mishap.device.unwrap().0, mishap.what)).collect()
}

fn programs(array: &Array) -> u64 {
    array.devices().iter().map(|device| device.counters().programs.iter().sum::<u64>()).sum()
}

/// The next spare is taken after two message latencies, and each failure takes one. What nobody takes stays missing.
#[test]
fn every_failure_takes_a_spare_until_none_is_left() {
    use MishapKind::{Failed, Rebuilt, StoodIn};
    let events = vec![failure(1, 1_000_000), failure(4, 3 * SECOND), failure(0, 6 * SECOND)];
    let faults = Faults { events, rebuild: at_full_speed(64), ..Faults::default() };
    let mut config = config(draid(2, 3, 2), 7, faults);
    config.coordination.message_latency = SimDuration::from_us(50);
    let mut array = build(&config);
    let aged = programs(&array);
    array.advance_until(SimTime(9 * SECOND)).expect("room");
    let expected =
        [(1, Failed), (1, StoodIn(0)), (1, Rebuilt), (4, Failed), (4, StoodIn(1)), (4, Rebuilt), (0, Failed)];
    assert_eq!(story(&array), expected);
    assert_eq!(at(&array, StoodIn(0)), [(1, 1_100_000)]);
    assert_eq!(array.health().of(DeviceId(0)), Condition::Failed);
    let losses = array.counters().losses;
    assert_eq!((losses.lost_pages, losses.unread_pages), (0, 0));
    // Every unit that a failed member held was written to spare space, once; what 4 stood in for was moved on.
    let Layout::Parity(parity) = array.layout() else { unreachable!("it has parity") };
    let table = parity.declustered().expect("it is declustered");
    let rows = array.layout().member_bytes() / PAGE;
    let units = |member| (0..rows).filter(|&row| parity.stripe_on(DeviceId(member), row).is_some()).count();
    let moved_on =
        |&row: &u64| table.spare(row, 0) == DeviceId(4) && parity.stripe_on(DeviceId(1), row).is_some();
    let moved_on = (0..rows).filter(moved_on).count();
    assert!(moved_on > 100, "{moved_on}");
    assert_eq!(programs(&array) - aged, (units(1) + units(4) + moved_on) as u64);
}

/// With one parity a second failure after the rebuild loses nothing, and one before it loses exactly the rows in which both
/// members hold units of one stripe that are not built.
#[test]
fn what_two_failures_lose_is_counted() {
    let lost = |second: u64| {
        let events = vec![failure(1, 1_000_000), failure(4, second)];
        let faults = Faults { events, rebuild: at_full_speed(64), ..Faults::default() };
        let mut array = build(&config(draid(1, 2, 2), 8, faults));
        array.advance_until(SimTime(9 * SECOND)).expect("room");
        let Layout::Parity(parity) = array.layout().clone() else { unreachable!("it has parity") };
        let rows = 0..array.layout().member_bytes() / PAGE;
        let shared = |&row: &u64| {
            let stripe = |member| parity.stripe_on(DeviceId(member), row);
            stripe(1).is_some() && stripe(1) == stripe(4)
        };
        (array.counters().losses.lost_pages, rows.filter(shared).count() as u64, array.health().is_whole())
    };
    assert_eq!(lost(5 * SECOND).0, 0);
    let (pages, shared, is_whole) = lost(1_000_001);
    assert!(is_whole, "both are built, as far as can be");
    // The first of the two that is built is lost, and the other one then made of it.
    assert_eq!(pages, shared);
}

#[test]
fn spare_devices_beside_distributed_spares_are_refused() {
    let spares = vec![MemberConfig { capable: true, ssd: device() }];
    let config = config(draid(1, 2, 1), 4, Faults { spares, ..Faults::default() });
    let states = (0..5).map(|_| Ftl::new(&device(), 1, "state").expect("a shape that works")).collect();
    let refused = Array::new(&config, states, None, |_| NoProbe).err().expect("it is refused");
    assert!(refused.contains("distributed spares"), "{refused}");
}

/// What is missing is read from the rest of its group, however many members there are.
#[test]
fn degraded_reads_read_a_group() {
    for members in [5, 10] {
        let never = Fault { at: When::Request(u64::MAX), ..failure(0, 0) };
        let faults = Faults { events: vec![never], ..Faults::default() };
        let mut array = build(&config(draid(1, 4, 0), members, faults));
        array.fail(DeviceId(2), SimTime::ZERO).expect("room");
        let pages = array.layout().logical_bytes() / PAGE;
        let Layout::Parity(parity) = array.layout().clone() else { unreachable!("it has parity") };
        for (id, page) in (1..).zip((pages - 60)..pages) {
            let member = parity.data_member(page / 4, (page % 4) as u16);
            let read = cost(&mut array, id, (Operation::Read, page * PAGE, PAGE));
            let expected = if member == DeviceId(2) { 4 } else { 1 };
            assert_eq!(read.iter().sum::<u64>(), expected, "page {page}");
        }
    }
}
