//! Writes that wait in NVRAM for members that collect.
//!
//! ```text
//! write refused ─► parked, done for the host ─► its member is free again ─► written there, given back
//! ```
//!
//! There is one table, by member and page, with a cap in pages. A page that is written again while it is parked takes no more
//! room. Reads of a parked page are answered from here. A write that finds no room waits for its member, and is counted.
//! What is parked is durable: a flush does not wait for it, and it survives a loss of power. So a write that takes entries away is with FUA: a
//! member whose cache forgets has programmed it when it is done. So is a discard: older data that NVRAM had superseded must not be there again.
//!
//! Each change of an entry gets a number. A write to the member remembers the number at its submission: when it is done, it
//! takes away entries that are older, and no newer ones. While one is under way its entry is not written back. No two writes
//! or discards of the host are under way on one page: they hold its row, whatever the level.
//!
//! Not modelled: the time and wear of the NVRAM itself, its link, and parts of pages (they are never parked).

use std::collections::BTreeMap;

use harmonia_types::{Bytes, DeviceId, NvramCounters, Operation, SimTime};

use super::layers::Down;
use crate::planner::PlannedOperation;

/// Pages that are written back at the same time to one member.
const DEPTH: u64 = 32;

/// The table.
#[derive(Debug, Clone)]
pub(super) struct Nvram {
    page: Bytes,
    /// Changes so far.
    clock: u32,
    members: Vec<Parked>,
    /// Pages that members refused of writes that are under way, by the token of the write.
    refused: Vec<(u64, Run)>,
    counters: NvramCounters,
}

/// What is parked for one member.
#[derive(Debug, Clone, Default)]
struct Parked {
    pages: BTreeMap<u64, Entry>,
    /// Pages on their way back.
    under_way: u64,
    /// When it is next tried, if that is arranged.
    due: Option<SimTime>,
    /// The page behind the last one written back.
    cursor: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// The change that put it here.
    change: u32,
    /// Writes to the member under way that will replace it.
    writers: u32,
}

/// Pages of a member: the first, and how many.
pub(super) type Run = (u64, u64);

impl Nvram {
    /// Room for so many bytes, in whole pages.
    pub fn new(capacity: Bytes, page: Bytes, members: usize) -> Self {
        let counters = NvramCounters { size_bytes: capacity, ..NvramCounters::default() };
        let members = (0..members).map(|_| Parked::default()).collect();
        Nvram { page, clock: 0, members, refused: Vec::new(), counters }
    }

    pub fn counters(&self) -> NvramCounters {
        self.counters
    }

    /// The number of the last change; writes carry it.
    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// The pages of a range of bytes.
    pub fn run(&self, offset: Bytes, length: Bytes) -> Run {
        let first = offset / self.page;
        (first, (offset + length).div_ceil(self.page) - first)
    }

    /// Parks the pages of a range; `false` if there is no room for all of them. A page that is written in part can only be
    /// added to one that is parked.
    pub fn park(&mut self, device: DeviceId, offset: Bytes, length: Bytes) -> bool {
        let is_part = |at: Bytes| !at.is_multiple_of(self.page) && !self.has(device, at / self.page);
        if is_part(offset) || is_part(offset + length) {
            return false;
        }
        let (first, count) = self.run(offset, length);
        let parked = &mut self.members[device.index()].pages;
        let again = parked.range(first..first + count).count() as u64;
        let counters = &mut self.counters;
        if counters.pages_left + count - again > counters.size_bytes / self.page {
            counters.full_waits += 1;
            return false;
        }
        self.clock = self.clock.checked_add(1).expect("fewer than 2^32 writes are parked in a run");
        let entry = Entry { change: self.clock, writers: 0 };
        (first..first + count).for_each(|page| _ = parked.insert(page, entry));
        counters.pages_left += count - again;
        counters.parked_pages += count;
        counters.superseded_pages += again;
        counters.high_water_bytes = counters.high_water_bytes.max(counters.pages_left * self.page);
        true
    }

    /// Whether a page is parked.
    pub fn has(&self, device: DeviceId, page: u64) -> bool {
        self.members[device.index()].pages.contains_key(&page)
    }

    /// Whether any page of a range is.
    fn has_any(&self, device: DeviceId, (first, count): Run) -> bool {
        let parked = &self.members[device.index()].pages;
        !parked.is_empty() && parked.range(first..first + count).next().is_some()
    }

