//! Garbage collection in zero time: the bookkeeping happens, nobody waits for it.
//!
//! Source: the "ideal" of paper A, section 5.2, the lower bound every scheme is measured against. Erases, moves and
//! write amplification are counted as usual. Leaves out: all of garbage collection's time.

use harmonia_types::SimTime;
use harmonia_types::registry::Entry;

use super::{Build, Decision, DieView, Gc, Pace, Schedule};

struct Ideal;

impl Schedule for Ideal {
    #[inline]
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        match view.gc {
            Gc::Idle => view.serve_head(now),
            Gc::Wanted { .. } | Gc::Job(_) => Decision::Atomic(Pace::Instant),
        }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "ideal",
    summary: "garbage collection takes no time: the lower bound",
    source: "IEEE TC 2012, 5.2",
    keys: &[],
    build: || Box::new(Ideal),
};
