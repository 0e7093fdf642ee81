//! Running: age the array once, give every run its own copy of that state, drive it with its load, measure.
//!
//! * `advice`: whether collection matters on an array, and what would change it;
//! * `cache`: aged states kept from one process to the next;
//! * `clock`: a load and an array in order of time, and who listens;
//! * `drive`: one run, from an aged array to its measurements;
//! * `explain`: where the time of single requests went;
//! * `failures`: spares, and what befalls members in it;
//! * `in_order`: what an observer hears, in order of time;
//! * `kept`: finished runs on disk, for campaigns of many;
//! * `lifetime`: what bounds the life of drives, for the years in the report;
//! * `memory`: whether a scenario's arrays fit in it;
//! * `probe`: what its devices tell meanwhile;
//! * `report`: measurements to the report;
//! * `seeds`: every variant with every seed, or with seeds until somebody has seen enough;
//! * `tape`: what all dies did in a window of time, as a trace of Perfetto;
//! * `too_long`: what to say where simulated time runs out;
//! * `warmup`: a warm-up under `local` that several runs begin with;
//! * here: which runs share an aged state, and which thread does what.
//!
//! Every run is deterministic. Threads run different things at once, or members of one run that cannot influence one another,
//! so their number never shows in a result.

pub mod advice;
mod cache;
mod clock;
mod drive;
pub mod explain;
mod failures;
mod in_order;
mod kept;
mod lifetime;
mod memory;
mod probe;
mod report;
mod seeds;
pub mod tape;
mod too_long;
mod warmup;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harmonia_array::{
    AgedState, AgeingError, AgeingPlan, COUNTED_FROM, Followed, Followup, Steadiness, age, age_by,
    ageing_pages,
};
use harmonia_engine::Rng;
use harmonia_engine::workers::{self, CancelOnPanic};
use harmonia_metrics::{Comparison, Observer, Report};
use harmonia_ssd::gc::victim;
use harmonia_ssd::placement;
use harmonia_ssd::{BeginsAt, FreeList, FtlConfig, GcConfig, PolicyConfig, Superblock};
use harmonia_types::{Bytes, SimTime};
use harmonia_workload::{Extent, Limit, Load, Next, SourceError, WorkloadConfig};

use harmonia_scenario::{BadInput, OverwriteSpace, Precondition, Scenario, Variant};
use warmup::Start;

pub use cache::{AgedCache, CacheUsage};
pub use kept::{Outcome, Store, VERSION, outcomes};
pub use lifetime::{knows_groups, replacements};
pub use report::peak_rss_bytes;
use seeds::Job;
pub use seeds::{CHEAP_SEEDS, MOST_SEEDS, compare_seeds, compare_while, default_seeds};
use tape::{MemberTape, TapeWindow};

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

/// One thread, unchecked and unobserved, that nobody stops.
impl Default for RunOptions<'_> {
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        RunOptions {
            threads: 1,
            checked: false,
            cancel: &NEVER,
            progress: &Silent,
            observe: &Unobserved,
            cache: None,
        }
    }
}

/// One run of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunId {
    /// Position of its variant.
    pub variant: usize,
    /// How many seeds of that variant come before its own.
    pub seed: usize,
}

/// Gives runs their observers.
pub trait Observe: Sync {
    /// Who watches this run, if anybody; asked once, by the thread that runs it.
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>>;

    /// Which of its requests are followed on their way; asked like the observer.
    fn follows(&self, _: RunId) -> Option<Followed> {
        None
    }

    /// Requests that were followed, when the run is over.
    fn followed(&self, _: RunId, _: Vec<Followup>) {}

    /// The window of time of which all that devices do is kept, of a run whose requests are followed.
    fn tapes(&self, _: RunId) -> Option<TapeWindow> {
        None
    }

    /// What each device did in it, when the run is over.
    fn taped(&self, _: RunId, _: Vec<MemberTape>) {}
}

/// Watches nothing.
pub struct Unobserved;

impl Observe for Unobserved {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        None
    }
}

/// Several at once: a run is watched by all that want to.
impl Observe for Vec<&dyn Observe> {
    fn observer(&self, run: RunId) -> Option<Box<dyn Observer + '_>> {
        let all: Vec<Box<dyn Observer + '_>> =
            self.iter().filter_map(|observe| observe.observer(run)).collect();
        if all.is_empty() { None } else { Some(Box::new(all)) }
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
    let jobs = [Job::only(0, Variant { label: String::new(), scenario: scenario.clone() })];
    let loads = loads(&jobs, options.cancel)?;
    let threads = options.threads;
    let group = Group { jobs: &jobs, loads: &loads, alike: &[0], threads, ageing_ns: 0, options };
    let reports = group.run(aged)?;
    reports.into_iter().next().map(|(_, report)| report).ok_or_else(no_report)
}

