//! Whose work a transaction is, and how far it and its operations are: three machines that know nothing of an array.
//!
//! A transaction:
//!
//! ```text
//!               merge
//!      InLine ─────────► Merged ──────────────────────────────────────────► over
//!       ▲  │
//! line_up  │ grant
//!       │  ▼         begin_step                end_step
//!  ──► Admitted ───────────────► UnderWay ───────────────► Between ◄── has_room ──┐
//!       ▲  │                      │    ▲                    │ │ │                 │
//!       │  │ finish        finish │    └──── begin_step ────┘ │ └─ lack_room ─► LogFull
//!       │  └───────► Ending ◄─────┘                           │
//!       │              └────────────────────────────────────────────────────► over
//!       └──────────────────── plan_anew ──────────────────────┘
//! ```
//!
//! * `InLine`: others hold its rows.
//! * `Merged`: it is part of another transaction, and keeps its place in line.
//! * `Admitted`: it holds its rows, or needs none. Every transaction begins here, and lines up at once if others hold its rows.
//!   It is planned at once, or waits for the bitmap or the stripe cache first.
//! * `UnderWay`: operations of a step are under way. What is refused is replaced within the step.
//! * `Between`: its step is done. The next one, or a new plan, begins when the last operation has finished.
//! * `LogFull`: its next step writes the log, which has no room. The first step of a plan may do so: `lack_room` and
//!   `begin_step` lead out of `Admitted`, too.
//! * `Ending`: all is done. It gives back its rows when the last operation has finished.
//!
//! A transaction that gets new rows for a new plan may have to wait in line again. A loss of power ends it in any state.
//!
//! An operation:
//!
//! ```text
//!           begin            give                take
//!  Planned ────────► Begun ──────────► Given ─────────────► over
//!                    ▲ │  │              │ │                  ▲
//!                    │ │  └─── outrun ─┐ │ │ outrun           │
//!                    │ │ take          ▼ │ ▼                  │
//!                    │ └────────► over  Outrun ─── take ──────┘
//!                    └───── come_back ───┘
//! ```
//!
//! * `Planned`: its step has not begun. A new plan drops it: `take` leads to the end from here, too.
//! * `Begun`: the controller has it. Operations of a first step and patches begin here. It is about to be given to a device, waits
//!   until its member may be used again, or is being answered or refused by the controller itself.
//! * `Given`: a device has it, or it waits for the device's queue or the link.
//! * `Outrun`: another transaction has answered it. Nobody waits for it any more.
//!
//! Whose work it is changes only where somebody waits for it:
//!
//! ```text
//!  Request ─┐
//!           ├─► Unawaited         all others stay what they are
//!  Race ────┘
//! ```

/// Whose work a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A request of the host waits for it, as the transaction at this position of the request.
    Request { request: u32, position: u32 },
    /// It finds out what the read with this token is to bring.
    Race { read: u64 },
    /// The host's, but nobody waits for it: its request or the read has been answered.
    Unawaited,
    /// It writes back what is parked in NVRAM.
    Destage,
    /// It writes again what the log says.
    Replay,
    /// It writes blocks of the bitmap.
    Marks,
    /// It has members flush, so that the array is clean.
    Clean,
    /// It is a step, of this number, of a rebuild, a copy, a resync or a scrub.
    Job { step: u64 },
    /// It writes a page anew that could not be read.
    Rewrite,
    /// It brings back in idle time what is displaced.
    Tidying,
}

impl Purpose {
    /// The request that waits for it.
    #[inline]
    pub fn request(self) -> Option<u32> {
        match self {
            Purpose::Request { request, .. } => Some(request),
            _ => None,
        }
    }

    /// Whether it does what the host asked for.
    #[inline]
    pub fn is_host(self) -> bool {
        matches!(self, Purpose::Request { .. } | Purpose::Race { .. } | Purpose::Unawaited)
    }

    /// Whether it is work that the array has found for itself.
    #[inline]
    pub fn is_own(self) -> bool {
        !self.is_host() && self != Purpose::Destage
    }

    /// Whether it goes on behind requests. They wait for blocks of the bitmap.
    #[inline]
    pub fn is_background(self) -> bool {
        self.is_own() && self != Purpose::Marks
    }

    /// Whether it keeps what the array knows of its members, and planners do not hear of its end.
    #[inline]
    pub fn is_bookkeeping(self) -> bool {
        matches!(self, Purpose::Marks | Purpose::Clean)
    }

    /// Whether it rebuilds, copies, resyncs, scrubs or repairs; not what displaced writes or a log have left to do.
    #[inline]
    pub fn is_upkeep(self) -> bool {
        matches!(self, Purpose::Job { .. } | Purpose::Rewrite)
    }

    /// Whoever waits for it has an answer.
    #[inline]
    pub fn answered(self) -> Purpose {
        match self {
            Purpose::Request { .. } | Purpose::Race { .. } => Purpose::Unawaited,
            other => other,
        }
    }

