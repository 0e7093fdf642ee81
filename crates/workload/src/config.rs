//! A workload as the scenario describes it, validated: plain numbers, no units left to interpret.

use std::collections::BTreeMap;
use std::path::PathBuf;

use harmonia_trace::TraceOptions;
use harmonia_types::{Bytes, SimDuration};

use crate::Choices;

/// The `[workload]` table.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkloadConfig {
    /// Generated load.
    Synthetic(SyntheticConfig),
    /// Generated load of several streams.
    Streams(StreamsConfig),
    /// A block trace.
    Trace(TraceConfig),
}

/// How long something lasts: a number of requests or a length of simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// So many requests.
    Requests(u64),
    /// All requests that arrive before this time.
    Duration(SimDuration),
}

/// Generated load.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticConfig {
    /// How much load, warm-up included.
    pub limit: Limit,
    /// The first part, simulated and discarded.
    pub warmup: Limit,
    /// When requests arrive.
    pub arrival: Arrival,
    /// How long they are.
    pub size: SizeDistribution,
    /// Share of requests that read, 0..=1.
    pub read_fraction: f64,
    /// Share of requests that trim, 0..=1; with `read_fraction` at most 1. Of files: beside those that make room.
    pub trim_fraction: f64,
    /// Share of writes that are with FUA, 0..=1.
    pub fua_fraction: f64,
    /// Where they go.
    pub address: AddressPattern,
    /// The part of the logical space that is addressed, from its start.
    pub footprint: Extent,
    /// Requests start at a multiple of this, in bytes; 1 for any byte, and for whole pages where `align` is set.
    pub start_unit: Bytes,
    /// Share of requests pinned to one member, 0..=1 (0: none). Such a request lies wholly on that member.
    pub skew_fraction: f64,
    /// The member skewed requests go to.
    pub skew_member: u16,
    /// Where the requests go that are not pinned.
    pub skew_rest: SkewRest,
    /// Whether requests are rounded up to whole aligned pages.
    pub align: bool,
}

impl SyntheticConfig {
    /// So many writes of so many bytes, at random times with so many a second, anywhere, of whole pages. Other loads say what is
    /// different.
    pub fn writes(requests: u64, rate: f64, bytes: Bytes) -> SyntheticConfig {
        SyntheticConfig {
            limit: Limit::Requests(requests),
            warmup: Limit::Requests(0),
            arrival: Arrival::Poisson { rate },
            size: SizeDistribution::Fixed { mean: bytes },
            read_fraction: 0.0,
            trim_fraction: 0.0,
            fua_fraction: 0.0,
            address: AddressPattern::Uniform,
            footprint: Extent::ALL,
            start_unit: 1,
            skew_fraction: 0.0,
            skew_member: 0,
            skew_rest: SkewRest::Others,
            align: true,
        }
    }
}

/// Generated load of several streams, merged by time. Each has a part of the logical space, to itself unless it says where.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamsConfig {
    /// How much load, all streams together, warm-up included.
    pub limit: Limit,
    /// The first part, simulated and discarded.
    pub warmup: Limit,
    /// Whether requests are rounded up to whole aligned pages.
    pub align: bool,
    /// Arrival times are multiplied by this (0.1: ten times faster).
    pub time_scale: f64,
    /// When the requests of those streams arrive that have no arrivals of their own.
    pub arrival: Option<Arrival>,
    /// Share of these requests that belong to the stream of the one before; see [`Choices`].
    pub persistence: f64,
    /// By name; their parts lie one behind the other in this order.
    pub streams: BTreeMap<String, StreamConfig>,
}

impl StreamsConfig {
    /// So many requests of these streams, of whole pages, each stream with arrivals of its own. Other loads say what is different.
    pub fn of(requests: u64, streams: BTreeMap<String, StreamConfig>) -> StreamsConfig {
        StreamsConfig {
            limit: Limit::Requests(requests),
            warmup: Limit::Requests(0),
            align: true,
            time_scale: 1.0,
            arrival: None,
            persistence: 0.0,
            streams,
        }
    }

    /// The stream of each job, jobs in the order in which requests count them as volumes.
    pub fn jobs(&self) -> impl Iterator<Item = (&str, &StreamConfig)> {
        self.streams
            .iter()
            .flat_map(|(name, stream)| (0..stream.jobs.max(1)).map(move |_| (name.as_str(), stream)))
    }
}

