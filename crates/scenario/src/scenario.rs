//! A whole scenario: loading it, changing it by flags, sweeping.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use harmonia_array::{ArrayConfig, Level};
use harmonia_types::{Bytes, Deadlines};
use harmonia_workload::WorkloadConfig;
use toml::de::DeTable;

use crate::error::{BadInput, Fault, Parsed, Written, nearest, printable};
use crate::failures::SpareState;
use crate::presets::builtin;
use crate::read::Section;
use crate::schema::held;
use crate::schema::root as keys;
use crate::tree::{Place, Table};
use crate::{array, set, workload};

/// A scenario file may have so many bytes: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;

/// A validated scenario. Serialises in the form of a scenario file with every key written out.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Names it in reports; the file's name unless written.
    pub name: String,
    /// Root of all random numbers.
    pub seed: u64,
    /// `[workload]`
    pub workload: WorkloadConfig,
    /// `workload.space`: the load addresses the first so many bytes of the array; `None` for all of them.
    pub space: Option<Bytes>,
    /// `workload.deadline`
    pub deadlines: Deadlines,
    /// `[precondition]`
    pub precondition: Precondition,
    /// `[array]` with `[ssd]` resolved for every member.
    pub array: ArrayConfig,
    /// `array.spare_state`
    pub spare_state: SpareState,
    /// `array.journal.state`
    pub journal_state: SpareState,
}

/// The `[precondition]` table: what ages the array before the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precondition {
    /// Share of the logical space mapped, 0..=1; 0 is an empty device.
    pub fill: f64,
    /// Random single-page overwrites of what is mapped, in multiples of it; 0 to 1000, and 0 if nothing is mapped.
    pub overwrite: f64,
    /// Where they go.
    pub overwrite_space: OverwriteSpace,
    /// Who coordinates while the load warms up.
    pub warmup_policy: WarmupPolicy,
    /// Root of its random numbers; the scenario's if `None`.
    pub seed: Option<u64>,
}

/// A device that is full and in use.
impl Default for Precondition {
    fn default() -> Self {
        let (overwrite_space, warmup_policy) = (OverwriteSpace::default(), WarmupPolicy::default());
        Precondition { fill: 1.0, overwrite: 3.0, overwrite_space, warmup_policy, seed: None }
    }
}

impl held::Draft for Precondition {
    type Config = Self;

    fn config(&mut self) -> &mut Self {
        self
    }
}

/// Where overwrites before the run go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OverwriteSpace {
    /// To all that is mapped.
    #[default]
    All,
    /// To the part of it that the load addresses.
    Footprint,
    /// Where the load writes, with copies and parity.
    Load,
}

/// Which coordination policy the warm-up of the load runs under.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WarmupPolicy {
    /// The scenario's: the measured window goes on from it.
    #[default]
    Own,
    /// `local`. Then the members come to rest, and the measured window begins on an array of its own with them.
    Local,
}

/// One point of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The swept keys with this variant's values, such as `array.devices=4, seed=2`; empty if nothing is swept.
    pub label: String,
    /// The scenario with these values.
    pub scenario: Scenario,
}

/// A trace given on the command line, which replaces the scenario's load, and how traces are read. What the scenario says
/// about how to read files of its own (their format, units and the like) does not hold for the files given here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFile {
    /// Its files, or patterns of their names, relative to the current folder. None beside options: those of the scenario.
    pub paths: Vec<PathBuf>,
    /// Its format; `auto` if not given.
    pub format: Option<String>,
    /// How it is read otherwise.
    pub reading: Vec<ReadingFlag>,
}

/// A flag that says how a trace is read: it overrides a key of `[workload]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadingFlag {
    /// The flag as it is typed, such as `--time-unit`; errors name it.
    pub flag: &'static str,
    /// The key, such as `time_unit`.
    pub key: &'static str,
    /// Its value, as the key takes it.
    pub value: FlagValue,
}

/// What a flag gives a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagValue {
    /// A word, a time or a size.
    Text(String),
    /// A whole number.
    Number(u64),
    /// Yes or no.
    Boolean(bool),
}

