//! How long does a rebuild take, what does it leave to the host, and what does a degraded array cost reads?
//!
//! Members have 64 dies with pins of their own, and steps of four pages: up to 16 steps at a time meet on no die. Then
//!
//! ```text
//! step:  read 25 us + transfer 20 us | 4 pages out over the link ─► 4 pages in over the link | transfer 20 us + program 200 us
//! rate:  min(depth x bytes of a step / (read + write time of a step), link, highest rate)
//! ```
//!
//! Degraded reads are queues of the members that are left: `degraded_queues` has those of equal members. Here one of them is slower,
//! and a read that needs both waits for that one. Not verified here: contents, which the torture tests do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::common::{PAGE, level, one_die, request};
use harmonia_array::layout::Rotation;
use harmonia_array::{
    Array, ArrayConfig, Befalls, Condition, Fault, Faults, Level, MemberConfig, MishapKind, Rebuild, Scrub,
    When,
};
use harmonia_engine::Rng;
use harmonia_flash::LinkConfig;
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Ftl, SsdConfig};
use harmonia_types::{Completion, DeviceId, HostRequest, IoCause, Operation, SimDuration, SimTime};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
const RAID6: Level = Level::Raid6(Rotation::LeftSymmetric);
const STEP_PAGES: u64 = 4;
const STEP: u64 = STEP_PAGES * PAGE;
const MB: u64 = 1_000_000;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// 64 dies of 128 pages each.
fn many_dies(link: Option<u64>) -> SsdConfig {
    let mut ssd = one_die(12, 16, 4);
    ssd.geometry.chips_per_channel = 64;
    ssd.link = LinkConfig::of(link.unwrap_or(u64::MAX));
    ssd
}

fn failure(device: u16, at: u64) -> Fault {
    Fault { device: DeviceId(device), at: When::Time(SimTime(at)), what: Befalls::Failure }
}

/// As fast as members can.
fn at_full_speed(depth: u32) -> Rebuild {
    Rebuild { min_rate: u64::MAX, max_rate: u64::MAX, depth, step: STEP, ..Rebuild::default() }
}

fn config(of: Level, members: u16, ssd: &SsdConfig, faults: Faults) -> ArrayConfig {
    ArrayConfig { faults, ..level(of, ssd, members, STEP) }
}

fn faults(events: &[Fault], spares: usize, ssd: &SsdConfig, rebuild: Rebuild) -> Faults {
    let spares = vec![MemberConfig { capable: true, ssd: ssd.clone() }; spares];
    Faults { events: events.to_vec(), spares, rebuild, ..Faults::default() }
}

/// Programs that filled a member.
fn filled(ftl: &Ftl) -> u64 {
    u64::from(ftl.shape().units()) * u64::from(ftl.shape().unit_pages)
}

/// Members whose every page is written, and erased spares.
fn build(config: &ArrayConfig) -> Array {
    let member = |index: usize, is_filled: bool| {
        let all = config.members.iter().chain(&config.faults.spares);
        let ssd = &all.clone().nth(index).expect("there are so many").ssd;
        let mut ftl = Ftl::new(ssd, 1, &format!("device/{index}")).expect("a shape that works");
        let (units, pages) = (ftl.shape().units(), ftl.shape().unit_pages);
        for unit in (0..units).filter(|_| is_filled) {
            for page in 0..pages {
                ftl.unit(unit).program(page, IoCause::Host, None, &mut NoProbe).expect("spare suffices");
            }
        }
        ftl
    };
    let (members, spares) = (config.members.len(), config.faults.spares.len());
    let states = (0..members + spares).map(|index| member(index, index < members)).collect();
    Array::new(config, states, None, |_| NoProbe).expect("a configuration that works")
}

fn advance(array: &mut Array, until: u64) {
    array.advance_until(SimTime(until)).expect("spare suffices");
}

/// When things befell members, in nanoseconds.
fn times(array: &Array, what: MishapKind) -> Vec<(u16, u64)> {
    let same = |kind: MishapKind| match (kind, what) {
        (MishapKind::Replaced(_), MishapKind::Replaced(_)) => true,
        _ => kind == what,
    };
    let found = array.mishaps().iter().filter(|mishap| same(mishap.what));
    found.filter_map(|mishap| Some((mishap.device?.0, mishap.at.0))).collect()
}

