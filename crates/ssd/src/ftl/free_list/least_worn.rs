//! The block with the fewest erases is opened first, ties to the one that stands first in the ring.
//!
//! This is dynamic wear levelling. It evens out the wear of blocks that are rewritten at all, because a block that was erased
//! often waits until the others have caught up. Blocks with data that is never rewritten stay where they are: that takes static
//! levelling.
//!
//! Source: the usual description of dynamic wear levelling, such as Chang, Hsieh and Kuo, "Endurance enhancement of flash-memory
//! storage systems" (DAC 2007), section 2.

/// Where the least worn of the free blocks stands.
pub(super) fn first(free: impl Iterator<Item = u32>, erases: &[u32]) -> usize {
    let least =
        free.map(|block| erases[block as usize]).enumerate().min_by_key(|&(place, erases)| (erases, place));
    least.map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_least_worn_goes_first_and_of_equals_the_one_that_stands_first() {
        let erases = [7, 3, 9, 3, 0];
        assert_eq!(super::first([0, 2, 3, 1].into_iter(), &erases), 2);
        assert_eq!(super::first([2, 0].into_iter(), &erases), 1);
        assert_eq!(super::first([4].into_iter(), &erases), 0);
    }
}
