//! Are the committed pages of the documentation what the registries and the key table say today?

// The generator is an example, so that `cargo run --example pages` writes what this test compares.
#[allow(dead_code)]
#[path = "../examples/pages.rs"]
mod generator;

use harmonia_array::coordination;

#[test]
fn committed_pages_are_fresh() {
    for (path, page) in generator::pages() {
        let committed = std::fs::read_to_string(generator::root().join(path)).unwrap_or_default();
        assert!(committed == page, "{path} is stale: run `make docs` and commit it");
    }
}

#[test]
fn every_coordinator_has_its_section_with_the_text_of_its_file() {
    let (_, page) = &generator::pages()[0];
    for entry in coordination::REGISTRY {
        let heading = format!("### `{}`", entry.name);
        let section = page.split(&heading).nth(1).unwrap_or_else(|| panic!("no section {heading}"));
        let section = section.split("\n### ").next().unwrap_or_default();
        assert!(section.contains("Leaves out:"), "{} does not say what it leaves out", entry.name);
    }
}
