//! A race over a grid that grows finer where it pays.
//!
//! ```text
//!   generation 0: a coarse grid         1: halves around the best          2: quarters ..
//!     o . o . o                           x . x . x
//!     . . . . .                           . . o . .
//!     o . o . o       race                x o # o x       race             .. until nothing can be told
//!     . . . . .      ------->             . . o . .      ------->          apart, the lattice has no finer
//!     o . o . o                           x . x . x                        values, or the budget is used
//! ```
//!
//! A race gives every point of a generation the same seeds, first [`FIRST`] of them, then one more at a time. After each, a
//! point is beaten if its paired difference to the leader, seed by seed, lies above 0 with all of its 95% interval and is
//! no trifle ([`TRIFLE`]); only the others go on. The scenario as it stands runs with every seed too, as a yardstick that
//! nothing beats and that beats nothing. In the end the best few run with seeds that no choice was made by.
//!
//! Invariants: what is done depends on the plan and the costs alone, never on time or threads; all costs of a point are
//! for the seeds 0, 1, 2 .. in this order; no more than the budget is run.
//!
//! Source: the racing of Birattari et al. 2002 with the paired t-test, as in irace. Leaves out: correction for testing
//! often (a point as good as the leader is beaten by chance now and then; its neighbours are not), valleys that run
//! diagonally between keys (refinement steps along one key at a time), restarts.

mod finer;
mod held_out;
#[cfg(test)]
mod tests;

use harmonia_metrics::{Contrast, Interval};
use harmonia_run::Outcome;

/// A point: the index of a value for each key.
pub type Point = Vec<u32>;

/// Seeds that every point of a generation gets, unless there are fewer: with two, an interval says nothing.
pub const FIRST: usize = 3;
/// A difference below this share of the leader's cost is none, however certain.
pub const TRIFLE: f64 = 0.001;
/// Points around which a generation is refined.
const PARENTS: usize = 4;
/// Points that run with held-out seeds: the best, the plainest, the runner-up and the scenario as it stands.
const FINALISTS: u64 = 4;
/// Numbers of values with which the first grid is tried, the finest that the budget allows.
const COARSE: [u32; 5] = [9, 5, 4, 3, 2];

/// How many values a key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// In order: between two of them there may be a better one.
    Ordered(u32),
    /// In none.
    Choices(u32),
}

impl Dimension {
    fn count(self) -> u32 {
        let (Dimension::Ordered(count) | Dimension::Choices(count)) = self;
        count
    }

    /// Indices of the first grid, with `values` of an ordered key.
    fn coarse(self, values: u32) -> Vec<u32> {
        let most = u64::from(self.count() - 1);
        match self {
            Dimension::Ordered(count) if count > values => {
                let gaps = u64::from(values - 1);
                (0..=gaps).map(|at| ((at * most + gaps / 2) / gaps) as u32).collect()
            }
            _ => (0..self.count()).collect(),
        }
    }
}

/// What is searched, and how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The keys.
    pub dimensions: Vec<Dimension>,
    /// Where the scenario as it stands lies on each, in steps, as far as that can be said.
    pub place: Vec<Option<f64>>,
    /// Seeds of the search; as many more are held out.
    pub seeds: usize,
    /// Most runs.
    pub budget: u64,
}

/// A run that a search asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial<'a> {
    /// Where; none for the scenario as it stands.
    pub point: Option<&'a Point>,
    /// Counted from 0; seeds from [`Plan::seeds`] on are held out.
    pub seed: usize,
}

/// What became of a point.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// Nothing beats it so far.
    Racing,
    /// It is worse than another.
    Beaten {
        /// After so many seeds.
        seeds: usize,
        /// Which candidate led then.
        by: usize,
        /// By how much it is worse.
        difference: Interval,
    },
    /// The budget did not reach for it.
    Dropped,
    /// It cannot be run; the message.
    Refused(String),
}

