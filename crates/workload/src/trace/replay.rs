//! A trace as a workload: its times scaled, its addresses fitted to the array, its bytes otherwise kept.
//!
//! Requests keep byte offsets and lengths (a partial page is the device's business), file order and volume. Times are
//! nanoseconds since the trace's first request, so the first arrives at 0. A `time_scale` of 1 keeps them exactly;
//! another multiplies in double precision and rounds to the nearest nanosecond, each from the trace's own time, so
//! nothing drifts; order is kept.
//!
//! Volumes lie apart, one behind the other, unless `volumes` says otherwise ([`super::volumes`]): that needs their
//! lengths, so the rows up to the limit are read once before the first request. `remap = "scale"` needs the trace's
//! highest address and reads the whole file, whatever the limit. What is read beforehand is read once for any number of
//! replays ([`Replay`]), and what is wrong with it is said before the first of them. A request of no bytes (SPC traces
//! may have them) completes at once.
//!
//! Not modelled: a host that waits. Requests arrive when the trace says, however far the array is behind.

use std::sync::Arc;

use harmonia_types::{Bytes, Completion, HostRequest, SimTime};

use super::hash::TraceHash;
use super::remap::Remapper;
use super::volumes::{Ends, Regions};
use super::{ASK_EVERY, EventsRead, ReadLog, Step, Trace, TraceError, TraceReader, TraceRecord};
use crate::{ArrayGeometryForLoad, Limit, Next, Remap, Source, SourceError, TraceConfig, Volumes};

/// 2^63 ns, 292 years: beyond it sums of times may overflow.
const LATEST_NS: f64 = 9_223_372_036_854_775_808.0;

/// Requests that were changed so far to fit the array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemapCounts {
    /// Got another offset by `remap`.
    pub moved: u64,
    /// Were cut short at the array's end by `remap`.
    pub cut: u64,
    /// Were widened to whole pages by `align`.
    pub widened: u64,
}

/// What was replayed of a trace so far, and what was done to it.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceAccount {
    /// Its files, as they were named or found.
    pub files: Vec<String>,
    /// Name of the format it was read as.
    pub format: &'static str,
    /// Why `auto` decided on that format; `None` where it was named.
    pub reason: Option<String>,
    /// Which event of a request was read, where the format records several.
    pub events: Option<EventsRead>,
    /// Records replayed.
    pub rows: u64,
    /// When the last of them arrives, in ns behind the first, as the trace has it; before `time_scale`.
    pub span_ns: u64,
    /// What times are multiplied by.
    pub time_scale: f64,
    /// Of the records replayed: see [`TraceHash`].
    pub hash: String,
    /// What was done to the rows beside reading them.
    pub log: ReadLog,
    /// What was done to the requests.
    pub remapped: RemapCounts,
}

/// A trace made ready for an array: what has to be known of all of it has been read. Gives any number of replays.
#[derive(Debug, Clone)]
pub struct Replay {
    trace: Trace,
    config: TraceConfig,
    array: ArrayGeometryForLoad,
    regions: Arc<Regions>,
}

impl Replay {
    /// Makes `trace` ready to be replayed as `config` says (its `paths` and `options` are the trace's already).
    ///
    /// # Errors
    /// If the time scale is not a positive number or the array has no size; if what has to be read beforehand is
    /// malformed or does not fit the array, or its volumes together are longer than 2^64 bytes.
    pub fn new(trace: Trace, config: &TraceConfig, array: &ArrayGeometryForLoad) -> Result<Self, TraceError> {
        let replay = Self::new_while(trace.clone(), config, array, &|| true)?;
        replay.ok_or_else(|| trace.error("reading it was stopped".to_owned()))
    }

