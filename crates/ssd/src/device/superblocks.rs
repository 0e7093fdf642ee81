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
//! `binding` binds operations, and `parts` divides collections.
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
use harmonia_types::{Operation, SimTime};

use super::Device;
use super::queue::PageOp;
use super::steps::Due;
use crate::die::collection::{Held, Place};
use crate::ftl::{Collected, Ftl, To};
use crate::probe::Probe;
use crate::shape::Shape;
use crate::stripes::Stripes;

/// What a device with superblocks remembers.
#[derive(Debug, Clone)]
pub(super) struct Superblocks {
    /// Operations whose data is not over the link, and those behind them on the same page; in order of readiness. Behind a cache, reads that
    /// are bound and wait for the data of writes ahead of them on the link.
    pub landing: EventQueue<PageOp>,
    /// By unit and page: how many of them there are, and when the last one lands.
    pub lands: BTreeMap<(u32, u32), (u32, SimTime)>,
    stripes: Stripes,
    /// Programs that were put together for the host so far: a number for the next one, which its pages have at the die.
    pub programs: u32,
    /// By die.
    pub parts: Vec<Part>,
    /// Reused: live pages of a victim, and what they hold.
    pub live: Vec<(u32, u32)>,
}

/// What a die has yet to do for collections, and what of the part under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    pub due: Share,
    /// The part under way, and what is left of it where it goes step by step.
    pub running: Share,
    pub left: Share,
    /// Victims of the parts that it has done.
    pub done: u64,
}

/// A die's share of victims.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    /// Its moves are pages that it programs.
    pub work: Collected,
    /// Live pages that it reads.
    pub out: u32,
}

impl Share {
    pub fn victims(&self) -> u32 {
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
    pub fn victims(&self) -> u32 {
        self.due.victims() + self.running.victims()
    }

    /// Begins with what is due.
    pub fn begin(&mut self) -> Collected {
        self.running = std::mem::take(&mut self.due);
        self.left = self.running;
        self.running.work
    }

    /// A page of the flash is read: how many of its pages are live, about as many as those of others.
    pub fn read(&mut self) -> u32 {
        let out = self.left.out.div_ceil(self.left.work.reads.max(1));
        self.left.out -= out;
        self.left.work.reads -= 1;
        out
    }

    /// A program is written: how many pages it carries, about as many as others.
    pub fn program(&mut self) -> u32 {
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
        self.forget_landing();
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
    pub fn land_later(&mut self, mut op: PageOp) {
        let (count, last) = self.lands.entry((op.unit, op.lpn)).or_insert((0, SimTime::ZERO));
        op.ready = op.ready.max(*last);
        (*count, *last) = (*count + 1, op.ready);
        self.landing.push(op.ready, op);
    }

    pub fn has_landed(&mut self, op: &PageOp) {
        if let Some(entry) = self.lands.get_mut(&(op.unit, op.lpn)) {
            entry.0 -= 1;
            if entry.0 == 0 {
                self.lands.remove(&(op.unit, op.lpn));
            }
        }
    }
}

impl<P: Probe> Device<P> {
    /// Whether an operation on a page waits for the link, or for one that does.
    pub(super) fn is_on_link(&self, unit: u32, lpn: u32) -> bool {
        self.superblocks.as_ref().is_some_and(|blocks| blocks.lands.contains_key(&(unit, lpn)))
    }

    /// The die in which a page lies, where dies share their blocks.
    pub(super) fn die_by_map(&self, unit: u32, lpn: u32) -> Option<u32> {
        Some(self.die_at(unit, self.ftl.lookup(unit, lpn)?))
    }

    /// The die that has a page of a block.
    pub(super) fn die_at(&self, unit: u32, (block, page): (u32, u32)) -> u32 {
        let superblock = unit * self.rules.shape.blocks_per_unit + block;
        let of_unit = self.superblocks.as_ref().map_or(0, |blocks| blocks.stripes.die(superblock, page));
        self.rules.shape.die_of(unit) + of_unit
    }

    /// The die to which an operation would go now, as far as that is known.
    pub(super) fn die_for(&self, unit: u32, lpn: u32, operation: Operation) -> Option<u32> {
        if operation != Operation::Write {
            return self.die_by_map(unit, lpn);
        }
        Some(self.die_at(unit, self.ftl.next_page_to(unit, self.ftl.to(unit, lpn, 0))?))
    }

    /// The die that is to have the next program of a frontier, or the rest of one that has begun. It is chosen here, so the program must be
    /// written now.
    pub(super) fn choose_die(&mut self, unit: u32, (block, page): (u32, u32)) -> u32 {
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

    /// Something was written or trimmed, so a collection may find what none found before.
    pub(super) fn is_worth_collecting(&mut self, unit: u32) {
        for die in self.rules.shape.dies_of(unit) {
            self.dies[die as usize].exhausted = false;
        }
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
        // Eight free superblocks of eight pages, less the one of the hard threshold and the one to collect into.
        assert_eq!(all, 6 * 8);
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
