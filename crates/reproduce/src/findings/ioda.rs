//! IODA (SOSP 2021): reads that avoid members which say that they collect.

use super::Finding;
use super::write::{Reader, Shape, count, head, line, ms, of};
use crate::claims::Unit;
use crate::claims::ioda::{self, MODES, ORDER, RATES_OF, SOFT_OF, WINDOWS_OF, windows_over_slowest};
use crate::measure::Quantity;
use crate::measure::Quantity::{Erases, ReadP50, ReadP75, ReadP95, ReadP99, ReadP999, ReadP9999, WriteMean};
use crate::measure::{Measure, ratio};

const PERCENTILES: [(&str, Quantity); 6] = [
    ("p50", ReadP50),
    ("p75", ReadP75),
    ("p95", ReadP95),
    ("p99", ReadP99),
    ("p99.9", ReadP999),
    ("p99.99", ReadP9999),
];
const RATES: [&str; 4] = ["1", "4", "16", "32"];
const WINDOW_RATES: [&str; 2] = ["1", "16"];
const WINDOWS: [&str; 4] = ["40ms", "100ms", "400ms", "2s"];
const WINDOW_MODES: [&str; 2] = ["iod3", "ioda"];
const ROOM: [&str; 3] = ["hard+1", "hard+13", "hard+39"];

/// All findings of the group.
pub(super) fn findings(reader: &Reader<'_>) -> Vec<Finding> {
    vec![modes(reader), rates(reader), windows(reader), soft(reader)]
}

fn modes(reader: &Reader<'_>) -> Finding {
    let claims = [
        "ioda-p99-fast-fail",
        "ioda-p99-remaining",
        "ioda-p99-all",
        "ioda-p99-ideal",
        "ioda-windows-p50",
        "ioda-windows-p75",
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
        "ioda-azurestorage",
        "ioda-bingselect",
        "ioda-lmbe",
        "ioda-msnfs",
    ];
    let p99 = |mode| reader.say(&ioda::of(ReadP99, mode), Unit::Ns);
    let drawn: Vec<&str> = claims.into_iter().take_while(|id| *id != "ioda-azurestorage").collect();
    Finding {
        id: "ioda",
        question: "What do fast failure and windows add to one another (IODA)?".into(),
        text: format!(
            "The modes of IODA run on its own array, four emulated SSDs in RAID-5, under a stand-in for the load \
             `dtrs` ([configuration IODA](../experiments/configuration-ioda.toml)). `base` is no coordination. \
             Under `iod1` a member refuses a read that would wait for collection, and the array rebuilds the \
             data from the others. Under `iod2` the refusal tells how long the collection still takes. `iod3` \
             has windows alone: one member at a time may collect. The artifact's scripts describe it so, though \
             its kernel also rebuilds what the host reads. `ioda` has all of it, and `ideal` is collection that \
             takes no time. The p99 of reads is {} under `base`, {} under `iod1` and {} under \
             `iod2`. It is {} under `iod3`, {} under `ioda` and {} under `ideal`. Windows alone have {} the median of \
             the slowest other mode.",
            p99("base"),
            p99("iod1"),
            p99("iod2"),
            p99("iod3"),
            p99("ioda"),
            p99("ideal"),
            reader.say(&windows_over_slowest(ReadP50), Unit::Times),
        ),
        figures: vec![
            reader.chart(
                &Shape::lines("Response time of reads, by mode", "percentile", "ms").log(),
                &PERCENTILES.map(|(name, _)| name),
                &MODES,
                |mode, percentile| ioda::of(named(percentile), mode),
            ),
            reader.forest("One mode's percentile over another's", &drawn),
        ],
        claims: claims.to_vec(),
        table: by_mode(reader),
        ..Finding::default()
    }
}

fn named(percentile: &str) -> Quantity {
    PERCENTILES.into_iter().find(|(name, _)| *name == percentile).map_or(ReadP99, |(_, quantity)| quantity)
}

