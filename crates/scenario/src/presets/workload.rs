//! Loads as data: the HPC-like and bursty loads, the benchmark's closed loops and stand-ins for the enterprise traces
//! of both global garbage collection papers.
//!
//! A **synthetic stand-in** has a trace's published mean rate, mean size and read share, and nothing else of it: the
//! papers print no more. Order in time and space, the spread of sizes and their correlation with the direction are
//! those of the generator, so it answers questions about a load of such an intensity, not about that system.

use harmonia_flash::presets::Provenance;
use harmonia_types::{Bytes, units};
use harmonia_workload::Arrival;

use super::Parameter;

/// One load: fixed sizes, uniform addresses.
#[derive(Debug)]
pub(crate) struct WorkloadPreset {
    pub name: &'static str,
    pub summary: &'static str,
    pub arrival: Arrival,
    /// Size in bytes.
    pub size: Bytes,
    pub read_fraction: f64,
    /// Share of requests that lie on one member.
    pub skew_fraction: f64,
    /// Where rate (or queue depth) and size come from, and all but the benchmark's read share.
    source: &'static str,
}

const HPC: &str = "MSST 2011, Table X; IEEE TC 2012, Table 8 (kilobytes read as decimal)";
const ENTERPRISE: &str = "MSST 2011, Table XI; IEEE TC 2012, Table 8 (kilobytes read as decimal)";
const BURSTS: &str = "IEEE TC 2012, Table 9 (kilobytes read as decimal)";
const BENCHMARK: &str = "MSST 2011, Table II; IEEE TC 2012, Table 2 (kilobytes read as decimal)";

const HPC_RATE: f64 = 476.5;
const HPC_SIZE: Bytes = 510_530;
/// Requests in a burst.
const BURST_LENGTH: u32 = 100;
/// Share of reads of the benchmark: the write-heavy end of the papers' range.
const BENCHMARK_READS: f64 = 0.2;

const fn stand_in(
    name: &'static str,
    summary: &'static str,
    rate: f64,
    size: Bytes,
    read_fraction: f64,
) -> WorkloadPreset {
    let arrival = Arrival::Poisson { rate };
    WorkloadPreset { name, summary, arrival, size, read_fraction, skew_fraction: 0.0, source: ENTERPRISE }
}

const fn bursts(name: &'static str, summary: &'static str, burst_rate: f64) -> WorkloadPreset {
    let arrival = Arrival::OnOff { rate: HPC_RATE, burst_rate, burst_length: BURST_LENGTH };
    let (size, read_fraction) = (HPC_SIZE, 0.2012);
    WorkloadPreset { name, summary, arrival, size, read_fraction, skew_fraction: 0.0, source: BURSTS }
}

const fn benchmark(name: &'static str, summary: &'static str, size: Bytes) -> WorkloadPreset {
    let arrival = Arrival::Closed { queue_depth: 64 };
    let read_fraction = BENCHMARK_READS;
    WorkloadPreset { name, summary, arrival, size, read_fraction, skew_fraction: 0.0, source: BENCHMARK }
}

/// All loads.
pub(crate) const PRESETS: &[WorkloadPreset] = &[
    WorkloadPreset {
        name: "hpc-w",
        summary: "HPC(W): write-dominated checkpoints",
        arrival: Arrival::Poisson { rate: HPC_RATE },
        size: HPC_SIZE,
        read_fraction: 0.2012,
        skew_fraction: 0.0,
        source: HPC,
    },
    WorkloadPreset {
        name: "hpc-r",
        summary: "HPC(R): read-dominated analysis",
        arrival: Arrival::Poisson { rate: HPC_RATE },
        size: HPC_SIZE,
        read_fraction: 0.8008,
        skew_fraction: 0.0,
        source: HPC,
    },
    WorkloadPreset {
        name: "hpc-w-skew",
        summary: "HPC(W,Skew): half of all requests go to one SSD",
        arrival: Arrival::Poisson { rate: HPC_RATE },
        size: HPC_SIZE,
        read_fraction: 0.2012,
        skew_fraction: 0.5,
        source: BURSTS,
    },
    bursts("hpc-w-burst-m", "HPC(W,Burst,M): bursts at ten times the mean rate of HPC(W)", 4765.0),
    bursts("hpc-w-burst-h", "HPC(W,Burst,H): bursts at a hundred times the mean rate of HPC(W)", 47_650.0),
    stand_in(
        "financial",
        "synthetic stand-in for the Financial trace: online transactions, mostly small writes",
        47.19,
        7_090,
        0.1892,
    ),
    stand_in(
        "tpc-c",
        "synthetic stand-in for the TPC-C trace: a transaction benchmark, mostly small writes",
        388.32,
        7_060,
        0.205,
    ),
    stand_in(
        "cello",
        "synthetic stand-in for the Cello99 trace: a time-sharing server, mostly small writes",
        74.24,
        7_060,
        0.1963,
    ),
    stand_in(
        "tpc-h",
        "synthetic stand-in for the TPC-H trace: decision support, nearly all reads",
        172.73,
        31_620,
        0.918,
    ),
    stand_in(
        "openmail",
        "synthetic stand-in for the Openmail trace: an e-mail server, two reads to a write",
        846.62,
        9_490,
        0.633,
    ),
    benchmark("w1", "W1, the papers' benchmark of one SSD: a closed loop at queue depth 64", 313_000),
    benchmark("w2", "W2, the papers' benchmark of four SSDs: a closed loop at queue depth 64", 1_250_000),
    benchmark("w3", "W3, the papers' benchmark of six SSDs: a closed loop at queue depth 64", 1_870_000),
];

