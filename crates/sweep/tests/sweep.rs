//! Does a sweep have every point once, with the result of a run of its own, however it is cut and stopped?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use harmonia_metrics::Report;
use harmonia_run::{Outcome, RunError, RunOptions};
use harmonia_sweep::{
    Base, Diff, Done, Plan, Point, Shard, Side, Store, Stored, Table, Unwatched, Watch, run,
};

/// The built-in scenario that simulates in the blink of an eye, and less of it.
const TINY: &str = "scenario = \"tiny\"\n[set]\nworkload.requests = 300\nprecondition.overwrite = 1\n";

fn plan(more: &str) -> Plan {
    // What is not in a table stands in front of the first one.
    let (keys, tables) = more.split_once("---").unwrap_or(("", more));
    let text = format!("{keys}\n{TINY}{tables}");
    Plan::parse(&text, "test.toml", &Base::Named, &[]).unwrap_or_else(|why| panic!("{why}"))
}

fn swept(
    points: &[Point],
    folder: &Path,
    threads: usize,
    watch: &dyn Watch,
    cancel: &AtomicBool,
) -> Result<Done, RunError> {
    let store = Store::create(folder).expect("a folder");
    let options = RunOptions { threads, cancel, ..RunOptions::default() };
    run(points, &store, &options, watch)
}

fn all(points: &[Point], folder: &Path, threads: usize) -> Done {
    swept(points, folder, threads, &Unwatched, &AtomicBool::new(false)).unwrap_or_else(|why| panic!("{why}"))
}

/// Results without what differs from machine to machine.
fn results(folder: &Path) -> Vec<Stored> {
    let (mut all, damaged) = Store::open(folder).and_then(|store| store.all()).expect("readable");
    assert_eq!(damaged, 0);
    for run in &mut all {
        if let Outcome::Measured(report) = &mut run.outcome {
            *report = report.without_engine();
        }
    }
    all
}

const AXES: &str = "policies = [\"local\", \"reactive-selective\", \"ideal\"]\nseeds = 2\n---[axes]\narray.devices = [2, 4]\nssd.gc.min_victims = \"1..2\"\n";

#[test]
fn points_are_combinations_seeds_and_policies_and_each_is_found_by_its_number() {
    let plan = plan(AXES);
    let points = plan.points().expect("valid");
    assert_eq!((plan.len(), points.len()), (24, 24));
    let first: Vec<(&str, u64)> =
        points[..4].iter().map(|point| (point.label.as_str(), point.scenario.seed)).collect();
    let of = |policy: &str| format!("{policy} array.devices=2, ssd.gc.min_victims=1");
    assert_eq!(first[0], (of("local").as_str(), 1));
    assert_eq!(first[2], (of("ideal").as_str(), 1));
    assert_eq!(first[3], (of("local").as_str(), 2));
    let addresses: BTreeSet<&String> = points.iter().map(|point| &point.address).collect();
    assert_eq!(addresses.len(), 24);
    for point in &points {
        let alone = plan.point(point.number).expect("valid").expect("there");
        assert_eq!((&alone.address, &alone.scenario), (&point.address, &point.scenario));
    }
    assert!(plan.point(24).expect_err("beyond").to_string().contains("allowed: 0 to 23"));
}

#[test]
fn a_point_is_what_a_run_of_its_own_is_on_any_number_of_threads() {
    let points = plan(AXES).points().expect("valid");
    let folders = [tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder")];
    assert_eq!(all(&points, folders[0].path(), 1), Done { run: 24, known: 0, refused: 0 });
    assert_eq!(all(&points, folders[1].path(), 5), Done { run: 24, known: 0, refused: 0 });
    assert_eq!(results(folders[0].path()), results(folders[1].path()));
    let cancel = AtomicBool::new(false);
    let options = RunOptions { checked: true, cancel: &cancel, ..RunOptions::default() };
    let store = Store::open(folders[1].path()).expect("there");
    for point in points.iter().step_by(5) {
        let Some(Outcome::Measured(kept)) = store.load(&point.address).map(|kept| kept.outcome) else {
            panic!("{} is missing", point.label)
        };
        let alone = harmonia_run::run(&point.scenario, &options).expect("runs");
        assert_eq!(kept.without_engine(), Report { label: point.label.clone(), ..alone }.without_engine());
    }
}

/// Stops the sweep after some points.
struct StopAfter<'a>(AtomicUsize, &'a AtomicBool);

