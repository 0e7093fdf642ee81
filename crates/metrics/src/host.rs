//! What hosts experience: requests, bytes, response times and where they went.
//!
//! Invariant: the summed blame equals the summed response time, to the nanosecond; it is asserted for each
//! request in debug builds and for the sums by [`HostRecorder::check`] in every build.
//!
//! Not measured: requests still outstanding, throughput over time, latency per volume or per member.

use harmonia_types::{Completion, Deadlines, Operation, RequestBlame};
use serde::{Deserialize, Serialize};

use crate::batches::{BatchReport, Batches};
use crate::distribution::{Distribution, DistributionSummary};

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
    all: Distribution,
    read: Distribution,
    write: Distribution,
    gc_affected_read: Distribution,
    gc_affected_write: Distribution,
    blame: BlameSum,
    batches: Batches,
    deadlines: Deadlines,
    kept: DeadlineReport,
}

/// Summed blame of all requests, in nanoseconds.
///
/// 128 bits, because response times of an overloaded array can sum past 2^64 ns (584 years); written to JSON
/// as plain integers, exact at any size (a reader that holds numbers as doubles rounds above 2^53).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlameSum {
    /// Flash array time of the requests' own operations. Unit: ns.
    pub service: u128,
    /// The operations' own page transfers between die and controller. Unit: ns.
    pub transfer: u128,
    /// Waiting for a die or bus that serves other host operations. Unit: ns.
    pub queue_host: u128,
    /// Waiting for a die or bus that collects garbage. Unit: ns.
    pub queue_gc: u128,
    /// Waiting for parity to be read or written. Unit: ns.
    pub parity: u128,
    /// Waiting for other members' reads to reconstruct data. Unit: ns.
    pub reconstruct: u128,
    /// On the host link, or waiting for it. Unit: ns.
    pub link: u128,
    /// Waiting for a stripe that another request is changing. Unit: ns.
    #[serde(default)]
    pub stripe_wait: u128,
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
    /// Reads of which a page operation met a GC busy interval of its die between its arrival and its start.
    /// Unit: ns.
    pub gc_affected_read: DistributionSummary,
    /// Likewise writes, those that triggered the GC included. Unit: ns.
    pub gc_affected_write: DistributionSummary,
}

/// Requests that have a deadline, by whether they kept it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlineReport {
    /// Took longer than their deadline. Unit: count.
    pub missed: u64,
    /// Took as long at most. Unit: count.
    pub met: u64,
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
    /// How deadlines were kept; absent where no request has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadlines: Option<DeadlineReport>,
}

fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl BlameSum {
    /// Adds the blame of one request.
    pub fn add(&mut self, blame: &RequestBlame) {
        let RequestBlame { data, parity, reconstruct, stripe_wait } = blame;
        self.service += u128::from(data.service);
        self.transfer += u128::from(data.transfer);
        self.queue_host += u128::from(data.queue_host);
        self.queue_gc += u128::from(blame.queue_gc());
        self.parity += u128::from(parity.total() - parity.queue_gc);
        self.reconstruct += u128::from(reconstruct.total() - reconstruct.queue_gc);
        self.link += u128::from(data.link);
        self.stripe_wait += u128::from(*stripe_wait);
    }

    /// Sum of all parts: the summed response time they explain. Unit: ns.
    pub fn total(&self) -> u128 {
        let BlameSum { service, transfer, queue_host, queue_gc, parity, reconstruct, link, stripe_wait } =
            self;
        service + transfer + queue_host + queue_gc + parity + reconstruct + link + stripe_wait
    }
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
        self.all.record(response_ns);
        self.blame.add(&completion.blame);
        if let Some(within) = self.deadlines.of(completion.operation) {
            let count =
                if completion.response() > within { &mut self.kept.missed } else { &mut self.kept.met };
            *count += 1;
        }
        let moves_data = matches!(completion.operation, Operation::Read | Operation::Write);
        self.batches.record(completion.id, response_ns, completion.gc_affected && moves_data);
        match completion.operation {
            Operation::Read => {
                self.read_requests += 1;
                self.bytes_read += completion.length;
                self.read.record(response_ns);
                if completion.gc_affected {
                    self.gc_affected_read.record(response_ns);
                }
            }
            Operation::Write => {
                self.write_requests += 1;
                self.bytes_written += completion.length;
                self.write.record(response_ns);
                if completion.gc_affected {
                    self.gc_affected_write.record(response_ns);
                }
            }
            Operation::Trim => {
                self.trim_requests += 1;
                self.bytes_trimmed += completion.length;
            }
            Operation::Flush => self.flush_requests += 1,
        }
    }

    /// Requests recorded so far.
    pub fn requests(&self) -> u64 {
        self.all.count()
    }

    /// Checks that the parts sum to the whole. Cheap: it looks at sums only.
    ///
    /// # Panics
    /// If the summed blame is not the summed response time, or the requests by kind are not all requests.
    pub fn check(&self) {
        assert_eq!(self.blame.total(), self.all.sum_ns(), "summed blame must equal the summed response time");
        let by_kind = self.read_requests + self.write_requests + self.trim_requests + self.flush_requests;
        assert_eq!(by_kind, self.requests(), "requests by kind must sum to all requests");
    }

    /// The report's `host` section.
    ///
    /// # Panics
    /// If [`check`](Self::check) does.
    pub fn report(&self) -> HostReport {
        self.check();
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
                all: self.all.summary(),
                read: self.read.summary(),
                write: self.write.summary(),
                gc_affected_read: self.gc_affected_read.summary(),
                gc_affected_write: self.gc_affected_write.summary(),
            },
            blame_ns: self.blame.clone(),
            response_cdf: self.all.cdf_points(),
            batches: self.batches.report(),
            deadlines: self.deadlines.is_set().then_some(self.kept),
        }
    }
}

#[cfg(test)]
mod tests;