/// Runs a scenario up to the arrival of its request `at`, clones the run, and lets both go on: the two reports, which are
/// those of the run that is not cut. Checks all invariants; nobody observes it, and nothing is kept.
///
/// # Errors
/// As [`run`], and if the load cannot be read a second time.
pub fn run_forked(scenario: &Scenario, at: u64, options: &RunOptions<'_>) -> Result<[Report; 2], RunError> {
    let job = Job::only(0, Variant { label: String::new(), scenario: scenario.clone() });
    let load = Arc::new(prepare(scenario, options.cancel)?);
    let AgedState { devices, steadiness, .. } =
        precondition(0, &job, rewrites(scenario).then_some(&load), options.threads, options)?;
    let Job { id, variant, name, .. } = &job;
    let threads = options.threads;
    let run = drive::Run { index: 0, id: *id, name, variant, load: &load, threads, options };
    let start = match warmup::warms_up_as(scenario) {
        Some(local) => drive::Run { variant: &local, ..run }.warm_up(devices)?,
        None => Start::aged(devices),
    };
    let measured = run.measure_twice(start, at)?;
    Ok(measured.map(|measured| report::build(variant, &steadiness, 0, measured)))
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
    compare_seeds(variants, 1, options)
}

/// Runs all jobs; reports come in their order.
fn run_all(jobs: &[Job], options: &RunOptions<'_>) -> Result<Vec<Report>, RunError> {
    let loads = loads(jobs, options.cancel)?;
    let groups = groups(jobs);
    let largest = groups.iter().map(Vec::len).max().unwrap_or(1);
    let at_once = at_once(jobs, &groups, (options.threads / largest).max(1), options.threads)?;
    let threads = (options.threads / at_once).max(1);
    let age_and_run = |alike: &[usize]| {
        let _stop = CancelOnPanic(options.cancel);
        let (first, load) = (&jobs[alike[0]], &loads[alike[0]]);
        let load = rewrites(&first.variant.scenario).then_some(&**load);
        let (aged, ageing_ns) = age_or_load(alike[0], first, load, threads, options)?;
        Group { jobs, loads: &loads, alike, threads, ageing_ns, options }.run(aged)
    };
    let mut runs: Vec<Option<Report>> = jobs.iter().map(|_| None).collect();
    for (index, report) in
        workers::each(groups.iter(), at_once, |alike| age_and_run(alike.as_slice()))?.into_iter().flatten()
    {
        runs[index] = Some(report);
    }
    Ok(runs.into_iter().flatten().collect())
}

/// The aged array that a job starts from, from the cache if it is there, and how long that took in ns. Aged by `load`, if given.
fn age_or_load(
    run: usize,
    job: &Job,
    load: Option<&Load>,
    threads: usize,
    options: &RunOptions<'_>,
) -> Result<(AgedState, u64), RunError> {
    let clock = report::Stopwatch::start();
    let scenario = &job.variant.scenario;
    let cache = options.cache.filter(|_| ages_anywhere_alike(scenario));
    // A trace may hold something else tomorrow.
    let content = || load.map_or(Ok(String::new()), Load::content).map_err(|error| bad_input(error.0, ""));
    let key = |cache| Ok((cache, ageing_key(scenario) + &content()?));
    let kept = cache.map(key).transpose()?;
    if let Some(aged) = kept.as_ref().and_then(|(cache, key)| cache.load(key, &scenario.array)) {
        return Ok((aged, clock.elapsed_ns()));
    }
    let aged = precondition(run, job, load, threads, options)?;
    let ageing_ns = clock.elapsed_ns();
    if let Some((cache, key)) = kept {
        cache.store(&key, &aged, options.cancel);
    }
    Ok((aged, ageing_ns))
}

/// The aged array that a scenario starts from, for [`run_aged`]: from the cache if it is there.
///
/// # Errors
/// If the array cannot be aged, or it is cancelled.
pub fn aged_state(
    scenario: &Scenario,
    threads: usize,
    options: &RunOptions<'_>,
) -> Result<AgedState, RunError> {
    let job = Job::only(0, Variant { label: String::new(), scenario: scenario.clone() });
    let load = rewrites(scenario).then(|| prepare(scenario, options.cancel)).transpose()?;
    age_or_load(0, &job, load.as_ref(), threads, options).map(|(aged, _)| aged)
}

