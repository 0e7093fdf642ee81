//! Electronics 2025: how many channels of a device should collect at once.

use super::Finding;
use super::least;
use super::write::{Reader, Shape, count, entry, head, line, ms, of};
use crate::claims::Unit;
use crate::claims::adaptive;
use crate::claims::adaptive::{
    ADAPTIVE, ALL, CHANNELS, CHOSEN, CHOSEN_MOST, DATABASES, EAGER_LASTS, FROM_EMPTY, FULLNESS, HALF, HIGH,
    LARGE_PAGES, LOADS, LOW, MOST, PRIORITY, SCHEMES, SMALL_PAGES, THRESHOLDS, TIES, against_best, eager,
    in_turn, over, over_paper, thresholds,
};
use crate::measure::Quantity::{
    ChannelsInGc, EmptyBlocks, EmptyBlocksVariance, Erases, Mean, PagesMoved, ReadMax, ReadMean, WriteMax,
    WriteMean,
};
use crate::measure::{Measure, Quantity, ratio};

const SHOWN: [&str; 3] = [ADAPTIVE, ALL, HALF];
const FILLS: [&str; 4] = ["0.25", "0.45", "0.6", "0.7"];
const FILLED: [&str; 2] = ["cassandra", "rocksdb"];

/// All findings of the group.
pub(super) fn findings(reader: &Reader<'_>) -> Vec<Finding> {
    vec![
        against_the_best(reader),
        least::finding(reader),
        fullness(reader),
        empty_blocks(reader),
        order(reader),
        ramp(reader),
        most(reader),
        pages(reader),
    ]
}

fn cell(quantity: Quantity, load: &str, scheme: &str) -> Measure {
    adaptive::of(quantity, load, SMALL_PAGES, scheme)
}

fn against_the_best(reader: &Reader<'_>) -> Finding {
    let claims = [
        "channels-cassandra-read",
        "channels-cassandra-write",
        "channels-cassandra-read-max",
        "channels-cassandra-write-max",
        "channels-cassandra-read-turn",
        "channels-cassandra-write-turn",
        "channels-cassandra-read-max-turn",
        "channels-cassandra-write-max-turn",
        "channels-rocksdb-read",
        "channels-rocksdb-write",
        "channels-rocksdb-read-max",
        "channels-rocksdb-write-max",
        "channels-mongodb-read",
        "channels-mongodb-write",
        "channels-mongodb-read-max",
        "channels-mongodb-write-max",
        "channels-factor",
        "channels-factor-trimmed",
    ];
    let say = |load, scheme| reader.say(&cell(ReadMean, load, scheme), Unit::Ns);
    let faster = |load: &str| reader.below(&against_best(WriteMean, load, SMALL_PAGES), 1.0);
    let moved = |load, scheme| reader.say(&cell(PagesMoved, load, scheme), Unit::Plain);
    let moves_more = |load| {
        let less =
            Measure::Minus(Box::new(cell(PagesMoved, load, ADAPTIVE)), Box::new(cell(PagesMoved, load, ALL)));
        reader.above(&less, 0.0)
    };
    // Those of rocksdb-like are so far away that the others could not be told apart.
    let drawn: Vec<&str> = claims[..6].iter().chain(&claims[12..16]).copied().collect();
    Finding {
        id: "channels",
        question: "Should the number of channels that collect follow how full the device is?".into(),
        text: format!(
            "Seven stand-ins for the loads of Electronics 2025 run on one device of eight channels that starts \
             empty ([configuration E](../experiments/configuration-e.toml)). Once it has filled, three quarters \
             of the space are in use. Under mongodb-like it is less, because that load deletes nearly as many \
             files as it creates. On each load the adaptive scheme is compared with the best conventional \
             scheme. A read of cassandra-like takes {} under the adaptive scheme. It takes {} and {} if all or \
             half of the channels may collect from utilisation 0.7 on, and {} if all may from the start. A read \
             of rocksdb-like takes {}, {}, {} and {}.",
            say("cassandra", ADAPTIVE),
            say("cassandra", ALL),
            say("cassandra", HALF),
            say("cassandra", FROM_EMPTY),
            say("rocksdb", ADAPTIVE),
            say("rocksdb", ALL),
            say("rocksdb", HALF),
            say("rocksdb", FROM_EMPTY),
        ),
        conclusions: vec![
            (
                LOADS.iter().all(|load| faster(load) == (*load == "varmail")),
                format!(
                    "The adaptive scheme writes faster than the best conventional one under varmail-like alone. \
                     There a device that starts at 0.7 stays at 0.7 and moves {} of 64 pages a victim. The ramp \
                     lets it fill further and moves {}.",
                    moved("varmail", ALL),
                    moved("varmail", ADAPTIVE)
                ),
            ),
            (
                moves_more("rocksdb"),
                format!(
                    "On rocksdb-like a victim holds {} valid pages under the ramp and {} under a start at 0.7. \
                     More than half of the blocks are in use, so one channel always collects any block with an \
                     invalid page. It does not wait until whole files are gone. The paper does not say when a block is worth \
                     collecting: if a victim must be half invalid, this loss goes ([readings](#which-reading-of-electronics-2025-explains-which-figure)).",
                    moved("rocksdb", ADAPTIVE),
                    moved("rocksdb", ALL)
                ),
            ),
            (
                reader.below(&in_turn(WriteMean, "cassandra"), 1.5)
                    && reader.below(
                        &over(
                            Measure::Of(WriteMean, TIES, "cassandra/turn".into()),
                            cell(WriteMean, "cassandra", ADAPTIVE),
                        ),
                        1.0,
                    ),
                format!(
                    "On cassandra-like no victim holds a valid page, so all victims are equal. The lowest \
                     channel collects until it has none left, and striped requests wait for it. The paper does \
                     not say which of equal channels goes first. If they take turns, reads take {} and writes \
                     {} as long as under the best conventional scheme.",
                    reader.claim("channels-cassandra-read-turn"),
                    reader.claim("channels-cassandra-write-turn")
                ),
            ),
        ],
        figures: vec![
            reader.forest("The adaptive scheme over the best conventional one", &drawn),
            by_load(reader, "Mean response time of writes", WriteMean),
            by_load(reader, "Mean response time of reads", ReadMean),
            by_load(reader, "Longest response time of a write", WriteMax),
            by_load(reader, "Longest response time of a read", ReadMax),
        ],
        claims: claims.to_vec(),
        table: schemes(reader),
    }
}

