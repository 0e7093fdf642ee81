//! Failures as Python exceptions, all of them here.
//!
//! Bad input is `harmonia.BadInput`, a `ValueError` with `key`, `line` and `column`; a mistake in Harmonia itself is a
//! `RuntimeError`; a signal raises what its own handler raises, for Ctrl-C `KeyboardInterrupt`.

use harmonia_run::RunError;
use harmonia_scenario::BadInput;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::policies::raised::explained;

mod exception {
    #![allow(missing_docs)] // The macro's own items.
    use super::PyValueError;
    pyo3::create_exception!(
        harmonia,
        BadInput,
        PyValueError,
        "What was asked for cannot be done: the text says where, which key, which value, and what is allowed."
    );
}
pub(crate) use exception::BadInput as BadInputError;

pub(crate) fn bad_input(py: Python<'_>, error: &BadInput) -> PyErr {
    let exception = BadInputError::new_err(error.to_string());
    let value = exception.value(py);
    let described = value
        .setattr("key", error.key())
        .and_then(|()| value.setattr("line", error.line()))
        .and_then(|()| value.setattr("column", error.column()));
    explained(py, described.err().unwrap_or(exception))
}

/// Bad input that is no key of a scenario.
pub(crate) fn refused(py: Python<'_>, problem: &str) -> PyErr {
    bad_input(py, &BadInput::plain(problem, ""))
}

pub(crate) fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    match error {
        RunError::BadInput(error) => bad_input(py, error),
        RunError::Cancelled => PyKeyboardInterrupt::new_err(()),
        RunError::Internal(_) => PyRuntimeError::new_err(error.to_string()),
    }
}

pub(crate) fn json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(unwritten)
}

pub(crate) fn unwritten(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
