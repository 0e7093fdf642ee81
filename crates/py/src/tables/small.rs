//! Tables of a few rows, made of Python lists.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Table, internal};

/// Of (name, kind, values); `None` is a missing value.
pub(crate) fn table(columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Table> {
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (name, kind, values) in columns {
        let (of, array): (DataType, ArrayRef) = match kind.as_str() {
            "integer" => (DataType::Int64, Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?))),
            "float" => {
                (DataType::Float64, Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)))
            }
            "text" => (DataType::Utf8, Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?))),
            other => return Err(PyValueError::new_err(format!("no kind of columns: {other}"))),
        };
        fields.push(Field::new(name, of, true));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(internal)?;
    let rows = batch.num_rows();
    Ok(Table::new(schema, vec![batch], rows))
}
