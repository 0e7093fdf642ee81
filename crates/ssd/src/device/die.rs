//! What a die runs: commands as sequences of array and bus steps, one command at a time.
//!
//! ```text
//! read      [array tR][bus]              write          [bus][array tPROG]
//! move      [array tR + tPROG]           partial write  [array tR][bus][bus][array tPROG]
//! far move  [array tR][bus][bus][array tPROG]           erase [array tBERS]
//! ```
//!
//! Commands of several planes, and the halves of a page move, stand in `joint`. With pins of its own a die never waits
//! for the bus, so a command is one event; on a shared bus each turn is asked for when it is needed.

use std::collections::VecDeque;

use harmonia_types::{IoCause, SimDuration, SimTime};

use super::account::Share;
use super::collect::{Job, Want};
use super::global::Guest;
use super::joint::Part;
use super::queue::{OpKind, PageOp};
use super::{Device, DeviceFailure};
use crate::ftl::Collected;
use crate::gc::schedule::{Class, Decision, DieView, Gc, HostToken, Running, Token};
use crate::probe::{FlashPage, Origin, Probe};
use crate::slab::Slab;
use harmonia_flash::{Grant, Urgency};
use harmonia_types::Ppn;

/// No operation.
pub(super) const NO_OP: u32 = u32::MAX;

/// One die. Its fields stand in the order of their use: what every host operation looks at shares a cache line, and what
/// belongs to collection alone is not touched by it.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Die {
    /// Queue: first, last, and how many.
    pub head: u32,
    pub tail: u32,
    pub waiting: u32,
    /// The last event found nothing to collect and nothing was written since: do not ask again.
    pub exhausted: bool,
    /// Its event began above the hard threshold, which has not been reported yet.
    pub began_soft: bool,
    pub activity: Activity,
    /// When its running command began, or was resumed.
    pub gc_began: SimTime,
    /// End of the last interval of `gc_log`.
    pub gc_last_end: SimTime,
    /// Garbage collection this die should do.
    pub want: Option<Want>,
    /// A victim being collected step by step.
    pub job: Option<Job>,
    pub command: Command,
    /// A command of garbage collection that is suspended.
    pub paused: Option<Box<Paused>>,
    /// When it collected, as far as some waiting operation may have met it.
    pub gc_log: VecDeque<(SimTime, SimTime)>,
    /// What the running command of several planes, or half of a page move, is for.
    pub parts: Vec<Part>,
    /// Until when its own plane read and transferred.
    pub gc_part_until: SimTime,
    /// The running job's part of `gc_busy` and `gc_plane_busy`; it counts when the event ends.
    pub job_busy: SimDuration,
    pub job_plane_busy: SimDuration,
    /// Unit and LPN of the page last moved.
    pub moving: Option<(u32, u32)>,
    /// Pages of other units' victims to be programmed here.
    pub guests: VecDeque<Guest>,
    /// The page of another unit that is being programmed here, or whose program is suspended.
    pub host_of: Option<Guest>,
    /// Of those that wait, how many ask to fail fast.
    pub fast_waiting: u32,
    /// Since when it has held back host writes until its turn to collect.
    pub stalled: Option<SimTime>,
    /// When the running garbage-collection event began.
    pub gc_since: SimTime,
    /// When the running atomic event ends.
    pub gc_until: SimTime,
    /// How long the running event was expected to take when it began.
    pub gc_foreseen: SimDuration,
    /// Time its commands of garbage collection took.
    pub gc_busy: SimDuration,
    /// How long planes were busy in them, summed over planes.
    pub gc_plane_busy: SimDuration,
}

/// A suspended command of garbage collection.
#[derive(Debug, Clone)]
pub(super) struct Paused {
    pub activity: Activity,
    pub command: Command,
    pub parts: Vec<Part>,
    /// Array time it still needs.
    pub remaining: SimDuration,
    /// Unit and LPN of the page it moves.
    pub moves: Option<(u32, u32)>,
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
    /// Reads or programs of the die's parts.
    Joint(Class),
    /// Stops a command of garbage collection.
    Suspending,
}

