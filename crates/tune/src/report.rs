//! What `harmonia tune --json` prints: every point tried, what became of it, and how far to trust the best.
//!
//! Everything is a function of the request; nothing says how long it took or what was kept from before, so that a search
//! that was stopped and one that was not end with the same bytes.

use std::collections::BTreeMap;

use harmonia_metrics::{Contrast, Interval};
use harmonia_run::{RunError, VERSION};
use harmonia_scenario::BadInput;
use serde::Serialize;

use crate::campaign::Campaign;
use crate::search::{Candidate, Fate, Found, Point, Stopped};
use crate::space::Axis;
use crate::verdict::{Doubt, difference, doubts};

/// The name of this format.
pub const SCHEMA: &str = "harmonia-tune/1";

/// A search and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TuneReport {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of Harmonia that searched.
    pub version: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// What was made small.
    pub objective: ObjectiveReport,
    /// The keys that were varied.
    pub over: Vec<Axis>,
    /// The seeds.
    pub seeds: Seeds,
    /// Most runs that were allowed. Unit: count.
    pub budget: u64,
    /// Runs made or found again. Unit: count.
    pub runs: u64,
    /// Generations raced. Unit: count.
    pub generations: u32,
    /// Why it ended: `even`, `finest`, `budget` or `refused`.
    pub stopped: &'static str,
    /// The lowest mean of the points that nothing beats.
    pub best: Chosen,
    /// What cannot be told from the best.
    pub plateau: Plateau,
    /// The scenario as it stands.
    pub default: Chosen,
    /// All points in the order in which they were tried; the first is the scenario as it stands.
    pub points: Vec<PointReport>,
    /// Why points could not be run, the commonest reason first.
    pub refused: Vec<Refusal>,
    /// How the finalists do with seeds that nothing was chosen by, the best first.
    pub held_out: Vec<HeldOut>,
    /// Reasons to think twice, the gravest first.
    pub warnings: Vec<Warning>,
    /// The scenario as it stands, resolved.
    pub scenario: serde_json::Value,
}

/// What was made small.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObjectiveReport {
    /// Its name.
    pub name: &'static str,
    /// What it counts in: `ns`, `count` or `ratio`.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

/// The seeds of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Seeds {
    /// Points were chosen by these.
    pub search: Vec<u64>,
    /// The finalists were tried with these.
    pub held_out: Vec<u64>,
}

/// A point by its index in `points`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// Index in `points`.
    pub point: usize,
    /// What it changes in the scenario, as for `--set`.
    pub sets: Vec<String>,
    /// Mean cost over the seeds of the search; null if it could not be run.
    pub cost: Option<Interval>,
}

/// Points that cannot be told from the best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plateau {
    /// Indices in `points`, the lowest mean first.
    pub points: Vec<usize>,
    /// By key, the values they have, from the first to the last.
    pub extent: Vec<Extent>,
    /// The one nearest to the scenario as it stands.
    pub plainest: Chosen,
}

/// Values of a key on a plateau.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Extent {
    /// The key.
    pub key: String,
    /// Its values, as far as they were tried.
    pub values: Vec<String>,
}

/// A difference seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// In the objective's unit.
    pub difference: Interval,
    /// As a share of what it is held against; null where that is 0. Unit: fraction.
    pub relative: Option<Interval>,
    /// The intervals of both leave 0 out; null where there is none.
    pub significant: Option<bool>,
}

/// A point and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointReport {
    /// What it changes in the scenario, as for `--set`.
    pub sets: Vec<String>,
    /// When it was first tried.
    pub generation: u32,
    /// `as-it-stands`, `best`, `ties`, `beaten`, `dropped` or `refused`.
    pub fate: &'static str,
    /// By seed, the objective.
    pub costs: Vec<f64>,
    /// Their mean; null without any.
    pub cost: Option<Interval>,
    /// Less the scenario as it stands.
    pub versus_default: Option<Difference>,
    /// Less the best.
    pub versus_best: Option<Difference>,
    /// Who beat it and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beaten: Option<Beaten>,
    /// Why it could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// How a point left the race.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beaten {
    /// After so many seeds. Unit: count.
    pub seeds: usize,
    /// Index of the leader then, in `points`.
    pub by: usize,
    /// By how much it was worse.
    pub difference: Interval,
}

