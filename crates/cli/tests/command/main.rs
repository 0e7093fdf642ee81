//! The `harmonia` command as a user or a script meets it: exit statuses, messages, what lands where.

mod advising;
mod arguments;
mod buying;
mod calibrating;
mod explaining;
mod lifetime;
mod odd_files;
mod parquet;
mod reproduction;
mod shell;
mod simulation;
mod sweeping;
mod trace;
mod tuning;

use std::path::Path;
use std::process::{Command, Output};

/// The built binary with these arguments.
fn harmonia(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harmonia"));
    // Never the cache of whoever runs the tests.
    command.args(arguments).env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    command
}

fn outcome(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Asserts that these arguments are refused with status 2, nothing on stdout, and a message that says all of `says`.
fn refused(arguments: &[&str], says: &[&str]) {
    let (status, stdout, stderr) = outcome(&mut harmonia(arguments));
    assert_eq!((status, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
    assert!(stderr.starts_with("error"), "{arguments:?}: {stderr}");
    for part in says {
        assert!(stderr.contains(part), "{arguments:?} must say {part:?}: {stderr}");
    }
}

/// Writes the built-in scenario that simulates in the blink of an eye into a folder and gives its path.
fn tiny_in(folder: &Path) -> String {
    let path = folder.join("tiny.toml");
    std::fs::write(&path, harmonia_scenario::presets::scenario_text("tiny").expect("built in"))
        .expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("readable");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
