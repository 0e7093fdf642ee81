//! `harmonia explain`: where the time of single requests went, of a stored result or of a scenario.
//!
//! A result folder has the resolved scenario, with its seed, and the report. So its run can be simulated again. That it is the
//! same run is checked before and after: version and scenario, then hash of the trace, figures of the report, and response
//! times of the request table, if there is one.

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use harmonia_metrics::Report;
use harmonia_metrics::rows::REQUESTS;
use harmonia_run::explain::{Asked, Explanation, explain as explained};
use harmonia_run::{AgedCache, Progress, RunOptions, VERSION};
use harmonia_scenario::{Scenario, files};
use harmonia_tables::{self as tables, Style};
use parquet::errors::Result as Read;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use parquet::schema::types::Type;
use serde_json::Value;

use super::cache;
use super::simulate::json;
use crate::explain_args::ExplainArguments;
use crate::failure::Failure;
use crate::files::shown;
use crate::interrupt;
use crate::output::Output;
use crate::progress::{Bars, Silent};

/// Carries out the command.
///
/// # Errors
/// If the result or scenario cannot be used, the run is not the one that was stored, or there is no such request.
pub(crate) fn explain(options: &ExplainArguments, no_progress: bool, output: &Output) -> Result<(), Failure> {
    let folder = Some(Path::new(&options.source)).filter(|path| path.is_dir());
    let stored = folder.map(|folder| Stored::open(folder, options)).transpose()?;
    let scenario = match &stored {
        Some(stored) => stored.scenario.clone(),
        None => Scenario::load(&options.source, &options.changes.sets, options.changes.trace().as_ref())?,
    };
    let asked = options.request.map_or(Asked::Slowest(options.slowest), Asked::Request);
    let (explanation, report) = simulate(&scenario, &asked, options, no_progress, output)?;
    if let Some(stored) = stored {
        stored.agrees_with(&explanation, &report)?;
    }
    if options.json {
        return output.data(&json(&explanation)?);
    }
    let style = Style { columns: output.columns(), color: output.stdout_color() };
    output.data(&tables::explained(&explanation, style))
}

