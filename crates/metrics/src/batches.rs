//! Means over batches of successive requests: what one run alone can say about how far to trust its mean.
//!
//! Response times of neighbours are alike (they queue behind one another, or behind the same garbage collection), so
//! the requests of one run are no independent samples; means of long batches nearly are. Batch k holds the requests
//! `k L .. (k + 1) L` of the measured window, counted by id and not by completion, so that batch k of two policies
//! holds the same requests: with an open load the same arrivals, with a closed loop the same requests at other times.
//!
//! How many requests come is not known in advance: when all places are taken, neighbours are merged and L doubles. At
//! the end between half and all of the places hold a full batch; an incomplete last one is left out.
//!
//! Source: Law, Simulation Modeling and Analysis, 9.5.3 (10 to 30 batches, as long as possible). Leaves out: any test
//! that batches are long enough. Where they are not, neighbouring means are correlated and an interval comes out too
//! narrow; `tests/coverage.rs` measures by how much on a queue that has a closed form.

use serde::{Deserialize, Serialize};

/// Places for batches.
const MOST: usize = 32;
/// Requests of the shortest batch, as a power of two: below that a batch says little.
const SHORTEST_LOG2: u32 = 6;

/// The sums of one batch.
#[derive(Debug, Clone, Copy, Default)]
struct Batch {
    requests: u64,
    response_ns: u128,
    gc_affected: u64,
}

/// Sums up responses by batch. Fixed in size: recording allocates nothing.
#[derive(Debug, Clone)]
pub(crate) struct Batches {
    /// Id of the first request of the first batch.
    first: u64,
    length_log2: u32,
    batches: [Batch; MOST],
}

/// The report's `host.batches`: means over batches of equally many successive requests, in their order; empty where
/// the window is shorter than a batch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BatchReport {
    /// Requests of each batch. Unit: count.
    pub requests: u64,
    /// Mean response time of each batch. Unit: ns.
    pub mean: Vec<f64>,
    /// Share of the requests of each batch that met garbage collection. Unit: fraction.
    pub gc_affected: Vec<f64>,
}

impl Batches {
    /// No request yet; batches begin with the request `first`.
    pub(crate) fn starting_at(first: u64) -> Self {
        Batches { first, length_log2: SHORTEST_LOG2, batches: [Batch::default(); MOST] }
    }

    /// Takes in one request.
    #[inline]
    pub(crate) fn record(&mut self, id: u64, response_ns: u64, gc_affected: bool) {
        let position = id.saturating_sub(self.first);
        while position >> self.length_log2 >= MOST as u64 {
            self.double();
        }
        let batch = &mut self.batches[(position >> self.length_log2) as usize];
        batch.requests += 1;
        batch.response_ns += u128::from(response_ns);
        batch.gc_affected += u64::from(gc_affected);
    }

    /// Merges neighbours.
    #[cold]
    fn double(&mut self) {
        for index in 0..MOST {
            let half = |which: usize| self.batches.get(2 * index + which).copied().unwrap_or_default();
            let (one, other) = (half(0), half(1));
            self.batches[index] = Batch {
                requests: one.requests + other.requests,
                response_ns: one.response_ns + other.response_ns,
                gc_affected: one.gc_affected + other.gc_affected,
            };
        }
        self.length_log2 += 1;
    }

    /// The batches up to the first that lacks a request.
    pub(crate) fn report(&self) -> BatchReport {
        let requests = 1 << self.length_log2;
        let full = || self.batches.iter().take_while(|batch| batch.requests == requests);
        let mean = |sum: f64| sum / requests as f64;
        BatchReport {
            requests,
            mean: full().map(|batch| mean(batch.response_ns as f64)).collect(),
            gc_affected: full().map(|batch| mean(batch.gc_affected as f64)).collect(),
        }
    }
}

impl Default for Batches {
    fn default() -> Self {
        Batches::starting_at(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The response of a request, and whether it met garbage collection.
    fn response(id: u64) -> (u64, bool) {
        (1_000 + id % 9_973 * 31 % 997, id.is_multiple_of(3))
    }

    fn recorded(first: u64, ids: impl IntoIterator<Item = u64>) -> BatchReport {
        let mut batches = Batches::starting_at(first);
        ids.into_iter().for_each(|id| batches.record(id, response(id).0, response(id).1));
        batches.report()
    }

    /// The definition: the mean of each stretch of as many requests.
    #[test]
    fn a_batch_is_the_mean_of_its_requests_however_often_lengths_doubled() {
        for (requests, length, count) in
            [(63, 64, 0), (64, 64, 1), (2_048, 64, 32), (2_049, 128, 16), (100_000, 4_096, 24)]
        {
            let report = recorded(500, 500..500 + requests);
            assert_eq!((report.requests, report.mean.len()), (length, count), "{requests} requests");
            for (k, (mean, affected)) in report.mean.iter().zip(&report.gc_affected).enumerate() {
                let ids = || (0..length).map(|i| 500 + k as u64 * length + i);
                let sum: u64 = ids().map(|id| response(id).0).sum();
                assert_eq!(*mean, sum as f64 / length as f64);
                let hits = ids().filter(|id| response(*id).1).count();
                assert_eq!(*affected, hits as f64 / length as f64);
            }
        }
    }

    #[test]
    fn the_order_of_completion_changes_nothing() {
        assert_eq!(recorded(0, 0..5_000), recorded(0, (0..5_000).rev()));
    }

    #[test]
    fn a_batch_that_lacks_a_request_ends_the_list() {
        let report = recorded(0, (0..640).filter(|id| *id != 200));
        assert_eq!(report.mean.len(), 3, "the fourth batch holds request 200");
    }

    #[test]
    fn the_last_id_there_is_has_a_place() {
        assert_eq!(recorded(0, [u64::MAX]).mean.len(), 0);
    }
}
