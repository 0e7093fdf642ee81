//! From a search to simulations: builds the scenario of every trial, runs those that nobody has run, keeps them.
//!
//! A trial is found again by its resolved scenario, in memory and, where a folder is given, on the disk: a search that was
//! stopped is started again from its beginning and comes to where it was without a simulation, to the same byte. All
//! objectives of a run are kept, so that another objective may use it too. Leaves out: judging; see
//! [`verdict`](crate::verdict).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use harmonia_metrics::Report;
use harmonia_run::{MOST_SEEDS, Outcome, RunError, RunOptions, Store, outcomes};
use harmonia_scenario::{BadInput, Scenario, Template, TraceFile, Variant};

use crate::objective::{OBJECTIVES, Objective};
use crate::report::TuneReport;
use crate::search::{Plan, Point, Trial, first_grid, least_budget, search};
use crate::space::Space;

/// Runs that are simulated together; stopping loses at most so many.
const BATCH: usize = 16;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The scenario.
    pub template: Template,
    /// What is changed in it throughout, as for `--set`.
    pub sets: &'a [String],
    /// A trace that replaces its load.
    pub trace: Option<TraceFile>,
    /// The keys that are varied.
    pub space: Space,
    /// What is made small.
    pub objective: &'static Objective,
    /// Seeds of the search; as many more are held out.
    pub seeds: u64,
    /// Most runs.
    pub budget: u64,
}

/// Hears what a search does.
pub trait Watch {
    /// So many runs need no simulation: they were kept, or something just like them ran.
    fn known(&self, runs: usize);
}

/// A search that can begin.
pub struct Campaign<'a> {
    pub(crate) request: Request<'a>,
    /// As it stands.
    pub(crate) scenario: Scenario,
    pub(crate) plan: Plan,
}

/// What is kept of a run: every objective that it has.
type Figures = BTreeMap<String, f64>;

fn figures(run: &Report) -> Figures {
    let figure = |objective: &Objective| Some((objective.name.to_owned(), (objective.of)(run)?));
    OBJECTIVES.iter().filter_map(figure).collect()
}

impl<'a> Campaign<'a> {
    /// Checks all that can be known before anything runs.
    ///
    /// # Errors
    /// If the scenario cannot be used, a key is given and varied, no point of the first grid is a valid scenario (the
    /// message is that of the first), there are too few or too many seeds, or the budget is too small.
    pub fn new(request: Request<'a>) -> Result<Self, BadInput> {
        let scenario = request.template.with(request.sets, request.trace.as_ref())?;
        check_keys(&request)?;
        check_seeds(&request, scenario.seed)?;
        let resolved: toml::Table = scenario.to_toml().parse().unwrap_or_default();
        let plan = Plan {
            dimensions: request.space.dimensions(),
            place: request.space.place_of(&resolved),
            seeds: request.seeds as usize,
            budget: request.budget,
        };
        check_budget(&plan)?;
        let campaign = Campaign { request, scenario, plan };
        campaign.check_grid()?;
        Ok(campaign)
    }

