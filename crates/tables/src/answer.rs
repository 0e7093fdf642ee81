//! The first screen: what garbage collection costs, who is best, and one table. All else is for readers who ask for details.

use harmonia_metrics::{ArrayReport, Comparison, Report};

use crate::choice::{self, Pair};
use crate::cost::{self, megabytes, rate};
use crate::numbers::{self, NONE, or_none};
use crate::{
    Cell, Cross, Emphasis, Rest, Style, Table, addressed, failures, label, layout, lifetime, load, loads,
    matrix, needs, needs_differ, response, rest, seeds, warnings, winners,
};

/// Where the rest is.
const MORE: &str = "--details: where the time went, every percentile, and what was not tried. --out DIR: a page with charts.\n";
const LEGEND: &str = "±: half of a 95% confidence interval. n.s.: the difference may be chance. Write amp: flash bytes per byte that \
                      the user wrote.";
const TOO_FEW: &str = " -: too few requests to say.";

/// The answer of a comparison, in about 28 lines.
pub(crate) fn comparison(of: &Comparison, cross: &Cross, rest: Rest, style: Style) -> String {
    let all = &seeds::means(of);
    let heading = cross.heading();
    let mut sections = vec![seeds::heading(of, all)];
    sections.extend(warnings::section(of, style));
    sections.extend(answered(of, cross, all, style));
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
    sections.extend(answered(of, &Cross::default(), runs, style));
    sections.push(table(runs, of, None, style));
    sections.extend(failures::section(runs, style));
    sections.extend(lifetime::section(of, style));
    sections.extend(load::section(runs, style));
    sections.push(addressed(runs, style.columns) + &layout::wrapped(MORE, style.columns));
    sections.join("\n")
}

/// What garbage collection costs, and what to choose. The page begins with the same sentences.
fn answered(of: &Comparison, cross: &Cross, runs: &[Report], style: Style) -> Option<String> {
    let mut text = layout::wrapped(&cost::cost(of, runs, str::to_owned)?, style.columns);
    if let [part] = &loads::parts(of, cross, runs)[..]
        && let Some(pair) = Pair::of(part)
        && let Some(advice) = choice::advice(&pair, str::to_owned)
    {
        text.push_str(&layout::wrapped(&advice, style.columns));
    }
    Some(text)
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