impl Scenario {
    /// Loads a scenario file or a built-in scenario, changes it by `sets` (`key=value`, as given to `--set`), and
    /// replaces its load by `trace` if given. A file wins over a built-in scenario of the same name.
    ///
    /// # Errors
    /// If the file cannot be read, or what is written cannot be used, or a flag sweeps.
    pub fn load(source: &str, sets: &[String], trace: Option<&TraceFile>) -> Result<Scenario, BadInput> {
        let document = Document::open(source)?;
        document.single(sets, trace)
    }

    /// Reads a scenario from text. `origin` names it in messages; a trace's path is taken relative to its folder.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(
        text: &str,
        origin: &str,
        sets: &[String],
        trace: Option<&TraceFile>,
    ) -> Result<Scenario, BadInput> {
        Document::new(text.to_owned(), origin, true)?.single(sets, trace)
    }
}

/// A scenario that is read once and changed in many ways.
#[derive(Debug, Clone)]
pub struct Template(Document);

impl Template {
    /// Opens a scenario file or a built-in scenario, as [`Scenario::load`] does.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(source: &str) -> Result<Template, BadInput> {
        Document::open(source).map(Template)
    }

    /// The text of a scenario, as [`Scenario::parse`] takes it.
    ///
    /// # Errors
    /// If it is too long.
    pub fn text(text: &str, origin: &str) -> Result<Template, BadInput> {
        Document::new(text.to_owned(), origin, true).map(Template)
    }

    /// The scenario with these changes, as [`Scenario::load`] gives it.
    ///
    /// # Errors
    /// If what is written cannot be used, or a flag sweeps.
    pub fn with(&self, sets: &[String], trace: Option<&TraceFile>) -> Result<Scenario, BadInput> {
        self.0.single(sets, trace)
    }

    /// The scenario once for every combination of the values in `sets`, as [`sweep`] gives them.
    ///
    /// # Errors
    /// As [`sweep`].
    pub fn sweep(&self, sets: &[String], trace: Option<&TraceFile>) -> Result<Vec<Variant>, BadInput> {
        let variant = |choice: set::Choice| {
            self.0.read(&choice.flags, trace).map(|scenario| Variant { label: choice.label, scenario })
        };
        set::combinations(sets)?.into_iter().map(variant).collect()
    }
}

/// Loads a scenario once for every combination of the values in `sets`: a comma sweeps, except inside quotes,
/// brackets and braces. The last flag varies fastest.
///
/// # Errors
/// As [`Scenario::load`], for the first combination that cannot be used.
pub fn sweep(source: &str, sets: &[String], trace: Option<&TraceFile>) -> Result<Vec<Variant>, BadInput> {
    Template::open(source)?.sweep(sets, trace)
}

fn is_fifo(path: &str) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// The text of a scenario.
#[derive(Debug, Clone)]
struct Document {
    text: String,
    origin: String,
    /// Name of the scenario if it gives none itself.
    name: String,
    folder: Option<PathBuf>,
}

impl Document {
    fn new(text: String, origin: &str, is_file: bool) -> Result<Document, BadInput> {
        if text.len() as u64 > MOST_BYTES {
            return Err(too_large(origin));
        }
        let path = Path::new(origin);
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let folder = path.parent().filter(|folder| is_file && !folder.as_os_str().is_empty());
        Ok(Document {
            text,
            origin: printable(origin, 1000),
            name: stem.map_or_else(|| "scenario".into(), |stem| printable(&stem, 200)),
            folder: folder.map(Path::to_owned),
        })
    }

