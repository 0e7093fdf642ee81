//! When members wear out one after the other, by their shares of parity: a recursion, not a simulation.
//!
//! ```text
//! age  1 ┤         ╭ replaced    ╭            ╭
//!        │     ╭───╯         ╭───╯        ╭───╯      a member moves up one slot with every replacement:
//!        │ ╭───╯         ╭───╯        ╭───╯          rates differ by slot, the first one wears fastest
//!      0 ┴─┴─────────────┴────────────┴──────► pages written by the host
//! ```
//!
//! Members are ordered by age, the oldest in the first *slot*. Slots have shares of parity, and so members in them wear at certain
//! rates. When a member is worn out (its age is 1) a new one takes its place, the older ones move up, and the new one takes the last
//! slot. Where single pages are written, a member with the share `p` of the parity of `n` members has `p` of the parity pages and
//! `(1 - p) / (n - 1)` of the data pages, so that its rate is proportional to
//!
//! ```text
//! r(p) = p (n - 1) + (1 - p)
//! ```
//!
//! Once every member has begun in the last slot, ages at a replacement are the same each time. A cycle takes `1 / sum(r)`, and slot
//! `i` is as old as all that was gained in it and behind it: `A_i = sum(r_k, k >= i) / sum(r)`.
//!
//! Rates may be measured instead: erases by slot over a run. Collection moves more or fewer pages on members with much parity, which
//! the closed form does not know. `tests/all/lifetimes.rs` holds both against members of which every erase is simulated.
//!
//! Source: Diff-RAID (Balakrishnan et al., EuroSys 2010), which IEEE Access 2019 takes its ageing from (sections V and VI-C). The
//! controller is ours.
//!
//! Leaves out: what moving parity to its next slot and rebuilding a new member wear, members that fail of anything else, and wear that
//! differs within a member.

/// How fast members wear, in parts of their life per unit of what the host writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wear {
    /// A member without parity.
    pub data: f64,
    /// A member with all of the parity.
    pub parity: f64,
}

impl Wear {
    /// Single-page writes to so many members, in proportion.
    pub fn of_single_pages(members: usize) -> Self {
        Wear { data: 1.0, parity: members as f64 - 1.0 }
    }

    /// The rate of a member with such a share of the parity, from 0 to 1.
    pub fn rate(&self, share: f64) -> f64 {
        self.data + (self.parity - self.data) * share
    }

    /// The rates of slots with such shares.
    pub fn rates(&self, shares: &[f64]) -> Vec<f64> {
        shares.iter().map(|&share| self.rate(share)).collect()
    }
}

/// A member is worn out.
#[derive(Debug, Clone, PartialEq)]
pub struct Replacement {
    /// When, since the beginning. Unit: as that of the rates.
    pub at: f64,
    /// Ages of all members at that moment, oldest first; the first one is replaced.
    pub ages: Vec<f64>,
}

/// The first `count` replacements of members with such ages, oldest first. `rates` says how fast slots wear for such ages, oldest
/// first; it is asked at the beginning and after every replacement.
pub fn replacements(
    ages: &[f64],
    count: usize,
    mut rates: impl FnMut(&[f64]) -> Vec<f64>,
) -> Vec<Replacement> {
    let (mut ages, mut at, mut list) = (ages.to_vec(), 0.0, Vec::with_capacity(count));
    for _ in 0..count {
        ages.sort_unstable_by(|one, other| other.total_cmp(one));
        let rates = rates(&ages);
        let time = |(age, rate): (&f64, &f64)| ((1.0 - age) / rate).max(0.0);
        let next = ages.iter().zip(&rates).map(time).fold(f64::INFINITY, f64::min);
        at += next;
        ages.iter_mut().zip(&rates).for_each(|(age, rate)| *age += rate * next);
        ages.sort_unstable_by(|one, other| other.total_cmp(one));
        list.push(Replacement { at, ages: ages.clone() });
        ages[0] = 0.0;
    }
    list
}

