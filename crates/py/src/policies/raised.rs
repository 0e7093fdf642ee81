//! Exceptions of policies: they stop the run that asked, and come out of the call that began it.
//!
//! A policy is asked deep inside a run, where nothing can fail. So an exception travels as a panic that says nothing, and
//! whoever waits for the run turns it back. A policy that cannot be made is refused like a bad key. Its exception is kept
//! aside, because a refusal is text.

use std::any::Any;
use std::cell::RefCell;
use std::panic::resume_unwind;

use harmonia_types::{SimDuration, SimTime, units};
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

/// An exception on its way out of a run.
struct Raised(PyErr);

/// Ends the run on this thread with an exception.
pub(super) fn stop(error: PyErr) -> ! {
    resume_unwind(Box::new(Raised(error)))
}

/// What a run that panicked ended with.
pub(crate) fn stopped(panic: Box<dyn Any + Send>) -> PyErr {
    match panic.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(_) => PyRuntimeError::new_err("internal error: a broken invariant, named on stderr"),
    }
}

/// The exception, with a note of where and when it was raised.
pub(super) fn noted(py: Python<'_>, error: PyErr, place: &str, now: Option<SimTime>) -> PyErr {
    let moment = now.map_or_else(String::new, |now| {
        let written = units::format_duration(SimDuration(now.0));
        format!(", at {written} of simulated time ({} ns)", now.0)
    });
    let note = format!("raised by {place}{moment}");
    let python = py.import(intern!(py, "harmonia._policies"));
    match python.and_then(|python| python.call_method1(intern!(py, "note"), (error.value(py), note))) {
        Ok(_) => error,
        Err(failure) => failure,
    }
}

thread_local! {
    /// The last refusal of this thread, and the exception behind it.
    static REFUSED: RefCell<Option<(String, PyErr)>> = const { RefCell::new(None) };
}

/// A refusal as text: the policy called `class` cannot be made.
pub(super) fn refusal(py: Python<'_>, class: &str, error: PyErr) -> String {
    let text = error.value(py).to_string();
    let is_refusal = error.is_instance_of::<PyValueError>(py);
    let text = if is_refusal { text } else { format!("{class} raised {error}") };
    REFUSED.with_borrow_mut(|refused| *refused = Some((text.clone(), error)));
    text
}

/// The exception behind a refusal that is told as `refused`: as its cause, or, if it is a mistake in the policy, instead.
pub(crate) fn explained(py: Python<'_>, refused: PyErr) -> PyErr {
    let told = refused.value(py).to_string();
    let Some((text, error)) = REFUSED.with_borrow_mut(Option::take) else { return refused };
    // The text of a fault is cut at a length and at ", expected ".
    let words = text.split(", expected ").next().unwrap_or_default();
    if !told.contains(&words.chars().take(100).collect::<String>()) {
        return refused;
    }
    if error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyValueError>(py) {
        return error;
    }
    refused.set_cause(py, Some(error));
    refused
}
