//! A concurrency policy written in Python, and a device as it sees it.

use harmonia_ssd::gc::concurrency::{Candidate, Concurrency, Limit, Load, Parameters};
use harmonia_types::SimTime;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::lent::{Lend, Lender, Lent, lend};
use super::object::Object;
use super::time;

/// A [`Load`].
pub(crate) struct DeviceLoad;

impl Lend for DeviceLoad {
    type Of<'a> = Load<'a>;
}

/// A device as a concurrency policy sees it.
#[pyclass(frozen, module = "harmonia._native", name = "Load")]
pub(crate) struct PyLoad(Lent<DeviceLoad>);

impl Lender for PyLoad {
    type Kind = DeviceLoad;

    fn new(lent: Lent<DeviceLoad>) -> Self {
        PyLoad(lent)
    }

    fn lent(&self) -> &Lent<DeviceLoad> {
        &self.0
    }
}

#[pymethods]
impl PyLoad {
    #[getter]
    fn utilisation(&self) -> PyResult<f64> {
        self.0.with(|load| load.utilisation)
    }

    #[getter]
    fn active(&self) -> PyResult<u32> {
        self.0.with(|load| load.active)
    }

    #[getter]
    fn depth(&self) -> PyResult<Vec<u32>> {
        self.0.with(|load| load.depth.to_vec())
    }

    #[getter]
    fn idle_since(&self) -> PyResult<Vec<Option<u64>>> {
        self.0.with(|load| load.idle_since.iter().copied().map(time).collect())
    }
}

/// A die that could start.
#[pyclass(frozen, module = "harmonia._native", name = "Candidate")]
pub(crate) struct PyCandidate(Candidate);

#[pymethods]
impl PyCandidate {
    #[getter]
    fn channel(&self) -> u32 {
        self.0.channel
    }

    #[getter]
    fn die(&self) -> u32 {
        self.0.die
    }

    #[getter]
    fn invalid(&self) -> u32 {
        self.0.invalid
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A concurrency policy whose answers are an object's.
#[derive(Clone)]
pub(super) struct PyConcurrency {
    object: Object,
    admits_all: bool,
    follows_host: bool,
}

impl PyConcurrency {
    pub fn make(class: &Bound<'_, PyType>, parameters: &Parameters<'_>) -> PyResult<Self> {
        let py = class.py();
        let object = Object::make(class, parameters.own, &[("channels", u64::from(parameters.channels))])?;
        Ok(PyConcurrency {
            admits_all: object.attribute(py, "admits_all", "True or False")?,
            follows_host: object.attribute(py, "follows_host", "True or False")?,
            object,
        })
    }
}

impl Concurrency for PyConcurrency {
    fn admits_all(&self) -> bool {
        self.admits_all
    }

    fn limit(&self, now: SimTime, load: &Load<'_>) -> Limit {
        self.object.ask("limit", Some(now), |object| {
            let py = object.py();
            let answer =
                lend::<PyLoad, _>(py, load, |load| object.call_method1(intern!(py, "limit"), (now.0, load)))?;
            let channels = answer.extract().map(|channels: u32| Limit { channels, begins: false });
            let both = || answer.extract().map(|(channels, begins)| Limit { channels, begins });
            channels.or_else(|_: PyErr| both()).map_err(|_: PyErr| {
                let expected =
                    "a number of channels, or that and whether dies may start of themselves, as in (4, True)";
                self.object.wrong(&answer, "limit", expected)
            })
        })
    }

    fn rank(&self, now: SimTime, candidate: &Candidate, load: &Load<'_>) -> Option<u64> {
        self.object.ask("rank", Some(now), |object| {
            let py = object.py();
            let answer = lend::<PyLoad, _>(py, load, |load| {
                object.call_method1(intern!(py, "rank"), (now.0, PyCandidate(*candidate), load))
            })?;
            let expected = "a rank, a whole number from 0 on, or None: not now";
            answer.extract().map_err(|_| self.object.wrong(&answer, "rank", expected))
        })
    }

    fn started(&mut self, candidate: &Candidate) {
        self.object.ask("started", None, |object| {
            object.call_method1(intern!(object.py(), "started"), (PyCandidate(*candidate),)).map(drop)
        });
    }

    fn next_look(&self, now: SimTime, load: &Load<'_>) -> SimTime {
        self.object.ask("next_look", Some(now), |object| {
            let py = object.py();
            let answer = lend::<PyLoad, _>(py, load, |load| {
                object.call_method1(intern!(py, "next_look"), (now.0, load))
            })?;
            let expected = "a time in nanoseconds, or None: nothing to look for";
            let look: Option<u64> =
                answer.extract().map_err(|_| self.object.wrong(&answer, "next_look", expected))?;
            match look.map(SimTime) {
                Some(look) if look <= now => Err(PyValueError::new_err(format!(
                    "{}.next_look returned {}, which is not after now ({}), expected a later time or None",
                    self.object.class, look.0, now.0
                ))),
                look => Ok(look.unwrap_or(SimTime::NEVER)),
            }
        })
    }

    fn follows_host(&self) -> bool {
        self.follows_host
    }
}
