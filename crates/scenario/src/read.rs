//! Reading typed values from the tree: every failure is a [`Fault`] with place, key, value and what is allowed.

use harmonia_ssd::Amount;
use harmonia_types::{Bytes, SimDuration, units};

use crate::error::{Fault, Parsed, nearest, printable};
use crate::schema;
use crate::tree::{Node, Place, Table, Value};

static EMPTY: Table = Table { entries: Vec::new() };

/// Longest time any key takes: 1 hour.
const HOUR: SimDuration = SimDuration(3_600_000_000_000);

/// A table being read. `path` is where it stands in the file, `schema` where its keys are described: they differ
/// below `[[array.member]]`.
#[derive(Clone)]
pub(crate) struct Section<'a> {
    pub table: &'a Table,
    pub place: Place,
    pub path: String,
    pub schema: &'static str,
}

impl<'a> Section<'a> {
    /// The whole scenario. Names it does not know are refused at once, as in every section.
    pub fn root(table: &'a Table) -> Parsed<Self> {
        let section = Section { table, place: Place::Nowhere, path: String::new(), schema: "" };
        section.check(&[])?;
        Ok(section)
    }

    /// The table in `node`; `extra` names are known besides those of the schema.
    pub fn of(node: &'a Node, path: String, schema: &'static str, extra: &[&str]) -> Parsed<Self> {
        let Value::Table(table) = &node.value else {
            let allowed = schema::find(schema).map_or_else(
                || format!("a table [{schema}] with {}", schema::names_in(schema).join(", ")),
                |key| key.allowed.to_owned(),
            );
            return Err(Box::new(Fault {
                place: node.place,
                key: path,
                value: Some(node.shown()),
                problem: format!("must be a table, not {}", node.kind()),
                allowed,
            }));
        };
        let section = Section { table, place: node.place, path, schema };
        section.check(extra)?;
        Ok(section)
    }

    /// The sub-table called `name`; an empty one if it is not written.
    pub fn child(&self, name: &str, schema: &'static str) -> Parsed<Section<'a>> {
        self.child_with(name, schema, &[])
    }

    /// [`Section::child`] with names of its own.
    pub fn child_with(&self, name: &str, schema: &'static str, extra: &[&str]) -> Parsed<Section<'a>> {
        let path = self.below(name);
        match self.table.get(name) {
            Some(entry) => Section::of(&entry.node, path, schema, extra),
            None => Ok(Section { table: &EMPTY, place: self.place, path, schema }),
        }
    }

    /// The path of `name` in this table.
    pub fn below(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn check(&self, extra: &[&str]) -> Parsed<()> {
        let known = schema::names_in(self.schema);
        let own = extra.iter().filter(|name| !known.contains(name)).copied().collect::<Vec<_>>();
        for entry in &self.table.entries {
            if known.contains(&entry.name.as_str()) || own.contains(&entry.name.as_str()) {
                continue;
            }
            let all = || known.iter().copied().chain(own.iter().copied());
            let mut problem = "there is no such key".to_owned();
            if let Some(near) = nearest(&entry.name, all()) {
                problem.push_str(&format!("; did you mean `{near}`?"));
            } else if let Some(elsewhere) = schema::keys().find(|key| {
                key.path.rsplit('.').next() == Some(entry.name.as_str())
                    && key.path != self.below(&entry.name)
                    && !key.is_old()
            }) {
                problem.push_str(&format!("; did you mean `{}`?", elsewhere.path));
            }
            let table =
                if self.path.is_empty() { "at the top".into() } else { format!("in [{}]", self.path) };
            return Err(Box::new(Fault {
                place: entry.place,
                key: self.below(&entry.name),
                value: None,
                problem,
                allowed: format!("{table}: {}", all().collect::<Vec<_>>().join(", ")),
            }));
        }
        Ok(())
    }

    /// The value of `name`, if written.
    pub fn field(&self, name: &str) -> Option<Field<'a>> {
        let schema = if self.schema.is_empty() { name.to_owned() } else { format!("{}.{name}", self.schema) };
        debug_assert!(schema::find(&schema).is_some(), "{schema} is missing in the schema");
        let node = &self.table.get(name)?.node;
        Some(Field { node, path: self.below(name), schema })
    }

    /// The value of `name`, which must be written because `why`.
    pub fn require(&self, name: &str, why: &str) -> Parsed<Field<'a>> {
        self.field(name).ok_or_else(|| {
            let schema = format!("{}.{name}", self.schema);
            let allowed = schema::find(&schema).map_or("", |key| key.allowed).to_owned();
            let key = self.below(name);
            Box::new(Fault {
                place: self.place,
                key,
                value: None,
                problem: format!("is missing: {why}"),
                allowed,
            })
        })
    }
}

/// A value being read.
pub(crate) struct Field<'a> {
    pub node: &'a Node,
    pub path: String,
    pub schema: String,
}

