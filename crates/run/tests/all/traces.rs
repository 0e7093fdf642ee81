//! Does every key about a trace do what it says, is what was done to the trace reported, and is a trace the same load
//! in whatever files it comes?

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use harmonia_metrics::{Noted, Report, TraceReport};
use harmonia_run::{Progress, RunError, RunOptions, Silent, Stage, compare, preflight, run};
use harmonia_scenario::{Scenario, TraceFile, Variant};
use harmonia_trace::{CSV, FORMATS, TraceFormat, Written};
use harmonia_trace::{Trace, TraceOptions};
use harmonia_types::{HostRequest, Operation, SimTime};
use harmonia_workload::{ArrayGeometryForLoad, Next, WorkloadConfig};

/// Two small devices, 25.6 MiB together, aged in an instant; the page is 4 KiB and takes 1 us on the link.
const ARRAY: &str = "seed = 3\n[ssd]\npreset = \"tiny-test\"\nlink.bandwidth = \"4096MB/s\"\n[array]\ndevices = 2\n\
                     [precondition]\noverwrite = 0.5\n[workload]\nkind = \"trace\"\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// A scenario in this folder with these keys of its load.
    fn scenario(&self, keys: &str) -> Scenario {
        let origin = self.path("test.toml");
        let scenario = Scenario::parse(&format!("{ARRAY}{keys}\n"), origin.to_str().unwrap(), &[], None);
        scenario.unwrap_or_else(|error| panic!("{error}"))
    }
}

fn options(progress: &dyn Progress) -> RunOptions<'_> {
    RunOptions { checked: true, progress, ..RunOptions::default() }
}

