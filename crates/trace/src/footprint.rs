//! Distinct 4 KiB pages touched: the union of requests, each widened to whole pages.
//!
//! Pages are kept as compressed bitmaps, one for each volume: two bytes a page where they are scattered, a bit where they
//! are dense, so that memory follows what a trace touches and not how long it is, and stays small beside it.

use harmonia_types::Bytes;
use roaring::RoaringTreemap;

/// Unit of the footprint, in bytes.
const PAGE: Bytes = 4096;

/// Requests are collected and entered in order, so many at a time: one by one takes half as long again.
const BATCH: usize = 1 << 16;

/// A union of pages over volumes.
#[derive(Debug, Default)]
pub struct Footprint {
    /// By index of the volume.
    pages: Vec<RoaringTreemap>,
    /// Volume, first page and the page behind the last, not entered yet.
    waiting: Vec<(u16, u64, u64)>,
}

impl Footprint {
    /// Adds the bytes `[start, end)` of `volume`.
    pub fn touch(&mut self, volume: u16, start: Bytes, end: Bytes) {
        self.waiting.push((volume, start / PAGE, end.div_ceil(PAGE)));
        if self.waiting.len() >= BATCH {
            self.enter();
        }
    }

    /// Bytes in the pages of the union, and the number of volumes that have any.
    pub fn total(&mut self) -> (Bytes, usize) {
        self.enter();
        let pages: u64 = self.pages.iter().map(RoaringTreemap::len).sum();
        let volumes = self.pages.iter().filter(|pages| !pages.is_empty()).count();
        (pages.saturating_mul(PAGE), volumes)
    }

    /// Adds all of another, and says how many bytes lie in the pages of both.
    pub fn unite(&mut self, mut other: Footprint) -> Bytes {
        self.enter();
        other.enter();
        if other.pages.len() > self.pages.len() {
            std::mem::swap(&mut self.pages, &mut other.pages);
        }
        let shared = self.pages.iter().zip(&other.pages).map(|(mine, its)| mine.intersection_len(its)).sum();
        for (mine, its) in self.pages.iter_mut().zip(other.pages) {
            *mine |= its;
        }
        PAGE.saturating_mul(shared)
    }

    fn enter(&mut self) {
        self.waiting.sort_unstable();
        for (volume, start, end) in self.waiting.drain(..) {
            let volume = usize::from(volume);
            if volume >= self.pages.len() {
                self.pages.resize_with(volume + 1, RoaringTreemap::new);
            }
            self.pages[volume].insert_range(start..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A bitmap is the oracle.
        #[test]
        fn is_the_union(touches in prop::collection::vec((0u16..3, 0u64..800_000, 1u64..80_000), 1..80)) {
            let mut footprint = Footprint::default();
            let mut bitmap = [[false; 256]; 3];
            for &(volume, start, length) in &touches {
                footprint.touch(volume, start, start + length);
                if start % 7 == 0 {
                    footprint.enter();
                }
                let pages = start as usize / 4096..(start + length - 1) as usize / 4096 + 1;
                bitmap[usize::from(volume)][pages].fill(true);
            }
            let bytes = bitmap.iter().flatten().filter(|&&set| set).count() as u64 * 4096;
            let volumes = bitmap.iter().filter(|volume| volume.contains(&true)).count();
            prop_assert_eq!(footprint.total(), (bytes, volumes));
            let mut more = Footprint::default();
            let (volume, start, length) = touches[0];
            more.touch(volume, start, start + length);
            more.touch(5, 0, 1);
            let shared = (start + length).div_ceil(PAGE) - start / PAGE;
            prop_assert_eq!(footprint.unite(more), shared * PAGE);
            prop_assert_eq!(footprint.total(), (bytes + PAGE, volumes + 1));
        }
    }
}
