//! A coordinator written in Python.

use std::sync::{Mutex, PoisonError};

use harmonia_array::coordination::{Action, Coordinator, DeliveredView, Event, Interests, Parameters};
use harmonia_array::{Avoid, Interface, Reads};
use harmonia_types::SimTime;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::array::{PyActions, PyArrayView};
use super::event::PyEvent;
use super::known::for_ever;
use super::lent::lend;
use super::object::Object;

/// What it says of itself once, and the object that decides.
pub(super) struct PyCoordinator {
    object: Object,
    interests: Interests,
    interface: Interface,
    keeps_apart: bool,
    waits_for_failures: bool,
    at_once: u16,
    reads: Option<Reads>,
    /// Names and last values of its counters; empty if it has none.
    counters: Mutex<Vec<(&'static str, u64)>>,
}

impl PyCoordinator {
    pub fn make(class: &Bound<'_, PyType>, parameters: &Parameters<'_>) -> PyResult<Self> {
        let py = class.py();
        let facts = [
            ("devices", u64::from(parameters.devices)),
            ("redundancy", u64::from(parameters.redundancy)),
            ("message_latency", parameters.message_latency.0),
        ];
        let object = Object::make(class, parameters.own, &facts)?;
        let names = ["devices", "arrivals", "completions", "answers"];
        let [devices, arrivals, completions, answers] = object.flags(py, "interests", names)?;
        let interfaces = Interface::ALL.map(|interface| (interface.name(), interface));
        let reads = [
            ("wait", Reads::Wait),
            ("avoid-any", Reads::Avoid(Avoid::Any)),
            ("avoid", Reads::Avoid(Avoid::Longest)),
            ("avoid-cheaper", Reads::Avoid(Avoid::Cheaper)),
        ];
        let has_rule = !object.bind(py).getattr(intern!(py, "reads"))?.is_none();
        let coordinator = PyCoordinator {
            interests: Interests { devices, arrivals, completions, answers },
            interface: object.choice(py, "interface", &interfaces)?,
            keeps_apart: object.attribute(py, "keeps_apart", "True or False")?,
            waits_for_failures: object.attribute(py, "waits_for_failures", "True or False")?,
            at_once: object.attribute(py, "at_once", "a number of members")?,
            reads: if has_rule { Some(object.choice(py, "reads", &reads)?) } else { None },
            counters: Mutex::default(),
            object,
        };
        *coordinator.last_counters() = coordinator.count(py, None)?;
        Ok(coordinator)
    }

    fn last_counters(&self) -> std::sync::MutexGuard<'_, Vec<(&'static str, u64)>> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it counts now; `before`: what it counted last.
    fn count(
        &self,
        py: Python<'_>,
        before: Option<&[(&'static str, u64)]>,
    ) -> PyResult<Vec<(&'static str, u64)>> {
        let answer = self.object.bind(py).call_method0(intern!(py, "counters"))?;
        let expected = "a mapping from names, always the same, to whole numbers that never fall";
        let wrong = || self.object.wrong(&answer, "counters", expected);
        let items = answer.call_method0(intern!(py, "items")).and_then(|items| items.try_iter());
        let mut counters = Vec::new();
        for (place, item) in items.map_err(|_| wrong())?.enumerate() {
            let (name, count): (String, u64) = item?.extract().map_err(|_| wrong())?;
            let name = match before {
                None => own_counter(&name)?,
                Some(before) => {
                    let known = before.get(place).filter(|(known, last)| *known == name && *last <= count);
                    known.ok_or_else(wrong)?.0
                }
            };
            counters.push((name, count));
        }
        let is_whole = before.is_none_or(|before| before.len() == counters.len());
        if is_whole { Ok(counters) } else { Err(wrong()) }
    }
}

/// What the report says of every policy under these names.
const TAKEN: [&str; 9] = [
    "policy",
    "interface",
    "soft_notices",
    "hard_notices",
    "forced",
    "queries",
    "holds",
    "releases",
    "windows",
];

/// The name of a counter of a policy's own.
fn own_counter(name: &str) -> PyResult<&'static str> {
    if TAKEN.contains(&name) {
        return Err(PyValueError::new_err(format!(
            "counters: every report has `{name}` already, expected another name"
        )));
    }
    Ok(for_ever(name))
}

impl Clone for PyCoordinator {
    fn clone(&self) -> Self {
        PyCoordinator {
            object: self.object.clone(),
            interests: self.interests,
            interface: self.interface,
            keeps_apart: self.keeps_apart,
            waits_for_failures: self.waits_for_failures,
            at_once: self.at_once,
            reads: self.reads,
            counters: Mutex::new(self.last_counters().clone()),
        }
    }
}

impl Coordinator for PyCoordinator {
    fn interests(&self) -> Interests {
        self.interests
    }

    fn interface(&self) -> Interface {
        self.interface
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        *actions = self.object.ask("on", Some(now), |object| {
            let py = object.py();
            let wanted = Bound::new(py, PyActions::new(view.members.len(), std::mem::take(actions)))?;
            let answer = lend::<PyArrayView, _>(py, view, |view| {
                object.call_method1(intern!(py, "on"), (now.0, PyEvent::new(event), view, &wanted))
            });
            let taken = wanted.borrow_mut().take();
            let answer = answer?;
            if !answer.is_none() {
                let expected = "None: what it wants done it adds to `actions`, as in actions.force(device)";
                return Err(self.object.wrong(&answer, "on", expected));
            }
            Ok(taken)
        });
    }

    fn keeps_apart(&self) -> bool {
        self.keeps_apart
    }

    fn waits_for_failures(&self) -> bool {
        self.waits_for_failures
    }

    fn at_once(&self) -> u16 {
        self.at_once
    }

    fn reads(&self) -> Option<Reads> {
        self.reads
    }

    fn cautions(&self) -> Vec<String> {
        self.object.ask("cautions", None, |object| {
            let answer = object.call_method0(intern!(object.py(), "cautions"))?;
            answer.extract().map_err(|_| self.object.wrong(&answer, "cautions", "a list of sentences"))
        })
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        if self.last_counters().is_empty() {
            return Vec::new();
        }
        let before = self.last_counters().clone();
        let counters = self.object.ask("counters", None, |object| self.count(object.py(), Some(&before)));
        self.last_counters().clone_from(&counters);
        counters
    }
}
