//! Does the cache of aged states ever show in a result, whatever lies in its folder and whoever else uses it?

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use harmonia_run::{AgedCache, CacheUsage, RunOptions, compare};
use harmonia_scenario::{Scenario, Variant};

#[expect(clippy::disallowed_types, reason = "makes files older than they are")]
fn now() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

const PLENTY: u64 = 1 << 30;

/// The toy scenario, shorter, with these keys changed.
fn variant(sets: &[&str]) -> Variant {
    let mut all = vec!["workload.requests=600".to_owned(), "precondition.overwrite=1.5".to_owned()];
    all.extend(sets.iter().map(|set| (*set).to_owned()));
    let scenario = Scenario::load("tiny", &all, None).unwrap_or_else(|error| panic!("{error}"));
    Variant { label: sets.join(" "), scenario }
}

/// Runs that share a state, runs with states of their own, and one whose victims are drawn at random.
fn variants() -> Vec<Variant> {
    vec![
        variant(&["array.coordination.policy=local"]),
        variant(&["array.coordination.policy=reactive-inclusive"]),
        variant(&["ssd.gc.soft_threshold=hard+3"]),
        variant(&[
            "ssd.ftl.priority=reads-first",
            "ssd.ftl.multi_plane=true",
            "ssd.timing.suspend_program=20us",
            "ssd.timing.command=300ns",
        ]),
        variant(&["ssd.timing.suspend_erase=20us", "ssd.timing.resume=5us"]),
        variant(&["ssd.gc.victim=random"]),
        variant(&["precondition.fill=0.6"]),
        variant(&["precondition.fill=0.6", "ssd.ftl.allocation=wcdp"]),
        variant(&["ssd.ftl.allocation_unit=plane", "ssd.ftl.frontiers=separate", "seed=2"]),
    ]
}

/// How many states those age.
const STATES: usize = 5;

/// The runs' reports as bytes.
fn reports(variants: &[Variant], threads: usize, cache: Option<&AgedCache>) -> Vec<String> {
    let options = RunOptions { threads, checked: true, cache, ..RunOptions::default() };
    let comparison = compare(variants, &options).unwrap_or_else(|error| panic!("{error}"));
    let text = |report: &harmonia_metrics::Report| serde_json::to_string(&report.without_engine());
    comparison.runs.iter().map(|report| text(report).expect("a report is JSON")).collect()
}

fn cache(folder: &Path, most_bytes: u64) -> AgedCache {
    AgedCache::new(folder.to_owned(), most_bytes).storing_from(0)
}

fn states(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    paths
}

/// How many notices begin with this.
fn said(cache: &AgedCache, what: &str) -> usize {
    cache.notices().iter().filter(|notice| notice.contains(what)).count()
}

#[test]
fn reports_are_the_same_bytes_without_it_filling_it_and_from_it() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let folder = folder.path().join("made/when/needed");
    let variants = variants();
    let without = reports(&variants, 1, None);
    let cache = cache(&folder, PLENTY);
    assert!(without == reports(&variants, 2, Some(&cache)), "filling it");
    assert_eq!(said(&cache, "stored in"), STATES);
    for threads in [1, 2] {
        assert!(without == reports(&variants, threads, Some(&cache)), "from it, {threads} threads");
        assert_eq!(said(&cache, "read from"), STATES);
    }
    assert_eq!(cache.usage().expect("readable").files, STATES);
    assert_eq!(cache.clear().expect("removed").files, STATES);
    assert_eq!(cache.usage().expect("readable"), CacheUsage::default());
}

/// Cut short, emptied, changed in its head, middle and end, another state under its name, no file at all.
#[test]
fn a_damaged_state_is_aged_anew_and_replaced() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let variants = [variant(&[])];
    let without = reports(&variants, 1, None);
    let cache = cache(folder.path(), PLENTY);
    reports(&[variant(&["seed=9"])], 1, Some(&cache));
    let other = fs::read(&states(folder.path())[0]).expect("stored");
    cache.clear().expect("removed");
    reports(&variants, 1, Some(&cache));
    let path = states(folder.path()).remove(0);
    let whole = fs::read(&path).expect("stored");
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        bytes
    };
    let end = whole.len();
    let damaged = [
        whole[..end / 2].to_vec(),
        Vec::new(),
        changed(9),
        changed(100),
        changed(end / 2),
        changed(end - 1),
        other,
    ];
    for (case, bytes) in damaged.iter().enumerate() {
        cache.notices();
        fs::write(&path, bytes).expect("written");
        assert!(without == reports(&variants, 1, Some(&cache)), "case {case}");
        assert_eq!(said(&cache, "is of no use, ageing anew"), 1, "case {case}");
        assert!(fs::read(&path).expect("replaced") == whole, "case {case}");
    }
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("made");
    assert!(without == reports(&variants, 1, Some(&cache)), "a folder in the way");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_way_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let variants = [variant(&[])];
    let cache = cache(folder.path(), PLENTY);
    let without = reports(&variants, 1, Some(&cache));
    let path = states(folder.path()).remove(0);
    fs::remove_file(&path).expect("removed");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    assert!(without == reports(&variants, 1, Some(&cache)));
}

