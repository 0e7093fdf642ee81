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
//! ```text
//! list of a die   p p p          three of four: they rest
//!                 p p p p        all four go at this moment, and meet in one program
//!                 p p ─ flush    two go, and their program is padded
//! ```
//!
//! Pages that may meet in one program wait in one list. A list gives nothing away until it has as many pages as the next program
//! takes, and then all of them at one moment. It gives what it has, and its program is padded, only in these cases:
//!
//! * A flush waits for its oldest page, or the answer of a write with FUA for that page or a later one.
//! * The line waits for a slot, and nothing is away whose end would free one. Then the longest list gives. A cache that holds a
//!   program for every list never comes to that.
//! * A read needs a page of which its slot holds a part.
//! * Power was lost before a page reached its die. It goes again at once, so that nothing overtakes it.
//!
//! A cache that drains in part also gives to a die that idles: as many pages as fill planes of a program, so that nothing is padded. Its owner
//! knows which die idles, and [asks](WriteCache::lists_with_parts) when nothing else happens.
//!
//! So where power is stored, less than a program for each list may stay here for as long as nothing else is written. Such pages *rest*: a
//! drive in which nothing else happens is idle. Where a program takes one page, none ever rests.
//!
//! A read is answered from a slot that holds all of its page, whether that waits or is on its way to flash. If a slot holds a part of
//! the page, it is handed over at once and the read follows it. A trim drops what waits and is answered at
//! once, unless it is with FUA; the slot is held until the die has unmapped what it has of the page. Reads and trims of a page with a write in line
//! stand in line themselves, so that operations on one page keep their order. But a read is answered from the write in line, as soon as its data is
//! over the link, if that is the latest of its page and of all of it: the drive has the data, whoever has the slots.
//!
//! A [pacer](pacer) may keep the first write in line although a slot is free. A [gate](gate) may keep a program here although its die is
//! free, but nothing that has come back or that a read needs.
//!
//! With stored power (`power_protected`) what is in a slot is durable: a flush has nothing to wait for, and a write with FUA is like any other.
//! Without it a flush waits for the programs of all that came before it. A write with FUA gets its slot in its turn, and is answered when that
//! slot's program has ended, also if later writes have gone over it. A trim with FUA is answered when the die has unmapped the page. What stands before it in its list rests no more. A loss of power empties all slots but those whose programs have begun. The map changes when a
//! program begins (with superblocks: when it is put together), so of a page that is lost it still has the last version that flash was given.
//!
//! This part knows slots and their order. It knows neither dies nor time: its owner asks it for the [next effect](WriteCache::next) and
//! carries that out.
//!
//! Source: measured drives for data centres, which below saturation answer a write of 4 KiB within a few microseconds of the median at p99, and
//! a model fitted to them, in which the answer comes a constant time after the admission and whole programs leave the cache, or parts of
//! them when a die is idle. FUA is that of the NVM command set. Not modelled: a share of the cache kept for reads; FUA that goes before other
//! writes, or around the cache.

mod awaited;
mod gate;
mod line;
mod lists;
mod pacer;
#[cfg(test)]
mod tests;
mod written;

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use harmonia_types::{SimDuration, SimTime, WriteCacheCounters};

pub(crate) use awaited::Awaited;
use awaited::{AwaitedPages, NOBODY};
pub(crate) use gate::Gate;
pub(crate) use line::{InLine, Turn, Write};
pub(crate) use lists::Feeds;
use lists::{List, NONE};
pub(crate) use pacer::Pacer;
pub(crate) use written::Written;

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A write has got this slot, or goes over what waits there. So much of its waiting was for a die that collected, and for the gate.
    Admitted {
        page: InLine,
        write: Write,
        slot: u32,
        absorbs: bool,
        collected: SimDuration,
        kept: SimDuration,
    },
    /// The turn of a read or a trim has come.
    Turn(InLine),
    /// So many pages of a list, the oldest, are to be [taken](WriteCache::take_first), at this moment.
    HandOver(Program),
    /// Everything before a flush is on flash.
    Flushed(Flush),
}

