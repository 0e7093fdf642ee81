//! Members of an array over the years: when they are replaced, and what a rebuild risks.
//!
//! How that is reckoned, `harmonia_array::years` says. Here are the keys of the report, and what they are over seeds.

use serde::{Deserialize, Serialize};

use crate::interval::Interval;

/// The report's `array.replacements`: members that are replaced, at the rate of the measured window. Of one run, or over seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replacements<T> {
    /// Until each of the members is replaced, the first first. Unit: years.
    pub years: Vec<T>,
    /// Drives that are replaced in a year, over several lives of each. Unit: count.
    pub per_year: T,
    /// What drives that are replaced could still have taken, as a share of their lives. Unit: ratio.
    pub unused: T,
    /// How old the oldest of the other members is at a replacement, as a share of its life. Unit: ratio.
    pub next_oldest: T,
    /// What a rebuild risks; absent where no run has told how long it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<RebuildRisk<T>>,
}

/// What a rebuild risks, and how often data is lost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RebuildRisk<T> {
    /// A whole member at the rate at which a run rebuilt, and the time until a spare is in its place. Unit: hours.
    pub rebuild_hours: T,
    /// Share of the members that wear out in whose rebuild another one wears out. Unit: ratio.
    pub second_by_wear: T,
    /// Probability that another member fails by chance in a rebuild. Unit: ratio.
    pub second_by_failure: T,
    /// Probability that a rebuild without redundancy left meets a page that cannot be read. Unit: ratio.
    pub unreadable: T,
    /// Probability of losing data in a year. Unit: ratio.
    pub loss: T,
    /// Expected losses a year by what the members end with that lose data: all by wear. Unit: count.
    pub losses_by_wear: T,
    /// All by chance. Unit: count.
    pub losses_by_failure: T,
    /// By chance, and a page that cannot be read. Unit: count.
    pub losses_by_unreadable: T,
    /// One by wear, and another by chance or a page that cannot be read. Unit: count.
    pub losses_by_both: T,
}

impl Replacements<Interval> {
    /// Over seeds; `None` if a run has none, or if runs differ in their members.
    pub(crate) fn over(runs: &[&Replacements<f64>]) -> Option<Replacements<Interval>> {
        let over = |of: &dyn Fn(&Replacements<f64>) -> Option<f64>| -> Option<Interval> {
            let samples: Option<Vec<f64>> = runs.iter().map(|run| of(run)).collect();
            Interval::of(&samples?)
        };
        let years = (0..runs.first()?.years.len()).map(|place| over(&|run| run.years.get(place).copied()));
        let risk = |of: fn(&RebuildRisk<f64>) -> f64| over(&|run| run.risk.as_ref().map(of));
        let all_risks = || {
            Some(RebuildRisk {
                rebuild_hours: risk(|risk| risk.rebuild_hours)?,
                second_by_wear: risk(|risk| risk.second_by_wear)?,
                second_by_failure: risk(|risk| risk.second_by_failure)?,
                unreadable: risk(|risk| risk.unreadable)?,
                loss: risk(|risk| risk.loss)?,
                losses_by_wear: risk(|risk| risk.losses_by_wear)?,
                losses_by_failure: risk(|risk| risk.losses_by_failure)?,
                losses_by_unreadable: risk(|risk| risk.losses_by_unreadable)?,
                losses_by_both: risk(|risk| risk.losses_by_both)?,
            })
        };
        Some(Replacements {
            years: years.collect::<Option<_>>()?,
            per_year: over(&|run| Some(run.per_year))?,
            unused: over(&|run| Some(run.unused))?,
            next_oldest: over(&|run| Some(run.next_oldest))?,
            risk: all_risks(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: f64, hours: Option<f64>) -> Replacements<f64> {
        let risk = hours.map(|rebuild_hours| RebuildRisk {
            rebuild_hours,
            second_by_wear: 0.1,
            second_by_failure: 1e-5,
            unreadable: 0.01,
            loss: 0.02,
            losses_by_wear: 0.01,
            losses_by_failure: 1e-7,
            losses_by_unreadable: 1e-4,
            losses_by_both: 0.01,
        });
        Replacements { years: vec![first, 4.0], per_year: 1.5, unused: 0.0, next_oldest: 0.9, risk }
    }

    #[test]
    fn seeds_give_intervals_and_what_one_of_them_lacks_is_not_told() {
        let (one, other) = (run(2.0, Some(6.0)), run(3.0, Some(8.0)));
        let both = Replacements::over(&[&one, &other]).expect("both have members");
        assert_eq!((both.years[0].mean, both.years[1].mean, both.years.len()), (2.5, 4.0, 2));
        assert_eq!(both.risk.map(|risk| risk.rebuild_hours.mean), Some(7.0));
        let lacks = run(3.0, None);
        let both = Replacements::over(&[&one, &lacks]).expect("members");
        assert!(both.risk.is_none() && both.years[0].samples == 2);
        assert!(Replacements::over(&[]).is_none());
    }
}
