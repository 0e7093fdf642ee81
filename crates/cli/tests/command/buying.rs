//! An array of drives that is named in a few words, instead of a scenario.

use std::fmt::Write;

use super::*;

/// A trace of writes and reads on the first MiB, as the format csv has it.
fn trace_in(folder: &Path) -> String {
    let mut rows = String::from("time,op,offset,size\n");
    for row in 0..4_000_u64 {
        let (op, page) = (if row % 3 == 0 { "R" } else { "W" }, row * 7_919 % 256);
        writeln!(rows, "{},{op},{},4096", row * 2_000, page * 4096).expect("a string");
    }
    let path = folder.join("trace.csv");
    std::fs::write(&path, rows).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

const READING: [&str; 4] = ["--columns", "time,op,offset,size", "--time-unit", "us"];
const ARRAY: [&str; 6] = ["--drive", "tiny-test", "--count", "4", "--level", "raid5"];

#[test]
fn an_array_needs_no_scenario() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let trace = trace_in(folder.path());
    let arguments = [&["run", "--trace", &trace], &READING[..], &ARRAY, &["--chunk", "16KiB"]].concat();
    let (status, table, stderr) = outcome(&mut harmonia(&arguments));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(table.starts_with("4 x tiny-test, raid5: 39.0 MiB usable"), "{table}");
    assert!(stderr.contains("assumed: drives are 100% full") && !stderr.contains("chunk"), "{stderr}");
    // What is said is not assumed.
    let (status, _, stderr) = outcome(harmonia(&arguments).args(["--set", "precondition.fill=0.5"]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    for command in ["compare", "lifetime", "check"] {
        let mut command = harmonia(&[&[command, "--trace", &trace], &READING[..], &ARRAY].concat());
        let (status, text, stderr) = outcome(command.args(["--set", "ssd.rating.cycles=3000"]));
        assert_eq!(status, Some(0), "{stderr}");
        assert!(!text.is_empty() && stderr.contains("assumed: a chunk of 512KiB (--chunk)"), "{stderr}");
    }
}

#[test]
fn what_does_not_go_together_is_told() {
    let with = |arguments: &[&'static str]| [&["run"], arguments].concat();
    refused(&with(&[]), &["neither a scenario nor an array is named", "--drive samsung-pm9a3-960g"]);
    refused(
        &with(&["tiny", "--drive", "tiny-test"]),
        &["--drive: `tiny` says already", "--set array.devices=6"],
    );
    refused(&with(&["tiny", "--chunk", "64KiB"]), &["--chunk: `tiny` says already"]);
    refused(&with(&["--drive", "tiny-test"]), &["--count and --level are missing"]);
    refused(&with(&["--drive", "tiny-test", "--count", "4"]), &["--level is missing"]);
    refused(&with(&ARRAY), &["--drive: nothing says what the array has to do", "--trace FILE"]);
    let load = ["--set", "workload.preset=hpc-w"];
    let array = |drive, count, level| {
        [&with(&["--drive", drive, "--count", count, "--level", level])[..], &load].concat()
    };
    refused(&array("tiny-tst", "4", "raid5"), &["--drive tiny-tst", "did you mean `tiny-test`?"]);
    refused(&array("tiny-test", "2", "raid5"), &["--count 2: raid5 left-symmetric needs at least 3 members"]);
    refused(&array("tiny-test", "4", "raid55"), &["--level raid55", "raid5"]);
    refused(&array("tiny-test", "-4", "raid5"), &["--count"]);
    refused(&[&array("tiny-test", "4", "raid5")[..], &["--chunk", "1TiB"]].concat(), &["--chunk 1TiB"]);
}
