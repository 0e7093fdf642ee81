//! Operation counts of rows whose parity moves, and of whole stripes that are written as two random writes. The tables are derived
//! in `migration` and `row`, before anything was measured.

use super::*;

const BACK: Placing = Placing {
    forces: false,
    migration: Migration::Back,
    imbalance: 0.0,
    stripes: Stripes::Rows,
    thin: false,
    oldest_first: false,
};
const FORCED: Placing = Placing { forces: true, migration: Migration::None, ..BACK };

/// Row 0 has its units 0 to 3 on members 0 to 3 and its parity on 4. All members have the same share: 0 is the oldest, 1 the
/// second oldest.
#[test]
fn parity_takes_the_place_of_a_unit_of_the_oldest() {
    for written in 1..=4_u64 {
        // With and without the unit that gives way, unit 0.
        for first in 0..=1 {
            if first + written > 4 {
                continue;
            }
            let mut stage = five().placing(BACK);
            stage.collects(&[4]);
            let [read, write] = stage.write(first..first + written);
            let gives_way = first == 0;
            let counts = (4 - written, written + if gives_way { 2 } else { 3 });
            assert_eq!(
                (read.len() as u64, write.len() as u64),
                counts,
                "units {first} on, {written} of them"
            );
            assert!(read.iter().chain(&write).all(|place| place.0 != 4), "{write:?}");
            assert_eq!(write.iter().filter(|place| place.1 == 32).count(), 2, "unit 0 and its parity");
            assert_eq!((stage.planner.parity_of(0), stage.planner.home_of(0, 0)), (0, 4));
            let counters = stage.planner.counters_of_migration();
            let copied = u64::from(!gives_way);
            assert_eq!(counters, [1, 0, copied, 1 + 2 * copied]);
        }
    }
}

#[test]
fn while_the_oldest_collects_its_parity_goes_to_the_second_oldest() {
    let mut stage = five().placing(BACK);
    stage.collects(&[0]);
    // Row 4: parity on 0, units 0 to 3 on 1 to 4.
    let [read, written] = stage.write(17..18);
    assert_eq!((read.len(), written.len()), (3, 4));
    assert_eq!((stage.planner.parity_of(4), stage.planner.home_of(4, 0)), (1, 0));
    // Nobody has parity in the way: mode 1.
    stage.write(0..1);
    assert_eq!(stage.planner.parity_of(0), 4);
}

#[test]
fn shares_say_who_is_the_oldest_unless_members_stand_by_age() {
    let whole =
        Layout::new(Level::Raid5(Rotation::default()), 5, PAGE, PAGE, 32 * PAGE).sharing(&[1, 1, 5, 2, 1]);
    let Layout::Parity(layout) = whole else { unreachable!("it has parity") };
    let ages = |placing| super::super::Migrating::new(&layout, 5, 32, placing).ages();
    assert_eq!(ages(BACK), [2, 3, 0, 1, 4]);
    assert_eq!(ages(Placing { oldest_first: true, ..BACK }), [0, 1, 2, 3, 4], "or the order of members does");
}

#[test]
fn a_row_returns_in_two_reads_and_two_writes() {
    let mut stage = five().placing(BACK);
    stage.collects(&[4]);
    stage.write(0..1);
    assert_eq!(stage.tidy(), None, "somebody collects");
    stage.collects(&[]);
    // A read of a row that has moved holds it.
    assert_eq!(stage.split(Operation::Read, PAGE, PAGE)[0].rows.count, 1);
    let home = stage.tidy().expect("unit 0 is displaced");
    let [read, written] = stage.carry_out(&home);
    // Its slot and parity, which does not have it; home is where parity was.
    assert_eq!((read.len(), written), (2, vec![(0, 0), (4, 0)]));
    assert_eq!(stage.read(0), [(4, 0)]);
    let back = stage.tidy().expect("parity is away");
    assert_eq!(stage.carry_out(&back), [(); 2].map(|()| vec![(0, 0), (4, 0)]));
    assert_eq!((stage.planner.parity_of(0), stage.planner.home_of(0, 0)), (4, 0));
    assert_eq!((stage.tidy(), stage.planner.imbalance()), (None, 0));
    assert_eq!(stage.planner.counters_of_migration(), [1, 1, 2, 3]);
    assert_eq!(stage.split(Operation::Read, PAGE, PAGE)[0].rows.count, 0, "it lies as the layout has it");
}

#[test]
fn rows_return_only_above_an_imbalance_and_under_back() {
    for (placing, returns) in [
        (BACK, true),
        // One of 32 rows.
        (Placing { imbalance: 0.03, ..BACK }, true),
        (Placing { imbalance: 0.04, ..BACK }, false),
        (Placing { migration: Migration::Away, ..BACK }, false),
    ] {
        let mut stage = five().placing(placing);
        stage.collects(&[4]);
        stage.write(0..1);
        stage.collects(&[]);
        let home = stage.tidy().expect("unit 0 is displaced");
        stage.carry_out(&home);
        assert_eq!(stage.tidy().is_some(), returns, "{placing:?}");
    }
}

