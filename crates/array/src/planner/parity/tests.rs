//! Plans of rows of which something is missing: literal ones, and random ones against linear algebra.
//!
//! The oracle knows that P is the sum of the data units of a row and Q their sum with weights 1, 2, 4 and so on in GF(2^8), and asks
//! whether what was read says what it should. It knows no method of writing and no planner code.

use harmonia_engine::Rng;
use harmonia_types::{
    Bytes, Counters, DeviceId, HostRequest, IoCause, Operation, ParityPages, Phase, SimDuration, SimTime,
};
use reed_solomon_erasure::galois_8;

use super::{ParityPlanner, WITHOUT};
use crate::config::{Avoid, DegradedWrites, Reads, SmallWrite};
use crate::coordination::Delivered;
use crate::health::{Condition, Health};
use crate::layout::{Groups, Layout, Level, Parity, Rotation, Unit};
use crate::planner::{
    Answer, Dodge, Kind, Look, LossCounters, Plan, PlannedOperation, Planner, Refusal, Restores, Resyncs,
    Transaction, View,
};

const PAGE: Bytes = 4096;

/// Nobody collects.
struct Quiet;

impl Look for Quiet {
    fn busy(&self, _: DeviceId, _: Bytes, _: Bytes, _: &mut dyn FnMut(Bytes, Bytes, SimDuration)) {}

    fn sees(&self, _: DeviceId) -> bool {
        true
    }
}

/// A planner and the members it plans for.
struct Stage {
    planner: ParityPlanner,
    layout: Parity,
    health: Health,
    members: Vec<Delivered>,
    unit: Bytes,
}

impl Stage {
    fn new(level: Level, members: u16, unit_pages: u64, small_write: SmallWrite) -> Stage {
        let unit = unit_pages * PAGE;
        let whole = Layout::new(level, members, unit, PAGE, 32 * unit);
        let Layout::Parity(layout) = whole.clone() else { unreachable!("these levels have parity") };
        let dodge = Dodge { may_fail: true, degraded_writes: DegradedWrites::Fewest, ..Dodge::default() };
        let planner = ParityPlanner::new(&whole, layout.clone(), small_write, PAGE).dodging(dodge);
        let known = Delivered { status: None, as_of: SimTime::ZERO, capable: true, collecting: false };
        let members = vec![known; usize::from(members)];
        Stage { planner, layout, health: Health::new(members.len()), members, unit }
    }

    /// With md's rule for rows of which something is missing.
    fn by_md(mut self) -> Stage {
        self.planner.dodge.degraded_writes = DegradedWrites::Md;
        self
    }

    fn with(mut self, member: u16, condition: Condition) -> Stage {
        self.health.set(DeviceId(member), condition);
        self
    }

    fn split(&mut self, operation: Operation, offset: Bytes, length: Bytes) -> Vec<Transaction> {
        let arrival = SimTime::ZERO;
        let request = HostRequest::new(0, arrival, operation, offset, length);
        let mut into = Vec::new();
        let outstanding = vec![0; self.members.len()];
        let Stage { planner, health, members, .. } = self;
        planner.split(
            &request,
            &View { members, health, outstanding: &outstanding, look: &Quiet },
            &mut into,
        );
        into
    }

    fn plan(&mut self, transaction: &Transaction) -> Plan {
        let mut plan = Plan::default();
        let outstanding = vec![0; self.members.len()];
        let Stage { planner, health, members, .. } = self;
        let view = View { members, health, outstanding: &outstanding, look: &Quiet };
        planner.plan(SimTime::ZERO, transaction, &view, &mut plan);
        plan
    }

    fn refused(
        &mut self,
        of: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
    ) -> (Answer, Plan) {
        let mut patch = Plan::default();
        let outstanding = vec![0; self.members.len()];
        let Stage { planner, health, members, .. } = self;
        let view = View { members, health, outstanding: &outstanding, look: &Quiet };
        (planner.on_refused(SimTime::ZERO, of, operation, refusal, &view, &mut patch), patch)
    }

    /// The plan of a request that is one transaction, as (member, first page, pages) of each step.
    fn steps(&mut self, operation: Operation, offset: Bytes, length: Bytes) -> Vec<Vec<(u16, u64, u64)>> {
        let split = self.split(operation, offset, length);
        assert_eq!(split.len(), 1);
        pages_of(&self.plan(&split[0]))
    }
}

fn pages_of(plan: &Plan) -> Vec<Vec<(u16, u64, u64)>> {
    let place =
        |operation: &PlannedOperation| (operation.device.0, operation.offset / PAGE, operation.length / PAGE);
    plan.steps().map(|step| step.iter().map(place).collect()).collect()
}

