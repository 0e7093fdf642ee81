//! What the presets say of loads, and of a drive, of which no measurement was read.
//!
//! ```text
//!   asked (a load between two published ones, another size of the drive) --> run --> Predictions --> page
//!                                                                             ^
//!                                                 slices (how far a figure varies within the run)
//! ```
//!
//! * [`asked`]: which runs there are;
//! * [`slices`]: intervals of figures, from slices of the run;
//! * [`page`]: all of it as Markdown, beside what judged rows say of the same drive.
//!
//! A prediction has the scale, the seed and the loads of the runs that are judged, and a shorter warm-up. No figure of a preset was chosen
//! for it.

pub mod asked;
pub mod page;
pub mod slices;

use std::collections::BTreeMap;

use harmonia_metrics::{Report, figures_of};
use harmonia_run::{Outcome, RunError, RunOptions, outcomes};
use harmonia_scenario::Variant;
use serde::{Deserialize, Serialize};

use self::slices::{Halves, Slices};
use super::measured::Load;
use super::runs::Shown;

/// A figure and half the width of its 95% interval, in the same unit; none where there is too little to tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure(pub f64, pub Option<f64>);

/// What a run predicts. Times in us.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// p50, p99 and p99.9 of the probe's reads, if there is a probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<[Figure; 3]>,
    /// p99 of its writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_p99: Option<f64>,
    /// Writes that are done in a second.
    pub writes: Figure,
    /// Write amplification; that of a sequential fill is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<Figure>,
}

/// Runs these scenarios.
///
/// # Errors
/// If they are cancelled, or a defect shows.
pub fn run(variants: &[Variant], options: &RunOptions<'_>) -> Result<Vec<Outcome<Prediction>>, RunError> {
    let slices = Slices::default();
    let observed = RunOptions { observe: &slices, ..*options };
    let ran = outcomes(variants, &observed, &|report| (Shown::from(report), amplification_half(report)))?;
    let with_halves = |(variant, outcome)| match outcome {
        Outcome::Measured((shown, amplification)) => {
            Outcome::Measured(Prediction::of(&shown, amplification, slices.of(variant)))
        }
        Outcome::Refused(why) => Outcome::Refused(why),
    };
    Ok(ran.into_iter().enumerate().map(with_halves).collect())
}

/// Of the write amplification that [`Shown`] has.
fn amplification_half(report: &Report) -> Option<f64> {
    let figures = figures_of(std::slice::from_ref(report));
    figures.write_amplification_whole_cycles.or(figures.write_amplification)?.half_width
}

impl Prediction {
    fn of(shown: &Shown, amplification: Option<f64>, halves: Halves) -> Prediction {
        let round = |value: f64, digits: f64| (value * digits).round() / digits;
        let reads = |read: [f64; 3]| {
            let half = |at: usize| halves.read.map(|of| round(of[at] / 1e3, 10.0));
            [Figure(read[0], half(0)), Figure(read[1], half(1)), Figure(read[2], half(2))]
        };
        Prediction {
            read: shown.read.map(reads),
            write_p99: shown.write.map(|write| write[1]),
            writes: Figure(shown.writes, halves.writes.map(f64::round)),
            write_amplification: shown
                .write_amplification
                .map(|value| Figure(value, amplification.map(|half| round(half, 1e4)))),
        }
    }
}

/// What runs predict, by drive and load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predictions(BTreeMap<(String, String), Prediction>);

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    drive: String,
    load: String,
    #[serde(flatten)]
    prediction: Prediction,
}

impl Predictions {
    /// Takes in a run.
    pub fn insert(&mut self, drive: &str, load: Load, prediction: Prediction) {
        self.0.insert((drive.to_owned(), load.to_string()), prediction);
    }

    /// What the run of a load predicts, if there is one.
    pub fn of(&self, drive: &str, load: Load) -> Option<&Prediction> {
        self.0.get(&(drive.to_owned(), load.to_string()))
    }

    /// As text, a line a run.
    pub fn to_json(&self) -> String {
        let lines = self.0.iter().map(|((drive, load), prediction)| {
            let line = Line { drive: drive.clone(), load: load.clone(), prediction: prediction.clone() };
            serde_json::to_string(&line).expect("plain data has a JSON form")
        });
        format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
    }

    /// What [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// If it is something else; the text says where.
    pub fn from_json(text: &str) -> Result<Predictions, String> {
        let lines: Vec<Line> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Predictions(lines.into_iter().map(|line| ((line.drive, line.load), line.prediction)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_survive_being_written() {
        let mut all = Predictions::default();
        let read = Some([Figure(61.2, Some(0.4)), Figure(250.0, None), Figure(400.5, Some(3.0))]);
        let prediction = Prediction { read, writes: Figure(10_000.0, Some(12.0)), ..Prediction::default() };
        all.insert("x", Load::Offered(10_000), prediction.clone());
        all.insert("x", Load::UNIFORM, Prediction::default());
        let back = Predictions::from_json(&all.to_json());
        assert_eq!(back.as_ref(), Ok(&all));
        assert_eq!(all.of("x", Load::Offered(10_000)), Some(&prediction));
        assert_eq!(all.of("x", Load::Offered(20_000)), None);
    }
}
