//! A victim policy written in Python, and the allocation unit as it sees it.

use std::cell::RefCell;

use harmonia_engine::Rng;
use harmonia_ssd::block::{BlockId, valid_of};
use harmonia_ssd::gc::victim::{POLICIES, Victim, VictimView};
use harmonia_types::registry::Parameters;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyType};

use super::known::for_ever;
use super::lent::{Lend, Lender, Lent, lend};
use super::object::Object;
use super::time;

/// A [`VictimView`].
pub(crate) struct Unit;

impl Lend for Unit {
    type Of<'a> = VictimView<'a>;
}

/// The blocks of one allocation unit.
#[pyclass(frozen, module = "harmonia._native", name = "VictimView")]
pub(crate) struct PyVictimView(Lent<Unit>);

impl Lender for PyVictimView {
    type Kind = Unit;

    fn new(lent: Lent<Unit>) -> Self {
        PyVictimView(lent)
    }

    fn lent(&self) -> &Lent<Unit> {
        &self.0
    }
}

/// Whether a unit has this block.
fn known(view: &VictimView<'_>, block: u32) -> PyResult<BlockId> {
    let blocks = view.blocks.entries.len();
    match (block as usize) < blocks {
        true => Ok(BlockId(block)),
        false => Err(PyIndexError::new_err(format!(
            "block {block}: there is no such block, expected 0 to {}",
            blocks.saturating_sub(1)
        ))),
    }
}

/// Numbers by block as one memory view, which NumPy takes as it is.
fn column<'py>(py: Python<'py>, bytes: &[u8], form: &str) -> PyResult<Bound<'py, PyAny>> {
    let view = PyMemoryView::from(PyBytes::new(py, bytes).as_any())?;
    view.call_method1(intern!(py, "cast"), (form,))
}

fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

#[pymethods]
impl PyVictimView {
    #[getter]
    fn now(&self) -> PyResult<Option<u64>> {
        self.0.with(|view| time(view.now))
    }

    #[getter]
    fn data_pages(&self) -> PyResult<u32> {
        self.0.with(|view| view.blocks.data_pages)
    }

    fn __len__(&self) -> PyResult<usize> {
        self.0.with(|view| view.blocks.entries.len())
    }

    fn fewest_valid(&self) -> PyResult<Option<(u32, u32)>> {
        self.0.with(|view| view.blocks.fewest_valid().map(|(block, valid)| (block.0, valid)))
    }

    fn all_fewest(&self) -> PyResult<Vec<u32>> {
        self.0.with(|view| view.blocks.all_fewest().map(|block| block.0).collect())
    }

    fn random_closed(&self, rng: &PyRandom) -> PyResult<Option<u32>> {
        self.0.with(|view| {
            rng.0.with(|rng| view.blocks.random_closed(&mut rng.borrow_mut()).map(|block| block.0))
        })?
    }

    fn closed(&self) -> PyResult<Vec<u32>> {
        self.0.with(|view| {
            let closed = view.blocks.ids().filter(|&block| view.blocks.closed_valid(block).is_some());
            closed.map(|block| block.0).collect()
        })
    }

    fn closed_valid(&self, block: u32) -> PyResult<Option<u32>> {
        self.0.with(|view| known(view, block).map(|block| view.blocks.closed_valid(block)))?
    }

    #[getter]
    fn valid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes: Vec<u8> = self.0.with(|view| {
            let valid = view.blocks.entries.iter().map(|&entry| valid_of(entry));
            valid.flat_map(u32::to_ne_bytes).collect()
        })?;
        column(py, &bytes, "I")
    }

    #[getter]
    fn erases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.0.with(|view| bytes_of(view.blocks.erases))?;
        column(py, &bytes, "I")
    }

    #[getter]
    fn closed_at<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.0.with(|view| bytes_of(view.blocks.closed_at))?;
        column(py, &bytes, "I")
    }

    fn plane_of(&self, block: u32) -> PyResult<u32> {
        self.0.with(|view| known(view, block).map(|block| view.planes.of(block)))?
    }

    fn is_valid(&self, block: u32, page: u32) -> PyResult<bool> {
        self.0.with(|view| {
            let block = known(view, block)?;
            let pages = view.blocks.data_pages;
            if page >= pages {
                let why = format!("page {page}: there is no such data page, expected 0 to {}", pages - 1);
                return Err(PyIndexError::new_err(why));
            }
            Ok(view.valid.is_valid(block, page))
        })?
    }

    fn queued_reads(&self) -> PyResult<Vec<(u32, u32)>> {
        self.0.with(|view| {
            let mut reads = Vec::new();
            view.queued_reads.for_each(&mut |plane, page| reads.push((plane, page)));
            reads
        })
    }
}

