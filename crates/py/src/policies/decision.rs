//! What a schedule written in Python decides: only what its die can carry out at this moment.
//!
//! A decision that a die cannot carry out would break it. So every decision is made here, and what is not possible is refused
//! with what is.

use harmonia_ssd::gc::schedule::{
    Class, Decision, DieView, Gc, GcJob, GcPhase, MultiPlane, Needs, Pace, Pairs, Token,
};
use harmonia_types::SimTime;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::die::PyQueued;

/// One question to a schedule.
pub(super) struct Question<'a> {
    pub view: &'a DieView<'a>,
    /// So that an answer is known to be of its question.
    pub number: u64,
    pub now: SimTime,
    pub needs: Needs,
}

/// Refuses a decision.
pub(super) fn cannot<T>(why: &str) -> PyResult<T> {
    Err(PyValueError::new_err(format!("the die cannot do that now: {why}")))
}

impl Question<'_> {
    /// Whether the die is idle, with nothing suspended.
    fn is_free(&self) -> PyResult<()> {
        if self.view.running.is_some() {
            return cannot("it works, expected view.wait() or, where that can be suspended, view.suspend()");
        }
        if self.view.suspended.is_some() {
            return cannot("a command is suspended, expected view.resume() or view.serve(a read)");
        }
        Ok(())
    }

    /// Whether the host can be served.
    fn is_open(&self) -> PyResult<()> {
        if matches!(self.view.gc, Gc::Job(GcJob { pinned: true, .. })) {
            return cannot("the page that was read lies in the plane's register, expected view.gc_step()");
        }
        Ok(())
    }

    pub fn wait(&self, until: SimTime) -> PyResult<Decision> {
        if self.view.running.is_some() {
            return Ok(Decision::Wait(until));
        }
        self.is_free()?;
        self.is_open()?;
        let head = self.view.head;
        match self.view.gc {
            Gc::Job(GcJob { phase: GcPhase::Away, .. }) => {}
            _ if head.is_some_and(|head| head.ready <= self.now) => {
                return cannot("an operation is ready, expected view.serve_head() or a step of collection");
            }
            Gc::Idle if until == SimTime::NEVER && head.is_some() => {
                return cannot("an operation will be ready, expected view.wait(view.head.ready)");
            }
            Gc::Wanted { .. } | Gc::Job(_) if until == SimTime::NEVER => {
                return cannot("there is something to collect, expected a step of it, or a time to wait for");
            }
            _ => {}
        }
        if until <= self.now {
            return cannot(&format!("{} is not after now ({}), expected a later time", until.0, self.now.0));
        }
        // A die does not rest while an operation is ready. The schedule is asked again when one is.
        let is_away = matches!(self.view.gc, Gc::Job(GcJob { phase: GcPhase::Away, .. }));
        let ready = head.filter(|_| !is_away).map_or(SimTime::NEVER, |head| head.ready);
        Ok(Decision::Wait(until.min(ready)))
    }

    pub fn serve(&self, operation: &PyQueued, alone: bool) -> PyResult<Decision> {
        let queued = operation.queued;
        if operation.question != self.number {
            return cannot("the operation was found by another view, expected one that this view has found");
        }
        if queued.ready > self.now {
            let why = format!("the operation is ready at {}, expected view.wait({0})", queued.ready.0);
            return cannot(&why);
        }
        if self.view.suspended.is_some() && self.view.running.is_none() {
            return match queued.class {
                Class::Read => Ok(Decision::Single(Token::Host(queued.token))),
                Class::Write => self.is_free().and_then(|()| cannot("")),
            };
        }
        self.is_free()?;
        self.is_open()?;
        Ok(match self.view.multi_plane && !alone {
            true => self.view.serve_with_siblings(self.now, queued),
            false => Decision::Single(Token::Host(queued.token)),
        })
    }

    pub fn gc_step(&self, pairs: bool) -> PyResult<Decision> {
        self.is_free()?;
        if pairs && self.needs.pairs == Pairs::Never {
            return cannot("pairs = True is for schedules whose needs() has \"pairs\": True");
        }
        let (class, place) = match self.view.gc {
            Gc::Idle => return cannot("there is nothing to collect, expected view.serve_head()"),
            Gc::Wanted { .. } => return Ok(Decision::Single(Token::GcStep)),
            Gc::Job(job) => match job.phase {
                GcPhase::Choose => return Ok(Decision::Single(Token::GcStep)),
                GcPhase::Read => (Class::Read, (job.source_plane, job.cursor)),
                GcPhase::Program => (Class::Write, job.destination),
                GcPhase::Erase => return cannot("all pages are moved, expected view.erase()"),
                GcPhase::Away => return cannot("another die programs the page, expected view.wait()"),
            },
        };
        if !pairs {
            return Ok(Decision::Single(Token::GcStep));
        }
        let mut command = MultiPlane::new(Token::GcStep);
        self.view.join(self.now, &mut command, class, place);
        Ok(command.decision())
    }

    pub fn gc_move(&self) -> PyResult<Decision> {
        let step = self.gc_step(false)?;
        let half_is_due = matches!(self.view.gc, Gc::Job(GcJob { phase: GcPhase::Program, .. }));
        Ok(if half_is_due { step } else { Decision::Single(Token::GcMove) })
    }

    pub fn erase(&self) -> PyResult<Decision> {
        self.is_free()?;
        match self.view.gc {
            Gc::Job(GcJob { phase: GcPhase::Erase, .. }) => Ok(Decision::Erase),
            Gc::Idle => cannot("there is nothing to collect, expected view.serve_head()"),
            _ => cannot("pages have yet to move, expected view.gc_step()"),
        }
    }

    pub fn collect(&self, instant: bool) -> PyResult<Decision> {
        self.is_free()?;
        match self.view.gc {
            Gc::Wanted { moves_use_bus: true, .. } if !instant => {
                cannot("page moves take turns on the shared bus, expected view.gc_move() for each")
            }
            Gc::Wanted { .. } if instant => Ok(Decision::Atomic(Pace::Instant)),
            Gc::Wanted { .. } => Ok(Decision::Atomic(Pace::Timed)),
            Gc::Idle => cannot("there is nothing to collect, expected view.serve_head()"),
            Gc::Job(_) => cannot("collection goes step by step already, expected view.gc_step()"),
        }
    }
}
