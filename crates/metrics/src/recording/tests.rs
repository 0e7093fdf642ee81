use harmonia_types::{Blame, Operation, RequestBlame};

use super::slices::cell;
use super::*;

const SMALL: Limits = Limits { slices: 64, sample: 256, window_part: 32, intervals: 100 };

fn request(id: u64, arrival_us: u64, response_us: u64) -> Completion {
    let arrival = SimTime(arrival_us * 1_000);
    let response_ns = response_us * 1_000;
    Completion {
        id,
        operation: Operation::Read,
        offset: id * 4096,
        length: 4096,
        arrival,
        finish: SimTime(arrival.0 + response_ns),
        blame: RequestBlame {
            data: Blame { service: response_ns, ..Blame::default() },
            ..RequestBlame::default()
        },
        gc_wait: None,
        met_gc: false,
    }
}

/// A run of so many requests, one each 100 us; responses repeat every 1,000 requests, but request 7,777 is slow.
fn recorded(limits: Limits, requests: u64) -> Recording {
    let mut recorder = Recorder::new(limits);
    recorder.begin(SimTime(0), 2);
    for id in 0..requests {
        let response_us = if id == 7_777 { 90_000 } else { 50 + id * 7_919 % 1_000 };
        recorder.completion(&request(id, id * 100, response_us));
        let start = SimTime(id * 100_000);
        recorder.gc_interval(DeviceId((id % 2) as u16), start, SimTime(start.0 + 10_000));
    }
    recorder.end(SimTime(requests * 100_000));
    recorder.finish(SimTime(requests * 100_000))
}

#[test]
fn what_is_kept_does_not_grow_with_the_run() {
    let (short, long) = (recorded(SMALL, 20_000), recorded(SMALL, 400_000));
    for recording in [&short, &long] {
        assert!(recording.kept.len() <= 256 + 64 + 2 * 3 * 32, "{} requests", recording.kept.len());
        assert!(recording.levels[0].slices.len() <= 64);
        assert!(recording.gc.members.iter().map(Vec::len).sum::<usize>() <= 100);
    }
    assert_eq!(long.requests, 400_000);
    assert_eq!(long.levels[0].slices.iter().map(|slice| slice.count).sum::<u64>(), 400_000);
}

#[test]
fn the_same_observations_are_the_same_recording() {
    assert_eq!(recorded(SMALL, 30_000), recorded(SMALL, 30_000));
}

#[test]
fn the_slowest_request_is_kept_with_all_that_came_near_it() {
    let recording = recorded(SMALL, 100_000);
    let slowest = recording.kept.iter().max_by_key(|kept| kept.completion.response()).expect("some are kept");
    assert_eq!(slowest.completion.id, 7_777);
    assert_eq!(slowest.why.bits() & Why::SLOWEST.bits(), Why::SLOWEST.bits());
    let window = &recording.windows[0];
    assert_eq!((window.reason, window.first, window.last), (Reason::Slowest, 7_744, 7_839));
    let inside = recording.kept.iter().filter(|kept| (7_744..=7_839).contains(&kept.completion.id));
    assert_eq!(inside.count(), 96);
    let gc = window.gc.as_ref().expect("few intervals");
    // From the first arrival to the slow request's end at 867.7 ms: every second interval is a member's.
    assert_eq!((gc[0].len(), gc[1].len()), ((8_677 - 7_744) / 2 + 1, (8_677 - 7_744) / 2 + 1));
    assert!(gc.iter().flatten().all(|span| span.busy_ns == 10_000), "exact");
}

#[test]
fn of_two_slowest_requests_the_first_has_its_window() {
    let mut recorder = Recorder::new(SMALL);
    recorder.begin(SimTime(0), 1);
    (0..10_000).for_each(|id| {
        let response_us = if id == 3_000 || id == 7_000 { 90_000 } else { 50 };
        recorder.completion(&request(id, id * 100, response_us));
    });
    let window = &recorder.finish(SimTime(1)).windows[0];
    assert!((window.first..=window.last).contains(&3_000), "{} to {}", window.first, window.last);
}

#[test]
fn the_usual_window_is_chosen_by_its_place_alone() {
    let recording = recorded(SMALL, 100_000);
    let usual = &recording.windows[1];
    assert_eq!((usual.reason, usual.first, usual.last), (Reason::Usual, 2_047 * 32, 2_050 * 32 - 1));
}

#[test]
fn a_short_run_is_kept_whole_and_needs_no_windows() {
    let recording = recorded(SMALL, 200);
    assert_eq!((recording.kept.len(), recording.stride, recording.windows.len()), (200, 1, 0));
}

#[test]
fn joined_intervals_still_know_how_long_members_collected() {
    let recording = recorded(SMALL, 50_000);
    assert!(recording.gc.gap_ns > 0);
    let busy: u64 = recording.gc.members.iter().flatten().map(|span| span.busy_ns).sum();
    assert_eq!(busy, 50_000 * 10_000);
    assert_eq!(recorded(SMALL, 90).gc.gap_ns, 0);
}

#[test]
fn a_slice_tells_its_median_its_99th_percentile_and_its_slowest() {
    let mut recorder = Recorder::new(SMALL);
    recorder.begin(SimTime(0), 1);
    for id in 0..200 {
        let response_us = if id < 100 { 10 } else { 1_000 };
        recorder.completion(&request(id, 0, if id == 199 { 50_000 } else { response_us }));
    }
    let slice = recorder.finish(SimTime(1)).levels[0].slices[0];
    let of = |us: u64| cell(us * 1_000);
    assert_eq!((slice.count, slice.p50, slice.p99, slice.max), (200, of(10), of(1_000), of(50_000)));
}

/// Eight cells an octave from 256 ns on.
#[test]
fn cells_begin_at_eighths_of_an_octave() {
    assert_eq!([0, 255, 256, 287, 288, 511, 512].map(cell), [0, 0, 0, 0, 1, 7, 8]);
    assert_eq!(cell(u64::MAX), 255);
}

/// Requests of an overloaded array complete in any order: parts stay open, and memory stays bounded all the same.
#[test]
fn parts_that_never_close_are_given_up() {
    let mut recorder = Recorder::new(Limits { window_part: 2, ..SMALL });
    recorder.begin(SimTime(0), 1);
    for id in (0..20_000).step_by(2).chain((1..20_000).step_by(2)) {
        recorder.completion(&request(id, id, 100 + id));
    }
    let recording = recorder.finish(SimTime(1));
    let in_windows = recording.kept.iter().filter(|kept| kept.why.bits() & Why::WINDOW.bits() != 0);
    assert!(in_windows.count() <= 12);
    for window in &recording.windows {
        let kept = recording.kept.iter().map(|kept| kept.completion.id);
        let inside = kept.filter(|id| (window.first..=window.last).contains(id)).count() as u64;
        assert_eq!(inside, window.last - window.first + 1, "every request of a window is kept");
    }
}
