//! What a die has to collect, and how far it is: a machine of five states.
//!
//! ```text
//!           want             admit                begin_command      ┌──┐ go_on: the next victim of an idle event
//!   Rest ─────────► Waiting ─────────► Admitted ─────────────────► Atomic ─┘
//!    ▲ ▲             │  ▲                │ │ │   begin_steps          │
//!    │ └─────────────┘  └────────────────┘ │ └───────────────────► Stepwise
//!    │   call_off            revoke        │                         │
//!    ├─────────────────────────────────────┘ call_off                │
//!    └───────────────────────────────────────────────────────────────┘ end
//! ```
//!
//! * `Rest`: nothing to collect.
//! * `Waiting`: an event has to wait for its turn. Only where a concurrency policy limits turns.
//! * `Admitted`: an event may begin as soon as the schedule says so.
//! * `Atomic`: an event, or one turn of it, runs as one command.
//! * `Stepwise`: an event, or one turn of it, goes step by step. What its next step is, its [`Job`] knows.
//!
//! A demand for a die that does not rest changes the event it has, and no state. Where turns are limited, an event whose turn
//! has ended may wait for the next one: `end`, then `want`. Each transition refuses to begin in any state but its own.
//!
//! Steps of a job:
//!
//! ```text
//!  choose ─► read ─► program ─► read ─► ... ─► erase ─► choose ─► ... ─► end
//!                │      ▲
//!                └─ away┘  the page is programmed by another die, or comes back
//! ```
//!
//! Where a program carries several pages, what the last one of a victim lacks may be read from another block before it.

use harmonia_types::{SimDuration, SimTime};

use super::event::Event;
use crate::block::BlockId;
use crate::shape::UnitOfDie;

/// What a die has to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Collection {
    #[default]
    Rest,
    Waiting(Event),
    Admitted(Event),
    Atomic(Atomic),
    Stepwise(Stepwise),
}

/// An event under way as one command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Atomic {
    pub event: Event,
    /// Since when, and how long it was expected to take.
    pub course: Course,
    /// Victims that it has taken, those of the running command included.
    pub victims: u32,
    /// When the running command ends.
    pub until: SimTime,
}

/// An event under way step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stepwise {
    pub event: Event,
    pub course: Course,
    pub job: Job,
}

/// When an event began, and how long it was expected to take then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    pub since: SimTime,
    pub foreseen: SimDuration,
}

impl Course {
    pub fn from(since: SimTime) -> Course {
        Course { since, foreseen: SimDuration::ZERO }
    }
}

/// How far an event is that goes step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Job {
    /// The unit that gave the last victim.
    pub unit: UnitOfDie,
    /// The victim under way; `None` if the next one is to be chosen.
    pub victim: Option<Moving>,
    /// Victims erased.
    pub victims: u32,
}

/// A victim whose live pages move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moving {
    pub block: BlockId,
    /// Next page to look at.
    pub cursor: u32,
    /// The page that was read and is to be programmed; where a program carries several, the first of them.
    pub held: Option<Held>,
    /// Pages moved so far.
    pub moved: u32,
}

impl Moving {
    pub fn new(block: BlockId) -> Moving {
        Moving { block, cursor: 0, held: None, moved: 0 }
    }
}

/// Pages of a block that is no victim yet, read to go along in a victim's last program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ahead {
    pub block: BlockId,
    /// The first page that was read.
    pub page: u32,
    /// Next page to look at.
    pub cursor: u32,
}

/// A page between its read and its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    /// Its offset in the victim.
    pub page: u32,
    pub place: Place,
    /// It, and those behind it that were live when they were read.
    pub count: u16,
}

/// Where a page is between its read and its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the register of its plane.
    Register,
    /// It was transferred to the controller.
    Controller,
    /// It was transferred, and waits for another unit to program it.
    Away,
}

impl Collection {
    /// Whether an event is under way.
    #[inline]
    pub fn is_running(&self) -> bool {
        matches!(self, Collection::Atomic(_) | Collection::Stepwise(_))
    }

    /// Whether an event may begin and has not.
    #[inline]
    pub fn is_admitted(&self) -> bool {
        matches!(self, Collection::Admitted(_))
    }

    /// Whether an event may begin or is under way: where turns are limited, the die has one.
    #[inline]
    pub fn has_turn(&self) -> bool {
        self.is_admitted() || self.is_running()
    }

    /// The event, whatever its state.
    #[inline]
    pub fn event(&self) -> Option<&Event> {
        match self {
            Collection::Rest => None,
            Collection::Waiting(event) | Collection::Admitted(event) => Some(event),
            Collection::Atomic(atomic) => Some(&atomic.event),
            Collection::Stepwise(stepwise) => Some(&stepwise.event),
        }
    }

