//! Exact count, sum, sum of squares and range of integers.
//!
//! Floats enter only when a mean or a deviation is asked for, so neither the order of recording nor the size
//! of the values costs precision. Not kept: higher moments.

/// Integer moments of a set of values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Moments {
    count: u64,
    sum: u128,
    sum_squares: u128,
    range: Option<(u64, u64)>,
}

impl Moments {
    /// Takes in one value.
    pub(crate) fn record(&mut self, value: u64) {
        let value_wide = u128::from(value);
        self.count += 1;
        self.sum += value_wide;
        self.sum_squares = self.sum_squares.checked_add(value_wide * value_wide).expect(
            "the sum of squares must stay below 2^128: the values are far beyond hours in nanoseconds",
        );
        self.range = Some(self.range.map_or((value, value), |(min, max)| (min.min(value), max.max(value))));
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
        // n q^2 <= sum of squares and q r <= sum, so no intermediate leaves 128 bits.
        let about_quotient = self.sum_squares - count * quotient * quotient - 2 * quotient * rest;
        (about_quotient - rest) as f64 + (rest * (count - rest)) as f64 / count as f64
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
    fn too_few_values_have_no_statistics() {
        let none = of(&[]);
        assert_eq!((none.mean(), none.stddev_population(), none.range()), (None, None, None));
        let one = of(&[7]);
        assert_eq!((one.mean(), one.stddev_sample(), one.range()), (Some(7.0), None, Some((7, 7))));
    }

    #[test]
    #[should_panic(expected = "below 2^128")]
    fn an_overflow_is_never_silent() {
        of(&[u64::MAX, u64::MAX]);
    }
}
