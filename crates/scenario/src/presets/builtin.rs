//! Built-in scenarios: the files of `examples/`, carried inside the program.

/// One of them.
#[derive(Debug)]
pub(crate) struct Builtin {
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

impl Builtin {
    /// The question the file opens with.
    pub fn question(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }
}

/// The built-in scenario called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

/// Their names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|scenario| scenario.name)
}

/// All of them.
pub(crate) const SCENARIOS: &[Builtin] = &[
    Builtin { name: "hpc-w", text: include_str!("../../../../examples/hpc-w.toml") },
    Builtin { name: "raid5-hpc-w", text: include_str!("../../../../examples/raid5-hpc-w.toml") },
    Builtin { name: "raid5-rebuild", text: include_str!("../../../../examples/raid5-rebuild.toml") },
    Builtin { name: "draid-rebuild", text: include_str!("../../../../examples/draid-rebuild.toml") },
    Builtin { name: "hpc-r", text: include_str!("../../../../examples/hpc-r.toml") },
    Builtin { name: "hpc-w-skew", text: include_str!("../../../../examples/hpc-w-skew.toml") },
    Builtin { name: "hpc-w-burst-m", text: include_str!("../../../../examples/hpc-w-burst-m.toml") },
    Builtin { name: "hpc-w-burst-h", text: include_str!("../../../../examples/hpc-w-burst-h.toml") },
    Builtin { name: "financial", text: include_str!("../../../../examples/financial.toml") },
    Builtin { name: "tpc-c", text: include_str!("../../../../examples/tpc-c.toml") },
    Builtin { name: "cello", text: include_str!("../../../../examples/cello.toml") },
    Builtin { name: "tpc-h", text: include_str!("../../../../examples/tpc-h.toml") },
    Builtin { name: "openmail", text: include_str!("../../../../examples/openmail.toml") },
    Builtin { name: "w1", text: include_str!("../../../../examples/w1.toml") },
    Builtin { name: "w2", text: include_str!("../../../../examples/w2.toml") },
    Builtin { name: "w3", text: include_str!("../../../../examples/w3.toml") },
    Builtin { name: "cassandra-like", text: include_str!("../../../../examples/cassandra-like.toml") },
    Builtin { name: "mongodb-like", text: include_str!("../../../../examples/mongodb-like.toml") },
    Builtin { name: "mysql-like", text: include_str!("../../../../examples/mysql-like.toml") },
    Builtin { name: "rocksdb-like", text: include_str!("../../../../examples/rocksdb-like.toml") },
    Builtin { name: "sqlite-like", text: include_str!("../../../../examples/sqlite-like.toml") },
    Builtin { name: "dbench-like", text: include_str!("../../../../examples/dbench-like.toml") },
    Builtin { name: "varmail-like", text: include_str!("../../../../examples/varmail-like.toml") },
    Builtin { name: "nvme-mixed", text: include_str!("../../../../examples/nvme-mixed.toml") },
    Builtin { name: "write-cache", text: include_str!("../../../../examples/write-cache.toml") },
    Builtin { name: "ssd-iq", text: include_str!("../../../../examples/ssd-iq.toml") },
    Builtin { name: "streams", text: include_str!("../../../../examples/streams.toml") },
    Builtin { name: "jesd219", text: include_str!("../../../../examples/jesd219.toml") },
    Builtin { name: "tiny", text: include_str!("../../../../examples/tiny.toml") },
    Builtin { name: "msr-trace", text: include_str!("../../../../examples/msr-trace.toml") },
    Builtin { name: "tlc-trace", text: include_str!("../../../../examples/tlc-trace.toml") },
    Builtin { name: "raid6-trace", text: include_str!("../../../../examples/raid6-trace.toml") },
    Builtin { name: "mds-array", text: include_str!("../../../../examples/mds-array.toml") },
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The header of an example names the command that runs it: `harmonia compare NAME`.
    #[test]
    fn every_example_is_built_in_under_its_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let files = std::fs::read_dir(folder).expect("examples").map(|entry| entry.expect("entry").path());
        let mut examples: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
            .collect();
        let mut built_in: Vec<&str> = names().collect();
        examples.sort();
        built_in.sort_unstable();
        assert_eq!(examples, built_in);
    }
}
