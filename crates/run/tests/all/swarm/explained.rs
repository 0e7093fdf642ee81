//! Is every nanosecond of every request told, with its cause and its place, whatever the scenario? Are the slowest requests the
//! slowest ones of the request table? And does it change nothing to ask?
//!
//! Not verified here: whether a cause is the right one; devices hold their waits against what their dies did, where runs are
//! checked.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use harmonia_metrics::{BlameSum, Observer, Report, rows};
use harmonia_run::explain::{Asked, Explained, ExplainedPart, ExplainedStep, Explanation, explain};
use harmonia_run::{Observe, RunError, RunId, RunOptions, run};
use harmonia_scenario::Scenario;
use harmonia_types::{Completion, Counters, DeviceId, SimTime};

use super::forks::{parsed_seed, told};
use super::{faults, floating, setting};

const SCENARIOS: u64 = 60;

/// Parts that the table has of the host's own data alone, or of all resources of a phase together.
const OF_PHASES: [&str; 9] = [
    "service",
    "transfer",
    "queue_host",
    "parity",
    "reconstruct",
    "link",
    "cache_wait",
    "controller",
    "map_wait",
];

/// The table of requests: arrival, response and parts of blame by number.
#[derive(Default)]
struct Requests(Mutex<BTreeMap<u64, Row>>);

type Row = [i64; rows::REQUESTS.columns.len()];

fn of(row: &Row, name: &str) -> u64 {
    let column = rows::REQUESTS.columns.iter().position(|(column, _)| *column == name);
    row[column.expect("a column")].cast_unsigned()
}

impl Observe for Requests {
    fn observer(&self, _: RunId) -> Option<Box<dyn Observer + '_>> {
        Some(Box::new(Table(self)))
    }
}

struct Table<'a>(&'a Requests);

impl Observer for Table<'_> {
    fn begin(&mut self, _: SimTime, _: usize) {}
    fn completion(&mut self, completion: &Completion) {
        let mut table = self.0.0.lock().expect("no completion panicked");
        table.insert(completion.id, rows::request(completion));
    }
    fn gc_interval(&mut self, _: DeviceId, _: SimTime, _: SimTime) {}
    fn end(&mut self, _: SimTime) {}
}

