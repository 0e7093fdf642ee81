//! What a user may type; clap refuses the rest with exit status 2.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use clap_complete::engine::ArgValueCompleter;
use harmonia_scenario::{Assumed, Bought, Template, TraceFile, says};
use harmonia_types::units::{parse_bytes, parse_duration};
use harmonia_types::{Bytes, SimDuration};

use crate::complete;
use crate::explain_args::{EXPLAIN_EXAMPLES, ExplainArguments};
use crate::failure::Failure;
use crate::reading::Reading;
use crate::sweep_args::{
    DIFF_EXAMPLES, DiffArguments, RESULTS_EXAMPLES, ResultsCommand, SWEEP_EXAMPLES, SweepArguments,
};

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
  harmonia run hpc-w --trace 'usr_*.csv.gz' --start 2h --end 3h
  harmonia run hpc-w --json | jq .host.response_ns.all.p99";

const COMPARE_EXAMPLES: &str = "\
Examples:
  harmonia compare hpc-w
  harmonia compare hpc-w --policies local,reactive-inclusive
  harmonia compare hpc-w --seeds 5
  harmonia compare hpc-w --details
  harmonia compare hpc-r --set ssd.gc.domain=die,device --policies local,ideal
  harmonia compare hpc-w --set ssd.gc.domain=die,device \\
    --set array.coordination.policy=local,reactive-selective
  harmonia compare my-array.toml --trace web_3.csv --out results

Values separated by commas in a --set are swept: each becomes a run of its own under each policy. Several such --set run \
every combination. Runs share an aged array unless a key changes how it ages. A list value is written in brackets. Runs \
are named after the keys that vary.

The first run is the baseline. The winners on mean, p99 and erases are printed at the end; runs that cannot be told \
apart are ties. A sweep over two keys also shows the effect of each key alone and of both together. 'ideal' is local \
coordination with ssd.gc.schedule=ideal: garbage collection takes no time. It is what an end \
of collection alone would bring.

With --seeds each seed has an aged array of its own, which all runs of that seed start from. Differences are judged seed \
by seed.";

const LIFETIME_EXAMPLES: &str = "\
Examples:
  harmonia lifetime hpc-w --set ssd.rating.cycles=100000
  harmonia lifetime my-array.toml --policies local,gclock,gcsync --seeds 5
  harmonia lifetime my-array.toml --set ssd.wear.endurance=3000 --set ssd.ftl.reserved_blocks=10%,20%,30%
  harmonia lifetime my-array.toml --trace web_3.csv --set 'ssd.rating={ dwpd = 1, years = 5 }'
  harmonia lifetime tiny --set ssd.wear.endurance=200 --exact

Years until the rated cycles are used on average, until the host has written the rated bytes, until the first block retires and \
until a drive is read-only: whatever ssd.rating and ssd.wear say enough for. They follow in closed form from a short run. The \
table says which rate of writes it assumes, and whether blocks were erased evenly, as the closed form needs it.

Without --policies the scenario's own policy runs. Values separated by commas in a --set are swept. With --exact whole lives are \
simulated, too, where drives are small enough.";

const ADVISE_EXAMPLES: &str = "\
Examples:
  harmonia advise --trace web_3.csv --drive samsung-pm9a3-960g --count 6 --level raid6
  harmonia advise --trace web_3.csv --drive tlc-nvme-1t --count 8 --level raid10 --set 'ssd.rating={ dwpd = 1, years = 5 }'
  harmonia advise my-array.toml --time-limit 60s
  harmonia advise my-array.toml --seeds 5 --out advice

One page: whether garbage collection matters on this array under this load, what the drives take, what each change brings and costs, \
and what to do. The array as it is runs with local coordination. It is held against the same array on which collection takes no time. \
Then one thing at a time is changed. Every figure is that of the same requests.

Do nothing is an answer, and often the right one.";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  harmonia schema > harmonia.schema.json

An editor with Taplo, such as VS Code with Even Better TOML, reads it for a file that begins with
  #:schema ./harmonia.schema.json";

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
  harmonia trace info log.csv --columns time,op,offset,size,- --time-unit us

Sizes are in KiB (1024 bytes). Warnings name columns or units that look wrong; they change nothing.";

