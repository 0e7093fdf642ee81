//! What a user may type; clap refuses the rest with exit status 2.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use harmonia_scenario::TraceFile;
use harmonia_types::units::{parse_bytes, parse_duration};
use harmonia_types::{Bytes, SimDuration};
use harmonia_workload::TraceOptions;
use harmonia_workload::trace::{AUTO, Action, UnitOptions};

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
  harmonia compare hpc-w --set ssd.gc.domain=die,device --set array.coordination.policy=local,reactive-selective
  harmonia compare my-array.toml --trace web_3.csv --out results

A comma in --set sweeps: each value becomes a run of its own under each policy, and several such --set cross: every
combination runs, on the same aged array where it ages alike. A list value is written in brackets. Runs are called
after what is varied. Winners on mean, p99 and erases stand at the end, ties as ties; a cross of two also shows what
each change brings alone and together with the other. 'ideal' is local coordination with ssd.gc.schedule=ideal: garbage collection that takes no time.
The first run is the baseline of the comparison. With --seeds each seed has an aged array of its own, which all runs of
that seed start from; differences are judged seed by seed.";

const CHECK_EXAMPLES: &str = "\
Examples:
  harmonia check my-array.toml
  harmonia check hpc-w --set ssd.ftl.reserved_blocks=20% > my-array.toml";

const TRACE_EXAMPLES: &str = "\
Examples:
  harmonia trace info web_3.csv.gz
  harmonia trace head web_3.csv -n 5
  harmonia trace convert web_3.csv --to fio --out web_3.iolog
  harmonia trace fit web_3.csv --out web_3.toml";

const TRACE_INFO_EXAMPLES: &str = "\
Examples:
  harmonia trace info web_3.csv
  harmonia trace info 'web_*.csv.gz' --volume web_3 --json
  harmonia trace info old.trace --format disksim --time-unit us --read-is 0

Sizes are in KiB (1024 bytes). Warnings name what looks like a wrong unit or column; they change nothing.";

const TRACE_HEAD_EXAMPLES: &str = "\
Examples:
  harmonia trace head web_3.csv
  harmonia trace head sda.blktrace.0 -n 100 --action queued
  harmonia trace head web_3.csv -n 1000 --json | jq -r .offset

Records are shown as they are replayed: in the order of time, in seconds since the first, in bytes.";

const TRACE_CONVERT_EXAMPLES: &str = "\
Examples:
  harmonia trace convert web_3.csv --out web_3.parquet
  harmonia trace convert web_3.csv --to fio --out web_3.iolog.zst
  harmonia trace convert 'tencent_*.csv' --start 1h --end 2h --volume 1283 --to disksim --out hour.trace --exact

Times count from the first request written; where that is not the trace's first, the summary says so. What the format cannot say is counted and told;
with --exact it is an error, and nothing is written.";

const TRACE_FIT_EXAMPLES: &str = "\
Examples:
  harmonia trace fit web_3.csv
  harmonia trace fit web_3.csv --array-bytes 256GiB --out web_3.toml && harmonia compare web_3.toml

The fit has the trace's requests, bytes and footprint, reads and writes apart. Both are then simulated on a small array:
comments in the file say what trace and fit have in common and what is lost, and a warning where mean response times
differ by more than a quarter.";

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

const TUNE_EXAMPLES: &str = "\
Examples:
  harmonia tune tiny --objective mean --over ssd.gc.hard_threshold=3%..10% --over ssd.gc.min_victims=1..8
  harmonia tune hpc-w --objective write-p99 --over array.coordination.policy=local,reactive-selective,gcsync --seeds 8
  harmonia tune hpc-w --objective mean --set array.coordination.policy=reactive-selective \\
    --set array.coordination.fire_at=soft --over array.coordination.delay=1ms..33ms \\
    --over ssd.gc.soft_threshold=hard+1..17 --out tuned
  harmonia tune nvme-mixed --objective erases --over ssd.gc.victim=greedy,fifo --budget 100 --json

Ranges: 1..8 whole numbers, 1..8:2 with a step, 0.3..0.7 decimals, 3%..10% with a unit, a,b,c choices.
Objectives: mean, p50, p95, p99, p999, of reads or writes alone as in read-p99; erases, write-amplification.

A coarse grid of points races with the same seeds; a point that is worse than the leader by more than chance is out. The
grid is refined around the best until nothing can be told apart. The best few then run with seeds that nothing was
chosen by, and warnings say where the optimum is flat, at the end of a range, or fitted to its seeds. With --out finished
runs are kept in the folder: the same command goes on where it was stopped, to the same result. Delete the folder after
changing the code or a trace. Keys that ageing depends on, such as hard_threshold, cost an aged array a value and seed.";

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
    /// Find good values of keys for a workload, and say how sure that is
    #[command(after_help = TUNE_EXAMPLES)]
    Tune {
        #[command(flatten)]
        scenario: ScenarioArguments,
        #[command(flatten)]
        options: TuneArguments,
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
    /// Look at block traces, convert them, fit a synthetic load to them
    #[command(subcommand, after_help = TRACE_EXAMPLES)]
    Trace(TraceCommand),
}

