//! How many bytes hosts read and wrote in each stretch of the run, and how much that varies.
//!
//! A request counts where it completes, with all of its bytes. The first stretches of a run have less, because nothing completes
//! before the first response is over.
//!
//! Source: IEEE TC 2012, section 3 (Figs. 1 to 4, Table 3), which has bandwidth over time and its coefficient of variation.
//! Not kept: reads apart from writes, single members.

use harmonia_types::{Completion, Operation, SimTime};
use serde::{Deserialize, Serialize};

use crate::buckets::Buckets;

/// The report's `bandwidth` of hosts, over the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BandwidthReport {
    /// Width of a bucket, a power of two. Unit: ns.
    pub bucket_ns: u64,
    /// Bytes read and written by requests that completed in the bucket, from the window's beginning; the last bucket ends with the
    /// last completion. Unit: bytes.
    pub bytes: Vec<u64>,
    /// Coefficient of variation of the bytes of whole buckets: their standard deviation divided by their mean. Null with fewer than
    /// two, or without bytes. It depends on the width: compare runs at one width, with the list below. Unit: fraction.
    pub variation: Option<f64>,
    /// The same with 1, 2, 4, .. buckets taken together, as pairs of a width in ns and a coefficient.
    pub variation_by_width: Vec<(u64, f64)>,
}

impl BandwidthReport {
    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The coefficient over stretches so wide.
    pub fn variation_over(&self, width_ns: u64) -> Option<f64> {
        self.variation_by_width.iter().find(|pair| pair.0 == width_ns).map(|pair| pair.1)
    }
}

/// Watches requests complete.
#[derive(Debug, Clone)]
pub(crate) struct Bandwidth(Buckets);

impl Bandwidth {
    /// For the window that begins at `from`.
    pub fn new(from: SimTime) -> Self {
        Bandwidth(Buckets::new(from))
    }

    /// In any order.
    #[inline]
    pub fn record(&mut self, completion: &Completion) {
        if matches!(completion.operation, Operation::Read | Operation::Write) {
            self.0.add(completion.finish, completion.length);
        }
    }

    pub fn report(&self) -> BandwidthReport {
        let Buckets { width_ns, open, ref whole, .. } = self.0;
        if open == 0 && whole.is_empty() {
            return BandwidthReport::default();
        }
        let by_width = variations(whole, width_ns);
        BandwidthReport {
            bucket_ns: width_ns,
            bytes: whole.iter().chain([&open]).map(|&bytes| bytes as u64).collect(),
            variation: by_width.first().map(|pair| pair.1),
            variation_by_width: by_width,
        }
    }
}

/// By width: of whole buckets, then of each two of them, and so on.
fn variations(whole: &[u128], width_ns: u64) -> Vec<(u64, f64)> {
    let (mut sums, mut width_ns, mut found) = (whole.to_vec(), width_ns, Vec::new());
    while let Some(variation) = variation(&sums) {
        found.push((width_ns, variation));
        sums = sums.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
        width_ns *= 2;
    }
    found
}

fn variation(sums: &[u128]) -> Option<f64> {
    let n = sums.len() as f64;
    let mean = sums.iter().sum::<u128>() as f64 / n;
    if sums.len() < 2 || mean == 0.0 {
        return None;
    }
    let variance = sums.iter().map(|&sum| (sum as f64 - mean).powi(2)).sum::<f64>() / n;
    Some(variance.sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first width. Unit: ns.
    const WIDTH: u64 = 1 << 14;

    /// After so many bytes at such times.
    fn report(from: u64, done: impl IntoIterator<Item = (u64, u64)>) -> BandwidthReport {
        let mut bandwidth = Bandwidth::new(SimTime(from));
        done.into_iter().for_each(|(at, bytes)| bandwidth.0.add(SimTime(at), bytes));
        bandwidth.report()
    }

    #[test]
    fn variation_is_the_deviation_of_whole_stretches_over_their_mean() {
        // 3, 1, 3, 1 in whole buckets, by halves of time 4, 4; what is under way counts for neither.
        let from = 500;
        let at = |place: u64, bytes| (from + place * WIDTH + 7, bytes);
        let found = report(from, [at(0, 3), at(1, 1), at(2, 2), at(2, 1), at(3, 1), at(4, 900)]);
        assert_eq!(found.bytes, [3, 1, 3, 1, 900]);
        assert_eq!(found.variation_by_width, [(WIDTH, 0.5), (2 * WIDTH, 0.0)]);
        assert_eq!((found.bucket_ns, found.variation), (WIDTH, Some(0.5)));
    }

    #[test]
    fn the_order_of_completions_does_not_matter() {
        let mut done: Vec<(u64, u64)> = (0..10_000).map(|k| (k * k * 7 % 80_000_000, 1 + k % 13)).collect();
        let as_drawn = report(0, done.clone());
        done.sort_unstable();
        assert_eq!(report(0, done.clone()), as_drawn);
        done.reverse();
        assert_eq!(report(0, done.clone()), as_drawn);
        let all: u64 = done.iter().map(|pair| pair.1).sum();
        assert_eq!(as_drawn.bytes.iter().sum::<u64>(), all, "no byte is lost");
        assert!(as_drawn.bytes.len() <= crate::BUCKETS_MAX);
    }

    #[test]
    fn without_bytes_nothing_is_said() {
        assert!(report(0, []).is_empty());
        assert_eq!(report(0, [(3, 9)]).variation, None, "one stretch does not vary");
        assert_eq!(report(0, [(9 * WIDTH, 4)]).variation, None, "nothing in whole buckets");
    }
}
