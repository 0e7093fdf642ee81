//! The front of a drive: a write cache between the host link and the mapping.
//!
//! ```text
//!                 ┌─ no slot is free: in line, in the order of arrival
//! host ── link ──►│──► slot ──► handed over to a die ──► its program ends: the slot is free
//!                      │  ▲
//!                      │  └─ a later write of the page goes over it (absorbed), until it is handed over
//!                      └──► the host hears of it `ack` after it got its slot
//! ```
//!
//! A slot holds one page, and is held until the program of that page *ends*. So the cache is a buffer, and not one more place in which
//! data stays: over time it takes as much as the dies program. A die is given as many pages at once as one of its commands
//! takes, so that reads find no more than that ahead of them and what waits here can be absorbed.
//!
//! A read is answered from a slot that holds all of its page, whether that waits or is on its way to flash. If a slot holds a part of
//! the page, it is handed over at once and the read follows it. A trim drops what waits and is answered at
//! once; the slot is held until the die has unmapped what it has of the page. Reads and trims of a page with a write in line
//! stand in line themselves, so that operations on one page keep their order.
//!
//! With stored power (`power_protected`) what is in a slot is durable, and a flush has nothing to wait for. Without it a flush waits for the
//! programs of all that came before it.
//!
//! This part knows slots and their order. It knows neither dies nor time: its owner asks it for the [next effect](WriteCache::next) and
//! carries that out.
//!
//! Source: measured drives for data centres, which below saturation answer a write of 4 KiB within a few microseconds of the median at p99, and
//! a model fitted to them, in which the answer comes a constant time after the admission. Not modelled: a share of the cache kept for
//! reads, pacing of writes before it is full, writes that are to be on flash before they are answered (FUA): no request says that.

mod written;

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use harmonia_types::{IoCause, SimDuration, SimTime, WriteCacheCounters};

pub(crate) use written::Written;

const NONE: u32 = u32::MAX;

/// A page that the host writes, or what has to keep its place behind one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InLine {
    /// Sub-request and its page.
    pub sub: u32,
    pub page: u32,
    pub lpn: u32,
    /// When its data is over the link.
    pub ready: SimTime,
    pub turn: Turn,
}

/// What its turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A slot.
    Write(Write),
    /// Reading its page, from the cache or from flash.
    Read { fast_fail: bool },
    /// Unmapping its page.
    Trim { fast_fail: bool },
}

/// A write of a page, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Write {
    pub written: Written,
    pub cause: IoCause,
    /// Token of its sub-request.
    pub token: u64,
    /// The pages that go where this one goes are counted in this list.
    pub list: u32,
    /// The array writes it behind its host's back.
    pub is_background: bool,
}

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A write has got this slot, or goes over what waits there. So much of its waiting was for a die that collected.
    Admitted { page: InLine, write: Write, slot: u32, absorbs: bool, collected: SimDuration },
    /// The turn of a read or a trim has come.
    Turn(InLine),
    /// The page in this slot goes to its die.
    HandOver(u32),
    /// Everything before a flush is on flash.
    Flushed(Flush),
}

/// A flush that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flush {
    pub token: u64,
    /// When it was submitted, and when it began to wait.
    pub issued: SimTime,
    pub since: SimTime,
    /// Writes that came before it: those with a lower number, of which so many are not on flash.
    before: u64,
    left: u32,
}

/// Where a page in the cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// In its list.
    Waiting,
    /// At a die, or being programmed.
    Away,
}

/// What a slot is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A page to be programmed.
    Page,
    /// Nothing any more: what flash has of its page is to be unmapped.
    Nothing,
}

/// What a trim has found in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trimmed {
    /// The latest data of the page waited, and is dropped. This slot, on its way now, holds nothing.
    Dropped(u32),
    /// What dies have been given, or nothing.
    Elsewhere,
}

/// One page in the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    state: State,
    pub holds: Holds,
    pub lpn: u32,
    /// The last write that went into it.
    pub write: Write,
    pub page: u32,
    /// Its place among all writes.
    number: u64,
    next: u32,
    previous: u32,
    /// Of a free one: for how long its die had collected, of the time that the line then waited.
    collected: SimDuration,
}

/// Pages of one kind that wait, oldest first: those of a die, or all where any die may take them.
#[derive(Debug, Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
    /// Handed over and not on flash, and how many may be.
    away: u32,
    most: u32,
    is_due: bool,
}

