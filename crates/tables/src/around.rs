//! What the array does to keep requests from members that collect: reads around them, and writes in NVRAM. Nothing is said
//! of runs in which all wait.

use harmonia_metrics::Report;
use harmonia_types::{NvramCounters, ReadCounters};

use crate::numbers::{self, or_none};
use crate::{Cell, Style, Table, label, layout, titled};

const TITLE: &str = "Requests kept from SSDs that collect";
const LEGEND: &str = "Rebuilt: pages read without the SSD that holds them. Read for it: pages read from others for that. Busy SSDs: rows \
                      read while so many of their SSDs collected. Waited: pages that could not avoid an SSD that collects. In NVRAM: \
                      the most it held at once. Full: writes that waited because it was.";
const HEADINGS: [&str; 9] =
    ["run", "rebuilt", "read for it", "busy SSDs 0/1/2/3+", "hedges", "won", "waited", "in NVRAM", "full"];

/// The table, one row for each run that has something of it; `None` without any.
pub(crate) fn section(runs: &[Report], style: Style) -> Option<String> {
    let mut table = Table::new(HEADINGS);
    for run in runs.iter().filter(|run| acts(run)) {
        let (reads, nvram) = (run.array.reconstruct, run.array.nvram);
        let of_reads = |of: fn(&ReadCounters) -> u64| or_none(reads.as_ref().map(of), numbers::count);
        let rows = or_none(reads, |reads| reads.rows_by_busy_members.map(numbers::count).join(" / "));
        let cells = [
            label(run).to_owned(),
            of_reads(|reads| reads.rebuilt_pages),
            of_reads(|reads| reads.extra_pages),
            rows,
            of_reads(|reads| reads.hedges),
            of_reads(|reads| reads.hedges_won),
            of_reads(|reads| reads.waited_pages),
            or_none(nvram, |nvram| numbers::bytes(nvram.high_water_bytes)),
            or_none(nvram, |nvram| numbers::count(nvram.full_waits)),
        ];
        table.push(cells.into_iter().map(Cell::from).collect());
    }
    runs.iter().any(acts).then(|| titled(TITLE, &table, style) + &layout::wrapped(LEGEND, style.columns))
}

fn acts(run: &Report) -> bool {
    run.array.reconstruct.is_some() || run.array.nvram.is_some()
}

/// The same as sentences, one a run: what stands on the page.
pub fn sentences(runs: &[Report]) -> Vec<String> {
    let of = |run: &Report| {
        let parts: Vec<String> =
            run.array.reconstruct.iter().map(of_reads).chain(run.array.nvram.iter().map(of_nvram)).collect();
        format!("{}: {}.", label(run), parts.join("; "))
    };
    runs.iter().filter(|run| acts(run)).map(of).collect()
}

fn of_reads(reads: &ReadCounters) -> String {
    let count = numbers::count;
    let mut text = format!(
        "{} pages were read without the SSD that holds them, for which {} pages of others were read",
        count(reads.rebuilt_pages),
        count(reads.extra_pages)
    );
    if reads.hedges > 0 {
        text.push_str(&format!(
            ", {} reads were sent a second way, of which {} answered first",
            count(reads.hedges),
            count(reads.hedges_won)
        ));
    }
    if reads.waited_pages > 0 {
        text.push_str(&format!(", {} pages had to wait all the same", count(reads.waited_pages)));
    }
    text
}

fn of_nvram(nvram: &NvramCounters) -> String {
    format!(
        "NVRAM of {} took {} pages and held at most {}, and {} writes waited because it was full",
        numbers::bytes(nvram.size_bytes),
        numbers::count(nvram.parked_pages),
        numbers::bytes(nvram.high_water_bytes),
        numbers::count(nvram.full_waits)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    fn runs() -> Vec<Report> {
        let mut runs = ["local", "ioda", "swan"].map(|label| run(label, "blocking", 0, 0, &[1.0]));
        runs[1].array.reconstruct = Some(ReadCounters {
            rebuilt_pages: 1_000,
            extra_pages: 3_000,
            rows_by_busy_members: [7, 1_500, 20, 0],
            hedges: 40,
            hedges_won: 30,
            waited_pages: 5,
        });
        runs[2].array.nvram = Some(NvramCounters {
            size_bytes: 64 << 20,
            parked_pages: 9,
            high_water_bytes: 32 << 10,
            full_waits: 2,
            destaged_pages: 8,
            superseded_pages: 1,
            ..NvramCounters::default()
        });
        runs.to_vec()
    }

    #[test]
    fn each_run_that_keeps_requests_away_has_a_row() {
        let style = Style { columns: 120, color: Color(false) };
        let text = section(&runs(), style).expect("a table");
        let rows: Vec<Vec<&str>> =
            text.lines().skip(2).take(2).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0].join(" "), "ioda 1,000 3,000 7 / 1,500 / 20 / 0 40 30 5 - -");
        assert_eq!(rows[1].join(" "), "swan - - - - - - 32.0 KiB 2");
        assert_eq!(section(&runs()[..1], style), None);
    }

    #[test]
    fn the_page_has_a_sentence_for_each() {
        let said = sentences(&runs());
        assert_eq!(said.len(), 2);
        assert_eq!(
            said[0],
            "ioda: 1,000 pages were read without the SSD that holds them, for which 3,000 pages of others were read, 40 reads \
             were sent a second way, of which 30 answered first, 5 pages had to wait all the same."
        );
        assert!(
            said[1]
                .starts_with("swan: NVRAM of 64.0 MiB took 9 pages and held at most 32.0 KiB, and 2 writes"),
            "{}",
            said[1]
        );
    }
}
