//! Do things that must be the same come out the same? Pairs of runs on one aged state under one load.
//!
//! Random small arrays; every comparison is completion by completion (finish, blame, affected or not), counter by
//! counter and interval by interval. Nothing here says what the right time *is*: the device's tests do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};

use harmonia_array::coordination::{self, Action, Coordinator, DeliveredView, Event, Interests};
use harmonia_array::layout::{Copies, Groups, Layout, Pattern, Rotation, Striped};
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::Planner;
use harmonia_array::planner::mirrored::MirroredPlanner;
use harmonia_array::planner::parity::ParityPlanner;
use harmonia_array::planner::striped::StripedPlanner;
use harmonia_array::{
    AgedState, AgeingPlan, Array, ArrayConfig, COUNTED_FROM, CoordinationConfig, Interface, Level,
    MemberConfig, MessageCounters, Parts, age,
};
use harmonia_engine::Rng;
use harmonia_flash::{Copyback, Geometry, LinkConfig, Timing};
use harmonia_ssd::gc::{concurrency, victim};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{
    Allocation, AllocationUnit, Amount, Device, DeviceCounters, Domain, Frontiers, Ftl, FtlConfig, GcConfig,
    Order, PolicyConfig, QueueDepth, SsdConfig, SubCompletion, SubRequest, Trigger, WriteCacheConfig,
};
use harmonia_types::registry::names;
use harmonia_types::{
    Completion, DeviceId, GcWait, HostRequest, MetGc, Operation, RequestBlame, SimDuration, SimTime,
};

const PAGE: u64 = 4096;
const PAIRS: u64 = 60;

fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

/// A third of the devices have a cache, of a few pages or of many. Other draws stay as they are.
fn write_cache(rng: &Rng) -> WriteCacheConfig {
    let mut rng = rng.clone();
    let pages = pick(&mut rng, &[None, None, None, None, Some(1), Some(40)]);
    WriteCacheConfig {
        size: pages.map(|pages: u64| pages * PAGE),
        ack: SimDuration(pick(&mut rng, &[0, 9_000])),
        power_protected: rng.chance(0.5),
        ..WriteCacheConfig::default()
    }
}

/// A random small device that collects often.
fn ssd(rng: &mut Rng) -> SsdConfig {
    let victims: Vec<&str> = names(victim::REGISTRY).collect();
    let policies: Vec<&str> = names(concurrency::REGISTRY).collect();
    let concurrency = pick(rng, &policies);
    let allocation_unit = pick(rng, &[AllocationUnit::Die, AllocationUnit::Plane]);
    let order = pick(rng, &Order::all().collect::<Vec<_>>());
    SsdConfig {
        geometry: Geometry {
            channels: 2,
            chips_per_channel: 1 + rng.below(2) as u32,
            planes_per_die: 2,
            blocks_per_plane: 12 + rng.below(8) as u32,
            pages_per_block: 8,
            page_size: PAGE as u32,
            summary_pages: rng.below(2) as u32,
            own_pins: rng.chance(0.5),
            ..Geometry::ONE_PLANE
        },
        timing: Timing {
            read: SimDuration(25_000).into(),
            program: SimDuration(200_000).into(),
            erase: SimDuration(1_500_000),
            transfer: SimDuration(pick(rng, &[10_000, 105_600])),
            copyback: pick(rng, &[Copyback::None, Copyback::Plane, Copyback::Die]),
            ..Timing::PLAIN
        },
        link: LinkConfig {
            bandwidth: pick(rng, &[30_000_000, 300_000_000]),
            latency: SimDuration(pick(rng, &[0, 5_000])),
            ..LinkConfig::of(0)
        },
        write_cache: write_cache(rng),
        ftl: FtlConfig {
            reserved_blocks: Amount::Blocks(6),
            allocation: pick(rng, &[Allocation::CWDP, Allocation::Static(order), Allocation::Dynamic]),
            allocation_unit,
            frontiers: pick(rng, &[Frontiers::Shared, Frontiers::Separate]),
            ..FtlConfig::default()
        },
        gc: GcConfig {
            domain: match allocation_unit {
                AllocationUnit::Die => pick(rng, &[Domain::Die, Domain::Device, Domain::Channel]),
                AllocationUnit::Plane => pick(rng, &[Domain::Device, Domain::Channel, Domain::Plane]),
            },
            trigger: pick(rng, &[Trigger::Foreground, Trigger::Background]),
            hard_threshold: Amount::Blocks(1),
            soft_threshold: Amount::AboveHard(1 + rng.below(2) as u32),
            stop_threshold: Amount::AboveHard(rng.below(2) as u32),
            min_victims: 1 + rng.below(2) as u32,
            victim: pick(rng, &victims).into(),
            concurrency: PolicyConfig::named(concurrency),
            ..GcConfig::default()
        },
        ..SsdConfig::plain("random")
    }
}