const REPLACED: MishapKind = MishapKind::Replaced(0);

#[track_caller]
fn assert_within(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    eprintln!("{what}: {measured:.5e}, closed form {expected:.5e}: {:+.3}%", 100.0 * error);
    assert!(error.abs() <= tolerance, "{what}: {measured} is {:+.2}% off {expected}", 100.0 * error);
}

// ------------------------------------------------------------------------------------------------- an idle array

/// Bytes a second.
fn closed_form(ssd: &SsdConfig, rebuild: &Rebuild) -> f64 {
    let (timing, link) = (&ssd.timing, ssd.link.page_time(PAGE as u32));
    let over_link = link.0 * STEP_PAGES;
    let read = (timing.read.mean() + timing.transfer).0 + over_link;
    let write = over_link + (timing.transfer + timing.program.mean()).0;
    let by_depth = f64::from(rebuild.depth) * STEP as f64 / (read + write) as f64 * 1e9;
    let by_link = if link.0 == 0 { f64::INFINITY } else { PAGE as f64 / link.0 as f64 * 1e9 };
    by_depth.min(by_link).min(rebuild.max_rate as f64)
}

#[test]
fn on_an_idle_array_a_rebuild_takes_the_time_of_its_closed_form() {
    let mut bounds = [0, 0, 0];
    for (of, members) in [(Level::Raid1, 2), (Level::Raid1, 3), (RAID5, 4), (RAID6, 5)] {
        for depth in [1, 4, 16] {
            for (link, max_rate) in [(None, u64::MAX), (Some(600 * MB), u64::MAX), (Some(600 * MB), 40 * MB)]
            {
                let ssd = many_dies(link);
                let rebuild = Rebuild { max_rate, ..at_full_speed(depth) };
                let config = config(of, members, &ssd, faults(&[failure(1, MS)], 1, &ssd, rebuild));
                let mut array = build(&config);
                advance(&mut array, 10 * SECOND);
                let (from, until) = (times(&array, REPLACED), times(&array, MishapKind::Rebuilt));
                assert_eq!((from.len(), until.len()), (1, 1), "{of} {depth}");
                let bytes = array.layout().member_bytes();
                let took = until[0].1 - from[0].1;
                let rate = bytes as f64 / took as f64 * 1e9;
                let expected = closed_form(&ssd, &rebuild);
                assert_within(&format!("{of}, depth {depth}, {link:?}, {max_rate}"), rate, expected, 0.05);
                bounds[usize::from(expected == max_rate as f64) + usize::from(expected > 599e6) * 2 % 3] += 1;
                let counted = array.background_counters(SimTime(10 * SECOND));
                assert_eq!((counted.rebuilt_bytes, counted.rebuilds), (bytes, 1));
                assert_eq!((counted.rebuild_ns, counted.share_built()), (took, 1.0));
                assert_eq!(array.health().of(DeviceId(1)), Condition::Whole);
                let written = array.devices()[1].ftl().tally().data_programs();
                assert_eq!(written, bytes / PAGE, "every page once");
            }
        }
    }
    assert!(bounds.iter().all(|&count| count > 0), "each bound is met somewhere: {bounds:?}");
}

/// What was never written costs the others the link only; the replacement is written as a whole.
#[test]
fn a_member_that_was_filled_in_part_is_rebuilt_as_a_whole() {
    let ssd = many_dies(Some(600 * MB));
    let config = config(RAID5, 4, &ssd, faults(&[failure(1, MS)], 1, &ssd, at_full_speed(1)));
    let empty = |index: usize| Ftl::new(&ssd, 1, &format!("device/{index}")).expect("a shape that works");
    let mut array = Array::new(&config, (0..5).map(empty).collect(), None, |_| NoProbe).expect("it works");
    advance(&mut array, 10 * SECOND);
    let took = times(&array, MishapKind::Rebuilt)[0].1 - MS;
    let bytes = array.layout().member_bytes();
    let link = ssd.link.page_time(PAGE as u32).0 * STEP_PAGES;
    assert_within("time", took as f64, (bytes / STEP * (2 * link + 220_000)) as f64, 0.05);
    assert_eq!(array.devices()[1].ftl().tally().data_programs(), bytes / PAGE);
}

