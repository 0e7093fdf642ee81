//! What a search shows, and what speaks against believing it.
//!
//! A function of what was found; the words are made in [`report`](crate::report). Leaves out: how likely a doubt is to be
//! unfounded; each is raised by one comparison at 5%.

use harmonia_metrics::Contrast;

use crate::search::{Dimension, Fate, Found, Plan, Stopped, worse};

/// A reason to think twice.
#[derive(Debug, Clone, PartialEq)]
pub enum Doubt {
    /// Other points cannot be told from the best.
    Flat {
        /// How many, the best included.
        points: usize,
    },
    /// With the seeds of the search already, the best is not better than the scenario as it stands by more than chance.
    NoGain {
        /// The best less the scenario as it stands.
        contrast: Contrast,
    },
    /// The best was better with the seeds of the search, and is not with held-out ones by more than chance.
    GainNotConfirmed {
        /// The same with the seeds of the search.
        searched: Contrast,
        /// The best less the scenario as it stands, held-out seeds.
        held_out: Contrast,
    },
    /// With held-out seeds, another finalist is lower than the best.
    NotBestHeldOut {
        /// Which candidate.
        other: usize,
        /// The other less the best.
        contrast: Contrast,
    },
    /// The best cannot be run with a held-out seed.
    RefusedHeldOut {
        /// Why.
        why: String,
    },
    /// The best has the first or last value of a key: a better one may lie beyond.
    AtTheEnd {
        /// Which key.
        key: usize,
    },
    /// The budget was used up before nothing was left to try.
    OutOfRuns {
        /// Points that were left unfinished.
        dropped: usize,
    },
}

/// The difference of two candidates' costs, seed by seed.
pub fn difference(costs: &[f64], than: &[f64]) -> Option<Contrast> {
    let shared = costs.len().min(than.len());
    Contrast::of(&costs[..shared], &than[..shared], true)
}

/// All doubts, the gravest first.
pub fn doubts(plan: &Plan, found: &Found) -> Vec<Doubt> {
    let Some(best) = found.best else { return Vec::new() };
    let mut doubts = Vec::new();
    if let Fate::Refused(why) = &found.candidates[best].fate {
        doubts.push(Doubt::RefusedHeldOut { why: why.clone() });
    }
    doubts.extend(gain(found, best));
    doubts.extend(rival(found, best));
    if found.plateau.len() > 1 {
        doubts.push(Doubt::Flat { points: found.plateau.len() });
    }
    doubts.extend(ends(plan, found, best));
    if found.stopped == Stopped::Budget {
        let dropped = found.candidates.iter().filter(|one| one.fate == Fate::Dropped).count();
        doubts.push(Doubt::OutOfRuns { dropped });
    }
    doubts
}

/// Whether the best is better than the scenario as it stands, with the seeds of the search and with others.
fn gain(found: &Found, best: usize) -> Option<Doubt> {
    let (best, as_is) = (&found.candidates[best], &found.candidates[0]);
    let searched = difference(&best.costs, &as_is.costs)?;
    if worse(&as_is.costs, &best.costs).is_none() {
        return Some(Doubt::NoGain { contrast: searched });
    }
    let held_out = difference(&best.held_out, &as_is.held_out)?;
    let confirmed = worse(&as_is.held_out, &best.held_out).is_some();
    (!confirmed).then_some(Doubt::GainNotConfirmed { searched, held_out })
}

/// The finalist that is lowest with held-out seeds, if that is not the best.
fn rival(found: &Found, best: usize) -> Option<Doubt> {
    let than = &found.candidates[best].held_out;
    let others = found.finalists.iter().copied().filter(|&index| index != best && index != 0);
    let contrasts =
        others.filter_map(|other| Some((other, difference(&found.candidates[other].held_out, than)?)));
    let lowest = contrasts.min_by(|(_, a), (_, b)| a.difference.mean.total_cmp(&b.difference.mean))?;
    (lowest.1.difference.mean < 0.0).then_some(Doubt::NotBestHeldOut { other: lowest.0, contrast: lowest.1 })
}

/// Keys whose first or last value is the best; where all of a key's values do equally well that means nothing.
fn ends(plan: &Plan, found: &Found, best: usize) -> Vec<Doubt> {
    let Some(point) = &found.candidates[best].point else { return Vec::new() };
    let on_plateau = |key: usize, value: u32| {
        let points = found.plateau.iter().filter_map(|&index| found.candidates[index].point.as_ref());
        points.into_iter().any(|other| other[key] == value)
    };
    let at_the_end = |(key, dimension): (usize, &Dimension)| match *dimension {
        Dimension::Ordered(count) if count > 2 => {
            let last = count - 1;
            let whole_range = on_plateau(key, 0) && on_plateau(key, last);
            ((point[key] == 0 || point[key] == last) && !whole_range).then_some(Doubt::AtTheEnd { key })
        }
        _ => None,
    };
    plan.dimensions.iter().enumerate().filter_map(at_the_end).collect()
}
