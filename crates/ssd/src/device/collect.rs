//! When garbage collection starts and ends: checks, directives, atomic events and step-by-step jobs.

use harmonia_types::{Bytes, SimDuration, SimTime};

use super::die::{Activity, Command, Step};
use super::{Device, DeviceFailure};
use crate::block::BlockId;
use crate::config::Domain;
use crate::ftl::{Collected, Goal};
use crate::gc::schedule::{Class, GcJob, GcPhase, Pace, Token};
use crate::gc::victim::{NoReads, QueuedReads};
use crate::interface::{Directive, Notice, Stop, Window};
use crate::probe::Probe;
use harmonia_flash::Copyback;

/// Garbage collection a die should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Want {
    pub goal: Goal,
    pub units: UnitSet,
    /// It gives way to the host at every victim boundary.
    pub yields: bool,
    /// The concurrency policy lets it start.
    pub admitted: bool,
    /// Nobody asked for it but the concurrency policy.
    pub by_policy: bool,
    /// The device asked for it above its hard threshold; nobody forced it.
    pub at_soft: bool,
    /// Where turns are limited: unit of the die, counted from 0, that is collected next, and the victims it has given.
    pub unit: u32,
    pub unit_victims: u32,
    /// The turn under way counts as one of them.
    pub counts: bool,
}

impl Want {
    /// An event that may not start yet.
    pub fn event(goal: Goal, units: UnitSet) -> Want {
        let (yields, admitted, by_policy, at_soft, counts) = (false, false, false, false, false);
        Want { goal, units, yields, admitted, by_policy, at_soft, unit: 0, unit_victims: 0, counts }
    }
}

impl Want {
    /// Another demand for collection of the same die.
    pub fn absorb(&mut self, other: &Want) {
        self.units = self.units.and(other.units);
        self.at_soft &= other.at_soft;
    }
}

/// Which units of a die an event is for: all, or in the domain `plane` those that are low.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnitSet(u64);

impl UnitSet {
    pub const ALL: UnitSet = UnitSet(u64::MAX);

    /// Whether unit `unit` of the die, counted from 0, is one of them.
    pub fn has(self, unit: u32) -> bool {
        self.0 >> unit & 1 == 1
    }

    /// All but one.
    pub fn without(self, unit: u32) -> UnitSet {
        UnitSet(self.0 & !(1 << unit))
    }

    /// The units of both.
    pub fn and(self, other: UnitSet) -> UnitSet {
        UnitSet(self.0 | other.0)
    }
}

/// A victim being collected step by step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub goal: Goal,
    pub units: UnitSet,
    /// It gives way to the host at every victim boundary.
    pub yields: bool,
    /// Unit of the die, counted from 0, whose turn it is.
    pub unit: u32,
    pub victim: Option<BlockId>,
    /// Next page of the victim to look at.
    pub cursor: u32,
    /// The page that was read and is to be programmed.
    pub held: Option<Held>,
    /// It waits for another unit to program it.
    pub away: bool,
    /// Pages of the victim moved so far.
    pub moved: u32,
    /// Victims this unit has given.
    pub unit_victims: u32,
    pub victims: u32,
}

/// A page between its read and its program.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Its offset in the victim.
    pub page: u32,
    /// It was transferred; otherwise it lies in the plane's register.
    pub in_controller: bool,
}

/// What a job does next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Due {
    /// Choose a victim, or end the event.
    Choose,
    /// Read the page at this offset.
    Read(u32),
    /// Program the page that was read.
    Program(Held),
    /// Erase the victim.
    Erase,
}

impl<P: Probe> Device<P> {
    /// A directive from the coordinator, delivered at `now`. A device that has failed ignores it.
    pub fn direct(&mut self, now: SimTime, directive: Directive) {
        if self.failed.is_some() {
            return;
        }
        self.follow(now, directive);
        self.answer_everywhere(now);
    }

