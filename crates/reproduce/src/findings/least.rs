//! Electronics 2025: how much any scheme can win, and why collecting on one channel at a time does not.

use super::Finding;
use super::write::{Reader, count, entry, head, line, ms, of};
use crate::claims::Unit;
use crate::claims::adaptive::{IDEAL, LOADS, WIDTH, ideal_against_best};
use crate::measure::Measure;
use crate::measure::Quantity::{Erases, ReadMean, WriteMean};
use crate::reading::readings;

/// How many channels collect at once in the experiment, most first.
const WIDTHS: [&str; 4] = ["8", "4", "2", "1"];
/// Loads that delete whole files, so that no page is moved.
const WHOLE: [&str; 3] = ["cassandra", "mongodb", "rocksdb"];
/// The reading whose conventional schemes surge, as the paper's do.
const SURGING: &str = "hysteresis-0.02";

/// How much there is to win, and why one channel at a time does not.
pub(super) fn finding(reader: &Reader<'_>) -> Finding {
    let surging = readings().unwrap_or_default().into_iter().find(|reading| reading.id == SURGING);
    let renamed = |mut measure: Measure| {
        if let Some(reading) = &surging {
            // Collection that takes no time has no scheme to read otherwise.
            measure.rename(&|experiment, variant| match experiment {
                IDEAL => variant.to_owned(),
                _ => reading.variant(experiment, variant),
            });
        }
        measure
    };
    let mut limits = head(&[
        "load",
        "reads, ideal over the best conventional",
        "writes",
        "reads, under `hysteresis-0.02`",
        "writes",
    ]);
    for load in LOADS {
        let frozen = [ReadMean, WriteMean].map(|quantity| ideal_against_best(quantity, load));
        let read = [ReadMean, WriteMean].map(|quantity| renamed(ideal_against_best(quantity, load)));
        let cells = frozen.iter().chain(&read).map(|one| entry(reader, one, Unit::Times));
        line(&mut limits, [load.to_owned()].into_iter().chain(cells));
    }
    let width = |quantity, channels: &str| of(quantity, WIDTH, channels.to_owned());
    let mut widths = head(&["channels at once", "mean of reads, ms", "mean of writes, ms", "victims"]);
    for channels in WIDTHS {
        let cells = [ReadMean, WriteMean].map(|quantity| ms(reader, &width(quantity, channels)));
        let victims = count(reader, &width(Erases, channels));
        line(&mut widths, [channels.to_owned()].into_iter().chain(cells).chain([victims]));
    }
    let more = Measure::Minus(Box::new(width(ReadMean, "1")), Box::new(width(ReadMean, "8")));
    let least =
        |quantity| Measure::Lowest(WHOLE.iter().map(|load| ideal_against_best(quantity, load)).collect());
    Finding {
        id: "channels-least",
        question: "How much can any number of channels win?".into(),
        text: format!(
            "Collection that takes no time is the least that any scheme can reach. The first table holds it against the best \
             conventional scheme of each load, in configuration E and under the reading `hysteresis-0.02`. In configuration E the \
             least is {} for reads and {} for writes on the loads that delete whole files (cassandra, mongodb, rocksdb). Where pages \
             have to be moved there is more to win. The second table has cassandra-like with as many channels at once as it \
             says, all from the same utilisation on.",
            reader.say(&least(ReadMean), Unit::Times),
            reader.say(&least(WriteMean), Unit::Times),
        ),
        conclusions: vec![
            (
                reader.above(&least(ReadMean), 0.85) && reader.above(&least(WriteMean), 0.85),
                "On the loads on which the paper's scheme wins, no scheme could win much: collection that takes no time is \
                 hardly faster than the best conventional scheme. So the paper's average factors cannot come from loads like these."
                    .into(),
            ),
            (
            reader.above(&more, 0.0),
            "Collecting on fewer channels at once does not help a request that is striped over all of them, and the paper stripes so. Such a \
             request waits for its slowest part. If all channels collect together, a request that arrives meanwhile waits for half of \
             that time on average. If they collect one after the other, requests wait as long, and for as many times that time as \
             there are channels. So gains come from spreading collection over time, not from fewer channels."
                .into(),
            ),
        ],
        table: format!("{limits}\n{widths}"),
        ..Finding::default()
    }
}