fn report(scenario: &Scenario) -> Report {
    run(scenario, &options(&Silent)).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(scenario: &Scenario) -> String {
    run(scenario, &options(&Silent)).expect_err("refused").to_string()
}

/// All requests of a load, as an array of 1 MiB gets them.
fn requests(workload: &WorkloadConfig) -> Result<Vec<HostRequest>, String> {
    let array = ArrayGeometryForLoad {
        logical_bytes: 1 << 20,
        member_bytes: 1 << 19,
        members: 2,
        page_size: 4096,
        scaled_from: None,
    };
    let load = workload.prepare(&array).map_err(|error| error.0)?;
    let mut source = load.source(1).map_err(|error| error.0)?;
    let mut requests = Vec::new();
    while let Next::At(request) = source.next(SimTime::ZERO, &[]).map_err(|error| error.0)? {
        requests.push(request);
    }
    Ok(requests)
}

/// Arrival in ns, first byte, length.
type Seen = (u64, u64, u64);

/// Two disks of one host; the last row comes 100 ns late.
const MSR: &str =
    "1000,usr,1,Read,8,2,5\n1004,usr,0,Write,16,1,5\n1007,usr,1,Write,0,1,5\n1006,usr,1,Read,4,4,5\n";

/// (keys, requests that they make of [`MSR`])
#[rustfmt::skip]
const KEYS: &[(&str, &[Seen])] = &[
    // Disk 0 behind the page of disk 1, which appears first.
    ("sort_window = \"1us\"", &[(0, 8, 2), (400, 4112, 1), (600, 4, 4), (700, 0, 1)]),
    ("sort_window = \"100ns\", volumes = \"overlay\"", &[(0, 8, 2), (400, 16, 1), (600, 4, 4), (700, 0, 1)]),
    ("sort_window = \"1us\", volumes = 1", &[(0, 8, 2), (600, 4, 4), (700, 0, 1)]),
    ("sort_window = \"1us\", volumes = \"usr_0\"", &[(400, 16, 1)]),
    ("sort_window = \"1ms\", time_unit = \"us\", volumes = 1", &[(0, 8, 2), (6000, 4, 4), (7000, 0, 1)]),
    ("sort_window = \"3ns\", time_unit = \"ns\", volumes = 1", &[(0, 8, 2), (6, 4, 4), (7, 0, 1)]),
    ("sort_window = \"1us\", address_unit = \"512B\", volumes = 1", &[(0, 4096, 2), (600, 2048, 4), (700, 0, 1)]),
    ("sort_window = \"1us\", size_unit = 512, volumes = 1", &[(0, 8, 1024), (600, 4, 2048), (700, 0, 512)]),
    ("sort_window = \"1us\", start = \"400ns\", end = \"700ns\"", &[(0, 16, 1), (200, 4100, 4)]),
    ("sort_window = \"1us\", start = \"400ns\", time_scale = 10, volumes = \"overlay\"", &[(0, 16, 1), (2000, 4, 4), (3000, 0, 1)]),
    ("sort_window = \"1us\", requests = 2, volumes = \"overlay\"", &[(0, 8, 2), (400, 16, 1)]),
    ("sort_window = \"1us\", align = true", &[(0, 0, 4096), (400, 4096, 4096), (600, 0, 4096), (700, 0, 4096)]),
    ("skip_bad = 1, volumes = \"overlay\"", &[(0, 8, 2), (400, 16, 1), (700, 0, 1)]),
    ("sort_window = \"1us\", end = \"500ns\", remap = \"scale\", address_unit = \"64KiB\", volumes = \"overlay\"",
        &[(0, 127 * 4096, 2), (400, 255 * 4096, 1)]),
    ("sort_window = \"1us\", end = \"500ns\", remap = \"wrap\", address_unit = \"64KiB\", volumes = \"overlay\"",
        &[(0, 512 * 1024, 2), (400, 0, 1)]),
];

#[test]
fn every_key_does_what_it_says_and_is_printed_as_it_was_said() {
    let folder = Folder::new();
    folder.put("usr.csv", MSR);
    for (keys, expected) in KEYS {
        let keys = format!("path = \"usr.csv\", format = \"msr\", {keys}").replace(", ", "\n");
        let scenario = folder.scenario(&keys);
        let seen = requests(&scenario.workload).unwrap_or_else(|error| panic!("{keys}: {error}"));
        let seen: Vec<Seen> = seen.iter().map(|r| (r.arrival.0, r.offset, r.length)).collect();
        assert_eq!(seen, *expected, "{keys}");
        let printed = scenario.to_toml();
        let again = Scenario::parse(&printed, "printed.toml", &[], None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again, scenario, "{printed}");
    }
}

/// Three rows of a second: the format's clock has one tick a row, another unit makes it a coarse one.
#[test]
fn rows_of_one_tick_are_spread_if_asked_for() {
    let folder = Folder::new();
    folder.put("t.csv", "5,h,0,Read,0,1,1\n5,h,0,Read,0,1,1\n5,h,0,Read,0,1,1\n6,h,0,Read,0,1,1\n");
    let arrivals = |spread: bool| -> Vec<u64> {
        let scenario = folder.scenario(&format!("path = \"t.csv\"\ntime_unit = \"s\"\nspread = {spread}"));
        requests(&scenario.workload).unwrap().iter().map(|request| request.arrival.0).collect()
    };
    assert_eq!(arrivals(false), [0, 0, 0, 1_000_000_000]);
    assert_eq!(arrivals(true), [0, 333_333_333, 666_666_666, 1_000_000_000]);
}

/// Keys that none of the rows above can show.
#[test]
fn what_is_said_about_a_trace_reads_back_the_same() {
    let folder = Folder::new();
    for keys in [
        "path = \"a.csv\"\nread_is = 1\naction = \"completed\"\nsame_volumes = true\nspread = false",
        "path = [\"a.csv\", \"b*.csv.gz\"]\nvolumes = 18446744073709551615\nsort_window = \"0s\"",
        "path = [\"a.csv\"]\nvolumes = \"a \\\"b\\\" \\u0000\"\nskip_bad = 1000000000000\nstart = \"0s\"",
        "path = \"a.csv\"\ntime_unit = \"1h\"\naddress_unit = \"1GiB\"\nsize_unit = 1\nend = \"1ns\"",
        "path = \"a.csv\"\ncolumns = \"op,offset,size\"\nops = \"r=1,a/w=0x2/t=9\"",
        "path = \"a.txt\"\nevent_format = \"%T.%t \\\"%a\\\" %d %S %n\\\\n\"",
        "path = \"a.csv\"\ntime_unit = \"s\"\naction = \"queued\"\nread_is = 0\nduration = \"1s\"",
    ] {
        let scenario = folder.scenario(keys);
        let printed = scenario.to_toml();
        let again = Scenario::parse(&printed, "printed.toml", &[], None).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again, scenario, "{printed}");
    }
}

/// A unit of the format's own stays out of what is printed, and a list of one is its only name.
#[test]
fn only_what_was_said_is_printed() {
    let printed = Folder::new().scenario("path = [\"a.csv\"]\ntime_unit = \"us\"").to_toml();
    assert!(printed.contains("a.csv\"\n") && printed.contains("time_unit = \"1us\"\n"), "{printed}");
    for key in [
        "address_unit",
        "size_unit",
        "read_is",
        "ops",
        "event_format",
        "action",
        "sort_window",
        "spread",
        "start",
        "end",
    ] {
        assert!(!printed.contains(&format!("\n{key} =")), "{printed}");
    }
}

