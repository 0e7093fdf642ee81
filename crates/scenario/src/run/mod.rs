//! Running: age the array once, give every run its own copy of that state, drive it with its load, measure.
//!
//! * `cache`: aged states kept from one process to the next;
//! * `drive`: one run, from an aged array to its measurements;
//! * `report`: measurements to the report;
//! * here: which runs share an aged state, and which thread does what.
//!
//! Every run is single-threaded and deterministic; threads only run different things at once, so their number never
//! shows in a result.

mod cache;
mod drive;
mod memory;
mod report;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harmonia_array::{AgedState, AgeingError, AgeingPlan, age, ageing_pages};
use harmonia_metrics::{Comparison, Observer, Report};
use harmonia_ssd::probe::{AuditProbe, NoProbe};

use crate::{BadInput, Scenario, Variant};

pub use cache::{AgedCache, CacheUsage};

/// How to run, as opposed to what.
pub struct RunOptions<'a> {
    /// Threads to use; at least 1.
    pub threads: usize,
    /// Check the invariants after every event (slow).
    pub checked: bool,
    /// Set by another thread to stop soon.
    pub cancel: &'a AtomicBool,
    /// Hears how far things are.
    pub progress: &'a dyn Progress,
    /// Sees what happens in them.
    pub observe: &'a dyn Observe,
    /// Keeps aged states for other processes; no result depends on it.
    pub cache: Option<&'a AgedCache>,
}

/// Gives runs their observers.
pub trait Observe: Sync {
    /// Who watches the run at this position of the comparison, if anybody; asked once, by the thread that runs it.
    fn observer(&self, run: usize) -> Option<Box<dyn Observer + '_>>;
}

/// Watches nothing.
pub struct Unobserved;

impl Observe for Unobserved {
    fn observer(&self, _: usize) -> Option<Box<dyn Observer + '_>> {
        None
    }
}

/// What a run is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Ageing; counted in pages written.
    Precondition,
    /// Simulating; counted in requests.
    Simulate,
}

/// Hears how far runs are, from several threads. `run` is the run's position in the comparison.
pub trait Progress: Sync {
    /// A stage begins; `total` is 0 where it is not known.
    fn begin(&self, run: usize, label: &str, stage: Stage, total: u64);
    /// So much of it is done.
    fn advance(&self, run: usize, done: u64);
    /// The stage is over.
    fn end(&self, run: usize);
}

/// Says nothing.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: usize, _: &str, _: Stage, _: u64) {}
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self, _: usize) {}
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What was asked for cannot be done; the text says why and what could.
    #[error("{0}")]
    BadInput(BadInput),
    /// Stopped on request.
    #[error("interrupted")]
    Cancelled,
    /// A mistake in Harmonia itself.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Runs one scenario.
///
/// # Errors
/// If its trace is malformed, a device runs out of free blocks, or it is cancelled.
pub fn run(scenario: &Scenario, options: &RunOptions<'_>) -> Result<Report, RunError> {
    let variant = Variant { label: String::new(), scenario: scenario.clone() };
    let comparison = compare(std::slice::from_ref(&variant), options)?;
    comparison.runs.into_iter().next().ok_or_else(no_report)
}

/// Runs one scenario on an array that has been aged already, as a benchmark or a study of ageing wants it.
///
/// # Errors
/// As [`run`].
pub fn run_aged(scenario: &Scenario, aged: AgedState, options: &RunOptions<'_>) -> Result<Report, RunError> {
    let variants = [Variant { label: String::new(), scenario: scenario.clone() }];
    let group = Group { variants: &variants, alike: &[0], ageing_ns: 0, options };
    let reports = group.run(aged)?;
    reports.into_iter().next().map(|(_, report)| report).ok_or_else(no_report)
}

fn no_report() -> RunError {
    RunError::Internal("a run left no report".into())
}

/// Runs scenarios side by side; those that age alike start from copies of the same aged array. Reports come in the
/// order of the variants.
///
/// # Errors
/// As [`run`], for the first variant that fails.
pub fn compare(variants: &[Variant], options: &RunOptions<'_>) -> Result<Comparison, RunError> {
    for variant in variants {
        preflight(&variant.scenario)?;
    }
    let mut runs: Vec<Option<Report>> = variants.iter().map(|_| None).collect();
    let mut left: Vec<usize> = (0..variants.len()).collect();
    while let Some(&first) = left.first() {
        let key = ageing_key(&variants[first].scenario);
        let (alike, others) =
            left.iter().partition::<Vec<usize>, _>(|&&i| ageing_key(&variants[i].scenario) == key);
        left = others;
        memory::check(&variants[first].scenario, options.threads.min(alike.len()))?;
        let clock = report::Stopwatch::start();
        let scenario = &variants[first].scenario;
        let cached = options.cache.and_then(|cache| cache.load(&key, &scenario.array));
        let is_new = cached.is_none();
        let aged = match cached {
            Some(aged) => aged,
            None => precondition(first, scenario, options)?,
        };
        let group = Group { variants, alike: &alike, ageing_ns: clock.elapsed_ns(), options };
        if let Some(cache) = options.cache.filter(|_| is_new) {
            cache.store(&key, &aged, options.cancel);
        }
        for (index, report) in group.run(aged)? {
            runs[index] = Some(report);
        }
    }
    Ok(Comparison { runs: runs.into_iter().flatten().collect() })
}

