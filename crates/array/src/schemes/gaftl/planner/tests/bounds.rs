//! Rows of all members, with and without a member in the way: which keep to the bound, which reach it, and which exceed it?

use harmonia_types::BoundCounters;

use super::*;

/// Promised, reached, exceeded.
fn judged(stage: &Stage) -> [u64; 3] {
    let BoundCounters { promised, reached, exceeded, .. } = stage.planner.bound_counters();
    [promised, reached, exceeded]
}

/// A stage of `members` members whose small writes reconstruct, as Algorithm 1 does.
fn reconstructing(level: Level, members: u16) -> Stage {
    Stage::preferring(SmallWrite::Reconstruct, level, members, (1, 64, 16))
}

/// Parity's member is left out by Algorithm 3, which says that it is easily added. Here all that is written goes to free stripes then,
/// `w (p + 1)` pages. The rule has `w + 2 p`, which is less if more than two units are written.
#[test]
fn every_row_of_the_tables_reaches_its_bound_but_where_parity_is_in_the_way() {
    let levels = [
        (Level::Raid4, 1, 3..=9),
        (Level::Raid5(Rotation::LeftSymmetric), 1, 3..=9),
        (Level::Raid6(Rotation::LeftSymmetric), 2, 4..=9),
    ];
    for (level, parities, counts) in levels {
        for members in counts {
            let units = u64::from(members) - parities;
            for (written, member) in (1..=units).flat_map(|w| (0..=members).map(move |member| (w, member))) {
                let mut stage = reconstructing(level, members);
                // The member behind the last is nobody.
                stage.collects(&[member].into_iter().filter(|&member| member < members).collect::<Vec<_>>());
                let is_parity = stage.planner.parities_of(0).contains(&member);
                stage.write(0..written);
                // Then nothing is read, and the rule has reads.
                let (pages, most) = (written * (1 + parities), written + 2 * parities);
                let reached = !is_parity || (written == units && pages == most);
                let expected = [1, u64::from(reached), u64::from(is_parity && pages > most)];
                assert_eq!(
                    judged(&stage),
                    expected,
                    "{level}, {members}, {written} units, {member} collects"
                );
            }
        }
    }
}

#[test]
fn a_read_takes_all_that_is_left_of_its_stripe_at_most() {
    for (level, parities) in
        [(Level::Raid5(Rotation::LeftSymmetric), 1), (Level::Raid6(Rotation::LeftSymmetric), 2)]
    {
        let mut stage = reconstructing(level, 6);
        let units = 6 - parities;
        let home = stage.planner.home_of(0, 0);
        stage.read(0);
        assert_eq!((judged(&stage), stage.planner.bound_counters().most_pages_of_read), ([1, 1, 0], 0));
        stage.collects(&[home]);
        stage.read(0);
        let most = stage.planner.bound_counters().most_pages_of_read;
        assert_eq!((judged(&stage), most), ([2, 2, 0], units), "{level}");
        // Displaced, it is read from its slot.
        stage.write(0..1);
        stage.read(0);
        assert_eq!(judged(&stage), [4, 4, 0], "{level}");
    }
}

/// What is displaced is not read for parity, so that such rows take less.
#[test]
fn rows_with_displaced_units_are_within_their_bound() {
    let mut stage = reconstructing(Level::Raid5(Rotation::LeftSymmetric), 5);
    stage.collects(&[1]);
    stage.write(1..2);
    assert_eq!(judged(&stage), [1, 1, 0]);
    for units in [1..2, 0..1, 0..3] {
        stage.write(units);
    }
    assert_eq!(judged(&stage)[2], 0);
    stage.collects(&[]);
    stage.write(0..2);
    assert_eq!((judged(&stage)[0], judged(&stage)[2]), (5, 0));
}

/// Unit 0 is rebuilt from 2, 3 and parity, 1 is read from its slot, and 2 is read for itself once more.
#[test]
fn a_read_that_rebuilds_a_unit_where_another_lies_elsewhere_reads_a_page_twice() {
    let mut stage = reconstructing(Level::Raid5(Rotation::LeftSymmetric), 5);
    stage.collects(&[1]);
    stage.write(1..2);
    stage.collects(&[0]);
    let [read, _] = stage.run(Operation::Read, 0, 3 * PAGE);
    assert_eq!((read.len(), read.iter().filter(|place| **place == (2, 0)).count()), (5, 2), "{read:?}");
    assert_eq!(judged(&stage), [2, 1, 1]);
}

#[test]
fn forced_stripes_take_their_parities_twice_and_parity_that_moves_costs_a_unit() {
    let forced = Placing { forces: true, ..placing(0) };
    for (level, members) in
        [(Level::Raid5(Rotation::LeftSymmetric), 5), (Level::Raid6(Rotation::LeftSymmetric), 6)]
    {
        let mut stage = reconstructing(level, members).placing(forced);
        stage.write(0..4);
        stage.collects(&[stage.planner.home_of(1, 0)]);
        stage.write(4..8);
        assert_eq!(judged(&stage), [2, 2, 0], "{level}");
    }
    // The oldest member's unit gives way: written or not.
    let away = Placing { migration: Migration::Away, ..placing(0) };
    for (units, exceeded) in [(0..1, 0), (1..2, 1)] {
        let mut stage = reconstructing(Level::Raid5(Rotation::LeftSymmetric), 5).placing(away);
        stage.collects(&[stage.planner.parity_of(0)]);
        stage.write(units.clone());
        assert_eq!(judged(&stage), [1, 1 - exceeded, exceeded], "{units:?}");
    }
}

#[test]
fn nothing_is_promised_beyond_the_condition() {
    let five = Level::Raid5(Rotation::LeftSymmetric);
    // Two members collect.
    let mut stage = reconstructing(five, 5);
    stage.collects(&[0, 1]);
    stage.write(0..1);
    // A part of a page.
    stage.collects(&[0]);
    stage.run(Operation::Write, 512, 512);
    assert_eq!(judged(&stage), [0, 0, 0]);
    // No stripe is free.
    let mut stage = Stage::preferring(SmallWrite::Reconstruct, five, 5, (1, 64, 1));
    stage.collects(&[4]);
    stage.write(0..4);
    assert_eq!(judged(&stage), [0, 0, 0]);
    // Small writes read what Algorithm 1 does not.
    let mut stage = Stage::preferring(SmallWrite::ReadModifyWrite, five, 5, (1, 64, 16));
    stage.write(0..1);
    assert_eq!(judged(&stage), [0, 0, 0]);
    // What comes home is no request's.
    let mut stage = reconstructing(five, 5);
    stage.collects(&[0]);
    stage.write(0..1);
    stage.collects(&[]);
    let home = stage.tidy().expect("one is away");
    stage.carry_out(&home);
    assert_eq!(judged(&stage), [1, 1, 0]);
}
