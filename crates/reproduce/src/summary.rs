//! What is kept of a run: the figures that a claim may ask for, and no more.
//!
//! Times are whole nanoseconds and shares have six decimals, so that a thousand runs fit into a file that one can
//! commit. Leaves out: distributions beyond seven percentiles, blame, and of single members all but their wear under shares
//! of parity.

use std::collections::BTreeMap;

use harmonia_metrics::{
    DeviceReport, DistributionSummary, MetGcReport, MetReport, OverTimeReport, PairingReport, Report,
};
use serde::{Deserialize, Serialize};

/// Width of a stretch of which the bandwidth is kept: of those that a report may have, the nearest to the papers' second. Unit: ns.
pub const SECOND_NS: u64 = 1 << 30;

/// What a run showed, or why it could not be run.
pub type Outcome = harmonia_run::Outcome<Summary>;

/// The figures of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Host requests measured. Unit: count.
    pub requests: u64,
    /// Length of the measured window. Unit: ns.
    pub simulated_ns: u64,
    /// Response time of all requests.
    pub all: Times,
    /// Of reads.
    pub read: Times,
    /// Of writes.
    pub write: Times,
    /// Of reads that met garbage collection of their die, which is what the papers count. Lines from before the simulator told
    /// meeting a collection and waiting for one apart have it as `gc_affected_read`.
    #[serde(default, alias = "gc_affected_read", skip_serializing_if = "Times::is_empty")]
    pub met_gc_read: Times,
    /// Of writes that did; in older lines `gc_affected_write`.
    #[serde(default, alias = "gc_affected_write", skip_serializing_if = "Times::is_empty")]
    pub met_gc_write: Times,
    /// Blocks erased. Unit: count.
    pub erases: u64,
    /// Valid pages moved. Unit: pages.
    pub gc_pages_moved: u64,
    /// Data pages the host wrote. Unit: pages.
    pub host_pages_written: u64,
    /// Flash data pages programmed per host data page; null without writes. Unit: ratio.
    pub write_amplification: Option<f64>,
    /// Share of requests that did; in older lines `gc_affected`. Unit: fraction.
    #[serde(alias = "gc_affected")]
    pub met_gc_share: f64,
    /// Busy planes of a die that collects, the mean over members that collected; null without. Unit: fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane_utilisation_in_gc: Option<f64>,
    /// Host operations taken along by garbage collection; null where the schedule never does that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairing: Option<PairingReport>,
    /// Requests that met collection of their die, by the planes that collected; absent where planes share their blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met_gc: Option<MetGcReport>,
    /// Host operations that waited at a die when it began to collect, the mean over events; null without. Unit:
    /// operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_at_gc: Option<f64>,
    /// How the first member stood over time; absent in lines from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<OverTime>,
    /// Bytes read and written in each stretch of [`SECOND_NS`], of closed loops: other loads have the bandwidth that they ask for.
    /// Without the first, in which the first requests are still under way, and the last, which is no whole one. Unit: bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bytes_by_second: Vec<u64>,
    /// Share of time with 0, 1, .. members collecting. Unit: fraction.
    pub devices_in_gc: Vec<f64>,
    /// Ageing had reached a steady state.
    pub steady: bool,
    /// What coordination counted. Unit: count.
    pub coordination: BTreeMap<String, u64>,
    /// How each member wore; absent where all have the same share of parity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberWear>,
    /// Replacements of members, with a run until each, of which the first is the one that all else is said of; absent for a
    /// single run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
}

/// The oldest member is worn out and replaced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// Shares of parity until then, of the members as they stood by age before, the oldest first. Unit: percent.
    pub shares: Vec<u16>,
    /// How these members wore in the run that stands for that time.
    pub members: Vec<MemberWear>,
    /// Ages when the first is worn out, the oldest first. Unit: lives.
    pub ages: Vec<f64>,
}

/// What is kept of a member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberWear {
    /// Blocks erased. Unit: count.
    pub erases: u64,
    /// Parity written. Unit: pages.
    pub parity_pages_written: u64,
}

