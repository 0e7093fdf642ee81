//! The `[workload]` table.

use std::path::{Path, PathBuf};

use harmonia_types::Deadlines;
use harmonia_workload::{
    AddressPattern, Arrival, Choices, Extent, FileDeletes, FilePattern, FileReads, Limit, Phase,
    SizeDistribution, SkewRest, SyntheticConfig, WorkingSetPattern, WorkloadConfig,
};

use crate::error::{Fault, Parsed};
use crate::level::Room;
use crate::presets::stand_in;
use crate::presets::workload::{self as presets, WorkloadPreset};
use crate::read::{Field, Section};
use crate::scenario::{FlagValue, ReadingFlag, TraceFile};
use crate::tree::{Node, Place, Table, Value};
use crate::{streams, trace};

/// Keys that only one kind of load has.
const SYNTHETIC_ONLY: &[&str] = &[
    "preset",
    "arrival",
    "size",
    "read_fraction",
    "trim_fraction",
    "address",
    "stream",
    "stream_persistence",
];
/// Of these, what a load of several streams has for each of them.
const OF_A_STREAM: &[&str] = &["size", "read_fraction", "trim_fraction", "address"];
const TRACE_ONLY: &[&str] = &[
    "path",
    "format",
    "columns",
    "time_unit",
    "address_unit",
    "size_unit",
    "read_is",
    "ops",
    "event_format",
    "action",
    "sort_window",
    "spread",
    "same_volumes",
    "volumes",
    "start",
    "end",
    "skip_bad",
    "repeat",
    "replay",
    "queue_depth",
    "time_scale",
    "remap",
];
/// Keys that say how the files named beside them are to be read: they hold for no other files.
const OF_THE_FILES: &[&str] = &[
    "format",
    "columns",
    "time_unit",
    "address_unit",
    "size_unit",
    "read_is",
    "ops",
    "event_format",
    "action",
    "sort_window",
    "spread",
    "same_volumes",
];

pub(crate) const MOST_REQUESTS: u64 = 1_000_000_000_000;
const DEFAULT_REQUESTS: u64 = 100_000;
const DEFAULT_WARMUP: u64 = 2_000;
pub(crate) const FASTEST: f64 = 1e9;
const DEFAULT_BURST: u32 = 100;
const LONGEST_BURST: u32 = 1_000_000_000;
const DEFAULT_THETA: f64 = 0.99;
const STEEPEST: f64 = 10.0;
const DEFAULT_HOT_SPACE: f64 = 0.2;
const DEFAULT_HOT_TRAFFIC: f64 = 0.8;
const LARGEST_BATCH: u32 = 1_000_000;
pub(crate) const MOST_CHOICES: usize = 1000;
const MOST_FIRST_TOUCHES: f64 = 1e6;
const REUSE: (f64, f64) = (0.01, 1000.0);
const LARGEST_ALIGN: u64 = 1 << 30;

/// Reads `[workload]` of an array; a trace's path is taken relative to `folder`.
pub(crate) fn read(root: &Section<'_>, folder: Option<&Path>, room: &Room) -> Parsed<WorkloadConfig> {
    let section = root.child("workload", "workload")?;
    let kinds = [("synthetic", false), ("trace", true)];
    let is_trace = section.field("kind").map(|kind| kind.choice(&kinds)).transpose()?.unwrap_or(false);
    let (foreign, kind) = if is_trace { (SYNTHETIC_ONLY, "trace") } else { (TRACE_ONLY, "synthetic") };
    let has_streams = !is_trace && streams::are_in(&section);
    let is_foreign =
        |name: &&&str| !(has_streams && **name == "time_scale") && section.table.get(name).is_some();
    if let Some(name) = foreign.iter().find(is_foreign) {
        let field = section.field(name).expect("just found");
        if *name == "time_scale" {
            let allowed =
                "kind = \"trace\" or [workload.stream.NAME]; a load of one stream has `arrival.rate`";
            return Err(field.fault_allowing("is for traces and loads of several streams", allowed));
        }
        if let Place::Flag(_) = field.node.place {
            let allowed = "--trace FILE, or a scenario whose load is a trace";
            return Err(field.fault_allowing("says how a trace is read, and the load is not one", allowed));
        }
        let known = crate::schema::names_in("workload").into_iter().filter(|known| !foreign.contains(known));
        let allowed = format!("with kind = \"{kind}\": {}", known.collect::<Vec<_>>().join(", "));
        return Err(field.fault_allowing(format!("does not belong to kind = \"{kind}\""), allowed));
    }
    if is_trace {
        trace::read(&section, folder).map(WorkloadConfig::Trace)
    } else if has_streams {
        if let Some(field) = OF_A_STREAM.iter().find_map(|name| section.field(name)) {
            let name = field.path.rsplit('.').next().unwrap_or_default();
            let allowed = format!("[workload.stream.NAME] with `{name}`, for each stream");
            return Err(field.fault_allowing("does not belong to a load of several streams", allowed));
        }
        streams::read(&section).map(WorkloadConfig::Streams)
    } else {
        if let Some(field) = section.field("stream_persistence") {
            let allowed = "only beside [workload.stream.NAME]";
            return Err(field.fault_allowing("does not belong to a load without streams", allowed));
        }
        synthetic(&section, room).map(WorkloadConfig::Synthetic)
    }
}

