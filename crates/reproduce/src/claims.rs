//! The table of claims: what the papers say, how far off we accept, and what is measured for it.
//!
//! Sources: *IEEE TC 2012*, Kim et al., Coordinating Garbage Collection for Arrays of Solid-state Drives; *MSST 2011*,
//! Kim et al., Harmonia, with what they measured on SSDs in `bandwidth`; *HPDC 2018*, in [`inside_the_die`]; *Electronics 2025*, in [`adaptive`]; *SOSP 2021*, in
//! [`ioda`]; *IEEE Access 2019*, in [`gaftl`]. The claims themselves are Markdown, a file a paper (`table`). Nowhere else are
//! figures of a paper. Tolerances were set before measuring; a reading added later says so, and so does a claim whose range was replaced. One configuration a paper serves all its claims (`experiments/configuration-*.toml`); nothing is tuned to one of
//! them. Leaves out: figures that can only be read off a plot.

pub mod adaptive;
pub(crate) mod bandwidth;
pub mod gaftl;
pub mod inside_the_die;
pub mod ioda;
pub mod reasons;
mod table;

use crate::measure::Measure;
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
const SECOND: [(&str, &str, bool); 18] = [
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
    ("bandwidth-array-mlc-four", "bandwidth-array-mlc", false),
    ("bandwidth-array-slc-four", "bandwidth-array-slc", false),
    ("variation-array-mlc-four", "variation-array-mlc", false),
    ("variation-array-slc-four", "variation-array-slc", false),
];

/// Claims whose accepted range, or what it is compared with, was replaced with results known. The files of the papers say why;
/// what it was before stands in the changelog.
const RANGE_REPLACED: [&str; 19] = [
    "die-utilisation-alike",
    "channels-empty-eager",
    "channels-8k-mongodb",
    "ioda-p95-iod1",
    "ioda-p95-iod2",
    "ioda-p95-iod3",
    "ioda-p95-ioda",
    "ioda-p95-ideal",
    "ioda-p999-iod1",
    "ioda-p999-iod2",
    "ioda-p999-iod3",
    "ioda-p999-ioda",
    "ioda-p999-ideal",
    "gaftl-flat-gaps",
    "gaftl-flat-sequential",
    "gaftl-max-unaware-postmark",
    "gaftl-max-unaware-boot",
    "gaftl-age-oldest",
    "gaftl-age-second",
];

/// Whether the accepted range of a claim was replaced with results known.
pub fn is_range_replaced(id: &str) -> bool {
    RANGE_REPLACED.contains(&id)
}

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
    /// MB/s, of 10^6 bytes.
    Bandwidth,
}

/// Experiments of the table.
pub(crate) const POLICIES: &str = "policies";

/// The papers' enterprise loads; ours are stand-ins.
pub(crate) const ENTERPRISE: [&str; 5] = ["financial", "tpc-c", "cello", "tpc-h", "openmail"];
/// Arrival rates of the experiment, slowest first.
pub(crate) const RATES: [&str; 8] = ["100", "200", "300", "400", "500", "600", "700", "800"];
/// Numbers of SSDs of the experiment.
pub(crate) const SSDS: [&str; 5] = ["2", "4", "8", "12", "18"];

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
    /// IEEE Access 2019.
    Gaftl,
}

impl Paper {
    /// Its claims, in the order of its argument.
    pub fn claims(self) -> Vec<Claim> {
        table::read(match self {
            Paper::GlobalCollection => GLOBAL_COLLECTION,
            Paper::InsideTheDie => INSIDE_THE_DIE,
            Paper::Channels => CHANNELS,
            Paper::Gaftl => GAFTL,
        })
    }
}

const GLOBAL_COLLECTION: &str = include_str!("claims/global.md");
const INSIDE_THE_DIE: &str = include_str!("claims/die.md");
const CHANNELS: &str = include_str!("claims/channels.md");
const BANDWIDTH: &str = include_str!("claims/bandwidth.md");
const IODA: &str = include_str!("claims/ioda.md");
const GAFTL: &str = include_str!("claims/gaftl.md");

/// All claims, in the order of the papers' arguments.
pub fn claims() -> Vec<Claim> {
    [GLOBAL_COLLECTION, INSIDE_THE_DIE, CHANNELS, IODA, GAFTL, BANDWIDTH]
        .into_iter()
        .flat_map(table::read)
        .collect()
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
        assert!(RANGE_REPLACED.into_iter().all(|id| find(id).id == id));
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
