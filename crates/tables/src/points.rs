//! Results of a sweep: one row a run, or one row for the seeds of a variant.

use harmonia_metrics::{Interval, Report, figures_of};
use harmonia_run::Outcome;
use harmonia_sweep::Stored;

use crate::numbers::{self, NONE};
use crate::{Cell, Style, Table};

/// Digits of an address that a table shows.
const DIGITS: usize = 8;
/// Variants that are shown one by one.
const MOST_VARIANTS: usize = 60;

/// One row a run, or a refused run with its reason behind the table.
pub fn results(runs: &[Stored], style: Style) -> String {
    let mut table = Table::new(["run", "seed", "mean ms", "p99 ms", "erases", "WA", "result"]);
    let mut refusals = String::new();
    for run in runs {
        let address: String = run.address.chars().take(DIGITS).collect();
        let mut row: Vec<Cell> = vec![name(run).into(), numbers::count(run.seed).into()];
        match &run.outcome {
            Outcome::Measured(report) => row.extend(figures(report)),
            Outcome::Refused(why) => {
                row.extend((0..4).map(|_| Cell::from(NONE)));
                refusals.push_str(&format!("{address} was refused: {why}\n"));
            }
        }
        row.push(address.into());
        table.push(row);
    }
    let text = table.render(style.columns, style.color);
    if refusals.is_empty() { text } else { text + "\n" + &refusals }
}

fn figures(report: &Report) -> [Cell; 4] {
    let all = &report.host.response_ns.all;
    [
        numbers::or_none(all.mean, numbers::ms).into(),
        numbers::or_none(all.p99, |ns| numbers::ms(ns as f64)).into(),
        numbers::count(report.array.erases).into(),
        numbers::or_none(report.array.write_amplification, |ratio| format!("{ratio:.3}")).into(),
    ]
}

/// What a sweep called a run, or its policy.
fn name(run: &Stored) -> String {
    match (run.label.as_str(), &run.outcome) {
        ("", Outcome::Measured(report)) => report.array.coordination.policy.clone(),
        ("", Outcome::Refused(_)) => NONE.to_owned(),
        (label, _) => label.to_owned(),
    }
}

/// One row for all seeds of a variant, with 95% intervals over seeds.
pub fn summary(runs: &[Stored], style: Style) -> String {
    let mut variants: Vec<(String, Vec<Report>)> = Vec::new();
    for run in runs {
        let Outcome::Measured(report) = &run.outcome else { continue };
        match variants.iter_mut().find(|(label, _)| *label == name(run)) {
            Some((_, reports)) => reports.push(report.clone()),
            None => variants.push((name(run), vec![report.clone()])),
        }
    }
    let mut table = Table::new(["run", "seeds", "mean ms", "±", "p99 ms", "±", "erases", "WA"]);
    for (label, reports) in variants.iter().take(MOST_VARIANTS) {
        let figures = figures_of(reports);
        let [mean, mean_width] = milliseconds(figures.mean);
        let [p99, p99_width] = milliseconds(figures.p99);
        let seeds = numbers::count(reports.len() as u64);
        let erases = numbers::or_none(figures.erases, |erases| numbers::count(erases.mean.round() as u64));
        let ratio = numbers::or_none(figures.write_amplification, |ratio| format!("{:.3}", ratio.mean));
        let cells = [label.clone(), seeds, mean, mean_width, p99, p99_width, erases, ratio];
        table.push(cells.into_iter().map(Cell::from).collect());
    }
    let text = table.render(style.columns, style.color);
    match variants.len().saturating_sub(MOST_VARIANTS) {
        0 => text,
        rest => format!("{text}and {rest} more\n"),
    }
}

/// A time and half the width of its interval.
fn milliseconds(figure: Option<Interval>) -> [String; 2] {
    let shown = numbers::or_none(figure, |interval| numbers::ms(interval.mean));
    let width = figure.and_then(|interval| interval.half_width);
    let width = numbers::or_none(width, |width| numbers::plus_minus(width / 1e6, &shown));
    [shown, width]
}