/// A reason for which points could not be run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// The message of the first of them.
    pub reason: String,
    /// How many points. Unit: count.
    pub points: usize,
}

/// A finalist with held-out seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOut {
    /// Index in `points`.
    pub point: usize,
    /// By seed, the objective.
    pub costs: Vec<f64>,
    /// Their mean.
    pub cost: Option<Interval>,
    /// Less the scenario as it stands.
    pub versus_default: Option<Difference>,
    /// Less the best.
    pub versus_best: Option<Difference>,
}

/// A reason to think twice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    /// `flat`, `no-gain`, `overfitted`, `rival`, `refused`, `at-the-end` or `budget`.
    pub kind: &'static str,
    /// In words.
    pub text: String,
}

impl TuneReport {
    /// What a campaign found.
    ///
    /// # Errors
    /// If no point could be run; the message is that of the first.
    pub(crate) fn of(campaign: &Campaign<'_>, found: &Found) -> Result<TuneReport, RunError> {
        let teller = Teller { campaign, found };
        let (Some(best), Some(plainest)) = (found.best, found.plainest) else { return Err(teller.nothing()) };
        let first = campaign.scenario.seed;
        let seeds = campaign.plan.seeds as u64;
        let objective = campaign.request.objective;
        Ok(TuneReport {
            schema: SCHEMA,
            version: VERSION,
            name: campaign.scenario.name.clone(),
            objective: ObjectiveReport {
                name: objective.name,
                unit: objective.unit.text(),
                meaning: objective.meaning,
            },
            over: campaign.request.space.axes.clone(),
            seeds: Seeds {
                search: (first..first + seeds).collect(),
                held_out: (first + seeds..first + 2 * seeds).collect(),
            },
            budget: campaign.plan.budget,
            runs: found.runs,
            generations: found.generations,
            stopped: match found.stopped {
                Stopped::Even => "even",
                Stopped::Finest => "finest",
                Stopped::Budget => "budget",
                Stopped::Refused => "refused",
            },
            best: teller.chosen(best),
            plateau: Plateau {
                points: found.plateau.clone(),
                extent: teller.extent(),
                plainest: teller.chosen(plainest),
            },
            default: teller.chosen(0),
            points: (0..found.candidates.len()).map(|index| teller.point(index, best)).collect(),
            refused: teller.refused(),
            held_out: found.finalists.iter().map(|&index| teller.held_out(index, best)).collect(),
            warnings: teller.warnings(best),
            scenario: serde_json::to_value(&campaign.scenario).unwrap_or_default(),
        })
    }
}

/// Makes the parts of a report.
struct Teller<'a> {
    campaign: &'a Campaign<'a>,
    found: &'a Found,
}

