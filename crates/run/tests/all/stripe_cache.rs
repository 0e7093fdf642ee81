//! The stripe cache as a user sees it: does the report say what it saved, and does it stay away without its key?

use harmonia_metrics::Report;
use harmonia_run::{RunOptions, run};
use harmonia_scenario::Scenario;

/// Small writes one behind the other, so close that many are under way.
const SMALL: &str = "name = \"t\"\nssd.preset = \"tiny-test\"\n\
    array = { devices = 4, level = \"raid5\", stripe_unit = \"4KiB\" }\n\
    workload = { size.mean = \"4KiB\", arrival.rate = 6000, requests = 3000, warmup = 300, read_fraction = 0, \
    address.pattern = \"sequential\" }";

fn report(sets: &[&str]) -> Report {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = Scenario::parse(SMALL, "test", &sets, None).unwrap_or_else(|error| panic!("{error}"));
    let again =
        Scenario::parse(&scenario.to_toml(), "again", &[], None).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.array.stripe_cache, scenario.array.stripe_cache, "it is written as it was read");
    let options = RunOptions { checked: true, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn pre_read_bytes(report: &Report) -> u64 {
    report.array.redundancy.expect("RAID-5 has redundancy").pre_read_bytes
}

#[test]
fn a_stripe_cache_saves_pre_reads_and_says_so() {
    let (plain, cached) = (report(&[]), report(&["array.stripe_cache=256"]));
    assert_eq!(plain.array.stripe_cache, None);
    let cache = cached.array.stripe_cache.expect("there is one");
    assert!(cache.entries == 256 && (1..=256).contains(&cache.high_water), "{cache:?}");
    assert!(cache.hits > 100 && cache.merged > 100 && cache.delays > 100, "{cache:?}");
    assert!(pre_read_bytes(&cached) * 2 < pre_read_bytes(&plain));
    let none = report(&["array.stripe_cache=0"]);
    assert_eq!(serde_json::to_value(&none.host).unwrap(), serde_json::to_value(&plain.host).unwrap());
}
