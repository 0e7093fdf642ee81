//! Where the response time went: mean microseconds of a request, part by part, and whose garbage collection was waited
//! for where that is uneven.

use harmonia_metrics::{BlameSum, Report};

use crate::numbers::{self, NONE};
use crate::{Cell, Style, Table, label, layout, titled, uneven};

const TITLE: &str = "Where the time went: mean us of a request, and its share";

/// The share of a part that a colour or a column stands for.
type Part = fn(&BlameSum) -> u128;

/// The parts of a response time: name, meaning, value; in the order in which they are drawn.
pub const PARTS: [(&str, &str, Part); 11] = [
    ("flash", "the request's own flash reads and programs", |blame| blame.service),
    ("transfer", "its page transfers inside the device", |blame| blame.transfer),
    ("link", "the host link, or waiting for it", |blame| blame.link),
    ("host queue", "waiting behind other host operations", |blame| blame.queue_host),
    ("GC queue", "waiting behind garbage collection", |blame| blame.queue_gc),
    ("parity", "reading or writing parity, without garbage collection", |blame| blame.parity),
    ("reconstruct", "reading other members to rebuild data, without garbage collection", |blame| {
        blame.reconstruct
    }),
    ("stripe wait", "waiting for a stripe that another request was changing", |blame| blame.stripe_wait),
    ("rebuild wait", "waiting behind rebuild, resync or scrub of the array", |blame| blame.queue_rebuild),
    ("restart", "waiting to be submitted again after a loss of power", |blame| blame.restart),
    ("depth wait", "waiting in the array for a place in the queue of a member or the controller", |blame| {
        blame.depth_wait
    }),
];

/// The table, without parts that no run knows, and a sentence for each run in which few members held up many requests.
pub(crate) fn section(runs: &[Report], style: Style) -> String {
    let present: Vec<_> =
        PARTS.iter().filter(|(_, _, part)| runs.iter().any(|run| part(&run.host.blame_ns) > 0)).collect();
    let headings = ["run"].into_iter().chain(present.iter().map(|(name, _, _)| *name)).chain(["sum"]);
    let mut table = Table::new(headings);
    for run in runs {
        let blame = &run.host.blame_ns;
        let parts = present.iter().map(|(_, _, part)| cell(part(blame), run));
        let sum = mean_us(blame.total(), run).unwrap_or_else(|| NONE.to_owned());
        table.push(std::iter::once(label(run).into()).chain(parts).chain([sum.into()]).collect());
    }
    let notes = runs.iter().filter_map(uneven::sentence);
    titled(TITLE, &table, style)
        + &notes.map(|note| layout::wrapped(&note, style.columns)).collect::<String>()
}

/// Mean microseconds of a request, and the share of its response time.
pub(crate) fn cell(part: u128, run: &Report) -> Cell {
    let total = run.host.blame_ns.total();
    match mean_us(part, run) {
        Some(mean) if total > 0 => {
            let share = format!("{:.0}%", part as f64 / total as f64 * 100.0);
            format!("{mean} {share:>3}").into()
        }
        _ => NONE.into(),
    }
}

pub(crate) fn mean_us(part: u128, run: &Report) -> Option<String> {
    (run.host.requests > 0).then(|| numbers::us(part as f64 / run.host.requests as f64))
}
