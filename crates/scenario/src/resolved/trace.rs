//! A trace and how it is replayed, as a scenario file has it.

use std::path::PathBuf;

use harmonia_trace::{Action, Columns, EventFormat, OperationCodes};
use harmonia_types::{SimDuration, units};
use harmonia_workload::{Limit, Pacing, Remap, TraceConfig, Volumes};
use serde::Serialize;

use super::load::limit_keys;

/// What was not said is left out: it is the format's.
#[derive(Serialize)]
pub(super) struct TraceView<'a> {
    path: PathsView,
    format: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Columns>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_unit: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address_unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_is: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ops: Option<&'a OperationCodes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_format: Option<&'a EventFormat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<Action>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_window: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spread: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_volumes: Option<bool>,
    volumes: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<SimDuration>,
    skip_bad: u64,
    repeat: u32,
    #[serde(flatten)]
    pacing: Pacing,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_scale: Option<f64>,
    remap: Remap,
    align: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<SimDuration>,
    warmup: Limit,
}

/// A name, or several.
#[derive(Serialize)]
#[serde(untagged)]
enum PathsView {
    One(String),
    Several(Vec<String>),
}

impl From<&[PathBuf]> for PathsView {
    fn from(paths: &[PathBuf]) -> Self {
        let name = |path: &PathBuf| path.to_string_lossy().into_owned();
        match paths {
            [only] => PathsView::One(name(only)),
            several => PathsView::Several(several.iter().map(name).collect()),
        }
    }
}

impl<'a> From<&'a TraceConfig> for TraceView<'a> {
    fn from(trace: &'a TraceConfig) -> Self {
        let (requests, duration) = limit_keys(trace.limit);
        let options = &trace.options;
        TraceView {
            path: trace.paths.as_slice().into(),
            format: &options.format,
            columns: options.columns,
            time_unit: options.units.time_ns.map(SimDuration),
            address_unit: options.units.address.map(units::format_bytes),
            size_unit: options.units.size.map(units::format_bytes),
            read_is: options.units.read_is,
            ops: options.ops.as_ref(),
            event_format: options.event_format.as_ref(),
            action: options.action,
            sort_window: options.sort_window,
            spread: options.spread,
            same_volumes: options.same_volumes,
            volumes: match (&options.only, trace.volumes) {
                (Some(name), _) => name,
                (None, Volumes::Apart) => "apart",
                (None, Volumes::Overlay) => "overlay",
            },
            start: options.start,
            end: options.end,
            skip_bad: options.skip_bad,
            repeat: trace.repeat,
            pacing: trace.pacing,
            time_scale: (!matches!(trace.pacing, Pacing::Closed { .. })).then_some(trace.time_scale),
            remap: trace.remap,
            align: trace.align,
            requests,
            duration,
            warmup: trace.warmup,
        }
    }
}
