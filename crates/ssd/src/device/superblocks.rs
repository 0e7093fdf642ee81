//! Dies that share their blocks: where an operation goes, and what each die has of a collection.
//!
//! ```text
//!   page of a superblock    0  1  2  3 | 4  5  6  7 | ...      4 dies of 2 planes
//!   die                     0  1  2  3   0  1  2  3            a row is one page of every die
//!   plane                   0  0  0  0   1  1  1  1
//! ```
//!
//! A superblock has one block of every plane of its dies. To the mapping state it is a block like any other, only longer: an
//! allocation unit spans dies. So victims, frontiers, streams, wear and ageing need not know of it. A page number names the group
//! of dies that share their blocks, and no die.
//!
//! Programs of a frontier go from die to die in turn. With `ssd.ftl.allocation = "dynamic"` the next one goes to the least loaded die that
//! has room in the superblock ([`Stripes`]). Behind a write cache a program is put together when its pages are handed over, and its die
//! is chosen then.
//!
//! ```text
//! a page is over the link ─► map looked up or changed, die known ─► queue of the die ─► the time it takes
//! a unit is low ─► victim chosen, pages moved in the map ─┬► part of die 0: its reads, its programs, its erase
//!                                                         └► part of die 1: ...
//! ```
//!
//! What an operation means for the map is settled when it is bound to a die, because only then the page of a frontier is known
//! that comes next. The die has only the time of it. Operations on one page keep their order: they are bound in order, and find the
//! die to which the one before went.
//!
//! A collection settles the map as well when it begins, and then all dies of the superblock work on their parts at once. Under schedules
//! that collect in one command a part is one command. Under the others it goes step by step, and the schedule says who goes first:
//!
//! ```text
//! die 0   [read][program][host][read][read][program][erase]            the erased block counts as free when the last die
//! die 1   [read][read][program][erase][host][host]                     has erased its part of it
//! ```
//!
//! Reads and programs of a part take turns in proportion. A die that has done its part serves the host until the last one has, and then
//! the next victim is chosen. Meanwhile thresholds do not count the block, so that a host that takes all others waits.
//!
//! Dies do not wait for one another, so a page may be programmed a little before another die has read it. A page that the host overwrites
//! while its victim is under way moves all the same. A program may be filled from another block, which its own die reads.
//!
//! An operation that asks to fail fast is refused when it arrives, or not at all. The rest of a page of which a part is written is
//! read by the die that takes the new page. In parts of one command, transfers of moved pages take time, but do not wait for the bus.
//!
//! Not modelled: superblocks that go on without a block that has worn out, or with a spare one in its place. Step by step three things are
//! inexact while a victim is under way. With `proportional` the last die takes too large a share, because the moves of dies that have ended
//! count no more while the block is not free yet. A victim that retires counts as free room to come, so that the hard threshold is reached
//! one block early. A pacer hears of a little too much room won: padding counts, and a die that programs more than its part.

use std::collections::BTreeMap;

use harmonia_engine::EventQueue;
use harmonia_types::{Operation, SimDuration, SimTime};

use super::owner::{Owner, OwnerId};
use super::queue::{OpKind, PageOp, class_of};
use super::steps::Due;
use super::{Device, DeviceFailure, SubRequest};
use crate::block::{BlockId, Erased};
use crate::die::collection::{Collection, Held, Moving, Place, Stepwise};
use crate::die::command::{Activity, Part as PartOfCommand, Step};
use crate::die::event::{Event, UnitSet};
use crate::follow::Why;
use crate::ftl::{Collected, Ftl, To};
use crate::gc::schedule::Class;
use crate::probe::Probe;
use crate::shape::Shape;
use crate::stripes::Stripes;

/// What a device with superblocks remembers.
#[derive(Debug, Clone)]
pub(super) struct Superblocks {
    /// Operations whose data is not over the link, and those behind them on the same page; in order of readiness. Behind a cache, reads that
    /// are bound and wait for the data of writes ahead of them on the link.
    landing: EventQueue<PageOp>,
    /// By unit and page: how many of them there are, and when the last one lands.
    lands: BTreeMap<(u32, u32), (u32, SimTime)>,
    stripes: Stripes,
    /// Programs that were put together for the host so far: a number for the next one, which its pages have at the die.
    programs: u32,
    /// By die.
    parts: Vec<Part>,
    /// Reused: live pages of a victim, and what they hold.
    live: Vec<(u32, u32)>,
}