/// Reads `workload.deadline`: one time for all, or reads and writes apart.
pub(crate) fn deadlines(root: &Section<'_>) -> Parsed<Deadlines> {
    let section = root.child("workload", "workload")?;
    let Some(field) = section.field("deadline") else { return Ok(Deadlines::default()) };
    if !matches!(field.node.value, Value::Table(_)) {
        let within = Some(field.duration(true)?);
        return Ok(Deadlines { read: within, write: within });
    }
    let table = section.child("deadline", "workload.deadline")?;
    let within = |name: &str| table.field(name).map(|field| field.duration(true)).transpose();
    Ok(Deadlines { read: within("read")?, write: within("write")? })
}

/// Makes the load the trace given on the command line, and puts what flags say about reading it. Of a load of another kind
/// only what flags say is kept, of another trace what does not describe its files.
pub(crate) fn put_trace(root: &mut Table, trace: &TraceFile) {
    let mut table = match root.get("workload").map(|entry| &entry.node.value) {
        Some(Value::Table(table)) => table.clone(),
        // Not a table: `read` will say so.
        Some(_) => return,
        None => Table::default(),
    };
    // Neither files nor options: a list of files that is empty, which `read` will refuse.
    let says_nothing = trace.format.is_none() && trace.reading.is_empty();
    if !trace.paths.is_empty() || says_nothing {
        replace(&mut table, &trace.paths);
    }
    if let Some(format) = &trace.format {
        table.put("format", Place::Flag("--format"), Value::Text(format.clone()));
    }
    for ReadingFlag { flag, key, value } in &trace.reading {
        let value = match value {
            FlagValue::Text(text) => Value::Text(text.clone()),
            FlagValue::Number(number) => Value::Integer((*number).into()),
            FlagValue::Boolean(is) => Value::Boolean(*is),
        };
        table.put(key, Place::Flag(flag), value);
    }
    let place = root.get("workload").map_or(Place::Trace, |entry| entry.node.place);
    root.put("workload", place, Value::Table(table));
}

/// Makes a `[workload]` that of these files.
fn replace(table: &mut Table, paths: &[PathBuf]) {
    let is_trace = table
        .get("kind")
        .is_some_and(|kind| matches!(&kind.node.value, Value::Text(kind) if kind == "trace"));
    table.entries.retain(|entry| {
        let is_kept = is_trace && !OF_THE_FILES.contains(&entry.name.as_str());
        is_kept || matches!(entry.place, Place::Set(_))
    });
    let name = |path: &PathBuf| Value::Text(path.to_string_lossy().into_owned());
    let names = match paths {
        [only] => name(only),
        _ => Value::List(paths.iter().map(|path| Node { value: name(path), place: Place::Trace }).collect()),
    };
    table.put("kind", Place::Trace, Value::Text("trace".into()));
    table.put("path", Place::Trace, names);
}

/// What `preset` may be.
pub(crate) fn preset_names() -> impl Iterator<Item = &'static str> {
    presets::PRESETS
        .iter()
        .map(|preset| preset.name)
        .chain(stand_in::PRESETS.iter().map(|preset| preset.name))
}

