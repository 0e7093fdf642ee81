//! Commands with several parts: reads or programs of several planes at once, and the halves of a page move.
//!
//! ```text
//! reads      plane 0  [array tR][bus]               programs   [bus]     [array tPROG]
//!            plane 1  [array tR]     [bus]                          [bus][array tPROG]
//!                                ^    ^ each is done when its own page is over    both are done ^
//! ```
//!
//! The array works once for all parts, their pages go over the bus one after the other, garbage collection's first. A
//! plane is busy from the start of the command, or of its own transfer in, to its own transfer out, or the end.
//!
//! Source: HPDC 2018, 2.2.2 and Figure 2 (the rules: one type, one page offset, different planes), 4.1 (collection's
//! transfer first). Programs and erases of garbage collection can be suspended once their array works. Not modelled:
//! that arrays of several planes take slightly longer than one; limits on how often a command is suspended.

use harmonia_types::{SimDuration, SimTime};

use super::account::Share;
use super::queue::OpKind;
use super::steps::Due;
use super::{Device, DeviceFailure};
use crate::block::BlockId;
use crate::die::command::{Activity, NO_OP, Part, Paused, Step};
use crate::gc::schedule::{Class, HostToken, MultiPlane, Running, Token};
use crate::probe::Probe;

/// A place in a block, as the map gives it.
fn in_block((block, page): (u32, u32)) -> (BlockId, u32) {
    (BlockId(block), page)
}

impl<P: Probe> Device<P> {
    /// Starts one multi-plane command for host operations alone.
    pub(super) fn start_joint(
        &mut self,
        die: u32,
        command: &MultiPlane,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let Some(Token::Host(HostToken(first))) = command.iter().next() else {
            unreachable!("garbage collection's own commands are started as its halves")
        };
        let op = self.ops[first];
        let (class, place) = match op.kind {
            OpKind::Read => (Class::Read, self.ftl.lookup(op.unit, op.lpn)),
            _ => (Class::Write, self.ftl.next_page_to(op.unit, self.to(&op))),
        };
        let page = place.map(|place| place.1);
        self.dies[die as usize].parts.clear();
        if !command.hosts().all(|HostToken(op)| self.is_background(self.ops[op].owner)) {
            self.last_activity = now;
        }
        let summaries = self.take_along(die, command, (class, page, None), now)?;
        if class == Class::Write {
            let pages = self.dies[die as usize].parts.len() as u64;
            self.owe_for(die, self.rules.page_in * pages + self.rules.mean_program());
        }
        self.begin_parts(
            die,
            (class, in_block(place.unwrap_or_default())),
            (SimDuration::ZERO, summaries),
            now,
        );
        Ok(())
    }

    /// Starts the half of a page move that is due, with what goes along.
    pub(super) fn start_half_with(
        &mut self,
        die: u32,
        along: &MultiPlane,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let Some((unit, &victim)) = self.dies[die as usize].collection.victim() else { return Ok(()) };
        let unit = self.rules.shape.unit(die, unit);
        match self.due(die, unit, Some(&victim)) {
            Due::Read(page) => {
                let plane = self.ftl.plane_of(unit, victim.block.0);
                self.count_pairing(die, Class::Read, (plane, page), Some(along), now);
                let part = self.take_page(die, unit, &victim, page);
                self.dies[die as usize].parts.push(part);
                self.take_along(die, along, (Class::Read, Some(page), Some(plane)), now)?;
                self.begin_parts(die, (Class::Read, (victim.block, page)), (SimDuration::ZERO, 0), now);
            }
            Due::Program(held) => {
                let place = self.goes_to(unit, victim.block);
                self.count_pairing(die, Class::Write, place, Some(along), now);
                let (part, to, own) = self.give_page(die, unit, (victim.block, held), now)?;
                self.dies[die as usize].parts.push(part);
                let taken = self.take_along(die, along, (Class::Write, Some(place.1), None), now)?;
                let summaries = taken + self.skip_pages(die, place);
                self.begin_parts(die, (Class::Write, to), (own, summaries), now);
            }
            Due::Choose | Due::Erase | Due::ReadAhead(..) => {
                unreachable!("no half of a move is due with which something goes along")
            }
        }
        Ok(())
    }

