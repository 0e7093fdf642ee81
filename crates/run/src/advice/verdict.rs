//! Whether collection matters, and what to do: words and rules over figures that have intervals.

use harmonia_array::Interface;
use harmonia_metrics::judgement::collection::{
    self, Because, Figure, Metric, Verdict, WORTH, from_the_tail, is_sure, void,
};
use harmonia_metrics::judgement::{FEW_COLLECTIONS, OVERLOAD, SHORT_WINDOW};
use harmonia_metrics::{Report, Versus};
use harmonia_scenario::Scenario;
use harmonia_scenario::policies::coordinated;
use serde::Serialize;

use super::{Doubled, Kind, Tried};

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    /// The change that is recommended; null for none.
    pub lever: Option<String>,
    /// What kind of change that is; null for none.
    pub kind: Option<Kind>,
    /// In words.
    pub text: String,
}

impl Recommendation {
    fn nothing(text: String) -> Self {
        Recommendation { lever: None, kind: None, text }
    }

    fn of(tried: &Tried, text: String) -> Self {
        Recommendation { lever: Some(tried.name.clone()), kind: Some(tried.kind), text }
    }
}

/// "12.3% ±1.2", without a sign.
fn shown(change: &Versus) -> String {
    let Some(relative) = change.relative else { return "an unknown share".to_owned() };
    let width = relative.half_width.map_or_else(String::new, |half| format!(" \u{b1}{:.1}", half * 100.0));
    format!("{:.1}%{width}", relative.mean.abs() * 100.0)
}

/// The same of what collection costs, which by chance may be less than nothing.
fn cost(change: &Versus) -> String {
    let is_less = change.relative.is_some_and(|relative| relative.mean * 1000.0 <= -0.5);
    format!("{}{}", if is_less { "-" } else { "" }, shown(change))
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
            _ => format!("collection costs {}", figure.change.as_ref().map(cost).unwrap_or_default()),
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

/// How much a change cuts a figure.
#[derive(Clone, Copy)]
struct Gain<'a> {
    tried: &'a Tried,
    figure: &'a Figure,
    /// Unit: fraction.
    share: f64,
}

impl<'a> Gain<'a> {
    /// None if it is not sure, or not worth it.
    fn of(tried: &'a Tried, metric: Metric) -> Option<Self> {
        let figure = tried.figures.iter().find(|figure| figure.metric == metric)?;
        let change = figure.change.as_ref()?;
        let share = -change.relative?.mean;
        let is_sure = is_sure(change) && tried.void.is_none();
        (is_sure && share >= WORTH).then_some(Gain { tried, figure, share })
    }

    fn said(&self) -> String {
        let share = self.figure.change.as_ref().map(shown).unwrap_or_default();
        let (before, after) = (ms(self.figure.against), ms(self.figure.value));
        let is_policy = self.tried.kind == Kind::Coordination;
        let does = coordinated(&self.tried.name).filter(|_| is_policy).map(|does| format!(" ({does})"));
        format!(
            "{}{} cuts {} by {share}, from {before} to {after}",
            self.tried.name,
            does.unwrap_or_default(),
            self.figure.metric.name()
        )
    }

    /// What is wrong with the array besides collection: what this change alone brings more than an end of all collection would, with
    /// the whole intervals of both.
    fn other_reason(&self, collection: &[Figure]) -> Option<&'static str> {
        let reason = match self.tried.kind {
            Kind::Level => "The level costs more than collection does",
            Kind::Chunk => "The chunk costs more than collection does",
            Kind::Map => "The mapping cache costs more than collection does",
            Kind::Drives => "More drives bring more than an end of all collection would",
            _ => return None,
        };
        let collection = collection.iter().find(|figure| figure.metric == self.figure.metric)?;
        let ((_, left), (_, cost)) = (self.figure.bounds()?, collection.bounds()?);
        ((1.0 + left) * (1.0 + cost) < 1.0).then_some(reason)
    }
}

/// The gain that is largest among those that are wanted.
fn most<'a>(gains: &[Gain<'a>], wanted: impl Fn(&Tried) -> bool) -> Option<Gain<'a>> {
    let gains = gains.iter().filter(|gain| wanted(gain.tried));
    gains.max_by(|one, other| one.share.total_cmp(&other.share)).copied()
}

