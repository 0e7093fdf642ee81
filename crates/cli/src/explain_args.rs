//! What a user may type behind `explain`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use harmonia_scenario::TraceFile;
use harmonia_types::units::parse_bytes;

use crate::complete;
use crate::reading::Reading;

pub(crate) const EXPLAIN_EXAMPLES: &str = "\
Examples:
  harmonia run hpc-w --out results && harmonia explain results
  harmonia explain results --request 1234
  harmonia explain hpc-w --slowest 3 --set array.coordination.policy=local
  harmonia explain results --slowest 100 --json | jq '.requests[].steps[].parts[] | select(.cause == \"queue_gc\")'

Each line is time that the request spent at one place, in the order of its way: the operations that it waited for last, one \
after the other. The lines of a request sum to its response time.

The run is simulated again from what it was made of, so that a result folder need not hold more than it does. A folder of \
another version of Harmonia is refused, and so is one whose trace has changed.";

/// Which requests are explained, and of which run.
#[derive(Debug, Args)]
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
    /// Change a key of a scenario, as in `--set array.devices=4`
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::sets))]
    pub sets: Vec<String>,
    /// Replace the workload of a scenario by this block trace, as in `harmonia run`
    #[arg(long = "trace", value_name = "FILE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
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

impl ExplainArguments {
    /// The trace and how it is read, as the scenario crate takes them.
    pub(crate) fn trace(&self) -> Option<TraceFile> {
        let trace = TraceFile {
            paths: self.traces.clone(),
            format: self.reading.format.clone(),
            reading: self.reading.flags(),
        };
        (trace != TraceFile::default()).then_some(trace)
    }
}
