//! Do windows cost nothing while nothing happens, and does what follows not depend on whether they were simulated?
//!
//! An array whose members are checked simulates every window.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::*;
use harmonia_array::coordination::{
    self, Action, Coordinator, Delivered, DeliveredView, Event, Interests, Parameters,
};
use harmonia_array::layout::Rotation;
use harmonia_array::payload::{self, NoPayload};
use harmonia_array::{
    Array, ArrayConfig, Avoid, Befalls, CoordinationConfig, Fault, Interface, Knowledge, Level,
    MessageCounters, Mishap, Reads, When,
};
use harmonia_engine::Rng;
use harmonia_ssd::probe::{AnyProbe, AuditProbe, NoProbe, any};
use harmonia_ssd::{Tally, Trigger};
use harmonia_types::registry::{Entry, no_keys};
use harmonia_types::{Completion, DeviceId, Operation, SimDuration, SimTime};

const SECOND: SimDuration = SimDuration::from_ms(1_000);
const DAY: SimDuration = SimDuration(86_400 * SECOND.0);

/// Members of one die under a policy with these keys.
fn array(kind: Level, members: u16, policy: &str, keys: &str, latency: SimDuration) -> ArrayConfig {
    let own = serde_json::from_str(keys).expect("a test writes JSON");
    let coordination = CoordinationConfig { own, ..CoordinationConfig::of(policy, latency) };
    let ssd = one_die(16, 4, 6);
    ArrayConfig { coordination, ..level(kind, &ssd, members, PAGE) }
}

