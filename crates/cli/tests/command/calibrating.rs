//! A drive of one's own: which files the command takes, and what it writes. Whether figures are found again is tested beside them.

use super::*;

/// Reads at depth 1, whose page types and nothing else are told.
const READS: &str = r#"{"jobs": [{"jobname": "idle", "job options": {"rw": "randread", "bs": "4k"},
    "read": {"iops": 15000, "clat_ns": {"bins": {"60000": 10, "63000": 10, "72000": 10}}}}]}"#;

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_plan_is_printed() {
    for night in [false, true] {
        let arguments = [&["calibrate", "plan"][..], if night { &["--night"] } else { &[] }].concat();
        let (status, plan, stderr) = outcome(&mut harmonia(&arguments));
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        assert!(plan.contains("[fill]") && plan.contains("filename=${DRIVE}"), "{plan}");
        assert_eq!(plan.contains("runtime=6h"), night);
    }
}

#[test]
fn what_cannot_be_used_is_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let reads = put(folder.path(), "reads.json", READS);
    let sheet = put(folder.path(), "sheet.toml", "[drive]\ncapacity = \"960GB\"\n");
    let typo = put(folder.path(), "typo.toml", "[drive]\ncapacty = \"960GB\"\n");
    let broken = put(folder.path(), "broken.json", "{\"jobs\": [}\n");
    let out = folder.path().join("drive.toml");
    let out_text = out.to_str().expect("UTF-8");
    refused(&["calibrate"], &["required", "<FILE>"]);
    refused(&["calibrate", &sheet], &["no file has a measurement", "harmonia calibrate plan"]);
    refused(&["calibrate", &reads, &typo, "--out", out_text], &["typo.toml:2", "unknown field `capacty`"]);
    refused(&["calibrate", &broken, "--out", out_text], &["broken.json:1", "is not the JSON of fio"]);
    refused(&["calibrate", &sheet, &sheet], &["sheet.toml: a data sheet was given before"]);
    refused(
        &["calibrate", &reads, "--hold-out", "beside", "--out", out_text],
        &["--hold-out beside", "allowed: none, idle"],
    );
    refused(&["calibrate", "nowhere.json"], &["nowhere.json: cannot be read"]);
    assert!(!out.exists(), "nothing is written");
}

/// From reads alone: page types in sum with the link, and everything else as it was.
#[test]
fn a_device_file_says_how_each_figure_is_known() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let reads = put(folder.path(), "reads.json", READS);
    let sheet = put(folder.path(), "sheet.toml", "[drive]\nname = \"mine\"\ncapacity = \"100GB\"\n");
    let out = folder.path().join("drive.toml");
    let out_text = out.to_str().expect("UTF-8");
    let (status, table, stderr) = outcome(&mut harmonia(&["calibrate", &reads, &sheet, "--out", out_text]));
    assert_eq!(status, Some(0), "{stderr}");
    for says in [
        "mine: figures of modern-tlc-1t",
        "identified by idle, in sum with link.latency",
        "not identified: default",
    ] {
        assert!(table.contains(says), "{says}: {table}");
    }
    let file = std::fs::read_to_string(&out).expect("written");
    // 60 us less 8 of the link, 2.56 of the bus and 0.63 for 4 KiB over the link.
    assert!(file.contains("timing.read = [\"48.81us\", \"51.81us\", \"60.81us\"]"), "{file}");
    let (_, json, _) = outcome(&mut harmonia(&["calibrate", &reads, &sheet, "--json"]));
    assert!(
        json.contains("\"schema\": \"harmonia-calibration/1\"") && json.contains("\"known\": \"identified\""),
        "{json}"
    );
    refused(&["calibrate", &reads, "--out", out_text], &["exists; --force replaces it"]);
    let array =
        ["check", "--drive", out_text, "--count", "4", "--level", "raid5", "--set", "workload.preset=hpc-w"];
    let (status, scenario, stderr) = outcome(&mut harmonia(&array));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(scenario.contains("4 x drive.toml, raid5"), "{scenario}");
}
