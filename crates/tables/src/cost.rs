//! What garbage collection costs the first run, in sentences, for terminal and page.

use harmonia_metrics::judgement::OVERLOAD;
use harmonia_metrics::judgement::collection::{Cost, Figure, Verdict, is_sure};
use harmonia_metrics::{Comparison, Report, Versus, Warning};

use crate::label;
use crate::numbers::{self, NONE, or_none};
use crate::winners::Name;

/// The policy under which each SSD collects by itself.
const UNCOORDINATED: &str = "local";

/// What it costs, whether that matters, and how much the run serves; `None` if no request completed. `runs` holds one report a
/// variant.
pub fn cost(comparison: &Comparison, runs: &[Report], name: Name) -> Option<String> {
    let first = runs.first()?;
    let mean = first.host.response_ns.all.mean?;
    if is_overloaded(comparison, first) {
        return Some(served(first).trim_start().to_owned());
    }
    let text = match Cost::of(comparison) {
        Some(Cost { figures, verdict }) => {
            let mut said: Vec<String> = says(verdict).map(str::to_owned).into_iter().collect();
            let mut at = 0;
            for alike in figures.chunk_by(|one, next| is_the_same(one) && is_the_same(next)) {
                said.push(sentence(alike, at, first, name));
                at += alike.len();
            }
            said.join(" ")
        }
        None => {
            let waited = first.host.blame_ns.queue_gc as f64 / first.host.requests.max(1) as f64;
            let tail = first.host.response_ns.all.p999;
            let tail = tail.map(|ns| format!(" p99.9 is {} ms.", numbers::ms(ns as f64)));
            format!(
                "Requests take {} ms on average under {}, of which they wait {} ms for garbage collection.{}",
                numbers::ms(mean),
                name(label(first)),
                numbers::ms(waited),
                tail.unwrap_or_default()
            )
        }
    };
    // A closed loop has no load to keep up with.
    let keeps_up =
        |run: &Report| run.host.arrivals_ns.is_some_and(|ns| ns > 0) && !is_overloaded(comparison, run);
    let keep_up = runs.len() > 1 && runs.iter().all(keeps_up) && serve_alike(runs);
    let served = served(first);
    // A load that ends late for another reason says what is offered.
    Some(
        match served.strip_prefix(" The array serves ").filter(|rest| keep_up && !rest.contains(" offered "))
        {
            Some(rest) => format!("{text} All runs keep up with the load: {rest}"),
            None => text + &served,
        },
    )
}

/// Whether an array does not keep up with its load: then response times mean nothing.
pub(crate) fn is_overloaded(comparison: &Comparison, run: &Report) -> bool {
    let named = |warning: &Warning| warning.labels.iter().any(|named| named == label(run));
    comparison.warnings.iter().any(|warning| warning.code == OVERLOAD && named(warning))
}

/// A verdict in a sentence; none for an array that does not keep up, of which a warning tells.
pub(crate) fn says(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Matters => Some("Garbage collection matters here."),
        Verdict::DoNothing => Some("Garbage collection does not matter here."),
        Verdict::Overload => None,
        Verdict::TooShort => Some("The load is too short to say whether garbage collection matters."),
        Verdict::CannotTell => Some("This run cannot tell whether garbage collection matters."),
    }
}

