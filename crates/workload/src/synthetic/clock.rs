//! When synthetic requests arrive.
//!
//! - *fixed*: request `i` at `round(i * 1e9 / rate)` ns from its number, not from the one before: no drift. The first
//!   arrives at 0.
//! - *poisson*: exponential gaps, the first one before the first request. Time is whole ns plus a carried fraction
//!   of a nanosecond, rounded down: gaps lose nothing to rounding however long the run.
//! - *on-off*: bursts of `burst_length` requests. Gaps within a burst are exponential of mean `1 / burst_rate`; the gap
//!   to the first request of the next burst is exponential too, of the mean that is left of `burst_length / rate`. One
//!   burst and its gap therefore last `burst_length / rate` on average, and a `burst_rate` equal to `rate` would be
//!   poisson. The first burst begins behind such a gap. Time is kept as for poisson.
//!
//!   ```text
//!     |||||||||              |||||||||        |||||||||
//!     burst     exponential            exponential
//!     |<-- burst_length / rate, mean -->|
//!   ```
//! - *write-bursts*: two processes side by side, in the proportion of `read_fraction`: writes on-off, reads poisson. They
//!   say which requests are reads; where one and the other fall on the same ns, the write comes first.
//! - *choices*: the first request at 0, then gaps dealt from a [`Deck`]: a load of one request more than there are cards
//!   lasts exactly as long as they say together.
//! - *phases*: so many requests at one mean gap, then so many at another. Within a phase they come at random, and the
//!   last at its end: a phase lasts exactly as long as its mean gap says. Behind the last phase comes the first.
//! - *closed*: the first `queue_depth` requests at 0, then one at the finish time of each completion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use harmonia_engine::Rng;
use harmonia_types::{Completion, SimDuration, SimTime};

use super::deck::Deck;
use crate::choices::check_counts;
use crate::{Arrival, Choices, Phase};

const NS_PER_S: f64 = 1e9;
/// Streams of random gaps.
const ARRIVAL: &str = "workload/arrival";
const READS: &str = "workload/arrival-reads";
/// 2^63 ns, 292 years: beyond it sums of times may overflow.
const LATEST_NS: f64 = 9_223_372_036_854_775_808.0;

/// The arrival process.
#[derive(Debug, Clone)]
pub(crate) enum Clock {
    Fixed { gap_ns: f64, arrived: u64 },
    Poisson { gap_ns: f64, time: RandomTime },
    OnOff(OnOff),
    WriteBursts(WriteBursts),
    Dealt(DealtGaps),
    Phased(PhasedGaps),
    Closed(ClosedLoop),
}

/// Gaps one of which is dealt for each request but the first.
#[derive(Debug, Clone)]
pub(crate) struct DealtGaps {
    gaps: Vec<SimDuration>,
    deck: Deck,
    /// When the last request arrived, if one has.
    last: Option<SimTime>,
}

/// A time that exponential gaps move on: whole ns and the fraction of one that is left.
#[derive(Debug, Clone)]
pub(crate) struct RandomTime {
    now_ns: u64,
    fraction_ns: f64,
    rng: Rng,
}

/// Phases, in one of which the last request arrived.
#[derive(Debug, Clone)]
pub(crate) struct PhasedGaps {
    phases: Vec<Phase>,
    phase: usize,
    /// Requests of the phase still to come, and the time until its end.
    left: u64,
    rest_ns: f64,
    now_ns: f64,
    rng: Rng,
}

/// Bursts and the gaps between them.
#[derive(Debug, Clone)]
pub(crate) struct OnOff {
    within_ns: f64,
    between_ns: f64,
    burst_length: u32,
    /// Requests of the current burst still to come.
    left: u32,
    time: RandomTime,
}

/// Writes in bursts and reads beside them.
#[derive(Debug, Clone)]
pub(crate) struct WriteBursts {
    writes: OnOff,
    /// Their mean gap and their time; `None` where nothing reads.
    reads: Option<(f64, RandomTime)>,
    /// The next of each, drawn when first asked for.
    next_write: Option<SimTime>,
    next_read: Option<SimTime>,
    /// What the request that arrived last does.
    is_read: bool,
}

/// Requests that may be issued, by the time they may.
#[derive(Debug, Clone)]
pub(crate) struct ClosedLoop {
    /// Requests of the initial queue not yet issued.
    initial: u32,
    /// Finish times whose successor is not yet issued.
    ready: BinaryHeap<Reverse<SimTime>>,
    /// Arrivals never go back, even if completions are handed over late or out of order.
    latest: SimTime,
}