// ----------------------------------------------------------------------------------------------------- under load

/// Requests that follow one another: so many under way at a time.
struct Loop {
    rng: Rng,
    arrivals: BinaryHeap<Reverse<(u64, u64)>>,
    next_id: u64,
    writes: f64,
    done: Vec<Completion>,
}

impl Loop {
    fn new(under_way: u64, writes: f64) -> Self {
        let arrivals = (0..under_way).map(|id| Reverse((id * 7_000, id))).collect();
        Loop { rng: Rng::stream(3, "loop"), arrivals, next_id: 0, writes, done: Vec::new() }
    }

    /// Lets time pass; requests that are done before `until` are followed by others, if it `goes_on`.
    fn run(&mut self, array: &mut Array, until: u64, goes_on: bool) {
        loop {
            let arrival = self.arrivals.peek().map_or(u64::MAX, |next| next.0.0);
            let next = arrival.min(array.next_wakeup().0);
            if next > until {
                return;
            }
            if arrival <= next {
                self.arrivals.pop();
                advance(array, arrival);
                let pages = array.layout().logical_bytes() / PAGE;
                let is_write = self.rng.chance(self.writes);
                let operation = if is_write { Operation::Write } else { Operation::Read };
                let offset = self.rng.below(pages) * PAGE;
                array.submit(request(self.next_id, SimTime(arrival), operation, offset, PAGE)).expect("room");
                self.next_id += 1;
            } else {
                advance(array, next);
            }
            for done in array.completions().drain(..) {
                if goes_on {
                    self.arrivals.push(Reverse((done.finish.0, done.id)));
                }
                self.done.push(done);
            }
        }
    }
}

fn rebuilt(array: &Array, now: u64) -> u64 {
    array.background_counters(SimTime(now)).rebuilt_bytes
}

#[test]
fn under_load_the_lowest_rate_is_kept_and_in_a_pause_the_highest() {
    for (of, members) in [(Level::Raid1, 2), (RAID5, 4)] {
        let ssd = many_dies(None);
        let (min_rate, max_rate) = (4 * MB, 40 * MB);
        let rebuild = Rebuild { min_rate, max_rate, depth: 4, step: STEP, ..Rebuild::default() };
        let config = config(of, members, &ssd, faults(&[failure(1, 5 * MS)], 1, &ssd, rebuild));
        let (mut array, mut load) = (build(&config), Loop::new(8, 0.3));
        let mut rates = Vec::new();
        // Requests, a pause, requests. The rate of every 20 ms.
        for (until, goes_on) in [(1_000, true), (1_200, false), (2_000, true)] {
            if until == 2_000 {
                load.arrivals = (0..8).map(|id| Reverse((1_200 * MS + id, id))).collect();
            }
            let mut from = rates.len() as u64 * 20;
            while from < until {
                let before = rebuilt(&array, from * MS);
                load.run(&mut array, (from + 20) * MS, goes_on);
                advance(&mut array, (from + 20) * MS);
                rates.push((rebuilt(&array, (from + 20) * MS) - before) as f64 * 50.0);
                from += 20;
            }
        }
        let mean = |from: usize, to: usize| rates[from..to].iter().sum::<f64>() / (to - from) as f64;
        assert_within(&format!("{of} under load"), mean(1, 50), min_rate as f64, 0.05);
        assert_within(&format!("{of} in the pause"), mean(51, 60), max_rate as f64, 0.05);
        assert_within(&format!("{of} under load again"), mean(61, 100), min_rate as f64, 0.05);
        // A step more or less may end in 20 ms.
        let most = max_rate as f64 * 1.05 + STEP as f64 * 50.0;
        assert!(rates.iter().all(|&rate| rate <= most), "{rates:?}");
        assert!(matches!(array.health().of(DeviceId(1)), Condition::Partial(1..)), "it is not complete");
    }
}

