//! Who is held against whom.

use harmonia_metrics::{PerMetric, Report, Versus};

use super::{alike, change, mean, mean_ns, verdicts};
use crate::loads::Part;

/// The best of a load and what it is held against.
pub struct Pair<'a> {
    /// The load.
    pub part: &'a Part<'a>,
    /// The run with the lowest mean of those one could build.
    pub best: &'a Report,
    /// The baseline, or, where that is the best, the worst one could build; none if there is nothing to choose.
    pub other: Option<&'a Report>,
    /// The run in which collecting takes no time and that is otherwise like the best.
    pub bound: Option<&'a Report>,
    /// Others that tie with the best.
    pub tied: Vec<&'a Report>,
    /// Best and other tie: nothing was found.
    pub is_tie: bool,
    /// How the two differ, where one of them is the baseline.
    versus: Option<&'a PerMetric<Option<Versus>>>,
}

impl<'a> Pair<'a> {
    /// None if no request completed.
    pub fn of(part: &'a Part<'a>) -> Option<Self> {
        let (best, all_tied) = verdicts::lowest_mean(part)?;
        let ran = || part.runs.iter().filter(|run| mean(run).is_some());
        let choices = || ran().filter(|run| run.is_ideal() == best.is_ideal());
        let bound = ran().find(|run| run.is_ideal() && !best.is_ideal() && alike(run, best));
        let base = choices().next()?;
        let worst = choices().max_by(|a, b| mean_ns(a).total_cmp(&mean_ns(b)))?;
        let other = if std::ptr::eq(base, best) { worst } else { base };
        let other = (!std::ptr::eq(other, best)).then_some(other);
        let is_other = |run: &Report| other.is_some_and(|other| std::ptr::eq(other, run));
        let is_tie = all_tied.iter().any(|run| is_other(run));
        let tied = all_tied.into_iter().filter(|run| !is_other(run)).collect();
        let first = part.runs.first();
        let is_first = |run: &Report| first.is_some_and(|first| std::ptr::eq(first, run));
        let held = if is_first(best) { other } else { Some(best) };
        let versus = held
            .filter(|_| is_first(best) || other.is_some_and(is_first))
            .and_then(|held| verdicts::versus(part, held));
        Some(Pair { part, best, other, bound, tied, is_tie, versus })
    }

    /// Whether the best is what everything is held against.
    pub fn best_is_baseline(&self) -> bool {
        self.part.runs.first().is_some_and(|first| std::ptr::eq(first, self.best))
    }

    /// How much lower the best mean is than the other's, as a share of the latter.
    pub fn gain(&self) -> f64 {
        self.other.map_or(0.0, |other| -change(mean_ns(self.best), mean_ns(other)))
    }

    /// How one figure of the pair differs, with its interval.
    pub fn difference(&self, of: fn(&PerMetric<Option<Versus>>) -> Option<Versus>) -> Option<Versus> {
        self.versus.and_then(of)
    }

    /// The positions, among all runs, of those that headline and titles speak of.
    pub fn spoken_of(&self) -> Vec<usize> {
        let all = [Some(self.best), self.other, self.bound].into_iter().flatten();
        all.chain(self.tied.iter().copied()).filter_map(|run| self.part.position(run)).collect()
    }
}