/// What is kept of how a device stood over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OverTime {
    /// Erased blocks, mean over the report's buckets. Unit: blocks.
    pub empty_blocks: Option<f64>,
    /// Fewest erased blocks. Unit: blocks.
    pub empty_blocks_least: u64,
    /// Channels in GC, mean over the window. Unit: count.
    pub channels_in_gc: f64,
    /// Variance of the rate at which empty blocks come and go, by the width it was taken at in ns. Unit: (blocks/s)^2.
    pub change_variance: Vec<(u64, f64)>,
    /// Mean queue depth over the window. Unit: operations.
    pub queue_depth: Option<f64>,
}

impl From<&OverTimeReport> for OverTime {
    fn from(report: &OverTimeReport) -> Self {
        let shares = report.channels_in_gc_fraction.iter().enumerate();
        let (empty, buckets) = (report.empty_blocks.iter().sum::<f64>(), report.empty_blocks.len());
        OverTime {
            empty_blocks: (buckets > 0).then(|| six_decimals(empty / buckets as f64)),
            empty_blocks_least: report.empty_blocks_least,
            channels_in_gc: six_decimals(shares.map(|(channels, share)| channels as f64 * share).sum()),
            change_variance: report
                .empty_blocks_change_variance_by_width
                .iter()
                .map(|&(width, variance)| (width, six_decimals(variance)))
                .collect(),
            queue_depth: report.queue_depth_mean.map(six_decimals),
        }
    }
}

/// A response time; null where there are too few requests to say. Unit: ns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// Requests. Unit: count.
    pub count: u64,
    /// Mean.
    pub mean: Option<u64>,
    /// Standard deviation.
    pub stddev: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 75th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p75: Option<u64>,
    /// 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p999: Option<u64>,
    /// 99.99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p9999: Option<u64>,
    /// Largest.
    pub max: Option<u64>,
}