/// What a die has yet to do for collections, and what of the part under way.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    due: Share,
    /// The part under way, and what is left of it where it goes step by step.
    running: Share,
    left: Share,
    /// Victims of the parts that it has done.
    done: u64,
}

/// A die's share of victims.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    /// Its moves are pages that it programs.
    work: Collected,
    /// Live pages that it reads.
    out: u32,
}

impl Share {
    fn victims(&self) -> u32 {
        self.work.victims
    }
}

impl Part {
    /// What it does next, where it goes step by step: as much of its reads is over as of its programs.
    fn due_step(&self) -> Due {
        let (left, all) = (&self.left.work, &self.running.work);
        let (reads, programs) = (u64::from(left.reads), u64::from(left.programs));
        let is_behind = reads * u64::from(all.programs) >= programs * u64::from(all.reads);
        match () {
            () if reads > 0 && (programs == 0 || is_behind) => Due::Read(0),
            () if programs > 0 => Due::Program(Held { page: 0, place: Place::Controller, count: 1 }),
            () => Due::Erase,
        }
    }

    /// Victims of which it has yet to erase its blocks.
    fn victims(&self) -> u32 {
        self.due.victims() + self.running.victims()
    }

    /// Begins with what is due.
    fn begin(&mut self) -> Collected {
        self.running = std::mem::take(&mut self.due);
        self.left = self.running;
        self.running.work
    }

    /// A page of the flash is read: how many of its pages are live, about as many as those of others.
    fn read(&mut self) -> u32 {
        let out = self.left.out.div_ceil(self.left.work.reads.max(1));
        self.left.out -= out;
        self.left.work.reads -= 1;
        out
    }

    /// A program is written: how many pages it carries, about as many as others.
    fn program(&mut self) -> u32 {
        let moves = self.left.work.moves.div_ceil(self.left.work.programs.max(1));
        self.left.work.moves -= moves;
        self.left.work.programs -= 1;
        moves
    }
}

impl Superblocks {
    pub fn new(shape: &Shape, ftl: &Ftl, chooses: bool) -> Self {
        let of_unit = |unit: u32| ftl.open_blocks(unit).map(move |(block, written)| (unit, block, written));
        Superblocks {
            landing: EventQueue::default(),
            lands: BTreeMap::new(),
            stripes: Stripes::new(shape, chooses, (0..shape.units()).flat_map(of_unit)),
            programs: 0,
            parts: vec![Part::default(); shape.dies as usize],
            live: Vec::new(),
        }
    }

    /// Nothing waits any more, and nothing is collected.
    pub fn forget_all(&mut self) {
        (self.landing, self.lands) = (EventQueue::default(), BTreeMap::new());
        self.parts.fill(Part::default());
    }

    /// When the next operation can be bound.
    pub fn next_landing(&self) -> SimTime {
        self.landing.next_time()
    }

    /// Operations not bound yet.
    pub fn landing(&self) -> usize {
        self.landing.len()
    }

    /// Nothing is on its way to a die any more; what was, in order of readiness.
    pub fn forget_landing(&mut self) -> Vec<PageOp> {
        self.lands.clear();
        let pop = || self.landing.pop_due(SimTime::NEVER).map(|(_, op)| op);
        std::iter::from_fn(pop).collect()
    }

    /// Puts an operation behind everything ready no later, and behind earlier ones on the same page.
    fn land_later(&mut self, mut op: PageOp) {
        let (count, last) = self.lands.entry((op.unit, op.lpn)).or_insert((0, SimTime::ZERO));
        op.ready = op.ready.max(*last);
        (*count, *last) = (*count + 1, op.ready);
        self.landing.push(op.ready, op);
    }

    fn has_landed(&mut self, op: &PageOp) {
        if let Some(entry) = self.lands.get_mut(&(op.unit, op.lpn)) {
            entry.0 -= 1;
            if entry.0 == 0 {
                self.lands.remove(&(op.unit, op.lpn));
            }
        }
    }
}

