//! Garbage collection goes behind user reads: an event starts when no read is waiting.
//!
//! ```text
//! soft >= free > hard    read read read [ event ....................... ] read write
//! free <= hard           [ event ....................... ] read read read
//! ```
//!
//! While every unit of the die is above hard, reads that are ready go before an event starts. Where an event goes step by
//! step, they also go before its next victim is chosen. Host writes wait as under `blocking`. A collection that has started is
//! not interrupted. At the hard threshold collection comes first. With a concurrency policy that limits channels, every
//! victim is an event of its own.
//!
//! Source: Electronics 2025, 4.3. It says of one of its schemes that "GC requests are prioritized ahead of user reads".
//! `blocking` is that side of the switch, and this schedule is the other. In the paper a collection is one request a block, so
//! here reads come in between blocks. That is our reading.
//!
//! Leaves out: reads between page moves, which `preemptive` has.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::blocking::Blocking;
use super::{Build, Class, Decision, DieView, Gc, GcJob, GcPhase, GivesWay, Needs, Schedule, Token};

#[derive(Clone)]
struct AfterReads;

impl Schedule for AfterReads {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let waits = match view.gc {
            Gc::Wanted { hard, .. } | Gc::Job(GcJob { hard, phase: GcPhase::Choose, .. }) => !hard,
            Gc::Idle | Gc::Job(_) => false,
        };
        let read = if waits { view.queues.first(Class::Read) } else { None };
        match read.filter(|read| read.ready <= now) {
            Some(read) if view.multi_plane => view.serve_with_siblings(now, read),
            Some(read) => Decision::Single(Token::Host(read.token)),
            None => Blocking.next(now, view),
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            queues: true,
            serves_head: true,
            one_command: true,
            gives_way: GivesWay::ToReads,
            ..Needs::default()
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "after-reads",
    summary: "as blocking, but waiting reads go before an event starts, until a unit reaches its hard threshold",
    source: "Electronics 2025, 4.3: the switch between collection ahead of user reads and behind them",
    keys: &no_keys,
    build: &|_| Ok(Box::new(AfterReads)),
};
