//! What differs between two results: in their scenarios, key by key, and in their figures, with significance.
//!
//! Each side is one report, a comparison, a store, or one result of a store. Variants are compared with those of the same name;
//! two sides of one variant each are compared whatever they are called. Where both have the same seeds, seed is held against
//! seed. All answers together hold with 95%, as in a comparison. Leaves out: devices one by one, and counters of policies.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use harmonia_metrics::{Comparison, Interval, Report, Versus, figures_of, versus};
use harmonia_run::Outcome;
use harmonia_scenario::{BadInput, printable};
use serde::Serialize;
use serde_json::Value;

use crate::store::{self, Store};

/// One side: variants by name, each with its runs in the order of their seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Where it was read from.
    pub name: String,
    /// Variants with their runs.
    pub variants: Vec<(String, Vec<Report>)>,
}

/// A key that differs, as it is written on both sides; `None` where a side does not have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// From the scenario's root; `version` is that of Harmonia.
    pub key: String,
    /// On the first side.
    pub a: Option<String>,
    /// On the second side.
    pub b: Option<String>,
}

/// A figure of both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Such as `p99`.
    pub name: &'static str,
    /// On the first side.
    pub a: Option<Interval>,
    /// On the second side.
    pub b: Option<Interval>,
    /// The second side less the first.
    pub versus: Option<Versus>,
}

/// Two variants side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// Name on the first side.
    pub a: String,
    /// Name on the second side.
    pub b: String,
    /// Seeds that were compared, of the first side.
    pub seeds_a: Vec<u64>,
    /// And of the second.
    pub seeds_b: Vec<u64>,
    /// Keys that differ, but for seed and name.
    pub scenario: Vec<Change>,
    /// All figures that either has.
    pub figures: Vec<Figure>,
}

/// All that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// The first side.
    pub a: String,
    /// The second side.
    pub b: String,
    /// Variants that both have.
    pub pairs: Vec<Pair>,
    /// Variants of the first side alone.
    pub only_a: Vec<String>,
    /// Variants of the second side alone.
    pub only_b: Vec<String>,
}

impl Side {
    /// Reads a report or a comparison (JSON), a folder of results, a folder that `--out` wrote a report into, or one result
    /// as `FOLDER/ADDRESS`.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn open(source: &str) -> Result<Side, BadInput> {
        let (path, name) = (Path::new(source), printable(source, 300));
        if path.is_dir() {
            let report = path.join("report.json");
            return if report.is_file() { Side::of_file(&report, name) } else { Side::of_store(path, name) };
        }
        if path.is_file() {
            return Side::of_file(path, name);
        }
        let (folder, address) = (path.parent(), path.file_name().and_then(|name| name.to_str()));
        match (folder.filter(|folder| folder.is_dir()), address) {
            (Some(folder), Some(address)) => {
                Side::of_results(vec![Store::open(folder)?.find(address)?], name)
            }
            _ => Err(not_a_result(&name, "is not there")),
        }
    }

    fn of_store(folder: &Path, name: String) -> Result<Side, BadInput> {
        Side::of_results(Store::open(folder)?.all()?.0, name)
    }

    fn of_results(results: Vec<store::Stored>, name: String) -> Result<Side, BadInput> {
        let mut variants: Vec<(String, Vec<Report>)> = Vec::new();
        for result in results {
            let Outcome::Measured(report) = result.outcome else { continue };
            add(&mut variants, report);
        }
        Side::sorted(name, variants)
    }

    fn of_file(path: &Path, name: String) -> Result<Side, BadInput> {
        let text = fs::read_to_string(path)
            .map_err(|error| not_a_result(&name, &format!("cannot be read: {error}")))?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| not_a_result(&name, &format!("is not JSON: {error}")))?;
        let wrong = |error: serde_json::Error| not_a_result(&name, &format!("cannot be read: {error}"));
        if value.get("format").and_then(Value::as_str) == Some(store::FORMAT) {
            let damaged = || not_a_result(&name, "is a damaged result");
            return Side::of_results(vec![store::read(&text).ok_or_else(damaged)?], name.clone());
        }
        let mut variants = Vec::new();
        if value.get("runs").is_some() {
            Comparison::read(&text).map_err(wrong)?.runs.into_iter().for_each(|run| add(&mut variants, run));
        } else {
            add(&mut variants, Report::read(&text).map_err(wrong)?);
        }
        Side::sorted(name, variants)
    }

    fn sorted(name: String, mut variants: Vec<(String, Vec<Report>)>) -> Result<Side, BadInput> {
        if variants.is_empty() {
            return Err(not_a_result(&name, "has no run that was measured"));
        }
        variants.iter_mut().for_each(|(_, runs)| runs.sort_by_key(|run| run.seed));
        Ok(Side { name, variants })
    }
}

