//! What members reveal: are the keys kept, does the report say which rung a run needs, and whether members can collect in turn?

use std::sync::Mutex;

use harmonia_metrics::judgement::CANNOT_KEEP_UP;
use harmonia_metrics::{MeasuredIn, Observer, Report};
use harmonia_run::{Observe, RunId, RunOptions, Unobserved, run};
use harmonia_scenario::Scenario;
use harmonia_scenario::policies::{IDEAL, all, choice, needs};
use harmonia_types::{Completion, DeviceId, SimTime};

const TINY: &str = "name = \"t\"\nssd.preset = \"tiny-test\"\narray = { devices = 4, level = \"raid5\" }\n\
    workload = { size.mean = \"4KiB\", arrival.rate = 2000, requests = 3000, read_fraction = 0.5 }";

/// The tiny array with flags as `--set` takes them.
fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(TINY, "test", &sets, None).unwrap_or_else(|error| panic!("{error}"))
}

fn report(sets: &[&str], observe: &dyn Observe) -> Report {
    let options = RunOptions { observe, ..RunOptions::default() };
    run(&scenario(sets), &options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_keys_survive_being_written_out_and_are_left_out_where_they_are_as_usual() {
    let log = scenario(&["array.interface=log", "array.poll=3ms", "array.reads=avoid", "array.nvram=64KiB"]);
    let text = log.to_toml();
    for line in ["interface = \"log\"", "poll = \"3ms\"", "reads = \"avoid\"", "nvram = \"64KiB\""] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert_eq!(Scenario::parse(&text, "test", &[], None).unwrap_or_else(|error| panic!("{error}")), log);
    let usual = scenario(&["array.interface=command", "array.reads=wait", "array.nvram=0B"]);
    let text = usual.to_toml();
    assert_eq!(usual, scenario(&[]));
    assert!(["interface", "poll", "reads", "nvram"].iter().all(|key| !text.contains(key)), "{text}");
}

#[test]
fn a_report_says_which_rung_its_run_needs() {
    let of = |sets: &[&str]| report(sets, &Unobserved).array;
    let plain = of(&[]);
    assert_eq!(
        (plain.coordination.interface.as_str(), plain.reconstruct, plain.nvram),
        ("nothing", None, None)
    );
    assert_eq!(of(&["array.coordination.policy=gclock"]).coordination.interface, "command");
    for (offered, needed) in [("log", "log"), ("busy", "busy"), ("command", "busy")] {
        let interface = format!("array.interface={offered}");
        let array = of(&[&interface, "array.reads=avoid", "array.nvram=64KiB"]);
        assert_eq!(array.coordination.interface, needed, "{offered} offered");
        assert!(array.reconstruct.is_some());
        assert_eq!(array.nvram.map(|nvram| nvram.size_bytes), Some(65_536));
    }
}

#[test]
fn policies_that_need_more_than_members_offer_are_not_tried() {
    let registered = || needs().into_iter().map(|(name, _)| name);
    let everything = all(&scenario(&["array.devices=8", "array.stripe_unit=4KiB"])).names;
    assert!(everything.into_iter().eq(registered().chain([IDEAL])), "all can work on RAID-5 with commands");
    for offered in ["nothing", "busy"] {
        let choice = choice(&scenario(&[&format!("array.interface={offered}")]));
        let (gclock, why) = choice.unable.iter().find(|(name, _)| *name == "gclock").expect("it commands");
        assert!(!choice.names.contains(gclock) && choice.names.contains(&"local"));
        let reason = format!("it needs array.interface = \"command\", and these SSDs offer \"{offered}\"");
        assert_eq!(*why, reason);
    }
    let raid0 = all(&scenario(&["array.devices=8", "array.level=raid0"]));
    for (name, needs) in needs() {
        assert_eq!(raid0.names.contains(&name), !needs.redundancy, "{name} on RAID-0");
    }
}

/// The default comparison has one policy for each rung of those that read around members.
#[test]
fn a_default_comparison_has_one_policy_a_rung_that_reads_around_members() {
    let choice = choice(&scenario(&["array.devices=8", "array.stripe_unit=4KiB"]));
    let around = needs().into_iter().filter(|(_, needs)| needs.redundancy);
    let mut rungs: Vec<_> = Vec::new();
    for (name, needs) in around {
        let is_first = !rungs.contains(&needs.interface);
        rungs.push(needs.interface);
        assert_eq!(
            (choice.names.contains(&name), choice.siblings.contains(&name)),
            (is_first, !is_first),
            "{name}"
        );
    }
}

/// Notes who collected when, and when each request arrived.
#[derive(Default)]
struct Notes {
    intervals: Mutex<Vec<(SimTime, SimTime)>>,
    arrivals: Mutex<Vec<(u64, SimTime)>>,
}

impl Observe for Notes {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Noting(self)))
    }
}

