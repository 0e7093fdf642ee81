//! Random streams: PCG-64 seeded by (root seed, component name), and the samplers the simulator needs.
//!
//! The samplers use `libm`, never the platform's mathematics: the same seed gives the same bits on every machine.
//! Golden bits are asserted below.

use rand_core::Rng as _;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// One random stream. Stored and read back it goes on where it stood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rng {
    pcg: Pcg64Mcg,
}

impl Rng {
    /// The stream of the component called `name` under the root `seed`. Streams of different names are independent.
    pub fn stream(seed: u64, name: &str) -> Self {
        Rng::at(seed, name, &[])
    }

    /// The stream of one place of such a component, such as a block: numbers from it depend on nothing but seed, name and place.
    pub fn at(seed: u64, name: &str, place: &[u64]) -> Self {
        Places::of(seed, name, place).hashed.stream()
    }

    /// No normal draw lies so many standard deviations from its mean: the least uniform number above 0, 2^-53, bounds it at 8.572.
    pub const FARTHEST: f64 = 8.58;

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.pcg.next_u64()
    }

    /// Uniform integer in `0..bound`, without bias (Lemire's multiplication with rejection).
    ///
    /// # Panics
    /// If `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a random number below 0 was asked for");
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Exponential with the given mean, by inversion.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// Normal with the given mean and standard deviation (Box and Muller; one of the pair is thrown away so that a
    /// stream has no hidden state).
    pub fn normal(&mut self, mean: f64, stddev: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        mean + stddev * radius * libm::cos(2.0 * std::f64::consts::PI * self.unit())
    }
}

/// Places of a component that differ in their last number, such as the blocks of a drive. What they have in common is hashed once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    hashed: Hashed,
}

impl Places {
    /// Those that begin so.
    pub fn of(seed: u64, name: &str, first: &[u64]) -> Self {
        let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
        let hashed = bytes.fold(Hashed::NOTHING, Hashed::byte);
        Places { hashed: first.iter().fold(hashed, |hashed, &number| hashed.number(number)) }
    }

    /// [`Rng::at`] of the place that ends with this number.
    #[inline]
    pub fn at(self, last: u64) -> Rng {
        self.hashed.number(last).stream()
    }
}

/// FNV-1a, 128 bit, over seed, name and place: any change of one of them gives an unrelated state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hashed(u128);

impl Hashed {
    const NOTHING: Hashed = Hashed(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;

    /// By count: what as many bytes of 0 multiply the hash by.
    const ZEROS: [u128; 9] = {
        let (mut powers, mut count) = ([1; 9], 1);
        while count < 9 {
            powers[count] = Self::PRIME.wrapping_mul(powers[count - 1]);
            count += 1;
        }
        powers
    };

    #[inline]
    fn byte(self, byte: u8) -> Hashed {
        Hashed((self.0 ^ u128::from(byte)).wrapping_mul(Self::PRIME))
    }

    /// Its eight bytes, the lowest first. Most numbers are small, and their upper bytes are 0.
    #[inline]
    fn number(self, number: u64) -> Hashed {
        let (mut hashed, mut rest, mut zeros) = (self, number, 8);
        while rest != 0 {
            hashed = hashed.byte(rest as u8);
            (rest, zeros) = (rest >> 8, zeros - 1);
        }
        Hashed(hashed.0.wrapping_mul(Self::ZEROS[zeros]))
    }

    /// The stream that has this state.
    #[inline]
    fn stream(self) -> Rng {
        let mut rng = Rng { pcg: Pcg64Mcg::new(self.0) };
        // The multiplicative generator needs a few steps to spread a close seed over all bits.
        for _ in 0..4 {
            rng.next_u64();
        }
        rng
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn golden_bits() {
        let mut rng = Rng::stream(1, "golden");
        let bits: Vec<u64> = vec![
            rng.next_u64(),
            rng.below(1_000_000),
            rng.unit().to_bits(),
            rng.exponential(1.0).to_bits(),
            rng.normal(0.0, 1.0).to_bits(),
        ];
        assert_eq!(bits, GOLDEN, "{bits:#x?}");
    }
    const GOLDEN: [u64; 5] =
        [0xbc9d8eb6f6b7f4fd, 0x75998, 0x3fd29f822ba5e134, 0x3ff3f1817373cc79, 0x3fd08920a0dfb692];

    #[test]
    fn streams_differ_by_seed_and_name() {
        let first = |seed, name| Rng::stream(seed, name).next_u64();
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_eq!(first(7, "device/3/age"), first(7, "device/3/age"));
    }

    #[test]
    fn no_normal_draw_lies_farther_than_is_said() {
        let greatest_unit = (u64::MAX >> 11) as f64 * (1.0 / (1u64 << 53) as f64);
        let farthest = libm::sqrt(-2.0 * libm::log(1.0 - greatest_unit));
        assert!(farthest < Rng::FARTHEST && farthest > Rng::FARTHEST - 0.01, "{farthest}");
    }

    /// Byte after byte, as FNV-1a is defined, and with the hash of what places have in common.
    #[test]
    fn places_have_the_streams_of_all_their_bytes() {
        let plain = |seed: u64, name: &str, place: &[u64]| {
            let place = place.iter().flat_map(|number| number.to_le_bytes());
            let bytes = seed.to_le_bytes().into_iter().chain(name.bytes()).chain(place);
            let state = bytes.fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |state, byte| {
                (state ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B)
            });
            let mut pcg = Pcg64Mcg::from_seed(state.to_le_bytes());
            (0..4).for_each(|_| {
                pcg.next_u64();
            });
            Rng { pcg }
        };
        let mut numbers = vec![0, 1, 255, 256, 65_535, 65_536, 0x0100_0000_0000_0000, u64::MAX];
        let mut rng = Rng::stream(5, "numbers");
        numbers.extend((0..64).map(|bits| rng.next_u64() >> bits));
        for &seed in &numbers {
            for &last in &numbers {
                let (first, all) = ([seed ^ last, 7], [seed ^ last, 7, last]);
                assert_eq!(
                    Places::of(seed, "a/b", &first).at(last),
                    plain(seed, "a/b", &all),
                    "{seed} {last}"
                );
                assert_eq!(Rng::at(seed, "a/b", &all), plain(seed, "a/b", &all), "{seed} {last}");
            }
        }
    }

    /// Means and variances of 1e6 samples within five standard errors.
    #[test]
    fn samplers_have_their_moments() {
        let mut rng = Rng::stream(3, "moments");
        let n = 1_000_000;
        let moments = |samples: &mut dyn FnMut() -> f64| {
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..n {
                let x = samples();
                sum += x;
                squares += x * x;
            }
            let mean = sum / f64::from(n);
            (mean, squares / f64::from(n) - mean * mean)
        };
        let (mean, variance) = moments(&mut || rng.exponential(2.0));
        assert!((mean - 2.0).abs() < 0.01 && (variance - 4.0).abs() < 0.06, "{mean} {variance}");
        let (mean, variance) = moments(&mut || rng.normal(5.0, 3.0));
        assert!((mean - 5.0).abs() < 0.015 && (variance - 9.0).abs() < 0.07, "{mean} {variance}");
        let (mean, variance) = moments(&mut || rng.below(10) as f64);
        assert!((mean - 4.5).abs() < 0.015 && (variance - 8.25).abs() < 0.05, "{mean} {variance}");
    }
}
