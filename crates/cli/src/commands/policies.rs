//! The policies of a comparison: names on the command line become `--set` pairs.

use harmonia_array::coordination;
use harmonia_scenario::policies::{Choice, IDEAL, all as all_of, choice, sets_of};
use harmonia_scenario::{Axis, Template, Variant, axes};
use harmonia_tables::{Cross, POLICY_KEY, combinations};

use crate::args::Changes;
use crate::failure::Failure;

const SCHEDULE_KEY: &str = "ssd.gc.schedule";
/// Stands for every coordination policy that can work on the array, and the bound.
const ALL: &str = "all";

/// What a comparison runs.
pub(crate) struct Crossed {
    pub variants: Vec<Variant>,
    /// Where on which axes each stands.
    pub cross: Cross,
    /// Nobody named policies: those that can win on this array were chosen.
    pub chosen: bool,
    /// What was chosen there, and which policies were not tried, and why.
    pub choice: Choice,
}

/// One variant for each policy and each combination of values swept, policy by policy. Without `--policies`, a `--set` of
/// the policy is swept like any other key, and without that every policy is tried that can win on one of the arrays.
///
/// # Errors
/// An unknown policy, with the nearest known one; what the scenario crate refuses.
pub(crate) fn crossed(
    template: &Template,
    arguments: &Changes,
    policies: Option<&[String]>,
) -> Result<Crossed, Failure> {
    let trace = arguments.trace();
    let (mut chosen, mut tried) = (false, Choice::default());
    let policies = match policies {
        Some([all]) if all == ALL => {
            refuse_policy_key(&arguments.sets)?;
            let plain = template.sweep(&arguments.sets, trace.as_ref())?;
            tried = on_all_arrays(&plain);
            owned(&tried.names)
        }
        Some(policies) => {
            refuse_policy_key(&arguments.sets)?;
            refuse_twice(policies)?;
            policies.to_vec()
        }
        None if arguments.sets.iter().any(|set| is_policy_key(set)) => {
            let cross = Cross::full(axes(&arguments.sets)?);
            let variants = named(template.sweep(&arguments.sets, trace.as_ref())?, &cross);
            return Ok(Crossed { variants, cross, chosen, choice: tried });
        }
        None => {
            let plain = template.sweep(&arguments.sets, trace.as_ref())?;
            tried = chosen_for(&plain);
            chosen = true;
            owned(&tried.names)
        }
    };
    let mut swept = Vec::new();
    for policy in &policies {
        let sets = [of_policy(policy, &arguments.sets), pairs(policy)?].concat();
        swept.extend(template.sweep(&sets, trace.as_ref())?);
    }
    let cross = under(&policies, &arguments.sets)?;
    Ok(Crossed { variants: named(swept, &cross), cross, chosen, choice: tried })
}

/// One variant for each combination of values swept, under the scenario's own policy.
///
/// # Errors
/// What the scenario crate refuses.
pub(crate) fn swept(template: &Template, arguments: &Changes) -> Result<Crossed, Failure> {
    let cross = Cross::full(axes(&arguments.sets)?);
    let variants = template.sweep(&arguments.sets, arguments.trace().as_ref())?;
    let choice = Choice::default();
    Ok(Crossed { variants: named(variants, &cross), cross, chosen: false, choice })
}

/// The policies that can work on each of these arrays, and why others cannot on one of them.
fn on_all_arrays(arrays: &[Variant]) -> Choice {
    let mut of_all = Choice::default();
    for (index, array) in arrays.iter().enumerate() {
        let Choice { names, unable, .. } = all_of(&array.scenario);
        if index == 0 {
            of_all.names = names;
        }
        for (name, why) in unable {
            of_all.names.retain(|other| *other != name);
            if !of_all.unable.iter().any(|(other, _)| *other == name) {
                of_all.unable.push((name, why));
            }
        }
    }
    of_all
}

