//! Policies that are known by name as long as somebody runs with them.
//!
//! The registries of the simulator hold them like built-in ones. A class is lent to them by each call that names it, and
//! taken back when the last of these calls ends. Two classes of one name cannot be known at the same time.

use std::sync::{Mutex, PoisonError};

use harmonia_array::coordination::{self, Coordinator};
use harmonia_ssd::gc::concurrency::{self, Concurrency};
use harmonia_ssd::gc::schedule::{self, Schedule};
use harmonia_ssd::gc::victim::{self, Victim};
use harmonia_types::registry::{Entry, OwnKey, Registry};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;
use serde::Deserialize;
use serde_json::Value;

use super::concurrency::PyConcurrency;
use super::coordinator::PyCoordinator;
use super::object::python;
use super::raised::refusal;
use super::schedule::PySchedule;
use super::victim::PyVictim;

/// A text that lasts as long as the program; the same text is kept once.
pub(super) fn for_ever(text: &str) -> &'static str {
    static TEXTS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.iter().find(|known| **known == text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.into());
    texts.push(kept);
    kept
}

/// What the Python half says of a class.
#[derive(Deserialize)]
struct About {
    kind: String,
    name: String,
    summary: String,
    source: String,
    keys: Vec<KeyAbout>,
}

#[derive(Deserialize)]
struct KeyAbout {
    name: String,
    meaning: String,
    default: Value,
    schema: Value,
}

impl About {
    fn of(class: &Bound<'_, PyType>) -> PyResult<About> {
        let py = class.py();
        let text: String = python(py)?.call_method1(intern!(py, "described"), (class,))?.extract()?;
        serde_json::from_str(&text).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn keys(&self) -> Vec<OwnKey> {
        let key = |key: &KeyAbout| {
            let KeyAbout { name, meaning, default, schema } = key;
            OwnKey::new(name.clone(), meaning.clone(), default.clone(), schema.clone())
        };
        self.keys.iter().map(key).collect()
    }

    fn entry<F>(&self, build: F) -> &'static Entry<F> {
        let keys = self.keys();
        Box::leak(Box::new(Entry {
            name: for_ever(&self.name),
            summary: for_ever(&self.summary),
            source: for_ever(&self.source),
            keys: Box::leak(Box::new(move || keys.clone())),
            build,
        }))
    }
}

/// Makes a policy of its class, or says in text why not.
fn built<T>(
    class: &Py<PyType>,
    make: impl for<'py> FnOnce(&Bound<'py, PyType>) -> PyResult<T>,
) -> Result<T, String> {
    Python::attach(|py| {
        let class = class.bind(py);
        make(class).map_err(|error| {
            let name = class.name().map_or_else(|_| "the policy".to_owned(), |name| name.to_string());
            refusal(py, &name, error)
        })
    })
}

/// A policy in the registry of its kind.
#[derive(Clone, Copy)]
enum Line {
    Coordinator(&'static Entry<coordination::Build>),
    Victim(&'static Entry<victim::Build>),
    Schedule(&'static Entry<schedule::Build>),
    Concurrency(&'static Entry<concurrency::Build>),
}

impl Line {
    fn new(about: &About, class: Py<PyType>) -> Line {
        match about.kind.as_str() {
            "coordination" => Line::Coordinator(about.entry(Box::leak(Box::new(
                move |parameters: &coordination::Parameters<'_>| {
                    let made = built(&class, |class| PyCoordinator::make(class, parameters));
                    made.map(|made| Box::new(made) as Box<dyn Coordinator>)
                },
            )))),
            "victim" => Line::Victim(about.entry(Box::leak(Box::new(
                move |parameters: &harmonia_types::registry::Parameters<'_>| {
                    let made = built(&class, |class| PyVictim::make(class, parameters));
                    made.map(|made| Box::new(made) as Box<dyn Victim>)
                },
            )))),
            "schedule" => Line::Schedule(about.entry(Box::leak(Box::new(
                move |parameters: &harmonia_types::registry::Parameters<'_>| {
                    let made = built(&class, |class| PySchedule::make(class, parameters));
                    made.map(|made| Box::new(made) as Box<dyn Schedule>)
                },
            )))),
            _ => Line::Concurrency(about.entry(Box::leak(Box::new(
                move |parameters: &concurrency::Parameters<'_>| {
                    let made = built(&class, |class| PyConcurrency::make(class, parameters));
                    made.map(|made| Box::new(made) as Box<dyn Concurrency>)
                },
            )))),
        }
    }

