//! The table of the page: one row a run.

use std::fmt::Write as _;

use harmonia_metrics::{Intervals, Method, Report, Versus};

use super::html::{breakable, escaped};
use crate::numbers::{self, NONE, or_none};
use crate::tables::label;

/// What a column shows of a run, and whether less of it is better.
struct Column {
    heading: &'static str,
    show: fn(&Report) -> String,
    /// What is compared to find the best.
    figure: Option<fn(&Report) -> Option<f64>>,
}

const COLUMNS: [Column; 9] = [
    Column {
        heading: "mean<br>ms",
        show: |run| or_none(run.host.response_ns.all.mean, numbers::ms),
        figure: Some(|run| run.host.response_ns.all.mean),
    },
    Column {
        heading: "half within<br>ms",
        show: |run| shown(run.host.response_ns.all.p50),
        figure: Some(|run| figure(run.host.response_ns.all.p50)),
    },
    Column {
        heading: "99% within<br>ms",
        show: |run| shown(run.host.response_ns.all.p99),
        figure: Some(|run| figure(run.host.response_ns.all.p99)),
    },
    Column {
        heading: "99.9% within<br>ms",
        show: |run| shown(run.host.response_ns.all.p999),
        figure: Some(|run| figure(run.host.response_ns.all.p999)),
    },
    Column {
        heading: "slowest<br>ms",
        show: |run| shown(run.host.response_ns.all.max),
        figure: Some(|run| figure(run.host.response_ns.all.max)),
    },
    Column { heading: "met garbage<br>collection", show: met_gc, figure: None },
    Column {
        heading: "blocks<br>erased",
        show: |run| numbers::count(run.array.erases),
        figure: Some(|run| Some(run.array.erases as f64)),
    },
    Column {
        heading: "write<br>amplification",
        show: |run| or_none(run.array.write_amplification, |ratio| format!("{ratio:.2}")),
        figure: Some(|run| run.array.write_amplification),
    },
    Column {
        heading: "some SSD<br>collecting",
        show: |run| numbers::percent(1.0 - run.array.devices_in_gc_fraction.first().copied().unwrap_or(1.0)),
        figure: None,
    },
];

fn shown(ns: Option<u64>) -> String {
    or_none(ns, |ns| numbers::ms(ns as f64))
}

fn figure(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

/// Share of all requests that met garbage collection.
fn met_gc(run: &Report) -> String {
    let met = run.host.response_ns.gc_affected_read.count + run.host.response_ns.gc_affected_write.count;
    match run.host.requests {
        0 => NONE.to_owned(),
        requests => numbers::percent(met as f64 / requests as f64),
    }
}

/// The table as HTML; `names` is what the names of the runs are made of.
pub(super) fn table(runs: &[Report], intervals: &Intervals, names: &str) -> String {
    let mut text = format!("<table><thead><tr><th scope=\"col\">{}</th>", escaped(names));
    for (index, column) in COLUMNS.iter().enumerate() {
        let _ = write!(text, "<th scope=\"col\">{}</th>", column.heading);
        if index == 0 && runs.len() > 1 {
            text.push_str("<th scope=\"col\">mean against<br>the baseline</th>");
        }
    }
    text.push_str("</tr></thead><tbody>\n");
    let lowest = COLUMNS.each_ref().map(|column| column.figure.and_then(|figure| lowest(runs, figure)));
    for (row, run) in runs.iter().enumerate() {
        let variant = intervals.variants.get(row);
        let class = if run.is_ideal() { " class=\"bound\"" } else { "" };
        let _ = write!(text, "<tr{class}><th scope=\"row\">{}</th>", breakable(label(run)));
        for (index, (column, lowest)) in COLUMNS.iter().zip(lowest).enumerate() {
            let value = column.figure.and_then(|figure| figure(run));
            let best = !run.is_ideal() && value.is_some() && value == lowest;
            let class = if best { " class=\"best\"" } else { "" };
            let mean = variant.filter(|_| index == 0).and_then(|variant| variant.metrics.mean?.half_width);
            let shown = (column.show)(run);
            let behind = mean.map(|ns| behind(&numbers::plus_minus(ns / 1e6, &shown))).unwrap_or_default();
            let _ = write!(text, "<td{class}><span class=\"value\">{shown}</span>{behind}</td>");
            if index == 0 && runs.len() > 1 {
                let versus = variant.and_then(|variant| variant.versus_baseline.as_ref()?.mean);
                let _ = write!(text, "<td>{}</td>", against_first(run, &runs[0], versus.as_ref()));
            }
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody></table>"
}

/// The lowest figure of those one could build, if there is a choice between different ones.
fn lowest(runs: &[Report], figure: fn(&Report) -> Option<f64>) -> Option<f64> {
    let figures: Vec<f64> = runs.iter().filter(|run| !run.is_ideal()).filter_map(figure).collect();
    let low = figures.iter().copied().min_by(f64::total_cmp)?;
    figures.iter().any(|&figure| figure > low).then_some(low)
}

fn against_first(run: &Report, first: &Report, versus: Option<&Versus>) -> String {
    if std::ptr::eq(run, first) {
        return "baseline".to_owned();
    }
    let means = run.host.response_ns.all.mean.zip(first.host.response_ns.all.mean);
    let Some(change) = means.and_then(|(mean, base)| numbers::change(mean, base)) else {
        return NONE.to_owned();
    };
    let half_width = versus.and_then(|versus| versus.relative?.half_width);
    let mut text = half_width.map(|half| numbers::plus_minus(half * 100.0, &change)).unwrap_or_default();
    if versus.and_then(|versus| versus.significant) == Some(false) {
        text.push_str(" may be chance");
    }
    change + &behind(text.trim())
}

/// What stands behind a number.
pub(super) fn behind(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<span class=\"behind\">{}</span>", escaped(text)) }
}

/// How to read it.
pub(super) fn caption(runs: &[Report], intervals: &Intervals) -> String {
    let mut text = String::from(
        "Response times run from a request's arrival to the end of its last operation. Write amplification: flash pages \
         written for each page the host wrote.",
    );
    if runs.len() > 1 {
        text.push_str(" Underlined: the lowest of those one could build.");
    }
    let seeds = intervals.variants.first().map_or(1, |variant| variant.seeds.len());
    if intervals
        .variants
        .iter()
        .any(|variant| variant.metrics.mean.is_some_and(|mean| mean.half_width.is_some()))
    {
        let _ = match intervals.method {
            Method::Replications => write!(
                text,
                " Figures are means over {seeds} seeds; \u{b1} is half of a 95% confidence interval, from the spread \
                 between them."
            ),
            Method::BatchMeans => write!(
                text,
                " \u{b1} is half of a 95% confidence interval, from batches of requests of one seed."
            ),
        };
    }
    if runs.iter().any(Report::is_ideal) {
        text.push_str(" In italics: a bound, in which collecting takes no time.");
    }
    if runs.iter().any(|run| run.host.response_ns.all.p999.is_none()) {
        text.push_str(" -: too few requests to say; ten must lie beyond a percentile.");
    }
    text
}
