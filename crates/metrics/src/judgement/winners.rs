//! Who has the lowest mean, the lowest 99th percentile and the fewest erases in a comparison.
//!
//! The lowest figure is the winner's if the interval of its difference from every other says so. The others tie with it;
//! where one ties, nobody has won. Differences below [`ALIKE`] tie whatever the interval says: percentiles are known no
//! better. So do differences in erases below one collection of each SSD: they say when the run ended.
//!
//! A run in which garbage collection takes no time is a bound and takes no part. A run whose figures mean nothing
//! ([`voids`](super::voids)) takes no part either, and where its figure is below all others by more than that nobody can be named. Only overload is
//! known to be worse than keeping up: one that keeps up wins over others that do not.
//!
//! Leaves out: "ties" is not transitive: all who tie do so with the lowest, not with one another.

use serde::{Deserialize, Serialize};

use super::level::{difference_error, figures, has_p999};
use super::run::OVERLOAD;
use super::{label, void_of};
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
    /// Lowest 99.9th percentile of the response times of reads, among variants of at least [`P999_REQUESTS_MIN`](super::P999_REQUESTS_MIN) requests, all
    /// seeds together; absent where fewer than two have so many. Unit: ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_p999: Option<Winner>,
    /// Fewest blocks erased. Unit: count.
    pub erases: Option<Winner>,
    /// A difference in erases was taken for none because it is less than one collection of each SSD.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wear_at_the_edge: bool,
}

/// Who has the lowest of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Winner {
    /// Labels, that of the lowest figure first: one variant has won, several tie, none can be named.
    pub labels: Vec<String>,
    /// Their figures, means over the seeds. Unit: that of the figure.
    pub values: Vec<f64>,
    /// The lowest held against the next that does not tie; null if all tie.
    pub next: Option<Against>,
    /// The lowest held against the first variant; null if that is the lowest, lacks the figure, or means nothing.
    pub baseline: Option<Against>,
    /// The lowest held against those that tie with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<Against>,
    /// Labels of variants that take no part, in their order: too few requests to have the figure, or their figures mean nothing.
    pub unknown: Vec<String>,
    /// The code of the warning for which nobody can be named; absent if somebody can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
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
        let error = difference_error(variants.len(), seeds, figures(runs, seeds));
        let contest = |figure: &'static Figure, edge: Edge| Contest {
            variants: &variants,
            figure,
            error,
            edge,
            is_enough: |_| true,
        };
        let erases = contest(&Figure::ERASES, one_collection).decide();
        Winners {
            mean: contest(&Figure::MEAN, none).decide(),
            p99: contest(&Figure::P99, none).decide(),
            read_p99: contest(&Figure::READ_P99, none).decide(),
            read_p999: Contest { is_enough: has_p999, ..contest(&Figure::READ_P999, none) }.decide(),
            wear_at_the_edge: erases.as_ref().is_some_and(Winner::has_clear_ties),
            erases,
        }
    }
}

/// By how much a figure of these runs moves with the moment at which the window ends.
type Edge = fn(&[Report]) -> f64;

fn none(_: &[Report]) -> f64 {
    0.0
}

/// Blocks that one collection of each SSD erases.
fn one_collection(runs: &[Report]) -> f64 {
    let a_collection = |device: &crate::DeviceReport| match device.gc_events {
        0 => 0.0,
        events => device.erases as f64 / events as f64,
    };
    let of = |run: &Report| run.devices.iter().map(a_collection).sum::<f64>();
    runs.iter().map(of).sum::<f64>() / runs.len() as f64
}

/// One figure, and who has it.
struct Contest<'a> {
    variants: &'a [&'a [Report]],
    figure: &'a Figure,
    error: f64,
    edge: Edge,
    /// Whether these runs are enough to judge the figure by.
    is_enough: fn(&[Report]) -> bool,
}

/// A variant and its figure.
type Candidate<'a> = (&'a [Report], f64);