/// When requests of a stream arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamArrival {
    /// By a process of its own; not a closed loop.
    Own(Arrival),
    /// With the common arrivals, of which so many are this stream's in each round of all that take part: dealt as
    /// [`Choices`] are. One number, or one for each phase of the arrivals, which may be 0.
    Common(Vec<u64>),
}

/// One stream of a load: its own arrivals, sizes, directions and addresses.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamConfig {
    /// When its requests arrive, those of all its jobs together.
    pub arrival: StreamArrival,
    /// So many jobs issue its requests, each an equal share of them with a process of its own; at least 1, and 1 with
    /// common arrivals and with files.
    pub jobs: u32,
    /// Requests that each job has outstanding at most; the next one is issued when one completes. `None`: any number.
    pub outstanding: Option<u32>,
    /// All its requests come so much later, before times are scaled; zero with common arrivals.
    pub start_delay: SimDuration,
    /// How long they are.
    pub size: SizeDistribution,
    /// Share of its requests that read, 0..=1.
    pub read_fraction: f64,
    /// Share of its requests that trim, as in [`SyntheticConfig`].
    pub trim_fraction: f64,
    /// Share of its writes that are with FUA, 0..=1.
    pub fua_fraction: f64,
    /// Where they go within its part.
    pub address: AddressPattern,
    /// How long its part is.
    pub footprint: Extent,
    /// Where its part begins; `None`: behind the parts of the streams before it that do not say either.
    pub start: Option<Extent>,
    /// As in [`SyntheticConfig`].
    pub start_unit: Bytes,
}

impl StreamConfig {
    /// Writes of so many bytes at random times, so many a second, anywhere in its part, which is all of the space. Other streams
    /// say what is different.
    pub fn writes(rate: f64, bytes: Bytes) -> StreamConfig {
        StreamConfig {
            arrival: StreamArrival::Own(Arrival::Poisson { rate }),
            jobs: 1,
            outstanding: None,
            start_delay: SimDuration::ZERO,
            size: SizeDistribution::Fixed { mean: bytes },
            read_fraction: 0.0,
            trim_fraction: 0.0,
            fua_fraction: 0.0,
            address: AddressPattern::Uniform,
            footprint: Extent::ALL,
            start: None,
            start_unit: 1,
        }
    }

    /// How much later its requests come in a load whose times are scaled; at most [`SimDuration`]'s largest.
    pub(crate) fn delay(&self, load: &StreamsConfig) -> SimDuration {
        SimDuration((self.start_delay.0 as f64 * load.time_scale).round() as u64)
    }

    /// The stream as a load of its own, on its part, from its start: that of one of its jobs, with these arrivals.
    pub(crate) fn alone(&self, load: &StreamsConfig, arrival: &Arrival) -> SyntheticConfig {
        SyntheticConfig {
            // Requests are counted over all streams.
            limit: match load.limit {
                Limit::Requests(_) => Limit::Requests(u64::MAX),
                Limit::Duration(end) => {
                    Limit::Duration(SimDuration(end.0.saturating_sub(self.delay(load).0)))
                }
            },
            warmup: load.warmup,
            // Times of one of several jobs are as many times as long.
            arrival: arrival.clone().scaled(load.time_scale * f64::from(self.jobs)),
            size: self.size.clone(),
            read_fraction: self.read_fraction,
            trim_fraction: self.trim_fraction,
            fua_fraction: self.fua_fraction,
            address: self.address,
            footprint: Extent::ALL,
            start_unit: self.start_unit,
            skew_fraction: 0.0,
            skew_member: 0,
            skew_rest: SkewRest::Others,
            align: load.align,
        }
    }
}

/// A length in the logical space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Extent {
    /// As a share of it, 0..=1.
    Share(f64),
    /// In bytes.
    Bytes(Bytes),
}

impl Extent {
    /// All of it.
    pub const ALL: Extent = Extent::Share(1.0);

    /// In bytes, of a space of so many.
    pub fn of(self, bytes: Bytes) -> Bytes {
        match self {
            // Exact enough: the product is far below 2^63.
            Extent::Share(share) => (bytes as f64 * share) as Bytes,
            Extent::Bytes(bytes) => bytes,
        }
    }
}

/// Where the requests of a skewed load go that are not pinned to its member. IEEE TC 2012, section 6, says "evenly
/// requested over the SSDs in the array", which can be read both ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SkewRest {
    /// Striped over the other members: the skewed one gets its share and no more.
    #[default]
    Others,
    /// Striped over all members: the skewed one gets its part of the rest as well.
    All,
}

