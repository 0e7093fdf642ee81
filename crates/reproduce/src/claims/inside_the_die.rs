//! What HPDC 2018 (Choi et al., Parallelizing Garbage Collection with I/O to Improve Flash Resource Utilization) says of
//! collection beside host work in one die, and its Table 2, from which the stand-ins of its traces are made.
//!
//! Averages are those of the paper: the mean over the 13 volumes of values normalised to the baseline. Leaves out what
//! can only be read off its plots.

use super::{Claim, EQUAL, NO_EFFECT, Test, Unit};
use crate::measure::Quantity::{
    Mean, MetGcReadMean, MetGcWriteMean, PlaneUtilisation, ReadMean, Throughput, WriteMean, WriteP95,
};
use crate::measure::{Measure, Quantity, lowered, ratio};
use crate::verdict::Expected;

/// Experiments of the table.
pub(crate) const OPEN: &str = "io-parallel";
pub(crate) const CLOSED: &str = "io-parallel-closed";

/// One row of the paper's Table 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Volume {
    /// Name of the trace.
    pub name: &'static str,
    /// Share of requests that write. Unit: percent.
    pub writes: f64,
    /// What the column "Write Size" has. Times the published number of writes it is more than the volumes' traffic, so
    /// it must be the size of reads. Unit: KB.
    pub write_kb: f64,
    /// Share of requests that meet garbage collection under the baseline. Unit: percent.
    pub gc_affected: f64,
}

const fn volume(name: &'static str, writes: f64, write_kb: f64, gc_affected: f64) -> Volume {
    Volume { name, writes, write_kb, gc_affected }
}

/// Table 2, in its order.
pub const VOLUMES: [Volume; 13] = [
    volume("hm_0", 64.5, 7.4, 29.7),
    volume("prxy_0", 96.9, 8.3, 41.4),
    volume("mds_0", 88.1, 23.7, 47.3),
    volume("src2_0", 88.7, 8.1, 45.2),
    volume("stg_0", 84.8, 24.9, 45.9),
    volume("ts_0", 82.4, 8.4, 37.1),
    volume("wdev_0", 79.9, 12.6, 33.7),
    volume("rsrch_0", 90.7, 10.9, 43.7),
    volume("prn_0", 89.2, 22.8, 17.6),
    volume("proj_0", 87.5, 17.8, 13.4),
    volume("src1_2", 74.6, 19.1, 15.1),
    volume("usr_0", 59.6, 40.9, 12.1),
    volume("web_0", 70.1, 29.9, 13.3),
];

/// Reads and writes that meet garbage collection, both in percent of all requests, on average (section 5). Read so
/// because Figure 8 divides all requests into four kinds, and because the sum is then near the 30.4% of Table 2; read
/// as percent of the reads and of the writes it would be 20.5%.
pub const AFFECTED_READS: f64 = 1.4;
/// See [`AFFECTED_READS`].
pub const AFFECTED_WRITES: f64 = 24.9;

/// Utilisation of two planes under GC-PAR (abstract). Unit: percent.
const UTILISATION_PAR: f64 = 74.4;
/// Places beside the collection that must be taken for that, if all take equally long: 50% of the planes work anyhow,
/// and a place that is taken makes it 100%. Unit: percent.
pub const PLACES_NEEDED: f64 = 2.0 * UTILISATION_PAR - 100.0;

/// Table 1. Unit: pages of a block, and ms.
const PAGES_PER_BLOCK: f64 = 512.0;
const READ: f64 = 0.115;
const PROGRAM: f64 = 1.6;
const ERASE: f64 = 3.0;
const TRANSFER: f64 = 0.0987;

/// The most that utilisation can be of a die with so many planes, if victims have so many valid pages and such a share of
/// writes meets collection. Unit: fraction.
///
/// A collected block gives as many host pages as its victim had invalid ones, because in the long run the host writes what
/// collections free. Of these the affected share meets a collection of its die, and all planes but one are beside the one that
/// collects. Each page that is written along keeps a second plane busy for a program and its transfer.
pub fn bound(planes: f64, valid: f64, affected: f64) -> f64 {
    let event = valid * (READ + PROGRAM + 2.0 * TRANSFER) + ERASE;
    let along = affected * (planes - 1.0) / planes * (PAGES_PER_BLOCK - valid).max(0.0);
    ((1.0 + along * (PROGRAM + TRANSFER) / event) / planes).min(1.0)
}

/// A volume has a high share of affected requests in the words of 6.1 and 6.5 from here on. Table 2 leaves a gap from
/// 17.6% to 29.7%.
const HIGH: f64 = 25.0;

