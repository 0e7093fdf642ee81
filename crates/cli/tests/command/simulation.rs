use std::io::pipe;
use std::process::Stdio;
use std::time::Duration;

use harmonia_metrics::{Comparison, Report};

use super::*;

#[test]
fn json_is_the_report_and_nothing_else() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let (status, json, _) = outcome(&mut harmonia(&["run", &tiny, "--json", "-q"]));
    assert_eq!(status, Some(0));
    let report: Report = serde_json::from_str(&json).expect("a report");
    assert_eq!(report.schema, harmonia_metrics::SCHEMA);
    let policies = ["compare", &tiny, "--json", "--policies", "local,ideal", "--threads", "2"];
    let (status, json, _) = outcome(&mut harmonia(&policies));
    assert_eq!(status, Some(0));
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    let labels: Vec<&str> = comparison.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels, ["local", "ideal"]);
}

#[test]
fn a_table_goes_to_stdout_and_a_pipe_gets_neither_colour_nor_progress() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let (status, table, stderr) = outcome(&mut harmonia(&["compare", &tiny]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    for part in
        ["local", "reactive-inclusive", "reactive-selective", "ideal", "p99.99", "GC queue", "baseline"]
    {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!table.contains('\x1b'));
}

#[test]
fn a_sweep_runs_every_value_under_every_policy() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let sweep =
        ["compare", &tiny, "--json", "--policies", "local,ideal", "--set", "ssd.gc.domain=die,device"];
    let (status, json, stderr) = outcome(&mut harmonia(&sweep));
    assert_eq!(status, Some(0), "{stderr}");
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    let labels: Vec<&str> = comparison.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert!(labels[0].starts_with("local ") && labels[0].contains("die"), "{labels:?}");
    assert!(labels[3].starts_with("ideal ") && labels[3].contains("device"), "{labels:?}");
}

#[test]
fn seeds_give_one_row_a_policy_and_every_report_in_json() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let compare = ["compare", &tiny, "--policies", "local,ideal", "--seeds", "3"];
    let (status, table, stderr) = outcome(&mut harmonia(&compare));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert!(table.contains("seeds 1 to 3") && table.contains("Means over 3 seeds"), "{table}");
    let (status, json, _) = outcome(&mut harmonia(&[&compare[..], &["--json"]].concat()));
    assert_eq!(status, Some(0));
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    let seeds: Vec<u64> = comparison.runs.iter().map(|run| run.seed).collect();
    assert_eq!((seeds, comparison.intervals.variants.len()), (vec![1, 2, 3, 1, 2, 3], 2));
    let (status, json, _) = outcome(&mut harmonia(&["run", &tiny, "--seeds", "2", "--json"]));
    assert_eq!(status, Some(0));
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison of one scenario");
    assert_eq!(comparison.runs.len(), 2);
    let (status, table, _) = outcome(&mut harmonia(&["run", &tiny, "--seeds", "2"]));
    assert!(
        status == Some(0) && table.contains("Means over 2 seeds") && !table.contains("vs first"),
        "{table}"
    );
}

#[test]
fn out_writes_three_whole_files_and_nothing_else() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("new/results");
    let out_text = out.to_str().expect("UTF-8");
    let (status, json, stderr) = outcome(&mut harmonia(&["compare", &tiny, "--json", "--out", out_text]));
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(names_in(&out), ["report.html", "report.json", "scenario.toml"]);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).expect("readable");
    assert_eq!(read("report.json"), json, "the file and stdout hold the same report");
    assert!(read("report.html").starts_with("<!doctype html>") && read("report.html").ends_with("</html>\n"));
    let scenario = out.join("scenario.toml");
    let (status, _, stderr) = outcome(&mut harmonia(&["check", scenario.to_str().expect("UTF-8")]));
    assert_eq!(status, Some(0), "the scenario written is one that can be run: {stderr}");
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_with_path_and_reason() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    refused(&["run", &tiny, "--out", &tiny], &[&tiny, "is a file, not a folder"]);
    refused(&["run", &tiny, "--out", "/proc/harmonia"], &["/proc/harmonia", "cannot write there: "]);
    let below = format!("{tiny}/below");
    refused(&["run", &tiny, "--out", &below], &[&below, "Not a directory"]);
}

#[test]
fn a_write_that_fails_half_way_leaves_no_partial_file() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("results");
    // A limit of one block stands in for a full disk: the kernel refuses what goes beyond.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" run \"$1\" --out \"$2\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_harmonia"), &tiny]).arg(&out);
    let (status, _, stderr) = outcome(&mut command);
    assert_eq!(status, Some(2), "{stderr}");
    let report = out.join("report.json");
    assert!(stderr.contains(&format!("cannot write {}: File too large", report.display())), "{stderr}");
    assert_eq!(names_in(&out), Vec::<String>::new());
}

#[test]
fn files_are_written_even_if_the_reader_of_the_table_went_away() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("results");
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    let (status, _, stderr) = outcome(harmonia(&["run", &tiny, "--out"]).arg(&out).stdout(writer));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert_eq!(names_in(&out).len(), 3);
}

#[test]
fn ctrl_c_ends_with_130_one_word_and_no_file() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("results");
    let mut command = harmonia(&["run", &tiny, "--set", "workload.requests=999999999", "--out"]);
    let child = command.arg(&out).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // The folder appears once Ctrl-C is listened for and before the simulation begins.
    while !out.is_dir() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(killed.expect("sh").success());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n");
    assert_eq!((output.stdout.len(), names_in(&out)), (0, Vec::new()));
}

/// A trace named relative to where the command ran is found again from where its result lies.
#[test]
fn the_scenario_of_a_result_runs_again_from_anywhere() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let trace = "128166372003061629,h,0,Write,0,8192,1\n128166372013061629,h,0,Read,4096,4096,1\n";
    std::fs::write(folder.path().join("t.csv"), trace).expect("written");
    let set = "ssd.preset=tiny-test";
    let run = ["run", "msr-trace", "--trace", "t.csv", "--set", set, "--out", "results", "-q"];
    let (status, _, stderr) = outcome(harmonia(&run).current_dir(folder.path()));
    assert_eq!(status, Some(0), "{stderr}");
    let scenario = folder.path().join("results/scenario.toml");
    let (status, _, stderr) = outcome(&mut harmonia(&["run", scenario.to_str().expect("UTF-8"), "-q"]));
    assert_eq!(status, Some(0), "{stderr}");
}
