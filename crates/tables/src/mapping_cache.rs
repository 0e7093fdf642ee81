//! What drives found in memory of a map that they do not hold as a whole: only of runs with `ssd.ftl.mapping_cache`.

use harmonia_metrics::Report;

use crate::numbers::{count, or_none, percent};
use crate::{Cell, Style, Table, label, titled};

const TITLE: &str = "Mapping caches";
const LEGEND: &str = "Found: of the map entries that pages of the host or the array needed, those in memory. Read, written: pages of the \
                      map that flash read and programmed. For GC: pages of the map that were not in memory when garbage collection \
                      moved data of theirs.\n";

/// `None` where every drive has its map in memory.
pub(crate) fn section(runs: &[Report], style: Style) -> Option<String> {
    let mut table = Table::new(["run", "found", "looked up", "read", "written", "for GC"]);
    for run in runs {
        let Some(cache) = &run.array.inside.mapping_cache else { continue };
        let asked = cache.hits + cache.misses;
        let found = (asked > 0).then(|| cache.hits as f64 / asked as f64);
        let numbers = [asked, cache.read_pages, cache.written_pages, cache.pages_for_gc];
        let cells = [or_none(found, percent)].into_iter().chain(numbers.map(count)).map(Cell::from);
        table.push(std::iter::once(label(run).into()).chain(cells).collect());
    }
    let has_any = runs.iter().any(|run| run.array.inside.mapping_cache.is_some());
    has_any.then(|| titled(TITLE, &table, style) + &crate::layout::wrapped(LEGEND, style.columns))
}

#[cfg(test)]
mod tests {
    use harmonia_types::{MappingCacheCounters, Number};

    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    const STYLE: Style = Style { columns: 100, color: Color(false) };

    #[test]
    fn only_drives_with_a_part_of_their_map_have_a_row() {
        let whole = run("local", "local", 10_000, 12_000, &[1.0]);
        assert_eq!(section(std::slice::from_ref(&whole), STYLE), None);
        let mut part = run("local, 64 MiB", "local", 20_000, 12_000, &[1.0]);
        part.array.inside.mapping_cache = Some(MappingCacheCounters {
            hits: 6_000,
            misses: 2_000,
            read_pages: 1_900,
            written_pages: 310,
            pages_for_gc: 75,
            ..MappingCacheCounters::ZERO
        });
        insta::assert_snapshot!(section(&[whole, part], STYLE).expect("one has a cache"));
    }
}