/// Stripes of three data units of a page and P:
///
/// ```text
/// 0   0 1 2 P
/// 1   1 2 P 0
/// 2   2 P 0 1
/// ```
fn raid5() -> Stage {
    Stage::new(Level::Raid5(Rotation::LeftSymmetric), 4, 1, SmallWrite::Fewest)
}

/// Units of two pages.
#[test]
fn writes_join_that_lie_side_by_side_in_the_same_rows() {
    let mut stage = Stage::new(Level::Raid5(Rotation::LeftSymmetric), 4, 2, SmallWrite::Fewest);
    let writes = [(0, 1), (2, 1), (3, 1), (4, 1), (0, 2), (2, 2)];
    let [first, next, below, last, whole, beside] =
        writes.map(|(page, pages)| stage.split(Operation::Write, page * PAGE, pages * PAGE)[0]);
    let join = |one: &Transaction, other: &Transaction| {
        let joined = stage.planner.join_writes(one, other)?;
        assert_eq!(joined.rows, one.rows);
        Some((joined.units, joined.offset / PAGE, joined.length / PAGE))
    };
    for (one, other) in [(&first, &next), (&next, &first)] {
        assert_eq!(join(one, other), Some(((0, 1), 0, 3)));
    }
    assert_eq!(join(&whole, &beside), Some(((0, 1), 0, 4)));
    assert_eq!(join(&first, &below), None, "another row");
    assert_eq!(join(&first, &last), None, "a unit lies between them");
    assert_eq!(join(&first, &Transaction { operation: Operation::Read, ..next }), None);
}