/// What was met, so that nobody believes a test that met nothing.
#[derive(Default)]
struct Met(Mutex<BTreeMap<&'static str, u64>>);

impl Met {
    fn note(&self, what: &'static str) {
        *self.0.lock().expect("nobody panicked").entry(what).or_default() += 1;
    }
}

/// Each part has a cause and a place, and they sum to the response and to the row of the table.
fn adds_up(request: &Explained, row: &Row, scenario: &Scenario, met: &Met) {
    let mut at = request.arrival_ns;
    let mut by_cause: BTreeMap<&str, u64> = BTreeMap::new();
    for step in &request.steps {
        assert_eq!(step.from_ns, at, "without a gap: {request:?}");
        at += step.ns;
        assert_eq!(step.parts.iter().map(|part| part.ns).sum::<u64>(), step.ns, "{step:?}");
        for part in &step.parts {
            has_a_place(step, part, scenario);
            *by_cause.entry(part.cause).or_default() += part.ns;
            met.note(part.cause);
            met.note(part.at);
            if let Some(map) = &part.map {
                met.note(if map.operation == "read" { "map read" } else { "map written" });
                is_of_map(part);
            }
            if let Some(holder) = part.held_by_request {
                // Parts of one request may need the same row.
                met.note(if holder == request.request { "own rows" } else { "holder" });
            }
            if let Some(collection) = &part.collection {
                met.note(collection.why);
                is_met(step, part, scenario);
            }
        }
    }
    assert_eq!(at, request.finish_ns, "from arrival to finish: {request:?}");
    let response = request.finish_ns - request.arrival_ns;
    assert_eq!((response, response), (request.response_ns, of(row, "response_ns")));
    for cause in BlameSum::TABLE.iter().map(|part| part.name).filter(|part| !OF_PHASES.contains(part)) {
        let told = by_cause.get(cause).copied().unwrap_or_default();
        assert_eq!(told, of(row, &format!("{cause}_ns")), "{cause}: {request:?}");
    }
}

/// Time on flash is that of a die with its plane, and waiting inside a member that of a die or bus.
fn has_a_place(step: &ExplainedStep, part: &ExplainedPart, scenario: &Scenario) {
    let in_array = matches!(
        part.at,
        "rows" | "stripe-cache" | "log" | "bitmap" | "earlier-writes" | "power" | "shared-link"
    );
    assert!(in_array || step.member.is_some(), "{part:?} of {step:?}");
    let array = &scenario.array;
    let mut all = array.members.iter().chain(&array.faults.spares).chain(&array.faults.journal);
    let ssd = step.device.or(step.member).map(|device| &all.nth(device.into()).expect("a device").ssd);
    if let Some((die, ssd)) = part.die.zip(ssd) {
        let geometry = &ssd.geometry;
        assert!(die < geometry.dies() && part.channel == Some(geometry.channel_of(die)), "{part:?}");
        assert!(part.plane.is_none_or(|plane| plane < geometry.planes_per_die), "{part:?}");
    }
    match (part.cause, part.at) {
        // Only a member that failed, was kept free, or was given up on leaves it at that.
        ("queue_host" | "queue_gc" | "map_wait", "member") => {
            let is_refused = step.operation.as_ref().is_none_or(|operation| operation.is_refused);
            assert!(is_refused, "{part:?} of {step:?} has no place");
        }
        ("map_wait", "write-cache") => panic!("a page of the map is on flash: {part:?} of {step:?}"),
        ("service", "die") => assert!(part.plane.is_some(), "{part:?} of {step:?}"),
        ("service", at) => {
            assert_eq!(at, "write-cache");
            assert!(ssd.is_some_and(|ssd| !ssd.write_cache.is_none()), "{part:?} of {step:?}");
        }
        (_, at) => {
            assert!(!matches!(at, "die" | "bus" | "command") || part.die.is_some(), "{part:?} of {step:?}")
        }
    }
}

/// Time that a page of the map took is a wait for the map, or for collection.
fn is_of_map(part: &ExplainedPart) {
    let map = part.map.expect("one");
    let told = if map.cause == "queue_gc" { "queue_gc" } else { "map_wait" };
    assert!(part.cause == told && part.die.is_some(), "{part:?}");
    assert!(map.cause != "service" || part.plane.is_some(), "{part:?}");
}

/// A collection that was waited for ran then, and took victims that had room for what they say.
fn is_met(step: &ExplainedStep, part: &ExplainedPart, scenario: &Scenario) {
    let collection = part.collection.as_ref().expect("one");
    let end = step.from_ns + step.ns;
    assert!(collection.wanted_ns <= collection.began_ns && collection.began_ns < end, "{step:?}");
    assert!(collection.ended_ns.is_none_or(|ended| ended > step.from_ns), "{step:?}");
    let longest = collection.ended_ns.unwrap_or(end).min(end) - collection.began_ns.max(step.from_ns);
    assert!(part.ns <= longest, "{part:?} of {step:?}");
    let pages = scenario.array.members[0].ssd.geometry.pages_per_block;
    for victim in &collection.victims {
        let planes = scenario.array.members[0].ssd.geometry.planes_per_die;
        assert!(victim.live <= pages * planes * 64 && victim.at_ns < end, "{victim:?} of {step:?}");
    }
}

/// The slowest requests of the table, of equal ones the first.
fn slowest(table: &BTreeMap<u64, Row>, count: usize) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = table.iter().map(|(id, row)| (*id, of(row, "response_ns"))).collect();
    all.sort_by_key(|(id, response)| (std::cmp::Reverse(*response), *id));
    all.truncate(count);
    all
}

