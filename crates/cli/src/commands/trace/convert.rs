//! `harmonia trace convert`: a trace in another format, so that a workload can be replayed elsewhere.

use std::fs::File;

use harmonia_tables::numbers::{count, exact_seconds};
use harmonia_trace::{Conversion, ConvertError, Noted, Target};

use super::{Session, bad_input, log_lines};
use crate::args::{ConversionArguments, TraceReading};
use harmonia_types::text::one_line;

use crate::failure::Failure;
use crate::files::{self, shown};
use crate::interrupt;
use crate::output::Output;

/// Converts, and says what was written.
pub(super) fn convert(
    reading: &TraceReading,
    arguments: &ConversionArguments,
    no_progress: bool,
    output: &Output,
) -> Result<(), Failure> {
    let ConversionArguments { to, out, force, exact, json } = arguments;
    let named = |problem: String| Failure::BadInput(format!("--out {}: {problem}", shown(out)));
    files::refuse_folder("--out", out)?;
    let target = Target::new(to.as_deref(), out, *exact).map_err(named)?;
    let session = Session::open(reading, no_progress, output)?;
    let file = session.create(reading, out, *force)?;
    let handle = file.handle()?;
    let done = session.reading(|trace, go_on| harmonia_trace::convert(trace, target, handle, go_on));
    let done = done.map_err(|error| match error {
        ConvertError::Trace(error) => bad_input(error),
        ConvertError::Inexact(error) => Failure::BadInput(format!("{error} (--exact)")),
        ConvertError::Output(error) => file.cannot_write(&error),
        ConvertError::Stopped => Failure::Interrupted,
    })?;
    interrupt::check(session.cancel)?;
    file.persist()?;
    let bytes = File::open(out).and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len());
    if *json {
        let text = summary_json(&done, target, bytes)?;
        return output.data(&(text + "\n"));
    }
    output.data(&summary(&done, target, &shown(out), bytes))
}

fn summary(done: &Conversion, target: Target, out: &str, bytes: u64) -> String {
    let mut rows = vec![
        ("format", target.format.name.to_owned()),
        ("requests", format!("{} of {}", count(done.written), count(done.rows))),
        ("bytes", count(bytes)),
    ];
    let noted = |name, list: &[Noted]| {
        let line = |noted: &Noted| (name, format!("{}: {}", count(noted.rows), noted.reason));
        list.iter().map(line).collect::<Vec<_>>()
    };
    rows.extend(noted("changed", &done.changed));
    rows.extend(noted("dropped", &done.dropped));
    if done.first_ns > 0 {
        let first_s = exact_seconds(done.first_ns);
        rows.push((
            "note",
            format!("times count from the first request written, {first_s} s into the trace"),
        ));
    }
    rows.extend(log_lines(&done.log));
    let lines = rows.into_iter().map(|(name, value)| format!("  {name:<12} {}\n", one_line(&value)));
    format!("{out}\n{}", lines.collect::<String>())
}

fn summary_json(done: &Conversion, target: Target, bytes: u64) -> Result<String, Failure> {
    let fail = |error: serde_json::Error| Failure::Internal(error.to_string());
    let mut value = serde_json::to_value(done).map_err(fail)?;
    value["format"] = target.format.name.into();
    value["bytes"] = bytes.into();
    serde_json::to_string_pretty(&value).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_trace::{FORMATS, ReadLog};

    #[test]
    fn nothing_is_changed_or_dropped_in_silence() {
        let noted = |reason: &'static str, rows| Noted { reason: reason.into(), rows };
        let done = Conversion {
            rows: 31_380,
            written: 31_378,
            changed: vec![noted("the time is rounded down to whole microseconds", 12_000)],
            dropped: vec![noted("the format has no flush", 2)],
            first_ns: 3_600_000_000_500,
            log: ReadLog { repaired: vec![noted("out of order, sorted by time", 3)], ..ReadLog::default() },
        };
        let format = FORMATS.iter().find(|format| format.name == "msr").expect("registered");
        let target = Target { format, packing: None, exact: false };
        insta::assert_snapshot!(summary(&done, target, "web.trace", 1_500_000));
    }
}
