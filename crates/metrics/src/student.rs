//! Quantiles of Student's t distribution, for any confidence and any number of degrees of freedom.
//!
//! The probability beyond t is the regularised incomplete beta function at f / (f + t^2), here by its continued fraction
//! (Lentz's method; Press et al., Numerical Recipes, 6.4). It is inverted by bisection to the last bits of a double. All
//! functions come from `libm`: the platform's own differ in their last bit, and so would reports of the same seed.

/// The t for which a variable with `freedom` degrees of freedom lies beyond -t or t with probability `error`.
///
/// # Panics
/// If `freedom` is not positive or `error` is not between 0 and 1.
pub fn student_t(freedom: f64, error: f64) -> f64 {
    assert!(freedom > 0.0, "a t quantile needs degrees of freedom");
    assert!(0.0 < error && error < 1.0, "the probability of an error lies between 0 and 1");
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high, freedom) > error && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beyond(middle, freedom) > error { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Probability of lying beyond -t or t.
fn beyond(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), 0.5 * freedom, 0.5)
}

/// The regularised incomplete beta function.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta);
    // The fraction converges fast on one side of the mean; the other is its mirror image.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(x, a, b) / a
    } else {
        1.0 - front * continued_fraction(1.0 - x, b, a) / b
    }
}

fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    const STEPS: u32 = 300;
    const TINY: f64 = 1e-300;
    let apart = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / apart(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..=STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / apart(1.0 + even * d);
        c = apart(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / apart(1.0 + odd * d);
        c = apart(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided quantiles as printed in tables (Abramowitz and Stegun, 26.10; NIST handbook, 1.3.6.7.2).
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (1.0, 0.05, 12.706),
            (2.0, 0.05, 4.303),
            (4.0, 0.05, 2.776),
            (9.0, 0.05, 2.262),
            (30.0, 0.05, 2.042),
            (120.0, 0.05, 1.980),
            (1e6, 0.05, 1.960),
            (1.0, 0.001, 636.619),
            (4.0, 0.01, 4.604),
            (9.0, 0.002, 4.297),
            (19.0, 0.001, 3.883),
            (30.0, 0.5, 0.683),
        ];
        for (freedom, error, expected) in table {
            let quantile = student_t(freedom, error);
            assert!((quantile - expected).abs() < 6e-4, "{freedom} {error}: {quantile}, not {expected}");
        }
    }

    /// Two degrees of freedom have a closed form: P(|T| > t) = 1 - t / sqrt(2 + t^2).
    #[test]
    fn two_degrees_of_freedom_have_a_closed_form() {
        for error in [0.5, 0.05, 1e-4, 1e-8] {
            let rest: f64 = 1.0 - error;
            let expected = rest * (2.0 / (1.0 - rest * rest)).sqrt();
            assert!((student_t(2.0, error) / expected - 1.0).abs() < 1e-7, "{error}");
        }
    }

    #[test]
    fn degrees_of_freedom_need_not_be_whole() {
        let between = student_t(4.5, 0.05);
        assert!(student_t(5.0, 0.05) < between && between < student_t(4.0, 0.05));
    }
}
