//! What does an array do so that members which forget what they cache lose nothing that it counts on, and when is it done?
//!
//! Members of two dies behind caches that answer at once, RAID-5 of four with a page a stripe unit. A program takes 20 us of transfer
//! and 200 us; a cache hands a page to its die at once. Stripes 0 and 8 lie on die 0, the bitmap and every second page of the log on die 1.
//!
//! ```text
//! bitmap   0 its block, with FUA | 220 stripe 0, in caches | programs ─► 440
//!                                 221 stripe 8: flush ─────────────────► 440 its block | 660 in caches
//! PPL      0 its header, with FUA | 220 stripe 0, in caches | flush ──► 440 the row is free: header | 660 in caches
//! clean    a write, its end + 200 ms: all members flush, the array is clean
//! ```
//!
//! Not verified: contents (`contents`).

use crate::common::{PAGE, all_filled, drain, level, one_die, request, us};
use harmonia_array::layout::Rotation;
use harmonia_array::{
    Array, ArrayConfig, Befalls, Fault, Faults, Level, MemberConfig, MishapKind, Rebuild, When, WriteHole,
};
use harmonia_ssd::WriteCacheConfig;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{DeviceId, HostRequest, Operation, SimDuration, SimTime};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
/// md's `safe_mode_delay`.
const CLEAN_AFTER: SimDuration = SimDuration::from_us(200_000);

fn config(of: Level, members: u16, power_protected: bool, faults: Faults) -> ArrayConfig {
    let mut ssd = one_die(64, 16, 6);
    ssd.geometry.chips_per_channel = 2;
    ssd.write_cache = WriteCacheConfig {
        size: Some(8 * PAGE),
        ack: SimDuration::ZERO,
        power_protected,
        ..WriteCacheConfig::default()
    };
    ArrayConfig { faults, ..level(of, &ssd, members, PAGE) }
}

fn build(config: &ArrayConfig) -> Array {
    Array::new(config, all_filled(config, 1), None, |_| NoProbe).expect("a configuration that works")
}

/// A write of the stripe of this number.
fn stripe(id: u64, at: u64, number: u64) -> HostRequest {
    request(id, us(at), Operation::Write, number * 3 * PAGE, 3 * PAGE)
}

/// When requests finish, by id, and the array then.
fn serve(config: &ArrayConfig, requests: &[HostRequest]) -> (Vec<SimTime>, Array) {
    let mut array = build(config);
    for &request in requests {
        array.advance_until(request.arrival).expect("spare suffices");
        array.submit(request).expect("spare suffices");
    }
    let mut done = drain(&mut array);
    done.sort_unstable_by_key(|done| done.id);
    for done in &done {
        assert_eq!(done.blame.total(), done.response().0, "blame sums to the response");
    }
    (done.iter().map(|done| done.finish).collect(), array)
}

#[test]
fn members_flush_before_a_block_of_the_bitmap_and_have_it_on_flash_before_they_are_written() {
    let delay = SimDuration::from_us(1_000_000);
    let faults = Faults { write_hole: WriteHole::Bitmap { chunk: 8 * PAGE, delay }, ..Faults::default() };
    let requests = [stripe(0, 0, 0), stripe(1, 221, 8)];
    let finishes = |power_protected| {
        let (finishes, array) = serve(&config(RAID5, 4, power_protected, faults.clone()), &requests);
        (finishes, array.bitmap_counters().writes)
    };
    // Two that set a bit, one that clears both.
    assert_eq!(finishes(true), (vec![us(0), us(221)], 3));
    assert_eq!(finishes(false), (vec![us(220), us(660)], 3));
}

#[test]
fn an_entry_of_a_log_is_on_flash_before_members_are_written_and_stays_until_they_have_flushed() {
    let log = WriteHole::PartialParityLog(64 * PAGE);
    let faults = Faults { write_hole: log, ..Faults::default() };
    let requests = [stripe(0, 0, 0), stripe(1, 221, 0)];
    let finishes = |power_protected| serve(&config(RAID5, 4, power_protected, faults.clone()), &requests).0;
    assert_eq!(finishes(true), [us(0), us(221)]);
    assert_eq!(finishes(false), [us(220), us(660)]);
}

/// What an array made of a loss of power at a time, if one stripe was written before.
fn story(of: Level, members: u16, power_protected: bool, at: SimTime) -> Vec<MishapKind> {
    let faults = Faults { power_losses: vec![When::Time(at)], ..Faults::default() };
    let (_, array) = serve(&config(of, members, power_protected, faults), &[stripe(0, 0, 0)]);
    array.mishaps().iter().map(|mishap| mishap.what).collect()
}

/// The write is answered at once. Its programs have ended long before, which the array cannot know.
#[test]
fn an_array_is_clean_when_members_have_flushed_200_ms_after_the_last_write() {
    let dirty = [MishapKind::PowerLost(0), MishapKind::Resynced];
    for (of, members) in [(RAID5, 4), (Level::Raid1, 2), (Level::Raid4, 4)] {
        for power_protected in [false, true] {
            let story = |at| story(of, members, power_protected, at);
            assert_eq!(story(SimTime::ZERO + CLEAN_AFTER), dirty, "{of}");
            assert_eq!(story(SimTime(CLEAN_AFTER.0 + 1)), dirty[..1], "{of}");
        }
    }
}

