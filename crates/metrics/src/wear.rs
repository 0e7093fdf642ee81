//! How evenly the blocks of a device were erased.
//!
//! Not measured: which blocks are worn, wear over time, retirement of worn blocks.

use serde::{Deserialize, Serialize};

use crate::moments::Moments;

/// Erase counts over all blocks of one device, since the device was new (ageing included, unless the caller
/// subtracts it).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Wear {
    /// Erases of the least erased block. Unit: count.
    pub min: u64,
    /// Mean erases of a block. Unit: count.
    pub mean: f64,
    /// Erases of the most erased block. Unit: count.
    pub max: u64,
    /// Standard deviation over all blocks: they are the population, the divisor is their number. Unit: count.
    pub stddev: f64,
}

impl Wear {
    /// The wear of a device with these erase counts, one per block in any order.
    ///
    /// # Panics
    /// Without blocks: a device has at least one.
    pub fn of(erase_counts: impl IntoIterator<Item = u32>) -> Self {
        let mut moments = Moments::default();
        erase_counts.into_iter().for_each(|erases| moments.record(u64::from(erases)));
        let statistics = (moments.range(), moments.mean(), moments.stddev_population());
        let (Some((min, max)), Some(mean), Some(stddev)) = statistics else {
            panic!("wear needs at least one block");
        };
        Wear { min, mean, max, stddev }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_is_that_of_the_population() {
        let wear = Wear::of([2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(wear, Wear { min: 2, mean: 5.0, max: 9, stddev: 2.0 });
    }

    #[test]
    fn a_single_block_has_no_spread() {
        assert_eq!(Wear::of([3]), Wear { min: 3, mean: 3.0, max: 3, stddev: 0.0 });
    }

    #[test]
    #[should_panic(expected = "at least one block")]
    fn no_blocks_is_a_bug() {
        Wear::of([]);
    }
}