impl Clock {
    pub(crate) fn new(arrival: &Arrival, read_fraction: f64, seed: u64) -> Result<Self, String> {
        match *arrival {
            Arrival::Fixed { rate } => Ok(Clock::Fixed { gap_ns: mean_gap_ns(rate)?, arrived: 0 }),
            Arrival::Poisson { rate } => {
                Ok(Clock::Poisson { gap_ns: mean_gap_ns(rate)?, time: RandomTime::new(seed, ARRIVAL) })
            }
            Arrival::OnOff { rate, burst_rate, burst_length } => {
                OnOff::new(rate, burst_rate, burst_length, seed).map(Clock::OnOff)
            }
            Arrival::WriteBursts { rate, burst_rate, burst_length } => {
                WriteBursts::new(rate, burst_rate, burst_length, read_fraction, seed).map(Clock::WriteBursts)
            }
            Arrival::Closed { queue_depth: 0 } => {
                Err("arrival.queue_depth = 0: a closed loop with nothing outstanding never starts".into())
            }
            Arrival::Gaps(ref choices) => DealtGaps::new(choices, seed).map(Clock::Dealt),
            Arrival::Phases(ref phases) => PhasedGaps::new(phases, seed).map(Clock::Phased),
            Arrival::Closed { queue_depth } => Ok(Clock::Closed(ClosedLoop {
                initial: queue_depth,
                ready: BinaryHeap::new(),
                latest: SimTime::ZERO,
            })),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Clock::Closed(_))
    }

    /// The phase of the request that arrived last; 0 where there are none.
    pub(crate) fn phase(&self) -> usize {
        match self {
            Clock::Phased(gaps) => gaps.phase,
            _ => 0,
        }
    }

    /// Whether the request that arrived last reads; `None` where arrivals do not say.
    pub(super) fn is_read(&self) -> Option<bool> {
        match self {
            Clock::WriteBursts(bursts) => Some(bursts.is_read),
            _ => None,
        }
    }

    /// Takes note of completions; open loops do not care.
    pub(super) fn complete(&mut self, completed: &[Completion]) {
        if let Clock::Closed(closed) = self {
            closed.ready.extend(completed.iter().map(|completion| Reverse(completion.finish)));
        }
    }

    /// The next arrival; `None` until something completes.
    #[expect(clippy::inline_always, reason = "a part of the loop that draws many requests")]
    #[inline(always)]
    pub(crate) fn next_arrival(&mut self, now: SimTime) -> Result<Option<SimTime>, String> {
        match self {
            Clock::Fixed { gap_ns, arrived } => {
                let time_ns = (*arrived as f64 * *gap_ns).round();
                *arrived += 1;
                representable(time_ns).map(Some)
            }
            Clock::Poisson { gap_ns, time } => time.after(*gap_ns).map(Some),
            Clock::OnOff(bursts) => bursts.next_arrival().map(Some),
            Clock::WriteBursts(bursts) => bursts.next_arrival().map(Some),
            Clock::Dealt(gaps) => gaps.next_arrival().map(Some),
            Clock::Phased(gaps) => gaps.next_arrival().map(Some),
            Clock::Closed(closed) => Ok(closed.next_arrival(now)),
        }
    }
}

impl RandomTime {
    fn new(seed: u64, stream: &str) -> Self {
        RandomTime { now_ns: 0, fraction_ns: 0.0, rng: Rng::stream(seed, stream) }
    }

    /// Moves on by an exponential gap of this mean.
    #[inline]
    fn after(&mut self, mean_ns: f64) -> Result<SimTime, String> {
        let gap = self.rng.exponential(mean_ns) + self.fraction_ns;
        // A gap is not negative, so that its floor is its integer part; a gap of more ns than that has bits for is refused.
        let whole = gap as u64;
        representable(self.now_ns as f64 + whole as f64)?;
        self.now_ns += whole;
        self.fraction_ns = gap - whole as f64;
        Ok(SimTime(self.now_ns))
    }
}

impl OnOff {
    fn new(rate: f64, burst_rate: f64, burst_length: u32, seed: u64) -> Result<Self, String> {
        let (mean_ns, within_ns) = (mean_gap_ns(rate)?, NS_PER_S / burst_rate);
        // Written so that a NaN is refused too.
        if !(burst_rate.is_finite() && burst_rate > rate) {
            return Err(format!(
                "arrival.burst_rate = {burst_rate}: within a burst requests come faster than on average, so it must be above arrival.rate = {rate}"
            ));
        }
        if burst_length < 2 {
            return Err(format!("arrival.burst_length = {burst_length}: a burst has at least 2 requests"));
        }
        let between_ns = f64::from(burst_length) * mean_ns - f64::from(burst_length - 1) * within_ns;
        Ok(OnOff { within_ns, between_ns, burst_length, left: 0, time: RandomTime::new(seed, ARRIVAL) })
    }

    fn next_arrival(&mut self) -> Result<SimTime, String> {
        if self.left > 0 {
            self.left -= 1;
            return self.time.after(self.within_ns);
        }
        self.left = self.burst_length - 1;
        self.time.after(self.between_ns)
    }
}

