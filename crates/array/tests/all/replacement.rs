//! A spare takes the place of a member that still works: how long does that take, what does the host wait for, and what if the
//! member fails meanwhile?
//!
//! Members have 64 dies with pins of their own, so that steps of four pages meet on no die:
//!
//! ```text
//! step:  read 25 us + transfer 20 us | 4 pages out over the link ─► 4 pages in over the link | transfer 20 us + program 200 us
//! rate:  min(depth x bytes of a step / (read + write time of a step), link, highest rate)
//! ```
//!
//! Not verified here: contents, which the torture tests do.

use std::sync::{Arc, Mutex};

use crate::common::{PAGE, level, one_die, request};
use harmonia_array::coordination::{Action, Coordinator, DeliveredView, Event, Interests};
use harmonia_array::layout::{Layout, Rotation};
use harmonia_array::payload::{self, AnyPayload, NoPayload, Owner, Payload};
use harmonia_array::planner::parity::ParityPlanner;
use harmonia_array::planner::{Dodge, PlannedOperation};
use harmonia_array::{
    Array, ArrayConfig, Befalls, Condition, Fault, Faults, Interface, Level, MemberConfig, MishapKind, Parts,
    Rebuild, When,
};
use harmonia_engine::Rng;
use harmonia_flash::LinkConfig;
use harmonia_ssd::probe::{AnyProbe, NoProbe, Probe, any, probe_as};
use harmonia_ssd::{Ftl, SsdConfig, Trigger, WriteCacheConfig};
use harmonia_types::{Completion, DeviceId, IoCause, Levels, Operation, SimDuration, SimTime};

const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
const STEP: u64 = 4 * PAGE;
const MS: u64 = 1_000_000;

/// Operations by member: reads and others.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<[u64; 2]>>>);

impl Payload for Heard {
    fn submits(&mut self, _: Owner<'_>, operation: &PlannedOperation, _: u64) {
        let mut counts = self.0.lock().expect("one thread");
        counts.resize(8, [0; 2]);
        counts[operation.device.index()][usize::from(operation.operation != Operation::Read)] += 1;
    }
}

/// 64 dies of 128 pages each.
fn many_dies(link: Option<u64>) -> SsdConfig {
    let mut ssd = one_die(12, 16, 4);
    ssd.geometry.chips_per_channel = 64;
    ssd.link = LinkConfig::of(link.unwrap_or(u64::MAX));
    ssd
}

fn event(what: Befalls, device: u16, at: u64) -> Fault {
    Fault { device: DeviceId(device), at: When::Time(SimTime(at)), what }
}

fn replacement(device: u16, at: u64) -> Fault {
    event(Befalls::Replacement, device, at)
}

fn failure(device: u16, at: u64) -> Fault {
    event(Befalls::Failure, device, at)
}

fn config(of: Level, members: u16, events: &[Fault], spares: usize, rebuild: Rebuild) -> ArrayConfig {
    let ssd = many_dies(None);
    let spares = vec![MemberConfig { capable: true, ssd: ssd.clone() }; spares];
    let faults = Faults { events: events.to_vec(), spares, rebuild, ..Faults::default() };
    ArrayConfig { faults, ..level(of, &ssd, members, STEP) }
}

fn at_full_speed(depth: u32) -> Rebuild {
    Rebuild { min_rate: u64::MAX, max_rate: u64::MAX, depth, step: STEP, ..Rebuild::default() }
}

/// Members whose every page is written, and erased spares.
fn states(config: &ArrayConfig) -> Vec<Ftl> {
    let all = config.members.iter().chain(&config.faults.spares).enumerate();
    let state = |(index, member): (usize, &MemberConfig)| match index < config.members.len() {
        true => written(&member.ssd, index),
        false => erased(&member.ssd, index),
    };
    all.map(state).collect()
}

fn erased(ssd: &SsdConfig, index: usize) -> Ftl {
    Ftl::new(ssd, 1, &format!("device/{index}")).expect("a shape that works")
}

/// A device whose every page is written.
fn written(ssd: &SsdConfig, index: usize) -> Ftl {
    let mut ftl = erased(ssd, index);
    let (units, pages) = (ftl.shape().units(), ftl.shape().unit_pages);
    for unit in 0..units {
        for page in 0..pages {
            ftl.unit(unit).program(page, IoCause::Host, None, &mut NoProbe).expect("spare suffices");
        }
    }
    ftl
}

