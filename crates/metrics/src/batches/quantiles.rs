//! How a percentile varies from batch to batch.
//!
//! A batch is too short to have a 99th percentile of its own. What it has is the share of its requests that took longer
//! than the percentile of all. Where that share is one point too high, the percentile of requests like these would lie
//! higher by the slope of the distribution there. So each batch gets a *pseudo-value*, the percentile plus slope times
//! excess share; their mean is the percentile, and they spread as it does.
//!
//! The slope is that of the chord over the interval of the share, which takes in how the distribution bends.
//! Source: Heidelberger and Lewis, Quantile estimation in dependent sequences, Operations Research 32 (1984); the pseudo-value
//! is Bahadur's representation, to first order.

use super::classes::class_of;
use super::requests::Row;
use crate::distribution::Distribution;
use crate::interval::{ERROR, Interval, Kind};

/// Fewer batches than this are no sample of anything.
pub(crate) const BATCHES_MIN: usize = 10;
/// Where the tail's share may be this much of itself too high or too low, the percentile could be anywhere in the tail. On
/// an M/M/1 queue intervals beyond that hold the truth far too seldom.
const UNCERTAINTY_MAX: f64 = 0.9;

/// The pseudo-values of the percentile `value_ns`, which a share `tail` of all requests exceeds; empty where there are too
/// few batches, or too few requests beyond the percentile, to say how it varies. Unit: ns.
pub(super) fn pseudo_values(rows: &[&Row], all: &Distribution, value_ns: u64, tail: f64) -> Vec<f64> {
    let requests = rows.iter().map(|row| row.requests()).sum::<u64>();
    if rows.len() < BATCHES_MIN || requests == 0 {
        return Vec::new();
    }
    let class = class_of(value_ns);
    let (above, within) =
        rows.iter().map(|row| row.beyond(class)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    // Of the percentile's own class, such a part counts as beyond it that all batches together have no excess.
    let wanted = tail * requests as f64 - above as f64;
    let part = if within == 0 { 0.0 } else { (wanted / within as f64).clamp(0.0, 1.0) };
    let mean_requests = requests as f64 / rows.len() as f64;
    let excess: Vec<f64> = rows
        .iter()
        .map(|row| {
            let (above, within) = row.beyond(class);
            (above as f64 + part * within as f64 - tail * row.requests() as f64) / mean_requests
        })
        .collect();
    let Some(uncertain) = Interval::with(&excess, Kind::Successive, ERROR).and_then(|of| of.half_width)
    else {
        return Vec::new();
    };
    if uncertain >= UNCERTAINTY_MAX * tail {
        return Vec::new();
    }
    let slope = slope(all, tail, uncertain);
    excess.iter().map(|excess| libm::round(value_ns as f64 + slope * excess)).collect()
}

/// How much a percentile rises with the share below it, over a stretch to both sides. Unit: ns.
fn slope(all: &Distribution, tail: f64, uncertain: f64) -> f64 {
    // At least a few samples to either side.
    let reach = uncertain.max(4.0 / all.count() as f64);
    let ends = all.value_at(1.0 - tail - reach).zip(all.value_at(1.0 - tail + reach));
    ends.map_or(0.0, |(below, above)| (above - below) as f64 / (2.0 * reach))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_batches_or_none_with_requests_say_nothing() {
        let (row, mut all) = (Row::of(&[1_000; 16]), Distribution::new());
        (0..160).for_each(|_| all.record(1_000));
        let values = |rows: usize| pseudo_values(&vec![&row; rows], &all, 1_000, 0.05).len();
        assert_eq!([0, 1, BATCHES_MIN - 1, BATCHES_MIN, 40].map(values), [0, 0, 0, BATCHES_MIN, 40]);
        let empty = Row::default();
        assert!(pseudo_values(&[&empty; 20], &all, 1_000, 0.05).is_empty());
    }
}
