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
//! A write with FUA to a cache without stored power is answered when the programs of its own pages have ended, and its blame is that of the last of them. What it
//! waited for its die before is `queue_gc` as far as the die collected, else `cache_wait`.
//!
//! A write is never refused: it waits for a slot, and not for a die. One with FUA waits for its die even if it asks to fail fast. Reads that ask to fail fast are refused as ever, unless the cache has
//! their page.

use harmonia_types::{Blame, Lpn, Operation, SimDuration, SimTime, WriteCacheCounters};

use super::account::Share;
use super::owner::OwnerId;
use super::placement::UNBOUND;
use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure, SubCompletion, SubRequest};
use crate::config::{Pacing, SsdConfig};
use crate::die::command::NO_OP;
use crate::front::{
    Awaited, Effect, Feeds, Gate, Holds, InLine, Pacer, Program, Trimmed, Turn, Write, WriteCache, Written,
};
use crate::ftl::Ftl;
use crate::probe::{Origin, Probe};
use crate::shape::Shape;

/// A cache, and how it answers.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    pages: WriteCache,
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

    /// Since when what is in line waits for a slot; never, if it does not.
    pub fn waits_since(&self, now: SimTime) -> SimTime {
        self.pages.waits_since(now).unwrap_or(SimTime::NEVER)
    }

    /// Since when somebody waits for a slot or for a program; never, if nobody does.
    pub fn is_waited_for_since(&self, now: SimTime) -> SimTime {
        self.waits_since(now).min(self.pages.awaits_since().unwrap_or(SimTime::NEVER))
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
fn by_frontier(shape: &Shape) -> bool {
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
    /// The pages of a sub-request pass the cache: writes get in line for it, and reads and trims look into it.
    pub(super) fn accept_before_cache(
        &mut self,
        sub: &SubRequest,
        handle: u32,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        self.interrupted |= !sub.background;
        if self.cache.as_ref().is_some_and(|cache| cache.pages.has_returned()) {
            // What power cut short goes before everything that comes.
            self.pump(now)?;
        }
        let page_size = self.rules.page_size.by();
        let (start, end) = (sub.offset, sub.offset + sub.length);
        let first = self.rules.page_size.divide(start).0;
        let pages = self.subs[handle].remaining;
        let (fast_fail, is_awaited) = (sub.fast_fail, sub.fua && self.cache_is_volatile());
        for page in 0..pages {
            let lpn = first + u64::from(page);
            let within = |byte: u64| byte.saturating_sub(lpn * page_size).min(page_size) as u32;
            let written = Written::of(within(start), within(end), page_size as u32);
            let lpn = lpn as u32;
            let (ready, turn) = match sub.operation {
                Operation::Write => {
                    let cause = sub.parity.cause_of(page);
                    let handle = self.subs[handle].handle_of(cause);
                    let write = Write {
                        written,
                        cause,
                        token: sub.token,
                        list: self.list_of(lpn, written, handle),
                        is_background: sub.background,
                        handle,
                        is_awaited,
                    };
                    (self.link.receive(now, self.rules.link_page), Turn::Write(write))
                }
                Operation::Trim if !written.is_whole() => {
                    self.finish_page_at(handle, page, now);
                    continue;
                }
                Operation::Trim => (now, Turn::Trim { fast_fail }),
                Operation::Read | Operation::Flush => (now, Turn::Read { fast_fail }),
            };
            let what = InLine { sub: handle, page, lpn, ready, turn };
            let Some(cache) = &mut self.cache else { return Ok(()) };
            if matches!(turn, Turn::Write(_)) || cache.pages.is_in_line(lpn) {
                cache.pages.arrive(what);
            } else {
                self.take_turn(&what, now)?;
            }
        }
        self.pump(now)
    }

    /// The list in which a page waits.
    #[inline]
    fn list_of(&self, lpn: u32, written: Written, handle: u16) -> u32 {
        let shape = &self.rules.shape;
        match (shape.names_die, by_frontier(shape)) {
            (true, false) => shape.locate(lpn).0,
            (true, true) => {
                let (_, unit, in_unit) = shape.locate(lpn);
                let to = self.ftl.to(unit, in_unit, handle);
                unit * self.ftl.host_frontiers() + u32::from(to.frontier)
            }
            (false, true) if !written.is_whole() => self.ftl.home(lpn).map_or(0, |unit| unit + 1),
            (false, _) => 0,
        }
    }

    /// A flush of a cache without stored power waits for what the cache holds. `false` if there is nothing to wait for.
    pub(super) fn flush_waits(&mut self, sub: &SubRequest, issued: SimTime, now: SimTime) -> bool {
        let cache = self.cache.as_mut().filter(|cache| !cache.power_protected);
        cache.is_some_and(|cache| cache.pages.flush(sub.token, issued, now))
    }

    /// Carries out what happens in the cache at `now`.
    pub(super) fn pump(&mut self, now: SimTime) -> Result<(), DeviceFailure> {
        if let Some(pacer) = self.cache.as_mut().and_then(|cache| cache.pages.pacer.as_mut()) {
            pacer.is_due(self.dies.iter().any(|die| die.collection.has_turn()));
        }
        if self.rules.controller.units_per_second.is_some() {
            self.note_copies(now);
        }
        loop {
            let Some(effect) = self.cache.as_mut().and_then(|cache| cache.pages.next(now)) else {
                if self.rules.drains_in_part
                    && self.cache.as_ref().is_some_and(|cache| cache.pages.gate_is_open(now))
                    && let Some((program, unit)) = self.part_for_idle_die()
                {
                    self.write_program(program, None, unit, now)?;
                    continue;
                }
                break;
            };
            match effect {
                Effect::Admitted { page, write, slot, absorbs, collected, kept } => {
                    let origin = Origin { token: write.token, page: page.page };
                    self.probe.admit(slot, Lpn(page.lpn), write.cause, origin, absorbs);
                    if !write.is_awaited {
                        let slot = Some(slot).filter(|_| collected > SimDuration::ZERO);
                        self.acknowledge(&page, slot, (collected, kept), now);
                    }
                }
                Effect::Turn(what) => self.take_turn(&what, now)?,
                Effect::HandOver(program) => {
                    let unit = self.unit_for(program.list, program.pages);
                    self.write_program(program, None, unit, now)?;
                }
                Effect::Flushed(flush) => {
                    let cache_wait = (now - flush.since).0;
                    let blame = Blame { cache_wait, ..self.entered(flush.issued, flush.since) };
                    self.completions.push(SubCompletion {
                        token: flush.token,
                        finish: now,
                        blame,
                        met_gc: false,
                        is_parity: false,
                    });
                }
            }
        }
        let next = self.cache.as_ref().map_or(SimTime::NEVER, |cache| cache.pages.next_time(now));
        let slot = self.buses.len() + 1;
        if next == SimTime::NEVER {
            self.bus_wakes.clear(slot);
        } else {
            self.bus_wakes.set(slot, next);
        }
        Ok(())
    }

    /// What collection has programmed keeps the controller busy.
    #[cold]
    fn note_copies(&mut self, now: SimTime) {
        let Some(gate) = self.cache.as_mut().and_then(|cache| cache.pages.gate.as_mut()) else { return };
        let padded = self.counters.padding_of_moves() / self.rules.page_size.by();
        gate.note_copies(self.ftl.tally().moves() - padded, now);
    }

    /// The host hears that the cache has a page of it; `slot`: what it waited for while a die collected. Of its waiting it was so long for
    /// that, and for the controller.
    fn acknowledge(
        &mut self,
        page: &InLine,
        slot: Option<u32>,
        (collected, kept): (SimDuration, SimDuration),
        now: SimTime,
    ) {
        let ack = self.cache.as_ref().map_or(SimDuration::ZERO, |cache| cache.ack);
        let blame = Blame {
            service: ack.0,
            queue_gc: collected.0,
            link: (page.ready - self.subs[page.sub].issued).0,
            cache_wait: (now - page.ready - collected - kept).0,
            controller: kept.0,
            ..Blame::default()
        };
        if let Some((follower, slot)) = self.probe.follower().zip(slot) {
            follower.gets_slot(slot, &self.subs[page.sub].with_controller(blame));
        }
        self.finish_page(page.sub, page.page, now + ack, blame, collected > SimDuration::ZERO);
    }

    /// The page in a slot is on flash, or what came in its place: answers writes with FUA that went into it. `program`: the die, when the
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
                    None => _ = self.probe.follower().map(|follower| follower.gets_slot(slot, &blame)),
                }
            }
            self.finish_page(page.sub, page.page, now, blame, met_gc);
        }
    }

    /// A read or a trim of a page that nothing in line is for any more.
    fn take_turn(&mut self, what: &InLine, now: SimTime) -> Result<(), DeviceFailure> {
        let Some(cache) = &mut self.cache else { return Ok(()) };
        let (kind, fast_fail) = match what.turn {
            Turn::Read { fast_fail } => (OpKind::Read, fast_fail),
            Turn::Trim { fast_fail } => match cache.pages.trim(what.lpn) {
                Trimmed::Dropped(slot) => {
                    self.probe.discard(Lpn(what.lpn));
                    self.acknowledge(what, None, (SimDuration::ZERO, SimDuration::ZERO), now);
                    return self.write_out(slot, UNBOUND, now);
                }
                Trimmed::Elsewhere => (OpKind::Trim, fast_fail),
            },
            Turn::Write(_) => unreachable!("a write is admitted"),
        };
        if kind == OpKind::Read
            && let Some(slot) = cache.pages.holds(what.lpn)
        {
            if cache.pages.slot(slot).write.written.is_whole() {
                self.answer_from_cache(what, slot, now);
                return Ok(());
            }
            if let Some(with) = cache.pages.hand_over_now(slot) {
                let unit = self.unit_for(with.list, with.pages + 1);
                self.write_program(with, Some(slot), unit, now)?;
            }
        }
        self.pass_on(what, kind, fast_fail, now)
    }

    fn answer_from_cache(&mut self, what: &InLine, slot: u32, now: SimTime) {
        if let Some(cache) = &mut self.cache {
            cache.pages.has_answered();
        }
        let sub = &self.subs[what.sub];
        let (token, issued) = (sub.token, sub.issued);
        self.probe.answer(slot, Lpn(what.lpn), Origin { token, page: what.page });
        let finish = self.link.take(now, self.rules.link_page);
        let cache_wait = (now - what.ready).0;
        let blame = Blame { link: (finish - issued).0 - cache_wait, cache_wait, ..Blame::default() };
        self.finish_page(what.sub, what.page, finish, blame, false);
    }

    /// A read or a trim goes on to the die of its page.
    fn pass_on(
        &mut self,
        what: &InLine,
        kind: OpKind,
        fast_fail: bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let &InLine { sub, page, lpn, .. } = what;
        if self.superblocks.is_some() {
            return self.pass_on_by_map(what, kind, fast_fail, now);
        }
        let is_dynamic = self.rules.shape.is_dynamic();
        let (die, unit, in_unit) =
            if is_dynamic { (UNBOUND, UNBOUND, lpn) } else { self.rules.shape.locate(lpn) };
        if kind == OpKind::Read {
            let is_blank = match is_dynamic {
                true => self.ftl.home(lpn).is_none() && !self.page_is_awaited(lpn),
                false => {
                    !self.ftl.fully_mapped(unit)
                        && self.ftl.lookup(unit, in_unit).is_none()
                        && !self.waits_at(die, unit, in_unit)
                }
            };
            if is_blank {
                self.finish_unmapped_read(sub, page, if is_dynamic { 0 } else { unit }, in_unit, now);
                return Ok(());
            }
        }
        let bound = if is_dynamic { self.die_bound_to(lpn, false) } else { Some(die) };
        let left = bound.filter(|_| fast_fail).and_then(|die| self.kept_waiting(die, kind.class(), now));
        if let Some(left) = left {
            self.refuse_arriving(sub, page, left, now);
            return Ok(());
        }
        let cause = self.subs[sub].parity.cause_of(page);
        let op = PageOp::new(OwnerId::host(sub), in_unit, unit, page, (kind, cause), self.reaches_die(now));
        let op = PageOp { fast_fail, ..op };
        if is_dynamic { self.place_later(op, now) } else { self.enqueue(die, op, now) }
    }

    /// The same where dies share their blocks.
    fn pass_on_by_map(
        &mut self,
        &InLine { sub, page, lpn, .. }: &InLine,
        kind: OpKind,
        fast_fail: bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let (_, unit, in_unit) = self.rules.shape.locate(lpn);
        let die = self.die_by_map(unit, in_unit);
        if kind == OpKind::Read && die.is_none() {
            self.finish_unmapped_read(sub, page, unit, in_unit, now);
            return Ok(());
        }
        let left = die.filter(|_| fast_fail).and_then(|die| self.kept_waiting(die, kind.class(), now));
        if let Some(left) = left {
            self.refuse_arriving(sub, page, left, now);
            return Ok(());
        }
        let cause = self.subs[sub].parity.cause_of(page);
        let op = PageOp::new(OwnerId::host(sub), in_unit, unit, page, (kind, cause), self.reaches_die(now));
        self.bind(op, now)
    }

    /// Pages leave the cache for one program, behind one that has been handed over already, if there is such a one. What the program has no
    /// room for stays.
    fn write_program(
        &mut self,
        Program { list, pages }: Program,
        first: Option<u32>,
        unit: u32,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        if self.superblocks.is_some() {
            return self.write_programs_by_map(Program { list, pages }, first, now);
        }
        let all = pages + u32::from(first.is_some());
        let takes = if unit == UNBOUND { all } else { all.min(self.ftl.room_for_host(unit, 0)) };
        let mut oldest = first;
        if let Some(slot) = first {
            self.write_out(slot, unit, now)?;
        }
        for _ in u32::from(first.is_some())..takes {
            let Some(slot) = self.cache.as_mut().and_then(|cache| cache.pages.take_first(list)) else {
                break;
            };
            oldest = oldest.or(Some(slot));
            self.write_out(slot, unit, now)?;
        }
        if let Some(cache) = &mut self.cache {
            let program = self.rules.shape.packing.slots_per_program();
            if let Some(slot) = oldest.filter(|_| self.rules.drains_in_part && takes < program) {
                cache.pages.lacks(slot, program - takes);
            }
            if let Some(gate) = &mut cache.pages.gate {
                gate.pass(takes.into(), now);
            }
            cache.pages.end_program(list);
        }
        Ok(())
    }

    /// The same where dies share their blocks: programs are put together here, each for a die that is chosen, and the map is settled.
    fn write_programs_by_map(
        &mut self,
        Program { list, pages }: Program,
        mut first: Option<u32>,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let (program, frontiers) = (self.rules.shape.packing.slots_per_program(), self.ftl.host_frontiers());
        let (unit, frontier) = (list / frontiers, (list % frontiers) as u8);
        let mut left = pages;
        while first.is_some() || left > 0 {
            let (mut begun, mut oldest, mut takes, mut room) = (None, None, 0, 1);
            while takes < room {
                let slot = match first.take() {
                    Some(slot) => slot,
                    None if left == 0 => break,
                    None => match self.cache.as_mut().and_then(|cache| cache.pages.take_first(list)) {
                        Some(slot) => {
                            left -= 1;
                            slot
                        }
                        None => {
                            left = 0;
                            break;
                        }
                    },
                };
                let Some((unit, op)) = self.op_of_slot(slot, now) else { continue };
                if op.kind == OpKind::Trim {
                    self.bind(op, now)?;
                    continue;
                }
                let die = match begun {
                    Some((die, _)) => die,
                    None => {
                        let next = self.next_program(unit, frontier, now)?;
                        room = self.ftl.room_for_host(unit, frontier);
                        begun = Some((next, op.cause));
                        next
                    }
                };
                oldest = oldest.or(Some(slot));
                takes += 1;
                self.put_into(die, op, frontier, now)?;
            }
            if let Some((_, cause)) = begun {
                let padded = self.ftl.pad_part(unit, frontier.into(), cause);
                self.count_padding(cause, padded);
                self.is_worth_collecting(unit);
                self.look_at_unit(unit, now);
            }
            let Some(cache) = &mut self.cache else { return Ok(()) };
            if let Some(slot) = oldest.filter(|_| self.rules.drains_in_part && takes < program) {
                cache.pages.lacks(slot, program - takes);
            }
            if let Some(gate) = &mut cache.pages.gate {
                gate.pass(takes.into(), now);
            }
        }
        if let Some(cache) = &mut self.cache {
            cache.pages.end_program(list);
        }
        Ok(())
    }

    /// The operation that writes the page of a slot, or unmaps it.
    fn op_of_slot(&self, slot: u32, now: SimTime) -> Option<(u32, PageOp)> {
        let held = self.cache.as_ref()?.pages.slot(slot);
        let kind = match held.holds {
            Holds::Nothing => OpKind::Trim,
            Holds::Page if held.write.written.is_whole() => OpKind::Write,
            Holds::Page => OpKind::PartialWrite,
        };
        let (_, unit, in_unit) = self.rules.shape.locate(held.lpn);
        Some((unit, PageOp::new(OwnerId::cache(slot), in_unit, unit, 0, (kind, held.write.cause), now)))
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

    /// Where so many pages of a list are to go, if the device chooses that for all of them.
    fn unit_for(&mut self, list: u32, pages: u32) -> u32 {
        match list {
            _ if !self.rules.shape.is_dynamic() || !self.rules.shape.packing.packs() => UNBOUND,
            0 => self.soonest_with_room(pages).unwrap_or(UNBOUND),
            _ => list - 1,
        }
    }

    /// Less than a whole program for a die that idles, and the unit that the device chooses for it.
    #[cold]
    fn part_for_idle_die(&mut self) -> Option<(Program, u32)> {
        let shape = &self.rules.shape;
        let (is_dynamic, frontiers) = (shape.is_dynamic(), self.ftl.host_frontiers());
        let idles = |unit: u32| self.has_nothing_to_do(self.rules.shape.die_of(unit));
        let lists = self.cache.iter().flat_map(|cache| cache.pages.lists_with_parts());
        let program = shape.packing.slots_per_program();
        let found = lists.filter_map(|(list, waiting)| {
            let (unit, frontier) = match list {
                0 if is_dynamic => match self.next_idle_unit(program, idles) {
                    Some(unit) => (unit, 0),
                    // No unit that idles has room for another's pages. Each page goes where it may.
                    None if self.cache.as_ref().is_some_and(|cache| !cache.pages.is_away(0))
                        && (0..shape.units()).any(idles) =>
                    {
                        return Some((list, UNBOUND, shape.packing.slots_per_part(), program));
                    }
                    None => return None,
                },
                _ if is_dynamic => (list - 1, 0),
                _ => (list / frontiers, (list % frontiers) as u8),
            };
            let room = self.ftl.room_for_host(unit, frontier);
            let pages = shape.packing.in_whole_parts(waiting, room);
            let is_idle = match shape.joins() {
                true => self.idle_die_for(unit, frontier, |die| self.has_nothing_to_do(die)),
                false => idles(unit),
            };
            (pages > 0 && is_idle).then_some((list, unit, pages, room))
        });
        let (list, unit, pages, room) = { found }.next()?;
        if list == 0 && is_dynamic && unit != UNBOUND {
            self.is_chosen(unit);
        }
        let program = self.cache.as_mut()?.pages.begin_part(list, pages, room);
        Some((program, if is_dynamic { unit } else { UNBOUND }))
    }

    /// Whether a die runs nothing, nothing of the host waits for it, and it has nothing to collect.
    fn has_nothing_to_do(&self, die: u32) -> bool {
        let slot = &self.dies[die as usize];
        slot.is_idle() && slot.head == NO_OP && slot.paused.is_none() && !slot.collection.has_turn()
    }

    /// A page leaves the cache for its die, and keeps its slot until it is on flash. `unit`: where it goes if the device chooses, and has
    /// chosen.
    fn write_out(&mut self, slot: u32, unit: u32, now: SimTime) -> Result<(), DeviceFailure> {
        if self.superblocks.is_some() {
            // What leaves by itself is to be unmapped.
            return self.op_of_slot(slot, now).map_or(Ok(()), |(_, op)| self.bind(op, now));
        }
        let Some(cache) = &self.cache else { return Ok(()) };
        let held = cache.pages.slot(slot);
        let (lpn, write) = (held.lpn, held.write);
        let kind = match held.holds {
            Holds::Nothing => OpKind::Trim,
            Holds::Page if write.written.is_whole() => OpKind::Write,
            Holds::Page => OpKind::PartialWrite,
        };
        let owner = OwnerId::cache(slot);
        if self.rules.shape.is_dynamic() {
            return self.place_later(PageOp::new(owner, lpn, unit, 0, (kind, write.cause), now), now);
        }
        let (die, unit, in_unit) = self.rules.shape.locate(lpn);
        self.enqueue(die, PageOp::new(owner, in_unit, unit, 0, (kind, write.cause), now), now)
    }

    /// The program of a page from the cache has ended: others may have its slot. How long they waited for it because its die collected is
    /// known here.
    pub(super) fn is_on_flash(&mut self, slot: u32, program: &ProgramEnded, now: SimTime) {
        let &ProgramEnded { die, share, .. } = program;
        if self.is_awaited(slot) {
            self.answer_awaited(slot, Some(program), now);
        }
        if self.probe.follower().is_some() {
            let since = self.cache.as_ref().map_or(SimTime::NEVER, |cache| cache.waits_since(now));
            self.follow_slot(die, slot, since, &share);
        }
        let Some(cache) = &mut self.cache else { return };
        let die = &self.dies[die as usize];
        let collected = match cache.pages.waits_since(now) {
            None => SimDuration::ZERO,
            Some(since) => {
                let start = die.command.start;
                let before =
                    if since < start { die.collected_between(since, start) } else { SimDuration::ZERO };
                before + die.command.bus_wait_gc + share.gc_ahead
            }
        };
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

    /// Whether the array writes the page in a slot behind its host's back.
    pub(super) fn is_cached_background(&self, slot: u32) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.pages.slot(slot).write.is_background)
    }

    /// Whether a read of a page would be answered from the cache.
    pub(super) fn is_cached(&self, lpn: u32) -> bool {
        let is_whole = |cache: &Cache| {
            cache.pages.holds(lpn).is_some_and(|slot| cache.pages.slot(slot).write.written.is_whole())
        };
        self.cache.as_deref().is_some_and(is_whole)
    }

    /// Whether it has a write cache that holds pages.
    pub(super) fn caches_pages(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.pages.held() > 0)
    }

    /// Whether the cache holds pages of the host.
    #[inline]
    pub(super) fn caches_for_host(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.pages.works_for_host())
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
        cache.pages.audit(at_dies..=at_dies + landing);
    }
}
