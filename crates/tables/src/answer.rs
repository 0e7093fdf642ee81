//! The first screen: what garbage collection costs, who is best, and one table. All else is for readers who ask for details.

use harmonia_metrics::{ArrayReport, Comparison, Report};

use crate::numbers::{self, NONE, or_none};
use crate::{
    Cell, Cross, Emphasis, Rest, Style, Table, addressed, failures, label, layout, lifetime, load, matrix,
    needs, needs_differ, response, rest, seeds, warnings, winners,
};

/// Where the rest is.
const MORE: &str = "--details: where the time went, every percentile, and what was not tried. --out DIR: a page with charts.\n";
const LEGEND: &str = "±: half of a 95% confidence interval. n.s.: the difference may be chance. Write amp: flash bytes per byte that \
                      the user wrote.";
const TOO_FEW: &str = " -: too few requests to say.";

/// The answer of a comparison, in about 25 lines.
pub(crate) fn comparison(of: &Comparison, cross: &Cross, rest: Rest, style: Style) -> String {
    let all = &seeds::means(of);
    let heading = cross.heading();
    let mut sections = vec![seeds::heading(of, all)];
    sections.extend(warnings::section(of, style));
    sections.extend(cost(all, style));
    sections.extend(winners::section(of, all, winners::Notes::Cautions, style));
    sections.extend(matrix::section(of, cross, all, style));
    let (comparison, _) = &rest::split(of, all, rest, style);
    let runs = &seeds::means(comparison);
    sections.push(table(runs, comparison, heading.as_deref(), style));
    sections.extend(failures::section(runs, style));
    sections.extend(lifetime::section(comparison, style));
    sections.extend(load::section(runs, style));
    sections.push(addressed(runs, style.columns) + &layout::wrapped(MORE, style.columns));
    sections.join("\n")
}

/// The answer of one run.
pub(crate) fn single(of: &Comparison, style: Style) -> String {
    let runs = &seeds::means(of);
    let mut sections = vec![seeds::heading(of, runs)];
    sections.extend(warnings::section(of, style));
    sections.extend(cost(runs, style));
    sections.push(table(runs, of, None, style));
    sections.extend(failures::section(runs, style));
    sections.extend(lifetime::section(of, style));
    sections.extend(load::section(runs, style));
    sections.push(addressed(runs, style.columns) + &layout::wrapped(MORE, style.columns));
    sections.join("\n")
}

/// What garbage collection costs the first run, and how much that run serves; `None` if no request completed.
fn cost(runs: &[Report], style: Style) -> Option<String> {
    let first = runs.first()?;
    let all = &first.host.response_ns.all;
    let mean = all.mean?;
    let tail = |run: &Report| run.host.response_ns.all.p999.map(|ns| numbers::ms(ns as f64));
    let text = match bound(runs) {
        Some((ideal, bound)) => {
            let tail = tail(first).zip(tail(ideal));
            let tail =
                tail.map(|(with, without)| format!(" p99.9 is {with} ms, and {without} ms without it."));
            format!(
                "Garbage collection costs {} of {} ms on average under {}.{}",
                numbers::ms((mean - bound).max(0.0)),
                numbers::ms(mean),
                label(first),
                tail.unwrap_or_default()
            )
        }
        None => {
            let waited = first.host.blame_ns.queue_gc as f64 / first.host.requests.max(1) as f64;
            let tail = tail(first).map(|tail| format!(" p99.9 is {tail} ms."));
            format!(
                "Requests take {} ms on average under {}, of which they wait {} ms for garbage collection.{}",
                numbers::ms(mean),
                label(first),
                numbers::ms(waited),
                tail.unwrap_or_default()
            )
        }
    };
    Some(layout::wrapped(&(text + &served(first)), style.columns))
}