fn array(rng: &mut Rng, devices: u16, policy: &str) -> ArrayConfig {
    let ssd = ssd(rng);
    ArrayConfig {
        coordination: CoordinationConfig::of(policy, SimDuration::ZERO),
        ..ArrayConfig::of(
            Level::Raid0,
            PAGE * (1 + rng.below(3)),
            vec![MemberConfig { capable: true, ssd }; usize::from(devices)],
        )
    }
}

fn aged(config: &ArrayConfig, seed: u64) -> AgedState {
    let plan = AgeingPlan {
        fill: 0.9,
        overwrite: 1.5,
        within: None,
        counted_from: COUNTED_FROM,
        seed,
        threads: 1,
        cancel: &AtomicBool::new(false),
        pages_done: &AtomicU64::new(0),
    };
    age(config, &plan).unwrap_or_else(|error| panic!("seed {seed}: {error:?}"))
}

/// Whole and partial pages, all operations, bursts at one moment and gaps.
fn load(rng: &mut Rng, bytes: u64, operations: &[Operation]) -> Vec<HostRequest> {
    let mut arrival = SimTime::ZERO;
    let mut request = |id| {
        arrival += SimDuration(pick(rng, &[0, 1_000, 50_000, 900_000]) * rng.below(3));
        let operation = pick(rng, operations);
        let unit = if rng.chance(0.7) { PAGE } else { 1 };
        let length = (1 + rng.below(8 * PAGE / unit)) * unit;
        let length = if operation == Operation::Flush { 0 } else { length.min(bytes) };
        let offset = rng.below((bytes - length) / unit + 1) * unit;
        HostRequest::new(id, arrival, operation, offset, length)
    };
    (0..400).map(&mut request).collect()
}

const MIXED: &[Operation] = &[
    Operation::Write,
    Operation::Write,
    Operation::Write,
    Operation::Write,
    Operation::Read,
    Operation::Read,
    Operation::Trim,
    Operation::Flush,
];

/// Everything a run did.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// By id.
    completions: BTreeMap<u64, Completion>,
    /// By member.
    counters: Vec<DeviceCounters>,
    /// By member.
    intervals: BTreeMap<u16, Vec<(SimTime, SimTime)>>,
}

fn drive(mut array: Array, load: &[HostRequest]) -> (Outcome, MessageCounters) {
    for &request in load {
        array.advance_until(request.arrival).unwrap();
        array.submit(request).unwrap();
    }
    drive_to_the_end(array, load.len(), BTreeMap::new())
}

/// What is under way is done, so that as many requests are complete, these among them.
fn drive_to_the_end(
    mut array: Array,
    requests: usize,
    mut completions: BTreeMap<u64, Completion>,
) -> (Outcome, MessageCounters) {
    while array.next_wakeup() != SimTime::NEVER {
        array.advance_until(array.next_wakeup()).unwrap();
    }
    for completion in array.completions().drain(..) {
        assert!(completions.insert(completion.id, completion).is_none(), "a request completes once");
    }
    assert_eq!(completions.len(), requests, "every request completes");
    let mut intervals: BTreeMap<u16, Vec<(SimTime, SimTime)>> = BTreeMap::new();
    for (device, from, to) in array.gc_intervals().drain(..) {
        intervals.entry(device.0).or_default().push((from, to));
    }
    let counters = array.devices().iter().map(Device::counters).collect();
    (Outcome { completions, counters, intervals }, *array.message_counters())
}

fn run(config: &ArrayConfig, states: &[Ftl], load: &[HostRequest]) -> (Outcome, MessageCounters) {
    drive(Array::new(config, states.to_vec(), None, |_| NoProbe).unwrap(), load)
}

/// A device on its own, fed `subs` at their times.
fn alone(config: &SsdConfig, state: Ftl, subs: &[(SimTime, SubRequest)]) -> (Device, Vec<SubCompletion>) {
    let mut device = Device::new(config, state, NoProbe).unwrap();
    for &(time, sub) in subs {
        device.advance_until(time, false).unwrap();
        device.submit(time, sub).unwrap();
    }
    while device.next_wakeup() != SimTime::NEVER {
        device.advance_until(device.next_wakeup(), false).unwrap();
    }
    let done = device.completions().drain(..).collect();
    (device, done)
}