/// What ageing a scenario's array depends on: scenarios of which it is equal start from the same aged array.
pub fn aged_by(scenario: &Scenario) -> String {
    ageing_key(scenario)
}

/// Whether so many copies of a scenario's array fit into the memory there is.
///
/// # Errors
/// If they do not; the message says how many devices would.
pub fn fits_in_memory(scenario: &Scenario, copies: usize) -> Result<(), RunError> {
    memory::check(scenario, copies)
}

/// How many arrays have to be aged for these variants, or read from the cache; with several seeds that many for each.
pub fn aged_arrays(variants: &[Variant]) -> usize {
    let jobs: Vec<Job> = variants.iter().cloned().map(|variant| Job::only(0, variant)).collect();
    groups(&jobs).len()
}

/// The load of every job, made ready before anything is aged; what is the same on the same array is made ready once.
///
/// # Errors
/// If a load contradicts itself or the array, or a trace cannot be read.
fn loads(jobs: &[Job], cancel: &AtomicBool) -> Result<Vec<Arc<Load>>, RunError> {
    let parts = |job: &Job| (job.variant.scenario.workload.clone(), drive::geometry(&job.variant.scenario));
    let mut loads: Vec<Arc<Load>> = Vec::with_capacity(jobs.len());
    let mut known = Vec::new();
    for job in jobs {
        let wanted = parts(job);
        let load = match known.iter().find(|(parts, _)| *parts == wanted) {
            Some((_, load)) => Arc::clone(load),
            None => {
                let load = Arc::new(prepare(&job.variant.scenario, cancel)?);
                known.push((wanted, Arc::clone(&load)));
                load
            }
        };
        loads.push(load);
    }
    Ok(loads)
}

fn prepare(scenario: &Scenario, cancel: &AtomicBool) -> Result<Load, RunError> {
    let go_on = || !cancel.load(Ordering::Relaxed);
    let load = scenario.workload.prepare_while(&drive::geometry(scenario), &go_on);
    load.map_err(|error| bad_input(error.0, ""))?.ok_or(RunError::Cancelled)
}

/// The jobs by the aged state they start from, in the order in which these are first needed.
fn groups(jobs: &[Job]) -> Vec<Vec<usize>> {
    let mut keys: Vec<String> = Vec::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let key = ageing_key(&job.variant.scenario);
        match keys.iter().position(|known| *known == key) {
            Some(group) => groups[group].push(index),
            None => {
                keys.push(key);
                groups.push(vec![index]);
            }
        }
    }
    groups
}

/// How many groups, at most `most`, can be worked on at the same time within the memory there is.
///
/// # Errors
/// If not even one fits.
fn at_once(jobs: &[Job], groups: &[Vec<usize>], most: usize, threads: usize) -> Result<usize, RunError> {
    let fits = |at_once: usize| {
        groups.iter().try_for_each(|alike| {
            let copies = at_once * (threads / at_once).clamp(1, alike.len());
            memory::check(&jobs[alike[0]].variant.scenario, copies)
        })
    };
    let wanted = most.min(groups.len()).max(1);
    (2..=wanted).rev().find(|&at_once| fits(at_once).is_ok()).map_or_else(|| fits(1).map(|()| 1), Ok)
}

/// The victim policy by which a device ages.
fn ages_as(gc: &GcConfig) -> PolicyConfig {
    let policy = victim::build(&gc.victim).ok();
    policy.and_then(|policy| policy.ages_as()).map_or_else(|| gc.victim.clone(), PolicyConfig::named)
}

/// Whether the key of its ageing says all there is to know. A victim policy that a program has added may do something else
/// under the same name in another process, or in this one tomorrow.
fn ages_anywhere_alike(scenario: &Scenario) -> bool {
    let members = &scenario.array.members;
    members.iter().all(|member| {
        let placement = &member.ssd.ftl.placement.policy;
        victim::POLICIES.is_built_in(&ages_as(&member.ssd.gc).policy)
            && placement::POLICIES.is_built_in(placement)
    })
}

/// The threshold at which a device collects while it ages.
fn ages_at(gc: &GcConfig) -> String {
    let GcConfig { hard_threshold, soft_threshold, .. } = gc;
    match gc.begins_at {
        BeginsAt::Schedule => format!("{hard_threshold:?}"),
        BeginsAt::Soft => format!("{hard_threshold:?} {soft_threshold:?}"),
    }
}

