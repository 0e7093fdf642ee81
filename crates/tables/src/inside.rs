//! Inside the dies while they collect: only of runs in which something happens there, or whose schedules differ.
//!
//! Two tables: how busy planes were and what became of the places beside garbage collection's pages; and the requests
//! that met garbage collection of their die, which is what papers count, reads and writes apart.

use harmonia_metrics::{DistributionSummary, InsideReport, Pairing, PairingReport, Report};

use crate::numbers::{self, NONE, or_none};
use crate::{Cell, Style, Table, label, titled};

const TITLE: &str = "Inside a die that collects";
const MET_TITLE: &str = "Requests that met garbage collection of their die, response time in ms";
const MET_LEGEND: &str = "Met: a page operation arrived, or waited to be served, while its die collected, as papers count it. It need not have \
                          waited for that; GC-affected requests did, at whatever die, bus or log.\n";
const LEGEND: &str = "Planes busy: of the planes' time while their die collects. Paired: host operations taken along beside pages that \
                      garbage collection reads or programs, of the places there were, and why most others stayed empty. Queue: host operations waiting at a die when it begins to collect.";

/// A column that stands only if it has something to say.
struct Column {
    heading: &'static str,
    show: fn(&Report) -> String,
    /// Whether a run has any of it.
    has: fn(&Report) -> bool,
}

const COLUMNS: [Column; 8] = [
    Column {
        heading: "planes busy",
        show: |run| or_none(run.array.plane_utilisation_in_gc, numbers::percent),
        has: |_| true,
    },
    Column { heading: "reads paired", show: |run| paired(run, |pairing| pairing.reads), has: pairs },
    Column { heading: "else mostly", show: |run| why_not(run, |pairing| pairing.reads), has: pairs },
    Column { heading: "writes paired", show: |run| paired(run, |pairing| pairing.writes), has: pairs },
    Column { heading: "else mostly", show: |run| why_not(run, |pairing| pairing.writes), has: pairs },
    Column {
        heading: "let in",
        show: |run| numbers::count(inside(run).counts.preemptions),
        has: |run| inside(run).counts.preemptions > 0,
    },
    Column {
        heading: "suspends",
        show: |run| numbers::count(inside(run).counts.suspends),
        has: |run| inside(run).counts.suspends > 0,
    },
    Column { heading: "queue at GC", show: queue, has: |_| true },
];

/// Both tables; `None` if every die of every run collects alone and by the same schedule.
pub(crate) fn section(runs: &[Report], style: Style) -> Option<String> {
    let acts = |run: &Report| {
        let InsideReport { pairing, counts, .. } = inside(run);
        pairing.is_some() || counts.preemptions > 0 || counts.suspends > 0
    };
    (runs.iter().any(acts) || schedules_differ(runs))
        .then(|| format!("{}\n{}", dies(runs, style), met(runs, style)))
}

/// A bound is no schedule to choose.
fn schedules_differ(runs: &[Report]) -> bool {
    let mut schedules = runs.iter().filter(|run| !run.is_ideal()).map(schedule);
    let first = schedules.next();
    schedules.any(|schedule| Some(schedule) != first)
}

fn schedule(run: &Report) -> Option<&str> {
    run.scenario.pointer("/ssd/gc/schedule").and_then(serde_json::Value::as_str)
}

fn inside(run: &Report) -> &InsideReport {
    &run.array.inside
}

fn dies(runs: &[Report], style: Style) -> String {
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| runs.iter().any(column.has)).collect();
    let mut table = Table::new(["run"].into_iter().chain(columns.iter().map(|column| column.heading)));
    for run in runs {
        let cells = columns.iter().map(|column| Cell::from((column.show)(run)));
        table.push(std::iter::once(label(run).into()).chain(cells).collect());
    }
    let mut text = titled(TITLE, &table, style) + &super::layout::wrapped(LEGEND, style.columns);
    if runs.iter().any(|run| inside(run).counts.preemptions > 0) {
        text.push_str("Let in: host commands run between the steps of a collection.\n");
    }
    text
}

fn pairs(run: &Report) -> bool {
    inside(run).pairing.is_some()
}