/// Pages that are handed over for one program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Program {
    pub list: u32,
    pub pages: u32,
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
    /// Of a program that writes some of its planes only, on one of its pages: pages that it lacks. They count as away with it, so that a die
    /// has one program at a time.
    lacks: u32,
    /// Of a free one: for how long its die had collected, of the time that the line then waited.
    collected: SimDuration,
    /// The first of the writes into it that are answered when its program has ended; [`NOBODY`] of most.
    awaited: u64,
}

/// What is known of a page.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The slot with its latest data; [`NONE`]: that is on flash, or it was trimmed.
    slot: u32,
    /// Operations on it that are in line.
    in_line: u32,
    /// The place in line of the last one that changes it; it may be gone.
    changed: u64,
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
    /// The place of the first in line: how many have left it.
    left_line: u64,
    /// By logical page. Looked up only: its order shows nowhere.
    pages: HashMap<u32, Known, FxBuildHasher>,
    lists: Vec<List>,
    /// Lists that may have a page to hand over.
    due: VecDeque<u32>,
    flushes: VecDeque<Flush>,
    awaited: AwaitedPages,
    /// Admits writes one by one while the drive collects.
    pub pacer: Option<Pacer>,
    /// Lets so many pages through to the dies in a second.
    pub gate: Option<Gate>,
    /// Writes so far, and those of them that are in line.
    writes: u64,
    writes_in_line: u32,
    /// Pages that wait in lists, and of these those that rest.
    waiting: u32,
    resting: u32,
    /// Of those that wait, pages that have come back.
    returned: u32,
    /// Pages of the host that are not on flash, and of these those that are away.
    of_host: u32,
    host_away: u32,
    counters: WriteCacheCounters,
}

impl WriteCache {
    /// One of `size` pages of `page_size` bytes, with these lists.
    pub fn new(size: u32, page_size: u32, lists: impl Iterator<Item = Feeds>) -> WriteCache {
        WriteCache {
            size,
            page_size,
            slots: Vec::new(),
            free: VecDeque::new(),
            line: VecDeque::new(),
            left_line: 0,
            pages: HashMap::default(),
            lists: lists.map(List::new).collect(),
            due: VecDeque::new(),
            flushes: VecDeque::new(),
            awaited: AwaitedPages::default(),
            pacer: None,
            gate: None,
            writes: 0,
            writes_in_line: 0,
            waiting: 0,
            resting: 0,
            returned: 0,
            of_host: 0,
            host_away: 0,
            counters: WriteCacheCounters::default(),
        }
    }

    /// An operation has arrived that has to wait for its turn: a write, or what follows one in line. Nothing in line is ready before what
    /// stands before it.
    pub fn arrive(&mut self, mut what: InLine) {
        if let Some(last) = self.line.back() {
            what.ready = what.ready.max(last.ready);
        }
        let place = self.left_line + self.line.len() as u64;
        let known = self.known(what.lpn);
        known.in_line += 1;
        if !matches!(what.turn, Turn::Read { .. }) {
            known.changed = place;
        }
        self.writes_in_line += u32::from(matches!(what.turn, Turn::Write(_)));
        self.line.push_back(what);
    }

    /// The first in line leaves it.
    fn leave_line(&mut self) -> Option<InLine> {
        let first = self.line.pop_front()?;
        self.left_line += 1;
        self.known(first.lpn).in_line -= 1;
        Some(first)
    }