#[test]
fn a_rebuild_goes_on_as_soon_as_the_last_request_is_done() {
    let ssd = many_dies(None);
    let rebuild = Rebuild { min_rate: 1, max_rate: 40 * MB, depth: 4, step: STEP, ..Rebuild::default() };
    let config = config(RAID5, 4, &ssd, faults(&[failure(1, 5 * MS)], 1, &ssd, rebuild));
    let (mut array, mut load) = (build(&config), Loop::new(8, 0.3));
    load.run(&mut array, 100 * MS, true);
    let before = rebuilt(&array, 100 * MS);
    assert!(before <= STEP, "the first step at most: {before}");
    load.run(&mut array, 200 * MS, false);
    assert_within("after that", (rebuilt(&array, 200 * MS) - before) as f64 * 10.0, 4e7, 0.05);
}

/// Alone a step takes 265 us. Beside 48 requests it takes seven times that, now and then much more: what is lost is made up for.
#[test]
fn a_rebuild_that_has_fallen_behind_the_lowest_rate_catches_up() {
    let ssd = many_dies(None);
    let rate = |min_rate: u64| {
        let rebuild = Rebuild { min_rate, ..at_full_speed(1) };
        let config = config(Level::Raid1, 2, &ssd, faults(&[failure(1, 5 * MS)], 1, &ssd, rebuild));
        let (mut array, mut load) = (build(&config), Loop::new(48, 0.5));
        load.run(&mut array, 1_605 * MS, true);
        rebuilt(&array, 1_605 * MS) as f64 / 1.6
    };
    let min_rate = rate(u64::MAX) * 0.7;
    assert_within("the lowest rate", rate(min_rate as u64), min_rate, 0.05);
}

// ----------------------------------------------------------------------------------------------- failure by failure

/// What befell members, in order.
fn story(array: &Array) -> Vec<(u16, MishapKind)> {
    array.mishaps().iter().filter_map(|mishap| Some((mishap.device?.0, mishap.what))).collect()
}

/// The array under a load until it is over; all requests are answered once.
fn told(config: &ArrayConfig) -> (Array, Vec<Completion>) {
    let (mut array, mut load) = (build(config), Loop::new(6, 0.5));
    load.run(&mut array, 900 * MS, true);
    load.run(&mut array, 1_000 * MS, false);
    assert_eq!(array.transactions_under_way(), 0, "nothing is left under way");
    let mut ids: Vec<u64> = load.done.iter().map(|done| done.id).collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..load.next_id), "every request is answered once");
    (array, load.done)
}

/// A rebuild takes 61 ms at 137 MB/s.
fn quick() -> Rebuild {
    Rebuild { min_rate: 550 * MB, max_rate: 550 * MB, depth: 8, step: STEP, ..Rebuild::default() }
}

#[test]
fn a_replacement_that_fails_is_replaced_and_built_from_the_beginning() {
    use MishapKind::{Failed, Rebuilt, Replaced};
    let ssd = many_dies(None);
    let config = config(RAID5, 4, &ssd, faults(&[failure(1, 5 * MS), failure(1, 25 * MS)], 2, &ssd, quick()));
    let (array, done) = told(&config);
    let expected = [(1, Failed), (1, Replaced(4)), (1, Failed), (1, Replaced(5)), (1, Rebuilt)];
    assert_eq!(story(&array), expected);
    let (bytes, counted) = (array.layout().member_bytes(), array.background_counters(SimTime(SECOND)));
    assert!((bytes + STEP..2 * bytes).contains(&counted.rebuilt_bytes), "{counted:?}");
    let (replaced, rebuilt) = (times(&array, REPLACED), times(&array, Rebuilt));
    assert_eq!(counted.rebuild_ns, 20 * MS + rebuilt[0].1 - replaced[1].1, "both attempts");
    assert_eq!((counted.rebuilds, counted.share_built()), (1, 1.0));
    assert!(array.health().is_whole());
    let twice = told(&config);
    assert_eq!(twice.1, done, "the same run twice");
    assert_eq!(twice.0.background_counters(SimTime(SECOND)), counted);
}

