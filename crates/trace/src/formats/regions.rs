//! Addresses for traces of files or blocks whose place on a disk was not recorded.
//!
//! Each gets regions of one size, one behind the other in the order in which they are first met. What lies side by side
//! in a region stays so, and all of them together are about as large as what they hold.

use std::collections::BTreeMap;

use harmonia_types::Bytes;

/// Regions given out, by what they are of and which of its regions they are.
#[derive(Debug)]
pub(super) struct Regions {
    size: Bytes,
    places: BTreeMap<(u64, u64), u64>,
}

impl Regions {
    pub(super) fn new(size: Bytes) -> Self {
        Regions { size, places: BTreeMap::new() }
    }

    /// The address of the byte at `offset` of what has this number.
    pub(super) fn address(&mut self, number: u64, offset: Bytes) -> Bytes {
        let next = self.places.len() as u64;
        let place = *self.places.entry((number, offset / self.size)).or_insert(next);
        place.saturating_mul(self.size).saturating_add(offset % self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_lie_in_the_order_in_which_they_are_met() {
        let mut regions = Regions::new(1000);
        let given =
            [(7, 5), (3, 1), (7, 999), (7, 1000), (3, 2)].map(|(n, offset)| regions.address(n, offset));
        assert_eq!(given, [5, 1001, 999, 2000, 1002]);
    }
}
