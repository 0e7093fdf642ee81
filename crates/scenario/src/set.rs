//! `--set key=value`: reading a flag, sweeping over commas, changing the tree.

use toml::de::DeValue;

use crate::error::{BadInput, Fault, Parsed, nearest, printable};
use crate::schema;
use crate::tree::{Entry, Node, Place, Table, Value};

/// Most variants one command sweeps over.
const MOST_VARIANTS: usize = 4096;

/// One `--set` flag.
struct Flag<'a> {
    key: &'a str,
    /// More than one: a sweep.
    values: Vec<&'a str>,
}

/// A key and the values that a sweep gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The key from the scenario's root, such as `ssd.gc.schedule`.
    pub key: String,
    /// Its values as written, two or more, all different.
    pub values: Vec<String>,
}

/// The axes that these `--set` flags sweep over, in their order; [`sweep`](crate::sweep) visits their combinations with
/// the last varying fastest.
///
/// # Errors
/// If a flag is none, or the runs could not be told apart: a key swept and given again, or a value named twice.
pub fn axes(sets: &[String]) -> Result<Vec<Axis>, BadInput> {
    let flags: Vec<Flag<'_>> = sets.iter().map(|set| read(set)).collect::<Result<_, _>>()?;
    for (index, flag) in flags.iter().enumerate().filter(|(_, flag)| flag.values.len() > 1) {
        let again = flags.iter().enumerate().any(|(other, also)| other != index && also.key == flag.key);
        if again {
            let problem = format!("`{}` is swept by one --set and given by another", flag.key);
            return Err(BadInput::plain(problem, "allowed: one --set with all of its values"));
        }
        let mut values = flag.values.iter().enumerate();
        if let Some((_, twice)) = values.find(|(at, value)| flag.values[..*at].contains(value)) {
            let problem = format!("--set {}: the value {} is given twice", flag.key, printable(twice, 120));
            return Err(BadInput::plain(problem, "allowed: each value once"));
        }
    }
    let swept = flags.into_iter().filter(|flag| flag.values.len() > 1);
    let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect();
    Ok(swept.map(|flag| Axis { key: flag.key.to_owned(), values: owned(flag.values) }).collect())
}

/// One choice of a value for every flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// `key=value` of every flag, one value each; parallel to the flags given.
    pub flags: Vec<String>,
    /// The swept ones among them, for people.
    pub label: String,
}

/// All combinations of the flags' values, the last flag varying fastest.
pub(crate) fn combinations(sets: &[String]) -> Result<Vec<Choice>, BadInput> {
    let mut choices = vec![Choice { flags: Vec::new(), label: String::new() }];
    for set in sets {
        let flag = read(set)?;
        if choices.len() * flag.values.len() > MOST_VARIANTS {
            let problem = format!("the --set flags sweep over more than {MOST_VARIANTS} combinations");
            return Err(BadInput::plain(problem, "allowed: fewer values, or several commands"));
        }
        let extend = |choice: &Choice, value: &str| {
            let mut next = choice.clone();
            let pair = format!("{}={value}", flag.key);
            if flag.values.len() > 1 {
                let separator = if next.label.is_empty() { "" } else { ", " };
                next.label.push_str(&format!("{separator}{pair}"));
            }
            next.flags.push(pair);
            next
        };
        let values = &flag.values;
        choices =
            choices.iter().flat_map(|choice| values.iter().map(move |value| extend(choice, value))).collect();
    }
    Ok(choices)
}

fn read(set: &str) -> Result<Flag<'_>, BadInput> {
    let shown = printable(set, 200);
    let form = "allowed: --set key=value with a key from the scenario's root, such as --set array.devices=4";
    let Some((key, value)) = set.split_once('=') else {
        return Err(BadInput::plain(format!("--set {shown}: there is no `=`"), form));
    };
    let segment = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    let key = key.trim();
    if !key.split('.').all(segment) || key.split('.').count() > 12 {
        return Err(BadInput::plain(format!("--set {shown}: `{}` is not a key", printable(key, 120)), form));
    }
    let values = split(value);
    if values.iter().any(|value| value.is_empty()) {
        let problem = format!("--set {shown}: `{key}` has an empty value");
        return Err(BadInput::plain(
            problem,
            "allowed: a value, or several separated by commas to sweep over them",
        ));
    }
    Ok(Flag { key, values })
}

/// The values that text with commas stands for, as `--set` reads them: it is split outside quotes, brackets and braces.
pub fn values_of(text: &str) -> Vec<&str> {
    split(text)
}

fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), c) if c == open && !escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            (None, _) => {}
        }
        escaped = false;
    }
    parts.push(text[start..].trim());
    parts
}

/// Changes the tree as the flag with this index asks; a flag is `key=value`.
pub(crate) fn apply(root: &mut Table, index: usize, flag: &str) -> Parsed<()> {
    let Some((key, value)) = flag.split_once('=') else { return Ok(()) };
    let place = Place::Set(index);
    let mut path: Vec<&str> = key.split('.').collect();
    let last = path.pop().unwrap_or_default();
    let mut table = root;
    let mut walked = String::new();
    for name in path {
        if !walked.is_empty() {
            walked.push('.');
        }
        walked.push_str(name);
        table = step(table, name, place, &walked)?;
    }
    let value = value_of(value, place);
    let written = table.entries.iter_mut().find(|entry| entry.name == last);
    let policy = value.text().filter(|_| schema::names_a_policy(key));
    match written.map(|entry| &mut entry.node.value) {
        // The name of a policy alone: the keys of the one there stay if it is the same.
        Some(Value::Table(there)) if policy.is_some() && policy == there.text("policy") => {
            there.put("policy", place, value);
        }
        _ => table.put(last, place, value),
    }
    Ok(())
}

