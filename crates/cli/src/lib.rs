//! The `harmonia` command line.
//!
//! ```text
//!   arguments --> args --> commands --> scenario crate (load, sweep, run, compare)
//!                             |                  |
//!                progress, interrupt           Report
//!                  (stderr)                      |
//!                             .------------------+-------------------.
//!                             v                  v                   v
//!                       tables (stdout)    --json (stdout)   files (--out): report.json,
//!                                                            scenario.toml, report.html
//! ```
//!
//! What must hold: data goes to stdout and everything else to stderr; a file is written whole or not at all; bad
//! input exits with 2 and one message, Ctrl-C with 130, a defect with 1; a reader that went away ends quietly.
//!
//! Nothing here simulates, and no number is computed here that is not a ratio of two numbers of the report.

mod args;
mod columns;
mod commands;
mod complete;
mod explain_args;
mod failure;
mod files;
mod interrupt;
mod output;
mod progress;
mod reading;
mod sweep_args;

use std::ffi::OsString;

use clap::Parser;

use args::Arguments;
pub use commands::fitted;
use output::Output;

/// Runs the command with these arguments, the first being the program's name; the answer is its exit status.
///
/// 0: done; 1: a defect of Harmonia; 2: bad input; 130: interrupted by Ctrl-C; 129, 143: by SIGHUP, SIGTERM.
pub fn run_cli<I>(arguments: I) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString> + Clone,
{
    interrupt::survive_file_size_limit();
    let words: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let parsed = match complete::answer(&words) {
        Ok(true) => return 0,
        Ok(false) => Arguments::try_parse_from(words),
        Err(usage) => Err(usage),
    };
    let (output, result) = match parsed {
        Ok(arguments) => {
            let output = Output::new(arguments.color, arguments.quiet, arguments.verbose);
            let result = commands::run(arguments, &output);
            (output, result)
        }
        Err(usage) => {
            let output = Output::new(args::ColorChoice::Auto, false, 0);
            let result = output.usage(&usage);
            (output, result)
        }
    };
    match result {
        Ok(()) => 0,
        Err(failure) => {
            output.failure(&failure);
            failure.status()
        }
    }
}