struct Noting<'a>(&'a Notes);

impl Observer for Noting<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}

    fn completion(&mut self, completion: &Completion) {
        self.0.arrivals.lock().unwrap().push((completion.id, completion.arrival));
    }

    fn gc_interval(&mut self, _: DeviceId, start: SimTime, end: SimTime) {
        self.0.intervals.lock().unwrap().push((start, end));
    }

    fn end(&mut self, _: SimTime) {}
}

/// The same load without a warm-up shows an observer what the warm-up held.
#[test]
fn feasibility_is_the_collecting_of_the_warm_up() {
    const GCLOCK: &str = "array.coordination.policy=gclock";
    let notes = Notes::default();
    let whole = report(&[GCLOCK, "workload.warmup=0"], &notes);
    let window = whole.array.feasibility.expect("gclock keeps members apart");
    let shares = &whole.array.devices_in_gc_fraction;
    let sum: f64 = shares.iter().enumerate().map(|(members, share)| members as f64 * share).sum();
    assert_eq!((window.measured_in, window.at_once), (MeasuredIn::Window, 1));
    assert!((window.load - sum).abs() < 1e-12);

    let warmed = report(&[GCLOCK, "workload.warmup=2000"], &Unobserved);
    let warmup = warmed.array.feasibility.expect("likewise");
    let arrivals = notes.arrivals.lock().unwrap();
    let from = arrivals.iter().find(|(id, _)| *id == 2_000).expect("it completed").1;
    let intervals = notes.intervals.lock().unwrap();
    let collecting: u64 =
        intervals.iter().map(|&(start, end)| end.min(from).saturating_since(start).as_ns()).sum();
    assert_eq!(warmup.measured_in, MeasuredIn::Warmup);
    let expected = collecting as f64 / from.0 as f64;
    // The observer's window begins with the first arrival, before which nobody collects.
    assert!((warmup.load / expected - 1.0).abs() < 1e-9, "{} is not {expected}", warmup.load);
    assert_eq!(report(&[], &Unobserved).array.feasibility, None, "local lets all collect at once");
}

/// A calm load leaves members the time to take turns, a busy one does not.
#[test]
fn a_scheme_that_cannot_keep_up_says_so() {
    let load = |rate: u32| {
        let rate = format!("workload.arrival.rate={rate}");
        let report = report(&["array.coordination.policy=gclock", &rate], &Unobserved);
        let is_warned = report.warnings.iter().any(|warning| warning.code == CANNOT_KEEP_UP);
        (report.array.feasibility.expect("gclock keeps members apart").load, is_warned)
    };
    let (calm, busy) = (load(100), load(6_000));
    assert!(calm.0 < 1.0 && !calm.1, "{calm:?}");
    assert!(busy.0 > 1.0 && busy.1, "{busy:?}");
}

/// Where nobody has to collect beside the one whose turn it is, reads go around it, NVRAM takes its writes, and no request
/// meets collection.
#[test]
fn serial_hides_collection_from_a_load_that_leaves_members_the_time() {
    let mut calm_runs = 0;
    for (level, devices) in [("raid1", 2), ("raid10", 4), ("raid4", 4), ("raid5", 4), ("raid6", 5)] {
        for seed in 1..=10 {
            let (level, devices) = (format!("array.level={level}"), format!("array.devices={devices}"));
            let seed = format!("seed={seed}");
            let (rate, delay) = ("workload.arrival.rate=80", "array.coordination.message_latency=20us");
            let serial = "array.coordination.policy=serial";
            let calm =
                ["array.nvram=64MiB", "workload.warmup=0", "ssd.gc.soft_threshold=hard+6", rate, delay];
            let array =
                report(&[&[level.as_str(), &devices, &seed, serial], calm.as_slice()].concat(), &Unobserved);
            let counters = &array.array.coordination.counters;
            let load = array.array.feasibility.expect("serial keeps members apart").load;
            assert!(load < 0.6, "{level} {seed}: {load}");
            if counters["hard_notices"] > 0 {
                // A member that is aged down to hard may collect at once, beside the one whose turn it is.
                continue;
            }
            calm_runs += 1;
            assert!(counters["grants"] > 10 && array.array.nvram.is_some_and(|nvram| nvram.parked_pages > 0));
            let met = &array.host.response_ns;
            let met = (met.met_gc_read.count, met.met_gc_write.count, array.host.blame_ns.queue_gc);
            assert_eq!(met, (0, 0, 0), "{level} {seed}");
        }
    }
    assert!(calm_runs >= 5, "only {calm_runs} of 50 runs are calm");
}
