//! Searches and the papers' claims: many runs, kept in a folder if wanted.

use std::path::{Path, PathBuf};

use harmonia_reproduce::campaign;
use harmonia_reproduce::experiment::Job;
use harmonia_reproduce::{Choice, Results, experiments};
use harmonia_run::RunOptions;
use harmonia_scenario::BadInput;
use harmonia_tune::{Campaign, Request, Space, objective};
use pyo3::prelude::*;

use crate::errors;
use crate::simulate::interruptibly;
use crate::{Source, Trace};

/// What a search is: (objective, `key=range` of each key, seeds, budget).
type Search = (String, Vec<String>, u64, u64);

struct Silent;

impl harmonia_tune::Watch for Silent {
    fn known(&self, _: usize) {}
}

impl campaign::Watch for Silent {
    fn batch(&self, _: usize, _: usize, _: &Job) {}
}

/// The report of a search, and the scenario with the best values as TOML. Finished runs are kept in the folder.
// Every argument of the package's function of that name; it has the defaults.
#[allow(clippy::too_many_arguments)]
#[pyfunction]
pub(crate) fn tune(
    py: Python<'_>,
    scenario: (String, bool),
    search: Search,
    sets: Vec<String>,
    trace: Option<Trace>,
    folder: Option<PathBuf>,
    threads: usize,
    checked: bool,
    cache: Option<String>,
) -> PyResult<(String, String)> {
    let source = Source::new(scenario, sets, trace);
    let campaign = prepared(&source, search).map_err(|error| errors::bad_input(py, &error))?;
    let report = interruptibly(py, threads, checked, cache, |options: &RunOptions<'_>| {
        campaign.run(folder.as_deref(), options, &Silent)
    })?;
    let tuned = campaign.tuned(&report).map_err(|error| errors::bad_input(py, &error))?;
    Ok((errors::json(&report)?, tuned.to_toml()))
}

fn prepared(source: &Source, search: Search) -> Result<Campaign<'_>, BadInput> {
    let (objective, overs, seeds, budget) = search;
    Campaign::new(Request {
        template: source.template()?,
        sets: &source.sets,
        trace: source.trace.clone(),
        space: Space::parse(&overs)?,
        objective: objective::find(&objective)?,
        seeds,
        budget,
    })
}

/// The claims with their verdicts. Without a folder nothing runs and nothing is measured; without seeds what the folder
/// has is judged.
#[pyfunction]
pub(crate) fn reproduce(
    py: Python<'_>,
    ids: Vec<String>,
    folder: Option<PathBuf>,
    seeds: Option<u64>,
    threads: usize,
    cache: Option<String>,
) -> PyResult<String> {
    let refused = |error: BadInput| errors::bad_input(py, &error);
    let experiments = experiments().map_err(refused)?;
    let choice = Choice::of(&ids, &experiments).map_err(|text| errors::refused(py, &text))?;
    let results = match &folder {
        None => Results::default(),
        Some(folder) => {
            let most = seeds.unwrap_or(harmonia_reproduce::experiment::SEEDS);
            let jobs = choice.jobs(&experiments, most).map_err(refused)?;
            measured(py, &jobs, folder, seeds.is_some(), threads, cache)?
        }
    };
    errors::json(&choice.assess(&results))
}

fn measured(
    py: Python<'_>,
    jobs: &[Job],
    folder: &Path,
    runs: bool,
    threads: usize,
    cache: Option<String>,
) -> PyResult<Results> {
    interruptibly(py, threads, false, cache, |options| match runs {
        true => campaign::run(jobs, folder, options, &Silent),
        false => campaign::kept(jobs, folder),
    })
}
