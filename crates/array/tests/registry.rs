//! Does every registered coordinator keep the promises of an array, whatever it decides?
//!
//! Iterates the registry, so a new policy is under test from the moment it has its line, and the RAID levels. One member
//! does not understand messages. Some runs have message latency, some allocate dynamically, in some members fail.
//! Members check their own invariants after every event. Not verified here: that a policy does what its paper says (its own file does) or that it helps.
#![expect(clippy::print_stdout, reason = "names the policies it ran; tests/newcomer.py looks for one")]

use harmonia_array::coordination::{Parameters, REGISTRY};
use harmonia_array::layout::{Copies, Groups, Pattern, Rotation};
use harmonia_array::payload::{self, AnyPayload, NoPayload};
use harmonia_array::{
    AgedState, AgeingPlan, Array, ArrayConfig, Befalls, COUNTED_FROM, Condition, CoordinationConfig, Fault,
    Faults, Level, MemberConfig, MessageCounters, Mishap, MishapKind, Rebuild, Scrub, When, age,
};
use harmonia_engine::Rng;
use harmonia_flash::presets;
use harmonia_ssd::probe::{AnyProbe, AuditProbe, any};
use harmonia_ssd::{Allocation, Amount, Domain, FtlConfig, GcConfig, SsdConfig, Tally};
use harmonia_types::{Completion, DeviceId, HostRequest, Operation, SimDuration, SimTime};
use std::sync::atomic::{AtomicBool, AtomicU64};

const DEVICES: u16 = 3;
const REQUESTS: u64 = 600;
/// Where there are many runs.
const FEW: u64 = 200;
const PAGE: u64 = 4096;

/// How the names begin of the policies that are tested: with anything, unless somebody wants to test one of their own.
#[expect(clippy::disallowed_methods, reason = "chooses what is tested, changes no result")]
fn wanted() -> String {
    std::env::var("HARMONIA_POLICY").unwrap_or_default()
}

/// Names of coordinators.
fn coordinators() -> impl Iterator<Item = &'static str> {
    let wanted = wanted();
    REGISTRY.iter().map(|entry| entry.name).filter(move |name| name.starts_with(&wanted))
}

/// The load makes the coordinators together do enough for a test to mean something; a single one need not.
#[track_caller]
fn is_enough(holds: bool, what: impl std::fmt::Display) {
    assert!(holds || !wanted().is_empty(), "this tests too little: {what}");
}

fn device(domain: Domain) -> SsdConfig {
    let flash = presets::find("tiny-test").expect("the preset for tests");
    SsdConfig {
        ftl: FtlConfig { reserved_blocks: Amount::Percent(20.0), ..FtlConfig::default() },
        gc: GcConfig { domain, ..GcConfig::default() },
        ..SsdConfig::of(flash)
    }
}

/// An array whose last member does not understand messages.
fn array(policy: &str, domain: Domain, message_latency: SimDuration) -> ArrayConfig {
    of_level((Level::Raid0, DEVICES), policy, domain, message_latency)
}

/// Every level, with as many members as show what is special about it.
fn levels() -> Vec<(Level, u16)> {
    let copies = |pattern| Level::Raid10(Copies { pattern, count: 2 });
    vec![
        (Level::Raid0, DEVICES),
        (Level::Raid1, 2),
        (copies(Pattern::Near), 4),
        (copies(Pattern::Near), 3),
        (copies(Pattern::Far), 3),
        (copies(Pattern::Offset), 3),
        (Level::Raid4, 3),
        (Level::Raid5(Rotation::LeftSymmetric), 4),
        (Level::Raid6(Rotation::LeftSymmetric), 5),
        (Level::Draid(Groups { parities: 1, data: 2, spares: 1 }), 7),
        (Level::Draid(Groups { parities: 2, data: 2, spares: 1 }), 5),
    ]
}

fn of_level(
    (level, devices): (Level, u16),
    policy: &str,
    domain: Domain,
    message_latency: SimDuration,
) -> ArrayConfig {
    let member = |index| MemberConfig { capable: index + 1 < devices, ssd: device(domain) };
    let mut coordination = CoordinationConfig::of(policy, message_latency);
    // Its stripes float on some levels only.
    if policy == "gaftl" {
        coordination.own.insert("stripes".to_owned(), "rows".into());
    }
    ArrayConfig { coordination, ..ArrayConfig::of(level, PAGE, (0..devices).map(member).collect()) }
}