    /// Opens a file, or a built-in scenario where there is no such file.
    fn open(source: &str) -> Result<Document, BadInput> {
        let shown = printable(source, 300);
        let allowed = |near: Option<&str>| {
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            format!(
                "{near}allowed: a scenario file, or one of {}",
                builtin::names().collect::<Vec<_>>().join(", ")
            )
        };
        // Opening a FIFO waits for a writer, perhaps for ever. A shell's `<(..)` has one already.
        if is_fifo(source) && !source.starts_with("/dev/") && !source.starts_with("/proc/") {
            return Err(BadInput::plain(format!("`{shown}` is a FIFO, not a file"), &allowed(None)));
        }
        let mut file = match (File::open(source), builtin::find(source)) {
            (Ok(file), _) => file,
            (Err(_), Some(scenario)) => return Document::new(scenario.text.to_owned(), scenario.name, false),
            (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound => {
                let near = nearest(source.trim_end_matches(".toml"), builtin::names());
                let problem = format!("`{shown}` is neither a file nor a built-in scenario");
                return Err(BadInput::plain(problem, &allowed(near)));
            }
            (Err(error), None) => {
                return Err(BadInput::plain(format!("`{shown}` cannot be read: {error}"), &allowed(None)));
            }
        };
        let mut bytes = Vec::new();
        let read = file.by_ref().take(MOST_BYTES + 1).read_to_end(&mut bytes);
        match read {
            // A folder that has the name of a built-in scenario is not a file.
            Err(_) if builtin::find(source).is_some() => {
                let scenario = builtin::find(source).expect("just found");
                return Document::new(scenario.text.to_owned(), scenario.name, false);
            }
            Err(error) => {
                return Err(BadInput::plain(format!("`{shown}` cannot be read: {error}"), &allowed(None)));
            }
            Ok(_) if bytes.len() as u64 > MOST_BYTES => return Err(too_large(source)),
            Ok(_) => {}
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let problem = format!("{shown}:{line}: byte {valid} is not UTF-8 text");
            BadInput::plain(problem, "allowed: a TOML file in UTF-8")
        })?;
        Document::new(text, source, true)
    }

    /// One scenario; flags must not sweep.
    fn single(&self, sets: &[String], trace: Option<&TraceFile>) -> Result<Scenario, BadInput> {
        let choices = set::combinations(sets)?;
        match choices.as_slice() {
            [one] => self.read(&one.flags, trace),
            _ => Err(BadInput::plain(
                format!("the --set flags give {} scenarios, and this command runs one", choices.len()),
                "allowed: one value a key here (`harmonia compare` sweeps); a value with a comma goes in quotes",
            )),
        }
    }

    fn read(&self, flags: &[String], trace: Option<&TraceFile>) -> Result<Scenario, BadInput> {
        let written = Written { origin: &self.origin, text: &self.text, sets: flags };
        self.try_read(flags, trace).map_err(|fault| written.report(&fault))
    }

    fn try_read(&self, flags: &[String], trace: Option<&TraceFile>) -> Parsed<Scenario> {
        let mut table = self.tree()?;
        for (index, flag) in flags.iter().enumerate() {
            set::apply(&mut table, index, flag)?;
        }
        if let Some(trace) = trace {
            workload::put_trace(&mut table, trace)?;
        }
        let root = Section::root(&table)?;
        let name = root.get(&keys::NAME)?.unwrap_or_else(|| self.name.clone());
        let seed = root.get_or(&keys::SEED, 1)?;
        let precondition = precondition(&root)?;
        let (mut array, states, mut room) = array::read(&root)?;
        array.faults.seed = seed;
        may_rest(&root, precondition, &array)?;
        let space = room.limit(&root.child("workload")?)?;
        let deadlines = workload::deadlines(&root)?;
        // Last, because it alone has keys that must be there: what is misspelt is told before what is missing.
        let mut workload = workload::read(&root, self.folder.as_deref(), &room)?;
        workload::can_be_scaled(&root, &workload, &array)?;
        workload::fits(&root, &workload, &room)?;
        may_keep_to_load(&root, precondition, &array, &workload)?;
        if let (Some(trace), WorkloadConfig::Trace(config)) = (trace, &mut workload) {
            // The tree holds text; a path need not be.
            if !trace.paths.is_empty() {
                config.paths = trace.paths.clone();
            }
        }
        let (spare_state, journal_state) = (states.spares, states.journal);
        Ok(Scenario {
            name,
            seed,
            workload,
            space,
            deadlines,
            precondition,
            array,
            spare_state,
            journal_state,
        })
    }

    fn tree(&self) -> Parsed<Table> {
        let place = |span: std::ops::Range<usize>| Place::File(span.start as u32, span.end as u32);
        match DeTable::parse(&self.text) {
            Ok(document) => Ok(Table::from_toml(document.get_ref(), &place)),
            Err(error) => Err(Box::new(Fault {
                place: error.span().map_or(Place::Nowhere, place),
                key: String::new(),
                value: None,
                problem: format!("this is not TOML: {}", printable(error.message(), 300)),
                allowed: "TOML: [table] headers and key = value lines, text in quotes".into(),
            })),
        }
    }
}

