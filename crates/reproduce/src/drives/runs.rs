//! Which scenario a load is, and what is kept of its run.
//!
//! The latency loads are those of the built-in scenario `ssd-iq`. Every run of a drive has the same scale and one seed. Before anything is
//! measured a part of the capacity is written under the load itself, so that free space is where this load keeps it.

use std::collections::BTreeMap;

use harmonia_metrics::Report;
use harmonia_scenario::{BadInput, Scenario};
use serde::{Deserialize, Serialize};

use super::measured::{Drive, Load, Pattern};

/// The part of a drive that is simulated.
pub const SCALE: &str = "1/100";

/// Of the capacity that is written under a load before it is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warmup {
    /// Under the loads of the probe.
    pub probe: f64,
    /// Under skewed writes.
    pub skewed: f64,
}

/// What runs that are kept have.
pub const WARMUP: Warmup = Warmup { probe: 0.4, skewed: 0.75 };

/// How long the probe is measured, in seconds: 40,000 reads.
const MEASURED_S: u64 = 8;
/// The part of the capacity over which rates of skewed writes are measured.
const MEASURED_SKEWED: f64 = 0.25;
/// Requests of the probe in a second, half of them writes.
const PROBE: u32 = 10_000;

const PROBED: &str = "ssd-iq";
const FILL: &str = include_str!("fill.toml");
const WRITES: &str = include_str!("writes.toml");

/// What a run showed. Times in us; none where there are too few requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// p50, p99 and p99.9 of the probe's reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<[f64; 3]>,
    /// p50 and p99 of its writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<[f64; 2]>,
    /// Writes that were done in a second.
    pub writes: f64,
    /// Bytes that were written in a second, in MB.
    pub megabytes: f64,
    /// Write amplification, over whole cycles of collection where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<f64>,
}

/// A run to do.
#[derive(Debug, Clone)]
pub struct Run {
    /// The preset of the drive.
    pub drive: &'static str,
    /// Its load.
    pub load: Load,
    /// What is simulated.
    pub scenario: Scenario,
}

/// The runs of a drive.
///
/// # Errors
/// If there is no preset for the drive.
pub fn runs(drive: &Drive, warmup: Warmup) -> Result<Vec<Run>, BadInput> {
    let mut loads: Vec<Load> = Vec::new();
    for row in &drive.rows {
        if !loads.contains(&row.load) {
            loads.push(row.load);
        }
    }
    let is_skewed = |load: &Load| matches!(load, Load::Writes(_));
    if loads.iter().any(is_skewed) && !loads.contains(&Load::UNIFORM) {
        loads.push(Load::UNIFORM);
    }
    let run = |load| Ok(Run { drive: drive.name, load, scenario: scenario(drive.name, load, warmup)? });
    loads.into_iter().map(run).collect()
}

/// The scenario of a load on a drive.
///
/// # Errors
/// If there is no such preset.
pub fn scenario(drive: &str, load: Load, warmup: Warmup) -> Result<Scenario, BadInput> {
    scenario_with(drive, &[], load, warmup)
}

/// The same on a drive of which these keys differ from its preset.
///
/// # Errors
/// If there is no such preset, or no such key.
pub(super) fn scenario_with(
    preset: &str,
    keys: &[&str],
    load: Load,
    warmup: Warmup,
) -> Result<Scenario, BadInput> {
    let mut of_all = vec![format!("ssd.preset={preset}"), format!("ssd.scale={SCALE}")];
    of_all.extend(keys.iter().map(|&key| key.to_owned()));
    let with = |sets: &[String]| {
        let sets = [&of_all[..], sets].concat();
        match load {
            Load::Offered(_) | Load::Saturated(_) => Scenario::load(PROBED, &sets, None),
            Load::Sequential => Scenario::parse(FILL, "the fill of a drive", &sets, None),
            Load::Writes(_) => Scenario::parse(WRITES, "writes of a drive", &sets, None),
        }
    };
    let part = |share: f64| -> Result<u64, BadInput> {
        let ssd = &with(&[])?.array.members[0].ssd;
        let pages = ssd.resolve().map_or(0, |shape| shape.logical_pages);
        Ok((f64::from(pages) * share) as u64)
    };
    match load {
        Load::Offered(rate) | Load::Saturated(rate) => {
            let loaders = rate - PROBE / 2;
            // Beyond the knee fewer are done than are due, and the time until they are is a warm-up no less.
            let seconds = part(warmup.probe)?.div_ceil(rate.into());
            with(&[
                format!("workload.stream.loaders.arrival.rate={loaders}"),
                format!("workload.warmup={seconds}s"),
                format!("workload.duration={}s", seconds + MEASURED_S),
            ])
        }
        Load::Sequential => with(&[]),
        Load::Writes(pattern) => {
            let used = if let Pattern::Footprint(share) = pattern { share } else { 1.0 };
            let (warm, measured) = (part(warmup.skewed * used)?, part(MEASURED_SKEWED * used)?);
            let address = match pattern {
                Pattern::Uniform => Vec::new(),
                Pattern::Zipf(theta) => {
                    vec!["workload.address.pattern=zipf".into(), format!("workload.address.theta={theta}")]
                }
                Pattern::Part(share) => vec![
                    "workload.address.pattern=hotspot".into(),
                    format!("workload.address.hot_space={share}"),
                    "workload.address.hot_traffic=1.0".into(),
                ],
                Pattern::Footprint(share) => {
                    vec![format!("workload.address.footprint={share}"), format!("precondition.fill={share}")]
                }
            };
            let counts =
                [format!("workload.requests={}", warm + measured), format!("workload.warmup={warm}")];
            with(&[&counts[..], &address].concat())
        }
    }
}

