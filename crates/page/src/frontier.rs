//! The frontier picture: what a low tail of reads costs in flash, a mark for each run.
//!
//! A run is on the frontier if no other that one could build has both a lower tail and a lower write amplification. The tail
//! is the 99.9th percentile of reads where all runs have one, or else the highest that all have. Bars are the runs' own
//! confidence intervals. A run whose figures mean nothing is on no frontier.
//!
//! Leaves out: whether neighbours on the frontier differ by more than chance, which is for the winners to say.

use harmonia_metrics::judgement::voids;
use harmonia_metrics::{Interval, PerMetric, Report, VariantIntervals};
use harmonia_tables::label;
use serde_json::{Value, json};

use super::html::named;
use super::words::listed;

/// So many policies that one could build make a picture.
const POLICIES_MIN: usize = 3;

type Metric = fn(&PerMetric<Option<Interval>>) -> Option<Interval>;

/// Tails, the one that is wanted first.
const TAILS: [(&str, Metric); 4] = [
    ("p99.9 of reads", |metrics| metrics.read_p999),
    ("p99 of reads", |metrics| metrics.read_p99),
    ("p99.9", |metrics| metrics.p999),
    ("p99", |metrics| metrics.p99),
];

/// The picture; its runs are those of the page.
pub(super) struct Frontier {
    /// What the tail is, such as "p99.9 of reads".
    what: &'static str,
    points: Vec<Point>,
}

struct Point {
    run: usize,
    name: String,
    bound: bool,
    /// Its figures mean nothing: a run too short, an array that had not settled, or the like.
    is_void: bool,
    amplification: Interval,
    tail: Interval,
}

