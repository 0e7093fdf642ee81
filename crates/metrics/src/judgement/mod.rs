//! What a comparison means: decided here once, as data, and shown alike by tables, page, JSON and Python.
//!
//! ```text
//!   each run  --> run      warnings of that run: overload, too few collections, ...   --.
//!   all runs  --> mod      the same, each once, with the variants it is true of         +--> Comparison
//!             --> winners  who has the lowest figures, by intervals at the common level -'
//!                 level    how sure a difference must be
//!             --> collection  whether garbage collection matters to the first variant
//! ```
//!
//! A run of which a warning says that its figures mean nothing ([`voids`]) wins nothing; where all do, there are no winners.
//!
//! Leaves out: judging whether the load or the presets are the right ones.

pub mod collection;
mod level;
mod run;
mod winners;

pub use level::{FIGURES, FIRST_LOOK, P999_REQUESTS_MIN, difference_error, figures, pair_error};
pub use run::{
    ALL_AT_ONCE, CANNOT_KEEP_UP, DATA_LOST, EVENTS_MIN, FAILURE_NOT_REACHED, FEW_COLLECTIONS, FEW_REQUESTS,
    FOLDED_INTO_CACHE, NO_COLLECTION, NOT_SETTLED, NOT_STARTED, OVERLOAD, REBUILD_UNFINISHED,
    RESYNC_UNFINISHED, SHORT_WINDOW, STILL_SETTLING, events, of_run, sustained_rate, voids,
};
pub use winners::{Against, Winner, Winners};

use harmonia_types::sort_by_numbers;
use harmonia_types::units::format_count;

use crate::lifetimes::age_first;
use crate::report::{Comparison, Report};
use crate::warning::Warning;

/// Differences in erases smaller than one collection of each SSD depend on when the window ended.
pub const WEAR_AT_THE_EDGE: &str = "wear-at-the-edge";
/// All runs have the same seed.
pub const ONE_SEED: &str = "one-seed";
/// By the writes alone, drives last longer than they are rated for.
pub const AGE_FIRST: &str = "age-first";
/// A policy has something to say of its own keys; each of its sentences is a warning of its own.
pub const POLICY: &str = "policy";
/// Collection is a part of why an array does not keep up, if without its time it serves more by this share.
const PART: f64 = 0.05;
/// An interval narrower than this share of its figure leaves nothing to find out.
const PRECISE: f64 = 0.01;

/// The warnings of several variants, each with `seeds` runs: each kind once, with the variants it is true of. A variant has a
/// warning if half of its runs do.
pub(crate) fn of_runs(variants: &[&[Report]], winners: &Winners) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for runs in variants {
        for warning in of_variant(runs) {
            match found.iter_mut().find(|known| is_same(known, warning)) {
                Some(known) => known.labels.push(label(runs)),
                None => found.push(Warning { labels: vec![label(runs)], ..warning.clone() }),
            }
        }
    }
    sort_by_numbers(&mut found, |warning| (u64::from(!voids(&warning.code)), 0));
    for warning in found.iter_mut().filter(|warning| warning.code == OVERLOAD) {
        let told = without_collection(variants).map(|text| format!(". {text}"));
        warning.text.push_str(&told.unwrap_or_default());
    }
    for warning in &mut found {
        // Where collecting takes no time there is less to warn of.
        let has_it = |runs: &&&[Report]| runs[0].is_ideal() || warning.labels.contains(&label(runs));
        if variants.iter().filter(has_it).count() < variants.len() {
            warning.text = format!("under {}, {}", named(&warning.labels), warning.text);
        }
    }
    if winners.wear_at_the_edge {
        found.push(Warning::new(
            WEAR_AT_THE_EDGE,
            "some differences in erases are smaller than one collection of each SSD. They depend on when the run ended, so they \
             count as ties",
        ));
    }
    found.extend(age_first(variants).map(|text| Warning::new(AGE_FIRST, text)));
    let is_alone = variants.iter().all(|runs| runs.len() == 1 && runs[0].seed == variants[0][0].seed);
    if variants.len() > 1 && is_alone {
        found.push(Warning::new(
            ONE_SEED,
            "one seed was run. The intervals cover this load on this aged array only. Use --seeds 10 to cover others",
        ));
    }
    found
}

