//! A result that `harmonia run --out` has written, to be explained.
//!
//! A result folder has the resolved scenario, with its seed, and the report. So its run can be simulated again. That it is the
//! same run is checked before and after: version and scenario, then hash of the trace, figures of the report, and response
//! times of the request table, if there is one.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use harmonia_metrics::Report;
use harmonia_metrics::rows::REQUESTS;
use harmonia_run::explain::Explanation;
use harmonia_run::{RunError, VERSION};
use harmonia_scenario::{BadInput, Scenario, files};
use harmonia_types::text::one_line;
use parquet::errors::Result as Read;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use parquet::schema::types::Type;
use serde_json::Value;

/// A result that `run --out` has written.
#[derive(Debug)]
pub struct ResultFolder {
    folder: PathBuf,
    scenario: Scenario,
    report: Value,
}

impl ResultFolder {
    /// Reads one of this version; `is_changed`: keys or a trace are named beside it.
    ///
    /// # Errors
    /// If the folder has no result of one run of this version, or anything of it would be changed.
    pub fn open(folder: &Path, is_changed: bool) -> Result<ResultFolder, RunError> {
        if is_changed {
            return Err(refused(format!(
                "{} is a stored result, and its scenario cannot be changed: name the scenario instead, such as {}",
                shown(folder),
                shown(&folder.join("scenario.toml"))
            )));
        }
        let path = folder.join("report.json");
        match std::fs::metadata(&path) {
            Ok(about) if about.is_file() => {}
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(refused(format!("{}: cannot be read: {error}", shown(&path))));
            }
            _ => {
                return Err(refused(format!(
                    "{} has no report.json: it is not a folder that `harmonia run --out` has written",
                    shown(folder)
                )));
            }
        }
        let damaged = |why: &dyn std::fmt::Display| {
            refused(format!("{} is damaged ({why}): run it again", shown(&path)))
        };
        let text = files::read_regular(&path).map_err(|error| damaged(&error))?;
        let report: Value = serde_json::from_str(&text).map_err(|error| damaged(&error))?;
        if let Some(runs) = report.get("runs").and_then(Value::as_array) {
            return Err(refused(format!(
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
            return Err(refused(format!(
                "{} was written by version {version} of Harmonia, and this is {VERSION}: explain it with that version, or \
                 run {} again with this one",
                shown(folder),
                shown(&folder.join("scenario.toml"))
            )));
        }
        let source = folder.join("scenario.toml").display().to_string();
        let scenario = Scenario::load(&source, &[], None).map_err(RunError::BadInput)?;
        let resolved = serde_json::to_value(&scenario).unwrap_or_default();
        let of_report = report.get("scenario").ok_or_else(|| damaged(&"it has no scenario"))?;
        if without_paths(resolved) != without_paths(of_report.clone()) {
            return Err(refused(format!(
                "{} is not the scenario that report.json in the same folder is of: run it again, or name the scenario alone",
                shown(&folder.join("scenario.toml"))
            )));
        }
        Ok(ResultFolder { folder: folder.to_owned(), scenario, report })
    }

    /// The scenario of the run, with its seed.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Holds a run against what is stored of it.
    ///
    /// # Errors
    /// If it is another one.
    pub fn agrees_with(&self, explanation: &Explanation, report: &Report) -> Result<(), RunError> {
        let told = serde_json::to_string(report).and_then(|text| serde_json::from_str::<Value>(&text));
        let told = told.map_err(|error| RunError::Internal(format!("the report is no JSON: {error}")))?;
        let of = |report: &Value, key: &str| report.pointer(key).cloned().map(without_pictures);
        let differs = |key: &str| of(&told, key) != of(&self.report, key);
        if differs("/trace/hash") {
            return Err(refused(format!(
                "the trace of {} has changed since it was run: put the old one back, or run it again",
                shown(&self.folder)
            )));
        }
        if let Some(key) =
            ["/seed", "/simulated_ns", "/host", "/array", "/devices"].into_iter().find(|key| differs(key))
        {
            return Err(refused(format!(
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
        let stored = responses(&path)
            .map_err(|error| refused(format!("{} is damaged ({error}): run it again", shown(&path))))?;
        let differs = |(request, ns): (u64, u64)| stored.get(&request) != Some(&ns);
        let now = explanation.requests.iter().map(|request| (request.request, request.response_ns));
        match now.into_iter().find(|one| differs(*one)) {
            None => Ok(()),
            Some((request, ns)) => Err(refused(format!(
                "request {request} takes {ns} ns, and not what {} says: run it again",
                shown(&path)
            ))),
        }
    }
}

fn shown(path: &Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

fn refused(problem: String) -> RunError {
    RunError::BadInput(BadInput::plain(problem, ""))
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
