//! What IEEE Access 2019 (McEwan and Komsul, GAFTL) reports of collection in turn with somewhere else to write.
//!
//! Only what its text says in figures or in words is claimed; its plots have no table. Its text contradicts itself in one
//! place: section VI-A says that small requests, short gaps and few reads gain most, while Fig. 12 is described as a gain
//! that grows with the size and Fig. 14 as one that does not depend on the share of reads. No sign is asserted there.
//!
//! Tolerances were set before any run:
//!
//! * "approximately three times" is 2 to 5, "approximately 10 fold" 5 to 20; "four times slower" may be off by a factor of 1.5;
//! * "effectively constant" and "constant" allow 15% from the lowest to the highest;
//! * a gain of a real trace, for which we have a stand-in, may be off by a factor of 2, by 10 points, or by 3 where it is as small;
//! * a share of parity and an age may be off by 10 points, a number of replacements by one;
//! * a gain of a maximum may be off by 15 points; "several orders of magnitude" is asked to be more than 10 times.
//!
//! Leaves out: bounds of Table 2 (one page operation), which hold for empty queues only. What is asked of them is that no request
//! waits for collection.

use super::{Claim, EQUAL, NO_EFFECT, Test, Unit};
use crate::measure::Quantity::{Age, Counted, Critical, Max, Mean, MetGc, ParityShare, StableFrom};
use crate::measure::{Measure, Quantity, lowered, ratio};
use crate::verdict::Expected;

/// Experiments of the table.
pub(crate) const SIZES_OF: &str = "gaftl";
pub(crate) const GAPS_OF: &str = "gaftl-arrival";
pub(crate) const READS_OF: &str = "gaftl-reads";
pub(crate) const SEQUENTIAL_OF: &str = "gaftl-sequential";
pub(crate) const REAL_OF: &str = "gaftl-real";
pub(crate) const AGES_OF: &str = "gaftl-ages";

/// The points of the sweeps.
pub(crate) const SIZES: [&str; 3] = ["4kB", "8kB", "10kB"];
pub(crate) const GAPS: [&str; 3] = ["1ms", "3ms", "5ms"];
pub(crate) const READS: [&str; 5] = ["10", "30", "50", "70", "90"];
pub(crate) const SEQUENTIAL: [&str; 6] = ["0", "20", "40", "60", "80", "100"];
pub(crate) const REAL: [&str; 2] = ["postmark", "boot"];
pub(crate) const POLICIES: [&str; 5] = ["unaware", "preemptive", "gaftl", "gaftl-migrating", "ideal"];
/// Where parity goes whose member collects: nowhere, away (the paper's GAFTL), or there and back (with on-line migration).
pub(crate) const MIGRATIONS: [&str; 3] = ["none", "away", "back"];

/// A figure of a policy at a point of a sweep.
pub(crate) fn at(quantity: Quantity, experiment: &'static str, point: &str, policy: &str) -> Measure {
    Measure::Of(quantity, experiment, format!("{point}/{policy}"))
}

/// Mean of the unaware array over that of GAFTL.
pub(crate) fn unaware_over_gaftl(experiment: &'static str, point: &str) -> Measure {
    ratio(Mean, experiment, &format!("{point}/unaware"), &format!("{point}/gaftl"))
}

/// The highest mean of a policy in a sweep over the lowest.
pub(crate) fn spread(experiment: &'static str, points: &[&str], policy: &str) -> Measure {
    let means = || points.iter().map(|point| at(Mean, experiment, point, policy)).collect();
    Measure::Over(Box::new(Measure::Highest(means())), Box::new(Measure::Lowest(means())))
}

/// Experiment and point of every load that the paper evaluates, on chips.
pub(crate) fn evaluated() -> Vec<(&'static str, String)> {
    let sizes = SIZES.map(|size| (SIZES_OF, format!("chip/{size}")));
    let of = |experiment, points: &[&str]| -> Vec<(&'static str, String)> {
        points.iter().map(|point| (experiment, (*point).to_owned())).collect()
    };
    let sweeps =
        [of(GAPS_OF, &GAPS), of(READS_OF, &READS), of(SEQUENTIAL_OF, &SEQUENTIAL), of(REAL_OF, &REAL)];
    [sizes.to_vec(), sweeps.concat()].concat()
}

