//! A sweep: which runs there are. Each is a function of the sweep file and its number alone.
//!
//! ```text
//!   combination 0            combination 1
//!   seed 1      seed 2       seed 1      seed 2
//!   local ideal local ideal  local ideal local ideal     policies vary fastest, then seeds
//!   0     1     2     3      4     5     6     7         number of the point
//! ```
//!
//! Every combination runs with the same seeds, so results can be compared seed by seed. Scenarios are built when a point is
//! asked for: one point of a large sweep costs no more than one of a small one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use harmonia_scenario::policies::sets_of;
use harmonia_scenario::{BadInput, Scenario, Template};

use crate::address::{self, Hashes};
use crate::design::{self, Combination};
use crate::file::{Method, Seeds, SweepFile, WrittenAxis};
use crate::value::Entry;

/// A sweep may have so many points.
pub const MOST_POINTS: u64 = 1_000_000;

/// One run of a sweep.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its place in the sweep, from 0.
    pub number: usize,
    /// Name of its result: a hash of all that the result depends on.
    pub address: String,
    /// Policy and swept keys with their values, for people.
    pub label: String,
    /// The policy, as it is called in a comparison; `None` where the sweep lists none.
    pub policy: Option<String>,
    /// Swept keys with their values.
    pub swept: BTreeMap<String, String>,
    /// What is run.
    pub scenario: Scenario,
    /// What the address is a hash of.
    pub(crate) identity: String,
}

