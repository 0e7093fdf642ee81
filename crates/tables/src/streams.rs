//! What each handle of the drives wrote: only where drives place pages by handles.

use std::collections::BTreeMap;

use harmonia_metrics::{Comparison, HandleReport, Report};
use harmonia_types::{Counters, StreamCounters};

use crate::numbers::{self, or_none};
use crate::{Style, Table, label, layout, titled};

const TITLE: &str = "Writes by handle";
const NOTE: &str = "Over all drives. Handle 0 is the default one, with what the array writes for itself and what ageing wrote; the first \
                    stream or volume of the load has handle 1, as has handle 0 of a trace. Write amplification: pages that the drives programmed for each page \
                    that was written with the handle.\n";

/// A row for each handle of each variant, over all seeds.
pub(crate) fn section(comparison: &Comparison, style: Style) -> Option<String> {
    let mut table = Table::new(["run", "handle", "written pages", "moved pages", "write amplification"]);
    let mut is_empty = true;
    for runs in comparison.variants() {
        for (handle, stream) in by_handle(runs) {
            is_empty = false;
            let HandleReport { written_pages, moved_pages, write_amplification, .. } =
                HandleReport::new(handle, &stream);
            table.push(vec![
                label(&runs[0]).to_owned().into(),
                handle.to_string().into(),
                numbers::count(written_pages).into(),
                numbers::count(moved_pages).into(),
                or_none(write_amplification, |ratio| format!("{ratio:.2}")).into(),
            ]);
        }
    }
    let note = NOTE.to_owned() + &unknown(comparison);
    (!is_empty).then(|| titled(TITLE, &table, style) + &layout::wrapped(&note, style.columns))
}

/// How many pages came with a handle that is none.
fn unknown(comparison: &Comparison) -> String {
    let devices = comparison.variants().flatten().flat_map(|run| &run.devices);
    match devices.filter_map(|device| device.unknown_handle_pages).sum() {
        0 => String::new(),
        pages => format!(
            "{} pages came with a handle that the drives do not know, and are among those of handle 0.\n",
            numbers::count(pages)
        ),
    }
}

fn by_handle(runs: &[Report]) -> BTreeMap<u8, StreamCounters> {
    let mut sums: BTreeMap<u8, StreamCounters> = BTreeMap::new();
    for stream in runs.iter().flat_map(|run| &run.devices).flat_map(|device| &device.streams) {
        let &HandleReport { handle, written_pages, moved_pages, .. } = stream;
        sums.entry(handle).or_default().add(&StreamCounters { written_pages, moved_pages });
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    #[test]
    fn handles_are_summed_over_drives_and_nothing_is_said_without_any() {
        const STYLE: Style = Style { columns: 120, color: Color(false) };
        let mut report = run("local", "blocking", 40_000, 12_000, &[1.0, 0.0]);
        assert_eq!(section(&Comparison::new(vec![report.clone()], 1), STYLE), None);
        let stream = |written_pages, moved_pages| {
            vec![HandleReport::new(1, &StreamCounters { written_pages, moved_pages })]
        };
        (report.devices[0].streams, report.devices[1].streams) = (stream(1_000, 500), stream(1_000, 0));
        let text = section(&Comparison::new(vec![report.clone()], 1), STYLE).expect("there are handles");
        let row = text.lines().find(|line| line.starts_with("local")).expect("its row");
        for part in ["  1  ", "2,000", "  500  ", "1.25"] {
            assert!(row.contains(part), "{part}: {row}");
        }
        assert!(!text.contains("do not know"), "{text}");
        (report.devices[0].unknown_handle_pages, report.devices[1].unknown_handle_pages) =
            (Some(900), Some(100));
        let text = section(&Comparison::new(vec![report], 1), STYLE).expect("there are handles");
        assert!(text.contains(" 1,000 pages came with a handle that the drives do not know"), "{text}");
    }
}
