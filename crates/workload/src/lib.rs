//! Where host requests come from: synthetic generators, closed loops and block traces, all one [`Source`].
//!
//! ```text
//!   SyntheticConfig ──> Synthetic ───────────────────────────────┐
//!                                                                ├──> Source ──> the simulator
//!   file ──> Trace (format registry) ──> TraceReader ──> TraceSource
//!                                             └──> TraceInfo       (`harmonia trace info`)
//! ```
//!
//! A source decides *when* a request arrives, *what* it does and *where* on the array's logical space; which member
//! serves it is the array's business, except for a request pinned by a skewed load.
//!
//! Not modelled: correlation between a request and the one before it (other than a sequential address), a host that throttles an open-loop trace because it fell behind.

mod config;
mod geometry;
mod source;
mod synthetic;
pub mod trace;

pub use config::{
    AddressPattern, Arrival, Limit, Remap, SizeDistribution, SkewRest, SyntheticConfig, TraceConfig, Volumes,
    WorkloadConfig,
};
pub use geometry::ArrayGeometryForLoad;
pub use source::{Next, Source, SourceError};
pub use synthetic::Synthetic;
pub use trace::{Trace, TraceError, TraceInfo, TraceOptions, TraceSource};

impl WorkloadConfig {
    /// The source this configuration describes, for an array of this geometry under the root `seed`.
    ///
    /// # Errors
    /// If the configuration contradicts itself or the array, or the trace cannot be read; the text says which.
    pub fn build(&self, array: &ArrayGeometryForLoad, seed: u64) -> Result<Box<dyn Source>, SourceError> {
        match self {
            WorkloadConfig::Synthetic(config) => {
                Ok(Box::new(Synthetic::new(config, *array, seed).map_err(SourceError)?))
            }
            WorkloadConfig::Trace(config) => {
                let trace = Trace::open(&config.paths, &config.options)?;
                Ok(Box::new(TraceSource::new(&trace, config, array)?))
            }
        }
    }
}