impl Frontier {
    /// Of these variants, if they are of one load and show at least three policies.
    pub(super) fn of(runs: &[Report], variants: &[VariantIntervals], loads: usize) -> Option<Frontier> {
        let mut policies: Vec<&str> = Vec::new();
        for run in runs.iter().filter(|run| !run.is_ideal()) {
            let policy = run.array.coordination.policy.as_str();
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
        if policies.len() < POLICIES_MIN || loads > 1 {
            return None;
        }
        let has_all =
            |(_, tail): &&(&str, Metric)| variants.iter().all(|variant| tail(&variant.metrics).is_some());
        let (what, tail) = TAILS.iter().find(has_all)?;
        let point = |(run, (report, variant)): (usize, (&Report, &VariantIntervals))| {
            Some(Point {
                run,
                name: named(label(report)),
                bound: report.is_ideal(),
                is_void: report.warnings.iter().any(|warning| voids(&warning.code)),
                amplification: variant.metrics.write_amplification_whole_cycles?,
                tail: tail(&variant.metrics)?,
            })
        };
        let points: Vec<Point> = runs.iter().zip(variants).enumerate().filter_map(point).collect();
        (points.len() >= POLICIES_MIN).then_some(Frontier { what, points })
    }

    /// Whether no other has both a lower tail and a lower write amplification.
    fn is_on_it(&self, point: &Point) -> bool {
        let beats = |other: &Point| {
            let lower = (other.tail.mean, other.amplification.mean);
            let ours = (point.tail.mean, point.amplification.mean);
            !other.bound && !other.is_void && lower.0 <= ours.0 && lower.1 <= ours.1 && lower != ours
        };
        !point.bound && !point.is_void && !self.points.iter().any(beats)
    }

    pub(super) fn title(&self) -> String {
        let on: Vec<String> =
            self.points.iter().filter(|point| self.is_on_it(point)).map(|point| point.name.clone()).collect();
        match on.len() {
            0 => format!("{} and flash wear", self.what),
            1 => format!("{} has the lowest {} and the lowest write amplification", on[0], self.what),
            _ => format!("Between {} and flash wear, the choice is {}", self.what, listed(&on)),
        }
    }

    pub(super) fn caption(&self) -> String {
        let mut text = format!(
            "Each mark is a run. Its height is the {}, its place from left to right the write amplification. <b>Further left \
             and lower is better.</b> The line joins the runs that no other beats at both. Bars are 95% confidence intervals. \
             Where they overlap, the order may be chance. A figure without a bar has no interval.",
            self.what
        );
        if self.what != TAILS[0].0 {
            text.push_str(match self.what {
                "p99 of reads" => " There are too few reads to say a p99.9.",
                _ => " There are too few reads to say their percentiles, so all requests are counted.",
            });
        }
        text
    }

    /// What the chart is drawn from.
    pub(super) fn data(&self) -> Value {
        let point = |point: &Point| {
            json!({
                "run": point.run, "on": self.is_on_it(point),
                "x": point.amplification.mean, "dx": point.amplification.half_width,
                "y": point.tail.mean, "dy": point.tail.half_width,
            })
        };
        json!({"what": self.what, "points": self.points.iter().map(point).collect::<Vec<_>>()})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::escaped;
    use harmonia_metrics::Comparison;
    use harmonia_tables::fixtures::run;

    /// Write amplification and p99.9 of reads in us by run.
    fn frontier(figures: &[(&str, f64, Option<u64>)]) -> Option<Frontier> {
        let runs = figures.iter().map(|&(label, amplification, p999)| {
            let schedule = if label == "ideal" { "ideal" } else { "blocking" };
            let mut run = run(label, schedule, 0, 0, &[1.0]);
            run.array.write_amplification_whole_cycles = Some(amplification);
            run.host.response_ns.read.p999 = p999.map(|us| us * 1_000);
            run.host.response_ns.read.p99 = Some(1_000);
            run
        });
        let comparison = Comparison::new(runs.collect(), 1);
        Frontier::of(&comparison.runs, &comparison.intervals.variants, 1)
    }

    fn on(frontier: &Frontier) -> Vec<&str> {
        frontier
            .points
            .iter()
            .filter(|point| frontier.is_on_it(point))
            .map(|point| label_of(&point.name))
            .collect()
    }

    fn label_of(name: &str) -> &str {
        name.trim_matches(char::is_control)
    }

    #[test]
    fn who_is_beaten_at_both_is_not_on_the_frontier_and_the_bound_beats_nobody() {
        let all = [
            ("local", 2.0, Some(900)),
            ("gclock", 3.0, Some(400)),
            ("gcsync", 3.5, Some(400)),
            ("proactive-idle", 2.5, Some(950)),
            ("ideal", 1.0, Some(10)),
        ];
        let frontier = frontier(&all).expect("a picture");
        assert_eq!(on(&frontier), ["local", "gclock"]);
        assert_eq!(
            escaped(&frontier.title()),
            "Between p99.9 of reads and flash wear, the choice is local and gclock"
        );
    }

    #[test]
    fn a_run_whose_figures_mean_nothing_is_not_on_it_and_beats_nobody() {
        let all = [("local", 2.0, Some(900)), ("gclock", 3.0, Some(400)), ("gcsync", 1.0, Some(100))];
        let mut frontier = frontier(&all).expect("a picture");
        assert_eq!(on(&frontier), ["gcsync"]);
        frontier.points[2].is_void = true;
        assert_eq!(on(&frontier), ["local", "gclock"]);
        frontier.points.iter_mut().for_each(|point| point.is_void = true);
        assert_eq!(frontier.title(), "p99.9 of reads and flash wear");
    }

    #[test]
    fn equals_are_both_on_it() {
        let all = [("local", 2.0, Some(900)), ("gclock", 2.0, Some(900)), ("gcsync", 2.0, Some(901))];
        assert_eq!(on(&frontier(&all).expect("a picture")), ["local", "gclock"]);
    }

    #[test]
    fn where_one_run_lacks_the_tail_all_show_a_lower_one_and_it_is_said() {
        let all = [("local", 2.0, Some(900)), ("gclock", 3.0, None), ("gcsync", 3.5, Some(400))];
        let frontier = frontier(&all).expect("a picture");
        assert_eq!(frontier.what, "p99 of reads");
        assert!(frontier.caption().ends_with("There are too few reads to say a p99.9."));
    }

    #[test]
    fn two_policies_and_a_bound_are_no_picture() {
        let all = [("local", 2.0, Some(900)), ("gclock", 3.0, Some(400)), ("ideal", 1.0, Some(10))];
        assert!(frontier(&all).is_none());
    }
}
