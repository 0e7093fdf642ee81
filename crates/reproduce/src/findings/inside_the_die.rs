//! HPDC 2018: what the other planes of a die do while one collects.

use std::fmt::Write;

use super::Finding;
use super::write::{MS, Reader, Shape, of};
use super::{bound, siblings};
use crate::claims::Unit;
use crate::claims::inside_the_die::{
    AFFECTED_READS, AFFECTED_WRITES, CLOSED, OPEN, PLACES_NEEDED, SWEEP, VOLUMES, Volume, variant,
};
use crate::measure::Quantity::{
    Erases, Mean, MetGc, MetGcMean, MetGcReadMean, MetGcReads, MetGcWriteMean, MetGcWrites, NoWriteWaiting,
    OtherOffset, PagesMoved, PlaneUtilisation, ReadMean, ReadsPaired, Throughput, UtilisationBound,
    WaitingAtGc, WriteMean, WritesAlong, WritesPaired, WritesPerMove,
};
use crate::measure::{Measure, Met, Quantity, lowered, ratio};

/// Schedules as the figures show them.
const SCHEDULES: [&str; 4] = ["blocking", "io-parallel", "read-match", "ideal"];
/// Shares of a whole to percent.
const PERCENT: f64 = 100.0;

/// All findings of the group.
pub(super) fn findings(reader: &Reader<'_>) -> Vec<Finding> {
    vec![
        stand_ins(reader),
        utilisation(reader),
        affected(reader),
        everything(reader),
        throughput(reader),
        sweep(reader),
    ]
}

/// A volume's figure with two planes a die.
fn cell(quantity: Quantity, volume: &str, schedule: &str) -> Measure {
    let volume = VOLUMES.iter().find(|known| known.name == volume).expect("a volume of the table");
    of(quantity, OPEN, variant(volume, "2-planes", schedule))
}

/// The mean of the volumes.
fn average(quantity: Quantity, schedule: &str) -> Measure {
    Measure::Average(VOLUMES.map(|volume| cell(quantity, volume.name, schedule)).to_vec())
}

fn names() -> Vec<&'static str> {
    VOLUMES.map(|volume| volume.name).to_vec()
}

/// A figure of every volume under every schedule.
fn by_volume(
    reader: &Reader<'_>,
    title: &str,
    unit: &str,
    scale: f64,
    quantity: Quantity,
) -> (String, String) {
    reader.chart(
        &Shape::lines(title, "volume", unit).kinds().scaled(scale),
        &names(),
        &SCHEDULES,
        |schedule, volume| cell(quantity, volume, schedule),
    )
}

fn stand_ins(reader: &Reader<'_>) -> Finding {
    let mean = |quantity| percent(reader, &average(quantity, "blocking"));
    Finding {
        id: "die-stand-ins",
        question: "Which loads stand for the traces of HPDC 2018?".into(),
        text: format!(
            "The loads are synthetic and have the share of writes and the sizes of Table 2, for the paper's 13 volumes. Those \
             sizes are called those of writes, but times the published number of writes they exceed the traffic of the volumes. \
             So they must be sizes of reads, and most writes are one page: [the reading `one-page`](#which-reading-of-hpdc-2018-explains-which-figure) \
             has that. The loads run on one device of 1 TiB with two planes a die ([configuration \
             C](../experiments/configuration-c.toml)). The paper publishes the share of requests that meet \
             collection under the baseline. The rate of writes is calibrated to that share and to nothing else. \
             Writes come in bursts. The share of time that bursts take is chosen so that reads meet collection \
             less often than writes, as in the paper. Here {} of all requests are reads that meet collection \
             and {} are writes that do. The paper has {AFFECTED_READS}% and {AFFECTED_WRITES}%. Both of the \
             paper's figures cannot be met at once: the shares in its Table 2 have a mean of {:.1}%, and these \
             two have a sum of {:.1}%.",
            mean(MetGcReads),
            mean(MetGcWrites),
            VOLUMES.iter().map(|volume| volume.gc_affected).sum::<f64>() / VOLUMES.len() as f64,
            AFFECTED_READS + AFFECTED_WRITES,
        ),
        table: calibration(reader),
        ..Finding::default()
    }
}