/// What an array that does not keep up would do if collection took no time, as the run of the bound says it; or how to ask for one.
/// `None` where the runs have several bounds, or arrays of several sizes, and where nothing collects.
fn without_collection(variants: &[&[Report]]) -> Option<String> {
    let collects = |runs: &&[Report]| !runs[0].is_ideal() && runs.iter().any(|run| run.array.erases > 0);
    if !variants.iter().any(collects) {
        return None;
    }
    let mut bounds = variants.iter().filter(|runs| runs[0].is_ideal());
    let Some(bound) = bounds.next() else {
        let how = "Compare it with ideal (harmonia compare --policies local,ideal) to see what it would serve without collection";
        return Some(how.to_owned());
    };
    let devices = |runs: &[Report]| runs[0].scenario.pointer("/array/devices").cloned();
    if bounds.next().is_some() || variants.iter().any(|runs| devices(runs) != devices(bound)) {
        return None;
    }
    let is_late = |runs: &[Report]| of_variant(runs).any(|warning| warning.code == OVERLOAD);
    let (late, not_late): (Vec<&[Report]>, Vec<&[Report]>) =
        variants.iter().filter(|runs| !runs[0].is_ideal()).partition(|runs| is_late(runs));
    if let Some(other) = not_late.first() {
        return Some(format!("Under {} the array keeps up", label(other)));
    }
    let late = late.first()?;
    let rate = served(bound);
    let shown = if rate < 10.0 { format!("{rate:.2}") } else { format_count(rate.round() as u64) };
    let (part, rest) = match () {
        () if !is_late(bound) => ("is the cause", "keep up".to_owned()),
        () if rate > (1.0 + PART) * served(late) => {
            ("is a part of the cause", format!("serve more, but still not all: {shown} requests a second"))
        }
        () => ("is not the cause", format!("serve no more than {shown} requests a second")),
    };
    Some(format!("Garbage collection {part}. If it took no time ({}), the array would {rest}", label(bound)))
}

/// Requests a second over all runs of a variant.
fn served(runs: &[Report]) -> f64 {
    let nanoseconds: u64 = runs.iter().map(|run| run.simulated_ns).sum();
    let requests = |run: &Report| run.served_requests().unwrap_or_default() * run.simulated_ns as f64;
    runs.iter().map(requests).sum::<f64>() / nanoseconds.max(1) as f64
}

/// Whether two warnings are of one kind: what policies say differs in its text alone.
fn is_same(one: &Warning, other: &Warning) -> bool {
    one.code == other.code && (one.code != POLICY || one.text == other.text)
}

/// The warnings that at least half of a variant's runs have, as the first of these words them.
fn of_variant(runs: &[Report]) -> impl Iterator<Item = &Warning> {
    let all = runs.iter().flat_map(|run| &run.warnings);
    let has = |run: &&Report, what: &Warning| run.warnings.iter().any(|warning| is_same(warning, what));
    let mut told: Vec<&Warning> = Vec::new();
    all.filter(move |warning| {
        let count = runs.iter().filter(|run| has(run, warning)).count();
        let is_new = !told.iter().any(|known| is_same(known, warning));
        told.push(warning);
        is_new && 2 * count >= runs.len()
    })
}

/// The warning for which a variant can win nothing.
fn void_of(runs: &[Report]) -> Option<&str> {
    of_variant(runs).map(|warning| warning.code.as_str()).find(|code| voids(code))
}

pub(crate) fn label(runs: &[Report]) -> String {
    match runs[0].label.as_str() {
        "" => runs[0].array.coordination.policy.clone(),
        label => label.to_owned(),
    }
}

/// Up to three names; of more the rest is counted.
fn named(labels: &[String]) -> String {
    match labels {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, other, third] => format!("{one}, {other} and {third}"),
        [one, other, rest @ ..] => format!("{one}, {other} and {} more", rest.len()),
        [] => String::new(),
    }
}