/// How long a synthetic load is, and its first part.
pub(crate) fn length(section: &Section<'_>) -> Parsed<(Limit, Limit)> {
    let limit = limit(section)?.unwrap_or(Limit::Requests(DEFAULT_REQUESTS));
    let warmup = match (warmup(section, Some(limit))?, limit) {
        (Some(warmup), _) => warmup,
        (None, Limit::Requests(requests)) => Limit::Requests(DEFAULT_WARMUP.min(requests / 10)),
        (None, Limit::Duration(_)) => Limit::Requests(0),
    };
    Ok((limit, warmup))
}

/// Share of requests that trim, which leaves its share to reading.
pub(crate) fn trims(section: &Section<'_>, read_fraction: f64) -> Parsed<f64> {
    let Some(field) = section.field("trim_fraction") else { return Ok(0.0) };
    let share = field.number(0.0, true, 1.0)?;
    let most = 1.0 - read_fraction;
    if share > most {
        let problem = format!("is more than `read_fraction` = {read_fraction} leaves");
        return Err(field.fault_allowing(problem, format!("0 to {most}, or a smaller `read_fraction`")));
    }
    Ok(share)
}

/// Bursts of writes need something that writes.
pub(crate) fn has_writes(section: &Section<'_>, arrival: &Arrival) -> Parsed<()> {
    let Some(field) = section.field("read_fraction") else { return Ok(()) };
    if matches!(arrival, Arrival::WriteBursts { .. }) && field.number(0.0, true, 1.0)? == 1.0 {
        let allowed = "below 1, or process = \"on-off\" for bursts of reads";
        return Err(field.fault_allowing("leaves no writes for the bursts of writes", allowed));
    }
    Ok(())
}

fn synthetic(section: &Section<'_>, room: &Room) -> Parsed<SyntheticConfig> {
    let preset = match section.field("preset") {
        Some(field) => {
            let name = field.name(preset_names())?;
            presets::find(name)
        }
        None => None,
    };
    let (limit, warmup) = length(section)?;
    let fraction = section.field("read_fraction").map(|field| field.number(0.0, true, 1.0)).transpose()?;
    let address = section.child("address", "workload.address")?;
    // All tables before any value: what is misspelt is told before what is missing.
    let arrivals = section.child("arrival", "workload.arrival")?;
    let sizes = section.child("size", "workload.size")?;
    let pattern = pattern(&address)?;
    let footprint = address.field("footprint").map(|field| extent(&field, false)).transpose()?;
    foreign(&address, "start", "a load without streams", "in [workload.stream.NAME.address]")?;
    let skew = address.field("skew").map(|field| field.number(0.0, true, 1.0)).transpose()?;
    let member = address.field("skew_member").map(|field| field.count(0, u32::from(u16::MAX))).transpose()?;
    let rests = [("others", SkewRest::Others), ("all", SkewRest::All)];
    let rest = address.field("skew_rest").map(|field| field.choice(&rests)).transpose()?;
    let align = section.field("align").map(|field| field.boolean()).transpose()?;
    let arrival = arrival(&arrivals, preset)?;
    has_writes(section, &arrival)?;
    let read_fraction = fraction.unwrap_or(preset.map_or(0.0, |preset| preset.read_fraction));
    Ok(SyntheticConfig {
        limit,
        warmup,
        arrival,
        size: size(&sizes, preset)?,
        read_fraction,
        trim_fraction: trims(section, read_fraction)?,
        address: pattern,
        footprint: footprint.unwrap_or(Extent::ALL),
        start_unit: start_unit(&address, pattern, align.unwrap_or(true))?,
        skew_fraction: skew.unwrap_or(preset.map_or(0.0, |preset| preset.skew_fraction)),
        skew_member: member.unwrap_or(0) as u16,
        skew_rest: rest.unwrap_or(if room.is_raid0() { SkewRest::Others } else { SkewRest::All }),
        align: align.unwrap_or(true),
    })
}

