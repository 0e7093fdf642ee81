//! What many numbers are divided by.

/// A divisor known beforehand. Dividing takes ten times as long as shifting, which a power of two allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divisor {
    by: u64,
    /// Of a power of two, which one.
    bits: Option<u32>,
}

impl Divisor {
    /// Divides by `by`.
    ///
    /// # Panics
    /// If that is 0.
    pub fn new(by: u64) -> Self {
        assert!(by > 0, "nothing is divided by 0");
        Divisor { by, bits: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    /// What it divides by.
    #[inline]
    pub fn by(self) -> u64 {
        self.by
    }

    /// Quotient and remainder.
    #[inline]
    pub fn divide(self, number: u64) -> (u64, u64) {
        match self.bits {
            Some(bits) => (number >> bits, number & (self.by - 1)),
            None => (number / self.by, number % self.by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifting_is_dividing() {
        for by in [1, 2, 3, 8, 10, 4096, 12_288, 1 << 63, u64::MAX] {
            for number in [0, 1, 2, 3, 7, 8, 9, 4095, 4096, 4097, 1 << 40, u64::MAX - 1, u64::MAX] {
                assert_eq!(Divisor::new(by).divide(number), (number / by, number % by), "{number} by {by}");
            }
        }
    }
}
