//! What claims ask of the ages of members at their replacements ([`replacing`](crate::replacing)).

use crate::summary::Replaced;

/// Age above which that of the second oldest member is critical, as `experiments/gaftl-ages.toml` reads the paper.
pub const CRITICAL: f64 = 0.75;
/// Ages are stable that differ from those at the last replacement by no more.
const STABLE_WITHIN: f64 = 0.05;

/// At how many replacements the second oldest member is above its critical age; `None` without replacements.
pub fn critical(replaced: &[Replaced]) -> Option<usize> {
    let seconds = seconds(replaced)?;
    Some(seconds.into_iter().filter(|&age| age > CRITICAL).count())
}

/// The replacement, counted from 1, from which on the second oldest member is about as old as at the last one; `None` without
/// replacements.
pub fn stable_from(replaced: &[Replaced]) -> Option<usize> {
    let seconds = seconds(replaced)?;
    let last = *seconds.last()?;
    let unstable = seconds.iter().rposition(|age| (age - last).abs() > STABLE_WITHIN);
    Some(unstable.map_or(1, |index| index + 2))
}

/// Ages of the second oldest member; `None` without replacements, or where there is no second.
fn seconds(replaced: &[Replaced]) -> Option<Vec<f64>> {
    let seconds: Option<Vec<f64>> = replaced.iter().map(|one| one.ages.get(1).copied()).collect();
    seconds.filter(|seconds| !seconds.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_of_the_second_oldest_are_critical_above_a_bound_and_stable_near_the_last() {
        let replaced = |seconds: &[f64]| -> Vec<Replaced> {
            let one = |&second: &f64| Replaced { ages: vec![1.0, second, 0.1], ..Replaced::default() };
            seconds.iter().map(one).collect()
        };
        assert_eq!(critical(&replaced(&[0.8, 0.75, 0.76, 0.1])), Some(2));
        assert_eq!(stable_from(&replaced(&[0.5, 0.9, 0.64, 0.66, 0.65])), Some(3));
        assert_eq!(stable_from(&replaced(&[0.6, 0.62, 0.61])), Some(1));
        assert_eq!((critical(&[]), stable_from(&[])), (None, None));
        let alone = [Replaced { ages: vec![1.0], ..Replaced::default() }];
        assert_eq!((critical(&alone), stable_from(&alone)), (None, None));
    }
}
