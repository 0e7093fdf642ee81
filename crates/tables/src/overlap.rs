//! For how much of the time 0, 1, .., N devices collect garbage: the picture of coordination.

use harmonia_metrics::Report;

use crate::numbers::{self, NONE};
use crate::{Cell, Style, Table, label, titled};

const TITLE: &str = "Share of time with so many devices in garbage collection";
/// Characters of a bar that stands for all of the time.
const BAR: usize = 8;
/// Below half of the smallest figure printed.
const NOTHING: f64 = 0.0005;

/// The table: one row a number of devices, one column a run.
pub(crate) fn section(runs: &[Report], style: Style) -> String {
    let headings = ["in GC"].into_iter().chain(runs.iter().map(label));
    let mut table = Table::new(headings);
    let longest = runs.iter().map(|run| run.array.devices_in_gc_fraction.len()).max().unwrap_or(0);
    let shown = last_seen(runs).map_or(longest, |last| longest.min(last + 1));
    for devices in 0..shown {
        let cell = |run: &Report| share(run.array.devices_in_gc_fraction.get(devices).copied());
        table.push(std::iter::once(Cell::from(devices.to_string())).chain(runs.iter().map(cell)).collect());
    }
    let mut text = titled(TITLE, &table, style);
    if shown < longest {
        text.push_str(&format!("Never {} or more.\n", shown));
    }
    text
}

/// The largest number of devices that any run ever saw collecting.
fn last_seen(runs: &[Report]) -> Option<usize> {
    let seen = |run: &Report| run.array.devices_in_gc_fraction.iter().rposition(|&share| share > 0.0);
    runs.iter().filter_map(seen).max()
}

fn share(share: Option<f64>) -> Cell {
    let Some(share) = share else { return NONE.into() };
    let figure = if share > 0.0 && share < NOTHING { "<0.1%".to_owned() } else { numbers::percent(share) };
    // Bars start at one edge, so they are padded to their full length.
    format!("{:<BAR$} {figure:>6}", bar(share)).into()
}

/// A bar in eighths of a character.
fn bar(share: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!([0.0, 0.5, 1.0, 1.0 / 64.0].map(bar), ["", "████", "████████", "▏"]);
    }
}
