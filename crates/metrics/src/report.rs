//! The report of one run, typed: what `--json` prints and every reader parses.
//!
//! Fields appear in the JSON in the order in which they are declared. Keys that the format promises come
//! first in each section; further keys follow them and may be added to without a new [`SCHEMA`], so readers
//! must ignore keys they do not know. Everything but `engine` is a function of scenario and seed: see
//! [`Report::without_engine`].

use std::collections::BTreeMap;

use harmonia_types::{
    BitmapCounters, BoundCounters, CacheCounters, Counter, Counters, DeviceCounters, InsideCounters, IoCause,
    LogCounters, MappingCacheCounters, NvramCounters, ReadCounters, RedundancyCounters, WriteCacheCounters,
};
use serde::{Deserialize, Serialize};

use crate::device::{DeviceReport, DieTraits, utilisation};
use crate::failures::FailuresReport;
use crate::feasibility::FeasibilityReport;
use crate::flash_bytes::{Flash, FlashBytes};
use crate::host::HostReport;
use crate::inside::InsideReport;
use crate::intervals::Intervals;
use crate::judgement::{self, Winners};
use crate::lifetime::ArrayLifetime;
use crate::trace::TraceReport;
use crate::warning::Warning;
use crate::write_hole::WriteHoleReport;
use crate::years::Replacements;

/// The name of this report format: the `schema` of every report.
pub const SCHEMA: &str = "harmonia-report/1";

/// Sections of a report that are counters, by their keys; `inside` stands in the array and in each device.
pub const SECTIONS: [(&str, &[Counter]); 10] = [
    ("array.redundancy", RedundancyCounters::TABLE),
    ("array.stripe_cache", CacheCounters::TABLE),
    ("array.reconstruct", ReadCounters::TABLE),
    ("array.bounds", BoundCounters::TABLE),
    ("array.nvram", NvramCounters::TABLE),
    ("array.write_hole", LogCounters::TABLE),
    ("array.bitmap", BitmapCounters::TABLE),
    ("inside", InsideCounters::TABLE),
    ("write_cache", WriteCacheCounters::TABLE),
    ("mapping_cache", MappingCacheCounters::TABLE),
];

/// Everything one run reports; every counter covers the measured window only, but wear is that of the whole
/// life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of Harmonia that ran.
    pub version: String,
    /// The scenario as resolved: every default and preset written out.
    pub scenario: serde_json::Value,
    /// Root seed of all random streams.
    pub seed: u64,
    /// Length of the measured window, warm-up excluded. Unit: ns.
    pub simulated_ns: u64,
    /// What hosts experienced.
    pub host: HostReport,
    /// What the array did as a whole.
    pub array: ArrayReport,
    /// What each member did, in the order of their indices; behind them spares, where anything may befall members.
    pub devices: Vec<DeviceReport>,
    /// What the simulation cost.
    pub engine: EngineReport,
    /// How the array was aged.
    pub precondition: PreconditionReport,
    /// Name of the run within a comparison, such as its policy.
    pub label: String,
    /// What was replayed of a trace, and what was done to it; absent where the load is no trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceReport>,
    /// What to know before believing it; absent if all is well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// How far to trust its figures, from batches of its requests; of a run on its own only. A comparison has those of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Intervals>,
}