    fn known(&mut self, lpn: u32) -> &mut Known {
        self.pages.entry(lpn).or_insert(Known { slot: NONE, in_line: 0, changed: NOBODY })
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

    /// The write in line that is the latest of a page, if it is of all of it; with its place among the pages of its sub-request.
    pub fn whole_in_line(&self, lpn: u32) -> Option<(&InLine, &Write)> {
        let known = self.pages.get(&lpn).filter(|known| known.in_line > 0)?;
        let place = known.changed.checked_sub(self.left_line)?;
        let last = self.line.get(usize::try_from(place).ok()?)?;
        match &last.turn {
            Turn::Write(write) if write.written.is_whole() => Some((last, write)),
            _ => None,
        }
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
        while let Some(&number) = self.due.front() {
            let pages = self.gives(number);
            if pages > 0 && self.keeps_back(self.lists[number as usize].returned, now) {
                break;
            }
            self.due.pop_front();
            self.lists[number as usize].is_due = false;
            if pages > 0 {
                return Some(Effect::HandOver(self.begin_program(number, pages)));
            }
        }
        if self.is_stuck()
            && self.line.front().is_some_and(|head| head.ready <= now && !self.has_room(head))
            && !self.keeps_back(self.returned, now)
        {
            let longest = (0..self.lists.len()).rev().max_by_key(|&list| self.lists[list].waiting)?;
            let pages = self.lists[longest].has(true);
            return Some(Effect::HandOver(self.begin_program(longest as u32, pages)));
        }
        let head = self.line.front().filter(|head| head.ready <= now && self.has_room(head))?;
        if self.is_paced(head) > now {
            return None;
        }
        let (lpn, turn) = (head.lpn, head.turn);
        let head = self.leave_line()?;
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

    /// When it goes on by itself, after `now`.
    pub fn next_time(&self, now: SimTime) -> SimTime {
        let gate = self.gate.as_ref().map(Gate::opens_at).filter(|&opens_at| opens_at > now);
        let of_line = match self.line.front() {
            Some(head) if self.has_room(head) => head.ready.max(self.is_paced(head)),
            Some(head) if self.is_stuck() => {
                head.ready.max(self.is_paced(head)).max(gate.unwrap_or_default())
            }
            _ => SimTime::NEVER,
        };
        let keeps = |_: &SimTime| !self.due.is_empty() || self.lists_with_parts().next().is_some();
        gate.filter(keeps).map_or(of_line, |opens_at| opens_at.min(of_line))
    }

    /// Whether pages may be handed over.
    pub fn gate_is_open(&self, now: SimTime) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.opens_at() <= now)
    }

    /// Whether a program that is to be handed over stays for now. What has come back, of which it has `returned` pages, goes before all
    /// others.
    #[inline]
    fn keeps_back(&mut self, returned: u32, now: SimTime) -> bool {
        let closed = self.gate.as_mut().filter(|gate| gate.opens_at() > now && returned == 0);
        closed.map(|gate| gate.keep_back(now)).is_some()
    }

    /// Until when the pacer keeps what stands in line, if it is a write that takes a slot.
    #[inline]
    fn is_paced(&self, head: &InLine) -> SimTime {
        match &self.pacer {
            Some(pacer) if matches!(head.turn, Turn::Write(_)) && self.waits(head.lpn).is_none() => {
                pacer.admits_at()
            }
            _ => SimTime::ZERO,
        }
    }

    /// Whether everything that it holds waits, so that no slot becomes free by itself.
    fn is_stuck(&self) -> bool {
        self.waiting > 0 && self.waiting == self.held()
    }

    /// Pages that a list gives away now.
    fn gives(&self, number: u32) -> u32 {
        let list = &self.lists[number as usize];
        if list.returned > 0 {
            return list.returned;
        }
        let pages = list.has(self.is_waited_for(list));
        if list.away + pages <= list.feeds.most { pages } else { 0 }
    }

    /// Whether a flush waits for the oldest page of a list, or the host for the program of that or of a later one.
    fn is_waited_for(&self, list: &List) -> bool {
        let before = self.flushes.back().map_or(0, |flush| flush.before).max(list.urgent);
        before > 0 && list.head != NONE && self.slots[list.head as usize].number < before
    }

    /// Whether a list gives part of a program.
    fn is_forced(&self, list: &List) -> bool {
        list.returned > 0 || self.is_waited_for(list)
    }

    fn begin_program(&mut self, list: u32, pages: u32) -> Program {
        self.lists[list as usize].begin_program(pages);
        self.count_resting(list);
        Program { list, pages }
    }