    /// What an operation on a member is told: what is parked of a read is answered from here, and so is a write of a part of a page
    /// that is parked. What `goes_back` is what is parked.
    pub fn down(&self, operation: &PlannedOperation, goes_back: bool) -> Down {
        let PlannedOperation { device, operation, offset, length, .. } = *operation;
        if goes_back || !self.has_any(device, self.run(offset, length)) {
            return Down::Goes;
        }
        let (head, is_here) = match operation {
            Operation::Read => self.head_of_read(device, offset, length),
            Operation::Write => self.head_of_write(device, offset, length),
            Operation::Trim | Operation::Flush => return Down::Goes,
        };
        match is_here {
            _ if head < length => Down::Cut(head),
            true => Down::Answered,
            false => Down::Goes,
        }
    }

    /// The bytes that a read of a range begins with which lie all here, or all not; and whether they do.
    pub fn head_of_read(&self, device: DeviceId, offset: Bytes, length: Bytes) -> (Bytes, bool) {
        self.head(offset, length, |page, _| self.has(device, page))
    }

    /// The same for a write. Parts of pages are added to what is parked: the rest of such a page lies here and nowhere else.
    fn head_of_write(&self, device: DeviceId, offset: Bytes, length: Bytes) -> (Bytes, bool) {
        self.head(offset, length, |page, is_part| is_part && self.has(device, page))
    }

    fn head(&self, offset: Bytes, length: Bytes, is_here: impl Fn(u64, bool) -> bool) -> (Bytes, bool) {
        let ((first, count), end) = (self.run(offset, length), offset + length);
        let is_part = |page| page * self.page < offset || (page + 1) * self.page > end;
        let here = is_here(first, is_part(first));
        let alike =
            (first..first + count).take_while(|&page| is_here(page, is_part(page)) == here).count() as u64;
        (((first + alike) * self.page).min(end) - offset, here)
    }

    /// A read is answered from here.
    pub fn answers(&mut self, offset: Bytes, length: Bytes) {
        self.counters.answered_pages += self.run(offset, length).1;
    }

    /// The whole pages of a range of bytes.
    pub fn whole(&self, offset: Bytes, length: Bytes) -> Run {
        let (first, end) = (offset.div_ceil(self.page), (offset + length) / self.page);
        (first, end.saturating_sub(first))
    }

    /// A write of these pages goes to the member. Returns whether one of them is parked.
    pub fn write_begins(&mut self, device: DeviceId, (first, count): Run) -> bool {
        let parked = &mut self.members[device.index()].pages;
        let mut replaces = false;
        if !parked.is_empty() {
            for (_, entry) in parked.range_mut(first..first + count) {
                (entry.writers, replaces) = (entry.writers + 1, true);
            }
        }
        replaces
    }

    /// The member refused these pages of the write with this token.
    pub fn write_is_refused(&mut self, device: DeviceId, run: Run, submitted: u32, token: u64) {
        let entries = self.members[device.index()].pages.range_mut(run.0..run.0 + run.1);
        entries.filter(|(_, entry)| entry.change <= submitted).for_each(|(_, entry)| entry.writers -= 1);
        self.refused.push((token, run));
    }

    /// The rest of it is done: what was parked before it was submitted is not needed any more. Returns how many pages that was
    /// about.
    pub fn write_ends(
        &mut self,
        device: DeviceId,
        (first, count): Run,
        submitted: u32,
        token: u64,
        is_destage: bool,
        mut is_gone: impl FnMut(u64),
    ) -> u64 {
        let parked = &mut self.members[device.index()].pages;
        let (mut taken, mut gone) = (0, 0);
        for page in first..first + count {
            let of_write =
                |&(of, (first, count)): &(u64, Run)| of == token && (first..first + count).contains(&page);
            if self.refused.iter().any(of_write) {
                continue;
            }
            taken += 1;
            if parked.get(&page).is_some_and(|entry| entry.change <= submitted) {
                parked.remove(&page);
                gone += 1;
                is_gone(page);
            }
        }
        self.forget(token);
        self.counters.pages_left -= gone;
        let kind =
            if is_destage { &mut self.counters.destaged_pages } else { &mut self.counters.superseded_pages };
        *kind += gone;
        taken
    }

    /// Nothing is parked for a member any more: it failed.
    pub fn give_up(&mut self, device: DeviceId, mut is_gone: impl FnMut(u64)) {
        let parked = std::mem::take(&mut self.members[device.index()]);
        self.counters.pages_left -= parked.pages.len() as u64;
        self.counters.given_up_pages += parked.pages.len() as u64;
        parked.pages.into_keys().for_each(&mut is_gone);
    }

    /// Nothing is under way any more: power was lost. What is parked stays.
    pub fn forget_writes(&mut self) {
        self.refused.clear();
        for member in &mut self.members {
            member.under_way = 0;
            member.pages.values_mut().for_each(|entry| entry.writers = 0);
        }
    }

    /// A write is over.
    pub fn forget(&mut self, token: u64) {
        self.refused.retain(|&(of, _)| of != token);
    }

