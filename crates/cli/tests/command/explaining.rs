use std::collections::{BTreeMap, BTreeSet};
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

/// Static wear levelling is a collection of blocks that have little to free: a wait for it is one for garbage collection.
#[test]
fn a_wait_for_a_block_that_is_collected_to_level_wear_says_so() {
    let levels = "ssd.leveling={ policy = \"least-worn\", threshold = 2, budget = \"50%\" }";
    let asked = ["explain", "tiny", "--set", "workload.requests=2000", "--set", levels];
    let (status, text, stderr) = outcome(&mut harmonia(&asked));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(text.contains("live pages, to level wear"), "{text}");
    let told = explained(&asked);
    let steps =
        told["requests"].as_array().expect("a list").iter().flat_map(|request| request["steps"].as_array());
    let parts: Vec<&Value> = steps.flatten().filter_map(|step| step["parts"].as_array()).flatten().collect();
    let victims = |part: &Value| part["collection"]["victims"].as_array().cloned().unwrap_or_default();
    let leveled = |part: &&&Value| victims(part).iter().any(|victim| victim["levels"] == true);
    let waits: Vec<&&Value> = parts.iter().filter(leveled).collect();
    assert!(!waits.is_empty() && waits.iter().all(|part| part["cause"] == "queue_gc"), "{waits:?}");
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

/// A message of protocol buffers, read without the code that writes it: numbers and bytes by field.
#[derive(Default)]
struct Fields {
    numbers: BTreeMap<u64, Vec<u64>>,
    bytes: BTreeMap<u64, Vec<Vec<u8>>>,
}

impl Fields {
    fn read(mut data: &[u8]) -> Fields {
        fn varint(data: &mut &[u8]) -> u64 {
            let length = data.iter().position(|byte| byte & 0x80 == 0).expect("a whole varint") + 1;
            let (number, rest) = data.split_at(length);
            *data = rest;
            number.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f))
        }
        let mut fields = Fields::default();
        while !data.is_empty() {
            let key = varint(&mut data);
            let value = varint(&mut data);
            match key & 7 {
                0 => fields.numbers.entry(key >> 3).or_default().push(value),
                2 => {
                    let (bytes, rest) = data.split_at(usize::try_from(value).expect("small"));
                    data = rest;
                    fields.bytes.entry(key >> 3).or_default().push(bytes.to_vec());
                }
                kind => panic!("wire type {kind}"),
            }
        }
        fields
    }

    fn all(&self, field: u64) -> Vec<Fields> {
        self.bytes.get(&field).into_iter().flatten().map(|bytes| Fields::read(bytes)).collect()
    }

    fn number(&self, field: u64) -> u64 {
        self.numbers[&field][0]
    }

    fn text(&self, field: u64) -> String {
        String::from_utf8(self.bytes[&field][0].clone()).expect("UTF-8")
    }
}

/// A slice of a trace: the names of its tracks from the outermost, how deep it lies on its own, its name, and its times.
#[derive(Debug, Clone, PartialEq)]
struct Slice {
    track: Vec<String>,
    depth: usize,
    name: String,
    from: u64,
    until: u64,
}

