//! What a reader must know before believing any of it.

use harmonia_metrics::{Comparison, Method, Report, Warning};

use super::verdicts::{self, REQUESTS_FEW, VICTIMS_FEW};
use super::{capital, collected, listed, name};
use crate::numbers;
use crate::tables::{ADDRESS_SPACE, notes};

/// The code of the warning that begins with the name of a policy.
const KEEPS_APART: &str = "keeps-apart";

/// The worst first. Of each the first sentence says what is the case.
pub(super) fn cautions(comparison: &Comparison, runs: &[Report], growth: &[Option<f64>]) -> Vec<String> {
    let mut cautions = of_the_runs(runs, growth);
    for (warning, of) in warned(runs) {
        // Its first word is the name of a policy, which keeps its letters.
        let text = match warning.code.as_str() {
            KEEPS_APART => warning.text.clone(),
            _ => capital(&warning.text),
        };
        cautions.push(format!("{text}{}.", whose(runs, &of)));
    }
    cautions.extend(notes(runs));
    cautions.extend(one_seed(comparison, runs));
    cautions
}

fn of_the_runs(runs: &[Report], growth: &[Option<f64>]) -> Vec<String> {
    let mut cautions = Vec::new();
    let mut caution = |of: Vec<&Report>, what: &str, so: &str| {
        if !of.is_empty() {
            cautions.push(format!("{what}{}. {so}", whose(runs, &of)));
        }
    };
    let of = |test: &dyn Fn(&Report) -> bool| runs.iter().filter(|run| test(run)).collect::<Vec<_>>();
    let growing = runs.iter().zip(growth).filter(|(_, growth)| verdicts::grows(**growth));
    caution(
        growing.map(|(run, _)| run).collect(),
        "The array does not keep up with the load",
        "Requests arrive faster than they are served, so response times grow with the length of the run and do not \
         rank policies.",
    );
    let windows = |run: &Report| run.precondition.write_amplification_windows;
    caution(
        of(&|run| !run.precondition.steady && windows(run).iter().all(Option::is_some)),
        "The array was still settling when the measurement began",
        "Results would drift with longer ageing (precondition.overwrite).",
    );
    // Who starts with an empty array means it.
    caution(
        of(&|run| {
            let precondition = &run.precondition;
            precondition.fill > 0.0 && !precondition.steady && windows(run).contains(&None)
        }),
        "The array was aged too little to tell whether it had settled",
        "A drive in use may behave otherwise.",
    );
    caution(
        of(&|run| run.host.requests < REQUESTS_FEW),
        &format!("Fewer than {} requests were measured", numbers::count(REQUESTS_FEW)),
        "They are too few for a 99th percentile, and even means are rough.",
    );
    caution(
        of(&|run| !collected(run)),
        "No garbage was collected",
        "The load is too short or too light to need it.",
    );
    caution(
        of(&verdicts::collected_few),
        &format!("Fewer than {VICTIMS_FEW} blocks were collected"),
        "They are too few to judge a policy by. Try a longer load.",
    );
    cautions
}

/// Whose caution it is, unless it is that of all.
fn whose(runs: &[Report], of: &[&Report]) -> String {
    match of.len() {
        all if all == runs.len() => String::new(),
        _ => format!(" ({})", listed(&of.iter().map(|run| name(run)).collect::<Vec<_>>())),
    }
}

fn one_seed(comparison: &Comparison, runs: &[Report]) -> Option<String> {
    let intervals = &comparison.intervals;
    let has_interval =
        intervals.variants.first().and_then(|variant| variant.metrics.mean?.half_width).is_some();
    (runs.len() > 1 && intervals.method == Method::BatchMeans).then(|| match has_interval {
        true => {
            "One seed. The intervals cover this load on this aged array only. Use --seeds 5 to cover others."
                .to_owned()
        }
        false => "One seed, and too few requests for an interval. Use --seeds 5 or a longer load.".to_owned(),
    })
}

/// What the scenarios warn of, each once, with the runs that do. Space that a load leaves alone is noted beside the tables.
fn warned(runs: &[Report]) -> Vec<(&Warning, Vec<&Report>)> {
    let mut found: Vec<(&Warning, Vec<&Report>)> = Vec::new();
    for run in runs {
        for warning in run.warnings.iter().filter(|warning| warning.code != ADDRESS_SPACE) {
            match found.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, of)) => of.push(run),
                None => found.push((warning, vec![run])),
            }
        }
    }
    found
}
