//! Which claims, experiments and readings were asked for by name, and which runs that takes.

use std::collections::BTreeMap;

use harmonia_scenario::BadInput;

use crate::assessment::{Assessment, assess, assess_reading};
use crate::claims::{Claim, Test, claims};
use crate::experiment::{Experiment, Job};
use crate::reading::{Reading, readings};
use crate::results::Results;

/// What was asked for.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The claims to judge.
    pub claims: Vec<Claim>,
    /// Readings, under which all claims of their papers are judged.
    pub readings: Vec<Reading>,
    /// Experiments asked for as a whole.
    whole: Vec<String>,
    /// By experiment, the variants that the claims read.
    variants: BTreeMap<String, Vec<String>>,
}

impl Choice {
    /// Everything, or what these names of claims and experiments stand for.
    ///
    /// # Errors
    /// A message, if a name stands for none of them.
    pub fn of(ids: &[String], experiments: &[Experiment]) -> Result<Choice, String> {
        let all = claims();
        let mut readings = readings().map_err(|why| why.to_string())?;
        let is_claim = |id: &String| all.iter().any(|claim| claim.id == id);
        let is_experiment = |id: &String| experiments.iter().any(|experiment| experiment.id == *id);
        let is_reading = |id: &String| readings.iter().any(|reading| reading.id == *id);
        if let Some(unknown) = ids.iter().find(|id| !is_claim(id) && !is_experiment(id) && !is_reading(id)) {
            let names = all.iter().map(|claim| claim.id);
            let names = names.chain(experiments.iter().map(|known| known.id.as_str()));
            let names = names.chain(readings.iter().map(|reading| reading.id.as_str()));
            let near = names
                .max_by(|a, b| strsim::jaro_winkler(a, unknown).total_cmp(&strsim::jaro_winkler(b, unknown)));
            let near = near.unwrap_or_default();
            return Err(format!(
                "`{unknown}` is no claim, experiment or reading; did you mean `{near}`? \
                 `harmonia reproduce --list` lists them"
            ));
        }
        let whole: Vec<String> = match ids {
            [] => experiments.iter().map(|experiment| experiment.id.clone()).collect(),
            ids => ids.iter().filter(|id| is_experiment(id)).cloned().collect(),
        };
        let reads_whole = |claim: &Claim| match &claim.test {
            Test::Measured(measure, _) => {
                measure.experiments().iter().any(|read| whole.iter().any(|whole| whole == read))
            }
            Test::Impossible(_) | Test::Unmeasured(_) => ids.is_empty(),
        };
        let chosen = |claim: &Claim| ids.iter().any(|id| id == claim.id) || reads_whole(claim);
        let claims: Vec<Claim> = all.iter().filter(|claim| chosen(claim)).cloned().collect();
        let mut variants: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for claim in &claims {
            let Test::Measured(measure, _) = &claim.test else { continue };
            for (experiment, variant) in measure.cells() {
                variants.entry(experiment.to_owned()).or_default().push(variant.to_owned());
            }
        }
        readings.retain(|reading| ids.is_empty() || ids.contains(&reading.id));
        Ok(Choice { claims, readings, whole, variants })
    }

    /// All that has to run, with so many seeds; a reading may have fewer.
    ///
    /// # Errors
    /// If a variant is not a valid scenario.
    pub fn jobs(&self, experiments: &[Experiment], seeds: u64) -> Result<Vec<Job>, BadInput> {
        let mut jobs = Vec::new();
        for experiment in experiments {
            jobs.extend(experiment.jobs(seeds, |variant| self.needs(&experiment.id, variant))?);
        }
        for reading in &self.readings {
            jobs.extend(reading.jobs(experiments, seeds)?);
        }
        Ok(jobs)
    }

    /// The verdicts: those of the claims, then those of each reading.
    pub fn assess(&self, results: &Results) -> Vec<Assessment> {
        let readings = self.readings.iter().flat_map(|reading| assess_reading(reading, results));
        assess(&self.claims, results).into_iter().chain(readings).collect()
    }

    /// Whether a variant of an experiment has to run.
    fn needs(&self, experiment: &str, variant: &str) -> bool {
        self.whole.iter().any(|whole| whole == experiment)
            || self.variants.get(experiment).is_some_and(|read| read.iter().any(|read| read == variant))
    }
}
