//! Seeds: every variant runs with its own and those that follow, a given number of them or until somebody has seen enough.

use harmonia_metrics::{Comparison, Report};
use harmonia_workload::{Limit, StreamsConfig, SyntheticConfig, WorkloadConfig};

use crate::{RunError, RunId, RunOptions, aged_arrays, bad_input, pages_to_age, run_all};
use harmonia_scenario::{Scenario, Variant};

/// More seeds than this are refused: an interval narrows with the square root of their number only, and every run's
/// report is kept.
pub const MOST_SEEDS: u64 = 1000;
/// Seeds of a comparison that is cheap enough for several.
pub const CHEAP_SEEDS: u64 = 10;
/// Page operations, ageing included, up to which [`CHEAP_SEEDS`] seeds of all variants are cheap: some seconds on one core.
const CHEAP_OPERATIONS: f64 = 1e8;

/// One run to do.
pub(crate) struct Job {
    pub id: RunId,
    pub variant: Variant,
    /// What it is called while it goes on.
    pub name: String,
    /// Its array while it is being aged.
    pub ageing: String,
}

impl Job {
    pub fn only(position: usize, variant: Variant) -> Job {
        let id = RunId { variant: position, seed: 0 };
        Job { id, name: variant.label.clone(), ageing: "ageing the array".into(), variant }
    }

    /// One of several seeds.
    fn seeded(id: RunId, variant: &Variant, seed: u64) -> Job {
        let mut variant = variant.clone();
        variant.scenario.seed = seed;
        variant.scenario.array.faults.seed = seed;
        Job {
            id,
            name: format!("{} seed {seed}", variant.label),
            ageing: format!("ageing, seed {seed}"),
            variant,
        }
    }
}

/// Runs each scenario with as many seeds: its own and those that follow. Each seed has an aged array of its own, unless
/// `precondition.seed` says which, and the variants share it as in [`compare`](crate::compare). Reports come variant by
/// variant, each with all of its seeds in order.
///
/// # Errors
/// As [`compare`](crate::compare), and if there are no seeds, more than [`MOST_SEEDS`], or none left after a scenario's
/// own.
pub fn compare_seeds(
    variants: &[Variant],
    seeds: u64,
    options: &RunOptions<'_>,
) -> Result<Comparison, RunError> {
    compare_while(variants, seeds, |_| 0, options)
}

/// Runs each scenario with `first` seeds, then with as many more as `more` says of what there is so far, until it says
/// none. The comparison is the one that [`compare_seeds`] gives for that number of seeds.
///
/// # Errors
/// As [`compare_seeds`].
pub fn compare_while(
    variants: &[Variant],
    first: u64,
    mut more: impl FnMut(&Comparison) -> u64,
    options: &RunOptions<'_>,
) -> Result<Comparison, RunError> {
    let mut runs: Vec<Vec<Report>> = variants.iter().map(|_| Vec::new()).collect();
    let (mut done, mut next) = (0, first);
    loop {
        let jobs = jobs(variants, done, next)?;
        let reports = run_all(&jobs, options)?;
        for (job, report) in jobs.iter().zip(reports) {
            runs[job.id.variant].push(report);
        }
        done += next;
        let comparison = Comparison::new(runs.iter_mut().flat_map(std::mem::take).collect(), done as usize);
        next = more(&comparison).min(MOST_SEEDS - done);
        if next == 0 {
            return Ok(comparison);
        }
        let mut reports = comparison.runs.into_iter();
        runs.iter_mut().for_each(|runs| runs.extend(reports.by_ref().take(done as usize)));
    }
}

/// Every variant with so many seeds more than were `done`; one alone keeps its plain name.
fn jobs(variants: &[Variant], done: u64, seeds: u64) -> Result<Vec<Job>, RunError> {
    if seeds == 0 || seeds > MOST_SEEDS - done {
        return Err(bad_input(
            format!("{} seeds: that many cannot be run", done.saturating_add(seeds)),
            &format!("1 to {MOST_SEEDS} seeds; an interval narrows with the square root of their number"),
        ));
    }
    if done == 0 && seeds == 1 {
        return Ok(variants
            .iter()
            .cloned()
            .enumerate()
            .map(|(at, variant)| Job::only(at, variant))
            .collect());
    }
    let mut jobs = Vec::new();
    for (position, variant) in variants.iter().enumerate() {
        let first = variant.scenario.seed;
        if first.checked_add(done + seeds - 1).is_none() {
            return Err(bad_input(
                format!("`seed` = {first}: {} seeds from there go beyond {}", done + seeds, u64::MAX),
                &format!("a seed of at most {}", u64::MAX - (done + seeds - 1)),
            ));
        }
        jobs.extend((done..done + seeds).map(|more| {
            let id = RunId { variant: position, seed: more as usize };
            Job::seeded(id, variant, first + more)
        }));
    }
    Ok(jobs)
}

/// Seeds that a comparison runs with where nobody says how many: [`CHEAP_SEEDS`] if all of them are cheap, else one. What
/// is cheap is reckoned from the scenarios alone, so that it is the same everywhere.
pub fn default_seeds(variants: &[Variant]) -> u64 {
    let ageing = variants.iter().map(|variant| ageing_operations(&variant.scenario)).fold(0.0, f64::max);
    let running: f64 = variants.iter().map(|variant| operations(&variant.scenario)).sum();
    let cost = ageing * aged_arrays(variants) as f64 + running;
    if cost * CHEAP_SEEDS as f64 <= CHEAP_OPERATIONS { CHEAP_SEEDS } else { 1 }
}

/// Page operations for each page that the host writes, roughly: it and what garbage collection reads and programs.
const PER_PAGE: f64 = 8.0;

pub(crate) fn ageing_operations(scenario: &Scenario) -> f64 {
    PER_PAGE * pages_to_age(scenario) as f64
}

/// About how many page operations a run takes; infinite where its length is not known.
fn operations(scenario: &Scenario) -> f64 {
    let (requests, size) = match &scenario.workload {
        WorkloadConfig::Synthetic(SyntheticConfig { limit: Limit::Requests(requests), size, .. }) => {
            (*requests as f64, size.mean())
        }
        WorkloadConfig::Streams(StreamsConfig { limit: Limit::Requests(requests), streams, .. }) => {
            let largest = streams.values().map(|stream| stream.size.mean()).max();
            (*requests as f64, largest.unwrap_or(0))
        }
        _ => return f64::INFINITY,
    };
    let pages = size.div_ceil(scenario.array.page_size()) as f64;
    PER_PAGE * requests * pages
}
