//! Is configuration A/B still what the published figures were measured with?

use harmonia_scenario::Scenario;

/// A change of any default or preset that touches it must change this file too, and go under "results change".
#[test]
fn configuration_ab_is_frozen() {
    let frozen = include_str!("../../../experiments/configuration-ab.toml");
    let frozen = Scenario::parse(frozen, "configuration-ab.toml", &[], None).expect("a scenario");
    let built_in = Scenario::load("hpc-w", &[], None).expect("a built-in scenario");
    assert_eq!(built_in.to_toml(), frozen.to_toml());
}