impl From<&Report> for Shown {
    fn from(report: &Report) -> Self {
        let us = |ns: Option<u64>| Some((ns? as f64 / 100.0).round() / 10.0);
        let seconds = report.simulated_ns as f64 / 1e9;
        let per_second = |count: u64| (count as f64 / seconds).round();
        let probe = report.host.streams.get("probe");
        let read =
            probe.and_then(|probe| Some([us(probe.read.p50)?, us(probe.read.p99)?, us(probe.read.p999)?]));
        let array = &report.array;
        let amplification = array.write_amplification_whole_cycles.or(array.write_amplification);
        Shown {
            read,
            write: probe.and_then(|probe| Some([us(probe.write.p50)?, us(probe.write.p99)?])),
            writes: per_second(report.host.write_requests),
            megabytes: (per_second(report.host.bytes_written) / 1e3).round() / 1e3,
            write_amplification: amplification.map(|value| (value * 1e4).round() / 1e4),
        }
    }
}

/// What runs showed, by drive and load.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shows(BTreeMap<(String, String), Shown>);

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    drive: String,
    load: String,
    #[serde(flatten)]
    shown: Shown,
}

impl Shows {
    /// Takes in a run.
    pub fn insert(&mut self, drive: &str, load: Load, shown: Shown) {
        self.0.insert((drive.to_owned(), load.to_string()), shown);
    }

    /// What the run of a load showed, if there is one.
    pub fn of(&self, drive: &str, load: Load) -> Option<&Shown> {
        self.0.get(&(drive.to_owned(), load.to_string()))
    }

    /// As text, a line a run.
    pub fn to_json(&self) -> String {
        let lines = self.0.iter().map(|((drive, load), shown)| {
            let line = Line { drive: drive.clone(), load: load.clone(), shown: shown.clone() };
            serde_json::to_string(&line).expect("plain data has a JSON form")
        });
        format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
    }

    /// What [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// If it is something else; the text says where.
    pub fn from_json(text: &str) -> Result<Shows, String> {
        let lines: Vec<Line> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Shows(lines.into_iter().map(|line| ((line.drive, line.load), line.shown)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::measured::drives;
    use super::*;

    #[test]
    fn every_drive_with_a_preset_has_its_scenarios() {
        for drive in drives() {
            let runs = runs(&drive, WARMUP).unwrap_or_else(|why| panic!("{}: {why}", drive.name));
            assert!(runs.iter().any(|run| run.load == Load::Writes(Pattern::Uniform)), "{}", drive.name);
            assert!(runs.iter().all(|run| run.scenario.array.members[0].ssd.preset == drive.name));
        }
    }

    #[test]
    fn a_load_has_its_rate_and_its_scale() {
        let of = |load| scenario("samsung-pm9a3-960g", load, WARMUP).expect("a scenario").to_toml();
        let text = of(Load::Offered(10_000));
        assert!(text.contains("rate = 5000") && text.contains("scale = \"1/100\""), "{text}");
        assert!(of(Load::Writes(Pattern::Part(0.1))).contains("hot_space = 0.1"));
    }

    #[test]
    fn what_runs_showed_survives_being_written() {
        let mut shows = Shows::default();
        let shown = Shown { read: Some([61.2, 250.0, 400.5]), writes: 10_000.0, ..Shown::default() };
        shows.insert("x", Load::Offered(10_000), shown.clone());
        shows.insert("x", Load::Sequential, Shown::default());
        let read = Shows::from_json(&shows.to_json());
        assert_eq!(read.as_ref(), Ok(&shows));
        assert_eq!(shows.of("x", Load::Offered(10_000)), Some(&shown));
        assert_eq!(shows.of("x", Load::Saturated(10_000)), None);
    }
}
