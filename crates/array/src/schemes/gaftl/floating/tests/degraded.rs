//! Members that are missing: literal counts of page operations on five members of RAID-5 and six of RAID-6, and what a
//! replacement is given.

use super::*;
use crate::health::Condition;
use crate::planner::{Answer, Kind, Refusal, Restores};

/// Five members of RAID-5 or six of RAID-6 of which all has been written: three units, the parities and the free member of row 0.
fn full(parities: u16) -> (Stage, Vec<Place>) {
    let rotation = Rotation::LeftSymmetric;
    let level = if parities == 1 { Level::Raid5(rotation) } else { Level::Raid6(rotation) };
    let mut stage = Stage::of(level, SmallWrite::Fewest, 4 + parities, 1);
    stage.planner.begins_with(&|_, _| true);
    let places = stage.places(0);
    (stage, places)
}

/// The members of these slots of row 0 have failed.
pub(super) fn failed(parities: u16, slots: &[usize]) -> (Stage, Vec<Place>) {
    let (mut stage, places) = full(parities);
    slots.iter().for_each(|&slot| stage.health.set(DeviceId(places[slot].0), Condition::Failed));
    (stage, places)
}

/// Reads unit 1, then writes it, then reads it again: the slots that are read, read and written, and read again. Slots are those
/// of the beginning.
fn of_unit_1(parities: u16, slots: &[usize]) -> [Vec<usize>; 4] {
    let (mut stage, places) = failed(parities, slots);
    let slots_of = |of: Vec<Place>| {
        let mut slots: Vec<usize> = of
            .iter()
            .map(|place| places.iter().position(|one| one == place).expect("a place of row 0"))
            .collect();
        slots.sort_unstable();
        slots
    };
    let before = slots_of(stage.read(1..2));
    let [read, written, discarded] = stage.write(1..2);
    assert_eq!(discarded, []);
    let after = slots_of(stage.read(1..2));
    assert_eq!(stage.planner.bound_counters().promised, 0, "nothing is promised while a member is missing");
    assert!(!stage.planner.left.has(|_| true), "a failed member keeps no copy");
    [before, slots_of(read), slots_of(written), after]
}

/// By hand, for three units: a lost unit is 3 reads; a write is 2 reads and 2 writes whatever has failed, as where nobody has,
/// unless what it needs is gone twice.
#[test]
fn counts_of_operations_on_five_members_of_raid_5_of_which_one_or_two_have_failed() {
    for (slots, expected) in [
        // Unit 1 goes to the free member, and is whole again.
        (&[1][..], [&[0, 2, 3][..], &[0, 2], &[3, 4], &[4]]),
        // Another unit: a read-modify-write.
        (&[0], [&[1], &[1, 3], &[1, 3], &[1]]),
        // Parity goes to the free member.
        (&[3], [&[1], &[0, 2], &[1, 4], &[1]]),
        (&[4], [&[1], &[0, 2], &[1, 3], &[1]]),
        // The free member has failed, too: parity makes up for the unit, or there is none.
        (&[1, 4], [&[0, 2, 3], &[0, 2], &[3], &[0, 2, 3]]),
        (&[3, 4], [&[1], &[], &[1], &[1]]),
        // Nothing says what unit 1 was. It is written on the free member, and no parity is left.
        (&[1, 3], [&[], &[], &[4], &[4]]),
    ] {
        assert_eq!(of_unit_1(1, slots), expected.map(<[usize]>::to_vec), "slots {slots:?} have failed");
    }
}

/// The same with P and Q, which say two units.
#[test]
fn counts_of_operations_on_six_members_of_raid_6_of_which_one_or_two_have_failed() {
    for (slots, expected) in [
        (&[1][..], [&[0, 2, 3][..], &[0, 2], &[3, 4, 5], &[5]]),
        // All other units and P are as few as unit 1, P and Q.
        (&[0], [&[1], &[1, 2, 3], &[1, 3, 4], &[1]]),
        (&[3], [&[1], &[0, 2], &[1, 4, 5], &[1]]),
        (&[4], [&[1], &[0, 2], &[1, 3, 5], &[1]]),
        (&[5], [&[1], &[0, 2], &[1, 3, 4], &[1]]),
        (&[1, 2], [&[0, 3, 4], &[0, 3, 4], &[3, 4, 5], &[5]]),
        (&[0, 2], [&[1], &[1, 3, 4], &[1, 3, 4], &[1]]),
        (&[1, 3], [&[0, 2, 4], &[0, 2], &[4, 5], &[5]]),
        (&[1, 5], [&[0, 2, 3], &[0, 2], &[3, 4], &[0, 2, 3]]),
        (&[3, 4], [&[1], &[0, 2], &[1, 5], &[1]]),
    ] {
        assert_eq!(of_unit_1(2, slots), expected.map(<[usize]>::to_vec), "slots {slots:?} have failed");
    }
}

