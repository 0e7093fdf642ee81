//! Are the committed pages of the documentation what the sources, registries and runs say today?

// The generator is an example, so that `cargo run --example pages` writes what this test compares.
#[allow(dead_code)]
#[path = "../../examples/pages/main.rs"]
mod generator;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use generator::runs::{Runs, run_all};
use harmonia_metrics::{BlameSum, Part, SECTIONS};
use harmonia_scenario::policies;
use harmonia_types::{Counters, IoCause};

static RUNS: LazyLock<Runs> = LazyLock::new(run_all);
static PAGES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| generator::pages(&RUNS));

#[test]
fn committed_pages_are_fresh() {
    let mut generated = BTreeSet::new();
    for (path, page) in &*PAGES {
        let committed = std::fs::read_to_string(generator::root().join(path)).unwrap_or_default();
        assert!(committed == *page, "{path} is stale: run `make docs` and commit it");
        generated.insert(path.clone());
    }
    for folder in generator::FOLDERS {
        for file in std::fs::read_dir(generator::root().join(folder)).expect("a folder of generated files") {
            let path = format!("{folder}/{}", file.expect("readable").file_name().display());
            assert!(
                generated.contains(&path),
                "nothing generates {path} any more: run `make docs` and commit it"
            );
        }
    }
}

/// Whoever looks for a key of the report finds it, and whoever looks for a word of a table, too.
#[test]
fn every_counter_and_cause_is_explained() {
    let page = |path: &str| std::fs::read_to_string(generator::root().join(path)).expect("a page");
    let (files, glossary) = (page("docs/files.md"), page("docs/glossary.md"));
    let counters = SECTIONS.iter().flat_map(|(_, declared)| declared.iter()).chain(BlameSum::TABLE);
    let causes = IoCause::TABLE.iter().map(|of| of.name);
    for name in counters.map(|counter| counter.name).chain(causes) {
        assert!(files.contains(&format!("\n| `{name}` |")), "docs/files.md does not explain {name}");
    }
    for part in Part::all() {
        let words = part.counter.words;
        assert!(glossary.contains(&format!("\n- *{words}*: ")), "the glossary's blame has no {words}");
    }
}

#[test]
fn every_policy_has_its_page_and_says_what_it_leaves_out() {
    let page = |path: &str| {
        let page = PAGES.iter().find(|(name, _)| name == path);
        &page.unwrap_or_else(|| panic!("no page {path}")).1
    };
    for policy in policies::list() {
        let kind = serde_json::to_value(policy.kind).expect("a name");
        let path = format!("policies/{}-{}.md", kind.as_str().unwrap_or_default(), policy.name);
        assert!(
            page("docs/policies.md").contains(&format!("({path})")),
            "docs/policies.md does not list {path}"
        );
        let page = page(&format!("docs/{path}"));
        for part in ["**Source:**", "**Leaves out:**"] {
            assert!(page.contains(part), "{path} has no {part}");
        }
    }
}

#[test]
fn the_runs_show_what_the_concept_page_says() {
    for (statement, holds) in generator::concepts::statements(&RUNS) {
        assert!(holds, "docs/concepts.md says that {statement}; the runs behind it no longer do");
    }
}

#[test]
fn figures_are_small_and_well_formed() {
    for (path, figure) in PAGES.iter().filter(|(path, _)| path.ends_with(".svg")) {
        assert!(figure.len() < 60_000, "{path} has {} bytes", figure.len());
        assert!(!figure.contains("NaN") && !figure.contains("inf"), "{path}");
    }
}