fn paired(run: &Report, of: fn(&PairingReport) -> Pairing) -> String {
    match inside(run).pairing.as_ref().map(of) {
        Some(Pairing { offered, matched, .. }) if offered > 0 => {
            format!("{} of {}", numbers::percent(matched as f64 / offered as f64), numbers::count(offered))
        }
        _ => NONE.to_owned(),
    }
}

/// Host operations waiting at a die when it began to collect.
fn queue(run: &Report) -> String {
    let depth = &inside(run).queue_depth_at_gc;
    or_none(depth.mean.zip(depth.max), |(mean, most)| format!("{mean:.1}, at most {}", numbers::count(most)))
}

/// The most frequent reason for a place to stay empty; of equals the first.
fn why_not(run: &Report, of: fn(&PairingReport) -> Pairing) -> String {
    let Some(pairing) = inside(run).pairing.as_ref().map(of) else { return NONE.to_owned() };
    let reasons = [
        (pairing.none_waiting, "none waiting"),
        (pairing.other_offset, "other offset"),
        (pairing.not_ready, "not ready"),
        (pairing.needs_read, "needs a read first"),
    ];
    let most = reasons.iter().rev().max_by_key(|(count, _)| count).filter(|(count, _)| *count > 0);
    most.map_or(NONE, |(_, reason)| reason).to_owned()
}

/// Reads and writes that met garbage collection of their die: how many of theirs, and how long they took.
fn met(runs: &[Report], style: Style) -> String {
    let mut table = Table::new(["run", "reads met", "mean", "p99", "writes met", "mean", "p99"]);
    for run in runs {
        let responses = &run.host.response_ns;
        let mut row = vec![Cell::from(label(run))];
        row.extend(share_and_times(&responses.met_gc_read, run.host.read_requests));
        row.extend(share_and_times(&responses.met_gc_write, run.host.write_requests));
        table.push(row);
    }
    titled(MET_TITLE, &table, style) + &super::layout::wrapped(MET_LEGEND, style.columns)
}

fn share_and_times(met: &DistributionSummary, of: u64) -> [Cell; 3] {
    let share = (of > 0).then(|| met.count as f64 / of as f64);
    [
        or_none(share, numbers::percent).into(),
        or_none(met.mean, numbers::ms).into(),
        or_none(met.p99, |ns| numbers::ms(ns as f64)).into(),
    ]
}

#[cfg(test)]
mod tests {
    use harmonia_metrics::QueueDepthReport;

    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    fn blocking() -> Report {
        let mut run = run("blocking", "blocking", 40_000, 12_000, &[0.5, 0.5]);
        run.array.plane_utilisation_in_gc = Some(0.5);
        run.array.inside.queue_depth_at_gc = QueueDepthReport { mean: Some(2.25), max: Some(1_700) };
        run
    }

    fn pairing() -> Report {
        let mut run = run("io-parallel", "io-parallel", 6_000, 12_000, &[0.5, 0.5]);
        run.array.plane_utilisation_in_gc = Some(0.744);
        run.array.inside.pairing = Some(PairingReport {
            reads: Pairing {
                offered: 1_000,
                matched: 14,
                none_waiting: 900,
                other_offset: 80,
                not_ready: 6,
                ..Pairing::default()
            },
            writes: Pairing {
                offered: 1_000,
                matched: 487,
                none_waiting: 13,
                other_offset: 400,
                not_ready: 100,
                ..Pairing::default()
            },
        });
        run
    }

    #[test]
    fn what_happens_inside_stands_beside_blocking() {
        insta::assert_snapshot!(section(&[blocking(), pairing()], STYLE).expect("schedules differ"));
    }

    #[test]
    fn a_lone_preemptive_run_has_its_columns_and_no_others() {
        let mut preemptive = blocking();
        preemptive.array.inside.counts.preemptions = 1_234;
        let text = section(&[preemptive], STYLE).expect("hosts were let in");
        assert!(text.contains("let in") && text.contains("1,234"), "{text}");
        assert!(!text.contains("suspends") && !text.contains("reads paired"), "{text}");
    }

    #[test]
    fn nothing_is_said_where_every_die_collects_alone() {
        let ideal = run("ideal", "ideal", 0, 0, &[1.0]);
        assert_eq!(section(&[blocking(), blocking(), ideal], STYLE), None);
    }
}
