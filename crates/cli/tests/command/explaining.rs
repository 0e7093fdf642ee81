use std::fs;

use serde_json::Value;

use super::*;

/// A small run in a folder, with its table of requests; the folder.
fn result_in(folder: &Path, name: &str, more: &[&str]) -> String {
    let out = folder.join(name).to_str().expect("UTF-8").to_owned();
    let small = ["run", "tiny", "--set", "workload.requests=2000", "--parquet", "--out", &out];
    let (status, _, stderr) = outcome(&mut harmonia(&[&small[..], more].concat()));
    assert_eq!(status, Some(0), "{stderr}");
    out
}

fn explained(arguments: &[&str]) -> Value {
    let (status, stdout, stderr) = outcome(&mut harmonia(&[arguments, &["--json"]].concat()));
    assert_eq!(status, Some(0), "{arguments:?}: {stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

fn numbers(of: &Value) -> Vec<(u64, u64)> {
    let all = of["requests"].as_array().expect("a list");
    let pair = |one: &Value| Some((one["request"].as_u64()?, one["response_ns"].as_u64()?));
    all.iter().map(|one| pair(one).expect("numbers")).collect()
}

#[test]
fn the_slowest_of_a_result_are_those_of_its_table_and_their_parts_sum_to_the_response() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = result_in(folder.path(), "results", &[]);
    let told = explained(&["explain", &out]);
    let mut table: Vec<(u64, u64)> = super::parquet::rows(&folder.path().join("results/requests.parquet"))
        .iter()
        .map(|row| (super::parquet::number(row, "request"), super::parquet::number(row, "response_ns")))
        .collect();
    table.sort_by_key(|(request, response)| (std::cmp::Reverse(*response), *request));
    assert_eq!(numbers(&told), table[..10]);
    for request in told["requests"].as_array().expect("a list") {
        let steps = request["steps"].as_array().expect("a list").iter();
        let parts = steps.flat_map(|step| step["parts"].as_array().expect("a list"));
        let sum: u64 = parts.map(|part| part["ns"].as_u64().expect("ns")).sum();
        assert_eq!(sum, request["response_ns"].as_u64().expect("ns"));
    }
    let one = table[700];
    let asked = explained(&["explain", &out, "--request", &one.0.to_string()]);
    assert_eq!(numbers(&asked), [one]);
    let of_scenario = ["explain", "tiny", "--set", "workload.requests=2000", "--slowest", "3"];
    assert_eq!(
        explained(&of_scenario)["requests"].as_array().expect("a list")[..],
        told["requests"].as_array().expect("a list")[..3]
    );
}

#[test]
fn a_request_is_told_in_a_few_lines_with_the_answer_first() {
    let slowest = ["explain", "tiny", "--set", "workload.requests=2000", "--slowest", "3"];
    let (status, text, stderr) = outcome(&mut harmonia(&slowest));
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let blocks: Vec<&str> = text.trim_end().split("\n\n").skip(1).collect();
    assert_eq!(blocks.len(), 3, "{text}");
    for block in blocks {
        assert!(
            block.starts_with("Request ") && block.contains(" took ") && block.lines().count() <= 14,
            "{block}"
        );
        assert!(block.contains("garbage collection on SSD ") && block.contains("live pages"), "{block}");
    }
}

#[test]
fn a_result_that_is_not_this_run_is_refused_and_says_what_to_do() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = result_in(folder.path(), "results", &[]);
    let report = folder.path().join("results/report.json");
    let text = fs::read_to_string(&report).expect("there");
    let is_refused = |changed: &str, says: &[&str]| {
        fs::write(&report, changed).expect("written");
        refused(&["explain", &out], says);
        fs::write(&report, &text).expect("written");
    };
    let version = format!("\"version\": \"{}\"", harmonia_run::VERSION);
    assert!(text.contains(&version), "the report names its version");
    is_refused(
        &text.replacen(&version, "\"version\": \"0.0.9\"", 1),
        &["version 0.0.9", harmonia_run::VERSION, "scenario.toml again"],
    );
    is_refused(&text[..text.len() / 2], &["report.json is damaged", "run it again"]);
    let simulated = text.lines().find(|line| line.contains("\"simulated_ns\"")).expect("a line");
    is_refused(&text.replacen(simulated, "  \"simulated_ns\": 17,", 1), &["`simulated_ns`", "Run it again"]);
    refused(&["explain", &out, "--request", "2000000"], &["request 2000000 is not among the", "to 1999"]);
    refused(&["explain", &out, "--set", "seed=2"], &["stored result", "scenario.toml"]);
    refused(&["explain", &out, "--slowest", "0"], &["0 requests", "1 to 1000"]);
    let other = result_in(folder.path(), "other", &["--set", "seed=2"]);
    fs::copy(Path::new(&other).join("requests.parquet"), Path::new(&out).join("requests.parquet"))
        .expect("copied");
    refused(&["explain", &out], &["requests.parquet", "run it again"]);
    fs::copy(Path::new(&other).join("scenario.toml"), Path::new(&out).join("scenario.toml")).expect("copied");
    refused(&["explain", &out], &["scenario.toml is not the scenario", "run it again"]);
    fs::remove_file(&report).expect("there");
    refused(&["explain", &out], &["has no report.json"]);
}

#[test]
fn a_comparison_names_one_run_to_explain() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = folder.path().join("results").to_str().expect("UTF-8").to_owned();
    let two = ["compare", "tiny", "--policies", "local,ideal", "--seeds", "1", "--out", &out];
    assert_eq!(outcome(&mut harmonia(&two)).0, Some(0));
    refused(&["explain", &out], &["compares 2 runs", "scenario.toml"]);
}

#[test]
fn a_trace_that_has_changed_is_told_from_the_one_that_was_run() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("web.csv");
    let row = |i: u64| {
        format!("{},web,0,Write,{},8192,1\n", 128_166_372_003_061_629 + i * 10_000, i * 37 % 50 * 4096)
    };
    fs::write(&path, (0..300).map(row).collect::<String>()).expect("written");
    let trace = path.to_str().expect("UTF-8");
    let out = folder.path().join("results").to_str().expect("UTF-8").to_owned();
    let run = [
        "run",
        "msr-trace",
        "--trace",
        trace,
        "--set",
        "ssd.preset=tiny-test",
        "--set",
        "workload.warmup=0",
        "--out",
        &out,
    ];
    let (status, _, stderr) = outcome(&mut harmonia(&run));
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(numbers(&explained(&["explain", &out, "--slowest", "2"])).len(), 2);
    fs::write(&path, (1..301).map(row).collect::<String>()).expect("written");
    refused(&["explain", &out, "--slowest", "2"], &["the trace of", "has changed"]);
}

/// The page shows what the command prints.
#[test]
fn the_example_of_the_page_is_what_the_command_prints() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain.md");
    let page = fs::read_to_string(page).expect("a page");
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let (status, text, stderr) = outcome(harmonia(&EXAMPLE).env("COLUMNS", "110"));
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(text, shown);
    assert!(page.contains(&format!("harmonia {}", EXAMPLE.join(" "))), "the page names the command");
}

const EXAMPLE: [&str; 6] = ["explain", "tiny", "--set", "array.level=raid5", "--slowest", "2"];
