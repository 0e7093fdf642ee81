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
const BATCH: usize = 18;

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
    let unusable = |error: std::io::Error| {
        let problem = format!("cannot keep runs in {}: {error}", folder.display());
        RunError::BadInput(BadInput::plain(problem, "allowed: a folder that can be written to"))
    };
    let store = Store::open(folder).map_err(unusable)?;
    let mut results = Results::default();
    let mut missing = Vec::new();
    let take = |results: &mut Results, job: &Job, outcome| {
        results.insert(VERSION, &job.experiment, &job.variant, job.seed, outcome);
    };
    for job in jobs {
        match store.load(&job.scenario) {
            Some(outcome) => take(&mut results, job, outcome),
            None => missing.push(job),
        }
    }
    for batch in missing.chunks(BATCH) {
        watch.batch(results.len(), jobs.len(), batch[0]);
        for (job, outcome) in batch.iter().zip(outcomes(batch, options)?) {
            store.save(&job.scenario, &outcome).map_err(unusable)?;
            take(&mut results, job, outcome);
        }
    }
    Ok(results)
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
