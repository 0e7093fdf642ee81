//! Synthetic loads as a scenario file has them.

use harmonia_types::Deadlines;
use harmonia_workload::{
    AddressPattern, Arrival, Extent, Limit, SizeDistribution, StreamArrival, StreamConfig, StreamsConfig,
    SyntheticConfig, WorkloadConfig,
};

use super::trace;
use crate::Scenario;
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
    shown.key(&keys::READ_FRACTION, &load.read_fraction);
    // What the commonest load has not is left out.
    shown.some(&keys::TRIM_FRACTION, Some(&load.trim_fraction).filter(|share| **share > 0.0));
    shown.some(&keys::FUA_FRACTION, Some(&load.fua_fraction).filter(|share| **share > 0.0));
    shown.key(&keys::ALIGN, &load.align);
    arrival(shown, Some(&load.arrival));
    size(shown, &load.size);
    let table = address(shown, load.address, load.footprint);
    table.some(&keys::ADDRESS_ALIGN, start_unit(&load.start_unit));
    table.key(&keys::SKEW, &load.skew_fraction);
    table.key(&keys::SKEW_MEMBER, &load.skew_member);
    table.key(&keys::SKEW_REST, &load.skew_rest);
}

fn streams(shown: &mut Shown, load: &StreamsConfig) {
    put_limit(shown, Some(load.limit), load.warmup);
    shown.key(&keys::ALIGN, &load.align);
    shown.key(&keys::TIME_SCALE, &load.time_scale);
    shown.some(&keys::STREAM_PERSISTENCE, Some(&load.persistence).filter(|share| **share > 0.0));
    arrival(shown, load.arrival.as_ref());
    let tables = shown.below(keys::STREAM.name());
    for (name, config) in &load.streams {
        stream(tables.below(name), config);
    }
}

fn stream(shown: &mut Shown, stream: &StreamConfig) {
    shown.key(&keys::STREAM_READ_FRACTION, &stream.read_fraction);
    shown.key(&keys::STREAM_TRIM_FRACTION, &stream.trim_fraction);
    shown.some(&keys::STREAM_FUA_FRACTION, Some(&stream.fua_fraction).filter(|share| **share > 0.0));
    match &stream.arrival {
        StreamArrival::Own(own) => arrival(shown, Some(own)),
        StreamArrival::Common(counts) => shown.key(&keys::STREAM_COUNT, counts),
    }
    shown.some(&keys::STREAM_JOBS, Some(&stream.jobs).filter(|jobs| **jobs > 1));
    shown.some(&keys::STREAM_OUTSTANDING, stream.outstanding.as_ref());
    size(shown, &stream.size);
    let table = address(shown, stream.address, stream.footprint);
    table.some(&keys::ADDRESS_START, stream.start.as_ref());
    table.some(&keys::ADDRESS_ALIGN, start_unit(&stream.start_unit));
}

/// What starts are multiples of, unless that is any byte.
fn start_unit(bytes: &u64) -> Option<&u64> {
    Some(bytes).filter(|bytes| **bytes > 1)
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

fn address(shown: &mut Shown, pattern: AddressPattern, footprint: Extent) -> &mut Shown {
    let table = shown.below(keys::ADDRESS.name());
    table.key(&keys::PATTERN, &pattern);
    match &pattern {
        AddressPattern::Uniform | AddressPattern::Sequential => {}
        AddressPattern::Zipf { theta } => table.key(&keys::THETA, theta),
        AddressPattern::Hotspot { hot_space, hot_traffic } => {
            table.key(&keys::HOT_SPACE, hot_space);
            table.key(&keys::HOT_TRAFFIC, hot_traffic);
        }
        AddressPattern::WorkingSet(pattern) => {
            table.key(&keys::FIRST_TOUCH, &pattern.first_touch);
            table.key(&keys::SEQUENTIAL, &pattern.sequential);
            table.key(&keys::REUSE, &pattern.reuse);
        }
        AddressPattern::Files(files) => {
            table.key(&keys::FILE_SIZE_MIN, &files.smallest);
            table.key(&keys::FILE_SIZE, &files.largest);
            table.key(&keys::FILE_READS, &files.reads);
            table.key(&keys::FILE_DELETES, &files.deletes);
            table.key(&keys::DELETE_BATCH, &files.delete_batch);
        }
    }
    table.key(&keys::FOOTPRINT, &footprint);
    table
}