    /// As [`Replay::new`]; `None` if `go_on`, asked every now and then while the trace is read beforehand, says no.
    ///
    /// # Errors
    /// As [`Replay::new`].
    pub fn new_while(
        trace: Trace,
        config: &TraceConfig,
        array: &ArrayGeometryForLoad,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, TraceError> {
        array.check().map_err(|problem| trace.error(problem))?;
        if !(config.time_scale.is_finite() && config.time_scale > 0.0) {
            let problem = format!(
                "time_scale = {}: times are multiplied by it, so it must be above 0",
                config.time_scale
            );
            return Err(trace.error(problem));
        }
        let ends = match (config.remap, config.volumes) {
            (Remap::Scale, _) => survey(&trace, None, config.time_scale, go_on)?,
            (_, Volumes::Apart) => survey(&trace, config.limit, config.time_scale, go_on)?,
            _ => Some(Ends::default()),
        };
        let Some(ends) = ends else { return Ok(None) };
        let regions = Regions::new(config.volumes, &ends, array.page_size);
        let regions = Arc::new(regions.map_err(|problem| trace.error(problem))?);
        let replay = Replay { trace, config: config.clone(), array: *array, regions };
        if config.remap == Remap::Reject && replay.regions.end > array.logical_bytes {
            replay.try_all(go_on)?;
        }
        Ok(Some(replay))
    }

    /// A replay from the first request on.
    ///
    /// # Errors
    /// If a file is not what its format says from its first bytes on.
    pub fn source(&self) -> Result<TraceSource, TraceError> {
        let Replay { trace, config, array, regions } = self;
        Ok(TraceSource {
            reader: trace.records()?,
            trace: trace.clone(),
            time_scale: config.time_scale,
            regions: Arc::clone(regions),
            align: config.align,
            remapper: Remapper { remap: config.remap, array: *array, trace_end: regions.end },
            limit: config.limit,
            issued: 0,
            span: None,
            hash: TraceHash::default(),
            counts: RemapCounts::default(),
            finished: None,
        })
    }

    /// Looks for the request that does not fit, to name it before anything is simulated.
    #[cold]
    fn try_all(&self, go_on: &dyn Fn() -> bool) -> Result<(), TraceError> {
        let mut source = self.source()?;
        while source.advance()?.is_some() && (!source.issued.is_multiple_of(ASK_EVERY) || go_on()) {}
        Ok(())
    }
}

/// Replays a trace.
pub struct TraceSource {
    trace: Trace,
    reader: TraceReader,
    time_scale: f64,
    regions: Arc<Regions>,
    align: bool,
    remapper: Remapper,
    limit: Option<Limit>,
    issued: u64,
    /// When the first and the last record of those issued arrive, as the trace has it.
    span: Option<(u64, u64)>,
    hash: TraceHash,
    counts: RemapCounts,
    /// Set at the end (`Ok`) or at an error (`Err`): the answer from then on.
    finished: Option<Result<(), SourceError>>,
}

impl TraceSource {
    /// Replays `trace` on `array` once.
    ///
    /// # Errors
    /// As [`Replay::new`] and [`Replay::source`].
    pub fn new(
        trace: &Trace,
        config: &TraceConfig,
        array: &ArrayGeometryForLoad,
    ) -> Result<Self, TraceError> {
        Replay::new(trace.clone(), config, array)?.source()
    }

    /// What was done so far to requests to fit them to the array.
    pub fn remap_counts(&self) -> RemapCounts {
        self.counts
    }

    /// What was done so far to the rows beside reading them.
    pub fn log(&self) -> &ReadLog {
        self.reader.log()
    }

    fn advance(&mut self) -> Result<Option<HostRequest>, TraceError> {
        if self.limit.is_some_and(|limit| matches!(limit, Limit::Requests(count) if self.issued >= count)) {
            return Ok(None);
        }
        let Some(record) = self.reader.next_record()? else { return Ok(None) };
        let arrival = self.scaled(record.time_ns)?;
        if self.limit.is_some_and(|limit| matches!(limit, Limit::Duration(end) if arrival.0 >= end.0)) {
            return Ok(None);
        }
        let (offset, length) = self.place(&record)?;
        self.hash.add(&record);
        self.span = Some((self.span.map_or(record.time_ns, |(first, _)| first), record.time_ns));
        let TraceRecord { operation, volume, .. } = record;
        let request =
            HostRequest { id: self.issued, arrival, operation, offset, length, volume, member: None };
        self.issued += 1;
        Ok(Some(request))
    }