/// Published and calibrated shares, a line a volume.
fn calibration(reader: &Reader<'_>) -> String {
    let mut table = String::from(
        "| volume | writes | size of a write | meet collection, published | calibrated | of them reads | under four planes |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for volume in &VOLUMES {
        let Volume { name, writes, write_kb, gc_affected } = volume;
        let four = of(MetGc, OPEN, variant(volume, "4-planes", "blocking"));
        let _ = writeln!(
            table,
            "| {name} | {writes}% | {write_kb} KB | {gc_affected}% | {} | {} | {} |",
            percent(reader, &cell(MetGc, name, "blocking")),
            percent(reader, &cell(MetGcReads, name, "blocking")),
            percent(reader, &four),
        );
    }
    table
}

/// A share of a whole in percent, without its interval.
fn percent(reader: &Reader<'_>, measure: &Measure) -> String {
    reader.interval(measure).map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", PERCENT * share.mean))
}

fn utilisation(reader: &Reader<'_>) -> Finding {
    let claims = [
        "die-utilisation",
        "die-utilisation-par",
        "die-utilisation-vic",
        "die-utilisation-alike",
        "die-utilisation-four",
        "die-utilisation-par-four",
    ];
    let say = |quantity| reader.say(&average(quantity, "io-parallel"), Unit::Percent);
    let plain = |quantity, schedule| reader.say(&average(quantity, schedule), Unit::Plain);
    Finding {
        id: "die-utilisation",
        question: "How busy are the planes of a die that collects?".into(),
        text: format!(
            "One plane works while the die collects, so planes are busy {} of the time with two planes and {} \
             with four. With host operations that join the commands of the collection these are {} and {}. With \
             victims chosen to match waiting reads, two planes are busy {}. Victims as full as these bound both: \
             the last table has the bound of every reading of the paper, averaged over the volumes. It holds in the long run. A \
             reading that sets many blocks aside has not yet erased as many as it will, and can lie above it for a while. Of the places beside a program of \
             the collection {} are taken. In {} no write waits, and in {} the other plane's next page has \
             another offset. Of the places beside a read {} are taken.",
            reader.claim(claims[0]),
            reader.claim(claims[4]),
            reader.claim(claims[1]),
            reader.claim(claims[5]),
            reader.claim(claims[2]),
            say(WritesPaired),
            say(NoWriteWaiting),
            say(OtherOffset),
            say(ReadsPaired),
        ),
        conclusions: vec![
            (
                reader.above(
                    &Measure::Minus(
                        Box::new(average(OtherOffset, "io-parallel")),
                        Box::new(average(WritesPaired, "io-parallel")),
                    ),
                    0.0,
                ),
                "Pairing ends with the first place that stays empty. Write frontiers start at the same offset, \
                 and that of the collection advances with every page. The other plane's frontier, once behind, \
                 does not catch up before the next block."
                    .into(),
            ),
            (
                reader.below(&average(UtilisationBound(2), "io-parallel"), 60.0)
                    && reader.below(&average(WaitingAtGc, "blocking"), 0.5 * PLACES_NEEDED)
                    && reader.below(&average(WritesPerMove, "blocking"), PLACES_NEEDED),
                format!(
                    "Pairing cannot work on a full device that is overwritten evenly. A collection moves {} \
                     pages a block and meets {} waiting operations. In the long run the host writes {} as many \
                     pages as collections move. Not even all of its writes would fill the {PLACES_NEEDED:.1}% \
                     of places that the paper's utilisation needs. With victims this full planes cannot be busy more \
                     than {} of the time, whatever the rule. Victims in the paper must have held fewer valid pages.",
                    plain(PagesMoved, "blocking"),
                    plain(WaitingAtGc, "blocking"),
                    reader.say(&average(WritesPerMove, "blocking"), Unit::Percent),
                    reader.say(&average(UtilisationBound(2), "io-parallel"), Unit::Percent),
                ),
            ),
        ],
        figures: vec![
            reader.forest("Utilisation of the planes of a die that collects", &claims),
            by_volume(
                reader,
                "Utilisation of the planes of a die that collects, by volume",
                "%",
                1.0,
                PlaneUtilisation,
            ),
        ],
        claims: claims.to_vec(),
        table: bound::table(reader),
    }
}

