//! The write cache in front of the dies: what arrives passes it, and what it hands over goes to a die.
//!
//! ```text
//! accept ─► link ─► WriteCache ─► Admitted: the host hears of the page
//!                       │         HandOver: operations of the drive's own, in the queue of a die ─► program ─────┐
//!                       ▲                                                                                          │
//!                       └──────────────────────────── the slot is free ◄───────────────────────────────────────────┘
//! ```
//!
//! [`WriteCache`] says what happens next; [`Device::pump`] carries that out, after every event. Where a page goes is as without a
//! cache: by its number, or to the die that `placement` chooses when the page is handed over. The map changes when its program begins. So until
//! then its old copy counts as valid.
//!
//! Where a program carries several pages ([`units`](super::units)), those that are handed over together enter the queue of one allocation
//! unit at one moment, and its die programs them at once. Each allocation unit has a list of its own. With dynamic allocation there is one more, of
//! whole pages that any unit takes: `placement` chooses a unit for all that are handed over together. A page of which a part
//! is written waits for the unit in which the rest of it lies.
//!
//! The time of a write is on the link until its data is there, then `cache_wait` until it has a slot, then `service` for the answer. Of the wait,
//! `controller` is the time in which the gate kept programs back, and
//! `queue_gc` is the time in which the die collected whose page held the slot that the write then got; only such a write met collection. A read from the
//! cache is on the link for all of its time. A read or trim that had its place in line and then goes to a die has that wait in `link`.
//!
//! Where a page of the map must be read for a page that leaves, that goes on beside the program, and the slot is kept until both are done. The
//! time by which the map kept it longer is `map_wait` of the write that gets it.
//!
//! A write with FUA to a cache without stored power is answered when the programs of its own pages have ended, and its blame is that of the last of them. What it
//! waited for its die before is `queue_gc` as far as the die collected, else `cache_wait`. A trim with FUA that drops what waits here is answered
//! when the die has unmapped the page, like any trim that goes to a die.
//!
//! A write is never refused: it waits for a slot, and not for a die. One with FUA waits for its die even if it asks to fail fast. Reads that ask to fail fast are refused as ever, unless the cache has
//! their page, or the line has. Of a page that was written in part, or trimmed, by what stands in line, such a read is refused if its die collects
//! as it arrives, and again when its turn has come. Not refused: a read that waits in line for slots that other dies keep because they collect.

use harmonia_types::{Blame, Lpn, SimDuration, SimTime, WriteCacheCounters};

use super::account::Share;
use super::mapping::{MapWait, Programmed};
use super::{Device, SubRequest};
use crate::config::{Pacing, SsdConfig};
use crate::front::{Awaited, Feeds, Gate, InLine, Pacer, Turn, WriteCache};
use crate::ftl::Ftl;
use crate::probe::{Origin, Probe};
use crate::shape::Shape;

/// A cache, and how it answers.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    pub pages: WriteCache,
    ack: SimDuration,
    power_protected: bool,
    /// Pages of which the last loss of power took something; each may be there more than once.
    lost: Vec<Lpn>,
}

impl Cache {
    /// The cache of a device in the state `ftl`, if it has one.
    pub fn new(config: &SsdConfig, shape: &Shape, ftl: &Ftl) -> Option<Cache> {
        let size = config.write_cache.pages(shape.page_size)?;
        let lists =
            if by_frontier(shape) { lists_of_units(shape, ftl) } else { lists_of_dies(config, shape) };
        let mut pages = WriteCache::new(size, shape.page_size, lists.into_iter());
        pages.pacer = match config.write_cache.pacer {
            Pacing::Off => None,
            Pacing::Collection => Some(pacer(config, shape)),
        };
        let copied = ftl.tally().moves();
        pages.gate = config.controller.units_per_second.map(|rate| Gate::new(rate, copied));
        Some(Cache {
            pages,
            ack: config.write_cache.ack,
            power_protected: config.write_cache.power_protected,
            lost: Vec::new(),
        })
    }

