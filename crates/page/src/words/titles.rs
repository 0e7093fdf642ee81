//! A finding for each chart, or its plain name where best and other do not differ.

use harmonia_metrics::Report;
use harmonia_tables::numbers;

use super::Pair;
use super::{
    ALIKE, ALIKE_TAIL, Titles, any_collecting, change, collected, gc_share, mean_ns, ms, name, percent,
};

/// Shares that differ by less than this, in parts of one, are not told apart in a title.
const SHARES_APART: f64 = 0.005;

pub(super) fn titles(pair: &Pair<'_>) -> Titles {
    let plain = Titles::default();
    let Pair { best, other, bound, .. } = *pair;
    let Some(other) = other else {
        return Titles {
            responses: of_one(best).unwrap_or(plain.responses),
            blame: bound.map_or(plain.blame, |bound| blame_of_one(best, bound)),
            ..plain
        };
    };
    Titles {
        responses: responses(best, other).unwrap_or(plain.responses),
        overlap: shares(best, other, any_collecting)
            .map_or(plain.overlap, |said| format!("At least one SSD collects {said}")),
        blame: shares(best, other, gc_share).map_or(plain.blame, |said| {
            format!(
                "Waiting for garbage collection is {}",
                said.replace("of the time", "of the response time")
            )
        }),
        wear: wear(best, other).unwrap_or(plain.wear),
    }
}

/// The median where it differs, otherwise p99.
fn responses(best: &Report, other: &Report) -> Option<String> {
    let all = |run: &Report| (run.host.response_ns.all.p50, run.host.response_ns.all.p99);
    let (ours, theirs) = (all(best), all(other));
    let said = |what: &str, ours: Option<u64>, theirs: Option<u64>| {
        let (ours, theirs) = (ours? as f64, theirs? as f64);
        (change(ours, theirs).abs() >= ALIKE_TAIL).then(|| {
            format!("{what} is {} under {}, {} under {}", ms(ours), name(best), ms(theirs), name(other))
        })
    };
    said("The median", ours.0, theirs.0).or_else(|| said("p99", ours.1, theirs.1))
}

fn of_one(run: &Report) -> Option<String> {
    let all = &run.host.response_ns.all;
    let (p50, p99) = all.p50.zip(all.p99)?;
    Some(format!("The median is {}, p99 {}", ms(p50 as f64), ms(p99 as f64)))
}

fn blame_of_one(best: &Report, bound: &Report) -> String {
    match mean_ns(best) - mean_ns(bound) {
        more if more > ALIKE * mean_ns(bound) && collected(best) => {
            format!("Waiting for garbage collection is {} of the response time", percent(gc_share(best)))
        }
        _ => Titles::default().blame,
    }
}

/// A share under both, where it differs.
fn shares(best: &Report, other: &Report, share: fn(&Report) -> f64) -> Option<String> {
    let (ours, theirs) = (share(best), share(other));
    ((ours - theirs).abs() >= SHARES_APART).then(|| {
        format!(
            "{} of the time under {}, {} under {}",
            percent(theirs),
            name(other),
            percent(ours),
            name(best)
        )
    })
}

fn wear(best: &Report, other: &Report) -> Option<String> {
    let (ours, theirs) = (best.array.erases as f64, other.array.erases as f64);
    let by = change(ours, theirs);
    let word = if by > 0.0 { "more" } else { "fewer" };
    (theirs > 0.0 && by.abs() >= ALIKE).then(|| {
        format!(
            "{} erases {} blocks, {} {word} than {}",
            name(best),
            numbers::count(best.array.erases),
            percent(by),
            name(other)
        )
    })
}