    /// A run of pages to be written back to a member now; they count as under way. The lowest behind the last one go first.
    pub fn next_back(&mut self, device: DeviceId) -> Option<Run> {
        let parked = &mut self.members[device.index()];
        if parked.pages.is_empty() {
            return None;
        }
        let room = DEPTH.saturating_sub(parked.under_way);
        let (behind, before) = (parked.pages.range(parked.cursor..), parked.pages.range(..parked.cursor));
        let mut waiting = behind.chain(before).filter(|(_, entry)| entry.writers == 0).map(|(&page, _)| page);
        let first = waiting.next().filter(|_| room > 0)?;
        let follow = waiting.zip(first + 1..).take_while(|(page, next)| page == next);
        let count = (1 + follow.count() as u64).min(room);
        parked.under_way += count;
        parked.cursor = first + count;
        Some((first, count))
    }

    /// So many pages are no longer on their way back.
    pub fn is_back(&mut self, device: DeviceId, count: u64) {
        self.members[device.index()].under_way -= count;
    }

    /// Whether anything is parked for a member.
    pub fn holds(&self, device: DeviceId) -> bool {
        !self.members[device.index()].pages.is_empty()
    }

    /// When a member is next tried, if that is arranged.
    pub fn due(&mut self, device: DeviceId) -> &mut Option<SimTime> {
        &mut self.members[device.index()].due
    }

