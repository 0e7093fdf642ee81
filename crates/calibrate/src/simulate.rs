//! A measured load on a simulated drive, scaled down to the smallest part that works.
//!
//! Beyond what a drive takes a stream without a rate has as many requests outstanding as its jobs had. A used drive is filled, overwritten
//! and then runs under the load itself, until free space is where the load keeps it.
//!
//! Leaves out: the time that fio waits before it submits a request, because its latencies leave it out too.

use std::fmt::Write;

use harmonia_metrics::{DistributionSummary, Report};
use harmonia_run::{Outcome, RunError, RunOptions, outcomes};
use harmonia_scenario::{BadInput, Scenario, Variant};

use crate::drive::Drive;
use crate::measured::{Experiment, Kind, Stream};

/// Of the capacity: what is overwritten at random before a load begins, and what the load writes before it is measured.
const OVERWRITTEN: f64 = 2.0;
const WARMED_UP: f64 = 0.3;
/// Of the capacity: what is measured of writes.
const MEASURED: f64 = 0.2;
/// Of the capacity: what a fill writes. The rest stays free.
const FILLED: f64 = 0.8;
/// Reads that are measured, so that a hundred lie beyond p99.
const READS: f64 = 10_000.0;
/// Reads that are measured of a crowd. One in as many as are under way at once is alone in its queue, and the mean of these is wanted.
const CROWD: f64 = 400_000.0;
/// Requests that are measured of a drive that is otherwise idle.
const IDLE: u64 = 6_000;
/// A stream without a rate has more requests due in a second than any drive takes.
const MANY: f64 = 4e6;
/// No load is simulated for longer, in seconds.
const MOST_S: f64 = 60.0;

/// What a load shows: what was measured of it, or what a run of it shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shown {
    /// Bytes written in a second.
    pub written: f64,
    /// p50 and p99 of the reads of the first stream that reads. Unit: us.
    pub read: [Option<f64>; 2],
    /// p50 and p99 of the writes of the first stream that writes alone. Unit: us.
    pub write: [Option<f64>; 2],
    /// Media bytes over host bytes.
    pub amplification: Option<f64>,
    /// Commands that the drive has taken and not answered, of [`Kind::Crowd`]: what it answers in a second times how long the read that is
    /// alone in its queue takes (Little's law). What that read waits before it is taken counts, too.
    pub under_way: Option<f64>,
}

impl Shown {
    /// What was measured.
    pub fn of(experiment: &Experiment) -> Shown {
        let latency = |side: &Option<crate::measured::Side>| {
            [0.5, 0.99].map(|share| side.as_ref().and_then(|side| side.latency.at(share)))
        };
        let probe = experiment.probe().map(|at| &experiment.streams[at].read);
        let writer =
            experiment.streams.iter().find(|stream| stream.writes_only()).map(|stream| &stream.write);
        Shown {
            written: experiment.written(),
            read: probe.map_or([None; 2], latency),
            write: writer.map_or([None; 2], latency),
            amplification: None,
            under_way: of_crowd(experiment, || {
                Some(experiment.completed() * experiment.streams[0].read.as_ref()?.mean? / 1e6)
            }),
        }
    }
}

/// Runs loads on drives, one load on each; they come back in their order, `None` where a drive does not take its load.
///
/// # Errors
/// If it is cancelled, or a defect shows.
pub fn shown(
    runs: &[(&Drive, &Experiment)],
    options: &RunOptions<'_>,
) -> Result<Vec<Option<Shown>>, RunError> {
    let mut variants = Vec::new();
    for (drive, experiment) in runs {
        let scenario = scenario(drive, experiment).map_err(RunError::BadInput)?;
        variants.push(Variant { label: experiment.name.clone(), scenario });
    }
    let keep = |report: &Report| -> Vec<Shown> {
        runs.iter().map(|(_, experiment)| of_report(experiment, report)).collect()
    };
    let all = outcomes(&variants, options, &keep)?;
    let shown = |(at, outcome): (usize, Outcome<Vec<Shown>>)| match outcome {
        Outcome::Measured(mut shown) => Some(shown.swap_remove(at)),
        Outcome::Refused(_) => None,
    };
    Ok(all.into_iter().enumerate().map(shown).collect())
}

/// The scenario of a load on the smallest part of a drive.
///
/// # Errors
/// If no drive can have these figures.
pub fn scenario(drive: &Drive, experiment: &Experiment) -> Result<Scenario, BadInput> {
    let (divisor, bytes) = drive.smallest()?;
    let text = format!(
        "seed = 1\n{}{}[array]\ndevices = 1\nlevel = \"raid0\"\nstripe_unit = \"64KiB\"\n{}",
        workload(experiment, bytes as f64),
        match experiment.is_of_erased() {
            true => "[precondition]\nfill = 0.0\n".to_owned(),
            false => format!("[precondition]\nfill = 1.0\noverwrite = {OVERWRITTEN:?}\n"),
        },
        drive.table(divisor)
    );
    Scenario::parse(&text, &experiment.name, &[], None)
}

