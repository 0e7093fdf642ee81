//! What IEEE Access 2019 (McEwan and Komsul, GAFTL) reports of collection in turn with somewhere else to write.
//!
//! Only what its text says in figures or in words is claimed; its plots have no table. Its text contradicts itself in one
//! place: section VI-A says that small requests, short gaps and few reads gain most, while Fig. 12 is described as a gain
//! that grows with the size and Fig. 14 as one that does not depend on the share of reads. No sign is asserted there.
//!
//! Tolerances were set before any run, and some replaced with results known:
//!
//! * "approximately three times" is 2 to 5, "approximately 10 fold" 5 to 20; "four times slower" may be off by a factor of 1.5;
//! * "effectively constant" and "constant" allow 15% from the lowest to the highest, beyond what queues make of the same requests without
//!   collection. At first they allowed 15% in all, which an array that never collects all but uses up: its mean depends on the
//!   rate, too;
//! * a gain of a real trace, for which we have a stand-in, may be off by a factor of 2, by 10 points, or by 3 where it is as small;
//! * a share of parity and an age may be off by 10 points, a number of replacements by one. "Less than expected" and "more than its
//!   optimum level" are of the shares that were assigned (V, "the pre-assigned ratio"). At first they were of an array that
//!   moves no parity, whose shares of what is written are others. Ages came from a recursion at the constant rates of one run at
//!   first. Now members live through ten replacements, with a run and shares of their own until each (module `replacing`);
//! * a gain of a maximum may be off by 15 points; "several orders of magnitude" is asked to be 10 times or more. It has a direction:
//!   at first a maximum that was a seventh counted as none.
//!
//! GAFTL is read with floating stripes: three data units and a parity of five chips, and a free chip to which goes what is in the way. Its
//! text supports that best: a write uses up to n - 1 units of a stripe, and one element "will not be involved" (III). Rows of all chips
//! with stripes kept free beside them were the frozen configuration at first. They are a reading now (`rows`). The claims about ages are
//! measured in rows, because parity of floating stripes cannot stay away.
//!
//! Leaves out: Table 2, of which the text that we have lacks the cells, but for what section IV says of it: no request waits for
//! collection. One page operation for each request holds for empty queues only. How many of them a row takes is counted in every
//! run (`array.bounds`) and is no claim: the paper has no figure of it.

use crate::measure::{Measure, Quantity};

/// Experiments of the table.
pub(crate) const SIZES_OF: &str = "gaftl";
pub(crate) const GAPS_OF: &str = "gaftl-arrival";
pub(crate) const READS_OF: &str = "gaftl-reads";
pub(crate) const SEQUENTIAL_OF: &str = "gaftl-sequential";
pub(crate) const REAL_OF: &str = "gaftl-real";

/// The points of the sweeps.
pub(crate) const SIZES: [&str; 3] = ["4kB", "8kB", "10kB"];
pub(crate) const GAPS: [&str; 3] = ["1ms", "3ms", "5ms"];
pub(crate) const READS: [&str; 5] = ["10", "30", "50", "70", "90"];
pub(crate) const SEQUENTIAL: [&str; 6] = ["0", "20", "40", "60", "80", "100"];
pub(crate) const REAL: [&str; 2] = ["postmark", "boot"];
pub(crate) const POLICIES: [&str; 5] = ["unaware", "preemptive", "gaftl", "rows", "ideal"];
/// Where parity goes whose member collects: nowhere, away (the paper's GAFTL), or there and back (with on-line migration).
pub(crate) const MIGRATIONS: [&str; 3] = ["none", "away", "back"];

/// A figure of a policy at a point of a sweep.
pub(crate) fn at(quantity: Quantity, experiment: &'static str, point: &str, policy: &str) -> Measure {
    Measure::Of(quantity, experiment, format!("{point}/{policy}"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;
    use crate::expression::measure;
    use crate::measure::Quantity::MetGc;
    use crate::results::Results;
    use crate::summary::{Outcome, Summary, Times};
    use crate::verdict::Expected;

    /// A point that is added to a sweep must also be asked whether somebody waited there.
    #[test]
    fn every_point_on_chips_is_among_the_evaluated_loads() {
        let mut expected: Vec<(String, String)> = Vec::new();
        for experiment in experiments().expect("valid experiments") {
            if !experiment.id.starts_with("gaftl")
                || ["gaftl-fill", "gaftl-floating", "gaftl-reserve"].contains(&experiment.id.as_str())
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
        let spread = measure("spread gaps mean gaftl-arrival $it/gaftl", &[]);
        assert_eq!(spread.by_seed(&results)[&1], 1.5);
    }
}
