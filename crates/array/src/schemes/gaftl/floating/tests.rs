//! Plans of stripes that leave one member free: counts of operations, literal plans, the same with two parities (`dual`) and while
//! members are missing (`degraded`) or full (`room`), after a loss of power (`power`), and random histories on whole arrays (`array`).

mod array;
mod degraded;
mod dual;
mod power;
mod room;

use harmonia_engine::Rng;
use harmonia_types::{
    BoundCounters, Bytes, DeviceId, HostRequest, Operation, ReadCounters, RedundancyCounters, SimDuration,
    SimTime,
};

use super::stripe_map::each;
use super::{FloatingPlanner, MOST_MEMBERS};
use crate::config::SmallWrite;
use crate::delivered::Delivered;
use crate::health::Health;
use crate::layout::{Layout, Level, Rotation};
use crate::planner::parity::ParityPlanner;
use crate::planner::{Look, Migration, Placing, Plan, PlannedOperation, Planner, Tidies, Transaction, View};

const PAGE: Bytes = 4096;
/// Rows of a member.
const ROWS: u64 = 40;

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
#[derive(Clone)]
struct Stage {
    planner: FloatingPlanner,
    health: Health,
    members: Vec<Delivered>,
    collecting: Collecting,
}

/// A place: member and row.
type Place = (u16, u64);

impl Stage {
    /// All that so many members can hold has been written.
    fn full(small_write: SmallWrite, members: u16, unit_pages: u64) -> Stage {
        let mut stage = Stage::empty(small_write, members, unit_pages);
        stage.planner.begins_with(&|_, _| true);
        stage
    }

    fn empty(small_write: SmallWrite, members: u16, unit_pages: u64) -> Stage {
        Stage::of(Level::Raid5(Rotation::LeftSymmetric), small_write, members, unit_pages)
    }

    /// Nothing has been written.
    fn of(level: Level, small_write: SmallWrite, members: u16, unit_pages: u64) -> Stage {
        Stage::on(&Layout::new(level, members, unit_pages * PAGE, PAGE, ROWS * PAGE), small_write)
    }

    /// The same with the stripes of a layout.
    fn on(layout: &Layout, small_write: SmallWrite) -> Stage {
        let whole = layout.clone().floating(false);
        let members = whole.members();
        let Layout::Parity(layout) = whole.clone() else { unreachable!("it has parity") };
        let plain = ParityPlanner::new(&whole, layout.clone(), small_write, PAGE);
        let planner = FloatingPlanner::new(plain, (&whole, layout), small_write, PAGE);
        let known = Delivered { status: None, as_of: SimTime::ZERO, capable: true, collecting: false };
        let members = vec![known; usize::from(members)];
        Stage { planner, health: Health::new(members.len()), members, collecting: Collecting::default() }
    }

    /// From now on these members collect.
    fn collects(&mut self, members: &[u16]) {
        self.collecting.0 = members.to_vec();
    }

