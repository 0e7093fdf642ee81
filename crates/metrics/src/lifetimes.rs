//! The lifetimes of a comparison: of each variant, over its seeds.
//!
//! Of each run the device counts whose limit comes first. Each limit has an interval over seeds: a seed has a load of its own and,
//! where blocks wear out, drives with blocks of their own.
//!
//! Leaves out: intervals with one seed, correlation of the limits of one run.

use serde::{Deserialize, Serialize};

use crate::device::DeviceReport;
use crate::interval::Interval;
use crate::lifetime::{Evenness, LifetimeReport, Limit, RateOf, Years};
use crate::report::{Comparison, Report};
use crate::years::Replacements;

/// The name of this format: the `schema` of what `harmonia lifetime --json` prints.
pub const LIFETIME_SCHEMA: &str = "harmonia-lifetime/1";

/// Of more years than these it does not matter how many they are: a rating may state so many at most. Unit: years.
pub const YEARS_MOST: f64 = 100.0;

/// How long the drives of a variant last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantLifetime {
    /// Label of its runs.
    pub label: String,
    /// Seeds of its runs, in their order.
    pub seeds: Vec<u64>,
    /// Where the rate of writes comes from.
    pub rate: RateOf,
    /// Length of the measured window, the mean. Unit: s.
    pub window_s: f64,
    /// Written by the user a day. Unit: bytes.
    pub host_bytes_per_day: Interval,
    /// Of the drive that is written most. Unit: usable capacities a day.
    pub drive_writes_per_day: Interval,
    /// Flash bytes of all drives per byte that the array wrote to them. Unit: ratio.
    pub write_amplification: Option<Interval>,
    /// Of all drives. Unit: bytes.
    pub flash_bytes_per_day: Option<Interval>,
    /// Until the first drive has come to each limit.
    pub years: Years<Interval>,
    /// The limit that comes first.
    pub limit: Option<Limit>,
    /// How old a drive may become by its rating, whatever is written to it; absent where that states no years. Unit: years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_years: Option<f64>,
    /// Years until the first drive was read-only in a simulation of its whole life; absent without one. Unit: years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Interval>,
    /// How evenly blocks were erased, in the run that shows it worst.
    pub evenness: Evenness,
    /// When members are replaced, and what that risks; absent where that is not known of every member, or where data is kept once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacements: Option<Replacements<Interval>>,
}

/// Those of all variants; empty unless something says what drives endure.
pub fn lifetimes(of: &Comparison) -> Vec<VariantLifetime> {
    of.variants().filter_map(VariantLifetime::of).collect()
}

fn lives(run: &Report) -> impl Iterator<Item = &LifetimeReport> {
    run.devices.iter().filter_map(|device| device.lifetime.as_ref())
}

/// The least of all devices that have one.
fn first(run: &Report, of: fn(&LifetimeReport) -> Option<f64>) -> Option<f64> {
    lives(run).filter_map(of).min_by(f64::total_cmp)
}

fn flash(run: &Report) -> Option<f64> {
    let written: Option<f64> =
        lives(run).filter(|life| life.host_bytes_per_day > 0.0).map(|life| life.flash_bytes_per_day).sum();
    written.filter(|&bytes| bytes > 0.0)
}

impl VariantLifetime {
    fn of(runs: &[Report]) -> Option<VariantLifetime> {
        let whole = runs.first()?.array.lifetime?;
        let over = |of: &dyn Fn(&Report) -> Option<f64>| -> Option<Interval> {
            let samples: Option<Vec<f64>> = runs.iter().map(of).collect();
            Interval::of(&samples?)
        };
        let years = |of| over(&|run| first(run, of));
        let evenness = runs.iter().filter_map(|run| Some(run.array.lifetime?.evenness));
        let nothing = Interval { mean: 0.0, half_width: None, samples: 0 };
        Some(VariantLifetime {
            label: crate::judgement::label(runs),
            seeds: runs.iter().map(|run| run.seed).collect(),
            rate: whole.rate,
            window_s: over(&|run| Some(run.array.lifetime?.window_s))?.mean,
            host_bytes_per_day: over(&|run| Some(run.array.lifetime?.host_bytes_per_day))?,
            drive_writes_per_day: over(&|run| {
                lives(run).map(|life| life.drive_writes_per_day).max_by(f64::total_cmp)
            })
            .unwrap_or(nothing),
            write_amplification: over(&|run| {
                let written: f64 = lives(run).map(|life| life.host_bytes_per_day).sum();
                flash(run).map(|flash| flash / written)
            }),
            flash_bytes_per_day: over(&flash),
            years: Years {
                cycles: years(|life| life.years.cycles),
                rated_bytes: years(|life| life.years.rated_bytes),
                first_block: years(|life| life.years.first_block),
                read_only: years(|life| life.years.read_only),
            },
            limit: ends_with(runs),
            rated_years: rated_years(&runs[0]),
            simulated: None,
            replacements: replacements(runs),
            evenness: evenness.max_by(|one: &Evenness, other| one.spread().total_cmp(&other.spread()))?,
        })
    }
}

/// The years of a rating in drive writes a day.
fn rated_years(run: &Report) -> Option<f64> {
    run.scenario.pointer("/ssd/rating/years")?.as_f64()
}

/// That drives become too old before they are worn out, where a variant lasts for longer than its drives are rated for, or than
/// [`YEARS_MOST`] where the rating states no years.
pub(crate) fn age_first(variants: &[&[Report]]) -> Option<String> {
    let of = |runs: &&[Report]| {
        let lives: Option<Vec<f64>> = runs.iter().map(|run| Some(run.array.lifetime?.first?.years)).collect();
        let lives = lives.filter(|lives| !lives.is_empty())?;
        Some((lives.iter().sum::<f64>() / lives.len() as f64, rated_years(&runs[0])))
    };
    age_first_of(variants.iter().filter_map(of))
}

/// The same of these years, each with those that the drives are rated for.
pub fn age_first_of(lives: impl Iterator<Item = (f64, Option<f64>)>) -> Option<String> {
    let too_long = lives.filter(|(years, rated)| *years > rated.unwrap_or(YEARS_MOST));
    let least = too_long.map(|(_, rated)| rated).reduce(|one, other| match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    })?;
    let most = match least {
        Some(years) => format!("{years} (ssd.rating)"),
        None => format!("{YEARS_MOST:.0}"),
    };
    Some(format!("these years count writes alone. Where they exceed {most}, age ends the drives first"))
}

fn replacements(runs: &[Report]) -> Option<Replacements<Interval>> {
    let all: Option<Vec<_>> = runs.iter().map(|run| run.array.replacements.as_ref()).collect();
    Replacements::over(&all?)
}

/// What ends most of the runs.
fn ends_with(runs: &[Report]) -> Option<Limit> {
    let limits = || runs.iter().filter_map(|run| Some(run.array.lifetime?.first?.limit));
    limits().max_by_key(|limit| limits().filter(|other| other == limit).count())
}

impl DeviceReport {
    /// Whether something is said of its life.
    pub fn has_life(&self) -> bool {
        self.life.is_some() || self.leveling.is_some()
    }
}
