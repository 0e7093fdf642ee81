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

#[cfg(test)]
mod tests {
    use harmonia_engine::Rng;
    use harmonia_flash::presets;

    use super::*;

    /// A cache of so many frames for a map of 16 pages at least, whose programs carry so many of them.
    fn cache(frames: u64, program: u32) -> MapCache<u32> {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        let shape = config.resolve().expect("it works");
        config.ftl.mapping_entry = shape.page_size / 8;
        config.ftl.mapping_cache = Some(frames * u64::from(shape.page_size));
        let cache = MapCache::new(&config, &shape).expect("it has one");
        assert!(cache.pages.len() >= 16 && cache.size == frames as usize);
        MapCache { program, ..cache }
    }

    /// What is done, one thing after the other, each as soon as it has begun.
    fn done(cache: &mut MapCache<u32>) -> Vec<Next<u32>> {
        let mut done = Vec::new();
        while let Some(next) = cache.next(|_| true) {
            match next {
                Next::Read { frame, .. } => cache.is_there(frame),
                Next::Write { frame, .. } => cache.is_written(frame),
                Next::Blank { .. } | Next::GoesOn(_) => {}
            }
            done.push(next);
        }
        cache.audit();
        done
    }

    fn pages(done: &[Next<u32>]) -> (Vec<u32>, Vec<u32>) {
        let reads = done.iter().filter_map(|next| match next {
            Next::Read { page, .. } => Some(*page),
            _ => None,
        });
        let writes = done.iter().filter_map(|next| match next {
            Next::Write { page, .. } => Some(*page),
            _ => None,
        });
        (reads.collect(), writes.collect())
    }

    fn asks(cache: &mut MapCache<u32>, page: u32, changes: bool, who: u32) -> bool {
        let is_there = cache.ask(page, changes);
        if !is_there {
            cache.park(page, changes, who);
        }
        is_there
    }

    /// A list in the order of use, and which of its pages flash has not.
    #[test]
    fn it_is_a_list_in_the_order_of_use() {
        let mut rng = Rng::stream(3, "map cache");
        for frames in 1..6_usize {
            let (mut cache, mut list) = (cache(frames as u64, 1), Vec::<(u32, bool)>::new());
            let (mut hits, mut written) = (0, 0);
            for who in 0..5_000 {
                let (page, changes) = (rng.below(8) as u32, rng.chance(0.3));
                let at = list.iter().position(|&(held, _)| held == page);
                assert_eq!(asks(&mut cache, page, changes, who), at.is_some(), "{frames} frames, {who}");
                let (reads, writes) = pages(&done(&mut cache));
                let dirty = match at {
                    Some(at) => list.remove(at).1,
                    None => {
                        let leaves = (list.len() == frames).then(|| list.remove(0));
                        let expected: Vec<u32> =
                            leaves.into_iter().filter(|of| of.1).map(|of| of.0).collect();
                        assert_eq!((reads, writes), (vec![page], expected.clone()));
                        written += expected.len() as u64;
                        false
                    }
                };
                hits += u64::from(at.is_some());
                list.push((page, dirty | changes));
            }
            let MappingCacheCounters { hits: counted, misses, read_pages, written_pages, .. } =
                cache.counters();
            assert_eq!(
                (counted, misses, read_pages, written_pages),
                (hits, 5_000 - hits, 5_000 - hits, written)
            );
        }
    }

    #[test]
    fn who_waits_goes_on_in_order_when_the_page_is_there() {
        let mut cache = cache(1, 1);
        for who in 0..3 {
            assert!(!asks(&mut cache, 5, false, who));
        }
        assert!(!asks(&mut cache, 6, false, 3));
        let Some(Next::Read { page: 5, frame }) = cache.next(|_| true) else { panic!("page 5 is read") };
        assert_eq!(cache.next(|_| true), None, "the only frame is in use");
        cache.is_there(frame);
        assert!(!asks(&mut cache, 5, true, 4), "nobody overtakes who is parked");
        let next: Vec<_> = (0..4).map(|_| cache.next(|_| true)).collect();
        assert_eq!(next, [0, 1, 2, 4].map(|who| Some(Next::GoesOn(who))));
        // Page 6 takes its place. The last one has changed page 5.
        assert_eq!(cache.next(|_| true), Some(Next::Write { page: 5, frame }));
        assert_eq!(cache.next(|_| true), None);
        cache.is_written(frame);
        assert_eq!(cache.next(|_| true), Some(Next::Read { page: 6, frame }));
        cache.audit();
    }

