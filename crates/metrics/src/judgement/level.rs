//! How sure a difference must be before it is called one.
//!
//! A comparison asks many questions at once: four or five figures, each of every variant against the best and against the
//! baseline. All answers together should hold with 95%, so each interval of a difference is given an equal part of the 5%
//! (Bonferroni; for comparisons with the best as many parts as there are other variants are enough: Hsu, Annals of
//! Statistics 12, 1984).
//!
//! Seeds may be added until the answer is clear. Who looks more often is wrong more often, so the 5% are spent in advance
//! on a fixed row of looks: half on results of up to 10 seeds, a quarter on up to 20, an eighth on up to 40, and so on. A
//! run may stop by what it sees at exactly 10, 20, 40, .. seeds, and at any number for another reason, such as time.
//! Thus the level depends on the number of seeds alone, and the same number asked for outright gives the same intervals.

use crate::interval::ERROR;
use crate::report::Report;

/// Figures that every comparison names winners of.
pub const FIGURES: u32 = 4;
/// A variant needs so many requests, all seeds together, to take part in a verdict on the 99.9th percentile: it rests on one
/// request in a thousand, and these come in bunches, a collection each.
pub const P999_REQUESTS_MIN: u64 = 1_000_000;
/// Seeds of the first look at which a run may stop by what it sees.
pub const FIRST_LOOK: u64 = 10;

/// The probability with which the interval of one difference may miss, in a comparison of so many variants and figures.
pub fn difference_error(variants: usize, seeds: usize, figures: u32) -> f64 {
    let others = variants.saturating_sub(1).max(1) as f64;
    ERROR / f64::from(figures) / others * spent(seeds as u64)
}

/// Figures that the comparison of these runs names winners of: the 99.9th percentile is one where enough was measured.
pub fn figures(runs: &[Report], seeds: usize) -> u32 {
    FIGURES + u32::from(runs.chunks(seeds).filter(|runs| !runs[0].is_ideal() && has_p999(runs)).count() > 1)
}

/// The probability with which the interval of one difference may miss, where so many pairs of variants like this one are
/// compared with each other, pair by pair.
pub fn pair_error(one: &[Report], other: &[Report], pairs: usize) -> f64 {
    let measured = |runs: &&[Report]| runs.first().is_some_and(|run| !run.is_ideal()) && has_p999(runs);
    let figures = FIGURES + u32::from([one, other].iter().filter(|runs| measured(runs)).count() > 1);
    difference_error(pairs + 1, one.len().max(other.len()), figures)
}

/// Whether one variant's runs are enough for a verdict on its 99.9th percentile.
pub(super) fn has_p999(runs: &[Report]) -> bool {
    runs.iter().map(|run| run.host.requests).sum::<u64>() >= P999_REQUESTS_MIN
}

/// The part of the error that is spent on a look at so many seeds. One seed is no look: its intervals are of batches.
fn spent(seeds: u64) -> f64 {
    let (mut part, mut most) = (0.5, FIRST_LOOK);
    if seeds <= 1 {
        return 1.0;
    }
    while most < seeds {
        (part, most) = (part / 2.0, most.saturating_mul(2));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_shared_by_figures_variants_and_looks() {
        let cases = [
            (2, 1, 0.0125),
            (5, 1, 0.003125),
            (2, 2, 0.00625),
            (2, 10, 0.00625),
            (2, 11, 0.003125),
            (2, 20, 0.003125),
            (2, 40, 0.0015625),
            (1, 1, 0.0125),
        ];
        for (variants, seeds, error) in cases {
            assert_eq!(
                difference_error(variants, seeds, FIGURES),
                error,
                "{variants} variants, {seeds} seeds"
            );
        }
    }

    #[test]
    fn all_looks_together_spend_no_more_than_there_is() {
        let looks = (0..40).map(|doublings| spent(FIRST_LOOK << doublings)).sum::<f64>();
        assert!(looks <= 1.0, "{looks}");
    }
}
