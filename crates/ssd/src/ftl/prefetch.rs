//! Asking the caches for what will be needed soon. Nothing here changes anything.

use harmonia_engine::{prefetch, prefetch_one_of_many, prefetch_whole};

use super::Ftl;
use super::state::NONE;
use super::unit::UnitMut;
use crate::block::{BlockId, GROUP, fewest_valid};

/// Asks for `count` entries of a table, from `first` on.
#[inline]
fn prefetch_all<T>(table: &[T], first: usize, count: usize) {
    const LINE: usize = 64;
    const { assert!(size_of::<T>() <= LINE, "an entry lies in a line") };
    (0..count).step_by(LINE / size_of::<T>()).for_each(|entry| prefetch_one_of_many(table, first + entry));
    // The table need not begin at a line.
    prefetch_one_of_many(table, first + count.saturating_sub(1));
}

impl Ftl {
    /// Asks the cache for the map entry of an LPN that is about to be used. Changes nothing.
    #[inline]
    pub fn prefetch(&self, unit: u32, lpn: u32) {
        prefetch(&self.map, self.map_index(unit, lpn));
    }

    /// The same, then, for what is noted of the block in which the data of an LPN lies. Looks at that entry.
    #[inline]
    pub fn prefetch_old_block(&self, unit: u32, lpn: u32) {
        let shape = &self.shape;
        // An entry without data asks for nothing.
        let block = (self.map[self.map_index(unit, lpn)] >> shape.page_bits) as usize;
        let first = if shape.is_dynamic() { 0 } else { unit as usize * shape.blocks_per_unit as usize };
        prefetch(&self.entries, first + block);
    }

    /// The same for what is kept of a unit.
    #[inline]
    pub(crate) fn prefetch_unit(&self, unit: u32) {
        prefetch_whole(&self.units[unit as usize]);
    }

    /// The same for the entry of an LPN where a page may lie in several units.
    #[inline]
    pub fn prefetch_entry(&self, lpn: u32) {
        prefetch(&self.map, lpn as usize);
    }

    /// The same, then, for what is noted of the block that it lies in. Looks at that entry.
    #[inline]
    pub fn prefetch_home(&self, lpn: u32) {
        // Where it lies in none, that asks for nothing.
        prefetch(&self.entries, (self.map[lpn as usize] >> self.shape.page_bits) as usize);
    }

    /// The same for what is noted of the block that an LPN lies in, and of the one that it goes to next.
    #[inline]
    pub(crate) fn prefetch_block_of(&self, unit: u32, lpn: u32) {
        let shape = &self.shape;
        let first_block = unit as usize * shape.blocks_per_unit as usize;
        let old = self.map[self.map_index(unit, lpn)];
        if let Some(open) = self.units[unit as usize].frontiers[0] {
            prefetch(
                &self.reverse,
                (first_block << shape.page_bits) + (open.block << shape.page_bits | open.page) as usize,
            );
        }
        if old != NONE {
            // A map of all units has the numbers of their blocks, too.
            let (unit, block) = if shape.is_dynamic() {
                (old / shape.flash_pages(), (old % shape.flash_pages()) >> shape.page_bits)
            } else {
                (unit, old >> shape.page_bits)
            };
            let (unit, block) = (unit as usize, block as usize);
            let first_block = unit * shape.blocks_per_unit as usize;
            prefetch(&self.entries, first_block + block);
            prefetch(&self.erases, first_block + block);
            let groups = (shape.blocks_per_unit as usize).div_ceil(GROUP);
            prefetch(&self.best, unit * groups + block / GROUP);
        }
    }

    /// Asks the cache for the keys by which the next victim of a unit is found.
    #[inline]
    pub(crate) fn prefetch_best(&self, unit: u32) {
        let groups = (self.shape.blocks_per_unit as usize).div_ceil(GROUP);
        prefetch_all(&self.best, unit as usize * groups, groups);
    }