    fn follow(&mut self, now: SimTime, directive: Directive) {
        match directive {
            Directive::Force(Stop::Internal) => {
                self.demand(0..self.rules.shape.dies, self.own_event(UnitSet::ALL), now)
            }
            Directive::Force(Stop::AllReserve) => self.force_idle(now),
            Directive::Hold => self.begin_period(Window::Deterministic, now),
            Directive::Open => self.begin_period(Window::NonDeterministic, now),
            Directive::Release => self.begin_period(Window::None, now),
        }
    }

    /// Looks at the thresholds of a die's units; starts an event in the whole domain if one is low. Returns whether
    /// this die now has garbage collection to do.
    #[inline]
    pub(super) fn check(&mut self, die: u32, now: SimTime) -> bool {
        let units = self.rules.shape.units_per_die;
        let mut free = u32::MAX;
        for unit in die * units..(die + 1) * units {
            free = free.min(self.ftl.free_blocks(unit));
        }
        if free > self.rules.shape.soft {
            return false;
        }
        if !self.registered {
            self.registered = true;
            self.notices.push((now, Notice::SoftThreshold));
        }
        let starts_at = self.starts_at();
        let slot = &self.dies[die as usize];
        if free > starts_at.max(self.rules.last_block) || slot.exhausted {
            return false;
        }
        if self.lets_host_first(free) {
            return false;
        }
        let slot = &mut self.dies[die as usize];
        if self.interrupted {
            // An idle-time event that has yet to start is off; the device's own takes its place.
            slot.want = slot.want.filter(|want| !want.yields);
        }
        let is_hard = free <= self.rules.shape.hard;
        if slot.want.is_some() || slot.job.is_some() {
            return slot.want.is_some_and(|want| want.admitted);
        }
        if is_hard {
            self.notices.push((now, Notice::HardThreshold));
        }
        let (dies, channels) = (self.rules.shape.dies, self.rules.geometry.channels);
        let own = self.own_event(UnitSet::ALL);
        let event = |units| Want { at_soft: !is_hard, units, ..own };
        match self.rules.domain {
            // The last block of a die is no affair of others.
            _ if free > starts_at => {
                self.demand(die..die + 1, event(UnitSet::ALL), now);
            }
            Domain::Die => self.demand(die..die + 1, event(UnitSet::ALL), now),
            Domain::Device => self.demand(0..dies, event(UnitSet::ALL), now),
            Domain::Channel => {
                let channel = self.rules.geometry.channel_of(die);
                let on_it = (0..dies).skip(channel as usize).step_by(channels as usize);
                self.demand(on_it, event(UnitSet::ALL), now);
            }
            Domain::Plane => self.demand(die..die + 1, event(self.low_units(die)), now),
        }
        // A demand by itself reports nothing; this one came from the device's own threshold.
        self.dies[die as usize].began_soft = !is_hard;
        self.dies[die as usize].want.is_some_and(|want| want.admitted)
    }

    /// An event that began above the hard threshold, and is not over, has come down to it: tells so, once.
    pub(super) fn report_hard(&mut self, die: u32, now: SimTime) {
        let (slot, units) = (&self.dies[die as usize], self.rules.shape.units_per_die);
        let is_low = |unit| self.ftl.free_blocks(unit) <= self.rules.shape.hard;
        let goes_on = slot.want.is_some() || slot.job.is_some();
        if goes_on && (die * units..(die + 1) * units).any(is_low) {
            self.dies[die as usize].began_soft = false;
            self.notices.push((now, Notice::HardThreshold));
        }
    }

    /// The units of a die at or below the level where events begin.
    fn low_units(&self, die: u32) -> UnitSet {
        let units = self.rules.shape.units_per_die;
        let low = |unit: &u32| self.ftl.free_blocks(die * units + unit) <= self.starts_at();
        UnitSet((0..units).filter(low).fold(0, |set, unit| set | 1 << unit))
    }

    /// An event as the device's own thresholds have it.
    pub(super) fn own_event(&self, units: UnitSet) -> Want {
        let goal = Goal { stop: self.rules.shape.stop, min_victims: self.rules.min_victims };
        Want::event(goal, units)
    }

