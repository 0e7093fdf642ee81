//! What a coordinator written in Python knows of the members, and what it can do.

use harmonia_array::coordination::{Action, Delivered, DeliveredView};
use harmonia_ssd::interface::{Status, Stop, Window};
use harmonia_types::{DeviceId, SimTime, WallClock, format_utc};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::lent::{Lend, Lender, Lent};

/// A [`DeliveredView`].
pub(crate) struct Delivery;

impl Lend for Delivery {
    type Of<'a> = DeliveredView<'a>;
}

/// What has been delivered to the controller so far.
#[pyclass(frozen, module = "harmonia._native", name = "ArrayView")]
pub(crate) struct PyArrayView(Lent<Delivery>);

impl Lender for PyArrayView {
    type Kind = Delivery;

    fn new(lent: Lent<Delivery>) -> Self {
        PyArrayView(lent)
    }

    fn lent(&self) -> &Lent<Delivery> {
        &self.0
    }
}

#[pymethods]
impl PyArrayView {
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let members: Vec<PyMember> =
            self.0.with(|view| view.members.iter().copied().map(PyMember).collect())?;
        PyTuple::new(py, members)
    }

    #[getter]
    fn clock(&self) -> PyResult<Option<PyWallClock>> {
        self.0.with(|view| view.clock.map(PyWallClock))
    }

    fn capable(&self) -> PyResult<Vec<u16>> {
        self.0.with(|view| view.capable().map(|device| device.0).collect())
    }

    fn __len__(&self) -> PyResult<usize> {
        self.0.with(|view| view.members.len())
    }

    fn __getitem__(&self, device: isize) -> PyResult<PyMember> {
        let (member, devices) = self.0.with(|view| {
            let index = usize::try_from(device).ok();
            (index.and_then(|index| view.members.get(index).copied()), view.members.len())
        })?;
        member.map(PyMember).ok_or_else(|| no_member(device as i64, devices, PyIndexError::new_err))
    }
}

fn no_member(device: i64, devices: usize, error: impl FnOnce(String) -> PyErr) -> PyErr {
    error(format!("device {device}: there is no such member, expected 0 to {}", devices.saturating_sub(1)))
}

/// Which moment of UTC a simulated time stands for.
#[pyclass(frozen, module = "harmonia._native", name = "WallClock")]
pub(crate) struct PyWallClock(WallClock);

#[pymethods]
impl PyWallClock {
    fn utc(&self, now: u64) -> u64 {
        self.0.utc_ns(SimTime(now))
    }

    fn time_of_day(&self, now: u64) -> u64 {
        self.0.time_of_day_ns(SimTime(now))
    }

    fn next(&self, now: u64, time_of_day: u64) -> u64 {
        self.0.next(SimTime(now), time_of_day).0
    }

    fn __repr__(&self) -> String {
        format!("WallClock({})", format_utc(self.0.utc_ns(SimTime::ZERO)))
    }
}

/// What the controller knows of one member.
#[pyclass(frozen, module = "harmonia._native", name = "Member")]
pub(crate) struct PyMember(Delivered);

#[pymethods]
impl PyMember {
    #[getter]
    fn status(&self) -> Option<PyStatus> {
        self.0.status.map(PyStatus)
    }

    #[getter]
    fn as_of(&self) -> u64 {
        self.0.as_of.0
    }

    #[getter]
    fn capable(&self) -> bool {
        self.0.capable
    }