#[test]
fn several_files_are_one_trace_and_may_have_volumes_of_their_own() {
    let folder = Folder::new();
    folder.put("a.csv", "1000,h,0,Write,0,4096,1\n1020,h,0,Write,4096,4096,1\n");
    folder.put("b.csv", "1010,h,0,Write,0,4096,1\n");
    let places = |keys: &str| -> Vec<Seen> {
        let seen = requests(&folder.scenario(keys).workload).unwrap_or_else(|error| panic!("{error}"));
        seen.iter().map(|r| (r.arrival.0, r.offset, r.length)).collect()
    };
    let merged = [(0, 0, 4096), (1000, 0, 4096), (2000, 4096, 4096)];
    assert_eq!(places("path = [\"a.csv\", \"b.csv\"]"), merged);
    assert_eq!(places("path = \"?.csv\""), merged);
    let apart = [(0, 0, 4096), (1000, 8192, 4096), (2000, 4096, 4096)];
    assert_eq!(places("path = \"?.csv\"\nsame_volumes = false"), apart);
    let only = "path = \"?.csv\"\nsame_volumes = false\nvolumes = \"b:h_0\"";
    assert_eq!(places(only), [(1000, 0, 4096)]);
}

fn given(paths: &[PathBuf], format: Option<&str>) -> TraceFile {
    TraceFile { paths: paths.to_vec(), format: format.map(str::to_owned), ..TraceFile::default() }
}

/// What a scenario says about how its own files are read goes with them; what it wants of a trace stays.
#[test]
fn traces_given_by_flag_replace_the_files_and_what_describes_them() {
    let text = format!(
        "{ARRAY}path = \"own.csv\"\nformat = \"msr\"\ntime_unit = \"us\"\nsize_unit = 512\nsort_window = \"1s\"\n\
         spread = true\nsame_volumes = true\nskip_bad = 3\nstart = \"1s\"\ntime_scale = 0.5\nremap = \"wrap\"\n\
         align = true\nvolumes = 3"
    );
    let load = |sets: &[String]| {
        let trace = given(&["x.spc".into(), "y*.spc".into()], None);
        match Scenario::parse(&text, "own.toml", sets, Some(&trace)).unwrap().workload {
            WorkloadConfig::Trace(trace) => trace,
            _ => panic!("not a trace"),
        }
    };
    let replaced = load(&[]);
    assert_eq!(replaced.paths, [Path::new("x.spc"), Path::new("y*.spc")]);
    let expected = TraceOptions {
        skip_bad: 3,
        start: Some(harmonia_types::SimDuration(1_000_000_000)),
        only: Some("3".to_owned()),
        ..TraceOptions::default()
    };
    assert_eq!((replaced.options, replaced.time_scale, replaced.align), (expected.clone(), 0.5, true));
    let mut units = expected.units;
    units.time_ns = Some(1000);
    let set = load(&["workload.time_unit=us".to_owned(), "workload.spread=false".to_owned()]);
    assert_eq!(set.options, TraceOptions { units, spread: Some(false), ..expected });
    let none = Scenario::parse(&text, "own.toml", &[], Some(&given(&[], None))).unwrap_err().to_string();
    assert!(none.starts_with("error: --trace: `workload.path` = []: names no file"), "{none}");
}

/// Which stages began.
#[derive(Default)]
struct Stages(Mutex<Vec<Stage>>);

impl Progress for Stages {
    fn begin(&self, _: usize, _: &str, stage: Stage, _: u64) {
        self.0.lock().unwrap().push(stage);
    }
    fn advance(&self, _: usize, _: u64) {}
    fn end(&self, _: usize) {}
}

/// The error of a run, and which stages it came to.
fn failed(scenario: &Scenario) -> (String, Vec<Stage>) {
    let stages = Stages::default();
    match run(scenario, &options(&stages)) {
        Err(RunError::BadInput(error)) => (error.to_string(), stages.0.into_inner().unwrap()),
        other => panic!("{other:?}"),
    }
}

/// Line 3 of 4 is malformed.
const MALFORMED: &str =
    "1000,h,0,Write,0,4096,1\n1001,h,1,Write,0,4096,1\n1002,h,0,Wipe,0,4096,1\n1003,h,0,Read,0,1,1\n";

