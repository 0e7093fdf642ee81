//! By how often collection has moved the data: what was moved often is cold.
//!
//! The host writes to group 0. A page that collection moves goes to the group after the one in which it lies, up to the last one. So
//! nothing has to be noted of pages: the block of a page tells how often the page was moved.
//!
//! Source: Park et al., "Lightweight data lifetime classification using migration counts to improve performance and lifetime of
//! flash-based SSDs" (MiDA), APSys 2021. Leaves out: a number of groups that adapts to the load (MiDAS, FAST 2024).

use harmonia_types::registry::{self, Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Count, Memory, Moved, Placement, Written};

/// Keys of `[ssd.ftl.placement]` with `policy = "mida"`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Groups, by the number of moves: the last one has all pages that were moved more often.
    #[schemars(range(min = 2, max = 16))]
    groups: u8,
}

impl Default for Config {
    fn default() -> Self {
        Config { groups: 4 }
    }
}

impl Placement for Config {
    fn frontiers(&self) -> Count {
        Count { host: 1, all: self.groups, of_victim: 1 }
    }

    fn of_host(&self, _: &Written, _: &Memory) -> u8 {
        0
    }

    fn of_collection(&self, page: &Moved, _: &Memory) -> u8 {
        (page.old.frontier + 1).min(self.groups - 1)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "mida",
    summary: "by how often collection has moved the data, the last group for all that was moved more often",
    source: "Park et al. (MiDA), APSys 2021",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = registry::config(parameters.own)?;
        if !(2..=16).contains(&config.groups) {
            return Err("groups is out of range, expected 2 to 16".to_owned());
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
    fn a_page_goes_to_the_group_of_its_moves() {
        let policy = policy(PolicyConfig::named("mida").with("groups", 3));
        let memory = Memory::default();
        assert_eq!(written(&*policy, Some(old(2, 0)), &memory), 0);
        assert_eq!([0, 1, 2].map(|group| moved(&*policy, old(group, 0), &memory)), [1, 2, 2]);
    }
}
