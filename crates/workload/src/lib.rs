//! Where host requests come from: synthetic generators, closed loops and block traces, all one [`Source`].
//!
//! ```text
//!   SyntheticConfig ──> Synthetic ───────────────────────────────┐
//!   StreamsConfig ──> Streams (a Synthetic each, merged) ────────┤
//!                                                                ├──> Source ──> the simulator
//!   Trace ──> Replay ──> TraceSource ────────────────────────────┘
//!     └──> TraceFit (a StreamsConfig like the trace)
//! ```
//!
//! A source decides *when* a request arrives, *what* it does and *where* on the array's logical space; which member
//! serves it is the array's business, except for a request pinned by a skewed load.
//!
//! Not modelled: correlation between a request and the one before it (other than a sequential address), a host that throttles an open-loop trace because it fell behind.

mod choices;
mod config;
mod fit;
mod geometry;
mod replay;
mod rewrites;
mod source;
mod streams;
mod synthetic;

pub use choices::Choices;
pub use config::{
    AddressPattern, Arrival, Extent, FileDeletes, FilePattern, FileReads, Limit, Pacing, Phase, Remap,
    SizeDistribution, SkewRest, StreamArrival, StreamConfig, StreamsConfig, SyntheticConfig, TraceConfig,
    Volumes, WorkingSetPattern, WorkloadConfig,
};
pub use fit::{Heat, Measured, MeasuredKind, READS, TRIMS, TraceFit, WRITES};
pub use geometry::{ArrayGeometryForLoad, FullArray, MOST_PAGES_AT_ONCE};
pub use replay::{RemapCounts, Replay, TraceAccount, TraceSource};
pub use rewrites::Rewrites;
pub use source::{Next, Source, SourceError};
pub use streams::Streams;
pub use synthetic::Synthetic;

use harmonia_trace::Trace;

/// A load made ready for an array: checked, and where it is a trace opened and, if need be, read once. Gives any number
/// of sources, each from the first request on.
#[derive(Debug, Clone)]
pub struct Load(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Synthetic(SyntheticConfig, ArrayGeometryForLoad),
    Streams(StreamsConfig, ArrayGeometryForLoad),
    Trace(Box<Replay>),
}

impl WorkloadConfig {
    /// Makes the load ready for an array of this geometry.
    ///
    /// # Errors
    /// If the configuration contradicts itself or the array, or the trace cannot be read; the text says which. What is
    /// wrong with a trace further on may show only when a source comes to it.
    pub fn prepare(&self, array: &ArrayGeometryForLoad) -> Result<Load, SourceError> {
        let load = self.prepare_while(array, &|| true)?;
        load.ok_or_else(|| SourceError("reading the trace was stopped".to_owned()))
    }

    /// As [`WorkloadConfig::prepare`]; `None` if `go_on`, asked every now and then while a trace is read, says no.
    ///
    /// # Errors
    /// As [`WorkloadConfig::prepare`].
    pub fn prepare_while(
        &self,
        array: &ArrayGeometryForLoad,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<Load>, SourceError> {
        match self {
            WorkloadConfig::Synthetic(config) => {
                // What is wrong with it does not depend on the seed.
                Synthetic::new(config, *array, 0).map_err(SourceError)?;
                Ok(Some(Load(Kind::Synthetic(config.clone(), *array))))
            }
            WorkloadConfig::Streams(config) => {
                Streams::new(config, *array, 0).map_err(SourceError)?;
                Ok(Some(Load(Kind::Streams(config.clone(), *array))))
            }
            WorkloadConfig::Trace(config) => {
                let trace = Trace::open(&config.paths, &config.options)?;
                let Some(replay) = Replay::new_while(trace, config, array, go_on)? else { return Ok(None) };
                replay.source()?;
                Ok(Some(Load(Kind::Trace(Box::new(replay)))))
            }
        }
    }
}

impl Load {
    /// A source at its first request, under the root `seed`.
    ///
    /// # Errors
    /// As [`WorkloadConfig::prepare`].
    pub fn source(&self, seed: u64) -> Result<Box<dyn Source>, SourceError> {
        match &self.0 {
            Kind::Synthetic(config, array) => {
                Ok(Box::new(Synthetic::new(config, *array, seed).map_err(SourceError)?))
            }
            Kind::Streams(config, array) => {
                Ok(Box::new(Streams::new(config, *array, seed).map_err(SourceError)?))
            }
            Kind::Trace(replay) => Ok(Box::new(replay.source()?)),
        }
    }
}
