//! RAID-6: counts of operations of every case of the table in `row`, derived before anything was measured, and literal plans.

use std::ops::Range;

use super::*;

const RAID6: Level = Level::Raid6(Rotation::LeftSymmetric);

/// All that so many members can hold has been written.
fn full(small_write: SmallWrite, members: u16) -> Stage {
    let mut stage = Stage::of(RAID6, small_write, members, 1);
    stage.planner.begins_with(&|_, _| true);
    stage
}

/// Six members: units 0 to 2, P, Q and the free member of row 0.
fn six() -> (Stage, Vec<Place>) {
    let stage = full(SmallWrite::Reconstruct, 6);
    let places = stage.places(0);
    (stage, places)
}

/// What is in the way of a write.
struct Way {
    /// Slots that are written: units and parities.
    written: u64,
    /// Units that are not written.
    others: u64,
    /// The free member.
    free: bool,
}

impl Way {
    /// Of a stripe with so many units, these slots are blocked.
    fn of(blocked: &[u64], units: u64, changed: &Range<u64>) -> Way {
        let count = |is: &dyn Fn(u64) -> bool| blocked.iter().filter(|&&slot| is(slot)).count() as u64;
        Way {
            written: count(&|slot| changed.contains(&slot) || slot == units || slot == units + 1),
            others: count(&|slot| slot < units && !changed.contains(&slot)),
            free: blocked.contains(&(units + 2)),
        }
    }

    /// What is read then; `None` if the write waits.
    fn reads(&self, units: u64, written: u64, small_write: SmallWrite) -> Option<u64> {
        let (anew, modify) = (units - written, written + 2);
        match *self {
            Way { written: 2.., .. } | Way { written: 1, free: true, .. } => None,
            Way { written: 1, others: 1, .. } => Some(units),
            Way { written: 1, .. } => Some(anew),
            Way { others: 1.., .. } if small_write == SmallWrite::ReadModifyWrite => Some(modify),
            Way { others: 1.., .. } => Some(modify.min(units)),
            _ if small_write == SmallWrite::Fewest => Some(anew.min(modify)),
            _ if small_write == SmallWrite::ReadModifyWrite && anew > 0 => Some(modify),
            _ => Some(anew),
        }
    }
}

/// Carries out a write of these units while these slots are blocked, and holds it against the table. Whether it goes around them.
fn holds(mut stage: Stage, blocked: &[u64], changed: &Range<u64>, small_write: SmallWrite) -> bool {
    let units = u64::from(stage.planner.members) - 3;
    let written = changed.end - changed.start;
    let way = Way::of(blocked, units, changed);
    let before = stage.places(0);
    let collects: Vec<u16> = blocked.iter().map(|&slot| before[slot as usize].0).collect();
    stage.collects(&collects);
    let [read, write, discarded] = stage.write(changed.clone());
    let case = format!("{units} units, {changed:?} are written, {blocked:?} are blocked, {small_write:?}");
    assert_eq!((write.len() as u64, discarded.len()), (written + 2, 0), "{case}");
    let after = stage.places(0);
    let held = (changed.start..changed.end).chain([units, units + 1]);
    assert_eq!(write, sorted(held.map(|slot| after[slot as usize])), "{case}: written where the map says");
    let bounds = stage.planner.bound_counters();
    assert_eq!(bounds.exceeded, 0, "{case}");
    let Some(reads) = way.reads(units, written, small_write) else {
        assert_eq!((stage.planner.own.waits_several, bounds.promised), (1, 0), "{case}");
        assert_eq!(after, before, "{case}: nothing moves");
        return false;
    };
    assert_eq!((read.len() as u64, stage.planner.own.waits_several), (reads, 0), "{case}");
    let is_blocked = |place: &Place| collects.contains(&place.0);
    assert!(!read.iter().chain(&write).any(is_blocked), "{case}");
    let in_the_way = |slot: &u64| changed.contains(slot) || *slot == units || *slot == units + 1;
    let moved = blocked.iter().copied().find(in_the_way).unwrap_or(units + 2);
    assert_eq!(
        after.last(),
        Some(&before[moved as usize]),
        "{case}: who is in the way is free of the stripe"
    );
    let is_judged = small_write != SmallWrite::ReadModifyWrite && way.written + way.others <= 1;
    assert_eq!(bounds.promised, u64::from(is_judged), "{case}");
    true
}

