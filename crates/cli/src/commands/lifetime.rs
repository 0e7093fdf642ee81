//! `harmonia lifetime`: a short run of each variant, and the years that follow from it.

use harmonia_metrics::{Comparison, Interval, LIFETIME_SCHEMA, Report, VariantLifetime, lifetimes};
use harmonia_run::RunOptions;
use harmonia_scenario::{Scenario, Variant};
use harmonia_tables::{self as tables, numbers};
use harmonia_types::SimDuration;
use harmonia_types::units::DAYS_PER_YEAR;
use harmonia_workload::{Limit, WorkloadConfig};
use serde::Serialize;

use super::policies::{self, Crossed};
use super::seeds::seeds_of;
use super::simulate::{Files, Session, announcement, first_scenario, hints, json, rerunnable};
use crate::failure::Failure;

/// A whole life of so many page operations takes about a minute.
const MOST_OPERATIONS: f64 = 2e8;
/// How much longer than the closed form says a life may be.
const LONGEST: f64 = 1.5;
const YEAR_S: f64 = DAYS_PER_YEAR * 86_400.0;

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    schema: &'static str,
    version: &'static str,
    scenario: &'a serde_json::Value,
    variants: &'a [VariantLifetime],
    assumptions: Vec<String>,
}

impl Session<'_> {
    /// How many years drives last, for each policy and each value swept; with `exact` by whole lives, too.
    pub(crate) fn lifetime(&self, policies: Option<&[String]>, exact: bool) -> Result<(), Failure> {
        let Crossed { variants, cross, .. } = match policies {
            Some(policies) => policies::crossed(&self.template, self.changes, Some(policies))?,
            None => policies::swept(&self.template, self.changes)?,
        };
        variants.iter().try_for_each(says_what_drives_endure)?;
        if exact {
            variants.iter().try_for_each(can_end)?;
        }
        let folder = self.folder()?;
        self.say_assumed();
        hints(&variants).iter().for_each(|hint| self.output.notice(hint));
        let seeds = self.seeds(|| 1);
        if let Some(known) = seeds.known() {
            announcement(&variants, known).iter().for_each(|text| self.output.notice(text));
        }
        let columns = self.columns(folder.as_ref());
        let (mut comparison, recordings) =
            self.simulate(variants.len(), seeds, columns.as_ref(), |options| {
                seeds.compare(&variants, options)
            })?;
        self.rebuild(&variants, &mut comparison)?;
        let mut lives = lifetimes(&comparison);
        if exact {
            self.whole_lives(&variants, &comparison, &mut lives)?;
        }
        let scenario = comparison.runs.first().map_or(&serde_json::Value::Null, |run| &run.scenario);
        let answer = json(&Answer {
            schema: LIFETIME_SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            scenario,
            variants: &lives,
            assumptions: [tables::assumptions(&lives), tables::years::assumptions(&lives)].concat(),
        })?;
        let resolved = first_scenario(&variants, &cross, &comparison);
        let files = Files {
            folder: folder.as_ref(),
            report: &json(&comparison)?,
            lifetime: Some(&answer),
            scenario: &resolved,
            recordings,
            columns,
        };
        self.finish(files, &comparison, &cross, |style| {
            let heading = tables::heading(&comparison, &tables::means(&comparison));
            format!("{heading}\n{}", tables::lifetimes(&lives, style))
        })
    }

    /// Simulates the rebuild of a member under the load of each variant, and what that risks over the years. The run of which all
    /// else is told has no failure.
    fn rebuild(&self, variants: &[Variant], comparison: &mut Comparison) -> Result<(), Failure> {
        let mut failing = Vec::new();
        for (variant, runs) in variants.iter().zip(comparison.variants()) {
            let Some(run) = runs.iter().find(|run| lacks_risk(run)) else { continue };
            match loses_a_member(variant) {
                Ok(loser) => failing.push((variant, loser)),
                Err(why) => self
                    .output
                    .notice(&format!("{}: no run says how long a rebuild takes: {why}", tables::label(run))),
            }
        }
        if failing.is_empty() {
            return Ok(());
        }
        let (whole, failing): (Vec<&Variant>, Vec<Variant>) = failing.into_iter().unzip();
        let seeds = seeds_of(comparison);
        let (rebuilt, _) =
            self.simulate(failing.len(), super::seeds::Seeds::Fixed(seeds), None, |options| {
                let options = RunOptions { observe: &harmonia_run::Unobserved, ..*options };
                harmonia_run::compare_seeds(&failing, seeds, &options)
            })?;
        for (variant, rebuilt) in whole.into_iter().zip(rebuilt.variants()) {
            for rebuilt in rebuilt {
                let is_same = |run: &&mut Report| run.label == rebuilt.label && run.seed == rebuilt.seed;
                let run = comparison.runs.iter_mut().find(is_same).filter(|run| lacks_risk(run));
                let Some(run) = run else { continue };
                // With the delay until a spare is there, which the further run has not.
                let mut array = variant.scenario.array.clone();
                array.faults.seed = run.seed;
                let rate = rebuilt.array.failures.as_ref().and_then(|failures| failures.rebuild?.work.rate);
                if rate.is_none() {
                    let text = format!("{}: the run is too short to rebuild anything", tables::label(run));
                    self.output.notice(&text);
                }
                harmonia_run::replacements(run, &array, rate);
            }
        }
        Ok(())
    }

    /// Simulates each variant until a drive is read-only.
    fn whole_lives(
        &self,
        variants: &[Variant],
        comparison: &Comparison,
        lives: &mut [VariantLifetime],
    ) -> Result<(), Failure> {
        let seeds = seeds_of(comparison);
        let runs = comparison.variants().zip(variants).zip(lives.iter());
        let whole: Vec<Variant> = runs
            .map(|((runs, variant), life)| whole_life(variant, &runs[0], life))
            .collect::<Result<_, _>>()?;
        let (comparison, _) =
            self.simulate(whole.len(), super::seeds::Seeds::Fixed(seeds), None, |options| {
                harmonia_run::compare_seeds(
                    &whole,
                    seeds,
                    &RunOptions { observe: &harmonia_run::Unobserved, ..*options },
                )
            })?;
        for (runs, life) in comparison.variants().zip(lives) {
            let years: Option<Vec<f64>> = runs.iter().map(simulated).collect();
            life.simulated = years.and_then(|years| Interval::of(&years));
            if life.simulated.is_none() {
                let text = format!(
                    "{}: no drive was read-only after {LONGEST} times the years of the closed form",
                    life.label
                );
                self.output.notice(&text);
            }
        }
        Ok(())
    }
}