/// What N devices, each fed its share of the load by itself, make of it; `split` says who gets what.
fn independently(
    config: &ArrayConfig,
    states: &[Ftl],
    load: &[HostRequest],
    split: impl Fn(&HostRequest, &mut dyn FnMut(DeviceId, u64, u64)),
) -> Outcome {
    let mut subs = vec![Vec::new(); states.len()];
    // Requests by sub-request, and the sub-request's place in its request.
    let mut owners = Vec::new();
    for (index, request) in load.iter().enumerate() {
        let mut place = 0;
        split(request, &mut |device, offset, length| {
            let token = owners.len() as u64;
            owners.push((index, place));
            place += 1;
            let operation = request.operation;
            let sub = SubRequest::new(token, operation, offset, length);
            subs[device.index()].push((request.arrival, sub));
        });
    }
    let mut parts: Vec<Vec<(SimTime, i64, SubCompletion, DeviceId)>> = vec![Vec::new(); load.len()];
    let (mut counters, mut intervals) = (Vec::new(), BTreeMap::new());
    for (member, state) in states.iter().enumerate() {
        let (mut device, done) = alone(&config.members[member].ssd, state.clone(), &subs[member]);
        for part in done {
            let (request, place) = owners[part.token as usize];
            parts[request].push((part.finish, -place, part, DeviceId(member as u16)));
        }
        counters.push(device.counters());
        let collected: Vec<_> = device.gc_intervals().drain(..).collect();
        if !collected.is_empty() {
            intervals.insert(member as u16, collected);
        }
    }
    let complete = |(request, parts): (&HostRequest, &Vec<(SimTime, i64, SubCompletion, DeviceId)>)| {
        // The part that finishes last is the chain that counts; ties go to the first.
        let last = parts.iter().max_by_key(|part| (part.0, part.1)).expect("every request has a part");
        let (last, member) = (last.2, last.3);
        let waited = last.blame.queue_gc > 0;
        let completion = Completion {
            id: request.id,
            operation: request.operation,
            offset: request.offset,
            length: request.length,
            arrival: request.arrival,
            finish: last.finish,
            blame: RequestBlame { data: last.blame, ..RequestBlame::default() },
            met_gc: parts.iter().any(|part| part.2.met_gc),
            gc_wait: waited.then_some(GcWait { member, ns: last.blame.queue_gc }),
        };
        (request.id, completion)
    };
    Outcome { completions: load.iter().zip(&parts).map(complete).collect(), counters, intervals }
}

/// Splits as the stripe does; a flush goes to every member.
fn striped(layout: &Layout) -> impl Fn(&HostRequest, &mut dyn FnMut(DeviceId, u64, u64)) {
    let Layout::Striped(layout) = layout else { unreachable!("RAID-0 is striped") };
    |request, visit| match request.operation {
        Operation::Flush => (0..layout.members()).for_each(|member| visit(DeviceId(member), 0, 0)),
        _ => layout.split(request.offset, request.length, visit),
    }
}

fn member_bytes(states: &[Ftl]) -> u64 {
    u64::from(states[0].shape().logical_pages) * PAGE
}

/// Calls `compare` with random arrays of `devices` members, their aged states and a load.
fn pairs(
    name: &str,
    most_devices: u64,
    policy: &str,
    mut compare: impl FnMut(u64, &mut ArrayConfig, &[Ftl], &[HostRequest]),
) {
    for seed in 0..PAIRS {
        let mut rng = Rng::stream(seed, name);
        let devices = 1 + rng.below(most_devices) as u16;
        let mut config = array(&mut rng, devices, policy);
        let states = aged(&config, seed).devices;
        let layout = config.layout();
        let load = load(&mut rng, layout.logical_bytes(), MIXED);
        compare(seed, &mut config, &states, &load);
    }
}

/// Every level, some more than once where the number of members or the placement makes a difference.
fn levels() -> Vec<(Level, u16)> {
    let raid10 = |pattern| Level::Raid10(Copies { pattern, count: 2 });
    let (left, restart) = (Rotation::LeftSymmetric, Rotation::RotatingNRestart);
    vec![
        (Level::Raid0, 3),
        (Level::Raid1, 1),
        (Level::Raid1, 3),
        (raid10(Pattern::Near), 4),
        (raid10(Pattern::Near), 5),
        (raid10(Pattern::Far), 4),
        (raid10(Pattern::Offset), 3),
        (Level::Raid4, 3),
        (Level::Raid5(left), 3),
        (Level::Raid5(Rotation::RightAsymmetric), 5),
        (Level::Raid6(left), 4),
        (Level::Raid6(restart), 6),
        (Level::Draid(Groups { parities: 1, data: 2, spares: 1 }), 7),
        (Level::Draid(Groups { parities: 2, data: 1, spares: 0 }), 6),
    ]
}

/// As [`pairs`], a few on every level.
fn on_every_level(
    name: &str,
    policy: &str,
    mut compare: impl FnMut(u64, &ArrayConfig, &[Ftl], &[HostRequest]),
) {
    for (level, members) in levels() {
        for seed in 0..PAIRS / 10 {
            let mut rng = Rng::stream(seed, &format!("{name}, {level} of {members}"));
            let config = ArrayConfig { level, ..array(&mut rng, members, policy) };
            let states = aged(&config, seed).devices;
            let load = load(&mut rng, config.layout().logical_bytes(), MIXED);
            compare(seed, &config, &states, &load);
        }
    }
}

/// The planner that an array of this description has.
fn planner(config: &ArrayConfig) -> Box<dyn Planner> {
    let whole = config.layout();
    match whole.clone() {
        Layout::Striped(layout) => Box::new(StripedPlanner::new(layout)),
        Layout::Mirrored(layout) => Box::new(MirroredPlanner::new(&whole, layout)),
        Layout::Parity(layout) => Box::new(ParityPlanner::new(&whole, layout, config.small_write, PAGE)),
    }
}

