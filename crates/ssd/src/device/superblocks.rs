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
//! Pages of a frontier go from die to die in turn. The least loaded die would have to have room in the same superblock, so that
//! dies would fill it unequally, and the last ones to fill it would take all writes.
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
//! A collection settles the map as well when it begins, and then all dies of the superblock work on their parts at once. A part is
//! one command. Dies do not wait for one another, so a page may be programmed a little before another die has read it.
//!
//! An operation that asks to fail fast is refused when it arrives, or not at all. The rest of a page of which a part is written is
//! read by the die that takes the new page. Transfers of moved pages take time, but do not wait for the bus.
//!
//! Not modelled: superblocks that go on without a block that has worn out, or with a spare one in its place.

use std::collections::BTreeMap;

use harmonia_engine::EventQueue;
use harmonia_types::{Operation, SimDuration, SimTime};

use super::owner::OwnerId;
use super::queue::{OpKind, PageOp, class_of};
use super::{Device, DeviceFailure, SubRequest};
use crate::block::Erased;
use crate::die::command::{Activity, Step};
use crate::die::event::{Event, UnitSet};
use crate::follow::Why;
use crate::ftl::Collected;
use crate::probe::Probe;
use crate::shape::Shape;

/// What a device with superblocks remembers.
#[derive(Debug, Clone)]
pub(super) struct Superblocks {
    /// Operations whose data is not over the link, and those behind them on the same page; in order of readiness.
    landing: EventQueue<PageOp>,
    /// By unit and page: how many of them there are, and when the last one lands.
    lands: BTreeMap<(u32, u32), (u32, SimTime)>,
    /// By die.
    parts: Vec<Part>,
    /// Reused: live pages of a victim, and what they hold.
    live: Vec<(u32, u32)>,
}

/// What a die has yet to do for collections, and victims of the part under way.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    due: Collected,
    running: u32,
    /// Victims of the parts that it has done.
    done: u64,
}

impl Superblocks {
    pub fn new(shape: &Shape) -> Self {
        Superblocks {
            landing: EventQueue::default(),
            lands: BTreeMap::new(),
            parts: vec![Part::default(); shape.dies as usize],
            live: Vec::new(),
        }
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
        let page = self.ftl.lookup(unit, lpn)?.1;
        Some(self.rules.shape.die_of_page(unit, page))
    }

    /// The die to which an operation would go now.
    fn die_for(&self, unit: u32, lpn: u32, operation: Operation) -> Option<u32> {
        if operation != Operation::Write {
            return self.die_by_map(unit, lpn);
        }
        let page = self.ftl.next_page_to(unit, self.ftl.to(unit, lpn, 0))?.1;
        Some(self.rules.shape.die_of_page(unit, page))
    }

    /// The first operation that waits for the link is due.
    pub(super) fn land_by_map(&mut self) -> Result<(), DeviceFailure> {
        let Some(blocks) = &mut self.superblocks else { return Ok(()) };
        let Some((_, op)) = blocks.landing.pop_due(SimTime::NEVER) else { return Ok(()) };
        blocks.has_landed(&op);
        self.events += 1;
        self.bind(op, op.ready)
    }