/// The step of the replacement before writes the next one, and holds its rows for 265 us. It does not count.
#[test]
fn a_step_of_a_replacement_that_failed_is_none_of_the_next_one() {
    let ssd = many_dies(None);
    let events = [failure(1, 5 * MS), failure(1, 5 * MS + 10_000)];
    let mut array = build(&config(RAID5, 4, &ssd, faults(&events, 2, &ssd, at_full_speed(1))));
    for (at, bytes) in [(5_529_999, 0), (5_530_000, STEP), (5_794_999, STEP), (5_795_000, 2 * STEP)] {
        advance(&mut array, at);
        assert_eq!(rebuilt(&array, at), bytes, "at {at}");
        assert_eq!(array.health().of(DeviceId(1)), Condition::Partial(bytes));
    }
}

#[test]
fn two_replacements_are_built_one_after_the_other() {
    use MishapKind::{Failed, Rebuilt, Replaced};
    let ssd = many_dies(None);
    let config = config(RAID6, 5, &ssd, faults(&[failure(3, 5 * MS), failure(0, 25 * MS)], 2, &ssd, quick()));
    let (array, _) = told(&config);
    let expected = [(3, Failed), (3, Replaced(5)), (0, Failed), (0, Replaced(6)), (3, Rebuilt), (0, Rebuilt)];
    assert_eq!(story(&array), expected);
    let (bytes, counted) = (array.layout().member_bytes(), array.background_counters(SimTime(SECOND)));
    assert_eq!((counted.rebuilds, counted.rebuilt_bytes), (2, 2 * bytes), "no step is done twice");
    let rebuilt = times(&array, Rebuilt);
    assert_eq!(counted.rebuild_ns, rebuilt[1].1 - 5 * MS);
    assert_eq!(array.counters().losses.unread_pages + array.counters().losses.lost_pages, 0);
}

#[test]
fn a_member_that_is_rebuilt_may_fail_again_and_others_too() {
    use MishapKind::{Failed, Rebuilt, Replaced};
    let ssd = many_dies(None);
    let events = [failure(2, 5 * MS), failure(2, 300 * MS), failure(0, 600 * MS)];
    let (array, _) = told(&config(Level::Raid1, 3, &ssd, faults(&events, 2, &ssd, quick())));
    let round = |member, number| [(member, Failed), (member, Replaced(number)), (member, Rebuilt)];
    let expected = [&round(2, 3)[..], &round(2, 4), &[(0, Failed)]].concat();
    assert_eq!(story(&array), expected, "no spare is left for the last one");
    assert_eq!(array.background_counters(SimTime(SECOND)).rebuilds, 2);
    assert_eq!(array.health().of(DeviceId(0)), Condition::Failed);
}

/// The first one is not complete when the second one fails: that has to wait, and is built after the first was given up.
#[test]
fn a_replacement_in_the_queue_goes_on_when_the_one_before_it_fails() {
    use MishapKind::{Failed, Rebuilt, Replaced};
    let ssd = many_dies(None);
    let events = [failure(3, 5 * MS), failure(0, 15 * MS), failure(3, 25 * MS)];
    let (array, _) = told(&config(RAID6, 5, &ssd, faults(&events, 2, &ssd, quick())));
    let expected = [(3, Failed), (3, Replaced(5)), (0, Failed), (0, Replaced(6)), (3, Failed), (0, Rebuilt)];
    assert_eq!(story(&array), expected);
    let counted = array.background_counters(SimTime(SECOND));
    assert_eq!(counted.rebuild_ns, times(&array, Rebuilt)[0].1 - 5 * MS, "somebody is always being built");
}

/// The time of both together is that from the scrub's beginning to its end.
#[test]
fn a_rebuild_goes_before_a_scrub_which_goes_on_afterwards() {
    let ssd = many_dies(None);
    let mut config = config(RAID5, 4, &ssd, faults(&[failure(1, 25 * MS)], 1, &ssd, quick()));
    config.faults.scrub = Some(Scrub { at: SimTime(5 * MS), repairs: false });
    let (array, _) = told(&config);
    let bytes = array.layout().member_bytes();
    let before = quick().max_rate / 1_000 * 20;
    let counted = array.background_counters(SimTime(SECOND));
    assert_eq!((counted.rebuilt_bytes, counted.scrubbed_bytes, counted.rebuilds), (bytes, bytes, 1));
    let (replaced, rebuilt) = (times(&array, REPLACED)[0].1, times(&array, MishapKind::Rebuilt)[0].1);
    assert_eq!(counted.rebuild_ns, rebuilt - replaced, "the scrub has to wait");
    assert!(bytes > before && counted.scrub_ns > 20 * MS, "it had begun and was not over: {counted:?}");
}