impl<P: Probe> Device<P> {
    /// The pages of a sub-request, where dies share their blocks.
    pub(super) fn accept_by_map(
        &mut self,
        sub: &SubRequest,
        handle: u32,
        (first, pages): (u32, u32),
        is_partial: impl Fn(u32) -> bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        for (page, (_, unit, lpn)) in (0..).zip(self.rules.shape.walk(first, pages)) {
            let fast = if sub.fast_fail { self.die_for(unit, lpn, sub.operation) } else { None };
            let left = fast.and_then(|die| self.kept_waiting(die, class_of(sub.operation), now));
            let (kind, ready) = match sub.operation {
                Operation::Write => {
                    let kind = if is_partial(page) { OpKind::PartialWrite } else { OpKind::Write };
                    (kind, if left.is_some() { now } else { self.link.receive(now, self.rules.link_page) })
                }
                Operation::Trim if is_partial(page) => {
                    self.finish_page_at(handle, page, now);
                    continue;
                }
                Operation::Trim => (OpKind::Trim, self.reaches_die(now)),
                Operation::Read | Operation::Flush => {
                    if self.ftl.lookup(unit, lpn).is_none() && !self.is_on_link(unit, lpn) {
                        self.finish_unmapped_read(handle, page, unit, lpn, now);
                        continue;
                    }
                    (OpKind::Read, self.reaches_die(now))
                }
            };
            if let Some(left) = left {
                self.refuse_arriving(handle, page, left, now);
                continue;
            }
            let owner = OwnerId::host(handle);
            let op = PageOp::new(owner, lpn, unit, page, (kind, sub.parity.cause_of(page)), ready);
            self.interrupted |= !self.is_background(owner);
            match &mut self.superblocks {
                Some(blocks) if ready > now || blocks.lands.contains_key(&(unit, lpn)) => {
                    blocks.land_later(op)
                }
                _ => self.bind(op, now)?,
            }
        }
        Ok(())
    }

    /// Whether an operation on a page waits for the link, or for one that does.
    fn is_on_link(&self, unit: u32, lpn: u32) -> bool {
        self.superblocks.as_ref().is_some_and(|blocks| blocks.lands.contains_key(&(unit, lpn)))
    }

    /// The die in which a page lies, where dies share their blocks.
    pub(super) fn die_by_map(&self, unit: u32, lpn: u32) -> Option<u32> {
        Some(self.die_at(unit, self.ftl.lookup(unit, lpn)?))
    }

    /// The die that has a page of a block.
    fn die_at(&self, unit: u32, (block, page): (u32, u32)) -> u32 {
        let superblock = unit * self.rules.shape.blocks_per_unit + block;
        let of_unit = self.superblocks.as_ref().map_or(0, |blocks| blocks.stripes.die(superblock, page));
        self.rules.shape.die_of(unit) + of_unit
    }

    /// The die to which an operation would go now, as far as that is known.
    fn die_for(&self, unit: u32, lpn: u32, operation: Operation) -> Option<u32> {
        if operation != Operation::Write {
            return self.die_by_map(unit, lpn);
        }
        Some(self.die_at(unit, self.ftl.next_page_to(unit, self.ftl.to(unit, lpn, 0))?))
    }

    /// The die that is to have the next program of a frontier, or the rest of one that has begun. It is chosen here, so the program must be
    /// written now.
    fn choose_die(&mut self, unit: u32, (block, page): (u32, u32)) -> u32 {
        if !page.is_multiple_of(self.rules.shape.packing.slots_per_program()) {
            return self.die_at(unit, (block, page));
        }
        let (shape, dies) = (&self.rules.shape, &self.dies);
        let Some(blocks) = &mut self.superblocks else { return shape.die_of(unit) };
        let first = shape.die_of(unit);
        let Superblocks { stripes, parts, .. } = &mut **blocks;
        let program = u64::from(shape.packing.slots_per_program());
        let load = |of_unit: u32| {
            let (slot, part) = (&dies[(first + of_unit) as usize], &parts[(first + of_unit) as usize]);
            let collects = u64::from(part.due.work.programs + part.left.work.programs);
            u64::from(slot.waiting) + (collects + u64::from(!slot.is_idle())) * program
        };
        first + stripes.choose((unit, unit * shape.blocks_per_unit + block), page, load)
    }