/// The running command: its remaining steps and what it has cost so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Command {
    pub steps: [Step; 4],
    pub next: u8,
    pub len: u8,
    /// When the operation began.
    pub start: SimTime,
    pub array: SimDuration,
    pub transfer: SimDuration,
    pub bus_wait_gc: SimDuration,
    pub bus_wait_host: SimDuration,
    /// Summary pages to program afterwards.
    pub summaries: u32,
    /// Pages transferred, the one under way included.
    pub pages: u8,
    /// Parts that are done.
    pub done: u8,
    /// It serves background work of the array and nothing else.
    pub background: bool,
    /// Time planes waited for their data, summed over all but the first.
    pub lead: SimDuration,
}

/// One step of a command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// So many pages over the bus, one after the other.
    Bus(u8),
    /// The flash array works for so long.
    Array(SimDuration),
}

impl Default for Step {
    fn default() -> Self {
        Step::Bus(0)
    }
}

impl Command {
    pub fn new(start: SimTime, steps: &[Step]) -> Self {
        let mut command = Command { start, len: steps.len() as u8, ..Command::default() };
        command.steps[..steps.len()].copy_from_slice(steps);
        command
    }
}

impl Command {
    /// Whether with `remaining` to go its array works for the last time.
    pub fn is_in_last_step(&self, remaining: SimDuration) -> bool {
        let last = self.len.checked_sub(1).map(|last| self.steps[usize::from(last)]);
        self.next == self.len && matches!(last, Some(Step::Array(length)) if remaining <= length)
    }

    /// What its array still has to do takes so long.
    pub fn set_last_step(&mut self, length: SimDuration) {
        self.steps[usize::from(self.len) - 1] = Step::Array(length);
    }
}

impl Default for Die {
    fn default() -> Self {
        Die {
            head: NO_OP,
            tail: NO_OP,
            waiting: 0,
            activity: Activity::Idle,
            want: None,
            fast_waiting: 0,
            stalled: None,
            job: None,
            exhausted: false,
            began_soft: false,
            command: Command::default(),
            parts: Vec::new(),
            guests: VecDeque::new(),
            host_of: None,
            paused: None,
            moving: None,
            gc_since: SimTime::ZERO,
            gc_began: SimTime::ZERO,
            gc_part_until: SimTime::ZERO,
            gc_until: SimTime::ZERO,
            gc_foreseen: SimDuration::ZERO,
            gc_log: VecDeque::new(),
            gc_last_end: SimTime::ZERO,
            gc_busy: SimDuration::ZERO,
            gc_plane_busy: SimDuration::ZERO,
            job_busy: SimDuration::ZERO,
            job_plane_busy: SimDuration::ZERO,
        }
    }
}

