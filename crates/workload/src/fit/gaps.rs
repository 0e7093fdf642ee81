//! Gaps between arrivals, in classes, as an arrival process.

use harmonia_types::SimDuration;

use super::ruler::Repeats;
use super::sizes::rounded;
use crate::{Arrival, Choices};

const NS_PER_S: f64 = 1e9;

const CLASSES_AN_OCTAVE: u32 = 8;
/// So many classes are one in a scenario.
const JOINED: usize = 4;
/// Rates a scenario takes, in requests a second.
const RATE_MAX: f64 = 1e9;
/// Gaps that vary less are equal.
const FIXED_CV: f64 = 0.01;
/// Gaps that vary like this, and do not look back, are poisson.
const POISSON_CV: std::ops::RangeInclusive<f64> = 0.95..=1.05;
const POISSON_PERSISTENCE: f64 = 0.02;

/// Gaps by their length, in classes of eight an octave.
#[derive(Debug)]
pub(super) struct GapClasses {
    /// Number and sum in ns.
    classes: Vec<(u64, f64)>,
    repeats: Repeats<usize>,
}

impl Default for GapClasses {
    fn default() -> Self {
        let classes = vec![(0, 0.0); (64 * CLASSES_AN_OCTAVE) as usize];
        GapClasses { classes, repeats: Repeats::default() }
    }
}

impl GapClasses {
    pub(super) fn add(&mut self, gap_ns: u64) {
        let index = class_of(gap_ns);
        let class = &mut self.classes[index];
        class.0 += 1;
        class.1 += gap_ns as f64;
        self.repeats.add(index / JOINED);
    }

    /// A process with these gaps, of which `cv` is the coefficient of variation.
    pub(super) fn fit(&self, cv: Option<f64>) -> Result<Arrival, String> {
        let (count, sum_ns) = self.classes.iter().fold((0, 0.0), |(n, s), class| (n + class.0, s + class.1));
        let Some(cv) = cv.filter(|_| count > 0) else {
            return Err("has no span: without gaps between arrivals there is no rate to fit".into());
        };
        let rate = NS_PER_S * count as f64 / sum_ns;
        if rate >= RATE_MAX {
            return Err(format!(
                "has {rate:.0} requests a second, expected fewer than {RATE_MAX:.0}: is the time unit right?"
            ));
        }
        let choices = self.choices();
        Ok(match cv {
            cv if cv < FIXED_CV => Arrival::Fixed { rate },
            cv if POISSON_CV.contains(&cv) && choices.persistence < POISSON_PERSISTENCE => {
                Arrival::Poisson { rate }
            }
            _ => Arrival::Gaps(choices),
        })
    }

    /// The mean gap of each half octave.
    fn choices(&self) -> Choices<SimDuration> {
        let joined = self.classes.chunks(JOINED).map(|classes| {
            classes.iter().fold((0, 0.0), |(count, sum), class| (count + class.0, sum + class.1))
        });
        let joined: Vec<(u64, f64)> = joined.filter(|&(count, _)| count > 0).collect();
        let persistence = self.repeats.persistence(joined.iter().map(|&(count, _)| count));
        let mean = |&(count, sum_ns): &(u64, f64)| SimDuration((sum_ns / count as f64).round() as u64);
        Choices {
            values: joined.iter().map(mean).collect(),
            counts: joined.iter().map(|&(count, _)| count).collect(),
            persistence: rounded(persistence),
        }
    }
}

/// The class of a gap: its octave, and the eighth of the octave.
fn class_of(gap_ns: u64) -> usize {
    let Some(octave) = gap_ns.checked_ilog2() else { return 0 };
    // The three bits behind the leading one.
    let eighth = if octave >= 3 { (gap_ns >> (octave - 3)) & 7 } else { (gap_ns << (3 - octave)) & 7 };
    (octave * CLASSES_AN_OCTAVE) as usize + eighth as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_and_narrow() {
        let mut last = 0;
        for gap in (0..5000).chain([1 << 40, u64::MAX]) {
            let class = class_of(gap);
            assert!(class >= last && class < (64 * CLASSES_AN_OCTAVE) as usize, "{gap}");
            last = class;
        }
        assert_ne!(class_of(1000), class_of(1130));
    }

    #[test]
    fn choices_last_as_long_as_the_gaps() {
        let mut gaps = GapClasses::default();
        let mut sum = 0;
        for i in 0..10_000u64 {
            let gap = if i % 100 == 0 { 1_000_000_000 + i } else { 1000 + i * 7919 % 9000 };
            sum += gap;
            gaps.add(gap);
        }
        let choices = gaps.choices();
        let fitted: u64 = choices.values.iter().zip(&choices.counts).map(|(gap, count)| gap.0 * count).sum();
        assert!((fitted as f64 / sum as f64 - 1.0).abs() < 1e-6, "{fitted}, not {sum}");
        assert_eq!(choices.cards(), 10_000);
    }
}