    #[getter]
    fn collecting(&self) -> bool {
        self.0.collecting
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// What an SSD told of itself.
#[pyclass(frozen, module = "harmonia._native", name = "Status")]
pub(crate) struct PyStatus(Status);

#[pymethods]
impl PyStatus {
    #[getter]
    fn free_min(&self) -> u32 {
        self.0.free_min
    }

    #[getter]
    fn free_total(&self) -> u64 {
        self.0.free_total
    }

    #[getter]
    fn below_soft(&self) -> bool {
        self.0.below_soft
    }

    #[getter]
    fn below_hard(&self) -> bool {
        self.0.below_hard
    }

    #[getter]
    fn gc_active(&self) -> bool {
        self.0.gc_active
    }

    #[getter]
    fn gc_remaining(&self) -> u64 {
        self.0.gc_remaining.0
    }

    #[getter]
    fn writes_until_hard(&self) -> u64 {
        self.0.writes_until_hard
    }

    #[getter]
    fn fragmentation(&self) -> f64 {
        self.0.fragmentation
    }

    #[getter]
    fn queue_depth(&self) -> u32 {
        self.0.queue_depth
    }

    #[getter]
    fn last_activity(&self) -> u64 {
        self.0.last_activity.0
    }

    #[getter]
    fn wear_mean(&self) -> f64 {
        self.0.wear_mean
    }

    #[getter]
    fn window(&self) -> &'static str {
        match self.0.window {
            Window::None => "none",
            Window::Deterministic => "deterministic",
            Window::NonDeterministic => "non-deterministic",
        }
    }

    #[getter]
    fn window_writes(&self) -> u64 {
        self.0.window_writes
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Collects what a coordinator wants done, in order, until the call ends.
#[pyclass(module = "harmonia._native", name = "Actions")]
pub(crate) struct PyActions {
    devices: usize,
    actions: Option<Vec<Action>>,
}

impl PyActions {
    pub(super) fn new(devices: usize, actions: Vec<Action>) -> Self {
        PyActions { devices, actions: Some(actions) }
    }

    pub(super) fn take(&mut self) -> Vec<Action> {
        self.actions.take().unwrap_or_default()
    }

    fn add(&mut self, action: Action) -> PyResult<()> {
        let over = || {
            PyRuntimeError::new_err(
                "the call that these actions belong to is over: to act later, set a timer and act when it rings",
            )
        };
        self.actions.as_mut().ok_or_else(over)?.push(action);
        Ok(())
    }

    fn member(&self, device: i64) -> PyResult<DeviceId> {
        match u16::try_from(device) {
            Ok(index) if usize::from(index) < self.devices => Ok(DeviceId(index)),
            _ => Err(no_member(device, self.devices, PyValueError::new_err)),
        }
    }
}

#[pymethods]
impl PyActions {
    #[pyo3(signature = (device, stop = "internal"))]
    fn force(&mut self, device: i64, stop: &str) -> PyResult<()> {
        let stop = match stop {
            "internal" => Stop::Internal,
            "all-reserve" => Stop::AllReserve,
            other => {
                return Err(PyValueError::new_err(format!(
                    "stop = {other:?}: expected \"internal\" or \"all-reserve\""
                )));
            }
        };
        self.add(Action::Force(self.member(device)?, stop))
    }

    fn hold(&mut self, device: i64) -> PyResult<()> {
        self.add(Action::Hold(self.member(device)?))
    }

    fn release(&mut self, device: i64) -> PyResult<()> {
        self.add(Action::Release(self.member(device)?))
    }

    fn query(&mut self, device: i64) -> PyResult<()> {
        self.add(Action::Query(self.member(device)?))
    }

    #[pyo3(signature = (at, number = 0))]
    fn timer(&mut self, at: u64, number: u64) -> PyResult<()> {
        self.add(Action::Timer(SimTime(at), number))
    }

    fn reserve(&mut self, device: i64) -> PyResult<()> {
        self.add(Action::Reserve(self.member(device)?))
    }

    fn end_reservation(&mut self, device: i64) -> PyResult<()> {
        self.add(Action::Return(self.member(device)?))
    }

    fn avoid(&mut self, device: i64) -> PyResult<()> {
        self.add(Action::Avoid(self.member(device)?))
    }

    #[pyo3(name = "use")]
    fn use_again(&mut self, device: i64) -> PyResult<()> {
        self.add(Action::Use(self.member(device)?))
    }

    fn window(&mut self, device: i64, begin: u64, end: u64) -> PyResult<()> {
        if begin >= end {
            return Err(PyValueError::new_err(format!(
                "a window from {begin} to {end}: expected an end after the begin"
            )));
        }
        self.add(Action::Window { device: self.member(device)?, from: SimTime(begin), until: SimTime(end) })
    }

    fn __repr__(&self) -> String {
        format!("Actions({:?})", self.actions.as_deref().unwrap_or_default())
    }
}
