//! How long synthetic requests are, before alignment: whole bytes, at least one.
//!
//! A normal size below one byte becomes one byte, so a wide normal distribution has a mean above the one asked for.

use harmonia_engine::Rng;
use harmonia_types::Bytes;

use crate::SizeDistribution;

/// Draws sizes.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    distribution: SizeDistribution,
    rng: Rng,
}

impl Sizes {
    pub(super) fn new(distribution: SizeDistribution, seed: u64) -> Result<Self, String> {
        let sizes = Sizes { distribution, rng: Rng::stream(seed, "workload/size") };
        if sizes.mean() == 0 {
            return Err("size.mean = 0: a request has at least one byte".into());
        }
        Ok(sizes)
    }

    /// The mean asked for, in bytes.
    pub(super) fn mean(&self) -> Bytes {
        match self.distribution {
            SizeDistribution::Fixed { mean }
            | SizeDistribution::Exponential { mean }
            | SizeDistribution::Normal { mean, .. } => mean,
        }
    }

    /// The next size in bytes, to the nearest byte.
    pub(super) fn draw(&mut self) -> Bytes {
        let bytes = match self.distribution {
            SizeDistribution::Fixed { mean } => return mean,
            SizeDistribution::Exponential { mean } => self.rng.exponential(mean as f64),
            SizeDistribution::Normal { mean, stddev } => self.rng.normal(mean as f64, stddev as f64),
        };
        bytes.round().max(1.0) as Bytes
    }
}