/// Ages at a replacement once these are the same each time, by slot.
pub fn stationary_ages(rates: &[f64]) -> Vec<f64> {
    let sum: f64 = rates.iter().sum();
    (0..rates.len()).map(|slot| rates[slot..].iter().sum::<f64>() / sum).collect()
}

/// Shares of parity with which members of these ages come closest to their targets at the next replacement, when the first one
/// is worn out: shares are 0 or more, sum to 1, and make the sum of the distances least.
///
/// Between now and then a slot gains `x_i = t r(p_i)`. The first one gains what it lacks, all together `t` times the sum of all rates,
/// and each at least `t` times the rate of data. For a given `t` the best gains are what targets lack, as far as that goes. The
/// distance is convex in `t`, since all of this is a linear program.
pub fn shares_towards(ages: &[f64], targets: &[f64], wear: Wear) -> Vec<f64> {
    assert!(ages.len() == targets.len() && ages.len() > 1, "a target for each of two members or more");
    assert!(wear.parity > wear.data && wear.data > 0.0, "parity wears more than data");
    let first = (1.0 - ages[0]).max(f64::EPSILON);
    let (mut low, mut high) = (first / wear.parity, first / wear.data);
    for _ in 0..200 {
        let (one, other) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if gains(ages, targets, wear, one).1 <= gains(ages, targets, wear, other).1 {
            high = other;
        } else {
            low = one;
        }
    }
    let time = (low + high) / 2.0;
    let shares = gains(ages, targets, wear, time).0;
    let shares: Vec<f64> = shares
        .into_iter()
        .map(|gain| ((gain / time - wear.data) / (wear.parity - wear.data)).clamp(0.0, 1.0))
        .collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}

