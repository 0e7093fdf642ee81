//! IEEE Access 2019 (GAFTL): members that collect in turn, and somewhere else to write meanwhile.

mod ages;
mod room;

use super::Finding;
use super::write::{Reader, Shape, count, entry, head, line, ms};
use crate::claims::Unit;
use crate::claims::gaftl::{
    FILLS_OF, GAPS, GAPS_OF, MEMBERS, POLICIES, READS, READS_OF, REAL, REAL_OF, SEQUENTIAL, SEQUENTIAL_OF,
    SIZES, SIZES_OF, at, evaluated, most, spread, unaware_over_gaftl,
};
use crate::measure::Quantity::{Counted, Max, Mean, MembersInGc, MetGc};
use crate::measure::{Measure, Quantity, lowered, ratio};
use crate::verdict::Verdict;

/// All findings of the group.
pub(super) fn findings(reader: &Reader<'_>) -> Vec<Finding> {
    vec![
        sizes(reader),
        turns(reader),
        gaps(reader),
        reads(reader),
        sequential(reader),
        real(reader),
        room::reserves(reader),
        room::fills(reader),
        ages::finding(reader),
    ]
}

/// How many times as high a policy's figure is as GAFTL's.
fn over_gaftl(quantity: Quantity, experiment: &'static str, point: &str, policy: &str) -> Measure {
    ratio(quantity, experiment, &format!("{point}/{policy}"), &format!("{point}/gaftl"))
}

/// All points of two axes, the second varying faster.
fn pairs(first: &[&str], second: &[&str]) -> Vec<String> {
    first.iter().flat_map(|a| second.iter().map(move |b| format!("{a}/{b}"))).collect()
}

fn owned(points: &[&str]) -> Vec<String> {
    points.iter().map(|point| (*point).to_owned()).collect()
}

/// A figure of all policies at every point of a sweep, and how much higher that of both baselines is than GAFTL's.
fn by_point(
    reader: &Reader<'_>,
    quantity: Quantity,
    experiment: &'static str,
    what: &str,
    points: &[String],
) -> String {
    let names = POLICIES.map(|policy| format!("{policy}, ms"));
    let columns: Vec<&str> = [what].into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = head(&[columns.as_slice(), &["unaware / gaftl", "preemptive / gaftl"]].concat());
    for point in points {
        let times = POLICIES.map(|policy| ms(reader, &at(quantity, experiment, point, policy)));
        let gains = ["unaware", "preemptive"]
            .map(|policy| entry(reader, &over_gaftl(quantity, experiment, point, policy), Unit::Times));
        line(&mut table, [point.clone()].into_iter().chain(times).chain(gains));
    }
    table
}

/// Means of all policies over the points of a sweep.
fn sweep(
    reader: &Reader<'_>,
    (title, x_title): (&str, &str),
    experiment: &'static str,
    points: &[&str],
) -> (String, String) {
    reader.chart(&Shape::lines(title, x_title, "ms").log(), points, &POLICIES, |policy, point| {
        at(Mean, experiment, point, policy)
    })
}

/// A share in percent, without its interval.
fn percent(reader: &Reader<'_>, measure: &Measure) -> String {
    reader.interval(measure).map_or_else(|| "-".to_owned(), |share| format!("{:.1}%", 100.0 * share.mean))
}