fn collected(outcome: &Outcome) -> u64 {
    outcome.counters.iter().map(|counters| counters.gc_busy.0).sum()
}

#[test]
fn a_striped_array_of_one_device_is_that_device() {
    let mut busy = 0;
    pairs("one", 1, "local", |seed, config, states, load| {
        let (array, _) = run(config, states, load);
        let whole = |request: &HostRequest, visit: &mut dyn FnMut(DeviceId, u64, u64)| {
            visit(DeviceId(0), request.offset, request.length);
        };
        assert_eq!(array, independently(config, states, load, whole), "seed {seed}");
        busy += collected(&array);
    });
    assert!(busy > 0, "nothing collected: nothing compared");
}

#[test]
fn a_mirror_of_one_device_is_that_device() {
    let mut busy = 0;
    pairs("mirror of one", 1, "local", |seed, config, states, load| {
        config.level = Level::Raid1;
        let (array, _) = run(config, states, load);
        let whole = |request: &HostRequest, visit: &mut dyn FnMut(DeviceId, u64, u64)| {
            visit(DeviceId(0), request.offset, request.length);
        };
        assert_eq!(array, independently(config, states, load, whole), "seed {seed}");
        busy += collected(&array);
    });
    assert!(busy > 0, "nothing collected: nothing compared");
}

/// One sub-request of a request, for a test that drives devices by itself.
#[derive(Debug, Clone, Copy)]
struct Part {
    request: usize,
    place: usize,
    length: u64,
}

/// RAID-0 over pairs of devices, driven by hand: a write goes to both, a read to the one with fewer bytes to do.
struct Pairs<'a> {
    layout: Striped,
    load: &'a [HostRequest],
    devices: Vec<Device>,
    parts: Vec<Part>,
    outstanding: Vec<u64>,
    /// By request: the parts that are done.
    done: Vec<Vec<(Part, SubCompletion)>>,
}

impl Pairs<'_> {
    fn advance(&mut self, until: SimTime) {
        for member in 0..self.devices.len() {
            self.devices[member].advance_until(until, false).unwrap();
            self.collect(member);
        }
    }

    fn collect(&mut self, member: usize) {
        for done in self.devices[member].completions().drain(..) {
            let part = self.parts[done.token as usize];
            self.outstanding[member] -= part.length;
            self.done[part.request].push((part, done));
        }
    }

    fn submit(&mut self, index: usize) {
        let request = &self.load[index];
        let mut ranges = Vec::new();
        match request.operation {
            Operation::Flush => ranges.extend((0..self.devices.len()).map(|member| (member, 0, 0))),
            operation => self.layout.split(request.offset, request.length, |pair, offset, length| {
                let (one, other) = (2 * pair.index(), 2 * pair.index() + 1);
                let idler = if self.outstanding[other] < self.outstanding[one] { other } else { one };
                match operation {
                    Operation::Read => ranges.push((idler, offset, length)),
                    _ => ranges.extend([(one, offset, length), (other, offset, length)]),
                }
            }),
        }
        for (place, (member, offset, length)) in ranges.into_iter().enumerate() {
            let (token, operation) = (self.parts.len() as u64, request.operation);
            self.parts.push(Part { request: index, place, length });
            self.outstanding[member] += length;
            let sub = SubRequest::new(token, operation, offset, length);
            self.devices[member].submit(request.arrival, sub).unwrap();
            self.collect(member);
        }
    }

    /// When a request is done, its blame, and whether it met a collection.
    fn outcome(&self, index: usize) -> (SimTime, RequestBlame, bool) {
        let parts = &self.done[index];
        let last = parts.iter().max_by_key(|(part, done)| (done.finish, std::cmp::Reverse(part.place)));
        let (_, last) = last.expect("every request has a part");
        let blame = RequestBlame { data: last.blame, ..RequestBlame::default() };
        (last.finish, blame, parts.iter().any(|(_, done)| done.met_gc))
    }
}

#[test]
fn near_copies_on_pairs_are_a_stripe_of_mirrors() {
    let mut busy = 0;
    for seed in 0..PAIRS {
        let mut rng = Rng::stream(seed, "pairs");
        let groups = 1 + rng.below(3) as u16;
        let level = Level::Raid10(Copies { pattern: Pattern::Near, count: 2 });
        let config = ArrayConfig { level, ..array(&mut rng, 2 * groups, "local") };
        let states = aged(&config, seed).devices;
        let load = load(&mut rng, config.layout().logical_bytes(), MIXED);
        let (array, _) = run(&config, &states, &load);
        let device = |(member, state): (&MemberConfig, &Ftl)| {
            Device::new(&member.ssd, state.clone(), NoProbe).unwrap()
        };
        let mut pairs = Pairs {
            layout: Striped::new(groups, config.stripe_unit, PAGE, member_bytes(&states)),
            load: &load,
            devices: config.members.iter().zip(&states).map(device).collect(),
            parts: Vec::new(),
            outstanding: vec![0; states.len()],
            done: vec![Vec::new(); load.len()],
        };
        for (index, request) in load.iter().enumerate() {
            pairs.advance(request.arrival);
            pairs.submit(index);
        }
        pairs.advance(SimTime::NEVER);
        for (index, (id, done)) in array.completions.iter().enumerate() {
            let expected = pairs.outcome(index);
            assert_eq!((done.finish, done.blame, done.met_gc), expected, "seed {seed}, request {id}");
        }
        let counters: Vec<DeviceCounters> = pairs.devices.iter().map(Device::counters).collect();
        assert_eq!(array.counters, counters, "seed {seed}");
        busy += collected(&array);
    }
    assert!(busy > 0, "nothing collected: nothing compared");
}

