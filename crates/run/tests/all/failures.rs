//! Failures as a user sees them: does the report say what befell members, what was felt of it, and what was lost?

use std::sync::Mutex;

use harmonia_metrics::judgement::{
    DATA_LOST, FAILURE_NOT_REACHED, NOT_STARTED, REBUILD_UNFINISHED, RESYNC_UNFINISHED,
};
use harmonia_metrics::{AilingSpan, Ailment, FailuresReport, Happening, Observer, Report};
use harmonia_run::{Observe, RunId, RunOptions, Unobserved, compare_seeds, run};
use harmonia_scenario::{Scenario, Variant};
use harmonia_types::{Completion, DeviceId, IoCause, SimTime};

/// 2 s of load, of which the first tenth warms up.
const TINY: &str = "name = \"t\"\nssd.preset = \"tiny-test\"\narray = { devices = 4, level = \"raid5\" }\n\
    workload = { size.mean = \"4KiB\", arrival.rate = 2000, requests = 4000, warmup = 400, read_fraction = 0.5 }";
const FAILS: &str = "array.failure=[{ device = 1, at = \"0.5s\" }]";
const SPARE: &str = "array.spares=1";
/// The 13 MiB of a member in less than a second.
const FAST: &str = "array.rebuild.min_rate=20MB/s";

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(TINY, "test", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn options(observe: &dyn Observe) -> RunOptions<'_> {
    RunOptions { checked: true, observe, ..RunOptions::default() }
}

fn report(sets: &[&str]) -> Report {
    run(&scenario(sets), &options(&Unobserved)).unwrap_or_else(|error| panic!("{error}"))
}

fn failures(report: &Report) -> &FailuresReport {
    report.array.failures.as_ref().expect("something may befall members")
}

fn has(report: &Report, code: &str) -> bool {
    report.warnings.iter().any(|warning| warning.code == code)
}

#[test]
fn a_member_fails_is_replaced_and_rebuilt() {
    let report = report(&[FAILS, SPARE, FAST, "array.coordination.message_latency=50ms"]);
    let failures = failures(&report);
    let events: Vec<(f64, u16, Happening)> =
        failures.events.iter().filter_map(|event| Some((event.at_s, event.device?, event.what))).collect();
    assert_eq!(events[..2], [(0.5, 1, Happening::Failed), (0.6, 1, Happening::Replaced { by: 4 })]);
    assert!(events.len() == 3 && events[2].2 == Happening::Rebuilt, "{events:?}");
    let rebuild = failures.rebuild.expect("a spare took a place");
    assert_eq!((rebuild.share, rebuild.work.bytes), (1.0, 13 << 20));
    assert!((rebuild.work.seconds - (events[2].0 - 0.6)).abs() < 1e-9, "{rebuild:?}");
    let responses = &failures.response_ns;
    assert!((responses.degraded.seconds - 0.1).abs() < 1e-9, "{responses:?}");
    assert!((failures.degraded_s - 0.1 - rebuild.work.seconds).abs() < 1e-9);
    let seconds: f64 = responses.all().iter().map(|(_, phase)| phase.seconds).sum();
    assert!((seconds - report.simulated_ns as f64 / 1e9).abs() < 1e-9, "phases are all of the window");
    assert!(failures.rebuilt_pages > 0 && failures.lost.pages() == 0);
    assert!(report.warnings.iter().all(|warning| !warning.code.contains("rebuild")), "{:?}", report.warnings);
}

/// Half of the load warms up with two copies, the other half is measured with one.
#[test]
fn what_the_user_wrote_does_not_depend_on_how_many_members_take_it() {
    let fails = "array.failure=[{ device = 1, at = \"1s\" }]";
    let report = report(&[
        "array.level=raid1",
        "array.devices=2",
        "workload.warmup=2000",
        "workload.align=false",
        fails,
    ]);
    let (written, measured) = (report.array.host_bytes_written, report.host.bytes_written);
    // A few requests were under way when the window opened.
    assert!(
        (measured..measured + measured / 100).contains(&written),
        "{written}, {measured} of them measured"
    );
    assert!(
        report.array.flash_bytes[IoCause::Host] < measured + measured / 2,
        "hardly anything is written twice"
    );
}

