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
//! to it. A stream may be issued by several jobs, which share its part and its rate. The volume of a request is the place
//! of its job: streams in the order of names, and the jobs of each.
//!
//! A job with a limit of outstanding requests keeps to the times of its arrivals, and issues no request while as many as
//! the limit are out. What is due meanwhile waits in the job, and is issued one by one as requests complete. A request
//! *arrives* when it is issued, so the time before that is in no response time: hosts that measure from the submission of
//! a request do not see it either.
//!
//! ```text
//!   due, limit 2      1  2 3 4              a request that is due while two are out is issued when one completes
//!   issued            1  2      3   4
//!   complete                    1   2
//! ```
//!
//! A stream may start late, as a neighbour or a backup that begins during the run: its arrivals are those it would have anyway, all of
//! them later by its delay.
//!
//! Not modelled: streams that wait for one another, closed loops, skew.

use harmonia_engine::Rng;
use harmonia_types::{Bytes, Completion, HostRequest, Owners, SimDuration, SimTime};

use crate::choices::{check_counts, check_persistence};
use crate::synthetic::{Clock, Deck, Requests, check_extent, shown};
use crate::{
    AddressPattern, ArrayGeometryForLoad, Arrival, Extent, Limit, Next, Source, SourceError, StreamArrival,
    StreamConfig, StreamsConfig, Synthetic, SyntheticConfig,
};

/// 2^63 ns, 292 years: beyond it sums of times may overflow.
const LATEST: u64 = 1 << 63;

/// A load of several streams.
#[derive(Debug, Clone)]
pub struct Streams {
    limit: Limit,
    streams: Vec<Stream>,
    common: Option<Common>,
    issued: u64,
    /// Whose the requests are that are out; `None` where no job has a limit.
    out: Option<Owners>,
}

/// One job of a stream, at work.
#[derive(Debug, Clone)]
struct Stream {
    name: String,
    /// Requests that it may still issue before one completes.
    free: u32,
    /// Where its part begins.
    base: Bytes,
    /// How much later than at time 0 it starts.
    delay: SimDuration,
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
    /// space, common arrivals are missing or nobody's, jobs or outstanding requests do not go with the rest of a stream, or
    /// time is scaled by what is not above 0. The text names the stream.
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
            check_jobs(stream).map_err(at)?;
            let delay = stream.delay(config);
            if delay.0 >= LATEST {
                let (delay, scale) = (stream.start_delay, config.time_scale);
                return Err(at(format!("start_delay = {delay}: times {scale} it is beyond 292 years")));
            }
            for job in 0..stream.jobs {
                let seed =
                    if stream.jobs == 1 { root(seed, name) } else { root(seed, &format!("{name}/{job}")) };
                let load = StreamLoad::new(config, stream, own, seed).map_err(at)?;
                let free = stream.outstanding.unwrap_or(u32::MAX);
                streams.push(Stream { name: name.clone(), free, base, delay, load });
            }
            stacked += if stream.start.is_none() { bytes } else { 0 };
        }
        if streams.len() > usize::from(u16::MAX) {
            return Err(format!("{} jobs in all streams: at most {}", streams.len(), u16::MAX));
        }
        let common = Common::new(config, seed)?;
        let has_limits = config.streams.values().any(|stream| stream.outstanding.is_some());
        let out = has_limits.then(Owners::default);
        Ok(Streams { limit: config.limit, streams, common, issued: 0, out })
    }

    /// Lies where `other` does, made of the same configuration and still at its first request.
    pub(crate) fn lie_as(&mut self, other: &Streams) {
        for (own, other) in self.streams.iter_mut().zip(&other.streams) {
            match (&mut own.load, &other.load) {
                (StreamLoad::Own { load, .. }, StreamLoad::Own { load: other, .. }) => load.lie_as(other),
                (StreamLoad::Common(own), StreamLoad::Common(other)) => own.lie_as(other),
                _ => unreachable!("streams of one configuration"),
            }
        }
    }

    /// The job whose own request comes next, and when; `None` if all have ended or wait for completions.
    fn earliest(&mut self, now: SimTime) -> Result<Option<(SimTime, usize)>, SourceError> {
        for stream in &mut self.streams {
            stream.look_ahead()?;
        }
        // What was due before waited for a completion, which is now.
        let next = |(index, stream): (usize, &Stream)| {
            Some((stream.due().filter(|_| stream.free > 0)?.max(now), index))
        };
        Ok(self.streams.iter().enumerate().filter_map(next).min())
    }

    /// When the next request arrives, of a job or of the common arrivals.
    fn next_time(&mut self, own: Option<(SimTime, usize)>) -> Result<Option<SimTime>, SourceError> {
        let common = self.common.as_mut().map(Common::look_ahead).transpose()?;
        Ok(own.map(|(time, _)| time).into_iter().chain(common).min())
    }

    /// Whether a completion may bring a request before `time`.
    fn waits(&self, time: SimTime) -> bool {
        self.streams.iter().any(|stream| stream.free == 0 && stream.due().is_some_and(|due| due < time))
    }

    /// Takes note of completions.
    fn complete(&mut self, completed: &[Completion]) {
        let Some(out) = &mut self.out else { return };
        for owner in completed.iter().filter_map(|completion| out.end(completion.id)) {
            let free = &mut self.streams[usize::from(owner)].free;
            *free = free.saturating_add(1);
        }
    }

    /// The next request and its job.
    fn merged(&mut self, own: Option<(SimTime, usize)>) -> Result<Option<(usize, HostRequest)>, SourceError> {
        if let Some(common) = &mut self.common {
            let arrival = common.look_ahead()?;
            let is_over = matches!(self.limit, Limit::Duration(end) if arrival.0 >= end.0);
            if !is_over && own.is_none_or(|(time, _)| arrival <= time) {
                let index = common.deal();
                return self.streams[index].made(arrival).map(|request| Some((index, request)));
            }
        }
        let Some((arrival, index)) = own else { return Ok(None) };
        Ok(self.streams[index].take().map(|request| (index, HostRequest { arrival, ..request })))
    }
}