#[test]
fn a_malformed_line_is_refused_by_its_place_before_anything_is_aged_if_the_trace_is_read_beforehand() {
    let folder = Folder::new();
    let file = folder.put("t.csv", MALFORMED);
    let place = format!("error: {}:3: found `Wipe` in field 4 (Type)", file.display());
    for keys in ["", "volumes = \"apart\"", "remap = \"scale\"\nvolumes = \"overlay\"", "skip_bad = 0"] {
        let scenario = folder.scenario(&format!("path = \"t.csv\"\nformat = \"msr\"\n{keys}"));
        let (error, stages) = failed(&scenario);
        assert!(error.starts_with(&place) && stages.is_empty(), "{keys}: {error} {stages:?}");
        assert_eq!(preflight(&scenario).unwrap_err().to_string(), error);
    }
    // Not read beforehand: met where it stands, and there is no report.
    for keys in ["volumes = \"overlay\"", "volumes = 0"] {
        let scenario = folder.scenario(&format!("path = \"t.csv\"\n{keys}"));
        assert!(preflight(&scenario).is_ok());
        let (error, stages) = failed(&scenario);
        assert!(error.starts_with(&place), "{keys}: {error}");
        assert_eq!(stages, [Stage::Precondition, Stage::Simulate], "{keys}");
    }
    // Behind what is replayed nobody looks.
    let first = report(&folder.scenario("path = \"t.csv\"\nrequests = 2"));
    assert_eq!((first.host.requests, first.trace.unwrap().rows), (2, 2));
}

#[test]
fn what_can_be_known_to_be_wrong_is_refused_before_anything_is_aged() {
    let folder = Folder::new();
    folder.put("t.csv", "1000,h,0,Write,0,4096,1\n");
    folder.put("far.csv", "1000,h,0,Write,0,4096,1\n1001,h,0,Write,99999744,4096,1\n");
    let cut = gz(&rows(3, msr));
    folder.put("cut.csv.gz", &cut[..cut.len() / 2]);
    for (keys, says) in [
        ("path = \"missing.csv\"", "missing.csv: cannot be read: No such file"),
        ("path = [\"t.csv\", \"x*.csv\"]", "x*.csv: matches no file"),
        ("path = \".\"", "is a directory"),
        ("path = \"t.csv\"\nread_is = 1", "t.csv: format `msr` has no value for reads to choose"),
        ("path = \"t.csv\"\nformat = \"spc\"", "t.csv:1: found `h` in field 2 (LBA)"),
        ("path = \"t.csv\"\nstart = \"1s\"", "t.csv: has no request in the window between start and end"),
        (
            "path = \"t.csv\"\nvolumes = \"apart\"\nend = \"1ns\"\nstart = \"0s\"\nsize_unit = \"1GiB\"",
            "size unit right?",
        ),
        (
            "path = \"far.csv\"",
            "far.csv:2: a request of 4096 bytes at address 99999744 ends beyond the array of",
        ),
        ("path = \"cut.csv.gz\"", "cut.csv.gz"),
    ] {
        let (error, stages) = failed(&folder.scenario(keys));
        assert!(error.contains(says) && stages.is_empty(), "{keys}: {error} {stages:?}");
    }
}

/// It is said what is wrong with it, and before anything is aged: no array keeps up with such a trim, but that is not the reason.
#[test]
fn a_trim_of_more_pages_than_an_array_takes_at_once_is_refused_by_its_place() {
    let folder = Folder::new();
    folder.put("trim.log", "fio version 3 iolog\n0 /dev/x write 0 4096\n9 /dev/x trim 0 51539607552\n");
    let large = "[ssd]\npreset = \"msr-slc-32g\"\n[array]\ndevices = 3\n[workload]\nkind = \"trace\"\npath = \"trim.log\"\n";
    let scenario = Scenario::parse(large, folder.path("test.toml").to_str().unwrap(), &[], None).unwrap();
    let (error, stages) = failed(&scenario);
    let says = "trim.log:3: a request of 51539607552 bytes touches 12582912 pages of 4096 bytes";
    assert!(error.contains(says) && stages.is_empty(), "{error} {stages:?}");
}