fn build(config: &ArrayConfig) -> (Array<AnyProbe, AnyPayload>, Heard) {
    let heard = Heard::default();
    let array = Array::with_payload(config, states(config), payload::any(heard.clone()), |_| any(NoProbe));
    (array.expect("a configuration that works"), heard)
}

fn advance<P: Probe, C: Payload>(array: &mut Array<P, C>, until: u64) {
    array.advance_until(SimTime(until)).expect("spare suffices");
}

/// What befell members, in order.
fn story<P: Probe, C: Payload>(array: &Array<P, C>) -> Vec<(u16, MishapKind)> {
    array.mishaps().iter().map(|mishap| (mishap.device.unwrap().0, mishap.what)).collect()
}

/// When the last thing befell a member.
fn last<P: Probe, C: Payload>(array: &Array<P, C>) -> u64 {
    array.mishaps().last().expect("something happened").at.0
}

#[test]
fn on_an_idle_array_a_copy_takes_the_time_of_its_closed_form_and_reads_one_member() {
    for (of, members) in [(Level::Raid1, 2), (RAID5, 4)] {
        for (depth, link) in [(1, None), (4, Some(600_000_000)), (16, Some(600_000_000))] {
            let mut config = config(of, members, &[replacement(1, MS)], 1, at_full_speed(depth));
            let ssd = many_dies(link);
            let all = config.members.iter_mut().chain(&mut config.faults.spares);
            all.for_each(|member| member.ssd = ssd.clone());
            let (mut array, heard) = build(&config);
            advance(&mut array, 10_000 * MS);
            assert_eq!(
                story(&array),
                [(1, MishapKind::Copying(members)), (1, MishapKind::Replaced(members))]
            );
            let bytes = array.layout().member_bytes();
            let page = ssd.link.page_time(PAGE as u32).0 as f64;
            let by_depth = f64::from(depth) * STEP as f64 / (8.0 * page + 45_000.0 + 220_000.0) * 1e9;
            let expected = if page == 0.0 { by_depth } else { by_depth.min(PAGE as f64 / page * 1e9) };
            let rate = bytes as f64 / (last(&array) - MS) as f64 * 1e9;
            eprintln!("{of}, depth {depth}: {rate:.4e}, closed form {expected:.4e}");
            assert!((rate / expected - 1.0).abs() < 0.05, "{of}, depth {depth}: {rate} is not {expected}");
            let counted = array.background_counters(SimTime(10_000 * MS));
            assert_eq!((counted.copied_bytes, counted.copies, counted.rebuilt_bytes), (bytes, 1, 0));
            assert_eq!(counted.share_copied(), 1.0);
            assert_eq!((counted.copy_ns, counted.rebuild_ns), (last(&array) - MS, 0));
            assert_eq!(array.devices()[1].ftl().tally().data_programs(), bytes / PAGE, "every page once");
            let steps = bytes / STEP;
            let counts = heard.0.lock().expect("one thread").clone();
            assert_eq!(counts[..3], [[0, 0], [steps, steps], [0, 0]], "nobody else is read");
            assert!(array.health().is_whole());
        }
    }
}

/// Reads and writes of one page, so many under way at a time.
fn told(config: &ArrayConfig) -> (Array<AnyProbe, AnyPayload>, Vec<Completion>) {
    let (mut array, _) = build(config);
    let (mut rng, mut done) = (Rng::stream(3, "load"), Vec::new());
    let pages = array.layout().logical_bytes() / PAGE;
    for id in 0..4_000 {
        let now = 30_000 * (id + 1);
        advance(&mut array, now);
        let operation = if rng.chance(0.5) { Operation::Write } else { Operation::Read };
        array.submit(request(id, SimTime(now), operation, rng.below(pages) * PAGE, PAGE)).expect("room");
    }
    advance(&mut array, 10_000 * MS);
    assert_eq!(array.transactions_under_way(), 0, "nothing is left under way");
    done.append(array.completions());
    let mut ids: Vec<u64> = done.iter().map(|done| done.id).collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..4_000), "every request is answered once");
    (array, done)
}

fn quick() -> Rebuild {
    Rebuild { min_rate: 550_000_000, max_rate: 550_000_000, ..at_full_speed(8) }
}

