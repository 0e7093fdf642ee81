//! A collection runs to its end before the die serves the host again.
//!
//! Where page moves use a shared bus, they take their slots page by page. The die still serves no host operation meanwhile.
//!
//! Source: the MSR SSD model, in which one call of the cleaner is one busy period of its element; IEEE TC 2012, section 3.1.
//!
//! Leaves out: any use of the idle planes, and any way for the host to go first.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Decision, DieView, Gc, GcPhase, Needs, Pace, Schedule, Token};

/// Garbage collection first.
#[derive(Clone)]
pub(super) struct Blocking;

impl Schedule for Blocking {
    #[inline]
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        match view.gc {
            Gc::Idle => view.serve_head(now),
            Gc::Wanted { moves_use_bus: false, .. } => Decision::Atomic(Pace::Timed),
            Gc::Job(job) if job.phase == GcPhase::Erase => Decision::Erase,
            Gc::Job(job) if job.phase == GcPhase::Away => Decision::Wait(SimTime::NEVER),
            Gc::Wanted { .. } | Gc::Job(_) => Decision::Single(Token::GcMove),
        }
    }

    fn needs(&self) -> Needs {
        Needs { serves_head: true, moves_unasked: true, one_command: true, ..Needs::default() }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "blocking",
    summary: "an event runs to its end before the die serves the host again",
    source: "MSR SSD model; IEEE TC 2012, 3.1",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Blocking)),
};
