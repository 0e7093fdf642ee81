//! The cache of a map that does not fit into the memory of its drive: which pages of the map are there, and what must be read or written
//! next. State without time.
//!
//! ```text
//! ask ─► there: a hit                 LRU   newest ─ ... ─ oldest ─► leaves: dropped if it is as on flash, else written first
//!   └──► not there: parked ─► gets a frame ─► read from flash ─► all that are parked for it go on
//! ```
//!
//! A page of the map has as many entries of `ssd.ftl.mapping_entry` bytes as fit into a mapping unit, those of successive logical pages. It lies on flash as
//! a logical page of the FTL behind the host's, so garbage collection moves it and it takes spare. The numbers of map pages name the
//! allocation unit, each in turn. Where map pages lie is in memory, as the global translation directory of DFTL is.
//!
//! * **Replacement** is least recently used, by page of the map. A page is used when somebody asks for an entry of it, and when it gets its
//!   frame. It keeps its frame while it is read, and while it is written. Each page that waits for a frame has one page leave for it.
//! * **Reads**: all that wait for a page of the map wait for one read of it. A page that was never written to flash has no entry that is
//!   set, and need not be read.
//! * **Writes**: an entry that changes makes its page dirty. A dirty page that leaves is written to flash first, and what needs its frame
//!   waits for that. Where a program carries several mapping units, other dirty pages of the same allocation unit, the oldest first, go along and
//!   stay, clean. What the program lacks is padding. A page that is used while it is written to leave stays. One that collection changes
//!   meanwhile leaves, and is behind: else its own program, if that makes a die collect, could keep it for ever.
//! * **Garbage collection** changes the entries of all that is live in a victim, from the moment at which the victim is taken. Pages of the map
//!   that are not there are *behind*: each is read once, however many of its entries change, and is then used like any other. Collection does
//!   not wait for them, and they do not wait for it. Until then memory beside the cache has the new places of moved data: of as many entries, each
//!   with its number, as take the room of the cache again, and of [`AT_ONCE`] at least. Up to this limit one page comes for each entry that the
//!   host changes, after those that somebody is parked for. Beyond it, as after a collection on many dies, pages come before these, `AT_ONCE` for
//!   each such entry. So requests wait for what collection leaves behind. Entries of map pages themselves are in the directory.
//! * **The pace of the host** is there because a small cache would feed itself otherwise: pages of the map that are written for collection take
//!   room, which is collected. `AT_ONCE` pages have at least the entries that collection moves for each page of the host at a write amplification
//!   of nine. A drive on which it moves more, in as many pages of the map, stays behind; `most_behind` says how far.
//!
//! Source: DFTL (Gupta, Kim and Urgaonkar, ASPLOS 2009), which keeps single entries with a segmented LRU, writes all dirty entries of a map
//! page with the first of them that leaves, and changes map pages of moved data without caching them. Our unit of the cache is the whole map page.
//! Not modelled: entries of data of another block that fills a victim's last program (`ssd.gc.last_program`) where a collection is one command,
//! the time to look into the cache, compressed pages of the map, blocks of their own for the map, and writes that make the map
//! outlive a loss of power: it is found again as that of a drive that holds all of it.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use harmonia_types::{Divisor, MappingCacheCounters};

use crate::config::SsdConfig;
use crate::shape::Shape;
use crate::slab::Slab;

/// Pages of the map that are read at one time because collection moves data, at most. So many may be read for what the host wrote before, and
/// come for each entry that the host changes while too many have moved.
const AT_ONCE: u32 = 8;

/// Frames that are looked at for dirty pages that go along with one that is written.
const LOOKED_AT: usize = 4096;

/// No frame, page or handle.
const NONE: u32 = u32::MAX;

/// What a frame has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its page is read.
    Loading,
    /// Its page is there.
    There,
    /// Its page is there and is being written to flash; whether it is to leave then.
    Writing { leaves: bool },
}

/// A place for one page of the map.
#[derive(Debug, Clone, Copy)]
struct Frame {
    page: u32,
    state: State,
    /// Its page has entries that flash has not.
    dirty: bool,
    newer: u32,
    older: u32,
}

/// A page of the map.
#[derive(Debug, Clone, Copy)]
struct MapPage {
    frame: u32,
    /// Those who are parked for it, in order.
    first: u32,
    last: u32,
    /// It waits for a frame because somebody is parked for it.
    is_wanted: bool,
    /// It waits for a frame because collection changes it, and for nothing else.
    is_behind: bool,
    /// It has a place in the line of those that are behind, or had been.
    is_in_line: bool,
    /// It is read because of that alone.
    is_for_gc: bool,
    /// It is dirty as soon as it is there; or, if it is there, as soon as it is used: collection changed it when it was written to leave.
    dirties: bool,
    /// Entries that collection has changed since then.
    moved: u32,
}

