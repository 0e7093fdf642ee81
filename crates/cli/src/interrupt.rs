//! Ctrl-C: the first asks the simulation to stop, the second ends the process.
//!
//! A signal belongs to the process, so this is the one place with a static; simulations get a reference to it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static ASKED: AtomicBool = AtomicBool::new(false);
static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

const EXIT_INTERRUPTED: i32 = 130;

/// Starts to listen for Ctrl-C; the flag turns true at the first one.
///
/// Commands that take no time do not call this and simply die of the signal.
pub(crate) fn watch() -> Result<&'static AtomicBool, Failure> {
    let install = || {
        ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::SeqCst) {
                std::process::exit(EXIT_INTERRUPTED);
            }
        })
        .map_err(|error| error.to_string())
    };
    match INSTALLED.get_or_init(install) {
        Ok(()) => Ok(&ASKED),
        Err(reason) => Err(Failure::Internal(format!("cannot listen for Ctrl-C: {reason}"))),
    }
}

/// Fails if Ctrl-C was pressed; asked before anything becomes visible to others.
pub(crate) fn check(cancel: &AtomicBool) -> Result<(), Failure> {
    if cancel.load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}