/// A figure of every load under every scheme that has all of them.
fn by_load(reader: &Reader<'_>, title: &str, quantity: Quantity) -> (String, String) {
    let shape = Shape::lines(title, "load", "ms").kinds().log();
    reader.chart(&shape, &LOADS, &SHOWN, |scheme, load| cell(quantity, load, scheme))
}

/// Every load under every scheme.
fn schemes(reader: &Reader<'_>) -> String {
    let mut table = head(&[
        "load, scheme",
        "mean of reads, ms",
        "longest",
        "mean of writes, ms",
        "longest",
        "victims",
        "pages moved a victim",
        "channels in GC",
    ]);
    for load in LOADS {
        let eager = EAGER_LASTS.contains(&load).then_some(FROM_EMPTY);
        for scheme in SHOWN.into_iter().chain(eager) {
            let of = |quantity| cell(quantity, load, scheme);
            line(
                &mut table,
                [
                    format!("{load}, {scheme}"),
                    ms(reader, &of(ReadMean)),
                    ms(reader, &of(ReadMax)),
                    ms(reader, &of(WriteMean)),
                    ms(reader, &of(WriteMax)),
                    count(reader, &of(Erases)),
                    entry(reader, &of(PagesMoved), Unit::Plain),
                    entry(reader, &of(ChannelsInGc), Unit::Plain),
                ],
            );
        }
    }
    table
}

fn filled(quantity: Quantity, load: &str, fill: &str, scheme: &str) -> Measure {
    of(quantity, FULLNESS, format!("{load}-{fill}/{scheme}"))
}