    #[inline]
    pub fn event_mut(&mut self) -> Option<&mut Event> {
        match self {
            Collection::Rest => None,
            Collection::Waiting(event) | Collection::Admitted(event) => Some(event),
            Collection::Atomic(atomic) => Some(&mut atomic.event),
            Collection::Stepwise(stepwise) => Some(&mut stepwise.event),
        }
    }

    /// Whether its event is to report that it has come down to the hard threshold. One that is a single command does so
    /// when that has ended, if it goes on.
    #[inline]
    pub fn reports_hard(&self) -> bool {
        match self {
            Collection::Rest | Collection::Atomic(_) => false,
            Collection::Waiting(event) | Collection::Admitted(event) => event.reports_hard,
            Collection::Stepwise(stepwise) => stepwise.event.reports_hard,
        }
    }

    /// An event that has not begun.
    #[inline]
    pub fn wanted(&self) -> Option<&Event> {
        match self {
            Collection::Waiting(event) | Collection::Admitted(event) => Some(event),
            _ => None,
        }
    }

    /// How far an event is that goes step by step.
    #[inline]
    pub fn job(&self) -> Option<&Job> {
        match self {
            Collection::Stepwise(stepwise) => Some(&stepwise.job),
            _ => None,
        }
    }

    #[inline]
    pub fn job_mut(&mut self) -> Option<&mut Job> {
        match self {
            Collection::Stepwise(stepwise) => Some(&mut stepwise.job),
            _ => None,
        }
    }

    /// The victim under way, and its unit.
    #[inline]
    pub fn victim(&self) -> Option<(UnitOfDie, &Moving)> {
        let job = self.job()?;
        Some((job.unit, job.victim.as_ref()?))
    }

    #[inline]
    pub fn victim_mut(&mut self) -> Option<&mut Moving> {
        self.job_mut()?.victim.as_mut()
    }

    /// Whether its next page is programmed by another die, so that it waits for that.
    pub fn is_away(&self) -> bool {
        let held = self.victim().and_then(|(_, victim)| victim.held);
        held.is_some_and(|held| held.place == Place::Away)
    }

    /// `Rest` to `Waiting`.
    pub fn want(&mut self, event: Event) {
        assert!(matches!(self, Collection::Rest), "a die is given an event while it rests, not in {self:?}");
        *self = Collection::Waiting(event);
    }

    /// `Waiting` to `Admitted`.
    pub fn admit(&mut self) {
        let Collection::Waiting(event) = *self else {
            panic!("only an event that waits is admitted, not {self:?}")
        };
        *self = Collection::Admitted(event);
    }

    /// `Admitted` back to `Waiting`.
    pub fn revoke(&mut self) {
        let Collection::Admitted(event) = *self else {
            panic!("only an event that may begin can lose its turn, not {self:?}")
        };
        *self = Collection::Waiting(event);
    }

    /// `Waiting` or `Admitted` to `Rest`.
    pub fn call_off(&mut self) {
        assert!(self.wanted().is_some(), "only an event that has not begun can be called off, not {self:?}");
        *self = Collection::Rest;
    }

    /// `Admitted` to `Atomic`: `event` has chosen the victims of the command, which ends at `until`.
    pub fn begin_command(&mut self, atomic: Atomic) {
        assert!(self.is_admitted(), "only an event that may begin begins, not {self:?}");
        *self = Collection::Atomic(atomic);
    }

    /// `Atomic` to `Atomic`: the next command of an event that gives way to the host between them.
    pub fn go_on(&mut self, event: Event, victims: u32, until: SimTime) {
        let Collection::Atomic(atomic) = self else {
            panic!("only an event that runs as commands goes on with another one, not {self:?}")
        };
        atomic.event = event;
        atomic.victims += victims;
        atomic.until = until;
    }

    /// `Admitted` to `Stepwise`; returns the event.
    pub fn begin_steps(&mut self, now: SimTime) -> Event {
        let Collection::Admitted(event) = *self else {
            panic!("only an event that may begin begins, not {self:?}")
        };
        let course = Course::from(now);
        *self = Collection::Stepwise(Stepwise { event, course, job: Job::default() });
        event
    }

    /// `Atomic` or `Stepwise` to `Rest`; returns the event that has ended, its course, and the victims it has taken.
    pub fn end(&mut self) -> (Event, Course, u32) {
        let ended = match *self {
            Collection::Atomic(Atomic { event, course, victims, .. }) => (event, course, victims),
            Collection::Stepwise(Stepwise { event, course, job }) => {
                assert!(job.victim.is_none(), "an event ends between victims, not at {job:?}");
                (event, course, job.victims)
            }
            _ => panic!("only an event that is under way ends, not {self:?}"),
        };
        *self = Collection::Rest;
        ended
    }

