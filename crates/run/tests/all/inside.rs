//! Does a run tell what happened inside its dies: in the report, over the measured window, and plane by plane?

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use harmonia_metrics::recording::MemberPlanes;
use harmonia_metrics::{MetReport, Observer, OverTimeReport, Pairing, Report};
use harmonia_run::{Observe, RunOptions, Unobserved, run};
use harmonia_scenario::Scenario;
use harmonia_types::{Completion, DeviceId, PlaneWork, SimTime};

/// Keeps what it is told of planes, and when the window began.
#[derive(Default)]
struct Watch(Mutex<Told>);

type Told = (SimTime, Option<MemberPlanes>);

impl Observe for Watch {
    fn observer(&self, _: harmonia_run::RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Watching(self)))
    }
}

struct Watching<'a>(&'a Watch);

impl Observer for Watching<'_> {
    fn begin(&mut self, from: SimTime, _: usize) {
        self.0.0.lock().expect("no panic before").0 = from;
    }
    fn completion(&mut self, _: &Completion) {}
    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
    fn wants_planes(&self) -> bool {
        true
    }
    fn planes(&mut self, planes: &MemberPlanes) {
        self.0.0.lock().expect("no panic before").1 = Some(planes.clone());
    }
    fn end(&mut self, _: SimTime) {}
}

