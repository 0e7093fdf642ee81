//! Where the units of rows lie whose parity has moved.
//!
//! ```text
//! row r:   unit 0   unit 1   unit 2   unit 3   parity
//! member   0        4        2        3        1           parity has taken the place of unit 1, and unit 1 that of parity
//! ```
//!
//! Parity moves by changing places with a unit of its row, so that each member goes on to hold one. A row is eight bytes, half a
//! byte for each of at most [`MOST_MEMBERS`] members; rows that lie as the layout has them are 0. Who changes a row holds it. A row
//! that returns does so when its transaction is done: until then reads know that it lies elsewhere, and wait for it.

use harmonia_types::DeviceId;

use crate::layout::Parity;
use crate::planner::Rows;

/// Members that half a byte can tell apart.
pub(crate) const MOST_MEMBERS: u16 = 16;

/// What migration has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Rows whose parity went elsewhere because its member collected.
    pub away: u64,
    /// Rows that were put back as the layout has them.
    pub back: u64,
    /// Rows of a member read only because parity moved.
    pub reads: u64,
    /// Rows of a member written only because parity moved.
    pub writes: u64,
}

/// The members of each row's units.
#[derive(Debug, Clone)]
pub(super) struct StripeMap {
    layout: Parity,
    rows_of_unit: u64,
    members: u16,
    places: Vec<u64>,
    /// Rows that do not lie as the layout has them.
    moved: u64,
    /// By member: rows of parity more than the layout gives it.
    surplus: Vec<i64>,
    /// Rows that are back when their transaction is done.
    returning: Vec<u64>,
    /// Where the next row to return is looked for.
    cursor: u64,
    pub counters: Counters,
}

impl StripeMap {
    /// So many rows as the layout has them.
    pub fn new(layout: &Parity, members: u16, rows: u64) -> Self {
        assert!(members <= MOST_MEMBERS, "half a byte names a member");
        StripeMap {
            layout: layout.clone(),
            rows_of_unit: layout.unit_bytes() / layout.row_bytes(),
            members,
            places: vec![0; rows as usize],
            moved: 0,
            surplus: vec![0; usize::from(members)],
            returning: Vec::new(),
            cursor: 0,
            counters: Counters::default(),
        }
    }

    /// The unit number of parity: the one after the data units.
    pub fn parity(&self) -> u16 {
        self.members - 1
    }

    /// The member that holds a unit, or parity, as the layout has it.
    pub fn preset(&self, row: u64, unit: u16) -> DeviceId {
        let stripe = row / self.rows_of_unit;
        if unit == self.parity() {
            self.layout.p_member(stripe)
        } else {
            self.layout.data_member(stripe, unit)
        }
    }

    /// The member that holds a unit, or parity.
    pub fn member(&self, row: u64, unit: u16) -> DeviceId {
        match self.places[row as usize] {
            0 => self.preset(row, unit),
            places => DeviceId((places >> (4 * unit) & 15) as u16),
        }
    }

    /// Whether a row lies otherwise than the layout has it.
    pub fn is_moved(&self, row: u64) -> bool {
        self.moved > 0 && self.places[row as usize] != 0
    }

    /// Whether all rows lie as the layout has them.
    pub fn is_empty(&self) -> bool {
        self.moved == 0
    }

    /// Whether one of some rows does.
    pub fn has(&self, rows: Rows) -> bool {
        self.moved > 0 && (rows.first..rows.end()).any(|row| self.is_moved(row))
    }

    /// The data unit on a member; `None` where that is parity.
    pub fn unit_on(&self, row: u64, member: DeviceId) -> Option<u16> {
        (0..self.parity()).find(|&unit| self.member(row, unit) == member)
    }

