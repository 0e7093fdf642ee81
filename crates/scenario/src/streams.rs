//! `[workload.stream.NAME]`: a load of several streams, written out, or that of a preset with keys changed or added.

use std::collections::BTreeMap;

use harmonia_types::units;
use harmonia_workload::{AddressPattern, Arrival, Extent, StreamArrival, StreamConfig, StreamsConfig};

use crate::error::{Fault, Parsed};
use crate::presets::stand_in;
use crate::read::{Field, Section};
use crate::schema::load::Load;
use crate::schema::workload as keys;
use crate::schema::{self, held};
use crate::tree::{Entry, Node, Place, Table, Value};
use crate::workload;

/// Keys that a value of another key brings along: whoever chooses another process, distribution or pattern than the
/// preset wants none of those.
const BROUGHT_ALONG: &[(&str, &[&str])] = &[
    ("process", &["burst_rate", "burst_length", "gaps", "counts", "persistence"]),
    ("distribution", &["stddev", "sizes", "counts", "persistence"]),
];
/// Longest name of a stream.
const LONGEST_NAME: usize = 40;
/// Footprints that add up to 1 may be a rounding error above it.
const ROUNDING: f64 = 1e-9;

/// Whether the load is one of streams.
pub(crate) fn are_in(section: &Section<'_>) -> bool {
    section.table.get("stream").is_some() || preset(section).is_some()
}

/// The preset of streams that is named, if one is.
fn preset(section: &Section<'_>) -> Option<&'static stand_in::StandIn> {
    match &section.table.get("preset")?.node.value {
        Value::Text(name) => stand_in::find(name),
        _ => None,
    }
}

/// Reads the streams of `[workload]`.
pub(crate) fn read(section: &Section<'_>) -> Parsed<StreamsConfig> {
    if let (None, Some(field)) = (preset(section), section.field(&keys::PRESET)) {
        keys::PRESET.read(&field)?;
        let allowed = "a preset of streams, or this one without [workload.stream]";
        return Err(field.fault_allowing("is a single load and cannot be combined with streams", allowed));
    }
    let (limit, warmup) = workload::length(section)?;
    let mut load = Load::Streams(StreamsConfig { limit, warmup, ..StreamsConfig::of(0, BTreeMap::new()) });
    held::lay(&keys::KEYS, &mut load, section)?;
    let Load::Streams(mut load) = load else { unreachable!("a load keeps its kind") };
    let tables = tables(section)?;
    for stream in sections(&tables)? {
        let name = stream.path.rsplit('.').next().unwrap_or_default().to_owned();
        load.streams.insert(name, read_one(&stream, load.align)?);
    }
    load.arrival = common_arrivals(section, &tables)?;
    Ok(load)
}

/// Visits every stream by its name.
pub(crate) fn each(section: &Section<'_>, visit: impl Fn(&str, &Section<'_>) -> Parsed<()>) -> Parsed<()> {
    let tables = tables(section)?;
    sections(&tables)?.iter().try_for_each(|stream| {
        let name = stream.path.rsplit('.').next().unwrap_or_default();
        visit(name, stream)
    })
}

/// `[workload.arrival]` beside streams, which are those with a `count`.
fn common_arrivals(section: &Section<'_>, tables: &Node) -> Parsed<Option<Arrival>> {
    let streams = sections(tables)?;
    let taking_part = streams.iter().find_map(|stream| stream.field(&keys::STREAM_COUNT));
    match (section.field(&keys::ARRIVAL), taking_part) {
        (None, None) => match section.named("stream_persistence") {
            Some(field) => {
                Err(field.fault_allowing(NOBODY, "streams with `count` beside [workload.arrival]"))
            }
            None => Ok(None),
        },
        (Some(field), None) => {
            Err(field
                .fault_allowing(NOBODY, "[workload.stream.NAME] with `count`, or with `arrival` of its own"))
        }
        (None, Some(count)) => {
            Err(count.fault("has no arrivals to be counted: [workload.arrival] is missing"))
        }
        (Some(_), Some(_)) => {
            let table = section.child("workload.arrival")?;
            let arrival = workload::arrival(&table, None)?;
            let phases = if let Arrival::Phases(phases) = &arrival { phases.len() } else { 1 };
            streams.iter().try_for_each(|stream| counts_fit(stream, phases))?;
            let problem = match arrival {
                Arrival::Closed { .. } => "cannot be combined with streams",
                Arrival::WriteBursts { .. } => {
                    "does not go with streams in common: it says which requests write"
                }
                _ => return Ok(Some(arrival)),
            };
            let process = table.require(&keys::PROCESS, "it was just read")?;
            Err(process.fault_allowing(problem, "poisson, fixed, on-off, choices, phases"))
        }
    }
}

