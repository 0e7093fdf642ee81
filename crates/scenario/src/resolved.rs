//! A scenario written out: every key with its value, in the form of a scenario file, so that it can be read again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use harmonia_array::{
    ArrayConfig, Befalls, CoordinationConfig, Fault, Faults, Interface, Knowledge, Level, MemberConfig,
    Reads, Rebuild, Scrub, SmallWrite, When, WriteHole,
};
use harmonia_flash::Timing;
use harmonia_ssd::{FtlConfig, GcConfig, SsdConfig};
use harmonia_trace::{Action, Columns};
use harmonia_types::{Deadlines, SimDuration, SimTime, units};
use harmonia_workload::{
    AddressPattern, Arrival, Extent, Limit, Pacing, Remap, SizeDistribution, SkewRest, StreamArrival,
    StreamConfig, StreamsConfig, SyntheticConfig, TraceConfig, Volumes, WorkloadConfig,
};
use serde::{Serialize, Serializer};

use crate::failures::{SpareState, shown_rate, usual};
use crate::scenario::{Precondition, Scenario};

impl Serialize for Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let base = &usual(&self.array.members).ssd;
        let fallback = MemberConfig { capable: true, ssd: base.clone() };
        let members = self.array.members.iter().enumerate();
        let different = members.filter(|(_, member)| **member != fallback);
        let cached = self.array.stripe_cache.entries > 0;
        let view = View {
            name: &self.name,
            seed: self.seed,
            workload: LoadView {
                kind: (&self.workload).into(),
                space: self.space.map(units::format_bytes),
                deadline: DeadlineView::of(self.deadlines),
            },
            precondition: self.precondition,
            array: ArrayView {
                devices: self.array.devices,
                level: match self.array.level {
                    Level::Draid(_) => self.array.level.to_string(),
                    level => level.name().to_owned(),
                },
                layout: match self.array.level {
                    Level::Draid(_) => None,
                    level => level.placement(),
                },
                parity_shares: &self.array.parity_shares,
                small_write: (self.array.level.parities() > 0).then_some(self.array.small_write),
                stripe_cache: cached.then_some(self.array.stripe_cache.entries),
                delay_pre_reads: (cached && !self.array.stripe_cache.delays).then_some(false),
                stripe_unit: units::format_bytes(self.array.stripe_unit),
                knowledge: self.array.knowledge.into(),
                faults: FaultsView::new(&self.array.faults, self.spare_state),
                log: LogView::new(&self.array, self.journal_state),
                coordination: &self.array.coordination,
                member: different.map(|(index, member)| MemberView::new(index, member, base)).collect(),
            },
            ssd: base.into(),
        };
        view.serialize(serializer)
    }
}

impl Scenario {
    /// The resolved scenario as a scenario file: every key with its value. Loading it gives the same scenario.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a scenario has only what TOML can say")
    }
}

/// The value of a key below `ssd.`, as it would be written.
pub(crate) fn value_at(config: &SsdConfig, key: &str) -> Option<String> {
    let tree = serde_json::to_value(SsdView::from(config)).ok()?;
    let value = key.split('.').skip(1).try_fold(&tree, |value, name| value.get(name))?;
    Some(value.to_string())
}

/// All keys below `table` with their values, as they would be written.
pub(crate) fn leaves(table: &str, value: &serde_json::Value) -> Vec<(String, String)> {
    match value {
        serde_json::Value::Object(map) => {
            map.iter().flat_map(|(name, value)| leaves(&format!("{table}.{name}"), value)).collect()
        }
        serde_json::Value::String(text) => vec![(table.to_owned(), text.clone())],
        other => vec![(table.to_owned(), other.to_string())],
    }
}

/// A device as JSON in the form of a scenario file.
pub(crate) fn ssd_json(config: &SsdConfig) -> serde_json::Value {
    serde_json::to_value(SsdView::from(config)).expect("a device has only what JSON can say")
}

#[derive(Serialize)]
struct View<'a> {
    name: &'a str,
    seed: u64,
    workload: LoadView<'a>,
    precondition: Precondition,
    array: ArrayView<'a>,
    ssd: SsdView<'a>,
}

#[derive(Serialize)]
struct ArrayView<'a> {
    devices: u16,
    level: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<String>,
    #[serde(skip_serializing_if = "<[u16]>::is_empty")]
    parity_shares: &'a [u16],
    #[serde(skip_serializing_if = "Option::is_none")]
    small_write: Option<SmallWrite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stripe_cache: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_pre_reads: Option<bool>,
    stripe_unit: String,
    #[serde(flatten)]
    knowledge: KnowledgeView,
    #[serde(flatten)]
    faults: FaultsView,
    #[serde(flatten)]
    log: LogView,
    coordination: &'a CoordinationConfig,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    member: Vec<MemberView<'a>>,
}

/// What is as usual is left out, so that scenarios of before there were rungs read as they did.
#[derive(Serialize)]
struct KnowledgeView {
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<Interface>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nvram: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_stripes: Option<u64>,
}