impl Teller<'_> {
    fn candidate(&self, index: usize) -> &Candidate {
        &self.found.candidates[index]
    }

    fn sets(&self, index: usize) -> Vec<String> {
        let point = self.candidate(index).point.as_ref();
        point.map(|point| self.campaign.request.space.sets(point)).unwrap_or_default()
    }

    /// As one would type it.
    fn flags(&self, index: usize) -> String {
        flags(&self.sets(index))
    }

    fn chosen(&self, point: usize) -> Chosen {
        Chosen { point, sets: self.sets(point), cost: Interval::of(&self.candidate(point).costs) }
    }

    fn point(&self, index: usize, best: usize) -> PointReport {
        let candidate = self.candidate(index);
        let (fate, beaten, refused) = match &candidate.fate {
            Fate::Refused(why) => ("refused", None, Some(why.clone())),
            _ if index == 0 => ("as-it-stands", None, None),
            _ if index == best => ("best", None, None),
            Fate::Racing => ("ties", None, None),
            Fate::Dropped => ("dropped", None, None),
            Fate::Beaten { seeds, by, difference } => {
                ("beaten", Some(Beaten { seeds: *seeds, by: *by, difference: *difference }), None)
            }
        };
        PointReport {
            sets: self.sets(index),
            generation: candidate.generation,
            fate,
            costs: candidate.costs.clone(),
            cost: Interval::of(&candidate.costs),
            versus_default: self.versus(&candidate.costs, index, 0, false),
            versus_best: self.versus(&candidate.costs, index, best, false),
            beaten,
            refused,
        }
    }

    fn held_out(&self, index: usize, best: usize) -> HeldOut {
        let costs = self.candidate(index).held_out.clone();
        HeldOut {
            point: index,
            cost: Interval::of(&costs),
            versus_default: self.versus(&costs, index, 0, true),
            versus_best: self.versus(&costs, index, best, true),
            costs,
        }
    }

    /// Nothing is held against itself.
    fn versus(&self, costs: &[f64], index: usize, than: usize, held_out: bool) -> Option<Difference> {
        let other = self.candidate(than);
        let others = if held_out { &other.held_out } else { &other.costs };
        let contrast = difference(costs, others).filter(|_| index != than)?;
        let (significant, Contrast { difference, relative }) = (contrast.is_significant(), contrast);
        Some(Difference { difference, relative, significant })
    }

    fn extent(&self) -> Vec<Extent> {
        let points: Vec<&Point> =
            self.found.plateau.iter().filter_map(|&index| self.candidate(index).point.as_ref()).collect();
        let axes = self.campaign.request.space.axes.iter().enumerate();
        axes.map(|(key, axis)| {
            let mut indices: Vec<u32> = points.iter().map(|point| point[key]).collect();
            indices.sort_unstable();
            indices.dedup();
            Extent {
                key: axis.key.clone(),
                values: indices.into_iter().map(|index| axis.value(index)).collect(),
            }
        })
        .collect()
    }

    /// Reasons that differ in numbers only are one reason.
    fn refused(&self) -> Vec<Refusal> {
        let mut reasons: BTreeMap<String, Refusal> = BTreeMap::new();
        for candidate in &self.found.candidates {
            if let Fate::Refused(why) = &candidate.fate {
                let kind: String = why.chars().filter(|character| !character.is_ascii_digit()).collect();
                let refusal = reasons.entry(kind).or_insert(Refusal { reason: why.clone(), points: 0 });
                refusal.points += 1;
            }
        }
        let mut refused: Vec<Refusal> = reasons.into_values().collect();
        refused.sort_by_key(|refusal| std::cmp::Reverse(refusal.points));
        refused
    }

    fn nothing(&self) -> RunError {
        let refused = self.found.candidates.iter().skip(1).find_map(|candidate| match &candidate.fate {
            Fate::Refused(why) => Some(why.as_str()),
            _ => None,
        });
        let problem = format!("no point can be run: {}", refused.unwrap_or("the budget is too small"));
        RunError::BadInput(BadInput::plain(
            problem,
            "allowed: ranges that hold values the array can work with",
        ))
    }

    /// An end beyond which the scenario refuses the next value is no reason to widen the range.
    fn warnings(&self, best: usize) -> Vec<Warning> {
        let holds = |doubt: &Doubt| match (doubt, &self.candidate(best).point) {
            (Doubt::AtTheEnd { key }, Some(point)) => self.campaign.goes_on(*key, point),
            _ => true,
        };
        let doubts = doubts(&self.campaign.plan, self.found).into_iter().filter(holds);
        doubts.map(|doubt| self.warning(&doubt, best)).collect()
    }

    fn warning(&self, doubt: &Doubt, best: usize) -> Warning {
        let (kind, text) = match doubt {
            Doubt::Flat { points } => ("flat", self.flat(*points)),
            Doubt::NoGain { contrast } => ("no-gain", self.no_gain(contrast, best)),
            Doubt::GainNotConfirmed { searched, held_out } => {
                ("overfitted", self.not_confirmed(searched, held_out))
            }
            Doubt::NotBestHeldOut { other, contrast } => self.rival(*other, contrast),
            Doubt::RefusedHeldOut { why } => {
                ("refused", format!("the best point cannot be run with a held-out seed: {why}"))
            }
            Doubt::AtTheEnd { key } => ("at-the-end", self.at_the_end(*key, best)),
            Doubt::OutOfRuns { dropped } => ("budget", self.out_of_runs(*dropped)),
        };
        Warning { kind, text }
    }

    fn flat(&self, points: usize) -> String {
        let axes = &self.campaign.request.space.axes;
        let extent: Vec<String> =
            self.extent().iter().zip(axes).map(|(extent, axis)| words(extent, axis)).collect();
        let tried =
            self.found.candidates.iter().filter(|one| one.point.is_some() && !one.costs.is_empty()).count();
        let plainest = self.found.plainest.map(|index| self.flags(index)).unwrap_or_default();
        format!(
            "the optimum is flat: with {} seeds, {points} of {tried} points tie with the best ({}). The plainest of them, \
             which is nearest to the scenario as it stands, is {plainest}",
            self.campaign.plan.seeds,
            extent.join("; ")
        )
    }

    fn no_gain(&self, contrast: &Contrast, best: usize) -> String {
        let lead = match contrast.difference.mean >= 0.0 {
            true => "no tried point is better than",
            false => "there is no relevant gain over",
        };
        let chance = if contrast.difference.excludes(0.0) { "" } else { ", which may be chance" };
        let (point, change) = (self.flags(best), share(contrast));
        format!("{lead} the scenario as it stands: {point} is {change} against it{chance}. Leave it as it is")
    }

    fn not_confirmed(&self, searched: &Contrast, held_out: &Contrast) -> String {
        format!(
            "the best fits only the seeds it was chosen by. Against the scenario as it stands it is {} with those seeds, and \
             {} with {} held-out seeds, which may be chance",
            share(searched),
            share(held_out),
            self.campaign.plan.seeds
        )
    }

    fn rival(&self, other: usize, contrast: &Contrast) -> (&'static str, String) {
        let (kind, how) = match contrast.difference.excludes(0.0) {
            true => ("overfitted", "more than by chance: the best fits only the seeds it was chosen by"),
            false => ("rival", "which may be chance"),
        };
        let (point, change) = (self.flags(other), share(contrast));
        (kind, format!("with held-out seeds {point} is {change} against the best, {how}"))
    }

    fn at_the_end(&self, key: usize, best: usize) -> String {
        let axis = &self.campaign.request.space.axes[key];
        let index = self.candidate(best).point.as_ref().map_or(0, |point| point[key]);
        let end = if index == 0 { "first" } else { "last" };
        format!(
            "{}={} is the {end} value of its range. A better value may lie beyond it",
            axis.key,
            axis.value(index)
        )
    }

    fn out_of_runs(&self, dropped: usize) -> String {
        format!(
            "the budget of {} runs is used up, and points remain to be tried ({dropped} were dropped on the way)",
            self.campaign.plan.budget
        )
    }
}

