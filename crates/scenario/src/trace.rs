//! The keys of `[workload]` with kind = "trace".

use std::path::{Path, PathBuf};

use harmonia_trace::within;
use harmonia_trace::{AUTO, BLKPARSE, CSV, FORMATS, TraceFormat, TraceOptions, UnitOptions};
use harmonia_workload::{Limit, Pacing, Remap, TraceConfig, Volumes};

use crate::error::Parsed;
use crate::read::Section;
use crate::schema::workload as keys;
use crate::tree::Place;
use crate::workload::{foreign, limit, warmup};

/// Reads a trace; its names are taken relative to `folder`.
pub(crate) fn read(section: &Section<'_>, folder: Option<&Path>) -> Parsed<TraceConfig> {
    let names = section.must(&keys::PATH, "name the trace here or with --trace FILE")?;
    let paths = names.into_iter().map(|(name, place)| path(name, place, folder)).collect();
    let mut options = options(section)?;
    let time_scale = section.get_or(&keys::TIME_SCALE, 1.0)?;
    let repeat = section.get_or(&keys::REPEAT, 1)?;
    let pacing = pacing(section, time_scale)?;
    let remap = section.get_or(&keys::REMAP, Remap::Reject)?;
    let (volumes, only) = section.get_or(&keys::VOLUMES, (Volumes::default(), None))?;
    options.only = only;
    let align = section.get_or(&keys::ALIGN, false)?;
    let limit = limit(section)?;
    Ok(TraceConfig {
        paths,
        options,
        repeat,
        pacing,
        time_scale,
        volumes,
        align,
        remap,
        limit,
        warmup: warmup(section, limit)?.unwrap_or(Limit::Requests(0)),
    })
}

/// What decides when requests arrive. Keys that mean nothing beside it are refused.
fn pacing(section: &Section<'_>, scale: f64) -> Parsed<Pacing> {
    let depth = section.get(&keys::QUEUE_DEPTH)?;
    let mut pacing = section.get_or(&keys::REPLAY, Pacing::default())?;
    let Pacing::Closed { queue_depth } = &mut pacing else {
        foreign(section, "queue_depth", "a replay that is not closed", "only with replay = \"closed\"")?;
        return Ok(pacing);
    };
    *queue_depth = depth.unwrap_or(*queue_depth);
    if scale != 1.0 {
        let allowed = "1, or replay = \"open\" or \"think-times\"";
        foreign(section, "time_scale", "replay = \"closed\", where completions set the pace", allowed)?;
    }
    Ok(pacing)
}

/// A name that stands in the scenario's file is relative to its folder.
fn path(name: String, place: Place, folder: Option<&Path>) -> PathBuf {
    let is_written = matches!(place, Place::File(..));
    folder.filter(|_| is_written).map_or_else(|| name.clone().into(), |folder| within(folder, &name))
}

/// How the files are to be read.
fn options(section: &Section<'_>) -> Parsed<TraceOptions> {
    let format = section.get_or(&keys::FORMAT, AUTO)?;
    let options = TraceOptions {
        format: format.to_owned(),
        units: UnitOptions {
            time_ns: section.get(&keys::TIME_UNIT)?,
            address: section.get(&keys::ADDRESS_UNIT)?,
            size: section.get(&keys::SIZE_UNIT)?,
            read_is: section.get(&keys::READ_IS)?,
        },
        columns: section.get(&keys::COLUMNS)?,
        event_format: section.get(&keys::EVENT_FORMAT)?,
        ops: section.get(&keys::OPS)?,
        action: section.get(&keys::ACTION)?,
        sort_window: section.get(&keys::SORT_WINDOW)?,
        spread: section.get(&keys::SPREAD)?,
        same_volumes: section.get(&keys::SAME_VOLUMES)?,
        only: None,
        start: section.get(&keys::START)?,
        end: section.get(&keys::END)?,
        skip_bad: section.get_or(&keys::SKIP_BAD, 0)?,
    };
    if let (Some(start), Some(end)) = (section.field(&keys::START), section.field(&keys::END))
        && options.start >= options.end
    {
        let start = start.node.shown();
        let allowed = format!("a time later than {start}, or an earlier `start`");
        return Err(end.fault_allowing(format!("is not later than `start` = {start}"), allowed));
    }
    if let (Some(field), Some(other)) = (section.field(&keys::OPS), section.field(&keys::READ_IS)) {
        let beside =
            format!("stands beside `read_is` = {}: it says what each code means", other.node.shown());
        return Err(field.fault_allowing(beside, "one of the two".to_owned()));
    }
    if let Some(known) = FORMATS.iter().find(|known| known.name == format) {
        belong(section, known)?;
    }
    if let (CSV, Some(field), None) = (format, section.field(&keys::FORMAT), options.columns) {
        let allowed = "workload.columns = \"time,op,offset,size\" beside it, with a name for each column";
        return Err(field.fault_allowing("needs the names of the columns", allowed));
    }
    Ok(options)
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
        let Some(field) = section.named(name).filter(|_| !has(format)) else { continue };
        let others: Vec<&str> = FORMATS.iter().filter(|other| has(other)).map(|other| other.name).collect();
        let allowed = match others.join(", ").as_str() {
            "" => "with none of the formats there are".to_owned(),
            others => format!("with format {others}"),
        };
        return Err(field.fault_allowing(format!("format \"{}\" has no {what}", format.name), allowed));
    }
    Ok(())
}
