//! How long what waits at a die, and what its collection has to do, would take: for schedules that weigh one against the
//! other, and for whoever asks how long a die will collect yet.
//!
//! A schedule takes a transfer to wait for one transfer of every other die on its bus: with a bus that serves first come,
//! first served it never waits longer. Not estimated for it: priorities on the bus, the queue at the link, summary pages,
//! several planes in one command; and a read is taken to be of a page that was written.
//!
//! A collection is estimated to its end: the command that runs, the live pages left of the victim and its erase, then
//! victims until the goal of the event is met in every unit that the event has yet to do.
//!
//! ```text
//! [ command |- live pages left -|- erase ][ victim ][ victim ] ...  until free > stop, or no block would free a page
//!       now ^                             each as full as the block with the fewest valid pages is now
//! ```
//!
//! Before a victim of a superblock is divided, its moves are taken to be shared equally between its dies.
//!
//! Transfers of moves are taken not to wait for the bus, because dies that collect use it for a small part of their time.
//! Nor does the estimate know of host operations that go between the steps, of pages that are overwritten meanwhile, of
//! victims that get fuller one by one, and of victim policies that choose another block than greedy would.

use harmonia_flash::Copyback;
use harmonia_types::{SimDuration, SimTime};

use super::Device;
use crate::block::{BlockId, valid_of};
use crate::die::collection::{Atomic, Collection, Course, Job, Place, Stepwise};
use crate::die::command::{Activity, Step};
use crate::die::event::{Event, UnitSet};
use crate::ftl::{Collected, Goal};
use crate::gc::schedule::GivesWay;
use crate::probe::Probe;
use crate::shape::UnitOfDie;

/// What an event has yet to do in one unit.
#[derive(Debug, Clone, Copy)]
struct Rest {
    goal: Goal,
    /// Victims the unit has given, the one under way left out.
    given: u32,
    /// The victim under way.
    current: Option<BlockId>,
    /// At most so many victims, that one included.
    most: u32,
}

impl<P: Probe> Device<P> {
    /// How long a die is likely to collect yet; of an event that has not begun, how long it will take. `None` if the die
    /// does not collect and is not about to, or if that takes no time. An event that gives way to the host ends with its
    /// victim if it is `interrupted`; under a policy that limits channels a turn is one victim.
    pub(super) fn collection_left(&self, die: u32, now: SimTime, interrupted: bool) -> Option<SimDuration> {
        let slot = &self.dies[die as usize];
        if self.schedule_needs.gives_way == GivesWay::Always {
            return None;
        }
        let left = match &slot.collection {
            Collection::Atomic(Atomic { event, until, .. }) => {
                let goes_on = event.yields() && !interrupted && self.governor.is_none();
                let further = if goes_on { self.event_from_start(die, event) } else { SimDuration::ZERO };
                until.saturating_since(now) + further
            }
            Collection::Stepwise(stepwise)
                if self.rules.by_parts && stepwise.job.victim.is_none() && !self.is_divided(die) =>
            {
                self.event_from_start(die, &stepwise.event)
            }
            Collection::Stepwise(_) if self.rules.by_parts => {
                self.command_left(die, now) + self.steps_left(die) + self.part_left(die).unwrap_or_default()
            }
            Collection::Stepwise(stepwise) => {
                self.command_left(die, now) + self.job_left(die, stepwise, interrupted)
            }
            Collection::Admitted(event) => {
                self.part_left(die).unwrap_or_else(|| self.event_from_start(die, event))
            }
            Collection::Waiting(event) if slot.stalled => self.event_from_start(die, event),
            Collection::Waiting(_) | Collection::Rest => return None,
        };
        Some(left)
    }

    /// Remembers how long an event that has just begun is likely to take.
    pub(super) fn foresee(&mut self, die: u32, now: SimTime) {
        let left = self.collection_left(die, now, self.interrupted);
        self.dies[die as usize].collection.foresee(left.unwrap_or_default());
    }

