//! What becomes of pages inside one device, for whoever explains single requests: where a page was served, what stood before
//! it, and which collections kept it waiting.
//!
//! ```text
//! die          [ host ][   collection: why, victims   ][ host ][ the page itself ]
//! page   ready |-- before --|-------- collections --------|-- before --|start       finish
//! ```
//!
//! The device tells a [`Follower`] what happens, at the moment when it happens, and the follower puts it together when a page is
//! done. It remembers the last collections of each die at all times. Pages are remembered only while its [`Switch`] is on.
//!
//! What a page's time went to is the device's own account, [`Blame`]. The follower says where. A wait for collection that lies
//! further back than it remembers is told without the collection.
//!
//! Where the map is not in memory (`ssd.ftl.mapping_cache`), a page may have waited before it came to its die:
//!
//! ```text
//! memory  |-- others hold it --|-- a changed page is written --|-- it is read --|
//! die                          |-- queue --|-- program --------|-- queue --|----|
//! page    from                                                                  goes on
//! ```
//!
//! A read or a write of the map is a page operation like others, so it has a [`PageAccount`] of its own. Of that, somebody who came later waited for
//! the end: after its command had begun, for the rest of that.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harmonia_types::{Blame, Ppn, SimDuration, SimTime};

/// Collections remembered of a die. Unit: count.
const COLLECTIONS: usize = 128;
/// Operations remembered of a die. Unit: count.
const OPERATIONS: usize = 4096;
/// Victims remembered of a collection. Unit: count.
const VICTIMS: usize = 256;

/// Turns the followers of all devices on and off.
#[derive(Debug, Clone, Default)]
pub struct Switch(Arc<AtomicBool>);

impl Switch {
    /// Pages are remembered from now on, or not.
    pub fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::Relaxed);
    }

    fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a die began to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// An allocation unit of `die` was down to so many free blocks: at the hard threshold, or above it at the level where this
    /// drive begins.
    Threshold {
        /// The die that ran low.
        die: u32,
        /// The fewest free blocks of its units.
        free: u32,
        /// Whether that was at or below the hard threshold.
        is_hard: bool,
    },
    /// Somebody outside the device ordered it.
    Ordered,
    /// The same, for as long as the host is idle.
    OrderedIdle,
    /// The policy that limits how many channels collect gave the die a turn.
    Turn,
}

/// A block that was collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VictimTaken {
    /// When it was chosen.
    pub at: SimTime,
    /// Its plane in the die.
    pub plane: u32,
    /// Its number in the allocation unit.
    pub block: u32,
    /// Its live mapping units then.
    pub live: u32,
    /// It was chosen to level wear.
    pub levels: bool,
}

/// One collection of a die, from its first victim to its last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collection {
    /// When it was asked for.
    pub wanted: SimTime,
    /// When it began.
    pub began: SimTime,
    /// When it ended; `None` if it goes on.
    pub ended: Option<SimTime>,
    /// Why it was asked for.
    pub why: Why,
    /// The first of its victims.
    pub victims: Vec<VictimTaken>,
}

/// A collection that a page waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// How long the page waited for it on the die. Unit: ns.
    pub ns: u64,
    /// Which one, with the victims that were under way meanwhile; `None` if the die programmed pages of another die's victim,
    /// held writes back until its turn, or if it is too long ago.
    pub collection: Option<Collection>,
}

/// Where a page was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its channel, and so its bus.
    pub channel: u32,
    /// Its die, counted through the device.
    pub die: u32,
    /// Its plane in the die; `None` if it was refused before it came to one.
    pub plane: Option<u32>,
}

/// What a die served while a page waited for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// Pages read for the host or the array.
    pub reads: u32,
    /// Pages programmed for them.
    pub programs: u32,
    /// Pages of the array's background work.
    pub background: u32,
}

/// What a die did for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Read,
    Program,
    Background,
}