    /// Makes dies collect; those that do, or are about to, absorb the demand.
    pub(super) fn demand(&mut self, dies: impl Iterator<Item = u32>, want: Want, now: SimTime) {
        if self.governor.is_some() {
            return self.demand_turns(dies, want, now);
        }
        self.told_to_collect = true;
        for die in dies {
            let slot = &mut self.dies[die as usize];
            if let Some(waiting) = &mut slot.want {
                waiting.absorb(&want);
                continue;
            }
            if slot.collects() {
                continue;
            }
            slot.want = Some(Want { admitted: true, ..want });
            slot.began_soft = false;
            if slot.is_idle() {
                self.wakes.set(die as usize, now);
            }
        }
    }

    /// Runs the whole wanted event of a die. `false` if it took no time.
    pub(super) fn run_event(&mut self, die: u32, now: SimTime, pace: Pace) -> Result<bool, DeviceFailure> {
        if self.governor.is_some() {
            return self.run_turn(die, now, pace);
        }
        if pace == Pace::Timed && self.yields(die) {
            return self.start_idle_event(die, now);
        }
        let Some(want) = self.dies[die as usize].want.take() else { return Ok(false) };
        let units = self.rules.shape.units_per_die;
        let mut sum = Collected::default();
        let failure = self.failure(now);
        for unit in (0..units).filter(|&unit| want.units.has(unit)).map(|unit| die * units + unit) {
            let collected = self
                .ftl
                .unit(unit)
                .collect(want.goal, &*self.victim, &NoReads, now, &mut self.probe)
                .map_err(&failure)?;
            self.ftl.units[unit as usize].hidden = collected.victims;
            sum.add(&collected);
        }
        self.start_collecting(die, now);
        let time = match pace {
            Pace::Timed => self.event_time(&sum),
            Pace::Instant => SimDuration::ZERO,
        };
        if time == SimDuration::ZERO {
            self.end_event(die, sum.victims, now);
            return Ok(false);
        }
        self.dies[die as usize].gc_until = now + time;
        self.begin(die, Activity::Event(sum), Command::new(now, &[Step::Array(time)]), now);
        self.foresee(die, now);
        Ok(true)
    }

    /// Sum of an event's moves, summaries and erases.
    pub(super) fn event_time(&self, collected: &Collected) -> SimDuration {
        let timing = &self.rules.timing;
        let far = match timing.copyback {
            Copyback::Die => 0,
            Copyback::Plane => collected.between_planes,
            Copyback::None => collected.moves,
        };
        (timing.read + timing.program) * u64::from(collected.moves)
            + timing.transfer * (2 * u64::from(far))
            + timing.program * u64::from(collected.summaries)
            + timing.erase * u64::from(collected.victims)
    }

    pub(super) fn start_collecting(&mut self, die: u32, now: SimTime) {
        self.dies[die as usize].gc_since = now;
        self.count_depth(die);
        self.collecting += 1;
        if self.collecting == 1 {
            self.collecting_since = now;
            if !std::mem::replace(&mut self.told_started, true) {
                self.notices.push((now, Notice::GcStarted));
            }
        }
    }

    /// An event of a die is over.
    pub(super) fn end_event(&mut self, die: u32, victims: u32, now: SimTime) {
        let units = self.rules.shape.units_per_die;
        for unit in die * units..(die + 1) * units {
            self.ftl.units[unit as usize].hidden = 0;
        }
        self.compare_foreseen(die, now);
        let slot = &mut self.dies[die as usize];
        slot.exhausted = victims == 0;
        if matches!(slot.activity, Activity::Event(_)) {
            let began = slot.gc_since;
            slot.gc_busy += now - began;
            slot.gc_plane_busy += now - began;
            self.log_collecting(die, began, now);
        } else {
            slot.gc_busy += std::mem::take(&mut slot.job_busy);
            slot.gc_plane_busy += std::mem::take(&mut slot.job_plane_busy);
            if self.schedule_needs.fresh_blocks {
                (die * units..(die + 1) * units).for_each(|unit| self.ftl.unit(unit).use_up());
            }
        }
        self.collecting -= 1;
        if self.collecting == 0 && now > self.collecting_since {
            self.intervals.push((self.collecting_since, now));
        }
        if self.governor.is_some() {
            self.settle(die, victims);
            self.govern(now);
        }
        if self.is_at_rest() {
            self.told_started = false;
            let soft = self.rules.shape.soft;
            self.registered = (0..self.rules.shape.units()).any(|unit| self.ftl.free_blocks(unit) <= soft);
            self.notices.push((now, Notice::GcEnded { registered: self.registered }));
        }
    }

