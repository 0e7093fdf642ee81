//! RAID-6: operation counts of every case of the table in `gaftl::dual`, derived there before anything was measured, and histories.

use super::array::histories;
use super::drawn::Befall;
use super::model::history;
use super::*;
use harmonia_engine::Rng;

/// Six members, units of a page. Stripe 0 has P on member 5, Q on 0, and its units 0 to 3 on members 1 to 4. The reserve begins at
/// row 32.
fn six() -> Stage {
    Stage::new(Level::Raid6(Rotation::LeftSymmetric), 6, 1, 32, 4)
}

/// Places of row 0 by member.
fn at_home<const N: usize>(members: [u16; N]) -> Vec<(u16, u64)> {
    members.map(|member| (member, 0)).to_vec()
}

fn slots(written: &[(u16, u64)]) -> Vec<(u16, u64)> {
    written.iter().copied().filter(|place| place.1 >= 32).collect()
}

#[test]
fn a_write_that_nobody_is_in_the_way_of_writes_both_parities() {
    let mut stage = six();
    assert_eq!(stage.planner.parities_of(0), [5, 0]);
    assert_eq!((0..4).map(|unit| stage.planner.home_of(0, unit)).collect::<Vec<_>>(), [1, 2, 3, 4]);
    // Read-modify-write and reconstruct-write of one unit read as many, and md takes the latter.
    assert_eq!(stage.write(0..1), [at_home([2, 3, 4]), at_home([0, 1, 5])]);
    assert_eq!(stage.write(0..4), [vec![], at_home([0, 1, 2, 3, 4, 5])]);
}

/// `n - 2 - w` reads and `w + 4` writes.
#[test]
fn a_unit_whose_member_collects_goes_to_three_others_and_out_of_both_parities() {
    for (written, reads, writes) in [(1, 3, 5), (2, 2, 6), (3, 1, 7), (4, 0, 8)] {
        let mut stage = six();
        stage.collects(&[1]);
        let [read, write] = stage.write(0..written);
        assert_eq!((read.len(), write.len()), (reads, writes), "{written} units");
        assert!(read.iter().chain(&write).all(|place| place.0 != 1), "{written} units: {write:?}");
        assert_eq!(slots(&write).len(), 3, "{write:?}");
        assert!(write.contains(&(0, 0)) && write.contains(&(5, 0)), "P and Q: {write:?}");
        let copy = stage.planner.displaced.of(0, 0).expect("it is displaced");
        assert!(!copy.in_parity && !copy.leaves);
    }
}

/// 0 reads and 3 writes while it is in the way, and 3 of each to bring it home.
#[test]
fn a_dropped_unit_is_written_in_its_slot_and_comes_home() {
    let mut stage = six();
    stage.collects(&[1]);
    let before = stage.write(0..1)[1].clone();
    assert_eq!(stage.write(0..1), [vec![], slots(&before)]);
    stage.collects(&[]);
    let home = stage.tidy().expect("one is away");
    let [read, written] = stage.carry_out(&home);
    assert_eq!((read.len(), slots(&read).len(), written), (3, 1, at_home([0, 1, 5])));
    assert_eq!(stage.planner.displaced.taken(), 0);
    // A write brings it home, too: P and Q are read, and nothing that they do not have.
    stage.collects(&[1]);
    stage.write(0..1);
    stage.collects(&[]);
    assert_eq!(stage.write(0..1), [at_home([0, 5]), at_home([0, 1, 5])]);
}

/// `w + 2` reads and writes, whatever is preferred.
#[test]
fn a_unit_that_collects_and_is_not_written_is_left_out_by_read_modify_write() {
    for small_write in [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct] {
        for written in 1..=3 {
            let six = Level::Raid6(Rotation::LeftSymmetric);
            let mut stage = Stage::preferring(small_write, six, 6, (1, 32, 4));
            stage.collects(&[4]);
            let expected: Vec<(u16, u64)> = match written {
                1 => at_home([0, 1, 5]),
                2 => at_home([0, 1, 2, 5]),
                _ => at_home([0, 1, 2, 3, 5]),
            };
            assert_eq!(stage.write(0..written), [expected.clone(), expected], "{small_write:?}");
        }
    }
}

/// 0 reads and `3 w` writes. Both parities have the old copies; 4 reads and 3 writes bring one of them home.
#[test]
fn with_p_or_q_in_the_way_all_units_are_displaced_and_the_stripe_stays() {
    for parity in [5, 0] {
        for written in 1..=4 {
            let mut stage = six();
            stage.collects(&[parity]);
            let [read, write] = stage.write(0..written);
            assert_eq!((read.len(), write.len()), (0, 3 * written as usize));
            assert!(write.iter().all(|place| place.0 != parity && place.1 >= 32), "{write:?}");
            let is_in_parity = |unit| stage.planner.displaced.of(0, unit).is_some_and(|copy| copy.in_parity);
            assert!((0..written as u16).all(is_in_parity));
            stage.collects(&[]);
            let home = stage.tidy().expect("units are away");
            let [read, write] = stage.carry_out(&home);
            assert_eq!((read.len(), slots(&read).len(), write), (4, 1, at_home([0, 1, 5])));
        }
    }
}