/// `harmonia trace ...`
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Summarise a trace: requests, span, read share, sizes, footprint, and what looks wrong
    #[command(after_help = TRACE_INFO_EXAMPLES)]
    Info {
        #[command(flatten)]
        reading: TraceReading,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the first records of a trace as they were understood
    #[command(after_help = TRACE_HEAD_EXAMPLES)]
    Head {
        #[command(flatten)]
        reading: TraceReading,
        /// How many, at most 100000
        #[arg(short = 'n', long, value_name = "N", default_value_t = 10,
              value_parser = clap::value_parser!(u64).range(1..=100_000))]
        count: u64,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Write a trace in another format
    #[command(after_help = TRACE_CONVERT_EXAMPLES)]
    Convert {
        #[command(flatten)]
        reading: TraceReading,
        #[command(flatten)]
        target: ConversionArguments,
    },
    /// Print a synthetic scenario with the statistics of a trace
    #[command(after_help = TRACE_FIT_EXAMPLES)]
    Fit {
        #[command(flatten)]
        reading: TraceReading,
        #[command(flatten)]
        options: FitArguments,
    },
}

/// Where the options of reading a trace stand in the help.
const READING: &str = "Reading";

/// A trace and how it is read.
#[derive(Debug, Args)]
pub(crate) struct TraceReading {
    /// The trace, plain or packed (gz, zst); several files or patterns ('web_*.csv') are read as one, merged by time
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Its format; found out from the content if not given. See `harmonia formats`
    #[arg(long, value_name = "FORMAT", help_heading = READING)]
    pub format: Option<String>,
    /// Unit of the time column: ns, 100ns, us, ms, s or any duration (formats with such a column: disksim, mqsim, msr ..)
    #[arg(long, value_name = "UNIT", value_parser = parse_time_unit, help_heading = READING)]
    pub time_unit: Option<SimDuration>,
    /// Unit of the address column, in bytes or as 4KiB (formats with such a column: disksim, mqsim, spc, msr ..)
    #[arg(long, value_name = "SIZE", value_parser = parse_unit, help_heading = READING)]
    pub address_unit: Option<Bytes>,
    /// Unit of the size column, in bytes or as 4KiB (formats with such a column: disksim, mqsim, spc, msr ..)
    #[arg(long, value_name = "SIZE", value_parser = parse_unit, help_heading = READING)]
    pub size_unit: Option<Bytes>,
    /// The value of the operation's column, or bit, that means read (formats that code it: disksim, mqsim, tencent ..)
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1), help_heading = READING)]
    pub read_is: Option<u8>,
    /// Which event of a request is its arrival: Q, D or C (blkparse, blktrace) [default: D, else Q, else C]
    #[arg(long, value_name = "EVENT", help_heading = READING)]
    pub action: Option<EventChoice>,
    /// Sort in rows that come late by up to this, such as 10ms; a later one is malformed (all formats)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = READING)]
    pub sort_window: Option<SimDuration>,
    /// Spread rows of one tick of a coarse clock evenly up to the next (all formats) [default: where it counts seconds]
    #[arg(long, value_name = "true|false", help_heading = READING)]
    pub spread: Option<bool>,
    /// Whether a volume of the same name is the same volume in all files (all formats) [default: as the format says]
    #[arg(long, value_name = "true|false", help_heading = READING)]
    pub same_volumes: Option<bool>,
    /// Only this volume: web_3, or 3 where one volume ends in it (formats with volumes)
    #[arg(long, value_name = "NAME", help_heading = READING)]
    pub volume: Option<String>,
    /// Only what arrives at this time or later, counted from the first record (all formats)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = READING)]
    pub start: Option<SimDuration>,
    /// Only what arrives before this time, counted from the first record (all formats)
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = READING)]
    pub end: Option<SimDuration>,
    /// Pass over so many malformed rows and count them; the next is an error (all formats)
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = READING)]
    pub skip_bad: u64,
}

impl TraceReading {
    /// The options as the trace room takes them.
    pub(crate) fn options(&self) -> TraceOptions {
        TraceOptions {
            format: self.format.clone().unwrap_or_else(|| AUTO.to_owned()),
            units: UnitOptions {
                time_ns: self.time_unit.map(SimDuration::as_ns),
                address: self.address_unit,
                size: self.size_unit,
                read_is: self.read_is,
            },
            action: self.action.map(Action::from),
            sort_window: self.sort_window,
            spread: self.spread,
            same_volumes: self.same_volumes,
            only: self.volume.clone(),
            start: self.start,
            end: self.end,
            skip_bad: self.skip_bad,
        }
    }
}

/// An event in the life of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventChoice {
    /// Q: handed to the block layer
    Queued,
    /// D: handed to the device
    Issued,
    /// C: completed
    Completed,
}

