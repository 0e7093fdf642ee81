//! Which combinations of values are visited: a design of experiments over axes of so many values each.
//!
//! * *grid*: all combinations, the last axis varying fastest;
//! * *random*: so many different combinations, each as likely as any other;
//! * *lhs*: a Latin hypercube. With n samples each axis is cut into n parts of equal size, and each part has one sample.
//!   Parts are paired at random. Source: McKay, Beckman and Conover, Technometrics 21 (1979), section 2.
//!
//! Random numbers come from streams named after the method and the axis, so another axis leaves the parts of the others where
//! they are. Leaves out: designs that spread samples over several axes at once, such as maximin.

use std::collections::BTreeSet;

use harmonia_engine::Rng;

/// One index of a value for every axis.
pub(crate) type Combination = Vec<usize>;

/// How many combinations there are; `None` beyond 2^64.
pub(crate) fn size(sizes: &[usize]) -> Option<u64> {
    sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size as u64))
}

/// All combinations.
pub(crate) fn grid(sizes: &[usize]) -> Vec<Combination> {
    let mut all = vec![Vec::new()];
    for &size in sizes {
        let extend = |start: &Combination| {
            let start = start.clone();
            (0..size).map(move |index| [&start[..], &[index]].concat())
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// `samples` different combinations, in the order in which they were drawn; there must be as many.
pub(crate) fn random(sizes: &[usize], samples: usize, seed: u64) -> Vec<Combination> {
    let mut rng = Rng::stream(seed, "sweep random");
    let all = size(sizes).filter(|&all| all <= 4 * samples as u64);
    if let Some(all) = all {
        let mut order: Vec<u64> = (0..all).collect();
        shuffle(&mut order, &mut rng);
        return order.into_iter().take(samples).map(|index| place(sizes, index)).collect();
    }
    // At most every fourth draw has been drawn before.
    let (mut seen, mut drawn) = (BTreeSet::new(), Vec::new());
    while drawn.len() < samples {
        let one: Combination = sizes.iter().map(|&size| rng.below(size as u64) as usize).collect();
        if seen.insert(one.clone()) {
            drawn.push(one);
        }
    }
    drawn
}

/// A Latin hypercube of `samples`; what falls on the same values is there once.
pub(crate) fn latin_hypercube(axes: &[(&str, usize)], samples: usize, seed: u64) -> Vec<Combination> {
    let columns = axes.iter().map(|&(key, size)| {
        let mut rng = Rng::stream(seed, &format!("sweep lhs {key}"));
        let mut parts: Vec<u64> = (0..samples as u64).collect();
        shuffle(&mut parts, &mut rng);
        let within = |part: u64| {
            let share = (part as f64 + rng.unit()) / samples as f64;
            ((share * size as f64) as usize).min(size - 1)
        };
        parts.into_iter().map(within).collect::<Vec<usize>>()
    });
    let columns: Vec<Vec<usize>> = columns.collect();
    let mut seen = BTreeSet::new();
    let sample = |at: usize| columns.iter().map(|column| column[at]).collect::<Combination>();
    (0..samples).map(sample).filter(|one| seen.insert(one.clone())).collect()
}

/// The combination with this index in the order of the grid.
fn place(sizes: &[usize], index: u64) -> Combination {
    let mut rest = index;
    let mut places: Combination = sizes
        .iter()
        .rev()
        .map(|&size| {
            let place = rest % size as u64;
            rest /= size as u64;
            place as usize
        })
        .collect();
    places.reverse();
    places
}

fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_all_combinations_the_last_axis_first() {
        assert_eq!(grid(&[2, 3]), [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(grid(&[]), [Vec::<usize>::new()]);
        assert_eq!((0..6).map(|index| place(&[2, 3], index)).collect::<Vec<_>>(), grid(&[2, 3]));
        assert_eq!((size(&[1 << 40, 1 << 40]), size(&[3, 5])), (None, Some(15)));
    }

    #[test]
    fn random_draws_are_different_and_the_same_for_the_same_seed() {
        for (sizes, samples) in [(vec![3, 4], 12), (vec![1000, 1000], 300), (vec![7], 3)] {
            let drawn = random(&sizes, samples, 1);
            let different: BTreeSet<_> = drawn.iter().collect();
            assert_eq!((drawn.len(), different.len()), (samples, samples));
            assert!(drawn.iter().all(|one| one.iter().zip(&sizes).all(|(index, size)| index < size)));
            assert_eq!(drawn, random(&sizes, samples, 1));
            assert_ne!(drawn, random(&sizes, samples, 2));
        }
    }

    /// Each of n parts of every axis has one sample.
    #[test]
    fn a_latin_hypercube_covers_each_axis_evenly() {
        let axes = [("a", 20), ("b", 40), ("c", 2)];
        let drawn = latin_hypercube(&axes, 20, 7);
        let sorted = |axis: usize| {
            let mut column: Vec<usize> = drawn.iter().map(|one| one[axis]).collect();
            column.sort_unstable();
            column
        };
        assert_eq!(sorted(0), (0..20).collect::<Vec<_>>());
        assert!(sorted(1).iter().enumerate().all(|(part, index)| index / 2 == part));
        assert_eq!(sorted(2).iter().filter(|&&index| index == 0).count(), 10);
        let with_more = latin_hypercube(&[("a", 20), ("z", 3)], 20, 7);
        assert!(drawn.iter().zip(&with_more).all(|(one, other)| one[0] == other[0]), "streams have names");
    }

    #[test]
    fn samples_on_the_same_values_are_one() {
        assert_eq!(latin_hypercube(&[("a", 2)], 10, 1).len(), 2);
    }
}
