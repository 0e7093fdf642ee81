//! Searches of literal functions: no simulation, noise from a generator whose seed is the point and the seed.

use std::convert::Infallible;

use super::*;
use crate::verdict::{Doubt, doubts};

/// Uniform in 0 to 1, a function of its numbers (SplitMix64).
fn uniform(numbers: &[u64]) -> f64 {
    let mix = |state: u64, number: &u64| {
        let mut z = (state ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (numbers.iter().fold(1, mix) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Nearly normal, mean 0, standard deviation 1.
fn noise(world: u64, trial: &Trial<'_>) -> f64 {
    let mut numbers = vec![world, trial.seed as u64];
    numbers.extend(trial.point.into_iter().flatten().map(|&index| u64::from(index) + 1));
    let draw = |turn: u64| uniform(&[&numbers[..], &[1000 + turn]].concat());
    (0..12).map(draw).sum::<f64>() - 6.0
}

/// What all points of a seed have in common; pairs cancel it.
fn common(world: u64, seed: usize) -> f64 {
    200.0 * uniform(&[world, 77, seed as u64])
}

fn plan(dimensions: &[Dimension]) -> Plan {
    Plan { dimensions: dimensions.to_vec(), place: vec![Some(0.0); dimensions.len()], seeds: 5, budget: 400 }
}

fn search_of(plan: &Plan, cost: &dyn Fn(&Trial<'_>) -> f64) -> Found {
    let mut oracle = |trials: &[Trial<'_>]| -> Result<Vec<Outcome<f64>>, Infallible> {
        Ok(trials.iter().map(|trial| Outcome::Measured(cost(trial))).collect())
    };
    let found = search(plan, &mut oracle).unwrap_or_else(|never| match never {});
    assert!(found.runs <= plan.budget, "{} runs of {}", found.runs, plan.budget);
    found
}

fn best(found: &Found) -> &Point {
    let best = found.best.expect("a best point");
    found.candidates[best].point.as_ref().expect("a point")
}

/// A bowl over 33 x 17 values whose lowest point is off the first grid.
fn bowl(trial: &Trial<'_>) -> f64 {
    let Some(point) = trial.point else { return 150.0 };
    let (x, y) = (f64::from(point[0]) - 19.0, f64::from(point[1]) - 6.0);
    100.0 + 0.2 * x * x + 0.8 * y * y
}

const PLANE: [Dimension; 2] = [Dimension::Ordered(33), Dimension::Ordered(17)];

#[test]
fn without_noise_the_lowest_point_is_found_to_the_step() {
    let found = search_of(&plan(&PLANE), &bowl);
    assert_eq!(best(&found), &vec![19, 6]);
    assert_eq!(found.stopped, Stopped::Finest);
    assert!(found.runs < 350, "{} runs, while the lattice has 561 points", found.runs);
}

/// In twenty worlds, with noise and with ups and downs of seeds that would hide everything but for the pairs.
#[test]
fn with_noise_the_optimum_is_found_within_what_noise_hides() {
    for world in 0..20 {
        let found =
            search_of(&plan(&PLANE), &|trial| bowl(trial) + noise(world, trial) + common(world, trial.seed));
        let cost = bowl(&Trial { point: Some(best(&found)), seed: 0 });
        assert!(cost < 103.0, "world {world}: {:?} costs {cost}", best(&found));
        assert!(!doubts(&plan(&PLANE), &found).iter().any(|doubt| matches!(doubt, Doubt::NoGain { .. })));
    }
}

#[test]
fn a_flat_function_ends_at_once_and_the_plainest_is_named() {
    let plan = Plan { place: vec![Some(15.0), Some(16.0)], ..plan(&PLANE) };
    let found = search_of(&plan, &|trial| 100.0 + noise(3, trial) + common(3, trial.seed));
    let doubts = doubts(&plan, &found);
    assert!(doubts.iter().any(|doubt| matches!(doubt, Doubt::Flat { .. })), "{doubts:?}");
    assert!(found.plateau.len() > 10, "{:?}", found.plateau);
    let plainest = found.plainest.expect("a plateau has one");
    let point = found.candidates[plainest].point.as_ref().expect("a point");
    assert!(point[0].abs_diff(15) <= 8 && point[1].abs_diff(16) <= 4, "{point:?} lies near (15, 16)");
}

#[test]
fn what_is_exactly_alike_is_flat_and_costs_one_generation() {
    let found = search_of(&plan(&PLANE), &|_| 7.0);
    assert_eq!((found.stopped, found.generations, found.plateau.len()), (Stopped::Even, 1, 25));
    assert_eq!(found.plainest.map(|index| found.candidates[index].point.clone()), Some(Some(vec![0, 0])));
}

/// One point looks splendid with the seeds of the search, and is like the others with any other.
#[test]
fn what_is_good_with_the_seeds_of_the_search_only_is_overfitted() {
    let plan = plan(&PLANE);
    let cost = |trial: &Trial<'_>| {
        let lucky = trial.point.is_some_and(|point| *point == [8, 4]) && trial.seed < 5;
        100.0 + 0.3 * noise(9, trial) - if lucky { 30.0 } else { 0.0 }
    };
    let found = search_of(&plan, &cost);
    assert_eq!(best(&found), &vec![8, 4]);
    let all = doubts(&plan, &found);
    assert!(all.iter().any(|doubt| matches!(doubt, Doubt::GainNotConfirmed { .. })), "{all:?}");
    // The same with a gain that is there at any seed raises no such doubt.
    let honest = |trial: &Trial<'_>| {
        100.0 + 0.3 * noise(9, trial)
            - if trial.point.is_some_and(|point| *point == [8, 4]) { 30.0 } else { 0.0 }
    };
    let all = doubts(&plan, &search_of(&plan, &honest));
    assert!(!all.iter().any(|doubt| matches!(doubt, Doubt::GainNotConfirmed { .. })), "{all:?}");
}

/// Noise that dwarfs all differences: in each of twenty worlds something is warned of.
#[test]
fn where_noise_is_all_there_is_a_search_says_so() {
    for world in 0..20 {
        let plan = plan(&PLANE);
        let found = search_of(&plan, &|trial| 100.0 + 30.0 * noise(world, trial));
        let all = doubts(&plan, &found);
        let warned = |doubt: &Doubt| {
            matches!(doubt, Doubt::Flat { .. } | Doubt::NoGain { .. } | Doubt::GainNotConfirmed { .. })
        };
        assert!(all.iter().any(warned), "world {world}: {all:?}");
    }
}

#[test]
fn choices_are_all_tried_and_ordered_keys_refined_within_them() {
    let dimensions = [Dimension::Choices(3), Dimension::Ordered(33)];
    let cost = |trial: &Trial<'_>| match trial.point.map(|point| (point[0], f64::from(point[1]))) {
        None => 200.0,
        Some((1, x)) => 50.0 + (x - 11.0).abs(),
        Some((_, x)) => 80.0 + (x - 30.0).abs(),
    };
    let found = search_of(&plan(&dimensions), &cost);
    assert_eq!(best(&found), &vec![1, 11]);
    let tried = |choice: u32| {
        found
            .candidates
            .iter()
            .filter(|one| one.point.as_ref().is_some_and(|point| point[0] == choice))
            .count()
    };
    assert!(tried(1) > tried(0) && tried(0) >= 4, "{} and {}", tried(1), tried(0));
}

#[test]
fn refused_points_are_passed_over_and_told() {
    let plan = plan(&PLANE);
    let mut oracle = |trials: &[Trial<'_>]| -> Result<Vec<Outcome<f64>>, Infallible> {
        let outcome = |trial: &Trial<'_>| match trial.point {
            Some(point) if point[0] > 16 => Outcome::Refused("too far to the right".to_owned()),
            _ => Outcome::Measured(bowl(trial)),
        };
        Ok(trials.iter().map(outcome).collect())
    };
    let found = search(&plan, &mut oracle).unwrap_or_else(|never| match never {});
    assert_eq!(best(&found), &vec![16, 6]);
    let refused = |one: &&Candidate| one.fate == Fate::Refused("too far to the right".to_owned());
    assert!(found.candidates.iter().filter(refused).all(|one| one.costs.is_empty()));
    assert!(found.candidates.iter().filter(refused).count() >= 10);
}

#[test]
fn where_everything_is_refused_there_is_no_best() {
    let mut oracle = |trials: &[Trial<'_>]| -> Result<Vec<Outcome<f64>>, Infallible> {
        Ok(trials.iter().map(|_| Outcome::Refused("no".to_owned())).collect())
    };
    let found = search(&plan(&PLANE), &mut oracle).unwrap_or_else(|never| match never {});
    assert_eq!((found.best, found.stopped, found.runs), (None, Stopped::Refused, 0));
    assert!(found.finalists.is_empty());
}

/// The smallest budget still ends with a best point, and no budget is overdrawn.
#[test]
fn any_budget_from_the_least_on_is_kept_and_has_a_best_point() {
    for seeds in [2, 3, 5, 20] {
        let least = least_budget(&PLANE, seeds);
        for budget in [least, least + 1, least + 17, 2 * least, 1000] {
            let plan = Plan { seeds, budget: budget.max(least), ..plan(&PLANE) };
            let found = search_of(&plan, &|trial| bowl(trial) + noise(1, trial));
            assert!(found.best.is_some(), "{seeds} seeds, {budget} runs: {:?}", found.stopped);
            assert!(found.candidates[0].held_out.len() == seeds, "the yardstick is held out too");
        }
    }
}

/// A race that took each point's own seeds for pairs of the leader's could not see through what seeds have in common.
#[test]
fn seeds_are_asked_for_in_pairs() {
    let mut asked: Vec<(Option<Point>, usize)> = Vec::new();
    let mut oracle = |trials: &[Trial<'_>]| -> Result<Vec<Outcome<f64>>, Infallible> {
        asked.extend(trials.iter().map(|trial| (trial.point.cloned(), trial.seed)));
        Ok(trials.iter().map(|trial| Outcome::Measured(bowl(trial) + noise(1, trial))).collect())
    };
    let found = search(&plan(&PLANE), &mut oracle).unwrap_or_else(|never| match never {});
    for candidate in &found.candidates {
        let seeds: Vec<usize> =
            asked.iter().filter(|(point, _)| *point == candidate.point).map(|(_, seed)| *seed).collect();
        let all = candidate.costs.len() + candidate.held_out.len();
        let expected: Vec<usize> =
            (0..candidate.costs.len()).chain(5..5 + candidate.held_out.len()).collect();
        assert_eq!((seeds.len(), seeds), (all, expected), "{:?}", candidate.point);
    }
}

#[test]
fn the_first_grid_is_the_finest_that_half_the_budget_allows() {
    let grid = |dimensions: &[Dimension], budget: u64| {
        let plan = Plan { budget, ..plan(dimensions) };
        let mut race = Race::new(&plan);
        (race.coarse_grid().len(), race.strides.clone())
    };
    assert_eq!(grid(&PLANE, 400), (25, vec![8, 4]));
    assert_eq!(grid(&PLANE[..1], 400), (9, vec![4]));
    assert_eq!(grid(&[Dimension::Ordered(4), Dimension::Choices(3)], 400), (12, vec![1, 1]));
    assert_eq!(Dimension::Ordered(10).coarse(4), [0, 3, 6, 9]);
    assert_eq!(Dimension::Ordered(8).coarse(5), [0, 2, 4, 5, 7]);
}
