//! Background work of the array beside the host: who waited for whom, and what counts as the host's activity.

use std::collections::BTreeSet;

use crate::bench::*;
use crate::random::pick;
use harmonia_engine::Rng;
use harmonia_ssd::interface::{Directive, Stop};
use harmonia_ssd::probe::{AuditProbe, any};
use harmonia_ssd::{Device, Ftl, SubRequest};
use harmonia_types::{Blame, Operation, SimDuration, SimTime};

fn background(token: u32, operation: Operation, page: u64) -> SubRequest {
    SubRequest { background: true, ..sub(token, operation, page, 1) }
}

fn read_back(token: u32, page: u64) -> SubRequest {
    background(token, Operation::Read, page)
}

fn write_back(token: u32, page: u64) -> SubRequest {
    background(token, Operation::Write, page)
}

#[test]
fn a_read_that_waits_for_a_die_blames_the_background_for_its_share_and_the_host_for_its_own() {
    let mut bench = Bench::with(&one_die(), &[&[0, 1, 2]]);
    // The background reads until 1,300 and programs until 6,600, its data being there at 70; the host reads until 7,900.
    bench.submit(0, read_back(1, 0)).submit(0, write_back(2, 1)).read(100, 3, 2, 1).read(200, 4, 2, 1);
    bench.known_at(1_300, 1, 1_370, read_blame());
    bench.known_at(6_600, 2, 6_600, Blame { queue_rebuild: 1_230, ..write_blame() });
    bench.known_at(7_900, 3, 7_970, Blame { queue_rebuild: 6_500, ..read_blame() });
    bench.known_at(9_200, 4, 9_270, Blame { queue_rebuild: 6_400, queue_host: 1_300, ..read_blame() });
}

#[test]
fn the_background_blames_the_host_it_waits_for_and_its_own_service_is_its_own() {
    let mut bench = Bench::with(&one_die(), &[&[0, 1]]);
    bench.read(0, 1, 0, 1).submit(10, read_back(2, 1)).submit(20, read_back(3, 1));
    bench.known_at(1_300, 1, 1_370, read_blame());
    bench.known_at(2_600, 2, 2_670, Blame { queue_host: 1_290, ..read_blame() });
    bench.known_at(3_900, 3, 3_970, Blame { queue_host: 1_280, queue_rebuild: 1_300, ..read_blame() });
}

#[test]
fn who_comes_later_is_charged_from_then_on_and_an_idle_die_charges_nobody() {
    let mut bench = Bench::with(&one_die(), &[&[0, 1]]);
    bench.submit(0, read_back(1, 0)).read(1_299, 2, 1, 1);
    bench.known_at(2_600, 2, 2_670, Blame { queue_rebuild: 1, ..read_blame() });
    bench.submit(5_000, read_back(3, 0)).read(6_300, 4, 1, 1);
    bench.known_at(7_600, 4, 7_670, read_blame());
}

#[test]
fn waiting_for_a_shared_bus_stays_with_the_host_and_waiting_for_the_die_does_not() {
    // Die 0 has the even pages. Both arrays are done at 1,000; the background's page has the bus until 1,300.
    let mut bench = Bench::with(&shared_bus(), &[&[0, 1], &[0]]);
    bench.submit(0, read_back(1, 0)).read(0, 2, 1, 1).read(0, 3, 2, 1);
    bench.known_at(1_300, 1, 1_370, read_blame());
    bench.known_at(1_600, 2, 1_670, Blame { queue_host: 300, ..read_blame() });
    bench.known_at(2_600, 3, 2_670, Blame { queue_rebuild: 1_300, ..read_blame() });

    // While the background's command waits for the bus it occupies its die.
    let mut bench = Bench::with(&shared_bus(), &[&[0, 1], &[0]]);
    bench.read(0, 1, 1, 1).submit(0, read_back(2, 0)).read(0, 3, 2, 1);
    bench.known_at(1_600, 2, 1_670, Blame { queue_host: 300, ..read_blame() });
    bench.known_at(2_900, 3, 2_970, Blame { queue_rebuild: 1_600, ..read_blame() });
}

#[test]
fn a_write_behind_a_background_program_on_a_shared_bus() {
    let mut bench = Bench::with(&shared_bus(), &[&[0, 1], &[0]]);
    bench.submit(0, write_back(1, 0)).write(0, 2, 2, 1);
    bench.known_at(5_370, 1, 5_370, write_blame());
    // Its data is there at 140.
    bench.known_at(10_670, 2, 10_670, Blame { queue_rebuild: 5_230, link: 140, ..write_blame() });
}