/// The highest figure of GAFTL over all these loads.
pub(crate) fn most(quantity: Quantity) -> Measure {
    let one = |(experiment, point): (&'static str, String)| at(quantity, experiment, &point, "gaftl");
    Measure::Highest(evaluated().into_iter().map(one).collect())
}

/// All claims, in the order of the paper's argument.
pub(super) fn claims() -> Vec<Claim> {
    [sizes(), sweeps(), real(), turns(), ages()].concat()
}

fn claim(
    id: &'static str,
    section: &'static str,
    words: &'static str,
    claimed: &'static str,
    unit: Unit,
    (measure, expected): (Measure, Expected),
) -> Claim {
    Claim { id, source: section, words, claimed, unit, test: Test::Measured(measure, expected) }
}

const FIG_12: &str = "IEEE Access 2019, VI-A, Fig. 12";

fn sizes() -> Vec<Claim> {
    let three = Expected::Between { low: 2.0, high: 5.0, no_effect: Some(EQUAL) };
    let ten = Expected::Between { low: 5.0, high: 20.0, no_effect: Some(EQUAL) };
    let row = |id, words, claimed, measure, expected| {
        claim(id, FIG_12, words, claimed, Unit::Times, (measure, expected))
    };
    let unaware = ratio(Mean, SIZES_OF, "chip/10kB/unaware", "chip/4kB/unaware");
    vec![
        row(
            "gaftl-4kb",
            "4 kB, a member is one chip: mean of an unaware array over GAFTL's",
            "3",
            unaware_over_gaftl(SIZES_OF, "chip/4kB"),
            three,
        ),
        row(
            "gaftl-10kb",
            "10 kB, a member is one chip: mean of an unaware array over GAFTL's",
            "10",
            unaware_over_gaftl(SIZES_OF, "chip/10kB"),
            ten,
        ),
        row(
            "gaftl-unaware-size",
            "A member is one chip: mean of an unaware array with 10 kB over that with 4 kB",
            "4",
            unaware,
            Expected::within_factor(4.0, 1.5),
        ),
        row(
            "gaftl-4kb-dies",
            "4 kB, a member has 64 dies: mean of an unaware array over GAFTL's",
            "3",
            unaware_over_gaftl(SIZES_OF, "dies/4kB"),
            three,
        ),
        row(
            "gaftl-10kb-dies",
            "10 kB, a member has 64 dies: mean of an unaware array over GAFTL's",
            "10",
            unaware_over_gaftl(SIZES_OF, "dies/10kB"),
            ten,
        ),
    ]
}

fn sweeps() -> Vec<Claim> {
    let constant = Expected::same(EQUAL, 0.15);
    let falls = |pair: &[&str]| {
        let of = |gap| Box::new(at(Mean, GAPS_OF, gap, "unaware"));
        Measure::Minus(of(pair[0]), of(pair[1]))
    };
    vec![
        claim(
            "gaftl-flat-gaps",
            "IEEE Access 2019, VI-A, Fig. 13",
            "GAFTL, 1, 3 and 5 ms between requests: the highest mean over the lowest",
            "1 (effectively constant)",
            Unit::Times,
            (spread(GAPS_OF, &GAPS, "gaftl"), constant),
        ),
        claim(
            "gaftl-unaware-gaps",
            "IEEE Access 2019, VI-A, Fig. 13",
            "An unaware array: the mean falls as requests come less often (smallest step)",
            "falls",
            Unit::Ns,
            (Measure::Lowest(GAPS.windows(2).map(falls).collect()), Expected::Above(NO_EFFECT)),
        ),
        claim(
            "gaftl-reads-30",
            "IEEE Access 2019, VI-A, Fig. 14",
            "A share of reads of 0.3: mean of an unaware array over GAFTL's",
            "3",
            Unit::Times,
            (
                unaware_over_gaftl(READS_OF, "30"),
                Expected::Between { low: 2.0, high: 5.0, no_effect: Some(EQUAL) },
            ),
        ),
        claim(
            "gaftl-flat-sequential",
            "IEEE Access 2019, VI-A, Fig. 15",
            "GAFTL, 0 to 100% of sequential requests: the highest mean over the lowest",
            "1 (constant)",
            Unit::Times,
            (spread(SEQUENTIAL_OF, &SEQUENTIAL, "gaftl"), constant),
        ),
    ]
}

fn real() -> Vec<Claim> {
    let gain = |quantity, load: &str, before: &str| {
        lowered(quantity, REAL_OF, &format!("{load}/{before}"), &format!("{load}/gaftl"))
    };
    let times = |load: &str| ratio(Max, REAL_OF, &format!("{load}/unaware"), &format!("{load}/gaftl"));
    let (means, maxima) = ("IEEE Access 2019, VI-B, Fig. 16", "IEEE Access 2019, VI-B, Fig. 17");
    vec![
        claim(
            "gaftl-postmark",
            means,
            "Postmark (stand-in): mean of an unaware array over GAFTL's",
            "nearly 13",
            Unit::Times,
            (unaware_over_gaftl(REAL_OF, "postmark"), Expected::within_factor(13.0, 2.0)),
        ),
        claim(
            "gaftl-postmark-preemptive",
            means,
            "Postmark (stand-in): GAFTL lowers the mean of preemptive collection",
            "a small gain",
            Unit::Percent,
            (gain(Mean, "postmark", "preemptive"), Expected::Above(NO_EFFECT)),
        ),
        claim(
            "gaftl-boot",
            means,
            "Boot (stand-in): GAFTL lowers the mean of an unaware array",
            "26%",
            Unit::Percent,
            (gain(Mean, "boot", "unaware"), Expected::about(26.0, 10.0, NO_EFFECT)),
        ),
        claim(
            "gaftl-boot-preemptive",
            means,
            "Boot (stand-in): GAFTL lowers the mean of preemptive collection",
            "2.32%",
            Unit::Percent,
            (gain(Mean, "boot", "preemptive"), Expected::about(2.32, 3.0, NO_EFFECT)),
        ),
        claim(
            "gaftl-max-postmark",
            maxima,
            "Postmark (stand-in): GAFTL lowers the longest response of preemptive collection",
            "62%",
            Unit::Percent,
            (gain(Max, "postmark", "preemptive"), Expected::about(62.0, 15.0, NO_EFFECT)),
        ),
        claim(
            "gaftl-max-boot",
            maxima,
            "Boot (stand-in): GAFTL lowers the longest response of preemptive collection",
            "73%",
            Unit::Percent,
            (gain(Max, "boot", "preemptive"), Expected::about(73.0, 15.0, NO_EFFECT)),
        ),
        claim(
            "gaftl-max-unaware-postmark",
            maxima,
            "Postmark (stand-in): longest response of an unaware array over GAFTL's",
            "several orders of magnitude",
            Unit::Times,
            (times("postmark"), Expected::Above(10.0)),
        ),
        claim(
            "gaftl-max-unaware-boot",
            maxima,
            "Boot (stand-in): longest response of an unaware array over GAFTL's",
            "several orders of magnitude",
            Unit::Times,
            (times("boot"), Expected::Above(10.0)),
        ),
    ]
}

fn turns() -> Vec<Claim> {
    let none = Expected::same(0.0, 0.0);
    vec![
        claim(
            "gaftl-state-n",
            "IEEE Access 2019, VII",
            "All loads above on chips: how often several members needed to collect at once (state N), at most",
            "0",
            Unit::Plain,
            (most(Counted("entered_n")), none),
        ),
        claim(
            "gaftl-no-wait",
            "IEEE Access 2019, IV, Table 2",
            "All loads above on chips: share of GAFTL's requests that met collection, at most",
            "0 (no instruction is blocked)",
            Unit::Plain,
            (most(MetGc), none),
        ),
    ]
}

/// Shares of parity by age, and devices that are replaced as they wear out. What a critical age is, and which ages are stable,
/// was written down before any run (`experiments/gaftl-ages.toml`).
fn ages() -> Vec<Claim> {
    let of = |quantity, migration: &str| Measure::Of(quantity, AGES_OF, migration.to_owned());
    vec![
        claim(
            "gaftl-age-oldest",
            "IEEE Access 2019, VI-C, Fig. 18",
            "Without migration: parity that the oldest member has less than its share when it is first replaced",
            "26%",
            Unit::Percent,
            (lowered(ParityShare(0), AGES_OF, "none", "away"), Expected::about(26.0, 10.0, NO_EFFECT)),
        ),
        claim(
            "gaftl-age-second",
            "IEEE Access 2019, VI-C, Fig. 18",
            "Without migration: parity of the second oldest then over its share",
            "about 1.4x (40% more)",
            Unit::Times,
            (ratio(ParityShare(1), AGES_OF, "away", "none"), Expected::about(1.4, 0.1, EQUAL)),
        ),
        claim(
            "gaftl-age-second-age",
            "IEEE Access 2019, VI-C, Fig. 18",
            "Without migration: age of the second oldest member at the first replacement",
            "80%",
            Unit::Percent,
            (of(Age(1, 1), "away"), Expected::same(80.0, 10.0)),
        ),
        claim(
            "gaftl-age-critical",
            "IEEE Access 2019, VI-C, Fig. 18",
            "Without migration: how many of ten replacements find the second oldest member above its critical age",
            "5 (1, 3, 4, 6 and 9)",
            Unit::Plain,
            (of(Critical, "away"), Expected::same(5.0, 1.0)),
        ),
        claim(
            "gaftl-age-stable",
            "IEEE Access 2019, VI-C, Fig. 19",
            "With migration: replacement from which ages are stable",
            "3",
            Unit::Plain,
            (of(StableFrom, "back"), Expected::same(3.0, 1.0)),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::results::Results;
    use crate::summary::{Outcome, Summary, Times};

    /// A point that is added to a sweep must also be asked whether somebody waited there.
    #[test]
    fn every_point_on_chips_is_among_the_evaluated_loads() {
        let mut expected: Vec<(String, String)> = Vec::new();
        for experiment in experiments().expect("valid experiments") {
            if !experiment.id.starts_with("gaftl")
                || ["gaftl-fill", "gaftl-reserve"].contains(&experiment.id.as_str())
            {
                continue;
            }
            let points = experiment.variants().into_iter().filter_map(|name| {
                let point = name.strip_suffix("/gaftl")?;
                (!point.starts_with("dies")).then(|| point.to_owned())
            });
            expected.extend(points.map(|point| (experiment.id.clone(), point)));
        }
        let mut asked: Vec<(String, String)> =
            evaluated().into_iter().map(|(experiment, point)| (experiment.to_owned(), point)).collect();
        expected.sort();
        asked.sort();
        assert_eq!(asked, expected);
    }

    /// One wait under one load of one seed is one too many.
    #[test]
    fn a_single_wait_under_any_load_is_seen() {
        let mut results = Results::default();
        for seed in 1..=3 {
            for (experiment, point) in evaluated() {
                let coordination = [("entered_n".to_owned(), 0)].into();
                let run = Summary { coordination, ..Summary::default() };
                results.insert("0", experiment, &format!("{point}/gaftl"), seed, Outcome::Measured(run));
            }
        }
        let none = Expected::same(0.0, 0.0);
        let judge = |results: &Results| none.judge(&most(MetGc).interval(results).expect("three seeds"));
        assert_eq!(judge(&results), crate::verdict::Verdict::Within);
        let waits = Summary { met_gc_share: 0.00001, ..Summary::default() };
        results.insert("0", SEQUENTIAL_OF, "60/gaftl", 2, Outcome::Measured(waits));
        assert_eq!(judge(&results), crate::verdict::Verdict::NotReproduced);
    }

    #[test]
    fn a_spread_is_that_of_the_policy_over_all_points() {
        let mut results = Results::default();
        for (gap, policy, mean) in
            [("1ms", "gaftl", 6), ("3ms", "gaftl", 5), ("5ms", "gaftl", 4), ("5ms", "unaware", 1)]
        {
            let all = Times { mean: Some(mean), ..Times::default() };
            let run = Summary { all, ..Summary::default() };
            results.insert("0", GAPS_OF, &format!("{gap}/{policy}"), 1, Outcome::Measured(run));
        }
        assert_eq!(spread(GAPS_OF, &GAPS, "gaftl").by_seed(&results)[&1], 1.5);
    }
}