fn fullness(reader: &Reader<'_>) -> Finding {
    let against = |quantity, load: &str, fill: &str| {
        let best = Measure::Lowest([ALL, HALF].map(|scheme| filled(quantity, load, fill, scheme)).to_vec());
        over(filled(quantity, load, fill, ADAPTIVE), best)
    };
    let mut table = head(&[
        "load, space in use",
        "reads: adaptive over the better of two",
        "writes",
        "victims",
        "pages moved a victim, adaptive",
    ]);
    for load in FILLED {
        for fill in FILLS {
            line(
                &mut table,
                [
                    format!("{load}, {fill}"),
                    entry(reader, &against(ReadMean, load, fill), Unit::Times),
                    entry(reader, &against(WriteMean, load, fill), Unit::Times),
                    entry(reader, &against(Erases, load, fill), Unit::Times),
                    entry(reader, &filled(PagesMoved, load, fill, ADAPTIVE), Unit::Plain),
                ],
            );
        }
    }
    let times = |load, fill| reader.say(&against(ReadMean, load, fill), Unit::Times);
    Finding {
        id: "channels-fullness",
        question: "What does the ramp cost where less of the device is in use?".into(),
        text: format!(
            "Reads of rocksdb-like take {} as long under the adaptive scheme as under the better of the two \
             that start at 0.7 if a quarter of the space is in use. They take {} as long at 45%, {} at 60% and \
             {} at 70%. For reads of cassandra-like these figures are {}, {}, {} and {}.",
            times("rocksdb", FILLS[0]),
            times("rocksdb", FILLS[1]),
            times("rocksdb", FILLS[2]),
            times("rocksdb", FILLS[3]),
            times("cassandra", FILLS[0]),
            times("cassandra", FILLS[1]),
            times("cassandra", FILLS[2]),
            times("cassandra", FILLS[3]),
        ),
        figures: vec![
            reader.chart(
                &Shape::lines(
                    "Mean of reads over that of the better conventional scheme",
                    "space in use",
                    "times",
                )
                .scaled(1.0)
                .log(),
                &FILLS,
                &FILLED,
                |load, fill| against(ReadMean, load, fill),
            ),
        ],
        table,
        ..Finding::default()
    }
}

fn empty_blocks(reader: &Reader<'_>) -> Finding {
    let claims = ["channels-empty-eager", "channels-empty-smooth", "channels-empty-smooth-half"];
    let mut table =
        head(&["load", "adaptive, (blocks/s)²", ALL, HALF, "mean of empty blocks: adaptive", ALL, HALF]);
    for load in LOADS {
        let row = |quantity| SHOWN.map(|scheme| cell(quantity, load, scheme));
        let cells = row(EmptyBlocksVariance).into_iter().map(|one| entry(reader, &one, Unit::Plain));
        let means = row(EmptyBlocks).into_iter().map(|one| count(reader, &one));
        line(&mut table, [load.to_owned()].into_iter().chain(cells).chain(means));
    }
    let eager = |load| {
        let one = |scheme| reader.say(&eager(EmptyBlocks, load, scheme), Unit::Plain);
        format!(
            "{} are empty on average if all channels collect from the start, and {} under the adaptive scheme",
            one(FROM_EMPTY),
            one(ADAPTIVE)
        )
    };
    Finding {
        id: "channels-empty",
        question: "How smoothly do empty blocks come and go?".into(),
        text: format!(
            "The smoothness is measured by the variance of the rate at which empty blocks come and go, from one \
             interval of 17 s to the next. Under the adaptive scheme it is {} that of all channels from 0.7 on, \
             and {} that of half of them. That includes the time in which \
             the empty device fills, which is most of the variance. Without it ([the reading \
             `after-filling`](#which-reading-of-electronics-2025-explains-which-figure), with hysteresis) these are {} and {}. Of the 16,384 blocks under cassandra-like, {}.",
            reader.claim(claims[1]),
            reader.claim(claims[2]),
            reader.under("after-filling", claims[1]),
            reader.under("after-filling", claims[2]),
            eager("cassandra"),
        ),
        conclusions: vec![(
            reader.below(&filled_before("rocksdb"), 1.0) && reader.above(&filled_before("mysql"), 1.0),
            "The ramp is smooth where whole files are deleted in bursts: on rocksdb-like empty blocks come and go less under it than \
             under a start at 0.7 with hysteresis, as the paper draws. Where pages are overwritten one by one, as on mysql-like, \
             schemes that start at 0.7 hold their level, and the ramp does not."
                .into(),
        )],
        figures: vec![reader.forest("Empty blocks", &claims)],
        claims: claims.to_vec(),
        table,
    }
}

