//! Registries: one table per kind of policy, one line per policy.
//!
//! The docs, the golden table and the invariant suites iterate these tables, so a policy that has its line is everywhere
//! at once. Scenarios and runs look names up in a [`Registry`], to which a program can add policies of its own.

use std::sync::{PoisonError, RwLock};

use serde::Serialize;

pub use crate::own_keys::{OwnKey, choices, no_keys, own_keys};

/// One line of a registry.
#[derive(Clone, Copy)]
pub struct Entry<F: 'static> {
    /// The name users write, kebab-case.
    pub name: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// Where it comes from: paper and section.
    pub source: &'static str,
    /// Keys of its own that its table accepts besides the common ones: [`own_keys`] of its `Config`, or [`no_keys`].
    pub keys: &'static (dyn Fn() -> Vec<OwnKey> + Send + Sync),
    /// Builds it.
    pub build: F,
}

/// A policy's own keys as written: text (a time is text), numbers, true or false.
pub type OwnKeys = serde_json::Map<String, serde_json::Value>;

/// A policy and its own keys.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyConfig {
    /// A name in the registry of its kind.
    pub policy: String,
    /// The policy's own keys; its `Config` reads them.
    #[serde(flatten)]
    pub own: OwnKeys,
}

impl PolicyConfig {
    /// A policy whose own keys have their defaults.
    pub fn named(policy: &str) -> Self {
        PolicyConfig { policy: policy.to_owned(), own: OwnKeys::new() }
    }

    /// The same with one of its own keys written.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
        self.own.insert(key.to_owned(), value.into());
        self
    }
}

impl From<&str> for PolicyConfig {
    fn from(policy: &str) -> Self {
        PolicyConfig::named(policy)
    }
}

/// Reads a policy's `Config` from its own keys; missing keys take its defaults.
///
/// # Errors
/// The first key whose value the `Config` does not accept, and what it does accept.
pub fn config<C: serde::de::DeserializeOwned>(own: &OwnKeys) -> Result<C, String> {
    serde_json::from_value(serde_json::Value::Object(own.clone())).map_err(|error| error.to_string())
}

/// What a policy is built from that needs to know nothing but its own keys.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    /// They.
    pub own: &'a OwnKeys,
}

impl Parameters<'_> {
    /// As [`config`].
    ///
    /// # Errors
    /// As there.
    pub fn config<C: serde::de::DeserializeOwned>(&self) -> Result<C, String> {
        config(self.own)
    }
}

/// All policies of one kind: those that are built in, and those that somebody has added.
pub struct Registry<F: 'static> {
    /// What an entry is called in messages, such as `victim policy`.
    kind: &'static str,
    built_in: &'static [Entry<F>],
    added: RwLock<Vec<&'static Entry<F>>>,
}

impl<F> Registry<F> {
    /// A registry with these policies.
    pub const fn new(kind: &'static str, built_in: &'static [Entry<F>]) -> Self {
        Registry { kind, built_in, added: RwLock::new(Vec::new()) }
    }

    /// Adds a policy, for as long as the program runs.
    ///
    /// # Errors
    /// If there is one of its name.
    pub fn add(&self, entry: Entry<F>) -> Result<(), String> {
        self.lend(Box::leak(Box::new(entry)))
    }

    /// Adds a policy, until it is taken [back](Registry::take_back).
    ///
    /// # Errors
    /// If there is one of its name.
    pub fn lend(&self, entry: &'static Entry<F>) -> Result<(), String> {
        // Locked before it is looked for: two may add one name at the same time.
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        let known = self.built_in.iter().chain(added.iter().copied());
        if known.into_iter().any(|known| known.name == entry.name) {
            return Err(format!("there is a {} called `{}` already", self.kind, entry.name));
        }
        added.push(entry);
        Ok(())
    }

    /// Removes a policy that was added. Whatever was built of it is not touched.
    pub fn take_back(&self, name: &str) {
        self.added.write().unwrap_or_else(PoisonError::into_inner).retain(|entry| entry.name != name);
    }