/// A stripe has `u = n - 3` units, and `w` of them are written.
///
/// * Made anew, P and Q need the `u - w` others. `w` units and both parities are written: `w + 2`. If the member of one of these
///   collects, only the place of that write is another one.
/// * If a unit that is not written is in the way, old data and both parities say the same: `w + 2` reads. So do the `u - 1` other
///   units and P: `u` reads. The fewer are read.
/// * If something that is written is in the way and a unit that is not: what is left has `u + 2` places of which two cannot be read, so
///   `u` reads say all.
/// * Two units that are not written: `w + 2`, or `u`.
/// * What two parities cannot say, or the one free member cannot take, waits.
#[test]
fn counts_of_operations_are_as_derived_for_5_to_9_members() {
    let (mut cases, mut waits) = (0, 0);
    let ways = [SmallWrite::Reconstruct, SmallWrite::Fewest, SmallWrite::ReadModifyWrite];
    for (members, small_write) in (5..=9_u16).flat_map(|members| ways.map(|way| (members, way))) {
        let (units, slots) = (u64::from(members) - 3, u64::from(members));
        let stage = full(small_write, members);
        let pairs = (0..slots).flat_map(|one| (one + 1..slots).map(move |other| vec![one, other]));
        for blocked in pairs.chain((0..slots).map(|one| vec![one])).chain([vec![]]) {
            for (first, end) in (0..units).flat_map(|first| (first + 1..=units).map(move |end| (first, end)))
            {
                let goes_around = holds(stage.clone(), &blocked, &(first..end), small_write);
                cases += 1;
                waits += u64::from(!goes_around);
            }
        }
    }
    // By hand: (n + 1) n / 2 + 1 sets of blocked members, (n - 3) (n - 2) / 2 ranges of units, three ways.
    let all = (5..=9_u64).map(|n| 3 * ((n + 1) * n / 2 + 1) * ((n - 3) * (n - 2) / 2)).sum::<u64>();
    // Any two of what is written and the free member.
    let of_range = |w: u64| (w + 3) * (w + 2) / 2;
    let waiting = |n: u64| 3 * (1..=n - 3).map(|w| of_range(w) * (n - 2 - w)).sum::<u64>();
    assert_eq!((cases, waits), (all, (5..=9).map(waiting).sum()));
}

/// Table of literal numbers for five to nine members: one unit and all but one are written, with nobody in the way, P, and a unit that is
/// not written.
#[test]
fn reads_of_the_table_for_5_to_9_members() {
    let reads = |members: u16, written: u64, blocked: Option<usize>| {
        let mut stage = full(SmallWrite::Fewest, members);
        let places = stage.places(0);
        stage.collects(&blocked.map(|slot| places[slot].0).into_iter().collect::<Vec<_>>());
        stage.write(0..written)[0].len()
    };
    for (members, one, most) in [
        (5, [1, 1, 2], [1, 1, 2]),
        (6, [2, 2, 3], [1, 1, 3]),
        (7, [3, 3, 3], [1, 1, 4]),
        (8, [3, 4, 3], [1, 1, 5]),
        (9, [3, 5, 3], [1, 1, 6]),
    ] {
        let units = usize::from(members) - 3;
        let of = |written| [None, Some(units), Some(units - 1)].map(|slot| reads(members, written, slot));
        assert_eq!((of(1), of(units as u64 - 1)), (one, most), "{members} members");
    }
}

/// A unit, then P, then Q: each stays where it went, and leaves a copy that is trimmed.
#[test]
fn a_unit_p_or_q_in_the_way_goes_to_the_free_member_and_stays() {
    for slot in [1, 3, 4] {
        let (mut stage, places) = six();
        stage.collects(&[places[slot].0]);
        let mut written = [places[1], places[3], places[4]];
        *written.iter_mut().find(|place| **place == places[slot]).expect("it is written") = places[5];
        assert_eq!(stage.write(1..2), [sorted([places[0], places[2]]), sorted(written), vec![]]);
        assert_eq!((stage.places(0)[slot], stage.places(0)[5]), (places[5], places[slot]));
        assert_eq!(stage.sweep(), [], "it still collects");
        stage.collects(&[]);
        assert_eq!((stage.sweep(), stage.sweep()), (vec![places[slot]], vec![]));
        assert_eq!(stage.read(1..2), [if slot == 1 { places[5] } else { places[1] }]);
        let super::Counters { units_moved, parity_moved, trimmed, .. } = stage.planner.own;
        assert_eq!((units_moved, parity_moved, trimmed), (u64::from(slot == 1), u64::from(slot > 1), 1));
    }
}

#[test]
fn reads_go_around_two_members_of_a_row_and_wait_for_three() {
    let (mut stage, places) = six();
    for (collects, read) in [
        (&[0][..], [1, 2, 3]),
        // P says what unit 0 holds if it can be read, and Q otherwise.
        (&[0, 4], [1, 2, 3]),
        (&[0, 3], [1, 2, 4]),
        (&[0, 1], [2, 3, 4]),
        // Who is free of the row is in nobody's way.
        (&[0, 2, 5], [1, 3, 4]),
    ] {
        stage.collects(&collects.iter().map(|&slot: &usize| places[slot].0).collect::<Vec<_>>());
        assert_eq!(stage.read(0..1), sorted(read.map(|slot| places[slot])), "{collects:?}");
    }
    // Both of two units.
    stage.collects(&[places[0].0, places[1].0]);
    assert_eq!(stage.read(0..2), sorted([2, 3, 4].map(|slot: usize| places[slot])));
    assert_eq!((stage.planner.reads.rebuilt_pages, stage.planner.own.waits_several), (7, 0));
    for collects in [[0, 1, 2], [0, 1, 3], [0, 3, 4]] {
        stage.collects(&collects.map(|slot: usize| places[slot].0));
        assert_eq!(stage.read(0..1), [places[0]], "{collects:?}");
    }
    assert_eq!(stage.planner.own.waits_several, 3);
    // Only a read that one member is in the way of is promised anything: the first of all these.
    let BoundCounters { promised, reached, most_pages_of_read, .. } = stage.planner.bound_counters();
    assert_eq!((promised, reached, most_pages_of_read), (1, 1, 3));
}

