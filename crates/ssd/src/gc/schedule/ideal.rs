//! Garbage collection takes no time. Nobody waits for it.
//!
//! Blocks are freed, and erases, moves and write amplification are counted as usual. No real device can do this. Every
//! scheme is measured against it: it is what an end of collection alone would bring.
//!
//! Source: the "ideal" of IEEE TC 2012, section 5.2.
//!
//! Leaves out: all of garbage collection's time.

use harmonia_types::SimTime;
use harmonia_types::registry::{Entry, no_keys};

use super::{Build, Decision, DieView, Gc, GivesWay, Needs, Pace, Schedule};

#[derive(Clone)]
struct Ideal;

impl Schedule for Ideal {
    #[inline]
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        match view.gc {
            Gc::Idle => view.serve_head(now),
            Gc::Wanted { .. } | Gc::Job(_) => Decision::Atomic(Pace::Instant),
        }
    }

    fn needs(&self) -> Needs {
        Needs { serves_head: true, one_command: true, gives_way: GivesWay::Always, ..Needs::default() }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "ideal",
    summary: "garbage collection takes no time: what an end of it would bring",
    source: "IEEE TC 2012, 5.2",
    keys: &no_keys,
    build: &|_| Ok(Box::new(Ideal)),
};
