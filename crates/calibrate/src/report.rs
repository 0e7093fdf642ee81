//! What came of a calibration: figures with their ranges, and what the drive shows beside what was measured.

use harmonia_run::{RunError, RunOptions};
use serde::Serialize;

use crate::drive::{Drive, FLOOR, PRESET};
use crate::estimate::{Fit, Known, synthetic_uniform};
use crate::measured::{Experiment, Kind, Measured};
use crate::simulate::{Shown, shown};

/// The name of this format.
pub const SCHEMA: &str = "harmonia-calibration/1";

/// A drive, what is known of it, and how well it agrees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What the drive is called.
    pub drive: String,
    /// The preset that all other figures are of.
    pub preset: &'static str,
    /// The experiment that nothing was fitted on.
    pub held_out: Option<String>,
    /// Figures, in the order of the device file.
    pub keys: Vec<Key>,
    /// What was measured and what the drive shows.
    pub checks: Vec<Check>,
}

/// One figure of the drive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Key {
    /// Below `ssd`.
    pub key: &'static str,
    /// As TOML.
    pub value: String,
    /// What the measurements allow.
    pub range: Option<[String; 2]>,
    /// How it is known.
    #[serde(flatten)]
    pub known: Known,
}

/// One figure of one experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The experiment.
    pub experiment: String,
    /// What of it, with its unit.
    pub figure: &'static str,
    /// As measured.
    pub measured: f64,
    /// As simulated; none where the drive does not take the load or has too few requests.
    pub simulated: Option<f64>,
    /// Simulated over measured, less 1.
    pub error: Option<f64>,
    /// Whether nothing was fitted on the experiment.
    pub held_out: bool,
}

impl Calibration {
    /// The device file: the `[ssd]` of a scenario, with what is known of each key. It ends with a line break.
    pub fn device_file(&self) -> String {
        let mut text = format!(
            "# {}, as `harmonia calibrate` found it. Use it with --drive, or as the [ssd] of a scenario.\n[ssd]\npreset = \"{}\"\n",
            self.drive, self.preset
        );
        for key in &self.keys {
            text.push_str(&format!("\n# {}\n{} = {}\n", key.says(), key.key, key.value));
        }
        text
    }
}

impl Key {
    /// How it is known, in words.
    pub fn says(&self) -> String {
        let range = self.range.as_ref().map(|[low, high]| format!("{low} to {high}; ")).unwrap_or_default();
        match &self.known {
            Known::Identified(by) => format!("{range}identified by {by}"),
            Known::Given(by) => format!("{range}given by {by}"),
            Known::Assumed(why) => format!("not identified: assumed; {range}{why}"),
            Known::NotIdentified(why) => format!("not identified: default; {range}{why}"),
        }
    }
}

impl Check {
    fn new(
        experiment: &str,
        figure: &'static str,
        measured: f64,
        simulated: Option<f64>,
        held_out: bool,
    ) -> Check {
        let error = simulated.map(|simulated| simulated / measured - 1.0);
        Check { experiment: experiment.to_owned(), figure, measured, simulated, error, held_out }
    }
}

/// The report of a fit.
pub(crate) fn of(
    measured: &Measured,
    held_out: Option<&str>,
    fit: &Fit<'_>,
    checks: Vec<Check>,
) -> Calibration {
    let name = measured.sheet.name.as_deref().unwrap_or("a drive");
    let keys = fit.drive.keys().into_iter().map(|(key, value)| {
        let found = fit.found.iter().find(|found| found.key == key);
        let known = found.map_or_else(|| otherwise(key, measured), |found| found.known.clone());
        Key { key, value, range: found.and_then(|found| found.range.clone()), known }
    });
    Calibration {
        schema: SCHEMA,
        drive: harmonia_scenario::printable(name, 60),
        preset: PRESET,
        held_out: held_out.map(str::to_owned),
        keys: keys.collect(),
        checks,
    }
}

