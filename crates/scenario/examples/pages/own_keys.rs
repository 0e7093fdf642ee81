//! What a policy's own keys take, their defaults and their meaning, read from the `Config` in its file.
//!
//! The `Config` of a policy documents itself in the form that CONTRIBUTING.md shows: a doc comment on every field, an
//! `impl Default` or a derived one, enums written kebab-case.

/// One key.
#[derive(Debug, PartialEq, Eq)]
pub struct OwnKey {
    pub name: String,
    pub takes: String,
    pub default: String,
    pub meaning: String,
}

/// The keys called `names` of the policy whose source is the first of these files; the others are modules it shares
/// with its siblings ([`shared_modules`]).
///
/// # Panics
/// If a key has no doc comment or no default.
pub fn own_keys(sources: &[String], names: &[&str]) -> Vec<OwnKey> {
    let key = |&name: &&str| {
        let found = sources.iter().find_map(|source| in_config(source, name));
        found.unwrap_or_else(|| {
            panic!("the key `{name}` needs a field with a doc comment in `Config`, and a default")
        })
    };
    names.iter().map(key).collect()
}

/// Modules beside it that a policy uses: `trigger` for `use super::trigger::{Config, Trigger};`.
pub fn shared_modules(source: &str) -> impl Iterator<Item = &str> {
    let used = source.lines().filter_map(|line| line.strip_prefix("use super::"));
    used.filter_map(|path| path.split_once("::")).map(|(module, _)| module)
}

fn in_config(source: &str, name: &str) -> Option<OwnKey> {
    let field = format!("{name}:");
    let mut meaning = String::new();
    for line in block(source, "struct Config {")?.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            meaning = format!("{meaning} {}", text.trim()).trim().to_owned();
        } else if let Some(kind) =
            line.trim_start_matches("pub ").trim_start_matches("r#").strip_prefix(&field)
        {
            let kind = kind.trim().trim_end_matches(',');
            let default = default_of(source, name, kind).filter(|_| !meaning.is_empty())?;
            return Some(OwnKey { name: name.into(), takes: takes(source, kind), default, meaning });
        } else if !line.starts_with("#[") {
            meaning.clear();
        }
    }
    None
}

/// What stands between the brace that ends `opening` and the one that closes it.
fn block<'a>(source: &'a str, opening: &str) -> Option<&'a str> {
    let inside = source.split_once(opening)?.1;
    let mut depth = 1;
    let end = inside.find(|character| {
        depth += match character {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        depth == 0
    });
    inside.get(..end?)
}

/// The variants of an enum of this file, kebab-case, the derived default first.
fn variants(source: &str, kind: &str) -> Option<(Vec<String>, Option<String>)> {
    let (mut names, mut default, mut is_default) = (Vec::new(), None, false);
    for line in block(source, &format!("enum {kind} {{"))?.lines().map(str::trim) {
        match line.strip_suffix(',') {
            Some(name) if !line.starts_with("//") => {
                names.push(kebab(name));
                default = if std::mem::take(&mut is_default) { names.last().cloned() } else { default };
            }
            _ => is_default |= line == "#[default]",
        }
    }
    Some((names, default))
}

