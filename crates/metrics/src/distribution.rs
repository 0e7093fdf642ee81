//! The distribution of a duration: exact moments, percentiles within 0.1%, a drawable CDF.
//!
//! Count, sum, sum of squares, minimum and maximum are exact integers. Percentiles come from a histogram with
//! three significant digits: a percentile is the highest value of the histogram cell that holds the sample of
//! rank ceil(q n), never above the true maximum, so it is exact up to 2047 ns and at most 0.1% too high
//! beyond.
//!
//! A percentile is reported only where at least ten samples lie beyond it: with fewer it would be an
//! anecdote.
//!
//! Not measured: order or time of the samples, confidence intervals, anything between histogram cells.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::moments::Moments;

/// The reported percentiles, in hundredths of a percent.
const LEVELS: [u64; 6] = [5_000, 7_500, 9_500, 9_900, 9_990, 9_999];
/// Hundredths of a percent in the whole.
const WHOLE: u128 = 10_000;
/// Samples that must lie beyond a percentile for it to be reported.
const SAMPLES_BEYOND_MIN: u128 = 10;
/// Steps into which a CDF divides each of its axes; it has at most two points a step and two more.
const CDF_STEPS: u64 = 96;

/// A recorder of durations in nanoseconds (or of any other non-negative integers).
#[derive(Debug, Clone)]
pub struct Distribution {
    histogram: Histogram<u64>,
    moments: Moments,
}

/// A distribution as reported; `null` (`None`) where there are too few samples to say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DistributionSummary {
    /// Samples. Unit: count.
    pub count: u64,
    /// Arithmetic mean, exact; null without samples. Unit: ns.
    pub mean: Option<f64>,
    /// Standard deviation of the sample (divisor n - 1), exact; null under two samples. Unit: ns.
    pub stddev: Option<f64>,
    /// Coefficient of variation, `stddev / mean`; null under two samples or at mean 0. Unit: ratio.
    pub cv: Option<f64>,
    /// Smallest sample, exact; null without samples. Unit: ns.
    pub min: Option<u64>,
    /// Median, within 0.1%; null under 20 samples. Unit: ns.
    pub p50: Option<u64>,
    /// 95th percentile, within 0.1%; null under 200 samples. Unit: ns.
    pub p95: Option<u64>,
    /// 99th percentile, within 0.1%; null under 1,000 samples. Unit: ns.
    pub p99: Option<u64>,
    /// 99.9th percentile, within 0.1%; null under 10,000 samples. Unit: ns.
    pub p999: Option<u64>,
    /// 99.99th percentile, within 0.1%; null under 100,000 samples. Unit: ns.
    pub p9999: Option<u64>,
    /// Largest sample, exact; null without samples. Unit: ns.
    pub max: Option<u64>,
    /// 75th percentile, within 0.1%; null under 40 samples. Unit: ns.
    pub p75: Option<u64>,
}

impl Default for Distribution {
    fn default() -> Self {
        Distribution::new()
    }
}

impl Distribution {
    /// A distribution without samples; it grows with the largest value recorded.
    pub fn new() -> Self {
        let histogram = Histogram::new(3).expect("three significant digits are allowed");
        Distribution { histogram, moments: Moments::default() }
    }

    /// Takes in one sample, in nanoseconds.
    pub fn record(&mut self, value_ns: u64) {
        self.histogram.record(value_ns).expect("a resizing histogram holds every u64");
        self.moments.record(value_ns);
    }

    /// The samples of all these.
    pub(crate) fn merged<'a>(parts: impl IntoIterator<Item = &'a Distribution>) -> Self {
        let mut whole = Distribution::new();
        for part in parts {
            whole.histogram.add(&part.histogram).expect("a resizing histogram holds every u64");
            whole.moments.add(&part.moments);
        }
        whole
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.moments.count()
    }

    /// Exact sum of the samples, in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.moments.sum()
    }

    /// The statistics of the samples so far.
    pub fn summary(&self) -> DistributionSummary {
        let mean = self.moments.mean();
        let stddev = self.moments.stddev_sample();
        let [p50, p75, p95, p99, p999, p9999] = self.percentiles();
        DistributionSummary {
            count: self.count(),
            mean,
            stddev,
            cv: stddev.zip(mean).filter(|(_, mean)| *mean > 0.0).map(|(stddev, mean)| stddev / mean),
            min: self.moments.range().map(|(min, _)| min),
            p50,
            p95,
            p99,
            p999,
            p9999,
            max: self.moments.range().map(|(_, max)| max),
            p75,
        }
    }

    /// The value that this share of the samples does not exceed; `None` without samples.
    pub(crate) fn value_at(&self, share: f64) -> Option<u64> {
        let rank = libm::ceil(share.clamp(0.0, 1.0) * self.count() as f64) as u64;
        self.cumulative().find(|&(_, cumulative)| cumulative >= rank).map(|(value, _)| value)
    }

    /// The cumulative distribution as (value in ns, fraction of samples at or below it), for a logarithmic
    /// axis.
    ///
    /// At most 194 points, rising in both coordinates and ending at (max, 1): a further point wherever the
    /// value moved by 1% of the logarithmic axis or the fraction by 1%. Between points the fraction stays:
    /// draw steps.
    pub fn cdf_points(&self) -> Vec<(u64, f64)> {
        let Some((min, max)) = self.moments.range() else { return Vec::new() };
        let axis_step = (octave_position(max) - octave_position(min)).div_ceil(CDF_STEPS).max(1);
        let mut points = Vec::new();
        let (mut drawn_position, mut drawn_count) = (0, 0);
        for (value, cumulative) in self.cumulative() {
            let position = octave_position(value);
            let wide = points.is_empty() || position - drawn_position >= axis_step;
            let high = (cumulative - drawn_count) * CDF_STEPS >= self.count();
            if wide || high || cumulative == self.count() {
                points.push((value, cumulative as f64 / self.count() as f64));
                (drawn_position, drawn_count) = (position, cumulative);
            }
        }
        points
    }

    /// Each occupied histogram cell as (its highest value, samples up to and including it); the last ends at
    /// the true maximum.
    fn cumulative(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let max = self.moments.range().map_or(0, |(_, max)| max);
        self.histogram.iter_recorded().scan(0, move |cumulative, cell| {
            *cumulative += cell.count_since_last_iteration();
            let is_last = *cumulative == self.count();
            let highest = self.histogram.highest_equivalent(cell.value_iterated_to());
            Some((if is_last { max } else { highest }, *cumulative))
        })
    }

    /// Ranks are integers: a float `0.9999 * n` would move the edge by one sample.
    fn percentiles(&self) -> [Option<u64>; LEVELS.len()] {
        let count = u128::from(self.count());
        let mut cells = self.cumulative().peekable();
        LEVELS.map(|level| {
            let rank = (count * u128::from(level)).div_ceil(WHOLE);
            if count - rank < SAMPLES_BEYOND_MIN {
                return None;
            }
            while cells.next_if(|&(_, cumulative)| u128::from(cumulative) < rank).is_some() {}
            cells.peek().map(|&(value, _)| value)
        })
    }
}

/// Position on a logarithmic axis, in 1024ths of an octave, straight between powers of two.
///
/// Integer, because the platform's logarithm may differ in its last bit from machine to machine.
fn octave_position(value: u64) -> u64 {
    let value = value.max(1);
    let leading_one_gone = (value << value.leading_zeros()) << 1;
    (u64::from(value.ilog2()) << 10) | (leading_one_gone >> 54)
}

#[cfg(test)]
mod tests;