    /// Since when somebody waits for a slot or for a program; never, if nobody does.
    pub fn is_waited_for_since(&self, now: SimTime) -> SimTime {
        let for_slot = self.pages.waits_since(now).unwrap_or(SimTime::NEVER);
        for_slot.min(self.pages.awaits_since().unwrap_or(SimTime::NEVER))
    }

    /// The drive has failed.
    pub fn forget_all(&mut self) {
        self.pages.forget_all();
    }
}

/// A die programs what a program carries at once, and a page of the flash passes at once.
fn pacer(config: &SsdConfig, shape: &Shape) -> Pacer {
    let slots = u64::from(shape.packing.slots_per_program());
    let program = config.timing.program.mean() + config.timing.command.program;
    let one = SimDuration(program.0 / slots) + config.unit_transfer();
    Pacer::new(shape.dies, one, shape.packing.slots_per_page())
}

/// Whether pages of one frontier of an allocation unit have a list, and not those of a die.
pub(super) fn by_frontier(shape: &Shape) -> bool {
    shape.packing.packs() || shape.joins()
}

/// Where pages are programmed one by one: a list for each die, or one where any die may take them. A die is given as many pages at a time
/// as one of its commands programs.
fn lists_of_dies(config: &SsdConfig, shape: &Shape) -> Vec<Feeds> {
    let at_once = if config.ftl.multi_plane { config.geometry.planes_per_die } else { 1 };
    let feeds = |most| Feeds { most, program: 1, part: 1, first: 1, is_alone: true };
    if shape.names_die {
        vec![feeds(at_once); shape.dies as usize]
    } else {
        vec![feeds(at_once * shape.dies)]
    }
}

/// Where a program carries several pages: a list for each frontier of each allocation unit, behind one for all where the device chooses.
fn lists_of_units(shape: &Shape, ftl: &Ftl) -> Vec<Feeds> {
    let program = shape.packing.slots_per_program();
    let part = shape.packing.slots_per_part();
    let is_alone = !shape.is_dynamic();
    let any = Feeds { most: program * shape.dies, program, part, first: program, is_alone };
    let frontiers = ftl.host_frontiers();
    let of_unit = |list: u32| {
        let first = ftl.room_for_host(list / frontiers, (list % frontiers) as u8);
        // Each die of a unit may have a program.
        Feeds { most: program * shape.dies_per_unit, program, part, first, is_alone }
    };
    let of_units = (0..shape.units() * frontiers).map(of_unit);
    shape.is_dynamic().then_some(any).into_iter().chain(of_units).collect()
}

/// The program of a page from the cache that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramEnded {
    pub die: u32,
    /// When the page was ready for its die, and where the time since then went.
    pub ready: SimTime,
    pub blame: Blame,
    pub share: Share,
    /// The die collected before it served the page.
    pub met_gc: bool,
}

impl<P: Probe> Device<P> {
    /// A flush of a cache without stored power waits for what the cache holds. `false` if there is nothing to wait for.
    pub(super) fn flush_waits(&mut self, sub: &SubRequest, issued: SimTime, now: SimTime) -> bool {
        let cache = self.cache.as_mut().filter(|cache| !cache.power_protected);
        cache.is_some_and(|cache| cache.pages.flush(sub.token, issued, now))
    }

    /// The host hears that the cache has a page of it; `slot`: which one it got. Of its waiting it was so long for
    /// that, and for the controller. `of_map`: its slot was kept for a page of the map for so long.
    pub(super) fn acknowledge(
        &mut self,
        page: &InLine,
        slot: Option<u32>,
        (collected, kept, of_map): (SimDuration, SimDuration, MapWait),
        now: SimTime,
    ) {
        let ack = self.cache.as_ref().map_or(SimDuration::ZERO, |cache| cache.ack);
        let waited = now - page.ready - collected - kept;
        let of_map = of_map.of_last(waited);
        let mut blame = Blame {
            service: ack.0,
            queue_gc: collected.0,
            link: (page.ready - self.subs[page.sub].issued).0,
            cache_wait: (waited - of_map.all).0,
            controller: kept.0,
            ..Blame::default()
        };
        let met_gc = of_map.add_to(&mut blame) || collected > SimDuration::ZERO;
        if let Some((follower, slot)) = self.probe.follower().zip(slot) {
            follower.gets_kept_slot(slot, of_map.collected.0, (of_map.all - of_map.collected).0);
            if collected > SimDuration::ZERO {
                follower.gets_slot(slot, &self.subs[page.sub].with_controller(blame));
            }
        }
        self.finish_page(page.sub, page.page, now + ack, blame, met_gc);
    }