/// The report's `array` section: sums over its devices, and coordination.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArrayReport {
    /// Flash bytes programmed (data with all copies, rests of pages, parity, logs and GC) per byte that the user wrote; null
    /// where none was. Unit: ratio.
    pub write_amplification: Option<f64>,
    /// Blocks erased. Unit: count.
    pub erases: u64,
    /// Valid pages moved by GC. Unit: pages.
    pub gc_pages_moved: u64,
    /// Valid pages moved to level wear; absent if 0. Unit: pages.
    #[serde(default, skip_serializing_if = "crate::host::is_zero")]
    pub leveled_pages_moved: u64,
    /// Data pages written by the host, each counted once however many copies are kept. Unit: pages.
    pub host_pages_written: u64,
    /// Flash data pages programmed, for whatever but metadata. Unit: pages.
    pub flash_pages_programmed: u64,
    /// Parity pages programmed on behalf of the array, moves by GC not included. Unit: pages.
    pub parity_pages_written: u64,
    /// Share of the window with 0, 1, .., N devices in GC, indexed by their number; sums to 1. Unit:
    /// fraction.
    pub devices_in_gc_fraction: Vec<f64>,
    /// What coordination did.
    pub coordination: CoordinationReport,
    /// Summary pages and the like; outside write amplification. Unit: pages.
    pub metadata_pages_programmed: u64,
    /// Pages that SSDs read because a write which reached them covered the page only in part. On levels with parity it is 0: the array
    /// reads such a row itself and writes whole pages, and `redundancy.pre_read_bytes` counts what it reads. Unit: pages.
    pub read_modify_write_reads: u64,
    /// Busy plane time / (planes of a die x GC time of the dies), both summed over all devices, each with its own
    /// planes; null without GC time. Unit: ratio.
    #[serde(default)]
    pub plane_utilisation_in_gc: Option<f64>,
    /// What garbage collection did with host operations inside the dies, over all devices.
    #[serde(default)]
    pub inside: InsideReport,
    /// Capacity that the host can use; absent in reports of before there were redundant levels. Unit: bytes.
    #[serde(default, skip_serializing_if = "crate::host::is_zero")]
    pub usable_bytes: u64,
    /// What parity and copies make of writes; absent where the level has no redundancy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundancy: Option<RedundancyCounters>,
    /// What the stripe cache saved, and who waited for it; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe_cache: Option<CacheCounters>,
    /// Write amplification over whole collection cycles, each victim's life being one: where the window begins and ends
    /// makes no difference, nor do free blocks that were built up in it. Null where no victim was collected. Unit: ratio.
    #[serde(default)]
    pub write_amplification_whole_cycles: Option<f64>,
    /// Reads that do without members that collect; absent where all reads wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconstruct: Option<ReadCounters>,
    /// Page operations beside the most that a scheme promises; absent where the policy promises nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<BoundCounters>,
    /// Writes parked for members that collect; absent without NVRAM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nvram: Option<NvramCounters>,
    /// What closes the write hole, and what that costs; absent unless a log is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_hole: Option<WriteHoleReport>,
    /// What a write-intent bitmap has cost; absent unless one is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitmap: Option<BitmapCounters>,
    /// Whether members can collect in turn; absent where the policy lets all collect at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feasibility: Option<FeasibilityReport>,
    /// What befell members, and what requests felt of it; absent where nothing may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailuresReport>,
    /// What the user wrote, by length of requests after alignment; 0 in reports of before it was counted. A request that was
    /// under way when the window began counts by the share of its data that was programmed in it. Unit: bytes.
    #[serde(default)]
    pub host_bytes_written: u64,
    /// Programmed for whatever but metadata, rebuild, resync and scrub: what `write_amplification` divides by the former.
    /// Unit: bytes.
    #[serde(default)]
    pub flash_bytes_programmed: u64,
    /// Its parts, and what stands apart.
    #[serde(default)]
    pub flash_bytes: FlashBytes,
    /// How many years its drives last at the rate of the window; absent unless something says what they endure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<ArrayLifetime>,
    /// When its members are replaced at that rate, and what that risks; absent where that is not known of every member, or where
    /// data is kept once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacements: Option<Replacements<f64>>,
}

/// The report's `array.coordination`: the policy and its own counters side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinationReport {
    /// Name of the policy, such as `reactive-selective`.
    pub policy: String,
    /// What the run needs members to reveal and accept, such as `busy`: the rung of `array.interface` that its policy and
    /// its reads use. Empty in reports of before there were rungs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub interface: String,
    /// Counters such as `messages`, each a key of its own in the JSON; none may be named `policy` or `interface`. Unit:
    /// count.
    #[serde(flatten)]
    pub counters: BTreeMap<String, u64>,
}

/// What the simulation cost; the one section that differs between two runs of the same scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineReport {
    /// Real time of the run without preconditioning. Unit: ns.
    pub wall_ns: u64,
    /// Events processed. Unit: count.
    pub events: u64,
    /// Page reads, page programs and block erases simulated. Unit: count.
    pub page_operations: u64,
    /// Largest resident memory of the process. Unit: bytes.
    pub peak_rss_bytes: u64,
    /// Real time of preconditioning, or of loading its result. Unit: ns.
    pub precondition_wall_ns: u64,
    /// Threads that shared the members of this run; 0 in reports of before that was possible. Unit: count.
    #[serde(default, skip_serializing_if = "is_none_known")]
    pub threads: u64,
    /// Where it was one, although there were more: why the members could not run ahead of one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_one_thread: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_known(threads: &u64) -> bool {
    *threads == 0
}

