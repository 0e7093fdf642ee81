//! Synthetic loads as a scenario file has them.

use std::collections::BTreeMap;

use harmonia_types::{Deadlines, SimDuration, units};
use harmonia_workload::{
    AddressPattern, Arrival, Extent, Limit, SizeDistribution, SkewRest, StreamArrival, StreamConfig,
    StreamsConfig, SyntheticConfig, WorkloadConfig,
};
use serde::Serialize;

use super::is_none;
use super::trace::TraceView;
use crate::Scenario;

/// A load, and what its requests expect if they do.
#[derive(Serialize)]
pub(super) struct LoadView<'a> {
    #[serde(flatten)]
    kind: WorkloadView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<DeadlineView>,
}

impl<'a> LoadView<'a> {
    pub fn of(scenario: &'a Scenario) -> Self {
        LoadView {
            kind: (&scenario.workload).into(),
            space: scenario.space.map(units::format_bytes),
            deadline: DeadlineView::of(scenario.deadlines),
        }
    }
}

/// One time for all, or reads and writes apart.
#[derive(Serialize)]
#[serde(untagged)]
enum DeadlineView {
    All(SimDuration),
    Apart {
        #[serde(skip_serializing_if = "Option::is_none")]
        read: Option<SimDuration>,
        #[serde(skip_serializing_if = "Option::is_none")]
        write: Option<SimDuration>,
    },
}

impl DeadlineView {
    fn of(Deadlines { read, write }: Deadlines) -> Option<Self> {
        match (read, write) {
            (None, None) => None,
            (Some(all), Some(other)) if all == other => Some(DeadlineView::All(all)),
            _ => Some(DeadlineView::Apart { read, write }),
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum WorkloadView<'a> {
    Synthetic(SyntheticView<'a>),
    #[serde(rename = "synthetic")]
    Streams(StreamsView<'a>),
    Trace(TraceView<'a>),
}

impl<'a> From<&'a WorkloadConfig> for WorkloadView<'a> {
    fn from(workload: &'a WorkloadConfig) -> Self {
        match workload {
            WorkloadConfig::Synthetic(load) => WorkloadView::Synthetic(load.into()),
            WorkloadConfig::Streams(load) => WorkloadView::Streams(load.into()),
            WorkloadConfig::Trace(trace) => WorkloadView::Trace(trace.into()),
        }
    }
}

#[derive(Serialize)]
struct SyntheticView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<SimDuration>,
    warmup: Limit,
    read_fraction: f64,
    #[serde(skip_serializing_if = "is_none")]
    trim_fraction: f64,
    align: bool,
    arrival: &'a Arrival,
    size: &'a SizeDistribution,
    address: AddressView,
}

#[derive(Serialize)]
struct StreamsView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<SimDuration>,
    warmup: Limit,
    align: bool,
    time_scale: f64,
    #[serde(skip_serializing_if = "is_none")]
    stream_persistence: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    arrival: Option<&'a Arrival>,
    stream: BTreeMap<&'a str, StreamView<'a>>,
}

#[derive(Serialize)]
struct StreamView<'a> {
    read_fraction: f64,
    trim_fraction: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<CountView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arrival: Option<&'a Arrival>,
    size: &'a SizeDistribution,
    address: PartView,
}

#[derive(Serialize)]
struct PartView {
    #[serde(flatten)]
    pattern: AddressPattern,
    footprint: Extent,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<Extent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    align: Option<String>,
}

/// One number, or one for each phase.
#[derive(Serialize)]
#[serde(untagged)]
enum CountView<'a> {
    One(u64),
    Phases(&'a [u64]),
}

/// What starts are multiples of, unless that is any byte.
fn align(start_unit: u64) -> Option<String> {
    (start_unit > 1).then(|| units::format_bytes(start_unit))
}

impl<'a> From<&'a StreamsConfig> for StreamsView<'a> {
    fn from(load: &'a StreamsConfig) -> Self {
        let (requests, duration) = limit_keys(Some(load.limit));
        StreamsView {
            requests,
            duration,
            warmup: load.warmup,
            align: load.align,
            time_scale: load.time_scale,
            stream_persistence: load.persistence,
            arrival: load.arrival.as_ref(),
            stream: load.streams.iter().map(|(name, stream)| (name.as_str(), stream.into())).collect(),
        }
    }
}

impl<'a> From<&'a StreamConfig> for StreamView<'a> {
    fn from(stream: &'a StreamConfig) -> Self {
        let (count, arrival) = match &stream.arrival {
            StreamArrival::Own(arrival) => (None, Some(arrival)),
            StreamArrival::Common(counts) => match counts.as_slice() {
                [one] => (Some(CountView::One(*one)), None),
                counts => (Some(CountView::Phases(counts)), None),
            },
        };
        StreamView {
            read_fraction: stream.read_fraction,
            trim_fraction: stream.trim_fraction,
            count,
            arrival,
            size: &stream.size,
            address: PartView {
                pattern: stream.address,
                footprint: stream.footprint,
                start: stream.start,
                align: align(stream.start_unit),
            },
        }
    }
}

#[derive(Serialize)]
struct AddressView {
    #[serde(flatten)]
    pattern: AddressPattern,
    footprint: Extent,
    #[serde(skip_serializing_if = "Option::is_none")]
    align: Option<String>,
    skew: f64,
    skew_member: u16,
    skew_rest: SkewRest,
}

/// The two keys of a limit, of which one is written.
pub(super) fn limit_keys(limit: Option<Limit>) -> (Option<u64>, Option<SimDuration>) {
    match limit {
        Some(Limit::Requests(requests)) => (Some(requests), None),
        Some(Limit::Duration(duration)) => (None, Some(duration)),
        None => (None, None),
    }
}

impl<'a> From<&'a SyntheticConfig> for SyntheticView<'a> {
    fn from(load: &'a SyntheticConfig) -> Self {
        let (requests, duration) = limit_keys(Some(load.limit));
        SyntheticView {
            requests,
            duration,
            warmup: load.warmup,
            read_fraction: load.read_fraction,
            trim_fraction: load.trim_fraction,
            align: load.align,
            arrival: &load.arrival,
            size: &load.size,
            address: AddressView {
                pattern: load.address,
                footprint: load.footprint,
                align: align(load.start_unit),
                skew: load.skew_fraction,
                skew_member: load.skew_member,
                skew_rest: load.skew_rest,
            },
        }
    }
}
