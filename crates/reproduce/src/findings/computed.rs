//! What no line of a page can say: sections, conditions and words that are worked out.

use super::write::Reader;
use super::{Finding, readings, soft_limit};
use crate::claims::inside_the_die::VOLUMES;
use crate::claims::{Paper, gaftl};
use crate::expression::list;
use crate::measure::Quantity::{Counted, MetGc};

/// What the papers leave out about arrays of many SSDs, read in all ways that were run.
const READINGS: &str =
    "base link-3GB link-150MB latency-1ms victims-4 victims-10 stop-hard+4 domain-die background";
/// Within this of 1, more SSDs change nothing.
const FLOOR: f64 = 0.1;

/// A section that is no text with measures.
pub(super) fn section(name: &str, reader: &Reader<'_>) -> Finding {
    match name {
        "soft-limit" => soft_limit::finding(reader),
        "readings-global" => readings::finding(reader, Paper::GlobalCollection),
        "readings-die" => readings::finding(reader, Paper::InsideTheDie),
        "readings-channels" => readings::finding(reader, Paper::Channels),
        "readings-gaftl" => readings::finding(reader, Paper::Gaftl),
        _ => panic!("findings: no section {name}"),
    }
}

/// How many readings were measured, and under which of them 18 SSDs are no faster than 4.
pub(super) fn floors(reader: &Reader<'_>) -> (usize, Vec<String>) {
    let mean = |(reading, _): (String, String)| {
        let of = format!("ratio mean array-size 18/{reading}/inclusive 4/{reading}/inclusive");
        let value = reader.interval(&reader.measure(&of));
        Some((reading, value?.mean))
    };
    let measured: Vec<(String, f64)> = list(READINGS).into_iter().filter_map(mean).collect();
    let found = measured.iter().filter(|(_, mean)| (mean - 1.0).abs() <= FLOOR);
    (measured.len(), found.map(|(reading, _)| reading.clone()).collect())
}

/// The same in words.
pub(super) fn floors_in_words(reader: &Reader<'_>) -> String {
    match floors(reader) {
        (measured, found) if found.is_empty() => {
            format!("None of {measured} readings of the papers gives a floor.")
        }
        (measured, found) => {
            format!("Of {measured} readings of the papers, these give a floor: {}.", found.join(", "))
        }
    }
}

/// Whether requests of GAFTL in rows met collection under those loads only under which stripes ran out or several members collected.
pub(super) fn waits_only_where_full(reader: &Reader<'_>) -> bool {
    gaftl::evaluated().into_iter().all(|(experiment, point)| {
        let of = |quantity| reader.interval(&gaftl::at(quantity, experiment, &point, "rows"));
        let waits = |name| of(Counted(name)).is_none_or(|count| count.low() > 0.0 || count.high() >= 0.5);
        waits("waits_full") || waits("waits_several") || of(MetGc).is_some_and(|met| met.mean == 0.0)
    })
}

/// What HPDC 2018 publishes of a volume, as cells of a table.
pub(super) fn volume(name: &str) -> String {
    let volume = VOLUMES.iter().find(|volume| volume.name == name).expect("a volume of the table");
    format!("{name} | {}% | {} KB | {}%", volume.writes, volume.write_kb, volume.gc_affected)
}
