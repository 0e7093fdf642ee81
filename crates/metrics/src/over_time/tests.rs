use super::*;
use crate::BUCKETS_MAX;

/// The first width of a bucket. Unit: ns.
const WIDTH: u64 = 1 << 14;

fn levels(channels_in_gc: u32, empty_blocks: u64, queue_depth: u64, victims_erased: u64) -> Levels {
    Levels { channels_in_gc, empty_blocks, queue_depth, victims_erased, ..Levels::default() }
}

/// A device of three channels that stood so at these times, in a window from `from` to `end`.
fn watched(from: u64, told: &[(u64, Levels)], end: u64) -> OverTimeReport {
    let mut over_time = OverTime::new(3);
    let (before, within): (Vec<_>, Vec<_>) = told.iter().partition(|(time, _)| *time < from);
    before.iter().for_each(|(time, levels)| over_time.levels(SimTime(*time), levels));
    over_time.window(SimTime(from));
    within.iter().for_each(|(time, levels)| over_time.levels(SimTime(*time), levels));
    over_time.report(SimTime(end))
}

/// Two channels collect from a quarter of the first bucket to its half, one of them up to the middle of the second; the
/// window ends in the middle of the third.
#[test]
fn known_beginnings_and_ends_give_exact_means_and_shares() {
    let told = [
        (0, levels(0, 10, 0, 7)),
        (WIDTH / 4, levels(2, 9, 0, 7)),
        (WIDTH / 2, levels(1, 10, 4, 8)),
        (WIDTH * 3 / 2, levels(0, 12, 0, 10)),
    ];
    for from in [1, 1_000_000] {
        let moved: Vec<_> = told.iter().map(|(time, levels)| (from + time, *levels)).collect();
        let moved = [&[(from - 1, told[0].1)], &moved[1..]].concat();
        let report = watched(from, &moved, from + WIDTH * 5 / 2);
        assert_eq!(report.bucket_ns, WIDTH);
        assert_eq!(report.channels_in_gc, [1.0, 0.5, 0.0]);
        assert_eq!(report.channels_in_gc_fraction, [0.5, 0.4, 0.1, 0.0]);
        assert_eq!(report.queue_depth, [2.0, 2.0, 0.0]);
        assert_eq!((report.queue_depth_mean, report.queue_depth_max), (Some(1.6), 4));
        assert_eq!(report.empty_blocks, [9.75, 11.0, 12.0]);
        assert_eq!(report.victims_erased, [1, 2, 0], "not the 7 of before");
    }
}