    fn scaled(&self, time_ns: u64) -> Result<SimTime, TraceError> {
        scaled(time_ns, self.time_scale).ok_or_else(|| {
            self.error(format!(
                "a request {time_ns} ns into the trace arrives after 2^63 ns (292 years) at time_scale = {}",
                self.time_scale
            ))
        })
    }

    /// Where a record goes.
    fn place(&mut self, record: &TraceRecord) -> Result<(Bytes, Bytes), TraceError> {
        if record.moves_nothing() {
            return Ok((0, 0));
        }
        let start = self.regions.start(record.volume);
        // Cannot overflow: the region holds the record.
        let offset = start + record.offset;
        let placed = self.remapper.place(offset, record.length).map_err(|problem| match start {
            0 => self.error(problem),
            _ => {
                let name = &self.reader.volumes().names()[usize::from(record.volume)];
                self.error(format!("{problem} (volume {name} begins at {start})"))
            }
        })?;
        self.counts.moved += u64::from(placed.0 != offset);
        self.counts.cut += u64::from(placed.1 != record.length);
        if !self.align {
            return Ok(placed);
        }
        let widened = self.remapper.widened(placed);
        self.counts.widened += u64::from(widened != placed);
        Ok(widened)
    }

    /// An error about the record just read.
    fn error(&self, problem: String) -> TraceError {
        self.reader.error(problem)
    }
}

impl Source for TraceSource {
    fn next(&mut self, _now: SimTime, _completed: &[Completion]) -> Result<Next, SourceError> {
        if let Some(answer) = &self.finished {
            return answer.clone().map(|()| Next::End);
        }
        match self.advance() {
            Ok(Some(request)) => Ok(Next::At(request)),
            Ok(None) => {
                self.finished = Some(Ok(()));
                Ok(Next::End)
            }
            Err(error) => {
                let error = SourceError::from(error);
                self.finished = Some(Err(error.clone()));
                Err(error)
            }
        }
    }

    fn trace(&self) -> Option<TraceAccount> {
        Some(TraceAccount {
            files: self.trace.files().map(str::to_owned).collect(),
            format: self.trace.format().name,
            reason: self.trace.reason().map(str::to_owned),
            events: self.trace.events_read(self.log()),
            rows: self.issued,
            span_ns: self.span.map_or(0, |(first, last)| last - first),
            time_scale: self.time_scale,
            hash: self.hash.text(),
            log: self.log().clone(),
            remapped: self.counts,
        })
    }
}

/// A time of the trace as it is replayed; `None` beyond 2^63 ns.
fn scaled(time_ns: u64, time_scale: f64) -> Option<SimTime> {
    // An exact comparison: 1 is the default and means "untouched".
    if time_scale == 1.0 && time_ns < LATEST_NS as u64 {
        return Some(SimTime(time_ns));
    }
    let scaled = (time_ns as f64 * time_scale).round();
    (scaled < LATEST_NS).then_some(SimTime(scaled as u64))
}

/// How long the volumes are in the part of the trace up to `limit`; `None` if `go_on` says no.
fn survey(
    trace: &Trace,
    limit: Option<Limit>,
    time_scale: f64,
    go_on: &dyn Fn() -> bool,
) -> Result<Option<Ends>, TraceError> {
    let mut reader = trace.records()?;
    let mut ends = Ends::default();
    let mut rows = 0;
    while limit.is_none_or(|limit| !matches!(limit, Limit::Requests(count) if rows >= count)) {
        let record = match reader.next_step()? {
            Step::Record(record) => record,
            Step::Pause if go_on() => continue,
            Step::Pause => return Ok(None),
            Step::End => break,
        };
        let beyond = |end: u64| scaled(record.time_ns, time_scale).is_none_or(|time| time.0 >= end);
        if limit.is_some_and(|limit| matches!(limit, Limit::Duration(end) if beyond(end.0))) {
            break;
        }
        ends.see(&record);
        rows += 1;
        if rows.is_multiple_of(ASK_EVERY) && !go_on() {
            return Ok(None);
        }
    }
    Ok(Some(ends))
}