#[test]
fn a_summary_that_a_background_write_costs_belongs_to_it() {
    let mut config = one_die();
    config.geometry.pages_per_block = 5;
    config.geometry.summary_pages = 1;
    let mut bench = Bench::with(&config, &[&[0, 1, 2]]);
    bench.submit(0, write_back(1, 3)).read(5_400, 2, 0, 1);
    bench.known_at(11_670, 2, 11_740, Blame { queue_rebuild: 4_970, ..read_blame() });
}

#[test]
fn collection_that_a_background_write_begins_is_collection() {
    // One move of two pages and an erase: 32,000 ns for the third page that is written.
    let mut bench = Bench::aged(&one_die(), &[0]);
    bench.submit(0, read_back(1, 0)).read(10, 2, 1, 1);
    let length = bench.collected()[0].1;
    let done = bench.find(2).unwrap();
    let expected = Blame { queue_gc: length - 10, queue_rebuild: 1_300, ..read_blame() };
    assert_eq!((done.blame, done.met_gc), (expected, true));
}

#[test]
fn a_command_that_serves_the_host_too_belongs_to_the_host() {
    let mut config = planes(2);
    config.ftl.multi_plane = true;
    let waited = |first: SubRequest| {
        let mut bench = Bench::with(&config, &[CALM, CALM]);
        // A read ahead lets two of sibling planes come together.
        bench.submit(0, read_back(9, 8)).submit(10, first).submit(10, read_back(2, 9)).read(20, 3, 1, 1);
        bench.collected();
        let own = bench.find(2).unwrap();
        assert_eq!(own.blame.queue_rebuild, 1_290, "the command before, and not its own");
        bench.find(3).unwrap().blame
    };
    // 1,300 of the first command, 1,600 of the joint one.
    let both = waited(read_back(1, 8));
    assert_eq!((both.queue_rebuild, both.queue_host), (1_280 + 1_600, 0));
    let mixed = waited(sub(1, Operation::Read, 8, 1));
    assert_eq!((mixed.queue_rebuild, mixed.queue_host), (1_280, 1_600));
}

#[test]
fn a_refused_read_blames_the_background_for_what_it_waited() {
    let mut bench = Bench::aged(&two_dies(), &[]);
    bench.submit(0, read_back(1, 0));
    bench.submit(100, SubRequest { fast_fail: true, ..sub(2, Operation::Read, 2, 1) });
    bench.force(700);
    let refused = bench.device.refusals().pop().expect("the event goes first");
    assert_eq!(refused.blame, Blame { queue_rebuild: 600, ..Blame::default() });
}

#[test]
fn background_work_is_no_activity_of_the_host() {
    let mut bench = Bench::aged(&one_die(), &[0]);
    bench.read(0, 1, 0, 1).collected();
    let last = bench.device.status(SimTime(100_000)).last_activity;
    bench.submit(100_000, read_back(2, 1)).submit(100_000, write_back(3, 1)).collected();
    assert_eq!(bench.device.status(SimTime(200_000)).last_activity, last);
    assert!(bench.find(3).is_some());
}

#[test]
fn idle_time_collection_begins_beside_background_work_and_only_the_host_ends_it() {
    let victims = |at: u64, operation: SubRequest| {
        let mut bench = Bench::aged(&one_die(), &[]);
        bench.submit(0, read_back(1, 0)).force_idle(10).submit(at, operation).collected();
        assert!(bench.find(1).is_some() && bench.find(2).is_some());
        bench.device.counters().gc_victims
    };
    let alone = victims(1_000_000, read_back(2, 1));
    assert!(alone > 1, "the whole reserve takes {alone} victims");
    assert_eq!(victims(2_000, read_back(2, 1)), alone, "the background waits");
    assert_eq!(victims(2_000, sub(2, Operation::Read, 1, 1)), 1, "the host does not");
    // Operations of the host keep it from beginning.
    let mut bench = Bench::aged(&one_die(), &[]);
    bench.read(0, 1, 0, 1).force_idle(10).collected();
    assert_eq!(bench.device.counters().gc_victims, 0);
}

