//! What Electronics 2025 (the paper on adaptive garbage-collection concurrency) says of how many channels should collect
//! at once. Only its section 4 was at hand, and none of its tables, so claims are of order and sign.
//!
//! The paper compares its scheme with the best of three conventional ones, for each load and each figure by itself. Where
//! a load is more than one of the three can do, and its queue grows for as long as the load lasts, that one cannot be the
//! best, and the other two are compared with.
//!
//! An order without a figure is settled by the seeds. Two statements say more, and their first tolerance, any difference in the claimed
//! direction, accepted 1.0002 times as much. "The slowest decline" is what a plot shows (Fig. 6a), in which lines that are less
//! than 1% apart are one. "Slightly" higher is 1% to 25%: a difference that a table shows, and no multiple.

use crate::measure::Quantity::WriteMean;
use crate::measure::{Measure, Quantity};

/// Experiments of the table.
pub(crate) const SCHEMES: &str = "adaptive";
pub(crate) const EAGER: &str = "adaptive-eager";
pub(crate) const FULLNESS: &str = "adaptive-fullness";
pub(crate) const IDEAL: &str = "adaptive-ideal";

/// The paper's loads; ours are stand-ins.
pub(crate) const LOADS: [&str; 7] =
    ["cassandra", "mongodb", "mysql", "rocksdb", "sqlite", "dbench", "varmail"];
/// Those of the sensitivity tables.
pub(crate) const DATABASES: [&str; 4] = ["cassandra", "mongodb", "mysql", "rocksdb"];
/// Those that Conv_0_AllCh is run with; varmail deletes nothing before it has written half of the device.
pub(crate) const EAGER_LOADS: [&str; 6] = ["cassandra", "mongodb", "mysql", "rocksdb", "sqlite", "dbench"];
/// Those that Conv_0_AllCh can keep up with: they delete whole files of many blocks, one after the other.
pub(crate) const EAGER_LASTS: [&str; 2] = ["cassandra", "rocksdb"];

pub(crate) const ADAPTIVE: &str = "adaptive";
pub(crate) const FROM_EMPTY: &str = "conv-0-allch";
pub(crate) const ALL: &str = "conv-0.7-allch";
pub(crate) const HALF: &str = "conv-0.7-halfch";
pub(crate) const SMALL_PAGES: &str = "4-kib";

/// Thresholds of the experiment, and the paper's pair.
pub(crate) const LOW: [&str; 5] = ["low-0.3", "low-0.4", "low-0.5", "low-0.6", "low-0.7"];
pub(crate) const HIGH: [&str; 3] = ["high-0.75", "high-0.85", "high-0.95"];
pub(crate) const CHOSEN: (&str, &str) = ("low-0.5", "high-0.85");
/// Most channels of the experiment, and the paper's.
pub(crate) const MOST: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];

/// Experiment and variant of a scheme under a load.
pub(crate) fn cell(load: &str, scheme: &str) -> String {
    let experiment = if scheme == FROM_EMPTY { EAGER } else { SCHEMES };
    format!("{experiment} {load}/{SMALL_PAGES}/{scheme}")
}

/// A figure of a scheme under a load.
pub(crate) fn of(quantity: Quantity, load: &str, page: &str, scheme: &str) -> Measure {
    let experiment = if scheme == FROM_EMPTY { EAGER } else { SCHEMES };
    Measure::Of(quantity, experiment, format!("{load}/{page}/{scheme}"))
}

/// The conventional schemes that can keep up with a load.
pub(crate) fn conventional(load: &str) -> Vec<&'static str> {
    let eager = EAGER_LASTS.contains(&load).then_some(FROM_EMPTY);
    eager.into_iter().chain([ALL, HALF]).collect()
}

/// The least of a figure that a conventional scheme has under a load.
pub(crate) fn best_conventional(quantity: Quantity, load: &str) -> Measure {
    best_with(quantity, load, SMALL_PAGES)
}

fn best_with(quantity: Quantity, load: &str, page: &str) -> Measure {
    let one = |scheme: &'static str| of(quantity, load, page, scheme);
    Measure::Lowest(conventional(load).into_iter().map(one).collect())
}

/// The adaptive scheme's figure over the best conventional one's.
pub(crate) fn against_best(quantity: Quantity, load: &str, page: &str) -> Measure {
    over(of(quantity, load, page, ADAPTIVE), best_with(quantity, load, page))
}

/// The adaptive scheme's figure over the better of those that start at 0.7, where another share of the space is in use.
pub(crate) fn against_better(quantity: Quantity, point: &str) -> Measure {
    let one = |scheme: &str| Measure::Of(quantity, FULLNESS, format!("{point}/{scheme}"));
    over(one(ADAPTIVE), Measure::Lowest([ALL, HALF].map(one).to_vec()))
}

pub(crate) fn over(a: Measure, b: Measure) -> Measure {
    Measure::Over(Box::new(a), Box::new(b))
}

/// How far a ratio is from one, as a factor: the larger of it and its inverse.
pub(crate) fn gap(load: &str, page: &str) -> Measure {
    let best = || best_with(WriteMean, load, page);
    let adaptive = || of(WriteMean, load, page, ADAPTIVE);
    Measure::Highest(vec![over(adaptive(), best()), over(best(), adaptive())])
}

/// Every pair of thresholds but the paper's.
pub(crate) fn other_thresholds() -> Vec<(&'static str, &'static str)> {
    let pairs = LOW.into_iter().flat_map(|low| HIGH.into_iter().map(move |high| (low, high)));
    pairs.filter(|pair| *pair != CHOSEN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::tests::means;
    use crate::results::Results;
    use crate::summary::{Outcome, Summary, Times};

    fn writes(experiment: &str, runs: &[(&str, u64)]) -> Results {
        let mut results = means(&[]);
        for (variant, mean) in runs {
            let write = Times { mean: Some(*mean), ..Times::default() };
            results.insert(
                "0",
                experiment,
                variant,
                1,
                Outcome::Measured(Summary { write, ..Summary::default() }),
            );
        }
        results
    }

    fn value(measure: &Measure, results: &Results) -> f64 {
        measure.by_seed(results)[&1]
    }

    /// The best of three, not of two, where the third keeps up.
    #[test]
    fn the_comparator_is_the_best_conventional_scheme() {
        let mut results = writes(
            SCHEMES,
            &[
                ("cassandra/4-kib/adaptive", 30),
                ("cassandra/4-kib/conv-0.7-allch", 60),
                ("cassandra/4-kib/conv-0.7-halfch", 40),
                ("mysql/4-kib/adaptive", 30),
                ("mysql/4-kib/conv-0.7-allch", 60),
                ("mysql/4-kib/conv-0.7-halfch", 40),
            ],
        );
        results
            .extend(writes(EAGER, &[("cassandra/4-kib/conv-0-allch", 20), ("mysql/4-kib/conv-0-allch", 20)]));
        assert_eq!(value(&against_best(WriteMean, "cassandra", SMALL_PAGES), &results), 1.5);
        assert_eq!(value(&against_best(WriteMean, "mysql", SMALL_PAGES), &results), 0.75);
        assert_eq!(value(&gap("mysql", SMALL_PAGES), &results), 4.0 / 3.0);
    }

    #[test]
    fn the_paper_s_choice_is_not_among_its_rivals() {
        assert_eq!(other_thresholds().len(), LOW.len() * HIGH.len() - 1);
        assert!(!other_thresholds().contains(&CHOSEN));
    }
}