    /// Lists that have pages for a plane at least, and how many, where the cache drains in part.
    pub fn lists_with_parts(&self) -> impl Iterator<Item = (u32, u32)> {
        let lists = if self.waiting > self.resting { &self.lists[..] } else { &[] };
        let has_part = |list: &List| list.waiting > list.resting && list.feeds.part < list.feeds.program;
        (0..).zip(lists).filter(move |(_, list)| has_part(list)).map(|(number, list)| (number, list.waiting))
    }

    /// So many pages of a list go to a die that idles, whose next program has this `room`.
    pub fn begin_part(&mut self, list: u32, pages: u32, room: u32) -> Program {
        self.lists[list as usize].takes = room;
        self.begin_program(list, pages)
    }

    /// The number of pages in a list has changed, or of those that it gives.
    fn count_resting(&mut self, number: u32) {
        let list = self.lists[number as usize];
        let resting = if self.is_forced(&list) { 0 } else { list.beyond() };
        self.lists[number as usize].resting = resting;
        self.resting = self.resting + resting - list.resting;
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
            None => {
                if let Some(pacer) = &mut self.pacer {
                    pacer.admit(now);
                }
                self.take_slot(&page, write, number)
            }
        };
        let collected = collected.min(waited);
        let kept = match &mut self.gate {
            Some(gate) => gate.kept_between(page.ready, now).min(waited - collected),
            None => SimDuration::ZERO,
        };
        if waited > SimDuration::ZERO {
            self.counters.waits += 1;
            self.counters.wait_ns += waited.as_ns();
            self.counters.waits_for_gc += u64::from(collected > SimDuration::ZERO);
        }
        if write.is_awaited {
            self.awaits(slot, Awaited { page, admitted: now, collected, kept });
        }
        Effect::Admitted { page, write, slot, absorbs: waiting.is_some(), collected, kept }
    }

    /// A write into a slot is answered when its program has ended, and so nothing in its list up to there rests.
    fn awaits(&mut self, slot: u32, page: Awaited) {
        let list = self.adds_awaited(slot, page);
        let urgent = &mut self.lists[list as usize].urgent;
        *urgent = (*urgent).max(self.slots[slot as usize].number + 1);
        self.count_resting(list);
        self.look_at(list);
    }

    /// A trim that has dropped what waited in a slot is answered when its page is unmapped.
    pub fn awaits_unmapping(&mut self, slot: u32, trim: InLine, now: SimTime) {
        let (collected, kept) = (SimDuration::ZERO, SimDuration::ZERO);
        self.adds_awaited(slot, Awaited { page: trim, admitted: now, collected, kept });
    }

    /// One more is answered when a slot is done with its page; the list of the slot.
    fn adds_awaited(&mut self, slot: u32, page: Awaited) -> u32 {
        let number = self.awaited.push(page);
        let held = &mut self.slots[slot as usize];
        let list = held.write.list;
        match held.awaited {
            NOBODY => held.awaited = number,
            first => {
                let last = self.awaited.last(first);
                if let Some(Some((_, next))) = self.awaited.of(last) {
                    *next = number;
                }
            }
        }
        list
    }

    /// Whether somebody waits for the program of a page in a slot.
    #[inline]
    pub fn is_awaited(&self, slot: u32) -> bool {
        self.slots[slot as usize].awaited != NOBODY
    }

    /// Takes the first of those who wait for the program in a slot.
    pub fn take_awaited(&mut self, slot: u32) -> Option<Awaited> {
        let first = &mut self.slots[slot as usize].awaited;
        let (page, next) = self.awaited.take(*first)?;
        *first = next;
        self.counters.fua_pages += u64::from(matches!(page.page.turn, Turn::Write(_)));
        Some(page)
    }

    /// Since when the host waits for a program, if it does.
    pub fn awaits_since(&self) -> Option<SimTime> {
        self.awaited.pages.front()?.as_ref().map(|(page, _)| page.admitted)
    }

    /// Power is lost: nobody waits for a program any more. Calls `forgets` with the sub-request of each page.
    pub fn forget_awaited(&mut self, mut forgets: impl FnMut(u32)) {
        self.slots.iter_mut().for_each(|slot| slot.awaited = NOBODY);
        let AwaitedPages { pages, first } = &mut self.awaited;
        *first += pages.len() as u64;
        pages.drain(..).flatten().for_each(|(awaited, _)| forgets(awaited.page.sub));
    }

    /// A write goes over a page that waits.
    fn absorb(&mut self, slot: u32, page: u32, write: Write) {
        self.counters.absorbed_pages += 1;
        let held = &mut self.slots[slot as usize];
        let mut written = held.write.written;
        written.add(write.written, self.page_size);
        let is_background = held.write.is_background && write.is_background;
        self.of_host += u32::from(held.write.is_background && !is_background);
        // It goes where the page would have gone over which it goes.
        let Write { list, handle, .. } = held.write;
        (held.write, held.page) = (Write { written, is_background, list, handle, ..write }, page);
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
            lacks: 0,
            collected: SimDuration::ZERO,
            awaited: NOBODY,
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
        self.of_host += u32::from(!write.is_background);
        self.count_waiting(write.list);
        self.look_at(write.list);
        self.counters.admitted_pages += 1;
        self.counters.high_water_pages = self.counters.high_water_pages.max(u64::from(self.held()));
        (slot, collected)
    }

    /// Pages that it holds.
    pub fn held(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    /// Pages that it has room for.
    pub fn size(&self) -> u32 {
        self.size
    }

    fn look_at(&mut self, number: u32) {
        if self.gives(number) > 0 && !std::mem::replace(&mut self.lists[number as usize].is_due, true) {
            self.due.push_back(number);
        }
    }

    /// One more page waits in a list.
    fn count_waiting(&mut self, number: u32) {
        self.lists[number as usize].waiting += 1;
        self.waiting += 1;
        self.count_resting(number);
    }

    /// A page that waits goes to its die, whatever that has to do.
    fn hand_over(&mut self, slot: u32) {
        self.unlink(slot);
        let held = &mut self.slots[slot as usize];
        held.state = State::Away;
        self.host_away += u32::from(!held.write.is_background);
        self.lists[held.write.list as usize].away += 1;
    }

    /// The program of a page that was handed over lacks so many pages.
    pub fn lacks(&mut self, slot: u32, pages: u32) {
        let held = &mut self.slots[slot as usize];
        if held.state == State::Away {
            held.lacks = pages;
            self.lists[held.write.list as usize].away += pages;
        }
    }

    /// Whether something of a list is on its way to flash.
    pub fn is_away(&self, list: u32) -> bool {
        self.lists[list as usize].away > 0
    }

    /// The oldest page of a list is handed over; returns its slot.
    pub fn take_first(&mut self, list: u32) -> Option<u32> {
        let from = &mut self.lists[list as usize];
        let slot = Some(from.head).filter(|&head| head != NONE)?;
        if from.returned > 0 {
            from.returned -= 1;
            self.returned -= 1;
        }
        self.hand_over(slot);
        Some(slot)
    }

    /// What was to be handed over has been, or as much of it as there was room for.
    pub fn end_program(&mut self, list: u32) {
        self.look_at(list);
    }

    /// A page is handed over at once, out of turn. Returns what is to be handed over with it; `None` if it is on its way already.
    pub fn hand_over_now(&mut self, slot: u32) -> Option<Program> {
        let held = &self.slots[slot as usize];
        let (list, waits) = (held.write.list, held.state == State::Waiting);
        waits.then(|| {
            let pages = self.lists[list as usize].has(true);
            self.hand_over(slot);
            Program { pages: pages - 1, ..self.begin_program(list, pages) }
        })
    }

    /// A page that waits is dropped, and its slot handed over.
    fn drop_waiting(&mut self, slot: u32) -> bool {
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
        list.waiting -= 1;
        self.waiting -= 1;
        self.count_resting(write.list);
    }

    /// Power is lost and nothing has kept what a slot holds. No program of it has begun, and none will.
    pub fn lose(&mut self, slot: u32) {
        let Slot { state, holds, .. } = self.slots[slot as usize];
        self.counters.lost_pages += u64::from(holds == Holds::Page);
        if state == State::Waiting {
            self.hand_over(slot);
        }
        self.is_on_flash(slot, SimDuration::ZERO);
    }

    /// The same of all that waits in lists. Calls `lost` with each slot before.
    pub fn lose_waiting(&mut self, mut lost: impl FnMut(u32, u32)) {
        for list in 0..self.lists.len() {
            while self.lists[list].head != NONE {
                let slot = self.lists[list].head;
                lost(slot, self.slots[slot as usize].lpn);
                self.lose(slot);
            }
        }
    }

    /// Nothing waits in lists any more, and these feed the next programs: what was handed over last has not been programmed.
    pub fn feed_anew(&mut self, lists: impl Iterator<Item = Feeds>) {
        for (list, feeds) in self.lists.iter_mut().zip(lists) {
            list.takes = feeds.first;
        }
        self.look_at_all();
    }

    /// A page that was on its way has not reached a die, and goes again, before all others: a later version of it may wait.
    pub fn take_back(&mut self, slot: u32) {
        let held = &mut self.slots[slot as usize];
        let number = held.write.list;
        let list = &mut self.lists[number as usize];
        list.away -= 1 + std::mem::take(&mut held.lacks);
        list.returned += 1;
        self.returned += 1;
        let next = std::mem::replace(&mut list.head, slot);
        match next {
            NONE => list.tail = slot,
            next => self.slots[next as usize].previous = slot,
        }
        let held = &mut self.slots[slot as usize];
        (held.state, held.next, held.previous) = (State::Waiting, next, NONE);
        self.host_away -= u32::from(!held.write.is_background);
        let (lpn, holds) = (held.lpn, held.holds);
        if self.holds(lpn).is_none() && holds == Holds::Page {
            self.known(lpn).slot = slot;
        }
        self.count_waiting(number);
        self.look_at(number);
    }

    /// The program of a page has ended. Its die had collected for so long, of the time that the line has waited.
    pub fn is_on_flash(&mut self, slot: u32, collected: SimDuration) {
        let Slot { write: Write { list: number, .. }, lacks, .. } = self.slots[slot as usize];
        self.lists[number as usize].away -= 1 + lacks;
        self.release(slot, collected);
        self.look_at(number);
    }

    fn release(&mut self, slot: u32, collected: SimDuration) {
        let held = &mut self.slots[slot as usize];
        debug_assert!(held.awaited == NOBODY, "slot {slot} is free before its writes are answered");
        (held.state, held.collected) = (State::Free, collected);
        let (lpn, number) = (held.lpn, held.number);
        self.of_host -= u32::from(!held.write.is_background);
        self.host_away -= u32::from(!held.write.is_background);
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
        if !self.drop_waiting(slot) {
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
            self.look_at_all();
        }
        left > 0
    }

    /// What a list gives has changed though its pages have not.
    fn look_at_all(&mut self) {
        for number in 0..self.lists.len() as u32 {
            self.count_resting(number);
            self.look_at(number);
        }
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
        let head = self.line.front().filter(|head| head.ready < now)?;
        // Where writes are paced the first one may wait for its turn instead.
        let has_slot = self.pacer.is_some() && self.has_room(head);
        (!has_slot).then_some(head.ready)
    }

    /// Since when the write waits that gets the next slot to become free, at `now`, or the one so many after it, if one does. Slots that became
    /// free at this moment go to those before it.
    pub fn next_waits_since(&self, after: usize, now: SimTime) -> Option<SimTime> {
        self.waits_since(now)?;
        let takes_slot =
            |what: &&InLine| matches!(what.turn, Turn::Write(_)) && self.waits(what.lpn).is_none();
        let ready = self.line.iter().filter(takes_slot).nth(self.free.len() + after)?.ready;
        (ready < now).then_some(ready)
    }

    /// Whether pages have come back and have not gone again.
    pub fn has_returned(&self) -> bool {
        self.returned > 0
    }

    /// Pages that wait in lists.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Pages that wait and do not rest, and what is in line.
    pub fn not_handed_over(&self) -> usize {
        (self.waiting - self.resting) as usize + self.line.len()
    }

    /// Whether pages of the host are on their way to flash, or about to be.
    pub fn works_for_host(&self) -> bool {
        self.host_away > 0 || (self.of_host > 0 && self.waiting > self.resting)
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
    pub fn lose_power(&mut self, now: SimTime, mut forgets: impl FnMut(u32)) {
        self.gate.iter_mut().for_each(|gate| gate.forget(now));
        self.flushes.clear();
        self.writes_in_line = 0;
        while let Some(InLine { sub, lpn, .. }) = self.leave_line() {
            self.forget_if_unknown(lpn);
            forgets(sub);
        }
        self.look_at_all();
    }

    /// The drive has failed.
    pub fn forget_all(&mut self) {
        let counters = self.counters;
        let lists = self.lists.iter().map(|list| list.feeds).collect::<Vec<_>>();
        let (pacer, gate) = (self.pacer, self.gate.take());
        *self = WriteCache::new(self.size, self.page_size, lists.into_iter());
        (self.counters, self.pacer, self.gate) = (counters, pacer, gate);
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
        let (mut waiting, mut away, mut resting, mut returned) = (0, 0, 0, 0);
        for (number, list) in (0..).zip(&self.lists) {
            let next = |&slot: &u32| Some(self.slots[slot as usize].next).filter(|&next| next != NONE);
            let first = Some(list.head).filter(|&head| head != NONE);
            let listed = std::iter::successors(first, next).count();
            assert_eq!(list.waiting as usize, listed, "pages in list {number}");
            waiting += listed;
            away += list.away;
            assert!(list.returned <= list.waiting, "pages that have come back wait in list {number}");
            assert_eq!(
                list.resting,
                if self.is_forced(list) { 0 } else { list.beyond() },
                "pages that rest in {number}"
            );
            resting += list.resting;
            returned += list.returned;
            assert!(self.gives(number) == 0 || list.is_due, "nobody looks at list {number}");
        }
        let lacking = self.slots.iter().filter(|slot| slot.state == State::Away).map(|slot| slot.lacks);
        let lacking = lacking.sum::<u32>() as usize;
        assert_eq!(
            (waiting, away as usize),
            (of(State::Waiting), of(State::Away) + lacking),
            "pages in lists"
        );
        assert_eq!((resting, returned), (self.resting, self.returned), "pages that rest, or have come back");
        let is_host = |slot: &&Slot| slot.state != State::Free && !slot.write.is_background;
        let away = self.slots.iter().filter(is_host).filter(|slot| slot.state == State::Away);
        let of_host = self.slots.iter().filter(is_host).count();
        assert_eq!((of_host, away.count()), (self.of_host as usize, self.host_away as usize), "host pages");
        let mut line: Vec<u32> = self.line.iter().map(|what| what.lpn).collect();
        line.sort_unstable();
        for (lpn, known) in &self.pages {
            let first = line.partition_point(|of| of < lpn);
            let in_line = line[first..].iter().take_while(|&of| of == lpn).count();
            assert_eq!(known.in_line as usize, in_line, "what is in line of page {lpn}");
            assert!(known.slot == NONE || self.slot(known.slot).lpn == *lpn, "page {lpn} is in its slot");
        }
        let awaited = self.slots.iter().filter(|slot| slot.awaited != NOBODY);
        assert!(awaited.clone().all(|slot| slot.state != State::Free), "what is awaited will be on flash");
        let number = self.awaited.pages.iter().flatten().count();
        assert!(awaited.count() <= number, "writes that are awaited are known");
        let is_found = |held: &Slot| {
            held.state != State::Waiting || held.holds == Holds::Nothing || self.holds(held.lpn).is_some()
        };
        assert!(self.slots.iter().all(is_found), "what waits can be found");
    }
}