fn sizes(reader: &Reader<'_>) -> Finding {
    let claims = ["gaftl-4kb", "gaftl-10kb", "gaftl-unaware-size", "gaftl-4kb-dies", "gaftl-10kb-dies"];
    let mean = |point, policy| reader.say(&at(Mean, SIZES_OF, point, policy), Unit::Ns);
    let preemptive_wins = over_gaftl(Mean, SIZES_OF, "chip/10kB", "preemptive");
    let of_member = |member: &'static str| {
        let title = match member {
            "chip" => "Mean response time by size of request, a member is one chip (Fig. 12)",
            _ => "Mean response time by size of request, a member has 64 dies",
        };
        reader.chart(&Shape::lines(title, "size", "ms").log(), &SIZES, &POLICIES, move |policy, size| {
            at(Mean, SIZES_OF, &format!("{member}/{size}"), policy)
        })
    };
    let migrating = ratio(Mean, SIZES_OF, "chip/4kB/gaftl-migrating", "chip/4kB/gaftl");
    let on_dies = ["dies/4kB", "dies/8kB", "dies/10kB"].map(|point| unaware_over_gaftl(SIZES_OF, point));
    Finding {
        id: "gaftl",
        question: "What is GAFTL worth, and on which members?".into(),
        text: format!(
            "GAFTL keeps a RAID-5 array of flash chips fast while one of them collects. Members collect one at a time. \
             Meanwhile, reads of the member that collects are rebuilt from the others, and its writes go to stripes kept free on \
             the others (`gaftl` without migration of parity and without forced writes). With `gaftl-migrating` parity also moves \
             away from the member that collects, and returns in idle time. Five members run under 1,000 requests a second, a fifth of them reads \
             ([configuration D](../experiments/configuration-d.toml)). `unaware` lets every member collect when it must. \
             `preemptive` also collects without coordination, and lets requests go between the steps of a collection. The paper \
             does not say what a member is. Its text speaks of chips, so a member is one chip here. With 4 kB the mean is {} \
             under `unaware`, {} under `preemptive`, {} under `gaftl` and {} under `ideal`. With 10 kB it is {}, {}, {} and {}. If \
             a member is an SSD of 64 such chips, the unaware array takes {} and `gaftl` {} with 4 kB. \
             With 10 kB an unaware array of chips takes {} as long as with 4 kB. If it is full it takes {}.",
            mean("chip/4kB", "unaware"),
            mean("chip/4kB", "preemptive"),
            mean("chip/4kB", "gaftl"),
            mean("chip/4kB", "ideal"),
            mean("chip/10kB", "unaware"),
            mean("chip/10kB", "preemptive"),
            mean("chip/10kB", "gaftl"),
            mean("chip/10kB", "ideal"),
            mean("dies/4kB", "unaware"),
            mean("dies/4kB", "gaftl"),
            reader.claim("gaftl-unaware-size"),
            reader.say(&ratio(Mean, FILLS_OF, "100/10kB/unaware", "100/4kB/unaware"), Unit::Times),
        ),
        conclusions: vec![
            (
                reader.verdict("gaftl-4kb") == Verdict::Within && reader.below(&preemptive_wins, 1.0),
                format!(
                    "On chips and with small requests GAFTL does what the paper says: at 4 kB an unaware array takes {} as long. \
                     At 10 kB it takes {}, not ten times, and preemptive collection, which needs no coordination, is \
                     faster than GAFTL. [All free stripes are taken there](#how-many-stripes-does-gaftl-have-to-keep-free).",
                    reader.claim("gaftl-4kb"),
                    reader.claim("gaftl-10kb"),
                ),
            ),
            (
                reader.above(&migrating, 1.0),
                format!(
                    "Moving parity away from members that collect costs time and does not save any: at 4 kB the mean is {} \
                     that without. A unit has to give way to parity, is displaced and comes home later.",
                    reader.say(&migrating, Unit::Times),
                ),
            ),
            (
                on_dies.iter().all(|gain| reader.below(gain, 2.0)),
                format!(
                    "If a member has 64 dies, an unaware array takes {} as long as GAFTL at 4 kB. Little of a member is busy at \
                     this load, whoever collects. So the gains of the paper are those of arrays of chips.",
                    reader.claim("gaftl-4kb-dies"),
                ),
            ),
        ],
        figures: vec![
            of_member("chip"),
            of_member("dies"),
            reader.forest("Mean of an unaware array over GAFTL's, or over its own with 4 kB", &claims),
        ],
        claims: claims.to_vec(),
        table: by_point(reader, Mean, SIZES_OF, "member and size", &pairs(&MEMBERS, &SIZES)),
    }
}