#[test]
fn members_are_copied_one_after_the_other_under_load() {
    use MishapKind::{Copying, Replaced};
    let events = [replacement(1, 5 * MS), replacement(3, 7 * MS), replacement(1, 9 * MS)];
    let config = config(RAID5, 4, &events, 3, quick());
    let (array, done) = told(&config);
    let expected = [(1, Copying(4)), (3, Copying(5)), (1, Replaced(4)), (3, Replaced(5))];
    assert_eq!(story(&array), expected, "member 1 is being copied, and needs no second spare");
    assert_eq!(array.background_counters(SimTime(10_000 * MS)).copies, 2);
    assert_eq!(array.counters().losses.rebuilt_pages, 0, "nothing is ever missing");
    assert_eq!(told(&config).1, done, "the same run twice");
}

#[test]
fn a_member_that_fails_while_it_is_copied_is_rebuilt_from_there() {
    use MishapKind::{Copying, Failed, Rebuilt, Replaced};
    for (of, members) in [(Level::Raid1, 2), (RAID5, 4)] {
        let events = [replacement(1, 5 * MS), failure(1, 25 * MS)];
        let (array, _) = told(&config(of, members, &events, 1, quick()));
        let spare = members;
        let expected = [(1, Copying(spare)), (1, Failed), (1, Replaced(spare)), (1, Rebuilt)];
        assert_eq!(story(&array), expected, "{of}");
        let (bytes, counted) =
            (array.layout().member_bytes(), array.background_counters(SimTime(10_000 * MS)));
        let (copied, rebuilt) = (counted.copied_bytes, counted.rebuilt_bytes);
        // Steps under way at the failure count for the rebuild.
        assert_eq!(copied + rebuilt, bytes, "{of}: {counted:?}");
        assert!(copied > bytes / 8 && rebuilt > bytes / 8, "{of}: {counted:?}");
        assert_eq!((counted.copy_ns, counted.rebuild_ns), (20 * MS, last(&array) - 25 * MS));
        assert!(array.health().is_whole());
        assert_eq!(array.counters().losses.lost_pages + array.counters().losses.unread_pages, 0);
    }
}

#[test]
fn at_the_failure_the_spare_holds_what_was_copied() {
    let events = [replacement(1, MS), failure(1, 2 * MS)];
    let (mut array, _) = build(&config(RAID5, 4, &events, 1, at_full_speed(1)));
    advance(&mut array, 2 * MS);
    // Three steps of 265 us are over.
    assert_eq!(array.health().of(DeviceId(1)), Condition::Partial(3 * STEP));
}

/// The spare needs ten times as long for everything. A write waits for it, a read does not.
#[test]
fn writes_wait_for_the_spare_too_and_reads_are_the_members() {
    let slow = |count: u64| SimDuration::from_us(10 * count);
    let rebuild = Rebuild { min_rate: 1, max_rate: 1, ..at_full_speed(1) };
    let mut config = config(Level::Raid1, 2, &[replacement(1, MS)], 1, rebuild);
    let timing = &mut config.faults.spares[0].ssd.timing;
    (timing.read, timing.program) = (slow(25).into(), slow(200).into());
    timing.transfer = slow(20);
    let (mut array, _) = build(&config);
    let mut response = |at: u64, operation| {
        advance(&mut array, at);
        // Below the frontier, and far above it.
        for place in [0, 400] {
            array.submit(request(place, SimTime(at), operation, place * PAGE, PAGE)).expect("room");
        }
        advance(&mut array, at + 20 * MS);
        let done: Vec<u64> = array.completions().drain(..).map(|done| done.response().0).collect();
        assert_eq!(done.len(), 2);
        assert_eq!(done[0], done[1], "{operation:?} at {at}");
        done[0]
    };
    assert_eq!(response(100_000, Operation::Write), 220_000, "nothing is copied yet");
    assert_eq!(response(30 * MS, Operation::Write), 2_200_000);
    assert_eq!(response(60 * MS, Operation::Read), 45_000);
}

