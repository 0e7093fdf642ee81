//! By the time that data is expected to live, told from how long the data lived that it replaces.
//!
//! ```text
//! written    the old data lived shorter than l  ─► 0      l: how long blocks of class 0 lasted, on average of 16
//!            longer, or there was none          ─► 1
//! moved      from class 0                       ─► 2
//!            its age is below 4 l, below 16 l, more ─► 3, 4, 5
//! ```
//!
//! Times are counted in pages that were written to the allocation unit. Pages that become invalid together lie in one block,
//! which is then nearly empty when it is collected.
//!
//! Source: Wang et al., "Separating data via block invalidation time inference for write amplification reduction in log-structured
//! storage" (SepBIT), FAST 2022, algorithm 1. Its volume is an allocation unit here. Leaves out: keeping the last write times
//! of recent pages only. A program of several units that collection writes goes where its first unit goes.

use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Count, Gone, Memory, Moved, Placement, Written};

/// Blocks of class 0 over which is averaged.
const BLOCKS: u64 = 16;

#[derive(Debug, Clone)]
struct SepBit;

/// How long blocks of class 0 last, once that is known.
fn lifespan(&Memory([lifespan, ..]): &Memory) -> u64 {
    if lifespan == 0 { u64::MAX } else { lifespan }
}

impl Placement for SepBit {
    fn frontiers(&self) -> Count {
        Count { host: 2, all: 6, of_victim: 3 }
    }

    fn of_host(&self, page: &Written, memory: &Memory) -> u8 {
        u8::from(page.old.is_none_or(|old| u64::from(old.age) >= lifespan(memory)))
    }

    fn of_collection(&self, page: &Moved, memory: &Memory) -> u8 {
        let (age, lifespan) = (u64::from(page.old.age), lifespan(memory));
        match page.old.frontier {
            0 => 2,
            _ if age < lifespan.saturating_mul(4) => 3,
            _ if age < lifespan.saturating_mul(16) => 4,
            _ => 5,
        }
    }

    fn collected(&self, block: &Gone, Memory([lifespan, sum, blocks]): &mut Memory) {
        if block.frontier != 0 {
            return;
        }
        (*sum, *blocks) = (*sum + u64::from(block.age), *blocks + 1);
        if *blocks == BLOCKS {
            (*lifespan, *sum, *blocks) = ((*sum / BLOCKS).max(1), 0, 0);
        }
    }

    fn looks_at_ages(&self) -> bool {
        true
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "sepbit",
    summary: "by how long data will live, told from the age of the data that it replaces",
    source: "Wang et al. (SepBIT), FAST 2022, algorithm 1",
    keys: &no_keys,
    build: &|_| Ok(Box::new(SepBit)),
};

#[cfg(test)]
mod tests {
    use super::super::tests::{moved, old, policy, written};
    use super::*;

    #[test]
    fn the_classes_are_those_of_the_lifespan() {
        let policy = policy("sepbit".into());
        let mut memory = Memory::default();
        assert_eq!(written(&*policy, Some(old(1, u32::MAX)), &memory), 0, "nothing is known yet");
        for block in 0..16 {
            policy.collected(&Gone { frontier: 1, age: 7 }, &mut memory);
            policy.collected(&Gone { frontier: 0, age: 95 + 10 * (block % 2) }, &mut memory);
        }
        assert_eq!(memory, Memory([100, 0, 0]));
        for (age, class) in [(99, 0), (100, 1)] {
            assert_eq!(written(&*policy, Some(old(5, age)), &memory), class, "{age}");
        }
        assert_eq!(written(&*policy, None, &memory), 1);
        for (frontier, age, class) in [(0, 9_999, 2), (1, 399, 3), (2, 400, 4), (5, 1_599, 4), (3, 1_600, 5)]
        {
            assert_eq!(moved(&*policy, old(frontier, age), &memory), class, "{age}");
        }
    }
}