fn aged() -> AgedState {
    aged_as(&array("local", Domain::Die, SimDuration::ZERO))
}

fn aged_as(config: &ArrayConfig) -> AgedState {
    let (cancel, pages_done) = (AtomicBool::new(false), AtomicU64::new(0));
    let plan = AgeingPlan {
        fill: 1.0,
        overwrite: 2.0,
        within: None,
        counted_from: COUNTED_FROM,
        seed: 7,
        threads: 1,
        cancel: &cancel,
        pages_done: &pages_done,
    };
    age(config, &plan).expect("the array for tests can be aged")
}

/// Everything a run leaves behind that must be the same the next time.
#[derive(Debug, PartialEq)]
struct Outcome {
    completions: Vec<Completion>,
    tallies: Vec<Tally>,
    messages: MessageCounters,
    mishaps: Vec<Mishap>,
    /// Collections ordered in the first half.
    forced_early: u64,
}

impl Outcome {
    fn happened(&self, what: MishapKind) -> usize {
        self.mishaps.iter().filter(|mishap| mishap.what == what).count()
    }
}

fn run(config: &ArrayConfig, aged: &AgedState) -> Outcome {
    run_some(config, aged, REQUESTS)
}

fn run_some(config: &ArrayConfig, aged: &AgedState, requests: u64) -> Outcome {
    let name = &config.coordination.policy;
    let mut states = aged.devices.clone();
    // Spares are new unless the caller has states for them.
    let given = states.len() - config.members.len();
    for (number, spare) in (states.len()..).zip(&config.faults.spares[given..]) {
        let name = format!("device/{number}");
        states.push(harmonia_ssd::Ftl::new(&spare.ssd, 7, &name).expect("a device that works"));
    }
    let mut array = Array::with_payload(config, states, payload::any(NoPayload), |_| any(AuditProbe))
        .unwrap_or_else(|why| panic!("{name} cannot be built with its defaults: {why}"));
    let pages = array.layout().logical_bytes() / PAGE;
    let mut rng = Rng::stream(11, "registry");
    let (mut now, mut completions) = (SimTime::ZERO, Vec::new());
    let mut forced_early = 0;
    for id in 0..requests {
        if id == requests / 2 {
            forced_early = array.message_counters().forced;
        }
        now += SimDuration(rng.exponential(900_000.0) as u64);
        array.advance_until(now).unwrap_or_else(|why| panic!("{name}: {why}"));
        let length = 1 + rng.below(6);
        let request = HostRequest::new(
            id,
            now,
            if rng.chance(0.2) { Operation::Read } else { Operation::Write },
            rng.below(pages - length) * PAGE,
            length * PAGE,
        );
        array.submit(request).unwrap_or_else(|why| panic!("{name}: {why}"));
        completions.append(array.completions());
    }
    // A coordinator with a timer of its own never falls silent, so ask for the requests, not for silence.
    while completions.len() < requests as usize {
        let wakeup = array.next_wakeup();
        assert_ne!(wakeup, SimTime::NEVER, "{name}: requests are lost");
        array.advance_until(wakeup).unwrap_or_else(|why| panic!("{name}: {why}"));
        completions.append(array.completions());
    }
    let builds = |array: &Array<AnyProbe, AnyPayload>| {
        let mut members = (0..config.devices).map(DeviceId);
        // An array that does not start builds nothing any more.
        let is_off = array.mishaps().iter().any(|mishap| mishap.what == MishapKind::Refused);
        !is_off && members.any(|member| matches!(array.health().of(member), Condition::Partial(_)))
    };
    let mut steps = 0;
    while builds(&array) {
        steps += 1;
        let wakeup = array.next_wakeup();
        assert!(wakeup != SimTime::NEVER && steps < 1_000_000, "{name}: a replacement is never complete");
        array.advance_until(wakeup).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    assert!(array.completions().is_empty(), "{name}: a request completed twice");
    for device in array.every_device() {
        device.ftl().audit();
    }
    let tallies = array.devices().iter().map(|device| device.ftl().tally()).collect();
    let mishaps = array.mishaps().to_vec();
    Outcome { completions, tallies, messages: *array.message_counters(), mishaps, forced_early }
}

#[test]
fn every_coordinator_completes_every_request_once_and_explains_its_time() {
    let aged = aged();
    let mut collected = 0;
    for policy in coordinators() {
        println!("policy {}", policy);
        for (domain, latency) in [(Domain::Die, 0), (Domain::Device, 0), (Domain::Device, 20)] {
            let config = array(policy, domain, SimDuration::from_us(latency));
            let outcome = run(&config, &aged);
            every_request_is_explained(policy, &outcome);
            collected += erases(&outcome, &aged);
        }
    }
    is_enough(collected > 0, "the load never made anyone collect");
}

/// Every request completes once, and its blame is its response time.
#[track_caller]
fn every_request_is_explained(run: &str, outcome: &Outcome) {
    let mut seen = vec![false; outcome.completions.len()];
    for done in &outcome.completions {
        let twice = std::mem::replace(&mut seen[done.id as usize], true);
        assert!(!twice, "{run}: request {} completed twice", done.id);
        assert!(done.finish >= done.arrival, "{run}: request {}", done.id);
        let blame = done.blame.total();
        assert_eq!(blame, done.response().0, "{run}: blame of request {}", done.id);
    }
    assert!(seen.iter().all(|&seen| seen), "{run}: a request never completed");
}

/// Blocks erased since ageing.
fn erases(outcome: &Outcome, aged: &AgedState) -> u64 {
    let before: u64 = aged.devices.iter().map(|device| device.tally().erases).sum();
    outcome.tallies.iter().map(|tally| tally.erases).sum::<u64>() - before
}

/// The same on every level: with and without message latency, static and dynamic allocation, and twice.
#[test]
fn every_coordinator_works_on_every_level() {
    for shape in levels() {
        let (mut collected, mut forced) = (0, 0);
        for (allocation, domain, latency) in
            [(Allocation::CWDP, Domain::Device, 0), (Allocation::Dynamic, Domain::Die, 20)]
        {
            let config = |policy| {
                let mut config = of_level(shape, policy, domain, SimDuration::from_us(latency));
                config.members.iter_mut().for_each(|member| member.ssd.ftl.allocation = allocation);
                config
            };
            let aged = aged_as(&config("local"));
            for policy in coordinators() {
                let name = format!("{} on {} with {allocation:?}", policy, shape.0);
                let outcome = run_some(&config(policy), &aged, FEW);
                every_request_is_explained(&name, &outcome);
                if latency > 0 {
                    assert_eq!(run_some(&config(policy), &aged, FEW), outcome, "{name}");
                }
                collected += erases(&outcome, &aged);
                forced += outcome.messages.forced;
            }
        }
        let what = format!("{}: {collected} erases, {forced} forced", shape.0);
        is_enough(collected > 0 && forced > 0, what);
    }
}

/// Devices that stand by: none where spare space is distributed.
fn devices_standing_by(config: &ArrayConfig, devices: usize) -> usize {
    if config.level.distributed_spares() > 0 { 0 } else { devices }
}

/// Members fail and become slow at random moments; a spare or two take their places, some pages cannot be read.
fn random_faults(seed: u64, config: &ArrayConfig) -> Faults {
    let mut rng = Rng::stream(seed, "registry/faults");
    let moment = |rng: &mut Rng| match rng.chance(0.5) {
        true => When::Time(SimTime(rng.below(180_000_000))),
        false => When::Request(1 + rng.below(FEW)),
    };
    let mut event = |what| {
        let device = DeviceId(rng.below(u64::from(config.devices)) as u16);
        Fault { device, at: moment(&mut rng), what }
    };
    let mut events = vec![event(Befalls::Failure), event(Befalls::Slow(10.0))];
    if seed.is_multiple_of(3) {
        events.extend([event(Befalls::Failure), event(Befalls::Failure)]);
    }
    Faults {
        events,
        page_errors: if seed % 4 < 2 { 0.01 } else { 0.0 },
        spares: vec![config.members[0].clone(); devices_standing_by(config, 1 + seed as usize % 3)],
        rebuild: Rebuild {
            max_rate: 1 << 40,
            depth: 1 + seed as u32 % 4,
            step: 16 * PAGE,
            ..Rebuild::default()
        },
        scrub: seed.is_multiple_of(5).then_some(Scrub { at: SimTime(20_000_000), repairs: true }),
        seed,
        ..Faults::default()
    }
}

/// Requests complete once, replacements are built, and the same seed gives the same run, whoever fails when.
#[test]
#[ignore = "long: make simulations"]
fn every_coordinator_goes_on_when_members_fail() {
    let (mut failures, mut rebuilds, mut seed) = (0, 0, 0);
    for shape in levels() {
        let aged = aged_as(&of_level(shape, "local", Domain::Device, SimDuration::ZERO));
        for policy in coordinators() {
            seed += 1;
            let latency = SimDuration::from_us(20 * (seed % 2));
            let mut config = of_level(shape, policy, Domain::Device, latency);
            config.faults = random_faults(seed, &config);
            let mut states = aged.clone();
            let devices = config.members.len() + config.faults.spares.len();
            states.devices.resize(devices, aged.devices[0].clone());
            let name = format!("{} on {}, faults {seed}", policy, shape.0);
            let outcome = run_some(&config, &states, FEW);
            every_request_is_explained(&name, &outcome);
            if seed.is_multiple_of(8) {
                assert_eq!(run_some(&config, &states, FEW), outcome, "{name}");
            }
            failures += outcome.happened(MishapKind::Failed);
            rebuilds += outcome.happened(MishapKind::Rebuilt);
        }
    }
    is_enough(failures > 100 && rebuilds > 80, format!("{failures} failures and {rebuilds} rebuilds"));
}

/// Power is lost again and again, alone and beside failures, with NVRAM and hedges: every request completes once, and its
/// blame has the time until the last restart.
#[test]
fn every_coordinator_goes_on_after_losses_of_power() {
    let (mut losses, mut again, mut rebuilds, mut seed) = (0, 0, 0, 0);
    for shape in levels().into_iter().filter(|shape| !matches!(shape.0, Level::Draid(_))) {
        let aged = aged_as(&of_level(shape, "local", Domain::Device, SimDuration::ZERO));
        for policy in coordinators() {
            seed += 1;
            let mut config = of_level(shape, policy, Domain::Device, SimDuration::from_us(20 * (seed % 2)));
            if seed.is_multiple_of(3) {
                config.faults = random_faults(seed, &config);
            }
            if seed % 4 == 1 && config.level.redundancy(config.devices) > 0 {
                config.knowledge.nvram = 64 * PAGE;
            }
            let mut rng = Rng::stream(seed, "registry/power");
            let times = (0..6).map(|_| When::Time(SimTime(rng.below(180_000_000))));
            config.faults.power_losses = times.chain([When::Request(FEW / 2)]).collect();
            let mut states = aged.clone();
            let devices = config.members.len() + config.faults.spares.len();
            states.devices.resize(devices, aged.devices[0].clone());
            let name = format!("{} on {}, power {seed}", policy, shape.0);
            let outcome = run_some(&config, &states, FEW);
            every_request_is_explained(&name, &outcome);
            if seed.is_multiple_of(8) {
                assert_eq!(run_some(&config, &states, FEW), outcome, "{name}");
            }
            let mut submitted_again = 0;
            for mishap in &outcome.mishaps {
                if let MishapKind::PowerLost(requests) = mishap.what {
                    (losses, submitted_again) = (losses + 1, submitted_again + requests);
                }
            }
            let restarted = outcome.completions.iter().filter(|done| done.blame.restart > 0).count() as u64;
            assert!(restarted <= submitted_again, "{name}: {restarted} of {submitted_again}");
            again += restarted;
            rebuilds += outcome.happened(MishapKind::Rebuilt);
        }
    }
    is_enough(losses > 300 && again > 300 && rebuilds > 3, format!("{losses}, {again} and {rebuilds}"));
}

#[test]
fn without_capable_members_every_coordinator_is_local_on_every_level() {
    for shape in levels() {
        let config = |policy| {
            let mut config = of_level(shape, policy, Domain::Device, SimDuration::ZERO);
            config.members.iter_mut().for_each(|member| member.capable = false);
            config
        };
        let aged = aged_as(&config("local"));
        let outcome = |policy| {
            let mut outcome = run_some(&config(policy), &aged, FEW);
            // How far members run ahead decides what is known first, and nothing else.
            outcome.completions.sort_unstable_by_key(|done| done.id);
            outcome
        };
        let local = outcome("local");
        // These two go by how long answers take, which every member shows.
        let asks = |name: &&str| !["sit-out", "hedge"].contains(name);
        for policy in coordinators().filter(asks) {
            assert_eq!(outcome(policy), local, "{} on {}", policy, shape.0);
        }
    }
}

/// Members fail at these moments, and are rebuilt in spares that understand messages.
fn failing(mut config: ArrayConfig, failures: &[(u16, When)]) -> ArrayConfig {
    let event = |&(device, at)| Fault { device: DeviceId(device), at, what: Befalls::Failure };
    let spare = MemberConfig { capable: true, ..config.members[0].clone() };
    config.faults = Faults {
        events: failures.iter().map(event).collect(),
        spares: vec![spare; devices_standing_by(&config, failures.len())],
        rebuild: Rebuild {
            min_rate: 20_000_000,
            max_rate: 100_000_000,
            depth: 4,
            step: 16 * PAGE,
            ..Rebuild::default()
        },
        ..Faults::default()
    };
    config
}

/// The last one is not rebuilt when the run ends.
#[test]
#[ignore = "long: make simulations"]
fn every_coordinator_outlives_failures_on_every_level() {
    for shape in levels() {
        let aged = aged_as(&of_level(shape, "local", Domain::Device, SimDuration::ZERO));
        for latency in [0, 20] {
            for policy in coordinators() {
                let config = of_level(shape, policy, Domain::Device, SimDuration::from_us(latency));
                let failures = [
                    (0, When::Request(FEW / 6)),
                    (1, When::Request(FEW * 2 / 3)),
                    (0, When::Request(FEW - 5)),
                ];
                let config = failing(config, &failures);
                let name = format!("{} on {} after failures", policy, shape.0);
                let outcome = run_some(&config, &aged, FEW);
                every_request_is_explained(&name, &outcome);
                let failed = outcome.mishaps.iter().filter(|mishap| mishap.what == MishapKind::Failed);
                // A member for which others stand in cannot fail again.
                let fails = if shape.0.distributed_spares() > 0 { 2 } else { 3 };
                assert_eq!(failed.count(), fails, "{name}");
                // On one level: the test above repeats runs on all of them.
                if latency > 0 && matches!(shape.0, Level::Raid5(_)) {
                    assert_eq!(run_some(&config, &aged, FEW), outcome, "{name}, again");
                }
            }
        }
    }
}

/// Under `local` members run ahead of one another where they may; a policy that listens keeps them in step.
#[test]
fn members_that_run_ahead_are_rebuilt_as_members_in_step() {
    let failures =
        [(0, When::Request(FEW / 6)), (1, When::Request(FEW * 2 / 3)), (0, When::Request(FEW * 5 / 6))];
    let cases = levels().into_iter().flat_map(|shape| [(shape, &failures[..], 0.0), (shape, &[], 0.05)]);
    for (shape, failures, page_errors) in cases {
        let config = |policy| {
            let mut config = failing(of_level(shape, policy, Domain::Device, SimDuration::ZERO), failures);
            config.faults.page_errors = page_errors;
            let all = config.members.iter_mut().chain(&mut config.faults.spares);
            all.for_each(|member| member.capable = false);
            config
        };
        let aged = aged_as(&config("local"));
        let outcome = |policy| {
            let mut outcome = run_some(&config(policy), &aged, FEW);
            outcome.completions.sort_unstable_by_key(|done| done.id);
            outcome
        };
        assert_eq!(outcome("gclock"), outcome("local"), "{} with {page_errors}", shape.0);
    }
}

/// Whoever orders members to collect goes on to do so whenever one of them fails, between an order and its effect too: messages
/// take two milliseconds.
#[test]
#[ignore = "long: make simulations"]
fn no_coordinator_stops_for_ever_when_a_member_fails() {
    let shape = (Level::Raid5(Rotation::LeftSymmetric), 4);
    let config = |policy| of_level(shape, policy, Domain::Device, SimDuration::from_us(2_000));
    let aged = aged_as(&config("local"));
    let mut went_on = 0;
    for policy in coordinators() {
        let healthy = run(&config(policy), &aged);
        if healthy.messages.forced - healthy.forced_early < 10 {
            continue;
        }
        for at in 0..12 {
            let at = When::Time(SimTime(100_000_000 + at * 1_700_000));
            let outcome = run(&failing(config(policy), &[(0, at)]), &aged);
            every_request_is_explained(policy, &outcome);
            let late = outcome.messages.forced - outcome.forced_early;
            assert!(late > 5, "{}, failed at {at:?}: {late} ordered in the second half", policy);
            went_on += late;
        }
    }
    is_enough(went_on > 1_000, format!("members were forced, but only {went_on} times"));
}

#[test]
fn every_coordinator_gives_the_same_run_twice() {
    let aged = aged();
    for policy in coordinators() {
        let config = array(policy, Domain::Device, SimDuration::from_us(5));
        assert_eq!(run(&config, &aged), run(&config, &aged), "{}", policy);
    }
}

/// Arrivals do not depend on what completes, so a member nobody reaches with messages does as it would alone.
#[test]
fn an_incapable_member_does_under_every_coordinator_what_it_does_under_local() {
    let aged = aged();
    let last = usize::from(DEVICES - 1);
    let mut forced = 0;
    for (domain, latency) in [(Domain::Die, 0), (Domain::Device, 0), (Domain::Device, 5_000)] {
        let latency = SimDuration::from_us(latency);
        let local = run(&array("local", domain, latency), &aged);
        for policy in coordinators() {
            let outcome = run(&array(policy, domain, latency), &aged);
            assert_eq!(outcome.tallies[last], local.tallies[last], "{}", policy);
            forced += outcome.messages.forced;
        }
    }
    is_enough(forced > 100, format!("the others were forced, but only {forced} times"));
}

#[test]
fn the_load_of_an_incapable_member_is_activity_too() {
    let config = array("proactive-idle", Domain::Device, SimDuration::from_us(5));
    let mut array =
        Array::with_payload(&config, aged().devices, payload::any(NoPayload), |_| any(AuditProbe))
            .expect("the defaults will do");
    let counter = |array: &Array<AnyProbe, AnyPayload>, name| {
        array.policy_counters().iter().find(|counter| counter.0 == name).expect("it counts this").1
    };
    let mut now = SimTime::ZERO;
    let mut submit = |array: &mut Array<AnyProbe, AnyPayload>, gap_us, page, member| {
        now += SimDuration::from_us(gap_us);
        array.advance_until(now).expect("spare suffices");
        let (id, operation) = (now.0, Operation::Write);
        let (offset, length) = (page * PAGE, PAGE);
        let request = HostRequest { member, ..HostRequest::new(id, now, operation, offset, length) };
        array.submit(request).expect("spare suffices");
        now
    };
    let mut end = SimTime::ZERO;
    for page in 0..300 {
        submit(&mut array, 1_000, page, None);
    }
    // Nothing but the member that is no O-SSD is busy, and never silent for the 10 ms of the threshold.
    for page in 0..20 {
        end = submit(&mut array, 5_000, page, Some(DeviceId(DEVICES - 1)));
    }
    assert_eq!(counter(&array, "idle_periods"), 0);
    array.advance_until(end + SimDuration::from_us(40_000)).expect("spare suffices");
    assert_eq!(counter(&array, "idle_periods"), 1);
    assert!(counter(&array, "forced_in_idle") > 0, "a capable member has registered");
}

#[test]
fn every_coordinator_refuses_a_key_it_does_not_know() {
    let own = serde_json::Map::from_iter([("no_such_key".to_owned(), serde_json::Value::from(1))]);
    let parameters = Parameters {
        devices: DEVICES,
        redundancy: 0,
        members: &[],
        message_latency: SimDuration::ZERO,
        own: &own,
    };
    for entry in REGISTRY {
        assert!((entry.build)(&parameters).is_err(), "{} accepts any key", entry.name);
    }
}

#[test]
fn every_entry_says_what_it_is_and_where_it_comes_from() {
    for (index, entry) in REGISTRY.iter().enumerate() {
        let kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(!entry.name.is_empty() && entry.name.chars().all(kebab), "{}", entry.name);
        assert!(!entry.summary.is_empty() && !entry.source.is_empty(), "{}", entry.name);
        assert!(REGISTRY[..index].iter().all(|other| other.name != entry.name), "{} twice", entry.name);
    }
}