/// The load called `name`.
pub(crate) fn find(name: &str) -> Option<&'static WorkloadPreset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl WorkloadPreset {
    /// Its figures for lists.
    pub fn parameters(&self) -> Vec<Parameter> {
        let found = Provenance::Found(self.source);
        let inferred = |what| Provenance::Inferred(what);
        let skew = match self.skew_fraction {
            0.0 if self.source == HPC => {
                inferred("IEEE TC 2012, Table 9 calls HPC(W) even; nothing says that HPC(R) is not")
            }
            0.0 if self.source == BURSTS => found,
            0.0 => inferred("the papers give no addresses"),
            _ => Provenance::Found("IEEE TC 2012, 6: 50% of requests go to a particular SSD"),
        };
        let (reads, addresses) = if self.source == BENCHMARK {
            let random = Provenance::Found("IEEE TC 2012, Table 2: random");
            (inferred("the papers vary writes from 20% to 80%: the write-heavy end"), random)
        } else {
            (found, inferred("the papers give no addresses"))
        };
        let mut figures = self.arrivals();
        figures.extend([
            ("size.distribution", "fixed".to_owned(), inferred("the papers give a mean size only")),
            ("size.mean", units::format_bytes(self.size), found),
            ("read_fraction", self.read_fraction.to_string(), reads),
            ("address.pattern", "uniform".to_owned(), addresses),
            ("address.skew", self.skew_fraction.to_string(), skew),
        ]);
        figures
            .into_iter()
            .map(|(key, value, provenance)| Parameter { key: format!("workload.{key}"), value, provenance })
            .collect()
    }

    /// The figures of its arrivals.
    fn arrivals(&self) -> Vec<(&'static str, String, Provenance)> {
        let found = Provenance::Found(self.source);
        let process = |name: &str, why| ("arrival.process", name.to_owned(), Provenance::Inferred(why));
        let rate = |rate: f64, provenance| ("arrival.rate", rate.to_string(), provenance);
        match self.arrival {
            Arrival::Poisson { rate: mean } => {
                vec![process("poisson", "the papers give a mean rate only"), rate(mean, found)]
            }
            Arrival::Fixed { rate: mean } => {
                vec![process("fixed", "the papers give a mean rate only"), rate(mean, found)]
            }
            Arrival::OnOff { rate: mean, burst_rate, burst_length } => vec![
                process(
                    "on-off",
                    "sustained, such a rate is beyond what the array can write; the paper says bursty",
                ),
                rate(mean, Provenance::Inferred("the mean of HPC(W), which the bursts are derived from")),
                ("arrival.burst_rate", burst_rate.to_string(), found),
                (
                    "arrival.burst_length",
                    burst_length.to_string(),
                    Provenance::Inferred("the paper does not say how long a burst is"),
                ),
            ],
            Arrival::Gaps(_) | Arrival::Phases(_) => {
                unreachable!("no preset lists gaps: the papers print none")
            }
            // No preset has them so far.
            Arrival::WriteBursts { rate: mean, burst_rate, burst_length } => vec![
                process("write-bursts", "the papers do not say when writes come"),
                rate(mean, found),
                ("arrival.burst_rate", burst_rate.to_string(), found),
                ("arrival.burst_length", burst_length.to_string(), found),
            ],
            Arrival::Closed { queue_depth } => vec![
                (
                    "arrival.process",
                    "closed".to_owned(),
                    Provenance::Found("MSST 2011, II.B: a high number of outstanding requests"),
                ),
                ("arrival.queue_depth", queue_depth.to_string(), found),
            ],
        }
    }
}
