//! Which of its free blocks an allocation unit opens next: one file for each order.
//!
//! The free blocks stand in a ring. The first of them is the one to open, whatever the order, so that whoever looks at the next
//! page needs not know the order.

mod fifo;
mod least_worn;

use serde::{Serialize, Serializer};

/// An order of free blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FreeList {
    /// First erased, first opened.
    #[default]
    Fifo,
    /// The block with the fewest erases: dynamic wear levelling.
    LeastWorn,
}

impl FreeList {
    /// All orders, by name. A new one is a file, a variant, a line here and one in `first`.
    pub const REGISTRY: &'static [(&'static str, FreeList)] =
        &[("fifo", FreeList::Fifo), ("least-worn", FreeList::LeastWorn)];

    /// Where the block to open next stands among the free blocks, of which there is at least one. `erases` has those of all
    /// blocks.
    pub(super) fn first(self, free: impl Iterator<Item = u32>, erases: &[u32]) -> usize {
        match self {
            FreeList::Fifo => fifo::first(),
            FreeList::LeastWorn => least_worn::first(free, erases),
        }
    }

    pub(crate) fn is_fifo(&self) -> bool {
        *self == FreeList::Fifo
    }
}

impl Serialize for FreeList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = FreeList::REGISTRY.iter().find(|(_, list)| list == self);
        serializer.serialize_str(entry.expect("every order is registered").0)
    }
}