/// Unit 1 is in the way of a write, and the member that would take it has failed: the write waits, and all stays where it is.
#[test]
fn nothing_moves_to_a_free_member_that_has_failed() {
    let (mut stage, places) = failed(1, &[4]);
    stage.collects(&[places[1].0]);
    assert_eq!(stage.write(1..2), [sorted([places[0], places[2]]), sorted([places[1], places[3]]), vec![]]);
    assert_eq!((stage.places(0), stage.planner.own.waits_several), (places, 1));
}

/// Unit 1 is in the way of a write, and what has taken the place of the free member is not rebuilt there: unit 1 would be missing.
#[test]
fn nothing_moves_to_a_replacement_that_is_not_rebuilt_there() {
    for parities in [1, 2] {
        let (mut stage, places) = full(parities);
        let free = DeviceId(places[usize::from(3 + parities)].0);
        stage.collects(&[places[1].0]);
        stage.health.set(free, Condition::Partial(0));
        stage.write(1..2);
        assert_eq!((&stage.places(0), stage.planner.own.waits_several), (&places, 1));
        // With another unit gone nothing moves either; when the replacement is rebuilt there, unit 1 does.
        stage.health.set(DeviceId(places[0].0), Condition::Failed);
        stage.write(1..2);
        assert_eq!(stage.places(0), places);
        stage.health.set(DeviceId(places[0].0), Condition::Partial(PAGE));
        stage.health.set(free, Condition::Partial(PAGE));
        stage.write(1..2);
        assert_eq!(stage.places(0)[1].0, free.0);
    }
}

/// Unit 0 has failed and nobody wants it: what is read around the collection of unit 1 is the cost of that.
#[test]
fn pages_read_around_collections_are_no_cost_of_failures() {
    let (mut stage, places) = failed(2, &[0]);
    stage.collects(&[places[1].0]);
    assert_eq!(stage.read(1..2), sorted([places[2], places[3], places[4]]));
    assert_eq!((stage.planner.reads.extra_pages, stage.planner.reads.rebuilt_pages), (3, 1));
    assert_eq!(stage.planner.loss_counters(), crate::planner::LossCounters::default());
    stage.read(0..2);
    assert_eq!((stage.planner.reads.extra_pages, stage.planner.loss_counters().extra_pages), (3, 3));
}

/// Unit 1 is in the way and has to be read: it is waited for, and written where it lies. If it is missing it goes to the free member,
/// which is waited for if that collects.
#[test]
fn what_is_waited_for_does_not_move_and_a_free_member_that_collects_is_waited_for() {
    let (mut stage, places) = failed(1, &[0]);
    stage.collects(&[places[1].0]);
    let around = sorted([places[1], places[3]]);
    assert_eq!(stage.write(1..2), [around.clone(), around, vec![]]);
    assert_eq!((stage.places(0), stage.planner.left.has(|_| true)), (places, false));
    assert_eq!(stage.planner.own.waits_several, 1);
    let (mut stage, places) = failed(1, &[1]);
    stage.collects(&[places[4].0]);
    assert_eq!(stage.write(1..2)[1], sorted([places[3], places[4]]));
    assert_eq!(stage.planner.own.waits_several, 1);
    // Nothing goes there: all stays in its place.
    let (mut stage, places) = failed(1, &[0]);
    stage.collects(&[places[4].0]);
    stage.write(1..2);
    assert_eq!(stage.planner.own.waits_several, 0);
}

#[test]
fn pages_that_nothing_makes_up_for_are_counted() {
    let (mut stage, places) = failed(1, &[0, 1]);
    assert_eq!(stage.read(0..3), [places[2]], "what is there is read");
    assert_eq!(stage.planner.loss_counters().unread_pages, 2);
    // Unit 1 in part: nobody knows the rest of it.
    assert_eq!(stage.run(Operation::Write, PAGE + 512, 512), [vec![], vec![], vec![]]);
    assert_eq!(stage.planner.loss_counters().unwritten_pages, 1);
    let (mut stage, _) = failed(1, &[0]);
    stage.read(0..3);
    let losses = stage.planner.loss_counters();
    assert_eq!((losses.rebuilt_pages, losses.extra_pages, losses.unread_pages), (1, 1, 0));
}