const TRACE_HEAD_EXAMPLES: &str = "\
Examples:
  harmonia trace head web_3.csv
  harmonia trace head sda.blktrace.0 -n 100 --action Q
  harmonia trace head web_3.csv -n 1000 --json | jq -r .offset

Records are shown as they are replayed: in the order of time, in seconds since the first, in bytes.";

const TRACE_CONVERT_EXAMPLES: &str = "\
Examples:
  harmonia trace convert web_3.csv --out web_3.parquet
  harmonia trace convert web_3.csv --to fio --out web_3.iolog.zst
  harmonia trace convert 'tencent_*.csv' --start 1h --end 2h --volume 1283 --to disksim --out hour.trace --exact

Times count from the first request written. The summary says so where that is not the trace's first. Anything that the \
format cannot express is counted and reported; with --exact it is an error, and nothing is written.";

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
  harmonia completions fish > ~/.config/fish/completions/harmonia.fish

The script asks the command at every Tab, for commands, options, scenarios, policies, keys and their values.";

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
  harmonia reproduce drives                          presets of named drives against measurements: five minutes
  harmonia reproduce drives samsung-pm9a3-960g       one of them
  harmonia reproduce drives --predict                what they say of loads and of a drive that were not seen

Finished runs are kept in the folder, so the same command continues where it was stopped. Delete the folder after \
changing the code.";

const TUNE_EXAMPLES: &str = "\
Examples:
  harmonia tune tiny --objective mean --over ssd.gc.hard_threshold=3%..10% \\
    --over ssd.gc.min_victims=1..8
  harmonia tune hpc-w --objective write-p99 --seeds 8 \\
    --over array.coordination.policy=local,reactive-selective,gcsync
  harmonia tune hpc-w --objective mean --set array.coordination.policy=reactive-selective \\
    --set array.coordination.fire_at=soft --over array.coordination.delay=1ms..33ms \\
    --over ssd.gc.soft_threshold=hard+1..17 --out tuned
  harmonia tune nvme-mixed --objective erases --over ssd.gc.victim=greedy,fifo --budget 100 --json

Ranges: 1..8 (whole numbers), 1..8:2 (with a step), 0.3..0.7 (decimals), 3%..10% (with a unit), a,b,c (choices).
Objectives: mean, p50, p95, p99, p999, also of reads or writes alone as in read-p99; erases; write-amplification.

The search runs a coarse grid of points with the same seeds. A point that is worse than the best by more than chance is \
dropped. The grid is then refined around the best points until none can be told apart. At the end the best few run with \
held-out seeds, by which nothing was chosen. Warnings say where the optimum is flat, at the end of a range, or fits only \
its seeds.

With --out finished runs are kept in the folder: the same command continues where it was stopped, with the same result. \
Delete the folder after changing the code or a trace. Keys that change how an array ages, such as hard_threshold, need an \
aged array for each value and seed.";

const CALIBRATE_EXAMPLES: &str = "\
Examples:
  harmonia calibrate plan > plan.fio
  DRIVE=/dev/nvmeXn1 fio --output-format=json+ --output=measured.json plan.fio
  harmonia calibrate measured.json overwrite_bw.2.log sheet.toml --out my-drive.toml
  harmonia advise --trace web_3.csv --drive ./my-drive.toml --count 6 --level raid6

Files are recognised by their content: JSON of fio, its bandwidth log, CSV of bandwidth over time, and TOML with lines of a data sheet \
and counters. Each figure is taken from the experiment that tells it. One that no experiment tells within a factor of two is left \
as in the preset, and the device file says so. docs/calibrate.md has what each experiment tells.";

const PLAN_EXAMPLES: &str = "\
Examples:
  harmonia calibrate plan > plan.fio
  harmonia calibrate plan --night > plan.fio

The jobs erase what is on the drive. The file says how to run them.";

const CACHE_EXAMPLES: &str = "\
Examples:
  harmonia cache
  harmonia cache clear