    /// Another transaction does a part of its work, and whoever waits for this one waits for that one as well. A race has one
    /// runner: the other one if that does all that is `left`, and otherwise nobody.
    pub fn hand_on(&mut self, does_all: bool) -> Purpose {
        let before = *self;
        match before {
            Purpose::Request { .. } => before,
            Purpose::Race { .. } => {
                *self = Purpose::Unawaited;
                if does_all { before } else { Purpose::Unawaited }
            }
            _ => Purpose::Unawaited,
        }
    }
}

/// How far a transaction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    InLine,
    Merged,
    Admitted,
    UnderWay,
    Between,
    LogFull,
    Ending,
}

impl State {
    /// Others hold rows that it needs.
    #[inline]
    pub fn line_up(&mut self) {
        assert!(*self == State::Admitted, "a transaction lines up before it is planned, not {self:?}");
        *self = State::InLine;
    }

    /// It is given its rows.
    #[inline]
    pub fn grant(&mut self) {
        assert!(*self == State::InLine, "rows are granted to whoever is in line, not {self:?}");
        *self = State::Admitted;
    }

    /// It becomes a part of another transaction.
    pub fn merge(&mut self) {
        assert!(*self == State::InLine, "whoever is in line joins another one, not {self:?}");
        *self = State::Merged;
    }

    /// Operations of a step begin.
    #[inline]
    pub fn begin_step(&mut self) {
        let may = matches!(self, State::Admitted | State::Between);
        assert!(may, "a step begins after the plan or after another step, not {self:?}");
        *self = State::UnderWay;
    }

    /// The operations of its step are done, and another step or a new plan follows.
    #[inline]
    pub fn end_step(&mut self) {
        assert!(*self == State::UnderWay, "a step ends that is under way, not {self:?}");
        *self = State::Between;
    }

    /// The log has no room for its next step.
    pub fn lack_room(&mut self) {
        let may = matches!(self, State::Admitted | State::Between);
        assert!(may, "a step of the log waits after the plan or after another step, not {self:?}");
        *self = State::LogFull;
    }

    /// The log has room for its next step, which is about to begin.
    pub fn has_room(&mut self) {
        assert!(*self == State::LogFull, "room is for whoever lacks it, not {self:?}");
        *self = State::Between;
    }

    /// What was planned is dropped, and it is planned again.
    pub fn plan_anew(&mut self) {
        assert!(*self == State::Between, "a new plan is made between two steps, not {self:?}");
        *self = State::Admitted;
    }

    /// All that was planned is done.
    #[inline]
    pub fn finish(&mut self) {
        let may = matches!(self, State::Admitted | State::UnderWay);
        assert!(may, "a transaction is done after its last step or an empty plan, not {self:?}");
        *self = State::Ending;
    }

    /// It is over.
    #[inline]
    pub fn end(self) {
        let may = matches!(self, State::Ending | State::Merged);
        assert!(may, "a transaction is over once it, or that which it is part of, is done, not {self:?}");
    }
}

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Planned,
    Begun,
    Given,
    Outrun,
    /// Its place is free.
    Over,
}

impl Progress {
    /// Its step begins.
    #[inline]
    pub fn begin(&mut self) {
        assert!(*self == Progress::Planned, "an operation begins that was planned, not {self:?}");
        *self = Progress::Begun;
    }

    /// A device is given it.
    #[inline]
    pub fn give(&mut self) {
        assert!(*self == Progress::Begun, "a device is given what has begun, not {self:?}");
        *self = Progress::Given;
    }

    /// Its device has failed: the controller has it again, and is to refuse it.
    pub fn come_back(&mut self) {
        assert!(*self == Progress::Given, "what was given comes back, not {self:?}");
        *self = Progress::Begun;
    }

    /// Another transaction answers it. `false` if one has before.
    pub fn outrun(&mut self) -> bool {
        if *self == Progress::Outrun {
            return false;
        }
        let may = matches!(self, Progress::Begun | Progress::Given);
        assert!(may, "an operation is outrun on its way, not {self:?}");
        *self = Progress::Outrun;
        true
    }