/// Everything that ageing depends on: scenarios with equal keys share an aged state.
fn ageing_key(scenario: &Scenario) -> String {
    let array = &scenario.array;
    let members = array.members.iter().map(|member| {
        let (ssd, gc) = (&member.ssd, &member.ssd.gc);
        format!(
            "{:?} {:?} {:?} {:?} {} {} {}",
            ssd.geometry,
            ssd.ftl,
            gc.hard_threshold,
            gc.stop_threshold,
            gc.min_victims,
            gc.victim,
            gc.victim_d
        )
    });
    let members: Vec<String> = members.collect();
    let stripe = (array.level, array.member_bytes());
    format!("{} {:?} {stripe:?} {members:?}", scenario.seed, scenario.precondition)
}

fn precondition(run: usize, scenario: &Scenario, options: &RunOptions<'_>) -> Result<AgedState, RunError> {
    let (fill, overwrite) = (scenario.precondition.fill, scenario.precondition.overwrite);
    let pages_done = AtomicU64::new(0);
    let total = ageing_pages(&scenario.array, fill, overwrite);
    options.progress.begin(run, "ageing the array", Stage::Precondition, total);
    let over = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        // Also when ageing panics: the watcher must not keep the scope waiting.
        let _over = SetOnDrop(&over);
        let watcher = scope.spawn(|| {
            while !over.load(Ordering::Acquire) {
                options.progress.advance(run, pages_done.load(Ordering::Relaxed));
                std::thread::park_timeout(std::time::Duration::from_millis(100));
            }
        });
        let plan = AgeingPlan {
            fill,
            overwrite,
            seed: scenario.seed,
            threads: options.threads,
            cancel: options.cancel,
            pages_done: &pages_done,
        };
        let result = age(&scenario.array, &plan);
        over.store(true, Ordering::Release);
        watcher.thread().unpark();
        result
    });
    options.progress.end(run);
    result.map_err(|error| match error {
        AgeingError::Cancelled => RunError::Cancelled,
        AgeingError::Infeasible(why) => bad_input(why, "a device that can work"),
        AgeingError::OutOfBlocks(device, error) => bad_input(
            format!(
                "while ageing, device {device} ran out of free blocks in allocation unit {}: its garbage collection \
                 found no block to free before the last one was written",
                error.unit
            ),
            "more spare (ssd.ftl.reserved_blocks) or an earlier start (ssd.gc.hard_threshold)",
        ),
    })
}

/// Sets a flag when it goes out of scope.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What can be known to be wrong before anything runs: the load against the array, the trace's first lines.
///
/// # Errors
/// The same as [`run`] would end with, but at once.
pub fn preflight(scenario: &Scenario) -> Result<(), RunError> {
    drive::source_of(scenario).map(|_| ())
}

pub(crate) fn bad_input(problem: impl Into<String>, allowed: &str) -> RunError {
    RunError::BadInput(BadInput::plain(problem, allowed))
}

/// Variants that start from the same aged state.
struct Group<'a> {
    variants: &'a [Variant],
    alike: &'a [usize],
    ageing_ns: u64,
    options: &'a RunOptions<'a>,
}

impl Group<'_> {
    /// Runs all of them, as many at once as there are threads.
    fn run(&self, aged: AgedState) -> Result<Vec<(usize, Report)>, RunError> {
        let steadiness = aged.steadiness;
        // The last to start takes the state itself instead of a copy.
        let work = Mutex::new((self.alike.iter(), Some(aged)));
        let stop = AtomicBool::new(false);
        let worker = || -> Result<Vec<(usize, Report)>, RunError> {
            let mut reports = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let (index, states) = {
                    let mut work = work.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    let Some(&index) = work.0.next() else { break };
                    let last = work.0.len() == 0;
                    let aged = if last { work.1.take() } else { work.1.clone() };
                    (index, aged.map(|aged| aged.devices).unwrap_or_default())
                };
                let variant = &self.variants[index];
                let run = drive::Run { index, variant, options: self.options };
                let measured = if self.options.checked {
                    run.measure(states, |_| AuditProbe)
                } else {
                    run.measure(states, |_| NoProbe)
                };
                match measured {
                    Ok(measured) => {
                        let report = report::build(variant, &steadiness, self.ageing_ns, measured);
                        reports.push((index, report));
                    }
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
            Ok(reports)
        };
        let threads = self.options.threads.clamp(1, self.alike.len().max(1));
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
            let mut reports = worker();
            for other in others {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                reports = reports.and_then(|mut reports| {
                    reports.extend(other?);
                    Ok(reports)
                });
            }
            reports
        })
    }
}
