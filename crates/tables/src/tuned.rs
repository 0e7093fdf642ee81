//! A search: the best points against the scenario as it stands, what was ruled out when, doubts, and what to copy.

use harmonia_metrics::Interval;
use harmonia_tune::TuneReport;
use harmonia_tune::report::{Difference, HeldOut, PointReport, flags};

use crate::Emphasis;
use crate::numbers::{self, NONE};
use crate::seeds::{Qualified, aligned};
use crate::{Cell, Style, Table, layout, titled};

/// Points that tie with the best and are shown.
const MOST_TIES: usize = 8;
/// Points that were beaten and are shown, those that came closest.
const MOST_BEATEN: usize = 4;

/// All that is to be said about a search.
pub fn tuned(report: &TuneReport, style: Style) -> String {
    let title = format!("{} ({})", report.objective.name, report.objective.meaning);
    let mut sections = vec![heading(report), titled(&title, &points(report), style), evidence(report, style)];
    if !report.warnings.is_empty() {
        sections.push(warnings(report, style));
    }
    sections.push(choices(report));
    sections.join("\n")
}

fn heading(report: &TuneReport) -> String {
    let overs: Vec<String> = report.over.iter().map(|axis| format!("{}={}", axis.key, axis.range)).collect();
    let span = |seeds: &[u64]| match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => NONE.to_owned(),
    };
    format!(
        "{}: {}; seeds {}, held out {}\n",
        report.name,
        overs.join(", "),
        span(&report.seeds.search),
        span(&report.seeds.held_out)
    )
}

/// Indices of the points worth a row: as it stands, the best and what ties, the closest of the others.
fn rows(report: &TuneReport) -> Vec<usize> {
    let ties = report.plateau.points.iter().copied().take(MOST_TIES);
    let finalists = report.held_out.iter().map(|one| one.point);
    let mut rows: Vec<usize> = Vec::new();
    for index in [0].into_iter().chain(ties).chain(finalists) {
        if !rows.contains(&index) {
            rows.push(index);
        }
    }
    let mean = |index: &usize| report.points[*index].cost.map_or(f64::MAX, |cost| cost.mean);
    let others = (1..report.points.len())
        .filter(|index| matches!(report.points[*index].fate, "beaten" | "dropped") && !rows.contains(index));
    let mut others: Vec<usize> = others.filter(|index| report.points[*index].cost.is_some()).collect();
    others.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
    rows.extend(others.into_iter().take(MOST_BEATEN));
    rows
}

fn points(report: &TuneReport) -> Table {
    let unit = if report.objective.unit == "ns" { " ms" } else { "" };
    let value = format!("{}{unit}", report.objective.name);
    let headings = ["point", &value, "change", "held out", "race"];
    let mut table = Table::new(headings);
    let rows = rows(report);
    let shown = |of: &dyn Fn(usize) -> Qualified| aligned(rows.iter().map(|&row| of(row)).collect());
    let values = shown(&|row| cost(report, report.points[row].cost.as_ref()));
    let changes = shown(&|row| change(report.points[row].versus_default.as_ref()));
    let held_out =
        shown(&|row| held_out(report, row).map_or_else(none, |one| change(one.versus_default.as_ref())));
    for (at, &row) in rows.iter().enumerate() {
        let point = &report.points[row];
        let race = Cell::from(race(point));
        let cells = vec![
            name(report, point).into(),
            values[at].as_str().into(),
            changes[at].as_str().into(),
            held_out[at].as_str().into(),
            if point.fate == "best" { race.with(Emphasis::Good) } else { race },
        ];
        table.push(cells);
    }
    table
}

fn held_out(report: &TuneReport, index: usize) -> Option<&HeldOut> {
    report.held_out.iter().find(|one| one.point == index)
}

/// The last part of each key, or all of it where that would be another key's too.
fn name(report: &TuneReport, point: &PointReport) -> String {
    if point.sets.is_empty() {
        return "as it stands".to_owned();
    }
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let alike = |short: &str| report.over.iter().filter(|axis| last(&axis.key) == short).count() > 1;
    let part = |set: &String| match set.split_once('=') {
        Some((key, value)) if !alike(&last(key)) => format!("{}={value}", last(key)),
        _ => set.clone(),
    };
    point.sets.iter().map(part).collect::<Vec<_>>().join(" ")
}

