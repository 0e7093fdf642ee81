//! Write amplification and spare in closed form, where the whole drive is written uniformly.
//!
//! With `a`, flash that is in use over data, a block that is collected in the order of writing has the live share `p = exp(-a (1 - p))`
//! left, and `W = 1 / (1 - p)`. Copying a unit costs more than programming it, because it is read first: a drive writes its media rate over
//! `W + k (W - 1)`.
//!
//! It is where simulations begin to search, and how far a measurement is translated into a range. Leaves out: greedy choice, which
//! does a little better, and free blocks.

/// What copying a unit costs beside programming it, over programming: the middle of what was measured on a drive, 0.39 to 0.52.
pub const COPY_COST: f64 = 0.42;

/// Write amplification where flash over data is `flash`, above 1.
pub fn amplification(flash: f64) -> f64 {
    let mut valid: f64 = 0.5;
    for _ in 0..2_000 {
        valid = libm::exp(-flash * (1.0 - valid));
    }
    1.0 / (1.0 - valid)
}

/// Flash over data where write amplification is `amplification`, above 1.
pub fn flash(amplification: f64) -> f64 {
    let valid = 1.0 - 1.0 / amplification;
    -libm::log(valid) / (1.0 - valid)
}

/// Write amplification where the media rate is so many times the rate of uniform writes.
pub fn of_ratio(ratio: f64) -> f64 {
    (ratio + COPY_COST) / (1.0 + COPY_COST)
}

/// Reserved share of all flash where flash that is in use over data is `flash`, and `free` of all flash is kept free.
pub fn reserved(flash: f64, free: f64) -> f64 {
    1.0 - (1.0 - free) / flash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 20% more flash than data: p = 0.6863, where exp(-1.2 x 0.3137) = 0.6863.
    #[test]
    fn both_ways_meet_at_the_fixed_point() {
        assert!((amplification(1.2) - 1.0 / 0.3137).abs() < 0.003);
        for flash_over_data in [1.05, 1.2, 1.5, 2.5] {
            let back = flash(amplification(flash_over_data));
            assert!((back - flash_over_data).abs() < 1e-6, "{flash_over_data}: {back}");
        }
    }

    /// A fifth of the flash reserved and nothing kept free: 1.25 times as much flash as data.
    #[test]
    fn spare_follows_from_flash_over_data() {
        assert!((reserved(1.25, 0.0) - 0.2).abs() < 1e-12);
        assert!((of_ratio(3.0 + COPY_COST * 2.0) - 3.0).abs() < 1e-12);
    }
}
