//! The runs behind the concept page: `experiments/concepts.toml` and what each figure changes in it.

use std::collections::BTreeMap;

use harmonia_array::layout::Layout;
use harmonia_metrics::Report;
use harmonia_run::{RunOptions, compare};
use harmonia_scenario::policies::sets_of;
use harmonia_scenario::{Scenario, Variant};

use super::failing::Course;
use super::recorder::{Recorded, Recorder};
use super::root;
use super::timeline::Beginning;

const SCENARIO: &str = "experiments/concepts.toml";

/// Policies of the runs on even load.
pub const POLICIES: [&str; 8] = [
    "local",
    "reactive-inclusive",
    "reactive-selective",
    "proactive-idle",
    "proactive-soft-limit",
    "gcsync",
    "gclock",
    "ideal",
];
/// KiB of a request, and how many members it touches.
pub const SIZES: [(u32, u32); 5] = [(4, 1), (8, 2), (16, 4), (32, 8), (128, 8)];
pub const VICTIMS: [&str; 4] = ["1", "2", "4", "8"];
pub const SKEWS: [&str; 3] = ["0", "0.25", "0.5"];
/// Rates within a burst, requests a second.
pub const BURSTS: [&str; 3] = ["1000", "3000", "10000"];
pub const LATENCIES: [&str; 5] = ["0us", "100us", "1ms", "3ms", "10ms"];
/// Blocks of the soft threshold above the hard one.
pub const DISTANCES: [&str; 4] = ["1", "2", "4", "8"];
/// Members that understand the array's messages.
pub const CAPABLE: [u32; 5] = [0, 2, 4, 6, 8];

/// Levels that the section on parity compares, and the policies it does so under.
pub const LEVELS: [&str; 2] = ["raid0", "raid5"];
pub const PARITY_POLICIES: [&str; 4] = ["local", "reactive-inclusive", "gclock", "ideal"];
/// Stripe unit of its small writes: a page on each die of a member, so that all dies hold as much parity.
pub const UNIT: &str = "64KiB";
/// How parity is made of a write, and the load that makes it so: as many pages a second throughout.
pub const METHODS: [(&str, &[&str]); 3] = [
    (
        "read-modify-write",
        &["array.small_write=read-modify-write", "workload.size.mean=4KiB", "workload.arrival.rate=3500"],
    ),
    (
        "reconstruct-write",
        &["array.small_write=reconstruct", "workload.size.mean=4KiB", "workload.arrival.rate=3500"],
    ),
    (
        "full stripe",
        &[
            "workload.address.pattern=sequential",
            "workload.size.mean=448KiB",
            "workload.arrival.rate=31.25",
            "workload.requests=2000",
        ],
    ),
];

/// What labels of runs in which an SSD fails begin with.
const FAILING: &str = "failing ";
/// Their policies; reads avoid members that collect under the last.
pub const FAILING_POLICIES: [&str; 3] = ["local", "reactive-inclusive", "gclock"];

/// Everything that was run, by label.
pub struct Runs {
    runs: BTreeMap<String, (Report, Recorded)>,
    layouts: BTreeMap<String, Layout>,
}

impl Runs {
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.runs.keys().map(String::as_str)
    }

    pub fn report(&self, label: &str) -> &Report {
        &self.find(label).0
    }

    /// The first part of the run.
    pub fn beginning(&self, label: &str) -> &Beginning {
        &self.find(label).1.beginning
    }

    /// All of a run in which an SSD fails.
    pub fn course(&self, label: &str) -> &Course {
        self.find(label).1.course.as_ref().unwrap_or_else(|| panic!("no SSD fails in `{label}`"))
    }

    /// Where the bytes of a run's array lie.
    pub fn layout(&self, label: &str) -> &Layout {
        self.layouts.get(label).unwrap_or_else(|| panic!("no run `{label}`"))
    }

    fn find(&self, label: &str) -> &(Report, Recorded) {
        self.runs.get(label).unwrap_or_else(|| panic!("no run `{label}`"))
    }

    /// Mean response time in ms.
    pub fn mean(&self, label: &str) -> f64 {
        self.report(label).host.response_ns.all.mean.unwrap_or(0.0) / 1e6
    }

    /// Blocks erased.
    pub fn erases(&self, label: &str) -> f64 {
        self.report(label).array.erases as f64
    }

    /// How long a die collects for one victim, in ms.
    pub fn victim_ms(&self, label: &str) -> f64 {
        let devices = &self.report(label).devices;
        let victims: u64 = devices.iter().map(|device| device.gc_victims).sum();
        devices.iter().map(|device| device.gc_busy_ns).sum::<u64>() as f64 / victims as f64 / 1e6
    }

    /// Share of the time in which at least one member collected.
    pub fn some_collects(&self, label: &str) -> f64 {
        1.0 - self.report(label).array.devices_in_gc_fraction[0]
    }

    /// Share of the time in which a member collected, on average over the members.
    pub fn one_collects(&self, label: &str) -> f64 {
        let shares = &self.report(label).array.devices_in_gc_fraction;
        let devices = (0..).zip(shares).map(|(devices, share)| f64::from(devices) * share).sum::<f64>();
        devices / (shares.len() - 1) as f64
    }

    /// Share of requests that met garbage collection.
    pub fn met(&self, label: &str) -> f64 {
        let response = &self.report(label).host.response_ns;
        let met = response.met_gc_read.count + response.met_gc_write.count;
        met as f64 / response.all.count as f64
    }
}

