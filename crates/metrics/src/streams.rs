//! What each stream of a load experienced.
//!
//! Invariant: the requests of all streams are those of the host.
//!
//! Not measured: how long a request was due before its stream issued it. A stream with a limit of outstanding requests has that
//! wait; the rate that it achieves, beside the rate of its arrivals, tells of it.

use std::collections::BTreeMap;

use harmonia_types::{Completion, HostRequest, Operation, Owners};
use serde::{Deserialize, Serialize};

use crate::distribution::{Distribution, DistributionSummary};

/// Watches the requests of streams complete.
#[derive(Debug, Clone)]
pub struct StreamRecorder {
    /// By name.
    streams: BTreeMap<String, Responses>,
    /// The name of each volume.
    volumes: Vec<String>,
    out: Owners,
}

#[derive(Debug, Clone, Default)]
struct Responses {
    read: Distribution,
    write: Distribution,
    other: Distribution,
}

/// What one stream experienced, all its jobs together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamReport {
    /// Completed requests of any kind. Unit: count.
    pub requests: u64,
    /// Response times of its reads, from their issue. Unit: ns.
    pub read: DistributionSummary,
    /// Likewise of its writes. Unit: ns.
    pub write: DistributionSummary,
}

impl StreamRecorder {
    /// A recorder that has seen nothing; the requests of each volume belong to the stream that is named at its place.
    pub fn new<'a>(volumes: impl IntoIterator<Item = &'a str>) -> Self {
        let volumes: Vec<String> = volumes.into_iter().map(str::to_owned).collect();
        let streams = volumes.iter().map(|name| (name.clone(), Responses::default())).collect();
        StreamRecorder { streams, volumes, out: Owners::default() }
    }

    /// Takes note of a request that arrives; ids go on one by one.
    pub fn arrives(&mut self, request: &HostRequest) {
        self.out.begin(request.id, request.volume);
    }

    /// Takes in one completed request; one that has not arrived here does not count.
    pub fn record(&mut self, completion: &Completion) {
        let Some(volume) = self.out.end(completion.id) else { return };
        let name = self.volumes.get(usize::from(volume));
        let Some(stream) = name.and_then(|name| self.streams.get_mut(name)) else { return };
        let responses = match completion.operation {
            Operation::Read => &mut stream.read,
            Operation::Write => &mut stream.write,
            Operation::Trim | Operation::Flush => &mut stream.other,
        };
        responses.record(completion.response().as_ns());
    }

    /// The report's `host.streams`.
    pub fn report(&self) -> BTreeMap<String, StreamReport> {
        let one = |(name, Responses { read, write, other }): (&String, &Responses)| {
            let requests = read.count() + write.count() + other.count();
            (name.clone(), StreamReport { requests, read: read.summary(), write: write.summary() })
        };
        self.streams.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use harmonia_types::{RequestBlame, SimTime};

    use super::*;

    #[test]
    fn requests_count_for_the_stream_that_issued_them() {
        let mut recorder = StreamRecorder::new(["loaders", "loaders", "probe"]);
        let (length, member) = (4096, None);
        for (id, volume) in [(5, 0), (6, 2), (7, 1), (8, 2)] {
            let (arrival, operation) = (SimTime(100), Operation::Write);
            recorder.arrives(&HostRequest {
                volume,
                member,
                ..HostRequest::new(id, arrival, operation, 0, length)
            });
        }
        // Request 4 arrived before the window.
        for (id, operation) in
            [(8, Operation::Read), (4, Operation::Write), (5, Operation::Write), (7, Operation::Write)]
        {
            let (arrival, finish) = (SimTime(100), SimTime(100 + id));
            let (blame, met_gc, gc_wait) = (RequestBlame::NONE, false, None);
            recorder.record(&Completion {
                id,
                operation,
                offset: 0,
                length,
                arrival,
                finish,
                blame,
                met_gc,
                gc_wait,
            });
        }
        let report = recorder.report();
        let counts = |name: &str| (report[name].requests, report[name].read.count, report[name].write.count);
        assert_eq!((counts("loaders"), counts("probe")), ((2, 0, 2), (1, 1, 0)));
        assert_eq!((report["loaders"].write.mean, report["probe"].read.max), (Some(6.0), Some(8)));
    }
}
