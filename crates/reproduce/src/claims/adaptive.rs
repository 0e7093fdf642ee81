//! What Electronics 2025 (the paper on adaptive garbage-collection concurrency) says of how many channels should collect
//! at once. Only its section 4 was at hand, and none of its tables, so claims are of order and sign.
//!
//! The paper compares its scheme with the best of three conventional ones, for each load and each figure by itself. Where
//! a load is more than one of the three can do, and its queue grows for as long as the load lasts, that one cannot be the
//! best, and the other two are compared with.

use super::{Claim, EQUAL, NO_EFFECT, Test, Unit};
use crate::measure::Quantity::{
    EmptyBlocks, EmptyBlocksVariance, Erases, Mean, ReadMax, ReadMean, WriteMax, WriteMean,
};
use crate::measure::{Measure, Quantity, ratio};
use crate::verdict::Expected;

/// Experiments of the table.
pub(crate) const SCHEMES: &str = "adaptive";
pub(crate) const EAGER: &str = "adaptive-eager";
pub(crate) const TIES: &str = "adaptive-ties";
pub(crate) const THRESHOLDS: &str = "adaptive-thresholds";
pub(crate) const CHANNELS: &str = "adaptive-channels";
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
pub(crate) const LARGE_PAGES: &str = "8-kib";

/// Thresholds of the experiment, and the paper's pair.
pub(crate) const LOW: [&str; 5] = ["low-0.3", "low-0.4", "low-0.5", "low-0.6", "low-0.7"];
pub(crate) const HIGH: [&str; 3] = ["high-0.75", "high-0.85", "high-0.95"];
pub(crate) const CHOSEN: (&str, &str) = ("low-0.5", "high-0.85");
/// Most channels of the experiment, and the paper's.
pub(crate) const MOST: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];
pub(crate) const CHOSEN_MOST: &str = "4";

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

/// The same where equal channels take turns.
fn in_turn(quantity: Quantity, load: &str) -> Measure {
    over(Measure::Of(quantity, TIES, format!("{load}/turn")), best_conventional(quantity, load))
}

pub(crate) fn over(a: Measure, b: Measure) -> Measure {
    Measure::Over(Box::new(a), Box::new(b))
}

fn average(loads: &[&str], of: impl Fn(&str) -> Measure) -> Measure {
    Measure::Average(loads.iter().map(|load| of(load)).collect())
}

/// How far a ratio is from one, as a factor: the larger of it and its inverse.
fn gap(load: &str, page: &str) -> Measure {
    let best = || best_with(WriteMean, load, page);
    let adaptive = || of(WriteMean, load, page, ADAPTIVE);
    Measure::Highest(vec![over(adaptive(), best()), over(best(), adaptive())])
}

/// A pair of thresholds as the experiment names it.
pub(crate) fn thresholds(load: &str, (low, high): (&str, &str)) -> String {
    format!("{load}/{low}/{high}")
}

/// A figure of a choice over that of the paper's, on average over the databases; each names the variant of a load.
pub(crate) fn over_paper(
    quantity: Quantity,
    experiment: &'static str,
    this: impl Fn(&str) -> String,
    paper: impl Fn(&str) -> String,
) -> Measure {
    average(&DATABASES, |load| ratio(quantity, experiment, &this(load), &paper(load)))
}

/// Every pair of thresholds but the paper's.
fn other_thresholds() -> Vec<(&'static str, &'static str)> {
    let pairs = LOW.into_iter().flat_map(|low| HIGH.into_iter().map(move |high| (low, high)));
    pairs.filter(|pair| *pair != CHOSEN).collect()
}

fn claim(
    id: &'static str,
    source: &'static str,
    words: &'static str,
    claimed: &'static str,
    measure: Measure,
    expected: Expected,
) -> Claim {
    Claim { id, source, words, claimed, unit: Unit::Times, test: Test::Measured(measure, expected) }
}

/// All claims of the paper, in the order of its argument.
pub(super) fn claims() -> Vec<Claim> {
    [factors(), loads(), empty_blocks(), choices(), pages()].concat()
}

fn factors() -> Vec<Claim> {
    let why = "the traces are not published, nor are the tables of their figures at hand";
    let impossible = |id, words, claimed| Claim {
        id,
        source: "Electronics 2025, 4.3, Table 6",
        words,
        claimed,
        unit: Unit::Times,
        test: Test::Impossible(why),
    };
    vec![
        impossible("channels-factor", "Against the best conventional scheme, on average", "4.86x better"),
        impossible(
            "channels-factor-trimmed",
            "Against the best conventional scheme, on average without two outliers",
            "1.55x better",
        ),
    ]
}

