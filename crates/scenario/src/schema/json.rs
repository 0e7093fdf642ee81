//! A JSON Schema of scenarios, for editors: which keys there are, what they take and mean.
//!
//! It is made from the same table as the reader, and from the keys that policies describe. It knows the form of every
//! value. Conditions between keys, such as a threshold above another, are for `harmonia check`.

use harmonia_trace::FORMATS;
use harmonia_types::registry::OwnKey;
use harmonia_types::units::{DURATION_PATTERN, RATE_PATTERN, SIZE_PATTERN};
use serde_json::{Map, Value, json};

use super::{Form, KeyInfo, find, names_in};
use crate::policies::{self, PolicyInfo};
use crate::presets;

/// The schema of a scenario file, as draft 7.
pub fn json_schema() -> Value {
    let mut schema = table("");
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("Harmonia scenario");
    schema
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// A table with the keys below `path`.
fn table(path: &str) -> Value {
    let mut properties = Map::new();
    for name in names_in(path) {
        properties.insert(name.to_owned(), property(&below(path, name)));
    }
    if path == "array.member" {
        for name in names_in("ssd") {
            properties.insert(name.to_owned(), like(&format!("ssd.{name}")));
        }
    }
    let mut schema = json!({ "type": "object", "additionalProperties": false });
    let policies = policies_of(path);
    if !policies.is_empty() {
        schema["allOf"] = policies.iter().map(|policy| only_its_keys(policy, path)).collect();
        add_own_keys(&mut properties, &policies);
    }
    schema["properties"] = properties.into();
    schema
}

fn property(path: &str) -> Value {
    let Some(key) = find(path) else { return table(path) };
    let mut schema = form(&key.form, path);
    schema["description"] = described(key).into();
    if key.is_old() {
        schema["deprecated"] = true.into();
    }
    schema
}

fn described(key: &KeyInfo) -> String {
    format!("{}\n\nTakes {}.\nDefault: {}.", key.meaning, key.allowed, key.default)
}

/// The keys of another table.
fn like(path: &str) -> Value {
    let pointer: String = path.split('.').map(|name| format!("/properties/{name}")).collect();
    json!({ "allOf": [{ "$ref": format!("#{pointer}") }] })
}

fn form(form: &Form, path: &str) -> Value {
    let names = |names: Vec<&str>| json!({ "type": "string", "enum": names });
    let text = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    match form {
        Form::Text => json!({ "type": "string" }),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Form::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
        Form::Time => text(DURATION_PATTERN),
        Form::Size => text(SIZE_PATTERN),
        Form::Rate => text(RATE_PATTERN),
        Form::Transfers => text(r"^\s*[0-9._]+\s*[KMG]?T/s\s*$"),
        Form::Share => text(r"^\s*[0-9.]+\s*%\s*$"),
        Form::AboveHard => text(r"^\s*hard(\s*\+\s*([0-9]+|[0-9._]+\s*([KMGT]i?)?B))?\s*$"),
        Form::OneOf(words) => names(words.clone()),
        Form::Policy => {
            let table = path.strip_suffix(".policy").unwrap_or(path);
            names(policies_of(table).iter().map(|policy| policy.name).collect())
        }
        Form::Preset(kind) => {
            let presets = presets::list().into_iter().filter(|preset| preset.kind == *kind);
            names(presets.map(|preset| preset.name).collect())
        }
        Form::Format => {
            names(std::iter::once("auto").chain(FORMATS.iter().map(|format| format.name)).collect())
        }
        Form::List(each) => json!({ "type": "array", "items": self::form(each, path) }),
        Form::Any(forms) => {
            json!({ "anyOf": forms.iter().map(|one| self::form(one, path)).collect::<Vec<_>>() })
        }
        Form::Table => table(path),
        Form::Tables => json!({ "type": "array", "items": table(path) }),
        Form::Named => json!({ "type": "object", "additionalProperties": table(path) }),
        Form::Like(other) => like(other),
    }
}

/// The policies that the table at `path` can name.
fn policies_of(path: &str) -> Vec<PolicyInfo> {
    let kind = match path {
        "array.coordination" => policies::Kind::Coordination,
        "ssd.gc.victim" => policies::Kind::Victim,
        "ssd.gc.schedule" => policies::Kind::Schedule,
        "ssd.gc.concurrency" => policies::Kind::Concurrency,
        "ssd.ftl.placement" => policies::Kind::Placement,
        _ => return Vec::new(),
    };
    policies::list().into_iter().filter(|policy| policy.kind == kind).collect()
}

/// If the policy is named, no keys but its own and those that all have.
fn only_its_keys(policy: &PolicyInfo, path: &str) -> Value {
    let own = policy.keys.iter().map(|key| &*key.name);
    let names: Vec<&str> = names_in(path).into_iter().chain(own).collect();
    let own = policy.keys.iter().map(|key| (key.name.clone(), taken(key)));
    json!({
        "if": { "required": ["policy"], "properties": { "policy": { "const": policy.name } } },
        "then": { "propertyNames": { "enum": names }, "properties": Map::from_iter(own) },
    })
}

/// What one policy's key takes.
fn taken(key: &OwnKey) -> Value {
    let mut schema = key.schema.clone();
    if let Value::Object(schema) = &mut schema {
        schema.remove("description");
        schema.remove("default");
    }
    schema
}

/// Own keys of all policies, for completion: a key that several have says what it is to each.
fn add_own_keys(properties: &mut Map<String, Value>, policies: &[PolicyInfo]) {
    for policy in policies {
        for key in &policy.keys {
            let (takes, default) = (&key.takes, key.default_text());
            let line = format!("{}: {} Takes {takes}. Default: {default}.", policy.name, key.meaning);
            let known = properties.entry(&key.name).or_insert_with(|| json!({ "description": "" }));
            if let Some(Value::String(text)) = known.get_mut("description") {
                let gap = if text.is_empty() { "" } else { "\n\n" };
                text.push_str(&format!("{gap}{line}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::keys;

    /// Where the schema has the key at `path`.
    fn place<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
        path.split('.').try_fold(schema, |schema, name| {
            let tables = ["items", "additionalProperties"].into_iter().filter_map(|below| schema.get(below));
            let any = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
            let mut all = std::iter::once(schema).chain(tables).chain(any);
            all.find_map(|schema| schema.get("properties")?.get(name))
        })
    }

    #[test]
    fn every_key_has_its_place_and_its_words() {
        let schema = json_schema();
        for key in keys() {
            let found = place(&schema, key.path).unwrap_or_else(|| panic!("{} is missing", key.path));
            assert!(
                found["description"].as_str().is_some_and(|text| text.contains(key.meaning)),
                "{}",
                key.path
            );
        }
    }

    #[test]
    fn the_words_of_a_key_are_those_of_its_form() {
        for key in keys() {
            if let Form::OneOf(words) = &key.form {
                for word in words {
                    assert!(key.allowed.contains(&format!("\"{word}\"")), "{}: {word}", key.path);
                }
            }
        }
    }

    #[test]
    fn every_policy_is_named_with_its_keys() {
        let schema = json_schema();
        let table = place(&schema, "array.coordination").expect("a table");
        for policy in policies_of("array.coordination") {
            let rule = table["allOf"].as_array().into_iter().flatten();
            let mut rule = rule.filter(|rule| rule["if"]["properties"]["policy"]["const"] == policy.name);
            let names = &rule.next().expect("a rule")["then"]["propertyNames"]["enum"];
            for key in &policy.keys {
                assert!(names.as_array().is_some_and(|names| names.iter().any(|name| *name == *key.name)));
                assert!(table["properties"].get(&key.name).is_some(), "{}", key.name);
            }
        }
    }
}