fn none() -> Qualified {
    (NONE.to_owned(), String::new())
}

/// A cost in its unit, and the half-width of its interval.
fn cost(report: &TuneReport, cost: Option<&Interval>) -> Qualified {
    let Some(cost) = cost else { return none() };
    let (show, scale): (fn(f64) -> String, f64) = match report.objective.unit {
        "ns" => (numbers::ms, 1e6),
        "count" => (|count| numbers::count(count.round() as u64), 1.0),
        _ => (|ratio| format!("{ratio:.4}"), 1.0),
    };
    let text = show(cost.mean);
    let behind = cost.half_width.map(|width| numbers::plus_minus(width / scale, &text));
    (text, behind.unwrap_or_default())
}

fn change(difference: Option<&Difference>) -> Qualified {
    let Some(relative) = difference.and_then(|difference| difference.relative) else { return none() };
    let text = numbers::change(1.0 + relative.mean, 1.0).unwrap_or_else(|| NONE.to_owned());
    let width = relative.half_width.map(|width| numbers::plus_minus(width * 100.0, &text));
    let chance = match difference.and_then(|difference| difference.significant) {
        Some(false) => " n.s.",
        _ => "",
    };
    (text, width.unwrap_or_default() + chance)
}

fn race(point: &PointReport) -> String {
    match (point.fate, &point.beaten) {
        ("as-it-stands", _) => String::new(),
        (_, Some(beaten)) => format!("out after {} seeds", beaten.seeds),
        (fate, None) => fate.to_owned(),
    }
}

/// What was tried, what was ruled out when, and why it ended.
fn evidence(report: &TuneReport, style: Style) -> String {
    let points = &report.points[1..];
    let count = |fate: &str| points.iter().filter(|point| point.fate == fate).count();
    let mut parts = Vec::new();
    for seeds in 1..=report.seeds.search.len() {
        let beaten = |point: &&PointReport| point.beaten.as_ref().is_some_and(|beaten| beaten.seeds == seeds);
        match points.iter().filter(beaten).count() {
            0 => {}
            beaten => parts.push(format!("{beaten} beaten after {seeds} seeds")),
        }
    }
    parts.push(match count("ties") {
        0 => "none ties with the best".to_owned(),
        1 => "1 ties with the best".to_owned(),
        ties => format!("{ties} tie with the best"),
    });
    let dropped = count("dropped");
    if dropped > 0 {
        parts.push(format!("{dropped} dropped for want of runs"));
    }
    let ended = match report.stopped {
        "even" => "Nothing was beaten any more: finer values would not be told apart either.",
        "finest" => "Nothing finer was left to try around the best.",
        _ => "The budget was used up.",
    };
    let mut text = format!(
        "Tried {} points in {} generations, {} of at most {} runs: {}. {ended}",
        numbers::count(points.len() as u64),
        report.generations,
        numbers::count(report.runs),
        numbers::count(report.budget),
        parts.join(", ")
    );
    for refused in &report.refused {
        text.push_str(&format!(" {} could not be run, such as: {}.", refused.points, refused.reason));
    }
    text.push_str(
        " \u{b1}: half of a 95% confidence interval, over seeds; changes against the scenario as it stands, from pairs \
         of the same seed. n.s.: not significant, the difference may be chance.",
    );
    layout::wrapped(&text, style.columns)
}

fn warnings(report: &TuneReport, style: Style) -> String {
    let line = |text: &str| {
        let wrapped = layout::wrapped(&format!("warning: {text}"), style.columns);
        wrapped.replacen("warning:", &style.color.paint(Emphasis::Warning, "warning:"), 1)
    };
    report.warnings.iter().map(|warning| line(&warning.text)).collect()
}

/// What to copy.
fn choices(report: &TuneReport) -> String {
    let mut text = format!("best      {}\n", flags(&report.best.sets));
    if report.plateau.plainest.point != report.best.point {
        text.push_str(&format!("plainest  {}\n", flags(&report.plateau.plainest.sets)));
    }
    text
}
