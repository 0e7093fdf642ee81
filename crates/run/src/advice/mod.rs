//! Advice: does garbage collection matter on this array under this load, and what would change it?
//!
//! ```text
//!   plan: array as it is | ideal    -> does collection matter?     levers.rs says what is tried, and in which order
//!         one change at a time      -> what does each bring?
//!         both at twice the rate    -> what would change the answer?
//! ```
//!
//! Every figure and every interval is that of a comparison of runs on the same requests ([`harmonia_metrics::versus`]). What
//! is decided: whether collection matters ([`judgement::collection`](harmonia_metrics::judgement::collection)), and which change is
//! worth it.
//!
//! Leaves out: several changes at once, other drives, prices.

mod levers;
mod verdict;

pub use harmonia_metrics::judgement::collection::{Figure, Metric, Verdict, is_sure};
use harmonia_metrics::judgement::collection::{figures, void};
use harmonia_metrics::judgement::{NO_COLLECTION, OVERLOAD};
use harmonia_metrics::{Comparison, DriveLimits, LifetimeReport, Report, Versus, Warning, versus};
use harmonia_scenario::Scenario;
use serde::Serialize;

use crate::{RunError, RunOptions, compare_seeds};
pub use levers::{Kind, Lever, NotTried, Plan};
pub use verdict::Recommendation;

/// Seeds of the array as it is where fewer cannot tell.
const MORE_SEEDS: u64 = 5;

/// The `schema` of an [`Advice`].
pub const ADVICE_SCHEMA: &str = "harmonia-advice/1";

/// One page of answer.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// [`ADVICE_SCHEMA`].
    pub schema: &'static str,
    /// Version of Harmonia.
    pub version: &'static str,
    /// The scenario as it is.
    pub scenario: serde_json::Value,
    /// Seeds that every run had.
    pub seeds: Vec<u64>,
    /// What nobody said.
    pub assumed: Vec<String>,
    /// Whether collection matters here.
    pub verdict: Verdict,
    /// What the verdict rests on.
    pub why: String,
    /// What collection costs: the array as it is, against the same if collection took no time.
    pub collection: Vec<Figure>,
    /// What is asked for and what is served.
    pub load: Load,
    /// What each drive takes, in its order.
    pub drives: Vec<Drive>,
    /// What each change brings, in the order in which they were tried.
    pub levers: Vec<Tried>,
    /// What was not tried, and why.
    pub not_tried: Vec<NotTried>,
    /// What to do.
    pub recommendation: Recommendation,
    /// What collection costs at twice the rate.
    pub at_twice_the_rate: Option<Doubled>,
    /// What would change the answer, in words.
    pub would_change_it: Vec<String>,
    /// What is to be known of the run of the array as it is.
    pub warnings: Vec<Warning>,
}

/// What the load asks for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Load {
    /// Requests that arrive in a second; null in a closed loop.
    pub offered_iops: Option<f64>,
    /// Requests that are answered in a second.
    pub served_iops: f64,
    /// Bytes that are read and written in a second.
    pub bytes_per_second: f64,
    /// Share of the array's space that holds data. Unit: fraction.
    pub fill: f64,
    /// What the user can store on the array as it is, full drives. Unit: bytes.
    pub usable_bytes: u64,
    /// Simulated time of the window. Unit: s.
    pub window_s: f64,
    /// Flash bytes per byte that the user wrote.
    pub write_amplification: Option<f64>,
}

/// What a drive takes, at the rate of the window.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Drive {
    /// Its number.
    pub device: u16,
    /// Rates, write amplification, and years where something says what the drive endures.
    pub lifetime: LifetimeReport,
}

/// One change that was tried.
#[derive(Debug, Clone, Serialize)]
pub struct Tried {
    /// What kind of change it is.
    pub kind: Kind,
    /// What it is called.
    pub name: String,
    /// What drives must reveal and accept: `array.interface`.
    pub needs: String,
    /// What it costs, in words.
    pub costs: String,
    /// Its figures, held against those of the array as it is.
    pub figures: Vec<Figure>,
    /// Flash bytes per byte that the user wrote.
    pub write_amplification: Option<f64>,
    /// How these differ from those of the array as it is, over whole collection cycles.
    pub write_amplification_change: Option<Versus>,
    /// Years until the first drive ends, where something says what drives endure.
    pub years: Option<f64>,
    /// The warning for which its figures say nothing.
    pub void: Option<String>,
}

