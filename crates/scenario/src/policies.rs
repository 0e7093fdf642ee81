//! Every registered policy of every kind, for lists, and what a comparison's policy names mean.

use harmonia_array::coordination::{self, Coordinator, Parameters};
use harmonia_array::{ArrayConfig, Befalls, Fault, Interface, Level};
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::placement;
use harmonia_types::registry::{Entry, OwnKey, Registry};
use serde::Serialize;

use crate::Scenario;
use crate::knowledge::{self, Unable};
use crate::own::Keys;
use crate::reserve;

/// One registered policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    pub keys: Vec<OwnKey>,
    /// What it needs of an array; coordination only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
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
    /// To which write frontier a page goes: `ssd.ftl.placement`.
    Placement,
}

/// All policies, kind by kind, in the order of their registries.
pub fn list() -> Vec<PolicyInfo> {
    let mut list = Vec::new();
    add(&mut list, Kind::Coordination, &coordination::POLICIES);
    let needs = needs();
    for policy in &mut list {
        policy.needs = needs.iter().find(|(name, _)| *name == policy.name).map(|(_, needs)| *needs);
    }
    add(&mut list, Kind::Victim, &victim::POLICIES);
    add(&mut list, Kind::Schedule, &schedule::POLICIES);
    add(&mut list, Kind::Concurrency, &concurrency::POLICIES);
    add(&mut list, Kind::Placement, &placement::POLICIES);
    list
}

/// The sentence of one policy; `None` if no policy of this kind has the name.
pub fn summary(kind: Kind, name: &str) -> Option<&'static str> {
    fn of<F>(registry: &Registry<F>, name: &str) -> Option<&'static str> {
        registry.find(name).map(|entry| entry.summary)
    }
    match kind {
        Kind::Coordination => of(&coordination::POLICIES, name),
        Kind::Victim => of(&victim::POLICIES, name),
        Kind::Schedule => of(&schedule::POLICIES, name),
        Kind::Concurrency => of(&concurrency::POLICIES, name),
        Kind::Placement => of(&placement::POLICIES, name),
    }
}

/// What a coordination policy does, in one clause: its sentence, with SSDs for members.
pub fn coordinated(name: &str) -> Option<String> {
    summary(Kind::Coordination, name).map(|does| does.replace("member", "SSD"))
}

fn add<F>(list: &mut Vec<PolicyInfo>, kind: Kind, registry: &Registry<F>) {
    let info = |&Entry { name, summary, source, keys, .. }: &'static Entry<F>| PolicyInfo {
        kind,
        name,
        summary,
        source,
        keys: keys(),
        needs: None,
    };
    list.extend(registry.entries().into_iter().map(info));
}

/// A coordination policy as the array of a scenario would have it; another policy's own keys are not for it.
///
/// # Errors
/// Why it cannot be built, or that there is no such policy.
pub fn built(array: &ArrayConfig, policy: &str) -> Result<Box<dyn Coordinator>, String> {
    let none = Default::default();
    (entry(policy)?.build)(&parameters(array, policy, &none))
}

fn entry(policy: &str) -> Result<&'static Entry<coordination::Build>, String> {
    coordination::POLICIES.find(policy).ok_or_else(|| format!("there is no policy `{policy}`"))
}

fn parameters<'a>(array: &'a ArrayConfig, policy: &str, none: &'a Keys) -> Parameters<'a> {
    let ArrayConfig { devices, level, members, coordination, .. } = array;
    let own = if policy == coordination.policy { &coordination.own } else { none };
    let (redundancy, message_latency) = (level.redundancy(*devices), coordination.message_latency);
    Parameters { devices: *devices, redundancy, members, message_latency, own }
}

/// What a coordination policy needs of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// What members must reveal and accept at least: `array.interface`.
    pub interface: Interface,
    /// Whether the level must keep data more than once.
    pub redundancy: bool,
}

