//! I/O-parallelized garbage collection (GC-PAR): while one plane collects, its siblings serve the host in the very
//! commands of the collection.
//!
//! ```text
//! plane 0   read C   program D   read E   program F ...   erase      the collection, alone as fast as ever
//! plane 1   read I   program L      -     program N ...     -        host reads and writes that match
//! ```
//!
//! The rule, for every page moved: its read takes along, for each sibling plane, the first waiting host read of the same
//! page offset; its program takes along the first waiting host write of each sibling plane that has an open block with
//! the destination's offset. Collection's data goes over the bus first. Everything else waits for the end of the event,
//! and nothing is paired with an erase. At the start of an event every plane of the die opens a new block, so that
//! offsets are equal; older ones are used up afterwards.
//!
//! Source: HPDC 2018, 4.1 (Algorithm 2), 4.2 and 6.6 (one request for every sibling of four planes). Ours: a plane has
//! two open blocks at most, as 4.2 says, so where both are partly written none is opened and the emptier one goes on;
//! either of them may match. Leaves out: the time the search takes in firmware (4.1 puts it at hundreds of
//! nanoseconds).

use harmonia_types::SimTime;
use harmonia_types::registry::Entry;

use super::{Build, Class, Decision, DieView, Gc, GcPhase, MultiPlane, Needs, Schedule, Token};

/// Pairs garbage collection with host operations.
pub(super) struct IoParallel;

impl Schedule for IoParallel {
    fn next(&self, now: SimTime, view: &DieView<'_>) -> Decision {
        let job = match view.gc {
            Gc::Idle => return view.serve_head(now),
            Gc::Wanted { .. } => return Decision::Single(Token::GcStep),
            Gc::Job(job) => job,
        };
        let (class, place) = match job.phase {
            GcPhase::Choose => return Decision::Single(Token::GcStep),
            GcPhase::Erase => return Decision::Erase,
            GcPhase::Away => return Decision::Wait(SimTime::NEVER),
            GcPhase::Read => (Class::Read, (job.source_plane, job.cursor)),
            GcPhase::Program => (Class::Write, job.destination),
        };
        let mut command = MultiPlane::new(Token::GcStep);
        view.join(now, &mut command, class, place);
        command.decision()
    }

    fn needs(&self) -> Needs {
        Needs { queues: true, pairs: true, fresh_blocks: true, ..Needs::default() }
    }
}

pub(super) const ENTRY: Entry<Build> = Entry {
    name: "io-parallel",
    summary: "while one plane collects, its siblings serve matching host operations in the same commands (GC-PAR)",
    source: "HPDC 2018, 4.1 (Algorithm 2), 4.2",
    keys: &[],
    build: || Box::new(IoParallel),
};