/// "p99 is 1.123 ms, +12.3% ±0.4 against 1.000 ms without collection.": of one figure, or of several that are the same without collection.
fn sentence(figures: &[Figure], at: usize, first: &Report, name: Name) -> String {
    let [figure, more @ ..] = figures else { return String::new() };
    let metric = figure.metric.name();
    let (begin, without) = match at {
        0 if label(first) == UNCOORDINATED => {
            (format!("Without coordination ({}) {metric}", name(label(first))), "if collection took no time")
        }
        0 => (format!("Under {} {metric}", name(label(first))), "if collection took no time"),
        _ => (metric.to_owned(), "without collection"),
    };
    let (value, against) = (numbers::ms(figure.value), numbers::ms(figure.against));
    if is_the_same(figure) {
        let more: Vec<String> = more
            .iter()
            .map(|figure| format!("{} {} ms", figure.metric.name(), numbers::ms(figure.value)))
            .collect();
        let others = match more.split_last() {
            None => String::new(),
            Some((last, [])) => format!(" and {last}"),
            Some((last, others)) => format!(", {} and {last}", others.join(", ")),
        };
        return format!("{begin} is {value} ms{others}, the same as {without}.");
    }
    if let Some((change, times)) = figure.change.as_ref().and_then(|change| Some((change, times(change)?))) {
        let chance = if is_sure(change) { "" } else { " (may be chance)" };
        let would = if at == 0 { "it would be " } else { "" };
        return format!("{begin} is {value} ms, {times} the {against} ms {would}{without}{chance}.");
    }
    let few = match &figure.change {
        Some(_) if figure.bounds().is_some() => {
            // In a sentence there is room to say it.
            let change = signed(figure.change.as_ref()).replace(" n.s.", " (may be chance)");
            return format!("{begin} is {value} ms, {change} against {against} ms {without}.");
        }
        Some(_) => " (too few requests for an interval)",
        None => "",
    };
    if value == against && at > 0 {
        return format!("{begin} is {value} ms with and {without}{few}.");
    }
    format!("{begin} is {value} ms, and {against} ms {without}{few}.")
}

/// Whether collection changes nothing of a figure.
fn is_the_same(figure: &Figure) -> bool {
    figure.change.as_ref().is_some_and(|change| signed(Some(change)) == THE_SAME)
}

/// Rates this near to one another are one.
const SAME_RATE: f64 = 0.01;
/// Growth above which percentages say less than a factor.
const TIMES: f64 = 1.0;
/// A share that is written as 0.0%.
const NOTHING: f64 = 0.0005;
/// A change of less, for sure.
const THE_SAME: &str = "the same";

/// "-12.3% ±0.4", "13.1 ±0.2 times as long" or "the same", and n.s. where that may be chance.
pub(crate) fn signed(change: Option<&Versus>) -> String {
    let Some(change @ Versus { relative: Some(relative), .. }) = change else { return NONE.to_owned() };
    let chance = if is_sure(change) { "" } else { " n.s." };
    let width = |scale: f64| {
        relative.half_width.map_or_else(String::new, |half| format!(" \u{b1}{:.1}", half * scale))
    };
    if relative.mean.abs() < NOTHING && relative.half_width.is_some_and(|half| half < NOTHING) {
        return THE_SAME.to_owned();
    }
    if let Some(times) = times(change) {
        return format!("{times} as long{chance}");
    }
    format!("{:+.1}%{}{chance}", relative.mean * 100.0, width(100.0))
}

/// "13.1 ±0.2 times", where a percentage would say less.
fn times(change: &Versus) -> Option<String> {
    let relative = change.relative.as_ref().filter(|relative| relative.mean > TIMES)?;
    let width = relative.half_width.map_or_else(String::new, |half| format!(" \u{b1}{half:.1}"));
    Some(format!("{:.1}{width} times", relative.mean + 1.0))
}

/// " The array serves 477 requests a second (244 MB/s)."
fn served(run: &Report) -> String {
    let arrivals_ns = run.host.arrivals_ns.filter(|&ns| ns > 0);
    let came = arrivals_ns.map(|ns| run.host.requests as f64 * 1e9 / ns as f64);
    let Some(rate) = run.served_requests() else { return String::new() };
    // Otherwise the last requests alone make the difference.
    let Some((came, arrivals_ns)) = came.filter(|came| *came > 1.05 * rate).zip(arrivals_ns) else {
        return format!(" The array serves {} ({}).", numbers::requests(rate), throughput(run));
    };
    let set = run.scenario.pointer("/workload/arrival/rate").and_then(serde_json::Value::as_f64);
    // A rate that is set says as much.
    let within = match arrivals_ns as f64 / run.simulated_ns as f64 {
        share if share < SHORT && set.is_none() => {
            let before = match run.host.warmup_requests {
                0 => String::new(),
                left => format!(" and {} that were waiting already", numbers::count(left)),
            };
            format!(
                " All {} arrive within {}. It takes {} to serve them{before}.",
                numbers::count(run.host.requests),
                numbers::duration(arrivals_ns),
                numbers::duration(run.simulated_ns)
            )
        }
        _ => String::new(),
    };
    format!(
        " The array serves {} ({}) of {} offered.{within}",
        numbers::requests(rate),
        throughput(run),
        numbers::requests(set.unwrap_or(came)).trim_end_matches(" requests a second")
    )
}

