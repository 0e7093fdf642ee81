//! Which write frontier a page goes to: pure functions over what is known of the page, one file each.
//!
//! ```text
//! host, by handle ─┐                    ┌─► frontier 0 ─► a block
//!                  ├─► Placement policy ┼─► frontier 1 ─► a block
//! collection ──────┘                    └─► ...
//! ```
//!
//! A frontier is an open block of an allocation unit. Pages that go to one frontier share blocks, pages of different frontiers
//! never do. A policy names as many frontiers as it wants, up to [`MOST_FRONTIERS`], and says for each page to which it goes: from the
//! handle that the host gave it, from the frontier and the age of the data that it replaces, and from whether the host writes it or
//! collection moves it.
//!
//! Which block is collected is the victim policy's matter. It sees the blocks of all frontiers alike.

mod dac;
mod frontiers;
mod mida;
mod sepbit;
mod streams;

use std::fmt::Debug;

use dyn_clone::DynClone;
use harmonia_types::registry::{Entry, OwnKeys, PolicyConfig, Registry};
use serde::{Deserialize, Serialize};

/// Frontiers of an allocation unit at most: of nine handles, for the host and for collection each.
pub const MOST_FRONTIERS: usize = 18;

/// Whether garbage collection writes to the host's frontier or to one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Frontiers {
    /// One frontier for both.
    Shared,
    /// One each.
    Separate,
}

/// Says to which frontier a page goes. Pure: the same page and memory give the same answer.
pub trait Placement: Send + Sync + Debug + DynClone {
    /// How many frontiers there are.
    fn frontiers(&self) -> Count;

    /// Where a page that is written goes, below `Count::host`.
    fn of_host(&self, page: &Written, memory: &Memory) -> u8;

    /// Where a page that collection moves goes, below `Count::all`.
    fn of_collection(&self, page: &Moved, memory: &Memory) -> u8;

    /// What is noted when a block has been collected.
    fn collected(&self, _block: &Gone, _memory: &mut Memory) {}

    /// The frontier of collection, where all pages of the host go to frontier 0 and all others there, whatever they are. Then
    /// nothing is noted of pages and blocks.
    fn by_cause(&self) -> Option<u8> {
        None
    }

    /// Handles that the host may name; 0 if it may name none.
    fn handles(&self) -> u8 {
        0
    }

    /// Whether it looks at ages.
    fn looks_at_ages(&self) -> bool {
        false
    }
}

dyn_clone::clone_trait_object!(Placement);

/// Frontiers of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// To which the host writes: the first ones.
    pub host: u8,
    /// In all.
    pub all: u8,
    /// To which the pages of one victim may go.
    pub of_victim: u8,
}

/// A page that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The host's handle; 0 where it named none.
    pub handle: u8,
    /// The data that it replaces, if there is any.
    pub old: Option<Old>,
}

/// Data of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Old {
    /// The frontier by which it came to where it lies.
    pub frontier: u8,
    /// Pages that were written to the allocation unit since it was written; 0 where ages are not looked at.
    pub age: u32,
}

/// A page that collection moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// The handle that its data was written with.
    pub handle: u8,
    /// Its data.
    pub old: Old,
}

/// A block that was collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    /// The frontier that filled it.
    pub frontier: u8,
    /// Pages that were written to the allocation unit since it was opened; 0 where ages are not looked at.
    pub age: u32,
}

/// What a policy remembers of an allocation unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory(pub [u64; 3]);

/// What a policy is built from.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    /// Its own keys.
    pub own: &'a OwnKeys,
    /// `ssd.ftl.frontiers`.
    pub frontiers: Frontiers,
}

/// Builds a placement policy, or says which of its keys is wrong.
pub type Build = &'static (dyn Fn(&Parameters<'_>) -> Result<Box<dyn Placement>, String> + Send + Sync);

/// All placement policies.
pub const REGISTRY: &[Entry<Build>] =
    &[frontiers::ENTRY, streams::ENTRY, sepbit::ENTRY, dac::ENTRY, mida::ENTRY];

/// Those, and what a program has added.
pub static POLICIES: Registry<Build> = Registry::new("placement policy", REGISTRY);

/// Builds the placement policy of a device.
///
/// # Errors
/// If there is no such policy, or it refuses one of its keys.
pub fn build(config: &PolicyConfig, frontiers: Frontiers) -> Result<Box<dyn Placement>, String> {
    let entry = POLICIES.chosen(&config.policy, &config.own)?;
    let policy = (entry.build)(&Parameters { own: &config.own, frontiers })?;
    let Count { host, all, of_victim } = policy.frontiers();
    let works = (1..=all).contains(&host) && (1..=all).contains(&of_victim);
    match works && usize::from(all) <= MOST_FRONTIERS {
        true => Ok(policy),
        false => Err(format!("{} names {all} frontiers, expected 1 to {MOST_FRONTIERS}", entry.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy as a scenario has it.
    pub(super) fn policy(config: PolicyConfig) -> Box<dyn Placement> {
        build(&config, Frontiers::Shared).expect("it works")
    }

    /// Data that lies where this frontier wrote it.
    pub(super) fn old(frontier: u8, age: u32) -> Old {
        Old { frontier, age }
    }

    pub(super) fn written(policy: &dyn Placement, old: Option<Old>, memory: &Memory) -> u8 {
        policy.of_host(&Written { handle: 0, old }, memory)
    }

    pub(super) fn moved(policy: &dyn Placement, old: Old, memory: &Memory) -> u8 {
        policy.of_collection(&Moved { handle: 0, old }, memory)
    }

    /// Wherever a page may come from, it goes to a frontier that there is; and a policy that says that only the cause matters
    /// places by it.
    #[test]
    fn every_page_goes_to_a_frontier_that_is_counted() {
        for (entry, frontiers) in
            REGISTRY.iter().flat_map(|entry| [(entry, Frontiers::Shared), (entry, Frontiers::Separate)])
        {
            let policy = build(&entry.name.into(), frontiers).expect("a policy");
            let count = policy.frontiers();
            let mut memory = Memory::default();
            for age in [0, 1, 10, 100, 1_000, 100_000, u32::MAX] {
                for frontier in 0..count.all {
                    let old = old(frontier, age);
                    for handle in 0..=policy.handles() {
                        let host = policy.of_host(&Written { handle, old: Some(old) }, &memory);
                        let fresh = policy.of_host(&Written { handle, old: None }, &memory);
                        let moved = policy.of_collection(&Moved { handle, old }, &memory);
                        assert!(
                            host < count.host && fresh < count.host && moved < count.all,
                            "{}",
                            entry.name
                        );
                        if let Some(of_collection) = policy.by_cause() {
                            assert_eq!((host, fresh, moved), (0, 0, of_collection), "{}", entry.name);
                        }
                    }
                    policy.collected(&Gone { frontier, age: age.min(1_000) }, &mut memory);
                }
            }
        }
    }
}
