//! What to know before believing the figures: it stands in front of them.

use harmonia_metrics::judgement::{DATA_LOST, NO_COLLECTION, voids};
use harmonia_metrics::{Comparison, Warning};

use crate::Emphasis;
use crate::{ADDRESS_SPACE, Style, layout, winners};

/// One paragraph a warning, the serious ones first; `None` if all is well. What explains a figure rather than takes its
/// meaning away stands below the tables.
pub(crate) fn section(comparison: &Comparison, style: Style) -> Option<String> {
    let serious = comparison.warnings.iter().filter(|warning| is_serious(warning));
    let text: String = serious.map(|warning| painted(&warned(warning), style)).collect();
    (!text.is_empty()).then_some(text)
}

fn is_serious(warning: &Warning) -> bool {
    warning.code != ADDRESS_SPACE && !winners::is_footnote(&warning.code)
}

fn painted(text: &str, style: Style) -> String {
    let wrapped = layout::wrapped(text, style.columns);
    wrapped.lines().map(|line| style.color.paint(Emphasis::Warning, line) + "\n").collect()
}

/// For the first screen: in full what takes the meaning of the first variant's figures away, or that of a winner's. Of others the first
/// sentence of the most serious one, and how many more there are.
pub(crate) fn short(comparison: &Comparison, style: Style) -> Option<String> {
    let winners = &comparison.winners;
    let figures = [&winners.mean, &winners.p99, &winners.read_p99, &winners.read_p999];
    let best = figures.into_iter().flatten().flat_map(|winner| &winner.labels);
    let first = comparison.runs.first().map(crate::label);
    let named: Vec<&str> = best.map(String::as_str).chain(first).collect();
    let takes_meaning = |warning: &Warning| {
        let is_theirs =
            warning.labels.is_empty() || warning.labels.iter().any(|label| named.contains(&label.as_str()));
        is_theirs && (voids(&warning.code) || [DATA_LOST, NO_COLLECTION].contains(&warning.code.as_str()))
    };
    let serious = comparison.warnings.iter().filter(|warning| is_serious(warning));
    let (full, others): (Vec<&Warning>, Vec<&Warning>) = serious.partition(|warning| takes_meaning(warning));
    let mut text: String = full.iter().map(|warning| painted(&warned(warning), style)).collect();
    if let [worst, more @ ..] = &others[..] {
        let said = worst.text.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let more = match more.len() {
            0 => "--details".to_owned(),
            1 => "one more warning: --details".to_owned(),
            more => format!("{more} more warnings: --details"),
        };
        text.push_str(&painted(&format!("warning: {said} ({more})"), style));
    }
    (!text.is_empty()).then_some(text)
}

/// A warning as a line of its own.
pub fn warned(warning: &Warning) -> String {
    format!("warning: {}", warning.text)
}
