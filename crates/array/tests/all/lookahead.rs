//! Do members that run ahead of one another do what they do in step?
//!
//! Random plans for random requests: several steps, rows, operations that fail fast, operations behind the host's back,
//! new plans, patches that may be refused again, members that are reserved or fail in between, and forced collections.
//! Every run is made twice, once with a coordinator that listens to everything, which keeps the members in step. The
//! levels' own planners are compared in `metamorphic`.

use std::collections::BTreeMap;

use crate::common::*;
use harmonia_array::coordination::{Action, Coordinator, DeliveredView, Event, Interests};
use harmonia_array::payload::NoPayload;
use harmonia_array::planner::{
    Answer, Plan, PlannedOperation, Planner, Refusal, Rows, Tag, Transaction, View,
};
use harmonia_array::{Access, Array, ArrayConfig, Interface, Level, Parts};
use harmonia_engine::Rng;
use harmonia_ssd::probe::NoProbe;
use harmonia_ssd::{Device, DeviceCounters, Trigger};
use harmonia_types::{Completion, DeviceId, HostRequest, Operation, Phase, SimDuration, SimTime};

const MEMBERS: u16 = 5;
const PAGES: u64 = 48;
const REQUESTS: u64 = 150;

/// Plans that depend on nothing but the transaction, the time, and what the members have to do.
#[derive(Clone)]
struct Wild {
    seed: u64,
    /// Some operations fail fast.
    fails_fast: bool,
    /// Some choices follow what the members have to do.
    looks: bool,
    /// Rows there are: where they are many, nobody waits for any.
    rows: u64,
}

impl Wild {
    fn rows(&self, rng: &mut Rng) -> Rows {
        Rows { first: rng.below(self.rows), count: rng.below(3) }
    }

    fn operation(&self, rng: &mut Rng, view: &View<'_>) -> PlannedOperation {
        let mut device = rng.below(u64::from(MEMBERS)) as u16;
        if self.looks && rng.chance(0.5) {
            let least = (0..MEMBERS).min_by_key(|&member| view.outstanding[usize::from(member)]);
            device = least.expect("there are members");
        }
        let operation = if rng.chance(0.5) { Operation::Read } else { Operation::Write };
        let (page, pages) = (rng.below(PAGES - 6), 1 + rng.below(6));
        PlannedOperation {
            fast_fail: self.fails_fast && rng.chance(0.15),
            behind: rng.chance(0.05),
            ..PlannedOperation::data(DeviceId(device), operation, page * PAGE, pages * PAGE)
        }
    }
}

impl Planner for Wild {
    fn split(&mut self, request: &HostRequest, _: &View<'_>, into: &mut Vec<Transaction>) {
        let mut rng = Rng::stream(self.seed ^ request.id << 20, "split");
        let base = Transaction::unlocked(request.operation, request.offset, request.length);
        for part in 0..1 + u64::from(rng.chance(0.2)) {
            let rows = self.rows(&mut rng);
            into.push(Transaction { rows, tag: Tag::of(request.id * 2 + part), ..base });
        }
    }

    fn plan(&mut self, now: SimTime, transaction: &Transaction, view: &View<'_>, plan: &mut Plan) {
        if transaction.operation == Operation::Flush {
            let flush = |member| PlannedOperation::data(DeviceId(member), Operation::Flush, 0, 0);
            return (0..MEMBERS).for_each(|member| plan.push(flush(member)));
        }
        let tag = transaction.tag.read(self) << 8 | u64::from(transaction.attempt);
        let mut rng = Rng::stream(self.seed ^ tag << 20 ^ now.0, "plan");
        for _ in 0..1 + rng.below(2) {
            plan.barrier();
            (0..1 + rng.below(2)).for_each(|_| plan.push(self.operation(&mut rng, view)));
        }
    }

    fn on_refused(
        &mut self,
        now: SimTime,
        transaction: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        view: &View<'_>,
        patch: &mut Plan,
    ) -> Answer {
        let left = if let Refusal::Busy(left) = refusal { left.0 } else { 0 };
        let mut rng = Rng::stream(
            self.seed ^ transaction.tag.read(self) << 20 ^ now.0 ^ left ^ operation.offset,
            "patch",
        );
        if transaction.attempt < 3 && rng.chance(0.5) {
            return Answer::Replan(self.rows(&mut rng));
        }
        if operation.phase != Phase::Reconstruct && rng.chance(0.8) {
            // Patches of patches do not fail fast any more: what is refused for ever never ends.
            let (phase, again) = match operation.phase {
                Phase::Data => (Phase::Parity, true),
                _ => (Phase::Reconstruct, false),
            };
            for _ in 0..1 + rng.below(2) {
                let next = self.operation(&mut rng, view);
                patch.push(PlannedOperation { phase, fast_fail: next.fast_fail && again, ..next });
            }
        }
        Answer::Patch
    }
}

/// Acts as `Forces` does, and listens to everything if it should.
#[derive(Clone)]
struct Ears {
    forces: Forces,
    listens: bool,
}

impl Coordinator for Ears {
    fn interests(&self) -> Interests {
        let listens = self.listens;
        Interests { devices: listens, arrivals: listens, completions: listens, answers: false }
    }

    fn interface(&self) -> Interface {
        Interface::Command
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.forces.on(now, event, view, actions);
    }
}

