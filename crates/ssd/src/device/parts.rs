//! Collections of dies that share their blocks: victims are taken for all dies of a unit, and each die gets its part of the work.
//!
//! `superblocks` has the picture, and what a device remembers of parts.

use harmonia_types::SimTime;

use super::steps::Due;
use super::superblocks::{Part, Share};
use super::{Device, DeviceFailure};
use crate::block::Erased;
use crate::die::command::{Activity, Part as PartOfCommand, Step};
use crate::die::event::{Event, UnitSet};
use crate::follow::Why;
use crate::ftl::Collected;
use crate::gc::schedule::Class;
use crate::probe::Probe;

impl<P: Probe> Device<P> {
    /// Takes the victims of an event of a unit, and divides the work among its dies.
    pub(super) fn divide(
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

    /// Collects before a write would take what collection needs.
    pub(super) fn make_room(&mut self, unit: u32, now: SimTime) -> Result<(), DeviceFailure> {
        if self.ftl.free_blocks(unit) > self.rules.shape.hard {
            return Ok(());
        }
        let die = self.rules.shape.die_of(unit);
        let mut event = self.own_event(UnitSet::ALL);
        self.divide(die, &mut event, self.rules.by_parts, now)
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
}
