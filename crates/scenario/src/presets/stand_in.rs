//! Stand-ins for the applications of the adaptive-channel paper (Electronics 2025): loads of several streams.
//!
//! The paper's traces are not published, nor are the figures of its Tables 3 to 6; what is left is what its section 4 says
//! of each load in words. A stand-in has that shape, and every figure that gives the shape a size is inferred.
//!
//! Each is the built-in scenario of its name: the preset is the scenario's `[workload.stream]` tables, and where a
//! figure comes from is the comment beside it, `found:` or `inferred:`. Nothing is written twice.

use harmonia_flash::presets::Provenance;
use toml::de::DeTable;

use super::{Parameter, builtin};
use crate::tree::{Node, Place, Table, Value};

/// A load of streams.
#[derive(Debug)]
pub(crate) struct StandIn {
    /// Of the preset, and of the scenario that holds it.
    pub name: &'static str,
    pub summary: &'static str,
}

/// All of them.
pub(crate) const PRESETS: &[StandIn] = &[
    StandIn {
        name: "cassandra-like",
        summary: "stand-in for Cassandra: intermittent spikes of large sequential reads and writes, idle in between",
    },
    StandIn {
        name: "mongodb-like",
        summary: "stand-in for MongoDB: reads, writes and deletes interleaved without a pause",
    },
    StandIn {
        name: "mysql-like",
        summary: "stand-in for MySQL: a log and random pages of tables, next to no reads",
    },
    StandIn {
        name: "rocksdb-like",
        summary: "stand-in for RocksDB: bursts of compaction, which read, write and delete files, beside a log",
    },
    StandIn {
        name: "sqlite-like",
        summary: "stand-in for SQLite: journals created, written and deleted beside small writes of a database",
    },
    StandIn {
        name: "dbench-like",
        summary: "stand-in for Dbench: files of a file server written and deleted, next to no reads",
    },
    StandIn {
        name: "varmail-like",
        summary: "stand-in for Varmail: small files created, appended to and deleted, next to no reads",
    },
];

/// The stand-in called `name`.
pub(crate) fn find(name: &str) -> Option<&'static StandIn> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl StandIn {
    /// The text of its scenario.
    fn text(&self) -> &'static str {
        builtin::find(self.name).expect("a stand-in is a built-in scenario").text
    }

    /// Its streams as tables; `place` maps where they stand in its scenario.
    pub fn streams(&self, place: &dyn Fn(std::ops::Range<usize>) -> Place) -> Table {
        let document = DeTable::parse(self.text()).expect("built-in scenarios are TOML");
        let below = |table: &Table, name: &str| match table.get(name).map(|entry| &entry.node.value) {
            Some(Value::Table(table)) => table.clone(),
            _ => Table::default(),
        };
        let root = Table::from_toml(document.get_ref(), place);
        below(&below(&root, "workload"), "stream")
    }

    /// Its figures for lists.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut figures = Vec::new();
        let streams = self.streams(&|span| Place::File(span.start as u32, span.end as u32));
        self.gather("workload.stream", &streams, &mut figures);
        figures
    }

    fn gather(&self, path: &str, table: &Table, figures: &mut Vec<Parameter>) {
        for entry in &table.entries {
            let key = format!("{path}.{}", entry.name);
            match &entry.node.value {
                Value::Table(table) => self.gather(&key, table, figures),
                value => {
                    let value = match value {
                        Value::Text(text) => text.clone(),
                        _ => entry.node.shown(),
                    };
                    figures.push(Parameter { key, value, provenance: self.provenance(&entry.node) });
                }
            }
        }
    }

    /// What the comment behind a value says.
    fn provenance(&self, node: &Node) -> Provenance {
        let Place::File(_, end) = node.place else { return Provenance::Inferred("") };
        let line = self.text()[end as usize..].lines().next().unwrap_or_default();
        let comment = line.split_once('#').map_or("", |(_, comment)| comment.trim());
        match comment.split_once(": ") {
            Some(("found", source)) => Provenance::Found(source),
            Some(("inferred", why)) => Provenance::Inferred(why),
            _ => Provenance::Inferred(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_says_where_it_comes_from() {
        for preset in PRESETS {
            let figures = preset.parameters();
            assert!(figures.len() > 5, "{} has no streams", preset.name);
            for figure in figures {
                let (Provenance::Found(why)
                | Provenance::Inferred(why)
                | Provenance::Fitted(why)
                | Provenance::Invented(why)) = figure.provenance;
                assert!(
                    !why.is_empty(),
                    "{}: {} has neither `# found: ` nor `# inferred: `",
                    preset.name,
                    figure.key
                );
            }
        }
    }
}
