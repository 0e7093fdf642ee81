//! By how often data is written: regions from cold to hot, one step up with each write, one step down with each move.
//!
//! Region 0 is the coldest. New data begins there. A page that the host writes again goes one region up from where its old data lies,
//! and a page that collection moves goes one down. Each region has one frontier, for both.
//!
//! Source: Chiang, Lee and Chang, "Using data clustering to improve cleaning performance for flash memory" (DAC), Software: Practice and
//! Experience 29(3), 1999. Leaves out: the times by which a page of a region must be old or young enough to leave it, and the victim
//! policy of the paper.

use harmonia_types::registry::{self, Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Count, Memory, Moved, Placement, Written};

/// Keys of `[ssd.ftl.placement]` with `policy = "dac"`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Regions, from cold to hot.
    #[schemars(range(min = 2, max = 16))]
    regions: u8,
}

impl Default for Config {
    fn default() -> Self {
        Config { regions: 4 }
    }
}

impl Placement for Config {
    fn frontiers(&self) -> Count {
        Count { host: self.regions, all: self.regions, of_victim: 1 }
    }

    fn of_host(&self, page: &Written, _: &Memory) -> u8 {
        page.old.map_or(0, |old| (old.frontier + 1).min(self.regions - 1))
    }

    fn of_collection(&self, page: &Moved, _: &Memory) -> u8 {
        page.old.frontier.saturating_sub(1)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "dac",
    summary: "by how often data is written: regions, a step up with each write, down with each move",
    source: "Chiang, Lee and Chang (DAC), Software: Practice and Experience 29(3), 1999",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = registry::config(parameters.own)?;
        if !(2..=16).contains(&config.regions) {
            return Err("regions is out of range, expected 2 to 16".to_owned());
        }
        Ok(Box::new(config))
    },
};

#[cfg(test)]
mod tests {
    use harmonia_types::registry::PolicyConfig;

    use super::super::tests::{moved, old, policy, written};
    use super::*;

    #[test]
    fn a_write_goes_up_and_a_move_down() {
        let policy = policy(PolicyConfig::named("dac").with("regions", 3));
        let memory = Memory::default();
        assert_eq!(written(&*policy, None, &memory), 0);
        assert_eq!([0, 1, 2].map(|region| written(&*policy, Some(old(region, 0)), &memory)), [1, 2, 2]);
        assert_eq!([0, 1, 2].map(|region| moved(&*policy, old(region, 0), &memory)), [0, 0, 1]);
    }
}