/// What to do about it.
pub(super) fn recommend(verdict: Verdict, collection: &[Figure], tried: &[Tried]) -> Recommendation {
    match verdict {
        Verdict::DoNothing => {
            Recommendation::nothing(do_nothing(collection, tried) + &streams(collection, tried))
        }
        Verdict::TooShort => Recommendation::nothing(
            "Nothing yet: use a longer trace, or several hours of it, and ask again.".to_owned(),
        ),
        Verdict::CannotTell => Recommendation::nothing(
            "Nothing yet: this run cannot tell. More seeds (--seeds 10) or a longer load narrow the intervals.".to_owned(),
        ),
        Verdict::Overload => keep_up(tried),
        Verdict::Matters => {
            let mut best = best(&decisive(collection), collection, tried);
            best.text.push_str(&streams(collection, tried));
            best
        }
    }
}

/// What lets an array keep up that does not: of changes for which any drive will do the first that was tried, which is the least
/// effort.
fn keep_up(tried: &[Tried]) -> Recommendation {
    let (any, special): (Vec<&Tried>, Vec<&Tried>) =
        tried.iter().filter(|tried| keeps_up(tried)).partition(|tried| any_drive(tried));
    let said = |tried: &Tried| format!("{} ({})", tried.name, tried.costs);
    let (first, others) = match (&any[..], &special[..]) {
        ([first, others @ ..], _) => (*first, others),
        ([], [first, ..]) => {
            // What a change costs may be the drives that it needs.
            let (needs, is_said) = (condition(first), condition(first) == first.costs);
            let name = if is_said { first.name.clone() } else { said(first) };
            let text = format!(
                "The array is too slow for this load. Of all that was tried it keeps up only with {needs}: {name}."
            );
            return Recommendation::of(first, text);
        }
        ([], []) => {
            return Recommendation::nothing(
                "The array is too slow for this load, and no change that was tried is enough. Take more or faster drives, or less \
                 load."
                    .to_owned(),
            );
        }
    };
    let reason = match first.kind {
        Kind::Drives => "The drives are too few for this load.",
        Kind::Level => "The array is too slow for this load at this level.",
        _ => "The array is too slow for this load.",
    };
    let others: Vec<String> = others.iter().map(|tried| said(tried)).collect();
    let others = match others.is_empty() {
        true => String::new(),
        false => format!(" Or with one of these: {}.", others.join(", ")),
    };
    let text =
        format!("{reason} It keeps up with this change: {}. It costs: {}.{others}", first.name, first.costs);
    Recommendation::of(first, text)
}

/// Whether the array keeps up with a change. Its figures may be those of too few collections all the same.
fn keeps_up(tried: &Tried) -> bool {
    matches!(tried.void.as_deref(), None | Some(FEW_COLLECTIONS | SHORT_WINDOW))
}

/// How little collection costs, and what is worth doing for other reasons.
fn do_nothing(figures: &[Figure], tried: &[Tried]) -> String {
    let gains: Vec<Gain<'_>> = tried
        .iter()
        .filter_map(|tried| Gain::of(tried, Metric::P999).or_else(|| Gain::of(tried, Metric::P99)))
        .collect();
    let layout = |tried: &Tried| matches!(tried.kind, Kind::Level | Kind::Chunk | Kind::Drives | Kind::Map);
    let other = most(&gains, layout).map(|gain| {
        let reason = gain.other_reason(figures).unwrap_or("For another reason than collection");
        format!(" {reason}: {}. It costs: {}.", gain.said(), gain.tried.costs)
    });
    collection::do_nothing(figures) + &other.unwrap_or_default()
}

