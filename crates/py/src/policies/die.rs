//! A die as a schedule written in Python sees it. Methods of the view make its decisions.

use harmonia_ssd::gc::schedule::{Class, Decision, DieView, Gc, GcJob, GcPhase, Queued, Running, Work};
use harmonia_types::SimTime;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;

use super::decision::{Question, cannot};
use super::lent::{Lend, Lender, Lent};
use super::time;

/// A [`Question`].
pub(crate) struct Asked;

impl Lend for Asked {
    type Of<'a> = Question<'a>;
}

/// A die, idle unless it is asked whether to suspend what runs.
#[pyclass(frozen, module = "harmonia._native", name = "DieView")]
pub(crate) struct PyDieView(Lent<Asked>);

impl Lender for PyDieView {
    type Kind = Asked;

    fn new(lent: Lent<Asked>) -> Self {
        PyDieView(lent)
    }

    fn lent(&self) -> &Lent<Asked> {
        &self.0
    }
}

impl PyDieView {
    /// A decision, if it is possible.
    fn decide(&self, decide: impl FnOnce(&Question<'_>) -> PyResult<Decision>) -> PyResult<PyDecision> {
        self.0.with(|asked| decide(asked).map(|decision| PyDecision { question: asked.number, decision }))?
    }

    /// An operation that is looked for in the queues.
    fn find(&self, find: impl FnOnce(&DieView<'_>) -> Option<Queued>) -> PyResult<Option<PyQueued>> {
        self.0.with(|asked| {
            sees_queues(asked)?;
            Ok(find(asked.view).map(|queued| PyQueued { question: asked.number, queued }))
        })?
    }
}

fn sees_queues(asked: &Question<'_>) -> PyResult<()> {
    match asked.needs.queues {
        true => Ok(()),
        false => Err(PyValueError::new_err(
            "a schedule that looks into the queues says so: needs() returns {\"queues\": True}",
        )),
    }
}

fn class_of(kind: &str) -> PyResult<Class> {
    match kind {
        "read" => Ok(Class::Read),
        "write" => Ok(Class::Write),
        other => Err(PyValueError::new_err(format!("kind = {other:?}: expected \"read\" or \"write\""))),
    }
}

#[pymethods]
impl PyDieView {
    #[getter]
    fn head(&self) -> PyResult<Option<PyQueued>> {
        self.0.with(|asked| asked.view.head.map(|queued| PyQueued { question: asked.number, queued }))
    }

    #[getter]
    fn gc(&self) -> PyResult<PyGc> {
        self.0.with(|asked| PyGc(asked.view.gc))
    }

    #[getter]
    fn running(&self) -> PyResult<Option<PyRunning>> {
        self.0.with(|asked| asked.view.running.map(PyRunning))
    }

    #[getter]
    fn suspended(&self) -> PyResult<Option<PyRunning>> {
        self.0.with(|asked| asked.view.suspended.map(PyRunning))
    }

    #[getter]
    fn free(&self) -> PyResult<u32> {
        self.0.with(|asked| asked.view.free)
    }

    #[getter]
    fn hard(&self) -> PyResult<u32> {
        self.0.with(|asked| asked.view.hard)
    }

    #[getter]
    fn soft(&self) -> PyResult<u32> {
        self.0.with(|asked| asked.view.soft)
    }

    #[getter]
    fn planes(&self) -> PyResult<u32> {
        self.0.with(|asked| asked.view.planes)
    }

    #[getter]
    fn multi_plane(&self) -> PyResult<bool> {
        self.0.with(|asked| asked.view.multi_plane)
    }

    #[getter]
    fn bus_free_at(&self) -> PyResult<Option<u64>> {
        self.0.with(|asked| time(asked.view.bus_free_at))
    }

    fn waiting(&self, kind: &str) -> PyResult<usize> {
        let class = class_of(kind)?;
        self.0.with(|asked| sees_queues(asked).map(|()| asked.view.queues.len(class)))?
    }

    fn first(&self, kind: &str) -> PyResult<Option<PyQueued>> {
        let class = class_of(kind)?;
        self.find(|view| view.queues.first(class))
    }

    fn find_read(&self, plane: u32, page: u32) -> PyResult<Option<PyQueued>> {
        self.find(|view| if plane < view.planes { view.queues.find_read(plane, page) } else { None })
    }

    fn first_write(&self, plane: u32) -> PyResult<Option<PyQueued>> {
        self.find(|view| if plane < view.planes { view.queues.first_write(plane) } else { None })
    }

    fn each_waiting(&self) -> PyResult<Vec<(PyQueued, u64, u64)>> {
        self.0.with(|asked| {
            sees_queues(asked)?;
            let mut waiting = Vec::new();
            asked.view.queues.each_waiting(&mut |queued, Work { die, link }| {
                waiting.push((PyQueued { question: asked.number, queued }, die.0, link.0));
                true
            });
            Ok(waiting)
        })?
    }

    fn step_time(&self) -> PyResult<Option<u64>> {
        self.0.with(|asked| match asked.view.gc {
            Gc::Idle => None,
            Gc::Wanted { .. } => Some(asked.view.queues.step(None).die.0),
            Gc::Job(job) => match job.phase {
                GcPhase::Choose | GcPhase::Away => None,
                _ => Some(asked.view.queues.step(Some(&job)).die.0),
            },
        })
    }

    fn serve_head(&self) -> PyResult<PyDecision> {
        self.decide(|asked| match asked.view.head {
            None => asked.wait(SimTime::NEVER),
            Some(head) if head.ready > asked.now => asked.wait(head.ready),
            Some(queued) => asked.serve(&PyQueued { question: asked.number, queued }, false),
        })
    }

    #[pyo3(signature = (operation, *, alone = false))]
    fn serve(&self, operation: &PyQueued, alone: bool) -> PyResult<PyDecision> {
        self.decide(|asked| asked.serve(operation, alone))
    }

    #[pyo3(signature = (until = None))]
    fn wait(&self, until: Option<u64>) -> PyResult<PyDecision> {
        self.decide(|asked| asked.wait(until.map_or(SimTime::NEVER, SimTime)))
    }

    #[pyo3(signature = (*, pairs = false))]
    fn gc_step(&self, pairs: bool) -> PyResult<PyDecision> {
        self.decide(|asked| asked.gc_step(pairs))
    }

    fn gc_move(&self) -> PyResult<PyDecision> {
        self.decide(|asked| asked.gc_move())
    }

    fn erase(&self) -> PyResult<PyDecision> {
        self.decide(|asked| asked.erase())
    }

    #[pyo3(signature = (*, instant = false))]
    fn collect(&self, instant: bool) -> PyResult<PyDecision> {
        self.decide(|asked| asked.collect(instant))
    }

    fn suspend(&self) -> PyResult<PyDecision> {
        self.decide(|asked| match asked.view.running {
            _ if !asked.needs.suspend => cannot("needs() has to return \"suspend\": True for that"),
            Some(running) if running.suspendable => Ok(Decision::Suspend),
            _ => cannot("nothing that could be suspended runs"),
        })
    }

    fn resume(&self) -> PyResult<PyDecision> {
        self.decide(|asked| match (asked.view.running, asked.view.suspended) {
            (None, Some(_)) => Ok(Decision::Resume),
            _ => cannot("nothing is suspended"),
        })
    }
}

/// An operation that waits in the queue of a die.
#[pyclass(frozen, module = "harmonia._native", name = "Queued")]
pub(crate) struct PyQueued {
    pub(super) question: u64,
    pub(super) queued: Queued,
}

#[pymethods]
impl PyQueued {
    #[getter]
    fn kind(&self) -> &'static str {
        match self.queued.class {
            Class::Read => "read",
            Class::Write => "write",
        }
    }

    #[getter]
    fn ready(&self) -> u64 {
        self.queued.ready.0
    }

    #[getter]
    fn deadline(&self) -> Option<u64> {
        self.queued.deadline.and_then(time)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.queued)
    }
}

