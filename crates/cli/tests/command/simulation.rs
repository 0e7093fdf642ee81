use std::io::pipe;
use std::process::{Child, Stdio};
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
    let intervals = report.intervals.expect("a lone run has its intervals");
    let mean = intervals.variants[0].metrics.mean.expect("a mean");
    assert_eq!((Some(mean.mean), intervals.variants.len()), (report.host.response_ns.all.mean, 1));
    assert!(mean.half_width.is_some_and(|width| width > 0.0), "from batches of its requests");
    let policies =
        ["compare", &tiny, "--json", "--policies", "local,ideal", "--threads", "2", "--seeds", "1"];
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
    let (status, answer, stderr) = outcome(&mut harmonia(&["compare", &tiny]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    for part in [
        "Garbage collection matters here. ",
        "Who is best",
        "ideal",
        "p99.9",
        "All runs keep up with",
        "seeds 1 to 10",
        "--details",
    ] {
        let flat = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "{part}: {answer}");
    }
    assert!(answer.lines().count() <= 25 && !answer.contains("Not tried"), "{answer}");
    let (status, table, stderr) = outcome(&mut harmonia(&["compare", &tiny, "--details"]));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    for part in [
        "local",
        "reactive-inclusive",
        "Not tried",
        "gclock",
        "ideal",
        "p99.99",
        "GC queue",
        "baseline",
        "seeds 1 to 10",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!answer.contains('\x1b') && !table.contains('\x1b'));
}

/// What the array would serve without collection is said where it is known, and asked for where it is not.
#[test]
fn an_overload_says_what_to_do_next() {
    let overload = ["tiny", "--set", "workload.arrival.rate=20000", "--seeds", "1", "-q"];
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let compare = [&["compare"], &overload[..], &["--policies", "local,ideal"]].concat();
    let (_, screen, stderr) = outcome(&mut harmonia(&compare));
    let known = "Garbage collection is the cause. If it took no time (ideal), the array would keep up";
    for part in [known, "Its response times mean nothing", "Try --set workload.arrival.rate="] {
        assert!(flat(&screen).contains(part), "{part}: {screen}{stderr}");
    }
    assert!(screen.lines().count() <= 25, "{screen}");
    let (_, json, _) = outcome(harmonia(&compare).arg("--json"));
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    assert!(comparison.warnings[0].text.contains(known), "{:?}", comparison.warnings);
    let (_, alone, stderr) = outcome(&mut harmonia(&[&["run"], &overload[..]].concat()));
    let ask = "Compare it with ideal (harmonia compare --policies local,ideal)";
    assert!(flat(&alone).contains(ask), "{alone}{stderr}");
}

#[test]
fn a_sweep_runs_every_value_under_every_policy() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let sweep = [
        "compare",
        &tiny,
        "--json",
        "--seeds",
        "1",
        "--policies",
        "local,ideal",
        "--set",
        "ssd.gc.domain=die,device",
    ];
    let (status, json, stderr) = outcome(&mut harmonia(&sweep));
    assert_eq!(status, Some(0), "{stderr}");
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    let labels: Vec<&str> = comparison.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert!(labels[0].starts_with("local ") && labels[0].contains("die"), "{labels:?}");
    assert!(labels[3].starts_with("ideal ") && labels[3].contains("device"), "{labels:?}");
}

/// Every combination, named after its values; all on one aged array where only coordination differs.
#[test]
fn two_sweeps_cross_and_the_winners_are_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("results");
    let cross = [
        "compare",
        &tiny,
        "--set",
        "ssd.gc.domain=die,device",
        "--set",
        "array.coordination.policy=local,reactive-inclusive,reactive-selective,gclock",
        "--seeds",
        "1",
    ];
    let (status, table, stderr) = outcome(harmonia(&cross).arg("--out").arg(&out));
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(stderr, "8 runs, 40,000 requests in all, from 1 aged array\n");
    assert!(
        table.contains("lets members collect one after the other, which pays where")
            && table.contains("(--details"),
        "{table}"
    );
    for part in
        ["Who is best", "domain + policy", "domain \\ policy", "erases  ", "die + local", "alone changes"]
    {
        assert!(table.contains(part), "{part}: {table}");
    }
    let (_, json, quiet) = outcome(&mut harmonia(&[&cross[..], &["--json", "-q"]].concat()));
    assert_eq!(quiet, "");
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    let labels: Vec<&str> = comparison.runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!((labels.len(), labels[1], labels[7]), (8, "die + reactive-inclusive", "device + gclock"));
    let winner = comparison.winners.mean.expect("a choice");
    assert!(labels.contains(&winner.labels[0].as_str()) && winner.baseline.is_some(), "{winner:?}");
    let page = std::fs::read_to_string(out.join("report.html")).expect("readable");
    assert!(page.contains("<h3>Who is best</h3>") && page.contains("domain ↓ policy →"));
    let scenario = std::fs::read_to_string(out.join("scenario.toml")).expect("readable");
    assert!(
        scenario.contains("#   die + gclock: ssd.gc.domain=die, array.coordination.policy=gclock\n"),
        "{scenario}"
    );
}

