//! One die: what it runs, what it has to collect, and what waits there. It knows nothing of the device that it is part of.
//!
//! A die is three machines. Each can be understood alone:
//!
//! * [`Activity`]: what its flash array does now, one [`command`] at a time. `work` has the picture.
//! * [`Collection`]: what it has to collect and how far that is. [`collection`] has the picture, and [`event`] says which
//!   victims an event takes.
//! * [`Die::hosting`]: the page of another die's victim that it programs.
//!
//! [`Die::audit`] checks which states of these machines go together.

pub(crate) mod collection;
pub(crate) mod command;
mod debt;
pub(crate) mod event;
mod skips;
pub mod spans;
mod work;

use std::collections::VecDeque;
use std::mem::offset_of;

use harmonia_flash::Grant;
use harmonia_types::{SimDuration, SimTime};

use crate::block::BlockId;
use crate::gc::schedule::Class;
use collection::{Ahead, Collection};
use command::{Activity, Command, NO_OP, Part, Paused, Step};
use debt::Debt;
use skips::Skips;
use spans::Spans;

/// One die. Its fields stand in the order of their use: what every host operation looks at shares a cache line, and what
/// belongs to collection alone is not touched by it.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(crate) struct Die {
    /// Queue: first, last, and how many.
    pub head: u32,
    pub tail: u32,
    pub waiting: u32,
    /// The last event found nothing to collect and nothing was written since: do not ask again.
    pub exhausted: bool,
    /// It has told that a unit is at its hard threshold. Over when its next event ends, or when all dies have stopped
    /// collecting.
    pub has_told_hard: bool,
    pub activity: Activity,
    /// When its running command began, or was resumed.
    pub command_began: SimTime,
    /// When it collected last, from and until.
    pub gc_last: (SimTime, SimTime),
    /// Since when it rests although operations wait, because collection holds them back; [`SimTime::NEVER`]: it does not.
    pub held_since: SimTime,
    pub collection: Collection,
    /// When it collected before that, as far as some waiting operation may have met it.
    pub gc_log: Spans,
    /// A command that is suspended.
    pub paused: Option<Box<Paused>>,
    /// What the event under way, or a page of another die, adds to `gc_busy` and `gc_plane_busy`; it counts when that ends.
    pub job_busy: SimDuration,
    pub command: Command,
    pub job_plane_busy: SimDuration,
    /// Until when the plane that collects in a joint read read and transferred.
    pub gc_part_until: SimTime,
    /// What the running command of several planes, or half of a page move, is for. One that is alone has none.
    pub parts: Vec<Part>,
    /// Unit and LPN of the page last moved.
    pub moving: Option<(u32, u32)>,
    /// What was read of another block to fill the last program of its victim.
    pub ahead: Option<Ahead>,
    /// Pages of other units' victims to be programmed here.
    pub guests: VecDeque<Guest>,
    /// The page of another unit that is being programmed here, or whose program is suspended.
    pub hosting: Option<Guest>,
    /// Of those that wait, how many ask to fail fast.
    pub fast_waiting: u32,
    /// It holds back host writes until its turn to collect.
    pub stalled: bool,
    /// Time its commands of garbage collection took.
    pub gc_busy: SimDuration,
    /// How long planes were busy in them, summed over planes.
    pub gc_plane_busy: SimDuration,
    /// What collection has yet to do before the host's next write, where the two share the die's work.
    pub debt: Debt,
    /// Pages that it has left unwritten so that the offsets of its planes stay equal, less what victims have won since.
    pub skips: Skips,
}

/// A host operation looks at the first cache line, and at that of the command.
const _: () = assert!(offset_of!(Die, collection) < 64 && offset_of!(Die, command).is_multiple_of(64));

/// A page on its way to another unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guest {
    /// The die it was read in.
    pub die: u32,
    /// Where it lies: unit, block, page offset.
    pub from: (u32, BlockId, u32),
    /// The unit it goes to.
    pub to: u32,
}

impl Default for Die {
    fn default() -> Self {
        Die {
            head: NO_OP,
            tail: NO_OP,
            waiting: 0,
            activity: Activity::Idle,
            collection: Collection::Rest,
            fast_waiting: 0,
            stalled: false,
            exhausted: false,
            has_told_hard: false,
            command: Command::default(),
            parts: Vec::new(),
            guests: VecDeque::new(),
            hosting: None,
            paused: None,
            moving: None,
            ahead: None,
            command_began: SimTime::ZERO,
            gc_part_until: SimTime::ZERO,
            gc_log: Spans::default(),
            gc_last: (SimTime::ZERO, SimTime::ZERO),
            held_since: SimTime::NEVER,
            gc_busy: SimDuration::ZERO,
            gc_plane_busy: SimDuration::ZERO,
            job_busy: SimDuration::ZERO,
            job_plane_busy: SimDuration::ZERO,
            debt: Debt::default(),
            skips: Skips::default(),
        }
    }
}

