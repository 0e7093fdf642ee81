//! Searches, the papers' claims and advice: many runs, those of the first two kept in a folder if wanted.

use std::path::{Path, PathBuf};

use harmonia_reproduce::campaign;
use harmonia_reproduce::experiment::Job;
use harmonia_reproduce::{Choice, Results, experiments};
use harmonia_run::explain::Asked;
use harmonia_run::{RunOptions, advice};
use harmonia_scenario::{BadInput, Bought, says};
use harmonia_sweep::ResultFolder;
use harmonia_tables::{self as tables, Color, Style};
use harmonia_tune::{Campaign, Request, Space, objective};
use pyo3::prelude::*;

use crate::errors;
use crate::simulate::interruptibly;
use crate::{Source, Trace};

/// What a search is: (objective, `key=range` of each key, seeds, budget).
type Search = (String, Vec<String>, u64, u64);

/// An array that is named by its drives: (drive, count, level, chunk).
type Drives = (String, u16, String, Option<String>);

/// The page that `print` shows.
const PAGE: Style = Style { columns: 110, color: Color(false) };

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

/// Advice, and the page of it as text. The array is that of a scenario, or is named by its drives.
// Every argument of the package's function of that name; it has the defaults.
#[allow(clippy::too_many_arguments)]
#[pyfunction]
pub(crate) fn advise(
    py: Python<'_>,
    scenario: Option<(String, bool)>,
    drives: Option<Drives>,
    sets: Vec<String>,
    trace: Option<Trace>,
    seeds: u64,
    threads: usize,
    cache: Option<String>,
) -> PyResult<(String, String)> {
    let source = Source::new(scenario.unwrap_or_default(), sets, trace);
    let (plan, assumed) = planned(&source, drives).map_err(|error| errors::bad_input(py, &error))?;
    let (mut advice, _) = interruptibly(py, threads, false, cache, |options| {
        harmonia_run::preflight(&plan.pair[0].scenario)?;
        advice::advise(&plan, seeds, &|_| (), &|_| true, options)
    })?;
    advice.assumed = assumed;
    Ok((errors::json(&advice)?, tables::advice(&advice, PAGE)))
}

/// What is run, and what nobody said.
fn planned(source: &Source, drives: Option<Drives>) -> Result<(advice::Plan, Vec<String>), BadInput> {
    let (template, assumed) = match &drives {
        None => (source.template()?, Vec::new()),
        Some((drive, count, level, chunk)) => Bought { drive, count: *count, level, chunk: chunk.as_deref() }
            .template(&source.sets, source.trace.as_ref())?,
    };
    let assumed = assumed.into_iter().filter(|assumed| !says(&source.sets, assumed.key));
    let plan = advice::Plan::new(&template, &source.sets, source.trace.as_ref())?;
    Ok((plan, assumed.map(|assumed| assumed.text).collect()))
}

/// Requests of a scenario, or of a folder with a result, and the same as text.
// Every argument of the package's function of that name; it has the defaults.
#[allow(clippy::too_many_arguments)]
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    scenario: (String, bool),
    folder: Option<String>,
    asked: (usize, Option<u64>),
    sets: Vec<String>,
    trace: Option<Trace>,
    threads: usize,
    cache: Option<String>,
) -> PyResult<(String, String)> {
    let is_changed = !sets.is_empty() || trace.is_some();
    let stored = folder.map(|folder| ResultFolder::open(Path::new(&folder), is_changed)).transpose();
    let stored = stored.map_err(|error| errors::run_error(py, &error))?;
    let scenario = match &stored {
        Some(stored) => stored.scenario().clone(),
        None => Source::new(scenario, sets, trace).load().map_err(|error| errors::bad_input(py, &error))?,
    };
    let asked = asked.1.map_or(Asked::Slowest(asked.0), Asked::Request);
    let explanation = interruptibly(py, threads, false, cache, |options| {
        let (explanation, report) = harmonia_run::explain::explain(&scenario, &asked, options)?;
        stored.map_or(Ok(()), |stored| stored.agrees_with(&explanation, &report))?;
        Ok(explanation)
    })?;
    Ok((errors::json(&explanation)?, tables::explained(&explanation, PAGE)))
}
