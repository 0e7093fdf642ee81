//! What Python may look at for the time of one call: a view borrows from the simulator, and a Python object can be kept.
//!
//! A [`Lent`] is a pointer that is cleared when the call ends. Whoever looks through it later is told so by an exception.
//! Only the thread that made the call can look: it cannot leave the call meanwhile. All unsafe code for that is here.

use std::cell::Cell;
use std::ptr::NonNull;
use std::thread::{self, ThreadId};

use pyo3::PyClass;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

/// A type with a lifetime, which it has while it is lent.
pub(super) trait Lend: 'static {
    type Of<'a>;
}

/// What is lent, until the call ends.
pub(super) struct Lent<K: Lend> {
    lent: Cell<Option<NonNull<K::Of<'static>>>>,
    borrower: ThreadId,
}

// SAFETY: only the thread that made it looks at the cell or through the pointer, as `with` and `take_back` see to.
unsafe impl<K: Lend> Send for Lent<K> {}
// SAFETY: as above.
unsafe impl<K: Lend> Sync for Lent<K> {}

impl<K: Lend> Lent<K> {
    fn new(value: &K::Of<'_>) -> Self {
        let lent = NonNull::from(value).cast::<K::Of<'static>>();
        Lent { lent: Cell::new(Some(lent)), borrower: thread::current().id() }
    }

    /// Looks at it.
    pub fn with<R>(&self, look: impl for<'a> FnOnce(&'a K::Of<'a>) -> R) -> PyResult<R> {
        let lent = if thread::current().id() == self.borrower { self.lent.get() } else { None };
        match lent {
            // SAFETY: `lend` clears the pointer before its borrow ends, on this very thread, which is in here meanwhile. The
            // value is as old as its borrow, and `look` learns of no longer one.
            Some(lent) => Ok(look(unsafe { lent.cast::<K::Of<'_>>().as_ref() })),
            None => Err(PyRuntimeError::new_err(
                "a view shows one moment and is gone with the call that it was made for: keep what is needed of it, not the view",
            )),
        }
    }
}

/// Clears a pointer, also if the call panics.
struct TakeBack<'a, K: Lend>(&'a Lent<K>);

impl<K: Lend> Drop for TakeBack<'_, K> {
    fn drop(&mut self) {
        self.0.lent.set(None);
    }
}

/// A Python class that lends.
pub(super) trait Lender: PyClass<Frozen = True> + Sync + Into<PyClassInitializer<Self>> {
    type Kind: Lend;
    fn new(lent: Lent<Self::Kind>) -> Self;
    fn lent(&self) -> &Lent<Self::Kind>;
}

/// Lends `value` in an object of class `W` as long as `call` takes.
pub(super) fn lend<'py, W: Lender, R>(
    py: Python<'py>,
    value: &<W::Kind as Lend>::Of<'_>,
    call: impl FnOnce(&Bound<'py, W>) -> PyResult<R>,
) -> PyResult<R> {
    let object = Bound::new(py, W::new(Lent::new(value)))?;
    let _until_the_end = TakeBack(object.get().lent());
    call(&object)
}
