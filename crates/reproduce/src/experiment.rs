//! An experiment: one named configuration, and what is varied in it.
//!
//! A file of `experiments/` names a *base*, a complete scenario file beside it, and axes; every combination of their
//! points is a variant, run with every seed:
//!
//! ```text
//! question = "Which policy suits which load?"
//! base = "configuration-ab.toml"
//! sets = ["array.coordination.message_latency=0us"]     # what all variants change in the base
//!
//! [[axis]]
//! name = "load"
//! [[axis.point]]
//! name = "hpc-r"
//! sets = ["workload.read_fraction=0.8008"]
//! ```
//!
//! A variant is named by its points: `hpc-r/local`. Experiments are carried inside the program. With `replacements = 10` a variant
//! is so many runs, one for the time until each replacement of a member (module `replacing`). Leaves out: variants
//! that are no product of axes, and all else that depends on a result.

use harmonia_scenario::{BadInput, Scenario};
use serde::Deserialize;

/// How many seeds an experiment runs with unless asked otherwise: 1, 2, 3.
pub const SEEDS: u64 = 3;

/// The experiments, by name and text.
const EXPERIMENTS: &[(&str, &str)] = &[
    ("bandwidth", include_str!("../../../experiments/bandwidth.toml")),
    ("policies", include_str!("../../../experiments/policies.toml")),
    ("arrival-rate", include_str!("../../../experiments/arrival-rate.toml")),
    ("array-size", include_str!("../../../experiments/array-size.toml")),
    ("victims", include_str!("../../../experiments/victims.toml")),
    ("soft-threshold", include_str!("../../../experiments/soft-threshold.toml")),
    ("idle-threshold", include_str!("../../../experiments/idle-threshold.toml")),
    ("message-latency", include_str!("../../../experiments/message-latency.toml")),
    ("mixed", include_str!("../../../experiments/mixed.toml")),
    ("io-parallel", include_str!("../../../experiments/io-parallel.toml")),
    ("io-parallel-closed", include_str!("../../../experiments/io-parallel-closed.toml")),
    ("io-parallel-sweep", include_str!("../../../experiments/io-parallel-sweep.toml")),
    ("adaptive", include_str!("../../../experiments/adaptive.toml")),
    ("adaptive-eager", include_str!("../../../experiments/adaptive-eager.toml")),
    ("adaptive-priority", include_str!("../../../experiments/adaptive-priority.toml")),
    ("adaptive-ties", include_str!("../../../experiments/adaptive-ties.toml")),
    ("adaptive-thresholds", include_str!("../../../experiments/adaptive-thresholds.toml")),
    ("adaptive-channels", include_str!("../../../experiments/adaptive-channels.toml")),
    ("adaptive-ideal", include_str!("../../../experiments/adaptive-ideal.toml")),
    ("adaptive-width", include_str!("../../../experiments/adaptive-width.toml")),
    ("adaptive-fullness", include_str!("../../../experiments/adaptive-fullness.toml")),
    ("ioda", include_str!("../../../experiments/ioda.toml")),
    ("ioda-rate", include_str!("../../../experiments/ioda-rate.toml")),
    ("ioda-window", include_str!("../../../experiments/ioda-window.toml")),
    ("ioda-soft", include_str!("../../../experiments/ioda-soft.toml")),
    ("gaftl", include_str!("../../../experiments/gaftl.toml")),
    ("gaftl-arrival", include_str!("../../../experiments/gaftl-arrival.toml")),
    ("gaftl-reads", include_str!("../../../experiments/gaftl-reads.toml")),
    ("gaftl-sequential", include_str!("../../../experiments/gaftl-sequential.toml")),
    ("gaftl-real", include_str!("../../../experiments/gaftl-real.toml")),
    ("gaftl-floating", include_str!("../../../experiments/gaftl-floating.toml")),
    ("gaftl-fill", include_str!("../../../experiments/gaftl-fill.toml")),
    ("gaftl-reserve", include_str!("../../../experiments/gaftl-reserve.toml")),
    ("gaftl-ages", include_str!("../../../experiments/gaftl-ages.toml")),
];

/// The scenario files they start from.
const BASES: &[(&str, &str)] = &[
    ("configuration-ab.toml", include_str!("../../../experiments/configuration-ab.toml")),
    ("configuration-c.toml", include_str!("../../../experiments/configuration-c.toml")),
    ("configuration-d.toml", include_str!("../../../experiments/configuration-d.toml")),
    ("configuration-e.toml", include_str!("../../../experiments/configuration-e.toml")),
    ("configuration-ioda.toml", include_str!("../../../experiments/configuration-ioda.toml")),
];