/// Nothing is missing while a member is copied, and the report tells copying from rebuilding.
#[test]
fn a_member_that_works_is_replaced() {
    let replace = "array.failure=[{ device = 1, at = \"0.5s\", kind = \"replace\" }]";
    let report = report(&[replace, SPARE, FAST]);
    let failures = failures(&report);
    let events: Vec<(u16, Happening)> =
        failures.events.iter().map(|event| (event.device.expect("of a member"), event.what)).collect();
    assert_eq!(events, [(1, Happening::Copying { to: 4 }), (1, Happening::Replaced { by: 4 })]);
    let copy = failures.copy.expect("a spare began to take a place");
    assert_eq!((copy.share, copy.work.bytes, failures.rebuild), (1.0, 13 << 20, None));
    let copying = &failures.response_ns.copying;
    assert!((copying.seconds - copy.work.seconds).abs() < 1e-9 && copying.write.count > 0, "{copying:?}");
    assert!((failures.degraded_s, failures.rebuilt_pages, failures.lost.pages()) == (0.0, 0, 0));
    assert_eq!(report.devices[4].in_place_of, Some(1));
    assert!(report.devices[4].host_pages_written > 0 && !has(&report, REBUILD_UNFINISHED));
}

#[test]
fn a_member_that_fails_while_it_is_replaced_is_rebuilt() {
    let both =
        "array.failure=[{ device = 1, at = \"0.4s\", kind = \"replace\" }, { device = 1, at = \"0.45s\" }]";
    let report = report(&[both, SPARE, FAST]);
    let failures = failures(&report);
    let whats: Vec<Happening> = failures.events.iter().map(|event| event.what).collect();
    let spare = 4;
    let expected = [
        Happening::Copying { to: spare },
        Happening::Failed,
        Happening::Replaced { by: spare },
        Happening::Rebuilt,
    ];
    assert_eq!(whats, expected);
    let (copy, rebuild) = (failures.copy.expect("a copy"), failures.rebuild.expect("a rebuild"));
    assert_eq!((copy.work.bytes + rebuild.work.bytes, rebuild.share), (13 << 20, 1.0));
    assert!(copy.share < 1.0 && !has(&report, REBUILD_UNFINISHED), "the rebuild ended it");
    let slow = [both, SPARE, "array.rebuild.min_rate=100KB/s", "array.rebuild.max_rate=100KB/s"];
    assert!(has(&self::report(&slow), REBUILD_UNFINISHED));
    let copies =
        ["array.failure=[{ device = 1, at = \"0.4s\", kind = \"replace\" }]", SPARE, slow[2], slow[3]];
    assert!(has(&self::report(&copies), REBUILD_UNFINISHED), "so is a copy that did not end");
}

#[test]
fn a_spare_may_be_late() {
    let report = report(&[FAILS, SPARE, FAST, "array.rebuild.delay=0.3s"]);
    let times: Vec<f64> = failures(&report).events.iter().map(|event| event.at_s).collect();
    assert_eq!(times[..2], [0.5, 0.8]);
    assert!((failures(&report).response_ns.degraded.seconds - 0.3).abs() < 1e-9);
    assert!(scenario(&[SPARE, "array.rebuild.delay=0.3s"]).to_toml().contains("delay = \"300ms\""));
}

const POWER: &str = "array.power_loss=[{ at = \"0.5s\" }]";

