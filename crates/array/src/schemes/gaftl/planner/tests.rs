//! Plans of rows of which units lie away from home: literal ones, and random histories on symbolic contents (`model`).

mod array;
mod bounds;
mod copies;
mod degraded;
mod drawn;
mod dual;
mod model;
mod moving;
pub(in crate::schemes::gaftl) mod sum;

use harmonia_types::{Bytes, DeviceId, HostRequest, Operation, SimDuration, SimTime};

use super::GaftlPlanner;
use crate::config::{Avoid, Reads, SmallWrite};
use crate::delivered::Delivered;
use crate::health::{Condition, Health};
use crate::layout::{Layout, Level, Parity, Rotation};
use crate::planner::parity::ParityPlanner;
use crate::planner::{
    Dodge, Look, Migration, Placing, Plan, PlannedOperation, Planner, Stripes, Tidies, Transaction, View,
};

const PAGE: Bytes = 4096;

/// Members that collect, by number.
#[derive(Clone, Default)]
struct Collecting(Vec<u16>);

impl Look for Collecting {
    fn busy(
        &self,
        device: DeviceId,
        offset: Bytes,
        length: Bytes,
        visit: &mut dyn FnMut(Bytes, Bytes, SimDuration),
    ) {
        if self.0.contains(&device.0) {
            visit(offset, offset + length, SimDuration(1_000));
        }
    }

    fn sees(&self, _: DeviceId) -> bool {
        true
    }
}

/// A planner and the members it plans for.
struct Stage {
    planner: GaftlPlanner,
    layout: Parity,
    health: Health,
    members: Vec<Delivered>,
    outstanding: Vec<Bytes>,
    collecting: Collecting,
    /// The first row of the reserve.
    reserve: u64,
    slots: u64,
}

impl Stage {
    fn new(level: Level, members: u16, unit_pages: u64, stripes: u64, free_stripes: u64) -> Stage {
        Stage::preferring(SmallWrite::Fewest, level, members, (unit_pages, stripes, free_stripes))
    }

    fn preferring(
        small_write: SmallWrite,
        level: Level,
        members: u16,
        (unit_pages, stripes, free_stripes): (u64, u64, u64),
    ) -> Stage {
        let unit = unit_pages * PAGE;
        let whole = Layout::new(level, members, unit, PAGE, stripes * unit);
        let Layout::Parity(layout) = whole.clone() else { unreachable!("these levels have parity") };
        let dodge = Dodge { reads: Reads::Avoid(Avoid::Longest), free_stripes, ..Dodge::default() };
        let plain = ParityPlanner::new(&whole, layout.clone(), small_write, PAGE).dodging(dodge);
        let planner = GaftlPlanner::new(plain, (&whole, layout.clone()), small_write, free_stripes);
        let known = Delivered { status: None, as_of: SimTime::ZERO, capable: true, collecting: false };
        let members = vec![known; usize::from(members)];
        let (health, outstanding) = (Health::new(members.len()), vec![0; members.len()]);
        let (reserve, slots) = (stripes * unit_pages, free_stripes * unit_pages);
        let collecting = Collecting::default();
        Stage { planner, layout, health, members, outstanding, collecting, reserve, slots }
    }

    fn placing(self, placing: Placing) -> Stage {
        Stage { planner: self.planner.placing(placing), ..self }
    }

    /// From now on these members collect.
    fn collects(&mut self, members: &[u16]) {
        self.collecting.0 = members.to_vec();
    }

