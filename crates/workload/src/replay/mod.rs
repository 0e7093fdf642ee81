//! A trace as a workload: its times scaled, its addresses fitted to the array, its bytes otherwise kept.
//!
//! Requests keep byte offsets and lengths (a partial page is the device's business), file order and volume. Times are
//! nanoseconds since the trace's first request, so the first arrives at 0. A `time_scale` of 1 keeps them exactly;
//! another multiplies in double precision and rounds to the nearest nanosecond, each from the trace's own time, so
//! nothing drifts; order is kept.
//!
//! Volumes lie apart, one behind the other, unless `volumes` says otherwise ([`volumes`]): that needs their
//! lengths, so the rows up to the limit are read once before the first request. `remap = "scale"` needs the trace's
//! highest address and reads the whole file, whatever the limit. What is read beforehand is read once for any number of
//! replays ([`Replay`]), and what is wrong with it is said before the first of them. A request of no bytes (SPC traces
//! may have them) completes at once.
//!
//! ```text
//!   volumes    where the disks of the trace lie        remap      what does not fit the array
//!   pace       when requests arrive                    repeat     one copy behind the other
//!   fold       places on an array that is scaled down
//! ```
//!
//! When requests arrive is decided by [`pace`], and what comes behind the last request by [`repeat`].
//!
//! **Clock.** Where the times of a trace are absolute, simulated time 0 is the clock time of the trace's first request, or of the
//! start of its window, and the clock runs on from there at the speed of the trace ([`WallClock`]). With think times the
//! requests of a slow array come later by this clock than they were recorded. A closed replay has no clock, for it ignores the
//! times of the trace.

mod fold;
mod pace;
mod remap;
mod repeat;
mod volumes;

use std::sync::Arc;

use harmonia_trace::{ASK_EVERY, EventsRead, ReadLog, Step, Trace, TraceError, TraceHash, TraceRecord};
use harmonia_types::{Bytes, Completion, HostRequest, Operation, SimTime, WallClock};

use crate::{
    ArrayGeometryForLoad, Limit, MOST_PAGES_AT_ONCE, Next, Pacing, Remap, Source, SourceError, TraceConfig,
    Volumes,
};
use fold::Fold;
use pace::{Pace, scaled};
use remap::Remapper;
use repeat::Repeated;
use volumes::{Ends, Regions};

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
    /// Clock time of the first of them as it was recorded: UTC, in ns since 1970. `None` where the trace does not tell.
    pub begins_utc_ns: Option<u64>,
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
    /// The array that addresses are of: the full one, if members are scaled down.
    array: ArrayGeometryForLoad,
    /// From that to the one that is simulated.
    fold: Option<Fold>,
    regions: Arc<Regions>,
    /// UTC at time 0 of the trace, in ns since 1970, if it tells.
    origin_utc_ns: Option<u64>,
}

