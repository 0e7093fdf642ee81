//! Whether collection matters, and what to do: words and rules over figures that have intervals.

use harmonia_array::Interface;
use harmonia_metrics::judgement::OVERLOAD;
use harmonia_metrics::judgement::collection::{
    self, Because, Figure, Metric, Verdict, WORTH, from_the_tail, is_sure, void,
};
use harmonia_metrics::{Report, Versus};
use harmonia_scenario::Scenario;
use serde::Serialize;

use super::{Doubled, Kind, Tried};

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    /// The change that is recommended; null for none.
    pub lever: Option<String>,
    /// In words.
    pub text: String,
}

/// "12.3% ±1.2", without a sign.
fn shown(change: &Versus) -> String {
    let Some(relative) = change.relative else { return "an unknown share".to_owned() };
    let width = relative.half_width.map_or_else(String::new, |half| format!(" \u{b1}{:.1}", half * 100.0));
    format!("{:.1}%{width}", relative.mean.abs() * 100.0)
}

fn ms(ns: f64) -> String {
    let ms = ns / 1e6;
    if ms >= 10.0 { format!("{ms:.1} ms") } else { format!("{ms:.3} ms") }
}

/// Whether collection matters, and what that rests on.
pub(super) fn of(base: &[Report], bound: &[Report], collection: &[Figure]) -> (Verdict, String) {
    let (verdict, because) = collection::judge(base, collection);
    let said = |figure: &Figure| {
        let costs = match figure.value / figure.against.max(1.0) {
            times if times > 3.0 => format!("that is {times:.1} times as long"),
            _ => format!("collection costs {}", figure.change.as_ref().map(shown).unwrap_or_default()),
        };
        let (with, without) = (ms(figure.value), ms(figure.against));
        format!("{} is {with} with collection and {without} without it: {costs}", figure.metric.name())
    };
    let text = match because {
        Because::Warning(warning) if verdict == Verdict::Overload => match void(bound) {
            Some(bound) if bound.code == OVERLOAD => {
                format!("{}. It would not keep up without collection either", warning.text)
            }
            _ => format!("{}. If collection took no time, the array would keep up", warning.text),
        },
        Because::Warning(_) if verdict == Verdict::DoNothing => {
            "nothing is written, so nothing is collected".to_owned()
        }
        Because::Warning(warning) => warning.text.clone(),
        Because::Figure(figure) => said(figure),
        Because::UpTo(figure, most) => format!("{}, and it may be up to {:.1}%", said(figure), most * 100.0),
        Because::NoIntervals => "the load has too few requests for intervals of p99 and p99.9".to_owned(),
    };
    (verdict, text)
}

/// The figures in which collection matters, the tail first.
fn decisive(collection: &[Figure]) -> Vec<Metric> {
    let surely = |figure: &&Figure| figure.bounds().is_some_and(|(least, _)| least > WORTH);
    from_the_tail(collection).filter(surely).map(|figure| figure.metric).collect()
}

/// How much a change cuts a figure, if that is sure and worth it.
fn gain(tried: &Tried, metric: Metric) -> Option<(f64, &Figure)> {
    let figure = tried.figures.iter().find(|figure| figure.metric == metric)?;
    let change = figure.change.as_ref()?;
    let share = -change.relative?.mean;
    let is_sure = is_sure(change) && tried.void.is_none();
    (is_sure && share >= WORTH).then_some((share, figure))
}

/// What to do about it.
pub(super) fn recommend(verdict: Verdict, collection: &[Figure], tried: &[Tried]) -> Recommendation {
    let nothing = |text: String| Recommendation { lever: None, text };
    match verdict {
        Verdict::DoNothing => nothing(do_nothing(collection, tried)),
        Verdict::TooShort => {
            nothing("Nothing yet: use a longer trace, or several hours of it, and ask again.".to_owned())
        }
        Verdict::CannotTell => nothing(
            "Nothing yet: this run cannot tell. More seeds (--seeds 10) or a longer load narrow the intervals.".to_owned(),
        ),
        Verdict::Overload => {
            let keeps_up = tried.iter().find(|tried| tried.void.is_none() && any_drive(tried));
            match keeps_up {
                Some(tried) => Recommendation {
                    lever: Some(tried.name.clone()),
                    text: format!(
                        "The array is too slow for this load. It keeps up with this change: {}. It costs: {}.",
                        tried.name, tried.costs
                    ),
                },
                None => nothing("The array is too slow for this load: take more or faster drives, or less load.".to_owned()),
            }
        }
        Verdict::Matters => best(&decisive(collection), tried),
    }
}

