//! Harmonia for Python: thin wrappers that hold no logic of their own.
//!
//! The package in `python/harmonia` owns documentation, types and defaults; this crate takes every argument. Results
//! cross as JSON, the same bytes the command line prints. The interpreter lock is released while anything runs, and
//! Ctrl-C is looked for ten times a second.
//!
//! * `errors`: the one place where failures become Python exceptions;
//! * `policies`: policies written in Python;
//! * `simulate`: runs on a thread of their own, so that the calling one can listen for signals;
//! * `sweep`: many runs, kept in a folder;
//! * `tables`: results as Arrow tables, which other libraries read where they lie;
//! * `campaigns`: searches and the papers' claims;
//! * `traces`: block traces;
//! * `command`: the `harmonia` command, which a wheel brings along.

mod campaigns;
mod command;
mod errors;
mod policies;
mod simulate;
mod sweep;
mod tables;
mod traces;

use harmonia_array::coordination::POLICIES;
use harmonia_scenario::policies::{IDEAL, choice, sets_of};
use harmonia_scenario::{BadInput, Scenario, Template, TraceFile, Variant, share_addresses};
use pyo3::prelude::*;

/// Files of a trace, and its format.
type Trace = (Vec<String>, Option<String>);

/// A scenario as given by the caller.
struct Source {
    /// A path, the name of a built-in scenario, or the text itself.
    scenario: String,
    is_text: bool,
    sets: Vec<String>,
    trace: Option<TraceFile>,
}

impl Source {
    fn new((scenario, is_text): (String, bool), sets: Vec<String>, trace: Option<Trace>) -> Self {
        let trace = trace.map(|(paths, format)| TraceFile {
            paths: paths.into_iter().map(Into::into).collect(),
            format,
            reading: Vec::new(),
        });
        Source { scenario, is_text, sets, trace }
    }

    fn load(&self) -> Result<Scenario, BadInput> {
        self.with(&[])
    }

    /// With further `key=value` pairs, which have the last word.
    fn with(&self, more: &[String]) -> Result<Scenario, BadInput> {
        self.template()?.with(&[&self.sets, more].concat(), self.trace.as_ref())
    }

    fn template(&self) -> Result<Template, BadInput> {
        if self.is_text { Template::text(&self.scenario, "<text>") } else { Template::open(&self.scenario) }
    }

    /// The policies that are tried where nobody names any, none of them written in Python. A key that is swept has its first value here.
    fn defaults(&self) -> Result<Vec<String>, BadInput> {
        let swept = self.template()?.sweep(&self.sets, self.trace.as_ref())?;
        let scenario =
            swept.into_iter().next().map_or_else(|| self.load(), |variant| Ok(variant.scenario))?;
        let mut names = choice(&scenario).names;
        names.retain(|name| *name == IDEAL || POLICIES.is_built_in(name));
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// One variant for each policy and, where a set sweeps, each combination of values.
    fn variants(&self, names: &[String]) -> Result<Vec<Variant>, BadInput> {
        let template = self.template()?;
        let mut variants = Vec::new();
        for name in names {
            let sets = [&self.sets[..], &sets_of(name)].concat();
            let swept = template.sweep(&sets, self.trace.as_ref())?;
            let is_alone = swept.len() == 1;
            variants.extend(swept.into_iter().map(|Variant { label, scenario }| {
                let label = if is_alone { name.clone() } else { format!("{name} {label}") };
                Variant { label, scenario }
            }));
        }
        share_addresses(&mut variants);
        Ok(variants)
    }
}

/// Called `_native` in the package. A scenario is (what was written, whether that is text); a trace (files, format).
#[pymodule(name = "_native")]
mod native {
    use super::tables::Kept;
    use super::{Source, Trace, Variant, errors, simulate};
    use harmonia_scenario::presets::{self, Parameter, PresetInfo};
    use harmonia_scenario::{Observe, RunOptions};
    use pyo3::prelude::*;
    use serde_json::json;

    #[pymodule_export]
    use super::campaigns::{reproduce, tune};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::tables::Table;
    #[pymodule_export]
    use super::traces::{formats_json, trace_convert, trace_fit, trace_info, trace_read};

    /// Requests and intervals of each run, in the order of the runs.
    type Tables = Vec<[Table; 2]>;

    #[pymodule_export]
    use super::policies::{
        array::{PyActions, PyArrayView, PyMember, PyStatus},
        concurrency::{PyCandidate, PyLoad},
        die::{PyDecision, PyDieView, PyGc, PyQueued, PyRunning},
        event::{PyCompletion, PyEvent, PyRequest},
        known::{lend_policies, take_back_policies},
        victim::{PyRandom, PyVictimView},
    };
    #[pymodule_export]
    use super::sweep::{sweep_export, sweep_points, sweep_rows, sweep_run};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("BadInput", module.py().get_type::<errors::BadInputError>())?;
        module.add("version", env!("CARGO_PKG_VERSION"))
    }