/// Every percentile of reads, and what the mode costs writes.
fn by_mode(reader: &Reader<'_>) -> String {
    let names = PERCENTILES.map(|(name, _)| format!("{name}, ms"));
    let columns: Vec<&str> = ["mode"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = head(&[columns.as_slice(), &["mean of writes, ms", "erases"]].concat());
    for mode in MODES {
        let times = PERCENTILES.map(|(_, quantity)| quantity).into_iter().chain([WriteMean]);
        let cells = times.map(|quantity| ms(reader, &ioda::of(quantity, mode)));
        let erases = count(reader, &ioda::of(Erases, mode));
        line(&mut table, [mode.to_owned()].into_iter().chain(cells).chain([erases]));
    }
    table
}

/// p99 of each mode over that of the next, for the cells of an experiment that a prefix names.
fn steps<'a>(experiment: &'static str, prefix: &'a str) -> impl Iterator<Item = Measure> + 'a {
    ORDER.windows(2).map(move |pair| {
        ratio(ReadP99, experiment, &format!("{prefix}/{}", pair[0]), &format!("{prefix}/{}", pair[1]))
    })
}

/// A table of these ratios, a line for each prefix.
fn order_by(reader: &Reader<'_>, experiment: &'static str, what: &str, prefixes: &[&str]) -> String {
    let names: Vec<String> = ORDER.windows(2).map(|pair| format!("{} / {}", pair[0], pair[1])).collect();
    let columns: Vec<&str> = [what].into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = head(&columns);
    for prefix in prefixes {
        let cells = steps(experiment, prefix).map(|step| reader.say(&step, Unit::Times));
        line(&mut table, [(*prefix).to_owned()].into_iter().chain(cells));
    }
    table
}

fn rates(reader: &Reader<'_>) -> Finding {
    Finding {
        id: "ioda-rate",
        question: "At which arrival rate do the modes of IODA lose their order?".into(),
        text: "The table divides the p99 of reads of each mode by that of the next one in the paper's order. Below \
               1 the order is reversed. Rate 1 is that of the finding above, in a shorter run. There p99 is too \
               low a percentile to show the order: reads that find two members collecting are fewer than 1%, and \
               around one member the array can read. At four times the rate they are about 1%, and every seed has \
               the paper's order. The intervals are wide because p99 lies where the distribution jumps from \
               microseconds to a whole collection. At 16 and 32 times the rate often two members collect. \
               Refusals alone then gain nothing, as there is nobody to rebuild from. Windows, which keep \
               members apart, gain by far the most. So the order is one of loads that are neither light nor heavy."
            .into(),
        figures: vec![reader.chart(
            &Shape::lines("p99 of reads, by arrival rate", "times the rate", "ms").log(),
            &RATES,
            &MODES,
            |mode, rate| of(ReadP99, RATES_OF, format!("{rate}/{mode}")),
        )],
        table: order_by(reader, RATES_OF, "times the rate", &RATES),
        ..Finding::default()
    }
}

fn windows(reader: &Reader<'_>) -> Finding {
    let series = ["iod3, rate 1", "ioda, rate 1", "iod3, rate 16", "ioda, rate 16"];
    let measured = |series: &str, window: &str| {
        let (mode, rate) = series.split_once(", rate ").unwrap_or((series, "1"));
        of(ReadP99, WINDOWS_OF, format!("{rate}/{window}/{mode}"))
    };
    let mut table = head(&["window", "mode", "times the rate", "p50, ms", "p99, ms", "p99.9, ms"]);
    for rate in WINDOW_RATES {
        for mode in WINDOW_MODES {
            for window in WINDOWS {
                let cell = |quantity| of(quantity, WINDOWS_OF, format!("{rate}/{window}/{mode}"));
                let times = [ReadP50, ReadP99, ReadP999].map(|quantity| ms(reader, &cell(quantity)));
                line(&mut table, [window, mode, rate].map(str::to_owned).into_iter().chain(times));
            }
        }
    }
    Finding {
        id: "ioda-window",
        question: "How long should the windows of IODA be?".into(),
        text: "A collection takes about 44 ms. In a window of 40 ms it runs into the turn of the next member. The \
               longer a window, the longer every other member has to last without collecting. At rate 1 the \
               length makes little difference to `ioda`. At 16 times the rate, windows of 100 ms have the lowest \
               p99.9: shorter ones are overrun, and in longer ones other members reach their hard thresholds and \
               collect out of turn. For `iod3`, which never rebuilds a read, a longer window is only a longer wait."
            .into(),
        figures: vec![reader.chart(
            &Shape::lines("p99 of reads, by length of window", "window", "ms").log(),
            &WINDOWS,
            &series,
            measured,
        )],
        table,
        ..Finding::default()
    }
}

fn soft(reader: &Reader<'_>) -> Finding {
    Finding {
        id: "ioda-soft",
        question: "How much room do the windows of IODA need?".into(),
        text: "A member collects in its window from its soft threshold on, and at its hard threshold whatever the \
               time. The table divides the p99 of reads of each mode by that of the next one in the paper's order, \
               at 16 times the rate. The artifact has 13 blocks of a die between the thresholds. With one block \
               members reach the hard threshold outside their windows, and windows gain little. With 39 they hardly \
               ever do, and `ioda` comes close to collection that takes no time. So \
               what windows gain depends on this room more than on anything else that was varied."
            .into(),
        figures: vec![reader.chart(
            &Shape::lines("p99 of reads, by soft threshold", "soft threshold", "ms").log(),
            &ROOM,
            &MODES,
            |mode, room| of(ReadP99, SOFT_OF, format!("{room}/{mode}")),
        )],
        table: order_by(reader, SOFT_OF, "soft threshold", &ROOM),
        ..Finding::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assessment::assess;
    use crate::claims::claims;
    use crate::results::Results;
    use crate::summary::{Outcome, Summary, Times};

    /// Before anything is measured the tables have dashes; afterwards they have the figures, each in its place.
    #[test]
    fn the_table_has_dashes_and_then_figures() {
        let mut results = Results::default();
        let reader = Reader { results: &results, assessments: &assess(&claims(), &results) };
        assert!(by_mode(&reader).contains("| ioda | - | - | - | - | - | - | - | - |"));
        assert!(modes(&reader).text.contains("(not measured)"));

        let read = Times { p50: Some(1_000_000), p9999: Some(7_000_000), ..Times::default() };
        let summary = Summary { read, erases: 12, ..Summary::default() };
        results.insert("0", ioda::MODES_OF, "ioda", 1, Outcome::Measured(summary));
        let reader = Reader { results: &results, assessments: &[] };
        let expected = "| ioda | 1.00 (one seed) | - | - | - | - | 7.00 (one seed) | - | 12 |";
        assert!(by_mode(&reader).contains(expected), "{}", by_mode(&reader));
    }

    #[test]
    fn every_cell_of_the_findings_exists() {
        let experiments = crate::experiments().expect("valid experiments");
        let variants = |id: &str| {
            let found = experiments.iter().find(|one| one.id == id);
            found.expect("an experiment").variants()
        };
        let mut read: Vec<(&str, String)> = Vec::new();
        read.extend(RATES.iter().flat_map(|rate| MODES.map(|mode| (RATES_OF, format!("{rate}/{mode}")))));
        read.extend(ROOM.iter().flat_map(|room| MODES.map(|mode| (SOFT_OF, format!("{room}/{mode}")))));
        for rate in WINDOW_RATES {
            let of_rate = |window| WINDOW_MODES.map(|mode| (WINDOWS_OF, format!("{rate}/{window}/{mode}")));
            read.extend(WINDOWS.iter().flat_map(of_rate));
        }
        for id in [RATES_OF, SOFT_OF, WINDOWS_OF] {
            let mut shown: Vec<String> =
                read.iter().filter(|(of, _)| *of == id).map(|(_, name)| name.clone()).collect();
            let mut present = variants(id);
            shown.sort();
            present.sort();
            assert_eq!(shown, present, "{id}");
        }
    }
}
