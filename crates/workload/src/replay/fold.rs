//! A trace on an array whose members are scaled down: neighbouring places of the full array share one of the small array.
//!
//! ```text
//!   full    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |        grains, each at least as long as the longest request
//!   small   |   0   |   1   |   2   |   3   |        half as many: grain g of F goes to g S / F
//! ```
//!
//! The place inside a grain stays, so requests stay in one piece. Grains are whole rows of stripes, so data stays on its member. Places that lie side by side are about as popular, so a part of
//! the small array is as popular as the same part of the full one. All requests stay, so the rate does. The small array is written
//! as many times as often as it is smaller.
//!
//! Leaves out: a sequential run passes over each grain of the small array several times in a row, and overwrites data that has
//! just been written. Single hot pages that lie apart come to lie in one grain with fewer cold ones.

use harmonia_types::Bytes;

use crate::FullArray;

/// Longest grain. A longer request is placed where its first byte is.
const MOST_GRAIN: Bytes = 1 << 20;
/// The small array has at least so many grains, if its pages allow.
const LEAST_GRAINS: Bytes = 64;

/// From an array to a smaller one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fold {
    /// Logical size of the small array.
    small: Bytes,
    /// Grains of the full array and of the small one.
    full_grains: Bytes,
    small_grains: Bytes,
    grain: Bytes,
}

impl Fold {
    /// For arrays of these sizes, pages of `page` bytes and requests of at most `longest`.
    pub(super) fn new(full: FullArray, small: Bytes, page: Bytes, longest: Bytes) -> Fold {
        let has_room = |grain: Bytes| small / grain >= LEAST_GRAINS;
        let mut grain = if has_room(full.row.max(page)) { full.row.max(page) } else { page };
        while grain < longest && grain < MOST_GRAIN && has_room(grain * 2) {
            grain *= 2;
        }
        let (full_grains, small_grains) = (full.bytes.div_ceil(grain).max(1), (small / grain).max(1));
        Fold { small, full_grains, small_grains, grain }
    }

    /// All of the small array.
    pub(super) fn all(&self) -> (Bytes, Bytes) {
        (0, self.small)
    }

    /// Where a request of the full array goes; `None` if it is longer than the small array.
    #[inline]
    pub(super) fn place(&self, offset: Bytes, length: Bytes) -> Option<Bytes> {
        let last = self.small.checked_sub(length)?;
        let (grain, inside) = (offset / self.grain, offset % self.grain);
        let folded = u128::from(grain) * u128::from(self.small_grains) / u128::from(self.full_grains);
        // The last request may end behind the array: it moves down by whole pages, which `last` is made of.
        Some((folded as Bytes * self.grain + inside).min(last))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: Bytes = 4096;

    /// Of one member, whose rows are pages.
    fn full(bytes: Bytes) -> FullArray {
        FullArray { bytes, row: PAGE }
    }

    /// Three members with units of two pages: a page stays at its place in the row.
    #[test]
    fn data_stays_on_its_member() {
        let row = 6 * PAGE;
        let fold = Fold::new(FullArray { bytes: row << 12, row }, row << 8, PAGE, 4 * PAGE);
        for page in [0, 5, 6, 1000, 20_003] {
            assert_eq!(fold.place(page * PAGE, PAGE).unwrap() / PAGE % 6, page % 6, "page {page}");
        }
    }

    #[test]
    fn neighbours_share_a_grain_and_keep_their_place_in_it() {
        let fold = Fold::new(full(64 << 20), 16 << 20, PAGE, 4 * PAGE);
        let place =
            |grain: Bytes, page: Bytes| fold.place((4 * grain + page) * PAGE, PAGE).map(|at| at / PAGE);
        assert_eq!(
            [place(0, 1), place(3, 1), place(4, 1), place(7, 0)],
            [Some(1), Some(1), Some(5), Some(4)]
        );
        assert_eq!(place(64 * 64 - 1, 3), Some(16 * 256 - 1), "end to end");
    }

    /// A hot tenth of the full array is a hot tenth of the small one.
    #[test]
    fn parts_keep_their_size() {
        let small = (1 << 30) / 13 / PAGE * PAGE;
        let fold = Fold::new(full(1 << 30), small, PAGE, 16 * PAGE);
        let end = fold.place((1 << 30) / 10, PAGE).unwrap();
        assert!((end as f64 / small as f64 - 0.1).abs() < 0.002, "{end}");
    }

    #[test]
    fn what_is_longer_than_the_small_array_has_no_place() {
        let fold = Fold::new(full(1 << 20), 1 << 16, PAGE, PAGE);
        assert_eq!([fold.place(0, 1 << 16), fold.place(0, (1 << 16) + 1)], [Some(0), None]);
    }

    proptest! {
        #[test]
        fn what_is_placed_lies_inside_and_stays_aligned(
            whole in 1u64..1 << 20, row in 1u64..300, small in 1u64..1 << 12, longest in 1u64..1 << 22, at in any::<u64>(), pages in 1u64..64,
        ) {
            let small = small.min(whole);
            let fold = Fold::new(FullArray { bytes: whole * PAGE, row: row * PAGE }, small * PAGE, PAGE, longest);
            let length = pages.min(small) * PAGE;
            let offset = at % (whole * PAGE) / PAGE * PAGE;
            let placed = fold.place(offset, length).unwrap();
            prop_assert!(placed + length <= small * PAGE && placed.is_multiple_of(PAGE));
        }
    }
}
