//! A random permutation of any number of numbers, which takes no memory.
//!
//! A four-round Feistel network mixes the bits of a number. A result of n or more is mixed again until it is below n.
//!
//! Source: J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002. The round function is the finaliser of
//! SplitMix64.
//!
//! Leaves out: the way back, and secrecy.

use crate::Rng;

const ROUNDS: usize = 4;

/// A permutation of `0..n`.
#[derive(Debug, Clone)]
pub struct Permutation {
    n: u64,
    /// Bits of half a number.
    half: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// Of `0..n`, for at least one number. Equal streams give equal permutations.
    pub fn new(n: u64, mut rng: Rng) -> Self {
        // The smallest even number of bits that holds n - 1, so at most 4 n numbers; at least 1 bit a half.
        let bits = u64::BITS - (n - 1).leading_zeros();
        Permutation { n, half: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.next_u64()) }
    }

    /// Where a number below `n` goes.
    #[inline]
    pub fn apply(&self, index: u64) -> u64 {
        debug_assert!(index < self.n);
        let mut walked = index;
        // The walk follows a cycle that `index` itself is on, so it comes back below n.
        loop {
            walked = self.once(walked);
            if walked < self.n {
                return walked;
            }
        }
    }

    #[inline]
    fn once(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half) - 1;
        let (mut left, mut right) = (value >> self.half, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        left << self.half | right
    }
}

/// The finaliser of SplitMix64.
#[inline]
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_reached_once() {
        let mut lengths = Rng::stream(1, "lengths");
        for seed in 0..200 {
            let n = if seed < 20 { seed + 1 } else { 1 + lengths.below(5_000) };
            let permutation = Permutation::new(n, Rng::stream(seed, "permutation"));
            let mut reached: Vec<u64> = (0..n).map(|number| permutation.apply(number)).collect();
            reached.sort_unstable();
            assert!(reached.into_iter().eq(0..n), "{n} numbers, seed {seed}");
        }
    }
}
