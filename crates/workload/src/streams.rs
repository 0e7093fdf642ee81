//! Several streams of generated load, merged by time.
//!
//! ```text
//!   streams, by name      a ──|───|────────|──        each a Synthetic: own arrivals, sizes, directions, addresses
//!                         b ───||─────||──────
//!   merged                  ──|||─|───||───|──        equal times: in the order of the names
//!
//!   common arrivals       ──|─||─|────||─|────        dealt to those streams that have a count instead of arrivals
//!                           c dd c    dd d            (see Choices), which are otherwise like the others
//!
//!   logical space         |--- a ---|------ b ------|   not addressed   |
//!                              |--- c, which says where it starts ---|
//! ```
//!
//! A stream knows its own part of the space and nothing of the others. Its random numbers hang on its name: a stream that
//! is added or taken away changes no decision of another, only where the parts of those behind it begin and what is dealt
//! to it. The volume of a request is the place of its stream in the order of names.
//!
//! Not modelled: streams that wait for one another, closed loops (a completion would have to know its stream), skew.

use harmonia_engine::Rng;
use harmonia_types::{Bytes, Completion, HostRequest, SimTime};

use crate::choices::{check_counts, check_persistence};
use crate::synthetic::{Clock, Deck, Requests, check_extent, shown};
use crate::{
    ArrayGeometryForLoad, Arrival, Extent, Limit, Next, SkewRest, Source, SourceError, StreamArrival,
    StreamConfig, StreamsConfig, Synthetic, SyntheticConfig,
};

/// A load of several streams.
#[derive(Debug, Clone)]
pub struct Streams {
    limit: Limit,
    streams: Vec<Stream>,
    common: Option<Common>,
    issued: u64,
}

/// One of them, at work.
#[derive(Debug, Clone)]
struct Stream {
    name: String,
    /// Where its part begins.
    base: Bytes,
    load: StreamLoad,
}

#[derive(Debug, Clone)]
enum StreamLoad {
    Own {
        load: Box<Synthetic>,
        /// Its next request, looked up when the one before it has been given away.
        ahead: Option<HostRequest>,
    },
    /// Its requests come when the common arrivals say.
    Common(Box<Requests>),
}

/// Arrivals that several streams share.
#[derive(Debug, Clone)]
struct Common {
    clock: Clock,
    deck: Deck,
    /// What the deck deals in each phase of the arrivals, where that differs.
    packs: Vec<Vec<u64>>,
    phase: usize,
    /// The streams that take part, as the deck counts them.
    streams: Vec<usize>,
    ahead: Option<SimTime>,
}

impl Streams {
    /// The load `config` describes on `array`, its random streams under the root `seed`.
    ///
    /// # Errors
    /// If there is no stream, one is a closed loop or cannot work within its part, the parts are together larger than the
    /// space, common arrivals are missing or nobody's, or time is scaled by what is not above 0. The text names the stream.
    pub fn new(config: &StreamsConfig, array: ArrayGeometryForLoad, seed: u64) -> Result<Self, String> {
        array.check()?;
        if config.streams.is_empty() {
            return Err("a load of streams has at least one".into());
        }
        if !(config.time_scale.is_finite() && config.time_scale > 0.0) {
            return Err(format!("time_scale = {}: times are multiplied by it; above 0", config.time_scale));
        }
        let mut stacked = 0;
        let mut streams = Vec::new();
        for (name, stream) in &config.streams {
            let at = |why: String| format!("stream \"{name}\": {why}");
            let bytes = part(stream, &array).map_err(at)?;
            let base = match stream.start {
                Some(start) => start.of(array.logical_bytes),
                None => stacked,
            };
            if base > array.logical_bytes || bytes > array.logical_bytes - base {
                let why = match stream.start {
                    Some(start) => format!("its start, {}, leaves less", shown(start)),
                    None => "the streams before it leave less".to_owned(),
                };
                return Err(at(format!("footprint = {}: {why}", shown(stream.footprint))));
            }
            let own = ArrayGeometryForLoad { logical_bytes: bytes, ..array };
            let load = StreamLoad::new(config, stream, own, root(seed, name)).map_err(at)?;
            streams.push(Stream { name: name.clone(), base, load });
            stacked += if stream.start.is_none() { bytes } else { 0 };
        }
        let common = Common::new(config, seed)?;
        Ok(Streams { limit: config.limit, streams, common, issued: 0 })
    }