/// Levels hold unlike amounts; the load goes where all of them have something, and every form of the result says so.
#[test]
fn levels_are_compared_on_the_same_addresses() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let levels =
        ["compare", &tiny, "--policies", "local", "--seeds", "1", "--set", "array.level=raid0,raid5,raid10"];
    let (status, table, stderr) = outcome(&mut harmonia(&levels));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        stderr.contains("the arrays hold 26MiB to 52MiB; the requests of all runs go to the first 26MiB"),
        "{stderr}"
    );
    assert!(table.contains("note: under raid5 requests go to the first 26MiB of the 39MiB"), "{table}");
    let (_, json, stderr) = outcome(&mut harmonia(&[&levels[..], &["--json"]].concat()));
    assert!(stderr.contains("go to the first 26MiB"), "{stderr}");
    let comparison: Comparison = serde_json::from_str(&json).expect("a comparison");
    for (run, level) in comparison.runs.iter().zip(["raid0", "raid5", "raid10"]) {
        assert_eq!(run.scenario["array"]["level"], level);
        assert_eq!(run.scenario["workload"]["space"], "26MiB");
        let said = run.warnings.iter().any(|warning| warning.code == "address-space");
        assert_eq!(said, level != "raid10", "{:?}", run.warnings);
    }
    let bytes = |run: &Report| (run.host.bytes_read, run.host.bytes_written);
    assert_eq!(bytes(&comparison.runs[0]), bytes(&comparison.runs[1]));
}

#[test]
fn runs_that_could_not_be_told_apart_are_refused() {
    refused(&["compare", "tiny", "--policies", "local,local"], &["'local' is given twice"]);
    let twice = ["compare", "tiny", "--set", "seed=1,2,1"];
    refused(&twice, &["--set seed", "the value 1 is given twice"]);
    let again = ["compare", "tiny", "--set", "seed=1,2", "--set", "seed=3"];
    refused(&again, &["`seed`", "given by another"]);
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
        status == Some(0) && table.contains("Means over 2 seeds") && !table.contains("mean vs "),
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

/// What a shell says of a file that grew too large: here the process would end where it stands.
#[test]
fn a_limit_on_the_size_of_files_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let tiny = tiny_in(folder.path());
    let out = folder.path().join("results");
    let script = "ulimit -f 1; exec \"$0\" run \"$1\" --out \"$2\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_harmonia"), &tiny]).arg(&out);
    let (status, _, stderr) = outcome(&mut command);
    assert_eq!((status, names_in(&out)), (Some(2), Vec::new()), "{stderr}");
    assert!(stderr.contains("report.json: File too large"), "{stderr}");
}

/// A run that would take hours, while it simulates and writes a table of its requests under a temporary name; started
/// by a shell that does something before.
fn long_run(before: &str, folder: &Path, out: &Path) -> Child {
    let script =
        format!("{before} exec \"$0\" run \"$1\" --set workload.requests=999999999 --parquet --out \"$2\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_harmonia"), &tiny_in(folder)]).arg(out);
    command.env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    // Whoever starts the tests may ignore these signals, as nohup does; programs inherit that.
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: nothing runs in the handler; this process has none of its own to lose.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // Signals are listened for before a table is begun; that the folder can be written to is tried before.
    while !out.is_dir() || names_in(out).len() < 2 {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn send(signal: &str, child: &Child) {
    let killed = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
    assert!(killed.expect("sh").success());
}

#[test]
fn whoever_asks_it_to_stop_gets_one_word_the_status_shells_expect_and_no_file() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let folder = tempfile::tempdir().expect("temporary folder");
        let out = folder.path().join("results");
        let child = long_run("", folder.path(), &out);
        send(signal, &child);
        let output = child.wait_with_output().expect("ends");
        assert_eq!((output.status.code(), names_in(&out)), (Some(status), Vec::new()), "{signal}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n", "{signal}");
        assert_eq!(output.stdout.len(), 0, "{signal}");
    }
}