/// What collection costs at twice the rate.
#[derive(Debug, Clone, Serialize)]
pub struct Doubled {
    /// Its figures with collection, against those without it.
    pub collection: Vec<Figure>,
    /// The warning for which they say nothing.
    pub void: Option<String>,
}

/// Runs what is planned. As soon as it is known whether collection matters, `first` gets the advice so far: all but what changes
/// bring and what follows from it. `go_on` is asked before each further run, with its name, and says whether there is time for it.
/// Returns the comparison of all runs, too, the array as it is being the first.
///
/// # Errors
/// If the array as it is cannot be run, or it is cancelled. A change that cannot be run is told as not tried.
pub fn advise(
    plan: &Plan,
    seeds: u64,
    first: &dyn Fn(&Advice),
    go_on: &dyn Fn(&str) -> bool,
    options: &RunOptions<'_>,
) -> Result<(Advice, Comparison), RunError> {
    let mut runs = compare_seeds(&plan.pair, seeds, options)?.runs;
    let (base, bound) = runs.split_at(seeds as usize);
    let (base, bound) = (base.to_vec(), bound.to_vec());
    let pairs = plan.levers.len().max(1);
    // Whether collection matters is one question, and comes first.
    let mut collection = figures(&base, &bound, 1);
    let (mut verdict, mut why) = verdict::of(&base, &bound, &collection);
    if verdict == Verdict::CannotTell && seeds < MORE_SEEDS && go_on("more seeds") {
        let more = compare_seeds(&plan.pair, MORE_SEEDS, options)?.runs;
        let (base, bound) = more.split_at(MORE_SEEDS as usize);
        let figures = figures(base, bound, 1);
        let (clearer, because) = verdict::of(base, bound, &figures);
        (verdict, why) = (clearer, format!("{because} ({MORE_SEEDS} seeds)"));
        collection = figures;
    }
    let scenario = &plan.pair[0].scenario;
    let mut advice = Advice {
        schema: ADVICE_SCHEMA,
        version: crate::VERSION,
        scenario: base[0].scenario.clone(),
        seeds: base.iter().map(|run| run.seed).collect(),
        assumed: Vec::new(),
        verdict,
        load: load(scenario, &base[0]),
        drives: drives(scenario, &base[0]),
        levers: Vec::new(),
        not_tried: plan.not_tried.clone(),
        recommendation: verdict::recommend(verdict, &collection, &[]),
        at_twice_the_rate: None,
        would_change_it: Vec::new(),
        warnings: warnings(Comparison::new(base.clone(), seeds as usize).warnings, verdict, &why),
        collection,
        why,
    };
    first(&advice);
    let mut is_over = false;
    for lever in &plan.levers {
        is_over = is_over || !go_on(&lever.name);
        if is_over {
            advice.not_tried.push(NotTried { name: lever.name.clone(), why: "the time was over".to_owned() });
            continue;
        }
        match compare_seeds(std::slice::from_ref(&lever.variant), seeds, options) {
            Ok(comparison) => {
                advice.levers.push(of_lever(lever, &comparison.runs, &base, pairs));
                runs.extend(comparison.runs);
            }
            Err(RunError::BadInput(bad)) => {
                advice.not_tried.push(NotTried { name: lever.name.clone(), why: bad.problem().to_owned() });
            }
            Err(error) => return Err(error),
        }
    }
    if let Some(pair) = plan.doubled.as_ref().filter(|pair| !is_over && go_on(&pair[0].label)) {
        advice.at_twice_the_rate = match compare_seeds(pair, seeds, options) {
            Ok(comparison) => Some(doubled(&comparison.runs, seeds as usize)),
            Err(RunError::BadInput(_)) => None,
            Err(error) => return Err(error),
        };
    }
    advice.recommendation = verdict::recommend(verdict, &advice.collection, &advice.levers);
    advice.would_change_it =
        verdict::would_change_it(verdict, &advice.collection, advice.at_twice_the_rate.as_ref(), scenario);
    Ok((advice, Comparison::new(runs, seeds as usize)))
}

