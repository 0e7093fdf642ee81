//! What the controller keeps of parity rows: a table of entries, each one row of all members.
//!
//! ```text
//! entry      row     member 0   member 1   member 2
//!   0        17      kept       .          kept        in use: a write holds it
//!   1         4      .          .          .           in use
//!   2        90      kept       kept       kept        idle: the next entry to be taken for another row
//! ```
//!
//! A write takes an entry for each of its rows and gives them back when it is done. An idle entry keeps what it has until it is
//! taken for another row, the one that has been idle for longest first. A write of more rows than there are entries takes all
//! of them, and nothing of it is kept.
//!
//! Invariant: whoever changes a row holds its lock, so an entry in use belongs to one write.
//!
//! Source: Linux md, drivers/md/raid5.c (`raid5_get_active_stripe`, `init_stripe`). Leaves out: the hash buckets with a list of
//! idle entries each.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use harmonia_types::DeviceId;

use crate::rows::Rows;

/// An entry in use is not among the idle ones.
const IN_USE: u64 = u64::MAX;

/// Entries by row.
#[derive(Debug, Clone)]
pub struct StripeCache {
    size: usize,
    /// Words of an entry in `kept`.
    words: usize,
    /// Row to entry. Looked up only, never walked through: its order shows nowhere.
    index: HashMap<u64, u32, FxBuildHasher>,
    entries: Vec<Entry>,
    /// By entry, a bit a member: the entry holds what the member does.
    kept: Vec<u64>,
    /// Entries without a row.
    free: Vec<u32>,
    /// Idle entries, the one that has been idle for longest first.
    idle: BTreeMap<u64, u32>,
    clock: u64,
    in_use: usize,
    high_water: usize,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    row: u64,
    /// When it became idle.
    since: u64,
}

impl StripeCache {
    /// So many entries for rows of so many members.
    pub fn new(size: u32, members: u16) -> Self {
        StripeCache {
            size: size as usize,
            words: usize::from(members).div_ceil(64),
            index: HashMap::default(),
            entries: Vec::new(),
            kept: Vec::new(),
            free: Vec::new(),
            idle: BTreeMap::new(),
            clock: 0,
            in_use: 0,
            high_water: 0,
        }
    }

    /// Whether less than three quarters of the entries are in use.
    pub fn is_roomy(&self) -> bool {
        self.in_use * 4 < self.size * 3
    }

    /// Whether there are entries for a write of these rows.
    pub fn has_room(&self, rows: Rows) -> bool {
        self.needed(rows) <= self.size - self.in_use
    }

    /// Most entries that were in use at a time.
    pub fn high_water(&self) -> u64 {
        self.high_water as u64
    }

    /// Whether all rows of a write have entries of their own.
    pub fn fits(&self, rows: Rows) -> bool {
        rows.count <= self.size as u64
    }

    fn needed(&self, rows: Rows) -> usize {
        rows.count.min(self.size as u64) as usize
    }

    /// Takes entries for a write that holds these rows. `forget` hears of rows of which nothing is kept any more.
    ///
    /// # Panics
    /// If there are too few.
    pub fn take(&mut self, rows: Rows, mut forget: impl FnMut(u64)) {
        assert!(self.has_room(rows), "a write takes entries that are there");
        self.in_use += self.needed(rows);
        self.high_water = self.high_water.max(self.in_use);
        if !self.fits(rows) {
            return self.forget_all(forget);
        }
        // Its own first, so that they are not taken for its other rows.
        for row in rows.first..rows.end() {
            if let Some(&entry) = self.index.get(&row) {
                let since = std::mem::replace(&mut self.entries[entry as usize].since, IN_USE);
                self.idle.remove(&since);
            }
        }
        for row in rows.first..rows.end() {
            if !self.index.contains_key(&row) {
                let entry = self.unused(&mut forget);
                self.entries[entry as usize] = Entry { row, since: IN_USE };
                self.index.insert(row, entry);
            }
        }
    }

