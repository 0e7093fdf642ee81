use std::collections::BTreeMap;
use std::fs::File;
use std::process::Stdio;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use harmonia_metrics::{Comparison, Report};
use harmonia_types::Counters;

use super::*;

/// Every row of a file as name and value; numbers as such, other values as text.
pub fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let file = SerializedFileReader::new(File::open(path).expect("there")).expect("a Parquet file");
    let text = |field: &Field| match field {
        Field::Str(text) => text.clone(),
        other => other.to_string(),
    };
    let row = |row: ::parquet::record::Row| {
        row.get_column_iter().map(|(name, field)| (name.clone(), text(field))).collect()
    };
    file.get_row_iter(None).expect("readable").map(|each| row(each.expect("a row"))).collect()
}

pub fn number(row: &BTreeMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {:?}", row[column]))
}

/// What the rows of one run sum to is what its report says.
fn agree(report: &Report, requests: &[BTreeMap<String, String>], intervals: &[BTreeMap<String, String>]) {
    let sum = |column: &str| requests.iter().map(|row| number(row, column)).sum::<u64>();
    let of = |operation: &str| requests.iter().filter(|row| row["operation"] == operation).count() as u64;
    assert_eq!(requests.len() as u64, report.host.requests);
    assert_eq!((of("read"), of("write")), (report.host.read_requests, report.host.write_requests));
    assert_eq!(sum("length"), report.host.bytes_read + report.host.bytes_written);
    let blame = &report.host.blame_ns;
    for (part, ns) in blame.values() {
        assert_eq!(u128::from(sum(part.column)), ns, "{}", part.column);
    }
    assert_eq!(u128::from(sum("response_ns")), blame.total());
    let affected = requests.iter().filter(|row| row["gc_affected"] == "true").count() as u64;
    let response = &report.host.response_ns;
    assert_eq!(affected, response.gc_affected_read.count + response.gc_affected_write.count);
    let met = requests.iter().filter(|row| row["met_gc"] == "true").count() as u64;
    assert_eq!(met, response.met_gc_read.count + response.met_gc_write.count);
    for (member, device) in report.devices.iter().enumerate() {
        let waited = requests.iter().filter(|row| row["gc_member"] == member.to_string()).count() as u64;
        assert_eq!(waited, device.gc_waits.requests, "member {member}");
    }
    let nobody = requests.iter().filter(|row| row["gc_member"] == "null").count() as u64;
    let somebody: u64 = report.devices.iter().map(|device| device.gc_waits.requests).sum();
    assert_eq!((nobody + somebody, somebody > 0), (report.host.requests, true));
    for row in requests {
        assert_eq!(row["gc_affected"] == "true", number(row, "queue_gc_ns") > 0);
        assert_eq!(number(row, "finish_ns") - number(row, "arrival_ns"), number(row, "response_ns"));
    }
    // Time in garbage collection: intervals cut at the window's end, against the shares of the report.
    let from = requests.iter().map(|row| number(row, "arrival_ns")).min().expect("requests");
    let until = from + report.simulated_ns;
    let cut = |row: &BTreeMap<String, String>| {
        number(row, "end_ns").min(until).saturating_sub(number(row, "start_ns"))
    };
    let collecting: u64 = intervals.iter().map(cut).sum();
    let shares = report.array.devices_in_gc_fraction.iter().enumerate();
    let expected: f64 = shares.map(|(devices, share)| devices as f64 * share).sum();
    let expected = expected * report.simulated_ns as f64;
    assert!(collecting > 0, "the scenario collects");
    assert!((collecting as f64 / expected - 1.0).abs() < 1e-9, "{collecting} against {expected}");
}

#[test]
fn columns_sum_to_the_report_and_their_bytes_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let written = |threads: &str| {
        let out = folder.path().join(format!("threads-{threads}"));
        let mut command =
            harmonia(&["compare", &tiny, "--policies", "local,reactive-inclusive", "--parquet"]);
        command.args(["--seeds", "2", "--threads", threads, "-q", "--out"]).arg(&out);
        let (status, _, stderr) = outcome(&mut command);
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        out
    };
    let out = written("1");
    let json = std::fs::read_to_string(out.join("report.json")).expect("there");
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    let (requests, intervals) =
        (rows(&out.join("requests.parquet")), rows(&out.join("gc_intervals.parquet")));
    for report in &comparison.runs {
        let is_its =
            |row: &BTreeMap<String, String>| row["run"] == report.label && number(row, "seed") == report.seed;
        let of = |rows: &[BTreeMap<String, String>]| {
            rows.iter().filter(|row| is_its(row)).cloned().collect::<Vec<_>>()
        };
        agree(report, &of(&requests), &of(&intervals));
    }
    assert_eq!(requests.len() as u64, comparison.runs.iter().map(|run| run.host.requests).sum::<u64>());
    let three = written("3");
    for name in ["requests.parquet", "gc_intervals.parquet"] {
        let bytes = |out: &Path| std::fs::read(out.join(name)).expect("there");
        assert!(bytes(&out) == bytes(&three), "{name}");
    }
}

/// More rows than a row group holds, and a run whose label is made for the report.
#[test]
fn a_long_run_has_several_row_groups() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("out");
    let set = ["workload.requests=140000", "workload.read_fraction=1"];
    let mut command = harmonia(&["run", &tiny, "--set", set[0], "--set", set[1], "--parquet", "-q", "--out"]);
    let (status, _, stderr) = outcome(command.arg(&out));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let path = out.join("requests.parquet");
    let file = SerializedFileReader::new(File::open(&path).expect("there")).expect("a Parquet file");
    assert!(file.metadata().num_row_groups() > 1);
    let json = std::fs::read_to_string(out.join("report.json")).expect("there");
    let report: Report = serde_json::from_str(&json).expect("a report");
    let rows = rows(&path);
    assert_eq!(rows.len() as u64, report.host.requests);
    assert!(rows.iter().all(|row| row["run"] == report.label && row["operation"] == "read"));
}

#[test]
fn columns_need_a_folder() {
    refused(&["run", "tiny", "--parquet"], &["--out"]);
}

/// A disk that gives out while runs write ends the command early and leaves nothing.
#[test]
fn a_full_disk_leaves_no_columns() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("results");
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" run \"$1\" --parquet --set workload.requests=999999999 --out \"$2\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_harmonia"), &tiny]).arg(&out);
    let (status, _, stderr) = outcome(&mut command);
    assert_eq!(status, Some(2), "{stderr}");
    let requests = out.join("requests.parquet");
    assert!(stderr.contains(&format!("cannot write {}: ", requests.display())), "{stderr}");
    assert_eq!(names_in(&out), Vec::<String>::new());
}

#[test]
fn ctrl_c_leaves_no_columns() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("results");
    let mut command = harmonia(&["run", &tiny, "--set", "workload.requests=999999999", "--parquet", "--out"]);
    let child = command.arg(&out).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    while !out.is_dir() || names_in(&out).len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
    assert!(killed.expect("sh").success());
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(names_in(&out), Vec::<String>::new());
}