/// Refuses counts that are neither one nor one for each phase.
fn counts_fit(stream: &Section<'_>, phases: usize) -> Parsed<()> {
    let Some(field) = stream.field(&keys::STREAM_COUNT) else { return Ok(()) };
    match &field.node.value {
        Value::List(counts) if counts.len() != phases => {
            let problem = format!("has {} numbers; [workload.arrival] has {phases} phases", counts.len());
            Err(field.fault_allowing(problem, "one number, or a list of one for each phase"))
        }
        _ => Ok(()),
    }
}

/// Why arrivals beside streams are refused.
const NOBODY: &str = "is for streams that have a `count`, and there is none";

fn read_one(stream: &Section<'_>, align: bool) -> Parsed<StreamConfig> {
    // All tables before any value, as for one load.
    let address = stream.child("workload.address")?;
    let arrivals = stream.child("workload.arrival")?;
    let sizes = stream.child("workload.size")?;
    let mut load = Load::Stream(StreamConfig::writes(0.0, 0));
    held::lay(&keys::KEYS, &mut load, stream)?;
    footprint(&address)?;
    workload::addresses(&mut load, &address, align)?;
    let Load::Stream(mut load) = load else { unreachable!("a load keeps its kind") };
    workload::trims_fit(stream, load.read_fraction, load.trim_fraction)?;
    if let (2.., AddressPattern::Files(_), Some(field)) = (load.jobs, load.address, stream.named("jobs")) {
        return Err(field.fault_allowing("cannot share files", "1 with pattern files"));
    }
    load.arrival = arrival(stream, &arrivals, load.read_fraction)?;
    load.size = workload::size(&sizes, None)?;
    Ok(load)
}

/// Arrivals of a stream's own, or its part in common ones.
fn arrival(stream: &Section<'_>, arrivals: &Section<'_>, read_fraction: f64) -> Parsed<StreamArrival> {
    if let Some(count) = stream.field(&keys::STREAM_COUNT) {
        if stream.field(&keys::STREAM_ARRIVAL).is_some() {
            return Err(count.fault("does not go with `arrival`: the stream has arrivals of its own"));
        }
        let counts = keys::STREAM_COUNT.read(&count)?;
        if counts.iter().all(|&count| count == 0) {
            return Err(count.fault("leaves the stream nothing"));
        }
        return Ok(StreamArrival::Common(counts));
    }
    let arrival = workload::arrival(arrivals, None)?;
    if let (Arrival::Closed { .. }, Some(field)) = (&arrival, arrivals.field(&keys::PROCESS)) {
        let allowed = "poisson, fixed, on-off, write-bursts, choices; closed in a load without streams";
        return Err(field.fault_allowing("cannot be combined with streams", allowed));
    }
    workload::has_writes(stream, &arrival, read_fraction)?;
    Ok(StreamArrival::Own(arrival))
}