impl From<Knowledge> for KnowledgeView {
    fn from(Knowledge { interface, poll, reads, nvram, free_stripes }: Knowledge) -> Self {
        KnowledgeView {
            interface: (interface != Interface::default()).then_some(interface),
            poll: (interface == Interface::Log).then_some(poll),
            reads: matches!(reads, Reads::Avoid(_)).then_some("avoid"),
            nvram: (nvram > 0).then(|| units::format_bytes(nvram)),
            free_stripes: (free_stripes > 0).then_some(free_stripes),
        }
    }
}

/// Where nothing happens nothing is said, so that scenarios of before members could fail read as they did.
#[derive(Serialize)]
struct FaultsView {
    #[serde(skip_serializing_if = "is_none")]
    page_errors: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    spares: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spare_state: Option<SpareState>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failure: Vec<FailureView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rebuild: Option<RebuildView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scrub: Option<ScrubView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    power_loss: Vec<LossView>,
}

#[derive(Serialize)]
struct LossView {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<u64>,
}

#[derive(Serialize)]
struct FailureView {
    device: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<SimDuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<u64>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<f64>,
}

#[derive(Serialize)]
struct RebuildView {
    min_rate: String,
    max_rate: String,
    depth: u32,
    step: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<SimDuration>,
}

#[derive(Serialize)]
struct ScrubView {
    at: SimDuration,
    mode: &'static str,
}

impl FaultsView {
    fn new(faults: &Faults, state: SpareState) -> Self {
        // What is logged has a view of its own.
        let Faults { events, page_errors, spares, rebuild, scrub, power_losses, .. } = faults;
        let may_rebuild = !spares.is_empty() || scrub.is_some() || *rebuild != Rebuild::default();
        FaultsView {
            page_errors: *page_errors,
            spares: Some(spares.len()).filter(|&spares| spares > 0),
            spare_state: Some(state).filter(|&state| !spares.is_empty() || state != SpareState::default()),
            failure: events.iter().map(FailureView::from).collect(),
            rebuild: may_rebuild.then(|| RebuildView::from(rebuild)),
            scrub: scrub.as_ref().map(ScrubView::from),
            power_loss: power_losses.iter().map(LossView::from).collect(),
        }
    }
}

/// A log or bitmap, where one is kept.
#[derive(Serialize, Default)]
struct LogView {
    #[serde(skip_serializing_if = "Option::is_none")]
    write_hole: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    journal: Option<JournalView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ppl_size: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bitmap_chunk: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bitmap_delay: Option<SimDuration>,
}

#[derive(Serialize)]
struct JournalView {
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    size: String,
    state: SpareState,
}

impl LogView {
    fn new(array: &ArrayConfig, state: SpareState) -> Self {
        let usual = usual(&array.members);
        match array.faults.write_hole {
            WriteHole::Journal(size) => {
                let device = array.faults.journal.as_ref().filter(|device| device.ssd != usual.ssd);
                let preset = device.map(|device| device.ssd.preset.clone());
                let journal = Some(JournalView { preset, size: units::format_bytes(size), state });
                LogView { write_hole: Some("journal"), journal, ..LogView::default() }
            }
            WriteHole::PartialParityLog(size) => {
                let ppl_size = Some(units::format_bytes(size));
                LogView { write_hole: Some("ppl"), ppl_size, ..LogView::default() }
            }
            WriteHole::Bitmap { chunk, delay } => LogView {
                write_hole: Some("bitmap"),
                bitmap_chunk: Some(units::format_bytes(chunk)),
                bitmap_delay: Some(delay),
                ..LogView::default()
            },
            WriteHole::Resync => LogView::default(),
        }
    }
}

/// A moment of a run, as it is written.
fn since_start(at: SimTime) -> SimDuration {
    at - SimTime::ZERO
}

impl From<&When> for LossView {
    fn from(when: &When) -> Self {
        match *when {
            When::Time(at) => LossView { at: Some(since_start(at)), request: None },
            When::Request(request) => LossView { at: None, request: Some(request) },
        }
    }
}

impl From<&Fault> for FailureView {
    fn from(fault: &Fault) -> Self {
        let LossView { at, request } = LossView::from(&fault.at);
        let (kind, factor) = match fault.what {
            Befalls::Failure => ("failure", None),
            Befalls::Slow(factor) => ("slow", Some(factor)),
            Befalls::Replacement => ("replace", None),
        };
        FailureView { device: fault.device.0, at, request, kind, factor }
    }
}

impl From<&Rebuild> for RebuildView {
    fn from(rebuild: &Rebuild) -> Self {
        RebuildView {
            min_rate: shown_rate(rebuild.min_rate),
            max_rate: shown_rate(rebuild.max_rate),
            depth: rebuild.depth,
            step: units::format_bytes(rebuild.step),
            delay: Some(rebuild.delay).filter(|delay| *delay > SimDuration::ZERO),
        }
    }
}

impl From<&Scrub> for ScrubView {
    fn from(scrub: &Scrub) -> Self {
        let mode = if scrub.repairs { "repair" } else { "check" };
        ScrubView { at: since_start(scrub.at), mode }
    }
}

