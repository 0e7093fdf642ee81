//! All results of a campaign, by experiment, variant and seed; one line a run as text, so that it can be committed
//! and a change of it read.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::summary::{Outcome, Summary};

/// By seed.
type Runs = BTreeMap<u64, Outcome>;

/// What was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// Versions of Harmonia that ran.
    versions: BTreeSet<String>,
    cells: BTreeMap<(String, String), Runs>,
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    version: String,
    experiment: String,
    variant: String,
    seed: u64,
    #[serde(flatten)]
    outcome: Outcome,
}

impl Results {
    /// Takes in a run.
    pub fn insert(&mut self, version: &str, experiment: &str, variant: &str, seed: u64, outcome: Outcome) {
        self.versions.insert(version.to_owned());
        let cell = self.cells.entry((experiment.to_owned(), variant.to_owned())).or_default();
        cell.insert(seed, outcome);
    }

    /// The runs of a variant that could be run, by seed.
    pub fn runs(&self, experiment: &str, variant: &str) -> BTreeMap<u64, &Summary> {
        let runs = self.cells.get(&(experiment.to_owned(), variant.to_owned()));
        let mut measured = BTreeMap::new();
        for (seed, outcome) in runs.into_iter().flatten() {
            if let Outcome::Measured(summary) = outcome {
                measured.insert(*seed, summary);
            }
        }
        measured
    }

    /// Whether a run is there.
    pub fn has(&self, experiment: &str, variant: &str, seed: u64) -> bool {
        let runs = self.cells.get(&(experiment.to_owned(), variant.to_owned()));
        runs.is_some_and(|runs| runs.contains_key(&seed))
    }

    /// Takes in all of another's runs; where both have one, the other's.
    pub fn extend(&mut self, other: Results) {
        self.versions.extend(other.versions);
        for (cell, runs) in other.cells {
            self.cells.entry(cell).or_default().extend(runs);
        }
    }

    /// Why a variant was not run, if it was refused.
    pub fn refusal(&self, experiment: &str, variant: &str) -> Option<&str> {
        let runs = self.cells.get(&(experiment.to_owned(), variant.to_owned()));
        runs.into_iter().flatten().find_map(|(_, outcome)| match outcome {
            Outcome::Refused(why) => Some(why.as_str()),
            Outcome::Measured(_) => None,
        })
    }

    /// How many runs there are.
    pub fn len(&self) -> usize {
        self.cells.values().map(BTreeMap::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Versions of Harmonia that ran.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(String::as_str)
    }

    /// As text: a JSON array with a line for every run, in order.
    pub fn to_json(&self) -> String {
        let version = self.versions.iter().next_back().cloned().unwrap_or_default();
        let lines = self.cells.iter().flat_map(|((experiment, variant), runs)| {
            let version = &version;
            runs.iter().map(move |(&seed, outcome)| Line {
                version: version.clone(),
                experiment: experiment.clone(),
                variant: variant.clone(),
                seed,
                outcome: outcome.clone(),
            })
        });
        let lines: Vec<String> =
            lines.map(|line| serde_json::to_string(&line).expect("plain data has a JSON form")).collect();
        format!("[\n{}\n]\n", lines.join(",\n"))
    }

    /// What [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// If it is something else; the text says where.
    pub fn from_json(text: &str) -> Result<Results, String> {
        let lines: Vec<Line> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut results = Results::default();
        for line in lines {
            results.insert(&line.version, &line.experiment, &line.variant, line.seed, line.outcome);
        }
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_survive_being_written_one_line_a_run() {
        let mut results = Results::default();
        for seed in [2, 1] {
            let summary = Summary { erases: seed * 10, ..Summary::default() };
            results.insert("0.1.0", "matrix", "hpc-w/local", seed, Outcome::Measured(summary));
        }
        results.insert("0.1.0", "matrix", "flood/local", 1, Outcome::Refused("too much".into()));
        let text = results.to_json();
        assert_eq!(text.lines().count(), 5);
        assert_eq!(Results::from_json(&text).as_ref(), Ok(&results));
        let runs = results.runs("matrix", "hpc-w/local");
        assert_eq!(
            runs.into_iter().map(|(seed, run)| (seed, run.erases)).collect::<Vec<_>>(),
            [(1, 10), (2, 20)]
        );
        assert_eq!(results.refusal("matrix", "flood/local"), Some("too much"));
        assert!(results.runs("matrix", "flood/local").is_empty() && results.runs("none", "x").is_empty());
    }
}
