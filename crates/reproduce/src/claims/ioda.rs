//! What IODA (SOSP 2021) reports of reads on RAID-5 arrays whose members say when they collect.
//!
//! The figures are percentiles that were read off the CDF files of the paper's artifact, which has six modes under each
//! load. Its loads are re-rated traces that it does not carry, and its times hold what host and emulator add. So only
//! ratios of one mode to another, and their order, are compared, and only for `dtrs`, of which a sample could be had.
//!
//! `iod3` is windows alone, as the artifact's scripts describe it. Its kernel does more under that name: it rebuilds what the
//! host reads and lets the pre-reads of writes wait. Its scripts also switch on something in the emulator that the
//! published emulator does not know. So the artifact does not show what slows the median of `iod3`.
//!
//! What is accepted:
//!
//! * an order is settled by the seeds, as everywhere;
//! * a ratio may have half to one and a half of the published effect, on its logarithm: 4.98 may be 2.2 to 11.1, and 1.18 may be 1.09 to
//!   1.28. Host and emulator add about 100 us of 260 to all modes alike, and waits behind other requests depend on bursts that
//!   a stand-in has on average only;
//! * a ratio within 5% of 1 claims no difference, and 5% either way are accepted.
//!
//! The first tolerances, set before any run, were factors: 1.5 at p95 and 2 at p99.9. At p95 they accepted no effect at all for four of
//! the five modes, so that nothing could miss. They were replaced for that reason, with the results known.
//!
//! Leaves out: p99.99, beyond which the artifact has too few reads of some loads, and the four loads of the artifact that
//! the table does not list.

use crate::measure::Quantity::{ReadP50, ReadP75, ReadP95, ReadP99, ReadP999};
use crate::measure::{Measure, Quantity};

/// Modes, as the artifact names them: no coordination, fast failure, that with the time left, windows alone, fast
/// failure in windows, and collection that takes no time.
pub(crate) const MODES: [&str; 6] = ["base", "iod1", "iod2", "iod3", "ioda", "ideal"];
/// Those that claims order at p99, the slowest first: windows alone have no fixed place there.
pub(crate) const ORDER: [&str; 5] = ["base", "iod1", "iod2", "ioda", "ideal"];

/// Percentiles of reads under one load and mode. Unit: us.
struct Published {
    load: &'static str,
    mode: &'static str,
    p50: f64,
    p75: f64,
    p95: f64,
    p99: f64,
    p999: f64,
}

const fn published(
    load: &'static str,
    mode: &'static str,
    [p50, p75, p95, p99, p999]: [f64; 5],
) -> Published {
    Published { load, mode, p50, p75, p95, p99, p999 }
}

/// The artifact's percentiles: p50, p75, p95, p99, p99.9.
#[rustfmt::skip]
const TABLE: [Published; 30] = [
    published("dtrs", "base", [149.0, 200.0, 263.0, 4757.0, 33072.0]),
    published("dtrs", "iod1", [140.0, 191.0, 261.0, 1385.0, 6647.0]),
    published("dtrs", "iod2", [136.0, 178.0, 242.0, 1128.0, 6696.0]),
    published("dtrs", "iod3", [244.0, 332.0, 502.0, 1402.0, 6360.0]),
    published("dtrs", "ioda", [152.0, 207.0, 352.0, 982.0, 5879.0]),
    published("dtrs", "ideal", [137.0, 157.0, 222.0, 870.0, 5772.0]),
    published("azurestorage", "base", [94.0, 144.0, 28954.0, 43321.0, 46928.0]),
    published("azurestorage", "iod1", [101.0, 142.0, 503.0, 15734.0, 44205.0]),
    published("azurestorage", "iod2", [99.0, 134.0, 446.0, 7785.0, 35960.0]),
    published("azurestorage", "iod3", [166.0, 253.0, 812.0, 3802.0, 18700.0]),
    published("azurestorage", "ioda", [102.0, 137.0, 438.0, 1486.0, 4560.0]),
    published("azurestorage", "ideal", [92.0, 121.0, 328.0, 966.0, 4149.0]),
    published("bingselect", "base", [92.0, 105.0, 2483.0, 40157.0, 49698.0]),
    published("bingselect", "iod1", [86.0, 96.0, 369.0, 6979.0, 37258.0]),
    published("bingselect", "iod2", [94.0, 104.0, 382.0, 5330.0, 45599.0]),
    published("bingselect", "iod3", [154.0, 180.0, 483.0, 5610.0, 23563.0]),
    published("bingselect", "ioda", [85.0, 94.0, 322.0, 3149.0, 13846.0]),
    published("bingselect", "ideal", [85.0, 93.0, 232.0, 3059.0, 10396.0]),
    published("lmbe", "base", [103.0, 114.0, 19042.0, 39113.0, 45232.0]),
    published("lmbe", "iod1", [102.0, 115.0, 438.0, 5548.0, 42456.0]),
    published("lmbe", "iod2", [104.0, 116.0, 335.0, 3044.0, 31917.0]),
    published("lmbe", "iod3", [153.0, 189.0, 370.0, 1666.0, 9710.0]),
    published("lmbe", "ioda", [98.0, 107.0, 253.0, 1059.0, 6289.0]),
    published("lmbe", "ideal", [103.0, 111.0, 236.0, 798.0, 6080.0]),
    published("msnfs", "base", [299.0, 1031.0, 19814.0, 39029.0, 44541.0]),
    published("msnfs", "iod1", [298.0, 924.0, 2607.0, 7603.0, 40959.0]),
    published("msnfs", "iod2", [283.0, 839.0, 2335.0, 5380.0, 30719.0]),
    published("msnfs", "iod3", [266.0, 647.0, 1713.0, 5585.0, 76950.0]),
    published("msnfs", "ioda", [285.0, 861.0, 2299.0, 4039.0, 7282.0]),
    published("msnfs", "ideal", [274.0, 829.0, 2156.0, 3689.0, 6829.0]),
];

