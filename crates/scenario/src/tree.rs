//! A scenario as written: a tree of values, each with the place it came from.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::printable;

/// Where a value was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Bytes of the scenario file, from .. to.
    File(u32, u32),
    /// The `--set` flag with this index.
    Set(usize),
    /// The `--trace` flag.
    Trace,
    /// A flag that says how a trace is read, such as `--action`.
    Flag(&'static str),
    /// Nowhere: the file as a whole.
    Nowhere,
}

/// One value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub value: Value,
    pub place: Place,
}

/// What a value can be. Integers are wide enough for whatever is then checked against a range.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// TOML has dates; no key takes one.
    Date(String),
    List(Vec<Node>),
    Table(Table),
    /// Nested deeper than any key; cut off, so that nothing below has to fear recursion.
    TooDeep,
}

/// Levels of tables and lists a scenario may have; its keys need six.
const DEEPEST: usize = 16;

/// A table; entries in the order they were written, names unique.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// One key and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub name: String,
    /// Where the key stands (the value's place is its own).
    pub place: Place,
    pub node: Node,
}

impl Table {
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The text called `name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.node.value.text()
    }

    /// Sets a value, replacing what was there.
    pub fn put(&mut self, name: &str, place: Place, value: Value) {
        self.put_entry(Entry { name: name.to_owned(), place, node: Node { value, place } });
    }

    /// Sets an entry, replacing one of its name.
    pub fn put_entry(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|old| old.name == entry.name) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    /// Converts a parsed document; `place` maps its spans.
    pub fn from_toml(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Table {
        Table::from_level(table, place, 0)
    }

    fn from_level(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Place, level: usize) -> Table {
        let entry = |(key, node): (&Spanned<_>, &Spanned<DeValue<'_>>)| Entry {
            name: AsRef::<std::borrow::Cow<'_, str>>::as_ref(key).to_string(),
            place: place(key.span()),
            node: Node::from_level(node, place, level + 1),
        };
        let mut entries: Vec<(usize, Entry)> =
            table.iter().map(|(key, node)| (key.span().start, entry((key, node)))).collect();
        entries.sort_by_key(|(start, _)| *start);
        Table { entries: entries.into_iter().map(|(_, entry)| entry).collect() }
    }
}

impl Value {
    /// The text that it is.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Node {
    /// Converts one parsed value.
    pub fn from_toml(node: &Spanned<DeValue<'_>>, place: &dyn Fn(Range<usize>) -> Place) -> Node {
        Node::from_level(node, place, 1)
    }

    fn from_level(node: &Spanned<DeValue<'_>>, place: &dyn Fn(Range<usize>) -> Place, level: usize) -> Node {
        let value = match node.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(value) => Value::Boolean(*value),
            // Beyond 128 bits: out of any range we check against.
            DeValue::Integer(integer) => {
                Value::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).unwrap_or(i128::MAX))
            }
            DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(_) | DeValue::Table(_) if level > DEEPEST => Value::TooDeep,
            DeValue::Array(list) => {
                Value::List(list.iter().map(|node| Node::from_level(node, place, level + 1)).collect())
            }
            DeValue::Table(table) => Value::Table(Table::from_level(table, place, level)),
        };
        Node { value, place: place(node.span()) }
    }

    /// The value as a person would write it, on one line, cut where it is long.
    pub fn shown(&self) -> String {
        printable(&self.text(), 60)
    }

    fn text(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("\"{text}\""),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Boolean(value) => value.to_string(),
            Value::Date(date) => date.clone(),
            Value::TooDeep => "...".to_owned(),
            Value::List(list) => {
                let items: Vec<String> = list.iter().take(8).map(Node::text).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Table(table) => {
                let item = |entry: &Entry| format!("{} = {}", entry.name, entry.node.text());
                let items: Vec<String> = table.entries.iter().take(8).map(item).collect();
                format!("{{ {} }}", items.join(", "))
            }
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "text",
            Value::Integer(_) => "a whole number",
            Value::Float(_) => "a number with a fraction",
            Value::Boolean(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::TooDeep => "nested too deeply",
        }
    }

    /// The value as JSON, for policies that read their own keys; `None` where JSON has no such value.
    pub fn to_json(&self) -> Option<serde_json::Value> {
        Some(match &self.value {
            Value::Text(text) => text.as_str().into(),
            Value::Integer(value) => match u64::try_from(*value) {
                Ok(value) => value.into(),
                Err(_) => i64::try_from(*value).ok()?.into(),
            },
            Value::Float(value) => serde_json::Number::from_f64(*value)?.into(),
            Value::Boolean(value) => (*value).into(),
            Value::Date(_) | Value::TooDeep => return None,
            Value::List(list) => {
                serde_json::Value::Array(list.iter().map(Node::to_json).collect::<Option<_>>()?)
            }
            Value::Table(table) => {
                let pair = |entry: &Entry| Some((entry.name.clone(), entry.node.to_json()?));
                serde_json::Value::Object(table.entries.iter().map(pair).collect::<Option<_>>()?)
            }
        })
    }
}
