//! Events that go step by step: choose a victim, read a page, program it, erase.

use harmonia_types::{SimDuration, SimTime};

use super::{Device, DeviceFailure};
use crate::block::{BlockId, Erased};
use crate::die::collection::{Collection, Held, Job, Moving, Place, Stepwise};
use crate::die::command::{Activity, Step};
use crate::gc::schedule::{Class, GcJob, GcPhase, Token};
use crate::probe::Probe;
use crate::shape::UnitOfDie;

/// What a job does next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Due {
    /// Choose a victim, or end the event.
    Choose,
    /// Read the page at this offset.
    Read(u32),
    /// Read the page at this offset of a block that is no victim, to fill the victim's last program.
    ReadAhead(BlockId, u32),
    /// Program the page that was read.
    Program(Held),
    /// Erase the victim.
    Erase,
}

impl<P: Probe> Device<P> {
    /// Takes the next step of a die's job, beginning the job if there is none: chooses a victim or ends the event, which
    /// takes no time, or starts a page move or the half of it that is due. `false` if nothing was started: ask again.
    pub(super) fn step_job(&mut self, die: u32, token: Token, now: SimTime) -> Result<bool, DeviceFailure> {
        if let Collection::Admitted(event) = self.dies[die as usize].collection {
            if event.yields() && self.interrupted && self.governor.is_none() && !self.has_part(die) {
                self.dies[die as usize].collection.call_off();
                return Ok(false);
            }
            self.begin_job(die, now);
        }
        match self.dies[die as usize].collection.job() {
            None => Ok(false),
            Some(&Job { unit, victim: Some(victim), .. }) if token == Token::GcMove => {
                match self.due(die, self.rules.shape.unit(die, unit), Some(&victim)) {
                    Due::Read(page) => self.start_move(die, page, now).map(|()| true),
                    due @ (Due::Program(_) | Due::ReadAhead(..)) => {
                        let has_halves = self.rules.shape.packing.packs() || self.rules.by_parts;
                        assert!(has_halves, "a half is due, not a whole move");
                        self.start_half(die, due, now).map(|()| true)
                    }
                    Due::Choose | Due::Erase => Ok(false),
                }
            }
            Some(&Job { unit, victim: Some(victim), .. }) => {
                let due = self.due(die, self.rules.shape.unit(die, unit), Some(&victim));
                self.start_half(die, due, now).map(|()| true)
            }
            Some(Job { victim: None, .. }) => {
                self.choose_next(die, now)?;
                Ok(false)
            }
        }
    }

    /// An event goes step by step from now on.
    fn begin_job(&mut self, die: u32, now: SimTime) {
        let event = self.dies[die as usize].collection.begin_steps(now);
        self.start_collecting(die, now);
        if self.schedule_needs.fresh_blocks {
            for unit in self.units_of(die) {
                let collects = event.units().has(self.rules.shape.unit_in_die(unit));
                self.ftl.unit(unit).open_fresh(collects, self.rules.set_aside);
            }
        }
        self.foresee(die, now);
    }

    /// Gives a die's job its next victim, or ends the event; where turns are limited, the turn, after one victim.
    pub(super) fn choose_next(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        if self.rules.by_parts {
            return self.choose_part(die, now);
        }
        let Collection::Stepwise(Stepwise { mut event, job, .. }) = self.dies[die as usize].collection else {
            return Ok(());
        };
        let is_done = self.governor.is_some() && job.victims > 0;
        let next = if is_done { None } else { self.next_victim(die, &mut event, true, now) };
        let Some((unit, block)) = next else {
            self.end_event(die, now);
            return Ok(());
        };
        let of_device = self.rules.shape.unit(die, unit);
        self.win_skips(die, of_device, block);
        self.follow_victim(die, of_device, block, now);
        if let Some(mapping) = &mut self.mapping {
            mapping.will_move(&self.ftl, of_device, block);
        }
        self.ftl.unit(of_device).begin(block);
        debug_assert!(self.dies[die as usize].ahead.is_none(), "what was read ahead was for the last victim");
        if let Collection::Stepwise(stepwise) = &mut self.dies[die as usize].collection {
            stepwise.event = event;
            (stepwise.job.unit, stepwise.job.victim) = (unit, Some(Moving::new(block)));
        }
        Ok(())
    }

