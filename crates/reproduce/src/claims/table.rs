//! Claims, from Markdown.
//!
//! A claim is an item of a list: its name and what it says; the figure as published and where it stands; and what is measured for
//! it with what is accepted. Lines that belong to no item are for readers.
//!
//! ```text
//! - `size-2` 2 SSDs: the baseline's mean over that of global collection
//!   2.7 | IEEE TC 2012, 5.3, Fig. 8
//!   ratio mean array-size 2/base/local 2/base/inclusive: 2.7 ± 0.5 beside 1
//! ```
//!
//! A measure is an [expression]. What is accepted is `VALUE ± TOLERANCE` or `LOW to HIGH`, with `beside` the value of no effect where
//! there is one; or `above` or `below` a bound. What has no effect at 1 is a factor, which is judged on its logarithm: beside `LOW to
//! HIGH beside 1` there are `LOW or more`, `VALUE within a factor of FACTOR` and `VALUE ± 50% of its logarithm`, which is half of
//! the effect to one and a half of it. `artifact` is the ratio that the artifact of IODA has. `impossible: why` stands for a claim
//! that no run answers.
//!
//! [expression]: crate::expression

use super::{Claim, Test, Unit, ioda};
use crate::expression::{measure, unit};
use crate::measure::Measure;
use crate::verdict::Expected;

/// The claims of a page, in its order. A mistake in a page is a mistake in this crate: it panics, and tests read every page.
pub(super) fn read(page: &'static str) -> Vec<Claim> {
    page.split("\n- `").skip(1).map(claim).collect()
}

fn claim(item: &'static str) -> Claim {
    let mistake =
        || panic!("claims: `{item}: not `name` words, then figure | source, then measure: what is accepted");
    let (id, rest) = item.split_once("` ").unwrap_or_else(mistake);
    let (words, rest) = rest.split_once("\n  ").unwrap_or_else(mistake);
    let (published, rest) = rest.split_once("\n  ").unwrap_or_else(mistake);
    let (claimed, source) = published.split_once(" | ").unwrap_or_else(mistake);
    let asked = rest.split("\n\n").next().unwrap_or_default().trim_end();
    let (asked, accepted) = asked.rsplit_once(": ").unwrap_or_else(mistake);
    let (unit, test) = match asked {
        "impossible" => (Unit::Times, Test::Impossible(accepted)),
        _ => {
            let measure = measure(asked, &[]);
            let expected = expected(accepted, &measure).unwrap_or_else(|| panic!("claims: {id}: {accepted}"));
            (unit(&measure), Test::Measured(measure, expected))
        }
    };
    Claim { id, source, words, claimed, unit, test }
}

fn expected(text: &str, measure: &Measure) -> Option<Expected> {
    let (range, no_effect) = match text.split_once(" beside ") {
        Some((range, none)) => (range, Some(none.parse().ok()?)),
        None => (text, None),
    };
    let words: Vec<&str> = range.split(' ').collect();
    let number = |text: &str| match text {
        "artifact" => ioda::published_by_the_artifact(measure),
        text => text.parse().ok(),
    };
    Some(match words[..] {
        ["above", bound] => Expected::Above(number(bound)?),
        ["below", bound] => Expected::Below(number(bound)?),
        [low, "or", "more"] => Expected::Factor { low: number(low)?, high: f64::INFINITY },
        [low, "to", high] => between(number(low)?, number(high)?, no_effect),
        [value, "±", tolerance] => {
            let (value, tolerance) = (number(value)?, number(tolerance)?);
            between(value - tolerance, value + tolerance, no_effect)
        }
        [value, "±", share, "of", "its", "logarithm"] => {
            Expected::within_logarithm(number(value)?, number(share.strip_suffix('%')?)? / 100.0)
        }
        [value, "within", "a", "factor", "of", factor] => {
            Expected::within_factor(number(value)?, number(factor)?)
        }
        _ => return None,
    })
}

/// What no effect makes 1 is a factor.
fn between(low: f64, high: f64, no_effect: Option<f64>) -> Expected {
    match no_effect {
        Some(1.0) => Expected::Factor { low, high },
        no_effect => Expected::Between { low, high, no_effect },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Quantity;

    #[test]
    fn a_claim_is_read_as_it_is_written() {
        let page = "# Title\n\nText.\n\n- `a` Words: more\n  2 (two) | Fig. 8\n  mean victims\n    1/local: 2 ± 0.5 beside 1\n\n## Next\n\n- `b` B\n  none | Fig. 9\n  impossible: no runs\n";
        let claims = read(page);
        let [a, b] = &claims[..] else { panic!("two claims: {claims:?}") };
        assert_eq!((a.id, a.words, a.claimed, a.source), ("a", "Words: more", "2 (two)", "Fig. 8"));
        let Test::Measured(measure, expected) = &a.test else { panic!("{:?}", a.test) };
        assert_eq!(*measure, Measure::Of(Quantity::Mean, "victims", "1/local".to_owned()));
        assert_eq!(*expected, Expected::Factor { low: 1.5, high: 2.5 });
        assert!(matches!(b.test, Test::Impossible("no runs")));
    }

    #[test]
    fn what_is_accepted_is_a_range_or_a_bound() {
        let none = Measure::Average(Vec::new());
        let read = |text: &str| expected(text, &none);
        assert_eq!(read("1 ± 0.25"), Some(Expected::same(1.0, 0.25)));
        assert_eq!(read("2.5 to 5 beside 1"), Some(Expected::Factor { low: 2.5, high: 5.0 }));
        assert_eq!(read("50 ± 8 beside 25"), Some(Expected::about(50.0, 8.0, 25.0)));
        assert_eq!(read("10 or more"), Some(Expected::Factor { low: 10.0, high: f64::INFINITY }));
        assert_eq!(read("4 ± 50% of its logarithm"), Some(Expected::within_logarithm(4.0, 0.5)));
        assert_eq!(read("4 within a factor of 2"), Some(Expected::within_factor(4.0, 2.0)));
        assert_eq!(read("above 0"), Some(Expected::Above(0.0)));
        for wrong in [
            "about 1",
            "above",
            "1 ± x",
            "4 ± 0.5 of its logarithm",
            "artifact within a factor of 2",
            "1 to 2 beside x",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
