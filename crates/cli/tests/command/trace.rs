use harmonia_trace::FORMATS;

use super::*;

const START: u64 = 128_166_372_003_061_629;

/// A hundred requests in the units of MSR, 1 ms apart, on two disks.
fn rows() -> String {
    let row = |i: u64| {
        let kind = if i.is_multiple_of(4) { "Write" } else { "Read" };
        format!("{},web,{},{kind},{},8192,1\n", START + i * 10_000, i % 2, i * 37 % 50 * 4096)
    };
    (0..100).map(row).collect()
}

fn path_of(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let (status, stdout, stderr) = outcome(&mut harmonia(arguments));
    assert_eq!(status, Some(0), "{arguments:?}: {stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

#[test]
fn a_trace_is_summarised_and_the_format_found_is_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = path_of(folder.path(), "web.csv", rows().as_bytes());
    let (status, text, stderr) = outcome(&mut harmonia(&["trace", "info", &path]));
    assert_eq!(status, Some(0));
    assert!(text.contains("requests     100\n") && text.contains("reads        75.0%\n"), "{text}");
    assert!(text.contains("warning: it has 2 volumes"), "{text}");
    assert!(text.contains("begins       2007-02-22 17:00:00 UTC\n"), "{text}");
    assert!(stderr.starts_with(&format!("{path}: read as msr, because its 100 lines all fit")), "{stderr}");
    for quiet in [&["trace", "info", &path, "-q"][..], &["trace", "info", &path, "--format", "msr"]] {
        assert_eq!(outcome(&mut harmonia(quiet)), (Some(0), text.clone(), String::new()));
    }
    let info =
        json(&["trace", "info", &path, "--json", "--volume", "web_1", "--start", "10ms", "--end", "20ms"]);
    assert_eq!((&info["rows"], &info["format"], &info["volumes"]), (&5.into(), &"msr".into(), &1.into()));
    assert_eq!(info["operations"]["writes"], 0);
    // The eleventh request is the first of the window, and the twelfth that of the volume.
    assert_eq!(info["begins_utc_ns"], 1_172_163_600_306_162_900u64 + 11_000_000);
    let relative = path_of(folder.path(), "relative.log", b"fio version 3 iolog\n5 /dev/x write 0 4096\n");
    assert!(json(&["trace", "info", &relative, "--json"])["begins_utc_ns"].is_null());
    assert!(!outcome(&mut harmonia(&["trace", "info", &relative])).1.contains("begins"));
    let scaled = json(&[
        "trace",
        "info",
        &path,
        "--json",
        "--format",
        "msr",
        "--time-unit",
        "10ns",
        "--size-unit",
        "1KiB",
    ]);
    assert_eq!((&scaled["span_s"], &scaled["mean_size_bytes"]["all"]), (&0.0099.into(), &8_388_608.0.into()));
}

#[test]
fn several_files_and_patterns_are_one_trace() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let all = rows();
    let (first, second) = all.split_at(all.len() / 2 + 1 + all[all.len() / 2..].find('\n').expect("a line"));
    let one = path_of(folder.path(), "web-1.csv", first.as_bytes());
    let two = path_of(folder.path(), "web-2.csv", second.as_bytes());
    let pattern = folder.path().join("web-*.csv");
    for files in [vec![one.as_str(), two.as_str()], vec![pattern.to_str().expect("UTF-8")]] {
        let info = json(&[&["trace", "info", "--json"][..], &files].concat());
        assert_eq!((&info["rows"], &info["files"], &info["volumes"]), (&100.into(), &2.into(), &2.into()));
    }
    let info = json(&["trace", "info", "--json", &one, &two, "--same-volumes", "false"]);
    assert_eq!(info["volumes"], 4);
}

