//! The closed block with the fewest valid pages. Ties go to the least worn block, then to the lowest index.
//!
//! Source: the cleaner of the MSR SSD model (Agrawal et al., USENIX ATC 2008, section 3.4). The tie break by wear is that of
//! HPDC 2018 (Table 1).
//!
//! Leaves out: the age of the data, and the load on the block's plane.

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

#[derive(Clone)]
struct Greedy;

impl Victim for Greedy {
    fn choose(&self, view: &VictimView<'_>, _: &mut Rng) -> Option<BlockId> {
        let (block, valid) = view.blocks.fewest_valid()?;
        (valid < view.blocks.data_pages).then_some(block)
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "greedy",
    summary: "fewest valid pages; ties to the least worn, then the lowest index",
    source: "Agrawal et al., USENIX ATC 2008, 3.4; HPDC 2018, Table 1 (ties)",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Greedy)),
};

#[cfg(test)]
mod tests {
    use super::super::tests::choose;

    #[test]
    fn takes_the_fewest_valid_pages_and_breaks_ties_by_wear_then_index() {
        assert_eq!(choose("greedy", 8, &[(5, 0), (3, 0), (4, 0)]), Some(1));
        assert_eq!(choose("greedy", 8, &[(3, 2), (5, 0), (3, 1), (3, 1)]), Some(2));
    }

    #[test]
    fn takes_nothing_that_frees_no_page() {
        assert_eq!(choose("greedy", 8, &[(8, 0), (8, 0)]), None);
        assert_eq!(choose("greedy", 8, &[]), None);
    }
}