    /// The stream whose own request comes next, and when; `None` if all have ended.
    fn earliest(&mut self) -> Result<Option<(SimTime, usize)>, SourceError> {
        for stream in &mut self.streams {
            stream.look_ahead()?;
        }
        let next = |(index, stream): (usize, &Stream)| match &stream.load {
            StreamLoad::Own { ahead, .. } => ahead.map(|request| (request.arrival, index)),
            StreamLoad::Common(_) => None,
        };
        Ok(self.streams.iter().enumerate().filter_map(next).min())
    }

    /// The next request and its stream.
    fn merged(&mut self) -> Result<Option<(usize, HostRequest)>, SourceError> {
        let own = self.earliest()?;
        if let Some(common) = &mut self.common {
            let arrival = common.look_ahead()?;
            let is_over = matches!(self.limit, Limit::Duration(end) if arrival.0 >= end.0);
            if !is_over && own.is_none_or(|(time, _)| arrival <= time) {
                let index = common.deal();
                return self.streams[index].made(arrival).map(|request| Some((index, request)));
            }
        }
        let Some((_, index)) = own else { return Ok(None) };
        Ok(self.streams[index].take().map(|request| (index, request)))
    }
}

impl Source for Streams {
    fn fork(&self) -> Result<Box<dyn Source>, SourceError> {
        Ok(Box::new(self.clone()))
    }

    fn next(&mut self, _: SimTime, _: &[Completion]) -> Result<Next, SourceError> {
        if matches!(self.limit, Limit::Requests(all) if self.issued >= all) {
            return Ok(Next::End);
        }
        let Some((index, request)) = self.merged()? else { return Ok(Next::End) };
        let id = self.issued;
        self.issued += 1;
        let offset = request.offset + self.streams[index].base;
        Ok(Next::At(HostRequest { id, offset, volume: index as u16, ..request }))
    }
}

impl Stream {
    fn look_ahead(&mut self) -> Result<(), SourceError> {
        let StreamLoad::Own { load, ahead } = &mut self.load else { return Ok(()) };
        if ahead.is_none() {
            let next = load.next(SimTime::ZERO, &[]).map_err(|error| named(&self.name, &error))?;
            if let Next::At(request) = next {
                *ahead = Some(request);
            }
        }
        Ok(())
    }

    /// The request that was looked up.
    fn take(&mut self) -> Option<HostRequest> {
        match &mut self.load {
            StreamLoad::Own { ahead, .. } => ahead.take(),
            StreamLoad::Common(_) => None,
        }
    }

    /// A request at a common arrival.
    fn made(&mut self, arrival: SimTime) -> Result<HostRequest, SourceError> {
        match &mut self.load {
            StreamLoad::Common(requests) => {
                requests.next(arrival, None).map_err(|error| named(&self.name, &error))
            }
            StreamLoad::Own { .. } => unreachable!("common arrivals are dealt to streams without their own"),
        }
    }
}

fn named(name: &str, error: &SourceError) -> SourceError {
    SourceError(format!("stream \"{name}\": {error}"))
}

impl StreamLoad {
    fn new(
        config: &StreamsConfig,
        stream: &StreamConfig,
        part: ArrayGeometryForLoad,
        seed: u64,
    ) -> Result<Self, String> {
        match &stream.arrival {
            StreamArrival::Own(arrival) => {
                let load = Synthetic::new(&alone(config, stream, arrival)?, part, seed)?;
                Ok(StreamLoad::Own { load: Box::new(load), ahead: None })
            }
            StreamArrival::Common(_) => {
                let arrival = config.arrival.as_ref().ok_or(
                    "it has a count, but there are no common arrivals to deal: [workload.arrival] is missing",
                )?;
                let requests = Requests::new(&alone(config, stream, arrival)?, &part, seed)?;
                Ok(StreamLoad::Common(Box::new(requests)))
            }
        }
    }
}

