//! The keys of `[workload]` with kind = "trace".

use std::path::{Path, PathBuf};

use harmonia_trace::within;
use harmonia_trace::{
    AUTO, Action, BLKPARSE, CSV, Columns, EventFormat, FORMATS, OperationCodes, TraceFormat, TraceOptions,
    UnitOptions,
};
use harmonia_types::SimDuration;
use harmonia_types::units::{parse_bytes, parse_duration};
use harmonia_workload::{Limit, Pacing, Remap, TraceConfig, Volumes};

use crate::error::{Parsed, printable};
use crate::read::{Field, Section};
use crate::tree::{Node, Place, Value};
use crate::workload::{FASTEST, MOST_REQUESTS, foreign, limit, warmup};

/// Units beyond these are misunderstandings; the readers of traces say so too.
const LONGEST_TICK: SimDuration = SimDuration(3_600_000_000_000);
const MOST_BYTES: u64 = 1 << 30;
const MOST_COPIES: u32 = 1_000_000;
const DEEPEST: u32 = 65_536;
const DEFAULT_DEPTH: u32 = 1;

/// Reads a trace; its names are taken relative to `folder`.
pub(crate) fn read(section: &Section<'_>, folder: Option<&Path>) -> Parsed<TraceConfig> {
    let paths = paths(&section.require("path", "name the trace here or with --trace FILE")?, folder)?;
    let mut options = options(section)?;
    let scale = section
        .field("time_scale")
        .map(|field| field.number(0.0, false, FASTEST))
        .transpose()?
        .unwrap_or(1.0);
    let repeat = section.field("repeat").map(|field| field.count(1, MOST_COPIES)).transpose()?;
    let pacing = pacing(section, scale)?;
    let remaps = [("wrap", Remap::Wrap), ("scale", Remap::Scale), ("reject", Remap::Reject)];
    let remap = section.field("remap").map(|field| field.choice(&remaps)).transpose()?;
    let volumes = match section.field("volumes") {
        Some(field) => {
            let (volumes, only) = volumes(&field)?;
            options.only = only;
            volumes
        }
        None => Volumes::default(),
    };
    let align = section.field("align").map(|field| field.boolean()).transpose()?;
    let limit = limit(section)?;
    Ok(TraceConfig {
        paths,
        options,
        repeat: repeat.unwrap_or(1),
        pacing,
        time_scale: scale,
        volumes,
        align: align.unwrap_or(false),
        remap: remap.unwrap_or(Remap::Reject),
        limit,
        warmup: warmup(section, limit)?.unwrap_or(Limit::Requests(0)),
    })
}

/// What decides when requests arrive. Keys that mean nothing beside it are refused.
fn pacing(section: &Section<'_>, scale: f64) -> Parsed<Pacing> {
    let depth = section.field("queue_depth").map(|field| field.count(1, DEEPEST)).transpose()?;
    let closed = Pacing::Closed { queue_depth: depth.unwrap_or(DEFAULT_DEPTH) };
    let names = [("open", Pacing::Open), ("closed", closed), ("think-times", Pacing::ThinkTimes)];
    let pacing = section.field("replay").map(|field| field.choice(&names)).transpose()?.unwrap_or_default();
    if pacing != closed {
        foreign(section, "queue_depth", "a replay that is not closed", "only with replay = \"closed\"")?;
    } else if scale != 1.0 {
        let allowed = "1, or replay = \"open\" or \"think-times\"";
        foreign(section, "time_scale", "replay = \"closed\", where completions set the pace", allowed)?;
    }
    Ok(pacing)
}

/// One name or a list of names; relative to `folder` where they stand in the scenario's file.
fn paths(field: &Field<'_>, folder: Option<&Path>) -> Parsed<Vec<PathBuf>> {
    let nodes = match &field.node.value {
        Value::List(nodes) => nodes.as_slice(),
        _ => std::slice::from_ref(field.node),
    };
    if nodes.is_empty() {
        return Err(field.fault("names no file"));
    }
    nodes.iter().map(|node| path(field, node, folder)).collect()
}

