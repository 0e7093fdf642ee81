//! What a die does next, host work or garbage collection: one file per schedule.
//!
//! A schedule is asked whenever its die could start something. It looks at a [`DieView`] and answers a [`Decision`]
//! made of tokens; only the device pops the queue of a die. Schedules hold no state between questions beyond what the view
//! shows, so they can wrap one another (preemptive around io-parallel).

mod after_reads;
mod blocking;
mod ideal;
mod io_parallel;
mod preemptive;
mod preemptive_io_parallel;
mod slack;
mod stepwise;

use dyn_clone::DynClone;
use harmonia_types::registry::{Entry, Parameters, PolicyConfig, Registry};
use harmonia_types::{SimDuration, SimTime};

/// Decides what a die does next.
pub trait Schedule: Send + Sync + DynClone {
    /// What to do at `now`. Asked when the die is idle, and, for schedules that suspend, when work arrives while a
    /// program or erase of garbage collection runs.
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision;

    /// What the schedule relies on.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

dyn_clone::clone_trait_object!(Schedule);

impl Schedule for Box<dyn Schedule> {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        (**self).next(now, view)
    }

    fn needs(&self) -> Needs {
        (**self).needs()
    }
}

/// What a schedule relies on: what a device must keep for it, and how events begin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Looks into the queues ([`DieQueues`]) for more than the head.
    pub queues: bool,
    /// Where there is nothing to collect it serves the head of the queue, as [`DieView::serve_head`] does, and need not be
    /// asked.
    pub serves_head: bool,
    /// Where a job is under way and no host operation is at the die, it goes on with the step that is due, an erase or a
    /// [`Token::GcStep`], and need not be asked.
    pub steps_alone: bool,
    /// Where a job is under way, it does the same while host operations wait of which none could go along: in no sibling plane
    /// does a read wait for the page offset that garbage collection reads, nor a write where a block is open at the offset that
    /// it programs. An erase takes nothing along.
    pub steps_unmatched: bool,
    /// Where a job is under way it goes on whatever waits, with an erase or a [`Token::GcMove`], and need not be asked.
    pub moves_unasked: bool,
    /// Where page moves take no turns on a bus, it collects a whole event, or a victim of one, in one command and nothing in
    /// steps.
    pub one_command: bool,
    /// Whether it takes host operations along in the commands of garbage collection.
    pub pairs: Pairs,
    /// Asked when work arrives while garbage collection runs, and may suspend it where the part can.
    pub suspend: bool,
    /// Events begin at the soft threshold already (they yield to the host until a unit reaches hard).
    pub begins_at_soft: bool,
    /// A sibling plane that takes no part in a program of garbage collection leaves its next page unwritten where its write
    /// offset was equal, so that it stays so.
    pub skips: bool,
    /// At the start of an event every plane of the die opens a block of its own, so that the write offsets of all
    /// planes are equal.
    pub fresh_blocks: bool,
    /// Looks at the deadlines of what waits ([`Queued::deadline`]); a request without one is due so long after it arrived.
    pub deadlines: Option<SimDuration>,
    /// Whom a collection lets go first while every unit of the die is above hard.
    pub gives_way: GivesWay,
}

/// Whether a schedule takes host operations along in the commands of garbage collection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pairs {
    /// It does not.
    #[default]
    Never,
    /// Where host operations of sibling planes join among themselves, too ([`DieView::multi_plane`]).
    WithMultiPlane,
    /// It does.
    Always,
}

/// Which host operations go ahead of a collection that is wanted or under way, as long as every unit of the die is above
/// its hard threshold. Such an operation waits at most for the step that runs. It does not wait for the collection, so a
/// device does not refuse it if it asks to fail fast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GivesWay {
    /// None does: what waits is served after the event. Some may find a place in the collection's own commands.
    #[default]
    Never,
    /// Reads do, until the event has begun.
    ToReads,
    /// All do, between the steps of the event.
    BetweenSteps,
    /// All do, even at the hard threshold: collection takes no time.
    Always,
}

/// Names one operation waiting in a die's queue; only the die can redeem it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostToken(pub u32);

/// One command's worth of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// A queued host operation.
    Host(HostToken),
    /// The next half of a page move: its read, or its program. Where no victim is chosen yet, chooses one, or ends the
    /// event, which takes no time.
    GcStep,
    /// A whole page move, read and program in one command. Not where a half is due.
    GcMove,
}

/// Up to this many planes join one multi-plane command.
pub const MAX_PLANES: usize = 8;

