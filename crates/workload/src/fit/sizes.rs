//! Sizes of requests, each counted, as choices a scenario can hold.

use std::collections::BTreeMap;

use harmonia_types::Bytes;

use super::ruler::Repeats;
use crate::{Choices, SizeDistribution};

/// Sizes that are told apart while a trace is read; later ones are counted by their octave.
const TOLD_APART: usize = 1 << 16;
/// Sizes a scenario names if there are no more.
const NAMED: usize = 40;
/// Of more sizes so many are named, those with the most requests. The others are two for each octave.
const COMMONEST: usize = 24;

/// How often each size occurs.
#[derive(Debug, Default)]
pub(super) struct SizeHistogram {
    exact: BTreeMap<Bytes, u64>,
    /// Number and sum of the others, by octave.
    rest: BTreeMap<u32, (u64, u128)>,
}

impl SizeHistogram {
    pub(super) fn add(&mut self, size: Bytes) {
        if let Some(count) = self.exact.get_mut(&size) {
            *count += 1;
        } else if self.exact.len() < TOLD_APART {
            self.exact.insert(size, 1);
        } else {
            add_to(&mut self.rest, size, 1);
        }
    }

    /// A distribution with these requests and, within a unit of theirs for each octave, these bytes.
    pub(super) fn fit(&self, repeats: &Repeats<Bytes>) -> SizeDistribution {
        if let (1, true, Some((&mean, _))) =
            (self.exact.len(), self.rest.is_empty(), self.exact.iter().next())
        {
            return SizeDistribution::Fixed { mean };
        }
        let counted = self.named();
        let persistence = repeats.persistence(counted.values().copied());
        let (values, counts) = counted.into_iter().unzip();
        SizeDistribution::Choices(Choices { values, counts, persistence: rounded(persistence) })
    }

    /// Not more sizes than a scenario should name.
    fn named(&self) -> BTreeMap<Bytes, u64> {
        if self.rest.is_empty() && self.exact.len() <= NAMED {
            return self.exact.clone();
        }
        let mut sizes: Vec<(Bytes, u64)> = self.exact.iter().map(|(&size, &count)| (size, count)).collect();
        // Of equals the smaller.
        sizes.sort_unstable_by_key(|&(size, count)| (std::cmp::Reverse(count), size));
        let (common, others) = sizes.split_at(COMMONEST.min(sizes.len()));
        let mut named: BTreeMap<Bytes, u64> = common.iter().copied().collect();
        let mut octaves = self.rest.clone();
        others.iter().for_each(|&(size, count)| add_to(&mut octaves, size, count));
        let unit = if self.rest.is_empty() { self.unit() } else { 1 };
        for (count, sum) in octaves.into_values() {
            for (size, count) in two_of(count, sum, unit).into_iter().filter(|&(_, count)| count > 0) {
                *named.entry(size).or_default() += count;
            }
        }
        named
    }

    /// What all sizes are multiples of.
    fn unit(&self) -> Bytes {
        self.exact.keys().fold(0, |unit, &size| common_divisor(unit, size)).max(1)
    }
}

fn add_to(octaves: &mut BTreeMap<u32, (u64, u128)>, size: Bytes, count: u64) {
    let octave = octaves.entry(size.checked_ilog2().unwrap_or(0)).or_default();
    octave.0 += count;
    octave.1 += u128::from(size) * u128::from(count);
}

/// Two neighbouring multiples of `unit`, with counts that have this sum within half a unit.
fn two_of(count: u64, sum: u128, unit: Bytes) -> [(Bytes, u64); 2] {
    let (count_wide, unit_wide) = (u128::from(count), u128::from(unit));
    let lower = (sum / count_wide / unit_wide * unit_wide).max(unit_wide);
    let missing = sum.saturating_sub(lower * count_wide);
    let upper = ((missing + unit_wide / 2) / unit_wide).min(count_wide) as u64;
    [(lower as Bytes, count - upper), (lower as Bytes + unit, upper)]
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// To three digits: what a scenario shows is what it does.
pub(super) fn rounded(share: f64) -> f64 {
    (share * 1000.0).floor() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sizes_have_the_sum_of_many() {
        // 700 of 5 units and 300 of 6.
        assert_eq!(two_of(1000, 1000 * 512 * 53 / 10, 512), [(2560, 700), (3072, 300)]);
        assert_eq!(two_of(3, 12288, 4096), [(4096, 3), (8192, 0)]);
    }

    #[test]
    fn many_sizes_are_few_of_the_same_bytes() {
        let mut histogram = SizeHistogram::default();
        let mut bytes = 0;
        for i in 0..10_000u64 {
            // A heavy tail: one in a thousand is of megabytes.
            let size = if i % 1000 == 0 { (1 + i / 1000) << 20 } else { (1 + i * 7919 % 997) * 512 };
            bytes += size;
            histogram.add(size);
        }
        let SizeDistribution::Choices(choices) = histogram.fit(&Repeats::default()) else {
            panic!("choices")
        };
        assert!(choices.values.len() < 80, "{}", choices.values.len());
        assert_eq!(choices.cards(), 10_000);
        let fitted: u64 = choices.values.iter().zip(&choices.counts).map(|(size, count)| size * count).sum();
        assert!((fitted as f64 / bytes as f64 - 1.0).abs() < 1e-5, "{fitted}, not {bytes}");
    }
}