impl Watch for StopAfter<'_> {
    fn begin(&self, _: usize) {}

    fn done(&self) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_sweep_that_was_stopped_goes_on_and_damaged_results_are_run_again() {
    let points = plan(AXES).points().expect("valid");
    let (folder, whole) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let cancel = AtomicBool::new(false);
    let stopped = swept(&points, folder.path(), 2, &StopAfter(AtomicUsize::new(5), &cancel), &cancel);
    assert!(matches!(stopped, Err(RunError::Cancelled)), "{stopped:?}");
    let kept = results(folder.path()).len();
    assert!((5..24).contains(&kept), "{kept}");
    // Another result under the name of one, and half of another one.
    let names: Vec<_> = Store::open(folder.path()).and_then(|store| store.addresses()).expect("readable");
    let path = |name: &String| folder.path().join(format!("{name}.json"));
    fs::copy(path(&names[0]), path(&names[1])).expect("copied");
    let text = fs::read_to_string(path(&names[2])).expect("there");
    fs::write(path(&names[2]), &text[..text.len() / 2]).expect("written");
    let (whole_ones, damaged) = Store::open(folder.path()).and_then(|store| store.all()).expect("readable");
    assert_eq!((whole_ones.len(), damaged), (kept - 2, 2));
    assert_eq!(all(&points, folder.path(), 2), Done { run: 24 - kept + 2, known: kept - 2, refused: 0 });
    assert_eq!(all(&points, folder.path(), 2), Done { run: 0, known: 24, refused: 0 });
    all(&points, whole.path(), 2);
    assert_eq!(results(folder.path()), results(whole.path()));
    let files = fs::read_dir(folder.path()).expect("readable").count();
    assert_eq!(files, 24, "nothing is left under a temporary name");
}

#[test]
fn shards_are_the_whole_and_merged_by_copying() {
    let points = plan(AXES).points().expect("valid");
    let (merged, whole) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut seen = Vec::new();
    for part in 1..=5 {
        let shard: Shard = format!("{part}/5").parse().expect("a shard");
        let own = shard.take(&points);
        assert!((4..=5).contains(&own.len()), "{}", own.len());
        seen.extend(own.iter().map(|point| point.number));
        let folder = tempfile::tempdir().expect("a folder");
        all(&own, folder.path(), 2);
        for file in fs::read_dir(folder.path()).expect("readable") {
            let file = file.expect("an entry");
            fs::copy(file.path(), merged.path().join(file.file_name())).expect("copied");
        }
    }
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..24));
    all(&points, whole.path(), 2);
    assert_eq!(results(merged.path()), results(whole.path()));
}

/// Counts what is begun and done.
#[derive(Default)]
struct Counted(Mutex<(usize, usize)>);

impl Watch for Counted {
    fn begin(&self, points: usize) {
        self.0.lock().expect("not poisoned").0 = points;
    }

    fn done(&self) {
        self.0.lock().expect("not poisoned").1 += 1;
    }
}

#[test]
fn the_same_run_under_two_names_is_run_once() {
    let points = plan("policies = [\"local\"]\n---[axes]\nssd.gc.hard_threshold = [\"5%\", \"5.0%\"]\n");
    let points = points.points().expect("valid");
    assert_eq!(points[0].address, points[1].address);
    let (folder, counted) = (tempfile::tempdir().expect("a folder"), Counted::default());
    let done = swept(&points, folder.path(), 2, &counted, &AtomicBool::new(false)).expect("runs");
    assert_eq!(
        (done, counted.0.into_inner().expect("not poisoned")),
        (Done { run: 1, known: 1, refused: 0 }, (1, 1))
    );
}

