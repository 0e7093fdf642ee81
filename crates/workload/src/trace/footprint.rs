//! Distinct 4 KiB pages touched: the union of requests, each widened to whole pages.
//!
//! Intervals are collected and merged whenever their number has doubled since the last merge, so memory follows the
//! number of separate stretches, not of requests, and the work is one sort per doubling.

use harmonia_types::Bytes;

/// Merging fewer than this is not worth a sort.
const MERGE_AT_LEAST: usize = 1 << 16;

/// Unit of the footprint, in bytes.
const PAGE: Bytes = 4096;

/// Pages `[start, end)` of a volume; ordered by volume, then start.
type Interval = (u16, u64, u64);

/// A union of page intervals over volumes.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    intervals: Vec<Interval>,
    /// How many of them the last merge left.
    merged: usize,
}

impl Footprint {
    /// Adds the bytes `[start, end)` of `volume`.
    pub(super) fn touch(&mut self, volume: u16, start: Bytes, end: Bytes) {
        self.intervals.push((volume, start / PAGE, end.div_ceil(PAGE)));
        if self.intervals.len() >= (2 * self.merged).max(MERGE_AT_LEAST) {
            self.merge();
        }
    }

    /// Bytes in the pages of the union, and the number of volumes.
    pub(super) fn total(&mut self) -> (Bytes, usize) {
        self.merge();
        let pages: u128 = self.intervals.iter().map(|&(_, start, end)| u128::from(end - start)).sum();
        let volumes = self.intervals.chunk_by(|a, b| a.0 == b.0).count();
        (Bytes::try_from(pages * u128::from(PAGE)).unwrap_or(Bytes::MAX), volumes)
    }

    fn merge(&mut self) {
        self.intervals.sort_unstable();
        self.intervals.dedup_by(|next, kept| {
            let joins = next.0 == kept.0 && next.1 <= kept.2;
            if joins {
                kept.2 = kept.2.max(next.2);
            }
            joins
        });
        self.merged = self.intervals.len();
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
                let pages = start as usize / 4096..(start + length - 1) as usize / 4096 + 1;
                bitmap[usize::from(volume)][pages].fill(true);
                if start % 7 == 0 {
                    footprint.merge();
                }
            }
            let bytes = bitmap.iter().flatten().filter(|&&set| set).count() as u64 * 4096;
            let volumes = bitmap.iter().filter(|volume| volume.contains(&true)).count();
            prop_assert_eq!(footprint.total(), (bytes, volumes));
        }
    }
}
