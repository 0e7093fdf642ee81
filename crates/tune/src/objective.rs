//! What can be made small: one line an objective.
//!
//! All are costs, so the lowest is the best. Throughput is missing on purpose: under open load it is the load's, and
//! in a closed loop it is the queue depth over the mean response time (Little), so `mean` ranks alike. Leaves out:
//! weighing several objectives against one another.

use harmonia_metrics::{DistributionSummary, Report};
use harmonia_scenario::BadInput;

/// What an objective counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds of simulated time.
    Ns,
    /// A number of things.
    Count,
    /// A ratio.
    Ratio,
}

impl Unit {
    /// As reports write it.
    pub fn text(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Count => "count",
            Unit::Ratio => "ratio",
        }
    }
}

/// A figure of a report that a search makes small.
#[derive(Debug, Clone, Copy)]
pub struct Objective {
    /// What it is called in `--objective`.
    pub name: &'static str,
    /// What it counts in.
    pub unit: Unit,
    /// What it is.
    pub meaning: &'static str,
    /// Its value in a run; none where the run has too few samples to say.
    pub of: fn(&Report) -> Option<f64>,
}

const fn time(name: &'static str, meaning: &'static str, of: fn(&Report) -> Option<f64>) -> Objective {
    Objective { name, unit: Unit::Ns, meaning, of }
}

fn all(run: &Report) -> &DistributionSummary {
    &run.host.response_ns.all
}

fn read(run: &Report) -> &DistributionSummary {
    &run.host.response_ns.read
}

fn write(run: &Report) -> &DistributionSummary {
    &run.host.response_ns.write
}

fn float(ns: Option<u64>) -> Option<f64> {
    ns.map(|ns| ns as f64)
}

/// All objectives.
pub const OBJECTIVES: &[Objective] = &[
    time("mean", "mean response time", |run| all(run).mean),
    time("p50", "median response time", |run| float(all(run).p50)),
    time("p95", "95th percentile of response times", |run| float(all(run).p95)),
    time("p99", "99th percentile of response times", |run| float(all(run).p99)),
    time("p999", "99.9th percentile of response times", |run| float(all(run).p999)),
    time("read-mean", "mean response time of reads", |run| read(run).mean),
    time("read-p50", "median response time of reads", |run| float(read(run).p50)),
    time("read-p95", "95th percentile of reads", |run| float(read(run).p95)),
    time("read-p99", "99th percentile of reads", |run| float(read(run).p99)),
    time("read-p999", "99.9th percentile of reads", |run| float(read(run).p999)),
    time("write-mean", "mean response time of writes", |run| write(run).mean),
    time("write-p50", "median response time of writes", |run| float(write(run).p50)),
    time("write-p95", "95th percentile of writes", |run| float(write(run).p95)),
    time("write-p99", "99th percentile of writes", |run| float(write(run).p99)),
    time("write-p999", "99.9th percentile of writes", |run| float(write(run).p999)),
    Objective {
        name: "erases",
        unit: Unit::Count,
        meaning: "blocks erased",
        of: |run| Some(run.array.erases as f64),
    },
    Objective {
        name: "write-amplification",
        unit: Unit::Ratio,
        meaning: "flash bytes programmed per byte the user wrote",
        of: |run| run.array.write_amplification,
    },
];

/// The objective of this name.
///
/// # Errors
/// If there is none; the message names the nearest and all.
pub fn find(name: &str) -> Result<&'static Objective, BadInput> {
    OBJECTIVES.iter().find(|known| known.name == name).ok_or_else(|| {
        let likeness = |known: &&Objective| strsim::jaro_winkler(known.name, name);
        let near = OBJECTIVES.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{}`?", near.name));
        let names: Vec<&str> = OBJECTIVES.iter().map(|known| known.name).collect();
        let shown: String = name.chars().filter(|character| !character.is_control()).take(60).collect();
        BadInput::plain(
            format!("--objective `{shown}`: there is no such objective{near}"),
            &format!("allowed: {}", names.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_a_misspelt_one_is_told_the_nearest() {
        for (index, one) in OBJECTIVES.iter().enumerate() {
            assert!(OBJECTIVES[..index].iter().all(|other| other.name != one.name), "{}", one.name);
        }
        assert_eq!(find("p99").expect("there").name, "p99");
        let message = find("write-p9").expect_err("misspelt").to_string();
        assert!(message.contains("did you mean `write-p9") && message.contains("erases"), "{message}");
    }
}