/// Where parity lies on the last member, data lies on the others as it would without it.
#[test]
fn reads_of_raid_4_are_those_of_raid_0_without_the_last_member() {
    let mut pages = 0;
    for seed in 0..PAIRS {
        let mut rng = Rng::stream(seed, "parity last");
        let members = 3 + rng.below(4) as u16;
        let mut config = array(&mut rng, members, "local");
        config.level = Level::Raid4;
        let states = aged(&config, seed).devices;
        let load = load(&mut rng, config.layout().logical_bytes(), &[Operation::Read, Operation::Flush]);
        let (mut parity, _) = run(&config, &states, &load);
        let (data, last) = states.split_at(states.len() - 1);
        config.devices -= 1;
        config.members.pop();
        config.level = Level::Raid0;
        let (mut striped, _) = run(&config, data, &load);
        let idle = Device::new(&config.members[0].ssd, last[0].clone(), NoProbe).unwrap().counters();
        assert_eq!(parity.counters.pop(), Some(idle), "seed {seed}: nobody reads parity");
        // A read over several rows is one operation of a member or several, and these are counted one by one.
        for of in parity.counters.iter_mut().chain(&mut striped.counters) {
            of.met_gc = MetGc::default();
        }
        assert_eq!(parity, striped, "seed {seed}");
        pages += striped.counters.iter().map(|counters| counters.host_pages_read).sum::<u64>();
    }
    assert!(pages > 0, "nothing was read");
}

/// A read inside a stripe unit is a read of that member, wherever the level has put the unit.
#[test]
fn reads_of_parity_levels_cost_their_members_what_pinned_reads_do() {
    for (level, members) in levels().into_iter().filter(|(level, _)| level.parities() > 0) {
        for seed in 0..PAIRS / 10 {
            let mut rng = Rng::stream(seed, &format!("reads, {level}"));
            let mut config = ArrayConfig { level, ..array(&mut rng, members, "local") };
            let states = aged(&config, seed).devices;
            let Layout::Parity(layout) = config.layout() else { unreachable!("it has parity") };
            let unit = config.stripe_unit;
            let load = load(&mut rng, config.layout().logical_bytes(), &[Operation::Read]);
            let inside = |request: &HostRequest| HostRequest {
                length: request.length.min(unit - request.offset % unit),
                ..*request
            };
            let load: Vec<HostRequest> = load.iter().map(inside).collect();
            let pin = |request: &HostRequest| {
                let stripe = request.offset / layout.stripe_bytes();
                let index = request.offset % layout.stripe_bytes() / unit;
                let offset = layout.row_of(stripe) * unit + request.offset % unit;
                HostRequest { offset, member: Some(layout.data_member(stripe, index as u16)), ..*request }
            };
            let pinned: Vec<HostRequest> = load.iter().map(pin).collect();
            let (parity, _) = run(&config, &states, &load);
            config.level = Level::Raid0;
            let (mut striped, _) = run(&config, &states, &pinned);
            for (completion, request) in striped.completions.values_mut().zip(&load) {
                // A completion speaks of its request, and a pinned one counts from its member's first byte.
                completion.offset = request.offset;
            }
            assert_eq!(parity, striped, "{level}, seed {seed}");
        }
    }
}

#[test]
fn the_same_run_twice_is_the_same_on_every_level() {
    let mut busy = 0;
    for policy in ["local", "reactive-inclusive"] {
        on_every_level("twice", policy, |seed, config, states, load| {
            let (one, other) = (run(config, states, load), run(config, states, load));
            assert_eq!(format!("{one:?}"), format!("{other:?}"), "{}, seed {seed}", config.level);
            busy += collected(&one.0);
        });
    }
    assert!(busy > 0, "nothing collected: nothing compared");
}