    /// Parity and a unit of a row change places.
    pub fn swap(&mut self, row: u64, unit: u16) {
        let parity = self.parity();
        let (from, to) = (self.member(row, parity), self.member(row, unit));
        let of = |map: &StripeMap, other: u16| match other {
            _ if other == parity => to,
            _ if other == unit => from,
            _ => map.member(row, other),
        };
        let places =
            (0..self.members).fold(0, |places, other| places | u64::from(of(self, other).0) << (4 * other));
        let is_preset = (0..self.members).all(|other| of(self, other) == self.preset(row, other));
        // Also where it is by chance as before: reads have to wait until that is written.
        self.moved += u64::from(self.places[row as usize] == 0);
        self.places[row as usize] = places;
        if is_preset {
            self.returning.push(row);
        }
        self.surplus[from.index()] -= 1;
        self.surplus[to.index()] += 1;
    }

    /// A row is written as the layout has it.
    pub fn restore(&mut self, row: u64) {
        let (from, to) = (self.member(row, self.parity()), self.preset(row, self.parity()));
        self.surplus[from.index()] -= 1;
        self.surplus[to.index()] += 1;
        self.returning.push(row);
    }

    /// What says where some rows lie.
    pub fn places(&self, rows: Rows) -> &[u64] {
        &self.places[rows.first as usize..rows.end() as usize]
    }

    /// What has been changed about some rows since they lay so is taken back: nothing of it was written.
    pub fn put_back(&mut self, rows: Rows, before: &[u64]) {
        let parity = self.parity();
        for (row, &places) in (rows.first..rows.end()).zip(before) {
            let is_returning = self.returning.contains(&row);
            let now = if is_returning { self.preset(row, parity) } else { self.member(row, parity) };
            self.returning.retain(|&other| other != row);
            let is_moved = std::mem::replace(&mut self.places[row as usize], places) != 0;
            self.moved = self.moved + u64::from(places != 0) - u64::from(is_moved);
            let then = self.member(row, parity);
            self.surplus[now.index()] -= 1;
            self.surplus[then.index()] += 1;
        }
    }

    /// The member that is to hold a unit, or parity, when what is under way is done.
    #[cfg(test)]
    pub fn target(&self, row: u64, unit: u16) -> DeviceId {
        if self.returning.contains(&row) { self.preset(row, unit) } else { self.member(row, unit) }
    }

    /// A transaction is done that held some rows.
    pub fn settle(&mut self, rows: Rows) {
        if self.returning.is_empty() {
            return;
        }
        let places = &mut self.places;
        let before = self.returning.len();
        self.returning.retain(|&row| {
            let is_done = (rows.first..rows.end()).contains(&row);
            if is_done {
                places[row as usize] = 0;
            }
            !is_done
        });
        self.moved -= (before - self.returning.len()) as u64;
    }

    /// Rows of parity that lie on members which have more of it than the layout gives them.
    pub fn imbalance(&self) -> u64 {
        self.surplus.iter().map(|&surplus| surplus.max(0) as u64).sum()
    }

    /// Rows in all.
    pub fn rows(&self) -> u64 {
        self.places.len() as u64
    }

    /// A row that should return: its parity lies on a member that has too much of it, and `can_return` agrees.
    pub fn next(&mut self, can_return: impl Fn(u64) -> bool) -> Option<u64> {
        if self.moved == 0 {
            return None;
        }
        let rows = self.rows();
        let should = |row: &u64| {
            self.is_moved(*row)
                && self.surplus[self.member(*row, self.parity()).index()] > 0
                && !self.returning.contains(row)
                && can_return(*row)
        };
        let found = (self.cursor..rows).chain(0..self.cursor).find(should)?;
        self.cursor = (found + 1) % rows;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Layout, Level, Rotation};

    fn map(members: u16, rows: u64) -> StripeMap {
        let layout = Layout::new(Level::Raid5(Rotation::default()), members, 4096, 4096, 4096 * rows);
        let Layout::Parity(parity) = layout else { unreachable!("it has parity") };
        StripeMap::new(&parity, members, rows)
    }

