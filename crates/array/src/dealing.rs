//! Overwrites dealt to members, and to their units, as if each had been drawn by itself.

use harmonia_engine::Rng;

/// Deals `n` overwrites: to boxes that are equally likely, or by their weights.
pub(crate) fn dealt(rng: &mut Rng, n: u64, weights: &[u64], by_weight: bool) -> Vec<u64> {
    let mut shares = vec![0; weights.len()];
    if by_weight {
        weighted(rng, n, weights, &mut shares);
    } else {
        multinomial(rng, n, &mut shares);
    }
    shares
}

/// Deals `n` balls into `shares.len()` equally likely boxes, exactly: halves by counting random bits.
fn multinomial(rng: &mut Rng, n: u64, shares: &mut [u64]) {
    if shares.len() < 2 {
        return shares.fill(n);
    }
    let (left, right) = shares.split_at_mut(shares.len() / 2);
    let to_left = binomial(rng, n, left.len() as u64, (left.len() + right.len()) as u64);
    multinomial(rng, to_left, left);
    multinomial(rng, n - to_left, right);
}

/// Deals `n` balls into boxes of such weights. One without weight gets none.
fn weighted(rng: &mut Rng, n: u64, weights: &[u64], shares: &mut [u64]) {
    if shares.len() < 2 {
        return shares.fill(n);
    }
    let middle = shares.len() / 2;
    let (left, right) = shares.split_at_mut(middle);
    let (to_left, whole) = (weights[..middle].iter().sum(), weights.iter().sum());
    let dealt = if whole == 0 { 0 } else { binomial(rng, n, to_left, whole) };
    weighted(rng, dealt, &weights[..middle], left);
    weighted(rng, n - dealt, &weights[middle..], right);
}

/// Successes among `n` trials of probability `part / whole`.
fn binomial(rng: &mut Rng, n: u64, part: u64, whole: u64) -> u64 {
    if 2 * part == whole {
        let ones = |rng: &mut Rng, bits: u64| u64::from((rng.next_u64() >> (64 - bits)).count_ones());
        let words: u64 = (0..n / 64).map(|_| ones(rng, 64)).sum();
        return words + if n.is_multiple_of(64) { 0 } else { ones(rng, n % 64) };
    }
    (0..n).filter(|_| rng.below(whole) < part).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums are exact, and each share lies within five standard deviations of its mean.
    #[test]
    fn shares_are_multinomial() {
        for boxes in [1usize, 2, 3, 8, 13] {
            let mut shares = vec![0; boxes];
            let n = 1_000_003;
            multinomial(&mut Rng::stream(5, "shares"), n, &mut shares);
            assert_eq!(shares.iter().sum::<u64>(), n);
            let mean = n as f64 / boxes as f64;
            let spread = 5.0 * (mean * (1.0 - 1.0 / boxes as f64)).sqrt();
            assert!(shares.iter().all(|&share| (share as f64 - mean).abs() <= spread), "{shares:?}");
        }
    }

    /// Boxes get balls in proportion to their weights, and those without weight none.
    #[test]
    fn weights_are_kept_to() {
        let (n, weights) = (1_000_003, [5, 0, 1, 250, 0]);
        let shares = dealt(&mut Rng::stream(5, "weights"), n, &weights, true);
        assert_eq!(shares.iter().sum::<u64>(), n);
        for (share, weight) in shares.iter().zip(weights) {
            let part = weight as f64 / 256.0;
            let spread = 5.0 * (n as f64 * part * (1.0 - part)).sqrt();
            assert!((*share as f64 - n as f64 * part).abs() <= spread, "{shares:?}");
        }
    }
}