/// Everything that ageing depends on: scenarios with equal keys share an aged state.
fn ageing_key(scenario: &Scenario) -> String {
    let array = &scenario.array;
    let members = array.members.iter().map(|member| {
        let (ssd, gc, unit) = (&member.ssd, &member.ssd.gc, member.ssd.mapping_unit());
        // A key of `[ssd.ftl]` that is added has to be put on one side or the other.
        let FtlConfig {
            reserved_blocks,
            allocation,
            mapping_unit: _,
            mapping_cache,
            mapping_entry: _,
            allocation_unit,
            superblock,
            frontiers,
            placement,
            priority: _,
            multi_plane: _,
            open_blocks: _,
            free_list,
        } = &ssd.ftl;
        // So has one of `[ssd.gc]`.
        let GcConfig {
            domain: _,
            trigger: _,
            host_share: _,
            hard_threshold: _,
            soft_threshold: _,
            stop_threshold,
            begins_at: _,
            min_victims,
            victim: _,
            schedule: _,
            destination: _,
            last_program,
            concurrency: _,
        } = gc;
        let last = if ssd.fills_programs() { format!(" {last_program:?}") } else { String::new() };
        // Said only where it is not as in all states of before.
        let free_list = if *free_list == FreeList::Fifo { String::new() } else { format!(" {free_list:?}") };
        let superblock =
            if *superblock == Superblock::Off { String::new() } else { format!(" {superblock:?}") };
        // Caches of two sizes leave the same pages of the map on flash, unless they hold all of it.
        let on_flash =
            mapping_cache.and_then(|_| ssd.resolve().ok()).map_or(0, |shape| shape.map_pages().len());
        let map = if on_flash == 0 { String::new() } else { format!(" map {on_flash}") };
        let placement = match placement.policy.as_str() {
            "frontiers" => String::new(),
            _ => format!(" {placement:?}"),
        };
        format!(
            "{:?} {:?} {} {:?} {} {:?}{free_list}{superblock}{map}{placement}{last}{}",
            ssd.geometry,
            (reserved_blocks, allocation, allocation_unit, frontiers),
            ages_at(gc),
            stop_threshold,
            min_victims,
            ages_as(gc),
            // A unit of a whole page goes without saying, as it did before there were others.
            if unit < ssd.geometry.page_size { format!(" unit {unit}") } else { String::new() }
        )
    });
    let members: Vec<String> = members.collect();
    let Precondition { fill, overwrite, seed, overwrite_space: _, warmup_policy: _ } = scenario.precondition;
    let within = overwritten(scenario).map(|bytes| format!(", within: {bytes}")).unwrap_or_default();
    let by = rewritten_by(scenario).map(|by| format!(", by: {by}")).unwrap_or_default();
    let aged = format!("Precondition {{ fill: {fill:?}, overwrite: {overwrite:?}{within}{by} }}");
    format!("{} {aged} {} {members:?}", seed.unwrap_or(scenario.seed), filled(scenario))
}

/// Whether overwrites go where the load writes.
fn rewrites(scenario: &Scenario) -> bool {
    scenario.precondition.overwrite_space == OverwriteSpace::Load
}

/// What decides which pages of members they go to, beside what decides it for all; `None` if they do not.
fn rewritten_by(scenario: &Scenario) -> Option<String> {
    let load = || {
        let (array, load) = (&scenario.array, scenario.workload.as_rewritten());
        let geometry = drive::geometry(scenario);
        format!(
            "{} {load:?} {geometry:?} {} {} {:?}",
            scenario.seed, array.level, array.stripe_unit, array.parity_shares
        )
    };
    rewrites(scenario).then(load)
}

/// Ages by what the load writes, or everywhere if it writes nothing.
fn age_by_load(scenario: &Scenario, load: &Load, plan: &AgeingPlan<'_>) -> Result<AgedState, AgeingError> {
    let draws = Rng::stream(plan.seed, "age/load").next_u64();
    let wrong = |error: SourceError| error.0;
    match load.rewrites(scenario.seed, draws).map_err(wrong).map_err(AgeingError::Load)? {
        Some(mut rewrites) => {
            let excluded = drive::excluded(scenario);
            age_by(&scenario.array, plan, excluded, &mut || rewrites.draw().map_err(wrong))
        }
        None => age(&scenario.array, plan),
    }
}