#[test]
fn a_missing_page_is_read_from_the_others() {
    let mut stage = raid5().with(1, Condition::Failed);
    // Units 1 and 2 of stripe 0, and unit 0 of stripe 1, which is there.
    let split = stage.split(Operation::Read, PAGE, 3 * PAGE);
    assert_eq!(split.iter().map(|rows| rows.rows.count).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(pages_of(&stage.plan(&split[0])), [[(2, 0, 1), (0, 0, 1), (3, 0, 1)]]);
    assert_eq!(pages_of(&stage.plan(&split[1])), [[(3, 1, 1)]]);
    let losses = LossCounters { rebuilt_pages: 1, extra_pages: 2, ..LossCounters::default() };
    assert_eq!(stage.planner.loss_counters(), losses);
    assert_eq!(stage.planner.read_counters().rebuilt_pages, 0, "nobody collects");
    // A read that touches nothing missing holds no rows.
    assert_eq!(stage.split(Operation::Read, 2 * PAGE, PAGE)[0].rows.count, 0);
}

#[test]
fn a_replacement_is_read_below_what_is_built() {
    let mut stage = raid5().with(1, Condition::Partial(4 * PAGE));
    // Stripe 3 lies below, with unit 1 on member 0; unit 0 of stripe 4 on member 0, unit 1 on member 1.
    assert_eq!(stage.split(Operation::Read, 9 * PAGE, 3 * PAGE)[0].rows.count, 0);
    assert_eq!(stage.steps(Operation::Read, 13 * PAGE, PAGE), [[(0, 4, 1), (2, 4, 1), (3, 4, 1)]]);
    // What lies above is not read, but written.
    let write = stage.steps(Operation::Write, 13 * PAGE, PAGE);
    assert_eq!(write, [vec![(0, 4, 1), (2, 4, 1)], vec![(1, 4, 1), (3, 4, 1)]]);
}

#[test]
fn small_writes_do_without_a_failed_member() {
    let mut stage = raid5().with(1, Condition::Failed);
    let other = stage.steps(Operation::Write, 0, PAGE);
    assert_eq!(other, [vec![(0, 0, 1), (3, 0, 1)], vec![(0, 0, 1), (3, 0, 1)]], "read-modify-write");
    let own = stage.steps(Operation::Write, PAGE, PAGE);
    assert_eq!(own, [vec![(0, 0, 1), (2, 0, 1)], vec![(3, 0, 1)]], "reconstruct-write, and only P");
    let part = stage.steps(Operation::Write, PAGE, 512);
    assert_eq!(part, [vec![(0, 0, 1), (2, 0, 1), (3, 0, 1)], vec![(3, 0, 1)]], "everything");
    let mut stage = raid5().with(3, Condition::Failed);
    assert_eq!(stage.steps(Operation::Write, 0, 2 * PAGE), [[(0, 0, 1), (1, 0, 1)]], "nobody takes P");
    let part = stage.steps(Operation::Write, 0, PAGE + 512);
    assert_eq!(part, [vec![(1, 0, 1)], vec![(0, 0, 1), (1, 0, 1)]]);
    assert_eq!(stage.planner.loss_counters(), LossCounters::default());
}

#[test]
fn md_reads_for_parity_that_no_member_takes_but_not_for_a_row_that_it_would_refuse() {
    let mut stage = raid5().with(3, Condition::Failed).by_md();
    assert_eq!(stage.steps(Operation::Write, 0, PAGE), [vec![(1, 0, 1), (2, 0, 1)], vec![(0, 0, 1)]]);
    assert_eq!(stage.planner.counters().rows_reconstruct_write, 1);
    // A unit that it reads for that turns out unreadable: two of the row are missing now, and the write can do without.
    let write = stage.split(Operation::Write, 0, PAGE)[0];
    let plan = stage.plan(&write);
    let (answer, _) = stage.refused(&write, &plan.operations()[0], Refusal::Unreadable);
    assert_eq!(answer, Answer::Replan(write.rows));
    assert_eq!(pages_of(&stage.plan(&write)), [[(0, 0, 1)]]);
    assert_eq!(stage.planner.loss_counters(), LossCounters::default());
}

#[test]
fn what_cannot_be_read_or_written_is_counted_and_left() {
    let mut stage = raid5().with(1, Condition::Failed).with(2, Condition::Failed);
    assert_eq!(stage.steps(Operation::Read, 0, 2 * PAGE), [[(0, 0, 1)]]);
    assert_eq!(stage.steps(Operation::Write, PAGE, PAGE), [[]; 1], "P cannot be made");
    // Read-modify-write does not need the two.
    assert_eq!(stage.steps(Operation::Write, 0, PAGE).len(), 2);
    let losses = LossCounters { unread_pages: 1, unwritten_pages: 1, ..LossCounters::default() };
    assert_eq!(stage.planner.loss_counters(), losses);
}

#[test]
fn a_member_is_rebuilt_in_one_range_of_each_of_the_others() {
    let mut stage = raid5().with(1, Condition::Partial(0));
    let step = stage.planner.restore(DeviceId(1), PAGE, 5 * PAGE).unwrap();
    assert_eq!((step.rows.first, step.rows.count), (1, 5));
    let plan = stage.plan(&step);
    assert_eq!(pages_of(&plan), [vec![(3, 1, 5), (0, 1, 5), (2, 1, 5)], vec![(1, 1, 5)]]);
    assert!(plan.operations().iter().all(|operation| operation.phase == Phase::Reconstruct));
    // P of stripe 2 lies on member 1: the second page of the range.
    let written = plan.operations()[3].parity;
    assert_eq!(written, ParityPages { phase: 3, period: 4, run: 1, cause: IoCause::Parity });
    let check = stage.planner.check(0, 4 * PAGE, true).unwrap();
    assert_eq!(pages_of(&stage.plan(&check)), [[(0, 0, 4), (2, 0, 4), (3, 0, 4)]]);
}

#[test]
fn rebuilding_two_members_reads_the_fewest_of_the_others() {
    // Stripe 0 of RAID-6 with five members: Q 0 1 2 P.
    let level = Level::Raid6(Rotation::LeftSymmetric);
    let mut stage = Stage::new(level, 5, 1, SmallWrite::Fewest).with(1, Condition::Partial(0));
    let step = stage.planner.restore(DeviceId(1), 0, PAGE).unwrap();
    assert_eq!(pages_of(&stage.plan(&step)), [vec![(2, 0, 1), (3, 0, 1), (4, 0, 1)], vec![(1, 0, 1)]]);
    stage.health.set(DeviceId(3), Condition::Failed);
    assert_eq!(pages_of(&stage.plan(&step))[0], [(2, 0, 1), (4, 0, 1), (0, 0, 1)]);
    stage.health.set(DeviceId(2), Condition::Failed);
    assert_eq!(pages_of(&stage.plan(&step)), [[]; 1]);
    assert_eq!(stage.planner.loss_counters().lost_pages, 1);
}

#[test]
fn an_unreadable_page_is_read_in_another_way_as_far_as_there_is_one() {
    let level = Level::Raid6(Rotation::LeftSymmetric);
    let mut stage = Stage::new(level, 5, 1, SmallWrite::Fewest);
    let read = stage.split(Operation::Read, 0, PAGE)[0];
    let plain = stage.plan(&read).operations()[0];
    let (Answer::Instead(other), _) = stage.refused(&read, &plain, Refusal::Unreadable) else {
        panic!("a host's read becomes another transaction")
    };
    assert_eq!((other.tag, other.member, other.rows.count), (WITHOUT, Some(DeviceId(1)), 1));
    let plan = stage.plan(&other);
    assert_eq!(pages_of(&plan), [[(2, 0, 1), (3, 0, 1), (4, 0, 1)]]);
    // P cannot be read either: Q makes up for it. Then nothing is left.
    let (answer, patch) = stage.refused(&other, &plan.operations()[2], Refusal::Unreadable);
    assert_eq!((answer, pages_of(&patch)), (Answer::Patch, vec![vec![(2, 0, 1), (3, 0, 1), (0, 0, 1)]]));
    let (answer, patch) = stage.refused(&other, &plan.operations()[0], Refusal::Unreadable);
    assert_eq!((answer, patch.operations().len()), (Answer::Patch, 0));
    let losses = stage.planner.loss_counters();
    assert_eq!((losses.rebuilt_pages, losses.unread_pages), (1, 1));
    // The next transaction tries them all again.
    stage.planner.done(SimTime::ZERO, &other);
    assert_eq!(pages_of(&stage.plan(&other)), [[(2, 0, 1), (3, 0, 1), (4, 0, 1)]]);
}

#[test]
fn a_member_that_fails_has_what_reads_it_planned_anew() {
    let mut stage = raid5();
    let write = stage.split(Operation::Write, 0, PAGE)[0];
    let plan = stage.plan(&write);
    stage.health.set(DeviceId(1), Condition::Failed);
    let (answer, _) = stage.refused(&write, &plan.operations()[0], Refusal::Failed);
    assert_eq!(answer, Answer::Replan(write.rows));
    assert_eq!(pages_of(&stage.plan(&write))[0], [(0, 0, 1), (3, 0, 1)]);
    // A write that it was given is done without: P makes up for it.
    let lost = PlannedOperation::data(DeviceId(1), Operation::Write, 0, 2 * PAGE);
    let (answer, patch) = stage.refused(&write, &lost, Refusal::Failed);
    assert_eq!((answer, patch.operations().len()), (Answer::Patch, 0));
    assert_eq!(stage.planner.loss_counters().unwritten_pages, 0);
    stage.health.set(DeviceId(2), Condition::Failed);
    stage.refused(&write, &lost, Refusal::Failed);
    assert_eq!(stage.planner.loss_counters().unwritten_pages, 2);
}

/// A bitmap says that one chunk of two pages need not agree: what it has of a read is not found out from the other members, whether
/// the member collects or is late.
#[test]
fn a_read_that_parity_may_have_otherwise_waits_for_its_member() {
    for chunk in [0, 2] {
        let mut stage = raid5();
        stage.planner.dodge.reads = Reads::Avoid(Avoid::Any);
        stage.planner.is_synced_to(Some(0));
        stage.planner.is_unsynced_in((2 * PAGE, [chunk].into()));
        for (page, pages) in (0..8).flat_map(|page| [(page, 1), (page, 2)]) {
            let trusts_parity = page + pages <= 2 * chunk || page >= 2 * chunk + 2;
            let read = PlannedOperation::data(DeviceId(1), Operation::Read, page * PAGE, pages * PAGE);
            let of = Transaction::unlocked(Operation::Read, 0, PAGE);
            let hedge = stage.planner.hedge(&of, &read);
            assert_eq!(hedge.is_some(), trusts_parity, "{pages} pages from {page}, chunk {chunk}");
            let (answer, patch) = stage.refused(&of, &read, Refusal::Busy(SimDuration(1_000)));
            match hedge {
                Some(around) => assert_eq!(answer, Answer::Instead(around)),
                None => assert_eq!((answer, pages_of(&patch)), (Answer::Patch, vec![vec![(1, page, pages)]])),
            }
        }
    }
}

/// Where reads avoid members, a member that collects refuses them at once. Others wait for it.
#[test]
fn reads_of_declustered_stripes_fail_fast_where_they_can_be_avoided() {
    for reads in [Reads::Wait, Reads::Avoid(Avoid::Any)] {
        let groups = Groups { parities: 1, data: 2, spares: 1 };
        let mut stage = Stage::new(Level::Draid(groups), 7, 1, SmallWrite::Fewest);
        stage.planner.dodge.reads = reads;
        let plan = stage.plan(&Transaction::unlocked(Operation::Read, 0, 12 * PAGE));
        let bytes: Bytes = plan.operations().iter().map(|read| read.length).sum();
        assert_eq!(bytes, 12 * PAGE);
        let fails_fast = reads != Reads::Wait;
        assert!(plan.operations().iter().all(|read| read.fast_fail == fails_fast), "{reads:?}");
    }
}

// ------------------------------------------------------------------------------------------------ linear algebra

/// What some places of a row say: every sum of multiples of their contents.
#[derive(Clone, Default)]
struct Span(Vec<Vec<u8>>);

impl Span {
    /// What is left of `vector` when what is known is taken off.
    fn rest(&self, mut vector: Vec<u8>) -> Vec<u8> {
        for known in &self.0 {
            let pivot = known.iter().position(|&weight| weight != 0).unwrap();
            let factor = galois_8::div(vector[pivot], known[pivot]);
            let taken = known.iter().map(|&weight| galois_8::mul(factor, weight));
            vector.iter_mut().zip(taken).for_each(|(weight, taken)| *weight ^= taken);
        }
        vector
    }

    fn add(&mut self, vector: Vec<u8>) {
        let rest = self.rest(vector);
        if rest.iter().any(|&weight| weight != 0) {
            self.0.push(rest);
        }
    }

    fn says(&self, vector: Vec<u8>) -> bool {
        self.rest(vector).iter().all(|&weight| weight == 0)
    }
}

/// What a member holds of a stripe, as weights of the data units; only of those units that `counts`.
fn weights(layout: &Parity, stripe: u64, member: DeviceId, counts: impl Fn(u16) -> bool) -> Vec<u8> {
    let held = layout.unit_on(stripe, member);
    let weight = |unit: u16| match held {
        Unit::Data(own) => u8::from(own == unit),
        Unit::P => 1,
        Unit::Q => galois_8::exp(2, usize::from(unit)),
        Unit::None => 0,
    };
    (0..layout.data_units()).map(|unit| if counts(unit) { weight(unit) } else { 0 }).collect()
}

/// Pages that were read, and pages that are written: (member, page).
#[derive(Default)]
struct Done {
    read: Vec<(DeviceId, u64)>,
    written: Vec<(DeviceId, u64)>,
}

fn each_page(operation: &PlannedOperation) -> impl Iterator<Item = (DeviceId, u64)> {
    let PlannedOperation { device, offset, length, .. } = *operation;
    (offset / PAGE..(offset + length).div_ceil(PAGE)).map(move |page| (device, page))
}

impl Stage {
    /// Plans a transaction and refuses some of what it reads, one page at a time, until it is over. Nothing that is missing
    /// is read, nothing is read twice in a plan, and nothing that could not be read is read again.
    fn run(&mut self, transaction: &Transaction, errors: f64, rng: &mut Rng) -> (Done, Vec<(DeviceId, u64)>) {
        let mut unreadable = Vec::new();
        for attempt in 0..100 {
            let again = Transaction { attempt, ..*transaction };
            let plan = self.plan(&again);
            let mut done = Done::default();
            let mut is_new = false;
            for (index, operation) in plan.operations().iter().enumerate() {
                let alike = |other: &PlannedOperation| {
                    other.device == operation.device
                        && other.operation == operation.operation
                        && other.offset < operation.offset + operation.length
                        && operation.offset < other.offset + other.length
                };
                assert!(!plan.operations()[..index].iter().any(alike), "{transaction:?}: {plan:?}");
            }
            let mut queue = Vec::new();
            self.begin(plan.operations(), &unreadable, &mut queue);
            while let Some(operation) = queue.pop() {
                for (device, page) in each_page(&operation) {
                    let piece = PlannedOperation { offset: page * PAGE, length: PAGE, ..operation };
                    if operation.operation == Operation::Write && self.health.takes_writes(device) {
                        done.written.push((device, page));
                    } else if operation.operation == Operation::Write {
                        assert_eq!(transaction.kind, Kind::Plain, "only whole stripes go to failed members");
                        self.refused(&again, &piece, Refusal::Failed);
                    } else if unreadable.contains(&(device, page)) {
                        // It was begun before that was known.
                    } else if !rng.chance(errors) {
                        done.read.push((device, page));
                    } else {
                        unreadable.push((device, page));
                        done.read.retain(|&read| read != (device, page));
                        let (answer, patch) = self.refused(&again, &piece, Refusal::Unreadable);
                        match answer {
                            Answer::Patch => self.begin(patch.operations(), &unreadable, &mut queue),
                            Answer::Replan(_) => is_new = true,
                            other => panic!("{transaction:?}: {other:?}"),
                        }
                    }
                }
            }
            if !is_new {
                return (done, unreadable);
            }
        }
        panic!("{transaction:?} is planned for ever")
    }

    /// Operations are handed to their members.
    fn begin(
        &self,
        operations: &[PlannedOperation],
        unreadable: &[(DeviceId, u64)],
        queue: &mut Vec<PlannedOperation>,
    ) {
        for operation in operations.iter().filter(|operation| operation.operation == Operation::Read) {
            for (device, page) in each_page(operation) {
                assert!(self.health.holds(device, (page + 1) * PAGE), "{operation:?} is missing");
                assert!(!unreadable.contains(&(device, page)), "{operation:?} has been tried");
            }
        }
        queue.extend(operations);
    }

    fn members(&self) -> impl Iterator<Item = DeviceId> + use<> {
        (0..self.members.len() as u16).map(DeviceId)
    }

    /// What of a row could be read if everything were, and what was.
    fn spans(&self, page: u64, done: &Done, unreadable: &[(DeviceId, u64)]) -> (Span, Span) {
        let (mut all, mut known) = (Span::default(), Span::default());
        for member in self.members() {
            let vector = || weights(&self.layout, page * PAGE / self.unit, member, |_| true);
            if self.health.holds(member, (page + 1) * PAGE) && !unreadable.contains(&(member, page)) {
                all.add(vector());
            }
            if done.read.contains(&(member, page)) {
                known.add(vector());
            }
        }
        (all, known)
    }

    /// Units of a page that a write covers at its sectors: (unit, sector within the page).
    fn covers(&self, transaction: &Transaction, page: u64, unit: u16, sector: u64) -> bool {
        let stripe = page * PAGE / self.unit;
        let logical =
            stripe * self.layout.stripe_bytes() + u64::from(unit) * self.unit + page * PAGE % self.unit;
        let byte = logical + sector * 512;
        (transaction.offset..transaction.offset + transaction.length).contains(&byte)
    }

    /// Whether what is known says all that a page of the members must hold after a write: those in `written`.
    fn suffices(&self, known: &Span, transaction: &Transaction, page: u64, written: &[DeviceId]) -> bool {
        let stripe = page * PAGE / self.unit;
        (0..PAGE / 512).all(|sector| {
            let is_kept = |unit| !self.covers(transaction, page, unit, sector);
            written.iter().all(|&member| known.says(weights(&self.layout, stripe, member, is_kept)))
        })
    }

    /// The fewest pages of a row that say what must be written.
    fn fewest(&self, transaction: &Transaction, page: u64, written: &[DeviceId]) -> Option<u32> {
        let there: Vec<DeviceId> =
            self.members().filter(|&member| self.health.holds(member, (page + 1) * PAGE)).collect();
        let stripe = page * PAGE / self.unit;
        let of = |set: u32| {
            let mut span = Span::default();
            let chosen = there.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1);
            chosen.for_each(|(_, &member)| span.add(weights(&self.layout, stripe, member, |_| true)));
            span
        };
        let sets =
            (0..1u32 << there.len()).filter(|&set| self.suffices(&of(set), transaction, page, written));
        sets.map(u32::count_ones).min()
    }
}

