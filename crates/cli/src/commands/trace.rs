//! `harmonia trace info`: what a block trace holds.

use std::path::Path;

use harmonia_workload::trace::AUTO;
use harmonia_workload::{Trace, TraceError, TraceInfo};

use crate::failure::Failure;
use crate::numbers::{bytes, count, or_none};
use crate::output::Output;

/// Prints the summary of a trace.
pub(crate) fn info(file: &Path, format: Option<&str>, json: bool, output: &Output) -> Result<(), Failure> {
    let bad = |error: TraceError| Failure::BadInput(error.to_string());
    let trace = Trace::open_file(file, format.unwrap_or(AUTO)).map_err(bad)?;
    if let Some(decision) = trace.decision() {
        output.detail(&decision);
    }
    let info = trace.info().map_err(bad)?;
    if json {
        let text =
            serde_json::to_string_pretty(&info).map_err(|error| Failure::Internal(error.to_string()))?;
        return output.data(&(text + "\n"));
    }
    output.data(&text(&info))
}

fn text(info: &TraceInfo) -> String {
    let size = &info.mean_size_bytes;
    let kb = |mean: Option<f64>| or_none(mean, |mean| format!("{:.1}", mean / 1024.0));
    let rows = [
        ("format", info.format.to_owned()),
        ("requests", count(info.rows)),
        ("span", format!("{} s", one_decimal(info.span_s))),
        ("rate", or_none(info.rate_per_s, |rate| format!("{rate:.4} requests/s"))),
        (
            "gaps",
            or_none(info.interarrival_cv, |cv| format!("coefficient of variation {cv:.2} (Poisson: 1)")),
        ),
        ("reads", format!("{:.1}%", info.read_percent)),
        ("mean size", format!("{} KiB (reads {}, writes {})", kb(size.all), kb(size.read), kb(size.write))),
        ("footprint", format!("{} in distinct 4 KiB pages", bytes(info.footprint_bytes))),
        ("end address", format!("{} ({})", count(info.end_address_bytes), bytes(info.end_address_bytes))),
        ("sequential", format!("{:.1}%", info.sequential_percent)),
        ("volumes", info.volumes.to_string()),
    ];
    let mut text = format!("{}\n", info.file);
    for (name, value) in rows {
        text.push_str(&format!("  {name:<12} {value}\n"));
    }
    for warning in &info.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

/// Seconds with separators, and one decimal where it says something.
fn one_decimal(seconds: f64) -> String {
    if seconds >= 1e4 { count(seconds.round() as u64) } else { format!("{seconds:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_workload::trace::MeanSizeBytes;

    #[test]
    fn a_trace_is_one_short_page() {
        let info = TraceInfo {
            file: "web_3.csv".to_owned(),
            format: "msr",
            rows: 31_380,
            span_s: 594_376.2,
            read_percent: 32.0,
            mean_size_bytes: MeanSizeBytes { all: Some(39_056.4), read: Some(76_697.6), write: None },
            rate_per_s: Some(0.0528),
            interarrival_cv: None,
            footprint_bytes: 604_000_000,
            end_address_bytes: 6_442_450_944,
            sequential_percent: 12.5,
            volumes: 1,
            warnings: vec!["look here".to_owned()],
        };
        insta::assert_snapshot!(text(&info));
    }
}
