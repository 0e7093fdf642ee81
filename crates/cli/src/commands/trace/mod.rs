//! `harmonia trace ...`: what block traces hold, and what else can be made of them.
//!
//! ```text
//!   TraceReading (args) --> TraceOptions --> Trace --.--> info      a summary, warnings
//!                                                    |--> head      the first records
//!                                                    |--> convert   another format
//!                                                    '--> fit       a synthetic scenario
//! ```

mod convert;
mod fit;
mod head;
mod info;

pub use fit::fitted;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use harmonia_tables::numbers::count;
use harmonia_trace::ReadLog;
use harmonia_trace::{Trace, TraceError};
use harmonia_types::units::format_duration;

use crate::args::{TraceCommand, TraceReading};
use crate::failure::Failure;
use crate::files::{self, ResultFile, shown};
use crate::interrupt;
use crate::output::Output;
use crate::progress::Bytes;

/// Carries out what was typed behind `harmonia trace`.
pub(crate) fn run(command: &TraceCommand, no_progress: bool, output: &Output) -> Result<(), Failure> {
    match command {
        TraceCommand::Info { reading, json } => {
            info::info(&Session::open(reading, no_progress, output)?, *json, output)
        }
        TraceCommand::Head { reading, count, json } => {
            head::head(&Session::open(reading, no_progress, output)?, *count, *json, output)
        }
        TraceCommand::Convert { reading, target } => convert::convert(reading, target, no_progress, output),
        TraceCommand::Fit { reading, options } => fit::fit(reading, options, no_progress, output),
    }
}

/// A trace that is open, Ctrl-C, and a bar for whoever waits.
struct Session {
    trace: Trace,
    cancel: &'static AtomicBool,
    shows_progress: bool,
}

impl Session {
    /// Opens the trace and says what format was found in it, if it was not named.
    fn open(reading: &TraceReading, no_progress: bool, output: &Output) -> Result<Self, Failure> {
        if let (Some(start), Some(end)) = (reading.reading.start, reading.reading.end)
            && start >= end
        {
            let (start, end) = (format_duration(start), format_duration(end));
            return Err(Failure::BadInput(format!("--start {start}: is not before --end {end}")));
        }
        let trace = Trace::open(&reading.files, &reading.reading.options()).map_err(bad_input)?;
        if let Some(decision) = trace.decision() {
            output.notice(&decision);
        }
        let cancel = interrupt::watch()?;
        Ok(Session { trace, cancel, shows_progress: output.shows_progress() && !no_progress })
    }

    /// The file to write, which is none of those that are read: it would take the place of what it was made from.
    fn create(&self, reading: &TraceReading, out: &Path, force: bool) -> Result<ResultFile, Failure> {
        // Both as they were named and as patterns were expanded: names of files need not be text.
        let named = reading.files.iter().map(PathBuf::as_path);
        if named.chain(self.trace.files().map(Path::new)).any(|input| files::same(input, out)) {
            let problem = "is one of the files that are read: name another";
            return Err(Failure::BadInput(format!("--out {}: {problem}", shown(out))));
        }
        ResultFile::create("--out", out, force)
    }

    /// Lets `read` read the trace: what it is given says whether to go on, and moves the bar.
    fn reading<T>(&self, read: impl FnOnce(&Trace, &mut dyn FnMut(u64) -> bool) -> T) -> T {
        let (_, total) = self.trace.progress_bytes();
        let bar = self.shows_progress.then(|| Bytes::new(total)).flatten();
        let mut go_on = |rows: u64| {
            if let Some(bar) = &bar {
                bar.advance(self.trace.progress_bytes().0, rows);
            }
            !self.cancel.load(Ordering::SeqCst)
        };
        read(&self.trace, &mut go_on)
    }
}

/// What cannot be read is the input's fault.
fn bad_input(error: TraceError) -> Failure {
    Failure::BadInput(error.to_string())
}

/// What was done in reading beside reading: one line each, (what, how often and why).
fn log_lines(log: &ReadLog) -> Vec<(&'static str, String)> {
    let noted = |name, list: &[harmonia_trace::Noted]| {
        let line = |noted: &harmonia_trace::Noted| (name, format!("{}: {}", count(noted.rows), noted.reason));
        list.iter().map(line).collect::<Vec<_>>()
    };
    let mut lines = noted("passed over", &log.skipped);
    lines.extend(noted("mended", &log.repaired));
    if log.bad > 0 {
        let first = log.bad_examples.first().map(String::as_str).unwrap_or_default();
        lines.push(("bad rows", format!("{} tolerated, the first: {first}", count(log.bad))));
    }
    lines
}
