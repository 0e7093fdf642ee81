//! Batches of successive requests: what one run alone can say about how far to trust its figures.
//!
//! Response times of neighbours are alike (they queue behind one another, or behind the same garbage collection), so
//! the requests of one run are no independent samples; means of long batches nearly are. Batch k holds the requests
//! `k L .. (k + 1) L` of the measured window, counted by id and not by completion, so that batch k of two policies
//! holds the same requests: with an open load the same arrivals, with a closed loop the same requests at other times.
//!
//! How many requests come is not known in advance: when all places are taken, neighbours are merged and L doubles. At
//! the end between half and all of the places hold a full batch; an incomplete last one is left out.
//!
//! * `requests`: means of batches, and their distributions in coarse `classes`;
//! * `quantiles`: how percentiles vary from batch to batch;
//! * `counters`: how erases and write amplification do.
//!
//! Source: Law, Simulation Modeling and Analysis, 9.5.3. What is left of correlation between batches is corrected where
//! intervals are made ([`interval`](crate::Interval)); `tests/coverage.rs` measures what that achieves on a queue.

mod classes;
mod counters;
mod quantiles;
mod requests;

use serde::{Deserialize, Serialize};

pub use counters::CounterBatches;
pub(crate) use quantiles::BATCHES_MIN;
pub(crate) use requests::Batches;

/// Places for batches.
const MOST: usize = 64;
/// Requests of the shortest batch, as a power of two.
const SHORTEST_LOG2: u32 = 4;

/// The report's `host.batches`: figures of batches of equally many successive requests, in their order. `mean` and
/// `gc_affected` are those of the batch; the others are pseudo-values, which vary as the figure of the whole window would
/// and whose mean it is. Empty where a figure has no interval: too few batches, or too few events.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchReport {
    /// Requests of each batch. Unit: count.
    pub requests: u64,
    /// Mean response time of each batch. Unit: ns.
    pub mean: Vec<f64>,
    /// Share of the requests of each batch that met garbage collection. Unit: fraction.
    pub gc_affected: Vec<f64>,
    /// Median response time. Unit: ns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub p50: Vec<f64>,
    /// 95th percentile. Unit: ns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub p95: Vec<f64>,
    /// 99th percentile. Unit: ns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub p99: Vec<f64>,
    /// 99.9th percentile. Unit: ns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub p999: Vec<f64>,
    /// 99.99th percentile. Unit: ns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub p9999: Vec<f64>,
    /// 99th percentile of reads. Unit: ns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_p99: Vec<f64>,
    /// 99.9th percentile of reads. Unit: ns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_p999: Vec<f64>,
    /// Blocks erased, scaled to the window. Unit: count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub erases: Vec<f64>,
    /// Write amplification. Unit: ratio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_amplification: Vec<f64>,
    /// Write amplification over whole collection cycles. Unit: ratio.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_amplification_whole_cycles: Vec<f64>,
}