    /// Whether the table adds up and keeps its cap.
    pub fn audit(&self) {
        let parked: usize = self.members.iter().map(|member| member.pages.len()).sum();
        assert_eq!(parked as u64, self.counters.pages_left, "pages parked");
        assert!(self.counters.high_water_bytes <= self.counters.size_bytes, "NVRAM above its cap");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: DeviceId = DeviceId(0);

    fn nvram(pages: u64) -> Nvram {
        Nvram::new(pages * 4096, 4096, 2)
    }

    fn park(nvram: &mut Nvram, first: u64, count: u64) -> bool {
        nvram.park(A, first * 4096, count * 4096)
    }

    #[test]
    fn the_cap_holds_and_pages_written_again_take_no_more_room() {
        let mut nvram = nvram(4);
        assert!(park(&mut nvram, 10, 3));
        assert!(!park(&mut nvram, 20, 2), "two pages and room for one");
        assert!(park(&mut nvram, 9, 2), "one of them is parked");
        assert!(!nvram.park(A, 20 * 4096, 100), "part of a page that is not parked");
        let counters = nvram.counters();
        assert_eq!((counters.pages_left, counters.high_water_bytes, counters.full_waits), (4, 4 * 4096, 1));
        assert_eq!((counters.parked_pages, counters.superseded_pages), (5, 1));
        nvram.audit();
    }

    #[test]
    fn pages_go_back_in_runs_behind_the_last_one_as_many_as_there_is_room_for() {
        let mut nvram = nvram(100);
        park(&mut nvram, 5, 2);
        park(&mut nvram, 9, 40);
        assert_eq!(nvram.next_back(A), Some((5, 2)));
        assert_eq!(nvram.next_back(A), Some((9, DEPTH - 2)), "no more at the same time");
        assert_eq!(nvram.next_back(A), None);
        nvram.is_back(A, 4);
        assert_eq!(nvram.next_back(A), Some((9 + DEPTH - 2, 4)), "behind the last one");
        nvram.is_back(A, DEPTH);
        assert_eq!(nvram.next_back(A), Some((9 + DEPTH + 2, 40 - DEPTH - 2)), "and the rest");
        assert_eq!(nvram.next_back(A), Some((5, 2)), "and from the beginning");
    }

    #[test]
    fn what_is_parked_for_a_member_that_fails_is_given_up_page_by_page() {
        let mut nvram = nvram(8);
        park(&mut nvram, 3, 2);
        park(&mut nvram, 7, 1);
        nvram.park(DeviceId(1), 0, 4096);
        let mut gone = Vec::new();
        nvram.give_up(A, |page| gone.push(page));
        assert_eq!(gone, [3, 4, 7]);
        let counters = nvram.counters();
        assert_eq!((counters.given_up_pages, counters.pages_left), (3, 1));
        nvram.give_up(DeviceId(1), |_| ());
        assert_eq!((nvram.counters().given_up_pages, nvram.counters().pages_left), (4, 0));
    }

    #[test]
    fn a_write_takes_away_what_was_parked_before_it_and_nothing_newer() {
        let mut nvram = nvram(8);
        park(&mut nvram, 0, 2);
        nvram.write_begins(A, (0, 2));
        let submitted = nvram.clock();
        assert_eq!(nvram.next_back(A), None, "its successor is under way");
        park(&mut nvram, 1, 1);
        nvram.write_ends(A, (0, 2), submitted, 7, false, |_| ());
        assert!(!nvram.has(A, 0) && nvram.has(A, 1));
        assert_eq!(nvram.next_back(A), Some((1, 1)));
        nvram.audit();
    }

    #[test]
    fn a_refused_write_leaves_what_is_parked() {
        let mut nvram = nvram(8);
        park(&mut nvram, 3, 1);
        let submitted = nvram.clock();
        nvram.write_begins(A, (3, 1));
        nvram.write_is_refused(A, (3, 1), submitted, 7);
        nvram.forget(7);
        assert_eq!(nvram.next_back(A), Some((3, 1)));
        // Another write may have its token.
        nvram.write_begins(A, (3, 1));
        assert_eq!(nvram.write_ends(A, (3, 1), nvram.clock(), 7, true, |_| ()), 1);
        assert!(!nvram.has(A, 3));
    }

    #[test]
    fn runs_go_back_in_turn_and_not_too_many_at_once() {
        let mut nvram = nvram(100);
        park(&mut nvram, 0, 20);
        park(&mut nvram, 30, 20);
        let back = |nvram: &mut Nvram| {
            let run = nvram.next_back(A)?;
            nvram.write_begins(A, run);
            Some(run)
        };
        assert_eq!(back(&mut nvram), Some((0, 20)));
        assert_eq!(back(&mut nvram), Some((30, 12)), "32 in all");
        assert_eq!(back(&mut nvram), None);
        let submitted = nvram.clock();
        nvram.write_ends(A, (0, 20), submitted, 7, true, |_| ());
        nvram.is_back(A, 20);
        assert_eq!(back(&mut nvram), Some((42, 8)));
        assert_eq!(nvram.counters().destaged_pages, 20);
    }

    #[test]
    fn a_range_is_cut_into_what_is_parked_and_what_is_not() {
        let mut nvram = nvram(8);
        park(&mut nvram, 2, 2);
        assert_eq!(nvram.head_of_read(A, 1000, 5 * 4096), (2 * 4096 - 1000, false));
        assert_eq!(nvram.head_of_read(A, 2 * 4096, 5 * 4096), (2 * 4096, true));
        assert_eq!(nvram.head_of_read(A, 3 * 4096 + 512, 512), (512, true));
        // A write of the last sector of page 2, and of page 3, which it replaces.
        assert_eq!(nvram.head_of_write(A, 3 * 4096 - 512, 4096 + 512), (512, true));
        assert_eq!(nvram.head_of_write(A, 3 * 4096, 4096), (4096, false));
        // Nor page 2, which it replaces, and then the first sector of page 3.
        assert_eq!(nvram.head_of_write(A, 2 * 4096, 4096 + 512), (4096, false));
        // Nor does it follow a page on its way back, which may be refused yet.
        nvram.write_begins(A, (2, 1));
        assert_eq!(nvram.head_of_write(A, 3 * 4096 - 512, 512), (512, true));
        assert!(nvram.has_any(A, (0, 3)) && !nvram.has_any(A, (0, 2)) && !nvram.has_any(DeviceId(1), (0, 9)));
    }

    /// A range is cut until a beginning has one answer, whatever lies in it.
    #[test]
    fn an_operation_is_answered_here_as_far_as_it_is_parked_and_what_goes_back_is_not() {
        let mut nvram = nvram(8);
        park(&mut nvram, 2, 2);
        let answers = |operation, mut offset: Bytes, length: Bytes, goes_back| {
            let (end, mut answers) = (offset + length, Vec::new());
            while offset < end {
                let ask = |length| {
                    let planned = PlannedOperation::data(A, operation, offset, length);
                    nvram.down(&planned, goes_back)
                };
                let (head, down) = match ask(end - offset) {
                    Down::Cut(head) => (head, ask(head)),
                    down => (end - offset, down),
                };
                answers.push((head, down));
                offset += head;
            }
            answers
        };
        use Down::{Answered, Goes};
        let page = 4096;
        assert_eq!(answers(Operation::Read, 0, page, false), [(page, Goes)]);
        assert_eq!(
            answers(Operation::Read, page, 4 * page, false),
            [(page, Goes), (2 * page, Answered), (page, Goes)]
        );
        assert_eq!(
            answers(Operation::Write, 2 * page, 2 * page, false),
            [(2 * page, Goes)],
            "it is replaced"
        );
        assert_eq!(
            answers(Operation::Write, 3 * page - 512, 2 * page + 512, false),
            [(512, Answered), (2 * page, Goes)],
            "the rest of page 2 lies nowhere else"
        );
        assert_eq!(answers(Operation::Trim, 2 * page, page, false), [(page, Goes)]);
        assert_eq!(answers(Operation::Write, 2 * page, page, true), [(page, Goes)]);
    }
}