    #[test]
    fn a_row_is_eight_bytes_up_to_sixteen_members() {
        for members in 3..=MOST_MEMBERS {
            let mut map = map(members, 50);
            assert_eq!(size_of_val(&map.places[..]), 50 * 8);
            for step in 0..u64::from(members) {
                let row = step * 3 % 50;
                map.swap(row, (step % u64::from(members - 1)) as u16);
                let mut held: Vec<u16> = (0..members).map(|unit| map.member(row, unit).0).collect();
                held.sort_unstable();
                assert!(held.into_iter().eq(0..members), "each member holds one unit of row {row}");
            }
            assert_eq!(map.surplus.iter().sum::<i64>(), 0);
        }
    }

    #[test]
    fn a_row_returns_when_its_transaction_is_done() {
        let mut map = map(5, 10);
        // Stripe 1: units 0 to 3 on members 4, 0, 1, 2 and parity on 3.
        map.swap(1, 0);
        assert_eq!((map.member(1, map.parity()), map.member(1, 0)), (DeviceId(4), DeviceId(3)));
        assert_eq!((map.imbalance(), map.is_moved(1), map.is_moved(2)), (1, true, false));
        let among =
            [(0, 1), (0, 2), (1, 1), (1, 5), (2, 5)].map(|(first, count)| map.has(Rows { first, count }));
        assert_eq!(among, [false, true, true, true, false]);
        map.swap(1, 0);
        assert_eq!((map.imbalance(), map.is_moved(1)), (0, true), "nothing is written so far");
        map.settle(Rows { first: 0, count: 1 });
        assert!(map.is_moved(1));
        map.settle(Rows { first: 1, count: 1 });
        assert_eq!((map.moved, map.is_moved(1), map.next(|_| true)), (0, false, None));
    }

    /// Row 0 was moved and is to return, row 1 is moved, row 2 is moved and back. Row 7 returns in another transaction.
    #[test]
    fn what_is_put_back_lies_as_before() {
        let mut map = map(5, 10);
        map.swap(0, 0);
        map.swap(7, 1);
        map.swap(7, 1);
        let rows = Rows { first: 0, count: 3 };
        let (places, moved, surplus) = (map.places(rows).to_vec(), map.moved, map.surplus.clone());
        map.restore(0);
        map.swap(1, 2);
        map.swap(2, 3);
        map.swap(2, 3);
        assert_eq!((map.moved, &map.returning[..]), (4, &[7, 0, 2][..]));
        map.put_back(rows, &places);
        assert_eq!((map.places(rows), map.moved, &map.surplus), (&places[..], moved, &surplus));
        assert_eq!(map.returning, [7]);
    }

    /// Parity of rows 0 and 5 lies on member 0, which has two too many.
    #[test]
    fn rows_that_should_return_do_so_in_turn() {
        let mut map = map(5, 10);
        map.swap(0, 0);
        map.swap(5, 0);
        let next = |map: &mut StripeMap| [map.next(|_| true), map.next(|_| true), map.next(|_| true)];
        assert_eq!(next(&mut map), [Some(0), Some(5), Some(0)]);
        map.restore(0);
        assert_eq!(next(&mut map), [Some(5); 3], "row 0 returns already");
    }

    #[test]
    fn rows_return_from_members_that_have_too_much() {
        let mut map = map(5, 10);
        // Parity of row 0 goes from 4 to 0, that of row 4 from 0 to 1.
        map.swap(0, 0);
        map.swap(4, 0);
        assert_eq!((map.surplus.clone(), map.imbalance()), (vec![0, 1, 0, 0, -1], 1));
        assert_eq!((map.next(|_| false), map.next(|_| true)), (None, Some(4)));
        map.restore(4);
        map.settle(Rows { first: 4, count: 1 });
        assert_eq!((map.imbalance(), map.next(|_| true)), (1, Some(0)));
        map.restore(0);
        map.settle(Rows { first: 0, count: 1 });
        assert_eq!((map.imbalance(), map.moved, map.next(|_| true)), (0, 0, None));
    }
}
