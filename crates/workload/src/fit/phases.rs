//! A trace cut into phases of steady rate and steady shares of operations.
//!
//! Every request begins as a phase of its own. When there are too many, neighbours are joined whose difference says least:
//! the loss of a pair is how much less likely its gaps and operations are as one phase (exponential gaps, independent
//! operations) than as two. So memory is bounded, and cuts lie where the load changes, a burst of seconds in a day of
//! silence as well as a slow drift.

use harmonia_types::{Operation, SimDuration};

use crate::{Arrival, Phase};

/// Phases a scenario has at most.
pub(super) const PHASES_MAX: usize = 1000;
/// Requests a phase has at least, on average: with fewer a fit would be the trace itself.
const REQUESTS_EACH: u64 = 16;
/// Phases that are kept while a trace is read.
const KEPT: usize = 4 * PHASES_MAX;
/// One in so many pairs is joined at a time, so that what is joined is compared again with what is beside it.
const JOINED: usize = 8;
/// Gaps are told apart from this on, in ns: devices take longer for anything.
const FINEST_NS: f64 = 10_000.0;

/// Requests that came alike.
#[derive(Debug, Clone, Copy)]
struct Part {
    gaps_ns: f64,
    /// Reads, writes, trims.
    kinds: [u64; 3],
}

impl Part {
    fn requests(&self) -> u64 {
        self.kinds.iter().sum()
    }

    fn with(&self, other: &Part) -> Part {
        let kinds = std::array::from_fn(|kind| self.kinds[kind] + other.kinds[kind]);
        Part { gaps_ns: self.gaps_ns + other.gaps_ns, kinds }
    }

    /// How unlikely it is, up to what joining does not change.
    fn surprise(&self) -> f64 {
        let requests = self.requests() as f64;
        let of_kind = |&count: &u64| match count {
            0 => 0.0,
            count => count as f64 * libm::log(requests / count as f64),
        };
        let gaps = requests * libm::log(self.gaps_ns / requests + FINEST_NS);
        gaps + self.kinds.iter().map(of_kind).sum::<f64>()
    }
}

/// The phases so far.
#[derive(Debug, Default)]
pub(super) struct Phases(Vec<Part>);

impl Phases {
    pub(super) fn add(&mut self, gap_ns: u64, operation: Operation) {
        let kind = match operation {
            Operation::Read => 0,
            Operation::Write => 1,
            Operation::Trim | Operation::Flush => 2,
        };
        let mut kinds = [0; 3];
        kinds[kind] = 1;
        self.0.push(Part { gaps_ns: gap_ns as f64, kinds });
        if self.0.len() >= 2 * KEPT {
            self.join(KEPT);
        }
    }

    /// The arrivals, and for reads, writes and trims how many each phase has.
    pub(super) fn fit(&mut self) -> (Arrival, [Vec<u64>; 3]) {
        let requests: u64 = self.0.iter().map(Part::requests).sum();
        self.join(PHASES_MAX.min((requests / REQUESTS_EACH) as usize).max(1));
        let gap = |part: &Part| SimDuration((part.gaps_ns / part.requests() as f64).round() as u64);
        let phases = self.0.iter().map(|part| Phase { gap: gap(part), count: part.requests() }).collect();
        let counts = std::array::from_fn(|kind| self.0.iter().map(|part| part.kinds[kind]).collect());
        (Arrival::Phases(phases), counts)
    }

    /// Joins neighbours until there are no more than `most`.
    fn join(&mut self, most: usize) {
        while self.0.len() > most {
            let loss =
                |pair: &[Part]| pair[0].with(&pair[1]).surprise() - pair[0].surprise() - pair[1].surprise();
            let losses: Vec<f64> = self.0.windows(2).map(loss).collect();
            let mut order: Vec<usize> = (0..losses.len()).collect();
            order.sort_unstable_by(|&a, &b| losses[a].total_cmp(&losses[b]).then(a.cmp(&b)));
            let wanted = (self.0.len() - most).min(self.0.len().div_ceil(JOINED));
            self.join_pairs(&order, wanted);
        }
    }

    /// Joins the first so many of these pairs that have no phase in common.
    fn join_pairs(&mut self, order: &[usize], wanted: usize) {
        let mut into = vec![false; self.0.len() + 1];
        let mut taken = vec![false; self.0.len() + 1];
        let mut joined = 0;
        for &pair in order {
            if joined == wanted {
                break;
            }
            if !taken[pair] && !taken[pair + 1] {
                (taken[pair], taken[pair + 1], into[pair + 1]) = (true, true, true);
                joined += 1;
            }
        }
        let mut parts: Vec<Part> = Vec::with_capacity(self.0.len());
        for (index, part) in self.0.iter().enumerate() {
            match parts.last_mut() {
                Some(last) if into[index] => *last = last.with(part),
                _ => parts.push(*part),
            }
        }
        self.0 = parts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quiet time, a burst of writes, a quiet time: however long, three rates and two mixtures.
    #[test]
    fn cuts_lie_where_the_load_changes() {
        let mut phases = Phases::default();
        for i in 0..60_000u64 {
            let is_burst = (20_000..40_000).contains(&i);
            let operation = if is_burst || i % 3 == 0 { Operation::Write } else { Operation::Read };
            phases.add(if is_burst { 20_000 + i % 7 } else { 1_000_000 + i * 7919 % 1000 }, operation);
        }
        phases.join(3);
        let gap = |part: &Part| (part.gaps_ns / part.requests() as f64 / 1000.0).round() as u64;
        for (part, expected) in phases.0.iter().zip([1000, 20, 1000]) {
            assert_eq!(gap(part), expected, "{phases:?}");
            assert!(part.requests().abs_diff(20_000) < 10, "{phases:?}");
        }
    }

    #[test]
    fn nothing_is_lost_by_joining() {
        let mut phases = Phases::default();
        let mut sum = 0.0;
        for i in 0..50_000u64 {
            let gap = i * 7919 % 100_003;
            sum += gap as f64;
            phases.add(gap, if i % 5 == 0 { Operation::Read } else { Operation::Write });
        }
        let (Arrival::Phases(list), counts) = phases.fit() else { panic!("phases") };
        assert_eq!(list.len(), PHASES_MAX);
        assert_eq!(counts.map(|counts| counts.iter().sum::<u64>()), [10_000, 40_000, 0]);
        let lasts: f64 = list.iter().map(|phase| (phase.gap.0 * phase.count) as f64).sum();
        assert!((lasts / sum - 1.0).abs() < 1e-3, "{lasts}, not {sum}");
    }
}
