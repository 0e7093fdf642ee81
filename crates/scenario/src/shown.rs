//! What a scenario file says, in the order in which it says it.

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::schema::{self, Key};

/// One value, or a table of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    Text(String),
    Whole(u64),
    Number(f64),
    Flag(bool),
    List(Vec<Shown>),
    Table(Vec<(String, Shown)>),
    /// A policy's own key.
    Own(serde_json::Value),
}

impl Shown {
    /// An empty table.
    pub fn table() -> Shown {
        Shown::Table(Vec::new())
    }

    /// Puts a value at the end of a table, if there is one.
    pub fn put(&mut self, name: &str, value: Option<Shown>) {
        if let (Shown::Table(entries), Some(value)) = (self, value) {
            entries.push((name.to_owned(), value));
        }
    }

    /// Puts the value of a key at the end of a table, unless it goes without saying.
    pub fn key<T>(&mut self, key: &Key<T>, value: &T) {
        self.put(key.name(), key.show(value));
    }

    /// The same with a value that may not be there.
    pub fn some<T>(&mut self, key: &Key<T>, value: Option<&T>) {
        self.put(key.name(), value.and_then(|value| key.show(value)));
    }

    /// Puts a policy's own keys at the end of a table.
    pub fn own(&mut self, keys: &serde_json::Map<String, serde_json::Value>) {
        keys.iter().for_each(|(name, value)| self.put(name, Some(Shown::Own(value.clone()))));
    }

    /// The table called `name` in this one, put at its end if it is not there.
    pub fn below(&mut self, name: &str) -> &mut Shown {
        let Shown::Table(entries) = self else { unreachable!("only tables have something below them") };
        let at = entries.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            entries.push((name.to_owned(), Shown::table()));
            entries.len() - 1
        });
        &mut entries[at].1
    }

    /// Moves these names to the beginning of a table, in this order, where they are in it.
    pub fn begin(&mut self, names: &[&str]) {
        let Shown::Table(entries) = self else { return };
        entries.sort_by_key(|(name, _)| names.iter().position(|first| first == name).unwrap_or(names.len()));
    }

    /// Puts what is in this table, which is at `path` of a scenario, in the documented order, and so in the tables of it.
    pub fn in_order(&mut self, path: &str) {
        self.begin(&schema::names_in(path));
        let Shown::Table(entries) = self else { return };
        for (name, value) in entries {
            value.in_order(&format!("{path}.{name}"));
        }
    }

    /// The value at a path of this table.
    pub fn at(&self, path: &str) -> Option<&Shown> {
        path.split('.').try_fold(self, |shown, name| match shown {
            Shown::Table(entries) => entries.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        })
    }
}

impl From<&str> for Shown {
    fn from(text: &str) -> Shown {
        Shown::Text(text.to_owned())
    }
}

impl From<String> for Shown {
    fn from(text: String) -> Shown {
        Shown::Text(text)
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Shown::Text(text) => serializer.serialize_str(text),
            Shown::Whole(number) => serializer.serialize_u64(*number),
            Shown::Number(number) => serializer.serialize_f64(*number),
            Shown::Flag(flag) => serializer.serialize_bool(*flag),
            Shown::Own(value) => value.serialize(serializer),
            Shown::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| list.serialize_element(value))?;
                list.end()
            }
            Shown::Table(entries) => {
                let mut table = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(name, value)| table.serialize_entry(name, value))?;
                table.end()
            }
        }
    }
}
