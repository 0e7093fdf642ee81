//! Every key a scenario may have: what it takes, its default, what it means.
//!
//! One table for the parser (unknown keys, what a message says is allowed), the documentation, the schema for editors
//! ([`json_schema`]) and the tests. A key that is not here cannot be read: the reader refuses to look for it.

mod array;
mod json;
mod root;
mod ssd;
mod workload;

use crate::presets::Kind;

pub use json::json_schema;

/// One key of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// From the root, tables separated by dots. Members of the array (`[[array.member]]`) are `array.member`.
    pub path: &'static str,
    /// What it takes, as a program checks it; conditions on other keys are in words only.
    pub form: Form,
    /// What it takes, in words.
    pub allowed: &'static str,
    /// What holds if it is not written; `preset` for what comes from the preset.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl Key {
    /// Whether it is only read for the sake of files written long ago.
    pub(crate) fn is_old(&self) -> bool {
        self.meaning.starts_with("older spelling of ")
    }
}

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// Any text.
    Text,
    /// true or false.
    Flag,
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A number from the first to the second.
    Number(f64, f64),
    /// A time with its unit.
    Time,
    /// A size with its unit.
    Size,
    /// A size a second.
    Rate,
    /// Transfers a second, such as `166MT/s`.
    Transfers,
    /// A share in percent, such as `5%`.
    Share,
    /// `hard`, or `hard+1`.
    AboveHard,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The name of a policy of the kind that its table is for.
    Policy,
    /// The name of a preset.
    Preset(Kind),
    /// The name of a trace format, or `auto`.
    Format,
    /// A list.
    List(&'static Form),
    /// Any of these.
    Any(&'static [Form]),
    /// A table with the keys below it.
    Table,
    /// An array of such tables.
    Tables,
    /// Such tables, each under a name of its own.
    Named,
    /// A table with the keys of another one.
    Like(&'static str),
}

/// No bound: as far as TOML counts.
const MOST: u64 = i64::MAX as u64;
/// 10^12.
const MOST_REQUESTS: u64 = 1_000_000_000_000;

const fn key(
    path: &'static str,
    form: Form,
    allowed: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { path, form, allowed, default, meaning }
}

const TIME: &str = "a time such as \"25us\" or \"1.5ms\", at most 1h";
const POSITIVE_TIME: &str = "a time such as \"25us\" or \"1.5ms\", above 0, at most 1h";

/// All keys, in the order they are documented.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    let (first, rest) = root::KEYS.split_at(2);
    [first, workload::KEYS, rest, array::KEYS, ssd::KEYS].into_iter().flatten()
}

/// What the papers name and a later version will know: a person who asks for it has not misspelt anything.
const PLANNED: &[(&str, &[&str])] = &[("array.coordination.policy", &["swan"])];

/// Whether `value` of the key at `path` is planned but not there yet.
pub(crate) fn planned(path: &str, value: &str) -> bool {
    PLANNED.iter().any(|(key, values)| *key == path && values.contains(&value))
}

/// Whether the key at `path` takes a policy of a device: its name, or a table with it.
pub(crate) fn names_a_policy(path: &str) -> bool {
    path.starts_with("ssd.gc.") && find(&format!("{path}.policy")).is_some()
}

/// The key at `path`.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}

/// Names of the keys and tables directly below `table` (the root is empty), each once, in the documented order.
pub(crate) fn names_in(table: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for key in keys() {
        let below = match table {
            "" => Some(key.path),
            table => key.path.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')),
        };
        let name = below.map(|below| below.split('.').next().unwrap_or(below));
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.push(name);
        }
    }
    names
}
