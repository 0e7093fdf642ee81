//! Several streams of generated load, merged by time.
//!
//! ```text
//!   streams, by name      a ──|───|────────|──        each a Synthetic: own arrivals, sizes, directions, addresses
//!                         b ───||─────||──────
//!   merged                  ──|||─|───||───|──        equal times: in the order of the names
//!
//!   logical space         |--- a ---|------ b ------|   not addressed   |
//! ```
//!
//! A stream knows its own part of the space and nothing of the others. Its random numbers hang on its name: a stream that
//! is added or taken away changes no decision of another, only where the parts of those behind it begin. The volume of
//! a request is the place of its stream in the order of names.
//!
//! Not modelled: streams that wait for one another, closed loops (a completion would have to know its stream), skew.

use harmonia_engine::Rng;
use harmonia_types::{Bytes, Completion, HostRequest, SimTime};

use crate::{
    ArrayGeometryForLoad, Arrival, Limit, Next, SkewRest, Source, SourceError, StreamConfig, StreamsConfig,
    Synthetic, SyntheticConfig,
};

/// A load of several streams.
#[derive(Debug, Clone)]
pub struct Streams {
    limit: Limit,
    streams: Vec<Stream>,
    issued: u64,
}

/// One of them, at work.
#[derive(Debug, Clone)]
struct Stream {
    name: String,
    /// Where its part begins.
    base: Bytes,
    load: Synthetic,
    /// Its next request, looked up when the one before it has been given away.
    ahead: Option<HostRequest>,
}

impl Streams {
    /// The load `config` describes on `array`, its random streams under the root `seed`.
    ///
    /// # Errors
    /// If there is no stream, one is a closed loop or cannot work within its part, the parts are together larger than the
    /// space, or time is scaled by what is not above 0. The text names the stream.
    pub fn new(config: &StreamsConfig, array: ArrayGeometryForLoad, seed: u64) -> Result<Self, String> {
        array.check()?;
        if config.streams.is_empty() {
            return Err("a load of streams has at least one".into());
        }
        if !(config.time_scale.is_finite() && config.time_scale > 0.0) {
            return Err(format!("time_scale = {}: times are multiplied by it; above 0", config.time_scale));
        }
        let mut base = 0;
        let mut streams = Vec::new();
        for (name, stream) in &config.streams {
            let at = |why: String| format!("stream \"{name}\": {why}");
            let bytes = part(stream.footprint, &array).map_err(at)?;
            if bytes > array.logical_bytes - base {
                return Err(at(format!(
                    "footprint = {}: the streams before it leave less",
                    stream.footprint
                )));
            }
            let own = ArrayGeometryForLoad { logical_bytes: bytes, ..array };
            let load =
                Synthetic::new(&alone(config, stream).map_err(at)?, own, root(seed, name)).map_err(at)?;
            streams.push(Stream { name: name.clone(), base, load, ahead: None });
            base += bytes;
        }
        Ok(Streams { limit: config.limit, streams, issued: 0 })
    }

    /// The stream whose request comes next; `None` if all have ended.
    fn earliest(&mut self) -> Result<Option<usize>, SourceError> {
        for stream in &mut self.streams {
            stream.look_ahead()?;
        }
        let next = |(index, stream): (usize, &Stream)| stream.ahead.map(|request| (request.arrival, index));
        Ok(self.streams.iter().enumerate().filter_map(next).min().map(|(_, index)| index))
    }
}

impl Source for Streams {
    fn next(&mut self, _: SimTime, _: &[Completion]) -> Result<Next, SourceError> {
        if matches!(self.limit, Limit::Requests(all) if self.issued >= all) {
            return Ok(Next::End);
        }
        let Some(index) = self.earliest()? else { return Ok(Next::End) };
        let stream = &mut self.streams[index];
        let request = stream.ahead.take().expect("the earliest has one");
        let id = self.issued;
        self.issued += 1;
        Ok(Next::At(HostRequest {
            id,
            offset: request.offset + stream.base,
            volume: index as u16,
            ..request
        }))
    }
}

impl Stream {
    fn look_ahead(&mut self) -> Result<(), SourceError> {
        if self.ahead.is_none() {
            let next = self.load.next(SimTime::ZERO, &[]);
            let named = |error: SourceError| SourceError(format!("stream \"{}\": {error}", self.name));
            if let Next::At(request) = next.map_err(named)? {
                self.ahead = Some(request);
            }
        }
        Ok(())
    }
}

/// The root of a stream's random numbers.
fn root(seed: u64, name: &str) -> u64 {
    Rng::stream(seed, &format!("workload/stream/{name}")).next_u64()
}

/// Bytes of a stream's part: whole pages, rounded down so that parts that add up to 1 fit.
fn part(footprint: f64, array: &ArrayGeometryForLoad) -> Result<Bytes, String> {
    if !(footprint > 0.0 && footprint <= 1.0) {
        return Err(format!(
            "address.footprint = {footprint}: it is a share of the logical space, above 0 and at most 1"
        ));
    }
    match ((array.logical_bytes / array.page_size) as f64 * footprint) as u64 {
        0 => Err(format!(
            "address.footprint = {footprint} of {} bytes is less than one page",
            array.logical_bytes
        )),
        pages => Ok(pages * array.page_size),
    }
}

/// A stream as a load of its own, on its part.
fn alone(config: &StreamsConfig, stream: &StreamConfig) -> Result<SyntheticConfig, String> {
    if matches!(stream.arrival, Arrival::Closed { .. }) {
        return Err("arrival.process = \"closed\": a closed loop stands alone, without streams".into());
    }
    Ok(SyntheticConfig {
        // Requests are counted over all streams.
        limit: match config.limit {
            Limit::Requests(_) => Limit::Requests(u64::MAX),
            duration @ Limit::Duration(_) => duration,
        },
        warmup: config.warmup,
        arrival: stream.arrival.scaled(config.time_scale),
        size: stream.size,
        read_fraction: stream.read_fraction,
        trim_fraction: stream.trim_fraction,
        address: stream.address,
        footprint: 1.0,
        skew_fraction: 0.0,
        skew_member: 0,
        skew_rest: SkewRest::Others,
        align: config.align,
    })
}