/// Members are replaced, and it is not known what their rebuilds risk.
fn lacks_risk(run: &Report) -> bool {
    run.array.replacements.as_ref().is_some_and(|of| of.risk.is_none())
}

/// The variant with a member that fails at the beginning and is rebuilt at once; or why there is none.
fn loses_a_member(variant: &Variant) -> Result<Variant, String> {
    let array = &variant.scenario.array;
    if !harmonia_run::knows_groups(array) {
        return Err("its copies are not in pairs".to_owned());
    }
    let mut sets = vec!["array.failure=[{ device = 0, at = \"0s\" }]".to_owned()];
    sets.extend((array.level.distributed_spares() == 0).then(|| "array.spares=1".to_owned()));
    // A run of seconds would end before a spare is there.
    sets.extend(
        (array.faults.rebuild.delay > SimDuration::ZERO).then(|| "array.rebuild.delay=0s".to_owned()),
    );
    let scenario = Scenario::parse(&rerunnable(&variant.scenario), &variant.scenario.name, &sets, None);
    Ok(Variant { scenario: scenario.map_err(|why| why.to_string())?, label: variant.label.clone() })
}

/// Years until the first drive of a run was read-only.
fn simulated(run: &Report) -> Option<f64> {
    let ended = run.devices.iter().filter_map(|device| device.life?.read_only_s);
    ended.min_by(f64::total_cmp).map(|seconds| seconds / YEAR_S)
}

/// The variant with so many requests that a drive ends.
fn whole_life(variant: &Variant, run: &Report, life: &VariantLifetime) -> Result<Variant, Failure> {
    let name = tables::label(run);
    let Some(years) = life.years.read_only else {
        return Err(Failure::BadInput(format!(
            "--exact: under {name} the run does not say about how long drives last: nothing was written, or no block was collected"
        )));
    };
    let requests = years.mean * LONGEST * YEAR_S / life.window_s * run.host.requests as f64;
    let operations = requests * run.engine.page_operations as f64 / run.host.requests.max(1) as f64;
    if operations > MOST_OPERATIONS {
        return Err(Failure::BadInput(format!(
            "--exact: a whole life under {name} takes about {} page operations, and at most {} are simulated; smaller drives \
             (ssd.geometry), a smaller ssd.wear.endurance or a larger ssd.wear.used take fewer",
            numbers::count(operations as u64),
            numbers::count(MOST_OPERATIONS as u64)
        )));
    }
    let mut whole = variant.clone();
    let limit = Limit::Requests((requests as u64).max(run.host.requests));
    match &mut whole.scenario.workload {
        WorkloadConfig::Synthetic(load) => load.limit = limit,
        WorkloadConfig::Streams(load) => load.limit = limit,
        WorkloadConfig::Trace(_) => {}
    }
    Ok(whole)
}

/// Whether a whole life can be simulated at all.
fn can_end(variant: &Variant) -> Result<(), Failure> {
    if matches!(variant.scenario.workload, WorkloadConfig::Trace(_)) {
        return Err(Failure::BadInput(
            "--exact: a trace ends before a drive does; use a generated load, such as that of `harmonia trace fit`".to_owned(),
        ));
    }
    if variant.scenario.array.members.iter().any(|member| !member.ssd.scale.is_whole()) {
        return Err(Failure::BadInput(
            "--exact: a part of a drive wears out sooner than the drive, so its end says nothing of that; use a small drive without \
             ssd.scale"
                .to_owned(),
        ));
    }
    if variant.scenario.array.members.iter().all(|member| member.ssd.wear.is_none()) {
        return Err(Failure::BadInput(
            "--exact: blocks last for ever, so no drive comes to an end; set ssd.wear.endurance, such as 100 erases".to_owned(),
        ));
    }
    Ok(())
}

/// Refuses a scenario from which no years could follow.
fn says_what_drives_endure(variant: &Variant) -> Result<(), Failure> {
    let says = |ssd: &harmonia_ssd::SsdConfig| ssd.wear.is_some() || ssd.rating.is_some();
    if variant.scenario.array.members.iter().any(|member| says(&member.ssd)) {
        return Ok(());
    }
    Err(Failure::BadInput(format!(
        "{}: nothing says what its drives endure\n  allowed: --set ssd.rating.cycles=3000, --set ssd.rating.tbw=7008TB or \
         --set 'ssd.rating={{ dwpd = 1, years = 5 }}' as a data sheet has it; --set ssd.wear.endurance=3000 for blocks that wear out",
        variant.scenario.name
    )))
}
