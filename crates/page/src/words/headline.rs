//! The finding in a line.

use harmonia_metrics::Report;
use harmonia_metrics::judgement::collection::{Cost, Verdict};

use super::{ALIKE_TAIL, change, collected, gc_share, mean_ns, name, p99, p999, percent};
use super::{Pair, verdicts};

/// Waiting for less than this share of the response time is hardly any.
const HARDLY: f64 = 0.05;

pub(super) fn headline(pair: &Pair<'_>) -> String {
    let Pair { part, best, other, .. } = pair;
    if !part.runs.iter().any(collected) {
        return "No garbage collection happened, so there was nothing to coordinate".to_owned();
    }
    if !verdicts::keeps_up(part, best) {
        return "The array does not keep up with the load".to_owned();
    }
    if Cost::of(&part.comparison).is_some_and(|cost| cost.verdict == Verdict::DoNothing) {
        return "Do nothing about garbage collection: it does not matter here".to_owned();
    }
    match other {
        None => of_one_choice(pair),
        Some(other) if !verdicts::keeps_up(part, other) => {
            format!("{} keeps up with the load, {} does not", name(best), name(other))
        }
        Some(_) if pair.is_tie => "No choice has a clearly lower mean response time".to_owned(),
        Some(other) => of_choices(pair, other),
    }
}

fn of_one_choice(Pair { best, bound, .. }: &Pair<'_>) -> String {
    match bound {
        Some(bound) if mean_ns(bound) > 0.0 && mean_ns(best) / mean_ns(bound) >= 1.0 + super::ALIKE => {
            format!(
                "Garbage collection makes the mean response time {:.1} times as long under {}",
                mean_ns(best) / mean_ns(bound),
                name(best)
            )
        }
        _ if gc_share(best) < HARDLY => "Garbage collection hardly slows requests here".to_owned(),
        _ => {
            format!("Requests spend {} of their time waiting for garbage collection", percent(gc_share(best)))
        }
    }
}

fn of_choices(pair: &Pair<'_>, other: &Report) -> String {
    let Pair { best, tied, .. } = pair;
    let ties = match tied.as_slice() {
        [] => String::new(),
        [one] => format!(" and ties with {}", name(one)),
        more => format!(" and ties with {} others", more.len()),
    };
    if pair.best_is_baseline() {
        let lead = format!("{} has the lowest mean response time{ties}", name(best));
        return format!("{lead}, {} below {}", percent(pair.gain()), name(other));
    }
    // A tie is told below too; a tail that is no better must not be missed.
    let tail = tail_besides(pair, other);
    let more = if tail.is_empty() { ties } else { tail };
    format!("{} cuts the mean response time by {}{more}", name(best), percent(pair.gain()))
}

/// What a better mean must not hide: a tail that is not better.
fn tail_besides(pair: &Pair<'_>, other: &Report) -> String {
    let changed = |of: fn(&Report) -> Option<f64>| Some(change(of(pair.best)?, of(other)?));
    match (changed(p99), changed(p999)) {
        (Some(by), _) if by >= ALIKE_TAIL && !verdicts::may_be_chance(pair.difference(|all| all.p99)) => {
            format!(", but raises p99 by {}", percent(by))
        }
        (Some(by), _)
            if by > -ALIKE_TAIL && by < 0.0 && !verdicts::may_be_chance(pair.difference(|all| all.p99)) =>
        {
            format!(", but p99 by only {}", percent(by))
        }
        (Some(by), _) if by > -ALIKE_TAIL => ", but not p99".to_owned(),
        (_, Some(by)) if by > -ALIKE_TAIL => ", but not p99.9".to_owned(),
        _ => String::new(),
    }
}