    fn with<T>(&mut self, ask: impl FnOnce(&mut FloatingPlanner, &View<'_>) -> T) -> T {
        let outstanding = vec![0; self.members.len()];
        let Stage { planner, health, members, collecting } = self;
        ask(planner, &View { members, health, outstanding: &outstanding, look: collecting })
    }

    /// Carries out a request: the places of what it reads, writes and discards, transaction by transaction.
    fn run(&mut self, operation: Operation, offset: Bytes, length: Bytes) -> [Vec<Place>; 3] {
        let request = HostRequest::new(0, SimTime::ZERO, operation, offset, length);
        let mut split = Vec::new();
        self.with(|planner, view| planner.split(&request, view, &mut split));
        let mut all: [Vec<Place>; 3] = Default::default();
        for transaction in split {
            let done = self.carry_out(&transaction);
            all.iter_mut().zip(done).for_each(|(all, done)| all.extend(done));
        }
        all
    }

    fn carry_out(&mut self, transaction: &Transaction) -> [Vec<Place>; 3] {
        let mut plan = Plan::default();
        self.with(|planner, view| planner.plan(SimTime::ZERO, transaction, view, &mut plan));
        self.planner.done(SimTime::ZERO, transaction);
        let kinds = [Operation::Read, Operation::Write, Operation::Trim];
        let steps: Vec<&[PlannedOperation]> = plan.steps().filter(|step| !step.is_empty()).collect();
        for (step, next) in steps.iter().zip(steps.iter().skip(1)) {
            let place = |step: &[PlannedOperation]| kinds.iter().position(|&kind| step[0].operation == kind);
            assert!(place(step) < place(next), "reads, then writes, then discards");
        }
        kinds.map(|kind| {
            let of_kind = plan.operations().iter().filter(|operation| operation.operation == kind);
            let mut places: Vec<Place> = of_kind.flat_map(rows_of).collect();
            places.sort_unstable();
            places
        })
    }

    /// Units of stripes of single pages, counted through the array.
    fn write(&mut self, units: std::ops::Range<u64>) -> [Vec<Place>; 3] {
        self.run(Operation::Write, units.start * PAGE, (units.end - units.start) * PAGE)
    }

    fn read(&mut self, units: std::ops::Range<u64>) -> Vec<Place> {
        let [read, written, discarded] =
            self.run(Operation::Read, units.start * PAGE, (units.end - units.start) * PAGE);
        assert_eq!((written, discarded), (vec![], vec![]));
        read
    }

    fn discard(&mut self, units: std::ops::Range<u64>) -> [Vec<Place>; 3] {
        self.run(Operation::Trim, units.start * PAGE, (units.end - units.start) * PAGE)
    }

    /// What is trimmed of what has been left behind; nothing if nothing can be.
    fn sweep(&mut self) -> Vec<Place> {
        let Some(sweep) = self.with(|planner, view| planner.sweep(view)) else { return Vec::new() };
        assert_eq!(sweep.rows.count, 0, "it holds up nobody");
        let [read, written, discarded] = self.carry_out(&sweep);
        assert_eq!((read, written), (vec![], vec![]));
        discarded
    }

    /// The places of the slots of a row: units, parities, and the free member.
    fn places(&self, row: u64) -> Vec<Place> {
        (0..self.planner.members).map(|slot| (self.planner.map.member(row, slot).0, row)).collect()
    }
}

fn rows_of(operation: &PlannedOperation) -> impl Iterator<Item = Place> {
    let PlannedOperation { device, offset, length, .. } = *operation;
    (offset / PAGE..(offset + length).div_ceil(PAGE)).map(move |row| (device.0, row))
}

/// These places in their order.
fn sorted(places: impl IntoIterator<Item = Place>) -> Vec<Place> {
    let mut places: Vec<Place> = places.into_iter().collect();
    places.sort_unstable();
    places
}

/// A stripe has `u = n - 2` units, and `w` of them are written.
///
/// * Made anew, parity needs the `u - w` others. `w` units and parity are written: `w + 1`. If the member of one of these collects,
///   only the place of that write is another one, so the counts are the same.
/// * If the member of one of the `u - w` others collects, that unit cannot be read. Parity as it is, the old `w` units and the
///   new ones say the same: `w + 1` reads, `w + 1` writes.
/// * Whoever reads the fewest takes the second way also where nobody collects, if `w + 1 < u - w`.
/// * Of a unit whose member collects the `u - 1` others and parity say what it is: `u = n - 2` reads.
#[test]
fn counts_of_operations_are_as_derived_for_4_to_9_members() {
    let mut cases = 0;
    for members in 4..=9 {
        let units = u64::from(members) - 2;
        for (written, first) in (1..=units).flat_map(|w| (0..=units - w).map(move |first| (w, first))) {
            let changed = first..first + written;
            for (small_write, blocked) in [SmallWrite::Reconstruct, SmallWrite::Fewest]
                .into_iter()
                .flat_map(|way| (0..=u64::from(members)).map(move |slot| (way, slot)))
            {
                let mut stage = Stage::full(small_write, members, 1);
                let before = stage.places(0);
                // The slot above the free one is nobody's.
                stage.collects(
                    &before.get(blocked as usize).map(|place| place.0).into_iter().collect::<Vec<_>>(),
                );
                let (is_parity, is_unit) = (blocked == units, blocked < units);
                let anew = units - written;
                let reads = if is_unit && !changed.contains(&blocked) {
                    written + 1
                } else if is_unit || is_parity || small_write == SmallWrite::Reconstruct {
                    anew
                } else {
                    anew.min(written + 1)
                };
                let [read, write, discarded] = stage.write(changed.clone());
                let case =
                    format!("{members} members, units {changed:?}, {blocked} is blocked, {small_write:?}");
                assert_eq!((read.len() as u64, write.len() as u64), (reads, written + 1), "{case}");
                assert_eq!(discarded, [], "{case}");
                let is_blocked = |place: &Place| stage.collecting.0.contains(&place.0);
                assert!(!read.iter().chain(&write).any(is_blocked), "{case}");
                let free = before[usize::from(members) - 1];
                let moves = is_parity || (is_unit && changed.contains(&blocked));
                assert_eq!(write.contains(&free), moves, "{case}");
                let held: Vec<u16> =
                    (changed.start..changed.end).chain([units]).map(|slot| slot as u16).collect();
                let after = sorted(held.iter().map(|&slot| stage.places(0)[usize::from(slot)]));
                assert_eq!(write, after, "{case}: what is written is where the map says");
                // Whoever reads the fewest may read less than Algorithm 1.
                let is_less = !is_unit && !is_parity && reads < anew;
                let BoundCounters { promised, reached, exceeded, .. } = stage.planner.bound_counters();
                assert_eq!((promised, reached, exceeded), (1, u64::from(!is_less), 0), "{case}");
                cases += 1;
            }
        }
        for unit in 0..units {
            let mut stage = Stage::full(SmallWrite::Fewest, members, 1);
            let places = stage.places(0);
            assert_eq!(stage.read(unit..unit + 1), [places[unit as usize]]);
            stage.collects(&[places[unit as usize].0]);
            let others = (0..=units).filter(|&slot| slot != unit).map(|slot| places[slot as usize]);
            assert_eq!(stage.read(unit..unit + 1), sorted(others), "{members} members: n - 2 reads");
            let BoundCounters { promised, reached, most_pages_of_read, .. } = stage.planner.bound_counters();
            assert_eq!((promised, reached, most_pages_of_read), (2, 2, units), "{members} members");
            assert_eq!(
                stage.read(0..units).len() as u64,
                units,
                "read with the others it costs parity alone"
            );
        }
    }
    assert_eq!(cases, 2 * (4..=9_u64).map(|n| (n + 1) * (n - 2) * (n - 1) / 2).sum::<u64>());
}

/// Five members, as in figures 6 and 7 of the paper.
#[test]
fn a_unit_in_the_way_goes_to_the_free_member_and_leaves_a_copy_that_is_trimmed_later() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1);
    let before = stage.places(0);
    stage.collects(&[before[1].0]);
    assert_eq!(stage.write(1..2), [sorted([before[0], before[2]]), sorted([before[4], before[3]]), vec![]]);
    let after = stage.places(0);
    assert_eq!(
        (after[1], after[4]),
        (before[4], before[1]),
        "the member that collects is free of the stripe"
    );
    assert_eq!(stage.sweep(), [], "it still collects");
    assert_eq!(stage.read(1..2), [before[4]], "it is read where it is, and nothing comes home");
    stage.collects(&[]);
    assert_eq!((stage.sweep(), stage.sweep()), (vec![before[1]], vec![]));
    // Now its new member collects, and it goes to the one that it came from.
    stage.collects(&[before[4].0]);
    stage.write(1..2);
    assert_eq!(stage.places(0)[1], before[1]);
    // And back: the copy that it has left there is written, so there is nothing to trim.
    stage.collects(&[before[1].0]);
    stage.write(1..2);
    stage.collects(&[]);
    assert_eq!(stage.sweep(), [before[1]]);
    let Counters { units_moved, parity_moved, trimmed, waits_several, finds_no_room } = stage.planner.own;
    assert_eq!((units_moved, parity_moved, trimmed, waits_several, finds_no_room), (3, 0, 2, 0, 0));
}

