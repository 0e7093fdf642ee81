//! Does a run end the same on every way through the simulator, and do its observers hear the same in the same order? Whoever checks a
//! run or follows its requests sends it the general way, event by event. Otherwise members may run ahead of one another, and
//! writes take a shorter way.

use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use harmonia_array::{Followed, Level};
use harmonia_engine::Rng;
use harmonia_metrics::Observer;
use harmonia_metrics::recording::MemberPlanes;
use harmonia_run::{Observe, RunError, RunId, RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_types::{Completion, DeviceId, SimTime};

use super::forks::{parsed_seed, told};
use super::{Draw, setting};

/// A third of them of each kind. `make swarm` and `make nightly` run more.
const SCENARIOS: u64 = 60;

/// Who looks at a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Nobody,
    /// Somebody who hears all that there is to hear.
    Observer,
    /// Somebody who follows requests, though none of them.
    Follower,
}

/// Looks at everything, and keeps it as text.
struct Onlooker {
    who: Who,
    heard: Mutex<String>,
}

impl Observer for &Onlooker {
    fn begin(&mut self, from: SimTime, members: usize) {
        self.note(format_args!("from {from}: {members} members"));
    }

    fn completion(&mut self, completion: &Completion) {
        self.note(format_args!("{completion:?}"));
    }

    fn gc_interval(&mut self, member: DeviceId, start: SimTime, end: SimTime) {
        self.note(format_args!("{member:?} collects from {start} to {end}"));
    }

    fn wants_planes(&self) -> bool {
        true
    }

    fn planes(&mut self, planes: &MemberPlanes) {
        self.note(format_args!("{planes:?}"));
    }

    fn end(&mut self, end: SimTime) {
        self.note(format_args!("until {end}"));
    }
}

impl Onlooker {
    fn note(&self, what: fmt::Arguments<'_>) {
        writeln!(self.heard.lock().expect("a note"), "{what}").expect("text takes everything");
    }
}

impl Observe for Onlooker {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        (self.who != Who::Nobody).then(|| Box::new(self) as Box<dyn Observer>)
    }

    fn follows(&self, _: RunId) -> Option<Followed> {
        (self.who == Who::Follower).then(|| Followed::Only(BTreeSet::new()))
    }
}

/// How a run is run.
struct Way {
    name: &'static str,
    threads: usize,
    checked: bool,
    who: Who,
}

/// The report of a run, or why it was refused; and what was heard of it.
fn outcome(seed: u64, scenario: &Scenario, way: &Way) -> (String, String) {
    let cancel = AtomicBool::new(false);
    let Way { threads, checked, who, .. } = *way;
    let onlooker = Onlooker { who, heard: Mutex::default() };
    let options =
        RunOptions { threads, checked, cancel: &cancel, observe: &onlooker, ..RunOptions::default() };
    let report = match run(scenario, &options) {
        Ok(mut report) => {
            // The report of a run that nobody observes has no levels.
            for device in &mut report.devices {
                onlooker.note(format_args!("{:?}", std::mem::take(&mut device.over_time)));
            }
            told(&report)
        }
        Err(RunError::BadInput(error)) => error.to_string(),
        Err(error) => panic!("seed {seed}: {error}"),
    };
    (report, onlooker.heard.into_inner().expect("notes"))
}

/// Holds a way against another one that is observed.
fn compare(seed: u64, scenario: &Scenario, (expected, expected_heard): &(String, String), way: &Way) {
    let (report, heard) = outcome(seed, scenario, way);
    assert!(*expected == report, "seed {seed}, {}:\n{expected}\n{report}", way.name);
    let differs = expected_heard.lines().zip(heard.lines()).find(|(one, other)| one != other);
    let is_heard = way.who == Who::Nobody || *expected_heard == heard;
    assert!(is_heard, "seed {seed}, {}: heard otherwise: {differs:?}", way.name);
}

