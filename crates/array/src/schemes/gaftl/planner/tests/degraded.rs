//! Literal plans of what is rebuilt of rows that lie away from home, and what is counted where that cannot be done.

use super::*;
use crate::planner::{LossCounters, Restores};

/// Unit 1 of row 0 lies in the first slot on two members. Parity goes on without it.
fn displaced() -> (Stage, [DeviceId; 2]) {
    let mut stage = five();
    stage.collects(&[1]);
    stage.write(1..2);
    stage.collects(&[]);
    let on = stage.planner.displaced.of(0, 1).expect("it is displaced").on;
    (stage, [on[0], on[1]])
}

impl Stage {
    /// Rebuilds row 0 of a member with its slots, while these members are missing: what is read, what is written.
    fn rebuild(&mut self, member: u16, missing: &[u16]) -> [Vec<(u16, u64)>; 2] {
        self.health.set(DeviceId(member), Condition::Partial(0));
        missing.iter().for_each(|&other| self.health.set(DeviceId(other), Condition::Failed));
        let step = self.planner.restore(DeviceId(member), 0, PAGE).expect("there are such rows");
        self.carry_out(&step)
    }

    fn lost(&self) -> LossCounters {
        self.planner.loss_counters()
    }
}

/// Units 0, 2 and 3 and parity make up for one another.
#[test]
fn a_row_is_lost_that_lacks_two_of_those_which_parity_has_and_counted_once() {
    for (member, other) in [(0, 2), (2, 3), (4, 0)] {
        let (mut stage, on) = displaced();
        let has_copy = on.contains(&DeviceId(member));
        let [read, written] = stage.rebuild(member, &[]);
        assert_eq!(read.iter().filter(|place| place.1 == 0).count(), 3, "of member {member}");
        assert_eq!(written.len(), 1 + usize::from(has_copy), "of member {member}");
        assert_eq!(stage.lost(), LossCounters::default());
        // Now another one of them is missing, too. The slot has two copies, of which one is left at least.
        let (mut stage, on) = displaced();
        let is_slot_lost = [member, other].iter().all(|&gone| on.contains(&DeviceId(gone)));
        let written = &stage.rebuild(member, &[other])[1];
        assert!(written.iter().all(|place| place.1 == 32), "{written:?}");
        let lost_pages = 1 + u64::from(is_slot_lost);
        assert_eq!(
            stage.lost(),
            LossCounters { lost_pages, ..LossCounters::default() },
            "of member {member}"
        );
    }
}

/// Nothing counts on the old copy at the home of unit 1: neither is it rebuilt, nor is it missing.
#[test]
fn what_lies_at_the_home_of_a_dropped_unit_is_not_rebuilt_and_not_lost() {
    for missing in [&[][..], &[0], &[0, 2]] {
        let (mut stage, _) = displaced();
        assert_eq!(stage.rebuild(1, missing), [vec![], vec![]], "{missing:?} are missing, too");
        assert_eq!(stage.lost(), LossCounters::default());
    }
}

#[test]
fn a_copy_in_a_slot_is_rebuilt_from_the_other_one_and_lost_with_it() {
    let (mut stage, [one, other]) = displaced();
    let [read, written] = stage.rebuild(one.0, &[]);
    assert!(read.contains(&(other.0, 32)) && written.contains(&(one.0, 32)), "{read:?} {written:?}");
    let (mut stage, _) = displaced();
    let [read, written] = stage.rebuild(one.0, &[other.0]);
    assert!(read.iter().chain(&written).all(|place| place.1 != 32), "{read:?} {written:?}");
    // Row 0 has both of them among what parity has, and is lost with the slot.
    assert_eq!(stage.lost().lost_pages, 2);
}
