//! What a trace holds, for `harmonia trace info`.
//!
//! **Sequential** is strict: a request counts that starts at the very byte where the one before ended, on the same
//! volume, whatever either does. **Near-sequential** counts those that start where any of the last 32 requests ended,
//! on its volume: several streams side by side, or a stream somewhat out of order. The 32 stand in a ring that is
//! compared as a whole, so a row costs the same whatever the trace. Requests without bytes (flushes) are neither, and
//! interrupt nothing; shares are of all requests.
//!
//! The **footprint** counts distinct 4 KiB pages, volume by volume: a request that touches a byte of a page touches the
//! page. The **busiest second** is that of the seconds 0 to 1, 1 to 2, ... behind the first arrival in which the most
//! bytes are asked for. The last one is hardly ever whole: with the one before it counts as one, as long as both are, at
//! its bytes a second. So no mean is above it. **Times** are those that are replayed, where requests of one tick of a
//! coarse clock are spread too. Sizes are in bytes; whoever prints them picks KB or KiB and says which.

use std::collections::BTreeMap;

use harmonia_types::units::format_duration;
use harmonia_types::{Bytes, Operation, PlacementHandle, SimDuration, sort_by_numbers};
use serde::Serialize;

use crate::footprint::Footprint;
use crate::{EventsRead, ReadLog, Trace, TraceError, TraceReader, TraceRecord};

const NS_PER_S: f64 = 1e9;
const SECOND_NS: u64 = 1_000_000_000;
const MILLISECOND_NS: u64 = 1_000_000;
/// Unit of alignment, in bytes.
pub const PAGE: Bytes = 4096;
/// Volumes that are described by name.
const VOLUMES_NAMED: usize = 8;

/// Above this the time unit is probably wrong, in bytes a second.
const IMPLAUSIBLE_BANDWIDTH: f64 = 20e9;
/// Nobody traced for longer than this: two years, in seconds.
const IMPLAUSIBLE_SPAN_S: f64 = 2.0 * 365.25 * 86_400.0;
/// No volume ends behind this.
const IMPLAUSIBLE_END: Bytes = 1 << 50;
/// Mean sizes outside are of another unit, in bytes.
const PLAUSIBLE_MEAN: std::ops::RangeInclusive<f64> = 512.0..=(64u64 << 20) as f64;
/// Sizes up to this count something else than bytes.
const TINY: Bytes = 8;
/// A trace that writes more than this may have its reads and writes exchanged.
const SUSPICIOUS_WRITES_PERCENT: f64 = 99.0;
/// A steady load that is slower may be one in another unit of time, in requests a second.
const SLOW_PER_S: f64 = 20.0;
/// Fewer requests than this share a trait by chance.
const MANY: u64 = 16;

/// A summary of a whole trace. `None` is what its requests do not determine (a rate without a span).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceInfo {
    /// The file, as it was named.
    pub file: String,
    /// How many files were read as one.
    pub files: usize,
    /// Name of the format it was read as.
    pub format: &'static str,
    /// Why that format, if it was not named.
    pub decision: Option<String>,
    /// Which event of a request was read, where the format records several, and how many requests each has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<EventsRead>,
    /// Number of requests.
    pub rows: u64,
    /// Clock time of the first request: UTC, in ns since 1970. `None` where the trace does not tell.
    pub begins_utc_ns: Option<u64>,
    /// From the first arrival to the last as they are replayed, in seconds.
    pub span_s: f64,
    /// Requests that read, in percent.
    pub read_percent: f64,
    /// Requests by what they do.
    pub operations: Operations,
    /// Placement handles of writes; absent where no write has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handles: Option<Handles>,
    /// Mean size of requests, in bytes.
    pub mean_size_bytes: MeanSizeBytes,
    /// Requests a second over the span.
    pub rate_per_s: Option<f64>,
    /// Bytes asked for a second over the span.
    pub bandwidth_bytes_per_s: Option<f64>,
    /// Bytes asked for in the busiest second; of a trace shorter than that, in a second at its rate.
    pub busiest_second_bytes: Bytes,
    /// Coefficient of variation of the gaps between arrivals: 0 evenly spaced, 1 Poisson, above 1 bursty.
    pub interarrival_cv: Option<f64>,
    /// The tick of a coarse clock over which requests were spread evenly, in ns: gaps below it were not measured.
    pub spread_tick_ns: Option<u64>,
    /// Distinct 4 KiB pages touched over all volumes, in bytes.
    pub footprint_bytes: Bytes,
    /// First byte behind the highest address.
    pub end_address_bytes: Bytes,
    /// Requests that start where the one before ended on the same volume, in percent.
    pub sequential_percent: f64,
    /// Requests that start where one of the last 32 ended on the same volume, in percent.
    pub near_sequential_percent: f64,
    /// Requests that begin and end on 4 KiB, in percent.
    pub aligned_percent: f64,
    /// Number of distinct volumes.
    pub volumes: usize,
    /// Those with the most requests, most first: at most eight.
    pub busiest_volumes: Vec<VolumeShare>,
    /// What was passed over, mended or tolerated in reading.
    pub log: ReadLog,
    /// What a person should look at before trusting the rest.
    pub warnings: Vec<String>,
}

/// Numbers of requests by what they do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Operations {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims (discards).
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Writes with FUA, which are among the writes.
    pub fua: u64,
}

