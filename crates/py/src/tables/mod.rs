//! Tables in memory, which other libraries read where they lie.
//!
//! A [`Table`] hands out the Arrow C stream interface in a capsule, as the Arrow PyCapsule interface says. Buffers are
//! counted references: whoever read a table may outlive it.
//!
//! * `columns`: rows of a run that become arrays without a copy;
//! * `kept`: the observer that keeps them;
//! * `small`: tables of a few rows, made of Python lists.

mod columns;
mod kept;
mod small;

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

pub(crate) use columns::{operations, words};
pub(crate) use kept::Kept;

/// A table of results.
#[pyclass(frozen, module = "harmonia._native")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// Rows there would be if all had been kept.
    total: usize,
}

impl Table {
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>, total: usize) -> Self {
        Table { schema, batches, total }
    }

    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

#[pymethods]
impl Table {
    /// A small table of (name, kind, values); see the stub for kinds.
    #[new]
    fn of(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        small::table(columns)
    }

    /// Several runs in one: (label, seed, table) of each.
    #[staticmethod]
    fn joined(runs: Vec<(String, u64, PyRef<'_, Table>)>) -> PyResult<Self> {
        // Seeds of a variant share a label, and a dictionary has each word once.
        let mut labels: Vec<&str> = Vec::new();
        for (label, ..) in &runs {
            if !labels.contains(&label.as_str()) {
                labels.push(label);
            }
        }
        let dictionary: ArrayRef = Arc::new(StringArray::from(labels.clone()));
        let mut batches = Vec::new();
        for (label, seed, table) in &runs {
            let position = labels.iter().position(|known| known == label).unwrap_or_default();
            for batch in &table.batches {
                batches.push(of_run(batch, &dictionary, position as i32, *seed).map_err(internal)?);
            }
        }
        let schema = match (batches.first(), runs.first()) {
            (Some(batch), _) => batch.schema(),
            (None, Some((.., table))) => in_front(&table.schema),
            (None, None) => Arc::new(Schema::empty()),
        };
        let total = runs.iter().map(|(.., table)| table.total).sum();
        Ok(Table { schema, batches, total })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer give what it has, whatever is requested.
        let _ = requested_schema;
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(internal)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    /// Rows there would be if all had been kept.
    #[getter]
    fn total(&self) -> usize {
        self.total
    }

    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Where the values of a column lie: one address for each run. Whoever read them without a copy has the same.
    fn addresses(&self, column: &str) -> PyResult<Vec<usize>> {
        let at = self.schema.index_of(column).map_err(internal)?;
        let address = |batch: &RecordBatch| {
            let data = batch.column(at).to_data();
            data.buffers().first().map_or(0, |buffer| buffer.as_ptr().addr())
        };
        Ok(self.batches.iter().map(address).collect())
    }
}

/// A batch with the run's label and seed in front.
fn of_run(
    batch: &RecordBatch,
    labels: &ArrayRef,
    position: i32,
    seed: u64,
) -> Result<RecordBatch, ArrowError> {
    let rows = batch.num_rows();
    let label =
        DictionaryArray::<Int32Type>::try_new(Int32Array::from_value(position, rows), labels.clone())?;
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(label), Arc::new(UInt64Array::from_value(seed, rows))];
    arrays.extend(batch.columns().iter().cloned());
    RecordBatch::try_new(in_front(&batch.schema()), arrays)
}

/// Columns of a table that has several runs.
fn in_front(schema: &Schema) -> SchemaRef {
    let label = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let mut fields: Vec<Arc<Field>> = vec![
        Arc::new(Field::new("run", label, false)),
        Arc::new(Field::new("seed", DataType::UInt64, false)),
    ];
    fields.extend(schema.fields().iter().cloned());
    Arc::new(Schema::new(fields))
}

pub(crate) fn internal(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