/// An [`Rng`].
pub(crate) struct Stream;

impl Lend for Stream {
    type Of<'a> = RefCell<&'a mut Rng>;
}

/// The random stream of a unit.
#[pyclass(frozen, module = "harmonia._native", name = "Random")]
pub(crate) struct PyRandom(Lent<Stream>);

impl Lender for PyRandom {
    type Kind = Stream;

    fn new(lent: Lent<Stream>) -> Self {
        PyRandom(lent)
    }

    fn lent(&self) -> &Lent<Stream> {
        &self.0
    }
}

#[pymethods]
impl PyRandom {
    fn below(&self, bound: u64) -> PyResult<u64> {
        if bound == 0 {
            return Err(PyValueError::new_err(
                "bound = 0: expected 1 or more, numbers are from 0 to below it",
            ));
        }
        self.0.with(|rng| rng.borrow_mut().below(bound))
    }

    fn unit(&self) -> PyResult<f64> {
        self.0.with(|rng| rng.borrow_mut().unit())
    }

    fn chance(&self, p: f64) -> PyResult<bool> {
        self.0.with(|rng| rng.borrow_mut().chance(p))
    }
}

/// A victim policy whose choices are made by an object.
#[derive(Clone)]
pub(super) struct PyVictim {
    object: Object,
    may_take_full: bool,
    uses_reads: bool,
    ages_as: Option<&'static str>,
}

impl PyVictim {
    pub fn make(class: &Bound<'_, PyType>, parameters: &Parameters<'_>) -> PyResult<Self> {
        let py = class.py();
        let object = Object::make(class, parameters.own, &[])?;
        let ages_as: Option<String> =
            object.attribute(py, "ages_as", "None or the name of a built-in victim policy")?;
        if let Some(name) = ages_as.as_deref().filter(|name| !POLICIES.is_built_in(name)) {
            let known: Vec<&str> = POLICIES.names().filter(|name| POLICIES.is_built_in(name)).collect();
            let why = format!("ages_as is {name:?}, expected None or one of {}", known.join(", "));
            return Err(PyValueError::new_err(why));
        }
        Ok(PyVictim {
            may_take_full: object.attribute(py, "may_take_full", "True or False")?,
            uses_reads: object.attribute(py, "uses_reads", "True or False")?,
            ages_as: ages_as.map(|name| for_ever(&name)),
            object,
        })
    }

    /// The block that was answered, if it can be collected.
    fn collectable(&self, view: &VictimView<'_>, answer: &Bound<'_, PyAny>) -> PyResult<Option<BlockId>> {
        let expected = "the number of a closed block or None";
        let block: Option<u32> =
            answer.extract().map_err(|_| self.object.wrong(answer, "choose", expected))?;
        let Some(block) = block else { return Ok(None) };
        let block = known(view, block)?;
        match view.blocks.closed_valid(block) {
            None => Err(PyValueError::new_err(format!(
                "{}.choose returned block {}, which is not closed, expected one of view.closed() or None",
                self.object.class, block.0
            ))),
            Some(valid) if valid == view.blocks.data_pages && !self.may_take_full => {
                Err(PyValueError::new_err(format!(
                    "{}.choose returned block {}, which has no invalid page, expected another block, or None where \
                     collecting none would free a page, or a policy with may_take_full = True",
                    self.object.class, block.0
                )))
            }
            Some(_) => Ok(Some(block)),
        }
    }
}

impl Victim for PyVictim {
    fn choose(&self, view: &VictimView<'_>, rng: &mut Rng) -> Option<BlockId> {
        self.object.ask("choose", Some(view.now), |object| {
            let py = object.py();
            let rng = RefCell::new(rng);
            let answer = lend::<PyVictimView, _>(py, view, |lent| {
                lend::<PyRandom, _>(py, &rng, |rng| object.call_method1(intern!(py, "choose"), (lent, rng)))
            });
            self.collectable(view, &answer?)
        })
    }

    fn may_take_full(&self) -> bool {
        self.may_take_full
    }

    fn uses_reads(&self) -> bool {
        self.uses_reads
    }

    fn ages_as(&self) -> Option<&'static str> {
        self.ages_as
    }
}
