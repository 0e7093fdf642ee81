//! What names a result: a hash of all that it depends on.
//!
//! The hash covers the version of Harmonia, the resolved scenario with its seed, and the contents of the trace that is
//! replayed, wherever its files lie. So the same run has the same name on every machine, and two sweeps that need it share
//! it. Leaves out: changes of the code between versions. Whoever makes them starts with an empty folder.

use std::collections::BTreeMap;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use harmonia_run::VERSION;
use harmonia_scenario::files::open_regular;
use harmonia_scenario::{BadInput, Scenario};
use harmonia_trace::Trace;
use harmonia_workload::{TraceConfig, WorkloadConfig};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Hashes of traces by their paths: each is read once.
pub(crate) type Hashes = BTreeMap<Vec<PathBuf>, String>;

/// The address of a result: 32 hexadecimal digits.
pub(crate) fn of(identity: &str) -> String {
    of_version(VERSION, identity)
}

/// The address of a result of another version.
pub(crate) fn of_version(version: &str, identity: &str) -> String {
    format!("{:032x}", xxh3_128(format!("harmonia {version}\n{identity}").as_bytes()))
}

/// The resolved scenario, the contents of a trace in the place of its path.
pub(crate) fn identity(scenario: &Scenario, hashes: &mut Hashes) -> Result<String, BadInput> {
    let WorkloadConfig::Trace(trace) = &scenario.workload else { return Ok(scenario.to_toml()) };
    let hash = match hashes.get(&trace.paths) {
        Some(hash) => hash.clone(),
        None => contents(trace)?,
    };
    hashes.entry(trace.paths.clone()).or_insert_with(|| hash.clone());
    let mut scenario = scenario.clone();
    if let WorkloadConfig::Trace(trace) = &mut scenario.workload {
        trace.paths = vec![hash.into()];
    }
    Ok(scenario.to_toml())
}

fn contents(trace: &TraceConfig) -> Result<String, BadInput> {
    let opened = Trace::open(&trace.paths, &trace.options)
        .map_err(|why| BadInput::plain(why.to_string(), "allowed: a trace that can be read"))?;
    let mut hash = Xxh3::new();
    for file in opened.files() {
        let length = add(file, &mut hash).map_err(|error| {
            BadInput::plain(format!("`{file}` cannot be read: {error}"), "allowed: a trace that can be read")
        })?;
        // Where one file ends is part of what they say.
        hash.update(&length.to_le_bytes());
    }
    Ok(format!("xxh3-{:032x}", hash.digest128()))
}

fn add(file: &str, hash: &mut Xxh3) -> io::Result<u64> {
    let (mut source, mut buffer, mut length) = (open_regular(Path::new(file))?, vec![0; 1 << 20], 0);
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            return Ok(length);
        }
        hash.update(&buffer[..read]);
        length += read as u64;
    }
}