impl Die {
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.activity == Activity::Idle
    }

    /// Host operations that have begun and are not done.
    pub fn running_ops(&self) -> impl Iterator<Item = u32> + '_ {
        let single = match self.activity {
            Activity::Host(op) => Some(op),
            _ => None,
        };
        let joint = if matches!(self.activity, Activity::Joint(_)) { &self.parts[..] } else { &[] };
        let paused = self.paused.as_deref().map_or(&[][..], |paused| &paused.parts[..]);
        let parts = joint.iter().skip(self.command.done.into()).chain(paused);
        let begun = parts.filter(|part| part.op != NO_OP && !part.prepares);
        single.into_iter().chain(begun.map(|part| part.op))
    }

    /// Whether it has collected since an operation was issued whose service has begun: a collection that ended after that
    /// ended before the service, so that the operation met it.
    #[inline]
    pub fn has_collected_since(&self, issued: SimTime) -> bool {
        self.gc_last.1 > issued
    }

    /// How long it collected from `ready`, since when an operation waited, to `start`, when its service began.
    #[inline]
    pub fn collected_between(&self, ready: SimTime, start: SimTime) -> SimDuration {
        if !self.has_collected_since(ready) {
            return SimDuration::ZERO;
        }
        let (from, end) = self.gc_last;
        let last = end.min(start).saturating_since(from.max(ready));
        last + self.gc_log.between(ready, start)
    }

    /// When it collected, as far as that ended after `time`; the latest first.
    pub fn collected_since(&self, time: SimTime) -> impl Iterator<Item = (SimTime, SimTime)> + '_ {
        let last = Some(self.gc_last).filter(|&(_, end)| end > time);
        last.into_iter().chain(self.gc_log.since(time))
    }

    /// A page or a command goes over the bus for `length`; returns when it is over.
    #[inline]
    pub fn transferred(&mut self, grant: Grant, length: SimDuration) -> SimTime {
        let command = &mut self.command;
        command.bus_wait_gc += grant.waited_gc;
        command.bus_wait_host += grant.waited_host;
        command.transfer += length;
        let step = &mut command.steps[usize::from(command.next)];
        if let Step::Command(_) = step {
            command.next += 1;
            return grant.end;
        }
        command.pages += 1;
        if let Step::Out(pages @ 2..) | Step::In(pages @ 2..) = step {
            *pages -= 1;
        } else {
            command.next += 1;
        }
        if command.pages > 1 && self.activity == Activity::Joint(Class::Write) && self.parts.len() > 1 {
            command.lead += (grant.end - self.command_began) - length;
        }
        grant.end
    }

    /// The part whose page is transferred next; the first one while a command is on the bus.
    pub fn transferring(&self) -> Part {
        if self.command.is_alone {
            return Part::of_collection(true);
        }
        if let [only] = self.parts[..] {
            return only;
        }
        let mut parts = self.parts.iter().filter(|part| part.transfers);
        *parts.nth(self.command.pages.into()).unwrap_or(&self.parts[0])
    }

    /// Whether the command of its parts is one of garbage collection.
    pub fn has_gc_part(&self) -> bool {
        self.command.is_alone || self.parts.first().is_some_and(|part| part.op == NO_OP)
    }

    /// Whether the running command is one of garbage collection.
    pub fn runs_collection(&self) -> bool {
        match self.activity {
            Activity::Event | Activity::Move | Activity::Erase => true,
            Activity::Joint(_) => self.has_gc_part(),
            Activity::Suspending => !self.pauses_host(),
            Activity::Idle | Activity::Host(_) | Activity::Settled | Activity::Summary => false,
        }
    }

    /// Whether a program of the host is suspended.
    #[inline]
    pub fn pauses_host(&self) -> bool {
        self.paused.as_deref().is_some_and(Paused::is_host)
    }

    /// Checks that what it does, what it collects and what it holds back go together.
    ///
    /// # Panics
    /// Says what does not.
    pub fn audit(&self, index: u32) {
        let Die { activity, collection, hosting, .. } = self;
        let has_victim = collection.victim().is_some();
        let is_atomic = matches!(collection, Collection::Atomic(_));
        assert_eq!(
            *activity == Activity::Event,
            is_atomic,
            "die {index}: {activity:?} with {collection:?}: an atomic event is one command"
        );
        let running = match activity {
            Activity::Idle | Activity::Host(_) | Activity::Settled | Activity::Summary | Activity::Event => {
                None
            }
            Activity::Joint(_) if !self.has_gc_part() => None,
            Activity::Suspending => {
                assert!(self.paused.is_some(), "die {index} suspends nothing");
                None
            }
            Activity::Move | Activity::Erase | Activity::Joint(_) => Some(*activity),
        };
        assert!(
            running.is_none() || self.paused.is_none(),
            "die {index}: a second command of collection runs"
        );
        let paused = self.paused.as_deref().filter(|paused| !paused.is_host());
        match running.or(paused.map(|paused| paused.activity)) {
            None => {
                assert!(hosting.is_none(), "die {index} has begun a page of another and does not program it")
            }
            Some(Activity::Joint(Class::Write)) => {
                assert!(has_victim || hosting.is_some(), "die {index} programs a page of no victim");
            }
            Some(what) => assert!(has_victim, "die {index}: {what:?} of no victim, with {collection:?}"),
        }
        let held_back = !self.stalled || !collection.has_turn();
        assert!(held_back, "die {index} holds writes back until its turn, and has one: {collection:?}");
    }

    /// Whether a garbage-collection event is under way.
    pub fn collects(&self) -> bool {
        self.collection.is_running()
    }
}