run and compare keep aged arrays in the user's cache folder ($XDG_CACHE_HOME or ~/.cache), so that the next command on \
the same array need not age it again. No result depends on the cache. The least recently used arrays are removed first.";

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
    /// Python file with policies that may be named; the command of the Python package reads it
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    pub policy_file: Option<PathBuf>,
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
        /// [default: every coordination policy that can win on this array, and ideal; all: every one that can work on it]
        #[arg(long, value_name = "A,B,..", value_delimiter = ',', add = ArgValueCompleter::new(complete::coordination))]
        policies: Option<Vec<String>>,
        #[command(flatten)]
        simulation: SimulationArguments,
    },
    /// Show where the time of single requests went: on which SSD and die, and behind what
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArguments),
    /// Say how many years drives last at the rate of a load, and what ends them
    #[command(after_help = LIFETIME_EXAMPLES)]
    Lifetime {
        #[command(flatten)]
        scenario: ScenarioArguments,
        /// Policies to compare; see `harmonia policies` [default: the scenario's own]
        #[arg(long, value_name = "A,B,..", value_delimiter = ',', add = ArgValueCompleter::new(complete::coordination))]
        policies: Option<Vec<String>>,
        /// Simulate the whole lives of small drives, too
        #[arg(long)]
        exact: bool,
        #[command(flatten)]
        simulation: SimulationArguments,
    },
    /// Say whether garbage collection matters on an array, what would change that, and what to do
    #[command(after_help = ADVISE_EXAMPLES)]
    Advise {
        #[command(flatten)]
        scenario: ScenarioArguments,
        #[command(flatten)]
        options: AdviseArguments,
    },
    /// Make a device file of measurements of a drive, and say what they tell
    #[command(after_help = CALIBRATE_EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Calibrate {
        #[command(subcommand)]
        command: Option<CalibrateCommand>,
        #[command(flatten)]
        options: CalibrateArguments,
    },
    /// Search for good values of keys for a workload
    #[command(after_help = TUNE_EXAMPLES)]
    Tune {
        #[command(flatten)]
        scenario: ScenarioArguments,
        #[command(flatten)]
        options: TuneArguments,
    },
    /// Run many variants of a scenario, each kept as soon as it is there; goes on where it was stopped
    #[command(after_help = SWEEP_EXAMPLES)]
    Sweep(SweepArguments),
    /// List, show and export results of sweeps
    #[command(subcommand, after_help = RESULTS_EXAMPLES)]
    Results(ResultsCommand),
    /// Show what differs between two results: in their scenarios, and in their figures with significance
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArguments),
    /// Test the papers' claims by simulation
    #[command(after_help = REPRODUCE_EXAMPLES)]
    Reproduce(ReproduceArguments),
    /// List the policies: coordination, victim, schedule, concurrency and placement
    #[command(
        after_help = "Examples:\n  harmonia policies\n  harmonia policies --json | jq -r '.coordination[].name'"
    )]
    Policies(ListArguments),
    /// List the presets: scenarios and SSDs; or every figure of one of them
    #[command(
        after_help = "Examples:\n  harmonia presets\n  harmonia presets samsung-pm9a3-960g\n  harmonia presets --json"
    )]
    Presets {
        /// A preset, whose figures are printed with where they come from
        #[arg(value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        options: ListArguments,
    },
    /// List the trace formats that can be read
    #[command(after_help = "Examples:\n  harmonia formats\n  harmonia formats --json")]
    Formats(ListArguments),
    /// Print a JSON Schema of scenarios, for an editor that completes and checks keys
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
    /// Validate a scenario and print it with every key, without running it
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
    /// Inspect block traces, convert them, fit a synthetic load to them
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
    /// Convert a trace to another format
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

