//! Are the committed findings what the committed results say?

// The generator is an example, so that `make findings` writes what this test compares.
#[allow(dead_code)]
#[path = "../examples/findings.rs"]
mod generator;

use harmonia_reproduce::{experiments, findings};

#[test]
fn committed_pages_are_fresh() {
    for (path, page) in generator::pages().expect("results and pages are there") {
        let committed = std::fs::read_to_string(generator::root().join(&path)).unwrap_or_default();
        assert!(committed == page, "{path} is stale: run `make findings` and commit it");
    }
    assert_eq!(generator::stale_figures().expect("a folder"), Vec::<std::path::PathBuf>::new());
}

/// A sentence whose condition fails is left out of the page: nobody should have to notice that by reading.
#[test]
fn every_conclusion_of_the_page_is_borne_out() {
    let results = generator::results().expect("committed results");
    assert_eq!(findings::pages(&results).dropped, Vec::<String>::new());
}

#[test]
fn every_run_of_every_experiment_is_there() {
    let results = generator::results().expect("committed results");
    for experiment in experiments().expect("valid experiments") {
        for variant in experiment.variants() {
            let seeds = results.runs(&experiment.id, &variant).len();
            let refused = results.refusal(&experiment.id, &variant).is_some();
            assert!(refused || seeds >= 3, "{} {variant}: {seeds} seeds", experiment.id);
        }
    }
}