fn simulate(
    scenario: &Scenario,
    asked: &Asked,
    options: &ExplainArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(Explanation, Report), Failure> {
    let threads = options.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let most_bytes = options.cache_limit.unwrap_or(AgedCache::MOST_BYTES);
    let cache = cache::of_user(most_bytes).filter(|_| !options.no_cache);
    let bars = (output.shows_progress() && !no_progress).then(Bars::new);
    let cancel = interrupt::watch()?;
    let run = RunOptions {
        threads,
        cancel,
        progress: bars.as_ref().map_or(&Silent as &dyn Progress, |bars| bars),
        cache: cache.as_ref(),
        ..RunOptions::default()
    };
    let result = explained(scenario, asked, &run);
    if let Some(bars) = bars {
        bars.clear();
    }
    cache.as_ref().map(AgedCache::notices).unwrap_or_default().iter().for_each(|line| output.detail(line));
    interrupt::check(cancel)?;
    Ok(result?)
}

/// A result that `run --out` has written.
struct Stored {
    folder: PathBuf,
    scenario: Scenario,
    report: Value,
}

impl Stored {
    fn open(folder: &Path, options: &ExplainArguments) -> Result<Stored, Failure> {
        if !options.changes.sets.is_empty() || options.changes.trace().is_some() {
            return Err(Failure::BadInput(format!(
                "{} is a stored result, and its scenario cannot be changed: name the scenario instead, such as {}",
                shown(folder),
                shown(&folder.join("scenario.toml"))
            )));
        }
        let path = folder.join("report.json");
        match std::fs::metadata(&path) {
            Ok(about) if about.is_file() => {}
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::BadInput(format!("{}: cannot be read: {error}", shown(&path))));
            }
            _ => {
                return Err(Failure::BadInput(format!(
                    "{} has no report.json: it is not a folder that `harmonia run --out` has written",
                    shown(folder)
                )));
            }
        }
        let damaged = |why: &dyn std::fmt::Display| {
            Failure::BadInput(format!("{} is damaged ({why}): run it again", shown(&path)))
        };
        let text = files::read_regular(&path).map_err(|error| damaged(&error))?;
        let report: Value = serde_json::from_str(&text).map_err(|error| damaged(&error))?;
        if let Some(runs) = report.get("runs").and_then(Value::as_array) {
            return Err(Failure::BadInput(format!(
                "{} compares {} runs, and one is explained at a time: name the scenario of one, such as {} --set \
                 array.coordination.policy=local",
                shown(&path),
                runs.len(),
                shown(&folder.join("scenario.toml"))
            )));
        }
        let version =
            report.get("version").and_then(Value::as_str).ok_or_else(|| damaged(&"it names no version"))?;
        if version != VERSION {
            return Err(Failure::BadInput(format!(
                "{} was written by version {version} of Harmonia, and this is {VERSION}: explain it with that version, or \
                 run {} again with this one",
                shown(folder),
                shown(&folder.join("scenario.toml"))
            )));
        }
        let source = folder.join("scenario.toml").display().to_string();
        let scenario = Scenario::load(&source, &[], None)?;
        let resolved = serde_json::to_value(&scenario).unwrap_or_default();
        let of_report = report.get("scenario").ok_or_else(|| damaged(&"it has no scenario"))?;
        if without_paths(resolved) != without_paths(of_report.clone()) {
            return Err(Failure::BadInput(format!(
                "{} is not the scenario that report.json in the same folder is of: run it again, or name the scenario alone",
                shown(&folder.join("scenario.toml"))
            )));
        }
        Ok(Stored { folder: folder.to_owned(), scenario, report })
    }

    /// Holds the run against what is stored of it.
    fn agrees_with(&self, explanation: &Explanation, report: &Report) -> Result<(), Failure> {
        let told = serde_json::to_string(report).and_then(|text| serde_json::from_str::<Value>(&text));
        let told = told.map_err(|error| Failure::Internal(format!("the report is no JSON: {error}")))?;
        let of = |report: &Value, key: &str| report.pointer(key).cloned().map(without_pictures);
        let differs = |key: &str| of(&told, key) != of(&self.report, key);
        if differs("/trace/hash") {
            return Err(Failure::BadInput(format!(
                "the trace of {} has changed since it was run: put the old one back, or run it again",
                shown(&self.folder)
            )));
        }
        if let Some(key) =
            ["/seed", "/simulated_ns", "/host", "/array", "/devices"].into_iter().find(|key| differs(key))
        {
            return Err(Failure::BadInput(format!(
                "`{}` of report.json in {} is not what the same scenario and seed give now: the file was changed, or \
                 another build of this version wrote it. Run it again",
                &key[1..],
                shown(&self.folder)
            )));
        }
        let path = self.folder.join(REQUESTS.file);
        if !path.is_file() {
            return Ok(());
        }
        let stored = responses(&path).map_err(|error| {
            Failure::BadInput(format!("{} is damaged ({error}): run it again", shown(&path)))
        })?;
        let differs = |(request, ns): (u64, u64)| stored.get(&request) != Some(&ns);
        let now = explanation.requests.iter().map(|request| (request.request, request.response_ns));
        match now.into_iter().find(|one| differs(*one)) {
            None => Ok(()),
            Some((request, ns)) => Err(Failure::BadInput(format!(
                "request {request} takes {ns} ns, and not what {} says: run it again",
                shown(&path)
            ))),
        }
    }
}

/// Devices without what is recorded of them only where a page is written.
fn without_pictures(mut part: Value) -> Value {
    for device in part.as_array_mut().into_iter().flatten() {
        device.as_object_mut().map(|device| device.remove("over_time"));
    }
    part
}

/// A scenario without where its trace lies.
fn without_paths(mut scenario: Value) -> Value {
    if let Some(workload) = scenario.get_mut("workload").and_then(Value::as_object_mut) {
        workload.remove("path");
    }
    scenario
}

/// The response time of each request of a table, by its number.
fn responses(path: &Path) -> Read<BTreeMap<u64, u64>> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let schema = file.metadata().file_metadata().schema();
    let wanted = ["request", "response_ns"];
    let fields = schema.get_fields().iter().filter(|field| wanted.contains(&field.name())).cloned().collect();
    let projected = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
    let mut responses = BTreeMap::new();
    for row in file.get_row_iter(Some(projected))? {
        let row = row?;
        responses.insert(row.get_long(0)?.cast_unsigned(), row.get_long(1)?.cast_unsigned());
    }
    Ok(responses)
}