impl MapPage {
    const AWAY: MapPage = MapPage {
        frame: NONE,
        first: NONE,
        last: NONE,
        is_wanted: false,
        is_behind: false,
        is_in_line: false,
        is_for_gc: false,
        dirties: false,
        moved: 0,
    };
}

#[derive(Debug, Clone)]
struct Parked<T> {
    what: T,
    next: u32,
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next<T> {
    /// Read this page of the map into this frame.
    Read { page: u32, frame: u32 },
    /// A page of the map has got this frame, which was never written: it is there.
    Blank { frame: u32 },
    /// Write the page of the map in this frame.
    Write { page: u32, frame: u32 },
    /// Its page of the map is there.
    GoesOn(T),
}

/// See the module's documentation. `T`: what waits for a page of the map.
#[derive(Debug, Clone)]
pub(crate) struct MapCache<T> {
    /// Entries of a page of the map.
    entries: Divisor,
    /// Allocation units, to which map pages are dealt in turn.
    units: Divisor,
    /// The first page of a unit that is the map's, as the unit counts its logical pages.
    first: u32,
    /// Map pages that one program carries, and frames that are looked at to fill one.
    program: u32,
    looks_at: usize,
    frames: Vec<Frame>,
    /// How many frames there may be.
    size: usize,
    pages: Vec<MapPage>,
    newest: u32,
    oldest: u32,
    parked: Slab<Parked<T>>,
    /// Map pages that wait for a frame because somebody is parked for them.
    wanted: VecDeque<u32>,
    /// Map pages that are behind, and some that are no more.
    line: VecDeque<u32>,
    /// How many are behind.
    behind: usize,
    /// Entries of moved data that memory has beside the cache, and with how many pages that are behind come first.
    moved: usize,
    limit: usize,
    /// Map pages that are there, and for which somebody may still be parked.
    there: VecDeque<u32>,
    /// Frames that are to be written.
    to_write: VecDeque<u32>,
    /// Frames whose pages leave when they are written.
    leaving: usize,
    /// Pages that are read for collection alone, and how many more may be.
    for_gc: u32,
    allowed: u32,
    counters: MappingCacheCounters,
}

impl<T: Clone> MapCache<T> {
    /// An empty cache, if the drive has one.
    pub fn new(config: &SsdConfig, shape: &Shape) -> Option<MapCache<T>> {
        let size = config.ftl.mapping_cache? / u64::from(shape.page_size);
        let pages = config.map_pages(shape.logical_pages.into()) as usize;
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(pages);
        Some(MapCache {
            entries: Divisor::new(config.entries_of_map_page()),
            units: Divisor::new(shape.units().into()),
            first: shape.host_pages(),
            program: shape.packing.slots_per_program(),
            looks_at: LOOKED_AT,
            frames: Vec::with_capacity(size),
            size,
            pages: vec![MapPage::AWAY; pages],
            newest: NONE,
            oldest: NONE,
            parked: Slab::default(),
            wanted: VecDeque::new(),
            line: VecDeque::with_capacity(pages),
            behind: 0,
            moved: 0,
            // Both numbers of an entry.
            limit: (size * config.entries_of_map_page() as usize / 2).max(AT_ONCE as usize),
            there: VecDeque::new(),
            to_write: VecDeque::new(),
            leaving: 0,
            for_gc: 0,
            allowed: 0,
            counters: MappingCacheCounters::default(),
        })
    }

    /// The page of the map that has the entry of a logical page of the device.
    pub fn page_of(&self, lpn: u32) -> u32 {
        self.entries.divide(lpn.into()).0 as u32
    }

    /// The frame of a page of the map, if it has one.
    pub fn frame_of(&self, page: u32) -> Option<u32> {
        Some(self.pages[page as usize].frame).filter(|&frame| frame != NONE)
    }

    /// The allocation unit of a page of the map, and its number among the unit's logical pages.
    pub fn place_of(&self, page: u32) -> (u32, u32) {
        let (index, unit) = self.units.divide(page.into());
        (unit as u32, self.first + index as u32)
    }

    /// Whether a page of the map is there, and nobody waits for it.
    pub fn has(&self, page: u32) -> bool {
        let MapPage { frame, first, .. } = self.pages[page as usize];
        // Who is parked goes on before who comes.
        frame != NONE && first == NONE && self.frames[frame as usize].state != State::Loading
    }

