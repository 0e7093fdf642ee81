//! Does `harmonia sweep` run what is missing, say how others may run it, and tell what came of it?

use std::fs;
use std::path::Path;

use crate::{harmonia, names_in, outcome, refused};

const SWEEP: &str = "scenario = \"tiny\"\npolicies = [\"local\", \"ideal\"]\nseeds = 2\n[set]\nworkload.requests = 300\n\
                     [axes]\narray.devices = [2, 4]\n";

fn written(folder: &Path) -> (String, String) {
    let file = folder.join("my sweep.toml");
    fs::write(&file, SWEEP).expect("written");
    (file.display().to_string(), folder.join("results").display().to_string())
}

fn done(arguments: &[&str]) -> String {
    let (status, stdout, stderr) = outcome(&mut harmonia(arguments));
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{arguments:?}");
    stdout
}

#[test]
fn a_sweep_is_run_once_and_its_results_are_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = written(folder.path());
    let stdout = done(&["sweep", &file, "--out", &out]);
    for part in ["ideal array.devices=4", "mean ms", "8 points run; 0 were there"] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    let names = names_in(out.as_ref());
    assert_eq!((names.len(), names.last().map(String::as_str)), (9, Some("results.parquet")));
    let again = done(&["sweep", &file, "--out", &out, "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!(again, serde_json::json!({ "run": 0, "known": 8, "refused": 0 }));
    let rows = done(&["results", "ls", &out, "--json"]);
    let rows: Vec<serde_json::Value> = serde_json::from_str(&rows).expect("JSON");
    let row =
        rows.iter().find(|row| row["policy"] == "ideal" && row["array.devices"] == 4 && row["seed"] == 2);
    let address = row.expect("a row")["address"].as_str().expect("text");
    let report = done(&["results", "show", &out, &address[..10], "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let alone = ["--set", "array.devices=4", "--set", "workload.requests=300", "--set", "seed=2"];
    let ideal =
        ["--set", "array.coordination.policy=local", "--set", "ssd.gc.schedule=ideal", "--json", "--quiet"];
    let alone = done(&[&["run", "tiny"], &alone[..], &ideal[..]].concat());
    let alone: serde_json::Value = serde_json::from_str(&alone).expect("JSON");
    assert_eq!((&report["host"], &report["scenario"]), (&alone["host"], &alone["scenario"]));
    let table = folder.path().join("table.parquet").display().to_string();
    let (status, _, stderr) = outcome(&mut harmonia(&["results", "export", &out, "--out", &table]));
    assert_eq!((status, stderr.contains("8 runs written")), (Some(0), true), "{stderr}");
    assert_eq!(fs::read(&table).expect("there"), fs::read(format!("{out}/results.parquet")).expect("there"));
}

#[test]
fn results_are_exported_as_csv_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = written(folder.path());
    done(&["sweep", &file, "--out", &out, "--point", "0,3"]);
    let table = folder.path().join("table.csv").display().to_string();
    done(&["results", "export", &out, "--out", &table, "--quiet"]);
    let text = fs::read_to_string(table).expect("written");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("address,version,label,policy,seed,refused,array.devices,requests,"),
        "{text}"
    );
    assert!(lines.iter().any(|line| line.contains(",ideal array.devices=2,ideal,2,,2,")), "{text}");
}

/// The commands are words for a shell, although the name of the file has a blank.
#[test]
fn each_missing_point_has_a_command_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = written(folder.path());
    assert_eq!(done(&["sweep", &file, "--out", &out, "--point", "0,5"]), "2 points run; 0 were there\n");
    assert_eq!(done(&["sweep", &file, "--out", &out, "--shard", "1/4", "--quiet"]).lines().count(), 1);
    let commands = done(&["sweep", &file, "--out", &out, "--commands"]);
    let missing = 9 - names_in(out.as_ref()).len() - 1;
    assert_eq!(commands.lines().count(), missing);
    let binary = env!("CARGO_BIN_EXE_harmonia");
    for line in commands.lines() {
        let command = line.strip_prefix("harmonia ").expect("the command");
        let ended = std::process::Command::new("sh")
            .args(["-c", &format!("'{binary}' {command}")])
            .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
            .status();
        assert!(ended.expect("a shell").success(), "{line}");
    }
    let jobs = done(&["sweep", &file, "--out", &out, "--commands", "--json"]);
    assert_eq!(jobs, "[]\n");
    assert_eq!(names_in(out.as_ref()).len(), 8, "single points write no table");
}

#[test]
fn a_difference_is_told_in_words_and_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, sets: &[&str]| {
        let path = folder.path().join(name).display().to_string();
        let text = done(
            &[&["compare", "tiny", "--policies", "local,ideal", "--seeds", "3", "--json", "--quiet"], sets]
                .concat(),
        );
        fs::write(&path, text).expect("written");
        path
    };
    let a = write("a.json", &["--set", "workload.requests=500"]);
    let b = write("b.json", &["--set", "workload.requests=500", "--set", "workload.read_fraction=0.9"]);
    let text = done(&["diff", &a, &b]);
    for part in
        ["workload.read_fraction", "0.3", "0.9", "local: seeds 1, 2, 3", "erases", "differs", "95% interval"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: serde_json::Value = serde_json::from_str(&done(&["diff", &a, &b, "--json"])).expect("JSON");
    assert_eq!(json["pairs"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["pairs"][0]["scenario"][0]["key"], "workload.read_fraction");
    let same = done(&["diff", &a, &a]);
    assert!(same.contains("The scenarios are the same.") && !same.contains("differs"), "{same}");
}

#[test]
fn what_is_no_sweep_and_no_result_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, out) = written(folder.path());
    refused(&["sweep", "missing.toml", "--out", &out], &["`missing.toml` cannot be read", "allowed"]);
    refused(&["sweep", &file, "--out", &out, "--point", "8"], &["--point 8", "0 to 7"]);
    refused(&["sweep", &file, "--out", &out, "--shard", "5/4"], &["--shard", "counted from 1 to 4"]);
    refused(&["sweep", &file, "--out", &out, "--set", "array.devices=3"], &["the sweep varies this key"]);
    refused(&["sweep", &file, "--out", &file], &["cannot keep results in"]);
    refused(&["results", "ls", "missing"], &["`missing` is not a folder of results"]);
    refused(&["diff", "missing.json", &file], &["`missing.json`", "allowed"]);
    refused(&["diff", &file, &file], &["is not JSON"]);
    let bad = folder.path().join("bad.toml").display().to_string();
    fs::write(&bad, SWEEP.replace("[2, 4]", "[2, 0]")).expect("written");
    refused(&["sweep", &bad, "--out", &out], &["bad.toml:7:", "`array.devices` = 0", "allowed"]);
    assert!(!Path::new(&out).exists(), "nothing was run");
}
