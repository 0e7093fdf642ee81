//! Block traces: described, read as a table, converted, fitted.
//!
//! How a trace is read is said with the keys of `[workload]`, as in a scenario, so that names and messages are the same.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray, UInt16Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use harmonia_run::{RunError, RunOptions};
use harmonia_scenario::{BadInput, Template, TraceFile};
use harmonia_trace::{ConvertError, FORMATS, Target, TraceError};
use harmonia_types::{Operation, PlacementHandle};
use harmonia_workload::{TraceFit, WorkloadConfig};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors;
use crate::simulate::interruptibly;
use crate::tables::{Table, internal, operations, words};

/// Files, format, and `workload.key=value` of how they are read.
type Reading = (Vec<String>, Option<String>, Vec<String>);

/// Its summary.
#[pyfunction]
pub(crate) fn trace_info(py: Python<'_>, reading: Reading) -> PyResult<String> {
    let trace = open(&reading).map_err(|error| errors::bad_input(py, &error))?;
    let info = while_it_reads(py, |go_on| trace.info_while(go_on).map_err(bad_input))?;
    errors::json(&info)
}

/// Every request.
#[pyfunction]
pub(crate) fn trace_read(py: Python<'_>, reading: Reading, most: usize) -> PyResult<Table> {
    let trace = open(&reading).map_err(|error| errors::bad_input(py, &error))?;
    let mut rows = Requests { most, ..Requests::default() };
    while_it_reads(py, |go_on| {
        let reader = trace.scan(go_on, |record, _| rows.add(record)).map_err(bad_input)?;
        Ok(reader.map(|reader| {
            rows.volumes = reader.volumes().names().to_vec();
            rows.has_handles = reader.has_handles();
        }))
    })?;
    rows.table()
}

/// What was written. The names are of a file to make, and of what it will be called.
#[pyfunction]
pub(crate) fn trace_convert(
    py: Python<'_>,
    reading: Reading,
    names: (PathBuf, PathBuf),
    to: Option<String>,
    exact: bool,
) -> PyResult<String> {
    let trace = open(&reading).map_err(|error| errors::bad_input(py, &error))?;
    let (file, name) = names;
    let named = |problem: String| errors::refused(py, &format!("out {}: {problem}", name.display()));
    let target = Target::new(to.as_deref(), &name, exact).map_err(named)?;
    let handle = File::create_new(&file)?;
    let done = while_it_reads(py, |go_on| match harmonia_trace::convert(&trace, target, handle, go_on) {
        Ok(done) => Ok(Some(done)),
        Err(ConvertError::Stopped) => Ok(None),
        Err(error) => Err(refused(error.to_string())),
    })?;
    let mut summary = serde_json::to_value(&done).map_err(errors::unwritten)?;
    summary["format"] = target.format.name.into();
    summary["bytes"] = bytes_of(&file).into();
    errors::json(&summary)
}

/// A synthetic scenario like the trace, as text, and what to know of it.
#[pyfunction]
pub(crate) fn trace_fit(
    py: Python<'_>,
    reading: Reading,
    room: Option<u64>,
) -> PyResult<(String, Vec<String>)> {
    let trace = open(&reading).map_err(|error| errors::bad_input(py, &error))?;
    let fit = while_it_reads(py, |go_on| TraceFit::of(&trace, room, go_on).map_err(bad_input))?;
    Ok(harmonia_cli::fitted(&fit))
}

/// Every format: name, summary, source, and whether it can be written.
#[pyfunction]
pub(crate) fn formats_json() -> PyResult<String> {
    let format = |format: &harmonia_trace::TraceFormat| {
        let writable = format.write.is_some();
        json!({"name": format.name, "summary": format.summary, "source": format.source, "writable": writable})
    };
    errors::json(&FORMATS.iter().map(format).collect::<Vec<_>>())
}

/// The trace, its options read as keys of a scenario are.
fn open((files, format, keys): &Reading) -> Result<harmonia_trace::Trace, BadInput> {
    let paths = files.iter().map(PathBuf::from).collect();
    let file = TraceFile { paths, format: format.clone(), reading: Vec::new() };
    let scenario = Template::open("tiny")?.with(keys, Some(&file))?;
    match scenario.workload {
        WorkloadConfig::Trace(trace) => harmonia_trace::Trace::open(&trace.paths, &trace.options)
            .map_err(|error| refused(error.to_string()).0),
        _ => Err(BadInput::plain("no trace is given", "allowed: one file or several")),
    }
}

/// Reads until it is done or a signal comes.
fn while_it_reads<T: Send>(
    py: Python<'_>,
    read: impl FnOnce(&mut dyn FnMut(u64) -> bool) -> Result<Option<T>, Refused> + Send,
) -> PyResult<T> {
    interruptibly(py, 1, false, None, |options: &RunOptions<'_>| {
        let mut go_on = |_| !options.cancel.load(Ordering::Relaxed);
        match read(&mut go_on) {
            Ok(Some(done)) => Ok(done),
            Ok(None) => Err(RunError::Cancelled),
            Err(Refused(error)) => Err(RunError::BadInput(error)),
        }
    })
}

/// What cannot be read is the input's fault.
struct Refused(BadInput);

fn refused(problem: String) -> Refused {
    Refused(BadInput::plain(problem, ""))
}

fn bad_input(error: TraceError) -> Refused {
    refused(error.to_string())
}

fn bytes_of(file: &Path) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

/// Requests of a trace as columns.
#[derive(Default)]
struct Requests {
    most: usize,
    seen: usize,
    times: Vec<i64>,
    operations: Vec<i8>,
    offsets: Vec<u64>,
    lengths: Vec<u64>,
    volumes_of: Vec<i32>,
    volumes: Vec<String>,
    handles: Vec<Option<u16>>,
    /// Whether the files have a column for them.
    has_handles: bool,
}

impl Requests {
    fn add(&mut self, record: &harmonia_trace::TraceRecord) {
        self.seen += 1;
        if self.times.len() == self.most {
            return;
        }
        self.times.push(record.time_ns.cast_signed());
        self.operations.push(match record.operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim => 2,
            Operation::Flush => 3,
        });
        self.offsets.push(record.offset);
        self.lengths.push(record.length);
        self.volumes_of.push(record.volume.into());
        self.handles.push(record.handle.map(PlacementHandle::number));
    }

    fn table(self) -> PyResult<Table> {
        let names = Arc::new(StringArray::from(self.volumes));
        let volumes = DictionaryArray::<Int32Type>::try_new(Int32Array::from(self.volumes_of), names);
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(self.times)),
            operations(self.operations),
            Arc::new(UInt64Array::from(self.offsets)),
            Arc::new(UInt64Array::from(self.lengths)),
            Arc::new(volumes.map_err(internal)?),
        ];
        let names = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields = [
            ("time_ns", DataType::Int64),
            ("operation", words()),
            ("offset", DataType::UInt64),
            ("length", DataType::UInt64),
            ("volume", names),
        ];
        let mut fields: Vec<Field> =
            fields.into_iter().map(|(name, of)| Field::new(name, of, false)).collect();
        if self.has_handles {
            arrays.push(Arc::new(UInt16Array::from(self.handles)));
            fields.push(Field::new("handle", DataType::UInt16, true));
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(internal)?;
        Ok(Table::new(schema, vec![batch], self.seen))
    }
}
