//! What to know before believing the figures: it stands in front of them.

use harmonia_metrics::{Comparison, Warning};

use crate::Emphasis;
use crate::{ADDRESS_SPACE, Style, layout, winners};

/// One paragraph a warning, the serious ones first; `None` if all is well. What explains a figure rather than takes its
/// meaning away stands below the tables.
pub(crate) fn section(comparison: &Comparison, style: Style) -> Option<String> {
    let is_serious =
        |warning: &&Warning| warning.code != ADDRESS_SPACE && !winners::is_footnote(&warning.code);
    let line = |warning: &Warning| {
        let wrapped = layout::wrapped(&warned(warning), style.columns);
        let lines = wrapped.lines().map(|line| style.color.paint(Emphasis::Warning, line) + "\n");
        lines.collect::<String>()
    };
    let text: String = comparison.warnings.iter().filter(is_serious).map(line).collect();
    (!text.is_empty()).then_some(text)
}

/// A warning as a line of its own.
pub fn warned(warning: &Warning) -> String {
    format!("warning: {}", warning.text)
}
