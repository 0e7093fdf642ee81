//! Random overwrites of all that a unit holds, without its map: how a unit ages that is too large for the caches.
//!
//! ```text
//! with the map   draw an LPN ─► where does it lie? ─► that page is invalid      a cache miss, and another for each page moved
//! here           draw a page ─► is it valid?       ─► its LPN is written        a cache miss that was asked for long before
//! ```
//!
//! If every mapped LPN is as likely to be overwritten next as any other, so is every valid page of the flash. So a page is drawn,
//! and drawn anew if it is invalid, and the reverse map has its LPN. Which pages are valid is a bit of each. A collection walks
//! through the bits of its victim and copies entries of the reverse map that lie side by side. The map is made when all is over.
//!
//! The state is the one to which [`UnitMut::program`] and [`UnitMut::collect`] lead with the same LPNs in the same order, which a
//! test compares. LPNs have the distribution of uniform draws, each independent of all before. The random numbers are others,
//! so a seed leads to another state than there.
//!
//! Source: ours. Leaves out: probes, placement by streams or age, and units that share one map.

use harmonia_engine::{Rng, prefetch};
use harmonia_types::{Divisor, IoCause, SimTime};

use super::state::NONE;
use super::unit::{Goal, OutOfBlocks, UnitMut};
use crate::block::{BlockId, BlockState, encode, fewest_valid};
use crate::gc::victim::{NoReads, ValidPages, Victim};
use crate::probe::NoProbe;

/// Pages that are drawn before the first of them is looked at. Unit: count.
const AHEAD: usize = 32;

/// Less than one in so many logical pages is mapped: then drawing a valid page takes longer than asking the map.
const SPARSE: u32 = 8;

/// A page that was drawn: its bit, and its number in the unit.
#[derive(Debug, Clone, Copy, Default)]
struct Drawn {
    bit: usize,
    ppn: u32,
}

/// A unit without its map, whose mapped LPNs are overwritten at random.
pub struct RandomOverwrites<'u, 'a> {
    unit: &'u mut UnitMut<'a>,
    rng: Rng,
    valid: ValidBits,
    /// Bits of a block.
    stride: Divisor,
    /// A ring of draws, of which `next` is the oldest.
    drawn: [Drawn; AHEAD],
    next: usize,
    /// Reused: the bits of a block whose pages move.
    moving: Vec<u64>,
}

impl<'a> UnitMut<'a> {
    /// LPNs that are mapped.
    pub fn mapped(&self) -> u32 {
        self.state.mapped
    }

    /// Lets `work` overwrite mapped LPNs at random, each as likely as any other. The map is there again when it is done. `None` if
    /// the unit needs its map meanwhile, because of its placement or because it shares it, or if so little is mapped that a page of
    /// flash that is drawn is seldom valid.
    pub fn overwrite_at_random<R>(
        &mut self,
        rng: Rng,
        work: impl FnOnce(&mut RandomOverwrites<'_, 'a>) -> R,
    ) -> Option<R> {
        let is_sparse = self.state.mapped == 0 || self.state.mapped < self.shape.unit_pages / SPARSE;
        if self.placing.is_some() || self.shape.is_dynamic() || is_sparse {
            return None;
        }
        let mut overwrites = RandomOverwrites::new(self, rng);
        let done = work(&mut overwrites);
        overwrites.make_map();
        Some(done)
    }
}

impl<'u, 'a> RandomOverwrites<'u, 'a> {
    fn new(unit: &'u mut UnitMut<'a>, rng: Rng) -> Self {
        let valid = ValidBits::of(unit);
        let stride = Divisor::new(64 * valid.words_of_block as u64);
        let mut overwrites = RandomOverwrites {
            unit,
            rng,
            valid,
            stride,
            drawn: [Drawn::default(); AHEAD],
            next: 0,
            moving: Vec::new(),
        };
        for at in 0..AHEAD {
            overwrites.drawn[at] = overwrites.draw();
        }
        overwrites
    }

    /// Free blocks, as thresholds count them.
    #[inline]
    pub fn free(&self) -> u32 {
        self.unit.free()
    }

    /// Flash data pages programmed so far.
    pub fn data_programs(&self) -> u64 {
        self.unit.data_programs()
    }

    /// Overwrites a mapped LPN; returns which.
    ///
    /// # Errors
    /// As [`UnitMut::program`].
    #[inline]
    pub fn overwrite(&mut self) -> Result<u32, OutOfBlocks> {
        let Drawn { bit, ppn: from } = self.draw_valid();
        let to = self.unit.next_page(0)?;
        let lpn = self.unit.reverse[from as usize];
        self.valid.clear(bit);
        self.unit.invalidate(from);
        self.unit.reverse[to as usize] = lpn;
        let (block, page) = self.split(to);
        self.valid.set(block, page, 1);
        self.unit.entries[block as usize] += 1;
        self.unit.state.tally.programs[IoCause::Host as usize] += 1;
        self.unit.advance_frontier(0, 1);
        Ok(lpn)
    }