#[test]
fn without_a_free_slot_parity_stays_and_waits() {
    let mut stage = Stage::new(Level::Raid5(Rotation::LeftSymmetric), 5, 1, 32, 1).placing(BACK);
    stage.collects(&[4]);
    stage.write(0..1);
    // Row 5 has parity on 4, too.
    assert_eq!(stage.write(20..21)[1], [(0, 5), (4, 5)]);
    assert_eq!((stage.planner.parity_of(5), stage.planner.displaced.counters.waits_full), (4, 1));
}

/// Parity gives way where a slot is left for what is needed, and needs none for a unit that lies in one.
#[test]
fn a_unit_that_gives_way_takes_one_slot_and_none_if_it_has_one() {
    let one_slot = || Stage::new(Level::Raid5(Rotation::LeftSymmetric), 5, 1, 32, 1).placing(BACK);
    for (unit, written) in [("written", 0..1), ("not written", 1..2)] {
        let mut stage = one_slot();
        stage.collects(&[4]);
        stage.write(written);
        let waits = stage.planner.displaced.counters.waits_full;
        assert_eq!((stage.planner.parity_of(0), waits), (0, 0), "a unit that is {unit}");
    }
    let mut stage = one_slot();
    stage.collects(&[0]);
    stage.write(0..1);
    stage.collects(&[4]);
    let [_, written] = stage.write(1..2);
    assert_eq!(written, [(0, 0), (1, 0)], "unit 0 stays in its slot");
    assert_eq!((stage.planner.parity_of(0), stage.planner.displaced.counters.waits_full), (0, 0));
    // What is not written needs a slot, too, where it lies at home: row 5 has parity on 4, and no slot is left.
    stage.write(21..22);
    assert_eq!((stage.planner.parity_of(5), stage.planner.displaced.counters.waits_full), (4, 1));
    // A write of several units needs a slot for each that goes away: two here, since nothing makes way for parity.
    let mut stage = Stage::new(Level::Raid5(Rotation::LeftSymmetric), 5, 1, 32, 1);
    stage.collects(&[4]);
    stage.write(0..2);
    assert_eq!(stage.planner.displaced.counters.waits_full, 1);
}

/// The steps of a plan as the members that it writes.
fn steps(stage: &mut Stage, units: u64) -> Vec<Vec<u16>> {
    let split = stage.split(Operation::Write, 0, units * PAGE);
    assert_eq!(split.len(), 1, "one lock");
    let plan = stage.plan(&split[0]);
    stage.planner.done(SimTime::ZERO, &split[0]);
    let of = |step: &[PlannedOperation]| {
        let mut members: Vec<u16> = step.iter().flat_map(rows_of).map(|place| place.0).collect();
        members.sort_unstable();
        members
    };
    plan.steps().map(of).collect()
}

/// Algorithm 4: a whole stripe of n - 1 units is n + 1 writes instead of n, in two steps, each with a parity.
#[test]
fn a_whole_stripe_is_forced_into_two_random_writes() {
    let mut usual = five();
    assert_eq!(steps(&mut usual, 4), [vec![0, 1, 2, 3, 4]]);
    let mut stage = five().placing(FORCED);
    assert_eq!(steps(&mut stage, 4), [vec![0, 1, 4], vec![2, 3, 4]]);
    assert_eq!(stage.planner.displaced.counters.forced, 1);
    // What does not write a whole stripe is no concern of it.
    assert_eq!(steps(&mut stage, 1).len(), 2);
    assert_eq!(stage.planner.displaced.counters.forced, 1);
    for members in 3..=8 {
        let mut stage = Stage::new(Level::Raid5(Rotation::default()), members, 1, 16, 4).placing(FORCED);
        let written = steps(&mut stage, u64::from(members) - 1);
        assert_eq!(written.concat().len(), usize::from(members) + 1, "{members} members");
    }
}

/// Overlap: with a member in the way a whole stripe is n + 1 writes, too, and no member holds two units of it.
#[test]
fn with_a_member_in_the_way_a_whole_stripe_takes_as_many_writes() {
    for (collects, migration) in
        (0..5).flat_map(|member| [(member, Migration::None), (member, Migration::Away)])
    {
        let mut stage = five().placing(Placing { migration, ..FORCED });
        stage.collects(&[collects]);
        let [read, written] = stage.write(0..4);
        // Parity's member collects and nothing may move: all four units go to slots.
        let writes = if collects == 4 && migration == Migration::None { 8 } else { 6 };
        assert_eq!((read.len(), written.len()), (0, writes), "{collects} {migration:?}");
        assert!(written.iter().all(|place| place.0 != collects));
        assert_eq!(stage.planner.displaced.counters.forced, 0);
        let at_home = written.iter().filter(|place| place.1 == 0).map(|place| place.0);
        assert_eq!(at_home.clone().count(), at_home.collect::<std::collections::BTreeSet<_>>().len());
    }
}