    /// Units have map pages in turn, and a program carries those of one.
    #[test]
    fn changed_pages_of_the_same_unit_go_along() {
        let mut cache = cache(6, 3);
        let units = cache.units.by() as u32;
        let of_one = [0, units, 2 * units, 3 * units].map(|page| page % cache.pages.len() as u32);
        assert!(units == 1 || of_one.iter().all(|&page| cache.place_of(page).0 == 0));
        for page in of_one {
            asks(&mut cache, page, true, 0);
            done(&mut cache);
        }
        let clean: Vec<u32> = (0..16).filter(|page| !of_one.contains(page)).take(3).collect();
        asks(&mut cache, clean[0], false, 0);
        asks(&mut cache, clean[1], false, 0);
        assert_eq!(pages(&done(&mut cache)).1, Vec::<u32>::new());
        asks(&mut cache, clean[2], false, 0);
        let (reads, writes) = pages(&done(&mut cache));
        assert_eq!((reads, writes), (vec![clean[2]], of_one[..3].to_vec()));
        assert!(cache.ask(of_one[1], false) && !cache.ask(of_one[0], false), "only the first one leaves");
    }

    #[test]
    fn a_page_that_is_not_on_flash_is_there_at_once() {
        let mut cache = cache(1, 1);
        asks(&mut cache, 3, false, 9);
        let places = std::cell::Cell::new(None);
        let blank = |place| {
            places.set(Some(place));
            false
        };
        assert!(matches!(cache.next(blank), Some(Next::Blank { .. })));
        assert_eq!(cache.next(blank), Some(Next::GoesOn(9)));
        assert_eq!((places.get(), cache.counters().read_pages), (Some(cache.place_of(3)), 0));
        assert!(cache.ask(3, false));
    }

    #[test]
    fn only_changed_pages_of_the_same_unit_go_along() {
        let mut cache = MapCache { units: Divisor::new(2), ..cache(5, 4) };
        for (page, changes) in [(0, true), (1, true), (2, false), (4, true)] {
            asks(&mut cache, page, changes, 0);
            done(&mut cache);
        }
        cache.write_with_others(cache.oldest);
        assert_eq!(pages(&done(&mut cache)).1, [0, 4], "page 1 is of another unit, and page 2 clean");
    }

    #[test]
    fn a_page_stays_changed_for_whoever_waits_behind_others() {
        let mut cache = cache(1, 1);
        asks(&mut cache, 0, true, 0);
        let Some(Next::Read { page: 0, frame }) = cache.next(|_| true) else { panic!("page 0 is read") };
        cache.is_there(frame);
        assert!(!asks(&mut cache, 0, false, 1), "nobody overtakes who is parked");
        done(&mut cache);
        asks(&mut cache, 1, false, 0);
        assert_eq!(pages(&done(&mut cache)), (vec![1], vec![0]));
    }

    /// Pages that are there, on the way, written and behind are forgotten, with who waits and what the host has allowed.
    #[test]
    fn nothing_is_left_when_power_is_lost() {
        let mut cache = cache(3, 1);
        moves(&mut cache, 8..20);
        for page in [0, 1] {
            asks(&mut cache, page, true, 0);
            done(&mut cache);
        }
        moves(&mut cache, 8..20);
        for page in [3, 4] {
            asks(&mut cache, page, true, 1);
        }
        let begun: Vec<_> = std::iter::from_fn(|| cache.next(|_| true)).collect();
        let Some(&Next::Write { frame, .. }) = begun.first() else { panic!("a page leaves: {begun:?}") };
        cache.is_written(frame);
        while cache.next(|_| true).is_some() {}
        assert!(
            cache.leaving > 0 && cache.behind > 0 && cache.moved > 0 && cache.for_gc > 0 && cache.allowed > 0
        );
        cache.forget_all();
        let MapCache { leaving, behind, moved, for_gc, allowed, .. } = cache;
        assert_eq!((leaving, behind, moved, for_gc, allowed, cache.waiting()), (0, 0, 0, 0, 0, 0));
        assert_eq!(done(&mut cache), []);
        // It goes on as a new one.
        for page in [0, 1, 2] {
            asks(&mut cache, page, false, 7);
            assert_eq!(done(&mut cache).last(), Some(&Next::GoesOn(7)));
        }
        assert_eq!((cache.ask(0, false), cache.ask(8, false)), (true, false));
    }

