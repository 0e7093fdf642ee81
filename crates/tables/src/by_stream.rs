//! What each stream of a load experienced, a row for its reads and one for its writes: only where the load has streams.

use harmonia_metrics::{Comparison, DistributionSummary, Report, StreamReport};

use crate::numbers::{self, or_none};
use crate::{Style, Table, label, layout, titled};

const TITLE: &str = "Responses by stream, in ms";
const NOTE: &str = "A stream with a limit of outstanding requests issues what is due beyond it when a request completes. Responses \
                    run from there.";

/// The table, of the first seed of each variant; `None` without streams.
pub(crate) fn section(comparison: &Comparison, style: Style) -> Option<String> {
    let mut table = Table::new(["run", "stream", "kind", "requests", "mean", "p50", "p99", "p99.9"]);
    let mut is_empty = true;
    for runs in comparison.variants() {
        for (name, kind, of) in rows(&runs[0]) {
            is_empty = false;
            let ms = |ns: Option<u64>| or_none(ns, |ns| numbers::ms(ns as f64));
            table.push(vec![
                label(&runs[0]).to_owned().into(),
                name.to_owned().into(),
                kind.into(),
                numbers::count(of.count).into(),
                or_none(of.mean, numbers::ms).into(),
                ms(of.p50).into(),
                ms(of.p99).into(),
                ms(of.p999).into(),
            ]);
        }
    }
    let has_seeds = comparison.variants().any(|runs| runs.len() > 1);
    let note =
        if has_seeds { format!("{NOTE} Figures are of the first seed.\n") } else { format!("{NOTE}\n") };
    (!is_empty).then(|| titled(TITLE, &table, style) + &layout::wrapped(&note, style.columns))
}

/// Streams in the order of their names, without kinds that did not occur.
fn rows(run: &Report) -> impl Iterator<Item = (&str, &'static str, &DistributionSummary)> {
    let kinds = |(name, stream): (_, _)| {
        let (name, StreamReport { requests: _, read, write }): (&String, &StreamReport) = (name, stream);
        [(name.as_str(), "reads", read), (name.as_str(), "writes", write)]
    };
    run.host.streams.iter().flat_map(kinds).filter(|(_, _, of)| of.count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    #[test]
    fn each_stream_has_a_row_for_what_it_did() {
        let mut report = run("local", "blocking", 10, 5, &[1.0]);
        assert_eq!(section(&Comparison::new(vec![report.clone()], 1), STYLE), None);
        let some =
            |count, p99| DistributionSummary { count, p99: Some(p99), ..DistributionSummary::default() };
        let probe = StreamReport { requests: 9_000, read: some(5_000, 349_000), write: some(4_000, 14_000) };
        let loaders = StreamReport { requests: 7, write: some(7, 81_000), ..StreamReport::default() };
        report.host.streams =
            [("probe".to_owned(), probe), ("loaders".to_owned(), loaders)].into_iter().collect();
        let text = section(&Comparison::new(vec![report], 1), STYLE).expect("there are streams");
        let rows: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("local"))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            rows,
            [
                "local loaders writes 7 - - 0.0810 -",
                "local probe reads 5,000 - - 0.3490 -",
                "local probe writes 4,000 - - 0.0140 -"
            ]
        );
    }
}
