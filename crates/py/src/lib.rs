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
//! * `campaigns`: searches, the papers' claims and advice;
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
use harmonia_scenario::{Axis, BadInput, Scenario, Template, TraceFile, Variant, axes, share_addresses};
use harmonia_tables::{Cross, POLICY_KEY};
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

    /// What is varied: the policies, and what sets sweep. Of several sets of one key the last one holds.
    fn cross(&self, policies: Vec<String>) -> Result<Cross, BadInput> {
        let policies = Axis { key: POLICY_KEY.to_owned(), values: policies };
        let key = |set: &String| set.split('=').next().map(str::to_owned);
        let is_last = |at: usize| self.sets[at + 1..].iter().all(|later| key(later) != key(&self.sets[at]));
        let sets: Vec<String> =
            (0..self.sets.len()).filter(|&at| is_last(at)).map(|at| self.sets[at].clone()).collect();
        Ok(Cross::full([vec![policies], axes(&sets)?].concat()))
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
    use super::{Cross, Source, Trace, Variant, errors, simulate};
    use harmonia_metrics::Comparison;
    use harmonia_page::Recordings;
    use harmonia_run::{Observe, RunOptions};
    use harmonia_scenario::presets::{self, Parameter, PresetInfo};
    use pyo3::prelude::*;
    use serde_json::json;

    #[pymodule_export]
    use super::campaigns::{advise, explain, reproduce, tune};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::tables::Table;
    #[pymodule_export]
    use super::traces::{formats_json, trace_convert, trace_fit, trace_info, trace_read};

    /// Requests and intervals of each run, in the order of the runs.
    type Tables = Vec<[Table; 2]>;
    /// How many requests are kept in all, none and no intervals if that is `None`; and whether a page of results is wanted.
    type Keep = (Option<usize>, bool);

    #[pymodule_export]
    use super::policies::{
        array::{PyActions, PyArrayView, PyMember, PyStatus, PyWallClock},
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
        let parts = harmonia_metrics::Part::all().into_iter();
        let parts: Vec<_> = parts.map(|part| (part.counter.name, part.counter.words)).collect();
        module.add("blame_parts", parts)?;
        module.add("version", env!("CARGO_PKG_VERSION"))
    }

    /// The report, the run's tables, and the page of results.
    // Every argument of the package's function of that name; it has the defaults.
    #[allow(clippy::too_many_arguments)]
    #[pyfunction]
    fn run(
        py: Python<'_>,
        scenario: (String, bool),
        sets: Vec<String>,
        trace: Option<Trace>,
        keep: Keep,
        threads: usize,
        checked: bool,
        cache: Option<String>,
    ) -> PyResult<(String, Tables, Option<String>)> {
        let source = Source::new(scenario, sets, trace);
        let scenario = source.load().map_err(|error| errors::bad_input(py, &error))?;
        let variants = [Variant { label: String::new(), scenario }];
        let watch = Watch::new(keep, 1, 1);
        let comparison = simulate::interruptibly(py, threads, checked, cache, |options| {
            watch.over(options, |options| harmonia_run::compare_seeds(&variants, 1, options))
        })?;
        let report = errors::json(&comparison.only())?;
        let (tables, page) = watch.finish(&comparison, &Cross::default(), &variants);
        Ok((report, tables, page))
    }

    /// Who watches runs, on top of other options.
    struct Watch {
        kept: Option<Kept>,
        recordings: Option<Recordings>,
    }

    impl Watch {
        /// Of so many variants, each run so often. They share the requests that are kept.
        fn new((keep, page): Keep, variants: usize, seeds: u64) -> Self {
            let runs = variants.saturating_mul(usize::try_from(seeds).unwrap_or(usize::MAX)).max(1);
            let kept = keep.map(|keep| Kept::new(keep / runs));
            Watch { kept, recordings: page.then(|| Recordings::of(variants)) }
        }

        fn over<T>(&self, options: &RunOptions<'_>, run: impl FnOnce(&RunOptions<'_>) -> T) -> T {
            let mut observe = vec![options.observe];
            observe.extend(self.kept.as_ref().map(|kept| kept as &dyn Observe));
            observe.extend(self.recordings.as_ref().map(|recordings| recordings as &dyn Observe));
            run(&RunOptions { observe: &observe, ..*options })
        }

        /// The tables, and the page of results if one is wanted.
        fn finish(
            self,
            comparison: &Comparison,
            cross: &Cross,
            variants: &[Variant],
        ) -> (Tables, Option<String>) {
            let scenario = variants.first().map(|first| first.scenario.to_toml()).unwrap_or_default();
            let page = |recordings: Recordings| {
                harmonia_page::render(comparison, cross, &recordings.finish(), &scenario)
            };
            (self.kept.map(Kept::finish).unwrap_or_default(), self.recordings.map(page))
        }
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
        keep: Keep,
        threads: usize,
        checked: bool,
        cache: Option<String>,
    ) -> PyResult<(String, Tables, Option<String>)> {
        let source = Source::new(scenario, sets, trace);
        let (policies, seeds, alone) = runs;
        let chosen = match policies {
            None if !alone => source.defaults().map(Some),
            policies => Ok(policies),
        };
        let variants = chosen.and_then(|policies| match policies {
            Some(policies) => Ok((source.variants(&policies)?, source.cross(policies)?)),
            None => Ok((vec![Variant { label: String::new(), scenario: source.load()? }], Cross::default())),
        });
        let (variants, cross) = variants.map_err(|error| errors::bad_input(py, &error))?;
        let seeds = seeds.unwrap_or_else(|| harmonia_run::default_seeds(&variants));
        let watch = Watch::new(keep, variants.len(), seeds);
        let comparison = simulate::interruptibly(py, threads, checked, cache, |options| {
            watch.over(options, |options| harmonia_run::compare_seeds(&variants, seeds, options))
        })?;
        let (tables, page) = watch.finish(&comparison, &cross, &variants);
        Ok((errors::json(&comparison)?, tables, page))
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
