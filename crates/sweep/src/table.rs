//! Results as a table: one row a run, with what was varied and the figures of its report.
//!
//! Columns of what was varied are called after the keys. They come from all results of the store: a run that another sweep
//! has made has the value of its resolved scenario there, or none. They hold whole numbers or numbers where all values are
//! such, else text.

use std::collections::BTreeSet;

use harmonia_metrics::{BlameSum, Report};
use harmonia_run::Outcome;
use harmonia_types::Counters;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::store::Stored;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nothing: too few requests to say, or a refused run.
    Null,
    /// A count, or a time in ns.
    Integer(u64),
    /// A mean or a ratio.
    Number(f64),
    /// A name.
    Text(String),
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Text.
    Text,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, with its unit where it has one.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// One value a run.
    pub values: Vec<Value>,
}

/// A table of results.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Its columns, all of the same length.
    pub columns: Vec<Column>,
    rows: usize,
}

type Of<T> = fn(&T) -> Value;

/// What names a run.
const NAMES: [(&str, Kind, Of<Stored>); 6] = [
    ("address", Kind::Text, |run| Value::Text(run.address.clone())),
    ("version", Kind::Text, |run| Value::Text(run.version.clone())),
    ("label", Kind::Text, |run| Value::Text(run.label.clone())),
    ("policy", Kind::Text, policy),
    ("seed", Kind::Integer, |run| Value::Integer(run.seed)),
    ("refused", Kind::Text, |run| match &run.outcome {
        Outcome::Refused(why) => Value::Text(why.clone()),
        Outcome::Measured(_) => Value::Null,
    }),
];

/// What requests felt. Times are in ns. Behind these come the parts of blame, which are sums over all requests.
const HOST: [(&str, Kind, Of<Report>); 24] = [
    ("requests", Kind::Integer, |run| Value::Integer(run.host.requests)),
    ("simulated_ns", Kind::Integer, |run| Value::Integer(run.simulated_ns)),
    ("mean_ns", Kind::Number, |run| number(run.host.response_ns.all.mean)),
    ("stddev_ns", Kind::Number, |run| number(run.host.response_ns.all.stddev)),
    ("p50_ns", Kind::Integer, |run| integer(run.host.response_ns.all.p50)),
    ("p95_ns", Kind::Integer, |run| integer(run.host.response_ns.all.p95)),
    ("p99_ns", Kind::Integer, |run| integer(run.host.response_ns.all.p99)),
    ("p999_ns", Kind::Integer, |run| integer(run.host.response_ns.all.p999)),
    ("p9999_ns", Kind::Integer, |run| integer(run.host.response_ns.all.p9999)),
    ("max_ns", Kind::Integer, |run| integer(run.host.response_ns.all.max)),
    ("read_requests", Kind::Integer, |run| Value::Integer(run.host.read_requests)),
    ("read_mean_ns", Kind::Number, |run| number(run.host.response_ns.read.mean)),
    ("read_p50_ns", Kind::Integer, |run| integer(run.host.response_ns.read.p50)),
    ("read_p99_ns", Kind::Integer, |run| integer(run.host.response_ns.read.p99)),
    ("read_p999_ns", Kind::Integer, |run| integer(run.host.response_ns.read.p999)),
    ("write_requests", Kind::Integer, |run| Value::Integer(run.host.write_requests)),
    ("write_mean_ns", Kind::Number, |run| number(run.host.response_ns.write.mean)),
    ("write_p50_ns", Kind::Integer, |run| integer(run.host.response_ns.write.p50)),
    ("write_p99_ns", Kind::Integer, |run| integer(run.host.response_ns.write.p99)),
    ("write_p999_ns", Kind::Integer, |run| integer(run.host.response_ns.write.p999)),
    ("bytes_read", Kind::Integer, |run| Value::Integer(run.host.bytes_read)),
    ("bytes_written", Kind::Integer, |run| Value::Integer(run.host.bytes_written)),
    ("gc_affected_reads", Kind::Integer, |run| Value::Integer(run.host.response_ns.gc_affected_read.count)),
    ("gc_affected_writes", Kind::Integer, |run| Value::Integer(run.host.response_ns.gc_affected_write.count)),
];

/// What the array did, and the run.
const ARRAY: [(&str, Kind, Of<Report>); 10] = [
    ("write_amplification", Kind::Number, |run| number(run.array.write_amplification)),
    ("erases", Kind::Integer, |run| Value::Integer(run.array.erases)),
    ("gc_pages_moved", Kind::Integer, |run| Value::Integer(run.array.gc_pages_moved)),
    ("host_pages_written", Kind::Integer, |run| Value::Integer(run.array.host_pages_written)),
    ("flash_pages_programmed", Kind::Integer, |run| Value::Integer(run.array.flash_pages_programmed)),
    ("parity_pages_written", Kind::Integer, |run| Value::Integer(run.array.parity_pages_written)),
    ("usable_bytes", Kind::Integer, |run| Value::Integer(run.array.usable_bytes)),
    ("steady", Kind::Text, |run| Value::Text(run.precondition.steady.to_string())),
    ("warnings", Kind::Text, warnings),
    ("wall_ns", Kind::Integer, |run| Value::Integer(run.engine.wall_ns)),
];

fn number(value: Option<f64>) -> Value {
    value.map_or(Value::Null, Value::Number)
}

fn integer(value: Option<u64>) -> Value {
    value.map_or(Value::Null, Value::Integer)
}

