//! A claim with what was measured for it and the verdict, and the tables made of them.

use std::fmt::Write;

use harmonia_metrics::Interval;
use serde::Serialize;

use crate::claims::{Claim, SecondReading, Test, Unit, is_range_replaced, second_reading};
use crate::reading::Reading;
use crate::results::Results;
use crate::verdict::{Expected, Verdict};

/// A claim held against the results.
#[derive(Debug, Clone, Serialize)]
pub struct Assessment {
    /// The claim's name.
    pub id: &'static str,
    /// The reading under which it was asked; none is the frozen configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<String>,
    /// The claim that it reads in a second way. Only rows without it are counted as claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_reading: Option<SecondReading>,
    /// Paper, section, figure.
    pub source: &'static str,
    /// What it says.
    pub words: &'static str,
    /// The figure as published.
    pub claimed: &'static str,
    /// What is accepted, in words.
    pub accepted: String,
    /// Mean and interval over seeds, in percent, as a ratio, or in nanoseconds; null if nothing was measured. The mean of a factor
    /// is geometric, and has no half-width.
    pub measured: Option<Interval>,
    /// Ends of the interval of a factor, which is that of its logarithm; null for one seed, and for what is no factor. Unit: ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor_ends: Option<(f64, f64)>,
    /// The measurement in words.
    pub shown: String,
    /// What became of it.
    pub verdict: Verdict,
    /// Why it cannot be measured, or what is missing; empty if nothing is.
    pub why: &'static str,
    /// Unit of the measurement.
    #[serde(skip)]
    pub unit: Unit,
    /// What is accepted.
    #[serde(skip)]
    pub expected: Option<Expected>,
}

/// Holds claims against results.
pub fn assess(claims: &[Claim], results: &Results) -> Vec<Assessment> {
    claims.iter().map(|claim| of(claim, results)).collect()
}

impl Assessment {
    /// Whether it is counted as a claim: a second reading of one is not.
    pub fn is_claim(&self) -> bool {
        self.second_reading.is_none()
    }

    /// Ends of its interval; those of one seed are its value.
    pub fn ends(&self) -> Option<(f64, f64)> {
        self.factor_ends.or_else(|| self.measured.map(|measured| (measured.low(), measured.high())))
    }
}

/// Holds the claims of a paper against the results of another reading of it.
pub fn assess_reading(reading: &Reading, results: &Results) -> Vec<Assessment> {
    let mut all = assess(&reading.claims(), results);
    all.iter_mut().for_each(|one| one.reading = Some(reading.id.clone()));
    all
}

fn of(claim: &Claim, results: &Results) -> Assessment {
    let mut assessment = Assessment {
        id: claim.id,
        reading: None,
        second_reading: second_reading(claim.id),
        source: claim.source,
        words: claim.words,
        claimed: claim.claimed,
        accepted: String::new(),
        measured: None,
        factor_ends: None,
        shown: "-".into(),
        verdict: Verdict::NotMeasured,
        why: "",
        unit: claim.unit,
        expected: None,
    };
    match &claim.test {
        Test::Impossible(why) => {
            assessment.verdict = Verdict::NotReproducibleHere;
            assessment.why = why;
        }
        Test::Unmeasured(why) => assessment.why = why,
        Test::Measured(measure, expected) => {
            assessment.accepted = accepted(expected, claim.unit);
            assessment.expected = Some(*expected);
            if let Expected::Factor { .. } = expected {
                let factor = measure.factor(results);
                assessment.measured = factor.map(|factor| factor.0);
                assessment.factor_ends = factor.and_then(|factor| factor.1);
            } else {
                assessment.measured = measure.interval(results);
            }
            if let Some((low, high)) = assessment.ends() {
                assessment.verdict = expected.judge_ends(low, high);
            }
            if let Some(measured) = &assessment.measured {
                assessment.shown = match assessment.factor_ends {
                    Some(ends) => shown_factor(measured, ends, claim.unit),
                    None => shown(measured, claim.unit),
                };
            }
        }
    }
    assessment
}