    /// [`has`](Self::has) for who comes now, which is counted. A write changes an entry of it.
    pub fn ask(&mut self, page: u32, changes: bool) -> bool {
        if changes {
            // Beyond the limit all that are behind may come.
            let (pace, most) = if self.moved > self.limit {
                (AT_ONCE, AT_ONCE.max(self.behind as u32))
            } else {
                (1, AT_ONCE)
            };
            self.allowed = (self.allowed + pace).min(most);
        }
        let is_there = self.has(page);
        if is_there {
            let frame = self.pages[page as usize].frame;
            self.counters.hits += 1;
            let since_written = self.takes_moved(page);
            self.frames[frame as usize].dirty |= changes || since_written;
            self.take_out(frame);
            self.put_newest(frame);
        } else {
            self.counters.misses += 1;
        }
        is_there
    }

    /// Somebody waits for a page of the map that is not there.
    pub fn park(&mut self, page: u32, changes: bool, what: T) {
        let handle = self.parked.insert(Parked { what, next: NONE });
        let of = &mut self.pages[page as usize];
        match std::mem::replace(&mut of.last, handle) {
            NONE => of.first = handle,
            last => self.parked[last].next = handle,
        }
        match self.frames.get_mut(of.frame as usize).filter(|frame| frame.state != State::Loading) {
            Some(frame) => frame.dirty |= changes,
            None => of.dirties |= changes,
        }
        if of.frame == NONE && !of.is_wanted {
            of.is_wanted = true;
            self.behind -= usize::from(std::mem::take(&mut of.is_behind));
            self.wanted.push_back(page);
        }
    }

    /// The entry of a logical page of the device changes because collection moves its data.
    pub fn moves(&mut self, lpn: u32) {
        let page = self.page_of(lpn);
        let Some(of) = self.pages.get_mut(page as usize) else { return };
        // A page that leaves does not stay for that: collection may go on for as long as it is written.
        let stays =
            |frame: &&mut Frame| matches!(frame.state, State::There | State::Writing { leaves: false });
        match self.frames.get_mut(of.frame as usize).filter(stays) {
            Some(frame) => frame.dirty = true,
            None => {
                (of.dirties, of.moved) = (true, of.moved + 1);
                self.moved += 1;
            }
        }
        if of.frame == NONE && !of.is_wanted && !of.is_behind {
            self.falls_behind(page);
        }
    }

    /// A page takes the entries that memory has of it beside the cache. Whether any of its entries had changed.
    fn takes_moved(&mut self, page: u32) -> bool {
        let of = &mut self.pages[page as usize];
        self.moved -= std::mem::take(&mut of.moved) as usize;
        std::mem::take(&mut of.dirties)
    }

    /// A page of the map that is not there waits for a frame because collection has changed it.
    fn falls_behind(&mut self, page: u32) {
        let of = &mut self.pages[page as usize];
        of.is_behind = true;
        if !std::mem::replace(&mut of.is_in_line, true) {
            self.line.push_back(page);
        }
        self.behind += 1;
        self.counters.pages_for_gc += 1;
        self.counters.most_behind = self.counters.most_behind.max(self.behind as u64);
    }

    /// What is to be done next, if anything. `on_flash`: whether a page of the map is on flash, which is at this place.
    pub fn next(&mut self, on_flash: impl Fn((u32, u32)) -> bool) -> Option<Next<T>> {
        loop {
            if let Some(what) = self.next_parked() {
                return Some(Next::GoesOn(what));
            }
            if let Some(frame) = self.to_write.pop_front() {
                self.counters.written_pages += 1;
                return Some(Next::Write { page: self.frames[frame as usize].page, frame });
            }
            let (page, for_gc) = self.next_wanted()?;
            if self.frames.len() == self.size && self.leaving >= self.frames_wanted() {
                return None;
            }
            let Some(frame) = self.vacant_frame() else {
                if self.to_write.is_empty() {
                    return None;
                }
                continue;
            };
            self.give(page, frame, for_gc);
            if on_flash(self.place_of(page)) {
                self.counters.read_pages += 1;
                return Some(Next::Read { page, frame });
            }
            self.is_there(frame);
            return Some(Next::Blank { frame });
        }
    }