fn random_stage(rng: &mut Rng, small_write: SmallWrite) -> Stage {
    let parities = 1 + rng.below(2) as u16;
    let members = 2 + parities + rng.below(4) as u16;
    let rotations: Vec<Rotation> =
        Rotation::ALL.into_iter().filter(|rotation| parities == 2 || !rotation.is_raid6_only()).collect();
    let rotation = rotations[rng.below(rotations.len() as u64) as usize];
    let level = if parities == 2 { Level::Raid6(rotation) } else { Level::Raid5(rotation) };
    let mut stage = Stage::new(level, members, 1 + rng.below(3), small_write);
    for _ in 0..rng.below(u64::from(parities) + 2) {
        let member = rng.below(u64::from(members)) as u16;
        let condition = match rng.below(3) {
            0 => Condition::Partial(rng.below(40) * PAGE),
            _ => Condition::Failed,
        };
        stage.health.set(DeviceId(member), condition);
    }
    stage
}

/// A random range of a random grain within the first stripes.
fn random_range(rng: &mut Rng, stage: &Stage) -> (Bytes, Bytes) {
    let grain = if rng.chance(0.5) { 512 } else { PAGE };
    let longest = if rng.chance(0.8) { stage.layout.stripe_bytes() } else { 3 * stage.layout.stripe_bytes() };
    let length = (1 + rng.below(longest / grain)) * grain;
    (rng.below(20 * stage.unit / grain) * grain, length)
}