/// What is known of a page.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The slot with its latest data; [`NONE`]: that is on flash, or it was trimmed.
    slot: u32,
    /// Operations on it that are in line.
    in_line: u32,
}

/// The write cache of a drive.
#[derive(Debug, Clone)]
pub(crate) struct WriteCache {
    /// Pages that it holds at most.
    size: u32,
    page_size: u32,
    slots: Vec<Slot>,
    free: VecDeque<u32>,
    line: VecDeque<InLine>,
    /// By logical page.
    pages: BTreeMap<u32, Known>,
    lists: Vec<List>,
    /// Lists that may have a page to hand over.
    due: VecDeque<u32>,
    flushes: VecDeque<Flush>,
    /// Writes so far, and those of them that are in line.
    writes: u64,
    writes_in_line: u32,
    /// Pages that wait in lists.
    waiting: u32,
    /// Pages of the host that are not on flash.
    of_host: u32,
    counters: WriteCacheCounters,
}

impl WriteCache {
    /// One of `size` pages of `page_size` bytes, with a list for each of these numbers: the pages of it that may be on their way to
    /// flash at a time.
    pub fn new(size: u32, page_size: u32, lists: impl Iterator<Item = u32>) -> WriteCache {
        let list = |most| List { head: NONE, tail: NONE, away: 0, most, is_due: false };
        WriteCache {
            size,
            page_size,
            slots: Vec::new(),
            free: VecDeque::new(),
            line: VecDeque::new(),
            pages: BTreeMap::new(),
            lists: lists.map(list).collect(),
            due: VecDeque::new(),
            flushes: VecDeque::new(),
            writes: 0,
            writes_in_line: 0,
            waiting: 0,
            of_host: 0,
            counters: WriteCacheCounters::default(),
        }
    }

    /// An operation has arrived that has to wait for its turn: a write, or what follows one in line. Nothing in line is ready before what
    /// stands before it.
    pub fn arrive(&mut self, mut what: InLine) {
        if let Some(last) = self.line.back() {
            what.ready = what.ready.max(last.ready);
        }
        self.known(what.lpn).in_line += 1;
        self.writes_in_line += u32::from(matches!(what.turn, Turn::Write(_)));
        self.line.push_back(what);
    }

    fn known(&mut self, lpn: u32) -> &mut Known {
        self.pages.entry(lpn).or_insert(Known { slot: NONE, in_line: 0 })
    }

    fn forget_if_unknown(&mut self, lpn: u32) {
        if self.pages.get(&lpn).is_some_and(|known| known.slot == NONE && known.in_line == 0) {
            self.pages.remove(&lpn);
        }
    }

    /// Whether something on this page is in line.
    pub fn is_in_line(&self, lpn: u32) -> bool {
        self.pages.get(&lpn).is_some_and(|known| known.in_line > 0)
    }

    /// The slot with the latest data of a page, or of a part of it.
    pub fn holds(&self, lpn: u32) -> Option<u32> {
        self.pages.get(&lpn).map(|known| known.slot).filter(|&slot| slot != NONE)
    }

