//! Whether two changes add up: each alone, both together, and what both would give if neither knew of the other.
//!
//! ```text
//!                 without B   with B
//!   without A     base        second         independent:  both = first x second / base
//!   with A        first       both           ratio:        both x base / (first x second)
//! ```
//!
//! A change is a share of what it finds, so independent changes multiply: of two that each leave 40%, both leave 16%.
//! A `ratio` of 1 is independence; above it the two win less together than each promised alone, below it more.
//! Its interval is that of the logarithm of the ratio to first order, over samples paired in all four (the same seed or
//! the same requests); without such pairs there is none.
//!
//! Leaves out: additive interaction, and any figure but the mean.

use crate::interval::Interval;
use crate::intervals::{Figure, Samples, Versus, same};
use crate::judgement::{FIGURES, difference_error};
use crate::report::Report;

/// Ratios nearer to 1 than this are 1 where there is no interval to judge by.
const ALIKE: f64 = 0.01;

/// Two changes of the mean response time, alone and together.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// The first change alone, against the base.
    pub first: Versus,
    /// The second change alone, against the base.
    pub second: Versus,
    /// Both, against the base.
    pub both: Versus,
    /// Both, against the second alone: what the first still brings.
    pub first_after_second: Versus,
    /// Both, against the first alone: what the second still brings.
    pub second_after_first: Versus,
    /// What both would change if they were independent, as a share of the base. Unit: fraction.
    pub independent: f64,
    /// What is left with both, over what would be left if they were independent. Unit: ratio.
    pub ratio: Interval,
}

/// How two changes go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joint {
    /// As if neither knew of the other, as far as one can tell.
    Independent,
    /// What both leave is more than independent changes would.
    LeavesMore,
    /// What both leave is less than independent changes would.
    LeavesLess,
}

impl Interaction {
    /// Of the runs of four variants, by seed; `None` where one has no mean.
    pub fn of(base: &[Report], first: &[Report], second: &[Report], both: &[Report]) -> Option<Interaction> {
        let (mean, error) = (Figure::MEAN, difference_error(4, base.len(), FIGURES));
        let share = |versus: &Versus| versus.relative.map(|relative| relative.mean);
        let alone = [mean.versus(first, base, error)?, mean.versus(second, base, error)?];
        let independent = (1.0 + share(&alone[0])?) * (1.0 + share(&alone[1])?) - 1.0;
        let paired = [first, second, both].iter().all(|runs| same(runs, base));
        let [base_mean, first_mean] = [mean.samples(base)?, mean.samples(first)?];
        let [second_mean, both_mean] = [mean.samples(second)?, mean.samples(both)?];
        Some(Interaction {
            first: alone[0],
            second: alone[1],
            both: mean.versus(both, base, error)?,
            first_after_second: mean.versus(both, second, error)?,
            second_after_first: mean.versus(both, first, error)?,
            independent,
            ratio: ratio([&both_mean, &base_mean], [&first_mean, &second_mean], paired, error)?,
        })
    }

    /// What that amounts to.
    pub fn joint(&self) -> Joint {
        let alike = match self.ratio.half_width {
            Some(_) => !self.ratio.excludes(1.0),
            None => (self.ratio.mean - 1.0).abs() < ALIKE,
        };
        match self.ratio.mean {
            _ if alike => Joint::Independent,
            ratio if ratio > 1.0 => Joint::LeavesMore,
            _ => Joint::LeavesLess,
        }
    }
}

/// Product of `above` over that of `below`.
fn ratio(above: [&Samples; 2], below: [&Samples; 2], paired: bool, error: f64) -> Option<Interval> {
    let all = above.into_iter().chain(below);
    let centres: Vec<f64> = all.clone().map(|samples| samples.centre).collect();
    let samples = all.clone().map(|samples| samples.values.len()).min()?;
    if centres.iter().any(|&centre| centre <= 0.0) {
        return None;
    }
    let mean = centres[0] * centres[1] / (centres[2] * centres[3]);
    // Each sample over its mean: ln of a mean moves by that much, to first order.
    let part = |of: &Samples, k: usize| of.values[k] / of.centre;
    let sample = |k: usize| {
        let sum = |pair: [&Samples; 2]| pair.into_iter().map(|of| part(of, k)).sum::<f64>();
        sum(above) - sum(below)
    };
    let equally_many = all.clone().all(|of| of.values.len() == samples);
    let of_log = (paired && equally_many)
        .then(|| Interval::with(&(0..samples).map(sample).collect::<Vec<_>>(), above[0].kind, error));
    let half_width = of_log.flatten().and_then(|interval| interval.half_width);
    Some(Interval { mean, half_width: half_width.map(|half| half * mean), samples: samples as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batches::BatchReport;
    use crate::student_t;

    /// Runs whose mean is `mean` with the first seed and grows by a share of `noise` from seed to seed.
    fn runs(mean: f64, noise: &[f64]) -> Vec<Report> {
        let run = |(&noise, seed): (&f64, u64)| {
            let mut report = crate::report::tests::blank("", seed);
            report.host.response_ns.all.mean = Some(mean * (1.0 + noise));
            report.host.batches = BatchReport { requests: 64, mean: Vec::new(), ..BatchReport::default() };
            report
        };
        noise.iter().zip(1..).map(run).collect()
    }

    fn four(means: [f64; 4], noise: &[f64]) -> Interaction {
        let [base, first, second, both] = means.map(|mean| runs(mean, noise));
        Interaction::of(&base, &first, &second, &both).expect("all have means")
    }

    /// 40% and 60% less would leave 24%; 38% is left.
    #[test]
    fn gains_that_overlap_leave_more_than_their_product() {
        let found = four([100.0, 60.0, 40.0, 38.0], &[0.0]);
        let share = |versus: &Versus| (versus.relative.expect("a share").mean * 1e4).round() / 1e4;
        assert_eq!([share(&found.first), share(&found.second), share(&found.both)], [-0.4, -0.6, -0.62]);
        assert_eq!([share(&found.first_after_second), share(&found.second_after_first)], [-0.05, -0.3667]);
        assert!((found.independent + 0.76).abs() < 1e-9 && found.joint() == Joint::LeavesMore, "{found:?}");
        assert!((found.ratio.mean - 0.38 / 0.24).abs() < 1e-9 && found.ratio.half_width.is_none());
        assert_eq!(four([100.0, 60.0, 40.0, 24.0], &[0.0]).joint(), Joint::Independent);
        assert_eq!(four([100.0, 60.0, 40.0, 20.0], &[0.0]).joint(), Joint::LeavesLess);
    }

    /// What all four have in common cancels; what they have not widens the interval.
    #[test]
    fn the_interval_is_over_pairs() {
        let common = four([100.0, 60.0, 40.0, 25.0], &[0.0, 0.03, 0.09]);
        assert_eq!(common.joint(), Joint::LeavesMore, "{:?}", common.ratio);
        let [base, first, second] = [100.0, 60.0, 40.0].map(|mean| runs(mean, &[0.0, 0.0, 0.0]));
        let both = runs(25.0, &[0.2, -0.2, 0.0]);
        let own = Interaction::of(&base, &first, &second, &both).expect("all have means");
        // s of 0.2, -0.2, 0 is 0.2; t with two degrees of freedom for 5% / 4 figures / 3 others / 2.
        let t = student_t(2.0, 0.05 / 24.0);
        let half_width = t * 0.2 / 3f64.sqrt() * own.ratio.mean;
        assert!((own.ratio.half_width.expect("pairs") - half_width).abs() < 1e-9, "{own:?}");
        assert_eq!(own.joint(), Joint::Independent);
    }
}