    /// An entry without a row: a free one, a new one, or the one that has been idle for longest.
    fn unused(&mut self, forget: impl FnMut(u64)) -> u32 {
        if self.free.is_empty() && self.entries.len() < self.size {
            self.entries.push(Entry { row: 0, since: IN_USE });
            self.kept.resize(self.entries.len() * self.words, 0);
            return self.entries.len() as u32 - 1;
        }
        if self.free.is_empty() {
            let oldest = self.idle.first_key_value().map(|(_, &entry)| entry);
            self.empty(oldest.expect("what is not in use is idle or free"), forget);
        }
        self.free.pop().expect("an entry has become free")
    }

    /// Gives back what a write took.
    pub fn release(&mut self, rows: Rows) {
        self.in_use -= self.needed(rows);
        if !self.fits(rows) {
            return;
        }
        for row in rows.first..rows.end() {
            let entry = self.index[&row];
            self.entries[entry as usize].since = self.clock;
            self.idle.insert(self.clock, entry);
            self.clock += 1;
        }
    }

    /// Nothing is kept of an idle entry, and it has no row any more.
    fn empty(&mut self, entry: u32, mut forget: impl FnMut(u64)) {
        let Entry { row, since } = self.entries[entry as usize];
        self.idle.remove(&since);
        self.index.remove(&row);
        self.wipe(entry);
        self.free.push(entry);
        forget(row);
    }

    fn wipe(&mut self, entry: u32) {
        let first = entry as usize * self.words;
        self.kept[first..first + self.words].fill(0);
    }

    /// Nothing is kept of these rows any more: somebody changes them, or has found them in disorder.
    pub fn forget(&mut self, rows: Rows, mut forget: impl FnMut(u64)) {
        if rows.count > self.entries.len() as u64 {
            let is_among = |entry: &Entry| (rows.first..rows.end()).contains(&entry.row);
            return self.forget_those(is_among, forget);
        }
        for row in rows.first..rows.end() {
            if let Some(&entry) = self.index.get(&row) {
                self.forget_entry(entry, &mut forget);
            }
        }
    }

    /// Nothing is kept any more.
    pub fn forget_all(&mut self, forget: impl FnMut(u64)) {
        self.forget_those(|_| true, forget);
    }

    fn forget_those(&mut self, is_among: impl Fn(&Entry) -> bool, mut forget: impl FnMut(u64)) {
        for entry in 0..self.entries.len() as u32 {
            let Entry { row, .. } = self.entries[entry as usize];
            let has_row = self.index.get(&row) == Some(&entry);
            if has_row && is_among(&self.entries[entry as usize]) {
                self.forget_entry(entry, &mut forget);
            }
        }
    }

    /// No row has an entry any more.
    pub fn empty_all(&mut self) {
        let empty = StripeCache { words: self.words, size: self.size, ..StripeCache::new(0, 0) };
        *self = StripeCache { high_water: self.high_water, ..empty };
    }

    /// An entry in use stays in use.
    fn forget_entry(&mut self, entry: u32, mut forget: impl FnMut(u64)) {
        let Entry { row, since } = self.entries[entry as usize];
        if since == IN_USE {
            self.wipe(entry);
            forget(row);
        } else {
            self.empty(entry, forget);
        }
    }

    /// From now on the entry of a row holds what a member does, or does not, if the row has an entry.
    pub fn keep(&mut self, row: u64, member: DeviceId, is_kept: bool) {
        let Some(&entry) = self.index.get(&row) else { return };
        let word = &mut self.kept[entry as usize * self.words + member.index() / 64];
        let bit = 1 << (member.index() % 64);
        *word = if is_kept { *word | bit } else { *word & !bit };
    }

    /// Whether the row's entry holds what a member does.
    #[inline]
    pub fn holds(&self, row: u64, member: DeviceId) -> bool {
        self.of(row).is_some_and(|kept| kept[member.index() / 64] & (1 << (member.index() % 64)) != 0)
    }

    /// Whether the same is kept of two rows.
    pub fn is_alike(&self, row: u64, other: u64) -> bool {
        self.of(row) == self.of(other)
    }

    fn of(&self, row: u64) -> Option<&[u64]> {
        let first = *self.index.get(&row)? as usize * self.words;
        Some(&self.kept[first..first + self.words])
    }