/// What GAFTL counted under every load.
fn turns(reader: &Reader<'_>) -> Finding {
    let mut table = head(&[
        "sweep and load",
        "n x g, unaware",
        "n x g, gaftl",
        "turns",
        "displaced",
        "met collection",
        "no free stripe",
        "several collect",
        "state P",
        "state N",
    ]);
    let mut only_full = true;
    let runs_out = [(SIZES_OF, "chip/8kB"), (SIZES_OF, "chip/10kB"), (REAL_OF, "postmark")]
        .iter()
        .all(|(experiment, point)| reader.above(&at(Counted("waits_full"), experiment, point, "gaftl"), 0.0));
    for (experiment, point) in evaluated() {
        let of = |quantity| at(quantity, experiment, &point, "gaftl");
        let is_above = |name| reader.above(&of(Counted(name)), 0.0) || !reader.below(&of(Counted(name)), 0.5);
        let waits = is_above("waits_full") || is_above("waits_several");
        only_full &= waits || reader.interval(&of(MetGc)).is_some_and(|met| met.mean == 0.0);
        let busy = |policy| entry(reader, &at(MembersInGc, experiment, &point, policy), Unit::Plain);
        let counts = ["waits_full", "waits_several", "entered_p", "entered_n"]
            .map(|name| count(reader, &of(Counted(name))));
        let cells = [
            format!("{experiment}: {point}"),
            busy("unaware"),
            busy("gaftl"),
            count(reader, &of(Counted("grants"))),
            count(reader, &of(Counted("displaced"))),
            percent(reader, &of(MetGc)),
        ];
        line(&mut table, cells.into_iter().chain(counts));
    }
    Finding {
        id: "gaftl-turns",
        question: "Does a request wait for collection under GAFTL?".into(),
        text: format!(
            "The table has every load that the paper evaluates, on chips. *n x g* is how many members collect at a time, on \
             average; below 1 they can take turns. *Turns* counts collections, *displaced* what was written to free stripes, in \
             pages. *Met collection* is the share of requests that met one. *No free stripe* counts rows whose write found all of \
             them taken, and *several collect* rows that found more than one member collecting. In the paper's state P one member \
             had to collect at once, in N several had to and nobody waited for a turn. Over all loads the largest share that met \
             collection is {}.",
            percent(reader, &most(MetGc)),
        ),
        conclusions: vec![
            (
                only_full && runs_out,
                "No request waits for collection as long as a stripe is free and no two members have to collect at once. Under \
                 requests of 8 and 10 kB and under the stand-in for Postmark all free stripes are taken, and writes wait. So the \
                 paper's promise has a condition that it does not name: displaced data must get home as fast as new \
                 data is displaced."
                    .into(),
            ),
            (
                reader.verdict("gaftl-state-n") == Verdict::Within,
                "State N was never entered under these loads, as the paper says.".into(),
            ),
        ],
        claims: vec!["gaftl-state-n", "gaftl-no-wait"],
        table,
        ..Finding::default()
    }
}

fn gaps(reader: &Reader<'_>) -> Finding {
    let ideal = spread(GAPS_OF, &GAPS, "ideal");
    Finding {
        id: "gaftl-arrival",
        question: "How does GAFTL depend on the time between arrivals?".into(),
        text: format!(
            "Requests of 4 kB come every 1, 3 and 5 ms on average, on chips. From the lowest to the highest, the mean under GAFTL \
             is {}. With ideal collection it is {}. An unaware array gets faster with every step, by {} at least.",
            reader.claim("gaftl-flat-gaps"),
            reader.say(&ideal, Unit::Times),
            reader.claim("gaftl-unaware-gaps"),
        ),
        conclusions: vec![(
            reader.verdict("gaftl-flat-gaps") == Verdict::NotReproduced && reader.above(&ideal, 1.1),
            "GAFTL is not as constant as claimed, and cannot be: most of what it varies by is left if collection takes no time. \
             At 1 ms requests wait for one another."
                .into(),
        )],
        figures: vec![sweep(
            reader,
            ("Mean response time by time between arrivals (Fig. 13)", "time between arrivals"),
            GAPS_OF,
            &GAPS,
        )],
        claims: vec!["gaftl-flat-gaps", "gaftl-unaware-gaps"],
        table: by_point(reader, Mean, GAPS_OF, "time between arrivals", &owned(&GAPS)),
    }
}

fn reads(reader: &Reader<'_>) -> Finding {
    let falls = ratio(Mean, READS_OF, "10/unaware", "90/unaware");
    Finding {
        id: "gaftl-reads",
        question: "How does GAFTL depend on the share of reads?".into(),
        text: format!(
            "At a share of reads of 30% an unaware array takes {} as long as GAFTL. With 10% of reads it takes {} as long as with \
             90%.",
            reader.claim("gaftl-reads-30"),
            reader.say(&falls, Unit::Times),
        ),
        conclusions: vec![(
            reader.above(&falls, 1.0),
            "The more reads, the faster every array, and the less GAFTL gains. The paper's text says of Fig. 14 that the unaware array \
             gets slower with the share of reads, and three paragraphs later that few reads gain most. Only the second agrees \
             with what we see."
                .into(),
        )],
        figures: vec![sweep(
            reader,
            ("Mean response time by share of reads (Fig. 14)", "reads, per cent"),
            READS_OF,
            &READS,
        )],
        claims: vec!["gaftl-reads-30"],
        table: by_point(reader, Mean, READS_OF, "reads, per cent", &owned(&READS)),
    }
}