    /// Whether a policy is built in, so that its name says what it does in any process.
    pub fn is_built_in(&self, name: &str) -> bool {
        self.built_in.iter().any(|entry| entry.name == name)
    }

    /// All policies, those that are built in first.
    pub fn entries(&self) -> Vec<&'static Entry<F>> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        self.built_in.iter().chain(added.iter().copied()).collect()
    }

    /// Their names, in that order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<F> {
        self.entries().into_iter().map(|entry| entry.name)
    }

    /// The policy called `name`, if there is one.
    pub fn find(&self, name: &str) -> Option<&'static Entry<F>> {
        let added = || {
            self.added.read().unwrap_or_else(PoisonError::into_inner).iter().copied().find(|e| e.name == name)
        };
        self.built_in.iter().find(|entry| entry.name == name).or_else(added)
    }

    /// The policy called `name`, if it has all of these keys.
    ///
    /// # Errors
    /// Which names or keys there are.
    pub fn chosen(&self, name: &str, own: &OwnKeys) -> Result<&'static Entry<F>, String> {
        let unknown = || {
            let known: Vec<&str> = self.names().collect();
            format!("unknown {} `{name}`, expected one of {}", self.kind, known.join(", "))
        };
        let entry = self.find(name).ok_or_else(unknown)?;
        if own.is_empty() {
            return Ok(entry);
        }
        let keys = (entry.keys)();
        match own.keys().find(|name| keys.iter().all(|key| key.name != **name)) {
            None => Ok(entry),
            Some(unknown) => {
                let names: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
                let known = if keys.is_empty() { "no keys".to_owned() } else { names.join(", ") };
                Err(format!("{name} has no key `{unknown}`, expected {known}"))
            }
        }
    }
}

/// The entry called `name`, if the table has one.
pub fn find<F>(registry: &'static [Entry<F>], name: &str) -> Option<&'static Entry<F>> {
    registry.iter().find(|entry| entry.name == name)
}

/// All names, in the table's order.
pub fn names<F>(registry: &'static [Entry<F>]) -> impl Iterator<Item = &'static str> {
    registry.iter().map(|entry| entry.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Build = &'static (dyn Fn(u32) -> u32 + Send + Sync);

    const BUILT_IN: &[Entry<Build>] = &[entry("one", &|n| n)];

    const fn entry(name: &'static str, build: Build) -> Entry<Build> {
        Entry { name, summary: "A test's.", source: "none", keys: &no_keys, build }
    }

    #[test]
    fn a_policy_can_be_added_once_and_brings_what_it_has_captured() {
        let registry = Registry::new("test", BUILT_IN);
        let unknown = registry.chosen("two", &OwnKeys::new()).err();
        assert_eq!(unknown.as_deref(), Some("unknown test `two`, expected one of one"));
        let factor = 7;
        assert_eq!(registry.add(entry("two", Box::leak(Box::new(move |n| n * factor)))), Ok(()));
        assert_eq!(
            registry.add(entry("two", &|n| n)),
            Err("there is a test called `two` already".to_owned())
        );
        assert!(registry.add(entry("one", &|n| n)).is_err());
        assert_eq!(registry.names().collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!(registry.chosen("two", &OwnKeys::new()).map(|entry| (entry.build)(6)), Ok(42));
    }

    #[test]
    fn a_policy_that_was_lent_is_taken_back_and_can_be_lent_again() {
        static ENTRY: Entry<Build> = entry("two", &|n| 2 * n);
        let registry = Registry::new("test", BUILT_IN);
        for _ in 0..2 {
            assert_eq!(registry.lend(&ENTRY), Ok(()));
            assert!(registry.lend(&ENTRY).is_err());
            assert_eq!(["one", "two"].map(|name| registry.is_built_in(name)), [true, false]);
            registry.take_back("two");
            assert!(registry.find("two").is_none());
        }
        registry.take_back("one");
        assert!(registry.find("one").is_some(), "what is built in stays");
    }
}
