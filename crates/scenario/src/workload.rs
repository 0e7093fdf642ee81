//! The `[workload]` table.

use std::path::{Path, PathBuf};

use harmonia_array::ArrayConfig;
use harmonia_types::Deadlines;
use harmonia_workload::{
    AddressPattern, Arrival, Choices, Extent, FilePattern, Limit, Phase, SizeDistribution, SkewRest,
    SyntheticConfig, WorkloadConfig,
};

use crate::error::{Fault, Parsed};
use crate::level::Room;
use crate::presets::workload::{self as presets, WorkloadPreset};
use crate::read::{Field, Section};
use crate::scenario::{FlagValue, ReadingFlag, TraceFile};
use crate::schema::load::Load;
use crate::schema::workload::{self as keys, Process, Shape};
use crate::schema::{self, held};
use crate::tree::{Entry, Node, Place, Table, Value};
use crate::{streams, trace};

const DEFAULT_REQUESTS: u64 = 100_000;
const DEFAULT_WARMUP: u64 = 2_000;
const DEFAULT_BURST: u32 = 100;

/// Reads `[workload]` of an array; a trace's path is taken relative to `folder`.
pub(crate) fn read(root: &Section<'_>, folder: Option<&Path>, room: &Room) -> Parsed<WorkloadConfig> {
    let section = root.child("workload")?;
    let is_trace = section.get_or(&keys::KIND, false)?;
    let kind = if is_trace { "trace" } else { "synthetic" };
    let has_streams = !is_trace && streams::are_in(&section);
    let foreign: Vec<&str> = schema::owned("workload")
        .filter(|(_, owner)| owner.starts_with("trace") != is_trace)
        .map(|(name, _)| name)
        .collect();
    let is_foreign = |name: &&&str| !(has_streams && **name == "time_scale");
    if let Some(field) = foreign.iter().filter(is_foreign).find_map(|name| section.named(name)) {
        if field.path.ends_with(".time_scale") {
            let allowed =
                "kind = \"trace\" or [workload.stream.NAME]; a load of one stream has `arrival.rate`";
            return Err(field.fault_allowing("is for traces and loads of several streams", allowed));
        }
        if let Place::Flag(_) = field.node.place {
            let allowed = "--trace FILE, or a scenario whose load is a trace";
            return Err(field.fault_allowing("says how a trace is read, and the load is not one", allowed));
        }
        let known = schema::names_in("workload").into_iter().filter(|known| !foreign.contains(known));
        let allowed = format!("with kind = \"{kind}\": {}", known.collect::<Vec<_>>().join(", "));
        return Err(field.fault_allowing(format!("does not belong to kind = \"{kind}\""), allowed));
    }
    if is_trace {
        trace::read(&section, folder).map(WorkloadConfig::Trace)
    } else if has_streams {
        // What each stream has; arrivals may also be common to several.
        let own = schema::names_in("workload.stream");
        let is_own = |name: &&str| *name != "arrival" && own.contains(name);
        let mut names = schema::names_in("workload").into_iter().filter(is_own);
        if let Some(field) = names.find_map(|name| section.named(name)) {
            let name = field.name();
            let allowed = format!("[workload.stream.NAME] with `{name}`, for each stream");
            return Err(field.fault_allowing("does not belong to a load of several streams", allowed));
        }
        streams::read(&section).map(WorkloadConfig::Streams)
    } else {
        synthetic(&section, room).map(WorkloadConfig::Synthetic)
    }
}

/// Reads `workload.deadline`: one time for all, or reads and writes apart.
pub(crate) fn deadlines(root: &Section<'_>) -> Parsed<Deadlines> {
    let section = root.child("workload")?;
    let within = match section.get(&keys::DEADLINE)? {
        None => return Ok(Deadlines::default()),
        Some(within) => within,
    };
    if within.is_some() {
        return Ok(Deadlines { read: within, write: within });
    }
    let table = section.child("workload.deadline")?;
    Ok(Deadlines { read: table.get(&keys::DEADLINE_READ)?, write: table.get(&keys::DEADLINE_WRITE)? })
}

