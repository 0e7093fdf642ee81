//! Which member holds what of each row of stripes that leave one member free.
//!
//! ```text
//! slot      0    1    2    P    free         bits 0 to 3 are the member of slot 0, and so on
//! member    4    0    3    1    2            above them, a bit for each unit: it has been written, and parity has it
//! ```
//!
//! A row is eight bytes. Half a byte names the member of each slot, the free one included, and a bit says of each unit whether it
//! has been written. That is enough for [`MOST_MEMBERS`] members; with five of them it is 2.7 bytes for each page of data. On
//! RAID-6 Q has a slot between P and the free member. Parity is there if and only if some unit is. Who changes a row holds it.

use harmonia_types::DeviceId;

use super::room::Room;
use crate::layout::Parity;
use crate::rows::Rows;

/// Members whose slots and units eight bytes describe: 13 halves of a byte and 11 bits are 63.
pub(crate) const MOST_MEMBERS: u16 = 13;

/// Slots of a row as bits, that of slot 0 the lowest.
pub(super) type Slots = u64;

/// The slots in a set of them, the lowest first.
pub(super) fn each(mut slots: Slots) -> impl Iterator<Item = u16> {
    std::iter::from_fn(move || {
        let lowest = (slots != 0).then(|| slots.trailing_zeros() as u16);
        slots = without_first(slots);
        lowest
    })
}

/// A set of slots without the lowest of them.
pub(super) fn without_first(slots: Slots) -> Slots {
    slots & slots.wrapping_sub(1)
}

/// The members of each row's slots, and which units have been written.
#[derive(Debug, Clone)]
pub(super) struct StripeMap {
    rows: Vec<u64>,
    members: u16,
    parities: u16,
    /// By member: rows whose P it has, written or not.
    parity_rows: Vec<u64>,
    /// What members may take, where they are thinly provisioned.
    room: Option<Room>,
}

impl StripeMap {
    /// So many rows as the layout has them, of which nothing has been written.
    pub fn new(layout: &Parity, members: u16, rows: u64) -> Self {
        assert!(members <= MOST_MEMBERS, "eight bytes describe a row");
        let rows_of_unit = layout.unit_bytes() / layout.row_bytes();
        let mut map = StripeMap {
            rows: Vec::with_capacity(rows as usize),
            members,
            parities: layout.parities(),
            parity_rows: vec![0; members.into()],
            room: None,
        };
        for row in 0..rows {
            let stripe = row / rows_of_unit;
            let units = (0..layout.data_units()).map(|unit| layout.data_member(stripe, unit));
            let parities = [Some(layout.p_member(stripe)), layout.q_member(stripe)];
            let used: Vec<DeviceId> = units.chain(parities.into_iter().flatten()).collect();
            let free = (0..members).map(DeviceId).find(|member| !used.contains(member));
            let slots = used.into_iter().chain(free).zip(0..);
            map.rows.push(slots.fold(0, |places, (member, slot)| places | u64::from(member.0) << (4 * slot)));
            map.counts_parity(row, 1);
        }
        map
    }

    /// Counts from now on how full members are.
    pub fn counts_room(&mut self, mut room: Option<Room>) {
        if let Some(room) = &mut room {
            for (row, slot) in (0..self.rows()).flat_map(|row| (0..self.free()).map(move |slot| (row, slot)))
            {
                room.keeps(self.member(row, slot), row);
            }
        }
        self.room = room;
    }

    /// What members may take; `None` where they have room for all rows.
    #[inline]
    pub fn room(&self) -> Option<&Room> {
        self.room.as_ref()
    }

