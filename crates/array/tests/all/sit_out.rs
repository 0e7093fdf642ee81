//! Whom does sit-out sit out: the member that is slow, an innocent one, or nobody?
//!
//! Eight members of one die in a RAID-5, for 30 s. One of them takes so many times as long for reads, programs and erases from
//! the fifth second on. Members do not collect, collect a block at a time (about 4 ms) or eight (about 30 ms), or one innocent
//! member collects 48 (about 200 ms) and the others one. Each case is run with four seeds. The table is that of the policy's page.
#![expect(clippy::print_stdout, reason = "prints the table of the page")]

use std::sync::{Arc, Mutex};

use crate::common::{PAGE, level, one_die, request};
use harmonia_array::coordination::{
    Action, Coordinator, DeliveredView, Event, Interests, Parameters, REGISTRY,
};
use harmonia_array::layout::{Layout, Rotation};
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::Dodge;
use harmonia_array::planner::parity::ParityPlanner;
use harmonia_array::{Array, Befalls, Fault, Faults, Interface, Level, Parts, Reads, When};
use harmonia_engine::Rng;
use harmonia_ssd::gc::victim::{self, NoReads};
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Ftl, Goal, SsdConfig};
use harmonia_types::registry::find;
use harmonia_types::{DeviceId, IoCause, Operation, SimDuration, SimTime};

const MEMBERS: u16 = 8;
const SLOW: DeviceId = DeviceId(3);
const SEEDS: u64 = 4;
/// A member that is not slow, but collects more blocks at a time than the others.
const UNEVEN: usize = 1;
const SECOND: u64 = 1_000_000_000;

/// Takes note of who is to be avoided.
#[derive(Clone)]
struct Watched {
    policy: Box<dyn Coordinator>,
    avoided: Arc<Mutex<Vec<DeviceId>>>,
}

impl Coordinator for Watched {
    fn interests(&self) -> Interests {
        self.policy.interests()
    }

    fn interface(&self) -> Interface {
        self.policy.interface()
    }

    fn reads(&self) -> Option<Reads> {
        self.policy.reads()
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.policy.on(now, event, view, actions);
        let avoided = actions.iter().filter_map(|action| match action {
            Action::Avoid(member) => Some(*member),
            _ => None,
        });
        self.avoided.lock().expect("one thread").extend(avoided);
    }
}

/// Overwritten at random until steady.
fn aged(ssd: &SsdConfig, seed: u64, member: u16) -> Ftl {
    let mut ftl = Ftl::new(ssd, seed, &format!("device/{member}")).expect("a shape that works");
    let policy = victim::build(&"greedy".into()).expect("it is registered");
    let mut rng = Rng::stream(seed, "ageing");
    let pages = ftl.shape().unit_pages;
    let random = (0..4 * pages).map(|_| rng.below(u64::from(pages)) as u32);
    for page in (0..pages).chain(random) {
        let mut unit = ftl.unit(0);
        if unit.free() == 0 {
            let goal = Goal { stop: 0, min_victims: 1 };
            unit.collect(goal, &*policy, &NoReads, SimTime::ZERO, &mut NoProbe).expect("spare suffices");
        }
        unit.program(page, IoCause::Host, None, &mut NoProbe).expect("spare suffices");
    }
    ftl
}

/// How members collect.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Collection {
    None,
    Blocks(u32),
    /// One member so many, the others one.
    Uneven(u32),
}