fn path(field: &Field<'_>, node: &Node, folder: Option<&Path>) -> Parsed<PathBuf> {
    let field = Field { node, path: field.path.clone(), schema: field.schema.clone() };
    let name = field.text()?;
    if name.is_empty() || name.contains('\0') {
        return Err(field.fault("is not the name of a file"));
    }
    let is_written = matches!(node.place, Place::File(..));
    Ok(folder.filter(|_| is_written).map_or_else(|| name.into(), |folder| within(folder, name)))
}

/// How the files are to be read.
fn options(section: &Section<'_>) -> Parsed<TraceOptions> {
    let format = section.field("format");
    let formats = std::iter::once(AUTO).chain(FORMATS.iter().map(|format| format.name));
    let format = format.as_ref().map(|field| field.name(formats)).transpose()?.unwrap_or(AUTO);
    let boolean = |name: &str| section.field(name).map(|field| field.boolean()).transpose();
    let time =
        |name: &str, positive| section.field(name).map(|field| field.long_duration(positive)).transpose();
    let options = TraceOptions {
        format: format.to_owned(),
        units: UnitOptions {
            time_ns: section.field("time_unit").map(|field| tick(&field)).transpose()?,
            address: section.field("address_unit").map(|field| unit(&field)).transpose()?,
            size: section.field("size_unit").map(|field| unit(&field)).transpose()?,
            read_is: section
                .field("read_is")
                .map(|field| field.count(0, 1))
                .transpose()?
                .map(|bit| bit as u8),
        },
        columns: section.field("columns").map(|field| columns(&field)).transpose()?,
        event_format: section.field("event_format").map(|field| event_format(&field)).transpose()?,
        ops: section.field("ops").map(|field| ops(&field)).transpose()?,
        action: section.field("action").map(|field| action(&field)).transpose()?,
        sort_window: time("sort_window", false)?,
        spread: boolean("spread")?,
        same_volumes: boolean("same_volumes")?,
        only: None,
        start: time("start", false)?,
        end: time("end", true)?,
        skip_bad: section
            .field("skip_bad")
            .map(|field| field.integer(0, MOST_REQUESTS))
            .transpose()?
            .unwrap_or(0),
    };
    if let (Some(start), Some(end)) = (section.field("start"), section.field("end"))
        && options.start >= options.end
    {
        let start = start.node.shown();
        let allowed = format!("a time later than {start}, or an earlier `start`");
        return Err(end.fault_allowing(format!("is not later than `start` = {start}"), allowed));
    }
    if let (Some(field), Some(other)) = (section.field("ops"), section.field("read_is")) {
        let beside =
            format!("stands beside `read_is` = {}: it says what each code means", other.node.shown());
        return Err(field.fault_allowing(beside, "one of the two".to_owned()));
    }
    if let Some(known) = FORMATS.iter().find(|known| known.name == format) {
        belong(section, known)?;
    }
    if let (CSV, Some(field), None) = (format, section.field("format"), options.columns) {
        let allowed = "workload.columns = \"time,op,offset,size\" beside it, with a name for each column";
        return Err(field.fault_allowing("needs the names of the columns", allowed));
    }
    Ok(options)
}

/// The names of a table's columns.
fn columns(field: &Field<'_>) -> Parsed<Columns> {
    field.text()?.parse().map_err(|why: String| field.fault(printable(&why, 200)))
}

/// The format that blkparse printed its events in.
fn event_format(field: &Field<'_>) -> Parsed<EventFormat> {
    field.text()?.parse().map_err(|why: String| field.fault(printable(&why, 200)))
}

/// What the codes of a table's operations mean.
fn ops(field: &Field<'_>) -> Parsed<OperationCodes> {
    field.text()?.parse().map_err(|why: String| field.fault(printable(&why, 200)))
}

