//! Which variants of a comparison get a row where nobody named them, and a line for the others.

use std::collections::BTreeSet;

use harmonia_metrics::{Comparison, Report, Winner};
use harmonia_scenario::policies::Choice;

use crate::numbers::{self, or_none};
use crate::{Detail, Style, label, layout};

/// With so few variants each has its row.
const ALL_SHOWN: usize = 4;

/// So many others are named on the first screen.
const NAMED: usize = 3;

/// What becomes of variants that are lowest at nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// They have rows like others: somebody named them.
    Shown,
    /// They share a line.
    InALine,
}

/// The comparison with the variants that get a row, and the line for the rest: the baseline, the bound, and who is lowest
/// of a figure get one.
pub(crate) fn split(
    of: &Comparison,
    runs: &[Report],
    rest: Rest,
    detail: Detail,
    style: Style,
) -> (Comparison, Option<String>) {
    if rest == Rest::Shown || runs.len() <= ALL_SHOWN {
        return (of.clone(), None);
    }
    let winners = &of.winners;
    let figures = [&winners.mean, &winners.p99, &winners.read_p99, &winners.read_p999];
    let lowest: BTreeSet<&str> = figures.into_iter().flatten().filter_map(first).collect();
    let has_row =
        |(index, run): (usize, &Report)| index == 0 || run.is_ideal() || lowest.contains(label(run));
    let shown: Vec<bool> = runs.iter().enumerate().map(has_row).collect();
    // Where nothing can be told apart, no row says more than another.
    let is_answer = detail == Detail::Answer;
    if !is_answer
        && lowest.iter().all(|best| *best == label(&runs[0]))
        && shown.iter().filter(|&&row| row).count() < 3
    {
        return (of.clone(), None);
    }
    let mut kept = of.clone();
    let mut rows = shown.iter().flat_map(|&row| std::iter::repeat_n(row, of.runs.len() / runs.len()));
    kept.runs.retain(|_| rows.next().unwrap_or(true));
    let mut rows = shown.iter();
    kept.intervals.variants.retain(|_| *rows.next().unwrap_or(&true));
    let others = runs.iter().zip(&shown).filter(|&(_, &row)| !row).map(|(run, _)| run);
    let told: Vec<String> = others.map(if is_answer { |run| label(run).to_owned() } else { told }).collect();
    let line = match (is_answer, told.len()) {
        (false, _) => {
            format!("Also compared: {}. Their rows: --policies all, or report.json.", told.join("; "))
        }
        (true, 0..=NAMED) => format!("Also compared (--details): {}.", told.join(", ")),
        (true, more) => {
            format!("Also compared (--details): {} and {} more.", told[..NAMED].join(", "), more - NAMED)
        }
    };
    (kept, (!told.is_empty()).then(|| layout::wrapped(&line, style.columns)))
}

/// The one that is lowest, or that stands first among those that tie.
fn first(winner: &Winner) -> Option<&str> {
    winner.labels.first().map(String::as_str)
}

fn told(run: &Report) -> String {
    let all = &run.host.response_ns.all;
    let mean = or_none(all.mean, |ns| format!("{} ms", numbers::ms(ns)));
    let p99 = or_none(all.p99, |ns| format!(", p99 {} ms", numbers::ms(ns as f64)));
    format!("{} (mean {mean}{p99})", label(run))
}

/// Policies that were not tried, and why; empty without any.
pub fn left_out(choice: &Choice, style: Style) -> String {
    let unable = choice.unable.iter().map(|(name, why)| (*name, why.as_str()));
    let mut lines = by_reason("they cannot work here", unable);
    lines.extend(by_reason("they can only lose here", choice.left_out.iter().copied()));
    if !choice.siblings.is_empty() {
        lines.push(format!(
            "Not tried, because another policy that knows as much of the SSDs was: {}. Try them with --policies all.",
            choice.siblings.join(", ")
        ));
    }
    lines.iter().map(|line| layout::wrapped(line, style.columns)).collect()
}

/// A line for each reason, with the policies that have it.
fn by_reason<'a>(what: &str, policies: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in policies {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let line = |(why, names): (&str, Vec<&str>)| {
        let each = if names.len() == 1 { "" } else { "each: " };
        format!("Not tried, because {what}: {} ({each}{why}).", names.join(", "))
    };
    reasons.into_iter().map(line).collect()
}
