//! Another reading of a paper: what a frozen configuration would be if a sentence that the paper leaves out said something
//! else.
//!
//! A configuration is frozen, and so are its verdicts. A reading stands beside it: a file of `experiments/readings/` that
//! names the paper, the sentence or the silence it rests on, and what it changes in which runs:
//!
//! ```text
//! paper = "global-collection"
//! words = "the load addresses 3% of the array, so that victims are nearly empty"
//! rests_on = "IEEE TC 2012, 5.2 fills \"the entire space\" and does not say how much of it the load addresses."
//! from = "another-reading"                  # optional: what is changed there is changed here too
//! seeds = 1                                 # optional: fewer seeds than experiments have
//! one_seed = ["array-size"]                 # optional: experiments that have one seed only
//!
//! [[change]]
//! experiments = ["policies"]                # all without
//! points = ["local"]                        # variants with all of these points and, of those, all without
//! sets = ["ssd.gc.domain=die"]
//! ```
//!
//! Every claim of the paper is judged under every reading: the claim's runs that the reading changes are run again, under the
//! name `hpc-w/local@ne-fp3`, and the others are those of the reading it starts from, at last of the frozen configuration.
//! Readings were added after measuring; none is tuned to a claim. Leaves out: readings of papers whose claims all have a
//! configuration of their own.

use harmonia_scenario::BadInput;
use serde::Deserialize;

use crate::claims::{Claim, Paper, Test};
use crate::experiment::{Experiment, Job, SEEDS};

/// The readings, by name and text; one that starts from another stands behind it.
const READINGS: &[(&str, &str)] = &[
    ("ne-fp3", include_str!("../../../experiments/readings/ne-fp3.toml")),
    ("ne-fp2", include_str!("../../../experiments/readings/ne-fp2.toml")),
    ("ne-fp5", include_str!("../../../experiments/readings/ne-fp5.toml")),
    ("ne-fp10", include_str!("../../../experiments/readings/ne-fp10.toml")),
    ("ne-fp3-aged", include_str!("../../../experiments/readings/ne-fp3-aged.toml")),
    ("ne-fp3-device", include_str!("../../../experiments/readings/ne-fp3-device.toml")),
    ("ne-fp3-link2147", include_str!("../../../experiments/readings/ne-fp3-link2147.toml")),
    ("constant-bytes", include_str!("../../../experiments/readings/constant-bytes.toml")),
    ("queue-limits", include_str!("../../../experiments/readings/queue-limits.toml")),
    ("shared-bus", include_str!("../../../experiments/readings/shared-bus.toml")),
    ("shared-bus-constant", include_str!("../../../experiments/readings/shared-bus-constant.toml")),
    ("bursts-300", include_str!("../../../experiments/readings/bursts-300.toml")),
    ("bursts-30", include_str!("../../../experiments/readings/bursts-30.toml")),
    ("financial-skew80-bursts", include_str!("../../../experiments/readings/financial-skew80-bursts.toml")),
    ("fixed-time-65s", include_str!("../../../experiments/readings/fixed-time-65s.toml")),
    ("transient-0.10", include_str!("../../../experiments/readings/transient-0.10.toml")),
    ("transient-0.12", include_str!("../../../experiments/readings/transient-0.12.toml")),
    ("command-cycles", include_str!("../../../experiments/readings/command-cycles.toml")),
    ("one-page", include_str!("../../../experiments/readings/one-page.toml")),
    ("open-64", include_str!("../../../experiments/readings/open-64.toml")),
    ("skip", include_str!("../../../experiments/readings/skip.toml")),
    ("open-64-skip", include_str!("../../../experiments/readings/open-64-skip.toml")),
    ("partial-alone", include_str!("../../../experiments/readings/partial-alone.toml")),
    ("partial-along", include_str!("../../../experiments/readings/partial-along.toml")),
    ("victims-4", include_str!("../../../experiments/readings/victims-4.toml")),
    ("victims-8", include_str!("../../../experiments/readings/victims-8.toml")),
    ("victims-16", include_str!("../../../experiments/readings/victims-16.toml")),
    ("no-warm-up", include_str!("../../../experiments/readings/no-warm-up.toml")),
    ("command-cycles-slc", include_str!("../../../experiments/readings/command-cycles-slc.toml")),
    ("turn", include_str!("../../../experiments/readings/turn.toml")),
    ("turn-half", include_str!("../../../experiments/readings/turn-half.toml")),
    ("hysteresis-0.01", include_str!("../../../experiments/readings/hysteresis-0.01.toml")),
    ("hysteresis-0.02", include_str!("../../../experiments/readings/hysteresis-0.02.toml")),
    ("hysteresis-0.05", include_str!("../../../experiments/readings/hysteresis-0.05.toml")),
    ("hysteresis-0.2", include_str!("../../../experiments/readings/hysteresis-0.2.toml")),
    ("mongodb-few-deletes", include_str!("../../../experiments/readings/mongodb-few-deletes.toml")),
    ("after-filling", include_str!("../../../experiments/readings/after-filling.toml")),
    ("until-enough", include_str!("../../../experiments/readings/until-enough.toml")),
    ("same-layout", include_str!("../../../experiments/readings/same-layout.toml")),
    ("rows", include_str!("../../../experiments/readings/rows.toml")),
    ("rows-until-enough", include_str!("../../../experiments/readings/rows-until-enough.toml")),
];