/// How the ramp's empty blocks come and go once the device has filled, over those of all channels from 0.7 on.
fn filled_before(load: &str) -> Measure {
    let one = |scheme: &str| format!("{load}/{SMALL_PAGES}/{scheme}@after-filling");
    ratio(EmptyBlocksVariance, SCHEMES, &one(ADAPTIVE), &one(ALL))
}

fn order(reader: &Reader<'_>) -> Finding {
    let swapped = |quantity, load: &str, scheme: &str| {
        over(of(quantity, PRIORITY, format!("{load}/{scheme}")), cell(quantity, load, scheme))
    };
    let all = |quantity, scheme: &str| {
        Measure::Average(LOADS.iter().map(|load| swapped(quantity, load, scheme)).collect())
    };
    let say = |quantity, scheme| reader.say(&all(quantity, scheme), Unit::Times);
    Finding {
        id: "channels-order",
        question: "Does it matter whether collection goes ahead of user reads?".into(),
        text: format!(
            "In the comparison above, all channels from 0.7 on collect ahead of user reads, and the other \
             schemes behind them. If all channels from 0.7 on collect behind user reads, their mean of reads \
             becomes {} and their mean of writes {}, averaged over the loads. If the adaptive scheme collects \
             ahead of user reads, its means become {} and {}. With half of the channels they become {} and {}.",
            say(ReadMean, ALL),
            say(WriteMean, ALL),
            say(ReadMean, ADAPTIVE),
            say(WriteMean, ADAPTIVE),
            say(ReadMean, HALF),
            say(WriteMean, HALF),
        ),
        ..Finding::default()
    }
}

fn ramp(reader: &Reader<'_>) -> Finding {
    let claims = ["channels-thresholds", "channels-thresholds-erases"];
    let mut table = head(&[
        "low, high",
        "cassandra, ms",
        "mongodb, ms",
        "mysql, ms",
        "rocksdb, ms",
        "mean over (0.5, 0.85)",
        "erases over (0.5, 0.85)",
    ]);
    let paper = |load: &str| thresholds(load, CHOSEN);
    for low in LOW {
        for high in HIGH {
            let name = |load: &str| thresholds(load, (low, high));
            let means = DATABASES.map(|load| ms(reader, &of(Mean, THRESHOLDS, name(load))));
            let ratios =
                [over_paper(Mean, THRESHOLDS, name, paper), over_paper(Erases, THRESHOLDS, name, paper)];
            let ratios = ratios.map(|one| entry(reader, &one, Unit::Times));
            let label = format!("{}, {}", low.trim_start_matches("low-"), high.trim_start_matches("high-"));
            line(&mut table, [label].into_iter().chain(means).chain(ratios));
        }
    }
    Finding {
        id: "channels-ramp",
        question: "Where should the ramp begin and end?".into(),
        text: format!(
            "The table shows the mean response times of four loads (Table 7 of the paper, with thresholds of \
             ours). The last columns compare with the paper's thresholds, 0.5 and 0.85, averaged over the \
             loads. The best other pair has {} the mean of the paper's. The pair with the fewest erases has {} \
             the erases.",
            reader.claim(claims[0]),
            reader.claim(claims[1]),
        ),
        conclusions: vec![(
            reader.below(
                &over_paper(Mean, THRESHOLDS, |load: &str| thresholds(load, ("low-0.7", "high-0.95")), paper),
                1.0,
            ) && reader.below(&of(PagesMoved, THRESHOLDS, "rocksdb/low-0.6/high-0.85".into()), 1.0),
            format!(
                "The later the ramp starts and ends the better, in response time and in erases, on average over \
                 the loads. With a start at 0.6 the first channel collects from 0.66 on, which is above what \
                 rocksdb-like has in use. A victim then holds {} valid pages, and {} with the paper's \
                 thresholds.",
                reader.say(&of(PagesMoved, THRESHOLDS, "rocksdb/low-0.6/high-0.85".into()), Unit::Plain),
                reader.say(&of(PagesMoved, THRESHOLDS, "rocksdb/low-0.5/high-0.85".into()), Unit::Plain),
            ),
        )],
        figures: vec![
            reader.chart(
                &Shape::lines("Mean over that with 0.5 and 0.85", "low", "times")
                    .scaled(1.0)
                    .log()
                    .reference(1.0),
                &LOW,
                &HIGH,
                |high, low| over_paper(Mean, THRESHOLDS, |load: &str| format!("{load}/{low}/{high}"), paper),
            ),
        ],
        claims: claims.to_vec(),
        table,
    }
}