/// A trace and how it is read.
#[derive(Debug, Args)]
pub(crate) struct TraceReading {
    /// The trace, plain or packed (gz, zst); several files or patterns ('web_*.csv') are read as one, merged by time
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
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

/// What is simulated: a scenario, or an array of drives that is named in a few words.
#[derive(Debug, Args)]
pub(crate) struct ScenarioArguments {
    /// A scenario file (TOML), or the name of a preset; see `harmonia presets`. Not with --drive
    #[arg(add = ArgValueCompleter::new(complete::scenarios))]
    pub scenario: Option<String>,
    #[command(flatten)]
    pub array: ArrayArguments,
    #[command(flatten)]
    pub changes: Changes,
}

/// An array without a scenario.
#[derive(Debug, Default, Args)]
pub(crate) struct ArrayArguments {
    /// Instead of a scenario: an array of these drives, a device preset (see `harmonia presets`) or a device file such as ./my-drive.toml
    #[arg(long, value_name = "DRIVE", help_heading = ARRAY, add = ArgValueCompleter::new(complete::drives))]
    pub drive: Option<String>,
    /// How many of them
    #[arg(long, value_name = "N", help_heading = ARRAY, allow_negative_numbers = true)]
    pub count: Option<u16>,
    /// How data lies on them: raid0, raid1, raid10, raid4, raid5 or raid6
    #[arg(long, value_name = "LEVEL", help_heading = ARRAY)]
    pub level: Option<String>,
    /// Bytes that lie together on one drive, such as 64KiB [default: as md has it]
    #[arg(long, value_name = "SIZE", help_heading = ARRAY)]
    pub chunk: Option<String>,
}

/// Where these options stand in the help.
const ARRAY: &str = "An array without a scenario";

/// What is changed of a scenario, the same for every command that takes one.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Changes {
    /// Change a key of the scenario, as in `--set array.devices=4`
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true, add = ArgValueCompleter::new(complete::sets))]
    pub sets: Vec<String>,
    /// Replace the workload by this block trace: a file, plain or compressed (gz, zst), or a quoted pattern of file names;
    /// several files are read as one, merged by time
    #[arg(long = "trace", value_name = "FILE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
}

impl Changes {
    /// The trace and how it is read, as the scenario crate takes them.
    pub(crate) fn trace(&self) -> Option<TraceFile> {
        let trace = TraceFile {
            paths: self.traces.clone(),
            format: self.reading.format.clone(),
            reading: self.reading.flags(),
        };
        (trace != TraceFile::default()).then_some(trace)
    }

    /// Whether a `--set` says something of this key, or of a key in this table.
    fn says(&self, key: &str) -> bool {
        says(&self.sets, key)
    }
}

impl ScenarioArguments {
    /// The scenario that is to be changed, and what is assumed in it that nobody said.
    ///
    /// # Errors
    /// If neither or both of a scenario and an array are named, or one of them cannot be read.
    pub(crate) fn template(&self) -> Result<(Template, Vec<String>), Failure> {
        let refuse = |text: &str| Err(Failure::BadInput(text.to_owned()));
        let ArrayArguments { drive, count, level, chunk } = &self.array;
        let options = [
            ("--drive", drive.is_some()),
            ("--count", count.is_some()),
            ("--level", level.is_some()),
            ("--chunk", chunk.is_some()),
        ];
        let given = options.iter().find(|(_, is_given)| *is_given);
        match (&self.scenario, given) {
            (Some(scenario), None) => return Ok((Template::open(scenario)?, Vec::new())),
            (Some(scenario), Some((option, _))) => {
                return refuse(&format!(
                    "{option}: `{scenario}` says already what the array is\n  allowed: a scenario with --set array.devices=6, \
                     array.level=raid6, array.stripe_unit=64KiB and ssd.preset=modern-tlc-1t; or no scenario, and --trace, --drive, \
                     --count and --level"
                ));
            }
            (None, None) => {
                return refuse(
                    "neither a scenario nor an array is named\n  allowed: a scenario file, a name of `harmonia presets`, or an array \
                     such as --trace FILE --drive samsung-pm9a3-960g --count 6 --level raid6",
                );
            }
            (None, Some(_)) => {}
        }
        let missing: Vec<&str> =
            options[..3].iter().filter(|(_, is_given)| !is_given).map(|(option, _)| *option).collect();
        let (Some(drive), Some(count), Some(level)) = (drive, *count, level) else {
            return refuse(&format!(
                "{} missing: an array is named as in --drive samsung-pm9a3-960g --count 6 --level raid6",
                missing.join(" and ") + if missing.len() == 1 { " is" } else { " are" }
            ));
        };
        if self.changes.traces.is_empty() && !self.changes.says("workload") {
            return refuse(
                "--drive: nothing says what the array has to do\n  allowed: --trace FILE, or a load such as --set workload.preset=hpc-w",
            );
        }
        let (template, assumed) = Bought { drive, count, level, chunk: chunk.as_deref() }
            .template(&self.changes.sets, self.changes.trace().as_ref())?;
        let is_assumed = |assumed: &Assumed| !self.changes.says(assumed.key);
        Ok((template, assumed.into_iter().filter(is_assumed).map(|assumed| assumed.text).collect()))
    }
}