/// How the array was aged before the run, and whether that reached a steady state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PreconditionReport {
    /// The two windows below differ by less than 1%.
    pub steady: bool,
    /// Write amplification of the last two windows of half the capacity each, older first; null where ageing
    /// was too short to fill one. Unit: ratio.
    pub write_amplification_windows: [Option<f64>; 2],
    /// Share of the logical space that was mapped. Unit: fraction.
    pub fill: f64,
    /// Random overwrites, in multiples of the logical space. Unit: ratio.
    pub overwrite: f64,
    /// Large devices were aged by numbers of valid pages. Which pages are valid, and the LPN of each, was drawn at the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_numbers: bool,
}

/// Several runs in the order asked for; those of one seed began with the same aged array, where they age alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// One report a run: variant by variant, each with all of its seeds.
    pub runs: Vec<Report>,
    /// How far to trust them, and what differs by more than chance.
    #[serde(default)]
    pub intervals: Intervals,
    /// Which variants have the lowest figures, and by how much.
    #[serde(default)]
    pub winners: Winners,
    /// What to know before believing it: what the runs' own warnings say, each kind once, and what is true of them together.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

impl Comparison {
    /// A comparison from its JSON.
    ///
    /// # Errors
    /// If the text is none.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The runs of several variants, each with `seeds` successive seeds.
    ///
    /// # Panics
    /// If the runs are not a multiple of `seeds`.
    pub fn new(runs: Vec<Report>, seeds: usize) -> Self {
        let (intervals, winners) = (Intervals::of(&runs, seeds), Winners::of(&runs, seeds));
        let warnings = judgement::of_runs(&runs.chunks(seeds).collect::<Vec<_>>(), &winners);
        Comparison { runs, intervals, winners, warnings }
    }

    /// The report of the only run, with its intervals; `None` if there are more.
    pub fn only(&self) -> Option<Report> {
        let [only] = &self.runs[..] else { return None };
        Some(Report { intervals: Some(self.intervals.clone()), ..only.clone() })
    }

    /// The runs of each variant, one a seed.
    pub fn variants(&self) -> impl Iterator<Item = &[Report]> {
        let seeds = self.intervals.variants.first().map_or(1, |variant| variant.seeds.len());
        self.runs.chunks(seeds.max(1))
    }
}

impl ArrayReport {
    /// Sums what the devices counted in the measured window, in which the user wrote so many bytes; each comes with its dies.
    /// Without capacity and redundancy, of which devices know nothing.
    pub fn new<'a>(
        devices: impl IntoIterator<Item = (&'a DeviceCounters, DieTraits)> + Clone,
        devices_in_gc_fraction: Vec<f64>,
        coordination: CoordinationReport,
        host_bytes_written: u64,
    ) -> Self {
        let sum = DeviceCounters::sum(devices.clone().into_iter().map(|(counters, _)| counters));
        let pairs = devices.clone().into_iter().any(|(_, dies)| dies.pairs);
        let flash = Flash::of(devices.clone().into_iter().map(|(counters, dies)| (counters, dies.page_size)));
        ArrayReport {
            write_amplification: flash.of_array(host_bytes_written),
            erases: sum.erases,
            gc_pages_moved: sum.gc_pages_moved(),
            leveled_pages_moved: sum.leveled_pages_moved(),
            host_pages_written: sum.programmed(IoCause::Host),
            flash_pages_programmed: sum.data_pages_programmed(),
            parity_pages_written: sum.programmed(IoCause::Parity),
            devices_in_gc_fraction,
            coordination,
            metadata_pages_programmed: sum.programmed(IoCause::Metadata),
            read_modify_write_reads: sum.read_modify_write_reads,
            plane_utilisation_in_gc: utilisation(devices),
            inside: InsideReport::new(&sum, pairs),
            usable_bytes: 0,
            redundancy: None,
            stripe_cache: None,
            write_amplification_whole_cycles: flash.of_array_over_cycles(host_bytes_written),
            reconstruct: None,
            bounds: None,
            nvram: None,
            write_hole: None,
            bitmap: None,
            feasibility: None,
            failures: None,
            host_bytes_written,
            flash_bytes_programmed: flash.bytes.of_array(),
            flash_bytes: flash.bytes,
            lifetime: None,
            replacements: None,
        }
    }
}