    /// An event has ended: compares how long it took with what was foreseen.
    pub(super) fn compare_foreseen(&mut self, course: Course, now: SimTime) {
        let actual = now - course.since;
        if actual > SimDuration::ZERO {
            self.counters.estimated.add(course.foreseen, actual);
        }
    }

    /// An event from its start to its end.
    fn event_from_start(&self, die: u32, event: &Event) -> SimDuration {
        if self.governor.is_some() {
            let (goal, unit) = (Goal { stop: 0, min_victims: 1 }, self.most_invalid(die).1);
            return self.unit_left(unit, Rest { goal, given: 0, current: None, most: 1 });
        }
        self.units_left(die, event.units(), 0, event.goal())
    }

    /// What a job still takes, without the command that runs.
    fn job_left(&self, die: u32, stepwise: &Stepwise, interrupted: bool) -> SimDuration {
        let Stepwise { event, job, .. } = stepwise;
        let unit = self.rules.shape.unit(die, job.unit);
        let is_turn = self.governor.is_some() || (event.yields() && interrupted);
        let (goal, current) = (event.goal(), job.victim.map(|victim| victim.block));
        let given = event.given().saturating_sub(u32::from(current.is_some()));
        let rest = if is_turn {
            // It ends with this victim; one that has none yet takes its first.
            Rest { goal: Goal { stop: 0, min_victims: 1 }, given: job.victims, current, most: 1 }
        } else {
            Rest { goal, given, current, most: self.rules.shape.blocks_per_unit }
        };
        let own = self.unit_left(unit, rest);
        let others = match (is_turn, event.yields()) {
            (true, _) => SimDuration::ZERO,
            (false, false) => self.units_left(die, event.units(), job.unit.0 + 1, goal),
            // Any unit may come next.
            (false, true) => {
                let units = UnitSet::ALL.without(job.unit);
                self.units_left(die, units, 0, goal)
            }
        };
        own + others - self.begun_of_victim(die, unit, job).min(own)
    }

    /// What of a job's current victim is over, or belongs to the command that runs: the erase, or the read of a page that is
    /// yet to be programmed.
    fn begun_of_victim(&self, die: u32, unit: u32, job: &Job) -> SimDuration {
        let (slot, timing) = (&self.dies[die as usize], &self.rules.timing);
        let suspended = slot.paused.as_deref().map(|paused| paused.activity);
        if slot.activity == Activity::Erase || suspended == Some(Activity::Erase) {
            return timing.erase + timing.command.erase;
        }
        let is_live = |victim: BlockId, page| self.ftl.lpn_at(unit, victim.0, page).is_some();
        let Some(victim) = job.victim else { return SimDuration::ZERO };
        match victim.held.filter(|held| is_live(victim.block, held.page)) {
            Some(held) if held.place == Place::Register => self.rules.mean_read() + timing.command.read,
            Some(_) => self.rules.mean_read() + timing.command.read + timing.transfer,
            None => SimDuration::ZERO,
        }
    }

    /// What an event still takes in the units of a die from `first` on, of which none has begun.
    fn units_left(&self, die: u32, units: UnitSet, first: u32, goal: Goal) -> SimDuration {
        let shape = &self.rules.shape;
        let rest = Rest { goal, given: 0, current: None, most: self.rules.shape.blocks_per_unit };
        let due = (first..shape.units_per_die).map(UnitOfDie).filter(|&unit| units.has(unit));
        // Dies that share their blocks share the pages. Each erases its own blocks.
        let of_unit = |unit| {
            let (moves, erases) = self.moves_and_erases_left(shape.unit(die, unit), rest);
            SimDuration(moves.0 / u64::from(shape.dies_per_unit)) + erases
        };
        due.map(of_unit).sum()
    }

