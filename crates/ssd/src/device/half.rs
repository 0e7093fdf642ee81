//! Page moves with which nothing goes along, in halves or as one command: nearly all that a collection does step by step.
//!
//! ```text
//! read half      [array tR]|asks|[bus]|                 program half  asks|[bus][array tPROG]|
//! whole move     [array tR]|asks|[bus]|asks|[bus][array tPROG]|           | an event of the die
//! ```
//!
//! They are commands like any others. On a shared bus whose commands take no time, what comes next in them is always clear,
//! and what comes after them nearly always. So they do not pass the interpreter of steps (`run`) there, nor the search for
//! something to do (`dispatch`) while nothing that waits at the die could go along (`wake`). Both come to the same at the same moments; a
//! drive that is checked, that has a write cache, or of which somebody watches the planes, goes that way.

use harmonia_flash::Urgency;
use harmonia_types::{SimDuration, SimTime};

use super::run::ask;
use super::steps::Due;
use super::{Device, DeviceFailure};
use crate::block::BlockId;
use crate::die::collection::{Held, Moving, Place};
use crate::die::command::{Activity, Part, Step};
use crate::gc::schedule::Class;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Whether the end of a page move need not be told to anybody.
    #[inline]
    pub(super) fn goes_alone(&self) -> bool {
        // Whoever checks a run or watches its planes sees everything go the general way.
        !self.probe.audits() && !self.probe.watches_planes() && self.rules.alone
    }

    /// A die begins a half or a move that has been put together: whether it is alone, and whether its page goes over the bus.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn begin_alone(&mut self, die: u32, (is_alone, transfers): (bool, bool), now: SimTime) {
        let command = &mut self.dies[die as usize].command;
        command.is_alone = is_alone;
        if !(is_alone && transfers && self.rules.moves_directly) {
            return self.start(die, now);
        }
        match command.steps[0] {
            Step::Array(length) => {
                command.next = 1;
                self.wakes.set(die as usize, now + length);
            }
            _ => self.transfer_alone(die, now),
        }
    }

    /// Starts the half of a page move that is `due`, alone.
    #[inline(never)]
    pub(super) fn start_half(&mut self, die: u32, due: Due, now: SimTime) -> Result<(), DeviceFailure> {
        let Some((unit, &victim)) = self.dies[die as usize].collection.victim() else { return Ok(()) };
        let unit = self.rules.shape.unit(die, unit);
        match due {
            Due::Read(_) | Due::Program(_) if self.rules.by_parts => self.start_step_of_part(die, due, now),
            Due::Read(page) if self.rules.shape.packing.packs() => self.read_victim_page(die, page, now),
            Due::Program(_) if self.rules.shape.packing.packs() => self.program_victim_units(die, now)?,
            Due::ReadAhead(block, page) => self.read_page_ahead(die, (block, page), now),
            Due::Read(page) => self.read_alone(die, unit, &victim, page, now),
            Due::Program(held) => self.program_alone(die, unit, (victim.block, held), now)?,
            Due::Choose | Due::Erase => unreachable!("no half of a move is due"),
        }
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn read_alone(&mut self, die: u32, unit: u32, victim: &Moving, page: u32, now: SimTime) {
        let plane = self.ftl.plane_of(unit, victim.block.0);
        self.count_pairing(die, Class::Read, (plane, page), None, now);
        let part = self.take_page(die, unit, victim, page);
        let is_alone = self.goes_alone();
        if !is_alone {
            self.dies[die as usize].parts.push(part);
        }
        let read = self.read_time(die, (victim.block, page), now);
        let timing = &self.rules.timing;
        let command = self.dies[die as usize].begin(Activity::Joint(Class::Read), now);
        command.told(timing.command.read).then(Step::Array(read));
        if part.transfers {
            command.then(Step::Out(1));
        }
        self.begin_alone(die, (is_alone, part.transfers), now);
    }

    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn program_alone(
        &mut self,
        die: u32,
        unit: u32,
        (block, held): (BlockId, Held),
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        if self.rules.pairs {
            let place = self.goes_to(unit, block);
            self.count_pairing(die, Class::Write, place, None, now);
        }
        let (part, to, own) = self.give_page(die, unit, (block, held), now)?;
        let place = (self.ftl.plane_of(unit, to.0.0), to.1);
        let summaries = self.skip_pages(die, place);
        let is_alone = self.goes_alone() && summaries == 0;
        if !is_alone {
            self.dies[die as usize].parts.push(part);
        }
        let timing = &self.rules.timing;
        let array = Step::Array(self.rules.program_time(to, now) + own);
        let command = self.dies[die as usize].begin(Activity::Joint(Class::Write), now);
        command.summaries = summaries;
        if part.transfers {
            command.then(Step::In(1)).then(array);
        } else {
            command.told(timing.command.program).then(array);
        }
        self.begin_alone(die, (is_alone, part.transfers), now);
        Ok(())
    }

    /// Plane and page offset that the next moved page of a unit goes to; `block` is its victim.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn goes_to(&self, unit: u32, block: BlockId) -> (u32, u32) {
        let next = self.ftl.next_gc_page(unit).unwrap_or((block.0, 0));
        (self.ftl.plane_of(unit, next.0), next.1)
    }

    /// A die is to read this page of its victim: the first part of its command.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn take_page(&mut self, die: u32, unit: u32, victim: &Moving, page: u32) -> Part {
        // A page that is held although the next read is due was overwritten meanwhile.
        self.counters.inside.superseded_moves += u64::from(victim.held.is_some());
        // A page that may leave its unit is read out before anybody knows where it goes.
        let far = self.rules.moves_directly || self.rules.global || self.may_leave() || {
            let plane = self.ftl.plane_of(unit, victim.block.0);
            self.rules.is_far(plane != self.goes_to(unit, victim.block).0)
        };
        let part = Part::of_collection(far);
        let slot = &mut self.dies[die as usize];
        slot.parts.clear();
        let held =
            Some(Held { page, place: if far { Place::Controller } else { Place::Register }, count: 1 });
        if let Some(victim) = slot.collection.victim_mut() {
            (victim.cursor, victim.held) = (page, held);
        }
        self.ftl.prefetch_pages(unit, victim.block.0, (victim.cursor, page + 1));
        part
    }

    /// Whether a page may go to another plane of its unit, and nobody knows before it is programmed.
    fn may_leave(&self) -> bool {
        self.ftl.places() && self.rules.is_far(true) && self.rules.shape.planes_per_unit > 1
    }

    /// A die is to program the page of its victim that it holds: the first part of its command. Returns block and page offset
    /// that the page goes to, and the time of the summary pages that this costs, too.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn give_page(
        &mut self,
        die: u32,
        unit: u32,
        (block, held): (BlockId, Held),
        now: SimTime,
    ) -> Result<(Part, (BlockId, u32), SimDuration), DeviceFailure> {
        if self.rules.suspends || self.probe.watches_planes() {
            let lpn = self.ftl.lpn_at(unit, block.0, held.page);
            self.dies[die as usize].moving = lpn.map(|lpn| (unit, lpn));
        }
        let failure = self.failure(now);
        let moved = self.ftl.move_page(unit, block, held.page, &mut self.probe).map_err(failure)?;
        let part = Part::of_collection(held.place != Place::Register);
        let slot = &mut self.dies[die as usize];
        slot.parts.clear();
        if let Some(victim) = slot.collection.victim_mut() {
            (victim.cursor, victim.held) = (held.page + 1, None);
            victim.moved += 1;
        }
        let own =
            if moved.summaries == 0 { SimDuration::ZERO } else { self.rules.summary_time(moved.summaries) };
        Ok((part, (BlockId(moved.to.0), moved.to.1), own))
    }

    /// The page of a die's command is to go over the bus now.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn transfer_alone(&mut self, die: u32, now: SimTime) {
        let command = &mut self.dies[die as usize].command;
        let next = usize::from(command.next);
        let turn = (command.steps[next], self.rules.timing.transfer, Urgency::Gc);
        let channel = self.rules.channel_of(die);
        let Some(grant) = ask(&self.rules, &mut self.buses[channel], die, turn, now) else {
            return self.await_bus(die, channel);
        };
        self.sent_alone(die, grant.end, now);
    }

    /// The page of a die's command goes over the bus until `end`; what the array then does is known.
    #[inline]
    pub(super) fn sent_alone(&mut self, die: u32, end: SimTime, now: SimTime) {
        let command = &mut self.dies[die as usize].command;
        let mut time = end;
        command.next += 1;
        let next = usize::from(command.next);
        if let Some(Step::Array(length)) = command.steps[..usize::from(command.len)].get(next) {
            time += *length;
            command.next += 1;
        }
        self.wakes.set(die as usize, time);
        if self.rules.suspends {
            self.look_when_array_works(die, now);
        }
    }
}