    fn lend(self) -> Result<(), String> {
        match self {
            Line::Coordinator(entry) => coordination::POLICIES.lend(entry),
            Line::Victim(entry) => victim::POLICIES.lend(entry),
            Line::Schedule(entry) => schedule::POLICIES.lend(entry),
            Line::Concurrency(entry) => concurrency::POLICIES.lend(entry),
        }
    }

    fn take_back(self) {
        match self {
            Line::Coordinator(entry) => coordination::POLICIES.take_back(entry.name),
            Line::Victim(entry) => victim::POLICIES.take_back(entry.name),
            Line::Schedule(entry) => schedule::POLICIES.take_back(entry.name),
            Line::Concurrency(entry) => concurrency::POLICIES.take_back(entry.name),
        }
    }

    fn is_built_in(self) -> bool {
        fn has<F>(registry: &Registry<F>, entry: &Entry<F>) -> bool {
            registry.is_built_in(entry.name)
        }
        match self {
            Line::Coordinator(entry) => has(&coordination::POLICIES, entry),
            Line::Victim(entry) => has(&victim::POLICIES, entry),
            Line::Schedule(entry) => has(&schedule::POLICIES, entry),
            Line::Concurrency(entry) => has(&concurrency::POLICIES, entry),
        }
    }
}

/// A class that was named at least once. It stays here, so that it has one line however often it is named.
struct Known {
    class: Py<PyType>,
    /// What it was called when it got its line.
    name: String,
    line: Line,
    /// Calls that run with it.
    calls: usize,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Makes a class known to the registries until it is taken back as often.
fn lend(class: &Bound<'_, PyType>) -> PyResult<()> {
    // Python is asked before the lock is taken: it may let other threads go first.
    let about = About::of(class)?;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = known.iter().position(|known| known.class.is(class) && known.name == about.name);
    let place = place.unwrap_or_else(|| {
        let name = about.name.clone();
        let line = Line::new(&about, class.clone().unbind());
        known.push(Known { class: class.clone().unbind(), name, line, calls: 0 });
        known.len() - 1
    });
    let known = &mut known[place];
    if known.calls == 0 {
        known.line.lend().map_err(|why| {
            let why = match known.line.is_built_in() {
                true => why,
                false => format!("{why}, of another class, and a run with it is under way"),
            };
            PyValueError::new_err(format!("{why}, expected another name: it is the class attribute `name`"))
        })?;
    }
    known.calls += 1;
    Ok(())
}

fn take_back(class: &Bound<'_, PyType>) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.iter_mut().find(|known| known.class.is(class) && known.calls > 0) {
        known.calls -= 1;
        if known.calls == 0 {
            known.line.take_back();
        }
    }
}

/// Makes classes known by their names, all or none.
#[pyfunction]
pub(crate) fn lend_policies(classes: Vec<Bound<'_, PyType>>) -> PyResult<()> {
    for (place, class) in classes.iter().enumerate() {
        if let Err(error) = lend(class) {
            classes[..place].iter().for_each(take_back);
            return Err(error);
        }
    }
    Ok(())
}

/// Ends that.
#[pyfunction]
pub(crate) fn take_back_policies(classes: Vec<Bound<'_, PyType>>) {
    classes.iter().for_each(take_back);
}