/// A small array as the shorter ways are made for, with a few rules that they must look out for.
fn usual(seed: u64) -> Scenario {
    let mut d = Draw(Rng::stream(seed, "swarm/ways"));
    let pick = |d: &mut Draw, choices: &[&str]| d.pick(choices).to_owned();
    let pages = pick(&mut d, &["4KiB", "4KiB", "4KiB", "8KiB", "3000B", "16KiB"]);
    let arrival = match d.range(0, 6) {
        0 => "{process='closed', queue_depth=8}".to_owned(),
        1 => format!("{{process='fixed', rate={}}}", d.range(500, 4_000)),
        2 => format!("{{process='on-off', rate={}, burst_rate=1e6, burst_length=9}}", d.range(500, 4_000)),
        _ => format!("{{process='poisson', rate={}}}", d.range(500, 6_000)),
    };
    let mut sets = vec![
        format!("workload.requests={}", d.range(400, 1_200)),
        format!("workload.warmup={}", d.range(0, 300)),
        format!("workload.arrival={arrival}"),
        format!("workload.size={{distribution='fixed', mean='{pages}'}}"),
        format!("workload.align={}", d.pick(&["true", "true", "false"])),
        format!("workload.read_fraction={}", d.pick(&["0.0", "0.0", "0.3"])),
        format!("workload.trim_fraction={}", d.pick(&["0.0", "0.0", "0.1"])),
        format!("ssd.geometry.own_pins={}", d.pick(&["true", "true", "true", "false"])),
        format!("ssd.geometry.summary_pages={}", d.range(0, 1)),
        format!("ssd.gc.domain={}", d.pick(&["device", "die", "channel"])),
        format!("ssd.gc.trigger={}", d.pick(&["foreground", "foreground", "background"])),
        format!(
            "ssd.gc.schedule={}",
            d.pick(&["blocking", "blocking", "ideal", "after-reads", "preemptive"])
        ),
        format!("ssd.gc.victim={}", d.pick(&["greedy", "greedy", "fifo", "random"])),
        format!("ssd.link.latency={}", d.pick(&["0us", "0us", "3us"])),
        format!("seed={seed}"),
    ];
    let array = match d.range(0, 7) {
        0 => ["array.devices=4", "array.level=raid5", "array.coordination.policy=plm"],
        1 => ["array.devices=4", "array.level=raid5", "array.coordination.policy=ioda"],
        2 => ["array.devices=2", "array.level=raid0", "array.coordination.policy=reactive-selective"],
        3 => ["array.devices=1", "array.level=raid0", "array.coordination.policy=local"],
        _ => ["array.devices=5", "array.level=raid0", "array.coordination.policy=local"],
    };
    sets.extend(array.map(str::to_owned));
    if d.range(0, 3) == 0 {
        sets.push("ssd.link.bandwidth=20GB/s".to_owned());
    }
    if d.range(0, 4) == 0 {
        sets.push("ssd.write_cache={size='32KiB'}".to_owned());
    }
    sets.extend(mapping(seed));
    Scenario::load("tiny", &sets, None).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// A third of the drives holds a few pages of its map, one each for as many pages of data as there are in a block or so.
fn mapping(seed: u64) -> Vec<String> {
    let mut d = Draw(Rng::stream(seed, "swarm/ways/mapping-cache"));
    let (size, entry) =
        (d.pick(&["4KiB", "12KiB", "48KiB"]).to_owned(), d.pick(&["64", "256", "512"]).to_owned());
    match d.range(0, 2) {
        0 => vec![format!("ssd.ftl.mapping_cache={size}"), format!("ssd.ftl.mapping_entry={entry}")],
        _ => Vec::new(),
    }
}

/// A small array of devices that collect step by step, with as much as may go along or come between.
fn step_by_step(seed: u64) -> Scenario {
    let mut d = Draw(Rng::stream(seed, "swarm/ways/steps"));
    let planes = d.pick(&["1", "2", "2", "4"]).to_owned();
    let units =
        [("die", "die"), ("die", "device"), ("plane", "die"), ("plane", "device"), ("plane", "plane")];
    let (unit, domain) = units[d.range(0, 4) as usize];
    let pages_go = [("cwdp", "unit"), ("cwdp", "unit"), ("dynamic", "unit"), ("dynamic", "device")];
    let (allocation, destination) = pages_go[d.range(0, 3) as usize];
    let schedules = [
        "blocking",
        "blocking",
        "stepwise",
        "preemptive",
        "io-parallel",
        "io-parallel",
        "preemptive-io-parallel",
        "{policy='io-parallel', unmatched='skip'}",
        "{policy='io-parallel', partial_writes='along'}",
        "slack",
    ];
    let mut sets = vec![
        format!("workload.requests={}", d.range(300, 900)),
        format!("workload.warmup={}", d.range(0, 200)),
        format!("workload.arrival={{process='poisson', rate={}}}", d.range(300, 6_000)),
        format!(
            "workload.size={{distribution='fixed', mean='{}'}}",
            d.pick(&["4KiB", "4KiB", "8KiB", "3000B", "16KiB"])
        ),
        format!("workload.align={}", d.pick(&["true", "true", "false"])),
        format!("workload.read_fraction={}", d.pick(&["0.0", "0.3", "0.6"])),
        format!("workload.trim_fraction={}", d.pick(&["0.0", "0.0", "0.1"])),
        format!("array.devices={}", d.range(1, 3)),
        "array.level=raid0".to_owned(),
        "array.coordination.policy=local".to_owned(),
        format!("ssd.geometry.own_pins={}", d.pick(&["true", "false", "false", "false"])),
        format!("ssd.geometry.planes_per_die={planes}"),
        format!("ssd.geometry.summary_pages={}", d.range(0, 1)),
        format!("ssd.timing.command={}", d.pick(&["0ns", "0ns", "200ns"])),
        format!("ssd.timing.copyback={}", d.pick(&["none", "plane", "die"])),
        format!("ssd.timing.suspend_erase={}", d.pick(&["none", "none", "20us"])),
        format!("ssd.ftl.allocation_unit={unit}"),
        format!("ssd.ftl.allocation={allocation}"),
        format!("ssd.gc.destination={destination}"),
        format!("ssd.ftl.priority={}", d.pick(&["fifo", "reads-first", "reads-first"])),
        format!("ssd.ftl.multi_plane={}", d.pick(&["true", "false"])),
        format!("ssd.gc.domain={domain}"),
        format!("ssd.gc.schedule={}", d.pick(&schedules)),
        format!("ssd.gc.victim={}", d.pick(&["greedy", "greedy", "fifo"])),
        format!("seed={seed}"),
    ];
    if allocation == "cwdp" && d.range(0, 3) == 0 {
        sets.push("ssd.write_cache={size='32KiB'}".to_owned());
    }
    if allocation == "cwdp" {
        sets.extend(mapping(seed));
    }
    Scenario::load("tiny", &sets, None).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// A stripe whose members run ahead while a coordination policy hears of them: small, low on blocks, and with message latencies
/// of nothing, of less than an operation, and of many requests. Every third load arrives in ticks, so that members report at
/// equal times.
fn heard(seed: u64) -> Scenario {
    let mut d = Draw(Rng::stream(seed, "swarm/heard"));
    let pick = |d: &mut Draw, choices: &[&str]| d.pick(choices).to_owned();
    let policy =
        pick(&mut d, &["reactive-selective", "reactive-selective", "reactive-inclusive", "gcsync", "gclock"]);
    let latency = pick(&mut d, &["0us", "0us", "1us", "100us", "100us", "3ms", "80ms"]);
    let pages = pick(&mut d, &["4KiB", "16KiB", "16KiB", "40KiB", "3000B"]);
    let process = pick(&mut d, &["poisson", "poisson", "fixed"]);
    let mut sets = vec![
        format!("workload.requests={}", d.range(600, 2_000)),
        format!("workload.warmup={}", d.range(0, 300)),
        format!(
            "workload.arrival={{process='{process}', rate={}}}",
            d.pick(&["500", "1000", "2500", "5000"])
        ),
        format!("workload.size={{distribution='fixed', mean='{pages}'}}"),
        format!("workload.read_fraction={}", d.pick(&["0.0", "0.2", "0.5"])),
        format!("workload.trim_fraction={}", d.pick(&["0.0", "0.0", "0.1"])),
        format!("ssd.geometry.own_pins={}", d.pick(&["true", "true", "false"])),
        format!("ssd.gc.domain={}", d.pick(&["device", "die", "channel"])),
        format!("ssd.gc.schedule={}", d.pick(&["blocking", "blocking", "blocking", "ideal", "preemptive"])),
        format!("ssd.gc.trigger={}", d.pick(&["foreground", "foreground", "foreground", "background"])),
        format!("ssd.link.latency={}", d.pick(&["0us", "0us", "0us", "3us"])),
        format!("array.devices={}", d.range(2, 6)),
        "array.level=raid0".to_owned(),
        format!("array.coordination.policy={policy}"),
        format!("array.coordination.message_latency={latency}"),
        format!("seed={seed}"),
    ];
    if policy.starts_with("reactive") && d.range(0, 2) == 0 {
        sets.push("array.coordination.fire_at=soft".to_owned());
        sets.push(format!("array.coordination.delay={}", d.pick(&["0us", "300us", "20ms"])));
    }
    Scenario::load("tiny", &sets, None).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// Runs that members may run ahead in say so, by having several threads.
fn has_threads(seed: u64, scenario: &Scenario) -> bool {
    let cancel = AtomicBool::new(false);
    let options = RunOptions { threads: 3, cancel: &cancel, ..RunOptions::default() };
    match run(scenario, &options) {
        Ok(report) => report.engine.threads > 1,
        Err(RunError::BadInput(_)) => false,
        Err(error) => panic!("seed {seed}: {error}"),
    }
}

#[test]
#[ignore = "long: make simulations"]
fn members_that_are_heard_run_ahead_to_the_report_of_members_in_step() {
    let (first, runs) = (setting("HARMONIA_SWARM_FIRST", 0), setting("HARMONIA_SWARM", SCENARIOS));
    let way = |name, threads, checked, who| Way { name, threads, checked, who };
    let in_step = way("followed", 1, false, Who::Follower);
    let others = [
        way("on one thread", 1, false, Who::Nobody),
        way("on three threads", 3, false, Who::Nobody),
        way("observed on two threads", 2, false, Who::Observer),
        way("checked", 3, true, Who::Nobody),
    ];
    let mut ahead = 0;
    for seed in first..first + runs {
        let scenario = heard(seed);
        let expected = outcome(seed, &scenario, &in_step);
        for way in &others {
            compare(seed, &scenario, &expected, way);
        }
        ahead += u64::from(has_threads(seed, &scenario));
    }
    assert!(2 * ahead > runs, "members ran ahead in {ahead} of {runs} runs");
}

#[test]
#[ignore = "long: make simulations"]
fn every_way_through_the_simulator_leads_to_the_same_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let (next, short) = (AtomicU64::new(setting("HARMONIA_SWARM_FIRST", 0)), AtomicU64::new(0));
    let end = next.load(Ordering::Relaxed) + setting("HARMONIA_SWARM", SCENARIOS);
    let way = |name, threads, checked, who| Way { name, threads, checked, who };
    let ways = [
        way("checked and followed", 1, true, Who::Follower),
        way("followed", 1, false, Who::Follower),
        way("observed", 1, false, Who::Observer),
        way("observed on three threads", 3, false, Who::Observer),
        way("checked", 3, true, Who::Nobody),
        way("on one thread", 1, false, Who::Nobody),
        way("on three threads", 3, false, Who::Nobody),
    ];
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let scenario = match seed % 3 {
                0 => usual(seed),
                1 => parsed_seed(seed, folder.path()),
                _ => step_by_step(seed),
            };
            let general = outcome(seed, &scenario, &ways[0]);
            for way in &ways[1..] {
                compare(seed, &scenario, &general, way);
            }
            let is_stripe = scenario.array.level == Level::Raid0;
            let is_local = scenario.array.coordination.policy == "local";
            short.fetch_add((is_stripe && is_local).into(), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    assert!(short.into_inner() > 0, "in no run members could run ahead");
}
