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
//! Transfers of moves are taken not to wait for the bus, because dies that collect use it for a small part of their time.
//! Nor does the estimate know of host operations that go between the steps, of pages that are overwritten meanwhile, of
//! victims that get fuller one by one, and of victim policies that choose another block than greedy would.

use harmonia_flash::Copyback;
use harmonia_types::{SimDuration, SimTime};

use super::collect::{Job, UnitSet, Want};
use super::die::{Activity, Die, NO_OP, Step};
use super::queue::{OpKind, QueueView};
use super::{Device, Rules};
use crate::block::{BlockId, valid_of};
use crate::ftl::Goal;
use crate::gc::schedule::{Class, GcJob, GcPhase, GivesWay, Queued, Work};
use crate::probe::Probe;

impl Rules {
    /// Whether a page that leaves its plane, or does not, goes over the bus.
    pub fn is_far(&self, leaves_plane: bool) -> bool {
        match self.timing.copyback {
            Copyback::Die => false,
            Copyback::Plane => leaves_plane,
            Copyback::None => true,
        }
    }

    /// The step of a collection that is due, or the first one of an event yet to begin.
    pub fn step(&self, job: Option<&GcJob>) -> Work {
        let timing = &self.timing;
        let leaves_plane = job.is_none_or(|job| job.source_plane != job.destination.0);
        let die = match job.map_or(GcPhase::Read, |job| job.phase) {
            GcPhase::Read if self.global || self.is_far(leaves_plane) => timing.read + self.bus_turn(),
            // The page stays in the plane's register, and its program follows at once.
            GcPhase::Read => timing.read + timing.program,
            GcPhase::Program => timing.program + self.bus_turn(),
            GcPhase::Erase => timing.erase,
            GcPhase::Choose | GcPhase::Away => SimDuration::ZERO,
        };
        Work { die, link: SimDuration::ZERO }
    }

    fn host_work(&self, kind: OpKind) -> Work {
        let timing = &self.timing;
        let die = match kind {
            OpKind::Read => timing.read + self.bus_turn(),
            OpKind::Write => timing.program + self.bus_turn(),
            OpKind::PartialWrite => timing.read + timing.program + self.bus_turn() * 2,
            OpKind::Trim => SimDuration::ZERO,
        };
        let link = if kind == OpKind::Read { self.link_page } else { SimDuration::ZERO };
        Work { die, link }
    }

    /// Read and program of a page that garbage collection moves, each transfer without waiting for the bus.
    fn move_time(&self, leaves_plane: bool) -> SimDuration {
        let transfers = if self.global || self.is_far(leaves_plane) { 2 } else { 0 };
        self.timing.read + self.timing.program + self.timing.transfer * transfers
    }