    /// [`UnitMut::collect`], for which nobody waits.
    ///
    /// # Errors
    /// If live pages have nowhere to go.
    pub fn collect(&mut self, goal: Goal, victim: &dyn Victim) -> Result<(), OutOfBlocks> {
        let mut victims = 0;
        while !goal.is_met(victims, self.unit.free()) {
            let chosen = self.unit.choose_among(Some(&self.valid), victim, &NoReads, SimTime::ZERO);
            let Some(block) = chosen else { break };
            self.relocate(block)?;
            self.unit.erase(block, &mut NoProbe);
            victims += 1;
        }
        Ok(())
    }

    /// Any page, valid or not. What will be looked at of it is on its way to the caches.
    #[inline]
    fn draw(&mut self) -> Drawn {
        let bit = self.rng.below(64 * self.valid.words.len() as u64);
        let (block, page) = self.stride.divide(bit);
        let drawn =
            Drawn { bit: bit as usize, ppn: (block as u32) << self.unit.shape.page_bits | page as u32 };
        prefetch(&self.valid.words, drawn.bit / 64);
        prefetch(self.unit.reverse, drawn.ppn as usize);
        drawn
    }

    /// A valid page, each as likely as any other. Whether one is valid must be asked when its turn comes: it may have been written
    /// since it was drawn.
    #[inline]
    fn draw_valid(&mut self) -> Drawn {
        loop {
            let fresh = self.draw();
            let drawn = std::mem::replace(&mut self.drawn[self.next], fresh);
            self.next = (self.next + 1) % AHEAD;
            if self.valid.has(drawn.bit) {
                return drawn;
            }
        }
    }

    /// The block of a page, and its offset there.
    #[inline]
    fn split(&self, ppn: u32) -> (u32, u32) {
        let bits = self.unit.shape.page_bits;
        (ppn >> bits, ppn & ((1 << bits) - 1))
    }

    /// Moves all live pages of a closed block, leaving it ready to erase.
    fn relocate(&mut self, victim: BlockId) -> Result<(), OutOfBlocks> {
        self.unit.begin(victim);
        let mut moving = std::mem::take(&mut self.moving);
        self.valid.copy_of(victim, &mut moving);
        self.valid.clear_block(victim);
        let (from, frontier) = (victim.0 << self.unit.shape.page_bits, self.unit.gc_frontier);
        let mut pages = Pages::of(&moving);
        let mut left = moving.iter().map(|word| word.count_ones()).sum::<u32>();
        while left > 0 {
            let to = self.unit.next_page(frontier)?;
            let (block, offset) = self.split(to);
            let run = left.min(self.unit.shape.data_pages - offset);
            for (target, page) in (to..to + run).zip(&mut pages) {
                self.unit.reverse[target as usize] = self.unit.reverse[(from + page) as usize];
            }
            self.put(block, offset, run);
            left -= run;
        }
        self.unit.entries[victim.index()] = encode(BlockState::Collecting, 0);
        self.moving = moving;
        if self.unit.shape.packing.packs() {
            self.fill()?;
            self.unit.pad(frontier, self.unit.state.moves_for);
        }
        Ok(())
    }

    /// Pages that collection has moved to its frontier are valid there.
    fn put(&mut self, block: u32, offset: u32, run: u32) {
        let unit = &mut *self.unit;
        self.valid.set(block, offset, run);
        unit.entries[block as usize] += run;
        unit.state.tally.programs[unit.state.moves_for as usize] += u64::from(run);
        unit.advance_frontier(unit.gc_frontier, run);
    }

    /// The program that collection has begun takes live pages of the closed block that has the fewest, if the drive does so.
    fn fill(&mut self) -> Result<(), OutOfBlocks> {
        let (shape, frontier) = (self.unit.shape, self.unit.gc_frontier);
        let begun = self.unit.state.frontiers[frontier].map_or(0, |open| open.page);
        let room = shape.packing.left_of_program(begun) % shape.packing.slots_per_program();
        let Some((block, _)) = fewest_valid(self.unit.best).filter(|_| shape.fills) else {
            return Ok(());
        };
        let mut moving = std::mem::take(&mut self.moving);
        self.valid.copy_of(block, &mut moving);
        for page in Pages::of(&moving).take(room as usize) {
            let from = block.0 << shape.page_bits | page;
            self.valid.clear(self.valid.bit(block.0, page));
            self.unit.invalidate(from);
            let to = self.unit.next_page(frontier)?;
            self.unit.reverse[to as usize] = self.unit.reverse[from as usize];
            let (block, offset) = self.split(to);
            self.put(block, offset, 1);
        }
        self.moving = moving;
        Ok(())
    }