    /// Remembers that a die collected, for the blame of what waited. A job the host interrupts is logged step by step.
    pub(super) fn log_collecting(&mut self, die: u32, from: SimTime, until: SimTime) {
        let slot = &mut self.dies[die as usize];
        if until == from {
            return;
        }
        slot.gc_last_end = until;
        if slot.waiting == 0 && slot.parts.len() < 2 && slot.paused.is_none() {
            // Nothing of the host's is there to have met it, except what arrives while a suspended command ends.
            slot.gc_log.clear();
            slot.gc_log.push_back((from, until));
            return;
        }
        // Keep only what an operation that still waits, in the queue or in a suspended command, may have met.
        let first = (slot.head != super::die::NO_OP).then_some(slot.head);
        let ready = first.into_iter().chain(slot.running_ops()).map(|op| self.ops[op].ready);
        let oldest = ready.min().unwrap_or(until);
        while slot.gc_log.front().is_some_and(|&(_, end)| end <= oldest) {
            slot.gc_log.pop_front();
        }
        match slot.gc_log.back_mut() {
            Some((_, end)) if *end == from => *end = until,
            _ => slot.gc_log.push_back((from, until)),
        }
    }

    /// Takes the next step of a die's job, beginning the job if there is none: chooses a victim or ends the event, which
    /// takes no time, or starts a page move or the half of it that is due. `false` if nothing was started: ask again.
    pub(super) fn step_job(&mut self, die: u32, token: Token, now: SimTime) -> Result<bool, DeviceFailure> {
        let slot = &mut self.dies[die as usize];
        // Where turns are limited the event keeps its want until its goal is reached.
        let want = if self.governor.is_none() { slot.want.take() } else { slot.want };
        if let Some(want) = want.filter(|_| slot.job.is_none()) {
            if want.yields && self.interrupted && self.governor.is_none() {
                return Ok(false);
            }
            self.begin_job(die, want, now);
        }
        match self.dies[die as usize].job {
            None => Ok(false),
            Some(Job { victim: Some(victim), .. }) if token == Token::GcMove => {
                self.start_move(die, victim, now)
            }
            Some(Job { victim: Some(_), .. }) => self.start_half(die, None, now),
            Some(_) => {
                self.choose_next(die, now);
                Ok(false)
            }
        }
    }

    /// An event goes step by step from now on.
    fn begin_job(&mut self, die: u32, want: Want, now: SimTime) {
        let Want { goal, units, yields, .. } = want;
        self.dies[die as usize].job = Some(Job {
            goal,
            units,
            yields,
            unit: 0,
            victim: None,
            cursor: 0,
            held: None,
            away: false,
            moved: 0,
            unit_victims: 0,
            victims: 0,
        });
        self.start_collecting(die, now);
        if self.schedule_needs.fresh_blocks {
            let of_die = self.rules.shape.units_per_die;
            for unit in 0..of_die {
                self.ftl.unit(die * of_die + unit).open_fresh(units.has(unit), self.rules.set_aside);
            }
        }
        self.foresee(die, now);
    }