/// The name of an experiment, if there is one.
pub(crate) fn experiment_id(name: &str) -> Option<&'static str> {
    EXPERIMENTS.iter().map(|(id, _)| *id).find(|id| *id == name)
}

/// All experiments of `experiments/`.
///
/// # Errors
/// If one is not valid, which a test rules out.
pub fn experiments() -> Result<Vec<Experiment>, BadInput> {
    let base =
        |name: &str| BASES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
    EXPERIMENTS.iter().map(|(id, text)| Experiment::parse(id, text, base)).collect()
}

/// A named configuration and what is varied in it.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name: the file's.
    pub id: String,
    /// What it answers.
    pub question: String,
    /// Name and text of the scenario file that all variants start from.
    base: (String, String),
    sets: Vec<String>,
    /// Replacements of members that every variant goes through; 0 for a single run.
    pub(crate) replacements: usize,
    /// What is varied; the last axis varies fastest.
    pub axes: Vec<Axis>,
}

/// One thing that is varied.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// What.
    pub name: String,
    /// Its values.
    #[serde(rename = "point")]
    pub points: Vec<Point>,
}

/// One value of an axis.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// What it is called.
    pub name: String,
    /// What it changes, as for `--set`.
    #[serde(default)]
    pub sets: Vec<String>,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    question: String,
    base: String,
    #[serde(default)]
    sets: Vec<String>,
    #[serde(default)]
    replacements: usize,
    #[serde(default)]
    axis: Vec<Axis>,
}

/// One thing to simulate: a variant of an experiment with a seed.
#[derive(Debug, Clone)]
pub struct Job {
    /// Of which experiment.
    pub experiment: String,
    /// The points of its axes: `hpc-r/local`.
    pub variant: String,
    /// Root seed; the aged array is this seed's too.
    pub seed: u64,
    /// What is simulated, or the first of what is.
    pub scenario: Scenario,
    /// Replacements of members that are gone through, with a run until each; 0 for a single run.
    pub replacements: usize,
}

impl Experiment {
    /// Reads an experiment from text; `base` gives the text of a scenario file by its name.
    ///
    /// # Errors
    /// If the text is not an experiment, its base is missing, or an axis has no point; the message names the
    /// experiment.
    pub fn parse(
        id: &str,
        text: &str,
        base: impl Fn(&str) -> Option<String>,
    ) -> Result<Experiment, BadInput> {
        let fault = |problem: String, allowed: &str| {
            Err(BadInput::plain(format!("experiment `{id}`: {problem}"), allowed))
        };
        let written: Written = match toml::from_str(text) {
            Ok(written) => written,
            Err(error) => {
                return fault(
                    error.message().to_owned(),
                    "question, base, sets, replacements, and [[axis]] tables",
                );
            }
        };
        if let Some(axis) = written.axis.iter().find(|axis| axis.points.is_empty()) {
            return fault(format!("axis `{}` has no point", axis.name), "[[axis.point]] with a name");
        }
        let Some(base) = base(&written.base) else {
            return fault(format!("its base `{}` is not there", written.base), "a scenario file beside it");
        };
        Ok(Experiment {
            id: id.to_owned(),
            question: written.question,
            base: (written.base, base),
            sets: written.sets,
            replacements: written.replacements,
            axes: written.axis,
        })
    }

    /// Names of the variants, the last axis varying fastest.
    pub fn variants(&self) -> Vec<String> {
        self.combinations().into_iter().map(|(name, _)| name).collect()
    }

    /// One of its variants with a seed, further keys changed as for `--set`.
    ///
    /// # Errors
    /// If there is no such variant, or it is not a valid scenario.
    pub fn scenario(&self, variant: &str, seed: u64, further: &[String]) -> Result<Scenario, BadInput> {
        let found = self.combinations().into_iter().find(|(name, _)| name == variant);
        let Some((_, sets)) = found else {
            let problem = format!("experiment `{}`: it has no variant `{variant}`", self.id);
            return Err(BadInput::plain(problem, "a product of its points"));
        };
        self.seeded(&[sets.as_slice(), further].concat(), seed)
    }

    /// The base with these changes and a seed.
    fn seeded(&self, sets: &[String], seed: u64) -> Result<Scenario, BadInput> {
        let sets = [sets, &[format!("seed={seed}")]].concat();
        Scenario::parse(&self.base.1, &self.base.0, &sets, None)
    }