/// Placement handles of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Handles {
    /// Writes that have one.
    pub writes: u64,
    /// Different ones.
    pub different: usize,
    /// The highest.
    pub highest: u16,
}

/// Mean sizes in bytes; `None` where there is no such request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanSizeBytes {
    /// All requests.
    pub all: Option<f64>,
    /// Reads.
    pub read: Option<f64>,
    /// Writes.
    pub write: Option<f64>,
}

/// A volume's part in a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VolumeShare {
    /// Its name in the trace.
    pub name: String,
    /// Its share of the requests, in percent.
    pub percent: f64,
}

/// Sums of one kind of request.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    requests: u64,
    bytes: u128,
}

impl Sum {
    fn add(&mut self, record: &TraceRecord) {
        self.requests += 1;
        self.bytes += u128::from(record.length);
    }

    fn mean_bytes(self) -> Option<f64> {
        (self.requests > 0).then(|| self.bytes as f64 / self.requests as f64)
    }
}

/// Mean and spread, updated one by one (Welford).
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    /// How many values.
    pub count: u64,
    /// Their mean; 0 of none.
    pub mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        let delta = value - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (value - self.mean);
    }

    /// Adds 0 so many times.
    pub fn add_zeros(&mut self, count: u64) {
        let all = (self.count + count) as f64;
        if count > 0 {
            self.squares += self.mean * self.mean * self.count as f64 * count as f64 / all;
            self.mean *= self.count as f64 / all;
            self.count += count;
        }
    }

    /// Coefficient of variation; `None` if the mean is 0.
    pub fn cv(self) -> Option<f64> {
        (self.mean > 0.0).then(|| (self.squares / self.count as f64).sqrt() / self.mean)
    }
}

/// Where the last requests ended.
#[derive(Debug)]
struct Ends {
    ends: [Bytes; NEAR],
    volumes: [u16; NEAR],
    last: usize,
}

const NEAR: usize = 32;

impl Default for Ends {
    fn default() -> Self {
        // No request with bytes starts at the last address, so an empty place matches nothing.
        Ends { ends: [Bytes::MAX; NEAR], volumes: [0; NEAR], last: 0 }
    }
}

impl Ends {
    /// Whether a request at `offset` follows the last one, and whether it follows any; then its own end is noted.
    #[inline]
    fn follow(&mut self, volume: u16, offset: Bytes, end: Bytes) -> (bool, bool) {
        let follows = |place: usize| (self.ends[place] == offset) & (self.volumes[place] == volume);
        let strict = follows(self.last);
        let near = strict || (0..NEAR).fold(false, |any, place| any | follows(place));
        self.last = (self.last + 1) % NEAR;
        self.ends[self.last] = end;
        self.volumes[self.last] = volume;
        (strict, near)
    }
}

/// The second that is counted, and the most bytes of one.
#[derive(Debug, Default)]
struct Seconds {
    second: u64,
    bytes: Bytes,
    /// Of the second before.
    before: Bytes,
    most: Bytes,
}

impl Seconds {
    #[inline]
    fn add(&mut self, since_first_ns: u64, length: Bytes) {
        let second = since_first_ns / SECOND_NS;
        if second != self.second {
            self.before = if second == self.second + 1 { self.bytes } else { 0 };
            self.second = second;
            self.bytes = 0;
        }
        self.bytes = self.bytes.saturating_add(length);
        self.most = self.most.max(self.bytes);
    }

    /// The most bytes of a second, where the last request arrived so long behind the first.
    fn busiest(&self, span_ns: u64) -> Bytes {
        let last_ns = if span_ns < SECOND_NS { span_ns } else { SECOND_NS + span_ns % SECOND_NS };
        let bytes = u128::from(self.before) + u128::from(self.bytes);
        let at_the_end = (bytes * u128::from(SECOND_NS)).div_ceil(u128::from(last_ns.max(1)));
        if last_ns == 0 { self.most } else { self.most.max(at_the_end.min(u128::from(Bytes::MAX)) as Bytes) }
    }
}

/// First and last time of each volume in each file, where there are several files.
#[derive(Debug, Default)]
struct FileTimes(BTreeMap<(u16, usize), (u64, u64)>);

impl FileTimes {
    fn add(&mut self, record: &TraceRecord, file: usize) {
        let times = self.0.entry((record.volume, file)).or_insert((record.time_ns, record.time_ns));
        times.1 = record.time_ns;
    }

    /// Volumes that stand in two files at the same time, with such files.
    fn overlaps(&self) -> Vec<(u16, usize, usize)> {
        let entries: Vec<_> = self.0.iter().map(|(&(volume, file), &times)| (volume, times, file)).collect();
        let overlap = |parts: &[(u16, (u64, u64), usize)]| {
            let mut parts = parts.to_vec();
            parts.sort_unstable_by_key(|&(_, times, file)| (times, file));
            let pair = parts.windows(2).find(|pair| pair[1].1.0 < pair[0].1.1)?;
            Some((pair[0].0, pair[0].2, pair[1].2))
        };
        entries.chunk_by(|a, b| a.0 == b.0).filter_map(overlap).collect()
    }
}