/// `--set` flags as one would type them.
pub fn flags(sets: &[String]) -> String {
    let quoted =
        |set: &String| match set.contains(|c: char| !c.is_ascii_alphanumeric() && !"=._-+%".contains(c)) {
            true => format!("'{}'", set.replace('\'', "'\\''")),
            false => set.clone(),
        };
    sets.iter().map(|set| format!("--set {}", quoted(set))).collect::<Vec<_>>().join(" ")
}

/// A range from its first to its last value, choices one by one.
fn words(extent: &Extent, axis: &Axis) -> String {
    match &extent.values[..] {
        [first, .., last] if axis.is_ordered() => format!("{} {first} to {last}", extent.key),
        values => format!("{} {}", extent.key, values.join(", ")),
    }
}

/// A change in per cent; where there is nothing to take a share of, the difference itself.
fn share(contrast: &Contrast) -> String {
    let Some(Interval { mean, half_width, .. }) = contrast.relative else {
        return format!("{:+}", contrast.difference.mean);
    };
    let change = mean * 100.0;
    let change = if change.abs() < 0.05 { "0.0%".to_owned() } else { format!("{change:+.1}%") };
    change + &half_width.map(|width| format!(" \u{b1}{:.1}", width * 100.0)).unwrap_or_default()
}
