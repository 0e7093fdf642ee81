//! The table of the page: one row a run, load by load. Of many runs the best stand first.

use std::fmt::Write as _;

use harmonia_metrics::{ArrayReport, Intervals, Method, Report, VariantIntervals, Versus, Winner, Winners};
use harmonia_tables::{
    label, needs, needs_differ,
    numbers::{self, NONE, or_none},
};

use super::html::{escaped, in_parts};
use super::marks::Mark;
use harmonia_tables::loads::Part;

/// From so many runs on, rows are sorted and scrolled.
const MANY: usize = 12;

/// What a column shows of a run, and who has won it where that is judged.
struct Column {
    heading: &'static str,
    /// Shown where the pointer rests on the heading.
    means: &'static str,
    show: fn(&Report) -> String,
    winner: Option<fn(&Winners) -> &Option<Winner>>,
}

const COLUMNS: [Column; 10] = [
    Column {
        heading: "mean<br>ms",
        means: "Mean response time of all requests, from arrival to completion",
        show: |run| or_none(run.host.response_ns.all.mean, numbers::ms),
        winner: Some(|winners| &winners.mean),
    },
    Column {
        heading: "median (p50)<br>ms",
        means: "Half of all requests take no longer",
        show: |run| shown(run.host.response_ns.all.p50),
        winner: None,
    },
    Column {
        heading: "p99<br>ms",
        means: "99 of 100 requests take no longer",
        show: |run| shown(run.host.response_ns.all.p99),
        winner: Some(|winners| &winners.p99),
    },
    Column {
        heading: "p99.9<br>ms",
        means: "999 of 1,000 requests take no longer",
        show: |run| shown(run.host.response_ns.all.p999),
        winner: None,
    },
    Column {
        heading: OF_READS,
        means: "99 of 100 reads take no longer",
        show: |run| shown(run.host.response_ns.read.p99),
        winner: Some(|winners| &winners.read_p99),
    },
    Column {
        heading: "max<br>ms",
        means: "The longest response time",
        show: |run| shown(run.host.response_ns.all.max),
        winner: None,
    },
    Column {
        heading: "GC-affected<br>requests",
        means: "Share of requests that waited for garbage collection",
        show: gc_affected,
        winner: None,
    },
    Column {
        heading: "erases",
        means: "Blocks erased by all SSDs in the measured window",
        show: |run| numbers::count(run.array.erases),
        winner: Some(|winners| &winners.erases),
    },
    Column {
        heading: "write<br>amplification",
        means: "Bytes programmed for each byte that the host wrote, over whole collection cycles",
        show: |run| {
            let ArrayReport { write_amplification, write_amplification_whole_cycles, .. } = run.array;
            let window = numbers::beside(write_amplification_whole_cycles, write_amplification);
            or_none(write_amplification_whole_cycles, |ratio| format!("{ratio:.2}"))
                + &window.map(|window| behind(&format!("window {window:.2}"))).unwrap_or_default()
        },
        winner: None,
    },
    Column {
        heading: "time with<br>GC",
        means: "Share of the time in which at least one SSD collects",
        show: |run| numbers::percent(1.0 - run.array.devices_in_gc_fraction.first().copied().unwrap_or(1.0)),
        winner: None,
    },
];

/// Stands last where runs differ in it.
const NEEDS: Column = Column {
    heading: "needs",
    means: "What SSDs must offer for this policy",
    show: |run| needs(run).to_owned(),
    winner: None,
};

/// A column that stands only where there are writes beside the reads.
const OF_READS: &str = "p99 of reads<br>ms";