/// Planes of a die, as the experiment names them.
const TWO: &str = "2-planes";
const FOUR: &str = "4-planes";

const BASELINE: &str = "blocking";
/// The paper's GC-PAR and GC-VIC.
const PAR: &str = "io-parallel";
const VIC: &str = "read-match";
const IDEAL: &str = "ideal";

/// A variant of the experiment.
pub(crate) fn variant(volume: &Volume, planes: &str, schedule: &str) -> String {
    format!("{}/{planes}/{schedule}", volume.name)
}

/// The mean over volumes of what is asked of each.
fn average(volumes: &[Volume], of: impl Fn(&Volume) -> Measure) -> Measure {
    Measure::Average(volumes.iter().map(of).collect())
}

fn utilisation(planes: &'static str, schedule: &'static str) -> Measure {
    average(&VOLUMES, |volume| Measure::Of(PlaneUtilisation, OPEN, variant(volume, planes, schedule)))
}

/// By how many percent a schedule lowers a figure of the baseline, on average.
fn gain(volumes: &[Volume], quantity: Quantity, planes: &str, schedule: &str) -> Measure {
    average(volumes, |volume| {
        lowered(quantity, OPEN, &variant(volume, planes, BASELINE), &variant(volume, planes, schedule))
    })
}

fn minus(a: Measure, b: Measure) -> Measure {
    Measure::Minus(Box::new(a), Box::new(b))
}

/// By how many points the other choice of victims lowers a figure further.
fn further(volumes: &[Volume], quantity: Quantity, planes: &str) -> Measure {
    minus(gain(volumes, quantity, planes, VIC), gain(volumes, quantity, planes, PAR))
}

/// Throughput over that of the baseline in a closed loop, on average.
fn throughput(volumes: &[Volume]) -> Measure {
    average(volumes, |volume| {
        let name = |schedule: &str| format!("{}/{schedule}", volume.name);
        ratio(Throughput, CLOSED, &name(PAR), &name(BASELINE))
    })
}

/// Volumes with a high and with a low share of affected requests.
pub(crate) fn by_share() -> (Vec<Volume>, Vec<Volume>) {
    VOLUMES.iter().partition(|volume| volume.gc_affected >= HIGH)
}

/// Those whose distributions the paper draws (Figs. 3 and 11).
fn drawn() -> Vec<Volume> {
    VOLUMES.into_iter().filter(|volume| ["mds_0", "proj_0"].contains(&volume.name)).collect()
}

/// All claims of the paper, in the order of its argument.
pub(super) fn claims() -> Vec<Claim> {
    [utilisations(), affected(), tails(), everything(), closed()].concat()
}

fn claim(
    id: &'static str,
    source: &'static str,
    words: &'static str,
    claimed: &'static str,
    unit: Unit,
    measure: Measure,
    expected: Expected,
) -> Claim {
    Claim { id, source, words, claimed, unit, test: Test::Measured(measure, expected) }
}

fn utilisations() -> Vec<Claim> {
    let percent = |id, source, words, claimed, measure, expected| {
        claim(id, source, words, claimed, Unit::Percent, measure, expected)
    };
    let (two, four) = (50.0, 25.0);
    vec![
        percent(
            "die-utilisation",
            "HPDC 2018, 6.2, Fig. 10",
            "Two planes: utilisation of the planes of a die that collects, baseline",
            "always 50%",
            utilisation(TWO, BASELINE),
            Expected::same(two, 0.05),
        ),
        percent(
            "die-utilisation-four",
            "HPDC 2018, 6.6",
            "Four planes: utilisation of the planes of a die that collects, baseline",
            "always 25%",
            utilisation(FOUR, BASELINE),
            Expected::same(four, 0.05),
        ),
        percent(
            "die-utilisation-par",
            "HPDC 2018, abstract; 6.2, Fig. 10",
            "Two planes: utilisation under GC-PAR",
            "74.4% (47.7% above 50% is 73.9%)",
            utilisation(TWO, PAR),
            Expected::about(UTILISATION_PAR, 8.0, two),
        ),
        percent(
            "die-utilisation-vic",
            "HPDC 2018, abstract; 6.2, Fig. 10",
            "Two planes: utilisation under GC-VIC",
            "74.4% (47.8% above 50% is 73.9%)",
            utilisation(TWO, VIC),
            Expected::about(UTILISATION_PAR, 8.0, two),
        ),
        percent(
            "die-utilisation-alike",
            "HPDC 2018, 6.2",
            "Two planes: GC-VIC's utilisation less that of GC-PAR, in points",
            "almost the same",
            minus(utilisation(TWO, VIC), utilisation(TWO, PAR)),
            Expected::same(0.0, 2.0),
        ),
        percent(
            "die-utilisation-par-four",
            "HPDC 2018, 6.6",
            "Four planes: utilisation under GC-PAR",
            "38.1%",
            utilisation(FOUR, PAR),
            Expected::about(38.1, 6.0, four),
        ),
    ]
}

