//! Does a trace that waits for completions, or is repeated, run on an array as it should?

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};

use harmonia_array::{AgeingPlan, Array, COUNTED_FROM, age};
use harmonia_metrics::{Observer, Report};
use harmonia_run::{Observe, RunOptions, Unobserved, compare, run};
use harmonia_scenario::{Scenario, Variant};
use harmonia_ssd::probe::NoProbe;
use harmonia_types::{Completion, DeviceId, SimTime};
use harmonia_workload::{ArrayGeometryForLoad, Next};

/// Two small devices, 25.6 MiB together, aged in an instant.
const ARRAY: &str = "seed = 3\nssd.preset = \"tiny-test\"\narray.devices = 2\nprecondition.overwrite = 2\n\
                     workload.kind = \"trace\"\nworkload.format = \"msr\"\nworkload.remap = \"wrap\"\n";

/// Reads and writes of two volumes, drawn from a small generator: ticks of 100 ns, and recorded responses.
fn trace(rows: u64) -> String {
    let (mut state, mut time) = (1u64, 0);
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut line = || {
        time += below(4000);
        let operation = if below(3) == 0 { "Read" } else { "Write" };
        let (volume, page, pages) = (below(2), below(3000), 1 + below(4));
        format!("{time},h,{volume},{operation},{},{},{}\n", page * 4096, pages * 4096, below(6000))
    };
    (0..rows).map(|_| line()).collect()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("t.csv"), text).unwrap();
        Folder(folder)
    }

    fn scenario(&self, keys: &str) -> Scenario {
        let text = format!("{ARRAY}workload.path = \"t.csv\"\n{keys}\n");
        let origin = self.0.path().join("test.toml");
        Scenario::parse(&text, origin.to_str().unwrap(), &[], None).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn options(observe: &dyn Observe, threads: usize) -> RunOptions<'_> {
    RunOptions { threads, checked: true, observe, ..RunOptions::default() }
}

fn report(scenario: &Scenario) -> Report {
    run(scenario, &options(&Unobserved, 1)).unwrap_or_else(|error| panic!("{error}"))
}

/// One request after the other: the run lasts as long as all of them take, each alone on the array.
#[test]
fn a_closed_replay_of_one_outstanding_lasts_as_long_as_all_requests_alone() {
    let folder = Folder::with(&trace(800));
    // A die collects for what it serves next, and so for a request that is there.
    let alone = |keys: &str| report(&folder.scenario(&format!("ssd.gc.domain = \"die\"\n{keys}")));
    let closed = alone("workload.replay = \"closed\"");
    let apart = alone("workload.time_scale = 1e5");
    let sum = |report: &Report| report.host.response_ns.all.mean.unwrap() * 800.0;
    assert!((closed.simulated_ns as f64 - sum(&closed)).abs() < 1.0, "{}", closed.simulated_ns);
    assert!((sum(&closed) - sum(&apart)).abs() < 1.0, "{} {}", sum(&closed), sum(&apart));
    assert_eq!(closed.array.erases, apart.array.erases);
    assert!(closed.array.erases > 50, "collections are among what requests wait for");
    let deeper = alone("workload.replay = \"closed\"\nworkload.queue_depth = 8");
    assert!(deeper.simulated_ns < closed.simulated_ns / 2, "eight at once");
}

/// Keeps id, arrival and finish of what completes.
#[derive(Default)]
struct Kept(Mutex<Vec<(u64, u64, u64)>>);

struct Keeping<'a>(&'a Kept);

impl Observe for Kept {
    fn observer(&self, _: harmonia_run::RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Keeping(self)))
    }
}

impl Observer for Keeping<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}
    fn completion(&mut self, done: &Completion) {
        self.0.0.lock().unwrap().push((done.id, done.arrival.0, done.finish.0));
    }
    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
    fn end(&mut self, _: SimTime) {}
}