    /// The report, and the run's tables, of which at most `keep` requests are kept in all; none if that is `None`.
    // Every argument of the package's function of that name; it has the defaults.
    #[allow(clippy::too_many_arguments)]
    #[pyfunction]
    fn run(
        py: Python<'_>,
        scenario: (String, bool),
        sets: Vec<String>,
        trace: Option<Trace>,
        keep: Option<usize>,
        threads: usize,
        checked: bool,
        cache: Option<String>,
    ) -> PyResult<(String, Tables)> {
        let source = Source::new(scenario, sets, trace);
        let scenario = source.load().map_err(|error| errors::bad_input(py, &error))?;
        let kept = keep.map(Kept::new);
        let report = simulate::interruptibly(py, threads, checked, cache, |options| {
            harmonia_scenario::run(&scenario, &observed(options, kept.as_ref()))
        })?;
        Ok((errors::json(&report)?, tables(kept)))
    }

    /// Who watches runs, on top of other options.
    fn observed<'a>(options: &RunOptions<'a>, kept: Option<&'a Kept>) -> RunOptions<'a> {
        let observe = kept.map_or(options.observe, |kept| kept as &dyn Observe);
        RunOptions { observe, ..*options }
    }

    fn tables(kept: Option<Kept>) -> Tables {
        kept.map(Kept::finish).unwrap_or_default()
    }

    /// As `run`, for several. The runs are (policies, seeds of each, whether the scenario's own policy alone is meant); `None` is the default of
    /// either: every policy that can win, and as many seeds as are cheap.
    // Every argument of the package's function of that name; it has the defaults.
    #[allow(clippy::too_many_arguments)]
    #[pyfunction]
    fn compare(
        py: Python<'_>,
        scenario: (String, bool),
        runs: (Option<Vec<String>>, Option<u64>, bool),
        sets: Vec<String>,
        trace: Option<Trace>,
        keep: Option<usize>,
        threads: usize,
        checked: bool,
        cache: Option<String>,
    ) -> PyResult<(String, Tables)> {
        let source = Source::new(scenario, sets, trace);
        let (policies, seeds, alone) = runs;
        let variants = match policies {
            Some(policies) => source.variants(&policies),
            None if alone => source.load().map(|scenario| vec![Variant { label: String::new(), scenario }]),
            None => source.defaults().and_then(|policies| source.variants(&policies)),
        };
        let variants = variants.map_err(|error| errors::bad_input(py, &error))?;
        let seeds = seeds.unwrap_or_else(|| harmonia_scenario::default_seeds(&variants));
        let runs = variants.len().saturating_mul(usize::try_from(seeds).unwrap_or(usize::MAX)).max(1);
        let kept = keep.map(|keep| Kept::new(keep / runs));
        let comparison = simulate::interruptibly(py, threads, checked, cache, |options| {
            harmonia_scenario::compare_seeds(&variants, seeds, &observed(options, kept.as_ref()))
        })?;
        Ok((errors::json(&comparison)?, tables(kept)))
    }

    #[pyfunction]
    fn check(
        py: Python<'_>,
        scenario: (String, bool),
        sets: Vec<String>,
        trace: Option<Trace>,
    ) -> PyResult<String> {
        let source = Source::new(scenario, sets, trace);
        let scenario = source.load().map_err(|error| errors::bad_input(py, &error))?;
        Ok(scenario.to_toml())
    }

    #[pyfunction]
    fn schema_json() -> String {
        harmonia_scenario::schema::json_schema().to_string()
    }

    #[pyfunction]
    fn policies_json() -> PyResult<String> {
        errors::json(&harmonia_scenario::policies::list())
    }

    #[pyfunction]
    fn duration_ns(text: &str) -> PyResult<u64> {
        let duration = harmonia_types::units::parse_duration(text);
        duration.map(|duration| duration.0).map_err(pyo3::exceptions::PyValueError::new_err)
    }

    #[pyfunction]
    fn presets_json() -> PyResult<String> {
        let figure = |figure: &Parameter| json!({"key": figure.key, "value": figure.value, "provenance": figure.provenance.to_string()});
        let preset = |preset: &PresetInfo| {
            let figures: Vec<_> = preset.parameters.iter().map(figure).collect();
            json!({"kind": preset.kind, "name": preset.name, "summary": preset.summary, "figures": figures})
        };
        errors::json(&presets::list().iter().map(preset).collect::<Vec<_>>())
    }
}