#[test]
fn random_writes_read_what_says_what_they_write_and_no_more() {
    let mut rng = Rng::stream(5, "degraded writes");
    let mut seen = [0; 4];
    for round in 0..6000 {
        let small_write =
            [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct][round % 3];
        let errors = if rng.chance(0.3) { 0.1 } else { 0.0 };
        let mut stage = random_stage(&mut rng, small_write);
        let is_md = round / 3 % 2 == 1;
        if is_md {
            stage = stage.by_md();
        }
        let (offset, length) = random_range(&mut rng, &stage);
        for transaction in stage.split(Operation::Write, offset, length) {
            let before = stage.planner.loss_counters();
            let (done, unreadable) = stage.run(&transaction, errors, &mut rng);
            let mut unwritten = 0;
            for page in transaction.rows.first..transaction.rows.end() {
                let stripe = page * PAGE / stage.unit;
                let (all, known) = stage.spans(page, &done, &unreadable);
                let touched = |unit: u16| (0..8).any(|sector| stage.covers(&transaction, page, unit, sector));
                let is_there = |member: &DeviceId| stage.health.holds(*member, (page + 1) * PAGE);
                let gone = stage.members().filter(|member| !is_there(member)).count();
                // What should be written: units that are touched, and parity; of what takes writes.
                let should = |&member: &DeviceId| {
                    let held = stage.layout.unit_on(stripe, member);
                    stage.health.takes_writes(member) && !matches!(held, Unit::Data(unit) if !touched(unit))
                };
                let should: Vec<DeviceId> = stage.members().filter(should).collect();
                let has_parity = should
                    .iter()
                    .any(|&member| !matches!(stage.layout.unit_on(stripe, member), Unit::Data(_)));
                let is_full = transaction.kind == Kind::Plain;
                let mut written: Vec<DeviceId> =
                    stage.members().filter(|&member| done.written.contains(&(member, page))).collect();
                if is_full {
                    // Members that have failed refuse it.
                    written.retain(|&member| stage.health.takes_writes(member));
                }
                assert!(stage.suffices(&known, &transaction, page, &written), "{transaction:?}, page {page}");
                let can = stage.suffices(&all, &transaction, page, &should);
                seen[usize::from(!can)] += 1;
                if can {
                    assert_eq!(written, should, "{transaction:?}, page {page}");
                } else if has_parity {
                    assert!(written.is_empty(), "{transaction:?}, page {page}");
                }
                if errors == 0.0 && can && small_write == SmallWrite::Fewest && !is_md {
                    let reads = done.read.iter().filter(|read| read.1 == page).count() as u32;
                    assert_eq!(Some(reads), stage.fewest(&transaction, page, &should), "{transaction:?}");
                    seen[2] += 1;
                }
                for unit in (0..stage.layout.data_units()).filter(|&unit| touched(unit)) {
                    let member = stage.layout.data_member(stripe, unit);
                    let is_taken = written.contains(&member);
                    // What a failed member was to hold can be told from the others of the row.
                    let is_implied = !stage.health.takes_writes(member)
                        && gone <= usize::from(stage.layout.parities())
                        && (can || !has_parity);
                    unwritten += u64::from(!is_taken && !is_implied);
                }
            }
            seen[3] += u64::from(!unreadable.is_empty());
            let counted = stage.planner.loss_counters().unwritten_pages - before.unwritten_pages;
            assert_eq!(counted, unwritten, "{transaction:?}");
            stage.planner.done(SimTime::ZERO, &transaction);
        }
    }
    assert!(seen.iter().all(|&times| times > 300), "{seen:?}");
}