/// The trace is read once for all runs of a comparison, and for each of them from its start.
#[test]
fn runs_of_a_comparison_replay_the_same_trace() {
    let folder = Folder::new();
    folder.put("t.csv", rows(60, msr));
    let variant = |label: &str, keys: &str| Variant {
        label: label.to_owned(),
        scenario: folder.scenario(&format!("path = \"t.csv\"\n{keys}")),
    };
    let mut other = variant("message latency", "");
    other.scenario.array.coordination.policy = "reactive-inclusive".to_owned();
    let variants = [variant("a", ""), other, variant("scaled", "time_scale = 2.0"), variant("b", "")];
    let runs = compare(&variants, &RunOptions { threads: 3, ..options(&Silent) }).unwrap().runs;
    let scales: Vec<_> = runs.iter().map(|run| run.trace.as_ref().unwrap().time_scale).collect();
    assert_eq!(scales, [None, None, Some(2.0), None]);
    let unscaled = |run: &Report| TraceReport { time_scale: None, ..run.trace.clone().unwrap() };
    let traces: Vec<TraceReport> = runs.iter().map(unscaled).collect();
    assert_eq!((traces[0].rows, traces[0].span_ns), (60, Some(11_743_000)));
    assert!(traces.iter().all(|trace| *trace == traces[0]), "{traces:?}");
    same_sections(&runs[0], &runs[3]);
    assert_ne!(runs[0].host, runs[2].host);
}

#[test]
fn the_report_says_what_was_done_to_the_trace() {
    let folder = Folder::new();
    let csv = "1000,h,0,Write,0,4096,1\nbad\n1020,h,0,Write,29999616,8192,1\n1010,h,1,Read,512,512,1\n\
               1030,h,1,Write,2048,512,1\nworse,\n1040,h,2,Read,0,512,1\n";
    let file = folder.put("t.csv", csv);
    let name = file.display().to_string();
    let keys = "path = \"t.csv\"\nsort_window = \"1us\"\nskip_bad = 5\nend = \"4us\"\nstart = \"1ns\"\nalign = true\n\
                remap = \"wrap\"";
    let report = report(&folder.scenario(keys));
    let trace = report.trace.as_ref().unwrap();
    let noted = |reason: &str, rows| Noted { reason: reason.to_owned().into(), rows };
    assert_eq!((&trace.files, trace.format.as_str(), trace.rows), (&vec![name.clone()], "msr", 3));
    assert!(trace.format_reason.as_ref().unwrap().starts_with("5 of its first 7 lines fit"), "{trace:?}");
    assert_eq!(trace.skipped, [noted("before the start of the window", 1)]);
    assert_eq!(trace.repaired, [noted("out of order, sorted by time", 1)]);
    assert_eq!((trace.bad, trace.bad_examples.len()), (2, 2));
    assert!(trace.bad_examples[0].starts_with(&format!("{name}:2: ")), "{trace:?}");
    assert!(trace.bad_examples[1].starts_with(&format!("{name}:6: ")), "{trace:?}");
    // Only the request of disk 0, which lies behind disk 1, is beyond the array.
    assert_eq!((trace.moved, trace.cut, trace.widened), (1, 0, 3));
    assert!(!trace.is_untouched() && trace.hash.len() == 32);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["trace"]["rows"], 3);

    // A trace read as it stands leaves nothing to say, a load that is none has no such section.
    folder.put("t.csv", "1000,h,0,Write,0,4096,1\n");
    let plain = self::report(&folder.scenario("path = \"t.csv\"\nformat = \"msr\""));
    assert!(plain.trace.as_ref().unwrap().is_untouched());
    assert_eq!(plain.trace.unwrap().format_reason, None);
    let sets = ["workload.requests=50".to_owned()];
    let synthetic = self::report(&Scenario::load("tiny", &sets, None).unwrap());
    assert!(serde_json::to_value(synthetic).unwrap().get("trace").is_none());
}

#[test]
fn a_trace_that_ends_before_the_requests_asked_for_is_told() {
    let folder = Folder::new();
    folder.put("t.csv", "1000,h,0,Write,0,4096,1\n1020,h,0,Write,8192,4096,1\n");
    let told = |requests: u64| {
        let report =
            report(&folder.scenario(&format!("path = \"t.csv\"\nformat = \"msr\"\nrequests = {requests}")));
        report.warnings.into_iter().find(|warning| warning.code == "trace-ended").map(|warning| warning.text)
    };
    let text = "the trace ended after 2 of the 5 requests that workload.requests asks for";
    assert_eq!((told(2), told(5).as_deref()), (None, Some(text)));
}

/// One more malformed row than is tolerated is an error that names it.
#[test]
fn more_malformed_rows_than_allowed_are_an_error() {
    let folder = Folder::new();
    let file = folder.put("t.csv", "1000,h,0,Write,0,4096,1\nbad\nworse\n1001,h,0,Write,0,4096,1\n");
    let error = refusal(&folder.scenario("path = \"t.csv\"\nformat = \"msr\"\nskip_bad = 1"));
    assert!(error.contains(&format!("{}:3: found `worse`", file.display())), "{error}");
    assert_eq!(report(&folder.scenario("path = \"t.csv\"\nformat = \"msr\"\nskip_bad = 2")).host.requests, 2);
}