/// Of keys that no stage looks for.
fn otherwise(key: &str, measured: &Measured) -> Known {
    match key {
        "link.bandwidth" if measured.sheet.sequential_read.is_some() => {
            Known::Given("drive.sequential_read".to_owned())
        }
        "link.bandwidth" => Known::NotIdentified("needs drive.sequential_read".to_owned()),
        "gc.trigger" | "gc.last_program" => Known::Assumed("as in the presets of measured drives".to_owned()),
        _ => Known::Assumed("see geometry.channels".to_owned()),
    }
}

/// Every experiment on the drive that was found.
pub(crate) fn checks(
    measured: &Measured,
    held_out: Option<&str>,
    fit: &Fit<'_>,
    options: &RunOptions<'_>,
) -> Result<Vec<Check>, RunError> {
    let synthetic = synthetic_uniform();
    let uniform = measured.experiments.iter().rfind(|one| one.kind() == Kind::Uniform).unwrap_or(&synthetic);
    let has_rates = measured.sheet.uniform.is_some() || fit.steady().is_some();
    let mut loads: Vec<&Experiment> = measured.experiments.iter().collect();
    if has_rates && std::ptr::eq(uniform, &synthetic) {
        loads.push(uniform);
    }
    let runs: Vec<(&Drive, &Experiment)> = loads.iter().map(|load| (&fit.drive, *load)).collect();
    let shows = shown(&runs, options)?;
    let mut checks = Vec::new();
    for (experiment, simulated) in loads.iter().zip(&shows) {
        let is_held_out = held_out == Some(experiment.name.as_str());
        for (figure, measured, simulated) in figures(experiment, simulated.as_ref()) {
            checks.push(Check::new(&experiment.name, figure, measured, simulated, is_held_out));
        }
        if !std::ptr::eq(*experiment, uniform) {
            continue;
        }
        if let Some(media) = measured.sheet.uniform {
            let measured = media / measured.sheet.sequential.unwrap_or(1.0);
            let simulated = simulated.as_ref().and_then(|shown| shown.amplification);
            checks.push(Check::new("counters", "write amplification", measured, simulated, false));
        }
        if let Some((rate, name)) = fit.steady() {
            let simulated = simulated.as_ref().map(|shown| shown.written / 1e6);
            checks.push(Check::new(name, "written in the end, MB/s", rate / 1e6, simulated, false));
        }
    }
    if let Some((flash, name)) = fit.cliff() {
        let simulated = (1.0 - FLOOR) / (1.0 - fit.drive.reserved / 100.0);
        checks.push(Check::new(name, "capacities before the cliff", flash, Some(simulated), false));
    }
    Ok(checks)
}

/// What there is to compare of an experiment. Latencies of what is as fast as it can be only repeat its rate.
fn figures(experiment: &Experiment, simulated: Option<&Shown>) -> Vec<(&'static str, f64, Option<f64>)> {
    let measured = Shown::of(experiment);
    let kind = experiment.kind();
    let mut figures = Vec::new();
    if let Some(measured) = measured.under_way {
        figures.push(("reads under way", measured, simulated.and_then(|shown| shown.under_way)));
    }
    if matches!(kind, Kind::Fill | Kind::Uniform | Kind::Saturated | Kind::Other) && measured.written > 0.0 {
        figures.push(("written, MB/s", measured.written / 1e6, simulated.map(|shown| shown.written / 1e6)));
    }
    let mut latencies = |names: [&'static str; 2], of: fn(&Shown) -> [Option<f64>; 2]| {
        for (at, name) in names.into_iter().enumerate() {
            if let Some(measured) = of(&measured)[at] {
                figures.push((name, measured, simulated.and_then(|shown| of(shown)[at])));
            }
        }
    };
    if !matches!(kind, Kind::Fill | Kind::Uniform | Kind::Crowd) {
        latencies(["read p50, us", "read p99, us"], |shown| shown.read);
    }
    if matches!(kind, Kind::IdleWrites | Kind::Beside) {
        latencies(["write p50, us", "write p99, us"], |shown| shown.write);
    }
    figures
}
