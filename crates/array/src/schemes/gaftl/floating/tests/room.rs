//! Members without room for what moves, literally: five of RAID-5 with 40 rows, of each of which four members have a page. So each
//! member has 32.

use super::degraded::failed;
use super::*;
use crate::planner::Restores;
use crate::schemes::gaftl::floating::room::Room;

impl Stage {
    /// Members hold so many pages.
    fn holding(mut self, most: u64) -> Stage {
        self.planner.map.counts_room(Some(Room::holding(self.planner.members, most)));
        self
    }

    fn finds_no_room(&self) -> u64 {
        self.planner.own.finds_no_room
    }
}

#[test]
fn where_the_free_member_is_full_a_write_waits_for_the_member_that_collects() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1).holding(32);
    let places = stage.places(0);
    stage.collects(&[places[1].0]);
    assert_eq!(stage.write(1..2), [sorted([places[0], places[2]]), sorted([places[1], places[3]]), vec![]]);
    assert_eq!((stage.places(0), stage.finds_no_room()), (places.clone(), 1));
    assert_eq!(stage.read(1..2), sorted([places[0], places[2], places[3]]), "reads need no room");
    // The free member collects: that has nothing to do with room.
    stage.collects(&[places[4].0]);
    stage.write(1..2);
    assert_eq!(stage.finds_no_room(), 1);
}

/// One page of room each: what moves takes it, and what it left behind takes one on the other member until it is trimmed.
#[test]
fn what_moves_takes_room_and_makes_room_when_its_copy_is_trimmed() {
    let mut stage = Stage::full(SmallWrite::Reconstruct, 5, 1).holding(33);
    let (places, free_of) = (stage.places(0), |stage: &Stage, row| stage.places(row)[4].0);
    stage.collects(&[places[1].0]);
    stage.write(1..2);
    assert_eq!(stage.places(0)[1], places[4]);
    // Another row with the same free member, and unit 0 of it in the way.
    let same = (1..ROWS).find(|&row| free_of(&stage, row) == places[4].0).expect("one in five");
    let unit = stage.places(same)[0];
    stage.collects(&[unit.0]);
    stage.write(3 * same..3 * same + 1);
    assert_eq!((stage.places(same)[0], stage.finds_no_room()), (unit, 1), "it is full");
    // Now the member that the first one came from: its copy is still there, and so it has had its one page, too.
    stage.collects(&[places[1].0]);
    let back = (1..ROWS).find(|&row| free_of(&stage, row) == places[1].0 && row != same);
    let back = back.expect("one in five");
    let on = stage.places(back)[0];
    stage.collects(&[on.0]);
    stage.write(3 * back..3 * back + 1);
    assert_eq!((stage.places(back)[0].0, stage.finds_no_room()), (places[1].0, 1), "31 of 33, and a copy");
    stage.collects(&[]);
    assert!(!stage.sweep().is_empty());
}

/// As where the free member has failed, too: `degraded` has the counts.
#[test]
fn what_a_failed_member_was_to_take_is_left_to_parity_where_the_others_are_full() {
    let (stage, places) = failed(1, &[1]);
    let mut stage = stage.holding(32);
    assert_eq!(stage.write(1..2), [sorted([places[0], places[2]]), vec![places[3]], vec![]]);
    assert_eq!(stage.places(0), places);
    let (stage, places) = failed(1, &[1]);
    let mut stage = stage.holding(33);
    assert_eq!(stage.write(1..2)[1], sorted([places[3], places[4]]));
}

/// Each of the others has one page of room, so one row for each of them is rebuilt.
#[test]
fn what_a_failed_member_held_is_rebuilt_as_far_as_the_others_have_room() {
    let (stage, places) = failed(1, &[1]);
    let (mut stage, member) = (stage.holding(33), DeviceId(places[1].0));
    let step = stage.planner.restore(member, 0, ROWS * PAGE).expect("there are such rows");
    let [_, written, discarded] = stage.carry_out(&step);
    let mut on: Vec<u16> = written.iter().map(|place| place.0).collect();
    on.sort_unstable();
    assert_eq!((on, discarded), ((0..5).filter(|&other| other != member.0).collect(), vec![]));
    assert_eq!(stage.planner.missing(member, 0, ROWS * PAGE), Some(28 * PAGE));
    assert_eq!(stage.carry_out(&step), [vec![], vec![], vec![]]);
}
