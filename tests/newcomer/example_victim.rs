//! The block with the fewest valid pages among the first few that are closed.
//!
//! Source: an example of this project, for newcomers; no paper. Leaves out: all blocks behind them.

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

/// Keys of `[ssd.gc.victim]` with `policy = "example-victim"`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// How many blocks are drawn and looked at.
    #[schemars(range(min = 1, max = 100))]
    looks: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config { looks: 4 }
    }
}

#[derive(Clone)]
struct ExampleVictim {
    looks: u32,
}

impl Victim for ExampleVictim {
    fn choose(&self, view: &VictimView<'_>, rng: &mut Rng) -> Option<BlockId> {
        let drawn = (0..self.looks).filter_map(|_| view.blocks.random_closed(rng));
        drawn.min_by_key(|&block| view.blocks.closed_valid(block))
    }

    fn may_take_full(&self) -> bool {
        true
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "example-victim",
    summary: "the fewest valid pages among a few blocks",
    source: "an example, no paper",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let Config { looks } = parameters.config()?;
        if !(1..=100).contains(&looks) {
            return Err("looks is out of range, expected 1 to 100".to_owned());
        }
        Ok(Box::new(ExampleVictim { looks }))
    },
};