    /// Every variant that is wanted with the seeds 1 to `seeds`, seed by seed.
    ///
    /// # Errors
    /// If a variant is not a valid scenario.
    pub fn jobs(&self, seeds: u64, wanted: impl Fn(&str) -> bool) -> Result<Vec<Job>, BadInput> {
        let mut variants = self.combinations();
        variants.retain(|(name, _)| wanted(name));
        let jobs = (1..=seeds).flat_map(|seed| variants.iter().map(move |variant| (seed, variant)));
        jobs.map(|(seed, (name, sets))| {
            let scenario = self.seeded(sets, seed)?;
            let (experiment, variant, replacements) = (self.id.clone(), name.clone(), self.replacements);
            Ok(Job { experiment, variant, seed, scenario, replacements })
        })
        .collect()
    }

    /// Every choice of a point for each axis: its name, and all it changes.
    fn combinations(&self) -> Vec<(String, Vec<String>)> {
        let start = vec![(String::new(), self.sets.clone())];
        self.axes.iter().fold(start, |chosen, axis| {
            let extend = |(name, sets): &(String, Vec<String>)| -> Vec<(String, Vec<String>)> {
                let separator = if name.is_empty() { "" } else { "/" };
                let with = |point: &Point| {
                    (format!("{name}{separator}{}", point.name), [sets.as_slice(), &point.sets].concat())
                };
                axis.points.iter().map(with).collect()
            };
            chosen.iter().flat_map(extend).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_of_every_experiment_is_a_scenario_and_no_two_are_called_alike() {
        for experiment in experiments().expect("valid experiments") {
            let jobs = match experiment.jobs(1, |_| true) {
                // It waits for a policy that is on the list of those to come.
                Err(why) if why.to_string().contains("is planned, but not available yet") => continue,
                jobs => jobs.unwrap_or_else(|why| panic!("{}: {why}", experiment.id)),
            };
            let mut names: Vec<&str> = jobs.iter().map(|job| job.variant.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), jobs.len(), "{}", experiment.id);
        }
    }

    const BASE: &str = "workload.preset = \"hpc-w\"\nssd.preset = \"tiny-test\"\n";

    fn parse(text: &str) -> Result<Experiment, BadInput> {
        Experiment::parse("test", text, |name| (name == "base.toml").then(|| BASE.to_owned()))
    }

    #[test]
    fn the_last_axis_varies_fastest_and_later_sets_win() {
        let experiment = parse(
            "question = \"?\"\nbase = \"base.toml\"\nsets = [\"workload.requests=400\"]\n\
             [[axis]]\nname = \"a\"\npoint = [{ name = \"x\" }, { name = \"y\", sets = [\"workload.requests=500\"] }]\n\
             [[axis]]\nname = \"b\"\npoint = [{ name = \"1\" }, { name = \"2\", sets = [\"array.devices=2\"] }]\n",
        )
        .expect("an experiment");
        assert_eq!(experiment.variants(), ["x/1", "x/2", "y/1", "y/2"]);
        let jobs = experiment.jobs(2, |_| true).expect("valid scenarios");
        assert_eq!((jobs.len(), jobs[0].seed, jobs[4].seed, jobs[4].scenario.seed), (8, 1, 2, 2));
        assert_eq!(jobs[3].scenario.array.devices, 2);
        assert!(jobs[3].scenario.to_toml().contains("requests = 500"));
        assert!(jobs[0].scenario.to_toml().contains("requests = 400"));
    }

    #[test]
    fn a_bad_experiment_is_told_by_its_name() {
        for (text, says) in [
            ("question = \"?\"\nbase = \"other.toml\"", "its base `other.toml` is not there"),
            ("question = \"?\"\nbase = \"base.toml\"\nseed = 3", "unknown field `seed`"),
            ("question = \"?\"\nbase = \"base.toml\"\n[[axis]]\nname = \"a\"\npoint = []", "has no point"),
        ] {
            let message = parse(text).expect_err("refused").to_string();
            assert!(message.contains("experiment `test`") && message.contains(says), "{message}");
        }
    }

    #[test]
    fn a_variant_that_is_no_scenario_is_refused() {
        let experiment = parse("question = \"?\"\nbase = \"base.toml\"\nsets = [\"array.device=2\"]");
        assert!(experiment.expect("an experiment").jobs(1, |_| true).is_err());
    }
}