    /// Starts programming the first page that waits here, with what goes along.
    pub(super) fn start_guest(
        &mut self,
        die: u32,
        along: Option<&MultiPlane>,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let Some(guest) = self.dies[die as usize].guests.pop_front() else { return Ok(()) };
        let (block, page) = self.ftl.next_gc_page(guest.to).unwrap_or((0, 0));
        let place = (self.ftl.plane_of(guest.to, block), page);
        self.count_pairing(die, Class::Write, place, along, now);
        let (unit, victim, offset) = guest.from;
        let slot = &mut self.dies[die as usize];
        slot.moving = self.ftl.lpn_at(unit, victim.0, offset).map(|lpn| (guest.to, lpn));
        slot.hosting = Some(guest);
        slot.parts.clear();
        slot.parts.push(Part::of_collection(true));
        let failure = self.failure(now);
        let own = self.ftl.move_to(guest.from, guest.to, &mut self.probe).map_err(failure)?;
        if let Some(victim) = self.dies[guest.die as usize].collection.victim_mut() {
            victim.moved += 1;
        }
        let own = self.rules.summary_time(own);
        let summaries = match along {
            Some(along) => self.take_along(die, along, (Class::Write, Some(page), None), now)?,
            None => 0,
        };
        let summaries = summaries + self.skip_pages(die, place);
        self.begin_parts(die, (Class::Write, (BlockId(block), page)), (own, summaries), now);
        Ok(())
    }

    /// Takes the host operations of a command out of the queue and into its parts. `moving` is the plane in which
    /// garbage collection reads a page. Returns the summary pages their writes cost.
    pub(super) fn take_along(
        &mut self,
        die: u32,
        command: &MultiPlane,
        (class, page, moving): (Class, Option<u32>, Option<u32>),
        now: SimTime,
    ) -> Result<u32, DeviceFailure> {
        let mut summaries = 0;
        let mut planes = 0u64;
        for HostToken(handle) in command.hosts() {
            let op = self.ops[handle];
            if class == Class::Read && op.kind == OpKind::PartialWrite {
                self.read_rest(die, handle);
                continue;
            }
            self.unlink(die, handle);
            let place = match class {
                Class::Read => self.ftl.lookup(op.unit, op.lpn),
                Class::Write => {
                    if let Some(page) = page {
                        self.ftl.unit(op.unit).align(page);
                    }
                    self.ftl.next_page_to(op.unit, self.to(&op))
                }
            };
            assert_eq!(place.map(|place| place.1), page, "one page offset in all planes of a command");
            assert!(op.kind == OpKind::Read && class == Class::Read || op.kind == OpKind::Write, "one type");
            let plane = place.map_or(0, |place| self.ftl.plane_of(op.unit, place.0));
            let part = if moving == Some(plane) {
                self.counters.inside.merged_reads += 1;
                let transfers = !self.dies[die as usize].parts[0].transfers;
                // Right behind the page it shares.
                self.dies[die as usize]
                    .parts
                    .insert(1, Part { rides: true, ..Part::of_host(handle, transfers) });
                None
            } else {
                assert!(planes >> plane & 1 == 0, "one operation for a plane");
                planes |= 1 << plane;
                Some(Part::of_host(handle, true))
            };
            self.dies[die as usize].parts.extend(part);
            match class {
                Class::Read => _ = self.read_page(&op),
                Class::Write => summaries += self.write_page(die, &op, self.to(&op), now)?,
            }
        }
        Ok(summaries)
    }

    /// Takes the read along that a write of a part of a page needs. The write stays in the queue, from now on as one of a whole
    /// page: nothing else begins before the die is done with this command.
    pub(super) fn read_rest(&mut self, die: u32, handle: u32) {
        let op = self.ops[handle];
        let completes = self.complete_page(&op);
        assert!(completes, "a page that is read along lies somewhere");
        self.ops[handle].kind = OpKind::Write;
        self.dies[die as usize].parts.push(Part { prepares: true, ..Part::of_host(handle, true) });
    }

    /// Starts the command of a die's parts, at a page of a block, of which siblings have the same offset; `extra`: array time besides, and summary pages to program
    /// afterwards.
    pub(super) fn begin_parts(
        &mut self,
        die: u32,
        (class, place): (Class, (BlockId, u32)),
        extra: (SimDuration, u32),
        now: SimTime,
    ) {
        let array = Step::Array(match class {
            Class::Read => self.read_time_of_parts(die, place, now),
            Class::Write => self.rules.program_time(place, now) + extra.0,
        });
        let slot = &self.dies[die as usize];
        let cycles = self.cycles_of_parts(die, class);
        let pages = slot.parts.iter().map(|part| u8::from(part.transfers)).sum();
        let is_background =
            |part: &Part| part.op != NO_OP && !part.prepares && self.is_background(self.ops[part.op].owner);
        let background = self.background.is_some() && slot.parts.iter().all(is_background);
        let command = self.dies[die as usize].begin(Activity::Joint(class), now).told(cycles);
        match (class, pages) {
            (_, 0) => command.then(array),
            (Class::Read, _) => command.then(array).then(Step::Out(pages)),
            (Class::Write, _) => command.then(Step::In(pages)).then(array),
        };
        (command.summaries, command.background) = (extra.1, background);
        self.start(die, now);
    }