fn takes(source: &str, kind: &str) -> String {
    if let Some((names, _)) = variants(source, kind) {
        let quoted: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
        return quoted.join(" or ");
    }
    match kind {
        "SimDuration" => "a time such as \"25us\" or \"1.5ms\"".into(),
        "bool" => "true or false".into(),
        "f64" => "a number".into(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number".into(),
        other => match other.strip_prefix("Option<").and_then(|kind| kind.strip_suffix('>')) {
            Some(kind) => takes(source, kind),
            None => format!("`{other}`"),
        },
    }
}

/// The default of a field of this kind, as a user would write it.
fn default_of(source: &str, name: &str, kind: &str) -> Option<String> {
    if let Some(written) = block(source, "impl Default for Config {") {
        let fields = block(written, "-> Self {").and_then(|body| block(body, "{"))?;
        let field = format!("{name}: ");
        // `limit` is no part of `no_limit`.
        let is_whole = |at: &usize| !fields[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let at = fields.match_indices(&field).map(|(at, _)| at).find(is_whole)?;
        let value = &fields[at + field.len()..];
        return Some(written_value(&value[..end_of_expression(value)]));
    }
    if let Some((_, default)) = variants(source, kind) {
        return default;
    }
    match kind {
        "SimDuration" => Some("0us".into()),
        "bool" => Some("false".into()),
        kind if kind.starts_with("Option<") => Some("none".into()),
        _ => Some("0".into()),
    }
}

/// Where the first expression of a list ends.
fn end_of_expression(text: &str) -> usize {
    let mut depth = 0;
    let ends = |character| {
        depth += match character {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        depth < 0 || (depth == 0 && matches!(character, ',' | '\n'))
    };
    text.find(ends).unwrap_or(text.len())
}

/// Rust's way of writing a value, turned into a scenario's.
fn written_value(expression: &str) -> String {
    let expression = expression.trim();
    let plain = expression.replace('_', "");
    for (constructor, ns) in [("from_ns(", 1), ("from_us(", 1_000), ("from_ms(", 1_000_000)] {
        if let Some((_, number)) = plain.split_once(&constructor.replace('_', ""))
            && let Ok(number) = number.trim_end_matches(')').parse::<u64>()
        {
            return harmonia_types::SimDuration(number * ns).to_string();
        }
    }
    match expression {
        "SimDuration::ZERO" => "0us".into(),
        "None" => "none".into(),
        _ if plain.parse::<f64>().is_ok() => plain,
        _ => match expression.rsplit_once("::") {
            Some((_, variant)) if !variant.contains('(') => kebab(variant),
            _ => expression.into(),
        },
    }
}

/// `FireAt` -> `fire-at`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
struct Config {
    /// When to look.
    /// Two lines.
    #[serde(alias = "x")]
    detect: Detect,
    /// Between looks.
    poll: SimDuration,
    undocumented: u16,
    /// Share.
    share: f64,
    no_limit: bool,
    /// Limit.
    limit: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Config { detect: Detect::OnEvent, poll: SimDuration::from_us(1_500), undocumented: 3, share: 0.05, no_limit: true, limit: None }
    }
}

enum Detect {
    /// Often.
    Poll,
    #[default]
    OnEvent,
}
"#;

    fn key(name: &str, takes: &str, default: &str, meaning: &str) -> OwnKey {
        OwnKey { name: name.into(), takes: takes.into(), default: default.into(), meaning: meaning.into() }
    }

    #[test]
    fn a_config_documents_its_keys() {
        let keys = own_keys(&[SOURCE.into()], &["detect", "poll", "share", "limit"]);
        let expected = [
            key("detect", "\"poll\" or \"on-event\"", "on-event", "When to look. Two lines."),
            key("poll", "a time such as \"25us\" or \"1.5ms\"", "1.5ms", "Between looks."),
            key("share", "a number", "0.05", "Share."),
            key("limit", "a whole number", "none", "Limit."),
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn shared_modules_are_those_beside_it() {
        let source = "use super::trigger::{Config, Trigger};\nuse super::{Build, Victim};\nuse crate::block::BlockId;\n";
        assert_eq!(shared_modules(source).collect::<Vec<_>>(), ["trigger"]);
    }

    #[test]
    fn derived_defaults_are_found() {
        let derived = SOURCE.split("impl Default").next().unwrap_or_default().to_owned();
        let derived = derived + &SOURCE[SOURCE.find("enum").unwrap_or_default()..];
        let defaults: Vec<_> = own_keys(&[String::new(), derived], &["detect", "poll", "share"])
            .into_iter()
            .map(|key| key.default)
            .collect();
        assert_eq!(defaults, ["on-event", "0us", "0"]);
    }

    #[test]
    #[should_panic(expected = "the key `undocumented` needs")]
    fn a_key_without_a_doc_comment_is_refused() {
        own_keys(&[SOURCE.into()], &["undocumented"]);
    }
}