/// Whichever its mode, a scrub finds the pages that cannot be read and has them written anew; nothing else is ever wrong.
#[test]
fn a_scrub_writes_pages_anew_that_cannot_be_read() {
    let ssd = many_dies(None);
    for (of, members) in [(Level::Raid1, 2), (RAID5, 4), (RAID6, 5)] {
        for repairs in [false, true] {
            let mut config = config(of, members, &ssd, faults(&[], 0, &ssd, at_full_speed(4)));
            config.faults.scrub = Some(Scrub { at: SimTime(MS), repairs });
            config.faults.page_errors = 1e-3;
            let mut array = build(&config);
            advance(&mut array, 10 * SECOND);
            let (counters, own) = (array.counters(), array.background_counters(SimTime(10 * SECOND)));
            assert_eq!(own.scrubbed_bytes, array.layout().member_bytes(), "{of}");
            let scrubbed = own.scrubbed_bytes / PAGE * u64::from(members);
            assert!(
                (scrubbed / 2_000..scrubbed / 500).contains(&counters.unreadable_pages),
                "{of}: {counters:?}"
            );
            assert_eq!(own.rewritten_pages, counters.unreadable_pages, "{of}");
            let programs = array
                .devices()
                .iter()
                .map(|device| device.ftl().tally().data_programs() - filled(device.ftl()));
            assert_eq!(programs.sum::<u64>(), own.rewritten_pages, "{of}: each is written once");
            assert_eq!(counters.losses.lost_pages, 0);
        }
    }
}

// ------------------------------------------------------------------------------------------------ degraded queues

/// The mean response to Poisson reads of one page in nanoseconds.
fn mean_read(array: &mut Array, between: f64, reads: u64, offset: impl Fn(&mut Rng) -> u64) -> f64 {
    let (mut arrivals, mut pages) = (Rng::stream(1, "arrivals"), Rng::stream(1, "pages"));
    let (mut time, mut sum, mut count) = (1e6, 0.0, 0u64);
    let mut tally = |array: &mut Array| {
        for done in array.completions().drain(..) {
            sum += done.response().0 as f64;
            count += 1;
        }
    };
    for id in 0..reads {
        time += arrivals.exponential(between);
        advance(array, time as u64);
        let offset = offset(&mut pages);
        let request: HostRequest = request(id, SimTime(time as u64), Operation::Read, offset, PAGE);
        array.submit(request).expect("room");
        tally(array);
    }
    advance(array, u64::MAX);
    tally(array);
    sum / count as f64
}

/// Pollaczek and Khinchine.
fn m_d_1(service: f64, utilization: f64) -> f64 {
    service + utilization * service / (2.0 * (1.0 - utilization))
}

/// A page of one die: 25 us and 20 us.
const READ: f64 = 45_000.0;

/// The members that are left are given the same reads, so that of a pair the slower one ends last.
#[test]
#[ignore = "long: make simulations"]
fn reads_of_a_member_that_is_gone_wait_for_the_slower_of_the_other_two() {
    for (utilization, slow) in [(0.3, 2), (0.5, 3)] {
        let ssd = one_die(600, 16, 20);
        let mut config = config(RAID5, 3, &ssd, faults(&[failure(0, 1)], 0, &ssd, Rebuild::default()));
        config.members[2].ssd.timing.read = SimDuration(25_000 * slow).into();
        let mut array = build(&config);
        let gone = DeviceId(0);
        let pages = array.layout().pinned_bytes(gone) / PAGE;
        let layout = array.layout().clone();
        let read = |rng: &mut Rng| {
            let mut place = 0;
            layout.pinned(gone, rng.below(pages) * PAGE, PAGE, |offset, _| place = offset);
            place
        };
        let service = READ + 25_000.0 * (slow - 1) as f64;
        let mean = mean_read(&mut array, service / utilization, 1_000_000, read);
        assert_within(&format!("fork-join at {utilization}"), mean, m_d_1(service, utilization), 0.01);
        assert_eq!(array.counters().losses.rebuilt_pages, 1_000_000);
    }
}
