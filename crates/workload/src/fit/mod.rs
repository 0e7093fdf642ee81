//! A synthetic load with the statistics of a trace, for `harmonia trace fit`.
//!
//! ```text
//!   trace ──> Ruler ──> StreamsConfig: common arrivals dealt to a stream of reads, of writes, of trims
//!               │            └──> generated ──> Ruler ──┐
//!               └──> Measured  <──── compared ────> Measured
//! ```
//!
//! What is kept, and how:
//!
//! - *requests and bytes* of each operation: exactly, because operations and sizes are dealt like cards
//!   ([`Choices`](crate::Choices)). Up to forty sizes are named as they are; of more the commonest two dozen, and for the
//!   others of each octave two sizes with their sum.
//! - *footprint* of each operation, and of all: each stream has a stretch of addresses as long as its distinct 4 KiB pages,
//!   which it touches all of ([working set](crate::WorkingSetPattern)). The stretches overlap by as much as operations
//!   share.
//! - *arrivals*: gaps that are all equal are `fixed`; those that cannot be told from poisson are `poisson`. Of others there
//!   are two fits, of which the one is taken whose gaps and requests a second vary more like the trace's: gaps dealt like
//!   cards, one for each half octave of their lengths, for many bursts of a kind ([`gaps`]); or up to a thousand
//!   [`phases`] of one rate and one mixture of operations, for a load that changes.
//! - *order*: how often an operation follows its like, and a size; the share of strictly sequential requests.
//! - *heat*: the share of the traffic on the hottest fifth of the touched extents ([`Heat`]).
//!
//! One pass; memory does not grow with the trace, but for its footprint. The load is then generated once and measured by
//! the same [`Ruler`], so that what a fit says of itself was counted.
//!
//! Lost: what size or place have to do with time, pages that are hot for reads and for writes, the distance after which
//! places come again, flushes, volumes; of phases the gaps within them, without phases all change over time.

mod gaps;
mod heat;
mod phases;
mod places;
mod ruler;
mod sizes;

use std::collections::BTreeMap;

use harmonia_trace::{ASK_EVERY, PAGE, Summary, Trace, TraceError, TraceInfo, TraceRecord};
use harmonia_types::{Bytes, SimTime};

use crate::synthetic::Clock;
use crate::{
    AddressPattern, ArrayGeometryForLoad, Arrival, Extent, Limit, Next, Source, StreamArrival, StreamConfig,
    Streams, StreamsConfig,
};
pub use heat::Heat;
use phases::Phases;
use ruler::{Evenness, Kind, Ruler, Shared};
pub use ruler::{Measured, MeasuredKind};

/// The seed of the load that is measured: that of a scenario without one.
const SEED: u64 = 1;

/// Names of the streams.
pub const READS: &str = "reads";
/// See [`READS`].
pub const TRIMS: &str = "trims";
/// See [`READS`].
pub const WRITES: &str = "writes";

/// A synthetic load and what it was fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceFit {
    /// The trace.
    pub info: TraceInfo,
    /// The load.
    pub load: StreamsConfig,
    /// The trace, as measured.
    pub trace: Measured,
    /// The load, as measured.
    pub fitted: Measured,
    /// Requests without bytes, which the load has not.
    pub empty: u64,
    /// The footprint's part that the load was given, where there is not room for all.
    pub squeezed: Option<f64>,
}

