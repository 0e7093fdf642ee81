//! `harmonia trace head`: the first records, as they were understood.

use std::fmt::Write as _;

use harmonia_tables::Table;
use harmonia_trace::TraceError;
use harmonia_trace::TraceRecord;
use harmonia_trace::{Place, TraceReader};
use harmonia_types::Operation;
use serde_json::json;

use super::{Session, bad_input};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;

/// Prints the first `count` records.
pub(super) fn head(session: &Session, count: u64, json: bool, output: &Output) -> Result<(), Failure> {
    let mut reader = session.trace.records().map_err(bad_input)?;
    let mut lines = String::new();
    let mut names = vec!["at", "time s", "volume", "operation", "offset", "size"];
    names.extend(reader.has_handles().then_some("handle"));
    let mut table = Table::new(names);
    for _ in 0..count {
        interrupt::check(session.cancel)?;
        let Some(record) = reader.next_record().map_err(bad_input)? else { break };
        if json {
            let _ = writeln!(lines, "{}", object(&reader, &record));
        } else {
            table.push(row(&reader, &record, session.trace.files().count() > 1));
        }
    }
    if json {
        return output.data(&lines);
    }
    output.data(&table.render(output.columns(), output.stdout_color()))
}

/// Where the record given last stands.
fn stand(reader: &TraceReader) -> (String, Place) {
    let TraceError { file, place, .. } = reader.error(String::new());
    (file, place)
}

fn volume<'a>(reader: &'a TraceReader, record: &TraceRecord) -> &'a str {
    reader.volumes().names().get(usize::from(record.volume)).map_or("", String::as_str)
}

fn operation(record: &TraceRecord) -> &'static str {
    match record.operation {
        Operation::Read => "read",
        Operation::Write if record.fua => "write fua",
        Operation::Write => "write",
        Operation::Trim => "trim",
        Operation::Flush => "flush",
    }
}

fn row(reader: &TraceReader, record: &TraceRecord, names_file: bool) -> Vec<harmonia_tables::Cell> {
    let (file, place) = stand(reader);
    let place = match place {
        Place::File => "-".to_owned(),
        Place::Line(line) => format!("line {line}"),
        Place::Row(row) => format!("row {row}"),
        Place::Record { number, .. } => format!("record {number}"),
    };
    let at = if names_file { format!("{file}: {place}") } else { place };
    let time = format!("{}.{:09}", record.time_ns / 1_000_000_000, record.time_ns % 1_000_000_000);
    let TraceRecord { offset, length, .. } = record;
    let mut cells: Vec<harmonia_tables::Cell> = vec![
        at.into(),
        time.into(),
        volume(reader, record).into(),
        operation(record).into(),
        offset.to_string().into(),
        length.to_string().into(),
    ];
    if reader.has_handles() {
        cells.push(record.handle.map_or(String::new(), |handle| handle.number().to_string()).into());
    }
    cells
}

fn object(reader: &TraceReader, record: &TraceRecord) -> serde_json::Value {
    let (file, place) = stand(reader);
    let TraceRecord { time_ns, offset, length, .. } = record;
    let mut object = json!({
        "file": file,
        "time_ns": time_ns,
        "volume": volume(reader, record),
        "operation": operation(record),
        "offset": offset,
        "length": length,
    });
    if let Some(handle) = record.handle {
        object["handle"] = handle.number().into();
    }
    match place {
        Place::File => {}
        Place::Line(line) => object["line"] = line.into(),
        Place::Row(row) => object["row"] = row.into(),
        Place::Record { number, byte } => {
            object["record"] = number.into();
            object["byte"] = byte.into();
        }
    }
    object
}
