//! The page of trace formats, from the registry.

use std::fmt::Write;

use harmonia_trace::{FORMATS, Spread, TraceFormat};
use harmonia_types::SimDuration;
use harmonia_types::units::{format_bytes, format_duration};

use super::GENERATED;

/// `docs/traces.md`.
pub fn page() -> String {
    let mut page = format!("# Traces and their formats\n\n{GENERATED}{}", include_str!("formats.md"));
    page.push_str("\n## Formats\n\nThe table has the defaults of each format; `-` cannot be changed.\n\n");
    row(&mut page, COLUMNS.map(str::to_owned));
    row(&mut page, COLUMNS.map(|_| "---".to_owned()));
    for format in FORMATS {
        row(&mut page, defaults(format));
    }
    for format in FORMATS {
        let TraceFormat { name, summary, grammar, rules, source, .. } = format;
        let _ = write!(page, "\n### {name}\n\n{summary}.\n\n```text\n{grammar}\n```\n\n");
        for rule in *rules {
            let _ = writeln!(page, "- {rule}");
        }
        let _ = write!(page, "\nSource: {source}.\n");
    }
    page
}

const COLUMNS: [&str; 10] = [
    "format",
    "`time_unit`",
    "`address_unit`",
    "`size_unit`",
    "`read_is`",
    "`sort_window`",
    "`spread`",
    "`same_volumes`",
    "clock time",
    "can be written",
];

fn defaults(format: &TraceFormat) -> [String; 10] {
    let fixed = |unit: Option<String>| unit.unwrap_or_else(|| "-".to_owned());
    let time = |ns| format_duration(SimDuration(ns));
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let TraceFormat { name, units, .. } = format;
    [
        format!("[{name}](#{name})"),
        fixed(units.time_ns.map(time)),
        fixed(units.address.map(format_bytes)),
        fixed(units.size.map(format_bytes)),
        fixed(units.read_is.map(|value| value.to_string())),
        time(format.sort_window_ns),
        fixed(match format.spread {
            Spread::Never => None,
            spread => Some((spread == Spread::ByItself).to_string()),
        }),
        format.global_volumes.to_string(),
        format.epoch.meaning().to_owned(),
        yes(format.write.is_some()),
    ]
}

fn row(page: &mut String, cells: [String; 10]) {
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}