    fn with<T>(&mut self, ask: impl FnOnce(&mut GaftlPlanner, &View<'_>) -> T) -> T {
        let Stage { planner, health, members, outstanding, collecting, .. } = self;
        ask(planner, &View { members, health, outstanding, look: collecting })
    }

    fn split(&mut self, operation: Operation, offset: Bytes, length: Bytes) -> Vec<Transaction> {
        let arrival = SimTime::ZERO;
        let request = HostRequest::new(0, arrival, operation, offset, length);
        let mut into = Vec::new();
        self.with(|planner, view| planner.split(&request, view, &mut into));
        into
    }

    fn plan(&mut self, transaction: &Transaction) -> Plan {
        let mut plan = Plan::default();
        self.with(|planner, view| planner.plan(SimTime::ZERO, transaction, view, &mut plan));
        plan
    }

    fn tidy(&mut self) -> Option<Transaction> {
        self.with(|planner, view| planner.tidy(view))
    }

    /// Carries out a request of one transaction: the places of its reads and of its writes, as (member, row).
    fn run(&mut self, operation: Operation, offset: Bytes, length: Bytes) -> [Vec<(u16, u64)>; 2] {
        let split = self.split(operation, offset, length);
        assert_eq!(split.len(), 1, "one transaction");
        self.carry_out(&split[0])
    }

    fn carry_out(&mut self, transaction: &Transaction) -> [Vec<(u16, u64)>; 2] {
        let plan = self.plan(transaction);
        self.planner.done(SimTime::ZERO, transaction);
        [Operation::Read, Operation::Write].map(|kind| {
            let of_kind = plan.operations().iter().filter(|operation| operation.operation == kind);
            let mut places: Vec<(u16, u64)> = of_kind.flat_map(rows_of).collect();
            places.sort_unstable();
            places
        })
    }

    fn read(&mut self, unit: u64) -> Vec<(u16, u64)> {
        let [read, written] = self.run(Operation::Read, unit * PAGE, PAGE);
        assert_eq!(written, []);
        read
    }

    fn write(&mut self, units: std::ops::Range<u64>) -> [Vec<(u16, u64)>; 2] {
        self.run(Operation::Write, units.start * PAGE, (units.end - units.start) * PAGE)
    }
}

impl GaftlPlanner {
    /// The member that is to hold a unit when what is under way is done.
    fn home_of(&self, row: u64, unit: u16) -> u16 {
        let map = self.migrating.as_ref().map(|migrating| &migrating.map);
        map.map_or_else(|| self.data_member(row, unit), |map| map.target(row, unit)).0
    }

    /// The members that are to hold the parities of a row then, P first.
    fn parities_of(&self, row: u64) -> Vec<u16> {
        let q = self.layout.q_member(self.stripe(row)).map(|member| member.0);
        [Some(self.parity_of(row)), q].into_iter().flatten().collect()
    }

    /// The member that is to hold the parity of a row then.
    fn parity_of(&self, row: u64) -> u16 {
        let map = self.migrating.as_ref().map(|migrating| &migrating.map);
        map.map_or_else(|| self.p_member(row), |map| map.target(row, map.parity())).0
    }

    /// The unit that a member is to hold of a row then; `None` for parity.
    fn unit_of(&self, row: u64, member: u16) -> Option<u16> {
        (0..self.layout.data_units()).find(|&unit| self.home_of(row, unit) == member)
    }

    fn counters_of_migration(&self) -> [u64; 4] {
        self.migrating.as_ref().map_or([0; 4], |migrating| migrating.counters().map(|counter| counter.1))
    }