/// How far time is let pass at once is the caller's business: nothing depends on it.
#[test]
fn time_may_pass_in_steps_of_any_length() {
    on_every_level("steps", "local", |seed, config, states, load| {
        let mut array = Array::new(config, states.to_vec(), None, |_| NoProbe).unwrap();
        let mut rng = Rng::stream(seed, "steps");
        for &request in load {
            loop {
                let step = array.next_wakeup().0.saturating_add(rng.below(300_000));
                if rng.chance(0.2) || step >= request.arrival.0 {
                    break;
                }
                array.advance_until(SimTime(step)).unwrap();
            }
            array.advance_until(request.arrival).unwrap();
            array.submit(request).unwrap();
        }
        array.advance_until(SimTime::NEVER).unwrap();
        let counters: Vec<DeviceCounters> = array.devices().iter().map(Device::counters).collect();
        let completions: BTreeMap<u64, Completion> =
            array.completions().drain(..).map(|done| (done.id, done)).collect();
        let (whole, _) = run(config, states, load);
        assert_eq!(
            (completions, counters),
            (whole.completions, whole.counters),
            "{}, seed {seed}",
            config.level
        );
    });
}

#[test]
fn local_is_n_devices_fed_the_split_load() {
    pairs("split", 5, "local", |seed, config, states, load| {
        let layout = config.layout();
        let (array, messages) = run(config, states, load);
        assert_eq!(array, independently(config, states, load, striped(&layout)), "seed {seed}");
        assert_eq!(messages, MessageCounters::default(), "local tells nobody anything");
    });
}

/// Sees everything, does nothing.
#[derive(Clone)]
struct Watcher;

