//! How much bandwidth varies over time: a sentence for all runs, over stretches of one length.

use harmonia_metrics::{BandwidthReport, Comparison, Report};

use crate::{Style, label, layout, numbers};

/// The sentence; `None` where no run is long enough, or was measured.
pub(crate) fn section(comparison: &Comparison, means: &[Report], style: Style) -> Option<String> {
    let runs: Vec<Vec<&BandwidthReport>> =
        comparison.variants().map(|seeds| seeds.iter().map(|run| &run.host.bandwidth).collect()).collect();
    let width = runs.iter().flatten().map(|bandwidth| bandwidth.bucket_ns).max()?;
    let found: Vec<(&Report, f64)> =
        means.iter().zip(&runs).filter_map(|(run, seeds)| Some((run, mean(seeds, width)?))).collect();
    let each = |(run, variation): &(&Report, f64)| match found.len() {
        1 => numbers::percent(*variation),
        _ => format!("{} under {}", numbers::percent(*variation), label(run)),
    };
    let all = found.iter().map(each).collect::<Vec<_>>().join(", ");
    let stretches = numbers::duration(width);
    let text =
        format!("Over stretches of {stretches}, bandwidth varies by {all} (standard deviation over mean).");
    (!found.is_empty()).then(|| layout::wrapped(&text, style.columns))
}

/// Over seeds.
fn mean(seeds: &[&BandwidthReport], width: u64) -> Option<f64> {
    let sum = seeds.iter().map(|bandwidth| bandwidth.variation_over(width)).sum::<Option<f64>>()?;
    Some(sum / seeds.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::run;

    const STYLE: Style = Style { columns: 120, color: Color(false) };

    fn varying(policy: &str, bucket_ns: u64, variation_by_width: &[(u64, f64)]) -> Report {
        let mut run = run(policy, "blocking", 10, 5, &[1.0]);
        let variation_by_width = variation_by_width.to_vec();
        run.host.bandwidth = BandwidthReport { bucket_ns, variation_by_width, ..BandwidthReport::default() };
        run
    }

    fn shown(runs: Vec<Report>) -> Option<String> {
        let comparison = Comparison { runs, ..Comparison::default() };
        section(&comparison, &comparison.runs, STYLE)
    }

    #[test]
    fn runs_are_compared_over_stretches_of_one_length() {
        let runs = vec![
            varying("local", 16_384, &[(16_384, 0.7), (32_768, 0.5)]),
            varying("global", 32_768, &[(32_768, 0.125)]),
        ];
        let text = shown(runs).expect("both vary");
        assert!(
            text.contains("stretches of 32.77 us, bandwidth varies by 50.0% under local, 12.5% under global"),
            "{text}"
        );
    }

    #[test]
    fn nothing_is_said_of_a_run_without_stretches() {
        assert_eq!(shown(vec![varying("local", 0, &[])]), None);
    }
}