/// How it is simulated, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct SimulationArguments {
    /// Run with N seeds, from the scenario's own on, and print means with confidence intervals
    /// [default: 1; a comparison that takes only seconds runs with 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seeds: Option<u64>,
    /// Add seeds until the answer is clear, or for so long, such as 60s. The report says how many there were; --seeds with
    /// that number gives the same bytes
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "seeds")]
    pub time_limit: Option<SimDuration>,
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Check every invariant at every event (slow)
    #[arg(long)]
    pub checked: bool,
    /// Print more than the answer: where the time went, every percentile, devices, what was not tried
    #[arg(long)]
    pub details: bool,
    /// Print the report as JSON instead of tables
    #[arg(long, conflicts_with = "details")]
    pub json: bool,
    /// Also write a page of the results (report.html), report.json and scenario.toml into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write every request (requests.parquet) and every collection (gc_intervals.parquet) into that folder
    #[arg(long, requires = "out")]
    pub parquet: bool,
    /// Age the array anew, and do not keep it; see `harmonia cache`
    #[arg(long)]
    pub no_cache: bool,
    /// Largest size of the cache of aged arrays [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "no_cache")]
    pub cache_limit: Option<u64>,
}

/// How long advice may take, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct AdviseArguments {
    /// Run with N seeds, from the scenario's own on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Begin nothing more after so long, such as 60s; what was not tried is said
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub time_limit: Option<SimDuration>,
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Print the advice as JSON
    #[arg(long)]
    pub json: bool,
    /// Also write advice.txt, advice.json, a page of all runs (report.html), report.json and scenario.toml into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Age arrays anew, and do not keep them; see `harmonia cache`
    #[arg(long)]
    pub no_cache: bool,
    /// Largest size of the cache of aged arrays [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "no_cache")]
    pub cache_limit: Option<u64>,
}

/// What is searched, how long, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// The figure to minimise: mean, p99, write-p99, erases ..
    #[arg(long, value_name = "NAME")]
    pub objective: String,
    /// A key to vary and its values: a range such as 1..8, 0.3..0.7, 3%..10%, 1..8:2, or choices such as a,b,c
    #[arg(long = "over", value_name = "KEY=RANGE", required = true, allow_hyphen_values = true)]
    pub overs: Vec<String>,
    /// Seeds of the search, from the scenario's own on; as many more are held out to judge the result
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub seeds: u64,
    /// At most this many runs, held-out ones included
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
    /// Keep runs in this folder; write tune.json, tune.svg and the best scenario (tuned.toml) there
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Age the array anew, and do not keep it; see `harmonia cache`
    #[arg(long)]
    pub no_cache: bool,
    /// Largest size of the cache of aged arrays [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, conflicts_with = "no_cache")]
    pub cache_limit: Option<u64>,
}

/// `harmonia calibrate ...`
#[derive(Debug, Subcommand)]
pub(crate) enum CalibrateCommand {
    /// Print the jobs to run, as a file that fio takes
    #[command(after_help = PLAN_EXAMPLES)]
    Plan {
        /// A night instead of an hour: the drive is overwritten until its rate stays
        #[arg(long)]
        night: bool,
    },
}

/// What was measured, and where the drive goes.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// Measurements: JSON of fio, a bandwidth log of fio, CSV of bandwidth over time, TOML with a data sheet and counters
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Fit nothing on the experiment with this name, and predict it; none: fit on all [default: the last]
    #[arg(long, value_name = "NAME")]
    pub hold_out: Option<String>,
    /// Write the device file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Print figures, ranges and errors as JSON
    #[arg(long)]
    pub json: bool,
    /// Threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// What is reproduced.
#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// Claims, experiments and readings; see --list. Or `drives`, alone or with presets of named drives [default: all but drives]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// List claims, experiments and readings, and run nothing
    #[arg(long, conflicts_with_all = ["seeds", "threads"])]
    pub list: bool,
    /// Run every variant with the seeds 1 to N, each on an aged array of its own; a reading may have fewer
    #[arg(long, value_name = "N", default_value_t = harmonia_reproduce::experiment::SEEDS,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: u64,
    /// Run nothing; judge by the runs that the folder already has
    #[arg(long, conflicts_with = "list")]
    pub kept: bool,
    /// With `drives`: predict loads that nobody here has seen measurements of, and write predictions.json
    #[arg(long, conflicts_with = "list")]
    pub predict: bool,
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