    /// The first of those whose page of the map is there.
    fn next_parked(&mut self) -> Option<T> {
        while let Some(&page) = self.there.front() {
            let of = &mut self.pages[page as usize];
            if of.first == NONE {
                self.there.pop_front();
                continue;
            }
            let handle = of.first;
            let Parked { what, next } = self.parked[handle].clone();
            of.first = next;
            if next == NONE {
                of.last = NONE;
            }
            self.parked.release(handle);
            return Some(what);
        }
        None
    }

    /// The page of the map that gets a frame next, and whether that is for collection alone.
    fn next_wanted(&mut self) -> Option<(u32, bool)> {
        let wanted = self.wanted.front().map(|&page| (page, false));
        let behind = self.next_behind().filter(|_| self.for_gc < AT_ONCE && self.allowed > 0);
        let behind = behind.map(|page| (page, true));
        if self.moved > self.limit { behind.or(wanted) } else { wanted.or(behind) }
    }

    /// The first page that is behind.
    fn next_behind(&mut self) -> Option<u32> {
        while let Some(&page) = self.line.front() {
            let of = &mut self.pages[page as usize];
            if of.is_behind {
                return Some(page);
            }
            of.is_in_line = false;
            self.line.pop_front();
        }
        None
    }

    /// Frames that pages could get now, if there were as many.
    fn frames_wanted(&self) -> usize {
        self.wanted.len() + self.behind.min((AT_ONCE - self.for_gc).min(self.allowed) as usize)
    }

    /// A frame without a page: a new one, or that of the page which was used least recently, if flash has all of its entries. If it has not,
    /// the page is to be written.
    fn vacant_frame(&mut self) -> Option<u32> {
        if self.frames.len() < self.size {
            self.frames.push(Frame {
                page: NONE,
                state: State::There,
                dirty: false,
                newer: NONE,
                older: NONE,
            });
            return Some(self.frames.len() as u32 - 1);
        }
        let victim = self.oldest_first().find(|&frame| self.frames[frame as usize].state == State::There)?;
        let Frame { page, dirty, .. } = self.frames[victim as usize];
        if dirty {
            self.write_with_others(victim);
            return None;
        }
        self.take_out(victim);
        let of = &mut self.pages[page as usize];
        of.frame = NONE;
        if of.dirties {
            self.falls_behind(page);
        }
        Some(victim)
    }

    /// Frames, the one whose page was used least recently first.
    fn oldest_first(&self) -> impl Iterator<Item = u32> {
        let some = |frame: u32| (frame != NONE).then_some(frame);
        std::iter::successors(some(self.oldest), move |&frame| some(self.frames[frame as usize].newer))
    }

    /// A page of the map is to be written and leaves then. Other dirty ones of its unit fill the program.
    fn write_with_others(&mut self, victim: u32) {
        let unit = self.place_of(self.frames[victim as usize].page).0;
        self.write(victim, true);
        self.leaving += 1;
        let (mut left, mut frame, mut looked) = (self.program - 1, self.oldest, 0);
        while left > 0 && frame != NONE && looked < self.looks_at {
            let Frame { page, state, dirty, newer, .. } = self.frames[frame as usize];
            if dirty && state == State::There && self.place_of(page).0 == unit {
                self.write(frame, false);
                left -= 1;
            }
            (frame, looked) = (newer, looked + 1);
        }
    }

    fn write(&mut self, frame: u32, leaves: bool) {
        let of = &mut self.frames[frame as usize];
        (of.state, of.dirty) = (State::Writing { leaves }, false);
        let page = of.page;
        self.takes_moved(page);
        self.to_write.push_back(frame);
    }

    /// A page of the map gets a frame, into which it is to be read.
    fn give(&mut self, page: u32, frame: u32, for_gc: bool) {
        let of = &mut self.pages[page as usize];
        (of.frame, of.is_for_gc) = (frame, for_gc);
        if for_gc {
            (of.is_behind, of.is_in_line) = (false, false);
            self.line.pop_front();
            self.behind -= 1;
            (self.for_gc, self.allowed) = (self.for_gc + 1, self.allowed - 1);
        } else {
            of.is_wanted = false;
            self.wanted.pop_front();
        }
        let of = &mut self.frames[frame as usize];
        (of.page, of.state, of.dirty) = (page, State::Loading, false);
        self.put_newest(frame);
    }

    /// The page of a frame has been read.
    pub fn is_there(&mut self, frame: u32) {
        let Frame { page, state, .. } = self.frames[frame as usize];
        assert!(state == State::Loading, "only a page that is read comes to be there");
        let of = &mut self.pages[page as usize];
        self.for_gc -= u32::from(std::mem::take(&mut of.is_for_gc));
        let dirty = self.takes_moved(page);
        let frame = &mut self.frames[frame as usize];
        (frame.state, frame.dirty) = (State::There, dirty);
        self.there.push_back(page);
    }

