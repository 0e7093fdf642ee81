//! Confidence intervals of a mean, by Student's t.
//!
//! Samples are of two kinds. *Independent* ones are replications with seeds of their own. *Successive* ones are means of
//! successive batches of one run, of which neighbours may still be alike: where their correlation at lag 1 (corrected for
//! its bias of 1/n) is positive, the variance of their mean is that of a first-order autoregressive series, (1 + r) /
//! (1 - r) times as large, and the degrees of freedom are as many times fewer.
//!
//! Sources: Law, Simulation Modeling and Analysis, 9.4 and 9.5; Tafazzoli et al., Skart: a skewness- and
//! autoregression-adjusted batch-means procedure, IIE Transactions 43 (2011), from which the correction is. Leaves out: its
//! adjustment for skewness.

use serde::{Deserialize, Serialize};

use crate::student::student_t;

/// Probability with which a 95% interval misses.
pub(crate) const ERROR: f64 = 0.05;
/// Batches that are more alike than this are too short for any correction.
const CORRELATION_MAX: f64 = 0.9;

/// A mean and the half-width of its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Mean of the samples. Unit: theirs.
    pub mean: f64,
    /// The true mean lies within `mean` plus or minus this with the stated confidence, 95% if none is; null for fewer than
    /// two samples. Unit: theirs.
    pub half_width: Option<f64>,
    /// How many samples. Unit: count.
    pub samples: u32,
}

/// How samples hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// None knows of another.
    Independent,
    /// Each may be like the one before.
    Successive,
}

/// How far the mean of samples spreads.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    squared_error: f64,
    freedom: f64,
}

impl Spread {
    /// Of at least two samples.
    fn of(samples: &[f64], kind: Kind) -> Option<Spread> {
        let n = samples.len() as f64;
        if samples.len() < 2 {
            return None;
        }
        let mean = mean(samples);
        let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
        let inflation = match kind {
            Kind::Successive if squares > 0.0 => inflation(samples, mean, squares),
            _ => 1.0,
        };
        Some(Spread {
            squared_error: squares / (n - 1.0) / n * inflation,
            freedom: (n / inflation - 1.0).max(1.0),
        })
    }

    /// Of the difference of two independent means; the fewer degrees of freedom err on the safe side.
    fn and(self, other: Spread, weight: f64) -> Spread {
        Spread {
            squared_error: self.squared_error + weight * weight * other.squared_error,
            freedom: self.freedom.min(other.freedom),
        }
    }

    fn half_width(self, error: f64) -> f64 {
        student_t(self.freedom, error) * self.squared_error.sqrt()
    }
}