impl Coordinator for Watcher {
    fn interests(&self) -> Interests {
        Interests { devices: true, arrivals: true, completions: true, answers: false }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, _: SimTime, _: &Event, _: &DeliveredView<'_>, _: &mut Vec<Action>) {}
}

#[test]
fn looking_ahead_changes_nothing() {
    let mut notices = 0;
    let mut watch = |seed, config: &ArrayConfig, states: &[Ftl], load: &[HostRequest]| {
        let (ahead, _) = run(config, states, load);
        let parts = Parts { coordinator: Box::new(Watcher), planner: planner(config), payload: NoPayload };
        let in_step = Array::with_parts(config, states.to_vec(), parts, |_| NoProbe);
        let (in_step, messages) = drive(in_step.unwrap(), load);
        assert_eq!(ahead, in_step, "{}, seed {seed}", config.level);
        notices += messages.soft_notices;
    };
    pairs("watcher", 5, "local", |seed, config, states, load| watch(seed, config, states, load));
    on_every_level("watcher", "local", watch);
    assert!(notices > 0, "there was nothing to watch");
}

#[test]
#[ignore = "long: make simulations"]
fn every_policy_without_capable_members_is_local() {
    for policy in names(coordination::REGISTRY) {
        pairs("incapable", 5, policy, |seed, config, states, load| {
            for member in &mut config.members {
                member.capable = false;
            }
            let (alone, messages) = run(config, states, load);
            config.coordination.policy = "local".into();
            assert_eq!(alone, run(config, states, load).0, "{policy}, seed {seed}");
            assert_eq!(messages, MessageCounters::default());
        });
    }
}

#[test]
fn messages_that_arrive_after_the_run_coordinate_nothing() {
    let (mut differences, mut erases) = (0, [0; 3]);
    pairs("latency", 5, "reactive-inclusive", |seed, config, states, load| {
        let (at_once, at_once_messages) = run(config, states, load);
        config.coordination.message_latency = SimDuration::from_us(500);
        let (soon, soon_messages) = run(config, states, load);
        config.coordination.message_latency = SimDuration(1 << 50);
        let (never, _) = run(config, states, load);
        config.coordination.policy = "local".into();
        let (local, _) = run(config, states, load);
        assert_eq!(never.completions, local.completions, "seed {seed}");
        differences += u64::from(at_once.completions != local.completions && config.devices > 1);
        for messages in [at_once_messages, soon_messages] {
            let forced = messages.hard_notices * u64::from(config.devices);
            assert_eq!(messages.forced, forced, "seed {seed}: every member for every notice");
        }
        for (sum, outcome) in erases.iter_mut().zip([&at_once, &soon, &local]) {
            *sum += outcome.counters.iter().map(|counters| counters.erases).sum::<u64>();
        }
    });
    assert!(differences > 10, "coordination must have changed something, not {differences} of {PAIRS} runs");
    // Single runs may go either way: to collect early also changes what there is to collect later.
    assert!(erases[0] > erases[2] && erases[1] > erases[2], "who is forced collects more: {erases:?}");
}

#[test]
#[ignore = "long: make simulations"]
fn under_every_policy_messages_that_arrive_after_the_run_coordinate_nothing() {
    for policy in names(coordination::REGISTRY) {
        pairs("too late", 5, policy, |seed, config, states, load| {
            config.coordination.message_latency = SimDuration(1 << 50);
            let (never, _) = run(config, states, load);
            config.coordination.policy = "local".into();
            let (local, _) = run(config, states, load);
            assert_eq!(never.completions, local.completions, "{policy}, seed {seed}");
        });
    }
}

/// Static allocation and FIFO blocking: every die serves the same operations in the same order, so ideal is never
/// slower for any request, wherever the order on the link cannot depend on collection: when only writes cross it, or
/// when it takes no time. Otherwise it can: a read that was not held up takes the slot a write would have had. So it is
/// with summary pages where dies collect with others: then it depends on time which write fills a block and whose
/// successor waits for its summary. There the mean alone is compared.
#[test]
fn ideal_is_never_slower() {
    let mut overtaken = 0;
    pairs("ideal", 3, "local", |seed, config, states, _| {
        if config.members[0].ssd.ftl.allocation == Allocation::Dynamic {
            return;
        }
        let mut rng = Rng::stream(seed, "ideal load");
        let layout = config.layout();
        let no_time = 1 << 50;
        let written = config.members[0].ssd.link.bandwidth;
        for (operations, bandwidth) in
            [(&[Operation::Write, Operation::Trim][..], written), (MIXED, no_time), (MIXED, written)]
        {
            for member in &mut config.members {
                member.ssd.geometry.own_pins = true;
                member.ssd.link.bandwidth = bandwidth;
            }
            let ssd = &config.members[0].ssd;
            let alone =
                matches!(ssd.gc.domain, Domain::Die | Domain::Plane) || ssd.geometry.summary_pages == 0;
            let exact = alone && !(operations == MIXED && bandwidth == written);
            let load = load(&mut rng, layout.logical_bytes(), operations);
            let (blocking, _) = run(config, states, &load);
            let mut ideal = config.clone();
            for member in &mut ideal.members {
                member.ssd.gc.schedule = "ideal".into();
            }
            let (ideal, _) = run(&ideal, states, &load);
            assert_eq!(collected(&ideal), 0);
            let mut sums = [0, 0];
            for (id, with) in &ideal.completions {
                let without = &blocking.completions[id];
                sums[0] += with.response().0;
                sums[1] += without.response().0;
                let slower = with.finish > without.finish;
                overtaken += u64::from(slower);
                assert!(!(exact && slower), "seed {seed}: request {id} {with:?} {without:?}");
            }
            assert!(sums[0] <= sums[1], "seed {seed}: the mean under ideal");
        }
    });
    eprintln!("{overtaken} of {} requests finish later under ideal", PAIRS * 3 * 400);
}

/// With one channel a channel is the device, with one die on each a die, and with one plane in each die a plane.
#[test]
fn domains_that_hold_the_same_dies_are_the_same() {
    let mut differences = 0;
    for (domain, same, wider) in [
        (Domain::Channel, Domain::Device, Domain::Die),
        (Domain::Channel, Domain::Die, Domain::Device),
        (Domain::Plane, Domain::Die, Domain::Device),
    ] {
        for seed in 0..PAIRS / 3 {
            let mut rng = Rng::stream(seed, "domains");
            let mut config = array(&mut rng, 2, "local");
            let mut set = |domain| {
                for member in &mut config.members {
                    let geometry = &mut member.ssd.geometry;
                    match same {
                        Domain::Device => (geometry.channels, geometry.chips_per_channel) = (1, 3),
                        _ => (geometry.channels, geometry.chips_per_channel) = (3, 1),
                    }
                    if domain == Domain::Plane || same == Domain::Die && wider == Domain::Device {
                        geometry.planes_per_die = 1;
                    }
                    member.ssd.gc.domain = domain;
                }
                config.clone()
            };
            let configs = [domain, same, wider].map(&mut set);
            let states = aged(&configs[0], seed).devices;
            let layout = config.layout();
            let load = load(&mut rng, layout.logical_bytes(), MIXED);
            let [one, other, wider] = configs.map(|config| run(&config, &states, &load).0);
            assert_eq!(one, other, "{domain:?} and {same:?}, seed {seed}");
            differences += u64::from(one != wider);
        }
    }
    assert!(differences > 10, "the domain must matter, not in {differences} of {PAIRS} runs");
}

#[test]
fn with_one_place_to_choose_dynamic_allocation_is_static() {
    let mut busy = 0;
    for seed in 0..PAIRS {
        // Not trims: one of an unmapped page has no die to wait for.
        let operations = &[Operation::Write, Operation::Write, Operation::Read, Operation::Flush];
        let mut rng = Rng::stream(seed, "one place");
        let mut config = array(&mut rng, 2, "local");
        let mut outcome = |allocation| {
            for member in &mut config.members {
                (member.ssd.geometry.channels, member.ssd.geometry.chips_per_channel) = (1, 1);
                member.ssd.geometry.planes_per_die = 1;
                member.ssd.ftl.allocation = allocation;
                // These look at where operations wait: a write whose die is not chosen yet is at none.
                if ["queue-depth", "idle-time"].contains(&&*member.ssd.gc.concurrency.policy) {
                    member.ssd.gc.concurrency = PolicyConfig::named("fixed");
                }
            }
            let state = |index: usize| {
                Ftl::new(&config.members[index].ssd, seed, &format!("device/{index}")).unwrap()
            };
            let states = [state(0), state(1)];
            let layout = config.layout();
            let load = load(&mut Rng::stream(seed, "one place, load"), layout.logical_bytes(), operations);
            let mut outcome = run(&config, &states, &load).0;
            // A write whose data is not over the link waits at its die, or, where that is not chosen yet, at none.
            outcome.counters.iter_mut().for_each(|counters| counters.depth_at_gc = QueueDepth::default());
            outcome
        };
        let fixed = outcome(Allocation::CWDP);
        busy += collected(&fixed);
        assert_eq!(fixed, outcome(Allocation::Dynamic), "seed {seed}");
    }
    assert!(busy > 0, "nothing collected: nothing compared");
}

#[test]
fn a_stripe_unit_of_a_whole_device_is_pinning() {
    pairs("whole", 5, "local", |seed, config, states, load| {
        let bytes = member_bytes(states);
        config.stripe_unit = bytes;
        let inside = |request: &&HostRequest| {
            request.operation != Operation::Flush
                && request.offset + request.length <= bytes * u64::from(config.devices)
                && request.offset / bytes == (request.offset + request.length - 1) / bytes
        };
        let whole: Vec<HostRequest> = load.iter().filter(inside).copied().collect();
        let pin = |request: &HostRequest| HostRequest {
            offset: request.offset % bytes,
            member: Some(DeviceId((request.offset / bytes) as u16)),
            ..*request
        };
        let pinned: Vec<HostRequest> = whole.iter().map(pin).collect();
        let (mut striped, messages) = run(config, states, &whole);
        for completion in striped.completions.values_mut() {
            // A completion speaks of its request, and a pinned one counts from its member's first byte.
            completion.offset %= bytes;
        }
        assert_eq!((striped, messages), run(config, states, &pinned), "seed {seed}");
    });
}

/// The device settles most writes of one page that come when it has nothing to do.
fn settles(ssd: &mut SsdConfig) {
    (ssd.geometry.own_pins, ssd.geometry.summary_pages) = (true, 0);
    ssd.link.latency = SimDuration::ZERO;
    ssd.write_cache = WriteCacheConfig::default();
    ssd.ftl.allocation = Allocation::CWDP;
    ssd.gc.trigger = Trigger::Foreground;
    ssd.gc.victim = "greedy".into();
    ssd.gc.concurrency = PolicyConfig::named("unlimited");
}

/// Members that run ahead of one another, whatever the layout of copies, on any number of threads, and wherever somebody looks.
#[test]
fn members_that_run_ahead_do_what_members_in_step_do() {
    let mut requests_of_one_copy = 0;
    for seed in 0..3 * PAIRS {
        let mut rng = Rng::stream(seed, "ahead");
        let copies = |pattern, count| Level::Raid10(Copies { pattern, count });
        let (level, devices) = pick(
            &mut rng,
            &[
                (Level::Raid0, 3),
                (Level::Raid1, 2),
                (Level::Raid1, 3),
                (copies(Pattern::Near, 2), 4),
                (copies(Pattern::Near, 2), 5),
                (copies(Pattern::Near, 3), 6),
                (copies(Pattern::Far, 2), 4),
                (copies(Pattern::Offset, 2), 3),
            ],
        );
        let mut config = ArrayConfig { level, ..array(&mut rng, devices, "local") };
        if rng.chance(0.6) {
            config.members.iter_mut().for_each(|member| settles(&mut member.ssd));
        }
        let states = aged(&config, seed).devices;
        let bytes = config.layout().logical_bytes();
        let mut load = load(&mut rng, bytes, MIXED);
        for request in &mut load {
            if rng.chance(0.1) && request.operation != Operation::Flush {
                let member = DeviceId(rng.below(u64::from(devices)) as u16);
                let held = config.layout().pinned_bytes(member);
                request.offset = rng.below(held - request.length.min(held) + 1);
                request.length = request.length.min(held - request.offset);
                request.member = Some(member);
            } else if rng.chance(0.5) && request.operation != Operation::Flush {
                // Of one page: the way that most requests take.
                request.offset = request.offset / PAGE * PAGE;
                request.length = PAGE;
                requests_of_one_copy += u32::from(request.operation == Operation::Read);
            }
        }
        let (in_step, _) = run(&config, &states, &load);
        let mut array = Array::new(&config, states, None, |_| NoProbe).unwrap();
        array.run_ahead().unwrap();
        let (threads, looks) = (1 + rng.below(3) as usize, pick(&mut rng, &[0.0, 0.02, 0.3]));
        let mut completions = BTreeMap::new();
        let mut complete = |completion: &Completion| {
            assert!(completions.insert(completion.id, *completion).is_none(), "a request completes once");
        };
        for request in &load {
            array.submit_ahead(request);
            if rng.chance(looks) {
                array.catch_up(request.arrival, threads, &mut complete).unwrap();
            }
        }
        let end = load.last().map_or(SimTime::ZERO, |last| last.arrival);
        array.catch_up(end, threads, &mut complete).unwrap();
        let (rest, _) = drive_to_the_end(array, load.len(), completions);
        assert_eq!(rest, in_step, "seed {seed}: {level} on {devices} members, {threads} threads");
    }
    assert!(requests_of_one_copy > 1_000, "{requests_of_one_copy} reads of one page");
}
