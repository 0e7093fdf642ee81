//! Every registered policy of every kind, for lists, and what a comparison's policy names mean.

use harmonia_array::{Level, coordination};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_types::registry::{Entry, names};
use serde::Serialize;

use crate::{Scenario, warnings};

/// One registered policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PolicyInfo {
    /// What it decides.
    pub kind: Kind,
    /// The name users write.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Where it comes from: paper and section.
    pub source: &'static str,
    /// Keys of its own besides the common ones.
    pub keys: &'static [&'static str],
}

/// What a policy decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Who collects when across the members: `array.coordination.policy`.
    Coordination,
    /// Which block: `ssd.gc.victim`.
    Victim,
    /// Host work or garbage collection next: `ssd.gc.schedule`.
    Schedule,
    /// How many channels of a device at once: `ssd.gc.concurrency.policy`.
    Concurrency,
}

/// All policies, kind by kind, in the order of their registries.
pub fn list() -> Vec<PolicyInfo> {
    let mut list = Vec::new();
    add(&mut list, Kind::Coordination, coordination::REGISTRY);
    add(&mut list, Kind::Victim, victim::REGISTRY);
    add(&mut list, Kind::Schedule, schedule::REGISTRY);
    add(&mut list, Kind::Concurrency, concurrency::REGISTRY);
    list
}

fn add<F>(list: &mut Vec<PolicyInfo>, kind: Kind, registry: &[Entry<F>]) {
    let info = |&Entry { name, summary, source, keys, .. }: &Entry<F>| PolicyInfo {
        kind,
        name,
        summary,
        source,
        keys,
    };
    list.extend(registry.iter().map(info));
}

/// What a comparison tries where nobody names policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Names of coordination policies, the baseline first and the bound last.
    pub names: Vec<&'static str>,
    /// Policies that can only lose here, and why.
    pub left_out: Vec<(&'static str, &'static str)>,
}

/// The policies that a comparison of this scenario tries by default: every coordination policy that can win on its array,
/// beside [`IDEAL`].
pub fn choice(scenario: &Scenario) -> Choice {
    let mut choice = Choice { names: Vec::new(), left_out: Vec::new() };
    for name in names(coordination::REGISTRY) {
        match why_not(scenario, name) {
            Some(why) => choice.left_out.push((name, why)),
            None => choice.names.push(name),
        }
    }
    choice.names.push(IDEAL);
    choice
}

/// Why a policy can only lose on the array of this scenario.
fn why_not(scenario: &Scenario, name: &str) -> Option<&'static str> {
    if scenario.array.devices == 1 && name != LOCAL {
        return Some("a single SSD has nothing to coordinate with");
    }
    if scenario.array.level != Level::Raid0 {
        return None;
    }
    if name != LOCAL && warnings::does_nothing(&scenario.array, name) {
        return Some("it reads around SSDs that collect, which RAID-0 cannot, so it does what local does");
    }
    warnings::keeps_apart(&scenario.array, name).then_some(
        "it keeps SSDs from collecting together, which lengthens the wait of requests that need several, and RAID-0 cannot \
         read around the one that collects",
    )
}

/// The name of local coordination with garbage collection that takes no time.
pub const IDEAL: &str = "ideal";
const LOCAL: &str = "local";

/// The `key=value` pairs behind the name of a policy in a comparison: `ideal` is local coordination with garbage
/// collection that takes no time, any other name a coordination policy.
pub fn sets_of(policy: &str) -> Vec<String> {
    match policy {
        "ideal" => vec!["array.coordination.policy=local".into(), "ssd.gc.schedule=ideal".into()],
        policy => vec![format!("array.coordination.policy={policy}")],
    }
}