/// Checks streams against an array of so many bytes.
pub(crate) fn fit(section: &Section<'_>, load: &StreamsConfig, array_bytes: u64) -> Parsed<()> {
    let tables = tables(section)?;
    let (mut left, mut left_bytes) = (1.0, array_bytes);
    let mut streams = sections(&tables)?;
    // In the order in which their parts lie.
    streams.sort_by(|a, b| a.path.cmp(&b.path));
    for (stream, config) in streams.iter().zip(load.streams.values()) {
        let address = stream.child("workload.address")?;
        let bytes = config.footprint.of(array_bytes);
        match (config.start, config.footprint) {
            (Some(start), _) => {
                let room = array_bytes.saturating_sub(start.of(array_bytes));
                if bytes > room {
                    return Err(too_long(&address, room, "is larger than what is left behind its `start`")?);
                }
            }
            (None, Extent::Share(share)) if share > left + ROUNDING => {
                let shown = (left * 1e9_f64).round() / 1e9;
                let problem =
                    format!("is more than the streams before it leave, {shown}: together they exceed 1");
                let allowed = "footprints of all streams that add up to at most 1";
                return Err(footprint(&address)?.fault_allowing(problem, allowed));
            }
            (None, Extent::Bytes(bytes)) if bytes > left_bytes => {
                return Err(too_long(&address, left_bytes, "is more than the streams before it leave")?);
            }
            (None, _) => {
                left -= match config.footprint {
                    Extent::Share(share) => share,
                    Extent::Bytes(bytes) => bytes as f64 / array_bytes as f64,
                };
                left_bytes = left_bytes.saturating_sub(bytes);
            }
        }
        workload::requests_fit(stream, &config.size, config.address, bytes, "")?;
    }
    Ok(())
}

fn footprint<'a>(address: &Section<'a>) -> Parsed<Field<'a>> {
    let missing = || address.missing("footprint", "a stream has a part of the space");
    address.named("footprint").ok_or_else(missing)
}

/// A fault of a footprint for which there are only so many bytes.
fn too_long(address: &Section<'_>, room: u64, problem: &str) -> Parsed<Box<Fault>> {
    let room = units::format_bytes(room);
    Ok(footprint(address)?.fault_allowing(format!("{problem}, {room}"), format!("at most {room}")))
}

/// The tables of all streams: those of the preset with what is written laid over them.
fn tables(section: &Section<'_>) -> Parsed<Node> {
    let mut all = preset(section).map(|preset| preset.streams(&|_| Place::Nowhere)).unwrap_or_default();
    let mut place = section.place;
    if let Some(entry) = section.table.get("stream") {
        place = entry.node.place;
        match &entry.node.value {
            Value::Table(written) => lay_over(&mut all, written),
            _ => {
                let field = section.field(&keys::STREAM).expect("just found");
                return Err(field.fault(format!("must be tables with names, not {}", entry.node.kind())));
            }
        }
    }
    Ok(Node { value: Value::Table(all), place })
}

/// Each stream as a table to read.
fn sections(tables: &Node) -> Parsed<Vec<Section<'_>>> {
    let Value::Table(table) = &tables.value else { return Ok(Vec::new()) };
    let section = |entry| -> Parsed<Section<'_>> {
        let Entry { name, node, .. }: &Entry = entry;
        let path = format!("workload.stream.{name}");
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !(1..=LONGEST_NAME).contains(&name.len()) || !name.bytes().all(is_plain) {
            let allowed = format!("up to {LONGEST_NAME} letters, digits, `_` and `-`");
            return Err(Box::new(Fault {
                place: entry.place,
                key: "workload.stream".into(),
                value: Some(crate::error::printable(name, 60)),
                problem: "is not a name for a stream".into(),
                allowed,
            }));
        }
        Section::of(node, path, "workload.stream", &[])
    };
    if table.entries.is_empty() {
        return Err(Box::new(Fault {
            place: tables.place,
            key: "workload.stream".into(),
            value: None,
            problem: "has no stream in it".into(),
            allowed: "tables [workload.stream.NAME], at least one".into(),
        }));
    }
    table.entries.iter().map(section).collect()
}

/// Lays `above` over `below`, table by table.
fn lay_over(below: &mut Table, above: &Table) {
    let of_patterns: Vec<&str> = schema::owned("workload.address").map(|(name, _)| name).collect();
    for (choice, brought) in BROUGHT_ALONG.iter().copied().chain([("pattern", of_patterns.as_slice())]) {
        let shown = |table: &Table| table.get(choice).map(|entry| entry.node.shown());
        if shown(above).is_some_and(|chosen| Some(chosen) != shown(below)) {
            below.entries.retain(|entry| !brought.contains(&entry.name.as_str()));
        }
    }
    for entry in &above.entries {
        let old = below.entries.iter_mut().find(|old| old.name == entry.name);
        match (old.map(|old| &mut old.node.value), &entry.node.value) {
            (Some(Value::Table(old)), Value::Table(new)) => lay_over(old, new),
            _ => below.put_entry(entry.clone()),
        }
    }
}
