//! What a die runs: commands as sequences of array and bus steps, one command at a time.
//!
//! ```text
//! read      [array tR][bus]              write          [bus][array tPROG]
//! move      [array tR + tPROG]           partial write  [array tR][bus][bus][array tPROG]
//! far move  [array tR][bus][bus][array tPROG]           erase [array tBERS]
//! ```
//!
//! With pins of its own a die never waits for the bus, so a command is one event; on a shared bus each turn is asked
//! for when it is needed.

use std::collections::VecDeque;

use harmonia_types::{IoCause, SimDuration, SimTime};

use super::collect::{Job, Want};
use super::queue::{OpKind, QueueView};
use super::{Device, DeviceFailure};
use crate::ftl::Collected;
use crate::gc::schedule::{Decision, DieView, Gc, HostToken, Queued, Token};
use crate::probe::{FlashPage, Origin, Probe};
use harmonia_types::Ppn;

/// No operation.
pub(super) const NO_OP: u32 = u32::MAX;

/// One die.
#[derive(Debug, Clone)]
pub(super) struct Die {
    /// Queue, first to last.
    pub head: u32,
    pub tail: u32,
    pub activity: Activity,
    /// Garbage collection this die should do.
    pub want: Option<Want>,
    /// A victim being collected step by step.
    pub job: Option<Job>,
    /// The last event found nothing to collect and nothing was written since: do not ask again.
    pub exhausted: bool,
    /// Its event began above the hard threshold, which has not been reported yet.
    pub began_soft: bool,
    pub command: Command,
    /// When the running garbage-collection event began.
    pub gc_since: SimTime,
    /// When the running atomic event ends.
    pub gc_until: SimTime,
    /// When it collected, as far as some waiting operation may have met it.
    pub gc_log: VecDeque<(SimTime, SimTime)>,
    /// End of the last of these.
    pub gc_last_end: SimTime,
    pub gc_busy: SimDuration,
    /// Part of `gc_busy` in which a plane worked or transferred: all but waiting for the bus.
    pub gc_plane_busy: SimDuration,
    /// The running job's part of it; like `gc_busy` it counts when the event ends.
    pub job_plane_busy: SimDuration,
}

/// What a die is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Idle,
    /// A host operation.
    Host(u32),
    /// The summary page of a block that a host operation filled.
    Summary,
    /// An atomic garbage-collection event.
    Event(Collected),
    /// One page move of a job.
    Move,
    /// The erase of a job's victim.
    Erase,
}

/// The running command: its remaining steps and what it has cost so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Command {
    steps: [Step; 4],
    next: u8,
    len: u8,
    /// When the operation began.
    pub start: SimTime,
    pub array: SimDuration,
    pub transfer: SimDuration,
    pub bus_wait_gc: SimDuration,
    pub bus_wait_host: SimDuration,
    /// Summary pages to program afterwards.
    pub summaries: u32,
}

/// One step of a command.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Step {
    /// One page over the bus.
    #[default]
    Bus,
    /// The flash array works for so long.
    Array(SimDuration),
}

impl Command {
    pub fn new(start: SimTime, steps: &[Step]) -> Self {
        let mut command = Command { start, len: steps.len() as u8, ..Command::default() };
        command.steps[..steps.len()].copy_from_slice(steps);
        command
    }
}

impl Default for Die {
    fn default() -> Self {
        Die {
            head: NO_OP,
            tail: NO_OP,
            activity: Activity::Idle,
            want: None,
            job: None,
            exhausted: false,
            began_soft: false,
            command: Command::default(),
            gc_since: SimTime::ZERO,
            gc_until: SimTime::ZERO,
            gc_log: VecDeque::new(),
            gc_last_end: SimTime::ZERO,
            gc_busy: SimDuration::ZERO,
            gc_plane_busy: SimDuration::ZERO,
            job_plane_busy: SimDuration::ZERO,
        }
    }
}

impl Die {
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.activity == Activity::Idle
    }

    pub fn running_op(&self) -> Option<u32> {
        match self.activity {
            Activity::Host(op) => Some(op),
            _ => None,
        }
    }

    /// Whether a garbage-collection event is under way.
    pub fn collects(&self) -> bool {
        self.job.is_some() || matches!(self.activity, Activity::Event(_))
    }
}