#[test]
fn units_are_discarded_while_a_member_is_missing() {
    // Unit 1 is on it: parity is made of the others, and there is nothing to discard.
    let (mut stage, places) = failed(1, &[1]);
    assert_eq!(stage.discard(1..2), [sorted([places[0], places[2]]), vec![places[3]], vec![]]);
    assert_eq!(stage.read(0..3), sorted([places[0], places[2]]));
    assert_eq!(stage.discard(0..3), [vec![], vec![], sorted([places[0], places[2], places[3]])]);
    // Another unit is.
    let (mut stage, places) = failed(1, &[0]);
    assert_eq!(stage.discard(1..2), [sorted([places[1], places[3]]), vec![places[3]], vec![places[1]]]);
    assert_eq!(stage.read(0..1), sorted([places[2], places[3]]));
    // Parity moves.
    let (mut stage, places) = failed(1, &[3]);
    assert_eq!(stage.discard(1..2), [sorted([places[0], places[2]]), vec![places[4]], vec![places[1]]]);
    // The parity cannot be made without it: it stays.
    let (mut stage, _) = failed(1, &[0, 2]);
    stage.health.set(DeviceId(stage.places(0)[3].0), Condition::Failed);
    stage.health.set(DeviceId(stage.places(0)[4].0), Condition::Partial(0));
    assert_eq!(stage.discard(1..2), [vec![], vec![], vec![]]);
    assert_eq!(stage.planner.counters().trims_ignored_bytes, PAGE);
}

/// Row by row: a unit, parity, and a row of which it holds nothing.
#[test]
fn a_replacement_is_given_what_its_rows_hold_now_and_what_else_it_holds_is_discarded() {
    let (mut stage, places) = failed(1, &[1]);
    let member = DeviceId(places[1].0);
    let row_of = |stage: &Stage, slot: usize| (0..ROWS).find(|&row| stage.places(row)[slot].0 == member.0);
    let [of_parity, of_hole] = [3, 4].map(|slot| row_of(&stage, slot).expect("slots turn over all members"));
    stage.health.set(member, Condition::Partial(0));
    let restore = |stage: &mut Stage, row: u64| {
        let step = stage.planner.restore(member, row * PAGE, PAGE).expect("there are such rows");
        stage.carry_out(&step)
    };
    assert_eq!(restore(&mut stage, 0), [sorted([places[0], places[2], places[3]]), vec![places[1]], vec![]]);
    let units = stage.places(of_parity)[..3].to_vec();
    assert_eq!(restore(&mut stage, of_parity), [sorted(units), vec![(member.0, of_parity)], vec![]]);
    assert_eq!(restore(&mut stage, of_hole), [vec![], vec![], vec![(member.0, of_hole)]]);
    // It is written, and read when it is built so far.
    let before = stage.places(0);
    assert_eq!(stage.write(1..2), [sorted([places[0], places[2]]), sorted([places[1], places[3]]), vec![]]);
    assert_eq!((stage.places(0), stage.read(1..2).len()), (before, 3));
    stage.health.set(member, Condition::Partial(PAGE));
    assert_eq!(stage.read(1..2), [places[1]]);
    // What has moved to another member while it was missing is not rebuilt.
    let (mut stage, places) = failed(1, &[1]);
    stage.write(1..2);
    stage.health.set(member, Condition::Partial(0));
    assert_eq!(restore(&mut stage, 0), [vec![], vec![], vec![places[1]]]);
    assert_eq!(stage.planner.loss_counters(), crate::planner::LossCounters::default());
    // Two members are missing: it cannot be rebuilt.
    let (mut stage, _) = failed(1, &[0, 1]);
    stage.health.set(member, Condition::Partial(0));
    assert_eq!(restore(&mut stage, 0), [vec![], vec![], vec![]]);
    assert_eq!(stage.planner.loss_counters().lost_pages, 1);
}

