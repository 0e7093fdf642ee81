//! Trace and fit on the same array: how far do response times agree?
//!
//! Both start from the same aged array and run as they are, up to [`REQUESTS_MAX`] requests. The array is a small built-in
//! one unless the user names a scenario, whose load is replaced and whose time scale and remapping are kept for both.
//!
//! Leaves out: several seeds. One run of each is a figure to be warned by, no comparison of two arrays.

use std::sync::atomic::AtomicBool;

use harmonia_metrics::Report;
use harmonia_run::{RunError, RunOptions, compare};
use harmonia_scenario::{Scenario, TraceFile, Variant};
use harmonia_tables::numbers::count;
use harmonia_workload::TraceFit;
use harmonia_workload::{Limit, Pacing, Remap, StreamsConfig, TraceConfig, Volumes, WorkloadConfig};

use crate::args::TraceReading;
use crate::failure::Failure;

/// The built-in array.
const REFERENCE: &str = include_str!("reference.toml");
/// Requests that are replayed at most.
const REQUESTS_MAX: u64 = 100_000;
/// Means that differ by more than this part of the trace's are warned of.
const TOLERATED: f64 = 0.25;

/// What came of it.
pub(super) enum Checked {
    /// Simulated.
    Ran(Check),
    /// Not, and why.
    Not(String),
}

/// Response times of trace and fit.
pub(super) struct Check {
    /// The array, in words.
    pub(super) array: String,
    /// Requests that were replayed of either.
    pub(super) requests: u64,
    pub(super) trace: Means,
    pub(super) fitted: Means,
}

/// Mean response times in ns; `None` without such requests.
#[derive(Clone, Copy)]
pub(super) struct Means {
    /// Reads and writes together.
    pub(super) all: f64,
    pub(super) read: Option<f64>,
    pub(super) write: Option<f64>,
}

/// Simulates both; `named`: on the array of this scenario.
pub(super) fn check(
    reading: &TraceReading,
    fit: &TraceFit,
    named: Option<&str>,
    cancel: &AtomicBool,
) -> Result<Checked, Failure> {
    let of_trace = match named {
        Some(source) => of_the_user(source, reading)?,
        None => built_in(reading)?,
    };
    let room = of_trace.space.unwrap_or_else(|| of_trace.array.layout().logical_bytes());
    if room < end(&fit.load) {
        let (footprint, room) =
            (harmonia_tables::numbers::bytes(end(&fit.load)), harmonia_tables::numbers::bytes(room));
        return Ok(Checked::Not(format!(
            "the footprint is {footprint} and the array to check on holds {room}; --check names a larger one"
        )));
    }
    let variants = both(of_trace, reading, fit);
    let options = RunOptions {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        cancel,
        ..RunOptions::default()
    };
    let runs = match compare(&variants, &options) {
        Ok(comparison) => comparison.runs,
        // What the array cannot bear is no fault of the fit: there is nothing to say, and the scenario is there.
        Err(RunError::BadInput(bad)) => return Ok(Checked::Not(one_line(&bad.to_string()))),
        Err(error) => return Err(error.into()),
    };
    let [trace, fitted] = runs.as_slice() else {
        return Err(Failure::Internal("a check left no two reports".into()));
    };
    let array = named.map_or_else(
        || "four small aged drives like tlc-nvme-1t (RAID-0)".to_owned(),
        |source| format!("the array of {source}"),
    );
    let requests = fit.info.rows.min(REQUESTS_MAX);
    let check = Check { array, requests, trace: Means::of(trace), fitted: Means::of(fitted) };
    Ok(if check.trace.all > 0.0 {
        Checked::Ran(check)
    } else {
        Checked::Not("the trace moves no data".into())
    })
}

/// The built-in array under the trace.
fn built_in(reading: &TraceReading) -> Result<Scenario, Failure> {
    Ok(Scenario::parse(REFERENCE, "fit-check", &[], Some(&file(reading)))?)
}

/// The array of a scenario, whatever its load, under the trace.
fn of_the_user(source: &str, reading: &TraceReading) -> Result<Scenario, Failure> {
    Ok(Scenario::load(source, &[], Some(&file(reading)))?)
}

fn file(reading: &TraceReading) -> TraceFile {
    TraceFile { paths: reading.files.clone(), ..TraceFile::default() }
}

/// The trace and its fit on one array.
fn both(mut of_trace: Scenario, reading: &TraceReading, fit: &TraceFit) -> [Variant; 2] {
    let limit = Limit::Requests(fit.info.rows.min(REQUESTS_MAX));
    let time_scale = match &mut of_trace.workload {
        WorkloadConfig::Trace(trace) => {
            *trace = TraceConfig {
                paths: reading.files.clone(),
                options: reading.reading.options(),
                time_scale: trace.time_scale,
                volumes: Volumes::Apart,
                align: false,
                remap: if trace.remap == Remap::Reject { Remap::Wrap } else { trace.remap },
                limit: Some(limit),
                warmup: Limit::Requests(0),
                pacing: Pacing::Open,
                repeat: 1,
            };
            trace.time_scale
        }
        _ => 1.0,
    };
    let mut of_fit = of_trace.clone();
    of_fit.workload = WorkloadConfig::Streams(StreamsConfig { limit, time_scale, ..fit.load.clone() });
    let variant = |label: &str, scenario| Variant { label: label.to_owned(), scenario };
    [variant("trace", of_trace), variant("fit", of_fit)]
}

/// Where the load's addresses end.
fn end(load: &StreamsConfig) -> u64 {
    let end = |stream: &harmonia_workload::StreamConfig| {
        stream.start.map_or(0, |start| start.of(0)) + stream.footprint.of(0)
    };
    load.streams.values().map(end).max().unwrap_or(0)
}

impl Means {
    fn of(report: &Report) -> Self {
        let times = &report.host.response_ns;
        let (read, write) = (&times.read, &times.write);
        // Flushes and trims cost next to nothing, and the fit has no flushes.
        let requests = read.count + write.count;
        let sum = |mean: Option<f64>, count: u64| mean.unwrap_or(0.0) * count as f64;
        let all = (sum(read.mean, read.count) + sum(write.mean, write.count)) / requests.max(1) as f64;
        Means { all, read: read.mean, write: write.mean }
    }
}

impl Check {
    pub(super) fn ratio(&self) -> f64 {
        self.fitted.all / self.trace.all
    }

    pub(super) fn is_off(&self) -> bool {
        (self.ratio() - 1.0).abs() > TOLERATED
    }

    /// How much of the trace was replayed.
    pub(super) fn extent(&self, fit: &TraceFit) -> String {
        match fit.info.rows {
            rows if rows > self.requests => {
                format!("the first {} of {} requests", count(self.requests), count(rows))
            }
            rows => format!("all {} requests", count(rows)),
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