/// What the separation of streams saves the flash, and what it costs the tail; nothing where it does not surely save a twentieth.
fn streams(collection: &[Figure], tried: &[Tried]) -> String {
    let saved = |tried: &Tried| {
        let change = tried.write_amplification_change.filter(is_sure)?;
        let is_worth_it =
            change.relative.is_some_and(|relative| relative.mean <= -WORTH) && tried.void.is_none();
        is_worth_it.then_some(change)
    };
    let of_streams = tried.iter().filter(|tried| tried.kind == Kind::Streams);
    let Some((tried, change)) = of_streams.filter_map(|tried| Some((tried, saved(tried)?))).next() else {
        return String::new();
    };
    let known = |figure: &&Figure| collection.iter().any(|known| known.metric == figure.metric);
    let longer = |figure: &&Figure| figure.bounds().is_some_and(|(least, _)| least > WORTH);
    let worse = from_the_tail(&tried.figures).filter(known).find(longer).map(|figure| {
        let (before, after) = (ms(figure.against), ms(figure.value));
        format!(" But {} grows from {before} to {after}.", figure.metric.name())
    });
    format!(
        " For the flash: {} cuts write amplification by {}, with {}.{}",
        tried.name,
        shown(&change),
        tried.costs,
        worse.unwrap_or_default()
    )
}

/// Whether any drive will do. Firmware that lets the host go first is the drive's own, and so is its memory, and few drives take
/// streams.
fn any_drive(tried: &Tried) -> bool {
    tried.needs == Interface::Nothing.name()
        && !matches!(tried.kind, Kind::Schedule | Kind::Streams | Kind::Map)
}

/// What drives a change needs.
fn condition(tried: &Tried) -> String {
    match tried.kind {
        Kind::Schedule | Kind::Streams | Kind::Map => tried.costs.clone(),
        _ => format!("drives that offer \"{}\"", tried.needs),
    }
}

/// The change that cuts a figure most and works with any drive, and what other drives would bring. Of the figures in which
/// collection matters it is the first that anything cuts.
fn best(metrics: &[Metric], collection: &[Figure], tried: &[Tried]) -> Recommendation {
    let gains = |metric: Metric| tried.iter().filter_map(move |tried| Gain::of(tried, metric));
    let Some(&metric) = metrics.iter().find(|metric| gains(**metric).next().is_some()) else {
        let text = "Nothing that was tried cuts it by a twentieth or more, beyond chance.";
        return Recommendation::nothing(text.to_owned());
    };
    let gains: Vec<Gain<'_>> = gains(metric).collect();
    let any = most(&gains, any_drive);
    let special = specials(&gains, any.as_ref());
    let mut text = match any {
        Some(gain) => {
            let reason =
                gain.other_reason(collection).map(|reason| format!("{reason}. ")).unwrap_or_default();
            format!("{reason}Any drive will do for this, and it costs {}: {}.", gain.tried.costs, gain.said())
        }
        None => format!(
            "Nothing that works with any drive cuts {} by a twentieth or more, beyond chance.",
            metric.name()
        ),
    };
    special.iter().for_each(|(_, said)| text.push_str(said));
    let coordinates = |tried: &Tried| tried.kind == Kind::Coordination;
    if tried.iter().any(coordinates) && most(&gains, coordinates).is_none() {
        text.push_str(" No coordination policy that was tried cuts it by as much.");
    }
    match any.or(special.first().map(|(gain, _)| *gain)) {
        Some(gain) => Recommendation::of(gain.tried, text),
        None => Recommendation::nothing(text),
    }
}

/// What other drives bring, the best of each kind in a sentence, the most first. Beside a change for which any drive will do, firmware is
/// named only if it brings more.
fn specials<'a>(gains: &[Gain<'a>], any: Option<&Gain<'a>>) -> Vec<(Gain<'a>, String)> {
    let kinds = [Kind::Coordination, Kind::Streams, Kind::Map, Kind::Schedule];
    let of_kind = |kind: Kind| most(gains, |tried| tried.kind == kind && !any_drive(tried));
    let is_more = |gain: &Gain<'_>| any.is_none_or(|any| gain.share > any.share + WORTH);
    let mut best: Vec<Gain<'a>> = kinds.into_iter().filter_map(of_kind).collect();
    best.retain(|gain| is_more(gain) || gain.tried.kind != Kind::Schedule);
    best.sort_by(|one, other| other.share.total_cmp(&one.share));
    let said = |(at, gain): (usize, Gain<'a>)| {
        let (with, is_more) = (condition(gain.tried), any.is_some() && is_more(&gain));
        let begin = match (is_the_least(&gain, gains), is_more) {
            (true, true) => format!("Coordination brings more, but only with {with}"),
            (true, false) => format!("Coordination helps only with {with}"),
            (false, true) => format!("With {with} there is more"),
            (false, false) if any.is_none() && at == 0 => format!("Only with {with}"),
            (false, false) => format!("Or with {with}"),
        };
        (gain, format!(" {begin}: {}.", gain.said()))
    };
    best.into_iter().enumerate().map(said).collect()
}

