//! The block that was closed first, whatever it holds.
//!
//! Blocks without an invalid page are skipped, because collecting them frees nothing. The closed form collects them anyway.
//! Where such blocks are common, with small blocks and little over-provisioning, the closed form's write amplification is
//! higher. No two blocks close at once, so there are no ties.
//!
//! Source: the closed form by Desnoyers, SYSTOR 2012, section 3 (LRU cleaning).
//!
//! Leaves out: everything but age.

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Victim, VictimView};
use crate::block::BlockId;

#[derive(Clone)]
struct Fifo;

impl Victim for Fifo {
    fn choose(&self, view: &VictimView<'_>, _: &mut Rng) -> Option<BlockId> {
        let blocks = &view.blocks;
        let collectable =
            |block: &BlockId| blocks.closed_valid(*block).is_some_and(|v| v < blocks.data_pages);
        blocks.ids().filter(collectable).min_by_key(|block| blocks.closed_at[block.index()])
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "fifo",
    summary: "the block closed first",
    source: "Desnoyers, SYSTOR 2012, 3",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Fifo)),
};

#[cfg(test)]
mod tests {
    use super::super::tests::choose;

    /// In the literal tables blocks close in the order of their index.
    #[test]
    fn takes_the_oldest_that_frees_a_page() {
        assert_eq!(choose("fifo", 8, &[(7, 9), (1, 0)]), Some(0));
        assert_eq!(choose("fifo", 8, &[(8, 0), (6, 0), (1, 0)]), Some(1));
        assert_eq!(choose("fifo", 8, &[(8, 0)]), None);
    }
}