#[test]
fn in_a_window_to_collect_in_background_work_does_not_go_first() {
    let collects_by = |operation: SubRequest| {
        let mut bench = Bench::aged(&one_die(), &[]);
        bench.submit(0, operation).submit(0, SubRequest { token: 2, ..operation });
        bench.device.direct(SimTime(10), Directive::Open);
        bench.advance(1_300).device.collecting_since().is_some()
    };
    assert!(collects_by(read_back(1, 0)));
    assert!(!collects_by(sub(1, Operation::Read, 0, 1)));
}

/// Sends a random load to a random device, some of it as background work if `marked`; sub-requests as they completed
/// or were refused, in any order, with what they blame.
fn outcome(seed: u64, marked: bool, directives: &[Directive]) -> Vec<(u64, u64, Blame)> {
    let mut rng = Rng::stream(seed, "background");
    let mut config = crate::random::config(&mut rng);
    crate::random::timing(&mut config, &mut Rng::stream(seed, "background/timing"));
    // Reads of the background suspend nothing, so that which reads are of the background would be seen.
    config.timing.suspend_host_program = None;
    if directives.contains(&Directive::Open) {
        config.gc.concurrency = crate::random::concurrency(&mut rng);
    }
    let ftl = Ftl::new(&config, seed, "device").unwrap();
    let (pages, size) = (u64::from(ftl.shape().logical_pages), u64::from(config.geometry.page_size));
    let mut device = Device::new(&config, ftl, any(AuditProbe)).unwrap();
    let (mut now, mut outcome, mut issued) = (SimTime::ZERO, Vec::new(), Vec::new());
    let operations = 400;
    for token in 0..operations {
        now += SimDuration(pick(&mut rng, &[0, 1, 40, 400]) * rng.below(4));
        device.advance_until(now, false).unwrap();
        if rng.chance(0.05) {
            device.direct(now, pick(&mut rng, directives));
        }
        let length = size * (1 + rng.below(3).min(pages - 1));
        let kinds = [Operation::Read, Operation::Write, Operation::Write, Operation::Trim];
        let (operation, page) = (pick(&mut rng, &kinds), rng.below(pages - length / size + 1));
        let plain = SubRequest::new(token, operation, page * size, length);
        let request =
            SubRequest { fast_fail: rng.chance(0.2), background: rng.chance(0.5) && marked, ..plain };
        issued.push(now);
        device.submit(now, request).unwrap();
        device.audit();
    }
    while device.next_wakeup() != SimTime::NEVER {
        device.advance_until(device.next_wakeup(), false).unwrap();
    }
    let done = device.completions().drain(..).map(|done| (done.token, done.finish.0, done.blame));
    outcome.extend(done);
    outcome.extend(device.refusals().drain(..).map(|refused| (refused.token, refused.at.0, refused.blame)));
    for (token, at, blame) in &outcome {
        let response = at - issued[*token as usize].0;
        assert_eq!(blame.total(), response, "seed {seed}: the parts of {token} sum to its response");
    }
    let answered: BTreeSet<u64> = outcome.iter().map(|(token, ..)| *token).collect();
    assert_eq!(answered.len(), operations as usize, "seed {seed}: everything is answered");
    outcome
}

#[test]
fn without_idle_times_and_windows_the_background_changes_blame_and_nothing_else() {
    let directives = [Directive::Force(Stop::Internal), Directive::Hold, Directive::Release];
    let (mut host, mut rebuild) = (0, 0);
    for seed in 0..150 {
        let plain = outcome(seed, false, &directives);
        let mut marked = outcome(seed, true, &directives);
        for (_, _, blame) in &mut marked {
            rebuild += blame.queue_rebuild;
            blame.queue_host += std::mem::take(&mut blame.queue_rebuild);
            host += blame.queue_host;
        }
        // Pages are refused one by one or together, as they blame.
        if plain.len() == marked.len() {
            assert_eq!(plain, marked, "seed {seed}");
        }
    }
    assert!(rebuild > host / 4 && rebuild < host, "{rebuild} of {host} ns");
}

#[test]
fn with_idle_times_windows_and_limits_everything_is_answered_and_every_blame_sums() {
    let force = [Stop::Internal, Stop::AllReserve].map(Directive::Force);
    let directives = [force[0], force[1], force[1], Directive::Open, Directive::Hold, Directive::Release];
    for seed in 0..300 {
        outcome(seed, true, &directives);
    }
}
