//! What a die does next, host work or garbage collection: one file per schedule.
//!
//! A schedule is asked whenever its die could start something. It looks at a [`DieView`] and answers a [`Decision`]
//! made of tokens; nobody but the die pops its queue. Schedules hold no state between questions beyond what the view
//! shows, so they can wrap one another (preemptive around io-parallel).

mod blocking;
mod ideal;

use harmonia_types::registry::Entry;
use harmonia_types::{SimDuration, SimTime};

/// Decides what a die does next.
pub trait Schedule: Send + Sync {
    /// What to do at `now`. Asked when the die is idle, and, for schedules that need suspension, when work arrives
    /// while a program or erase runs.
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision;

    /// What the schedule relies on; a device that cannot do it is refused when it is built.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

impl<S: Schedule + ?Sized> Schedule for Box<S> {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        (**self).next(now, view)
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }
}

/// What a schedule relies on: capabilities of the hardware, and how events begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Multi-plane reads and programs.
    pub multi_plane: bool,
    /// Suspending a running program or erase.
    pub suspend: bool,
    /// Events begin at the soft threshold already (they yield to the host until a unit reaches hard).
    pub begins_at_soft: bool,
    /// At the start of an event every unit of the die sets its frontier aside and opens a block, so that the write
    /// offsets of all planes are equal.
    pub fresh_blocks: bool,
}

/// Names one operation waiting in a die's queue; only the die can redeem it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostToken(pub u32);

/// One command's worth of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// A queued host operation.
    Host(HostToken),
    /// The next step of the die's garbage collection: one page move, or the half of it that is due.
    GcStep,
}

/// Up to this many planes join one multi-plane command.
pub const MAX_PLANES: usize = 8;

/// The operations of one multi-plane command: same type, same page offset, different planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MultiPlane {
    tokens: [Option<Token>; MAX_PLANES],
    len: u8,
}

impl MultiPlane {
    /// A command that so far holds `first`.
    pub fn new(first: Token) -> Self {
        let mut tokens = [None; MAX_PLANES];
        tokens[0] = Some(first);
        MultiPlane { tokens, len: 1 }
    }

    /// Adds an operation for another plane; `false` if the command is full.
    pub fn join(&mut self, token: Token) -> bool {
        let room = usize::from(self.len) < MAX_PLANES;
        if room {
            self.tokens[usize::from(self.len)] = Some(token);
            self.len += 1;
        }
        room
    }

    /// The operations, first to last.
    pub fn iter(&self) -> impl Iterator<Item = Token> + '_ {
        self.tokens.iter().flatten().copied()
    }
}

/// How long an atomic garbage-collection event takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The sum of its moves and erases; the die computes it, because it depends on the victims taken.
    Timed,
    /// No time at all.
    Instant,
}

/// What a die does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// One single-plane command.
    Single(Token),
    /// One multi-plane command.
    Multi(MultiPlane),
    /// Erase the victim whose pages are all moved.
    Erase,
    /// Suspend the running program or erase, and ask again.
    Suspend,
    /// Go on with what was suspended.
    Resume,
    /// Nothing until this time, or until something arrives; `SimTime::NEVER` waits for an arrival alone.
    Wait(SimTime),
    /// The whole pending garbage-collection event as one command.
    Atomic(Pace),
}

/// Classes of a die's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Host reads.
    Read,
    /// Host writes (and trims, which take no time).
    Write,
}

/// An operation waiting in a die's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queued {
    /// Redeems it.
    pub token: HostToken,
    /// Read or write.
    pub class: Class,
    /// When it can start: a write's data has then arrived over the link. May lie in the future.
    pub ready: SimTime,
    /// When its request should be done, if its host said so.
    pub deadline: Option<SimTime>,
}

/// Where the die's garbage collection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gc {
    /// Nothing to collect.
    Idle,
    /// An event waits to start.
    Wanted {
        /// Whether a unit of the die is at its hard threshold.
        hard: bool,
        /// Whether page moves use a shared bus and must take their turns on it.
        moves_use_bus: bool,
    },
    /// An event is under way.
    Job(GcJob),
}

/// One victim being collected. Belongs to the device; source and destination may lie in different planes or dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GcJob {
    /// Allocation unit (of the device) the victim belongs to.
    pub unit: u32,
    /// Block of that unit.
    pub victim: u32,
    /// The page of the victim that moves next: a live one, until all are moved.
    pub cursor: u32,
    /// What comes next.
    pub phase: GcPhase,
    /// Plane of the die the victim lies in.
    pub source_plane: u32,
    /// Plane and page offset the next moved page goes to, a block yet to be opened included.
    pub destination: (u32, u32),
    /// Whether the event must not yield (a unit of the die is at its hard threshold).
    pub hard: bool,
}

/// What a garbage-collection job does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcPhase {
    /// Choose the next victim, or end the event: takes no time, and the schedule is asked again before a page moves.
    Choose,
    /// Read the page under the cursor.
    Read,
    /// Program the page that was read.
    Program,
    /// All pages are moved.
    Erase,
}

/// What runs on the die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// When it ends if left alone.
    pub ends: SimTime,
    /// What could be won by suspending it.
    pub remaining: SimDuration,
    /// Whether it is garbage collection.
    pub is_gc: bool,
    /// Whether the part can suspend it.
    pub suspendable: bool,
}

/// Look-ups in a die's queue and frontiers, for schedules that match host work with garbage collection.
///
/// An operation is found only if no earlier one on the same LPN waits, so whatever a schedule redeems keeps their
/// order. What is found may not be ready yet.
pub trait DieQueues {
    /// Number of operations waiting.
    fn len(&self, class: Class) -> usize;
    /// The first waiting operation of a class.
    fn first(&self, class: Class) -> Option<Queued>;
    /// The first waiting read of the page offset `page` in `plane`.
    fn find_read(&self, plane: u32, page: u32) -> Option<Queued>;
    /// The first waiting write that will go to `plane`.
    fn first_write(&self, plane: u32) -> Option<Queued>;
    /// Page offset the next host write in `plane` goes to, a block yet to be opened included; `None` if it would go
    /// to another plane or find no free block.
    fn frontier_offset(&self, plane: u32) -> Option<u32>;
}

/// A die as a schedule sees it.
pub struct DieView<'a> {
    /// The first operation in arrival order, ready or not.
    pub head: Option<Queued>,
    /// Garbage collection wanted or under way.
    pub gc: Gc,
    /// What runs, when asked about suspension; otherwise the die is idle.
    pub running: Option<Running>,
    /// What was suspended and has yet to be resumed (`ends` then means: if resumed now).
    pub suspended: Option<Running>,
    /// Fewest free blocks of any unit of the die.
    pub free: u32,
    /// Hard threshold.
    pub hard: u32,
    /// Soft threshold.
    pub soft: u32,
    /// Planes of the die.
    pub planes: u32,
    /// When the bus of the die is free.
    pub bus_free_at: SimTime,
    /// Look-ups.
    pub queues: &'a dyn DieQueues,
}

impl DieView<'_> {
    /// First come, first served: the head if it is ready, otherwise wait for it.
    #[inline]
    pub fn serve_head(&self, now: SimTime) -> Decision {
        match self.head {
            Some(head) if head.ready <= now => Decision::Single(Token::Host(head.token)),
            Some(head) => Decision::Wait(head.ready),
            None => Decision::Wait(SimTime::NEVER),
        }
    }
}

/// Builds a schedule.
pub type Build = fn() -> Box<dyn Schedule>;

/// All schedules.
pub const REGISTRY: &[Entry<Build>] = &[blocking::ENTRY, ideal::ENTRY];