/// Where the time of one page went inside the device, and on what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageAccount {
    /// By resource.
    pub blame: Blame,
    /// `None` if it did not get to a die.
    pub place: Option<Place>,
    /// Of the waiting for the host, what was for the bus. Unit: ns.
    pub host_on_bus: u64,
    /// What was inside the command that the page was part of; the rest was for the die. Unit: ns.
    pub host_in_command: u64,
    /// Of the waiting for collection, what was for the bus. Unit: ns.
    pub gc_on_bus: u64,
    /// What was for pages of collection in the same command; the rest was for the die. Unit: ns.
    pub gc_in_command: u64,
    /// What the die served meanwhile.
    pub before: Before,
    /// Collections of the die that it waited for.
    pub collections: Vec<Met>,
    /// What it waited for before that, because its page of the map was not in memory (`ssd.ftl.mapping_cache`).
    pub map: MapAccount,
}

/// What a page waited for because its page of the map was not in memory, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapAccount {
    /// For memory that other pages of the map held. Unit: ns.
    pub room: u64,
    /// Pages of the map that the drive read and wrote meanwhile.
    pub before: Before,
    /// For a changed page of the map that was written to make room; in its blame is only what was waited for.
    pub write: Option<Box<PageAccount>>,
    /// For the read of the page, in the same way.
    pub read: Option<Box<PageAccount>>,
}

impl MapAccount {
    fn on_flash(&self) -> impl Iterator<Item = &PageAccount> {
        self.write.iter().chain(&self.read).map(|page| &**page)
    }

    /// What of it counts as waiting for collection. Unit: ns.
    pub fn collected(&self) -> u64 {
        self.on_flash().map(|page| page.blame.queue_gc).sum()
    }

    /// The last part of it: so much for collection, and so much for all else.
    fn of_last(mut self, mut collected: u64, mut others: u64) -> MapAccount {
        for page in [&mut self.read, &mut self.write].into_iter().flatten() {
            page.keep_last(&mut collected, &mut others);
        }
        self.room = self.room.min(others);
        for page in [&mut self.write, &mut self.read] {
            *page = page.take().filter(|page| page.blame != Blame::NONE);
        }
        self
    }
}

impl PageAccount {
    /// The last part of what it waited for collection, at most `left`, of which it takes that away.
    fn keep_last_collected(&mut self, left: &mut u64) {
        let met = self.collections.iter_mut().rev().map(|met| &mut met.ns);
        let parts = [&mut self.gc_in_command, &mut self.gc_on_bus].into_iter().chain(met);
        parts.for_each(|part| keep(part, left));
        self.collections.retain(|met| met.ns > 0);
    }

    /// The last part of its time on flash.
    fn keep_last(&mut self, collected: &mut u64, others: &mut u64) {
        let before = *collected;
        self.keep_last_collected(collected);
        let Blame { service, transfer, queue_rebuild, mut queue_host, .. } = self.blame;
        queue_host -= self.host_on_bus + self.host_in_command;
        let mut blame = Blame { service, transfer, queue_rebuild, ..Blame::NONE };
        for part in [
            &mut blame.transfer,
            &mut blame.service,
            &mut self.host_in_command,
            &mut self.host_on_bus,
            &mut blame.queue_rebuild,
            &mut queue_host,
        ] {
            keep(part, others);
        }
        blame.queue_host = queue_host + self.host_on_bus + self.host_in_command;
        blame.queue_gc = before - *collected;
        self.blame = blame;
    }
}

fn keep(part: &mut u64, left: &mut u64) {
    *part = (*part).min(*left);
    *left -= *part;
}

/// A read or a write of a page of the map.
#[derive(Debug, Clone)]
pub(crate) struct MapTouch {
    pub is_read: bool,
    /// When it was ready for its die, when its command began, and when that ended.
    pub ready: SimTime,
    pub start: SimTime,
    pub end: SimTime,
    /// When its die collected while it waited.
    pub collected: Vec<(SimTime, SimTime)>,
    pub account: PageAccount,
}

/// What is known of a frame of the map.
#[derive(Debug, Clone, Default)]
struct MapFrame {
    /// The last write of its page.
    written: Option<MapTouch>,
    /// The write that made room for the page that is in it now.
    before: Option<MapTouch>,
    /// The read of that page.
    read: Option<MapTouch>,
}