/// What is counted while a trace is read.
#[derive(Debug, Default)]
pub struct Summary {
    all: Sum,
    read: Sum,
    write: Sum,
    trims: u64,
    flushes: u64,
    fua: u64,
    /// Writes by placement handle.
    handles: BTreeMap<PlacementHandle, u64>,
    /// Requests that move bytes, and their largest size.
    sized: Sum,
    largest: Bytes,
    gaps: Moments,
    /// The shortest gap, in ns; `None` before the second request.
    shortest_gap_ns: Option<u64>,
    seconds: Seconds,
    /// The longest step that all arrivals lie whole steps behind the first, in ns; 1 if that is below a millisecond, 0
    /// as long as all arrive at once.
    clock_step_ns: u64,
    /// `None` where somebody else counts it.
    footprint: Option<Footprint>,
    end: Bytes,
    sequential: u64,
    near_sequential: u64,
    aligned: u64,
    ends: Ends,
    /// Requests by volume.
    volumes: Vec<u64>,
    files: Option<FileTimes>,
    /// Times of the first and the last request.
    times: Option<(u64, u64)>,
}

impl Summary {
    /// Of nothing yet.
    pub fn new(trace: &Trace) -> Self {
        Summary { footprint: Some(Footprint::default()), ..Summary::without_footprint(trace) }
    }

    /// Of nothing yet, and for those who count the footprint themselves: that of the [`TraceInfo`] will be 0.
    pub fn without_footprint(trace: &Trace) -> Self {
        Summary { files: (trace.inputs.len() > 1).then(FileTimes::default), ..Summary::default() }
    }

    /// Adds the next record, of the file at this index.
    #[inline]
    pub fn add(&mut self, record: &TraceRecord, file: usize) {
        self.all.add(record);
        self.fua += u64::from(record.fua);
        if let Some(handle) = record.handle {
            *self.handles.entry(handle).or_default() += 1;
        }
        match record.operation {
            Operation::Read => self.read.add(record),
            Operation::Write => self.write.add(record),
            Operation::Trim => self.trims += 1,
            Operation::Flush => self.flushes += 1,
        }
        if record.length > 0 {
            self.add_extent(record);
        }
        match self.volumes.get_mut(usize::from(record.volume)) {
            Some(requests) => *requests += 1,
            None => {
                self.volumes.resize(usize::from(record.volume) + 1, 0);
                self.volumes[usize::from(record.volume)] = 1;
            }
        }
        if let Some(files) = &mut self.files {
            files.add(record, file);
        }
        self.add_time(record);
    }

    #[inline]
    fn add_extent(&mut self, record: &TraceRecord) {
        let end = record.offset + record.length;
        // A trim may be of a whole disk, in no time.
        if record.operation != Operation::Trim {
            self.sized.add(record);
            self.largest = self.largest.max(record.length);
        }
        self.end = self.end.max(end);
        self.aligned += u64::from((record.offset | end).is_multiple_of(PAGE));
        if let Some(footprint) = &mut self.footprint {
            footprint.touch(record.volume, record.offset, end);
        }
        let (strict, near) = self.ends.follow(record.volume, record.offset, end);
        self.sequential += u64::from(strict);
        self.near_sequential += u64::from(near);
    }

    #[inline]
    fn add_time(&mut self, record: &TraceRecord) {
        let (first, last) = *self.times.get_or_insert((record.time_ns, record.time_ns));
        let since_first_ns = record.time_ns - first;
        self.seconds.add(since_first_ns, record.length);
        if self.clock_step_ns != 1 && !since_first_ns.is_multiple_of(self.clock_step_ns) {
            let step_ns = common_divisor(self.clock_step_ns, since_first_ns);
            self.clock_step_ns = if step_ns < MILLISECOND_NS { 1 } else { step_ns };
        }
        self.times = Some((first, record.time_ns));
        if self.all.requests > 1 {
            let gap_ns = record.time_ns - last;
            self.gaps.add(gap_ns as f64);
            self.shortest_gap_ns = Some(self.shortest_gap_ns.map_or(gap_ns, |shortest| shortest.min(gap_ns)));
        }
    }

    fn percent(&self, requests: u64) -> f64 {
        100.0 * requests as f64 / self.all.requests.max(1) as f64
    }

    fn span_s(&self) -> f64 {
        self.times.map_or(0.0, |(first, last)| (last - first) as f64 / NS_PER_S)
    }

    /// The summary of `trace`, whose last record `reader` has given.
    pub fn into_info(mut self, trace: &Trace, reader: &TraceReader) -> TraceInfo {
        let span_s = self.span_s();
        let per_s = |amount: f64| (span_s > 0.0).then(|| amount / span_s);
        TraceInfo {
            file: trace.name(),
            files: trace.inputs.len(),
            format: trace.format().name,
            decision: trace.decision(),
            events: trace.events_read(reader.log()),
            rows: self.all.requests,
            begins_utc_ns: self.begins_utc_ns(reader),
            span_s,
            read_percent: self.percent(self.read.requests),
            operations: Operations {
                reads: self.read.requests,
                writes: self.write.requests,
                trims: self.trims,
                flushes: self.flushes,
                fua: self.fua,
            },
            handles: self.handles(),
            mean_size_bytes: MeanSizeBytes {
                all: self.all.mean_bytes(),
                read: self.read.mean_bytes(),
                write: self.write.mean_bytes(),
            },
            rate_per_s: per_s(self.all.requests as f64),
            bandwidth_bytes_per_s: per_s(self.all.bytes as f64),
            busiest_second_bytes: self.busiest_bytes(),
            interarrival_cv: self.gaps.cv(),
            spread_tick_ns: Some(reader.tick_ns()).filter(|&tick_ns| tick_ns > 0),
            footprint_bytes: self.footprint.as_mut().map_or(0, |footprint| footprint.total().0),
            end_address_bytes: self.end,
            sequential_percent: self.percent(self.sequential),
            near_sequential_percent: self.percent(self.near_sequential),
            aligned_percent: self.percent(self.aligned),
            volumes: self.volumes.iter().filter(|&&requests| requests > 0).count(),
            busiest_volumes: self.busiest_volumes(reader),
            log: reader.log().clone(),
            warnings: self.warnings(trace, reader),
        }
    }