    /// Looks up or changes the map for an operation, and queues it at the die that this names.
    fn bind(&mut self, op: PageOp, now: SimTime) -> Result<(), DeviceFailure> {
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
                self.finish_page_at(op.owner.sub(), op.page, now);
                return Ok(());
            }
            OpKind::Write | OpKind::PartialWrite => {
                self.make_room(unit, now)?;
                let completes = op.kind == OpKind::PartialWrite && self.complete_page(&op);
                let to = self.to(&op);
                let page = self.ftl.next_page_to(unit, to).map_or(0, |place| place.1);
                let die = self.rules.shape.die_of_page(unit, page);
                self.write_page(die, &op, to, now)?;
                self.is_worth_collecting(unit);
                self.look_at_unit(unit, now);
                (die, if completes { OpKind::PartialWrite } else { OpKind::Write })
            }
        };
        // What waits at a die is told apart by it: the map is done with.
        self.enqueue(die, PageOp { unit: die, kind, ..op }, now)
    }

    /// Something was written or trimmed, so a collection may find what none found before.
    fn is_worth_collecting(&mut self, unit: u32) {
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
        let cycles = self.rules.timing.command.read;
        let (read, program) = (self.rules.only_read_time(), self.rules.only_program_time());
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

    /// Collects before a write would take what collection needs.
    fn make_room(&mut self, unit: u32, now: SimTime) -> Result<(), DeviceFailure> {
        if self.ftl.free_blocks(unit) > self.rules.shape.hard {
            return Ok(());
        }
        let die = self.rules.shape.die_of(unit);
        let mut event = self.own_event(UnitSet::ALL);
        self.divide(die, &mut event, false, now)
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
        let part = &mut blocks.parts[die as usize];
        let due = std::mem::take(&mut part.due);
        part.running = due.victims;
        Ok(due)
    }

    /// Whether a die has yet to do its part of a collection.
    pub(super) fn has_part(&self, die: u32) -> bool {
        self.superblocks.as_ref().is_some_and(|blocks| blocks.parts[die as usize].due.victims > 0)
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
            let (_, erased) =
                self.ftl.unit(unit).collect_one(block, false, &mut self.probe).map_err(&failure)?;
            if erased == Erased::Retired {
                self.note_retired(unit, now);
            }
            self.give_parts(unit, live);
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

    /// Each die of a unit reads the live pages that lay in it, programs those that go there, and erases its blocks.
    fn give_parts(&mut self, unit: u32, live: Vec<(u32, u32)>) {
        let shape = &self.rules.shape;
        let Some(blocks) = &mut self.superblocks else { return };
        for die in shape.dies_of(unit) {
            blocks.parts[die as usize].due.victims += 1;
        }
        for &(page, lpn) in &live {
            let (_, to) = self.ftl.lookup(unit, lpn).unwrap_or_default();
            blocks.parts[shape.die_of_page(unit, page) as usize].due.reads += 1;
            let due = &mut blocks.parts[shape.die_of_page(unit, to) as usize].due;
            due.programs += 1;
            due.moves += 1;
        }
        blocks.live = live;
    }

    /// Blocks of a unit count for status when all its dies have erased their part of them.
    fn show_hidden(&mut self, unit: u32) {
        let Some(blocks) = &self.superblocks else { return };
        let parts = &blocks.parts[self.rules.shape.dies_of(unit).start as usize..];
        let parts = &parts[..self.rules.shape.dies_per_unit as usize];
        let left = parts.iter().map(|part| part.due.victims + part.running).max();
        self.ftl.units[unit as usize].hidden = left.unwrap_or_default();
    }

    /// A die has done its part. If it was given another one meanwhile, it goes on with that.
    pub(super) fn end_part(&mut self, die: u32, now: SimTime) {
        let Some(blocks) = &mut self.superblocks else { return };
        let part = &mut blocks.parts[die as usize];
        part.done += u64::from(std::mem::take(&mut part.running));
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
        let due = &blocks.parts[die as usize].due;
        (due.victims > 0).then(|| self.event_time(due))
    }

    /// Checks that a superblock is erased as one, and that no work of a collection is forgotten.
    pub(super) fn audit_superblocks(&self) {
        let Some(blocks) = &self.superblocks else { return };
        for (die, part) in (0..).zip(&blocks.parts) {
            let slot = &self.dies[die as usize];
            assert!(
                part.due.victims == 0 || slot.collects() || slot.collection.is_admitted(),
                "die {die} forgets its part"
            );
            assert!(part.running == 0 || slot.collects(), "die {die} works on a part and does not collect");
        }
        for unit in 0..self.rules.shape.units() {
            let parts = self.rules.shape.dies_of(unit).map(|die| &blocks.parts[die as usize]);
            let left = parts.clone().map(|part| part.due.victims + part.running).max();
            let hidden = self.ftl.units[unit as usize].hidden;
            assert!(
                self.failed.is_some() || left == Some(hidden),
                "unit {unit}: {hidden} blocks are being erased, not {left:?}"
            );
            let mut all = parts.map(|part| part.done + u64::from(part.due.victims + part.running));
            let first = all.next();
            assert!(all.all(|other| Some(other) == first), "unit {unit}: a superblock is erased whole");
        }
    }
}