/// What the artifact has for a ratio of two modes under `dtrs`.
pub(super) fn published_by_the_artifact(measure: &Measure) -> Option<f64> {
    let Measure::Over(this, other) = measure else { return None };
    match (this.as_ref(), other.as_ref()) {
        (Measure::Of(quantity, _, this), Measure::Of(_, _, other)) => {
            Some(published_ratio("dtrs", *quantity, this, other))
        }
        _ => None,
    }
}

/// A mode's figure over another's as the artifact has it.
fn published_ratio(load: &str, quantity: Quantity, this: &str, other: &str) -> f64 {
    let of = |mode: &str| {
        let mut rows = TABLE.iter().filter(|row| row.load == load && row.mode == mode);
        rows.next().map_or(f64::NAN, |row| match quantity {
            ReadP50 => row.p50,
            ReadP75 => row.p75,
            ReadP95 => row.p95,
            ReadP99 => row.p99,
            ReadP999 => row.p999,
            _ => f64::NAN,
        })
    };
    of(this) / of(other)
}

#[cfg(test)]
mod tests {
    use super::super::{Test, table};
    use super::*;
    use crate::results::Results;
    use crate::summary::{Outcome, Summary, Times};
    use crate::verdict::Expected;

    const WINDOWS_ALONE: &str = "iod3";
    const LOADS: [&str; 5] = ["dtrs", "azurestorage", "bingselect", "lmbe", "msnfs"];

    /// A slipped digit or a swapped row would break one of the orders that the claims state of all loads.
    #[test]
    fn the_published_figures_have_the_orders_that_are_claimed() {
        assert_eq!(TABLE.len(), LOADS.len() * MODES.len());
        for load in LOADS {
            let ratio = |quantity, this, other| published_ratio(load, quantity, this, other);
            for pair in ORDER.windows(2) {
                assert!(ratio(ReadP99, pair[0], pair[1]) > 1.0, "{load}: {pair:?} at p99");
            }
            for quantity in [ReadP50, ReadP75] {
                let slowest = ORDER.iter().all(|mode| ratio(quantity, WINDOWS_ALONE, mode) > 1.0);
                assert_eq!(slowest, load != "msnfs", "{load}: windows alone at {}", quantity.name());
            }
        }
        let rows = |row: &Published| [row.p50, row.p75, row.p95, row.p99, row.p999].is_sorted();
        assert!(TABLE.iter().all(rows), "percentiles of a mode rise");
    }

    /// The second to the fourth slowest of six, by load.
    #[test]
    fn windows_alone_have_no_fixed_place_at_p99() {
        let slower = |load| {
            ORDER.iter().filter(|mode| published_ratio(load, ReadP99, mode, WINDOWS_ALONE) > 1.0).count()
        };
        assert_eq!(LOADS.map(slower), [1, 3, 2, 3, 2]);
    }