#[test]
fn the_first_records_are_shown_as_they_were_understood() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = path_of(folder.path(), "web.csv", rows().as_bytes());
    let (status, text, stderr) = outcome(&mut harmonia(&["trace", "head", &path, "-n", "3", "-q"]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let expected = "\
at           time s  volume  operation  offset  size
line 1  0.000000000   web_0      write       0  8192
line 2  0.001000000   web_1       read  151552  8192
line 3  0.002000000   web_0       read   98304  8192
";
    assert_eq!(text, expected);
    let (_, lines, _) = outcome(&mut harmonia(&["trace", "head", &path, "--json", "-q"]));
    let objects: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects.len(), 10);
    assert_eq!((&objects[1]["line"], &objects[1]["time_ns"]), (&2.into(), &1_000_000.into()));
    assert_eq!((&objects[1]["volume"], &objects[1]["operation"]), (&"web_1".into(), &"read".into()));
    refused(&["trace", "head", &path, "-n", "0"], &["1..=100000"]);
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let of = |name: &str, content: &[u8]| path_of(folder.path(), name, content);
    let good = of("good.csv", rows().as_bytes());
    let directory = folder.path().to_str().expect("UTF-8");
    let empty = of("empty.csv", b"");
    let truncated = of("cut.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    let bad = of("bad.csv", (rows() + "1,web,0,Read,0,4096\n").as_bytes());
    let text = of("novel.txt", b"It was a dark and stormy night.\n");
    for command in ["info", "head", "fit"] {
        let refuse =
            |more: &[&str], says: &[&str]| refused(&[&["trace", command, "-q"], more].concat(), says);
        refuse(&[directory], &[directory, "is a directory"]);
        refuse(&["/nowhere/web.csv"], &["/nowhere/web.csv", "No such file"]);
        refuse(&["/nowhere/*.csv"], &["matches no file"]);
        refuse(&[&empty], &[&empty, "is empty"]);
        refuse(&[&truncated, "--format", "msr"], &[&truncated, "truncated"]);
        refuse(&[&text], &["dark and stormy", "none of the known trace formats"]);
        refuse(&[&good, "--format", "nonsense"], &["`nonsense` is not a trace format", "msr"]);
        refuse(&[&good, "--read-is", "1"], &["format `msr` has no value for reads to choose"]);
        refuse(&[&good, "--time-unit", "fortnight"], &["--time-unit", "`fortnight` is not a unit of time"]);
        refuse(&[&good, "--time-unit", "2h"], &["a time unit of 7200s is not possible: choose 1ns to 1h"]);
        refuse(&[&good, "--start", "2s", "--end", "1s"], &["--start 2s: is not before --end 1s"]);
        refuse(&[&good, "--start", "1s", "--end", "1000ms"], &["--start 1s: is not before --end 1s"]);
        refuse(&[&good, "--volume", "web_7"], &["has no request of volume `web_7`", "web_0, web_1"]);
    }
    refused(&["trace", "info", "-q", &bad], &[&format!("{bad}:101: found the end of the line")]);
    let (status, text, _) = outcome(&mut harmonia(&["trace", "info", "-q", &bad, "--skip-bad", "1"]));
    assert_eq!(status, Some(0));
    assert!(text.contains(&format!("bad rows     1 tolerated, the first: {bad}:101: found")), "{text}");
}

#[cfg(unix)]
#[test]
fn a_fifo_is_refused_without_waiting() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let fifo = folder.path().join("fifo.csv");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    refused(&["trace", "info", fifo.to_str().expect("UTF-8")], &["not a regular file"]);
}

/// The same columns in other units: only a person knows.
#[test]
fn what_two_formats_fit_must_be_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let lines: String = (0..20).map(|i| format!("{} 0 {} 8 {}\n", i * 1000, i * 8, i % 2)).collect();
    let path = path_of(folder.path(), "x.trace", lines.as_bytes());
    refused(&["trace", "info", &path], &["fits more than one format", "disksim", "mqsim"]);
    json(&["trace", "info", &path, "--format", "mqsim", "--json"]);
}

#[test]
fn a_trace_is_converted_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = path_of(folder.path(), "web.csv", rows().as_bytes());
    let out = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    refused(&["trace", "convert", &path, "--out", &out("a.xyz")], &["does not tell the format"]);
    refused(
        &["trace", "convert", &path, "--out", &out("a"), "--to", "xyz"],
        &["`xyz` is not a trace format"],
    );
    for format in FORMATS.iter().filter(|format| format.write.is_some()) {
        let name = format.name;
        let out = out(&format!("web.{name}"));
        let convert = ["trace", "convert", &path, "--to", name, "--out", &out, "-q"];
        let done = json(&[&convert[..], &["--json"]].concat());
        assert_eq!((&done["rows"], &done["written"]), (&100.into(), &100.into()), "{name}");
        assert_eq!(done["bytes"], std::fs::metadata(&out).expect("there").len());
        let info = json(&["trace", "info", &out, "--format", name, "--json"]);
        assert_eq!((&info["rows"], &info["read_percent"]), (&100.into(), &75.0.into()), "{name}");
        refused(&convert, &["exists; --force replaces it"]);
        json(&[&convert[..], &["--json", "--force"]].concat());
        // A trace that turns out bad leaves what was there.
        let bad = path_of(folder.path(), "bad.csv", (rows() + "x\n").as_bytes());
        let before = std::fs::read(&out).expect("there");
        refused(&["trace", "convert", &bad, "--to", name, "--out", &out, "--force", "-q"], &["bad.csv:101"]);
        assert_eq!(std::fs::read(&out).expect("there"), before);
        std::fs::remove_file(&bad).expect("there");
    }
    let left: Vec<String> =
        names_in(folder.path()).into_iter().filter(|name| name.starts_with('.')).collect();
    assert_eq!(left, Vec::<String>::new(), "no temporary file is left");
}

