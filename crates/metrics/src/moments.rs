//! Exact count, sum, sum of squares and range of integers.
//!
//! Floats enter only when a mean or a deviation is asked for, so neither the order of recording nor the size
//! of the values costs precision. No number of values of any size is too many: fewer than 2^64 squares below 2^128 sum
//! to less than 2^192, and so many bits are kept. Not kept: higher moments.

/// Integer moments of a set of values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Moments {
    count: u64,
    sum: u128,
    sum_squares: Wide,
    range: Option<(u64, u64)>,
}

impl Moments {
    /// Takes in one value.
    pub(crate) fn record(&mut self, value: u64) {
        let value_wide = u128::from(value);
        self.count += 1;
        self.sum += value_wide;
        self.sum_squares.add(value_wide * value_wide);
        self.range = Some(self.range.map_or((value, value), |(min, max)| (min.min(value), max.max(value))));
    }

    /// Takes in all the values of another set.
    pub(crate) fn add(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_squares.add_wide(other.sum_squares);
        self.range = match (self.range, other.range) {
            (Some((min, max)), Some((least, most))) => Some((min.min(least), max.max(most))),
            (one, other) => one.or(other),
        };
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest and largest value; `None` without values.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        self.range
    }

    /// Arithmetic mean; `None` without values.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation of a sample (divisor n - 1); `None` under two values.
    pub(crate) fn stddev_sample(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squared_deviations() / (self.count - 1) as f64).sqrt())
    }

    /// Standard deviation of a whole population (divisor n); `None` without values.
    pub(crate) fn stddev_population(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.squared_deviations() / self.count as f64).sqrt())
    }

    /// Sum of (x - mean)^2. With sum = q n + r the integers carry all of it but one fraction:
    /// (sum of (x - q)^2 - r) + r (n - r) / n, where neither term is negative and nothing cancels.
    fn squared_deviations(&self) -> f64 {
        let count = u128::from(self.count);
        let (quotient, rest) = (self.sum / count, self.sum % count);
        let mut about_quotient = self.sum_squares;
        // As n q^2 and 2 q r, neither of which fits into 128 bits by itself.
        about_quotient.subtract_product(quotient * quotient, self.count);
        about_quotient.subtract_product(quotient * rest, 2);
        about_quotient.subtract_product(rest, 1);
        about_quotient.to_f64() + (rest * (count - rest)) as f64 / count as f64
    }
}

/// An integer of 192 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Wide {
    high: u64,
    low: u128,
}

impl Wide {
    fn add(&mut self, value: u128) {
        let (low, carries) = self.low.overflowing_add(value);
        self.low = low;
        if carries {
            self.high += 1;
        }
    }

    fn add_wide(&mut self, other: Wide) {
        self.add(other.low);
        self.high += other.high;
    }

    /// Takes off `a b`, which is not more than there is.
    fn subtract_product(&mut self, a: u128, b: u64) {
        const LOW: u128 = (1 << 64) - 1;
        // In halves of 64 bits, like long multiplication.
        let (ones, twos) = ((a & LOW) * u128::from(b), (a >> 64) * u128::from(b));
        let (low, carries) = ones.overflowing_add(twos << 64);
        let high = (twos >> 64) as u64 + u64::from(carries);
        let (low, borrows) = self.low.overflowing_sub(low);
        self.low = low;
        self.high -= high + u64::from(borrows);
    }

