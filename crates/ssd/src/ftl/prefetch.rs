//! Asking the caches for what will be needed soon. Nothing here changes anything.

use super::Ftl;
use super::state::NONE;
use super::unit::UnitMut;
use crate::block::{BlockId, GROUP};

/// Asks the cache for `table[index]`, which is about to be used. Changes nothing; an index beyond it is ignored.
#[inline]
fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = table.get(index) {
        // SAFETY: a prefetch of a valid reference has no effect but on the cache.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}

impl Ftl {
    /// Asks the cache for the map entry of an LPN that is about to be used. Changes nothing.
    #[inline]
    pub(crate) fn prefetch(&self, unit: u32, lpn: u32) {
        prefetch(&self.map, self.map_index(unit, lpn));
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
        if old != NONE && !shape.is_dynamic() {
            let block = (old >> shape.page_bits) as usize;
            prefetch(&self.entries, first_block + block);
            let groups = (shape.blocks_per_unit as usize).div_ceil(GROUP);
            prefetch(&self.best, unit as usize * groups + block / GROUP);
        }
    }

    /// The same for the pages of a block that are looked at soon, whether they are live: a few ahead of the page that was looked
    /// at before and up to as many ahead of the one that is next.
    #[inline]
    pub(crate) fn prefetch_pages(&self, unit: u32, block: u32, (before, next): (u32, u32)) {
        const AHEAD: u32 = 4;
        let from = if before == 0 { 0 } else { before + AHEAD };
        let last = (next + AHEAD).min(self.shape.data_pages);
        let flash_pages = (self.shape.blocks_per_unit as usize) << self.shape.page_bits;
        let first = unit as usize * flash_pages + ((block as usize) << self.shape.page_bits);
        for &lpn in self.reverse.get(first + from as usize..first + last as usize).unwrap_or_default() {
            // Of a page never written there is none; the prefetch ignores it.
            prefetch(&self.map, self.shape.map_range(unit).start.saturating_add(lpn as usize));
        }
    }
}

impl UnitMut<'_> {
    /// Asks the cache for the map entries of a block's pages.
    pub(super) fn prefetch_pages(&self, block: BlockId) {
        let first = (block.0 << self.shape.page_bits) as usize;
        for &lpn in &self.reverse[first..][..self.shape.data_pages as usize] {
            prefetch(self.map, lpn as usize);
        }
    }

    /// Asks it for what says which pages those are.
    pub(super) fn prefetch_reverse(&self, block: BlockId) {
        const LINE: usize = 64 / size_of::<u32>();
        let first = (block.0 << self.shape.page_bits) as usize;
        (0..self.shape.data_pages as usize)
            .step_by(LINE)
            .for_each(|page| prefetch(self.reverse, first + page));
    }
}