/// Pages written along under io-parallel.
fn along(experiment: &'static str, case: &str) -> Measure {
    of(WritesAlong, experiment, format!("{case}/io-parallel"))
}

/// A figure of io-parallel over that of the baseline.
fn over_blocking(quantity: Quantity, experiment: &'static str, case: &str) -> Measure {
    ratio(quantity, experiment, &format!("{case}/io-parallel"), &format!("{case}/blocking"))
}

/// How much lower io-parallel makes the mean of all requests.
fn below_blocking(experiment: &'static str, case: &str) -> Measure {
    lowered(Mean, experiment, &format!("{case}/blocking"), &format!("{case}/io-parallel"))
}

fn affected(reader: &Reader<'_>) -> Finding {
    let claims = [
        "die-affected-reads-par",
        "die-affected-reads-vic",
        "die-affected-writes-par",
        "die-affected-writes-vic",
        "die-affected-reads-par-four",
        "die-affected-reads-vic-four",
        "die-affected-writes-par-four",
        "die-affected-writes-vic-four",
        "die-affected-reads-further",
        "die-affected-reads-high",
    ];
    let say = |quantity, schedule| reader.say(&average(quantity, schedule), Unit::Ns);
    let sibling =
        |quantity| reader.say(&siblings::gain(None, quantity, "2-planes", "io-parallel"), Unit::Percent);
    Finding {
        id: "die-affected",
        question: "What do requests gain that meet a collection in their die?".into(),
        text: format!(
            "Averaged over the volumes, a read that meets collection takes {} under `blocking`, {} under \
             `io-parallel` and {} with victims that match waiting reads. A write takes {}, {} and {}. These are \
             means over the requests that met a collection under the schedule at hand. Which requests do, and \
             how many, differs between schedules. So a gain here need not be one for any request: a schedule that makes fewer \
             requests meet collection changes the mean too. The gains are {} and {} for reads, and {} and {} for writes. \
             Only requests for sibling planes can go along with a collection. Under `io-parallel` the mean of reads falls by {} \
             if their own plane collects, and by {} if only sibling planes do. For writes these are {} and {}. (A negative \
             figure means that it rises.) The last table has the same under other readings.",
            say(MetGcReadMean, "blocking"),
            say(MetGcReadMean, "io-parallel"),
            say(MetGcReadMean, "read-match"),
            say(MetGcWriteMean, "blocking"),
            say(MetGcWriteMean, "io-parallel"),
            say(MetGcWriteMean, "read-match"),
            reader.claim(claims[0]),
            reader.claim(claims[1]),
            reader.claim(claims[2]),
            reader.claim(claims[3]),
            sibling(MetGcMean(Met::OwnReads)),
            sibling(MetGcMean(Met::SiblingReads)),
            sibling(MetGcMean(Met::OwnWrites)),
            sibling(MetGcMean(Met::SiblingWrites)),
        ),
        conclusions: vec![
            (
                reader.below(&along(OPEN, "mds_0/2-planes"), 10.0)
                    && reader.above(&along(OPEN, "proj_0/2-planes"), 20.0)
                    && reader.above(&along(SWEEP, "mds_0-victims-4"), 40.0),
                format!(
                    "The gain comes from pages that are written along with the collection, and in the long run \
                     there are next to none. A plane with two open blocks has already set one aside when the \
                     next collection starts. It uses that one up instead of opening another, so every plane's \
                     block stands at another offset. On mds_0 {} of the writes that meet collection are written \
                     along, and nothing is gained. Planes of proj_0 still open new blocks after 600,000 \
                     requests, and therefore erase {} as many as the baseline. There {} are written along, and \
                     the mean of all requests is {} lower. If an event takes four victims, planes fill and open \
                     blocks in step within it. Then {} are written along, the mean is {} lower, and as many \
                     blocks are erased ({}). This last gain is due to pairing alone.",
                    reader.say(&along(OPEN, "mds_0/2-planes"), Unit::Percent),
                    reader.say(&over_blocking(Erases, OPEN, "proj_0/2-planes"), Unit::Times),
                    reader.say(&along(OPEN, "proj_0/2-planes"), Unit::Percent),
                    reader.say(&below_blocking(OPEN, "proj_0/2-planes"), Unit::Percent),
                    reader.say(&along(SWEEP, "mds_0-victims-4"), Unit::Percent),
                    reader.say(&below_blocking(SWEEP, "mds_0-victims-4"), Unit::Percent),
                    reader.say(&over_blocking(Erases, SWEEP, "mds_0-victims-4"), Unit::Times),
                ),
            ),
            (
                reader.below(&Measure::Minus(
                    Box::new(average(PlaneUtilisation, "read-match")),
                    Box::new(average(PlaneUtilisation, "io-parallel")),
                ), 1.0),
                "Victims that match waiting reads add next to nothing. Few reads wait, and a read matches only \
                 at the exact offset of a valid page."
                    .into(),
            ),
        ],
        figures: vec![
            reader.forest("How much lower the mean of requests is that met collection", &claims[..8]),
            by_volume(
                reader,
                "Mean response time of writes that met collection, by volume",
                "ms",
                MS,
                MetGcWriteMean,
            ),
            by_volume(
                reader,
                "Mean response time of reads that met collection, by volume",
                "ms",
                MS,
                MetGcReadMean,
            ),
            by_volume(reader, "Requests that met collection, by volume", "%", PERCENT, MetGc),
        ],
        claims: claims.to_vec(),
        table: siblings::table(reader),
    }
}

