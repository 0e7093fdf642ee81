//! Host operations go before each step of a collection, until space runs short.
//!
//! ```text
//! soft >= free > hard     read  [host]  program  [host]  read ...  [host]  erase      host operations go between
//! free <= hard            read  program  read ...  erase                              nothing does
//! ```
//!
//! Events start at the soft threshold. While every unit of the die is above hard, host operations that are ready go before the
//! next step. The steps are a page's read, its program and the erase. If the page stays in the plane's register, its read and
//! program are one step. No step is interrupted, except by reads where the part can suspend a program or an erase.
//!
//! An operation that waits for the page being moved merges with the move. The collection's own read answers a host read. A
//! host write, where it may go first, makes the move unnecessary.
//!
//! Around another schedule it takes apart only the steps which that schedule would take alone. Around io-parallel, paired
//! steps stay together, and host operations without a partner go first (HPDC 2018, 4.4).
//!
//! Source: Lee et al., ISPASS 2011, as IEEE Access 2019 and HPDC 2018 (3.3) compare with it.
//!
//! Leaves out: reads from the controller's copy. A host read of a page that the collection has read and not yet programmed
//! goes to flash, at the price of a read and a transfer. It also leaves out choosing among waiting operations by size or kind.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::blocking::Blocking;
use super::{
    Build, Class, Decision, DieView, Gc, GcJob, GcPhase, GivesWay, MultiPlane, Needs, Pace, Queued, Schedule,
    Token,
};

/// Host operations go between the steps of `inner`'s collection.
#[derive(Clone)]
pub(super) struct Preemptive<S> {
    pub inner: S,
}

impl<S: Schedule> Preemptive<S> {
    /// The host operations, if any are ready; otherwise the step.
    fn host_before(now: SimTime, view: &DieView<'_>, step: Decision) -> Decision {
        match view.serve_head(now) {
            Decision::Wait(_) => step,
            host => host,
        }
    }

    /// What comes next. A host that `can_wait` does not go before the step that is due.
    pub fn decide(&self, now: SimTime, view: &DieView<'_>, can_wait: bool) -> Decision {
        let yields = match view.gc {
            Gc::Idle => true,
            Gc::Wanted { hard, .. } => !hard,
            Gc::Job(job) => !job.hard && !job.pinned,
        };
        let read = || view.queues.first(Class::Read).filter(|read| yields && !can_wait && read.ready <= now);
        if let Some(running) = view.running {
            let suspends = running.suspendable && read().is_some();
            return if suspends { Decision::Suspend } else { Decision::Wait(running.ends) };
        }
        if view.suspended.is_some() {
            return read().map_or(Decision::Resume, |read| Decision::Single(Token::Host(read.token)));
        }
        let step = match self.inner.next(now, view) {
            // Only what cannot be interrupted is done in one piece.
            Decision::Atomic(Pace::Timed) if yields => Decision::Single(Token::GcStep),
            Decision::Single(Token::GcMove) => Decision::Single(Token::GcStep),
            other => other,
        };
        let step = match view.gc {
            Gc::Job(job) => merged(now, view, &job, step, yields && !view.writes_wait),
            _ => step,
        };
        // To choose a victim, or to end the event, takes no time, and the host is asked about right after.
        let chooses = matches!(view.gc, Gc::Job(GcJob { phase: GcPhase::Choose, .. }));
        let host_may = view.lets_head_go();
        match step {
            Decision::Single(Token::GcStep) | Decision::Erase
                if yields && !chooses && !can_wait && host_may =>
            {
                Self::host_before(now, view, step)
            }
            // While its page is programmed elsewhere the die is free.
            Decision::Wait(_) if yields && view.gc != Gc::Idle && host_may => view.serve_head(now),
            step => step,
        }
    }
}

impl<S: Schedule + Clone> Schedule for Preemptive<S> {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        self.decide(now, view, false)
    }

    fn needs(&self) -> Needs {
        let gives_way = GivesWay::BetweenSteps;
        Needs {
            queues: true,
            steps_alone: true,
            steps_unmatched: false,
            moves_unasked: false,
            one_command: false,
            suspend: true,
            begins_at_soft: true,
            gives_way,
            ..self.inner.needs()
        }
    }
}

/// The step, together with what waits for the page it moves.
fn merged(now: SimTime, view: &DieView<'_>, job: &GcJob, step: Decision, yields: bool) -> Decision {
    let moves = matches!(step, Decision::Single(Token::GcStep) | Decision::Multi(_))
        && matches!(job.phase, GcPhase::Read | GcPhase::Program)
        && !job.pinned;
    let waits = if moves { view.queues.on_moving_page(job) } else { None };
    let Some(Queued { token, class, .. }) = waits.filter(|op| op.ready <= now) else { return step };
    match (class, step) {
        (Class::Write, _) if yields => Decision::Single(Token::Host(token)),
        (Class::Read, Decision::Multi(mut command)) if job.phase == GcPhase::Read => {
            command.join(Token::Host(token));
            Decision::Multi(command)
        }
        (Class::Read, _) if job.phase == GcPhase::Read => {
            let mut command = MultiPlane::new(Token::GcStep);
            command.join(Token::Host(token));
            Decision::Multi(command)
        }
        _ => step,
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "preemptive",
    summary: "host operations go between the steps of a collection, until a unit reaches its hard threshold",
    source: "Lee et al., ISPASS 2011; IEEE Access 2019, VI; HPDC 2018, 3.3",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Preemptive { inner: Blocking })),
};
