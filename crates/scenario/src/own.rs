//! Keys of a policy's own, in the table that names it: which there are and what they take is for the policy to say.

use harmonia_types::registry::{Entry, find, names};

use crate::error::{Fault, Parsed, printable};
use crate::read::{Field, Section};
use crate::tree::{Node, Value};

/// A policy's own keys as written.
pub(crate) type Keys = serde_json::Map<String, serde_json::Value>;

/// A table with `policy`, keys that all policies have, and the policy's own.
pub(crate) struct PolicyTable {
    /// Its name in the table around it.
    pub name: &'static str,
    /// Where it is described.
    pub schema: &'static str,
    /// Keys that are no policy's own.
    pub common: &'static [&'static str],
}

impl PolicyTable {
    /// The table below `around`, and the policy it names, or else the one called `default`.
    pub fn open<'a, F>(
        &self,
        around: &Section<'a>,
        registry: &'static [Entry<F>],
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
        let name = field.as_ref().map(|field| field.name(names(registry))).transpose()?.unwrap_or(default);
        let entry = find(registry, name).expect("just checked");
        Ok((around.child_with(self.name, self.schema, entry.keys)?, entry))
    }

    /// The policy's own keys of an open table.
    pub fn keys(&self, section: &Section<'_>) -> Parsed<Keys> {
        let own = section.table.entries.iter().filter(|entry| !self.common.contains(&entry.name.as_str()));
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
        if let Some((name, why)) = refused_alone(own, build)
            && let Some(entry) = section.table.get(&name)
        {
            let (problem, allowed) = said(&why);
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

/// The first key that a policy refuses without the others, and why.
pub(crate) fn refused_alone(
    own: &Keys,
    build: impl Fn(&Keys) -> Result<(), String>,
) -> Option<(String, String)> {
    own.iter().find_map(|(name, value)| {
        let alone = Keys::from_iter([(name.clone(), value.clone())]);
        build(&alone).err().map(|why| (name.clone(), why))
    })
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