/// A key that the chosen variant of its table does not have.
pub(crate) fn foreign(section: &Section<'_>, name: &str, variant: &str, allowed: &str) -> Parsed<()> {
    match section.field(name) {
        Some(field) => Err(field.fault_allowing(format!("does not belong to {variant}"), allowed)),
        None => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Process {
    Poisson,
    Fixed,
    OnOff,
    WriteBursts,
    Choices,
    Phases,
    Closed,
}

impl Process {
    fn has_bursts(self) -> bool {
        matches!(self, Process::OnOff | Process::WriteBursts)
    }
}

/// The process of a preset's arrivals.
fn process_of(arrival: &Arrival) -> Process {
    match arrival {
        Arrival::Poisson { .. } => Process::Poisson,
        Arrival::Fixed { .. } => Process::Fixed,
        Arrival::OnOff { .. } => Process::OnOff,
        Arrival::WriteBursts { .. } => Process::WriteBursts,
        Arrival::Gaps(_) => Process::Choices,
        Arrival::Phases(_) => Process::Phases,
        Arrival::Closed { .. } => Process::Closed,
    }
}

/// Keys that are not written come from the preset, where its process has them.
pub(crate) fn arrival(table: &Section<'_>, preset: Option<&WorkloadPreset>) -> Parsed<Arrival> {
    let names = [
        ("poisson", Process::Poisson),
        ("fixed", Process::Fixed),
        ("on-off", Process::OnOff),
        ("write-bursts", Process::WriteBursts),
        ("choices", Process::Choices),
        ("phases", Process::Phases),
        ("closed", Process::Closed),
    ];
    let written = table.field("process").map(|field| field.choice(&names)).transpose()?;
    let usual = preset.map(|preset| preset.arrival.clone());
    let process = written.or(usual.as_ref().map(process_of)).unwrap_or(Process::Poisson);
    if matches!(process, Process::Choices | Process::Phases) {
        for name in ["rate", "burst_rate", "burst_length", "queue_depth"] {
            foreign(table, name, "a list of gaps", "`gaps` and `counts`, which set the pace")?;
        }
        return gaps(table, process == Process::Phases);
    }
    only_for_choices(table, "gaps", "process")?;
    if process == Process::Closed {
        for name in ["rate", "burst_rate", "burst_length"] {
            foreign(table, name, "process = \"closed\"", "`queue_depth`: completions set the pace")?;
        }
        let queue_depth = match (table.field("queue_depth"), usual) {
            (None, Some(Arrival::Closed { queue_depth })) => queue_depth,
            _ => table
                .require("queue_depth", "a closed loop keeps this many requests outstanding")?
                .count(1, 65_536)?,
        };
        return Ok(Arrival::Closed { queue_depth });
    }
    let allowed = "`rate`, or process = \"closed\" with `queue_depth`";
    foreign(table, "queue_depth", "an open process", allowed)?;
    if !process.has_bursts() {
        for name in ["burst_rate", "burst_length"] {
            foreign(
                table,
                name,
                "a process without bursts",
                "only with process = \"on-off\" or \"write-bursts\"",
            )?;
        }
    }
    let rate = match (table.field("rate"), &usual) {
        (
            None,
            Some(
                Arrival::Poisson { rate }
                | Arrival::Fixed { rate }
                | Arrival::OnOff { rate, .. }
                | Arrival::WriteBursts { rate, .. },
            ),
        ) => *rate,
        _ => table.require("rate", "there is no default rate")?.number(0.0, false, FASTEST)?,
    };
    match process {
        Process::OnOff | Process::WriteBursts => {
            let (burst_rate, burst_length) = bursts(table, rate, usual.as_ref())?;
            Ok(match process {
                Process::WriteBursts => Arrival::WriteBursts { rate, burst_rate, burst_length },
                _ => Arrival::OnOff { rate, burst_rate, burst_length },
            })
        }
        Process::Fixed => Ok(Arrival::Fixed { rate }),
        Process::Poisson | Process::Choices | Process::Phases | Process::Closed => {
            Ok(Arrival::Poisson { rate })
        }
    }
}

/// Gaps that are listed: those of phases, or to be chosen from.
fn gaps(table: &Section<'_>, are_phases: bool) -> Parsed<Arrival> {
    let field = table.require("gaps", "they are what is chosen from")?;
    let gaps = field.list(MOST_CHOICES, |gap| gap.long_duration(false))?;
    if gaps.iter().all(|gap| gap.0 == 0) {
        return Err(field.fault("are all 0: everything would arrive at once"));
    }
    let choices = choices(table, gaps)?;
    if !are_phases {
        return Ok(Arrival::Gaps(choices));
    }
    foreign(table, "persistence", "process = \"phases\"", "only with process = \"choices\"")?;
    let phase = |(gap, count)| Phase { gap, count };
    Ok(Arrival::Phases(choices.values.into_iter().zip(choices.counts).map(phase).collect()))
}

/// The counts and the persistence of these values.
fn choices<T>(table: &Section<'_>, values: Vec<T>) -> Parsed<Choices<T>> {
    let field = table.require("counts", "how often each of them occurs")?;
    let counts = field.list(MOST_CHOICES, |count| count.integer(1, MOST_REQUESTS))?;
    if counts.len() != values.len() {
        return Err(field.fault(format!("has {} numbers for {} values", counts.len(), values.len())));
    }
    Ok(Choices { values, counts, persistence: persistence(table, "persistence")? })
}

/// A share of draws that repeat the one before.
pub(crate) fn persistence(table: &Section<'_>, name: &str) -> Parsed<f64> {
    let Some(field) = table.field(name) else { return Ok(0.0) };
    match field.number(0.0, true, 1.0)? {
        1.0 => Err(field.fault("leaves nothing but the first value")),
        share => Ok(share),
    }
}

/// Refuses the keys of choices where `of` chooses something else.
fn only_for_choices(table: &Section<'_>, values: &str, of: &str) -> Parsed<()> {
    for name in [values, "counts", "persistence"] {
        let phases = if of == "process" { " or \"phases\"" } else { "" };
        foreign(table, name, &format!("this {of}"), &format!("only with {of} = \"choices\"{phases}"))?;
    }
    Ok(())
}

/// What bursts have besides their long-run rate: the rate within, and how many requests.
fn bursts(table: &Section<'_>, rate: f64, usual: Option<&Arrival>) -> Parsed<(f64, u32)> {
    let usual = match usual {
        Some(
            Arrival::OnOff { burst_rate, burst_length, .. }
            | Arrival::WriteBursts { burst_rate, burst_length, .. },
        ) => Some((*burst_rate, *burst_length)),
        _ => None,
    };
    let length = table.field("burst_length").map(|field| field.count(2, LONGEST_BURST)).transpose()?;
    let burst_length = length.or(usual.map(|usual| usual.1)).unwrap_or(DEFAULT_BURST);
    let why = "how fast requests come within a burst";
    let (burst_rate, at_fault) = match (table.field("burst_rate"), usual) {
        (None, Some((burst_rate, _))) => (burst_rate, table.require("rate", why)),
        _ => {
            let field = table.require("burst_rate", why)?;
            (field.number(0.0, false, FASTEST)?, Ok(field))
        }
    };
    if burst_rate > rate {
        return Ok((burst_rate, burst_length));
    }
    let field = at_fault?;
    let (problem, allowed) = if field.path.ends_with("burst_rate") {
        (
            format!(
                "is not above the long-run `rate`, {rate}: requests of a burst come faster than on average"
            ),
            format!("above {rate}, at most 10^9; without bursts: process = \"poisson\""),
        )
    } else {
        (
            format!("is not below the rate within bursts, {burst_rate}"),
            format!("below {burst_rate}, or a larger `burst_rate`; without bursts: process = \"poisson\""),
        )
    };
    Err(field.fault_allowing(problem, allowed))
}

/// Where requests go; the keys of a pattern only with that pattern.
pub(crate) fn pattern(table: &Section<'_>) -> Parsed<AddressPattern> {
    // As they are with defaults.
    let zipf = AddressPattern::Zipf { theta: DEFAULT_THETA };
    let hotspot = AddressPattern::Hotspot { hot_space: DEFAULT_HOT_SPACE, hot_traffic: DEFAULT_HOT_TRAFFIC };
    let names = [
        ("uniform", AddressPattern::Uniform),
        ("sequential", AddressPattern::Sequential),
        ("zipf", zipf),
        ("hotspot", hotspot),
        ("working-set", AddressPattern::WorkingSet(NO_WORKING_SET)),
        ("files", AddressPattern::Files(NO_FILES)),
    ];
    let written = table.field("pattern").map(|field| field.choice(&names)).transpose()?;
    let mut pattern = written.unwrap_or(AddressPattern::Uniform);
    let is_files = matches!(pattern, AddressPattern::Files(_));
    let is_working_set = matches!(pattern, AddressPattern::WorkingSet(_));
    for (name, owner, is_owner) in [
        ("theta", "zipf", matches!(pattern, AddressPattern::Zipf { .. })),
        ("hot_space", "hotspot", matches!(pattern, AddressPattern::Hotspot { .. })),
        ("hot_traffic", "hotspot", matches!(pattern, AddressPattern::Hotspot { .. })),
        ("first_touch", "working-set", is_working_set),
        ("sequential", "working-set", is_working_set),
        ("reuse", "working-set", is_working_set),
        ("file_size", "files", is_files),
        ("file_size_min", "files", is_files),
        ("reads", "files", is_files),
        ("deletes", "files", is_files),
        ("delete_batch", "files", is_files),
    ] {
        if !is_owner {
            foreign(table, name, "this pattern", &format!("only with pattern = \"{owner}\""))?;
        }
    }
    match &mut pattern {
        AddressPattern::Zipf { theta } => {
            if let Some(field) = table.field("theta") {
                *theta = field.number(0.0, false, STEEPEST)?;
            }
        }
        AddressPattern::Hotspot { hot_space, hot_traffic } => {
            if let Some(field) = table.field("hot_space") {
                *hot_space = field.number(0.0, false, 1.0)?;
                if *hot_space == 1.0 {
                    return Err(field.fault("leaves no cold space"));
                }
            }
            if let Some(field) = table.field("hot_traffic") {
                *hot_traffic = field.number(0.0, true, 1.0)?;
            }
        }
        AddressPattern::WorkingSet(pattern) => *pattern = working_set(table)?,
        AddressPattern::Files(pattern) => *pattern = files(table)?,
        AddressPattern::Uniform | AddressPattern::Sequential => {}
    }
    Ok(pattern)
}

/// Before its keys are read.
const NO_WORKING_SET: WorkingSetPattern = WorkingSetPattern { first_touch: 1.0, sequential: 0.0, reuse: 1.0 };

fn working_set(table: &Section<'_>) -> Parsed<WorkingSetPattern> {
    let first_touch = table.require("first_touch", "how fast the footprint is touched")?;
    let sequential = table.field("sequential").map(|field| field.number(0.0, true, 1.0)).transpose()?;
    let reuse = table.field("reuse").map(|field| field.number(REUSE.0, true, REUSE.1)).transpose()?;
    Ok(WorkingSetPattern {
        first_touch: first_touch.number(0.0, false, MOST_FIRST_TOUCHES)?,
        sequential: sequential.unwrap_or(NO_WORKING_SET.sequential),
        reuse: reuse.unwrap_or(NO_WORKING_SET.reuse),
    })
}

/// A part of the space: a share of it or bytes. Nothing and all of it only as a place, or only as a length.
pub(crate) fn extent(field: &Field<'_>, is_place: bool) -> Parsed<Extent> {
    if matches!(field.node.value, Value::Text(_)) {
        return field.bytes(if is_place { 0 } else { 1 }).map(Extent::Bytes);
    }
    match field.number(0.0, is_place, 1.0)? {
        1.0 if is_place => Err(field.fault("leaves nothing behind it")),
        share => Ok(Extent::Share(share)),
    }
}

/// What starts are multiples of.
pub(crate) fn start_unit(address: &Section<'_>, pattern: AddressPattern, is_aligned: bool) -> Parsed<u64> {
    let Some(field) = address.field("align") else { return Ok(1) };
    if matches!(pattern, AddressPattern::Files(_)) {
        return Err(field.fault("does not go with pattern = \"files\": files begin on whole pages"));
    }
    if is_aligned {
        return Err(field.fault("does not go with `workload.align` = true: requests are whole pages"));
    }
    match field.bytes(1)? {
        unit if unit <= LARGEST_ALIGN => Ok(unit),
        _ => Err(field.fault("is out of range")),
    }
}

/// Before its keys are read.
const NO_FILES: FilePattern = FilePattern {
    smallest: 0,
    largest: 0,
    reads: FileReads::Sequential,
    deletes: FileDeletes::Oldest,
    delete_batch: 1,
};

fn files(table: &Section<'_>) -> Parsed<FilePattern> {
    let largest = table.require("file_size", "there is no default size of files")?.bytes(1)?;
    let smallest = match table.field("file_size_min") {
        None => largest,
        Some(field) => match field.bytes(1)? {
            smallest if smallest > largest => return Err(field.fault("is above `file_size`")),
            smallest => smallest,
        },
    };
    let reads = [("sequential", FileReads::Sequential), ("random", FileReads::Random)];
    let deletes = [("oldest", FileDeletes::Oldest), ("random", FileDeletes::Random)];
    let batch = table.field("delete_batch").map(|field| field.count(1, LARGEST_BATCH)).transpose()?;
    Ok(FilePattern {
        smallest,
        largest,
        reads: table.field("reads").map(|field| field.choice(&reads)).transpose()?.unwrap_or_default(),
        deletes: table.field("deletes").map(|field| field.choice(&deletes)).transpose()?.unwrap_or_default(),
        delete_batch: batch.unwrap_or(1),
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Fixed,
    Exponential,
    Normal,
    Choices,
}

pub(crate) fn size(table: &Section<'_>, preset: Option<&WorkloadPreset>) -> Parsed<SizeDistribution> {
    let names = [
        ("fixed", Shape::Fixed),
        ("exponential", Shape::Exponential),
        ("normal", Shape::Normal),
        ("choices", Shape::Choices),
    ];
    let shape = table.field("distribution").map(|field| field.choice(&names)).transpose()?;
    if shape == Some(Shape::Choices) {
        for name in ["mean", "stddev"] {
            foreign(table, name, "distribution = \"choices\"", "`sizes` and `counts`")?;
        }
        let sizes = table.require("sizes", "they are what is chosen from")?;
        let sizes = sizes.list(MOST_CHOICES, |size| size.bytes(1))?;
        return choices(table, sizes).map(SizeDistribution::Choices);
    }
    only_for_choices(table, "sizes", "distribution")?;
    let mean = match (table.field("mean"), preset) {
        (Some(field), _) => field.bytes(1)?,
        (None, Some(preset)) => preset.size,
        (None, None) => table.require("mean", "there is no default size")?.bytes(1)?,
    };
    if shape == Some(Shape::Normal) {
        let stddev = table.require("stddev", "a normal distribution has one")?.bytes(0)?;
        return Ok(SizeDistribution::Normal { mean, stddev });
    }
    foreign(table, "stddev", "this distribution", "only with distribution = \"normal\"")?;
    match shape {
        Some(Shape::Exponential) => Ok(SizeDistribution::Exponential { mean }),
        _ => Ok(SizeDistribution::Fixed { mean }),
    }
}

/// `requests` or `duration`, not both.
pub(crate) fn limit(section: &Section<'_>) -> Parsed<Option<Limit>> {
    match (section.field("requests"), section.field("duration")) {
        (Some(_), Some(duration)) => {
            Err(duration
                .fault_allowing("cannot be combined with `requests`", "one of `requests` and `duration`"))
        }
        (Some(requests), None) => requests.integer(1, MOST_REQUESTS).map(Limit::Requests).map(Some),
        (None, Some(duration)) => duration.long_duration(true).map(Limit::Duration).map(Some),
        (None, None) => Ok(None),
    }
}

pub(crate) fn warmup(section: &Section<'_>, limit: Option<Limit>) -> Parsed<Option<Limit>> {
    let Some(field) = section.field("warmup") else { return Ok(None) };
    let warmup = match field.node.value {
        Value::Integer(_) => Limit::Requests(field.integer(0, MOST_REQUESTS)?),
        _ => Limit::Duration(field.long_duration(false)?),
    };
    let whole = match (warmup, limit) {
        (Limit::Requests(warmup), Some(Limit::Requests(all))) if warmup >= all => {
            Some(format!("{all} requests"))
        }
        (Limit::Duration(warmup), Some(Limit::Duration(all))) if warmup >= all => Some(all.to_string()),
        _ => None,
    };
    match whole {
        Some(whole) => Err(field.fault(format!("leaves nothing to measure of {whole}"))),
        None => Ok(Some(warmup)),
    }
}

/// Checks a load against the array it goes to.
pub(crate) fn fits(root: &Section<'_>, workload: &WorkloadConfig, room: &Room) -> Parsed<()> {
    let section = root.child("workload", "workload")?;
    match workload {
        WorkloadConfig::Synthetic(load) => synthetic_fits(&section, load, room),
        WorkloadConfig::Streams(load) => streams::fit(&section, load, room.addressed_bytes()),
        WorkloadConfig::Trace(_) => Ok(()),
    }
}

/// A fault of the value of `name`, or of its absence.
fn fail(table: &Section<'_>, name: &str, problem: String, allowed: String) -> Parsed<()> {
    Err(match table.field(name) {
        Some(field) => field.fault_allowing(problem, allowed),
        None => {
            let key = table.below(name);
            Box::new(Fault { place: table.place, key, value: None, problem, allowed })
        }
    })
}

fn synthetic_fits(section: &Section<'_>, load: &SyntheticConfig, room: &Room) -> Parsed<()> {
    let address = section.child("address", "workload.address")?;
    if load.skew_member >= room.devices() {
        let problem = format!("there are only {} devices", room.devices());
        return fail(&address, "skew_member", problem, format!("0 to {}", room.devices() - 1));
    }
    if load.skew_fraction > 0.0 {
        skew_fits(&address, load, room)?;
    }
    let (whole, on) = match load.skew_fraction {
        0.0 => (room.addressed_bytes(), ""),
        _ => (room.pinned_bytes(load.skew_member), " on one member"),
    };
    footprint_fits(&address, load.footprint, whole, on)?;
    requests_fit(section, &load.size, load.address, load.footprint.of(whole), on)
}

/// Refuses a footprint in bytes for which there is no room.
pub(crate) fn footprint_fits(address: &Section<'_>, footprint: Extent, room: u64, on: &str) -> Parsed<()> {
    let shown = harmonia_types::units::format_bytes(room);
    match footprint {
        Extent::Bytes(bytes) if bytes > room => fail(
            address,
            "footprint",
            format!("is larger than the space there is{on}, {shown}"),
            format!("at most {shown}"),
        ),
        _ => Ok(()),
    }
}

/// Skewed requests need a member with data for them, and others for the rest.
fn skew_fits(address: &Section<'_>, load: &SyntheticConfig, room: &Room) -> Parsed<()> {
    if room.devices() < 2 {
        let problem = "needs at least 2 devices: the other requests go to the others".to_owned();
        return fail(address, "skew", problem, "0 with one device".into());
    }
    if matches!(load.address, AddressPattern::Files(_)) {
        let problem = "does not go with pattern = \"files\": a file lies on all members".to_owned();
        return fail(address, "skew", problem, "0 with files".into());
    }
    if load.skew_rest == SkewRest::Others && !room.is_raid0() {
        let problem = format!("{} needs all members for every stripe", room.level());
        return fail(
            address,
            "skew_rest",
            problem,
            "\"all\"; \"others\" with array.level = \"raid0\"".into(),
        );
    }
    if room.keeps_all_on_each() {
        let problem = format!("{} keeps all data on each of {} members", room.level(), room.devices());
        return fail(address, "skew", problem, "0 where every member holds everything".into());
    }
    if room.pinned_bytes(load.skew_member) == 0 {
        let problem = format!("member {} holds parity only under {}", load.skew_member, room.level());
        let (first, last) = room.data_members();
        return fail(address, "skew_member", problem, format!("{first} to {last}, which hold data"));
    }
    Ok(())
}

/// Refuses a mean size, or files, for which there is no room in a footprint of so many bytes.
pub(crate) fn requests_fit(
    section: &Section<'_>,
    size: &SizeDistribution,
    address: AddressPattern,
    footprint: u64,
    on: &str,
) -> Parsed<()> {
    let shown = harmonia_types::units::format_bytes;
    let larger = |table: &Section<'_>, name: &str, what: &str, most: u64| {
        fail(
            table,
            name,
            format!("is larger than {what}{on}, {}", shown(most)),
            format!("at most {}", shown(most)),
        )
    };
    let (most, what) = match address {
        AddressPattern::Files(files) if files.largest > footprint => {
            let table = section.child("address", "workload.address")?;
            return larger(&table, "file_size", "the footprint", footprint);
        }
        AddressPattern::Files(files) => (files.largest, "a file"),
        // Exact enough: the product is far below 2^63, and a byte more or less is no request.
        AddressPattern::Hotspot { hot_space, .. } => {
            let part = hot_space.min(1.0 - hot_space);
            ((footprint as f64 * part) as u64, "the hot or the cold part of the footprint")
        }
        _ => (footprint, "the footprint"),
    };
    if size.must_fit() > most {
        let key = if matches!(size, SizeDistribution::Choices(_)) { "sizes" } else { "mean" };
        return larger(&section.child("size", "workload.size")?, key, what, most);
    }
    Ok(())
}