/// The warnings of the array as it is. Where the verdict rests on that of an overload, it says, too, what became of the run without
/// collection.
fn warnings(mut all: Vec<Warning>, verdict: Verdict, why: &str) -> Vec<Warning> {
    let rests_on = |warning: &&mut Warning| verdict == Verdict::Overload && warning.code == OVERLOAD;
    let overloads = all.iter_mut().filter(rests_on);
    overloads.for_each(|warning| warning.text = why.to_owned());
    all
}

fn of_lever(lever: &Lever, runs: &[Report], base: &[Report], pairs: usize) -> Tried {
    let lives = runs.iter().map(|run| run.array.lifetime.as_ref()?.first.map(|first| first.years));
    let lives: Option<Vec<f64>> = lives.collect();
    Tried {
        kind: lever.kind,
        name: lever.name.clone(),
        needs: lever.needs.name().to_owned(),
        costs: lever.costs.clone(),
        figures: figures(runs, base, pairs),
        write_amplification: amplification(&runs[0]),
        write_amplification_change: versus(runs, base, pairs).write_amplification_whole_cycles,
        years: lives.map(|lives| lives.iter().sum::<f64>() / lives.len().max(1) as f64),
        // Without collection there is nothing to wait for, which is what the change may have been for.
        void: void(runs).filter(|warning| warning.code != NO_COLLECTION).map(|warning| warning.code.clone()),
    }
}

fn doubled(runs: &[Report], seeds: usize) -> Doubled {
    let (with, without) = runs.split_at(seeds);
    Doubled {
        collection: figures(with, without, 1),
        void: void(with).or_else(|| void(without)).map(|warning| warning.code.clone()),
    }
}

fn amplification(run: &Report) -> Option<f64> {
    run.array.write_amplification_whole_cycles.or(run.array.write_amplification)
}

fn load(scenario: &Scenario, run: &Report) -> Load {
    let arrivals = run.host.arrivals_ns.filter(|&ns| ns > 0);
    Load {
        offered_iops: arrivals.map(|ns| run.host.requests as f64 * 1e9 / ns as f64),
        served_iops: run.served_requests().unwrap_or_default(),
        bytes_per_second: run.served_bytes().unwrap_or_default(),
        fill: scenario.precondition.fill,
        usable_bytes: crate::drive::full_bytes(scenario).unwrap_or(scenario.array.layout().logical_bytes()),
        window_s: run.simulated_ns as f64 / 1e9,
        write_amplification: amplification(run),
    }
}

/// Rates and, where something says what drives endure, years.
fn drives(scenario: &Scenario, run: &Report) -> Vec<Drive> {
    let of = |((device, report), member): (
        (u16, &harmonia_metrics::DeviceReport),
        &harmonia_array::MemberConfig,
    )| {
        let full = member.ssd.full();
        let capacity =
            full.resolve().map_or(0, |shape| u64::from(shape.capacity_pages) * u64::from(shape.page_size));
        let rates = || {
            let limits = DriveLimits { capacity, ..DriveLimits::default() };
            LifetimeReport::of(&limits, report, run.simulated_ns)
        };
        Drive { device, lifetime: report.lifetime.unwrap_or_else(rates) }
    };
    (0..).zip(&run.devices).zip(&scenario.array.members).map(of).collect()
}

/// About how long this takes, in s: ageing and simulation of every run on so many threads.
pub fn seconds(plan: &Plan, threads: usize) -> f64 {
    // Page operations a second of one thread, as measured on a processor of 2023.
    const RATE: f64 = 3e7;
    let ageing =
        |scenario: &Scenario| crate::seeds::ageing_operations(scenario) / RATE / threads.max(1) as f64;
    let mut aged = vec![crate::aged_by(&plan.pair[0].scenario)];
    let mut seconds = ageing(&plan.pair[0].scenario);
    for lever in &plan.levers {
        let key = crate::aged_by(&lever.variant.scenario);
        if !aged.contains(&key) {
            seconds += ageing(&lever.variant.scenario);
            aged.push(key);
        }
    }
    seconds
}