/// One read at a time, while a member is copied: whatever a read waits for is the array's own work, never another request.
#[test]
fn the_host_waits_for_the_arrays_own_work_as_such() {
    let (mut array, _) = build(&config(RAID5, 4, &[replacement(1, MS)], 1, at_full_speed(16)));
    let logical = array.layout().logical_bytes() / PAGE;
    let mut rng = Rng::stream(5, "reads");
    for id in 0..100 {
        let at = MS + id * 300_000;
        advance(&mut array, at);
        let page = rng.below(logical);
        let read = request(id, SimTime(at), Operation::Read, page * PAGE, PAGE);
        array.submit(read).expect("spare suffices");
    }
    advance(&mut array, 1_000 * MS);
    let blame = array.completions().drain(..).map(|done| done.blame.data);
    let (own, others) =
        blame.fold((0, 0), |(own, others), of| (own + of.queue_rebuild, others + of.queue_host));
    assert!(own > 0 && others == 0, "{own} ns for the copy, {others} ns for others");
}

#[test]
fn without_a_spare_or_a_whole_member_nothing_is_copied() {
    use MishapKind::{Failed, Rebuilt, Replaced};
    let (array, _) = told(&config(RAID5, 4, &[replacement(1, 5 * MS)], 0, quick()));
    assert_eq!(story(&array), []);
    // A member that has failed, and one that is being rebuilt.
    let events = [failure(1, 5 * MS), replacement(1, 5 * MS), replacement(1, 9 * MS)];
    let (array, _) = told(&config(RAID5, 4, &events, 3, quick()));
    assert_eq!(story(&array), [(1, Failed), (1, Replaced(4)), (1, Rebuilt)]);
}

#[test]
fn a_spare_may_take_time_to_be_in_its_place() {
    let mut late = quick();
    late.delay = SimDuration::from_us(30_000);
    let (array, _) = told(&config(RAID5, 4, &[failure(1, 5 * MS)], 1, late));
    let times: Vec<u64> = array.mishaps().iter().map(|mishap| mishap.at.0).collect();
    assert_eq!(times[..2], [5 * MS, 35 * MS]);
    assert_eq!(array.background_counters(SimTime(10_000 * MS)).rebuild_ns, times[2] - 35 * MS);
}

/// What the coordinator hears of members that are gone, there or rebuilt or that begin or end a collection, and when.
#[derive(Clone)]
struct Listens {
    heard: Arc<Mutex<Vec<(u64, Event)>>>,
    /// Whether it asks for what devices tell by themselves.
    devices: bool,
}

impl Listens {
    fn heard(&self) -> Vec<(u64, Event)> {
        self.heard.lock().expect("one thread").clone()
    }
}

impl Coordinator for Listens {
    fn interests(&self) -> Interests {
        Interests { devices: self.devices, ..Interests::default() }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        let knows_of_none = view.members.iter().all(|member| !member.collecting);
        assert!(self.devices || knows_of_none, "{now:?}: nobody asked which members collect");
        match event {
            Event::Start => actions.push(Action::Timer(SimTime(1_000 * MS), 0)),
            Event::GcStarted(_)
            | Event::GcEnded { .. }
            | Event::Failure(_)
            | Event::Replacement(_)
            | Event::Rebuilt(_) => self.heard.lock().expect("one thread").push((now.0, *event)),
            _ => {}
        }
    }
}

/// An array whose coordinator listens, or does not.
fn overheard(config: &ArrayConfig, states: Vec<Ftl>, devices: bool) -> (Array<NoProbe, NoPayload>, Listens) {
    let listens = Listens { heard: Arc::default(), devices };
    let layout = config.layout();
    let Layout::Parity(parity) = layout.clone() else { panic!("RAID-5 has parity") };
    let planner = ParityPlanner::new(&layout, parity, config.small_write, PAGE);
    let planner = planner.dodging(Dodge { may_fail: true, ..Dodge::default() });
    let (coordinator, planner) = (Box::new(listens.clone()), Box::new(planner));
    let parts = Parts { coordinator, planner, payload: NoPayload };
    (Array::with_parts(config, states, parts, |_| NoProbe).expect("it works"), listens)
}

/// A round trip of messages after the old device is gone, nothing of it is on its way any more. It did not collect, so no
/// collection of it ends, and the new one does not collect either.
#[test]
fn the_coordinator_forgets_the_old_device_and_hears_of_the_new_one() {
    let member = DeviceId(1);
    let (gone, there, whole) = (Event::Failure(member), Event::Replacement(member), Event::Rebuilt(member));
    for latency in [0, 3] {
        let mut config = config(RAID5, 4, &[replacement(1, MS)], 1, at_full_speed(16));
        config.coordination.message_latency = SimDuration::from_us(latency);
        let (mut array, listens) = overheard(&config, states(&config), true);
        advance(&mut array, 1_000 * MS);
        let (at, later) = (last(&array), last(&array) + latency * 2_000);
        assert_eq!(listens.heard(), [(at, gone), (later, there), (later, whole)]);
    }
}

