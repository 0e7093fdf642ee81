//! What garbage collection costs the first run, in sentences, for terminal and page.

use harmonia_metrics::judgement::collection::{Cost, Figure, Verdict, is_sure};
use harmonia_metrics::{Comparison, Report, Versus};

use crate::label;
use crate::numbers::{self, NONE, or_none};
use crate::winners::Name;

/// What it costs, whether that matters, and how much the run serves; `None` if no request completed. `runs` holds one report a
/// variant.
pub fn cost(comparison: &Comparison, runs: &[Report], name: Name) -> Option<String> {
    let first = runs.first()?;
    let mean = first.host.response_ns.all.mean?;
    let text = match Cost::of(comparison) {
        Some(Cost { figures, verdict }) => {
            let figures = figures.iter().enumerate().map(|(at, figure)| sentence(figure, at, first, name));
            let said: Vec<String> = says(verdict).map(str::to_owned).into_iter().chain(figures).collect();
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
    Some(text + &served(first))
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

/// "p99 is 13.47 ms, and 0.8596 ms without it (+12.3% ±0.4)."
fn sentence(figure: &Figure, at: usize, first: &Report, name: Name) -> String {
    let metric = figure.metric.name();
    let (begin, without) = match at {
        0 => (format!("Under {} {metric}", name(label(first))), "if collection took no time"),
        _ => (metric.to_owned(), "without it"),
    };
    let change = figure.change.as_ref().map(|change| format!(" ({})", signed(Some(change))));
    format!(
        "{begin} is {} ms, and {} ms {without}{}.",
        numbers::ms(figure.value),
        numbers::ms(figure.against),
        change.unwrap_or_default()
    )
}

/// Growth above which percentages say less than a factor.
const TIMES: f64 = 10.0;

/// "-12.3% ±0.4" or "13.1 ±0.2 times as long", and n.s. where that may be chance.
pub(crate) fn signed(change: Option<&Versus>) -> String {
    let Some(change @ Versus { relative: Some(relative), .. }) = change else { return NONE.to_owned() };
    let chance = if is_sure(change) { "" } else { " n.s." };
    let width = |scale: f64| {
        relative.half_width.map_or_else(String::new, |half| format!(" \u{b1}{:.1}", half * scale))
    };
    if relative.mean > TIMES {
        return format!("{:.1}{} times as long{chance}", relative.mean + 1.0, width(1.0));
    }
    format!("{:+.1}%{}{chance}", relative.mean * 100.0, width(100.0))
}

/// " The array serves 477 requests a second (244 MB/s)."
fn served(run: &Report) -> String {
    let offered =
        run.host.arrivals_ns.filter(|&ns| ns > 0).map(|ns| run.host.requests as f64 * 1e9 / ns as f64);
    let Some(rate) = rate(run, run.host.requests) else { return String::new() };
    // Otherwise the last requests alone make the difference.
    let offered = offered.filter(|offered| *offered > 1.05 * rate);
    let offered = offered.map(|rate| format!(" of {} offered", numbers::count(rate.round() as u64)));
    format!(
        " The array serves {} requests a second{} ({} MB/s).",
        numbers::count(rate.round() as u64),
        offered.unwrap_or_default(),
        megabytes(run)
    )
}

/// So many a second of the window.
pub(crate) fn rate(run: &Report, count: u64) -> Option<f64> {
    (run.simulated_ns > 0).then(|| count as f64 * 1e9 / run.simulated_ns as f64)
}

pub(crate) fn megabytes(run: &Report) -> String {
    let rate = rate(run, run.host.bytes_read + run.host.bytes_written).map(|bytes| bytes / 1e6);
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
        let begins = "Garbage collection matters here. Under local the mean is 12.49 ms, and 2.500 ms if collection took no time (+399.8%";
        assert!(text.starts_with(begins), "{text}");
        assert!(text.contains(" p99 is 76.81 ms, and ") && text.contains(" without it ("), "{text}");
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
            text.starts_with("Garbage collection does not matter here. Under local the mean is"),
            "{text}"
        );
        let parts = crate::loads::parts(&comparison, &crate::Cross::default(), &runs);
        let advice = Pair::of(&parts[0]).and_then(|pair| advice(&pair, str::to_owned)).expect("an answer");
        assert!(advice.starts_with("Do nothing about garbage collection. It costs at most "), "{advice}");
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

    #[test]
    fn what_is_offered_is_said_where_less_is_served() {
        let mut slow = run("local", "blocking", 1_000, 1, &[1.0]);
        slow.simulated_ns = 2_000_000_000;
        slow.host.bytes_written = 8_192_000;
        slow.host.arrivals_ns = Some(1_950_000_000);
        assert_eq!(served(&slow), " The array serves 1,000 requests a second (4.10 MB/s).");
        slow.host.arrivals_ns = Some(1_000_000_000);
        assert_eq!(served(&slow), " The array serves 1,000 requests a second of 2,000 offered (4.10 MB/s).");
    }
}
