//! Keys of policies' own, drawn from what the policies say of them: a new policy's are tried without a change here.

use harmonia_engine::Rng;
use harmonia_scenario::{PolicyKey, Scenario};
use harmonia_types::registry::choices;
use serde_json::Value;

use super::{Draw, generate};

/// The scenario of a seed with some of the keys that it does not write, each drawn from its schema. One that the policy
/// refuses, because of other keys, is left out.
pub fn drawn(seed: u64, toml: &str, plain: Scenario) -> Scenario {
    let mut d = Draw(Rng::stream(seed, "swarm/own keys"));
    let (mut scenario, mut sets) = (plain, Vec::new());
    for key in scenario.policy_keys() {
        if key.is_written || d.0.chance(0.5) {
            continue;
        }
        let Some(value) = value(&mut d, &key) else { continue };
        sets.push(format!("{}={value}", key.path));
        match Scenario::parse(toml, "swarm.toml", &sets, None) {
            Ok(with) => scenario = with,
            Err(error) => {
                let table = key.path.rsplit_once('.').map_or("", |(table, _)| table);
                assert!(error.key().is_some_and(|key| key.starts_with(table)), "{sets:?}: {error}");
                sets.pop();
            }
        }
    }
    scenario
}

/// A value of what a key takes, as it is written; nothing for a form that this cannot draw.
fn value(d: &mut Draw, key: &PolicyKey) -> Option<String> {
    let schema = &key.key.schema;
    let choices = choices(schema);
    if !choices.is_empty() {
        return Some(format!("{:?}", d.pick(&choices)));
    }
    let is = |kind: &str| match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    };
    let bound = |name: &str| schema[name].as_f64();
    let most = bound("maximum");
    match () {
        () if schema["format"] == "duration" => {
            Some(format!("\"{}us\"", [0, 1, d.range(1, 500), d.range(500, 90_000)][d.range(0, 3) as usize]))
        }
        () if is("boolean") => Some(d.0.chance(0.5).to_string()),
        () if is("integer") => {
            let least = bound("minimum").unwrap_or(0.0) as u64;
            let most = most.map_or(least + 40, |most| (most as u64).min(least + 40));
            Some(d.range(least, most).to_string())
        }
        () if is("number") => {
            let least = bound("minimum").unwrap_or(0.0);
            Some((least + d.share() * (most.unwrap_or(least + 1.0) - least)).to_string())
        }
        () => None,
    }
}

#[test]
fn keys_that_no_generator_knows_are_drawn_and_most_are_taken() {
    let (mut tried, mut taken) = (0, 0);
    for seed in 0..300 {
        let generated = generate(seed);
        if generated.trace.is_some() {
            continue;
        }
        let plain = Scenario::parse(&generated.toml, "swarm.toml", &[], None).expect("it is valid");
        let open = |scenario: &Scenario| scenario.policy_keys().iter().filter(|key| !key.is_written).count();
        let before = open(&plain);
        tried += before;
        taken += before - open(&drawn(seed, &generated.toml, plain));
    }
    assert!(
        taken * 4 > tried && tried > 100,
        "{taken} of {tried} keys that nobody wrote were drawn and taken"
    );
}
