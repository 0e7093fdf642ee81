//! What a user may type behind `sweep`, `results` and `diff`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use harmonia_sweep::Shard;
use harmonia_types::units::parse_bytes;

pub(crate) const SWEEP_EXAMPLES: &str = "\
Examples:
  harmonia sweep examples/sweeps/thresholds.toml --out results
  harmonia sweep sweep.toml --out results --shard 3/20      a twentieth of it, on one of 20 machines
  harmonia sweep sweep.toml --out results --point 17        one point
  harmonia sweep sweep.toml --out results --commands | xargs -P 8 -I{} sh -c '{}'

FILE (TOML) names a scenario, what is fixed in it ([set]), what is varied ([axes] or [[point]]), policies and seeds. \
docs/sweeps.md describes it.

Each point is one run: a combination of values, a policy and a seed. Its result is a file of the folder, called after a \
hash of the resolved scenario, the seed, the version and the trace. Results that are there are not run again. Folders are \
merged by copying the files of one into the other. At the end of a whole sweep the folder has them all as a table, \
results.parquet.";

pub(crate) const RESULTS_EXAMPLES: &str = "\
Examples:
  harmonia results ls results
  harmonia results show results 0c3f
  harmonia results export results --out table.parquet
  duckdb -c \"select policy, avg(p99_ns) from 'results/results.parquet' group by policy\"";

pub(crate) const DIFF_EXAMPLES: &str = "\
Examples:
  harmonia diff before.json after.json
  harmonia diff results/0c3f results/97aa
  harmonia diff monday tuesday --json

A and B are reports or comparisons (what --json prints, or a folder that --out wrote), folders of sweeps, or one result of \
such a folder. Runs of the same name are compared. Where both sides have the same seeds, the difference is judged seed by \
seed.";

/// What is swept, which part of it, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// The sweep file (TOML)
    pub file: PathBuf,
    /// The folder of results, one file a point; it is made if it is missing
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Change a key of the scenario in all points; the sweep must not vary it
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub sets: Vec<String>,
    /// Run only these points, counted from 0
    #[arg(long = "point", value_name = "N,..", value_delimiter = ',', conflicts_with = "shard")]
    pub points: Vec<usize>,
    /// Run only one of several parts of equal size, such as 3/20
    #[arg(long, value_name = "PART/PARTS")]
    pub shard: Option<Shard>,
    /// Print a command for each point whose result is missing, and run nothing; with --json also what each point is
    #[arg(long)]
    pub commands: bool,
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Check every invariant at every event (slow)
    #[arg(long)]
    pub checked: bool,
    /// Print what was done as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Age arrays anew, and do not keep them; see `harmonia cache`
    #[arg(long)]
    pub no_cache: bool,
    /// Largest size of the cache of aged arrays [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "no_cache")]
    pub cache_limit: Option<u64>,
}

/// `harmonia results ...`
#[derive(Debug, Subcommand)]
pub(crate) enum ResultsCommand {
    /// List the results of a folder, one a line
    #[command(after_help = "Examples:\n  harmonia results ls results\n  harmonia results ls results --json")]
    Ls {
        /// The folder of results
        folder: PathBuf,
        /// Print JSON: a list of rows with all columns of the exported table
        #[arg(long)]
        json: bool,
    },
    /// Show one result
    #[command(
        after_help = "Examples:\n  harmonia results show results 0c3f\n  harmonia results show results 0c3f --json"
    )]
    Show {
        /// The folder of results
        folder: PathBuf,
        /// The result: its address, or the first digits of it
        #[arg(value_name = "RESULT")]
        address: String,
        /// Print the report as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write all results as one table, one row a run: Parquet, or CSV if FILE ends in .csv
    #[command(
        after_help = "Examples:\n  harmonia results export results\n  harmonia results export results --out table.csv"
    )]
    Export {
        /// The folder of results
        folder: PathBuf,
        /// The file to write [default: results.parquet in the folder]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// What is compared.
#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// A report or comparison (JSON), a folder of results, or FOLDER/ADDRESS
    pub a: String,
    /// What it is compared with
    pub b: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