#[test]
fn a_discard_takes_units_out_of_both_parities_and_with_the_last_of_them_both() {
    let (mut stage, places) = six();
    let parities = [places[3], places[4]];
    assert_eq!(stage.discard(1..2), [sorted([places[0], places[2]]), sorted(parities), vec![places[1]]]);
    // Q is in the way.
    stage.collects(&[places[4].0]);
    assert_eq!(stage.discard(0..1), [vec![places[2]], sorted([places[3], places[5]]), vec![places[0]]]);
    stage.collects(&[places[2].0]);
    assert_eq!(
        stage.discard(2..3),
        [vec![], vec![], sorted([places[3], places[5]])],
        "the last unit waits to be trimmed"
    );
    stage.collects(&[]);
    assert_eq!(stage.sweep(), sorted([places[2], places[4]]));
    assert_eq!(stage.planner.map.held(0), 0);
}

/// A unit that stays is in the way of a discard, and so is what goes, or a parity.
#[test]
fn a_discard_goes_around_two_members_or_waits() {
    for (collects, read, written) in [
        // Old data and both parities.
        (&[2][..], Some(&[0, 3, 4][..]), [3, 4]),
        // What goes cannot be read, and what stays neither: P and Q say it.
        (&[0, 2], Some(&[1, 3, 4]), [3, 4]),
        // P moves, and Q says what stays.
        (&[2, 3], Some(&[0, 1, 4]), [5, 4]),
        (&[3, 4], None, [3, 4]),
        (&[3, 5], None, [3, 4]),
    ] {
        let (mut stage, places) = six();
        stage.collects(&collects.iter().map(|&slot: &usize| places[slot].0).collect::<Vec<_>>());
        let [reads, writes, _] = stage.discard(0..1);
        assert_eq!(stage.planner.own.waits_several, u64::from(read.is_none()), "{collects:?}");
        assert_eq!(writes, sorted(written.map(|slot: usize| places[slot])), "{collects:?}");
        if let Some(read) = read {
            assert_eq!(reads, sorted(read.iter().map(|&slot| places[slot])), "{collects:?}");
        }
    }
}

/// Its member collects: the other units and P say what the rest of it is, or Q if P cannot be read.
#[test]
fn a_unit_that_is_written_in_part_is_written_whole() {
    for (collects, read, written) in [
        (&[][..], &[0, 1, 2][..], Some([0, 3, 4])),
        (&[0], &[1, 2, 3], Some([5, 3, 4])),
        (&[0, 2], &[1, 3, 4], Some([5, 3, 4])),
        (&[3, 1], &[0, 2, 4], Some([0, 5, 4])),
        (&[0, 3], &[0, 1, 2], None),
    ] {
        let (mut stage, places) = six();
        stage.collects(&collects.iter().map(|&slot: &usize| places[slot].0).collect::<Vec<_>>());
        let [reads, writes, _] = stage.run(Operation::Write, 512, 512);
        assert_eq!(reads, sorted(read.iter().map(|&slot: &usize| places[slot])), "{collects:?}");
        let expected = written.unwrap_or([0, 3, 4]).map(|slot: usize| places[slot]);
        assert_eq!(writes, sorted(expected), "{collects:?}");
        assert_eq!(stage.planner.own.waits_several, u64::from(written.is_none()), "{collects:?}");
    }
}

#[test]
fn as_many_members_as_the_map_tells_apart_with_two_parities() {
    let mut stage = full(SmallWrite::Fewest, MOST_MEMBERS);
    let units = u64::from(MOST_MEMBERS) - 3;
    for turn in 0..200 {
        let row = turn % ROWS;
        let slot = (turn * 7 % (units + 2)) as usize;
        stage.collects(&[stage.places(row)[slot].0]);
        stage.write(row * units..(row + 1) * units);
        let members = sorted(stage.places(row)).into_iter().map(|place| place.0);
        assert!(members.eq(0..MOST_MEMBERS));
    }
    assert_eq!(each(stage.planner.map.held(3)).count() as u64, units + 2);
    assert_eq!(stage.planner.own.units_moved + stage.planner.own.parity_moved, 200);
}