impl Die {
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.activity == Activity::Idle
    }

    /// Whether it should collect and may.
    pub fn is_admitted(&self) -> bool {
        self.want.is_some_and(|want| want.admitted)
    }

    /// Host operations that have begun and are not done.
    pub fn running_ops(&self) -> impl Iterator<Item = u32> + '_ {
        let single = match self.activity {
            Activity::Host(op) => Some(op),
            _ => None,
        };
        let joint = if matches!(self.activity, Activity::Joint(_)) { &self.parts[..] } else { &[] };
        let paused = self.paused.as_deref().map_or(&[][..], |paused| &paused.parts[..]);
        let parts = joint.iter().skip(self.command.done.into()).chain(paused).map(|part| part.op);
        single.into_iter().chain(parts.filter(|&op| op != NO_OP))
    }

    /// A page goes over the bus; returns when it is over.
    #[inline]
    fn transferred(&mut self, grant: Grant, transfer: SimDuration) -> SimTime {
        let command = &mut self.command;
        command.bus_wait_gc += grant.waited_gc;
        command.bus_wait_host += grant.waited_host;
        command.transfer += transfer;
        command.pages += 1;
        if let Step::Bus(pages @ 2..) = &mut command.steps[usize::from(command.next)] {
            *pages -= 1;
        } else {
            command.next += 1;
        }
        if command.pages > 1 && self.activity == Activity::Joint(Class::Write) {
            command.lead += (grant.end - self.gc_began) - transfer;
        }
        grant.end
    }

    /// How urgent the next transfer of its command is.
    #[inline]
    fn urgency(&self, ops: &Slab<PageOp>) -> Urgency {
        let (op, class) = match self.activity {
            Activity::Host(op) => (op, ops[op].kind.class()),
            Activity::Joint(class) => (self.transferring().op, class),
            _ => (NO_OP, Class::Write),
        };
        match class {
            _ if op == NO_OP => Urgency::Gc,
            Class::Read => Urgency::Read,
            Class::Write => Urgency::Write,
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
        if activity == Activity::Joint(Class::Read) {
            self.finish_read_parts(die, now);
        }
        if activity != Activity::Idle && self.run_steps(die, now) {
            return Ok(());
        }
        self.watch_end(die, now);
        match activity {
            Activity::Idle | Activity::Suspending => {}
            Activity::Host(op) => {
                let share = Share::alone(&self.dies[die as usize].command);
                self.finish_op(die, op, share, now);
                if self.begin_summaries(die, now) {
                    return Ok(());
                }
            }
            Activity::Joint(class) => {
                self.end_joint(die, class, now);
                if self.begin_summaries(die, now) {
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

    /// Programs the summary pages of blocks that host operations filled. `false` if there are none.
    fn begin_summaries(&mut self, die: u32, now: SimTime) -> bool {
        let Command { summaries, background, start, .. } = self.dies[die as usize].command;
        let time = self.rules.timing.program * u64::from(summaries);
        if background {
            self.log_background(die, start, now + time);
        }
        if summaries > 0 {
            self.begin(die, Activity::Summary, Command::new(now, &[Step::Array(time)]), now);
        }
        summaries > 0
    }

    /// Starts something on an idle die, or leaves it waiting.
    pub(super) fn dispatch(&mut self, die: u32, now: SimTime) -> Result<(), DeviceFailure> {
        let mut checked = false;
        if self.dies[die as usize].began_soft {
            self.report_hard(die, now);
        }
        loop {
            if self.rules.global {
                self.send_back_guests(die, now);
            }
            match self.ask(die, None, now) {
                Decision::Wait(SimTime::NEVER) => {
                    if !checked && self.looks_when_idle() {
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
                    if self.must_wait(die, op, now) {
                        if self.dies[die as usize].is_admitted() {
                            continue;
                        }
                        self.stall(die, now);
                        return Ok(());
                    }
                    self.unlink(die, op);
                    if self.start_op(die, op, now)? {
                        return Ok(());
                    }
                    checked = false;
                }
                Decision::Atomic(pace) => {
                    // Only an event of the device's own means that its thresholds were looked at.
                    checked = !self.yields(die) && !self.repeats_events();
                    if self.run_event(die, now, pace)? {
                        return Ok(());
                    }
                }
                Decision::Single(Token::GcStep | Token::GcMove)
                    if !self.dies[die as usize].guests.is_empty() =>
                {
                    return self.start_guest(die, None, now);
                }
                Decision::Single(token @ (Token::GcStep | Token::GcMove)) => {
                    // Host operations that went along may have made a unit low whose turn was over.
                    checked = !self.yields(die) && !self.schedule_needs.queues && !self.repeats_events();
                    if self.step_job(die, token, now)? {
                        return Ok(());
                    }
                }
                Decision::Multi(command) => {
                    let with_gc = command.takes_gc();
                    if !with_gc && !checked {
                        checked = true;
                        if self.check(die, now) {
                            continue;
                        }
                    }
                    if let Some(HostToken(op)) = command.hosts().next().filter(|_| !with_gc)
                        && self.must_wait(die, op, now)
                    {
                        if self.dies[die as usize].is_admitted() {
                            continue;
                        }
                        self.stall(die, now);
                        return Ok(());
                    }
                    return match (with_gc, self.dies[die as usize].guests.is_empty()) {
                        (true, true) => self.start_half(die, Some(&command), now).map(|_| ()),
                        (true, false) => self.start_guest(die, Some(&command), now),
                        (false, _) => self.start_joint(die, &command, now),
                    };
                }
                Decision::Erase => {
                    self.start_erase(die, now);
                    return Ok(());
                }
                Decision::Resume => {
                    self.resume(die, now);
                    return Ok(());
                }
                Decision::Suspend => unreachable!("only a running command can be suspended"),
            }
        }
    }

    /// Asks the schedule what an idle die does next, or whether what runs should be suspended.
    #[inline]
    pub(super) fn ask(&self, die: u32, running: Option<Running>, now: SimTime) -> Decision {
        let slot = &self.dies[die as usize];
        let queues = self.queues(die);
        let first_unit = die * self.rules.shape.units_per_die;
        let mut free = self.ftl.free_blocks(first_unit);
        for unit in first_unit + 1..first_unit + self.rules.shape.units_per_die {
            free = free.min(self.ftl.free_blocks(unit));
        }
        // A page that is programmed for another die, or waits for it, is as urgent as it is there.
        let guest = if self.rules.global { slot.host_of.as_ref().or(slot.guests.front()) } else { None };
        let gc = match (guest, &slot.job, &slot.want) {
            (Some(guest), ..) => Gc::Job(self.guest_view(guest, free)),
            (None, Some(job), _) => Gc::Job(self.job_view(die, job, free)),
            (None, None, Some(want)) if want.admitted => {
                Gc::Wanted { hard: self.is_pressing(die, free), moves_use_bus: self.rules.moves_use_bus }
            }
            (None, None, _) => Gc::Idle,
        };
        let view = DieView {
            head: queues.head(now, self.rules.reads_first),
            gc,
            running,
            suspended: slot.paused.as_deref().map(|paused| self.paused_view(paused, now)),
            free,
            hard: self.rules.shape.hard,
            soft: self.rules.shape.soft,
            planes: self.rules.geometry.planes_per_die,
            multi_plane: self.rules.multi_plane,
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
        let timing = &self.rules.timing;
        let (read, program) = (Step::Array(timing.read), Step::Array(timing.program));
        let background = self.is_background(op.sub);
        if !background {
            self.last_activity = now;
        }
        self.counters.preemptions += u64::from(self.dies[die as usize].job.is_some());
        let mut summaries = 0;
        let command = match op.kind {
            OpKind::Read if self.read_page(&op) => Command::new(now, &[read, Step::Bus(1)]),
            OpKind::Read => Command::new(now, &[]),
            OpKind::Write | OpKind::PartialWrite => {
                let completes = op.kind == OpKind::PartialWrite && self.complete_page(&op);
                summaries = self.write_page(die, &op, now)?;
                if completes {
                    Command::new(now, &[read, Step::Bus(1), Step::Bus(1), program])
                } else {
                    Command::new(now, &[Step::Bus(1), program])
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
            self.finish_op(die, handle, Share::alone(&command), now);
            return Ok(false);
        }
        self.begin(die, Activity::Host(handle), Command { summaries, background, ..command }, now);
        Ok(true)
    }

    fn origin(&self, op: &PageOp) -> Origin {
        Origin { token: self.subs[op.sub].token, page: op.page }
    }

    /// Where the data of an operation's page lies now.
    fn page_of(&self, op: &PageOp) -> Option<FlashPage> {
        let (block, page) = self.ftl.lookup(op.unit, op.lpn)?;
        Some(FlashPage { unit: op.unit, ppn: Ppn(block << self.rules.shape.page_bits | page) })
    }

    /// The host reads a page. `false` if it was never written, so that flash has nothing to do.
    #[inline]
    pub(super) fn read_page(&mut self, op: &PageOp) -> bool {
        let page = self.page_of(op);
        self.probe.read(page, self.ftl.device_lpn(op.unit, op.lpn), self.origin(op));
        let read = match op.cause {
            IoCause::Parity => &mut self.counters.parity_pages_read,
            _ => &mut self.counters.host_pages_read,
        };
        *read += u64::from(page.is_some());
        page.is_some()
    }

    /// The rest of a page of which the host writes a part is read. `false` if there is none.
    fn complete_page(&mut self, op: &PageOp) -> bool {
        let Some(page) = self.page_of(op) else { return false };
        self.probe.merge(page, self.ftl.device_lpn(op.unit, op.lpn), self.origin(op));
        self.counters.read_modify_write_reads += 1;
        true
    }

    /// The host writes a page; returns the summary pages that costs.
    #[inline]
    pub(super) fn write_page(&mut self, die: u32, op: &PageOp, now: SimTime) -> Result<u32, DeviceFailure> {
        if self.rules.shape.is_dynamic()
            && let Some(home) = self.ftl.home(op.lpn)
        {
            // What it leaves behind there can be collected.
            self.dies[(home / self.rules.shape.units_per_die) as usize].exhausted = false;
        }
        let free = self.ftl.free_blocks(op.unit);
        let failure = self.failure(now);
        let origin = Some(self.origin(op));
        let summaries =
            self.ftl.program(op.unit, op.lpn, op.cause, origin, &mut self.probe).map_err(failure)?;
        self.dies[die as usize].exhausted = false;
        if self.ftl.free_blocks(op.unit) != free {
            // A block was opened: utilisation changed, and there is less room.
            self.govern(now);
            self.warn_of_end(now);
        }
        Ok(summaries)
    }

    /// Puts a die to work on a command.
    pub(super) fn begin(&mut self, die: u32, activity: Activity, command: Command, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        slot.activity = activity;
        slot.command = command;
        slot.gc_began = now;
        self.watch_begin(die, now);
        let going = self.run_steps(die, now);
        debug_assert!(going, "a command takes time");
    }

    /// Runs the command's steps from `now` on as far as is known and sets the die's wake-up. `false` if it is done.
    #[inline]
    fn run_steps(&mut self, die: u32, now: SimTime) -> bool {
        let command = &self.dies[die as usize].command;
        let going = command.next < command.len;
        if going {
            self.run_from(die, now, now);
        }
        going
    }

    /// Runs steps of which the first can begin at `time`, from `now` on.
    fn run_from(&mut self, die: u32, mut time: SimTime, now: SimTime) {
        let slot = &mut self.dies[die as usize];
        let transfer = self.rules.timing.transfer;
        while slot.command.next < slot.command.len {
            let command = &mut slot.command;
            match command.steps[usize::from(command.next)] {
                Step::Array(length) => {
                    time += length;
                    command.array += length;
                    command.next += 1;
                }
                Step::Bus(_) if self.rules.geometry.own_pins => {
                    time = slot.transferred(Grant::at_once(time + transfer), transfer);
                    if slot.activity == Activity::Joint(Class::Read) {
                        break;
                    }
                }
                // The bus is asked for when the data is there, not before: others may want it until then.
                Step::Bus(_) if time > now => break,
                Step::Bus(_) => {
                    let urgency = slot.urgency(&self.ops);
                    let channel = self.rules.geometry.channel_of(die) as usize;
                    let bus = &mut self.buses[channel];
                    let grant = if !self.rules.reads_first {
                        bus.take(now, transfer, urgency == Urgency::Gc)
                    } else if let Some(grant) = bus.ask(now, transfer, urgency, die) {
                        grant
                    } else {
                        if self.bus_wakes.time_of(channel) == SimTime::NEVER {
                            self.bus_wakes.set(channel, bus.free_at());
                        }
                        self.wakes.clear(die as usize);
                        return;
                    };
                    time = slot.transferred(grant, transfer);
                }
            }
        }
        self.wakes.set(die as usize, time);
    }

    /// The transfer on a channel ends at `now`, and others wait for it.
    pub(super) fn grant_bus(&mut self, now: SimTime) {
        let Some((_, channel)) = self.bus_wakes.peek() else { return };
        if channel == self.buses.len() {
            return self.govern(now);
        }
        let bus = &mut self.buses[channel];
        let granted = bus.grant(now, self.rules.timing.transfer);
        if bus.is_awaited() {
            self.bus_wakes.set(channel, bus.free_at());
        } else {
            self.bus_wakes.clear(channel);
        }
        let Some((die, grant)) = granted else { return };
        let time = self.dies[die as usize].transferred(grant, self.rules.timing.transfer);
        self.run_from(die, time, now);
    }
}
