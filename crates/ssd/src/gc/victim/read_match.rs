//! Of the blocks with the fewest valid pages, the one whose valid pages most waiting reads would pair with (GC-VIC).
//!
//! A read pairs with a valid page of the same page offset in another plane; with several valid pages at hand each read
//! counts once, and so does each page. At most ten candidates are looked at, the first of them in the order of their
//! index; ties go to the least worn, then to the first, as in greedy.
//!
//! Source: HPDC 2018, 4.3 (Algorithm 3; "the maximum number of candidate blocks is at most 10"). Leaves out: the time
//! the choice takes in firmware (4.3 puts it at a few microseconds); reads that arrive after the choice.

use std::cmp::Reverse;

use harmonia_engine::Rng;
use harmonia_types::registry::Entry;

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

/// Blocks looked at.
const CANDIDATES: usize = 10;

struct ReadMatch;

impl Victim for ReadMatch {
    fn choose(&self, view: &VictimView<'_>, _: &mut Rng) -> Option<BlockId> {
        let (best, valid) = view.blocks.fewest_valid()?;
        if valid == view.blocks.data_pages {
            return None;
        }
        let candidates = view.blocks.all_fewest().take(CANDIDATES);
        let rank = |block: &BlockId| {
            let matched = matches(view, *block);
            (Reverse(matched), view.blocks.erases[block.index()], block.0)
        };
        candidates.min_by_key(rank).or(Some(best))
    }

    fn uses_reads(&self) -> bool {
        true
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
    summary: "of the blocks with the fewest valid pages the one that pairs with most waiting reads (GC-VIC)",
    source: "HPDC 2018, 4.3 (Algorithm 3)",
    keys: &[],
    build: |_| Box::new(ReadMatch),
};
