//! Where host requests come from: synthetic generators, closed loops and block traces, all one [`Source`].

mod config;
mod source;

pub use config::{
    AddressPattern, Arrival, Limit, Remap, SizeDistribution, SyntheticConfig, TraceConfig, WorkloadConfig,
};
pub use source::{Next, Source, SourceError};
