//! Registries: one table per kind of policy, one line per policy.
//!
//! The command line, the docs, the golden table and the invariant suites iterate these tables, so a policy that has
//! its line is everywhere at once.

use serde::Serialize;

/// One line of a registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry<F: 'static> {
    /// The name users write, kebab-case.
    pub name: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// Where it comes from: paper and section.
    pub source: &'static str,
    /// Keys of its own that its table accepts besides the common ones.
    pub keys: &'static [&'static str],
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

/// The entry called `name`, of a registry of `kind`, if it has all of these keys.
///
/// # Errors
/// Which names or keys there are.
pub fn chosen<F>(
    registry: &'static [Entry<F>],
    kind: &str,
    name: &str,
    own: &OwnKeys,
) -> Result<&'static Entry<F>, String> {
    let unknown = || {
        let known: Vec<&str> = names(registry).collect();
        format!("unknown {kind} `{name}`, expected one of {}", known.join(", "))
    };
    let entry = find(registry, name).ok_or_else(unknown)?;
    match own.keys().find(|key| !entry.keys.contains(&key.as_str())) {
        None => Ok(entry),
        Some(key) => {
            let keys = if entry.keys.is_empty() { "no keys".to_owned() } else { entry.keys.join(", ") };
            Err(format!("{name} has no key `{key}`, expected {keys}"))
        }
    }
}

/// The entry called `name`, if the registry has one.
pub fn find<F>(registry: &'static [Entry<F>], name: &str) -> Option<&'static Entry<F>> {
    registry.iter().find(|entry| entry.name == name)
}

/// All names, in the registry's order.
pub fn names<F>(registry: &'static [Entry<F>]) -> impl Iterator<Item = &'static str> {
    registry.iter().map(|entry| entry.name)
}