/// All readings of `experiments/readings/`.
///
/// # Errors
/// If one is not valid, which a test rules out.
pub fn readings() -> Result<Vec<Reading>, BadInput> {
    let mut all: Vec<Reading> = Vec::new();
    for (id, text) in READINGS {
        let reading = Reading::parse(id, text, &all)?;
        all.push(reading);
    }
    Ok(all)
}

/// Another reading of a paper.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Its name: the file's.
    pub id: String,
    /// The paper.
    pub paper: Paper,
    /// What it reads there.
    pub words: String,
    /// The sentence or the silence it rests on.
    pub rests_on: String,
    /// The reading it starts from.
    pub from: Option<String>,
    /// How many seeds it runs with at most.
    seeds: u64,
    /// Experiments that run with one.
    one_seed: Vec<String>,
    /// What is changed, by reading: the first is the one that all start from, the last this one.
    chain: Vec<(String, Vec<Change>)>,
}

/// What is changed in some runs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Experiments; empty for all.
    #[serde(default)]
    experiments: Vec<String>,
    /// Points that a variant must have; empty for all variants.
    #[serde(default)]
    points: Vec<String>,
    /// As for `--set`; they come last.
    sets: Vec<String>,
}

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    paper: Paper,
    words: String,
    rests_on: String,
    from: Option<String>,
    seeds: Option<u64>,
    #[serde(default)]
    one_seed: Vec<String>,
    change: Vec<Change>,
}

impl Change {
    fn concerns(&self, experiment: &str, variant: &str) -> bool {
        let has = |point: &String| variant.split('/').any(|one| one == point);
        (self.experiments.is_empty() || self.experiments.iter().any(|one| one == experiment))
            && self.points.iter().all(has)
    }
}

impl Reading {
    /// Reads a reading from text; `earlier` are those it may start from.
    ///
    /// # Errors
    /// If the text is not a reading, or it starts from one that is not among them or of another paper; the message names
    /// the reading.
    pub fn parse(id: &str, text: &str, earlier: &[Reading]) -> Result<Reading, BadInput> {
        let fault = |problem: String, allowed: &str| {
            Err(BadInput::plain(format!("reading `{id}`: {problem}"), allowed))
        };
        let written: Written = match toml::from_str(text) {
            Ok(written) => written,
            Err(error) => {
                return fault(
                    error.message().to_owned(),
                    "paper, words, rests_on, from, seeds, one_seed, and [[change]] tables",
                );
            }
        };
        let mut chain = Vec::new();
        if let Some(from) = &written.from {
            let of_paper = |one: &&Reading| one.id == *from && one.paper == written.paper;
            let Some(parent) = earlier.iter().find(of_paper) else {
                return fault(format!("it starts from `{from}`"), "an earlier reading of the same paper");
            };
            chain.clone_from(&parent.chain);
        }
        chain.push((id.to_owned(), written.change));
        Ok(Reading {
            id: id.to_owned(),
            paper: written.paper,
            words: written.words,
            rests_on: written.rests_on,
            from: written.from,
            seeds: written.seeds.unwrap_or(SEEDS),
            one_seed: written.one_seed,
            chain,
        })
    }

    /// The name of a variant under this reading: that of the last reading in the chain that changes it.
    pub fn variant(&self, experiment: &str, variant: &str) -> String {
        let changes = |(_, changes): &&(String, Vec<Change>)| {
            changes.iter().any(|change| change.concerns(experiment, variant))
        };
        match self.chain.iter().rev().find(changes) {
            Some((id, _)) => format!("{variant}@{id}"),
            None => variant.to_owned(),
        }
    }

    /// Whether it changes a variant itself, not only through what it starts from.
    pub fn changes(&self, experiment: &str, variant: &str) -> bool {
        self.chain
            .last()
            .is_some_and(|(_, own)| own.iter().any(|change| change.concerns(experiment, variant)))
    }

    /// How many seeds runs of an experiment have at most.
    pub fn seeds(&self, experiment: &str) -> u64 {
        if self.one_seed.iter().any(|one| one == experiment) { 1 } else { self.seeds }
    }

