//! The closed block with the largest age x (1 - u) / 2u: the space gained, times how long the gain lasts, for its cost.
//!
//! `u` is the share of the block's data pages that is valid. Moving them costs a read and a write each, 2u in all, and gains
//! 1 - u of a block. A block without a valid page comes before all others.
//!
//! *Age* is the number of blocks that its unit has closed since this one, itself included. So age counts writes, not seconds:
//! time without writes makes no data colder. It runs from the block's last write, as the age of a segment does in the
//! log-structured file system (the time of its youngest data). Kawaguchi et al. count from the last invalidation instead. That
//! would need another table and a write to it for every overwrite.
//!
//! Equal values go to the least worn block, then to the lowest index.
//!
//! Source: Kawaguchi et al., USENIX 1995 (formula for flash); Rosenblum and Ousterhout, SOSP 1991 (formula and age for disks).
//!
//! Leaves out: sorting the moved pages by age, which in both sources is half of the effect. A block filled by collection counts
//! as young.

use std::cmp::Ordering;

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

#[derive(Clone)]
struct CostBenefit;

/// A block that could be collected.
struct Candidate {
    block: BlockId,
    age: u64,
    valid: u64,
    invalid: u64,
    erases: u32,
}

impl Candidate {
    /// Compares age x invalid / valid without dividing: 2^32 x 2^13 x 2^13 fits.
    fn value_cmp(&self, other: &Candidate) -> Ordering {
        let ours = self.age * self.invalid * other.valid;
        let theirs = other.age * other.invalid * self.valid;
        match (self.valid, other.valid) {
            (0, 0) => self.age.cmp(&other.age),
            _ => ours.cmp(&theirs),
        }
    }
}

impl Victim for CostBenefit {
    fn choose(&self, view: &VictimView<'_>, _: &mut Rng) -> Option<BlockId> {
        let blocks = &view.blocks;
        let closed = || blocks.ids().filter_map(|block| Some((block, blocks.closed_valid(block)?)));
        let newest = closed().map(|(block, _)| blocks.closed_at[block.index()]).max()?;
        let candidates =
            closed().filter(|&(_, valid)| valid < blocks.data_pages).map(|(block, valid)| Candidate {
                block,
                age: u64::from(newest - blocks.closed_at[block.index()]) + 1,
                valid: u64::from(valid),
                invalid: u64::from(blocks.data_pages - valid),
                erases: blocks.erases[block.index()],
            });
        // Of equal candidates `min_by` keeps the first, which has the lowest index.
        let best = candidates.min_by(|a, b| b.value_cmp(a).then(a.erases.cmp(&b.erases)))?;
        Some(best.block)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "cost-benefit",
    summary: "the most space gained, for the longest time, at the least cost: age x (1 - u) / 2u",
    source: "Kawaguchi et al., USENIX 1995; Rosenblum and Ousterhout, SOSP 1991",
    keys: &no_keys,
    build: &|_| Ok(Box::new(CostBenefit)),
};

#[cfg(test)]
mod tests {
    use super::super::tests::choose;

    /// In the literal tables blocks close in the order of their index: of three the ages are 3, 2, 1.
    #[test]
    fn an_old_block_may_beat_an_emptier_one() {
        // 3 x 3/5 against 1 x 4/4.
        assert_eq!(choose("cost-benefit", 8, &[(5, 0), (8, 0), (4, 0)]), Some(0));
        // 3 x 2/6 against 1 x 5/3: age is not all.
        assert_eq!(choose("cost-benefit", 8, &[(6, 0), (8, 0), (3, 0)]), Some(2));
    }

    #[test]
    fn a_block_without_valid_pages_comes_first() {
        assert_eq!(choose("cost-benefit", 8, &[(1, 0), (1, 0), (0, 9)]), Some(2));
        assert_eq!(choose("cost-benefit", 8, &[(1, 0), (0, 9), (0, 0)]), Some(1), "of two the older");
    }

    /// 2 x 3/3 = 1 x 4/2.
    #[test]
    fn equal_values_go_to_the_least_worn_then_the_lowest_index() {
        assert_eq!(choose("cost-benefit", 6, &[(3, 1), (2, 0)]), Some(1));
        assert_eq!(choose("cost-benefit", 6, &[(3, 0), (2, 0)]), Some(0));
    }

    #[test]
    fn takes_nothing_that_frees_no_page() {
        assert_eq!(choose("cost-benefit", 8, &[(8, 0), (8, 0)]), None);
        assert_eq!(choose("cost-benefit", 8, &[]), None);
    }
}
