//! What a reader must know before believing any of it: the warnings of the comparison, which tables and JSON show too.

use harmonia_metrics::{Comparison, Report, Warning};
use harmonia_tables::{ADDRESS_SPACE, notes};

use super::capital;

/// The code of the warning that begins with the name of a policy.
const KEEPS_APART: &str = "keeps-apart";

/// The worst first. Space that a load leaves alone is noted beside the tables.
pub(super) fn cautions(comparison: &Comparison, runs: &[Report]) -> Vec<String> {
    let warnings = comparison.warnings.iter().filter(|warning| warning.code != ADDRESS_SPACE);
    warnings.map(sentence).chain(notes(runs)).collect()
}

/// A text that begins with the name of a policy keeps its letters.
fn sentence(warning: &Warning) -> String {
    let begins_with_a_name = warning.code == KEEPS_APART && !warning.text.starts_with("under ");
    let text = if begins_with_a_name { warning.text.clone() } else { capital(&warning.text) };
    text + "."
}
