//! Reading, rebuilding and comparing copies of which some are missing, against the layout alone.

use harmonia_engine::Rng;
use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, SimDuration, SimTime};

use super::MirroredPlanner;
use crate::coordination::Delivered;
use crate::health::{Condition, Health};
use crate::layout::{Copies, Layout, Level, Mirrored, Pattern};
use crate::member::Member;
use crate::planner::{
    Answer, Dodge, Kind, Look, LossCounters, Plan, PlannedOperation, Planner, Refusal, Restores, Transaction,
    View,
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

/// How long members collect from now on, by member; 0 if they do not.
struct Left<const N: usize>([u64; N]);

impl<const N: usize> Look for Left<N> {
    fn busy(
        &self,
        device: DeviceId,
        offset: Bytes,
        length: Bytes,
        visit: &mut dyn FnMut(Bytes, Bytes, SimDuration),
    ) {
        let left = SimDuration(self.0[device.index()]);
        if left > SimDuration::ZERO {
            visit(offset, offset + length, left);
        }
    }

    fn sees(&self, _: DeviceId) -> bool {
        true
    }
}

struct Stage {
    planner: MirroredPlanner,
    whole: Layout,
    layout: Mirrored,
    health: Health,
    members: Vec<Delivered>,
    outstanding: Vec<u64>,
}

/// A plan as (member, first page, pages) of each step.
type Steps = Vec<Vec<(u16, u64, u64)>>;

impl Stage {
    fn new(level: Level, members: u16, unit_pages: u64, pages: u64) -> Stage {
        let whole = Layout::new(level, members, unit_pages * PAGE, PAGE, pages * PAGE);
        let Layout::Mirrored(layout) = whole.clone() else { unreachable!("these levels have copies") };
        let dodge = Dodge { may_fail: true, ..Dodge::default() };
        let planner = MirroredPlanner::new(&whole, layout.clone()).dodging(dodge);
        let known = Delivered { status: None, as_of: SimTime::ZERO, capable: true, collecting: false };
        let (members, outstanding) = (vec![known; usize::from(members)], vec![0; usize::from(members)]);
        Stage { planner, whole, layout, health: Health::new(members.len()), members, outstanding }
    }

    fn with(mut self, member: u16, condition: Condition) -> Stage {
        self.health.set(DeviceId(member), condition);
        self
    }

    fn request(&mut self, operation: Operation, page: u64, pages: u64) -> Plan {
        let (arrival, offset, length) = (SimTime::ZERO, page * PAGE, pages * PAGE);
        let request = HostRequest::new(0, arrival, operation, offset, length);
        let mut into = Vec::new();
        let Stage { planner, health, members, outstanding, .. } = self;
        planner.split(&request, &View { members, health, outstanding, look: &Quiet }, &mut into);
        assert_eq!(into.len(), 1);
        self.plan(&into[0])
    }

    fn plan(&mut self, transaction: &Transaction) -> Plan {
        let mut plan = Plan::default();
        let Stage { planner, health, members, outstanding, .. } = self;
        let view = View { members, health, outstanding, look: &Quiet };
        planner.plan(SimTime::ZERO, transaction, &view, &mut plan);
        plan
    }

    fn refused(
        &mut self,
        of: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
    ) -> (Answer, Plan) {
        self.refused_at(of, operation, refusal, &Quiet)
    }

    /// The same while members collect.
    fn refused_at(
        &mut self,
        of: &Transaction,
        operation: &PlannedOperation,
        refusal: Refusal,
        look: &dyn Look,
    ) -> (Answer, Plan) {
        let mut patch = Plan::default();
        let Stage { planner, health, members, outstanding, .. } = self;
        let view = View { members, health, outstanding, look };
        (planner.on_refused(SimTime::ZERO, of, operation, refusal, &view, &mut patch), patch)
    }

    /// The copies of the page that a member holds at one of its pages: (member, page); none if it holds nothing there.
    fn copies(&self, member: DeviceId, page: u64) -> (Option<u64>, Vec<(DeviceId, u64)>) {
        let mut found = (None, Vec::new());
        if page * PAGE < self.whole.pinned_bytes(member) {
            self.whole.pinned(member, page * PAGE, PAGE, |logical, _| {
                found.0 = Some(logical / PAGE);
                self.layout.split(logical, PAGE, |places, _| {
                    found.1 = places.iter().map(|place| (place.0, place.1 / PAGE)).collect();
                });
            });
        }
        found
    }

    fn is_there(&self, (member, page): (DeviceId, u64)) -> bool {
        self.health.holds(member, (page + 1) * PAGE)
    }
}

fn pages_of(plan: &Plan) -> Steps {
    let place =
        |operation: &PlannedOperation| (operation.device.0, operation.offset / PAGE, operation.length / PAGE);
    plan.steps().map(|step| step.iter().map(place).collect()).collect()
}

fn each_page(operation: &PlannedOperation) -> impl Iterator<Item = (DeviceId, u64)> + use<> {
    let PlannedOperation { device, offset, length, .. } = *operation;
    (offset / PAGE..(offset + length).div_ceil(PAGE)).map(move |page| (device, page))
}

fn raid10(pattern: Pattern, count: u16) -> Level {
    Level::Raid10(Copies { pattern, count })
}

#[test]
fn copies_that_are_missing_are_left_out() {
    let mut stage =
        Stage::new(Level::Raid1, 3, 1, 16).with(0, Condition::Failed).with(1, Condition::Partial(4 * PAGE));
    assert_eq!(pages_of(&stage.request(Operation::Read, 3, 1)), [[(1, 3, 1)]], "below what is built");
    assert_eq!(pages_of(&stage.request(Operation::Read, 4, 1)), [[(2, 4, 1)]]);
    assert_eq!(pages_of(&stage.request(Operation::Write, 4, 1)), [[(1, 4, 1), (2, 4, 1)]]);
    stage.health.set(DeviceId(2), Condition::Failed);
    stage.request(Operation::Read, 4, 2);
    assert_eq!(stage.planner.loss_counters(), LossCounters { unread_pages: 2, ..LossCounters::default() });
    stage.health.set(DeviceId(1), Condition::Failed);
    assert_eq!(pages_of(&stage.request(Operation::Write, 4, 3)), [[]; 1]);
    assert_eq!(stage.planner.loss_counters().unwritten_pages, 3);
}

#[test]
fn a_page_that_cannot_be_read_is_read_from_every_other_copy_once() {
    let mut stage = Stage::new(raid10(Pattern::Far, 3), 4, 1, 30);
    let read = Transaction::unlocked(Operation::Read, 5 * PAGE, PAGE);
    let (mut transaction, mut tried) = (read, Vec::new());
    for _ in 0..3 {
        let plan = stage.plan(&transaction);
        let operation = plan.operations()[0];
        tried.push((operation.device, operation.offset / PAGE));
        let (Answer::Instead(next), _) = stage.refused(&transaction, &operation, Refusal::Unreadable) else {
            panic!("another copy is read")
        };
        transaction = next;
    }
    tried.sort_unstable();
    let mut copies = stage.copies(DeviceId(1), 1).1;
    copies.sort_unstable();
    assert_eq!(tried, copies, "unit 5 lies on member 1 first");
    assert!(stage.plan(&transaction).operations().is_empty() && transaction.kind == Kind::Around);
    let losses = stage.planner.loss_counters();
    assert_eq!((losses.rebuilt_pages, losses.unread_pages), (1, 1));
}

/// Members 0 and 1 are reserved. Member 2 has more to do, but it does not refuse.
#[test]
fn a_read_that_a_reserved_member_refused_goes_to_one_that_is_open() {
    let mut stage = Stage::new(Level::Raid1, 3, 1, 16);
    for member in [0, 1] {
        stage.health.change(DeviceId(member), Member::reserve);
    }
    stage.outstanding[2] = 64 * PAGE;
    let read = Transaction::unlocked(Operation::Read, 2 * PAGE, 3 * PAGE);
    let operation = stage.plan(&read).operations()[0];
    assert_eq!(operation.device, DeviceId(0), "the member with least to do is asked first");
    let (answer, _) = stage.refused(&read, &operation, Refusal::Reserved);
    let Answer::Instead(next) = answer else { panic!("{answer:?}") };
    assert_eq!(stage.plan(&next).operations()[0].device, DeviceId(2));
}

/// Member 0 refuses for so long. Another copy that would take as long is no better.
#[test]
fn a_refused_read_goes_to_another_copy_only_if_that_is_sooner() {
    let busy = |left| Refusal::Busy(SimDuration(left));
    for (refusal, others, is_sooner) in [
        (busy(1_000), [0, 1_000], true),
        (busy(1_000), [999, 1_001], true),
        (busy(1_000), [1_000, 999], true),
        (busy(1_000), [1_000, 1_000], false),
        (busy(1_000), [1_001, 1_000], false),
        // Whoever names no time still collects: a copy that does not is sooner.
        (busy(0), [0, 0], true),
        (busy(0), [1, 1], false),
        (Refusal::Reserved, [u64::MAX - 1, u64::MAX], true),
        (Refusal::Reserved, [u64::MAX; 2], false),
    ] {
        let mut stage = Stage::new(Level::Raid1, 3, 1, 16);
        let read = Transaction::unlocked(Operation::Read, 2 * PAGE, 3 * PAGE);
        let operation = stage.plan(&read).operations()[0];
        assert_eq!(operation.device, DeviceId(0));
        let look = Left([1_000, others[0], others[1]]);
        let (answer, patch) = stage.refused_at(&read, &operation, refusal, &look);
        let counters = stage.planner.read_counters();
        let counted = if is_sooner { (3, 0) } else { (0, 3) };
        assert_eq!((counters.rebuilt_pages, counters.waited_pages), counted, "{refusal:?} {others:?}");
        match (answer, refusal) {
            (Answer::Instead(next), _) => {
                assert_eq!((is_sooner, next.kind, next.member), (true, Kind::Around, Some(DeviceId(0))));
            }
            (answer, Refusal::Reserved) => assert_eq!((is_sooner, answer), (false, Answer::Wait)),
            (answer, _) => {
                assert_eq!(
                    (is_sooner, answer, pages_of(&patch)),
                    (false, Answer::Patch, vec![vec![(0, 2, 3)]])
                );
            }
        }
    }
}

#[test]
fn a_member_is_rebuilt_from_one_other_as_long_as_that_has_it() {
    let mut stage = Stage::new(Level::Raid1, 3, 1, 16).with(1, Condition::Partial(0));
    let step = stage.planner.restore(DeviceId(1), 2 * PAGE, 6 * PAGE).unwrap();
    assert_eq!((step.rows.first, step.rows.count), (2, 6));
    assert_eq!(pages_of(&stage.plan(&step)), [[(0, 2, 6)], [(1, 2, 6)]]);
    // The least burdened one is read.
    stage.outstanding = vec![9, 0, 0];
    let plan = stage.plan(&step);
    assert_eq!(pages_of(&plan), [[(2, 2, 6)], [(1, 2, 6)]]);
    // A page of it cannot be read, there and then on the last copy.
    let page = PlannedOperation { offset: 4 * PAGE, length: PAGE, ..plan.operations()[0] };
    let (answer, patch) = stage.refused(&step, &page, Refusal::Unreadable);
    assert_eq!((answer, pages_of(&patch)), (Answer::Patch, vec![vec![(0, 4, 1)]]));
    let (answer, patch) = stage.refused(&step, &patch.operations()[0], Refusal::Unreadable);
    assert_eq!((answer, patch.operations().len()), (Answer::Patch, 0));
    assert_eq!(stage.planner.loss_counters().lost_pages, 1);
    // What is known to be lost is not written.
    assert_eq!(pages_of(&stage.plan(&step))[1], [(1, 2, 2), (1, 5, 3)]);
    let far = Stage::new(raid10(Pattern::Far, 2), 4, 1, 8);
    let rows = far.planner.restore(DeviceId(1), PAGE, 2 * PAGE).unwrap().rows;
    assert_eq!((rows.first, rows.count), (5, 5), "units 5 and 9, and what lies between them");
}

/// Random arrays of every kind.
fn random_stage(rng: &mut Rng) -> Stage {
    let count = 2 + rng.below(2) as u16;
    let pattern = [Pattern::Near, Pattern::Far, Pattern::Offset][rng.below(3) as usize];
    let level = if rng.chance(0.2) { Level::Raid1 } else { raid10(pattern, count) };
    let mut stage = Stage::new(level, count + rng.below(3) as u16, 1 + rng.below(3), 24 + rng.below(8));
    for _ in 0..rng.below(3) {
        let member = rng.below(stage.members.len() as u64) as u16;
        let condition =
            if rng.chance(0.5) { Condition::Failed } else { Condition::Partial(rng.below(24) * PAGE) };
        stage.health.set(DeviceId(member), condition);
    }
    stage.outstanding.iter_mut().for_each(|bytes| *bytes = rng.below(4));
    stage
}

#[test]
fn random_steps_read_a_copy_of_everything_they_write() {
    let mut rng = Rng::stream(8, "mirrored rebuild");
    let mut seen = [0; 3];
    for _ in 0..4000 {
        let errors = if rng.chance(0.3) { 0.1 } else { 0.0 };
        let mut stage = random_stage(&mut rng);
        let target = DeviceId(rng.below(stage.members.len() as u64) as u16);
        let first = rng.below(20);
        let pages = 1 + rng.below(10);
        stage.health.set(target, Condition::Partial(first * PAGE));
        let Some(step) = stage.planner.restore(target, first * PAGE, pages * PAGE) else {
            assert!((first..first + pages).all(|page| stage.copies(target, page).0.is_none()));
            continue;
        };
        let plan = stage.plan(&step);
        let (mut read, mut unreadable) = (Vec::new(), Vec::new());
        let mut queue: Vec<PlannedOperation> = plan.operations().to_vec();
        let written: Vec<(DeviceId, u64)> = queue
            .extract_if(.., |operation| operation.operation == Operation::Write)
            .flat_map(|operation| each_page(&operation))
            .collect();
        while let Some(operation) = queue.pop() {
            for place in each_page(&operation) {
                assert!(
                    stage.is_there(place) && place.0 != target && !unreadable.contains(&place),
                    "{step:?}"
                );
                assert!(!read.contains(&place), "{step:?} reads {place:?} twice");
                if !rng.chance(errors) {
                    read.push(place);
                    continue;
                }
                unreadable.push(place);
                let piece = PlannedOperation { offset: place.1 * PAGE, length: PAGE, ..operation };
                let (answer, patch) = stage.refused(&step, &piece, Refusal::Unreadable);
                assert_eq!(answer, Answer::Patch);
                queue.extend(patch.operations());
            }
        }
        let mut lost = 0;
        for page in first..first + pages {
            let (Some(logical), copies) = stage.copies(target, page) else { continue };
            assert!((step.rows.first..step.rows.end()).contains(&logical), "{step:?}: page {logical}");
            let has_copy = |place: &(DeviceId, u64)| place.0 != target && stage.is_there(*place);
            let can = copies.iter().any(|place| has_copy(place) && !unreadable.contains(place));
            let times = copies.iter().filter(|place| read.contains(place)).count();
            assert_eq!(times, usize::from(can), "{step:?}: page {logical}");
            assert_eq!(
                written.contains(&(target, page)),
                copies.iter().any(has_copy),
                "{step:?}: page {logical}"
            );
            lost += u64::from(!can);
        }
        assert_eq!(stage.planner.loss_counters().lost_pages, lost, "{step:?}");
        seen[usize::from(lost > 0)] += 1;
        seen[2] += u64::from(!unreadable.is_empty());
    }
    assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
}

#[test]
fn scrubbing_reads_every_copy_once() {
    let mut rng = Rng::stream(9, "mirrored scrub");
    for _ in 0..300 {
        let mut stage = random_stage(&mut rng);
        stage.health = Health::new(stage.members.len());
        let step = (1 + rng.below(9)) * PAGE;
        let end = stage.whole.member_bytes();
        let mut read = Vec::new();
        for offset in (0..end).step_by(step as usize) {
            if let Some(check) = stage.planner.check(offset, step.min(end - offset), false) {
                let plan = stage.plan(&check);
                let pages = plan.operations().iter().flat_map(each_page);
                for place in pages {
                    let logical = stage.copies(place.0, place.1).0.unwrap();
                    assert!((check.rows.first..check.rows.end()).contains(&logical));
                    read.push(place);
                }
            }
        }
        read.sort_unstable();
        let members = (0..stage.members.len() as u16).map(DeviceId);
        let all = members
            .flat_map(|member| (0..stage.whole.pinned_bytes(member) / PAGE).map(move |page| (member, page)));
        assert_eq!(read, all.collect::<Vec<_>>());
    }
}
