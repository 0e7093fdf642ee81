//! Programs that carry several mapping units: of one page, of several planes, of several types of pages in one shot.
//!
//! ```text
//! host         w w w w ─► [unit in][unit in][unit in][unit in][array tPROG]      those that wait, up to a whole program
//!              w       ─► [unit in][array tPROG]                                 nothing else waits: the rest is padding
//! collection   [array tR][units out] [array tR][unit out] ... [units in][array tPROG]
//!               a page of the victim  the next one             as many as the program carries
//! ```
//!
//! What the rest of the device calls a page is a mapping unit here, and [`Packing`](crate::shape::Packing) says which of them
//! lie in one page of the flash and in one program. A program holds data of the host or of collection, not both. It is never
//! filled later: what it lacks when it begins is padding, which counts as programmed and not as written. Where the cache drains in part, a
//! program of the host writes as few planes as carry its pages, and the next program of this frontier writes the rest of the same place.
//!
//! * A program of the host (`serve`) takes along the writes that are ready for the same allocation unit, in their order, until it is full.
//!   Operations on one page keep their order. Where some of them write part of a unit, the rest of each is read first, as a command by
//!   itself, and then all go together. Behind a [write cache](super::cache) a whole program's worth is ready at one moment.
//! * Collection reads each page of a victim once, takes its live units out and keeps them in the controller until they fill a
//!   program or the victim has no more. Units that were overwritten meanwhile are left out.
//! * What the last program of a victim lacks is padding, or live units of the closed block that has the fewest: it is likely to be
//!   the next victim, and its units would move then. It stays closed, and loses only what such programs took.
//!
//! Not modelled: reads of several units of one page that share its array read; reads of several planes at once; planes of a die that
//! program at different moments.

use harmonia_types::{IoCause, SimDuration, SimTime};