impl From<EventChoice> for Action {
    fn from(choice: EventChoice) -> Self {
        match choice {
            EventChoice::Queued => Action::Queued,
            EventChoice::Issued => Action::Issued,
            EventChoice::Completed => Action::Completed,
        }
    }
}

/// A unit of time: a duration, or the name of one (`us` for `1us`).
fn parse_time_unit(text: &str) -> Result<SimDuration, String> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return parse_duration(text);
    }
    parse_duration(&format!("1{text}")).map_err(|_| {
        format!("`{text}` is not a unit of time: write ns, 100ns, us, ms, s or a duration such as 10us")
    })
}

/// A unit of addresses or sizes: bytes as a plain number, or a size.
fn parse_unit(text: &str) -> Result<Bytes, String> {
    match text.parse() {
        Ok(bytes) => Ok(bytes),
        Err(_) => {
            parse_bytes(text).map_err(|problem| format!("{problem}; or a number of bytes, such as 512"))
        }
    }
}

/// What a trace is converted to.
#[derive(Debug, Args)]
pub(crate) struct ConversionArguments {
    /// The format to write [default: harmonia if FILE ends in .parquet]
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<String>,
    /// The file to write; packed if it ends in .gz or .zst
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
    /// Write nothing if a request would be changed or dropped
    #[arg(long)]
    pub exact: bool,
    /// Print what was written as JSON
    #[arg(long)]
    pub json: bool,
}

/// What is fitted, and where to.
#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    /// Write the scenario to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long, requires = "out")]
    pub force: bool,
    /// The array's logical size: a larger footprint is squeezed into it
    #[arg(long, value_name = "SIZE", value_parser = parse_array_bytes)]
    pub array_bytes: Option<Bytes>,
    /// Compare response times of trace and fit on the array of this scenario [default: four small aged drives]
    #[arg(long, value_name = "SCENARIO", conflicts_with = "no_check")]
    pub check: Option<String>,
    /// Do not simulate trace and fit to compare their response times
    #[arg(long)]
    pub no_check: bool,
}

fn parse_array_bytes(text: &str) -> Result<Bytes, String> {
    match parse_bytes(text)? {
        bytes if bytes < 4096 => Err("an array has at least a page of 4KiB".to_owned()),
        bytes => Ok(bytes),
    }
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

/// What is searched, how long, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// What to make small: mean, p99, write-p99, erases ..
    #[arg(long, value_name = "NAME")]
    pub objective: String,
    /// A key to vary and its values: a range such as 1..8, 0.3..0.7, 3%..10%, 1..8:2, or choices such as a,b,c
    #[arg(long = "over", value_name = "KEY=RANGE", required = true, allow_hyphen_values = true)]
    pub overs: Vec<String>,
    /// Seeds that points are chosen by, the scenario's own and those that follow; as many more are held out
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub seeds: u64,
    /// Most runs, held-out ones included
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub budget: u64,
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Check every invariant at every event (slow)
    #[arg(long)]
    pub checked: bool,
    /// Print the report as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Keep runs in this folder, and write tune.json, tune.svg and tuned.toml, the best scenario, there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
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
    fn units_are_names_numbers_or_quantities() {
        let times =
            ["ns", "100ns", "us", "ms", "s", "10us", "1.5ms"].map(|text| parse_time_unit(text).unwrap().0);
        assert_eq!(times, [1, 100, 1000, 1_000_000, 1_000_000_000, 10_000, 1_500_000]);
        assert_eq!(["512", "4KiB", "1B"].map(|text| parse_unit(text).unwrap()), [512, 4096, 1]);
        for bad in ["", "10", "usec", "-1us", "1"] {
            assert!(parse_time_unit(bad).unwrap_err().contains("ns, "), "{bad}");
        }
        assert!(parse_unit("4kb").unwrap_err().ends_with("or a number of bytes, such as 512"));
    }

    /// Every option arrives where it belongs.
    #[test]
    fn how_a_trace_is_read() {
        let line = "harmonia trace info a b --format msr --time-unit us --address-unit 512 --size-unit 4KiB --read-is 1 \
                    --action issued --sort-window 1ms --spread true --same-volumes false --volume web_3 --start 1s \
                    --end 2s --skip-bad 7";
        let Command::Trace(TraceCommand::Info { reading, .. }) =
            Arguments::parse_from(line.split_whitespace()).command
        else {
            panic!("not trace info")
        };
        assert_eq!(reading.files, [PathBuf::from("a"), PathBuf::from("b")]);
        let duration = |ns| Some(SimDuration(ns));
        let expected = TraceOptions {
            format: "msr".to_owned(),
            units: UnitOptions {
                time_ns: Some(1000),
                address: Some(512),
                size: Some(4096),
                read_is: Some(1),
            },
            action: Some(Action::Issued),
            sort_window: duration(1_000_000),
            spread: Some(true),
            same_volumes: Some(false),
            only: Some("web_3".to_owned()),
            start: duration(1_000_000_000),
            end: duration(2_000_000_000),
            skip_bad: 7,
        };
        assert_eq!(reading.options(), expected);
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