#[test]
fn random_reads_find_out_what_the_rest_says() {
    let mut rng = Rng::stream(6, "degraded reads");
    let mut seen = [0; 3];
    for _ in 0..6000 {
        let errors = if rng.chance(0.3) { 0.1 } else { 0.0 };
        let mut stage = random_stage(&mut rng, SmallWrite::Fewest);
        let (offset, length) = random_range(&mut rng, &stage);
        for transaction in stage.split(Operation::Read, offset, length) {
            if transaction.rows.count == 0 {
                let plan = stage.plan(&transaction);
                let is_there =
                    |read: &PlannedOperation| stage.health.holds(read.device, read.offset + read.length);
                assert!(plan.operations().iter().all(is_there));
                continue;
            }
            let before = stage.planner.loss_counters();
            let (done, unreadable) = stage.run(&transaction, errors, &mut rng);
            let (mut unread, mut rebuilt) = (0, 0);
            for page in transaction.rows.first..transaction.rows.end() {
                let stripe = page * PAGE / stage.unit;
                let (all, known) = stage.spans(page, &done, &unreadable);
                for unit in transaction.units.0..=transaction.units.1 {
                    let member = stage.layout.data_member(stripe, unit);
                    let vector = || weights(&stage.layout, stripe, member, |_| true);
                    assert_eq!(known.says(vector()), all.says(vector()), "{transaction:?}, page {page}");
                    unread += u64::from(!known.says(vector()));
                    rebuilt += u64::from(known.says(vector()) && !done.read.contains(&(member, page)));
                }
            }
            let losses = stage.planner.loss_counters().since(&before);
            assert_eq!(losses.unread_pages, unread, "{transaction:?}");
            // A page may count as rebuilt before it turns out that it cannot be, and one that was read be found unreadable.
            if errors == 0.0 {
                assert_eq!(losses.rebuilt_pages, rebuilt, "{transaction:?}");
            }
            seen[0] += rebuilt;
            seen[1] += unread;
            seen[2] += u64::from(!unreadable.is_empty());
            stage.planner.done(SimTime::ZERO, &transaction);
        }
    }
    assert!(seen.iter().all(|&times| times > 300), "{seen:?}");
}