/// A run to be made twice.
struct Scene {
    config: ArrayConfig,
    seed: u64,
    fails_fast: bool,
    looks: bool,
    rows: u64,
    forces: Vec<(SimTime, u16)>,
    load: Vec<HostRequest>,
    /// Before the request of this number, what a member may be given changes.
    changes: BTreeMap<u64, (DeviceId, Access)>,
}

/// Everything a run did.
#[derive(Debug, PartialEq)]
struct Outcome {
    completions: BTreeMap<u64, Completion>,
    counters: Vec<DeviceCounters>,
    intervals: BTreeMap<u16, Vec<(SimTime, SimTime)>>,
    row_waits: u64,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "lookahead");
        let mut ssd = one_die(16, 4, 4);
        let geometry = &mut ssd.geometry;
        geometry.channels = 1 + rng.below(2) as u32;
        geometry.blocks_per_plane = 16 / geometry.channels;
        ssd.ftl.reserved_blocks = harmonia_ssd::Amount::Blocks(4 / geometry.channels);
        ssd.gc.trigger = if rng.chance(0.5) { Trigger::Background } else { Trigger::Foreground };
        ssd.link.latency = SimDuration::from_us(5 * rng.below(3));
        if rng.chance(0.5) {
            ssd.link.bandwidth = 400_000_000;
        }
        let mut config = level(Level::Raid0, &ssd, MEMBERS, PAGE);
        config.coordination.message_latency = SimDuration::from_us(rng.below(2) * 10);
        let gaps = [5_000, 45_000, 45_000, 110_000, 220_000, 1_000_000];
        let gaps = &gaps[..4 + rng.below(3) as usize];
        let mut arrival = SimTime::ZERO;
        let load = (0..REQUESTS).map(|id| {
            arrival += SimDuration(gaps[rng.below(gaps.len() as u64) as usize] * rng.below(3));
            let operation = if rng.chance(0.05) { Operation::Flush } else { Operation::Write };
            request(id, arrival, operation, 0, if operation == Operation::Flush { 0 } else { PAGE })
        });
        let load = load.collect();
        let force = |rng: &mut Rng| (SimTime(rng.below(arrival.0)), rng.below(u64::from(MEMBERS)) as u16);
        let forces = (0..rng.below(60)).map(|_| force(&mut rng)).collect();
        let mut changes = BTreeMap::new();
        if rng.chance(0.6) {
            for _ in 0..rng.below(80) {
                let access =
                    [Access::Open, Access::Open, Access::Reserved, Access::Failed][rng.below(4) as usize];
                changes.insert(rng.below(REQUESTS), (DeviceId(rng.below(2) as u16), access));
            }
        }
        let (fails_fast, looks, rows) =
            (rng.chance(0.6), rng.chance(0.5), [20, 1_000_000, 1_000_000][rng.below(3) as usize]);
        Scene { config, seed, fails_fast, looks, rows, forces, load, changes }
    }

    fn run(&self, in_step: bool) -> Outcome {
        let Scene { seed, fails_fast, looks, rows, .. } = *self;
        let forces = Forces(self.forces.clone());
        let parts = Parts {
            coordinator: Box::new(Ears { forces, listens: in_step }),
            planner: Box::new(Wild { seed, fails_fast, looks, rows }),
            payload: NoPayload,
        };
        let states = self.config.members.iter().enumerate().map(|(index, member)| {
            let mut ftl = harmonia_ssd::Ftl::new(&member.ssd, 1, &format!("device/{index}")).unwrap();
            for lpn in 0..ftl.shape().unit_pages {
                for unit in 0..ftl.shape().units() {
                    ftl.unit(unit).program(lpn, harmonia_types::IoCause::Host, None, &mut NoProbe).unwrap();
                }
            }
            ftl
        });
        let mut array = Array::with_parts(&self.config, states.collect(), parts, |_| NoProbe).unwrap();
        for (&request, number) in self.load.iter().zip(0..) {
            array.advance_until(request.arrival).unwrap();
            if let Some(&(member, access)) = self.changes.get(&number) {
                array.set_access(member, access);
            }
            array.submit(request).unwrap();
        }
        array.advance_until(SimTime::NEVER).unwrap();
        let completions: BTreeMap<u64, Completion> =
            drain(&mut array).into_iter().map(|done| (done.id, done)).collect();
        assert_eq!(completions.len() as u64, REQUESTS, "seed {seed}: every request completes");
        assert_eq!(array.transactions_under_way(), 0, "seed {seed}: every transaction ends");
        assert!((0..30).all(|row| !array.is_row_busy(row)), "seed {seed}: every row is given back");
        let mut intervals: BTreeMap<u16, Vec<(SimTime, SimTime)>> = BTreeMap::new();
        for (device, from, to) in array.gc_intervals().drain(..) {
            intervals.entry(device.0).or_default().push((from, to));
        }
        let counters = array.devices().iter().map(Device::counters).collect();
        Outcome { completions, counters, intervals, row_waits: array.counters().redundancy.stripe_waits }
    }
}

#[test]
fn random_plans_are_carried_out_as_in_step() {
    for seed in 0..1000 {
        let scene = Scene::new(seed);
        assert_eq!(scene.run(false), scene.run(true), "seed {seed}");
    }
}
