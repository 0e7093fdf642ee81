//! Sweeps: which points there are, to run some of them, and what a folder of results has.

use std::path::Path;

use harmonia_run::RunError;
use harmonia_scenario::BadInput;
use harmonia_sweep::{Base, Plan, Point, Store, TABLE, Table, Unwatched, parquet};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::{errors, simulate};

/// What a sweep file says, the scenario (what was written, whether that is text), and what is changed in all points.
type Spec = (String, (String, bool), Vec<String>);

/// A point, as an engine needs to know it.
#[derive(Serialize)]
struct Listed {
    point: usize,
    address: String,
    label: String,
    seed: u64,
}

fn plan((text, (scenario, is_text), sets): &Spec) -> Result<Plan, BadInput> {
    let base = if *is_text { Base::Text(scenario) } else { Base::File(scenario) };
    Plan::parse(text, "<sweep>", &base, sets)
}

fn chosen(spec: &Spec, points: Option<Vec<usize>>) -> Result<Vec<Point>, BadInput> {
    let plan = plan(spec)?;
    match points {
        None => plan.points(),
        Some(points) => points.into_iter().filter_map(|point| plan.point(point).transpose()).collect(),
    }
}

/// All points that can be run.
#[pyfunction]
pub(crate) fn sweep_points(py: Python<'_>, spec: Spec) -> PyResult<String> {
    let points = py.detach(|| chosen(&spec, None)).map_err(|error| errors::bad_input(py, &error))?;
    let listed = points.into_iter().map(|point| Listed {
        point: point.number,
        address: point.address,
        label: point.label,
        seed: point.scenario.seed,
    });
    errors::json(&listed.collect::<Vec<_>>())
}

/// Runs what is missing of these points, or of all.
#[pyfunction]
pub(crate) fn sweep_run(
    py: Python<'_>,
    spec: Spec,
    points: Option<Vec<usize>>,
    out: String,
    threads: usize,
    checked: bool,
    cache: Option<String>,
) -> PyResult<String> {
    let done = simulate::interruptibly(py, threads, checked, cache, |options| {
        let points = chosen(&spec, points).map_err(RunError::BadInput)?;
        let store = Store::create(Path::new(&out)).map_err(RunError::BadInput)?;
        harmonia_sweep::run(&points, &store, options, &Unwatched)
    })?;
    errors::json(&done)
}

/// The rows of these results, in this order; those that are not there are left out.
#[pyfunction]
pub(crate) fn sweep_rows(py: Python<'_>, out: String, addresses: Vec<String>) -> PyResult<String> {
    let read = || -> Result<Table, BadInput> {
        let store = Store::open(Path::new(&out))?;
        let runs: Vec<_> = addresses.iter().filter_map(|address| store.load(address)).collect();
        Ok(Table::of(&runs))
    };
    errors::json(&py.detach(read).map_err(|error| errors::bad_input(py, &error))?)
}

/// Writes the table of all results into their folder; its path.
#[pyfunction]
pub(crate) fn sweep_export(py: Python<'_>, out: String) -> PyResult<String> {
    let target = Path::new(&out).join(TABLE);
    let runs =
        py.detach(|| Store::open(Path::new(&out))?.all()).map_err(|error| errors::bad_input(py, &error))?.0;
    let written = py.detach(|| parquet::write(&Table::of(&runs), &target));
    written.map_err(|error| PyOSError::new_err(format!("cannot write {}: {error}", target.display())))?;
    Ok(target.display().to_string())
}