    /// It leaves when it is written, though collection changes it meanwhile. If it is used first, it stays, and is written again.
    #[test]
    fn collection_does_not_keep_a_page_that_leaves() {
        for is_used in [false, true] {
            let mut cache = cache(1, 1);
            asks(&mut cache, 0, true, 0);
            done(&mut cache);
            asks(&mut cache, 1, false, 1);
            assert_eq!(cache.next(|_| true), Some(Next::Write { page: 0, frame: 0 }));
            moves(&mut cache, [0]);
            assert_eq!((cache.behind, cache.counters().pages_for_gc), (0, 0), "it is still there");
            if is_used {
                assert!(cache.ask(0, false));
            }
            cache.is_written(0);
            let next =
                if is_used { Next::Write { page: 0, frame: 0 } } else { Next::Read { page: 1, frame: 0 } };
            assert_eq!(cache.next(|_| true), Some(next));
            let counted = if is_used { (0, 0) } else { (1, 1) };
            assert_eq!((cache.behind as u64, cache.counters().pages_for_gc), counted);
            cache.audit();
        }
    }

    /// A write has all that has changed before it.
    #[test]
    fn a_page_that_is_written_again_is_not_behind() {
        let mut cache = cache(1, 1);
        asks(&mut cache, 0, true, 0);
        done(&mut cache);
        asks(&mut cache, 1, false, 1);
        assert_eq!(cache.next(|_| true), Some(Next::Write { page: 0, frame: 0 }));
        moves(&mut cache, [0]);
        cache.is_written(0);
        moves(&mut cache, [0]);
        assert_eq!(pages(&done(&mut cache)), (vec![1], vec![0]));
        assert_eq!(cache.behind, 0);
    }

    /// One that goes along is dirty again, and stays.
    #[test]
    fn collection_changes_a_page_that_goes_along() {
        let mut cache = cache(2, 2);
        let units = cache.units.by() as u32;
        for page in [0, units] {
            asks(&mut cache, page, true, 0);
            done(&mut cache);
        }
        asks(&mut cache, 1 + units, false, 1);
        let writes: Vec<_> = std::iter::from_fn(|| cache.next(|_| true)).collect();
        assert_eq!(pages(&writes).1, [0, units]);
        moves(&mut cache, [units]);
        cache.is_written(0);
        cache.is_written(1);
        done(&mut cache);
        asks(&mut cache, 0, false, 0);
        assert_eq!(pages(&done(&mut cache)), (vec![0], vec![units]), "written again when it leaves");
    }

    /// Frames are looked at from the oldest on, the one that leaves among them.
    #[test]
    fn few_frames_are_looked_at_to_fill_a_program() {
        for (looks_at, written) in [(1, 1), (2, 1), (3, 2), (4, 3)] {
            let mut cache = MapCache { looks_at, ..cache(5, 4) };
            let of_one = [0, 1, 2].map(|index| index * cache.units.by() as u32);
            let clean = (0..16).find(|page| !of_one.contains(page)).expect("another page");
            for (page, changes) in [(of_one[0], true), (clean, false), (of_one[1], true), (of_one[2], true)] {
                asks(&mut cache, page, changes, 0);
                done(&mut cache);
            }
            cache.write_with_others(cache.oldest);
            assert_eq!(pages(&done(&mut cache)).1, of_one[..written], "{looks_at} frames");
        }
    }

    /// Units have pages of the map in turn, behind those of the host.
    #[test]
    fn the_number_of_a_map_page_names_its_place() {
        let cache = MapCache { units: Divisor::new(3), first: 100, ..cache(1, 1) };
        assert_eq!(
            [0, 1, 2, 3, 10].map(|page| cache.place_of(page)),
            [(0, 100), (1, 100), (2, 100), (0, 101), (1, 103)]
        );
        assert_eq!([0, 7, 8, 15, 16].map(|lpn| cache.page_of(lpn)), [0, 0, 1, 1, 2]);
    }