/// The first bytes of the array that overwrites keep to, whole pages; `None` if they go to all that is filled.
fn overwritten(scenario: &Scenario) -> Option<Bytes> {
    let WorkloadConfig::Synthetic(load) = &scenario.workload else { return None };
    let is_kept = scenario.precondition.overwrite_space == OverwriteSpace::Footprint;
    let bytes = scenario.space.unwrap_or(scenario.array.layout().logical_bytes());
    let page = scenario.array.page_size();
    // A share is of whole pages, to the nearest one.
    let footprint = match load.footprint {
        Extent::Share(share) => ((bytes / page) as f64 * share).round() as u64 * page,
        Extent::Bytes(bytes) => bytes.next_multiple_of(page),
    };
    is_kept.then_some(footprint.max(page))
}

/// What ageing fills of each member, and what it writes once behind that. A layout has no other part in it, so that levels
/// which use as much of their members share an aged state where all of them is filled, or nothing.
fn filled(scenario: &Scenario) -> String {
    let (array, fill) = (&scenario.array, scenario.precondition.fill);
    let layout = array.layout();
    let mut ranges: Vec<std::ops::Range<u64>> = Vec::new();
    for zone in layout.filled_zones(fill).filter(|zone| !zone.is_empty()) {
        match ranges.last_mut() {
            Some(last) if last.end == zone.start => last.end = zone.end,
            _ => ranges.push(zone),
        }
    }
    let end = ranges.last().map_or(0, |last| last.end);
    // Where data ends, parity goes on, and lies where level, placement and stripe unit put it.
    // Declustered parity leaves holes of spare space in what is filled.
    let has_holes = array.level.distributed_spares() > 0 || layout.is_floating();
    let parity =
        (array.level.parities() > 0 && 0 < end && (has_holes || end < layout.member_bytes())).then(|| {
            let shares = format!("{:?}", array.parity_shares).replace("[]", "");
            let floating = if layout.is_floating() { "floating " } else { "" };
            format!("{floating}{} {} {}{shares}", array.level, array.stripe_unit, layout.member_bytes())
        });
    format!("{ranges:?} {parity:?}")
}

/// Host pages that ageing writes, about.
fn pages_to_age(scenario: &Scenario) -> u64 {
    let Precondition { fill, overwrite, .. } = scenario.precondition;
    let of_all =
        |bytes: Bytes| (bytes as f64 / scenario.array.layout().logical_bytes() as f64 / fill).min(1.0);
    ageing_pages(&scenario.array, fill, overwrite * overwritten(scenario).map_or(1.0, of_all))
}