/// Whether it is a coordination policy, and none of those that need less of drives helps. They were tried in that order.
fn is_the_least(gain: &Gain<'_>, gains: &[Gain<'_>]) -> bool {
    let first = gains.iter().find(|gain| gain.tried.kind == Kind::Coordination);
    gain.tried.kind == Kind::Coordination && first.is_some_and(|first| first.tried.needs == gain.tried.needs)
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
                cost(change),
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

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_metrics::Interval;

    /// A figure that is so much of what it is held against, give or take a hundredth.
    fn figure(metric: Metric, ratio: f64) -> Figure {
        let interval = |mean: f64, half: f64| Interval { mean, half_width: Some(half), samples: 10 };
        let against = 10e6;
        let change = Versus {
            difference: interval((ratio - 1.0) * against, 0.01 * against),
            relative: Some(interval(ratio - 1.0, 0.01)),
            significant: Some((ratio - 1.0).abs() > 0.01),
            paired: true,
        };
        Figure { metric, value: ratio * against, against, change: Some(change) }
    }

    #[test]
    fn what_collection_seems_to_save_has_a_sign() {
        let said = |ratio| figure(Metric::P99, ratio).change.as_ref().map(cost).unwrap();
        assert_eq!([1.021, 0.9973, 0.9998].map(said), ["2.1% ±1.0", "-0.3% ±1.0", "0.0% ±1.0"]);
    }

    fn tried(kind: Kind, name: &str, needs: &str, ratio: f64) -> Tried {
        Tried {
            kind,
            name: name.to_owned(),
            needs: needs.to_owned(),
            costs: "a price".to_owned(),
            figures: vec![figure(Metric::P99, ratio)],
            write_amplification: None,
            write_amplification_change: None,
            years: None,
            void: None,
        }
    }

    /// Collection makes p99 so many times as long.
    fn matters(times: f64, tried: &[Tried]) -> Recommendation {
        recommend(Verdict::Matters, &[figure(Metric::P99, times)], tried)
    }

    #[test]
    fn a_level_that_brings_more_than_an_end_of_collection_is_the_reason() {
        let levers =
            [tried(Kind::Spare, "80% full", "nothing", 0.9), tried(Kind::Level, "raid10", "nothing", 0.5)];
        let dear = matters(1.2, &levers);
        assert_eq!((dear.lever.as_deref(), dear.kind), (Some("raid10"), Some(Kind::Level)));
        assert!(dear.text.starts_with("The level costs more than collection does. "), "{}", dear.text);
        // Without collection it is half as long as with it, too: the intervals leave it open which brings more.
        let open = matters(1.99, &levers);
        assert!(open.text.starts_with("Any drive will do for this"), "{}", open.text);
    }

    /// A policy that is recommended says what it does; other changes are said by their names.
    #[test]
    fn a_recommended_policy_says_what_it_does() {
        let policy = matters(3.0, &[tried(Kind::Coordination, "gclock", "command", 0.5)]).text;
        let does = "gclock (SSDs at their soft threshold collect one at a time, whichever holds the token) cuts p99 by 50.0%";
        assert!(policy.contains(does), "{policy}");
        let level = matters(3.0, &[tried(Kind::Level, "gclock", "nothing", 0.5)]).text;
        assert!(level.contains("gclock cuts p99 by 50.0%"), "{level}");
    }

    #[test]
    fn of_coordination_the_least_that_helps_is_told() {
        let command = tried(Kind::Coordination, "by command", "command", 0.5);
        let lesser = |ratio| tried(Kind::Coordination, "by window", "window", ratio);
        let only = matters(3.0, &[lesser(1.0), command.clone()]);
        let says = "Coordination helps only with drives that offer \"command\": by command cuts p99 by 50.0%";
        assert!(only.text.contains(says), "{}", only.text);
        assert_eq!(only.lever.as_deref(), Some("by command"));
        let both = matters(3.0, &[lesser(0.8), command.clone()]);
        assert!(both.text.contains(" Only with drives that offer \"command\": "), "{}", both.text);
        let beside = matters(3.0, &[command, tried(Kind::Spare, "80% full", "nothing", 0.7)]);
        assert_eq!(beside.lever.as_deref(), Some("80% full"));
        assert!(
            beside.text.contains("Coordination brings more, but only with drives that"),
            "{}",
            beside.text
        );
        let none = matters(3.0, &[lesser(1.0), tried(Kind::Spare, "80% full", "nothing", 0.7)]);
        assert!(
            none.text.ends_with("No coordination policy that was tried cuts it by as much."),
            "{}",
            none.text
        );
    }

    #[test]
    fn streams_need_drives_that_take_them() {
        let streams = tried(Kind::Streams, "separation of 2 streams", "nothing", 0.6);
        let alone = matters(3.0, std::slice::from_ref(&streams));
        assert!(alone.text.contains("Only with a price: separation of 2 streams"), "{}", alone.text);
        let beside = matters(3.0, &[streams, tried(Kind::Spare, "80% full", "nothing", 0.6)]);
        assert_eq!(beside.lever.as_deref(), Some("80% full"));
        assert!(beside.text.contains(" Or with a price: separation of 2 streams"), "{}", beside.text);
    }

    #[test]
    fn what_streams_save_the_flash_is_told_with_what_they_cost_the_tail() {
        let saving = |ratio: f64, amplification: f64| {
            let mut tried = tried(Kind::Streams, "separation of 2 streams", "nothing", ratio);
            tried.write_amplification_change = figure(Metric::P99, amplification).change;
            tried
        };
        let of = |tried: Tried| recommend(Verdict::DoNothing, &[figure(Metric::P99, 1.0)], &[tried]).text;
        let saved = of(saving(1.0, 0.8));
        let words =
            "For the flash: separation of 2 streams cuts write amplification by 20.0% ±1.0, with a price.";
        assert!(saved.ends_with(words), "{saved}");
        let costly = of(saving(3.0, 0.8));
        assert!(costly.ends_with(" But p99 grows from 10.0 ms to 30.0 ms."), "{costly}");
        assert!(!of(saving(0.9, 0.98)).contains("For the flash"), "a fiftieth");
    }

    #[test]
    fn an_overload_is_told_by_what_lets_the_array_keep_up() {
        let void = |mut tried: Tried| {
            tried.void = Some(OVERLOAD.to_owned());
            tried
        };
        let level = || tried(Kind::Level, "raid10", "nothing", 0.5);
        let drives = || tried(Kind::Drives, "6 drives", "nothing", 0.5);
        let command = || tried(Kind::Coordination, "by command", "command", 0.5);
        let of = |tried: &[Tried]| recommend(Verdict::Overload, &[], tried);
        let few = of(&[command(), void(level()), drives()]);
        assert!(few.text.starts_with("The drives are too few for this load. "), "{}", few.text);
        assert_eq!((few.lever.as_deref(), few.kind), (Some("6 drives"), Some(Kind::Drives)));
        let both = of(&[void(command()), level(), drives()]);
        assert!(
            both.text.contains("at this level") && both.text.ends_with("6 drives (a price)."),
            "{}",
            both.text
        );
        let special = of(&[command(), void(level()), void(drives())]);
        assert!(
            special.text.contains("only with drives that offer \"command\": by command"),
            "{}",
            special.text
        );
        let none = of(&[void(command()), void(level()), void(drives())]);
        assert_eq!((none.lever, none.kind), (None, None));
        assert!(none.text.contains("no change that was tried is enough"), "{}", none.text);
    }

    #[test]
    fn where_collection_costs_nothing_the_level_may_cost_more() {
        let levers =
            [tried(Kind::Level, "raid10", "nothing", 0.6), tried(Kind::Drives, "6 drives", "nothing", 0.8)];
        let said = recommend(Verdict::DoNothing, &[figure(Metric::P99, 1.01)], &levers);
        assert_eq!(said.lever, None, "nothing about collection");
        let level = "The level costs more than collection does: raid10 cuts p99 by 40.0%";
        assert!(said.text.starts_with("Do nothing") && said.text.contains(level), "{}", said.text);
    }
}
