//! A thread that asks policies stays known to the interpreter until it ends.
//!
//! A thread that Python did not start gets a state when it attaches, and loses it when it detaches. That takes ten times as
//! long as a small question, because Python then maps and unmaps a stack for each. So the first question of a thread keeps
//! its state, detached, and the end of the thread gives it up.

use pyo3::ffi;

thread_local! {
    static STATE: Option<Kept> = Kept::new();
}

/// Makes this thread's state last, if it has none yet that does.
pub(super) fn stay() {
    STATE.with(|_| ());
}

/// A thread's state, which it is not attached to.
struct Kept {
    thread: *mut ffi::PyThreadState,
    before: ffi::PyGILState_STATE,
}

impl Kept {
    fn new() -> Option<Kept> {
        // SAFETY: the interpreter is there, because a policy of it is. What has no state is not attached, so it may attach;
        // and what has just attached may detach.
        unsafe {
            if !ffi::PyGILState_GetThisThreadState().is_null() {
                return None;
            }
            let before = ffi::PyGILState_Ensure();
            Some(Kept { thread: ffi::PyEval_SaveThread(), before })
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: this runs at the end of the thread whose state it is, which is detached between questions.
        unsafe {
            if ffi::Py_IsInitialized() != 0 {
                ffi::PyEval_RestoreThread(self.thread);
                ffi::PyGILState_Release(self.before);
            }
        }
    }
}