#[test]
fn a_unit_is_rebuilt_from_what_both_parities_have_and_no_more_than_is_needed() {
    let mut stage = six();
    stage.collects(&[5]);
    stage.write(0..1);
    // Unit 1 is rebuilt with the old copy of unit 0, which P has.
    for (collects, read) in [
        (&[2][..], at_home([1, 3, 4, 5])),
        // Two members: P and Q.
        (&[2, 3], at_home([0, 1, 4, 5])),
        // P collects, too: Q takes its place.
        (&[2, 5], at_home([0, 1, 3, 4])),
        (&[2, 0], at_home([1, 3, 4, 5])),
        // Too many: it waits.
        (&[2, 3, 5], at_home([2])),
    ] {
        stage.collects(collects);
        assert_eq!(stage.read(1), read, "{collects:?}");
    }
    assert_eq!(stage.planner.reads.waited_pages, 1);
    // Once it is dropped neither parity has it.
    stage.collects(&[1]);
    stage.write(0..1);
    stage.collects(&[2]);
    stage.write(2..3);
    assert_eq!(stage.read(1), at_home([3, 4, 5]));
}

/// `n + 2` writes instead of `n`, in two steps that both have P and Q.
#[test]
fn a_whole_stripe_is_forced_into_two_random_writes() {
    let mut stage = six().placing(Placing { forces: true, ..Placing::default() });
    let split = stage.split(Operation::Write, 0, 4 * PAGE);
    let plan = stage.plan(&split[0]);
    stage.planner.done(SimTime::ZERO, &split[0]);
    let of = |step: &[PlannedOperation]| {
        let mut members: Vec<u16> = step.iter().flat_map(rows_of).map(|place| place.0).collect();
        members.sort_unstable();
        members
    };
    assert_eq!(plan.steps().map(of).collect::<Vec<_>>(), [vec![0, 1, 2, 5], vec![0, 3, 4, 5]]);
}

/// One collects, the other three hold the slot: there is no array of RAID-6 with fewer members.
#[test]
fn four_members_are_enough() {
    for collects in 0..4 {
        let mut stage = Stage::new(Level::Raid6(Rotation::LeftSymmetric), 4, 1, 32, 4);
        stage.collects(&[collects]);
        let [_, written] = stage.write(0..2);
        assert!(written.iter().all(|place| place.0 != collects), "{written:?}");
        assert!(slots(&written).len().is_multiple_of(3), "{written:?}");
    }
}

#[test]
fn with_all_slots_taken_a_write_goes_home_and_waits() {
    let mut stage = six();
    stage.collects(&[5]);
    assert_eq!(stage.write(0..4)[1].len(), 12);
    // Stripe 1: P on member 4, Q on 5, units on 0 to 3.
    assert_eq!(stage.write(4..5)[1], [(0, 1), (4, 1), (5, 1)]);
    let counters = stage.planner.displaced.counters;
    assert_eq!((counters.displaced, counters.waits_full, counters.high_water), (4, 1, 4));
}

/// Plans on symbolic contents: both parities have what the store says after each transaction, and any two members can be lost.
#[test]
fn both_parities_have_what_the_store_says_and_any_two_members_may_go() {
    let (mut displaced, mut full, mut idle, mut home, mut forced) = (0, 0, 0, 0, 0);
    for seed in 0..120 {
        let mut rng = Rng::stream(seed, "gaftl/dual");
        let level = Level::Raid6(Rotation::ALL[rng.below(6) as usize]);
        let small_write =
            [SmallWrite::Fewest, SmallWrite::ReadModifyWrite, SmallWrite::Reconstruct][rng.below(3) as usize];
        let shape = (1 + rng.below(3), 4, 1 + rng.below(8));
        let members = 4 + rng.below(4) as u16;
        let placing = Placing { migration: Migration::None, ..placing(seed) };
        let stage = Stage::preferring(small_write, level, members, shape).placing(placing);
        let counters = history(stage, seed).planner.displaced.counters;
        forced += counters.forced;
        displaced += counters.displaced;
        full += counters.waits_full;
        idle += counters.home_in_idle;
        home += counters.home_by_write;
    }
    assert!(displaced > 500 && full > 50 && idle > 50 && home > 50, "{displaced} {full} {idle} {home}");
    assert!(forced > 25, "{forced}");
}

#[test]
fn contents_are_right_on_whole_arrays_with_two_parities() {
    histories(Befall::Nothing, true, 0..12, [5_000, 1_000, 0, 0, 0]);
}

/// Every pair of members of arrays of four to six.
#[test]
#[ignore = "long: make simulations"]
fn contents_are_right_while_two_members_are_missing() {
    histories(Befall::Pairs, true, 0..90, [40_000, 3_000, 0, 0, 0]);
}

#[test]
fn contents_are_right_with_two_parities_while_pages_cannot_be_read_with_all_members_or_one_missing() {
    histories(Befall::FailuresAndPageErrors, true, 0..20, [8_000, 500, 0, 0, 0]);
    histories(Befall::PageErrors, true, 0..10, [4_000, 800, 0, 0, 0]);
}

/// The long form: `make histories`.
#[test]
#[ignore = "takes minutes: make histories"]
fn contents_are_right_with_two_parities_in_many_histories() {
    histories(Befall::Pairs, true, 90..1_800, [0; 5]);
    histories(Befall::FailuresAndPageErrors, true, 20..400, [0; 5]);
    histories(Befall::PageErrors, true, 10..400, [0; 5]);
}
