//! Whether the array had settled before the run, and in one sentence what the runs show.

use std::fmt::Write as _;

use harmonia_metrics::{Intervals, PreconditionReport, Report};

use crate::numbers;
use crate::{label, layout};

/// One line for all runs that began alike, if they were settled or empty; what was not settled is a warning.
pub(crate) fn steadiness(runs: &[Report], columns: usize) -> String {
    let mut alike: Vec<(&Report, usize)> = Vec::new();
    for run in runs {
        match alike.iter_mut().find(|(first, _)| first.precondition == run.precondition) {
            Some((_, more)) => *more += 1,
            None => alike.push((run, 0)),
        }
    }
    let what = |run: &Report, more: usize| match more {
        _ if alike.len() == 1 => "The aged array".to_owned(),
        0 => format!("The aged array of {}", label(run)),
        _ => format!("The aged array of {} and {more} more", label(run)),
    };
    let lines = alike.iter().filter_map(|&(run, more)| settled(&what(run, more), &run.precondition));
    lines.map(|line| layout::wrapped(&line, columns)).collect()
}

fn settled(what: &str, precondition: &PreconditionReport) -> Option<String> {
    match precondition.write_amplification_windows {
        [Some(older), Some(newer)] if precondition.steady => Some(format!(
            "{what} had settled: write amplification was {older:.2} and {newer:.2} in the last two windows of ageing."
        )),
        _ if precondition.fill == 0.0 => {
            Some(format!("{what} was empty when the run began (precondition.fill = 0)."))
        }
        _ => None,
    }
}

/// What the runs show beyond who wins what: a lone choice, and the bound.
pub(crate) fn sentence(runs: &[Report], intervals: &Intervals) -> String {
    let (ideal, buildable): (Vec<&Report>, Vec<&Report>) = runs.iter().partition(|run| run.is_ideal());
    let mut text = match (runs, lowest(if buildable.is_empty() { &ideal } else { &buildable }, mean)) {
        ([], _) => return String::new(),
        (_, None) => return "No request completed: there is nothing to say.\n".to_owned(),
        ([only], _) => return single(only),
        ([first, ..], Some((best, _))) if buildable.len() == 1 || ideal.len() == runs.len() => {
            alone(first, best, against(runs, best, intervals))
        }
        _ => String::new(),
    };
    if let (Some((run, mean)), false) = (lowest(&ideal, mean), buildable.is_empty()) {
        let ms = numbers::ms(mean);
        let gap = if text.is_empty() { "" } else { " " };
        let _ = write!(
            text,
            "{gap}With garbage collection that takes no time ({}) it would be {ms} ms.",
            label(run)
        );
    }
    text + "\n"
}

fn mean(run: &Report) -> Option<f64> {
    run.host.response_ns.all.mean
}

/// There is nothing to choose between.
fn alone(first: &Report, best: &Report, change: Option<String>) -> String {
    let mut text =
        format!("{} takes {} ms on average", label(best), numbers::ms(mean(best).unwrap_or_default()));
    if let Some(change) = change {
        let _ = write!(text, " ({change} against {})", label(first));
    }
    text + "."
}

/// How the mean of `best` compares with that of the first run; nothing to say of the first run itself.
fn against(runs: &[Report], best: &Report, intervals: &Intervals) -> Option<String> {
    let index = runs.iter().position(|run| std::ptr::eq(run, best)).filter(|index| *index > 0)?;
    let change = numbers::change(mean(best)?, mean(&runs[0])?)?;
    let versus = intervals.variants.get(index).and_then(|variant| variant.versus_baseline.as_ref()?.mean);
    match versus.and_then(|versus| versus.significant) {
        Some(false) => Some(format!("{change}, not significant,")),
        _ => Some(change),
    }
}

fn single(run: &Report) -> String {
    let all = &run.host.response_ns.all;
    let (Some(mean), total) = (all.mean, run.host.blame_ns.total()) else {
        return "No request completed.\n".to_owned();
    };
    let gc_share = if total > 0 { run.host.blame_ns.queue_gc as f64 / total as f64 } else { 0.0 };
    format!(
        "Under {} a request takes {} ms on average, {} of it spent waiting behind garbage collection.\n",
        label(run),
        numbers::ms(mean),
        numbers::percent(gc_share)
    )
}

/// The run with the lowest figure; of equals the first.
fn lowest<'a>(runs: &[&'a Report], figure: impl Fn(&Report) -> Option<f64>) -> Option<(&'a Report, f64)> {
    let figures = runs.iter().filter_map(|run| Some((*run, figure(run)?)));
    figures.min_by(|(_, a), (_, b)| a.total_cmp(b))
}
