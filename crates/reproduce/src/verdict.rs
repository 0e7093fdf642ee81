//! The rules by which a measurement is held against a claim.
//!
//! A tolerance is ours and was set before measuring; the interval is that of the mean over seeds, 95%.
//!
//! ```text
//!   no effect        accepted: claimed value and tolerance
//!      |              [=======x=======]
//!      |                 |--o--|             within: the whole interval lies in what is accepted
//!      |     |--o--|                         direction only: it lies on the claimed side of no effect
//!   |--o--|                                  not reproduced: it does not
//! ```
//!
//! A factor is judged on its logarithm: twice as much is as far off as half as much, and one seed with a large ratio does not
//! stretch the interval to where no ratio can be.

use harmonia_metrics::Interval;

/// What a claim lets one expect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expected {
    /// A value from `low` to `high`. `no_effect` is what the value would be if there were nothing to claim; `None`
    /// where that is what is claimed.
    Between {
        /// Lowest accepted.
        low: f64,
        /// Highest accepted.
        high: f64,
        /// Value of no effect.
        no_effect: Option<f64>,
    },
    /// A ratio from `low` to `high`, which no effect would make 1. Its mean over seeds is geometric. `high` may be infinite.
    Factor {
        /// Lowest accepted.
        low: f64,
        /// Highest accepted.
        high: f64,
    },
    /// Any value above this; no figure is claimed.
    Above(f64),
    /// Any value below this; no figure is claimed.
    Below(f64),
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measurement lies within the tolerance.
    Within,
    /// It has the claimed direction and not the claimed size.
    DirectionOnly,
    /// It has not.
    NotReproduced,
    /// It cannot be measured by this simulator.
    NotReproducibleHere,
    /// Its runs are missing.
    NotMeasured,
}

impl Verdict {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Within => "within",
            Verdict::DirectionOnly => "direction only",
            Verdict::NotReproduced => "not reproduced",
            Verdict::NotReproducibleHere => "not reproducible here",
            Verdict::NotMeasured => "not measured",
        }
    }
}

impl Expected {
    /// `value`, give or take `tolerance`.
    pub fn about(value: f64, tolerance: f64, no_effect: f64) -> Expected {
        Expected::Between { low: value - tolerance, high: value + tolerance, no_effect: Some(no_effect) }
    }

    /// `value`, at most `factor` times more or less; a ratio that no effect would make 1.
    pub fn within_factor(value: f64, factor: f64) -> Expected {
        Expected::Factor { low: value / factor, high: value * factor }
    }

    /// `value`, give or take a share of its logarithm; a ratio that no effect would make 1. With a share below 1 no effect is
    /// never accepted.
    pub fn within_logarithm(value: f64, share: f64) -> Expected {
        let ends = [1.0 - share, 1.0 + share].map(|part| libm::pow(value, part));
        Expected::Factor { low: ends[0].min(ends[1]), high: ends[0].max(ends[1]) }
    }

    /// No difference, give or take `tolerance`.
    pub fn same(value: f64, tolerance: f64) -> Expected {
        Expected::Between { low: value - tolerance, high: value + tolerance, no_effect: None }
    }

    /// Holds a measurement against it.
    pub fn judge(&self, measured: &Interval) -> Verdict {
        self.judge_ends(measured.low(), measured.high())
    }

