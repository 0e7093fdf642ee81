//! What does a write-intent bitmap cost, when is a bit set and cleared, and what is gone through after a loss of power?
//!
//! Members have one die: a page read takes 25 and 20 us, a page written 20 and 200. A block of the bitmap is one page on every
//! member.
//!
//! ```text
//! whole stripe    0 bitmap | 220 data and parity | 440
//! its bit         set at 220; passes at 220 + delay: aged, + 2 delays: clean in memory, + 3 delays: the block is written
//! ```
//!
//! Not verified: contents (`contents`).

use crate::common::{Forces, PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::layout::{Copies, Layout, Pattern, Rotation};
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::parity::ParityPlanner;
use harmonia_array::{
    Array, ArrayConfig, Befalls, Fault, Faults, Level, MemberConfig, MishapKind, Parts, Rebuild, SmallWrite,
    When, WriteHole,
};
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{
    Blame, Completion, DeviceId, GcWait, HostRequest, IoCause, Operation, SimDuration, SimTime,
};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
const RAID6: Level = Level::Raid6(Rotation::LeftSymmetric);
const NEAR: Level = Level::Raid10(Copies { pattern: Pattern::Near, count: 2 });
const FAR: Level = Level::Raid10(Copies { pattern: Pattern::Far, count: 2 });
const CHUNK: u64 = 8 * PAGE;
const SECOND: u64 = 1_000_000;

/// Stripe units of a page; the delay in microseconds.
fn config(of: Level, members: u16, chunk: u64, delay: u64) -> ArrayConfig {
    let write_hole = WriteHole::Bitmap { chunk, delay: SimDuration::from_us(delay) };
    let config = level(of, &one_die(64, 16, 6), members, PAGE);
    ArrayConfig { faults: Faults { write_hole, ..Faults::default() }, ..config }
}

fn array(config: &ArrayConfig) -> Array {
    let spares = config.faults.spares.iter().map(|spare: &MemberConfig| &spare.ssd);
    let mut states = all_filled(config, 1);
    states.extend(spares.map(|ssd| crate::common::filled(ssd, config.devices, 0)));
    Array::new(config, states, None, |_| NoProbe).expect("a configuration that works")
}

/// Submits requests; those of one moment come together.
fn submit(array: &mut Array, requests: &[HostRequest]) {
    let mut last = None;
    for &request in requests {
        if last.replace(request.arrival) != Some(request.arrival) {
            array.advance_until(request.arrival).expect("spare suffices");
        }
        array.submit(request).expect("spare suffices");
    }
}

fn run(array: &mut Array, requests: &[HostRequest]) -> Vec<Completion> {
    submit(array, requests);
    let mut completions = drain(array);
    completions.sort_unstable_by_key(|done| done.id);
    for done in &completions {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    completions
}

fn write(id: u64, at: SimTime, page: u64, pages: u64) -> HostRequest {
    request(id, at, Operation::Write, page * PAGE, pages * PAGE)
}

/// Pages that every member has programmed.
fn programs(array: &Array) -> Vec<u64> {
    let of = |device: &harmonia_ssd::Device| {
        let programs = device.counters().programs;
        [IoCause::Host, IoCause::Parity, IoCause::Log].map(|cause| programs[cause as usize]).iter().sum()
    };
    array.devices().iter().map(of).collect()
}

/// Pages that each member programs for a write at a time, until so many microseconds.
fn cost(array: &mut Array, request: HostRequest, until: u64) -> Vec<u64> {
    let before = programs(array);
    submit(array, &[request]);
    array.advance_until(us(until)).expect("spare suffices");
    before.iter().zip(programs(array)).map(|(before, after)| after - before).collect()
}

#[test]
fn the_first_write_of_a_chunk_costs_a_block_on_every_member_and_the_second_none() {
    // Of a stripe of RAID-5 the first page lies on member 0 and parity on the last, of RAID-6 on member 1 and on those beside it; copies lie side by side, or half a member apart.
    for (of, members, first) in [
        (RAID5, 4, [2, 1, 1, 2].as_slice()),
        (RAID6, 5, &[2, 2, 1, 1, 2]),
        (Level::Raid4, 4, &[2, 1, 1, 2]),
        (Level::Raid1, 2, &[2, 2]),
        (NEAR, 4, &[2, 2, 1, 1]),
        (FAR, 4, &[2, 2, 1, 1]),
    ] {
        let mut array = array(&config(of, members, CHUNK, SECOND));
        let parts = cost(&mut array, write(0, us(1), 0, 1), 10_000);
        assert_eq!(parts, first, "{of}: the block, and the write");
        let counted = array.bitmap_counters();
        assert_eq!((counted.writes, counted.pages, counted.waits), (1, u64::from(members), 1), "{of}");
        let plain: Vec<u64> = first.iter().map(|pages| pages - 1).collect();
        assert_eq!(cost(&mut array, write(1, us(10_000), 0, 1), 20_000), plain, "{of}: its bit is set");
        // The second chunk of the members begins with row 8, of first copies where there are copies.
        let row = if of == FAR { 4 } else { array.layout().logical_bytes() / array.layout().member_bytes() };
        let next = cost(&mut array, write(2, us(20_000), 8 * row, 1), 30_000);
        assert_eq!(next.iter().sum::<u64>(), first.iter().sum::<u64>(), "{of}: that of another chunk is not");
        assert_eq!(array.bitmap_counters().writes, 2, "{of}");
    }
}

#[test]
fn members_are_written_when_the_bit_is_on_all_of_them() {
    let config = config(RAID5, 4, CHUNK, SECOND);
    let writes = Blame { service: 200_000, transfer: 20_000, ..Blame::default() };
    let mut array = array(&config);
    // A read of member 3 keeps it for 45 us: the bit is there at 265, and so late is everybody written.
    let read = request(0, us(0), Operation::Read, 3 * PAGE, PAGE);
    let done = run(&mut array, &[read, write(1, us(0), 0, 3), write(2, SimTime(2_000_000), 3, 3)]);
    let waits = done[1].blame.parity;
    assert_eq!((waits.service, waits.transfer, waits.queue_host), (200_000, 20_000, 45_000));
    assert_eq!((done[1].finish, done[1].blame.data), (us(265 + 220), writes));
    assert_eq!((done[2].response().0, done[2].blame.data), (220_000, writes), "its bit is set");
}

#[test]
fn whoever_waits_at_one_moment_waits_for_one_write_and_whoever_comes_later_for_the_next() {
    let mut array = array(&config(RAID5, 4, CHUNK, SECOND));
    // Chunks of eight stripes of three pages.
    let requests = [
        write(0, us(0), 0, 3),
        write(1, us(0), 24, 3),
        write(2, us(100), 48, 3),
        write(3, us(150), 72, 3),
        write(4, us(160), 27, 3),
    ];
    let done = run(&mut array, &requests);
    let counted = array.bitmap_counters();
    assert_eq!((counted.writes, counted.waits, counted.cleared), (3, 5, 4), "two, and the one that clears");
    let queued = |id: usize| done[id].blame.log_wait;
    assert_eq!([queued(0), queued(1), queued(4)], [0, 0, 60_000], "the last has a bit that is on its way");
    assert_eq!([queued(2), queued(3)], [120_000, 70_000], "for the write that was under way");
    assert!(done.iter().all(|request| !request.met_gc), "nobody collects");
}

/// Member 2 collects until 1.5 ms, and has its block of the bitmap after that. One request waits for that write from its beginning, the
/// other one comes while it is under way.
#[test]
fn whoever_waits_for_a_bitmap_waits_for_the_members_that_collect() {
    let faults = config(RAID5, 4, CHUNK, SECOND).faults;
    let config = ArrayConfig { faults, ..level(RAID5, &one_die(16, 4, 12), 4, PAGE) };
    let whole = config.layout();
    let Layout::Parity(layout) = whole.clone() else { unreachable!("RAID-5 has parity") };
    let parts = Parts {
        coordinator: Box::new(Forces(vec![(us(0), 2)])),
        planner: Box::new(ParityPlanner::new(&whole, layout, SmallWrite::ReadModifyWrite, PAGE)),
        payload: NoPayload,
    };
    let mut array = Array::with_parts(&config, all_filled(&config, 2), parts, |_| NoProbe).unwrap();
    let done = run(&mut array, &[write(0, us(100), 0, 1), write(1, us(150), 3, 1)]);
    assert!(done.iter().all(|done| done.met_gc), "{done:?}");
    assert_eq!(done[0].gc_wait, Some(GcWait { member: DeviceId(2), ns: 1_400_000 }));
    assert_eq!((done[0].blame.parity.queue_gc, done[1].blame.log_wait), (1_400_000, 1_570_000));
}

#[test]
fn a_bit_is_cleared_by_the_third_pass_after_the_last_write() {
    let delay = 10_000;
    let mut array = array(&config(RAID5, 4, CHUNK, delay));
    submit(&mut array, &[write(0, us(0), 0, 3)]);
    let third = 220 + 3 * delay;
    array.advance_until(us(third + 219)).expect("spare suffices");
    let counted = array.bitmap_counters();
    assert_eq!((counted.writes, counted.cleared), (2, 0), "the block is on its way");
    array.advance_until(us(third + 221)).expect("spare suffices");
    assert_eq!(array.bitmap_counters().cleared, 1);
    drain(&mut array);
    assert_eq!((array.bitmap_counters().writes, array.bitmap_counters().cleared), (2, 1));
    // A write between two passes begins the count anew; one after the second pass sets the bit anew.
    for (again, writes) in [(third - delay - 1_000, 1), (third - 1_000, 2)] {
        let mut array = self::array(&config(RAID5, 4, CHUNK, delay));
        submit(&mut array, &[write(0, us(0), 0, 3), write(1, us(again), 3, 3)]);
        array.advance_until(us(third + 500)).expect("spare suffices");
        assert_eq!((array.bitmap_counters().writes, array.bitmap_counters().cleared), (writes, 0), "{again}");
        drain(&mut array);
        assert_eq!(
            (array.bitmap_counters().writes, array.bitmap_counters().cleared),
            (writes + 1, 1),
            "{again}"
        );
    }
}

/// A loss of power at a time.
fn loses_power(mut config: ArrayConfig, at: u64) -> ArrayConfig {
    let full =
        Rebuild { min_rate: u64::MAX, max_rate: u64::MAX, depth: 4, step: 4 * PAGE, ..Rebuild::default() };
    config.faults.power_losses = vec![When::Time(us(at))];
    config.faults.rebuild = full;
    config
}

/// Passes go on while a member keeps the pre-read of a write waiting for milliseconds. A block that clears would be written behind
/// that, and before the data.
#[test]
fn a_bit_stays_while_somebody_writes() {
    let config = config(RAID5, 4, CHUNK, 1_000);
    let mut array = array(&ArrayConfig { small_write: SmallWrite::ReadModifyWrite, ..config });
    // Once the bit is there 200 reads keep member 0, which has the page as well.
    let reads = (1..201).map(|id| request(id, us(230), Operation::Read, 0, PAGE));
    let write_again = write(201, us(240), 24, 1);
    let requests: Vec<_> = [write(0, us(0), 24, 3)].into_iter().chain(reads).chain([write_again]).collect();
    submit(&mut array, &requests);
    while !array.completions().iter().any(|done| done.id == 201) {
        assert_eq!(array.bitmap_counters().cleared, 0, "it is being written");
        array.advance_until(array.next_wakeup()).expect("spare suffices");
    }
    assert!(array.completions().iter().all(|done| done.id != 201 || done.finish > us(4_000)));
    drain(&mut array);
    assert_eq!(array.bitmap_counters().cleared, 1);
}

#[test]
fn only_chunks_whose_bits_are_set_are_gone_through() {
    for (of, members) in [(RAID5, 4), (RAID6, 5), (Level::Raid1, 2), (NEAR, 4), (FAR, 4)] {
        let mut array = array(&loses_power(config(of, members, CHUNK, SECOND), 10_000));
        let data = array.layout().logical_bytes() / array.layout().member_bytes();
        // Chunks 0 and 3 of the members, and chunk 0 again.
        submit(
            &mut array,
            &[write(0, us(0), 0, 1), write(1, us(1), 24 * data, 1), write(2, us(2_000), 1, 1)],
        );
        drain(&mut array);
        let (own, counted) = (array.background_counters(us(10 * SECOND)), array.bitmap_counters());
        assert_eq!((own.resyncs, own.resynced_bytes, counted.dirty_chunks), (1, 2 * CHUNK, 2), "{of}");
        assert_eq!(counted.cleared, 2, "{of}: they are cleared when they were gone through");
    }
}

/// A bit that is on its way when power is lost is not on the members, and nothing of its chunk was written.
#[test]
fn after_a_loss_the_bitmap_is_what_the_members_have() {
    let mut array = array(&loses_power(config(RAID5, 4, CHUNK, SECOND), 100));
    let done = run(&mut array, &[write(0, us(0), 0, 3)]);
    let counted = array.bitmap_counters();
    assert_eq!((counted.dirty_chunks, counted.waits), (0, 2), "it waits again when it is submitted again");
    assert_eq!(array.background_counters(us(10 * SECOND)).resynced_bytes, 0);
    assert_eq!(done[0].blame.restart, 100_000);
}

/// A dirty array with parity of which a member is missing does not start, bitmap or not; a mirror resyncs what is left.
#[test]
fn a_bitmap_does_not_let_a_dirty_and_degraded_array_start() {
    for (of, members, refused) in [(RAID5, 4, true), (RAID6, 5, true), (Level::Raid1, 3, false)] {
        let mut config = loses_power(config(of, members, CHUNK, SECOND), 10_000);
        let at = When::Time(us(5_000));
        config.faults.events = vec![Fault { device: DeviceId(1), at, what: Befalls::Failure }];
        let mut array = array(&config);
        submit(&mut array, &[write(0, us(0), 0, 1), write(1, us(6_000), 0, 1)]);
        drain(&mut array);
        let was_refused = array.mishaps().iter().any(|mishap| mishap.what == MishapKind::Refused);
        assert_eq!(was_refused, refused, "{of}");
        // No bit is cleared while a member is missing.
        assert_eq!(array.bitmap_counters().cleared, 0, "{of}");
    }
}

/// Bits wait for a spare to be built, and are cleared then.
#[test]
fn bits_are_cleared_once_nobody_is_missing() {
    let mut config = config(RAID5, 4, CHUNK, 1_000);
    config.faults.rebuild = loses_power(config.clone(), 1).faults.rebuild;
    config.faults.spares = vec![config.members[0].clone()];
    let at = When::Time(us(300));
    config.faults.events = vec![Fault { device: DeviceId(1), at, what: Befalls::Failure }];
    let mut array = array(&config);
    submit(&mut array, &[write(0, us(0), 0, 3)]);
    drain(&mut array);
    assert!(array.mishaps().iter().any(|mishap| mishap.what == MishapKind::Rebuilt));
    assert_eq!((array.bitmap_counters().writes, array.bitmap_counters().cleared), (2, 1));
}