/// Makes the load the trace given on the command line, and puts what flags say about reading it. Of a load of another kind
/// only what flags say is kept, of another trace what does not describe its files.
pub(crate) fn put_trace(root: &mut Table, trace: &TraceFile) -> Parsed<()> {
    let mut table = match root.get("workload").map(|entry| &entry.node.value) {
        Some(Value::Table(table)) => table.clone(),
        // Not a table: `read` will say so.
        Some(_) => return Ok(()),
        None => Table::default(),
    };
    // Neither files nor options: a list of files that is empty, which `read` will refuse.
    let says_nothing = trace.format.is_none() && trace.reading.is_empty();
    if !trace.paths.is_empty() || says_nothing {
        replace(&mut table, &trace.paths)?;
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
    Ok(())
}

/// Whether `--set` flags say this, or something in it; all else in it goes.
fn is_of_flags(entry: &mut Entry) -> bool {
    if let Value::Table(table) = &mut entry.node.value
        && !matches!(entry.place, Place::Set(_))
    {
        table.entries.retain_mut(is_of_flags);
        let Some(first) = table.entries.first() else { return false };
        (entry.place, entry.node.place) = (first.place, first.node.place);
    }
    matches!(entry.place, Place::Set(_))
}

/// Makes a `[workload]` that of these files.
fn replace(table: &mut Table, paths: &[PathBuf]) -> Parsed<()> {
    let is_trace = table
        .get("kind")
        .is_some_and(|kind| matches!(&kind.node.value, Value::Text(kind) if kind == "trace"));
    table.entries.retain_mut(|entry| {
        // Keys that say how the files named beside them are to be read hold for no other files.
        let is_of_files = schema::owned("workload").any(|owned| owned == (&*entry.name, "trace files"));
        let is_kept = is_trace && !is_of_files;
        is_kept || is_of_flags(entry)
    });
    let name = |path: &PathBuf| Value::Text(path.to_string_lossy().into_owned());
    let names = match paths {
        [only] => name(only),
        _ => Value::List(paths.iter().map(|path| Node { value: name(path), place: Place::Trace }).collect()),
    };
    for (name, value) in [("kind", Value::Text("trace".into())), ("path", names)] {
        let node = Node { value, place: Place::Trace };
        if let Some(Entry { place: place @ Place::Set(_), node: set, .. }) = table.get(name)
            && set.shown() != node.shown()
        {
            return Err(Box::new(Fault {
                place: *place,
                key: format!("workload.{name}"),
                value: Some(set.shown()),
                problem: "does not go with --trace, which says it".to_owned(),
                allowed: "one of the two".to_owned(),
            }));
        }
        table.put(name, Place::Trace, node.value);
    }
    Ok(())
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

/// Refuses a share of requests that trim which is more than is left by those that read.
pub(crate) fn trims_fit(section: &Section<'_>, read_fraction: f64, trim_fraction: f64) -> Parsed<()> {
    let most = 1.0 - read_fraction;
    match section.named("trim_fraction") {
        Some(field) if trim_fraction > most => {
            let problem = format!("is more than `read_fraction` = {read_fraction} leaves");
            Err(field.fault_allowing(problem, format!("0 to {most}, or a smaller `read_fraction`")))
        }
        _ => Ok(()),
    }
}

/// Bursts of writes need something that writes.
pub(crate) fn has_writes(section: &Section<'_>, arrival: &Arrival, read_fraction: f64) -> Parsed<()> {
    match section.named("read_fraction") {
        Some(field) if matches!(arrival, Arrival::WriteBursts { .. }) && read_fraction == 1.0 => {
            let allowed = "below 1, or process = \"on-off\" for bursts of reads";
            Err(field.fault_allowing("leaves no writes for the bursts of writes", allowed))
        }
        _ => Ok(()),
    }
}

fn synthetic(section: &Section<'_>, room: &Room) -> Parsed<SyntheticConfig> {
    let preset = section.get(&keys::PRESET)?.and_then(presets::find);
    let (limit, warmup) = length(section)?;
    // All tables before any value: what is misspelt is told before what is missing.
    let address = section.child("workload.address")?;
    let arrivals = section.child("workload.arrival")?;
    let sizes = section.child("workload.size")?;
    let mut load = Load::Synthetic(SyntheticConfig {
        limit,
        warmup,
        read_fraction: preset.map_or(0.0, |preset| preset.read_fraction),
        skew_fraction: preset.map_or(0.0, |preset| preset.skew_fraction),
        skew_rest: if room.is_raid0() { SkewRest::Others } else { SkewRest::All },
        ..SyntheticConfig::writes(0, 0.0, 0)
    });
    held::lay(&keys::KEYS, &mut load, section)?;
    let is_aligned = matches!(&load, Load::Synthetic(load) if load.align);
    addresses(&mut load, &address, is_aligned)?;
    let Load::Synthetic(mut load) = load else { unreachable!("a load keeps its kind") };
    load.arrival = arrival(&arrivals, preset)?;
    has_writes(section, &load.arrival, load.read_fraction)?;
    load.size = size(&sizes, preset)?;
    trims_fit(section, load.read_fraction, load.trim_fraction)?;
    Ok(load)
}

/// A key that the chosen variant of its table does not have.
pub(crate) fn foreign(section: &Section<'_>, name: &str, variant: &str, allowed: &str) -> Parsed<()> {
    match section.named(name) {
        Some(field) => Err(field.fault_allowing(format!("does not belong to {variant}"), allowed)),
        None => Ok(()),
    }
}

impl Process {
    fn has_bursts(self) -> bool {
        matches!(self, Process::OnOff | Process::WriteBursts)
    }
}

/// The process of a preset's arrivals.
pub(crate) fn process_of(arrival: &Arrival) -> Process {
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
    let written = table.get(&keys::PROCESS)?;
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
        let depth = &keys::ARRIVAL_QUEUE_DEPTH;
        let queue_depth = match (table.get(depth)?, usual) {
            (None, Some(Arrival::Closed { queue_depth })) => queue_depth,
            _ => table.must(depth, "a closed loop keeps this many requests outstanding")?,
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
    let rate = match (table.field(&keys::RATE), &usual) {
        (
            None,
            Some(
                Arrival::Poisson { rate }
                | Arrival::Fixed { rate }
                | Arrival::OnOff { rate, .. }
                | Arrival::WriteBursts { rate, .. },
            ),
        ) => *rate,
        _ => table.must(&keys::RATE, "there is no default rate")?,
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
    let field = table.require(&keys::GAPS, "they are what is chosen from")?;
    let gaps = keys::GAPS.read(&field)?;
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
    // Gaps and sizes have the same two keys.
    let field = table.require(&keys::SIZE_COUNTS, "how often each of them occurs")?;
    let counts = keys::SIZE_COUNTS.read(&field)?;
    if counts.len() != values.len() {
        return Err(field.fault(format!("has {} numbers for {} values", counts.len(), values.len())));
    }
    Ok(Choices { values, counts, persistence: table.get_or(&keys::SIZE_PERSISTENCE, 0.0)? })
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
    let length = table.get(&keys::BURST_LENGTH)?;
    let burst_length = length.or(usual.map(|usual| usual.1)).unwrap_or(DEFAULT_BURST);
    let why = "how fast requests come within a burst";
    let (burst_rate, at_fault) = match (table.field(&keys::BURST_RATE), usual) {
        (None, Some((burst_rate, _))) => (burst_rate, table.require(&keys::RATE, why)),
        _ => {
            let field = table.require(&keys::BURST_RATE, why)?;
            (keys::BURST_RATE.read(&field)?, Ok(field))
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

/// Lays `[workload.address]` over a load or a stream, the keys of a pattern only with that pattern.
pub(crate) fn addresses(load: &mut Load, address: &Section<'_>, is_aligned: bool) -> Parsed<()> {
    let pattern = address.get_or(&keys::PATTERN, AddressPattern::Uniform)?;
    may_start_anywhere(address, pattern, is_aligned)?;
    if let Some(place) = load.pattern_mut() {
        *place = pattern;
    }
    held::lay(&keys::KEYS, load, address)?;
    match load.pattern_mut() {
        Some(AddressPattern::Files(files)) => files_fit(address, files),
        _ => Ok(()),
    }
}

/// Refuses starts of requests where others are said already.
fn may_start_anywhere(address: &Section<'_>, pattern: AddressPattern, is_aligned: bool) -> Parsed<()> {
    let Some(field) = address.named("align") else { return Ok(()) };
    if matches!(pattern, AddressPattern::Files(_)) {
        return Err(field.fault("does not go with pattern = \"files\": files begin on whole pages"));
    }
    if is_aligned {
        return Err(field.fault("does not go with `workload.align` = true: requests are whole pages"));
    }
    Ok(())
}

/// Files are all alike unless the smallest size is said.
fn files_fit(address: &Section<'_>, files: &mut FilePattern) -> Parsed<()> {
    match address.named("file_size_min") {
        None => files.smallest = files.largest,
        Some(field) if files.smallest > files.largest => return Err(field.fault("is above `file_size`")),
        Some(_) => {}
    }
    Ok(())
}

pub(crate) fn size(table: &Section<'_>, preset: Option<&WorkloadPreset>) -> Parsed<SizeDistribution> {
    let shape = table.get_or(&keys::DISTRIBUTION, Shape::Fixed)?;
    if shape == Shape::Choices {
        for name in ["mean", "stddev"] {
            foreign(table, name, "distribution = \"choices\"", "`sizes` and `counts`")?;
        }
        let sizes = table.must(&keys::SIZES, "they are what is chosen from")?;
        return choices(table, sizes).map(SizeDistribution::Choices);
    }
    only_for_choices(table, "sizes", "distribution")?;
    let mean = match (table.field(&keys::MEAN), preset) {
        (None, Some(preset)) => preset.size,
        _ => table.must(&keys::MEAN, "there is no default size")?,
    };
    if shape == Shape::Normal {
        let stddev = table.must(&keys::STDDEV, "a normal distribution has one")?;
        return Ok(SizeDistribution::Normal { mean, stddev });
    }
    foreign(table, "stddev", "this distribution", "only with distribution = \"normal\"")?;
    match shape {
        Shape::Exponential => Ok(SizeDistribution::Exponential { mean }),
        _ => Ok(SizeDistribution::Fixed { mean }),
    }
}

/// `requests` or `duration`, not both.
pub(crate) fn limit(section: &Section<'_>) -> Parsed<Option<Limit>> {
    if let (Some(_), Some(duration)) = (section.field(&keys::REQUESTS), section.field(&keys::DURATION)) {
        let allowed = "one of `requests` and `duration`";
        return Err(duration.fault_allowing("cannot be combined with `requests`", allowed));
    }
    let duration = section.get(&keys::DURATION)?.map(Limit::Duration);
    Ok(section.get(&keys::REQUESTS)?.map(Limit::Requests).or(duration))
}

pub(crate) fn warmup(section: &Section<'_>, limit: Option<Limit>) -> Parsed<Option<Limit>> {
    let Some(field) = section.field(&keys::WARMUP) else { return Ok(None) };
    let warmup = keys::WARMUP.read(&field)?;
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
    let section = root.child("workload")?;
    match workload {
        WorkloadConfig::Synthetic(load) => synthetic_fits(&section, load, room),
        WorkloadConfig::Streams(load) => streams::fit(&section, load, room.addressed_bytes()),
        WorkloadConfig::Trace(_) => Ok(()),
    }
}

/// Refuses what a load says in bytes where members are scaled down: a part of a drive holds a part of them. Traces are folded.
pub(crate) fn can_be_scaled(
    root: &Section<'_>,
    workload: &WorkloadConfig,
    array: &ArrayConfig,
) -> Parsed<()> {
    let Some(scaled) = array.members.iter().map(|member| &member.ssd).find(|ssd| !ssd.scale.is_whole())
    else {
        return Ok(());
    };
    let section = root.child("workload")?;
    let refuse = |field: &Field<'_>, what: &str, allowed: &str| {
        Err(field.fault_allowing(format!("does not go with ssd.scale = {}: {what}", scaled.scale), allowed))
    };
    const SIZE: &str = "a part of a drive holds only a part of so many bytes";
    const SHARE: &str =
        "a share of the array such as \"25%\", or drives that are not scaled (ssd.scale = \"1\")";
    let in_bytes = |extent: &Extent| matches!(extent, Extent::Bytes(_));
    let of_table = |address: &Section<'_>, pattern: &AddressPattern, extents: &[(&str, bool)]| {
        for (name, _) in extents.iter().filter(|(_, in_bytes)| *in_bytes) {
            if let Some(field) = address.named(name) {
                return refuse(&field, SIZE, SHARE);
            }
        }
        match address.named("pattern").filter(|_| matches!(pattern, AddressPattern::WorkingSet(_))) {
            Some(field) => refuse(
                &field,
                "how fast a working set grows depends on the size of the drives",
                "another pattern, a trace, or drives that are not scaled (ssd.scale = \"1\")",
            ),
            None => Ok(()),
        }
    };
    match workload {
        WorkloadConfig::Synthetic(load) => {
            let extents = [("footprint", in_bytes(&load.footprint))];
            of_table(&section.child("workload.address")?, &load.address, &extents)
        }
        WorkloadConfig::Streams(load) => streams::each(&section, |name, table| {
            let Some(stream) = load.streams.get(name) else { return Ok(()) };
            let extents = [
                ("footprint", in_bytes(&stream.footprint)),
                ("start", stream.start.as_ref().is_some_and(in_bytes)),
            ];
            of_table(&table.child("workload.address")?, &stream.address, &extents)
        }),
        WorkloadConfig::Trace(_) => Ok(()),
    }
}

/// A fault of the value of `name`, or of its absence.
fn fail(table: &Section<'_>, name: &str, problem: String, allowed: String) -> Parsed<()> {
    Err(match table.named(name) {
        Some(field) => field.fault_allowing(problem, allowed),
        None => {
            let key = table.below(name);
            Box::new(Fault { place: table.place, key, value: None, problem, allowed })
        }
    })
}

fn synthetic_fits(section: &Section<'_>, load: &SyntheticConfig, room: &Room) -> Parsed<()> {
    let address = section.child("workload.address")?;
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
            let table = section.child("workload.address")?;
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
        return larger(&section.child("workload.size")?, key, what, most);
    }
    Ok(())
}