    /// A page in the cache.
    pub fn slot(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    /// What happens next, at `now`; `None` if that is later, or depends on others.
    pub fn next(&mut self, now: SimTime) -> Option<Effect> {
        if self.flushes.front().is_some_and(|flush| flush.left == 0) {
            return self.flushes.pop_front().map(Effect::Flushed);
        }
        while let Some(number) = self.due.pop_front() {
            let list = &mut self.lists[number as usize];
            list.is_due = false;
            if list.away < list.most && list.head != NONE {
                let slot = list.head;
                self.hand_over(slot);
                self.look_at(number);
                return Some(Effect::HandOver(slot));
            }
        }
        let head = self.line.front().filter(|head| head.ready <= now && self.has_room(head))?;
        let (lpn, turn) = (head.lpn, head.turn);
        let head = self.line.pop_front()?;
        self.known(lpn).in_line -= 1;
        let effect = match turn {
            Turn::Write(write) => {
                self.writes_in_line -= 1;
                self.admit(head, write, now)
            }
            Turn::Read { .. } | Turn::Trim { .. } => Effect::Turn(head),
        };
        self.forget_if_unknown(lpn);
        Some(effect)
    }

    /// When the line goes on by itself.
    pub fn next_time(&self) -> SimTime {
        let head = self.line.front().filter(|head| self.has_room(head));
        head.map_or(SimTime::NEVER, |head| head.ready)
    }

    /// Whether there is a place for what stands in line.
    fn has_room(&self, what: &InLine) -> bool {
        match what.turn {
            Turn::Write(_) => {
                !self.free.is_empty()
                    || (self.slots.len() as u32) < self.size
                    || self.waits(what.lpn).is_some()
            }
            Turn::Read { .. } | Turn::Trim { .. } => true,
        }
    }

    /// The slot in which a page waits to be handed over.
    fn waits(&self, lpn: u32) -> Option<u32> {
        self.holds(lpn).filter(|&slot| self.slots[slot as usize].state == State::Waiting)
    }

    fn admit(&mut self, page: InLine, write: Write, now: SimTime) -> Effect {
        let waited = now - page.ready;
        let number = self.writes;
        self.writes += 1;
        let waiting = self.waits(page.lpn);
        let (slot, collected) = match waiting {
            Some(slot) => {
                self.absorb(slot, page.page, write);
                self.is_done(number);
                (slot, SimDuration::ZERO)
            }
            None => self.take_slot(&page, write, number),
        };
        let collected = collected.min(waited);
        if waited > SimDuration::ZERO {
            self.counters.waits += 1;
            self.counters.wait_ns += waited.as_ns();
            self.counters.waits_for_gc += u64::from(collected > SimDuration::ZERO);
        }
        Effect::Admitted { page, write, slot, absorbs: waiting.is_some(), collected }
    }

    /// A write goes over a page that waits.
    fn absorb(&mut self, slot: u32, page: u32, write: Write) {
        self.counters.absorbed_pages += 1;
        let held = &mut self.slots[slot as usize];
        let mut written = held.write.written;
        written.add(write.written, self.page_size);
        let is_background = held.write.is_background && write.is_background;
        self.of_host += u32::from(held.write.is_background && !is_background);
        (held.write, held.page) = (Write { written, is_background, ..write }, page);
    }

    fn take_slot(&mut self, page: &InLine, write: Write, number: u64) -> (u32, SimDuration) {
        let new = Slot {
            state: State::Waiting,
            holds: Holds::Page,
            lpn: page.lpn,
            write,
            page: page.page,
            number,
            next: NONE,
            previous: self.lists[write.list as usize].tail,
            collected: SimDuration::ZERO,
        };
        let (slot, collected) = match self.free.pop_front() {
            Some(slot) => {
                let collected = std::mem::replace(&mut self.slots[slot as usize], new).collected;
                (slot, collected)
            }
            None => {
                self.slots.push(new);
                (self.slots.len() as u32 - 1, SimDuration::ZERO)
            }
        };
        match new.previous {
            NONE => self.lists[write.list as usize].head = slot,
            previous => self.slots[previous as usize].next = slot,
        }
        self.lists[write.list as usize].tail = slot;
        self.known(page.lpn).slot = slot;
        self.waiting += 1;
        self.of_host += u32::from(!write.is_background);
        self.look_at(write.list);
        self.counters.admitted_pages += 1;
        self.counters.high_water_pages = self.counters.high_water_pages.max(u64::from(self.held()));
        (slot, collected)
    }

    /// Pages that it holds.
    pub fn held(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    fn look_at(&mut self, number: u32) {
        let list = &mut self.lists[number as usize];
        if list.away < list.most && list.head != NONE && !std::mem::replace(&mut list.is_due, true) {
            self.due.push_back(number);
        }
    }

    /// A page that waits goes to its die, whatever that has to do.
    fn hand_over(&mut self, slot: u32) {
        self.unlink(slot);
        self.slots[slot as usize].state = State::Away;
        self.lists[self.slots[slot as usize].write.list as usize].away += 1;
    }

    /// The same at once, out of turn; `false` if it is on its way already.
    pub fn hand_over_now(&mut self, slot: u32) -> bool {
        let waits = self.slots[slot as usize].state == State::Waiting;
        if waits {
            self.hand_over(slot);
        }
        waits
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { next, previous, write, .. } = self.slots[slot as usize];
        let list = &mut self.lists[write.list as usize];
        match previous {
            NONE => list.head = next,
            previous => self.slots[previous as usize].next = next,
        }
        match next {
            NONE => list.tail = previous,
            next => self.slots[next as usize].previous = previous,
        }
        self.waiting -= 1;
    }

    /// A page that was on its way has not reached a die, and waits again, before all others.
    pub fn take_back(&mut self, slot: u32) {
        let number = self.slots[slot as usize].write.list;
        let list = &mut self.lists[number as usize];
        list.away -= 1;
        let next = std::mem::replace(&mut list.head, slot);
        match next {
            NONE => list.tail = slot,
            next => self.slots[next as usize].previous = slot,
        }
        let held = &mut self.slots[slot as usize];
        (held.state, held.next, held.previous) = (State::Waiting, next, NONE);
        let (lpn, holds) = (held.lpn, held.holds);
        if self.holds(lpn).is_none() && holds == Holds::Page {
            self.known(lpn).slot = slot;
        }
        self.waiting += 1;
        self.look_at(number);
    }

    /// The program of a page has ended. Its die had collected for so long, of the time that the line has waited.
    pub fn is_on_flash(&mut self, slot: u32, collected: SimDuration) {
        let number = self.slots[slot as usize].write.list;
        self.lists[number as usize].away -= 1;
        self.release(slot, collected);
        self.look_at(number);
    }

    fn release(&mut self, slot: u32, collected: SimDuration) {
        let held = &mut self.slots[slot as usize];
        (held.state, held.collected) = (State::Free, collected);
        let (lpn, number) = (held.lpn, held.number);
        self.of_host -= u32::from(!held.write.is_background);
        if self.holds(lpn) == Some(slot) {
            self.known(lpn).slot = NONE;
            self.forget_if_unknown(lpn);
        }
        self.free.push_back(slot);
        self.is_done(number);
    }

    /// The host does not need a page any more that nothing in line is for. If its data waits, that is dropped, and its slot goes to the
    /// die to unmap what is there: the host was told that older data is gone.
    pub fn trim(&mut self, lpn: u32) -> Trimmed {
        let Some(slot) = self.holds(lpn) else { return Trimmed::Elsewhere };
        self.known(lpn).slot = NONE;
        self.forget_if_unknown(lpn);
        if !self.hand_over_now(slot) {
            return Trimmed::Elsewhere;
        }
        self.counters.trimmed_pages += 1;
        self.slots[slot as usize].holds = Holds::Nothing;
        Trimmed::Dropped(slot)
    }

    /// A flush that waits until everything before it is on flash; `false` if it is.
    pub fn flush(&mut self, token: u64, issued: SimTime, now: SimTime) -> bool {
        let left = self.held() + self.writes_in_line;
        let before = self.writes + u64::from(self.writes_in_line);
        if left > 0 {
            self.flushes.push_back(Flush { token, issued, since: now, before, left });
        }
        left > 0
    }

    /// A write is on flash, or part of one that came before it.
    fn is_done(&mut self, number: u64) {
        for flush in &mut self.flushes {
            flush.left -= u32::from(number < flush.before);
        }
    }

    /// A read was answered from a slot.
    pub fn has_answered(&mut self) {
        self.counters.answered_pages += 1;
    }

    /// Since when the line waits for a slot at `now`, if it does.
    pub fn waits_since(&self, now: SimTime) -> Option<SimTime> {
        self.line.front().map(|head| head.ready).filter(|&ready| ready < now)
    }

    /// Pages that wait, and what is in line.
    pub fn not_handed_over(&self) -> usize {
        self.waiting as usize + self.line.len()
    }

    /// Whether pages of the host are not on flash.
    pub fn works_for_host(&self) -> bool {
        self.of_host > 0
    }

    /// What it has counted.
    pub fn counters(&self) -> WriteCacheCounters {
        self.counters
    }

    /// The most that it holds counts anew.
    pub fn begin_window(&mut self) {
        self.counters.high_water_pages = self.held().into();
    }

    /// Power is lost: what is in line is forgotten, and flushes; what it holds stays. Calls `forgets` with the sub-request of each page
    /// that was in line.
    pub fn lose_power(&mut self, mut forgets: impl FnMut(u32)) {
        self.flushes.clear();
        self.writes_in_line = 0;
        while let Some(InLine { sub, lpn, .. }) = self.line.pop_front() {
            self.known(lpn).in_line -= 1;
            self.forget_if_unknown(lpn);
            forgets(sub);
        }
    }

    /// The drive has failed.
    pub fn forget_all(&mut self) {
        let counters = self.counters;
        let lists = self.lists.iter().map(|list| list.most).collect::<Vec<_>>();
        *self = WriteCache::new(self.size, self.page_size, lists.into_iter());
        self.counters = counters;
    }

    /// Checks that every page is where it should be, once.
    ///
    /// # Panics
    /// Says which is not.
    pub fn audit(&self, at_dies: RangeInclusive<usize>) {
        let of = |state| self.slots.iter().filter(|slot| slot.state == state).count();
        assert_eq!(of(State::Free), self.free.len(), "free slots");
        assert_eq!(of(State::Waiting), self.waiting as usize, "pages that wait");
        assert!(
            at_dies.contains(&of(State::Away)),
            "{} pages of {at_dies:?} are written to flash",
            of(State::Away)
        );
        assert!(self.slots.len() <= self.size as usize, "{} slots of {}", self.slots.len(), self.size);
        let (mut waiting, mut away) = (0, 0);
        for list in &self.lists {
            let next = |&slot: &u32| Some(self.slots[slot as usize].next).filter(|&next| next != NONE);
            let first = Some(list.head).filter(|&head| head != NONE);
            waiting += std::iter::successors(first, next).count();
            away += list.away;
            assert!(
                list.away >= list.most || list.head == NONE || list.is_due,
                "a list that nobody looks at"
            );
        }
        assert_eq!((waiting, away as usize), (of(State::Waiting), of(State::Away)), "pages in lists");
        for (lpn, known) in &self.pages {
            let in_line = self.line.iter().filter(|what| what.lpn == *lpn).count();
            assert_eq!(known.in_line as usize, in_line, "what is in line of page {lpn}");
            assert!(known.slot == NONE || self.slot(known.slot).lpn == *lpn, "page {lpn} is in its slot");
        }
        let is_found = |held: &Slot| {
            held.state != State::Waiting || held.holds == Holds::Nothing || self.holds(held.lpn).is_some()
        };
        assert!(self.slots.iter().all(is_found), "what waits can be found");
    }
}

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;

    use super::*;

    const PAGE: u32 = 4_096;

    fn cache(size: u32, lists: &[u32]) -> WriteCache {
        WriteCache::new(size, PAGE, lists.iter().copied())
    }

    /// A write of a page, in the list of its number modulo `lists`.
    fn write(lpn: u32, token: u64, lists: u32, ready: u64) -> InLine {
        let write = Write {
            written: Written::of(0, PAGE, PAGE),
            cause: IoCause::Host,
            token,
            list: lpn % lists,
            is_background: false,
        };
        InLine { sub: token as u32, page: 0, lpn, ready: SimTime(ready), turn: Turn::Write(write) }
    }

    /// What happens at a moment: the page of each effect, with a letter for its kind.
    fn happens(cache: &mut WriteCache, now: u64) -> Vec<String> {
        let effects = std::iter::from_fn(|| cache.next(SimTime(now))).collect::<Vec<_>>();
        let told = |effect: &Effect| match effect {
            Effect::Admitted { page, absorbs: false, .. } => format!("in {}", page.lpn),
            Effect::Admitted { page, .. } => format!("over {}", page.lpn),
            Effect::Turn(what) => format!("turn {}", what.lpn),
            Effect::HandOver(slot) => format!("out {}", cache.slot(*slot).lpn),
            Effect::Flushed(flush) => format!("flushed {}", flush.token),
        };
        effects.iter().map(told).collect()
    }

    fn ends(cache: &mut WriteCache, lpn: u32) {
        let slot = cache.slots.iter().position(|slot| slot.lpn == lpn && slot.state == State::Away);
        cache.is_on_flash(slot.expect("a page on its way") as u32, SimDuration::ZERO);
    }

    #[test]
    fn pages_are_admitted_in_order_and_go_to_their_dies_one_by_one() {
        let mut cache = cache(3, &[1, 1]);
        for (turn, lpn) in [0, 2, 1, 4].into_iter().enumerate() {
            cache.arrive(write(lpn, turn as u64, 2, 10 * turn as u64));
        }
        assert_eq!(happens(&mut cache, 0), ["in 0", "out 0"]);
        assert_eq!((cache.next_time(), happens(&mut cache, 9)), (SimTime(10), vec![]));
        assert_eq!(happens(&mut cache, 20), ["in 2", "in 1", "out 1"], "page 2 waits for the die of page 0");
        assert_eq!((cache.next_time(), happens(&mut cache, 30)), (SimTime::NEVER, vec![]), "it is full");
        assert_eq!(cache.waits_since(SimTime(31)), Some(SimTime(30)));
        ends(&mut cache, 0);
        assert_eq!(happens(&mut cache, 40), ["out 2", "in 4"]);
        assert_eq!((cache.held(), cache.waits_since(SimTime(41))), (3, None));
        cache.audit(2..=2);
    }

    #[test]
    fn a_page_that_waits_is_gone_over_even_where_no_slot_is_free() {
        let mut cache = cache(2, &[1]);
        for (token, lpn) in [(0, 7), (1, 8), (2, 8), (3, 7)] {
            cache.arrive(write(lpn, token, 1, 0));
        }
        assert_eq!(happens(&mut cache, 0), ["in 7", "out 7", "in 8", "over 8"], "page 7 is on its way");
        ends(&mut cache, 7);
        assert_eq!(happens(&mut cache, 1), ["out 8", "in 7"]);
        let counters = cache.counters();
        assert_eq!((counters.admitted_pages, counters.absorbed_pages, counters.waits), (3, 1, 1));
    }

    #[test]
    fn a_page_that_comes_back_goes_again_before_all_others() {
        let mut cache = cache(3, &[1]);
        for (token, lpn) in [(0, 1), (1, 2), (2, 3)] {
            cache.arrive(write(lpn, token, 1, 0));
        }
        assert_eq!(happens(&mut cache, 0), ["in 1", "out 1", "in 2", "in 3"]);
        cache.take_back(0);
        cache.audit(0..=0);
        assert_eq!(happens(&mut cache, 1), ["out 1"]);
    }

    #[test]
    fn a_flush_is_done_with_the_last_write_before_it() {
        let mut cache = cache(2, &[1]);
        for token in 0..3 {
            cache.arrive(write(token as u32, token, 1, 0));
        }
        assert!(cache.flush(99, SimTime(0), SimTime(0)), "all three are in line");
        cache.arrive(write(3, 3, 1, 0));
        assert_eq!(happens(&mut cache, 0), ["in 0", "out 0", "in 1"]);
        ends(&mut cache, 0);
        assert_eq!(happens(&mut cache, 1), ["out 1", "in 2"]);
        ends(&mut cache, 1);
        assert_eq!(happens(&mut cache, 2), ["out 2", "in 3"]);
        ends(&mut cache, 2);
        assert_eq!(happens(&mut cache, 3), ["flushed 99", "out 3"]);
        ends(&mut cache, 3);
        assert!(!cache.flush(100, SimTime(4), SimTime(4)), "nothing is left");
    }

    /// Random arrivals, ends, trims and losses of power, with an audit after each.
    #[test]
    fn every_page_stays_where_it_should_be_whatever_happens() {
        for seed in 0..50 {
            let mut rng = Rng::stream(seed, "front");
            let mut cache = cache(1 + rng.below(6) as u32, &[1, 2, 1]);
            let mut away: Vec<u32> = Vec::new();
            for now in 0..400 {
                let lpn = rng.below(9) as u32;
                match rng.below(10) {
                    0..=4 => cache.arrive(write(lpn, now, 3, now + rng.below(3))),
                    5 if !cache.is_in_line(lpn) => {
                        if let Trimmed::Dropped(slot) = cache.trim(lpn) {
                            away.push(slot);
                        }
                    }
                    6 => _ = cache.flush(now, SimTime(now), SimTime(now)),
                    7 if rng.chance(0.1) => cache.lose_power(|_| ()),
                    8 if !away.is_empty() && rng.chance(0.1) => cache.take_back(away.swap_remove(0)),
                    _ if !away.is_empty() => {
                        let slot = away.swap_remove(rng.below(away.len() as u64) as usize);
                        cache.is_on_flash(slot, SimDuration::ZERO);
                    }
                    _ => {}
                }
                while let Some(effect) = cache.next(SimTime(now)) {
                    if let Effect::HandOver(slot) = effect {
                        away.push(slot);
                    }
                }
                cache.audit(away.len()..=away.len());
            }
        }
    }
}