/// A spare that was full before, and one page beyond: the last page of the copy opens a block in each of its dies, which then
/// collect in the background.
#[test]
fn of_a_spare_that_collects_already_those_hear_who_listen() {
    let member = DeviceId(1);
    let (gone, there, whole) = (Event::Failure(member), Event::Replacement(member), Event::Rebuilt(member));
    let overheard = |capable: bool, devices: bool| {
        let mut config = config(RAID5, 4, &[replacement(1, MS)], 1, at_full_speed(16));
        let spare = &mut config.faults.spares[0];
        spare.capable = capable;
        spare.ssd.gc.trigger = Trigger::Background;
        spare.ssd.timing.erase = SimDuration::from_us(50_000);
        let mut states = states(&config);
        states[4] = written(&config.faults.spares[0].ssd, 4);
        for unit in 0..states[4].shape().units() {
            states[4].unit(unit).program(0, IoCause::Host, None, &mut NoProbe).expect("spare suffices");
        }
        let (mut array, listens) = overheard(&config, states, devices);
        advance(&mut array, MS);
        while last(&array) == MS {
            let next = array.next_wakeup();
            array.advance_until(next).expect("spare suffices");
        }
        let (at, status) = (last(&array), array.devices()[1].status(SimTime(last(&array))));
        assert!(status.gc_active, "the spare collects while it takes the place");
        advance(&mut array, 2_000 * MS);
        (at, listens.heard())
    };
    let (at, heard) = overheard(true, true);
    assert_eq!(heard[..4], [gone, there, whole, Event::GcStarted(member)].map(|event| (at, event)));
    let [_, _, _, _, (ended, Event::GcEnded { device, .. })] = heard[..] else { panic!("{heard:?}") };
    assert!(ended > at && device == member, "what began ends, and nothing else is heard: {heard:?}");
    for (capable, devices) in [(false, true), (true, false)] {
        let (at, heard) = overheard(capable, devices);
        assert_eq!(heard, [gone, there, whole].map(|event| (at, event)), "{capable} {devices}");
    }
}

/// When a device had how many slots in its write cache.
#[derive(Debug, Default)]
struct Slots(Vec<(u64, u32)>);

impl Probe for Slots {
    fn watches_levels(&self) -> bool {
        true
    }

    fn levels(&mut self, at: SimTime, levels: &Levels) {
        if self.0.last().is_none_or(|last| last.1 != levels.cache_slots) {
            self.0.push((at.0, levels.cache_slots));
        }
    }
}

/// Member 0 fails at 1 ms, and the first spare takes its place at once; member 1 is copied to the second from 100 ms on, and fails meanwhile. The third waits
/// all the time.
#[test]
fn write_caches_have_slots_while_their_ssds_are_parts_of_the_array() {
    let mut ssd = many_dies(None);
    ssd.write_cache = WriteCacheConfig { size: Some(8 * PAGE), ..WriteCacheConfig::default() };
    let mut config = level(Level::Raid1, &ssd, 2, PAGE);
    let events =
        vec![event(Befalls::Failure, 0, MS), replacement(1, 100 * MS), event(Befalls::Failure, 1, 101 * MS)];
    let spares = vec![config.members[0].clone(); 3];
    config.faults = Faults { events, spares, ..Faults::default() };
    let states = (0..5).map(|device| Ftl::new(&ssd, 1, &format!("device/{device}")).expect("it works"));
    let mut array =
        Array::<AnyProbe>::new(&config, states.collect(), None, |_| any(Slots::default())).expect("it works");
    array.begin_window(SimTime::ZERO);
    array.advance_until(SimTime(110 * MS)).expect("spare suffices");
    let mut told: Vec<Vec<(u64, u32)>> = Vec::new();
    told.extend(array.every_device().iter().map(|device| probe_as::<Slots>(device.probe()).0.clone()));
    assert_eq!(told[0], [(0, 8), (MS, 0)]);
    assert_eq!(told[2], [(0, 0), (MS, 8)]);
    assert_eq!(told[1], [(0, 8), (101 * MS, 0)]);
    assert_eq!(told[3], [(0, 0), (100 * MS, 8)]);
    assert_eq!(told[4], [(0, 0)]);
}