/// Nothing is in the place of the member of unit 1. A row is read as for a replacement, and written on the member that is free of it,
/// which is on none where that has failed as well.
#[test]
fn what_a_failed_member_held_is_rebuilt_on_the_members_that_are_free_of_its_rows() {
    let restore = |stage: &mut Stage, member: DeviceId, rows: u64| {
        let step = stage.planner.restore(member, 0, rows * PAGE).expect("there are such rows");
        stage.carry_out(&step)
    };
    let missing = |stage: &Stage, member| stage.planner.missing(member, 0, ROWS * PAGE);
    for parities in [1, 2] {
        let (mut stage, places) = failed(parities, &[1]);
        let (member, free) = (DeviceId(places[1].0), places[usize::from(3 + parities)]);
        let held = ROWS * (u64::from(parities) + 3) / (u64::from(parities) + 4);
        assert_eq!(missing(&stage, member), Some(held * PAGE));
        assert_eq!(
            restore(&mut stage, member, 1),
            [sorted([places[0], places[2], places[3]]), vec![free], vec![]]
        );
        assert_eq!((stage.places(0)[1], stage.read(1..2)), (free, vec![free]));
        assert_eq!(restore(&mut stage, member, 1), [vec![], vec![], vec![]], "it has been done");
        assert_eq!(missing(&stage, member), Some((held - 1) * PAGE));
        let [_, written, discarded] = restore(&mut stage, member, ROWS);
        assert_eq!((written.len() as u64, discarded.len(), missing(&stage, member)), (held - 1, 0, Some(0)));
        // It is no harm that another one fails, and there is no room for what that one held.
        let next = DeviceId(free.0);
        stage.health.set(next, Condition::Failed);
        assert_eq!(restore(&mut stage, next, ROWS), [vec![], vec![], vec![]]);
        assert_eq!(missing(&stage, next), Some(ROWS * PAGE), "each row has something on it now");
        (0..3 * ROWS).for_each(|unit| drop(stage.read(unit..unit + 1)));
        assert_eq!(stage.planner.loss_counters().unread_pages, 0);
        assert!(!stage.planner.left.has(|_| true));
    }
}

/// Unit 1 has left a copy on the member that is free now, and unit 0 is rebuilt there: it is not trimmed.
#[test]
fn what_is_rebuilt_where_a_copy_lies_stays() {
    let (mut stage, places) = full(1);
    stage.collects(&[places[1].0]);
    stage.write(1..2);
    assert!(stage.planner.left.lies_on(DeviceId(places[1].0), 0));
    let member = DeviceId(places[0].0);
    stage.health.set(member, Condition::Failed);
    let step = stage.planner.restore(member, 0, PAGE).expect("there is such a row");
    assert_eq!(stage.carry_out(&step)[1], [places[1]]);
    stage.collects(&[]);
    assert_eq!((stage.sweep(), stage.read(0..1)), (vec![], vec![places[1]]));
}

/// A replacement that holds nothing of the row yet would not keep it; when it is complete, it takes it.
#[test]
fn nothing_is_rebuilt_on_a_replacement_that_is_not_rebuilt_there() {
    let (mut stage, places) = failed(2, &[1]);
    let (member, free) = (DeviceId(places[1].0), places[5]);
    let step = stage.planner.restore(member, 0, PAGE).expect("there is such a row");
    stage.health.set(DeviceId(free.0), Condition::Partial(0));
    assert_eq!(stage.carry_out(&step), [vec![], vec![], vec![]]);
    stage.health.set(DeviceId(free.0), Condition::Partial(PAGE));
    assert_eq!(stage.carry_out(&step)[1], [free]);
}

/// Unit 1 has left a copy on a member that collected. That member fails: what takes its place holds none.
#[test]
fn a_replacement_holds_no_copy_of_what_has_moved() {
    let (mut stage, places) = full(1);
    let member = DeviceId(places[1].0);
    stage.collects(&[member.0]);
    stage.write(1..2);
    assert!(stage.planner.left.lies_on(member, 0));
    stage.health.set(member, Condition::Partial(0));
    let step = stage.planner.restore(member, 0, PAGE).expect("there are such rows");
    assert_eq!(stage.carry_out(&step), [vec![], vec![], vec![places[1]]]);
    stage.collects(&[]);
    assert_eq!(stage.sweep(), []);
}

/// Begins a write of unit 1, and refuses its read of unit 0 because that has failed.
fn meets_a_failure(stage: &mut Stage) -> (Transaction, PlannedOperation) {
    let place = stage.places(0)[0];
    let write = HostRequest::new(0, SimTime::ZERO, Operation::Write, PAGE, PAGE);
    let (mut split, mut plan) = (Vec::new(), Plan::default());
    stage.with(|planner, view| planner.split(&write, view, &mut split));
    stage.with(|planner, view| planner.plan(SimTime::ZERO, &split[0], view, &mut plan));
    stage.health.set(DeviceId(place.0), Condition::Failed);
    let read = *plan.operations().iter().find(|read| read.device.0 == place.0).expect("unit 0 is read");
    assert_eq!(refuse(stage, &split[0], &read), Answer::Replan(split[0].rows));
    (Transaction { attempt: 1, ..split[0] }, read)
}

