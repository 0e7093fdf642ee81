//! The `intervals` of a comparison: how far each mean can be trusted, and which differences are more than chance.
//!
//! Two methods, and the output says which:
//!
//! * *replications*: each variant ran with several seeds, and a seed's figure is one sample. Seeds are independent.
//! * *batch means*: one seed; a sample is what a batch of successive requests says of the figure ([`BatchReport`]). What is
//!   left of correlation between batches is corrected for. It knows nothing of what another aged array would do.
//!
//! Either way variants are compared in pairs where they can be: the same seed gives the same requests and the same
//! aged array, so what these contribute cancels (common random numbers; Law, Simulation Modeling and Analysis, 11.2).
//! In a closed loop batch k holds the same requests too, though each policy gets to them at times of its own: that
//! costs the pairs some of their use, not their validity.
//!
//! A figure's own interval holds with 95%. Intervals of differences hold with 95% *all together*, for the figures that
//! winners are named of: see [`difference_error`]. The one that is shown is the one that is tested.
//!
//! Leaves out: intervals of blame, wear or shares of time; of the standard deviation with one seed.

use serde::{Deserialize, Serialize};

use crate::batches::{BATCHES_MIN, BatchReport};
use crate::interval::{Contrast, ERROR, Interval, Kind};
use crate::judgement::{difference_error, figures, pair_error};
use crate::report::Report;

/// How samples came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One sample a seed.
    Replications,
    /// One sample a batch of successive requests of the only seed.
    #[default]
    BatchMeans,
}

/// The comparison's `intervals` section.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Intervals {
    /// Where samples come from.
    pub method: Method,
    /// Probability with which the interval of a figure holds the true value: 0.95. Unit: fraction.
    pub confidence: f64,
    /// The same for the interval of one difference, chosen so that those of mean, p99, p99 of reads and erases (and
    /// p99.9 of reads, where it has a winner) hold with 95% all together, however many variants and looks there are.
    /// Unit: fraction.
    #[serde(default)]
    pub difference_confidence: f64,
    /// Label of the first variant, against which the others are held.
    pub baseline: String,
    /// One a variant, in the order of the runs.
    pub variants: Vec<VariantIntervals>,
}

/// One variant over all of its seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantIntervals {
    /// Label of its runs.
    pub label: String,
    /// Seeds of its runs, in their order.
    pub seeds: Vec<u64>,
    /// Its figures; null where a run has none.
    pub metrics: PerMetric<Option<Interval>>,
    /// What it changes; null for the baseline itself.
    pub versus_baseline: Option<PerMetric<Option<Versus>>>,
}

/// A figure held against the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Versus {
    /// The variant less the baseline. Unit: that of the figure.
    pub difference: Interval,
    /// The same as a share of the baseline: -0.7 is 70% less; null where the baseline is 0. Unit: fraction.
    pub relative: Option<Interval>,
    /// The intervals of the difference and of the share leave 0 out; null where it has none.
    pub significant: Option<bool>,
    /// Samples were compared in pairs of the same seed, or the same requests.
    pub paired: bool,
}

/// One value for each figure that has intervals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Default + Deserialize<'de>"))]
pub struct PerMetric<T> {
    /// Mean response time of all requests. Unit: ns.
    pub mean: T,
    /// Its standard deviation. Unit: ns.
    pub stddev: T,
    /// Median response time. Unit: ns.
    pub p50: T,
    /// 95th percentile. Unit: ns.
    pub p95: T,
    /// 99th percentile. Unit: ns.
    pub p99: T,
    /// 99.9th percentile. Unit: ns.
    pub p999: T,
    /// 99.99th percentile. Unit: ns.
    pub p9999: T,
    /// 99th percentile of the response times of reads. Unit: ns.
    #[serde(default)]
    pub read_p99: T,
    /// 99.9th percentile of the response times of reads. Unit: ns.
    #[serde(default)]
    pub read_p999: T,
    /// Share of the requests that waited for garbage collection. Unit: fraction.
    pub gc_affected: T,
    /// Flash bytes programmed per byte that the user wrote. Unit: ratio.
    pub write_amplification: T,
    /// The same over whole collection cycles. Unit: ratio.
    #[serde(default)]
    pub write_amplification_whole_cycles: T,
    /// Blocks erased. Unit: count.
    pub erases: T,
}