/// How little collection costs, and what is worth doing for other reasons.
fn do_nothing(figures: &[Figure], tried: &[Tried]) -> String {
    let layout = |tried: &&Tried| matches!(tried.kind, Kind::Level | Kind::Chunk | Kind::Drives);
    let gains = tried.iter().filter(layout).filter_map(|tried| {
        gain(tried, Metric::P999)
            .or_else(|| gain(tried, Metric::P99))
            .map(|(share, figure)| (share, figure, tried))
    });
    let other = gains.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, figure, tried)| {
        let share = figure.change.as_ref().map(shown).unwrap_or_default();
        let (name, before, after) = (figure.metric.name(), ms(figure.against), ms(figure.value));
        format!(
            " For another reason than collection, {} cuts {name} by {share}, from {before} to {after}. It costs: {}.",
            tried.name, tried.costs
        )
    });
    collection::do_nothing(figures) + &other.unwrap_or_default()
}

/// Whether drives that are for sale will do. Firmware that lets the host go first is the drive's own.
fn any_drive(tried: &Tried) -> bool {
    tried.needs == Interface::Nothing.name() && tried.kind != Kind::Schedule
}

/// What drives a change needs.
fn condition(tried: &Tried) -> String {
    match tried.kind {
        Kind::Schedule => tried.costs.clone(),
        _ => format!("drives that offer \"{}\"", tried.needs),
    }
}

/// The change that cuts a figure most and works with any drive, and what more other drives would bring. Of the figures in which
/// collection matters it is the first that anything cuts.
fn best(metrics: &[Metric], tried: &[Tried]) -> Recommendation {
    let cuts = |metric: &&Metric| tried.iter().any(|tried| gain(tried, **metric).is_some());
    let Some(&metric) = metrics.iter().find(cuts) else {
        let text = "Nothing that was tried cuts it by a twentieth or more, beyond chance.".to_owned();
        return Recommendation { lever: None, text };
    };
    let most = |wanted: &dyn Fn(&Tried) -> bool| {
        let gains = tried.iter().filter(|tried| wanted(tried));
        let gains =
            gains.filter_map(|tried| gain(tried, metric).map(|(share, figure)| (share, figure, tried)));
        gains.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let said = |tried: &Tried, figure: &Figure| {
        let share = figure.change.as_ref().map(shown).unwrap_or_default();
        let (before, after) = (ms(figure.against), ms(figure.value));
        format!("{} cuts {} by {share}, from {before} to {after}", tried.name, metric.name())
    };
    match (most(&any_drive), most(&|tried| !any_drive(tried))) {
        (Some((share, figure, tried)), special) => {
            let special = special.filter(|(more, ..)| *more > share + WORTH);
            let special = special.map(|(_, figure, tried)| {
                format!(" With {} there is more: {}.", condition(tried), said(tried, figure))
            });
            let text = format!(
                "Any drive will do for this, and it costs {}: {}.{}",
                tried.costs,
                said(tried, figure),
                special.unwrap_or_default()
            );
            Recommendation { lever: Some(tried.name.clone()), text }
        }
        (None, Some((_, figure, tried))) => {
            let text = format!(
                "Nothing that works with any drive cuts {} by a twentieth or more, beyond chance. Only with {}: {}.",
                metric.name(),
                condition(tried),
                said(tried, figure)
            );
            Recommendation { lever: Some(tried.name.clone()), text }
        }
        (None, None) => Recommendation { lever: None, text: "Nothing that was tried helps.".to_owned() },
    }
}

/// What would change the answer.
pub(super) fn would_change_it(
    verdict: Verdict,
    collection: &[Figure],
    doubled: Option<&Doubled>,
    scenario: &Scenario,
) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(doubled) = doubled {
        let tail = from_the_tail(&doubled.collection)
            .find(|figure| figure.bounds().is_some())
            .and_then(|figure| Some((figure, figure.change.as_ref()?)));
        all.push(match (&doubled.void, tail) {
            (Some(code), _) if code == OVERLOAD => {
                "At twice the rate the array does not keep up with the load.".to_owned()
            }
            (None, Some((figure, change))) => format!(
                "At twice the rate collection costs {} of {} ({} without it).",
                shown(change),
                figure.metric.name(),
                ms(figure.against)
            ),
            _ => "At twice the rate the run cannot tell what collection costs.".to_owned(),
        });
    }
    if verdict == Verdict::CannotTell && !collection.is_empty() {
        all.push("More seeds or a longer load: the intervals are too wide now.".to_owned());
    }
    if scenario.precondition.fill >= 1.0 {
        all.push(
            "Drives that hold less than all they can: they were taken as 100% full, which is the worst case."
                .to_owned(),
        );
    }
    all
}