impl Common {
    /// The common arrivals, if there are.
    fn new<'a>(config: &'a StreamsConfig, seed: u64) -> Result<Option<Self>, String> {
        let Some(arrival) = &config.arrival else { return Ok(None) };
        let count = |(index, stream): (usize, &'a StreamConfig)| match &stream.arrival {
            StreamArrival::Common(counts) => Some((index, counts.as_slice())),
            StreamArrival::Own(_) => None,
        };
        let (streams, counts): (Vec<_>, Vec<_>) =
            config.streams.values().enumerate().filter_map(count).unzip();
        if streams.is_empty() {
            return Err(
                "arrival: every stream has its own arrivals, so that nobody takes part in these".into()
            );
        }
        if matches!(arrival, Arrival::Closed { .. } | Arrival::WriteBursts { .. }) {
            return Err(
                "arrival: common arrivals neither wait for completions nor know writes from reads".into()
            );
        }
        let packs = packs(&counts, arrival)?;
        check_persistence("stream_persistence", config.persistence)?;
        let clock = Clock::new(&arrival.clone().scaled(config.time_scale), 0.0, seed)?;
        let deck = Deck::new(packs[0].clone(), config.persistence, Rng::stream(seed, "workload/streams"));
        Ok(Some(Common { clock, deck, packs, phase: 0, streams, ahead: None }))
    }

    /// When the next request arrives.
    fn look_ahead(&mut self) -> Result<SimTime, SourceError> {
        if let Some(ahead) = self.ahead {
            return Ok(ahead);
        }
        let next = self.clock.next_arrival(SimTime::ZERO);
        let next = next.map_err(|reason| SourceError(format!("common arrivals: {reason}")))?;
        Ok(*self.ahead.insert(next.expect("an open process goes on")))
    }

    /// The stream of the request that was looked ahead to.
    fn deal(&mut self) -> usize {
        self.ahead = None;
        let phase = self.clock.phase();
        if phase != self.phase && self.packs.len() > 1 {
            self.phase = phase;
            self.deck.renew(self.packs[phase].clone());
        }
        self.streams[self.deck.draw()]
    }
}

/// The cards of all streams, phase by phase where they say so.
fn packs(counts: &[&[u64]], arrival: &Arrival) -> Result<Vec<Vec<u64>>, String> {
    let phases = if let Arrival::Phases(phases) = arrival { phases.len() } else { 1 };
    let packs = counts.iter().map(|counts| counts.len()).max().unwrap_or(1);
    if let Some(wrong) = counts.iter().find(|counts| ![1, phases].contains(&counts.len())) {
        let found = wrong.len();
        return Err(format!("count: {found} numbers for {phases} phases: one, or one for each phase"));
    }
    let of = |phase: usize| {
        let count = |counts: &&[u64]| counts[phase.min(counts.len() - 1)];
        counts.iter().map(count).collect::<Vec<u64>>()
    };
    let packs: Vec<Vec<u64>> = (0..packs).map(of).collect();
    for (phase, pack) in packs.iter().enumerate() {
        let used: Vec<u64> = pack.iter().copied().filter(|&count| count > 0).collect();
        if used.is_empty() {
            return Err(format!("count: no stream has a request in phase {phase}, counted from 0"));
        }
        check_counts("count of the streams", &used)?;
    }
    Ok(packs)
}

/// The root of a stream's random numbers.
fn root(seed: u64, name: &str) -> u64 {
    Rng::stream(seed, &format!("workload/stream/{name}")).next_u64()
}

/// Bytes of a stream's part: a share in whole pages, rounded down so that parts that add up to 1 fit.
fn part(stream: &StreamConfig, array: &ArrayGeometryForLoad) -> Result<Bytes, String> {
    check_extent("address.footprint", stream.footprint, array.logical_bytes)?;
    let share = match stream.footprint {
        Extent::Bytes(bytes) => return Ok(bytes),
        Extent::Share(share) => share,
    };
    match ((array.logical_bytes / array.page_size) as f64 * share) as u64 {
        0 => {
            Err(format!("address.footprint = {share} of {} bytes is less than one page", array.logical_bytes))
        }
        pages => Ok(pages * array.page_size),
    }
}

/// A stream as a load of its own, on its part.
fn alone(
    config: &StreamsConfig,
    stream: &StreamConfig,
    arrival: &Arrival,
) -> Result<SyntheticConfig, String> {
    if matches!(arrival, Arrival::Closed { .. }) {
        return Err("arrival.process = \"closed\": a closed loop cannot be combined with streams".into());
    }
    Ok(SyntheticConfig {
        // Requests are counted over all streams.
        limit: match config.limit {
            Limit::Requests(_) => Limit::Requests(u64::MAX),
            duration @ Limit::Duration(_) => duration,
        },
        warmup: config.warmup,
        arrival: arrival.clone().scaled(config.time_scale),
        size: stream.size.clone(),
        read_fraction: stream.read_fraction,
        trim_fraction: stream.trim_fraction,
        address: stream.address,
        footprint: Extent::ALL,
        start_unit: stream.start_unit,
        skew_fraction: 0.0,
        skew_member: 0,
        skew_rest: SkewRest::Others,
        align: config.align,
    })
}
