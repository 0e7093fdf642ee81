//! What hosts experience: requests, bytes, response times and where they went.
//!
//! Invariant: the summed blame equals the summed response time, to the nanosecond; it is asserted for each
//! request in debug builds and for the sums by [`HostRecorder::check`] in every build.
//!
//! Not measured: requests still outstanding, latency per volume of a trace or per member.

use std::collections::BTreeMap;

use harmonia_types::{Completion, Deadlines, Operation, SimTime};
use serde::{Deserialize, Serialize};

use crate::bandwidth::{Bandwidth, BandwidthReport};
use crate::batches::{BatchReport, Batches};
use crate::blame::{BlamePhases, BlameSum};
use crate::distribution::{Distribution, DistributionSummary};
use crate::streams::StreamReport;

/// Watches host requests complete.
#[derive(Debug, Clone, Default)]
pub struct HostRecorder {
    read_requests: u64,
    write_requests: u64,
    trim_requests: u64,
    flush_requests: u64,
    bytes_read: u64,
    bytes_written: u64,
    bytes_trimmed: u64,
    /// Responses, each in one distribution: those of more than one kind are summed up in the end.
    read: ByGc,
    write: ByGc,
    other: Distribution,
    phases: BlamePhases,
    /// The parts of blame that belong to no phase.
    apart: BlameSum,
    batches: Batches,
    bandwidth: Option<Bandwidth>,
    deadlines: Deadlines,
    kept: DeadlineReport,
    last_arrival: SimTime,
}

/// Responses of one kind of request, by whether they waited for collection and by whether they met it.
#[derive(Debug, Clone, Default)]
struct ByGc([Distribution; 4]);

/// Bits of the place in [`ByGc`].
const AFFECTED: usize = 1;
const MET: usize = 2;

impl ByGc {
    #[inline]
    fn record(&mut self, response_ns: u64, is_affected: bool, met_gc: bool) {
        self.0[AFFECTED * usize::from(is_affected) + MET * usize::from(met_gc)].record(response_ns);
    }

    /// Of those that have all of these bits.
    fn having(&self, bits: usize) -> Distribution {
        let parts = self.0.iter().enumerate().filter(|(place, _)| place & bits == bits);
        Distribution::merged(parts.map(|(_, part)| part))
    }

    fn all(&self) -> Distribution {
        self.having(0)
    }
}

/// Response times by kind of request; a response runs from arrival to the end of the last operation, link
/// included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ResponseReport {
    /// Every request, trims and flushes included. Unit: ns.
    pub all: DistributionSummary,
    /// Reads. Unit: ns.
    pub read: DistributionSummary,
    /// Writes. Unit: ns.
    pub write: DistributionSummary,
    /// Reads that waited for garbage collection, whatever die, bus or log they waited for. Unit: ns.
    pub gc_affected_read: DistributionSummary,
    /// Likewise writes. Unit: ns.
    pub gc_affected_write: DistributionSummary,
    /// Reads of which a page operation met a GC busy interval of its die between its arrival and its start, which is what
    /// papers count; empty in reports of before both were told apart. Unit: ns.
    #[serde(default)]
    pub met_gc_read: DistributionSummary,
    /// Likewise writes, those that triggered the GC included. Unit: ns.
    #[serde(default)]
    pub met_gc_write: DistributionSummary,
}

harmonia_types::counters! {
    /// Requests that have a deadline, by whether they kept it.
    pub struct DeadlineReport {
        /// Took longer than their deadline.
        pub missed: u64 = Sum, "count";
        /// Took as long at most.
        pub met: u64 = Sum, "count";
    }
}

impl DeadlineReport {
    /// Share of the requests with a deadline that missed it; `None` if there was none. Unit: fraction.
    pub fn missed_share(&self) -> Option<f64> {
        let all = self.missed + self.met;
        (all > 0).then(|| self.missed as f64 / all as f64)
    }
}

/// The report's `host` section.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostReport {
    /// Completed requests of any kind. Unit: count.
    pub requests: u64,
    /// Completed reads. Unit: count.
    pub read_requests: u64,
    /// Completed writes. Unit: count.
    pub write_requests: u64,
    /// Length of the completed reads. Unit: bytes.
    pub bytes_read: u64,
    /// Length of the completed writes. Unit: bytes.
    pub bytes_written: u64,
    /// Completed trims. Unit: count.
    pub trim_requests: u64,
    /// Length of the completed trims; not written where nothing was trimmed. Unit: bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes_trimmed: u64,
    /// Completed flushes. Unit: count.
    pub flush_requests: u64,
    /// Response times. Unit: ns.
    pub response_ns: ResponseReport,
    /// Where the summed response time of all requests went. Unit: ns.
    pub blame_ns: BlameSum,
    /// Cumulative distribution of all response times: (ns, fraction of requests at or below), to draw as
    /// steps.
    pub response_cdf: Vec<(u64, f64)>,
    /// Means over batches of successive requests, from which intervals of a single run come.
    #[serde(default)]
    pub batches: BatchReport,
    /// The same time as `blame_ns` by phase and resource, but for waiting for stripes; zeros in reports of before
    /// phases were told apart. Unit: ns.
    #[serde(default)]
    pub blame_phases_ns: BlamePhases,
    /// From the window's beginning to the last arrival; null where arrivals follow completions, in a closed loop. Unit:
    /// ns.
    #[serde(default)]
    pub arrivals_ns: Option<u64>,
    /// Requests that arrived in the warm-up and completed in the window, in no other figure of this section: an array that does not
    /// keep up serves these first. Absent if 0, as where members come to rest before the window. Unit: count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmup_requests: u64,
    /// Length of the reads and writes among them; absent if 0. Unit: bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmup_bytes: u64,
    /// Bytes over time; empty in reports of before it was kept.
    #[serde(default, skip_serializing_if = "BandwidthReport::is_empty")]
    pub bandwidth: BandwidthReport,
    /// How deadlines were kept; absent where no request has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlines: Option<DeadlineReport>,
    /// What each stream of the load experienced, by name; absent where the load is not one of streams.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub streams: BTreeMap<String, StreamReport>,
}