/// The operations of one multi-plane command: same type, same page offset, different planes. What comes first is
/// transferred first. A read of the very page that garbage collection reads may come along, too.
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

    /// The host operations among them.
    pub fn hosts(&self) -> impl Iterator<Item = HostToken> + '_ {
        self.iter().filter_map(|token| match token {
            Token::Host(host) => Some(host),
            _ => None,
        })
    }

    /// Whether it takes part in garbage collection.
    pub fn takes_gc(&self) -> bool {
        self.tokens[0] == Some(Token::GcStep)
    }

    /// Carries it out: alone, what it holds is a single-plane command.
    pub fn decision(self) -> Decision {
        match self.tokens {
            [Some(only), None, ..] => Decision::Single(only),
            _ => Decision::Multi(self),
        }
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
    /// Suspend what runs, and ask again.
    Suspend,
    /// Go on with what was suspended.
    Resume,
    /// Nothing until this time, or until something arrives; `SimTime::NEVER` waits for an arrival alone.
    Wait(SimTime),
    /// The whole pending garbage-collection event as one command.
    Atomic(Pace),
}

impl Decision {
    /// The first host operation that is served without collecting anything in the same command.
    #[inline]
    pub(crate) fn host_alone(&self) -> Option<HostToken> {
        match self {
            Decision::Single(Token::Host(host)) => Some(*host),
            Decision::Multi(command) if !command.takes_gc() => command.hosts().next(),
            _ => None,
        }
    }
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
    /// When its request should be done; known to schedules that look at it ([`Needs::deadlines`]).
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

/// One victim being collected. Belongs to the device; source and destination may lie in different planes or dies. A die
/// that programs a page for another's victim shows a job of that one step.
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
    /// The page that was read lies in the plane's register (copyback): nothing but its program can come next.
    pub pinned: bool,
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
    /// The page that was read is programmed in another die: nothing to do until it is.
    Away,
    /// All pages are moved.
    Erase,
}

/// A program or erase of garbage collection that runs, or is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Running {
    /// When it ends if left alone; suspended, if resumed now.
    pub ends: SimTime,
    /// What it still has to do.
    pub remaining: SimDuration,
    /// Whether the part can suspend it.
    pub suspendable: bool,
}

/// How long something takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// The die is busy with it: its array, and its transfers with all that may come before them on a shared bus.
    pub die: SimDuration,
    /// After that, a read's data goes over the host link.
    pub link: SimDuration,
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
    /// The first waiting write of a whole page that will go to `plane`.
    fn first_write(&self, plane: u32) -> Option<Queued>;
    /// The first waiting write of a part of the page that lies at the page offset `page` in `plane`. In a command for reads
    /// it has the rest of its page read, goes on waiting, and is a write of a whole page from then on.
    fn find_partial_write(&self, _plane: u32, _page: u32) -> Option<Queued> {
        None
    }
    /// Whether a host write in `plane` can go to page offset `page` next: a block is open there, or, for page 0 where
    /// none is, one can be opened.
    fn can_write_at(&self, plane: u32, page: u32) -> bool;
    /// Plane and page offset a waiting read or whole-page write goes to; `None` for what no multi-plane command takes.
    fn place_of(&self, token: HostToken) -> Option<(u32, u32)>;
    /// The first waiting read, otherwise write, of the page that garbage collection moves next.
    fn on_moving_page(&self, job: &GcJob) -> Option<Queued>;
    /// Visits what waits in the order in which the host would be served, with what each takes, as long as `visit` says
    /// to go on.
    fn each_waiting(&self, _visit: &mut dyn FnMut(Queued, Work) -> bool) {}
    /// What the half of a page move, or the erase, that is due takes; of an event yet to begin the first. A half after
    /// which the host could not go takes the next one along.
    fn step(&self, _job: Option<&GcJob>) -> Work {
        Work::default()
    }
}

/// A die as a schedule sees it.
pub struct DieView<'a> {
    /// The host operation whose turn it is, ready or not.
    pub head: Option<Queued>,
    /// Garbage collection wanted or under way.
    pub gc: Gc,
    /// Collection goes before writes, because it has yet to have its share of the die's work or the die is at the hard threshold
    /// (`ssd.gc.trigger` is `proportional` or `bursts`; [`Gc`] then never says `hard`). Otherwise the schedule alone decides.
    pub writes_wait: bool,
    /// What runs, when asked about suspension; otherwise the die is idle.
    pub running: Option<Running>,
    /// What was suspended and has yet to be resumed. Until then the die can serve host reads only, and looking for
    /// operations does not find those on pages being programmed.
    pub suspended: Option<Running>,
    /// Fewest free blocks of any unit of the die.
    pub free: u32,
    /// Hard threshold.
    pub hard: u32,
    /// Soft threshold.
    pub soft: u32,
    /// Planes of the die.
    pub planes: u32,
    /// Host operations of sibling planes join in one command where they can.
    pub multi_plane: bool,
    /// When the bus of the die is free.
    pub bus_free_at: SimTime,
    /// Look-ups.
    pub queues: &'a dyn DieQueues,
}