#[test]
fn a_folder_that_cannot_be_is_said_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("file");
    fs::write(&file, "in the way").expect("written");
    let variants = [variant(&[])];
    let cache = cache(&file.join("below"), PLENTY);
    assert!(reports(&variants, 1, None) == reports(&variants, 1, Some(&cache)));
    assert_eq!(said(&cache, "not stored"), 1);
}

#[test]
fn the_least_recently_used_goes_first() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let seeds: Vec<[Variant; 1]> = (1..=4).map(|seed| [variant(&[&format!("seed={seed}")])]).collect();
    let age = |seed: usize, cache: &AgedCache| {
        reports(&seeds[seed - 1], 1, Some(cache));
        said(cache, "read from") == 1
    };
    let plenty = cache(folder.path(), PLENTY);
    assert!(!age(1, &plenty));
    let one = plenty.usage().expect("readable").bytes;
    let (first, long_ago) = (states(folder.path()).remove(0), now() - Duration::from_secs(3600));
    assert!(!age(2, &plenty));
    // The second was used an hour ago, the first two hours ago, and then the first again.
    for (path, hours) in states(folder.path()).iter().map(|path| (path, if *path == first { 2 } else { 1 })) {
        let file = fs::File::options().append(true).open(path).expect("there");
        file.set_modified(long_ago - Duration::from_secs(3600 * hours)).expect("set");
    }
    assert!(age(1, &plenty));
    let room_for_two = cache(folder.path(), 2 * one + one / 2);
    assert!(!age(3, &room_for_two));
    assert_eq!(room_for_two.usage().expect("readable").files, 2);
    assert!(age(1, &room_for_two) && age(3, &room_for_two), "the second went");
    // What is larger than the cache may be is not stored, and nothing goes for its sake.
    let too_small = cache(folder.path(), one / 2);
    assert!(!age(4, &too_small));
    assert_eq!(too_small.usage().expect("readable").files, 2);
    // Nor what is not worth a file.
    let choosy = AgedCache::new(folder.path().to_owned(), PLENTY);
    assert!(!age(4, &choosy));
    assert_eq!(choosy.usage().expect("readable").files, 2);
}

/// Many caches in one folder that holds two states, as many processes would use it.
#[test]
fn any_number_at_once_get_the_right_states() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let seeds: Vec<[Variant; 1]> = (1..=4).map(|seed| [variant(&[&format!("seed={seed}")])]).collect();
    let without: Vec<Vec<String>> = seeds.iter().map(|variants| reports(variants, 1, None)).collect();
    let plenty = cache(folder.path(), PLENTY);
    reports(&seeds[0], 1, Some(&plenty));
    let most = plenty.usage().expect("readable").bytes * 5 / 2;
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let (seeds, without, folder) = (&seeds, &without, folder.path());
            scope.spawn(move || {
                for step in 0..8 {
                    let seed = (worker + step * 3) % 4;
                    let cache = cache(folder, most);
                    assert!(without[seed] == reports(&seeds[seed], 1, Some(&cache)), "seed {}", seed + 1);
                }
            });
        }
    });
    let left: Vec<String> =
        states(folder.path()).iter().map(|path| path.to_string_lossy().into_owned()).collect();
    assert!(left.iter().all(|name| name.ends_with(".aged")), "nothing half-written stays: {left:?}");
}

/// A process that was killed leaves a file under way; it goes when it is a day old.
#[test]
fn what_a_killed_process_left_goes_in_time() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let names = [".under-way-old", ".under-way-new", "not-ours"];
    for name in names {
        fs::write(folder.path().join(name), "half").expect("written");
    }
    let old = fs::File::options().append(true).open(folder.path().join(names[0])).expect("there");
    old.set_modified(now() - Duration::from_secs(2 * 24 * 3600)).expect("set");
    let cache = cache(folder.path(), PLENTY);
    reports(&[variant(&[])], 1, Some(&cache));
    assert_eq!(names.map(|name| folder.path().join(name).exists()), [false, true, true]);
    cache.clear().expect("removed");
    assert_eq!(states(folder.path()).len(), 2, "only states are removed");
}

/// Whoever puts a file of their own into the folder finds it there again, whatever it is called.
#[test]
fn only_what_is_named_like_a_state_is_counted_and_removed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let state = format!("{:032x}.aged", 0xabc);
    let foreign = ["mine.aged".to_owned(), state.to_uppercase(), format!("0{state}"), "notes.txt".to_owned()];
    for name in foreign.iter().chain([&state]) {
        std::fs::write(folder.path().join(name), "x").expect("written");
    }
    let cache = cache(folder.path(), AgedCache::MOST_BYTES);
    assert_eq!(cache.usage().expect("readable").files, 1);
    assert_eq!(cache.clear().expect("removed").files, 1);
    assert!(!folder.path().join(&state).exists());
    for name in &foreign {
        assert!(folder.path().join(name).exists(), "{name}");
    }
}