impl Times {
    /// Whether there was no request: such a field is left out of the text, as lines from before it do.
    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl From<&DistributionSummary> for Times {
    fn from(times: &DistributionSummary) -> Self {
        let whole = |ns: Option<f64>| ns.map(|ns| ns.round() as u64);
        Times {
            count: times.count,
            mean: whole(times.mean),
            stddev: whole(times.stddev),
            p50: times.p50,
            p75: times.p75,
            p95: times.p95,
            p99: times.p99,
            p999: times.p999,
            p9999: times.p9999,
            max: times.max,
        }
    }
}

impl From<&Report> for Summary {
    fn from(report: &Report) -> Self {
        let (host, array) = (&report.host, &report.array);
        let response = &host.response_ns;
        let met = response.met_gc_read.count + response.met_gc_write.count;
        Summary {
            requests: host.requests,
            simulated_ns: report.simulated_ns,
            all: (&response.all).into(),
            read: (&response.read).into(),
            write: (&response.write).into(),
            met_gc_read: (&response.met_gc_read).into(),
            met_gc_write: (&response.met_gc_write).into(),
            erases: array.erases,
            gc_pages_moved: array.gc_pages_moved,
            host_pages_written: array.host_pages_written,
            write_amplification: array.write_amplification.map(six_decimals),
            met_gc_share: six_decimals(met as f64 / host.requests.max(1) as f64),
            plane_utilisation_in_gc: plane_utilisation(report).map(six_decimals),
            pairing: array.inside.pairing,
            met_gc: array.inside.met_gc.map(whole_ns),
            waiting_at_gc: array.inside.queue_depth_at_gc.mean.map(six_decimals),
            over_time: report.devices.first().map(|device| OverTime::from(&device.over_time)),
            bytes_by_second: bytes_by_second(report),
            devices_in_gc: array.devices_in_gc_fraction.iter().copied().map(six_decimals).collect(),
            steady: report.precondition.steady,
            coordination: array.coordination.counters.clone(),
            members: report.devices.iter().filter_map(member_wear).collect(),
            replaced: Vec::new(),
        }
    }
}

fn member_wear(device: &DeviceReport) -> Option<MemberWear> {
    let parity_pages_written = device.parity_pages_written?;
    Some(MemberWear { erases: device.erases, parity_pages_written })
}

fn bytes_by_second(report: &Report) -> Vec<u64> {
    let process = report.scenario.pointer("/workload/arrival/process").and_then(serde_json::Value::as_str);
    let over_time = &report.host.bandwidth;
    match over_time.bytes.split_last() {
        Some((_, whole)) if process == Some("closed") => seconds(whole, over_time.bucket_ns),
        _ => Vec::new(),
    }
}

/// Sums over [`SECOND_NS`], but the first, of buckets that divide it; none of wider ones.
fn seconds(buckets: &[u64], bucket_ns: u64) -> Vec<u64> {
    let together = (SECOND_NS / bucket_ns.max(1)) as usize;
    if together == 0 {
        return Vec::new();
    }
    buckets.chunks_exact(together).skip(1).map(|second| second.iter().sum()).collect()
}

fn plane_utilisation(report: &Report) -> Option<f64> {
    let members = report.devices.iter().filter_map(|device| device.plane_utilisation_in_gc);
    let (sum, count) = members.fold((0.0, 0), |(sum, count), share| (sum + share, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// With means of whole nanoseconds.
fn whole_ns(met: MetGcReport) -> MetGcReport {
    let whole = |met: MetReport| MetReport { mean_ns: met.mean_ns.map(f64::round), ..met };
    let MetGcReport { own_reads, own_writes, sibling_reads, sibling_writes } = met;
    MetGcReport {
        own_reads: whole(own_reads),
        own_writes: whole(own_writes),
        sibling_reads: whole(sibling_reads),
        sibling_writes: whole(sibling_writes),
    }
}

pub(crate) fn six_decimals(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_survives_being_written() {
        let times = Times { count: 3, mean: Some(5), max: Some(9), ..Times::default() };
        let summary = Summary { requests: 3, all: times, met_gc_share: 0.333333, ..Summary::default() };
        for outcome in [Outcome::Measured(summary), Outcome::Refused("too fast".into())] {
            let text = serde_json::to_string(&outcome).expect("JSON");
            assert_eq!(serde_json::from_str::<Outcome>(&text).expect("an outcome"), outcome);
        }
    }

    /// What older versions called GC-affected is what the papers count, and claims of them are judged by it.
    #[test]
    fn older_lines_have_met_gc_by_its_older_name() {
        let times = |count| Times { count, mean: Some(5), ..Times::default() };
        let summary = Summary {
            met_gc_read: times(3),
            met_gc_write: times(4),
            met_gc_share: 0.25,
            ..Summary::default()
        };
        let text = serde_json::to_string(&summary).expect("JSON");
        assert!(!text.contains("gc_affected"), "{text}");
        let older = text
            .replace("met_gc_read", "gc_affected_read")
            .replace("met_gc_write", "gc_affected_write")
            .replace("met_gc_share", "gc_affected");
        assert_eq!(serde_json::from_str::<Summary>(&older).expect("a summary"), summary, "{older}");
    }

    #[test]
    fn times_are_rounded_to_whole_nanoseconds_not_cut() {
        let times = DistributionSummary { mean: Some(2.6), stddev: None, ..DistributionSummary::default() };
        assert_eq!((Times::from(&times).mean, Times::from(&times).stddev), (Some(3), None));
    }

    /// Three seconds of four buckets and half of one: the first and the half are left out.
    #[test]
    fn seconds_are_whole_and_none_is_the_first() {
        let buckets = [9, 9, 9, 9, 1, 2, 3, 4, 5, 5, 5, 5, 7, 7];
        assert_eq!(seconds(&buckets, SECOND_NS / 4), [10, 20]);
        assert_eq!(seconds(&[9, 3], SECOND_NS), [3]);
        assert!(seconds(&buckets, 2 * SECOND_NS).is_empty() && seconds(&[], 1).is_empty());
    }

    /// Lines that were written before a figure was kept stay as they are.
    #[test]
    fn what_a_run_does_not_have_is_not_written() {
        let text = serde_json::to_string(&Summary::default()).expect("JSON");
        for later in [
            "met_gc_read",
            "met_gc_write",
            "plane_utilisation_in_gc",
            "p75",
            "p95",
            "p9999",
            "pairing",
            r#""met_gc""#,
            "waiting_at_gc",
            "over_time",
            "members",
            "replaced",
            "bytes_by_second",
        ] {
            assert!(!text.contains(later), "{later}: {text}");
        }
    }
}