impl Source for Streams {
    fn fork(&self) -> Result<Box<dyn Source>, SourceError> {
        Ok(Box::new(self.clone()))
    }

    fn wants_completions(&self) -> bool {
        self.out.is_some()
    }

    fn next(&mut self, now: SimTime, completed: &[Completion]) -> Result<Next, SourceError> {
        self.complete(completed);
        if matches!(self.limit, Limit::Requests(all) if self.issued >= all) {
            return Ok(Next::End);
        }
        let own = self.earliest(now)?;
        if self.out.is_some() {
            let end = if let Limit::Duration(end) = self.limit { SimTime(end.0) } else { SimTime::NEVER };
            let next = self.next_time(own)?;
            match next {
                _ if next.unwrap_or(now) >= end => return Ok(Next::End),
                Some(time) if time > now && self.waits(time) => return Ok(Next::Until(time)),
                None if self.waits(SimTime::NEVER) => return Ok(Next::AfterCompletion),
                _ => {}
            }
        }
        let Some((index, request)) = self.merged(own)? else { return Ok(Next::End) };
        let id = self.issued;
        self.issued += 1;
        if let Some(out) = &mut self.out {
            out.begin(id, index as u16);
            self.streams[index].free -= 1;
        }
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
                *ahead = Some(HostRequest { arrival: request.arrival + self.delay, ..request });
            }
        }
        Ok(())
    }

    /// When the request is due that was looked up.
    fn due(&self) -> Option<SimTime> {
        match &self.load {
            StreamLoad::Own { ahead, .. } => ahead.map(|request| request.arrival),
            StreamLoad::Common(_) => None,
        }
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

/// Whether jobs, outstanding requests and a delay go with the rest of a stream.
fn check_jobs(stream: &StreamConfig) -> Result<(), String> {
    let is_own = matches!(stream.arrival, StreamArrival::Own(_));
    if stream.start_delay > SimDuration::ZERO && !is_own {
        return Err("start_delay: it needs arrivals of its own, not a count".into());
    }
    match (stream.jobs, stream.outstanding) {
        (0, _) => Err("jobs = 0: nobody issues its requests".into()),
        (_, Some(0)) => Err("outstanding = 0: its first request would wait for ever".into()),
        (1, None) => Ok(()),
        _ if !is_own => Err("jobs and outstanding requests need arrivals of its own, not a count".into()),
        (2.., _) if matches!(stream.address, AddressPattern::Files(_)) => {
            Err("jobs: files belong to one job".into())
        }
        _ => Ok(()),
    }
}

/// The stream as a load of its own, on its part: that of one of its jobs.
fn alone(
    config: &StreamsConfig,
    stream: &StreamConfig,
    arrival: &Arrival,
) -> Result<SyntheticConfig, String> {
    if matches!(arrival, Arrival::Closed { .. }) {
        return Err("arrival.process = \"closed\": a closed loop cannot be combined with streams".into());
    }
    Ok(stream.alone(config, arrival))
}
