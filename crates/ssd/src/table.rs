//! Flat tables on huge pages: the mapping tables are tens of megabytes and hit at random, so address translation
//! misses would cost as much as cache misses.

use std::ops::{Deref, DerefMut};

/// A fixed-length table of `u32`. Cloning copies it onto huge pages again.
#[derive(Debug, PartialEq, Eq)]
pub struct HugeTable(Vec<u32>);

impl HugeTable {
    /// A table of `len` entries, all `value`.
    pub fn new(len: usize, value: u32) -> Self {
        let mut entries = advised(len);
        entries.resize(len, value);
        HugeTable(entries)
    }

    /// A table of `len` zeros, whose memory the system hands out only where it is written.
    pub fn zeroed(len: usize) -> Self {
        let entries = vec![0; len];
        advise(&entries, len);
        HugeTable(entries)
    }
}

impl Clone for HugeTable {
    fn clone(&self) -> Self {
        let mut entries = advised(self.0.len());
        entries.extend_from_slice(&self.0);
        HugeTable(entries)
    }
}

impl Deref for HugeTable {
    type Target = [u32];
    #[inline]
    fn deref(&self) -> &[u32] {
        &self.0
    }
}

impl DerefMut for HugeTable {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }
}

/// An empty vector with room for `len` entries, on huge pages.
fn advised(len: usize) -> Vec<u32> {
    let entries: Vec<u32> = Vec::with_capacity(len);
    advise(&entries, len);
    entries
}

/// Asks the kernel to back the whole huge pages among the first `len` entries of an allocation by huge pages.
fn advise(entries: &Vec<u32>, len: usize) {
    const HUGE_PAGE: usize = 2 << 20;
    let len = len.min(entries.capacity());
    let start = entries.as_ptr() as usize;
    let aligned = start.next_multiple_of(HUGE_PAGE);
    let bytes = (start + len * 4).saturating_sub(aligned) / HUGE_PAGE * HUGE_PAGE;
    #[cfg(target_os = "linux")]
    if bytes > 0 {
        // SAFETY: the range lies inside the allocation; the advice changes how the kernel backs the memory, never
        // its contents, and its failure is harmless.
        unsafe { libc::madvise(aligned as *mut libc::c_void, bytes, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
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
}