impl<'a> Contest<'a> {
    fn decide(&self) -> Option<Winner> {
        let buildable = self.variants.iter().copied().filter(|runs| !runs[0].is_ideal());
        let (known, lacking): (Vec<&[Report]>, Vec<&[Report]>) =
            buildable.partition(|runs| (self.is_enough)(runs) && self.figure.samples(runs).is_some());
        let mut known: Vec<Candidate<'a>> =
            known.into_iter().filter_map(|runs| Some((runs, self.figure.samples(runs)?.centre))).collect();
        if known.len() < 2 {
            return None;
        }
        // Stable: of equals the first named stays in front.
        known.sort_by(|(_, one), (_, other)| one.total_cmp(other));
        let (void, sound): (Vec<Candidate<'a>>, Vec<Candidate<'a>>) =
            known.into_iter().partition(|(runs, _)| void_of(runs).is_some());
        let takes_no_part = |runs: &&&[Report]| {
            lacking.iter().chain(void.iter().map(|(runs, _)| runs)).any(|other| std::ptr::eq(*other, **runs))
        };
        let unknown = self.variants.iter().filter(takes_no_part).map(|runs| label(runs)).collect();
        match self.why_nobody(&sound, &void) {
            Some(code) => Some(Winner {
                labels: Vec::new(),
                values: Vec::new(),
                next: None,
                baseline: None,
                ties: Vec::new(),
                unknown,
                void: Some(code.to_owned()),
            }),
            None => Some(self.lowest(&sound, unknown)),
        }
    }

    /// The code of the warning for which nobody can be named.
    fn why_nobody(&self, sound: &[Candidate<'a>], void: &[Candidate<'a>]) -> Option<&'a str> {
        let code = |candidate: &Candidate<'a>| void_of(candidate.0);
        let Some(best) = sound.first() else { return void.first().and_then(code) };
        // Who does not keep up is slower than who does, however long the run was.
        let mut doubtful = void.iter().filter(|candidate| code(candidate) != Some(OVERLOAD));
        doubtful.find(|candidate| sound.len() < 2 || candidate.1 < (1.0 - ALIKE) * best.1).and_then(code)
    }

    fn lowest(&self, sound: &[Candidate<'a>], unknown: Vec<String>) -> Winner {
        let (best, _) = sound[0];
        let against = |runs: &[Report]| {
            let versus = self.figure.versus(best, runs, self.error)?;
            Some(Against { label: label(runs), versus })
        };
        let (tied, beaten): (Vec<Candidate<'a>>, Vec<Candidate<'a>>) =
            sound[1..].iter().copied().partition(|(runs, _)| self.is_tie(best, runs));
        let lowest = || std::iter::once(&sound[0]).chain(&tied);
        let is_other = |first: &&[Report]| !std::ptr::eq(*first, best) && void_of(first).is_none();
        let baseline = self.variants.first().copied().filter(is_other);
        Winner {
            labels: lowest().map(|(runs, _)| label(runs)).collect(),
            values: lowest().map(|(_, value)| *value).collect(),
            next: beaten.first().and_then(|(runs, _)| against(runs)),
            baseline: baseline.and_then(against),
            ties: tied.iter().filter_map(|(runs, _)| against(runs)).collect(),
            unknown,
            void: None,
        }
    }

    fn is_tie(&self, best: &[Report], runs: &[Report]) -> bool {
        let versus = self.figure.versus(best, runs, self.error);
        versus.is_none_or(|versus| !versus.is_clear() || self.is_at_the_edge(best, runs, &versus))
    }

    fn is_at_the_edge(&self, best: &[Report], runs: &[Report], versus: &Versus) -> bool {
        versus.difference.mean.abs() < (self.edge)(best).max((self.edge)(runs))
    }
}

impl Winner {
    /// Whether several have the lowest figure, as far as one can tell.
    pub fn is_tie(&self) -> bool {
        self.labels.len() > 1
    }

    /// Whether some tie although their interval says that they differ: by less than the end of the window makes.
    fn has_clear_ties(&self) -> bool {
        self.ties.iter().any(|against| against.versus.is_clear())
    }

    /// The variant that has won.
    pub fn name(&self) -> Option<&str> {
        if let [only] = &self.labels[..] { Some(only) } else { None }
    }
}

