//! The table of claims: what the papers say, how far off we accept, and what is measured for it.
//!
//! Sources: *IEEE TC 2012*, Kim et al., Coordinating Garbage Collection for Arrays of Solid-state Drives; *MSST 2011*,
//! Kim et al., Harmonia; *HPDC 2018*, in [`inside_the_die`]; *Electronics 2025*, in [`adaptive`]; *SOSP 2021*, in
//! [`ioda`]; *IEEE Access 2019*, in [`gaftl`]. The only place in code with figures of a paper. Tolerances were set before measuring; a reading added later
//! says so. One configuration a paper serves all its claims (`experiments/configuration-*.toml`); nothing is tuned to one of
//! them. Leaves out: figures that can only be read off a plot.

pub mod adaptive;
pub mod gaftl;
pub mod inside_the_die;
pub mod ioda;
pub mod reasons;

use crate::measure::Quantity::{Erases, Mean, Stddev, Variance};
use crate::measure::{Measure, Quantity, lowered, ratio};
use crate::verdict::Expected;

/// One statement of a paper.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Its name on the command line.
    pub id: &'static str,
    /// Paper, section, figure.
    pub source: &'static str,
    /// What it says.
    pub words: &'static str,
    /// The figure as published.
    pub claimed: &'static str,
    /// Unit of the measurement.
    pub unit: Unit,
    /// How it is tested.
    pub test: Test,
}

/// A row of the table that reads a claim in a second way. It is judged as claims are, and counted apart: a paper says a thing
/// once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct SecondReading {
    /// The claim that it reads.
    pub of: &'static str,
    /// It was added after measuring, so that its accepted range was not chosen blindly.
    pub added_after_measuring: bool,
}

/// Second readings: the row, the claim that it reads, and whether it was added after measuring.
const SECOND: [(&str, &str, bool); 14] = [
    ("response-hpc-w-die", "response-hpc-w", false),
    ("response-hpc-r-die", "response-hpc-r", false),
    ("variability-hpc-w-variance", "variability-hpc-w", true),
    ("even-erases-die", "even-erases", false),
    ("size-18-over-4-times", "size-18-over-4", true),
    ("skew-erases-others", "skew-erases", false),
    ("skew-response-others", "skew-response", false),
    ("channels-cassandra-read-turn", "channels-cassandra-read", true),
    ("channels-cassandra-write-turn", "channels-cassandra-write", true),
    ("channels-cassandra-read-max-turn", "channels-cassandra-read-max", true),
    ("channels-cassandra-write-max-turn", "channels-cassandra-write-max", true),
    ("channels-8k-fewer-average", "channels-8k-fewer", true),
    ("gaftl-4kb-dies", "gaftl-4kb", false),
    ("gaftl-10kb-dies", "gaftl-10kb", false),
];

/// Which claim this row reads in a second way, if it does.
pub fn second_reading(id: &str) -> Option<SecondReading> {
    let row = SECOND.iter().find(|(row, ..)| *row == id);
    row.map(|&(_, of, added_after_measuring)| SecondReading { of, added_after_measuring })
}

