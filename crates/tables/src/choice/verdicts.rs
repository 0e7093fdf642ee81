//! Every judgement that words about choices rest on: who wins, who ties, who keeps up, and which runs prove little.
//!
//! Winners and ties are those of the comparison, which the tables and the report show too. What is asked here is the only
//! thing to redirect when judging moves.

use harmonia_metrics::judgement::{OVERLOAD, voids};
use harmonia_metrics::{PerMetric, Report, Versus, Warning, Winner, Winners};

use super::mean;
use crate::label;
use crate::loads::Part;

/// One figure of the comparison's winners.
pub type Figure = fn(&Winners) -> &Option<Winner>;

/// Who has the lowest mean of those one could build (of bounds if there are only those), and who ties with it.
pub fn lowest_mean<'a>(part: &'a Part<'_>) -> Option<(&'a Report, Vec<&'a Report>)> {
    if let Some(winner) = part.comparison.winners.mean.as_ref().filter(|winner| winner.void.is_none()) {
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
pub fn lone_winner<'a>(part: &'a Part<'_>, figure: Figure) -> Option<&'a Report> {
    labelled(part, figure(&part.comparison.winners).as_ref()?.name()?)
}

/// How a run differs from the baseline of its load; none for the baseline itself.
pub fn versus<'a>(part: &'a Part<'_>, run: &Report) -> Option<&'a PerMetric<Option<Versus>>> {
    let index = part.runs.iter().position(|other| std::ptr::eq(other, run))?;
    part.comparison.intervals.variants.get(index)?.versus_baseline.as_ref()
}

/// Whether a test could not tell a difference from chance.
pub fn may_be_chance(versus: Option<Versus>) -> bool {
    versus.is_some_and(|versus| !versus.is_clear())
}

/// The code of the warning for which nobody can be named; none where somebody can, or there is nothing to choose from.
pub fn void<'a>(part: &'a Part<'_>) -> Option<&'a str> {
    part.comparison.winners.mean.as_ref().and_then(|winner| winner.void.as_deref())
}

/// Whether the array keeps up with the load in this run.
pub fn keeps_up(part: &Part<'_>, run: &Report) -> bool {
    !warned(part, run).any(|warning| warning.code == OVERLOAD)
}

/// Whether a run is too short, or collects too little, to choose a policy by.
pub fn proves_little(part: &Part<'_>, run: &Report) -> bool {
    warned(part, run).any(|warning| voids(&warning.code))
}

fn warned<'a>(part: &'a Part<'_>, run: &'a Report) -> impl Iterator<Item = &'a Warning> {
    let is_its = |warning: &&Warning| warning.labels.iter().any(|named| named == label(run));
    part.comparison.warnings.iter().filter(is_its)
}

fn labelled<'a>(part: &'a Part<'_>, label: &str) -> Option<&'a Report> {
    part.runs.iter().find(|run| crate::label(run) == label)
}
