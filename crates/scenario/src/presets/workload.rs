//! Loads as data: the HPC-like loads of both global garbage collection papers.

use harmonia_flash::presets::Provenance;
use harmonia_types::{Bytes, units};

use super::Parameter;

/// One load: poisson arrivals, fixed sizes, uniform addresses.
#[derive(Debug)]
pub(crate) struct WorkloadPreset {
    pub name: &'static str,
    pub summary: &'static str,
    /// Requests a second.
    pub rate: f64,
    /// Mean size in bytes.
    pub size: Bytes,
    pub read_fraction: f64,
    /// Share of requests that lie on one member.
    pub skew_fraction: f64,
    /// Where rate, size and read share come from.
    source: &'static str,
}

const TABLE_X: &str = "MSST 2011, Table X; IEEE TC 2012, Table 8 (kilobytes read as decimal)";

/// All loads.
pub(crate) const PRESETS: &[WorkloadPreset] = &[
    WorkloadPreset {
        name: "hpc-w",
        summary: "HPC(W): write-dominated checkpoints",
        rate: 476.5,
        size: 510_530,
        read_fraction: 0.2012,
        skew_fraction: 0.0,
        source: TABLE_X,
    },
    WorkloadPreset {
        name: "hpc-r",
        summary: "HPC(R): read-dominated analysis",
        rate: 476.5,
        size: 510_530,
        read_fraction: 0.8008,
        skew_fraction: 0.0,
        source: TABLE_X,
    },
    WorkloadPreset {
        name: "hpc-w-skew",
        summary: "HPC(W,Skew): half of all requests go to one SSD",
        rate: 476.5,
        size: 510_530,
        read_fraction: 0.2012,
        skew_fraction: 0.5,
        source: "IEEE TC 2012, Table 9 (kilobytes read as decimal)",
    },
];

/// The load called `name`.
pub(crate) fn find(name: &str) -> Option<&'static WorkloadPreset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl WorkloadPreset {
    /// Its figures for lists.
    pub fn parameters(&self) -> Vec<Parameter> {
        let found = Provenance::Found(self.source);
        let unnamed = |what| Provenance::Inferred(what);
        let skew = match self.skew_fraction {
            0.0 => Provenance::Inferred(
                "IEEE TC 2012, Table 9 calls HPC(W) even; nothing says that HPC(R) is not",
            ),
            _ => Provenance::Found("IEEE TC 2012, 6: 50% of requests go to a particular SSD"),
        };
        [
            ("arrival.process", "poisson".to_owned(), unnamed("the papers give a mean rate only")),
            ("arrival.rate", self.rate.to_string(), found),
            ("size.distribution", "fixed".to_owned(), unnamed("the papers give a mean size only")),
            ("size.mean", units::format_bytes(self.size), found),
            ("read_fraction", self.read_fraction.to_string(), found),
            ("address.pattern", "uniform".to_owned(), unnamed("the papers give no addresses")),
            ("address.skew", self.skew_fraction.to_string(), skew),
        ]
        .into_iter()
        .map(|(key, value, provenance)| Parameter { key: format!("workload.{key}"), value, provenance })
        .collect()
    }
}