impl Comparison {
    /// Whether more seeds could tell nothing more: each figure has a winner, or all that tie are known to a hundredth, or
    /// no figure means anything.
    pub fn is_decided(&self) -> bool {
        let Winners { mean, p99, read_p99, read_p999, erases, .. } = &self.winners;
        let figures = [mean, p99, read_p99, read_p999, erases];
        figures.into_iter().flatten().all(|winner| {
            let is_precise = |against: &Against| {
                let relative = against.versus.relative.and_then(|relative| relative.half_width);
                relative.is_some_and(|half_width| half_width < PRECISE)
            };
            !winner.is_tie() || winner.ties.iter().all(is_precise)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use crate::intervals::Versus;
    use crate::report::tests::blank;

    fn warned(label: &str, seed: u64, codes: &[&str]) -> Report {
        let mut run = blank(label, seed);
        run.warnings = codes.iter().map(|code| Warning::new(code, "it is so")).collect();
        run
    }

    fn told(runs: &[Report], seeds: usize) -> Vec<(String, String)> {
        let variants: Vec<&[Report]> = runs.chunks(seeds).collect();
        let all = of_runs(&variants, &Winners::default());
        all.into_iter().map(|warning| (warning.code, warning.text)).collect()
    }

    #[test]
    fn each_kind_is_told_once_with_those_it_is_true_of_the_serious_ones_first() {
        let runs = [
            warned("a", 1, &["parity-resonance"]),
            warned("b", 1, &["parity-resonance", FEW_REQUESTS]),
            warned("c", 1, &["parity-resonance"]),
        ];
        let told = told(&runs, 1);
        let (codes, texts): (Vec<&str>, Vec<&str>) =
            told.iter().map(|(c, t)| (c.as_str(), t.as_str())).unzip();
        assert_eq!(codes, [FEW_REQUESTS, "parity-resonance", ONE_SEED]);
        assert_eq!(texts[..2], ["under b, it is so", "it is so"]);
    }

    /// What is known without collection is that of the run of the bound, and asked for where there is none.
    #[test]
    fn an_overload_says_what_the_array_would_serve_without_collection() {
        let bound = |codes: &[&str]| {
            let mut run = warned("ideal", 1, codes);
            run.scenario = serde_json::json!({"ssd": {"gc": {"schedule": "ideal"}}});
            (run.host.requests, run.simulated_ns) = (30_000, 2_000_000_000);
            run
        };
        let slow = || {
            let mut run = warned("local", 1, &[OVERLOAD]);
            run.array.erases = 1;
            run
        };
        let said = |runs: &[Report]| told(runs, 1).remove(0).1;
        assert!(said(&[slow()]).ends_with(
            "it is so. Compare it with ideal (harmonia compare --policies local,ideal) to see what it would serve without collection"
        ));
        let keeps_up =
            "it is so. Garbage collection is the cause. If it took no time (ideal), the array would keep up";
        assert_eq!(said(&[slow(), bound(&[])]), keeps_up);
        let part = "Garbage collection is a part of the cause. If it took no time (ideal), the array would serve more, but still not all: \
                    15,000 requests a second";
        assert!(said(&[slow(), bound(&[OVERLOAD])]).ends_with(part));
        let mut fast = slow();
        (fast.host.requests, fast.simulated_ns) = (29_000, 2_000_000_000);
        let not = "Garbage collection is not the cause. If it took no time (ideal), the array would serve no more than 15,000 requests a \
                   second";
        assert!(said(&[fast, bound(&[OVERLOAD])]).ends_with(not));
        let mut other = slow();
        (other.label, other.warnings) = ("gclock".to_owned(), Vec::new());
        let keeps_up = "under local, it is so. Under gclock the array keeps up";
        assert_eq!(said(&[slow(), other, bound(&[])]), keeps_up, "the policy is why");
        assert_eq!(said(&[slow(), bound(&[]), bound(&[])]), "it is so", "several bounds");
        let mut larger = slow();
        larger.scenario = serde_json::json!({"array": {"devices": 9}});
        assert_eq!(said(&[larger, bound(&[])]), "it is so", "the bound of another array");
        assert_eq!(said(&[bound(&[OVERLOAD])]), "it is so", "it is the bound itself");
        assert_eq!(said(&[warned("local", 1, &[OVERLOAD])]), "it is so", "nothing collects");
    }

    /// A rating in years is what a drive may become, and otherwise a hundred years.
    #[test]
    fn years_beyond_those_of_a_rating_are_cautioned_about() {
        let of = |years: f64, rating: serde_json::Value| {
            let mut run = warned("a", 1, &[]);
            run.scenario = serde_json::json!({"ssd": {"rating": rating}});
            let evenness = crate::Evenness::of([].iter());
            run.array.lifetime = Some(crate::ArrayLifetime {
                rate: crate::RateOf::Arrivals,
                window_s: 1.0,
                host_bytes_per_day: 1.0,
                first: Some(crate::First { device: 0, limit: crate::Limit::RatedBytes, years }),
                evenness,
            });
            told(&[run], 1)
        };
        let five = || serde_json::json!({"dwpd": 1.0, "years": 5.0});
        let none = || serde_json::json!({"cycles": 3_000});
        assert_eq!((of(5.0, five()), of(100.0, none())), (vec![], vec![]));
        let said = |all: Vec<(String, String)>| {
            assert_eq!(all[0].0, AGE_FIRST);
            all[0].1.clone()
        };
        assert!(said(of(5.1, five())).ends_with("they exceed 5 (ssd.rating), age ends the drives first"));
        assert!(said(of(101.0, none())).ends_with("they exceed 100, age ends the drives first"));
    }

    /// Two policies may warn of different things, and one policy of two.
    #[test]
    fn what_policies_say_is_told_sentence_by_sentence() {
        let mut runs = ["a", "b", "c"].map(|label| warned(label, 1, &[]));
        runs[0].warnings = ["too short", "too long"].map(|text| Warning::new(POLICY, text)).to_vec();
        runs[1].warnings = vec![Warning::new(POLICY, "too long")];
        let texts: Vec<String> = told(&runs, 1).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts[..2], ["under a, too short", "under a and b, too long"]);
    }

    #[test]
    fn a_variant_is_what_half_of_its_seeds_are() {
        let runs = [1, 2, 3, 4].map(|seed| warned("a", seed, if seed < 3 { &[OVERLOAD] } else { &[] }));
        assert_eq!(void_of(&runs), Some(OVERLOAD));
        let runs = [1, 2, 3].map(|seed| warned("a", seed, if seed < 2 { &[OVERLOAD] } else { &[] }));
        assert_eq!((void_of(&runs), told(&runs, 3)), (None, vec![]));
    }

    /// A figure is decided by a winner, or by ties that are known to less than a hundredth; one that is not is enough for more.
    #[test]
    fn more_seeds_are_wanted_while_ties_are_known_too_badly() {
        let winner = |ties: &[Option<f64>]| {
            let against = |&half_width: &Option<f64>| {
                let relative = Interval { mean: 0.0, half_width, samples: 10 };
                let versus = Versus {
                    difference: relative,
                    relative: Some(relative),
                    significant: None,
                    paired: true,
                };
                Against { label: "b".to_owned(), versus }
            };
            Winner {
                labels: vec!["a".to_owned(); 1 + ties.len()],
                values: Vec::new(),
                next: None,
                baseline: None,
                ties: ties.iter().map(against).collect(),
                unknown: Vec::new(),
                void: None,
            }
        };
        let is_decided = |mean: Option<Winner>, erases: Option<Winner>| {
            Comparison { winners: Winners { mean, erases, ..Winners::default() }, ..Comparison::default() }
                .is_decided()
        };
        assert!(is_decided(None, None) && is_decided(Some(winner(&[])), None));
        let tied = |ties: &[Option<f64>]| is_decided(Some(winner(&[])), Some(winner(ties)));
        assert!(tied(&[Some(0.009)]) && !tied(&[Some(0.01)]) && !tied(&[None]));
        assert!(tied(&[Some(0.009), Some(0.001)]) && !tied(&[Some(0.009), Some(0.02)]));
    }
}
