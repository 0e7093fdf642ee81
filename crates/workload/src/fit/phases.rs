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
    /// How unlikely it is, up to what joining does not change.
    surprise: f64,
    /// What joining it with the next one loses; NaN until somebody asks.
    loss: f64,
}

impl Part {
    fn new(gaps_ns: f64, kinds: [u64; 3]) -> Part {
        let requests = kinds.iter().sum::<u64>() as f64;
        // Of one kind only there is nothing to tell.
        let of_kind = |&count: &u64| match count as f64 {
            count if count == 0.0 || count == requests => 0.0,
            count => count * libm::log(requests / count),
        };
        let gaps = requests * libm::log(gaps_ns / requests + FINEST_NS);
        Part { gaps_ns, kinds, surprise: gaps + kinds.iter().map(of_kind).sum::<f64>(), loss: f64::NAN }
    }

    fn requests(&self) -> u64 {
        self.kinds.iter().sum()
    }

    fn with(&self, other: &Part) -> Part {
        let kinds = std::array::from_fn(|kind| self.kinds[kind] + other.kinds[kind]);
        Part::new(self.gaps_ns + other.gaps_ns, kinds)
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
        self.0.push(Part::new(gap_ns as f64, kinds));
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
        // The loss, and behind it the number of the pair.
        let mut order: Vec<u128> = Vec::with_capacity(self.0.len());
        while self.0.len() > most {
            let wanted = (self.0.len() - most).min(self.0.len().div_ceil(JOINED));
            order.clear();
            order.extend(
                (0..self.0.len() - 1).map(|pair| u128::from(in_order(self.loss(pair))) << 64 | pair as u128),
            );
            // A pair that is joined keeps two others from it at most.
            let looked_at = order.len().min(3 * wanted);
            if looked_at < order.len() {
                order.select_nth_unstable(looked_at);
            }
            order[..looked_at].sort_unstable();
            self.join_pairs(order[..looked_at].iter().map(|key| *key as u32 as usize), wanted);
        }
    }

    /// What joining this one with the next loses. Kept, because most pairs stay as they are from one look to the next.
    fn loss(&mut self, pair: usize) -> f64 {
        let [one, other] = [self.0[pair], self.0[pair + 1]];
        if one.loss.is_nan() {
            self.0[pair].loss = one.with(&other).surprise - one.surprise - other.surprise;
        }
        self.0[pair].loss
    }

    /// Joins the first so many of these pairs that have no phase in common.
    fn join_pairs(&mut self, order: impl Iterator<Item = usize>, wanted: usize) {
        let mut into = vec![false; self.0.len() + 1];
        let mut taken = vec![false; self.0.len() + 1];
        let mut joined = 0;
        for pair in order {
            if joined == wanted {
                break;
            }
            if !taken[pair] && !taken[pair + 1] {
                (taken[pair], taken[pair + 1], into[pair + 1]) = (true, true, true);
                joined += 1;
            }
        }
        let mut kept = 0;
        for (index, &joins) in into.iter().enumerate().take(self.0.len()) {
            let part = self.0[index];
            if joins {
                self.0[kept - 1] = self.0[kept - 1].with(&part);
                if let Some(before) = kept.checked_sub(2) {
                    self.0[before].loss = f64::NAN;
                }
            } else {
                self.0[kept] = part;
                kept += 1;
            }
        }
        self.0.truncate(kept);
    }
}

/// A number that sorts as [`f64::total_cmp`] does.
fn in_order(value: f64) -> u64 {
    let bits = value.to_bits();
    let negative = (bits.cast_signed() >> 63).cast_unsigned();
    bits ^ (negative | 1 << 63)
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
