//! What a user may type behind `explain`.

use std::num::NonZeroUsize;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use harmonia_types::units::parse_bytes;

use crate::args::Changes;
use crate::complete;

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