/// Everything a run leaves behind, and what it cost.
#[derive(Debug, PartialEq)]
struct Outcome {
    completions: Vec<Completion>,
    tallies: Vec<Tally>,
    messages: MessageCounters,
    of_policy: Vec<(&'static str, u64)>,
    intervals: Vec<(DeviceId, SimTime, SimTime)>,
    mishaps: Vec<Mishap>,
}

/// Writes a page after each gap, and lets time pass up to the end of the last. What came of it, and events that were simulated.
fn run(config: &ArrayConfig, gaps: &[SimDuration], is_checked: bool) -> (Outcome, u64) {
    let probe = |_| if is_checked { any(AuditProbe) } else { any(NoProbe) };
    let mut array =
        Array::<AnyProbe, _>::with_payload(config, all_filled(config, 1), payload::any(NoPayload), probe)
            .expect("the policy works");
    let pages = array.layout().logical_bytes() / PAGE;
    let (mut now, mut rng) = (SimTime::ZERO, Rng::stream(3, "rounds"));
    for (id, &gap) in (0..).zip(gaps) {
        now += gap;
        array.advance_until(now).expect("spare suffices");
        let operation = if rng.chance(0.3) { Operation::Read } else { Operation::Write };
        let one = request(id, now, operation, rng.below(pages) * PAGE, PAGE);
        array.submit(one).expect("spare suffices");
    }
    array.advance_until(now + SECOND).expect("spare suffices");
    let devices = array.devices();
    let tallies = devices.iter().map(|device| device.ftl().tally()).collect();
    let events = devices.iter().map(|device| device.events()).sum();
    let outcome = Outcome {
        tallies,
        messages: *array.message_counters(),
        of_policy: array.policy_counters(),
        mishaps: array.mishaps().to_vec(),
        intervals: std::mem::take(array.gc_intervals()),
        completions: std::mem::take(array.completions()),
    };
    (outcome, events)
}

/// A window begins at 0 and every 10 ms from then on, each of so many members.
#[test]
fn a_gap_of_a_day_costs_what_one_of_a_second_costs_and_all_windows_are_counted() {
    let raid5 = (Level::Raid5(Rotation::LeftSymmetric), 4, 1);
    let raid6 = (Level::Raid6(Rotation::LeftSymmetric), 6, 2);
    for ((kind, members, sharing), policy, keys) in [
        (raid5, "plm", r#"{"non_deterministic": "10ms"}"#),
        (raid6, "plm", r#"{"non_deterministic": "10ms", "members": 2}"#),
        (raid5, "ioda", r#"{"window": "10ms", "buffer": "3ms"}"#),
        (raid6, "ioda", r#"{"window": "10ms", "buffer": "3ms"}"#),
    ] {
        let config = array(kind, members, policy, keys, SimDuration::ZERO);
        let after = |gap| run(&config, &[SECOND, gap, SimDuration::from_ms(1)], false);
        let ((short, of_second), (long, of_day)) = (after(SECOND), after(DAY));
        assert!(of_day <= of_second + 100, "{policy}: {of_day} events in a day, {of_second} in a second");
        for (outcome, gap) in [(short, SECOND), (long, DAY)] {
            let time = SECOND.0 + gap.0 + SimDuration::from_ms(1).0 + SECOND.0;
            let windows = (time / SimDuration::from_ms(10).0 + 1) * sharing;
            assert_eq!(outcome.messages.windows, windows, "{policy} of {members}");
            assert_eq!(
                outcome.messages.holds,
                windows + u64::from(members) - sharing,
                "{policy} of {members}"
            );
        }
    }
}

/// Members are asked at 0 and every 10 ms from then on, and each answers.
#[test]
fn a_gap_of_a_day_costs_no_more_where_members_are_asked_and_all_questions_are_counted() {
    let kind = Level::Raid5(Rotation::LeftSymmetric);
    let mut config = array(kind, 4, "local", "{}", SimDuration::from_us(3));
    config.knowledge = Knowledge {
        interface: Interface::Log,
        reads: Reads::Avoid(Avoid::Longest),
        poll: SimDuration::from_ms(10),
        ..config.knowledge
    };
    let (outcome, _) = run(&config, &[SECOND, DAY, SimDuration::from_ms(1)], false);
    let time = SECOND.0 + DAY.0 + SimDuration::from_ms(1).0 + SECOND.0;
    assert_eq!(outcome.messages.queries, (time / SimDuration::from_ms(10).0 + 1) * 4);
    assert_eq!(outcome.completions.len(), 3);
}

/// A random array with a policy that has windows, and gaps of a few windows to hundreds.
fn drawn(rng: &mut Rng) -> (ArrayConfig, Vec<SimDuration>) {
    let (kind, members) = [
        (Level::Raid1, 2),
        (Level::Raid5(Rotation::LeftSymmetric), 4),
        (Level::Raid6(Rotation::LeftSymmetric), 5),
        (Level::Raid6(Rotation::LeftSymmetric), 7),
    ][rng.below(4) as usize];
    let window = 100 + rng.below(2_000);
    let (policy, keys) = match rng.below(4) {
        0 => ("ioda", format!(r#"{{"window": "{window}us", "buffer": "{}us"}}"#, rng.below(window))),
        1 => {
            let most = 1 + rng.below(u64::from(kind.redundancy(members)));
            ("plm", format!(r#"{{"non_deterministic": "{window}us", "members": {most}}}"#))
        }
        2 => ("local", "{}".to_owned()),
        _ => {
            let pause = rng.below(20_000);
            ("plm", format!(r#"{{"non_deterministic": "{window}us", "deterministic": "{pause}us"}}"#))
        }
    };
    let latency = SimDuration::from_us([0, 0, 5, 3_000][rng.below(4) as usize]);
    let mut config = array(kind, members, policy, &keys, latency);
    if rng.chance(0.5) {
        config.members.iter_mut().for_each(|member| member.ssd.gc.trigger = Trigger::Background);
    }
    config.members[0].capable = rng.chance(0.8);
    if policy == "local" {
        config.knowledge = Knowledge {
            interface: Interface::Log,
            reads: Reads::Avoid(Avoid::Longest),
            poll: SimDuration::from_us(window),
            ..config.knowledge
        };
    }
    let gaps: Vec<_> = (0..60).map(|_| SimDuration::from_us(1 + rng.below(20_000) * rng.below(9))).collect();
    if rng.chance(0.5) {
        let time: u64 = gaps.iter().map(|gap| gap.0).sum();
        let at = When::Time(SimTime(rng.below(time)));
        let device = DeviceId(rng.below(u64::from(members)) as u16);
        config.faults.events = vec![Fault { device, at, what: Befalls::Failure }];
    }
    (config, gaps)
}

#[test]
fn whatever_follows_rounds_is_the_same_whether_they_were_simulated_or_not() {
    let mut shorter = 0;
    for seed in 0..150 {
        let (config, gaps) = drawn(&mut Rng::stream(seed, "rounds"));
        let ((every, of_every), (fewer, of_fewer)) = (run(&config, &gaps, true), run(&config, &gaps, false));
        assert_eq!(fewer, every, "seed {seed}");
        shorter += u64::from(2 * of_fewer < of_every);
    }
    assert!(shorter > 30, "windows went by in {shorter} runs");
}

/// Sets a timer every 10 ms, and counts those that reach it.
#[derive(Clone)]
struct Ticks(Arc<AtomicU64>);

const TICK: SimDuration = SimDuration::from_ms(10);

impl Coordinator for Ticks {
    fn interests(&self) -> Interests {
        Interests::default()
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn round(&self) -> Option<SimDuration> {
        Some(TICK)
    }

    fn on(&mut self, now: SimTime, event: &Event, _: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        match event {
            Event::Start => {}
            Event::Timer(_) => drop(self.0.fetch_add(1, Ordering::Relaxed)),
            _ => return,
        }
        actions.push(Action::Timer(now + TICK, 0));
    }
}

/// In an array that rests for a day a policy hears of few of its rounds; if members are checked, of every one.
#[test]
fn a_policy_is_not_asked_in_rounds_that_go_by() {
    let ticks = Ticks(Arc::default());
    let own = ticks.clone();
    let build: coordination::Build =
        Box::leak(Box::new(move |_: &Parameters<'_>| Ok(Box::new(own.clone()) as Box<dyn Coordinator>)));
    let (name, summary, source) = ("ticks", "counts its timers", "none");
    coordination::POLICIES.add(Entry { name, summary, source, keys: &no_keys, build }).expect("it is new");
    let config = array(Level::Raid1, 2, name, "{}", SimDuration::ZERO);
    let heard = |gaps: &[SimDuration], is_checked| {
        run(&config, gaps, is_checked);
        ticks.0.swap(0, Ordering::Relaxed)
    };
    let all = |gaps: &[SimDuration]| (gaps.iter().map(|gap| gap.0).sum::<u64>() + SECOND.0) / TICK.0;
    let (short, long) = ([SECOND, SECOND, SECOND], [SECOND, DAY, SECOND]);
    assert_eq!(heard(&short, true), all(&short));
    let (of_short, of_long) = (heard(&short, false), heard(&long, false));
    // Of each gap the round that is compared, one before it and one behind it at most.
    assert!(0 < of_short && of_short <= 4 * 4, "{of_short} of {} rounds", all(&short));
    assert!(0 < of_long && of_long <= 4 * 4, "{of_long} of {} rounds", all(&long));
}

/// Writes down what is known of members when a request arrives.
#[derive(Clone)]
struct Notes(Arc<Mutex<Vec<Vec<Delivered>>>>);

impl Coordinator for Notes {
    fn interests(&self) -> Interests {
        Interests { arrivals: true, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Log
    }

    fn on(&mut self, _: SimTime, event: &Event, view: &DeliveredView<'_>, _: &mut Vec<Action>) {
        if let Event::Arrival(_) = event {
            self.0.lock().expect("nobody has panicked").push(view.members.to_vec());
        }
    }
}

/// A policy sees answers that are as old as if all questions had been asked.
#[test]
fn what_is_known_of_members_is_as_old_as_ever() {
    let notes = Notes(Arc::default());
    let own = notes.clone();
    let build: coordination::Build =
        Box::leak(Box::new(move |_: &Parameters<'_>| Ok(Box::new(own.clone()) as Box<dyn Coordinator>)));
    let (name, summary, source) = ("notes", "writes down what is known", "none");
    coordination::POLICIES.add(Entry { name, summary, source, keys: &no_keys, build }).expect("it is new");
    for latency in [0, 30, 490, 700] {
        let mut config = array(Level::Raid1, 2, name, "{}", SimDuration::from_us(latency));
        config.knowledge = Knowledge {
            interface: Interface::Log,
            reads: Reads::Avoid(Avoid::Longest),
            poll: SimDuration::from_ms(1),
            ..config.knowledge
        };
        let mut rng = Rng::stream(latency, "rounds/notes");
        let gaps: Vec<_> = (0..200).map(|_| SimDuration(rng.below(9) * rng.below(5_000_000))).collect();
        let noted = |is_checked| {
            let (outcome, _) = run(&config, &gaps, is_checked);
            (outcome, std::mem::take(&mut *notes.0.lock().expect("nobody has panicked")))
        };
        let (every, fewer) = (noted(true), noted(false));
        assert!(every.1.last().is_some_and(|members| members[0].as_of > SimTime(900_000_000)));
        assert_eq!(every, fewer, "a message takes {latency} us");
    }
}