/// Requests that met garbage collection.
fn affected() -> Vec<Claim> {
    const FIG_9: &str = "HPDC 2018, abstract; 6.1, Fig. 9";
    const FOUR_PLANES: &str = "HPDC 2018, 6.6";
    let mut all = Vec::new();
    for (id, source, words, claimed, value, quantity, planes, schedule) in [
        (
            "die-affected-reads-par",
            FIG_9,
            "Reads that met collection: GC-PAR lowers their mean response time",
            "71%",
            71.0,
            MetGcReadMean,
            TWO,
            PAR,
        ),
        (
            "die-affected-reads-vic",
            FIG_9,
            "Reads that met collection: GC-VIC lowers their mean response time",
            "83%",
            83.0,
            MetGcReadMean,
            TWO,
            VIC,
        ),
        (
            "die-affected-writes-par",
            FIG_9,
            "Writes that met collection: GC-PAR lowers their mean response time",
            "70%",
            70.0,
            MetGcWriteMean,
            TWO,
            PAR,
        ),
        (
            "die-affected-writes-vic",
            FIG_9,
            "Writes that met collection: GC-VIC lowers their mean response time",
            "70%",
            70.0,
            MetGcWriteMean,
            TWO,
            VIC,
        ),
        (
            "die-affected-reads-par-four",
            FOUR_PLANES,
            "Four planes: reads that met collection, GC-PAR",
            "75%",
            75.0,
            MetGcReadMean,
            FOUR,
            PAR,
        ),
        (
            "die-affected-reads-vic-four",
            FOUR_PLANES,
            "Four planes: reads that met collection, GC-VIC",
            "84%",
            84.0,
            MetGcReadMean,
            FOUR,
            VIC,
        ),
        (
            "die-affected-writes-par-four",
            FOUR_PLANES,
            "Four planes: writes that met collection, GC-PAR",
            "71%",
            71.0,
            MetGcWriteMean,
            FOUR,
            PAR,
        ),
        (
            "die-affected-writes-vic-four",
            FOUR_PLANES,
            "Four planes: writes that met collection, GC-VIC",
            "71%",
            71.0,
            MetGcWriteMean,
            FOUR,
            VIC,
        ),
    ] {
        let measure = gain(&VOLUMES, quantity, planes, schedule);
        let expected = Expected::about(value, 15.0, NO_EFFECT);
        all.push(claim(id, source, words, claimed, Unit::Percent, measure, expected));
    }
    let (high, low) = by_share();
    for (id, words, claimed, measure) in [
        (
            "die-affected-reads-further",
            "Reads that met collection: GC-VIC lowers their mean further than GC-PAR, in points",
            "12 points, \"13% more\"",
            further(&VOLUMES, MetGcReadMean, TWO),
        ),
        (
            "die-affected-reads-high",
            "GC-VIC adds more where much is affected: its further gain there less that elsewhere, in points",
            "more",
            minus(further(&high, MetGcReadMean, TWO), further(&low, MetGcReadMean, TWO)),
        ),
    ] {
        let expected = Expected::Above(NO_EFFECT);
        all.push(claim(id, "HPDC 2018, 6.1, Fig. 9", words, claimed, Unit::Percent, measure, expected));
    }
    all
}

/// What the distributions of the two volumes say that the paper draws.
fn tails() -> Vec<Claim> {
    let p95 = |schedule: &'static str| {
        let of = |volume: &Volume| Measure::Of(WriteP95, OPEN, variant(volume, TWO, schedule));
        Measure::Highest(drawn().iter().map(of).collect())
    };
    let over_ideal = average(&drawn(), |volume| {
        ratio(WriteP95, OPEN, &variant(volume, TWO, PAR), &variant(volume, TWO, IDEAL))
    });
    vec![
        claim(
            "die-ideal-writes",
            "HPDC 2018, 3.1, Fig. 3",
            "mds_0 and proj_0, collection that takes no time: 95% of writes are done within (the slower of both)",
            "25 ms",
            Unit::Ns,
            p95(IDEAL),
            Expected::Below(25e6),
        ),
        claim(
            "die-par-ideal",
            "HPDC 2018, 6.3, Fig. 11",
            "mds_0 and proj_0: 95th percentile of GC-PAR's writes over that of collection that takes no time",
            "1 (\"mostly overlap\")",
            Unit::Times,
            over_ideal,
            Expected::same(EQUAL, 0.15),
        ),
    ]
}

