//! Batches of successive requests: sums, and a coarse distribution each.

use super::classes::{CLASSES, class_of};
use super::quantiles::pseudo_values;
use super::{BatchReport, MOST, SHORTEST_LOG2};
use crate::distribution::Distribution;

/// The sums of one batch.
#[derive(Debug, Clone, Copy, Default)]
struct Batch {
    requests: u64,
    response_ns: u128,
    gc_affected: u64,
}

/// Requests of a batch by the class of their response.
#[derive(Debug, Clone)]
pub(super) struct Row(Box<[u32; CLASSES]>);

impl Default for Row {
    fn default() -> Self {
        Row(Box::new([0; CLASSES]))
    }
}

impl Row {
    /// Of requests with these responses. Unit: ns.
    #[cfg(test)]
    pub fn of(responses: &[u64]) -> Row {
        let mut row = Row::default();
        responses.iter().for_each(|&ns| row.0[class_of(ns)] += 1);
        row
    }

    fn absorb(&mut self, other: &Row) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(sum, n)| *sum = sum.saturating_add(*n));
    }

    pub fn requests(&self) -> u64 {
        self.0.iter().map(|&n| u64::from(n)).sum()
    }

    /// Requests of higher classes, and of this one.
    pub fn beyond(&self, class: usize) -> (u64, u64) {
        (self.0[class + 1..].iter().map(|&n| u64::from(n)).sum(), self.0[class].into())
    }
}

/// Sums up responses by batch. Fixed in size: recording allocates nothing.
#[derive(Debug, Clone)]
pub(crate) struct Batches {
    /// Id of the first request of the first batch.
    first: u64,
    length_log2: u32,
    batches: [Batch; MOST],
    /// Responses of all requests, and of reads.
    all: Vec<Row>,
    read: Vec<Row>,
}

impl Batches {
    /// No request yet; batches begin with the request `first`.
    pub fn starting_at(first: u64) -> Self {
        let rows = || vec![Row::default(); MOST];
        Batches {
            first,
            length_log2: SHORTEST_LOG2,
            batches: [Batch::default(); MOST],
            all: rows(),
            read: rows(),
        }
    }

    /// Takes in one request.
    #[inline]
    pub fn record(&mut self, id: u64, response_ns: u64, is_read: bool, gc_affected: bool) {
        let position = id.saturating_sub(self.first);
        while position >> self.length_log2 >= MOST as u64 {
            self.double();
        }
        let index = (position >> self.length_log2) as usize;
        let batch = &mut self.batches[index];
        batch.requests += 1;
        batch.response_ns += u128::from(response_ns);
        batch.gc_affected += u64::from(gc_affected);
        let class = class_of(response_ns);
        self.all[index].0[class] += 1;
        if is_read {
            self.read[index].0[class] += 1;
        }
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
        for rows in [&mut self.all, &mut self.read] {
            for index in 0..MOST {
                let mut merged = rows.get_mut(2 * index).map(std::mem::take).unwrap_or_default();
                if let Some(other) = rows.get(2 * index + 1) {
                    merged.absorb(other);
                }
                rows[index] = merged;
            }
        }
        self.length_log2 += 1;
    }