    /// What is printed as claimed is what the table gives.
    #[test]
    fn claims_print_the_ratio_that_they_are_held_against() {
        for claim in table::read(super::super::IODA) {
            let shown = |value: f64| claim.claimed.starts_with(&format!("{value:.2}"));
            match &claim.test {
                Test::Measured(measure, Expected::Between { .. } | Expected::Factor { .. }) => {
                    let value = published_by_the_artifact(measure).expect("a ratio of two modes");
                    assert_eq!(claim.claimed, format!("{value:.2}"), "{}", claim.id);
                }
                Test::Measured(Measure::Over(a, b), Expected::Above(_)) => {
                    let (Measure::Of(quantity, _, this), other) = (a.as_ref(), b.as_ref()) else { panic!() };
                    let ratio = |other: &str| published_ratio("dtrs", *quantity, this, other);
                    let value = match other {
                        Measure::Of(_, _, other) => ratio(other),
                        _ => ORDER.iter().map(|mode| ratio(mode)).fold(f64::MAX, f64::min),
                    };
                    assert!(shown(value), "{}: {value}", claim.id);
                }
                Test::Impossible(_) => {
                    let load = claim.id.trim_start_matches("ioda-");
                    let value = published_ratio(load, ReadP99, "base", "ioda");
                    let digits = if value >= 10.0 { 1 } else { 2 };
                    assert_eq!(claim.claimed, format!("{value:.digits$}"), "{}", claim.id);
                }
                Test::Measured(..) | Test::Unmeasured(_) => {}
            }
        }
    }

    /// The slowest of the five others, not the first.
    #[test]
    fn windows_alone_are_held_against_the_slowest() {
        let mut results = Results::default();
        for (mode, p50) in [("base", 4), ("iod1", 2), ("iod2", 2), ("iod3", 12), ("ioda", 8), ("ideal", 1)] {
            let read = Times { p50: Some(p50), ..Times::default() };
            results.insert("0", "ioda", mode, 1, Outcome::Measured(Summary { read, ..Summary::default() }));
        }
        let claims = table::read(super::super::IODA);
        let claim = claims.iter().find(|claim| claim.id == "ioda-windows-p50").expect("a claim");
        let Test::Measured(measure, _) = &claim.test else { panic!("{:?}", claim.test) };
        assert_eq!(measure.by_seed(&results)[&1], 1.5);
    }

    /// `64KiB` in bytes.
    fn bytes(text: &str) -> f64 {
        let units = [("KiB", 1024.0), ("KB", 1000.0), ("B", 1.0)];
        let split = units.iter().find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, bytes)));
        let (number, unit) = split.expect("a size");
        number.parse::<f64>().expect("a number") * unit
    }

    /// Valid pages of greedy's victims, of `pages`, where `live` is the share of the blocks in use that is live.
    fn greedy(pages: u32, live: f64) -> f64 {
        let harmonic = |to: f64| {
            let whole: f64 = (1..=to as u32).map(|k| 1.0 / f64::from(k)).sum();
            whole + to.fract() / (to.floor() + 1.0)
        };
        let pages = f64::from(pages);
        let (mut low, mut high) = (0.0, pages);
        while high - low > 1e-6 {
            let valid = (low + high) / 2.0;
            let enough = 1.0 - valid / pages < live * (harmonic(pages) - harmonic(valid));
            (low, high) = if enough { (valid, high) } else { (low, valid) };
        }
        low
    }

    /// The rule in the header of the configuration, computed from the sizes that are written there.
    #[test]
    fn the_rate_follows_from_the_published_share_of_delayed_reads() {
        let text = include_str!("../../../../experiments/configuration-ioda.toml");
        let file: toml::Table = toml::from_str(text).expect("TOML");
        let workload = &file["workload"];
        let mean = |stream: &str, of: &dyn Fn(f64) -> f64| {
            let size = &workload["stream"][stream]["size"];
            let list = |key: &str| size[key].as_array().expect("a list").clone();
            let (mut sum, mut count) = (0.0, 0.0);
            for (size, times) in list("sizes").iter().zip(list("counts")) {
                let times = times.as_integer().expect("a count") as f64;
                sum += times * of((bytes(size.as_str().expect("a size")) / 4096.0).ceil());
                count += times;
            }
            sum / count
        };
        let (delayed, delayed_by_ms) = (0.0197 - 0.0095, 1.0);
        let valid = greedy(256, 192.0 / (256.0 - 25.0));
        let event_ms = valid * 0.240 + 2.0;
        let members = mean("reads", &|pages| pages.min(4.0));
        let wanted = delayed / members * event_ms / (event_ms - delayed_by_ms);
        let pages_a_second = 13_920.0 / 300.0 * mean("writes", &|pages| pages + (pages + 2.0) / 3.0) / 4.0;
        let of_sample = pages_a_second / (64.0 * (256.0 - valid)) * event_ms / 1000.0;
        let time_scale = workload["time_scale"].as_float().expect("a number");
        assert!((of_sample / wanted - time_scale).abs() < 0.0005, "{}", of_sample / wanted);
    }
}
