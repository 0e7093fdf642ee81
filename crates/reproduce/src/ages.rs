//! Ages of members at ten replacements, from the erases that a run counted.
//!
//! All members begin new, the oldest in the first slot. Slots wear as the members did that stood in them, and the recursion of
//! [`harmonia_array::lifetimes`] does the rest. Leaves out: what moving shares to other slots and rebuilding a member wear.

use harmonia_array::lifetimes::replacements;

use crate::summary::MemberWear;

/// Replacements that are followed.
pub const REPLACEMENTS: usize = 10;
/// Age above which that of the second oldest member is critical, as `experiments/gaftl-ages.toml` reads the paper.
pub const CRITICAL: f64 = 0.75;
/// Ages are stable that differ from those at the last replacement by no more.
const STABLE_WITHIN: f64 = 0.05;

/// Ages at every replacement, oldest first; `None` where members were not kept or one was never erased.
pub fn by_replacement(members: &[MemberWear]) -> Option<Vec<Vec<f64>>> {
    if members.len() < 2 || members.iter().any(|member| member.erases == 0) {
        return None;
    }
    let rates: Vec<f64> = members.iter().map(|member| member.erases as f64).collect();
    let list = replacements(&vec![0.0; rates.len()], REPLACEMENTS, |_| rates.clone());
    Some(list.into_iter().map(|replacement| replacement.ages).collect())
}

/// At how many replacements the second oldest member is above its critical age.
pub fn critical(ages: &[Vec<f64>]) -> usize {
    ages.iter().filter(|ages| ages[1] > CRITICAL).count()
}

/// The replacement, counted from 1, from which on the second oldest member is about as old as at the last one.
pub fn stable_from(ages: &[Vec<f64>]) -> usize {
    let last = ages.last().map_or(0.0, |ages| ages[1]);
    let unstable = ages.iter().rposition(|ages| (ages[1] - last).abs() > STABLE_WITHIN);
    unstable.map_or(1, |index| index + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wear(erases: &[u64]) -> Vec<MemberWear> {
        erases.iter().map(|&erases| MemberWear { erases, ..MemberWear::default() }).collect()
    }

    /// Slots wear 2, 1 and 1: the ages of the second are 1/2, 3/4, 3/8 by hand.
    #[test]
    fn erases_are_the_rates_of_slots() {
        let ages = by_replacement(&wear(&[200, 100, 100])).expect("all were erased");
        let seconds: Vec<f64> = ages.iter().take(3).map(|ages| ages[1]).collect();
        assert!(seconds.iter().zip([0.5, 0.75, 0.375]).all(|(age, by_hand)| (age - by_hand).abs() < 1e-12));
        assert_eq!(ages.len(), REPLACEMENTS);
        assert!(by_replacement(&wear(&[200, 0])).is_none() && by_replacement(&[]).is_none());
    }

    #[test]
    fn members_that_wear_alike_are_critical_at_every_replacement_until_they_are_new() {
        let ages = |seconds: &[f64]| -> Vec<Vec<f64>> { seconds.iter().map(|age| vec![1.0, *age]).collect() };
        assert_eq!(critical(&ages(&[0.8, 0.75, 0.76, 0.1])), 2);
        assert_eq!(stable_from(&ages(&[0.5, 0.9, 0.64, 0.66, 0.65])), 3);
        assert_eq!(stable_from(&ages(&[0.6, 0.62, 0.61])), 1);
    }
}
