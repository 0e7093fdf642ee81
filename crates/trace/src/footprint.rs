//! Distinct 4 KiB pages touched: the union of requests, each widened to whole pages.
//!
//! Pages are kept as compressed bitmaps, one for each volume: two bytes a page where they are scattered, a bit where they
//! are dense, so that memory follows what a trace touches and not how long it is, and stays small beside it. Runs of 1 GiB
//! and more, which only trims have, are kept by their ends: that of a whole array would fill the memory as a bitmap.

use std::collections::BTreeMap;

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
    pages: Vec<Pages>,
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
        let pages: u64 = self.pages.iter().map(Pages::len).fold(0, u64::saturating_add);
        let volumes = self.pages.iter().filter(|pages| pages.len() > 0).count();
        (pages.saturating_mul(PAGE), volumes)
    }

    /// Adds all of another, and says how many bytes lie in the pages of both.
    pub fn unite(&mut self, mut other: Footprint) -> Bytes {
        self.enter();
        other.enter();
        if other.pages.len() > self.pages.len() {
            std::mem::swap(&mut self.pages, &mut other.pages);
        }
        let shared = self.pages.iter().zip(&other.pages).map(|(mine, its)| mine.shared(its)).sum();
        for (mine, its) in self.pages.iter_mut().zip(other.pages) {
            mine.unite(its);
        }
        PAGE.saturating_mul(shared)
    }

    fn enter(&mut self) {
        self.waiting.sort_unstable();
        for (volume, start, end) in self.waiting.drain(..) {
            let volume = usize::from(volume);
            if volume >= self.pages.len() {
                self.pages.resize_with(volume + 1, Pages::default);
            }
            self.pages[volume].insert(start, end);
        }
    }
}

/// Runs of at least so many pages are kept by their ends.
const WIDE: u64 = 1 << 18;

/// The pages of a volume.
#[derive(Debug, Default)]
struct Pages {
    /// None of them is in a wide run.
    scattered: RoaringTreemap,
    /// The page behind the last of each wide run, by its first. They lie apart.
    wide: BTreeMap<u64, u64>,
}

impl Pages {
    fn insert(&mut self, start: u64, end: u64) {
        if end - start >= WIDE {
            return self.insert_wide(start, end);
        }
        self.scattered.insert_range(start..end);
        for (start, end) in overlaps(&self.wide, start, end) {
            self.scattered.remove_range(start..end);
        }
    }

    fn insert_wide(&mut self, mut start: u64, mut end: u64) {
        while let Some((&other, &behind)) =
            self.wide.range(..=end).next_back().filter(|(_, behind)| **behind >= start)
        {
            self.wide.remove(&other);
            (start, end) = (start.min(other), end.max(behind));
        }
        self.wide.insert(start, end);
        self.scattered.remove_range(start..end);
    }

    fn len(&self) -> u64 {
        self.scattered.len() + self.wide.iter().map(|(start, end)| end - start).sum::<u64>()
    }

    /// How many pages are in both.
    fn shared(&self, other: &Pages) -> u64 {
        let within = |wide: &BTreeMap<u64, u64>, pages: &RoaringTreemap| -> u64 {
            wide.iter().map(|(&start, &end)| pages.range_cardinality(start..end)).sum()
        };
        let both = |(&start, &end): (&u64, &u64)| -> u64 {
            overlaps(&other.wide, start, end).map(|(start, end)| end - start).sum()
        };
        self.scattered.intersection_len(&other.scattered)
            + within(&self.wide, &other.scattered)
            + within(&other.wide, &self.scattered)
            + self.wide.iter().map(both).sum::<u64>()
    }

    fn unite(&mut self, other: Pages) {
        self.scattered |= other.scattered;
        other.wide.into_iter().for_each(|(start, end)| self.insert_wide(start, end));
        for (&start, &end) in &self.wide {
            self.scattered.remove_range(start..end);
        }
    }
}

/// What runs have in common with `[start, end)`.
fn overlaps(runs: &BTreeMap<u64, u64>, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
    let before = runs.range(..end).rev().take_while(move |(_, behind)| **behind > start);
    before.map(move |(&from, &behind)| (from.max(start), behind.min(end)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_trim_of_everything_takes_no_memory() {
        let mut footprint = Footprint::default();
        footprint.touch(0, 0, u64::MAX);
        footprint.touch(0, 4096, 8192);
        assert_eq!(footprint.total(), (u64::MAX, 1));
    }

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

        /// Four units are a wide run.
        #[test]
        fn wide_runs_are_pages_like_others(
            mine in prop::collection::vec((0u64..40, 1u64..9), 0..12), its in prop::collection::vec((0u64..40, 1u64..9), 0..12),
        ) {
            let unit = WIDE / 4;
            let of = |runs: &[(u64, u64)]| {
                let mut footprint = Footprint::default();
                let mut bitmap = [false; 48];
                for &(start, length) in runs {
                    footprint.touch(0, start * unit * PAGE, (start + length) * unit * PAGE);
                    footprint.enter();
                    bitmap[start as usize..(start + length) as usize].fill(true);
                }
                (footprint, bitmap)
            };
            let ((mut mine, mine_bits), (mut its, its_bits)) = (of(&mine), of(&its));
            let count = |bit: &dyn Fn(usize) -> bool| (0..48).filter(|&at| bit(at)).count() as u64 * unit * PAGE;
            prop_assert_eq!(mine.total().0, count(&|at| mine_bits[at]));
            prop_assert_eq!(its.total().0, count(&|at| its_bits[at]));
            prop_assert_eq!(mine.unite(its), count(&|at| mine_bits[at] && its_bits[at]));
            prop_assert_eq!(mine.total().0, count(&|at| mine_bits[at] || its_bits[at]));
        }
    }
}