/// What a report leaves out where there is none of it.
pub(crate) fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl HostRecorder {
    /// A recorder that has seen nothing and counts batches from request 0; see [`starting_at`](Self::starting_at).
    pub fn new() -> Self {
        HostRecorder::default()
    }

    /// A recorder that has seen nothing, for the window that begins with the request `first`; ids go on from there
    /// one by one, in whatever order they complete.
    pub fn starting_at(first: u64) -> Self {
        HostRecorder { batches: Batches::starting_at(first), ..HostRecorder::default() }
    }

    /// The recorder for a window that begins at a moment, from which bandwidth is kept.
    pub fn from(self, from: SimTime) -> Self {
        HostRecorder { bandwidth: Some(Bandwidth::new(from)), ..self }
    }

    /// The recorder for a window in which requests should not take longer than these times.
    pub fn expecting(self, deadlines: Deadlines) -> Self {
        HostRecorder { deadlines, ..self }
    }

    /// Takes in one completed request.
    pub fn record(&mut self, completion: &Completion) {
        let response_ns = completion.response().as_ns();
        debug_assert_eq!(
            completion.blame.total(),
            response_ns,
            "the blame of request {} must sum to its response time",
            completion.id
        );
        self.phases.data.add(&completion.blame.data);
        // Of most requests that is all.
        if completion.blame.data.total() != response_ns {
            self.phases.add_redundancy(&completion.blame);
            self.apart.add_apart(&completion.blame);
        }
        if let Some(within) = self.deadlines.of(completion.operation) {
            let count =
                if completion.response() > within { &mut self.kept.missed } else { &mut self.kept.met };
            *count += 1;
        }
        if let Some(bandwidth) = &mut self.bandwidth {
            bandwidth.record(completion);
        }
        let moves_data = matches!(completion.operation, Operation::Read | Operation::Write);
        let is_read = completion.operation == Operation::Read;
        let is_affected = completion.is_gc_affected();
        self.batches.record(completion.id, response_ns, is_read, is_affected && moves_data);
        self.last_arrival = self.last_arrival.max(completion.arrival);
        match completion.operation {
            Operation::Read => {
                self.read_requests += 1;
                self.bytes_read += completion.length;
                self.read.record(response_ns, is_affected, completion.met_gc);
            }
            Operation::Write => {
                self.write_requests += 1;
                self.bytes_written += completion.length;
                self.write.record(response_ns, is_affected, completion.met_gc);
            }
            Operation::Trim => {
                self.trim_requests += 1;
                self.bytes_trimmed += completion.length;
                self.other.record(response_ns);
            }
            Operation::Flush => {
                self.flush_requests += 1;
                self.other.record(response_ns);
            }
        }
    }

    /// Length of the writes recorded so far. Unit: bytes.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// When the last of the recorded requests arrived; time 0 without any.
    pub fn last_arrival(&self) -> SimTime {
        self.last_arrival
    }

    /// Requests recorded so far.
    pub fn requests(&self) -> u64 {
        self.read_requests + self.write_requests + self.trim_requests + self.flush_requests
    }

    /// Checks that the parts sum to the whole. Cheap: it looks at sums only.
    ///
    /// # Panics
    /// If the summed blame is not the summed response time, or the requests by kind are not all responses.
    pub fn check(&self) {
        let parts = || self.read.0.iter().chain(&self.write.0).chain([&self.other]);
        let response_ns: u128 = parts().map(Distribution::sum_ns).sum();
        assert_eq!(self.blame().total(), response_ns, "summed blame must equal the summed response time");
        let responses: u64 = parts().map(Distribution::count).sum();
        assert_eq!(responses, self.requests(), "requests by kind must sum to all responses");
    }

    /// Blame by its parts.
    fn blame(&self) -> BlameSum {
        self.phases.parts(&self.apart)
    }

    /// The report's `host` section.
    ///
    /// # Panics
    /// If [`check`](Self::check) does.
    pub fn report(&self) -> HostReport {
        self.check();
        let (read, write) = (self.read.all(), self.write.all());
        let all = Distribution::merged([&read, &write, &self.other]);
        HostReport {
            requests: self.requests(),
            read_requests: self.read_requests,
            write_requests: self.write_requests,
            bytes_read: self.bytes_read,
            bytes_written: self.bytes_written,
            trim_requests: self.trim_requests,
            bytes_trimmed: self.bytes_trimmed,
            flush_requests: self.flush_requests,
            response_ns: ResponseReport {
                all: all.summary(),
                read: read.summary(),
                write: write.summary(),
                gc_affected_read: self.read.having(AFFECTED).summary(),
                gc_affected_write: self.write.having(AFFECTED).summary(),
                met_gc_read: self.read.having(MET).summary(),
                met_gc_write: self.write.having(MET).summary(),
            },
            blame_ns: self.blame(),
            response_cdf: all.cdf_points(),
            batches: self.batches.report(&all, &read),
            arrivals_ns: None,
            warmup_requests: 0,
            warmup_bytes: 0,
            bandwidth: self.bandwidth.as_ref().map(Bandwidth::report).unwrap_or_default(),
            blame_phases_ns: self.phases,
            deadlines: self.deadlines.is_set().then_some(self.kept),
            streams: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests;
