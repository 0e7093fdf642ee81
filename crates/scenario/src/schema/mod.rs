//! Every key a scenario may have, declared once: its name, its kind, its default, what it means.
//!
//! A kind (`kinds`) has the bounds, and from them come the words of what is allowed, the form for editors
//! ([`json_schema`]), the reader, and the value as a scenario says it again. The documentation and the tests go over the same
//! declarations. A key that is not here cannot be read: the reader refuses to look for it.

pub(crate) mod array;
pub(crate) mod held;
mod json;
mod kinds;
pub(crate) mod load;
pub(crate) mod root;
pub(crate) mod ssd;
pub(crate) mod workload;

use std::sync::LazyLock;

use crate::error::Parsed;
use crate::presets;
use crate::read::Field;
use crate::shown::Shown;

pub use json::json_schema;
use kinds::Kind;
pub(crate) use kinds::name_among;

/// A key as it is declared; `T` is what the configuration has of it.
pub(crate) struct Key<T: 'static> {
    pub path: &'static str,
    kind: Kind<T>,
    /// What has it, where only one choice in its table does.
    owner: &'static str,
    default: &'static str,
    meaning: &'static str,
}

impl<T> Key<T> {
    /// The last part of its path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// Reads its value.
    pub fn read(&self, field: &Field<'_>) -> Parsed<T> {
        self.kind.read(field)
    }

    /// A value of it as a scenario file has it; `None` if it goes without saying.
    pub fn show(&self, value: &T) -> Option<Shown> {
        self.kind.show(value)
    }
}

/// A declaration, whatever its values are.
pub(crate) trait Declared: Sync {
    fn path(&self) -> &'static str;

    fn info(&self) -> KeyInfo;
}

impl<T> Declared for Key<T> {
    fn path(&self) -> &'static str {
        self.path
    }

    fn info(&self) -> KeyInfo {
        let Key { path, ref kind, owner, default, meaning } = *self;
        KeyInfo { path, form: kind.form.clone(), allowed: kind.words.clone(), owner, default, meaning }
    }
}

impl<D: Declared + Send> Declared for LazyLock<D> {
    fn path(&self) -> &'static str {
        (**self).path()
    }

    fn info(&self) -> KeyInfo {
        (**self).info()
    }
}

/// Declares keys: each has the name by which readers ask for it, what it is read as, its path, kind, default and meaning. A key
/// `of` a kind of load or a pattern is refused beside another one.
macro_rules! declare {
    ($($name:ident: $value:ty = $path:literal $(of $owner:literal)?, $kind:expr, $default:expr, $meaning:expr;)*) => {
        $(
            pub(crate) static $name: std::sync::LazyLock<Key<$value>> = std::sync::LazyLock::new(|| {
                let owner = concat!($($owner)?);
                Key { path: $path, kind: $kind, owner, default: $default, meaning: $meaning }
            });
        )*
        /// In the order in which they are documented.
        pub(crate) static ALL: &[&dyn Declared] = &[$(&$name),*];
    };
}
use declare;

/// One key of a scenario, for lists.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyInfo {
    /// From the root, tables separated by dots. Members of the array (`[[array.member]]`) are `array.member`.
    pub path: &'static str,
    /// What it takes, as a program checks it; conditions on other keys are in words only.
    pub form: Form,
    /// What it takes, in words.
    pub allowed: String,
    /// The kind of load, or the pattern, that alone has it; empty if all do.
    pub owner: &'static str,
    /// What holds if it is not written; `preset` for what comes from the preset.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl KeyInfo {
    /// Whether it is only read for the sake of files written long ago.
    pub(crate) fn is_old(&self) -> bool {
        self.meaning.starts_with("older spelling of ")
    }
}

/// The form of a value.
#[derive(Debug, Clone, PartialEq)]
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
    /// `hard`, `hard+1`, or `hard+4GiB`.
    AboveHard,
    /// One of these words.
    OneOf(Vec<&'static str>),
    /// The name of a policy of the kind that its table is for.
    Policy,
    /// The name of a preset.
    Preset(presets::Kind),
    /// The name of a trace format, or `auto`.
    Format,
    /// A list.
    List(Box<Form>),
    /// Any of these.
    Any(Vec<Form>),
    /// A table with the keys below it.
    Table,
    /// An array of such tables.
    Tables,
    /// Such tables, each under a name of its own.
    Named,
    /// A table with the keys of another one.
    Like(&'static str),
}

/// Requests that a load may have: 10^12.
pub(crate) const MOST_REQUESTS: u64 = 1_000_000_000_000;

static KEYS: LazyLock<Vec<KeyInfo>> = LazyLock::new(|| {
    let info = |list: &[&dyn Declared]| list.iter().map(|key| key.info()).collect::<Vec<_>>();
    let ageing = root::PRECONDITION.iter().map(|key| key.info()).collect();
    let array = array::KEYS.iter().map(|key| key.info()).collect();
    let device = ssd::KEYS.iter().map(|key| key.info()).collect();
    let load = workload::KEYS.iter().map(|key| key.info()).collect();
    [info(root::ALL), load, ageing, array, device].concat()
});

/// All keys, in the order they are documented.
pub fn keys() -> impl Iterator<Item = &'static KeyInfo> {
    KEYS.iter()
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
pub(crate) fn find(path: &str) -> Option<&'static KeyInfo> {
    keys().find(|key| key.path == path)
}

/// What the key at `path` takes, in words.
pub(crate) fn allowed(path: &str) -> String {
    find(path).map_or_else(String::new, |key| key.allowed.clone())
}

/// Keys directly below `table` that only one choice has, in the documented order, each with that.
pub(crate) fn owned(table: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let name = move |key: &KeyInfo| match key.path.rsplit_once('.') {
        Some((around, name)) if around == table && !key.owner.is_empty() => Some((name, key.owner)),
        _ => None,
    };
    keys().filter_map(name)
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