    /// Makes the map of the reverse map.
    fn make_map(self) {
        let UnitMut { map, reverse, base, shape, .. } = self.unit;
        for (block, words) in (0u32..).zip(self.valid.words.chunks(self.valid.words_of_block)) {
            for page in Pages::of(words) {
                let ppn = block << shape.page_bits | page;
                map[reverse[ppn as usize] as usize] = *base + ppn;
            }
        }
    }
}

/// Which pages of a unit are valid: a bit of each, those of a block in words of their own.
#[derive(Debug)]
struct ValidBits {
    words: Vec<u64>,
    words_of_block: usize,
}

impl ValidBits {
    /// As the map says.
    fn of(unit: &UnitMut<'_>) -> ValidBits {
        let (shape, blocks) = (unit.shape, unit.entries.len() as u32);
        let words_of_block = shape.data_pages.div_ceil(64) as usize;
        let mut valid = ValidBits { words: vec![0; blocks as usize * words_of_block], words_of_block };
        for (block, page) in
            (0..blocks).flat_map(|block| (0..shape.data_pages).map(move |page| (block, page)))
        {
            let ppn = block << shape.page_bits | page;
            let lpn = unit.reverse[ppn as usize];
            if lpn != NONE && unit.map[lpn as usize] == unit.base + ppn {
                valid.set(block, page, 1);
            }
        }
        valid
    }

    #[inline]
    fn bit(&self, block: u32, page: u32) -> usize {
        block as usize * self.words_of_block * 64 + page as usize
    }

    #[inline]
    fn has(&self, bit: usize) -> bool {
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn clear(&mut self, bit: usize) {
        self.words[bit / 64] &= !(1 << (bit % 64));
    }

    /// So many pages of a block are valid, from this one on.
    #[inline]
    fn set(&mut self, block: u32, page: u32, count: u32) {
        let (mut bit, mut left) = (self.bit(block, page), count as usize);
        while left > 0 {
            let of_word = left.min(64 - bit % 64);
            self.words[bit / 64] |= u64::MAX >> (64 - of_word) << (bit % 64);
            (bit, left) = (bit + of_word, left - of_word);
        }
    }

    fn of_block(&self, block: BlockId) -> std::ops::Range<usize> {
        let first = block.index() * self.words_of_block;
        first..first + self.words_of_block
    }

    fn copy_of(&self, block: BlockId, into: &mut Vec<u64>) {
        into.clear();
        into.extend_from_slice(&self.words[self.of_block(block)]);
    }

    fn clear_block(&mut self, block: BlockId) {
        let words = self.of_block(block);
        self.words[words].fill(0);
    }
}

impl ValidPages for ValidBits {
    fn is_valid(&self, block: BlockId, page: u32) -> bool {
        self.has(self.bit(block.0, page))
    }
}

/// The valid pages of a block, in order.
struct Pages<'w> {
    /// Words behind the one that is looked at, and the first page of that.
    words: std::slice::Iter<'w, u64>,
    word: u64,
    first: u32,
}

impl Pages<'_> {
    fn of(words: &[u64]) -> Pages<'_> {
        let mut words = words.iter();
        let word = words.next().copied().unwrap_or_default();
        Pages { words, word, first: 0 }
    }
}

impl Iterator for Pages<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        while self.word == 0 {
            self.word = *self.words.next()?;
            self.first += 64;
        }
        let page = self.first + self.word.trailing_zeros();
        self.word &= self.word - 1;
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 150 pages, in three words each.
    fn bits() -> ValidBits {
        ValidBits { words: vec![0; 6], words_of_block: 3 }
    }

    #[test]
    fn bits_of_a_block_are_set_and_found_across_words() {
        for (page, count) in [(0, 1), (0, 64), (63, 2), (60, 70), (0, 150), (149, 1), (64, 64), (10, 0)] {
            let mut valid = bits();
            valid.set(1, page, count);
            assert!(Pages::of(&valid.words[3..]).eq(page..page + count), "{count} pages from {page} on");
            assert_eq!(Pages::of(&valid.words[..3]).next(), None, "those of the other block stay");
            assert!((0..150).all(|at| valid.is_valid(BlockId(1), at) == (page..page + count).contains(&at)));
        }
    }

    #[test]
    fn one_bit_and_one_block_are_cleared() {
        let mut valid = bits();
        (0..2).for_each(|block| valid.set(block, 0, 150));
        valid.clear(valid.bit(1, 70));
        assert!(Pages::of(&valid.words[3..]).eq((0..150).filter(|&page| page != 70)));
        valid.clear_block(BlockId(1));
        assert_eq!(Pages::of(&valid.words[3..]).count() + Pages::of(&valid.words[..3]).count(), 150);
    }
}