    /// The page in a slot is on flash, or what came in its place: answers writes and trims with FUA that went into it. `program`: the die, when the
    /// page was ready for it, and the time since then. Before that the page was in the cache, where it waited for the die.
    #[cold]
    fn answer_awaited(&mut self, slot: u32, program: Option<&ProgramEnded>, now: SimTime) {
        let origin = self.origin_in_cache(slot);
        let plane = program.and_then(|_| self.plane_followed(origin));
        while let Some(awaited) = self.cache.as_mut().and_then(|cache| cache.pages.take_awaited(slot)) {
            let Awaited { page, admitted, collected, kept } = awaited;
            let issued = self.subs[page.sub].issued;
            let mut blame = program.map_or(Blame::NONE, |program| program.blame);
            let mut met_gc = collected > SimDuration::ZERO;
            if let Some(&ProgramEnded { die, ready, met_gc: meets, .. }) = program {
                let die = &self.dies[die as usize];
                blame.queue_gc += die.collected_between(admitted, ready).0;
                met_gc |= meets || die.has_collected_since(admitted);
            }
            blame.queue_gc += collected.0;
            (blame.link, blame.controller) = ((page.ready - issued).0, kept.0);
            blame.cache_wait = (now - issued).0 - blame.total();
            if self.probe.follower().is_some() {
                let blame = self.subs[page.sub].with_controller(blame);
                match program {
                    Some(program) => self.follow_awaited(&awaited, program, plane, &blame),
                    // A trim gets no slot.
                    None if matches!(page.turn, Turn::Trim { .. }) => {}
                    None => _ = self.probe.follower().map(|follower| follower.gets_slot(slot, &blame)),
                }
            }
            self.finish_page(page.sub, page.page, now, blame, met_gc);
        }
    }

    pub(super) fn answer_from_cache(&mut self, what: &InLine, slot: u32, now: SimTime) {
        let origin = Origin { token: self.subs[what.sub].token, page: what.page };
        self.probe.answer(slot, Lpn(what.lpn), origin);
        self.answer_from_memory(what, (now - what.ready).0, now);
    }

    /// Answers a read from the latest write of its page, if that stands in line and is of all of it.
    pub(super) fn answered_in_line(&mut self, what: &InLine, now: SimTime) -> bool {
        let in_line = self.cache.as_ref().and_then(|cache| cache.pages.whole_in_line(what.lpn));
        let Some((of, write)) = in_line else { return false };
        let (ready, written) = (of.ready, Origin { token: write.token, page: of.page });
        let origin = Origin { token: self.subs[what.sub].token, page: what.page };
        self.probe.answer_in_line(Lpn(what.lpn), written, origin);
        self.answer_from_memory(what, 0, now.max(ready));
        true
    }

    /// The data of a read goes over the link from then on. It had waited in line so long.
    fn answer_from_memory(&mut self, what: &InLine, cache_wait: u64, from: SimTime) {
        if let Some(cache) = &mut self.cache {
            cache.pages.has_answered();
        }
        let finish = self.link.take(from, self.rules.link_page);
        let link = (finish - self.subs[what.sub].issued).0 - cache_wait;
        let blame = Blame { link, cache_wait, ..Blame::default() };
        self.finish_page(what.sub, what.page, finish, blame, false);
    }

    /// A die has collected so many victims, of which it moved so many pages, in so much time.
    #[inline]
    pub(super) fn note_won(&mut self, victims: u32, moved: u32, worked: SimDuration) {
        if let Some(pacer) = self.cache.as_mut().and_then(|cache| cache.pages.pacer.as_mut()) {
            let of_die = self.rules.shape.data_pages / self.rules.shape.dies_per_unit;
            let won = (victims * of_die).saturating_sub(moved);
            pacer.note_victims(victims, worked, won);
        }
    }

