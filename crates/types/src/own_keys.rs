//! What a policy's own keys take, their defaults and their meaning: its `Config` describes itself.
//!
//! ```text
//! struct Config { /// How long to wait.        ─► a JSON Schema ─► one OwnKey for each field
//!                 patience: SimDuration, }         docs, `harmonia policies` and `check`, the editor's schema, the swarm
//! ```
//!
//! A field's doc comment is the key's meaning, `Config::default()` its default, and
//! `#[schemars(range(min = 1, max = 1000))]` what a number may be.

use std::fmt;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// One key of a policy's own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OwnKey {
    /// Its name in the policy's table.
    pub name: String,
    /// What it takes, in words.
    pub takes: String,
    /// What holds if it is not written; `null` for a key that is optional.
    pub default: Value,
    /// What it means.
    pub meaning: String,
    /// What it takes, as a JSON Schema.
    pub schema: Value,
}

impl OwnKey {
    /// A key of which a JSON Schema says what it takes.
    pub fn new(name: String, meaning: String, default: Value, mut schema: Value) -> OwnKey {
        if let Value::Object(schema) = &mut schema {
            schema.insert("default".to_owned(), default.clone());
        }
        OwnKey { takes: takes(&schema), name, default, meaning, schema }
    }

    /// The default as it would be written in a scenario, text without its quotes; `none` if there is none.
    pub fn default_text(&self) -> String {
        match &self.default {
            Value::Null => "none".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// The keys of a policy that has none of its own.
pub fn no_keys() -> Vec<OwnKey> {
    Vec::new()
}

/// The keys of a policy's `Config`, in the order of its fields.
///
/// # Panics
/// If a field has no doc comment, or a default that is no JSON. Every registered policy's are built by a test.
pub fn own_keys<C: JsonSchema + Serialize + Default>() -> Vec<OwnKey> {
    described(C::json_schema, serde_json::to_string(&C::default()))
}

/// Keys by the schema that all of them are in, and their defaults in JSON. Apart, because what is generic is compiled for
/// every policy.
fn described(
    schema: fn(&mut SchemaGenerator) -> Schema,
    defaults: serde_json::Result<String>,
) -> Vec<OwnKey> {
    let inline = |settings: &mut SchemaSettings| settings.inline_subschemas = true;
    let mut generator = SchemaSettings::draft07().with(inline).into_generator();
    let mut schema = schema(&mut generator);
    generator.transforms_mut().for_each(|transform| transform.transform(&mut schema));
    let properties = schema.get("properties");
    // Read back from text, which has the order of the fields.
    let Pairs(defaults) =
        defaults.and_then(|text| serde_json::from_str::<Pairs>(&text)).expect("a default is JSON");
    let key = |(name, default): (String, Value)| {
        let schema = properties.and_then(|all| all.get(&name)).cloned().unwrap_or(Value::Null);
        let meaning = schema.get("description").and_then(Value::as_str).map(|text| text.replace('\n', " "));
        let meaning = meaning.unwrap_or_else(|| panic!("the key `{name}` needs a doc comment"));
        OwnKey::new(name, meaning, default, schema)
    };
    defaults.into_iter().map(key).collect()
}

/// What a schema takes, in words.
fn takes(schema: &Value) -> String {
    let choices = choices(schema);
    if !choices.is_empty() {
        let quoted: Vec<_> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
        return quoted.join(" or ");
    }
    let is = |kind: &str| match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        one => one.is_some_and(|one| one == kind),
    };
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    let range = match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) if least != 0.0 => format!(", {least} or more"),
        _ => String::new(),
    };
    match () {
        () if schema.get("format").is_some_and(|format| format == "duration") => {
            "a time such as \"25us\" or \"1.5ms\"".to_owned()
        }
        () if is("boolean") => "true or false".to_owned(),
        () if is("integer") => format!("a whole number{range}"),
        () if is("number") => format!("a number{range}"),
        () => "text".to_owned(),
    }
}

/// The texts that a schema accepts, if it accepts nothing else.
pub fn choices(schema: &Value) -> Vec<&str> {
    let list = |name: &str| schema.get(name).and_then(Value::as_array);
    let names = list("enum").into_iter().flatten().filter_map(Value::as_str);
    let described = ["oneOf", "anyOf"].into_iter().filter_map(list).flatten();
    let below = described.flat_map(|one| match one.get("const").and_then(Value::as_str) {
        Some(name) => vec![name],
        None => choices(one),
    });
    names.chain(below).collect()
}

/// An object with its members in the order in which they are written.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimDuration;

    #[derive(Serialize, JsonSchema)]
    #[serde(default)]
    struct Config {
        /// When to look.
        /// Two lines.
        detect: Detect,
        /// Between looks.
        poll: SimDuration,
        /// Share.
        #[schemars(range(min = 0, max = 1))]
        share: f64,
        /// Limit.
        limit: Option<u32>,
        /// Candidates.
        #[schemars(range(min = 1))]
        r#while: u16,
        /// All of it.
        all: bool,
    }

    impl Default for Config {
        fn default() -> Self {
            Config {
                detect: Detect::OnEvent,
                poll: SimDuration::from_us(1_500),
                share: 0.05,
                limit: None,
                r#while: 3,
                all: false,
            }
        }
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    #[expect(dead_code, reason = "read by its schema")]
    enum Detect {
        /// Often.
        Poll,
        OnEvent,
    }

    #[test]
    fn a_config_describes_its_keys_in_their_order() {
        let keys = own_keys::<Config>();
        let described: Vec<_> =
            keys.iter().map(|key| (&*key.name, &*key.takes, key.default_text(), &*key.meaning)).collect();
        let expected = [
            ("detect", "\"on-event\" or \"poll\"", "on-event", "When to look. Two lines."),
            ("poll", "a time such as \"25us\" or \"1.5ms\"", "1.5ms", "Between looks."),
            ("share", "a number, 0 to 1", "0.05", "Share."),
            ("limit", "a whole number", "none", "Limit."),
            ("while", "a whole number, 1 to 65535", "3", "Candidates."),
            ("all", "true or false", "false", "All of it."),
        ];
        assert_eq!(
            described,
            expected.map(|(name, takes, default, meaning)| (name, takes, default.to_owned(), meaning))
        );
        assert_eq!(keys[1].schema["type"], "string");
        assert_eq!(keys[1].schema["default"], "1.5ms");
    }

    #[test]
    #[should_panic(expected = "the key `bare` needs a doc comment")]
    fn a_key_without_a_doc_comment_is_refused() {
        #[derive(Default, Serialize, JsonSchema)]
        struct Config {
            bare: u16,
        }
        own_keys::<Config>();
    }
}