    #[test]
    fn one_page_leaves_for_each_that_waits() {
        let mut cache = cache(2, 1);
        for page in [0, 1] {
            asks(&mut cache, page, true, 0);
            done(&mut cache);
        }
        asks(&mut cache, 2, false, 0);
        assert_eq!(cache.next(|_| true), Some(Next::Write { page: 0, frame: 0 }));
        assert_eq!(cache.next(|_| true), None, "page 1 stays");
        asks(&mut cache, 3, false, 1);
        assert_eq!(cache.next(|_| true), Some(Next::Write { page: 1, frame: 1 }), "until another one waits");
        cache.audit();
        cache.is_written(1);
        assert_eq!(cache.next(|_| true), Some(Next::Read { page: 2, frame: 1 }), "where room is first");
    }

    /// The same for pages that come for collection: as many as may be read more, and no more than the host has allowed.
    #[test]
    fn pages_leave_for_those_that_are_behind_as_many_as_may_come() {
        let wanted =
            |for_gc, allowed, behind| MapCache { for_gc, allowed, behind, ..cache(2, 1) }.frames_wanted();
        assert_eq!([wanted(0, 3, 5), wanted(0, 8, 5), wanted(6, 8, 5), wanted(8, 8, 5)], [3, 5, 2, 0]);
    }

    /// What collection changes is dirty, whether its page is there or on the way; such a page is not behind.
    #[test]
    fn collection_changes_what_is_there_and_what_comes() {
        let mut cache = cache(2, 1);
        asks(&mut cache, 0, false, 0);
        done(&mut cache);
        moves(&mut cache, [0]);
        asks(&mut cache, 1, false, 0);
        let Some(Next::Read { page: 1, frame }) = cache.next(|_| true) else { panic!("page 1 is read") };
        moves(&mut cache, [1]);
        cache.is_there(frame);
        assert_eq!((cache.behind, cache.counters().pages_for_gc), (0, 0));
        done(&mut cache);
        for (page, leaves) in [(2, 0), (3, 1)] {
            asks(&mut cache, page, false, 0);
            assert_eq!(pages(&done(&mut cache)), (vec![page], vec![leaves]));
        }
    }

    /// Each after others, and for each entry that the host changes one: without that nothing is read.
    #[test]
    fn collection_asks_for_each_page_once_and_behind_others() {
        let mut cache = cache(16, 1);
        for _ in 0..2 {
            // Entries 8 p to 8 p + 7 are in page p.
            (0..12 * 8).filter(|lpn| lpn % 8 < 2).for_each(|lpn| cache.moves(lpn));
        }
        assert_eq!((cache.counters().pages_for_gc, cache.counters().most_behind), (12, 12));
        asks(&mut cache, 13, false, 0);
        assert_eq!(pages(&done(&mut cache)).0, [13], "a read of the host lets none come");
        asks(&mut cache, 13, true, 0);
        asks(&mut cache, 14, true, 0);
        assert_eq!(pages(&done(&mut cache)).0, [14, 0, 1]);
        (0..20).for_each(|_| _ = asks(&mut cache, 13, true, 0));
        let mut begun = Vec::new();
        while let Some(next) = cache.next(|_| true) {
            begun.push(next);
        }
        assert_eq!(pages(&begun), ((2..2 + AT_ONCE).collect(), vec![]), "eight at a time");
        let Next::Read { frame, .. } = begun[0] else { panic!("page 2") };
        cache.is_there(frame);
        assert_eq!(cache.next(|_| true), None, "and no more than that before the host writes again");
        assert!(cache.frames[frame as usize].dirty, "its entries have changed");
    }

    /// Entries 8 p to 8 p + 7 are in page p.
    fn moves(cache: &mut MapCache<u32>, pages: impl IntoIterator<Item = u32>) {
        pages.into_iter().for_each(|page| cache.moves(8 * page));
    }