/// A point and what is known of it; the first candidate is the scenario as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// None for the scenario as it stands.
    pub point: Option<Point>,
    /// When it was first tried.
    pub generation: u32,
    /// One for each seed so far.
    pub costs: Vec<f64>,
    /// With held-out seeds, for finalists.
    pub held_out: Vec<f64>,
    /// What became of it.
    pub fate: Fate,
}

impl Candidate {
    fn new(point: Option<Point>, generation: u32) -> Self {
        Candidate { point, generation, costs: Vec::new(), held_out: Vec::new(), fate: Fate::Racing }
    }

    /// Mean of the first so many costs.
    fn mean(&self, seeds: usize) -> f64 {
        self.costs[..seeds].iter().sum::<f64>() / seeds as f64
    }
}

/// Why a search went no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// No point of the last generation was beaten: finer ones would not be either.
    Even,
    /// There are no finer values.
    Finest,
    /// The runs are used up.
    Budget,
    /// No point can be run.
    Refused,
}

/// What a search found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// All points tried, in that order; the first is the scenario as it stands.
    pub candidates: Vec<Candidate>,
    /// The lowest mean of those that are not beaten and have all seeds.
    pub best: Option<usize>,
    /// Not to be told from the best, itself among them, the lowest mean first.
    pub plateau: Vec<usize>,
    /// Of these the one nearest to the scenario as it stands.
    pub plainest: Option<usize>,
    /// Those that ran with held-out seeds.
    pub finalists: Vec<usize>,
    /// Runs asked for.
    pub runs: u64,
    /// Generations raced.
    pub generations: u32,
    /// Why it ended.
    pub stopped: Stopped,
}

/// Runs trials: a cost for each, or why it cannot be run.
pub type Oracle<'a, E> = dyn FnMut(&[Trial<'_>]) -> Result<Vec<Outcome<f64>>, E> + 'a;

/// Fewest runs with which these keys can be searched.
pub fn least_budget(dimensions: &[Dimension], seeds: usize) -> u64 {
    let points = grid_points(dimensions, COARSE[COARSE.len() - 1]);
    reserve(seeds).saturating_add(points.saturating_mul(first(seeds) as u64).saturating_mul(2))
}

/// The points of generation 0.
pub fn first_grid(plan: &Plan) -> Vec<Point> {
    Race::new(plan).coarse_grid()
}

/// Runs that are set apart: for the scenario as it stands, for held-out seeds, and to finish two points of the grid.
fn reserve(seeds: usize) -> u64 {
    seeds as u64 * (FINALISTS + 3)
}

fn first(seeds: usize) -> usize {
    FIRST.min(seeds)
}

fn grid_points(dimensions: &[Dimension], values: u32) -> u64 {
    let counts = dimensions.iter().map(|dimension| dimension.coarse(values).len() as u64);
    counts.fold(1, u64::saturating_mul)
}

/// Searches.
///
/// # Errors
/// Whatever the oracle ends with.
///
/// # Panics
/// If the budget is below [`least_budget`], there are fewer than two seeds, or the oracle forgets a trial.
pub fn search<E>(plan: &Plan, oracle: &mut Oracle<'_, E>) -> Result<Found, E> {
    assert!(plan.seeds >= 2, "one seed has no interval");
    assert!(plan.budget >= least_budget(&plan.dimensions, plan.seeds), "the budget is too small for a grid");
    let mut race = Race::new(plan);
    race.measure(&[0], plan.seeds, oracle)?;
    let mut next = race.coarse_grid();
    let stopped = loop {
        race.enter(next);
        let beaten = race.run(oracle)?;
        if race.leader(plan.seeds).is_none() && !race.short {
            break Stopped::Refused;
        }
        if race.short {
            break Stopped::Budget;
        }
        if beaten == 0 && race.has_tried() {
            break Stopped::Even;
        }
        next = race.finer();
        if next.is_empty() {
            break Stopped::Finest;
        }
    };
    race.finish(stopped, oracle)
}

