//! A policy that is a Python object: made from its class, asked by name, copied with `copy.deepcopy`.

use harmonia_types::SimTime;
use harmonia_types::registry::OwnKeys;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};

use super::raised;
use super::staying::stay;

/// The module with the Python half of this.
pub(super) fn python(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "harmonia._policies"))
}

/// A policy.
pub(super) struct Object {
    object: Py<PyAny>,
    /// What its class is called.
    pub class: String,
}

impl Object {
    /// Makes a policy of its class, own keys, and facts that it may look at.
    pub fn make(class: &Bound<'_, PyType>, own: &OwnKeys, facts: &[(&str, u64)]) -> PyResult<Self> {
        let py = class.py();
        let known = PyDict::new(py);
        for (name, fact) in facts {
            known.set_item(name, fact)?;
        }
        let own = serde_json::Value::Object(own.clone()).to_string();
        let object = python(py)?.call_method1(intern!(py, "made"), (class, own, known))?;
        Ok(Object { object: object.unbind(), class: class.name()?.to_string() })
    }

    /// It.
    pub fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.object.bind(py)
    }

    /// Asks it something. An exception stops the run, with a note of the method and the simulated time.
    pub fn ask<R>(
        &self,
        method: &str,
        now: Option<SimTime>,
        ask: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<R>,
    ) -> R {
        stay();
        let answer = Python::attach(|py| {
            ask(self.bind(py))
                .map_err(|error| raised::noted(py, error, &format!("{}.{method}", self.class), now))
        });
        answer.unwrap_or_else(|error| raised::stop(error))
    }

    /// The value of an attribute, or what is wrong with it.
    pub fn attribute<'py, T>(&self, py: Python<'py>, name: &str, expected: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = self.bind(py).getattr(name)?;
        value.extract().map_err(|_| self.refuse(&value, &format!("{name} is"), expected))
    }

    /// What a method answered is not what it may answer.
    pub fn wrong(&self, value: &Bound<'_, PyAny>, method: &str, expected: &str) -> PyErr {
        self.refuse(value, &format!("{method} returned"), expected)
    }

    fn refuse(&self, value: &Bound<'_, PyAny>, said: &str, expected: &str) -> PyErr {
        let shown = value.repr().map_or_else(|_| "something".to_owned(), |shown| shown.to_string());
        let shown: String = shown.chars().take(80).collect();
        PyTypeError::new_err(format!("{}.{said} {shown}, expected {expected}", self.class))
    }

    /// The answer of a method that says by name which of some things hold.
    pub fn flags<const N: usize>(
        &self,
        py: Python<'_>,
        method: &str,
        names: [&str; N],
    ) -> PyResult<[bool; N]> {
        let answer = self.bind(py).call_method0(method)?;
        let expected = format!("a mapping from {} to True or False", names.join(", "));
        let items = answer.call_method0(intern!(py, "items")).and_then(|items| items.try_iter());
        let items = items.map_err(|_| self.wrong(&answer, method, &expected))?;
        let mut flags = [false; N];
        for item in items {
            let (name, flag): (String, bool) =
                item?.extract().map_err(|_| self.wrong(&answer, method, &expected))?;
            match names.iter().position(|known| *known == name) {
                Some(place) => flags[place] = flag,
                None => return Err(self.wrong(&answer, method, &expected)),
            }
        }
        Ok(flags)
    }

    /// One of several words, as an attribute.
    pub fn choice<T: Copy>(&self, py: Python<'_>, name: &str, choices: &[(&str, T)]) -> PyResult<T> {
        let value = self.bind(py).getattr(name)?;
        let found = value.cast::<PyString>().ok().and_then(|written| {
            let written = written.to_string();
            choices.iter().find(|(known, _)| *known == written).map(|(_, choice)| *choice)
        });
        found.ok_or_else(|| {
            let names: Vec<String> = choices.iter().map(|(known, _)| format!("\"{known}\"")).collect();
            self.refuse(&value, &format!("{name} is"), &names.join(" or "))
        })
    }
}

impl Clone for Object {
    fn clone(&self) -> Self {
        let object = self.ask("__deepcopy__", None, |object| {
            let py = object.py();
            let copy = py.import(intern!(py, "copy"))?;
            Ok(copy.call_method1(intern!(py, "deepcopy"), (object,))?.unbind())
        });
        Object { object, class: self.class.clone() }
    }
}