fn most(reader: &Reader<'_>) -> Finding {
    let claims = ["channels-most", "channels-most-erases"];
    let mut table = head(&[
        "channels at most",
        "cassandra, ms",
        "mongodb, ms",
        "mysql, ms",
        "rocksdb, ms",
        "mean over 4",
        "erases over 4",
    ]);
    let paper = |load: &str| format!("{load}/{CHOSEN_MOST}");
    for channels in MOST {
        let name = |load: &str| format!("{load}/{channels}");
        let means = DATABASES.map(|load| ms(reader, &of(Mean, CHANNELS, name(load))));
        let ratios = [over_paper(Mean, CHANNELS, name, paper), over_paper(Erases, CHANNELS, name, paper)];
        let ratios = ratios.map(|one| entry(reader, &one, Unit::Times));
        line(&mut table, [channels.to_owned()].into_iter().chain(means).chain(ratios));
    }
    Finding {
        id: "channels-most",
        question: "How many channels at most should the ramp reach?".into(),
        text: format!(
            "Table 8 of the paper varies the number of channels that collect from 0.85 on. The best other limit \
             has {} the mean of the paper's limit, 4. The limit with the fewest erases has {} the erases.",
            reader.claim(claims[0]),
            reader.claim(claims[1]),
        ),
        conclusions: vec![(
            reader.below(&over_paper(Mean, CHANNELS, |load: &str| format!("{load}/1"), paper), 1.0),
            "The fewer channels the better. With one channel the ramp has no step below 0.85 and starts there."
                .into(),
        )],
        figures: vec![reader.chart(
            &Shape::lines("Mean response time by the most channels", "channels at most", "ms").log(),
            &MOST,
            &DATABASES,
            |load, channels| of(Mean, CHANNELS, format!("{load}/{channels}")),
        )],
        claims: claims.to_vec(),
        table,
    }
}

fn pages(reader: &Reader<'_>) -> Finding {
    let claims = [
        "channels-8k-fewer",
        "channels-8k-fewer-average",
        "channels-8k-gap",
        "channels-8k-lead-before",
        "channels-8k-lead",
        "channels-8k-mongodb",
    ];
    let victims = |load: &str| {
        let one = |page| adaptive::of(Erases, load, page, ADAPTIVE);
        over(one(LARGE_PAGES), one(SMALL_PAGES))
    };
    let least = Measure::Lowest(LOADS.map(victims).to_vec());
    Finding {
        id: "channels-pages",
        question: "What do larger pages change?".into(),
        text: format!(
            "Pages of 8 KiB give the same capacity in half the blocks. With them the adaptive scheme erases \
             between {} and {} as many victims.",
            reader.say(&least, Unit::Times),
            reader.claim(claims[0]),
        ),
        conclusions: vec![(
            reader.above(&against_best(WriteMean, "rocksdb", SMALL_PAGES), 1.0),
            "On rocksdb-like there is no lead that could be lost. More victims are erased where the host writes \
             4 KiB at a time, because a program then takes a page of 8 KiB all the same."
                .into(),
        )],
        figures: vec![
            reader.chart(
                &Shape::lines("Writes: the adaptive scheme over the best conventional one", "load", "times")
                    .kinds()
                    .scaled(1.0)
                    .log()
                    .reference(1.0),
                &LOADS,
                &[SMALL_PAGES, LARGE_PAGES],
                |page, load| against_best(WriteMean, load, page),
            ),
        ],
        claims: claims.to_vec(),
        ..Finding::default()
    }
}