    /// Checks what must always hold.
    ///
    /// # Panics
    /// Says what is broken.
    pub fn audit(&self) {
        assert!(
            self.in_use <= self.size && self.entries.len() <= self.size,
            "no more entries than there are"
        );
        let with_row = self.index.len();
        assert_eq!(with_row + self.free.len(), self.entries.len(), "an entry has a row or is free");
        for (&since, &entry) in &self.idle {
            let Entry { row, since: own } = self.entries[entry as usize];
            assert!(own == since && self.index.get(&row) == Some(&entry), "row {row} is idle");
        }
        assert!(with_row - self.idle.len() <= self.in_use, "an entry with a row is in use or idle");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(first: u64, count: u64) -> Rows {
        Rows { first, count }
    }

    /// Takes entries; the rows that are forgotten for it.
    fn take(cache: &mut StripeCache, first: u64, count: u64) -> Vec<u64> {
        let mut forgotten = Vec::new();
        cache.take(rows(first, count), |row| forgotten.push(row));
        cache.audit();
        forgotten
    }

    #[test]
    fn the_entry_that_has_been_idle_for_longest_is_taken_first() {
        let mut cache = StripeCache::new(3, 5);
        for row in [10, 20, 30] {
            assert!(take(&mut cache, row, 1).is_empty());
            cache.keep(row, DeviceId(4), true);
        }
        assert!(!cache.has_room(rows(40, 1)));
        for row in [20, 10, 30] {
            cache.release(rows(row, 1));
        }
        assert!(take(&mut cache, 20, 1).is_empty() && cache.holds(20, DeviceId(4)));
        cache.release(rows(20, 1));
        assert_eq!(take(&mut cache, 40, 2), [10, 30], "20 was used last");
        assert!(!cache.holds(40, DeviceId(4)), "an entry that is used again holds nothing");
        assert!(!cache.holds(10, DeviceId(4)) && cache.holds(20, DeviceId(4)));
        assert_eq!(cache.high_water(), 3);
    }

    #[test]
    fn a_write_takes_its_own_idle_entries_and_evicts_others() {
        let mut cache = StripeCache::new(3, 70);
        assert!(take(&mut cache, 1, 2).is_empty());
        cache.keep(2, DeviceId(69), true);
        cache.release(rows(1, 2));
        assert_eq!(take(&mut cache, 2, 3), [1]);
        assert!(cache.holds(2, DeviceId(69)) && !cache.is_alike(2, 3) && cache.is_alike(3, 4));
        assert!(!cache.is_roomy() && !cache.has_room(rows(9, 1)));
    }

    #[test]
    fn a_write_of_more_rows_than_entries_takes_them_all_and_keeps_nothing() {
        let mut cache = StripeCache::new(3, 5);
        take(&mut cache, 7, 1);
        cache.keep(7, DeviceId(0), true);
        assert!(!cache.has_room(rows(0, 100)));
        cache.release(rows(7, 1));
        assert_eq!(take(&mut cache, 0, 100), [7]);
        assert!(!cache.has_room(rows(200, 1)));
        cache.release(rows(0, 100));
        cache.audit();
        assert!(cache.has_room(rows(0, 100)));
    }

    #[test]
    fn rows_that_somebody_changes_are_forgotten() {
        let mut cache = StripeCache::new(4, 5);
        take(&mut cache, 1, 2);
        (1..3).for_each(|row| cache.keep(row, DeviceId(3), true));
        cache.release(rows(1, 1));
        let mut forgotten = Vec::new();
        cache.forget(rows(0, 1000), |row| forgotten.push(row));
        assert_eq!(forgotten, [1, 2]);
        assert!(!cache.holds(1, DeviceId(3)) && !cache.holds(2, DeviceId(3)));
        cache.audit();
        // The second is in use, and stays so.
        cache.keep(2, DeviceId(1), true);
        cache.release(rows(2, 1));
        assert!(cache.holds(2, DeviceId(1)));
        cache.forget(rows(2, 1), |_| {});
        assert!(!cache.holds(2, DeviceId(1)));
    }
}