#[test]
fn a_loss_of_power_is_told_and_the_array_resynced() {
    let report = report(&[POWER, FAST]);
    let failures = failures(&report);
    assert!(matches!(failures.events[0].what, Happening::PowerLost { .. }), "{:?}", failures.events);
    assert_eq!((failures.events[0].at_s, failures.events[0].device), (0.5, None));
    assert_eq!((failures.events.len(), failures.events[1].what), (2, Happening::Resynced));
    let resync = failures.resync.expect("writes had been under way");
    assert_eq!((resync.share, resync.work.bytes), (1.0, 13 << 20));
    assert!((resync.work.seconds - (failures.events[1].at_s - 0.5)).abs() < 1e-9, "{resync:?}");
    assert!(!has(&report, RESYNC_UNFINISHED) && failures.lost.pages() == 0);
    let slow = self::report(&[POWER, "array.rebuild.min_rate=100KB/s", "array.rebuild.max_rate=100KB/s"]);
    assert!(has(&slow, RESYNC_UNFINISHED), "{:?}", slow.warnings);
}

#[test]
fn a_degraded_array_that_loses_power_is_not_started_and_says_so() {
    let report = report(&["array.failure=[{ device = 1, at = \"0.3s\" }]", POWER]);
    assert_eq!(failures(&report).events.last().expect("events").what, Happening::Refused);
    assert!(has(&report, NOT_STARTED) && failures(&report).lost.unread_pages > 0, "{:?}", report.warnings);
}

/// Every request of the window is in one phase; what devices did is what the array did, whoever was in which place.
#[test]
fn nothing_is_counted_twice_or_left_out() {
    let report = report(&[FAILS, SPARE, FAST, "array.page_errors=1e-3"]);
    let phases = failures(&report).response_ns.all();
    let count = |of: fn(&harmonia_metrics::PhaseResponse) -> u64| {
        phases.iter().map(|(_, phase)| of(phase)).sum::<u64>()
    };
    assert_eq!(count(|phase| phase.read.count), report.host.read_requests);
    assert_eq!(count(|phase| phase.write.count), report.host.write_requests);
    let devices = &report.devices;
    assert_eq!((devices.len(), report.members()), (5, 4));
    assert_eq!(devices.iter().map(|device| device.erases).sum::<u64>(), report.array.erases);
    assert_eq!(devices.iter().map(|device| device.gc_pages_moved).sum::<u64>(), report.array.gc_pages_moved);
    let rebuilt = report.array.flash_bytes[IoCause::Background];
    assert_eq!(
        devices.iter().map(|device| device.host_pages_written).sum::<u64>(),
        report.array.host_pages_written + rebuilt / 4_096
    );
    assert!(rebuilt > 0 && devices[4].flash_bytes[IoCause::Background] > 0, "what is rebuilt stands apart");
    assert!(devices[..4].iter().all(|device| !device.spare && device.in_place_of.is_none()));
    assert!(devices[4].spare && devices[4].in_place_of == Some(1));
    assert!(devices[1].erases < devices[0].erases, "it failed after a quarter of the run");
    assert!(devices[1].gc_events < devices[0].gc_events, "and what its successor collects is not its own");
    assert!(devices[1].gc_events > 0 && devices[4].gc_events > 0, "{devices:?}");
    assert!(failures(&report).unreadable_pages > 0);
}

#[test]
fn spares_are_new_or_aged() {
    let spare = |state: &str| report(&[FAILS, SPARE, FAST, state]).devices.pop().expect("a spare");
    let (new, aged) = (spare("array.spare_state=new"), spare("array.spare_state=aged"));
    assert!(new.wear.max < aged.wear.min, "{:?} {:?}", new.wear, aged.wear);
    assert!(new.gc_pages_moved < aged.gc_pages_moved, "its blocks are full of pages that are still valid");
}

/// Where nothing befalls anybody, keys of spares and rates change nothing, and nothing is said of failures.
#[test]
fn a_healthy_array_reports_as_it_did() {
    let plain = report(&[]);
    let with_spare = report(&[SPARE, FAST, "array.spare_state=aged"]);
    assert!(plain.array.failures.is_none());
    let same = Report { scenario: plain.scenario.clone(), ..with_spare.without_engine() };
    assert_eq!(same, plain.without_engine());
    let text = serde_json::to_string(&plain).expect("JSON");
    assert!(["failures", "spare", "in_place_of", "page_errors"].iter().all(|key| !text.contains(key)));
}