#[test]
fn a_refused_run_is_a_result_and_not_run_again() {
    let points = plan("[axes]\nworkload.warmup = [0, \"3600s\"]\n").points().expect("valid");
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(all(&points, folder.path(), 2), Done { run: 2, known: 0, refused: 1 });
    assert_eq!(all(&points, folder.path(), 2), Done { run: 0, known: 2, refused: 0 });
    let table = Table::of(&results(folder.path()));
    let column = |name: &str| table.columns.iter().find(|column| column.name == name).expect("a column");
    let count = |name: &str| {
        column(name).values.iter().filter(|value| **value != harmonia_sweep::table::Value::Null).count()
    };
    assert_eq!((count("refused"), count("mean_ns"), count("workload.warmup")), (1, 1, 2));
}

#[test]
fn an_address_is_of_contents_not_of_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let rows = "128166372003061629,web,3,Write,4096,4096,100\n128166372013061629,web,3,Write,8192,4096,100\n";
    fs::write(at("a.csv"), rows).expect("written");
    fs::create_dir(at("elsewhere")).expect("made");
    fs::write(at("elsewhere/b.csv"), rows).expect("written");
    fs::write(at("c.csv"), rows.replace("8192", "4096")).expect("written");
    let address = |name: &str| {
        let text = format!(
            "[set]\nssd.preset = \"tiny-test\"\nworkload = {{ kind = \"trace\", path = '{}', format = \"msr\" }}\nname = \"t\"\n",
            at(name)
        );
        let plan =
            Plan::parse(&text, "test.toml", &Base::File("tiny"), &[]).unwrap_or_else(|why| panic!("{why}"));
        plan.point(0).unwrap_or_else(|why| panic!("{why}")).expect("valid").address
    };
    assert_eq!(address("a.csv"), address("elsewhere/b.csv"));
    assert_ne!(address("a.csv"), address("c.csv"));
}

#[test]
fn bad_sweep_files_are_refused_with_file_line_key_value_and_what_is_allowed() {
    let cases: &[(&str, usize, &[&str])] = &[
        (
            "scenario = \"tiny\"\npolicys = [\"local\"]",
            2,
            &["`policys`", "did you mean `policies`", "[[point]]"],
        ),
        ("scenario = \"tinny\"", 1, &["`tinny` is neither a file", "did you mean `tiny`"]),
        ("scenario = 5", 1, &["`scenario` = 5: is not a scenario"]),
        ("policies = [\"local\"]", 1, &["`scenario` is missing"]),
        ("scenario = \"tiny\"\nseeds = 0", 2, &["`seeds` = 0", "1 to 1000"]),
        ("scenario = \"tiny\"\nseeds = [1, 2, 1]", 2, &["`seeds` = 1: is named twice"]),
        ("scenario = \"tiny\"\npolicies = [\"local\", \"locl\"]", 2, &["locl", "allowed"]),
        ("scenario = \"tiny\"\npolicies = []", 2, &["is an empty list"]),
        ("scenario = \"tiny\"\nmethod = \"sobol\"", 2, &["`method` = \"sobol\"", "grid, list, random, lhs"]),
        (
            "scenario = \"tiny\"\nmethod = \"lhs\"\n[axes]\narray.devices = [2, 4]",
            2,
            &["`samples` is missing"],
        ),
        ("scenario = \"tiny\"\nsamples = 3\n[axes]\narray.devices = [2, 4]", 2, &["nothing is drawn"]),
        (
            "scenario = \"tiny\"\nmethod = \"random\"\nsamples = 3\n[axes]\narray.devices = [2, 4]",
            5,
            &["only 2 combinations"],
        ),
        (
            "scenario = \"tiny\"\n[axes]\narray.devices = 2",
            3,
            &["`array.devices` = 2", "not a list", "\"1..8\""],
        ),
        ("scenario = \"tiny\"\n[axes]\narray.devices = [2, 2]", 3, &["given twice"]),
        ("scenario = \"tiny\"\n[axes]\narray.devices = \"8..2\"", 3, &["not above the lower"]),
        ("scenario = \"tiny\"\n[axes]\nseed = [1, 2]", 3, &["seeds are paired", "seeds = N"]),
        (
            "scenario = \"tiny\"\n[set]\narray.devices = 3\n[axes]\narray.devices = [2, 4]",
            3,
            &["`array.devices`: is fixed here and swept"],
        ),
        (
            "scenario = \"tiny\"\n[axes]\nssd.gc.victim = [\"greedy\",\n \"gredy\"]",
            4,
            &["`ssd.gc.victim` = \"gredy\"", "greedy"],
        ),
        ("scenario = \"tiny\"\n[set]\narray.device = 3", 3, &["array.device", "devices"]),
        (
            "scenario = \"tiny\"\n[[point]]\narray.devices = 2\n[[point]]\narray.devices = 0",
            5,
            &["`array.devices` = 0"],
        ),
        ("scenario = \"tiny\"\n[axes]\na = [", 3, &["this is not TOML"]),
    ];
    for (text, line, says) in cases {
        let refused = Plan::parse(text, "my.toml", &Base::Named, &[]).and_then(|plan| plan.points());
        let why = refused.err().unwrap_or_else(|| panic!("not refused: {text}"));
        let message = why.to_string();
        assert_eq!(why.line(), Some(*line), "{text}\n{message}");
        for part in ["my.toml:", "allowed"].iter().chain(*says) {
            assert!(message.contains(part), "must say {part:?}:\n{text}\n{message}");
        }
    }
}