fn sequential(reader: &Reader<'_>) -> Finding {
    Finding {
        id: "gaftl-sequential",
        question: "How does GAFTL depend on the share of sequential requests?".into(),
        text: format!(
            "The share rises in steps of 20%, with requests of 4 kB, so that whole stripes are never written at once. From the lowest \
             to the highest, the mean under GAFTL is {}, and under `unaware` {}.",
            reader.claim("gaftl-flat-sequential"),
            reader.say(&spread(SEQUENTIAL_OF, &SEQUENTIAL, "unaware"), Unit::Times),
        ),
        conclusions: vec![(
            reader.verdict("gaftl-flat-sequential") == Verdict::Within,
            "GAFTL hardly depends on the share of sequential requests, as the paper says. Forced random writes, to which the paper \
             puts it down, are not switched on here (`forced`), and with small requests they are not needed for it."
                .into(),
        )],
        figures: vec![sweep(
            reader,
            ("Mean response time by share of sequential requests (Fig. 15)", "sequential, per cent"),
            SEQUENTIAL_OF,
            &SEQUENTIAL,
        )],
        claims: vec!["gaftl-flat-sequential"],
        table: by_point(reader, Mean, SEQUENTIAL_OF, "sequential, per cent", &owned(&SEQUENTIAL)),
    }
}

fn real(reader: &Reader<'_>) -> Finding {
    let claims = [
        "gaftl-postmark",
        "gaftl-postmark-preemptive",
        "gaftl-boot",
        "gaftl-boot-preemptive",
        "gaftl-max-postmark",
        "gaftl-max-boot",
        "gaftl-max-unaware-postmark",
        "gaftl-max-unaware-boot",
    ];
    let ideal = |quantity, load: &str, before: &str| {
        let [before, after] = [before, "ideal"].map(|policy| format!("{load}/{policy}"));
        (lowered(quantity, REAL_OF, &before, &after), ratio(quantity, REAL_OF, &before, &after))
    };
    let (boot_max, _) = ideal(Max, "boot", "preemptive");
    let (_, boot_times) = ideal(Max, "boot", "unaware");
    let (_, postmark_times) = ideal(Mean, "postmark", "unaware");
    let (_, postmark_max) = ideal(Max, "postmark", "unaware");
    let chart = |title: &str, quantity| {
        reader.chart(
            &Shape::lines(title, "load", "ms").kinds().log(),
            &REAL,
            &POLICIES,
            move |policy, load| at(quantity, REAL_OF, load, policy),
        )
    };
    let mut table = by_point(reader, Mean, REAL_OF, "mean", &owned(&REAL));
    table.push('\n');
    table.push_str(&by_point(reader, Max, REAL_OF, "longest", &owned(&REAL)));
    Finding {
        id: "gaftl-real",
        question: "What is GAFTL worth under loads like Postmark and the start of a kernel?".into(),
        text: format!(
            "Both loads are stand-ins with nothing of the traces but what the paper's text says of them: Postmark writes much and fast in \
             small requests, Boot mostly reads, with pauses. Their figures are invented. Under Boot GAFTL lowers the mean by {} against \
             an unaware array and by {} against preemptive collection. Under Postmark an unaware array takes {} as long as GAFTL. \
             Ideal collection shows what could be had at most: it lowers the longest response of Boot by {} against preemptive \
             collection. Against an unaware array it divides the longest response by {} under Boot and by {} under Postmark, and \
             the mean of Postmark by {}.",
            reader.claim("gaftl-boot"),
            reader.claim("gaftl-boot-preemptive"),
            reader.claim("gaftl-postmark"),
            reader.say(&boot_max, Unit::Percent),
            reader.say(&boot_times, Unit::Times),
            reader.say(&postmark_max, Unit::Times),
            reader.say(&postmark_times, Unit::Times),
        ),
        conclusions: vec![
            (
                reader.below(&boot_max, 58.0)
                    && reader.below(&boot_times, 100.0)
                    && reader.below(&postmark_max, 100.0),
                "The claims of the longest response cannot be met by any scheme here: collection that takes no time does not gain \
                 several orders of magnitude either. A request that meets a collection waits for a few collections at most, and a \
                 write that meets none takes a sizeable part of one."
                    .into(),
            ),
            (
                reader.below(&postmark_times, 13.0)
                    && reader.above(&at(Counted("waits_full"), REAL_OF, "postmark", "gaftl"), 0.0),
                "Under Postmark even ideal collection does not gain the claimed factor of 13, and GAFTL gains less than \
                 preemptive collection, because it runs out of free stripes."
                    .into(),
            ),
        ],
        figures: vec![
            chart("Mean response time under both stand-ins (Fig. 16)", Mean),
            chart("Longest response time under both stand-ins (Fig. 17)", Max),
        ],
        claims: claims.to_vec(),
        table,
    }
}
