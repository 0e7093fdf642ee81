//! Loads as a scenario file has them: keys with places in a load by their declarations, the rest here.
//!
//! Some keys stand before others that are documented before them, so that scenarios of before read as they did.

use harmonia_types::Deadlines;
use harmonia_workload::{
    Arrival, Limit, SizeDistribution, StreamArrival, StreamConfig, StreamsConfig, SyntheticConfig,
    WorkloadConfig,
};

use super::trace;
use crate::Scenario;
use crate::schema::held;
use crate::schema::load::Load;
use crate::schema::workload::{self as keys, Shape};
use crate::shown::Shown;
use crate::workload::process_of;

/// A load, and what its requests expect if they do.
pub(super) fn shown(scenario: &Scenario) -> Shown {
    let mut shown = Shown::table();
    shown.key(&keys::KIND, &matches!(scenario.workload, WorkloadConfig::Trace(_)));
    match &scenario.workload {
        WorkloadConfig::Synthetic(load) => synthetic(&mut shown, load),
        WorkloadConfig::Streams(load) => streams(&mut shown, load),
        WorkloadConfig::Trace(load) => trace::put(&mut shown, load),
    }
    shown.some(&keys::SPACE, scenario.space.as_ref());
    // One time for all, or reads and writes apart.
    match scenario.deadlines {
        Deadlines { read: None, write: None } => {}
        Deadlines { read: Some(all), write: Some(other) } if all == other => {
            shown.key(&keys::DEADLINE, &Some(all));
        }
        Deadlines { read, write } => {
            let table = shown.below(keys::DEADLINE.name());
            table.some(&keys::DEADLINE_READ, read.as_ref());
            table.some(&keys::DEADLINE_WRITE, write.as_ref());
        }
    }
    shown
}

/// How long a load is, and its first part.
pub(super) fn put_limit(shown: &mut Shown, limit: Option<Limit>, warmup: Limit) {
    match limit {
        Some(Limit::Requests(requests)) => shown.key(&keys::REQUESTS, &requests),
        Some(Limit::Duration(duration)) => shown.key(&keys::DURATION, &duration),
        None => {}
    }
    shown.key(&keys::WARMUP, &warmup);
}

fn synthetic(shown: &mut Shown, load: &SyntheticConfig) {
    put_limit(shown, Some(load.limit), load.warmup);
    let of = Load::Synthetic(load.clone());
    held::put(&keys::KEYS, &of, "workload", shown);
    arrival(shown, Some(&load.arrival));
    size(shown, &load.size);
    address(shown, &of);
}

fn streams(shown: &mut Shown, load: &StreamsConfig) {
    put_limit(shown, Some(load.limit), load.warmup);
    held::put(&keys::KEYS, &Load::Streams(load.clone()), "workload", shown);
    shown.begin(&["kind", "requests", "duration", "warmup", "align", "time_scale"]);
    arrival(shown, load.arrival.as_ref());
    let tables = shown.below(keys::STREAM.name());
    for (name, config) in &load.streams {
        stream(tables.below(name), config);
    }
}

fn stream(shown: &mut Shown, stream: &StreamConfig) {
    let of = Load::Stream(stream.clone());
    held::put(&keys::KEYS, &of, "workload.stream", shown);
    match &stream.arrival {
        StreamArrival::Own(own) => arrival(shown, Some(own)),
        StreamArrival::Common(counts) => shown.key(&keys::STREAM_COUNT, counts),
    }
    shown.begin(&["read_fraction", "trim_fraction", "fua_fraction", "arrival", "count"]);
    size(shown, &stream.size);
    address(shown, &of);
}

fn arrival(shown: &mut Shown, arrival: Option<&Arrival>) {
    let Some(arrival) = arrival else { return };
    let table = shown.below(keys::ARRIVAL.name());
    table.key(&keys::PROCESS, &process_of(arrival));
    match arrival {
        Arrival::Poisson { rate } | Arrival::Fixed { rate } => table.key(&keys::RATE, rate),
        Arrival::OnOff { rate, burst_rate, burst_length }
        | Arrival::WriteBursts { rate, burst_rate, burst_length } => {
            table.key(&keys::RATE, rate);
            table.key(&keys::BURST_RATE, burst_rate);
            table.key(&keys::BURST_LENGTH, burst_length);
        }
        Arrival::Gaps(choices) => {
            table.key(&keys::GAPS, &choices.values);
            table.key(&keys::GAP_COUNTS, &choices.counts);
            table.key(&keys::GAP_PERSISTENCE, &choices.persistence);
        }
        Arrival::Phases(phases) => {
            table.key(&keys::GAPS, &phases.iter().map(|phase| phase.gap).collect());
            table.key(&keys::GAP_COUNTS, &phases.iter().map(|phase| phase.count).collect());
        }
        Arrival::Closed { queue_depth } => table.key(&keys::ARRIVAL_QUEUE_DEPTH, queue_depth),
    }
}

fn size(shown: &mut Shown, size: &SizeDistribution) {
    let table = shown.below(keys::SIZE.name());
    let shape = match size {
        SizeDistribution::Fixed { .. } => Shape::Fixed,
        SizeDistribution::Exponential { .. } => Shape::Exponential,
        SizeDistribution::Normal { .. } => Shape::Normal,
        SizeDistribution::Choices(_) => Shape::Choices,
    };
    table.key(&keys::DISTRIBUTION, &shape);
    match size {
        SizeDistribution::Fixed { mean } | SizeDistribution::Exponential { mean } => {
            table.key(&keys::MEAN, mean);
        }
        SizeDistribution::Normal { mean, stddev } => {
            table.key(&keys::MEAN, mean);
            table.key(&keys::STDDEV, stddev);
        }
        SizeDistribution::Choices(choices) => {
            table.key(&keys::SIZES, &choices.values);
            table.key(&keys::SIZE_COUNTS, &choices.counts);
            table.key(&keys::SIZE_PERSISTENCE, &choices.persistence);
        }
    }
}

fn address(shown: &mut Shown, load: &Load) {
    let table = shown.below(keys::ADDRESS.name());
    table.some(&keys::PATTERN, load.pattern());
    held::put(&keys::KEYS, load, "workload.address", table);
    table.begin(&["pattern", "file_size_min"]);
}