/// tR 25 us, tPROG 200 us, a page between die and controller 25 us, on the link 1 us.
///
/// ```text
/// whole page    [link 1][bus 25][tPROG 200]                        226 us
/// part of one   [link 1][tR 25][bus 25][bus 25][tPROG 200]         276 us
/// ```
#[test]
fn a_page_written_in_part_costs_a_read_before_its_program() {
    let folder = Folder::new();
    let response = |row: &str, keys: &str| {
        folder.put("t.csv", row);
        let mut scenario = folder.scenario(&format!("path = \"t.csv\"\n{keys}"));
        // All pages are there, and no garbage is.
        scenario.precondition.overwrite = 0.0;
        let report = report(&scenario);
        let all = &report.host.response_ns.all;
        assert_eq!(all.min, all.max);
        (all.max.unwrap(), report.array.read_modify_write_reads, report.array.host_pages_written)
    };
    assert_eq!(response("1000,h,0,Write,4096,4096,1\n", ""), (226_000, 0, 1));
    assert_eq!(response("1000,h,0,Write,4608,512,1\n", ""), (276_000, 1, 1));
    // From one byte before the end of a page to one behind: both pages are read, on different members.
    assert_eq!(response("1000,h,0,Write,8191,2,1\n", ""), (276_000, 2, 2));
    // A whole page between two parts.
    assert_eq!(response("1000,h,0,Write,4095,4098,1\n", "").1, 2);
    assert_eq!(response("1000,h,0,Write,4608,512,1\n", "align = true"), (226_000, 0, 1));
}

/// A request, at a whole microsecond, in whole sectors: every format can say it.
#[derive(Clone, Copy)]
struct Row {
    us: u64,
    volume: u64,
    is_read: bool,
    sector: u64,
    sectors: u64,
}

type Say = fn(&Row) -> String;

fn msr(row: &Row) -> String {
    let Row { us, volume, is_read, sector, sectors } = *row;
    let kind = if is_read { "Read" } else { "Write" };
    format!(
        "{},web,{volume},{kind},{},{},1\n",
        us * 10 + 128_166_372_000_000_000,
        sector * 512,
        sectors * 512
    )
}

fn spc(row: &Row) -> String {
    let Row { us, volume, is_read, sector, sectors } = *row;
    let kind = if is_read { 'r' } else { 'W' };
    format!("{volume},{sector},{},{kind},{}.{:06}\n", sectors * 512, us / 1_000_000, us % 1_000_000)
}

/// So many rows on three volumes, which first appear in another order than that of their numbers. Some at the same time,
/// most of them not whole pages.
fn sample(count: u64) -> Vec<Row> {
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut us = 0;
    let row = |index: u64| {
        us += [0, 1, draw(900)][draw(3) as usize];
        let volume = [7, 0, 10][if index < 3 { index as usize } else { draw(3) as usize }];
        Row { us, volume, is_read: draw(3) == 0, sector: draw(6_000), sectors: 1 + draw(40) }
    };
    (0..count).map(row).collect()
}

fn rows(count: u64, say: Say) -> String {
    sample(count).iter().map(say).collect()
}

