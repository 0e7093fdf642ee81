//! How long does a resync take, what does it write, and when is there one?
//!
//! Members as in `rebuild`: 64 dies with pins of their own, and steps of four pages. With parity an idle resync reads and writes
//! nothing, a RAID-1 reads one copy and writes the other. So that nothing is collected its members are empty, and reads cost the
//! link only:
//!
//! ```text
//! parity:  read 25 us + transfer 20 us | link           RAID-1:  link | link | transfer 20 us + program 200 us
//! rate:    min(depth x bytes of a step / time of a step, link, highest rate)
//! ```

use crate::common::{PAGE, level, one_die, request};
use harmonia_array::layout::{Copies, Pattern, Rotation};
use harmonia_array::{
    Array, ArrayConfig, Befalls, Fault, Faults, Level, MishapKind, Rebuild, When, WriteHole,
};
use harmonia_flash::LinkConfig;
use harmonia_ssd::Ftl;
use harmonia_ssd::SsdConfig;
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{DeviceId, IoCause, Operation, SimDuration, SimTime};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
const RAID6: Level = Level::Raid6(Rotation::LeftSymmetric);
const RAID10: Level = Level::Raid10(Copies { pattern: Pattern::Near, count: 2 });
const STEP: u64 = 4 * PAGE;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn many_dies(link: u64) -> SsdConfig {
    let mut ssd = one_die(12, 16, 4);
    ssd.geometry.chips_per_channel = 64;
    ssd.link = LinkConfig::of(link);
    ssd
}

/// Power is lost at 10 ms.
fn loses_power(of: Level, members: u16, ssd: &SsdConfig, rebuild: Rebuild) -> ArrayConfig {
    let power_losses = vec![When::Time(SimTime(10 * MS))];
    ArrayConfig {
        faults: Faults { power_losses, rebuild, ..Faults::default() },
        ..level(of, ssd, members, STEP)
    }
}

/// Members whose every page is written, or none.
fn build(config: &ArrayConfig) -> Array {
    let member = |index: usize| {
        let mut ftl = Ftl::new(&config.members[index].ssd, 1, &format!("device/{index}")).expect("it works");
        let (units, pages) = (ftl.shape().units(), ftl.shape().unit_pages);
        let is_filled = config.level != Level::Raid1;
        for unit in (0..units).filter(|_| is_filled) {
            for page in 0..pages {
                ftl.unit(unit).program(page, IoCause::Host, None, &mut NoProbe).expect("spare suffices");
            }
        }
        ftl
    };
    let states = (0..config.members.len()).map(member).collect();
    Array::new(config, states, None, |_| NoProbe).expect("a configuration that works")
}

fn advance(array: &mut Array, until: u64) {
    array.advance_until(SimTime(until)).expect("spare suffices");
}

fn story(array: &Array) -> Vec<(u64, MishapKind)> {
    array.mishaps().iter().map(|mishap| (mishap.at.0, mishap.what)).collect()
}

fn programs(array: &Array) -> u64 {
    array.devices().iter().map(|device| device.ftl().tally().data_programs()).sum()
}

fn full_speed(depth: u32, max_rate: u64) -> Rebuild {
    Rebuild { min_rate: max_rate, max_rate, depth, step: STEP, ..Rebuild::default() }
}

/// A write that is acknowledged makes the array dirty; nothing was cut short.
#[test]
fn on_an_idle_array_a_resync_takes_the_time_of_its_closed_form() {
    a_resync_takes_its_time(None);
}

/// With a bitmap it takes that of the chunks that were written: three, far apart.
#[test]
fn with_a_bitmap_a_resync_takes_the_time_of_the_chunks_that_were_written() {
    a_resync_takes_its_time(Some(64 * STEP));
}

