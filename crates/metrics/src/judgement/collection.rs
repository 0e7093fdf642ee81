//! Whether garbage collection matters to an array: one rule for advice and for every comparison with the bound.
//!
//! ```text
//!   array as it is | the same, collection takes no time  -->  Figure of mean, p99, p99.9  -->  Verdict, Because
//! ```
//!
//! It matters if it costs more than a twentieth of one of these figures, with the whole interval. It does not matter if it costs less
//! than that of mean and p99, and less than a tenth of p99.9, with the whole intervals. Runs that are too short for p99.9 say so beside the
//! verdict. Otherwise the runs cannot tell.
//!
//! Leaves out: what to do where it matters, and lifetime.

use serde::Serialize;

use super::{FEW_COLLECTIONS, FEW_REQUESTS, NO_COLLECTION, OVERLOAD, SHORT_WINDOW, of_variant, voids};
use crate::intervals::{PerMetric, Versus, versus};
use crate::report::{Comparison, Report};
use crate::warning::Warning;

/// A change of less than this share is not worth an effort.
pub const WORTH: f64 = 0.05;
/// A cost of less than this share of p99.9, which one request in a thousand exceeds, is none to act on.
const TAIL_MOST: f64 = 0.1;

/// A share that is written as 0.0%.
const NOTHING: f64 = 0.0005;

/// Figures that the rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Mean response time.
    Mean,
    /// Its 99th percentile.
    P99,
    /// Its 99.9th percentile.
    P999,
}

impl Metric {
    /// From the least to the most of a tail.
    pub const ALL: [Metric; 3] = [Metric::Mean, Metric::P99, Metric::P999];

    /// Of one run, in ns.
    pub fn of(self, run: &Report) -> Option<f64> {
        let all = &run.host.response_ns.all;
        match self {
            Metric::Mean => all.mean,
            Metric::P99 => all.p99.map(|ns| ns as f64),
            Metric::P999 => all.p999.map(|ns| ns as f64),
        }
    }

    /// The share of it up to which a cost is none to act on.
    fn most(self) -> f64 {
        if self == Metric::P999 { TAIL_MOST } else { WORTH }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Mean => "the mean",
            Metric::P99 => "p99",
            Metric::P999 => "p99.9",
        }
    }
}

/// One figure of two runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// Which figure.
    pub metric: Metric,
    /// Of the array in question. Unit: ns.
    pub value: f64,
    /// Of what it is held against. Unit: ns.
    pub against: f64,
    /// The difference and its interval; null where a run has too few requests.
    pub change: Option<Versus>,
}

impl Figure {
    /// The least and the most that the change may be, as a share of what it is held against.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        bounds(self.change.as_ref()?)
    }

    /// The most that the change may be, as the sum of what is shown of it: "+0.2% ±0.4" is at most 0.6%.
    fn most_shown(&self) -> Option<f64> {
        let relative = self.change.as_ref()?.relative?;
        let shown = |share: f64| (share * 1000.0).round();
        Some((shown(relative.mean) + shown(relative.half_width?)) / 1000.0)
    }
}

/// Whether collection matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs more than a twentieth.
    Matters,
    /// It costs less than that.
    DoNothing,
    /// The array does not keep up with the load.
    Overload,
    /// The load is too short to say.
    TooShort,
    /// The intervals leave it open, or the run cannot be used for another reason.
    CannotTell,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Because<'a> {
    /// The array has this warning.
    Warning(&'a Warning),
    /// This figure decides.
    Figure(&'a Figure),
    /// This figure may be up to so much higher with collection. Unit: fraction.
    UpTo(&'a Figure, f64),
    /// There are no intervals of p99 and p99.9.
    NoIntervals,
}

/// What collection costs the first variant of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Its figures, with collection against without; those that all runs have.
    pub figures: Vec<Figure>,
    /// Whether that matters.
    pub verdict: Verdict,
}

impl Cost {
    /// None without one other variant in which collection takes no time on as many devices, or where the first one coordinates: what that
    /// leaves is not what collection costs.
    pub fn of(comparison: &Comparison) -> Option<Cost> {
        let mut variants = comparison.variants();
        let first = variants.next().filter(|runs| !runs[0].is_ideal() && coordinates_nothing(&runs[0]))?;
        let mut bounds = variants.filter(|runs| runs[0].is_ideal());
        let (Some(bound), None) = (bounds.next(), bounds.next()) else { return None };
        let devices = |run: &Report| run.scenario.pointer("/array/devices").cloned();
        if devices(&first[0]) != devices(&bound[0]) {
            return None;
        }
        let figures = figures(first, bound, 1);
        let (verdict, _) = judge(first, &figures);
        (!figures.is_empty()).then_some(Cost { figures, verdict })
    }
}

/// Whether the array leaves collection to its members.
fn coordinates_nothing(run: &Report) -> bool {
    run.array.coordination.policy == "local"
}

/// The figures of some runs held against those of others, those that all runs have. Intervals hold together with those of `pairs`
/// such pairs.
pub fn figures(runs: &[Report], against: &[Report], pairs: usize) -> Vec<Figure> {
    let all: PerMetric<Option<Versus>> = versus(runs, against, pairs);
    let mean = |runs: &[Report], metric: Metric| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| metric.of(run)).collect();
        values
            .filter(|values| !values.is_empty())
            .map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let figure = |metric: Metric| {
        let change = match metric {
            Metric::Mean => all.mean,
            Metric::P99 => all.p99,
            Metric::P999 => all.p999,
        };
        Some(Figure { metric, value: mean(runs, metric)?, against: mean(against, metric)?, change })
    };
    Metric::ALL.into_iter().filter_map(figure).collect()
}