impl TraceFit {
    /// Reads the whole trace once and fits a synthetic load to it, whose footprint has at most `room` bytes; `None` if
    /// `go_on`, asked with the number of rows so far every now and then, says no.
    ///
    /// # Errors
    /// If any of it is malformed, or it has no rate.
    pub fn of(
        trace: &Trace,
        room: Option<Bytes>,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<TraceFit>, TraceError> {
        fit(trace, room, go_on)
    }
}

/// Reads `trace` to its end. `room`: how many bytes the footprint may have at most.
fn fit(
    trace: &Trace,
    room: Option<Bytes>,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<TraceFit>, TraceError> {
    let mut summary = Summary::without_footprint(trace);
    let mut ruler = Ruler::of_trace();
    let reader = trace.scan(go_on, |record, reader| {
        summary.add(record, reader.file());
        ruler.add(record);
    })?;
    let Some(reader) = reader else { return Ok(None) };
    let mut info = summary.into_info(trace, &reader);
    let at = |problem| trace.error(problem);
    if ruler.requests() == 0 {
        return Err(at("has no request with bytes: there is no size to fit".into()));
    }
    let (measured, shared) = ruler.measured();
    info.footprint_bytes = measured.footprint_bytes;
    let squeezed = room.map(|room| room as f64 / measured.footprint_bytes as f64).filter(|&part| part < 1.0);
    let load = load(&ruler, &measured, shared, squeezed.unwrap_or(1.0)).map_err(at)?;
    let load = match (&load.arrival, &mut ruler.phases) {
        (Some(Arrival::Gaps(_)), Some(phases)) => {
            let phased = phased(&load, phases);
            let [of_phases, of_gaps] = [&phased, &load].map(|load| unlike(load, &measured));
            if of_phases.map_err(at)? < of_gaps.map_err(at)? { phased } else { load }
        }
        _ => load,
    };
    let Some(fitted) = generated(&load, &measured, go_on).map_err(at)? else { return Ok(None) };
    Ok(Some(TraceFit { info, load, trace: measured, fitted, empty: ruler.empty, squeezed }))
}

/// The same load with its arrivals in phases.
fn phased(load: &StreamsConfig, phases: &mut Phases) -> StreamsConfig {
    let (arrival, [reads, writes, trims]) = phases.fit();
    let mut load = StreamsConfig { arrival: Some(arrival), ..load.clone() };
    for (name, counts) in [(READS, reads), (WRITES, writes), (TRIMS, trims)] {
        if let Some(stream) = load.streams.get_mut(name) {
            stream.arrival = StreamArrival::Common(counts);
        }
    }
    load
}

/// How unlike the trace's the arrivals of a load are: by what factors two measures of their bursts are off, as logarithms.
fn unlike(load: &StreamsConfig, trace: &Measured) -> Result<f64, String> {
    let (Some(arrival), Limit::Requests(requests)) = (&load.arrival, load.limit) else {
        return Err("has no common arrivals to compare".into());
    };
    let mut clock = Clock::new(arrival, 0.0, SEED)?;
    let mut evenness = Evenness::default();
    for _ in 0..requests {
        let time = clock.next_arrival(SimTime::ZERO)?.expect("an open loop");
        evenness.add(time.0);
    }
    let off = |fitted: f64, trace: f64| libm::log(fitted.max(0.01) / trace.max(0.01)).abs();
    let [gap_cv, dispersion] = evenness.measured();
    Ok(off(gap_cv, trace.gap_cv) + off(dispersion, trace.dispersion))
}

fn load(ruler: &Ruler, measured: &Measured, shared: Shared, squeezed: f64) -> Result<StreamsConfig, String> {
    // Reads from 0 on, writes so far behind that both have in common what they share, trims likewise behind both.
    let writes_from = measured.reads.footprint_bytes - shared.reads_writes;
    let end = writes_from + measured.writes.footprint_bytes;
    let kinds = [
        (READS, &ruler.reads, &measured.reads, 0),
        (TRIMS, &ruler.trims, &measured.trims, end - shared.trims_others),
        (WRITES, &ruler.writes, &measured.writes, writes_from),
    ];
    let used = kinds.into_iter().filter(|(_, kind, ..)| kind.requests > 0);
    let streams: BTreeMap<String, StreamConfig> = used
        .map(|(name, kind, measured, start)| (name.to_owned(), stream(name, kind, measured, start, squeezed)))
        .collect();
    let counts = [&ruler.reads, &ruler.trims, &ruler.writes].map(|kind| kind.requests);
    Ok(StreamsConfig {
        align: false,
        arrival: Some(ruler.gaps.fit(ruler.gap_cv())?),
        persistence: sizes::rounded(ruler.order.persistence(counts.into_iter())),
        ..StreamsConfig::of(ruler.requests(), streams)
    })
}

fn stream(name: &str, kind: &Kind, measured: &MeasuredKind, start: Bytes, squeezed: f64) -> StreamConfig {
    let pages = |bytes: Bytes| (bytes as f64 / PAGE as f64 * squeezed) as u64 * PAGE;
    StreamConfig {
        arrival: StreamArrival::Common(vec![kind.requests]),
        size: kind.sizes.fit(&kind.size_repeats),
        read_fraction: f64::from(u8::from(name == READS)),
        trim_fraction: f64::from(u8::from(name == TRIMS)),
        fua_fraction: (kind.fua as f64 / kind.requests.max(1) as f64 * 1e6).round() / 1e6,
        address: AddressPattern::WorkingSet(places::pattern(kind, measured, squeezed)),
        footprint: Extent::Bytes(pages(measured.footprint_bytes).max(PAGE)),
        start: Some(Extent::Bytes(pages(start))),
        start_unit: places::start_unit(kind),
        ..StreamConfig::writes(0.0, 0)
    }
}

/// The load, generated and measured over extents like those of `like`; `None` if `go_on` says no.
fn generated(
    load: &StreamsConfig,
    like: &Measured,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Measured>, String> {
    let end = |stream: &StreamConfig| stream.footprint.of(0) + stream.start.map_or(0, |start| start.of(0));
    let bytes = load.streams.values().map(end).max().unwrap_or(0);
    let array = ArrayGeometryForLoad {
        logical_bytes: bytes,
        member_bytes: bytes,
        members: 1,
        page_size: PAGE,
        scaled_from: None,
    };
    let mut source = Streams::new(load, array, SEED)?;
    let mut ruler = Ruler::like(like);
    while let Next::At(request) = source.next(SimTime::ZERO, &[]).map_err(|error| error.0)? {
        ruler.add(&TraceRecord::new(request.arrival.0, request.operation, request.offset, request.length));
        if request.id % ASK_EVERY == ASK_EVERY - 1 && !go_on(request.id) {
            return Ok(None);
        }
    }
    Ok(Some(ruler.measured().0))
}

#[cfg(test)]
mod tests;