fn everything(reader: &Reader<'_>) -> Finding {
    let claims = [
        "die-reads-par",
        "die-reads-vic",
        "die-writes-par",
        "die-writes-vic",
        "die-total-par",
        "die-total-vic",
        "die-ideal-writes",
        "die-par-ideal",
    ];
    let say = |quantity, schedule| reader.say(&average(quantity, schedule), Unit::Ns);
    Finding {
        id: "die-everything",
        question: "How much do all requests gain?".into(),
        text: format!(
            "Averaged over the volumes, a request takes {} under the baseline, {} if host operations join the \
             collection, and {} with ideal collection. This counts all requests, whether they met collection or \
             not. The gains of GC-PAR and GC-VIC are {} and {} for reads, {} and {} for writes, and {} and {} \
             for all requests.",
            say(Mean, "blocking"),
            say(Mean, "io-parallel"),
            say(Mean, "ideal"),
            reader.claim(claims[0]),
            reader.claim(claims[1]),
            reader.claim(claims[2]),
            reader.claim(claims[3]),
            reader.claim(claims[4]),
            reader.claim(claims[5]),
        ),
        figures: vec![
            reader.forest("How much lower the mean of all requests is", &claims[..6]),
            by_volume(reader, "Mean response time of writes, by volume", "ms", MS, WriteMean),
            by_volume(reader, "Mean response time of reads, by volume", "ms", MS, ReadMean),
        ],
        claims: claims.to_vec(),
        ..Finding::default()
    }
}

fn throughput(reader: &Reader<'_>) -> Finding {
    let claims = ["die-throughput", "die-throughput-high", "die-throughput-low"];
    Finding {
        id: "die-throughput",
        question: "How much throughput does a die gain if requests always wait?".into(),
        text: format!(
            "The queue depth is chosen so that the published share of requests meets collection. Throughput is \
             then {} that of the baseline. It is {} for the volumes with many affected requests, and {} for the \
             others.",
            reader.claim(claims[0]),
            reader.claim(claims[1]),
            reader.claim(claims[2]),
        ),
        conclusions: vec![(
            reader.above(&over_blocking(Throughput, CLOSED, "usr_0"), 1.05)
                && reader.below(&over_blocking(Throughput, CLOSED, "mds_0"), 1.05),
            format!(
                "The volumes whose planes still open new blocks gain. Of the writes that meet collection, {} \
                 are written along on usr_0 and {} on mds_0. In the paper the volumes with the most \
                 affected requests gain most. Here they gain nothing.",
                reader.say(&along(CLOSED, "usr_0"), Unit::Percent),
                reader.say(&along(CLOSED, "mds_0"), Unit::Percent),
            ),
        )],
        figures: vec![reader.forest("Throughput over that of the baseline", &claims)],
        claims: claims.to_vec(),
        ..Finding::default()
    }
}

