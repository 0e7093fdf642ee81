//! When the requests of a trace arrive.
//!
//! *Open*: when the trace says, however far the array is behind.
//!
//! *Closed*: the times of the trace are ignored. So many requests are kept outstanding, in the order of the trace: the
//! first ones arrive at 0, and each completion issues the next.
//!
//! *Think times*: what the host waited for in the recording it waits for again, and then takes as long as it took.
//!
//! ```text
//!   recorded    |--- r0 ---|  think  |--- r1 ------|            r0 had completed when r1 was issued
//!   replayed    |-- r0 --------|  think  |--- r1 ...            so r1 waits for r0, then for the same time
//! ```
//!
//! The rule, for each volume by itself: a request waits for every request of its volume that had completed in the
//! recording before it was issued. It arrives as long after the last event as it did in the recording, where events are
//! these completions and the arrival of the volume's request before. Requests that were outstanding together may be so
//! again. On a device with the recorded response times, requests arrive when they did in the recording.
//!
//! A trace that records no response times is taken to have had none: each request waits for the one before it on its
//! volume, and the gap between the two is the time to think. On an infinitely fast device requests arrive when they did.
//!
//! Arrivals keep the order of the trace in all volumes together, so a volume may wait for another one's turn. Time that
//! passes so is not made up for.
//!
//! Leaves out: dependences between volumes, and which of several completed requests a host waited for, which no trace
//! tells; completion events of blkparse and blktrace, whose traces count as without response times.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use harmonia_trace::TraceRecord;
use harmonia_types::{Completion, SimTime};

use crate::Pacing;

/// 2^63 ns, 292 years: beyond it sums of times may overflow.
const LATEST_NS: f64 = 9_223_372_036_854_775_808.0;
/// More requests of one volume outstanding at once than any host has; a response time that keeps more of them so is
/// misread, and the request that should end first counts as completed.
const OUT_MAX: usize = 65_536;

/// When the next request arrives.
#[derive(Clone)]
pub(super) enum Pace {
    Open(f64),
    Closed(Closed),
    ThinkTimes(ThinkTimes),
}

impl Pace {
    pub(super) fn new(pacing: Pacing, time_scale: f64) -> Self {
        match pacing {
            Pacing::Open => Pace::Open(time_scale),
            Pacing::Closed { queue_depth } => Pace::Closed(Closed::new(queue_depth)),
            Pacing::ThinkTimes => Pace::ThinkTimes(ThinkTimes::new(time_scale)),
        }
    }

    /// Takes note of completions.
    pub(super) fn complete(&mut self, completed: &[Completion]) {
        match self {
            Pace::Open(_) => {}
            Pace::Closed(closed) => closed.ready.extend(completed.iter().map(|done| Reverse(done.finish))),
            Pace::ThinkTimes(times) => completed.iter().for_each(|done| times.complete(done.id, done.finish)),
        }
    }

    /// Takes note of the record that is next, request `id`, and of how long it took when it was recorded.
    #[inline]
    pub(super) fn meet(&mut self, id: u64, record: &TraceRecord, response_ns: u64) {
        if let Pace::ThinkTimes(times) = self {
            times.meet(id, record, response_ns);
        }
    }

    /// When that record arrives; `None` until something completes. Words where that is beyond 2^63 ns.
    #[inline]
    pub(super) fn arrival(&mut self, now: SimTime, record: &TraceRecord) -> Result<Option<SimTime>, String> {
        match self {
            Pace::Open(time_scale) => scaled_or_words(record.time_ns, *time_scale).map(Some),
            Pace::Closed(closed) => Ok(closed.arrival(now)),
            Pace::ThinkTimes(times) => times.arrival(now, record),
        }
    }
}

/// A time of the trace as it is replayed; `None` beyond 2^63 ns.
pub(super) fn scaled(time_ns: u64, time_scale: f64) -> Option<SimTime> {
    // An exact comparison: 1 is the default and means "untouched".
    if time_scale == 1.0 && time_ns < LATEST_NS as u64 {
        return Some(SimTime(time_ns));
    }
    let scaled = (time_ns as f64 * time_scale).round();
    (scaled < LATEST_NS).then_some(SimTime(scaled as u64))
}

