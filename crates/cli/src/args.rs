//! What a user may type; clap refuses the rest with exit status 2.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use harmonia_scenario::TraceFile;
use harmonia_types::units::parse_bytes;

const EXAMPLES: &str = "\
Examples:
  harmonia compare hpc-w                             the paper's write-heavy load
  harmonia compare hpc-w --trace web_3.csv           the same array under your own trace
  harmonia run my-array.toml --set array.devices=4   one run, one key changed
  harmonia presets                                   what SCENARIO may be besides a file

Exit status: 0 done, 1 defect of Harmonia, 2 bad input, 130 interrupted.";

/// Where the options of every command stand in the help.
const GLOBAL: &str = "Global options";

const RUN_EXAMPLES: &str = "\
Examples:
  harmonia run hpc-w
  harmonia run my-array.toml --set array.coordination.policy=local --set workload.requests=20000
  harmonia run hpc-w --trace web_3.csv --format msr --out results
  harmonia run hpc-w --trace 'usr_*.csv.gz' --set workload.start=2h --set workload.end=3h
  harmonia run hpc-w --json | jq .host.response_ns.all.p99";

const COMPARE_EXAMPLES: &str = "\
Examples:
  harmonia compare hpc-w
  harmonia compare hpc-w --policies local,reactive-inclusive
  harmonia compare hpc-w --seeds 5
  harmonia compare hpc-r --set ssd.gc.domain=die,device --policies local,ideal
  harmonia compare my-array.toml --trace web_3.csv --out results

A comma in --set sweeps: each value becomes a run of its own under each policy. A list value is written in
brackets. 'ideal' is local coordination with ssd.gc.schedule=ideal: garbage collection that takes no time.
The first run is the baseline of the comparison. With --seeds each seed has an aged array of its own, which all runs of
that seed start from; differences are judged seed by seed.";

const CHECK_EXAMPLES: &str = "\
Examples:
  harmonia check my-array.toml
  harmonia check hpc-w --set ssd.ftl.reserved_blocks=20% > my-array.toml";

const TRACE_EXAMPLES: &str = "\
Examples:
  harmonia trace info web_3.csv
  harmonia trace info web_3.csv --format msr --json";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  harmonia completions bash > ~/.local/share/bash-completion/completions/harmonia
  harmonia completions zsh > ~/.zfunc/_harmonia
  harmonia completions fish > ~/.config/fish/completions/harmonia.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  harmonia man | man -l -
  harmonia man --out ~/.local/share/man/man1";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  harmonia reproduce --list                          claims and experiments, without running anything
  harmonia reproduce response-hpc-w skew-erases      what two claims need
  harmonia reproduce array-size                      all runs of an experiment
  harmonia reproduce --out results                   everything: a quarter of an hour on two cores

Finished runs are kept in the folder: the same command goes on where it was stopped. Delete the folder after
changing the code.";

const CACHE_EXAMPLES: &str = "\
Examples:
  harmonia cache
  harmonia cache clear

run and compare keep aged arrays in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), so that the next command on
the same array need not age it again. No result depends on it. The least recently used go first.";

/// Simulate garbage collection in arrays of SSDs: what it does to latency and lifetime, and which way of
/// coordinating it is best.
#[derive(Debug, Parser)]
#[command(name = "harmonia", version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Arguments {
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    pub quiet: bool,
    /// Say more on stderr: how long each run took
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = GLOBAL)]
    pub verbose: u8,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    pub color: ColorChoice,
    /// Show no progress bars (there are none anyway when stderr is not a terminal)
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub no_progress: bool,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Also into a file or pipe
    Always,
    /// Nowhere
    Never,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate one scenario and report on it
    #[command(after_help = RUN_EXAMPLES)]
    Run {
        #[command(flatten)]
        scenario: ScenarioArguments,
        #[command(flatten)]
        simulation: SimulationArguments,
    },
    /// Simulate one scenario under several policies, on the same aged array
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare {
        #[command(flatten)]
        scenario: ScenarioArguments,
        /// Policies to compare, the first being the baseline; see `harmonia policies`
        /// [default: local,reactive-inclusive,reactive-selective,ideal, unless --set names the policies itself]
        #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
        policies: Option<Vec<String>>,
        #[command(flatten)]
        simulation: SimulationArguments,
    },
    /// Hold the papers' claims against simulations
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArguments),
    /// List the policies: coordination, victim, schedule and concurrency
    #[command(
        after_help = "Examples:\n  harmonia policies\n  harmonia policies --json | jq -r '.coordination[].name'"
    )]
    Policies(ListArguments),
    /// List the presets: scenarios and SSDs
    #[command(after_help = "Examples:\n  harmonia presets\n  harmonia presets --json")]
    Presets(ListArguments),
    /// List the trace formats that can be read
    #[command(after_help = "Examples:\n  harmonia formats\n  harmonia formats --json")]
    Formats(ListArguments),
    /// Validate a scenario and print it resolved, without running it
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        #[command(flatten)]
        scenario: ScenarioArguments,
    },
    /// Print the completion script of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write one for every command
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// Write harmonia.1 and a page for every subcommand into this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Show where aged arrays are kept between commands, or remove them
    #[command(after_help = CACHE_EXAMPLES, args_conflicts_with_subcommands = true)]
    Cache {
        #[command(subcommand)]
        command: Option<CacheCommand>,
        #[command(flatten)]
        options: ListArguments,
    },
    /// Look at block traces
    #[command(subcommand, after_help = TRACE_EXAMPLES)]
    Trace(TraceCommand),
}