    /// The batches up to the first that lacks a request; `all` and `read` are the distributions over the whole window.
    pub fn report(&self, all: &Distribution, read: &Distribution) -> BatchReport {
        let requests = 1 << self.length_log2;
        let full = || self.batches.iter().take_while(|batch| batch.requests == requests);
        let count = full().count();
        let mean = |sum: f64| sum / requests as f64;
        let series = |rows: &[Row], of: &Distribution, value: Option<u64>, tail: f64| {
            let rows: Vec<&Row> = rows[..count].iter().collect();
            value.map(|value| pseudo_values(&rows, of, value, tail)).unwrap_or_default()
        };
        let (whole, reads) = (all.summary(), read.summary());
        BatchReport {
            requests,
            mean: full().map(|batch| mean(batch.response_ns as f64)).collect(),
            gc_affected: full().map(|batch| mean(batch.gc_affected as f64)).collect(),
            p50: series(&self.all, all, whole.p50, 0.5),
            p95: series(&self.all, all, whole.p95, 0.05),
            p99: series(&self.all, all, whole.p99, 0.01),
            p999: series(&self.all, all, whole.p999, 0.001),
            p9999: series(&self.all, all, whole.p9999, 0.0001),
            read_p99: series(&self.read, read, reads.p99, 0.01),
            read_p999: series(&self.read, read, reads.p999, 0.001),
            ..BatchReport::default()
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

    /// The response of a request, and whether it waited for garbage collection.
    fn response(id: u64) -> (u64, bool) {
        (1_000 + id % 9_973 * 31 % 997, id.is_multiple_of(3))
    }

    #[test]
    fn a_row_knows_how_many_lie_beyond_a_class_and_how_many_in_it() {
        let mut row = Row::default();
        (row.0[4], row.0[5], row.0[6], row.0[9]) = (1, 2, 4, 8);
        assert_eq!([row.beyond(4), row.beyond(5), row.beyond(7)], [(14, 1), (12, 2), (8, 0)]);
        assert_eq!(row.requests(), 15);
    }

    fn recorded(first: u64, ids: impl IntoIterator<Item = u64>) -> BatchReport {
        let (mut batches, mut all) = (Batches::starting_at(first), Distribution::new());
        for id in ids {
            let (ns, gc_affected) = response(id);
            batches.record(id, ns, false, gc_affected);
            all.record(ns);
        }
        batches.report(&all, &Distribution::new())
    }

    /// The definition: the mean of each stretch of as many requests.
    #[test]
    fn a_batch_is_the_mean_of_its_requests_however_often_lengths_doubled() {
        for (requests, length, count) in
            [(15, 16, 0), (16, 16, 1), (1_024, 16, 64), (1_025, 32, 32), (100_000, 2_048, 48)]
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
        let report = recorded(0, (0..640).filter(|id| *id != 50));
        assert_eq!(report.mean.len(), 3, "the fourth batch holds request 50");
    }

    #[test]
    fn the_last_id_there_is_has_a_place() {
        assert_eq!(recorded(0, [u64::MAX]).mean.len(), 0);
    }

    /// In every second batch two requests of a hundred are slow, in the others none: the 99th percentile is on the edge.
    /// With a response of 1 us, and of 1 to 2 us for the slow ones, pseudo-values alternate around it by as much.
    #[test]
    fn a_percentile_varies_with_the_share_beyond_it() {
        let (mut batches, mut all) = (Batches::starting_at(0), Distribution::new());
        let mut record = |id: u64, ns: u64| {
            batches.record(id, ns, true, false);
            all.record(ns);
        };
        for id in 0..64 * 512u64 {
            let slow = (id / 512).is_multiple_of(2) && id.is_multiple_of(50);
            record(id, if slow { 1_000_000 + id * 7_919 % 1_000_000 } else { 100_000 + id * 31 % 800_000 });
        }
        let report = batches.report(&all, &all);
        assert_eq!(report.p99.len(), 64);
        let p99 = all.summary().p99.expect("enough") as f64;
        let mean = report.p99.iter().sum::<f64>() / 64.0;
        assert!((mean / p99 - 1.0).abs() < 0.03, "{mean} {p99}");
        assert!(report.p99.chunks(2).all(|pair| pair[0] > pair[1]), "{:?}", report.p99);
        assert_eq!((&report.read_p99, &report.read_p999), (&report.p99, &report.p999));
    }

    /// All slow requests in one batch of 64: the percentile could lie anywhere.
    #[test]
    fn a_tail_of_one_event_has_no_interval() {
        let (mut batches, mut all) = (Batches::starting_at(0), Distribution::new());
        for id in 0..64 * 512u64 {
            let ns = if id / 512 == 9 { 1_000_000 + id } else { 100_000 + id * 31 % 1_000 };
            batches.record(id, ns, false, false);
            all.record(ns);
        }
        let report = batches.report(&all, &Distribution::new());
        assert!(all.summary().p99.is_some() && report.p99.is_empty(), "{:?} {:?}", all.summary(), report.p99);
    }
}