/// The best gains of all slots if the next replacement is after `time`, and how far ages are from their targets then.
fn gains(ages: &[f64], targets: &[f64], wear: Wear, time: f64) -> (Vec<f64>, f64) {
    let members = ages.len() as f64;
    let least = time * wear.data;
    let lacks: Vec<f64> = ages.iter().zip(targets).map(|(age, target)| target - age).collect();
    let first = 1.0 - ages[0];
    let all = time * (wear.data * members + wear.parity - wear.data);
    let mut gains: Vec<f64> = lacks.iter().map(|lack| lack.max(least)).collect();
    gains[0] = first;
    // What is left over is shared alike; what is too much is taken where there is most above the least.
    let left = all - gains.iter().sum::<f64>();
    if left >= 0.0 {
        gains[1..].iter_mut().for_each(|gain| *gain += left / (members - 1.0));
    } else {
        let above: f64 = gains[1..].iter().map(|gain| gain - least).sum();
        let kept = if above > 0.0 { (1.0 + left / above).max(0.0) } else { 0.0 };
        gains[1..].iter_mut().for_each(|gain| *gain = least + (*gain - least) * kept);
    }
    let distance = gains.iter().zip(&lacks).skip(1).map(|(gain, lack)| (gain - lack).abs()).sum();
    (gains, distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: &[f64], other: &[f64], within: f64) -> bool {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| (one - other).abs() <= within)
    }

    /// Four members, 70% and three times 10%: the first wears twice as fast as the others.
    #[test]
    fn rates_follow_shares() {
        let rates = Wear::of_single_pages(4).rates(&[0.7, 0.1, 0.1, 0.1]);
        assert!(near(&rates, &[2.4, 1.2, 1.2, 1.2], 1e-12), "{rates:?}");
        assert!(near(&stationary_ages(&rates), &[1.0, 0.6, 0.4, 0.2], 1e-12));
        assert_eq!(Wear::of_single_pages(5).rates(&[0.2; 5]), [1.6; 5]);
    }

    #[test]
    fn the_first_replacements_by_hand() {
        // Slots wear 2, 1 and 1.
        let list = replacements(&[0.0; 3], 3, |_| vec![2.0, 1.0, 1.0]);
        let expected = [(0.5, [1.0, 0.5, 0.5]), (0.75, [1.0, 0.75, 0.25]), (0.875, [1.0, 0.375, 0.125])];
        for (replacement, (at, ages)) in list.iter().zip(expected) {
            assert!((replacement.at - at).abs() < 1e-12 && near(&replacement.ages, &ages, 1e-12), "{list:?}");
        }
    }

    #[test]
    fn ages_become_stationary() {
        for shares in [[0.6, 0.1, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1, 0.0], [0.96, 0.01, 0.01, 0.01, 0.01]] {
            let rates = Wear::of_single_pages(5).rates(&shares);
            let list = replacements(&[0.0; 5], 200, |_| rates.clone());
            let last = &list[199].ages;
            assert!(near(last, &stationary_ages(&rates), 1e-3), "{last:?} {:?}", stationary_ages(&rates));
            let cycle = list[199].at - list[198].at;
            assert!((cycle * rates.iter().sum::<f64>() - 1.0).abs() < 1e-3, "{cycle}");
        }
    }

    /// Where the targets can be met they are, wherever members are now.
    #[test]
    fn the_controller_meets_targets_that_can_be_met() {
        let wear = Wear::of_single_pages(5);
        for shares in [[0.6, 0.1, 0.1, 0.1, 0.1], [0.2; 5], [0.5, 0.3, 0.0, 0.1, 0.1]] {
            let ages = [0.7, 0.5, 0.4, 0.1, 0.0];
            let rates = wear.rates(&shares);
            let time = (1.0 - ages[0]) / rates[0];
            let targets: Vec<f64> = ages.iter().zip(&rates).map(|(age, rate)| age + rate * time).collect();
            let found = shares_towards(&ages, &targets, wear);
            assert!(near(&found, &shares, 1e-6), "{found:?}, not {shares:?}");
        }
    }

    #[test]
    fn the_controller_comes_closer_than_any_other_shares() {
        let wear = Wear::of_single_pages(4);
        let mut rng = harmonia_engine::Rng::stream(3, "lifetimes");
        for _ in 0..200 {
            let mut ages: Vec<f64> = (0..4).map(|_| 0.9 * rng.unit()).collect();
            ages.sort_unstable_by(|one, other| other.total_cmp(one));
            let targets = stationary_ages(&wear.rates(&[0.7, 0.1, 0.1, 0.1]));
            let distance = |shares: &[f64]| {
                let time = (1.0 - ages[0]) / wear.rate(shares[0]);
                let of = |slot: usize| (ages[slot] + wear.rate(shares[slot]) * time - targets[slot]).abs();
                (1..4).map(of).sum::<f64>()
            };
            let found = shares_towards(&ages, &targets, wear);
            assert!(
                (found.iter().sum::<f64>() - 1.0).abs() < 1e-9 && found.iter().all(|&share| share >= 0.0)
            );
            for _ in 0..300 {
                let draws: Vec<f64> = (0..4).map(|_| rng.exponential(1.0)).collect();
                let sum: f64 = draws.iter().sum();
                let other: Vec<f64> = draws.iter().map(|draw| draw / sum).collect();
                assert!(distance(&found) <= distance(&other) + 1e-6, "{found:?} {other:?} {ages:?}");
            }
        }
    }

    /// Steered from even ages on, members reach the stationary ages at once or as soon as their rates let them.
    #[test]
    fn steered_members_reach_their_targets_sooner() {
        let wear = Wear::of_single_pages(5);
        let shares = [0.6, 0.1, 0.1, 0.1, 0.1];
        let targets = stationary_ages(&wear.rates(&shares));
        let off = |list: &[Replacement]| -> f64 {
            let of = |replacement: &Replacement| {
                replacement.ages.iter().zip(&targets).map(|(age, target)| (age - target).abs()).sum::<f64>()
            };
            list.iter().map(of).sum()
        };
        let steered = replacements(&[0.0; 5], 10, |ages| wear.rates(&shares_towards(ages, &targets, wear)));
        let plain = replacements(&[0.0; 5], 10, |_| wear.rates(&shares));
        assert!(off(&steered) < off(&plain), "{} {}", off(&steered), off(&plain));
        assert!(near(&steered[9].ages, &targets, 1e-3), "{:?} {targets:?}", steered[9].ages);
    }
}
