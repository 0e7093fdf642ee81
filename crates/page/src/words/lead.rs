//! The finding in two sentences: the mean, and the tail where there is more to say.

use std::fmt::Write as _;

use harmonia_metrics::{Interval, Report};

use super::{ALIKE_TAIL, change, listed, mean_ns, ms, name, p99, p999, percent};
use super::{Pair, verdicts};

pub(super) fn sentences(pair: &Pair<'_>) -> Vec<String> {
    match pair.other {
        Some(other) => [Some(on_average(pair, other)), tail(pair, other)].into_iter().flatten().collect(),
        None => alone(pair.best).into_iter().collect(),
    }
}

pub(super) fn on_average(pair: &Pair<'_>, other: &Report) -> String {
    let Pair { best, tied, .. } = pair;
    if !verdicts::keeps_up(pair.part, other) {
        return format!(
            "Under {} the mean response time grows with the length of the run. Under {} it is {}.",
            name(other),
            name(best),
            ms(mean_ns(best))
        );
    }
    let mut text = format!(
        "Under {} the mean response time is {}, under {} {}",
        name(other),
        ms(mean_ns(other)),
        name(best),
        ms(mean_ns(best))
    );
    let gain = percent(pair.gain());
    let _ = match pair.difference(|all| all.mean).and_then(|versus| versus.relative) {
        _ if pair.is_tie && pair.gain() == 0.0 => write!(text, ", a tie"),
        _ if pair.is_tie => write!(text, ": {gain} less, which counts as a tie"),
        Some(relative) if relative.half_width.is_some() && relative.mean < 0.0 => {
            write!(text, ": {gain} less (confidence interval {})", savings(&relative))
        }
        _ => write!(text, ": {gain} less"),
    };
    text.push('.');
    if !tied.is_empty() {
        let names: Vec<String> = tied.iter().map(|run| name(run)).collect();
        let verb = if tied.len() == 1 { "ties" } else { "tie" };
        let _ = write!(text, " {} {verb} with {}.", listed(&names), name(best));
    }
    text
}

/// What may be saved, as an interval of relative change says: no less than nothing, and no more than all.
fn savings(relative: &Interval) -> String {
    format!("{} to {}", percent((-relative.high()).max(0.0)), percent((-relative.low()).min(1.0)))
}

/// p99, p99.9 where it tells something else, and who has a lower p99 than the best of the mean.
fn tail(pair: &Pair<'_>, other: &Report) -> Option<String> {
    let (ours, theirs) = (p99(pair.best)?, p99(other)?);
    let by = change(ours, theirs);
    let chance = verdicts::may_be_chance(pair.difference(|all| all.p99));
    let mut text = format!("p99 is {} and {}{}", ms(theirs), ms(ours), told(by, chance));
    if let Some((ours, theirs)) = p999(pair.best).zip(p999(other)) {
        let beyond = change(ours, theirs);
        let chance = verdicts::may_be_chance(pair.difference(|all| all.p999));
        if direction(beyond) != direction(by) {
            let _ = write!(text, ", p99.9 {} and {}{}", ms(theirs), ms(ours), told(beyond, chance));
        }
    }
    text.push('.');
    let lowest = verdicts::lone_winner(pair.part, |winners| &winners.p99);
    let lowest = lowest.filter(|run| !std::ptr::eq(*run, pair.best) && !std::ptr::eq(*run, other));
    if let Some((run, lowest)) = lowest.and_then(|run| Some((run, p99(run)?))) {
        let _ = write!(text, " {} has the lowest p99, {}.", name(run), ms(lowest));
    }
    Some(text)
}

/// Lower, alike or higher, as far as a percentile is known.
fn direction(change: f64) -> i8 {
    if change.abs() < ALIKE_TAIL { 0 } else { change.signum() as i8 }
}

fn told(change: f64, chance: bool) -> String {
    match change {
        0.0 => ", no difference".to_owned(),
        _ if chance => ", a difference that may be chance".to_owned(),
        less if less < 0.0 => format!(" ({} less)", percent(change)),
        _ => format!(" ({} more)", percent(change)),
    }
}

/// One choice only: percentiles beside the mean.
fn alone(run: &Report) -> Option<String> {
    let all = &run.host.response_ns.all;
    let mut text = format!("The median is {}", ms(all.p50? as f64));
    let percentiles = [("p99", all.p99), ("p99.9", all.p999)];
    for (what, ns) in percentiles.into_iter().filter_map(|(what, ns)| Some((what, ns?))) {
        let _ = write!(text, ", {what} {}", ms(ns as f64));
    }
    Some(text + ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_saves_more_than_all() {
        let saved = |mean, half| savings(&Interval { mean, half_width: Some(half), samples: 10 });
        assert_eq!(saved(-0.3, 0.1), "20% to 40%");
        assert_eq!(saved(-0.8, 0.27), "53% to 100%");
        assert_eq!(saved(-0.1, 0.2), "0% to 30%");
    }
}