/// A number in its unit, without the unit.
fn number(value: f64, unit: Unit) -> String {
    let value = if unit == Unit::Ns { value / 1e6 } else { value };
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = match value.abs() {
        size if unit == Unit::Percent && size >= 0.95 => 1,
        size if size >= 9.95 => 1,
        size if size >= 0.095 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    // "-0.00" would claim a direction.
    if text.trim_start_matches('-').chars().all(|digit| matches!(digit, '0' | '.')) {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

/// The unit as it follows a number.
fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Percent => "%",
        Unit::Times => "x",
        Unit::Plain => "",
        Unit::Ns => " ms",
        Unit::Bandwidth => " MB/s",
    }
}

/// A measurement without its interval: "73.7%".
pub fn plain(measured: &Interval, unit: Unit) -> String {
    format!("{}{}", number(measured.mean, unit), suffix(unit))
}

/// A measurement with its interval: "73.7% ± 0.4".
pub fn shown(measured: &Interval, unit: Unit) -> String {
    let mean = plain(measured, unit);
    match measured.half_width {
        Some(half_width) => format!("{mean} ± {}", number(half_width, unit)),
        None => format!("{mean} (one seed)"),
    }
}

/// A factor with the interval of its logarithm: "4.98x (2.10x to 11.8x)".
fn shown_factor(measured: &Interval, (low, high): (f64, f64), unit: Unit) -> String {
    format!("{} ({}{} to {}{2})", plain(measured, unit), number(low, unit), suffix(unit), number(high, unit))
}

/// What is accepted, in words: "63% to 79%".
fn accepted(expected: &Expected, unit: Unit) -> String {
    let value = |value: f64| format!("{}{}", number(value, unit), suffix(unit));
    match *expected {
        Expected::Factor { low, high } if high.is_infinite() => format!("{} or more", value(low)),
        Expected::Between { low, high, .. } | Expected::Factor { low, high } => {
            format!("{} to {}", value(low), value(high))
        }
        Expected::Above(bound) => format!("above {}", value(bound)),
        Expected::Below(bound) => format!("below {}", value(bound)),
    }
}

/// A Markdown table of assessments.
pub fn markdown<'a>(assessments: impl IntoIterator<Item = &'a Assessment>) -> String {
    let mut table =
        String::from("| claim | claimed | accepted | measured | verdict |\n|---|---|---|---|---|\n");
    for one in assessments {
        let second = match one.second_reading {
            Some(SecondReading { of, added_after_measuring: false }) => format!("; reads `{of}`"),
            Some(SecondReading { of, .. }) => format!("; reads `{of}`, added after measuring"),
            None => String::new(),
        };
        let replaced = if is_range_replaced(one.id) { "; accepted range replaced" } else { "" };
        let words = format!("{} ({}{second}{replaced})", one.words, one.source);
        let verdict = match one.why {
            "" => one.verdict.text().to_owned(),
            why => format!("{}: {why}", one.verdict.text()),
        };
        let _ = writeln!(
            table,
            "| `{}`: {words} | {} | {} | {} | **{verdict}** |",
            one.id,
            one.claimed,
            if one.accepted.is_empty() { "-" } else { &one.accepted },
            one.shown,
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Quantity, lowered, ratio, tests::means};

    fn claim(test: Test) -> Claim {
        Claim { id: "x", source: "a paper", words: "it helps", claimed: "71%", unit: Unit::Percent, test }
    }

    fn tested() -> Claim {
        let measure = lowered(Quantity::Mean, "x", "local", "inclusive");
        claim(Test::Measured(measure, Expected::about(71.0, 8.0, 0.0)))
    }

    #[test]
    fn a_claim_is_held_against_the_results() {
        let results = means(&[("local", &[1000, 1000, 1000]), ("inclusive", &[300, 290, 280])]);
        let [one] = &assess(&[tested()], &results)[..] else { unreachable!() };
        assert_eq!((one.verdict, one.accepted.as_str()), (Verdict::Within, "63.0% to 79.0%"));
        assert_eq!(one.shown, "71.0% ± 2.5");
        assert!(markdown([one]).contains("| 71% | 63.0% to 79.0% | 71.0% ± 2.5 | **within** |"));
    }

    /// Seeds of 2 and 8 times are 4 times in the geometric mean, and no interval of a factor reaches below 0.
    #[test]
    fn a_factor_is_judged_on_its_logarithm() {
        let measure = ratio(Quantity::Mean, "x", "local", "inclusive");
        let factor = claim(Test::Measured(measure, Expected::within_logarithm(4.0, 0.5)));
        let factor = Claim { unit: Unit::Times, ..factor };
        let results = means(&[("local", &[1980, 2000, 2020]), ("inclusive", &[500, 500, 500])]);
        let one = &assess(std::slice::from_ref(&factor), &results)[0];
        assert_eq!((one.verdict, one.shown.as_str()), (Verdict::Within, "4.00x (3.90x to 4.10x)"));
        let results = means(&[("local", &[1000, 4000]), ("inclusive", &[500, 500])]);
        let one = &assess(std::slice::from_ref(&factor), &results)[0];
        assert_eq!(one.measured.map(|measured| measured.mean.round()), Some(4.0));
        assert!(one.ends().is_some_and(|(low, _)| low > 0.0), "{:?}", one.ends());
        assert_eq!(one.verdict, Verdict::NotReproduced);
        let results = means(&[("local", &[1000]), ("inclusive", &[500])]);
        assert_eq!(assess(&[factor], &results)[0].shown, "2.00x (one seed)");
    }

    #[test]
    fn what_is_missing_and_what_cannot_be_is_not_called_reproduced() {
        let results = means(&[("local", &[1000])]);
        assert_eq!(assess(&[tested()], &results)[0].verdict, Verdict::NotMeasured);
        let impossible = &assess(&[claim(Test::Impossible("hardware"))], &results)[0];
        assert_eq!(impossible.verdict, Verdict::NotReproducibleHere);
        assert!(markdown([impossible]).contains("**not reproducible here: hardware**"));
        let unmeasured = &assess(&[claim(Test::Unmeasured("no ages"))], &results)[0];
        assert_eq!(unmeasured.verdict, Verdict::NotMeasured);
        assert!(markdown([unmeasured]).contains("**not measured: no ages**"));
    }

    #[test]
    fn numbers_have_as_many_digits_as_they_can_bear() {
        assert_eq!(
            [73.66, 0.156, 0.0004, -0.0001].map(|value| number(value, Unit::Percent)),
            ["73.7", "0.16", "0.000", "0.000"]
        );
        assert_eq!([3.958, 1.0, 12.34].map(|value| number(value, Unit::Times)), ["3.96", "1.00", "12.3"]);
        assert_eq!(number(5_012_000.0, Unit::Ns), "5.01");
    }
}