/// All requests, whether they met collection or not.
fn everything() -> Vec<Claim> {
    let mut all = Vec::new();
    for (id, words, claimed, value, quantity, schedule) in [
        ("die-reads-par", "All reads: GC-PAR lowers the mean response time", "36.2%", 36.2, ReadMean, PAR),
        ("die-reads-vic", "All reads: GC-VIC lowers the mean response time", "42.6%", 42.6, ReadMean, VIC),
        ("die-writes-par", "All writes: GC-PAR lowers the mean response time", "50.7%", 50.7, WriteMean, PAR),
        ("die-writes-vic", "All writes: GC-VIC lowers the mean response time", "50.7%", 50.7, WriteMean, VIC),
        ("die-total-par", "All requests: GC-PAR lowers the mean response time", "50.1%", 50.1, Mean, PAR),
        ("die-total-vic", "All requests: GC-VIC lowers the mean response time", "50.3%", 50.3, Mean, VIC),
    ] {
        let measure = gain(&VOLUMES, quantity, TWO, schedule);
        let expected = Expected::about(value, 15.0, NO_EFFECT);
        all.push(claim(id, "HPDC 2018, 6.4, Fig. 12", words, claimed, Unit::Percent, measure, expected));
    }
    all
}

fn closed() -> Vec<Claim> {
    let (high, low) = by_share();
    let times = |id, words, claimed, volumes: &[Volume], expected| {
        claim(id, "HPDC 2018, 6.5, Fig. 13", words, claimed, Unit::Times, throughput(volumes), expected)
    };
    let range = |low: f64, high: f64| Expected::Between { low, high, no_effect: Some(EQUAL) };
    vec![
        times(
            "die-throughput",
            "Closed loop: throughput of GC-PAR over that of the baseline",
            "1.147",
            &VOLUMES,
            Expected::about(1.147, 0.07, EQUAL),
        ),
        times(
            "die-throughput-high",
            "Closed loop: GC-PAR's throughput over the baseline's, the eight volumes with many affected requests",
            "1.134 to 1.242 each",
            &high,
            range(1.134, 1.242),
        ),
        times(
            "die-throughput-low",
            "Closed loop: GC-PAR's throughput over the baseline's, the other five volumes",
            "1.051 to 1.077 each",
            &low,
            range(1.051, 1.077),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    /// At 408 valid pages and the mean share of the text (24.9% of requests, four fifths of them writes) it is little above a half;
    /// nothing to move leaves the erase.
    #[test]
    fn the_bound_is_that_of_the_arithmetic_in_words() {
        let valid = 408.0;
        let by_hand = 0.5 + 0.5 * 1.6987 * (0.31 / 2.0) * 104.0 / (1.9124 * valid + 3.0);
        assert!((bound(2.0, valid, 0.31) - by_hand).abs() < 1e-9);
        assert!((bound(4.0, 512.0, 0.3) - 0.25).abs() < 1e-12, "nothing freed, nothing written along");
        assert!((bound(2.0, 0.0, 1.0) - 1.0).abs() < 1e-12, "no more than all planes");
    }

    /// The paper's own average.
    #[test]
    fn the_table_has_the_mean_that_the_text_gives() {
        let mean = VOLUMES.iter().map(|volume| volume.gc_affected).sum::<f64>() / VOLUMES.len() as f64;
        assert!((mean - 30.4).abs() < 0.05, "{mean}");
        let (high, low) = by_share();
        assert_eq!((high.len(), low.len()), (8, 5));
    }

    /// Share and size of writes in every experiment are those of the table; rates are not from the paper.
    #[test]
    fn the_stand_ins_have_the_figures_of_the_table() {
        for experiment in experiments().expect("valid experiments") {
            let Some(axis) = experiment.axes.iter().find(|axis| axis.name == "volume") else { continue };
            for point in &axis.points {
                let volume = VOLUMES.iter().find(|volume| volume.name == point.name);
                let volume = volume.unwrap_or_else(|| panic!("{}: no volume {}", experiment.id, point.name));
                let reads = (1000.0 - 10.0 * volume.writes).round() / 1000.0;
                for expected in [
                    format!("workload.read_fraction={reads}"),
                    format!("workload.size.mean={}KB", volume.write_kb),
                ] {
                    assert!(point.sets.contains(&expected), "{} {}: {expected}", experiment.id, point.name);
                }
            }
        }
    }
}