/// A search that is going on.
struct Race<'p> {
    plan: &'p Plan,
    candidates: Vec<Candidate>,
    generation: u32,
    /// By key, how far apart the values of this generation are.
    strides: Vec<u32>,
    /// Around which points the last generation was refined at the finest strides.
    refined: Vec<usize>,
    runs: u64,
    /// The budget did not reach for everything.
    short: bool,
}

impl<'p> Race<'p> {
    fn new(plan: &'p Plan) -> Self {
        Race {
            plan,
            candidates: vec![Candidate::new(None, 0)],
            generation: 0,
            strides: Vec::new(),
            refined: Vec::new(),
            runs: 0,
            short: false,
        }
    }

    /// The finest grid whose first seeds fit half of the budget.
    fn coarse_grid(&mut self) -> Vec<Point> {
        let Plan { dimensions, seeds, budget, .. } = self.plan;
        let most = (budget - reserve(*seeds)) / 2 / first(*seeds) as u64;
        let values = COARSE.into_iter().find(|&values| grid_points(dimensions, values) <= most).unwrap_or(2);
        self.strides = dimensions
            .iter()
            .map(|dimension| match dimension {
                Dimension::Ordered(count) if *count > values => (count - 1).div_ceil(values - 1),
                _ => 1,
            })
            .collect();
        dimensions.iter().fold(vec![Vec::new()], |points, dimension| {
            let indices = dimension.coarse(values);
            let with = |point: &Point, index: u32| [&point[..], &[index]].concat();
            points.iter().flat_map(|point| indices.iter().map(move |&index| with(point, index))).collect()
        })
    }

    /// New points line up, as many as there are runs for.
    fn enter(&mut self, points: Vec<Point>) {
        let generation = self.generation;
        let each = if generation == 0 { first(self.plan.seeds) } else { self.plan.seeds };
        let most = (self.left() / each as u64) as usize;
        self.short |= points.len() > most;
        let new = points.into_iter().take(most).map(|point| Candidate::new(Some(point), generation));
        self.candidates.extend(new);
    }

    /// Runs for points that are left.
    fn left(&self) -> u64 {
        let held_out = self.plan.seeds as u64 * FINALISTS;
        (self.plan.budget - held_out).saturating_sub(self.runs)
    }

    /// Races all that are not beaten up to all seeds; how many were beaten.
    fn run<E>(&mut self, oracle: &mut Oracle<'_, E>) -> Result<usize, E> {
        let mut beaten = 0;
        for seeds in first(self.plan.seeds)..=self.plan.seeds {
            let behind = self.affordable(seeds);
            self.measure(&behind, seeds, oracle)?;
            beaten += self.eliminate(seeds);
        }
        self.generation += 1;
        Ok(beaten)
    }

    /// Whether the last generation has a point that can be run.
    fn has_tried(&self) -> bool {
        let mut last =
            self.candidates.iter().filter(|one| one.point.is_some() && one.generation + 1 == self.generation);
        last.any(|one| !one.costs.is_empty())
    }

    /// Points in the race.
    fn racing(&self) -> impl Iterator<Item = usize> {
        let racing = |&index: &usize| self.candidates[index].fate == Fate::Racing;
        (1..self.candidates.len()).filter(racing)
    }