    /// A search of which every point is refused would end with nothing to show.
    fn check_grid(&self) -> Result<(), BadInput> {
        let mut refused = None;
        for point in first_grid(&self.plan) {
            match self.at(Some(&point), 0) {
                Ok(_) => return Ok(()),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// The scenario of a trial.
    fn at(&self, point: Option<&Point>, seed: usize) -> Result<Scenario, BadInput> {
        let more = point.map(|point| self.request.space.sets(point)).unwrap_or_default();
        let sets = [self.request.sets, &more].concat();
        let mut scenario = self.request.template.with(&sets, self.request.trace.as_ref())?;
        scenario.seed = self.scenario.seed + seed as u64;
        Ok(scenario)
    }

    /// Searches; finished runs are kept in the folder, if there is one.
    ///
    /// # Errors
    /// If the folder cannot be used, the objective has no value for the scenario as it stands, every point is refused, or
    /// it is cancelled; what was run until then is kept.
    pub fn run(
        &self,
        folder: Option<&Path>,
        options: &RunOptions<'_>,
        watch: &dyn Watch,
    ) -> Result<TuneReport, RunError> {
        let store = folder.map(Store::<Figures>::open).transpose()?;
        let runner = Runner { campaign: self, store, options, watch, known: RefCell::default() };
        let found = search(&self.plan, &mut |trials: &[Trial<'_>]| runner.costs(trials))?;
        TuneReport::of(self, &found)
    }

    /// Whether the scenario takes the value that would follow beyond the end of a key's range.
    pub(crate) fn goes_on(&self, key: usize, point: &Point) -> bool {
        let axis = &self.request.space.axes[key];
        let mut sets = [self.request.sets, &self.request.space.sets(point)].concat();
        let Some(beyond) = axis.beyond(point[key]) else { return false };
        // The last word counts.
        sets.push(format!("{}={beyond}", axis.key));
        self.request.template.with(&sets, self.request.trace.as_ref()).is_ok()
    }

    /// The scenario with the best values that were found.
    ///
    /// # Errors
    /// If the report is that of another campaign.
    pub fn tuned(&self, report: &TuneReport) -> Result<Scenario, BadInput> {
        let sets = [self.request.sets, &report.best.sets].concat();
        self.request.template.with(&sets, self.request.trace.as_ref())
    }

    /// What a point is called while it runs.
    fn label(&self, point: Option<&Point>) -> String {
        let Some(point) = point else { return "as it stands".to_owned() };
        let values = self.request.space.axes.iter().zip(point).map(|(axis, &index)| axis.value(index));
        values.collect::<Vec<_>>().join(" ")
    }
}

fn check_keys(request: &Request<'_>) -> Result<(), BadInput> {
    let given = |key: &str| request.sets.iter().any(|set| set.split('=').next().map(str::trim) == Some(key));
    let keys = || request.space.axes.iter().map(|axis| axis.key.as_str());
    match keys().find(|key| given(key) || *key == "seed") {
        Some("seed") => Err(BadInput::plain(
            "--over seed: the seed is no parameter of the array",
            "allowed: --seeds N, the number of seeds that every point runs with",
        )),
        Some(key) => Err(BadInput::plain(
            format!("`{key}` is varied by --over and given by --set"),
            "allowed: one of the two",
        )),
        None => Ok(()),
    }
}

fn check_seeds(request: &Request<'_>, first: u64) -> Result<(), BadInput> {
    let seeds = request.seeds;
    if !(2..=MOST_SEEDS / 2).contains(&seeds) {
        return Err(BadInput::plain(
            format!("--seeds {seeds}: a search cannot use that many"),
            &format!("allowed: 2 to {}; one seed cannot tell a difference from chance", MOST_SEEDS / 2),
        ));
    }
    if first.checked_add(2 * seeds).is_none() {
        return Err(BadInput::plain(
            format!("`seed` = {first}: {} seeds from there go beyond {}", 2 * seeds, u64::MAX),
            &format!("allowed: a seed of at most {}", u64::MAX - 2 * seeds),
        ));
    }
    Ok(())
}

fn check_budget(plan: &Plan) -> Result<(), BadInput> {
    let least = least_budget(&plan.dimensions, plan.seeds);
    if plan.budget >= least {
        return Ok(());
    }
    Err(BadInput::plain(
        format!(
            "--budget {}: too few runs for {} keys and {} seeds",
            plan.budget,
            plan.dimensions.len(),
            plan.seeds
        ),
        &format!("allowed: at least {least} here; fewer with fewer keys, choices or seeds"),
    ))
}

/// Runs trials.
struct Runner<'a> {
    campaign: &'a Campaign<'a>,
    store: Option<Store<Figures>>,
    options: &'a RunOptions<'a>,
    watch: &'a dyn Watch,
    /// By resolved scenario.
    known: RefCell<BTreeMap<String, Outcome<Figures>>>,
}

impl Runner<'_> {
    /// The cost of every trial.
    fn costs(&self, trials: &[Trial<'_>]) -> Result<Vec<Outcome<f64>>, RunError> {
        let at = |trial: &Trial<'_>| self.campaign.at(trial.point, trial.seed);
        let scenarios: Vec<Result<Scenario, BadInput>> = trials.iter().map(at).collect();
        self.simulate(trials, &scenarios)?;
        let known = self.known.borrow();
        let outcome = |scenario: &Result<Scenario, BadInput>| match scenario {
            Err(why) => Outcome::Refused(why.problem().to_owned()),
            Ok(scenario) => self.cost(&known[&scenario.to_toml()]),
        };
        let outcomes: Vec<Outcome<f64>> = scenarios.iter().map(outcome).collect();
        self.check_objective(trials, &scenarios, &known)?;
        Ok(outcomes)
    }

    fn cost(&self, outcome: &Outcome<Figures>) -> Outcome<f64> {
        match outcome {
            Outcome::Refused(why) => Outcome::Refused(why.clone()),
            Outcome::Measured(figures) => match figures.get(self.campaign.request.objective.name) {
                Some(&cost) => Outcome::Measured(cost),
                None => {
                    Outcome::Refused(format!("too few requests for {}", self.campaign.request.objective.name))
                }
            },
        }
    }

    /// An objective that the scenario as it stands has no value for is no objective.
    fn check_objective(
        &self,
        trials: &[Trial<'_>],
        scenarios: &[Result<Scenario, BadInput>],
        known: &BTreeMap<String, Outcome<Figures>>,
    ) -> Result<(), RunError> {
        let name = self.campaign.request.objective.name;
        let lacks = |scenario: &Scenario| matches!(&known[&scenario.to_toml()], Outcome::Measured(figures) if !figures.contains_key(name));
        let as_is = trials.iter().zip(scenarios).filter(|(trial, _)| trial.point.is_none());
        match as_is.filter_map(|(_, scenario)| scenario.as_ref().ok()).any(lacks) {
            false => Ok(()),
            true => Err(RunError::BadInput(BadInput::plain(
                format!("--objective {name}: a run has too few requests of that kind to say"),
                "allowed: a longer load (workload.requests), or an objective further from the tail",
            ))),
        }
    }

    /// Runs what is not known yet, a seed after the other.
    fn simulate(
        &self,
        trials: &[Trial<'_>],
        scenarios: &[Result<Scenario, BadInput>],
    ) -> Result<(), RunError> {
        let mut missing: Vec<(usize, String, Variant)> = Vec::new();
        let mut known = 0;
        for (trial, scenario) in trials.iter().zip(scenarios) {
            let Ok(scenario) = scenario else { continue };
            let text = scenario.to_toml();
            if self.knows(&text, scenario) || missing.iter().any(|(_, other, _)| *other == text) {
                known += 1;
                continue;
            }
            let label = format!("{} seed {}", self.campaign.label(trial.point), scenario.seed);
            missing.push((trial.seed, text, Variant { label, scenario: scenario.clone() }));
        }
        self.watch.known(known);
        let seeds = missing.chunk_by(|(one, ..), (other, ..)| one == other);
        seeds.flat_map(|seed| seed.chunks(BATCH)).try_for_each(|batch| self.simulate_batch(batch))
    }

    fn knows(&self, text: &str, scenario: &Scenario) -> bool {
        let mut known = self.known.borrow_mut();
        if known.contains_key(text) {
            return true;
        }
        let kept = self.store.as_ref().and_then(|store| store.load(scenario));
        kept.map(|outcome| known.insert(text.to_owned(), outcome)).is_some()
    }

    fn simulate_batch(&self, batch: &[(usize, String, Variant)]) -> Result<(), RunError> {
        let variants: Vec<Variant> = batch.iter().map(|(_, _, variant)| variant.clone()).collect();
        let outcomes = outcomes(&variants, self.options, &figures)?;
        for ((_, text, variant), outcome) in batch.iter().zip(outcomes) {
            if let Some(store) = &self.store {
                store.save(&variant.scenario, &outcome)?;
            }
            self.known.borrow_mut().insert(text.clone(), outcome);
        }
        Ok(())
    }
}
