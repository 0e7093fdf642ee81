//! The `harmonia` command inside the extension, so that a wheel brings it along.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these arguments, the first being the program's name; the answer is its exit status.
///
/// The interpreter lock is released. The command listens for signals itself, as the binary does.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| harmonia_cli::run_cli(arguments))
}
