//! Values of keys between a TOML file and `--set`: written so that they mean the same there.

use std::ops::Range;

use harmonia_scenario::printable;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key with its value, and where the value was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// From the scenario's root.
    pub key: String,
    /// As `--set` takes it.
    pub value: String,
    pub span: Range<usize>,
}

impl Entry {
    pub fn set(&self) -> String {
        format!("{}={}", self.key, self.value)
    }
}

/// The keys of a table with their path from the root, in the order in which they were written. Tables written in braces
/// are values; all others only say where the keys below them belong.
pub(crate) fn leaves<'a, 'i>(
    text: &str,
    table: &'a DeTable<'i>,
    above: &str,
) -> Vec<(String, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut found = Vec::new();
    for (key, node) in entries {
        let key = format!("{above}{}", key.get_ref());
        match node.get_ref() {
            DeValue::Table(below) if !text[node.span().start..].starts_with('{') => {
                found.extend(leaves(text, below, &format!("{key}.")));
            }
            _ => found.push((key, node)),
        }
    }
    found
}

/// A value on one line, as `--set` takes it.
pub(crate) fn inline(text: &str, node: &Spanned<DeValue<'_>>) -> String {
    match node.get_ref() {
        DeValue::String(word) if is_bare(word) => word.to_string(),
        DeValue::Array(_) | DeValue::Table(_) | DeValue::String(_) => toml(text, node),
        _ => text[node.span()].to_owned(),
    }
}

/// A value as TOML on one line.
fn toml(text: &str, node: &Spanned<DeValue<'_>>) -> String {
    match node.get_ref() {
        DeValue::String(word) => quoted(word),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| toml(text, item)).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let mut entries: Vec<_> = table.iter().collect();
            entries.sort_by_key(|(key, _)| key.span().start);
            let pair = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = AsRef::as_ref(key);
                format!("{} = {}", quoted(key), toml(text, value))
            };
            format!("{{{}}}", entries.into_iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        _ => text[node.span()].to_owned(),
    }
}

/// JSON's escapes are TOML's, but for DEL.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Whether `--set` takes a text without quotes as the same text.
fn is_bare(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_%+-./:".contains(c);
    !text.is_empty() && text.chars().all(is_plain) && DeValue::parse(text).is_err()
}

/// A value for a message.
pub(crate) fn shown(text: &str, node: &Spanned<DeValue<'_>>) -> String {
    printable(&toml(text, node), 60)
}

/// What kind of value it is, for a message.
pub(crate) fn kind(node: &Spanned<DeValue<'_>>) -> &'static str {
    match node.get_ref() {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str) -> Vec<(String, String)> {
        let table = DeTable::parse(text).expect("TOML");
        let leaves = leaves(text, table.get_ref(), "");
        leaves.into_iter().map(|(key, node)| (key, inline(text, node))).collect()
    }

    #[test]
    fn keys_have_their_path_and_values_stand_on_one_line() {
        let text = "\"a.b\" = 1_000\nc.d = \"5%\"\nc.e = [1,\n \"x\"] # no\n[f.g]\nh = {i = \"true\", j = 0x10}\nk = \"a,b\"\nl = \"12\"\n";
        let expected = [
            ("a.b", "1_000"),
            ("c.d", "5%"),
            ("c.e", "[1, \"x\"]"),
            ("f.g.h", "{\"i\" = \"true\", \"j\" = 0x10}"),
            ("f.g.k", "\"a,b\""),
            ("f.g.l", "\"12\""),
        ];
        assert_eq!(entries(text), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
