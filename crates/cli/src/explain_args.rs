//! What a user may type behind `explain`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use clap_complete::engine::ArgValueCompleter;
use harmonia_run::tape::TapeWindow;
use harmonia_types::SimTime;
use harmonia_types::units::{parse_bytes, parse_duration};

use crate::args::Changes;
use crate::complete;

pub(crate) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  harmonia run hpc-w --out results && harmonia explain results
  harmonia explain results --request 1234
  harmonia explain hpc-w --slowest 3 --set array.coordination.policy=local
  harmonia explain results --page slowest.html                            # a link names a request: slowest.html#request-1234
  harmonia explain results --request 1234 --perfetto request.pftrace      # open it on ui.perfetto.dev
  harmonia explain results --slowest 100 --json | jq '.requests[].steps[].parts[] | select(.cause == \"queue_gc\")'

Each line is time that the request spent at one place, in the order of its way: the operations that it waited for last, one \
after the other. The lines of a request sum to its response time.

The run is simulated again from what it was made of, so that a result folder need not hold more than it does. A folder of \
another version of Harmonia is refused, and so is one whose trace has changed.";

/// Which requests are explained, and of which run.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("written").args(["perfetto", "page"]).multiple(true))]
pub(crate) struct ExplainArguments {
    /// A folder that `harmonia run --out` has written, a scenario file (TOML), or the name of a preset
    #[arg(value_name = "RESULT", add = ArgValueCompleter::new(complete::scenarios))]
    pub source: String,
    /// Explain the N slowest requests
    #[arg(long, value_name = "N", default_value_t = 10, conflicts_with = "request")]
    pub slowest: usize,
    /// Explain this request, by its number in the load, counted from 0
    #[arg(long, value_name = "N")]
    pub request: Option<u64>,
    /// Write what every die did around the slowest request, or the one that is asked for, as a trace of Perfetto
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write this window of simulated time instead, such as 1.33s..1.36s
    #[arg(long, value_name = "FROM..UNTIL", value_parser = parse_window, requires = "perfetto")]
    pub window: Option<TapeWindow>,
    /// Write a page (HTML) in which each of these requests can be opened, and linked to
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Replace the files that --perfetto and --page name
    #[arg(long, requires = "written")]
    pub force: bool,
    #[command(flatten)]
    pub changes: Changes,
    /// Threads to age with; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Age the array anew, and do not keep it; see `harmonia cache`
    #[arg(long)]
    pub no_cache: bool,
    /// Largest size of the cache of aged arrays [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "no_cache")]
    pub cache_limit: Option<u64>,
}

fn parse_window(text: &str) -> Result<TapeWindow, String> {
    let (from, until) = text
        .split_once("..")
        .ok_or_else(|| "it is not two times with .. between them, such as 1.33s..1.36s".to_owned())?;
    let at = |text: &str| parse_duration(text).map(|since| SimTime(since.as_ns()));
    let (from, until) = (at(from)?, at(until)?);
    if from >= until {
        return Err("it ends before it begins, or is empty".to_owned());
    }
    Ok(TapeWindow { from, until })
}