/// Its `[workload]` on a drive of so many bytes.
fn workload(experiment: &Experiment, bytes: f64) -> String {
    if let [stream @ Stream { rate: None, .. }] = &experiment.streams[..] {
        let of = |share: f64| (bytes * share / stream.block as f64) as u64;
        let (requests, warmup) = match experiment.kind() {
            Kind::Fill => (of(FILLED).clamp(10, 4_000), of(FILLED).clamp(10, 4_000) / 10),
            Kind::IdleReads | Kind::IdleWrites => (IDLE + IDLE / 10, IDLE / 10),
            _ => (of(WARMED_UP + MEASURED), of(WARMED_UP)),
        };
        return format!(
            "[workload]\nrequests = {requests}\nwarmup = {warmup}\narrival = {{ process = \"closed\", queue_depth = {} }}\n{}",
            u64::from(stream.depth) * u64::from(stream.jobs),
            of_stream(stream, false)
        );
    }
    // Beyond saturation fewer writes are done than are due, and the time until they are is a warm-up no less.
    let writes = experiment.written().max(1.0);
    let reads =
        experiment.probe().and_then(|at| experiment.streams[at].read.as_ref()).map_or(0.0, |side| side.rate);
    let (warmup, measured) = match experiment.kind() {
        Kind::Crowd => (0.1 * CROWD / experiment.completed(), CROWD / experiment.completed()),
        _ if reads > 0.0 => (bytes * WARMED_UP / writes, READS / reads),
        _ => (bytes * WARMED_UP / writes, bytes * MEASURED / writes),
    };
    let (warmup, measured) = (warmup.min(MOST_S / 2.0), measured.clamp(0.5, MOST_S / 2.0));
    let mut text =
        format!("[workload]\nwarmup = \"{warmup:.3}s\"\nduration = \"{:.3}s\"\n", warmup + measured);
    for (at, stream) in experiment.streams.iter().enumerate() {
        let process = if stream.is_poisson || stream.rate.is_none() { "poisson" } else { "fixed" };
        let rate = stream.rate.unwrap_or(MANY);
        let _ = write!(
            text,
            "[workload.stream.s{at}]\narrival = {{ process = \"{process}\", rate = {rate:.3} }}\njobs = {}\noutstanding = {}\n{}",
            stream.jobs,
            stream.depth,
            of_stream(stream, true)
        );
    }
    text
}

/// What its requests are. Streams of one load say where they begin: all of them address the whole drive.
fn of_stream(stream: &Stream, is_one_of_many: bool) -> String {
    let pattern = if stream.is_random { "uniform" } else { "sequential" };
    let start = if is_one_of_many { "start = 0.0, " } else { "" };
    format!(
        "read_fraction = {:?}\nsize = {{ distribution = \"fixed\", mean = \"{}B\" }}\n\
         address = {{ pattern = \"{pattern}\", {start}footprint = 1.0 }}\n",
        stream.reads, stream.block
    )
}

/// What only [`Kind::Crowd`] tells.
fn of_crowd(experiment: &Experiment, tells: impl FnOnce() -> Option<f64>) -> Option<f64> {
    (experiment.kind() == Kind::Crowd).then(tells).flatten()
}

fn of_report(experiment: &Experiment, report: &Report) -> Shown {
    let us = |of: &DistributionSummary| [of.p50, of.p99].map(|ns| ns.map(|ns| ns as f64 / 1e3));
    let host = &report.host;
    let stream = |at: Option<usize>| at.and_then(|at| host.streams.get(&format!("s{at}")));
    let writer = experiment.streams.iter().position(Stream::writes_only);
    let (read, write) = match host.streams.is_empty() {
        true => (Some(&host.response_ns.read), Some(&host.response_ns.write)),
        false => (
            stream(experiment.probe()).map(|stream| &stream.read),
            stream(writer).map(|stream| &stream.write),
        ),
    };
    let array = &report.array;
    Shown {
        written: host.bytes_written as f64 / (report.simulated_ns.max(1) as f64 / 1e9),
        read: read.map_or([None; 2], us),
        write: write.map_or([None; 2], us),
        amplification: array.write_amplification_whole_cycles.or(array.write_amplification),
        under_way: of_crowd(experiment, || {
            let completed: u64 = host.streams.values().map(|stream| stream.read.count).sum();
            let mean = host.streams.get("s0")?.read.mean?;
            Some(completed as f64 * mean / report.simulated_ns.max(1) as f64)
        }),
    }
}
