//! Every registered policy of every kind, for lists, and what a comparison's policy names mean.

use harmonia_array::coordination;
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_types::registry::Entry;
use serde::Serialize;

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

/// The `key=value` pairs behind the name of a policy in a comparison: `ideal` is local coordination with garbage
/// collection that takes no time, any other name a coordination policy.
pub fn sets_of(policy: &str) -> Vec<String> {
    match policy {
        "ideal" => vec!["array.coordination.policy=local".into(), "ssd.gc.schedule=ideal".into()],
        policy => vec![format!("array.coordination.policy={policy}")],
    }
}
