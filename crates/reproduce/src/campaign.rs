//! Runs what is missing.
//!
//! Runs go in batches: those of a batch that age alike share an aged array, and a batch that ended is kept, so that
//! stopping loses at most one. A batch that is refused is run one by one to find who is to blame; a refused run is a
//! result too.

use std::path::Path;

use harmonia_metrics::Report;
use harmonia_scenario::{BadInput, RunError, RunOptions, Variant, compare};

use crate::experiment::Job;
use crate::results::Results;
use crate::store::{Store, VERSION};
use crate::summary::{Outcome, Summary};

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
    let store = Store::open(folder).map_err(|error| unusable(folder, &error))?;
    let mut results = kept(jobs, folder)?;
    let missing: Vec<&Job> =
        jobs.iter().filter(|job| !results.has(&job.experiment, &job.variant, job.seed)).collect();
    for batch in missing.chunks(BATCH) {
        watch.batch(results.len(), jobs.len(), batch[0]);
        for (job, outcome) in batch.iter().zip(outcomes(batch, options)?) {
            store.save(&job.scenario, &outcome).map_err(|error| unusable(folder, &error))?;
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
    let store = Store::open(folder).map_err(|error| unusable(folder, &error))?;
    let mut results = Results::default();
    for job in jobs {
        if let Some(outcome) = store.load(&job.scenario) {
            results.insert(VERSION, &job.experiment, &job.variant, job.seed, outcome);
        }
    }
    Ok(results)
}

fn unusable(folder: &Path, error: &std::io::Error) -> RunError {
    let problem = format!("cannot keep runs in {}: {error}", folder.display());
    RunError::BadInput(BadInput::plain(problem, "allowed: a folder that can be written to"))
}

/// What these jobs show, in their order.
fn outcomes(batch: &[&Job], options: &RunOptions<'_>) -> Result<Vec<Outcome>, RunError> {
    let variants: Vec<Variant> = batch.iter().map(|job| variant(job)).collect();
    let measured = |report: &Report| Outcome::Measured(Summary::from(report));
    match compare(&variants, options) {
        Ok(comparison) => Ok(comparison.runs.iter().map(measured).collect()),
        Err(RunError::BadInput(why)) if batch.len() == 1 => {
            Ok(vec![Outcome::Refused(why.problem().to_owned())])
        }
        Err(RunError::BadInput(_)) => {
            let alone = batch.iter().map(|job| outcomes(&[job], options));
            alone.collect::<Result<Vec<_>, _>>().map(|outcomes| outcomes.concat())
        }
        Err(error) => Err(error),
    }
}

fn variant(job: &Job) -> Variant {
    Variant {
        label: format!("{} {} seed {}", job.experiment, job.variant, job.seed),
        scenario: job.scenario.clone(),
    }
}