    /// Holds a measurement against it whose interval has these ends.
    pub fn judge_ends(&self, bottom: f64, top: f64) -> Verdict {
        let between = |low: f64, high: f64, no_effect: Option<(f64, bool)>| {
            let on_the_claimed_side = |(none, rises)| if rises { bottom > none } else { top < none };
            if bottom >= low && top <= high {
                Verdict::Within
            } else if no_effect.is_some_and(on_the_claimed_side) {
                Verdict::DirectionOnly
            } else {
                Verdict::NotReproduced
            }
        };
        match *self {
            Expected::Between { low, high, no_effect } => {
                between(low, high, no_effect.map(|none| (none, low + high > 2.0 * none)))
            }
            // The middle of a factor is that of its logarithm.
            Expected::Factor { low, high } => between(low, high, Some((1.0, low * high > 1.0))),
            Expected::Above(bound) if bottom > bound => Verdict::Within,
            Expected::Below(bound) if top < bound => Verdict::Within,
            Expected::Above(_) | Expected::Below(_) => Verdict::NotReproduced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(mean: f64, half_width: f64) -> Interval {
        Interval { mean, half_width: Some(half_width), samples: 3 }
    }

    #[test]
    fn the_whole_interval_must_be_accepted() {
        let claim = Expected::about(71.0, 8.0, 0.0);
        assert_eq!(claim.judge(&interval(73.0, 6.0)), Verdict::Within);
        assert_eq!(claim.judge(&interval(73.0, 6.1)), Verdict::DirectionOnly, "its upper end is not");
        assert_eq!(claim.judge(&interval(89.0, 1.0)), Verdict::DirectionOnly);
    }

    #[test]
    fn a_direction_needs_an_interval_that_leaves_no_effect_out() {
        let rise = Expected::about(3.5, 1.0, 1.0);
        assert_eq!(rise.judge(&interval(1.2, 0.1)), Verdict::DirectionOnly);
        assert_eq!(rise.judge(&interval(1.2, 0.2)), Verdict::NotReproduced);
        assert_eq!(rise.judge(&interval(0.5, 0.1)), Verdict::NotReproduced, "the other direction");
        let fall = Expected::about(-79.0, 10.0, 0.0);
        assert_eq!(fall.judge(&interval(-5.0, 4.0)), Verdict::DirectionOnly);
        assert_eq!(fall.judge(&interval(5.0, 4.0)), Verdict::NotReproduced);
    }

    /// Half is as far off as double.
    #[test]
    fn a_ratio_may_be_off_by_a_factor_either_way() {
        let claim = Expected::within_factor(4.0, 2.0);
        assert_eq!(claim.judge(&interval(2.1, 0.1)), Verdict::Within);
        assert_eq!(claim.judge(&interval(7.9, 0.1)), Verdict::Within);
        assert_eq!(claim.judge(&interval(1.9, 0.1)), Verdict::DirectionOnly);
        assert_eq!(claim.judge(&interval(0.5, 0.1)), Verdict::NotReproduced);
    }

    /// Half of an effect is accepted and none is not, however small the effect.
    #[test]
    fn a_share_of_a_logarithm_never_accepts_no_effect() {
        for (value, low, high) in [(4.0, 2.0, 8.0), (1.21, 1.1, 1.331), (0.25, 0.125, 0.5)] {
            let Expected::Factor { low: found, high: most } = Expected::within_logarithm(value, 0.5) else {
                unreachable!()
            };
            assert!((found - low).abs() < 1e-9 && (most - high).abs() < 1e-9, "{value}: {found} to {most}");
            let claim = Expected::within_logarithm(value, 0.5);
            assert_eq!(claim.judge(&interval(1.0, 0.0)), Verdict::NotReproduced);
        }
        assert_eq!(Expected::within_logarithm(0.25, 0.5).judge(&interval(0.8, 0.1)), Verdict::DirectionOnly);
    }

    #[test]
    fn a_factor_without_an_upper_end_has_a_direction() {
        let many = Expected::Factor { low: 10.0, high: f64::INFINITY };
        assert_eq!(many.judge(&interval(30.0, 5.0)), Verdict::Within);
        assert_eq!(many.judge(&interval(7.0, 5.0)), Verdict::DirectionOnly);
        assert_eq!(many.judge(&interval(1.5, 0.6)), Verdict::NotReproduced);
    }

    #[test]
    fn a_claim_of_no_difference_has_no_direction() {
        let same = Expected::same(1.0, 0.03);
        assert_eq!(same.judge(&interval(1.01, 0.019)), Verdict::Within);
        assert_eq!(same.judge(&interval(1.05, 0.01)), Verdict::NotReproduced);
    }

    #[test]
    fn a_claim_without_a_figure_is_settled_by_the_seeds_or_not() {
        assert_eq!(Expected::Above(0.0).judge(&interval(1.0, 0.9)), Verdict::Within);
        assert_eq!(Expected::Above(0.0).judge(&interval(1.0, 1.0)), Verdict::NotReproduced);
        assert_eq!(Expected::Below(0.0).judge(&interval(-1.0, 0.9)), Verdict::Within);
        assert_eq!(Expected::Below(0.0).judge(&interval(1.0, 0.9)), Verdict::NotReproduced);
    }

    /// Nothing can be said of the spread of one seed: its value is held against the claim as it is.
    #[test]
    fn one_seed_is_judged_by_its_value() {
        let one = Interval { mean: 70.0, half_width: None, samples: 1 };
        assert_eq!(Expected::about(71.0, 8.0, 0.0).judge(&one), Verdict::Within);
    }
}