    /// Gives a die's job the part that it has yet to do, or one of a victim that is chosen now. Ends the event if its goal is met, or if
    /// other dies are still at work on the last victim.
    fn choose_part(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
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

    /// Starts moving the page of a victim that is due, read and program in one command.
    pub(super) fn start_move(&mut self, die: u32, page: u32, now: SimTime) -> Result<(), DeviceFailure> {
        if self.rules.by_parts {
            return self.start_half(die, Due::Read(page), now);
        }
        if self.rules.shape.packing.packs() {
            return self.move_units(die, page, now);
        }
        let Some((unit, &victim)) = self.dies[die as usize].collection.victim() else { return Ok(()) };
        let unit = self.rules.shape.unit(die, unit);
        let failure = self.failure(now);
        let moved = self.ftl.move_page(unit, victim.block, page, &mut self.probe).map_err(failure)?;
        if let Some(victim) = self.dies[die as usize].collection.victim_mut() {
            victim.cursor = page + 1;
            victim.moved += 1;
        }
        self.ftl.prefetch_pages(unit, victim.block.0, (victim.cursor, page + 1));
        let tr = self.read_time(die, (victim.block, page), now);
        let cycles = &self.rules.timing.command;
        let (block, offset) = moved.to;
        let own = self.rules.program_time((BlockId(block), offset), now);
        let program = own + self.rules.summary_time(moved.summaries);
        let is_far = self.rules.is_far(moved.between_planes);
        let command = self.dies[die as usize].begin(Activity::Move, now).told(cycles.read);
        if is_far {
            command.then(Step::Array(tr)).then(Step::Out(1)).then(Step::In(1)).then(Step::Array(program));
        } else if cycles.program > SimDuration::ZERO {
            command.then(Step::Array(tr)).told(cycles.program).then(Step::Array(program));
        } else {
            command.then(Step::Array(tr + program));
        }
        let is_alone = self.goes_alone();
        self.begin_alone(die, (is_alone, is_far), now);
        Ok(())
    }

    /// Starts erasing the victim, of which all live pages have moved.
    pub(super) fn start_erase(&mut self, die: u32, now: SimTime) {
        let victim = self.dies[die as usize].collection.victim();
        let is_due = |(unit, victim): (UnitOfDie, &Moving)| {
            matches!(self.due(die, self.rules.shape.unit(die, unit), Some(victim)), Due::Erase)
        };
        debug_assert!(victim.is_some_and(is_due), "a block is erased when its live pages have moved");
        let superseded = victim.and_then(|(_, victim)| victim.held).map_or(0, |held| held.count);
        self.counters.inside.superseded_moves += u64::from(superseded);
        self.dies[die as usize].ahead = None;
        let timing = &self.rules.timing;
        let erase = Step::Array(timing.erase * self.erases_due(die));
        self.dies[die as usize].begin(Activity::Erase, now).told(timing.command.erase).then(erase);
        self.start(die, now);
    }

    /// A page move or an erase has ended.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn end_move(&mut self, die: u32, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        slot.job_plane_busy += now - slot.command_began;
        self.end_gc_command(die, now);
    }

    /// The erase of a victim has ended.
    pub(super) fn end_erase(&mut self, die: u32, now: SimTime) {
        self.end_move(die, now);
        let Some(job) = self.dies[die as usize].collection.job_mut() else { return };
        if let Some(victim) = job.victim.take() {
            job.victims += 1;
            if self.rules.by_parts {
                return self.end_steps_of_part(die, now);
            }
            let unit = self.rules.shape.unit(die, job.unit);
            if self.ftl.unit(unit).erase(victim.block, &mut self.probe) == Erased::Retired {
                self.note_retired(unit, now);
            }
            self.note_won_by_steps(victim.moved);
        }
    }

    /// What a job does next. A page overwritten since it was read is not programmed.
    #[expect(clippy::inline_always, reason = "a part of every step of a collection")]
    #[inline(always)]
    pub(super) fn due(&self, die: u32, unit: u32, victim: Option<&Moving>) -> Due {
        let Some(victim @ &Moving { block, cursor, held, .. }) = victim else { return Due::Choose };
        if self.rules.by_parts {
            return self.due_of_part(die);
        }
        if self.rules.shape.packing.packs() {
            return self.due_of_units(unit, victim);
        }
        let is_live = |held: &Held| self.ftl.lpn_at(unit, block.0, held.page).is_some();
        match held.filter(is_live) {
            Some(held) => Due::Program(held),
            None => self.ftl.next_live(unit, block.0, cursor).map_or(Due::Erase, Due::Read),
        }
    }

    /// A job as schedules see it, `free` being the fewest free blocks of its die's units.
    pub(super) fn job_view(&self, die: u32, job: &Job, free: u32) -> GcJob {
        let unit = self.rules.shape.unit(die, job.unit);
        let victim = job.victim.map_or(0, |victim| victim.block.0);
        let destination = self.ftl.next_gc_page(unit).unwrap_or((victim, 0));
        let (phase, cursor) = match self.due(die, unit, job.victim.as_ref()) {
            Due::Choose => (GcPhase::Choose, self.rules.shape.data_pages),
            Due::Read(page) | Due::ReadAhead(_, page) => (GcPhase::Read, page),
            Due::Program(held) => (GcPhase::Program, held.page),
            Due::Erase => (GcPhase::Erase, self.rules.shape.data_pages),
        };
        let place = job.victim.and_then(|victim| victim.held).map(|held| held.place);
        let phase = if place == Some(Place::Away) { GcPhase::Away } else { phase };
        GcJob {
            unit,
            victim,
            cursor,
            phase,
            source_plane: self.ftl.plane_of(unit, victim),
            destination: (self.ftl.plane_of(unit, destination.0), destination.1),
            hard: self.keeps_out(Class::Read) && self.is_pressing(die, free),
            pinned: phase == GcPhase::Program && place == Some(Place::Register),
        }
    }
}