use super::Counters;

#[test]
fn what_was_never_written_is_not_read_and_in_no_parity() {
    let mut stage = Stage::empty(SmallWrite::Reconstruct, 5, 1);
    let places = stage.places(0);
    assert_eq!(stage.read(0..3), []);
    assert_eq!(
        stage.write(1..2),
        [vec![], sorted([places[1], places[3]]), vec![]],
        "parity is what it is of"
    );
    assert_eq!(stage.write(0..1), [vec![places[1]], sorted([places[0], places[3]]), vec![]]);
    assert_eq!(stage.read(0..3), sorted([places[0], places[1]]));
    stage.collects(&[places[0].0]);
    assert_eq!(stage.read(0..1), sorted([places[1], places[3]]), "unit 2 is zeros");
    // Unit 2 has no copy that it could leave behind.
    stage.collects(&[places[2].0]);
    stage.write(2..3);
    stage.collects(&[]);
    assert_eq!((stage.planner.map.member(0, 2).0, stage.sweep()), (places[4].0, vec![]));
}

#[test]
fn a_discard_takes_units_out_of_parity_and_with_the_last_of_them_parity() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1);
    let places = stage.places(0);
    assert_eq!(stage.discard(1..2), [sorted([places[0], places[2]]), vec![places[3]], vec![places[1]]]);
    assert_eq!(stage.discard(1..2), [vec![], vec![], vec![]], "it is gone");
    // Parity is in the way, and then what is discarded.
    stage.collects(&[places[3].0]);
    assert_eq!(stage.discard(0..1), [vec![places[2]], vec![places[4]], vec![places[0]]]);
    stage.collects(&[places[2].0]);
    assert_eq!(stage.discard(2..3), [vec![], vec![], vec![places[4]]], "the last unit waits to be trimmed");
    stage.collects(&[]);
    assert_eq!(stage.sweep(), sorted([places[2], places[3]]));
    assert_eq!(stage.planner.map.held(0), 0);
    // Half a page is not a page.
    assert_eq!(stage.run(Operation::Trim, 3 * PAGE + 512, PAGE), [vec![], vec![], vec![]]);
    assert_eq!(stage.planner.counters().trims_ignored_bytes, PAGE);
    // Of a page and two halves beside it the page is discarded.
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1);
    let around = stage.run(Operation::Trim, PAGE / 2, 2 * PAGE);
    assert_eq!(around, [sorted([places[0], places[2]]), vec![places[3]], vec![places[1]]]);
    assert_eq!(stage.planner.counters().trims_ignored_bytes, PAGE);
}

