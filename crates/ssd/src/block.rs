//! Block states and valid counts of an allocation unit, packed so that the greedy victim is found by comparing 32-bit
//! numbers: no linked buckets to mend at every overwrite.
//!
//! ```text
//! bit 25 24 23 | 22 ........ 0
//!     state    | valid pages        closed = 000: a closed block's entry is its valid count
//! ```
//!
//! Over every 64 blocks stands the key of the best of them by (valid pages, erases, index), so greedy finds its victim
//! among the 2,048 blocks of a unit by looking at 32 keys. An overwrite changes the key only if its block becomes the
//! best of its group, and a group is searched afresh only when its best block is collected.

use harmonia_engine::Rng;

const STATE_SHIFT: u32 = 23;
const VALID_MASK: u32 = (1 << STATE_SHIFT) - 1;

/// Pages of a block at most, as valid counts have room for them.
pub const MOST_PAGES: u32 = VALID_MASK;

/// Blocks in a group.
pub const GROUP: usize = 64;
/// Blocks whose entries are compared at once.
const CHUNK: usize = 8;

/// Orders blocks by state (closed first), valid pages, erases, and position in the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey(u64);

impl GroupKey {
    const ENTRY_SHIFT: u32 = 38;
    const ERASES_SHIFT: u32 = 6;

    /// After every closed block.
    pub const NONE: GroupKey = GroupKey(u64::MAX);

    /// The key of a block.
    #[inline]
    pub fn of(entry: u32, erases: u32, block: usize) -> Self {
        let position = (block % GROUP) as u64;
        let key = u64::from(entry) << Self::ENTRY_SHIFT | u64::from(erases) << Self::ERASES_SHIFT | position;
        GroupKey(key)
    }

    /// The best key of the group that holds `block`, computed afresh.
    pub fn best_of(entries: &[u32], erases: &[u32], block: usize) -> Self {
        let first = block / GROUP * GROUP;
        let last = entries.len().min(first + GROUP);
        let (entries, erases) = (&entries[first..last], &erases[first..last]);
        // No entry has the highest bit, and numbers with a sign are compared at once in fewer steps.
        let least = entries.iter().fold(i32::MAX, |least, &entry| least.min(entry as i32)) as u32;
        let mut best = Self::NONE;
        let mut look_at = |offset: usize, entry: u32| {
            if entry == least {
                best = best.min(Self::of(least, erases[offset], offset));
            }
        };
        // Few blocks have that entry: most chunks are passed over as a whole.
        let (chunks, rest) = entries.as_chunks::<CHUNK>();
        for (from, chunk) in (0..).step_by(CHUNK).zip(chunks) {
            if chunk.iter().fold(false, |has, &entry| has | (entry == least)) {
                chunk.iter().zip(from..).for_each(|(&entry, offset)| look_at(offset, entry));
            }
        }
        rest.iter().zip(CHUNK * chunks.len()..).for_each(|(&entry, offset)| look_at(offset, entry));
        best
    }

    /// The packed state and valid count.
    #[inline]
    pub fn entry(self) -> u32 {
        (self.0 >> Self::ENTRY_SHIFT) as u32
    }

    /// What is compared between groups: all but the position.
    #[inline]
    fn rank(self) -> u64 {
        self.0 >> Self::ERASES_SHIFT
    }

    #[inline]
    fn block(self, group: usize) -> BlockId {
        BlockId((group * GROUP) as u32 + (self.0 % GROUP as u64) as u32)
    }
}

/// Index of a block inside its allocation unit.
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
#[repr(u32)]
pub enum BlockState {
    /// Fully written; the only state a victim may have.
    Closed = 0,
    /// A write frontier, or partly written and set aside.
    Open = 1,
    /// A victim whose pages are being moved.
    Collecting = 2,
    /// Erased.
    Free = 3,
    /// Worn out: it is not used any more.
    Retired = 4,
}

/// Packs a block's state and valid count.
#[inline]
pub const fn encode(state: BlockState, valid: u32) -> u32 {
    ((state as u32) << STATE_SHIFT) | valid
}

/// The state in a packed entry.
#[inline]
pub const fn state_of(entry: u32) -> BlockState {
    match entry >> STATE_SHIFT {
        0 => BlockState::Closed,
        1 => BlockState::Open,
        2 => BlockState::Collecting,
        3 => BlockState::Free,
        _ => BlockState::Retired,
    }
}

/// What has become of a block that was erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    /// It is free again.
    Free,
    /// It has reached its endurance and is not used any more.
    Retired,
}

/// The valid count in a packed entry.
#[inline]
pub const fn valid_of(entry: u32) -> u32 {
    entry & VALID_MASK
}

/// [`BlockTable::fewest_valid`] of the unit that has these best keys.
#[inline]
pub(crate) fn fewest_valid(keys: &[GroupKey]) -> Option<(BlockId, u32)> {
    let mut best = (0, GroupKey::NONE);
    for (group, &key) in keys.iter().enumerate() {
        if key.rank() < best.1.rank() {
            best = (group, key);
        }
    }
    let (group, key) = best;
    (state_of(key.entry()) == BlockState::Closed).then(|| (key.block(group), valid_of(key.entry())))
}

/// The blocks of one allocation unit, read-only.
#[derive(Clone, Copy)]
pub struct BlockTable<'a> {
    /// Packed state and valid count by block.
    pub entries: &'a [u32],
    /// Best block of each group of [`GROUP`] blocks; exact where the group has a closed block.
    pub best: &'a [GroupKey],
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

    /// The closed block with the fewest valid pages, ties to the least worn, then the lowest index; with its valid
    /// count. `None` if none is closed.
    #[inline]
    pub fn fewest_valid(&self) -> Option<(BlockId, u32)> {
        fewest_valid(self.best)
    }

    /// All closed blocks with the fewest valid pages, lowest index first: candidates for policies that look further.
    pub fn all_fewest(&self) -> impl Iterator<Item = BlockId> + '_ {
        let wanted = self.fewest_valid().map(|(_, valid)| encode(BlockState::Closed, valid));
        self.ids().filter(move |block| Some(self.entries[block.index()]) == wanted)
    }

    /// Any closed block, each with the same probability, full ones too; `None` if no closed block has an invalid page.
    pub fn random_closed(&self, rng: &mut Rng) -> Option<BlockId> {
        self.fewest_valid().filter(|&(_, valid)| valid < self.data_pages)?;
        // Nearly every block is closed in steady state; after a few misses count, to be sure to end.
        for _ in 0..16 {
            let block = BlockId(rng.below(self.entries.len() as u64) as u32);
            if self.closed_valid(block).is_some() {
                return Some(block);
            }
        }
        let closed = || self.ids().filter(|&block| self.closed_valid(block).is_some());
        let skip = rng.below(closed().count() as u64);
        closed().nth(skip as usize)
    }
}
