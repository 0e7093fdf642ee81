//! Runs points on threads: each by itself, its result kept as soon as it is there.
//!
//! Points that age alike share one aged array. A thread takes a point of an array that is aged; else it ages the next
//! array; else it waits for one that is being aged. So no thread is idle while there is something to do, and no
//! more arrays are in memory than there are threads. A refused run is a result too.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use harmonia_array::AgedState;
use harmonia_metrics::Report;
use harmonia_run::{Outcome, RunError, RunOptions, aged_by, aged_state, fits_in_memory, run_aged};
use harmonia_scenario::BadInput;
use serde::Serialize;

use crate::plan::Point;
use crate::store::Store;

/// Hears how far a sweep is, from several threads.
pub trait Watch: Sync {
    /// So many points are about to be run; the others are there already.
    fn begin(&self, points: usize);
    /// One of them is there.
    fn done(&self);
}

/// Nobody watches.
pub struct Unwatched;

impl Watch for Unwatched {
    fn begin(&self, _: usize) {}
    fn done(&self) {}
}

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Points that were simulated.
    pub run: usize,
    /// Points whose results were there.
    pub known: usize,
    /// Of those that were simulated, the ones that were refused, such as for a load that the array cannot keep up with.
    pub refused: usize,
}

/// Runs these points but for those whose results are there.
///
/// # Errors
/// If a result cannot be kept, not even one array fits into memory, a defect shows, or it is cancelled; what is
/// finished is kept.
pub fn run(
    points: &[Point],
    store: &Store,
    options: &RunOptions<'_>,
    watch: &dyn Watch,
) -> Result<Done, RunError> {
    let mut missing: BTreeMap<&str, &Point> = BTreeMap::new();
    for point in points.iter().filter(|point| !store.has(point)) {
        missing.entry(&point.address).or_insert(point);
    }
    let mut missing: Vec<&Point> = missing.into_values().collect();
    missing.sort_by_key(|point| point.number);
    watch.begin(missing.len());
    let groups = alike(&missing);
    let threads = threads(&groups, options.threads)?;
    let stop = AtomicBool::new(false);
    let sweep = Sweep {
        store,
        options,
        watch,
        threads,
        stop: &stop,
        state: Mutex::default(),
        changed: Condvar::new(),
    };
    sweep.lock().groups = groups.into_iter().map(Group::new).collect();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads).map(|_| scope.spawn(|| sweep.work())).collect();
        sweep.work();
        workers.into_iter().for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
    });
    let mut state = sweep.lock();
    match state.failed.take() {
        Some(error) => Err(error),
        None => Ok(Done { run: state.run, known: points.len() - state.run, refused: state.refused }),
    }
}

/// Points by the aged array that they start from, in the order in which these are first needed.
pub(crate) fn alike<'a>(points: &[&'a Point]) -> Vec<Vec<&'a Point>> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&Point>> = Vec::new();
    for point in points {
        let place = *places.entry(aged_by(&point.scenario)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(point);
    }
    groups
}

/// How many threads fit into memory, at most as many as are wanted: each may hold an aged array and the copy that it runs.
fn threads(groups: &[Vec<&Point>], wanted: usize) -> Result<usize, RunError> {
    let each = if groups.iter().all(|group| group.len() == 1) { 1 } else { 2 };
    let points: usize = groups.iter().map(Vec::len).sum();
    let firsts = || groups.iter().map(|group| &group[0].scenario);
    let fits = |copies| firsts().try_for_each(|scenario| fits_in_memory(scenario, copies));
    let wanted = wanted.clamp(1, points.max(1));
    (2..=wanted).rev().find(|&threads| fits(each * threads).is_ok()).map_or_else(|| fits(1).map(|()| 1), Ok)
}

/// Points that start from one aged array.
struct Group<'a> {
    /// The next one last.
    points: Vec<&'a Point>,
    array: Array,
}

enum Array {
    New,
    BeingAged,
    Aged(Arc<AgedState>),
}

impl<'a> Group<'a> {
    fn new(mut points: Vec<&'a Point>) -> Self {
        points.reverse();
        Group { points, array: Array::New }
    }
}

#[derive(Default)]
struct State<'a> {
    groups: Vec<Group<'a>>,
    run: usize,
    refused: usize,
    failed: Option<RunError>,
}

/// What a thread does next.
enum Task<'a> {
    /// The array of a point, with so many threads.
    Age(&'a Point, usize),
    Run(&'a Point, Arc<AgedState>),
}

struct Sweep<'a> {
    store: &'a Store,
    options: &'a RunOptions<'a>,
    watch: &'a dyn Watch,
    threads: usize,
    /// Set when something failed.
    stop: &'a AtomicBool,
    state: Mutex<State<'a>>,
    changed: Condvar,
}

