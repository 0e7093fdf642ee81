//! Confidence intervals of a mean, by Student's t.
//!
//! The values must be independent of one another: replications with seeds of their own, or means of batches so long
//! that one hardly knows of the next. Source: Law, Simulation Modeling and Analysis, 9.4 and 9.5. Leaves out: any test
//! of that independence, and intervals of quantiles.

use serde::{Deserialize, Serialize};

/// A mean and the half-width of its 95% confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Mean of the samples. Unit: theirs.
    pub mean: f64,
    /// The true mean lies within `mean` plus or minus this with 95% confidence; null for fewer than two samples.
    /// Unit: theirs.
    pub half_width: Option<f64>,
    /// How many samples. Unit: count.
    pub samples: u32,
}

impl Interval {
    /// The interval of independent samples; `None` without any.
    pub fn of(samples: &[f64]) -> Option<Interval> {
        let n = samples.len() as f64;
        if samples.is_empty() {
            return None;
        }
        let mean = samples.iter().sum::<f64>() / n;
        let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
        let half_width = (samples.len() > 1).then(|| {
            let freedom = samples.len() as u32 - 1;
            student_t(freedom) * (squares / (n - 1.0) / n).sqrt()
        });
        Some(Interval { mean, half_width, samples: samples.len() as u32 })
    }

    /// The lower end; the mean itself where there is no interval.
    pub fn low(&self) -> f64 {
        self.mean - self.half_width.unwrap_or(0.0)
    }

    /// The upper end; the mean itself where there is no interval.
    pub fn high(&self) -> f64 {
        self.mean + self.half_width.unwrap_or(0.0)
    }

    /// Whether the interval leaves `value` out: a difference that leaves 0 out is significant at 5%. Without an
    /// interval nothing can be said, so `false`.
    pub fn excludes(&self, value: f64) -> bool {
        self.half_width.is_some() && (value < self.low() || value > self.high())
    }
}

/// What a variant differs in from a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// The variant less the baseline. Unit: theirs.
    pub difference: Interval,
    /// The same as a share of the baseline: -0.7 is 70% less; null where the baseline is 0. Unit: fraction.
    pub relative: Option<Interval>,
}

impl Contrast {
    /// The contrast of `variant` against `baseline`, the samples of each independent of one another. Paired, sample k
    /// of both saw the same (the same requests, or the same seed), and what they have in common cancels; otherwise
    /// they are taken as independent, with the degrees of freedom of the smaller set, which errs on the safe side.
    ///
    /// The share has the spread of `variant - ratio * baseline`, over the baseline's mean: the first order of the
    /// ratio of two means, so that the baseline's own spread counts (Cochran, Sampling Techniques, 6.3).
    ///
    /// `None` without samples, or if pairs are asked for and the samples are not equally many.
    pub fn of(variant: &[f64], baseline: &[f64], paired: bool) -> Option<Contrast> {
        let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
        let fewest = variant.len().min(baseline.len());
        if fewest == 0 || (paired && variant.len() != baseline.len()) {
            return None;
        }
        let (top, bottom) = (mean(variant), mean(baseline));
        // Half-width of the mean of variant - ratio * baseline.
        let half_width = |ratio: f64| {
            let squared_error = |samples: &mut dyn Iterator<Item = f64>| {
                let samples: Vec<f64> = samples.collect();
                let (n, mean) = (samples.len() as f64, mean(&samples));
                samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>() / (n - 1.0) / n
            };
            let squared_error = if paired {
                squared_error(&mut variant.iter().zip(baseline).map(|(v, b)| v - ratio * b))
            } else {
                squared_error(&mut variant.iter().copied())
                    + ratio * ratio * squared_error(&mut baseline.iter().copied())
            };
            (fewest > 1).then(|| student_t(fewest as u32 - 1) * squared_error.sqrt())
        };
        let samples = fewest as u32;
        let ratio = top / bottom;
        let relative = (bottom > 0.0).then(|| Interval {
            mean: ratio - 1.0,
            half_width: half_width(ratio).map(|half_width| half_width / bottom),
            samples,
        });
        Some(Contrast {
            difference: Interval { mean: top - bottom, half_width: half_width(1.0), samples },
            relative,
        })
    }
}