impl Replay {
    /// Makes `trace` ready to be replayed as `config` says (its `paths` and `options` are the trace's already).
    ///
    /// # Errors
    /// If the time scale is not a positive number, nothing may be outstanding or the array has no size; if what has to be read beforehand is
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
        if config.pacing == (Pacing::Closed { queue_depth: 0 }) {
            let problem = "queue_depth = 0: a closed replay with nothing outstanding never starts";
            return Err(trace.error(problem.to_owned()));
        }
        let is_folded = array.scaled_from.is_some();
        let ends = match (config.remap, config.volumes) {
            _ if is_folded => survey(&trace, None, config.time_scale, go_on)?,
            (Remap::Scale, _) => survey(&trace, None, config.time_scale, go_on)?,
            (_, Volumes::Apart) => survey(&trace, limit_of_rows(config), config.time_scale, go_on)?,
            _ => Some(Ends::default()),
        };
        let Some(ends) = ends else { return Ok(None) };
        let regions = Regions::new(config.volumes, &ends, array.page_size);
        let regions = Arc::new(regions.map_err(|problem| trace.error(problem))?);
        let origin_utc_ns = origin_utc_ns(&trace);
        let fold =
            array.scaled_from.map(|full| Fold::new(full, array.logical_bytes, array.page_size, ends.longest));
        let full = array.scaled_from.map_or(array.logical_bytes, |full| full.bytes);
        let array = ArrayGeometryForLoad { logical_bytes: full, scaled_from: None, ..*array };
        let replay = Replay { trace, config: config.clone(), array, fold, regions, origin_utc_ns };
        let may_end_beyond = config.remap == Remap::Reject && replay.regions.end > array.logical_bytes;
        // Widened to whole pages it may be two pages longer.
        let longest = ends.longest.saturating_add(2 * array.page_size);
        if may_end_beyond || !array.takes(longest) {
            replay.try_all(go_on)?;
        }
        Ok(Some(replay))
    }

    /// A replay from the first request on.
    ///
    /// # Errors
    /// If a file is not what its format says from its first bytes on.
    pub fn source(&self) -> Result<TraceSource, TraceError> {
        self.source_of(&self.config)
    }

    /// A replay of one copy of it, whose rows come as fast as they are asked for.
    ///
    /// # Errors
    /// As [`Replay::source`].
    pub(crate) fn once(&self) -> Result<TraceSource, TraceError> {
        let limit = limit_of_rows(&self.config);
        self.source_of(&TraceConfig { repeat: 1, pacing: Pacing::Open, limit, ..self.config.clone() })
    }

    fn source_of(&self, config: &TraceConfig) -> Result<TraceSource, TraceError> {
        let Replay { trace, array, fold, regions, origin_utc_ns, .. } = self;
        Ok(TraceSource {
            records: Repeated::new(trace, config.repeat)?,
            trace: trace.clone(),
            pacing: config.pacing,
            pace: Pace::new(config.pacing, config.time_scale),
            ahead: None,
            regions: Arc::clone(regions),
            align: config.align,
            remapper: Remapper { remap: config.remap, array: *array, trace_end: regions.end },
            fold: *fold,
            limit: config.limit,
            issued: 0,
            span: None,
            origin_utc_ns: *origin_utc_ns,
            // A closed loop has times of its own.
            time_scale: if matches!(config.pacing, Pacing::Closed { .. }) { 1.0 } else { config.time_scale },
            hash: TraceHash::default(),
            counts: RemapCounts::default(),
            finished: None,
        })
    }

    /// Looks for the request that does not fit, to name it before anything is simulated.
    #[cold]
    fn try_all(&self, go_on: &dyn Fn() -> bool) -> Result<(), TraceError> {
        // Later copies go to the same addresses, and nothing completes here.
        let mut source = self.once()?;
        let mut advance = || source.advance(SimTime::ZERO).map(|next| matches!(next, Next::At(_)));
        let mut tried = 0u64;
        while advance()? && (!tried.is_multiple_of(ASK_EVERY) || go_on()) {
            tried += 1;
        }
        Ok(())
    }
}

/// Replays a trace.
pub struct TraceSource {
    trace: Trace,
    records: Repeated,
    pacing: Pacing,
    pace: Pace,
    /// The record that is next, where it waits for a completion.
    ahead: Option<TraceRecord>,
    regions: Arc<Regions>,
    align: bool,
    remapper: Remapper,
    fold: Option<Fold>,
    limit: Option<Limit>,
    issued: u64,
    /// When the first and the last record of those issued arrive, as the trace has it.
    span: Option<(u64, u64)>,
    /// UTC at time 0 of the trace, in ns since 1970, if it tells.
    origin_utc_ns: Option<u64>,
    /// What its times are multiplied by.
    time_scale: f64,
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
    pub fn log(&self) -> ReadLog {
        self.records.log()
    }

    fn advance(&mut self, now: SimTime) -> Result<Next, TraceError> {
        if self.limit.is_some_and(|limit| matches!(limit, Limit::Requests(count) if self.issued >= count)) {
            return Ok(Next::End);
        }
        let Some(record) = self.next_record()? else { return Ok(Next::End) };
        let arrival = self.pace.arrival(now, &record).map_err(|problem| self.error(problem))?;
        let Some(arrival) = arrival else {
            self.ahead = Some(record);
            return Ok(Next::AfterCompletion);
        };
        if self.limit.is_some_and(|limit| matches!(limit, Limit::Duration(end) if arrival.0 >= end.0)) {
            return Ok(Next::End);
        }
        let (offset, length) = self.place(&record)?;
        self.hash.add(&record);
        self.span = Some((self.span.map_or(record.time_ns, |(first, _)| first), record.time_ns));
        let TraceRecord { operation, volume, fua, handle, .. } = record;
        let plain = HostRequest::new(self.issued, arrival, operation, offset, length);
        let request = HostRequest { volume, fua, handle, ..plain };
        self.issued += 1;
        Ok(Next::At(request))
    }

    /// The record that waits, or else the next one, which the pace then knows.
    #[inline]
    fn next_record(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        if self.ahead.is_some() {
            return Ok(self.ahead.take());
        }
        let record = self.records.next_record()?;
        if let Some(record) = &record {
            self.pace.meet(self.issued, record, self.records.reader().response_ns());
        }
        Ok(record)
    }