/// What was changed in the sweep: the name of the variants, and what it says.
const CHANGES: [(&str, &str); 12] = [
    ("as-calibrated", "nothing"),
    ("start-2%", "collection starts at 2% of free blocks"),
    ("start-10%", "collection starts at 10% of free blocks"),
    ("victims-4", "four victims an event"),
    ("open-4", "four open blocks a plane"),
    ("open-16", "sixteen open blocks a plane"),
    ("burst-500", "bursts of 500 writes"),
    ("burst-50000", "bursts of 50,000 writes"),
    ("poisson", "writes do not cluster"),
    ("fill-70%", "70% of the device is filled"),
    ("fill-50%", "half of the device is filled"),
    ("hot", "nine in ten requests go to two thousandths of the device"),
];

/// A variant of the sweep.
fn changed(volume: &str, change: &str, schedule: &str) -> String {
    format!("{volume}-{change}/{schedule}")
}

/// How busy planes are, a line a change.
fn planes_busy(reader: &Reader<'_>) -> String {
    let mut table = String::from("| changed | planes busy |\n|---|--:|\n");
    for (change, words) in CHANGES {
        let busy = of(PlaneUtilisation, SWEEP, changed("mds_0", change, "io-parallel"));
        let _ = writeln!(table, "| {words} | {} |", reader.say(&busy, Unit::Percent));
    }
    table
}

/// Mean response times of two volumes under each schedule.
fn by_schedule(reader: &Reader<'_>) -> String {
    let schedules = ["blocking", "io-parallel", "preemptive", "preemptive-io-parallel"];
    let mut table = format!("| volume | {} |\n|---|--:|--:|--:|--:|\n", schedules.join(" | "));
    for volume in ["mds_0", "proj_0"] {
        let mean =
            |schedule| reader.say(&of(Mean, SWEEP, changed(volume, "as-calibrated", schedule)), Unit::Ns);
        let _ = writeln!(table, "| {volume} | {} |", schedules.map(mean).join(" | "));
    }
    table
}

fn sweep(reader: &Reader<'_>) -> Finding {
    let preempts = |volume: &str| {
        let name = |schedule: &str| changed(volume, "as-calibrated", schedule);
        ratio(Mean, SWEEP, &name("preemptive"), &name("io-parallel"))
    };
    let chart = |title: &str, unit: &str, schedules: &[&str], of: &dyn Fn(&str, &str) -> Measure| {
        reader.chart(
            &Shape::lines(title, "what is changed", unit).kinds().scaled(1.0),
            &CHANGES.map(|(change, _)| change),
            schedules,
            of,
        )
    };
    Finding {
        id: "die-sweep",
        question: "What decides how much the other planes can do?".into(),
        text: "The first table changes one thing of mds_0 at a time. It shows how busy the planes of a die that collects are \
               under io-parallel. The second table gives the mean response time under each schedule, as calibrated."
            .into(),
        table: format!("{}\n{}", planes_busy(reader), by_schedule(reader)),
        conclusions: vec![(
            reader.below(&preempts("mds_0"), 0.5) && reader.below(&preempts("proj_0"), 0.5),
            "Interrupting the collection gains far more than joining it.".into(),
        ), (
            reader.above(&of(WritesPerMove, SWEEP, changed("mds_0", "fill-50%", "io-parallel")), 100.0)
                && reader.below(&of(PlaneUtilisation, SWEEP, changed("mds_0", "fill-50%", "io-parallel")), 52.0),
            "The other planes lack writes that wait, one after the other without a gap, when a collection \
             starts. They do not lack writes in the long run. With half of the device filled the host writes \
             several pages for each page that a collection moves, and the other planes do no more, at this load."
                .into(),
        )],
        figures: vec![
            chart(
                "Utilisation of the planes of a die that collects",
                "%",
                &["io-parallel", "preemptive-io-parallel"],
                &|schedule, change| of(PlaneUtilisation, SWEEP, changed("mds_0", change, schedule)),
            ),
            chart(
                "How much lower the mean of all requests is than under the baseline",
                "%",
                &["io-parallel", "preemptive", "preemptive-io-parallel"],
                &|schedule, change| {
                    let variant = |schedule| changed("mds_0", change, schedule);
                    lowered(Mean, SWEEP, &variant("blocking"), &variant(schedule))
                },
            ),
        ],
        ..Finding::default()
    }
}
