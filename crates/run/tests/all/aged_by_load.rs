//! Is an array steady when its load begins, if the load has aged it?
//!
//! Write amplification of the first tenth of a run is that of the last tenth; after uniform overwrites it is not, so a test that
//! compares the two can fail. Of a trace, too, that is replayed on drives scaled down.

use std::fmt::Write as _;

use harmonia_engine::Rng;
use harmonia_run::{RunOptions, compare};
use harmonia_scenario::{Scenario, TraceFile, Variant};

/// Members of four dies of 128 blocks.
const ARRAY: &str = r#"
workload = { read_fraction = 0.3, size.mean = "4KiB", arrival = { process = "closed", queue_depth = 8 } }
array = { coordination.policy = "local", stripe_unit = "16KiB" }
ssd.preset = "tiny-test"
ssd.geometry = { planes_per_die = 1, blocks_per_plane = 128, pages_per_block = 16 }
ssd.ftl = { reserved_blocks = "15%" }
ssd.gc = { hard_threshold = 2, domain = "die" }
precondition.overwrite = 4.0
"#;

/// First and last tenth may differ by so much: a tenth is a third of what the array holds.
const TOLERANCE: f64 = 0.03;

const LEVELS: [&[&str]; 4] = [
    &["array.level=raid5", "array.devices=4"],
    &["array.level=raid10", "array.devices=4"],
    &["array.level=raid6", "array.devices=5"],
    &["array.level=raid0", "array.devices=3"],
];

fn scenario(sets: &[&str], trace: Option<&TraceFile>) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Scenario::parse(ARRAY, "array", &sets, trace).unwrap_or_else(|error| panic!("{error}"))
}

/// Write amplification of the last tenth of a run, less that of the first, over that of the first.
fn drift(sets: &[&str], space: &str, trace: Option<&TraceFile>) -> f64 {
    let from = |warmup: &str| {
        let scenario = scenario(&[sets, &[space, "workload.requests=100000", warmup]].concat(), trace);
        Variant { label: String::new(), scenario }
    };
    let parts = ["workload.warmup=0", "workload.warmup=10000", "workload.warmup=90000"].map(from);
    let options = RunOptions { threads: 2, ..RunOptions::default() };
    let runs = compare(&parts, &options).unwrap_or_else(|error| panic!("{error}")).runs;
    let [all, later, last] = [0, 1, 2].map(|run: usize| {
        let (array, host) = (&runs[run].array, &runs[run].host);
        (array.flash_pages_programmed as f64, host.bytes_written as f64)
    });
    let first = (all.0 - later.0) / (all.1 - later.1);
    last.0 / last.1 / first - 1.0
}

/// Aged by the load the array is steady, and aged everywhere alike it is not.
fn is_steady_by_the_load_alone(sets: &[&str], trace: Option<&TraceFile>) {
    let by_load = drift(sets, "precondition.overwrite_space=load", trace);
    let alike = drift(sets, "precondition.overwrite_space=all", trace);
    assert!(by_load.abs() < TOLERANCE, "{sets:?}: {by_load}, and {alike} after uniform overwrites");
    assert!(alike.abs() > 2.0 * TOLERANCE, "{sets:?}: {alike} after uniform overwrites");
}

#[test]
#[ignore = "long: make simulations"]
fn a_zipf_load_begins_on_a_steady_array() {
    for level in LEVELS {
        let load = "workload.address={ pattern = \"zipf\", theta = 1.2 }";
        is_steady_by_the_load_alone(&[level, &[load]].concat(), None);
    }
}

/// A policy that collects ahead of the hard threshold first works off what ageing, which does not, has left to it.
#[test]
#[ignore = "long: make simulations"]
fn a_zipf_load_begins_nearer_to_steady_on_floating_stripes() {
    let floats = ["array.level=raid5", "array.devices=5", "array.coordination.policy=gaftl"];
    let sets = [&floats[..], &["workload.address={ pattern = \"zipf\", theta = 1.2 }"]].concat();
    let [by_load, alike] =
        ["load", "all"].map(|space| drift(&sets, &format!("precondition.overwrite_space={space}"), None));
    assert!(
        by_load.abs() < 0.08 && alike > 2.0 * by_load.abs(),
        "{by_load}, and {alike} after uniform overwrites"
    );
}

/// Of twenty requests 19 go to a tenth of the volume.
fn trace(bytes: u64) -> String {
    let (mut rng, mut rows) = (Rng::stream(5, "trace"), String::new());
    let pages = bytes / 4096;
    for row in 0..100_000 {
        let page = if rng.chance(0.95) { rng.below(pages / 10) } else { rng.below(pages) };
        let offset = page * 4096;
        let operation = if rng.chance(0.3) { "Read" } else { "Write" };
        writeln!(rows, "{},h,0,{operation},{offset},4096,100", row * 1000).expect("text grows");
    }
    rows
}

#[test]
#[ignore = "long: make simulations"]
fn a_folded_trace_begins_on_a_steady_array() {
    let folder = tempfile::tempdir().unwrap();
    for level in LEVELS {
        const FULL: &str = "ssd.geometry.blocks_per_plane=512";
        let path = folder.path().join("t.csv");
        let full = scenario(&[level, &[FULL, "workload.requests=1"]].concat(), None);
        std::fs::write(&path, trace(full.array.layout().logical_bytes())).unwrap();
        let file = TraceFile { paths: vec![path], format: Some("msr".to_owned()), ..TraceFile::default() };
        // Cold pages are seldom written, and it takes long until they lie among the hot ones as they will.
        let aged = "precondition.overwrite=24";
        let replayed = ["workload.replay=closed", "workload.queue_depth=8", "workload.repeat=1000", aged];
        is_steady_by_the_load_alone(&[level, &[FULL, "ssd.scale=1/4"], &replayed].concat(), Some(&file));
    }
}

#[test]
fn it_is_refused_where_it_has_no_meaning() {
    let problem = |sets: &[&str]| {
        let sets: Vec<String> =
            ["precondition.overwrite_space=load"].iter().chain(sets).map(|&set| set.to_owned()).collect();
        Scenario::load("tiny", &sets, None).map(|_| ()).unwrap_err().to_string()
    };
    for (sets, why) in [
        (&["workload.address={ pattern = \"files\", file_size = \"64KiB\" }"][..], "files"),
        (
            &[
                "array.level=raid5",
                "array.devices=4",
                "array.coordination={ policy = \"gaftl\", thin = false }",
                "array.parity_shares=[3, 1, 1, 1]",
            ],
            "shares of parity",
        ),
    ] {
        let problem = problem(sets);
        assert!(problem.contains("precondition.overwrite_space") && problem.contains(why), "{problem}");
    }
}

/// Nothing tells where a load that only reads would have written.
#[test]
fn a_load_that_writes_nothing_ages_everywhere() {
    let report = |space: &str| {
        let sets = ["workload.read_fraction=1", "workload.requests=200", "workload.warmup=0", space];
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let scenario = Scenario::load("tiny", &sets, None).unwrap();
        harmonia_run::run(&scenario, &RunOptions::default()).unwrap().host.response_ns.read.mean
    };
    let all = report("precondition.overwrite_space=all");
    assert!(all.is_some() && all == report("precondition.overwrite_space=load"));
}