/// What was told before the window is how things stand when it begins; what happened then is not counted.
#[test]
fn the_window_begins_as_things_stand() {
    let told =
        [(5, levels(1, 40, 3, 100)), (10, levels(1, 39, 3, 101)), (20 + WIDTH / 2, levels(1, 39, 3, 103))];
    let report = watched(20, &told, 20 + WIDTH);
    assert_eq!((&report.empty_blocks, report.empty_blocks_least), (&vec![39.0], 39));
    assert_eq!((report.queue_depth, report.victims_erased), (vec![3.0], vec![2]));
    assert_eq!(report.channels_in_gc_fraction, [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn a_victim_erased_when_the_window_ends_is_in_its_last_bucket() {
    let told =
        [(WIDTH, levels(0, 0, 0, 1)), (2 * WIDTH - 1, levels(0, 0, 0, 3)), (2 * WIDTH, levels(0, 0, 0, 6))];
    assert_eq!(watched(0, &told, 2 * WIDTH).victims_erased, [0, 6]);
    assert_eq!(watched(0, &told, 2 * WIDTH + 1).victims_erased, [0, 3, 3]);
}

/// However steep, a steady decline has no variance; ups and downs of 2 blocks have that of +-2 a bucket.
#[test]
fn the_variance_is_of_the_rate_and_depends_on_the_width() {
    let fall: Vec<_> = (0..9).map(|bucket| (bucket * WIDTH, levels(0, 1_000 - 100 * bucket, 0, 0))).collect();
    let report = watched(0, &fall, 8 * WIDTH);
    assert_eq!(report.empty_blocks[..3], [1_000.0, 900.0, 800.0]);
    let widths: Vec<u64> = report.empty_blocks_change_variance_by_width.iter().map(|pair| pair.0).collect();
    assert_eq!(widths, [WIDTH, 2 * WIDTH], "of two buckets of four there is one change");
    assert!(report.empty_blocks_change_variance_by_width.iter().all(|pair| pair.1 < 1e-6));

    let waves: Vec<_> =
        (0..8).map(|bucket| (bucket * WIDTH, levels(0, 10 - 2 * (bucket % 2), 0, 0))).collect();
    let report = watched(0, &waves, 8 * WIDTH);
    // Seven changes, four of them down.
    let blocks = 4.0 - (2.0f64 / 7.0).powi(2);
    let seconds = WIDTH as f64 / 1e9;
    let variance = report.empty_blocks_change_variance.expect("seven changes");
    assert!((variance * seconds * seconds - blocks).abs() < 1e-9, "{variance}");
    assert_eq!(report.empty_blocks_change_variance_by_width[1], (2 * WIDTH, 0.0));
}

#[test]
fn two_changes_are_the_fewest_that_vary() {
    let told = [(0, levels(0, 5, 0, 0)), (WIDTH, levels(0, 4, 0, 0))];
    let variance = |end| watched(0, &told, end).empty_blocks_change_variance;
    assert_eq!((variance(3 * WIDTH - 1), variance(3 * WIDTH).is_some()), (None, true));
}

/// Ten hours of changes every few hundred microseconds: as much memory as for the first of them, and no time is lost.
#[test]
fn a_long_run_is_held_in_as_many_buckets_as_a_short_one() {
    let mut over_time = OverTime::new(3);
    over_time.window(SimTime(77));
    let (mut now, mut queued, mut depth) = (77, 0u128, 0u64);
    for change in 1..200_000u64 {
        let length = 1 + change * 2_654_435_761 % 4_000 * change;
        queued += u128::from(depth) * u128::from(length);
        now += length;
        depth = change * 40_503 % 1_000;
        over_time.levels(SimTime(now), &levels((change % 4) as u32, change % 97, depth, change));
    }
    let window = over_time.window.as_ref().expect("a window");
    let capacity = window.queue.whole().0.len().max(window.victims.counts(1).len());
    assert!(capacity <= BUCKETS_MAX && now > 36_000_000_000_000, "{capacity} {now}");
    let report = over_time.report(SimTime(now));
    let (buckets, width) = (report.queue_depth.len(), report.bucket_ns);
    assert!((BUCKETS_MAX / 2..=BUCKETS_MAX).contains(&buckets), "{buckets}");
    assert_eq!(report.queue_depth_mean, Some(queued as f64 / (now - 77) as f64));
    assert_eq!(report.victims_erased.iter().sum::<u64>(), 199_999);
    let last = (now - 77) - (buckets as u64 - 1) * width;
    let lengths = (0..buckets).map(|bucket| if bucket + 1 == buckets { last } else { width });
    let sum: f64 = report.queue_depth.iter().zip(lengths).map(|(mean, length)| mean * length as f64).sum();
    assert!((sum / queued as f64 - 1.0).abs() < 1e-5, "thousandths apart at most");
    for series in [&report.channels_in_gc, &report.empty_blocks] {
        assert_eq!(series.len(), buckets);
    }
    assert!((report.channels_in_gc_fraction.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

/// Whatever happened, buckets of windows of one length are alike.
#[test]
fn the_width_follows_from_the_length_alone() {
    for (length, buckets, width) in [
        (1, 1, WIDTH),
        (128 * WIDTH - 1, 128, WIDTH),
        (128 * WIDTH, 64, 2 * WIDTH),
        (200 * WIDTH, 100, 2 * WIDTH),
    ] {
        let busy: Vec<_> = (0..2_000).map(|n| (n * length / 2_000, levels(0, n % 7, n % 5, n))).collect();
        for told in [&[(0, levels(1, 2, 3, 4))][..], &busy[..]] {
            let report = watched(0, told, length);
            assert_eq!((report.bucket_ns, report.empty_blocks.len()), (width, buckets), "{length}");
            assert_eq!((report.victims_erased.len(), report.queue_depth.len()), (buckets, buckets));
        }
    }
}

#[test]
fn without_a_window_or_time_there_is_nothing_to_tell() {
    let mut over_time = OverTime::new(3);
    over_time.levels(SimTime(9), &levels(1, 2, 3, 4));
    assert_eq!(over_time.report(SimTime(10)), OverTimeReport::default());
    let empty = watched(10, &[], 10);
    assert!(empty.channels_in_gc.is_empty() && empty.channels_in_gc_fraction.is_empty());
    assert_eq!((empty.queue_depth_mean, empty.bucket_ns), (None, WIDTH));
}

/// A request of the warm-up may outlast the measured ones.
#[test]
fn what_is_told_after_the_end_makes_the_window_longer() {
    let report = watched(0, &[(0, levels(0, 0, 2, 0)), (WIDTH, levels(0, 0, 0, 0))], WIDTH / 2);
    assert_eq!(report.queue_depth, [2.0]);
}

/// Three of four slots hold a page until the middle of the second bucket, all of them after that.
#[test]
fn a_write_cache_is_as_full_as_its_slots_are_held() {
    let cached = |cached_pages| Levels { cached_pages, cache_slots: 4, ..Levels::default() };
    let report = watched(10, &[(5, cached(3)), (10 + WIDTH * 3 / 2, cached(4))], 10 + WIDTH * 5 / 2);
    assert_eq!(report.write_cache_filled, [0.75, 0.875, 1.0].map(Some));
    assert_eq!(report.queue_depth, [0.0, 0.0, 0.0]);
    assert!(watched(0, &[(5, levels(0, 1, 2, 3))], WIDTH).write_cache_filled.is_empty(), "it has none");
}

/// A spare takes a place in the middle of the second bucket, holds three of four slots from then on, and fails at three quarters of the fourth: the
/// first bucket and the last have no share, and the shares of the others are means of the time in between.
#[test]
fn a_device_has_a_share_of_slots_held_while_it_is_a_part_of_the_array() {
    let cached = |cached_pages, cache_slots| Levels { cached_pages, cache_slots, ..Levels::default() };
    let told = [(5, cached(0, 0)), (10 + WIDTH * 3 / 2, cached(3, 4)), (10 + WIDTH * 15 / 4, cached(0, 0))];
    let report = watched(10, &told, 10 + WIDTH * 5);
    assert_eq!(report.write_cache_filled, [None, Some(0.75), Some(0.75), Some(0.75), None]);
    assert!(watched(10, &[(5, cached(0, 0))], 10 + WIDTH).write_cache_filled.is_empty());
}
