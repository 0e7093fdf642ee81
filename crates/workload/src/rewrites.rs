//! What a load writes and trims, over and over and without its times: how an array is aged that the load has been on for long.
//!
//! The places are those of the load: a page that is hot there is hot here. Which of them comes next is drawn from a root of its
//! own, so that what ages an array is not what runs on it afterwards. A trace comes again from its first row to the last that the
//! load replays, in pieces of [`TOGETHER`] requests whose order is drawn.
//!
//! Leaves out: loads that begin anew with every run, whose places are files or are touched for the first time
//! ([`WorkloadConfig::cannot_be_rewritten`]); what a slow array changes about the order of requests.

use harmonia_engine::Rng;
use harmonia_types::{HostRequest, Operation, SimDuration, SimTime};

use crate::replay::{Replay, TraceSource};
use crate::synthetic::Requests;
use crate::{
    AddressPattern, Arrival, Kind, Limit, Load, Next, Pacing, Source, SourceError, Streams, StreamsConfig,
    SyntheticConfig, TraceConfig, WorkloadConfig, replay,
};

/// Of a trace so many writes and trims are kept and come in a new order each time. Those of a longer one are read again, each time in
/// pieces of so many: the order, and with it the aged array, depends on it. 77 MiB.
const KEPT: usize = 1_677_721;
/// So many that followed one another still do: a file that is written in order stays one.
const TOGETHER: usize = 64;

/// Writes and trims without end.
pub struct Rewrites(From);

enum From {
    Synthetic(Box<Requests>),
    Streams(Box<Streams>),
    Trace(Box<Again>),
}

/// A trace that is read again and again, each time in another order: what is written together once would otherwise become invalid
/// together each time, and collection would find less to move than under a load that goes on.
struct Again {
    replay: Replay,
    source: TraceSource,
    rng: Rng,
    most: usize,
    kept: Vec<HostRequest>,
    /// Pieces of what is kept that are to come, the last one first: where they begin.
    pieces: Vec<usize>,
    /// So many of the first of them have come.
    within: usize,
    /// What is kept begins with the trace; and is all of it.
    is_start: bool,
    is_whole: bool,
}

impl Again {
    fn new(replay: &Replay, draws: u64, most: usize) -> Result<Self, SourceError> {
        let (replay, source, rng) =
            (Replay::clone(replay), replay.once()?, Rng::stream(draws, "rewrites/order"));
        let (kept, pieces) = (Vec::new(), Vec::new());
        Ok(Again { replay, source, rng, most, kept, pieces, within: 0, is_start: true, is_whole: false })
    }

    fn next(&mut self) -> Result<HostRequest, SourceError> {
        loop {
            if let Some(&piece) = self.pieces.last() {
                let request = self.kept.get(piece + self.within).filter(|_| self.within < TOGETHER);
                if let Some(&request) = request {
                    self.within += 1;
                    return Ok(request);
                }
                self.pieces.pop();
                self.within = 0;
                continue;
            }
            if !self.is_whole {
                self.read()?;
            }
            self.pieces.extend((0..self.kept.len()).step_by(TOGETHER));
            for last in (1..self.pieces.len()).rev() {
                self.pieces.swap(last, self.rng.below(last as u64 + 1) as usize);
            }
        }
    }

    /// Keeps what follows, up to the end of the trace.
    fn read(&mut self) -> Result<(), SourceError> {
        self.kept.clear();
        while self.kept.len() < self.most {
            match self.source.next(SimTime::ZERO, &[])? {
                Next::At(request) if rewrites(&request) => self.kept.push(request),
                Next::At(_) => {}
                _ => {
                    self.source = self.replay.once()?;
                    self.is_whole = self.is_start;
                    self.is_start = true;
                    return Ok(());
                }
            }
        }
        self.is_start = false;
        Ok(())
    }
}

fn rewrites(request: &HostRequest) -> bool {
    matches!(request.operation, Operation::Write | Operation::Trim) && request.length > 0
}

impl WorkloadConfig {
    /// Why an array cannot be aged by what this load writes, if it cannot.
    pub fn cannot_be_rewritten(&self) -> Option<&'static str> {
        let patterns: Vec<AddressPattern> = match self {
            WorkloadConfig::Synthetic(load) => vec![load.address],
            WorkloadConfig::Streams(load) => load.streams.values().map(|stream| stream.address).collect(),
            WorkloadConfig::Trace(_) => Vec::new(),
        };
        patterns.iter().find_map(|pattern| match pattern {
            AddressPattern::Files(_) => Some("has no meaning for files: each run begins without them"),
            AddressPattern::WorkingSet(_) => {
                Some("has no meaning for a working set: each run touches it for the first time")
            }
            _ => None,
        })
    }

    /// The load without what its [`Rewrites`] do not depend on: where this is equal on equal arrays, they are.
    #[must_use]
    pub fn as_rewritten(&self) -> WorkloadConfig {
        const ALL: Limit = Limit::Requests(u64::MAX);
        match self.clone() {
            WorkloadConfig::Synthetic(load) => WorkloadConfig::Synthetic(SyntheticConfig {
                limit: ALL,
                warmup: ALL,
                arrival: Arrival::Closed { queue_depth: 1 },
                fua_fraction: 0.0,
                ..load
            }),
            WorkloadConfig::Streams(load) => {
                let mut load = StreamsConfig { limit: ALL, warmup: ALL, ..load };
                // Nothing completes here, and the load has been on for long.
                for stream in load.streams.values_mut() {
                    (stream.outstanding, stream.fua_fraction) = (None, 0.0);
                    stream.start_delay = SimDuration::ZERO;
                }
                WorkloadConfig::Streams(load)
            }
            WorkloadConfig::Trace(load) => {
                let limit = replay::limit_of_rows(&load);
                // Times matter only to a limit that is one.
                let time_scale = if let Some(Limit::Duration(_)) = limit { load.time_scale } else { 1.0 };
                let (repeat, pacing) = (1, Pacing::Open);
                WorkloadConfig::Trace(TraceConfig { limit, warmup: ALL, repeat, pacing, time_scale, ..load })
            }
        }
    }
}