/// The run in which collection takes no time, and its mean, if there is one such run beside the first.
fn bound(runs: &[Report]) -> Option<(&Report, f64)> {
    let mut ideal = runs.iter().skip(1).filter(|run| run.is_ideal());
    let (Some(only), None) = (ideal.next(), ideal.next()) else { return None };
    let array = |run: &Report| run.scenario.get("array").and_then(|array| array.get("devices")).cloned();
    let is_same_array = array(only) == array(&runs[0]) && !runs[0].is_ideal();
    only.host.response_ns.all.mean.filter(|_| is_same_array).map(|mean| (only, mean))
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
fn rate(run: &Report, count: u64) -> Option<f64> {
    (run.simulated_ns > 0).then(|| count as f64 * 1e9 / run.simulated_ns as f64)
}

fn megabytes(run: &Report) -> String {
    let rate = rate(run, run.host.bytes_read + run.host.bytes_written).map(|bytes| bytes / 1e6);
    or_none(rate, |rate| match rate {
        rate if rate < 10.0 => format!("{rate:.2}"),
        rate => numbers::count(rate.round() as u64),
    })
}

/// One row a run.
fn table(runs: &[Report], comparison: &Comparison, names: Option<&str>, style: Style) -> String {
    let is_compared = runs.len() > 1;
    let needs_differ = needs_differ(runs);
    let headings = ["mean", "p99", "p99.9"].into_iter().chain(is_compared.then_some("vs first"));
    let headings = headings.chain(["IOPS", "MB/s", "write amp"]).chain(needs_differ.then_some("needs"));
    let mut table = Table::new([names.unwrap_or("run")].into_iter().chain(headings));
    let winner = comparison.winners.mean.as_ref().and_then(|winner| winner.name());
    let changes = if is_compared { response::changes(comparison) } else { Vec::new() };
    let mut changes = changes.into_iter();
    for (run, mean) in runs.iter().zip(response::means(runs, comparison)) {
        let all = &run.host.response_ns.all;
        let ms = |ns: Option<u64>| Cell::from(or_none(ns, |ns| numbers::ms(ns as f64)));
        let mean = Cell::from(mean);
        let mean = if winner == Some(label(run)) { mean.with(Emphasis::Good) } else { mean };
        let mut row = vec![label(run).into(), mean, ms(all.p99), ms(all.p999).with(Emphasis::Bold)];
        row.extend(changes.next().map(Cell::from));
        let iops = rate(run, run.host.requests).map(|rate| numbers::count(rate.round() as u64));
        row.extend([
            iops.unwrap_or_else(|| NONE.to_owned()).into(),
            megabytes(run).into(),
            amplification(run).into(),
        ]);
        row.extend(needs_differ.then(|| Cell::from(needs(run))));
        table.push(row);
    }
    let lacks = |run: &Report| [run.host.response_ns.all.p99, run.host.response_ns.all.p999].contains(&None);
    let too_few = if runs.iter().any(lacks) { TOO_FEW } else { "" };
    let means = match comparison.intervals.variants.first().map_or(0, |variant| variant.seeds.len()) {
        0 | 1 => "Times in ms.".to_owned(),
        seeds => format!("Means over {seeds} seeds, times in ms."),
    };
    table.render(style.columns, style.color)
        + &layout::wrapped(&format!("{means} {LEGEND}{too_few}"), style.columns)
}

fn amplification(run: &Report) -> String {
    let ArrayReport { write_amplification, write_amplification_whole_cycles, .. } = run.array;
    numbers::amplification(write_amplification_whole_cycles, write_amplification, 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{four_runs, run};

    fn said(runs: &[Report]) -> String {
        cost(runs, Style { columns: 200, color: crate::Color(false) }).expect("requests completed")
    }

    #[test]
    fn collection_costs_the_difference_to_the_bound() {
        let text = said(&four_runs());
        assert!(
            text.starts_with("Garbage collection costs 9.994 of 12.49 ms on average under local."),
            "{text}"
        );
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