/// How a claim is tested.
#[derive(Debug, Clone)]
pub enum Test {
    /// By simulation.
    Measured(Measure, Expected),
    /// Not at all, and why.
    Impossible(&'static str),
    /// Not yet, and what is missing.
    Unmeasured(&'static str),
}

/// Unit of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Percent.
    Percent,
    /// A ratio of two of a kind.
    Times,
    /// A number without a unit.
    Plain,
    /// Nanoseconds, shown as milliseconds.
    Ns,
}

/// Experiments of the table.
pub(crate) const POLICIES: &str = "policies";
pub(crate) const RATE: &str = "arrival-rate";
pub(crate) const SIZE: &str = "array-size";

/// The papers' enterprise loads; ours are stand-ins.
pub(crate) const ENTERPRISE: [&str; 5] = ["financial", "tpc-c", "cello", "tpc-h", "openmail"];
/// Arrival rates of the experiment, slowest first.
pub(crate) const RATES: [&str; 8] = ["100", "200", "300", "400", "500", "600", "700", "800"];
/// Numbers of SSDs of the experiment.
pub(crate) const SSDS: [&str; 5] = ["2", "4", "8", "12", "18"];

/// By how many percent a policy lowers a figure of a load, against another policy.
fn gain(quantity: Quantity, load: &str, before: &str, after: &str) -> Measure {
    lowered(quantity, POLICIES, &format!("{load}/{before}"), &format!("{load}/{after}"))
}

/// A policy's figure over another's under a load.
fn times(quantity: Quantity, load: &str, this: &str, other: &str) -> Measure {
    ratio(quantity, POLICIES, &format!("{load}/{this}"), &format!("{load}/{other}"))
}

/// How many times the largest figure of the three coordinated policies is the smallest.
fn disparity(quantity: Quantity, load: &str) -> Measure {
    let names = ["inclusive", "selective", "idle"];
    let pairs = names.iter().flat_map(|this| names.iter().map(move |other| (this, other)));
    Measure::Highest(pairs.map(|(this, other)| times(quantity, load, this, other)).collect())
}

fn at_rate(quantity: Quantity, load: &str, rate: &str, policy: &str) -> Measure {
    Measure::Of(quantity, RATE, format!("{load}/{rate}/{policy}"))
}

/// The smallest step of a figure from one arrival rate to the next.
fn smallest_step(quantity: Quantity, load: &str) -> Measure {
    let step = |pair: &[&str]| {
        let of = |rate: &str| Box::new(at_rate(quantity, load, rate, "local"));
        Measure::Minus(of(pair[1]), of(pair[0]))
    };
    Measure::Lowest(RATES.windows(2).map(step).collect())
}

/// By how many percent a figure grows less, from the slowest to the fastest rate, under coordination.
fn slower_growth(quantity: Quantity, load: &str) -> Measure {
    let growth = |policy: &str| {
        let of = |rate: &str| Box::new(at_rate(quantity, load, rate, policy));
        Box::new(Measure::Minus(of(RATES[RATES.len() - 1]), of(RATES[0])))
    };
    Measure::Lowered(growth("local"), growth("inclusive"))
}

/// Mean response of one size of array over that of another, in a reading.
pub(crate) fn sizes(reading: &str, this: (&str, &str), other: (&str, &str)) -> Measure {
    let name = |(ssds, policy): (&str, &str)| format!("{ssds}/{reading}/{policy}");
    ratio(Mean, SIZE, &name(this), &name(other))
}

const NO_EFFECT: f64 = 0.0;
const EQUAL: f64 = 1.0;

/// A paper that has readings beside its frozen configuration; both papers on global collection count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paper {
    /// IEEE TC 2012 and MSST 2011.
    GlobalCollection,
    /// HPDC 2018.
    InsideTheDie,
    /// Electronics 2025.
    Channels,
}

impl Paper {
    /// Its claims, in the order of its argument.
    pub fn claims(self) -> Vec<Claim> {
        match self {
            Paper::GlobalCollection => global_collection(),
            Paper::InsideTheDie => inside_the_die::claims(),
            Paper::Channels => adaptive::claims(),
        }
    }
}

/// All claims, in the order of the papers' arguments.
pub fn claims() -> Vec<Claim> {
    let mut all = global_collection();
    all.extend(inside_the_die::claims());
    all.extend(adaptive::claims());
    all.extend(ioda::claims());
    all.extend(gaftl::claims());
    all
}

