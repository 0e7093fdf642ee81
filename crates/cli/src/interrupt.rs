//! Being asked to stop: the first signal asks the simulation to, the second ends the process.
//!
//! Ctrl-C, `kill` and a terminal that goes away are the same request. Whoever stops because of it does so in order, so
//! that files under temporary names go. A signal belongs to the process, so this is the one place with statics;
//! simulations get a reference to one.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;

static ASKED: AtomicBool = AtomicBool::new(false);
/// The signal that asked first; 0 before.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

/// What shells add to a signal to make it an exit status.
const BY_SIGNAL: i32 = 128;

/// Starts to listen for signals; the flag turns true at the first one.
///
/// Commands that take no time and write no file do not call this and simply die of the signal.
pub(crate) fn watch() -> Result<&'static AtomicBool, Failure> {
    match INSTALLED.get_or_init(|| listen().map_err(|error| error.to_string())) {
        Ok(()) => Ok(&ASKED),
        Err(reason) => Err(Failure::Internal(format!("cannot listen for Ctrl-C: {reason}"))),
    }
}

fn listen() -> io::Result<()> {
    let mut wanted = vec![SIGINT, SIGTERM];
    // Ignored under nohup, which means that the command should outlive its terminal.
    if !is_ignored(SIGHUP) {
        wanted.push(SIGHUP);
    }
    let mut signals = Signals::new(wanted)?;
    let wait = move || {
        for signal in signals.forever() {
            if SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                std::process::exit(BY_SIGNAL + signal);
            }
            ASKED.store(true, Ordering::SeqCst);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a valid `sigaction`; without a new action the call only fills in the old one.
    let (asked, action) = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut action), action)
    };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Fails if somebody asked to stop; asked before anything becomes visible to others.
pub(crate) fn check(cancel: &AtomicBool) -> Result<(), Failure> {
    if cancel.load(Ordering::SeqCst) { Err(Failure::Interrupted) } else { Ok(()) }
}

/// The exit status of a command that was asked to stop: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
pub(crate) fn status() -> u8 {
    let signal = match SIGNAL.load(Ordering::SeqCst) {
        0 => SIGINT,
        signal => signal,
    };
    u8::try_from(BY_SIGNAL + signal).unwrap_or(u8::MAX)
}

/// From now on a write beyond the limit on the size of files (`ulimit -f`) fails as one on a full disk does, instead of
/// ending the process where it stands.
pub(crate) fn survive_file_size_limit() {
    // With any handler the write goes on to fail. If there can be none all is as it was.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