    fn handles(&self) -> Option<Handles> {
        let (highest, _) = self.handles.last_key_value()?;
        let writes = self.handles.values().sum();
        Some(Handles { writes, different: self.handles.len(), highest: highest.number() })
    }

    fn begins_utc_ns(&self, reader: &TraceReader) -> Option<u64> {
        let (first_ns, _) = self.times?;
        reader.origin_utc_ns()?.checked_add(first_ns)
    }

    fn busiest_bytes(&self) -> Bytes {
        self.seconds.busiest(self.times.map_or(0, |(first, last)| last - first))
    }

    fn busiest_volumes(&self, reader: &TraceReader) -> Vec<VolumeShare> {
        let mut volumes: Vec<_> = self.volumes.iter().zip(reader.volumes().names()).collect();
        volumes.retain(|&(&requests, _)| requests > 0);
        // Stable: of equals the one that came first in the trace.
        sort_by_numbers(&mut volumes, |&(&requests, _)| (!requests, 0));
        let share = |(&requests, name): (&u64, &String)| VolumeShare {
            name: name.clone(),
            percent: self.percent(requests),
        };
        volumes.into_iter().take(VOLUMES_NAMED).map(share).collect()
    }

    fn warnings(&self, trace: &Trace, reader: &TraceReader) -> Vec<String> {
        let events = trace.events_read(reader.log()).and_then(|events| events.warning());
        let (times, operations) = (self.time_warning(), self.operation_warning(trace));
        let places = [self.address_warning(), self.size_warning(), self.volume_warning()];
        let clocks = [
            self.clock_warning(trace, reader),
            self.spread_warning(reader),
            self.file_warning(trace, reader),
        ];
        let times = times.or_else(|| self.slow_warning(trace));
        [events, times, operations].into_iter().chain(places).chain(clocks).flatten().collect()
    }

    fn time_warning(&self) -> Option<String> {
        let span_s = self.span_s();
        let mean = self.sized.bytes as f64 / span_s;
        let busiest = if self.trims == 0 { self.busiest_bytes() as f64 } else { 0.0 };
        if span_s == 0.0 {
            return (self.all.requests > 1)
                .then(|| "all requests arrive at the same time: is the time column right?".into());
        }
        if mean > IMPLAUSIBLE_BANDWIDTH {
            return Some(format!("implied bandwidth {}: is the time unit right?", per_second(mean)));
        }
        if busiest > IMPLAUSIBLE_BANDWIDTH {
            return Some(format!(
                "implied bandwidth {} in the busiest second: is the time unit right?",
                per_second(busiest)
            ));
        }
        let years = span_s / (365.25 * 86_400.0);
        (span_s > IMPLAUSIBLE_SPAN_S).then(|| format!("it spans {years:.1} years: is the time unit right?"))
    }

    /// A doubt about the operations, the more pointed where the format codes them as 0 and 1.
    fn operation_warning(&self, trace: &Trace) -> Option<String> {
        let Sum { requests, .. } = self.all;
        let written = self.percent(self.write.requests);
        let polarity = trace.format().units.read_is.is_some();
        if polarity && requests >= MANY && written > SUSPICIOUS_WRITES_PERCENT {
            return Some(format!(
                "{written:.1}% of the requests are writes: is the value that means read right (read_is)?"
            ));
        }
        [("reads", self.read), ("writes", self.write)]
            .iter()
            .find(|(_, sum)| sum.requests == requests)
            .map(|(kind, _)| format!("all requests are {kind}: is the type column right?"))
    }

    fn address_warning(&self) -> Option<String> {
        let pebibytes = self.end as f64 / IMPLAUSIBLE_END as f64;
        (self.end > IMPLAUSIBLE_END)
            .then(|| format!("the highest address is {pebibytes:.1} PiB: is the address unit right?"))
    }

    fn size_warning(&self) -> Option<String> {
        let mean = self.sized.mean_bytes()?;
        if self.largest <= TINY {
            return Some(format!(
                "no request is longer than {} bytes: is the size unit right?",
                self.largest
            ));
        }
        (!PLAUSIBLE_MEAN.contains(&mean))
            .then(|| format!("the mean size is {mean:.0} bytes: is the size unit right?"))
    }

    fn volume_warning(&self) -> Option<String> {
        let volumes = self.volumes.iter().filter(|&&requests| requests > 0).count();
        if volumes as u64 > MANY && volumes as u64 * 4 > self.all.requests {
            let requests = self.all.requests;
            return Some(format!(
                "it has {volumes} volumes for {requests} requests: is that column the volume?"
            ));
        }
        (volumes > 1).then(|| {
            format!("it has {volumes} volumes, each with addresses of its own from 0: say how they lie when you replay it")
        })
    }