    /// The claims of its paper, asked of its runs.
    pub fn claims(&self) -> Vec<Claim> {
        let mut claims = self.paper.claims();
        for claim in &mut claims {
            if let Test::Measured(measure, _) = &mut claim.test {
                measure.rename(&|experiment, variant| self.variant(experiment, variant));
            }
        }
        claims
    }

    /// Experiment and variant of every run of its own that a claim needs, in order and each once.
    pub fn cells(&self) -> Vec<(&'static str, String)> {
        let mut cells = Vec::new();
        for claim in self.paper.claims() {
            let Test::Measured(measure, _) = &claim.test else { continue };
            for (experiment, variant) in measure.cells() {
                let cell = (experiment, variant.to_owned());
                if self.changes(experiment, variant) && !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
        }
        cells
    }

    /// The simulations of its own, with at most so many seeds.
    ///
    /// # Errors
    /// If one is not a valid scenario.
    pub fn jobs(&self, experiments: &[Experiment], seeds: u64) -> Result<Vec<Job>, BadInput> {
        let cells = self.cells();
        let mut jobs = Vec::new();
        for seed in 1..=seeds {
            for (id, variant) in cells.iter().filter(|(id, _)| seed <= self.seeds(id)) {
                let Some(experiment) = experiments.iter().find(|known| known.id == *id) else { continue };
                let scenario = experiment.scenario(variant, seed, &self.sets(id, variant))?;
                let variant = self.variant(id, variant);
                let (experiment, replacements) = ((*id).to_owned(), experiment.replacements);
                jobs.push(Job { experiment, variant, seed, scenario, replacements });
            }
        }
        Ok(jobs)
    }

    /// All that is changed in a variant.
    fn sets(&self, experiment: &str, variant: &str) -> Vec<String> {
        let changes = self.chain.iter().flat_map(|(_, changes)| changes);
        let concerned = changes.filter(|change| change.concerns(experiment, variant));
        concerned.flat_map(|change| change.sets.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::experiments;

    #[test]
    fn every_run_of_every_reading_is_a_scenario_and_every_change_concerns_one() {
        let experiments = experiments().expect("valid experiments");
        for reading in readings().expect("valid readings") {
            let jobs = reading.jobs(&experiments, 1).unwrap_or_else(|why| panic!("{}: {why}", reading.id));
            assert!(!jobs.is_empty(), "{} changes nothing", reading.id);
            let cells = reading.cells();
            for change in &reading.chain.last().expect("its own").1 {
                let concerned =
                    cells.iter().any(|(experiment, variant)| change.concerns(experiment, variant));
                assert!(concerned, "{}: no claim reads what is changed by {change:?}", reading.id);
            }
        }
    }

    const FIRST: &str = "paper = \"channels\"\nwords = \"\"\nrests_on = \"\"\n\
        [[change]]\nexperiments = [\"adaptive\"]\npoints = [\"mysql\", \"adaptive\"]\nsets = [\"a=1\"]\n";

    /// A name is that of the last reading that changes the run, and what is changed is all of the chain's.
    #[test]
    fn a_run_that_a_reading_does_not_change_is_that_of_the_reading_it_starts_from() {
        let first = Reading::parse("first", FIRST, &[]).expect("a reading");
        let second = "paper = \"channels\"\nwords = \"\"\nrests_on = \"\"\nfrom = \"first\"\nseeds = 1\n\
            [[change]]\npoints = [\"4-kib\"]\nsets = [\"b=2\"]\n";
        let second = Reading::parse("second", second, &[first]).expect("a reading");
        for (variant, name, sets) in [
            ("mysql/4-kib/adaptive", "mysql/4-kib/adaptive@second", vec!["a=1", "b=2"]),
            ("mysql/8-kib/adaptive", "mysql/8-kib/adaptive@first", vec!["a=1"]),
            ("mysql/8-kib/conv-0.7-allch", "mysql/8-kib/conv-0.7-allch", vec![]),
        ] {
            assert_eq!(second.variant("adaptive", variant), name);
            assert_eq!(second.sets("adaptive", variant), sets);
        }
        assert!(second.cells().iter().all(|(_, variant)| variant.contains("4-kib")));
        assert_eq!(second.variant("adaptive-eager", "mysql/8-kib/adaptive"), "mysql/8-kib/adaptive");
    }

    #[test]
    fn a_bad_reading_is_told_by_its_name() {
        let unknown = FIRST.replace("words", "wirds");
        let orphan = FIRST.replace("rests_on", "from = \"none\"\nrests_on");
        for (text, says) in [(unknown, "unknown field `wirds`"), (orphan, "it starts from `none`")] {
            let message = Reading::parse("test", &text, &[]).expect_err("refused").to_string();
            assert!(message.contains("reading `test`") && message.contains(says), "{message}");
        }
    }
}
