//! Keys of a policy's own, in the table that names it: which there are and what they take is for the policy to say.

use harmonia_array::coordination;
use harmonia_ssd::gc::{concurrency, schedule, victim};
use harmonia_ssd::placement;
use harmonia_types::registry::{Entry, OwnKey, Registry, no_keys};

use crate::Scenario;
use crate::error::{Fault, Parsed, printable};
use crate::read::{Field, Section};
use crate::schema::{self, name_among};
use crate::tree::{Node, Value};

/// The names of a policy's own keys.
pub(crate) fn known(keys: &[OwnKey]) -> Vec<&str> {
    keys.iter().map(|key| &*key.name).collect()
}

/// A policy's own keys as written.
pub(crate) type Keys = serde_json::Map<String, serde_json::Value>;

/// A table with `policy`, keys that all policies have, which the schema lists, and the policy's own.
pub(crate) struct PolicyTable {
    /// Its name in the table around it.
    pub name: &'static str,
    /// Where it is described.
    pub schema: &'static str,
}

impl PolicyTable {
    /// The table below `around`, and the policy it names, or else the one called `default`.
    pub fn open<'a, F>(
        &self,
        around: &Section<'a>,
        registry: &'static Registry<F>,
        default: &str,
    ) -> Parsed<(Section<'a>, &'static Entry<F>)> {
        // The policy decides which other keys there are, so it is read before the table is checked.
        let written = around.table.get(self.name).map(|entry| &entry.node);
        let policy = match written.map(|node| &node.value) {
            Some(Value::Table(table)) => table.get("policy").map(|entry| &entry.node),
            _ => None,
        };
        let (path, schema) =
            (format!("{}.policy", around.below(self.name)), format!("{}.policy", self.schema));
        let field = policy.map(|node| Field { node, path, schema });
        let name =
            field.as_ref().map(|field| name_among(field, registry.names())).transpose()?.unwrap_or(default);
        let entry = registry.find(name).expect("just checked");
        Ok((around.child_with(self.schema, &known(&(entry.keys)()))?, entry))
    }

    /// The policy's own keys of an open table.
    pub fn keys(&self, section: &Section<'_>) -> Parsed<Keys> {
        let common = schema::names_in(self.schema);
        let own = section.table.entries.iter().filter(|entry| !common.contains(&entry.name.as_str()));
        let pair = |entry: &crate::tree::Entry| {
            let field = self.field(section, &entry.name, &entry.node);
            let problem = || format!("cannot be {}", entry.node.kind());
            let value = entry.node.to_json();
            let value =
                value.ok_or_else(|| field.fault_allowing(problem(), "text, a number, true or false"))?;
            Ok((entry.name.clone(), value))
        };
        own.map(pair).collect()
    }

    /// A fault of what a policy refuses, whose message is `why`: of the key that `build` refuses alone, too.
    pub fn blame(
        &self,
        section: &Section<'_>,
        own: &Keys,
        why: &str,
        build: impl Fn(&Keys) -> Result<(), String>,
    ) -> Box<Fault> {
        if let Some(name) = refused_alone(own, why, build)
            && let Some(entry) = section.table.get(&name)
        {
            let (problem, allowed) = said(why);
            return self.field(section, &name, &entry.node).fault_allowing(problem, allowed);
        }
        let (place, key) = (section.place, section.path.clone());
        Box::new(Fault {
            place,
            key,
            value: None,
            problem: TOGETHER.to_owned(),
            allowed: printable(why, 300),
        })
    }

    fn field<'a>(&self, section: &Section<'a>, name: &str, node: &'a Node) -> Field<'a> {
        Field { node, path: section.below(name), schema: self.schema.to_owned() }
    }
}

/// What is wrong with keys of which none is refused alone.
pub(crate) const TOGETHER: &str = "the policy refuses these keys together";

/// The first key that a policy refuses without the others: for `why` it refuses all of them, or else for another reason.
pub(crate) fn refused_alone(
    own: &Keys,
    why: &str,
    build: impl Fn(&Keys) -> Result<(), String>,
) -> Option<String> {
    let mut refused = own.iter().filter_map(|(name, value)| {
        let alone = Keys::from_iter([(name.clone(), value.clone())]);
        build(&alone).err().map(|alone| (name.clone(), alone))
    });
    let first = refused.next()?;
    let named = |(_, alone): &(String, String)| alone == why;
    let same = if named(&first) { None } else { refused.find(named) };
    Some(same.unwrap_or(first).0)
}

/// A policy's refusal as problem and what is allowed.
pub(crate) fn said(why: &str) -> (String, String) {
    let why = printable(why, 300);
    // serde's wording: "unknown variant `x`, expected `a` or `b`".
    let (problem, allowed) = match why.rsplit_once(", expected ") {
        Some((problem, "u64" | "u32")) => (problem, "a whole number, 0 or more"),
        Some((problem, "f64")) => (problem, "a number"),
        Some((problem, "a string")) => (problem, "text in quotes; a time is written \"25us\" or \"1.5ms\""),
        Some(said) => said,
        None if why.ends_with("for a duration") || why.contains("is not a duration") => {
            (&*why, "a time such as \"25us\" or \"1.5ms\"")
        }
        None => (&*why, "what the policy takes"),
    };
    (format!("the policy refuses it: {problem}"), allowed.to_owned())
}

/// A key of a policy that a scenario runs with, and what holds.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyKey {
    /// From the root, such as `array.coordination.patience`.
    pub path: String,
    /// What holds: what is written, or the default.
    pub value: serde_json::Value,
    /// Whether it is written.
    pub is_written: bool,
    /// What the key takes and means.
    pub key: OwnKey,
}

impl Scenario {
    /// The own keys of its policies: of coordination, then of the common device's.
    pub fn policy_keys(&self) -> Vec<PolicyKey> {
        let coordination = &self.array.coordination;
        let mut keys =
            held("array.coordination", &coordination::POLICIES, &coordination.policy, &coordination.own);
        let gc = &self.array.members[0].ssd.gc;
        keys.extend(held("ssd.gc.victim", &victim::POLICIES, &gc.victim.policy, &gc.victim.own));
        keys.extend(held("ssd.gc.schedule", &schedule::POLICIES, &gc.schedule.policy, &gc.schedule.own));
        let axis = &self.array.members[0].ssd.ftl.placement;
        keys.extend(held("ssd.ftl.placement", &placement::POLICIES, &axis.policy, &axis.own));
        let axis = &gc.concurrency;
        keys.extend(held("ssd.gc.concurrency", &concurrency::POLICIES, &axis.policy, &axis.own));
        keys
    }
}

fn held<F>(table: &str, registry: &'static Registry<F>, policy: &str, own: &Keys) -> Vec<PolicyKey> {
    let keys = registry.find(policy).map_or_else(no_keys, |entry| (entry.keys)());
    let held = |key: OwnKey| {
        let written = own.get(&key.name).cloned();
        PolicyKey {
            path: format!("{table}.{}", key.name),
            is_written: written.is_some(),
            value: written.unwrap_or_else(|| key.default.clone()),
            key,
        }
    };
    keys.into_iter().map(held).collect()
}
