use super::*;

fn of(values: impl IntoIterator<Item = u64>) -> Distribution {
    let mut distribution = Distribution::new();
    values.into_iter().for_each(|value| distribution.record(value));
    distribution
}

#[test]
fn moments_and_range_are_exact() {
    let summary = of([2, 4, 4, 4, 5, 5, 7, 9]).summary();
    assert_eq!((summary.count, summary.mean, summary.min, summary.max), (8, Some(5.0), Some(2), Some(9)));
    let stddev = (32.0f64 / 7.0).sqrt();
    assert_eq!((summary.stddev, summary.cv), (Some(stddev), Some(stddev / 5.0)));
}

#[test]
fn nothing_is_said_without_samples() {
    assert_eq!(of([]).summary(), DistributionSummary::default());
    assert_eq!(of([]).cdf_points(), []);
}

#[test]
fn one_sample_has_a_mean_but_no_deviation() {
    let summary = of([7]).summary();
    assert_eq!((summary.mean, summary.min, summary.max), (Some(7.0), Some(7), Some(7)));
    assert_eq!((summary.stddev, summary.cv, summary.p50), (None, None, None));
}

#[test]
fn zeroes_have_a_deviation_but_no_coefficient_of_variation() {
    let summary = of([0, 0]).summary();
    assert_eq!((summary.mean, summary.stddev, summary.cv), (Some(0.0), Some(0.0), None));
}

#[test]
fn a_percentile_needs_ten_samples_beyond_it() {
    type Pick = fn(&DistributionSummary) -> Option<u64>;
    let edges: [(u64, Pick); 6] = [
        (20, |s| s.p50),
        (40, |s| s.p75),
        (200, |s| s.p95),
        (1_000, |s| s.p99),
        (10_000, |s| s.p999),
        (100_000, |s| s.p9999),
    ];
    for (edge, pick) in edges {
        assert_eq!(pick(&of(vec![5; edge as usize - 1]).summary()), None, "one sample short of {edge}");
        assert_eq!(pick(&of(vec![5; edge as usize]).summary()), Some(5), "at {edge}");
    }
}

#[test]
fn a_percentile_is_the_sample_of_rank_ceil_qn() {
    // 1..=1000 are exact cells of the histogram: p50 is the 500th, p95 the 950th, p99 the 990th value.
    let summary = of((1..=1000).rev()).summary();
    assert_eq!(
        (summary.p50, summary.p75, summary.p95, summary.p99, summary.p999),
        (Some(500), Some(750), Some(950), Some(990), None)
    );
    // At 1001 the rank 500.5 rounds up.
    assert_eq!(of(1..=1001).summary().p50, Some(501));
    // 99,990 small samples and 10 large ones: rank 99,990 is the last small one, and one fewer is a large one.
    let tail =
        |small: usize| of(std::iter::repeat_n(1, small).chain(std::iter::repeat_n(1_000, 100_000 - small)));
    assert_eq!(tail(99_990).summary().p9999, Some(1));
    assert_eq!(tail(99_989).summary().p9999, Some(1_000));
}

#[test]
fn a_percentile_is_at_most_a_thousandth_too_high() {
    // 10 us to 100 ms; the true p50 and p99 are known.
    let summary = of((1..=10_000).map(|i| i * 10_007)).summary();
    for (measured, truth) in [(summary.p50, 5_000 * 10_007), (summary.p99, 9_900 * 10_007)] {
        let measured = measured.unwrap();
        assert!(measured >= truth && measured - truth <= truth / 1_000, "{measured} for {truth}");
    }
    assert_eq!(of([1_000_003; 20]).summary().p50, Some(1_000_003), "never above the maximum");
}

#[test]
fn the_largest_duration_is_held() {
    let summary = of([u64::MAX]).summary();
    assert_eq!((summary.min, summary.max), (Some(u64::MAX), Some(u64::MAX)));
    assert_eq!(of([u64::MAX]).cdf_points(), [(u64::MAX, 1.0)]);
}

#[test]
fn the_order_of_recording_changes_nothing() {
    let values: Vec<u64> = (0..5_000u64).map(|i| i * i * 37 + 1).collect();
    let (forward, backward) = (of(values.iter().copied()), of(values.iter().rev().copied()));
    assert_eq!(forward.summary(), backward.summary());
    assert_eq!(forward.cdf_points(), backward.cdf_points());
}

#[test]
fn a_cdf_of_few_values_is_those_values() {
    assert_eq!(of([10, 10, 10, 1_000]).cdf_points(), [(10, 0.75), (1_000, 1.0)]);
}

#[test]
fn a_cdf_of_many_values_covers_body_and_tail() {
    // A body of 10,000 samples over 100 us .. 200 us and 20 stragglers up to 2 s.
    let body = (0..10_000).map(|i| 100_000 + i * 10);
    let points = of(body.chain((1..=20).map(|i| i * 100_000_000))).cdf_points();
    assert!((100..=194).contains(&points.len()), "{} points", points.len());
    assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    assert_eq!(points.last(), Some(&(2_000_000_000, 1.0)));
    assert!(points.windows(2).all(|pair| pair[1].1 - pair[0].1 < 0.03), "no jump in the body");
    assert!(points.iter().filter(|point| point.0 > 1_000_000).count() >= 15, "the stragglers are drawn");
}

#[test]
fn octaves_are_evenly_divided() {
    assert_eq!(octave_position(0), 0);
    assert_eq!(octave_position(1), 0);
    assert_eq!(octave_position(3), 1024 + 512);
    assert_eq!(octave_position(1 << 20), 20 << 10);
    assert_eq!(octave_position(u64::MAX), (64 << 10) - 1);
}