impl Load {
    /// What its [`Rewrites`] depend on beside the configuration: what the rows of a trace say; empty for other loads.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn content(&self) -> Result<String, SourceError> {
        let Kind::Trace(replay) = &self.0 else { return Ok(String::new()) };
        let mut source = replay.once()?;
        while let Next::At(_) = source.next(SimTime::ZERO, &[])? {}
        Ok(source.trace().map(|account| account.hash).unwrap_or_default())
    }

    /// What it writes and trims, with the places that it has under the root `seed`, drawn from the root `draws`; `None` if it
    /// writes nothing.
    ///
    /// # Errors
    /// If the load [cannot be rewritten](WorkloadConfig::cannot_be_rewritten), or a trace cannot be read.
    pub fn rewrites(&self, seed: u64, draws: u64) -> Result<Option<Rewrites>, SourceError> {
        let config = match &self.0 {
            Kind::Synthetic(config, _) => WorkloadConfig::Synthetic(config.clone()),
            Kind::Streams(config, _) => WorkloadConfig::Streams(config.clone()),
            Kind::Trace(replay) => {
                let writes = writes(replay.once()?)?;
                let from = || Ok(From::Trace(Box::new(Again::new(replay, draws, KEPT)?)));
                return writes.then(from).transpose().map(|from| from.map(Rewrites));
            }
        };
        if let Some(why) = config.cannot_be_rewritten() {
            return Err(SourceError(format!("ageing by the load {why}")));
        }
        let from = match (&self.0, config.as_rewritten()) {
            (Kind::Synthetic(_, array), WorkloadConfig::Synthetic(config)) => {
                if config.read_fraction + config.trim_fraction >= 1.0 {
                    return Ok(None);
                }
                let made = |root| Requests::new(&config, array, root).map_err(SourceError);
                let mut requests = made(draws)?;
                requests.lie_as(&made(seed)?);
                From::Synthetic(Box::new(requests))
            }
            (Kind::Streams(_, array), WorkloadConfig::Streams(config)) => {
                if config.streams.values().all(|stream| stream.read_fraction + stream.trim_fraction >= 1.0) {
                    return Ok(None);
                }
                let made = |root| Streams::new(&config, *array, root).map_err(SourceError);
                let mut streams = made(draws)?;
                streams.lie_as(&made(seed)?);
                From::Streams(Box::new(streams))
            }
            _ => unreachable!("a load keeps its kind"),
        };
        Ok(Some(Rewrites(from)))
    }
}

impl Rewrites {
    /// The next write or trim. Its time means nothing.
    ///
    /// # Errors
    /// If a trace cannot be read further, or a request does not fit.
    pub fn draw(&mut self) -> Result<HostRequest, SourceError> {
        loop {
            let request = match &mut self.0 {
                From::Synthetic(requests) => requests.next(SimTime::ZERO, None)?,
                From::Streams(streams) => match streams.next(SimTime::ZERO, &[])? {
                    Next::At(request) => request,
                    ended => unreachable!("streams without limits go on: {ended:?}"),
                },
                From::Trace(trace) => return trace.next(),
            };
            if rewrites(&request) {
                return Ok(request);
            }
        }
    }
}