    /// Where a record goes.
    fn place(&mut self, record: &TraceRecord) -> Result<(Bytes, Bytes), TraceError> {
        if record.moves_nothing() {
            return Ok((0, 0));
        }
        let start = self.regions.start(record.volume);
        // Cannot overflow: the region holds the record.
        let offset = start + record.offset;
        let placed =
            self.remapper.place_of(record.operation, offset, record.length).map_err(
                |problem| match start {
                    0 => self.error(problem),
                    _ => {
                        let name = &self.records.reader().volumes().names()[usize::from(record.volume)];
                        self.error(format!("{problem} (volume {name} begins at {start})"))
                    }
                },
            )?;
        self.counts.moved += u64::from(placed.0 != offset);
        self.counts.cut += u64::from(placed.1 != record.length);
        let widened = if self.align { self.remapper.widened(placed) } else { placed };
        self.counts.widened += u64::from(widened != placed);
        if !self.remapper.array.takes(widened.1) {
            return Err(self.too_many_pages(widened.1));
        }
        let Some(fold) = &self.fold else { return Ok(widened) };
        match fold.place(widened.0, widened.1) {
            Some(folded) => Ok((folded, widened.1)),
            None if record.operation == Operation::Trim => Ok(fold.all()),
            None => Err(self.error(format!(
                "a request of {} bytes is larger than the array, which is scaled down to {}",
                widened.1,
                fold.all().1
            ))),
        }
    }

    /// Only a trim is as long as that.
    #[cold]
    fn too_many_pages(&self, length: Bytes) -> TraceError {
        let page_size = self.remapper.array.page_size;
        self.error(format!(
            "a request of {length} bytes touches {} pages of {page_size} bytes, and a simulated array takes fewer than \
             {MOST_PAGES_AT_ONCE} at once: divide it into requests of less than {} bytes",
            length.div_ceil(page_size),
            MOST_PAGES_AT_ONCE * page_size
        ))
    }

    /// An error about the record just read.
    fn error(&self, problem: String) -> TraceError {
        self.records.error(problem)
    }
}

impl Source for TraceSource {
    fn fork(&self) -> Result<Box<dyn Source>, SourceError> {
        Ok(Box::new(TraceSource {
            trace: self.trace.clone(),
            records: self.records.fork()?,
            pacing: self.pacing,
            pace: self.pace.clone(),
            ahead: self.ahead,
            regions: Arc::clone(&self.regions),
            align: self.align,
            remapper: self.remapper,
            fold: self.fold,
            limit: self.limit,
            issued: self.issued,
            span: self.span,
            origin_utc_ns: self.origin_utc_ns,
            time_scale: self.time_scale,
            hash: self.hash.clone(),
            counts: self.counts,
            finished: self.finished.clone(),
        }))
    }

    fn next(&mut self, now: SimTime, completed: &[Completion]) -> Result<Next, SourceError> {
        self.pace.complete(completed);
        if let Some(answer) = &self.finished {
            return answer.clone().map(|()| Next::End);
        }
        match self.advance(now) {
            Ok(Next::End) => {
                self.finished = Some(Ok(()));
                Ok(Next::End)
            }
            Ok(next) => Ok(next),
            Err(error) => {
                let error = SourceError::from(error);
                self.finished = Some(Err(error.clone()));
                Err(error)
            }
        }
    }

    fn wants_completions(&self) -> bool {
        self.pacing != Pacing::Open
    }

    fn wall_clock(&self) -> Option<WallClock> {
        match self.pacing {
            Pacing::Closed { .. } => None,
            Pacing::Open | Pacing::ThinkTimes => Some(WallClock::new(self.origin_utc_ns?, self.time_scale)),
        }
    }

    fn trace(&self) -> Option<TraceAccount> {
        let first_ns = self.span.map(|(first_ns, _)| first_ns);
        Some(TraceAccount {
            files: self.trace.files().map(str::to_owned).collect(),
            format: self.trace.format().name,
            reason: self.trace.reason().map(str::to_owned),
            events: self.trace.events_read(&self.log()),
            rows: self.issued,
            begins_utc_ns: self.origin_utc_ns.zip(first_ns).and_then(|(utc_ns, ns)| utc_ns.checked_add(ns)),
            span_ns: self.span.map_or(0, |(first, last)| last - first),
            time_scale: self.time_scale,
            hash: self.hash.text(),
            log: self.log(),
            remapped: self.counts,
        })
    }
}

/// UTC at time 0 of the trace, as its first rows tell. What is wrong with them is said when they are replayed.
fn origin_utc_ns(trace: &Trace) -> Option<u64> {
    let mut reader = trace.records().ok()?;
    reader.next_step().ok()?;
    reader.origin_utc_ns()
}

/// How much of one copy of the trace may be replayed. Where completions set the pace a time says nothing of rows.
pub(crate) fn limit_of_rows(config: &TraceConfig) -> Option<Limit> {
    config.limit.filter(|limit| config.pacing == Pacing::Open || matches!(limit, Limit::Requests(_)))
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
