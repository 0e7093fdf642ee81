//! The policies of a comparison: names on the command line become `--set` pairs.

use harmonia_array::coordination;
use harmonia_scenario::policies::sets_of;
use harmonia_scenario::{Variant, sweep};
use harmonia_types::registry::names;

use crate::args::ScenarioArguments;
use crate::failure::Failure;

const POLICY_KEY: &str = "array.coordination.policy";
const IDEAL: &str = "ideal";

const DEFAULT: [&str; 4] = ["local", "reactive-inclusive", "reactive-selective", IDEAL];

/// One variant for each policy and each value swept, policy by policy. Without `--policies`, a `--set` of the policy
/// is swept like any other key, and without that the default policies are compared.
///
/// # Errors
/// An unknown policy, with the nearest known one; what the scenario crate refuses.
pub(crate) fn variants(
    arguments: &ScenarioArguments,
    policies: Option<&[String]>,
) -> Result<Vec<Variant>, Failure> {
    let policies = match policies {
        Some(policies) => {
            refuse_policy_key(&arguments.sets)?;
            policies.to_vec()
        }
        None if arguments.sets.iter().any(|set| is_policy_key(set)) => {
            return Ok(sweep(&arguments.scenario, &arguments.sets, arguments.trace().as_ref())?);
        }
        None => DEFAULT.map(str::to_owned).to_vec(),
    };
    let mut variants = Vec::new();
    for policy in &policies {
        let sets = [arguments.sets.clone(), pairs(policy)?].concat();
        let swept = sweep(&arguments.scenario, &sets, arguments.trace().as_ref())?;
        let is_alone = swept.len() == 1;
        variants.extend(swept.into_iter().map(|Variant { label, scenario }| {
            let label = if is_alone { policy.clone() } else { format!("{policy} {label}") };
            Variant { label, scenario }
        }));
    }
    Ok(variants)
}

/// The `--set` pairs that make a policy; they come after the user's own and so have the last word.
fn pairs(policy: &str) -> Result<Vec<String>, Failure> {
    if policy == IDEAL || names(coordination::REGISTRY).any(|name| name == policy) {
        return Ok(sets_of(policy));
    }
    let known: Vec<&str> = names(coordination::REGISTRY).chain([IDEAL]).collect();
    let nearest = known
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(policy, a).total_cmp(&strsim::jaro_winkler(policy, b)));
    let hint = nearest.map(|name| format!("; did you mean '{name}'?")).unwrap_or_default();
    Err(Failure::BadInput(format!(
        "--policies: there is no policy '{policy}'{hint} Known are {}.",
        known.join(", ")
    )))
}

fn is_policy_key(set: &str) -> bool {
    set.split('=').next().is_some_and(|key| key.trim() == POLICY_KEY)
}

/// `--policies` decides the policy; a second word about it would be lost silently.
fn refuse_policy_key(sets: &[String]) -> Result<(), Failure> {
    match sets.iter().find(|set| is_policy_key(set)) {
        Some(set) => Err(Failure::BadInput(format!(
            "--set {set}: in a comparison the policies are given by --policies, as in --policies local,ideal"
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Vec<String>, Failure>) -> String {
        result.expect_err("refused").message().expect("said")
    }

    #[test]
    fn ideal_is_local_coordination_with_the_ideal_schedule() {
        let expected = ["array.coordination.policy=local", "ssd.gc.schedule=ideal"];
        assert_eq!(pairs("ideal").expect("known"), expected);
        assert_eq!(pairs("local").expect("known"), expected[..1]);
    }

    #[test]
    fn every_registered_coordination_policy_can_be_compared() {
        for name in names(coordination::REGISTRY) {
            assert_eq!(pairs(name).expect("known"), [format!("array.coordination.policy={name}")]);
        }
    }

    #[test]
    fn a_misspelt_policy_is_refused_with_the_nearest_name() {
        let text = message(pairs("reactive-inclusiv"));
        assert!(text.starts_with(
            "--policies: there is no policy 'reactive-inclusiv'; did you mean 'reactive-inclusive'?"
        ));
        assert!(message(pairs("")).contains("there is no policy ''"));
    }

    #[test]
    fn two_words_about_the_policy_are_refused() {
        let refused = refuse_policy_key(&["seed=2".to_owned(), "array.coordination.policy=local".to_owned()]);
        assert!(refused.expect_err("refused").message().expect("said").contains("--policies"));
        assert!(refuse_policy_key(&["array.coordination.message_latency=5us".to_owned()]).is_ok());
    }
}
