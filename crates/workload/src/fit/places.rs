//! Where requests of one operation go, as the parameters of a working set.

use harmonia_trace::PAGE;
use harmonia_types::Bytes;

use super::ruler::{Kind, MeasuredKind};
use super::sizes::rounded;
use crate::WorkingSetPattern;

/// Share of the starts that lie on a unit where all are said to.
const ON_UNIT: f64 = 0.99;
/// The part of the places whose traffic is fitted.
const HOT: f64 = 0.2;
/// Exponents that are looked for.
const REUSE: (f64, f64) = (0.02, 1.0);
/// First touches come so many times as fast as it takes, at most.
const PACE_MAX: f64 = 8.0;

/// The largest unit that nearly all starts are multiples of.
pub(super) fn start_unit(kind: &Kind) -> Bytes {
    let enough = ON_UNIT * kind.requests as f64;
    match (kind.on_pages as f64 >= enough, kind.on_sectors as f64 >= enough) {
        (true, _) => PAGE,
        (_, true) => 512,
        _ => 1,
    }
}

/// The pattern on a footprint that is `squeezed` to so much of the trace's.
pub(super) fn pattern(kind: &Kind, measured: &MeasuredKind, squeezed: f64) -> WorkingSetPattern {
    let footprint = measured.footprint_bytes as f64 * squeezed;
    let firsts = footprint / PAGE as f64 / kind.touches.max(1) as f64;
    let (reuse, pace) = returns(measured.heat.hottest_fifth, firsts);
    WorkingSetPattern {
        // Rounded up: the last page is touched, too.
        first_touch: six_digits_up(pace * footprint / measured.bytes.max(1) as f64),
        sequential: rounded(kind.sequential()),
        reuse,
    }
}

/// The exponent of returns, and how many times as fast as it takes all is touched, so that the hottest fifth of the places
/// has this share of the requests, of which `firsts` are first touches.
///
/// Where all is touched by the end only, and returns go to each touched place alike, early places have more of them than
/// late ones: 52% for the first fifth. If that is too little, returns prefer early places; if it is too much, all is
/// touched earlier, and the returns from then on are even.
fn returns(hottest_fifth: f64, firsts: f64) -> (f64, f64) {
    if firsts > 0.99 {
        return (1.0, 1.0);
    }
    let of_returns = (hottest_fifth - firsts * HOT) / (1.0 - firsts);
    let even = share(1.0);
    if of_returns < even {
        let pace = (even - HOT) / (of_returns - HOT).max(1e-9);
        return (1.0, pace.clamp(1.0, PACE_MAX));
    }
    let (mut low, mut high) = REUSE;
    for _ in 0..50 {
        let middle = f64::sqrt(low * high);
        // The larger the exponent, the later the places that are favoured.
        if share(middle) > of_returns { low = middle } else { high = middle }
    }
    (((low * high).sqrt() * 100.0).round() / 100.0, 1.0)
}

/// The share of returns that go to the fifth touched first, of places touched at an even pace. A place touched at the
/// time `x` has the density `a (x/t)^(a-1) / t` of the returns at a later time `t`, which is summed up over `t` and then
/// over the first fifth.
fn share(exponent: f64) -> f64 {
    match exponent {
        a if (a - 1.0).abs() < 1e-6 => HOT - HOT * libm::log(HOT),
        a => (a * HOT - libm::pow(HOT, a)) / (a - 1.0),
    }
}

fn six_digits_up(value: f64) -> f64 {
    let rounded: f64 = format!("{:.5e}", value * (1.0 + 5e-6)).parse().unwrap_or(value);
    rounded.max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_give_the_share_they_were_looked_for_by() {
        assert!((share(1.0) - 0.5219).abs() < 1e-4);
        assert!((share(1.0) - share(1.001)).abs() < 1e-3, "continuous at 1");
        for expected in [0.55, 0.8, 0.95] {
            // Half of the requests are first touches, which are even.
            let (reuse, pace) = returns(0.5 * HOT + 0.5 * expected, 0.5);
            assert!((share(reuse) - expected).abs() < 0.02 && pace == 1.0, "{reuse}, not {expected}");
        }
        // Half of the time even, half of it with 52%.
        let (reuse, pace) = returns((share(1.0) + HOT) / 2.0, 0.0);
        assert!(reuse == 1.0 && (pace - 2.0).abs() < 1e-9, "{pace}");
        assert_eq!(returns(0.1, 0.0), (1.0, PACE_MAX));
        assert_eq!(returns(0.9, 1.0), (1.0, 1.0), "nothing returns");
    }
}