fn refuse(stage: &mut Stage, of: &Transaction, operation: &PlannedOperation) -> Answer {
    let mut patch = Plan::default();
    let refusal = Refusal::Failed;
    let answer = stage
        .with(|planner, view| planner.on_refused(SimTime::ZERO, of, operation, refusal, view, &mut patch));
    assert!(patch.operations().is_empty());
    answer
}

/// A copy that was to be written over stays one that waits to be trimmed.
#[test]
fn what_a_plan_was_to_do_with_copies_is_taken_back() {
    let (mut stage, places) = full(1);
    stage.planner.may_fail = true;
    stage.collects(&[places[1].0]);
    stage.write(1..2);
    // Unit 1 was to go back to where it has left a copy. When the plan is made anew, nobody collects any more.
    stage.collects(&[places[4].0]);
    let (again, _) = meets_a_failure(&mut stage);
    let lies_on = |stage: &Stage, place: Place| stage.planner.left.lies_on(DeviceId(place.0), 0);
    assert_eq!((stage.places(0)[1], lies_on(&stage, places[1])), (places[1], false));
    stage.collects(&[]);
    let around = sorted([places[4], places[3]]);
    assert_eq!(stage.carry_out(&again), [around.clone(), around, vec![]]);
    assert_eq!((lies_on(&stage, places[1]), lies_on(&stage, places[4])), (true, false));
}

/// Unit 1 was to move, and the member of unit 0 fails before that is read: the plan is taken back, and made anew.
#[test]
fn a_plan_that_meets_a_failure_is_taken_back() {
    let (mut stage, places) = full(1);
    stage.planner.may_fail = true;
    stage.collects(&[places[1].0]);
    let (again, read) = meets_a_failure(&mut stage);
    // Unit 1 and parity, as they were: its member is waited for, and so unit 1 does not move.
    let around = sorted([places[1], places[3]]);
    assert_eq!(stage.carry_out(&again), [around.clone(), around, vec![]]);
    assert_eq!((stage.places(0), stage.planner.left.has(|_| true)), (places, false));
    // Who fails while it is written is done without.
    let write = PlannedOperation { operation: Operation::Write, ..read };
    assert_eq!(refuse(&mut stage, &again, &write), Answer::Patch);
}

/// Units of two rows of which another one is missing are being written when their member fails: nothing says them any more.
#[test]
fn units_that_a_failing_member_does_not_write_are_counted_unless_parity_says_them() {
    let unwritten = |slots: &[usize], failing: usize, kind: Kind| {
        let level = Level::Raid5(Rotation::LeftSymmetric);
        let mut stage = Stage::of(level, SmallWrite::Fewest, 5, 2);
        stage.planner.begins_with(&|_, _| true);
        let places = stage.places(0);
        slots.iter().for_each(|&slot| stage.health.set(DeviceId(places[slot].0), Condition::Failed));
        let request = HostRequest::new(0, SimTime::ZERO, Operation::Write, 2 * PAGE, 2 * PAGE);
        let (mut split, mut plan) = (Vec::new(), Plan::default());
        stage.with(|planner, view| planner.split(&request, view, &mut split));
        stage.with(|planner, view| planner.plan(SimTime::ZERO, &split[0], view, &mut plan));
        let device = DeviceId(places[failing].0);
        stage.health.set(device, Condition::Failed);
        let is_it = |of: &&PlannedOperation| (of.device, of.operation) == (device, Operation::Write);
        let write = *plan.operations().iter().find(is_it).expect("it is written");
        assert_eq!(write.length, 2 * PAGE);
        assert_eq!(refuse(&mut stage, &Transaction { kind, ..split[0] }, &write), Answer::Patch);
        stage.planner.loss_counters().unwritten_pages
    };
    assert_eq!(unwritten(&[0], 1, Kind::Plain), 2);
    assert_eq!(unwritten(&[0], 3, Kind::Plain), 0, "parity is no data");
    assert_eq!(unwritten(&[], 1, Kind::Plain), 0, "parity says it");
    assert_eq!(unwritten(&[4], 1, Kind::Plain), 0, "nothing of the row is on the free member");
    assert_eq!(unwritten(&[1], 4, Kind::Plain), 0, "it has moved, and parity says it");
    assert_eq!(unwritten(&[0], 1, Kind::Restore), 0, "a replacement is rebuilt again");
}