/// What is read would be gone, whatever the name it is given, and even by force.
#[test]
fn no_command_writes_onto_what_it_reads() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let one = path_of(folder.path(), "web-1.csv", rows().as_bytes());
    let two = path_of(folder.path(), "web-2.csv", rows().as_bytes());
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    std::os::unix::fs::symlink(&two, path("link")).expect("linked");
    let pattern = path("web-*.csv");
    let says = "is one of the files that are read";
    for out in [one.clone(), two.clone(), path("./web-1.csv"), path("link")] {
        for files in [&[one.as_str(), two.as_str()][..], &[pattern.as_str()]] {
            for force in [&["--force"][..], &[]] {
                let options = [files, &["--format", "msr", "--out", &out, "-q"], force].concat();
                refused(&[&["trace", "convert", "--to", "msr"][..], &options].concat(), &[&out, says]);
                refused(&[&["trace", "fit"][..], &options].concat(), &[&out, says]);
            }
        }
    }
    for name in [&one, &two] {
        assert_eq!(std::fs::read_to_string(name).expect("there"), rows());
    }
    for out in [path(""), path("missing/")] {
        for to in [&["--to", "msr"][..], &[]] {
            let convert = ["trace", "convert", &one, "--out", &out, "-q", "--force"];
            refused(&[&convert[..], to].concat(), &[&out, "is a folder: name a file in it"]);
        }
    }
}

/// The part after 20.5 ms starts at 21 ms, of web_0 at 22 ms.
#[test]
fn a_part_of_a_trace_says_where_its_times_begin() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = path_of(folder.path(), "web.csv", rows().as_bytes());
    let out = folder.path().join("part.csv");
    let out = out.to_str().expect("UTF-8");
    let part = ["trace", "convert", &path, "--to", "msr", "--out", out, "-q", "--force", "--exact"];
    let cut = [&part[..], &["--start", "20500us"]].concat();
    let summary = |arguments: &[&str]| outcome(&mut harmonia(arguments)).1;
    let says = "times count from the first request written, ";
    assert!(summary(&cut).contains(&format!("note         {says}0.021 s into the trace\n")));
    let volume = [&cut[..], &["--volume", "web_0"]].concat();
    assert!(summary(&volume).contains(&format!("{says}0.022 s into the trace\n")));
    assert_eq!(json(&[&volume[..], &["--json"]].concat())["first_ns"], 22_000_000);
    let whole = summary(&part);
    assert!(whole.contains("requests     100 of 100\n") && !whole.contains("note"), "{whole}");
}