impl<'a> Sweep<'a> {
    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        // Also when a run panics: the others must not wait for its array.
        let _stop = StopOnPanic(self);
        while let Some(task) = self.next() {
            match task {
                Task::Age(point, threads) => self.age(point, threads),
                Task::Run(point, aged) => self.run(point, aged),
            }
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.options.cancel.load(Ordering::Relaxed)
    }

    fn next(&self) -> Option<Task<'a>> {
        let mut state = self.lock();
        loop {
            if self.is_over() {
                if !self.stop.load(Ordering::Relaxed) {
                    state.failed.get_or_insert(RunError::Cancelled);
                }
                return None;
            }
            // What is over holds no array any more.
            state.groups.retain(|group| !group.points.is_empty());
            if state.groups.is_empty() {
                return None;
            }
            if let Some(task) = take_aged(&mut state.groups).or_else(|| self.take_new(&mut state.groups)) {
                return Some(task);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next array to age, with the threads that would have nothing to do meanwhile.
    fn take_new(&self, groups: &mut [Group<'a>]) -> Option<Task<'a>> {
        let new = groups.iter().filter(|group| matches!(group.array, Array::New)).count();
        let group = groups.iter_mut().find(|group| matches!(group.array, Array::New))?;
        group.array = Array::BeingAged;
        let point = *group.points.last()?;
        Some(Task::Age(point, (self.threads / new.max(1)).max(1)))
    }

    fn age(&self, first: &Point, threads: usize) {
        let aged = aged_state(&first.scenario, threads, &self.alone());
        let mut state = self.lock();
        // None of its points has been taken meanwhile.
        let is_it = |group: &Group<'_>| group.points.last().is_some_and(|point| point.number == first.number);
        let place = state.groups.iter().position(is_it);
        let Some(place) = place else { return };
        match aged {
            Ok(aged) => state.groups[place].array = Array::Aged(Arc::new(aged)),
            Err(error) => {
                let points = std::mem::take(&mut state.groups[place].points);
                drop(state);
                points.into_iter().rev().for_each(|point| self.keep(point, Err(copy(&error))));
            }
        }
        self.changed.notify_all();
    }

    fn run(&self, point: &Point, aged: Arc<AgedState>) {
        // The last one that starts from an array takes the array itself.
        let aged = Arc::try_unwrap(aged).unwrap_or_else(|shared| (*shared).clone());
        let report = run_aged(&point.scenario, aged, &self.alone());
        self.keep(point, report.map(|report| Report { label: point.label.clone(), ..report }));
    }

    /// How one point is run.
    fn alone(&self) -> RunOptions<'_> {
        RunOptions {
            checked: self.options.checked,
            cancel: self.options.cancel,
            cache: self.options.cache,
            ..RunOptions::default()
        }
    }

    fn keep(&self, point: &Point, result: Result<Report, RunError>) {
        let outcome = match result {
            Ok(report) => Ok(Outcome::Measured(report)),
            Err(RunError::BadInput(why)) => Ok(Outcome::Refused(why.problem().to_owned())),
            Err(error) => Err(error),
        };
        let is_refused = matches!(outcome, Ok(Outcome::Refused(_)));
        let kept = outcome.and_then(|outcome| self.store.save(point, &outcome).map_err(RunError::BadInput));
        let mut state = self.lock();
        match kept {
            Ok(()) => {
                state.run += 1;
                state.refused += usize::from(is_refused);
                self.watch.done();
            }
            Err(error) => {
                state.failed.get_or_insert(error);
                self.stop.store(true, Ordering::Relaxed);
                self.changed.notify_all();
            }
        }
    }
}

/// A point of an array that is aged.
fn take_aged<'a>(groups: &mut [Group<'a>]) -> Option<Task<'a>> {
    groups.iter_mut().find_map(|group| {
        let Array::Aged(aged) = &group.array else { return None };
        let aged = Arc::clone(aged);
        let point = group.points.pop()?;
        if group.points.is_empty() {
            group.array = Array::BeingAged;
        }
        Some(Task::Run(point, aged))
    })
}

/// The same failure for every point of an array that cannot be aged.
fn copy(error: &RunError) -> RunError {
    match error {
        RunError::BadInput(why) => RunError::BadInput(BadInput::clone(why)),
        RunError::Cancelled => RunError::Cancelled,
        RunError::Internal(text) => RunError::Internal(text.clone()),
    }
}

/// Wakes the others if the thread that has it panics.
struct StopOnPanic<'a, 'b>(&'a Sweep<'b>);

impl Drop for StopOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
        }
        self.0.changed.notify_all();
    }
}
