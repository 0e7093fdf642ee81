//! HPDC 2018: how busy the planes of a die that collects are, beside the most that they can be with victims as full as these.

use super::write::{Reader, cell, head, line};
use crate::claims::Paper;
use crate::claims::inside_the_die::{OPEN, VOLUMES, variant};
use crate::measure::Quantity::{
    Erases, PagesMoved, PlaneUtilisation, UtilisationBound, WriteP95, WriteTimeMet, WritesMet,
};
use crate::measure::{Measure, Quantity, ratio};
use crate::reading::Reading;

const TWO: &str = "2-planes";
const FOUR: &str = "4-planes";

/// A variant of a volume under a reading; none is the frozen configuration.
fn name(reading: Option<&Reading>, volume: usize, planes: &str, schedule: &str) -> String {
    let frozen = variant(&VOLUMES[volume], planes, schedule);
    reading.map_or(frozen.clone(), |reading| reading.variant(OPEN, &frozen))
}

fn average(of: impl Fn(usize) -> Measure) -> Measure {
    Measure::Average((0..VOLUMES.len()).map(of).collect())
}

/// What is asked of a reading, averaged over the volumes.
fn row(reader: &Reader<'_>, reading: Option<&Reading>) -> Vec<String> {
    let mean = |quantity, planes, schedule| {
        average(|volume| Measure::Of(quantity, OPEN, name(reading, volume, planes, schedule)))
    };
    let share = |quantity: Quantity, planes, schedule| cell(reader, &mean(quantity, planes, schedule));
    let erases = average(|volume| {
        let named = |schedule| name(reading, volume, TWO, schedule);
        ratio(Erases, OPEN, &named("io-parallel"), &named("blocking"))
    });
    let drawn = |volume: &usize| ["mds_0", "proj_0"].contains(&VOLUMES[*volume].name);
    let p95 = (0..VOLUMES.len()).filter(drawn);
    let p95 = Measure::Highest(
        p95.map(|volume| Measure::Of(WriteP95, OPEN, name(reading, volume, TWO, "ideal"))).collect(),
    );
    vec![
        reading.map_or("frozen".to_owned(), |reading| format!("`{}`", reading.id)),
        cell(reader, &mean(PagesMoved, TWO, "io-parallel")),
        share(WritesMet, TWO, "io-parallel"),
        share(UtilisationBound(2), TWO, "io-parallel"),
        share(PlaneUtilisation, TWO, "io-parallel"),
        share(UtilisationBound(4), FOUR, "io-parallel"),
        share(PlaneUtilisation, FOUR, "io-parallel"),
        cell(reader, &erases),
        share(WriteTimeMet, TWO, "blocking"),
        cell(reader, &p95),
    ]
}

/// Every reading.
pub(super) fn table(reader: &Reader<'_>) -> String {
    let mut table = head(&[
        "reading",
        "valid pages a victim",
        "writes that meet collection",
        "bound, two planes",
        "busy",
        "bound, four planes",
        "busy",
        "erases over blocking",
        "of the time of writes, blocking",
        "p95 of writes, ideal, ms",
    ]);
    line(&mut table, row(reader, None));
    for reading in reader.readings.iter().filter(|one| one.paper == Paper::InsideTheDie) {
        line(&mut table, row(reader, Some(reading)));
    }
    table
}