    /// A transfer, behind one of every other die on its bus.
    fn bus_turn(&self) -> SimDuration {
        let geometry = &self.geometry;
        let on_bus = if geometry.own_pins { 1 } else { geometry.chips_per_channel * geometry.dies_per_chip };
        self.timing.transfer * u64::from(on_bus)
    }
}

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
        let left = match (slot.activity, &slot.job, &slot.want) {
            (Activity::Event(_), _, want) => {
                let goes_on = want.filter(|want| want.yields && !interrupted && self.governor.is_none());
                let further = goes_on.map(|want| self.event_from_start(die, &want));
                slot.gc_until.saturating_since(now) + further.unwrap_or_default()
            }
            (_, Some(job), _) => self.command_left(die, now) + self.job_left(die, job, interrupted),
            (_, None, Some(want)) if want.admitted || slot.stalled.is_some() => {
                self.event_from_start(die, want)
            }
            _ => return None,
        };
        Some(left)
    }

    /// Remembers how long an event that has just begun is likely to take.
    pub(super) fn foresee(&mut self, die: u32, now: SimTime) {
        let left = self.collection_left(die, now, self.interrupted);
        self.dies[die as usize].gc_foreseen = left.unwrap_or_default();
    }

    /// An event has ended: compares how long it took with what was foreseen.
    pub(super) fn compare_foreseen(&mut self, die: u32, now: SimTime) {
        let slot = &self.dies[die as usize];
        let (actual, estimated) = (now - slot.gc_since, slot.gc_foreseen);
        if actual > SimDuration::ZERO {
            self.counters.estimated.add(estimated, actual);
        }
    }

    /// An event from its start to its end.
    fn event_from_start(&self, die: u32, want: &Want) -> SimDuration {
        if self.governor.is_some() {
            let (goal, unit) = (Goal { stop: 0, min_victims: 1 }, self.most_invalid(die).1);
            return self.unit_left(unit, Rest { goal, given: 0, current: None, most: 1 });
        }
        self.units_left(die, want.units, 0, want.goal)
    }

    /// What a job still takes, without the command that runs.
    fn job_left(&self, die: u32, job: &Job, interrupted: bool) -> SimDuration {
        let unit = die * self.rules.shape.units_per_die + job.unit;
        let is_turn = self.governor.is_some() || (job.yields && interrupted);
        let (goal, given, current) = (job.goal, job.unit_victims, job.victim);
        let rest = if is_turn {
            // It ends with this victim; one that has none yet takes its first.
            Rest { goal: Goal { stop: 0, min_victims: 1 }, given: job.victims, current, most: 1 }
        } else {
            Rest { goal, given, current, most: self.rules.shape.blocks_per_unit }
        };
        let own = self.unit_left(unit, rest);
        let others = match (is_turn, job.yields) {
            (true, _) => SimDuration::ZERO,
            (false, false) => self.units_left(die, job.units, job.unit + 1, goal),
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
            return timing.erase;
        }
        let is_live = |victim: BlockId, page| self.ftl.lpn_at(unit, victim.0, page).is_some();
        match (job.victim, job.held) {
            (Some(victim), Some(held)) if is_live(victim, held.page) => {
                timing.read + if held.in_controller { timing.transfer } else { SimDuration::ZERO }
            }
            _ => SimDuration::ZERO,
        }
    }

    /// What an event still takes in the units of a die from `first` on, of which none has begun.
    fn units_left(&self, die: u32, units: UnitSet, first: u32, goal: Goal) -> SimDuration {
        let of_die = self.rules.shape.units_per_die;
        let rest = Rest { goal, given: 0, current: None, most: self.rules.shape.blocks_per_unit };
        let due = (first..of_die).filter(|&unit| units.has(unit));
        due.map(|unit| self.unit_left(die * of_die + unit, rest)).sum()
    }

    /// What an event still takes in one unit: the victim under way, then victims like the best there is now.
    fn unit_left(&self, unit: u32, rest: Rest) -> SimDuration {
        let (table, data_pages) = (self.ftl.blocks(unit), self.rules.shape.data_pages);
        let best = table.fewest_valid().filter(|&(_, valid)| valid < data_pages).map(|best| best.0);
        let (open, mut page) = self.ftl.next_gc_page(unit).unwrap_or_default();
        let (mut free, mut given) = (self.ftl.free_blocks(unit), rest.given);
        let (mut current, mut left) = (rest.current, SimDuration::ZERO);
        for _ in 0..rest.most {
            let is_due = given < rest.goal.min_victims || free <= rest.goal.stop;
            let Some(victim) = current.take().or(best.filter(|_| is_due)) else { break };
            let valid = valid_of(table.entries[victim.index()]);
            let leaves_plane = self.ftl.plane_of(unit, victim.0) != self.ftl.plane_of(unit, open);
            let (begun, written) = (u32::from(page > 0), page + valid);
            let summaries = written / data_pages * self.rules.shape.summary_pages;
            free = (free + 1 + begun).saturating_sub(written.div_ceil(data_pages));
            page = written % data_pages;
            given += 1;
            left += self.rules.move_time(leaves_plane) * u64::from(valid)
                + self.rules.timing.program * u64::from(summaries)
                + self.rules.timing.erase;
        }
        left
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
            Step::Bus(pages) => self.rules.timing.transfer * u64::from(pages),
        });
        suspended + known + rest.sum()
    }
}

impl Die {
    /// Whether the running command is one of garbage collection.
    pub(super) fn runs_collection(&self) -> bool {
        match self.activity {
            Activity::Event(_) | Activity::Move | Activity::Erase | Activity::Suspending => true,
            Activity::Joint(_) => self.has_gc_part(),
            Activity::Idle | Activity::Host(_) | Activity::Summary => false,
        }
    }
}

impl QueueView<'_> {
    /// Visits the operations in the order of service, as long as `visit` says to go on.
    pub fn visit_waiting(&self, visit: &mut dyn FnMut(Queued, Work) -> bool) {
        let mut go_on = |handle| visit(self.queued(handle), self.rules.host_work(self.ops[handle].kind));
        if self.rules.reads_first {
            _ = self.in_class(Class::Read).chain(self.in_class(Class::Write)).all(go_on);
        } else {
            _ = self.in_order().all(&mut go_on);
        }
    }

    fn in_order(&self) -> impl Iterator<Item = u32> {
        let some = |handle| (handle != NO_OP).then_some(handle);
        std::iter::successors(some(self.die.head), move |&handle| some(self.ops[handle].next))
    }

    /// The waiting operations of a class in order of readiness.
    fn in_class(&self, class: Class) -> impl Iterator<Item = u32> {
        let head_and_rest = |unit| {
            let mut lane = self.lane(unit, class);
            (lane.next(), lane)
        };
        let mut lanes: Vec<_> = self.units().map(head_and_rest).collect();
        std::iter::from_fn(move || {
            let heads = lanes.iter_mut().filter_map(|lane| {
                let (_, op) = lane.0?;
                Some(((op.ready, op.order), lane))
            });
            let (_, (head, rest)) = heads.min_by_key(|(turn, _)| *turn)?;
            std::mem::replace(head, rest.next()).map(|(handle, _)| handle)
        })
    }
}