impl Versus {
    /// Whether the two differ: the interval says so, and by more than figures are known to.
    pub fn is_clear(&self) -> bool {
        let is_alike = match self.relative {
            Some(relative) => relative.mean.abs() < ALIKE,
            None => self.difference.mean == 0.0,
        };
        !is_alike && self.significant == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::{FEW_COLLECTIONS, OVERLOAD, P999_REQUESTS_MIN};
    use crate::report::tests::blank;
    use crate::warning::Warning;

    /// Batches around a figure: it is known to about a thousandth of `noise`.
    fn around(figure: f64, noise: f64) -> Vec<f64> {
        (0..40).map(|k| figure * (1.0 + noise * [0.5, -1.0, 1.0, -0.5][k % 4])).collect()
    }

    /// A run of which only what winners look at is filled in, each figure known to a percent or so; a p99 of 0 stands for
    /// too few requests.
    fn run(label: &str, mean: f64, p99: u64, erases: u64) -> Report {
        let mut report = blank(label, 1);
        report.host.response_ns.all.mean = Some(mean);
        report.host.response_ns.all.p99 = (p99 > 0).then_some(p99);
        report.array.erases = erases;
        report.host.batches.requests = 64;
        report.host.batches.mean = around(mean, 0.01);
        report.host.batches.p99 = around(p99 as f64, 0.01);
        report.host.batches.erases = around(erases as f64, 0.01);
        report
    }

    fn ideal(mut run: Report) -> Report {
        run.scenario = serde_json::json!({"ssd": {"gc": {"schedule": "ideal"}}});
        run
    }

    fn warned(mut run: Report, code: &str) -> Report {
        run.warnings = vec![Warning::new(code, "")];
        run
    }

    fn relative(against: &Option<Against>) -> (&str, f64) {
        let against = against.as_ref().expect("somebody to be held against");
        let relative = against.versus.relative.expect("a share").mean;
        (&against.label, (relative * 1e4).round() / 1e4)
    }

    fn mean_of(runs: &[Report]) -> Winner {
        Winners::of(runs, 1).mean.expect("a choice")
    }

    #[test]
    fn each_figure_has_its_own_winner_and_the_bound_none() {
        let runs = [
            run("a", 100.0, 900, 50),
            run("b", 40.0, 500, 60),
            run("c", 50.0, 450, 55),
            ideal(run("ideal", 1.0, 1, 1)),
        ];
        let winners = Winners::of(&runs, 1);
        let mean = winners.mean.expect("a choice");
        assert_eq!((mean.name(), &mean.values[..]), (Some("b"), &[40.0][..]));
        assert_eq!((relative(&mean.next), relative(&mean.baseline)), (("c", -0.2), ("a", -0.6)));
        let p99 = winners.p99.expect("a choice");
        assert_eq!((p99.name(), relative(&p99.next)), (Some("c"), ("b", -0.1)));
        let erases = winners.erases.expect("a choice");
        assert_eq!((erases.name(), &erases.baseline), (Some("a"), &None), "the baseline itself");
        assert_eq!(winners.read_p99, None, "no reads");
    }

    #[test]
    fn without_an_interval_nobody_wins() {
        let mut runs = [run("a", 100.0, 900, 50), run("b", 50.0, 500, 60)];
        runs[1].host.batches.p99.clear();
        runs[1].host.batches.mean.truncate(9);
        let winners = Winners::of(&runs, 1);
        assert_eq!(winners.p99.map(|winner| winner.labels), Some(vec!["b".to_owned(), "a".to_owned()]));
        assert!(winners.mean.is_some_and(|winner| winner.is_tie() && winner.ties[0].label == "a"));
    }

    /// 0.1% is how well a percentile is known, even where every batch has the same difference.
    #[test]
    fn what_rounding_could_make_ties() {
        let of = |p99: u64| Winners::of(&[run("a", 9.0, p99, 3), run("b", 9.0, 10_000, 3)], 1).p99;
        let labels = |p99: u64| of(p99).expect("a choice").labels;
        assert_eq!(labels(10_010), ["b", "a"], "the lower one stands in front");
        assert_eq!(labels(10_011), ["b"]);
        assert_eq!(labels(9_989), ["a"]);
    }

    #[test]
    fn an_interval_that_holds_zero_is_a_tie_and_a_clear_one_is_not() {
        let runs = |difference: [f64; 4]| {
            let of = |label: &str, mean: f64, seed: u64| {
                let mut run = blank(label, seed);
                run.host.response_ns.all.mean = Some(mean);
                run
            };
            let means = [100.0, 120.0, 170.0, 140.0];
            let a = means.into_iter().zip(1..).map(|(mean, seed)| of("a", mean, seed));
            let b = means.iter().zip(difference).map(|(mean, by)| mean - by);
            let b = b.zip(1..).map(|(mean, seed)| of("b", mean, seed));
            Winners::of(&a.chain(b).collect::<Vec<_>>(), 4)
        };
        assert_eq!(runs([1.0, 1.1, 0.9, 1.0]).mean.expect("a choice").name(), Some("b"));
        let chance = runs([4.0, -2.0, 1.0, 1.0]).mean.expect("a choice");
        assert_eq!((chance.labels, chance.next), (vec!["b".to_owned(), "a".to_owned()], None));
        let erases = runs([1.0; 4]).erases.expect("a choice");
        assert_eq!(erases.labels, ["a", "b"], "of equals the first named comes first");
    }

    /// Batches of other requests are compared as independent, and their spread then hides what pairs would show.
    #[test]
    fn one_seed_is_judged_by_its_batches() {
        let mut runs = [run("a", 100.0, 0, 0), run("b", 99.8, 0, 0)];
        assert_eq!(mean_of(&runs).name(), Some("b"));
        runs[1].seed = 2;
        assert_eq!(mean_of(&runs).labels, ["b", "a"]);
    }

    #[test]
    fn who_has_no_percentile_is_named_and_takes_no_part() {
        let runs = [run("a", 1.0, 0, 3), run("b", 2.0, 700, 3), run("c", 3.0, 600, 3)];
        let p99 = Winners::of(&runs, 1).p99.expect("a choice");
        assert_eq!((p99.name(), &p99.unknown[..]), (Some("c"), &["a".to_owned()][..]));
        assert_eq!(p99.baseline, None);
        assert_eq!(Winners::of(&runs[..2], 1).p99, None, "one percentile is no choice");
    }

    /// A p99.9 rests on one request in a thousand: below a million requests in all nobody is named, whatever intervals say.
    #[test]
    fn the_99_9th_percentile_has_a_winner_from_a_million_requests_on() {
        let of = |requests: [u64; 3]| {
            let mut runs = [run("a", 1.0, 0, 3), run("b", 1.0, 0, 3), run("c", 1.0, 0, 3)];
            for ((run, requests), p999) in runs.iter_mut().zip(requests).zip([900.0, 500.0, 400.0]) {
                run.host.requests = requests;
                run.host.response_ns.read.p999 = Some(p999 as u64);
                run.host.batches.read_p999 = around(p999, 0.01);
            }
            Winners::of(&runs, 1).read_p999
        };
        const ENOUGH: u64 = P999_REQUESTS_MIN;
        assert_eq!(of([ENOUGH, ENOUGH - 1, ENOUGH - 1]), None, "one alone is no choice");
        assert_eq!(of([ENOUGH; 3]).expect("a choice").name(), Some("c"));
        let two = of([ENOUGH, ENOUGH, ENOUGH - 1]).expect("a choice");
        assert_eq!(
            (two.name(), &two.unknown[..]),
            (Some("b"), &["c".to_owned()][..]),
            "c has too few to take part"
        );
    }

    /// Seeds add up, and the fifth figure takes its part of the error.
    #[test]
    fn a_million_requests_may_be_those_of_several_seeds() {
        let runs = |requests: u64| {
            let of = |label: &str, seed: u64, p999: u64| {
                let mut run = blank(label, seed);
                run.host.requests = requests;
                run.host.response_ns.read.p999 = Some(p999);
                run
            };
            let a = (0..4).map(|seed| of("a", seed, 900 + seed));
            a.chain((0..4).map(|seed| of("b", seed, 500 + seed * 2))).collect::<Vec<_>>()
        };
        let winner = |requests| Winners::of(&runs(requests), 4).read_p999;
        assert_eq!(winner(P999_REQUESTS_MIN / 4).expect("a choice").name(), Some("b"));
        assert_eq!(winner(P999_REQUESTS_MIN / 4 - 1), None);
        assert_eq!([P999_REQUESTS_MIN / 4, 1].map(|requests| figures(&runs(requests), 4)), [5, 4]);
    }

    #[test]
    fn nothing_to_choose_from_has_no_winners() {
        let lone = [run("a", 1.0, 5, 3), ideal(run("ideal", 0.5, 2, 3))];
        assert_eq!(Winners::of(&lone, 1), Winners::default());
        assert_eq!(Winners::of(&[], 1), Winners::default());
        let none = [run("a", 1.0, 5, 0), run("b", 2.0, 5, 0)];
        assert!(Winners::of(&none, 1).erases.expect("a choice").is_tie(), "no erases at all");
    }

    #[test]
    fn runs_that_mean_nothing_win_nothing() {
        let (a, b) = (run("a", 100.0, 0, 0), run("b", 50.0, 0, 0));
        for code in [OVERLOAD, FEW_COLLECTIONS] {
            let winner = mean_of(&[warned(a.clone(), code), warned(b.clone(), code)]);
            assert_eq!((winner.labels, winner.void.as_deref()), (vec![], Some(code)));
            assert_eq!(winner.unknown, ["a", "b"], "in the order of the variants");
        }
        assert_eq!(mean_of(&[warned(a.clone(), "parity-resonance"), b.clone()]).name(), Some("b"));
    }

    #[test]
    fn who_keeps_up_wins_over_who_does_not() {
        let (a, b) = (run("a", 100.0, 0, 0), run("b", 50.0, 0, 0));
        let winner = mean_of(&[warned(a.clone(), OVERLOAD), b.clone()]);
        assert_eq!((winner.name(), &winner.unknown[..]), (Some("b"), &["a".to_owned()][..]));
        assert_eq!((winner.next, winner.baseline), (None, None), "no percentage of what grows without end");
        // Too few collections are another matter: nobody knows whether that one is better.
        let winner = mean_of(&[warned(a.clone(), FEW_COLLECTIONS), b.clone()]);
        assert_eq!((winner.name(), winner.void.as_deref()), (None, Some(FEW_COLLECTIONS)));
        let c = run("c", 70.0, 0, 0);
        let winner = mean_of(&[warned(a.clone(), FEW_COLLECTIONS), b.clone(), c.clone()]);
        assert_eq!(winner.name(), Some("b"), "the doubtful one is slower");
        let (a2, d) = (warned(a.clone(), FEW_COLLECTIONS), run("d", 60.0, 0, 0));
        assert_eq!(
            mean_of(&[a2, b.clone(), c.clone(), d]).name(),
            Some("b"),
            "slower than the best of three"
        );
        let winner = mean_of(&[a, warned(b, FEW_COLLECTIONS), c]);
        assert_eq!(winner.name(), None, "the doubtful one has the lowest figure");
    }

    #[test]
    fn wear_within_one_collection_of_each_ssd_is_a_tie() {
        let runs = |fewer: u64| {
            let mut runs = [run("a", 1.0, 0, 1_000), run("b", 1.0, 0, 1_000 - fewer)];
            for run in &mut runs {
                let device =
                    crate::DeviceReport { erases: run.array.erases / 2, gc_events: 10, ..Default::default() };
                run.devices = vec![device.clone(), device];
            }
            Winners::of(&runs, 1)
        };
        // Ten collections of 50 blocks each on both.
        let (within, beyond) = (runs(90), runs(110));
        assert!(within.wear_at_the_edge && within.erases.expect("a choice").is_tie());
        assert!(!beyond.wear_at_the_edge && beyond.erases.expect("a choice").name() == Some("b"));
    }
}