#[expect(clippy::vec_init_then_push, reason = "one statement a claim, loops among them")]
fn global_collection() -> Vec<Claim> {
    let claim = |id, source, words, claimed, unit, measure, expected| Claim {
        id,
        source,
        words,
        claimed,
        unit,
        test: Test::Measured(measure, expected),
    };
    let mut all = Vec::new();

    // Reactive-inclusive against no coordination, HPC loads.
    all.push(claim(
        "response-hpc-w",
        "IEEE TC 2012, 5.3, Fig. 6; MSST 2011, V-D",
        "HPC(W): global collection lowers the mean response time; baseline: a device collects as a whole",
        "71% (70% in MSST 2011, 69% in the abstracts)",
        Unit::Percent,
        gain(Mean, "hpc-w", "local", "inclusive"),
        Expected::about(71.0, 8.0, NO_EFFECT),
    ));
    all.push(claim(
        "response-hpc-w-die",
        "IEEE TC 2012, 5.3, Fig. 6",
        "HPC(W): global collection lowers the mean response time; baseline: each die collects alone, as the papers' text says",
        "71%",
        Unit::Percent,
        gain(Mean, "hpc-w", "local-die", "inclusive"),
        Expected::about(71.0, 8.0, NO_EFFECT),
    ));
    all.push(claim(
        "response-hpc-r",
        "IEEE TC 2012, 5.3, Fig. 6; MSST 2011, V-D",
        "HPC(R): global collection lowers the mean response time; baseline: device",
        "60% (55% in MSST 2011)",
        Unit::Percent,
        gain(Mean, "hpc-r", "local", "inclusive"),
        Expected::about(60.0, 12.0, NO_EFFECT),
    ));
    all.push(claim(
        "response-hpc-r-die",
        "IEEE TC 2012, 5.3, Fig. 6",
        "HPC(R): global collection lowers the mean response time; baseline: die",
        "60%",
        Unit::Percent,
        gain(Mean, "hpc-r", "local-die", "inclusive"),
        Expected::about(60.0, 12.0, NO_EFFECT),
    ));
    all.push(claim(
        "response-average",
        "MSST 2011, V-D",
        "HPC(W) and HPC(R) on average (the same section's 70% and 55% average to less)",
        "73.8%",
        Unit::Percent,
        Measure::Average(["hpc-w", "hpc-r"].map(|load| gain(Mean, load, "local", "inclusive")).to_vec()),
        Expected::about(73.8, 8.0, NO_EFFECT),
    ));

    // Variability.
    all.push(claim(
        "variability-hpc-w",
        "Abstracts of both papers; MSST 2011, Fig. 6 plots the standard deviation",
        "HPC(W): global collection lowers the standard deviation of response times",
        "71%",
        Unit::Percent,
        gain(Stddev, "hpc-w", "local", "inclusive"),
        Expected::about(71.0, 8.0, NO_EFFECT),
    ));
    all.push(claim(
        "variability-hpc-w-variance",
        "Abstracts of both papers; IEEE TC 2012, 5.2: \"the variance of the measured response times\"",
        "HPC(W): global collection lowers the variance of response times",
        "71%",
        Unit::Percent,
        gain(Variance, "hpc-w", "local", "inclusive"),
        Expected::about(71.0, 8.0, NO_EFFECT),
    ));
    all.push(claim(
        "variability-hpc-r",
        "IEEE TC 2012, 5.3, Fig. 6",
        "HPC(R): the variance of response times falls too",
        "falls",
        Unit::Percent,
        gain(Stddev, "hpc-r", "local", "inclusive"),
        Expected::Above(NO_EFFECT),
    ));

    // Even load: the same work.
    all.push(claim(
        "even-erases",
        "IEEE TC 2012, 5.3, Fig. 10",
        "Even load: as much collection as without coordination (erases over those of local, device)",
        "the same",
        Unit::Times,
        times(Erases, "hpc-w", "inclusive", "local"),
        Expected::same(EQUAL, 0.03),
    ));
    all.push(claim(
        "even-erases-die",
        "IEEE TC 2012, 5.3, Fig. 10",
        "Even load: as much collection as without coordination (erases over those of local, die)",
        "the same",
        Unit::Times,
        times(Erases, "hpc-w", "inclusive", "local-die"),
        Expected::same(EQUAL, 0.10),
    ));

    // Arrival rate, Fig. 7.
    all.push(claim(
        "rate-response-grows",
        "IEEE TC 2012, 5.3, Fig. 7a",
        "HPC(W), local: the mean grows with every step of the arrival rate (smallest step)",
        "grows",
        Unit::Ns,
        smallest_step(Mean, "hpc-w"),
        Expected::Above(NO_EFFECT),
    ));
    all.push(claim(
        "rate-variability-grows",
        "IEEE TC 2012, 5.3, Fig. 7a",
        "HPC(W), local: the standard deviation grows with every step of the arrival rate (smallest step)",
        "grows",
        Unit::Ns,
        smallest_step(Stddev, "hpc-w"),
        Expected::Above(NO_EFFECT),
    ));
    for (id, source, words, quantity, load) in [
        (
            "rate-response-gradual",
            "IEEE TC 2012, 5.3, Fig. 7a",
            "HPC(W): from 100/s to 800/s the mean grows less under global collection, by",
            Mean,
            "hpc-w",
        ),
        (
            "rate-variability-gradual",
            "IEEE TC 2012, 5.3, Fig. 7a",
            "HPC(W): the standard deviation grows less, by",
            Stddev,
            "hpc-w",
        ),
        (
            "rate-response-gradual-r",
            "IEEE TC 2012, 5.3, Fig. 7b",
            "HPC(R): the mean grows less, by",
            Mean,
            "hpc-r",
        ),
    ] {
        let expected = Expected::Above(NO_EFFECT);
        all.push(claim(
            id,
            source,
            words,
            "grows less",
            Unit::Percent,
            slower_growth(quantity, load),
            expected,
        ));
    }

    // Number of SSDs, Fig. 8.
    let base = |this, other| sizes("base", this, other);
    let size_source = "IEEE TC 2012, 5.3, Fig. 8; MSST 2011, V-F";
    all.push(claim(
        "size-2",
        size_source,
        "2 SSDs: the baseline's mean over that of global collection",
        "2.7",
        Unit::Times,
        base(("2", "local"), ("2", "inclusive")),
        Expected::about(2.7, 0.5, EQUAL),
    ));
    all.push(claim(
        "size-18",
        size_source,
        "18 SSDs: the baseline's mean over that of global collection",
        "3.2",
        Unit::Times,
        base(("18", "local"), ("18", "inclusive")),
        Expected::about(3.2, 0.5, EQUAL),
    ));
    all.push(claim(
        "size-8-is-2",
        size_source,
        "The baseline with 8 SSDs over global collection with 2",
        "1 (equivalent)",
        Unit::Times,
        base(("8", "local"), ("2", "inclusive")),
        Expected::same(EQUAL, 0.2),
    ));
    all.push(claim(
        "size-18-over-4",
        size_source,
        "The baseline with 18 SSDs over global collection with 4",
        "2.84 (184% worse)",
        Unit::Times,
        base(("18", "local"), ("4", "inclusive")),
        Expected::about(2.84, 0.6, EQUAL),
    ));
    all.push(claim(
        "size-18-over-4-times",
        size_source,
        "The baseline with 18 SSDs over global collection with 4, \"184% worse\" read as 1.84 times",
        "1.84",
        Unit::Times,
        base(("18", "local"), ("4", "inclusive")),
        Expected::about(1.84, 0.6, EQUAL),
    ));
    all.push(claim(
        "size-floor",
        "implied by the four figures above",
        "Global collection with 18 SSDs over the same with 4: a floor that no further SSD lowers",
        "0.89 (2.84 / 3.2)",
        Unit::Times,
        base(("18", "inclusive"), ("4", "inclusive")),
        Expected::same(0.89, 0.15),
    ));
    all.push(claim(
        "size-always",
        size_source,
        "Global collection is faster at every number of SSDs (smallest gain)",
        "always",
        Unit::Percent,
        Measure::Lowest(
            SSDS.map(|ssds| {
                lowered(Mean, SIZE, &format!("{ssds}/base/local"), &format!("{ssds}/base/inclusive"))
            })
            .to_vec(),
        ),
        Expected::Above(NO_EFFECT),
    ));

    // Enterprise loads, Figs. 9 and 11.
    all.push(claim(
        "enterprise-response",
        "IEEE TC 2012, 5.3, Fig. 9; MSST 2011, V-H",
        "Enterprise loads (stand-ins): global collection lowers the mean, averaged over five loads",
        "10%",
        Unit::Percent,
        Measure::Average(ENTERPRISE.map(|load| gain(Mean, load, "local", "inclusive")).to_vec()),
        Expected::about(10.0, 5.0, NO_EFFECT),
    ));
    all.push(claim(
        "enterprise-ideal",
        "IEEE TC 2012, 6, Fig. 11a",
        "Enterprise loads: collection that takes no time would lower global collection's mean by at most",
        "1% (\"eliminates most of the impact\")",
        Unit::Percent,
        Measure::Highest(ENTERPRISE.map(|load| gain(Mean, load, "inclusive", "ideal")).to_vec()),
        Expected::Between { low: -1.0, high: 1.0, no_effect: None },
    ));

    // Skewed load, both readings.
    for (erases, response, load, words_erases, words_response) in [
        (
            "skew-erases",
            "skew-response",
            "skew-all",
            "HPC(W,Skew), the rest over all members: erases of inclusive over selective",
            "HPC(W,Skew), the rest over all members: mean response of inclusive over selective",
        ),
        (
            "skew-erases-others",
            "skew-response-others",
            "skew-others",
            "HPC(W,Skew), the rest over the other members: erases of inclusive over selective",
            "HPC(W,Skew), the rest over the other members: mean response of inclusive over selective",
        ),
    ] {
        let source = "IEEE TC 2012, 6, Fig. 11";
        let range = Expected::Between { low: 2.5, high: 5.0, no_effect: Some(EQUAL) };
        let measure = times(Erases, load, "inclusive", "selective");
        all.push(claim(erases, source, words_erases, "3 to 4", Unit::Times, measure, range));
        let measure = times(Mean, load, "inclusive", "selective");
        let same = Expected::same(EQUAL, 0.10);
        all.push(claim(
            response,
            source,
            words_response,
            "not significantly different",
            Unit::Times,
            measure,
            same,
        ));
    }

    // Proactive-idle.
    all.push(claim(
        "idle-baseline",
        "IEEE TC 2012, 6, Fig. 11a",
        "Enterprise loads: proactive-idle lowers the mean of the baseline, averaged over five loads",
        "9.59% (5.74% to 14.93%)",
        Unit::Percent,
        Measure::Average(ENTERPRISE.map(|load| gain(Mean, load, "local", "idle")).to_vec()),
        Expected::Between { low: 5.74, high: 14.93, no_effect: Some(NO_EFFECT) },
    ));
    all.push(claim(
        "idle-ideal",
        "IEEE TC 2012, 6",
        "Enterprise loads: collection that takes no time would lower proactive-idle's mean by at most",
        "0.1566%",
        Unit::Percent,
        Measure::Highest(ENTERPRISE.map(|load| gain(Mean, load, "idle", "ideal")).to_vec()),
        Expected::Between { low: -1.0, high: 1.0, no_effect: None },
    ));
    for (id, load, words, claimed, value, tolerance) in [
        ("idle-hpc-w", "hpc-w", "HPC(W): proactive-idle lowers the mean of selective", "0.77%", 0.77, 1.0),
        (
            "idle-burst-m",
            "hpc-w-burst-m",
            "HPC(W,Burst,M): proactive-idle lowers the mean of selective",
            "5.83%",
            5.83,
            3.0,
        ),
        (
            "idle-burst-h",
            "hpc-w-burst-h",
            "HPC(W,Burst,H): proactive-idle lowers the mean of selective",
            "9.47%",
            9.47,
            5.0,
        ),
    ] {
        let expected = Expected::about(value, tolerance, NO_EFFECT);
        let measure = gain(Mean, load, "selective", "idle");
        all.push(claim(id, "IEEE TC 2012, 6, Fig. 11a", words, claimed, Unit::Percent, measure, expected));
    }
    let over_selective = |load| Box::new(gain(Mean, load, "selective", "idle"));
    all.push(claim(
        "idle-monotone",
        "IEEE TC 2012, 6",
        "The burstier the load, the more proactive-idle gains over selective (smallest step, percentage points)",
        "grows",
        Unit::Percent,
        Measure::Lowest(vec![
            Measure::Minus(over_selective("hpc-w-burst-m"), over_selective("hpc-w")),
            Measure::Minus(over_selective("hpc-w-burst-h"), over_selective("hpc-w-burst-m")),
        ]),
        Expected::Above(NO_EFFECT),
    ));
    let reactive = ["hpc-w", "hpc-w-burst-m", "hpc-w-burst-h", "financial"];
    for (id, words, claimed, quantity, value, tolerance) in [
        (
            "idle-most-response",
            "Proactive-idle lowers the mean of selective by at most (HPC(W), bursts, Financial)",
            "9%",
            Mean,
            9.0,
            5.0,
        ),
        (
            "idle-most-variability",
            "Proactive-idle lowers the standard deviation of selective by at most (HPC(W), bursts, Financial)",
            "15%",
            Stddev,
            15.0,
            8.0,
        ),
    ] {
        let measure =
            Measure::Highest(reactive.map(|load| gain(quantity, load, "selective", "idle")).to_vec());
        let expected = Expected::about(value, tolerance, NO_EFFECT);
        all.push(claim(id, "IEEE TC 2012, abstract", words, claimed, Unit::Percent, measure, expected));
    }
    for (id, words, claimed, quantity, value, tolerance) in [
        (
            "financial-erases",
            "Financial (stand-in): proactive-idle lowers the erases of inclusive",
            "79%",
            Erases,
            79.0,
            10.0,
        ),
        (
            "financial-response",
            "Financial (stand-in): proactive-idle lowers the mean response of inclusive",
            "9%",
            Mean,
            9.0,
            5.0,
        ),
    ] {
        let measure = gain(quantity, "financial", "inclusive", "idle");
        let expected = Expected::about(value, tolerance, NO_EFFECT);
        all.push(claim(id, "IEEE TC 2012, 6, Fig. 11", words, claimed, Unit::Percent, measure, expected));
    }

    // Table 10, cell by cell of its rows.
    let table_10 = "IEEE TC 2012, 6, Table 10";
    let alike = Expected::same(EQUAL, 0.1);
    for (id, words, quantity, load) in [
        (
            "table10-even-response",
            "Even load, response: fair, fair, fair (largest over smallest)",
            Mean,
            "hpc-w",
        ),
        (
            "table10-even-erases",
            "Even load, erases: fair, fair, fair (largest over smallest)",
            Erases,
            "hpc-w",
        ),
        (
            "table10-skew-response",
            "Skewed load, response: fair, fair, fair (largest over smallest)",
            Mean,
            "skew-all",
        ),
    ] {
        all.push(claim(id, table_10, words, "alike", Unit::Times, disparity(quantity, load), alike));
    }
    let inclusive_over = |other| times(Erases, "skew-all", "inclusive", other);
    all.push(claim(
        "table10-skew-erases",
        table_10,
        "Skewed load, erases: inclusive poor, selective and idle good (inclusive over the nearer of both)",
        "more",
        Unit::Times,
        Measure::Lowest(vec![inclusive_over("selective"), inclusive_over("idle")]),
        Expected::Above(EQUAL),
    ));
    let bursts = ["hpc-w-burst-m", "hpc-w-burst-h"];
    let of_bursts = |measure: &dyn Fn(&str, &str) -> Measure| {
        let pairs =
            bursts.iter().flat_map(|load| ["inclusive", "selective"].map(|other| measure(load, other)));
        Measure::Lowest(pairs.collect())
    };
    all.push(claim(
        "table10-burst-response",
        table_10,
        "Bursts, response: inclusive and selective poor, idle good (smallest gain of idle)",
        "lower",
        Unit::Percent,
        of_bursts(&|load, other| gain(Mean, load, other, "idle")),
        Expected::Above(NO_EFFECT),
    ));
    all.push(claim(
        "table10-burst-erases",
        table_10,
        "Bursts, erases: inclusive and selective good, idle poor (idle over the nearest of both)",
        "more",
        Unit::Times,
        of_bursts(&|load, other| times(Erases, load, "idle", other)),
        Expected::Above(EQUAL),
    ));

    // Hardware.
    let hardware = |id, source, words, claimed| Claim {
        id,
        source,
        words,
        claimed,
        unit: Unit::Percent,
        test: Test::Impossible("measured on commercial SSDs whose firmware is not published"),
    };
    all.push(hardware(
        "hardware-ssd",
        "IEEE TC 2012, 3.2, Table 3, Fig. 1; MSST 2011, III-C",
        "Bandwidth of one SSD falls, and its coefficient of variation rises, with the share of writes",
        "by 41% and 28%; 6 to 36 times",
    ));
    all.push(hardware(
        "hardware-array",
        "IEEE TC 2012, 3.2, Tables 4 and 6, Figs. 2 to 4; MSST 2011, III-D to III-F",
        "Bandwidth of one SSD in an array of six falls below that of one alone",
        "by up to 24% and 20%",
    ));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    /// Rows that have place and figure of another one, whose name theirs goes on from, and are claims all the same: of another
    /// quantity, or against another scheme.
    const SEPARATE: [&str; 9] = [
        "channels-cassandra-read-max",
        "channels-cassandra-write-max",
        "channels-rocksdb-read-max",
        "channels-rocksdb-write-max",
        "channels-mongodb-read-max",
        "channels-mongodb-write-max",
        "channels-empty-smooth-half",
        "channels-thresholds-erases",
        "channels-most-erases",
    ];

    /// Each row that has the place and the published figure of a claim reads it again. A row that is added so has to be declared.
    #[test]
    fn second_readings_read_claims_and_are_all_declared() {
        let all = claims();
        let find =
            |id: &str| all.iter().find(|claim| claim.id == id).unwrap_or_else(|| panic!("no claim {id}"));
        for (id, of, _) in SECOND {
            assert!(second_reading(of).is_none(), "{of}, which {id} reads, is a claim");
            let (row, claim) = (find(id), find(of));
            assert_eq!(row.unit, claim.unit, "{id}");
        }
        for claim in &all {
            let longer =
                |row: &&Claim| row.id.strip_prefix(claim.id).is_some_and(|rest| rest.starts_with('-'));
            let again = |row: &&Claim| row.claimed == claim.claimed && row.source == claim.source;
            for row in all.iter().filter(longer).filter(again) {
                let is_declared = second_reading(row.id).is_some() || SEPARATE.contains(&row.id);
                assert!(is_declared, "{} has place and figure of {}", row.id, claim.id);
            }
        }
    }

    #[test]
    fn every_claim_has_a_name_of_its_own_and_reads_what_exists() {
        let experiments = experiments().expect("valid experiments");
        let mut names = std::collections::BTreeSet::new();
        for claim in claims() {
            assert!(names.insert(claim.id), "{} twice", claim.id);
            let Test::Measured(measure, _) = &claim.test else { continue };
            for (experiment, variant) in measure.cells() {
                let found = experiments.iter().find(|known| known.id == experiment);
                let known =
                    found.unwrap_or_else(|| panic!("{}: no experiment {experiment}", claim.id)).variants();
                assert!(known.iter().any(|name| name == variant), "{}: no {experiment} {variant}", claim.id);
            }
        }
    }
}