fn gz(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Holds two replays against each other: what hosts saw, and what array and devices did, byte for byte; and that the
/// traces say the same, as far as they can.
#[track_caller]
fn same_sections(one: &Report, other: &Report) {
    let text = |section: &dyn erased::Section| section.text();
    for (name, one, other) in [
        ("host", text(&one.host), text(&other.host)),
        ("array", text(&one.array), text(&other.array)),
        ("devices", text(&one.devices), text(&other.devices)),
    ] {
        assert!(one == other, "the section `{name}` differs:\n{one}\n{other}");
    }
    let hash = |report: &Report| report.trace.as_ref().map(|trace| (trace.rows, trace.hash.clone()));
    assert_eq!(hash(one), hash(other), "the traces differ");
}

/// Anything that can be written as JSON.
mod erased {
    pub(super) trait Section {
        fn text(&self) -> String;
    }

    impl<T: serde::Serialize> Section for T {
        fn text(&self) -> String {
            serde_json::to_string(self).unwrap()
        }
    }
}

/// Requests of the sample, enough to make the small devices collect garbage.
const SAMPLE: u64 = 1500;

#[test]
fn a_trace_is_the_same_load_in_whatever_files_it_comes() {
    let folder = Folder::new();
    let spc_rows = sample(SAMPLE).iter().map(spc).collect::<Vec<_>>();
    let (first, rest) = spc_rows.split_at(700);
    let text = spc_rows.concat();
    folder.put("whole.spc", &text);
    folder.put("packed.spc.gz", gz(&text));
    folder.put("packed.spc.zst", zstd::encode_all(text.as_bytes(), 1).unwrap());
    folder.put("part-1.spc", first.concat());
    folder.put("part-2.spc", rest.concat());
    folder.put("part-1.spc.gz", gz(&first.concat()));
    folder.put("crlf.spc", format!("\u{feff}{}", text.replace('\n', "\r\n")));
    folder.put("other.csv", rows(SAMPLE, msr));
    let replay = |keys: &str| report(&folder.scenario(keys));
    let whole = replay("path = \"whole.spc\"");
    assert!(whole.array.erases > 0 && whole.array.read_modify_write_reads > 0);
    assert!(whole.host.read_requests > 0 && whole.host.requests == SAMPLE);
    for keys in [
        "path = \"whole.spc\"\nformat = \"spc\"",
        "path = \"packed.spc.gz\"",
        "path = \"packed.spc.zst\"",
        "path = \"part-?.spc\"\nsame_volumes = true",
        "path = [\"part-1.spc.gz\", \"part-2.spc\"]\nsame_volumes = true",
        "path = \"crlf.spc\"",
        "path = \"other.csv\"",
    ] {
        same_sections(&whole, &replay(keys));
    }
    // Were it not the same, it would show.
    let other = replay("path = \"whole.spc\"\nvolumes = \"overlay\"");
    assert_ne!(whole.host, other.host);
    assert_eq!(whole.trace.unwrap().hash, other.trace.unwrap().hash);
}

/// Writes a trace in another format; whether every record is exactly what it was.
fn converted(trace: &Trace, format: &TraceFormat, path: &Path) -> Option<bool> {
    let mut reader = trace.records().unwrap();
    let file = Box::new(std::fs::File::create(path).unwrap());
    let mut writer = format.write?(file, reader.has_handles()).unwrap();
    let mut exact = true;
    while let Some(record) = reader.next_record().unwrap() {
        exact &= writer.write(&record, reader.volumes()).unwrap() == Written::Exact;
    }
    writer.finish().unwrap();
    Some(exact)
}

/// From a trace that all formats can say to every format that can be written, and on from each of them to every other.
#[test]
fn a_converted_trace_is_the_same_load() {
    let folder = Folder::new();
    let original = folder.put("original.spc", rows(SAMPLE, spc));
    let expected = report(&folder.scenario("path = \"original.spc\"\nformat = \"spc\""));
    let written = || FORMATS.iter().filter(|format| format.write.is_some());
    for first in written() {
        let path = folder.path(&format!("first.{}", first.name));
        let trace = Trace::open_file(&original, "spc").unwrap();
        assert_eq!(converted(&trace, first, &path), Some(true), "{}", first.name);
        let keys = format!("path = \"first.{0}\"\nformat = \"{0}\"", first.name);
        same_sections(&expected, &report(&folder.scenario(&keys)));
        for second in written() {
            let trace = Trace::open_file(&path, first.name).unwrap();
            let path = folder.path(&format!("second.{}", second.name));
            assert_eq!(converted(&trace, second, &path), Some(true), "{} to {}", first.name, second.name);
            let keys = format!("path = \"second.{0}\"\nformat = \"{0}\"", second.name);
            same_sections(&expected, &report(&folder.scenario(&keys)));
        }
    }
}

/// One load of three tenants, told apart by volumes or by handles. Drives know two handles beside the default one.
#[test]
fn handles_of_a_trace_are_those_of_drives_and_volumes_stand_in_for_them() {
    let folder = Folder::new();
    let placed = "volumes = \"overlay\"\n[ssd.ftl]\nplacement = { policy = \"streams\", handles = 2, isolation = \"persistent\" }";
    let mut place = 0x9e37_79b9_7f4a_7c15_u64;
    let rows: Vec<(u64, u64, u64)> = (0..6_000u64)
        .map(|row| {
            place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (
                row * 150,
                (place >> 33) % 4_000 * 4_096,
                if (place >> 20).is_multiple_of(8) { 2 } else { row % 2 },
            )
        })
        .collect();
    let table = |columns: &str, line: &dyn Fn(&(u64, u64, u64)) -> String| {
        folder.put("load.csv", rows.iter().map(line).collect::<String>());
        let keys = format!("path = \"load.csv\"\ncolumns = {columns:?}\ntime_unit = \"us\"\n{placed}");
        report(&folder.scenario(&keys))
    };
    let line = |(time, offset, rest): (u64, u64, String)| format!("{time},w,{offset},4096,{rest}\n");
    let by_volume = table("time,op,offset,size,volume", &|&(time, offset, tenant)| {
        line((time, offset, format!("tenant {tenant}")))
    });
    let by_handle = table("time,op,offset,size,handle", &|&(time, offset, tenant)| {
        line((time, offset, tenant.to_string()))
    });
    // The first tenant is that of the volume, if nothing else is said.
    let in_part = table("time,op,offset,size,handle", &|&(time, offset, tenant)| {
        line((time, offset, if tenant == 0 { String::new() } else { tenant.to_string() }))
    });
    let of = |tenant: u64| rows.iter().filter(|(.., of)| *of == tenant).count() as u64;
    for told in [&by_volume, &by_handle, &in_part] {
        assert_eq!((&told.host, &told.devices), (&by_volume.host, &by_volume.devices));
        let handles = told.devices.iter().flat_map(|device| &device.streams);
        let pages = |handle: u8| -> u64 {
            handles.clone().filter(|of| of.handle == handle).map(|of| of.written_pages).sum()
        };
        assert_eq!([0, 1, 2, 3].map(pages), [of(2), of(0), of(1), 0]);
        let unknown = told.devices.iter().filter_map(|device| device.unknown_handle_pages).sum::<u64>();
        assert_eq!(unknown, of(2), "a third handle, which has the pages of the default one");
        for handle in handles {
            let (written, moved) = (handle.written_pages as f64, handle.moved_pages as f64);
            assert_eq!(handle.write_amplification, Some((written + moved) / written));
        }
    }
    let hash = |report: &Report| report.trace.as_ref().unwrap().hash.clone();
    assert_ne!(hash(&by_handle), hash(&in_part));
    let mixed = table("time,op,offset,size,-", &|&(time, offset, _)| line((time, offset, String::new())));
    assert_ne!(mixed.devices, by_handle.devices, "were it not read, it would show");
}

/// Whatever is read: the sample files of every format, odd ones too, to every format that says all of it exactly.
#[test]
fn every_format_that_is_read_converts_without_loss_where_nothing_is_changed() {
    let folder = Folder::new();
    let seeds = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds"));
    let wrap = "remap = \"wrap\"\nskip_bad = 100";
    for source in FORMATS {
        let mut pairs = 0;
        for file in std::fs::read_dir(seeds.join(format!("{}_reader", source.name))).unwrap() {
            let file = file.unwrap().path();
            // The first line of a table names its columns, which reading passes over as a header.
            let names = std::fs::read_to_string(&file).ok().filter(|_| source.name == CSV);
            let names = names.map(|text| text.lines().next().unwrap_or_default().to_owned());
            let columns = names.as_ref().map(|names| names.parse().unwrap());
            let options = TraceOptions { skip_bad: 100, columns, ..TraceOptions::of_format(source.name) };
            let Ok(trace) = Trace::open(std::slice::from_ref(&file), &options) else { continue };
            let named = names.map(|names| format!("columns = {names:?}\n")).unwrap_or_default();
            let keys = format!("path = {file:?}\nformat = {:?}\n{named}{wrap}", source.name);
            let Ok(expected) = run(&folder.scenario(&keys), &self::options(&Silent)) else { continue };
            for target in FORMATS {
                let path = folder.path(&format!("converted.{}", target.name));
                if converted(&trace, target, &path) == Some(true) {
                    let keys = format!("path = {path:?}\nformat = {:?}\n{wrap}", target.name);
                    same_sections(&expected, &report(&folder.scenario(&keys)));
                    pairs += 1;
                }
            }
        }
        assert!(pairs > 0, "no file of {} is converted without loss", source.name);
    }
}

/// Without a format of its own, too: what is found out is what was written.
#[test]
fn reads_and_writes_of_the_sample_are_what_was_meant() {
    let folder = Folder::new();
    folder.put("t.spc", rows(3, spc));
    let load = folder.scenario("path = \"t.spc\"\nvolumes = \"overlay\"\nremap = \"wrap\"").workload;
    let seen: Vec<_> = requests(&load).unwrap().iter().map(|r| (r.operation, r.volume)).collect();
    let kind = |row: &Row| if row.is_read { Operation::Read } else { Operation::Write };
    let meant: Vec<_> = sample(3).iter().zip(0..).map(|(row, volume)| (kind(row), volume)).collect();
    assert_eq!(seen, meant);
}