    /// It has been answered or refused, or is given up.
    #[inline]
    pub fn take(&mut self) {
        assert!(*self != Progress::Over, "an operation is over once");
        *self = Progress::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harmonia_engine::Rng;
    use std::collections::BTreeSet;
    use std::fmt::Debug;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Its name, and what takes it.
    type Transition<S> = (&'static str, fn(&mut S));

    /// Drives a machine from its first state on with random transitions: each legal one leads where the table says, every other one
    /// is refused and changes nothing. A transition that leads nowhere ends a life, and another one begins.
    fn drive<S: Copy + Debug + PartialEq>(
        (begin, states): (S, usize),
        transitions: &[Transition<S>],
        legal: &[(S, &str, Option<S>)],
    ) {
        let (mut rng, mut seen) = (Rng::stream(1, "states"), BTreeSet::new());
        let mut state = begin;
        for _ in 0..20_000 {
            let (name, take) = transitions[rng.below(transitions.len() as u64) as usize];
            let before = state;
            let tried = catch_unwind(AssertUnwindSafe(|| take(&mut state))).is_ok();
            let found = legal.iter().find(|legal| (legal.0, legal.1) == (before, name));
            assert_eq!(tried, found.is_some(), "{before:?}: {name}");
            match found {
                Some(&(.., Some(to))) => assert_eq!(state, to, "{before:?}: {name}"),
                Some(&(.., None)) => state = begin,
                None => assert_eq!(state, before, "{before:?}: {name} is refused and changes nothing"),
            }
            seen.insert((format!("{before:?}"), name));
        }
        assert_eq!(seen.len(), states * transitions.len(), "every transition is tried in every state");
    }

    #[test]
    fn a_transaction_takes_every_way_of_the_picture_and_no_other() {
        use State::{Admitted, Between, Ending, InLine, LogFull, Merged, UnderWay};
        drive(
            (Admitted, 7),
            &[
                ("line_up", State::line_up),
                ("grant", State::grant),
                ("merge", State::merge),
                ("begin_step", State::begin_step),
                ("end_step", State::end_step),
                ("lack_room", State::lack_room),
                ("has_room", State::has_room),
                ("plan_anew", State::plan_anew),
                ("finish", State::finish),
                ("end", |state| state.end()),
            ],
            &[
                (Admitted, "line_up", Some(InLine)),
                (InLine, "grant", Some(Admitted)),
                (InLine, "merge", Some(Merged)),
                (Admitted, "begin_step", Some(UnderWay)),
                (Between, "begin_step", Some(UnderWay)),
                (UnderWay, "end_step", Some(Between)),
                (Admitted, "lack_room", Some(LogFull)),
                (Between, "lack_room", Some(LogFull)),
                (LogFull, "has_room", Some(Between)),
                (Between, "plan_anew", Some(Admitted)),
                (Admitted, "finish", Some(Ending)),
                (UnderWay, "finish", Some(Ending)),
                (Ending, "end", None),
                (Merged, "end", None),
            ],
        );
    }

    #[test]
    fn an_operation_takes_every_way_of_the_picture_and_no_other() {
        use Progress::{Begun, Given, Outrun, Over, Planned};
        drive(
            (Planned, 4),
            &[
                ("begin", Progress::begin),
                ("give", Progress::give),
                ("come_back", Progress::come_back),
                ("outrun", |progress| _ = progress.outrun()),
                ("take", Progress::take),
            ],
            &[
                (Planned, "begin", Some(Begun)),
                (Begun, "give", Some(Given)),
                (Given, "come_back", Some(Begun)),
                (Begun, "outrun", Some(Outrun)),
                (Given, "outrun", Some(Outrun)),
                (Outrun, "outrun", Some(Outrun)),
                (Planned, "take", None),
                (Begun, "take", None),
                (Given, "take", None),
                (Outrun, "take", None),
            ],
        );
        assert!(catch_unwind(|| Progress::take(&mut { Over })).is_err(), "it is over once");
    }

    /// One row for each purpose: whose it is, what it may be charged to, and what it becomes once it is answered.
    #[test]
    fn a_purpose_says_whose_work_it_is() {
        use Purpose::{Destage, Job, Marks, Race, Replay, Request, Rewrite, Tidying, Unawaited};
        let (request, race) = (Request { request: 3, position: 1 }, Race { read: 9 });
        for (purpose, host, own, background, upkeep, answered) in [
            (request, true, false, false, false, Unawaited),
            (race, true, false, false, false, Unawaited),
            (Unawaited, true, false, false, false, Unawaited),
            (Destage, false, false, false, false, Destage),
            (Replay, false, true, true, false, Replay),
            (Marks, false, true, false, false, Marks),
            (Job { step: 7 }, false, true, true, true, Job { step: 7 }),
            (Rewrite, false, true, true, true, Rewrite),
            (Tidying, false, true, true, false, Tidying),
        ] {
            let told = (purpose.is_host(), purpose.is_own(), purpose.is_background(), purpose.is_upkeep());
            assert_eq!(told, (host, own, background, upkeep), "{purpose:?}");
            assert_eq!(purpose.answered(), answered);
        }
        assert_eq!((request.request(), race.request()), (Some(3), None));
    }

    #[test]
    fn a_request_waits_for_both_and_a_race_has_one_runner() {
        let hand_on = |mut purpose: Purpose, does_all| (purpose.hand_on(does_all), purpose);
        let (request, race) = (Purpose::Request { request: 3, position: 1 }, Purpose::Race { read: 9 });
        assert_eq!(hand_on(request, false), (request, request));
        assert_eq!(hand_on(race, true), (race, Purpose::Unawaited));
        assert_eq!(hand_on(race, false), (Purpose::Unawaited, Purpose::Unawaited));
        assert_eq!(hand_on(Purpose::Replay, true), (Purpose::Unawaited, Purpose::Replay));
    }
}