    /// The same of a victim that was collected step by step, as long as that takes without waiting.
    #[inline]
    pub(super) fn note_won_by_steps(&mut self, moved: u32) {
        if self.cache.as_ref().is_some_and(|cache| cache.pages.pacer.is_some()) {
            let worked = self.rules.victim_moves_time(true, moved) + self.rules.timing.erase;
            self.note_won(1, moved.next_multiple_of(self.rules.shape.packing.slots_per_program()), worked);
        }
    }

    /// The program of a page from the cache has ended: others may have its slot. How long they waited for it because its die collected is
    /// known here.
    pub(super) fn is_on_flash(&mut self, slot: u32, program: &ProgramEnded, now: SimTime) {
        let &ProgramEnded { die, share, .. } = program;
        if self.is_awaited(slot) {
            self.answer_awaited(slot, Some(program), now);
        }
        // A slot that is kept for a page of the map comes behind those that are.
        let mapping = self.mapping.as_ref().filter(|mapping| mapping.will_keep(slot));
        let kept = mapping.map_or(0, |mapping| mapping.kept());
        let first = self.cache.as_ref().and_then(|cache| cache.pages.next_waits_since(kept, now));
        if self.probe.follower().is_some() {
            self.follow_slot(die, slot, first.unwrap_or(SimTime::NEVER), &share);
        }
        let Some(cache) = &mut self.cache else { return };
        let die = &self.dies[die as usize];
        let collected = match first {
            None => SimDuration::ZERO,
            Some(since) => {
                let start = die.command.start;
                let before =
                    if since < start { die.collected_between(since, start) } else { SimDuration::ZERO };
                before + die.command.bus_wait_gc + share.gc_ahead
            }
        };
        let program = Programmed { at: now, first, collected };
        if self.mapping.as_mut().is_some_and(|mapping| mapping.keeps(slot, program)) {
            return;
        }
        cache.pages.is_on_flash(slot, collected);
    }

    /// What flash has of a page is unmapped, without a die: the slot that was for that is free.
    pub(super) fn is_unmapped(&mut self, slot: u32, now: SimTime) {
        if self.is_awaited(slot) {
            self.answer_awaited(slot, None, now);
        }
        if let Some(cache) = &mut self.cache {
            cache.pages.is_on_flash(slot, SimDuration::ZERO);
        }
    }

