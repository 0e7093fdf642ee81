//! Commands: sequences of array and bus steps, and the parts of a command of several planes.
//!
//! ```text
//! read      [array tR][out]              write          [in][array tPROG]
//! move      [array tR + tPROG]           partial write  [array tR][out][in][array tPROG]
//! far move  [array tR][out][in][array tPROG]            erase [array tBERS]
//! ```
//!
//! Where commands take time, one takes a turn on the bus before each array read and each erase, and before a program of
//! what lies in the register. The command of another program belongs to the turn in which its page goes in.

use harmonia_types::{SimDuration, SimTime};

use crate::gc::schedule::Class;

/// What a die is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    Idle,
    /// A host operation.
    Host(u32),
    /// A host write that was accounted for when it arrived.
    Settled,
    /// The summary page of a block that a host operation filled.
    Summary,
    /// A garbage-collection event, or a turn of it, as one command.
    Event,
    /// A whole page move of a job; where pages are packed, also the read half of one.
    Move,
    /// The erase of a job's victim.
    Erase,
    /// Reads or programs of the die's parts: several planes, or half of a page move.
    Joint(Class),
    /// Stops a command of garbage collection, or a program of the host.
    Suspending,
}

/// No operation.
pub(crate) const NO_OP: u32 = u32::MAX;

/// The running command: its remaining steps and what it has cost so far. All but the steps share a cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Command {
    /// When the operation began.
    pub start: SimTime,
    pub array: SimDuration,
    pub transfer: SimDuration,
    pub bus_wait_gc: SimDuration,
    pub bus_wait_host: SimDuration,
    /// Time planes waited for their data, summed over all but the first.
    pub lead: SimDuration,
    /// Summary pages to program afterwards.
    pub summaries: u32,
    pub next: u8,
    pub len: u8,
    /// Pages of its parts that were transferred, the one under way included. Commands that go a shorter way have no parts, and do not
    /// count them.
    pub pages: u8,
    /// Parts that are done.
    pub done: u8,
    /// It serves background work of the array and nothing else.
    pub background: bool,
    /// A page move, or half of one, with which nothing goes along and whose end nobody has to be told.
    pub is_alone: bool,
    /// How often it was suspended.
    pub suspends: u16,
    pub steps: [Step; 5],
}

/// One step of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// A command without data is on the bus for so long.
    Command(SimDuration),
    /// So many pages over the bus from the die, one after the other.
    Out(u8),
    /// So many pages to the die, each behind the command that programs it.
    In(u8),
    /// The flash array works for so long.
    Array(SimDuration),
}

impl Default for Step {
    fn default() -> Self {
        Step::Out(0)
    }
}

impl Command {
    /// Begins anew, without steps. It is written where it stays: a command is long, and every operation needs one.
    #[inline]
    pub fn restart(&mut self, start: SimTime) {
        // Field by field: a value that is put together first is copied through the stack. Steps behind the last one are never
        // looked at.
        self.start = start;
        (self.array, self.transfer) = (SimDuration::ZERO, SimDuration::ZERO);
        (self.bus_wait_gc, self.bus_wait_host) = (SimDuration::ZERO, SimDuration::ZERO);
        (self.lead, self.summaries) = (SimDuration::ZERO, 0);
        (self.next, self.len, self.pages, self.done) = (0, 0, 0, 0);
        (self.background, self.is_alone, self.suspends) = (false, false, 0);
    }

    /// One step more.
    #[inline]
    pub fn then(&mut self, step: Step) -> &mut Self {
        self.steps[usize::from(self.len)] = step;
        self.len += 1;
        self
    }

    /// A command that takes `cycles`, if it takes any.
    #[inline]
    pub fn told(&mut self, cycles: SimDuration) -> &mut Self {
        if cycles == SimDuration::ZERO { self } else { self.then(Step::Command(cycles)) }
    }

    /// How long its array works for the last time, if that is known to come next or has begun.
    pub fn last_step(&self) -> Option<SimDuration> {
        let last = self.len.checked_sub(1).map(|last| self.steps[usize::from(last)]);
        match last {
            Some(Step::Array(length)) if self.next == self.len => Some(length),
            _ => None,
        }
    }

    /// What its array still has to do takes so long.
    pub fn set_last_step(&mut self, length: SimDuration) {
        self.steps[usize::from(self.len) - 1] = Step::Array(length);
    }
}

/// What one plane does in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The host operation; [`NO_OP`] for garbage collection.
    pub op: u32,
    /// Its page goes over the bus. Otherwise it stays in the plane (copyback), or is the page transferred before it.
    pub transfers: bool,
    /// It reads the very page garbage collection reads.
    pub rides: bool,
    /// It reads what a write of a part of a page lacks; that operation still waits.
    pub prepares: bool,
}

impl Part {
    pub fn of_collection(transfers: bool) -> Self {
        Part { op: NO_OP, transfers, rides: false, prepares: false }
    }

    pub fn of_host(op: u32, transfers: bool) -> Self {
        Part { op, transfers, rides: false, prepares: false }
    }
}

/// A suspended command: one of garbage collection, or a program of the host.
#[derive(Debug, Clone)]
pub(crate) struct Paused {
    pub activity: Activity,
    pub command: Command,
    pub parts: Vec<Part>,
    /// Array time it still needs.
    pub remaining: SimDuration,
    /// Unit and LPN of the page it moves.
    pub moves: Option<(u32, u32)>,
}

impl Paused {
    /// Whether it is a program of the host.
    pub fn is_host(&self) -> bool {
        self.parts.first().is_some_and(|part| part.op != NO_OP)
    }
}