#[derive(Serialize)]
struct MemberView<'a> {
    index: usize,
    capable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssd: Option<SsdView<'a>>,
}

impl<'a> MemberView<'a> {
    fn new(index: usize, member: &'a MemberConfig, base: &SsdConfig) -> Self {
        let ssd = (member.ssd != *base).then(|| SsdView::from(&member.ssd));
        MemberView { index, capable: member.capable, ssd }
    }
}

#[derive(Serialize)]
struct SsdView<'a> {
    preset: &'a str,
    geometry: GeometryView,
    timing: &'a Timing,
    link: LinkView,
    ftl: &'a FtlConfig,
    gc: &'a GcConfig,
}

#[derive(Serialize)]
struct GeometryView {
    channels: u32,
    chips_per_channel: u32,
    dies_per_chip: u32,
    planes_per_die: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    page_size: String,
    summary_pages: u32,
    own_pins: bool,
}

#[derive(Serialize)]
struct LinkView {
    bandwidth: String,
    latency: SimDuration,
}

impl<'a> From<&'a SsdConfig> for SsdView<'a> {
    fn from(config: &'a SsdConfig) -> Self {
        let geometry = &config.geometry;
        SsdView {
            preset: &config.preset,
            geometry: GeometryView {
                channels: geometry.channels,
                chips_per_channel: geometry.chips_per_channel,
                dies_per_chip: geometry.dies_per_chip,
                planes_per_die: geometry.planes_per_die,
                blocks_per_plane: geometry.blocks_per_plane,
                pages_per_block: geometry.pages_per_block,
                page_size: units::format_bytes(geometry.page_size.into()),
                summary_pages: geometry.summary_pages,
                own_pins: geometry.own_pins,
            },
            timing: &config.timing,
            link: LinkView {
                bandwidth: format!("{}/s", units::format_bytes(config.link.bandwidth)),
                latency: config.link.latency,
            },
            ftl: &config.ftl,
            gc: &config.gc,
        }
    }
}

/// A number of requests or a time.
#[derive(Serialize)]
#[serde(untagged)]
enum LimitView {
    Requests(u64),
    Duration(SimDuration),
}

impl From<Limit> for LimitView {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Requests(requests) => LimitView::Requests(requests),
            Limit::Duration(duration) => LimitView::Duration(duration),
        }
    }
}

/// A load, and what its requests expect if they do.
#[derive(Serialize)]
struct LoadView<'a> {
    #[serde(flatten)]
    kind: WorkloadView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline: Option<DeadlineView>,
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
    warmup: LimitView,
    read_fraction: f64,
    #[serde(skip_serializing_if = "is_none")]
    trim_fraction: f64,
    align: bool,
    arrival: &'a Arrival,
    size: SizeView<'a>,
    address: AddressView,
}

/// Whether a share is none: what the commonest load has not is left out.
fn is_none(share: &f64) -> bool {
    *share == 0.0
}

#[derive(Serialize)]
struct StreamsView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<SimDuration>,
    warmup: LimitView,
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
    size: SizeView<'a>,
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
            warmup: load.warmup.into(),
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
            size: (&stream.size).into(),
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
#[serde(tag = "distribution", rename_all = "kebab-case")]
enum SizeView<'a> {
    Fixed { mean: String },
    Exponential { mean: String },
    Normal { mean: String, stddev: String },
    Choices { sizes: Vec<String>, counts: &'a [u64], persistence: f64 },
}

impl<'a> From<&'a SizeDistribution> for SizeView<'a> {
    fn from(size: &'a SizeDistribution) -> Self {
        let shown = units::format_bytes;
        match size {
            SizeDistribution::Fixed { mean } => SizeView::Fixed { mean: shown(*mean) },
            SizeDistribution::Exponential { mean } => SizeView::Exponential { mean: shown(*mean) },
            SizeDistribution::Normal { mean, stddev } => {
                SizeView::Normal { mean: shown(*mean), stddev: shown(*stddev) }
            }
            SizeDistribution::Choices(choices) => SizeView::Choices {
                sizes: choices.values.iter().copied().map(shown).collect(),
                counts: &choices.counts,
                persistence: choices.persistence,
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
fn limit_keys(limit: Option<Limit>) -> (Option<u64>, Option<SimDuration>) {
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
            warmup: load.warmup.into(),
            read_fraction: load.read_fraction,
            trim_fraction: load.trim_fraction,
            align: load.align,
            arrival: &load.arrival,
            size: (&load.size).into(),
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

/// What was not said is left out: it is the format's.
#[derive(Serialize)]
struct TraceView<'a> {
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
    warmup: LimitView,
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
            warmup: trace.warmup.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_member_is_the_base() {
        let scenario = Scenario::parse(
            "array.devices = 3\narray.member = [{ index = 0, gc.victim = \"fifo\" }]\nworkload.preset = \"hpc-w\"",
            "test",
            &[],
            None,
        );
        let scenario = scenario.unwrap();
        assert_eq!(usual(&scenario.array.members).ssd.gc.victim.policy, "greedy");
    }
}
