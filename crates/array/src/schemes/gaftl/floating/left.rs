//! Copies that count no more: what a unit or parity has left behind on the member that it has gone away from.
//!
//! The copy is trimmed when that member may be used again. Until then it lies there, and whoever writes its place anew has done
//! the same. Members serve what concerns one page in the order in which they are given it, so a trim that is under way does not
//! hurt what is written behind it.

use std::collections::BTreeSet;

use harmonia_types::DeviceId;

use crate::rows::Rows;

/// Places by member and row.
#[derive(Debug, Clone, Default)]
pub(super) struct Left {
    places: BTreeSet<(u16, u64)>,
    /// Places that are left when the transaction is done that holds their row.
    leaving: Vec<(u16, u64)>,
    /// Places that were left, and that a transaction is to write which is not done.
    written: Vec<(u16, u64)>,
    /// Places that are being trimmed, and transactions under way that do so.
    swept: Vec<(u16, u64)>,
    sweeps: u32,
}

impl Left {
    /// A transaction moves something away from a place.
    pub fn leaves(&mut self, member: DeviceId, row: u64) {
        self.leaving.push((member.0, row));
    }

    /// Whether a transaction under way leaves a copy at a place.
    pub fn is_leaving(&self, member: DeviceId, row: u64) -> bool {
        self.leaving.contains(&(member.0, row))
    }

    /// A place is written.
    pub fn is_written(&mut self, member: DeviceId, row: u64) {
        if !self.places.is_empty() && self.places.remove(&(member.0, row)) {
            self.written.push((member.0, row));
        }
        if !self.swept.is_empty() {
            let is_it = |place: &mut (u16, u64)| *place == (member.0, row);
            self.written.extend(self.swept.extract_if(.., is_it));
        }
    }

    /// A copy lies at a place that nobody is to write.
    pub fn lies(&mut self, member: DeviceId, row: u64) {
        self.places.insert((member.0, row));
    }

    /// Power is lost: what was being trimmed may lie there still.
    pub fn lose_power(&mut self) {
        self.places.extend(self.swept.drain(..));
        self.sweeps = 0;
    }

    /// A transaction is done that trims what [`Left::take`] gave it.
    pub fn is_swept(&mut self) {
        self.sweeps -= 1;
        if self.sweeps == 0 {
            self.swept.clear();
        }
    }

    /// A transaction is done that held these rows.
    pub fn settle(&mut self, rows: Rows) {
        if !self.leaving.is_empty() {
            let is_done = |place: &mut (u16, u64)| (rows.first..rows.end()).contains(&place.1);
            self.places.extend(self.leaving.extract_if(.., is_done));
        }
        if !self.written.is_empty() {
            self.written.retain(|place| !(rows.first..rows.end()).contains(&place.1));
        }
    }

    /// A transaction that holds these rows has written nothing, and is planned anew.
    pub fn take_back(&mut self, rows: Rows) {
        let is_of = |place: &mut (u16, u64)| (rows.first..rows.end()).contains(&place.1);
        self.leaving.retain(|place| !(rows.first..rows.end()).contains(&place.1));
        self.places.extend(self.written.extract_if(.., is_of));
    }

    /// Whether a copy lies on one of these members.
    pub fn has(&self, is_free: impl Fn(DeviceId) -> bool) -> bool {
        // Members one after the other, not places.
        let mut next = self.places.first();
        while let Some(&(member, _)) = next {
            if is_free(DeviceId(member)) {
                return true;
            }
            next = self.places.range((member + 1, 0)..).next();
        }
        false
    }

    /// Takes what lies on these members, for a transaction that trims it.
    pub fn take(&mut self, is_free: impl Fn(DeviceId) -> bool) -> Vec<(DeviceId, u64)> {
        let taken = self.places.extract_if(.., |&(member, _)| is_free(DeviceId(member)));
        let first = self.swept.len();
        self.swept.extend(taken);
        self.sweeps += 1;
        self.swept[first..].iter().map(|&(member, row)| (DeviceId(member), row)).collect()
    }

    /// Copies that lie somewhere, or are about to, those that are being trimmed included.
    #[inline]
    pub fn len(&self) -> u64 {
        (self.places.len() + self.leaving.len() + self.swept.len()) as u64
    }

    /// Those of them on a member, in rows such as these.
    pub fn count_on(&self, member: DeviceId, is_meant: impl Fn(u64) -> bool) -> u64 {
        let places = self.places.range((member.0, 0)..=(member.0, u64::MAX));
        let others = self.leaving.iter().chain(&self.swept).filter(|place| place.0 == member.0);
        places.chain(others).filter(|place| is_meant(place.1)).count() as u64
    }

    #[cfg(test)]
    pub fn lies_on(&self, member: DeviceId, row: u64) -> bool {
        self.places.contains(&(member.0, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_left_when_its_transaction_is_done_and_until_its_place_is_written() {
        let mut left = Left::default();
        let on = |member: u16| move |other: DeviceId| other.0 == member;
        left.leaves(DeviceId(2), 7);
        left.leaves(DeviceId(3), 9);
        left.settle(Rows { first: 0, count: 7 });
        assert!(!left.has(|_| true));
        left.settle(Rows { first: 7, count: 1 });
        assert!(left.has(on(2)) && !left.has(on(3)) && !left.has(on(1)));
        left.settle(Rows { first: 8, count: 2 });
        left.is_written(DeviceId(2), 7);
        assert!(!left.has(on(2)) && left.has(on(3)));
        assert_eq!((left.take(on(2)), left.take(on(3))), (vec![], vec![(DeviceId(3), 9)]));
        assert!(!left.has(|_| true));
    }

    #[test]
    fn what_was_planned_and_not_written_is_taken_back() {
        let (mut left, rows) = (Left::default(), Rows { first: 7, count: 1 });
        left.leaves(DeviceId(2), 7);
        left.settle(rows);
        left.is_written(DeviceId(2), 7);
        left.leaves(DeviceId(3), 7);
        left.take_back(Rows { first: 8, count: 1 });
        assert!(!left.lies_on(DeviceId(2), 7));
        left.take_back(rows);
        left.settle(rows);
        assert!(left.lies_on(DeviceId(2), 7) && !left.lies_on(DeviceId(3), 7));
        left.is_written(DeviceId(2), 7);
        left.settle(rows);
        left.take_back(rows);
        assert!(!left.has(|_| true), "it is done");
    }
}