    /// Asks it for the reverse entries of that victim and of where its pages go, and for the blocks of its group, of which another
    /// will be the best.
    #[inline]
    pub(crate) fn prefetch_victim(&self, unit: u32) {
        let Some((first, block)) = self.victim(unit) else { return };
        let pages = (first + block.index()) << self.shape.page_bits;
        prefetch_all(&self.reverse, pages, self.shape.data_pages as usize);
        self.prefetch_destination(unit);
        let group = first + block.index() / GROUP * GROUP;
        prefetch_all(&self.entries, group, GROUP);
        prefetch_all(&self.erases, group, GROUP);
    }

    /// Asks it for the reverse entries of where a victim's pages go: the rest of the open block, and the block after it.
    #[inline]
    fn prefetch_destination(&self, unit: u32) {
        let Some((open, page)) = self.next_gc_page(unit) else { return };
        let (shape, state) = (&self.shape, &self.units[unit as usize]);
        let first = unit as usize * shape.blocks_per_unit as usize;
        let place = |block: u32| (first + block as usize) << shape.page_bits;
        prefetch_all(&self.reverse, place(open) + page as usize, (shape.data_pages - page) as usize);
        if page > 0 && state.free > 0 {
            let next = self.free_ring[first + state.free_head as usize];
            prefetch_all(&self.reverse, place(next), page as usize);
        }
    }

    /// Asks it for the map entries of the pages of that victim.
    #[inline]
    pub(crate) fn prefetch_victim_pages(&self, unit: u32) {
        let Some((first, block)) = self.victim(unit) else { return };
        let pages = (first + block.index()) << self.shape.page_bits;
        let map = self.shape.map_range(unit).start;
        for &lpn in &self.reverse[pages..][..self.shape.data_pages as usize] {
            prefetch_one_of_many(&self.map, map + lpn as usize);
        }
    }

    /// The first block of a unit in the tables, and the closed block of the unit with the fewest valid pages.
    #[inline]
    fn victim(&self, unit: u32) -> Option<(usize, BlockId)> {
        let blocks = self.shape.blocks_per_unit as usize;
        let groups = blocks.div_ceil(GROUP);
        let (block, _) = fewest_valid(&self.best[unit as usize * groups..][..groups])?;
        Some((unit as usize * blocks, block))
    }

    /// Asks it for the map entries of the pages of a block that are looked at soon, whether they are live: a few ahead of the page
    /// that was looked at before and up to as many ahead of the one that is next.
    #[inline]
    pub(crate) fn prefetch_pages(&self, unit: u32, block: u32, (before, next): (u32, u32)) {
        let ahead = if self.shape.packing.packs() { 16 } else { 4 };
        let from = if before == 0 { 0 } else { before + ahead };
        let last = (next + ahead).min(self.shape.data_pages);
        let flash_pages = (self.shape.blocks_per_unit as usize) << self.shape.page_bits;
        let first = unit as usize * flash_pages + ((block as usize) << self.shape.page_bits);
        for &lpn in self.reverse.get(first + from as usize..first + last as usize).unwrap_or_default() {
            // A page never written has none, and asking for that does nothing.
            prefetch(&self.map, self.shape.map_range(unit).start + lpn as usize);
        }
    }
}

impl UnitMut<'_> {
    /// Asks the cache for the map entry of a page that is about to be written. Changes nothing.
    #[inline]
    pub fn prefetch(&self, lpn: u32) {
        prefetch(self.map, lpn as usize);
    }

    /// Asks the cache for the map entries of a block's pages.
    pub(super) fn prefetch_pages(&self, block: BlockId) {
        let first = (block.0 << self.shape.page_bits) as usize;
        for &lpn in &self.reverse[first..][..self.shape.data_pages as usize] {
            prefetch_one_of_many(self.map, lpn as usize);
        }
    }

    /// Asks it for what says which pages those are.
    pub(super) fn prefetch_reverse(&self, block: BlockId) {
        let first = (block.0 << self.shape.page_bits) as usize;
        prefetch_all(self.reverse, first, self.shape.data_pages as usize);
    }
}