    /// Remembers how long the event under way is expected to take.
    pub fn foresee(&mut self, left: SimDuration) {
        match self {
            Collection::Atomic(Atomic { course, .. }) | Collection::Stepwise(Stepwise { course, .. }) => {
                course.foreseen = left;
            }
            _ => panic!("only an event that is under way is foreseen, not {self:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::UnitSet;
    use super::*;
    use crate::ftl::Goal;
    use harmonia_engine::Rng;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const STATES: [&str; 5] = ["rest", "waiting", "admitted", "atomic", "stepwise"];

    /// Every transition, and every legal one: from, name, to.
    const TRANSITIONS: [&str; 8] =
        ["want", "admit", "revoke", "call off", "begin command", "go on", "begin steps", "end"];
    const LEGAL: [(&str, &str, &str); 10] = [
        ("rest", "want", "waiting"),
        ("waiting", "admit", "admitted"),
        ("waiting", "call off", "rest"),
        ("admitted", "revoke", "waiting"),
        ("admitted", "call off", "rest"),
        ("admitted", "begin command", "atomic"),
        ("admitted", "begin steps", "stepwise"),
        ("atomic", "go on", "atomic"),
        ("atomic", "end", "rest"),
        ("stepwise", "end", "rest"),
    ];

    fn name(collection: &Collection) -> &'static str {
        match collection {
            Collection::Rest => "rest",
            Collection::Waiting(_) => "waiting",
            Collection::Admitted(_) => "admitted",
            Collection::Atomic(_) => "atomic",
            Collection::Stepwise(_) => "stepwise",
        }
    }

    fn event() -> Event {
        Event::whole(Goal { stop: 1, min_victims: 1 }, UnitSet::ALL)
    }

    fn atomic(victims: u32, now: SimTime) -> Atomic {
        Atomic { event: event(), course: Course::from(now), victims, until: now }
    }

    fn take(collection: &mut Collection, transition: &str, now: SimTime) {
        match transition {
            "want" => collection.want(event()),
            "admit" => collection.admit(),
            "revoke" => collection.revoke(),
            "call off" => collection.call_off(),
            "begin command" => collection.begin_command(atomic(1, now)),
            "go on" => collection.go_on(event(), 1, now),
            "begin steps" => _ = collection.begin_steps(now),
            _ => _ = collection.end(),
        }
    }

    /// From every state each transition either goes where the picture says, or is refused and changes nothing.
    #[test]
    fn every_transition_of_the_picture_is_taken_and_every_other_is_refused() {
        let mut rng = Rng::stream(1, "collection");
        let mut seen = std::collections::BTreeSet::new();
        let mut collection = Collection::Rest;
        for step in 0..5_000 {
            let transition = TRANSITIONS[rng.below(TRANSITIONS.len() as u64) as usize];
            let (from, before) = (name(&collection), collection);
            let tried = catch_unwind(AssertUnwindSafe(|| take(&mut collection, transition, SimTime(step))));
            let legal = LEGAL.iter().find(|legal| (legal.0, legal.1) == (from, transition));
            match legal {
                Some(&(.., to)) => {
                    assert!(tried.is_ok(), "{from}: {transition} is legal");
                    assert_eq!(name(&collection), to, "{from}: {transition}");
                }
                None => {
                    assert!(tried.is_err(), "{from}: {transition} is not refused");
                    assert_eq!(collection, before, "{from}: {transition} is refused and changes nothing");
                }
            }
            assert_eq!(collection.has_turn(), !["rest", "waiting"].contains(&name(&collection)));
            assert_eq!(collection.event().is_some(), name(&collection) != "rest");
            seen.insert((from, transition));
        }
        assert_eq!(seen.len(), STATES.len() * TRANSITIONS.len(), "every transition is tried in every state");
    }

    #[test]
    fn an_event_ends_between_victims_and_counts_all_of_them() {
        let mut collection = Collection::Admitted(event());
        collection.begin_command(atomic(2, SimTime(7)));
        collection.go_on(event(), 3, SimTime(9));
        let (_, course, victims) = collection.end();
        assert_eq!((course.since, victims), (SimTime(7), 5));

        collection = Collection::Admitted(event());
        collection.begin_steps(SimTime(8));
        collection.job_mut().expect("steps").victim = Some(Moving::new(BlockId(3)));
        let unfinished = catch_unwind(AssertUnwindSafe(|| collection.end()));
        assert!(unfinished.is_err() && collection.is_running(), "its victim is not erased yet");
        *collection.job_mut().expect("steps") = Job { victims: 4, ..Job::default() };
        let (_, course, victims) = collection.end();
        assert_eq!((course.since, victims), (SimTime(8), 4));
    }
}
