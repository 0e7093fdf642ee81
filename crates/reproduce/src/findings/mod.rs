//! The page of findings and its pictures, made of results alone.
//!
//! The sections are Markdown with measures in it, one file a group of papers, in the order of `PAGES`:
//!
//! * `sections`: how those files are read; measures in them are expressions (`expression`);
//! * `computed`: what no line of them can say, with `soft_limit`, which holds proactive-soft-limit against everything else, and
//!   `readings`, which reads otherwise what a paper leaves out;
//! * `bound`, `siblings`: tables of HPDC 2018 that have a row for every reading;
//! * `write`: figures and words out of results.
//!
//! Every number on the page is written from the results. A sentence that draws a conclusion carries the condition under
//! which it is true, and is left out where it is not: a test asserts that in the committed results none is.

mod bound;
mod computed;
mod readings;
mod sections;
mod siblings;
mod soft_limit;
mod write;

use std::fmt::Write;

use crate::assessment::{self, Assessment, assess};
use crate::claims::{claims, is_range_replaced};
use crate::experiment::experiments;
use crate::results::Results;
use crate::verdict::Verdict;
use write::Reader;

/// Sections of the page, in its order.
const PAGES: [&str; 6] = [
    include_str!("global.md"),
    include_str!("die.md"),
    include_str!("channels.md"),
    include_str!("ioda.md"),
    include_str!("gaftl.md"),
    include_str!("bandwidth.md"),
];

/// What is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    /// `findings.md`; its figures lie in `figures/` beside it.
    pub findings: String,
    /// How many claims met which verdict, for other pages.
    pub claims: String,
    /// Name and text of every figure.
    pub figures: Vec<(String, String)>,
    /// Conclusions that the results do not bear out and that are therefore left out.
    pub dropped: Vec<String>,
    /// Variants of experiments that the page asks for and that have no run.
    pub missing: Vec<String>,
}

/// One question with what was found.
#[derive(Debug, Clone, Default)]
struct Finding {
    /// Name of its figures.
    id: &'static str,
    question: String,
    /// What was measured, in words; it stands below the conclusions.
    text: String,
    /// Conclusions, each with whether it holds; each can be read without the text.
    conclusions: Vec<(bool, String)>,
    /// Description and text of each figure.
    figures: Vec<(String, String)>,
    /// Names of the claims it answers.
    claims: Vec<&'static str>,
    /// A table of its own, in Markdown.
    table: String,
}

/// The pages of these results.
pub fn pages(results: &Results) -> Pages {
    let assessments = assess(&claims(), results);
    let reader = Reader::new(results, &assessments);
    let findings: Vec<Finding> = PAGES.iter().flat_map(|page| sections::read(page, &reader)).collect();
    let mut pages = Pages { claims: tally(&assessments), ..Pages::default() };
    pages.findings = opening(results, &assessments, &findings);
    for finding in &findings {
        let _ = write!(pages.findings, "\n## {}\n", finding.question);
        let mut answer = Vec::new();
        for (holds, conclusion) in &finding.conclusions {
            if *holds {
                answer.push(conclusion.as_str());
            } else {
                pages.dropped.push(format!("{}: {conclusion}", finding.id));
            }
        }
        // The answer first, then what was measured for it.
        for paragraph in answer.into_iter().chain([finding.text.as_str()]) {
            let _ = write!(pages.findings, "\n{}\n", paragraph.trim());
        }
        for (index, (about, figure)) in finding.figures.iter().enumerate() {
            let name = if index == 0 {
                format!("{}.svg", finding.id)
            } else {
                format!("{}-{}.svg", finding.id, index + 1)
            };
            let _ = write!(pages.findings, "\n![{about}](figures/{name})\n");
            pages.figures.push((name, figure.clone()));
        }
        if !finding.claims.is_empty() {
            let chosen = finding.claims.iter().filter_map(|id| assessments.iter().find(|one| one.id == *id));
            let _ = write!(pages.findings, "\n{}", assessment::markdown(chosen));
        }
        if !finding.table.is_empty() {
            let _ = write!(pages.findings, "\n{}", finding.table);
        }
    }
    let lacking =
        reader.asked.take().into_iter().filter(|(id, variant)| results.runs(id, variant).is_empty());
    pages.missing = lacking.map(|(id, variant)| format!("{id} {variant}")).collect();
    pages
}