/// What each coordination policy needs, in the order of the registry; asked of an array on which all work.
pub fn needs() -> Vec<(&'static str, Needs)> {
    let any = "array.level = \"raid5\"\nworkload.preset = \"hpc-w\"";
    let Ok(scenario) = Scenario::parse(any, "any", &[], None) else { return Vec::new() };
    let of = |name| {
        let policy = built(&scenario.array, name).ok()?;
        Some((name, Needs { interface: policy.interface(), redundancy: policy.reads().is_some() }))
    };
    coordination::POLICIES.names().filter_map(of).collect()
}

/// What a comparison tries where nobody names policies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Names of coordination policies, the baseline first and the bound last.
    pub names: Vec<&'static str>,
    /// Policies that cannot work here, and why.
    pub unable: Vec<(&'static str, String)>,
    /// Policies that can only lose here, and why.
    pub left_out: Vec<(&'static str, &'static str)>,
    /// Policies that could win, but have a sibling among those tried.
    pub siblings: Vec<&'static str>,
}

/// The policies that a comparison of this scenario tries by default, beside [`IDEAL`]: every coordination policy that can win
/// on its array. Of those that read around members, one for each rung of `array.interface` is tried, the first registered.
pub fn choice(scenario: &Scenario) -> Choice {
    let mut choice = Choice::default();
    let mut rungs: Vec<Interface> = Vec::new();
    for name in coordination::POLICIES.names() {
        match able(scenario, name) {
            Err(why) => choice.unable.push((name, why)),
            Ok(policy) => match why_lost(scenario, name, &*policy) {
                Some(why) => choice.left_out.push((name, why)),
                None if policy.reads().is_none() => choice.names.push(name),
                None if rungs.contains(&policy.interface()) => choice.siblings.push(name),
                None => {
                    rungs.push(policy.interface());
                    choice.names.push(name);
                }
            },
        }
    }
    choice.names.push(IDEAL);
    choice
}

/// Every policy that can work on the array of this scenario, beside [`IDEAL`].
pub fn all(scenario: &Scenario) -> Choice {
    let mut choice = Choice::default();
    for name in coordination::POLICIES.names() {
        match able(scenario, name) {
            Err(why) => choice.unable.push((name, why)),
            Ok(_) => choice.names.push(name),
        }
    }
    choice.names.push(IDEAL);
    choice
}

/// A policy that can work on the array of this scenario, or why it cannot.
fn able(scenario: &Scenario, name: &str) -> Result<Box<dyn Coordinator>, String> {
    let (array, none) = (&scenario.array, Default::default());
    match knowledge::unable(entry(name)?, &parameters(array, name, &none), array.knowledge.interface) {
        None => {
            let policy = built(array, name)?;
            match reserve::unable(array, &*policy) {
                None => reserve::unable_with(scenario.spare_state, &*policy)
                    .map_or(Ok(policy), |why| Err(format!("{why}; it needs array.spare_state = \"new\""))),
                Some((why, help)) => Err(format!("{why}; it needs {help}")),
            }
        }
        Some(Unable::Interface(needed)) => Err(format!(
            "it needs array.interface = \"{needed}\", and these SSDs offer \"{}\"",
            array.knowledge.interface
        )),
        Some(Unable::Redundancy) => Err(format!(
            "it answers reads without the SSD that collects, and {} keeps data once",
            array.level
        )),
    }
}

/// Why a policy can only lose on the array of this scenario.
fn why_lost(scenario: &Scenario, name: &str, policy: &dyn Coordinator) -> Option<&'static str> {
    if scenario.array.devices == 1 && name != LOCAL {
        return Some("a single SSD has nothing to coordinate with");
    }
    if name != LOCAL && policy.interface() == Interface::Nothing && policy.reads().is_none() {
        return Some("it finds nothing to do on this array, so it does what local does");
    }
    let fails = |fault: &Fault| fault.what == Befalls::Failure;
    if policy.waits_for_failures() && !scenario.array.faults.events.iter().any(fails) {
        return Some("no SSD fails, so it does what local does");
    }
    let keeps_apart = scenario.array.level == Level::Raid0 && policy.keeps_apart();
    keeps_apart.then_some(
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