use super::steps::Due;
use super::{Device, DeviceFailure};
use crate::block::BlockId;
use crate::die::collection::{Ahead, Held, Moving, Place};
use crate::die::command::{Activity, Part, Step};
use crate::gc::schedule::Class;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Programs of `cause` go without so many pages.
    pub(super) fn count_padding(&mut self, cause: IoCause, pages: u32) {
        self.counters.padding[cause as usize] += u64::from(pages) * self.rules.page_size.by();
    }

    /// What a job does next with a victim.
    pub(super) fn due_of_units(&self, unit: u32, victim: &Moving) -> Due {
        let &Moving { block, cursor, held, .. } = victim;
        let further = self.ftl.next_live(unit, block.0, cursor);
        let first = held.and_then(|held| self.ftl.next_live(unit, block.0, held.page));
        let Some((held, first)) = held.zip(first).filter(|&(_, first)| first < cursor) else {
            return further.map_or(Due::Erase, Due::Read);
        };
        let frontier = self.ftl.moves_to(unit, block.0, first);
        let room = self.ftl.room_for_gc(unit, frontier) as usize;
        let left = room - self.live_in(unit, block, (first, cursor)).take(room).count();
        match further {
            Some(page) if left > 0 => Due::Read(page),
            None if left > 0 && self.rules.shape.fills => {
                let ahead = self.page_ahead((unit, frontier), left);
                ahead.map_or(Due::Program(Held { page: first, ..held }), |(block, page)| {
                    Due::ReadAhead(block, page)
                })
            }
            _ => Due::Program(Held { page: first, ..held }),
        }
    }

    /// What is read next to fill the last program of a victim, which has `left` pages free: block and page, if there is any.
    fn page_ahead(&self, (unit, frontier): (u32, usize), left: usize) -> Option<(BlockId, u32)> {
        let (block, from) = match self.dies[self.rules.shape.die_of(unit) as usize].ahead {
            None => (self.ftl.blocks(unit).fewest_valid()?.0, 0),
            Some(ahead)
                if self.live_in(unit, ahead.block, (ahead.page, ahead.cursor)).take(left).count() < left =>
            {
                (ahead.block, ahead.cursor)
            }
            Some(_) => return None,
        };
        let page = self.ftl.next_live(unit, block.0, from)?;
        (self.ftl.moves_to(unit, block.0, page) == frontier).then_some((block, page))
    }

    /// The live pages of a block between two offsets.
    fn live_in(&self, unit: u32, block: BlockId, (from, to): (u32, u32)) -> impl Iterator<Item = u32> {
        (from..to).filter(move |&page| self.ftl.lpn_at(unit, block.0, page).is_some())
    }

    /// Reads the flash page of a victim in which a page lies: all that is live in it goes to the controller.
    pub(super) fn read_victim_page(&mut self, die: u32, page: u32, now: SimTime) {
        let Some((read, count)) = self.take_flash_page(die, page, now) else { return };
        let cycles = self.rules.timing.command.read;
        let command = self.dies[die as usize].begin(Activity::Move, now);
        command.told(cycles).then(Step::Array(read)).then(Step::Out(count));
        self.start(die, now);
    }

    /// The victim of a die has this flash page read. Returns how long the array works for it, and how many of its pages are live.
    fn take_flash_page(&mut self, die: u32, page: u32, now: SimTime) -> Option<(SimDuration, u8)> {
        let (unit, &victim) = self.dies[die as usize].collection.victim()?;
        let unit = self.rules.shape.unit(die, unit);
        let packing = self.rules.shape.packing;
        let end = packing.end_of(packing.page_of(page));
        let count = self.live_in(unit, victim.block, (page, end)).count() as u16;
        self.ftl.prefetch_pages(unit, victim.block.0, (victim.cursor, end));
        let held = match victim.held {
            Some(held) if self.live_in(unit, victim.block, (held.page, victim.cursor)).next().is_some() => {
                Held { count: held.count + count, ..held }
            }
            superseded => {
                let gone = superseded.map_or(0, |held| held.count);
                self.counters.inside.superseded_moves += u64::from(gone);
                Held { page, place: Place::Controller, count }
            }
        };
        if let Some(victim) = self.dies[die as usize].collection.victim_mut() {
            (victim.cursor, victim.held) = (end, Some(held));
        }
        let block = victim.block;
        Some((self.read_time(die, (block, page), now), count as u8))
    }

    /// Reads the flash page in which a page lies of a block that is no victim: its live pages go to the controller.
    pub(super) fn read_page_ahead(&mut self, die: u32, (block, page): (BlockId, u32), now: SimTime) {
        let Some((unit, _)) = self.dies[die as usize].collection.victim() else { return };
        let unit = self.rules.shape.unit(die, unit);
        let packing = self.rules.shape.packing;
        let cursor = packing.end_of(packing.page_of(page));
        let count = self.live_in(unit, block, (page, cursor)).count();
        let slot = &mut self.dies[die as usize];
        slot.ahead = Some(Ahead { block, page: slot.ahead.map_or(page, |ahead| ahead.page), cursor });
        let (read, cycles) = (self.read_time(die, (block, page), now), self.rules.timing.command.read);
        let command = self.dies[die as usize].begin(Activity::Move, now);
        command.told(cycles).then(Step::Array(read)).then(Step::Out(count as u8));
        self.start(die, now);
    }

    /// Live pages that were read ahead go to a program of a frontier which has `room` for them. Returns how many.
    fn give_pages_ahead(
        &mut self,
        die: u32,
        (unit, frontier): (u32, usize),
        room: u32,
        now: SimTime,
    ) -> Result<u32, DeviceFailure> {
        let Some(Ahead { block, page, cursor }) = self.dies[die as usize].ahead.take() else {
            return Ok(0);
        };
        let mut count = 0;
        for page in page..cursor {
            let lpn = self.ftl.lpn_at(unit, block.0, page);
            let goes_along = lpn.is_some() && self.ftl.moves_to(unit, block.0, page) == frontier;
            if count < room && goes_along {
                if let (Some(mapping), Some(lpn)) = (&mut self.mapping, lpn) {
                    mapping.moves(&self.ftl, unit, lpn);
                }
                let failure = self.failure(now);
                self.ftl.move_ahead((unit, block, page), frontier, &mut self.probe).map_err(failure)?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Programs what a die holds of its victim.
    pub(super) fn program_victim_units(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let Some((program, count)) = self.give_units(die, now)? else { return Ok(()) };
        let cycles = self.rules.timing.command.program;
        let slot = &mut self.dies[die as usize];
        slot.parts.clear();
        slot.parts.push(Part::of_collection(true));
        let command = slot.begin(Activity::Joint(Class::Write), now);
        command.told(cycles).then(Step::In(count)).then(Step::Array(program));
        self.start(die, now);
        Ok(())
    }

    /// The live pages that a die holds of its victim go to a program, as many as it takes. Returns how long the array works for
    /// it, and how many they are.
    fn give_units(&mut self, die: u32, now: SimTime) -> Result<Option<(SimDuration, u8)>, DeviceFailure> {
        let Some((unit, &Moving { block, cursor, held: Some(held), .. })) =
            self.dies[die as usize].collection.victim()
        else {
            return Ok(None);
        };
        let unit = self.rules.shape.unit(die, unit);
        let frontier = self.ftl.moves_to(unit, block.0, held.page);
        let room = self.ftl.room_for_gc(unit, frontier);
        let (mut count, mut to, mut first_lpn, mut next) = (0, None, None, Some(held.page));
        while let Some(page) = next.filter(|_| count < room) {
            let lpn = self.ftl.lpn_at(unit, block.0, page);
            if lpn.is_some() {
                let failure = self.failure(now);
                let page_of = (unit, block, page);
                let moved = self.ftl.move_page_to(page_of, frontier, &mut self.probe).map_err(failure)?;
                to = to.or(Some(moved.to));
                first_lpn = first_lpn.or(lpn);
                count += 1;
            }
            next = Some(page + 1).filter(|&page| page < cursor);
        }
        let left = next.and_then(|from| self.live_in(unit, block, (from, cursor)).next());
        let held = match left {
            Some(page) => Some(Held { page, count: held.count - count as u16, ..held }),
            None => {
                self.counters.inside.superseded_moves += u64::from(held.count) - u64::from(count);
                None
            }
        };
        self.dies[die as usize].moving = first_lpn.map(|lpn| (unit, lpn));
        if let Some(victim) = self.dies[die as usize].collection.victim_mut() {
            victim.held = held;
            victim.moved += count;
        }
        count += self.give_pages_ahead(die, (unit, frontier), room - count, now)?;
        let cause = self.ftl.units[unit as usize].moves_for;
        let padded = self.ftl.pad(unit, frontier, cause);
        self.count_padding(cause, padded);
        let (block, page) = to.unwrap_or_default();
        Ok(Some((self.rules.program_time((BlockId(block), page), now), count as u8)))
    }

    /// Starts moving what fills a program, reads and program in one command; `page` is the first that is read.
    pub(super) fn move_units(&mut self, die: u32, page: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let (mut due, mut reads, mut array, mut out) = (Due::Read(page), 0, SimDuration::ZERO, 0u8);
        while let Due::Read(page) = due {
            let Some((read, count)) = self.take_flash_page(die, page, now) else { return Ok(()) };
            (reads, array, out) = (reads + 1, array + read, out + count);
            let Some((unit, victim)) = self.dies[die as usize].collection.victim() else { return Ok(()) };
            due = self.due_of_units(self.rules.shape.unit(die, unit), victim);
        }
        let Some((program, count)) = self.give_units(die, now)? else { return Ok(()) };
        let commands = &self.rules.timing.command;
        let cycles = commands.read * reads + commands.program;
        let command = self.dies[die as usize].begin(Activity::Move, now).told(cycles);
        command
            .then(Step::Array(array))
            .then(Step::Out(out))
            .then(Step::In(count))
            .then(Step::Array(program));
        self.start(die, now);
        Ok(())
    }
}