    fn imbalance(&self) -> u64 {
        self.migrating.as_ref().map_or(0, |migrating| migrating.map.imbalance())
    }
}

/// Every way to place, by number.
fn placing(number: u64) -> Placing {
    let migration = [Migration::None, Migration::Away, Migration::Back][(number % 3) as usize];
    Placing {
        forces: number % 2 == 1,
        migration,
        imbalance: [0.0, 0.02][(number / 6 % 2) as usize],
        oldest_first: number / 12 % 2 == 1,
        stripes: Stripes::Rows,
        thin: false,
    }
}

fn rows_of(operation: &PlannedOperation) -> impl Iterator<Item = (u16, u64)> {
    let PlannedOperation { device, offset, length, .. } = *operation;
    (offset / PAGE..(offset + length).div_ceil(PAGE)).map(move |row| (device.0, row))
}

/// Five members as in the paper's figures, units of a page. Stripe 0 has its units 0 to 3 on members 0 to 3 and its parity on 4.
/// The reserve begins at row 32.
fn five() -> Stage {
    Stage::new(Level::Raid5(Rotation::LeftSymmetric), 5, 1, 32, 4)
}

#[test]
fn a_write_that_nobody_is_in_the_way_of_is_as_always() {
    let mut stage = five();
    // One unit: read-modify-write and reconstruct-write read two and three.
    assert_eq!(stage.write(0..1), [vec![(0, 0), (4, 0)], vec![(0, 0), (4, 0)]]);
    assert_eq!(stage.write(0..4), [vec![], vec![(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]]);
    assert_eq!(stage.planner.displaced.taken(), 0);
}

/// Algorithm 3 on a full stripe: n - 1 - w reads, w + 2 writes.
#[test]
fn a_unit_whose_member_collects_goes_to_two_others_and_out_of_its_parity() {
    for (written, reads, writes) in [(1, 3, 3), (2, 2, 4), (3, 1, 5), (4, 0, 6)] {
        let mut stage = five();
        stage.collects(&[0]);
        let [read, write] = stage.write(0..written);
        assert_eq!((read.len(), write.len()), (reads, writes), "{written} units");
        assert!(read.iter().chain(&write).all(|place| place.0 != 0), "{written} units: {write:?}");
        assert_eq!(write.iter().filter(|place| place.1 == 32).count(), 2, "data and its parity");
        let copy = stage.planner.displaced.of(0, 0).expect("it is displaced");
        assert!(!copy.in_parity && !copy.leaves);
    }
}

#[test]
fn a_slot_goes_to_the_members_that_have_least_to_do() {
    for (others, takes) in [([1, 2], [3, 4]), ([3, 4], [1, 2]), ([1, 4], [2, 3])] {
        let mut stage = five();
        stage.collects(&[0]);
        others.into_iter().for_each(|member| stage.outstanding[member] = PAGE);
        stage.write(0..1);
        let on = stage.planner.displaced.of(0, 0).expect("it is displaced").on;
        let mut on = [on[0].0, on[1].0];
        on.sort_unstable();
        assert_eq!(on, takes);
    }
}

#[test]
fn a_displaced_unit_is_written_where_it_is_and_home_when_its_member_is_free() {
    let mut stage = five();
    stage.collects(&[1]);
    stage.write(1..2);
    let away = stage.planner.displaced.of(0, 1).expect("it is displaced").on;
    // No stripe counts on it: two writes, as Algorithm 2 has it for a stripe of one unit.
    let mut expected: Vec<(u16, u64)> = away.iter().map(|member| (member.0, 32)).collect();
    expected.sort_unstable();
    assert_eq!(stage.write(1..2), [vec![], expected]);
    // Another unit of the row need not know its old data: modify reads 0 and P, reconstruct 2 and 3.
    assert_eq!(stage.write(0..1), [vec![(2, 0), (3, 0)], vec![(0, 0), (4, 0)]]);
    stage.collects(&[]);
    // Of what is dropped no old data is needed.
    assert_eq!(stage.write(1..2), [vec![(4, 0)], vec![(1, 0), (4, 0)]]);
    assert_eq!(stage.planner.displaced.taken(), 0);
    assert_eq!(stage.planner.displaced.counters.home_by_write, 1);
}

#[test]
fn a_slot_on_the_member_that_collects_is_left_for_another() {
    let mut stage = five();
    stage.collects(&[4]);
    stage.write(0..1);
    let away = stage.planner.displaced.of(0, 0).expect("it is displaced").on;
    // Its parity's member and one of its own two collect, one after the other.
    stage.collects(&[away[0].0]);
    if away[0].0 != 0 {
        // At home there is room.
        assert_eq!(stage.write(0..1)[1], [(0, 0), (4, 0)]);
        return;
    }
    let [read, written] = stage.write(0..1);
    assert_eq!((read.len(), written.len()), (3, 3));
    assert!(written.iter().all(|place| place.0 != 0));
    assert_eq!(stage.planner.displaced.taken(), 1, "the slot before is free");
}

#[test]
fn a_unit_that_collects_and_is_not_needed_is_left_out_by_read_modify_write() {
    for small_write in [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct] {
        let five = Level::Raid5(Rotation::LeftSymmetric);
        let mut stage = Stage::preferring(small_write, five, 5, (1, 32, 4));
        stage.collects(&[3]);
        // w + 1 reads and writes, where the usual way would read one unit less.
        assert_eq!(stage.write(0..2), [(); 2].map(|()| vec![(0, 0), (1, 0), (4, 0)]), "{small_write:?}");
        assert_eq!(stage.write(0..3)[0].len(), 4, "{small_write:?}");
    }
}

#[test]
fn with_the_parity_in_the_way_all_units_are_displaced_and_the_stripe_stays() {
    let mut stage = five();
    stage.collects(&[4]);
    let [read, written] = stage.write(0..3);
    assert_eq!((read.len(), written.len()), (0, 6));
    assert!(written.iter().all(|place| place.0 != 4 && place.1 >= 32));
    let of = |member: u16| written.iter().filter(|place| place.0 == member).count();
    assert!((0..4).all(|member| of(member) > 0), "all take a part of it: {written:?}");
    assert!((0..3).all(|unit| stage.planner.displaced.of(0, unit).is_some_and(|copy| copy.in_parity)));
    // Unit 3 is rebuilt from the old copies, which its parity still has.
    stage.collects(&[3]);
    assert_eq!(stage.read(3), [(0, 0), (1, 0), (2, 0), (4, 0)]);
    // A reconstruct-write drops what it does not write.
    stage.collects(&[]);
    assert_eq!(stage.write(2..4), [vec![], vec![(2, 0), (3, 0), (4, 0)]]);
    assert!((0..2).all(|unit| stage.planner.displaced.of(0, unit).is_some_and(|copy| !copy.in_parity)));
    assert_eq!(stage.planner.displaced.taken(), 2);
}

#[test]
fn a_displaced_unit_is_read_from_the_member_that_does_not_collect() {
    let mut stage = five();
    stage.collects(&[2]);
    stage.write(2..3);
    let on = stage.planner.displaced.of(0, 2).expect("it is displaced").on;
    let on = [on[0].0, on[1].0];
    for (collects, reads) in [(on[0], on[1]), (on[1], on[0])] {
        stage.collects(&[collects]);
        let split = stage.split(Operation::Read, 2 * PAGE, PAGE);
        assert_eq!(split[0].rows.count, 1, "it holds its row");
        assert_eq!(stage.read(2), [(reads, 32)]);
    }
    // What is at home is not rebuilt with it.
    stage.collects(&[1]);
    assert_eq!(stage.read(1), [(0, 0), (3, 0), (4, 0)]);
    assert_eq!(stage.split(Operation::Read, 4 * PAGE, PAGE)[0].rows.count, 0, "nothing is displaced there");
}

/// The rest is at home, rebuilt from the others, or in the slot.
#[test]
fn a_unit_that_is_written_in_part_is_written_whole() {
    let mut stage = five();
    stage.collects(&[0]);
    let [read, written] = stage.run(Operation::Write, 0, 512);
    assert_eq!((read, written.len()), (vec![(1, 0), (2, 0), (3, 0), (4, 0)], 3), "all others");
    let [read, written] = stage.run(Operation::Write, 512, 512);
    assert_eq!((read.len(), written.len()), (1, 2));
    assert_eq!(read[0].1, 32, "from the slot");
    stage.collects(&[]);
    let [read, written] = stage.run(Operation::Write, 512, 512);
    assert_eq!((read.len(), written), (2, vec![(0, 0), (4, 0)]), "the slot and the old parity");
}

#[test]
fn with_all_slots_taken_a_write_goes_home_and_waits() {
    let mut stage = five();
    stage.collects(&[4]);
    assert_eq!(stage.write(0..4)[1].len(), 8);
    // Parity of stripe 1 is on member 3, its unit 0 on member 4.
    assert_eq!(stage.write(4..5)[1], [(3, 1), (4, 1)]);
    let counters = stage.planner.displaced.counters;
    assert_eq!((counters.displaced, counters.waits_full, counters.high_water), (4, 1, 4));
    stage.collects(&[0, 1]);
    stage.write(4..5);
    assert_eq!(stage.planner.displaced.counters.waits_several, 1);
}

#[test]
fn idle_time_brings_units_home_one_by_one() {
    let mut stage = five();
    stage.collects(&[4]);
    stage.write(0..1);
    stage.collects(&[0]);
    // Stripe 1: units 1, 2, 3, P, 0.
    stage.write(5..6);
    assert_eq!(stage.tidy(), None, "somebody collects");
    stage.collects(&[]);
    let first = stage.tidy().expect("two are away");
    let [read, written] = stage.carry_out(&first);
    assert_eq!((read.len(), written), (3, vec![(0, 0), (4, 0)]), "slot, old copy and old parity");
    let second = stage.tidy().expect("one is away");
    let [read, written] = stage.carry_out(&second);
    assert_eq!((read.len(), written), (2, vec![(0, 1), (3, 1)]), "slot and old parity");
    assert_eq!((stage.tidy(), stage.planner.displaced.taken()), (None, 0));
    let expected = [
        ("displaced", 2),
        ("home_by_write", 0),
        ("home_in_idle", 2),
        ("waits_full", 0),
        ("waits_several", 0),
    ];
    assert_eq!(stage.planner.own_counters(), expected);
}

/// Parity does without unit 1, which is displaced, and unit 2 has failed: the old unit 0 and parity are read, and nothing else would do.
#[test]
fn a_write_to_a_row_of_a_failed_member_reads_what_is_left() {
    let mut stage = five();
    stage.collects(&[1]);
    stage.write(1..2);
    stage.collects(&[]);
    stage.health.set(DeviceId(2), Condition::Failed);
    let before = stage.planner.counters().pre_read_bytes;
    assert_eq!(stage.write(0..1), [(); 2].map(|()| vec![(0, 0), (4, 0)]));
    assert_eq!(stage.planner.counters().pre_read_bytes - before, 2 * PAGE);
}

#[test]
fn a_discard_forgets_what_was_displaced() {
    let mut stage = five();
    stage.collects(&[1]);
    stage.write(1..2);
    stage.collects(&[]);
    stage.run(Operation::Trim, 0, 4 * PAGE);
    assert_eq!((stage.planner.displaced.taken(), stage.read(1)), (0, vec![(1, 0)]));
}