#[test]
fn a_fitted_scenario_passes_check() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = path_of(folder.path(), "web.csv", rows().as_bytes());
    let out = folder.path().join("web.toml");
    let out = out.to_str().expect("UTF-8");
    let fit = ["trace", "fit", &path, "-q", "--array-bytes", "1GiB", "--no-check"];
    let (status, text, stderr) = outcome(&mut harmonia(&fit));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let to_file = [&fit[..], &["--out", out]].concat();
    assert_eq!(outcome(&mut harmonia(&to_file)), (Some(0), String::new(), String::new()));
    assert_eq!(std::fs::read_to_string(out).expect("there"), text);
    refused(&to_file, &["exists; --force replaces it"]);
    let (status, resolved, stderr) = outcome(&mut harmonia(&["check", out]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert!(resolved.contains("[workload.stream.reads]\nread_fraction = 1.0\n"), "{resolved}");
    let one = path_of(folder.path(), "one.csv", b"1,web,0,Read,0,4096,1\n");
    refused(&["trace", "fit", &one, "-q"], &[&one, "has no span"]);
}

/// The codes of a report's warnings.
fn codes(report: &serde_json::Value) -> Vec<String> {
    let warnings = report["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    warnings.iter().filter_map(|warning| Some(warning["code"].as_str()?.to_owned())).collect()
}

/// The options of reading that `trace info` has are those of a run, and what they do shows in its report.
#[test]
fn a_run_reads_a_trace_as_it_is_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let row = |i: u64| {
        format!("{};java;{};{};8\n", i * 100, if i.is_multiple_of(4) { "R" } else { "W" }, i * 37 % 50 * 8)
    };
    let table = path_of(folder.path(), "log.csv", (0..40).map(row).collect::<String>().as_bytes());
    let columns = [
        "--columns",
        "time;-;op;offset;size",
        "--time-unit",
        "us",
        "--address-unit",
        "512",
        "--size-unit",
        "512",
    ];
    let info = json(&[&["trace", "info", &table, "--json"], &columns[..]].concat());
    assert_eq!(
        (&info["format"], &info["rows"], &info["span_s"]),
        (&"csv".into(), &40.into(), &0.0039.into())
    );
    let run = |more: &[&str]| json(&[&["run", "tiny", "--trace", &table, "--json", "-q"], more].concat());
    let report = run(&columns);
    let trace = &report["trace"];
    assert_eq!(
        (&trace["format"], &trace["rows"], &trace["span_ns"]),
        (&"csv".into(), &40.into(), &3_900_000.into())
    );
    assert_eq!(report["host"]["bytes_written"], 30 * 4096);
    assert!(!codes(&report).contains(&"all-at-once".to_owned()), "{}", report["warnings"]);
    let timeless = run(&["--columns", "-;-;op;offset;size", "--size-unit", "512"]);
    assert_eq!(codes(&timeless)[0], "all-at-once");
}

/// A recording of which D is there in part only: both commands say which event they read.
#[test]
fn the_event_that_is_read_is_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let queued = |i: u64| format!("8,0 0 {i} 0.{:09} 7 Q W {} + 8 [java]\n", i * 100_000, i * 8);
    let text = (1..=50).map(queued).collect::<String>() + "8,0 0 51 0.006000000 7 D W 8 + 8 [java]\n";
    let path = path_of(folder.path(), "t.blkparse", text.as_bytes());
    let (_, text, _) = outcome(&mut harmonia(&["trace", "info", &path]));
    assert!(
        text.contains("event        Q (queued) 50 of 200 KiB, read by default; not read: D (issued) 1 of"),
        "{text}"
    );
    let (_, text, _) = outcome(&mut harmonia(&["run", "tiny", "--trace", &path, "-q"]));
    let text = text.replace('\n', " ");
    assert!(text.contains("read by event Q (queued), which has 50 requests of 200 KiB"), "{text}");
    let forced = json(&["run", "tiny", "--trace", &path, "--action", "D", "--json", "-q"]);
    assert_eq!((&forced["trace"]["rows"], &forced["trace"]["events"]["share"]), (&1.into(), &0.02.into()));
    assert!(codes(&forced).contains(&"incomplete-event".to_owned()), "{}", forced["warnings"]);
}

#[test]
fn a_scale_of_times_is_told() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = path_of(folder.path(), "web.csv", rows().as_bytes());
    let (status, text, stderr) =
        outcome(&mut harmonia(&["check", "tlc-trace", "--trace", &path, "--set", "workload.warmup=0"]));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(text.contains("time_scale = 0.005"), "{text}");
    let scaled = [
        "run",
        "tiny",
        "--trace",
        &path,
        "-q",
        "--set",
        "workload.time_scale=0.5",
        "--set",
        "workload.volumes=overlay",
    ];
    let (status, text, stderr) = outcome(&mut harmonia(&scaled));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(text.replace('\n', " ").contains("times multiplied by 0.5"), "{text}");
}

/// A small trace on the built-in array, and on one of the user's.
#[test]
fn a_fit_is_checked_against_its_trace() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = path_of(folder.path(), "web.csv", rows().as_bytes());
    for array in [&[][..], &["--check", "tiny"]] {
        let (status, text, stderr) =
            outcome(&mut harmonia(&[&["trace", "fit", &path, "-q"], array].concat()));
        assert_eq!((status, stderr.as_str()), (Some(0), ""));
        let unwrapped = text.replace("\n# ", " ");
        let on = if array.is_empty() { "on four small aged drives" } else { "on the array of tiny" };
        assert!(unwrapped.contains(&format!("all 100 requests of either {on}")), "{text}");
        assert!(text.contains("\n# mean response time "), "{text}");
    }
    refused(&["trace", "fit", &path, "--check", "tyni", "-q"], &["tyni", "did you mean `tiny`?"]);
    refused(&["trace", "fit", &path, "--check", "tiny", "--no-check", "-q"], &["cannot be used with"]);
}