/// What a die is told to do.
#[pyclass(frozen, module = "harmonia._native", name = "Decision")]
pub(crate) struct PyDecision {
    question: u64,
    decision: Decision,
}

impl PyDecision {
    /// It, if it is an answer to this question.
    pub(super) fn of(&self, question: u64) -> Option<Decision> {
        (self.question == question).then_some(self.decision)
    }
}

#[pymethods]
impl PyDecision {
    fn __repr__(&self) -> String {
        format!("{:?}", self.decision)
    }
}

/// A command that runs or is suspended.
#[pyclass(frozen, module = "harmonia._native", name = "Running")]
pub(crate) struct PyRunning(Running);

#[pymethods]
impl PyRunning {
    #[getter]
    fn ends(&self) -> u64 {
        self.0.ends.0
    }

    #[getter]
    fn remaining(&self) -> u64 {
        self.0.remaining.0
    }

    #[getter]
    fn suspendable(&self) -> bool {
        self.0.suspendable
    }
}

/// Where the garbage collection of a die stands.
#[pyclass(frozen, module = "harmonia._native", name = "Gc")]
pub(crate) struct PyGc(Gc);

impl PyGc {
    fn job(&self, name: &str) -> PyResult<GcJob> {
        match self.0 {
            Gc::Job(job) => Ok(job),
            _ => Err(PyAttributeError::new_err(format!(
                "collection that is `{}` has no `{name}`: it is there while the state is `job`",
                self.state()
            ))),
        }
    }
}

#[pymethods]
impl PyGc {
    #[getter]
    fn state(&self) -> &'static str {
        match self.0 {
            Gc::Idle => "idle",
            Gc::Wanted { .. } => "wanted",
            Gc::Job(_) => "job",
        }
    }

    #[getter]
    fn hard(&self) -> bool {
        match self.0 {
            Gc::Idle => false,
            Gc::Wanted { hard, .. } => hard,
            Gc::Job(job) => job.hard,
        }
    }

    #[getter]
    fn moves_use_bus(&self) -> bool {
        matches!(self.0, Gc::Wanted { moves_use_bus: true, .. })
    }

    #[getter]
    fn phase(&self) -> PyResult<&'static str> {
        self.job("phase").map(|job| match job.phase {
            GcPhase::Choose => "choose",
            GcPhase::Read => "read",
            GcPhase::Program => "program",
            GcPhase::Away => "away",
            GcPhase::Erase => "erase",
        })
    }

    #[getter]
    fn pinned(&self) -> bool {
        matches!(self.0, Gc::Job(GcJob { pinned: true, .. }))
    }

    #[getter]
    fn unit(&self) -> PyResult<u32> {
        self.job("unit").map(|job| job.unit)
    }

    #[getter]
    fn victim(&self) -> PyResult<u32> {
        self.job("victim").map(|job| job.victim)
    }

    #[getter]
    fn cursor(&self) -> PyResult<u32> {
        self.job("cursor").map(|job| job.cursor)
    }

    #[getter]
    fn source_plane(&self) -> PyResult<u32> {
        self.job("source_plane").map(|job| job.source_plane)
    }

    #[getter]
    fn destination(&self) -> PyResult<(u32, u32)> {
        self.job("destination").map(|job| job.destination)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
