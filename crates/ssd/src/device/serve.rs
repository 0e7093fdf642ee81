//! A die begins to serve the host: an operation that has left its queue becomes a command, or several of them one program.

use harmonia_types::{SimDuration, SimTime};

use super::account::Share;
use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure};
use crate::block::BlockId;
use crate::die::command::{Activity, Part, Step};
use crate::ftl::To;
use crate::gc::schedule::Class;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Starts a host operation that has left the queue. `false` if it took no time and is done.
    pub(super) fn start_op(&mut self, die: u32, handle: u32, now: SimTime) -> Result<bool, DeviceFailure> {
        if self.superblocks.is_some() {
            self.start_bound(die, handle, now);
            return Ok(true);
        }
        let op = self.ops[handle];
        let background = self.is_background(op.owner);
        if !background {
            self.last_activity = now;
        }
        self.counters.inside.preemptions += u64::from(self.dies[die as usize].collection.job().is_some());
        let cycles = self.rules.timing.command.read;
        let takes_time = match op.kind {
            OpKind::Read if self.read_page(&op) => {
                let read = Step::Array(self.read_time_of(die, &op, now));
                let command = self.dies[die as usize].begin(Activity::Host(handle), now);
                command.told(cycles).then(read).then(Step::Out(1));
                command.background = background;
                true
            }
            OpKind::Read => false,
            OpKind::Write | OpKind::PartialWrite if self.rules.shape.packing.packs() => {
                debug_assert!(op.kind == OpKind::Write, "the rest of a unit is read before");
                self.start_program(die, handle, now)?;
                return Ok(true);
            }
            OpKind::Write | OpKind::PartialWrite => {
                let completes = op.kind == OpKind::PartialWrite && self.complete_page(&op);
                // As long as the page takes that is there before the new one.
                let read = completes.then(|| Step::Array(self.read_time_of(die, &op, now)));
                let summaries = self.write_page(die, &op, self.to(&op), now)?;
                self.owe_for(die, self.rules.page_in + self.rules.mean_program());
                let program = Step::Array(self.program_time_of(&op, now));
                let command = self.dies[die as usize].begin(Activity::Host(handle), now);
                if let Some(read) = read {
                    command.told(cycles).then(read).then(Step::Out(1));
                }
                command.then(Step::In(1)).then(program);
                (command.summaries, command.background) = (summaries, background);
                true
            }
            OpKind::Trim => {
                self.ftl.unit(op.unit).trim(op.lpn, &mut self.probe);
                self.dies[die as usize].exhausted = false;
                false
            }
        };
        if takes_time {
            self.start(die, now);
        } else {
            self.finish_untouched(die, handle, now);
        }
        Ok(takes_time)
    }

    /// An operation is done that needs nothing of its die.
    pub(super) fn finish_untouched(&mut self, die: u32, handle: u32, now: SimTime) {
        let command = &mut self.dies[die as usize].command;
        command.restart(now);
        let share = Share::alone(command);
        self.finish_op(die, handle, share, now);
    }

    /// How long the array reads the page in which an operation's data lies now.
    #[expect(clippy::inline_always, reason = "a part of every operation of the host")]
    #[inline(always)]
    fn read_time_of(&mut self, die: u32, op: &PageOp, now: SimTime) -> SimDuration {
        if self.rules.by_page {
            self.read_time(die, self.place_of(op), now)
        } else {
            self.rules.only_read_time()
        }
    }

    /// How long the array programs the page in which an operation's data lies now.
    #[inline]
    fn program_time_of(&self, op: &PageOp, now: SimTime) -> SimDuration {
        if self.rules.by_page {
            self.rules.program_time(self.place_of(op), now)
        } else {
            self.rules.only_program_time()
        }
    }

    #[cold]
    fn place_of(&self, op: &PageOp) -> (BlockId, u32) {
        let (block, page) = self.ftl.lookup(op.unit, op.lpn).unwrap_or_default();
        (BlockId(block), page)
    }

    /// Begins a bound operation: only its time is left. As [`Device::start_op`].
    #[cold]
    fn start_bound(&mut self, die: u32, handle: u32, now: SimTime) {
        let op = self.ops[handle];
        let background = self.is_background(op.owner);
        if !background {
            self.last_activity = now;
        }
        self.counters.inside.preemptions += u64::from(self.dies[die as usize].collection.job().is_some());
        if op.kind.writes() && self.rules.shape.packing.packs() {
            return self.start_bound_program(die, handle, now);
        }
        let cycles = self.rules.timing.command.read;
        let read =
            if op.kind == OpKind::Write { SimDuration::ZERO } else { self.time_of_read(die, &op, now) };
        let program = self.rules.only_program_time();
        if op.kind.writes() {
            self.owe_for(die, self.rules.page_in + program);
        }
        let command = self.dies[die as usize].begin(Activity::Host(handle), now);
        if op.kind != OpKind::Write {
            command.told(cycles).then(Step::Array(read)).then(Step::Out(1));
        }
        if op.kind.writes() {
            command.then(Step::In(1)).then(Step::Array(program));
        }
        command.background = background;
        self.start(die, now);
    }

    /// How long the array reads the page of an operation, which may have moved since it was bound.
    fn time_of_read(&mut self, die: u32, op: &PageOp, now: SimTime) -> SimDuration {
        let unit = self.rules.shape.units_of(die).start;
        let (block, page) = self.ftl.lookup(unit, op.lpn).unwrap_or_default();
        self.read_time(die, (BlockId(block), page), now)
    }

    /// Begins the program of a page that has left the queue, with all others that were put into it.
    fn start_bound_program(&mut self, die: u32, first: u32, now: SimTime) {
        let program = self.ops[first].page;
        self.dies[die as usize].parts.clear();
        let mut next = Some(first);
        let (mut rest, mut pages, mut background) = (SimDuration::ZERO, 0u8, true);
        let mut left_out = 0u8;
        while let Some(handle) = next {
            if handle != first {
                self.unlink(die, handle);
            }
            let op = self.ops[handle];
            if op.kind == OpKind::PartialWrite {
                rest += self.time_of_read(die, &op, now);
                left_out += 1;
            }
            let is_background = self.is_background(op.owner);
            if !is_background {
                self.last_activity = now;
            }
            background &= is_background;
            self.dies[die as usize].parts.push(Part::of_host(handle, true));
            pages += 1;
            let same = |op: &PageOp| op.kind.writes() && op.owner.is_cache() && op.page == program;
            let lane = self
                .lanes
                .as_ref()
                .and_then(|lanes| lanes.iter(die, Class::Write, &self.ops).find(|(_, op)| same(op)));
            next = lane.map(|(handle, _)| handle);
        }
        self.owe_for(die, self.rules.page_in * u64::from(pages) + self.rules.mean_program());
        let program = self.rules.only_program_time();
        let commands = &self.rules.timing.command;
        let cycles = commands.program + commands.read * u64::from(left_out);
        let background = self.background.is_some() && background;
        let command = self.dies[die as usize].begin(Activity::Joint(Class::Write), now).told(cycles);
        if left_out > 0 {
            command.then(Step::Array(rest)).then(Step::Out(left_out));
        }
        command.then(Step::In(pages)).then(Step::Array(program));
        command.background = background;
        self.start(die, now);
    }

    /// A write is next: of the units that its program would carry, the first of which the host writes a part has its rest read,
    /// while all of them go on waiting. `false` if there is nothing to read.
    pub(super) fn reads_rest_first(&mut self, die: u32, first: u32, now: SimTime) -> bool {
        if !self.ops[first].kind.writes() {
            return false;
        }
        while let Some(handle) = self.first_partial(first, now) {
            if self.reads_rest(die, handle, now) {
                return true;
            }
        }
        false
    }

    /// The first write of part of a unit among those that a program would carry.
    fn first_partial(&self, first: u32, now: SimTime) -> Option<u32> {
        let is_partial = |&handle: &u32| self.ops[handle].kind == OpKind::PartialWrite;
        let (unit, to) = (self.ops[first].unit, self.to(&self.ops[first]));
        let room = self.ftl.room_for_host(unit, to.frontier) as usize;
        let of_map = self.ops[first].owner.is_map();
        let others = self.writes_ready((unit, of_map), to, now).filter(|&handle| handle != first);
        std::iter::once(first).chain(others).take(room).find(is_partial)
    }

    /// The rest of a unit of which the host writes a part is read, while the write goes on waiting: from now on it is one of a
    /// whole unit. `false` if there is nothing to read.
    fn reads_rest(&mut self, die: u32, handle: u32, now: SimTime) -> bool {
        let op = self.ops[handle];
        let Some((block, page)) = self.ftl.lookup(op.unit, op.lpn) else {
            self.ops[handle].kind = OpKind::Write;
            return false;
        };
        if !self.is_background(op.owner) {
            self.last_activity = now;
        }
        self.dies[die as usize].parts.clear();
        self.read_rest(die, handle);
        self.begin_parts(die, (Class::Read, (BlockId(block), page)), (SimDuration::ZERO, 0), now);
        true
    }

    /// Starts a program of the host with a write that has left the queue, and those that fill it.
    fn start_program(&mut self, die: u32, first: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let (unit, cause) = (self.ops[first].unit, self.ops[first].cause);
        let of_map = self.ops[first].owner.is_map();
        let to = self.to(&self.ops[first]);
        let (block, page) = self.ftl.next_page_to(unit, to).unwrap_or_default();
        let room = self.ftl.room_for_host(unit, to.frontier) as usize;
        self.dies[die as usize].parts.clear();
        let mut next = Some(first);
        while let Some(handle) = next {
            if handle != first {
                self.unlink(die, handle);
            }
            let op = self.ops[handle];
            if !self.is_background(op.owner) {
                self.last_activity = now;
            }
            self.dies[die as usize].parts.push(Part::of_host(handle, true));
            let to = To { frontier: to.frontier, ..self.to(&op) };
            self.write_page(die, &op, to, now)?;
            let is_full = self.dies[die as usize].parts.len() == room;
            next = if is_full { None } else { self.next_write((unit, of_map), to, now) };
        }
        let padded = self.ftl.pad_part(unit, to.frontier.into(), cause);
        self.count_padding(cause, padded);
        let pages = self.dies[die as usize].parts.len() as u64;
        self.owe_for(die, self.rules.page_in * pages + self.rules.mean_program());
        self.begin_parts(die, (Class::Write, (BlockId(block), page)), (SimDuration::ZERO, 0), now);
        Ok(())
    }

    /// The first write of a whole page that waits for a frontier of an allocation unit, is ready, and stands behind none on its page.
    fn next_write(&self, unit: (u32, bool), to: To, now: SimTime) -> Option<u32> {
        self.writes_ready(unit, to, now).find(|&handle| self.ops[handle].kind == OpKind::Write)
    }

    /// Writes that wait for a frontier of an allocation unit, are ready, and stand behind none on their page. Pages of the map share no
    /// program with others, which are gathered to whole programs before.
    fn writes_ready(&self, (unit, of_map): (u32, bool), to: To, now: SimTime) -> impl Iterator<Item = u32> {
        let waiting = self.lanes.iter().flat_map(move |lanes| lanes.iter(unit, Class::Write, &self.ops));
        let ready = waiting.take_while(move |(_, op)| op.ready <= now);
        let places = self.ftl.places();
        let goes_along = move |op: &PageOp| !places || self.to(op).frontier == to.frontier;
        ready
            .filter(move |(_, op)| {
                op.kind.writes() && !op.follows && goes_along(op) && op.owner.is_map() == of_map
            })
            .map(|(handle, _)| handle)
    }
}
