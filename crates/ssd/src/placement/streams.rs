//! By the handle that the host gives: drives with streams, or with flexible data placement (FDP).
//!
//! ```text
//! handle 0 ─► frontier 0        collection   initial     ─► one frontier for all handles
//! handle 1 ─► frontier 1                     persistent  ─► a frontier for each handle
//! ```
//!
//! What a trace says as a handle, counted from 0, has the handle one above here. Where it says none, so has the stream or volume of
//! the load. Handle 0 is the default. It has what the array writes
//! for itself (parity, logs, rebuild), what ageing wrote, and what comes with a handle that the drive does not know, which is
//! counted. Parity changes whenever any data of its stripe does, so it belongs to none of the streams.
//!
//! *Initially isolated*: handles are apart until collection, which writes what it moves to one frontier. *Persistently isolated*:
//! collection keeps them apart, too, so that two handles never share a block.
//!
//! Source: NVMe technical proposal 4146, Flexible Data Placement, in which reclaim unit handles are initially or persistently isolated;
//! multi-stream drives (Kang et al., HotStorage 2014) are the former. Leaves out: reclaim units of several dies (here they
//! are the blocks of one allocation unit), reclaim groups, and events of the drive. No host asks how much of a reclaim unit is left.

use harmonia_types::registry::{self, Entry, own_keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Build, Count, MOST_FRONTIERS, Memory, Moved, Placement, Written};

/// Keys of `[ssd.ftl.placement]` with `policy = "streams"`.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Handles besides the default one.
    #[schemars(range(min = 1, max = 8))]
    handles: u8,
    /// Whether collection mixes handles (initial) or keeps them apart (persistent).
    isolation: Isolation,
}

impl Default for Config {
    fn default() -> Self {
        Config { handles: 7, isolation: Isolation::Initial }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Isolation {
    Initial,
    Persistent,
}

const MOST_HANDLES: u8 = (MOST_FRONTIERS / 2 - 1) as u8;

impl Placement for Config {
    fn frontiers(&self) -> Count {
        let host = self.handles + 1;
        let of_collection = if self.isolation == Isolation::Persistent { host } else { 1 };
        Count { host, all: host + of_collection, of_victim: 1 }
    }

    fn of_host(&self, page: &Written, _: &Memory) -> u8 {
        page.handle
    }

    fn of_collection(&self, page: &Moved, _: &Memory) -> u8 {
        self.handles + 1 + if self.isolation == Isolation::Persistent { page.handle } else { 0 }
    }

    fn handles(&self) -> u8 {
        self.handles
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "streams",
    summary: "by the handle of the host: streams and volumes go to blocks of their own",
    source: "NVMe TP 4146 (FDP); Kang et al., HotStorage 2014",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = registry::config(parameters.own)?;
        if !(1..=MOST_HANDLES).contains(&config.handles) {
            return Err(format!("handles is out of range, expected 1 to {MOST_HANDLES}"));
        }
        Ok(Box::new(config))
    },
};

#[cfg(test)]
mod tests {
    use harmonia_types::registry::PolicyConfig;

    use super::super::tests::{old, policy};
    use super::*;

    #[test]
    fn collection_mixes_handles_or_keeps_them_apart() {
        let streams = |isolation| {
            policy(PolicyConfig::named("streams").with("handles", 2).with("isolation", isolation))
        };
        for (isolation, all, moved) in [("initial", 4, [3, 3, 3]), ("persistent", 6, [3, 4, 5])] {
            let policy = streams(isolation);
            assert_eq!(policy.frontiers(), Count { host: 3, all, of_victim: 1 });
            let of_host = |handle| policy.of_host(&Written { handle, old: None }, &Memory::default());
            let of_collection =
                |handle| policy.of_collection(&Moved { handle, old: old(0, 0) }, &Memory::default());
            assert_eq!([0, 1, 2].map(of_host), [0, 1, 2]);
            assert_eq!([0, 1, 2].map(of_collection), moved);
        }
    }
}