/// Where the scenario of a sweep comes from.
pub enum Base<'a> {
    /// From the sweep file.
    Named,
    /// A file or the name of a built-in scenario, instead of what the sweep file says.
    File(&'a str),
    /// The text of a scenario, instead.
    Text(&'a str),
}

/// A sweep that can begin.
pub struct Plan {
    file: SweepFile,
    template: Template,
    /// What is changed throughout, behind what the file fixes.
    sets: Vec<String>,
    combinations: Vec<Combination>,
    hashes: Mutex<Hashes>,
}

impl Plan {
    /// Reads a sweep file; `sets` (`key=value`, as for `--set`) have the last word over what it fixes.
    ///
    /// # Errors
    /// If the file cannot be read, or says what cannot be done.
    pub fn open(path: &Path, sets: &[String]) -> Result<Plan, BadInput> {
        let folder = path.parent().map(Path::to_owned);
        Plan::of(SweepFile::open(path)?, folder, &Base::Named, sets)
    }

    /// Reads a sweep from text, `origin` being what messages call it.
    ///
    /// # Errors
    /// As [`Plan::open`].
    pub fn parse(text: &str, origin: &str, base: &Base<'_>, sets: &[String]) -> Result<Plan, BadInput> {
        Plan::of(SweepFile::parse(text.to_owned(), origin)?, None, base, sets)
    }

    fn of(
        file: SweepFile,
        folder: Option<PathBuf>,
        base: &Base<'_>,
        sets: &[String],
    ) -> Result<Plan, BadInput> {
        let template = template(&file, folder.as_deref(), base)?;
        if let Some(swept) = file.swept().find(|key| sets.iter().any(|set| key_of(set) == *key)) {
            let problem = format!("--set {swept}: the sweep varies this key");
            return Err(BadInput::plain(problem, "allowed: keys that the sweep does not vary"));
        }
        let combinations = combinations(&file)?;
        let plan = Plan { file, template, sets: sets.to_vec(), combinations, hashes: Mutex::default() };
        match plan.len() as u64 {
            0..=MOST_POINTS => Ok(plan),
            points => Err(plan.file.fault(
                plan.file.axes.first().map_or(0..0, |axis| axis.span.clone()),
                "axes",
                &format!("{points} points are more than one sweep may have"),
                &format!("at most {MOST_POINTS}; fewer values, or method = \"random\" or \"lhs\""),
            )),
        }
    }

    /// How many points there are, those that cannot be run included.
    pub fn len(&self) -> usize {
        self.combinations.len() * self.seeds() * self.file.policies.len().max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn seeds(&self) -> usize {
        match &self.file.seeds {
            Seeds::Count(count) => *count as usize,
            Seeds::Listed(seeds) => seeds.len(),
        }
    }

    /// The point with this number; `None` if its scenario is not valid and the sweep skips such.
    ///
    /// # Errors
    /// If there is no such point, or its scenario is not valid and the sweep does not skip it.
    pub fn point(&self, number: usize) -> Result<Option<Point>, BadInput> {
        if number >= self.len() {
            return Err(BadInput::plain(
                format!("--point {number}: the sweep has no such point"),
                &format!("allowed: 0 to {}", self.len().saturating_sub(1)),
            ));
        }
        match self.build(number) {
            Ok(point) => Ok(Some(point)),
            Err(_) if self.file.skip_invalid => Ok(None),
            Err(why) => Err(why),
        }
    }

    /// All points that can be run.
    ///
    /// # Errors
    /// The first whose scenario is not valid, unless the sweep skips such.
    pub fn points(&self) -> Result<Vec<Point>, BadInput> {
        let points = (0..self.len()).map(|number| self.point(number));
        points.filter_map(Result::transpose).collect()
    }

    fn build(&self, number: usize) -> Result<Point, BadInput> {
        let policies = self.file.policies.len().max(1);
        let policy = self.file.policies.get(number % policies);
        let seed = number / policies % self.seeds();
        let values = self.values(&self.combinations[number / policies / self.seeds()]);
        let mut scenario = self.scenario(&values, policy)?;
        let seed = match &self.file.seeds {
            Seeds::Listed(seeds) => seeds[seed],
            Seeds::Count(_) => scenario.seed.checked_add(seed as u64).ok_or_else(|| {
                let problem = format!("`seed` = {}: the seeds that follow are too large", scenario.seed);
                BadInput::plain(problem, "allowed: a smaller seed in the scenario")
            })?,
        };
        scenario.seed = seed;
        scenario.array.faults.seed = seed;
        let identity =
            address::identity(&scenario, &mut self.hashes.lock().unwrap_or_else(|held| held.into_inner()))?;
        let pairs: Vec<String> = values.iter().map(Entry::set).collect();
        let policy = policy.map(|entry| entry.value.clone());
        let label = [policy.clone().unwrap_or_default(), pairs.join(", ")].join(" ").trim().to_owned();
        let swept = values.into_iter().map(|entry| (entry.key, entry.value)).collect();
        Ok(Point { number, address: address::of(&identity), label, policy, swept, scenario, identity })
    }

    /// Swept keys with their values.
    fn values(&self, combination: &Combination) -> Vec<Entry> {
        match self.file.method {
            Method::List => self.file.points[combination[0]].clone(),
            _ => {
                let entry = |(axis, &index): (&WrittenAxis, &usize)| axis.entry(index);
                self.file.axes.iter().zip(combination).map(entry).collect()
            }
        }
    }

    fn scenario(&self, values: &[Entry], policy: Option<&Entry>) -> Result<Scenario, BadInput> {
        let fixed = self.file.sets.iter().map(Entry::set).chain(self.sets.iter().cloned());
        let swept = values.iter().map(Entry::set);
        let policies = policy.map(|policy| sets_of(&policy.value)).unwrap_or_default();
        let sets: Vec<String> = fixed.chain(swept).chain(policies).collect();
        self.template.with(&sets, None).map_err(|why| self.placed(&why, values, policy))
    }

    /// The message at the line of the sweep file that its value came from, unless it is about a line of the scenario.
    fn placed(&self, why: &BadInput, values: &[Entry], policy: Option<&Entry>) -> BadInput {
        let Some(key) = why.key().filter(|_| why.line().is_none()) else { return why.clone() };
        let is_within =
            |key: &str, table: &str| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
        let is_about =
            |entry: &&Entry| entry.key == key || is_within(key, &entry.key) || is_within(&entry.key, key);
        let is_given = self.sets.iter().any(|set| key_of(set) == key);
        let written = values.iter().find(is_about).or_else(|| policy.filter(|entry| is_about(entry)));
        let fixed = || self.file.sets.iter().rev().find(is_about).filter(|_| !is_given);
        match written.or_else(fixed) {
            Some(entry) => why.moved_to(&self.file.origin, &self.file.text, entry.span.clone()),
            None => why.clone(),
        }
    }
}

impl SweepFile {
    /// Keys that it varies.
    fn swept(&self) -> impl Iterator<Item = &str> {
        let axes = self.axes.iter().map(|axis| axis.key.as_str());
        axes.chain(self.points.iter().flatten().map(|entry| entry.key.as_str()))
    }
}

fn key_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}

fn template(file: &SweepFile, folder: Option<&Path>, base: &Base<'_>) -> Result<Template, BadInput> {
    match base {
        Base::File(source) => Template::open(source),
        Base::Text(text) => Template::text(text, "<text>"),
        Base::Named => {
            let Some(entry) = &file.scenario else {
                let problem = "`scenario` is missing";
                let allowed = "scenario = the name of a built-in scenario, or a path from this file";
                return Err(file.fault(0..0, "scenario", problem, allowed));
            };
            let beside = folder.map(|folder| folder.join(&entry.value)).filter(|path| path.is_file());
            let source = beside.map(|path| path.display().to_string());
            Template::open(source.as_deref().unwrap_or(&entry.value)).map_err(|why| match why.line() {
                None => why.moved_to(&file.origin, &file.text, entry.span.clone()),
                Some(_) => why,
            })
        }
    }
}

fn combinations(file: &SweepFile) -> Result<Vec<Combination>, BadInput> {
    let sizes: Vec<usize> = file.axes.iter().map(|axis| axis.values.len()).collect();
    let span = || file.axes.first().map_or(0..0, |axis| axis.span.clone());
    let (all, samples) = (design::size(&sizes), file.samples as usize);
    match file.method {
        Method::List => Ok((0..file.points.len()).map(|point| vec![point]).collect()),
        Method::Grid if all.is_none_or(|all| all > MOST_POINTS) => Err(file.fault(
            span(),
            "axes",
            "`axes`: the grid has more combinations than one sweep may have",
            &format!("at most {MOST_POINTS}; fewer values, or method = \"random\" or \"lhs\""),
        )),
        Method::Grid => Ok(design::grid(&sizes)),
        Method::Random if all.is_some_and(|all| all < file.samples) => Err(file.fault(
            span(),
            "samples",
            &format!("`samples` = {samples}: the axes have only {} combinations", all.unwrap_or_default()),
            "at most as many as there are; method = \"grid\" runs all",
        )),
        Method::Random => Ok(design::random(&sizes, samples, file.draw_seed)),
        Method::Lhs => {
            let axes: Vec<(&str, usize)> =
                file.axes.iter().map(|axis| (axis.key.as_str(), axis.values.len())).collect();
            Ok(design::latin_hypercube(&axes, samples, file.draw_seed))
        }
    }
}
