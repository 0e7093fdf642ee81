//! Where the response time went by phase: data, parity, reconstruction; only of runs in which there is more than data.
//!
//! Columns are the resources that a phase used or waited for, under the names they have in the table of parts.

use harmonia_metrics::{BlamePhases, Part, Report, ResourceSum};
use harmonia_types::Counters;

use crate::blame::{cell, mean_us};
use crate::numbers::NONE;
use crate::{Cell, Style, Table, label, titled};

const TITLE: &str = "Where the time went by phase: mean us of a request, and its share";

/// What has a column only where a run has any of it.
const RARE: [&str; 4] = ["rebuild wait", "cache wait", "controller", "map wait"];

/// The table: one row a run and phase; `None` if all time went to the host's own data.
pub(crate) fn section(runs: &[Report], style: Style) -> Option<String> {
    let place = |words: &str| ResourceSum::TABLE.iter().position(|resource| resource.words == words);
    let drawn =
        Part::all().into_iter().filter_map(|part| Some((part.counter.words, place(part.counter.words)?)));
    let is_in = |run: &Report, place: usize| {
        phases(&run.host.blame_phases_ns).any(|(_, phase)| phase.values()[place].1 > 0)
    };
    let is_shown = |words: &str, place| !RARE.contains(&words) || runs.iter().any(|run| is_in(run, place));
    let resources: Vec<_> = drawn.filter(|&(words, place)| is_shown(words, place)).collect();
    let names = resources.iter().map(|(words, _)| *words);
    let mut table = Table::new(["run"].into_iter().chain(names).chain(["sum"]));
    for run in runs.iter().filter(|run| has_phases(run)) {
        phases(&run.host.blame_phases_ns)
            .for_each(|(name, phase)| table.push(row(run, name, phase, &resources)));
    }
    runs.iter().any(has_phases).then(|| titled(TITLE, &table, style))
}

fn has_phases(run: &Report) -> bool {
    let BlamePhases { data: _, parity, reconstruct } = &run.host.blame_phases_ns;
    parity.total() + reconstruct.total() > 0
}

/// The phases that took time, in the order of a request's life.
fn phases(blame: &BlamePhases) -> impl Iterator<Item = (&'static str, &ResourceSum)> {
    let BlamePhases { data, parity, reconstruct } = blame;
    let all = [("data", data), ("parity", parity), ("reconstruct", reconstruct)];
    all.into_iter().filter(|(_, phase)| phase.total() > 0)
}

fn row(run: &Report, name: &str, phase: &ResourceSum, resources: &[(&str, usize)]) -> Vec<Cell> {
    let times = phase.values();
    let resources = resources.iter().map(|&(_, place)| match times[place].1 {
        0 => NONE.into(),
        ns => cell(ns, run),
    });
    let sum = mean_us(phase.total(), run).unwrap_or_else(|| NONE.to_owned());
    let name = format!("{}, {name}", label(run));
    std::iter::once(name.into()).chain(resources).chain([sum.into()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::{redundant, run};

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    #[test]
    fn only_phases_that_took_time_have_a_row() {
        let plain = run("raid0", "blocking", 40_000, 12_000, &[1.0, 0.0]);
        assert_eq!(section(std::slice::from_ref(&plain), STYLE), None);
        let text = section(&[plain, redundant()], STYLE).expect("there is parity");
        let names: Vec<&str> = text.lines().skip(2).filter_map(|line| line.split("  ").next()).collect();
        assert_eq!(names, ["raid5, data", "raid5, parity", "raid5, reconstruct"]);
        let mut healthy = redundant();
        healthy.host.blame_phases_ns.reconstruct = ResourceSum::default();
        assert!(!section(&[healthy], STYLE).expect("there is parity").contains("reconstruct"));
    }
}
