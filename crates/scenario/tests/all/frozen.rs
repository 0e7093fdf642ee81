//! Are configurations A/B and E still what the published figures were measured with?

use harmonia_scenario::Scenario;

/// A change of any default or preset that touches it must change this file too, and go under "results change".
#[test]
fn configuration_ab_is_frozen() {
    let frozen = include_str!("../../../../experiments/configuration-ab.toml");
    let frozen = Scenario::parse(frozen, "configuration-ab.toml", &[], None).expect("a scenario");
    let built_in = Scenario::load("hpc-w", &[], None).expect("a built-in scenario");
    assert_eq!(built_in.to_toml(), frozen.to_toml());
}

/// Configuration E is the first of its stand-ins with the paper's scheme.
#[test]
fn configuration_e_is_frozen() {
    let frozen = include_str!("../../../../experiments/configuration-e.toml");
    let frozen = Scenario::parse(frozen, "configuration-e.toml", &[], None).expect("a scenario");
    let sets = [
        "name=configuration-e",
        "ssd.timing.command=0ns",
        "ssd.gc.schedule=after-reads",
        "ssd.gc.concurrency={ policy = \"adaptive\", low = 0.5, high = 0.85, max_channels = 4, ramp = \"floor\" }",
    ];
    let built_in =
        Scenario::load("cassandra-like", &sets.map(str::to_owned), None).expect("a built-in scenario");
    assert_eq!(built_in.to_toml(), frozen.to_toml());
}