impl Field<'_> {
    /// A fault of this value; what is allowed comes from the schema.
    pub fn fault(&self, problem: impl Into<String>) -> Box<Fault> {
        let allowed = schema::find(&self.schema).map_or("", |key| key.allowed);
        self.fault_allowing(problem, allowed)
    }

    /// A fault of this value.
    pub fn fault_allowing(&self, problem: impl Into<String>, allowed: impl Into<String>) -> Box<Fault> {
        Box::new(Fault {
            place: self.node.place,
            key: self.path.clone(),
            value: Some(self.node.shown()),
            problem: problem.into(),
            allowed: allowed.into(),
        })
    }

    fn unlike(&self, wanted: &str) -> Box<Fault> {
        self.fault(format!("must be {wanted}, not {}", self.node.kind()))
    }

    pub fn text(&self) -> Parsed<&str> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.unlike("text")),
        }
    }

    pub fn boolean(&self) -> Parsed<bool> {
        match self.node.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(self.unlike("true or false")),
        }
    }

    /// A whole number from `least` to `most`.
    pub fn integer(&self, least: u64, most: u64) -> Parsed<u64> {
        match self.node.value {
            Value::Integer(value) => match u64::try_from(value) {
                Ok(value) if (least..=most).contains(&value) => Ok(value),
                _ => Err(self.fault("is out of range")),
            },
            _ => Err(self.unlike("a whole number")),
        }
    }

    /// [`Field::integer`] for counts.
    pub fn count(&self, least: u32, most: u32) -> Parsed<u32> {
        self.integer(least.into(), most.into()).map(|value| value as u32)
    }

    /// A finite number from `least` (itself only if `inclusive`) to `most`.
    pub fn number(&self, least: f64, inclusive: bool, most: f64) -> Parsed<f64> {
        let value = match self.node.value {
            Value::Integer(value) => value as f64,
            Value::Float(value) => value,
            _ => return Err(self.unlike("a number")),
        };
        if !value.is_finite() {
            return Err(self.fault("is not a finite number"));
        }
        let low = if inclusive { value < least } else { value <= least };
        // -0.0 would print as another value than it was read as.
        if low || value > most { Err(self.fault("is out of range")) } else { Ok(value + 0.0) }
    }

    fn quantity<T>(&self, read: impl Fn(&str) -> Result<T, String>, what: &str) -> Parsed<T> {
        match &self.node.value {
            Value::Text(text) => read(text).map_err(|why| self.fault(printable(&why, 200))),
            Value::Integer(_) | Value::Float(_) => {
                Err(self.fault(format!("has no unit: {what} is written in quotes with its unit")))
            }
            _ => Err(self.unlike(what)),
        }
    }

    /// A time of at most 1 hour, above 0 if `positive`.
    pub fn duration(&self, positive: bool) -> Parsed<SimDuration> {
        let value = self.long_duration(positive)?;
        if value > HOUR { Err(self.fault("is out of range")) } else { Ok(value) }
    }

    /// A time without that limit.
    pub fn long_duration(&self, positive: bool) -> Parsed<SimDuration> {
        let value = self.quantity(units::parse_duration, "a time")?;
        if positive && value == SimDuration::ZERO { Err(self.fault("is out of range")) } else { Ok(value) }
    }

    /// A time of at most 1 hour, or `none`.
    pub fn duration_or_none(&self) -> Parsed<Option<SimDuration>> {
        match &self.node.value {
            Value::Text(text) if text.trim() == "none" => Ok(None),
            _ => self.duration(false).map(Some),
        }
    }

    /// A size of at least `least` bytes.
    pub fn bytes(&self, least: Bytes) -> Parsed<Bytes> {
        let value = self.quantity(units::parse_bytes, "a size")?;
        if value < least { Err(self.fault("is out of range")) } else { Ok(value) }
    }

    /// Bytes a second.
    pub fn bandwidth(&self) -> Parsed<Bytes> {
        let value = self.quantity(units::parse_bandwidth, "a rate")?;
        if value < 1000 { Err(self.fault("is out of range")) } else { Ok(value) }
    }

    /// The values of a list of 1 to `most`, each read on its own.
    pub fn list<T>(&self, most: usize, read: impl Fn(&Field<'_>) -> Parsed<T>) -> Parsed<Vec<T>> {
        let Value::List(nodes) = &self.node.value else { return Err(self.unlike("a list")) };
        if nodes.is_empty() || nodes.len() > most {
            return Err(self.fault(format!("has {} values, expected 1 to {most}", nodes.len())));
        }
        let value = |node| read(&Field { node, path: self.path.clone(), schema: self.schema.clone() });
        nodes.iter().map(value).collect()
    }

    /// A number of blocks, a share of them, or (if `relative`) hard and a distance.
    pub fn amount(&self, relative: bool) -> Parsed<Amount> {
        // No allocation unit has more blocks: 64 planes of 2^20.
        const MOST: u32 = 1 << 26;
        let text = match &self.node.value {
            Value::Integer(_) => return self.count(0, MOST).map(Amount::Blocks),
            Value::Text(text) => text.trim(),
            _ => return Err(self.unlike("a number of blocks or a share")),
        };
        let refused = || self.fault("is not a number of blocks or a share");
        if let Some(percent) = text.strip_suffix('%') {
            let plain = percent.trim_end().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let value: f64 = percent.trim_end().parse().map_err(|_| refused())?;
            return match value {
                _ if !plain => Err(refused()),
                0.0..=100.0 => Ok(Amount::Percent(value)),
                _ => Err(self.fault("is out of range: a share is 0% to 100%")),
            };
        }
        let distance = match text.strip_prefix("hard") {
            Some(rest) if relative && rest.is_empty() => return Ok(Amount::AboveHard(0)),
            Some(rest) if relative => rest.trim_start().strip_prefix('+').ok_or_else(refused)?.trim_start(),
            _ => return Err(refused()),
        };
        match distance.parse::<u32>() {
            Ok(blocks) if blocks <= MOST && !distance.starts_with('+') => Ok(Amount::AboveHard(blocks)),
            _ => Err(refused()),
        }
    }

    /// One of a few names.
    pub fn choice<T: Copy>(&self, names: &[(&str, T)]) -> Parsed<T> {
        let name = self.name(names.iter().map(|(name, _)| *name))?;
        Ok(names.iter().find(|(known, _)| *known == name).expect("checked by `name`").1)
    }

    /// One of the names of a registry.
    pub fn name<'n>(&self, known: impl Iterator<Item = &'n str>) -> Parsed<&str> {
        let text = self.text()?;
        let known: Vec<&str> = known.collect();
        if known.contains(&text) {
            return Ok(text);
        }
        let allowed = known.join(", ");
        let problem = match nearest(text, known) {
            _ if schema::planned(&self.schema, text) => "is planned, but not available yet".to_owned(),
            Some(near) => format!("there is no such name; did you mean \"{near}\"?"),
            None => "there is no such name".to_owned(),
        };
        Err(self.fault_allowing(problem, allowed))
    }
}