/// Its member collects: the others and parity say what the rest of it is.
#[test]
fn a_unit_that_is_written_in_part_is_written_whole() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1);
    let places = stage.places(0);
    let all = sorted([places[0], places[1], places[2]]);
    assert_eq!(stage.run(Operation::Write, 512, 512)[0], all);
    stage.collects(&[places[0].0]);
    let [read, written, _] = stage.run(Operation::Write, 512, 512);
    assert_eq!((read, written), (sorted([places[1], places[2], places[3]]), sorted([places[4], places[3]])));
    // Nothing has been written of it: the rest is zeros.
    let mut stage = Stage::empty(SmallWrite::Reconstruct, 5, 1);
    assert_eq!(stage.run(Operation::Write, 512, 512)[0], []);
}

#[test]
fn what_is_read_besides_and_how_parity_is_made_is_counted() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1);
    let places = stage.places(0);
    [0..1, 1..2, 0..3].into_iter().for_each(|units| drop(stage.write(units)));
    // Unit 1 cannot be read: the old unit 0 and parity are.
    stage.collects(&[places[1].0]);
    stage.write(0..1);
    let RedundancyCounters { pre_read_bytes, rows_full, rows_read_modify_write, .. } =
        stage.planner.counters();
    assert_eq!((pre_read_bytes / PAGE, rows_full, rows_read_modify_write), (2 + 2 + 2, 1, 1));
    assert_eq!(stage.planner.counters().rows_reconstruct_write, 2);
    // Units 0 and 2 and parity are read for unit 1; then unit 0 is wanted as well.
    stage.read(1..2);
    stage.read(0..2);
    let ReadCounters { rebuilt_pages, extra_pages, waited_pages, .. } = stage.planner.read_counters();
    assert_eq!((rebuilt_pages, extra_pages, waited_pages), (2, 3 + 2, 0));
    stage.collects(&[places[1].0, places[2].0]);
    stage.read(1..2);
    assert_eq!(stage.planner.read_counters().waited_pages, 1);
}

