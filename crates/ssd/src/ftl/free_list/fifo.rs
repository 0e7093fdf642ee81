//! First erased, first opened.
//!
//! A ring of free blocks as simple firmware has it. Blocks with data that is never rewritten fall behind, and others take turns.

/// The ring is in this order by itself.
pub(super) fn first() -> usize {
    0
}
