//! As `ssd.ftl.frontiers` says: one frontier for everything, or one for the host and one for collection.
//!
//! Data that collection moves has not been rewritten for long. Where it shares blocks with what the host has just written, it has to
//! be moved again with them. So `separate` is the simplest separation of hot and cold.
//!
//! Source: the MSR SSD extension of DiskSim has one frontier for both. Sorting live data by age when it is
//! moved is the older idea: Rosenblum and Ousterhout (SOSP 1991, section 3.5) do it in log-structured file systems.
//!
//! Leaves out: everything but who writes.

use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Count, Frontiers, Memory, Moved, Placement, Written};

#[derive(Debug, Clone)]
struct ByCause {
    collection: u8,
}

impl Placement for ByCause {
    fn frontiers(&self) -> Count {
        Count { host: 1, all: self.collection + 1, of_victim: 1 }
    }

    fn of_host(&self, _: &Written, _: &Memory) -> u8 {
        0
    }

    fn of_collection(&self, _: &Moved, _: &Memory) -> u8 {
        self.collection
    }

    fn by_cause(&self) -> Option<u8> {
        Some(self.collection)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "frontiers",
    summary: "as ssd.ftl.frontiers says: one frontier for all, or host and collection apart",
    source: "MSR SSD extension of DiskSim (one frontier)",
    keys: &no_keys,
    build: &|parameters| {
        Ok(Box::new(ByCause { collection: u8::from(parameters.frontiers == Frontiers::Separate) }))
    },
};
