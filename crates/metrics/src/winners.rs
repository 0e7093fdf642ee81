//! The `winners` of a comparison: who has the lowest mean, the lowest 99th percentile and the fewest erases.
//!
//! The lowest figure is the winner's, unless others are not told apart from it: by an interval of the difference that
//! holds zero, or by a difference below [`ALIKE`], which is as well as a percentile is known. Those tie, and a tie has
//! no winner. With one seed only means have intervals; a percentile or a count then wins by any difference from
//! [`ALIKE`] on, and its `significant` is null to say so.
//!
//! A run in which garbage collection takes no time is a bound and takes no part.
//!
//! Leaves out: correction for looking at many variants at once (see [`Intervals`](crate::Intervals)). "Not told apart"
//! is not transitive: all who tie do so with the lowest, not with one another.

use serde::{Deserialize, Serialize};

use crate::intervals::{Figure, Versus};
use crate::report::Report;

/// Differences below this share are none: percentiles are known to 0.1%.
const ALIKE: f64 = 0.001;

/// The comparison's `winners` section; null where fewer than two variants that one could build have the figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Winners {
    /// Lowest mean response time. Unit: ns.
    pub mean: Option<Winner>,
    /// Lowest 99th percentile of response times. Unit: ns.
    pub p99: Option<Winner>,
    /// Lowest 99th percentile of the response times of reads. Unit: ns.
    pub read_p99: Option<Winner>,
    /// Fewest blocks erased. Unit: count.
    pub erases: Option<Winner>,
}

/// Who has the lowest of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// Labels, that of the lowest figure first: one variant has won, several tie.
    pub labels: Vec<String>,
    /// Their figures, means over the seeds. Unit: that of the figure.
    pub values: Vec<f64>,
    /// The lowest held against the next that does not tie; null if all tie.
    pub next: Option<Against>,
    /// The lowest held against the first variant; null if that is the lowest, or lacks the figure.
    pub baseline: Option<Against>,
    /// Labels of variants that lack the figure: too few requests to say.
    pub unknown: Vec<String>,
}

/// A variant that another is held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// Its label.
    pub label: String,
    /// How the other differs from it.
    #[serde(flatten)]
    pub versus: Versus,
}

impl Winners {
    /// The winners among variants of `seeds` runs each, the first being the baseline.
    ///
    /// # Panics
    /// If the runs are not a multiple of `seeds`.
    pub fn of(runs: &[Report], seeds: usize) -> Winners {
        assert!(seeds > 0 && runs.len().is_multiple_of(seeds), "each variant has all seeds");
        let variants: Vec<&[Report]> = runs.chunks(seeds).collect();
        let winner = |figure: &Figure| Winner::of(&variants, figure);
        Winners {
            mean: winner(&Figure::MEAN),
            p99: winner(&Figure::P99),
            read_p99: winner(&Figure::READ_P99),
            erases: winner(&Figure::ERASES),
        }
    }
}

/// A variant and its figure.
type Candidate<'a> = (&'a [Report], f64);

impl Winner {
    fn of(variants: &[&[Report]], figure: &Figure) -> Option<Winner> {
        let buildable = variants.iter().copied().filter(|runs| !runs[0].is_ideal());
        let (known, unknown): (Vec<_>, Vec<_>) =
            buildable.map(|runs| (runs, figure.samples(runs))).partition(|(_, samples)| samples.is_some());
        let mut known: Vec<Candidate<'_>> =
            known.into_iter().filter_map(|(runs, samples)| Some((runs, samples?.centre))).collect();
        // Stable: of equals the first named stays in front.
        known.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        let (&(best, _), others) = known.split_first()?;
        if others.is_empty() {
            return None;
        }
        let against = |runs: &[Report]| {
            let label = runs[0].label.clone();
            figure.versus(best, runs).map(|versus| Against { label, versus })
        };
        let ties = |runs: &[Report]| figure.versus(best, runs).is_some_and(|versus| versus.is_none());
        let (tied, beaten): (Vec<_>, Vec<_>) = others.iter().copied().partition(|(runs, _)| ties(runs));
        let lowest: Vec<Candidate<'_>> = known[..1].iter().copied().chain(tied).collect();
        let baseline = variants.first().copied().filter(|first| !std::ptr::eq(*first, best));
        Some(Winner {
            labels: lowest.iter().map(|(runs, _)| runs[0].label.clone()).collect(),
            values: lowest.iter().map(|(_, value)| *value).collect(),
            next: beaten.first().and_then(|(runs, _)| against(runs)),
            baseline: baseline.and_then(against),
            unknown: unknown.into_iter().map(|(runs, _)| runs[0].label.clone()).collect(),
        })
    }

    /// Whether nobody has won.
    pub fn is_tie(&self) -> bool {
        self.labels.len() > 1
    }
}