/// Of these, the policies that can win on one of the arrays.
fn chosen_for(arrays: &[Variant]) -> Choice {
    let Choice { names: able, unable, .. } = on_all_arrays(arrays);
    let choices: Vec<Choice> = arrays.iter().map(|array| choice(&array.scenario)).collect();
    let wins = |name: &str| choices.iter().any(|choice| choice.names.contains(&name));
    let is_lost = |name: &str| able.contains(&name) && !wins(name);
    let first = choices.first().cloned().unwrap_or_default();
    Choice {
        names: able.iter().copied().filter(|name| wins(name)).collect(),
        unable,
        left_out: first.left_out.into_iter().filter(|(name, _)| is_lost(name)).collect(),
        siblings: first.siblings.into_iter().filter(|name| is_lost(name)).collect(),
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The cross of these policies with what the flags sweep over. A single policy is no axis, unless there is no other.
fn under(policies: &[String], sets: &[String]) -> Result<Cross, Failure> {
    let mut all = axes(sets)?;
    let is_axis = policies.len() > 1 || all.is_empty();
    let mut points = Vec::new();
    for (at, policy) in policies.iter().enumerate() {
        let own = axes(&of_policy(policy, sets))?;
        for point in combinations(&own) {
            let place = |axis: &Axis| own.iter().position(|other| other.key == axis.key);
            let swept = all.iter().map(|axis| place(axis).and_then(|place| point[place]));
            points.push(is_axis.then_some(Some(at)).into_iter().chain(swept).collect());
        }
    }
    if is_axis {
        all.insert(0, Axis { key: POLICY_KEY.to_owned(), values: policies.to_vec() });
    }
    Ok(Cross::new(all, points))
}

/// The flags that matter under this policy: `ideal` is a schedule of its own, so sweeping schedules under it would run
/// the same thing under several names.
fn of_policy(policy: &str, sets: &[String]) -> Vec<String> {
    let matters = |set: &&String| policy != IDEAL || key(set) != SCHEDULE_KEY;
    sets.iter().filter(matters).cloned().collect()
}

/// Variants with the names that the cross gives them.
fn named(mut variants: Vec<Variant>, cross: &Cross) -> Vec<Variant> {
    variants.iter_mut().enumerate().for_each(|(run, variant)| variant.label = cross.name(run));
    variants
}

/// The `--set` pairs that make a policy; they come after the user's own and so have the last word.
fn pairs(policy: &str) -> Result<Vec<String>, Failure> {
    if policy == IDEAL || coordination::POLICIES.names().any(|name| name == policy) {
        return Ok(sets_of(policy));
    }
    let known: Vec<&str> = coordination::POLICIES.names().chain([IDEAL]).collect();
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
    key(set) == POLICY_KEY
}

/// The key of a `--set` flag.
fn key(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}

/// Two runs of one name could not be told apart.
fn refuse_twice(policies: &[String]) -> Result<(), Failure> {
    let mut named = policies.iter().enumerate();
    match named.find(|(at, policy)| policies[..*at].contains(policy)) {
        Some((_, policy)) => Err(Failure::BadInput(format!("--policies: '{policy}' is given twice"))),
        None => Ok(()),
    }
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
        for name in coordination::POLICIES.names() {
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

    fn labels(policies: &[&str], sets: &[&str]) -> Vec<String> {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let sets = [&owned(sets)[..], &["workload.requests=10".to_owned()]].concat();
        let arguments = Changes { sets, ..Changes::default() };
        let template = Template::open("tiny").expect("built in");
        let policies = owned(policies);
        let crossed = crossed(&template, &arguments, (!policies.is_empty()).then_some(&policies[..]));
        let crossed = crossed.unwrap_or_else(|failure| panic!("{:?}", failure.message()));
        crossed.variants.into_iter().map(|variant| variant.label).collect()
    }

    #[test]
    fn policies_and_sweeps_multiply_under_short_names() {
        let domain = "ssd.gc.domain=die,device";
        assert_eq!(
            labels(&["local", "ideal"], &[domain]),
            ["local + die", "local + device", "ideal + die", "ideal + device"]
        );
        assert_eq!(labels(&["local"], &[domain]), ["die", "device"]);
        assert_eq!(labels(&["local"], &[]), ["local"]);
        let can_win = [
            "local",
            "reactive-inclusive",
            "reactive-selective",
            "proactive-idle",
            "proactive-soft-limit",
            "ideal",
        ];
        assert_eq!(labels(&[], &[]), can_win, "RAID-0");
        assert_eq!(labels(&[], &["array.devices=1"]), ["local", "ideal"]);
        // Of those that read around members one a rung is tried; sit-out needs five members, spare-the-rebuild a failure.
        let all: Vec<&str> = coordination::POLICIES.names().chain([IDEAL]).collect();
        let without = |names: &[&str]| -> Vec<&str> {
            all.iter().copied().filter(|name| !names.contains(name)).collect()
        };
        let tried = without(&["ttflash", "sit-out", "spare-the-rebuild", "gaftl"]);
        assert_eq!(labels(&[], &["array.level=raid5"]), tried);
        assert_eq!(labels(&["all"], &["array.level=raid5"]), all);
        let kept_free = labels(&["all"], &["array.level=raid5", "array.free_stripes=1"]);
        assert_eq!(kept_free, without(&["gaftl"]), "its stripes float");
        let redundant = ["serial", "ttflash", "ioda", "plm", "hedge", "gaftl"];
        assert_eq!(labels(&["all"], &[]), without(&redundant), "RAID-0");
        let three = labels(
            &[],
            &["ssd.gc.victim=greedy,fifo", domain, "array.coordination.policy=local,reactive-selective"],
        );
        assert_eq!((three.len(), three[1].as_str()), (8, "greedy + die + reactive-selective"));
    }

    /// Garbage collection that takes no time has one schedule.
    #[test]
    fn ideal_runs_once_however_many_schedules_are_swept() {
        let schedules = "ssd.gc.schedule=blocking,ideal";
        assert_eq!(
            labels(&["local", "gclock", "ideal"], &["ssd.gc.victim=greedy,fifo", schedules])[8..],
            ["policy=ideal + greedy", "policy=ideal + fifo"]
        );
    }

    #[test]
    fn a_policy_named_twice_is_refused() {
        let twice = ["local", "ideal", "local"].map(str::to_owned);
        assert!(
            refuse_twice(&twice)
                .expect_err("refused")
                .message()
                .expect("said")
                .contains("'local' is given twice")
        );
        assert!(refuse_twice(&twice[..2]).is_ok());
    }

    #[test]
    fn two_words_about_the_policy_are_refused() {
        let refused = refuse_policy_key(&["seed=2".to_owned(), "array.coordination.policy=local".to_owned()]);
        assert!(refused.expect_err("refused").message().expect("said").contains("--policies"));
        assert!(refuse_policy_key(&["array.coordination.message_latency=5us".to_owned()]).is_ok());
    }
}