/// What is known of the map of a device.
#[derive(Debug, Clone, Default)]
struct Map {
    frames: BTreeMap<u32, MapFrame>,
    /// When pages of it were read (`true`) and written.
    touched: VecDeque<(SimTime, bool)>,
    /// By token and page: what it has waited for the map.
    waited: BTreeMap<(u64, u32), MapAccount>,
    /// The same by slot of the write cache, of whoever gets the slot, and of the page that is done next.
    slots: BTreeMap<u32, MapAccount>,
    next: MapAccount,
}

impl Map {
    /// What a page has waited for the map that is done or refused now.
    fn take(&mut self, token: u64, page: u32) -> MapAccount {
        let next = std::mem::take(&mut self.next);
        self.waited.remove(&(token, page)).unwrap_or(next)
    }

    fn forget(&mut self) {
        self.waited.clear();
    }
}

/// What a follower knows of a die.
#[derive(Debug, Clone, Default)]
struct Diary {
    /// Of a collection that has not begun.
    wanted: Option<(SimTime, Why)>,
    /// The latest comes last, and may be under way.
    collections: VecDeque<Collection>,
    /// When operations ended.
    served: VecDeque<(SimTime, Work)>,
}

/// Follows the pages of one device.
#[derive(Debug, Clone)]
pub struct Follower {
    switch: Switch,
    dies: Vec<Diary>,
    /// By token: the page that was done last so far, and when; ties go to the lowest.
    done: BTreeMap<u64, (SimTime, u32, PageAccount)>,
    /// By token and time.
    refused: BTreeMap<(u64, SimTime), Vec<PageAccount>>,
    /// By token and page: where it was read or programmed.
    places: BTreeMap<(u64, u32), (u32, Ppn)>,
    /// By slot of the write cache: whom those who waited for it waited for.
    slots: BTreeMap<u32, PageAccount>,
    /// Of the page that is about to be done.
    next: Option<PageAccount>,
    map: Map,
    /// Of collections that all are kept of.
    window: Option<(SimTime, SimTime)>,
    /// By die.
    kept: Vec<(u32, Collection)>,
}

impl Follower {
    /// Of a device with so many dies.
    pub fn new(dies: u32, switch: &Switch) -> Self {
        Follower {
            switch: switch.clone(),
            dies: vec![Diary::default(); dies as usize],
            done: BTreeMap::new(),
            refused: BTreeMap::new(),
            places: BTreeMap::new(),
            slots: BTreeMap::new(),
            next: None,
            map: Map::default(),
            window: None,
            kept: Vec::new(),
        }
    }

    /// Keeps the collections that overlap these times.
    pub fn keep(&mut self, from: SimTime, until: SimTime) {
        self.window = Some((from, until));
    }

    /// The collections that were kept, by die, as they ended. Those under way come last.
    pub fn kept(&self) -> Vec<(u32, Collection)> {
        let open = (0..).zip(&self.dies).filter_map(|(die, diary)| {
            let last = diary.collections.back().filter(|last| last.ended.is_none())?;
            self.is_kept(last).then(|| (die, last.clone()))
        });
        self.kept.iter().cloned().chain(open).collect()
    }

    fn is_kept(&self, collection: &Collection) -> bool {
        let ended = collection.ended.unwrap_or(SimTime::NEVER);
        self.window.is_some_and(|(from, until)| collection.began <= until && from <= ended)
    }

    /// What is known of the operation with this token: of its page that was done last.
    pub fn page_done(&self, token: u64) -> Option<&PageAccount> {
        self.done.get(&token).map(|(.., account)| account)
    }

    /// What is known of pages of it that were refused at a time, in the order in which they were.
    pub fn pages_refused(&self, token: u64, at: SimTime) -> &[PageAccount] {
        self.refused.get(&(token, at)).map_or(&[], |pages| pages)
    }