fn precondition(
    run: usize,
    job: &Job,
    load: Option<&Load>,
    threads: usize,
    options: &RunOptions<'_>,
) -> Result<AgedState, RunError> {
    let scenario = &job.variant.scenario;
    let (fill, overwrite) = (scenario.precondition.fill, scenario.precondition.overwrite);
    let pages_done = AtomicU64::new(0);
    let total = pages_to_age(scenario);
    options.progress.begin(run, &job.ageing, Stage::Precondition, total);
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
            within: overwritten(scenario),
            counted_from: COUNTED_FROM,
            seed: scenario.precondition.seed.unwrap_or(scenario.seed),
            threads,
            cancel: options.cancel,
            pages_done: &pages_done,
        };
        let result = match load {
            Some(load) => age_by_load(scenario, load, &plan),
            None => age(&scenario.array, &plan),
        };
        over.store(true, Ordering::Release);
        watcher.thread().unpark();
        result
    });
    options.progress.end(run);
    result.map_err(|error| match error {
        AgeingError::Cancelled => RunError::Cancelled,
        AgeingError::Infeasible(why) => bad_input(why, "a device that can work"),
        AgeingError::Load(why) => bad_input(why, ""),
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

/// What can be known to be wrong before anything runs: the load against the array, the trace's first lines up to the end
/// of the warm-up, and all of it where it has to be read beforehand.
///
/// # Errors
/// The same as [`run`] would end with, but at once.
pub fn preflight(scenario: &Scenario) -> Result<(), RunError> {
    let load = prepare(scenario, &AtomicBool::new(false))?;
    match &scenario.workload {
        WorkloadConfig::Trace(trace) => outlasts(&load, trace.warmup, scenario.seed),
        // Its requests are compared with its warm-up where they are written.
        WorkloadConfig::Synthetic(_) | WorkloadConfig::Streams(_) => Ok(()),
    }
}

/// Whether a request of an open load comes after its warm-up.
fn outlasts(load: &Load, warmup: Limit, seed: u64) -> Result<(), RunError> {
    let mut source = load.source(seed).map_err(|error| bad_input(error.0, ""))?;
    let (mut now, mut seen) = (SimTime::ZERO, 0);
    loop {
        match source.next(now, &[]).map_err(|error| bad_input(error.0, ""))? {
            Next::At(request) if is_over(warmup, seen, request.arrival) => return Ok(()),
            Next::At(request) => (now, seen) = (request.arrival, seen + 1),
            Next::End => return Err(too_short(seen)),
            Next::AfterCompletion | Next::Until(_) => return Ok(()),
        }
    }
}

/// Whether the request that arrives now, behind so many others, is the first one after the warm-up.
fn is_over(warmup: Limit, before: u64, arrival: SimTime) -> bool {
    match warmup {
        Limit::Requests(requests) => before >= requests,
        Limit::Duration(length) => arrival.0 >= length.0,
    }
}

fn too_short(requests: u64) -> RunError {
    bad_input(
        format!("the load ended after {requests} requests, before the warm-up did"),
        "a shorter workload.warmup, or a longer load (workload.requests or workload.duration, or a longer trace)",
    )
}

pub(crate) fn bad_input(problem: impl Into<String>, allowed: &str) -> RunError {
    RunError::BadInput(BadInput::plain(problem, allowed))
}

/// Variants that start from the same aged state.
struct Group<'a> {
    jobs: &'a [Job],
    /// By job.
    loads: &'a [Arc<Load>],
    alike: &'a [usize],
    threads: usize,
    ageing_ns: u64,
    options: &'a RunOptions<'a>,
}

impl Group<'_> {
    /// Runs all of them, as many at once as there are threads.
    fn run(&self, aged: AgedState) -> Result<Vec<(usize, Report)>, RunError> {
        let AgedState { devices, steadiness } = aged;
        let warmups = self.warmups();
        let (mut devices, last) = (Some(devices), warmups.len().saturating_sub(1));
        let mut reports = Vec::new();
        for (place, (under, alike)) in warmups.iter().enumerate() {
            let states = if place == last { devices.take() } else { devices.clone() }.unwrap_or_default();
            let start = match under {
                Some(variant) => self.job(alike[0], "warming up", variant).warm_up(states)?,
                None => Start::aged(states),
            };
            reports.extend(self.run_from(start, alike, &steadiness)?);
        }
        Ok(reports)
    }

    /// The runs by the warm-up that they begin with, if it is not their own.
    fn warmups(&self) -> Vec<(Option<Variant>, Vec<usize>)> {
        let mut warmups: Vec<(Option<Variant>, Vec<usize>)> = Vec::new();
        for &index in self.alike {
            let under = warmup::warms_up_as(&self.jobs[index].variant.scenario);
            match warmups.iter_mut().find(|(known, _)| *known == under) {
                Some((_, alike)) => alike.push(index),
                None => warmups.push((under, vec![index])),
            }
        }
        warmups
    }

    /// Runs some of them, which begin alike.
    fn run_from(
        &self,
        start: Start,
        alike: &[usize],
        steadiness: &Steadiness,
    ) -> Result<Vec<(usize, Report)>, RunError> {
        // The last to start takes the state itself instead of a copy.
        let (mut start, last) = (Some(start), alike.len().saturating_sub(1));
        let started = alike.iter().enumerate().map(move |(place, &index)| {
            let own = if place == last { start.take().map(Ok) } else { start.as_ref().map(Start::fork) };
            (index, own.unwrap_or_else(|| Ok(Start::aged(Vec::new()))))
        });
        let at_once = self.threads.min(alike.len()).max(1);
        workers::each(started, at_once, |(index, start)| {
            let _stop = CancelOnPanic(self.options.cancel);
            let Job { variant, name, .. } = &self.jobs[index];
            let run = drive::Run { threads: self.threads / at_once, ..self.job(index, name, variant) };
            let measured = run.measure(start?)?;
            Ok((index, report::build(variant, steadiness, self.ageing_ns, measured)))
        })
    }

    fn job<'b>(&'b self, index: usize, name: &'b str, variant: &'b Variant) -> drive::Run<'b> {
        let (load, options) = (&self.loads[index], self.options);
        drive::Run { index, id: self.jobs[index].id, name, variant, load, threads: self.threads, options }
    }
}