#[inline]
fn scaled_or_words(time_ns: u64, time_scale: f64) -> Result<SimTime, String> {
    scaled(time_ns, time_scale).ok_or_else(|| {
        format!(
            "a request {time_ns} ns into the trace arrives after 2^63 ns (292 years) at time_scale = {time_scale}"
        )
    })
}

/// So many requests outstanding.
#[derive(Clone)]
pub(super) struct Closed {
    /// Requests to issue before any has completed.
    initial: u32,
    /// Completions that have not issued a request yet.
    ready: BinaryHeap<Reverse<SimTime>>,
    latest: SimTime,
}

impl Closed {
    fn new(queue_depth: u32) -> Self {
        Closed { initial: queue_depth, ready: BinaryHeap::new(), latest: SimTime::ZERO }
    }

    fn arrival(&mut self, now: SimTime) -> Option<SimTime> {
        let free = if self.initial > 0 {
            self.initial -= 1;
            SimTime::ZERO
        } else {
            self.ready.pop()?.0
        };
        self.latest = self.latest.max(free).max(now);
        Some(self.latest)
    }
}

/// Time to think between requests.
#[derive(Clone)]
pub(super) struct ThinkTimes {
    time_scale: f64,
    /// By volume.
    hosts: Vec<Host>,
    /// The host whose request is next, and the requests that it waits for.
    next: usize,
    awaited: BTreeSet<u64>,
    /// When requests completed that none has waited for yet, by id.
    finished: BTreeMap<u64, SimTime>,
    /// Arrival of the request before, of whatever volume.
    latest: SimTime,
}

/// Who issues the requests of a volume.
#[derive(Clone, Default)]
struct Host {
    /// Its requests that have not completed yet in the recording: when they do, in ns, and their ids.
    out: BinaryHeap<Reverse<(u64, u64)>>,
    /// Its last event: when in the recording, in ns, and when in the replay.
    recorded_ns: u64,
    replayed: SimTime,
}

impl Host {
    /// The request that has completed in the recording before this time, if there is one more.
    fn completed_by(&mut self, time_ns: u64) -> Option<u64> {
        let &Reverse((recorded_ns, id)) = self.out.peek()?;
        if recorded_ns > time_ns && self.out.len() < OUT_MAX {
            return None;
        }
        self.out.pop();
        self.recorded_ns = self.recorded_ns.max(recorded_ns.min(time_ns));
        Some(id)
    }
}

impl ThinkTimes {
    fn new(time_scale: f64) -> Self {
        ThinkTimes {
            time_scale,
            hosts: Vec::new(),
            next: 0,
            awaited: BTreeSet::new(),
            finished: BTreeMap::new(),
            latest: SimTime::ZERO,
        }
    }

    /// Finds what the next request waits for.
    fn meet(&mut self, id: u64, record: &TraceRecord, response_ns: u64) {
        self.next = usize::from(record.volume);
        if self.next >= self.hosts.len() {
            self.hosts.resize_with(self.next + 1, Host::default);
        }
        let host = &mut self.hosts[self.next];
        while let Some(earlier) = host.completed_by(record.time_ns) {
            match self.finished.remove(&earlier) {
                Some(finish) => host.replayed = host.replayed.max(finish),
                None => _ = self.awaited.insert(earlier),
            }
        }
        host.out.push(Reverse((record.time_ns.saturating_add(response_ns), id)));
    }

    fn complete(&mut self, id: u64, finish: SimTime) {
        if self.awaited.remove(&id) {
            let host = &mut self.hosts[self.next];
            host.replayed = host.replayed.max(finish);
        } else {
            self.finished.insert(id, finish);
        }
    }

    fn arrival(&mut self, now: SimTime, record: &TraceRecord) -> Result<Option<SimTime>, String> {
        if !self.awaited.is_empty() {
            return Ok(None);
        }
        let host = &mut self.hosts[self.next];
        // Both from the trace's own times, so that nothing drifts.
        let think_ns = scaled_or_words(record.time_ns, self.time_scale)?.0
            - scaled_or_words(host.recorded_ns, self.time_scale)?.0;
        let due = SimTime(host.replayed.0.saturating_add(think_ns));
        self.latest = self.latest.max(due).max(now);
        (host.recorded_ns, host.replayed) = (record.time_ns, self.latest);
        Ok(Some(self.latest))
    }
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