    /// The nearest float.
    fn to_f64(self) -> f64 {
        if self.high == 0 {
            return self.low as f64;
        }
        // The upper 128 bits decide, but for whether anything lies below them.
        let below = 64 - self.high.leading_zeros();
        let upper = u128::from(self.high) << (128 - below) | self.low >> below;
        let is_more = self.low << (128 - below) != 0;
        (upper | u128::from(is_more)) as f64 * (1u128 << below) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&value| moments.record(value));
        moments
    }

    #[test]
    fn divisors_are_n_minus_1_for_a_sample_and_n_for_a_population() {
        // Mean 5, squared deviations 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32.
        let moments = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(moments.mean(), Some(5.0));
        assert_eq!(moments.stddev_population(), Some(2.0));
        assert_eq!(moments.stddev_sample(), Some((32.0f64 / 7.0).sqrt()));
    }

    #[test]
    fn a_mean_between_integers_is_not_rounded() {
        // 1, 2, 2: mean 5/3, squared deviations 4/9 + 1/9 + 1/9 = 2/3.
        assert!((of(&[1, 2, 2]).squared_deviations() - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn a_small_spread_on_large_values_survives() {
        // One hour and one hour + 2 ns: in floats the squares (1.3e25) would swallow the difference.
        let hour = 3_600_000_000_000;
        assert_eq!(of(&[hour, hour + 2]).stddev_population(), Some(1.0));
    }

    #[test]
    fn sets_added_up_are_the_set_of_all() {
        let all = [u64::MAX, 0, 7, 7, u64::MAX - 3, 1 << 40];
        for split in 0..=all.len() {
            let (mut sum, other) = (of(&all[..split]), of(&all[split..]));
            sum.add(&other);
            assert_eq!(sum, of(&all), "{split}");
        }
    }

    #[test]
    fn too_few_values_have_no_statistics() {
        let none = of(&[]);
        assert_eq!((none.mean(), none.stddev_population(), none.range()), (None, None, None));
        let one = of(&[7]);
        assert_eq!((one.mean(), one.stddev_sample(), one.range()), (Some(7.0), None, Some((7, 7))));
    }

    #[test]
    fn squares_beyond_128_bits_are_exact() {
        // 2^64 - 1 and 2^64 - 3: mean 2^64 - 2, and every deviation is 1.
        assert_eq!(of(&[u64::MAX, u64::MAX - 2]).stddev_population(), Some(1.0));
        // Half of them 0, half 2^63: mean and deviation 2^62.
        let moments = of(&[0, 1 << 63].repeat(500));
        assert_eq!(moments.mean(), Some(2f64.powi(62)));
        assert_eq!(moments.stddev_population(), Some(2f64.powi(62)));
    }

    #[test]
    fn a_shift_leaves_the_spread_as_it_is() {
        let spread = [0, 1, 5, 5, 9, 100, 101, 5_000];
        let near = of(&spread).stddev_sample();
        for shift in [0, 1 << 40, 1 << 62, 1 << 63, u64::MAX - 5_000] {
            assert_eq!(of(&spread.map(|value| value + shift)).stddev_sample(), near, "shifted by {shift}");
        }
    }

    #[test]
    fn wide_integers_carry_borrow_and_round_to_the_nearest_float() {
        let mut wide = Wide::default();
        (0..5).for_each(|_| wide.add(u128::MAX));
        assert_eq!(wide, Wide { high: 4, low: u128::MAX - 4 });
        wide.subtract_product(u128::MAX, 4);
        assert_eq!(wide, Wide { high: 0, low: u128::MAX });
        // The halves of a product carry: 3 (2^128 / 3 + 2^64 - 1) = 2^128 + 2^65 - 3.
        let mut carried = Wide { high: 1, low: (2 << 64) - 3 };
        carried.subtract_product(0x5555_5555_5555_5555 << 64 | u128::from(u64::MAX), 3);
        assert_eq!(carried, Wide::default());
        let float = |high, low| Wide { high, low }.to_f64();
        assert_eq!(float(0, 3), 3.0);
        assert_eq!(float(1, 0), 2f64.powi(128));
        assert_eq!(float(u64::MAX, u128::MAX), 2f64.powi(192));
        // Half a step above 2^128 goes to the even one, the least bit more to the next.
        assert_eq!(float(1, 1 << 75), 2f64.powi(128));
        assert_eq!(float(1, (1 << 75) + 1), 2f64.powi(128) + 2f64.powi(76));
    }
}
