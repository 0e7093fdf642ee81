//! A free-list slab: stable `u32` handles, no allocation once it has grown to its working size.

use harmonia_engine::prefetch;

/// Values with stable handles.
#[derive(Debug, Clone)]
pub struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores `value` and returns its handle.
    #[inline]
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(handle) = self.free.pop() {
            self.entries[handle as usize] = value;
            handle
        } else {
            self.entries.push(value);
            (self.entries.len() - 1) as u32
        }
    }

    /// Asks the caches for a value that is about to be used.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        prefetch(&self.entries, handle as usize);
    }

    /// Asks the caches for the place of a value that is about to be stored, behind `ahead` others.
    #[inline]
    pub fn prefetch_free(&self, ahead: usize) {
        if let Some(&handle) = self.free.len().checked_sub(1 + ahead).and_then(|at| self.free.get(at)) {
            self.prefetch(handle);
        }
    }

    /// Gives a handle back; its value stays until the handle is used again.
    #[inline]
    pub fn release(&mut self, handle: u32) {
        self.free.push(handle);
    }

    /// Gives all handles back; the lowest is used again first.
    pub fn release_all(&mut self) {
        self.free.clear();
        self.free.extend((0..self.entries.len() as u32).rev());
    }

    /// The values in use, by handle.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mut is_free = vec![false; self.entries.len()];
        self.free.iter().for_each(|&handle| is_free[handle as usize] = true);
        self.entries.iter().zip(is_free).filter(|(_, is_free)| !is_free).map(|(value, _)| value)
    }

    /// Number of handles in use.
    #[inline]
    pub fn live(&self) -> usize {
        self.entries.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, handle: u32) -> &T {
        &self.entries[handle as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, handle: u32) -> &mut T {
        &mut self.entries[handle as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_that_were_given_back_are_used_again() {
        let mut slab = Slab::default();
        assert_eq!(["a", "b", "c"].map(|value| slab.insert(value)), [0, 1, 2]);
        slab.release(1);
        assert_eq!((slab.live(), slab.iter().copied().collect::<Vec<_>>()), (2, vec!["a", "c"]));
        assert_eq!((slab.insert("d"), slab[1], slab.live()), (1, "d", 3));
        slab.release_all();
        assert_eq!((slab.live(), slab.iter().count()), (0, 0));
        assert_eq!(["e", "f", "g", "h"].map(|value| slab.insert(value)), [0, 1, 2, 3]);
    }
}
