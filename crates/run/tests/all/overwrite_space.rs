//! Does a load with a small footprint begin on a device that is used to it, if the overwrites before it keep to the footprint?

use std::sync::atomic::AtomicBool;

use harmonia_metrics::Report;
use harmonia_run::{RunOptions, compare};
use harmonia_scenario::{Scenario, Variant};

/// Writes of one page within a tenth of the space.
const LOAD: [&str; 8] = [
    "array.devices=1",
    "workload.address.pattern=uniform",
    "workload.address.footprint=0.1",
    "workload.read_fraction=0.0",
    "workload.size={ distribution = \"fixed\", mean = \"4KiB\" }",
    "workload.warmup=0",
    "precondition.overwrite=5.0",
    "workload.arrival={process=\"closed\", queue_depth=4}",
];

fn load(sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = LOAD.iter().chain(sets).map(|&set| set.to_owned()).collect();
    Scenario::load("tiny", &sets, None).map_err(|error| error.to_string())
}

fn runs(variants: &[&[&str]]) -> Vec<Report> {
    let variant = |sets: &&[&str]| Variant { label: sets.join(", "), scenario: load(sets).unwrap() };
    let variants: Vec<Variant> = variants.iter().map(variant).collect();
    let cancel = AtomicBool::new(false);
    let options = RunOptions { threads: 2, checked: true, cancel: &cancel, ..RunOptions::default() };
    compare(&variants, &options).unwrap_or_else(|error| panic!("{error}")).runs
}

fn amplification(report: &Report) -> f64 {
    report.array.write_amplification.expect("it writes")
}

#[test]
fn write_amplification_begins_settled() {
    const KEPT: &str = "precondition.overwrite_space=footprint";
    let (few, many) = ("workload.requests=2000", "workload.requests=20000");
    // In one comparison, so that those of one key of the aged state would share it.
    let reports = runs(&[&[few], &[many], &[few, KEPT], &[many, KEPT]]);
    let [usual, usual_long, kept, kept_long] = [0, 1, 2, 3].map(|run| amplification(&reports[run]));
    assert!((kept / kept_long - 1.0).abs() < 0.05, "settled: {kept} then {kept_long}");
    assert!(usual > kept * 1.2, "with overwrites everywhere it begins at {usual}, settled is {kept_long}");
    assert!(usual_long < usual, "and falls: {usual} then {usual_long}");
}

#[test]
fn it_is_said_once_where_it_has_no_meaning() {
    let kept = "precondition.overwrite_space=footprint";
    for (sets, why) in [
        (vec![kept, "array.level=raid5", "array.devices=4"], "raid0 only"),
        (vec![kept, "precondition.overwrite=0"], "without overwrites"),
        (vec![kept, "precondition.overwrite_space=footprints"], "did you mean"),
    ] {
        let problem = load(&sets).unwrap_err();
        assert!(problem.contains("precondition.overwrite_space") && problem.contains(why), "{problem}");
    }
    let resolved = load(&[kept]).unwrap().to_toml();
    assert!(resolved.contains("overwrite_space = \"footprint\""), "{resolved}");
    assert!(!load(&[]).unwrap().to_toml().contains("overwrite_space"));
}