impl ArrayReport {
    /// The report of an array that keeps so many copies of everything: the host wrote one of them.
    #[must_use]
    pub fn with_copies(mut self, copies: u16) -> Self {
        if copies > 1 {
            let programmed = self.host_pages_written;
            // Every write goes to all copies; at the edges of the window some may be on their way.
            self.host_pages_written = programmed / u64::from(copies);
            let redundancy = self.redundancy.get_or_insert_default();
            redundancy.copy_pages_written = programmed - self.host_pages_written;
        }
        self
    }
}

impl CoordinationReport {
    /// The policy named `policy`, the rung it needs, and its counters.
    ///
    /// # Panics
    /// If a counter has the name of another key or counter: the JSON holds one of each.
    pub fn new<'a>(
        policy: impl Into<String>,
        interface: impl Into<String>,
        counters: impl IntoIterator<Item = (&'a str, u64)>,
    ) -> Self {
        let mut by_name = BTreeMap::new();
        for (name, count) in counters {
            let is_free = !["policy", "interface"].contains(&name) && !by_name.contains_key(name);
            assert!(is_free, "a coordination counter must not be named `{name}`: that name is taken");
            by_name.insert(name.to_owned(), count);
        }
        CoordinationReport { policy: policy.into(), interface: interface.into(), counters: by_name }
    }
}

impl Report {
    /// A report from its JSON.
    ///
    /// # Errors
    /// If the text is none.
    pub fn read(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Members of the array: its devices but for spares.
    pub fn members(&self) -> usize {
        self.devices.iter().filter(|device| !device.spare).count()
    }

    /// Whether garbage collection takes no time in this run: a bound, not something one can build.
    pub fn is_ideal(&self) -> bool {
        let schedule = self.scenario.pointer("/ssd/gc/schedule").and_then(serde_json::Value::as_str);
        schedule == Some("ideal")
    }

    /// Whether the addresses of its trace were stretched to the array, as it was told to (`workload.remap`).
    pub fn is_scaled(&self) -> bool {
        self.scenario.pointer("/workload/remap").and_then(serde_json::Value::as_str) == Some("scale")
    }

    /// Requests that the array served a second of the window; `None` for a window without length. An array that does not keep up first
    /// serves what the warm-up left, so these count, too. No more is said than was offered. Unit: 1/s.
    pub fn served_requests(&self) -> Option<f64> {
        self.served(self.host.requests, self.host.warmup_requests)
    }

    /// Bytes that these requests read and wrote. Unit: bytes/s.
    pub fn served_bytes(&self) -> Option<f64> {
        self.served(self.host.bytes_read + self.host.bytes_written, self.host.warmup_bytes)
    }

    fn served(&self, count: u64, of_warmup: u64) -> Option<f64> {
        let a_second = |count: u64, ns: u64| count as f64 * 1e9 / ns as f64;
        let measured = (self.simulated_ns > 0).then(|| a_second(count, self.simulated_ns))?;
        // In a closed loop nothing is offered that is not served.
        let Some(arrivals_ns) = self.host.arrivals_ns.filter(|&ns| ns > 0) else { return Some(measured) };
        let offered = a_second(count, arrivals_ns).max(measured);
        Some(a_second(count + of_warmup, self.simulated_ns).min(offered))
    }

    /// The report with its engine section zeroed: the same seed gives the same bytes.
    pub fn without_engine(&self) -> Report {
        Report { engine: EngineReport::default(), ..self.clone() }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A report in which nothing is filled in but its label and seed.
    pub(crate) fn blank(label: &str, seed: u64) -> Report {
        let json = serde_json::json!({
            "schema": "", "version": "", "scenario": null, "seed": seed, "simulated_ns": 0, "label": label,
            "host": HostReport::default(), "array": ArrayReport::default(), "devices": [],
            "engine": EngineReport::default(), "precondition": PreconditionReport::default(),
        });
        Report::read(&json.to_string()).expect("a report")
    }
}
