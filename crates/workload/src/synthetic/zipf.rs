//! Zipf-distributed pages, and where the hot ones lie.
//!
//! The page of rank `k` among `n` is asked for with probability `k^-theta / (1^-theta + .. + n^-theta)`. The sampler is
//! rejection-inversion: it inverts the integral of the continuous `x^-theta` and rejects the little by which that differs,
//! so it needs no table however many pages there are, and about 1.1 uniform numbers a sample.
//!
//! ```text
//!   rank 1, 2, 3, ..  ──(a permutation of the pages, drawn from the seed)──>  page
//! ```
//!
//! Ranks are scattered over the space by a keyed permutation, so hot pages lie anywhere, and stripe units, members and
//! dies share them as chance has it.
//!
//! Source: W. Hoermann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions",
//! ACM TOMACS 6 (3), 1996. The permutation is [`Permutation`].
//!
//! Leaves out: pages that cool down or heat up, and correlation between neighbours.

use harmonia_engine::{Permutation, Rng};

/// Draws pages.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    ranks: Ranks,
    scatter: Permutation,
}

impl Zipf {
    /// Over pages `0..pages`, at least one. Equal `keys` scatter alike.
    pub(super) fn new(theta: f64, pages: u64, keys: Rng) -> Result<Self, String> {
        if theta.is_finite() && theta > 0.0 {
            Ok(Zipf { ranks: Ranks::new(theta, pages), scatter: Permutation::new(pages, keys) })
        } else {
            Err(format!(
                "address.theta = {theta}: it is the exponent of a zipf law and must be greater than 0"
            ))
        }
    }

    /// The next page.
    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        self.scatter.apply(self.ranks.draw(rng) - 1)
    }
}

/// Ranks `1..=n`, 1 the most frequent.
#[derive(Debug, Clone)]
struct Ranks {
    theta: f64,
    n: u64,
    /// The integral from 1 to 1.5, less the weight of rank 1: where the inversion begins.
    lowest: f64,
    /// The integral up to `n + 1/2`: where it ends.
    highest: f64,
    /// So far to the right of `x` a rank is accepted unseen.
    squeeze: f64,
}

impl Ranks {
    fn new(theta: f64, n: u64) -> Self {
        let lowest = integral(theta, 1.5) - 1.0;
        let highest = integral(theta, n as f64 + 0.5);
        let squeeze = 2.0 - inverse(theta, integral(theta, 2.5) - weight(theta, 2.0));
        Ranks { theta, n, lowest, highest, squeeze }
    }

    fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let area = self.highest + rng.unit() * (self.lowest - self.highest);
            let x = inverse(self.theta, area);
            // Rounding may step over either end.
            let rank = ((x + 0.5) as u64).clamp(1, self.n);
            let nearest = rank as f64;
            if nearest - x <= self.squeeze
                || area >= integral(self.theta, nearest + 0.5) - weight(self.theta, nearest)
            {
                return rank;
            }
        }
    }
}

/// `x^-theta`.
fn weight(theta: f64, x: f64) -> f64 {
    libm::exp(-theta * libm::log(x))
}

/// The integral of `x^-theta` from 1 to `x`; continuous in theta at 1, where it is `ln x`.
fn integral(theta: f64, x: f64) -> f64 {
    let log = libm::log(x);
    let power = (1.0 - theta) * log;
    // expm1(t) / t, which is 1 at 0.
    let ratio = if power.abs() > 1e-8 { libm::expm1(power) / power } else { 1.0 + power / 2.0 };
    ratio * log
}

/// The `x` up to which [`integral`] is `area`.
fn inverse(theta: f64, area: f64) -> f64 {
    // Rounding must not step below -1, where the logarithm ends.
    let power = (area * (1.0 - theta)).max(-1.0);
    let ratio = if power.abs() > 1e-8 { libm::log1p(power) / power } else { 1.0 - power / 2.0 };
    libm::exp(ratio * area)
}

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;
    use proptest::prelude::*;

    use super::*;

    /// Every rank's share within five standard errors of the closed form, for exponents around and at 1.
    #[test]
    fn ranks_have_the_shares_of_the_law() {
        const N: u64 = 30;
        let samples = 400_000;
        for theta in [0.2, 0.5, 0.99, 1.0, 1.2, 3.0] {
            let ranks = Ranks::new(theta, N);
            let mut rng = Rng::stream(5, "zipf");
            let mut counts = [0u32; N as usize];
            for _ in 0..samples {
                counts[ranks.draw(&mut rng) as usize - 1] += 1;
            }
            let sum: f64 = (1..=N).map(|rank| weight(theta, rank as f64)).sum();
            for (rank, &count) in (1..=N).zip(&counts) {
                let share = weight(theta, rank as f64) / sum;
                let measured = f64::from(count) / f64::from(samples);
                let error = (share * (1.0 - share) / f64::from(samples)).sqrt();
                assert!(
                    (measured - share).abs() < 5.0 * error.max(1.0 / f64::from(samples)),
                    "theta {theta}, rank {rank}: {measured}, not {share}"
                );
            }
        }
    }

    /// With 2^31 pages at theta = 1 the first thousand ranks have H(1000) / H(2^31) of the requests.
    #[test]
    fn a_large_space_needs_no_table() {
        let harmonic = |n: f64| libm::log(n) + 0.577_215_664_901_532_9 + 0.5 / n;
        let n = 1u64 << 31;
        let ranks = Ranks::new(1.0, n);
        let mut rng = Rng::stream(6, "zipf");
        let samples = 200_000;
        let mut head = 0;
        for _ in 0..samples {
            let rank = ranks.draw(&mut rng);
            assert!((1..=n).contains(&rank));
            head += u32::from(rank <= 1000);
        }
        let share = harmonic(1000.0) / harmonic(n as f64);
        let error = (share * (1.0 - share) / f64::from(samples)).sqrt();
        let measured = f64::from(head) / f64::from(samples);
        assert!((measured - share).abs() < 5.0 * error, "{measured}, not {share}");
    }

    /// Means of place and of distance to the next rank's place, within five standard errors of independent places.
    #[test]
    fn hot_pages_lie_apart_and_elsewhere_for_another_seed() {
        let n = 1_000_003;
        let places = |seed| {
            let scatter = Permutation::new(n, Rng::stream(seed, "scatter"));
            (0..1000).map(|rank| scatter.apply(rank) as f64 / n as f64).collect::<Vec<f64>>()
        };
        let hot = places(1);
        let mean = hot.iter().sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 5.0 * (1.0f64 / 12.0 / 1000.0).sqrt(), "{mean}");
        let apart = hot.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>() / 999.0;
        assert!((apart - 1.0 / 3.0).abs() < 5.0 * (1.0f64 / 18.0 / 999.0).sqrt(), "{apart}");
        assert_ne!(hot, places(2));
    }

    proptest! {
        #[test]
        fn any_exponent_and_size_gives_ranks_in_range(theta in 1e-6f64..10.0, n in 1u64..1 << 40, seed in any::<u64>()) {
            let ranks = Ranks::new(theta, n);
            let mut rng = Rng::stream(seed, "zipf");
            for _ in 0..100 {
                prop_assert!((1..=n).contains(&ranks.draw(&mut rng)));
            }
        }
    }
}