    /// A page of an operation is read or programmed at a place of a unit.
    pub fn touches(&mut self, token: u64, page: u32, unit: u32, place: Ppn) {
        if self.switch.is_on() {
            self.places.insert((token, page), (unit, place));
        }
    }

    pub(crate) fn place_of(&mut self, token: u64, page: u32) -> Option<(u32, Ppn)> {
        self.places.remove(&(token, page))
    }

    /// A die is to collect, and did not have to before.
    pub(crate) fn wants(&mut self, die: u32, why: Why, now: SimTime) {
        self.dies[die as usize].wanted = Some((now, why));
    }

    /// What is left of the collection of a die that has ended waits for another turn.
    pub(crate) fn goes_on_later(&mut self, die: u32, now: SimTime) {
        let diary = &mut self.dies[die as usize];
        diary.wanted = diary.collections.back().map(|last| (now, last.why));
    }

    pub(crate) fn begins(&mut self, die: u32, now: SimTime) {
        let diary = &mut self.dies[die as usize];
        // One that is a single command has chosen its victims before it begins.
        if diary.collections.back().is_some_and(|last| last.ended.is_none()) {
            return;
        }
        let (wanted, why) = diary.wanted.take().unwrap_or((now, Why::Ordered));
        if diary.collections.len() == COLLECTIONS {
            diary.collections.pop_front();
        }
        diary.collections.push_back(Collection { wanted, began: now, ended: None, why, victims: Vec::new() });
    }

    pub(crate) fn takes(&mut self, die: u32, victim: VictimTaken) {
        self.begins(die, victim.at);
        let last = self.dies[die as usize].collections.back_mut();
        if let Some(last) = last.filter(|last| last.victims.len() < VICTIMS) {
            last.victims.push(victim);
        }
    }

    pub(crate) fn ends(&mut self, die: u32, now: SimTime) {
        let Some(last) = self.dies[die as usize].collections.back_mut() else { return };
        if last.ended.is_some() {
            return;
        }
        last.ended = Some(now);
        if self.window.is_some() {
            let last = last.clone();
            if self.is_kept(&last) {
                self.kept.push((die, last));
            }
        }
    }

    /// A die has served somebody.
    pub(crate) fn serves(&mut self, die: u32, work: Work, now: SimTime) {
        if self.switch.is_on() {
            let served = &mut self.dies[die as usize].served;
            if served.len() == OPERATIONS {
                served.pop_front();
            }
            served.push_back((now, work));
        }
    }

    /// What a die served after `from`, and no later than `until`.
    pub(crate) fn served_between(&self, die: u32, from: SimTime, until: SimTime) -> Before {
        let mut before = Before::default();
        let served = self.dies[die as usize].served.iter();
        for (_, work) in served.filter(|(at, _)| from < *at && *at <= until) {
            match work {
                Work::Read => before.reads += 1,
                Work::Program => before.programs += 1,
                Work::Background => before.background += 1,
            }
        }
        before
    }

    /// The collections of a die in these times, in which it collected.
    pub(crate) fn met(&self, die: u32, collected: &[(SimTime, SimTime)]) -> Vec<Met> {
        let all = &self.dies[die as usize].collections;
        let overlap = |collection: &Collection| {
            let ended = collection.ended.unwrap_or(SimTime::NEVER);
            let each = collected
                .iter()
                .map(|&(from, until)| until.min(ended).saturating_since(from.max(collection.began)).as_ns());
            each.sum::<u64>()
        };
        let first = collected.iter().map(|times| times.0).min().unwrap_or_default();
        let last = collected.iter().map(|times| times.1).max().unwrap_or_default();
        let known = all.iter().map(|collection| (overlap(collection), collection)).filter(|(ns, _)| *ns > 0);
        let mut met: Vec<Met> = known
            .map(|(ns, collection)| Met { ns, collection: Some(collection.between(first, last)) })
            .collect();
        let in_all: u64 = collected.iter().map(|&(from, until)| (until - from).as_ns()).sum();
        let unknown = in_all - met.iter().map(|met| met.ns).sum::<u64>();
        if unknown > 0 {
            met.push(Met { ns: unknown, collection: None });
        }
        met
    }

