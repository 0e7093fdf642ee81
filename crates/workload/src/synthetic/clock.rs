//! When synthetic requests arrive.
//!
//! - *fixed*: request `i` at `round(i * 1e9 / rate)` ns from its number, not from the one before: no drift. The first
//!   arrives at 0.
//! - *poisson*: exponential gaps, the first one before the first request. Time is whole ns plus a carried fraction
//!   of a nanosecond, rounded down: gaps lose nothing to rounding however long the run.
//! - *closed*: the first `queue_depth` requests at 0, then one at the finish time of each completion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use harmonia_engine::Rng;
use harmonia_types::{Completion, SimTime};

use crate::Arrival;

const NS_PER_S: f64 = 1e9;
/// 2^63 ns, 292 years: beyond it sums of times may overflow.
const LATEST_NS: f64 = 9_223_372_036_854_775_808.0;

/// The arrival process.
#[derive(Debug, Clone)]
pub(super) enum Clock {
    Fixed { gap_ns: f64, arrived: u64 },
    Poisson { gap_ns: f64, now_ns: u64, fraction_ns: f64, rng: Rng },
    Closed(ClosedLoop),
}

/// Requests that may be issued, by the time they may.
#[derive(Debug, Clone)]
pub(super) struct ClosedLoop {
    /// Requests of the initial queue not yet issued.
    initial: u32,
    /// Finish times whose successor is not yet issued.
    ready: BinaryHeap<Reverse<SimTime>>,
    /// Arrivals never go back, even if completions are handed over late or out of order.
    latest: SimTime,
}

impl Clock {
    pub(super) fn new(arrival: Arrival, seed: u64) -> Result<Self, String> {
        match arrival {
            Arrival::Fixed { rate } => Ok(Clock::Fixed { gap_ns: mean_gap_ns(rate)?, arrived: 0 }),
            Arrival::Poisson { rate } => Ok(Clock::Poisson {
                gap_ns: mean_gap_ns(rate)?,
                now_ns: 0,
                fraction_ns: 0.0,
                rng: Rng::stream(seed, "workload/arrival"),
            }),
            Arrival::Closed { queue_depth: 0 } => {
                Err("arrival.queue_depth = 0: a closed loop with nothing outstanding never starts".into())
            }
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

    /// Takes note of completions; open loops do not care.
    pub(super) fn complete(&mut self, completed: &[Completion]) {
        if let Clock::Closed(closed) = self {
            closed.ready.extend(completed.iter().map(|completion| Reverse(completion.finish)));
        }
    }

    /// The next arrival; `None` until something completes.
    pub(super) fn next_arrival(&mut self, now: SimTime) -> Result<Option<SimTime>, String> {
        match self {
            Clock::Fixed { gap_ns, arrived } => {
                let time_ns = (*arrived as f64 * *gap_ns).round();
                *arrived += 1;
                representable(time_ns).map(Some)
            }
            Clock::Poisson { gap_ns, now_ns, fraction_ns, rng } => {
                let gap = rng.exponential(*gap_ns) + *fraction_ns;
                let whole = gap.floor();
                representable(*now_ns as f64 + whole)?;
                *now_ns += whole as u64;
                *fraction_ns = gap - whole;
                Ok(Some(SimTime(*now_ns)))
            }
            Clock::Closed(closed) => Ok(closed.next_arrival(now)),
        }
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
        Err("it would arrive after 2^63 ns (292 years): raise arrival.rate or shorten the run".into())
    }
}
