//! Flat tables on huge pages: the mapping tables are megabytes to gigabytes and hit at random, so that misses of address
//! translation would cost as much as those of the caches.
//!
//! A large table of which a good part is never used lies on small pages instead, so that this part takes no memory.

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
    /// Which entries are used; `None` if all are.
    parts: Option<Parts>,
}

/// A table whose entries are used in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The first so many entries of a part are used.
    pub used: usize,
    /// How many it has.
    pub of: usize,
}

impl Parts {
    /// Smaller tables stay on huge pages. Unit: bytes.
    const LARGE: u64 = 1 << 30;

    /// If a table of so many entries is large, and small pages save a quarter of it.
    fn worth_it(self, len: u64) -> Option<Parts> {
        let bytes = len * size_of::<u32>() as u64;
        (bytes >= Self::LARGE && 4 * self.memory_bytes(len) <= 3 * bytes).then_some(self)
    }

    /// Bytes of memory that a table of so many entries takes then.
    fn memory_bytes(self, len: u64) -> u64 {
        const SMALL_PAGE: usize = 4096;
        let of_part = (self.used * size_of::<u32>()).next_multiple_of(SMALL_PAGE) as u64;
        len / self.of as u64 * of_part
    }
}

impl HugeTable {
    /// A table of `len` entries that are used in parts. Those that are used are `value`.
    pub fn in_parts(len: usize, value: u32, parts: Parts) -> Self {
        let mut table = HugeTable::zeroed_in_parts(len, parts);
        match table.parts {
            Some(parts) => table.chunks_mut(parts.of).for_each(|part| part[..parts.used].fill(value)),
            None => table.fill(value),
        }
        table
    }

    /// The same of zeros, whose memory the system hands out only where it is written.
    pub fn zeroed_in_parts(len: usize, parts: Parts) -> Self {
        match parts.worth_it(len as u64) {
            Some(parts) => HugeTable::on_small_pages(len, parts),
            None => HugeTable::zeroed(len),
        }
    }

    fn on_small_pages(len: usize, parts: Parts) -> Self {
        let layout = Layout::array::<u32>(len).expect("a table fits the address space");
        let Ok(memory) = MmapMut::map_anon(layout.size()) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::NoHugePage);
        HugeTable { memory, start: 0, len, parts: Some(parts) }
    }

    /// A table of `len` entries, all `value`.
    pub fn new(len: usize, value: u32) -> Self {
        let mut table = HugeTable::zeroed(len);
        table.fill(value);
        table
    }

    /// A table of `len` zeros, whose memory the system hands out only where it is written.
    ///
    /// # Panics
    /// If no address space holds it.
    pub fn zeroed(len: usize) -> Self {
        let layout = Layout::array::<u32>(len).expect("a table fits the address space");
        let bytes = layout.size();
        let room = room(bytes as u64) as usize;
        let Ok(memory) = MmapMut::map_anon(room.max(1)) else { handle_alloc_error(layout) };
        let start = if room > bytes { memory.as_ptr().align_offset(HUGE_PAGE) } else { 0 };
        assert!(start <= room - bytes, "there is room to begin at a huge page");
        #[cfg(target_os = "linux")]
        if room > bytes {
            // Without huge pages the table is slower, and the same.
            let huge = on_huge_pages(bytes as u64) as usize;
            let _ = memory.advise_range(memmap2::Advice::HugePage, start, huge);
        }
        HugeTable { memory, start, len, parts: None }
    }

    /// Bytes of memory that a table of `len` entries takes once all are written. A system that puts everything on huge pages
    /// may take up to one more.
    pub fn memory_bytes(len: u64) -> u64 {
        let bytes = len * size_of::<u32>() as u64;
        if room(bytes) > bytes { on_huge_pages(bytes).max(bytes) } else { bytes }
    }

    /// The same of a table whose entries are used in parts.
    pub fn memory_bytes_in_parts(len: u64, parts: Parts) -> u64 {
        parts.worth_it(len).map_or_else(|| HugeTable::memory_bytes(len), |parts| parts.memory_bytes(len))
    }

    /// Bytes of address space that it takes.
    pub fn address_bytes(len: u64) -> u64 {
        room(len * size_of::<u32>() as u64)
    }
}

/// Address space for a table of so many bytes: if it fills a huge page, it has room to begin and to end at one.
fn room(bytes: u64) -> u64 {
    if bytes < HUGE_PAGE as u64 { bytes } else { bytes + 2 * HUGE_PAGE as u64 }
}

/// How much of that is asked to lie on huge pages: the last one is worth its memory if the table fills at least half of it, and
/// if that is a good part of the table.
fn on_huge_pages(bytes: u64) -> u64 {
    const PAGE: u64 = HUGE_PAGE as u64;
    let rest = bytes % PAGE;
    let is_worth_it = rest >= PAGE / 2 && rest >= bytes / 4;
    bytes - rest + if is_worth_it { PAGE } else { 0 }
}

impl Clone for HugeTable {
    fn clone(&self) -> Self {
        let Some(parts) = self.parts else {
            let mut table = HugeTable::zeroed(self.len);
            table.copy_from_slice(self);
            return table;
        };
        let mut table = HugeTable::on_small_pages(self.len, parts);
        let pairs = table.chunks_mut(parts.of).zip(self.chunks(parts.of));
        pairs.for_each(|(to, from)| to[..parts.used].copy_from_slice(&from[..parts.used]));
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

    /// Parts of 9,000 entries of 16,384: of 1.2 GiB, 9/16 take memory.
    #[test]
    fn what_no_part_uses_takes_no_memory() {
        let (parts, len) = (Parts { used: 9_000, of: 16_384 }, 16_384 * 20_000);
        let mut table = HugeTable::in_parts(len, 7, parts);
        assert_eq!([table[0], table[8_999], table[9_000], table[len - 16_384]], [7, 7, 0, 7]);
        assert_eq!(HugeTable::memory_bytes_in_parts(len as u64, parts), 20_000 * 9 * 4096);
        table[len - 16_384] = 8;
        let copy = table.clone();
        table[0] = 9;
        assert_eq!([copy[0], copy[9_000], copy[len - 16_384]], [7, 0, 8]);
        let is_sparse = |used, len| HugeTable::in_parts(len, 1, Parts { used, ..parts })[used] == 0;
        assert!(!is_sparse(9_000, 16_384 * 100), "a small table lies on huge pages");
        assert!(Parts { used: 12_289, ..parts }.worth_it(len as u64).is_none(), "and a full one");
        assert!(Parts { used: 12_288, ..parts }.worth_it(len as u64).is_some());
        assert!(Parts { used: 600, of: 1_024 }.worth_it(len as u64).is_none(), "a part is a page");
        assert!(Parts { used: 33, of: 64 }.worth_it(len as u64).is_none(), "a page has many parts");
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

    /// In KiB, a huge page has 2048: the last one is taken whole if the table fills half of it, and a quarter of the table lies there.
    #[test]
    fn memory_is_that_of_huge_pages_where_they_are_worth_it() {
        let of =
            |kib: u64| (HugeTable::memory_bytes(kib * 256) >> 10, HugeTable::address_bytes(kib * 256) >> 10);
        for (kib, memory, address) in [
            (2047, 2047, 2047),
            (2048, 2048, 6144),
            (3071, 3071, 7167),
            (3072, 4096, 7168),
            (5120, 5120, 9216),
            (5632, 6144, 9728),
        ] {
            assert_eq!(of(kib), (memory, address), "{kib} KiB");
        }
    }
}