    /// Says more of the page that is done or refused next.
    pub(crate) fn says_of_next(&mut self, account: PageAccount) {
        self.next = self.switch.is_on().then_some(account);
    }

    /// The slot of a page in the write cache is free; whoever waits for it waited for that page.
    pub(crate) fn frees_slot(&mut self, slot: u32, account: PageAccount) {
        if self.switch.is_on() {
            self.slots.insert(slot, account);
        }
    }

    /// The page that is done next got this slot, and waited so long for a die that collected.
    pub(crate) fn gets_slot(&mut self, slot: u32, blame: &Blame) {
        let Some(mut account) = self.slots.get(&slot).cloned() else { return };
        account.blame = *blame;
        // It may have come after a part of that collection.
        let mut left = blame.queue_gc - self.map.next.collected();
        account.keep_last_collected(&mut left);
        if left == 0 {
            self.says_of_next(account);
        }
    }

    /// A page of the map gets a frame.
    pub(crate) fn map_gets(&mut self, frame: u32, now: SimTime) {
        let of = self.map.frames.entry(frame).or_default();
        of.before = of.written.take().filter(|write| write.end == now);
        of.read = None;
    }

    /// The page of a frame has been read or written.
    pub(crate) fn map_touched(&mut self, frame: u32, touch: MapTouch) {
        let touched = &mut self.map.touched;
        if touched.len() == OPERATIONS {
            touched.pop_front();
        }
        touched.push_back((touch.end, touch.is_read));
        let of = self.map.frames.entry(frame).or_default();
        let last = if touch.is_read { &mut of.read } else { &mut of.written };
        *last = Some(touch);
    }

    /// A page has waited since `from` for the page of the map that is in a frame now.
    pub(crate) fn waited_for_map(
        &mut self,
        (token, page): (u64, u32),
        frame: u32,
        (from, now): (SimTime, SimTime),
    ) {
        let account = self.account_for_map(frame, (from, now));
        self.map.waited.insert((token, page), account);
    }

    /// The same of whoever waits for a slot of the write cache.
    pub(crate) fn slot_waited_for_map(&mut self, slot: u32, frame: u32, (from, now): (SimTime, SimTime)) {
        let account = self.account_for_map(frame, (from, now));
        self.map.slots.insert(slot, account);
    }

    /// The page that is done next got this slot, which the map had kept: it waited so long for collection, and so long for all else.
    pub(crate) fn gets_kept_slot(&mut self, slot: u32, collected: u64, others: u64) {
        self.map.next = self.map.slots.remove(&slot).unwrap_or_default().of_last(collected, others);
    }

    fn account_for_map(&self, frame: u32, (from, now): (SimTime, SimTime)) -> MapAccount {
        let frame = self.map.frames.get(&frame);
        let [before, read] = [frame.and_then(|of| of.before.as_ref()), frame.and_then(|of| of.read.as_ref())];
        let until = before.or(read).map_or(now, |touch| touch.ready);
        let meanwhile = self.map.touched.iter().filter(|(at, _)| from < *at && *at <= until);
        let mut served = Before::default();
        for (_, is_read) in meanwhile {
            *(if *is_read { &mut served.reads } else { &mut served.programs }) += 1;
        }
        let on_flash = |touch: Option<&MapTouch>| touch.and_then(|touch| self.waited_since(touch, from));
        MapAccount {
            room: until.saturating_since(from).as_ns(),
            before: served,
            write: on_flash(before),
            read: on_flash(read),
        }
    }

