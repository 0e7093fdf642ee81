//! Which runs serve the same load: only those are held against one another.
//!
//! ```text
//!   policy x workload.arrival.rate    load "rate=1000": local, gclock    load "rate=2000": local, gclock
//! ```
//!
//! A load is what stands on the axes of the section `workload`. Each load is a comparison of its own, whose baseline is
//! its first run.

use std::borrow::Cow;

use crate::numbers::NONE;
use crate::{Cross, Field, Matrix, label, seeds};
use harmonia_metrics::{Comparison, PerMetric, Report, Versus, Winner, Winners};

/// The keys that say what is asked of the array.
const WORKLOAD: &str = "workload";

/// The runs of one load.
pub struct Part<'a> {
    /// What it is called: "rate=2000"; empty if there is only one.
    pub name: String,
    /// The positions of its runs among all.
    pub indices: Vec<usize>,
    /// All its runs and what was found out about them.
    pub comparison: Cow<'a, Comparison>,
    /// One report a variant.
    pub runs: Vec<Report>,
    /// What each run is called within its load.
    choices: Vec<String>,
}

impl Part<'_> {
    /// What a run of this load is called beside others of it.
    pub fn choice(&self, run: &Report) -> &str {
        let index = self.runs.iter().position(|other| std::ptr::eq(other, run));
        index.and_then(|index| self.choices.get(index)).map_or("", String::as_str)
    }

    /// The position of a run among those of all loads.
    pub fn position(&self, run: &Report) -> Option<usize> {
        let index = self.runs.iter().position(|other| std::ptr::eq(other, run))?;
        self.indices.get(index).copied()
    }
}

/// The loads of a comparison, in the order in which they first appear.
pub fn parts<'a>(comparison: &'a Comparison, cross: &Cross, runs: &[Report]) -> Vec<Part<'a>> {
    let mut loads: Vec<(String, Vec<usize>)> = Vec::new();
    for run in 0..runs.len() {
        let name = cross.name_on(run, &|key| is_of_load(key));
        match loads.iter_mut().find(|(known, _)| *known == name) {
            Some((_, indices)) => indices.push(run),
            None => loads.push((name, vec![run])),
        }
    }
    let is_only = loads.len() == 1;
    let variants: Vec<&[Report]> = comparison.variants().collect();
    let part = |(name, indices): (String, Vec<usize>)| {
        let comparison = if is_only {
            Cow::Borrowed(comparison)
        } else {
            let seeds = variants.first().map_or(1, |variant| variant.len());
            let runs = indices.iter().flat_map(|&run| variants[run].iter().cloned());
            Cow::Owned(Comparison::new(runs.collect(), seeds))
        };
        let choice = |&run: &usize| match cross.name_on(run, &|key| !is_of_load(key)) {
            choice if choice.is_empty() && is_only => label(&runs[run]).to_owned(),
            choice => choice,
        };
        Part {
            name: if is_only { String::new() } else { name },
            comparison,
            runs: indices.iter().map(|&run| runs[run].clone()).collect(),
            choices: indices.iter().map(choice).collect(),
            indices,
        }
    };
    loads.into_iter().map(part).collect()
}

fn is_of_load(key: &str) -> bool {
    key.strip_prefix(WORKLOAD).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Mean and 99th percentile of every choice under every load, each against the baseline of that load.
pub fn by_load(parts: &[Part<'_>]) -> Vec<Matrix> {
    let mut choices: Vec<&String> = Vec::new();
    for choice in parts.iter().flat_map(|part| &part.choices) {
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    if choices.len() < 2 {
        return Vec::new();
    }
    let figures: [Figure; 2] = [
        ("Mean response", |versus| versus.mean, |winners| &winners.mean),
        ("p99", |versus| versus.p99, |winners| &winners.p99),
    ];
    let matrix = |(what, change, winner): Figure| Matrix {
        title: format!("{what}, against the baseline of each load"),
        axes: ["choice".to_owned(), "load".to_owned()],
        columns: parts.iter().map(|part| part.name.clone()).collect(),
        rows: choices
            .iter()
            .map(|choice| {
                ((*choice).clone(), parts.iter().map(|part| field(part, choice, change, winner)).collect())
            })
            .collect(),
    };
    figures.into_iter().map(matrix).collect()
}

/// What a figure is called, how it differs from the baseline's, and who has the lowest.
type Figure = (&'static str, Change, fn(&Winners) -> &Option<Winner>);
type Change = fn(&PerMetric<Option<Versus>>) -> Option<Versus>;

fn field(part: &Part<'_>, choice: &str, change: Change, winner: fn(&Winners) -> &Option<Winner>) -> Field {
    let Some(at) = part.choices.iter().position(|other| other == choice) else {
        return Field { change: (NONE.to_owned(), String::new()), wins: false };
    };
    let variant = part.comparison.intervals.variants.get(at);
    let change = match variant.and_then(|variant| variant.versus_baseline.as_ref()) {
        Some(versus) => seeds::change(change(versus).as_ref()),
        None => ("baseline".to_owned(), String::new()),
    };
    let winner = winner(&part.comparison.winners).as_ref().and_then(|winner| winner.name());
    Field { change, wins: winner == Some(label(&part.runs[at])) }
}
