//! Rows of units that lie away from home, and the room for them.
//!
//! ```text
//! row r, unit 1  ─►  slot 7: one copy on member a, one on member b        its stripe's parity has the old copy, or nothing
//!                            on RAID-6 one on member c, too
//! ```
//!
//! A slot is a row of the reserve, at the same place on every member; a displaced row takes it on two of them, on RAID-6 on three. The
//! first is the data, the others are the parities of a stripe with one data unit, which equal it.
//!
//! Who changes what lies in a row holds it (`controller::locks`), so that nothing here changes under a transaction. Two things
//! take effect only when the transaction is done: a unit that goes home is still displaced for those who come meanwhile, and
//! a slot that is given up is not given to others.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use harmonia_types::DeviceId;

use super::dual::Holders;
use crate::planner::Rows;

/// A row of a unit that lies away from home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copy {
    /// The row of the reserve.
    pub slot: u64,
    /// The members that hold it there.
    pub on: Holders,
    /// Its stripe's parity still has what lies at home.
    pub in_parity: bool,
    /// It goes home.
    pub leaves: bool,
}

/// What displacing has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    /// Rows written to a slot.
    pub displaced: u64,
    /// Rows that went home because they were written.
    pub home_by_write: u64,
    /// Rows brought home while the array was idle.
    pub home_in_idle: u64,
    /// Rows whose write waited because all slots were taken.
    pub waits_full: u64,
    /// Rows whose write or read found several members collecting.
    pub waits_several: u64,
    /// Rows written whole in two steps.
    pub forced: u64,
    /// Slots taken at a time, at most.
    pub high_water: u64,
}

/// What lies away from home.
#[derive(Debug, Clone)]
pub(super) struct Displaced {
    /// By row and unit.
    copies: BTreeMap<(u64, u16), Copy>,
    /// Rows of the reserve, the next one to be taken last.
    free: Vec<u64>,
    /// Slots that are given up when a transaction is done, by its row.
    given_up: Vec<(u64, u64)>,
    slots: u64,
    pub counters: Counters,
}

impl Displaced {
    /// Nothing, with room for the rows of a reserve.
    pub fn new(reserve: Rows) -> Self {
        let free = (reserve.first..reserve.end()).rev().collect();
        Displaced {
            copies: BTreeMap::new(),
            free,
            given_up: Vec::new(),
            slots: reserve.count,
            counters: Counters::default(),
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Slots that are taken.
    pub fn taken(&self) -> u64 {
        self.slots - self.free.len() as u64
    }

    /// Slots that are not.
    pub fn room(&self) -> u64 {
        self.free.len() as u64
    }

    /// Whether anything of some rows lies away from home.
    #[inline]
    pub fn has(&self, rows: Rows) -> bool {
        !self.is_empty() && self.within(rows).next().is_some()
    }

    /// What of some rows lies away from home: row and unit.
    pub fn within(&self, rows: Rows) -> impl Iterator<Item = (u64, u16)> {
        let range: RangeInclusive<(u64, u16)> = (rows.first, 0)..=(rows.end().saturating_sub(1), u16::MAX);
        let copies = (rows.count > 0).then(|| self.copies.range(range));
        copies.into_iter().flatten().map(|(&place, _)| place)
    }

    /// Where a row of a unit lies; `None` for home.
    pub fn of(&self, row: u64, unit: u16) -> Option<&Copy> {
        self.copies.get(&(row, unit))
    }

    /// The same, with where it lies.
    pub fn copies_within(&self, rows: Rows) -> Vec<((u64, u16), Copy)> {
        let copies = self.within(rows).filter_map(|place| Some((place, *self.copies.get(&place)?)));
        copies.collect()
    }

    /// What of some rows lies in a slot.
    pub fn copy_in(&self, slot: u64, rows: Rows) -> Option<Copy> {
        self.within(rows).filter_map(|place| self.copies.get(&place)).find(|copy| copy.slot == slot).copied()
    }

    /// The row whose unit lies in a slot of a member.
    pub fn owner(&self, slot: u64, member: DeviceId) -> Option<u64> {
        let is_there = |copy: &Copy| copy.slot == slot && copy.on.contains(&member);
        self.copies.iter().find(|(_, copy)| is_there(copy)).map(|(&(row, _), _)| row)
    }

    /// What has been changed about some rows since they had these copies is taken back: nothing of it was written.
    pub fn put_back(&mut self, rows: Rows, before: &[((u64, u16), Copy)]) {
        let is_in = |row: u64| (rows.first..rows.end()).contains(&row);
        let range = (rows.first, 0)..=(rows.end() - 1, u16::MAX);
        let Displaced { copies, free, given_up, .. } = self;
        let held = copies.extract_if(range, |_, _| true).map(|(_, copy)| copy.slot);
        let given_up = given_up.extract_if(.., |(row, _)| is_in(*row)).map(|(_, slot)| slot);
        let is_new = |slot: &u64| before.iter().all(|(_, copy)| copy.slot != *slot);
        free.extend(held.chain(given_up).filter(is_new));
        copies.extend(before.iter().copied());
    }

    /// The lowest row and unit that could be brought home.
    pub fn first(&self) -> Option<(u64, u16)> {
        self.copies.iter().find(|(_, copy)| !copy.leaves).map(|(&place, _)| place)
    }

    /// The slot that is taken next; there is room.
    pub fn next_slot(&self) -> u64 {
        *self.free.last().expect("whoever asks has asked for room")
    }

    /// Takes the next slot for a row of a unit. Another one that it had is given up.
    pub fn take(&mut self, row: u64, unit: u16, on: Holders) {
        let slot = self.next_slot();
        self.free.pop();
        let copy =
            self.copies.entry((row, unit)).or_insert(Copy { slot, on, in_parity: true, leaves: false });
        let before = std::mem::replace(&mut copy.slot, slot);
        copy.on = on;
        if before != slot {
            self.given_up.push((row, before));
        }
        self.counters.high_water = self.counters.high_water.max(self.taken());
    }

    /// Parity of a row does not have what lies at the home of a unit any more.
    pub fn drop_from_parity(&mut self, row: u64, unit: u16) {
        if let Some(copy) = self.copies.get_mut(&(row, unit)) {
            copy.in_parity = false;
        }
    }

    /// A row of a unit is written at home, and parity has it. It is home when that is done.
    pub fn leave(&mut self, row: u64, unit: u16) {
        if let Some(copy) = self.copies.get_mut(&(row, unit)) {
            copy.leaves = true;
        }
    }

    /// A transaction is done that held some rows.
    #[inline]
    pub fn settle(&mut self, rows: Rows) {
        if !self.is_empty() && rows.count > 0 {
            self.let_go(rows);
        }
    }

    fn let_go(&mut self, rows: Rows) {
        let Displaced { copies, free, given_up, .. } = self;
        let is_in = |row: u64| (rows.first..rows.end()).contains(&row);
        let range = (rows.first, 0)..=(rows.end() - 1, u16::MAX);
        free.extend(copies.extract_if(range, |_, copy| copy.leaves).map(|(_, copy)| copy.slot));
        free.extend(given_up.extract_if(.., |(row, _)| is_in(*row)).map(|(_, slot)| slot));
    }
}