impl DieView<'_> {
    /// Whether the operation whose turn it is may go before a step of collection at all.
    #[inline]
    pub fn lets_head_go(&self) -> bool {
        !self.writes_wait || self.head.is_none_or(|head| head.class != Class::Write)
    }

    /// The host operation whose turn it is if it is ready, with those of other planes that can join it; otherwise
    /// waits for it.
    #[inline]
    pub fn serve_head(&self, now: SimTime) -> Decision {
        match self.head {
            Some(head) if head.ready <= now && self.multi_plane => self.serve_with_siblings(now, head),
            Some(head) if head.ready <= now => Decision::Single(Token::Host(head.token)),
            Some(head) => Decision::Wait(head.ready),
            None => Decision::Wait(SimTime::NEVER),
        }
    }

    /// The half of a page move that is due, with the plane and page offset it is for; or what collection first does otherwise.
    #[inline]
    fn half_due(&self, now: SimTime) -> Result<(Class, (u32, u32)), Decision> {
        let job = match self.gc {
            Gc::Idle => return Err(self.serve_head(now)),
            Gc::Wanted { .. } => return Err(Decision::Single(Token::GcStep)),
            Gc::Job(job) => job,
        };
        match job.phase {
            GcPhase::Choose => Err(Decision::Single(Token::GcStep)),
            GcPhase::Erase => Err(Decision::Erase),
            GcPhase::Away => Err(Decision::Wait(SimTime::NEVER)),
            GcPhase::Read => Ok((Class::Read, (job.source_plane, job.cursor))),
            GcPhase::Program => Ok((Class::Write, job.destination)),
        }
    }

    /// An operation that is ready, with those of other planes that can join it.
    pub fn serve_with_siblings(&self, now: SimTime, first: Queued) -> Decision {
        let Some((own, page)) = self.queues.place_of(first.token) else {
            return Decision::Single(Token::Host(first.token));
        };
        let mut command = MultiPlane::new(Token::Host(first.token));
        self.join(now, &mut command, first.class, (own, page));
        command.decision()
    }

    /// Adds to a command for a page offset of plane `own` the first operation of each other plane that fits.
    pub fn join(&self, now: SimTime, command: &mut MultiPlane, class: Class, (own, page): (u32, u32)) {
        let partner = |plane| match class {
            Class::Read => self.queues.find_read(plane, page),
            Class::Write => {
                let fits = |_: &Queued| self.queues.can_write_at(plane, page);
                self.queues.first_write(plane).filter(fits)
            }
        };
        let siblings = (0..self.planes).filter(|&plane| plane != own);
        for host in siblings.filter_map(partner).filter(|host| host.ready <= now) {
            // Where planes share a pool of blocks, one write may fit the open blocks of several.
            if command.hosts().all(|held| held != host.token) {
                command.join(Token::Host(host.token));
            }
        }
    }

    /// Adds to a read of garbage collection, in each other plane that nothing reads yet, the first write of a part of the
    /// page that lies at the same offset there.
    pub fn join_partial_writes(&self, now: SimTime, command: &mut MultiPlane, (own, page): (u32, u32)) {
        for plane in (0..self.planes).filter(|&plane| plane != own) {
            let reads = |host| self.queues.place_of(host).is_some_and(|place| place.0 == plane);
            if command.hosts().any(reads) {
                continue;
            }
            let partial = self.queues.find_partial_write(plane, page);
            if let Some(write) = partial.filter(|write| write.ready <= now) {
                command.join(Token::Host(write.token));
            }
        }
    }
}

/// Builds a schedule, or says which of its keys is wrong.
pub type Build = &'static (dyn Fn(&Parameters<'_>) -> Result<Box<dyn Schedule>, String> + Send + Sync);

/// All schedules.
pub const REGISTRY: &[Entry<Build>] = &[
    blocking::ENTRY,
    stepwise::ENTRY,
    preemptive::ENTRY,
    io_parallel::ENTRY,
    preemptive_io_parallel::ENTRY,
    slack::ENTRY,
    after_reads::ENTRY,
    ideal::ENTRY,
];

/// Those, and what a program has added.
pub static POLICIES: Registry<Build> = Registry::new("schedule", REGISTRY);

/// Builds the schedule of a device.
///
/// # Errors
/// If there is no such schedule, or it refuses one of its keys.
pub fn build(config: &PolicyConfig) -> Result<Box<dyn Schedule>, String> {
    let entry = POLICIES.chosen(&config.policy, &config.own)?;
    (entry.build)(&Parameters { own: &config.own })
}