#[test]
fn what_is_not_valid_is_skipped_only_if_the_file_says_so() {
    let text = |skip: bool| format!("skip_invalid = {skip}\n---[axes]\narray.devices = [2, 0, 4]\n");
    let points = plan(&text(true)).points().expect("some are valid");
    assert_eq!(points.iter().map(|point| point.number).collect::<Vec<_>>(), [0, 2]);
    assert!(plan(&text(true)).point(1).expect("skipped").is_none());
    assert!(plan(&text(false)).points().is_err());
}

#[test]
fn a_difference_is_one_of_keys_and_of_figures_with_significance() {
    let with = |requests: &str| {
        let text = format!("policies = [\"local\", \"ideal\"]\nseeds = 4\n---{requests}");
        let folder = tempfile::tempdir().expect("a folder");
        all(&plan(&text).points().expect("valid"), folder.path(), 2);
        folder
    };
    let (a, b) = (with(""), with("[[point]]\nworkload.read_fraction = 0.9\n"));
    let side =
        |folder: &tempfile::TempDir| Side::open(&folder.path().display().to_string()).expect("results");
    let same = Diff::of(&side(&a), &side(&a));
    assert_eq!((same.pairs.len(), same.only_a.len(), same.only_b.len()), (2, 0, 0));
    for pair in &same.pairs {
        assert!(pair.scenario.is_empty() && pair.seeds_a == [1, 2, 3, 4]);
        let zero = |figure: &harmonia_sweep::diff::Figure| {
            figure
                .versus
                .is_none_or(|versus| versus.difference.mean == 0.0 && versus.significant != Some(true))
        };
        assert!(pair.figures.iter().all(zero));
    }
    let other = Diff::of(&side(&a), &side(&b));
    assert_eq!(
        (other.pairs.len(), other.only_a.len(), other.only_b.len()),
        (0, 2, 2),
        "they have other names"
    );
    let one = |folder: &tempfile::TempDir, policy: &str| {
        let results = results(folder.path());
        let run = results.iter().find(|run| run.policy.as_deref() == Some(policy)).expect("there");
        Side::open(&folder.path().join(&run.address[..12]).display().to_string()).expect("a result")
    };
    let pair = &Diff::of(&one(&a, "local"), &one(&b, "local")).pairs[0];
    let keys: Vec<&str> = pair.scenario.iter().map(|change| change.key.as_str()).collect();
    assert_eq!(keys, ["workload.read_fraction"]);
    let erases = pair.figures.iter().find(|figure| figure.name == "erases").expect("a figure");
    assert!(erases.versus.expect("compared").difference.mean < 0.0, "reads erase nothing");
}

#[test]
fn the_sweep_in_the_examples_can_be_run() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sweeps/thresholds.toml");
    let plan = Plan::open(&file, &[]).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(plan.points().unwrap_or_else(|why| panic!("{why}")).len(), 48);
    let refused = Plan::open(&file, &["array.devices=3".to_owned()]).err().expect("swept already");
    assert!(refused.to_string().contains("the sweep varies this key"), "{refused}");
}