    /// The next program of a frontier of the host, or the rest of one, is put together at `now`. Returns its die and its number.
    pub(super) fn next_program(
        &mut self,
        unit: u32,
        frontier: u8,
        now: SimTime,
    ) -> Result<(u32, u32), DeviceFailure> {
        self.make_room(unit, now)?;
        let to = To { frontier, handle: 0 };
        let die = self.choose_die(unit, self.ftl.next_page_to(unit, to).unwrap_or_default());
        let Some(blocks) = &mut self.superblocks else { return Ok((die, 0)) };
        blocks.programs = blocks.programs.wrapping_add(1);
        Ok((die, blocks.programs))
    }

    /// A page from the cache is part of a program that a die is given: its place in the map is settled.
    pub(super) fn put_into(
        &mut self,
        (die, program): (u32, u32),
        op: PageOp,
        frontier: u8,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let completes = op.kind == OpKind::PartialWrite && self.complete_page(&op);
        let to = To { frontier, ..self.to(&op) };
        self.write_page(die, &op, to, now)?;
        let kind = if completes { OpKind::PartialWrite } else { OpKind::Write };
        self.enqueue(die, PageOp { unit: die, page: program, kind, ..op }, now)
    }

    /// Whether a die that may have the next program of a frontier, or the one that has the rest of it to write, idles.
    pub(super) fn idle_die_for(&self, unit: u32, frontier: u8, idles: impl Fn(u32) -> bool) -> bool {
        let next = self.ftl.next_page_to(unit, To { frontier, handle: 0 }).unwrap_or_default();
        let begun = !next.1.is_multiple_of(self.rules.shape.packing.slots_per_program());
        let turns = self.superblocks.as_ref().is_none_or(|blocks| !blocks.stripes.chooses());
        if begun || turns {
            return idles(self.die_at(unit, next));
        }
        let superblock = unit * self.rules.shape.blocks_per_unit + next.0;
        let has_room = |die: &u32| {
            let of_unit = die - self.rules.shape.die_of(unit);
            self.superblocks
                .as_ref()
                .is_some_and(|blocks| blocks.stripes.has_room(superblock, next.1, of_unit))
        };
        self.rules.shape.dies_of(unit).filter(has_room).any(idles)
    }

    /// The first operation that waits for the link is due.
    pub(super) fn land_by_map(&mut self) -> Result<(), DeviceFailure> {
        let Some(blocks) = &mut self.superblocks else { return Ok(()) };
        let Some((_, op)) = blocks.landing.pop_due(SimTime::NEVER) else { return Ok(()) };
        self.events += 1;
        if self.cache.is_some() {
            return self.enqueue(op.unit, op, op.ready);
        }
        blocks.has_landed(&op);
        self.bind(op, op.ready)
    }

    /// Looks up or changes the map for an operation, and queues it at the die that this names.
    pub(super) fn bind(&mut self, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
        let PageOp { unit, lpn, .. } = op;
        let (die, kind) = match op.kind {
            OpKind::Read => {
                let Some(die) = self.die_by_map(unit, lpn) else {
                    self.finish_unmapped_read(op.owner.sub(), op.page, unit, lpn, now);
                    return Ok(());
                };
                self.read_page(&op);
                (die, OpKind::Read)
            }
            OpKind::Trim => {
                self.ftl.unit(unit).trim(lpn, &mut self.probe);
                self.is_worth_collecting(unit);
                match op.owner.get() {
                    Owner::Host(sub) => self.finish_page_at(sub, op.page, now),
                    Owner::Cache(slot) => self.is_unmapped(slot, now),
                }
                return Ok(());
            }
            OpKind::Write | OpKind::PartialWrite => {
                self.make_room(unit, now)?;
                let completes = op.kind == OpKind::PartialWrite && self.complete_page(&op);
                let to = self.to(&op);
                let die = self.choose_die(unit, self.ftl.next_page_to(unit, to).unwrap_or_default());
                self.write_page(die, &op, to, now)?;
                self.is_worth_collecting(unit);
                self.look_at_unit(unit, now);
                (die, if completes { OpKind::PartialWrite } else { OpKind::Write })
            }
        };
        // What waits at a die is told apart by it: the map is done with.
        let op = PageOp { unit: die, kind, ..op };
        match &mut self.superblocks {
            // Behind a cache its place is settled before that of later writes, and it goes on when the link lets it.
            Some(blocks) if op.ready > now => {
                blocks.landing.push(op.ready, op);
                Ok(())
            }
            _ => self.enqueue(die, op, now),
        }
    }