    /// Whether a write with FUA waits for the program of the page in a slot.
    #[inline]
    fn is_awaited(&self, slot: u32) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.pages.is_awaited(slot))
    }

    /// Bytes of the page in a slot that nobody wrote.
    pub(super) fn left_out_in_cache(&self, slot: u32) -> u64 {
        self.cache.as_ref().map_or(0, |cache| cache.pages.slot(slot).write.written.left_out().into())
    }

    /// The write that went into a slot last.
    pub(super) fn origin_in_cache(&self, slot: u32) -> Origin {
        let Some(cache) = &self.cache else { unreachable!("a slot of a cache") };
        let held = cache.pages.slot(slot);
        Origin { token: held.write.token, page: held.page }
    }

    /// The list of the page in a slot, and its handle.
    pub(super) fn list_in_cache(&self, slot: u32) -> u32 {
        self.cache.as_ref().map_or(0, |cache| cache.pages.slot(slot).write.list)
    }

    pub(super) fn handle_in_cache(&self, slot: u32) -> u16 {
        self.cache.as_ref().map_or(0, |cache| cache.pages.slot(slot).write.handle)
    }

    /// Whether a read of a page would be answered from the cache.
    pub(super) fn is_cached(&self, lpn: u32) -> bool {
        let is_whole = |cache: &Cache| match cache.pages.is_in_line(lpn) {
            true => cache.pages.whole_in_line(lpn).is_some(),
            false => {
                cache.pages.holds(lpn).is_some_and(|slot| cache.pages.slot(slot).write.written.is_whole())
            }
        };
        self.cache.as_deref().is_some_and(is_whole)
    }

    /// Whether it has a write cache that holds pages.
    pub(super) fn caches_pages(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.pages.held() > 0)
    }

    /// Pages that the cache holds and that take space of flash later: their programs have not begun.
    pub(super) fn cached_for_flash(&self) -> u64 {
        let Some(cache) = &self.cache else { return 0 };
        // Where dies share their blocks, the map is settled when pages go to a die.
        let dies = if self.superblocks.is_some() { &[][..] } else { &self.dies };
        let at_dies = dies.iter().flat_map(|die| self.waiting_from(die.head));
        let to_come = at_dies.filter(|op| op.owner.is_cache() && op.kind.writes()).count();
        (cache.pages.waiting() as usize + to_come) as u64
    }

    /// Pages in the cache that no die has yet, and what is in line.
    #[inline]
    pub(super) fn not_handed_over(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.pages.not_handed_over())
    }

    /// What the cache has counted.
    pub(super) fn counted_by_cache(&self) -> WriteCacheCounters {
        self.cache.as_ref().map(|cache| cache.pages.counters()).unwrap_or_default()
    }

    pub(super) fn begin_window_of_cache(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.pages.begin_window();
        }
    }

    /// Whether a loss of power takes what the cache holds.
    pub(super) fn cache_is_volatile(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| !cache.power_protected)
    }

    /// Pages of which the last loss of power took what a cache without stored power held, discards of them included. Whoever asks
    /// takes them.
    pub fn take_lost(&mut self) -> Vec<Lpn> {
        self.cache.as_mut().map(|cache| std::mem::take(&mut cache.lost)).unwrap_or_default()
    }

    /// Power is lost: nobody hears of programs that go on any more.
    pub(super) fn forget_awaited(&mut self) {
        let mut forgotten = Vec::new();
        if let Some(cache) = &mut self.cache {
            cache.pages.forget_awaited(|sub| forgotten.push(sub));
        }
        forgotten.into_iter().for_each(|sub| self.forget_page(sub));
    }

    /// Power is lost: a page that was on its way to a die has not got there. It comes back, or is lost.
    pub(super) fn takes_back(&mut self, slot: u32) {
        let Some(cache) = &mut self.cache else { return };
        if cache.power_protected {
            cache.pages.take_back(slot);
        } else {
            let lpn = Lpn(cache.pages.slot(slot).lpn);
            self.probe.lose(slot, lpn);
            cache.lost.push(lpn);
            cache.pages.lose(slot);
        }
    }

    /// Power is lost: nothing is in line for the cache any more. What it holds is looked at once more, or is lost.
    pub(super) fn forget_line(&mut self, now: SimTime) {
        let mut forgotten = Vec::new();
        if let Some(cache) = &mut self.cache {
            cache.pages.lose_power(now, |sub| forgotten.push(sub));
            if !cache.power_protected {
                let Cache { pages, lost, .. } = &mut **cache;
                pages.lose_waiting(|slot, lpn| {
                    self.probe.lose(slot, Lpn(lpn));
                    lost.push(Lpn(lpn));
                });
            }
            self.bus_wakes.set(self.buses.len() + 1, now);
        }
        forgotten.into_iter().for_each(|sub| self.forget_page(sub));
    }

    /// Power is lost, and with it what was to fill the next programs.
    pub(super) fn feed_anew(&mut self) {
        if let Some(cache) = self.cache.as_mut().filter(|cache| !cache.power_protected)
            && self.rules.shape.packing.packs()
        {
            cache.pages.feed_anew(lists_of_units(&self.rules.shape, &self.ftl).into_iter());
        }
    }

    /// Checks the cache against the operations that write its pages to flash.
    pub(super) fn audit_cache(&self) {
        let Some(cache) = &self.cache else { return };
        let at_dies = self.ops.iter().filter(|op| op.owner.is_cache()).count();
        let landing = self.placement.as_ref().map_or(0, |placement| placement.landing());
        let at_dies = at_dies + self.mapping.as_ref().map_or(0, |mapping| mapping.kept());
        cache.pages.audit(at_dies..=at_dies + landing);
    }
}