/// Refuses what the format leaves nothing to choose of.
fn belong(section: &Section<'_>, format: &TraceFormat) -> Parsed<()> {
    type Has = fn(&TraceFormat) -> bool;
    let keys: [(&str, &str, Has); 8] = [
        ("columns", "columns to name", |format| format.name == CSV),
        ("time_unit", "times whose unit could be chosen", |format| format.units.time_ns.is_some()),
        ("address_unit", "addresses whose unit could be chosen", |format| format.units.address.is_some()),
        ("size_unit", "sizes whose unit could be chosen", |format| format.units.size.is_some()),
        ("read_is", "column of 0 and 1 for the operation", |format| format.units.read_is.is_some()),
        ("ops", "codes for operations to name", |format| format.name == CSV),
        ("event_format", "format that blkparse printed", |format| format.name == BLKPARSE),
        ("action", "events to choose from", |format| format.has_actions),
    ];
    for (name, what, has) in keys {
        let Some(field) = section.field(name).filter(|_| !has(format)) else { continue };
        let others: Vec<&str> = FORMATS.iter().filter(|other| has(other)).map(|other| other.name).collect();
        let allowed = match others.join(", ").as_str() {
            "" => "with none of the formats there are".to_owned(),
            others => format!("with format {others}"),
        };
        return Err(field.fault_allowing(format!("format \"{}\" has no {what}", format.name), allowed));
    }
    Ok(())
}

/// An event by its name, or by blkparse's letter for it.
fn action(field: &Field<'_>) -> Parsed<Action> {
    let names = [
        ("queued", Action::Queued),
        ("inserted", Action::Inserted),
        ("issued", Action::Issued),
        ("completed", Action::Completed),
        ("Q", Action::Queued),
        ("I", Action::Inserted),
        ("D", Action::Issued),
        ("C", Action::Completed),
    ];
    field.choice(&names).map_err(|fault| field.fault(fault.problem))
}

/// A unit of time: a time, or the bare name of a unit. In ns.
fn tick(field: &Field<'_>) -> Parsed<u64> {
    let Value::Text(text) = &field.node.value else {
        return Err(field.fault(format!("must be text, not {}", field.node.kind())));
    };
    let is_bare = text.trim().bytes().all(|byte| byte.is_ascii_alphabetic());
    let written = if is_bare { format!("1{}", text.trim()) } else { text.clone() };
    match parse_duration(&written) {
        Ok(tick) if (SimDuration(1)..=LONGEST_TICK).contains(&tick) => Ok(tick.0),
        Ok(_) => Err(field.fault("is out of range")),
        Err(_) => Err(field.fault("is not a unit of time")),
    }
}

/// A unit of addresses or sizes: a size, or a number of bytes.
fn unit(field: &Field<'_>) -> Parsed<u64> {
    match &field.node.value {
        Value::Integer(_) => field.integer(1, MOST_BYTES),
        Value::Text(text) => match parse_bytes(text) {
            Ok(bytes) if (1..=MOST_BYTES).contains(&bytes) => Ok(bytes),
            Ok(_) => Err(field.fault("is out of range")),
            Err(why) => Err(field.fault(printable(&why, 200))),
        },
        _ => Err(field.fault(format!("must be a size, not {}", field.node.kind()))),
    }
}

/// Where a trace's volumes lie, or the one that is wanted.
fn volumes(field: &Field<'_>) -> Parsed<(Volumes, Option<String>)> {
    match &field.node.value {
        Value::Integer(_) => {
            let number = field.integer(0, u64::MAX)?;
            Ok((Volumes::Overlay, Some(number.to_string())))
        }
        Value::Text(text) => match text.as_str() {
            "apart" => Ok((Volumes::Apart, None)),
            "overlay" => Ok((Volumes::Overlay, None)),
            "" => Err(field.fault("is not the name of a volume")),
            name => Ok((Volumes::Overlay, Some(name.to_owned()))),
        },
        _ => Err(field.fault(format!("must be text or a whole number, not {}", field.node.kind()))),
    }
}