/// Operations go where they belong, and wait.
#[test]
fn where_two_members_of_a_row_collect_nothing_moves() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1);
    let places = stage.places(0);
    for collects in [[0, 1], [0, 3], [0, 4], [3, 4]] {
        stage.collects(&collects.map(|slot: usize| places[slot].0));
        stage.write(0..1);
        assert_eq!(stage.places(0), places, "{collects:?}");
    }
    assert_eq!(stage.planner.own.waits_several, 4);
    // Who is free of the row is in nobody's way.
    stage.collects(&[places[2].0, places[4].0]);
    assert_eq!(stage.read(2..3), sorted([places[0], places[1], places[3]]));
    stage.collects(&[places[2].0, places[3].0]);
    assert_eq!((stage.read(2..3), stage.planner.own.waits_several), (vec![places[2]], 5));
}

/// The promise is about one member that collects.
#[test]
fn nothing_is_promised_where_two_members_of_a_row_collect() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1);
    let places = stage.places(0);
    stage.collects(&[places[0].0, places[1].0]);
    stage.write(0..1);
    stage.read(0..1);
    assert_eq!(stage.planner.bound_counters(), BoundCounters::default());
    // Of what was never written nothing is read, and nothing is promised to be.
    let mut stage = Stage::empty(SmallWrite::Reconstruct, 5, 1);
    stage.write(0..1);
    let BoundCounters { promised, reached, most_pages_of_write, .. } = stage.planner.bound_counters();
    assert_eq!((promised, reached, most_pages_of_write), (1, 1, 2));
}

/// Units of three pages: each page moves with its row.
/// Five members, of whose parity the first is to have 60%, under `migration`.
fn shared(rows: u64, migration: Migration) -> Stage {
    let raid5 = Layout::new(Level::Raid5(Rotation::LeftSymmetric), 5, PAGE, PAGE, rows * PAGE);
    let mut stage = Stage::on(&raid5.sharing(&[60, 10, 10, 10, 10]), SmallWrite::Reconstruct);
    let placing = Placing { migration, imbalance: 0.01, ..Placing::default() };
    stage.planner = stage.planner.returning(placing);
    stage
}

/// How far any member is from its share of the parity, in rows.
fn off(stage: &Stage) -> u64 {
    let map = &stage.planner.map;
    let wanted = [60, 10, 10, 10, 10].map(|share| share * map.rows() / 100);
    let of = |(member, wanted): (u16, u64)| map.parity_rows(DeviceId(member)).abs_diff(wanted);
    (0..5).zip(wanted).map(of).max().unwrap_or_default()
}