    /// What somebody waited for it who waited since `from`.
    fn waited_since(&self, touch: &MapTouch, from: SimTime) -> Option<Box<PageAccount>> {
        let MapTouch { ready, start, end, collected, account, .. } = touch;
        let all = end.saturating_since(from).as_ns();
        if all == 0 {
            return None;
        }
        if from <= *ready {
            return Some(Box::new(account.clone()));
        }
        if from > *start {
            let blame = Blame { service: all, ..Blame::NONE };
            return Some(Box::new(PageAccount { blame, place: account.place, ..PageAccount::default() }));
        }
        let collected: Vec<(SimTime, SimTime)> = collected
            .iter()
            .filter(|(_, end)| *end > from)
            .map(|&(begin, end)| (begin.max(from), end))
            .collect();
        let die = account.place.map_or(0, |place| place.die);
        let (collections, before) = (self.met(die, &collected), self.served_between(die, from, *start));
        let on_die: u64 = collections.iter().map(|met| met.ns).sum();
        let Blame { service, transfer, .. } = account.blame;
        let queue_gc = on_die + account.gc_on_bus + account.gc_in_command;
        let waited = all - (service + transfer + queue_gc);
        let inside = account.host_on_bus + account.host_in_command;
        let queue_rebuild = account.blame.queue_rebuild.min(waited - inside);
        let queue_host = waited - queue_rebuild;
        let blame = Blame { service, transfer, queue_gc, queue_rebuild, queue_host, ..Blame::NONE };
        Some(Box::new(PageAccount { blame, before, collections, ..account.clone() }))
    }

    fn take_next(&mut self, token: u64, page: u32, blame: &Blame) -> PageAccount {
        let told = self.next.take().filter(|account| account.blame == *blame);
        let account = told.unwrap_or_else(|| PageAccount { blame: *blame, ..PageAccount::default() });
        PageAccount { map: self.map.take(token, page), ..account }
    }

    /// A page of an operation is done.
    pub(crate) fn is_done(&mut self, token: u64, page: u32, finish: SimTime, blame: &Blame) {
        let account = self.take_next(token, page, blame);
        if !self.switch.is_on() {
            self.map.forget();
            self.done.clear();
            self.refused.clear();
            self.places.clear();
            return;
        }
        let is_last = |(last, of, _): &(SimTime, u32, PageAccount)| (finish, *of) > (*last, page);
        if self.done.get(&token).is_none_or(is_last) {
            self.done.insert(token, (finish, page, account));
        }
    }

    /// A page of an operation is refused.
    pub(crate) fn is_refused(&mut self, token: u64, page: u32, at: SimTime, blame: &Blame) {
        let account = self.take_next(token, page, blame);
        if self.switch.is_on() {
            self.refused.entry((token, at)).or_default().push(account);
        }
    }
}

impl Collection {
    /// With the victims that were under way at some moment between these two.
    fn between(&self, first: SimTime, last: SimTime) -> Collection {
        let until = self.victims.iter().skip(1).map(|next| next.at).chain([SimTime::NEVER]);
        let victims = self.victims.iter().zip(until);
        // Those of one command are chosen together.
        let is_at_once = self.victims.last().is_some_and(|victim| victim.at == self.began);
        let is_met =
            |(victim, until): &(&VictimTaken, SimTime)| is_at_once || (victim.at < last && first < *until);
        let victims = victims.filter(is_met).map(|(victim, _)| *victim).collect();
        Collection { victims, ..*self }
    }