    /// Rows in all.
    pub fn rows(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Data units of a row.
    pub fn units(&self) -> u16 {
        self.members - self.parities - 1
    }

    /// The slots of parity: P's is the one after the units, Q's the next.
    pub fn parities(&self) -> Slots {
        ((1 << self.parities) - 1) << self.units()
    }

    /// The slot of the member that is free of a row.
    pub fn free(&self) -> u16 {
        self.members - 1
    }

    /// The member of a slot.
    pub fn member(&self, row: u64, slot: u16) -> DeviceId {
        DeviceId((self.rows[row as usize] >> (4 * slot) & 15) as u16)
    }

    /// The units of a row that have been written.
    pub fn written(&self, row: u64) -> Slots {
        self.rows[row as usize] >> (4 * self.members)
    }

    /// The slots of a row that hold something: these, and parity if there are any.
    pub fn held(&self, row: u64) -> Slots {
        let written = self.written(row);
        if written == 0 { 0 } else { written | self.parities() }
    }

    /// From now on exactly these units of a row have been written.
    pub fn write(&mut self, row: u64, units: Slots) {
        let places = 4 * self.members;
        let of_row = &mut self.rows[row as usize];
        *of_row = *of_row & ((1 << places) - 1) | units << places;
    }

    /// All that is known of some rows.
    pub fn places(&self, rows: Rows) -> &[u64] {
        &self.rows[rows.first as usize..rows.end() as usize]
    }

    /// Whether a member held something of a row that was like this.
    pub fn held_in(&self, place: u64, member: DeviceId) -> bool {
        let slot = (0..self.members).find(|slot| place >> (4 * slot) & 15 == u64::from(member.0));
        let written = place >> (4 * self.members);
        let held = if written == 0 { 0 } else { written | self.parities() };
        slot.is_some_and(|slot| held >> slot & 1 == 1)
    }

    /// Some rows are again as they were.
    pub fn put_back(&mut self, rows: Rows, places: &[u64]) {
        for (row, &places) in (rows.first..rows.end()).zip(places) {
            self.changes(row, |_| places);
        }
    }

    /// A slot of a row and the free one change places.
    pub fn free_up(&mut self, row: u64, slot: u16) {
        self.swap(row, slot, self.free());
    }

    /// Two slots of a row change places.
    pub fn swap(&mut self, row: u64, one: u16, other: u16) {
        self.changes(row, |of_row| {
            let both = (of_row >> (4 * one) ^ of_row >> (4 * other)) & 15;
            of_row ^ (both << (4 * one) | both << (4 * other))
        });
    }

    /// Changes what is known of a row, and counts.
    fn changes(&mut self, row: u64, change: impl FnOnce(u64) -> u64) {
        self.counts_parity(row, -1);
        let was_free = self.member(row, self.free());
        let of_row = &mut self.rows[row as usize];
        *of_row = change(*of_row);
        self.counts_parity(row, 1);
        let is_free = self.member(row, self.free());
        if let Some(room) = self.room.as_mut().filter(|_| was_free != is_free) {
            room.keeps(was_free, row);
            room.frees(is_free, row);
        }
    }

    /// How many rows have their P on a member.
    pub fn parity_rows(&self, member: DeviceId) -> u64 {
        self.parity_rows[member.index()]
    }

    fn counts_parity(&mut self, row: u64, step: i64) {
        let on = self.member(row, self.units());
        let rows = &mut self.parity_rows[on.index()];
        *rows = rows.strict_add_signed(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Layout, Level, Rotation};

    const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);
    const RAID6: Level = Level::Raid6(Rotation::LeftSymmetric);

    fn map(level: Level, members: u16, rows: u64) -> StripeMap {
        let layout = Layout::new(level, members, 4096, 4096, 4096 * rows);
        let Layout::Parity(parity) = layout.floating(false) else { unreachable!("it has parity") };
        StripeMap::new(&parity, members, rows)
    }

    #[test]
    fn every_slot_of_a_row_has_a_member_of_its_own_whatever_moves() {
        let all = [RAID5, RAID6].into_iter().flat_map(|level| (4..=MOST_MEMBERS).map(move |n| (level, n)));
        for (level, members) in all {
            let mut map = map(level, members, 60);
            assert_eq!(size_of_val(&map.rows[..]), 60 * 8);
            let written = (1 << map.units()) - 1;
            for step in 0..2_000 {
                let (row, slot) = (step * 7 % 60, (step * 5 % u64::from(members - 1)) as u16);
                let (from, to) = (map.member(row, slot), map.member(row, map.free()));
                map.write(row, written & step);
                map.free_up(row, slot);
                assert_eq!((map.member(row, slot), map.member(row, map.free())), (to, from));
                assert_eq!(map.written(row), written & step, "{level}, {members} members");
                let mut all: Vec<u16> = (0..members).map(|slot| map.member(row, slot).0).collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..members), "row {row} of {members} members");
            }
        }
    }

    /// After as many rows as members each of them has been each slot as often.
    #[test]
    fn a_new_array_has_all_slots_on_all_members_alike() {
        for (level, members) in [4, 5, 9, 13].into_iter().flat_map(|n| [(RAID5, n), (RAID6, n)]) {
            let map = map(level, members, u64::from(members) * 3);
            for (slot, member) in (0..members).flat_map(|slot| (0..members).map(move |member| (slot, member)))
            {
                let times = (0..map.rows()).filter(|&row| map.member(row, slot).0 == member).count();
                assert_eq!(times, 3, "slot {slot} on {member} of {members}");
            }
            assert!((0..map.rows()).all(|row| map.held(row) == 0));
        }
    }

    #[test]
    fn parity_is_there_if_a_unit_is() {
        let mut map = map(RAID5, 5, 2);
        map.write(1, 0b101);
        assert_eq!(
            (map.held(0), map.held(1), each(map.held(1)).collect::<Vec<_>>()),
            (0, 0b1101, vec![0, 2, 3])
        );
        map.write(1, 0);
        assert_eq!(map.held(1), 0);
        let mut map = self::map(RAID6, 6, 2);
        map.write(1, 0b101);
        assert_eq!((map.units(), map.parities(), map.held(1), map.free()), (3, 0b11000, 0b11101, 5));
    }
}