#[test]
fn under_nohup_it_outlives_its_terminal() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = folder.path().join("results");
    let child = long_run("trap '' HUP;", folder.path(), &out);
    send("HUP", &child);
    send("INT", &child);
    let output = child.wait_with_output().expect("ends");
    // Of the two signals it has heard one: a second would have ended it without a word.
    assert_eq!((output.status.code(), names_in(&out)), (Some(130), Vec::new()));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n");
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

/// Several files are one trace; what was done to it stands in the report and in a sentence of the table.
#[test]
fn traces_given_one_by_one_or_by_a_pattern_are_replayed_as_one() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    put("a.csv", "1000,h,0,Write,0,4096,1\nnonsense\n1040,h,0,Write,4096,512,1\n");
    put("b.csv", "1020,h,0,Read,4096,4096,1\n");
    let run = |arguments: &[&str]| {
        let all = [&["run", "msr-trace", "--set", "ssd.preset=tiny-test"], arguments].concat();
        outcome(harmonia(&all).current_dir(folder.path()))
    };
    let one_by_one = ["--trace", "a.csv", "--trace", "b.csv", "--set", "workload.skip_bad=1"];
    let (status, json, stderr) = run(&[&one_by_one[..], &["--json"]].concat());
    assert_eq!(status, Some(0), "{stderr}");
    let report: Report = serde_json::from_str(&json).expect("a report");
    let trace = report.trace.expect("what was done to the trace");
    assert_eq!((trace.files, trace.rows, trace.bad), (vec!["a.csv".to_owned(), "b.csv".to_owned()], 3, 1));
    let by_pattern = ["--trace", "?.csv", "--format", "msr", "--set", "workload.skip_bad=1"];
    let (_, json, stderr) = run(&[&by_pattern[..], &["--json"]].concat());
    let again: Report = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    assert_eq!((&again.host, again.trace.expect("it").hash), (&report.host, trace.hash));

    let (status, table, stderr) = run(&[&one_by_one[..], &["-v"]].concat());
    assert_eq!(status, Some(0), "{stderr}");
    let said = "Trace a.csv and 1 more: 1 malformed row tolerated, the first at a.csv:2: found `nonsense` in field 1";
    let unwrapped = table.replace('\n', " ");
    assert!(unwrapped.contains(said), "{table}");
    assert!(unwrapped.contains("Writes that cover a page in part cost 1 page read before"), "{table}");
    assert!(stderr.contains("a.csv: read as msr, because 2 of its first 3 lines fit"), "{stderr}");
    let (_, table, stderr) = run(&["--trace", "b.csv", "-v"]);
    assert!(
        !table.contains("Trace ") && stderr.contains("b.csv: read as msr, because its only line fits"),
        "{table}{stderr}"
    );

    let (_, resolved, _) = outcome(
        harmonia(&["check", "hpc-w", "--trace", "b.csv", "--set", "workload.time_unit=us"])
            .current_dir(folder.path()),
    );
    assert!(
        resolved.contains("path = \"b.csv\"\n") && resolved.contains("time_unit = \"1us\"\n"),
        "{resolved}"
    );
    let swept =
        ["compare", "tiny", "--trace", "?.csv", "--set", "workload.skip_bad=1,2", "--policies", "local"];
    let (status, table, stderr) = outcome(harmonia(&swept).current_dir(folder.path()));
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(table.matches("malformed row tolerated").count(), 1, "what is the same is said once: {table}");
}

#[test]
fn what_is_wrong_with_a_trace_is_said_with_its_place() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "1000,h,0,Write,0,4096,1\nnonsense\n").expect("written");
    let path = path.to_str().expect("UTF-8");
    let place = format!("error: {path}:2: found `nonsense` in field 1 (Timestamp)");
    refused(&["run", "tiny", "--trace", path, "--format", "msr"], &[&place]);
    refused(&["compare", "tiny", "--trace", path, "--format", "msr"], &[&place]);
    refused(&["check", "tiny", "--trace", path, "--format", "msr"], &[&place]);
    let set = |set: &str, says: &[&str]| refused(&["run", "tiny", "--trace", path, "--set", set], says);
    set("workload.time_unit=fortnight", &["workload.time_unit", "\"100ns\""]);
    set("workload.end=0s", &["workload.end", "later than `start`"]);
    refused(&["run", "tiny", "--trace", ""], &["'--trace <FILE>'"]);
    refused(&["run", "tiny", "--trace", path, "--trace", "x*.csv"], &["x*.csv: matches no file"]);
}
