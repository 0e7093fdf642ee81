//! Several loads: what is best under each, and whether that is the same. Never one load against another.

use super::{Pair, verdicts};
use super::{Words, collected, mean_ns, ms, percent, titles, why};
use crate::html::named;
use harmonia_tables::loads::Part;

/// Of many more loads than these the table tells.
const LOADS_TOLD: usize = 4;

/// None if no request completed under any load.
pub(super) fn of(parts: &[Part<'_>]) -> Option<Words> {
    let pairs: Vec<Pair<'_>> = parts.iter().filter_map(Pair::of).collect();
    let shown = focus(&pairs)?;
    Some(Words {
        headline: headline(&pairs),
        cautions: Vec::new(),
        lead: lead(&pairs),
        why: vec![format!(
            "The runs serve {} loads. Runs are compared within one load, each with the first run of that load as its \
             baseline.",
            parts.len()
        )]
        .into_iter()
        .chain(why::paragraph(shown, false).into_iter().skip(1))
        .collect(),
        titles: titles::titles(shown),
        spoken_of: shown.spoken_of(),
    })
}

/// The load that charts begin with: the last one under which something was found, or that the best choice keeps up with.
fn focus<'a, 'b>(pairs: &'b [Pair<'a>]) -> Option<&'b Pair<'a>> {
    let last = |test: &dyn Fn(&Pair<'_>) -> bool| pairs.iter().rfind(|pair| test(pair));
    last(&|pair| found(pair).is_some())
        .or_else(|| last(&|pair| verdicts::keeps_up(pair.part, pair.best)))
        .or_else(|| pairs.last())
}

/// What was found under one load.
struct Found<'a> {
    /// The best choice and those that tie with it.
    best: Vec<&'a str>,
    gain: f64,
    /// It is the baseline, which others do not improve on.
    is_baseline: bool,
}

/// None where nothing is clearly better, or nothing keeps up.
fn found<'a>(pair: &Pair<'a>) -> Option<Found<'a>> {
    let is_found = pair.other.is_some()
        && !pair.is_tie
        && pair.part.runs.iter().any(collected)
        && verdicts::keeps_up(pair.part, pair.best);
    is_found.then(|| {
        let best = std::iter::once(pair.best).chain(pair.tied.iter().copied());
        Found {
            best: best.map(|run| pair.part.choice(run)).collect(),
            gain: pair.gain(),
            is_baseline: pair.best_is_baseline(),
        }
    })
}

fn headline(pairs: &[Pair<'_>]) -> String {
    let all: Vec<Found<'_>> = pairs.iter().filter_map(found).collect();
    let [first, others @ ..] = all.as_slice() else {
        return match pairs.iter().any(|pair| pair.other.is_some()) {
            true => "No choice has a clearly lower mean under any load".to_owned(),
            false => format!("Mean response times under {} loads", pairs.len()),
        };
    };
    let common = first.best.iter().find(|choice| others.iter().all(|found| found.best.contains(*choice)));
    let Some(choice) = common else { return "Which choice is best depends on the load".to_owned() };
    let gains = || all.iter().map(|found| found.gain);
    let (least, most) = (gains().fold(f64::MAX, f64::min), gains().fold(0.0, f64::max));
    let by = match (percent(least), percent(most)) {
        (least, most) if least == most => format!("by {most}"),
        (least, most) => format!("by {least} to {most}"),
    };
    let loads = match (all.len(), pairs.len()) {
        (found, loads) if found == loads => "every load".to_owned(),
        (found, loads) => format!("{found} of {loads} loads"),
    };
    match all.iter().any(|found| found.is_baseline) {
        true => format!("{} has the lowest mean response time under {loads}", named(choice)),
        false => format!("{} cuts the mean response time under {loads}, {by}", named(choice)),
    }
}

/// One sentence a load.
fn lead(pairs: &[Pair<'_>]) -> Vec<String> {
    let told = if pairs.len() <= LOADS_TOLD + 1 { pairs.len() } else { LOADS_TOLD };
    let mut said: Vec<String> = pairs.iter().take(told).map(sentence).collect();
    if told < pairs.len() {
        said.push(format!("The table has {} more loads.", pairs.len() - told));
    }
    said
}

fn sentence(pair: &Pair<'_>) -> String {
    let load = &pair.part.name;
    let (best, choice) = (ms(mean_ns(pair.best)), named(pair.part.choice(pair.best)));
    match pair.other {
        _ if !verdicts::keeps_up(pair.part, pair.best) => {
            format!("At {load} the array does not keep up with the load.")
        }
        None if pair.part.choice(pair.best).is_empty() => format!("At {load} the mean is {best}."),
        None => format!("At {load} the mean is {best} under {choice}."),
        Some(other) => {
            let told = match pair.is_tie {
                true => "a tie".to_owned(),
                false => format!("{} less", percent(pair.gain())),
            };
            let base = named(pair.part.choice(other));
            format!(
                "At {load} the mean is {best} under {choice} and {} under {base}: {told}.",
                ms(mean_ns(other))
            )
        }
    }
}
