//! How long synthetic requests are, before alignment: whole bytes, at least one.
//!
//! A normal size below one byte becomes one byte, so a wide normal distribution has a mean above the one asked for. Sizes
//! given as choices are dealt from a [`Deck`], so that a load of as many requests as there are cards has exactly their sum.

use harmonia_engine::Rng;
use harmonia_types::Bytes;

use super::deck::Deck;
use crate::{Choices, SizeDistribution};

/// Draws sizes.
#[derive(Debug, Clone)]
pub(super) enum Sizes {
    /// By a law.
    Law(SizeDistribution, Rng),
    /// One of these.
    Dealt(Vec<Bytes>, Deck),
}

impl Sizes {
    pub(super) fn new(distribution: &SizeDistribution, seed: u64) -> Result<Self, String> {
        let rng = Rng::stream(seed, "workload/size");
        match distribution {
            SizeDistribution::Choices(choices) => {
                choices.check("size", "sizes")?;
                if choices.values.contains(&0) {
                    return Err("size.sizes has a 0: a request has at least one byte".into());
                }
                let Choices { values, counts, persistence } = choices.clone();
                Ok(Sizes::Dealt(values, Deck::new(counts, persistence, rng)))
            }
            law if law.mean() == 0 => Err("size.mean = 0: a request has at least one byte".into()),
            law => Ok(Sizes::Law(law.clone(), rng)),
        }
    }

    /// The next size in bytes, to the nearest byte.
    pub(super) fn draw(&mut self) -> Bytes {
        let (law, rng) = match self {
            Sizes::Dealt(sizes, deck) => return sizes[deck.draw()],
            Sizes::Law(law, rng) => (law, rng),
        };
        let bytes = match law {
            SizeDistribution::Exponential { mean } => rng.exponential(*mean as f64),
            SizeDistribution::Normal { mean, stddev } => rng.normal(*mean as f64, *stddev as f64),
            SizeDistribution::Fixed { mean } => return *mean,
            SizeDistribution::Choices(_) => unreachable!("dealt"),
        };
        bytes.round().max(1.0) as Bytes
    }
}