#[test]
fn random_steps_of_rebuilding_write_what_the_rest_says() {
    let mut rng = Rng::stream(7, "rebuild");
    let mut seen = [0; 3];
    for _ in 0..4000 {
        let errors = if rng.chance(0.3) { 0.05 } else { 0.0 };
        let mut stage = random_stage(&mut rng, SmallWrite::Fewest);
        let target = DeviceId(rng.below(stage.members.len() as u64) as u16);
        let offset = rng.below(20) * PAGE;
        stage.health.set(target, Condition::Partial(offset));
        let length = (1 + rng.below(12)) * PAGE;
        let step = stage.planner.restore(target, offset, length).unwrap();
        assert_eq!(step.kind, Kind::Restore);
        let (done, unreadable) = stage.run(&step, errors, &mut rng);
        let mut lost = 0;
        for page in step.rows.first..step.rows.end() {
            let stripe = page * PAGE / stage.unit;
            let (all, known) = stage.spans(page, &done, &unreadable);
            let vector = || weights(&stage.layout, stripe, target, |_| true);
            let can = all.says(vector());
            assert_eq!(known.says(vector()), can, "{step:?}, page {page}");
            lost += u64::from(!can);
            if errors == 0.0 {
                assert_eq!(done.written.contains(&(target, page)), can, "{step:?}, page {page}");
                let reads = done.read.iter().filter(|read| read.1 == page).count();
                let needed = if can { usize::from(stage.layout.data_units()) } else { 0 };
                assert_eq!(reads, needed, "any k units that are left say the rest, and no fewer do");
            }
        }
        assert_eq!(stage.planner.loss_counters().lost_pages, lost, "{step:?}");
        seen[usize::from(lost > 0)] += 1;
        seen[2] += u64::from(!unreadable.is_empty());
    }
    assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
}