/// How many claims met which verdict, and apart from them the second readings, "12 within, 5 direction only, ..".
fn tally(assessments: &[Assessment]) -> String {
    let (claims, readings): (Vec<_>, Vec<_>) = assessments.iter().partition(|one| one.is_claim());
    let late = |one: &&&Assessment| one.second_reading.is_some_and(|second| second.added_after_measuring);
    format!(
        "Of {} claims: {}. The accepted ranges of {} claims were replaced with results known. Second readings of these claims are counted \
         apart: there are {}, {} of them added after measuring: {}.\n",
        claims.len(),
        verdicts(&claims),
        claims.iter().filter(|one| is_range_replaced(one.id)).count(),
        readings.len(),
        readings.iter().filter(late).count(),
        verdicts(&readings),
    )
}

fn verdicts(assessments: &[&Assessment]) -> String {
    let all = [
        Verdict::Within,
        Verdict::DirectionOnly,
        Verdict::NotReproduced,
        Verdict::NotReproducibleHere,
        Verdict::NotMeasured,
    ];
    let count = |verdict: Verdict| assessments.iter().filter(|one| one.verdict == verdict).count();
    let parts = all.iter().filter(|verdict| count(**verdict) > 0);
    let parts: Vec<String> = parts.map(|verdict| format!("{} {}", count(*verdict), verdict.text())).collect();
    parts.join(", ")
}

fn opening(results: &Results, assessments: &[Assessment], findings: &[Finding]) -> String {
    let mut page = include_str!("opening.md")
        .replace("{simulations}", &results.len().to_string())
        .replace("{tally}", &tally(assessments));
    for finding in findings {
        let _ = writeln!(page, "- [{}](#{})", finding.question, anchor(&finding.question));
    }
    let questions = experiments().unwrap_or_default();
    page.push_str("\nExperiments:");
    for experiment in questions {
        let _ = write!(page, " [{0}](../experiments/{0}.toml)", experiment.id);
    }
    page.push_str(".\n");
    page
}

/// The name GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_found_by_its_anchor() {
        assert_eq!(anchor("Does GC cost 4x, and why?"), "does-gc-cost-4x-and-why");
    }

    /// A paper says a thing once, however often we read it.
    #[test]
    fn a_second_reading_is_not_counted_as_a_claim() {
        let all = assess(&claims(), &Results::default());
        let readings = all.iter().filter(|one| !one.is_claim()).count();
        assert!(readings > 0);
        let claims = all.len() - readings;
        assert!(tally(&all).starts_with(&format!("Of {claims} claims: ")), "{}", tally(&all));
    }

    /// No other page has the claims.
    #[test]
    fn every_claim_stands_on_the_page_once() {
        let page = pages(&Results::default()).findings;
        for one in assess(&claims(), &Results::default()) {
            assert_eq!(page.matches(&format!("\n| `{}`:", one.id)).count(), 1, "{}", one.id);
        }
    }

    /// What was run to be shown is shown.
    #[test]
    fn every_variant_of_the_sweeps_of_ioda_is_on_the_page() {
        let results = Results::default();
        let reader = Reader::new(&results, &[]);
        PAGES.iter().for_each(|page| drop(sections::read(page, &reader)));
        let asked = reader.asked.take();
        let sweeps = ["ioda", "ioda-rate", "ioda-window", "ioda-soft"];
        for experiment in experiments().expect("valid experiments") {
            let id = sweeps.iter().find(|id| **id == experiment.id);
            for variant in id.map(|_| experiment.variants()).unwrap_or_default() {
                assert!(
                    asked.iter().any(|one| (one.0, &one.1) == (experiment.id.as_str(), &variant)),
                    "{variant}"
                );
            }
        }
    }

    #[test]
    fn without_results_there_is_a_page_and_nothing_is_claimed() {
        let pages = pages(&Results::default());
        assert!(pages.findings.contains("not measured"));
        assert!(!pages.findings.contains("**within**") && !pages.findings.contains("NaN"));
        for (name, figure) in &pages.figures {
            assert!(!figure.contains("NaN") && !figure.contains("inf\""), "{name}");
        }
    }
}
