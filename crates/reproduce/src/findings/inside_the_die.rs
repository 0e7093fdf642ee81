//! HPDC 2018: what the other planes of a die do while one collects.

use std::fmt::Write;

use super::Finding;
use super::write::{MS, Reader, Shape, of};
use crate::claims::Unit;
use crate::claims::inside_the_die::{
    AFFECTED_READS, AFFECTED_WRITES, CLOSED, OPEN, PLACES_NEEDED, SWEEP, VOLUMES, Volume, variant,
};
use crate::measure::Quantity::{
    Erases, GcAffected, GcAffectedReadMean, GcAffectedReads, GcAffectedWriteMean, GcAffectedWrites, Mean,
    NoWriteWaiting, OtherOffset, PagesMoved, PlaneUtilisation, ReadMean, ReadsPaired, Throughput,
    WaitingAtGc, WriteMean, WritesAlong, WritesPaired, WritesPerMove,
};
use crate::measure::{Measure, Quantity, lowered, ratio};

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
            "Synthetic ones with the share and the size of writes of the paper's 13 volumes, one device of 1 TiB, two \
             planes a die ([configuration C](../experiments/configuration-c.toml)). How fast they write is calibrated to \
             the share of requests that meet collection under the baseline, which the paper publishes, and to nothing \
             else; writes come in bursts that take as much of the time as makes reads meet it as much less often as the \
             paper says: {} of all requests are reads that do and {} writes that do, where the paper has \
             {AFFECTED_READS}% and {AFFECTED_WRITES}%. Both of the paper's figures cannot be met at once: the shares in \
             its Table 2 have a mean of {:.1}%, these two a sum of {:.1}%.",
            mean(GcAffectedReads),
            mean(GcAffectedWrites),
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
        let four = of(GcAffected, OPEN, variant(volume, "4-planes", "blocking"));
        let _ = writeln!(
            table,
            "| {name} | {writes}% | {write_kb} KB | {gc_affected}% | {} | {} | {} |",
            percent(reader, &cell(GcAffected, name, "blocking")),
            percent(reader, &cell(GcAffectedReads, name, "blocking")),
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
            "Of two planes one works while the die collects, of four likewise one: {} and {}. If host operations may join \
             the commands of the collection it is {} and {}, and {} with victims chosen to match waiting reads. Of the \
             places beside a program of the collection {} are taken; for {} no write waits, and in {} the other plane's \
             next page has another offset. Of the places beside a read {} are taken.",
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
                "One place left empty ends it: frontiers begin at the same offset, the collection's moves on with every \
                 page, and the other plane's, once behind, never catches up before the next block."
                    .into(),
            ),
            (
                reader.below(&average(WaitingAtGc, "blocking"), 0.5 * PLACES_NEEDED)
                    && reader.below(&average(WritesPerMove, "blocking"), PLACES_NEEDED),
                format!(
                    "Nor could it be otherwise on a full device that is overwritten evenly: a collection moves {} pages a \
                     block and meets {} operations waiting. In the long run the host writes {} of the pages that \
                     collections move, so that not even all of its writes would fill the {PLACES_NEEDED:.1}% of places \
                     that the paper's utilisation takes. Victims there must have held fewer valid pages.",
                    plain(PagesMoved, "blocking"),
                    plain(WaitingAtGc, "blocking"),
                    reader.say(&average(WritesPerMove, "blocking"), Unit::Percent),
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
        ..Finding::default()
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
    Finding {
        id: "die-affected",
        question: "What do requests gain that meet a collection in their die?".into(),
        text: format!(
            "A read that meets collection takes {} on average over the volumes if the die does nothing else, {} if \
             it may join, {} with victims that match; a write {}, {} and {}. These are means over those that met one under \
             the schedule at hand: which ones do, and how many, differs between schedules. Gains are {} and {} for reads, {} \
             and {} for writes.",
            say(GcAffectedReadMean, "blocking"),
            say(GcAffectedReadMean, "io-parallel"),
            say(GcAffectedReadMean, "read-match"),
            say(GcAffectedWriteMean, "blocking"),
            say(GcAffectedWriteMean, "io-parallel"),
            say(GcAffectedWriteMean, "read-match"),
            reader.claim(claims[0]),
            reader.claim(claims[1]),
            reader.claim(claims[2]),
            reader.claim(claims[3]),
        ),
        conclusions: vec![
            (
                reader.below(&along(OPEN, "mds_0/2-planes"), 10.0)
                    && reader.above(&along(OPEN, "proj_0/2-planes"), 20.0)
                    && reader.above(&along(SWEEP, "mds_0-victims-4"), 40.0),
                format!(
                    "The gain goes with the pages that are written along. In the long run there are next to none, because a \
                     plane with two open blocks has set one aside already when the next collection starts: it uses that one \
                     up instead of opening another, and every plane's stands at another offset. Of mds_0 they are {} of the \
                     writes that meet collection, and nothing is gained. Planes of proj_0 still open new blocks after 600,000 \
                     requests and therefore erase {} as many as the baseline; there they are {}, and the mean of all requests \
                     is {} lower. Where an event takes four victims, planes fill and open blocks in step within it: they are \
                     {}, the mean is {} lower, and as many blocks are erased ({}). That is what pairing is worth.",
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
                "Victims that match waiting reads add next to nothing: few reads wait, and a read matches only at the very \
                 offset of a valid page."
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
                GcAffectedWriteMean,
            ),
            by_volume(
                reader,
                "Mean response time of reads that met collection, by volume",
                "ms",
                MS,
                GcAffectedReadMean,
            ),
            by_volume(reader, "Requests that met collection, by volume", "%", PERCENT, GcAffected),
        ],
        claims: claims.to_vec(),
        ..Finding::default()
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
        question: "What is left of it over all requests?".into(),
        text: format!(
            "Over all requests of a volume, whether they met collection or not, and averaged over the volumes, a request \
             takes {} under the baseline, {} if host operations join, {} if collection took no time. Gains are {} and {} for \
             reads, {} and {} for writes, {} and {} for all.",
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
        question: "How much more does a die do for a host that is never out of work?".into(),
        text: format!(
            "With as many requests out as make the published share of them meet collection, throughput is {} that of the \
             baseline: {} for the volumes of which much is affected, {} for the others.",
            reader.claim(claims[0]),
            reader.claim(claims[1]),
            reader.claim(claims[2]),
        ),
        conclusions: vec![(
            reader.above(&over_blocking(Throughput, CLOSED, "usr_0"), 1.05)
                && reader.below(&over_blocking(Throughput, CLOSED, "mds_0"), 1.05),
            format!(
                "Those that gain are the volumes whose planes still open new blocks, as above: pages written \
                 along are {} of the writes of usr_0 that meet collection and {} of those of mds_0. In the paper those \
                 gain most of which most is affected; here they gain nothing.",
                reader.say(&along(CLOSED, "usr_0"), Unit::Percent),
                reader.say(&along(CLOSED, "mds_0"), Unit::Percent),
            ),
        )],
        figures: vec![reader.forest("Throughput over that of the baseline", &claims)],
        claims: claims.to_vec(),
        ..Finding::default()
    }
}

/// What was changed in the sweep, as its variants are named.
const CHANGES: [&str; 12] = [
    "as-calibrated",
    "start-2%",
    "start-10%",
    "victims-4",
    "open-4",
    "open-16",
    "burst-500",
    "burst-50000",
    "poisson",
    "fill-70%",
    "fill-50%",
    "hot",
];

fn sweep(reader: &Reader<'_>) -> Finding {
    let volumes = ["mds_0"];
    let name = |volume: &str, change: &str, schedule: &str| format!("{volume}-{change}/{schedule}");
    let calibrated = |volume: &str, schedule: &str| {
        reader.say(&of(Mean, SWEEP, name(volume, "as-calibrated", schedule)), Unit::Ns)
    };
    let busy = |change: &str| {
        reader.say(&of(PlaneUtilisation, SWEEP, name("mds_0", change, "io-parallel")), Unit::Percent)
    };
    let preempts = |volume: &str| {
        let name = |schedule: &str| name(volume, "as-calibrated", schedule);
        ratio(Mean, SWEEP, &name("preemptive"), &name("io-parallel"))
    };
    let chart = |title: &str, unit: &str, schedules: &[&str], of: &dyn Fn(&str, &str) -> Measure| {
        reader.chart(
            &Shape::lines(title, "what is changed", unit).kinds().scaled(1.0),
            &CHANGES,
            schedules,
            of,
        )
    };
    Finding {
        id: "die-sweep",
        question: "What decides how much the other planes can do?".into(),
        text: format!(
            "mds_0 with one thing changed at a time. Under io-parallel the planes of a die that collects are busy {} as \
             calibrated; {} and {} if collection starts at 2% and at 10% of free blocks; {} with four victims an event; {} and \
             {} with four and with sixteen open blocks a plane; {} and {} with bursts of 500 and of 50,000 writes, {} if writes \
             do not cluster; {} and {} if 70% and half of the device are filled; {} if nine in ten requests go to two \
             thousandths of it. A request of mds_0 takes {} under the baseline, {} under io-parallel, {} if the host \
             interrupts the collection and {} if it does both; one of proj_0 {}, {}, {} and {}.",
            busy("as-calibrated"),
            busy("start-2%"),
            busy("start-10%"),
            busy("victims-4"),
            busy("open-4"),
            busy("open-16"),
            busy("burst-500"),
            busy("burst-50000"),
            busy("poisson"),
            busy("fill-70%"),
            busy("fill-50%"),
            busy("hot"),
            calibrated("mds_0", "blocking"),
            calibrated("mds_0", "io-parallel"),
            calibrated("mds_0", "preemptive"),
            calibrated("mds_0", "preemptive-io-parallel"),
            calibrated("proj_0", "blocking"),
            calibrated("proj_0", "io-parallel"),
            calibrated("proj_0", "preemptive"),
            calibrated("proj_0", "preemptive-io-parallel"),
        ),
        conclusions: vec![(
            reader.below(&preempts("mds_0"), 0.5) && reader.below(&preempts("proj_0"), 0.5),
            "To interrupt the collection is worth far more than to join it.".into(),
        ), (
            reader.above(&of(WritesPerMove, SWEEP, name("mds_0", "fill-50%", "io-parallel")), 100.0)
                && reader.below(&of(PlaneUtilisation, SWEEP, name("mds_0", "fill-50%", "io-parallel")), 52.0),
            "With half of the device filled the host writes several pages for each that a collection moves, and the other \
             planes do no more, at this load: what is missing is not writes in the long run but writes that wait, one \
             after the other without a gap, when a collection begins."
                .into(),
        )],
        figures: vec![
            chart(
                "Utilisation of the planes of a die that collects",
                "%",
                &["io-parallel", "preemptive-io-parallel"],
                &|schedule, change| of(PlaneUtilisation, SWEEP, name(volumes[0], change, schedule)),
            ),
            chart(
                "How much lower the mean of all requests is than under the baseline",
                "%",
                &["io-parallel", "preemptive", "preemptive-io-parallel"],
                &|schedule, change| {
                    let variant = |schedule| name(volumes[0], change, schedule);
                    lowered(Mean, SWEEP, &variant("blocking"), &variant(schedule))
                },
            ),
        ],
        ..Finding::default()
    }
}