/// The slices of a trace, with every rule of the format that they must keep.
fn slices(trace: &[u8]) -> Vec<Slice> {
    let mut tracks: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<(String, u64)>> = BTreeMap::new();
    let mut all = Vec::new();
    let mut last = 0;
    for packet in Fields::read(trace).all(1) {
        assert_eq!(packet.number(10), 1, "one writer");
        for track in packet.all(60) {
            let above = track.numbers.get(&5).map_or_else(Vec::new, |parent| tracks[&parent[0]].clone());
            let names = [above, vec![track.text(2)]].concat();
            assert!(tracks.values().all(|other| *other != names), "{names:?} twice");
            assert!(tracks.insert(track.number(1), names).is_none());
        }
        for event in packet.all(11) {
            let (at, track) = (packet.number(8), event.number(11));
            assert!(at >= last, "in order of time");
            last = at;
            let open = open.entry(track).or_default();
            match event.number(9) {
                1 => open.push((event.text(23), at)),
                2 => {
                    let (name, from) = open.pop().expect("one that began");
                    let (track, depth) = (tracks[&track].clone(), open.len());
                    all.push(Slice { track, depth, name, from, until: at });
                }
                kind => panic!("type {kind}"),
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "all have ended");
    all
}

/// The trace has the requests of the window, the parts of the one that is asked for, and the collections that `--json` names.
#[test]
fn a_trace_of_perfetto_shows_the_slowest_request_and_the_collections_it_met() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("slowest.pftrace");
    let file = path.to_str().expect("UTF-8");
    let run = ["explain", "tiny", "--set", "workload.requests=2000", "--slowest", "1"];
    let traced = [&run[..], &["--json", "--perfetto", file]].concat();
    let (status, stdout, stderr) = outcome(&mut harmonia(&traced));
    assert_eq!(status, Some(0), "{stderr}");
    assert!(stderr.contains("slowest.pftrace: ") && stderr.contains(" slices on "), "{stderr}");
    let told: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(told, explained(&run), "a trace changes nothing");
    let request = &told["requests"][0];
    let number = |value: &Value| value.as_u64().expect("a number");
    let all = slices(&fs::read(&path).expect("written"));
    let name = format!("request {}: {}", request["request"], request["operation"].as_str().expect("text"));
    let slowest = all.iter().find(|slice| slice.name == name).expect("the slowest");
    assert_eq!(
        (slowest.from, slowest.until),
        (number(&request["arrival_ns"]), number(&request["finish_ns"]))
    );
    let inside = |depth: usize| {
        let on = all.iter().filter(|slice| slice.track == slowest.track && slice.depth == depth);
        on.map(|slice| slice.until - slice.from).sum::<u64>()
    };
    assert_eq!((inside(1), inside(2)), (number(&request["response_ns"]), number(&request["response_ns"])));
    let slots = all.iter().filter(|slice| slice.track[0] == "Requests" && slice.depth == 0).count();
    assert!(slots > 1, "requests overlap");
    let mut met = 0;
    for step in request["steps"].as_array().expect("a list") {
        for part in
            step["parts"].as_array().expect("a list").iter().filter(|part| !part["collection"].is_null())
        {
            let (collection, die) = (&part["collection"], number(&part["die"]));
            let track = [
                format!("SSD {}", step["member"]),
                format!("channel {}", part["channel"]),
                format!("die {die}"),
            ];
            let shown = all.iter().find(|slice| {
                slice.track == track && slice.depth == 0 && slice.from == number(&collection["began_ns"])
            });
            let shown = shown.expect("its collection");
            assert_eq!(shown.name, format!("collection: {}", collection["why"].as_str().expect("text")));
            assert!(collection["ended_ns"].is_null() || shown.until == number(&collection["ended_ns"]));
            for victim in collection["victims"].as_array().expect("a list") {
                let name =
                    format!("plane {} block {}: {} live", victim["plane"], victim["block"], victim["live"]);
                let is_its = |slice: &&Slice| slice.track == track && slice.depth == 1 && slice.name == name;
                assert!(all.iter().filter(is_its).any(|one| one.from == number(&victim["at_ns"])), "{name}");
                met += 1;
            }
            assert!(all.iter().any(|slice| slice.track == track[..1] && slice.name == "collects"));
        }
    }
    assert!(met > 0, "it met a victim");
    let planes = all.iter().filter(|slice| slice.track.len() == 4);
    let works: BTreeSet<&str> = planes.map(|slice| slice.name.as_str()).collect();
    assert!(works.contains("host program") && works.contains("erase"), "{works:?}");
    // The file is not replaced, nor is a part of one left.
    refused(&traced, &["--perfetto", "exists; --force replaces it"]);
    let window = |window| [&run[..], &["--perfetto", file, "--force", "--window", window]].concat();
    refused(&window("2s..1s"), &["--window", "ends before it begins"]);
    refused(&window("1s"), &["--window", "such as 1.33s..1.36s"]);
    refused(&window("100s..101s"), &["nothing was done in the window 100s..101s"]);
    let before = fs::read(&path).expect("there");
    let (status, _, stderr) = outcome(&mut harmonia(&window("0.2s..0.21s")));
    assert_eq!(status, Some(0), "{stderr}");
    let other = fs::read(&path).expect("there");
    assert_ne!(before, other);
    let meets = |slice: &Slice| slice.from <= 210_000_000 && slice.until >= 200_000_000;
    assert!(slices(&other).iter().filter(|slice| slice.depth == 0).all(meets));
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1, "nothing else is left");
}

/// Each request has a name that a link can end with, and its parts sum to its response. Nothing is replaced, nor left in part.
#[test]
fn a_page_has_a_place_for_each_request() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("slowest.html");
    let run = ["explain", "tiny", "--set", "workload.requests=2000", "--slowest", "3"];
    let shown = [&run[..], &["--json", "--page", file.to_str().expect("UTF-8")]].concat();
    let (status, stdout, stderr) = outcome(&mut harmonia(&shown));
    assert_eq!(status, Some(0), "{stderr}");
    let told: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(told, explained(&run), "a page changes nothing");
    let page = fs::read_to_string(&file).expect("written");
    let places: Vec<(u64, u64)> = page
        .split("<details class=\"explained\" id=\"request-")
        .skip(1)
        .map(|place| {
            let number =
                |text: &str| text.split('"').next().and_then(|text| text.parse().ok()).expect("a number");
            (number(place), place.split("data-ns=\"").skip(1).map(number).sum())
        })
        .collect();
    assert_eq!(places, numbers(&told));
    assert!(page.contains(" ordered it, "), "who ordered collections");
    refused(&shown, &["--page", "exists; --force replaces it"]);
    let twice = [&shown[..], &["--perfetto", file.to_str().expect("UTF-8"), "--force"]].concat();
    refused(&twice, &["--page", "--perfetto names it, too"]);
    let name = file.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    let relative = [&shown[..], &["--perfetto", name, "--force"]].concat();
    let beside = file.parent().expect("a folder");
    let (status, _, stderr) = outcome(harmonia(&relative).current_dir(beside));
    assert!(status == Some(2) && stderr.contains("--perfetto names it, too"), "{stderr}");
    refused(&[&run[..], &["--force"]].concat(), &["--perfetto", "--page"]);
    assert_eq!(fs::read_to_string(&file).expect("there"), page);
    assert_eq!(names_in(folder.path()), ["slowest.html"]);
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

const EXAMPLE: [&str; 6] = ["explain", "tiny", "--set", "array.level=raid5", "--slowest", "1"];