/// `harmonia trace ...`
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Summarise a trace: requests, span, read share, sizes, footprint
    #[command(after_help = TRACE_EXAMPLES)]
    Info {
        /// The trace, plain or compressed
        file: PathBuf,
        /// Its format; found out if not given. See `harmonia formats`
        #[arg(long, value_name = "FORMAT")]
        format: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `harmonia cache ...`
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Remove all aged arrays
    #[command(after_help = "Examples:\n  harmonia cache clear")]
    Clear,
}

/// What is simulated.
#[derive(Debug, Args)]
pub(crate) struct ScenarioArguments {
    /// A scenario file (TOML), or the name of a preset; see `harmonia presets`
    pub scenario: String,
    /// Change a key of the scenario, as in `--set array.devices=4`
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    pub sets: Vec<String>,
    /// Replace the workload by this block trace: a file, plain or packed (gz, zst), or a quoted pattern of names; given
    /// several times, all are read as one, merged by time
    #[arg(long = "trace", value_name = "FILE")]
    pub traces: Vec<PathBuf>,
    /// The trace's format; found out if not given. See `harmonia formats`
    #[arg(long, value_name = "FORMAT", requires = "traces")]
    pub format: Option<String>,
}

impl ScenarioArguments {
    /// The trace and its format, as the scenario crate takes them.
    pub(crate) fn trace(&self) -> Option<TraceFile> {
        let paths = self.traces.clone();
        (!paths.is_empty()).then(|| TraceFile { paths, format: self.format.clone() })
    }
}

/// How it is simulated, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct SimulationArguments {
    /// Run with so many seeds, the scenario's own and those that follow, and print means with their intervals
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    pub seeds: u64,
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Check every invariant at every event (slow)
    #[arg(long)]
    pub checked: bool,
    /// Print the report as JSON instead of tables
    #[arg(long)]
    pub json: bool,
    /// Also write report.html, a page to look at, report.json and scenario.toml into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write requests.parquet and gc_intervals.parquet into that folder: every request, every interval
    #[arg(long, requires = "out")]
    pub parquet: bool,
    /// Age the array anew, and do not keep it; see `harmonia cache`
    #[arg(long)]
    pub no_cache: bool,
    /// How much the cache of aged arrays may hold [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "no_cache")]
    pub cache_limit: Option<u64>,
}

/// What is reproduced.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// Claims and experiments; see --list [default: all]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// List claims and experiments, and run nothing
    #[arg(long, conflicts_with_all = ["seeds", "threads"])]
    pub list: bool,
    /// Run every variant with the seeds 1 to N, each on an aged array of its own
    #[arg(long, value_name = "N", default_value_t = harmonia_reproduce::experiment::SEEDS,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Run nothing: judge by the runs that the folder already has
    #[arg(long, conflicts_with = "list")]
    pub kept: bool,
    /// Keep runs in this folder and write results.json, claims.json, findings.md and its figures there
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub out: PathBuf,
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Print claims and verdicts as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of the lists.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        fn visit(command: &clap::Command) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Examples:\n  harmonia "), "`{}` has no examples", command.get_name());
            command.get_subcommands().for_each(visit);
        }
        visit(&Arguments::command());
    }
}
