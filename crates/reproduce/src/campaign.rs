//! Runs what is missing.
//!
//! Runs go in batches: those of a batch that age alike share an aged array, and a batch that ended is kept, so that
//! stopping loses at most one. A refused run is a result too. Where members are replaced, a job is a run until each replacement,
//! and each is kept by itself.

use std::path::Path;

use harmonia_run::{RunError, RunOptions, Store, VERSION, outcomes};
use harmonia_scenario::Variant;

use crate::experiment::Job;
use crate::replacing::Course;
use crate::results::Results;
use crate::summary::Summary;

/// Jobs of a batch.
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
        let mut courses: Vec<Course> = batch.iter().map(|job| Course::of(job)).collect();
        loop {
            // What was run before a stop is not run again.
            courses.iter_mut().for_each(|course| go_through(course, &store));
            let due = batch.iter().zip(&courses).filter_map(|(job, course)| variant(job, course));
            let variants: Vec<Variant> = due.collect();
            if variants.is_empty() {
                break;
            }
            let outcomes = outcomes(&variants, options, &|report| Summary::from(report))?;
            let courses = courses.iter_mut().filter(|course| course.due().is_some());
            for ((course, run), outcome) in courses.zip(&variants).zip(outcomes) {
                store.save(&run.scenario, &outcome)?;
                course.take(outcome);
            }
        }
        for (job, course) in batch.iter().zip(courses) {
            insert(&mut results, job, course);
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
        let mut course = Course::of(job);
        go_through(&mut course, &store);
        insert(&mut results, job, course);
    }
    Ok(results)
}

/// Goes on with a job as far as its runs are in the store.
fn go_through(course: &mut Course, store: &Store<Summary>) {
    while let Some(outcome) = course.due().and_then(|scenario| store.load(scenario)) {
        course.take(outcome);
    }
}

/// Takes in what a job showed, if all of it was run.
fn insert(results: &mut Results, job: &Job, course: Course) {
    if let Some(outcome) = course.outcome() {
        results.insert(VERSION, &job.experiment, &job.variant, job.seed, outcome);
    }
}

/// The run of a job that is due.
fn variant(job: &Job, course: &Course) -> Option<Variant> {
    let scenario = course.due()?.clone();
    let label = format!("{} {} seed {}", job.experiment, job.variant, job.seed);
    Some(Variant { label, scenario })
}