    /// Those that lack one of so many seeds; where the budget cannot bring all of them to the end the best of them, and
    /// the others are dropped.
    fn affordable(&mut self, seeds: usize) -> Vec<usize> {
        let mut behind: Vec<usize> =
            self.racing().filter(|&index| self.candidates[index].costs.len() < seeds).collect();
        // New ones have no mean yet; they cost the same and stand in their order.
        let mean = |index: usize| match self.candidates[index].costs.len() {
            0 => 0.0,
            known => self.candidates[index].mean(known),
        };
        behind.sort_by(|&a, &b| mean(a).total_cmp(&mean(b)));
        let mut left = self.left();
        let mut affordable = Vec::new();
        for index in behind {
            let upto = if seeds == first(self.plan.seeds) { seeds } else { self.plan.seeds };
            let runs = (upto - self.candidates[index].costs.len()) as u64;
            if runs <= left {
                left -= runs;
                affordable.push(index);
            } else {
                self.short = true;
                self.candidates[index].fate = Fate::Dropped;
            }
        }
        affordable.sort_unstable();
        affordable
    }

    /// Runs these candidates up to so many seeds, seed by seed, so that what shares an aged array stands together.
    fn measure<E>(&mut self, indices: &[usize], seeds: usize, oracle: &mut Oracle<'_, E>) -> Result<(), E> {
        let lacks = |index: usize, seed: usize| seed >= self.candidates[index].costs.len();
        let wanted: Vec<(usize, usize)> = (0..seeds)
            .flat_map(|seed| indices.iter().map(move |&index| (index, seed)))
            .filter(|&(index, seed)| lacks(index, seed))
            .collect();
        for ((index, _), outcome) in wanted.iter().zip(self.ask(&wanted, oracle)?) {
            let candidate = &mut self.candidates[*index];
            match outcome {
                Outcome::Measured(cost) => candidate.costs.push(cost),
                Outcome::Refused(why) => candidate.fate = Fate::Refused(why),
            }
        }
        // Without one of them the others are no pairs.
        let refused = |one: &&mut Candidate| matches!(one.fate, Fate::Refused(_));
        self.candidates.iter_mut().filter(refused).for_each(|one| one.costs.clear());
        Ok(())
    }

    /// Puts (candidate, seed) pairs to the oracle.
    fn ask<E>(
        &mut self,
        wanted: &[(usize, usize)],
        oracle: &mut Oracle<'_, E>,
    ) -> Result<Vec<Outcome<f64>>, E> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let trial =
            |&(index, seed): &(usize, usize)| Trial { point: self.candidates[index].point.as_ref(), seed };
        let trials: Vec<Trial<'_>> = wanted.iter().map(trial).collect();
        let outcomes = oracle(&trials)?;
        assert_eq!(outcomes.len(), trials.len(), "an outcome for every trial");
        // What is refused costs nothing.
        self.runs += outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Measured(_))).count() as u64;
        Ok(outcomes)
    }

    /// The lowest mean over the first so many seeds.
    fn leader(&self, seeds: usize) -> Option<usize> {
        let mean = |index: &usize| self.candidates[*index].mean(seeds);
        let known = self.racing().filter(|&index| self.candidates[index].costs.len() >= seeds);
        known.min_by(|a, b| mean(a).total_cmp(&mean(b)))
    }

    /// Takes out of the race what is worse than the leader by more than chance.
    fn eliminate(&mut self, seeds: usize) -> usize {
        let Some(leader) = self.leader(seeds) else { return 0 };
        let racing: Vec<usize> = self.racing().filter(|&index| index != leader).collect();
        let mut beaten = 0;
        for index in racing {
            let (own, best) = (&self.candidates[index].costs, &self.candidates[leader].costs);
            let shared = own.len().min(best.len());
            if let Some(difference) = worse(&own[..shared], &best[..shared]) {
                self.candidates[index].fate = Fate::Beaten { seeds: shared, by: leader, difference };
                beaten += 1;
            }
        }
        beaten
    }
}

/// By how much the first costs more than the second, if that is neither chance nor a trifle.
pub(crate) fn worse(costs: &[f64], than: &[f64]) -> Option<Interval> {
    let difference = Contrast::of(costs, than, true)?.difference;
    let trifle = TRIFLE * than.iter().sum::<f64>().abs() / than.len() as f64;
    (difference.excludes(0.0) && difference.mean > trifle).then_some(difference)
}
