//! Of the blocks with the fewest valid pages, the one that can be paired with the most waiting reads (GC-VIC).
//!
//! A waiting read pairs with a valid page of the same page offset in another plane. If several valid pages fit, the read
//! counts once. At most ten candidates are examined: the block that greedy would take, and the first others in the order of
//! their index. Ties go to greedy's block, then to the least worn, then to the first. So without reads the policy is greedy.
//!
//! Source: HPDC 2018, 4.3 (Algorithm 3; "the maximum number of candidate blocks is at most 10").
//!
//! Leaves out: the time the choice takes in firmware (4.3 puts it at a few microseconds), and reads that arrive after the
//! choice.

use std::cmp::Reverse;

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

/// Blocks looked at.
const CANDIDATES: usize = 10;

#[derive(Clone)]
struct ReadMatch;

impl Victim for ReadMatch {
    fn choose(&self, view: &VictimView<'_>, _: &mut Rng) -> Option<BlockId> {
        let (best, valid) = view.blocks.fewest_valid()?;
        if valid == view.blocks.data_pages {
            return None;
        }
        let others = view.blocks.all_fewest().filter(|&block| block != best);
        let candidates = std::iter::once(best).chain(others).take(CANDIDATES);
        let rank = |block: &BlockId| {
            let wear = (*block != best, view.blocks.erases[block.index()], block.0);
            (Reverse(matches(view, *block)), wear)
        };
        candidates.min_by_key(rank)
    }

    fn uses_reads(&self) -> bool {
        true
    }

    fn ages_as(&self) -> Option<&'static str> {
        Some("greedy")
    }
}

/// Waiting reads that would pair with valid pages of a block: per plane and page offset one.
fn matches(view: &VictimView<'_>, block: BlockId) -> u32 {
    let own = view.planes.of(block);
    let mut matched: Vec<(u32, u32)> = Vec::new();
    view.queued_reads.for_each(&mut |plane, page| {
        if plane != own && view.valid.is_valid(block, page) && !matched.contains(&(plane, page)) {
            matched.push((plane, page));
        }
    });
    matched.len() as u32
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "read-match",
    summary: "of the blocks with the fewest valid pages, the one that can be paired with the most waiting reads (GC-VIC)",
    source: "HPDC 2018, 4.3 (Algorithm 3)",
    keys: &no_keys,
    build: &|_| Ok(Box::new(ReadMatch)),
};