fn a_resync_takes_its_time(chunk: Option<u64>) {
    for (of, members) in [(RAID5, 4), (RAID6, 5), (Level::Raid1, 2), (RAID10, 4)] {
        for (depth, link, max_rate) in
            [(1, u64::MAX, u64::MAX), (4, 600_000_000, u64::MAX), (16, 600_000_000, 40_000_000)]
        {
            let ssd = many_dies(link);
            let mut config = loses_power(of, members, &ssd, full_speed(depth, max_rate));
            if let Some(chunk) = chunk {
                let delay = SimDuration::from_us(60_000_000);
                config.faults.write_hole = WriteHole::Bitmap { chunk, delay };
            }
            let mut array = build(&config);
            let row = array.layout().logical_bytes() / array.layout().member_bytes();
            let places = chunk.map_or(vec![0], |chunk| vec![0, 10 * chunk * row, 20 * chunk * row]);
            advance(&mut array, MS);
            for (id, &at) in (0..).zip(&places) {
                array.submit(request(id, SimTime(MS), Operation::Write, at, PAGE)).expect("spare suffices");
            }
            advance(&mut array, 9 * MS);
            let before = programs(&array);
            advance(&mut array, 10 * SECOND);
            let told = story(&array);
            assert_eq!(
                (told.len(), told[0].1, told[1].1),
                (2, MishapKind::PowerLost(0), MishapKind::Resynced)
            );
            let bytes = chunk.map_or(array.layout().member_bytes(), |chunk| 3 * chunk);
            let over_link = ssd.link.page_time(PAGE as u32).0 * 4;
            let copies = of == Level::Raid1;
            let step = over_link + if copies { over_link + 220_000 } else { 45_000 };
            let by_link = if over_link == 0 { f64::INFINITY } else { STEP as f64 / over_link as f64 * 1e9 };
            let rate = f64::from(depth) * STEP as f64 / step as f64 * 1e9;
            let expected = bytes as f64 / rate.min(by_link).min(max_rate as f64) * 1e9;
            let took = (told[1].0 - told[0].0) as f64;
            assert!((took / expected - 1.0).abs() < 0.05, "{of}, depth {depth}: {took} and {expected}");
            let counted = array.background_counters(SimTime(10 * SECOND));
            assert_eq!((counted.resynced_bytes, counted.resyncs, counted.resync_ns), (bytes, 1, took as u64));
            assert_eq!((counted.share_synced(), counted.resynced_rows), (1.0, 0));
            let written = if copies { bytes / PAGE } else { 0 };
            assert_eq!(programs(&array) - before, written, "{of}: only RAID-1 writes what agrees");
        }
    }
}

/// An array that was not written for 200 ms is clean: md's safe_mode_delay.
#[test]
fn an_array_that_was_left_in_peace_needs_no_resync() {
    for (gap, resyncs) in [(199 * MS, 1), (202 * MS, 0)] {
        let mut config = loses_power(RAID5, 4, &many_dies(u64::MAX), full_speed(4, u64::MAX));
        config.faults.power_losses = vec![When::Time(SimTime(MS + gap))];
        let mut array = build(&config);
        advance(&mut array, MS);
        array.submit(request(0, SimTime(MS), Operation::Write, 0, PAGE)).expect("spare suffices");
        advance(&mut array, 10 * SECOND);
        assert_eq!(array.background_counters(SimTime(10 * SECOND)).resyncs, resyncs, "{gap}");
    }
}

/// What was cut short is submitted again, is answered once, has its time until then in its blame, and its row is written anew.
#[test]
fn a_write_that_was_cut_short_is_submitted_again_and_its_row_written_anew() {
    let mut config = loses_power(RAID5, 4, &many_dies(u64::MAX), full_speed(4, u64::MAX));
    // A pre-read takes 45 us: power is lost while it programs.
    config.faults.power_losses = vec![When::Time(SimTime(MS + 100_000))];
    let mut array = build(&config);
    let before = programs(&array);
    advance(&mut array, MS);
    array.submit(request(0, SimTime(MS), Operation::Write, 0, PAGE)).expect("spare suffices");
    advance(&mut array, 10 * SECOND);
    let done: Vec<_> = array.completions().drain(..).collect();
    assert_eq!(done.len(), 1);
    assert_eq!((done[0].blame.restart, done[0].blame.total()), (100_000, done[0].response().0));
    assert_eq!(story(&array)[0].1, MishapKind::PowerLost(1));
    assert_eq!(array.background_counters(SimTime(10 * SECOND)).resynced_rows, 1);
    assert_eq!(
        programs(&array) - before,
        2 + 1 + 2,
        "what was cut short, parity by the resync, the write again"
    );
}

/// md does not start a dirty array with parity of which a member is missing; a mirror it does.
#[test]
fn a_dirty_and_degraded_array_with_parity_does_not_start() {
    for (of, members, refused) in [(RAID5, 4, true), (RAID6, 5, true), (Level::Raid1, 2, false)] {
        let mut config = loses_power(of, members, &many_dies(u64::MAX), full_speed(4, u64::MAX));
        let failure = Fault { device: DeviceId(1), at: When::Time(SimTime(2 * MS)), what: Befalls::Failure };
        config.faults.events = vec![failure];
        let mut array = build(&config);
        advance(&mut array, 9 * MS);
        array.submit(request(0, SimTime(9 * MS), Operation::Write, 0, PAGE)).expect("spare suffices");
        advance(&mut array, 20 * MS);
        array.submit(request(1, SimTime(20 * MS), Operation::Read, 0, 3 * PAGE)).expect("spare suffices");
        advance(&mut array, SECOND);
        assert_eq!(array.completions().len(), 2, "{of}");
        let was_refused = story(&array).iter().any(|(_, what)| *what == MishapKind::Refused);
        let losses = array.counters().losses;
        assert_eq!((was_refused, losses.unread_pages), (refused, if refused { 3 } else { 0 }), "{of}");
        assert_eq!(array.completions()[1].response().0 == 0, refused, "{of}");
    }
}
