//! HPDC 2018: what requests gain that met collection of their die, by the plane that collected.
//!
//! Pairing helps sibling planes alone, so a mean over all that met collection says less of it than that of those which met a
//! sibling's.

use super::write::{Reader, cell, head, line};
use crate::claims::Paper;
use crate::claims::inside_the_die::{OPEN, VOLUMES, variant};
use crate::measure::Quantity::{MetGcMean, MetGcReadMean, MetGcWriteMean};
use crate::measure::{Measure, Met, Quantity, lowered};
use crate::reading::Reading;

/// All that met collection, and of them those whose own plane collected, and those of which only sibling planes did.
const COLUMNS: [(&str, Quantity); 6] = [
    ("reads, all", MetGcReadMean),
    ("own plane", MetGcMean(Met::OwnReads)),
    ("sibling planes", MetGcMean(Met::SiblingReads)),
    ("writes, all", MetGcWriteMean),
    ("own plane", MetGcMean(Met::OwnWrites)),
    ("sibling planes", MetGcMean(Met::SiblingWrites)),
];

/// By how much a schedule lowers a mean of the baseline, averaged over the volumes.
pub(super) fn gain(reading: Option<&Reading>, quantity: Quantity, planes: &str, schedule: &str) -> Measure {
    let of_volume = |volume| {
        let named = |schedule: &str| {
            let frozen = variant(volume, planes, schedule);
            reading.map_or(frozen.clone(), |reading| reading.variant(OPEN, &frozen))
        };
        lowered(quantity, OPEN, &named("blocking"), &named(schedule))
    };
    Measure::Average(VOLUMES.iter().map(of_volume).collect())
}

/// Gains under `io-parallel` with two planes and four, of every reading of which it was counted which plane collected.
pub(super) fn table(reader: &Reader<'_>) -> String {
    let columns = ["reading", "planes"].into_iter().chain(COLUMNS.iter().map(|(name, _)| *name));
    let mut table = head(&columns.collect::<Vec<_>>());
    let of_paper = reader.readings.iter().filter(|one| one.paper == Paper::InsideTheDie).map(Some);
    for reading in std::iter::once(None).chain(of_paper) {
        for (planes, name) in [("2-planes", "two"), ("4-planes", "four")] {
            let of_siblings = gain(reading, MetGcMean(Met::SiblingWrites), planes, "io-parallel");
            if of_siblings.interval(reader.results).is_none() {
                continue;
            }
            let gains = COLUMNS
                .iter()
                .map(|(_, quantity)| cell(reader, &gain(reading, *quantity, planes, "io-parallel")));
            let reading = reading.map_or("frozen".to_owned(), |reading| format!("`{}`", reading.id));
            line(&mut table, [reading, name.to_owned()].into_iter().chain(gains));
        }
    }
    table
}
