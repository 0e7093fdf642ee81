//! Does anybody but the kinds of `schema` look into the values of keys? Read from the sources.
//!
//! A key is read through its declaration, so its bounds, its words and its default stand once. Whoever matches the value of a node
//! goes around that. Tables and lists are no values here: walking them is how keys are found.

use std::fs;
use std::path::{Path, PathBuf};

/// The tree and its reader, `--set`, the kinds, and what shows a scenario again.
const ALLOWED: [&str; 5] = ["tree.rs", "read.rs", "set.rs", "schema/", "resolved/"];

/// Who has scalars in hand all the same: on how many lines, and why.
const OTHERS: [(&str, usize, &str); 5] = [
    ("draid.rs", 1, "the grammar of a level, for the kind of `array.level`"),
    ("own.rs", 1, "the keys of a policy, which its own `Config` reads"),
    ("presets/stand_in.rs", 1, "shows the figures of a preset"),
    ("streams.rs", 1, "a preset is laid below the load before the load is read"),
    ("workload.rs", 7, "lays a trace and the flags of the command over the load before the load is read"),
];

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("sources can be listed") {
        let path = entry.expect("sources can be listed").path();
        if path.is_dir() { sources(&path, into) } else { into.push(path) }
    }
}

/// Whether a line of code has the value of a key in hand, as one reads or makes it.
fn has_a_value(line: &str) -> bool {
    let line = line.split("//").next().unwrap_or_default();
    let line = line.replace("serde_json::Value", "").replace("toml::Value", "");
    let is_scalar = |kind: &str| {
        let read = format!("Value::{kind}(");
        let mut found = line.match_indices(read.as_str()).map(|(at, _)| &line[..at]);
        // Whatever path it has; a `FlagValue` is another type.
        found.any(|before| !before.ends_with(char::is_alphanumeric))
    };
    [".value.text()", ".text(\"", ".to_json()"].iter().any(|reader| line.contains(reader))
        || ["Text", "Integer", "Float", "Boolean", "Date"].into_iter().any(is_scalar)
}

#[test]
fn only_kinds_look_into_the_value_of_a_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    for file in &files {
        let name = file.strip_prefix(&root).expect("below src").to_string_lossy().into_owned();
        if ALLOWED.iter().any(|allowed| name.starts_with(allowed)) {
            continue;
        }
        let text = fs::read_to_string(file).expect("a source can be read");
        let code = text.split("mod tests {").next().unwrap_or_default();
        let lines: Vec<&str> = code.lines().filter(|line| has_a_value(line)).collect();
        let known = OTHERS.iter().find(|(other, ..)| *other == name).map_or(0, |(_, count, _)| *count);
        assert_eq!(lines.len(), known, "{name}: a key is read by its kind, declared in schema: {lines:#?}");
    }
}