    /// That a load so slow and so even may have been recorded in ns by who meant us, as fio's own logs once were.
    fn slow_warning(&self, trace: &Trace) -> Option<String> {
        let requests = self.all.requests;
        let per_s = requests as f64 / self.span_s();
        let mean = self.all.bytes as f64 / self.span_s();
        let is_even =
            self.gaps.cv().is_some_and(|cv| cv < 1.0) && self.shortest_gap_ns >= Some(10 * MILLISECOND_NS);
        let is_slow = per_s < SLOW_PER_S && mean * 1000.0 < IMPLAUSIBLE_BANDWIDTH;
        let in_us = trace.time_unit_ns() == Some(1_000) && self.clock_step_ns == 1;
        (in_us && requests >= MANY && is_even && is_slow).then(|| {
            let size = self.all.mean_bytes().unwrap_or(0.0);
            format!(
                "{per_s:.1} requests/s of {size:.0} bytes, never two within 10 ms: are its times ns, read as us (time unit)?"
            )
        })
    }

    /// A doubt about a coarse clock. Where its ticks were spread the steps are ours, and times in seconds with decimals
    /// are of no other unit.
    fn clock_warning(&self, trace: &Trace, reader: &TraceReader) -> Option<String> {
        if reader.tick_ns() > 0 {
            return None;
        }
        let in_seconds = trace.time_unit_ns() == Some(SECOND_NS);
        let steps = [
            (
                SECOND_NS,
                "all arrivals lie full seconds apart: a clock that coarse makes requests come at once (spread, time unit)",
            ),
            (MILLISECOND_NS, "all arrivals lie full milliseconds apart: is the time unit right?"),
        ];
        let known = self.span_s() > 0.0 && self.all.requests >= MANY;
        let doubted = |step_ns: u64| step_ns == SECOND_NS || !in_seconds;
        let warning = steps
            .iter()
            .find(|(step_ns, _)| known && self.clock_step_ns.is_multiple_of(*step_ns) && doubted(*step_ns));
        warning.map(|(_, words)| (*words).to_owned())
    }

    /// That what looks like a steady load may be the reader's own doing.
    fn spread_warning(&self, reader: &TraceReader) -> Option<String> {
        let tick_ns = reader.tick_ns();
        (tick_ns > 0 && self.all.requests > 1).then(|| {
            let tick = format_duration(SimDuration(tick_ns));
            format!("gaps below {tick} are those of an even spread, not measured: the clock ticks so slowly")
        })
    }

    fn file_warning(&self, trace: &Trace, reader: &TraceReader) -> Option<String> {
        // The events of one device stand in a file a processor there.
        if trace.format().has_actions {
            return None;
        }
        let overlaps = self.files.as_ref()?.overlaps();
        let &(volume, one, other) = overlaps.first()?;
        let name = reader.volumes().names().get(usize::from(volume))?;
        let file = |index: usize| trace.files().nth(index).unwrap_or_default();
        let more = match overlaps.len() {
            1 => String::new(),
            count => format!(" ({} more volumes alike)", count - 1),
        };
        Some(format!(
            "volume `{name}` stands in {} and in {} at the same time{more}: are they different disks (same_volumes = false)?",
            file(one),
            file(other)
        ))
    }
}

/// A bandwidth for a person.
fn per_second(bytes: f64) -> String {
    if bytes >= 1e12 { format!("{:.0} TB/s", bytes / 1e12) } else { format!("{:.0} GB/s", bytes / 1e9) }
}