/// Whether a replay writes anything.
fn writes(mut source: TraceSource) -> Result<bool, SourceError> {
    loop {
        match source.next(SimTime::ZERO, &[])? {
            Next::At(request) if request.operation == Operation::Write && request.length > 0 => {
                return Ok(true);
            }
            Next::At(_) => {}
            _ => return Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use harmonia_trace::{Trace, TraceOptions};

    use super::*;
    use crate::{ArrayGeometryForLoad, Extent, Remap, StreamConfig};

    const PAGE: u64 = 4096;
    const ARRAY: ArrayGeometryForLoad = ArrayGeometryForLoad {
        logical_bytes: 1000 * PAGE,
        member_bytes: 500 * PAGE,
        members: 2,
        page_size: PAGE,
        scaled_from: None,
    };

    fn zipf(read_fraction: f64) -> SyntheticConfig {
        SyntheticConfig {
            read_fraction,
            trim_fraction: 0.1,
            address: AddressPattern::Zipf { theta: 1.2 },
            ..SyntheticConfig::writes(20_000, 1000.0, PAGE)
        }
    }

    fn streams() -> StreamsConfig {
        let stream = |rate, theta| StreamConfig {
            read_fraction: 0.5,
            address: AddressPattern::Zipf { theta },
            footprint: Extent::Share(0.5),
            ..StreamConfig::writes(rate, PAGE)
        };
        let streams = [("a".to_owned(), stream(100.0, 1.2)), ("b".to_owned(), stream(300.0, 1.2))];
        StreamsConfig::of(20_000, streams.into())
    }

    /// The ten pages that are asked for most, of so many requests.
    fn hottest(requests: impl Iterator<Item = HostRequest>) -> BTreeSet<u64> {
        let mut counts = vec![(0, 0); 1000];
        requests.for_each(|request| {
            let page = request.offset / PAGE;
            counts[page as usize] = (counts[page as usize].0 + 1, page);
        });
        counts.sort_unstable();
        counts.iter().rev().take(10).map(|&(_, page)| page).collect()
    }

    fn of(load: &Load, draws: u64) -> Vec<HostRequest> {
        let mut rewrites = load.rewrites(7, draws).unwrap().expect("it writes");
        (0..20_000).map(|_| rewrites.draw().unwrap()).collect()
    }

    #[test]
    fn hot_pages_are_those_of_the_load_and_come_in_another_order() {
        for config in [WorkloadConfig::Synthetic(zipf(0.3)), WorkloadConfig::Streams(streams())] {
            let load = config.prepare(&ARRAY).unwrap();
            let mut source = load.source(7).unwrap();
            let mut requests = Vec::new();
            source.fill(SimTime::ZERO, 20_000, &mut requests).unwrap();
            let (ages, again, others) = (of(&load, 8), of(&load, 8), of(&load, 9));
            assert_eq!(ages, again);
            assert_ne!(ages[..100], others[..100]);
            let hot = hottest(requests.into_iter());
            for drawn in [ages, others] {
                assert!(drawn.iter().all(|request| request.operation != Operation::Read));
                assert!(hottest(drawn.into_iter()).intersection(&hot).count() >= 8);
            }
        }
    }

    /// An array is aged by a load that has been on for long: by all streams, also by one that starts late.
    #[test]
    fn a_stream_that_starts_late_ages_the_array_as_one_that_does_not() {
        let mut late = streams();
        late.streams.get_mut("b").expect("a stream").start_delay = SimDuration::from_ms(3_600_000);
        let drawn = |load: StreamsConfig| of(&WorkloadConfig::Streams(load).prepare(&ARRAY).unwrap(), 8);
        assert_eq!(drawn(late), drawn(streams()));
    }

    /// Kept or read again, all that a trace writes comes equally often, in pieces of its own order, and in another order each time.
    #[test]
    fn a_trace_comes_again_in_another_order() {
        const WRITES: usize = 20 * TOGETHER + 7;
        let row = |row: usize| {
            format!("{},h,0,Write,{},4096,100\n{},h,0,Read,0,4096,100\n", row * 1000, row * 4096, row * 1000)
        };
        let text: String = (0..WRITES).map(row).collect();
        let trace = Trace::from_bytes("t.csv", text.into_bytes(), &TraceOptions::of_format("msr")).unwrap();
        let config = TraceConfig { remap: Remap::Wrap, ..TraceConfig::of(vec!["t".into()]) };
        let array = ArrayGeometryForLoad { logical_bytes: 2000 * PAGE, member_bytes: 1000 * PAGE, ..ARRAY };
        let replay = Replay::new(trace, &config, &array).unwrap();
        for most in [TOGETHER, 5 * TOGETHER + 3, WRITES, KEPT] {
            let mut again = Again::new(&replay, 3, most).unwrap();
            let times = [0, 1, 2]
                .map(|_| (0..WRITES).map(|_| again.next().unwrap().offset / PAGE).collect::<Vec<u64>>());
            for time in &times {
                let all: BTreeSet<u64> = time.iter().copied().collect();
                assert_eq!(all.len(), WRITES, "{most} are kept");
                let breaks = time.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
                assert!(
                    breaks <= WRITES.div_ceil(TOGETHER) + WRITES / most,
                    "{most} are kept: {breaks} breaks"
                );
            }
            assert_eq!(times[0] == times[1], most == TOGETHER, "{most} are kept");
        }
    }

    #[test]
    fn a_load_that_writes_nothing_rewrites_nothing() {
        for trim_fraction in [0.0, 0.125] {
            let reads = SyntheticConfig { trim_fraction, ..zipf(1.0 - trim_fraction) };
            let load = WorkloadConfig::Synthetic(reads).prepare(&ARRAY).unwrap();
            assert!(load.rewrites(1, 2).unwrap().is_none(), "{trim_fraction} are trims");
        }
    }
}