/// Requests that arrive within less than this share of a run are a burst.
const SHORT: f64 = 0.5;

/// Whether all runs serve as many requests and bytes a second: then the sentence about the first says it of all.
pub(crate) fn serve_alike(runs: &[Report]) -> bool {
    let rates = |run: &Report| [run.served_requests(), run.served_bytes()].map(Option::unwrap_or_default);
    let first = runs.first().map(rates).unwrap_or_default();
    let is_near = |(one, other): (f64, f64)| (one - other).abs() <= SAME_RATE * other;
    runs.iter().all(|run| rates(run).into_iter().zip(first).all(is_near))
}

/// "244 MB/s", or "2.01 kB/s" where that says nothing in MB.
fn throughput(run: &Report) -> String {
    match run.served_bytes() {
        Some(rate) if rate > 0.0 && rate < 1e5 => format!("{}/s", numbers::decimal_bytes(rate)),
        _ => format!("{} MB/s", megabytes(run)),
    }
}

pub(crate) fn megabytes(run: &Report) -> String {
    let rate = run.served_bytes().map(|bytes| bytes / 1e6);
    or_none(rate, |rate| match rate {
        rate if rate < 10.0 => format!("{rate:.2}"),
        rate => numbers::count(rate.round() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::{Pair, advice};
    use crate::fixtures::{four_runs, run};

    fn said(runs: &[Report]) -> String {
        cost(&Comparison::new(runs.to_vec(), 1), runs, str::to_owned).expect("requests completed")
    }

    #[test]
    fn each_figure_is_said_with_and_without_collection() {
        let text = said(&four_runs());
        let begins = "Garbage collection matters here. Without coordination (local) the mean is 12.49 ms, 5.0 ±0.1 times the 2.500 ms it would be if collection took no time.";
        assert!(text.starts_with(begins), "{text}");
        assert!(
            text.contains(" p99 is 76.81 ms, 25.7 ±0.0 times the 2.990 ms without collection."),
            "{text}"
        );
    }

    /// What a policy leaves is not what collection costs: another first run gets no verdict.
    #[test]
    fn a_first_run_that_coordinates_is_not_told_to_do_nothing() {
        let runs = [run("serial", "blocking", 20, 12_000, &[1.0]), run("ideal", "ideal", 0, 12_000, &[1.0])];
        let text = said(&runs);
        assert!(text.starts_with("Requests take "), "{text}");
    }

    /// Collection that costs next to nothing is said to, and nothing is to be done about it.
    #[test]
    fn where_collection_costs_next_to_nothing_the_answer_is_to_do_nothing() {
        let runs = [run("local", "blocking", 20, 12_000, &[1.0]), run("ideal", "ideal", 0, 12_000, &[1.0])];
        let comparison = Comparison::new(runs.to_vec(), 1);
        let text = said(&runs);
        assert!(
            text.starts_with(
                "Garbage collection does not matter here. Without coordination (local) the mean is"
            ),
            "{text}"
        );
        let parts = crate::loads::parts(&comparison, &crate::Cross::default(), &runs);
        let advice = Pair::of(&parts[0]).and_then(|pair| advice(&pair, str::to_owned)).expect("an answer");
        assert!(
            advice.starts_with("Do nothing about garbage collection. Collection adds at most "),
            "{advice}"
        );
    }

    /// Figures that collection changes nothing of have one sentence, and others one each.
    #[test]
    fn figures_that_are_the_same_are_said_together() {
        let runs = [run("local", "blocking", 0, 12_000, &[1.0]), run("ideal", "ideal", 0, 12_000, &[1.0])];
        let text = said(&runs);
        let alike = " Without coordination (local) the mean is 2.500 ms and p99 2.990 ms, the same as if collection took no time.";
        assert!(text.contains(alike) && text.matches("the same").count() == 1, "{text}");
        let mut tail = runs.clone();
        tail[0].host.batches.p99.iter_mut().for_each(|p99| *p99 *= 2.0);
        tail[0].host.response_ns.all.p99 = tail[0].host.response_ns.all.p99.map(|p99| 2 * p99);
        let text = said(&tail);
        let alone = " Without coordination (local) the mean is 2.500 ms, the same as if collection took no time. p99 is 5.980 ms, ";
        assert!(text.contains(alone), "{text}");
    }

    /// Without a bound the time that requests waited for collection is what is known.
    #[test]
    fn without_a_bound_it_costs_what_requests_waited() {
        let text = said(&four_runs()[..3]);
        let begins = "Requests take 12.49 ms on average under local, of which they wait 9.994 ms for garbage collection.";
        assert!(text.starts_with(begins), "{text}");
        let other = {
            let mut other = run("ideal", "ideal", 0, 12_000, &[1.0]);
            other.scenario["array"] = serde_json::json!({"devices": 9});
            other
        };
        assert!(
            said(&[four_runs()[0].clone(), other]).starts_with("Requests take"),
            "a bound of another array"
        );
    }

    /// How long requests wait then depends on the length of the run, so nothing is said of it.
    #[test]
    fn an_overload_begins_with_what_is_served_and_blames_nothing() {
        let mut slow = run("local", "blocking", 1_000, 1, &[1.0]);
        slow.simulated_ns = 2_000_000_000;
        slow.host.arrivals_ns = Some(1_000_000_000);
        slow.warnings = vec![Warning::new(OVERLOAD, "it is")];
        let text = said(&[slow]);
        assert!(
            text.starts_with("The array serves 1,000 requests a second (0.00 MB/s) of 2,000 offered"),
            "{text}"
        );
        assert!(!text.contains("garbage collection"), "{text}");
    }

    /// A closed loop keeps up with nothing, nor do runs of several loads have one rate.
    #[test]
    fn all_keep_up_only_with_one_load_that_comes_by_itself() {
        let mut runs = [run("local", "blocking", 20, 1, &[1.0]), run("other", "blocking", 20, 1, &[1.0])];
        assert!(said(&runs).contains(" The array serves 477 "));
        runs.iter_mut().for_each(|run| run.host.arrivals_ns = Some(run.simulated_ns));
        assert!(said(&runs).contains(" All runs keep up with the load: 477 requests a second"));
        runs[1].simulated_ns *= 2;
        assert!(said(&runs).contains(" The array serves 477 "));
    }

    #[test]
    fn what_is_offered_is_said_where_less_is_served() {
        let mut slow = run("local", "blocking", 1_000, 1, &[1.0]);
        slow.simulated_ns = 2_000_000_000;
        slow.host.bytes_written = 8_192_000;
        slow.host.arrivals_ns = Some(1_950_000_000);
        assert_eq!(served(&slow), " The array serves 1,000 requests a second (4.10 MB/s).");
        slow.host.arrivals_ns = Some(1_000_000_000);
        assert_eq!(served(&slow), " The array serves 1,000 requests a second (4.10 MB/s) of 2,000 offered.");
        slow.host.arrivals_ns = Some(800_000_000);
        assert_eq!(
            served(&slow),
            " The array serves 1,000 requests a second (4.10 MB/s) of 2,500 offered. All 2,000 arrive within 800.0 ms. It takes \
             2.000 s to serve them."
        );
        slow.scenario["workload"] = serde_json::json!({"arrival": {"rate": 2_490.0}});
        assert_eq!(served(&slow), " The array serves 1,000 requests a second (4.10 MB/s) of 2,490 offered.");
    }
}