impl<P: Probe> Device<P> {
    /// The die's event is due: goes on with its command, finishes it, or looks for something to do.
    pub(super) fn wake(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let activity = self.dies[die as usize].activity;
        if activity != Activity::Idle && self.run_steps(die, now) {
            return Ok(());
        }
        match activity {
            Activity::Idle => {}
            Activity::Host(op) => {
                self.finish_op(die, op, now);
                let summaries = self.dies[die as usize].command.summaries;
                if summaries > 0 {
                    let time = self.rules.timing.program * u64::from(summaries);
                    self.begin(die, Activity::Summary, Command::new(now, &[Step::Array(time)]), now);
                    return Ok(());
                }
            }
            Activity::Summary => {}
            Activity::Event(sum) => {
                if self.next_idle_victim(die, sum, now)? {
                    return Ok(());
                }
                self.end_event(die, sum.victims, now);
            }
            Activity::Move => self.end_move(die, now),
            Activity::Erase => self.end_erase(die, now),
        }
        self.dies[die as usize].activity = Activity::Idle;
        self.dispatch(die, now)
    }

    /// Starts something on an idle die, or leaves it waiting.
    pub(super) fn dispatch(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let mut checked = false;
        loop {
            match self.ask(die, now) {
                Decision::Wait(SimTime::NEVER) => {
                    if self.rules.background && !self.held && !checked {
                        checked = true;
                        if self.check(die, now) {
                            continue;
                        }
                    }
                    self.wakes.clear(die as usize);
                    return Ok(());
                }
                Decision::Wait(until) => {
                    self.wakes.set(die as usize, until);
                    return Ok(());
                }
                Decision::Single(Token::Host(HostToken(op))) => {
                    // The check runs when the die is about to serve the host; what it finds goes first.
                    if !checked {
                        checked = true;
                        if self.check(die, now) {
                            continue;
                        }
                    }
                    self.unlink(die, op);
                    if self.start_op(die, op, now)? {
                        return Ok(());
                    }
                    checked = false;
                }
                Decision::Atomic(pace) => {
                    // Only an event of the device's own means that its thresholds were looked at.
                    checked = !self.yields(die);
                    if self.run_event(die, now, pace)? {
                        return Ok(());
                    }
                }
                Decision::Single(Token::GcStep) => {
                    checked = !self.yields(die);
                    if self.step_job(die, now)? {
                        return Ok(());
                    }
                }
                Decision::Erase => {
                    let erase = self.rules.timing.erase;
                    self.begin(die, Activity::Erase, Command::new(now, &[Step::Array(erase)]), now);
                    return Ok(());
                }
                Decision::Multi(_) | Decision::Suspend | Decision::Resume => {
                    unreachable!("a schedule that needs these is refused when the device is built")
                }
            }
        }
    }

    /// Asks the schedule what an idle die does next.
    #[inline]
    fn ask(&self, die: u32, now: SimTime) -> Decision {
        let slot = &self.dies[die as usize];
        let queues = QueueView { die: slot, index: die, ops: &self.ops, ftl: &self.ftl };
        let head: Option<Queued> = (slot.head != NO_OP).then(|| queues.queued(slot.head));
        let first_unit = die * self.rules.shape.units_per_die;
        let mut free = self.ftl.free_blocks(first_unit);
        for unit in first_unit + 1..first_unit + self.rules.shape.units_per_die {
            free = free.min(self.ftl.free_blocks(unit));
        }
        let gc = match (&slot.job, &slot.want) {
            (None, Some(want)) if want.admitted => {
                Gc::Wanted { hard: free <= self.rules.shape.hard, moves_use_bus: self.rules.moves_use_bus }
            }
            (None, _) => Gc::Idle,
            (Some(job), _) => Gc::Job(self.job_view(die, job)),
        };
        let view = DieView {
            head,
            gc,
            running: None,
            suspended: None,
            free,
            hard: self.rules.shape.hard,
            soft: self.rules.shape.soft,
            planes: self.rules.geometry.planes_per_die,
            bus_free_at: if self.rules.geometry.own_pins {
                SimTime::ZERO
            } else {
                self.buses[self.rules.geometry.channel_of(die) as usize].free_at()
            },
            queues: &queues,
        };
        self.schedule.next(now, &view)
    }

