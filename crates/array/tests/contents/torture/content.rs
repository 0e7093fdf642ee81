//! What a sector holds: a tag of eight bytes, or 512 real ones. One code for both.
//!
//! A sector is either zeros or what one write put there. Parity is computed byte by byte as RAID-6 does: in GF(2^8) with
//! polynomial 0x11d and generator 2, for a tag over its eight bytes, for real contents over all of them.
//!
//! Source: H. P. Anvin, "The mathematics of RAID-6".

use std::fmt;

use reed_solomon_erasure::galois_8;

/// Bytes of a sector, the smallest thing that a request can write.
pub const SECTOR: u64 = 512;

/// Which write put a sector where, as one number; 0 means zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64);

const PLACE_BITS: u32 = 24;

impl Stamp {
    /// Never written, or discarded.
    pub const ZEROS: Stamp = Stamp(0);

    /// What new flash holds at a sector of a page, before anything is written there.
    pub fn garbage(device: u16, sector: u64) -> Self {
        Stamp::new(1 << 39 | u64::from(device), sector)
    }

    /// What the write of this number puts into a logical sector.
    pub fn new(write: u64, sector: u64) -> Self {
        debug_assert!(sector < 1 << PLACE_BITS, "an array for tests is small");
        Stamp((write + 1) << PLACE_BITS | sector)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 >> PLACE_BITS {
            0 => write!(f, "zeros"),
            write => write!(f, "sector {} of request {}", self.0 & ((1 << PLACE_BITS) - 1), write - 1),
        }
    }
}

/// What a sector holds.
pub trait Content: Copy + Eq + Send + 'static {
    /// Never written.
    const ZERO: Self;

    /// What a write puts there.
    fn of(stamp: Stamp) -> Self;
    /// Adds in the field: exclusive or.
    fn add(&mut self, other: &Self);
    /// Adds `factor` times `other`.
    fn add_times(&mut self, factor: u8, other: &Self);

    /// `factor` times itself.
    fn times(&self, factor: u8) -> Self {
        let mut product = Self::ZERO;
        product.add_times(factor, self);
        product
    }
}

/// The weight of data unit `unit` in Q.
pub fn weight(unit: usize) -> u8 {
    galois_8::exp(2, unit)
}

/// One over a field element that is not 0.
pub fn inverse(element: u8) -> u8 {
    galois_8::div(1, element)
}

/// Spreads a number over all bits: sums of stamps that follow one another are then never another stamp by chance. One to
/// one, and zero stays zero (the finaliser of SplitMix64).
fn spread(mut number: u64) -> u64 {
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A sector as one number.
pub type Tag = u64;

impl Content for Tag {
    const ZERO: Tag = 0;

    #[inline]
    fn of(stamp: Stamp) -> Tag {
        spread(stamp.0)
    }

    #[inline]
    fn add(&mut self, other: &Tag) {
        *self ^= other;
    }

    #[inline]
    fn add_times(&mut self, factor: u8, other: &Tag) {
        match factor {
            1 => self.add(other),
            _ => {
                let product = other.to_le_bytes().map(|byte| galois_8::mul(factor, byte));
                *self ^= Tag::from_le_bytes(product);
            }
        }
    }
}

/// A sector as it would be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Real([u8; SECTOR as usize]);

impl Content for Real {
    const ZERO: Real = Real([0; SECTOR as usize]);

    fn of(stamp: Stamp) -> Real {
        let mut real = Real::ZERO;
        if stamp != Stamp::ZEROS {
            for (place, word) in (0u64..).zip(real.0.chunks_exact_mut(8)) {
                let number = stamp.0.wrapping_add(place.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                word.copy_from_slice(&spread(number).to_le_bytes());
            }
        }
        real
    }

    fn add(&mut self, other: &Real) {
        for (byte, other) in self.0.iter_mut().zip(&other.0) {
            *byte ^= other;
        }
    }

    fn add_times(&mut self, factor: u8, other: &Real) {
        match factor {
            1 => self.add(other),
            _ => galois_8::mul_slice_xor(factor, &other.0, &mut self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Anvin's paper and the kernel's tables.
    #[test]
    fn the_field_is_that_of_raid_6() {
        assert_eq!([0, 1, 7, 8, 255].map(weight), [1, 2, 0x80, 0x1d, 1]);
        assert_eq!(galois_8::mul(0x80, 2), 0x1d);
        assert_eq!(inverse(2), 0x8e);
    }

    #[test]
    fn tags_and_real_sectors_are_added_and_multiplied_alike() {
        let (a, b) = (Stamp::new(7, 3), Stamp::new(8, 3));
        let (mut tag, mut real) = (Tag::of(a), Real::of(a));
        tag.add_times(0xc3, &Tag::of(b));
        real.add_times(0xc3, &Real::of(b));
        assert_eq!(tag.to_le_bytes(), real.0[..8], "a real sector begins with its tag");
        assert!(Real::of(a) != Real::of(b) && Real::of(Stamp::ZEROS) == Real::ZERO);
        assert!(tag.times(5).times(inverse(5)) == tag && real.times(5).times(inverse(5)) == real);
    }
}