/// A write in one row of one unit is cut by a rule of its own. The oracle is the rule for all writes.
#[test]
fn a_write_in_one_row_is_cut_as_all_writes_are() {
    let mut rng = Rng::stream(1, "one row");
    let (mut short, mut partial) = (0, 0);
    for round in 0..2_000 {
        let small_write =
            [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct][round % 3];
        let (level, least) =
            [(Level::Raid5(Rotation::default()), 3), (Level::Raid6(Rotation::default()), 4)][round % 2];
        let members = least + rng.below(5) as u16;
        let stage = Stage::new(level, members, 1 + rng.below(3), small_write);
        let end = stage.layout.stripe_bytes() * 32;
        let sector = 512;
        let offset = rng.below(end / sector - 32) * sector;
        let length = (1 + rng.below(24)) * sector;
        let (mut fast, mut general) = (Vec::new(), Vec::new());
        stage.planner.write(offset, length, &mut fast);
        stage.planner.write_segments(offset, length, &mut general);
        assert_eq!(fast, general, "{level} on {members} members, {length} bytes at {offset}");
        let is_short = offset / PAGE == (offset + length - 1) / PAGE;
        short += u32::from(is_short);
        partial += u32::from(is_short && length < PAGE);
    }
    assert!(short > 200 && partial > 100 && short > partial, "{short} in one row, {partial} of them in part");
}