    /// How long it took, if it has ended.
    pub fn length(&self) -> Option<SimDuration> {
        self.ended.map(|ended| ended - self.began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follower() -> (Follower, Switch) {
        let switch = Switch::default();
        switch.set(true);
        (Follower::new(2, &switch), switch)
    }

    fn victim(at: u64, block: u32) -> VictimTaken {
        VictimTaken { at: SimTime(at), plane: 0, block, live: 3, levels: false }
    }

    /// A die that collects from 10 to 50 and from 50 to 70, victim by victim.
    fn collecting() -> Follower {
        let (mut follower, _) = follower();
        follower.wants(1, Why::Threshold { die: 1, free: 2, is_hard: true }, SimTime(9));
        follower.begins(1, SimTime(10));
        follower.takes(1, victim(10, 7));
        follower.takes(1, victim(30, 8));
        follower.ends(1, SimTime(50));
        follower.wants(1, Why::OrderedIdle, SimTime(40));
        follower.begins(1, SimTime(50));
        follower.takes(1, victim(50, 9));
        follower
    }

    fn told(met: &[Met]) -> Vec<(u64, Option<Vec<u32>>)> {
        let blocks = |collection: &Collection| collection.victims.iter().map(|victim| victim.block).collect();
        met.iter().map(|met| (met.ns, met.collection.as_ref().map(blocks))).collect()
    }

    #[test]
    fn collections_that_meet_a_window_are_kept() {
        let blocks = |from, until| {
            let (mut follower, _) = follower();
            follower.keep(SimTime(from), SimTime(until));
            for (began, ended, block) in [(10, 20, 1), (30, 40, 2)] {
                follower.takes(1, victim(began, block));
                follower.ends(1, SimTime(ended));
                follower.ends(1, SimTime(ended + 5));
            }
            follower.takes(0, victim(50, 3));
            let kept = follower.kept();
            kept.iter().map(|(die, one)| (*die, one.victims[0].block)).collect::<Vec<_>>()
        };
        assert_eq!(blocks(20, 30), [(1, 1), (1, 2)]);
        assert!(blocks(21, 29).is_empty());
        assert_eq!(blocks(35, 60), [(1, 2), (0, 3)]);
    }

    #[test]
    fn a_wait_is_split_by_collection_and_names_the_victims_of_its_time() {
        let follower = collecting();
        let met = follower.met(1, &[(SimTime(35), SimTime(70))]);
        assert_eq!(told(&met), [(15, Some(vec![8])), (20, Some(vec![9]))]);
        let reasons: Vec<Why> = met.iter().flat_map(|met| met.collection.as_ref()).map(|of| of.why).collect();
        assert_eq!(reasons, [Why::Threshold { die: 1, free: 2, is_hard: true }, Why::OrderedIdle]);
        let earlier = follower.met(1, &[(SimTime(4), SimTime(12))]);
        assert_eq!(
            told(&earlier),
            [(2, Some(vec![7])), (6, None)],
            "before the collection it was something else"
        );
    }

    /// One victim is under way from 10 to 30, the other one from 30 to 50.
    #[test]
    fn victims_that_only_touch_a_wait_are_not_named() {
        let follower = collecting();
        let met = |from, until| told(&follower.met(1, &[(SimTime(from), SimTime(until))]));
        assert_eq!(met(30, 40), [(10, Some(vec![8]))]);
        assert_eq!(met(20, 30), [(10, Some(vec![7]))]);
        assert_eq!(met(29, 31), [(2, Some(vec![7, 8]))]);
    }

    #[test]
    fn victims_of_one_command_are_named_together() {
        let (mut follower, _) = follower();
        (1..4).for_each(|block| follower.takes(0, victim(10, block)));
        follower.ends(0, SimTime(50));
        let met = follower.met(0, &[(SimTime(20), SimTime(30))]);
        assert_eq!(told(&met), [(10, Some(vec![1, 2, 3]))]);
    }

    #[test]
    fn the_page_that_is_done_last_tells_for_its_operation() {
        let (mut follower, switch) = follower();
        let blame = |service| Blame { service, ..Blame::NONE };
        let on = |die| {
            let place = Some(Place { channel: 0, die, plane: Some(0) });
            PageAccount { blame: blame(u64::from(die)), place, ..PageAccount::default() }
        };
        for (page, die, finish) in [(2, 1, 40), (1, 0, 40), (0, 1, 39)] {
            follower.says_of_next(on(die));
            follower.is_done(5, page, SimTime(finish), &blame(u64::from(die)));
        }
        assert_eq!(follower.page_done(5), Some(&on(0)), "of two at one moment the lower page");
        switch.set(false);
        follower.is_done(6, 0, SimTime(50), &blame(1));
        assert_eq!((follower.page_done(5), follower.page_done(6)), (None, None));
    }

    #[test]
    fn what_a_die_served_counts_from_ready_to_start() {
        let (mut follower, _) = follower();
        for (at, work) in [(10, Work::Read), (11, Work::Program), (20, Work::Program), (21, Work::Read)] {
            follower.serves(0, work, SimTime(at));
        }
        let before = follower.served_between(0, SimTime(10), SimTime(20));
        assert_eq!(before, Before { reads: 0, programs: 2, background: 0 });
    }

    #[test]
    fn what_is_refused_at_one_moment_is_told_apart() {
        let (mut follower, switch) = follower();
        let blame = |service| Blame { service, ..Blame::NONE };
        for service in [1, 2] {
            follower.says_of_next(PageAccount {
                blame: blame(service),
                gc_on_bus: service,
                ..PageAccount::default()
            });
            follower.is_refused(5, 0, SimTime(9), &blame(service));
        }
        let on_bus: Vec<u64> =
            follower.pages_refused(5, SimTime(9)).iter().map(|account| account.gc_on_bus).collect();
        assert_eq!((on_bus, follower.pages_refused(5, SimTime(8))), (vec![1, 2], &[][..]));
        switch.set(false);
        follower.is_refused(6, 0, SimTime(9), &blame(1));
        follower.is_done(6, 0, SimTime(10), &blame(1));
        let known = [5, 6].map(|token| follower.pages_refused(token, SimTime(9)).len());
        assert_eq!(known, [0, 0], "nothing is remembered once it is off");
    }

    /// A slot waited 5 ns in its command, 7 for the bus, and 10 and 20 for collections. Whoever came later waited for the end of that.
    #[test]
    fn whoever_gets_a_slot_waited_for_what_its_page_waited_for_last() {
        let (mut follower, _) = follower();
        let collections = [10, 20].map(|ns| Met { ns, collection: None }).to_vec();
        let account = PageAccount { gc_in_command: 5, gc_on_bus: 7, collections, ..PageAccount::default() };
        follower.frees_slot(3, account);
        let mut waited = |queue_gc| {
            let blame = Blame { queue_gc, ..Blame::NONE };
            follower.gets_slot(3, &blame);
            follower.is_done(queue_gc, 0, SimTime(1), &blame);
            let account = follower.page_done(queue_gc).expect("it is done");
            assert_eq!(account.blame, blame);
            let met: Vec<u64> = account.collections.iter().map(|met| met.ns).collect();
            (account.gc_in_command, account.gc_on_bus, met)
        };
        assert_eq!(waited(42), (5, 7, vec![10, 20]));
        assert_eq!(waited(25), (5, 7, vec![13]));
        assert_eq!(waited(9), (5, 4, vec![]));
        assert_eq!(waited(43), (0, 0, vec![]), "nobody knows what the last nanosecond was for");
    }

    #[test]
    fn what_is_long_ago_is_forgotten() {
        let (mut follower, _) = follower();
        for at in (0..=COLLECTIONS as u64).map(|at| 10 * at) {
            (0..=VICTIMS as u32).for_each(|block| follower.takes(0, victim(at, block)));
            follower.ends(0, SimTime(at + 5));
        }
        let victims = |at| {
            let met = follower.met(0, &[(SimTime(at), SimTime(at + 5))]);
            met[0].collection.as_ref().map(|collection| collection.victims.len())
        };
        assert_eq!((victims(0), victims(10)), (None, Some(VICTIMS)));
        for at in 0..=OPERATIONS as u64 {
            follower.serves(0, Work::Read, SimTime(1 + at));
        }
        let all = follower.served_between(0, SimTime::ZERO, SimTime::NEVER);
        assert_eq!(all, Before { reads: OPERATIONS as u32, ..Before::default() });
    }

    #[test]
    fn a_collection_that_waits_for_another_turn_keeps_its_reason() {
        let mut follower = collecting();
        follower.ends(1, SimTime(70));
        follower.goes_on_later(1, SimTime(75));
        follower.begins(1, SimTime(80));
        follower.begins(1, SimTime(85));
        let met = follower.met(1, &[(SimTime(80), SimTime(90))]);
        let last = met[0].collection.as_ref().expect("it is known");
        assert_eq!((last.wanted, last.began, last.why), (SimTime(75), SimTime(80), Why::OrderedIdle));
        assert_eq!((last.length(), met[0].ns), (None, 10));
    }
}
