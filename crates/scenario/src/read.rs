//! Sections and fields of the tree: every failure is a [`Fault`] with place, key, value and what is allowed. What a value may
//! be is said by its kind, in [`schema`], which is the only thing that looks into it.

use crate::error::{Fault, Parsed, nearest};
use crate::schema::{self, Key};
use crate::tree::{Node, Place, Table, Value};

static EMPTY: Table = Table { entries: Vec::new() };

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
                |key| key.allowed.clone(),
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

    /// The sub-table that is described at `schema`; an empty one if it is not written.
    pub fn child(&self, schema: &'static str) -> Parsed<Section<'a>> {
        self.child_with(schema, &[])
    }

    /// [`Section::child`] with names of its own.
    pub fn child_with(&self, schema: &'static str, extra: &[&str]) -> Parsed<Section<'a>> {
        let name = schema.rsplit('.').next().unwrap_or(schema);
        let path = self.below(name);
        match self.table.get(name) {
            Some(entry) => Section::of(&entry.node, path, schema, extra),
            None => Ok(Section { table: &EMPTY, place: self.place, path, schema }),
        }
    }

    /// The tables of the array `key`, at most so many; `extra` names are known besides those of the schema.
    pub fn tables(&self, key: &Key<()>, most: usize, extra: &[&str]) -> Parsed<Vec<Section<'a>>> {
        let Some(field) = self.field(key) else { return Ok(Vec::new()) };
        let Value::List(list) = &field.node.value else {
            return Err(field.fault(format!("must be an array of tables, not {}", field.node.kind())));
        };
        if list.len() > most {
            return Err(field.fault(format!("has {} entries, expected at most {most}", list.len())));
        }
        let section =
            |(at, node)| Section::of(node, format!("{}[{at}]", self.below(key.name())), key.path, extra);
        list.iter().enumerate().map(section).collect()
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

    /// The field called `name`, if written.
    pub fn named(&self, name: &str) -> Option<Field<'a>> {
        let schema = self.described(name);
        debug_assert!(schema::find(&schema).is_some(), "{schema} is missing in the schema");
        let node = &self.table.get(name)?.node;
        Some(Field { node, path: self.below(name), schema })
    }

    fn described(&self, name: &str) -> String {
        if self.schema.is_empty() { name.to_owned() } else { format!("{}.{name}", self.schema) }
    }

    /// The field of a key, if written.
    pub fn field<T>(&self, key: &Key<T>) -> Option<Field<'a>> {
        self.named(key.name())
    }

    /// The field of a key, which must be written because `why`.
    pub fn require<T>(&self, key: &Key<T>, why: &str) -> Parsed<Field<'a>> {
        self.field(key).ok_or_else(|| self.missing(key.name(), why))
    }

    /// A fault of this table, in which the key called `name` must be written because `why`.
    pub fn missing(&self, name: &str, why: &str) -> Box<Fault> {
        Box::new(Fault {
            place: self.place,
            key: self.below(name),
            value: None,
            problem: format!("is missing: {why}"),
            allowed: schema::allowed(&self.described(name)),
        })
    }

    /// The value of a key, if written.
    pub fn get<T>(&self, key: &Key<T>) -> Parsed<Option<T>> {
        self.field(key).map(|field| key.read(&field)).transpose()
    }

    /// The value of a key, or what is usual.
    pub fn get_or<T>(&self, key: &Key<T>, usual: T) -> Parsed<T> {
        Ok(self.get(key)?.unwrap_or(usual))
    }

    /// The value of a key, which must be written because `why`.
    pub fn must<T>(&self, key: &Key<T>, why: &str) -> Parsed<T> {
        key.read(&self.require(key, why)?)
    }
}

/// A value being read.
pub(crate) struct Field<'a> {
    pub node: &'a Node,
    pub path: String,
    pub schema: String,
}

impl Field<'_> {
    /// A value in this one.
    pub fn of<'b>(&self, node: &'b Node) -> Field<'b> {
        Field { node, path: self.path.clone(), schema: self.schema.clone() }
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// A fault of this value; what is allowed comes from the schema.
    pub fn fault(&self, problem: impl Into<String>) -> Box<Fault> {
        self.fault_allowing(problem, schema::allowed(&self.schema))
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
}