fn add(variants: &mut Vec<(String, Vec<Report>)>, run: Report) {
    match variants
        .iter_mut()
        .find(|(label, runs)| *label == run.label && runs.iter().all(|one| one.seed != run.seed))
    {
        Some((_, runs)) => runs.push(run),
        None => variants.push((run.label.clone(), vec![run])),
    }
}

fn not_a_result(name: &str, why: &str) -> BadInput {
    let allowed = "allowed: what `harmonia run` or `compare` print with --json or write with --out, a folder of `harmonia \
                   sweep`, or FOLDER/ADDRESS for one result in it";
    BadInput::plain(format!("`{name}` {why}"), allowed)
}

impl Diff {
    /// What differs from the first side to the second.
    pub fn of(a: &Side, b: &Side) -> Diff {
        let find = |side: &Side, label: &str| side.variants.iter().position(|(name, _)| name == label);
        let matched: Vec<(usize, usize)> = match (&a.variants[..], &b.variants[..]) {
            ([_], [_]) => vec![(0, 0)],
            (variants, _) => {
                let pair = |(at, (label, _)): (usize, &(String, _))| Some((at, find(b, label)?));
                variants.iter().enumerate().filter_map(pair).collect()
            }
        };
        let pairs = matched.iter().map(|&(ours, theirs)| {
            let ((name_a, runs_a), (name_b, runs_b)) = (&a.variants[ours], &b.variants[theirs]);
            pair((name_a, runs_a), (name_b, runs_b), matched.len())
        });
        let only = |side: &Side, has: &dyn Fn(usize) -> bool| {
            let rest = side.variants.iter().enumerate().filter(|(at, _)| !has(*at));
            rest.map(|(_, (label, _))| label.clone()).collect()
        };
        Diff {
            a: a.name.clone(),
            b: b.name.clone(),
            pairs: pairs.collect(),
            only_a: only(a, &|at| matched.iter().any(|(ours, _)| *ours == at)),
            only_b: only(b, &|at| matched.iter().any(|(_, theirs)| *theirs == at)),
        }
    }
}

fn pair(a: (&String, &[Report]), b: (&String, &[Report]), pairs: usize) -> Pair {
    let (runs_a, runs_b) = (in_common(a.1, b.1), in_common(b.1, a.1));
    let named = |runs: &[Report]| figures_of(runs).named();
    let all = named(&runs_a).into_iter().zip(named(&runs_b)).zip(versus(&runs_b, &runs_a, pairs).named());
    let figure = |(((name, a), (_, b)), (_, versus))| Figure { name, a, b, versus };
    let seeds = |runs: &[Report]| runs.iter().map(|run| run.seed).collect();
    Pair {
        a: a.0.clone(),
        b: b.0.clone(),
        seeds_a: seeds(&runs_a),
        seeds_b: seeds(&runs_b),
        scenario: changes(&runs_a[0], &runs_b[0]),
        figures: all.map(figure).filter(|figure| figure.a.is_some() || figure.b.is_some()).collect(),
    }
}

/// The runs whose seeds the other side has too; all of them where there are none.
fn in_common(runs: &[Report], others: &[Report]) -> Vec<Report> {
    let is_common = |run: &&Report| others.iter().any(|other| other.seed == run.seed);
    let common: Vec<Report> = runs.iter().filter(is_common).cloned().collect();
    if common.is_empty() { runs.to_vec() } else { common }
}

/// The keys of two scenarios that differ; seeds are told apart elsewhere.
fn changes(a: &Report, b: &Report) -> Vec<Change> {
    let (ours, theirs) = (leaves_of(a), leaves_of(b));
    let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let change =
        |key: &String| Change { key: key.clone(), a: ours.get(key).cloned(), b: theirs.get(key).cloned() };
    keys.into_iter().map(change).filter(|change| change.a != change.b).collect()
}

fn leaves_of(run: &Report) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::from([("version".to_owned(), run.version.clone())]);
    collect(&run.scenario, "", &mut leaves);
    leaves.remove("seed");
    leaves.remove("name");
    leaves
}

fn collect(value: &Value, key: &str, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(table) => {
            for (name, below) in table {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                collect(below, &key, into);
            }
        }
        Value::String(text) => drop(into.insert(key.to_owned(), text.clone())),
        other => drop(into.insert(key.to_owned(), other.to_string())),
    }
}
