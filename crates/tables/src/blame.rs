//! Where the response time went: mean microseconds of a request, part by part, and whose garbage collection was waited
//! for where that is uneven.

use harmonia_metrics::{Part, Report};

use crate::numbers::{self, NONE};
use crate::{Cell, Style, Table, label, layout, titled, uneven};

const TITLE: &str = "Where the time went: mean us of a request, and its share";

/// The table, without parts that no run knows, and a sentence for each run in which few members held up many requests.
pub(crate) fn section(runs: &[Report], style: Style) -> String {
    let mut present = Part::all();
    present.retain(|part| runs.iter().any(|run| part.of(&run.host.blame_ns) > 0));
    let names = present.iter().map(|part| part.counter.words);
    let headings = ["run"].into_iter().chain(names).chain(["sum"]);
    let mut table = Table::new(headings);
    for run in runs {
        let blame = &run.host.blame_ns;
        let parts = present.iter().map(|part| cell(part.of(blame), run));
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