    /// The commands of a die's parts that stand before everything else: one for each plane that is read, and one for a
    /// program of what lies in the register. The others go with their pages.
    fn cycles_of_parts(&self, die: u32, class: Class) -> SimDuration {
        let (parts, command) = (&self.dies[die as usize].parts, &self.rules.timing.command);
        match class {
            _ if !command.take_time() => SimDuration::ZERO,
            Class::Read => command.read * parts.iter().filter(|part| !part.rides).count() as u64,
            // One command, before all that it programs.
            Class::Write if self.rules.shape.packing.packs() => command.program,
            Class::Write => command.program * parts.iter().filter(|part| !part.transfers).count() as u64,
        }
    }

    /// Something of a joint read has ended: the parts whose pages are over are done.
    pub(super) fn finish_read_parts(&mut self, die: u32, now: SimTime) {
        let slot = &self.dies[die as usize];
        let mut over = u32::from(slot.command.pages);
        let mut done = 0;
        for index in 0..slot.parts.len() {
            let part = self.dies[die as usize].parts[index];
            if part.transfers {
                if over == 0 {
                    break;
                }
                over -= 1;
            }
            done = index + 1;
            if index >= usize::from(self.dies[die as usize].command.done) {
                self.finish_part(die, index, now);
            }
        }
        self.dies[die as usize].command.done = done as u8;
    }

    /// A part of the running command is done.
    fn finish_part(&mut self, die: u32, index: usize, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        let part = slot.parts[index];
        let with_gc = slot.has_gc_part();
        let shares_page = part.rides && !part.transfers;
        if with_gc && slot.activity == Activity::Joint(Class::Read) {
            // A host read that shares the page which is moved only prolongs the time of that page's plane.
            let counted = if part.rides { slot.gc_part_until } else { slot.command_began };
            slot.job_plane_busy += now - counted;
            if part.op == NO_OP {
                slot.gc_part_until = now;
            }
        }
        if part.op == NO_OP || part.prepares {
            return;
        }
        let gc_transfers = with_gc && slot.parts[0].transfers && !shares_page;
        let (transfer, gc_ahead) = match slot.activity {
            Activity::Joint(Class::Write) if self.rules.shape.packing.packs() => {
                (self.rules.page_in + self.rules.timing.command.program, SimDuration::ZERO)
            }
            Activity::Joint(Class::Write) => {
                let gc_page = if gc_transfers { self.rules.page_in } else { SimDuration::ZERO };
                (self.rules.page_in, gc_page + self.cycles_of_parts(die, Class::Write))
            }
            _ => {
                let gc_page = if gc_transfers { self.rules.timing.transfer } else { SimDuration::ZERO };
                (self.rules.timing.transfer + self.cycles_of_parts(die, Class::Read), gc_page)
            }
        };
        self.finish_op(die, part.op, Share { transfer, gc_ahead, with_gc }, now);
    }

    /// The command of a die's parts has ended.
    pub(super) fn end_joint(&mut self, die: u32, class: Class, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        let with_gc = slot.has_gc_part();
        if class == Class::Write {
            let parts = slot.parts.len();
            if with_gc {
                slot.job_plane_busy += (now - slot.command_began) * parts as u64 - slot.command.lead;
            }
            (0..parts).for_each(|index| self.finish_part(die, index, now));
            self.dies[die as usize].command.done = parts as u8;
        }
        if with_gc {
            self.end_gc_command(die, now);
            if self.rules.global {
                self.end_of_half(die, class, now);
            }
        }
    }

    /// A command of garbage collection whose array still needs so long is suspended.
    pub(super) fn suspend(&mut self, die: u32, remaining: SimDuration, cost: SimDuration, now: SimTime) {
        self.counters.inside.suspends += 1;
        let slot = &mut self.dies[die as usize];
        if slot.activity == Activity::Erase {
            slot.parts.clear();
        }
        let planes = slot.parts.len().max(1) as u64;
        let lead = std::mem::take(&mut slot.command.lead);
        slot.job_plane_busy += (now + cost - slot.command_began) * planes - lead;
        slot.suspend(remaining);
        self.end_gc_command(die, now + cost);
        self.watch_suspended(die, now + cost);
        self.note_suspended(die, now);
        self.wakes.set(die as usize, now + cost);
    }

    /// What was suspended goes on.
    pub(super) fn resume(&mut self, die: u32, now: SimTime) {
        let cost = self.rules.timing.resume;
        let rest = self.dies[die as usize].resume(cost, now);
        self.watch_begin(die, now);
        self.note_resumed(die, cost, now);
        self.wakes.set(die as usize, now + rest);
        self.look_for_later_read(die, now);
    }

    pub(super) fn paused_view(&self, paused: &Paused, now: SimTime) -> Running {
        let remaining = paused.remaining;
        Running { ends: now + remaining + self.rules.timing.resume, remaining, suspendable: false }
    }
}
