//! Runs on a thread of their own, while the calling thread listens for signals without holding the interpreter.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use harmonia_run::{AgedCache, RunError, RunOptions};
use pyo3::prelude::*;

use crate::errors;
use crate::policies::raised::stopped;

/// How often signals are looked for.
const LISTEN: Duration = Duration::from_millis(100);

/// Does `work` without the interpreter lock; a signal whose handler raises cancels it and becomes the result.
pub(crate) fn interruptibly<T: Send>(
    py: Python<'_>,
    threads: usize,
    checked: bool,
    cache: Option<String>,
    work: impl FnOnce(&RunOptions<'_>) -> Result<T, RunError> + Send,
) -> PyResult<T> {
    let cancel = AtomicBool::new(false);
    let cache = cache.map(|folder| AgedCache::new(folder.into(), AgedCache::MOST_BYTES));
    let options = RunOptions {
        threads: threads.max(1),
        checked,
        cancel: &cancel,
        cache: cache.as_ref(),
        ..RunOptions::default()
    };
    let (result, signal) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, done) = channel();
            let worker = scope.spawn(|| {
                let result = work(&options);
                let _ = sender.send(());
                drop(sender);
                result
            });
            let mut signal = None;
            while let Err(RecvTimeoutError::Timeout) = done.recv_timeout(LISTEN) {
                if signal.is_none() {
                    signal = Python::attach(|py| py.check_signals()).err();
                    cancel.store(signal.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join(), signal)
        })
    });
    match (signal, result) {
        (Some(raised), _) => Err(raised),
        (None, Ok(result)) => result.map_err(|error| errors::run_error(py, &error)),
        (None, Err(panic)) => Err(stopped(panic)),
    }
}
