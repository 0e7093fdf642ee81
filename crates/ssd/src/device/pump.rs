//! What passes the write cache: sub-requests that come to it, and pages that leave it for a die.
//!
//! `cache` has the picture, what the cache holds, and what the host hears of it.

use harmonia_types::{Blame, Lpn, Operation, SimDuration, SimTime};

use super::cache::by_frontier;
use super::mapping::MapWait;
use super::owner::OwnerId;
use super::placement::UNBOUND;
use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure, SubCompletion, SubRequest};
use crate::die::command::NO_OP;
use crate::front::{Effect, Holds, InLine, Program, Trimmed, Turn, Write, Written};
use crate::probe::{Origin, Probe};

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
            self.prefetch_page(lpn);
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
                Operation::Trim => (now, Turn::Trim { fast_fail, is_awaited }),
                Operation::Read | Operation::Flush => (now, Turn::Read { fast_fail }),
            };
            let what = InLine { sub: handle, page, lpn, ready, turn };
            let Some(cache) = &mut self.cache else { return Ok(()) };
            match turn {
                _ if !cache.pages.is_in_line(lpn) && !matches!(turn, Turn::Write(_)) => {
                    self.take_turn(&what, now)?;
                }
                Turn::Read { fast_fail } => self.read_behind_line(&what, fast_fail, now),
                _ => cache.pages.arrive(what),
            }
        }
        self.pump(now)
    }

    /// A read of a page on which something stands in line.
    #[cold]
    fn read_behind_line(&mut self, what: &InLine, fast_fail: bool, now: SimTime) {
        if self.answered_in_line(what, now) {
            return;
        }
        let left = if fast_fail { self.read_is_kept_waiting(what.lpn, now) } else { None };
        match (left, &mut self.cache) {
            (Some(left), _) => self.refuse_arriving(what.sub, what.page, left, now),
            (None, Some(cache)) => cache.pages.arrive(*what),
            (None, None) => {}
        }
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
                if self.serve_map(now)? {
                    continue;
                }
                break;
            };
            match effect {
                Effect::Admitted { page, write, slot, absorbs, collected, kept } => {
                    let origin = Origin { token: write.token, page: page.page };
                    self.probe.admit(slot, Lpn(page.lpn), write.cause, origin, absorbs);
                    let of_map = self.held_for_map(slot);
                    if !write.is_awaited {
                        self.acknowledge(&page, Some(slot), (collected, kept, of_map), now);
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
        let Some(cache) = &self.cache else { return Ok(()) };
        let next = cache.pages.next_time(now);
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

    /// A read or a trim of a page that nothing in line is for any more.
    fn take_turn(&mut self, what: &InLine, now: SimTime) -> Result<(), DeviceFailure> {
        let Some(cache) = &mut self.cache else { return Ok(()) };
        let (kind, fast_fail) = match what.turn {
            Turn::Read { fast_fail } => (OpKind::Read, fast_fail),
            Turn::Trim { fast_fail, is_awaited } => match cache.pages.trim(what.lpn) {
                Trimmed::Dropped(slot) => {
                    self.probe.discard(Lpn(what.lpn));
                    if is_awaited {
                        cache.pages.awaits_unmapping(slot, *what, now);
                    } else {
                        let waited = (SimDuration::ZERO, SimDuration::ZERO, MapWait::default());
                        self.acknowledge(what, None, waited, now);
                    }
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
                        && self.has_entry(unit, in_unit)
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
        match kind {
            _ if is_dynamic => self.place_later(op, now),
            OpKind::Trim => {
                self.change_entry(lpn);
                self.enqueue(die, op, now)
            }
            _ => self.pass_map(die, op, now),
        }
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
            if let Some(slot) = oldest.filter(|_| self.rules.drains_in_part) {
                cache.pages.lacks(slot, program.saturating_sub(takes));
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
                self.put_into(die, op, now)?;
            }
            if let Some((_, cause)) = begun {
                let padded = self.ftl.pad_part(unit, frontier.into(), cause);
                self.count_padding(cause, padded);
                self.is_worth_collecting(unit);
                self.look_at_unit(unit, now);
            }
            let Some(cache) = &mut self.cache else { return Ok(()) };
            if let Some(slot) = oldest.filter(|_| self.rules.drains_in_part) {
                cache.pages.lacks(slot, program.saturating_sub(takes));
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
        if list == 0 {
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
        self.map_slot(slot, lpn);
        let (die, unit, in_unit) = self.rules.shape.locate(lpn);
        self.enqueue(die, PageOp::new(owner, in_unit, unit, 0, (kind, write.cause), now), now)
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;

    use super::*;
    use crate::config::SsdConfig;
    use crate::die::Die;
    use crate::die::command::{Activity, Command, Paused};
    use crate::die::event::Event;
    use crate::ftl::Ftl;
    use crate::probe::NoProbe;

    #[test]
    fn a_die_that_runs_keeps_waiting_suspends_or_collects_has_something_to_do() {
        let config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        let ftl = Ftl::new(&config, 1, "device").expect("it works");
        let device = Device::new(&config, ftl, NoProbe).expect("it works");
        let has_nothing_to_do = |change: &dyn Fn(&mut Die)| {
            let mut device = device.clone();
            change(&mut device.dies[0]);
            device.has_nothing_to_do(0)
        };
        let suspended = || Paused {
            activity: Activity::Settled,
            command: Command::default(),
            parts: Vec::new(),
            remaining: SimDuration(1),
            moves: None,
        };
        assert!(has_nothing_to_do(&|_| ()));
        assert!(has_nothing_to_do(&|die| die.collection.want(Event::turn())), "it has no turn yet");
        assert!(!has_nothing_to_do(&|die| die.activity = Activity::Settled));
        assert!(!has_nothing_to_do(&|die| die.head = 0));
        assert!(!has_nothing_to_do(&|die| die.paused = Some(Box::new(suspended()))));
        assert!(!has_nothing_to_do(&|die| {
            die.collection.want(Event::turn());
            die.collection.admit();
        }));
    }
}