/// Explains all requests of a scenario and its slowest ones; whether it could be run.
fn check(seed: u64, scenario: &Scenario, met: &Met) -> bool {
    let requests = Requests::default();
    let plain = match run(scenario, &RunOptions { observe: &requests, ..RunOptions::default() }) {
        Ok(report) => report,
        // Found by the tests beside this one.
        Err(RunError::BadInput(_)) => return false,
        Err(error) => panic!("seed {seed}: {error}"),
    };
    let table = requests.0.into_inner().expect("no completion panicked");
    let options = RunOptions { checked: seed.is_multiple_of(4), ..RunOptions::default() };
    let asked = |asked: &Asked| -> (Explanation, Report) {
        explain(scenario, asked, &options).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    };
    let (all, report) = asked(&Asked::All);
    assert!(told(&report) == told(&plain), "seed {seed}: a run that is explained is another one");
    let ids: Vec<u64> = all.requests.iter().map(|request| request.request).collect();
    assert!(ids.iter().eq(table.keys()), "seed {seed}: every request is explained once");
    for request in &all.requests {
        adds_up(request, &table[&request.request], scenario, met);
    }
    let sum = |cause: &str| {
        let parts = all.requests.iter().flat_map(|request| &request.steps).flat_map(|step| &step.parts);
        parts.filter(|part| part.cause == cause).map(|part| u128::from(part.ns)).sum::<u128>()
    };
    let blame = &plain.host.blame_ns;
    assert_eq!(
        all.requests.iter().map(|request| u128::from(request.response_ns)).sum::<u128>(),
        blame.total()
    );
    assert_eq!(sum("queue_gc"), blame.queue_gc, "seed {seed}");
    let (ten, _) = asked(&Asked::Slowest(10));
    let found: Vec<_> = ten.requests.iter().map(|request| (request.request, request.response_ns)).collect();
    assert_eq!(found, slowest(&table, 10), "seed {seed}: the slowest requests of the table");
    // What is said of one does not depend on who else is followed.
    for request in &ten.requests {
        let place = ids.binary_search(&request.request).expect("explained before");
        let same = |one: &Explained| {
            one.steps.iter().map(|step| (step.from_ns, step.member, step.ns)).collect::<Vec<_>>()
        };
        assert_eq!(same(request), same(&all.requests[place]), "seed {seed}");
    }
    true
}

#[test]
#[ignore = "long: make simulations"]
fn every_nanosecond_of_every_response_has_a_cause_and_a_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = setting("HARMONIA_SWARM_FIRST", 0);
    let (next, ran, met) = (AtomicU64::new(first), AtomicU64::new(0), Met::default());
    let end = first + setting("HARMONIA_SWARM", SCENARIOS);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            let failing = faults::failing(seed).map(|(_, failing)| failing);
            let leaves_free = floating::floating(seed).map(|(_, scenario)| scenario);
            for scenario in
                [Some(parsed_seed(seed, folder.path())), failing, leaves_free].into_iter().flatten()
            {
                ran.fetch_add(u64::from(check(seed, &scenario, &met)), Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let ran = ran.into_inner();
    assert!(ran > (end - first) / 2, "only {ran} scenarios were run");
    let met = met.0.into_inner().expect("nobody panicked");
    for what in ["service", "transfer", "queue_host", "queue_gc", "link", "die", "bus", "hard-threshold"] {
        assert!(met.contains_key(what), "{what} was not met: {met:?}");
    }
    if end - first >= SCENARIOS {
        for what in [
            "holder",
            "stripe_wait",
            "depth_wait",
            "window_wait",
            "cache_wait",
            "controller",
            "map_wait",
            "mapping-cache",
            "map read",
            "map written",
            "queue_rebuild",
            "command",
            "ordered",
            "turn",
        ] {
            assert!(met.contains_key(what), "{what} was not met: {met:?}");
        }
    }
}