/// By how much correlation of neighbours enlarges the variance of the mean.
fn inflation(samples: &[f64], mean: f64, squares: f64) -> f64 {
    let products: f64 = samples.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let correlation = (products / squares + 1.0 / samples.len() as f64).clamp(0.0, CORRELATION_MAX);
    (1.0 + correlation) / (1.0 - correlation)
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

impl Interval {
    /// The 95% interval of independent samples; `None` without any.
    pub fn of(samples: &[f64]) -> Option<Interval> {
        Interval::with(samples, Kind::Independent, ERROR)
    }

    /// The interval that misses with probability `error`.
    pub(crate) fn with(samples: &[f64], kind: Kind, error: f64) -> Option<Interval> {
        let half_width = Spread::of(samples, kind).map(|spread| spread.half_width(error));
        (!samples.is_empty()).then(|| Interval {
            mean: mean(samples),
            half_width,
            samples: samples.len() as u32,
        })
    }

    /// The lower end; the mean itself where there is no interval.
    pub fn low(&self) -> f64 {
        self.mean - self.half_width.unwrap_or(0.0)
    }

    /// The upper end; the mean itself where there is no interval.
    pub fn high(&self) -> f64 {
        self.mean + self.half_width.unwrap_or(0.0)
    }

    /// Whether the interval leaves `value` out: a difference that leaves 0 out is significant. Without an interval nothing
    /// can be said, so `false`.
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
    /// The contrast of `variant` against `baseline` with 95% confidence, the samples of each independent of one another.
    /// Paired, sample k of both saw the same (the same requests, or the same seed), and what they have in common cancels;
    /// otherwise they are taken as independent, with the degrees of freedom of the smaller set, which errs on the safe
    /// side.
    ///
    /// The share has the spread of `variant - ratio * baseline`, over the baseline's mean: the first order of the
    /// ratio of two means, so that the baseline's own spread counts (Cochran, Sampling Techniques, 6.3).
    ///
    /// `None` without samples, or if pairs are asked for and the samples are not equally many.
    pub fn of(variant: &[f64], baseline: &[f64], paired: bool) -> Option<Contrast> {
        Contrast::with(variant, baseline, paired, Kind::Independent, ERROR)
    }

    /// Whether this is more than chance: the intervals of the difference and of the share leave 0 out. The share's is wider where the baseline
    /// spreads, and it is the one that people see. `None` without an interval.
    pub fn is_significant(&self) -> Option<bool> {
        self.difference.half_width?;
        let share = self.relative.filter(|relative| relative.half_width.is_some());
        Some(self.difference.excludes(0.0) && share.is_none_or(|relative| relative.excludes(0.0)))
    }

    /// The contrast whose intervals miss with probability `error`.
    pub(crate) fn with(
        variant: &[f64],
        baseline: &[f64],
        paired: bool,
        kind: Kind,
        error: f64,
    ) -> Option<Contrast> {
        let fewest = variant.len().min(baseline.len());
        if fewest == 0 || (paired && variant.len() != baseline.len()) {
            return None;
        }
        let (top, bottom) = (mean(variant), mean(baseline));
        // Half-width of the mean of variant - ratio * baseline.
        let half_width = |ratio: f64| {
            let spread = if paired {
                let differences: Vec<f64> =
                    variant.iter().zip(baseline).map(|(v, b)| v - ratio * b).collect();
                Spread::of(&differences, kind)?
            } else {
                Spread::of(variant, kind)?.and(Spread::of(baseline, kind)?, ratio)
            };
            Some(spread.half_width(error))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Four samples worked by hand: mean 5, s = sqrt(20/3), half-width 3.182 s / 2.
    #[test]
    fn an_interval_is_that_of_the_textbook() {
        let interval = Interval::of(&[2.0, 4.0, 6.0, 8.0]).expect("samples");
        assert_eq!(interval.mean, 5.0);
        let half_width = interval.half_width.expect("four samples have a spread");
        assert!((half_width - 3.1824 * (20.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-3);
        assert!(interval.excludes(0.8) && !interval.excludes(0.9));
    }

    #[test]
    fn one_sample_has_a_mean_and_says_nothing_more() {
        let interval = Interval::of(&[3.0]).expect("a sample");
        assert_eq!((interval.mean, interval.half_width, interval.excludes(0.0)), (3.0, None, false));
        assert_eq!(Interval::of(&[]), None);
    }

    /// Deviations from the mean are -1.5, -1.5, -0.5, -0.5, 0.5, 0.5, 1.5, 1.5: squares 10, products of neighbours 6.25.
    #[test]
    fn neighbours_that_are_alike_widen_the_interval() {
        let pairs = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0];
        let correlation: f64 = 6.25 / 10.0 + 1.0 / 8.0;
        let factor = (1.0 + correlation) / (1.0 - correlation);
        let spread = Spread::of(&pairs, Kind::Successive).expect("samples");
        assert!((spread.squared_error - 10.0 / 7.0 / 8.0 * factor).abs() < 1e-12, "{spread:?}");
        assert_eq!(spread.freedom, (8.0 / factor - 1.0).max(1.0));
        let apart = [1.0, 4.0, 2.0, 3.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(Spread::of(&apart, Kind::Successive), Spread::of(&apart, Kind::Independent));
    }

    #[test]
    fn a_smaller_error_is_a_wider_interval() {
        let half_width = |error: f64| {
            Interval::with(&[2.0, 4.0, 6.0, 8.0], Kind::Independent, error).and_then(|i| i.half_width)
        };
        // t with 3 degrees of freedom: 3.182 and 5.841.
        let ratio = half_width(0.01).zip(half_width(0.05)).map(|(wide, narrow)| wide / narrow);
        assert!((ratio.expect("both") - 5.841 / 3.182).abs() < 1e-3);
    }

    /// Seeds differ by much more than policies do; only pairs show that the variant is 1 lower each time, give or take.
    #[test]
    fn pairs_show_what_the_spread_between_seeds_would_hide() {
        let (baseline, variant) = ([10.0, 20.0, 30.0, 40.0], [9.1, 18.9, 29.0, 39.0]);
        let paired = Contrast::of(&variant, &baseline, true).expect("samples");
        // Differences -0.9, -1.1, -1, -1: mean -1, s = sqrt(0.02/3), half-width 3.182 s / 2.
        let half_width = paired.difference.half_width.expect("four pairs");
        assert!((half_width - 3.1824 * (0.02f64 / 3.0).sqrt() / 2.0).abs() < 1e-4, "{half_width}");
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
        assert!((apart.half_width.expect("spread") - 4.3027 * (18.0f64 / 3.0).sqrt() / 20.0).abs() < 1e-4);
        assert_eq!(relative(&[3.0], &[0.0], true), None);
    }

    #[test]
    fn pairs_need_a_partner_and_one_pair_has_no_spread() {
        assert_eq!(Contrast::of(&[1.0, 2.0], &[1.0], true), None);
        assert_eq!(Contrast::of(&[], &[1.0], false), None);
        let one = Contrast::of(&[1.0], &[2.0], true).expect("a pair").difference;
        assert_eq!((one.mean, one.half_width, one.samples), (-1.0, None, 1));
    }

    /// 1.0 +-0.9 less than 5.0, which spreads: 20% +-25 less, which may be chance.
    #[test]
    fn what_may_be_chance_as_a_share_is_not_significant() {
        let baseline = [7.45, 7.45, 2.55, 2.55];
        let contrast = Contrast::of(&[5.96, 6.94, 1.06, 2.04], &baseline, true).expect("samples");
        assert!(contrast.difference.excludes(0.0), "{contrast:?}");
        assert!(!contrast.relative.expect("a share").excludes(0.0), "{contrast:?}");
        assert_eq!(contrast.is_significant(), Some(false));
        let sure = Contrast::of(&[1.0, 1.1, 0.9, 1.0], &[5.0, 5.1, 4.9, 5.0], true).expect("samples");
        assert_eq!(sure.is_significant(), Some(true));
        assert_eq!(Contrast::of(&[1.0], &[2.0], true).expect("samples").is_significant(), None);
    }
}