    /// Gives a die's job its next victim, from the unit whose turn it is or the next one that is due; or ends the event.
    fn choose_next(&mut self, die: u32, now: SimTime) {
        let Some(mut job) = self.dies[die as usize].job else { return };
        if self.governor.is_some() {
            return self.choose_in_turn(die, job, now);
        }
        if job.yields {
            return self.choose_next_idle(die, job, now);
        }
        let units = self.rules.shape.units_per_die;
        while job.unit < units {
            let unit = die * units + job.unit;
            let due = job.unit_victims < job.goal.min_victims || self.ftl.free_blocks(unit) <= job.goal.stop;
            let chosen =
                if due && job.units.has(job.unit) { self.choose_victim(die, unit, now) } else { None };
            if let Some(block) = chosen {
                self.ftl.unit(unit).begin(block);
                self.dies[die as usize].job = Some(Job { victim: Some(block), cursor: 0, held: None, ..job });
                return;
            }
            job.unit += 1;
            job.unit_victims = 0;
        }
        self.dies[die as usize].job = None;
        self.end_event(die, job.victims, now);
    }

    /// Starts moving the next live page of a victim, read and program in one command. `false` if there is none left.
    fn start_move(&mut self, die: u32, victim: BlockId, now: SimTime) -> Result<bool, DeviceFailure> {
        let Some(mut job) = self.dies[die as usize].job else { return Ok(false) };
        let unit = die * self.rules.shape.units_per_die + job.unit;
        let page = match self.due(unit, &job) {
            Due::Read(page) => page,
            Due::Program(_) => unreachable!("a half is due, not a whole move"),
            Due::Choose | Due::Erase => return Ok(false),
        };
        let failure = self.failure(now);
        let moved = self.ftl.unit(unit).move_page(victim, page, &mut self.probe).map_err(failure)?;
        job.cursor = page + 1;
        job.moved += 1;
        self.dies[die as usize].job = Some(job);
        self.ftl.prefetch_pages(unit, victim.0, page + 1);
        let timing = &self.rules.timing;
        let program = timing.program + timing.program * u64::from(moved.summaries);
        let command = if self.is_far(moved.between_planes) {
            Command::new(now, &[Step::Array(timing.read), Step::Bus(1), Step::Bus(1), Step::Array(program)])
        } else {
            Command::new(now, &[Step::Array(timing.read + program)])
        };
        self.begin(die, Activity::Move, command, now);
        Ok(true)
    }

    pub(super) fn choose_victim(&mut self, die: u32, unit: u32, now: SimTime) -> Option<BlockId> {
        if !self.victim.uses_reads() {
            return self.ftl.unit(unit).choose(&*self.victim, &NoReads, now);
        }
        // The view borrows the whole mapping state, so the queue is looked at through a copy of what it asks for.
        let mut reads = Snapshot(std::mem::take(&mut self.queued_reads));
        reads.0.clear();
        let queues = self.queues(die);
        QueuedReads::for_each(&queues, &mut |plane, page| reads.0.push((plane, page)));
        let chosen = self.ftl.unit(unit).choose(&*self.victim, &reads, now);
        self.queued_reads = reads.0;
        chosen
    }

    pub(super) fn start_erase(&mut self, die: u32, now: SimTime) {
        let unit = |job: &Job| die * self.rules.shape.units_per_die + job.unit;
        let job = self.dies[die as usize].job;
        let is_due = job.is_some_and(|job| matches!(self.due(unit(&job), &job), Due::Erase));
        assert!(is_due, "a block is erased when its live pages have moved");
        let superseded = job.is_some_and(|job| job.held.is_some());
        self.counters.superseded += u64::from(superseded);
        let erase = Step::Array(self.rules.timing.erase);
        self.begin(die, Activity::Erase, Command::new(now, &[erase]), now);
    }

    /// A page move or an erase has ended.
    pub(super) fn end_move(&mut self, die: u32, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        slot.job_plane_busy += now - slot.gc_began;
        self.end_gc_command(die, now);
    }

    /// A command of garbage collection ends, or is suspended, at `until`.
    pub(super) fn end_gc_command(&mut self, die: u32, until: SimTime) {
        let slot = &mut self.dies[die as usize];
        let began = slot.gc_began;
        slot.job_busy += until - began;
        self.log_collecting(die, began, until);
    }