/// The 97.5% quantile of Student's t distribution: 1 to 30 degrees of freedom as tabulated, beyond that interpolated
/// in their reciprocal, to within 0.001.
///
/// # Panics
/// If `freedom` is 0: one sample has no spread.
pub fn student_t(freedom: u32) -> f64 {
    const FIRST: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    const NORMAL: f64 = 1.960;
    assert!(freedom > 0, "a t quantile needs at least one degree of freedom");
    match FIRST.get(freedom as usize - 1) {
        Some(&quantile) => quantile,
        None => NORMAL + (FIRST[29] - NORMAL) * 30.0 / f64::from(freedom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four samples worked by hand: mean 5, s = sqrt(20/3), half-width 3.182 s / 2.
    #[test]
    fn an_interval_is_that_of_the_textbook() {
        let interval = Interval::of(&[2.0, 4.0, 6.0, 8.0]).expect("samples");
        assert_eq!(interval.mean, 5.0);
        let half_width = interval.half_width.expect("four samples have a spread");
        assert!((half_width - 3.182 * (20.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-12);
        assert!(interval.excludes(0.8) && !interval.excludes(0.9));
    }

    #[test]
    fn one_sample_has_a_mean_and_says_nothing_more() {
        let interval = Interval::of(&[3.0]).expect("a sample");
        assert_eq!((interval.mean, interval.half_width, interval.excludes(0.0)), (3.0, None, false));
        assert_eq!(Interval::of(&[]), None);
    }

    /// Seeds differ by much more than policies do; only pairs show that the variant is 1 lower each time, give or take.
    #[test]
    fn pairs_show_what_the_spread_between_seeds_would_hide() {
        let (baseline, variant) = ([10.0, 20.0, 30.0, 40.0], [9.1, 18.9, 29.0, 39.0]);
        let paired = Contrast::of(&variant, &baseline, true).expect("samples");
        // Differences -0.9, -1.1, -1, -1: mean -1, s = sqrt(0.02/3), half-width 3.182 s / 2.
        let half_width = paired.difference.half_width.expect("four pairs");
        assert!((half_width - 3.182 * (0.02f64 / 3.0).sqrt() / 2.0).abs() < 1e-12, "{half_width}");
        assert!(paired.difference.excludes(0.0));
        let unpaired = Contrast::of(&variant, &baseline, false).expect("samples");
        assert!((unpaired.difference.mean - paired.difference.mean).abs() < 1e-12);
        assert!(!unpaired.difference.excludes(0.0), "{unpaired:?}");
        // Both sets have s^2 near 500/3: half-width 3.182 sqrt(2 s^2 / 4).
        assert!((unpaired.difference.half_width.expect("spread") - 29.05).abs() < 0.3, "{unpaired:?}");
    }

    /// A variant that is always the same share of a wildly varying baseline is that share, without any doubt.
    #[test]
    fn a_share_of_the_baseline_varies_with_what_is_not_proportional_to_it() {
        let relative = |variant: &[f64], baseline: &[f64], paired| {
            Contrast::of(variant, baseline, paired).and_then(|contrast| contrast.relative)
        };
        let exact = relative(&[3.0, 6.0, 9.0], &[10.0, 20.0, 30.0], true).expect("a baseline");
        assert!((exact.mean + 0.7).abs() < 1e-12 && exact.half_width.expect("spread") < 1e-12);
        // Unpaired: sqrt(3^2 + 0.3^2 10^2) / sqrt(3) / 20 x 4.303.
        let apart = relative(&[3.0, 6.0, 9.0], &[10.0, 20.0, 30.0], false).expect("a baseline");
        assert!((apart.half_width.expect("spread") - 4.303 * (18.0f64 / 3.0).sqrt() / 20.0).abs() < 1e-12);
        assert_eq!(relative(&[3.0], &[0.0], true), None);
    }

    #[test]
    fn pairs_need_a_partner_and_one_pair_has_no_spread() {
        assert_eq!(Contrast::of(&[1.0, 2.0], &[1.0], true), None);
        assert_eq!(Contrast::of(&[], &[1.0], false), None);
        let one = Contrast::of(&[1.0], &[2.0], true).expect("a pair").difference;
        assert_eq!((one.mean, one.half_width, one.samples), (-1.0, None, 1));
    }

    /// Tabulated values beyond 30 degrees of freedom: 2.021 at 40, 2.000 at 60, 1.980 at 120.
    #[test]
    fn quantiles_beyond_the_table_are_close() {
        for (freedom, quantile) in [(40, 2.021), (60, 2.000), (120, 1.980), (1_000_000, 1.960)] {
            assert!((student_t(freedom) - quantile).abs() < 0.0015, "{freedom}: {}", student_t(freedom));
        }
    }
}