/// Who sat out in one run, in order.
fn sat_out(collection: Collection, factor: f64, seed: u64) -> Vec<DeviceId> {
    let mut ssd = one_die(80, 16, 16);
    if let Collection::Blocks(victims) = collection {
        ssd.gc.min_victims = victims;
    }
    let mut config = level(Level::Raid5(Rotation::LeftSymmetric), &ssd, MEMBERS, PAGE);
    if let Collection::Uneven(victims) = collection {
        config.members[UNEVEN].ssd.gc.min_victims = victims;
    }
    let at = When::Time(SimTime(5 * SECOND));
    let slow = Fault { device: SLOW, at, what: Befalls::Slow(factor) };
    config.faults = Faults { events: vec![slow], ..Faults::default() };
    let own = serde_json::Map::new();
    let message_latency = SimDuration::ZERO;
    let parameters =
        Parameters { devices: MEMBERS, redundancy: 1, members: &config.members, message_latency, own: &own };
    let entry = find(REGISTRY, "sit-out").expect("it is registered");
    let policy = (entry.build)(&parameters).expect("the defaults");
    let avoided = Arc::new(Mutex::new(Vec::new()));
    let dodge = Dodge {
        reads: policy.reads().expect("it has a rule for reads"),
        parks: false,
        may_fail: true,
        degraded_writes: config.degraded_writes,
        page_read: SimDuration::from_us(45),
        free_stripes: 0,
        placing: Default::default(),
    };
    let whole = config.layout();
    let Layout::Parity(parity) = whole.clone() else { unreachable!("RAID-5 has parity") };
    let planner = ParityPlanner::new(&whole, parity, config.small_write, PAGE).dodging(dodge);
    let coordinator = Box::new(Watched { policy, avoided: avoided.clone() });
    let parts = Parts { coordinator, planner: Box::new(planner), payload: NoPayload };
    let states = (0..MEMBERS).map(|member| aged(&ssd, seed, member)).collect();
    let mut array =
        Array::with_parts(&config, states, parts, |_| NoProbe).expect("a configuration that works");

    let pages = array.layout().logical_bytes() / PAGE;
    let writes = if collection == Collection::None { 0.0 } else { 0.1 };
    let (mut rng, mut now) = (Rng::stream(seed, "load"), 0);
    for id in 0.. {
        now += rng.exponential(600_000.0) as u64;
        if now > 30 * SECOND {
            break;
        }
        array.advance_until(SimTime(now)).expect("spare suffices");
        let operation = if rng.chance(writes) { Operation::Write } else { Operation::Read };
        let offset = rng.below(pages) * PAGE;
        array.submit(request(id, SimTime(now), operation, offset, PAGE)).expect("spare suffices");
        array.completions().clear();
    }
    let erases: u64 = array.devices().iter().map(|device| device.ftl().tally().erases).sum();
    assert!(erases > 0 || collection == Collection::None);
    std::mem::take(&mut *avoided.lock().expect("one thread"))
}

/// Runs in which the slow member sat out, an innocent one, nobody.
fn confusion(collection: Collection, factor: f64) -> [u64; 3] {
    let mut counts = [0; 3];
    for seed in 0..SEEDS {
        let first = sat_out(collection, factor, seed).first().copied();
        let place = first.map_or(2, |member| usize::from(member != SLOW || factor <= 1.0));
        counts[place] += 1;
    }
    counts
}

#[test]
#[ignore = "long: make simulations"]
fn sit_out_finds_slow_members_and_no_innocent_ones() {
    println!("| slower by | members collect | the slow one | an innocent one | nobody |");
    println!("|---|---|---|---|---|");
    let collections =
        [Collection::None, Collection::Blocks(1), Collection::Blocks(8), Collection::Uneven(48)];
    for factor in [1.0, 2.0, 5.0, 20.0] {
        for collection in collections {
            let [slow, innocent, nobody] = confusion(collection, factor);
            println!("| {factor} | {collection:?} | {slow} | {innocent} | {nobody} |");
            let is_even = !matches!(collection, Collection::Uneven(_));
            assert!(innocent == 0 || !is_even, "members that collect alike are outliers of one another");
            // A read takes 25 us and 20 us of transfer, which stays as it is: 20 times as slow is 11.6 times as long.
            let is_found = factor == 20.0 && is_even && collection != Collection::None;
            assert!(!is_found || slow == SEEDS, "slow reads wait for slow writes as well");
            assert!(factor > 2.0 || slow == 0, "below the fence");
        }
    }
}