#[test]
fn an_array_begins_with_parity_in_its_shares_and_rows_are_created_in_them() {
    let mut stage = shared(1_000, Migration::None);
    assert!(off(&stage) <= 1, "{}", off(&stage));
    // The first write of a row puts parity where too little is, and takes no operation besides.
    stage.collects(&[0]);
    for row in 0..300 {
        let [read, written, discarded] = stage.write(3 * row..3 * row + 3);
        assert_eq!((read.len(), written.len(), discarded.len()), (0, 4, 0));
    }
    let drifted = off(&stage);
    assert!(drifted > 100, "what is written while member 0 collects has its parity elsewhere: {drifted}");
    stage.collects(&[]);
    for row in 300..1_000 {
        let [read, written, discarded] = stage.write(3 * row..3 * row + 3);
        assert_eq!((read.len(), written.len(), discarded.len()), (0, 4, 0));
    }
    assert!(off(&stage) <= 10, "rows that are created make up for it: {} of {drifted}", off(&stage));
}

/// Whoever collects, and whatever is written meanwhile: in idle time shares come back to within a hundredth of all rows.
#[test]
fn parity_returns_to_its_shares_in_idle_time() {
    let rows = 1_000;
    for (migration, returns) in [(Migration::Back, true), (Migration::None, false)] {
        let mut stage = shared(rows, migration);
        stage.planner.begins_with(&|_, _| true);
        let (mut rng, mut most, mut moves) = (Rng::stream(1, "gaftl/floating/shares"), 0, 0);
        for turn in 0..200 {
            stage.collects(&[turn % 5]);
            for _ in 0..20 {
                let unit = rng.below(3 * rows);
                stage.write(unit..unit + 1);
            }
            stage.collects(&[]);
            while !stage.sweep().is_empty() {}
            while let Some(back) = stage.with(FloatingPlanner::next_return) {
                let (row, before) = (back.rows.first, off(&stage));
                let [on, free] = [3, 4].map(|slot| stage.planner.map.member(row, slot).0);
                let done = stage.carry_out(&back);
                assert_eq!(done, [vec![(on, row)], vec![(free, row)], vec![]], "one read, one write");
                assert!(off(&stage) <= before, "it does no harm");
                moves += 1;
                while !stage.sweep().is_empty() {}
            }
            most = most.max(off(&stage));
        }
        assert_eq!(
            (most <= rows / 100, moves > 100),
            (returns, returns),
            "off by {most} rows, {moves} moves"
        );
    }
}

#[test]
fn rows_of_a_unit_move_one_by_one() {
    let mut stage = Stage::full(SmallWrite::Fewest, 6, 3);
    let before: Vec<Vec<Place>> = (0..4).map(|row| stage.places(row)).collect();
    let member = before[0][2].0;
    assert_eq!([1, 2].map(|row| before[row][2].0), [member; 2], "a unit begins on one member");
    stage.collects(&[member]);
    // Unit 2 of stripe 0, its second page.
    stage.run(Operation::Write, 2 * 3 * PAGE + PAGE, PAGE);
    let after: Vec<Vec<Place>> = (0..4).map(|row| stage.places(row)).collect();
    assert_ne!(after[1][2], before[1][2]);
    assert_eq!([&after[0], &after[2], &after[3]], [&before[0], &before[2], &before[3]]);
    stage.collects(&[]);
    let unit = sorted([before[0][2], after[1][2], before[2][2]]);
    assert_eq!(sorted(stage.run(Operation::Read, 2 * 3 * PAGE, 3 * PAGE)[0].clone()), unit);
    // Bytes across pages are read as they are asked for.
    assert_eq!(stage.run(Operation::Read, 2 * 3 * PAGE + PAGE - 8, 16)[0].len(), 2);
}

#[test]
fn as_many_members_as_the_map_tells_apart() {
    let mut stage = Stage::full(SmallWrite::Fewest, MOST_MEMBERS, 1);
    let units = u64::from(MOST_MEMBERS) - 2;
    for turn in 0..200 {
        let row = turn % ROWS;
        let slot = (turn * 7 % (units + 1)) as usize;
        stage.collects(&[stage.places(row)[slot].0]);
        stage.write(row * units..(row + 1) * units);
        let members = sorted(stage.places(row)).into_iter().map(|place| place.0);
        assert!(members.eq(0..MOST_MEMBERS));
    }
    assert_eq!(each(stage.planner.map.held(3)).count() as u64, units + 1);
}