/// The figures, the highest percentile first.
pub fn from_the_tail(figures: &[Figure]) -> impl Iterator<Item = &Figure> {
    figures.iter().rev()
}

/// The least and the most that a change may be, as a share of what it is held against.
fn bounds(change: &Versus) -> Option<(f64, f64)> {
    let relative = change.relative?;
    let half = relative.half_width?;
    Some((relative.mean - half, relative.mean + half))
}

/// Whether the difference and the share of it are more than chance.
pub fn is_sure(change: &Versus) -> bool {
    change.significant == Some(true) && bounds(change).is_some()
}

/// The warning for which runs say nothing, if half of them have one.
pub fn void(runs: &[Report]) -> Option<&Warning> {
    of_variant(runs).find(|warning| voids(&warning.code) || warning.code == NO_COLLECTION)
}

/// Whether collection matters, and what that rests on. `figures` are those of `with`, held against those
/// without collection.
pub fn judge<'a>(with: &'a [Report], figures: &'a [Figure]) -> (Verdict, Because<'a>) {
    if let Some(warning) = void(with) {
        let is_read_only = with.iter().all(|run| run.host.bytes_written == 0);
        let verdict = match warning.code.as_str() {
            OVERLOAD => Verdict::Overload,
            NO_COLLECTION if is_read_only => Verdict::DoNothing,
            FEW_REQUESTS | FEW_COLLECTIONS | SHORT_WINDOW | NO_COLLECTION => Verdict::TooShort,
            _ => Verdict::CannotTell,
        };
        return (verdict, Because::Warning(warning));
    }
    let known: Vec<(&Figure, f64, f64)> = from_the_tail(figures)
        .filter_map(|figure| figure.bounds().map(|(least, most)| (figure, least, most)))
        .collect();
    if let Some((figure, ..)) = known.iter().find(|(_, least, _)| *least > WORTH) {
        return (Verdict::Matters, Because::Figure(figure));
    }
    let has_tail = known.iter().any(|(figure, ..)| figure.metric != Metric::Mean);
    let open = known.iter().find(|(figure, _, most)| *most >= figure.metric.most());
    match (known.first(), open) {
        (Some((figure, ..)), None) if has_tail => (Verdict::DoNothing, Because::Figure(figure)),
        (_, Some((figure, _, most))) if has_tail => (Verdict::CannotTell, Because::UpTo(figure, *most)),
        _ => (Verdict::TooShort, Because::NoIntervals),
    }
}

/// "a, b and c".
fn listed<Name: AsRef<str>>(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// That nothing is to be done, and the most that collection may cost.
pub fn do_nothing(figures: &[Figure]) -> String {
    let known =
        from_the_tail(figures).filter_map(|figure| Some((figure.metric.name(), figure.most_shown()?)));
    let (some, none): (Vec<_>, Vec<_>) = known.partition(|(_, most)| *most >= NOTHING);
    let mut most: Vec<String> =
        some.iter().map(|(name, most)| format!("{:.1}% to {name}", most * 100.0)).collect();
    if !none.is_empty() {
        let names: Vec<&str> = none.iter().map(|(name, _)| *name).collect();
        most.push(format!("nothing to {}", listed(&names)));
    }
    let at_most = if some.is_empty() { "" } else { " at most" };
    let knows_far_tail =
        figures.iter().any(|figure| figure.metric == Metric::P999 && figure.bounds().is_some());
    let beyond = if knows_far_tail { "" } else { " The runs are too short to judge p99.9." };
    // That it adds nothing at all stands with what it costs.
    match most.is_empty() || (some.is_empty() && knows_far_tail) {
        true => "Do nothing about garbage collection.".to_owned(),
        false => {
            let most = listed(&most);
            format!("Do nothing about garbage collection. Collection adds{at_most} {most}.{beyond}")
        }
    }
}