/// A table row: name, words, load, quantity.
type Row = (&'static str, &'static str, &'static str, Quantity);

fn loads() -> Vec<Claim> {
    const BETTER: [Row; 8] = [
        (
            "channels-cassandra-read",
            "Cassandra: mean of reads over that of the best conventional scheme",
            "cassandra",
            ReadMean,
        ),
        (
            "channels-cassandra-write",
            "Cassandra: mean of writes over that of the best",
            "cassandra",
            WriteMean,
        ),
        (
            "channels-cassandra-read-max",
            "Cassandra: longest read over that of the best",
            "cassandra",
            ReadMax,
        ),
        (
            "channels-cassandra-write-max",
            "Cassandra: longest write over that of the best",
            "cassandra",
            WriteMax,
        ),
        ("channels-rocksdb-read", "RocksDB: mean of reads over that of the best", "rocksdb", ReadMean),
        ("channels-rocksdb-write", "RocksDB: mean of writes over that of the best", "rocksdb", WriteMean),
        ("channels-rocksdb-read-max", "RocksDB: longest read over that of the best", "rocksdb", ReadMax),
        ("channels-rocksdb-write-max", "RocksDB: longest write over that of the best", "rocksdb", WriteMax),
    ];
    const WORSE: [Row; 4] = [
        ("channels-mongodb-read", "MongoDB: mean of reads over that of the best", "mongodb", ReadMean),
        ("channels-mongodb-write", "MongoDB: mean of writes over that of the best", "mongodb", WriteMean),
        ("channels-mongodb-read-max", "MongoDB: longest read over that of the best", "mongodb", ReadMax),
        ("channels-mongodb-write-max", "MongoDB: longest write over that of the best", "mongodb", WriteMax),
    ];
    const TURN: [Row; 4] = [
        (
            "channels-cassandra-read-turn",
            "Cassandra: mean of reads over that of the best, equal channels in turn",
            "cassandra",
            ReadMean,
        ),
        (
            "channels-cassandra-write-turn",
            "Cassandra: mean of writes over that of the best, equal channels in turn",
            "cassandra",
            WriteMean,
        ),
        (
            "channels-cassandra-read-max-turn",
            "Cassandra: longest read over that of the best, equal channels in turn",
            "cassandra",
            ReadMax,
        ),
        (
            "channels-cassandra-write-max-turn",
            "Cassandra: longest write over that of the best, equal channels in turn",
            "cassandra",
            WriteMax,
        ),
    ];
    let row = |(id, words, load, quantity): Row, claimed, expected| {
        claim(
            id,
            "Electronics 2025, 4.3",
            words,
            claimed,
            against_best(quantity, load, SMALL_PAGES),
            expected,
        )
    };
    let turn = |(id, words, load, quantity): Row| {
        claim(id, "Electronics 2025, 4.3", words, "lower", in_turn(quantity, load), Expected::Below(EQUAL))
    };
    let mut all: Vec<Claim> =
        BETTER.into_iter().map(|one| row(one, "lower", Expected::Below(EQUAL))).collect();
    all.extend(TURN.into_iter().map(turn));
    all.extend(WORSE.into_iter().map(|one| row(one, "higher", Expected::Above(EQUAL))));
    all
}

fn empty_blocks() -> Vec<Claim> {
    const FIG_6: &str = "Electronics 2025, 4.3, Fig. 6a";
    let most_of_others = |load: &str| {
        let others = [ADAPTIVE, ALL, HALF].map(|scheme| eager(EmptyBlocks, load, scheme));
        over(eager(EmptyBlocks, load, FROM_EMPTY), Measure::Highest(others.to_vec()))
    };
    let against = |scheme: &'static str| {
        average(&LOADS, |load| {
            let one = |scheme: &str| of(EmptyBlocksVariance, load, SMALL_PAGES, scheme);
            over(one(ADAPTIVE), one(scheme))
        })
    };
    vec![
        claim(
            "channels-empty-eager",
            FIG_6,
            "Empty blocks, the mean over time, Conv_0_AllCh over the most of the others: the least over the loads",
            "slowest decline",
            Measure::Lowest(EAGER_LOADS.map(most_of_others).to_vec()),
            Expected::Above(EQUAL),
        ),
        claim(
            "channels-empty-smooth",
            FIG_6,
            "Variance of the change of empty blocks, adaptive over Conv_0.7_AllCh, on average over the loads",
            "smooth; drops and surges",
            against(ALL),
            Expected::Below(EQUAL),
        ),
        claim(
            "channels-empty-smooth-half",
            FIG_6,
            "Variance of the change of empty blocks, adaptive over Conv_0.7_HalfCh, on average over the loads",
            "smooth; drops and surges",
            against(HALF),
            Expected::Below(EQUAL),
        ),
    ]
}