#[test]
fn what_is_lost_unfinished_or_not_reached_is_told() {
    let found = report(&["array.level=raid0", FAILS]);
    assert!(failures(&found).lost.pages() > 0 && has(&found, DATA_LOST), "{:?}", found.warnings);
    let found = report(&[FAILS, SPARE, "array.rebuild.min_rate=100KB/s", "array.rebuild.max_rate=100KB/s"]);
    let rebuild = failures(&found).rebuild.expect("a spare");
    assert!(0.0 < rebuild.share && rebuild.share < 0.1 && has(&found, REBUILD_UNFINISHED), "{rebuild:?}");
    assert!(!has(&found, DATA_LOST) && !has(&found, FAILURE_NOT_REACHED));
    for late in ["at = \"1h\"", "request = 4001"] {
        let found = report(&[&format!("array.failure=[{{ device = 1, {late} }}]")]);
        assert_eq!((failures(&found).not_reached, failures(&found).events.len()), (1, 0));
        assert!(has(&found, FAILURE_NOT_REACHED), "{late}");
    }
    let last = report(&["array.failure=[{ device = 1, request = 4000 }]"]);
    assert_eq!((failures(&last).not_reached, failures(&last).events.len()), (0, 1));
}

/// Which pages cannot be read is drawn from the seed of the run, as everything is.
#[test]
fn seeds_have_page_errors_of_their_own() {
    let variant = Variant { label: String::new(), scenario: scenario(&["array.page_errors=1e-3"]) };
    let runs = compare_seeds(std::slice::from_ref(&variant), 2, &options(&Unobserved))
        .unwrap_or_else(|error| panic!("{error}"))
        .runs;
    let unreadable = |run: &Report| failures(run).unreadable_pages;
    assert!(unreadable(&runs[0]) > 0 && unreadable(&runs[0]) != unreadable(&runs[1]), "{runs:?}");
    let mut second = variant.scenario;
    second.seed = 2;
    let alone = report(&["array.page_errors=1e-3", "seed=2"]);
    assert_eq!(alone.without_engine().array, runs[1].without_engine().array);
}

#[derive(Default)]
struct Spans(Mutex<Vec<AilingSpan>>);

struct Watching<'a>(&'a Spans);

impl Observe for Spans {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Watching(self)))
    }
}

impl Observer for Watching<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}
    fn completion(&mut self, _: &Completion) {}
    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
    fn ails(&mut self, span: &AilingSpan) {
        self.0.0.lock().expect("no panic before").push(*span);
    }
    fn end(&mut self, _: SimTime) {}
}

/// An observer is told of the part within the window.
#[test]
fn a_picture_has_the_spans_of_the_window() {
    let spans = Spans::default();
    let slow = "array.failure=[{ device = 1, at = \"0.5s\" }, { device = 2, at = \"1ms\", kind = \"slow\", factor = 2 }]";
    let sets = [slow, SPARE, FAST, "array.coordination.message_latency=50ms"];
    let report = run(&scenario(&sets), &options(&spans)).unwrap_or_else(|error| panic!("{error}"));
    let seen = spans.0.into_inner().expect("no panic before");
    let kinds: Vec<(u16, Ailment)> = seen.iter().map(|span| (span.member.0, span.ailment)).collect();
    assert_eq!(kinds, [(2, Ailment::Slow), (1, Ailment::Failed), (1, Ailment::Rebuilding)]);
    assert!(seen[0].start > SimTime(1_000_000), "the warm-up is cut off");
    assert_eq!((seen[1].start, seen[1].end), (SimTime(500_000_000), SimTime(600_000_000)));
    assert_eq!((seen[0].end - seen[0].start).as_ns(), report.simulated_ns, "slow to the end");
}
