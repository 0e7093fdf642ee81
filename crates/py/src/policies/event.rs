//! Events of an array, as coordinators written in Python see them.

use harmonia_array::coordination::Event;
use harmonia_types::{Completion, DeviceId, HostRequest, Operation, PlacementHandle};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

use super::time;

/// Something that happened, as delivered to the controller.
#[pyclass(frozen, module = "harmonia._native", name = "Event")]
pub(crate) struct PyEvent(Event);

impl PyEvent {
    pub(super) fn new(event: &Event) -> Self {
        PyEvent(*event)
    }

    fn has_no<T>(&self, name: &str) -> PyResult<T> {
        Err(PyAttributeError::new_err(format!("the event `{}` has no `{name}`", self.kind())))
    }
}

fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Trim => "trim",
        Operation::Flush => "flush",
    }
}

#[pymethods]
impl PyEvent {
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            Event::Start => "start",
            Event::SoftThreshold(_) => "soft-threshold",
            Event::HardThreshold(_) => "hard-threshold",
            Event::GcStarted(_) => "gc-started",
            Event::GcEnded { .. } => "gc-ended",
            Event::WindowWarning(_) => "window-warning",
            Event::Drained(_) => "drained",
            Event::Answered { .. } => "answered",
            Event::Status(_) => "status",
            Event::Arrival(_) => "arrival",
            Event::Completion(_) => "completion",
            Event::Timer(_) => "timer",
            Event::Failure(_) => "failure",
            Event::Replacement(_) => "replacement",
            Event::Rebuilt(_) => "rebuilt",
        }
    }

    #[getter]
    fn device(&self) -> PyResult<u16> {
        match self.0 {
            Event::SoftThreshold(DeviceId(device))
            | Event::HardThreshold(DeviceId(device))
            | Event::GcStarted(DeviceId(device))
            | Event::GcEnded { device: DeviceId(device), .. }
            | Event::WindowWarning(DeviceId(device))
            | Event::Drained(DeviceId(device))
            | Event::Answered { device: DeviceId(device), .. }
            | Event::Status(DeviceId(device))
            | Event::Failure(DeviceId(device))
            | Event::Replacement(DeviceId(device))
            | Event::Rebuilt(DeviceId(device)) => Ok(device),
            Event::Start | Event::Arrival(_) | Event::Completion(_) | Event::Timer(_) => {
                self.has_no("device")
            }
        }
    }

    #[getter]
    fn registered(&self) -> PyResult<bool> {
        match self.0 {
            Event::GcEnded { registered, .. } => Ok(registered),
            _ => self.has_no("registered"),
        }
    }

    #[getter]
    fn operation(&self) -> PyResult<&'static str> {
        match self.0 {
            Event::Answered { operation: done, .. } => Ok(operation(done)),
            _ => self.has_no("operation"),
        }
    }

    #[getter]
    fn latency(&self) -> PyResult<u64> {
        match self.0 {
            Event::Answered { latency, .. } => Ok(latency.0),
            _ => self.has_no("latency"),
        }
    }

    #[getter]
    fn number(&self) -> PyResult<u64> {
        match self.0 {
            Event::Timer(number) => Ok(number),
            _ => self.has_no("number"),
        }
    }

    #[getter]
    fn request(&self) -> PyResult<PyRequest> {
        match self.0 {
            Event::Arrival(request) => Ok(PyRequest(request)),
            _ => self.has_no("request"),
        }
    }

    #[getter]
    fn completion(&self) -> PyResult<PyCompletion> {
        match self.0 {
            Event::Completion(completion) => Ok(PyCompletion(completion)),
            _ => self.has_no("completion"),
        }
    }

    fn __repr__(&self) -> String {
        format!("Event({:?})", self.0)
    }
}

/// A host request that arrived.
#[pyclass(frozen, module = "harmonia._native", name = "Request")]
pub(crate) struct PyRequest(HostRequest);

#[pymethods]
impl PyRequest {
    #[getter]
    fn id(&self) -> u64 {
        self.0.id
    }

    #[getter]
    fn arrival(&self) -> u64 {
        self.0.arrival.0
    }

    #[getter]
    fn operation(&self) -> &'static str {
        operation(self.0.operation)
    }

    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    #[getter]
    fn length(&self) -> u64 {
        self.0.length
    }

    #[getter]
    fn volume(&self) -> u16 {
        self.0.volume
    }

    #[getter]
    fn handle(&self) -> Option<u16> {
        self.0.handle.map(PlacementHandle::number)
    }

    #[getter]
    fn member(&self) -> Option<u16> {
        self.0.member.map(|member| member.0)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A host request that completed.
#[pyclass(frozen, module = "harmonia._native", name = "Completion")]
pub(crate) struct PyCompletion(Completion);

#[pymethods]
impl PyCompletion {
    #[getter]
    fn id(&self) -> u64 {
        self.0.id
    }

    #[getter]
    fn operation(&self) -> &'static str {
        operation(self.0.operation)
    }

    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    #[getter]
    fn length(&self) -> u64 {
        self.0.length
    }

    #[getter]
    fn arrival(&self) -> u64 {
        self.0.arrival.0
    }

    #[getter]
    fn finish(&self) -> Option<u64> {
        time(self.0.finish)
    }

    #[getter]
    fn gc_affected(&self) -> bool {
        self.0.is_gc_affected()
    }

    #[getter]
    fn met_gc(&self) -> bool {
        self.0.met_gc
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