fn precondition(root: &Section<'_>) -> Parsed<Precondition> {
    let section = root.child("precondition")?;
    let mut precondition = Precondition::default();
    held::lay(&keys::PRECONDITION, &mut precondition, &section)?;
    let overwrite = section.named("overwrite");
    if precondition.fill == 0.0 && overwrite.is_none() {
        precondition.overwrite = 0.0;
    }
    match overwrite.filter(|_| precondition.fill == 0.0 && precondition.overwrite > 0.0) {
        Some(field) => {
            let problem = "finds nothing to overwrite: with `fill` = 0 the device is empty";
            Err(field.fault_allowing(problem, "0 (or leave it out) with `fill` = 0; a `fill` above 0"))
        }
        None => Ok(precondition),
    }
}

/// Behind a warm-up of another policy members come to rest: what befalls them before and after would not fit together.
fn may_rest(root: &Section<'_>, precondition: Precondition, array: &ArrayConfig) -> Parsed<()> {
    match root.child("precondition")?.named("warmup_policy") {
        Some(field) if precondition.warmup_policy == WarmupPolicy::Local && !array.is_faultless() => {
            let problem = "does not go with failures, replacements, losses of power, scrubbing, a log, a bitmap or \
                           members that wear out: what befalls members counts from before the warm-up";
            Err(field.fault_allowing(problem, "\"own\" beside them"))
        }
        _ => Ok(()),
    }
}

/// A footprint can be overwritten where the load has one, and where it is the first part of each member. A load can, where it
/// writes to the same places in every run.
fn may_keep_to_load(
    root: &Section<'_>,
    precondition: Precondition,
    array: &ArrayConfig,
    workload: &WorkloadConfig,
) -> Parsed<()> {
    let section = root.child("precondition")?;
    let Some(field) = section.named("overwrite_space") else { return Ok(()) };
    let problem = match (precondition.overwrite_space, workload) {
        (OverwriteSpace::All, _) => None,
        (OverwriteSpace::Load | OverwriteSpace::Footprint, _) if precondition.overwrite == 0.0 => {
            Some("has no meaning without overwrites: `overwrite` is 0")
        }
        (OverwriteSpace::Load, _)
            if array.coordination.has_floating_stripes() && !array.parity_shares.is_empty() =>
        {
            Some(
                "is not possible with floating stripes and shares of parity: a policy chooses who has the parity of a row",
            )
        }
        (OverwriteSpace::Load, load) => load.cannot_be_rewritten(),
        (OverwriteSpace::Footprint, WorkloadConfig::Synthetic(load)) if load.skew_fraction > 0.0 => {
            Some("has no meaning with skew: requests to one member go beyond the footprint")
        }
        (OverwriteSpace::Footprint, WorkloadConfig::Streams(_)) => {
            Some("has no meaning for a load of streams: each has a footprint of its own")
        }
        (OverwriteSpace::Footprint, WorkloadConfig::Trace(_)) => {
            Some("has no meaning for a trace: it has no footprint that is known beforehand")
        }
        (OverwriteSpace::Footprint, WorkloadConfig::Synthetic(_)) if array.level != Level::Raid0 => {
            Some("is possible with raid0 only: copies and parity lie elsewhere")
        }
        (OverwriteSpace::Footprint, WorkloadConfig::Synthetic(_)) => None,
    };
    let allowed = match precondition.overwrite_space {
        OverwriteSpace::Load => {
            "\"all\", or overwrites, no shares of parity with floating stripes, and addresses other than files and working sets"
        }
        _ => {
            "\"all\", \"load\", or raid0 with overwrites and a generated load without streams and without skew"
        }
    };
    problem.map_or(Ok(()), |problem| Err(field.fault_allowing(problem, allowed)))
}

fn too_large(source: &str) -> BadInput {
    let problem = format!("`{}` is larger than {MOST_BYTES} bytes", printable(source, 300));
    BadInput::plain(problem, "allowed: a scenario file of at most 1 MiB; a trace is given with --trace FILE")
}
