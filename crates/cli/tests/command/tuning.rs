//! Does `harmonia tune` print what it found, write whole files, and refuse what it cannot search?

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{harmonia, names_in, outcome, refused, tiny_in};

const SMALL: [&str; 12] = [
    "--set",
    "workload.requests=1500",
    "--set",
    "array.devices=2",
    "--objective",
    "mean",
    "--over",
    "ssd.gc.min_victims=1..8",
    "--seeds",
    "3",
    "--budget",
    "60",
];

#[test]
fn a_search_prints_a_table_and_writes_the_best_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = tiny_in(folder.path());
    let out = folder.path().join("tuned");
    let out = out.to_str().expect("UTF-8");
    let arguments = [&["tune", scenario.as_str()], &SMALL[..], &["--out", out]].concat();
    let (status, stdout, stderr) = outcome(&mut harmonia(&arguments));
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "nothing but data on a pipe");
    for part in ["as it stands", "min_victims=", "held out", "Tried ", "best      --set ssd.gc.min_victims="]
    {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    assert_eq!(names_in(out.as_ref()), ["runs", "tune.json", "tune.svg", "tuned.toml"]);
    let read = |name: &str| std::fs::read_to_string(format!("{out}/{name}")).expect("written");
    let before = read("tune.json");
    let (status, json, _) = outcome(&mut harmonia(&[&arguments[..], &["--json", "--threads", "1"]].concat()));
    assert_eq!((status, json.as_str()), (Some(0), before.as_str()), "again, from kept runs, on one thread");
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let best = report["best"]["sets"][0].as_str().expect("a set").to_owned();
    let tuned = format!("{out}/tuned.toml");
    let (status, resolved, stderr) = outcome(&mut harmonia(&["check", &tuned]));
    assert_eq!(status, Some(0), "{stderr}");
    let value = best.split('=').next_back().expect("a value");
    assert!(resolved.contains(&format!("min_victims = {value}\n")), "{best}: {resolved}");
}

#[test]
fn what_cannot_be_searched_is_refused_before_anything_runs() {
    let with = |objective: &'static str, over: &'static str| {
        ["tune", "tiny", "--objective", objective, "--over", over]
    };
    refused(&with("p98", "ssd.gc.min_victims=1..8"), &["`p98`", "did you mean", "write-amplification"]);
    refused(&with("p99", "ssd.gc.min_victims=8..1"), &["--over ssd.gc.min_victims=8..1", "allowed"]);
    refused(&with("p99", "ssd.gc.min_victim=1..8"), &["did you mean `min_victims`"]);
    refused(&["tune", "tiny", "--objective", "p99"], &["--over"]);
    refused(
        &[&with("p99", "ssd.gc.min_victims=1..8")[..], &["--budget", "9"]].concat(),
        &["--budget 9", "at least"],
    );
    refused(&["tune", "nowhere", "--objective", "p99", "--over", "a=1..2"], &["`nowhere`"]);
}

#[test]
fn ctrl_c_keeps_finished_runs_and_nothing_half() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = tiny_in(folder.path());
    let out = folder.path().join("tuned");
    let long = ["--set", "workload.requests=999999999", "--out"];
    let fixed = ["tune", scenario.as_str(), "--objective", "mean", "--over", "ssd.gc.min_victims=1..8"];
    let mut command = harmonia(&[&fixed[..], &long[..]].concat());
    let child = command.arg(&out).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    while !out.join("runs").is_dir() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(killed.expect("sh").success());
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("finished runs are kept in ") && stderr.ends_with("interrupted\n"),
        "{stderr}"
    );
    assert_eq!(names_in(&out), ["runs"]);
}
