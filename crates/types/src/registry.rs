//! Registries: one table per kind of policy, one line per policy.
//!
//! The command line, the docs, the golden table and the invariant suites iterate these tables, so a policy that has
//! its line is everywhere at once.

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

/// The entry called `name`, if the registry has one.
pub fn find<F>(registry: &'static [Entry<F>], name: &str) -> Option<&'static Entry<F>> {
    registry.iter().find(|entry| entry.name == name)
}

/// All names, in the registry's order.
pub fn names<F>(registry: &'static [Entry<F>]) -> impl Iterator<Item = &'static str> {
    registry.iter().map(|entry| entry.name)
}