    /// Memory has eight entries beside two frames. Of twelve pages with one each the first four come before what the host wants.
    #[test]
    fn what_is_behind_the_limit_comes_before_the_host() {
        let mut cache = cache(2, 1);
        moves(&mut cache, 0..12);
        asks(&mut cache, 13, false, 0);
        assert_eq!(pages(&done(&mut cache)).0, [13], "a read of the host lets none come");
        asks(&mut cache, 14, true, 0);
        assert_eq!(pages(&done(&mut cache)).0, [0, 1, 2, 3, 14, 4, 5, 6, 7]);
        assert_eq!((cache.behind, cache.allowed), (4, 0));
        // Eight are not too many: one for each change, after the host.
        moves(&mut cache, 0..4);
        asks(&mut cache, 15, true, 0);
        assert_eq!((pages(&done(&mut cache)).0, cache.behind), (vec![15, 8], 7));
    }

    /// As many entries as take half of the frames' room: each has two numbers.
    #[test]
    fn many_pages_beyond_the_limit_are_read_eight_at_a_time() {
        let mut cache = cache(10, 1);
        moves(&mut cache, (0..20).chain(0..20));
        assert_eq!((cache.limit, cache.moved, cache.behind), (40, 40, 20));
        cache.ask(31, true);
        assert_eq!(cache.allowed, 1, "not too many");
        moves(&mut cache, [0]);
        let allowed = [(); 3].map(|()| {
            cache.ask(31, true);
            cache.allowed
        });
        assert_eq!(allowed, [9, 17, 20], "all that are behind");
        moves(&mut cache, (0..20).chain(0..20));
        cache.park(31, true, 0);
        let begun: Vec<_> = std::iter::from_fn(|| cache.next(|_| true)).collect();
        assert_eq!(pages(&begun).0, [0, 1, 2, 3, 4, 5, 6, 7, 31], "others go on");
        cache.audit();
    }

    /// The host changes entries, and collection those of seven pages of the map for each. When the limit has been passed, the next change of
    /// the host lets more come than collection adds.
    #[test]
    fn collection_that_changes_seven_pages_for_each_of_the_host_is_not_left_behind() {
        for frames in [1, 4, 12] {
            let (mut cache, mut rng) = (cache(frames, 1), Rng::stream(frames, "behind"));
            let (map, mut most, mut behind) = (cache.pages.len() as u64, 0, 0);
            for who in 0..3_000 {
                asks(&mut cache, rng.below(map) as u32, true, who);
                let changed: Vec<u32> = (0..7).map(|_| rng.below(map) as u32).collect();
                moves(&mut cache, changed);
                (most, behind) = (most.max(cache.moved), behind.max(cache.behind));
                done(&mut cache);
            }
            let limit = cache.limit;
            assert!(most <= limit + 2 * 7 && most > limit, "{most} entries and not {limit}, {frames} frames");
            assert_eq!(cache.counters().most_behind, behind as u64);
        }
    }

    /// It comes for the host, and collection need not read it.
    #[test]
    fn who_comes_for_the_host_is_no_more_behind() {
        let mut cache = cache(1, 1);
        moves(&mut cache, [3, 4]);
        asks(&mut cache, 3, false, 0);
        assert_eq!((cache.behind, pages(&done(&mut cache)).0), (1, vec![3]));
        // It has changed, so it is written when it leaves. Page 4 comes for the change of page 5.
        asks(&mut cache, 5, true, 0);
        assert_eq!((pages(&done(&mut cache)), cache.behind), ((vec![5, 4], vec![3, 5]), 0));
        moves(&mut cache, [3]);
        cache.begin_window();
        assert_eq!((cache.counters().pages_for_gc, cache.counters().most_behind), (3, 1));
    }

    #[test]
    fn a_cache_that_is_larger_than_the_map_is_as_large() {
        let cache = cache(16, 1);
        let map = cache.pages.len();
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        config.ftl.mapping_cache = Some(u64::MAX);
        let shape = config.resolve().expect("it works");
        config.ftl.mapping_entry = shape.page_size / 8;
        assert_eq!(MapCache::<u32>::new(&config, &shape).expect("one").size, map);
        assert_eq!(config.map_pages(17), 3);
    }
}
