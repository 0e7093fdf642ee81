//! What to do, in one sentence, where the figures allow it: a clear winner, enough requests and collections behind it,
//! and an array that keeps up.

use harmonia_metrics::Report;

use super::pair::Pair;
use super::verdicts;
use super::{ALIKE, ALIKE_TAIL, alike, change, collected, more_than, name, p99, p999, percent};

pub(super) fn advice(pair: &Pair<'_>) -> Option<String> {
    let Pair { part, best, other, .. } = pair;
    let other = (*other)?;
    let unfit = |run: &Report| verdicts::proves_little(part, run);
    if pair.is_tie || !alike(best, other) || !collected(other) || unfit(best) || unfit(other) {
        return None;
    }
    if pair.best_is_baseline() {
        return Some(format!("Stay with {}: no other choice here has a lower mean.", name(best)));
    }
    let condition = higher_tail(pair, other).map(|tail| format!(" if the mean matters more than {tail}"));
    Some(format!("Choose {}{}. {}", choices(pair), condition.unwrap_or_default(), price(pair, other)))
}

/// The best, and what would do as well.
fn choices(Pair { best, tied, .. }: &Pair<'_>) -> String {
    match tied.as_slice() {
        [] => name(best),
        [one] => format!("{} or {}", name(best), name(one)),
        more => format!("{} or one of the {} that tie with it", name(best), more.len()),
    }
}

/// The percentile that a lower mean is paid with.
fn higher_tail(pair: &Pair<'_>, other: &Report) -> Option<&'static str> {
    let higher = |of: fn(&Report) -> Option<f64>| {
        of(pair.best).zip(of(other)).is_some_and(|(ours, theirs)| change(ours, theirs) >= ALIKE_TAIL)
    };
    let p99_counts = !verdicts::may_be_chance(pair.difference(|all| all.p99));
    let p999_counts = !verdicts::may_be_chance(pair.difference(|all| all.p999));
    if p99_counts && higher(p99) {
        return Some("p99");
    }
    (p999_counts && higher(p999)).then_some("p99.9")
}

/// What it costs in erased blocks, which wear flash out.
fn price(pair: &Pair<'_>, other: &Report) -> String {
    let (ours, theirs) = (pair.best.array.erases, other.array.erases);
    let ratio = if theirs == 0 { 1.0 } else { ours as f64 / theirs as f64 };
    let subject = if pair.tied.is_empty() { "It".to_owned() } else { name(pair.best) };
    match ratio {
        ratio
            if (ratio - 1.0).abs() < ALIKE
                || verdicts::may_be_chance(pair.difference(|all| all.erases))
                || pair.part.comparison.winners.wear_at_the_edge =>
        {
            format!("{subject} erases no more blocks than {}.", name(other))
        }
        ratio if ratio > 1.0 => {
            let whose =
                if pair.tied.is_empty() { "Its price".to_owned() } else { format!("The price of {subject}") };
            format!("{whose} is {} under {}.", more_than(ratio, "erased blocks"), name(other))
        }
        ratio => format!("{subject} also erases {} fewer blocks than {}.", percent(1.0 - ratio), name(other)),
    }
}