/// The table `name` in `table`, made if absent. `array.member.3.ssd` walks to the fourth [[array.member]].
fn step<'a>(table: &'a mut Table, name: &str, place: Place, walked: &str) -> Parsed<&'a mut Table> {
    let list = match walked {
        "array.member" => Some(("members are told apart by `index`", "index = 3, capable = false")),
        "array.failure" => Some(("failures are a list", "device = 3, at = \"10s\"")),
        "array.power_loss" => Some(("losses of power are a list", "at = \"10s\"")),
        _ => None,
    };
    if let Some((why, entry)) = list {
        let why = format!("cannot be reached by --set: {why}");
        let allowed = format!("the whole list: --set '{walked}=[{{ {entry} }}]'");
        return Err(fault(place, walked, None, &why, allowed));
    }
    if table.get(name).is_none() {
        let node = Node { value: Value::Table(Table::default()), place };
        table.entries.push(Entry { name: name.to_owned(), place, node });
    }
    let entry = table.entries.iter_mut().find(|entry| entry.name == name).expect("made above");
    if schema::names_a_policy(walked)
        && let Value::Text(policy) = &entry.node.value
    {
        // A key of a policy that so far stands there by its name alone.
        let mut with_keys = Table::default();
        with_keys.put("policy", entry.node.place, Value::Text(policy.clone()));
        entry.node.value = Value::Table(with_keys);
    }
    let shown = entry.node.shown();
    let kind = entry.node.kind();
    match &mut entry.node.value {
        Value::Table(table) => Ok(table),
        _ => {
            let tables: Vec<&str> = schema::names_in("");
            let near = nearest(walked, tables.iter().copied()).map(|near| format!("such as {near}"));
            let allowed = format!("a key below a table {}", near.unwrap_or_default());
            Err(fault(place, walked, Some(shown), &format!("is {kind}, not a table"), allowed))
        }
    }
}

fn fault(place: Place, key: &str, value: Option<String>, problem: &str, allowed: String) -> Box<Fault> {
    Box::new(Fault { place, key: key.to_owned(), value, problem: problem.to_owned(), allowed })
}

/// A TOML value if it is one, else a bare word: `local`, `5%`, `25us`.
fn value_of(text: &str, place: Place) -> Value {
    match DeValue::parse(text) {
        Ok(node) if !node.get_ref().is_datetime() => Node::from_toml(&node, &|_| place).value,
        _ => Value::Text(text.to_owned()),
    }
}

/// Whether one of these `key=value` pairs says something of a key, or of a key in that table.
pub fn says(sets: &[String], key: &str) -> bool {
    let is_it = |set: &String| {
        let named = set.split('=').next().unwrap_or_default().trim();
        named.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    sets.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_quotes_brackets_and_braces_do_not_split() {
        assert_eq!(split("a,b"), ["a", "b"]);
        assert_eq!(split("[1, 2],[3]"), ["[1, 2]", "[3]"]);
        assert_eq!(split("{a=1,b=2}"), ["{a=1,b=2}"]);
        assert_eq!(split(r#""a,\",b",'c,d'"#), [r#""a,\",b""#, "'c,d'"]);
        assert_eq!(split(""), [""]);
        assert_eq!(split("]],a"), ["]]", "a"]);
    }

    #[test]
    fn several_sweeps_multiply_and_single_values_stay_out_of_the_label() {
        let sets = ["a.b=1,2", "c=x", "d=[1,2],3"].map(String::from);
        let choices = combinations(&sets).unwrap();
        let labels: Vec<&str> = choices.iter().map(|choice| choice.label.as_str()).collect();
        assert_eq!(labels, ["a.b=1, d=[1,2]", "a.b=1, d=3", "a.b=2, d=[1,2]", "a.b=2, d=3"]);
        assert_eq!(choices[0].flags, ["a.b=1", "c=x", "d=[1,2]"]);
    }

    #[test]
    fn axes_are_what_is_swept_and_what_would_be_ambiguous_is_refused() {
        let of = |sets: &[&str]| axes(&sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>());
        let found = of(&["a.b=1,2", "c=x", "d=[1,2],3"]).unwrap();
        assert_eq!(found[0], Axis { key: "a.b".into(), values: vec!["1".into(), "2".into()] });
        assert_eq!((found.len(), found[1].values.as_slice()), (2, &["[1,2]".to_owned(), "3".to_owned()][..]));
        let refused = |sets: &[&str]| of(sets).unwrap_err().to_string();
        assert!(refused(&["a=1,2", "a=3"]).contains("`a` is swept by one --set and given by another"));
        assert!(refused(&["a=1,2,1"]).contains("--set a: the value 1 is given twice"));
        assert!(of(&["a=1", "a=2"]).unwrap().is_empty(), "the last word counts, as in a run");
    }

    #[test]
    fn values_are_toml_or_bare_words() {
        for (text, shown) in
            [("5%", "\"5%\""), ("3", "3"), ("local", "\"local\""), ("\"x\"", "\"x\""), ("1e3", "1000.0")]
        {
            let node = Node { value: value_of(text, Place::Set(0)), place: Place::Set(0) };
            assert_eq!(node.shown(), shown);
        }
    }
}
