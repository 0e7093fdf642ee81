//! The `harmonia` command as a user or a script meets it: exit statuses, messages, what lands where.

mod arguments;
mod simulation;

use std::path::Path;
use std::process::{Command, Output};

/// A scenario small enough to simulate in the blink of an eye.
const TINY: &str = r#"
name = "tiny"
seed = 1
[workload]
kind = "synthetic"
requests = 2000
arrival = { process = "poisson", rate = 300 }
size = { distribution = "fixed", mean = "4KiB" }
read_fraction = 0.2
address = { pattern = "uniform" }
[precondition]
fill = 1.0
overwrite = 2.0
[array]
devices = 2
level = "raid0"
stripe_unit = "4KiB"
[ssd]
preset = "msr-slc-32g"
[ssd.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
"#;

/// The built binary with these arguments.
fn harmonia(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_harmonia"));
    command.args(arguments);
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

/// Writes the tiny scenario into a folder and gives its path.
fn tiny_in(folder: &Path) -> String {
    let path = folder.join("tiny.toml");
    std::fs::write(&path, TINY).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("readable");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