    /// Starts a host operation that has left the queue. `false` if it took no time and is done.
    fn start_op(&mut self, die: u32, handle: u32, now: SimTime) -> Result<bool, DeviceFailure> {
        let op = self.ops[handle];
        let origin = Origin { token: self.subs[op.sub].token, page: op.page };
        let timing = &self.rules.timing;
        let (read, program) = (Step::Array(timing.read), Step::Array(timing.program));
        self.last_activity = now;
        let mut summaries = 0;
        let command = match op.kind {
            OpKind::Read => match self.ftl.lookup(op.unit, op.lpn) {
                Some((block, page)) => {
                    let ppn = Ppn(block << self.rules.shape.page_bits | page);
                    let lpn = self.ftl.device_lpn(op.unit, op.lpn);
                    self.probe.read(Some(FlashPage { unit: op.unit, ppn }), lpn, origin);
                    self.counters.host_pages_read += 1;
                    Command::new(now, &[read, Step::Bus])
                }
                None => {
                    self.probe.read(None, self.ftl.device_lpn(op.unit, op.lpn), origin);
                    Command::new(now, &[])
                }
            },
            OpKind::Write | OpKind::PartialWrite => {
                let old = if op.kind == OpKind::Write { None } else { self.ftl.lookup(op.unit, op.lpn) };
                if let Some((block, page)) = old {
                    let ppn = Ppn(block << self.rules.shape.page_bits | page);
                    let lpn = self.ftl.device_lpn(op.unit, op.lpn);
                    self.probe.merge(FlashPage { unit: op.unit, ppn }, lpn, origin);
                }
                if self.rules.shape.is_dynamic()
                    && let Some(home) = self.ftl.home(op.lpn)
                {
                    // What it leaves behind there can be collected.
                    self.dies[(home / self.rules.shape.units_per_die) as usize].exhausted = false;
                }
                let free = self.ftl.free_blocks(op.unit);
                let failure = self.failure(now);
                summaries = self
                    .ftl
                    .program(op.unit, op.lpn, IoCause::Host, Some(origin), &mut self.probe)
                    .map_err(failure)?;
                self.dies[die as usize].exhausted = false;
                if self.waiting > 0 && self.ftl.free_blocks(op.unit) != free {
                    // A block was opened: utilisation changed while dies wait to collect.
                    self.admit(now);
                }
                if old.is_some() {
                    self.counters.read_modify_write_reads += 1;
                    Command::new(now, &[read, Step::Bus, Step::Bus, program])
                } else {
                    Command::new(now, &[Step::Bus, program])
                }
            }
            OpKind::Trim => {
                self.ftl.unit(op.unit).trim(op.lpn, &mut self.probe);
                self.dies[die as usize].exhausted = false;
                Command::new(now, &[])
            }
        };
        if command.len == 0 {
            self.dies[die as usize].command = command;
            self.finish_op(die, handle, now);
            return Ok(false);
        }
        self.begin(die, Activity::Host(handle), Command { summaries, ..command }, now);
        Ok(true)
    }

    /// Puts a die to work on a command.
    pub(super) fn begin(&mut self, die: u32, activity: Activity, command: Command, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        slot.activity = activity;
        slot.command = command;
        let going = self.run_steps(die, now);
        debug_assert!(going, "a command takes time");
    }

    /// Runs the command's steps from `now` on as far as is known and sets the die's wake-up. `false` if it is done.
    #[inline]
    fn run_steps(&mut self, die: u32, now: SimTime) -> bool {
        let slot = &mut self.dies[die as usize];
        let command = &mut slot.command;
        if command.next == command.len {
            return false;
        }
        let transfer = self.rules.timing.transfer;
        let mut time = now;
        while command.next < command.len {
            match command.steps[usize::from(command.next)] {
                Step::Array(length) => {
                    time += length;
                    command.array += length;
                }
                Step::Bus if self.rules.geometry.own_pins => {
                    time += transfer;
                    command.transfer += transfer;
                }
                // The bus is asked for when the data is there, not before: others may want it until then.
                Step::Bus if time > now => break,
                Step::Bus => {
                    let is_gc = !matches!(slot.activity, Activity::Host(_));
                    let bus = &mut self.buses[self.rules.geometry.channel_of(die) as usize];
                    let grant = bus.take(now, transfer, is_gc);
                    command.bus_wait_gc += grant.waited_gc;
                    command.bus_wait_host += grant.waited_host;
                    command.transfer += transfer;
                    time = grant.end;
                }
            }
            command.next += 1;
        }
        self.wakes.set(die as usize, time);
        true
    }
}