impl Versus {
    /// Whether the difference is none as far as one can tell.
    pub fn is_none(&self) -> bool {
        let rounds_to_none = match self.relative {
            Some(relative) => relative.mean.abs() < ALIKE,
            None => self.difference.mean == 0.0,
        };
        rounds_to_none || self.significant == Some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batches::BatchReport;

    /// A report of which only what winners look at is filled in; a p99 of 0 stands for too few requests.
    fn run(label: &str, seed: u64, mean: f64, p99: u64, erases: u64) -> Report {
        let mut report: Report = serde_json::from_value(serde_json::json!({
            "schema": "", "version": "", "scenario": null, "seed": seed, "simulated_ns": 0, "label": label,
            "host": crate::HostReport::default(), "array": crate::ArrayReport::default(), "devices": [],
            "engine": crate::EngineReport::default(), "precondition": crate::PreconditionReport::default(),
        }))
        .expect("a report");
        report.host.response_ns.all.mean = Some(mean);
        report.host.response_ns.all.p99 = (p99 > 0).then_some(p99);
        report.array.erases = erases;
        report
    }

    fn ideal(mut run: Report) -> Report {
        run.scenario = serde_json::json!({"ssd": {"gc": {"schedule": "ideal"}}});
        run
    }

    fn relative(against: &Option<Against>) -> (&str, f64) {
        let against = against.as_ref().expect("somebody to be held against");
        let relative = against.versus.relative.expect("a share").mean;
        (&against.label, (relative * 1e4).round() / 1e4)
    }

    #[test]
    fn each_figure_has_its_own_winner_and_the_bound_none() {
        let runs = [
            run("a", 1, 100.0, 900, 50),
            run("b", 1, 40.0, 500, 60),
            run("c", 1, 50.0, 450, 55),
            ideal(run("ideal", 1, 1.0, 1, 1)),
        ];
        let winners = Winners::of(&runs, 1);
        let mean = winners.mean.expect("a choice");
        assert_eq!((&mean.labels[..], &mean.values[..]), (&["b".to_owned()][..], &[40.0][..]));
        assert_eq!((relative(&mean.next), relative(&mean.baseline)), (("c", -0.2), ("a", -0.6)));
        let p99 = winners.p99.expect("a choice");
        assert_eq!((p99.labels[0].as_str(), relative(&p99.next)), ("c", ("b", -0.1)));
        let erases = winners.erases.expect("a choice");
        assert_eq!((erases.labels[0].as_str(), erases.baseline), ("a", None), "the baseline itself");
        assert_eq!(winners.read_p99, None, "no reads");
    }

    /// 0.1% is how well a percentile is known.
    #[test]
    fn what_rounding_could_make_ties() {
        let of = |p99: u64| {
            let runs = [run("a", 1, 9.0, p99, 3), run("b", 1, 9.0, 10_000, 3)];
            Winners::of(&runs, 1).p99.expect("a choice").labels
        };
        assert_eq!(of(10_010), ["b", "a"], "the lower one stands in front");
        assert_eq!(of(10_011), ["b"]);
        assert_eq!(of(9_989), ["a"]);
    }

    #[test]
    fn an_interval_that_holds_zero_is_a_tie_and_a_clear_one_is_not() {
        let runs = |difference: [f64; 3]| {
            let a = [10.0, 30.0, 80.0].into_iter().zip(1..).map(|(mean, seed)| run("a", seed, mean, 0, 7));
            let means = [10.0, 30.0, 80.0].iter().zip(difference).map(|(mean, by)| mean - by);
            let b = means.zip(1..).map(|(mean, seed)| run("b", seed, mean, 0, 7));
            Winners::of(&a.chain(b).collect::<Vec<_>>(), 3)
        };
        let clear = runs([1.0, 1.1, 0.9]).mean.expect("a choice");
        assert_eq!((clear.labels.as_slice(), clear.is_tie()), (["b".to_owned()].as_slice(), false));
        let chance = runs([4.0, -2.0, 1.0]).mean.expect("a choice");
        assert_eq!((chance.labels, chance.next), (vec!["b".to_owned(), "a".to_owned()], None));
        let erases = runs([1.0; 3]).erases.expect("a choice");
        assert_eq!(erases.labels, ["a", "b"], "of equals the first named comes first");
    }

    /// Batches of one seed are intervals too.
    #[test]
    fn one_seed_is_judged_by_its_batches() {
        let with = |label: &str, mean: f64, swing: f64| {
            let mut report = run(label, 1, mean, 0, 0);
            let batch = |k: usize| mean + if k.is_multiple_of(2) { swing } else { -swing };
            let mean = (0..20).map(batch).collect();
            report.host.batches = BatchReport { requests: 64, mean, gc_affected: Vec::new() };
            report
        };
        let mean = |swing: f64| {
            let winners = Winners::of(&[with("a", 100.0, 0.0), with("b", 99.0, swing)], 1);
            winners.mean.expect("a choice").labels
        };
        assert_eq!((mean(1.0), mean(9.0)), (vec!["b".to_owned()], vec!["b".to_owned(), "a".to_owned()]));
    }

    #[test]
    fn who_has_no_percentile_is_named_and_takes_no_part() {
        let runs = [run("a", 1, 1.0, 0, 3), run("b", 1, 2.0, 700, 3), run("c", 1, 3.0, 600, 3)];
        let p99 = Winners::of(&runs, 1).p99.expect("a choice");
        assert_eq!(
            (p99.labels, p99.unknown, p99.baseline),
            (vec!["c".to_owned()], vec!["a".to_owned()], None)
        );
        assert_eq!(Winners::of(&runs[..2], 1).p99, None, "one percentile is no choice");
    }

    #[test]
    fn nothing_to_choose_from_has_no_winners() {
        let lone = [run("a", 1, 1.0, 5, 3), ideal(run("ideal", 1, 0.5, 2, 3))];
        assert_eq!(Winners::of(&lone, 1), Winners::default());
        assert_eq!(Winners::of(&[], 1), Winners::default());
        let none = [run("a", 1, 1.0, 5, 0), run("b", 1, 2.0, 5, 0)];
        assert!(Winners::of(&none, 1).erases.expect("a choice").is_tie(), "no erases at all");
    }
}