/// A figure of the runs that Conv_0_AllCh has a part in.
pub(crate) fn eager(quantity: Quantity, load: &str, scheme: &str) -> Measure {
    Measure::Of(quantity, EAGER, format!("{load}/{SMALL_PAGES}/{scheme}"))
}

/// The least of a figure that any other thresholds have, over that with the paper's.
fn best_thresholds(quantity: Quantity) -> Measure {
    let one = |pair| {
        over_paper(quantity, THRESHOLDS, |load| thresholds(load, pair), |load| thresholds(load, CHOSEN))
    };
    Measure::Lowest(other_thresholds().into_iter().map(one).collect())
}

/// The same of other limits of channels.
fn best_most(quantity: Quantity) -> Measure {
    let name = |load: &str, most: &str| format!("{load}/{most}");
    let one = |most| over_paper(quantity, CHANNELS, |load| name(load, most), |load| name(load, CHOSEN_MOST));
    Measure::Lowest(MOST.into_iter().filter(|most| *most != CHOSEN_MOST).map(one).collect())
}

fn choices() -> Vec<Claim> {
    let row = |id, source, words, measure| {
        claim(id, source, words, "the best trade-off", measure, Expected::Above(EQUAL))
    };
    let (table_7, table_8) = ("Electronics 2025, 4.3, Table 7", "Electronics 2025, 4.3, Table 8");
    vec![
        row(
            "channels-thresholds",
            table_7,
            "Mean response with the best other thresholds over that with 0.5 and 0.85",
            best_thresholds(Mean),
        ),
        row(
            "channels-thresholds-erases",
            table_7,
            "Erases with the thresholds that need fewest over those with 0.5 and 0.85",
            best_thresholds(Erases),
        ),
        row(
            "channels-most",
            table_8,
            "Mean response with the best other limit of channels over that with 4",
            best_most(Mean),
        ),
        row(
            "channels-most-erases",
            table_8,
            "Erases with the limit that needs fewest over those with 4",
            best_most(Erases),
        ),
    ]
}

fn pages() -> Vec<Claim> {
    const TABLE_9: &str = "Electronics 2025, 4.3, Table 9";
    let fewer = |load: &str| {
        let erases = |page| of(Erases, load, page, ADAPTIVE);
        over(erases(LARGE_PAGES), erases(SMALL_PAGES))
    };
    let narrower =
        |load: &str| Measure::Minus(Box::new(gap(load, LARGE_PAGES)), Box::new(gap(load, SMALL_PAGES)));
    vec![
        claim(
            "channels-8k-fewer",
            TABLE_9,
            "Victims erased with 8 KiB pages over those with 4 KiB, adaptive: the most over the loads",
            "fewer",
            Measure::Highest(LOADS.map(fewer).to_vec()),
            Expected::Below(EQUAL),
        ),
        claim(
            "channels-8k-fewer-average",
            TABLE_9,
            "Victims erased with 8 KiB pages over those with 4 KiB, adaptive: on average over the loads",
            "fewer",
            average(&LOADS, fewer),
            Expected::Below(EQUAL),
        ),
        claim(
            "channels-8k-gap",
            TABLE_9,
            "Mean of writes: the factor between adaptive and the best with 8 KiB pages less that with 4 KiB, on average",
            "narrower",
            average(&LOADS, narrower),
            Expected::Below(NO_EFFECT),
        ),
        claim(
            "channels-8k-lead-before",
            TABLE_9,
            "RocksDB, 4 KiB: mean of writes over that of the best",
            "lower",
            against_best(WriteMean, "rocksdb", SMALL_PAGES),
            Expected::Below(EQUAL),
        ),
        claim(
            "channels-8k-lead",
            TABLE_9,
            "RocksDB: mean of writes over that of the best with 8 KiB, less the same with 4 KiB",
            "the lead is lost",
            Measure::Minus(
                Box::new(against_best(WriteMean, "rocksdb", LARGE_PAGES)),
                Box::new(against_best(WriteMean, "rocksdb", SMALL_PAGES)),
            ),
            Expected::Above(NO_EFFECT),
        ),
        claim(
            "channels-8k-mongodb",
            TABLE_9,
            "MongoDB, 8 KiB: mean of writes over that of the best",
            "slightly higher",
            against_best(WriteMean, "mongodb", LARGE_PAGES),
            Expected::Above(EQUAL),
        ),
    ]
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