    /// The page of a frame has been written.
    pub fn is_written(&mut self, frame: u32) {
        let of = &mut self.frames[frame as usize];
        let State::Writing { leaves } = of.state else { panic!("a page that is written") };
        of.state = State::There;
        self.leaving -= usize::from(leaves);
    }

    /// A frame joins the list where the newest are.
    fn put_newest(&mut self, frame: u32) {
        let newest = std::mem::replace(&mut self.newest, frame);
        let of = &mut self.frames[frame as usize];
        (of.newer, of.older) = (NONE, newest);
        match newest {
            NONE => self.oldest = frame,
            newest => self.frames[newest as usize].newer = frame,
        }
    }

    /// A frame leaves the list.
    fn take_out(&mut self, frame: u32) {
        let Frame { newer, older, .. } = self.frames[frame as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.frames[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.frames[older as usize].newer = newer,
        }
    }

    /// Power is lost, or the drive has failed: nothing is there any more, and nobody is parked.
    pub fn forget_all(&mut self) {
        self.frames.clear();
        self.pages.fill(MapPage::AWAY);
        (self.newest, self.oldest) = (NONE, NONE);
        self.parked.release_all();
        self.wanted.clear();
        self.line.clear();
        self.there.clear();
        self.to_write.clear();
        (self.leaving, self.behind, self.moved) = (0, 0, 0);
        (self.for_gc, self.allowed) = (0, 0);
    }

    /// Those who are parked, in no order that means anything.
    pub fn parked(&self) -> impl Iterator<Item = &T> {
        self.parked.iter().map(|parked| &parked.what)
    }

    /// How many are parked.
    pub fn waiting(&self) -> usize {
        self.parked.live()
    }

    /// Pages that the whole map takes.
    pub fn map_pages(&self) -> u32 {
        self.pages.len() as u32
    }

    pub fn counters(&self) -> MappingCacheCounters {
        self.counters
    }

    /// A window begins: maxima count anew.
    pub fn begin_window(&mut self) {
        self.counters.most_behind = self.behind as u64;
    }

    /// Checks that pages, frames and those who are parked belong together.
    ///
    /// # Panics
    /// Says what does not.
    pub fn audit(&self) {
        let held = self.pages.iter().filter(|of| of.frame != NONE).count();
        assert_eq!(held, self.frames.len(), "each frame has one page of the map");
        assert_eq!(self.oldest_first().count(), self.frames.len(), "all frames are in the order of use");
        assert!(self.frames.len() <= self.size, "more frames than there is room for");
        for (number, frame) in (0..).zip(&self.frames) {
            let of = &self.pages[frame.page as usize];
            assert_eq!(of.frame, number, "a page of the map and its frame know each other");
        }
        let leave = |frame: &&Frame| frame.state == State::Writing { leaves: true };
        assert_eq!(self.frames.iter().filter(leave).count(), self.leaving, "pages that leave");
        let (mut waiting, mut for_gc) = (0, 0);
        for of in &self.pages {
            let some = |handle: u32| (handle != NONE).then_some(handle);
            let parked = std::iter::successors(some(of.first), |&handle| some(self.parked[handle].next));
            let count = parked.count();
            let comes = of.is_wanted
                || self.frames.get(of.frame as usize).is_some_and(|frame| frame.state == State::Loading);
            assert!(count == 0 || comes, "who is parked is parked for a page that comes");
            (waiting, for_gc) = (waiting + count, for_gc + u32::from(of.is_for_gc));
        }
        assert_eq!((waiting, for_gc), (self.waiting(), self.for_gc), "parked, and read for collection");
        let (mut behind, mut in_line, mut moved) = (0, 0, 0);
        for of in &self.pages {
            let is_away = of.frame == NONE && !of.is_wanted && of.is_in_line && of.dirties;
            assert!(!of.is_behind || is_away, "a page that is behind waits for nothing else");
            (behind, in_line) = (behind + usize::from(of.is_behind), in_line + usize::from(of.is_in_line));
            moved += of.moved as usize;
        }
        assert_eq!(moved, self.moved, "entries of moved data");
        assert_eq!((behind, in_line), (self.behind, self.line.len()), "behind, and in line");
        let must_go_on = self.leaving == 0 && !self.wanted.is_empty();
        let busy = self.frames.iter().all(|frame| frame.state != State::There);
        assert!(!must_go_on || busy, "a page of the map that is wanted gets a frame");
    }
}