/// Runs everything.
///
/// # Panics
/// If a run fails: the scenario is ours.
pub fn run_all() -> Runs {
    let variants: Vec<Variant> = wanted().into_iter().map(|(label, sets)| variant(label, &sets)).collect();
    let recorder = Recorder::new(variants.iter().map(|variant| variant.label.starts_with(FAILING)));
    let options = RunOptions {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        observe: &recorder,
        ..RunOptions::default()
    };
    let comparison = compare(&variants, &options).unwrap_or_else(|error| panic!("{SCENARIO}: {error}"));
    let layouts = variants.iter().map(|variant| (variant.label.clone(), variant.scenario.array.layout()));
    let layouts = layouts.collect();
    let labels = variants.into_iter().map(|variant| variant.label);
    let measured = comparison.runs.into_iter().zip(recorder.into_recorded());
    Runs { runs: labels.zip(measured).collect(), layouts }
}

fn variant(label: String, sets: &[String]) -> Variant {
    let path = root().join(SCENARIO).display().to_string();
    let scenario = Scenario::load(&path, sets, None).unwrap_or_else(|error| panic!("{label}: {error}"));
    Variant { label, scenario }
}

/// Label and changed keys of every run.
fn wanted() -> Vec<(String, Vec<String>)> {
    let mut runs = Vec::new();
    let mut add = |label: String, policy: &str, sets: Vec<String>| {
        runs.push((format!("{label} {policy}"), [sets_of(policy), sets].concat()));
    };
    for policy in POLICIES {
        add("even".into(), policy, vec![]);
    }
    for policy in ["local", "ideal"] {
        add("one".into(), policy, [vec!["array.devices=1".into()], sized(4, 8)].concat());
    }
    for policy in ["local", "reactive-inclusive"] {
        for (kib, _) in SIZES {
            add(format!("size {kib}"), policy, sized(kib, 1));
        }
        for victims in VICTIMS {
            add(format!("victims {victims}"), policy, vec![format!("ssd.gc.min_victims={victims}")]);
        }
    }
    for policy in ["local", "reactive-inclusive", "reactive-selective"] {
        for skew in SKEWS {
            add(format!("skew {skew}"), policy, vec![format!("workload.address.skew={skew}")]);
        }
    }
    for policy in ["local", "reactive-selective", "proactive-idle", "ideal"] {
        for rate in BURSTS {
            let burst = format!("workload.arrival.burst_rate={rate}");
            // Long enough that what idle time has collected ahead is in use when the measuring begins.
            let length = ["workload.requests=16000", "workload.warmup=4000"];
            let sets = ["workload.arrival.process=on-off", "workload.arrival.burst_length=100", &burst];
            add(
                format!("bursts {rate}"),
                policy,
                [&length[..], &sets].concat().into_iter().map(String::from).collect(),
            );
        }
    }
    for policy in ["local", "reactive-inclusive", "ideal"] {
        let closed = "workload.arrival={ process = \"closed\", queue_depth = 64 }";
        add("closed".into(), policy, vec![closed.into()]);
    }
    for latency in LATENCIES {
        let sets = vec![format!("array.coordination.message_latency={latency}")];
        add(format!("latency {latency}"), "reactive-inclusive", sets);
    }
    for blocks in DISTANCES {
        let sets = vec!["workload.address.skew=0.5".into(), format!("ssd.gc.soft_threshold=hard+{blocks}")];
        add(format!("soft {blocks}"), "reactive-selective", sets);
    }
    for capable in CAPABLE {
        let deaf = (capable..8).map(|member| format!("{{ index = {member}, capable = false }}"));
        let deaf = format!("array.member=[{}]", deaf.collect::<Vec<_>>().join(", "));
        add(format!("capable {capable}"), "reactive-inclusive", vec![deaf]);
    }
    let raid5 = || vec!["array.level=raid5".to_owned()];
    for policy in PARITY_POLICIES {
        add("raid5".into(), policy, raid5());
        for level in LEVELS {
            let sets = || vec![format!("array.level={level}"), format!("array.stripe_unit={UNIT}")];
            add(format!("wide {level}"), policy, sets());
            add(format!("small {level}"), policy, [sets(), sized(4, 2)].concat());
        }
    }
    add("resonant".into(), "local", [raid5(), sized(4, 2)].concat());
    for (method, own) in METHODS {
        let unit = format!("array.stripe_unit={UNIT}");
        let common = [unit.as_str(), "workload.read_fraction=0"];
        let sets = common.iter().chain(own).map(|&set| set.to_owned()).collect();
        add(format!("cost {method}"), "ideal", [raid5(), sets].concat());
    }
    for policy in FAILING_POLICIES {
        let sets = [
            "array.level=raid5",
            &format!("array.stripe_unit={UNIT}"),
            "array.failure=[{ device = 2, at = \"10s\" }]",
            "array.spares=1",
            "array.rebuild={ delay = \"10s\", min_rate = \"60MB/s\", max_rate = \"60MB/s\" }",
            "workload.read_fraction=0.5",
            "workload.arrival.rate=300",
            "workload.requests=15000",
        ];
        let avoid = (policy == "gclock").then_some("array.reads=avoid");
        add(FAILING.trim().into(), policy, sets.into_iter().chain(avoid).map(String::from).collect());
    }
    runs
}

/// The same bytes a second (divided by `share`) in requests of so many KiB, for half as long.
fn sized(kib: u32, share: u32) -> Vec<String> {
    let times = 128 / kib;
    vec![
        format!("workload.size.mean={kib}KiB"),
        format!("workload.arrival.rate={}", 476.5 * f64::from(times) / f64::from(share)),
        format!("workload.requests={}", 4000 * times / share),
    ]
}
