//! Flat tables on huge pages: the mapping tables are megabytes to gigabytes and hit at random, so that misses of address
//! translation would cost as much as those of the caches.

use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// A fixed-length table of `u32`. A clone lies on huge pages as well.
#[derive(Debug)]
pub struct HugeTable {
    memory: MmapMut,
    /// Where in it the table begins, in bytes: at a huge page, if it fills one.
    start: usize,
    len: usize,
}

impl HugeTable {
    /// A table of `len` entries, all `value`.
    pub fn new(len: usize, value: u32) -> Self {
        let mut table = HugeTable::zeroed(len);
        table.fill(value);
        table
    }

    /// A table of `len` zeros, whose memory the system hands out only where it is written.
    pub fn zeroed(len: usize) -> Self {
        let bytes = len * size_of::<u32>();
        let fills_one = bytes >= HUGE_PAGE;
        // Room to begin and to end at a huge page.
        let room = if fills_one { bytes + 2 * HUGE_PAGE } else { bytes.max(1) };
        let Ok(memory) = MmapMut::map_anon(room) else {
            handle_alloc_error(Layout::array::<u32>(len).unwrap_or(Layout::new::<u32>()))
        };
        let start = if fills_one { memory.as_ptr().align_offset(HUGE_PAGE) } else { 0 };
        assert!(start <= room - bytes, "a huge page begins within one");
        #[cfg(target_os = "linux")]
        if fills_one {
            // The last huge page is worth its memory if the table fills most of it. Without huge pages the table is the same.
            let huge = (bytes + HUGE_PAGE / 2) / HUGE_PAGE * HUGE_PAGE;
            let _ = memory.advise_range(memmap2::Advice::HugePage, start, huge);
        }
        HugeTable { memory, start, len }
    }
}

impl Clone for HugeTable {
    fn clone(&self) -> Self {
        let mut table = HugeTable::zeroed(self.len);
        table.copy_from_slice(self);
        table
    }
}

impl PartialEq for HugeTable {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for HugeTable {}

impl Deref for HugeTable {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        // SAFETY: `zeroed` has made room for `len` entries from `start` on: zero, or the start of a huge page, so that it is
        // aligned for them. All of it may be read, any bits are a `u32`, and the memory is nobody else's.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(self.start).cast(), self.len) }
    }
}

impl DerefMut for HugeTable {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above. `self` is borrowed as mutable for as long.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().add(self.start).cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_is_equal_and_separate() {
        let mut table = HugeTable::new(3_000_000, 7);
        let copy = table.clone();
        assert_eq!(table, copy);
        table[2_999_999] = 8;
        assert_eq!((copy[2_999_999], table[2_999_999]), (7, 8));
        assert_eq!(HugeTable::zeroed(3_000_000), HugeTable::new(3_000_000, 0));
    }

    #[test]
    fn tables_of_all_lengths_hold_what_is_written() {
        let page = HUGE_PAGE / size_of::<u32>();
        for len in
            [0, 1, 1_000, page - 1, page, page + 1, page * 3 / 2 - 1, page * 3 / 2, 2 * page - 1, 5 * page]
        {
            let mut table = HugeTable::zeroed(len);
            assert!(table.iter().all(|&entry| entry == 0), "{len}");
            (0..).zip(table.iter_mut()).for_each(|(value, entry)| *entry = value);
            assert_eq!(table.len(), len);
            assert!((0..).zip(table.iter()).all(|(value, &entry)| value == entry), "{len}");
            assert!(len < page || table.as_ptr().addr().is_multiple_of(HUGE_PAGE), "{len}");
        }
    }
}
