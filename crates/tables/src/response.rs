//! One row a run: response times, change against the baseline, and what it cost in flash.

use harmonia_metrics::{ArrayReport, Comparison, Report, VariantIntervals};

use crate::Emphasis;
use crate::numbers::{self, NONE, or_none};
use crate::{Cell, Style, Table, label, layout, needs, needs_differ, seeds, titled};

const TITLE: &str = "Response time in ms, and what it costs";
const HEADINGS: [&str; 11] = [
    "run",
    "mean",
    "stddev",
    "median",
    "p95",
    "p99",
    "p99.9",
    "p99.99",
    "erases",
    "write amp",
    "GC-affected",
];
/// The column of changes stands before this one.
const ERASES: usize = 8;
/// A longer name of the first run makes no heading.
const NAME_MOST: usize = 12;
const BASELINE: &str = "baseline";
const GC_AFFECTED: &str = "GC-affected: share of requests that waited for garbage collection. Write amp: flash bytes programmed per byte \
                           that the user wrote, over whole collection cycles.\n";
const WINDOW_NOTE: &str = "Window: write amp in the measured window, where it differs by more than 5%.\n";
const MISSED: &str = "missed";
const MISSED_NOTE: &str =
    "Missed: of the requests that have a deadline (workload.deadline), those that took longer.\n";
const USABLE: &str = "usable";
const USABLE_NOTE: &str = "Usable: capacity that the host can use; parity and copies take the rest.\n";
const NEEDS: &str = "needs";
const NEEDS_NOTE: &str = "Needs: what the SSDs must reveal or accept (array.interface).\n";
const TOO_FEW: &str = "-: too few requests to say; a percentile is given where at least ten lie beyond it.\n";

/// The table, with footnotes for what it shows. `runs` holds one report a variant of the comparison, `names` what their
/// names are made of.
pub(crate) fn section(runs: &[Report], comparison: &Comparison, names: Option<&str>, style: Style) -> String {
    let mut headings: Vec<String> = HEADINGS.map(str::to_owned).to_vec();
    // A lone run has nothing to be held against.
    if runs.len() > 1 {
        headings.insert(ERASES, against(runs));
    }
    let has_deadlines = runs.iter().any(|run| run.host.deadlines.is_some());
    let usable_differs = has_different_capacity(runs);
    let needs_differ = needs_differ(runs);
    let more = [(has_deadlines, MISSED), (usable_differs, USABLE), (needs_differ, NEEDS)];
    headings.extend(more.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name.to_owned()));
    headings[0] = names.unwrap_or(HEADINGS[0]).to_owned();
    let mut table = Table::new(headings);
    let winner = comparison.winners.mean.as_ref().and_then(|winner| winner.name());
    let changes = changes(comparison);
    let means = means(runs, comparison);
    for ((run, mean), change) in runs.iter().zip(means).zip(changes) {
        let mean = Cell::from(mean);
        let wins = winner == Some(label(run));
        let mean = if wins { mean.with(Emphasis::Good) } else { mean };
        let mut row = row(run, mean, (runs.len() > 1).then_some(change));
        row.extend(has_deadlines.then(|| missed(run).into()));
        row.extend(usable_differs.then(|| numbers::bytes(run.array.usable_bytes).into()));
        row.extend(needs_differ.then(|| needs(run).into()));
        table.push(row);
    }
    let mut text = titled(TITLE, &table, style) + &layout::wrapped(GC_AFFECTED, style.columns);
    if runs.iter().any(tells_window) {
        text.push_str(WINDOW_NOTE);
    }
    if has_deadlines {
        text.push_str(MISSED_NOTE);
    }
    if usable_differs {
        text.push_str(USABLE_NOTE);
    }
    if needs_differ {
        text.push_str(NEEDS_NOTE);
    }
    if runs.iter().any(lacks_percentiles) {
        text.push_str(TOO_FEW);
    }
    text + &seeds::legend(&comparison.intervals, style)
}

/// What heads the changes of the mean: "mean vs local".
pub(crate) fn against(runs: &[Report]) -> String {
    let first = runs.first().map(label).filter(|name| name.chars().count() <= NAME_MOST);
    format!("mean vs {}", first.unwrap_or("first"))
}

/// The mean of each run with its interval, aligned.
pub(crate) fn means(runs: &[Report], comparison: &Comparison) -> Vec<String> {
    let mean = |(run, variant): (&Report, &VariantIntervals)| {
        seeds::ms(run.host.response_ns.all.mean, variant.metrics.mean.as_ref())
    };
    seeds::aligned(runs.iter().zip(&comparison.intervals.variants).map(mean).collect())
}

/// What the mean of each run changes against the first, aligned.
pub(crate) fn changes(comparison: &Comparison) -> Vec<String> {
    let change = |variant: &VariantIntervals| {
        seeds::change(variant.versus_baseline.as_ref().and_then(|versus| versus.mean.as_ref()))
    };
    let changes = seeds::aligned(comparison.intervals.variants.iter().skip(1).map(change).collect());
    std::iter::once(BASELINE.to_owned()).chain(changes).collect()
}

fn row(run: &Report, mean: Cell, change: Option<String>) -> Vec<Cell> {
    let all = &run.host.response_ns.all;
    let ms = |ns: Option<u64>| Cell::from(or_none(ns, |ns| numbers::ms(ns as f64)));
    let mut row = vec![
        label(run).into(),
        mean,
        or_none(all.stddev, numbers::ms).into(),
        ms(all.p50),
        ms(all.p95),
        ms(all.p99),
        ms(all.p999),
        ms(all.p9999),
    ];
    row.extend(change.map(Cell::from));
    row.extend([numbers::count(run.array.erases).into(), amplification(run).into(), gc_affected(run).into()]);
    row
}

/// Whether write amplification in the window stands beside that over whole cycles.
fn tells_window(run: &Report) -> bool {
    let ArrayReport { write_amplification, write_amplification_whole_cycles, .. } = run.array;
    numbers::beside(write_amplification_whole_cycles, write_amplification).is_some()
}

/// Of the array: flash bytes per byte of the user.
fn amplification(run: &Report) -> String {
    let ArrayReport { write_amplification, write_amplification_whole_cycles, .. } = run.array;
    numbers::amplification(write_amplification_whole_cycles, write_amplification, 3)
}

/// Share of all requests that waited for garbage collection.
fn gc_affected(run: &Report) -> String {
    let hit = run.host.response_ns.gc_affected_read.count + run.host.response_ns.gc_affected_write.count;
    match run.host.requests {
        0 => NONE.to_owned(),
        requests => numbers::percent(hit as f64 / requests as f64),
    }
}

/// Whether redundancy leaves the host more of one array than of another; the heading says it where all have the same.
fn has_different_capacity(runs: &[Report]) -> bool {
    let first = runs.first().map(|run| run.array.usable_bytes);
    runs.iter().any(|run| run.array.redundancy.is_some())
        && runs.iter().any(|run| Some(run.array.usable_bytes) != first)
}

/// Share of the requests with a deadline that missed it.
fn missed(run: &Report) -> String {
    or_none(run.host.deadlines.and_then(|kept| kept.missed_share()), numbers::percent)
}

fn lacks_percentiles(run: &Report) -> bool {
    let all = &run.host.response_ns.all;
    [all.p50, all.p95, all.p99, all.p999, all.p9999].contains(&None)
}