/// When synthetic requests arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    /// Exponential gaps, `rate` requests a second.
    Poisson {
        /// Requests a second.
        rate: f64,
    },
    /// Equal gaps, `rate` requests a second.
    Fixed {
        /// Requests a second.
        rate: f64,
    },
    /// Bursts of `burst_length` requests with exponential gaps of mean `1 / burst_rate`; an exponential gap between
    /// the last request of a burst and the first of the next makes the long-run mean `rate`.
    OnOff {
        /// Requests a second over a long time.
        rate: f64,
        /// Requests a second within a burst; above `rate`.
        burst_rate: f64,
        /// Requests in a burst; at least 2.
        burst_length: u32,
    },
    /// Writes as in `OnOff`, reads poisson beside them and whatever the writes do.
    WriteBursts {
        /// Requests a second over a long time, reads and writes together.
        rate: f64,
        /// Writes a second within a burst; above `rate`.
        burst_rate: f64,
        /// Writes in a burst; at least 2.
        burst_length: u32,
    },
    /// Gaps that are dealt like cards, the first behind the first request, which arrives at 0.
    Gaps(Choices<SimDuration>),
    /// Phases one after the other, each of so many requests that come at random within the time their mean gap gives them;
    /// then from the first again.
    Phases(Vec<Phase>),
    /// `queue_depth` requests always out: each completion issues the next.
    Closed {
        /// Requests outstanding.
        queue_depth: u32,
    },
}

/// A stretch of time in which requests come at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// Mean gap before a request.
    pub gap: SimDuration,
    /// Requests; at least 1.
    pub count: u64,
}

/// How long synthetic requests are, in bytes before alignment; at least one byte.
#[derive(Debug, Clone, PartialEq)]
pub enum SizeDistribution {
    /// All the same.
    Fixed {
        /// Bytes.
        mean: Bytes,
    },
    /// Exponential.
    Exponential {
        /// Mean in bytes.
        mean: Bytes,
    },
    /// Normal, cut off below at one byte.
    Normal {
        /// Mean in bytes.
        mean: Bytes,
        /// Standard deviation in bytes.
        stddev: Bytes,
    },
    /// Sizes that are dealt like cards.
    Choices(Choices<Bytes>),
}

impl SizeDistribution {
    /// The mean, in bytes.
    pub fn mean(&self) -> Bytes {
        match self {
            SizeDistribution::Fixed { mean }
            | SizeDistribution::Exponential { mean }
            | SizeDistribution::Normal { mean, .. } => *mean,
            SizeDistribution::Choices(choices) => choices.mean(|&size| size as f64).round() as Bytes,
        }
    }

    /// A size for which there must be room: the largest that is known to occur, or else the mean.
    pub fn must_fit(&self) -> Bytes {
        match self {
            SizeDistribution::Choices(choices) => choices.values.iter().copied().max().unwrap_or(0),
            _ => self.mean(),
        }
    }
}

/// Where synthetic requests go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AddressPattern {
    /// Every position alike.
    Uniform,
    /// Each request starts where the last one ended, wrapping at the end of the footprint.
    Sequential,
    /// Pages by a zipf law, hot ones scattered over the footprint.
    Zipf {
        /// Exponent of the law, above 0: the page of rank `k` is asked for in proportion to `k^-theta`.
        theta: f64,
    },
    /// A part of the footprint takes a share of the requests.
    Hotspot {
        /// Share of the footprint that is hot, from its start; above 0, below 1.
        hot_space: f64,
        /// Share of requests that go there, 0..=1.
        hot_traffic: f64,
    },
    /// Places touched for the first time at a steady pace until all of the footprint has been, and returns to them.
    WorkingSet(WorkingSetPattern),
    /// Files that are created, appended to, read and deleted whole.
    Files(FilePattern),
}

/// How a footprint is touched, piece by piece of 4 KiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkingSetPattern {
    /// Bytes touched for the first time for each byte asked for, until the footprint is used up; above 0.
    pub first_touch: f64,
    /// Share of requests that go on where the one before ended, 0..=1.
    pub sequential: f64,
    /// Returns go to the place that is `u^(1/reuse)` of the way from the one touched first to the one touched last, for a
    /// uniform `u`: 1 for each alike, below 1 rather those touched early, above 1 those touched late. The 1% touched first
    /// share evenly what falls to them.
    pub reuse: f64,
}