impl<T> PerMetric<T> {
    /// Every value with the name of its figure.
    pub fn named(self) -> [(&'static str, T); 13] {
        [
            ("mean", self.mean),
            ("stddev", self.stddev),
            ("p50", self.p50),
            ("p95", self.p95),
            ("p99", self.p99),
            ("p999", self.p999),
            ("p9999", self.p9999),
            ("read_p99", self.read_p99),
            ("read_p999", self.read_p999),
            ("gc_affected", self.gc_affected),
            ("write_amplification", self.write_amplification),
            ("write_amplification_whole_cycles", self.write_amplification_whole_cycles),
            ("erases", self.erases),
        ]
    }
}

/// The figures of one variant over all of its seeds, with intervals.
pub fn figures_of(runs: &[Report]) -> PerMetric<Option<Interval>> {
    PerMetric::from_figures(|figure| figure.samples(runs).filter(|_| !runs.is_empty())?.interval())
}

/// What one variant changes against another, in intervals that hold together with those of `pairs` such pairs. Samples are
/// compared seed by seed where both have the same seeds.
pub fn versus(variant: &[Report], baseline: &[Report], pairs: usize) -> PerMetric<Option<Versus>> {
    let error = pair_error(variant, baseline, pairs);
    let has_runs = !variant.is_empty() && !baseline.is_empty();
    PerMetric::from_figures(|figure| has_runs.then(|| figure.versus(variant, baseline, error))?)
}

/// Samples of one figure of one variant.
#[derive(Debug)]
pub(crate) struct Samples {
    pub values: Vec<f64>,
    /// The best estimate: of batches it is the figure of all requests, those after the last full batch included.
    pub centre: f64,
    pub kind: Kind,
}

/// Where one figure is found: in a report, and in its batches.
pub(crate) struct Figure {
    of: fn(&Report) -> Option<f64>,
    batches: Option<fn(&BatchReport) -> &[f64]>,
}

impl<T> PerMetric<T> {
    /// Every value from the figure it stands for.
    fn from_figures(mut value: impl FnMut(&Figure) -> T) -> Self {
        PerMetric {
            mean: value(&Figure::MEAN),
            stddev: value(&Figure::lone(|run| run.host.response_ns.all.stddev)),
            p50: value(&Figure::new(|run| float(run.host.response_ns.all.p50), |batches| &batches.p50)),
            p95: value(&Figure::new(|run| float(run.host.response_ns.all.p95), |batches| &batches.p95)),
            p99: value(&Figure::P99),
            p999: value(&Figure::new(|run| float(run.host.response_ns.all.p999), |batches| &batches.p999)),
            p9999: value(&Figure::new(|run| float(run.host.response_ns.all.p9999), |batches| &batches.p9999)),
            read_p99: value(&Figure::READ_P99),
            read_p999: value(&Figure::READ_P999),
            gc_affected: value(&Figure::new(gc_affected, |batches| &batches.gc_affected)),
            write_amplification: value(&Figure::new(
                |run| run.array.write_amplification,
                |batches| &batches.write_amplification,
            )),
            write_amplification_whole_cycles: value(&Figure::new(
                |run| run.array.write_amplification_whole_cycles,
                |batches| &batches.write_amplification_whole_cycles,
            )),
            erases: value(&Figure::ERASES),
        }
    }
}

fn float(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

/// The reads and writes that waited for garbage collection, as a share of all requests, those of any kind.
fn gc_affected(run: &Report) -> Option<f64> {
    let response = &run.host.response_ns;
    let affected = response.gc_affected_read.count + response.gc_affected_write.count;
    (run.host.requests > 0).then(|| affected as f64 / run.host.requests as f64)
}

impl Intervals {
    /// The intervals of the runs of several variants, each with `seeds` runs, the first variant being the baseline.
    ///
    /// # Panics
    /// If the runs are not a multiple of `seeds`.
    pub fn of(runs: &[Report], seeds: usize) -> Intervals {
        assert!(seeds > 0 && runs.len().is_multiple_of(seeds), "each variant has all seeds");
        let Some(baseline) = runs.get(..seeds) else { return Intervals::default() };
        let error = difference_error(runs.len() / seeds, seeds, figures(runs, seeds));
        let variants = runs.chunks(seeds).enumerate().map(|(index, variant)| VariantIntervals {
            label: variant[0].label.clone(),
            seeds: variant.iter().map(|run| run.seed).collect(),
            metrics: PerMetric::from_figures(|figure| figure.samples(variant)?.interval()),
            versus_baseline: (index > 0)
                .then(|| PerMetric::from_figures(|figure| figure.versus(variant, baseline, error))),
        });
        Intervals {
            method: if seeds > 1 { Method::Replications } else { Method::BatchMeans },
            confidence: 1.0 - ERROR,
            difference_confidence: 1.0 - error,
            baseline: baseline[0].label.clone(),
            variants: variants.collect(),
        }
    }
}

impl Figure {
    pub(crate) const MEAN: Figure = Figure::new(|run| run.host.response_ns.all.mean, |batches| &batches.mean);
    pub(crate) const P99: Figure =
        Figure::new(|run| float(run.host.response_ns.all.p99), |batches| &batches.p99);
    pub(crate) const READ_P99: Figure =
        Figure::new(|run| float(run.host.response_ns.read.p99), |batches| &batches.read_p99);
    pub(crate) const READ_P999: Figure =
        Figure::new(|run| float(run.host.response_ns.read.p999), |batches| &batches.read_p999);
    pub(crate) const ERASES: Figure =
        Figure::new(|run| Some(run.array.erases as f64), |batches| &batches.erases);

    const fn new(of: fn(&Report) -> Option<f64>, batches: fn(&BatchReport) -> &[f64]) -> Figure {
        Figure { of, batches: Some(batches) }
    }

    /// A figure of a whole run, of which batches say nothing.
    const fn lone(of: fn(&Report) -> Option<f64>) -> Figure {
        Figure { of, batches: None }
    }

    /// One sample a seed, or one a batch of the only seed; a single sample where batches say nothing of this figure.
    pub(crate) fn samples(&self, runs: &[Report]) -> Option<Samples> {
        let values: Vec<f64> = runs.iter().map(self.of).collect::<Option<_>>()?;
        let centre = values.iter().sum::<f64>() / values.len() as f64;
        let batches = match runs {
            [only] => self.batches.map(|batches| batches(&only.host.batches)),
            _ => None,
        };
        let batches = batches.filter(|batches| batches.len() >= BATCHES_MIN);
        let kind = if batches.is_some() { Kind::Successive } else { Kind::Independent };
        Some(Samples { values: batches.map_or(values, <[f64]>::to_vec), centre, kind })
    }

    /// What these runs change against those, with intervals that miss with probability `error`; `None` where either lacks
    /// the figure.
    pub(crate) fn versus(&self, variant: &[Report], baseline: &[Report], error: f64) -> Option<Versus> {
        let (ours, theirs) = (self.samples(variant)?, self.samples(baseline)?);
        let paired = same(variant, baseline) && ours.values.len() == theirs.values.len();
        // Batches of one that lacks them, or of another length, say nothing beside the other's.
        let kind = if ours.kind == theirs.kind { ours.kind } else { Kind::Successive };
        let Contrast { difference, relative } =
            Contrast::with(&ours.values, &theirs.values, paired, kind, error)?;
        let difference = Interval { mean: ours.centre - theirs.centre, ..difference };
        let relative = relative
            .filter(|_| theirs.centre > 0.0)
            .map(|relative| Interval { mean: ours.centre / theirs.centre - 1.0, ..relative });
        let significant = Contrast { difference, relative }.is_significant();
        Some(Versus { difference, relative, significant, paired })
    }
}

/// Whether sample k of both saw the same: the same seed, and of one seed the same batches.
pub(crate) fn same(variant: &[Report], baseline: &[Report]) -> bool {
    variant.iter().zip(baseline).all(|(one, other)| one.seed == other.seed)
        && (variant.len() > 1 || variant[0].host.batches.requests == baseline[0].host.batches.requests)
}

impl Samples {
    fn interval(&self) -> Option<Interval> {
        let interval = Interval::with(&self.values, self.kind, ERROR);
        interval.map(|interval| Interval { mean: self.centre, ..interval })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::FIGURES;
    use crate::student::student_t;

    /// A report of which only what intervals look at is filled in.
    fn run(label: &str, seed: u64, mean: f64, batches: &[f64]) -> Report {
        let mut report = crate::report::tests::blank(label, seed);
        report.host.response_ns.all.mean = Some(mean);
        report.host.batches = BatchReport { requests: 64, mean: batches.to_vec(), ..BatchReport::default() };
        report.array.erases = mean as u64;
        report
    }

    fn mean(variant: &VariantIntervals) -> Versus {
        variant.versus_baseline.as_ref().and_then(|versus| versus.mean).expect("a difference")
    }

    /// Seeds differ by five, the variant by one: found because seed k is held against seed k.
    #[test]
    fn seeds_are_compared_one_by_one() {
        let runs = [
            ("a", 1, 100.0),
            ("a", 2, 104.0),
            ("a", 3, 110.0),
            ("b", 1, 99.0),
            ("b", 2, 102.9),
            ("b", 3, 109.1),
        ];
        let runs = runs.map(|(label, seed, mean)| run(label, seed, mean, &[0.0; 32]));
        let intervals = Intervals::of(&runs, 3);
        assert_eq!((intervals.method, intervals.baseline.as_str()), (Method::Replications, "a"));
        assert_eq!(intervals.variants[1].seeds, [1, 2, 3]);
        let versus = mean(&intervals.variants[1]);
        assert!((versus.difference.mean + 1.0).abs() < 1e-9 && versus.paired, "{versus:?}");
        assert_eq!((versus.difference.samples, versus.significant), (3, Some(true)));
        assert!(intervals.variants[0].metrics.erases.is_some_and(|erases| erases.half_width.is_some()));
    }

    /// Whatever order they come in: 1 to 12 more, each farther than the one before, have nothing to do with one another.
    #[test]
    fn seeds_know_nothing_of_one_another() {
        let of = |label, growth: f64| {
            (1..=12).map(move |seed| run(label, seed, 100.0 + growth * seed as f64, &[]))
        };
        let runs: Vec<Report> = of("a", 0.0).chain(of("b", 1.0)).collect();
        let versus = mean(&Intervals::of(&runs, 12).variants[1]);
        // s^2 of 1 to 12 is 13.
        let t = student_t(11.0, difference_error(2, 12, FIGURES));
        let half_width = versus.difference.half_width.expect("seeds");
        assert!((half_width - t * (13.0f64 / 12.0).sqrt()).abs() < 1e-9, "{versus:?}");
    }

    #[test]
    fn other_seeds_are_no_pairs() {
        let runs = [("a", 1, 10.0), ("a", 2, 30.0), ("b", 2, 9.0), ("b", 3, 29.0)];
        let versus =
            mean(&Intervals::of(&runs.map(|(label, seed, mean)| run(label, seed, mean, &[])), 2).variants[1]);
        assert!(!versus.paired && versus.significant == Some(false), "{versus:?}");
    }

    /// The interval of one seed stands around the mean of all requests, not around that of its full batches.
    #[test]
    fn one_seed_is_judged_by_its_batches() {
        // 0 to 11, neighbours as unlike as can be: no correlation that would have to be corrected.
        let batches: Vec<f64> =
            (0..12).map(|k| f64::from(if k % 2 == 0 { k / 2 } else { 11 - k / 2 })).collect();
        let slower: Vec<f64> = batches.iter().map(|mean| mean + 1.0).collect();
        let runs = [run("a", 1, 5.6, &batches), run("b", 1, 6.5, &slower)];
        let intervals = Intervals::of(&runs, 1);
        let own = intervals.variants[0].metrics.mean.expect("a mean");
        // s^2 of 0..11 is 13; t with 11 degrees of freedom 2.201.
        assert!((own.half_width.expect("batches") - 2.201 * (13.0f64 / 12.0).sqrt()).abs() < 1e-3, "{own:?}");
        assert_eq!((own.mean, own.samples), (5.6, 12));
        let versus = mean(&intervals.variants[1]);
        assert!(
            (versus.difference.mean - 0.9).abs() < 1e-9 && versus.significant == Some(true),
            "{versus:?}"
        );
        assert_eq!(intervals.variants[0].metrics.erases.map(|erases| erases.half_width), Some(None));
        assert_eq!(intervals.variants[0].metrics.p99, None, "no run has a p99");
    }

    #[test]
    fn too_few_batches_say_nothing() {
        let runs = [run("a", 1, 5.0, &[5.0; 9]), run("b", 1, 6.0, &[6.0; 12])];
        let intervals = Intervals::of(&runs, 1);
        assert_eq!(intervals.variants[0].metrics.mean.map(|mean| mean.half_width), Some(None));
        assert_eq!(mean(&intervals.variants[1]).significant, None);
    }

    /// A load that is longer fills longer batches: batch k of one is not batch k of the other.
    #[test]
    fn batches_of_other_lengths_are_no_pairs() {
        let mut runs = [run("a", 1, 5.0, &[5.0; 20]), run("b", 1, 6.0, &[6.0; 20])];
        assert!(mean(&Intervals::of(&runs, 1).variants[1]).paired);
        runs[1].host.batches.requests = 128;
        assert!(!mean(&Intervals::of(&runs, 1).variants[1]).paired);
    }

    #[test]
    fn against_nobody_nothing_is_said() {
        let runs = [run("a", 1, 5.0, &[5.0; 20])];
        let nothing = PerMetric::default();
        assert_eq!(
            [versus(&runs, &[], 1), versus(&[], &runs, 1), versus(&[], &[], 1)],
            [(); 3].map(|()| nothing.clone())
        );
        assert!(versus(&runs, &runs, 1).mean.is_some());
    }

    /// Full batches may have a mean where all requests together have none that others could be a share of.
    #[test]
    fn there_is_no_share_of_a_baseline_of_nothing() {
        let relative = |centre: f64| {
            let runs = [run("a", 1, centre, &[1.0; 20]), run("b", 1, 6.0, &[6.0; 20])];
            mean(&Intervals::of(&runs, 1).variants[1]).relative.map(|relative| relative.mean)
        };
        assert_eq!([relative(0.0), relative(4.0)], [None, Some(0.5)]);
    }
}