/// The columns of these runs.
fn columns(parts: &[Part<'_>]) -> Vec<&'static Column> {
    let differ = parts.iter().any(|part| needs_differ(&part.runs));
    let all = COLUMNS.iter().chain(differ.then_some(&NEEDS));
    all.filter(|column| column.heading != OF_READS || is_mixed(parts)).collect()
}

/// Whether any run has reads and writes.
fn is_mixed(parts: &[Part<'_>]) -> bool {
    let is_mixed = |run: &Report| run.host.read_requests > 0 && run.host.write_requests > 0;
    parts.iter().any(|part| part.runs.iter().any(is_mixed))
}

fn shown(ns: Option<u64>) -> String {
    or_none(ns, |ns| numbers::ms(ns as f64))
}

/// Share of all requests that waited for garbage collection.
fn gc_affected(run: &Report) -> String {
    let waited = run.host.response_ns.gc_affected_read.count + run.host.response_ns.gc_affected_write.count;
    match run.host.requests {
        0 => NONE.to_owned(),
        requests => numbers::percent(waited as f64 / requests as f64),
    }
}

/// Whether rows are sorted and scrolled.
pub(super) fn is_long(parts: &[Part<'_>]) -> bool {
    parts.iter().map(|part| part.runs.len()).sum::<usize>() > MANY
}

/// The table as HTML; `names` is what the names of the runs are made of.
pub(super) fn table(parts: &[Part<'_>], marks: &[Mark], names: &str) -> String {
    let has_choice = parts.iter().any(|part| part.runs.len() > 1);
    let mut text = format!("<table><thead><tr><th scope=\"col\">{}</th>", escaped(names));
    let columns = columns(parts);
    for (index, column) in columns.iter().enumerate() {
        let _ = write!(text, "<th scope=\"col\" title=\"{}\">{}</th>", column.means, column.heading);
        if index == 0 && has_choice {
            text.push_str("<th scope=\"col\">mean against<br>baseline</th>");
        }
    }
    text.push_str("</tr></thead>\n");
    for part in parts {
        text.push_str("<tbody>\n");
        if parts.len() > 1 && has_choice {
            let width = columns.len() + 1 + usize::from(has_choice);
            let _ = writeln!(
                text,
                "<tr class=\"load\"><th scope=\"rowgroup\" colspan=\"{width}\"><span>{}</span></th></tr>",
                escaped(&part.name)
            );
        }
        rows(&mut text, part, &columns, marks, is_long(parts), has_choice);
        text.push_str("</tbody>\n");
    }
    text + "</table>"
}

/// The runs of one load: as asked for, or the baseline, the others from the lowest mean on, and the bounds.
fn order(part: &Part<'_>, sorted: bool) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..part.runs.len()).collect();
    if sorted {
        let mean = |row: usize| part.runs[row].host.response_ns.all.mean.unwrap_or(f64::MAX);
        let place = |row: usize| if row == 0 { 0 } else { 1 + u8::from(part.runs[row].is_ideal()) };
        rows.sort_by(|&a, &b| place(a).cmp(&place(b)).then(mean(a).total_cmp(&mean(b))));
    }
    rows
}

fn rows(
    text: &mut String,
    part: &Part<'_>,
    columns: &[&Column],
    marks: &[Mark],
    sorted: bool,
    has_choice: bool,
) {
    let winners = &part.comparison.winners;
    let winning: Vec<Option<&str>> =
        columns.iter().map(|column| column.winner.and_then(|of| of(winners).as_ref()?.name())).collect();
    for row in order(part, sorted) {
        let (run, position) = (&part.runs[row], part.indices[row]);
        let variant = part.comparison.intervals.variants.get(row);
        let class = if run.is_ideal() { " class=\"bound\"" } else { "" };
        let _ = write!(
            text,
            "<tr{class} data-run=\"{position}\"><th scope=\"row\"><span class=\"run\">{}<span class=\"name\">{}</span></span></th>",
            marks.get(position).map(Mark::swatch).unwrap_or_default(),
            in_parts(label(run))
        );
        for (index, (column, winner)) in columns.iter().zip(&winning).enumerate() {
            let class = if *winner == Some(label(run)) { " class=\"best\"" } else { "" };
            let mean = variant.filter(|_| index == 0).and_then(|variant| variant.metrics.mean?.half_width);
            let shown = (column.show)(run);
            let behind = mean.map(|ns| behind(&numbers::plus_minus(ns / 1e6, &shown))).unwrap_or_default();
            let _ = write!(text, "<td{class}><span class=\"value\">{shown}</span>{behind}</td>");
            if index == 0 && has_choice {
                let versus = variant.and_then(|variant| variant.versus_baseline.as_ref()?.mean);
                let _ = write!(text, "<td>{}</td>", against_first(run, &part.runs[0], versus.as_ref()));
            }
        }
        text.push_str("</tr>\n");
    }
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
pub(super) fn caption(parts: &[Part<'_>], runs: &[Report], intervals: &Intervals) -> String {
    let mut text = String::from(
        "A response time runs from a request's arrival to the end of its last operation. A GC-affected request waited for \
         garbage collection. Write amplification is flash bytes programmed for \
         each byte the user wrote, over whole collection cycles; in the measured window too, where that differs by more than 5%. Time with GC is the share of time in which at least one SSD collects.",
    );
    if parts.iter().any(|part| part.runs.len() > 1) {
        let reads = if is_mixed(parts) { ", p99 of reads" } else { "" };
        let load = if parts.len() == 1 { "" } else { " under each load" };
        let _ = write!(
            text,
            " Underlined is the winner of mean, p99{reads} and erases{load}, where there is one."
        );
    }
    if is_long(parts) {
        text.push_str(" The baseline stands first, then the runs from the lowest mean on, then the bounds.");
    }
    let seeds = intervals.variants.first().map_or(1, |variant| variant.seeds.len());
    let has_interval =
        |variant: &VariantIntervals| variant.metrics.mean.is_some_and(|mean| mean.half_width.is_some());
    if intervals.variants.iter().any(has_interval) {
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
        text.push_str(" In italics is a bound, in which collecting takes no time.");
    }
    if parts.iter().any(|part| needs_differ(&part.runs)) {
        text.push_str(" Needs is what the SSDs must reveal or accept (array.interface).");
    }
    if runs.iter().any(|run| run.host.response_ns.all.p999.is_none()) {
        text.push_str(" A dash means too few requests to say: ten must lie beyond a percentile.");
    }
    text
}