/// Files in places of equal size, as many as the footprint has room for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FilePattern {
    /// Size of the smallest file.
    pub smallest: Bytes,
    /// Size of the largest file, and so of every file's place. Sizes between the two are drawn uniformly.
    pub largest: Bytes,
    /// How files are read.
    pub reads: FileReads,
    /// Which file is deleted.
    pub deletes: FileDeletes,
    /// Files deleted one after the other, each by a request, once a new one finds no room; at least 1.
    pub delete_batch: u32,
}

/// How files are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileReads {
    /// A file drawn at random from its start to its end, request by request, then another.
    #[default]
    Sequential,
    /// A file and a place in it drawn for each request.
    Random,
}

/// Which file is deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileDeletes {
    /// The one that was completed first.
    #[default]
    Oldest,
    /// Each alike.
    Random,
}

impl Arrival {
    /// The same process with times multiplied by `time_scale`; a closed loop has none.
    #[must_use]
    pub fn scaled(self, time_scale: f64) -> Arrival {
        let scaled = |rate: f64| rate / time_scale;
        match self {
            Arrival::Poisson { rate } => Arrival::Poisson { rate: scaled(rate) },
            Arrival::Fixed { rate } => Arrival::Fixed { rate: scaled(rate) },
            Arrival::OnOff { rate, burst_rate, burst_length } => {
                Arrival::OnOff { rate: scaled(rate), burst_rate: scaled(burst_rate), burst_length }
            }
            Arrival::WriteBursts { rate, burst_rate, burst_length } => {
                Arrival::WriteBursts { rate: scaled(rate), burst_rate: scaled(burst_rate), burst_length }
            }
            Arrival::Gaps(choices) => {
                let scaled = |gap: &SimDuration| SimDuration((gap.0 as f64 * time_scale).round() as u64);
                Arrival::Gaps(Choices { values: choices.values.iter().map(scaled).collect(), ..choices })
            }
            Arrival::Phases(phases) => {
                let gap = |gap: SimDuration| SimDuration((gap.0 as f64 * time_scale).round() as u64);
                let scaled = |phase: Phase| Phase { gap: gap(phase.gap), ..phase };
                Arrival::Phases(phases.into_iter().map(scaled).collect())
            }
            closed @ Arrival::Closed { .. } => closed,
        }
    }
}

/// A block trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceConfig {
    /// Its files or patterns of their names, as the scenario has them, resolved against the scenario's folder.
    pub paths: Vec<PathBuf>,
    /// How they are read.
    pub options: TraceOptions,
    /// How often it is replayed, one copy behind the other; at least 1.
    pub repeat: u32,
    /// What decides when its requests arrive.
    pub pacing: Pacing,
    /// Times of the trace are multiplied by this (0.1: ten times faster).
    pub time_scale: f64,
    /// Where its volumes lie.
    pub volumes: Volumes,
    /// Whether requests are widened to whole pages; otherwise a page written in part costs a read before its program.
    pub align: bool,
    /// What happens to addresses beyond the array.
    pub remap: Remap,
    /// Only the first part of the trace, if given.
    pub limit: Option<Limit>,
    /// The first part, simulated and discarded.
    pub warmup: Limit,
}

impl TraceConfig {
    /// All of a trace in these files, replayed once at its own times, its volumes apart, and refused where it goes beyond the array.
    /// Other replays say what is different.
    pub fn of(paths: Vec<PathBuf>) -> TraceConfig {
        TraceConfig {
            paths,
            options: TraceOptions::default(),
            repeat: 1,
            pacing: Pacing::default(),
            time_scale: 1.0,
            volumes: Volumes::default(),
            align: false,
            remap: Remap::Reject,
            limit: None,
            warmup: Limit::Requests(0),
        }
    }
}

/// What decides when the requests of a trace arrive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pacing {
    /// The times of the trace.
    #[default]
    Open,
    /// Completions: so many requests are kept outstanding, and the times of the trace are ignored.
    Closed {
        /// Requests outstanding; at least 1.
        queue_depth: u32,
    },
    /// Completions, and the time that passed in the trace between a completion and the next request.
    ThinkTimes,
}

/// Where the volumes of a trace (disk numbers, ASUs) lie in the array's address space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Volumes {
    /// One behind the other, in the order in which they first appear.
    #[default]
    Apart,
    /// All from address 0.
    Overlay,
}

/// What happens to addresses beyond the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remap {
    /// The address modulo the array's size.
    Wrap,
    /// The address scaled so that the trace's end meets the array's end; lengths stay.
    Scale,
    /// An error that names the line.
    Reject,
}
