//! The first screen: what garbage collection costs, who is best, and one table. All else is for readers who ask for details.

use harmonia_metrics::{ArrayReport, Comparison, Report};

use crate::choice::{self, Pair};
use crate::cost::{self, megabytes, rate};
use crate::numbers::{self, NONE, or_none};
use crate::{
    Cell, Cross, Detail, Emphasis, Rest, Style, Table, addressed, failures, label, layout, load, loads,
    matrix, needs, needs_differ, response, rest, seeds, warnings, winners,
};

/// Where the rest is.
const MORE: &str =
    "--details: where the time went, all percentiles, what was not tried. --out DIR: a page with charts.";
const LEGEND: &str = "±: half of a 95% confidence interval. n.s.: may be chance.";
const ONE_SEED: &str = " Intervals of one seed cover this aged array only (--seeds 10).";
const YEARS: &str = " Years: until the first drive ends, if this load goes on.";
const TOO_FEW: &str = " -: too few.";

/// The answer of a comparison: at most 25 lines of 100 columns, unless there is much to warn of.
pub(crate) fn comparison(of: &Comparison, cross: &Cross, rest: Rest, style: Style) -> String {
    let all = &seeds::means(of);
    let heading = cross.heading();
    let best = winners::section(of, all, winners::Notes::None, style);
    let sections = best.into_iter().chain(matrix::section(of, cross, all, style));
    let (comparison, others) = &rest::split(of, all, rest, Detail::Answer, style);
    let runs = &seeds::means(comparison);
    let table = table(runs, comparison, heading.as_deref(), style) + others.as_deref().unwrap_or_default();
    screen(of, all, answered(of, cross, all, style), sections.chain([table]).collect(), style)
}

/// The answer of one run.
pub(crate) fn single(of: &Comparison, style: Style) -> String {
    let runs = &seeds::means(of);
    let answered = answered(of, &Cross::default(), runs, style);
    screen(of, runs, answered, vec![table(runs, of, None, style)], style)
}

/// The screen around these figures.
fn screen(
    of: &Comparison,
    runs: &[Report],
    answered: Option<String>,
    figures: Vec<String>,
    style: Style,
) -> String {
    let mut sections = vec![seeds::heading(of, runs) + &warnings::short(of, style).unwrap_or_default()];
    sections.extend(answered);
    sections.extend(figures);
    // What follows stands right below the table.
    let notes =
        [failures::short(runs, style), load::section(runs, style), Some(addressed(runs, style.columns))];
    sections.join("\n")
        + &notes.into_iter().flatten().collect::<String>()
        + &layout::wrapped(MORE, style.columns)
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
    let years = years(comparison);
    let has_years = years.iter().any(Option::is_some);
    let headings = headings.chain(["IOPS", "MB/s", "write amp"]).chain(has_years.then_some("years"));
    let headings = headings.chain(needs_differ.then_some("needs"));
    let mut table = Table::new([names.unwrap_or("run")].into_iter().chain(headings));
    let winner = comparison.winners.mean.as_ref().and_then(|winner| winner.name());
    let changes = if is_compared { response::changes(comparison) } else { Vec::new() };
    let mut changes = changes.into_iter();
    for ((run, mean), years) in runs.iter().zip(response::means(runs, comparison)).zip(years) {
        let all = &run.host.response_ns.all;
        let ms = |ns: Option<u64>| Cell::from(or_none(ns, |ns| numbers::ms(ns as f64)));
        // Beside a difference with its interval the mean needs none.
        let mean = if is_compared { or_none(all.mean, numbers::ms) } else { mean };
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
        row.extend(has_years.then(|| Cell::from(or_none(years, numbers::years))));
        row.extend(needs_differ.then(|| Cell::from(needs(run))));
        table.push(row);
    }
    let lacks = |run: &Report| [run.host.response_ns.all.p99, run.host.response_ns.all.p999].contains(&None);
    let too_few = if runs.iter().any(lacks) { TOO_FEW } else { "" };
    let seeds = comparison.intervals.variants.first().map_or(0, |variant| variant.seeds.len());
    let means = match seeds {
        0 | 1 => "Times in ms.".to_owned(),
        seeds => format!("Means over {seeds} seeds, in ms."),
    };
    let one_seed = if seeds <= 1 && is_compared { ONE_SEED } else { "" };
    let ends = if has_years { YEARS } else { "" };
    table.render(style.columns, style.color)
        + &layout::wrapped(&format!("{means} {LEGEND}{too_few}{ends}{one_seed}"), style.columns)
}

/// Until the first drive of each variant ends, where something says what drives endure.
fn years(comparison: &Comparison) -> Vec<Option<f64>> {
    let of = |runs: &[Report]| {
        let lives = runs.iter().map(|run| Some(run.array.lifetime.as_ref()?.first?.years));
        let lives: Option<Vec<f64>> = lives.collect();
        lives.map(|lives| lives.iter().sum::<f64>() / lives.len().max(1) as f64)
    };
    comparison.variants().map(of).collect()
}

/// Over whole collection cycles, or in the window where that is not known.
fn amplification(run: &Report) -> String {
    let ArrayReport { write_amplification, write_amplification_whole_cycles, .. } = run.array;
    numbers::amplification(write_amplification_whole_cycles.or(write_amplification), None, 2)
}
