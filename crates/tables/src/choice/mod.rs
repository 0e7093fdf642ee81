//! What to do, in a few sentences, for terminal and page: nothing, where collection does not matter; otherwise the best choice, where
//! the figures allow it. That takes a clear winner, enough requests and collections behind it, and an array that keeps up.
//!
//! ```text
//!   loads::Part --> Pair: who is held against whom --> advice; headline, lead and titles of the page
//!                      \-- asks verdicts: who wins, who ties, who keeps up
//! ```
//!
//! Leaves out: what several loads have in common.

mod pair;
pub mod verdicts;

use harmonia_metrics::judgement::collection::{Cost, Verdict, do_nothing};
use harmonia_metrics::{Report, Versus, judgement};
use harmonia_scenario::policies::{self, Kind};

use crate::load::counted;
use crate::winners::{self, Name, required};
use crate::{beyond, capital, label, needs, numbers};
pub use pair::Pair;

/// Changes below this share are called none where no test of a difference exists, as of counts.
pub const ALIKE: f64 = 0.01;
/// Changes of a percentile below this share are called none: a tail is known less well than a mean.
pub const ALIKE_TAIL: f64 = 0.02;

/// A p99 so many times that of the bound is named.
const FAR_ABOVE: f64 = 2.0;

/// What to do under one load; none where nothing can be named.
pub fn advice(pair: &Pair<'_>, name: Name) -> Option<String> {
    let Pair { part, best, other, .. } = pair;
    if let Some(Cost { figures, verdict: Verdict::DoNothing }) = Cost::of(&part.comparison) {
        let seen = part.runs.first().and_then(|run| {
            judgement::events(run)?;
            let events: u64 = run.devices.iter().map(|device| device.gc_events).sum();
            Some(format!(
                " Under {} the SSDs collected {} and erased {}.",
                name(label(run)),
                counted(events, "time"),
                counted(run.array.erases, "block")
            ))
        });
        return Some(do_nothing(&figures) + &seen.unwrap_or_default());
    }
    let other = (*other)?;
    let unfit = |run: &Report| verdicts::proves_little(part, run);
    if pair.is_tie || !alike(best, other) || !collected(other) || unfit(best) || unfit(other) {
        return None;
    }
    if pair.best_is_baseline() {
        return Some(format!("Stay with {}: no other choice here has a lower mean.", name(label(best))));
    }
    let condition = higher_tail(pair, other).map(|tail| format!(" if the mean matters more than {tail}"));
    let price = price(pair, other, name);
    let subject = subject(pair, name);
    let subject = if price.starts_with(&subject) { "It" } else { &*subject };
    let needs = required(needs(best)).map(|what| format!(" {subject} needs SSDs that {what}."));
    Some(format!(
        "Choose {}{}{}{}{} {}{}",
        choices(pair, name),
        condition.unwrap_or_default(),
        description(pair, other, name),
        gains(pair, other, name),
        what_is_left(pair).unwrap_or_default(),
        price,
        needs.unwrap_or_default()
    ))
}

