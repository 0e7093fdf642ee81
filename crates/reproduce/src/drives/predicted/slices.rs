//! How far figures vary within a run: it is cut into slices of equal time, and a figure of each is one sample.
//!
//! The report has intervals of some percentiles, and none of the median of reads or of rates. All reads count here. The probe's are eight in
//! ten and more up to 130,000 writes a second, and the loaders' are like them.
//!
//! Left out: what another aged drive would do, and what neighbouring slices have in common, which at half a second and more is little.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use harmonia_metrics::{Interval, Observer};
use harmonia_run::{Observe, RunId};
use harmonia_types::{Completion, DeviceId, Operation, SimTime};

/// Slices of a run.
const SLICES: usize = 10;

/// Half the widths of 95% intervals.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Halves {
    /// Of p50, p99 and p99.9 of reads. Unit: ns.
    pub read: Option<[f64; 3]>,
    /// Of writes done in a second.
    pub writes: Option<f64>,
}

/// Watches runs, each by the place of its variant.
#[derive(Default)]
pub struct Slices(Mutex<BTreeMap<usize, Halves>>);

impl Slices {
    /// Of the run of a variant; nothing if it did not end.
    pub fn of(&self, variant: usize) -> Halves {
        let halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        halves.get(&variant).copied().unwrap_or_default()
    }
}

impl Observe for Slices {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Watch { all: self, variant: run.variant, from: SimTime(0), done: Done::default() }))
    }
}

struct Watch<'a> {
    all: &'a Slices,
    variant: usize,
    from: SimTime,
    done: Done,
}

/// What completed, with when it did. Unit: ns.
#[derive(Debug, Clone, Default)]
struct Done {
    /// And how long it took.
    reads: Vec<(u64, u64)>,
    writes: Vec<u64>,
}

impl Observer for Watch<'_> {
    fn begin(&mut self, from: SimTime, _: usize) {
        self.from = from;
    }

    fn completion(&mut self, completion: &Completion) {
        let at = completion.finish.0;
        match completion.operation {
            Operation::Read => self.done.reads.push((at, completion.response().0)),
            Operation::Write => self.done.writes.push(at),
            Operation::Trim | Operation::Flush => {}
        }
    }

    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}

    fn end(&mut self, end: SimTime) {
        let halves = self.done.halves(self.from.0, end.0);
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).insert(self.variant, halves);
    }
}

impl Done {
    fn halves(&self, from: u64, end: u64) -> Halves {
        let length = (end.saturating_sub(from) / SLICES as u64).max(1);
        let slice = |at: u64| ((at.saturating_sub(from) / length) as usize).min(SLICES - 1);
        let mut reads: [Vec<u64>; SLICES] = Default::default();
        for &(at, response) in &self.reads {
            reads[slice(at)].push(response);
        }
        let mut writes = [0.0; SLICES];
        for &at in &self.writes {
            writes[slice(at)] += 1e9 / length as f64;
        }
        reads.iter_mut().for_each(|reads| reads.sort_unstable());
        let of_reads = |share: f64| {
            let each: Option<Vec<f64>> = reads.iter().map(|reads| percentile(reads, share)).collect();
            half(&each?)
        };
        let all = || Some([of_reads(0.5)?, of_reads(0.99)?, of_reads(0.999)?]);
        Halves { read: all(), writes: half(&writes) }
    }
}

fn half(samples: &[f64]) -> Option<f64> {
    Interval::of(samples)?.half_width
}

/// Of values in ascending order.
fn percentile(sorted: &[u64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).map(|&value| value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten slices of 100 ns with one write each; reads of the slice k take 100 + k, so their means spread as 0 to 9 do: the standard deviation
    /// is 3.0277, and Student's t of nine degrees is 2.2622.
    #[test]
    fn figures_of_slices_are_samples() {
        let mut done = Done::default();
        for slice in 0..10 {
            done.writes.push(1_000 + slice * 100);
            done.reads.extend([(1_000 + slice * 100, 100 + slice); 3]);
        }
        let halves = done.halves(1_000, 2_000);
        assert_eq!(halves.writes, Some(0.0));
        let expected = 2.2622 * 3.0277 / 10f64.sqrt();
        let read = halves.read.expect("reads in each slice");
        assert!(read.iter().all(|half| (half - expected).abs() < 1e-3), "{read:?}");
    }

    #[test]
    fn a_slice_without_reads_leaves_no_interval() {
        let done = Done { reads: vec![(1_000, 100)], writes: vec![1_000, 1_999] };
        let halves = done.halves(1_000, 2_000);
        assert_eq!(halves.read, None);
        assert!(halves.writes.is_some_and(|half| half > 0.0));
    }

    #[test]
    fn a_percentile_is_a_value_that_was_seen() {
        let sorted: Vec<u64> = (1..=1_000).collect();
        assert_eq!(
            [0.5, 0.99, 0.999].map(|share| percentile(&sorted, share)),
            [500.0, 990.0, 999.0].map(Some)
        );
        assert_eq!(percentile(&[], 0.5), None);
    }
}
