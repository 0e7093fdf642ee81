//! Block states and valid counts of an allocation unit, packed so that the greedy victim is one pass over a flat
//! table of 16-bit entries (4 KB for 2,048 blocks) instead of linked buckets touched at every overwrite.
//!
//! ```text
//! bit 15 14 13 | 12 ........ 0
//!     0  state | valid pages        closed = 00: a closed block's entry is its valid count
//! ```

use harmonia_engine::Rng;

const STATE_SHIFT: u32 = 13;
const VALID_MASK: u16 = (1 << STATE_SHIFT) - 1;

/// Index of a block inside its allocation unit. Its plane is `index / blocks per plane`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockId(pub u32);

impl BlockId {
    /// The index as a `usize`, for table look-ups.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a block is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub enum BlockState {
    /// Fully written; the only state a victim may have.
    Closed = 0,
    /// A write frontier, or partly written and set aside.
    Open = 1,
    /// A victim whose pages are being moved.
    Collecting = 2,
    /// Erased.
    Free = 3,
}

/// Packs a block's state and valid count.
#[inline]
pub const fn encode(state: BlockState, valid: u16) -> u16 {
    ((state as u16) << STATE_SHIFT) | valid
}

/// The state in a packed entry.
#[inline]
pub const fn state_of(entry: u16) -> BlockState {
    match entry >> STATE_SHIFT {
        0 => BlockState::Closed,
        1 => BlockState::Open,
        2 => BlockState::Collecting,
        _ => BlockState::Free,
    }
}

/// The valid count in a packed entry.
#[inline]
pub const fn valid_of(entry: u16) -> u32 {
    (entry & VALID_MASK) as u32
}

/// The blocks of one allocation unit, read-only.
#[derive(Clone, Copy)]
pub struct BlockTable<'a> {
    /// Packed state and valid count by block.
    pub entries: &'a [u16],
    /// Erases so far by block.
    pub erases: &'a [u32],
    /// Position in the order of closing, by block (meaningful for closed blocks).
    pub closed_at: &'a [u32],
    /// Data pages of a block.
    pub data_pages: u32,
}

impl BlockTable<'_> {
    /// All block ids.
    pub fn ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.entries.len() as u32).map(BlockId)
    }

    /// Valid pages of a closed block; `None` in any other state.
    pub fn closed_valid(&self, block: BlockId) -> Option<u32> {
        let entry = self.entries[block.index()];
        (state_of(entry) == BlockState::Closed).then(|| valid_of(entry))
    }

    /// The smallest valid count of any closed block; `None` if none is closed.
    #[inline]
    pub fn fewest_valid(&self) -> Option<u32> {
        let least = self.entries.iter().copied().min()?;
        (least <= VALID_MASK).then_some(u32::from(least))
    }

    /// Calls `visit` for every closed block with exactly `valid` valid pages, lowest index first.
    #[inline]
    pub fn for_each_with(&self, valid: u32, visit: &mut dyn FnMut(BlockId)) {
        let wanted = valid as u16;
        // Chunks without a match are dismissed by one vectorised comparison.
        for (chunk_index, chunk) in self.entries.chunks(32).enumerate() {
            if chunk.iter().fold(false, |found, &entry| found | (entry == wanted)) {
                for (offset, &entry) in chunk.iter().enumerate() {
                    if entry == wanted {
                        visit(BlockId((chunk_index * 32 + offset) as u32));
                    }
                }
            }
        }
    }

    /// A closed block with an invalid page, each with the same probability; `None` if there is none.
    pub fn random_collectable(&self, rng: &mut Rng) -> Option<BlockId> {
        let collectable = |block: BlockId| self.closed_valid(block).is_some_and(|v| v < self.data_pages);
        // Nearly every block qualifies in steady state; after a few misses count, to be sure to end.
        for _ in 0..16 {
            let block = BlockId(rng.below(self.entries.len().max(1) as u64) as u32);
            if !self.entries.is_empty() && collectable(block) {
                return Some(block);
            }
        }
        let count = self.ids().filter(|&block| collectable(block)).count() as u64;
        let skip = if count == 0 { return None } else { rng.below(count) };
        self.ids().filter(|&block| collectable(block)).nth(skip as usize)
    }
}
