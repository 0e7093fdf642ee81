//! Every judgement that the words rest on: who wins, who ties, who keeps up, and which runs prove little.
//!
//! Winners and ties are those of the comparison, which the tables and the report show too. What is asked here is the only
//! thing to redirect when judging moves.

use harmonia_metrics::{PerMetric, Report, Versus, Winner, Winners};

use super::super::loads::Part;
use super::{collected, mean};

/// Fewer collected blocks than this over all members are few to judge a policy by.
pub(super) const VICTIMS_FEW: u64 = 200;
/// Fewer requests than this are few for a percentile.
pub(super) const REQUESTS_FEW: u64 = 1_000;
/// Median response of the last quarter over that of the first, from which the array is said not to keep up.
const GROWTH_OVERLOADED: f64 = 3.0;

/// One figure of the comparison's winners.
pub(super) type Figure = fn(&Winners) -> &Option<Winner>;

/// Who has the lowest mean of those one could build (of bounds if there are only those), and who ties with it.
pub(super) fn lowest_mean<'a>(part: &'a Part<'_>) -> Option<(&'a Report, Vec<&'a Report>)> {
    if let Some(winner) = &part.comparison.winners.mean {
        let mut lowest = winner.labels.iter().filter_map(|label| labelled(part, label));
        let best = lowest.next()?;
        return Some((best, lowest.filter(|run| !std::ptr::eq(*run, best)).collect()));
    }
    let lowest = |ideal: bool| {
        let known = part.runs.iter().filter(|run| run.is_ideal() == ideal && mean(run).is_some());
        known.min_by(|a, b| mean(a).unwrap_or(f64::MAX).total_cmp(&mean(b).unwrap_or(f64::MAX)))
    };
    Some((lowest(false).or_else(|| lowest(true))?, Vec::new()))
}

/// The only winner of a figure; none where there is a tie or nothing to choose from.
pub(super) fn lone_winner<'a>(part: &'a Part<'_>, figure: Figure) -> Option<&'a Report> {
    let winner = figure(&part.comparison.winners).as_ref().filter(|winner| !winner.is_tie())?;
    labelled(part, winner.labels.first()?)
}

/// How a run differs from the baseline of its load; none for the baseline itself.
pub(super) fn versus<'a>(part: &'a Part<'_>, run: &Report) -> Option<&'a PerMetric<Option<Versus>>> {
    let index = part.runs.iter().position(|other| std::ptr::eq(other, run))?;
    part.comparison.intervals.variants.get(index)?.versus_baseline.as_ref()
}

/// Whether a test could not tell a difference from chance.
pub(super) fn may_be_chance(versus: Option<Versus>) -> bool {
    versus.is_some_and(|versus| versus.significant == Some(false))
}

/// Whether responses do not grow throughout the run.
pub(super) fn keeps_up(part: &Part<'_>, run: &Report) -> bool {
    let index = part.runs.iter().position(|other| std::ptr::eq(other, run));
    !index.is_some_and(|index| grows(part.growth.get(index).copied().flatten()))
}

/// Whether response times grow so much that the array does not keep up.
pub(super) fn grows(growth: Option<f64>) -> bool {
    growth.is_some_and(|growth| growth >= GROWTH_OVERLOADED)
}

/// Whether a run is too short, or collects too little, to choose a policy by.
pub(super) fn proves_little(part: &Part<'_>, run: &Report) -> bool {
    !keeps_up(part, run) || run.host.requests < REQUESTS_FEW || collected_few(run)
}

/// Whether only few blocks were collected.
pub(super) fn collected_few(run: &Report) -> bool {
    let victims: u64 = run.devices.iter().map(|device| device.gc_victims).sum();
    collected(run) && !run.is_ideal() && victims < VICTIMS_FEW
}

fn labelled<'a>(part: &'a Part<'_>, label: &str) -> Option<&'a Report> {
    part.runs.iter().find(|run| run.label == label)
}
