//! The keys of `[workload]` with kind = "trace".

use std::path::{Path, PathBuf};

use harmonia_trace::within;
use harmonia_trace::{BLKPARSE, CSV, FORMATS, TraceFormat, TraceOptions};
use harmonia_workload::{Pacing, TraceConfig};

use crate::error::Parsed;
use crate::read::Section;
use crate::schema::held;
use crate::schema::load::Load;
use crate::schema::workload as keys;
use crate::tree::Place;
use crate::workload::{foreign, limit, warmup};

/// Reads a trace; its names are taken relative to `folder`.
pub(crate) fn read(section: &Section<'_>, folder: Option<&Path>) -> Parsed<TraceConfig> {
    let names = section.must(&keys::PATH, "name the trace here or with --trace FILE")?;
    let paths = names.into_iter().map(|(name, place)| path(name, place, folder)).collect();
    let mut load = Load::Trace(TraceConfig::of(paths));
    held::lay(&keys::KEYS, &mut load, section)?;
    let Load::Trace(mut load) = load else { unreachable!("a load keeps its kind") };
    options_fit(section, &load.options)?;
    if matches!(load.pacing, Pacing::Closed { .. }) && load.time_scale != 1.0 {
        let allowed = "1, or replay = \"open\" or \"think-times\"";
        foreign(section, "time_scale", "replay = \"closed\", where completions set the pace", allowed)?;
    }
    load.limit = limit(section)?;
    load.warmup = warmup(section, load.limit)?.unwrap_or(load.warmup);
    Ok(load)
}

/// A name that stands in the scenario's file is relative to its folder.
fn path(name: String, place: Place, folder: Option<&Path>) -> PathBuf {
    let is_written = matches!(place, Place::File(..));
    folder.filter(|_| is_written).map_or_else(|| name.clone().into(), |folder| within(folder, &name))
}

/// Whether what is said of how the files are to be read goes together.
fn options_fit(section: &Section<'_>, options: &TraceOptions) -> Parsed<()> {
    if let (Some(start), Some(end)) = (section.named("start"), section.named("end"))
        && options.start >= options.end
    {
        let start = start.node.shown();
        let allowed = format!("a time later than {start}, or an earlier `start`");
        return Err(end.fault_allowing(format!("is not later than `start` = {start}"), allowed));
    }
    if let (Some(field), Some(other)) = (section.named("ops"), section.named("read_is")) {
        let beside =
            format!("stands beside `read_is` = {}: it says what each code means", other.node.shown());
        return Err(field.fault_allowing(beside, "one of the two".to_owned()));
    }
    if let Some(known) = FORMATS.iter().find(|known| known.name == options.format) {
        belong(section, known)?;
    }
    if let (CSV, Some(field), None) = (options.format.as_str(), section.named("format"), &options.columns) {
        let allowed = "workload.columns = \"time,op,offset,size\" beside it, with a name for each column";
        return Err(field.fault_allowing("needs the names of the columns", allowed));
    }
    Ok(())
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