/// The same load on the same array, moved from one event to the next and never further: each completion is handed over
/// at its time.
fn stepped(scenario: &Scenario) -> Vec<(u64, u64, u64)> {
    let (cancel, pages_done) = (AtomicBool::new(false), AtomicU64::new(0));
    let (fill, overwrite) = (scenario.precondition.fill, scenario.precondition.overwrite);
    let plan = AgeingPlan {
        fill,
        overwrite,
        within: None,
        counted_from: COUNTED_FROM,
        seed: scenario.seed,
        threads: 1,
        cancel: &cancel,
        pages_done: &pages_done,
    };
    let aged = age(&scenario.array, &plan).unwrap();
    let mut array = Array::new(&scenario.array, aged.devices, None, |_| NoProbe).unwrap();
    let layout = scenario.array.layout();
    let geometry = ArrayGeometryForLoad {
        logical_bytes: layout.logical_bytes(),
        member_bytes: layout.member_bytes(),
        members: scenario.array.devices,
        page_size: scenario.array.page_size(),
        scaled_from: None,
    };
    let mut source = scenario.workload.prepare(&geometry).unwrap().source(scenario.seed).unwrap();
    let (mut now, mut seen, mut known, mut all) = (SimTime::ZERO, Vec::new(), Vec::new(), Vec::new());
    let mut arrival = None;
    loop {
        known.append(array.completions());
        // What finishes now is handed over before anything else happens.
        known.sort_by_key(|done: &Completion| (done.finish, done.id));
        while known.first().is_some_and(|done| done.finish <= now) {
            let done = known.remove(0);
            all.push((done.id, done.arrival.0, done.finish.0));
            seen.push(done);
        }
        if arrival.is_none() {
            match source.next(now, &std::mem::take(&mut seen)).unwrap() {
                Next::At(request) => arrival = Some(request),
                Next::End if known.is_empty() && array.next_wakeup() == SimTime::NEVER => return all,
                Next::AfterCompletion | Next::End | Next::Until(_) => {}
            }
        }
        let due = arrival.map_or(SimTime::NEVER, |request| request.arrival);
        let finish = known.first().map_or(SimTime::NEVER, |done| done.finish);
        let wakeup = array.next_wakeup();
        let next = wakeup.min(finish).min(due);
        if next == SimTime::NEVER {
            continue;
        }
        now = next;
        array.advance_until(now).unwrap();
        if wakeup > now && due == now {
            array.submit(arrival.take().expect("it is due")).unwrap();
        }
    }
}

#[test]
fn what_waits_is_given_the_same_completions_however_far_members_look_ahead() {
    let folder = Folder::with(&trace(600));
    for keys in [
        "workload.replay = \"think-times\"",
        "workload.replay = \"think-times\"\nworkload.time_scale = 0.2\nworkload.repeat = 2",
        "workload.replay = \"closed\"\nworkload.queue_depth = 5",
        "workload.replay = \"think-times\"\narray.coordination.policy = \"reactive-selective\"\n\
         array.coordination.message_latency = \"30us\"",
    ] {
        let scenario = folder.scenario(keys);
        let kept = Kept::default();
        run(&scenario, &options(&kept, 1)).unwrap_or_else(|error| panic!("{error}"));
        let (mut kept, mut expected) = (kept.0.into_inner().unwrap(), stepped(&scenario));
        kept.sort_unstable();
        expected.sort_unstable();
        assert_eq!(kept, expected, "{keys}");
    }
}

#[test]
fn a_replay_that_waits_is_the_same_on_any_number_of_threads() {
    let folder = Folder::with(&trace(400));
    let variant = |label: &str, keys: &str| Variant { label: label.into(), scenario: folder.scenario(keys) };
    let variants = [
        variant("think", "workload.replay = \"think-times\""),
        variant("closed", "workload.replay = \"closed\"\nworkload.queue_depth = 3\nworkload.repeat = 3"),
        variant("raid1", "workload.replay = \"think-times\"\narray.level = \"raid1\""),
    ];
    let bytes = |threads| {
        let runs = compare(&variants, &options(&Unobserved, threads)).unwrap().runs;
        runs.iter().map(|run| serde_json::to_string(&run.without_engine()).unwrap()).collect::<Vec<_>>()
    };
    let once = bytes(1);
    assert_eq!(once, bytes(1));
    assert_eq!(once, bytes(2));
}

/// Enough of it for a trace that is too short to say anything.
#[test]
fn a_repeated_trace_collects_more_often_and_reports_what_was_replayed() {
    let folder = Folder::with(&trace(300));
    let once = report(&folder.scenario(""));
    let often = report(&folder.scenario("workload.repeat = 10\nworkload.warmup = 300"));
    assert_eq!((once.trace.unwrap().rows, often.trace.unwrap().rows), (300, 3000));
    assert_eq!(often.host.requests, 2700);
    assert!(often.array.erases > 7 * once.array.erases);
}

#[test]
fn resolved_replays_are_read_back() {
    let folder = Folder::with(&trace(1));
    for keys in [
        "workload.repeat = 7\nworkload.replay = \"closed\"\nworkload.queue_depth = 32",
        "workload.replay = \"closed\"\nworkload.time_scale = 1",
        "workload.replay = \"think-times\"\nworkload.time_scale = 0.5",
        "",
    ] {
        let scenario = folder.scenario(keys);
        let again = Scenario::parse(&scenario.to_toml(), "test.toml", &[], None);
        assert_eq!(again.unwrap_or_else(|error| panic!("{error}")), scenario, "{keys}");
    }
}