    /// What an event still takes in one unit: the victim under way, then victims like the best there is now.
    fn unit_left(&self, unit: u32, rest: Rest) -> SimDuration {
        let (moves, erases) = self.moves_and_erases_left(unit, rest);
        moves + erases
    }

    /// The same in two times: that of moves, which dies that share blocks divide, and that of erases, which each of them has in full.
    fn moves_and_erases_left(&self, unit: u32, rest: Rest) -> (SimDuration, SimDuration) {
        let (table, data_pages) = (self.ftl.blocks(unit), self.rules.shape.data_pages);
        let packing = &self.rules.shape.packing;
        let best =
            table.fewest_valid().filter(|&(_, valid)| packing.wins(data_pages, valid)).map(|best| best.0);
        let (open, mut page) = self.ftl.next_gc_page(unit).unwrap_or_default();
        let (mut free, mut given) = (self.ftl.free_blocks(unit), rest.given);
        let (mut current, mut moves, mut erases) = (rest.current, SimDuration::ZERO, SimDuration::ZERO);
        for _ in 0..rest.most {
            let is_due = given < rest.goal.min_victims || free <= rest.goal.stop;
            let Some(victim) = current.take().or(best.filter(|_| is_due)) else { break };
            let valid = valid_of(table.entries[victim.index()]);
            let leaves_plane = self.ftl.plane_of(unit, victim.0) != self.ftl.plane_of(unit, open);
            let whole_programs = valid.next_multiple_of(packing.slots_per_program());
            let (begun, written) = (u32::from(page > 0), page + whole_programs);
            let summaries = written / data_pages * self.rules.shape.summary_pages;
            free = (free + 1 + begun).saturating_sub(written.div_ceil(data_pages));
            page = written % data_pages;
            given += 1;
            moves += self.rules.victim_moves_time(leaves_plane, valid) + self.rules.summary_time(summaries);
            erases += self.rules.timing.erase + self.rules.timing.command.erase;
        }
        (moves, erases)
    }

    /// What a command of garbage collection that runs, or is suspended, still takes.
    fn command_left(&self, die: u32, now: SimTime) -> SimDuration {
        let slot = &self.dies[die as usize];
        let paused = slot.paused.as_deref();
        let suspended = paused.map(|paused| paused.remaining + self.rules.timing.resume).unwrap_or_default();
        if !slot.runs_collection() {
            return suspended;
        }
        let known = match self.wakes.time_of(die as usize) {
            SimTime::NEVER => SimDuration::ZERO,
            time => time.saturating_since(now),
        };
        let command = &slot.command;
        let steps = command.steps[..usize::from(command.len)].iter().skip(command.next.into());
        let rest = steps.map(|step| match *step {
            Step::Array(length) => length,
            Step::Command(length) => length,
            Step::Out(pages) => self.rules.timing.transfer * u64::from(pages),
            Step::In(pages) => self.rules.page_in * u64::from(pages),
        });
        suspended + known + rest.sum()
    }

    /// Sum of an event's moves, summaries and erases.
    pub(super) fn event_time(&self, collected: &Collected) -> SimDuration {
        let timing = &self.rules.timing;
        let far = match timing.copyback {
            _ if self.superblocks.is_some() => collected.moves,
            Copyback::Die => 0,
            Copyback::Plane => collected.between_planes,
            Copyback::None => collected.moves,
        };
        self.rules.moves_time((collected.reads, collected.programs), far)
            + self.rules.summary_time(collected.summaries)
            + (timing.erase + timing.command.erase) * u64::from(collected.victims)
    }

    /// How long a die works on the part that it has yet to do.
    fn part_left(&self, die: u32) -> Option<SimDuration> {
        let blocks = self.superblocks.as_ref()?;
        let due = &blocks.parts[die as usize].due.work;
        (due.victims > 0).then(|| self.event_time(due))
    }

    /// How long a die works on the part under way, but for the command that runs, or is suspended.
    fn steps_left(&self, die: u32) -> SimDuration {
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
}
