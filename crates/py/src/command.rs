//! The `harmonia` command inside the extension, so that a wheel brings it along.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;

use crate::policies::raised::stopped;

/// Runs the command with these arguments, the first being the program's name; the answer is its exit status.
///
/// The interpreter lock is released. The command listens for signals itself, as the binary does. An exception of a policy
/// written in Python comes out of here.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    py.detach(|| catch_unwind(AssertUnwindSafe(|| harmonia_cli::run_cli(arguments)))).map_err(stopped)
}