/// Reads `trace` to its end.
pub(crate) fn describe(
    trace: &Trace,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<TraceInfo>, TraceError> {
    let mut summary = Summary::new(trace);
    let reader = trace.scan(go_on, |record, reader| {
        summary.add(record, reader.file());
    })?;
    Ok(reader.map(|reader| summary.into_info(trace, &reader)))
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceOptions;

    fn info(text: &str) -> TraceInfo {
        Trace::from_bytes("t", text.as_bytes().to_vec(), &TraceOptions::of_format("msr"))
            .unwrap()
            .info()
            .unwrap()
    }

    #[test]
    fn counts_what_is_there() {
        // Gaps 1 s and 3 s: mean 2, deviation 1. Row 2 follows row 1; row 3 starts where row 2 ended, on another disk.
        let info =
            info("0,h,0,Read,1000,1000,1\n10000000,h,0,Write,2000,500,1\n40000000,h,1,Write,2500,4500,1\n");
        assert_eq!((info.rows, info.span_s, info.volumes), (3, 4.0, 2));
        assert_eq!(
            info.mean_size_bytes,
            MeanSizeBytes { all: Some(2000.0), read: Some(1000.0), write: Some(2500.0) }
        );
        assert_eq!((info.rate_per_s, info.interarrival_cv), (Some(0.75), Some(0.5)));
        assert_eq!((info.footprint_bytes, info.end_address_bytes), (3 * 4096, 7000));
        assert!(
            (info.read_percent - 100.0 / 3.0).abs() < 1e-9
                && (info.sequential_percent - 100.0 / 3.0).abs() < 1e-9
        );
        assert_eq!(info.warnings.len(), 1);
        assert!(info.warnings[0].starts_with("it has 2 volumes"), "{:?}", info.warnings);
    }

    #[test]
    fn warns_of_what_looks_wrong() {
        let first = |text: &str| info(text).warnings.first().cloned().unwrap_or_default();
        assert!(first("5,h,0,Read,0,9,1\n5,h,0,Write,0,9,1\n").contains("same time"));
        // 0.5 ms for 10 MB and one byte: just above 20 GB/s. For 10 MB exactly: not above.
        assert!(
            first("0,h,0,Read,0,9999999,1\n5000,h,0,Write,0,2,1\n")
                .contains("20 GB/s: is the time unit right?")
        );
        assert_eq!(first("0,h,0,Read,0,9999999,1\n5000,h,0,Write,0,1,1\n"), "");
        assert!(first("0,h,0,Read,0,9,1\n9,h,0,Read,0,9,1\n").contains("all requests are reads"));
        assert!(first("0,h,0,Write,0,9,1\n9,h,0,Write,0,9,1\n").contains("all requests are writes"));
    }

    fn of_tencent(text: &str, options: TraceOptions) -> TraceInfo {
        let options = TraceOptions { format: "tencent".to_owned(), ..options };
        Trace::from_bytes("t", text.as_bytes().to_vec(), &options).unwrap().info().unwrap()
    }

    /// Two ticks of a clock that counts seconds, with a hundred requests in one and a thousand in the other.
    #[test]
    fn the_span_of_a_coarse_clock_is_that_which_is_replayed() {
        let rows = |second: u64, count: u64| -> String {
            (0..count).map(|row| format!("{second},{},8,{},1\n", 800 * row, row % 2)).collect()
        };
        let text = rows(7, 100) + &rows(8, 1000);
        let info = of_tencent(&text, TraceOptions::default());
        assert_eq!((info.span_s, info.rate_per_s), (1.999, Some(1100.0 / 1.999)));
        assert_eq!(info.bandwidth_bytes_per_s, Some(1100.0 * 4096.0 / 1.999));
        assert!(info.busiest_second_bytes as f64 >= info.bandwidth_bytes_per_s.unwrap());
        // The k-th of a thousand lies full milliseconds behind the first: that is our doing.
        let warning = "gaps below 1s are those of an even spread, not measured: the clock ticks so slowly";
        assert_eq!(info.warnings, [warning]);
        assert_eq!(info.spread_tick_ns, Some(SECOND_NS));
        // Of volume 2 the second request of the first tick and the first of the last, at 0.5 s and 2 s.
        let text = "7,0,8,0,1\n7,8,8,0,2\n9,8,8,0,2\n9,0,8,0,1\n";
        assert_eq!(
            of_tencent(text, TraceOptions { only: Some("2".into()), ..TraceOptions::default() }).span_s,
            1.5
        );
        let info = of_tencent(text, TraceOptions { spread: Some(false), ..TraceOptions::default() });
        assert!(info.spread_tick_ns.is_none() && !info.warnings.iter().any(|found| found == warning));
        assert_eq!(info.span_s, 2.0);
    }

    /// Ten requests of a tick of 10 ms, spread by us, lie full milliseconds apart; one request a second lies where it was.
    #[test]
    fn steps_of_our_own_spreading_are_no_doubt() {
        let csv = |unit_ns: u64, rows: u64, spread: bool| {
            let row =
                |row: u64| format!("{},{},{},4096\n", row / rows, ["R", "W"][row as usize % 2], 4096 * row);
            let units = crate::UnitOptions { time_ns: Some(unit_ns), ..crate::UnitOptions::default() };
            let columns = Some("time,op,offset,size".parse().unwrap());
            let options = TraceOptions { columns, units, spread: Some(spread), ..TraceOptions::default() };
            let text: String = (0..30).map(row).collect();
            Trace::from_bytes("t", text.into_bytes(), &options).unwrap().info().unwrap().warnings
        };
        let spread = |tick: &str| {
            format!("gaps below {tick} are those of an even spread, not measured: the clock ticks so slowly")
        };
        assert_eq!(csv(10 * MILLISECOND_NS, 10, true), [spread("10ms")]);
        assert_eq!(
            csv(10 * MILLISECOND_NS, 10, false),
            ["all arrivals lie full milliseconds apart: is the time unit right?"]
        );
        assert_eq!(csv(SECOND_NS, 1, true), [spread("1s")]);
        assert!(csv(SECOND_NS, 1, false)[0].starts_with("all arrivals lie full seconds apart"));
    }

    /// The last second is hardly ever whole: it counts with the one before.
    #[test]
    fn no_mean_is_above_the_busiest_second() {
        let row = |ms: u64, bytes: u64| {
            format!("{},h,0,{},0,{bytes},1\n", ms * 10_000, ["Read", "Write"][ms as usize % 2])
        };
        let busiest = |rows: &[(u64, u64)]| {
            let info = info(&rows.iter().map(|&(ms, bytes)| row(ms, bytes)).collect::<String>());
            let mean = info.bandwidth_bytes_per_s.unwrap_or(0.0);
            assert!(
                info.busiest_second_bytes as f64 >= mean,
                "{rows:?}: {mean} {}",
                info.busiest_second_bytes
            );
            info.busiest_second_bytes
        };
        assert_eq!(busiest(&[(0, 4000), (900, 6000), (1100, 9000)]), 17_273);
        assert_eq!(busiest(&[(0, 9000), (1000, 4000), (1500, 5000)]), 12_000);
        assert_eq!(busiest(&[(0, 4000), (3000, 9000)]), 9000);
        assert_eq!(busiest(&[(0, 4000), (3500, 9000)]), 9000);
        // Shorter than a second: what a second would have.
        assert_eq!(busiest(&[(0, 4000), (500, 4000)]), 16_000);
        assert_eq!(busiest(&[(7, 4000)]), 4000);
    }

    /// A disk trimmed at once says nothing of units.
    #[test]
    fn trims_are_no_doubt() {
        let text = "fio version 3 iolog\n3 /dev/z trim 0 1099511627776\n90 /dev/z write 0 4096\n95 /dev/z read 0 4096\n";
        let trace = Trace::from_bytes("t", text.into(), &TraceOptions::of_format("fio")).unwrap();
        let info = trace.info().unwrap();
        assert_eq!((info.warnings, info.footprint_bytes), (Vec::new(), 1 << 40));
    }

    /// Times with decimals that lie full milliseconds apart are those of a coarse clock, not of another unit.
    #[test]
    fn full_milliseconds_of_a_clock_in_seconds_are_no_doubt() {
        let rows: String = (0..20)
            .map(|row| format!("1456000000.{row:02}0000,0.1,{},2,{},512\n", ["R", "W"][row % 2], 512 * row))
            .collect();
        let trace = Trace::from_bytes("t", rows.into_bytes(), &TraceOptions::of_format("systor")).unwrap();
        assert_eq!(trace.info().unwrap().warnings, Vec::<String>::new());
    }

    #[test]
    fn nanoseconds_read_as_microseconds_are_doubted() {
        let fio = |unit: u64, step: u64| {
            let row = |row: u64| {
                let kind = ["write", "read"][row as usize % 2];
                format!("{} /dev/x {kind} {} 1048576\n", (row * step + row % 7 * 1_013) / unit, row << 20)
            };
            let text = "fio version 3 iolog\n".to_owned() + &(1..40).map(row).collect::<String>();
            let trace = Trace::from_bytes("t", text.into_bytes(), &TraceOptions::of_format("fio")).unwrap();
            trace.info().unwrap().warnings
        };
        assert_eq!(
            fio(1, 500_003),
            [
                "2.1 requests/s of 1048576 bytes, never two within 10 ms: are its times ns, read as us (time unit)?"
            ]
        );
        assert_eq!(fio(1000, 500_003), Vec::<String>::new());
        assert_eq!(fio(1, 9_003), Vec::<String>::new(), "less than 10 ms apart");
    }

    /// DiskSim's columns in us, read as ms.
    #[test]
    fn arrivals_that_all_lie_full_milliseconds_apart_are_doubted() {
        let disksim = |unit: &str| {
            let rows: String =
                (0..20).map(|row| format!("{}{unit} 0 {} 8 {}\n", 979 * row, 8 * row, row % 2)).collect();
            let trace = Trace::from_bytes("t", rows.into_bytes(), &TraceOptions::of_format("disksim"));
            trace.unwrap().info().unwrap().warnings
        };
        assert_eq!(disksim(""), ["all arrivals lie full milliseconds apart: is the time unit right?"]);
        assert_eq!(disksim(".5"), ["all arrivals lie full milliseconds apart: is the time unit right?"]);
        assert_eq!(common_divisor(0, 6), 6);
        let fine: String =
            (0..20).map(|row| format!("{}.{row} 0 {} 8 {}\n", 979 * row, 8 * row, row % 2)).collect();
        let fine = Trace::from_bytes("t", fine.into_bytes(), &TraceOptions::of_format("disksim"));
        assert_eq!(fine.unwrap().info().unwrap().warnings, Vec::<String>::new());
    }

    #[test]
    fn as_many_volumes_as_requests_are_doubted() {
        let rows: String = (0..40).map(|row| format!("{row},h,{row},Write,0,512,1\n")).collect();
        let warnings = info(&rows).warnings;
        assert!(
            warnings.iter().any(|warning| warning.contains("40 volumes for 40 requests")),
            "{warnings:?}"
        );
    }

    #[test]
    fn what_a_single_request_does_not_determine_is_null() {
        let json = serde_json::to_value(info("7,h,0,Write,0,4096,1\n")).unwrap();
        for key in ["rate_per_s", "interarrival_cv"] {
            assert!(json[key].is_null(), "{key}");
        }
        assert!(json["mean_size_bytes"]["read"].is_null());
        assert_eq!(json["mean_size_bytes"]["write"], 4096.0);
    }
    #[test]
    fn near_is_where_one_of_the_last_32_ended() {
        let rows = |between: u64, volume: u64| {
            let others: String = (0..between).map(|i| format!("0,h,0,Read,{},1,1\n", 1000 + 7 * i)).collect();
            info(&format!("0,h,0,Read,0,500,1\n{others}0,h,{volume},Read,500,1,1\n"))
        };
        let near =
            |info: &TraceInfo| (info.near_sequential_percent * info.rows as f64 / 100.0).round() as u64;
        assert_eq!([0, 1, 31, 32].map(|between| near(&rows(between, 0))), [1, 1, 1, 0]);
        assert_eq!(near(&rows(1, 1)), 0, "on another volume");
        assert_eq!((rows(0, 0).sequential_percent, rows(1, 0).sequential_percent), (50.0, 0.0));
    }

    #[test]
    fn shares_of_volumes_alignment_and_the_busiest_second() {
        let text = "0,h,0,Read,0,4096,1\n9999999,h,1,Read,4096,8192,1\n10000000,h,1,Write,1,4096,1\n30000000,h,1,Write,0,12000,1\n";
        let info = info(text);
        let shares: Vec<_> =
            info.busiest_volumes.iter().map(|share| (share.name.as_str(), share.percent)).collect();
        assert_eq!(shares, [("h_1", 75.0), ("h_0", 25.0)]);
        assert_eq!((info.aligned_percent, info.busiest_second_bytes), (50.0, 12_288));
        assert_eq!(info.operations, Operations { reads: 2, writes: 2, ..Operations::default() });
        assert_eq!(info.bandwidth_bytes_per_s, Some(28_384.0 / 3.0));
    }

    /// Each trace is wrong in one way, and exactly that is said; just this side of the limit nothing is.
    #[test]
    fn each_doubt_is_worded() {
        let all = |text: String| info(&text).warnings;
        let pair = |time: u64, offset: u64, size: u64| {
            all(format!("0,h,0,Read,0,4096,1\n{time},h,0,Write,{offset},{size},1\n"))
        };
        let quiet: Vec<String> = Vec::new();
        let two_years = 631_152_000_000_000;
        assert_eq!(pair(two_years, 0, 4096), quiet);
        assert_eq!(pair(two_years + 10_000_000, 0, 4096), ["it spans 2.0 years: is the time unit right?"]);
        assert_eq!(pair(15, (1 << 50) - 4096, 4096), quiet);
        assert_eq!(pair(15, 1 << 51, 4096), ["the highest address is 2.0 PiB: is the address unit right?"]);
        assert_eq!(
            all("0,h,0,Read,0,8,1\n9,h,0,Write,0,1,1\n".into()),
            ["no request is longer than 8 bytes: is the size unit right?"]
        );
        assert_eq!(
            all("0,h,0,Read,0,9,1\n9,h,0,Write,0,1000,1\n".into()),
            ["the mean size is 504 bytes: is the size unit right?"]
        );
        let seconds = |step: u64, rows: u64| -> Vec<String> {
            let row =
                |i: u64| format!("{},h,0,{},0,4096,1\n", i / 4 * step, ["Read", "Write"][i as usize % 2]);
            all((0..rows).map(row).collect())
        };
        assert!(seconds(10_000_000, 16)[0].starts_with("all arrivals lie full seconds apart"));
        assert_eq!((seconds(10_000_000, 15), seconds(10_000_001, 16)), (quiet.clone(), quiet));
    }

    /// The second as a whole is plausible, one second of it is not.
    #[test]
    fn a_burst_that_nothing_sustains_is_a_doubt_about_the_time_unit() {
        let burst: String = (0..101).map(|i| format!("{i},h,0,Read,0,1073741824,1\n")).collect();
        let warnings = info(&format!("{burst}100000000,h,0,Write,0,4096,1\n")).warnings;
        assert_eq!(warnings[0], "implied bandwidth 108 GB/s in the busiest second: is the time unit right?");
    }

    /// Where reads and writes are coded 0 and 1 the doubt names the code.
    #[test]
    fn a_trace_of_writes_only_may_have_its_polarity_wrong() {
        let text: String = (0..20).map(|i| format!("{} 0 {} 8 0\n", i * 1000, i * 8)).collect();
        let trace = Trace::from_bytes("t", text.into_bytes(), &TraceOptions::of_format("mqsim")).unwrap();
        let warnings = trace.info().unwrap().warnings;
        assert_eq!(
            warnings[0],
            "100.0% of the requests are writes: is the value that means read right (read_is)?"
        );
    }

    #[test]
    fn one_volume_in_two_files_at_once_is_a_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let of = |second: &str| {
            let names = ["a.csv", "b.csv"].map(|name| folder.path().join(name));
            std::fs::write(&names[0], "0,h,0,Read,0,4096,1\n15,h,0,Write,0,4096,1\n").unwrap();
            std::fs::write(&names[1], second).unwrap();
            let trace = Trace::open(&names, &TraceOptions::of_format("msr")).unwrap();
            (trace.info().unwrap().warnings, trace.info().unwrap().files)
        };
        assert_eq!(of("15,h,0,Read,0,4096,1\n"), (Vec::new(), 2), "one behind the other");
        let (warnings, _) = of("14,h,0,Read,0,4096,1\n");
        assert!(
            warnings[0].starts_with("volume `h_0` stands in ")
                && warnings[0].contains("b.csv at the same time:")
        );
    }

    #[test]
    fn reading_stops_when_told_to() {
        let text: String = (0..70_000).map(|i| format!("{i},h,0,Read,0,4096,1\n")).collect();
        let trace = Trace::from_bytes("t", text.into_bytes(), &TraceOptions::of_format("msr")).unwrap();
        let mut asked = Vec::new();
        let stopped = trace.info_while(&mut |rows| {
            asked.push(rows);
            false
        });
        assert_eq!((stopped, asked), (Ok(None), vec![65_536]));
    }
}