    /// Something was written or trimmed, so a collection may find what none found before.
    pub(super) fn is_worth_collecting(&mut self, unit: u32) {
        for die in self.rules.shape.dies_of(unit) {
            self.dies[die as usize].exhausted = false;
        }
    }

    /// Begins a bound operation: only its time is left. As [`Device::start_op`].
    #[cold]
    pub(super) fn start_bound(&mut self, die: u32, handle: u32, now: SimTime) {
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
            self.dies[die as usize].parts.push(PartOfCommand::of_host(handle, true));
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

    /// Collects before a write would take what collection needs.
    fn make_room(&mut self, unit: u32, now: SimTime) -> Result<(), DeviceFailure> {
        if self.ftl.free_blocks(unit) > self.rules.shape.hard {
            return Ok(());
        }
        let die = self.rules.shape.die_of(unit);
        let mut event = self.own_event(UnitSet::ALL);
        self.divide(die, &mut event, self.rules.by_parts, now)
    }

    /// What a die has of the victims of its event: the part that it was given, or else of victims that it takes now, for all dies
    /// of the unit.
    pub(super) fn take_part(
        &mut self,
        die: u32,
        event: &mut Event,
        only_one: bool,
        now: SimTime,
    ) -> Result<Collected, DeviceFailure> {
        if !self.has_part(die) {
            self.divide(die, event, only_one, now)?;
        }
        let Some(blocks) = &mut self.superblocks else { return Ok(Collected::default()) };
        Ok(blocks.parts[die as usize].begin())
    }

    /// Gives a die's job the part that it has yet to do, or one of a victim that is chosen now. Ends the event if its goal is met, or if
    /// other dies are still at work on the last victim.
    pub(super) fn choose_part(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let Collection::Stepwise(Stepwise { mut event, job, .. }) = self.dies[die as usize].collection else {
            return Ok(());
        };
        let unit = self.rules.shape.units_of(die).start;
        let is_met = job.victims > 0 && event.goal().is_met(job.victims, self.ftl.free_blocks(unit));
        if !(self.has_part(die) || is_met || self.is_divided(die)) {
            self.divide(die, &mut event, true, now)?;
        }
        if !self.has_part(die) {
            self.end_event(die, now);
            return Ok(());
        }
        if let Some(blocks) = &mut self.superblocks {
            blocks.parts[die as usize].begin();
        }
        if let Collection::Stepwise(stepwise) = &mut self.dies[die as usize].collection {
            // Its pages have left the victim already.
            (stepwise.event, stepwise.job.victim) = (event, Some(Moving::new(BlockId(0))));
        }
        Ok(())
    }

    /// Whether some die of the same unit has yet to do its part of a victim.
    pub(super) fn is_divided(&self, die: u32) -> bool {
        self.being_erased(die) > 0
    }

    /// Blocks of the unit of a die that its dies have yet to erase.
    pub(super) fn being_erased(&self, die: u32) -> u32 {
        self.ftl.units[self.rules.shape.units_of(die).start as usize].hidden
    }

    /// What the part of a die does next.
    pub(super) fn due_of_part(&self, die: u32) -> Due {
        self.superblocks.as_ref().map_or(Due::Erase, |blocks| blocks.parts[die as usize].due_step())
    }

    /// Erases that the part of a die ends with; of any other collection one.
    pub(super) fn erases_due(&self, die: u32) -> u64 {
        match &self.superblocks {
            Some(blocks) if self.rules.by_parts => blocks.parts[die as usize].running.victims().into(),
            _ => 1,
        }
    }

    /// Starts a read or a program of a die's part.
    pub(super) fn start_step_of_part(&mut self, die: u32, due: Due, now: SimTime) {
        let mut read = self.rules.mean_read();
        if matches!(due, Due::Read(_)) && !self.retries.is_empty() {
            read = self.read_again(die, read, 1);
        }
        let Some(blocks) = &mut self.superblocks else { return };
        let (part, commands) = (&mut blocks.parts[die as usize], &self.rules.timing.command);
        let slot = &mut self.dies[die as usize];
        slot.moving = None;
        match due {
            Due::Read(_) => {
                let (out, read) = (part.read() as u8, Step::Array(read));
                slot.begin(Activity::Move, now).told(commands.read).then(read).then(Step::Out(out));
            }
            _ => {
                let (moves, program) = (part.program() as u8, Step::Array(self.rules.mean_program()));
                slot.parts.clear();
                slot.parts.push(PartOfCommand::of_collection(true));
                let command = slot.begin(Activity::Joint(Class::Write), now);
                if self.rules.shape.packing.packs() {
                    command.told(commands.program);
                }
                command.then(Step::In(moves)).then(program);
            }
        }
        self.start(die, now);
    }

    /// The last step of a die's part has ended.
    pub(super) fn end_steps_of_part(&mut self, die: u32, now: SimTime) {
        let Some(blocks) = &self.superblocks else { return };
        let work = blocks.parts[die as usize].running.work;
        let programmed = work.programs * self.rules.shape.packing.slots_per_program();
        self.note_won(work.victims, programmed, self.event_time(&work));
        self.end_part(die, now);
        // Others may go on with the next victim when the last of them has erased this one.
        self.is_worth_collecting(self.rules.shape.units_of(die).start);
    }

    /// How long a die works on the part under way, but for the command that runs, or is suspended.
    pub(super) fn steps_left(&self, die: u32) -> SimDuration {
        let Some(blocks) = &self.superblocks else { return SimDuration::ZERO };
        let slot = &self.dies[die as usize];
        let erases = |activity: Activity| activity == Activity::Erase;
        let is_erasing =
            erases(slot.activity) || slot.paused.as_deref().is_some_and(|it| erases(it.activity));
        let victims = if is_erasing || slot.collection.victim().is_none() {
            0
        } else {
            blocks.parts[die as usize].running.victims()
        };
        self.event_time(&Collected { victims, ..blocks.parts[die as usize].left.work })
    }

    /// Pages that the unit of a die takes before all that it has free, beside its open blocks and those being erased, are the blocks of
    /// the hard threshold. What has moved out of a victim is as good as free.
    pub(super) fn room_without_parts(&self, die: u32) -> u64 {
        let unit = self.rules.shape.units_of(die).start;
        let Some(blocks) = &self.superblocks else { return 0 };
        let of = |part: &Part| part.due.work.moves + part.running.work.moves;
        let moved = self.rules.shape.dies_of(unit).map(|die| of(&blocks.parts[die as usize])).sum();
        self.ftl.room_above(unit, self.rules.shape.hard + self.being_erased(die), moved)
    }

    /// Whether a die has yet to do its part of a collection.
    pub(super) fn has_part(&self, die: u32) -> bool {
        self.superblocks.as_ref().is_some_and(|blocks| blocks.parts[die as usize].due.victims() > 0)
    }

    /// Takes the victims of an event of a unit, and divides the work among its dies.
    fn divide(
        &mut self,
        die: u32,
        event: &mut Event,
        only_one: bool,
        now: SimTime,
    ) -> Result<(), DeviceFailure> {
        let unit = self.rules.shape.units_of(die).start;
        let free = self.ftl.free_blocks(unit);
        let why = Why::Threshold { die, free, is_hard: free <= self.rules.shape.hard };
        let failure = self.failure(now);
        let mut taken = 0;
        while let Some((_, block)) = self.next_victim(die, event, only_one, now) {
            self.follow_victim(die, unit, block, now);
            let mut live =
                self.superblocks.as_mut().map(|blocks| std::mem::take(&mut blocks.live)).unwrap_or_default();
            let pages = 0..self.rules.shape.data_pages;
            live.clear();
            live.extend(pages.filter_map(|page| Some((page, self.ftl.lpn_at(unit, block.0, page)?))));
            let (collected, erased) =
                self.ftl.unit(unit).collect_one(block, false, &mut self.probe).map_err(&failure)?;
            self.count_padding(self.ftl.units[unit as usize].moves_for, collected.padded);
            if erased == Erased::Retired {
                self.note_retired(unit, now);
            }
            self.give_parts(unit, block.0, live, &collected);
            taken += 1;
            if only_one {
                break;
            }
        }
        if taken > 0 {
            self.show_hidden(unit);
            for other in self.rules.shape.dies_of(unit) {
                if other != die || !self.dies[die as usize].collection.is_admitted() {
                    self.demand(other..other + 1, self.own_event(UnitSet::ALL), why, now);
                }
            }
            self.look_at_unit(unit, now);
        }
        Ok(())
    }

    /// Each die of a unit reads the live pages that lay in it, programs those that go there, and erases its blocks. Pages that are read
    /// at once are read once, and those that are programmed at once go to the die that is chosen here.
    fn give_parts(&mut self, unit: u32, block: u32, live: Vec<(u32, u32)>, collected: &Collected) {
        let (packing, dies) = (self.rules.shape.packing, self.rules.shape.dies_of(unit));
        let (mut left, mut last) = (collected.reads, None);
        let (mut program, mut to_die) = (None, dies.start);
        for die in dies.clone() {
            self.part_due(die).work.victims += 1;
        }
        for &(page, lpn) in &live {
            let from = self.die_at(unit, (block, page));
            let is_first = last.replace(packing.page_of(page)) != Some(packing.page_of(page));
            left -= u32::from(is_first);
            let due = self.part_due(from);
            (due.work.reads, due.out) = (due.work.reads + u32::from(is_first), due.out + 1);
            let to = self.ftl.lookup(unit, lpn).unwrap_or_default();
            let of = Some((to.0, to.1 / packing.slots_per_program()));
            if program != of {
                (program, to_die) = (of, self.choose_die(unit, to));
                self.part_due(to_die).work.programs += 1;
            }
            self.part_due(to_die).work.moves += 1;
        }
        // What fills the last program comes from another block.
        let filled = collected.moves - live.len() as u32;
        let due = self.part_due(to_die);
        (due.work.reads, due.out, due.work.moves) =
            (due.work.reads + left, due.out + filled, due.work.moves + filled);
        if let Some(blocks) = &mut self.superblocks {
            blocks.live = live;
        }
    }

    fn part_due(&mut self, die: u32) -> &mut Share {
        let Some(blocks) = &mut self.superblocks else { unreachable!("asked for with superblocks only") };
        &mut blocks.parts[die as usize].due
    }

    /// Blocks of a unit count for status when all its dies have erased their part of them.
    fn show_hidden(&mut self, unit: u32) {
        let Some(blocks) = &self.superblocks else { return };
        let parts = &blocks.parts[self.rules.shape.dies_of(unit).start as usize..];
        let parts = &parts[..self.rules.shape.dies_per_unit as usize];
        let left = parts.iter().map(Part::victims).max();
        self.ftl.units[unit as usize].hidden = left.unwrap_or_default();
    }

    /// A die has done its part. If it was given another one meanwhile, it goes on with that.
    pub(super) fn end_part(&mut self, die: u32, now: SimTime) {
        let Some(blocks) = &mut self.superblocks else { return };
        let part = &mut blocks.parts[die as usize];
        part.done += u64::from(std::mem::take(&mut part.running).victims());
        part.left = Share::default();
        let unit = self.rules.shape.units_of(die).start;
        self.show_hidden(unit);
        self.look_at_unit(unit, now);
    }

    /// A die whose event is over goes on with the part that it was given meanwhile.
    pub(super) fn go_on_with_part(&mut self, die: u32, now: SimTime) {
        if self.has_part(die) {
            let free = self.least_free(die);
            let why = Why::Threshold { die, free, is_hard: free <= self.rules.shape.hard };
            self.demand(die..die + 1, self.own_event(UnitSet::ALL), why, now);
        }
    }

    /// How long a die works on the part that it has yet to do.
    pub(super) fn part_left(&self, die: u32) -> Option<SimDuration> {
        let blocks = self.superblocks.as_ref()?;
        let due = &blocks.parts[die as usize].due.work;
        (due.victims > 0).then(|| self.event_time(due))
    }

    /// Checks that a superblock is erased as one, and that no work of a collection is forgotten.
    pub(super) fn audit_superblocks(&self) {
        let Some(blocks) = &self.superblocks else { return };
        for (die, part) in (0..).zip(&blocks.parts) {
            let slot = &self.dies[die as usize];
            assert!(
                part.due.victims() == 0 || slot.collects() || slot.collection.is_admitted(),
                "die {die} forgets its part"
            );
            assert!(
                part.running.victims() == 0 || slot.collects(),
                "die {die} works on a part and does not collect"
            );
        }
        for unit in 0..self.rules.shape.units() {
            for (block, written) in self.ftl.open_blocks(unit) {
                let programs = written.div_ceil(self.rules.shape.packing.slots_per_program());
                blocks.stripes.audit(unit * self.rules.shape.blocks_per_unit + block, programs);
            }
            let parts = self.rules.shape.dies_of(unit).map(|die| &blocks.parts[die as usize]);
            let left = parts.clone().map(Part::victims).max();
            let hidden = self.ftl.units[unit as usize].hidden;
            assert!(
                self.failed.is_some() || left == Some(hidden),
                "unit {unit}: {hidden} blocks are being erased, not {left:?}"
            );
            let mut all = parts.map(|part| part.done + u64::from(part.victims()));
            let first = all.next();
            assert!(all.all(|other| Some(other) == first), "unit {unit}: a superblock is erased whole");
        }
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::{Geometry, presets};

    use super::*;
    use crate::config::{Amount, SsdConfig, Superblock};
    use crate::probe::NoProbe;

    /// Two dies of eight blocks of four pages, in superblocks of eight pages. Nothing is written.
    fn device() -> Device {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        config.geometry = Geometry {
            channels: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: 4096,
            ..Geometry::ONE_PLANE
        };
        config.ftl.reserved_blocks = Amount::Blocks(4);
        config.gc.hard_threshold = Amount::Blocks(1);
        config.gc.schedule = "preemptive".into();
        config.ftl.superblock = Superblock::Drive;
        let ftl = Ftl::new(&config, 1, "device").expect("it works");
        Device::new(&config, ftl, NoProbe).expect("it works")
    }

    fn moves(moves: u32) -> Share {
        Share { work: Collected { victims: 1, moves, ..Collected::default() }, out: 0 }
    }

    /// Pages that a die has yet to move count, whether it has begun or not; its unit counts those of all dies.
    #[test]
    fn what_has_left_a_victim_under_way_is_room() {
        let mut device = device();
        let all = device.room_without_parts(0);
        let parts = &mut device.superblocks.as_mut().expect("dies share blocks").parts;
        (parts[0].due, parts[1].running) = (moves(3), moves(2));
        assert_eq!([0, 1].map(|die| device.room_without_parts(die)), [all + 5; 2]);
        // The victim is no room before its dies have erased it.
        device.ftl.units[0].hidden = 1;
        assert_eq!(device.room_without_parts(0), all + 5 - 8);
    }

    /// Reads go first, and then as much of the reads is over as of the programs.
    #[test]
    fn reads_and_programs_of_a_part_take_turns_in_proportion() {
        let steps = |reads: u32, programs: u32| {
            let work = Collected { victims: 1, reads, programs, moves: 2 * programs, ..Collected::default() };
            let mut part = Part { due: Share { work, out: 3 * reads }, ..Part::default() };
            part.begin();
            let mut steps = String::new();
            let (mut out, mut moved) = (0, 0);
            loop {
                match part.due_step() {
                    Due::Read(_) => (steps, out) = (steps + "r", out + part.read()),
                    Due::Program(_) => (steps, moved) = (steps + "p", moved + part.program()),
                    _ => break,
                }
            }
            assert_eq!((out, moved), (3 * reads, 2 * programs), "all pages go out, and all come in");
            steps
        };
        assert_eq!(steps(4, 2), "rprrpr");
        assert_eq!(steps(2, 4), "rpprpp");
        assert_eq!(steps(3, 3), "rprprp");
        assert_eq!([steps(2, 0), steps(0, 2), steps(0, 0)], ["rr", "pp", ""]);
    }

    /// Pages of the last read and of the last program are what is left, and each has about as many as others.
    #[test]
    fn pages_are_spread_over_reads_and_programs() {
        let work = Collected { victims: 1, reads: 3, programs: 3, moves: 7, ..Collected::default() };
        let mut part = Part { due: Share { work, out: 8 }, ..Part::default() };
        part.begin();
        assert_eq!([part.read(), part.read(), part.read()], [3, 3, 2]);
        assert_eq!([part.program(), part.program(), part.program()], [3, 2, 2]);
        assert_eq!(part.victims(), 1, "its blocks are yet to be erased");
    }
}
