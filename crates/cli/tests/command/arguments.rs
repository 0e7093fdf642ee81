use std::fs::File;
use std::io::pipe;
use std::process::Stdio;

use super::*;

#[test]
fn what_cannot_be_understood_is_status_2_and_says_so() {
    refused(&["simulate"], &["unrecognized subcommand 'simulate'"]);
    refused(
        &["run", "tiny", "--format", "msr"],
        &["--format: `workload.format`", "--trace FILE, or a scenario"],
    );
    refused(&["run", "x", "--threads", "0"], &["--threads <N>"]);
    refused(&["trace", "translate", "x"], &["unrecognized subcommand 'translate'"]);
}

#[test]
fn policies_in_python_need_the_command_of_the_python_package() {
    let why = ["--policy-file mine.py", "Python package"];
    refused(&["compare", "tiny", "--policy-file", "mine.py"], &why);
    refused(&["--policy-file=mine.py", "policies"], &why);
}

#[test]
fn a_missing_file_is_named() {
    refused(&["check", "/nowhere/array.toml"], &["/nowhere/array.toml"]);
    refused(&["run", "/nowhere/array.toml"], &["/nowhere/array.toml"]);
    refused(&["trace", "info", "/nowhere/web.csv"], &["/nowhere/web.csv"]);
}

#[test]
fn a_bad_set_is_refused_with_the_nearest_key() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    refused(&["check", &tiny, "--set", "array.devicez=4"], &["devicez", "devices"]);
    refused(&["check", &tiny, "--set", "array.devices"], &["array.devices"]);
}

#[test]
fn a_bad_policy_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    refused(&["compare", &tiny, "--policies", "local,idea"], &["'idea'", "did you mean 'ideal'?"]);
    let twice = ["compare", &tiny, "--policies", "ideal", "--set", "array.coordination.policy=local"];
    refused(&twice, &["--policies"]);
}

#[test]
fn what_would_not_end_well_is_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let set = |sets: &[&str], expected: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let arguments: Vec<&str> = ["run", &tiny].into_iter().chain(sets).collect();
        refused(&arguments, expected);
    };
    // Hundreds of gigabytes of mapping tables.
    set(
        &["ssd.preset=msr-slc-32g", "ssd.geometry.blocks_per_plane=65536", "array.devices=1024"],
        &["of memory", "array.devices of at most", "ssd.scale = \"1/"],
    );
    // An open loop that no array keeps up with.
    set(
        &["workload.requests=1000000000", "workload.arrival.rate=1e6", "workload.size.mean=1MiB"],
        &["cannot keep up", "an arrival rate of at most", "time_scale", "closed"],
    );
    set(&["workload.warmup=1h"], &["before the warm-up did"]);
    // Known to be wrong from the load alone: said before anything is aged.
    set(&["workload.address.skew=0.5", "array.devices=1"], &["workload.address.skew"]);
}

#[test]
fn seeds_that_cannot_be_counted_are_refused() {
    refused(&["run", "tiny", "--seeds", "0"], &["0 seeds", "1 to 1000"]);
    refused(&["compare", "tiny", "--seeds", "1000000000"], &["1000000000 seeds", "square root"]);
    refused(&["compare", "tiny", "--seeds", "-1"], &["--seeds"]);
    refused(&["compare", "tiny", "--seeds", "many"], &["--seeds <N>"]);
}

#[test]
fn many_threads_are_no_more_than_enough() {
    let (status, _, stderr) = outcome(&mut harmonia(&["run", "tiny", "--threads", "40000", "--json"]));
    assert_eq!(status, Some(0), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_fifo_is_no_scenario() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let fifo = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
    assert!(made.success());
    refused(&["check", fifo.to_str().expect("UTF-8")], &["is a FIFO"]);
}

#[test]
fn check_prints_a_scenario_that_checks() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let (status, resolved, stderr) = outcome(&mut harmonia(&["check", &tiny, "--set", "seed=7"]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let again = folder.path().join("resolved.toml");
    std::fs::write(&again, &resolved).expect("written");
    let (status, _, stderr) = outcome(&mut harmonia(&["check", again.to_str().expect("UTF-8")]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
}

#[test]
fn the_lists_hold_every_registered_policy() {
    let (status, text, _) = outcome(&mut harmonia(&["policies"]));
    assert_eq!(status, Some(0));
    let (status, json, _) = outcome(&mut harmonia(&["policies", "--json"]));
    assert_eq!(status, Some(0));
    let lists: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let named = |list: &str, name: &str| {
        let items = lists[list].as_array().expect("a list");
        items.iter().any(|item| item["name"] == name) && text.contains(&format!("  {name} "))
    };
    for entry in harmonia_array::coordination::REGISTRY {
        assert!(named("coordination", entry.name), "{}", entry.name);
    }
    for entry in harmonia_ssd::gc::victim::REGISTRY {
        assert!(named("victim", entry.name), "{}", entry.name);
    }
    for entry in harmonia_ssd::gc::schedule::REGISTRY {
        assert!(named("schedule", entry.name), "{}", entry.name);
    }
    for entry in harmonia_ssd::gc::concurrency::REGISTRY {
        assert!(named("concurrency", entry.name), "{}", entry.name);
    }
}

#[test]
fn presets_and_formats_are_listed() {
    for (list, name) in [("presets", "hpc-w"), ("formats", "msr")] {
        let (status, text, _) = outcome(&mut harmonia(&[list]));
        assert!(status == Some(0) && text.contains(&format!("  {name} ")), "{list}: {text}");
        let (status, json, _) = outcome(&mut harmonia(&[list, "--json"]));
        assert!(
            status == Some(0) && serde_json::from_str::<serde_json::Value>(&json).is_ok(),
            "{list}: {json}"
        );
    }
}

#[test]
fn help_is_data_and_has_examples() {
    for command in [
        "run",
        "compare",
        "tune",
        "sweep",
        "results",
        "diff",
        "reproduce",
        "policies",
        "presets",
        "formats",
        "check",
        "trace",
        "cache",
        "completions",
        "man",
    ] {
        let (status, stdout, stderr) = outcome(&mut harmonia(&[command, "--help"]));
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{command}");
        assert!(stdout.contains(&format!("Examples:\n  harmonia {command}")), "{command}: {stdout}");
    }
}

#[test]
fn a_reader_that_went_away_ends_the_command_quietly() {
    for arguments in [vec!["policies"], vec!["--help"], vec!["presets", "--json"]] {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let (status, _, stderr) = outcome(harmonia(&arguments).stdout(writer));
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let full = File::options().write(true).open("/dev/full").expect("Linux has one");
    let (status, _, stderr) = outcome(harmonia(&["policies"]).stdout(Stdio::from(full)));
    assert_eq!(status, Some(2));
    assert!(stderr.contains("standard output: No space left on device"), "{stderr}");
}

#[test]
fn colour_is_there_only_when_asked_for_on_a_pipe() {
    let (_, plain, _) = outcome(&mut harmonia(&["policies"]));
    let (_, coloured, _) = outcome(&mut harmonia(&["policies", "--color", "always"]));
    assert!(!plain.contains('\x1b') && coloured.contains("\x1b[1m"));
}