impl WriteBursts {
    fn new(
        rate: f64,
        burst_rate: f64,
        burst_length: u32,
        read_fraction: f64,
        seed: u64,
    ) -> Result<Self, String> {
        if read_fraction >= 1.0 {
            return Err(format!(
                "arrival.process = \"write-bursts\" with read_fraction = {read_fraction}: nothing writes; on-off has bursts of reads"
            ));
        }
        let writes = OnOff::new(rate * (1.0 - read_fraction), burst_rate, burst_length, seed)?;
        let reads = match rate * read_fraction {
            rate if rate > 0.0 => Some((mean_gap_ns(rate)?, RandomTime::new(seed, READS))),
            _ => None,
        };
        Ok(WriteBursts { writes, reads, next_write: None, next_read: None, is_read: false })
    }

    fn next_arrival(&mut self) -> Result<SimTime, String> {
        let write = match self.next_write {
            Some(time) => time,
            None => *self.next_write.insert(self.writes.next_arrival()?),
        };
        let read = match (self.next_read, &mut self.reads) {
            (None, Some((gap_ns, time))) => Some(*self.next_read.insert(time.after(*gap_ns)?)),
            (read, _) => read,
        };
        self.is_read = read.is_some_and(|read| read < write);
        let next = if self.is_read { &mut self.next_read } else { &mut self.next_write };
        Ok(next.take().expect("the earlier of both was drawn"))
    }
}

impl DealtGaps {
    fn new(choices: &Choices<SimDuration>, seed: u64) -> Result<Self, String> {
        choices.check("arrival", "gaps")?;
        if choices.mean(|gap| gap.0 as f64) <= 0.0 {
            return Err("arrival.gaps: all are 0, so that everything would arrive at once".into());
        }
        let Choices { values, counts, persistence } = choices.clone();
        let deck = Deck::new(counts, persistence, Rng::stream(seed, ARRIVAL));
        Ok(DealtGaps { gaps: values, deck, last: None })
    }

    fn next_arrival(&mut self) -> Result<SimTime, String> {
        let next_ns = match self.last {
            None => 0,
            Some(last) => last.0.saturating_add(self.gaps[self.deck.draw()].0),
        };
        representable(next_ns as f64)?;
        Ok(*self.last.insert(SimTime(next_ns)))
    }
}

impl PhasedGaps {
    fn new(phases: &[Phase], seed: u64) -> Result<Self, String> {
        let counts: Vec<u64> = phases.iter().map(|phase| phase.count).collect();
        check_counts("arrival.counts", &counts)?;
        if phases.iter().all(|phase| phase.gap.0 == 0) {
            return Err("arrival.gaps: all are 0, so that everything would arrive at once".into());
        }
        let rng = Rng::stream(seed, ARRIVAL);
        let mut gaps =
            PhasedGaps { phases: phases.to_vec(), phase: 0, left: 0, rest_ns: 0.0, now_ns: 0.0, rng };
        gaps.begin(0);
        Ok(gaps)
    }

    fn begin(&mut self, phase: usize) {
        let Phase { gap, count } = self.phases[phase];
        (self.phase, self.left, self.rest_ns) = (phase, count, gap.0 as f64 * count as f64);
    }

    /// Of the time that is left of a phase the next gap is the least of as many uniform parts as gaps are left.
    fn next_arrival(&mut self) -> Result<SimTime, String> {
        if self.left == 0 {
            self.begin((self.phase + 1) % self.phases.len());
        }
        let part = match self.left {
            1 => 1.0,
            left => -libm::expm1(libm::log(1.0 - self.rng.unit()) / (left - 1) as f64),
        };
        let gap_ns = self.rest_ns * part;
        self.left -= 1;
        self.rest_ns -= gap_ns;
        self.now_ns += gap_ns;
        representable(self.now_ns)
    }
}

impl ClosedLoop {
    fn next_arrival(&mut self, now: SimTime) -> Option<SimTime> {
        if self.initial > 0 {
            self.initial -= 1;
        } else {
            let Reverse(finish) = self.ready.pop()?;
            self.latest = self.latest.max(finish);
        }
        self.latest = self.latest.max(now);
        Some(self.latest)
    }
}

fn mean_gap_ns(rate: f64) -> Result<f64, String> {
    if rate.is_finite() && rate > 0.0 {
        Ok(NS_PER_S / rate)
    } else {
        Err(format!("arrival.rate = {rate}: it is requests a second and must be greater than 0"))
    }
}

fn representable(time_ns: f64) -> Result<SimTime, String> {
    if time_ns < LATEST_NS {
        Ok(SimTime(time_ns as u64))
    } else {
        Err("it would arrive after 2^63 ns (292 years): raise workload.arrival.rate or lower workload.requests".into())
    }
}