/// Sums of 584 years are no sums of a run.
fn sum(value: u128) -> Value {
    Value::Integer(u64::try_from(value).unwrap_or(u64::MAX))
}

fn warnings(run: &Report) -> Value {
    let codes: Vec<&str> = run.warnings.iter().map(|warning| warning.code.as_str()).collect();
    Value::Text(codes.join(" "))
}

/// As the sweep called it, or as the report does.
fn policy(run: &Stored) -> Value {
    match (&run.policy, &run.outcome) {
        (Some(policy), _) => Value::Text(policy.clone()),
        (None, Outcome::Measured(report)) => Value::Text(report.array.coordination.policy.clone()),
        (None, Outcome::Refused(_)) => Value::Null,
    }
}

impl Table {
    /// The table of these results, in their order.
    pub fn of(runs: &[Stored]) -> Table {
        let column = |name: &str, kind, of: &dyn Fn(&Stored) -> Value| Column {
            name: name.to_owned(),
            kind,
            values: runs.iter().map(of).collect(),
        };
        let mut columns: Vec<Column> = NAMES.iter().map(|(name, kind, of)| column(name, *kind, of)).collect();
        columns.extend(swept(runs));
        let mut figure = |name: &str, kind, of: &dyn Fn(&Report) -> Value| {
            columns.push(column(name, kind, &|run: &Stored| match &run.outcome {
                Outcome::Measured(report) => of(report),
                Outcome::Refused(_) => Value::Null,
            }));
        };
        HOST.iter().for_each(|(name, kind, of)| figure(name, *kind, of));
        for (part, counter) in BlameSum::TABLE.iter().enumerate() {
            figure(counter.column, Kind::Integer, &|run| sum(run.host.blame_ns.parts()[part]));
        }
        ARRAY.iter().for_each(|(name, kind, of)| figure(name, *kind, of));
        let levels = |run: &Stored| match &run.outcome {
            Outcome::Measured(report) => report.array.leveled_pages_moved > 0,
            Outcome::Refused(_) => false,
        };
        if runs.iter().any(levels) {
            figure("leveled_pages_moved", Kind::Integer, &|run| {
                Value::Integer(run.array.leveled_pages_moved)
            });
        }
        Table { columns, rows: runs.len() }
    }

    /// How many runs it has.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// A column for each key that was varied anywhere.
fn swept(runs: &[Stored]) -> Vec<Column> {
    let keys: BTreeSet<&String> = runs.iter().flat_map(|run| run.swept.keys()).collect();
    let column = |key: &String| {
        let texts: Vec<Option<String>> = runs.iter().map(|run| value_of(run, key)).collect();
        typed(key, &texts)
    };
    keys.into_iter().map(column).collect()
}

/// What a run was given, or what its scenario has of itself.
fn value_of(run: &Stored, key: &str) -> Option<String> {
    if let Some(value) = run.swept.get(key) {
        return Some(value.trim_matches('"').to_owned());
    }
    let scenario: toml::Table = run.scenario.parse().ok()?;
    let mut names = key.split('.');
    let first = scenario.get(names.next()?)?;
    match names.try_fold(first, |value, name| value.get(name))? {
        toml::Value::Table(_) | toml::Value::Array(_) => None,
        toml::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn typed(name: &str, texts: &[Option<String>]) -> Column {
    let all = |read: &dyn Fn(&String) -> Option<Value>| -> Option<Vec<Value>> {
        texts.iter().map(|text| text.as_ref().map_or(Some(Value::Null), read)).collect()
    };
    let whole = |text: &String| text.replace('_', "").parse().ok().map(Value::Integer);
    let number = |text: &String| {
        text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Number)
    };
    let text = |text: &String| Some(Value::Text(text.clone()));
    let (kind, values) = all(&whole)
        .map(|values| (Kind::Integer, values))
        .or_else(|| all(&number).map(|values| (Kind::Number, values)))
        .unwrap_or_else(|| (Kind::Text, all(&text).unwrap_or_default()));
    Column { name: name.to_owned(), kind, values }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_none(),
            Value::Integer(value) => serializer.serialize_u64(*value),
            Value::Number(value) => serializer.serialize_f64(*value),
            Value::Text(value) => serializer.serialize_str(value),
        }
    }
}

struct Row<'a>(&'a Table, usize);

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row(table, row) = *self;
        let mut map = serializer.serialize_map(Some(table.columns.len()))?;
        for column in &table.columns {
            map.serialize_entry(&column.name, &column.values[row])?;
        }
        map.end()
    }
}

/// A list of rows, each with its columns by name.
impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.rows))?;
        for row in 0..self.rows {
            rows.serialize_element(&Row(self, row))?;
        }
        rows.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_holds_numbers_only_where_all_values_are_numbers() {
        let column = |texts: &[&str]| {
            let texts: Vec<Option<String>> =
                texts.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned())).collect();
            typed("k", &texts)
        };
        assert_eq!(
            column(&["2", "", "1_000"]).values,
            [Value::Integer(2), Value::Null, Value::Integer(1000)]
        );
        assert_eq!(column(&["2", "0.5"]).values, [Value::Number(2.0), Value::Number(0.5)]);
        let text = column(&["2", "5%"]);
        assert_eq!((text.kind, &text.values[0]), (Kind::Text, &Value::Text("2".to_owned())));
        assert_eq!(column(&["inf"]).kind, Kind::Text);
    }
}