/// The toy array with planes that collect on their own, under a schedule.
fn simulated(schedule: &str, sets: &[&str], observe: &dyn Observe, checked: bool) -> Report {
    let schedule = format!("ssd.gc.schedule={schedule}");
    let own = ["workload.requests=1500", "ssd.ftl.allocation_unit=plane", "ssd.gc.domain=plane", &schedule];
    let all: Vec<String> = own.iter().chain(sets).map(|set| (*set).to_owned()).collect();
    let scenario = Scenario::load("tiny", &all, None).unwrap_or_else(|error| panic!("{error}"));
    let cancel = AtomicBool::new(false);
    let options = RunOptions { checked, cancel: &cancel, observe, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn watched(schedule: &str, checked: bool) -> (Report, SimTime, MemberPlanes) {
    let watch = Watch::default();
    let report = simulated(schedule, &["workload.warmup=100"], &watch, checked);
    let (from, planes) = watch.0.into_inner().expect("no panic before");
    (report, from, planes.expect("planes were asked for"))
}

#[test]
fn looking_at_planes_changes_nothing_and_shows_the_same_each_time() {
    for schedule in ["blocking", "io-parallel", "preemptive"] {
        let (mut report, from, planes) = watched(schedule, false);
        // What is watched is in the report, too.
        assert!(report.devices.iter().all(|device| !device.over_time.is_empty()), "{schedule}");
        report.devices.iter_mut().for_each(|device| device.over_time = OverTimeReport::default());
        let unwatched = simulated(schedule, &["workload.warmup=100"], &Unobserved, false);
        assert_eq!(report.without_engine(), unwatched.without_engine(), "{schedule}");
        assert_eq!(planes, watched(schedule, true).2, "{schedule}, checked");
        assert!(!planes.dies.is_empty() && planes.member == DeviceId(0), "{schedule}");
        for die in &planes.dies {
            assert!(
                die.spans[0].start >= from && die.spans[0].work.is_gc(),
                "{schedule}: it begins in the window"
            );
            assert!(die.spans.is_sorted_by_key(|span| span.start) && die.waiting.len() > 1, "{schedule}");
        }
    }
}

/// Blocking leaves the sibling idle while a plane collects; io-parallel gives it something to do.
#[test]
fn the_sibling_of_a_collecting_plane_works_only_under_io_parallel() {
    let along = |planes: &MemberPlanes| {
        let together = |die: &harmonia_metrics::recording::DiePlanes| {
            die.spans.windows(2).filter(|pair| pair[0].start == pair[1].start).count()
        };
        planes.dies.iter().map(together).sum::<usize>()
    };
    let ((blocking, _, alone), (parallel, _, together)) =
        (watched("blocking", false), watched("io-parallel", false));
    assert_eq!((along(&alone), blocking.array.plane_utilisation_in_gc), (0, Some(0.5)));
    assert!(along(&together) > 10 && parallel.array.plane_utilisation_in_gc > Some(0.5));
    let moves = |planes: &MemberPlanes, work| planes.dies[0].spans.iter().any(|span| span.work == work);
    assert!(moves(&alone, PlaneWork::GcMove) && !moves(&together, PlaneWork::GcMove));
}

#[test]
fn places_sum_up_and_are_null_where_nothing_pairs() {
    let report = simulated("io-parallel", &[], &Unobserved, false);
    let pairing = report.array.inside.pairing.expect("io-parallel pairs");
    for (name, place) in [("reads", pairing.reads), ("writes", pairing.writes)] {
        let Pairing { offered, matched, none_waiting, other_offset, not_ready, needs_read, .. } = place;
        assert!(matched > 0, "{name}");
        assert_eq!(offered, matched + none_waiting + other_offset + not_ready + needs_read, "{name}");
    }
    let of_devices = report.devices.iter().filter_map(|device| device.inside.pairing);
    assert_eq!(of_devices.map(|pairing| pairing.reads.offered).sum::<u64>(), pairing.reads.offered);
    assert_eq!(simulated("blocking", &[], &Unobserved, false).array.inside.pairing, None);
    assert!(simulated("preemptive", &[], &Unobserved, false).array.inside.counts.preemptions > 0);
}

/// With one device a request is one operation, so the sums over planes are those of the host.
#[test]
fn requests_that_met_collection_are_told_apart_by_plane() {
    for schedule in ["blocking", "io-parallel", "preemptive"] {
        let one = ["array.devices=1", "workload.warmup=0", "workload.arrival.rate=400"];
        let report = simulated(schedule, &one, &Unobserved, false);
        let met = report.array.inside.met_gc.expect("planes own their blocks");
        let host = &report.host.response_ns;
        for (own, sibling, all) in [
            (met.own_reads, met.sibling_reads, &host.met_gc_read),
            (met.own_writes, met.sibling_writes, &host.met_gc_write),
        ] {
            assert!(own.count > 0 && sibling.count > 0, "{schedule}: {met:?}");
            assert_eq!(own.count + sibling.count, all.count, "{schedule}");
            let time = |met: MetReport| met.mean_ns.unwrap_or_default() * met.count as f64;
            let mean = (time(own) + time(sibling)) / all.count as f64;
            let expected = all.mean.expect("some met it");
            assert!((mean - expected).abs() < 1.0, "{schedule}: {mean}, not {expected}");
        }
    }
    let shared = ["ssd.ftl.allocation_unit=die", "ssd.gc.domain=die"];
    assert_eq!(simulated("blocking", &shared, &Unobserved, false).array.inside.met_gc, None);
}

/// The longest queue of the whole run lies before its last requests.
#[test]
fn queues_of_the_warm_up_are_forgotten() {
    let depth =
        |warmup: &str| simulated("blocking", &[warmup], &Unobserved, false).array.inside.queue_depth_at_gc;
    let (whole, late) = (depth("workload.warmup=0"), depth("workload.warmup=1400"));
    assert!(late.max.expect("it collects") < whole.max.expect("it collects"), "{late:?} {whole:?}");
    assert!(late.mean.expect("it collects") <= late.max.expect("it collects") as f64);
}

/// What every device tells over time agrees with what is counted otherwise; checked, the device finds a die that changed
/// unseen.
#[test]
fn devices_over_time_agree_with_the_counters() {
    for (schedule, checked) in
        [("blocking", true), ("preemptive", true), ("ideal", false), ("io-parallel", false)]
    {
        let limited = ["workload.warmup=100", "ssd.gc.concurrency.policy=fixed"];
        let report = simulated(schedule, &limited, &Unobserved, checked);
        for device in &report.devices {
            let over_time = &device.over_time;
            let buckets = over_time.empty_blocks.len();
            let width = over_time.bucket_ns;
            assert_eq!(report.simulated_ns.div_ceil(width), buckets as u64, "{schedule}");
            let victims: u64 = over_time.victims_erased.iter().sum();
            // One that is under way when the window begins or ends is counted at another time.
            assert!(victims.abs_diff(device.gc_victims) <= 8, "{schedule}: {victims} {}", device.gc_victims);
            let shares = &over_time.channels_in_gc_fraction;
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{schedule}");
            assert_eq!(shares[0] == 1.0, schedule == "ideal", "{schedule}: {shares:?}");
            let least = over_time.empty_blocks.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(over_time.empty_blocks_least as f64 <= least && least < 1e6, "{schedule}");
            let mean = over_time.queue_depth_mean.expect("a window");
            assert!(mean > 0.0 && mean <= over_time.queue_depth_max as f64, "{schedule}");
        }
    }
}
