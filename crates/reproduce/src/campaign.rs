//! Runs what is missing.
//!
//! Runs go in batches: those of a batch that age alike share an aged array, and a batch that ended is kept, so that
//! stopping loses at most one. A refused run is a result too.

use std::path::Path;

use harmonia_run::{RunError, RunOptions, Store, VERSION, outcomes};
use harmonia_scenario::Variant;

use crate::experiment::Job;
use crate::results::Results;
use crate::summary::Summary;

/// Runs of a batch.
const BATCH: usize = 36;

/// Says how far a campaign is.
pub trait Watch {
    /// So many of so many runs are done; next come those of an experiment.
    fn batch(&self, done: usize, total: usize, next: &Job);
}

/// Does those of these jobs that the folder does not have yet, and gives the results of all.
///
/// # Errors
/// If the folder cannot be used, or it is cancelled; what was done until then is kept.
pub fn run(
    jobs: &[Job],
    folder: &Path,
    options: &RunOptions<'_>,
    watch: &dyn Watch,
) -> Result<Results, RunError> {
    let store = Store::open(folder)?;
    let mut results = kept(jobs, folder)?;
    let missing: Vec<&Job> =
        jobs.iter().filter(|job| !results.has(&job.experiment, &job.variant, job.seed)).collect();
    for batch in missing.chunks(BATCH) {
        watch.batch(results.len(), jobs.len(), batch[0]);
        let variants: Vec<Variant> = batch.iter().map(|job| variant(job)).collect();
        let outcomes = outcomes(&variants, options, &|report| Summary::from(report))?;
        for (job, outcome) in batch.iter().zip(outcomes) {
            store.save(&job.scenario, &outcome)?;
            results.insert(VERSION, &job.experiment, &job.variant, job.seed, outcome);
        }
    }
    Ok(results)
}

/// The results of those jobs that the folder has; runs nothing.
///
/// # Errors
/// If the folder cannot be used.
pub fn kept(jobs: &[Job], folder: &Path) -> Result<Results, RunError> {
    let store = Store::open(folder)?;
    let mut results = Results::default();
    for job in jobs {
        if let Some(outcome) = store.load(&job.scenario) {
            results.insert(VERSION, &job.experiment, &job.variant, job.seed, outcome);
        }
    }
    Ok(results)
}

fn variant(job: &Job) -> Variant {
    Variant {
        label: format!("{} {} seed {}", job.experiment, job.variant, job.seed),
        scenario: job.scenario.clone(),
    }
}