/// A member takes 420 ms for a program. Members flush at 200 ms, and what is written at 210 ms is not part of that. That flush ends
/// behind 410 ms, when the array might have them flush again; power is lost at 500 ms.
#[test]
fn the_end_of_a_flush_says_nothing_of_what_was_written_since_it_began() {
    let slow = Fault { device: DeviceId(0), at: When::Time(SimTime::ZERO), what: Befalls::Slow(2_100.0) };
    let loss = When::Time(us(500_000));
    let faults = Faults { events: vec![slow], power_losses: vec![loss], ..Faults::default() };
    let requests = [stripe(0, 1, 0), stripe(1, 210_000, 1)];
    let (_, array) = serve(&config(RAID5, 4, false, faults), &requests);
    let mishaps: Vec<MishapKind> = array.mishaps().iter().map(|mishap| mishap.what).collect();
    assert_eq!(mishaps[1..], [MishapKind::PowerLost(0), MishapKind::Resynced]);
}

/// Dirty and degraded, an array does not start any more. Nobody looks whether members may flush.
#[test]
fn an_array_that_does_not_start_comes_to_rest() {
    let fails = Fault { device: DeviceId(1), at: When::Time(us(5_000)), what: Befalls::Failure };
    let power_losses = vec![When::Time(us(10_000))];
    let faults = Faults { events: vec![fails], power_losses, ..Faults::default() };
    let mut array = build(&config(RAID5, 4, false, faults));
    array.advance_until(us(6_000)).expect("spare suffices");
    array.submit(stripe(0, 6_000, 0)).expect("spare suffices");
    array.advance_until(us(1_000_000)).expect("spare suffices");
    assert!(array.mishaps().iter().any(|mishap| mishap.what == MishapKind::Refused));
    assert_eq!(array.next_wakeup(), SimTime::NEVER);
}

/// What is written for a resync is in caches, too: power is lost at 100 ms, and again after the resync, 200 ms later or just after that.
#[test]
fn an_array_that_was_gone_through_is_dirty_until_members_have_flushed() {
    let first = SimTime(100_000_000);
    let mishaps = |losses: Vec<When>| {
        let faults = Faults { power_losses: losses, ..Faults::default() };
        let (_, array) = serve(&config(RAID5, 4, false, faults), &[stripe(0, 0, 0)]);
        array.mishaps().to_vec()
    };
    let once = mishaps(vec![When::Time(first)]);
    assert_eq!(once.len(), 2, "{once:?}");
    let over = once[1].at;
    for (after, again) in [(1, true), (CLEAN_AFTER.0, true), (CLEAN_AFTER.0 + 1, false)] {
        let twice = mishaps(vec![When::Time(first), When::Time(SimTime(over.0 + after))]);
        assert_eq!(twice.len(), if again { 4 } else { 3 }, "{after} ns after it: {twice:?}");
    }
}

/// Member 0 programs one page of two when power is lost, and forgets the other one; member 1 has stored power. Resync gets no further than
/// page 0 in this second. Two reads of the page that only member 1 has go by member 0, one after the other.
#[test]
fn until_copies_are_gone_through_all_reads_go_by_the_first() {
    let rebuild = Rebuild { max_rate: PAGE, min_rate: PAGE, step: PAGE, depth: 1, ..Rebuild::default() };
    let finishes = |power_protected| {
        let faults = Faults { power_losses: vec![When::Time(us(100))], rebuild, ..Faults::default() };
        let mut config = config(Level::Raid1, 2, power_protected, faults);
        config.members[1].ssd.write_cache.power_protected = true;
        let last = config.layout().logical_bytes() / PAGE - 2;
        let write = |id, page| request(id, us(0), Operation::Write, page * PAGE, PAGE);
        let read = |id| request(id, us(300), Operation::Read, last * PAGE, PAGE);
        let mut array = build(&config);
        for request in [write(0, last - 2), write(1, last), read(2), read(3)] {
            array.advance_until(request.arrival).expect("spare suffices");
            array.submit(request).expect("spare suffices");
        }
        array.advance_until(us(1_000)).expect("spare suffices");
        let mut done: Vec<_> = array.completions().drain(..).map(|done| (done.id, done.finish)).collect();
        done.sort_unstable();
        [done[2].1, done[3].1]
    };
    assert_eq!(finishes(true), [us(300), us(300)], "caches have the page");
    assert_eq!(finishes(false), [us(345), us(390)]);
}

#[test]
fn what_is_not_modelled_for_such_members_is_refused() {
    let faults = Faults { power_losses: vec![When::Request(1)], ..Faults::default() };
    let plain = config(RAID5, 4, false, faults);
    let refuses = |change: fn(&mut ArrayConfig)| {
        let mut config = plain.clone();
        change(&mut config);
        let spares = config.faults.spares.iter().map(|spare: &MemberConfig| &spare.ssd);
        let mut states = all_filled(&config, 1);
        states.extend(spares.map(|ssd| crate::common::filled(ssd, 4, 0)));
        Array::new(&config, states, None, |_| NoProbe).err()
    };
    assert_eq!(refuses(|_| ()), None);
    assert_eq!(refuses(|config| config.knowledge.nvram = PAGE), None);
    let spare: fn(&mut ArrayConfig) = |config| config.faults.spares = vec![config.members[0].clone()];
    assert!(refuses(spare).is_some_and(|why| why.contains("forget what they cache")));
}