/// What else to know of the choice: what is left with any drives, and what of its gain is not collection.
pub fn remarks(Pair { part, .. }: &Pair<'_>, name: Name) -> Option<String> {
    // Where nobody can be named there is no choice to remark on.
    verdicts::void(part).is_none().then_some(())?;
    let is_nothing = Cost::of(&part.comparison).is_some_and(|cost| cost.verdict == Verdict::DoNothing);
    let any = (!is_nothing).then(|| winners::with_any_drive(&part.comparison, &part.runs, name)).flatten();
    let beyond = beyond::sentence(&part.comparison, &part.runs, name);
    let said: Vec<String> = [any, beyond].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The best, and what would do as well.
fn choices(Pair { best, tied, .. }: &Pair<'_>, name: Name) -> String {
    let name = |run: &Report| name(label(run));
    match tied.as_slice() {
        [] => name(best),
        [one] => format!("{} or {}", name(best), name(one)),
        more => format!("{} or one of the {} that tie with it", name(best), more.len()),
    }
}

/// What the best does that the other does not, as its registry says it, after the best was named.
fn description(Pair { best, tied, .. }: &Pair<'_>, other: &Report, name: Name) -> String {
    let does = if coordination(best) != coordination(other) {
        policies::coordinated(coordination(best))
    } else if schedule(best) != schedule(other) {
        schedule(best).and_then(|schedule| policies::summary(Kind::Schedule, schedule)).map(str::to_owned)
    } else {
        None
    };
    match does {
        None => ".".to_owned(),
        Some(does) if tied.is_empty() => format!(": {does}."),
        Some(does) => format!(". {}: {does}.", name(label(best))),
    }
}

fn coordination(run: &Report) -> &str {
    &run.array.coordination.policy
}

fn schedule(run: &Report) -> Option<&str> {
    run.scenario.pointer("/ssd/gc/schedule")?.as_str()
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

/// The best choice, after it was named.
fn subject(pair: &Pair<'_>, name: Name) -> String {
    if pair.tied.is_empty() { "It".to_owned() } else { name(label(pair.best)) }
}

/// What it changes of the mean and of the percentiles, where more than chance.
fn gains(pair: &Pair<'_>, other: &Report, name: Name) -> String {
    let figures: [(&str, Figure, Option<Versus>); 3] = [
        ("mean", mean, pair.difference(|all| all.mean)),
        ("p99", p99, pair.difference(|all| all.p99)),
        ("p99.9", p999, pair.difference(|all| all.p999)),
    ];
    let one = |(what, of, versus): (&str, Figure, Option<Versus>)| {
        let (ours, theirs) = (of(pair.best)?, of(other)?);
        let change = change(ours, theirs);
        let is_known = versus.is_none_or(|versus| versus.is_clear());
        match is_known {
            false => return Some(format!("{what} about as under {}", name(label(other)))),
            true if change.abs() < ALIKE => {
                return Some(format!(
                    "{what} within {} of that under {}",
                    percent(ALIKE),
                    name(label(other))
                ));
            }
            true => {}
        }
        let word = if change < 0.0 { "lower" } else { "higher" };
        let by = versus.map_or_else(|| percent(change), |versus| winners::size(&versus));
        Some(format!("{what} {by} {word} ({} to {} ms)", numbers::ms(theirs), numbers::ms(ours)))
    };
    let told: Vec<String> = figures.into_iter().filter_map(one).collect();
    if told.is_empty() { String::new() } else { format!(" {}.", capital(&told.join(", "))) }
}

/// What the best does not change: a p99 far above that of the bound.
fn what_is_left(pair: &Pair<'_>) -> Option<String> {
    let times = p99(pair.best)? / p99(pair.bound?).filter(|&ns| ns > 0.0)?;
    (times >= FAR_ABOVE).then(|| format!(" p99 is still {times:.1} times that without collection."))
}

/// A figure of a run. Unit: ns.
type Figure = fn(&Report) -> Option<f64>;

/// What it costs in erased blocks, which wear flash out.
fn price(pair: &Pair<'_>, other: &Report, name: Name) -> String {
    let (ours, theirs) = (pair.best.array.erases, other.array.erases);
    let ratio = if theirs == 0 { 1.0 } else { ours as f64 / theirs as f64 };
    let (subject, other) = (subject(pair, name), name(label(other)));
    match ratio {
        ratio
            if (ratio - 1.0).abs() < ALIKE
                || verdicts::may_be_chance(pair.difference(|all| all.erases))
                || pair.part.comparison.winners.wear_at_the_edge =>
        {
            format!("{subject} erases no more blocks than {other}.")
        }
        ratio if ratio > 1.0 => {
            let whose =
                if pair.tied.is_empty() { "Its price".to_owned() } else { format!("The price of {subject}") };
            format!("{whose} is {} under {other}.", more_than(ratio, "erased blocks"))
        }
        ratio => format!("{subject} also erases {} fewer blocks than {other}.", percent(1.0 - ratio)),
    }
}

/// Mean response time. Unit: ns.
pub fn mean(run: &Report) -> Option<f64> {
    run.host.response_ns.all.mean
}

/// The same, 0 if no request completed. Unit: ns.
pub fn mean_ns(run: &Report) -> f64 {
    mean(run).unwrap_or_default()
}

/// 99th percentile of response times. Unit: ns.
pub fn p99(run: &Report) -> Option<f64> {
    run.host.response_ns.all.p99.map(|ns| ns as f64)
}

/// 99.9th percentile of response times. Unit: ns.
pub fn p999(run: &Report) -> Option<f64> {
    run.host.response_ns.all.p999.map(|ns| ns as f64)
}

/// Whether any SSD collected garbage.
pub fn collected(run: &Report) -> bool {
    run.array.erases > 0 || run.devices.iter().any(|device| device.gc_busy_ns > 0)
}

/// Whether two runs differ in policy alone.
pub fn alike(run: &Report, other: &Report) -> bool {
    let bare = |run: &Report| {
        let mut scenario = run.scenario.clone();
        for path in ["/array/coordination", "/ssd/gc/schedule", "/name"] {
            if let Some(value) = scenario.pointer_mut(path) {
                *value = serde_json::Value::Null;
            }
        }
        (scenario, run.seed, run.host.requests, run.devices.len())
    };
    bare(run) == bare(other)
}

/// How much a value is above another, as a share of that.
pub fn change(value: f64, base: f64) -> f64 {
    if base > 0.0 { value / base - 1.0 } else { 0.0 }
}

/// A share as a whole percentage, with a decimal where it is small.
pub fn percent(share: f64) -> String {
    match share.abs() * 100.0 {
        0.0 => "0%".to_owned(),
        size if size < 0.05 => "under 0.1%".to_owned(),
        size if size < 10.0 => format!("{size:.1}%"),
        size if size < 100.0 && size.round() == 100.0 => ">99%".to_owned(),
        size => format!("{size:.0}%"),
    }
}

/// "2.4 times as many erased blocks as" or "37% more erased blocks than", whichever reads better.
pub fn more_than(ratio: f64, what: &str) -> String {
    match ratio {
        ratio if ratio >= 2.0 => format!("{ratio:.1} times as many {what} as"),
        ratio => format!("{} more {what} than", percent(ratio - 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use harmonia_metrics::Comparison;

    use super::*;
    use crate::fixtures::{four_runs, run};
    use crate::{Cross, loads};

    fn said(comparison: &Comparison) -> String {
        let parts = loads::parts(comparison, &Cross::default(), &comparison.runs);
        let pair = Pair::of(&parts[0]).expect("requests completed");
        advice(&pair, str::to_owned).expect("a choice")
    }

    #[test]
    fn a_choice_says_what_its_policy_does() {
        let mut comparison = Comparison::new(four_runs(), 1);
        let does = "the first SSD at its threshold makes all SSDs collect.";
        assert!(said(&comparison).starts_with(&format!("Choose reactive-inclusive: {does} Mean ")));
        let winner = comparison.winners.mean.as_mut().expect("a choice");
        winner.labels.push("reactive-selective".to_owned());
        let tied =
            format!("Choose reactive-inclusive or reactive-selective. reactive-inclusive: {does} Mean ");
        assert!(said(&comparison).starts_with(&tied), "{}", said(&comparison));
    }

    /// Under one coordination policy it is the schedule that differs; of a name that no registry has nothing is said.
    #[test]
    fn what_is_told_of_a_choice_is_what_differs() {
        let of = |label: &str, schedule: &str, gc_us: u64| {
            let mut run = run(label, schedule, gc_us, 12_000, &[1.0]);
            run.array.coordination.policy = "local".to_owned();
            run
        };
        let schedules = [of("local", "blocking", 40_000), of("local 2", "preemptive", 4_000)];
        let text = said(&Comparison::new(schedules.to_vec(), 1));
        assert!(
            text.starts_with("Choose local 2: host operations go between the steps of a collection, "),
            "{text}"
        );
        let alike = [of("local", "preemptive", 40_000), of("local 2", "preemptive", 4_000)];
        let text = said(&Comparison::new(alike.to_vec(), 1));
        assert!(text.starts_with("Choose local 2. Mean "), "a key of the policy differs: {text}");
        let mut unknown = four_runs()[..2].to_vec();
        unknown[1].array.coordination.policy = "of my own".to_owned();
        let text = said(&Comparison::new(unknown, 1));
        assert!(text.starts_with("Choose reactive-inclusive. Mean "), "{text}");
    }
}
