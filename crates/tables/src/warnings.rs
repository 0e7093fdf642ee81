//! What to know before believing the figures: it stands in front of them.

use harmonia_metrics::judgement::{AGE_FIRST, DATA_LOST, NO_COLLECTION, voids};
use harmonia_metrics::{Comparison, Report, Warning};

use crate::Emphasis;
use crate::{ADDRESS_SPACE, Style, label, layout, winners};

/// One paragraph a warning, the serious ones first; `None` if all is well. What explains a figure rather than takes its
/// meaning away stands below the tables.
pub(crate) fn section(comparison: &Comparison, style: Style) -> Option<String> {
    let serious = comparison.warnings.iter().filter(|warning| is_serious(warning));
    let text: String = serious.map(|warning| painted(&warned(warning), style)).collect();
    (!text.is_empty()).then_some(text)
}

fn is_serious(warning: &Warning) -> bool {
    ![ADDRESS_SPACE, AGE_FIRST].contains(&warning.code.as_str()) && !winners::is_footnote(&warning.code)
}

fn painted(text: &str, style: Style) -> String {
    let wrapped = layout::wrapped(text, style.columns);
    wrapped.lines().map(|line| style.color.paint(Emphasis::Warning, line) + "\n").collect()
}

/// The warnings of the first screen.
pub(crate) struct Short {
    /// What takes the meaning of the first variant's figures away, or that of a winner's: in full, before the answer.
    pub first: String,
    /// Of others the first sentence of the most serious one, and what more of them are about: after the answer, which holds all the
    /// same.
    pub after: String,
}

pub(crate) fn short(comparison: &Comparison, style: Style) -> Short {
    let winners = &comparison.winners;
    let figures = [&winners.mean, &winners.p99, &winners.read_p99, &winners.read_p999];
    let best = figures.into_iter().flatten().flat_map(|winner| &winner.labels);
    let first = comparison.runs.first().map(label);
    let named: Vec<&str> = best.map(String::as_str).chain(first).collect();
    let takes_meaning = |warning: &Warning| {
        let is_theirs =
            warning.labels.is_empty() || warning.labels.iter().any(|label| named.contains(&label.as_str()));
        is_theirs && (voids(&warning.code) || [DATA_LOST, NO_COLLECTION].contains(&warning.code.as_str()))
    };
    let serious = comparison.warnings.iter().filter(|warning| is_serious(warning));
    let (full, others): (Vec<&Warning>, Vec<&Warning>) = serious.partition(|warning| takes_meaning(warning));
    let first: String = full.iter().map(|warning| painted(&warned(warning), style)).collect();
    let mut after = String::new();
    if let [worst, more @ ..] = &others[..] {
        let said = worst.text.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let about = subjects(comparison, more);
        let more = match (more.len(), about.is_empty()) {
            (0, _) => " (--details)".to_owned(),
            (_, true) => ". More warnings: --details".to_owned(),
            (1, _) => format!(". Another warning (--details) concerns {about}"),
            _ => format!(". Other warnings (--details) concern {about}"),
        };
        after = painted(&format!("warning: {said}{more}"), style);
    }
    Short { first, after }
}

/// So many subjects of warnings are named.
const SUBJECTS: usize = 5;
/// More policies are not named: the table need not show them.
const POLICIES_NAMED: usize = 2;
/// The tables that keys of a scenario stand in.
const TABLES: [&str; 4] = ["array", "ssd", "workload", "precondition"];

/// What these warnings are about: the policies that one is true of, or, if it is true of all, the first key that it names, or what kind
/// it is.
fn subjects(comparison: &Comparison, warnings: &[&Warning]) -> String {
    let add = |all: &mut Vec<String>, name: String| {
        if !all.contains(&name) {
            all.push(name);
        }
    };
    let (mut names, mut policies) = (Vec::new(), Vec::new());
    for warning in warnings {
        let of = |runs: &[Report]| {
            runs[0].is_ideal() || warning.labels.iter().any(|named| named == label(&runs[0]))
        };
        if comparison.variants().all(of) || warning.labels.is_empty() {
            let kind = || warning.code.replace('-', " ");
            add(&mut names, key_in(&warning.text).map_or_else(kind, str::to_owned));
        } else {
            warning.labels.iter().for_each(|label| add(&mut policies, label.clone()));
        }
    }
    if policies.len() <= POLICIES_NAMED {
        names.append(&mut policies);
    }
    let hidden = names.len().saturating_sub(SUBJECTS);
    if hidden > 1 {
        names.truncate(SUBJECTS);
        return format!("{} and {hidden} more", names.join(", "));
    }
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The first key of a scenario that a text names: `workload.requests`.
fn key_in(text: &str) -> Option<&str> {
    let words =
        text.split(|one: char| !(one.is_ascii_lowercase() || one.is_ascii_digit() || "._".contains(one)));
    let mut keys = words.map(|word| word.trim_matches('.'));
    keys.find(|word| word.split_once('.').is_some_and(|(table, _)| TABLES.contains(&table)))
}

/// A warning as a line of its own. Its last sentence ends as those before it.
pub fn warned(warning: &Warning) -> String {
    let end = if warning.text.contains(". ") && !warning.text.ends_with('.') { "." } else { "" };
    format!("warning: {}{end}", warning.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Color;
    use crate::fixtures::four_runs;

    const STYLE: Style = Style { columns: 400, color: Color(false) };

    fn told(warnings: &[(&str, &str, &[&str])]) -> String {
        let mut comparison = Comparison::new(four_runs(), 1);
        let all = ["local", "reactive-inclusive", "reactive-selective"];
        comparison.warnings = warnings
            .iter()
            .map(|(code, text, labels)| {
                let labels = if labels.is_empty() { &all[..] } else { *labels };
                Warning {
                    labels: labels.iter().map(|&label| label.into()).collect(),
                    ..Warning::new(code, *text)
                }
            })
            .collect();
        let Short { first, after } = short(&comparison, STYLE);
        first + &after
    }

    /// One sentence of the first, and of the others what they are about.
    #[test]
    fn hidden_warnings_say_what_they_are_about() {
        let first: (&str, &str, &[&str]) = ("scaled", "drives are scaled. They differ", &[]);
        assert_eq!(told(&[first]), "warning: drives are scaled (--details)\n");
        let key = (
            "requests-moved",
            "3 of 3 requests were moved. A larger array, or workload.remap, changes that",
            &[][..],
        );
        assert_eq!(
            told(&[first, key]),
            "warning: drives are scaled. Another warning (--details) concerns workload.remap\n"
        );
        let code = ("rows-passed-over", "3 of 3 rows of a.csv were passed over", &[][..]);
        let policies =
            ("policy", "under reactive-inclusive, ssd.gc.domain matters", &["reactive-inclusive"][..]);
        let hidden =
            ". Other warnings (--details) concern workload.remap, rows passed over and reactive-inclusive\n";
        assert!(told(&[first, key, code, policies, key]).ends_with(hidden));
        let many = ["a", "b", "c", "d", "e", "f", "g"];
        let hidden = ". More warnings: --details\n";
        assert!(told(&[first, ("policy", "it is so", &many[..])]).ends_with(hidden));
    }

    #[test]
    fn a_key_is_a_word_that_begins_with_its_table() {
        let keys = [
            "raise ssd.scale (now 1/9).",
            "see array.level.",
            "of a.csv, 3.5 times, e.g. now",
            "an array. So it is",
        ];
        assert_eq!(keys.map(key_in), [Some("ssd.scale"), Some("array.level"), None, None]);
    }
}