    pub(super) fn end_erase(&mut self, die: u32, now: SimTime) {
        self.end_move(die, now);
        let units = self.rules.shape.units_per_die;
        let Some(job) = &mut self.dies[die as usize].job else { return };
        if let Some(victim) = job.victim.take() {
            job.unit_victims += 1;
            job.victims += 1;
            job.held = None;
            job.moved = 0;
            let unit = die * units + job.unit;
            self.ftl.unit(unit).erase(victim, &mut self.probe);
        }
    }

    /// What a job does next. A page overwritten since it was read is not programmed.
    pub(super) fn due(&self, unit: u32, job: &Job) -> Due {
        let Some(victim) = job.victim else { return Due::Choose };
        let is_live = |held: &Held| self.ftl.lpn_at(unit, victim.0, held.page).is_some();
        match job.held.filter(is_live) {
            Some(held) => Due::Program(held),
            None => self.ftl.next_live(unit, victim.0, job.cursor).map_or(Due::Erase, Due::Read),
        }
    }

    /// A job as schedules see it, `free` being the fewest free blocks of its die's units.
    pub(super) fn job_view(&self, die: u32, job: &Job, free: u32) -> GcJob {
        let unit = die * self.rules.shape.units_per_die + job.unit;
        let victim = job.victim.map_or(0, |block| block.0);
        let destination = self.ftl.next_gc_page(unit).unwrap_or((victim, 0));
        let (phase, cursor) = match self.due(unit, job) {
            Due::Choose => (GcPhase::Choose, self.rules.shape.data_pages),
            Due::Read(page) => (GcPhase::Read, page),
            Due::Program(held) => (GcPhase::Program, held.page),
            Due::Erase => (GcPhase::Erase, self.rules.shape.data_pages),
        };
        let phase = if job.away { GcPhase::Away } else { phase };
        GcJob {
            unit,
            victim,
            cursor,
            phase,
            source_plane: self.ftl.plane_of(unit, victim),
            destination: (self.ftl.plane_of(unit, destination.0), destination.1),
            hard: self.is_pressing(die, free),
            pinned: phase == GcPhase::Program && job.held.is_some_and(|held| !held.in_controller),
        }
    }

    /// Calls `visit(from, to, time left)` for every part of a range of bytes that collection would keep waiting if it were read
    /// now, in order; the time is the longest of the part's dies.
    pub fn collection_in(
        &self,
        offset: Bytes,
        length: Bytes,
        now: SimTime,
        visit: &mut dyn FnMut(Bytes, Bytes, SimDuration),
    ) {
        let (size, end) = (u64::from(self.rules.shape.page_size), offset + length);
        let mut part: Option<(Bytes, Bytes, SimDuration)> = None;
        for page in offset / size..end.div_ceil(size) {
            let lpn = page as u32;
            let die = match self.rules.shape.is_dynamic() {
                true => self.ftl.home(lpn).map(|home| home / self.rules.shape.units_per_die),
                false => Some(self.rules.shape.locate(lpn).0),
            };
            let left = die.and_then(|die| self.kept_waiting(die, Class::Read, now));
            let (from, to) = ((page * size).max(offset), ((page + 1) * size).min(end));
            part = match (part, left) {
                (Some((start, _, longest)), Some(left)) => Some((start, to, longest.max(left))),
                (None, Some(left)) => Some((from, to, left)),
                (part, None) => {
                    part.into_iter().for_each(|(from, to, left)| visit(from, to, left));
                    None
                }
            };
        }
        part.into_iter().for_each(|(from, to, left)| visit(from, to, left));
    }

    /// The longest of them; `None` if nothing would wait.
    pub fn collection_left_in(&self, offset: Bytes, length: Bytes, now: SimTime) -> Option<SimDuration> {
        let mut longest = None;
        self.collection_in(offset, length, now, &mut |_, _, left| longest = longest.max(Some(left)));
        longest
    }
}

/// Queued reads copied out of the queue.
struct Snapshot(Vec<(u32, u32)>);

impl QueuedReads for Snapshot {
    fn for_each(&self, visit: &mut dyn FnMut(u32, u32)) {
        for &(plane, page) in &self.0 {
            visit(plane, page);
        }
    }
}
